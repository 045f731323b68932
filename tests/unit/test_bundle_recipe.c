/* The recipe that a bundle declares: files that hold one, settings that name
 * it, and what can be set about both. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "support/bundle_make.h"
#include "support/memory_folder.h"
#include "support/suite.h"

static struct memory_folder folder;
static struct wd_bundle *bundle;
static struct wd_error err;

static void
put_weights(const char *file, const char *name, const char *metadata)
{
	struct make_safetensors st;
	struct wd_buf bytes;

	make_safetensors_init(&st);
	wd_buf_init(&bytes, MAKE_MAX_BYTES);
	make_safetensors_tensor(&st, name, "F16", "[10]", 20);
	if (metadata != NULL)
		make_safetensors_raw(&st, metadata);
	ck_assert_int_eq(make_safetensors_file(&st, 1, &bytes), WD_OK);
	(void)memory_folder_add(&folder, file, wd_buf_slice(&bytes));
	wd_buf_release(&bytes);
	make_safetensors_release(&st);
}

static void
start(void)
{
	memory_folder_init(&folder);
	wd_error_init(&err);
	put_weights("model.safetensors", "a", NULL);
}

static void
describe_with(const struct wd_bundle_options *options)
{
	struct wd_folder vtable = memory_folder_of(&folder);

	ck_assert_int_eq(
	    wd_bundle_describe_folder(&vtable, options, &bundle, &err), WD_OK);
}

static void
stop(void)
{
	ck_assert_uint_eq(folder.open_now, 0);
	wd_bundle_free(&bundle);
	memory_folder_release(&folder);
}

static const struct {
	const char *file;
	const char *text;
	const char *recipe; /* NULL: none */
} declared[] = {
	{ "config.json", "{\"recipe\":\"mixed-8-4\"}", "mixed-8-4" },
	{ "config.json", "{\"quantization\":{\"recipe\":\"q\"}}", "q" },
	{ "config.json", "{\"quantization_config\":{\"recipe\":7}}", "7" },
	{ "config.json", "{\"recipe\":[\"a\"]}", NULL },
	{ "config.json", "{\"recipe\":{}}", NULL },
	{ "config.json", "{\"recipe\":null}", NULL },
	{ "config.json", "{\"recipe\":true}", NULL },
	{ "config.json", "{\"recipe\":\"\"}", NULL },
	{ "config.json", "{\"recipe\":{\"id\":\"a\",\"name\":\"b\"}}", "a" },
	{ "config.json", "{\"other\":\"a\"}", NULL },
	{ "recipe.yaml", "id: w4a16-v2\nname: x\n", "w4a16-v2" },
	{ "recipe.yml", "name: 'x y'\n", "x y" },
	{ "recipe.json", "{\"id\":\"from-json\"}", "from-json" },
	{ "recipe.yaml", "quant_stage:\n  id: inner\n", NULL },
	{ "other.yaml", "id: w4a16-v2\n", NULL },
};

START_TEST(the_declared_recipe)
{
	start();
	(void)memory_folder_text(&folder, declared[_i].file, declared[_i].text);
	describe_with(NULL);
	if (declared[_i].recipe == NULL)
		ck_assert_ptr_null(bundle->declared_recipe);
	else
		ck_assert_str_eq(bundle->declared_recipe, declared[_i].recipe);
	ck_assert(!bundle->incomplete);
	stop();
}
END_TEST

/* llm-compressor's file: settings in the canonical form that the same JSON
 * has, and its bytes are part of the content. */
