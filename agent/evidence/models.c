/*
 * Bundles made of the files that a group holds, and, where it holds none, of
 * the files that it only names.
 */
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"
#include "evidence/home.h"
#include "evidence/snapshot.h"

/* What the path of a held file leads to now, in the eyes of its holder. The
 * agent's own view counts only when it leads to the object itself (a chroot
 * shows host paths); else it may be another machine's, as a container's. */
static enum wd_status
look_at_path(struct wd_look *look, struct wd_model_file *file,
    const struct wd_held *held, pid_t holder)
{
	struct wd_slice path = wd_bytes_slice(&held->path);
	struct wd_file now = { .fd = -1 };
	struct wd_file ours = { .fd = -1 };
	enum wd_status st, our_st = WD_GONE;
	bool same;

	if (held->type == WD_OBJECT_MEMORY)
		return WD_OK;
	st = wd_host_open_path(look->with->host, holder, path, &now, NULL);
	same = st == WD_OK &&
	    wd_file_state_same_object(&now.state, &held->first_state);
	if (!same && st != WD_NOMEM)
		our_st = wd_host_open_path(look->with->host,
		    look->host.pid_of_agent, path, &ours, NULL);
	same |= our_st == WD_OK &&
	    wd_file_state_same_object(&ours.state, &held->first_state);
	file->path_known = same || st == WD_OK || st == WD_GONE;
	file->replaced = !same && st == WD_OK;
	file->deleted =
	    held->first_state.links == 0 || (!same && st == WD_GONE);
	if (file->replaced)
		file->path_file = now;
	else
		wd_file_release(&now);
	wd_file_release(&ours);
	return st == WD_NOMEM || our_st == WD_NOMEM ? WD_NOMEM : WD_OK;
}

static enum wd_status
add_file(struct wd_home *home, struct wd_model *model, size_t index)
{
	const struct wd_bundle_file *bf = &model->bundle->files[index];
	struct wd_model_file *file = &model->files[index];
	struct wd_given *given = wd_home_find_given(
	    home, (struct wd_slice){ (const uint8_t *)bf->name, bf->name_len });
	struct wd_held *held;
	size_t i;

	file->bundle_file = index;
	file->held = WD_NONE;
	file->fd = -1;
	file->origin = WD_ORIGIN_BESIDE;
	file->blind = (given == NULL || given->held == WD_NONE) &&
	    wd_home_is_refused(home,
		(struct wd_slice){ (const uint8_t *)bf->name, bf->name_len });
	if (given == NULL)
		return WD_OK;
	file->fd = given->fd;
	file->owned = given->owned;
	file->state = given->state;
	given->owned = false;
	file->held = given->held;
	if (given->held == WD_NONE)
		return WD_OK;
	held = &home->group->held[given->held];
	held->used = true;
	file->origin = WD_ORIGIN_OPEN;
	for (i = 0; i < held->hold_count; i++)
		if (held->holds[i].is_mapping)
			file->origin = WD_ORIGIN_MAPPED;
	if (held->hold_count == 0)
		return WD_OK;
	return look_at_path(home->look, file, held,
	    home->look->members[held->holds[0].member].pid);
}

static bool
is_held(const struct wd_model *model)
{
	size_t i;

	for (i = 0; i < model->file_count; i++)
		if (model->files[i].held != WD_NONE)
			return true;
	return false;
}

/* When the folder itself last changed: a settings file that was removed since
 * the load shows nowhere else. What leads to it counts as well. */
static void
note_folder(const struct wd_home *home, struct wd_model *model)
{
	struct wd_file_state state;

	if (home->folder_fd < 0 ||
	    wd_host_file_state(
		home->look->with->host, home->folder_fd, &state, NULL) != WD_OK)
		return;
	model->folder_known = !home->unsure;
	model->folder_ns =
	    state.ctime_ns > state.mtime_ns ? state.ctime_ns : state.mtime_ns;
	if (home->changed_ns > model->folder_ns)
		model->folder_ns = home->changed_ns;
}

