/*
 * Forwarders: where a group that holds no weights passes traffic on to. Its
 * next hops are children that serve for themselves and connections from its
 * processes; each is followed to the processes that listen there, which get a
 * proof of their own. Of a group that holds a model the connections are shown
 * and not followed, unless its program is known to pass requests on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/limits.h"
#include "base/mem.h"
#include "evidence/address.h"
#include "evidence/blind.h"
#include "evidence/hops.h"

/* Idle upstream connections vanish within seconds and new ones come with each
 * request: one moment shows too little. */
#define SAMPLES 5
#define SAMPLE_PAUSE_NS (40 * WD_NS_PER_MS)

/* A chain of proxies that is longer is a loop or a mistake. */
#define MAX_DEPTH 4
#define MAX_HOPS 256

#define NO_MEMORY "hops: out of memory"

bool
wd_look_is_proxy(const struct wd_look *look, const struct wd_group *group)
{
	size_t i;

	for (i = 0; i < group->member_count; i++) {
		const struct wd_member *m = &look->members[group->members[i]];
		struct wd_recognition found = wd_engine_recognise(&m->process);

		if (wd_group_is_owner(group, m) && wd_engine_is_proxy(&found))
			return true;
	}
	return false;
}

bool
wd_look_passes_on(const struct wd_look *look, const struct wd_group *group)
{
	size_t i;

	for (i = 0; i < group->member_count; i++) {
		const struct wd_member *m = &look->members[group->members[i]];
		struct wd_recognition found = wd_engine_recognise(&m->process);

		if (wd_group_is_owner(group, m) && wd_engine_passes_on(&found))
			return true;
	}
	return false;
}

bool
wd_group_may_hold_model(const struct wd_group *group)
{
	size_t i;

	for (i = 0; i < group->model_count; i++) {
		const struct wd_model *model = &group->models[i];

		/* What is only named may just as well be behind it. */
		for (size_t j = 0; j < model->file_count; j++)
			if (model->kind == WD_KIND_MODEL &&
			    model->files[j].held != WD_NONE)
				return true;
	}
	return false;
}

static struct wd_address
address_of(const struct wd_hop *hop)
{
	return wd_address_of(hop->family, hop->address);
}

enum wd_status
wd_group_add_hop(struct wd_group *group, const struct wd_hop *hop)
{
	struct wd_address wanted = address_of(hop);
	size_t i;

	for (i = 0; i < group->hop_count; i++) {
		struct wd_hop *known = &group->hops[i];
		struct wd_address address = address_of(known);

		if (known->pid != hop->pid || known->port != hop->port ||
		    (hop->port == 0 && known->peer != hop->peer) ||
		    known->netns != hop->netns ||
		    !wd_address_equal(&address, &wanted))
			continue;
		known->samples += hop->samples;
		return WD_OK;
	}
	if (wd_grow((void **)&group->hops, group->hop_count,
		&group->hop_capacity, sizeof(*hop), MAX_HOPS) == WD_NOMEM)
		return WD_NOMEM;
	if (group->hop_count == MAX_HOPS) {
		group->checked_routes = false;
		return WD_OK;
	}
	group->hops[group->hop_count++] = *hop;
	return WD_OK;
}

bool
wd_has_socket(const struct wd_descriptors *descriptors, uint64_t inode)
{
	size_t i;

	for (i = 0; i < descriptors->count; i++)
		if (descriptors->items[i].type == WD_OBJECT_SOCKET &&
		    descriptors->items[i].inode == inode)
			return true;
	return false;
}

static bool
is_listening_port(const struct wd_look *look, uint64_t netns, uint16_t port)
{
	size_t i;

	for (i = 0; i < look->all.count; i++)
		if (look->all.items[i].netns == netns &&
		    look->all.items[i].port == port)
			return true;
	return false;
}

