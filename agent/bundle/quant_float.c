#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "bundle/quant.h"

static bool
configured(const struct wd_packed *packed, enum wd_quant_method method)
{
	return (packed->quant->methods & 1U << method) != 0;
}

static const char *
label(struct wd_unpacked *out, const char *text)
{
	(void)snprintf(out->label, sizeof(out->label), "%s", text);
	return NULL;
}

/* gpt-oss: NAME_blocks [.., groups, 16] holds two parameters in each byte,
 * NAME_scales [.., groups] one scale for each 32 of them. */
const char *
wd_unpack_blocks(const struct wd_packed *packed, struct wd_unpacked *out)
{
	const struct wd_tensor *words = packed->words;

	if (!configured(packed, WD_QUANT_MXFP4))
		return "no scheme with such tensors is configured";
	if (wd_tensor_columns(words) != 16 ||
	    wd_tensor_rows(words) != packed->scales->elements)
		return "its scales do not fit its blocks";
	if (!wd_mul_u64(words->elements, 2, &out->parameters))
		return "it is too large";
	return label(out, "mxfp4");
}

/* bitsandbytes chooses among powers of two. */
static bool
blocks_fit(uint64_t blocks, uint64_t parameters)
{
	uint64_t block;

	for (block = 32; block <= 4096; block *= 2)
		if (wd_groups_fit((int64_t)block, blocks, parameters))
			return true;
	return false;
}

/* bitsandbytes, 4 bits: the matrix in one column of bytes (or of another type,
 * bnb_4bit_quant_storage) and NAME.absmax with one scale for each block. */
const char *
wd_unpack_nibbles(const struct wd_packed *packed, struct wd_unpacked *out)
{
	bool nf4 = wd_packed_part(packed, ".quant_state.bitsandbytes__nf4");
	bool fp4 = wd_packed_part(packed, ".quant_state.bitsandbytes__fp4");
	bool twice = wd_packed_part(packed, ".nested_absmax") != NULL;
	uint64_t bits;

	if (nf4 == fp4)
		return "its quant_state does not say what it is";
	if (!wd_mul_u64(
		packed->words->elements, wd_tensor_bits(packed->words), &bits))
		return "it is too large";
	out->parameters = bits / 4;
	if (!blocks_fit(packed->scales->elements, out->parameters))
		return "its absmax does not fit its size";
	if (nf4)
		return label(out, twice ? "bnb-nf4-double" : "bnb-nf4");
	return label(out, twice ? "bnb-fp4-double" : "bnb-fp4");
}

/* bitsandbytes, 8 bits: NAME.weight, and NAME.SCB with one scale a row. */
const char *
wd_unpack_bytes(const struct wd_packed *packed, struct wd_unpacked *out)
{
	if (wd_tensor_rows(packed->words) != packed->scales->elements)
		return "its SCB does not fit its rows";
	out->parameters = packed->words->elements;
	return label(out, "bnb-int8");
}

/* Whether one scale stands for blocks of rows and columns of a matrix. */
static bool
blocks_of(const struct wd_packed *packed, const uint64_t block[2])
{
	const struct wd_tensor *words = packed->words, *scales = packed->scales;

	return block[0] > 0 && words->dims >= 2 &&
	    scales->dims == words->dims && block[0] <= INT64_MAX &&
	    block[1] <= INT64_MAX &&
	    wd_groups_fit((int64_t)block[0], scales->shape[scales->dims - 2],
		words->shape[words->dims - 2]) &&
	    wd_groups_fit((int64_t)block[1], wd_tensor_columns(scales),
		wd_tensor_columns(words));
}

/* "-tensor", "-channel", "-block128x128", "-g32"; "" when the shapes tell
 * none of them. One element is one parameter whichever it is. */
