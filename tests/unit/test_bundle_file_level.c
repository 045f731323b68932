/* What is said of formats whose tensors are not read: files, members, settings,
 * and nothing that two different ones could have in common by being nothing. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "support/memory_folder.h"
#include "support/suite.h"
#include "support/zip_make.h"

static struct memory_folder folder;
static struct wd_bundle *bundle;
static struct wd_error err;

#define PICKLE "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.rest"
#define SHARD_1 "pytorch_model-00001-of-00002.bin"
#define SHARD_2 "pytorch_model-00002-of-00002.bin"

static void
start(void)
{
	memory_folder_init(&folder);
	bundle = NULL;
	wd_error_init(&err);
}

static void
finish(void)
{
	ck_assert_uint_eq(folder.open_now, 0);
	ck_assert_uint_eq(folder.strange_names, 0);
	wd_bundle_free(&bundle);
	memory_folder_release(&folder);
}

static struct memory_file *
put_checkpoint(const char *name, const char *inside)
{
	struct make_zip zip;
	struct memory_file *file;

	make_zip_init(&zip);
	make_zip_checkpoint(&zip, inside);
	file = memory_folder_add(&folder, name, wd_buf_slice(&zip.file));
	make_zip_release(&zip);
	return file;
}

static enum wd_status
describe(const char *name)
{
	struct wd_folder vtable = memory_folder_of(&folder);

	wd_error_init(&err);
	if (name != NULL)
		return memory_folder_describe(&folder, name, &bundle, &err);
	return wd_bundle_describe_folder(&vtable, NULL, &bundle, &err);
}

static void
check_unread(enum wd_bundle_format format)
{
	static const struct wd_sha256 nothing;

	ck_assert_int_eq(bundle->format, format);
	ck_assert(bundle->tensors_unread);
	ck_assert(!bundle->parameters_known);
	ck_assert_uint_eq(bundle->parameter_count, 0);
	ck_assert_uint_eq(bundle->tensor_count, 0);
	ck_assert_str_eq(bundle->derived_recipe, "");
	ck_assert(wd_sha256_equal(&bundle->encoding_digest, &nothing));
	ck_assert_ptr_nonnull(
	    note_with(bundle, WD_NOTE_UNKNOWN, "parameters unknown"));
}

static enum wd_bundle_format
sniffed(const struct memory_file *file)
{
	enum wd_bundle_format format = WD_FORMAT_GGUF;
	struct wd_slice bytes = wd_buf_slice(&file->bytes);
	struct wd_source source = wd_source_memory(&bytes);

	ck_assert_int_eq(wd_bundle_sniff(&source, &format, NULL), WD_OK);
	return format;
}

static void
check_incomplete(const char *note)
{
	ck_assert(bundle->incomplete);
	ck_assert_ptr_nonnull(note_with(bundle, WD_NOTE_INCOMPLETE, note));
}

/* ---- PyTorch --------------------------------------------------------------
 */

START_TEST(a_checkpoint_lists_its_members)
{
	start();
	ck_assert_int_eq(
	    sniffed(put_checkpoint("model.pt", "model")), WD_FORMAT_PYTORCH);
	ck_assert_int_eq(describe("model.pt"), WD_OK);
	check_unread(WD_FORMAT_PYTORCH);
	ck_assert(bundle->single_file);
	ck_assert(!bundle->incomplete);
	ck_assert_uint_eq(bundle->setting_count, 5);
	ck_assert_str_eq(setting_of(bundle, "bundle.member.data/0"),
	    "16 bytes, crc32 00001002");
	ck_assert_str_eq(setting_of(bundle, "bundle.member.data.pkl"),
	    "4 bytes, crc32 00001000");
	ck_assert_ptr_nonnull(
	    note_with(bundle, WD_NOTE_UNKNOWN, "2 storages of 20 bytes"));
	finish();
}
END_TEST

/* The folder in the archive is called as the file was. */
START_TEST(a_renamed_checkpoint_has_the_same_settings)
{
	struct wd_sha256 settings;

	start();
	(void)put_checkpoint("a.pt", "a");
	(void)put_checkpoint("b.pt", "another");
	ck_assert_int_eq(describe("a.pt"), WD_OK);
	settings = bundle->settings_digest;
	wd_bundle_free(&bundle);
	ck_assert_int_eq(describe("b.pt"), WD_OK);
	ck_assert(wd_sha256_equal(&settings, &bundle->settings_digest));
	finish();
}
END_TEST

