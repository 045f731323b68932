/*
 * The cheap repeat: are the sockets and holders of an earlier answer still
 * what they were? Sock_diag's cookie names a socket once per boot, so equal
 * inode and cookie is the same socket; a holder's descriptor is read again.
 * What it cannot tell is whether somebody has joined: only a walk can.
 */
#include <string.h>

#include "base/mem.h"
#include "host/linux/backend.h"
#include "host/linux/procfs.h"
#include "host/linux/sockdiag.h"

static bool
listed_before(const struct wd_listeners *earlier, size_t index)
{
	size_t i;

	for (i = 0; i < index; i++)
		if (earlier->items[i].port == earlier->items[index].port)
			return true;
	return false;
}

static bool
has_socket(const struct wd_listeners *now, const struct wd_listener *wanted)
{
	size_t i;

	for (i = 0; i < now->count; i++)
		if (now->items[i].inode == wanted->inode &&
		    now->items[i].cookie == wanted->cookie)
			return true;
	return false;
}

static bool
same_sockets(const struct wd_listeners *now, const struct wd_listeners *earlier,
    uint16_t port)
{
	size_t i, expected = 0;

	for (i = 0; i < earlier->count; i++) {
		if (earlier->items[i].port != port)
			continue;
		expected++;
		if (!has_socket(now, &earlier->items[i]))
			return false;
	}
	return now->count == expected;
}

static enum wd_status
confirm_port(struct wd_linux *lx, const struct wd_listeners *earlier,
    uint16_t port, bool *same, struct wd_error *err)
{
	WD_CLEANUP(wd_listeners_release) struct wd_listeners now = { 0 };
	enum wd_status st = wd_diag_listeners(lx->diag, port, false, &now, err);

	if (st == WD_OK)
		*same = same_sockets(&now, earlier, port);
	return st;
}

static bool
holds(struct wd_linux *lx, const struct wd_holder *holder)
{
	struct wd_link link;
	uint64_t inode;
	enum wd_status st;

	st = holder->tid == holder->pid ?
	    wd_proc_link(lx, &link, "%d/fd/%d", (int)holder->pid, holder->fd) :
	    wd_proc_link(lx, &link, "%d/task/%d/fd/%d", (int)holder->pid,
		(int)holder->tid, holder->fd);
	return st == WD_OK &&
	    wd_parse_inode_link(
		(struct wd_slice){ link.text, link.len }, "socket", &inode) &&
	    inode == holder->inode;
}

static enum wd_status
check_question(struct wd_linux *lx, const struct wd_listeners *earlier,
    struct wd_error *err)
{
	size_t i;

	if (earlier->count == 0)
		return wd_fail(err, WD_INVALID,
		    "confirm: no listeners are given; that nothing listens is "
		    "only told by a full look");
	for (i = 0; i < earlier->count; i++) {
		if (earlier->items[i].netns != lx->netns)
			return wd_fail(err, WD_UNSUPPORTED,
			    "confirm: port %u is in another network namespace; "
			    "make a full look",
			    earlier->items[i].port);
		if (earlier->items[i].cookie == 0)
			return wd_fail(err, WD_INVALID,
			    "confirm: the socket on port %u has no cookie; "
			    "make a full look",
			    earlier->items[i].port);
	}
	if (lx->options.no_netlink || !lx->live)
		return wd_fail(err, WD_UNSUPPORTED,
		    "confirm: sock_diag is not to be had; make a full look");
	if (lx->diag < 0)
		lx->diag = wd_diag_socket();
	if (lx->diag < 0)
		return wd_fail(err, WD_UNSUPPORTED,
		    "confirm: no sock_diag socket; allow AF_NETLINK sockets");
	return WD_OK;
}

enum wd_status
wd_linux_confirm(struct wd_host *host, const struct wd_listeners *listeners,
    const struct wd_holders *holders, struct wd_confirmation *confirmation,
    struct wd_error *err)
{
	struct wd_linux *lx = wd_linux_of(host);
	enum wd_status st = check_question(lx, listeners, err);
	bool same = true;
	size_t i;

	for (i = 0; i < listeners->count && st == WD_OK && same; i++)
		if (!listed_before(listeners, i))
			st = confirm_port(lx, listeners,
			    listeners->items[i].port, &same, err);
	if (st != WD_OK)
		return st;
	confirmation->listeners_same = same;
	for (i = 0; i < holders->count; i++)
		if (!holds(lx, &holders->items[i]))
			confirmation->lost++;
	confirmation->holders_same = confirmation->lost == 0;
	return WD_OK;
}
