/*
 * The connection that the question names: the caller's own end of it leads to
 * the socket at the other end, and that to the processes that hold it. Those
 * alone are the owners of the answer (design section 5): whoever else listens
 * on the port, or answers there next time, did not accept this connection.
 *
 * Both ends of a connection inside one host are rows. The service's end is the
 * one whose remote end is the caller's.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "evidence/connection.h"

#define STATE(name) WEIGHTD__V1__CONNECTION_STATE__CONNECTION_STATE_##name
#define MOVED(name) (1U << WEIGHTD__V1__MOVED__MOVED_##name)

bool
wd_look_has_connection(const struct wd_look *look)
{
	return look->question->connection != NULL;
}

static enum wd_status
read_question(
    const struct wd_look *look, struct wd_wanted *wanted, struct wd_error *err)
{
	const Weightd__V1__Question *q = look->question;
	enum wd_status st;

	memset(wanted, 0, sizeof(*wanted));
	wanted->caller_port = (uint16_t)q->connection->port;
	wanted->port = (uint16_t)q->port;
	wanted->has_address = q->address[0] != '\0';
	st = wd_address_parse(q->connection->address, &wanted->caller, err);
	if (st == WD_OK && wanted->has_address)
		st = wd_address_parse(q->address, &wanted->address, err);
	return st;
}

/* ---- the socket ---------------------------------------------------------- */

static bool
is_from_caller(const struct wd_wanted *wanted, const struct wd_connection *row)
{
	struct wd_address here = wd_address_of(row->family, row->local);
	struct wd_address there = wd_address_of(row->family, row->remote);

	if (row->remote_port != wanted->caller_port ||
	    !wd_address_equal(&there, &wanted->caller))
		return false;
	/* A socket that is connected to itself is the caller's own. */
	return row->local_port != row->remote_port ||
	    !wd_address_equal(&here, &there);
}

/* The caller's end may be connected to several services at once: its port at
 * one of them is the one that was asked for. */
static bool
fits(const struct wd_wanted *wanted, const struct wd_connection *row)
{
	struct wd_address here = wd_address_of(row->family, row->local);

	return row->local_port == wanted->port &&
	    (!wanted->has_address || wd_address_equal(&here, &wanted->address));
}

static void
search(const struct wd_wanted *wanted, const struct wd_connections *rows,
    struct wd_finding *finding)
{
	size_t i;

	memset(finding, 0, sizeof(*finding));
	for (i = 0; i < rows->count; i++) {
		const struct wd_connection *row = &rows->items[i];

		if (!is_from_caller(wanted, row))
			continue;
		if (fits(wanted, row)) {
			finding->socket = *row;
			finding->fitting++;
		} else {
			finding->other_port = row->local_port;
			finding->other_netns = row->netns;
		}
	}
}

static Weightd__V1__ConnectionState
state_of(const struct wd_finding *finding, bool complete)
{
	if (!complete)
		return STATE(HIDDEN);
	if (finding->fitting == 0)
		return STATE(NONE);
	if (finding->fitting > 1)
		return STATE(SEVERAL);
	/* The kernel gives a socket its inode when it is accepted. */
	return finding->socket.inode == 0 ? STATE(NOT_ACCEPTED) : STATE(FOUND);
}

/* ---- why it is not known --------------------------------------------------
 */

enum wd_status
wd_blinds_take(struct wd_blinds *to, const struct wd_blinds *from)
{
	enum wd_status st = WD_OK;
	size_t i;

	for (i = 0; i < from->count && st == WD_OK; i++)
		st = wd_blinds_add(to, from->items[i].why, from->items[i].pid,
		    from->items[i].remedy, from->items[i].what,
		    from->items[i].reason);
	return st;
}

static enum wd_status
say_none(
    struct wd_look *look, const struct wd_finding *finding, const char *what)
{
	char reason[200];

	if (finding->other_port == 0)
		return wd_blinds_add(&look->listener_blinds, WD_GONE, 0,
		    "keep the connection open while you ask, give its own end "
		    "as the service sees it (a translated address has another "
		    "one), or ask without --connection",
		    what,
		    "no established connection from there ends at the asked "
		    "port: it is closed, or it reaches a socket elsewhere");
	(void)snprintf(reason, sizeof(reason),
	    "a connection from there ends at port %u of network namespace "
	    "%" PRIu64 ", and nothing shows that the asked port was "
	    "translated to it",
	    finding->other_port, finding->other_netns);
	return wd_blinds_add(&look->listener_blinds, WD_GONE, 0,
	    "ask for that port, if it is the service's own behind a "
	    "translated one",
	    what, reason);
}

