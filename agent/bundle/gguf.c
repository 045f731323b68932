#include "bundle/gguf.h"

#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"

#define GGUF_DEFAULT_ALIGNMENT 32
#define GGUF_MAX_DIMS 4 /* GGML_MAX_DIMS */

/* Counts above this are no cap of ours: no file could hold so many. */
#define ABSURD_COUNT (UINT64_C(1) << 32)

bool
wd_gguf_starts(const uint8_t head[8], bool *big_endian)
{
	if (memcmp(head, "GGUF", 4) != 0)
		return false;
	/* Versions are small numbers: the zero bytes tell the order. */
	*big_endian = head[4] == 0 && head[5] == 0 && head[6] == 0;
	return true;
}

static enum wd_status
check_count(struct wd_window *window, uint64_t count, uint64_t max,
    uint64_t least_bytes, const char *what)
{
	char text[128];

	if (window->status != WD_OK)
		return window->status;
	if (count > ABSURD_COUNT) {
		(void)snprintf(text, sizeof(text), "the header claims %llu %s",
		    (unsigned long long)count, what);
		return wd_window_fail(
		    window, WD_MALFORMED, wd_window_at(window) - 8, text);
	}
	if (count > max) {
		(void)snprintf(text, sizeof(text),
		    "the header claims %llu %s; at most %llu are read",
		    (unsigned long long)count, what, (unsigned long long)max);
		return wd_window_fail(
		    window, WD_LIMIT, wd_window_at(window) - 8, text);
	}
	/* Nothing is done for items that the file cannot hold. */
	return wd_window_promised(window, count * least_bytes) ? WD_OK :
								 window->status;
}

static enum wd_status
read_start(struct wd_window *window, struct wd_gguf_facts *facts)
{
	char text[96];
	uint8_t head[8] = { 0 };
	enum wd_status st =
	    wd_source_exact(window->source, 0, head, sizeof(head), window->err);

	if (st != WD_OK)
		return window->status = st;
	if (!wd_gguf_starts(head, &window->big_endian))
		return wd_window_fail(window, WD_MALFORMED, 0,
		    "the file does not begin with \"GGUF\"");
	(void)wd_window_u32(window);
	facts->version = wd_window_u32(window);
	facts->big_endian = window->big_endian;
	if (window->status != WD_OK ||
	    (facts->version >= 2 && facts->version <= 3))
		return window->status;
	(void)snprintf(text, sizeof(text),
	    "GGUF version %u is not read; versions 2 and 3 are",
	    facts->version);
	return wd_window_fail(window, WD_UNSUPPORTED, 4, text);
}

/* The name, copied whole. A NUL in it is refused: engines written in C would
 * cut the name there, and two names would become one. */
static enum wd_status
read_name(struct wd_draft *build, struct wd_window *window,
    struct wd_tensor *tensor, struct wd_error *err)
{
	uint64_t at = wd_window_at(window), len = wd_window_u64(window);
	uint8_t name[WD_MAX_TENSOR_NAME];
	enum wd_status st;
	size_t done = 0;
	char *copy;

	if (!wd_window_promised(window, len))
		return window->status;
	if (len > sizeof(name))
		return wd_window_fail(window, WD_LIMIT, at,
		    "a tensor's name is longer than 1024 bytes");
	while (done < len) {
		struct wd_slice part = wd_window_part(window, len - done);

		if (window->status != WD_OK)
			return window->status;
		memcpy(name + done, part.data, part.len);
		done += part.len;
	}
	if (done > 0 && memchr(name, '\0', done) != NULL)
		return wd_window_fail(window, WD_MALFORMED, at,
		    "a tensor's name has a NUL byte in it");
	st = wd_draft_escaped(
	    build, (struct wd_slice){ name, done }, &copy, err);
	if (st != WD_OK)
		return st;
	tensor->name = copy;
	tensor->name_len = strlen(copy);
	return WD_OK;
}

