/* Every allocation of this room fails once; nothing leaks, nothing lies. */
#include <string.h>

#include "base/mem.h"
#include "support/bundle_make.h"
#include "support/memory_folder.h"
#include "support/suite.h"

#define STEPS 100000

static struct memory_folder folder;

static void
put(const char *name, struct wd_buf *bytes)
{
	(void)memory_folder_add(&folder, name, wd_buf_slice(bytes));
	wd_buf_release(bytes);
}

static void
put_gguf(unsigned shard, const char *name)
{
	uint64_t dims[2] = { 32, 4 };
	char tensor[] = "tensor?";
	struct make_gguf gguf;
	struct wd_buf file;

	make_gguf_init(&gguf);
	wd_buf_init(&file, MAKE_MAX_BYTES);
	tensor[6] = (char)('0' + shard);
	make_gguf_string(&gguf, "general.name", "A name\nwith escapes\xff");
	make_gguf_string(&gguf, "general.architecture", "llama");
	make_gguf_u32(&gguf, "general.file_type", 15);
	make_gguf_strings(&gguf, "some.array", "s", 3);
	make_gguf_strings(&gguf, "tokenizer.ggml.tokens", "t", 3);
	if (shard > 0) {
		make_gguf_number(&gguf, "split.no", MAKE_U16, shard - 1);
		make_gguf_number(&gguf, "split.count", MAKE_U16, 3);
	}
	ck_assert(make_gguf_tensor(&gguf, tensor, "Q8_0", dims, 2));
	make_gguf_raw_tensor(&gguf, wd_slice_text(shard == 1 ? "x\n" : "y"), 2,
	    dims, 2, 777, gguf.data_size);
	ck_assert_int_eq(make_gguf_file(&gguf, 1, &file), WD_OK);
	put(name, &file);
	make_gguf_release(&gguf);
}

static void
make_single(void)
{
	put_gguf(0, "m.gguf");
}

/* Shards 1 and 2 of 3. */
static void
make_set(void)
{
	put_gguf(1, "m-00001-of-00003.gguf");
	put_gguf(2, "m-00002-of-00003.gguf");
	(void)memory_folder_text(&folder, "m-00003-of-00003.gguf", "GGUF");
}

static void
make_dir(void)
{
	struct make_safetensors st;
	struct wd_buf file;

	make_safetensors_init(&st);
	wd_buf_init(&file, MAKE_MAX_BYTES);
	make_safetensors_tensor(&st, "a", "F16", "[4]", 8);
	make_safetensors_tensor(&st, "b\\u0007", "ZZ9", "[4]", 8);
	make_safetensors_tensor(&st, "lm_head.weight", "F16", "[4]", 8);
	make_safetensors_tensor(&st, "embed_tokens.weight", "F16", "[4]", 8);
	ck_assert_int_eq(make_safetensors_file(&st, 1, &file), WD_OK);
	put("model-00001-of-00002.safetensors", &file);
	make_safetensors_release(&st);
	(void)memory_folder_text(&folder, "stray.safetensors", "x");
	(void)memory_folder_text(&folder, "other.safetensors.index.json", "{");
	(void)memory_folder_text(&folder, "model.safetensors.index.json",
	    "{\"weight_map\":{\"a\":\"model-00001-of-00002.safetensors\","
	    "\"d\":\"../x\",\"e\":\"model-00002-of-00002.safetensors\"}}");
	(void)memory_folder_text(&folder, "config.json",
	    "{\"a.b\":1,\"a\":{\"b\":[1,{\"y\":2,\"x\":\"\\u0001\"}]},"
	    "\"model_type\":\"m\",\"recipe\":\"r\",\"nan\":NaN,"
	    "\"torch_dtype\":\"bfloat16\",\"tie_word_embeddings\":true}");
	(void)memory_folder_text(&folder, "quantize_config.json", "{\"b\":4}");
	(void)memory_folder_text(&folder, "tokenizer.json", "{}");
}