START_TEST(a_recipe_file_is_settings)
{
	start();
	(void)memory_folder_text(&folder, "recipe.yaml",
	    "quant_stage:\n"
	    "  quant_modifiers:\n"
	    "    GPTQModifier:\n"
	    "      ignore: [lm_head, 're:.*gate']\n"
	    "      dampening_frac: 1e-2\n"
	    "      sequential: True\n"
	    "      targets: ~\n"
	    "      scheme: \"W4A16\"\n"
	    "      version: \"1.0\"\n"
	    "      note: \"a \\\"b\\\" \\\\ \\x01\"\n"
	    "      empty: {}\n"
	    "      limit: .inf\n"
	    "      off: false\n");
	describe_with(NULL);
#define AT "bundle.recipe.quant_stage.quant_modifiers.GPTQModifier."
	ck_assert_str_eq(
	    setting_of(bundle, AT "ignore"), "[\"lm_head\",\"re:.*gate\"]");
	ck_assert_str_eq(setting_of(bundle, AT "dampening_frac"), "0.01");
	ck_assert_str_eq(setting_of(bundle, AT "sequential"), "true");
	ck_assert_str_eq(setting_of(bundle, AT "off"), "false");
	ck_assert_str_eq(setting_of(bundle, AT "targets"), "null");
	ck_assert_str_eq(setting_of(bundle, AT "scheme"), "W4A16");
	ck_assert_str_eq(setting_of(bundle, AT "version"), "1.0");
	ck_assert_str_eq(setting_of(bundle, AT "note"), "a \"b\" \\\\ \\x01");
	ck_assert_str_eq(setting_of(bundle, AT "empty"), "{}");
	ck_assert_str_eq(setting_of(bundle, AT "limit"), ".inf");
	ck_assert_uint_eq(bundle->file_count, 2);
	ck_assert(bundle->files[1].counted);
	ck_assert_int_eq(bundle->files[1].role, WD_ROLE_SETTINGS);
	stop();
}
END_TEST

static const struct {
	const char *file;
	const char *text;
} unreadable[] = {
	{ "recipe.yaml", "a: &x 1\nb: *x\n" },
	{ "recipe.yaml", "a: !!python/none x\n" },
	{ "recipe.yaml", "- a\n" },
	{ "recipe.json", "[1]" },
	{ "recipe.json", "{" },
};

/* Engines do not read it, so the bundle stays whole; its bytes still tell. */
START_TEST(a_recipe_that_cannot_be_read_counts_by_its_bytes)
{
	start();
	(void)memory_folder_text(
	    &folder, unreadable[_i].file, unreadable[_i].text);
	describe_with(NULL);
	ck_assert_ptr_nonnull(
	    strstr(setting_of(bundle, "bundle.recipe"), "sha256:"));
	ck_assert_ptr_nonnull(
	    note_with(bundle, WD_NOTE_DECLARED, unreadable[_i].file));
	ck_assert(!bundle->incomplete);
	stop();
}
END_TEST

START_TEST(keys_and_files_can_be_set)
{
	static const char *const keys[] = { "bundle.none", "bundle.x.id" };
	static const char *const files[] = { "x.yaml" };
	const struct wd_bundle_options options = { keys, 2, files, 1 };

	start();
	(void)memory_folder_text(&folder, "x.yaml", "id: mine\n");
	(void)memory_folder_text(&folder, "recipe.yaml", "id: theirs\n");
	describe_with(&options);
	ck_assert_str_eq(bundle->declared_recipe, "mine");
	ck_assert_ptr_null(setting_of(bundle, "bundle.recipe.id"));
	ck_assert_uint_eq(bundle->file_count, 2);
	stop();
}
END_TEST

/* What the header says beside the tensors; MLX reads "format". */
START_TEST(metadata_are_settings)
{
	start();
	memory_folder_release(&folder);
	memory_folder_init(&folder);
	put_weights("model-00001-of-00002.safetensors", "a",
	    "\"__metadata__\":{\"format\":\"mlx\",\"recipe\":\"r1\"}");
	put_weights("model-00002-of-00002.safetensors", "b",
	    "\"__metadata__\":{\"format\":\"mlx\",\"part\":\"2\"}");
	(void)memory_folder_text(&folder, "model.safetensors.index.json",
	    "{\"weight_map\":{"
	    "\"a\":\"model-00001-of-00002.safetensors\","
	    "\"b\":\"model-00002-of-00002.safetensors\"}}");
	describe_with(NULL);
	ck_assert_str_eq(setting_of(bundle, "bundle.metadata.format"), "mlx");
	ck_assert_str_eq(setting_of(bundle, "bundle.metadata.part"), "2");
	ck_assert_str_eq(bundle->declared_recipe, "r1");
	ck_assert_uint_eq(bundle->setting_count, 3);
	stop();
}
END_TEST

WD_SUITE_BEGIN("bundle recipe")
WD_LOOP(the_declared_recipe, declared);
WD_TEST(a_recipe_file_is_settings);
WD_LOOP(a_recipe_that_cannot_be_read_counts_by_its_bytes, unreadable);
WD_TEST(keys_and_files_can_be_set);
WD_TEST(metadata_are_settings);
WD_SUITE_END
