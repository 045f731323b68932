#include "bundle/safetensors.h"

#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"

#define LENGTH_BYTES 8
#define LEAST_HEADER 2 /* "{}" */
#define MAX_DTYPE 32

static uint64_t
header_length(const uint8_t head[LENGTH_BYTES])
{
	uint64_t len = 0;
	unsigned i;

	for (i = 0; i < LENGTH_BYTES; i++)
		len |= (uint64_t)head[i] << (8 * i);
	return len;
}

bool
wd_safetensors_starts(const uint8_t head[9])
{
	uint64_t len = header_length(head);

	return len >= LEAST_HEADER && len <= WD_MAX_SAFETENSORS_HEADER &&
	    head[LENGTH_BYTES] == '{';
}

/* The header's text, in `text`. */
static enum wd_status
read_header(
    const struct wd_source *source, struct wd_buf *text, struct wd_error *err)
{
	uint8_t head[LENGTH_BYTES], *space;
	enum wd_status st = wd_source_exact(source, 0, head, sizeof(head), err);
	uint64_t len;

	if (st != WD_OK)
		return st;
	len = header_length(head);
	if (len < LEAST_HEADER || len > WD_MAX_SAFETENSORS_HEADER)
		return wd_fail_at(err, WD_MALFORMED, 0,
		    "the header's length is said to be %llu bytes; the format "
		    "allows 2 to %lu",
		    (unsigned long long)len, WD_MAX_SAFETENSORS_HEADER);
	/* Before any memory is taken for it. */
	if (source->size_bytes < LENGTH_BYTES ||
	    len > source->size_bytes - LENGTH_BYTES)
		return wd_fail_at(err, WD_TRUNCATED, source->size_bytes,
		    "the file ends within its header: need at least %llu "
		    "bytes, have %llu",
		    (unsigned long long)(len + LENGTH_BYTES),
		    (unsigned long long)source->size_bytes);
	if (wd_buf_reserve(text, (size_t)len, &space) != WD_OK)
		return wd_fail(err, text->status, "no memory for the header");
	st = wd_source_exact(source, LENGTH_BYTES, space, (size_t)len, err);
	if (st != WD_OK)
		return st;
	wd_buf_advance(text, (size_t)len);
	if (text->data[0] != '{')
		return wd_fail_at(err, WD_MALFORMED, LENGTH_BYTES,
		    "the header does not begin with '{'");
	return WD_OK;
}

/* One entry of the header, and what is needed to complain about it. */
struct entry {
	struct wd_draft *build;
	const struct wd_buf *text;
	const char *name;
	const json_t *value;
	uint64_t data_offset;
	uint64_t file_bytes;
	struct wd_tensor tensor;
	struct wd_error *err;
};

/* Where the entry's name stands in the file. The tree does not know, so it is
 * searched; a name written with escapes is not found, and then the header's
 * start is given. */
static uint64_t
entry_offset(const struct entry *entry)
{
	size_t len = strlen(entry->name);
	const uint8_t *found =
	    memmem(entry->text->data, entry->text->len, entry->name, len);

	return LENGTH_BYTES +
	    (found == NULL ? 0 : (uint64_t)(found - entry->text->data));
}

static enum wd_status
entry_fail(const struct entry *entry, enum wd_status status, const char *why)
{
	char shown[128];

	return wd_fail_at(entry->err, status, entry_offset(entry),
	    "tensor \"%s\": %s",
	    wd_escape_short(shown, sizeof(shown), wd_slice_text(entry->name)),
	    why);
}

static enum wd_status
read_shape(struct entry *entry)
{
	const json_t *shape = json_object_get(entry->value, "shape");
	struct wd_tensor *tensor = &entry->tensor;
	size_t i;

	if (!json_is_array(shape))
		return entry_fail(entry, WD_MALFORMED, "it has no shape");
	if (json_array_size(shape) > WD_MAX_TENSOR_DIMS)
		return entry_fail(entry, WD_LIMIT,
		    "it has more than 8 dimensions, more than any model's");
	tensor->dims = (unsigned)json_array_size(shape);
	tensor->elements = 1; /* a scalar has one */
	for (i = 0; i < tensor->dims; i++) {
		const json_t *dim = json_array_get(shape, i);

		if (!json_is_integer(dim) || json_integer_value(dim) < 0)
			return entry_fail(entry, WD_MALFORMED,
			    "a dimension is no number from 0 to 2^63");
		tensor->shape[i] = (uint64_t)json_integer_value(dim);
		if (!wd_mul_u64(tensor->elements, tensor->shape[i],
			&tensor->elements) ||
		    tensor->elements > INT64_MAX)
			return entry_fail(entry, WD_MALFORMED,
			    "its dimensions multiply beyond 2^63");
	}
	return WD_OK;
}

