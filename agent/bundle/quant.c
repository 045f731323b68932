#include "bundle/quant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A name in two halves against a tensor's. */
struct halves {
	struct wd_slice stem;
	struct wd_slice ending;
};

static int
compare_name(const void *key, const void *item)
{
	const struct halves *name = key;
	const struct wd_tensor *tensor = item;
	struct wd_slice front = { (const uint8_t *)tensor->name,
		tensor->name_len };
	struct wd_slice back = { NULL, 0 };
	int order;

	if (front.len > name->stem.len) {
		back.data = front.data + name->stem.len;
		back.len = front.len - name->stem.len;
		front.len = name->stem.len;
	}
	order = wd_slice_compare(name->stem, front);
	return order != 0 ? order : wd_slice_compare(name->ending, back);
}

const struct wd_tensor *
wd_packed_find(
    const struct wd_bundle *bundle, struct wd_slice stem, const char *ending)
{
	struct halves name = { stem, wd_slice_text(ending) };

	if (bundle->tensor_count == 0)
		return NULL;
	return bsearch(&name, bundle->tensors, bundle->tensor_count,
	    sizeof(*bundle->tensors), compare_name);
}

const struct wd_tensor *
wd_packed_part(const struct wd_packed *packed, const char *ending)
{
	return wd_packed_find(packed->bundle, packed->stem, ending);
}

uint64_t
wd_tensor_columns(const struct wd_tensor *tensor)
{
	return tensor->dims == 0 ? 1 : tensor->shape[tensor->dims - 1];
}

uint64_t
wd_tensor_rows(const struct wd_tensor *tensor)
{
	uint64_t columns = wd_tensor_columns(tensor);

	return columns == 0 ? 0 : tensor->elements / columns;
}

uint64_t
wd_tensor_bits(const struct wd_tensor *tensor)
{
	const struct wd_encoding *encoding =
	    wd_safetensors_dtype(wd_slice_text(tensor->encoding));

	return encoding == NULL ? 0 : encoding->bits;
}

bool
wd_tensor_is(const struct wd_tensor *tensor, const char *encoding)
{
	return strcmp(tensor->encoding, encoding) == 0;
}

bool
wd_groups_fit(int64_t group, uint64_t count, uint64_t length)
{
	uint64_t size = (uint64_t)group;

	if (group == -1)
		return count == 1;
	return group > 0 && count == length / size + (length % size != 0);
}

const char *
wd_group_name(int64_t group, char out[WD_GROUP_BYTES])
{
	if (group > 0)
		(void)snprintf(out, WD_GROUP_BYTES, "-g%lld", (long long)group);
	else
		(void)snprintf(
		    out, WD_GROUP_BYTES, "%s", group < 0 ? "-channel" : "");
	return out;
}

/* How each scheme names its words, its scales and the rest; the first layout
 * whose two tensors are there is the weight's. */
static const struct layout {
	const char *ending; /* of the words; the rest of the name is the stem */
	const char *scales; /* stem and this */
	const char *encoding; /* of the words; NULL: see `scaled` */
	wd_unpack *unpack;
	const char *parts[6]; /* besides the scales */
} layouts[] = {
	{ ".qweight", ".scales", NULL, wd_unpack_qweight,
	    { ".qzeros", ".g_idx" } },
	{ ".weight_packed", ".weight_scale", NULL, wd_unpack_compressed,
	    { ".weight_zero_point", ".weight_shape", ".weight_g_idx",
		".weight_global_scale" } },
	{ "_blocks", "_scales", "U8", wd_unpack_blocks, { NULL } },
	{ ".weight", ".scales", "U32", wd_unpack_mlx, { ".biases" } },
	{ "", ".absmax", NULL, wd_unpack_nibbles,
	    { ".quant_map", ".nested_absmax", ".nested_quant_map",
		".quant_state.bitsandbytes__nf4",
		".quant_state.bitsandbytes__fp4" } },
	{ ".weight", ".SCB", "I8", wd_unpack_bytes, { ".weight_format" } },
	{ "", "_scale_inv", "", wd_unpack_scaled, { NULL } },
	{ "", "_scale", "", wd_unpack_scaled,
	    { "_scale_2", "_zero_point", "_scale_inv" } },
};

