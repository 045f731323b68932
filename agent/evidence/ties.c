/*
 * Who is tied to a member of a group: has the other end of one of its pipes, or
 * the socket that one of its unix sockets is connected to, or maps a memory
 * object that the member maps too, both shared and writable. One walk over all
 * descriptors for all groups, and one over all mappings if any member has such
 * memory at all. What a tie means is decided in tied.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "evidence/ties.h"

/* Standard input, output and error lead to shells, loggers and terminals, and
 * are set by whoever started the process. */
#define STANDARD_FD 2

/* Something that a member has and that somebody else may have too. */
struct strand {
	enum wd_tie_kind kind;
	struct wd_object_number number; /* device: memory only */
	bool readable, writable;        /* pipes only */
	size_t group;
	pid_t pid;
};

struct strands {
	struct strand *items;
	size_t count, capacity;
};

static enum wd_status
add_strand(struct strands *all, const struct strand *strand)
{
	if (wd_grow((void **)&all->items, all->count, &all->capacity,
		sizeof(*strand), WD_MAX_DESCRIPTORS) == WD_NOMEM)
		return WD_NOMEM;
	if (all->count < all->capacity)
		all->items[all->count++] = *strand;
	return WD_OK;
}

/* ---- what members have ----------------------------------------------------
 */

/* The first pair with this inode, or behind where it would be. */
static size_t
first_pair(const struct wd_unix_pairs *pairs, uint64_t inode)
{
	size_t low = 0, high = pairs->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pairs->items[middle].inode < inode)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static enum wd_status
take_socket(struct strands *all, const struct wd_unix_pairs *pairs,
    uint64_t inode, struct strand strand)
{
	size_t i = first_pair(pairs, inode);
	enum wd_status st = WD_OK;

	strand.kind = WD_TIE_UNIX_SOCKET;
	for (;
	     i < pairs->count && pairs->items[i].inode == inode && st == WD_OK;
	     i++) {
		strand.number.inode = pairs->items[i].peer_inode;
		st = add_strand(all, &strand);
	}
	return st;
}

static enum wd_status
take_descriptors(struct strands *all, const struct wd_unix_pairs *pairs,
    const struct wd_member *member, size_t group)
{
	enum wd_status st = WD_OK;
	size_t i;

	for (i = 0; i < member->descriptors.count && st == WD_OK; i++) {
		const struct wd_descriptor *d = &member->descriptors.items[i];
		struct strand strand = { WD_TIE_PIPE, { 0, d->inode },
			d->readable, d->writable, group, member->pid };

		if (d->fd <= STANDARD_FD || d->inode == 0)
			continue;
		/* A FIFO that has a name is numbered by its file system. */
		if (d->type == WD_OBJECT_PIPE &&
		    wd_slice_starts(wd_bytes_slice(&d->path), "pipe:["))
			st = add_strand(all, &strand);
		else if (d->type == WD_OBJECT_SOCKET)
			st = take_socket(all, pairs, d->inode, strand);
	}
	return st;
}

static bool
is_shared_memory(const struct wd_mapping *row)
{
	return row->shared && row->writable && row->inode != 0 &&
	    (row->type == WD_OBJECT_MEMORY ||
		wd_slice_starts(wd_bytes_slice(&row->path), "/dev/shm/"));
}

static enum wd_status
take_mappings(struct strands *all, const struct wd_member *member, size_t group)
{
	enum wd_status st = WD_OK;
	size_t i;

	for (i = 0; i < member->mappings.count && st == WD_OK; i++) {
		const struct wd_mapping *row = &member->mappings.items[i];
		struct strand strand = { WD_TIE_SHARED_MEMORY,
			{ row->device, row->inode }, true, true, group,
			member->pid };

		if (is_shared_memory(row))
			st = add_strand(all, &strand);
	}
	return st;
}

/* A process that only inherited the socket of a dead server inherited its pipes
 * as well: they tie nobody. */
static bool
may_tie(struct wd_look *look, const struct wd_group *group,
    const struct wd_member *member)
{
	if (!member->candidate || member->ended || group->behind ||
	    group->orphan_weights)
		return false;
	return member->role == WD_MEMBER_DESCENDANT ||
	    !wd_look_may_be_left_over(look, member);
}

static enum wd_status
take_strands(struct wd_look *look, const struct wd_unix_pairs *pairs,
    struct strands *all)
{
	enum wd_status st = WD_OK;
	size_t i, j;

	for (i = 0; i < look->group_count; i++)
		for (j = 0; j < look->groups[i].member_count; j++) {
			const struct wd_member *m =
			    &look->members[look->groups[i].members[j]];

			if (!may_tie(look, &look->groups[i], m))
				continue;
			st = take_descriptors(all, pairs, m, i);
			if (st == WD_OK)
				st = take_mappings(all, m, i);
			if (st != WD_OK)
				return st;
		}
	return st;
}

