/*
 * linux.h - the Linux backend of host.h: sock_diag, /proc and a few calls.
 *
 * What it cannot see, and says so in the blind spots: processes outside the
 * agent's pid namespace; processes that hidepid hides; network namespaces
 * that no visible process is in and no visible mount keeps. One case shows
 * nowhere in the system and so nowhere here: a network namespace that lives on
 * in a socket only, all its processes gone. The holder's socket inode is then
 * in no table we read, which the caller treats as a blind spot of its own.
 *
 * One host is used by one thread at a time.
 */
#ifndef WD_HOST_LINUX_LINUX_H
#define WD_HOST_LINUX_LINUX_H

#include "host/host.h"

/* Moments at which tests change the system under a look. */
enum wd_linux_moment {
	WD_LINUX_BETWEEN_LOOKS, /* first witness done, second to come */
	WD_LINUX_AFTER_PIDS,    /* processes listed, descriptors to come */
	WD_LINUX_AFTER_WALK,    /* those read, newly born ones to come */
	WD_LINUX_AFTER_RANGES,  /* mappings listed, their paths to come */
};

struct wd_host_linux_options {
	/* NULL: the running system's /proc. Else a folder laid out like one
	 * (a captured tree): only that is read, no call asks the kernel. */
	const char *proc;

	/* Acts as on a system without sock_diag. */
	bool no_netlink;

	/* Acts as without CAP_SYS_ADMIN and CAP_CHECKPOINT_RESTORE: mapped
	 * objects are opened by path and compared. */
	bool no_map_files;

	/* The operator says that the pid namespace the agent runs in holds
	 * everything that can own its sockets (a container with nothing shared
	 * into it). Without it an agent in a pid namespace never calls a list
	 * of processes complete. */
	bool pid_namespace_is_all;

	/* The library that accounts for NVIDIA devices, as for dlopen(3). NULL:
	 * "libnvidia-ml.so.1", and none for a captured tree. Loaded at most
	 * once, when a process holds such a device. */
	const char *nvml;

	/* NULL: the running system's /sys, and none for a captured tree. */
	const char *sys;

	/* Threads of the descriptor walk; 0: one per processor, at most 8. */
	unsigned threads;

	/* Called at each moment; NULL: never. */
	void (*at_moment)(void *ctx, enum wd_linux_moment moment);
	void *ctx;
};

/* Opens the host. `options` may be NULL for the defaults and is copied.
 * Errors: WD_NOMEM; WD_GONE, WD_DENIED when there is no proc folder to open.
 * The caller frees it with wd_host_free. */
enum wd_status wd_host_linux_open(const struct wd_host_linux_options *options,
    struct wd_host **host, struct wd_error *err) WD_MUST_CHECK;

#endif
