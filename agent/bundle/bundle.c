#include "bundle/bundle.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/escape.h"
#include "base/mem.h"
#include "bundle/draft.h"
#include "bundle/recipe.h"

#define NOTE_BYTES 2048

const char *
wd_bundle_format_name(enum wd_bundle_format format)
{
	switch (format) {
	case WD_FORMAT_GGUF:
		return "GGUF";
	case WD_FORMAT_SAFETENSORS:
		return "safetensors";
	case WD_FORMAT_ONNX:
		return "ONNX";
	case WD_FORMAT_PYTORCH:
		return "PyTorch";
	case WD_FORMAT_TENSORRT:
		return "TensorRT-LLM";
	case WD_FORMAT_COREML:
		return "Core ML";
	case WD_FORMAT_UNKNOWN:
		break;
	}
	return "unknown";
}

const char *
wd_bundle_kind_name(enum wd_bundle_kind kind)
{
	switch (kind) {
	case WD_KIND_ADAPTER:
		return "adapter";
	case WD_KIND_PROJECTOR:
		return "projector";
	case WD_KIND_DRAFT:
		return "draft";
	case WD_KIND_MODEL:
		break;
	}
	return "model";
}

void
wd_bundle_free(struct wd_bundle **bundle)
{
	struct wd_bundle *old = *bundle;

	if (old == NULL)
		return;
	wd_free(old->tensors);
	wd_free(old->files);
	wd_free(old->settings);
	wd_free(old->encodings);
	wd_free(old->notes);
	wd_arena_free(&old->arena);
	wd_free(old);
	*bundle = NULL;
}

static enum wd_status
no_memory(struct wd_error *err)
{
	return wd_fail(err, WD_NOMEM, "no memory to describe the bundle");
}

enum wd_status
wd_draft_init(struct wd_draft *build, struct wd_error *err)
{
	memset(build, 0, sizeof(*build));
	wd_canon_init(&build->canon);
	build->options = wd_bundle_options_default();
	build->bundle = wd_calloc(1, sizeof(*build->bundle));
	if (build->bundle == NULL)
		return no_memory(err);
	build->bundle->parameters_known = true;
	build->bundle->arena = wd_arena_new();
	if (build->bundle->arena == NULL)
		return no_memory(err);
	return WD_OK;
}

void
wd_draft_release(struct wd_draft *build)
{
	wd_bundle_free(&build->bundle);
	wd_free(build->parts);
	build->parts = NULL;
	wd_canon_release(&build->canon);
}

/* One more item; a full array is told from a full memory. */
static enum wd_status
room_for(void **items, size_t count, size_t *capacity, size_t size, size_t max,
    const char *what, struct wd_error *err)
{
	enum wd_status st = wd_grow(items, count, capacity, size, max);

	if (st == WD_NOMEM)
		return no_memory(err);
	if (st == WD_LIMIT)
		return wd_fail(err, WD_LIMIT,
		    "the bundle has more than %zu %s, which no model has", max,
		    what);
	return WD_OK;
}

enum wd_status
wd_draft_copy(struct wd_draft *build, struct wd_slice bytes, char **copy,
    struct wd_error *err)
{
	*copy = wd_arena_copy(build->bundle->arena, bytes);
	return *copy == NULL ? no_memory(err) : WD_OK;
}

enum wd_status
wd_draft_file(struct wd_draft *build, struct wd_slice name,
    enum wd_file_role role, struct wd_error *err)
{
	struct wd_bundle *bundle = build->bundle;
	void *items = bundle->files;
	enum wd_status st =
	    room_for(&items, bundle->file_count, &build->file_capacity,
		sizeof(*bundle->files), WD_MAX_BUNDLE_FILES, "files", err);
	struct wd_bundle_file *file;

	bundle->files = items;
	if (st != WD_OK)
		return st;
	file = &bundle->files[bundle->file_count];
	*file =
	    (struct wd_bundle_file){ .name = wd_arena_copy(bundle->arena, name),
		    .name_len = name.len,
		    .role = role,
		    .present = true,
		    .counted = true };
	if (file->name == NULL)
		return no_memory(err);
	bundle->file_count++;
	return WD_OK;
}

enum wd_status
wd_draft_tensor(struct wd_draft *build, const struct wd_tensor *tensor,
    struct wd_error *err)
{
	struct wd_bundle *bundle = build->bundle;
	void *items = bundle->tensors;
	enum wd_status st =
	    room_for(&items, bundle->tensor_count, &build->tensor_capacity,
		sizeof(*bundle->tensors), WD_MAX_TENSORS, "tensors", err);