static enum wd_status
read_shape(struct wd_window *window, struct wd_tensor *tensor)
{
	uint64_t at = wd_window_at(window);
	unsigned i;

	tensor->dims = wd_window_u32(window);
	tensor->elements = 1;
	if (window->status != WD_OK)
		return window->status;
	if (tensor->dims > GGUF_MAX_DIMS)
		return wd_window_fail(window, WD_MALFORMED, at,
		    "a tensor has more than 4 dimensions");
	for (i = 0; i < tensor->dims; i++) {
		at = wd_window_at(window);
		tensor->shape[i] = wd_window_u64(window);
		if (tensor->shape[i] > INT64_MAX)
			return wd_window_fail(window, WD_MALFORMED, at,
			    "a tensor's dimension is beyond 2^63");
		if (!wd_mul_u64(tensor->elements, tensor->shape[i],
			&tensor->elements) ||
		    tensor->elements > INT64_MAX)
			return wd_window_fail(window, WD_MALFORMED, at,
			    "a tensor's dimensions multiply beyond 2^63");
	}
	return window->status;
}

static enum wd_status
unknown_type(struct wd_draft *build, struct wd_tensor *tensor, uint32_t type,
    struct wd_error *err)
{
	const struct wd_bundle *bundle = build->bundle;
	enum wd_status st;
	char text[32], *copy;

	(void)snprintf(text, sizeof(text), "unknown(%u)", type);
	/* Usually the tensor before has the same. */
	if (bundle->tensor_count > 0 &&
	    strcmp(bundle->tensors[bundle->tensor_count - 1].encoding, text) ==
		0) {
		tensor->encoding =
		    bundle->tensors[bundle->tensor_count - 1].encoding;
		return WD_OK;
	}
	st = wd_draft_copy(build, wd_slice_text(text), &copy, err);
	if (st == WD_OK)
		tensor->encoding = copy;
	return st;
}

static enum wd_status
read_type(struct wd_draft *build, struct wd_window *window,
    struct wd_tensor *tensor, struct wd_error *err)
{
	uint64_t at = wd_window_at(window);
	uint32_t type = wd_window_u32(window);
	uint64_t row = tensor->dims > 0 ? tensor->shape[0] : 1;
	const struct wd_encoding *encoding = wd_gguf_type(type);

	if (window->status != WD_OK)
		return window->status;
	if (encoding == NULL)
		return unknown_type(build, tensor, type, err);
	tensor->encoding = encoding->name;
	if (encoding->block == 0)
		return WD_OK;
	/* Blocks lie within a row, never across. */
	if (row % encoding->block != 0 ||
	    !wd_encoding_size(encoding, tensor->elements, &tensor->size_bytes))
		return wd_window_fail(window, WD_MALFORMED, at,
		    "a tensor's rows are no whole number of its encoding's "
		    "blocks");
	tensor->sized = true;
	return WD_OK;
}

static enum wd_status
read_tensor(struct wd_draft *build, struct wd_window *window, uint32_t file,
    uint64_t alignment, struct wd_error *err)
{
	struct wd_tensor tensor = { .file = file };
	enum wd_status st = read_name(build, window, &tensor, err);
	uint64_t at;

	if (st == WD_OK)
		st = read_shape(window, &tensor);
	if (st == WD_OK)
		st = read_type(build, window, &tensor, err);
	if (st != WD_OK)
		return st;
	at = wd_window_at(window);
	tensor.offset = wd_window_u64(window);
	if (window->status != WD_OK)
		return window->status;
	if (tensor.offset % alignment != 0)
		return wd_window_fail(window, WD_MALFORMED, at,
		    "a tensor's offset is not aligned");
	if (tensor.offset > INT64_MAX)
		return wd_window_fail(window, WD_MALFORMED, at,
		    "a tensor's offset is beyond any file");
	/* The shape is the logical one, whatever the encoding. */
	tensor.parameters = tensor.elements;
	return wd_draft_tensor(build, &tensor, err);
}

