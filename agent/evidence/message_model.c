/*
 * A model and the evidence about its files as the message of the schema.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/mem.h"
#include "evidence/caches.h"
#include "evidence/companions.h"
#include "evidence/devices.h"
#include "evidence/message.h"
#include "wire/bundle.h"

#define FLAG(name) WEIGHTD__V1__FLAG__FLAG_##name
#define GRADE(name) WEIGHTD__V1__GRADE__GRADE_##name
#define CHECK(name) WEIGHTD__V1__CHECK__CHECK_##name

static Weightd__V1__FileEvidence__Origin
origin(enum wd_origin origin)
{
	switch (origin) {
	case WD_ORIGIN_MAPPED:
		return WEIGHTD__V1__FILE_EVIDENCE__ORIGIN__ORIGIN_MAPPED;
	case WD_ORIGIN_OPEN:
		return WEIGHTD__V1__FILE_EVIDENCE__ORIGIN__ORIGIN_OPEN;
	case WD_ORIGIN_BESIDE:
		break;
	}
	return WEIGHTD__V1__FILE_EVIDENCE__ORIGIN__ORIGIN_BESIDE;
}

void
wd_say_pid(struct wd_build *b, size_t *count, int32_t **pids, pid_t pid)
{
	size_t i;

	for (i = 0; i < *count; i++)
		if ((*pids)[i] == pid)
			return;
	if (wd_build_grow(b, *count, (void **)pids, sizeof(**pids)))
		(*pids)[(*count)++] = pid;
}

static void
say_holds(struct wd_build *b, const struct wd_look *look,
    const struct wd_held *held, Weightd__V1__FileEvidence *out)
{
	size_t i;

	wd_build_bytes(b, &out->path, wd_bytes_slice(&held->path));
	out->in_memory = held->type == WD_OBJECT_MEMORY;
	for (i = 0; i < held->hold_count; i++) {
		wd_say_pid(b, &out->n_pids, &out->pids,
		    look->members[held->holds[i].member].pid);
		if (held->holds[i].is_mapping)
			out->mapping_count++;
		else
			out->descriptor_count++;
	}
}

static void
say_file_flags(struct wd_build *b, const struct wd_model_file *file,
    Weightd__V1__FileEvidence *out)
{
	if (file->deleted)
		WD_BUILD_PUSH(b, out, flags, FLAG(DELETED));
	if (file->replaced)
		WD_BUILD_PUSH(b, out, flags, FLAG(REPLACED));
	if (file->changed)
		WD_BUILD_PUSH(b, out, flags, FLAG(CHANGED_SINCE_LOAD));
	if (file->modified)
		WD_BUILD_PUSH(b, out, flags, FLAG(MODIFIED_IN_MEMORY));
	if (file->incomplete)
		WD_BUILD_PUSH(b, out, flags, FLAG(INCOMPLETE));
}

static void
say_file(struct wd_build *b, const struct wd_look *look,
    const struct wd_group *group, const struct wd_model *model,
    const struct wd_model_file *file, Weightd__V1__FileEvidence *out)
{
	const struct wd_bundle_file *bf =
	    &model->bundle->files[file->bundle_file];

	wd_build_bytes(b, &out->name,
	    (struct wd_slice){ (const uint8_t *)bf->name, bf->name_len });
	out->grade = file->grade;
	wd_build_text(b, &out->reason, file->reason);
	out->origin = origin(file->origin);
	out->tensor_count = file->coverage.tensors;
	out->tensors_mapped = file->coverage.tensors_covered;
	out->tensor_bytes = file->coverage.tensor_bytes;
	out->tensor_bytes_mapped = file->coverage.bytes_covered;
	out->written_bytes = file->written_bytes;
	out->written = wd_say_tristate(file->written);
	say_file_flags(b, file, out);
	if (file->has_path_sha256)
		wd_build_digest(b, &out->path_sha256, &file->path_sha256);
	if (file->held != WD_NONE)
		say_holds(b, look, &group->held[file->held], out);
	if (file->fd < 0)
		return;
	out->device = file->state.device;
	out->inode = file->state.inode;
	wd_build_text(b, &out->file_system, file->state.fs_type);
	wd_build_time(b, &out->modified_at, file->state.mtime_ns);
	wd_build_time(b, &out->changed_at, file->state.ctime_ns);
	out->trusted_times = file->state.trusted_times;
}

void
wd_say_bundle(
    struct wd_build *b, const struct wd_model *model, Weightd__V1__Bundle **out)
{
	WD_CLEANUP(wd_free_scoped) struct wd_file_digest *digests = NULL;
	enum wd_status st;
	size_t i;

	digests = wd_calloc(model->file_count, sizeof(*digests));
	if (digests == NULL) {
		b->status = WD_NOMEM;
		return;
	}
	for (i = 0; i < model->file_count; i++) {
		digests[i].state = model->files[i].digest_state;
		digests[i].digested_at_ns = model->files[i].digested_real_ns;
		digests[i].hashed_bytes = model->files[i].hashed_bytes;
	}
	st = wd_bundle_message(
	    model->bundle, digests, wd_bytes_slice(&model->path), out, NULL);
	if (st != WD_OK) {
		b->status = st;
		return;
	}
	switch (model->kind) {
	case WD_KIND_MODEL:
		(*out)->kind = WEIGHTD__V1__BUNDLE_KIND__BUNDLE_KIND_MODEL;
		break;
	case WD_KIND_ADAPTER:
		(*out)->kind = WEIGHTD__V1__BUNDLE_KIND__BUNDLE_KIND_ADAPTER;
		break;
	case WD_KIND_PROJECTOR:
		(*out)->kind = WEIGHTD__V1__BUNDLE_KIND__BUNDLE_KIND_PROJECTOR;
		break;
	case WD_KIND_DRAFT:
		(*out)->kind = WEIGHTD__V1__BUNDLE_KIND__BUNDLE_KIND_DRAFT;
		break;
	}
	(*out)->incomplete = model->incomplete;
}

static void
add_name(struct wd_build *b, Weightd__V1__Candidate *out, struct wd_slice name)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text;
	size_t i;

	wd_buf_init(&text, 4 * 4096);
	if (name.len == 0 || wd_escape(&text, name) != WD_OK)
		return;
	for (i = 0; i < out->n_names; i++)
		if (strcmp(out->names[i], wd_buf_string(&text)) == 0)
			return;
	wd_build_add_text(b, &out->n_names, &out->names, wd_buf_string(&text));
}

/* A name and the same without its extension. */
static void
add_names(struct wd_build *b, Weightd__V1__Candidate *out, struct wd_slice name)
{
	size_t dot = name.len;

	add_name(b, out, name);
	while (dot > 1 && name.data[dot - 1] != '.')
		dot--;
	if (dot > 1)
		add_name(b, out, (struct wd_slice){ name.data, dot - 1 });
}

