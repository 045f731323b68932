/* Quantised bundles. The first byte says which file the others are: a
 * configuration or recipe beside packed tensors of every layout, or the header
 * of a safetensors file beside a configuration of many schemes. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "fuzz/bundle_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const files[] = { "config.json", "quantize_config.json",
	"quant_config.json", "hf_quant_config.json", "recipe.yaml",
	"recipe.json" };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The data lie beyond the end: a cut file is described all the same. */
#define T(name, dtype, shape, from, to)                                        \
	"\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":[" shape              \
	"],\"data_offsets\":[" #from "," #to "]}"

static const char tensors[] = "{" T("m.weight", "U32", "4,8", 0, 128) "," T(
    "m.scales", "F16", "4,1", 128, 136) "," T("m.biases", "F16", "4,1", 136,
    144) "," T("q.qweight", "I32", "8,16", 144, 656) "," T("q.scales", "F16",
    "1,16", 656, 688) "," T("q.g_idx", "I32", "64", 688, 944) "," T("c.weight_"
								    "packed",
    "I32", "16,8", 944, 1456) "," T("c.weight_scale", "BF16", "16,2", 1456,
    1520) "," T("x_blocks", "U8", "2,4,16", 1520, 1648) "," T("x_scales", "U8",
    "2,4", 1648, 1656) "," T("b", "U8", "512,1", 1656, 2168) "," T("b.absmax",
    "F32", "16", 2168, 2232) "," T("b.quant_state.bitsandbytes__nf4", "U8", "8",
    2232, 2240) "," T("f.weight", "F8_E4M3", "16,64", 2240,
    3264) "," T("f.weight_scale_inv", "F32", "2,2", 3264,
    3280) "," T("n.weight", "U8", "16,32", 3280, 3792) "," T("n.weight_scale",
    "F8_E4M3", "16,4", 3792, 3856) "}";

static const char config[] =
    "{\"quantization\":{\"bits\":4,\"group_size\":64,\"w\":{\"bits\":8,"
    "\"group_size\":32},\"x\":{\"mode\":\"mxfp4\"},\"y\":false},"
    "\"quantization_config\":{\"quant_method\":\"gptq\",\"bits\":4,"
    "\"group_size\":64,\"dynamic\":{\"a\":{\"bits\":8}}},"
    "\"a\":{\"quantization_config\":{\"quant_method\":\"compressed-tensors\","
    "\"config_groups\":{\"g\":{\"weights\":{\"num_bits\":4,\"type\":\"int\","
    "\"group_size\":32}}}}},"
    "\"b\":{\"quantization_config\":{\"quant_method\":\"bitsandbytes\"}},"
    "\"c\":{\"quantization_config\":{\"quant_method\":\"mxfp4\"}},"
    "\"d\":{\"quantization_config\":{\"quant_method\":\"modelopt\"}},"
    "\"e\":{\"quantization_config\":{\"quant_method\":\"fp8\","
    "\"weight_block_size\":[8,32]}},"
    "\"f\":{\"quantization_config\":{\"quant_method\":\"awq\",\"w_bit\":4,"
    "\"q_group_size\":64}},"
    "\"g\":{\"quantization_config\":{\"quant_method\":\"bitnet\"}}}";

/* The length of the header in front of it, on the heap so that a read beyond
 * it is seen. */
static struct wd_slice
safetensors_of(const uint8_t *header, size_t size)
{
	uint8_t *bytes = malloc(size + 8);
	unsigned i;

	if (bytes == NULL)
		abort();
	for (i = 0; i < 8; i++)
		bytes[i] = (uint8_t)((uint64_t)size >> (8 * i));
	if (size > 0)
		memcpy(bytes + 8, header, size);
	return (struct wd_slice){ bytes, size + 8 };
}

static void
describe(struct wd_slice weights, const char *name, struct wd_slice beside)
{
	struct fuzz_folder folder = {
		.files = { { "model.safetensors", weights }, { name, beside } },
		.count = 2
	};
	void *bytes;

	fuzz_describe(&folder, 0);
	memcpy(&bytes, &weights.data, sizeof(bytes));
	free(bytes);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t which;

	if (size == 0)
		return 0;
	which = data[0] % (COUNT(files) + 1);
	if (which == COUNT(files))
		describe(safetensors_of(data + 1, size - 1), "config.json",
		    wd_slice_text(config));
	else
		describe(
		    safetensors_of((const uint8_t *)tensors, strlen(tensors)),
		    files[which], (struct wd_slice){ data + 1, size - 1 });
	return 0;
}