static enum wd_status
add_model(struct wd_home *home, struct wd_bundle *bundle, struct wd_slice path)
{
	struct wd_group *group = home->group;
	struct wd_model *model;
	enum wd_status st = WD_OK;
	size_t i;

	/* At most one for each held file and each claim: no cap is reached. */
	if (wd_grow((void **)&group->models, group->model_count,
		&group->model_capacity, sizeof(*model),
		2 * WD_MAX_CANDIDATE_FILES) != WD_OK) {
		wd_bundle_free(&bundle);
		return WD_NOMEM;
	}
	model = &group->models[group->model_count++];
	memset(model, 0, sizeof(*model));
	model->bundle = bundle;
	model->kind = bundle->kind;
	model->files = wd_calloc(bundle->file_count, sizeof(*model->files));
	if (model->files == NULL || wd_bytes_set(&model->path, path) != WD_OK)
		return WD_NOMEM;
	model->file_count = bundle->file_count;
	note_folder(home, model);
	for (i = 0; i < bundle->file_count; i++) {
		enum wd_status one = add_file(home, model, i);

		st = st == WD_OK ? one : st;
	}
	return st;
}

/* A file that says it holds weights and cannot be read as such hides what the
 * process runs; when it is held, nothing can be said of the process. */
static enum wd_status
note_unreadable(struct wd_home *home, struct wd_slice path, bool held,
    const struct wd_error *why)
{
	char shown[256], what[384];

	home->group->unexplained = true;
	if (held)
		home->group->members_complete = false;
	(void)wd_escape_short(shown, sizeof(shown), path);
	(void)snprintf(what, sizeof(what), "weight file %s", shown);
	return wd_blinds_add(&home->look->weight_blinds, why->status, 0,
	    "replace the file by a whole one; `weightctl bundle FILE` shows "
	    "what is wrong",
	    what, why->message);
}

static enum wd_status
describe(struct wd_home *home, int fd, size_t held,
    const struct wd_file_state *state, struct wd_slice path, bool with_siblings)
{
	struct wd_siblings siblings = wd_home_siblings(home);
	struct wd_bundle *bundle = NULL;
	struct wd_error why;
	struct wd_slice folder, name;
	enum wd_status st;

	wd_error_init(&why);
	wd_split_path(path, &folder, &name);
	st = wd_home_give(home, name, fd, false, held, state);
	if (st != WD_OK)
		return st;
	st = wd_reader_describe(home->look->with->reader, fd, name,
	    with_siblings ? &siblings : NULL, home->look->deadline, &bundle,
	    &why);
	if (st == WD_NOMEM)
		return st;
	if (st != WD_OK) {
		if (held != WD_NONE)
			home->group->held[held].used = true;
		return note_unreadable(home, path, held != WD_NONE, &why);
	}
	return add_model(home, bundle, path);
}

/* Which of several snapshots its settings came from, only a claim tells. */
static void
keep_snapshots(struct wd_model *model, struct wd_snapshots *snapshots,
    const struct wd_claim *claim)
{
	model->commits = wd_steal(&snapshots->commits);
	model->commit_count = snapshots->count;
	model->several_snapshots = (claim == NULL || claim->late) &&
	    (snapshots->count > 1 ||
		(snapshots->count == 1 && !snapshots->complete));
	/* A second one may have been removed since. */
	if (claim == NULL && snapshots->changed_ns > model->folder_ns)
		model->folder_ns = snapshots->changed_ns;
	snapshots->count = 0;
}

/* Describes the model of a held file. `claim` (may be NULL) leads to it by a
 * path of its own, which is then used for its neighbours. */
static enum wd_status
model_of_held(struct wd_look *look, struct wd_group *group, size_t index,
    const struct wd_claim *claim)
{
	struct wd_held *held = &group->held[index];
	struct wd_slice path =
	    wd_bytes_slice(claim == NULL ? &held->path : &claim->path);
	struct wd_slice name;
	WD_CLEANUP(wd_home_release)
	struct wd_home home = { .look = look, .group = group, .folder_fd = -1 };
	WD_CLEANUP(wd_snapshots_release) struct wd_snapshots snapshots = { 0 };
	bool on_disk = held->type == WD_OBJECT_REGULAR && path.len > 0;
	size_t before = group->model_count;
	enum wd_status st = WD_OK;

	if (claim != NULL)
		home.member = claim->member;
	else if (held->hold_count > 0)
		home.member = held->holds[0].member;
	if (on_disk && held->hold_count > 0)
		st = wd_snapshots_of(look, look->members[home.member].pid,
		    wd_bytes_slice(&held->path), &snapshots);
	if (claim == NULL && snapshots.path.len > 0)
		path = wd_bytes_slice(&snapshots.path);
	home.path = path;
	wd_split_path(path, &home.folder, &name);
	if (st == WD_OK && on_disk && held->hold_count > 0)
		st = wd_home_find_view(&home, look->members[home.member].pid,
		    path, wd_slice_equal(path, wd_bytes_slice(&held->path)),
		    &held->first_state);
	if (st != WD_OK)
		return st;
	st = describe(
	    &home, held->file.fd, index, &held->first_state, path, on_disk);
	if (st == WD_OK && group->model_count > before)
		keep_snapshots(&group->models[before], &snapshots, claim);
	return st;
}

