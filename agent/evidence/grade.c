#include "evidence/grade.h"

#include <string.h>

#include "base/checked.h"
#include "base/mem.h"
#include "evidence/blind.h"
#include "evidence/devices.h"
#include "evidence/look.h"

#define GRADE(name) WEIGHTD__V1__GRADE__GRADE_##name

/* A file with this much missing from the disk is hollow: no copy with
 * --sparse of real weights leaves so large a hole. */
#define HOLLOW_BYTES (1ULL << 20)

static Weightd__V1__Grade
mapped_grade(const struct wd_grade_facts *facts, const char **reason)
{
	const struct wd_coverage *c = &facts->coverage;

	if (!facts->whole) {
		*reason = "the file is shorter than its header promises";
		return GRADE(INFERRED);
	}
	if (!c->all_sized) {
		*reason = "the size of some tensors is not known";
		return GRADE(INFERRED);
	}
	if (c->tensors == 0) {
		*reason = "the file holds no tensors";
		return GRADE(INFERRED);
	}
	if (c->tensors_covered < c->tensors) {
		*reason =
		    facts->device_bytes >= c->tensor_bytes - c->bytes_covered ?
		    "mappings cover only a part of its tensors; the rest may "
		    "be on the device, but nobody watched the load" :
		    "mappings cover only a part of its tensors";
		return GRADE(INFERRED);
	}
	if (facts->writable) {
		*reason = "mapped shared and writable: it may change at any "
			  "moment without a trace";
		return GRADE(INFERRED);
	}
	if (facts->tied) {
		*reason = "held only by a process that is tied to the "
			  "server and does not descend from it";
		return GRADE(INFERRED);
	}
	if (facts->capped) {
		*reason = "held only by a descendant that listens, or may "
			  "listen, on a port of its own";
		return GRADE(INFERRED);
	}
	*reason = "";
	return GRADE(RESIDENT);
}

Weightd__V1__Grade
wd_grade_file(const struct wd_grade_facts *facts, const char **reason)
{
	uint64_t needed = facts->needed_bytes;

	if (facts->blind) {
		*reason = "the object that is held could not be opened";
		return GRADE(BLIND);
	}
	if (facts->tied && facts->unaccounted) {
		*reason = "held only by a process that is tied to the server, "
			  "which itself holds what nobody can account for";
		return GRADE(CLAIMED);
	}
	if (facts->mapped)
		return mapped_grade(facts, reason);
	if (!facts->named && !facts->open) {
		*reason = "nobody in the group holds or names it";
		return GRADE(NONE);
	}
	if (!facts->named) {
		*reason = "open, but neither mapped nor named: open is not "
			  "load";
		return GRADE(CLAIMED);
	}
	if (facts->late) {
		*reason = "named, but the name was set anew since the process "
			  "started";
		return GRADE(CLAIMED);
	}
	if (!facts->older) {
		*reason = "named, but the file is younger than the process";
		return GRADE(CLAIMED);
	}
	if (facts->open) {
		*reason = "named and open, not mapped";
		return GRADE(INFERRED);
	}
	if (needed > 0 &&
	    ((facts->io_known && !facts->sleeps &&
		 facts->read_bytes >= needed) ||
		facts->memory_bytes >= needed ||
		facts->device_bytes >= needed)) {
		*reason = "named, and the process has read or holds at least "
			  "as many bytes";
		return GRADE(INFERRED);
	}
	*reason = facts->sleeps ?
	    "only named: no mapping, no descriptor, not enough bytes held, and "
	    "the engine drops what it has read when it sleeps" :
	    "only named: no mapping, no descriptor, not enough bytes read or "
	    "held";
	return GRADE(CLAIMED);
}

/* An unrecognised descendant that listens for itself may serve with these
 * weights on its own port only; a tied process may serve nobody of ours. */
static bool
is_capped(const struct wd_look *look, const struct wd_group *group,
    const struct wd_hold *hold)
{
	const struct wd_member *m = &look->members[hold->member];

	return m->role == WD_MEMBER_TIED ||
	    (wd_group_is_below_owner(group, m) &&
		wd_group_listens_elsewhere(look, group, m));
}

static bool
maps(const struct wd_hold *hold)
{
	return hold->is_mapping && hold->readable;
}

/* Where byte 0 of the file would lie by this mapping. Wraps on purpose. */
static uint64_t
base_of(const struct wd_look *look, const struct wd_hold *hold)
{
	return look->members[hold->member].mappings.items[hold->row].start -
	    hold->range.offset;
}

/* The largest mapping of the member: others count only when they lie as it
 * does, so that pages which changed places make no tensor. */