START_TEST(an_archive_without_a_pickle_is_none)
{
	struct make_zip zip;
	struct memory_file *file;

	start();
	make_zip_init(&zip);
	make_zip_add(&zip, "data.pkl", wd_slice_text("a"), 1);
	make_zip_add(&zip, "m/data.pkl/x", wd_slice_text("a"), 1);
	make_zip_add(&zip, "m/other", wd_slice_text("a"), 1);
	make_zip_finish(&zip);
	file = memory_folder_add(&folder, "m.pt", wd_buf_slice(&zip.file));
	make_zip_release(&zip);
	ck_assert_int_eq(sniffed(file), WD_FORMAT_UNKNOWN);
	ck_assert_int_eq(describe("m.pt"), WD_MALFORMED);
	memory_file_rename(file, "m.zip");
	ck_assert_int_eq(describe("m.zip"), WD_UNSUPPORTED);
	finish();
}
END_TEST

START_TEST(a_pickle_is_never_run)
{
	start();
	ck_assert_int_eq(sniffed(memory_folder_text(&folder, "old", PICKLE)),
	    WD_FORMAT_PYTORCH);
	ck_assert_int_eq(describe("old"), WD_OK);
	check_unread(WD_FORMAT_PYTORCH);
	ck_assert_uint_eq(bundle->setting_count, 0);
	finish();
}
END_TEST

static const struct {
	const char *what;
	const char *name;
	const char *bytes;
	enum wd_status status;
} wrong[] = {
	{ "text", "m.pt", "these are no weights", WD_MALFORMED },
	{ "short", "m.pth", "PK\3\4", WD_TRUNCATED },
	{ "cut", "m.ckpt", "PK\3\4 and then nothing more", WD_TRUNCATED },
	{ "an empty engine", "rank0.engine", "", WD_TRUNCATED },
	{ "a model that is none", "m.mlmodel", "text", WD_MALFORMED },
	{ "an empty model", "m.mlmodel", "", WD_TRUNCATED },
	{ "a pickle by another name", "m.pkl", "\x80\x04xxxxxxxxxxxxxxx",
	    WD_UNSUPPORTED },
	{ "an engine of no rank", "rank.engine", "xxxxxxxxxxxxxxxx",
	    WD_UNSUPPORTED },
	{ "an engine of rank 00", "rank00.engine", "xxxxxxxxxxxxxxxx",
	    WD_UNSUPPORTED },
};

START_TEST(what_is_none_is_refused)
{
	start();
	(void)memory_folder_text(&folder, wrong[_i].name, wrong[_i].bytes);
	ck_assert_msg(describe(wrong[_i].name) == wrong[_i].status, "%s: %s",
	    wrong[_i].what, err.message);
	finish();
}
END_TEST

START_TEST(shards_are_one_bundle)
{
	start();
	(void)put_checkpoint(SHARD_1, "a");
	(void)put_checkpoint(SHARD_2, "b");
	(void)memory_folder_text(&folder, "pytorch_model.bin.index.json", "{}");
	(void)memory_folder_text(
	    &folder, "config.json", "{\"model_type\":\"llama\"}");
	ck_assert_int_eq(describe(NULL), WD_OK);
	check_unread(WD_FORMAT_PYTORCH);
	ck_assert_uint_eq(bundle->file_count, 4);
	ck_assert(!bundle->incomplete);
	ck_assert_str_eq(bundle->architecture, "llama");
	ck_assert_ptr_nonnull(
	    setting_of(bundle, "bundle.member." SHARD_2 ":data/1"));
	finish();
}
END_TEST

START_TEST(a_missing_shard_is_named)
{
	start();
	(void)put_checkpoint(SHARD_2, "b");
	ck_assert_int_eq(describe(SHARD_2), WD_OK);
	check_incomplete(SHARD_1);
	ck_assert(!bundle->files[0].present);
	finish();
}
END_TEST

START_TEST(a_broken_shard_is_named)
{
	start();
	(void)memory_folder_text(&folder, SHARD_1, "PK\3\4 cut, and no end");
	(void)put_checkpoint(SHARD_2, "b");
	ck_assert_int_eq(describe(SHARD_2), WD_OK);
	check_incomplete(SHARD_1 ": the archive has no end");
	finish();
}
END_TEST

START_TEST(an_adapter_is_one)
{
	start();
	(void)put_checkpoint("adapter_model.bin", "a");
	(void)memory_folder_text(&folder, "adapter_config.json", "{\"r\":8}");
	ck_assert_int_eq(describe(NULL), WD_OK);
	ck_assert_int_eq(bundle->kind, WD_KIND_ADAPTER);
	ck_assert_str_eq(setting_of(bundle, "bundle.adapter_config.r"), "8");
	finish();
}
END_TEST

