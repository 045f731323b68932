/*
 * What the engine table says of a group of several processes: of those that
 * own the port or hold weights, one that can change is enough, and only what
 * all agree on is in force.
 */
#include <check.h>
#include <string.h>

#include "support/scene.h"
#include "support/suite.h"

static struct scene s;

static void
run(int pid, const char *argv)
{
	char pointer[64];

	(void)snprintf(pointer, sizeof(pointer), "/processes/%d/exe", pid);
	scene_put(
	    &s, pointer, "{'status': 'ok', 'path': '/usr/bin/llama-server'}");
	(void)snprintf(pointer, sizeof(pointer), "/processes/%d/argv", pid);
	scene_put(&s, pointer, argv);
}

/* Two processes hold the listener; only the first maps the model. */
static void
set_up(void)
{
	scene_begin(&s);
	scene_process(&s, 200, 1);
	scene_owner(&s, 200, 3, 77);
	run(100,
	    "['llama-server', '-m', '/m/m.gguf', '-c', '4096', '-b', '8']");
	run(200,
	    "['llama-server', '-m', '/m/m.gguf', '-c', '4096', '-b', '8']");
}

static void
tear_down(void)
{
	scene_end(&s);
}

static const char *
setting(const char *key)
{
	const Weightd__V1__Group *g = scene_group(&s, 0);
	size_t i;

	for (i = 0; i < g->n_run_settings; i++)
		if (strcmp(g->run_settings[i]->key, key) == 0)
			return g->run_settings[i]->value;
	return "";
}

START_TEST(what_all_agree_on_is_in_force)
{
	scene_ask(&s);
	ck_assert_str_eq(setting("run.context"), "4096");
	ck_assert_str_eq(setting("run.batch"), "8");
	ck_assert(HAS_CHECK(scene_group(&s, 0), RUN_SETTINGS));
	ck_assert(HAS_CHECK(scene_group(&s, 0), ENGINE));
	ck_assert(!HAS_FLAG(scene_group(&s, 0), MUTABLE));
}
END_TEST

START_TEST(what_they_give_differently_is_not)
{
	run(200, "['llama-server', '-m', '/m/m.gguf', '-c', '512', '-b', '8']");
	scene_ask(&s);
	ck_assert_str_eq(setting("run.context"), "");
	ck_assert_str_eq(setting("run.batch"), "8");
	ck_assert(!HAS_CHECK(scene_group(&s, 0), RUN_SETTINGS));
}
END_TEST

START_TEST(what_only_one_gives_is_not)
{
	run(200, "['llama-server', '-m', '/m/m.gguf', '-c', '4096']");
	scene_ask(&s);
	ck_assert_str_eq(setting("run.context"), "4096");
	ck_assert_str_eq(setting("run.batch"), "");
	ck_assert(!HAS_CHECK(scene_group(&s, 0), RUN_SETTINGS));
}
END_TEST

/* A title says nothing of options, and takes none away. */
START_TEST(a_title_adds_nothing)
{
	run(200, "['llama-server: slot 3']");
	scene_put(&s, "/processes/200/argv_overwritten", "true");
	scene_ask(&s);
	ck_assert_str_eq(setting("run.context"), "4096");
}
END_TEST

START_TEST(one_that_can_change_is_enough)
{
	run(200, "['llama-server', '-m', '/m/m.gguf', '--lora', 'x']");
	scene_ask(&s);
	ck_assert(HAS_FLAG(scene_group(&s, 0), MUTABLE));
	run(200, "['llama-server', '-m', '/m/m.gguf', '--rpc', 'h:1']");
	scene_ask(&s);
	ck_assert(!HAS_FLAG(scene_group(&s, 0), MUTABLE));
	ck_assert(HAS_FLAG(scene_group(&s, 0), PARTIAL));
}
END_TEST

/* Nobody can tell of the second: then of the group neither. */
START_TEST(one_that_is_unknown_denies_nothing)
{
	scene_put(&s, "/processes/200/exe/path", "'/opt/unknown'");
	scene_ask(&s);
	ck_assert(!HAS_FLAG(scene_group(&s, 0), MUTABLE));
	ck_assert(!HAS_CHECK(scene_group(&s, 0), ENGINE));
	ck_assert_int_eq(
	    scene_model(&s, 0)->updatable_without_files, SEEN(UNSPECIFIED));
}
END_TEST

/* A shell below the server neither owns the port nor holds weights. */
START_TEST(a_helper_says_nothing)
{
	scene_process(&s, 300, 100);
	scene_put(&s, "/processes/300/exe/path", "'/bin/sh'");
	scene_put(&s, "/processes/300/argv", "['sh']");
	scene_ask(&s);
	ck_assert(HAS_CHECK(scene_group(&s, 0), ENGINE));
	ck_assert_str_eq(setting("run.context"), "4096");
}
END_TEST

/* A descendant that holds the weights counts as the owner does. */
START_TEST(a_worker_that_holds_weights_counts)
{
	scene_process(&s, 300, 100);
	scene_put(&s, "/processes/300/exe/path", "'/opt/unknown'");
	scene_map(&s, 300, "m.gguf", "/m/m.gguf");
	scene_ask(&s);
	ck_assert(!HAS_CHECK(scene_group(&s, 0), ENGINE));
}
END_TEST

/* Both would map a draft that they use: one that would not says that nothing
 * follows from a draft which nobody maps. */
START_TEST(drafts_of_one_that_maps_none)
{
	scene_gguf(&s, "d.gguf", "Draft", NULL, 8, 2);
	scene_path(&s, 100, "/m/d.gguf", "d.gguf");
	run(100, "['llama-server', '-m', '/m/m.gguf', '-md', '/m/d.gguf']");
	scene_ask(&s);
	ck_assert_int_eq(scene_model(&s, 1)->in_use, SEEN(NO));
	scene_put(&s, "/processes/200/exe/path", "'/usr/bin/tritonserver'");
	scene_put(&s, "/processes/200/argv", "['tritonserver']");
	scene_ask(&s);
	ck_assert_int_eq(scene_model(&s, 1)->in_use, SEEN(UNSPECIFIED));
	/* Nor the other way round. */
	scene_put(&s, "/processes/100/exe/path", "'/usr/bin/tritonserver'");
	run(200, "['llama-server', '-m', '/m/m.gguf', '-md', '/m/d.gguf']");
	scene_path(&s, 200, "/m/d.gguf", "d.gguf");
	scene_ask(&s);
	ck_assert_int_eq(scene_model(&s, 1)->in_use, SEEN(UNSPECIFIED));
}
END_TEST

WD_SUITE_BEGIN("evidence engine facts")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_TEST(what_all_agree_on_is_in_force);
WD_TEST(what_they_give_differently_is_not);
WD_TEST(what_only_one_gives_is_not);
WD_TEST(a_title_adds_nothing);
WD_TEST(one_that_can_change_is_enough);
WD_TEST(one_that_is_unknown_denies_nothing);
WD_TEST(a_helper_says_nothing);
WD_TEST(a_worker_that_holds_weights_counts);
WD_TEST(drafts_of_one_that_maps_none);
WD_SUITE_END
