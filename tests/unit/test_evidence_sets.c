/*
 * Models of several files: split sets and folders, held in part, replaced in
 * part, or found by name only.
 */
#include <check.h>

#include "support/scene.h"
#include "support/suite.h"

static struct scene s;

static void
set_up(void)
{
	scene_begin(&s);
}

static void
tear_down(void)
{
	scene_end(&s);
}

static void
forget_the_claim(void)
{
	scene_put(&s, "/processes/100/argv", "['server']");
}

static void
hold_nothing(void)
{
	scene_unmap_all(&s, 100);
	forget_the_claim();
}

#define SHARD_1 "m-00001-of-00002.gguf"
#define SHARD_2 "m-00002-of-00002.gguf"

static void
split_set(void)
{
	hold_nothing();
	scene_shard(&s, SHARD_1, 1, 2, 16, 11);
	scene_shard(&s, SHARD_2, 2, 2, 32, 12);
	scene_path(&s, 100, "/m/" SHARD_1, SHARD_1);
	scene_path(&s, 100, "/m/" SHARD_2, SHARD_2);
}

START_TEST(a_split_set_that_is_held)
{
	split_set();
	scene_map(&s, 100, SHARD_2, "/m/" SHARD_2);
	scene_map(&s, 100, SHARD_1, "/m/" SHARD_1);
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 1);
	ck_assert_uint_eq(scene_model(&s, 0)->n_files, 2);
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
	ck_assert_uint_eq(
	    scene_model(&s, 0)->bundle->parameter_count, 8 * (16 + 32));
	ck_assert(scene_model(&s, 0)->bundle->content_digest != NULL);
	ck_assert_int_eq(scene_verdict(&s, NULL, NULL), VERDICT(MATCH));
}
END_TEST

