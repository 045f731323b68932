/*
 * The objects that a group's members have mapped or open: each opened once,
 * through the process that holds it, and known by what it contains.
 */
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "evidence/look.h"

static enum wd_status
no_memory(struct wd_error *err)
{
	return wd_fail(err, WD_NOMEM, "held files: out of memory");
}

size_t
wd_group_find_held(
    const struct wd_group *group, const struct wd_file_state *state)
{
	size_t i;

	for (i = 0; i < group->held_count; i++)
		if (group->held[i].open_status == WD_OK &&
		    wd_file_state_same_object(
			&group->held[i].first_state, state))
			return i;
	return WD_NONE;
}

static enum wd_status
add_hold(struct wd_held *held, const struct wd_hold *hold)
{
	/* As many as there are rows, which have caps of their own. */
	if (wd_grow((void **)&held->holds, held->hold_count,
		&held->hold_capacity, sizeof(*hold), SIZE_MAX) != WD_OK)
		return WD_NOMEM;
	held->holds[held->hold_count++] = *hold;
	return WD_OK;
}

/* What the first bytes say. Libraries and logs are closed again: a process can
 * hold more files than we may have descriptors. */
static enum wd_status
sniff(struct wd_look *look, struct wd_held *held)
{
	if (held->open_status != WD_OK)
		return WD_OK;
	held->sniff_status = wd_reader_sniff(
	    look->with->reader, held->file.fd, &held->format, NULL);
	if (held->sniff_status != WD_OK)
		held->format = WD_FORMAT_UNKNOWN;
	if (held->format == WD_FORMAT_UNKNOWN)
		wd_file_release(&held->file);
	return held->sniff_status == WD_NOMEM ? WD_NOMEM : WD_OK;
}

/* Adds an object that was opened (or could not be). Takes over `file`. When
 * there are too many, `*index` is WD_NONE and the group says so. */
static enum wd_status
add_held(struct wd_look *look, struct wd_group *group,
    enum wd_status open_status, struct wd_file *file,
    const struct wd_bytes *path, enum wd_object_type type, size_t *index)
{
	struct wd_held *held;
	enum wd_status st;

	*index = open_status == WD_OK ?
	    wd_group_find_held(group, &file->state) :
	    WD_NONE;
	if (*index != WD_NONE) {
		wd_file_release(file);
		return WD_OK;
	}
	st = wd_grow((void **)&group->held, group->held_count,
	    &group->held_capacity, sizeof(*held), WD_MAX_CANDIDATE_FILES);
	if (st != WD_OK) {
		wd_file_release(file);
		group->too_many |= st == WD_LIMIT;
		return st == WD_LIMIT ? WD_OK : st;
	}
	held = &group->held[group->held_count];
	memset(held, 0, sizeof(*held));
	held->open_status = open_status;
	held->file = *file;
	file->fd = -1;
	held->first_state = held->file.state;
	held->type = type;
	*index = group->held_count++;
	st = sniff(look, held);
	return st == WD_OK ? wd_bytes_set(&held->path, wd_bytes_slice(path)) :
			     st;
}

/* Whether the row looks like an earlier row of the same process. */
static bool
same_row(const struct wd_mapping *a, const struct wd_mapping *b)
{
	return a->device == b->device && a->inode == b->inode &&
	    a->deleted == b->deleted &&
	    wd_slice_equal(wd_bytes_slice(&a->path), wd_bytes_slice(&b->path));
}

/* Whether a row that looks like an earlier one shows its object for sure. The
 * printed pair is that of a layer or of the whole volume on some file systems
 * (design rule 2); and where weights are at stake, each row is asked. */
static bool
numbers_suffice(const struct wd_held *held)
{
	static const char *const others[] = { "", "bcachefs", "btrfs",
		"overlay" };
	size_t i;

	if (held->open_status != WD_OK)
		return true;
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(held->first_state.fs_type, others[i]) == 0)
			return false;
	return held->format == WD_FORMAT_UNKNOWN;
}

bool
wd_may_be_weights(enum wd_object_type type)
{
	return type == WD_OBJECT_REGULAR || type == WD_OBJECT_MEMORY;
}

