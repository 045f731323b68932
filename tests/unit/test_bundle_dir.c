/* Directories of safetensors: index, strays, settings, tokenizer, labels. */
#include <stdio.h>
#include <string.h>

#include "support/bundle_make.h"
#include "support/memory_folder.h"
#include "support/suite.h"

#define INDEX "model.safetensors.index.json"
#define SHARD_1 "model-00001-of-00002.safetensors"
#define SHARD_2 "model-00002-of-00002.safetensors"

static struct memory_folder folder;
static struct wd_bundle *bundle;
static struct wd_error err;

static void
put_weights(const char *file, const char *const *names, size_t count)
{
	struct make_safetensors st;
	struct wd_buf bytes;
	size_t i;

	make_safetensors_init(&st);
	wd_buf_init(&bytes, MAKE_MAX_BYTES);
	for (i = 0; i < count; i++)
		make_safetensors_tensor(&st, names[i], "F16", "[10]", 20);
	ck_assert_int_eq(make_safetensors_file(&st, 1, &bytes), WD_OK);
	(void)memory_folder_add(&folder, file, wd_buf_slice(&bytes));
	wd_buf_release(&bytes);
	make_safetensors_release(&st);
}

static void
put_one(const char *file, const char *name)
{
	put_weights(file, &name, 1);
}

static void
start(void)
{
	memory_folder_init(&folder);
	wd_error_init(&err);
}

static void
start_sharded(const char *weight_map)
{
	static const char *const first[] = { "a", "b" };

	start();
	put_weights(SHARD_1, first, 2);
	put_one(SHARD_2, "c");
	(void)memory_folder_text(&folder, INDEX, weight_map);
}

static const char right_map[] = "{\"metadata\":{\"total_size\":60},"
				"\"weight_map\":{\"a\":\"" SHARD_1 "\","
				"\"b\":\"" SHARD_1 "\",\"c\":\"" SHARD_2 "\"}}";

static void
describe(const char *name)
{
	ck_assert_int_eq(
	    memory_folder_describe(&folder, name, &bundle, &err), WD_OK);
}

static void
stop(void)
{
	ck_assert_uint_eq(folder.open_now, 0);
	ck_assert_uint_eq(folder.strange_names, 0);
	wd_bundle_free(&bundle);
	memory_folder_release(&folder);
}

static const char *const entrances[] = { SHARD_1, SHARD_2, INDEX,
	"config.json" };

START_TEST(any_file_finds_the_whole_bundle)
{
	start_sharded(right_map);
	(void)memory_folder_text(
	    &folder, "config.json", "{\"model_type\":\"llama\"}");
	describe(entrances[_i]);
	ck_assert_uint_eq(bundle->file_count, 4);
	ck_assert_str_eq(bundle->files[0].name, "config.json");
	ck_assert_int_eq(bundle->files[0].role, WD_ROLE_SETTINGS);
	ck_assert_str_eq(bundle->files[1].name, SHARD_1);
	ck_assert_int_eq(bundle->files[1].role, WD_ROLE_WEIGHTS);
	ck_assert_int_eq(bundle->files[3].role, WD_ROLE_INDEX);
	ck_assert_uint_eq(bundle->files[3].size_bytes, sizeof(right_map) - 1);
	ck_assert_uint_eq(bundle->parameter_count, 30);
	ck_assert_uint_eq(bundle->tensors[2].file, 2);
	ck_assert_str_eq(bundle->architecture, "llama");
	ck_assert(!bundle->incomplete);
	ck_assert(!bundle->single_file);
	ck_assert_uint_eq(bundle->note_count, 0);
	stop();
}
END_TEST

START_TEST(a_folder_is_described_by_itself)
{
	struct wd_folder vtable = memory_folder_of(&folder);

	start_sharded(right_map);
	ck_assert_int_eq(
	    wd_bundle_describe_folder(&vtable, NULL, &bundle, &err), WD_OK);
	ck_assert_uint_eq(bundle->parameter_count, 30);
	stop();
	start();
	ck_assert_int_eq(
	    wd_bundle_describe_folder(&vtable, NULL, &bundle, &err),
	    WD_NOTFOUND);
	put_one("a.safetensors", "a");
	put_one("b.safetensors", "b");
	ck_assert_int_eq(
	    wd_bundle_describe_folder(&vtable, NULL, &bundle, &err),
	    WD_INVALID);
	put_one("model.safetensors", "m");
	ck_assert_int_eq(
	    wd_bundle_describe_folder(&vtable, NULL, &bundle, &err), WD_OK);
	ck_assert_str_eq(bundle->tensors[0].name, "m");
	ck_assert_ptr_nonnull(
	    note_with(bundle, WD_NOTE_NOT_PART, "a.safetensors"));
	stop();
}
END_TEST