static void
say_names(struct wd_build *b, const struct wd_model *model,
    Weightd__V1__Candidate *out)
{
	struct wd_slice path = wd_bytes_slice(&model->path), head;
	struct wd_slice last = { NULL, 0 }, folder = { NULL, 0 };
	size_t i;

	while (wd_slice_cut(&path, '/', &head)) {
		folder = last;
		last = head;
	}
	if (model->bundle->single_file)
		add_names(b, out, last);
	else if (model->bundle->format == WD_FORMAT_SAFETENSORS)
		add_names(b, out, folder);
	for (i = 0; i < model->file_count; i++) {
		const struct wd_bundle_file *bf = &model->bundle->files[i];

		if (bf->role == WD_ROLE_WEIGHTS && bf->shard > 0)
			add_names(b, out,
			    (struct wd_slice){
				(const uint8_t *)bf->name, bf->name_len });
	}
	if (out->bundle != NULL && out->bundle->repository[0] != '\0')
		add_name(b, out, wd_slice_text(out->bundle->repository));
}

/* Names of caches. */
static void
say_kept_names(struct wd_build *b, const struct wd_model *model,
    Weightd__V1__Candidate *out)
{
	size_t i;

	for (i = 0; i < model->name_count && b->status == WD_OK; i++) {
		const struct wd_kept_name *kept = &model->names[i];
		Weightd__V1__MovedName *moved;

		if (kept->leads_to == NULL) {
			wd_build_add_text(b, &out->n_kept_names,
			    &out->kept_names, kept->name);
			continue;
		}
		moved = WD_BUILD_ADD(
		    b, out, moved_names, &weightd__v1__moved_name__descriptor);
		if (moved == NULL)
			return;
		wd_build_text(b, &moved->name, kept->name);
		wd_build_text(b, &moved->leads_to, kept->leads_to);
	}
	if (out->n_moved_names > 0)
		WD_BUILD_PUSH(b, out, flags, FLAG(NAME_MOVED));
	if (model->names_incomplete)
		wd_build_add_text(b, &out->n_notes, &out->notes,
		    "not every name of the cache could be read");
}

