#include "support/packed_make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MLX(bits, words)                                                       \
	{                                                                      \
		"mlx-" #bits,                                                  \
		    "\"quantization\": {\"group_size\": 64, \"bits\": " #bits  \
		    "}",                                                       \
		{                                                              \
			{ ".weight", "U32", 32, "R," #words },                 \
			    { ".scales", "BF16", 16, "R,4" },                  \
			    { ".biases", "BF16", 16, "R,4" },                  \
		}                                                              \
	}
#define HF(rest) "\"quantization_config\": {\"quant_method\": " rest "}"

static const struct make_scheme schemes[] = {
	MLX(2, 16),
	MLX(3, 24),
	MLX(4, 32),
	MLX(5, 40),
	MLX(6, 48),
	MLX(8, 64),
	{ "mlx-mxfp4",
	    "\"quantization\": {\"group_size\": 32, \"bits\": 4, \"mode\": "
	    "\"mxfp4\"}",
	    { { ".weight", "U32", 32, "R,32" },
		{ ".scales", "U8", 8, "R,8" } } },
	{ "gptq-4", HF("\"gptq\", \"bits\": 4, \"group_size\": 128"),
	    { { ".qweight", "I32", 32, "32,R" },
		{ ".qzeros", "I32", 32, "2,E" },
		{ ".scales", "F16", 16, "2,R" },
		{ ".g_idx", "I32", 32, "256" } } },
	{ "awq-4",
	    HF("\"awq\", \"bits\": 4, \"group_size\": 128, \"version\": "
	       "\"gemm\""),
	    { { ".qweight", "I32", 32, "256,E" },
		{ ".qzeros", "I32", 32, "2,E" },
		{ ".scales", "F16", 16, "2,R" } } },
	{ "ct-4",
	    HF("\"compressed-tensors\", \"format\": \"pack-quantized\", "
	       "\"config_groups\": {\"group_0\": {\"targets\": [\"Linear\"], "
	       "\"weights\": {\"num_bits\": 4, \"type\": \"int\", "
	       "\"strategy\": \"group\", \"group_size\": 128}}}"),
	    { { ".weight_packed", "I32", 32, "R,32" },
		{ ".weight_scale", "BF16", 16, "R,2" },
		{ ".weight_shape", "I64", 64, "2" } } },
	{ "nf4",
	    HF("\"bitsandbytes\", \"load_in_4bit\": true, "
	       "\"bnb_4bit_quant_type\": \"nf4\""),
	    { { ".weight", "U8", 8, "H,1" },
		{ ".weight.absmax", "F32", 32, "A" },
		{ ".weight.quant_map", "F32", 32, "16" },
		{ ".weight.quant_state.bitsandbytes__nf4", "U8", 8, "80" } } },
	{ "mxfp4", HF("\"mxfp4\""),
	    { { "_blocks", "U8", 8, "R,8,16" },
		{ "_scales", "U8", 8, "R,8" } } },
	{ "fp8", HF("\"fp8\", \"weight_block_size\": [128, 128]"),
	    { { ".weight", "F8_E4M3", 8, "R,256" },
		{ ".weight_scale_inv", "F32", 32, "B,2" } } },
};

const struct make_scheme *
make_scheme(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
		if (strcmp(name, schemes[i].name) == 0)
			return &schemes[i];
	return NULL;
}

static uint64_t
dimension(const char *text, uint64_t rows)
{
	switch (text[0]) {
	case 'R':
		return rows;
	case 'E':
		return rows / 8;
	case 'B':
		return (rows + 127) / 128;
	case 'H':
		return rows * MAKE_PACKED_COLUMNS / 2;
	case 'A':
		return rows * MAKE_PACKED_COLUMNS / 64;
	default:
		return strtoull(text, NULL, 10);
	}
}

bool
make_packed_part(struct make_safetensors *st, const struct make_scheme *scheme,
    size_t at, const char *stem, uint64_t rows, char *name, size_t size)
{
	const struct make_part *part = &scheme->parts[at];
	const char *rest;
	char shape[96];
	uint64_t elements = 1;
	size_t len = 0;

	if (at == sizeof(scheme->parts) / sizeof(scheme->parts[0]) ||
	    part->ending == NULL)
		return false;
	for (rest = part->shape; rest != NULL; rest = strchr(rest, ',')) {
		uint64_t dim;

		rest += *rest == ',';
		dim = dimension(rest, rows);
		elements *= dim;
		len += (size_t)snprintf(shape + len, sizeof(shape) - len,
		    "%c%llu", len == 0 ? '[' : ',', (unsigned long long)dim);
	}
	(void)snprintf(shape + len, sizeof(shape) - len, "]");
	(void)snprintf(name, size, "%s%s", stem, part->ending);
	make_safetensors_tensor(
	    st, name, part->dtype, shape, elements * part->bits / 8);
	return true;
}
