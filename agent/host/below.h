/*
 * below.h - files below a folder that an operator named, as the agent sees
 * them; nothing leads out of it.
 *
 * `path` is relative to `root`, which is absolute. A link is followed when
 * what it leads to is below `root` too; an absolute link, "..", a magic link of
 * /proc and whatever else would leave it is WD_DENIED.
 */
#ifndef WD_HOST_BELOW_H
#define WD_HOST_BELOW_H

#include "host/host.h"

/* As wd_host_open_path. Errors: WD_GONE, WD_DENIED, WD_INVALID; WD_UNSUPPORTED
 * where the system cannot hold a path below a folder. */
enum wd_status wd_host_open_below(struct wd_host *host, struct wd_slice root,
    struct wd_slice path, struct wd_file *file,
    struct wd_error *err) WD_MUST_CHECK;

/* As wd_host_open_folder; an empty `path` is `root` itself. */
enum wd_status wd_host_folder_below(struct wd_host *host, struct wd_slice root,
    struct wd_slice path, int *fd, struct wd_error *err) WD_MUST_CHECK;

#endif
