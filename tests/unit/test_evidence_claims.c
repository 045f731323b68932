/*
 * What command lines, titles and environments name: shown, compared, and
 * never evidence. Field cases B10, B13, B22, D1, D6, D16.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

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

static Weightd__V1__Claim *
claim(size_t index)
{
	Weightd__V1__Group *group = scene_group(&s, 0);

	ck_assert_uint_lt(index, group->n_claims);
	return group->claims[index];
}

static bool
value_is(const Weightd__V1__Claim *c, const char *text)
{
	return c->value.len == strlen(text) &&
	    memcmp(c->value.data, text, strlen(text)) == 0;
}

/* ---- where a claim stands ------------------------------------------------ */

static const struct form {
	const char *argv, *key, *value;
} forms[] = {
	{ "['server', '-m', '/m/m.gguf']", "-m", "/m/m.gguf" },
	{ "['server', '--model', '/m/m.gguf']", "--model", "/m/m.gguf" },
	{ "['server', '--model=/m/m.gguf']", "--model", "/m/m.gguf" },
	{ "['server', '--port', '1', '/m/m.gguf']", "", "/m/m.gguf" },
	{ "['server', '--weights=/m/m.gguf']", "--weights", "/m/m.gguf" },
};

START_TEST(forms_of_a_command_line)
{
	scene_put(&s, "/processes/100/argv", forms[_i].argv);
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_claims, 1);
	ck_assert_str_eq(claim(0)->key, forms[_i].key);
	ck_assert(value_is(claim(0), forms[_i].value));
	ck_assert_int_eq(
	    claim(0)->source, WEIGHTD__V1__CLAIM__SOURCE__SOURCE_ARGV);
	ck_assert_int_eq(claim(0)->agrees, SEEN(YES));
	ck_assert_int_eq(claim(0)->pid, 100);
	ck_assert(!HAS_FLAG(scene_model(&s, 0), CONFLICT));
}
END_TEST

static const char *const no_claims[] = {
	"['/m/m.gguf']", /* argv[0] is the program's name: B22 */
	"['server', '-m']", "['server', '--port', '8080', '/etc/hosts']",
	"['server', '--model=']", "[]"
};

START_TEST(what_is_no_claim)
{
	scene_put(&s, "/processes/100/argv", no_claims[_i]);
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_claims, 0);
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
}
END_TEST

START_TEST(a_variable_names_the_model)
{
	scene_put(&s, "/processes/100/argv", "['server']");
	scene_put(&s, "/processes/100/env",
	    "[{'name': 'LLAMA_ARG_MODEL', 'value': '/m/m.gguf'},"
	    " {'name': 'HOME', 'value': '/m/m.gguf'}]");
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_claims, 1);
	ck_assert_str_eq(claim(0)->key, "LLAMA_ARG_MODEL");
	ck_assert_int_eq(
	    claim(0)->source, WEIGHTD__V1__CLAIM__SOURCE__SOURCE_ENVIRONMENT);
	ck_assert_int_eq(claim(0)->agrees, SEEN(YES));
}
END_TEST

START_TEST(an_alias_is_only_a_name)
{
	scene_gguf(&s, "w.gguf", "Wrong", NULL, 64, 2);
	scene_unmap_all(&s, 100);
	scene_map(&s, 100, "w.gguf", "/m/w.gguf");
	scene_put(
	    &s, "/processes/100/argv", "['server', '--alias', '/m/m.gguf']");
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_claims, 1);
	ck_assert_int_eq(claim(0)->agrees, SEEN(UNSPECIFIED));
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 1);
	ck_assert(!HAS_FLAG(scene_model(&s, 0), CONFLICT));
	ck_assert_str_eq(scene_model(&s, 0)->bundle->inner_name, "Wrong");
}
END_TEST

START_TEST(a_cut_command_line_is_no_check)
{
	scene_ask(&s);
	ck_assert(HAS_CHECK(scene_group(&s, 0), CLAIMS));
	scene_put(&s, "/processes/100/argv_truncated", "true");
	scene_ask(&s);
	ck_assert(!HAS_CHECK(scene_group(&s, 0), CLAIMS));
	ck_assert(scene_process_in(&s, 100)->argv_truncated);
	ck_assert_int_eq(claim(0)->agrees, SEEN(YES));
	scene_put(&s, "/processes/100/argv_truncated", "false");
	scene_put(&s, "/processes/100/argv_status", "'denied'");
	scene_ask(&s);
	ck_assert(!HAS_CHECK(scene_group(&s, 0), CLAIMS));
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
}
END_TEST

