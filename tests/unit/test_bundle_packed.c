/* Packed tensors are unpacked by arithmetic, or their number of parameters is
 * not known: a table for each scheme, of small generated files. C1, C2. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "support/bundle_make.h"
#include "support/memory_folder.h"
#include "support/suite.h"

static struct memory_folder folder;
static struct wd_bundle *bundle;
static struct wd_error err;

/* One tensor, written "NAME DTYPE DIM,DIM". */
static void
put_tensor(struct make_safetensors *st, const char *text)
{
	char name[96], dtype[16], dims[64], shape[72];
	uint64_t bits = 1;
	char *at = dims;

	if (sscanf(text, "%95s %15s %63s", name, dtype, dims) < 3)
		dims[0] = '\0';
	(void)snprintf(shape, sizeof(shape), "[%s]", dims);
	while (*at != '\0') {
		bits *= strtoull(at, &at, 10);
		at += *at == ',';
	}
	if (strcmp(dtype, "F4") == 0)
		bits *= 4;
	else if (strstr(dtype, "64") != NULL)
		bits *= 64;
	else if (strstr(dtype, "32") != NULL)
		bits *= 32;
	else if (strstr(dtype, "16") != NULL)
		bits *= 16;
	else
		bits *= 8;
	make_safetensors_tensor(st, name, dtype, shape, bits / 8);
}

/* Tensors are separated by '|'. */
static void
put_tensors(const char *text)
{
	struct make_safetensors st;
	struct wd_buf bytes;
	char copy[1024], *rest = copy, *one;

	make_safetensors_init(&st);
	wd_buf_init(&bytes, MAKE_MAX_BYTES);
	(void)snprintf(copy, sizeof(copy), "%s", text);
	while ((one = strsep(&rest, "|")) != NULL)
		put_tensor(&st, one);
	ck_assert_int_eq(make_safetensors_file(&st, 1, &bytes), WD_OK);
	(void)memory_folder_add(
	    &folder, "model.safetensors", wd_buf_slice(&bytes));
	wd_buf_release(&bytes);
	make_safetensors_release(&st);
}

static void
describe(const char *tensors, const char *config)
{
	char file[64] = "config.json";
	const char *text = config == NULL ? NULL : strchr(config, '{');

	if (text != config)
		(void)snprintf(file, sizeof(file), "%.*s",
		    (int)(text - config - 1), config);
	memory_folder_init(&folder);
	wd_error_init(&err);
	put_tensors(tensors);
	if (text != NULL)
		(void)memory_folder_text(&folder, file, text);
	ck_assert_int_eq(
	    memory_folder_describe(&folder, "model.safetensors", &bundle, &err),
	    WD_OK);
}

static void
stop(void)
{
	ck_assert_uint_eq(folder.open_now, 0);
	wd_bundle_free(&bundle);
	memory_folder_release(&folder);
}

static const struct wd_encoding_count *
encoding(const char *name)
{
	size_t i;

	for (i = 0; i < bundle->encoding_count; i++)
		if (strcmp(bundle->encodings[i].encoding, name) == 0)
			return &bundle->encodings[i];
	return NULL;
}

#define MLX(rest) "{\"quantization\":{" rest "}}"
#define HF(method, rest)                                                       \
	"{\"quantization_config\":{\"quant_method\":\"" method "\"" rest "}}"
#define NESTED(method, rest)                                                   \
	"{\"text_config\":" HF(method, rest) ",\"vision_config\":{}}"
#define CT(format, weights)                                                    \
	HF("compressed-tensors",                                               \
	    ",\"format\":\"" format "\",\"config_groups\":{\"group_0\":{"      \
	    "\"targets\":[\"Linear\"],\"weights\":{" weights "}}}")
#define INT4                                                                   \
	"\"num_bits\":4,\"type\":\"int\",\"strategy\":\"group\","              \
	"\"group_size\":32"
