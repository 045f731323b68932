#include "wire/bundle.h"

#include <string.h>

#include "base/mem.h"
#include "bundle/classes.h"
#include "wire/build.h"

#define FORMAT(name) WEIGHTD__V1__BUNDLE_FORMAT__BUNDLE_FORMAT_##name
#define KIND(name) WEIGHTD__V1__BUNDLE_KIND__BUNDLE_KIND_##name
#define ROLE(name) WEIGHTD__V1__FILE_ROLE__FILE_ROLE_##name
#define NOTE(name) WEIGHTD__V1__BUNDLE_NOTE__KIND__KIND_##name
#define STATE(name) WEIGHTD__V1__DIGEST_STATE__DIGEST_STATE_##name

static Weightd__V1__BundleFormat
format_of(enum wd_bundle_format format)
{
	switch (format) {
	case WD_FORMAT_GGUF:
		return FORMAT(GGUF);
	case WD_FORMAT_SAFETENSORS:
		return FORMAT(SAFETENSORS);
	case WD_FORMAT_ONNX:
		return FORMAT(ONNX);
	case WD_FORMAT_PYTORCH:
		return FORMAT(PYTORCH);
	case WD_FORMAT_TENSORRT:
		return FORMAT(TENSORRT_LLM);
	case WD_FORMAT_COREML:
		return FORMAT(COREML);
	case WD_FORMAT_UNKNOWN:
		break;
	}
	return FORMAT(UNKNOWN);
}

static Weightd__V1__BundleKind
kind_of(enum wd_bundle_kind kind)
{
	switch (kind) {
	case WD_KIND_MODEL:
		return KIND(MODEL);
	case WD_KIND_ADAPTER:
		return KIND(ADAPTER);
	case WD_KIND_PROJECTOR:
		return KIND(PROJECTOR);
	case WD_KIND_DRAFT:
		return KIND(DRAFT);
	}
	return KIND(UNSPECIFIED);
}

static Weightd__V1__FileRole
role_of(enum wd_file_role role)
{
	switch (role) {
	case WD_ROLE_WEIGHTS:
		return ROLE(WEIGHTS);
	case WD_ROLE_INDEX:
		return ROLE(INDEX);
	case WD_ROLE_SETTINGS:
		return ROLE(SETTINGS);
	case WD_ROLE_TOKENIZER:
		return ROLE(TOKENIZER);
	}
	return ROLE(UNSPECIFIED);
}

static Weightd__V1__BundleNote__Kind
note_of(enum wd_note_kind kind)
{
	switch (kind) {
	case WD_NOTE_INCOMPLETE:
		return NOTE(INCOMPLETE);
	case WD_NOTE_MALFORMED:
		return NOTE(MALFORMED);
	case WD_NOTE_UNKNOWN:
		return NOTE(UNKNOWN);
	case WD_NOTE_DECLARED:
		return NOTE(DECLARED);
	case WD_NOTE_NOT_PART:
		return NOTE(NOT_PART);
	}
	return NOTE(UNSPECIFIED);
}

/* Digests that were made from the file's bytes; a name is a claim. */
static bool
is_measured(Weightd__V1__DigestState state)
{
	return state == STATE(COMPUTED) || state == STATE(CACHED) ||
	    state == STATE(KERNEL);
}

/* The state of file `i`; NONE when the caller knows nothing of it, or says
 * that there is a digest and the bundle has none. */
static Weightd__V1__DigestState
state_of(const struct wd_bundle *bundle, const struct wd_file_digest *digests,
    size_t i)
{
	Weightd__V1__DigestState state;

	if (digests == NULL)
		return STATE(NONE);
	state = digests[i].state;
	if (state == STATE(UNSPECIFIED) ||
	    (is_measured(state) && !bundle->files[i].has_digest))
		return STATE(NONE);
	return state;
}

/* How little a state says, for "the weakest one decides". */
static int
weakness(Weightd__V1__DigestState state)
{
	static const Weightd__V1__DigestState strongest_first[] = {
		STATE(KERNEL),
		STATE(COMPUTED),
		STATE(CACHED),
		STATE(PENDING),
		STATE(NAMED),
		STATE(NONE),
	};
	int i, count = sizeof(strongest_first) / sizeof(strongest_first[0]);

	for (i = 0; i < count; i++)
		if (strongest_first[i] == state)
			return i;
	return count;
}

