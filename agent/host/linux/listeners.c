/*
 * The listening sockets of one, or every, network namespace: two witnesses
 * that must agree. Sockets come and go between them, so a difference is
 * looked at again a few times before it is reported.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "host/linux/namespaces.h"
#include "host/linux/procnet.h"
#include "host/linux/sockdiag.h"

#define LOOK_ROUNDS 6
#define LOOK_PAUSE_NS (2 * WD_NS_PER_MS) /* doubled each round */

static int
compare_keys(const struct wd_listener *a, const struct wd_listener *b)
{
	int order;

	if (a->netns != b->netns)
		return a->netns < b->netns ? -1 : 1;
	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	order = memcmp(a->address, b->address, sizeof(a->address));
	if (order != 0)
		return order;
	if (a->port != b->port)
		return a->port < b->port ? -1 : 1;
	return (a->inode > b->inode) - (a->inode < b->inode);
}

static int
compare_listeners(const void *a, const void *b)
{
	return compare_keys(a, b);
}

static enum wd_status
append(struct wd_listeners *list, const struct wd_listener *item)
{
	void *items = list->items;
	enum wd_status st = wd_grow(&items, list->count, &list->capacity,
	    sizeof(*item), WD_MAX_LISTENERS);

	list->items = items;
	if (st == WD_OK)
		list->items[list->count++] = *item;
	return st;
}

/* ---- the second witness -------------------------------------------------- */

static enum wd_status
take_row(struct wd_slice line, uint16_t port, struct wd_listeners *found)
{
	struct wd_listener item = { 0 };
	struct wd_net_row row;

	/* The heading, too, is no row. */
	if (wd_parse_net_row(line, &row) != WD_OK ||
	    row.state != WD_TCP_LISTEN || (port != 0 && row.local_port != port))
		return WD_OK;
	item.family = row.v6 ? WD_INET6 : WD_INET4;
	memcpy(item.address, row.local, sizeof(item.address));
	item.port = row.local_port;
	item.inode = row.inode;
	item.uid = row.uid;
	item.v6only = row.v6 ? wd_v6only_settle(item.address, WD_NOT_KNOWN) :
			       WD_NOT_KNOWN;
	item.by_second = true;
	return append(found, &item);
}

/* Takes the whole lines of `text` and leaves the rest in front. */
static enum wd_status
take_lines(struct wd_buf *text, uint16_t port, struct wd_listeners *found)
{
	struct wd_slice rest = wd_buf_slice(text), line;
	const uint8_t *last = memrchr(rest.data, '\n', rest.len);
	enum wd_status st = WD_OK;
	size_t whole;

	if (last == NULL)
		return WD_OK;
	whole = (size_t)(last - rest.data) + 1;
	rest.len = whole;
	while (st == WD_OK && wd_slice_cut(&rest, '\n', &line))
		st = take_row(line, port, found);
	memmove(text->data, text->data + whole, text->len - whole);
	text->len -= whole;
	return st;
}

/* A table can have a million rows of other states, so it is read in pieces. */
static enum wd_status
read_table(int fd, uint16_t port, const struct wd_deadline *deadline,
    struct wd_listeners *found)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { 0 };
	enum wd_status st;
	uint8_t *space;
	ssize_t got;

	wd_buf_init(&text, 262144);
	if (lseek(fd, 0, SEEK_SET) < 0)
		return wd_status_from_errno(errno);
	for (;;) {
		if (wd_deadline_passed(deadline))
			return WD_TIMEDOUT;
		if (wd_buf_reserve(&text, 65536, &space) != WD_OK)
			return text.status;
		got = read(fd, space, 65536);
		if (got < 0)
			return wd_status_from_errno(errno);
		if (got == 0)
			return WD_OK;
		wd_buf_advance(&text, (size_t)got);
		st = take_lines(&text, port, found);
		if (st != WD_OK)
			return st;
	}
}

/* A kernel without IPv6 has no tcp6: no rows, and no gap. */
static enum wd_status
tables_status(const struct wd_netns_view *view)
{
	if (view->tcp_status != WD_OK || view->tcp6_status == WD_GONE)
		return view->tcp_status;
	return view->tcp6_status;
}