	bundle->tensors = items;
	if (st != WD_OK)
		return st;
	bundle->tensors[bundle->tensor_count++] = *tensor;
	return WD_OK;
}

/* Most names need no escape, and a bundle may have 100,000 of them. */
static bool
is_plain(struct wd_slice bytes)
{
	size_t i;

	for (i = 0; i < bytes.len; i++)
		if (bytes.data[i] < 0x20 || bytes.data[i] >= 0x7f ||
		    bytes.data[i] == '\\')
			return false;
	return true;
}

enum wd_status
wd_draft_escaped(struct wd_draft *build, struct wd_slice bytes, char **copy,
    struct wd_error *err)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text;

	/* "\\x00" is the longest that a byte becomes. */
	wd_buf_init(&text, 4 * bytes.len);
	if (is_plain(bytes))
		return wd_draft_copy(build, bytes, copy, err);
	if (wd_escape(&text, bytes) != WD_OK)
		return no_memory(err);
	return wd_draft_copy(build, wd_buf_slice(&text), copy, err);
}

const char *
wd_draft_short(char out[WD_SHORT_BYTES], const char *escaped)
{
	size_t len = strlen(escaped), most = WD_SHORT_BYTES - 4;

	if (len < WD_SHORT_BYTES)
		return memcpy(out, escaped, len + 1);
	/* Not within a character. */
	while (most > 0 && ((uint8_t)escaped[most] & 0xc0) == 0x80)
		most--;
	memcpy(out, escaped, most);
	memcpy(out + most, "...", 4);
	return out;
}

enum wd_status
wd_draft_setting(struct wd_draft *build, struct wd_slice key, char **value,
    struct wd_error *err)
{
	struct wd_bundle *bundle = build->bundle;
	void *items = bundle->settings;
	char *kept_key, *kept_value;
	struct wd_slice text;
	enum wd_status st =
	    room_for(&items, bundle->setting_count, &build->setting_capacity,
		sizeof(*bundle->settings), WD_MAX_SETTINGS, "settings", err);

	bundle->settings = items;
	if (st != WD_OK)
		return st;
	st = wd_canon_value(&build->canon, &text);
	if (st != WD_OK)
		return wd_fail(err, st, "cannot write a setting's value: %s",
		    wd_status_name(st));
	st = wd_draft_escaped(build, key, &kept_key, err);
	if (st == WD_OK)
		st = wd_draft_escaped(build, text, &kept_value, err);
	if (st != WD_OK)
		return st;
	bundle->settings[bundle->setting_count++] =
	    (struct wd_setting){ kept_key, kept_value };
	if (value != NULL)
		*value = kept_value;
	return WD_OK;
}

enum wd_status
wd_draft_part(struct wd_draft *build, struct wd_slice name,
    const struct wd_sha256 *sha256, struct wd_error *err)
{
	void *items = build->parts;
	enum wd_status st =
	    room_for(&items, build->part_count, &build->part_capacity,
		sizeof(*build->parts), WD_MAX_SETTINGS, "tokenizer keys", err);
	char *copy;

	build->parts = items;
	if (st != WD_OK)
		return st;
	st = wd_draft_escaped(build, name, &copy, err);
	if (st != WD_OK)
		return st;
	build->parts[build->part_count++] =
	    (struct wd_token_part){ { (const uint8_t *)copy, name.len },
		    *sha256 };
	return WD_OK;
}

enum wd_status
wd_draft_note(struct wd_draft *build, enum wd_note_kind kind,
    struct wd_error *err, const char *format, ...)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text;
	struct wd_bundle *bundle = build->bundle;
	void *items = bundle->notes;
	enum wd_status st =
	    room_for(&items, bundle->note_count, &build->note_capacity,
		sizeof(*bundle->notes), WD_MAX_BUNDLE_NOTES, "faults", err);
	va_list args;
	char *copy;

	wd_buf_init(&text, NOTE_BYTES);
	bundle->notes = items;
	if (kind == WD_NOTE_INCOMPLETE)
		bundle->incomplete = true;
	if (st != WD_OK)
		return st;
	va_start(args, format);
	(void)wd_buf_vprintf(&text, format, args);
	va_end(args);
	copy = wd_arena_copy(bundle->arena, wd_buf_slice(&text));
	if (copy == NULL || text.status == WD_NOMEM)
		return no_memory(err);
	bundle->notes[bundle->note_count++] = (struct wd_note){ kind, copy };
	return WD_OK;
}

