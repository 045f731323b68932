#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "bundle/quant.h"

/* A whole number of parameters of `bits` in `words` elements of a tensor. */
static bool
unpack_length(const struct wd_tensor *tensor, uint64_t words, uint64_t bits,
    uint64_t *length)
{
	uint64_t all;

	if (!wd_mul_u64(words, wd_tensor_bits(tensor), &all) || all % bits != 0)
		return false;
	*length = all / bits;
	return true;
}

/* GPTQ: qweight [in * bits / 32, out], scales [groups, out], g_idx [in]. */
static bool
gptq_fits(const struct wd_packed *packed, const struct wd_quant_rule *rule)
{
	const struct wd_tensor *order = wd_packed_part(packed, ".g_idx");
	const struct wd_tensor *words = packed->words;
	uint64_t in;

	if (!unpack_length(words, words->shape[0], rule->bits, &in) ||
	    packed->scales->shape[1] != words->shape[1])
		return false;
	if (order != NULL && order->elements != in)
		return false;
	return wd_groups_fit(rule->group, packed->scales->shape[0], in);
}

/* AWQ, "gemm": qweight [in, out * bits / 32], scales [groups, out]. */
static bool
awq_fits(const struct wd_packed *packed, const struct wd_quant_rule *rule)
{
	const struct wd_tensor *words = packed->words;
	uint64_t out;

	return unpack_length(words, words->shape[1], rule->bits, &out) &&
	    packed->scales->shape[1] == out &&
	    wd_groups_fit(
		rule->group, packed->scales->shape[0], words->shape[0]);
}

static bool
qweight_fits(const struct wd_packed *packed, const struct wd_quant_rule *rule)
{
	if (packed->words->dims != 2 || packed->scales->dims != 2)
		return false;
	if (rule->method == WD_QUANT_GPTQ)
		return gptq_fits(packed, rule);
	return rule->method == WD_QUANT_AWQ && awq_fits(packed, rule);
}

/* compressed-tensors packs along the last dimension, 32 / bits parameters to
 * a word and no parameter over two words, padding the last word. A row's
 * length is that of g_idx, else of the groups; with one scale for a row it is
 * taken to fill its last word, which all kernels need. */
static bool
compressed_row(const struct wd_packed *packed, const struct wd_quant_rule *rule,
    uint64_t *length)
{
	const struct wd_tensor *order = wd_packed_part(packed, ".weight_g_idx");
	uint64_t groups = wd_tensor_columns(packed->scales);
	uint64_t word = wd_tensor_bits(packed->words);

	if (rule->bits > word)
		return false;
	if (order != NULL)
		*length = order->elements;
	else if (rule->group > 0)
		return wd_mul_u64(groups, (uint64_t)rule->group, length);
	else if (word % rule->bits != 0 || groups != 1)
		return false;
	else
		return wd_mul_u64(wd_tensor_columns(packed->words),
		    word / rule->bits, length);
	return wd_groups_fit(rule->group, groups, *length);
}

static bool
compressed_fits(const struct wd_packed *packed,
    const struct wd_quant_rule *rule, uint64_t *length)
{
	const struct wd_tensor *words = packed->words;
	uint64_t a_word, needed;
	bool one_scale = packed->scales->elements == 1;

	if (rule->method != WD_QUANT_COMPRESSED ||
	    !compressed_row(packed, rule, length))
		return false;
	a_word = wd_tensor_bits(words) / rule->bits;
	needed = *length / a_word + (*length % a_word != 0);
	return needed == wd_tensor_columns(words) &&
	    (one_scale ||
		wd_tensor_rows(packed->scales) == wd_tensor_rows(words));
}

static const char *
none_fits(const struct wd_quant *quant, unsigned wanted)
{
	return (quant->methods & wanted) == 0 ?
	    "no scheme with such tensors is configured" :
	    "its shapes fit none of the configured bits and groups";
}

static const char *
several_fit(void)
{
	return "its shapes fit several of the configured bits and groups";
}

/* All rules that fit must agree on the bits; a group that is not certain is not
 * named. */
const char *
wd_unpack_qweight(const struct wd_packed *packed, struct wd_unpacked *out)
{
	const struct wd_quant_rule *found = NULL;
	char group[WD_GROUP_BYTES];
	bool same_group = true;
	size_t i;

	for (i = 0; i < packed->quant->rule_count; i++) {
		const struct wd_quant_rule *rule = &packed->quant->rules[i];

		if (!qweight_fits(packed, rule))
			continue;
		if (found != NULL && found->bits != rule->bits)
			return several_fit();
		same_group &= found == NULL || found->group == rule->group;
		found = rule;
	}
	if (found == NULL)
		return none_fits(
		    packed->quant, 1U << WD_QUANT_GPTQ | 1U << WD_QUANT_AWQ);
	if (!unpack_length(packed->words, packed->words->elements, found->bits,
		&out->parameters))
		return "it is too large";
	(void)snprintf(out->label, sizeof(out->label), "%s-%llubit%s",
	    found->method == WD_QUANT_GPTQ ? "gptq" : "awq",
	    (unsigned long long)found->bits,
	    wd_group_name(same_group ? found->group : 0, group));
	return NULL;
}

/* Words of bytes hold floating-point parameters of 4 bits, in groups of 16
 * (NVFP4) or 32 (MXFP4). */
static void
name_compressed(const struct wd_packed *packed,
    const struct wd_quant_rule *rule, struct wd_unpacked *out)
{
	char group[WD_GROUP_BYTES];

	(void)wd_group_name(rule->group, group);
	if (!rule->floating)
		(void)snprintf(out->label, sizeof(out->label),
		    "ct-pack-%llubit%s", (unsigned long long)rule->bits, group);
	else
		(void)snprintf(out->label, sizeof(out->label), "ct-%s%s",
		    wd_tensor_is(packed->scales, "F8_E4M3") ? "nvfp4" : "mxfp4",
		    group);
}

const char *
wd_unpack_compressed(const struct wd_packed *packed, struct wd_unpacked *out)
{
	const struct wd_quant_rule *found = NULL;
	uint64_t length = 0, fits;
	size_t i;

	for (i = 0; i < packed->quant->rule_count; i++) {
		const struct wd_quant_rule *rule = &packed->quant->rules[i];

		if (!compressed_fits(packed, rule, &fits))
			continue;
		if (found != NULL)
			return several_fit();
		found = rule;
		length = fits;
	}
	if (found == NULL)
		return none_fits(packed->quant, 1U << WD_QUANT_COMPRESSED);
	if (!wd_mul_u64(
		wd_tensor_rows(packed->words), length, &out->parameters))
		return "it is too large";
	name_compressed(packed, found, out);
	return NULL;
}
