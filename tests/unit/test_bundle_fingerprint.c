/* The vectors of agent/bundle/README.md, and what a digest must tell apart. */
#include <stdio.h>
#include <string.h>

#include "support/bundle_make.h"
#include "support/memory_folder.h"
#include "support/suite.h"

#define ENCODINGS                                                              \
	"sha256:"                                                              \
	"90d3567e978ab0ed27b28b683147fd37a9545e673a28971684af32b3a79b3e23"
#define SETTINGS                                                               \
	"sha256:"                                                              \
	"0eedbde387db2584f323a7da89a8177308ef8565cd08586862f4a9a98c6f4d61"
#define TOKENIZER                                                              \
	"sha256:"                                                              \
	"72a21ef84a890b6ba7cd29ed3450c16e87854fc12b574d6d3f85c4abdb45cd02"
#define TOKENIZER_FILES                                                        \
	"sha256:"                                                              \
	"54565866d40f102b8bc6d6127fe89c03a479dcb072b9e75dbd39948bc7e85574"
#define RECIPE "derived:F32-4a325e688ee73e1695eb5fa67ed3e616"
#define CONTENT_SINGLE                                                         \
	"sha256:"                                                              \
	"1dded329f26620f01203c4e26599e462843539048bd3cc0e4f24cce2ff86f400"
#define CONTENT_SPLIT                                                          \
	"sha256:"                                                              \
	"3ebd43031a39053a9e3d2d56d863beaad2c87dc46d06418d96d67ad8de1141bc"
#define CONTENT_DIR                                                            \
	"sha256:"                                                              \
	"01229797072ee36ba051bf32a3a590531f5d344810977c7d1e9fdfa9914b9ea3"

static const char *const vectors[] = { ENCODINGS, SETTINGS, TOKENIZER,
	TOKENIZER_FILES, RECIPE, CONTENT_SINGLE, CONTENT_SPLIT, CONTENT_DIR };

static char shown[WD_SHA256_TEXT_BYTES];

START_TEST(the_page_has_the_vector)
{
	static char page[65536];
	FILE *readme = fopen("../agent/bundle/README.md", "rb");
	size_t len;

	ck_assert_ptr_nonnull(readme);
	len = fread(page, 1, sizeof(page) - 1, readme);
	page[len] = '\0';
	ck_assert_int_eq(fclose(readme), 0);
	ck_assert_ptr_nonnull(strstr(page, vectors[_i]));
}
END_TEST

/* What may be changed in the vector's file. */
struct plan {
	const char *name;       /* general.name */
	const char *tokens;     /* prefix of the tokens; NULL: "a", "b" */
	const char *encoding;   /* of token_embd.weight */
	const char *last_token; /* "b" */
	float base;
	bool turned; /* keys and tensors in the other order */
};

static const struct plan vector = { "vector", NULL, "Q8_0", "b", 10000.0F,
	false };

static void
put_tokens(struct make_gguf *gguf, const struct plan *plan)
{
	make_gguf_string(gguf, "tokenizer.ggml.model", "gpt2");
	make_gguf_key(gguf, "tokenizer.ggml.tokens", MAKE_ARRAY);
	make_gguf_put_u32(gguf, &gguf->keys, MAKE_STRING);
	make_gguf_put_u64(gguf, &gguf->keys, 2);
	make_gguf_put_u64(gguf, &gguf->keys, 1);
	(void)wd_buf_text(&gguf->keys, "a");
	make_gguf_put_u64(gguf, &gguf->keys, 1);
	(void)wd_buf_text(&gguf->keys, plan->last_token);
}

static void
put_settings(struct make_gguf *gguf, const struct plan *plan)
{
	make_gguf_string(gguf, "general.architecture", "llama");
	make_gguf_string(gguf, "general.name", plan->name);
	make_gguf_f32(gguf, "llama.rope.freq_base", plan->base);
	make_gguf_f32(gguf, "llama.attention.layer_norm_rms_epsilon", 1e-5F);
}

