/*
 * Other processes that map the weights of a group (DUPLICATE_INSTANCE): an
 * instance that was left over, or started twice, and takes memory and time.
 * Shown, decides nothing. One walk over the maps of all processes by the
 * numbers that the group's own mappings show; what has them is compared by
 * opening it, since equal numbers prove nothing (design rule 2).
 */
#include <string.h>

#include "base/mem.h"
#include "evidence/look.h"
#include "host/ends.h"

/* Each row of each process is compared with each object. */
#define MAX_OBJECTS 512

struct objects {
	struct wd_object_number numbers[MAX_OBJECTS];
	size_t count;
	bool cut;
};

static void
add_number(struct objects *objects, const struct wd_mapping *row)
{
	size_t i;

	for (i = 0; i < objects->count; i++)
		if (objects->numbers[i].inode == row->inode &&
		    objects->numbers[i].device == row->device)
			return;
	if (objects->count == MAX_OBJECTS) {
		objects->cut = true;
		return;
	}
	objects->numbers[objects->count++] =
	    (struct wd_object_number){ row->device, row->inode };
}

static bool
is_asked(const struct wd_group *group)
{
	return !group->behind && !group->orphan_weights;
}

static void
take_objects(const struct wd_look *look, struct objects *objects)
{
	size_t i, j, k;

	for (i = 0; i < look->group_count; i++) {
		const struct wd_group *group = &look->groups[i];

		for (j = 0; is_asked(group) && j < group->held_count; j++)
			for (k = 0; group->held[j].used &&
			     k < group->held[j].hold_count;
			     k++) {
				const struct wd_hold *hold =
				    &group->held[j].holds[k];

				if (hold->is_mapping)
					add_number(objects,
					    &look->members[hold->member]
						 .mappings.items[hold->row]);
			}
	}
}

static bool
is_member(const struct wd_look *look, const struct wd_group *group, pid_t pid)
{
	size_t i;

	for (i = 0; i < group->member_count; i++)
		if (look->members[group->members[i]].pid == pid)
			return true;
	return false;
}

static enum wd_status
add_holder(struct wd_model *model, pid_t pid)
{
	size_t i;

	for (i = 0; i < model->other_count; i++)
		if (model->others[i] == pid)
			return WD_OK;
	if (wd_grow((void **)&model->others, model->other_count,
		&model->other_capacity, sizeof(*model->others),
		SIZE_MAX) != WD_OK)
		return WD_NOMEM;
	model->others[model->other_count++] = pid;
	return WD_OK;
}

/* The models of the group that hold this object. */
static enum wd_status
credit(const struct wd_look *look, struct wd_group *group,
    const struct wd_file_state *state, pid_t pid)
{
	size_t held = wd_group_find_held(group, state), i, j;
	enum wd_status st = WD_OK;

	if (held == WD_NONE || !is_asked(group) || is_member(look, group, pid))
		return WD_OK;
	for (i = 0; i < group->model_count; i++)
		for (j = 0; j < group->models[i].file_count && st == WD_OK; j++)
			if (group->models[i].files[j].held == held)
				st = add_holder(&group->models[i], pid);
	return st;
}

static enum wd_status
compare_row(struct wd_look *look, const struct wd_process *process,
    const struct wd_mapping *row)
{
	struct wd_object_ref ref = { process->identity.pid, process->live_tid,
		true, row->start, row->end, -1 };
	struct wd_file file = { .fd = -1 };
	enum wd_status st =
	    wd_host_open_object(look->with->host, &ref, row, &file, NULL);
	size_t i;

	if (st != WD_OK)
		return st == WD_NOMEM ? st : WD_OK;
	for (i = 0; i < look->group_count && st == WD_OK; i++)
		st = credit(
		    look, &look->groups[i], &file.state, process->identity.pid);
	wd_file_release(&file);
	return st;
}

static bool
has_number(const struct objects *objects, const struct wd_mapping *row)
{
	size_t i;

	for (i = 0; i < objects->count; i++)
		if (objects->numbers[i].inode == row->inode &&
		    objects->numbers[i].device == row->device)
			return true;
	return false;
}

static enum wd_status
compare_process(struct wd_look *look, const struct objects *objects, pid_t pid)
{
	WD_CLEANUP(wd_process_release) struct wd_process process = { 0 };
	WD_CLEANUP(wd_mappings_release) struct wd_mappings rows = { 0 };
	enum wd_status st =
	    wd_host_process(look->with->host, pid, &process, NULL);
	size_t i;

	if (st == WD_OK)
		st = wd_host_mappings(
		    look->with->host, &process, look->deadline, &rows, NULL);
	for (i = 0; i < rows.count && st == WD_OK; i++)
		if (has_number(objects, &rows.items[i]))
			st = compare_row(look, &process, &rows.items[i]);
	return st == WD_NOMEM ? st : WD_OK;
}

static bool
is_in_every_group(const struct wd_look *look, pid_t pid)
{
	size_t i;

	for (i = 0; i < look->group_count; i++)
		if (is_asked(&look->groups[i]) &&
		    !is_member(look, &look->groups[i], pid))
			return false;
	return true;
}

static enum wd_status
note_unseen(struct wd_look *look, enum wd_status why)
{
	return wd_blinds_add(&look->other_blinds, why, 0,
	    "run the agent as root, or with CAP_SYS_PTRACE",
	    "other processes that hold the same weights",
	    "the mappings of some processes could not be read");
}

enum wd_status
wd_look_duplicates(struct wd_look *look, struct wd_error *err)
{
	WD_CLEANUP(wd_mappers_release) struct wd_mappers found = { 0 };
	struct objects objects;
	enum wd_status st;
	pid_t last = 0;
	size_t i;

	objects.count = 0;
	objects.cut = false;
	take_objects(look, &objects);
	if (objects.count == 0)
		return WD_OK;
	st = wd_host_mappers(look->with->host, objects.numbers, objects.count,
	    look->deadline, &found, NULL);
	if (st == WD_OK && found.complete && objects.cut)
		st = note_unseen(look, WD_LIMIT);
	else if (st != WD_NOMEM && (st != WD_OK || !found.complete))
		st = note_unseen(look, st == WD_OK ? WD_DENIED : st);
	for (i = 0; i < found.count && st == WD_OK; i++) {
		if (found.items[i].pid == last ||
		    found.items[i].pid == look->host.pid_of_agent ||
		    is_in_every_group(look, found.items[i].pid))
			continue;
		last = found.items[i].pid;
		st = compare_process(look, &objects, last);
	}
	if (st != WD_OK)
		return wd_fail(err, st, "duplicates: out of memory");
	return WD_OK;
}
