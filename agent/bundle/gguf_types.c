#include "bundle/encoding.h"

#include <stddef.h>

/* ggml/include/ggml.h (enum ggml_type) and ggml/src/ggml-common.h (the block
 * structs), as of 2026. Bytes per block are given in bits. */
static const struct wd_encoding types[] = {
	[0] = { "F32", 1, 32 },
	[1] = { "F16", 1, 16 },
	[2] = { "Q4_0", 32, 18 * 8 },
	[3] = { "Q4_1", 32, 20 * 8 },
	[4] = { "Q4_2", 0, 0 },
	[5] = { "Q4_3", 0, 0 },
	[6] = { "Q5_0", 32, 22 * 8 },
	[7] = { "Q5_1", 32, 24 * 8 },
	[8] = { "Q8_0", 32, 34 * 8 },
	[9] = { "Q8_1", 32, 36 * 8 },
	[10] = { "Q2_K", 256, 84 * 8 },
	[11] = { "Q3_K", 256, 110 * 8 },
	[12] = { "Q4_K", 256, 144 * 8 },
	[13] = { "Q5_K", 256, 176 * 8 },
	[14] = { "Q6_K", 256, 210 * 8 },
	[15] = { "Q8_K", 256, 292 * 8 },
	[16] = { "IQ2_XXS", 256, 66 * 8 },
	[17] = { "IQ2_XS", 256, 74 * 8 },
	[18] = { "IQ3_XXS", 256, 98 * 8 },
	[19] = { "IQ1_S", 256, 50 * 8 },
	[20] = { "IQ4_NL", 32, 18 * 8 },
	[21] = { "IQ3_S", 256, 110 * 8 },
	[22] = { "IQ2_S", 256, 82 * 8 },
	[23] = { "IQ4_XS", 256, 136 * 8 },
	[24] = { "I8", 1, 8 },
	[25] = { "I16", 1, 16 },
	[26] = { "I32", 1, 32 },
	[27] = { "I64", 1, 64 },
	[28] = { "F64", 1, 64 },
	[29] = { "IQ1_M", 256, 56 * 8 },
	[30] = { "BF16", 1, 16 },
	[31] = { "Q4_0_4_4", 32, 18 * 8 },
	[32] = { "Q4_0_4_8", 32, 18 * 8 },
	[33] = { "Q4_0_8_8", 32, 18 * 8 },
	[34] = { "TQ1_0", 256, 54 * 8 },
	[35] = { "TQ2_0", 256, 66 * 8 },
	[36] = { "IQ4_NL_4_4", 32, 18 * 8 },
	[37] = { "IQ4_NL_4_8", 32, 18 * 8 },
	[38] = { "IQ4_NL_8_8", 32, 18 * 8 },
	[39] = { "MXFP4", 32, 17 * 8 },
	[40] = { "NVFP4", 64, 36 * 8 },
	[41] = { "Q1_0", 128, 18 * 8 },
	[42] = { "Q2_0", 64, 18 * 8 },
};

const struct wd_encoding *
wd_gguf_type(uint32_t id)
{
	return id < sizeof(types) / sizeof(types[0]) ? &types[id] : NULL;
}

/* llama.cpp, include/llama.h: enum llama_ftype. "IQ3_XS" and other mixtures
 * without one main encoding are left out, and so are the numbers that were
 * given up. */
static const struct {
	const char *name;
	const char *encoding;
} file_types[] = {
	[0] = { "F32", "F32" },
	[1] = { "F16", "F16" },
	[2] = { "Q4_0", "Q4_0" },
	[3] = { "Q4_1", "Q4_1" },
	[7] = { "Q8_0", "Q8_0" },
	[8] = { "Q5_0", "Q5_0" },
	[9] = { "Q5_1", "Q5_1" },
	[10] = { "Q2_K", "Q2_K" },
	[11] = { "Q3_K_S", "Q3_K" },
	[12] = { "Q3_K_M", "Q3_K" },
	[13] = { "Q3_K_L", "Q3_K" },
	[14] = { "Q4_K_S", "Q4_K" },
	[15] = { "Q4_K_M", "Q4_K" },
	[16] = { "Q5_K_S", "Q5_K" },
	[17] = { "Q5_K_M", "Q5_K" },
	[18] = { "Q6_K", "Q6_K" },
	[19] = { "IQ2_XXS", "IQ2_XXS" },
	[20] = { "IQ2_XS", "IQ2_XS" },
	[23] = { "IQ3_XXS", "IQ3_XXS" },
	[24] = { "IQ1_S", "IQ1_S" },
	[25] = { "IQ4_NL", "IQ4_NL" },
	[26] = { "IQ3_S", "IQ3_S" },
	[27] = { "IQ3_M", "IQ3_S" },
	[28] = { "IQ2_S", "IQ2_S" },
	[29] = { "IQ2_M", "IQ2_S" },
	[30] = { "IQ4_XS", "IQ4_XS" },
	[31] = { "IQ1_M", "IQ1_M" },
	[32] = { "BF16", "BF16" },
	[36] = { "TQ1_0", "TQ1_0" },
	[37] = { "TQ2_0", "TQ2_0" },
	[38] = { "MXFP4_MOE", "MXFP4" },
	[39] = { "NVFP4", "NVFP4" },
	[40] = { "Q1_0", "Q1_0" },
	[41] = { "Q2_0", "Q2_0" },
};

const char *
wd_gguf_file_type(uint64_t file_type, const char **encoding)
{
	if (file_type >= sizeof(file_types) / sizeof(file_types[0]))
		return NULL;
	*encoding = file_types[file_type].encoding;
	return file_types[file_type].name;
}