START_TEST(an_unlisted_folder_leaves_it_incomplete)
{
	struct wd_slice bytes;

	start();
	bytes = wd_buf_slice(&put_checkpoint("pytorch_model.bin", "a")->bytes);
	folder.list_status = WD_DENIED;
	ck_assert_int_eq(describe("pytorch_model.bin"), WD_OK);
	check_incomplete("could not be listed");
	wd_bundle_free(&bundle);
	ck_assert_int_eq(
	    describe_bytes(bytes, "pytorch_model.bin", &bundle, &err), WD_OK);
	check_incomplete("folder of the file is not known");
	finish();
}
END_TEST

START_TEST(two_checkpoints_in_a_folder_are_two_bundles)
{
	start();
	(void)put_checkpoint("a.pt", "a");
	(void)put_checkpoint("b.pt", "a");
	ck_assert_int_eq(describe(NULL), WD_INVALID);
	finish();
}
END_TEST

/* Every loader takes the safetensors of a repository that has both. */
START_TEST(other_formats_come_first)
{
	static const char header[] = "\x02\0\0\0\0\0\0\0{}";

	start();
	(void)put_checkpoint("pytorch_model.bin", "a");
	(void)memory_folder_add(&folder, "model.safetensors",
	    (struct wd_slice){ (const uint8_t *)header, 10 });
	ck_assert_int_eq(describe(NULL), WD_OK);
	ck_assert_int_eq(bundle->format, WD_FORMAT_SAFETENSORS);
	ck_assert(!bundle->tensors_unread);
	finish();
}
END_TEST

/* ---- TensorRT-LLM ---------------------------------------------------------
 */

static const char engine_config[] =
    "{\"version\":\"0.10\",\"pretrained_config\":{\"architecture\":"
    "\"LlamaForCausalLM\",\"quantization\":{\"quant_algo\":\"W4A16\"},"
    "\"mapping\":{\"world_size\":2}},\"build_config\":{\"max_batch_size\":8}}";

static void
put_engines(void)
{
	(void)memory_folder_text(&folder, "config.json", engine_config);
	(void)memory_folder_text(&folder, "rank0.engine", "ftrt 0");
	(void)memory_folder_text(&folder, "rank1.engine", "ftrt 11");
}

static const char *const engine_names[] = { NULL, "rank1.engine" };

START_TEST(an_engine_directory)
{
	start();
	put_engines();
	ck_assert_int_eq(describe(engine_names[_i]), WD_OK);
	check_unread(WD_FORMAT_TENSORRT);
	ck_assert(!bundle->incomplete);
	ck_assert_uint_eq(bundle->file_count, 3);
	ck_assert_uint_eq(bundle->files[2].size_bytes, 7);
	ck_assert_str_eq(bundle->architecture, "LlamaForCausalLM");
	ck_assert_str_eq(
	    setting_of(
		bundle, "bundle.pretrained_config.quantization.quant_algo"),
	    "W4A16");
	finish();
}
END_TEST

static const struct {
	const char *config;
	const char *engines[3];
	const char *note;
} engine_faults[] = {
	{ engine_config, { "rank0.engine" }, "there are engines of 1" },
	{ engine_config, { "rank1.engine" }, "rank0.engine: " },
	{ engine_config, { "rank0.engine", "rank1.engine", "rank2.engine" },
	    "for 2 ranks, and there are engines of 3" },
	{ "{\"a\":1}", { "rank0.engine" }, "no config.json with a pretrained" },
	{ "{", { "rank0.engine" }, "config.json: " },
};

START_TEST(missing_engines_are_named)
{
	size_t i;

	start();
	(void)memory_folder_text(
	    &folder, "config.json", engine_faults[_i].config);
	for (i = 0; i < 3 && engine_faults[_i].engines[i] != NULL; i++)
		(void)memory_folder_text(
		    &folder, engine_faults[_i].engines[i], "ftrt");
	ck_assert_int_eq(describe(NULL), WD_OK);
	check_incomplete(engine_faults[_i].note);
	finish();
}
END_TEST

/* ---- Core ML --------------------------------------------------------------
 */

#define IN_PACKAGE "Data/com.apple.CoreML/"