/* C15: the index is the authority. */
START_TEST(c15_a_missing_shard_is_named)
{
	start_sharded(right_map);
	folder.files[1].open_status = WD_NOTFOUND;
	describe(SHARD_1);
	ck_assert_ptr_nonnull(note_with(bundle, WD_NOTE_INCOMPLETE, SHARD_2));
	ck_assert(bundle->incomplete);
	ck_assert_uint_eq(bundle->parameter_count, 20);
	ck_assert(!bundle->files[1].present);
	/* The tensors that went with it are named, too. */
	ck_assert_ptr_nonnull(
	    note_with(bundle, WD_NOTE_INCOMPLETE, "no shard has: c"));
	stop();
}
END_TEST

/* No shard at all: still every tensor is named as missing. */
START_TEST(c15_all_shards_missing)
{
	start_sharded(right_map);
	folder.files[0].open_status = WD_NOTFOUND;
	folder.files[1].open_status = WD_NOTFOUND;
	describe(INDEX);
	ck_assert(bundle->incomplete);
	ck_assert_uint_eq(bundle->parameter_count, 0);
	ck_assert_ptr_nonnull(
	    note_with(bundle, WD_NOTE_INCOMPLETE, "no shard has: a, b, c"));
	stop();
}
END_TEST

START_TEST(c15_a_stray_copy_is_not_counted)
{
	start_sharded(right_map);
	put_one("model.safetensors", "a");
	put_one("consolidated.00.safetensors", "z");
	describe(SHARD_1);
	ck_assert_uint_eq(bundle->parameter_count, 30);
	ck_assert_uint_eq(bundle->file_count, 3);
	ck_assert_ptr_nonnull(note_with(bundle, WD_NOTE_NOT_PART,
	    "consolidated.00.safetensors, model.safetensors"));
	ck_assert(!bundle->incomplete);
	stop();
}
END_TEST

/* Somebody holds the stray: then that is what runs. */
START_TEST(c15_a_held_stray_is_a_bundle_of_its_own)
{
	start_sharded(right_map);
	put_one("consolidated.safetensors", "z");
	describe("consolidated.safetensors");
	ck_assert_uint_eq(bundle->parameter_count, 10);
	ck_assert_str_eq(bundle->tensors[0].name, "z");
	ck_assert_ptr_nonnull(note_with(bundle, WD_NOTE_NOT_PART, SHARD_1));
	stop();
}
END_TEST

START_TEST(c15_tensors_and_index_are_held_against_each_other)
{
	start_sharded("{\"weight_map\":{\"a\":\"" SHARD_2 "\",\"c\":\"" SHARD_2
		      "\",\"d\":\"" SHARD_1 "\"}}");
	describe(SHARD_1);
	ck_assert_ptr_nonnull(
	    note_with(bundle, WD_NOTE_INCOMPLETE, "no shard has: d"));
	ck_assert_ptr_nonnull(
	    note_with(bundle, WD_NOTE_DECLARED, "does not name: b"));
	ck_assert_ptr_nonnull(note_with(bundle, WD_NOTE_DECLARED,
	    "lie in another shard than the index says: a"));
	ck_assert(bundle->incomplete);
	stop();
}
END_TEST

START_TEST(many_disagreements_make_one_note)
{
	struct wd_buf map;
	int i;

	wd_buf_init(&map, 1 << 20);
	(void)wd_buf_text(&map, "{\"weight_map\":{");
	for (i = 0; i < 1000; i++)
		(void)wd_buf_printf(&map, "\"x%03d\":\"" SHARD_1 "\",", i);
	(void)wd_buf_text(&map, "\"c\":\"" SHARD_2 "\"}}");
	start_sharded(wd_buf_string(&map));
	describe(SHARD_1);
	ck_assert_ptr_nonnull(note_with(bundle, WD_NOTE_INCOMPLETE,
	    "x000, x001, x002, x003, x004 and 995 more"));
	wd_buf_release(&map);
	stop();
}
END_TEST

static const char *const escapes[] = { "../secret.safetensors", "/etc/shadow",
	"sub/model.safetensors", "..", ".", "" };

