/*
 * The established connections of network namespaces: sock_diag, or else the
 * tables below /proc. ESTABLISHED only: a connection that one side has
 * begun to close says where traffic went, not where it goes, and the sockets
 * of TIME_WAIT and the like have no owner.
 *
 * One look, without a second witness: connections come and go by the
 * thousand, so two lists would never agree, and no negative is drawn here.
 */
#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "host/linux/diagdump.h"
#include "host/linux/namespaces.h"
#include "host/linux/nettable.h"
#include "host/ties.h"

struct look {
	uint64_t netns;
	const struct wd_deadline *deadline;
	struct wd_connections *found;
};

/* ---- sock_diag ----------------------------------------------------------- */

static enum wd_status
take_message(void *ctx, const struct nlmsghdr *head)
{
	struct look *look = ctx;
	const struct inet_diag_msg *message =
	    wd_diag_payload(head, sizeof(*message));
	struct wd_connection item;
	bool v6;

	if (message == NULL)
		return WD_MALFORMED;
	if (message->idiag_state != WD_TCP_ESTABLISHED)
		return WD_OK;
	v6 = message->idiag_family == AF_INET6;
	memset(&item, 0, sizeof(item));
	item.netns = look->netns;
	item.inode = message->idiag_inode;
	item.family = v6 ? WD_INET6 : WD_INET4;
	memcpy(item.local, message->id.idiag_src, v6 ? 16 : 4);
	memcpy(item.remote, message->id.idiag_dst, v6 ? 16 : 4);
	item.local_port = ntohs(message->id.idiag_sport);
	item.remote_port = ntohs(message->id.idiag_dport);
	return wd_connections_add(look->found, &item);
}

static enum wd_status
dump_family(int diag, int family, struct look *look)
{
	const struct wd_diag_taker taker = { take_message, look,
		look->deadline };
	struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 ask;
	} request;

	memset(&request, 0, sizeof(request));
	request.head.nlmsg_len = sizeof(request);
	request.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
	request.ask.sdiag_family = (uint8_t)family;
	request.ask.sdiag_protocol = IPPROTO_TCP;
	request.ask.idiag_states = 1U << WD_TCP_ESTABLISHED;
	return wd_diag_dump(diag, &request.head, &taker);
}

/* The kernel refuses IPv6 where it has none: no rows, and no gap. */
static enum wd_status
dump_both(int diag, struct look *look)
{
	enum wd_status st = dump_family(diag, AF_INET, look);

	if (st != WD_OK)
		return st;
	st = dump_family(diag, AF_INET6, look);
	return st == WD_UNSUPPORTED ? WD_OK : st;
}

/* ---- the tables ---------------------------------------------------------- */

static enum wd_status
take_row(void *ctx, const struct wd_net_row *row)
{
	struct look *look = ctx;
	struct wd_connection item;

	if (row->state != WD_TCP_ESTABLISHED)
		return WD_OK;
	memset(&item, 0, sizeof(item));
	item.netns = look->netns;
	item.inode = row->inode;
	item.family = row->v6 ? WD_INET6 : WD_INET4;
	memcpy(item.local, row->local, sizeof(item.local));
	memcpy(item.remote, row->remote, sizeof(item.remote));
	item.local_port = row->local_port;
	item.remote_port = row->remote_port;
	return wd_connections_add(look->found, &item);
}

/* A kernel without IPv6 has no tcp6. */
static enum wd_status
read_tables(const struct wd_netns_view *view, struct look *look)
{
	enum wd_status st = view->tcp_status;

	if (st == WD_OK)
		st = wd_net_table(view->tcp, look->deadline, take_row, look);
	if (st != WD_OK || view->tcp6_status == WD_GONE)
		return st;
	if (view->tcp6_status != WD_OK)
		return view->tcp6_status;
	return wd_net_table(view->tcp6, look->deadline, take_row, look);
}

/* ---- one namespace ------------------------------------------------------- */

/* Whether another way may still see what this one did not. */
static bool
is_refusal(enum wd_status st)
{
	return st == WD_UNSUPPORTED || st == WD_DENIED || st == WD_IO ||
	    st == WD_MALFORMED || st == WD_GONE || st == WD_INVALID;
}

static enum wd_status
look_into(
    const struct wd_linux *lx, const struct wd_netns *ns, struct look *look)
{
	size_t before = look->found->count;
	struct wd_netns_view view;
	enum wd_status st;

	look->netns = ns->inode;
	wd_netns_view_open(lx, ns, &view);
	st = view.diag_status;
	if (st == WD_OK)
		st = dump_both(view.diag, look);
	if (is_refusal(st)) {
		look->found->count = before;
		st = read_tables(&view, look);
	}
	wd_netns_view_close(&view);
	return st;
}