static struct memory_file *
put_blobs(const char *name, uint32_t count, unsigned blobs)
{
	struct memory_file *file;
	struct wd_buf bytes;
	unsigned i;

	wd_buf_init(&bytes, 65536);
	make_little(&bytes, count, 4);
	make_little(&bytes, 2, 4);
	for (i = 0; i < 7; i++)
		make_little(&bytes, 0, 8);
	while (blobs-- > 0) {
		make_little(&bytes, 0xdeadbeef, 8);
		for (i = 0; i < 7; i++)
			make_little(&bytes, 0, 8);
	}
	file = memory_folder_add(&folder, name, wd_buf_slice(&bytes));
	wd_buf_release(&bytes);
	return file;
}

static void
put_package(const char *weights_path)
{
	char manifest[512];

	(void)snprintf(manifest, sizeof(manifest),
	    "{\"fileFormatVersion\":\"1.0.0\",\"itemInfoEntries\":{"
	    "\"1F\":{\"path\":\"com.apple.CoreML/model.mlmodel\"},"
	    "\"2A\":{\"path\":\"%s\"}},\"rootModelIdentifier\":\"1F\"}",
	    weights_path);
	(void)memory_folder_text(&folder, "Manifest.json", manifest);
	(void)memory_folder_text(
	    &folder, IN_PACKAGE "model.mlmodel", "\x08\x09");
	(void)put_blobs(IN_PACKAGE "weights/weight.bin", 3, 3);
}

START_TEST(a_package)
{
	start();
	put_package("com.apple.CoreML/weights");
	ck_assert_int_eq(describe(NULL), WD_OK);
	check_unread(WD_FORMAT_COREML);
	ck_assert(!bundle->incomplete);
	ck_assert(!bundle->single_file);
	ck_assert_uint_eq(bundle->file_count, 3);
	ck_assert_str_eq(
	    bundle->files[1].name, IN_PACKAGE "weights/weight.bin");
	ck_assert_uint_eq(bundle->files[1].size_bytes, 256);
	ck_assert_uint_eq(bundle->setting_count, 0);
	ck_assert_ptr_nonnull(
	    note_with(bundle, WD_NOTE_UNKNOWN, "weight.bin holds 3 blobs"));
	finish();
}
END_TEST

START_TEST(a_manifest_that_leads_elsewhere_is_not_followed)
{
	start();
	put_package("../../other/weights");
	ck_assert_int_eq(describe(NULL), WD_OK);
	check_incomplete("names \"../../other/weights\"");
	ck_assert_uint_eq(bundle->file_count, 3);
	finish();
}
END_TEST

START_TEST(a_package_of_which_parts_are_broken)
{
	start();
	put_package("com.apple.CoreML/weights");
	(void)put_blobs(IN_PACKAGE "weights/1-weight.bin", 4, 1);
	(void)memory_folder_text(
	    &folder, IN_PACKAGE "weights/2-weight.bin", "none");
	memory_file_rename(&folder.files[1], IN_PACKAGE "other");
	(void)memory_folder_text(&folder, IN_PACKAGE "weights/notes", "");
	ck_assert_int_eq(describe(NULL), WD_OK);
	check_incomplete(IN_PACKAGE "weights/1-weight.bin: the file is cut");
	check_incomplete(IN_PACKAGE "weights/2-weight.bin: ");
	check_incomplete(IN_PACKAGE "model.mlmodel: it is not there");
	finish();
}
END_TEST

static const char *const manifests[] = { "[", "{}",
	"{\"itemInfoEntries\":{\"1\":{}}}" };

START_TEST(a_manifest_that_is_none)
{
	start();
	put_package("com.apple.CoreML/weights");
	folder.files[0].slice = wd_slice_text(manifests[_i]);
	folder.files[0].size_bytes = folder.files[0].slice.len;
	ck_assert_int_eq(describe(NULL), WD_OK);
	ck_assert(bundle->incomplete);
	finish();
}
END_TEST

START_TEST(a_compiled_model)
{
	start();
	(void)memory_folder_text(&folder, "coremldata.bin", "data");
	(void)memory_folder_text(&folder, "model.mil", "program(1.0)");
	(void)put_blobs("weights/weight.bin", 1, 2);
	ck_assert_int_eq(describe(NULL), WD_OK);
	check_unread(WD_FORMAT_COREML);
	ck_assert(!bundle->incomplete);
	ck_assert_uint_eq(bundle->file_count, 3);
	finish();
}
END_TEST

START_TEST(folders_that_are_out_of_reach)
{
	struct wd_folder vtable;

	start();
	put_package("com.apple.CoreML/weights");
	vtable = memory_folder_of(&folder);
	vtable.enter = NULL;
	ck_assert_int_eq(
	    wd_bundle_describe_folder(&vtable, NULL, &bundle, &err),
	    WD_UNSUPPORTED);
	finish();
}
END_TEST