#define NF4 "w.quant_state.bitsandbytes__nf4 U8 40"

struct known {
	const char *config; /* of config.json, or "FILE={...}" */
	const char *tensors;
	const char *label;
	uint64_t parameters;
};

/* C1: every width and mode of MLX; b is a bias, and counts. */
static const struct known mlx[] = {
	{ MLX("\"bits\":4,\"group_size\":64"),
	    "w.weight U32 10,8|w.scales F16 10,1|w.biases F16 10,1",
	    "mlx-affine-4bit-g64", 640 },
	{ MLX("\"bits\":8,\"group_size\":32"),
	    "w.weight U32 10,8|w.scales F16 10,1|w.biases F16 10,1",
	    "mlx-affine-8bit-g32", 320 },
	{ MLX("\"bits\":2,\"group_size\":128"),
	    "w.weight U32 10,8|w.scales BF16 10,1|w.biases BF16 10,1",
	    "mlx-affine-2bit-g128", 1280 },
	{ MLX("\"bits\":3,\"group_size\":64"),
	    "w.weight U32 10,6|w.scales F32 10,1|w.biases F32 10,1",
	    "mlx-affine-3bit-g64", 640 },
	{ MLX("\"bits\":5,\"group_size\":64"),
	    "w.weight U32 10,20|w.scales F16 10,2|w.biases F16 10,2",
	    "mlx-affine-5bit-g64", 1280 },
	{ MLX("\"bits\":6,\"group_size\":64"),
	    "w.weight U32 10,12|w.scales F16 10,1|w.biases F16 10,1",
	    "mlx-affine-6bit-g64", 640 },
	{ MLX("\"bits\":4,\"group_size\":32,\"mode\":\"mxfp4\""),
	    "w.weight U32 10,8|w.scales U8 10,2", "mlx-mxfp4-4bit-g32", 640 },
	{ MLX("\"bits\":8,\"group_size\":32,\"mode\":\"mxfp8\""),
	    "w.weight U32 10,8|w.scales U8 10,1", "mlx-mxfp8-8bit-g32", 320 },
	{ MLX("\"bits\":4,\"group_size\":16,\"mode\":\"nvfp4\""),
	    "w.weight U32 10,8|w.scales U8 10,4", "mlx-nvfp4-4bit-g16", 640 },
	/* experts in one tensor */
	{ MLX("\"bits\":4,\"group_size\":64"),
	    "e.weight U32 3,10,8|e.scales F16 3,10,1|e.biases F16 3,10,1",
	    "mlx-affine-4bit-g64", 1920 },
	/* what is left out is the mode's default */
	{ MLX("\"mode\":\"nvfp4\""), "w.weight U32 10,8|w.scales U8 10,4",
	    "mlx-nvfp4-4bit-g16", 640 },
	{ MLX("\"bits\":2,\"group_size\":32,\"w\":{\"bits\":8}"),
	    "w.weight U32 10,16|w.scales F16 10,1|w.biases F16 10,1",
	    "mlx-affine-8bit-g64", 640 },
	/* an override in another mode, an override that says yes */
	{ MLX("\"bits\":2,\"group_size\":32,\"w\":"
	      "{\"mode\":\"mxfp8\",\"bits\":8,\"group_size\":32}"),
	    "w.weight U32 10,8|w.scales U8 10,1", "mlx-mxfp8-8bit-g32", 320 },
	{ MLX("\"bits\":4,\"group_size\":64,\"w\":true,\"mode\":null"),
	    "w.weight U32 10,8|w.scales F16 10,1|w.biases F16 10,1",
	    "mlx-affine-4bit-g64", 640 },
	/* the copy alone, and under text_config */
	{ "{\"quantization_config\":{\"bits\":4,\"group_size\":64}}",
	    "w.weight U32 10,8|w.scales F16 10,1|w.biases F16 10,1",
	    "mlx-affine-4bit-g64", 640 },
	{ "{\"text_config\":" MLX("\"bits\":4,\"group_size\":64") "}",
	    "w.weight U32 10,8|w.scales F16 10,1|w.biases F16 10,1",
	    "mlx-affine-4bit-g64", 640 },
};