static const struct wd_hold *
largest(const struct wd_held *held, size_t member)
{
	const struct wd_hold *found = NULL;
	size_t i;

	for (i = 0; i < held->hold_count; i++)
		if (held->holds[i].member == member && maps(&held->holds[i]) &&
		    (found == NULL ||
			held->holds[i].range.size_bytes >
			    found->range.size_bytes))
			found = &held->holds[i];
	return found;
}

/* How the readable mappings of one member cover the file. */
static enum wd_status
cover_by(const struct wd_look *look, const struct wd_group *group,
    const struct wd_model *model, const struct wd_model_file *file,
    size_t member, struct wd_coverage *coverage)
{
	const struct wd_held *held = &group->held[file->held];
	const struct wd_hold *main = largest(held, member);
	WD_CLEANUP(wd_free_scoped) struct wd_range *ranges = NULL;
	size_t i, count = 0;

	ranges = wd_calloc(held->hold_count, sizeof(*ranges));
	if (ranges == NULL)
		return WD_NOMEM;
	for (i = 0; i < held->hold_count && main != NULL; i++)
		if (held->holds[i].member == member && maps(&held->holds[i]) &&
		    base_of(look, &held->holds[i]) == base_of(look, main))
			ranges[count++] = held->holds[i].range;
	return wd_bundle_coverage(
	    model->bundle, file->bundle_file, ranges, count, coverage);
}

/* The coverage of the member that maps most of the file: parts that lie in
 * different processes are no model that any of them can run. With `sure`, only
 * of members that are not capped. */
static enum wd_status
cover(const struct wd_look *look, const struct wd_group *group,
    const struct wd_model *model, const struct wd_model_file *file, bool sure,
    struct wd_coverage *coverage)
{
	const struct wd_held *held;
	enum wd_status st = wd_bundle_coverage(
	    model->bundle, file->bundle_file, NULL, 0, coverage);
	size_t i, last = WD_NONE;

	if (file->held == WD_NONE)
		return st;
	held = &group->held[file->held];
	/* Holds of one member stand together. */
	for (i = 0; i < held->hold_count && st == WD_OK; i++) {
		struct wd_coverage one;

		if (held->holds[i].member == last ||
		    (sure && is_capped(look, group, &held->holds[i])))
			continue;
		last = held->holds[i].member;
		st = cover_by(look, group, model, file, last, &one);
		if (st == WD_OK && one.bytes_covered > coverage->bytes_covered)
			*coverage = one;
	}
	return st;
}

/* Whether all that is seen of it lies in processes that are tied to the server:
 * its mappings, or if there is none everything. */
static bool
is_tied(const struct wd_look *look, const struct wd_group *group,
    const struct wd_model_file *file)
{
	bool tied = false, tied_maps = false, own = false, own_maps = false;
	size_t i;

	for (i = 0;
	     file->held != WD_NONE && i < group->held[file->held].hold_count;
	     i++) {
		const struct wd_hold *hold = &group->held[file->held].holds[i];
		bool outside =
		    look->members[hold->member].role == WD_MEMBER_TIED;

		tied |= outside;
		own |= !outside;
		tied_maps |= outside && maps(hold);
		own_maps |= !outside && maps(hold);
	}
	return tied && (tied_maps ? !own_maps : !own);
}

static enum wd_status
measure(const struct wd_look *look, const struct wd_group *group,
    const struct wd_model *model, struct wd_model_file *file,
    struct wd_grade_facts *facts)
{
	struct wd_coverage sure;
	enum wd_status st;
	size_t i;

	facts->tied = is_tied(look, group, file);
	facts->unaccounted = facts->tied && wd_group_keeps_secrets(look, group);
	for (i = 0;
	     file->held != WD_NONE && i < group->held[file->held].hold_count;
	     i++) {
		const struct wd_hold *hold = &group->held[file->held].holds[i];

		facts->mapped |= maps(hold);
		facts->writable |= hold->shared_writable;
		facts->open |= !hold->is_mapping && hold->readable;
	}
	st = cover(look, group, model, file, false, &file->coverage);
	if (st == WD_OK)
		st = cover(look, group, model, file, true, &sure);
	if (st != WD_OK)
		return st;
	facts->coverage = file->coverage;
	facts->capped = sure.tensors_covered < file->coverage.tensors_covered;
	return WD_OK;
}

/* What one process must have read or hold for all files of the model that
 * nobody maps. */
static enum wd_status
bytes_needed(const struct wd_look *look, const struct wd_group *group,
    const struct wd_model *model, uint64_t *bytes)
{
	size_t i;

	*bytes = 0;
	for (i = 0; i < model->file_count; i++) {
		const struct wd_model_file *file = &model->files[i];
		struct wd_coverage coverage;

		if (model->bundle->files[file->bundle_file].role !=
			WD_ROLE_WEIGHTS ||
		    file->origin == WD_ORIGIN_MAPPED)
			continue;
		if (cover(look, group, model, file, false, &coverage) != WD_OK)
			return WD_NOMEM;
		if (!wd_add_u64(*bytes, coverage.tensor_bytes, bytes))
			*bytes = UINT64_MAX;
	}
	return WD_OK;
}