/* C15: nobody opens what leads elsewhere. */
START_TEST(c15_entries_that_lead_elsewhere_are_refused)
{
	char map[256];

	(void)snprintf(map, sizeof(map),
	    "{\"weight_map\":{\"a\":\"%s\",\"b\":\"" SHARD_1
	    "\",\"c\":\"" SHARD_2 "\"}}",
	    escapes[_i]);
	start_sharded(map);
	describe(SHARD_1);
	ck_assert_ptr_nonnull(
	    note_with(bundle, WD_NOTE_MALFORMED, "leads out of the folder"));
	ck_assert(bundle->incomplete);
	/* stop() checks that the folder was never asked. */
	stop();
}
END_TEST

static const char *const bad_indexes[] = { "{", "{}", "[]",
	"{\"weight_map\":[]}", "{\"weight_map\":{\"a\":1}}",
	"{\"weight_map\":{\"a\":\"" SHARD_1 "\",\"a\":\"" SHARD_2 "\"}}" };

/* It might have been the one that counts. */
START_TEST(an_index_that_cannot_be_read_leaves_doubt)
{
	start_sharded(bad_indexes[_i]);
	describe(SHARD_1);
	ck_assert(bundle->incomplete);
	ck_assert_ptr_nonnull(note_with(bundle, WD_NOTE_INCOMPLETE, INDEX));
	wd_bundle_free(&bundle);
	ck_assert_int_ne(
	    memory_folder_describe(&folder, INDEX, &bundle, &err), WD_OK);
	stop();
}
END_TEST

START_TEST(a_shard_that_no_index_lists_is_incomplete)
{
	start();
	put_one(SHARD_1, "a");
	describe(SHARD_1);
	ck_assert(bundle->incomplete);
	stop();
	start();
	put_one("0123abcd", "a"); /* a blob of the hub cache */
	describe("0123abcd");
	ck_assert(bundle->incomplete);
	stop();
}
END_TEST

/* An index of another model in the same folder does not count. */
START_TEST(the_index_that_lists_the_file_is_taken)
{
	start_sharded(right_map);
	put_one("other-00001-of-00002.safetensors", "x");
	(void)memory_folder_text(&folder, "other.safetensors.index.json",
	    "{\"weight_map\":{\"x\":\"other-00001-of-00002.safetensors\"}}");
	describe("other-00001-of-00002.safetensors");
	ck_assert_uint_eq(bundle->parameter_count, 10);
	ck_assert_uint_eq(bundle->file_count, 2);
	ck_assert(!bundle->incomplete);
	stop();
}
END_TEST

static void
put_other_indexes(unsigned count)
{
	char name[64];
	unsigned i;

	for (i = 0; i < count; i++) {
		(void)snprintf(
		    name, sizeof(name), "other-%02u.safetensors.index.json", i);
		(void)memory_folder_text(
		    &folder, name, "{\"weight_map\":{\"x\":\"x\"}}");
	}
}

/* Each may have 64 MB, and a folder thousands of them. */
START_TEST(index_files_are_tried_up_to_a_limit)
{
	static const unsigned counts[] = { WD_MAX_INDEX_FILES,
		WD_MAX_INDEX_FILES + 1, 3 * WD_MAX_INDEX_FILES };
	size_t i, opened = 0;

	start();
	put_one("model.safetensors", "a");
	put_other_indexes(counts[_i]);
	describe("model.safetensors");
	ck_assert_int_eq(bundle->incomplete, _i > 0);
	ck_assert_int_eq(note_with(bundle, WD_NOTE_INCOMPLETE,
			     "index files; 8 were tried") != NULL,
	    _i > 0);
	for (i = 0; i < folder.count; i++)
		if (strstr(folder.files[i].name, "index") != NULL)
			opened += folder.files[i].opened;
	ck_assert_uint_eq(opened, WD_MAX_INDEX_FILES);
	stop();
}
END_TEST

/* The limit concerns guesses: neither the usual name nor the given one. */
START_TEST(the_right_index_is_found_among_many)
{
	start_sharded(right_map);
	put_other_indexes(2 * WD_MAX_INDEX_FILES);
	(void)memory_folder_text(
	    &folder, "zz.safetensors.index.json", right_map);
	describe(SHARD_1);
	ck_assert(!bundle->incomplete);
	ck_assert_uint_eq(bundle->parameter_count, 30);
	wd_bundle_free(&bundle);
	describe("zz.safetensors.index.json");
	ck_assert(!bundle->incomplete);
	ck_assert_uint_eq(bundle->parameter_count, 30);
	stop();
}
END_TEST