/* More than the cap: the answer goes on without them and says so. */
START_TEST(thousands_of_claims)
{
	json_t *argv = json_array();
	int i;

	json_array_append_new(argv, json_string("server"));
	for (i = 0; i < 5000; i++) {
		json_array_append_new(argv, json_string("-m"));
		json_array_append_new(argv, json_string("x"));
	}
	json_object_set_new(
	    json_object_get(json_object_get(s.document, "processes"), "100"),
	    "argv", argv);
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_claims, 4096);
	ck_assert(!HAS_CHECK(scene_group(&s, 0), CLAIMS));
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
}
END_TEST

/* ---- claim against evidence ---------------------------------------------- */

static void
held_is_another(void)
{
	scene_gguf(&s, "w.gguf", "Wrong", NULL, 64, 2);
	scene_unmap_all(&s, 100);
	scene_map(&s, 100, "w.gguf", "/m/sub/w.gguf");
}

/* D1: the command line says A, B is loaded. */
START_TEST(a_claim_that_conflicts)
{
	held_is_another();
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 1);
	ck_assert_str_eq(scene_model(&s, 0)->bundle->inner_name, "Wrong");
	ck_assert(HAS_FLAG(scene_model(&s, 0), CONFLICT));
	ck_assert_int_eq(claim(0)->agrees, SEEN(NO));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MISMATCH));
	ck_assert_int_eq(scene_verdict(&s, "w.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* B10: a title is no command line, whatever it says. */
START_TEST(a_title_is_said_to_be_one)
{
	held_is_another();
	scene_put(&s, "/processes/100/argv_overwritten", "true");
	scene_ask(&s);
	ck_assert_int_eq(
	    claim(0)->source, WEIGHTD__V1__CLAIM__SOURCE__SOURCE_TITLE);
	ck_assert(scene_process_in(&s, 100)->argv_overwritten);
	ck_assert_str_eq(scene_model(&s, 0)->bundle->inner_name, "Wrong");
}
END_TEST

/* D6: the folder is named; what is held in it is what counts. */
START_TEST(a_folder_with_the_held_file_in_it)
{
	scene_gguf(&s, "a.gguf", "First", NULL, 64, 2);
	scene_path(&s, 100, "/m/a.gguf", "a.gguf");
	scene_put(&s, "/processes/100/argv", "['server', '-m', '/m']");
	scene_ask(&s);
	ck_assert_int_eq(claim(0)->agrees, SEEN(YES));
	ck_assert(!HAS_FLAG(scene_model(&s, 0), CONFLICT));
	ck_assert_str_eq(scene_model(&s, 0)->bundle->inner_name, "Right");
}
END_TEST

/* D6: never "the first GGUF in that folder". */
START_TEST(a_folder_of_several_models_names_none)
{
	scene_gguf(&s, "a.gguf", "First", NULL, 64, 2);
	scene_path(&s, 100, "/m/a.gguf", "a.gguf");
	scene_unmap_all(&s, 100);
	scene_put(&s, "/processes/100/argv", "['server', '-m', '/m']");
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_claims, 1);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 0);
	ck_assert_int_eq(claim(0)->agrees, SEEN(UNSPECIFIED));
}
END_TEST

START_TEST(a_folder_of_one_model_names_it)
{
	scene_unmap_all(&s, 100);
	scene_put(&s, "/processes/100/argv", "['server', '-m', '/m']");
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 1);
	ck_assert_int_eq(scene_model(&s, 0)->grade, GRADE(CLAIMED));
}
END_TEST

#define SHARD_1 "m-00001-of-00002.gguf"
#define SHARD_2 "m-00002-of-00002.gguf"

START_TEST(a_folder_of_shards_is_one_model)
{
	scene_shard(&s, SHARD_1, 1, 2, 16, 11);
	scene_shard(&s, SHARD_2, 2, 2, 32, 12);
	(void)remove(wd_temp_path(s.folder, "m.gguf"));
	scene_remove(&s, "/files/m.gguf");
	scene_remove(&s, "/processes/100/paths/~1m~1m.gguf");
	scene_path(&s, 100, "/m/" SHARD_1, SHARD_1);
	scene_path(&s, 100, "/m/" SHARD_2, SHARD_2);
	scene_unmap_all(&s, 100);
	scene_put(&s, "/processes/100/argv", "['server', '-m', '/m']");
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 1);
	ck_assert_uint_eq(scene_model(&s, 0)->n_files, 2);
}
END_TEST