static bool
same_as_model_file(const struct wd_model *model,
    const struct wd_file_state *state, bool only_held)
{
	size_t i;

	for (i = 0; i < model->file_count; i++) {
		const struct wd_model_file *file = &model->files[i];

		if (file->fd < 0 || (only_held && file->held == WD_NONE))
			continue;
		if (wd_file_state_same_object(&file->state, state))
			return true;
		/* The name leads to the file that took the held one's place:
		 * that is REPLACED, no conflict. */
		if (file->replaced &&
		    wd_file_state_same_object(&file->path_file.state, state))
			return true;
	}
	return false;
}

static bool
is_mapped(const struct wd_model *model)
{
	size_t i;

	for (i = 0; i < model->file_count; i++)
		if (model->files[i].origin == WD_ORIGIN_MAPPED)
			return true;
	return false;
}

/* A file that is only open is no model yet (open is not load): what is named
 * beside it stays a candidate. */
static bool
holds_model(const struct wd_group *group)
{
	size_t i;

	for (i = 0; i < group->model_count; i++)
		if (group->models[i].kind == WD_KIND_MODEL &&
		    is_mapped(&group->models[i]))
			return true;
	return false;
}

static enum wd_bundle_kind
kind_of_use(enum wd_claim_use use, enum wd_bundle_kind kind)
{
	switch (use) {
	case WD_CLAIM_DRAFT:
		return WD_KIND_DRAFT;
	case WD_CLAIM_ADAPTER:
		return WD_KIND_ADAPTER;
	case WD_CLAIM_PROJECTOR:
		return WD_KIND_PROJECTOR;
	case WD_CLAIM_MODEL:
	case WD_CLAIM_NAME:
		break;
	}
	return kind;
}

/* What is named as the model itself is no companion, whatever else names it. */
static void
name_model(struct wd_model *model, const struct wd_claim *claim)
{
	enum wd_claim_use use = claim->use;

	model->named = true;
	model->named_in_time |= !claim->late && !claim->led_anew;
	if (use == WD_CLAIM_MODEL) {
		model->named_model = true;
		model->kind = model->bundle->kind;
	} else if (!model->named_model) {
		model->kind = kind_of_use(use, model->kind);
	}
}

/* Ties a claim to the held models: agreeing, or naming another one. */
static void
compare_claim(struct wd_group *group, struct wd_claim *claim)
{
	size_t i;

	if (!claim->leads_to_file)
		return;
	for (i = 0; i < group->model_count; i++) {
		struct wd_model *model = &group->models[i];

		if (!same_as_model_file(model, &claim->file.state, false))
			continue;
		claim->agrees = WD_YES;
		if (!claim->listed)
			name_model(model, claim);
		return;
	}
	if (claim->listed)
		return;
	/* A name that was set anew since: it has moved, which is no conflict.
	 */
	claim->agrees =
	    holds_model(group) && claim->use == WD_CLAIM_MODEL && !claim->late ?
	    WD_NO :
	    WD_NOT_KNOWN;
}

static enum wd_status
model_of_claim(
    struct wd_look *look, struct wd_group *group, const struct wd_claim *claim)
{
	struct wd_slice path = wd_bytes_slice(&claim->path), name;
	WD_CLEANUP(wd_home_release)
	struct wd_home home = { .look = look, .group = group, .folder_fd = -1 };
	size_t before = group->model_count;
	enum wd_status st;

	home.path = path;
	wd_split_path(path, &home.folder, &name);
	if (home.folder.len == 0)
		home.folder = wd_slice_text(".");
	home.member = claim->member;
	st = wd_home_find_view(&home, look->members[claim->member].pid, path,
	    false, &claim->file.state);
	if (st == WD_OK)
		st = describe(&home, claim->file.fd, WD_NONE,
		    &claim->file.state, path, true);
	if (st == WD_OK && group->model_count > before)
		name_model(&group->models[before], claim);
	return st;
}

