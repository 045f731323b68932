/*
 * Children that serve for themselves: a descendant that listens on a port of
 * its own is no part of the group when its parent talks to that port as a
 * client, or when the engine table knows it as a server of its own. It is a
 * next hop, and gets a proof of its own.
 */
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "evidence/address.h"
#include "evidence/look.h"

#define SAMPLES 3
#define SAMPLE_PAUSE_NS (20 * WD_NS_PER_MS)

/* Its own listener; of several the first by address. */
static const struct wd_listener *
listener_of(const struct wd_look *look, const struct wd_group *group,
    const struct wd_member *member)
{
	const struct wd_listener *first = NULL;
	size_t i;

	for (i = 0; i < member->descriptors.count; i++) {
		const struct wd_listening *row =
		    wd_look_listening(look, &member->descriptors.items[i]);

		if (row != NULL && wd_group_is_elsewhere(look, group, row) &&
		    (first == NULL || row->listener < first))
			first = row->listener;
	}
	return first;
}

static bool
has_socket(const struct wd_member *member, uint64_t inode)
{
	size_t i;

	for (i = 0; i < member->descriptors.count; i++)
		if (member->descriptors.items[i].type == WD_OBJECT_SOCKET &&
		    member->descriptors.items[i].inode == inode)
			return true;
	return false;
}

/* Whether an owner has a connection to that listener among the rows. */
static bool
owner_talks_to(const struct wd_look *look, const struct wd_group *group,
    const struct wd_connections *rows, const struct wd_listener *listener)
{
	size_t i, j;

	for (i = 0; i < rows->count; i++) {
		const struct wd_connection *row = &rows->items[i];

		if (row->inode == 0 || row->netns != listener->netns ||
		    row->remote_port != listener->port)
			continue;
		for (j = 0; j < group->member_count; j++) {
			const struct wd_member *m =
			    &look->members[group->members[j]];

			if (wd_group_is_owner(group, m) &&
			    has_socket(m, row->inode))
				return true;
		}
	}
	return false;
}

static void
refresh_owners(struct wd_look *look, const struct wd_group *group)
{
	size_t i;

	for (i = 0; i < group->member_count; i++) {
		struct wd_member *m = &look->members[group->members[i]];
		struct wd_descriptors now;

		if (!wd_group_is_owner(group, m) ||
		    m->descriptors_status != WD_OK)
			continue;
		memset(&now, 0, sizeof(now));
		if (wd_host_descriptors(look->with->host, &m->process,
			look->deadline, &now, NULL) == WD_OK) {
			wd_descriptors_release(&m->descriptors);
			m->descriptors = now;
			continue;
		}
		wd_descriptors_release(&now);
	}
}

/* A few moments, since connections inside a host come and go. */
static enum wd_status
is_client_of(struct wd_look *look, const struct wd_group *group,
    const struct wd_listener *listener, bool *talks)
{
	struct timespec pause = { 0, SAMPLE_PAUSE_NS };
	struct wd_connections rows;
	enum wd_status st = WD_OK;
	unsigned i;

	*talks = false;
	for (i = 0; i < SAMPLES && !*talks && st != WD_NOMEM; i++) {
		if (i > 0) {
			(void)nanosleep(&pause, NULL);
			refresh_owners(look, group);
		}
		memset(&rows, 0, sizeof(rows));
		st = wd_host_connections(look->with->host, listener->netns,
		    look->deadline, &rows, NULL);
		if (st == WD_OK)
			*talks = owner_talks_to(look, group, &rows, listener);
		wd_connections_release(&rows);
		if (wd_deadline_passed(look->deadline))
			break;
	}
	return st == WD_NOMEM ? st : WD_OK;
}

static bool
port_is_internal(const struct wd_look *look, const struct wd_group *group,
    const struct wd_recognition *child)
{
	size_t i;

	for (i = 0; i < group->member_count; i++) {
		const struct wd_member *m = &look->members[group->members[i]];
		struct wd_recognition owner = wd_engine_recognise(&m->process);

		if (wd_group_is_owner(group, m) &&
		    wd_engine_port_is_internal(&owner, child))
			return true;
	}
	return false;
}

/* A proxy's workers are forks of it: one that a reload left behind listens no
 * longer, and finishes what it passes on. So are workers of an engine that
 * have not written a title over its words yet. */