/* C2: all others. */
static const struct known hugging_face[] = {
	{ HF("gptq", ",\"bits\":4,\"group_size\":64"),
	    "w.qweight I32 8,16|w.qzeros I32 1,2|w.scales F16 1,16|"
	    "w.g_idx I32 64",
	    "gptq-4bit-g64", 1024 },
	{ HF("gptq", ",\"bits\":3,\"group_size\":-1"),
	    "w.qweight I32 6,16|w.qzeros I32 1,2|w.scales F16 1,16",
	    "gptq-3bit-channel", 1024 },
	{ HF("gptq", ",\"bits\":8,\"group_size\":16,\"pack_dtype\":\"int16\""),
	    "w.qweight I16 8,16|w.qzeros I16 1,8|w.scales F16 1,16",
	    "gptq-8bit-g16", 256 },
	/* GPTQModel's patterns: of two rules one fits */
	{ HF("gptq",
	      ",\"bits\":4,\"group_size\":64,\"dynamic\":"
	      "{\"+:.*down.*\":{\"bits\":8},\"-:.*gate\":{}}"),
	    "w.qweight I32 8,16|w.qzeros I32 1,4|w.scales F16 1,16|"
	    "w.g_idx I32 32",
	    "gptq-8bit-g64", 512 },
	{ "quantize_config.json={\"bits\":4,\"group_size\":64}",
	    "w.qweight I32 8,16|w.qzeros I32 1,2|w.scales F16 1,16",
	    "gptq-4bit-g64", 1024 },
	/* the last group may be a part of one */
	{ HF("gptq", ",\"bits\":4,\"group_size\":48"),
	    "w.qweight I32 8,16|w.qzeros I32 2,2|w.scales F16 2,16",
	    "gptq-4bit-g48", 1024 },
	{ HF("auto-round",
	      ",\"bits\":2,\"group_size\":32,\"packing_format\":"
	      "\"auto_round:auto_gptq\",\"extra_config\":"
	      "{\"w\":{\"bits\":4,\"group_size\":64}}"),
	    "w.qweight I32 8,16|w.qzeros I32 1,2|w.scales F16 1,16",
	    "gptq-4bit-g64", 1024 },
	{ HF("auto-round",
	      ",\"bits\":4,\"group_size\":64,\"packing_format\":"
	      "\"auto_round:auto_awq\""),
	    "w.qweight I32 64,2|w.qzeros I32 1,2|w.scales F16 1,16",
	    "awq-4bit-g64", 1024 },
	{ NESTED("awq", ",\"bits\":4,\"group_size\":64"),
	    "w.qweight I32 64,2|w.qzeros I32 1,2|w.scales F16 1,16",
	    "awq-4bit-g64", 1024 },
	{ "quant_config.json={\"w_bit\":4,\"q_group_size\":64,\"version\":"
	  "\"GEMM\"}",
	    "w.qweight I32 64,2|w.qzeros I32 1,2|w.scales F16 1,16",
	    "awq-4bit-g64", 1024 },
	{ CT("pack-quantized", INT4),
	    "w.weight_packed I32 16,8|w.weight_scale BF16 16,2|"
	    "w.weight_shape I64 2|w.weight_zero_point I32 2,2",
	    "ct-pack-4bit-g32", 1024 },
	/* five bits: six to a word, and padding in the last */
	{ CT("pack-quantized",
	      "\"num_bits\":5,\"type\":\"int\",\"strategy\":\"group\","
	      "\"group_size\":32"),
	    "w.weight_packed I32 16,11|w.weight_scale BF16 16,2|"
	    "w.weight_shape I64 2",
	    "ct-pack-5bit-g32", 1024 },
	{ CT("pack-quantized",
	      "\"num_bits\":3,\"type\":\"int\",\"strategy\":\"channel\""),
	    "w.weight_packed I32 16,7|w.weight_scale BF16 16,1|"
	    "w.weight_g_idx I32 64",
	    "ct-pack-3bit-channel", 1024 },
	{ CT("pack-quantized",
	      "\"num_bits\":8,\"type\":\"int\",\"strategy\":\"channel\","
	      "\"group_size\":null"),
	    "w.weight_packed I32 16,16|w.weight_scale BF16 16,1",
	    "ct-pack-8bit-channel", 1024 },
	{ CT("nvfp4-pack-quantized",
	      "\"num_bits\":4,\"type\":\"float\",\"strategy\":"
	      "\"tensor_group\",\"group_size\":16"),
	    "w.weight_packed U8 16,32|w.weight_scale F8_E4M3 16,4|"
	    "w.weight_global_scale F32 1|w.input_global_scale F32 1",
	    "ct-nvfp4-g16", 1024 },
	{ CT("mxfp4-pack-quantized",
	      "\"num_bits\":4,\"type\":\"float\",\"strategy\":\"group\","
	      "\"group_size\":32"),
	    "w.weight_packed U8 16,32|w.weight_scale U8 16,2", "ct-mxfp4-g32",
	    1024 },
	{ CT("int-quantized",
	      "\"num_bits\":8,\"type\":\"int\",\"strategy\":\"channel\""),
	    "w.weight I8 16,64|w.weight_scale BF16 16,1", "int8-channel",
	    1024 },
	{ CT("float-quantized",
	      "\"num_bits\":8,\"type\":\"float\",\"strategy\":\"tensor\""),
	    "w.weight F8_E4M3 16,64|w.weight_scale BF16 1|w.input_scale BF16 1",
	    "fp8-e4m3-tensor", 1024 },
	{ HF("fp8", ",\"weight_block_size\":[8,32]"),
	    "w.weight F8_E4M3 12,64|w.weight_scale_inv F32 2,2",
	    "fp8-e4m3-block8x32", 768 },
	{ HF("fbgemm_fp8", ""),
	    "w.weight F8_E5M2 16,64|w.weight_scale F32 16,1|k_scale F32 1",
	    "fp8-e5m2-channel", 1025 },
	{ HF("fp8", ""), "w.weight F8_E4M3 16,64|w.weight_scale F8_E8M0 16,2",
	    "fp8-e4m3-g32", 1024 },
	/* a module that is not called weight, and no configuration at all */
	{ NULL, "e.gate_up_proj F8_E4M3 2,8,64|e.gate_up_proj_scale F32 2,1,64",
	    "fp8-e4m3", 1024 },
	{ HF("bitsandbytes", ",\"load_in_4bit\":true"),
	    "w U8 512,1|w.absmax F32 16|w.quant_map F32 16|" NF4, "bnb-nf4",
	    1024 },
	{ HF("bitsandbytes", ""),
	    "w U8 512,1|w.absmax U8 16|w.quant_map F32 16|"
	    "w.nested_absmax F32 1|w.nested_quant_map F32 256|" NF4,
	    "bnb-nf4-double", 1024 },
	{ "{\"quantization_config\":{\"load_in_4bit\":true}}",
	    "w BF16 256,1|w.absmax F32 8|w.quant_map F32 16|"
	    "w.quant_state.bitsandbytes__fp4 U8 40",
	    "bnb-fp4", 1024 },
	{ HF("bitsandbytes", ",\"load_in_8bit\":true"),
	    "w.weight I8 16,64|w.SCB F32 16|w.weight_format U8", "bnb-int8",
	    1024 },
	{ HF("mxfp4", ""), "w_blocks U8 2,4,4,16|w_scales U8 2,4,4", "mxfp4",
	    1024 },
	{ HF("modelopt", ",\"quant_algo\":\"NVFP4\""),
	    "w.weight U8 16,32|w.weight_scale F8_E4M3 16,4|"
	    "w.weight_scale_2 F32 |w.input_scale F32 |w.k_scale F32 1",
	    "modelopt-nvfp4-g16", 1024 },
	{ "hf_quant_config.json={\"quantization\":{\"quant_algo\":\"W4A16_"
	  "AWQ\"}}",
	    "w.weight U8 8,64|w.weight_scale F16 16,2|w.pre_quant_scale F16 64",
	    "modelopt-int4-g32", 1024 },
	{ HF("modelopt", ",\"quant_algo\":\"MXFP4\""),
	    "w.weight U8 16,32|w.weight_scale U8 16,2", "modelopt-mxfp4-g32",
	    1024 },
	{ HF("bitnet", ""), "w.weight U8 4,64|w.weight_scale BF16 1",
	    "bitnet-2bit", 1024 },
};

