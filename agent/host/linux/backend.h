/*
 * backend.h - what the files of the Linux backend share: its state, and
 * bounded reads below the proc folder. Not for use outside host/linux.
 */
#ifndef WD_HOST_LINUX_BACKEND_H
#define WD_HOST_LINUX_BACKEND_H

#include <sys/stat.h>

#include "base/buf.h"
#include "host/linux/linux.h"

/* The kernel gives a link at most a page. */
#define WD_LINK_BYTES 4096

struct wd_linux {
	struct wd_host host; /* first: host.h's rule */
	struct wd_host_linux_options options;
	int proc;             /* the proc folder */
	int sys;              /* the sys folder; -1: none */
	struct wd_nvml *nvml; /* NULL: none is to be used */
	bool live;            /* it is the running system's */
	int diag; /* sock_diag socket of the own namespace; -1: none yet */
	unsigned threads;
	uint64_t netns, mntns; /* own; 0: not known */
	uint64_t shm_device;   /* device of memfds; 0: not known */
};

static inline struct wd_linux *
wd_linux_of(struct wd_host *host)
{
	return (struct wd_linux *)(void *)host;
}

/* Calls the test's hook, if there is one. */
void wd_linux_moment(const struct wd_linux *lx, enum wd_linux_moment at);

/* ---- reading below the proc folder (procdir.c) ------------------------------
 * The path is a printf format, relative to the folder. Errors of all:
 * wd_status_from_errno's. */