/* "Could not look" is not "there is nothing". */
static const enum wd_status unlisted[] = { WD_GONE, WD_DENIED, WD_IO };

START_TEST(a_folder_that_cannot_be_listed_leaves_doubt)
{
	start();
	put_one("model.safetensors", "a");
	folder.list_status = unlisted[_i];
	describe("model.safetensors");
	ck_assert(bundle->incomplete);
	ck_assert_uint_eq(bundle->parameter_count, 10);
	wd_bundle_free(&bundle);
	ck_assert_int_eq(describe_bytes(folder.files[0].slice,
			     "model.safetensors", &bundle, &err),
	    WD_OK);
	ck_assert(bundle->incomplete);
	stop();
}
END_TEST

static const struct {
	const char *name, *text;
	enum wd_status open_status;
} lost[] = {
	{ "config.json", "{}", WD_DENIED },
	{ "config.json", "{}", WD_NOTFOUND }, /* a broken link */
	{ "config.json", "{}", WD_INVALID },  /* a FIFO */
	{ "config.json", "{", WD_OK },
	{ "config.json", "[]", WD_OK },
	{ "config.json", "", WD_OK },
	{ "config.json", "{\"a\":1,\"a\":2}", WD_OK },
	{ "generation_config.json", "x", WD_OK },
	{ "tokenizer.json", "{}", WD_DENIED },
};

START_TEST(a_side_file_that_cannot_be_read_leaves_doubt)
{
	start();
	put_one("model.safetensors", "a");
	memory_folder_text(&folder, lost[_i].name, lost[_i].text)->open_status =
	    lost[_i].open_status;
	describe("model.safetensors");
	ck_assert(bundle->incomplete);
	ck_assert_ptr_nonnull(
	    note_with(bundle, WD_NOTE_INCOMPLETE, lost[_i].name));
	ck_assert_uint_eq(bundle->setting_count, 0);
	ck_assert(!bundle->has_tokenizer);
	ck_assert_uint_eq(bundle->parameter_count, 10);
	stop();
}
END_TEST

START_TEST(settings_are_flat)
{
	start();
	put_one("model.safetensors", "a");
	(void)memory_folder_text(&folder, "config.json",
	    "{\"model_type\":\"m\",\"recipe\":\"mixed-8-4\",\"eps\":1e-05,"
	    "\"rope\":{\"theta\":1000000.0,\"type\":null,\"none\":{}},"
	    "\"ids\":[2,{\"b\":1,\"a\":[]}],\"big\":18446744073709551615,"
	    "\"inf\":Infinity}");
	(void)memory_folder_text(
	    &folder, "generation_config.json", "{\"temperature\":0.7}");
	describe("model.safetensors");
	ck_assert_str_eq(bundle->architecture, "m");
	ck_assert_str_eq(bundle->declared_recipe, "mixed-8-4");
	ck_assert_str_eq(setting_of(bundle, "bundle.eps"), "0.00001");
	ck_assert_str_eq(setting_of(bundle, "bundle.rope.theta"), "1000000");
	ck_assert_str_eq(setting_of(bundle, "bundle.rope.type"), "null");
	ck_assert_str_eq(setting_of(bundle, "bundle.rope.none"), "{}");
	ck_assert_str_eq(
	    setting_of(bundle, "bundle.ids"), "[2,{\"a\":[],\"b\":1}]");
	ck_assert_str_eq(
	    setting_of(bundle, "bundle.big"), "18446744073709551615");
	ck_assert_str_eq(setting_of(bundle, "bundle.inf"), "Infinity");
	ck_assert_str_eq(
	    setting_of(bundle, "bundle.generation_config.temperature"), "0.7");
	ck_assert_uint_eq(bundle->setting_count, 10);
	ck_assert(!bundle->incomplete);
	stop();
}
END_TEST

/* One flat key from two places: no value that a pin could equal. */
START_TEST(an_ambiguous_setting_equals_nothing)
{
	start();
	put_one("model.safetensors", "a");
	(void)memory_folder_text(&folder, "config.json",
	    "{\"a.b\":1,\"a\":{\"b\":2},\"c.d\":1,\"c\":{\"d\":1}}");
	describe("model.safetensors");
	ck_assert_str_eq(setting_of(bundle, "bundle.a.b"), "ambiguous: 1 2");
	ck_assert_str_eq(setting_of(bundle, "bundle.c.d"), "1");
	ck_assert_uint_eq(bundle->setting_count, 2);
	ck_assert_ptr_nonnull(note_with(bundle, WD_NOTE_DECLARED, "a.b"));
	stop();
}
END_TEST