static void
check_known(const struct known *one)
{
	char tensors[1024];

	(void)snprintf(
	    tensors, sizeof(tensors), "%s|w.bias F16 16|n F32 7", one->tensors);
	describe(tensors, one->config);
	ck_assert_msg(bundle->parameters_known, "%s: %s", one->tensors,
	    bundle->note_count > 0 ? bundle->notes[0].text : "");
	ck_assert_uint_eq(bundle->note_count, 0);
	ck_assert_msg(encoding(one->label) != NULL, "%s: the first is %s",
	    one->label, bundle->encodings[0].encoding);
	ck_assert_uint_eq(encoding(one->label)->tensors, 1);
	ck_assert_uint_eq(encoding(one->label)->parameters,
	    one->parameters - one->parameters % 2);
	ck_assert_uint_eq(bundle->parameter_count, one->parameters + 16 + 7);
	stop();
}

START_TEST(c01_mlx_words_are_unpacked)
{
	check_known(&mlx[_i]);
}
END_TEST

START_TEST(c02_packed_words_are_unpacked)
{
	check_known(&hugging_face[_i]);
}
END_TEST

/* Never a guess: each of these has one thing that does not fit, and words
 * count as they are stored. */
static const struct {
	const char *config;
	const char *tensors;
	const char *why;
	uint64_t lower_bound;
} unknown[] = {
	/* no configuration, or one of another scheme */
	{ NULL, "w.weight U32 10,8|w.scales F16 10,1|w.biases F16 10,1", "MLX",
	    80 },
	{ NULL, "w.qweight I32 8,16|w.scales F16 1,16", "configured", 128 },
	{ NULL, "w_blocks U8 2,4,4,16|w_scales U8 2,4,4", "configured", 512 },
	{ NULL, "w.weight I8 16,64|w.weight_scale BF16 16,1", "configured",
	    1024 },
	{ NULL, "w.weight U8 16,32|w.weight_scale F8_E4M3 16,4", "configured",
	    512 },
	{ NULL, "w.weight_packed I32 16,8|w.weight_scale BF16 16,2",
	    "configured", 128 },
	{ HF("mxfp4", ""), "w.qweight I32 8,16|w.scales F16 1,16", "configured",
	    128 },
	{ HF("gptq", ",\"bits\":4,\"group_size\":64"),
	    "w.weight U32 10,8|w.scales F16 10,1|w.biases F16 10,1", "MLX",
	    80 },
	{ HF("fp8", ""), "w.weight U8 16,32|w.weight_scale F8_E4M3 16,4",
	    "configured", 512 },
	/* MLX: bits, group, mode, parts */
	{ MLX("\"bits\":8,\"group_size\":64"),
	    "w.weight U32 10,8|w.scales F16 10,1|w.biases F16 10,1", "scales",
	    80 },
	{ MLX("\"bits\":4,\"group_size\":32"),
	    "w.weight U32 10,8|w.scales F16 10,1|w.biases F16 10,1", "scales",
	    80 },
	{ MLX("\"bits\":4,\"group_size\":64"),
	    "w.weight U32 10,8|w.scales F16 9,1|w.biases F16 9,1", "scales",
	    80 },
	{ MLX("\"bits\":6,\"group_size\":64"),
	    "w.weight U32 10,8|w.scales F16 10,1|w.biases F16 10,1", "whole",
	    80 },
	{ MLX("\"bits\":7,\"group_size\":64"),
	    "w.weight U32 10,14|w.scales F16 10,1|w.biases F16 10,1", "bits",
	    140 },
	{ MLX("\"bits\":16,\"group_size\":16"),
	    "w.weight U32 10,8|w.scales F16 10,1|w.biases F16 10,1", "bits",
	    80 },
	{ MLX("\"bits\":4,\"group_size\":64,\"mode\":\"new\""),
	    "w.weight U32 10,8|w.scales F16 10,1|w.biases F16 10,1", "mode",
	    80 },
	{ MLX("\"bits\":4,\"group_size\":64"),
	    "w.weight U32 10,8|w.scales F16 10,1", "mode", 80 },
	{ MLX("\"bits\":4,\"group_size\":64"),
	    "w.weight U32 10,8|w.scales U8 10,1|w.biases U8 10,1", "mode", 80 },
	{ MLX("\"bits\":4,\"group_size\":64,\"w\":false"),
	    "w.weight U32 10,8|w.scales F16 10,1|w.biases F16 10,1",
	    "not quantised", 80 },
	{ MLX("\"bits\":4,\"group_size\":32,\"mode\":\"mxfp4\""),
	    "w.weight U32 10,8|w.scales U8 10,2|w.biases U8 10,2", "mode", 80 },
	/* GPTQ and AWQ */
	{ HF("gptq", ",\"bits\":4,\"group_size\":64"),
	    "w.qweight I32 8,16|w.scales F16 1,16|w.g_idx I32 32", "fit", 128 },
	{ HF("gptq", ",\"bits\":8,\"group_size\":64"),
	    "w.qweight I32 8,16|w.scales F16 2,16", "fit", 128 },
	{ HF("gptq", ",\"bits\":4,\"group_size\":64"),
	    "w.qweight I32 8,16|w.scales F16 1,8", "fit", 128 },
	{ HF("gptq", ",\"bits\":4"), "w.qweight I32 8,16|w.scales F16 1,16",
	    "fit", 128 },
	{ HF("gptq", ",\"bits\":0,\"group_size\":64"),
	    "w.qweight I32 8,16|w.scales F16 1,16", "fit", 128 },
	{ HF("gptq",
	      ",\"bits\":4,\"group_size\":64,\"dynamic\":"
	      "{\"a\":{\"bits\":2,\"group_size\":128}}"),
	    "w.qweight I32 8,16|w.scales F16 1,16", "several", 128 },
	{ HF("gptq", ",\"bits\":4,\"group_size\":64"),
	    "w.qweight I32 1,8,16|w.scales F16 1,16", "fit", 128 },
	{ HF("awq", ",\"bits\":4,\"group_size\":64"),
	    "w.qweight I32 64,2|w.scales F16 1,17", "fit", 128 },
	{ HF("awq", ",\"bits\":4,\"group_size\":64"),
	    "w.qweight I32 65,2|w.scales F16 1,16", "fit", 130 },
	/* compressed-tensors */
	{ CT("pack-quantized", INT4),
	    "w.weight_packed I32 16,8|w.weight_scale BF16 16,3", "fit", 128 },
	{ CT("pack-quantized", INT4),
	    "w.weight_packed I32 16,8|w.weight_scale BF16 15,2", "fit", 128 },
	{ CT("pack-quantized", "\"num_bits\":3,\"strategy\":\"channel\""),
	    "w.weight_packed I32 16,7|w.weight_scale BF16 16,1", "fit", 112 },
	{ CT("marlin-24", INT4),
	    "w.weight_packed I32 16,8|w.weight_scale BF16 16,2", "marlin-24",
	    128 },
	{ HF("compressed-tensors",
	      ",\"sparsity_config\":{\"format\":\"sparse-24-bitmask\"}"),
	    "w.weight_packed I32 16,8|w.weight_scale BF16 16,2", "sparse-24",
	    128 },
	{ HF("compressed-tensors",
	      ",\"config_groups\":{\"a\":{\"weights\":{" INT4 "}},\"b\":{"
	      "\"weights\":{\"num_bits\":4,\"type\":\"float\","
	      "\"group_size\":32}}}"),
	    "w.weight_packed I32 16,8|w.weight_scale BF16 16,2", "several",
	    128 },
	/* bitsandbytes, MXFP4, ModelOpt, BitNet */
	{ HF("bitsandbytes", ""), "w U8 512,1|w.absmax F32 15|" NF4, "absmax",
	    512 },
	{ HF("bitsandbytes", ""), "w U8 512,1|w.absmax F32 16", "quant_state",
	    512 },
	{ HF("bitsandbytes", ""), "w.weight I8 16,64|w.SCB F32 15", "SCB",
	    1024 },
	{ HF("mxfp4", ""), "w_blocks U8 2,4,4,8|w_scales U8 2,4,4", "blocks",
	    256 },
	{ HF("mxfp4", ""), "w_blocks U8 2,4,4,16|w_scales U8 2,4,2", "blocks",
	    512 },
	{ HF("modelopt", ""), "w.weight U8 16,32|w.weight_scale F8_E4M3 16,5",
	    "configured", 512 },
	{ HF("bitnet", ""), "w.weight U8 4,64|w.weight_scale BF16 4",
	    "configured", 256 },
	/* parts of which the weight is not there; words of nothing */
	{ NULL, "w.qweight I32 8,16", "nothing tells", 128 },
	{ NULL, "w F4 8|s F8_E8M0 8", "nothing tells", 16 },
	{ HF("gptq", ",\"bits\":4,\"group_size\":64"), "w.weight U8 4,8",
	    "nothing tells", 32 },
	{ MLX("\"bits\":4,\"group_size\":64"), "w.weight U32 10,8",
	    "nothing tells", 80 },
	/* a scheme that is not known is not known even without words */
	{ HF("aqlm", ""), "w.codebooks F16 8", "aqlm", 8 },
	{ "{\"compression_config\":{}}", "w.weight F16 8", "not named", 8 },
};

