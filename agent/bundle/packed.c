#include <string.h>

#include "base/escape.h"
#include "bundle/draft.h"

/* Endings of tensor names that only quantised bundles have. The schemes pack
 * several parameters into one stored element, or store scales beside the
 * weights; counting elements would then be wrong. */
static const char *const packed_endings[] = {
	".qweight",          /* GPTQ, AWQ */
	".qzeros",           /* GPTQ, AWQ */
	".weight_packed",    /* compressed-tensors */
	".weight_scale",     /* FP8, compressed-tensors, ModelOpt */
	".weight_scale_inv", /* FP8 by blocks */
	".absmax",           /* bitsandbytes */
	".quant_map",        /* bitsandbytes */
	".SCB",              /* bitsandbytes, 8 bits */
	"bitsandbytes__nf4",
	"bitsandbytes__fp4",
};

/* Endings of tensors that hold no parameters in a quantised bundle. */
static const char *const helper_endings[] = { ".qzeros", ".g_idx", ".scales",
	".biases", "_scales", ".weight_scale", ".weight_scale_2",
	".weight_scale_inv", ".weight_zero_point", ".weight_shape",
	".weight_g_idx", ".weight_global_scale", ".input_scale",
	".input_global_scale", ".k_scale", ".v_scale", ".absmax", ".quant_map",
	".nested_absmax", ".nested_quant_map", ".SCB", "bitsandbytes__nf4",
	"bitsandbytes__fp4" };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool
ends_with_one(
    const struct wd_tensor *tensor, const char *const *endings, size_t count)
{
	struct wd_slice name = { (const uint8_t *)tensor->name,
		tensor->name_len };
	size_t i;

	for (i = 0; i < count; i++)
		if (wd_slice_ends(name, endings[i]))
			return true;
	return false;
}

static bool
is_a(const struct wd_tensor *tensor, const char *ending, const char *encoding)
{
	struct wd_slice name = { (const uint8_t *)tensor->name,
		tensor->name_len };

	return wd_slice_ends(name, ending) &&
	    strcmp(tensor->encoding, encoding) == 0;
}

/* What the names and types of the tensors give away. */
static bool
looks_packed(const struct wd_bundle *bundle)
{
	bool scales = false, words = false;
	size_t i;

	for (i = 0; i < bundle->tensor_count; i++) {
		const struct wd_tensor *tensor = &bundle->tensors[i];

		if (ends_with_one(
			tensor, packed_endings, COUNT(packed_endings)))
			return true;
		/* MXFP4 as in gpt-oss; F8_E8M0 is a type for scales only. */
		if (is_a(tensor, "_blocks", "U8") ||
		    is_a(tensor, "", "F8_E8M0"))
			return true;
		/* MLX: U32 words in NAME.weight beside NAME.scales. */
		words |= is_a(tensor, ".weight", "U32");
		scales |= wd_slice_ends(
		    (struct wd_slice){
			(const uint8_t *)tensor->name, tensor->name_len },
		    ".scales");
	}
	return scales && words;
}

/* The member, when it is there and is neither null nor false. */
static const json_t *
member(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_null(value) || json_is_false(value) ? NULL : value;
}

static const json_t *
quantisation_in(const json_t *object)
{
	static const char *const keys[] = { "quantization_config",
		"quantization", "compression_config" };
	size_t i;

	for (i = 0; i < COUNT(keys); i++) {
		const json_t *found = member(object, keys[i]);

		if (found != NULL)
			return found;
	}
	return NULL;
}

/* The member `find` looks for, at the top or in an object below it: models
 * with several parts keep it in text_config, llm_config, ... */
static const json_t *
find_in(const json_t *config, const json_t *(*find)(const json_t *object))
{
	const json_t *found = find(config);
	json_t *same;
	void *at;

	if (found != NULL || !json_is_object(config))
		return found;
	memcpy(&same, &config, sizeof(same));
	for (at = json_object_iter(same); at != NULL && found == NULL;
	     at = json_object_iter_next(same, at))
		if (json_is_object(json_object_iter_value(at)))
			found = find(json_object_iter_value(at));
	return found;
}

