/*
 * Which unix sockets are connected to each other, from sock_diag's
 * UNIX_DIAG_PEER (linux/unix_diag.h). /proc/net/unix does not tell, so there
 * is no second way.
 */
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "host/linux/backend.h"
#include "host/linux/diagdump.h"
#include "host/linux/procnet.h"
#include "host/linux/sockdiag.h"
#include "host/ties.h"

/* A datagram socket's peer is where it sends, which that one need not know:
 * no pair. A peer without an inode has not been accepted yet. */
static enum wd_status
take_message(void *ctx, const struct nlmsghdr *head)
{
	const struct unix_diag_msg *message =
	    wd_diag_payload(head, sizeof(*message));
	const uint32_t *peer = wd_diag_attribute(
	    head, sizeof(*message), UNIX_DIAG_PEER, sizeof(*peer));

	if (message == NULL)
		return WD_MALFORMED;
	if (message->udiag_type != SOCK_STREAM &&
	    message->udiag_type != SOCK_SEQPACKET)
		return WD_OK;
	if (peer == NULL || *peer == 0 || message->udiag_ino == 0)
		return WD_OK;
	return wd_unix_pairs_add(ctx, message->udiag_ino, *peer);
}

static enum wd_status
dump(int diag, const struct wd_deadline *deadline, struct wd_unix_pairs *found)
{
	const struct wd_diag_taker taker = { take_message, found, deadline };
	struct {
		struct nlmsghdr head;
		struct unix_diag_req ask;
	} request;

	memset(&request, 0, sizeof(request));
	request.head.nlmsg_len = sizeof(request);
	request.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
	request.ask.sdiag_family = AF_UNIX;
	/* Unix sockets borrow TCP's number for "connected". */
	request.ask.udiag_states = 1U << WD_TCP_ESTABLISHED;
	request.ask.udiag_show = UDIAG_SHOW_PEER;
	return wd_diag_dump(diag, &request.head, &taker);
}

static enum wd_status
add_blind(struct wd_unix_pairs *found, enum wd_status why)
{
	found->complete = false;
	return wd_blinds_add(&found->blinds, why, 0,
	    why == WD_LIMIT ? "none; the agent keeps no more" :
			      "ask again, with a longer deadline",
	    "connected unix sockets", wd_status_name(why));
}

enum wd_status
wd_linux_unix_pairs(struct wd_host *host, const struct wd_deadline *deadline,
    struct wd_unix_pairs *found, struct wd_error *err)
{
	const struct wd_linux *lx = wd_linux_of(host);
	WD_CLEANUP(wd_close_scoped) int diag = -1;
	enum wd_status st;

	if (!lx->options.no_netlink && lx->live)
		diag = wd_diag_socket();
	if (diag < 0)
		return wd_fail(err, WD_UNSUPPORTED,
		    "unix sockets: no sock_diag; allow AF_NETLINK sockets");
	found->complete = true;
	st = dump(diag, deadline, found);
	if (st == WD_TIMEDOUT || st == WD_LIMIT || st == WD_CHANGED)
		st = add_blind(found, st);
	wd_unix_pairs_sort(found);
	if (st == WD_OK)
		return WD_OK;
	wd_unix_pairs_release(found);
	return wd_fail(err, st == WD_NOMEM ? st : WD_UNSUPPORTED,
	    "unix sockets: sock_diag: %s; is the module unix_diag loaded?",
	    wd_status_name(st));
}