/* What stands beside a quantised weight whatever its layout is: scales of
 * activations and of the cache. */
static const char *const beside_endings[] = { ".input_scale", ".input_scale_ub",
	".input_global_scale", ".input_zero_point", ".output_scale",
	".pre_quant_scale", ".k_scale", ".v_scale", ".q_scale", ".kv_scale",
	".prob_scale" };

/* Only quantised bundles have these. One that belongs to no weight is a sign
 * of a scheme that was not understood. */
static const char *const left_endings[] = { ".qweight", ".qzeros",
	".weight_packed", ".weight_scale", ".weight_scale_inv", ".absmax",
	".quant_map", ".SCB", "bitsandbytes__nf4", "bitsandbytes__fp4" };

/* Of no parameters, even where the scheme was not understood. */
static const char *const scale_endings[] = { ".qzeros", ".g_idx", ".scales",
	".biases", "_scales", ".weight_scale", ".weight_scale_2",
	".weight_scale_inv", ".weight_zero_point", ".weight_shape",
	".weight_g_idx", ".weight_global_scale", ".absmax", ".quant_map",
	".nested_absmax", ".nested_quant_map", ".SCB", "bitsandbytes__nf4",
	"bitsandbytes__fp4" };

static struct wd_slice
name_of(const struct wd_tensor *tensor)
{
	return (
	    struct wd_slice){ (const uint8_t *)tensor->name, tensor->name_len };
}

static bool
ends_with_one(
    const struct wd_tensor *tensor, const char *const *endings, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (wd_slice_ends(name_of(tensor), endings[i]))
			return true;
	return false;
}

/* What has become of a tensor so far. */
enum state { STATE_PLAIN, STATE_WEIGHT, STATE_PART, STATE_LOST };

struct walk {
	struct wd_draft *build;
	struct wd_bundle *bundle;
	struct wd_quant quant;
	uint8_t *states; /* one for each tensor */
	uint64_t weights;
	uint64_t lost;
	const char *first_lost; /* its name, escaped */
	const char *why;
	char *labels[32]; /* kept already, so that most cost no memory */
	size_t label_count;
	struct wd_error *err;
};

static enum wd_status
keep_label(struct walk *walk, const char *text, const char **kept)
{
	char *copy;
	enum wd_status st;
	size_t i;

	for (i = 0; i < walk->label_count; i++) {
		*kept = walk->labels[i];
		if (strcmp(*kept, text) == 0)
			return WD_OK;
	}
	st = wd_draft_copy(walk->build, wd_slice_text(text), &copy, walk->err);
	if (st != WD_OK)
		return st;
	*kept = copy;
	if (walk->label_count < COUNT(walk->labels))
		walk->labels[walk->label_count++] = copy;
	return WD_OK;
}

/* Types of which one element and a scale make one parameter or several. */
static bool
may_be_scaled(const struct wd_tensor *tensor)
{
	return wd_tensor_is(tensor, "U8") || wd_tensor_is(tensor, "I8") ||
	    strncmp(tensor->encoding, "F8_", 3) == 0;
}

static bool
fits_layout(const struct wd_tensor *tensor, const struct layout *layout)
{
	if (!wd_slice_ends(name_of(tensor), layout->ending))
		return false;
	if (layout->encoding == NULL)
		return layout->ending[0] != '\0' || tensor->dims <= 2;
	return layout->encoding[0] == '\0' ?
	    may_be_scaled(tensor) :
	    wd_tensor_is(tensor, layout->encoding);
}