struct wd_draft_mark
wd_draft_mark(const struct wd_draft *build)
{
	const struct wd_bundle *bundle = build->bundle;

	return (struct wd_draft_mark){ bundle->tensor_count,
		bundle->setting_count, build->part_count, bundle->note_count,
		bundle->incomplete };
}

void
wd_draft_back(struct wd_draft *build, const struct wd_draft_mark *mark)
{
	build->bundle->tensor_count = mark->tensors;
	build->bundle->setting_count = mark->settings;
	build->bundle->note_count = mark->notes;
	build->bundle->incomplete = mark->incomplete;
	build->part_count = mark->parts;
}

void
wd_draft_unname(struct wd_draft *build)
{
	build->bundle->inner_name = NULL;
	build->bundle->architecture = NULL;
	build->bundle->declared_recipe = NULL;
}

enum wd_status
wd_draft_open(struct wd_draft *build, struct wd_slice name,
    struct wd_opened *opened, struct wd_error *err)
{
	*opened = (struct wd_opened){ .folder = NULL };
	if (build->given != NULL && wd_slice_equal(name, build->given_name)) {
		opened->source = *build->given;
		return WD_OK;
	}
	if (build->folder == NULL)
		return wd_fail(err, WD_GONE, "its folder is not known");
	if (!wd_folder_name_allowed(name))
		return wd_fail(err, WD_INVALID, "it leads out of the folder");
	opened->folder = build->folder;
	return build->folder->open(
	    build->folder->ctx, name, &opened->source, err);
}

void
wd_opened_close(struct wd_opened *opened)
{
	if (opened->folder != NULL && opened->source.read != NULL)
		opened->folder->close(opened->folder->ctx, &opened->source);
	*opened = (struct wd_opened){ .folder = NULL };
}

struct span {
	uint64_t start;
	uint64_t size;
	const struct wd_tensor *tensor;
};

static int
compare_spans(const void *a, const void *b)
{
	const struct span *left = a, *right = b;

	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	/* Empty tensors first: they overlap nothing. */
	return left->size < right->size ? -1 : left->size > right->size;
}

static enum wd_status
overlap(const struct span *a, const struct span *b, struct wd_error *err)
{
	char first[WD_SHORT_BYTES], second[WD_SHORT_BYTES];

	return wd_fail_at(err, WD_MALFORMED, b->start,
	    "tensors \"%s\" and \"%s\" share bytes of the file",
	    wd_draft_short(first, a->tensor->name),
	    wd_draft_short(second, b->tensor->name));
}

static enum wd_status
walk_spans(const struct span *spans, size_t count, uint64_t *at,
    uint64_t *unused, struct wd_error *err)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (spans[i].start < *at && spans[i].size > 0)
			return overlap(&spans[i - (i > 0)], &spans[i], err);
		if (spans[i].start > *at)
			*unused += spans[i].start - *at;
		if (spans[i].start + spans[i].size > *at)
			*at = spans[i].start + spans[i].size;
	}
	return WD_OK;
}

enum wd_status
wd_draft_layout(const struct wd_draft *build, size_t first, uint64_t start,
    uint64_t *end, uint64_t *unused, struct wd_error *err)
{
	WD_CLEANUP(wd_free_scoped) struct span *spans = NULL;
	const struct wd_bundle *bundle = build->bundle;
	size_t i, count = bundle->tensor_count - first;

	*end = start;
	*unused = 0;
	spans = wd_calloc(count, sizeof(*spans));
	if (spans == NULL)
		return no_memory(err);
	for (i = 0; i < count; i++) {
		const struct wd_tensor *tensor = &bundle->tensors[first + i];

		/* Of what is not sized we know that it is not nothing. */
		spans[i] = (struct span){ tensor->offset,
			tensor->sized ? tensor->size_bytes :
					tensor->elements > 0,
			tensor };
	}
	qsort(spans, count, sizeof(*spans), compare_spans);
	return walk_spans(spans, count, end, unused, err);
}

static struct wd_slice
tensor_name(const struct wd_tensor *tensor)
{
	return (
	    struct wd_slice){ (const uint8_t *)tensor->name, tensor->name_len };
}

static int
compare_tensors(const void *a, const void *b)
{
	const struct wd_tensor *left = a, *right = b;
	int order = wd_slice_compare(tensor_name(left), tensor_name(right));

	if (order != 0)
		return order;
	return left->file < right->file ? -1 : left->file > right->file;
}