static enum wd_status
read_tables(const struct wd_netns_view *view, uint16_t port,
    const struct wd_deadline *deadline, struct wd_listeners *found)
{
	enum wd_status st = tables_status(view);

	if (st == WD_OK)
		st = read_table(view->tcp, port, deadline, found);
	if (st != WD_OK || view->tcp6 < 0)
		return st;
	return read_table(view->tcp6, port, deadline, found);
}

/* ---- joining the witnesses ----------------------------------------------- */

static bool
same_socket(const struct wd_listener *a, const struct wd_listener *b)
{
	return compare_keys(a, b) == 0;
}

static struct wd_listener *
find_row(struct wd_listeners *list, const struct wd_listener *wanted)
{
	return list->count == 0 ? NULL :
				  bsearch(wanted, list->items, list->count,
				      sizeof(*wanted), compare_listeners);
}

static void
sort(struct wd_listeners *list)
{
	if (list->count > 1)
		qsort(list->items, list->count, sizeof(*list->items),
		    compare_listeners);
}

/* Whether both have the same rows, however many times each is listed: the
 * tables may show a row twice when others vanish while they are read. */
static bool
agree(struct wd_listeners *a, struct wd_listeners *b)
{
	size_t i;

	for (i = 0; i < a->count; i++)
		if (find_row(b, &a->items[i]) == NULL)
			return false;
	for (i = 0; i < b->count; i++)
		if (find_row(a, &b->items[i]) == NULL)
			return false;
	return true;
}

/* Adds to `into` what `from` saw. The first witness knows more of a socket,
 * so its rows go in first. */
static enum wd_status
merge(struct wd_listeners *into, struct wd_listeners *from)
{
	size_t i, before = into->count;
	enum wd_status st = WD_OK;

	for (i = 0; i < from->count && st == WD_OK; i++) {
		struct wd_listeners seen = { into->items, before, 0, false, 0,
			false, { NULL, 0, 0 } };
		struct wd_listener *known = find_row(&seen, &from->items[i]);

		if (known == NULL) {
			st = append(into, &from->items[i]);
			continue;
		}
		known->by_primary |= from->items[i].by_primary;
		known->by_second |= from->items[i].by_second;
	}
	sort(into);
	for (i = 1, before = into->count > 0; i < into->count; i++)
		if (!same_socket(&into->items[before - 1], &into->items[i]))
			into->items[before++] = into->items[i];
	into->count = before;
	return st;
}

/* ---- one namespace ------------------------------------------------------- */

struct look {
	const struct wd_linux *lx;
	const struct wd_netns *ns;
	const struct wd_deadline *deadline;
	uint16_t port;
	struct wd_netns_view view;
	bool use_diag;
	enum wd_status diag_status, table_status;
	struct wd_listeners primary, second;
	unsigned looks;
	bool agreed;
};

static void
mark_netns(struct wd_listeners *list, uint64_t netns)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		list->items[i].netns = netns;
	sort(list);
}

static void
look_primary(struct look *look)
{
	wd_listeners_release(&look->primary);
	if (look->use_diag)
		look->diag_status = wd_diag_listeners(
		    look->view.diag, look->port, true, &look->primary, NULL);
	mark_netns(&look->primary, look->ns->inode);
}

static void
look_second(struct look *look)
{
	wd_listeners_release(&look->second);
	look->table_status =
	    read_tables(&look->view, look->port, look->deadline, &look->second);
	mark_netns(&look->second, look->ns->inode);
}

/* Without sock_diag the table looks twice: one witness, two looks. */
static void
look_twice(struct look *look)
{
	WD_CLEANUP(wd_listeners_release) struct wd_listeners before = { 0 };

	look_second(look);
	if (look->table_status != WD_OK)
		return;
	before = look->second;
	memset(&look->second, 0, sizeof(look->second));
	wd_linux_moment(look->lx, WD_LINUX_BETWEEN_LOOKS);
	look_second(look);
	look->agreed =
	    look->table_status == WD_OK && agree(&before, &look->second);
}

