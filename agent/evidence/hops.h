/*
 * hops.h - what hops.c, hops_unix.c and hops_published.c share. Private to
 * this room.
 */
#ifndef WD_EVIDENCE_HOPS_H
#define WD_EVIDENCE_HOPS_H

#include "evidence/look.h"

/* A proxy has one for each request that waits: more are not looked at. */
#define WD_MAX_PEERS 64

/* Unix sockets of a group that lead out of it, in one sample. */
struct wd_peers {
	struct wd_unix_pairs pairs;    /* of the host; empty: no proxy */
	uint64_t inodes[WD_MAX_PEERS]; /* the other ends */
	pid_t pids[WD_MAX_PEERS];      /* the members that hold this end */
	size_t count;
	bool cut;
};

/* Adds the hop, or counts it once more. Errors: WD_NOMEM. */
enum wd_status wd_group_add_hop(
    struct wd_group *group, const struct wd_hop *hop) WD_MUST_CHECK;

bool wd_has_socket(const struct wd_descriptors *descriptors, uint64_t inode);

/* hops_published.c: the container ports that a group's processes publish, by
 * the command line of programs that are known to do that. Errors: WD_NOMEM. */
enum wd_status wd_look_published(
    struct wd_look *look, struct wd_group *group) WD_MUST_CHECK;

/* Begins a sample; whatever could not be seen clears group->checked_routes.
 * Errors: WD_NOMEM. The caller releases, also on failure. */
enum wd_status wd_peers_begin(struct wd_peers *peers, struct wd_look *look,
    struct wd_group *group) WD_MUST_CHECK;

/* Takes the sockets of one member, as they are now. */
void wd_peers_collect(struct wd_peers *peers, const struct wd_look *look,
    const struct wd_group *group, pid_t pid, const struct wd_descriptors *now);

/* Makes hops of those whose other end somebody outside of the group holds.
 * Errors: WD_NOMEM. */
enum wd_status wd_peers_resolve(struct wd_peers *peers, struct wd_look *look,
    struct wd_group *group) WD_MUST_CHECK;

void wd_peers_release(struct wd_peers *peers);

#endif