static bool
is_fork_of_owner(const struct wd_look *look, const struct wd_group *group,
    const struct wd_member *member)
{
	size_t i;

	for (i = 0; i < group->member_count; i++) {
		const struct wd_member *m = &look->members[group->members[i]];

		if (wd_group_is_owner(group, m) &&
		    wd_look_same_generation(
			&m->process.identity, &member->process.identity))
			return true;
	}
	return false;
}

static bool
has_words_of_owner(const struct wd_look *look, const struct wd_group *group,
    const struct wd_member *member)
{
	size_t i;

	for (i = 0; i < group->member_count; i++) {
		const struct wd_member *m = &look->members[group->members[i]];

		if (wd_group_is_owner(group, m) &&
		    wd_slice_equal(wd_bytes_slice(&m->process.argv),
			wd_bytes_slice(&member->process.argv)))
			return true;
	}
	return false;
}

/* Engines in Python are known by the module or script alone. Such a child with
 * a port of its own is a server when it was started with words of its own. */
static bool
is_server_by_script(const struct wd_look *look, const struct wd_group *group,
    const struct wd_member *member, const struct wd_recognition *child)
{
	return child->how == WD_ENGINE_BY_SCRIPT && child->engine->own_server &&
	    !is_fork_of_owner(look, group, member) &&
	    !has_words_of_owner(look, group, member);
}

static enum wd_status
serves_for_itself(struct wd_look *look, const struct wd_group *group,
    const struct wd_member *member, const struct wd_listener *listener,
    bool *serves)
{
	struct wd_recognition child = wd_engine_recognise(&member->process);

	/* Such a server may just as well be asked over a unix socket. */
	*serves = wd_engine_is_own_server(&child) &&
	    !(wd_engine_is_proxy(&child) &&
		is_fork_of_owner(look, group, member));
	if (listener != NULL)
		*serves |= is_server_by_script(look, group, member, &child);
	if (*serves || listener == NULL ||
	    port_is_internal(look, group, &child))
		return WD_OK;
	return is_client_of(look, group, listener, serves);
}

static bool
is_below(const struct wd_member *member, pid_t pid)
{
	size_t i;

	if (member->pid == pid)
		return true;
	for (i = 0; i < member->process.ancestor_count; i++)
		if (member->process.ancestors[i].pid == pid)
			return true;
	return false;
}

static void
leave_group(const struct wd_look *look, struct wd_group *group, pid_t pid)
{
	size_t i, kept = 0;

	for (i = 0; i < group->member_count; i++)
		if (!is_below(&look->members[group->members[i]], pid))
			group->members[kept++] = group->members[i];
	group->member_count = kept;
}

/* `listener` is NULL when it listens on no TCP port: then the hop has none. */
static enum wd_status
add_child_hop(struct wd_group *group, pid_t parent, pid_t child,
    const struct wd_listener *listener)
{
	struct wd_hop *hop;

	if (wd_grow((void **)&group->hops, group->hop_count,
		&group->hop_capacity, sizeof(*hop), WD_MAX_GROUP) != WD_OK)
		return WD_NOMEM;
	hop = &group->hops[group->hop_count++];
	memset(hop, 0, sizeof(*hop));
	hop->kind = WD_HOP_CHILD;
	hop->pid = parent;
	hop->peer = child;
	hop->family = WD_INET4;
	hop->group = WD_NONE;
	if (listener == NULL)
		return WD_OK;
	hop->netns = listener->netns;
	hop->family = listener->family;
	memcpy(hop->address, listener->address, sizeof(hop->address));
	hop->port = listener->port;
	return WD_OK;
}

enum wd_status
wd_look_children(
    struct wd_look *look, struct wd_group *group, struct wd_error *err)
{
	enum wd_status st = WD_OK;
	size_t i = 0;

	while (i < group->member_count && st == WD_OK) {
		const struct wd_member *m = &look->members[group->members[i]];
		const struct wd_listener *listener = NULL;
		bool serves = false;
		pid_t pid = m->pid, parent = m->process.ppid;

		if (wd_group_is_below_owner(group, m) &&
		    wd_group_listens_elsewhere(look, group, m))
			listener = listener_of(look, group, m);
		if (wd_group_is_below_owner(group, m))
			st = serves_for_itself(
			    look, group, m, listener, &serves);
		if (st == WD_OK && serves)
			st = add_child_hop(group, parent, pid, listener);
		if (st == WD_OK && serves)
			leave_group(look, group, pid);
		else
			i++;
	}
	if (st != WD_OK)
		return wd_fail(err, st, "children: out of memory");
	return WD_OK;
}