START_TEST(c02_what_does_not_fit_is_unknown)
{
	describe(unknown[_i].tensors, unknown[_i].config);
	ck_assert_msg(!bundle->parameters_known, "%s", unknown[_i].tensors);
	ck_assert_uint_eq(bundle->parameter_count, unknown[_i].lower_bound);
	ck_assert_msg(
	    note_with(bundle, WD_NOTE_UNKNOWN, "packed") != NULL, "no note");
	ck_assert_msg(
	    note_with(bundle, WD_NOTE_UNKNOWN, unknown[_i].why) != NULL,
	    "%s: %s", unknown[_i].why, bundle->notes[0].text);
	stop();
}
END_TEST

/* Two conversions that differ in one module's bits are told apart, by the
 * encodings and by what they are called. */
START_TEST(mixed_bits_are_told_apart)
{
	static const char config[] =
	    MLX("\"bits\":4,\"group_size\":64,"
		"\"m.self_attn.q_proj\":{\"bits\":8,\"group_size\":64}");
	struct wd_sha256 four;

	describe("m.self_attn.q_proj.weight U32 10,8|"
		 "m.self_attn.q_proj.scales F16 10,1|"
		 "m.self_attn.q_proj.biases F16 10,1",
	    MLX("\"bits\":4,\"group_size\":64"));
	four = bundle->encoding_digest;
	ck_assert_uint_eq(bundle->parameter_count, 640);
	stop();
	describe("m.self_attn.q_proj.weight U32 10,16|"
		 "m.self_attn.q_proj.scales F16 10,1|"
		 "m.self_attn.q_proj.biases F16 10,1",
	    config);
	ck_assert_uint_eq(bundle->parameter_count, 640);
	ck_assert(!wd_sha256_equal(&four, &bundle->encoding_digest));
	ck_assert_ptr_nonnull(encoding("mlx-affine-8bit-g64"));
	ck_assert_ptr_nonnull(
	    strstr(bundle->derived_recipe, "derived:mlx-affine-8bit-g64-"));
	stop();
}
END_TEST