/* The other end is a row of the same table: both ends are on this host. */
static bool
is_local(const struct wd_connections *rows, const struct wd_connection *row)
{
	struct wd_address there = wd_address_of(row->family, row->remote);
	size_t i;

	if (wd_address_is_loopback(&there))
		return true;
	for (i = 0; i < rows->count; i++) {
		struct wd_address here =
		    wd_address_of(rows->items[i].family, rows->items[i].local);

		if (rows->items[i].local_port == row->remote_port &&
		    rows->items[i].remote_port == row->local_port &&
		    wd_address_equal(&here, &there))
			return true;
	}
	return false;
}

/* The way to a published port is known already, with the namespace that it
 * leads to; a connection shows that it is used. */
static bool
counts_as_published(struct wd_group *group, const struct wd_hop *hop)
{
	struct wd_address wanted = address_of(hop);
	size_t i;

	for (i = 0; i < group->hop_count; i++) {
		struct wd_hop *known = &group->hops[i];
		struct wd_address address = address_of(known);

		if (known->kind != WD_HOP_PUBLISHED || known->pid != hop->pid ||
		    known->port != hop->port ||
		    !wd_address_equal(&address, &wanted))
			continue;
		known->samples++;
		return true;
	}
	return false;
}

static enum wd_status
take_row(struct wd_look *look, struct wd_group *group, pid_t pid,
    const struct wd_connections *rows, const struct wd_connection *row)
{
	struct wd_hop hop = { .kind = WD_HOP_REMOTE,
		.pid = pid,
		.netns = row->netns,
		.family = row->family,
		.port = row->remote_port,
		.samples = 1,
		.group = WD_NONE };

	/* A connection that was accepted comes from a client. */
	if (row->inode == look->accepted.socket.inode ||
	    is_listening_port(look, row->netns, row->local_port))
		return WD_OK;
	memcpy(hop.address, row->remote, sizeof(hop.address));
	if (counts_as_published(group, &hop))
		return WD_OK;
	if (is_local(rows, row))
		hop.kind = WD_HOP_CONNECTION;
	return wd_group_add_hop(group, &hop);
}

static enum wd_status
sample_member(struct wd_look *look, struct wd_group *group, size_t member,
    const struct wd_connections *rows, struct wd_peers *peers)
{
	const struct wd_member *m = &look->members[member];
	struct wd_descriptors now;
	enum wd_status st;
	size_t i;

	/* Sockets come with every request: the list of the first look is old.
	 */
	memset(&now, 0, sizeof(now));
	st = wd_host_descriptors(
	    look->with->host, &m->process, look->deadline, &now, NULL);
	if (st != WD_OK || !now.complete)
		group->checked_routes = false;
	for (i = 0; i < rows->count && st == WD_OK; i++)
		if (rows->items[i].inode != 0 &&
		    wd_has_socket(&now, rows->items[i].inode))
			st = take_row(
			    look, group, m->pid, rows, &rows->items[i]);
	wd_peers_collect(peers, look, group, m->pid, &now);
	wd_descriptors_release(&now);
	return st == WD_NOMEM ? st : WD_OK;
}

static enum wd_status
sample_once(struct wd_look *look, struct wd_group *group)
{
	WD_CLEANUP(wd_peers_release) struct wd_peers peers;
	struct wd_connections rows;
	enum wd_status st = wd_peers_begin(&peers, look, group);
	size_t i;

	for (i = 0; i < group->member_count && st == WD_OK; i++) {
		size_t member = group->members[i];
		uint64_t netns = look->members[member].process.netns;

		if (!look->members[member].candidate)
			continue;
		memset(&rows, 0, sizeof(rows));
		st = wd_host_connections(
		    look->with->host, netns, look->deadline, &rows, NULL);
		if (st != WD_OK || !rows.complete)
			group->checked_routes = false;
		if (st == WD_OK)
			st = sample_member(look, group, member, &rows, &peers);
		else if (st != WD_NOMEM)
			st = WD_OK;
		wd_connections_release(&rows);
	}
	if (st == WD_OK)
		st = wd_peers_resolve(&peers, look, group);
	return st;
}