/* Caches call a blob by the SHA-256 of what was downloaded: "sha256-HEX" of an
 * Ollama store, "HEX" of a hub cache where the file is large. */
static bool
is_misnamed(const struct wd_group *group, const struct wd_model *model,
    const struct wd_model_file *file)
{
	const struct wd_bundle_file *bf =
	    &model->bundle->files[file->bundle_file];
	struct wd_cache_place place;
	char hex[WD_SHA256_TEXT_BYTES];

	if (file->held == WD_NONE || !bf->has_digest)
		return false;
	place =
	    wd_cache_place_of(wd_bytes_slice(&group->held[file->held].path));
	(void)wd_sha256_text(&bf->sha256, hex);
	/* "sha256:HEX" */
	if (place.kind == WD_CACHE_NONE ||
	    (place.blob.len != 64 && place.blob.len != 71))
		return false;
	return memcmp(place.blob.data + place.blob.len - 64,
		   hex + strlen(hex) - 64, 64) != 0;
}

static void
say_misnamed(struct wd_build *b, const struct wd_group *group,
    const struct wd_model *model, Weightd__V1__Candidate *out)
{
	size_t i;

	for (i = 0; i < model->file_count; i++) {
		if (!is_misnamed(group, model, &model->files[i]))
			continue;
		wd_build_add_text(b, &out->n_notes, &out->notes,
		    "a blob's content is not what its name says: it was "
		    "written to, or its download was damaged");
		return;
	}
}

static void
say_model_flags(struct wd_build *b, const struct wd_model *model,
    Weightd__V1__Candidate *out)
{
	bool deleted = false, replaced = false, changed = false, mod = false;
	size_t i;

	for (i = 0; i < model->file_count; i++) {
		deleted |= model->files[i].deleted;
		replaced |= model->files[i].replaced;
		changed |= model->files[i].changed;
		mod |= model->files[i].modified;
	}
	if (deleted)
		WD_BUILD_PUSH(b, out, flags, FLAG(DELETED));
	if (replaced)
		WD_BUILD_PUSH(b, out, flags, FLAG(REPLACED));
	if (changed)
		WD_BUILD_PUSH(b, out, flags, FLAG(CHANGED_SINCE_LOAD));
	if (mod)
		WD_BUILD_PUSH(b, out, flags, FLAG(MODIFIED_IN_MEMORY));
	if (model->settings_stale)
		WD_BUILD_PUSH(b, out, flags, FLAG(SETTINGS_STALE));
	if (model->conflict)
		WD_BUILD_PUSH(b, out, flags, FLAG(CONFLICT));
	if (model->incomplete)
		WD_BUILD_PUSH(b, out, flags, FLAG(INCOMPLETE));
}

static void
say_note(struct wd_build *b, Weightd__V1__Candidate *out, const char *flag,
    const char *engine, const char *reason)
{
	char note[256];

	(void)snprintf(note, sizeof(note), "%s: %s %s", flag, engine, reason);
	wd_build_add_text(b, &out->n_notes, &out->notes, note);
}

static void
say_notes(struct wd_build *b, const struct wd_group *group,
    const struct wd_model *model, Weightd__V1__Candidate *out)
{
	if (group->mutable == WD_YES)
		say_note(b, out, "MUTABLE", group->mutable_engine,
		    group->mutable_reason);
	if (group->partial == WD_YES)
		say_note(b, out, "PARTIAL", group->partial_engine,
		    group->partial_reason);
	if (model->asleep)
		wd_build_add_text(b, &out->n_notes, &out->notes, WD_ASLEEP);
}