static enum wd_status
read_offsets(struct entry *entry)
{
	const json_t *offsets = json_object_get(entry->value, "data_offsets");
	const json_t *start = json_array_get(offsets, 0);
	const json_t *end = json_array_get(offsets, 1);
	struct wd_tensor *tensor = &entry->tensor;
	json_int_t from, to;

	if (json_array_size(offsets) != 2 || !json_is_integer(start) ||
	    !json_is_integer(end))
		return entry_fail(entry, WD_MALFORMED,
		    "its data_offsets are no two numbers from 0 to 2^63");
	from = json_integer_value(start);
	to = json_integer_value(end);
	/* The header is 100 MB at most, so the sum below cannot overflow. */
	if (from < 0 || to < from ||
	    (uint64_t)to > INT64_MAX - entry->data_offset)
		return entry_fail(
		    entry, WD_MALFORMED, "its data_offsets are not in order");
	tensor->offset = entry->data_offset + (uint64_t)from;
	tensor->size_bytes = (uint64_t)(to - from);
	tensor->sized = true;
	return WD_OK;
}

static bool
is_dtype_name(struct wd_slice name)
{
	size_t i;

	for (i = 0; i < name.len; i++) {
		uint8_t byte = name.data[i];

		if ((byte < '0' || byte > '9') && (byte < 'A' || byte > 'Z') &&
		    (byte < 'a' || byte > 'z') && byte != '_')
			return false;
	}
	return name.len > 0 && name.len <= MAX_DTYPE;
}

/* Nothing but its bounds can be held against an unknown dtype, so they are
 * not forgiven as a cut file is. */
static enum wd_status
unknown_dtype(struct entry *entry, struct wd_slice name)
{
	struct wd_tensor *tensor = &entry->tensor;
	char text[MAX_DTYPE + 16], *copy;
	enum wd_status st;

	if (tensor->offset + tensor->size_bytes > entry->file_bytes)
		return entry_fail(entry, WD_MALFORMED,
		    "its dtype is not known, and its data lie beyond the end "
		    "of the file");
	(void)snprintf(text, sizeof(text), "unknown(%.*s)", (int)name.len,
	    (const char *)name.data);
	st =
	    wd_draft_copy(entry->build, wd_slice_text(text), &copy, entry->err);
	if (st == WD_OK)
		tensor->encoding = copy;
	return st;
}

static enum wd_status
read_dtype(struct entry *entry)
{
	const char *dtype =
	    json_string_value(json_object_get(entry->value, "dtype"));
	struct wd_slice name = wd_slice_text(dtype == NULL ? "" : dtype);
	const struct wd_encoding *encoding;
	uint64_t size;

	if (!is_dtype_name(name))
		return entry_fail(
		    entry, WD_MALFORMED, "its dtype is no name of a type");
	encoding = wd_safetensors_dtype(name);
	if (encoding == NULL)
		return unknown_dtype(entry, name);
	entry->tensor.encoding = encoding->name;
	if (!wd_encoding_size(encoding, entry->tensor.elements, &size) ||
	    size != entry->tensor.size_bytes)
		return entry_fail(entry, WD_MALFORMED,
		    "its data_offsets are not as far apart as dtype and shape "
		    "say");
	return WD_OK;
}

static enum wd_status
read_entry(struct entry *entry)
{
	struct wd_slice name = wd_slice_text(entry->name);
	enum wd_status st;
	char *copy;

	if (!json_is_object(entry->value))
		return entry_fail(entry, WD_MALFORMED, "it is no object");
	if (name.len > WD_MAX_TENSOR_NAME)
		return entry_fail(
		    entry, WD_LIMIT, "its name is longer than 1024 bytes");
	st = read_shape(entry);
	if (st == WD_OK)
		st = read_offsets(entry);
	if (st == WD_OK)
		st = read_dtype(entry);
	if (st == WD_OK)
		st = wd_draft_escaped(entry->build, name, &copy, entry->err);
	if (st != WD_OK)
		return st;
	entry->tensor.name = copy;
	entry->tensor.name_len = strlen(copy);
	entry->tensor.parameters = entry->tensor.elements;
	return wd_draft_tensor(entry->build, &entry->tensor, entry->err);
}

/* "__metadata__" is a map from strings to strings. Engines look into it (MLX
 * reads "format" to know whose names the tensors have), so it is settings. */
static enum wd_status
read_metadata(const struct entry *entry)
{
	json_t *same;
	void *at;

	if (!json_is_object(entry->value))
		return wd_fail_at(entry->err, WD_MALFORMED, entry_offset(entry),
		    "__metadata__ is no object");
	memcpy(&same, &entry->value, sizeof(same));
	for (at = json_object_iter(same); at != NULL;
	     at = json_object_iter_next(same, at))
		if (!json_is_string(json_object_iter_value(at)))
			return wd_fail_at(entry->err, WD_MALFORMED,
			    entry_offset(entry),
			    "__metadata__ holds something that is no string");
	return wd_settings_json(
	    entry->build, "bundle.metadata", entry->value, entry->err);
}

