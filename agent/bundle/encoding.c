#include "bundle/encoding.h"

#include <stddef.h>

#include "base/checked.h"

/* safetensors/src/tensor.rs, enum Dtype. F4 and F6 are sub-byte: only the
 * whole tensor must end on a byte. */
static const struct wd_encoding dtypes[] = {
	{ "BF16", 1, 16 },
	{ "F16", 1, 16 },
	{ "F32", 1, 32 },
	{ "U32", 1, 32 },
	{ "I32", 1, 32 },
	{ "U8", 1, 8 },
	{ "I8", 1, 8 },
	{ "F8_E4M3", 1, 8 },
	{ "F8_E5M2", 1, 8 },
	{ "F8_E8M0", 1, 8 },
	{ "F8_E4M3FNUZ", 1, 8 },
	{ "F8_E5M2FNUZ", 1, 8 },
	{ "F4", 1, 4 },
	{ "F6_E2M3", 1, 6 },
	{ "F6_E3M2", 1, 6 },
	{ "BOOL", 1, 8 },
	{ "I16", 1, 16 },
	{ "U16", 1, 16 },
	{ "F64", 1, 64 },
	{ "I64", 1, 64 },
	{ "U64", 1, 64 },
	{ "C64", 1, 64 },
};

const struct wd_encoding *
wd_safetensors_dtype(struct wd_slice name)
{
	size_t i;

	for (i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++)
		if (wd_slice_equal(name, wd_slice_text(dtypes[i].name)))
			return &dtypes[i];
	return NULL;
}

bool
wd_encoding_size(
    const struct wd_encoding *encoding, uint64_t elements, uint64_t *size_bytes)
{
	uint64_t bits;

	if (encoding->block == 0 || elements % encoding->block != 0)
		return false;
	if (!wd_mul_u64(elements / encoding->block, encoding->bits, &bits) ||
	    bits % 8 != 0)
		return false;
	*size_bytes = bits / 8;
	return true;
}