/* ---- who has the other end ------------------------------------------------
 */

static enum wd_status
add_outsider(struct wd_outsiders *found, size_t group, pid_t pid,
    const struct wd_tie *tie)
{
	struct wd_outsider *o = NULL;
	size_t i;

	for (i = 0; i < found->count && o == NULL; i++)
		if (found->items[i].pid == pid &&
		    found->items[i].group == group)
			o = &found->items[i];
	if (o == NULL) {
		if (wd_grow((void **)&found->items, found->count,
			&found->capacity, sizeof(*o), SIZE_MAX) != WD_OK)
			return WD_NOMEM;
		o = &found->items[found->count++];
		memset(o, 0, sizeof(*o));
		o->group = group;
		o->pid = pid;
	}
	for (i = 0; i < o->tie_count; i++)
		if (o->ties[i].kind == tie->kind && o->ties[i].pid == tie->pid)
			return WD_OK;
	if (wd_grow((void **)&o->ties, o->tie_count, &o->tie_capacity,
		sizeof(*tie), SIZE_MAX) != WD_OK)
		return WD_NOMEM;
	o->ties[o->tie_count++] = *tie;
	return WD_OK;
}

static int
compare_strands(const void *a, const void *b)
{
	const struct strand *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->number.inode != y->number.inode)
		return x->number.inode < y->number.inode ? -1 : 1;
	return (x->number.device > y->number.device) -
	    (x->number.device < y->number.device);
}