static void
say_others(struct wd_build *b, const struct wd_model *model,
    Weightd__V1__Candidate *out)
{
	size_t i;

	for (i = 0; i < model->other_count; i++)
		wd_say_pid(b, &out->n_also_held_by, &out->also_held_by,
		    model->others[i]);
	if (model->other_count > 0)
		WD_BUILD_PUSH(b, out, flags, FLAG(DUPLICATE_INSTANCE));
}

static void
say_model_checks(struct wd_build *b, const struct wd_model *model,
    Weightd__V1__Candidate *out)
{
	bool written = true, times = true;
	size_t i;

	for (i = 0; i < model->file_count; i++) {
		const struct wd_model_file *file = &model->files[i];

		if (model->bundle->files[file->bundle_file].role !=
		    WD_ROLE_WEIGHTS)
			continue;
		written &= file->written != WD_NOT_KNOWN;
		/* Where times say nothing, only bytes that were read now do. */
		times &= file->fd >= 0 &&
		    (file->state.trusted_times ||
			file->digest_state ==
			    WEIGHTD__V1__DIGEST_STATE__DIGEST_STATE_COMPUTED);
	}
	WD_BUILD_PUSH(b, out, checks_performed, CHECK(HEADERS));
	WD_BUILD_PUSH(b, out, checks_performed, CHECK(COVERAGE));
	if (written)
		WD_BUILD_PUSH(b, out, checks_performed, CHECK(WRITTEN_PAGES));
	if (model->bundle->has_content_digest)
		WD_BUILD_PUSH(b, out, checks_performed, CHECK(CONTENT_DIGEST));
	if (times)
		WD_BUILD_PUSH(
		    b, out, checks_performed, CHECK(CHANGED_SINCE_LOAD));
	if (model->settings_checked)
		WD_BUILD_PUSH(b, out, checks_performed, CHECK(SETTINGS_STALE));
}

/* Every file that changed since it was loaded was only removed: what was copied
 * of it then are the bytes of now. */
static bool
was_only_removed(const struct wd_model *model)
{
	bool removed = false;
	size_t i;

	for (i = 0; i < model->file_count; i++) {
		if (model->files[i].changed && !model->files[i].removed)
			return false;
		removed |= model->files[i].removed;
	}
	return removed;
}

void
wd_say_candidate(struct wd_build *b, const struct wd_look *look,
    const struct wd_group *group, const struct wd_model *model,
    Weightd__V1__Candidate *out)
{
	size_t i, j;

	wd_say_bundle(b, model, &out->bundle);
	out->grade = model->grade;
	say_model_flags(b, model, out);
	out->mapped_wholly = model->mapped_wholly;
	out->on_overlay = wd_say_tristate(model->on_overlay);
	if (group->engine_asked)
		out->updatable_without_files =
		    wd_say_tristate(group->updatable);
	if (group->engine_asked)
		say_notes(b, group, model, out);
	if (model->kind != WD_KIND_MODEL)
		out->in_use = wd_say_tristate(model->in_use);
	out->device_memory = wd_say_tristate(wd_group_on_device(look, group));
	out->memory_copies = wd_say_tristate(
	    was_only_removed(model) ? WD_NO : wd_group_copies(group));
	for (i = 0; i < model->file_count && b->status == WD_OK; i++) {
		const struct wd_model_file *file = &model->files[i];
		Weightd__V1__FileEvidence *evidence;

		if (model->bundle->files[file->bundle_file].role !=
		    WD_ROLE_WEIGHTS)
			continue;
		evidence = WD_BUILD_ADD(
		    b, out, files, &weightd__v1__file_evidence__descriptor);
		if (evidence == NULL)
			return;
		say_file(b, look, group, model, file, evidence);
		for (j = 0; j < evidence->n_pids; j++)
			wd_say_pid(
			    b, &out->n_pids, &out->pids, evidence->pids[j]);
	}
	say_names(b, model, out);
	say_kept_names(b, model, out);
	say_misnamed(b, group, model, out);
	say_others(b, model, out);
	say_model_checks(b, model, out);
}