START_TEST(the_tokenizer_is_its_files)
{
	struct wd_sha256 digest;

	start();
	put_one("model.safetensors", "a");
	(void)memory_folder_text(&folder, "tokenizer.json", "{}");
	(void)memory_folder_text(&folder, "vocab.json", "{}");
	describe("model.safetensors");
	ck_assert(bundle->has_tokenizer);
	ck_assert_uint_eq(bundle->setting_count, 0);
	digest = bundle->tokenizer_digest;
	wd_bundle_free(&bundle);
	memory_file_rename(&folder.files[2], "merges.txt");
	describe("model.safetensors");
	ck_assert(!wd_sha256_equal(&digest, &bundle->tokenizer_digest));
	stop();
}
END_TEST

static const struct {
	const char *config;
	bool known;
	bool noted;
} quantised[] = {
	{ "{\"quantization_config\":{\"quant_method\":\"gptq\"}}", true, true },
	{ "{\"quantization\":{\"bits\":4,\"group_size\":64}}", true, true },
	{ "{\"quantization_config\":{\"quant_method\":\"aqlm\"}}", false,
	    false },
	{ "{\"text_config\":{\"quantization_config\":{\"bits\":4}}}", false,
	    false },
	{ "{\"compression_config\":{}}", false, false },
	{ "{\"quantization_config\":null}", true, false },
	{ "{\"quantization\":false}", true, false },
	{ "{\"quantization_method\":\"none\"}", true, false },
};

/* A scheme that is not known may leave no trace in the names; one that is
 * known does, so plain tensors count, and the label gets a note. */
START_TEST(a_quantisation_config_without_packed_tensors)
{
	start();
	put_one("model.safetensors", "a");
	(void)memory_folder_text(&folder, "config.json", quantised[_i].config);
	describe("model.safetensors");
	ck_assert_int_eq(bundle->parameters_known, quantised[_i].known);
	ck_assert_int_eq(note_with(bundle, WD_NOTE_UNKNOWN, "packed") != NULL,
	    !quantised[_i].known);
	ck_assert_int_eq(note_with(bundle, WD_NOTE_DECLARED, "packed") != NULL,
	    quantised[_i].noted);
	stop();
}
END_TEST

START_TEST(a_quantize_config_is_read)
{
	start();
	put_one("model.safetensors", "a.qweight");
	(void)memory_folder_text(
	    &folder, "quantize_config.json", "{\"bits\":4}");
	describe("model.safetensors");
	ck_assert(!bundle->parameters_known);
	ck_assert_str_eq(
	    setting_of(bundle, "bundle.quantize_config.bits"), "4");
	stop();
}
END_TEST

/* C7: (b) only one is stored: it counts once; (c) both are stored: both
 * count, and a note says so. (a) is in test_bundle_safetensors. */
START_TEST(c07_tied_tensors_count_as_stored)
{
	static const char *const both[] = { "lm_head.weight",
		"model.embed_tokens.weight" };

	start();
	put_one("model.safetensors", "model.embed_tokens.weight");
	(void)memory_folder_text(
	    &folder, "config.json", "{\"tie_word_embeddings\":true}");
	describe("model.safetensors");
	ck_assert_uint_eq(bundle->parameter_count, 10);
	ck_assert_uint_eq(bundle->note_count, 0);
	stop();
	start();
	put_weights("model.safetensors", both, 2);
	(void)memory_folder_text(
	    &folder, "config.json", "{\"tie_word_embeddings\":true}");
	describe("model.safetensors");
	ck_assert_uint_eq(bundle->parameter_count, 20);
	ck_assert_ptr_nonnull(note_with(bundle, WD_NOTE_DECLARED, "tied"));
	stop();
	start();
	put_weights("model.safetensors", both, 2);
	(void)memory_folder_text(
	    &folder, "config.json", "{\"tie_word_embeddings\":false}");
	describe("model.safetensors");
	ck_assert_uint_eq(bundle->note_count, 0);
	stop();
}
END_TEST

