/*
 * Everything that can have moved while it was read, looked at once more:
 * sockets, owners, identities, mappings and files (design rule 3).
 */
#include <string.h>

#include "base/mem.h"
#include "evidence/devices.h"
#include "evidence/look.h"

#define MOVED(name) (1U << WEIGHTD__V1__MOVED__MOVED_##name)

/* Smaller mappings come and go in any process; among them only those of the
 * weights that were found are compared. */
#define SMALL_MAPPING_BYTES 65536

static bool
same_listeners(const struct wd_listeners *a, const struct wd_listeners *b)
{
	size_t i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++)
		if (a->items[i].inode != b->items[i].inode ||
		    a->items[i].netns != b->items[i].netns ||
		    a->items[i].cookie != b->items[i].cookie)
			return false;
	return true;
}

static bool
same_holders(const struct wd_holders *a, const struct wd_holders *b)
{
	size_t i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++)
		if (a->items[i].inode != b->items[i].inode ||
		    a->items[i].pid != b->items[i].pid ||
		    a->items[i].tid != b->items[i].tid ||
		    a->items[i].fd != b->items[i].fd)
			return false;
	return true;
}

/* Blind spots of the second look, unless the first has the same. */
static enum wd_status
take_blinds(struct wd_blinds *known, const struct wd_blinds *more)
{
	enum wd_status st = WD_OK;
	size_t i, j;

	for (i = 0; i < more->count && st == WD_OK; i++) {
		const struct wd_blind *b = &more->items[i];

		for (j = 0; j < known->count; j++)
			if (strcmp(known->items[j].what, b->what) == 0)
				break;
		if (j == known->count)
			st = wd_blinds_add(known, b->why, b->pid, b->remedy,
			    b->what, b->reason);
	}
	return st;
}

static enum wd_status
sockets_again(struct wd_look *look, struct wd_error *err)
{
	struct wd_listeners listeners;
	struct wd_holders holders;
	enum wd_status st;

	memset(&listeners, 0, sizeof(listeners));
	memset(&holders, 0, sizeof(holders));
	st = wd_look_listeners(look, &listeners, err);
	if (st == WD_OK) {
		/* A list that was cut says nothing of what has moved. */
		if (!listeners.complete)
			look->listeners.complete = false;
		else if (!same_listeners(&look->listeners, &listeners))
			look->moved |= MOVED(LISTENERS);
		st = take_blinds(&look->listener_blinds, &listeners.blinds);
	}
	if (st == WD_OK)
		st = wd_look_holders(look, &listeners, 0, &holders, err);
	if (st == WD_OK) {
		look->owners_again = holders.complete;
		if (holders.complete && look->holders.complete &&
		    !same_holders(&look->holders, &holders))
			look->moved |= MOVED(OWNERS);
	}
	wd_holders_release(&holders);
	wd_listeners_release(&listeners);
	return st == WD_NOMEM ? st : WD_OK;
}

/* An orphan is shown beside a server that it has nothing to do with. */
static bool
is_beside(const struct wd_look *look, const struct wd_member *member)
{
	return member->role == WD_MEMBER_ORPHAN_WEIGHTS &&
	    look->listeners.count > 0;
}

static void
identity_again(struct wd_look *look, const struct wd_member *member)
{
	struct wd_identity now;

	if (is_beside(look, member))
		return;
	if (wd_host_process_identity(
		look->with->host, member->pid, &now, NULL) != WD_OK ||
	    !wd_identity_equal(&member->process.identity, &now))
		look->moved |= MOVED(IDENTITY);
	/* Of who is no candidate nothing was read that an exec could change. */
	if (member->candidate && !member->ended &&
	    !member->process.identity.generation_known)
		look->identity_again = false;
}

/* Whether the object is one of the member's weight files, by the numbers that
 * its own mapping of it printed. */
static bool
is_held_as(const struct wd_look *look, const struct wd_held *held,
    size_t member, const struct wd_mapping *row)
{
	size_t i;

	for (i = 0; i < held->hold_count; i++) {
		const struct wd_hold *hold = &held->holds[i];
		const struct wd_mapping *known =
		    &look->members[member].mappings.items[hold->row];

		if (hold->member == member && hold->is_mapping &&
		    known->device == row->device && known->inode == row->inode)
			return true;
	}
	return false;
}