/* The vector of agent/bundle/README.md. */
START_TEST(the_page_has_the_vector)
{
	static char page[131072];
	char digest[WD_SHA256_TEXT_BYTES];
	FILE *readme = fopen("../agent/bundle/README.md", "rb");

	ck_assert_ptr_nonnull(readme);
	page[fread(page, 1, sizeof(page) - 1, readme)] = '\0';
	ck_assert_int_eq(fclose(readme), 0);
	describe("w.weight U32 10,8|w.scales F16 10,1|w.biases F16 10,1|"
		 "n.weight BF16 64",
	    MLX("\"bits\":4,\"group_size\":64"));
	(void)wd_sha256_text(&bundle->encoding_digest, digest);
	ck_assert_msg(strstr(page, digest) != NULL, "%s", digest);
	stop();
}
END_TEST

/* Scales are stored elements and bytes, but no parameters. */
START_TEST(scales_stand_apart)
{
	size_t i, helpers = 0;

	describe("w.weight U32 10,8|w.scales F16 10,1|w.biases F16 10,1|"
		 "layer.scales F16 5",
	    MLX("\"bits\":4,\"group_size\":64"));
	for (i = 0; i < bundle->tensor_count; i++)
		helpers += bundle->tensors[i].helper;
	ck_assert_uint_eq(helpers, 2);
	ck_assert_uint_eq(bundle->parameter_count, 645);
	ck_assert_uint_eq(bundle->stored_elements, 105);
	ck_assert_uint_eq(encoding("F16")->tensors, 3);
	ck_assert_uint_eq(encoding("F16")->parameters, 5);
	stop();
}
END_TEST