static struct wd_bundle *
make(const struct plan *plan)
{
	uint64_t dims[2] = { 32, 2 };
	struct wd_bundle *bundle = NULL;
	struct make_gguf gguf;
	struct wd_buf file;

	make_gguf_init(&gguf);
	wd_buf_init(&file, MAKE_MAX_BYTES);
	if (plan->turned)
		put_tokens(&gguf, plan);
	put_settings(&gguf, plan);
	if (!plan->turned)
		put_tokens(&gguf, plan);
	if (plan->turned)
		ck_assert(make_gguf_tensor(
		    &gguf, "output_norm.weight", "F32", dims, 1));
	ck_assert(make_gguf_tensor(
	    &gguf, "token_embd.weight", plan->encoding, dims, 2));
	if (!plan->turned)
		ck_assert(make_gguf_tensor(
		    &gguf, "output_norm.weight", "F32", dims, 1));
	ck_assert_int_eq(make_gguf_file(&gguf, 1, &file), WD_OK);
	ck_assert_int_eq(
	    describe_bytes(wd_buf_slice(&file), "v.gguf", &bundle, NULL),
	    WD_OK);
	wd_buf_release(&file);
	make_gguf_release(&gguf);
	return bundle;
}

static void
check_vector(const struct plan *plan, const char *encodings,
    const char *settings, const char *tokenizer)
{
	struct wd_bundle *bundle = make(plan);

	ck_assert_int_eq(strcmp(wd_sha256_text(&bundle->encoding_digest, shown),
			     ENCODINGS) == 0,
	    encodings != NULL);
	ck_assert_int_eq(strcmp(wd_sha256_text(&bundle->settings_digest, shown),
			     SETTINGS) == 0,
	    settings != NULL);
	ck_assert_int_eq(
	    strcmp(wd_sha256_text(&bundle->tokenizer_digest, shown),
		TOKENIZER) == 0,
	    tokenizer != NULL);
	ck_assert_int_eq(strcmp(bundle->derived_recipe, RECIPE) == 0,
	    (encodings != NULL && settings != NULL));
	wd_bundle_free(&bundle);
}

START_TEST(the_vector_of_a_gguf_file)
{
	struct plan turned = vector;

	check_vector(&vector, ENCODINGS, SETTINGS, TOKENIZER);
	turned.turned = true;
	check_vector(&turned, ENCODINGS, SETTINGS, TOKENIZER);
}
END_TEST

/* A difference shows in its own part, and only there. */
START_TEST(each_part_tells_its_own_difference)
{
	struct plan plan = vector;

	plan.encoding = "Q4_0";
	check_vector(&plan, NULL, SETTINGS, TOKENIZER);
	plan = vector;
	plan.base = 10001.0F;
	check_vector(&plan, ENCODINGS, NULL, TOKENIZER);
	plan = vector;
	plan.name = "Vector";
	check_vector(&plan, ENCODINGS, NULL, TOKENIZER);
	plan = vector;
	plan.last_token = "c";
	check_vector(&plan, ENCODINGS, SETTINGS, NULL);
}
END_TEST

START_TEST(the_vector_of_tokenizer_files)
{
	static struct memory_folder folder;
	struct wd_bundle *bundle = NULL;
	struct wd_buf file;

	memory_folder_init(&folder);
	wd_buf_init(&file, 1024);
	ck_assert_int_eq(make_safetensors_text("{}", 0, &file), WD_OK);
	(void)memory_folder_text(&folder, "vocab.json", "{}");
	(void)memory_folder_text(&folder, "tokenizer.json", "{}");
	(void)memory_folder_add(
	    &folder, "model.safetensors", wd_buf_slice(&file));
	ck_assert_int_eq(
	    memory_folder_describe(&folder, "model.safetensors", &bundle, NULL),
	    WD_OK);
	ck_assert_str_eq(
	    wd_sha256_text(&bundle->tokenizer_digest, shown), TOKENIZER_FILES);
	ck_assert(strncmp(bundle->derived_recipe, "derived:none-", 13) == 0);
	wd_buf_release(&file);
	wd_bundle_free(&bundle);
	memory_folder_release(&folder);
}
END_TEST

static struct wd_sha256
digest_of(const char *text)
{
	struct wd_sha256 digest;

	ck_assert_int_eq(wd_sha256(wd_slice_text(text), &digest, NULL), WD_OK);
	return digest;
}

/* Files "abc" and "" of a bundle made by hand. */
static void
fill(struct wd_bundle_file files[2], const char *first, const char *second)
{
	static char names[2][64];

	memset(files, 0, 2 * sizeof(*files));
	(void)snprintf(names[0], sizeof(names[0]), "%s", first);
	(void)snprintf(names[1], sizeof(names[1]), "%s", second);
	files[0] = (struct wd_bundle_file){ .name = names[0],
		.name_len = strlen(first),
		.present = true,
		.counted = true,
		.size_bytes = 3 };
	files[1] = (struct wd_bundle_file){ .name = names[1],
		.name_len = strlen(second),
		.present = true,
		.counted = true };
}