static bool
is_weights(
    const struct wd_look *look, size_t member, const struct wd_mapping *row)
{
	size_t i, j;

	for (i = 0; i < look->group_count; i++)
		for (j = 0; j < look->groups[i].held_count; j++)
			if (look->groups[i].held[j].used &&
			    is_held_as(
				look, &look->groups[i].held[j], member, row))
				return true;
	return false;
}

static const struct wd_mapping *
next_weights(const struct wd_look *look, size_t member,
    const struct wd_mappings *rows, size_t *at)
{
	while (*at < rows->count) {
		const struct wd_mapping *row = &rows->items[(*at)++];

		if (is_weights(look, member, row))
			return row;
	}
	return NULL;
}

static bool
same_row(const struct wd_mapping *x, const struct wd_mapping *y)
{
	return x->start == y->start && x->end == y->end &&
	    x->offset == y->offset && x->device == y->device &&
	    x->inode == y->inode && x->readable == y->readable &&
	    x->shared == y->shared;
}

static bool
same_weights(
    const struct wd_look *look, size_t member, const struct wd_mappings *now)
{
	const struct wd_mappings *then = &look->members[member].mappings;
	size_t i = 0, j = 0;

	for (;;) {
		const struct wd_mapping *x =
		    next_weights(look, member, then, &i);
		const struct wd_mapping *y =
		    next_weights(look, member, now, &j);

		if (x == NULL || y == NULL)
			return x == y;
		if (!same_row(x, y))
			return false;
	}
}

static bool
was_there(const struct wd_mappings *then, const struct wd_mapping *row)
{
	size_t low = 0, high = then->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (then->items[middle].start < row->start)
			low = middle + 1;
		else
			high = middle;
	}
	return low < then->count && same_row(&then->items[low], row);
}

/* Engines load libraries and data while they run: a new mapping moves the
 * answer only when it is of weights, or could be. */
static bool
has_new_weights(
    struct wd_look *look, size_t member, const struct wd_mappings *now)
{
	const struct wd_member *m = &look->members[member];
	size_t i;

	for (i = 0; i < now->count; i++) {
		const struct wd_mapping *row = &now->items[i];
		struct wd_object_ref ref = { m->pid, m->process.live_tid, true,
			row->start, row->end, -1 };

		if (!row->readable || !wd_may_be_weights(row->type) ||
		    row->end - row->start < SMALL_MAPPING_BYTES ||
		    was_there(&m->mappings, row))
			continue;
		if (wd_look_is_weights(look, &ref, row) != WD_NO)
			return true;
	}
	return false;
}

static enum wd_status
mappings_again(struct wd_look *look, size_t index)
{
	const struct wd_member *member = &look->members[index];
	struct wd_mappings now;
	enum wd_status st;

	if (member->mappings_status != WD_OK || !member->candidate ||
	    member->ended || is_beside(look, member))
		return WD_OK;
	memset(&now, 0, sizeof(now));
	st = wd_host_mappings(
	    look->with->host, &member->process, look->deadline, &now, NULL);
	if (st != WD_OK || !now.complete)
		look->mappings_again = false;
	if (st == WD_GONE ||
	    (st == WD_OK &&
		(!same_weights(look, index, &now) ||
		    has_new_weights(look, index, &now))))
		look->moved |= MOVED(MAPPINGS);
	wd_mappings_release(&now);
	return st == WD_NOMEM ? st : WD_OK;
}

static void
files_again(struct wd_look *look, const struct wd_model *model)
{
	struct wd_file_state now;
	size_t i;

	for (i = 0; i < model->file_count; i++) {
		const struct wd_model_file *file = &model->files[i];

		if (file->fd < 0)
			continue;
		if (wd_host_file_state(
			look->with->host, file->fd, &now, NULL) != WD_OK)
			look->files_again = false;
		else if (!wd_file_state_unchanged(&file->state, &now))
			look->moved |= MOVED(FILES);
	}
}

static bool
is_known_object(const struct wd_look *look, const struct wd_descriptor *d)
{
	size_t i, j;

	for (i = 0; i < look->group_count; i++)
		for (j = 0; j < look->groups[i].held_count; j++) {
			const struct wd_file_state *s =
			    &look->groups[i].held[j].first_state;

			if (s->device == d->device && s->inode == d->inode)
				return true;
		}
	return false;
}

/* Weights that were opened while we looked may be loaded by now, or copied to a
 * device. */