/* More rules than are kept: not known, never the first ones only. */
START_TEST(too_many_rules_are_unknown)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text;
	int i;

	wd_buf_init(&text, 1 << 16);
	(void)wd_buf_text(&text,
	    "quantize_config.json={\"bits\":4,\"group_size\":64,\"dynamic\":{"
	    "\"x\":{}");
	for (i = 1; i <= 64; i++)
		(void)wd_buf_printf(
		    &text, ",\"%d\":{\"group_size\":%d}", i, 1000 + i);
	(void)wd_buf_text(&text, "}}");
	describe("w.qweight I32 8,16|w.scales F16 1,16", wd_buf_string(&text));
	ck_assert(!bundle->parameters_known);
	ck_assert_ptr_nonnull(note_with(bundle, WD_NOTE_UNKNOWN, "rules"));
	stop();
}
END_TEST

WD_SUITE_BEGIN("bundle packed")
WD_LOOP(c01_mlx_words_are_unpacked, mlx);
WD_LOOP(c02_packed_words_are_unpacked, hugging_face);
WD_LOOP(c02_what_does_not_fit_is_unknown, unknown);
WD_TEST(mixed_bits_are_told_apart);
WD_TEST(the_page_has_the_vector);
WD_TEST(scales_stand_apart);
WD_TEST(too_many_rules_are_unknown);
WD_SUITE_END
