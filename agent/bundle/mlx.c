#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "bundle/quant.h"

/* mlx/python/mlx/nn/layers/quantized.py, _defaults_for_mode: what a mode means
 * when bits and group are left out. */
static const struct mode {
	const char *name;
	json_int_t bits;
	json_int_t group;
	bool biases; /* and scales in a floating-point type */
} modes[] = {
	{ "affine", 4, 64, true },
	{ "mxfp4", 4, 32, false },
	{ "mxfp8", 8, 32, false },
	{ "nvfp4", 4, 16, false },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct recipe {
	const struct mode *mode;
	uint64_t bits;
	uint64_t group;
};

static const struct mode *
mode_of(const json_t *rule)
{
	const json_t *value = json_object_get(rule, "mode");
	const char *name = json_is_null(value) || value == NULL ?
	    "affine" :
	    json_string_value(value);
	size_t i;

	for (i = 0; i < COUNT(modes) && name != NULL; i++)
		if (strcmp(name, modes[i].name) == 0)
			return &modes[i];
	return NULL;
}

/* mlx_lm/utils.py, load_model: the override of a module's very path stands
 * for all of its recipe, and what it leaves out is the mode's default. False
 * in its place: the module is not quantised; true: as all others. */
static const json_t *
rule_of(const struct wd_packed *packed)
{
	const json_t *all = packed->quant->mlx;
	const json_t *one = json_object_getn(
	    all, (const char *)packed->stem.data, packed->stem.len);

	return json_is_object(one) || json_is_false(one) ? one : all;
}

/* The member as a positive number; `without` when there is none. */
static uint64_t
number_of(const json_t *rule, const char *key, json_int_t without)
{
	const json_t *value = json_object_get(rule, key);
	json_int_t number = value == NULL || json_is_null(value) ?
	    without :
	    json_integer_value(value);

	return number > 0 ? (uint64_t)number : 0;
}

static const char *
recipe_of(const struct wd_packed *packed, struct recipe *recipe)
{
	const json_t *rule = rule_of(packed);

	if (packed->quant->mlx == NULL)
		return "no MLX quantization is configured";
	if (!json_is_object(rule))
		return "the configuration says that it is not quantised";
	recipe->mode = mode_of(rule);
	if (recipe->mode == NULL)
		return "its MLX mode is not known";
	recipe->bits = number_of(rule, "bits", recipe->mode->bits);
	recipe->group = number_of(rule, "group_size", recipe->mode->group);
	if (recipe->bits < 2 || recipe->bits > 8 || recipe->bits == 7)
		return "MLX has no such number of bits";
	return NULL;
}

/* The parts must be those of the mode: affine has biases like the scales,
 * the others have scales of one byte and nothing else. */
static bool
parts_fit(const struct wd_packed *packed, const struct recipe *recipe)
{
	const struct wd_tensor *biases = wd_packed_part(packed, ".biases");

	if (!recipe->mode->biases)
		return biases == NULL && wd_tensor_bits(packed->scales) == 8;
	return biases != NULL && biases->elements == packed->scales->elements &&
	    wd_tensor_columns(biases) == wd_tensor_columns(packed->scales) &&
	    wd_tensor_bits(packed->scales) > 8;
}

/* Words of 32 bits along the last dimension: words * 32 / bits parameters,
 * which the scales must cover in groups. */
const char *
wd_unpack_mlx(const struct wd_packed *packed, struct wd_unpacked *out)
{
	struct recipe recipe = { .bits = 0 };
	const char *why = recipe_of(packed, &recipe);
	uint64_t bits, columns, covered;

	if (why != NULL)
		return why;
	if (!wd_mul_u64(wd_tensor_columns(packed->words), 32, &bits) ||
	    bits % recipe.bits != 0)
		return "its words are no whole number of parameters";
	columns = bits / recipe.bits;
	if (!wd_mul_u64(
		wd_tensor_columns(packed->scales), recipe.group, &covered) ||
	    covered != columns ||
	    wd_tensor_rows(packed->scales) != wd_tensor_rows(packed->words))
		return "its scales do not fit the configured bits and group";
	if (!parts_fit(packed, &recipe))
		return "its scales and biases are not those of the mode";
	if (!wd_mul_u64(
		wd_tensor_rows(packed->words), columns, &out->parameters))
		return "it is too large";
	(void)snprintf(out->label, sizeof(out->label), "mlx-%s-%llubit-g%llu",
	    recipe.mode->name, (unsigned long long)recipe.bits,
	    (unsigned long long)recipe.group);
	return NULL;
}
