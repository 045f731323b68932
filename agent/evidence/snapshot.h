/*
 * snapshot.h - from a blob of a hub cache back to the snapshots that name it.
 * Private to this room.
 *
 * The kernel shows the blob, for a snapshot is made of links. Only the snapshot
 * has the file's name, its neighbours and the revision.
 */
#ifndef WD_EVIDENCE_SNAPSHOT_H
#define WD_EVIDENCE_SNAPSHOT_H

#include "evidence/look.h"

struct wd_snapshots {
	struct wd_bytes path;     /* of the file in one of them; empty: none */
	struct wd_bytes *commits; /* all that have it, sorted */
	size_t count, capacity;
	bool complete;      /* every snapshot was looked into */
	int64_t changed_ns; /* when one last came or went */
};

/* The snapshots with a link to `blob`, in the eyes of `pid`: that of branch
 * main first, for it is what the name leads to. Empty when `blob` lies in no
 * hub cache. Errors: WD_NOMEM. The caller releases in any case. */
enum wd_status wd_snapshots_of(struct wd_look *look, pid_t pid,
    struct wd_slice blob, struct wd_snapshots *found) WD_MUST_CHECK;

void wd_snapshots_release(struct wd_snapshots *snapshots);

#endif