/* Opens; -1 and errno on failure. O_CLOEXEC is added. */
int wd_proc_open(const struct wd_linux *lx, int flags, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Appends the whole file to `out`. WD_LIMIT when the file is longer than the
 * buffer's maximum: the buffer then holds the beginning and stays usable. */
enum wd_status wd_proc_read(const struct wd_linux *lx, struct wd_buf *out,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Reads `fd` to its end into `out`, as above. */
enum wd_status wd_fd_read(int fd, struct wd_buf *out);

/* Reads a link's text into `text`. WD_LIMIT when it does not fit. */
struct wd_link {
	uint8_t text[WD_LINK_BYTES];
	size_t len;
};
enum wd_status wd_proc_link(const struct wd_linux *lx, struct wd_link *link,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The N of a link "KIND:[N]"; 0 when it cannot be read. */
uint64_t wd_proc_ns(const struct wd_linux *lx, pid_t pid, const char *kind);

/* The entries of a folder, straight from the kernel. */
struct wd_dents {
	int fd; /* not owned */
	long filled, at;
	int os_errno; /* why the list ended early; 0: it did not */
	uint8_t block[32768] __attribute__((aligned(8)));
};
void wd_dents_init(struct wd_dents *dents, int fd);

/* The next name, "." and ".." left out; NULL at the end. Valid until the next
 * call. */
const char *wd_dents_next(struct wd_dents *dents);

/* `name` as a positive decimal number that fits; -1 when it is none. */
int wd_name_number(const char *name);

/* Cleanup handler for a descriptor. */
void wd_close_scoped(int *fd);

/* ---- processes ----------------------------------------------------------- */

/* Process ids; wd_linux_list_pids gives all, sorted. (pids.c) */
struct wd_pid_list {
	pid_t *items;
	size_t count, capacity;
};
enum wd_status wd_linux_list_pids(const struct wd_linux *lx,
    struct wd_pid_list *list, struct wd_error *err) WD_MUST_CHECK;
enum wd_status wd_pid_list_add(
    struct wd_pid_list *list, pid_t pid) WD_MUST_CHECK;
void wd_pid_list_sort(struct wd_pid_list *list);
void wd_pid_list_release(struct wd_pid_list *list);

/* Adds a blind spot when processes may be hidden from the agent: hidepid, or
 * a pid namespace. `*hidden` says whether it did. (visibility.c) */
enum wd_status wd_linux_hidden_processes(const struct wd_linux *lx,
    struct wd_blinds *blinds, bool *hidden) WD_MUST_CHECK;

/* Why the kernel refuses a look into a process and what would help, ready to
 * show: the right is missing, or it is there and does not suffice.
 * (visibility.c) */
struct wd_refusal wd_linux_refusal(const struct wd_linux *lx);

/* wd_host_refusal. (visibility.c) */
enum wd_status wd_linux_open_below(struct wd_host *, struct wd_slice,
    struct wd_slice, struct wd_file *, int *, struct wd_error *);
enum wd_status wd_linux_rights(
    struct wd_host *, struct wd_rights *, struct wd_error *);
struct wd_refusal wd_linux_op_refusal(
    struct wd_host *host, enum wd_refused about);

/* Fails with `st`: "WHAT of process PID: ...", a refusal with its remedy.
 * (visibility.c) */
enum wd_status wd_linux_fail_look(const struct wd_linux *lx, const char *what,
    pid_t pid, enum wd_status st, struct wd_error *err);

/* Whether the pids that the agent sees are those of the first pid namespace,
 * in which drivers count: only then does a number that a driver gives mean the
 * process that has it here. (visibility.c) */
bool wd_linux_pids_are_first(const struct wd_linux *lx);

/* The threads of a process that have a descriptor table of their own, the
 * leader not among them. `comparable` false: the system cannot compare
 * tables, so every thread is listed. Errors: as above, WD_NOMEM. (tables.c) */
struct wd_own_tables {
	pid_t *tids;
	size_t count, capacity;
	bool comparable;
};
enum wd_status wd_linux_own_tables(const struct wd_linux *lx, pid_t pid,
    struct wd_own_tables *tables) WD_MUST_CHECK;
void wd_own_tables_release(struct wd_own_tables *tables);

/* ---- files ----------------------------------------------------------------*/

/* Opens `path` (of any kind, O_PATH) as process `pid` sees it. -1 and errno
 * on failure. (paths.c) */
int wd_linux_resolve(
    const struct wd_linux *lx, pid_t pid, struct wd_slice path);

/* Opens the root of process `pid` (O_PATH, the caller's) and appends `path` as
 * it is to be followed from there. -1 and errno on failure. */
int wd_linux_path_below_root(const struct wd_linux *lx, pid_t pid,
    struct wd_slice path, struct wd_buf *joined);

/* Opens `path` below the agent's own root, O_PATH. */
int wd_linux_resolve_own(struct wd_slice path);
int wd_linux_resolve_below(struct wd_slice root, struct wd_slice path);

/* Device and inode as fstat tells them, without asking a server. */
struct wd_object_id {
	uint64_t device, inode, rdev;
	uint64_t links;
	mode_t mode;
};
bool wd_object_id_at(int folder, const char *name, struct wd_object_id *id);
bool wd_object_id_of(int fd, struct wd_object_id *id);

/* Whether `path`, which the kernel showed for an object of process `pid`,
 * leads to that object now. */
bool wd_linux_path_leads_to(const struct wd_linux *lx, pid_t pid,
    struct wd_slice path, const struct wd_object_id *id);

/* Whether the file system gives the same device and inode to stat as it
 * prints in maps. (filestate.c) */
bool wd_linux_numbers_comparable(int fd);

/* What the path that the kernel shows for an open object says: cuts the
 * " (deleted)" mark off when it is a mark and not part of the name, and sorts
 * the object by kind. `id` is NULL when the object could not be reached. */
struct wd_shown {
	struct wd_slice path;
	bool deleted;
	enum wd_object_type type;
};
struct wd_shown wd_linux_shown(const struct wd_linux *lx, pid_t pid,
    struct wd_slice text, const struct wd_object_id *id);

/* Walks the descriptors of every process for the wanted sockets and pipes:
 * what is found goes to `ends`, unsorted; what was seen, and what not, to
 * `seen`, without items. On failure both are half filled. (walk.c) */
enum wd_status wd_linux_walk(struct wd_linux *lx,
    const struct wd_ends_wanted *wanted, const struct wd_deadline *deadline,
    struct wd_ends *ends, struct wd_holders *seen,
    struct wd_error *err) WD_MUST_CHECK;

/* ---- the operations
 * --------------------------------------------------------*/

enum wd_status wd_linux_identity(
    struct wd_host *, struct wd_host_identity *, struct wd_error *);
enum wd_status wd_linux_listeners(struct wd_host *,
    const struct wd_listener_query *, const struct wd_deadline *,
    struct wd_listeners *, struct wd_error *);
enum wd_status wd_linux_holders(struct wd_host *, const uint64_t *, size_t,
    const struct wd_deadline *, struct wd_holders *, struct wd_error *);
enum wd_status wd_linux_confirm(struct wd_host *, const struct wd_listeners *,
    const struct wd_holders *, struct wd_confirmation *, struct wd_error *);
enum wd_status wd_linux_pids(struct wd_host *, const struct wd_deadline *,
    struct wd_pids *, struct wd_error *);
enum wd_status wd_linux_process_identity(
    struct wd_host *, pid_t, struct wd_identity *, struct wd_error *);
enum wd_status wd_linux_process(
    struct wd_host *, pid_t, struct wd_process *, struct wd_error *);
enum wd_status wd_linux_mappings(struct wd_host *, const struct wd_process *,
    const struct wd_deadline *, struct wd_mappings *, struct wd_error *);
enum wd_status wd_linux_written(struct wd_host *, const struct wd_process *,
    const struct wd_deadline *, struct wd_mappings *, struct wd_error *);
enum wd_status wd_linux_descriptors(struct wd_host *, const struct wd_process *,
    const struct wd_deadline *, struct wd_descriptors *, struct wd_error *);
enum wd_status wd_linux_open_object(struct wd_host *,
    const struct wd_object_ref *, const struct wd_mapping *, struct wd_file *,
    struct wd_error *);
enum wd_status wd_linux_open_path(struct wd_host *, pid_t, struct wd_slice,
    struct wd_file *, struct wd_error *);
enum wd_status wd_linux_open_folder(
    struct wd_host *, pid_t, struct wd_slice, int *, struct wd_error *);
enum wd_status wd_linux_way(struct wd_host *, pid_t, struct wd_slice, size_t,
    struct wd_way *, struct wd_error *);
enum wd_status wd_linux_file_state(
    struct wd_host *, int, struct wd_file_state *, struct wd_error *);
enum wd_status wd_linux_quiet(
    struct wd_host *, const struct wd_file *, bool *, struct wd_error *);
enum wd_status wd_linux_connections(struct wd_host *, uint64_t,
    const struct wd_deadline *, struct wd_connections *, struct wd_error *);
enum wd_status wd_linux_local_addresses(struct wd_host *,
    const struct wd_deadline *, struct wd_local_addresses *, struct wd_error *);
enum wd_status wd_linux_translations(struct wd_host *, uint64_t, uint16_t,
    const struct wd_deadline *, struct wd_translations *, struct wd_error *);
enum wd_status wd_linux_unix_pairs(struct wd_host *, const struct wd_deadline *,
    struct wd_unix_pairs *, struct wd_error *);
enum wd_status wd_linux_device_uses(struct wd_host *, const struct wd_process *,
    const struct wd_descriptors *, const struct wd_deadline *,
    struct wd_device_uses *, struct wd_error *);
enum wd_status wd_linux_ends(struct wd_host *, const struct wd_ends_wanted *,
    const struct wd_deadline *, struct wd_ends *, struct wd_error *);
enum wd_status wd_linux_mappers(struct wd_host *,
    const struct wd_object_number *, size_t, const struct wd_deadline *,
    struct wd_mappers *, struct wd_error *);

#endif