static void
name_scaled(
    const struct wd_packed *packed, const char *type, struct wd_unpacked *out)
{
	const struct wd_tensor *scales = packed->scales;
	const uint64_t *block = packed->quant->block;
	uint64_t rows = wd_tensor_rows(packed->words);
	uint64_t columns = wd_tensor_columns(packed->words);
	uint64_t groups = wd_tensor_columns(scales);
	char scope[48] = "";

	if (scales->elements == 1)
		(void)snprintf(scope, sizeof(scope), "-tensor");
	else if (blocks_of(packed, block))
		(void)snprintf(scope, sizeof(scope), "-block%llux%llu",
		    (unsigned long long)block[0], (unsigned long long)block[1]);
	else if (scales->elements == rows)
		(void)snprintf(scope, sizeof(scope), "-channel");
	else if (wd_tensor_rows(scales) == rows && groups > 0 &&
	    columns % groups == 0)
		(void)snprintf(scope, sizeof(scope), "-g%llu",
		    (unsigned long long)(columns / groups));
	(void)snprintf(out->label, sizeof(out->label), "%.16s%s", type, scope);
}

/* "F8_E4M3" -> "fp8-e4m3" */
static void
name_float(const char *encoding, char out[24])
{
	size_t i;

	(void)snprintf(out, 24, "fp8-%.16s", encoding + strlen("F8_"));
	for (i = 0; out[i] != '\0'; i++)
		if (out[i] >= 'A' && out[i] <= 'Z')
			out[i] = (char)(out[i] - 'A' + 'a');
}

/* Two parameters of 4 bits in a byte along the last dimension, `group` of
 * them for one scale. */
static bool
pairs_fit(const struct wd_packed *packed, uint64_t group)
{
	uint64_t columns, covered;

	return wd_mul_u64(wd_tensor_columns(packed->words), 2, &columns) &&
	    wd_mul_u64(wd_tensor_columns(packed->scales), group, &covered) &&
	    columns == covered &&
	    wd_tensor_rows(packed->words) == wd_tensor_rows(packed->scales);
}

/* ModelOpt's W4A16_AWQ: bytes [out / 2, in], scales [out, groups]. */
static bool
halved_rows(const struct wd_packed *packed)
{
	const struct wd_tensor *words = packed->words, *scales = packed->scales;
	uint64_t groups = wd_tensor_columns(scales);

	return words->dims == 2 && scales->dims == 2 &&
	    wd_tensor_bits(scales) > 8 &&
	    words->shape[0] * 2 == scales->shape[0] && groups > 0 &&
	    words->shape[1] % groups == 0;
}

/* Bytes beside a scale hold several parameters; how many, the scales tell. */
static const char *
unpack_pairs(const struct wd_packed *packed, struct wd_unpacked *out)
{
	bool nvidia = configured(packed, WD_QUANT_MODELOPT);
	uint64_t each = 2;

	if (nvidia && wd_tensor_is(packed->scales, "F8_E4M3") &&
	    pairs_fit(packed, 16))
		(void)label(out, "modelopt-nvfp4-g16");
	else if (nvidia && wd_tensor_bits(packed->scales) == 8 &&
	    pairs_fit(packed, 32))
		(void)label(out, "modelopt-mxfp4-g32");
	else if (nvidia && halved_rows(packed))
		(void)snprintf(out->label, sizeof(out->label),
		    "modelopt-int4-g%llu",
		    (unsigned long long)(wd_tensor_columns(packed->words) /
			wd_tensor_columns(packed->scales)));
	else if (configured(packed, WD_QUANT_BITNET) &&
	    packed->scales->elements == 1) {
		each = 4;
		(void)label(out, "bitnet-2bit");
	} else
		return "no configured scheme has bytes with such scales";
	return wd_mul_u64(packed->words->elements, each, &out->parameters) ?
	    NULL :
	    "it is too large";
}

/* Whole bytes are one parameter each only where the scheme says so. */
static bool
has_bytes(const struct wd_quant *quant)
{
	size_t i;

	for (i = 0; i < quant->rule_count; i++)
		if (quant->rules[i].method == WD_QUANT_COMPRESSED &&
		    !quant->rules[i].floating)
			return true;
	return false;
}

const char *
wd_unpack_scaled(const struct wd_packed *packed, struct wd_unpacked *out)
{
	char type[24] = "int8";

	if (wd_tensor_is(packed->words, "U8"))
		return unpack_pairs(packed, out);
	if (strncmp(packed->words->encoding, "F8_", 3) == 0)
		name_float(packed->words->encoding, type);
	else if (!wd_tensor_is(packed->words, "I8") ||
	    !has_bytes(packed->quant))
		return "no configured scheme has such elements with scales";
	out->parameters = packed->words->elements;
	name_scaled(packed, type, out);
	return NULL;
}