/* Makes offsets count from the start of the file. */
static enum wd_status
place_tensors(struct wd_bundle *bundle, size_t first, uint64_t data_offset,
    struct wd_error *err)
{
	size_t i;

	for (i = first; i < bundle->tensor_count; i++) {
		struct wd_tensor *tensor = &bundle->tensors[i];
		uint64_t end;

		if (!wd_add_u64(tensor->offset, data_offset, &tensor->offset) ||
		    !wd_add_u64(tensor->offset, tensor->size_bytes, &end) ||
		    end > INT64_MAX)
			return wd_fail(
			    err, WD_MALFORMED, "a tensor ends beyond any file");
	}
	return WD_OK;
}

static enum wd_status
check_end(struct wd_draft *build, uint32_t file, uint64_t end,
    uint64_t size_bytes, struct wd_error *err)
{
	struct wd_bundle_file *entry = &build->bundle->files[file];
	struct wd_slice name = { (const uint8_t *)entry->name,
		entry->name_len };
	char shown[160];

	entry->size_bytes = size_bytes;
	entry->needed_bytes = end;
	if (end <= size_bytes)
		return WD_OK;
	return wd_draft_note(build, WD_NOTE_INCOMPLETE, err,
	    "%s is cut: need %llu bytes, have %llu",
	    wd_escape_short(shown, sizeof(shown), name),
	    (unsigned long long)end, (unsigned long long)size_bytes);
}

static enum wd_status
finish_file(struct wd_draft *build, const struct wd_window *window,
    uint32_t file, size_t first, uint64_t alignment, struct wd_error *err)
{
	struct wd_bundle *bundle = build->bundle;
	uint64_t header = wd_window_at(window), data, end, unused;
	enum wd_status st;

	if (!wd_align_u64(header, alignment, &data))
		return wd_fail(err, WD_MALFORMED, "the alignment is too large");
	bundle->files[file].data_offset = data;
	st = place_tensors(bundle, first, data, err);
	if (st == WD_OK)
		st = wd_draft_layout(build, first, data, &end, &unused, err);
	if (st != WD_OK)
		return st;
	/* Without tensors nothing is behind the header, not even padding. */
	if (bundle->tensor_count == first)
		end = header;
	return check_end(build, file, end, window->source->size_bytes, err);
}

static enum wd_status
read_header(struct wd_draft *build, struct wd_window *window, uint32_t file,
    bool with_keys, struct wd_gguf_facts *facts, struct wd_error *err)
{
	size_t first = build->bundle->tensor_count;
	uint64_t tensors, keys, i;
	enum wd_status st = read_start(window, facts);

	if (st != WD_OK)
		return st;
	/* A tensor takes at least 24 bytes (nameless, without dimensions), a
	 * key 13. */
	tensors = wd_window_u64(window);
	if (check_count(window, tensors, WD_MAX_TENSORS, 24, "tensors") !=
	    WD_OK)
		return window->status;
	keys = wd_window_u64(window);
	if (check_count(window, keys, WD_MAX_GGUF_KEYS, 13, "keys") != WD_OK)
		return window->status;
	st = wd_gguf_keys(build, window, keys, with_keys, facts, err);
	for (i = 0; i < tensors && st == WD_OK; i++)
		st = read_tensor(build, window, file, facts->alignment, err);
	if (st != WD_OK)
		return st;
	return finish_file(build, window, file, first, facts->alignment, err);
}

enum wd_status
wd_gguf_read(struct wd_draft *build, const struct wd_source *source,
    uint32_t file, bool with_keys, struct wd_gguf_facts *facts,
    struct wd_error *err)
{
	struct wd_window window;
	enum wd_status st;

	*facts = (struct wd_gguf_facts){ .alignment = GGUF_DEFAULT_ALIGNMENT };
	st = wd_window_init(&window, source, WD_MAX_GGUF_HEADER, err);
	if (st != WD_OK)
		return st;
	st = read_header(build, &window, file, with_keys, facts, err);
	wd_window_release(&window);
	return st;
}
