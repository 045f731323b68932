/*
 * ends.h - part of host.h: who has the other end of a pipe or socket, and who
 * maps an object. Both are walks over all processes for a few things that are
 * known by number, and find whom to look at; what these processes are is asked
 * through host.h.
 */
#ifndef WD_HOST_ENDS_H
#define WD_HOST_ENDS_H

#include "host/host.h"

/* Sockets and pipes whose holders are looked for, by inode; the two kinds
 * count apart. */
struct wd_ends_wanted {
	const uint64_t *sockets;
	size_t socket_count;
	const uint64_t *pipes;
	size_t pipe_count;
};
/* A socket, or one end of a pipe, that a process or thread has open. A FIFO
 * that has a name is none. */
struct wd_end {
	uint64_t inode;
	bool is_pipe;
	bool readable, writable; /* pipes only */
	pid_t pid, tid;
	int fd;
};
struct wd_ends {
	struct wd_end *items; /* sorted by pid, then as the system lists */
	size_t count, capacity;
	bool complete; /* every process's descriptors were read */
	struct wd_blinds blinds;
};

/* An object by the pair that the system prints for a mapping of it: equal
 * pairs are worth a look at the objects themselves, and prove nothing. */
struct wd_object_number {
	uint64_t device, inode;
};
struct wd_mapper {
	pid_t pid;
	struct wd_object_number object;
	uint64_t start, end; /* addresses */
	bool shared, readable, writable;
};
struct wd_mappers {
	struct wd_mapper *items; /* sorted by pid, start */
	size_t count, capacity;
	bool complete; /* every process's mappings were read */
	struct wd_blinds blinds;
};

/* Every process and thread that has one of the sockets or pipes open; one walk
 * for all, as of holders. Errors: WD_NOMEM, WD_UNSUPPORTED. */
enum wd_status wd_host_ends(struct wd_host *host,
    const struct wd_ends_wanted *wanted, const struct wd_deadline *deadline,
    struct wd_ends *found, struct wd_error *err) WD_MUST_CHECK;

/* Every mapping, in any process, of one of a few objects (each row is compared
 * with each). Errors: WD_NOMEM, WD_UNSUPPORTED. */
enum wd_status wd_host_mappers(struct wd_host *host,
    const struct wd_object_number *objects, size_t count,
    const struct wd_deadline *deadline, struct wd_mappers *found,
    struct wd_error *err) WD_MUST_CHECK;

void wd_ends_release(struct wd_ends *ends);
void wd_mappers_release(struct wd_mappers *mappers);

#endif