/* Pages that a private mapping no longer takes from the file, and mappings
 * through which the file itself can be written. */
static void
measure_written(const struct wd_group *group, struct wd_model_file *file)
{
	const struct wd_held *held;
	size_t i;

	file->written = WD_NO;
	if (file->held == WD_NONE)
		return;
	held = &group->held[file->held];
	for (i = 0; i < held->hold_count; i++) {
		const struct wd_hold *hold = &held->holds[i];

		if (!hold->is_mapping)
			continue;
		file->written_bytes += hold->written_bytes;
		if (!hold->written_known && file->written == WD_NO)
			file->written = WD_NOT_KNOWN;
	}
	if (file->written_bytes > 0)
		file->written = WD_YES;
	file->modified = file->written_bytes > 0;
}

/* The earliest moment at which any holder can have loaded it; when nobody
 * holds it, any member. */
static int64_t
load_start(const struct wd_look *look, const struct wd_group *group,
    const struct wd_model_file *file)
{
	int64_t earliest = INT64_MAX;
	const struct wd_held *held =
	    file->held == WD_NONE ? NULL : &group->held[file->held];
	size_t i;

	for (i = 0; held != NULL && i < held->hold_count; i++) {
		int64_t start =
		    look->members[held->holds[i].member].load_start_ns;

		earliest = start < earliest ? start : earliest;
	}
	for (i = 0; held == NULL && i < group->member_count; i++) {
		const struct wd_member *m = &look->members[group->members[i]];

		if (m->candidate && m->load_start_ns < earliest)
			earliest = m->load_start_ns;
	}
	return earliest;
}

static void
add_counters(const struct wd_look *look, const struct wd_group *group,
    struct wd_grade_facts *facts)
{
	size_t i;

	/* The member with the most: bytes of several are not one model. */
	for (i = 0; i < group->member_count; i++) {
		const struct wd_member *m = &look->members[group->members[i]];
		const struct wd_process *p = &m->process;
		uint64_t memory = p->rss_anon_bytes + p->swap_bytes +
		    p->rss_shmem_bytes + p->hugetlb_bytes;

		if (!m->candidate || m->role == WD_MEMBER_TIED)
			continue;
		if (p->io_status == WD_OK) {
			facts->io_known = true;
			if (p->read_bytes > facts->read_bytes)
				facts->read_bytes = p->read_bytes;
		}
		if (memory > facts->memory_bytes)
			facts->memory_bytes = memory;
		if (wd_member_device_bytes(m) > facts->device_bytes)
			facts->device_bytes = wd_member_device_bytes(m);
	}
}

/* A rename into place keeps the mtime and moves the ctime. */
static int64_t
newest_ns(const struct wd_file_state *state)
{
	return state->mtime_ns > state->ctime_ns ? state->mtime_ns :
						   state->ctime_ns;
}

/* Content moved since it was loaded, as far as times can tell; not when a
 * digest made before that moment equals today's and the file was not written
 * since it was made: then chmod, link, unlink or rename moved the ctime. An
 * equal digest alone would not do, as the file may have held other bytes in
 * between, when it was loaded. */
static bool
changed_since(const struct wd_look *look, const struct wd_model *model,
    const struct wd_model_file *file, int64_t start_ns)
{
	const struct wd_bundle_file *bf =
	    &model->bundle->files[file->bundle_file];
	const struct wd_file_state *s = &file->state;
	struct wd_digest_key key = { s->fs_id, s->device, s->inode,
		s->generation, s->size_bytes, s->mtime_ns, s->ctime_ns };
	struct wd_digest_row before;

	if (newest_ns(s) <= start_ns + look->host.tick_ns)
		return false;
	return !(bf->has_digest && s->trusted_times &&
	    wd_store_get_before(look->with->store, &key, start_ns, &before) ==
		WD_OK &&
	    before.key.ctime_ns <= start_ns &&
	    before.key.mtime_ns == s->mtime_ns &&
	    before.key.size_bytes == s->size_bytes &&
	    wd_sha256_equal(&before.sha256, &bf->sha256));
}

/* Only the ctime moved, and the file's last name was taken away, which moves
 * it: nobody wrote, unless the times were set back and the file removed. */
static bool
only_removed(const struct wd_look *look, const struct wd_file_state *state,
    int64_t start)
{
	return state->links == 0 && state->trusted_times &&
	    state->mtime_ns <= start + look->host.tick_ns;
}