static enum wd_status
say_why(struct wd_look *look, const struct wd_finding *finding)
{
	const Weightd__V1__Connection *asked = look->question->connection;
	Weightd__V1__ConnectionState state = look->accepted.state;
	char what[128];

	/* An address that was parsed is short and plain. */
	(void)snprintf(what, sizeof(what), "connection from %s port %" PRIu32,
	    asked->address, asked->port);
	if (state == STATE(NONE))
		return say_none(look, finding, what);
	if (state == STATE(SEVERAL))
		return wd_blinds_add(&look->listener_blinds, WD_INVALID, 0,
		    "name the service's --address or its --netns", what,
		    "several connections have these ends, in several network "
		    "namespaces or at several addresses");
	if (state == STATE(NOT_ACCEPTED))
		return wd_blinds_add(&look->owner_blinds, WD_GONE, 0,
		    "send a request, and ask again when the service has "
		    "accepted the connection",
		    what, "it waits in the listener's queue");
	return WD_OK;
}

/* What kept the connections from being seen, for every try has its reason. */
static enum wd_status
say_unseen(struct wd_look *look, enum wd_status why,
    const struct wd_connections *rows, const char *reason)
{
	if (rows->complete && why == WD_OK)
		return WD_OK;
	if (rows->blinds.count > 0)
		return wd_blinds_take(&look->listener_blinds, &rows->blinds);
	return wd_blinds_add(&look->listener_blinds, why, 0,
	    "run the agent as root where it can open a netlink socket or read "
	    "/proc/net, and with time enough",
	    "established connections", reason);
}

/* Tables that cannot be read matter to whom nothing fits without them. */
static enum wd_status
translated(struct wd_look *look, const struct wd_wanted *wanted,
    const struct wd_connections *rows, struct wd_finding *finding,
    bool is_first)
{
	struct wd_blinds unread = { NULL, 0, 0 };
	enum wd_status st =
	    wd_look_translated(look, wanted, rows, finding, &unread);

	if (st == WD_OK && is_first)
		st = wd_blinds_take(finding->fitting == 0 ?
			&look->listener_blinds :
			&look->other_blinds,
		    &unread);
	wd_blinds_release(&unread);
	return st;
}

/* One look at the connections of the asked namespaces. */
static enum wd_status
look_for(struct wd_look *look, struct wd_finding *finding,
    Weightd__V1__ConnectionState *state, bool is_first, struct wd_error *err)
{
	const Weightd__V1__Question *q = look->question;
	struct wd_connections rows;
	struct wd_wanted wanted;
	struct wd_error why;
	enum wd_status st = read_question(look, &wanted, err);

	if (st != WD_OK)
		return st;
	wd_error_init(&why);
	st = wd_host_connections(look->with->host,
	    q->netns != 0 && !q->all_namespaces ? q->netns : WD_NETNS_EVERY,
	    look->deadline, &rows, &why);
	search(&wanted, &rows, finding);
	/* Who is alone with the caller at its other end needs no table. */
	if (st == WD_OK && (finding->fitting == 0 || finding->other_port != 0))
		st = translated(look, &wanted, &rows, finding, is_first);
	*state = state_of(finding, st == WD_OK && rows.complete);
	if (st != WD_NOMEM)
		st = is_first ?
		    say_unseen(look, st, &rows,
			st == WD_OK ? "not all could be seen" : why.message) :
		    WD_OK;
	wd_connections_release(&rows);
	return st == WD_NOMEM ? wd_fail(err, st, "connections: out of memory") :
				WD_OK;
}

enum wd_status
wd_look_connection(struct wd_look *look, struct wd_error *err)
{
	struct wd_finding finding;
	enum wd_status st;

	look->accepted.group = WD_NONE;
	st = look_for(look, &finding, &look->accepted.state, true, err);
	if (st != WD_OK)
		return st;
	if (look->accepted.state == STATE(FOUND) ||
	    look->accepted.state == STATE(NOT_ACCEPTED))
		look->accepted.socket = finding.socket;
	look->accepted.translated = finding.translated;
	if (say_why(look, &finding) != WD_OK)
		return wd_fail(err, WD_NOMEM, "connections: out of memory");
	return WD_OK;
}

/* ---- its holders --------------------------------------------------------- */

/* A socket that was accepted and that nobody holds is on its way to another
 * process, or held in a place that was not looked at. */
static enum wd_status
settle_holders(struct wd_look *look, size_t count)
{
	if (count > 0 && look->holders.complete)
		return WD_OK;
	look->accepted.state = STATE(HIDDEN);
	if (look->holders.blinds.count > 0)
		return WD_OK;
	return wd_blinds_add(&look->owner_blinds, WD_DENIED, 0,
	    "ask again; run the agent as root, or with CAP_SYS_PTRACE",
	    "holders of the connection",
	    "no process that can be seen holds it, or not all could be looked "
	    "into");
}