/* D16: the name used is a link; the file is the file. */
START_TEST(a_link_agrees)
{
	scene_path(&s, 100, "/m/prod.gguf", "m.gguf");
	scene_put(
	    &s, "/processes/100/argv", "['server', '-m', '/m/prod.gguf']");
	scene_ask(&s);
	ck_assert_int_eq(claim(0)->agrees, SEEN(YES));
	ck_assert(value_is(claim(0), "/m/prod.gguf"));
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 1);
	ck_assert_uint_eq(scene_file(&s, 0)->path.len, strlen("/m/m.gguf"));
}
END_TEST

/* ---- only named ---------------------------------------------------------- */

static void
only_named(void)
{
	scene_unmap_all(&s, 100);
}

START_TEST(named_and_nothing_else)
{
	only_named();
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(CLAIMED));
	ck_assert_int_eq(scene_file(&s, 0)->origin, ORIGIN(BESIDE));
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

START_TEST(named_and_open)
{
	only_named();
	scene_open(&s, 100, 7, "m.gguf", "/m/m.gguf");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(INFERRED));
	ck_assert_int_eq(scene_file(&s, 0)->origin, ORIGIN(OPEN));
	scene_put(&s, "/processes/100/argv", "['server']");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(CLAIMED));
}
END_TEST

/* 2 tensors of 8 x 64 F32 are 4096 bytes. */
static const struct {
	const char *pointer;
	int64_t value;
	Weightd__V1__Grade grade;
} enough[] = {
	{ "/processes/100/read_bytes", 4096, GRADE(INFERRED) },
	{ "/processes/100/read_bytes", 4095, GRADE(CLAIMED) },
	{ "/processes/100/rss_anon_bytes", 4096, GRADE(INFERRED) },
	{ "/processes/100/rss_anon_bytes", 4095, GRADE(CLAIMED) },
	{ "/processes/100/swap_bytes", 4096, GRADE(INFERRED) },
	{ "/processes/100/rss_file_bytes", 8192, GRADE(CLAIMED) },
};

START_TEST(named_and_bytes_read_or_held)
{
	only_named();
	scene_put_int(&s, enough[_i].pointer, enough[_i].value);
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, enough[_i].grade);
}
END_TEST

START_TEST(a_counter_that_was_refused_says_nothing)
{
	only_named();
	scene_put_int(&s, "/processes/100/read_bytes", 4096);
	scene_put(&s, "/processes/100/io_status", "'denied'");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(CLAIMED));
	ck_assert_int_eq(scene_process_in(&s, 100)->counters_sight,
	    WEIGHTD__V1__SIGHT__SIGHT_DENIED);
}
END_TEST

/* The bytes were read by somebody who does not serve. */
START_TEST(what_an_activator_read_does_not_count)
{
	only_named();
	scene_owner(&s, 1, 40, 77);
	scene_put_int(&s, "/processes/1/read_bytes", 1 << 20);
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(CLAIMED));
}
END_TEST

static const char *const times[] = { "mtime_ns", "ctime_ns" };

START_TEST(a_file_younger_than_the_process_is_only_claimed)
{
	char pointer[64];

	only_named();
	scene_open(&s, 100, 7, "m.gguf", "/m/m.gguf");
	(void)snprintf(pointer, sizeof(pointer), "/files/m.gguf/%s", times[_i]);
	scene_put_int(&s, pointer, SCENE_START + 20000000);
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(CLAIMED));
	ck_assert_ptr_nonnull(strstr(scene_file(&s, 0)->reason, "younger"));
	/* One tick is what start times are exact to. */
	scene_put_int(&s, pointer, SCENE_START + 10000000);
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(INFERRED));
}
END_TEST

/* Another file is open, as a log is: it does not push the named one aside. */
START_TEST(an_open_file_hides_no_claim)
{
	only_named();
	scene_gguf(&s, "w.gguf", "Open", NULL, 64, 2);
	scene_open(&s, 100, 7, "w.gguf", "/m/w.gguf");
	scene_put_int(&s, "/processes/100/read_bytes", 4096);
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 2);
	ck_assert(HAS_FLAG(scene_group(&s, 0), AMBIGUOUS));
}
END_TEST