/* Packed weights, one that fits and one that does not, and two recipes. */
static void
make_packed(void)
{
	struct make_safetensors st;
	struct wd_buf file;

	make_safetensors_init(&st);
	wd_buf_init(&file, MAKE_MAX_BYTES);
	make_safetensors_raw(&st, "\"__metadata__\":{\"format\":\"mlx\"}");
	make_safetensors_tensor(&st, "a.weight", "U32", "[10,8]", 320);
	make_safetensors_tensor(&st, "a.scales", "F16", "[10,1]", 20);
	make_safetensors_tensor(&st, "a.biases", "F16", "[10,1]", 20);
	make_safetensors_tensor(&st, "b.weight", "U32", "[10,8]", 320);
	make_safetensors_tensor(&st, "b.scales", "F16", "[10,2]", 40);
	ck_assert_int_eq(make_safetensors_file(&st, 1, &file), WD_OK);
	put("model.safetensors", &file);
	make_safetensors_release(&st);
	(void)memory_folder_text(&folder, "config.json",
	    "{\"quantization\":{\"bits\":4,\"group_size\":64}}");
	(void)memory_folder_text(&folder, "recipe.yaml",
	    "id: a\nstage:\n  - {x: \"\\x01\", y: [1, ~]}\n  - true\n");
	(void)memory_folder_text(&folder, "recipe.json", "{");
}

static const struct {
	void (*make)(void);
	const char *name; /* NULL: the folder */
} cases[] = {
	{ make_single, "m.gguf" },
	{ make_set, "m-00002-of-00003.gguf" },
	{ make_dir, "model-00001-of-00002.safetensors" },
	{ make_dir, "config.json" },
	{ make_packed, "model.safetensors" },
	{ make_single, NULL },
	{ make_dir, NULL },
};

static enum wd_status
describe(const char *name, struct wd_bundle **bundle, struct wd_error *err)
{
	struct wd_folder vtable = memory_folder_of(&folder);

	if (name == NULL)
		return wd_bundle_describe_folder(&vtable, NULL, bundle, err);
	return memory_folder_describe(&folder, name, bundle, err);
}

/* With the n-th allocation failing the answer is WD_NOMEM, whatever else is
 * wrong with the bundle; with none failing it is WD_OK. */
START_TEST(every_allocation_of_describe_may_fail)
{
	struct wd_bundle *bundle = NULL;
	struct wd_error err;
	enum wd_status st = WD_NOMEM;
	uint64_t n;

	memory_folder_init(&folder);
	cases[_i].make();
	for (n = 0; n < STEPS && st != WD_OK; n++) {
		wd_error_init(&err);
		wd_mem_fail_after(n);
		st = describe(cases[_i].name, &bundle, &err);
		if (wd_mem_has_failed())
			ck_assert_int_eq(st, WD_NOMEM);
		wd_mem_fail_after(UINT64_MAX);
		ck_assert_uint_eq(folder.open_now, 0);
		if (st == WD_OK)
			break;
		ck_assert_int_eq(err.status, WD_NOMEM);
		ck_assert_ptr_null(bundle);
	}
	ck_assert_int_eq(st, WD_OK);
	ck_assert_uint_gt(n, 20);
	wd_bundle_free(&bundle);
	memory_folder_release(&folder);
}
END_TEST

START_TEST(every_allocation_of_set_digest_may_fail)
{
	struct wd_sha256 digest = { { 1 } };
	struct wd_bundle *bundle = NULL;
	enum wd_status st = WD_NOMEM;
	uint64_t n;

	memory_folder_init(&folder);
	make_single();
	ck_assert_int_eq(describe("m.gguf", &bundle, NULL), WD_OK);
	for (n = 0; n < STEPS && st != WD_OK; n++) {
		wd_mem_fail_after(n);
		st = wd_bundle_set_digest(bundle, 0, &digest, NULL);
		if (wd_mem_has_failed())
			ck_assert_int_eq(st, WD_NOMEM);
		wd_mem_fail_after(UINT64_MAX);
		ck_assert_int_eq(bundle->has_content_digest, st == WD_OK);
	}
	ck_assert_uint_gt(n, 3);
	wd_bundle_free(&bundle);
	ck_assert_ptr_null(bundle);
	wd_bundle_free(&bundle);
	memory_folder_release(&folder);
}
END_TEST

WD_SUITE_BEGIN("bundle memory")
WD_LOOP(every_allocation_of_describe_may_fail, cases);
WD_TEST(every_allocation_of_set_digest_may_fail);
WD_SUITE_END
