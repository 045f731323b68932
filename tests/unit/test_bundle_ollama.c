/* Tags of an Ollama store: what they bring, and what is no tag. */
#include "bundle/ollama.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "support/bundle_make.h"
#include "support/memory_folder.h"
#include "support/suite.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define C "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
#define LAYER(kind, hex, size)                                                 \
	"{\"mediaType\":\"application/vnd.ollama.image." kind "\","            \
	"\"digest\":\"sha256:" hex "\",\"size\":" size "}"
#define LAYERS(list) "{\"layers\":[" list "]}"

static struct memory_folder folder;
static struct wd_bundle *bundle;
static struct wd_error err;

static void
start(void)
{
	struct make_gguf gguf;
	struct wd_buf bytes;

	memory_folder_init(&folder);
	bundle = NULL;
	wd_buf_init(&bytes, MAKE_MAX_BYTES);
	make_gguf_init(&gguf);
	make_gguf_string(&gguf, "general.architecture", "llama");
	make_gguf_tensor(&gguf, "a.weight", "F32", (const uint64_t[]){ 8 }, 1);
	ck_assert_int_eq(make_gguf_file(&gguf, 1, &bytes), WD_OK);
	(void)memory_folder_add(&folder, "sha256-" A, wd_buf_slice(&bytes));
	make_gguf_release(&gguf);
	wd_buf_release(&bytes);
	(void)memory_folder_text(
	    &folder, "sha256-" B, "{\"top_k\":3,\"stop\":[\"x\"]}");
	(void)memory_folder_text(&folder, "sha256-" C, "{{ .Prompt }}");
}

static enum wd_status
describe(const char *manifest)
{
	struct wd_folder blobs = memory_folder_of(&folder);
	struct wd_slice bytes = wd_slice_text(manifest);
	struct wd_source source = wd_source_memory(&bytes);

	wd_error_init(&err);
	return wd_ollama_describe(&source, &blobs, NULL, &bundle, &err);
}

static void
finish(void)
{
	ck_assert_uint_eq(folder.open_now, 0);
	ck_assert_uint_eq(folder.strange_names, 0);
	wd_bundle_free(&bundle);
	memory_folder_release(&folder);
}

static const char full[] = LAYERS(LAYER("license", C, "13") "," LAYER("model",
    A, "1") "," LAYER("params", B, "26") "," LAYER("projector", B, "26"));

START_TEST(what_a_tag_brings_stands_beside_the_model)
{
	struct wd_sha256 settings, encodings;

	start();
	ck_assert_int_eq(
	    memory_folder_describe(&folder, "sha256-" A, &bundle, &err), WD_OK);
	settings = bundle->settings_digest;
	encodings = bundle->encoding_digest;
	wd_bundle_free(&bundle);
	ck_assert_int_eq(describe(full), WD_OK);
	ck_assert_uint_eq(bundle->parameter_count, 8);
	ck_assert(wd_sha256_equal(&settings, &bundle->settings_digest));
	ck_assert(wd_sha256_equal(&encodings, &bundle->encoding_digest));
	ck_assert_str_eq(setting_of(bundle, "tag.params.top_k"), "3");
	ck_assert_str_eq(setting_of(bundle, "tag.params.stop"), "[\"x\"]");
	ck_assert_uint_eq(bundle->file_count, 4);
	ck_assert(bundle->files[0].counted);
	ck_assert_str_eq(bundle->files[3].name, "tag.0003.projector");
	ck_assert_int_eq(bundle->files[3].role, WD_ROLE_WEIGHTS);
	ck_assert(!bundle->files[3].counted);
	ck_assert(bundle->single_file);
	finish();
}
END_TEST

static const struct {
	const char *what;
	const char *manifest;
	enum wd_status status;
} wrong[] = {
	{ "nothing", "", WD_MALFORMED },
	{ "a list", "[]", WD_MALFORMED },
	{ "no layers", "{}", WD_MALFORMED },
	{ "layers that are none", "{\"layers\":{}}", WD_MALFORMED },
	{ "a layer without a type", LAYERS("{\"digest\":\"sha256:" A "\"}"),
	    WD_MALFORMED },
	{ "a layer without a digest", LAYERS("{\"mediaType\":\"x\"}"),
	    WD_MALFORMED },
	{ "a digest that is a path",
	    LAYERS("{\"mediaType\":\"x\",\"digest\":\"sha256:../../a\"}"),
	    WD_MALFORMED },
	{ "no layer", LAYERS(""), WD_UNSUPPORTED },
	{ "other types",
	    LAYERS("{\"mediaType\":\"x\",\"digest\":\"sha256:" A "\"}"),
	    WD_UNSUPPORTED },
	{ "only a licence", LAYERS(LAYER("license", C, "1")), WD_UNSUPPORTED },
	{ "tensors apart", LAYERS(LAYER("tensor", A, "1")), WD_UNSUPPORTED },
	{ "a model that is not there",
	    LAYERS(LAYER("model",
		"d"
		"d" A,
		"1")),
	    WD_MALFORMED },
	{ "a model that is none", LAYERS(LAYER("model", C, "1")),
	    WD_UNSUPPORTED },
};