/* The others that listen on the port are shown with who holds them, and not
 * looked into. */
static enum wd_status
settle_listeners(struct wd_look *look)
{
	const struct wd_group *group = look->accepted.group == WD_NONE ?
	    NULL :
	    &look->groups[look->accepted.group];
	enum wd_status st = wd_look_listener_rows(look);
	size_t i, count;

	for (i = 0; i < look->listeners.count && st == WD_OK; i++) {
		pid_t *owners = NULL;

		st = wd_look_owners_of(
		    look, look->listeners.items[i].inode, &owners, &count);
		look->owners_state[i] = wd_look_owners_state(look, count);
		if (st == WD_OK && group != NULL &&
		    count == group->owner_count &&
		    memcmp(owners, group->owners, count * sizeof(*owners)) == 0)
			look->listener_group[i] = look->accepted.group;
		wd_free(owners);
	}
	return st;
}

static enum wd_status
make_group(struct wd_look *look, struct wd_error *err)
{
	pid_t *owners = NULL;
	size_t count = 0, index;
	enum wd_status st = wd_look_owners_of(
	    look, look->accepted.socket.inode, &owners, &count);

	if (st == WD_OK)
		st = settle_holders(look, count);
	if (st != WD_OK || count == 0) {
		wd_free(owners);
		return st == WD_OK ?
		    st :
		    wd_fail(err, st, "connections: out of memory");
	}
	st = wd_look_group_of(look, owners, count, &index, err);
	if (st == WD_OK)
		look->accepted.group = index;
	return st;
}

enum wd_status
wd_look_connection_group(struct wd_look *look, struct wd_error *err)
{
	enum wd_status st = WD_OK;

	if (look->accepted.state == STATE(FOUND))
		st = make_group(look, err);
	if (st == WD_OK && settle_listeners(look) != WD_OK)
		st = wd_fail(err, WD_NOMEM, "connections: out of memory");
	return st;
}

/* ---- once more ----------------------------------------------------------- */

static bool
same_socket(const struct wd_connection *a, const struct wd_connection *b)
{
	return a->inode == b->inode && a->netns == b->netns &&
	    a->local_port == b->local_port;
}

static size_t
count_holders(const struct wd_holders *holders, uint64_t inode)
{
	size_t i, count = 0;

	for (i = 0; i < holders->count; i++)
		count += holders->items[i].inode == inode;
	return count;
}

static bool
has_holder(const struct wd_holders *holders, const struct wd_holder *wanted)
{
	size_t i;

	for (i = 0; i < holders->count; i++)
		if (holders->items[i].inode == wanted->inode &&
		    holders->items[i].pid == wanted->pid &&
		    holders->items[i].tid == wanted->tid &&
		    holders->items[i].fd == wanted->fd)
			return true;
	return false;
}

static bool
same_holders(
    const struct wd_holders *a, const struct wd_holders *b, uint64_t inode)
{
	size_t i;

	if (count_holders(a, inode) != count_holders(b, inode))
		return false;
	for (i = 0; i < a->count; i++)
		if (a->items[i].inode == inode && !has_holder(b, &a->items[i]))
			return false;
	return true;
}

static enum wd_status
holders_again(struct wd_look *look, struct wd_error *err)
{
	struct wd_listeners none = { .complete = true };
	uint64_t inode = look->accepted.socket.inode;
	struct wd_holders now;
	enum wd_status st;

	st = wd_look_holders(look, &none, inode, &now, err);
	if (st == WD_OK) {
		look->owners_again = now.complete;
		if (!same_holders(&look->holders, &now, inode))
			look->moved |= MOVED(CONNECTION);
	}
	wd_holders_release(&now);
	return st;
}

/* Of the listeners nothing is asked again: they decide nothing here. */
enum wd_status
wd_look_connection_again(struct wd_look *look, struct wd_error *err)
{
	struct wd_accepted *accepted = &look->accepted;
	Weightd__V1__ConnectionState now;
	struct wd_finding finding;
	enum wd_status st = holders_again(look, err);

	if (st == WD_OK)
		st = look_for(look, &finding, &now, false, err);
	if (st != WD_OK)
		return st;
	/* A list that was cut says nothing of what has moved. */
	if (now == STATE(HIDDEN))
		return WD_OK;
	accepted->again = true;
	/* Holders that were hidden are no word about the socket. */
	if (accepted->socket.inode != 0 ? now != STATE(FOUND) ||
		    !same_socket(&accepted->socket, &finding.socket) :
					  now != accepted->state)
		look->moved |= MOVED(CONNECTION);
	return WD_OK;
}