static const struct {
	const char *config;
	bool noted;
} dtypes[] = {
	{ "{\"torch_dtype\":\"float16\"}", false },
	{ "{\"torch_dtype\":\"bfloat16\"}", true },
	{ "{\"dtype\":\"float32\"}", true },
	{ "{\"text_config\":{\"torch_dtype\":\"bfloat16\"}}", true },
	{ "{\"torch_dtype\":\"auto\"}", false },
	{ "{\"torch_dtype\":16}", false },
};

START_TEST(the_declared_dtype_is_held_against_the_tensors)
{
	start();
	put_one("model.safetensors", "a"); /* F16 */
	(void)memory_folder_text(&folder, "config.json", dtypes[_i].config);
	describe("model.safetensors");
	ck_assert_int_eq(note_with(bundle, WD_NOTE_DECLARED, "F16") != NULL,
	    dtypes[_i].noted);
	stop();
}
END_TEST

START_TEST(an_adapter_is_known_by_its_config)
{
	start();
	put_one("adapter_model.safetensors", "a.lora_A.weight");
	(void)memory_folder_text(&folder, "adapter_config.json", "{\"r\":8}");
	describe("adapter_model.safetensors");
	ck_assert_int_eq(bundle->kind, WD_KIND_ADAPTER);
	ck_assert_str_eq(setting_of(bundle, "bundle.adapter_config.r"), "8");
	stop();
}
END_TEST

START_TEST(a_broken_shard_beside_is_a_note)
{
	start_sharded(right_map);
	memory_file_rename(&folder.files[1], "elsewhere");
	(void)memory_folder_text(&folder, SHARD_2, "not weights at all");
	describe(SHARD_1);
	ck_assert(bundle->incomplete);
	ck_assert_ptr_nonnull(note_with(bundle, WD_NOTE_INCOMPLETE, SHARD_2));
	ck_assert_uint_eq(bundle->parameter_count, 20);
	wd_bundle_free(&bundle);
	/* The very file that was asked about is an error. */
	ck_assert_int_eq(
	    memory_folder_describe(&folder, SHARD_2, &bundle, &err),
	    WD_MALFORMED);
	stop();
}
END_TEST

START_TEST(names_of_files_are_shown_escaped)
{
	start_sharded("{\"weight_map\":{\"a\":\"\\u001b[31m.safetensors\","
		      "\"b\":\"" SHARD_1 "\",\"c\":\"" SHARD_2 "\"}}");
	describe(SHARD_1);
	ck_assert_ptr_nonnull(
	    note_with(bundle, WD_NOTE_INCOMPLETE, "\\x1b[31m.safetensors"));
	stop();
}
END_TEST

WD_SUITE_BEGIN("bundle dir")
WD_LOOP(any_file_finds_the_whole_bundle, entrances);
WD_TEST(a_folder_is_described_by_itself);
WD_TEST(c15_a_missing_shard_is_named);
WD_TEST(c15_all_shards_missing);
WD_TEST(c15_a_stray_copy_is_not_counted);
WD_TEST(c15_a_held_stray_is_a_bundle_of_its_own);
WD_TEST(c15_tensors_and_index_are_held_against_each_other);
WD_TEST(many_disagreements_make_one_note);
WD_LOOP(c15_entries_that_lead_elsewhere_are_refused, escapes);
WD_LOOP(an_index_that_cannot_be_read_leaves_doubt, bad_indexes);
WD_TEST(a_shard_that_no_index_lists_is_incomplete);
WD_TEST(the_index_that_lists_the_file_is_taken);
tcase_add_loop_test(tcase, index_files_are_tried_up_to_a_limit, 0, 3);
WD_TEST(the_right_index_is_found_among_many);
WD_LOOP(a_folder_that_cannot_be_listed_leaves_doubt, unlisted);
WD_LOOP(a_side_file_that_cannot_be_read_leaves_doubt, lost);
WD_TEST(settings_are_flat);
WD_TEST(an_ambiguous_setting_equals_nothing);
WD_TEST(the_tokenizer_is_its_files);
WD_LOOP(a_quantisation_config_without_packed_tensors, quantised);
WD_TEST(a_quantize_config_is_read);
WD_TEST(c07_tied_tensors_count_as_stored);
WD_LOOP(the_declared_dtype_is_held_against_the_tensors, dtypes);
WD_TEST(an_adapter_is_known_by_its_config);
WD_TEST(a_broken_shard_beside_is_a_note);
WD_TEST(names_of_files_are_shown_escaped);
WD_SUITE_END