/* Words alone cannot make the only weights that are held a companion: then
 * nothing would be left to judge. */
static void
keep_a_model(struct wd_group *group)
{
	size_t i;

	if (wd_group_may_hold_model(group))
		return;
	for (i = 0; i < group->model_count; i++) {
		struct wd_model *model = &group->models[i];

		if (model->kind == model->bundle->kind ||
		    model->bundle->kind != WD_KIND_MODEL || !is_held(model))
			continue;
		model->kind = WD_KIND_MODEL;
		model->conflict = true;
	}
}

/* A model is held and another one is named: the named one is in question as
 * well when the process has read that many bytes. */
static bool
may_have_read(const struct wd_look *look, const struct wd_claim *claim)
{
	const struct wd_process *p = &look->members[claim->member].process;

	return p->io_status == WD_OK &&
	    p->read_bytes >= claim->file.state.size_bytes;
}

static enum wd_status
models_of_claims(struct wd_look *look, struct wd_group *group)
{
	bool had_model;
	enum wd_status st;
	size_t i;

	for (i = 0; i < group->claim_count; i++)
		compare_claim(group, &group->claims[i]);
	had_model = holds_model(group);
	for (i = 0; i < group->claim_count; i++) {
		struct wd_claim *claim = &group->claims[i];

		if (!claim->leads_to_file)
			continue;
		if (claim->agrees == WD_YES || claim->listed)
			continue;
		if (claim->use == WD_CLAIM_MODEL && had_model &&
		    !may_have_read(look, claim))
			continue;
		st = model_of_claim(look, group, claim);
		if (st != WD_OK)
			return st;
		/* Later claims may name the same model. */
		for (size_t j = i; j < group->claim_count; j++)
			if (group->claims[j].agrees != WD_YES)
				compare_claim(group, &group->claims[j]);
	}
	keep_a_model(group);
	for (i = 0; i < group->model_count; i++)
		for (size_t j = 0; j < group->claim_count; j++)
			if (group->claims[j].agrees == WD_NO &&
			    group->models[i].kind == WD_KIND_MODEL)
				group->models[i].conflict = true;
	return WD_OK;
}

/* A claim that leads to one file of several by another path than the one it is
 * held under: the hub's snapshots are links to blobs, and only the snapshot
 * has the names. */
static bool
knows_better(const struct wd_claim *claim, const struct wd_held *held)
{
	return claim->leads_to_file && held->format == WD_FORMAT_SAFETENSORS &&
	    held->type == WD_OBJECT_REGULAR &&
	    !wd_slice_equal(
		wd_bytes_slice(&claim->path), wd_bytes_slice(&held->path));
}

static enum wd_status
models_by_better_names(struct wd_look *look, struct wd_group *group)
{
	enum wd_status st = WD_OK;
	size_t i;

	for (i = 0; i < group->claim_count && st == WD_OK; i++) {
		const struct wd_claim *claim = &group->claims[i];
		size_t held = claim->leads_to_file ?
		    wd_group_find_held(group, &claim->file.state) :
		    WD_NONE;

		if (held != WD_NONE && group->held[held].file.fd >= 0 &&
		    !group->held[held].used &&
		    knows_better(claim, &group->held[held]))
			st = model_of_held(look, group, held, claim);
	}
	return st;
}

static enum wd_status
note_late(struct wd_look *look, struct wd_group *group)
{
	group->members_complete = false;
	group->unexplained = true;
	return wd_blinds_add(&look->weight_blinds, WD_TIMEDOUT, 0,
	    "allow more time", "held weight files",
	    "the deadline came before all were described");
}

enum wd_status
wd_look_models(
    struct wd_look *look, struct wd_group *group, struct wd_error *err)
{
	enum wd_status st;
	size_t i;

	group->checked_headers = true;
	st = models_by_better_names(look, group);
	for (i = 0; i < group->held_count && st == WD_OK; i++) {
		const struct wd_held *held = &group->held[i];

		if (held->format == WD_FORMAT_UNKNOWN || held->file.fd < 0 ||
		    held->used)
			continue;
		if (wd_deadline_passed(look->deadline)) {
			st = note_late(look, group);
			break;
		}
		st = model_of_held(look, group, i, NULL);
	}
	if (st == WD_OK)
		st = models_of_claims(look, group);
	if (st != WD_OK)
		return wd_fail(err, st, "models: out of memory");
	return WD_OK;
}