static void
set_both(struct wd_bundle *bundle, size_t first)
{
	struct wd_sha256 digests[2] = { digest_of("abc"), digest_of("") };
	size_t i;

	for (i = 0; i < bundle->file_count; i++) {
		size_t at = (i + first) % bundle->file_count;

		ck_assert(!bundle->has_content_digest);
		ck_assert_int_eq(
		    wd_bundle_set_digest(bundle, at, &digests[at], NULL),
		    WD_OK);
	}
	ck_assert(bundle->has_content_digest);
}

START_TEST(the_vector_of_a_single_file)
{
	struct wd_bundle_file files[2];
	struct wd_bundle bundle = {
		.files = files, .file_count = 1, .single_file = true
	};

	/* Whatever it is called: a blob equals its source. */
	fill(files, "sha256-0123", "unused");
	set_both(&bundle, 0);
	ck_assert_str_eq(
	    wd_sha256_text(&bundle.content_digest, shown), CONTENT_SINGLE);
	ck_assert_int_eq(
	    wd_bundle_set_digest(&bundle, 1, &files[0].sha256, NULL),
	    WD_INVALID);
}
END_TEST

START_TEST(the_vector_of_a_split_set)
{
	struct wd_bundle_file files[2];
	struct wd_bundle bundle = { .files = files, .file_count = 2 };

	fill(files, "m-00001-of-00002.gguf", "m-00002-of-00002.gguf");
	files[0].shard = 1;
	files[1].shard = 2;
	set_both(&bundle, 0);
	ck_assert_str_eq(
	    wd_sha256_text(&bundle.content_digest, shown), CONTENT_SPLIT);
}
END_TEST

/* Files stand by name, lines by digest. */
START_TEST(the_vector_of_a_directory)
{
	struct wd_sha256 digests[2] = { digest_of(""), digest_of("abc") };
	struct wd_bundle_file files[2], swap;
	struct wd_bundle bundle = { .files = files, .file_count = 2 };
	size_t i;

	fill(files, "model.safetensors", "config.json");
	swap = files[0];
	files[0] = files[1];
	files[1] = swap;
	for (i = 0; i < 2; i++)
		ck_assert_int_eq(
		    wd_bundle_set_digest(&bundle, i, &digests[i], NULL), WD_OK);
	ck_assert_str_eq(
	    wd_sha256_text(&bundle.content_digest, shown), CONTENT_DIR);
	/* Renamed: not the same directory. */
	fill(files, "model.safetensors", "Config.json");
	bundle.has_content_digest = false;
	set_both(&bundle, 0);
	ck_assert_str_ne(
	    wd_sha256_text(&bundle.content_digest, shown), CONTENT_DIR);
}
END_TEST

/* Files that are not on the list do not count, and none is waited for. */
START_TEST(uncounted_files_do_not_matter)
{
	struct wd_sha256 abc = digest_of("abc");
	struct wd_bundle_file files[2];
	struct wd_bundle bundle = {
		.files = files, .file_count = 2, .single_file = true
	};

	fill(files, "model.gguf", "README.md");
	files[1].counted = false;
	ck_assert_int_eq(wd_bundle_set_digest(&bundle, 0, &abc, NULL), WD_OK);
	ck_assert(bundle.has_content_digest);
	ck_assert_str_eq(
	    wd_sha256_text(&bundle.content_digest, shown), CONTENT_SINGLE);
}
END_TEST

/* A name with a line feed cannot forge a line of its own. */
START_TEST(a_name_cannot_forge_a_line)
{
	static const char lines[] =
	    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	    " 3 a\\nb\n"
	    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	    " 0 c\\\\\n";
	struct wd_bundle_file files[2];
	struct wd_bundle bundle = { .files = files, .file_count = 2 };
	struct wd_sha256 expected = digest_of(lines);

	fill(files, "a\nb", "c\\");
	set_both(&bundle, 0);
	ck_assert(wd_sha256_equal(&expected, &bundle.content_digest));
}
END_TEST

WD_SUITE_BEGIN("bundle fingerprint")
WD_LOOP(the_page_has_the_vector, vectors);
WD_TEST(the_vector_of_a_gguf_file);
WD_TEST(each_part_tells_its_own_difference);
WD_TEST(the_vector_of_tokenizer_files);
WD_TEST(the_vector_of_a_single_file);
WD_TEST(the_vector_of_a_split_set);
WD_TEST(the_vector_of_a_directory);
WD_TEST(uncounted_files_do_not_matter);
WD_TEST(a_name_cannot_forge_a_line);
WD_SUITE_END
