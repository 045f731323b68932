#include "bundle/classes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Parts of names, and what they tell; the first that is found decides, so the
 * narrow ones come first: "self_attn_layer_norm" is a norm, "experts.0.w1" is
 * no plain feed-forward, the attention of a vision tower is the tower's. A
 * part that begins with '^' stands at the name's beginning. */
static const struct {
	const char *part;
	enum wd_tensor_class class;
} parts[] = {
	{ "vision", WD_CLASS_TOWER },
	{ "visual", WD_CLASS_TOWER },
	{ "audio", WD_CLASS_TOWER },
	{ "multi_modal", WD_CLASS_TOWER },
	{ "multimodal", WD_CLASS_TOWER },
	{ "mm_projector", WD_CLASS_TOWER },
	{ "^v.", WD_CLASS_TOWER }, /* GGUF projectors */
	{ "^a.", WD_CLASS_TOWER },
	{ "^mm.", WD_CLASS_TOWER },
	{ "norm", WD_CLASS_NORM },
	{ ".ln_", WD_CLASS_NORM },
	{ ".ln1.", WD_CLASS_NORM },
	{ ".ln2.", WD_CLASS_NORM },
	{ "expert", WD_CLASS_EXPERTS },
	{ "exps", WD_CLASS_EXPERTS }, /* GGUF: ffn_up_exps, ffn_up_shexp */
	{ "shexp", WD_CLASS_EXPERTS },
	{ "switch_mlp", WD_CLASS_EXPERTS }, /* MLX */
	{ "block_sparse_moe", WD_CLASS_EXPERTS },
	{ "attn", WD_CLASS_ATTENTION },
	{ "attention", WD_CLASS_ATTENTION },
	{ "indexer", WD_CLASS_ATTENTION },
	{ "mlp", WD_CLASS_FEED_FORWARD },
	{ "ffn", WD_CLASS_FEED_FORWARD },
	{ "feed_forward", WD_CLASS_FEED_FORWARD },
	{ ".fc1.", WD_CLASS_FEED_FORWARD },
	{ ".fc2.", WD_CLASS_FEED_FORWARD },
	{ "lm_head", WD_CLASS_OUTPUT },
	{ "embed_out", WD_CLASS_OUTPUT },
	{ "shared_head.head", WD_CLASS_OUTPUT },
	{ "^output.", WD_CLASS_OUTPUT },
	{ "embd", WD_CLASS_EMBEDDING },
	{ "embed", WD_CLASS_EMBEDDING }, /* embed_tokens, word_embeddings */
	{ ".wte.", WD_CLASS_EMBEDDING },
	{ "^wte.", WD_CLASS_EMBEDDING },
};

static bool
has_part(struct wd_slice name, const char *part)
{
	if (part[0] == '^')
		return wd_slice_starts(name, part + 1);
	return memmem(name.data, name.len, part, strlen(part)) != NULL;
}

enum wd_tensor_class
wd_tensor_class(struct wd_slice name)
{
	size_t i;

	for (i = 0; i < COUNT(parts) && name.len > 0; i++)
		if (has_part(name, parts[i].part))
			return parts[i].class;
	return WD_CLASS_OTHER;
}

const char *wd_tensor_class_name(enum wd_tensor_class class)
{
	static const char *const names[] = {
		[WD_CLASS_ATTENTION] = "attention",
		[WD_CLASS_FEED_FORWARD] = "feed-forward",
		[WD_CLASS_EXPERTS] = "experts",
		[WD_CLASS_EMBEDDING] = "embedding",
		[WD_CLASS_OUTPUT] = "output",
		[WD_CLASS_NORM] = "norm",
		[WD_CLASS_TOWER] = "vision and audio",
		[WD_CLASS_OTHER] = "other",
	};

	return names[class];
}

/* The row of the class and encoding, made when it is new. Most tensors share
 * the very pointer of the name. */
static enum wd_status
row_of(struct wd_classes *classes, enum wd_tensor_class class,
    const char *encoding, struct wd_class_count **row)
{
	void *items = classes->rows;
	enum wd_status st;
	size_t i;

	for (i = 0; i < classes->count; i++) {
		const char *name = classes->rows[i].count.encoding;

		*row = &classes->rows[i];
		if ((*row)->class == class &&
		    (name == encoding || strcmp(name, encoding) == 0))
			return WD_OK;
	}
	st = wd_grow(&items, classes->count, &classes->capacity,
	    sizeof(*classes->rows), WD_MAX_ENCODINGS * WD_CLASS_COUNT);
	classes->rows = items;
	if (st != WD_OK)
		return st;
	*row = &classes->rows[classes->count++];
	**row = (struct wd_class_count){ .class = class,
		.count = { .encoding = encoding } };
	return WD_OK;
}

static enum wd_status
count_tensor(struct wd_classes *classes, const struct wd_tensor *tensor)
{
	struct wd_slice name = { (const uint8_t *)tensor->name,
		tensor->name_len };
	struct wd_class_count *row = NULL;
	enum wd_status st =
	    row_of(classes, wd_tensor_class(name), tensor->encoding, &row);

	if (st != WD_OK)
		return st;
	/* No part is larger than the whole, which was checked. */
	row->count.tensors++;
	row->count.elements += tensor->elements;
	row->count.parameters += tensor->parameters;
	row->count.size_bytes += tensor->size_bytes;
	return WD_OK;
}

static int
compare_rows(const void *a, const void *b)
{
	const struct wd_class_count *left = a, *right = b;

	if (left->class != right->class)
		return left->class < right->class ? -1 : 1;
	if (left->count.size_bytes != right->count.size_bytes)
		return left->count.size_bytes > right->count.size_bytes ? -1 :
									  1;
	return strcmp(left->count.encoding, right->count.encoding);
}

enum wd_status
wd_classes_count(const struct wd_bundle *bundle, struct wd_classes *classes,
    struct wd_error *err)
{
	enum wd_status st = WD_OK;
	size_t i;

	*classes = (struct wd_classes){ .rows = NULL };
	for (i = 0; i < bundle->tensor_count && st == WD_OK; i++)
		if (!bundle->tensors[i].helper)
			st = count_tensor(classes, &bundle->tensors[i]);
	if (st != WD_OK) {
		wd_classes_release(classes);
		return wd_fail(err, st, "no room for the tensors' classes");
	}
	if (classes->count > 0)
		qsort(classes->rows, classes->count, sizeof(*classes->rows),
		    compare_rows);
	return WD_OK;
}

void
wd_classes_release(struct wd_classes *classes)
{
	wd_free(classes->rows);
	*classes = (struct wd_classes){ .rows = NULL };
}