static bool
is_hollow(const struct wd_file_state *state)
{
	if (state->sparse != WD_YES)
		return false;
	/* Blocks that are allocated and were never written: a download that
	 * reserved its space. */
	return state->allocated_bytes >= state->size_bytes ||
	    state->size_bytes - state->allocated_bytes >= HOLLOW_BYTES;
}

static enum wd_status
grade_weights(struct wd_look *look, struct wd_group *group,
    struct wd_model *model, struct wd_model_file *file, uint64_t needed)
{
	const struct wd_bundle_file *bf =
	    &model->bundle->files[file->bundle_file];
	struct wd_grade_facts facts;
	int64_t start_ns;
	enum wd_status st;

	memset(&facts, 0, sizeof(facts));
	st = measure(look, group, model, file, &facts);
	if (st != WD_OK)
		return st;
	facts.blind = file->blind;
	facts.needed_bytes = needed;
	facts.sleeps = group->engine_asked && group->sleeps == WD_YES;
	facts.named = model->named;
	facts.late = model->named && !model->named_in_time;
	facts.whole = bf->present && bf->size_bytes >= bf->needed_bytes;
	start_ns = load_start(look, group, file);
	facts.older = file->fd >= 0 &&
	    newest_ns(&file->state) <= start_ns + look->host.tick_ns;
	add_counters(look, group, &facts);
	file->grade = wd_grade_file(&facts, &file->reason);
	file->asleep = facts.sleeps && !facts.mapped && !facts.open &&
	    !facts.blind && facts.memory_bytes < needed &&
	    facts.device_bytes < needed;
	measure_written(group, file);
	file->incomplete = !facts.whole || is_hollow(&file->state);
	file->changed = file->fd >= 0 && file->held != WD_NONE &&
	    changed_since(look, model, file, start_ns);
	file->removed =
	    file->changed && only_removed(look, &file->state, start_ns);
	return WD_OK;
}

/* The earliest moment at which any of its files can have been loaded. */
static int64_t
earliest_start(const struct wd_look *look, const struct wd_group *group,
    const struct wd_model *model)
{
	int64_t earliest = INT64_MAX;
	size_t i;

	for (i = 0; i < model->file_count; i++) {
		int64_t start = load_start(look, group, &model->files[i]);

		earliest = start < earliest ? start : earliest;
	}
	return earliest;
}

static void
settle_model(
    struct wd_look *look, struct wd_group *group, struct wd_model *model)
{
	size_t i;

	model->grade = GRADE(UNSPECIFIED);
	model->mapped_wholly = model->bundle->tensor_count > 0;
	model->on_overlay = WD_NO;
	model->incomplete = model->bundle->incomplete;
	model->settings_checked = model->bundle->single_file ||
	    model->bundle->format == WD_FORMAT_GGUF ||
	    (model->folder_known && !model->several_snapshots &&
		model->folder_ns <=
		    earliest_start(look, group, model) + look->host.tick_ns);
	for (i = 0; i < model->file_count; i++) {
		struct wd_model_file *file = &model->files[i];
		enum wd_file_role role =
		    model->bundle->files[file->bundle_file].role;

		/* The index and the tokenizer are read at the start as well. */
		if (role != WD_ROLE_WEIGHTS && file->fd >= 0 &&
		    newest_ns(&file->state) >
			load_start(look, group, file) + look->host.tick_ns)
			model->settings_stale = true;
		if (role != WD_ROLE_WEIGHTS)
			continue;
		if (model->grade == GRADE(UNSPECIFIED) ||
		    file->grade < model->grade)
			model->grade = file->grade;
		model->mapped_wholly &= file->grade == GRADE(RESIDENT);
		model->incomplete |= file->incomplete;
		if (strcmp(file->state.fs_type, "overlay") == 0)
			model->on_overlay = WD_YES;
		else if (file->state.fs_type[0] == '\0' &&
		    model->on_overlay == WD_NO)
			model->on_overlay = WD_NOT_KNOWN;
	}
	if (model->grade == GRADE(UNSPECIFIED))
		model->grade = GRADE(NONE);
}

enum wd_status
wd_look_grade(struct wd_look *look, struct wd_group *group,
    struct wd_model *model, struct wd_error *err)
{
	uint64_t needed;
	size_t i;

	if (bytes_needed(look, group, model, &needed) != WD_OK)
		return wd_fail(err, WD_NOMEM, "grade: out of memory");
	for (i = 0; i < model->file_count; i++) {
		struct wd_model_file *file = &model->files[i];

		if (model->bundle->files[file->bundle_file].role !=
		    WD_ROLE_WEIGHTS)
			continue;
		if (grade_weights(look, group, model, file, needed) != WD_OK)
			return wd_fail(err, WD_NOMEM, "grade: out of memory");
	}
	settle_model(look, group, model);
	return WD_OK;
}