static enum wd_status
read_entries(struct entry *entry, json_t *root, uint32_t file)
{
	enum wd_status st = WD_OK;
	void *at;

	for (at = json_object_iter(root); at != NULL && st == WD_OK;
	     at = json_object_iter_next(root, at)) {
		entry->name = json_object_iter_key(at);
		entry->value = json_object_iter_value(at);
		entry->tensor = (struct wd_tensor){ .file = file };
		st = strcmp(entry->name, "__metadata__") == 0 ?
		    read_metadata(entry) :
		    read_entry(entry);
	}
	return st;
}

/* The faults that do not change what the tensors are. */
static enum wd_status
note_faults(struct wd_draft *build, const struct wd_bundle_file *file,
    uint64_t unused, struct wd_error *err)
{
	char shown[160];
	enum wd_status st = WD_OK;
	const char *name = wd_escape_short(shown, sizeof(shown),
	    (struct wd_slice){ (const uint8_t *)file->name, file->name_len });

	if (file->needed_bytes > file->size_bytes)
		st = wd_draft_note(build, WD_NOTE_INCOMPLETE, err,
		    "%s is cut: need %llu bytes, have %llu", name,
		    (unsigned long long)file->needed_bytes,
		    (unsigned long long)file->size_bytes);
	if (st == WD_OK && file->needed_bytes < file->size_bytes)
		st = wd_draft_note(build, WD_NOTE_MALFORMED, err,
		    "%s has %llu bytes after its last tensor, which the format "
		    "does not allow; the tensors were counted",
		    name,
		    (unsigned long long)(file->size_bytes -
			file->needed_bytes));
	if (st == WD_OK && unused > 0)
		st = wd_draft_note(build, WD_NOTE_MALFORMED, err,
		    "%s has %llu bytes between its tensors, which the format "
		    "does not allow; the tensors were counted",
		    name, (unsigned long long)unused);
	return st;
}

static enum wd_status
parse(const struct wd_buf *text, json_t **root, struct wd_error *err)
{
	enum wd_status st =
	    wd_json_parse(wd_buf_slice(text), WD_MAX_JSON_MEMORY, root, err);

	if (st != WD_OK && err != NULL && err->offset != WD_ERROR_NO_OFFSET)
		err->offset += LENGTH_BYTES;
	return st;
}

/* As most headers are; for the others `*plain` is false. */
static enum wd_status
read_plain(struct entry *entry, uint32_t file, bool *plain)
{
	WD_CLEANUP(wd_json_free) json_t *root = NULL;
	struct wd_draft_mark mark = wd_draft_mark(entry->build);
	struct wd_slice metadata;
	struct wd_error why;
	enum wd_status st =
	    wd_safetensors_plain(entry->build, wd_buf_slice(entry->text),
		entry->data_offset, file, &metadata, plain, entry->err);

	if (st != WD_OK || !*plain || metadata.len == 0)
		return st;
	wd_error_init(&why);
	st = wd_json_parse(metadata, WD_MAX_JSON_MEMORY, &root, &why);
	if (st == WD_OK) {
		struct entry inner = *entry;

		inner.name = "__metadata__";
		inner.value = root;
		inner.err = &why;
		st = read_metadata(&inner);
	}
	if (st == WD_NOMEM)
		return wd_fail(entry->err, st, "%s", why.message);
	*plain = st == WD_OK;
	if (!*plain)
		wd_draft_back(entry->build, &mark);
	return WD_OK;
}

enum wd_status
wd_safetensors_read(struct wd_draft *build, const struct wd_source *source,
    uint32_t file, struct wd_error *err)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text;
	WD_CLEANUP(wd_json_free) json_t *root = NULL;
	struct wd_bundle_file *place = &build->bundle->files[file];
	size_t first = build->bundle->tensor_count;
	struct entry entry = { .build = build, .text = &text, .err = err };
	uint64_t unused = 0;
	bool plain = false;
	enum wd_status st;

	wd_buf_init(&text, WD_MAX_SAFETENSORS_HEADER);
	place->size_bytes = source->size_bytes;
	st = read_header(source, &text, err);
	if (st != WD_OK)
		return st;
	entry.data_offset = LENGTH_BYTES + text.len;
	entry.file_bytes = source->size_bytes;
	place->data_offset = entry.data_offset;
	st = read_plain(&entry, file, &plain);
	if (st == WD_OK && !plain)
		st = parse(&text, &root, err);
	if (st == WD_OK && !plain)
		st = read_entries(&entry, root, file);
	if (st == WD_OK)
		st = wd_draft_layout(build, first, entry.data_offset,
		    &place->needed_bytes, &unused, err);
	if (st == WD_OK)
		st = note_faults(build, place, unused, err);
	return st;
}
