/* A header as the usual writers write it, without a tree of its JSON. All that
 * is found here is what the tree would have given; whatever is unusual or wrong
 * is left to it (safetensors.c). */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "bundle/plain_json.h"
#include "bundle/safetensors.h"

/* Which members of a tensor were there. */
enum { HAS_DTYPE = 1, HAS_SHAPE = 2, HAS_OFFSETS = 4, HAS_ALL = 7 };

struct header {
	struct wd_plain text;
	struct wd_draft *build;
	uint64_t data_offset;
	uint32_t file;
	struct wd_error *err;
};

static void
read_shape(struct header *header, struct wd_tensor *tensor)
{
	struct wd_plain *text = &header->text;
	uint64_t dim;

	wd_plain_expect(text, '[');
	tensor->elements = 1;
	if (wd_plain_take(text, ']'))
		return;
	do {
		dim = wd_plain_number(text);
		if (!text->plain || tensor->dims == WD_MAX_TENSOR_DIMS ||
		    !wd_mul_u64(tensor->elements, dim, &tensor->elements) ||
		    tensor->elements > INT64_MAX) {
			text->plain = false;
			return;
		}
		tensor->shape[tensor->dims++] = dim;
	} while (wd_plain_take(text, ','));
	wd_plain_expect(text, ']');
}

static void
read_offsets(struct header *header, struct wd_tensor *tensor)
{
	struct wd_plain *text = &header->text;
	uint64_t from, to;

	wd_plain_expect(text, '[');
	from = wd_plain_number(text);
	wd_plain_expect(text, ',');
	to = wd_plain_number(text);
	wd_plain_expect(text, ']');
	text->plain &= from <= to;
	tensor->offset = header->data_offset + from;
	tensor->size_bytes = to - from;
	tensor->sized = true;
}

static unsigned
read_member(struct header *header, struct wd_tensor *tensor,
    const struct wd_encoding **encoding)
{
	struct wd_plain *text = &header->text;
	struct wd_slice key = wd_plain_string(text);

	wd_plain_expect(text, ':');
	if (wd_slice_equal(key, wd_slice_text("dtype"))) {
		*encoding = wd_safetensors_dtype(wd_plain_string(text));
		return HAS_DTYPE;
	}
	if (wd_slice_equal(key, wd_slice_text("shape"))) {
		read_shape(header, tensor);
		return HAS_SHAPE;
	}
	if (wd_slice_equal(key, wd_slice_text("data_offsets"))) {
		read_offsets(header, tensor);
		return HAS_OFFSETS;
	}
	text->plain = false;
	return 0;
}

static enum wd_status
read_tensor(struct header *header, struct wd_slice name)
{
	struct wd_plain *text = &header->text;
	struct wd_tensor tensor = { .file = header->file };
	const struct wd_encoding *encoding = NULL;
	unsigned seen = 0, member;
	uint64_t size;
	enum wd_status st;
	char *copy;

	wd_plain_expect(text, '{');
	do {
		member = read_member(header, &tensor, &encoding);
		text->plain &= (seen & member) == 0;
		seen |= member;
	} while (text->plain && wd_plain_take(text, ','));
	wd_plain_expect(text, '}');
	if (!text->plain || seen != HAS_ALL || encoding == NULL ||
	    name.len > WD_MAX_TENSOR_NAME ||
	    !wd_encoding_size(encoding, tensor.elements, &size) ||
	    size != tensor.size_bytes) {
		text->plain = false;
		return WD_OK;
	}
	st = wd_draft_escaped(header->build, name, &copy, header->err);
	if (st != WD_OK)
		return st;
	tensor.name = copy;
	tensor.name_len = name.len;
	tensor.encoding = encoding->name;
	tensor.parameters = tensor.elements;
	return wd_draft_tensor(header->build, &tensor, header->err);
}

static int
compare_names(const void *a, const void *b)
{
	const struct wd_tensor *left = *(const struct wd_tensor *const *)a;
	const struct wd_tensor *right = *(const struct wd_tensor *const *)b;

	return strcmp(left->name, right->name);
}

/* A name that stands twice is for the tree to refuse. */
static enum wd_status
check_names(struct header *header, size_t first)
{
	WD_CLEANUP(wd_free_scoped) const struct wd_tensor **sorted = NULL;
	const struct wd_bundle *bundle = header->build->bundle;
	size_t count = bundle->tensor_count - first, i;

	sorted = wd_calloc(count, sizeof(struct wd_tensor *));
	if (sorted == NULL)
		return wd_fail(
		    header->err, WD_NOMEM, "no memory for the header");
	for (i = 0; i < count; i++)
		sorted[i] = &bundle->tensors[first + i];
	qsort(sorted, count, sizeof(struct wd_tensor *), compare_names);
	for (i = 1; i < count; i++)
		header->text.plain &=
		    compare_names(&sorted[i - 1], &sorted[i]) != 0;
	return WD_OK;
}

static enum wd_status
read_entries(struct header *header, struct wd_slice *metadata)
{
	struct wd_plain *text = &header->text;
	enum wd_status st = WD_OK;

	wd_plain_expect(text, '{');
	do {
		struct wd_slice name = wd_plain_string(text);

		wd_plain_expect(text, ':');
		if (!text->plain)
			return WD_OK;
		if (!wd_slice_equal(name, wd_slice_text("__metadata__"))) {
			st = read_tensor(header, name);
			continue;
		}
		text->plain &= metadata->len == 0;
		*metadata = wd_plain_object(text);
	} while (st == WD_OK && text->plain && wd_plain_take(text, ','));
	wd_plain_expect(text, '}');
	wd_plain_end(text);
	return st;
}

enum wd_status
wd_safetensors_plain(struct wd_draft *build, struct wd_slice text,
    uint64_t data_offset, uint32_t file, struct wd_slice *metadata, bool *plain,
    struct wd_error *err)
{
	struct wd_draft_mark mark = wd_draft_mark(build);
	struct header header = { { text, true }, build, data_offset, file,
		err };
	enum wd_status st;

	*metadata = (struct wd_slice){ NULL, 0 };
	st = read_entries(&header, metadata);
	if (st == WD_OK && header.text.plain)
		st = check_names(&header, mark.tensors);
	*plain = header.text.plain;
	if (st == WD_OK && !*plain)
		wd_draft_back(build, &mark);
	return st;
}