static const struct layout *
layout_of(const struct wd_tensor *tensor, struct wd_packed *packed)
{
	size_t i;

	for (i = 0; i < COUNT(layouts); i++) {
		if (!fits_layout(tensor, &layouts[i]))
			continue;
		packed->stem = name_of(tensor);
		packed->stem.len -= strlen(layouts[i].ending);
		packed->scales = wd_packed_part(packed, layouts[i].scales);
		if (packed->scales != NULL)
			return &layouts[i];
	}
	return NULL;
}

static void
take_part(struct walk *walk, const struct wd_tensor *part)
{
	size_t at;

	if (part == NULL)
		return;
	at = (size_t)(part - walk->bundle->tensors);
	walk->states[at] = STATE_PART;
	walk->bundle->tensors[at].parameters = 0;
	walk->bundle->tensors[at].helper = true;
}

static void
lose(struct walk *walk, size_t at, const char *why)
{
	walk->states[at] = STATE_LOST;
	if (walk->lost++ > 0)
		return;
	walk->first_lost = walk->bundle->tensors[at].name;
	walk->why = why;
}

static enum wd_status
unpack(struct walk *walk, size_t at)
{
	struct wd_tensor *tensor = &walk->bundle->tensors[at];
	struct wd_packed packed = {
		.bundle = walk->bundle, .quant = &walk->quant, .words = tensor
	};
	const struct layout *layout = layout_of(tensor, &packed);
	struct wd_unpacked out = { .parameters = 0 };
	const char *why;
	size_t i;

	if (layout == NULL)
		return WD_OK;
	why = layout->unpack(&packed, &out);
	take_part(walk, packed.scales);
	for (i = 0; i < COUNT(layout->parts) && layout->parts[i] != NULL; i++)
		take_part(walk, wd_packed_part(&packed, layout->parts[i]));
	if (why != NULL) {
		lose(walk, at, why);
		return WD_OK;
	}
	walk->weights++;
	walk->states[at] = STATE_WEIGHT;
	tensor->parameters = out.parameters;
	return keep_label(walk, out.label, &tensor->encoding);
}

static enum wd_status
unpack_all(struct walk *walk)
{
	enum wd_status st = WD_OK;
	size_t i;

	for (i = 0; i < walk->bundle->tensor_count && st == WD_OK; i++)
		if (walk->states[i] == STATE_PLAIN)
			st = unpack(walk, i);
	return st;
}

static void
take_beside(struct walk *walk)
{
	size_t i;

	if (walk->quant.methods == 0 && walk->weights == 0)
		return;
	for (i = 0; i < walk->bundle->tensor_count; i++)
		if (walk->states[i] == STATE_PLAIN &&
		    ends_with_one(&walk->bundle->tensors[i], beside_endings,
			COUNT(beside_endings)))
			take_part(walk, &walk->bundle->tensors[i]);
}

/* Whole numbers in a matrix are words of something, once the configuration
 * says that there is a scheme. */
static bool
is_matrix_of_words(const struct wd_tensor *tensor)
{
	static const char *const words[] = { "U8", "I8", "U16", "I16", "U32",
		"I32" };
	size_t i;

	for (i = 0; i < COUNT(words) && tensor->dims >= 2; i++)
		if (wd_tensor_is(tensor, words[i]))
			return true;
	return false;
}

/* MLX's words without a configuration are left to its layout; F8_E8M0 is a
 * type for scales only. */
static bool
is_left(const struct walk *walk, const struct wd_tensor *tensor)
{
	return ends_with_one(tensor, left_endings, COUNT(left_endings)) ||
	    wd_tensor_is(tensor, "F8_E8M0") ||
	    (wd_slice_ends(name_of(tensor), "_blocks") &&
		wd_tensor_is(tensor, "U8")) ||
	    (walk->quant.methods != 0 && is_matrix_of_words(tensor));
}