static bool
in_order(const struct wd_bundle *bundle)
{
	size_t i;

	for (i = 1; i < bundle->tensor_count; i++)
		if (compare_tensors(
			&bundle->tensors[i - 1], &bundle->tensors[i]) > 0)
			return false;
	return true;
}

enum wd_status
wd_draft_order(struct wd_draft *build, struct wd_error *err)
{
	struct wd_bundle *bundle = build->bundle;
	char shown[WD_SHORT_BYTES];
	size_t i;

	if (!in_order(bundle))
		qsort(bundle->tensors, bundle->tensor_count,
		    sizeof(*bundle->tensors), compare_tensors);
	for (i = 1; i < bundle->tensor_count; i++) {
		struct wd_slice name = tensor_name(&bundle->tensors[i]);

		if (wd_slice_equal(name, tensor_name(&bundle->tensors[i - 1])))
			return wd_fail(err, WD_MALFORMED,
			    "tensor \"%s\" stands twice; readers differ on "
			    "which one counts",
			    wd_draft_short(shown, bundle->tensors[i].name));
	}
	return WD_OK;
}

/* The row of the encoding, made when it is new. The rows are few, and most
 * tensors share the very pointer of the name. */
static enum wd_status
encoding_row(struct wd_bundle *bundle, size_t *capacity, const char *name,
    struct wd_encoding_count **row, struct wd_error *err)
{
	void *items = bundle->encodings;
	enum wd_status st;
	size_t i;

	for (i = 0; i < bundle->encoding_count; i++) {
		*row = &bundle->encodings[i];
		if ((*row)->encoding == name ||
		    strcmp((*row)->encoding, name) == 0)
			return WD_OK;
	}
	st = room_for(&items, bundle->encoding_count, capacity,
	    sizeof(*bundle->encodings), WD_MAX_ENCODINGS, "encodings", err);
	bundle->encodings = items;
	if (st != WD_OK)
		return st;
	*row = &bundle->encodings[bundle->encoding_count++];
	**row = (struct wd_encoding_count){ .encoding = name };
	return WD_OK;
}

static enum wd_status
sum_up(struct wd_bundle *bundle, struct wd_error *err)
{
	size_t capacity = 0, i;
	bool fits = true;

	for (i = 0; i < bundle->tensor_count; i++) {
		const struct wd_tensor *tensor = &bundle->tensors[i];
		struct wd_encoding_count *row = NULL;
		enum wd_status st = encoding_row(
		    bundle, &capacity, tensor->encoding, &row, err);

		if (st != WD_OK)
			return st;
		fits &= wd_add_u64(bundle->parameter_count, tensor->parameters,
		    &bundle->parameter_count);
		fits &= wd_add_u64(bundle->stored_elements, tensor->elements,
		    &bundle->stored_elements);
		fits &= wd_add_u64(bundle->tensor_bytes, tensor->size_bytes,
		    &bundle->tensor_bytes);
		/* No part is larger than the whole. */
		row->tensors++;
		row->elements += tensor->elements;
		row->parameters += tensor->parameters;
		row->size_bytes += tensor->size_bytes;
	}
	if (!fits)
		return wd_fail(err, WD_MALFORMED,
		    "the tensors have more than 2^64 elements in all");
	return WD_OK;
}

const char *
wd_draft_main_encoding(const struct wd_draft *build)
{
	const struct wd_bundle *bundle = build->bundle;
	const struct wd_encoding_count *most = NULL;
	size_t i;

	for (i = 0; i < bundle->encoding_count; i++)
		if (most == NULL ||
		    bundle->encodings[i].size_bytes > most->size_bytes)
			most = &bundle->encodings[i];
	return most == NULL ? NULL : most->encoding;
}

static int
compare_encodings(const void *a, const void *b)
{
	const struct wd_encoding_count *left = a, *right = b;

	return strcmp(left->encoding, right->encoding);
}

enum wd_status
wd_draft_finish(struct wd_draft *build, struct wd_error *err)
{
	struct wd_bundle *bundle = build->bundle;
	enum wd_status st = wd_draft_order(build, err);

	if (st == WD_OK)
		st = sum_up(bundle, err);
	if (st == WD_OK && bundle->encoding_count > 0)
		qsort(bundle->encodings, bundle->encoding_count,
		    sizeof(*bundle->encodings), compare_encodings);
	if (st == WD_OK)
		st = wd_settings_order(build, err);
	if (st == WD_OK)
		wd_recipe_declare(build);
	if (st == WD_OK)
		st = wd_fingerprint(build, err);
	return st;
}