/* A broken file that is only named hides nothing of what is held. */
START_TEST(a_broken_file_that_is_named)
{
	static const char broken[] = "GGUF\3\0\0\0\377\377\377\377\377\377";

	scene_write(&s, "broken.gguf", broken, sizeof(broken) - 1);
	scene_path(&s, 100, "/m/broken.gguf", "broken.gguf");
	scene_put(&s, "/processes/100/argv",
	    "['server', '-m', '/m/m.gguf', '--lora', '/m/broken.gguf']");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
	ck_assert(scene_blind(&s, SCOPE(WEIGHTS), "broken.gguf"));
	/* Alone it may be what was loaded. */
	scene_unmap_all(&s, 100);
	scene_put(
	    &s, "/processes/100/argv", "['server', '-m', '/m/broken.gguf']");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(BLIND));
}
END_TEST

/* ---- companions ---------------------------------------------------------- */

START_TEST(a_draft_is_known_by_its_use)
{
	scene_gguf(&s, "d.gguf", "Draft", NULL, 8, 2);
	scene_map(&s, 100, "d.gguf", "/m/d.gguf");
	scene_put(&s, "/processes/100/argv",
	    "['server', '-m', '/m/m.gguf', '-md', '/m/d.gguf']");
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 2);
	ck_assert_int_eq(scene_model(&s, 0)->bundle->kind, KIND(MODEL));
	ck_assert_str_eq(scene_model(&s, 0)->bundle->inner_name, "Right");
	ck_assert_int_eq(scene_model(&s, 1)->bundle->kind, KIND(DRAFT));
	ck_assert(!HAS_FLAG(scene_group(&s, 0), AMBIGUOUS));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MISMATCH));
}
END_TEST

static const char *const model_and_draft[] = {
	"['server', '-m', '/m/m.gguf', '-md', '/m/m.gguf']",
	"['server', '-md', '/m/m.gguf', '-m', '/m/m.gguf']",
};

START_TEST(its_own_draft_is_still_the_model)
{
	scene_put(&s, "/processes/100/argv", model_and_draft[_i]);
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 1);
	ck_assert_int_eq(scene_model(&s, 0)->bundle->kind, KIND(MODEL));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

START_TEST(an_adapter_that_is_only_named)
{
	scene_gguf(&s, "lora.gguf", "Adapter", "adapter", 8, 2);
	scene_path(&s, 100, "/m/lora.gguf", "lora.gguf");
	scene_put(&s, "/processes/100/argv",
	    "['server', '-m', '/m/m.gguf', '--lora', '/m/lora.gguf']");
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 2);
	ck_assert_int_eq(scene_model(&s, 1)->bundle->kind, KIND(ADAPTER));
	ck_assert_int_eq(scene_model(&s, 1)->grade, GRADE(CLAIMED));
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
}
END_TEST

WD_SUITE_BEGIN("evidence claims")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_LOOP(forms_of_a_command_line, forms);
WD_LOOP(what_is_no_claim, no_claims);
WD_TEST(a_variable_names_the_model);
WD_TEST(an_alias_is_only_a_name);
WD_TEST(a_cut_command_line_is_no_check);
WD_TEST(thousands_of_claims);
WD_TEST(a_claim_that_conflicts);
WD_TEST(a_title_is_said_to_be_one);
WD_TEST(a_folder_with_the_held_file_in_it);
WD_TEST(a_folder_of_several_models_names_none);
WD_TEST(a_folder_of_one_model_names_it);
WD_TEST(a_folder_of_shards_is_one_model);
WD_TEST(a_link_agrees);
WD_TEST(named_and_nothing_else);
WD_TEST(named_and_open);
WD_LOOP(named_and_bytes_read_or_held, enough);
WD_TEST(a_counter_that_was_refused_says_nothing);
WD_TEST(what_an_activator_read_does_not_count);
WD_LOOP(a_file_younger_than_the_process_is_only_claimed, times);
WD_TEST(an_open_file_hides_no_claim);
WD_TEST(a_broken_file_that_is_named);
WD_TEST(a_draft_is_known_by_its_use);
WD_LOOP(its_own_draft_is_still_the_model, model_and_draft);
WD_TEST(an_adapter_that_is_only_named);
WD_SUITE_END