static void
look_both(struct look *look)
{
	look_primary(look);
	wd_linux_moment(look->lx, WD_LINUX_BETWEEN_LOOKS);
	look_second(look);
	look->agreed = look->diag_status == WD_OK &&
	    look->table_status == WD_OK && agree(&look->primary, &look->second);
}

/* Sock_diag alone, when the tables cannot be read, also looks twice. */
static void
look_diag_twice(struct look *look)
{
	WD_CLEANUP(wd_listeners_release) struct wd_listeners before = { 0 };

	look_primary(look);
	if (look->diag_status != WD_OK)
		return;
	before = look->primary;
	memset(&look->primary, 0, sizeof(look->primary));
	wd_linux_moment(look->lx, WD_LINUX_BETWEEN_LOOKS);
	look_primary(look);
	look->agreed =
	    look->diag_status == WD_OK && agree(&before, &look->primary);
}

static bool
diag_is_missing(enum wd_status st)
{
	return st == WD_UNSUPPORTED || st == WD_DENIED || st == WD_IO ||
	    st == WD_MALFORMED || st == WD_GONE || st == WD_INVALID;
}

static void
look_once(struct look *look)
{
	enum wd_status tables = tables_status(&look->view);

	if (look->use_diag && tables != WD_OK) {
		look->table_status = tables;
		look_diag_twice(look);
		return;
	}
	if (look->use_diag) {
		look_both(look);
		if (!diag_is_missing(look->diag_status))
			return;
		look->use_diag = false;
	}
	look_twice(look);
}

static void
pause_ns(int64_t ns)
{
	struct timespec wait = { 0, (long)ns };

	(void)nanosleep(&wait, NULL);
}

static void
look_until_agreed(struct look *look)
{
	int64_t wait = LOOK_PAUSE_NS;
	int round;

	for (round = 0; round < LOOK_ROUNDS; round++) {
		look_once(look);
		if (look->agreed || wd_deadline_passed(look->deadline))
			return;
		if (!look->use_diag && look->table_status != WD_OK)
			return;
		pause_ns(wait);
		wait *= 2;
	}
}

static enum wd_status
add_blind(struct look *look, struct wd_listeners *found, enum wd_status why)
{
	const char *remedy = why == WD_TIMEDOUT ?
	    "ask again with a longer deadline" :
	    "run the agent as root with CAP_SYS_ADMIN, or one agent in that "
	    "namespace";
	char what[96];

	found->complete = false;
	(void)snprintf(what, sizeof(what),
	    "listening sockets of network namespace %llu",
	    (unsigned long long)look->ns->inode);
	return wd_blinds_add(&found->blinds, why, look->ns->pid, remedy, what,
	    wd_status_name(why));
}

static enum wd_status
finish_look(struct look *look, struct wd_listeners *found)
{
	bool by_diag = look->use_diag && look->diag_status == WD_OK;
	bool by_table = look->table_status == WD_OK;
	enum wd_status st = WD_OK;

	look->looks = (unsigned)by_diag + (unsigned)by_table;
	if (!by_diag && !by_table)
		st = add_blind(look, found,
		    look->use_diag ? look->diag_status : look->table_status);
	else if ((look->use_diag && !by_diag) ||
	    (!by_table && look->table_status == WD_TIMEDOUT))
		st = add_blind(look, found,
		    by_table ? look->diag_status : look->table_status);
	if (st == WD_OK)
		st = merge(&look->primary, &look->second);
	return st == WD_OK ? merge(found, &look->primary) : st;
}