static struct wd_hold
hold_of_mapping(size_t member, size_t index, const struct wd_mapping *row)
{
	struct wd_hold hold;

	memset(&hold, 0, sizeof(hold));
	hold.member = member;
	hold.is_mapping = true;
	hold.readable = row->readable;
	hold.range = (struct wd_range){ row->offset, row->end - row->start };
	hold.row = index;
	hold.shared_writable = row->shared && row->writable;
	/* A shared mapping has no pages of its own. */
	hold.written_known = row->shared;
	return hold;
}

/* A network file system that lost the handle finds the object anew when it is
 * asked again, if it is still there. */
static enum wd_status
open_held(struct wd_look *look, const struct wd_object_ref *ref,
    const struct wd_mapping *row, struct wd_file *file)
{
	enum wd_status st =
	    wd_host_open_object(look->with->host, ref, row, file, NULL);

	if (st == WD_STALE)
		st =
		    wd_host_open_object(look->with->host, ref, row, file, NULL);
	return st;
}

static enum wd_status
open_mapping(struct wd_look *look, struct wd_group *group, size_t member,
    const struct wd_mapping *row, size_t *index)
{
	const struct wd_member *who = &look->members[member];
	struct wd_object_ref ref = { who->pid, who->process.live_tid, true,
		row->start, row->end, -1 };
	struct wd_file file = { .fd = -1 };
	enum wd_status st;

	st = open_held(look, &ref, row, &file);
	if (st == WD_NOMEM)
		return st;
	if (st == WD_GONE)
		look->moved |= 1U << WEIGHTD__V1__MOVED__MOVED_MAPPINGS;
	return add_held(look, group, st, &file, &row->path, row->type, index);
}

static enum wd_status
hold_mappings(struct wd_look *look, struct wd_group *group, size_t member)
{
	struct wd_mappings *rows = &look->members[member].mappings;
	WD_CLEANUP(wd_free_scoped) size_t *indexes = NULL;
	size_t i, j;

	indexes = wd_calloc(rows->count, sizeof(*indexes));
	if (indexes == NULL)
		return WD_NOMEM;
	for (i = 0; i < rows->count; i++) {
		const struct wd_mapping *row = &rows->items[i];
		struct wd_hold hold = hold_of_mapping(member, i, row);
		enum wd_status st = WD_OK;

		indexes[i] = WD_NONE;
		if (!wd_may_be_weights(row->type))
			continue;
		/* Rows of one file lie close together by address. */
		for (j = i; j-- > 0 && i - j <= 64;)
			if (indexes[j] != WD_NONE &&
			    same_row(row, &rows->items[j]) &&
			    numbers_suffice(&group->held[indexes[j]]))
				break;
		if (j != SIZE_MAX && i - j <= 64)
			indexes[i] = indexes[j];
		else
			st =
			    open_mapping(look, group, member, row, &indexes[i]);
		if (st != WD_OK)
			return st;
		if (indexes[i] == WD_NONE)
			continue;
		if (row->executable)
			group->held[indexes[i]].executable = true;
		if (add_hold(&group->held[indexes[i]], &hold) != WD_OK)
			return WD_NOMEM;
	}
	return WD_OK;
}

static enum wd_status
hold_descriptor(struct wd_look *look, struct wd_group *group, size_t member,
    const struct wd_descriptor *row)
{
	struct wd_object_ref ref = { look->members[member].pid, row->tid, false,
		0, 0, row->fd };
	struct wd_hold hold = { .member = member, .readable = row->readable };
	struct wd_file file = { .fd = -1 };
	enum wd_status st;
	size_t index;

	st = open_held(look, &ref, NULL, &file);
	/* A descriptor that was closed meanwhile is everyday life. */
	if (st == WD_GONE || st == WD_INVALID)
		return WD_OK;
	if (st == WD_NOMEM)
		return st;
	st = add_held(look, group, st, &file, &row->path, row->type, &index);
	if (st != WD_OK || index == WD_NONE)
		return st;
	return add_hold(&group->held[index], &hold);
}

static enum wd_status
hold_descriptors(struct wd_look *look, struct wd_group *group, size_t member)
{
	struct wd_descriptors *rows = &look->members[member].descriptors;
	enum wd_status st;
	size_t i;

	for (i = 0; i < rows->count; i++) {
		if (!wd_may_be_weights(rows->items[i].type) ||
		    !rows->items[i].readable)
			continue;
		st = hold_descriptor(look, group, member, &rows->items[i]);
		if (st != WD_OK)
			return st;
	}
	return WD_OK;
}