static Weightd__V1__DigestState
weakest_state(
    const struct wd_bundle *bundle, const struct wd_file_digest *digests)
{
	Weightd__V1__DigestState weakest = STATE(NONE), state;
	bool has_any = false;
	size_t i;

	for (i = 0; i < bundle->file_count; i++) {
		if (!bundle->files[i].counted)
			continue;
		state = state_of(bundle, digests, i);
		if (!has_any || weakness(state) > weakness(weakest))
			weakest = state;
		has_any = true;
	}
	return weakest == STATE(NAMED) ? STATE(NONE) : weakest;
}

static void
add_file(struct wd_build *build, Weightd__V1__Bundle *message,
    const struct wd_bundle *bundle, const struct wd_file_digest *digests,
    size_t i)
{
	const struct wd_bundle_file *file = &bundle->files[i];
	Weightd__V1__BundleFile *row = WD_BUILD_ADD(
	    build, message, files, &weightd__v1__bundle_file__descriptor);

	if (row == NULL)
		return;
	wd_build_bytes(build, &row->name,
	    (struct wd_slice){ (const uint8_t *)file->name, file->name_len });
	row->role = role_of(file->role);
	row->shard = file->shard;
	row->present = file->present;
	row->size_bytes = file->size_bytes;
	row->counted = file->counted;
	row->digest_state = state_of(bundle, digests, i);
	if (is_measured(row->digest_state))
		wd_build_digest(build, &row->sha256, &file->sha256);
	if (digests == NULL)
		return;
	if (digests[i].digested_at_ns != 0)
		wd_build_time(
		    build, &row->digested_at, digests[i].digested_at_ns);
	row->hashed_bytes = digests[i].hashed_bytes;
	if (digests[i].has_named)
		wd_build_digest(build, &row->named_digest, &digests[i].named);
	if (digests[i].has_verity)
		wd_build_digest(build, &row->verity_digest, &digests[i].verity);
}

static void
fill_encoding(struct wd_build *build, Weightd__V1__EncodingCount *row,
    const struct wd_encoding_count *count)
{
	if (row == NULL)
		return;
	wd_build_text(build, &row->encoding, count->encoding);
	row->tensor_count = count->tensors;
	row->stored_element_count = count->elements;
	row->parameter_count = count->parameters;
	row->size_bytes = count->size_bytes;
}

static void
add_classes(struct wd_build *build, Weightd__V1__Bundle *message,
    const struct wd_bundle *bundle)
{
	WD_CLEANUP(wd_classes_release) struct wd_classes classes;
	size_t i;

	if (wd_classes_count(bundle, &classes, NULL) != WD_OK) {
		build->status = WD_NOMEM;
		return;
	}
	for (i = 0; i < classes.count; i++) {
		Weightd__V1__ClassCount *row = WD_BUILD_ADD(build, message,
		    classes, &weightd__v1__class_count__descriptor);

		if (row == NULL)
			return;
		wd_build_text(build, &row->tensor_class,
		    wd_tensor_class_name(classes.rows[i].class));
		row->count = wd_build_new(
		    build, &weightd__v1__encoding_count__descriptor);
		fill_encoding(build, row->count, &classes.rows[i].count);
	}
}

static void
add_lists(struct wd_build *build, Weightd__V1__Bundle *message,
    const struct wd_bundle *bundle)
{
	size_t i;

	for (i = 0; i < bundle->setting_count; i++) {
		Weightd__V1__Setting *row = WD_BUILD_ADD(build, message,
		    settings, &weightd__v1__setting__descriptor);

		if (row == NULL)
			return;
		wd_build_text(build, &row->key, bundle->settings[i].key);
		wd_build_text(build, &row->value, bundle->settings[i].value);
	}
	for (i = 0; i < bundle->encoding_count; i++)
		fill_encoding(build,
		    WD_BUILD_ADD(build, message, encodings,
			&weightd__v1__encoding_count__descriptor),
		    &bundle->encodings[i]);
	add_classes(build, message, bundle);
	for (i = 0; i < bundle->note_count; i++) {
		Weightd__V1__BundleNote *row = WD_BUILD_ADD(build, message,
		    notes, &weightd__v1__bundle_note__descriptor);

		if (row == NULL)
			return;
		row->kind = note_of(bundle->notes[i].kind);
		wd_build_text(build, &row->text, bundle->notes[i].text);
	}
}