/* The others lie in the folder; nobody holds them. */
START_TEST(a_shard_found_beside_is_not_resident)
{
	split_set();
	scene_map(&s, 100, SHARD_1, "/m/" SHARD_1);
	scene_ask(&s);
	ck_assert_uint_eq(scene_model(&s, 0)->n_files, 2);
	ck_assert_int_eq(scene_file(&s, 0)->grade, GRADE(RESIDENT));
	ck_assert_int_eq(scene_file(&s, 1)->grade, GRADE(NONE));
	ck_assert_int_eq(scene_file(&s, 1)->origin, ORIGIN(BESIDE));
	ck_assert_int_eq(scene_model(&s, 0)->grade, GRADE(NONE));
	ck_assert(!scene_model(&s, 0)->mapped_wholly);
	ck_assert_int_eq(scene_verdict(&s, NULL, NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

/* As many bytes read as one shard has are no proof of five. */
START_TEST(bytes_read_must_do_for_all_shards)
{
	split_set();
	scene_put(
	    &s, "/processes/100/argv", "['server', '-m', '/m/" SHARD_1 "']");
	scene_put(&s, "/processes/100/read_bytes", "1535");
	scene_ask(&s);
	ck_assert_int_eq(scene_model(&s, 0)->grade, GRADE(CLAIMED));
	scene_put(&s, "/processes/100/read_bytes", "1536");
	scene_ask(&s);
	ck_assert_int_eq(scene_model(&s, 0)->grade, GRADE(INFERRED));
}
END_TEST

START_TEST(a_missing_shard_is_incomplete)
{
	split_set();
	scene_map(&s, 100, SHARD_1, "/m/" SHARD_1);
	scene_remove(&s, "/processes/100/paths/~1m~1" SHARD_2);
	scene_ask(&s);
	ck_assert(HAS_FLAG(scene_model(&s, 0), INCOMPLETE));
	ck_assert_int_ne(scene_model(&s, 0)->grade, GRADE(RESIDENT));
	ck_assert_int_eq(scene_verdict(&s, NULL, NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

/* The held shard 2 is the old one; its name leads to a new one. */
START_TEST(a_held_shard_counts_before_the_one_in_the_folder)
{
	struct wd_sha256 old;

	split_set();
	scene_shard(&s, "new-2.gguf", 2, 2, 64, 99);
	scene_map(&s, 100, SHARD_1, "/m/" SHARD_1);
	scene_map(&s, 100, SHARD_2, "/m/" SHARD_2);
	scene_path(&s, 100, "/m/" SHARD_2, "new-2.gguf");
	old = scene_sha256(&s, SHARD_2);
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 1);
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
	ck_assert_uint_eq(
	    scene_model(&s, 0)->bundle->parameter_count, 8 * (16 + 32));
	ck_assert(scene_digest_is(
	    scene_model(&s, 0)->bundle->files[1]->sha256, &old));
	ck_assert(HAS_FLAG(scene_file(&s, 1), REPLACED));
	ck_assert(!HAS_FLAG(scene_file(&s, 0), REPLACED));
}
END_TEST

/* An old and a new worker hold sets of the same names: two models, and no
 * mixture of them. */
START_TEST(two_sets_of_one_name_are_not_mixed)
{
	size_t i;

	split_set();
	scene_shard(&s, "new-1.gguf", 1, 2, 64, 98);
	scene_shard(&s, "new-2.gguf", 2, 2, 64, 99);
	scene_map(&s, 100, SHARD_1, "/m/" SHARD_1);
	scene_map(&s, 100, SHARD_2, "/m/" SHARD_2);
	scene_process(&s, 101, 100);
	scene_map(&s, 101, "new-1.gguf", "/m/" SHARD_1);
	scene_map(&s, 101, "new-2.gguf", "/m/" SHARD_2);
	scene_path(&s, 100, "/m/" SHARD_1, "new-1.gguf");
	scene_path(&s, 100, "/m/" SHARD_2, "new-2.gguf");
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 2);
	for (i = 0; i < 2; i++)
		ck_assert(scene_model(&s, i)->bundle->parameter_count ==
			8 * (16 + 32) ||
		    scene_model(&s, i)->bundle->parameter_count == 8 * 128);
	ck_assert(HAS_FLAG(scene_group(&s, 0), AMBIGUOUS));
}
END_TEST

/* What the very process has open goes before what another has mapped. */
START_TEST(a_neighbour_in_the_same_process_first)
{
	split_set();
	scene_shard(&s, "new-1.gguf", 1, 2, 64, 98);
	scene_shard(&s, "new-2.gguf", 2, 2, 64, 99);
	scene_map(&s, 100, SHARD_2, "/m/" SHARD_2);
	scene_open(&s, 100, 9, SHARD_1, "/m/" SHARD_1);
	scene_process(&s, 101, 100);
	scene_map(&s, 101, "new-1.gguf", "/m/" SHARD_1);
	scene_map(&s, 101, "new-2.gguf", "/m/" SHARD_2);
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 2);
	ck_assert_uint_eq(scene_model(&s, 0)->bundle->parameter_count +
		scene_model(&s, 1)->bundle->parameter_count,
	    8 * (16 + 32) + 8 * 128);
	ck_assert(
	    scene_model(&s, 0)->bundle->parameter_count == 8 * (16 + 32) ||
	    scene_model(&s, 0)->bundle->parameter_count == 8 * 128);
}
END_TEST

/* Two containers have a folder of the same name. */
START_TEST(a_shard_of_another_view_is_not_beside)
{
	split_set();
	scene_shard(&s, "other-2.gguf", 2, 2, 64, 99);
	scene_map(&s, 100, SHARD_1, "/m/" SHARD_1);
	scene_process(&s, 101, 100);
	scene_put(&s, "/processes/101/mntns", "5");
	scene_put(&s, "/processes/100/mntns", "4");
	scene_map(&s, 101, "other-2.gguf", "/m/" SHARD_2);
	scene_ask(&s);
	ck_assert_int_ne(scene_model(&s, 0)->grade, GRADE(RESIDENT));
}
END_TEST

/* The sibling's name differs from the path it is held under (a link), but it
 * is the very object. */
START_TEST(a_sibling_that_is_held_under_another_name)
{
	split_set();
	scene_map(&s, 100, SHARD_1, "/m/" SHARD_1);
	scene_map(&s, 100, SHARD_2, "/blobs/abc");
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 1);
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
	ck_assert_int_eq(scene_file(&s, 1)->origin, ORIGIN(MAPPED));
}
END_TEST

static void
safetensors_folder(void)
{
	static const char index[] =
	    "{\"weight_map\":{\"a\":\"model-00001-of-00002.safetensors\","
	    "\"b\":\"model-00002-of-00002.safetensors\"}}";
	static const char config[] = "{\"model_type\":\"qwen3\"}";

	hold_nothing();
	scene_remove(&s, "/processes/100/paths/~1m~1m.gguf");
	(void)remove(wd_temp_path(s.folder, "m.gguf"));
	scene_remove(&s, "/files/m.gguf");
	scene_safetensors(&s, "model-00001-of-00002.safetensors", "a", 16, 21);
	scene_safetensors(&s, "model-00002-of-00002.safetensors", "b", 32, 22);
	scene_write(
	    &s, "model.safetensors.index.json", index, sizeof(index) - 1);
	scene_write(&s, "config.json", config, sizeof(config) - 1);
	scene_path(&s, 100, "/m/model.safetensors.index.json",
	    "model.safetensors.index.json");
	scene_path(&s, 100, "/m/config.json", "config.json");
	scene_map(&s, 100, "model-00002-of-00002.safetensors",
	    "/m/model-00002-of-00002.safetensors");
	scene_path(&s, 100, "/m/model-00001-of-00002.safetensors",
	    "model-00001-of-00002.safetensors");
}

START_TEST(a_safetensors_folder_from_one_shard)
{
	safetensors_folder();
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 1);
	ck_assert_uint_eq(scene_model(&s, 0)->n_files, 2);
	ck_assert_uint_eq(
	    scene_model(&s, 0)->bundle->parameter_count, 8 * (16 + 32));
	ck_assert_int_eq(scene_model(&s, 0)->grade, GRADE(NONE));
	scene_map(&s, 100, "model-00001-of-00002.safetensors",
	    "/m/model-00001-of-00002.safetensors");
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 1);
	ck_assert_int_eq(scene_model(&s, 0)->grade, GRADE(RESIDENT));
	ck_assert(!HAS_FLAG(scene_model(&s, 0), SETTINGS_STALE));
}
END_TEST

