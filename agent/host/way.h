/*
 * way.h - how a path leads to what is there now: whether something on the way
 * can have been exchanged since a moment. Part of host.h's table; apart from it
 * because few callers need it.
 *
 * - A link that is set anew is a new inode, or was renamed: both move its own
 *   ctime.
 * - A folder that is renamed into place moves its own ctime and that of the
 *   folder it comes into. So the earlier of the two is the latest moment at
 *   which it can have come; entries that are added to one of them alone say
 *   nothing.
 * - A mount has no time.
 */
#ifndef WD_HOST_WAY_H
#define WD_HOST_WAY_H

#include "host/host.h"

struct wd_way {
	/* The latest moment (real time) at which a link or a folder on the way
	 * can have been put into its place; INT64_MIN: nothing on it can. */
	int64_t changed_ns;
	/* What lies at its end, or the folder around that, is the root of a
	 * mount (the process's own root is not meant). */
	bool mounted;
};

/* Follows `path` as wd_host_open_path does, component by component; what the
 * first `sure` bytes of it lead through is left out. What lies at the end is
 * judged by its own state. Errors: WD_GONE, WD_DENIED, WD_INVALID, WD_LIMIT
 * (too many links), WD_UNSUPPORTED, WD_NOMEM. */
enum wd_status wd_host_way(struct wd_host *host, pid_t pid,
    struct wd_slice path, size_t sure, struct wd_way *way,
    struct wd_error *err) WD_MUST_CHECK;

#endif