static enum wd_status
descriptors_again(struct wd_look *look, size_t index)
{
	const struct wd_member *member = &look->members[index];
	struct wd_descriptors now;
	bool came = false;
	enum wd_status st;
	size_t i;

	if (member->descriptors_status != WD_OK || !member->candidate ||
	    member->ended || is_beside(look, member))
		return WD_OK;
	memset(&now, 0, sizeof(now));
	st = wd_host_descriptors(
	    look->with->host, &member->process, look->deadline, &now, NULL);
	for (i = 0; i < now.count && st == WD_OK; i++) {
		const struct wd_descriptor *d = &now.items[i];
		struct wd_object_ref ref = { member->pid, d->tid, false, 0, 0,
			d->fd };

		if (d->readable && wd_may_be_weights(d->type) &&
		    !is_known_object(look, d) &&
		    wd_look_is_weights(look, &ref, NULL) == WD_YES)
			look->moved |= MOVED(MAPPINGS);
	}
	if (st == WD_OK)
		st = wd_look_devices_again(look, member, &now, &came);
	if (came)
		look->moved |= MOVED(MAPPINGS);
	wd_descriptors_release(&now);
	return st == WD_NOMEM ? st : WD_OK;
}

static bool
is_member(const struct wd_look *look, pid_t pid)
{
	size_t i;

	for (i = 0; i < look->member_count; i++)
		if (look->members[i].pid == pid)
			return true;
	return false;
}

static bool
was_running(const struct wd_pids *pids, pid_t pid)
{
	size_t i;

	for (i = 0; i < pids->count; i++)
		if (pids->items[i].pid == pid)
			return true;
	return false;
}

/* A process that was started below a member while we looked, and holds
 * weights. */
static bool
is_new_worker(struct wd_look *look, const struct wd_pid *row)
{
	struct wd_process process;
	struct wd_mappings rows;
	bool worker = false;

	if (!is_member(look, row->ppid) || is_member(look, row->pid) ||
	    was_running(&look->pids, row->pid))
		return false;
	memset(&process, 0, sizeof(process));
	memset(&rows, 0, sizeof(rows));
	if (wd_host_process(look->with->host, row->pid, &process, NULL) ==
		WD_OK &&
	    wd_host_mappings(look->with->host, &process, look->deadline, &rows,
		NULL) == WD_OK)
		worker = wd_look_maps_weights(look, &process, &rows) == WD_YES;
	wd_mappings_release(&rows);
	wd_process_release(&process);
	return worker;
}

static enum wd_status
workers_again(struct wd_look *look)
{
	struct wd_pids now;
	enum wd_status st;
	size_t i;

	if (look->group_count == 0)
		return WD_OK;
	memset(&now, 0, sizeof(now));
	st = wd_host_pids(look->with->host, look->deadline, &now, NULL);
	for (i = 0; i < now.count && st == WD_OK; i++)
		if (is_new_worker(look, &now.items[i]))
			look->moved |= MOVED(IDENTITY);
	wd_pids_release(&now);
	return st == WD_NOMEM ? st : WD_OK;
}

enum wd_status
wd_look_again(struct wd_look *look, struct wd_error *err)
{
	enum wd_status st;
	size_t i, j;

	look->identity_again = true;
	look->mappings_again = true;
	look->files_again = true;
	for (i = 0; i < look->member_count; i++) {
		st = descriptors_again(look, i);
		if (st != WD_OK)
			return wd_fail(err, st, "re-check: out of memory");
	}
	for (i = 0; i < look->group_count; i++)
		if (wd_look_written_again(look, &look->groups[i]))
			look->moved |= MOVED(MAPPINGS);
	if (workers_again(look) != WD_OK)
		return wd_fail(err, WD_NOMEM, "re-check: out of memory");
	for (i = 0; i < look->group_count; i++)
		for (j = 0; j < look->groups[i].model_count; j++)
			files_again(look, &look->groups[i].models[j]);
	for (i = 0; i < look->member_count; i++) {
		st = mappings_again(look, i);
		if (st != WD_OK)
			return wd_fail(err, st, "re-check: out of memory");
	}
	/* Sockets and identities last: they tie all of it together. */
	st = wd_look_has_connection(look) ?
	    wd_look_connection_again(look, err) :
	    sockets_again(look, err);
	if (st != WD_OK)
		return st;
	for (i = 0; i < look->member_count; i++)
		identity_again(look, &look->members[i]);
	return WD_OK;
}
