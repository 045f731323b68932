#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "bundle/quant.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* What `quant_method` calls them. */
static const struct {
	const char *name;
	enum wd_quant_method method;
} methods[] = {
	{ "gptq", WD_QUANT_GPTQ },
	{ "gptqmodel", WD_QUANT_GPTQ },
	{ "auto-round", WD_QUANT_GPTQ },
	{ "intel/auto-round", WD_QUANT_GPTQ },
	{ "awq", WD_QUANT_AWQ },
	{ "compressed-tensors", WD_QUANT_COMPRESSED },
	{ "fp8", WD_QUANT_FP8 },
	{ "fbgemm_fp8", WD_QUANT_FP8 },
	{ "bitsandbytes", WD_QUANT_BITSANDBYTES },
	{ "mxfp4", WD_QUANT_MXFP4 },
	{ "modelopt", WD_QUANT_MODELOPT },
	{ "modelopt_fp4", WD_QUANT_MODELOPT },
	{ "bitnet", WD_QUANT_BITNET },
};

/* The file or member in which a scheme stands; some are told by that alone. */
enum place {
	IN_CONFIG,        /* quantization_config, compression_config */
	IN_MLX,           /* quantization */
	IN_GPTQ_FILE,     /* quantize_config.json */
	IN_AWQ_FILE,      /* quant_config.json */
	IN_MODELOPT_FILE, /* hf_quant_config.json */
};

/* The member, when it is there and is neither null nor false. */
static const json_t *
member(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_null(value) || json_is_false(value) ? NULL : value;
}

static const char *
text_in(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text == NULL ? "" : text;
}

static void
other(struct wd_quant *quant, const char *name)
{
	quant->methods |= 1U << WD_QUANT_OTHER;
	if (quant->other[0] == '\0')
		(void)wd_escape_short(
		    quant->other, sizeof(quant->other), wd_slice_text(name));
}

/* The first of two members that is an integer; 0 without. */
static json_int_t
number_in(const json_t *object, const char *key, const char *old_key)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_integer(value))
		value = json_object_get(object, old_key);
	return json_integer_value(value);
}

/* Each pair of bits and group once. What no scheme has is left out, so that
 * nothing fits it. */
static void
add_rule(struct wd_quant *quant, struct wd_quant_rule rule, json_int_t bits)
{
	size_t i;

	if (bits < 1 || bits > 16 || rule.group < -1)
		return;
	rule.bits = (uint64_t)bits;
	for (i = 0; i < quant->rule_count; i++) {
		const struct wd_quant_rule *old = &quant->rules[i];

		if (old->method == rule.method && old->bits == rule.bits &&
		    old->group == rule.group && old->floating == rule.floating)
			return;
	}
	if (quant->rule_count == COUNT(quant->rules)) {
		other(quant, "more rules than are read");
		return;
	}
	quant->rules[quant->rule_count++] = rule;
}

static struct wd_quant_rule
rule_of(enum wd_quant_method method, json_int_t group)
{
	return (struct wd_quant_rule){ .method = method, .group = group };
}

/* Bits and group of one layer or pattern; what it leaves out is as for all. */
static void
add_override(struct wd_quant *quant, enum wd_quant_method method,
    const json_t *all, const json_t *one)
{
	json_int_t bits = number_in(one, "bits", "w_bit");
	json_int_t group = number_in(one, "group_size", "q_group_size");

	if (!json_is_object(one))
		return;
	if (bits == 0)
		bits = number_in(all, "bits", "w_bit");
	if (group == 0)
		group = number_in(all, "group_size", "q_group_size");
	add_rule(quant, rule_of(method, group), bits);
}

/* GPTQModel keeps patterns under "dynamic", AutoRound layers under
 * "extra_config". */
static void
read_words(
    struct wd_quant *quant, enum wd_quant_method method, const json_t *scheme)
{
	static const char *const keys[] = { "dynamic", "extra_config" };
	json_t *overrides;
	size_t i;
	void *at;

	add_override(quant, method, scheme, scheme);
	for (i = 0; i < COUNT(keys); i++) {
		overrides = json_object_get(scheme, keys[i]);
		for (at = json_object_iter(overrides); at != NULL;
		     at = json_object_iter_next(overrides, at))
			add_override(
			    quant, method, scheme, json_object_iter_value(at));
	}
}

/* The formats that store one weight in one tensor of words or elements; those
 * for sparse weights are not unpacked. */
static bool
known_format(const char *format)
{
	static const char *const known[] = { "", "dense", "pack-quantized",
		"int-quantized", "float-quantized", "naive-quantized",
		"nvfp4-pack-quantized", "mxfp4-pack-quantized",
		"mxfp8-quantized", "mixed-precision" };
	size_t i;

	for (i = 0; i < COUNT(known); i++)
		if (strcmp(format, known[i]) == 0)
			return true;
	return false;
}

static void
read_group(struct wd_quant *quant, const json_t *group)
{
	const json_t *weights = json_object_get(group, "weights");
	struct wd_quant_rule rule = rule_of(WD_QUANT_COMPRESSED,
	    json_integer_value(json_object_get(weights, "group_size")));
	const char *strategy = text_in(weights, "strategy");

	if (!known_format(text_in(group, "format")))
		other(quant, text_in(group, "format"));
	if (strcmp(strategy, "channel") == 0 ||
	    strcmp(strategy, "tensor") == 0 ||
	    (*strategy == '\0' && rule.group == 0))
		rule.group = -1;
	rule.floating = strcmp(text_in(weights, "type"), "float") == 0;
	add_rule(quant, rule,
	    json_integer_value(json_object_get(weights, "num_bits")));
}

