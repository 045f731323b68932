/*
 * sockdiag.h - listening TCP sockets from the kernel by netlink (sock_diag(7),
 * linux/inet_diag.h).
 *
 * A netlink socket sees the network namespace in which it was created, not
 * that of the thread that uses it.
 */
#ifndef WD_HOST_LINUX_SOCKDIAG_H
#define WD_HOST_LINUX_SOCKDIAG_H

#include "host/host.h"

/* A sock_diag socket of the calling thread's namespace; -1 and errno. */
int wd_diag_socket(void);

/* Appends every listening socket on `port` (0: every port) of both families;
 * with `mptcp` those of MPTCP are marked, which takes two more questions. Items
 * get `by_primary`, everything but netns. Errors: WD_NOMEM, WD_LIMIT,
 * WD_TIMEDOUT, WD_CHANGED (the kernel says that the list moved under it), and
 * WD_UNSUPPORTED, WD_DENIED, WD_IO when sock_diag is not to be had. */
enum wd_status wd_diag_listeners(int diag, uint16_t port, bool mptcp,
    struct wd_listeners *found, struct wd_error *err) WD_MUST_CHECK;

#endif