START_TEST(what_is_no_tag)
{
	start();
	ck_assert_msg(describe(wrong[_i].manifest) == wrong[_i].status,
	    "%s: %s", wrong[_i].what, err.message);
	ck_assert_ptr_null(bundle);
	finish();
}
END_TEST

START_TEST(a_model_that_is_not_there)
{
	start();
	memory_file_rename(&folder.files[0], "sha256-x");
	ck_assert_int_eq(describe(full), WD_NOTFOUND);
	finish();
}
END_TEST

START_TEST(layers_that_are_missing_or_broken)
{
	start();
	memory_file_rename(&folder.files[2], "sha256-x");
	(void)memory_folder_text(&folder, "sha256-" C "0", "");
	ck_assert_int_eq(describe(LAYERS(LAYER("model", A, "1") "," LAYER(
			     "template", C, "1") "," LAYER("params", B, "1"))),
	    WD_OK);
	ck_assert(bundle->incomplete);
	ck_assert_ptr_nonnull(
	    note_with(bundle, WD_NOTE_INCOMPLETE, "tag.0001.template"));
	finish();
	start();
	ck_assert_int_eq(describe(LAYERS(LAYER("model", A, "1") "," LAYER(
			     "params", C, "1"))),
	    WD_OK);
	ck_assert(!bundle->incomplete);
	ck_assert_ptr_nonnull(
	    note_with(bundle, WD_NOTE_MALFORMED, "cannot be read"));
	finish();
}
END_TEST

static const struct {
	const char *name;
	bool is;
} names[] = {
	{ "sha256-" A, true },
	{ A, true },
	{ "sha256:" A, false },
	{ "sha256-" A "a", false },
	{ "model.gguf", false },
	{ "sha256-", false },
	{ "xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	    false },
	{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false },
};

START_TEST(names_of_blobs)
{
	struct wd_sha256 sha256;

	ck_assert_int_eq(wd_blob_named(wd_slice_text(names[_i].name), &sha256),
	    names[_i].is);
	if (names[_i].is)
		ck_assert_uint_eq(sha256.bytes[31], 0xaa);
}
END_TEST

START_TEST(a_blob_of_other_bytes)
{
	struct wd_sha256 right, wrong_one = { { 1 } };
	size_t count = 9;

	memset(right.bytes, 0xaa, sizeof(right.bytes));
	start();
	ck_assert_int_eq(describe(full), WD_OK);
	ck_assert_int_eq(wd_blob_check(bundle, &count, &err), WD_OK);
	ck_assert_uint_eq(count, 0);
	ck_assert_int_eq(wd_bundle_set_digest(bundle, 0, &right, &err), WD_OK);
	ck_assert_int_eq(
	    wd_bundle_set_digest(bundle, 3, &wrong_one, &err), WD_OK);
	ck_assert(!wd_blob_misnamed(&bundle->files[0]));
	ck_assert(wd_blob_misnamed(&bundle->files[3]));
	ck_assert_int_eq(wd_blob_check(bundle, &count, &err), WD_OK);
	ck_assert_uint_eq(count, 1);
	ck_assert_ptr_nonnull(note_with(bundle, WD_NOTE_MALFORMED, B));
	finish();
}
END_TEST

START_TEST(every_allocation_may_fail)
{
	enum wd_status st = WD_NOMEM;
	uint64_t n;

	start();
	for (n = 0; n < 5000 && st != WD_OK; n++) {
		wd_mem_fail_after(n);
		st = describe(full);
		if (wd_mem_has_failed())
			ck_assert_int_eq(st, WD_NOMEM);
		wd_mem_fail_after(UINT64_MAX);
		ck_assert_uint_eq(folder.open_now, 0);
	}
	ck_assert_int_eq(st, WD_OK);
	finish();
}
END_TEST

WD_SUITE_BEGIN("bundle ollama")
WD_TEST(what_a_tag_brings_stands_beside_the_model);
WD_LOOP(what_is_no_tag, wrong);
WD_TEST(a_model_that_is_not_there);
WD_TEST(layers_that_are_missing_or_broken);
WD_LOOP(names_of_blobs, names);
WD_TEST(a_blob_of_other_bytes);
WD_TEST(every_allocation_may_fail);
WD_SUITE_END