static enum wd_status
look_into(struct wd_linux *lx, const struct wd_netns *ns, uint16_t port,
    const struct wd_deadline *deadline, struct wd_listeners *found,
    unsigned *looks)
{
	struct look look = { lx, ns, deadline, port,
		{ -1, -1, -1, WD_OK, WD_OK, WD_OK }, false, WD_OK, WD_OK, { 0 },
		{ 0 }, 0, false };
	enum wd_status st;

	wd_netns_view_open(lx, ns, &look.view);
	look.use_diag = look.view.diag_status == WD_OK;
	look.diag_status = look.view.diag_status;
	look_until_agreed(&look);
	st = look.diag_status == WD_NOMEM || look.table_status == WD_NOMEM ?
	    WD_NOMEM :
	    finish_look(&look, found);
	*looks = look.looks;
	found->agreed &= look.agreed;
	wd_netns_view_close(&look.view);
	wd_listeners_release(&look.primary);
	wd_listeners_release(&look.second);
	return st;
}

/* ---- the question -------------------------------------------------------- */

static enum wd_status
choose(struct wd_linux *lx, const struct wd_listener_query *query,
    const struct wd_deadline *deadline, struct wd_netns_list *list,
    struct wd_error *err)
{
	if (query->scope == WD_NETNS_OWN ||
	    (query->scope == WD_NETNS_ONE && query->netns == lx->netns &&
		lx->netns != 0))
		return wd_netns_own(lx, list);
	return wd_netns_all(lx, deadline, list, err);
}

static bool
asked_for(const struct wd_listener_query *query, const struct wd_netns *ns)
{
	return query->scope != WD_NETNS_ONE || ns->inode == query->netns;
}

static enum wd_status
not_found_blind(
    const struct wd_listener_query *query, struct wd_listeners *found)
{
	char what[64];

	found->complete = false;
	(void)snprintf(what, sizeof(what), "network namespace %llu",
	    (unsigned long long)query->netns);
	return wd_blinds_add(&found->blinds, WD_GONE, 0,
	    "list the namespaces with `lsns -t net`", what,
	    "no process that the agent sees is in it and no mount keeps it");
}

/* Only the whole list of namespaces makes "all" whole; for a single one that
 * was found, how many others there are does not matter. */
static enum wd_status
take_list_gaps(const struct wd_listener_query *query,
    struct wd_netns_list *list, struct wd_listeners *found)
{
	enum wd_status st = WD_OK;
	size_t i;

	if (query->scope != WD_NETNS_ALL || list->complete)
		return WD_OK;
	found->complete = false;
	for (i = 0; i < list->blinds.count && st == WD_OK; i++) {
		const struct wd_blind *blind = &list->blinds.items[i];

		st = wd_blinds_add(&found->blinds, blind->why, blind->pid,
		    blind->remedy, blind->what, blind->reason);
	}
	return st;
}

enum wd_status
wd_linux_listeners(struct wd_host *host, const struct wd_listener_query *query,
    const struct wd_deadline *deadline, struct wd_listeners *found,
    struct wd_error *err)
{
	WD_CLEANUP(wd_netns_list_release) struct wd_netns_list list = { 0 };
	struct wd_linux *lx = wd_linux_of(host);
	unsigned looks, fewest = 2;
	size_t i, looked = 0, seen = 0;
	enum wd_status st = choose(lx, query, deadline, &list, err);

	if (st != WD_OK)
		return st;
	found->complete = true;
	found->agreed = true;
	for (i = 0; i < list.count && st == WD_OK; i++) {
		if (!asked_for(query, &list.items[i]))
			continue;
		st = look_into(
		    lx, &list.items[i], query->port, deadline, found, &looks);
		looked++;
		seen += looks > 0;
		fewest = looks < fewest ? looks : fewest;
	}
	if (st == WD_OK && looked == 0)
		st = not_found_blind(query, found);
	if (st == WD_OK)
		st = take_list_gaps(query, &list, found);
	if (st != WD_OK)
		return wd_fail(err, st, "listing the listening sockets: %s",
		    wd_status_name(st));
	found->looks = looked == 0 ? 0 : fewest;
	found->agreed &= looked > 0;
	if (looked > 0 && seen == 0)
		return wd_fail(err, WD_UNSUPPORTED,
		    "listening sockets: neither sock_diag nor /proc/net/tcp "
		    "can be read; allow AF_NETLINK sockets or mount /proc");
	return WD_OK;
}