static const char *const read_at_the_start[] = { "config.json",
	"model.safetensors.index.json" };

START_TEST(a_settings_file_younger_than_the_process)
{
	char pointer[96];

	safetensors_folder();
	scene_map(&s, 100, "model-00001-of-00002.safetensors",
	    "/m/model-00001-of-00002.safetensors");
	(void)snprintf(pointer, sizeof(pointer), "/files/%s/ctime_ns",
	    read_at_the_start[_i]);
	scene_put_int(&s, pointer, SCENE_START + 20000000);
	scene_ask(&s);
	ck_assert(HAS_FLAG(scene_model(&s, 0), SETTINGS_STALE));
	/* Within one tick of the start nothing can be told. */
	scene_put_int(&s, pointer, SCENE_START + 10000000);
	scene_ask(&s);
	ck_assert(!HAS_FLAG(scene_model(&s, 0), SETTINGS_STALE));
}
END_TEST

/* The hub's cache: mapped files are blobs, the snapshot has the names. */
START_TEST(a_snapshot_of_links_to_blobs)
{
	safetensors_folder();
	scene_unmap_all(&s, 100);
	scene_map(&s, 100, "model-00001-of-00002.safetensors", "/hub/blobs/aa");
	scene_map(&s, 100, "model-00002-of-00002.safetensors", "/hub/blobs/bb");
	scene_put(&s, "/processes/100/argv", "['server', '--model', '/m']");
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 1);
	ck_assert_uint_eq(scene_model(&s, 0)->n_files, 2);
	ck_assert_int_eq(scene_model(&s, 0)->grade, GRADE(RESIDENT));
	ck_assert_uint_eq(
	    scene_model(&s, 0)->bundle->parameter_count, 8 * (16 + 32));
}
END_TEST

WD_SUITE_BEGIN("evidence sets")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_TEST(a_split_set_that_is_held);
WD_TEST(a_shard_found_beside_is_not_resident);
WD_TEST(bytes_read_must_do_for_all_shards);
WD_TEST(a_missing_shard_is_incomplete);
WD_TEST(a_held_shard_counts_before_the_one_in_the_folder);
WD_TEST(two_sets_of_one_name_are_not_mixed);
WD_TEST(a_neighbour_in_the_same_process_first);
WD_TEST(a_shard_of_another_view_is_not_beside);
WD_TEST(a_sibling_that_is_held_under_another_name);
WD_TEST(a_safetensors_folder_from_one_shard);
WD_LOOP(a_settings_file_younger_than_the_process, read_at_the_start);
WD_TEST(a_snapshot_of_links_to_blobs);
WD_SUITE_END