/* A router that holds a model is looked at once: it may be a server that could
 * route, and waits for nobody. */
static enum wd_status
sample(struct wd_look *look, struct wd_group *group)
{
	struct timespec pause = { 0, SAMPLE_PAUSE_NS };
	unsigned samples = wd_group_may_hold_model(group) ? 1 : SAMPLES;
	enum wd_status st = WD_OK;
	unsigned i;

	for (i = 0; i < samples && st == WD_OK; i++) {
		if (i > 0)
			(void)nanosleep(&pause, NULL);
		if (wd_deadline_passed(look->deadline)) {
			group->checked_routes = false;
			break;
		}
		st = sample_once(look, group);
	}
	return st;
}

static int
compare_pids(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The distinct holders of the sockets, sorted; the caller frees. */
static enum wd_status
owners_behind(const struct wd_holders *holders, pid_t **owners, size_t *count)
{
	pid_t *pids = wd_calloc(holders->count, sizeof(*pids));
	size_t i;

	*count = 0;
	if (pids == NULL)
		return WD_NOMEM;
	for (i = 0; i < holders->count; i++)
		pids[i] = holders->items[i].pid;
	if (holders->count > 1)
		qsort(pids, holders->count, sizeof(*pids), compare_pids);
	for (i = 0; i < holders->count; i++)
		if (*count == 0 || pids[*count - 1] != pids[i])
			pids[(*count)++] = pids[i];
	*owners = pids;
	return WD_OK;
}

/* A hop without a port leads to one process. */
static enum wd_status
group_of_peer(
    struct wd_look *look, pid_t peer, size_t *index, struct wd_error *err)
{
	pid_t *owner;

	*index = WD_NONE;
	if (peer == 0)
		return WD_OK;
	owner = wd_calloc(1, sizeof(*owner));
	if (owner == NULL)
		return wd_fail(err, WD_NOMEM, NO_MEMORY);
	*owner = peer;
	return wd_look_group_of(look, owner, 1, index, err);
}

/* Who listens where the hop leads to. `*index` is WD_NONE when nobody does;
 * `*seen` becomes false when somebody may. */
static enum wd_status
find_behind(struct wd_look *look, const struct wd_hop *hop, size_t *index,
    bool *seen, struct wd_error *err)
{
	struct wd_listeners at = { .complete = true };
	struct wd_address address = address_of(hop);
	struct wd_holders holders;
	pid_t *owners = NULL;
	size_t i, count = 0;
	enum wd_status st;

	*index = WD_NONE;
	at.items = wd_calloc(look->all.count, sizeof(*at.items));
	if (at.items == NULL)
		return wd_fail(err, WD_NOMEM, NO_MEMORY);
	for (i = 0; i < look->all.count; i++)
		if (look->all.items[i].netns == hop->netns &&
		    look->all.items[i].port == hop->port)
			at.items[at.count++] = look->all.items[i];
	wd_address_keep(&at, &address);
	memset(&holders, 0, sizeof(holders));
	st = at.count == 0 ? WD_OK :
			     wd_look_holders(look, &at, 0, &holders, err);
	if (st == WD_OK && at.count > 0 && !holders.complete)
		*seen = false;
	if (st == WD_OK)
		st = owners_behind(&holders, &owners, &count);
	if (st == WD_OK && count > 0)
		st = wd_look_group_of(look, owners, count, index, err);
	else
		wd_free(owners);
	wd_holders_release(&holders);
	wd_free(at.items);
	return st;
}

/* Follows every hop of a group. New groups are appended, which moves the
 * array: only indexes are kept. */
static enum wd_status
follow(struct wd_look *look, size_t group, struct wd_error *err)
{
	enum wd_status st = WD_OK;
	bool seen = look->all.complete;
	size_t i, before, index;

	for (i = 0; i < look->groups[group].hop_count && st == WD_OK; i++) {
		struct wd_hop hop = look->groups[group].hops[i];

		if (hop.kind == WD_HOP_REMOTE)
			continue;
		before = look->group_count;
		st = hop.port == 0 ?
		    group_of_peer(look, hop.peer, &index, err) :
		    find_behind(look, &hop, &index, &seen, err);
		if (st != WD_OK || index == WD_NONE || index == group)
			continue;
		look->groups[group].hops[i].group = index;
		if (index < before)
			continue;
		look->groups[index].behind = true;
		look->groups[index].depth = look->groups[group].depth + 1;
	}
	look->groups[group].checked_routes &= seen;
	return st;
}

/* ---- who holds a model, and passes on besides ------------------------------
 */

/* Work that a glance is worth, in comparisons. */
#define MAX_GLANCE 10000000

/* One moment of one member's connections; accepted ones are left out before
 * anything else, as a server has many. */
static enum wd_status
glance_at(struct wd_look *look, struct wd_group *group,
    const struct wd_member *m, const struct wd_connections *rows)
{
	enum wd_status st = WD_OK;
	size_t i;

	if (rows->count > 0 &&
	    m->descriptors.count + look->all.count > MAX_GLANCE / rows->count)
		return WD_OK;
	for (i = 0; i < rows->count && st == WD_OK; i++)
		if (rows->items[i].inode != 0 &&
		    wd_has_socket(&m->descriptors, rows->items[i].inode))
			st = take_row(
			    look, group, m->pid, rows, &rows->items[i]);
	return st;
}

static enum wd_status
blind_gateway(struct wd_look *look, const struct wd_group *group, size_t before)
{
	char what[96];

	if (group->hop_count == before)
		return WD_OK;
	(void)snprintf(what, sizeof(what),
	    "requests that process %d may pass on",
	    (int)group->hops[before].pid);
	return wd_blinds_add(&look->other_blinds, WD_UNSUPPORTED,
	    group->hops[before].pid,
	    "ask the ports that it is connected to as well", what,
	    "it holds a model, and is connected to other servers, which may "
	    "answer for it");
}

/* Whoever holds a model is asked for that one. That it is a client of others
 * as well is shown, and not followed: most are, of databases and such. */
static enum wd_status
glance_beyond(struct wd_look *look, struct wd_group *group)
{
	size_t i, before = group->hop_count;
	enum wd_status st = WD_OK;

	for (i = 0; i < group->member_count && st == WD_OK; i++) {
		const struct wd_member *m = &look->members[group->members[i]];
		struct wd_connections rows;

		if (!m->candidate || m->role == WD_MEMBER_TIED)
			continue;
		memset(&rows, 0, sizeof(rows));
		st = wd_host_connections(look->with->host, m->process.netns,
		    look->deadline, &rows, NULL);
		if (st == WD_OK)
			st = glance_at(look, group, m, &rows);
		else if (st != WD_NOMEM)
			st = WD_OK;
		wd_connections_release(&rows);
	}
	return st == WD_OK ? blind_gateway(look, group, before) : st;
}

enum wd_status
wd_look_hops(struct wd_look *look, size_t index, struct wd_error *err)
{
	struct wd_group *group = &look->groups[index];
	enum wd_status st;

	if (group->orphan_weights)
		return WD_OK;
	if (wd_group_may_hold_model(group) && !wd_look_passes_on(look, group)) {
		st = glance_beyond(look, group);
		return st == WD_OK ? st : wd_fail(err, st, NO_MEMORY);
	}
	group->checked_routes = true;
	st = wd_look_published(look, group);
	if (st == WD_OK)
		st = sample(look, group);
	if (st != WD_OK)
		return wd_fail(err, st, NO_MEMORY);
	if (group->depth >= MAX_DEPTH) {
		group->checked_routes = group->hop_count == 0;
		return WD_OK;
	}
	return follow(look, index, err);
}
