/* The bundle at a path: what may be looked at, and what is said of it. */
#include "evidence/at_path.h"

#include <stdio.h>
#include <string.h>

#include "support/scene.h"
#include "support/suite.h"
#include "wire/build.h"

static struct scene scene;
static struct wd_error err;
static Weightd__V1__Bundle *bundle;

/* A root /models, in which the agent sees m.gguf and a folder. */
static void
set_up(void)
{
	scene_begin(&scene);
	scene_process(&scene, 900, 1);
	scene_path(&scene, 900, "/models/m.gguf", "m.gguf");
	scene_put(&scene, "/processes/900/folders/~1models", "'.'");
	scene_put(
	    &scene, "/processes/900/folders/~1models~1m.gguf", "'!invalid'");
	wd_error_init(&err);
}

static void
tear_down(void)
{
	wd_message_free(bundle);
	bundle = NULL;
	scene_end(&scene);
}

static enum wd_status
describe(const char *path, size_t len, enum wd_digest_wish wish)
{
	static const char *const roots[] = { "/other", "/models/" };
	struct wd_evidence with = { .reader = scene.reader,
		.store = scene.store,
		.clock = &scene.clock };
	struct wd_at_path at = { { (const uint8_t *)path, len }, roots,
		WD_COUNT(roots) };
	enum wd_status st;

	with.host = scene_new_host(&scene);
	wd_message_free(bundle);
	bundle = NULL;
	st = wd_describe_at_path(
	    &with, &at, wish, &scene.deadline, &bundle, &err);
	ck_assert_int_eq(st == WD_OK, bundle != NULL);
	wd_host_free(&with.host);
	return st;
}

static enum wd_status
look(const char *path)
{
	return describe(path, strlen(path), WD_DIGEST_CACHED_ONLY);
}

START_TEST(a_file_below_a_root)
{
	struct wd_sha256 sha256 = scene_sha256(&scene, "m.gguf");

	ck_assert_int_eq(
	    describe("/models/m.gguf", 14, WD_DIGEST_COMPUTE), WD_OK);
	ck_assert_uint_eq(bundle->n_files, 1);
	ck_assert(scene_digest_is(bundle->files[0]->sha256, &sha256));
	ck_assert_int_eq(bundle->files[0]->digest_state,
	    WEIGHTD__V1__DIGEST_STATE__DIGEST_STATE_COMPUTED);
	ck_assert_str_ne(bundle->inner_name, "");
}
END_TEST

START_TEST(nothing_is_read_for_a_digest_unless_asked)
{
	ck_assert_int_eq(look("/models/m.gguf"), WD_OK);
	ck_assert_ptr_null(bundle->files[0]->sha256);
	ck_assert_int_eq(bundle->files[0]->digest_state,
	    WEIGHTD__V1__DIGEST_STATE__DIGEST_STATE_NONE);
}
END_TEST

static const char *const wrong[] = { "", "/", "models/m.gguf",
	"/models/../etc/shadow", "/models/./m.gguf", "/models/x/.." };

START_TEST(what_is_no_path)
{
	ck_assert_int_eq(look(wrong[_i]), WD_INVALID);
}
END_TEST

START_TEST(a_nul_is_no_path)
{
	ck_assert_int_eq(
	    describe("/models/m\0.gguf", 15, WD_DIGEST_CACHED_ONLY),
	    WD_INVALID);
}
END_TEST

START_TEST(outside_all_is_the_same)
{
	char words[WD_ERROR_MESSAGE_BYTES];

	/* It is there, and nobody maps it. */
	scene_path(&scene, 900, "/srv/m.gguf", "m.gguf");
	scene_unmap_all(&scene, SCENE_PID);
	ck_assert_int_eq(look("/srv/m.gguf"), WD_DENIED);
	(void)snprintf(words, sizeof(words), "%s", err.message);
	/* It is not there. */
	ck_assert_int_eq(look("/srv/none"), WD_DENIED);
	ck_assert_str_eq(err.message, words);
	/* A name that only begins like a root. */
	ck_assert_int_eq(look("/models2/m.gguf"), WD_DENIED);
	ck_assert_str_eq(err.message, words);
	/* A link that leads out of it. */
	scene_put(&scene, "/processes/900/paths/~1models~1out", "'!denied'");
	scene_put(&scene, "/processes/900/folders/~1models~1out", "'!denied'");
	ck_assert_int_eq(look("/models/out"), WD_DENIED);
	ck_assert_str_eq(err.message, words);
}
END_TEST

START_TEST(a_file_that_a_process_maps)
{
	scene_path(&scene, 900, "/srv/m.gguf", "m.gguf");
	ck_assert_int_eq(look("/srv/m.gguf"), WD_OK);
	ck_assert_uint_eq(bundle->n_files, 1);
}
END_TEST

START_TEST(below_a_root_absence_is_told)
{
	scene_put(&scene, "/processes/900/folders/~1models~1none", "'!gone'");
	ck_assert_int_eq(look("/models/none"), WD_NOTFOUND);
}
END_TEST

START_TEST(a_folder_is_its_weights)
{
	ck_assert_int_eq(look("/models"), WD_OK);
	ck_assert_uint_eq(bundle->n_files, 1);
	ck_assert_int_eq(look("/models/"), WD_OK);
	/* Other files come first by name and are none. */
	scene_write(&scene, "a.txt", "text", 4);
	scene_path(&scene, 900, "/models/a.txt", "a.txt");
	ck_assert_int_eq(look("/models"), WD_OK);
}
END_TEST

START_TEST(a_folder_without_weights)
{
	scene_remove(&scene, "/processes/900/paths/~1models~1m.gguf");
	ck_assert_int_eq(look("/models"), WD_NOTFOUND);
}
END_TEST

START_TEST(a_folder_that_could_not_be_looked_into)
{
	scene_put(&scene, "/processes/900/paths/~1models~1m.gguf", "'!io'");
	ck_assert_int_eq(look("/models"), WD_IO);
}
END_TEST

START_TEST(a_folder_of_several_models_is_none)
{
	scene_gguf(&scene, "n.gguf", "Other", NULL, 64, 2);
	scene_path(&scene, 900, "/models/n.gguf", "n.gguf");
	ck_assert_int_eq(look("/models"), WD_INVALID);
	ck_assert_ptr_nonnull(strstr(err.message, "several"));
	ck_assert_int_eq(look("/models/m.gguf"), WD_OK);
}
END_TEST

WD_SUITE_BEGIN("evidence at path")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_TEST(a_file_below_a_root);
WD_TEST(nothing_is_read_for_a_digest_unless_asked);
WD_LOOP(what_is_no_path, wrong);
WD_TEST(a_nul_is_no_path);
WD_TEST(outside_all_is_the_same);
WD_TEST(a_file_that_a_process_maps);
WD_TEST(below_a_root_absence_is_told);
WD_TEST(a_folder_is_its_weights);
WD_TEST(a_folder_without_weights);
WD_TEST(a_folder_that_could_not_be_looked_into);
WD_TEST(a_folder_of_several_models_is_none);
WD_SUITE_END
