/*
 * names.h - what a control group's path says: systemd unit and container.
 * Pure. Names only; being in one group attributes nothing.
 */
#ifndef WD_HOST_LINUX_NAMES_H
#define WD_HOST_LINUX_NAMES_H

#include "base/slice.h"

/* The path of the hierarchy that tells most, out of /proc/PID/cgroup: the
 * unified one unless it shows only the root; then systemd's own, then any
 * other that is not the root. Empty when there is none. */
struct wd_slice wd_cgroup_choose(struct wd_slice text);

/* The systemd unit: the first element that is no slice, as systemd's
 * cg_path_get_unit does; below a user's manager the user's unit. Empty when
 * there is none. The result is part of `path`. */
struct wd_slice wd_cgroup_unit(struct wd_slice path);

/* The container's id: 64 hexadecimal digits as docker, containerd, podman,
 * CRI-O and kubelet write them in any of their forms; else the name of an LXC,
 * nspawn or machined container. Empty when there is none. */
struct wd_slice wd_cgroup_container(struct wd_slice path);

#endif