static void
fill_numbers(Weightd__V1__Bundle *message, const struct wd_bundle *bundle)
{
	message->format = format_of(bundle->format);
	message->kind = kind_of(bundle->kind);
	message->format_version = bundle->format_version;
	message->big_endian = bundle->big_endian;
	message->incomplete = bundle->incomplete;
	message->single_file = bundle->single_file;
	message->parameter_count = bundle->parameter_count;
	message->parameters_known = bundle->parameters_known;
	message->stored_element_count = bundle->stored_elements;
	message->tensor_count = bundle->tensor_count;
	message->tensor_bytes = bundle->tensor_bytes;
}

static void
fill_texts(struct wd_build *build, Weightd__V1__Bundle *message,
    const struct wd_bundle *bundle, struct wd_slice path)
{
	char repository[256];

	wd_build_text(build, &message->inner_name, bundle->inner_name);
	wd_build_text(build, &message->architecture, bundle->architecture);
	wd_build_text(
	    build, &message->declared_recipe, bundle->declared_recipe);
	wd_build_text(build, &message->derived_recipe, bundle->derived_recipe);
	wd_build_bytes(build, &message->path, path);
	if (wd_hub_repository(path, repository, sizeof(repository)))
		wd_build_text(build, &message->repository, repository);
}

static void
fill_digests(struct wd_build *build, Weightd__V1__Bundle *message,
    const struct wd_bundle *bundle, const struct wd_file_digest *digests)
{
	if (!bundle->tensors_unread)
		wd_build_digest(
		    build, &message->encoding_digest, &bundle->encoding_digest);
	wd_build_digest(
	    build, &message->settings_digest, &bundle->settings_digest);
	if (bundle->has_tokenizer)
		wd_build_digest(build, &message->tokenizer_digest,
		    &bundle->tokenizer_digest);
	message->content_digest_state = weakest_state(bundle, digests);
	if (bundle->has_content_digest &&
	    is_measured(message->content_digest_state))
		wd_build_digest(
		    build, &message->content_digest, &bundle->content_digest);
}

enum wd_status
wd_bundle_message(const struct wd_bundle *bundle,
    const struct wd_file_digest *digests, struct wd_slice path,
    Weightd__V1__Bundle **message, struct wd_error *err)
{
	struct wd_build build = wd_build_init();
	Weightd__V1__Bundle *made =
	    wd_build_new(&build, &weightd__v1__bundle__descriptor);
	size_t i;

	if (made == NULL)
		return wd_fail(err, WD_NOMEM, "no memory for a bundle");
	fill_numbers(made, bundle);
	fill_texts(&build, made, bundle, path);
	fill_digests(&build, made, bundle, digests);
	for (i = 0; i < bundle->file_count; i++)
		add_file(&build, made, bundle, digests, i);
	add_lists(&build, made, bundle);
	if (build.status != WD_OK) {
		wd_message_free(made);
		return wd_fail(err, build.status, "no memory for a bundle");
	}
	*message = made;
	return WD_OK;
}

/* ---- the hub cache ------------------------------------------------------- */

static bool
is_id_byte(uint8_t byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
	    (byte >= 'a' && byte <= 'z') || byte == '-' || byte == '_' ||
	    byte == '.';
}

/* "models--ORG--NAME" to "ORG/NAME"; the hub allows no "--" in either. */
static bool
repository_of_folder(struct wd_slice folder, char *repository, size_t size)
{
	static const char prefix[] = "models--";
	size_t at = sizeof(prefix) - 1, len = 0;

	if (!wd_slice_starts(folder, prefix) || folder.len - at >= size)
		return false;
	for (; at < folder.len; at++) {
		uint8_t byte = folder.data[at];

		if (!is_id_byte(byte))
			return false;
		if (byte == '-' && at + 1 < folder.len &&
		    folder.data[at + 1] == '-') {
			byte = '/';
			at++;
		}
		repository[len++] = (char)byte;
	}
	repository[len] = '\0';
	return len > 0;
}

bool
wd_hub_repository(struct wd_slice path, char *repository, size_t size)
{
	struct wd_slice rest = path, part, before = { NULL, 0 };
	char found[256];

	while (wd_slice_cut(&rest, '/', &part)) {
		bool is_inside = wd_slice_equal(part, wd_slice_text("blobs")) ||
		    wd_slice_equal(part, wd_slice_text("snapshots"));

		if (is_inside &&
		    repository_of_folder(before, found, sizeof(found)) &&
		    strlen(found) < size) {
			memcpy(repository, found, strlen(found) + 1);
			return true;
		}
		before = part;
	}
	return false;
}