/* A process maps the weights; the model's folder is above theirs. */
START_TEST(held_weights_are_a_part)
{
	start();
	ck_assert_int_eq(
	    sniffed(put_blobs("weight.bin", 1, 1)), WD_FORMAT_COREML);
	ck_assert_int_eq(describe("weight.bin"), WD_OK);
	check_unread(WD_FORMAT_COREML);
	check_incomplete("the folder of the model was not looked at");
	finish();
}
END_TEST

START_TEST(a_lone_model)
{
	start();
	(void)memory_folder_text(&folder, "m.mlmodel", "\x08\x04");
	ck_assert_int_eq(describe("m.mlmodel"), WD_OK);
	check_unread(WD_FORMAT_COREML);
	ck_assert(!bundle->incomplete);
	finish();
}
END_TEST

/* ---- all ------------------------------------------------------------------
 */

/* Nobody holds all of nothing. */
START_TEST(a_file_counts_as_one_tensor)
{
	struct wd_range range = { 0, 4096 };
	struct wd_coverage found;

	start();
	(void)put_checkpoint("model.pt", "model");
	ck_assert_int_eq(describe("model.pt"), WD_OK);
	ck_assert_int_eq(
	    wd_bundle_coverage(bundle, 0, &range, 1, &found), WD_OK);
	ck_assert_uint_eq(found.tensors, 1);
	ck_assert_uint_eq(found.tensors_covered, 1);
	ck_assert_uint_eq(found.tensor_bytes, bundle->files[0].size_bytes);
	range.size_bytes = bundle->files[0].size_bytes - 1;
	ck_assert_int_eq(
	    wd_bundle_coverage(bundle, 0, &range, 1, &found), WD_OK);
	ck_assert_uint_eq(found.tensors_covered, 0);
	ck_assert_uint_eq(found.bytes_covered, range.size_bytes);
	finish();
}
END_TEST

static void
make_shards(void)
{
	(void)put_checkpoint(SHARD_1, "a");
	(void)put_checkpoint(SHARD_2, "b");
	(void)memory_folder_text(&folder, "pytorch_model.bin.index.json", "{}");
	(void)memory_folder_text(&folder, "recipe.yaml", "id: a\n");
}

static void
make_package(void)
{
	put_package("elsewhere");
}

static void (*const makes[])(void) = { make_shards, put_engines, make_package };

START_TEST(every_allocation_may_fail)
{
	enum wd_status st = WD_NOMEM;
	uint64_t n;

	start();
	makes[_i]();
	for (n = 0; n < 5000 && st != WD_OK; n++) {
		folder.inner_count = 0;
		wd_mem_fail_after(n);
		st = describe(NULL);
		if (wd_mem_has_failed())
			ck_assert_int_eq(st, WD_NOMEM);
		wd_mem_fail_after(UINT64_MAX);
		ck_assert_uint_eq(folder.open_now, 0);
	}
	ck_assert_int_eq(st, WD_OK);
	finish();
}
END_TEST

WD_SUITE_BEGIN("bundle file level")
WD_TEST(a_checkpoint_lists_its_members);
WD_TEST(a_renamed_checkpoint_has_the_same_settings);
WD_TEST(an_archive_without_a_pickle_is_none);
WD_TEST(a_pickle_is_never_run);
WD_LOOP(what_is_none_is_refused, wrong);
WD_TEST(shards_are_one_bundle);
WD_TEST(a_missing_shard_is_named);
WD_TEST(a_broken_shard_is_named);
WD_TEST(an_adapter_is_one);
WD_TEST(an_unlisted_folder_leaves_it_incomplete);
WD_TEST(two_checkpoints_in_a_folder_are_two_bundles);
WD_TEST(other_formats_come_first);
WD_LOOP(an_engine_directory, engine_names);
WD_LOOP(missing_engines_are_named, engine_faults);
WD_TEST(a_package);
WD_TEST(a_manifest_that_leads_elsewhere_is_not_followed);
WD_TEST(a_package_of_which_parts_are_broken);
WD_LOOP(a_manifest_that_is_none, manifests);
WD_TEST(a_compiled_model);
WD_TEST(folders_that_are_out_of_reach);
WD_TEST(held_weights_are_a_part);
WD_TEST(a_lone_model);
WD_TEST(a_file_counts_as_one_tensor);
WD_LOOP(every_allocation_may_fail, makes);
WD_SUITE_END