static void
read_compressed(struct wd_quant *quant, const json_t *scheme)
{
	json_t *groups = json_object_get(scheme, "config_groups");
	const json_t *sparsity = json_object_get(scheme, "sparsity_config");
	void *at;

	if (!known_format(text_in(scheme, "format")))
		other(quant, text_in(scheme, "format"));
	if (!known_format(text_in(sparsity, "format")))
		other(quant, text_in(sparsity, "format"));
	for (at = json_object_iter(groups); at != NULL;
	     at = json_object_iter_next(groups, at))
		read_group(quant, json_object_iter_value(at));
}

static void
read_blocks(struct wd_quant *quant, const json_t *scheme)
{
	const json_t *block = json_object_get(scheme, "weight_block_size");
	json_int_t rows = json_integer_value(json_array_get(block, 0));
	json_int_t columns = json_integer_value(json_array_get(block, 1));

	if (json_array_size(block) != 2 || rows < 1 || columns < 1)
		return;
	quant->block[0] = (uint64_t)rows;
	quant->block[1] = (uint64_t)columns;
}

static enum wd_quant_method
method_by_name(const char *name)
{
	size_t i;

	for (i = 0; i < COUNT(methods); i++)
		if (strcmp(name, methods[i].name) == 0)
			return methods[i].method;
	return WD_QUANT_OTHER;
}

/* MLX writes its object twice, the second time as quantization_config, and
 * names no method; before 2023's end bitsandbytes did not name itself. */
static enum wd_quant_method
method_by_place(const json_t *scheme, enum place place)
{
	if (place == IN_GPTQ_FILE)
		return WD_QUANT_GPTQ;
	if (place == IN_AWQ_FILE)
		return WD_QUANT_AWQ;
	if (place == IN_MODELOPT_FILE)
		return WD_QUANT_MODELOPT;
	if (member(scheme, "load_in_4bit") != NULL ||
	    member(scheme, "load_in_8bit") != NULL)
		return WD_QUANT_BITSANDBYTES;
	if (json_is_integer(json_object_get(scheme, "group_size")) &&
	    json_is_integer(json_object_get(scheme, "bits")))
		return WD_QUANT_MLX;
	return place == IN_MLX &&
		json_is_string(json_object_get(scheme, "mode")) ?
	    WD_QUANT_MLX :
	    WD_QUANT_OTHER;
}

static void
read_method(
    struct wd_quant *quant, const json_t *scheme, enum wd_quant_method method)
{
	quant->methods |= 1U << method;
	if (method == WD_QUANT_MLX && quant->mlx == NULL)
		quant->mlx = scheme;
	if (method == WD_QUANT_GPTQ || method == WD_QUANT_AWQ)
		read_words(quant, method, scheme);
	if (method == WD_QUANT_COMPRESSED)
		read_compressed(quant, scheme);
	if (method == WD_QUANT_FP8)
		read_blocks(quant, scheme);
}

/* AutoRound packs as GPTQ does, or says that it packs as AWQ does. */
static bool
packs_as_awq(const json_t *scheme)
{
	return strstr(text_in(scheme, "packing_format"), "awq") != NULL;
}

static void
read_scheme(struct wd_quant *quant, const json_t *scheme, enum place place)
{
	const char *name = text_in(scheme, "quant_method");
	enum wd_quant_method method = *name == '\0' ?
	    method_by_place(scheme, place) :
	    method_by_name(name);

	if (method == WD_QUANT_GPTQ && packs_as_awq(scheme))
		method = WD_QUANT_AWQ;
	if (method == WD_QUANT_OTHER)
		other(quant, *name == '\0' ? "not named by its config" : name);
	else
		read_method(quant, scheme, method);
}

static void
read_object(struct wd_quant *quant, const json_t *object)
{
	const json_t *mlx = member(object, "quantization");
	const json_t *config = member(object, "quantization_config");
	const json_t *old = member(object, "compression_config");

	if (mlx != NULL)
		read_scheme(quant, mlx, IN_MLX);
	/* The copy that MLX makes. */
	if (config != NULL && (mlx == NULL || !json_equal(mlx, config)))
		read_scheme(quant, config, IN_CONFIG);
	if (old != NULL)
		read_scheme(quant, old, IN_CONFIG);
}

/* Models with several parts keep it in text_config, or one level deeper in
 * thinker_config.text_config. */
static void
read_config(struct wd_quant *quant, json_t *config)
{
	json_t *part, *inner;
	void *at, *in;

	read_object(quant, config);
	for (at = json_object_iter(config); at != NULL;
	     at = json_object_iter_next(config, at)) {
		part = json_object_iter_value(at);
		read_object(quant, part);
		for (in = json_object_iter(part); in != NULL;
		     in = json_object_iter_next(part, in)) {
			inner = json_object_iter_value(in);
			read_object(quant, inner);
		}
	}
}

void
wd_quant_read(struct wd_quant *quant, const struct wd_hub_trees *trees)
{
	const json_t *inner =
	    member(trees->trees[WD_TREE_MODELOPT], "quantization");

	memset(quant, 0, sizeof(*quant));
	read_config(quant, trees->trees[WD_TREE_CONFIG]);
	if (trees->trees[WD_TREE_GPTQ] != NULL)
		read_scheme(quant, trees->trees[WD_TREE_GPTQ], IN_GPTQ_FILE);
	if (trees->trees[WD_TREE_AWQ] != NULL)
		read_scheme(quant, trees->trees[WD_TREE_AWQ], IN_AWQ_FILE);
	if (inner != NULL)
		read_scheme(quant, inner, IN_MODELOPT_FILE);
}