static void
find_left(struct walk *walk)
{
	size_t i;

	for (i = 0; i < walk->bundle->tensor_count; i++)
		if (walk->states[i] == STATE_PLAIN &&
		    is_left(walk, &walk->bundle->tensors[i]))
			lose(walk, i, "nothing tells what it belongs to");
}

static void
uncount_scales(struct wd_bundle *bundle)
{
	size_t i;

	for (i = 0; i < bundle->tensor_count; i++)
		if (ends_with_one(&bundle->tensors[i], scale_endings,
			COUNT(scale_endings))) {
			bundle->tensors[i].parameters = 0;
			bundle->tensors[i].helper = true;
		}
}

static enum wd_status
tell(struct walk *walk)
{
	char shown[WD_SHORT_BYTES];
	enum wd_status st = WD_OK;

	if (walk->quant.other[0] != '\0')
		st = wd_draft_note(walk->build, WD_NOTE_UNKNOWN, walk->err,
		    "the tensors are packed by a quantisation scheme (%s) that "
		    "is not known; the number of parameters is not known",
		    walk->quant.other);
	if (st == WD_OK && walk->lost > 0)
		st = wd_draft_note(walk->build, WD_NOTE_UNKNOWN, walk->err,
		    "%llu packed tensors cannot be unpacked, such as %s: %s; "
		    "the number of parameters is not known",
		    (unsigned long long)walk->lost,
		    wd_draft_short(shown, walk->first_lost), walk->why);
	return st;
}

static enum wd_status
conclude(struct walk *walk)
{
	if (walk->quant.other[0] != '\0' || walk->lost > 0) {
		walk->bundle->parameters_known = false;
		uncount_scales(walk->bundle);
		return tell(walk);
	}
	if (walk->quant.methods == 0 || walk->weights > 0)
		return WD_OK;
	return wd_draft_note(walk->build, WD_NOTE_DECLARED, walk->err,
	    "the configuration names a quantisation scheme, but no tensor is "
	    "packed");
}

/* A dtype of which nobody knows how many parameters an element holds. */
static enum wd_status
check_unknown(struct wd_draft *build, struct wd_error *err)
{
	const struct wd_bundle *bundle = build->bundle;
	uint64_t count = 0;
	const char *first = NULL;
	size_t i;

	for (i = 0; i < bundle->tensor_count; i++) {
		if (strncmp(bundle->tensors[i].encoding, "unknown(", 8) != 0)
			continue;
		if (count++ == 0)
			first = bundle->tensors[i].encoding;
	}
	if (count == 0)
		return WD_OK;
	build->bundle->parameters_known = false;
	return wd_draft_note(build, WD_NOTE_UNKNOWN, err,
	    "%llu tensors have a dtype that is not known, such as %s; the "
	    "number of parameters is not known",
	    (unsigned long long)count, first);
}

static enum wd_status
walk_tensors(struct walk *walk)
{
	enum wd_status st;

	/* What an unknown scheme means by its names is not known either. */
	if (walk->quant.other[0] != '\0')
		return conclude(walk);
	st = unpack_all(walk);
	if (st != WD_OK)
		return st;
	take_beside(walk);
	find_left(walk);
	return conclude(walk);
}

enum wd_status
wd_packed_check(struct wd_draft *build, const struct wd_hub_trees *trees,
    struct wd_error *err)
{
	struct walk walk = {
		.build = build, .bundle = build->bundle, .err = err
	};
	enum wd_status st = check_unknown(build, err);

	if (st == WD_OK)
		st = wd_draft_order(build, err);
	if (st != WD_OK)
		return st;
	wd_quant_read(&walk.quant, trees);
	walk.states = wd_calloc(build->bundle->tensor_count + 1, 1);
	if (walk.states == NULL)
		return wd_fail(err, WD_NOMEM, "no memory for the tensors");
	st = walk_tensors(&walk);
	wd_free(walk.states);
	return st;
}