static const char *
scheme_name(const json_t *quantisation, char *shown, size_t size)
{
	const char *method =
	    json_string_value(json_object_get(quantisation, "quant_method"));

	if (method == NULL)
		return quantisation == NULL ? "no config names" :
					      "not named by its config";
	return wd_escape_short(shown, size, wd_slice_text(method));
}

static void
uncount_helpers(struct wd_bundle *bundle)
{
	size_t i;

	for (i = 0; i < bundle->tensor_count; i++)
		if (ends_with_one(&bundle->tensors[i], helper_endings,
			COUNT(helper_endings)))
			bundle->tensors[i].parameters = 0;
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

enum wd_status
wd_packed_check(struct wd_draft *build, const json_t *config, bool recipe,
    struct wd_error *err)
{
	const json_t *scheme = find_in(config, quantisation_in);
	char shown[96];
	enum wd_status st = check_unknown(build, err);

	if (st != WD_OK)
		return st;
	if (scheme == NULL && !recipe && !looks_packed(build->bundle))
		return WD_OK;
	build->bundle->parameters_known = false;
	uncount_helpers(build->bundle);
	return wd_draft_note(build, WD_NOTE_UNKNOWN, err,
	    "the tensors are packed by a quantisation scheme (%s) that is not "
	    "unpacked yet; the number of parameters is not known",
	    scheme_name(scheme, shown, sizeof(shown)));
}

static const json_t *
dtype_in(const json_t *object)
{
	const json_t *value = json_object_get(object, "torch_dtype");

	return json_is_string(value) ? value : json_object_get(object, "dtype");
}

static enum wd_status
check_dtype(struct wd_draft *build, const json_t *config, struct wd_error *err)
{
	static const char *const names[][2] = { { "float16", "F16" },
		{ "bfloat16", "BF16" }, { "float32", "F32" } };
	const char *declared = json_string_value(find_in(config, dtype_in));
	const char *found = wd_draft_main_encoding(build);
	size_t i;

	if (declared == NULL || found == NULL ||
	    !build->bundle->parameters_known)
		return WD_OK;
	for (i = 0; i < COUNT(names); i++)
		if (strcmp(declared, names[i][0]) == 0 &&
		    strcmp(found, names[i][1]) != 0)
			return wd_draft_note(build, WD_NOTE_DECLARED, err,
			    "config.json says %s, but most bytes are %s",
			    declared, found);
	return WD_OK;
}

static const struct wd_tensor *
ending_with(const struct wd_bundle *bundle, const char *ending)
{
	size_t i;

	for (i = 0; i < bundle->tensor_count; i++)
		if (wd_slice_ends(
			(struct wd_slice){
			    (const uint8_t *)bundle->tensors[i].name,
			    bundle->tensors[i].name_len },
			ending))
			return &bundle->tensors[i];
	return NULL;
}

static const json_t *
tied_in(const json_t *object)
{
	const json_t *value = json_object_get(object, "tie_word_embeddings");

	return json_is_true(value) ? value : NULL;
}

/* Tied tensors count as they are stored: once when one of them is there, twice
 * when both are, and then people should know. */
static enum wd_status
check_tied(struct wd_draft *build, const json_t *config, struct wd_error *err)
{
	const struct wd_tensor *embedding, *head;

	if (find_in(config, tied_in) == NULL)
		return WD_OK;
	embedding = ending_with(build->bundle, "embed_tokens.weight");
	head = ending_with(build->bundle, "lm_head.weight");
	if (embedding == NULL || head == NULL ||
	    embedding->elements != head->elements)
		return WD_OK;
	return wd_draft_note(build, WD_NOTE_DECLARED, err,
	    "tied: tie_word_embeddings is true, yet embeddings and head are "
	    "both stored; both are counted");
}

enum wd_status
wd_declared_check(
    struct wd_draft *build, const json_t *config, struct wd_error *err)
{
	enum wd_status st = check_dtype(build, config, err);

	return st == WD_OK ? check_tied(build, config, err) : st;
}