static const char *
remedy_for(enum wd_status why)
{
	if (why == WD_TIMEDOUT || why == WD_CHANGED)
		return "ask again, with a longer deadline";
	if (why == WD_LIMIT)
		return "none; the agent keeps no more";
	return "run the agent as root with CAP_SYS_ADMIN, or one agent in "
	       "that namespace";
}

static enum wd_status
add_blind(struct wd_connections *found, uint64_t netns, enum wd_status why,
    const char *reason)
{
	char what[80];

	found->complete = false;
	(void)snprintf(what, sizeof(what),
	    "connections of network namespace %llu", (unsigned long long)netns);
	return wd_blinds_add(
	    &found->blinds, why, 0, remedy_for(why), what, reason);
}

/* What was seen before the end came is kept, and said to be a part. */
static enum wd_status
settle(struct wd_connections *found, uint64_t netns, enum wd_status st)
{
	if (st == WD_TIMEDOUT || st == WD_LIMIT || st == WD_CHANGED)
		return add_blind(found, netns, st, wd_status_name(st));
	return st;
}

/* ---- every namespace ------------------------------------------------------
 */

static enum wd_status
take_list_gaps(const struct wd_netns_list *list, struct wd_connections *found)
{
	enum wd_status st = WD_OK;
	size_t i;

	found->complete = found->complete && list->complete;
	for (i = 0; i < list->blinds.count && st == WD_OK; i++) {
		const struct wd_blind *blind = &list->blinds.items[i];

		st = wd_blinds_add(&found->blinds, blind->why, blind->pid,
		    blind->remedy, blind->what, blind->reason);
	}
	return st;
}

/* One that cannot be seen leaves a gap; the others are seen all the same. */
static enum wd_status
look_everywhere(const struct wd_linux *lx, const struct wd_netns_list *list,
    struct look *look)
{
	size_t i, unseen = 0;
	enum wd_status st = take_list_gaps(list, look->found);

	for (i = 0; i < list->count && st == WD_OK; i++) {
		st = look_into(lx, &list->items[i], look);
		if (st == WD_OK || st == WD_NOMEM)
			continue;
		unseen++;
		st = add_blind(
		    look->found, list->items[i].inode, st, wd_status_name(st));
	}
	wd_connections_sort(look->found);
	return st == WD_OK && unseen == list->count ? WD_UNSUPPORTED : st;
}

/* ---- the question -------------------------------------------------------- */

static enum wd_status
choose(const struct wd_linux *lx, uint64_t netns,
    const struct wd_deadline *deadline, struct wd_netns_list *list,
    struct wd_error *err)
{
	if (netns == 0 || netns == lx->netns)
		return wd_netns_own(lx, list);
	return wd_netns_all(lx, deadline, list, err);
}

static const struct wd_netns *
pick(
    const struct wd_linux *lx, uint64_t netns, const struct wd_netns_list *list)
{
	size_t i;

	if (netns == 0)
		netns = lx->netns;
	for (i = 0; i < list->count; i++)
		if (list->items[i].inode == netns)
			return &list->items[i];
	return NULL;
}

static enum wd_status
look_into_one(const struct wd_linux *lx, uint64_t netns,
    const struct wd_netns_list *list, struct look *look)
{
	const struct wd_netns *ns = pick(lx, netns, list);
	enum wd_status st;

	if (ns == NULL)
		return add_blind(look->found, netns,
		    list->complete ? WD_GONE : WD_DENIED,
		    list->complete ?
			"no process is in it and no mount keeps it" :
			"it is not among those that could be seen");
	st = settle(look->found, ns->inode, look_into(lx, ns, look));
	wd_connections_sort(look->found);
	return st;
}

static enum wd_status
fail(uint64_t netns, enum wd_status st, struct wd_error *err)
{
	char which[64] = "every network namespace";

	if (netns != WD_NETNS_EVERY)
		(void)snprintf(which, sizeof(which), "network namespace %llu",
		    (unsigned long long)netns);
	return wd_fail(err, st == WD_NOMEM ? st : WD_UNSUPPORTED,
	    "connections of %s: %s; allow AF_NETLINK sockets, or give the "
	    "agent a readable /proc/net/tcp",
	    which, wd_status_name(st));
}

enum wd_status
wd_linux_connections(struct wd_host *host, uint64_t netns,
    const struct wd_deadline *deadline, struct wd_connections *found,
    struct wd_error *err)
{
	WD_CLEANUP(wd_netns_list_release) struct wd_netns_list list = { 0 };
	const struct wd_linux *lx = wd_linux_of(host);
	struct look look = { netns, deadline, found };
	enum wd_status st = choose(lx, netns, deadline, &list, err);

	if (st != WD_OK)
		return st;
	found->complete = true;
	st = netns == WD_NETNS_EVERY ? look_everywhere(lx, &list, &look) :
				       look_into_one(lx, netns, &list, &look);
	if (st == WD_OK)
		return WD_OK;
	wd_connections_release(found);
	return fail(netns == 0 ? lx->netns : netns, st, err);
}