/* The first strand of that kind and number, or behind where it would be. */
static size_t
first_strand(const struct strands *all, const struct strand *wanted)
{
	size_t low = 0, high = all->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_strands(&all->items[middle], wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Two readers of one pipe, or two writers, say nothing to each other. */
static bool
is_other_end(const struct strand *a, const struct strand *b)
{
	return a->kind != WD_TIE_PIPE || (a->readable && b->writable) ||
	    (a->writable && b->readable);
}

/* `theirs` is what process theirs.pid has. */
static enum wd_status
match(const struct strands *all, const struct strand *theirs,
    struct wd_outsiders *found)
{
	size_t i = first_strand(all, theirs);
	enum wd_status st = WD_OK;

	for (; i < all->count && st == WD_OK &&
	     compare_strands(&all->items[i], theirs) == 0;
	     i++) {
		const struct strand *ours = &all->items[i];
		struct wd_tie tie = { ours->kind, ours->pid };

		if (ours->pid != theirs->pid && is_other_end(ours, theirs))
			st =
			    add_outsider(found, ours->group, theirs->pid, &tie);
	}
	return st;
}

static enum wd_status
blind(struct wd_look *look, enum wd_status why, const char *what,
    const char *reason)
{
	size_t i;

	/* What was not looked for may be there. */
	for (i = 0; i < look->group_count; i++)
		look->groups[i].unexplained = true;
	return wd_blinds_add(&look->weight_blinds, why, 0,
	    "run the agent as root, where it can open a netlink socket, and "
	    "with a longer deadline",
	    what, reason);
}

static size_t
numbers_of(const struct strands *all, enum wd_tie_kind kind, uint64_t *inodes)
{
	size_t i, count = 0;

	for (i = 0; i < all->count; i++)
		if (all->items[i].kind == kind &&
		    (count == 0 ||
			inodes[count - 1] != all->items[i].number.inode))
			inodes[count++] = all->items[i].number.inode;
	return count;
}

static enum wd_status
match_ends(const struct strands *all, const struct wd_ends *ends,
    struct wd_outsiders *found)
{
	enum wd_status st = WD_OK;
	size_t i;

	for (i = 0; i < ends->count && st == WD_OK; i++) {
		const struct wd_end *e = &ends->items[i];
		struct strand theirs = { e->is_pipe ? WD_TIE_PIPE :
						      WD_TIE_UNIX_SOCKET,
			{ 0, e->inode }, e->readable, e->writable, 0, e->pid };

		st = match(all, &theirs, found);
	}
	return st;
}

static enum wd_status
find_ends(
    struct wd_look *look, const struct strands *all, struct wd_outsiders *found)
{
	WD_CLEANUP(wd_free_scoped) uint64_t *sockets = NULL;
	WD_CLEANUP(wd_free_scoped) uint64_t *pipes = NULL;
	WD_CLEANUP(wd_ends_release) struct wd_ends ends = { 0 };
	struct wd_ends_wanted wanted;
	enum wd_status st;

	sockets = wd_calloc(all->count, sizeof(*sockets));
	pipes = wd_calloc(all->count, sizeof(*pipes));
	if (sockets == NULL || pipes == NULL)
		return WD_NOMEM;
	wanted.sockets = sockets;
	wanted.pipes = pipes;
	wanted.socket_count = numbers_of(all, WD_TIE_UNIX_SOCKET, sockets);
	wanted.pipe_count = numbers_of(all, WD_TIE_PIPE, pipes);
	if (wanted.socket_count + wanted.pipe_count == 0)
		return WD_OK;
	st = wd_host_ends(
	    look->with->host, &wanted, look->deadline, &ends, NULL);
	if (st == WD_NOMEM)
		return st;
	if (st == WD_OK && ends.complete)
		return match_ends(all, &ends, found);
	if (match_ends(all, &ends, found) != WD_OK)
		return WD_NOMEM;
	return blind(look, st == WD_OK ? WD_DENIED : st,
	    "processes tied by pipes and unix sockets",
	    "the open descriptors of some processes could not be read");
}

static enum wd_status
match_mappers(const struct strands *all, const struct wd_mappers *rows,
    struct wd_outsiders *found)
{
	enum wd_status st = WD_OK;
	size_t i;

	for (i = 0; i < rows->count && st == WD_OK; i++) {
		const struct wd_mapper *m = &rows->items[i];
		struct strand theirs = { WD_TIE_SHARED_MEMORY, m->object, true,
			true, 0, m->pid };

		if (m->shared && m->writable)
			st = match(all, &theirs, found);
	}
	return st;
}

static enum wd_status
find_mappers(
    struct wd_look *look, const struct strands *all, struct wd_outsiders *found)
{
	WD_CLEANUP(wd_free_scoped) struct wd_object_number *objects = NULL;
	WD_CLEANUP(wd_mappers_release) struct wd_mappers rows = { 0 };
	enum wd_status st;
	size_t i, count = 0;

	objects = wd_calloc(all->count, sizeof(*objects));
	if (objects == NULL)
		return WD_NOMEM;
	for (i = 0; i < all->count; i++)
		if (all->items[i].kind == WD_TIE_SHARED_MEMORY &&
		    (count == 0 ||
			compare_strands(&all->items[i - 1], &all->items[i]) !=
			    0))
			objects[count++] = all->items[i].number;
	if (count == 0)
		return WD_OK;
	st = wd_host_mappers(
	    look->with->host, objects, count, look->deadline, &rows, NULL);
	if (st == WD_NOMEM || match_mappers(all, &rows, found) != WD_OK)
		return WD_NOMEM;
	if (st == WD_OK && rows.complete)
		return WD_OK;
	return blind(look, st == WD_OK ? WD_DENIED : st,
	    "processes tied by shared memory",
	    "the mappings of some processes could not be read");
}

/* ---- all of it ------------------------------------------------------------
 */

/* Whether a member has a socket that may be a unix one. */
static bool
has_sockets(struct wd_look *look)
{
	size_t i, j;

	for (i = 0; i < look->member_count; i++)
		for (j = 0; j < look->members[i].descriptors.count; j++) {
			const struct wd_descriptor *d =
			    &look->members[i].descriptors.items[j];

			if (d->type == WD_OBJECT_SOCKET &&
			    d->fd > STANDARD_FD &&
			    wd_look_listening(look, d) == NULL)
				return true;
		}
	return false;
}

static enum wd_status
find_pairs(struct wd_look *look, struct wd_unix_pairs *pairs)
{
	enum wd_status st;

	if (!has_sockets(look))
		return WD_OK;
	st = wd_host_unix_pairs(look->with->host, look->deadline, pairs, NULL);
	if (st == WD_NOMEM || (st == WD_OK && pairs->complete))
		return st;
	return blind(look, st == WD_OK ? WD_TIMEDOUT : st,
	    "processes tied by unix sockets",
	    "which unix sockets are connected to each other could not be seen");
}

enum wd_status
wd_look_find_outsiders(struct wd_look *look, struct wd_outsiders *found)
{
	WD_CLEANUP(wd_unix_pairs_release) struct wd_unix_pairs pairs = { 0 };
	struct strands all = { 0 };
	enum wd_status st = find_pairs(look, &pairs);

	if (st == WD_OK)
		st = take_strands(look, &pairs, &all);
	if (all.count > 1)
		qsort(
		    all.items, all.count, sizeof(*all.items), compare_strands);
	if (st == WD_OK)
		st = find_ends(look, &all, found);
	if (st == WD_OK)
		st = find_mappers(look, &all, found);
	wd_free(all.items);
	return st;
}

void
wd_outsiders_release(struct wd_outsiders *outsiders)
{
	size_t i;

	for (i = 0; i < outsiders->count; i++)
		wd_free(outsiders->items[i].ties);
	wd_free(outsiders->items);
	memset(outsiders, 0, sizeof(*outsiders));
}
