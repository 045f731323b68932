/*
 * diagdump.h - one question to sock_diag(7) and all answers to it, whatever
 * the family of sockets.
 */
#ifndef WD_HOST_LINUX_DIAGDUMP_H
#define WD_HOST_LINUX_DIAGDUMP_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/status.h"

/* Gets each answer. Its failure ends the dump. */
struct wd_diag_taker {
	enum wd_status (*take)(void *ctx, const struct nlmsghdr *head);
	void *ctx;
	const struct wd_deadline *deadline; /* NULL: none */
};

/* Sends `request`, whose length and type the caller has set, and hands over
 * the answers. A dump that was given up leaves the socket busy: close it.
 * Errors: the taker's; WD_TIMEDOUT; WD_CHANGED (the kernel says that the list
 * moved under the dump; every answer was taken); WD_UNSUPPORTED (no such
 * family here), WD_DENIED, WD_IO, WD_MALFORMED. */
enum wd_status wd_diag_dump(int diag, struct nlmsghdr *request,
    const struct wd_diag_taker *taker) WD_MUST_CHECK;

/* What follows a message's head, at least `len` bytes; NULL when it is
 * shorter. */
const void *wd_diag_payload(const struct nlmsghdr *head, size_t len);

/* The attribute of `type` behind `len` bytes of payload; NULL when there is
 * none with at least `size` bytes of its own. */
const void *wd_diag_attribute(
    const struct nlmsghdr *head, size_t len, uint16_t type, size_t size);

#endif