/* What is no regular file holds no weights. */
static bool
was_seen(const struct wd_held *held)
{
	return held->open_status == WD_INVALID ||
	    (held->open_status == WD_OK && held->sniff_status == WD_OK);
}

static void
note_completeness(struct wd_look *look, struct wd_group *group)
{
	size_t i;

	group->members_complete =
	    look->pids.complete && !group->lost_member && !group->too_many;
	for (i = 0; i < group->member_count; i++) {
		const struct wd_member *m = &look->members[group->members[i]];

		if (!m->candidate)
			continue;
		if (m->mappings_status != WD_OK || !m->mappings.complete ||
		    m->descriptors_status != WD_OK || !m->descriptors.complete)
			group->members_complete = false;
	}
	for (i = 0; i < group->held_count; i++)
		if (!was_seen(&group->held[i]))
			group->members_complete = false;
}

enum wd_status
wd_look_held(struct wd_look *look, struct wd_group *group, struct wd_error *err)
{
	size_t i;

	for (i = 0; i < group->member_count; i++) {
		size_t member = group->members[i];

		if (!look->members[member].candidate)
			continue;
		if (hold_mappings(look, group, member) != WD_OK ||
		    hold_descriptors(look, group, member) != WD_OK)
			return no_memory(err);
	}
	note_completeness(look, group);
	return WD_OK;
}

/* Whether the member has a private mapping of a file that is part of a model:
 * only then is the walk over its pages worth its cost. */
static bool
has_private_weights(const struct wd_group *group, size_t member)
{
	size_t i, j;

	for (i = 0; i < group->held_count; i++)
		for (j = 0;
		     group->held[i].used && j < group->held[i].hold_count; j++)
			if (group->held[i].holds[j].member == member &&
			    group->held[i].holds[j].is_mapping &&
			    !group->held[i].holds[j].written_known)
				return true;
	return false;
}

static void
take_written(struct wd_look *look, struct wd_group *group, size_t member)
{
	const struct wd_mappings *rows = &look->members[member].mappings;
	size_t i, j;

	for (i = 0; i < group->held_count; i++)
		for (j = 0; j < group->held[i].hold_count; j++) {
			struct wd_hold *hold = &group->held[i].holds[j];

			if (hold->member != member || !hold->is_mapping ||
			    hold->written_known)
				continue;
			hold->written_known =
			    rows->items[hold->row].written_known;
			hold->written_bytes =
			    rows->items[hold->row].written_bytes;
		}
}

enum wd_status
wd_look_written(
    struct wd_look *look, struct wd_group *group, struct wd_error *err)
{
	enum wd_status st;
	size_t i;

	group->checked_written = true;
	for (i = 0; i < group->member_count; i++) {
		struct wd_member *m = &look->members[group->members[i]];

		if (!has_private_weights(group, group->members[i]))
			continue;
		st = wd_host_written(look->with->host, &m->process,
		    look->deadline, &m->mappings, NULL);
		if (st == WD_NOMEM)
			return no_memory(err);
		if (st != WD_OK) {
			group->checked_written = false;
			continue;
		}
		take_written(look, group, group->members[i]);
	}
	return WD_OK;
}

bool
wd_look_written_again(struct wd_look *look, struct wd_group *group)
{
	bool changed = false;
	size_t i, j, k;

	for (i = 0; i < group->member_count; i++) {
		struct wd_member *m = &look->members[group->members[i]];
		bool private = false;

		for (j = 0; j < group->held_count; j++)
			for (k = 0; group->held[j].used &&
			     k < group->held[j].hold_count;
			     k++) {
				const struct wd_hold *hold =
				    &group->held[j].holds[k];

				private |= hold->is_mapping &&
				    hold->member == group->members[i] &&
				    !m->mappings.items[hold->row].shared;
			}
		if (!private ||
		    wd_host_written(look->with->host, &m->process,
			look->deadline, &m->mappings, NULL) != WD_OK)
			continue;
		for (j = 0; j < group->held_count; j++)
			for (k = 0; group->held[j].used &&
			     k < group->held[j].hold_count;
			     k++) {
				const struct wd_hold *hold =
				    &group->held[j].holds[k];

				changed |= hold->is_mapping &&
				    hold->member == group->members[i] &&
				    !m->mappings.items[hold->row].shared &&
				    m->mappings.items[hold->row]
					    .written_bytes !=
					hold->written_bytes;
			}
	}
	return changed;
}
