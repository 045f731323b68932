/* What the agent says of its own sight. */
#include "evidence/sight.h"

#include <string.h>

#include "support/scene.h"
#include "support/suite.h"
#include "wire/build.h"

static struct scene scene;
static Weightd__V1__GetHostResponse *answer;

static void
set_up(void)
{
	scene_begin(&scene);
}

static void
tear_down(void)
{
	wd_message_free(answer);
	answer = NULL;
	scene_end(&scene);
}

static void
look(void)
{
	struct wd_evidence with = { .reader = scene.reader,
		.store = scene.store,
		.clock = &scene.clock };

	with.host = scene_new_host(&scene);
	wd_message_free(answer);
	answer = NULL;
	ck_assert_int_eq(wd_look_at_sight(&with, SCENE_START, &scene.deadline,
			     &answer, NULL),
	    WD_OK);
	wd_host_free(&with.host);
}

static const Weightd__V1__BlindSpot *
blind_in(Weightd__V1__BlindSpot__Scope scope)
{
	size_t i;

	for (i = 0; i < answer->n_blind_spots; i++)
		if (answer->blind_spots[i]->scope == scope)
			return answer->blind_spots[i];
	return NULL;
}

#define BLIND_IN(scope) blind_in(WEIGHTD__V1__BLIND_SPOT__SCOPE__SCOPE_##scope)

START_TEST(who_answers_and_what_it_can_do)
{
	scene_put(&scene, "/rights",
	    "{'CAP_SYS_PTRACE': true, 'CAP_SYS_ADMIN': false}");
	look();
	ck_assert_str_eq(answer->host->hostname, "box");
	ck_assert_str_eq(answer->host->agent_version, WD_VERSION);
	ck_assert_int_eq(answer->now->seconds, SCENE_NOW / WD_NS_PER_SECOND);
	ck_assert_int_eq(
	    answer->agent_started_at->seconds, SCENE_START / WD_NS_PER_SECOND);
	ck_assert_uint_eq(answer->n_capabilities, 2);
	ck_assert_str_eq(answer->capabilities[0]->name, "CAP_SYS_PTRACE");
	ck_assert(answer->capabilities[0]->held);
	ck_assert(!answer->capabilities[1]->held);
	ck_assert_str_ne(answer->capabilities[1]->purpose, "");
	ck_assert_uint_eq(answer->n_formats, 6);
	ck_assert(scene_made(answer->checks, answer->n_checks,
	    WEIGHTD__V1__CHECK__CHECK_ACCELERATORS));
	ck_assert(!scene_made(answer->checks, answer->n_checks,
	    WEIGHTD__V1__CHECK__CHECK_UNSPECIFIED));
	ck_assert_uint_eq(answer->n_blind_spots, 0);
}
END_TEST

START_TEST(rights_without_names)
{
	look();
	ck_assert_uint_eq(answer->n_capabilities, 0);
}
END_TEST

START_TEST(what_cannot_be_looked_at_at_all)
{
	scene_put(&scene, "/listeners/status", "'unsupported'");
	look();
	ck_assert_ptr_nonnull(BLIND_IN(LISTENERS));
	ck_assert_ptr_null(BLIND_IN(OWNERS));
	scene_remove(&scene, "/listeners/status");
	scene_put(&scene, "/holders/status", "'denied'");
	look();
	ck_assert_ptr_null(BLIND_IN(LISTENERS));
	ck_assert_str_ne(BLIND_IN(OWNERS)->remedy, "");
	scene_remove(&scene, "/holders/status");
	scene_put(&scene, "/pids/status", "'unsupported'");
	look();
	ck_assert_ptr_nonnull(BLIND_IN(WEIGHTS));
}
END_TEST

START_TEST(what_was_seen_in_part)
{
	scene_put(&scene, "/holders/complete", "false");
	scene_put(&scene, "/holders/blinds",
	    "[{'why': 'denied', 'pid': 1, 'what': 'descriptors',"
	    "  'reason': 'r', 'remedy': 'm'}]");
	look();
	ck_assert_str_eq(BLIND_IN(OWNERS)->what, "descriptors");
	ck_assert_int_eq(BLIND_IN(OWNERS)->pid, 1);
}
END_TEST

START_TEST(objects_that_cannot_be_reached)
{
	/* The agent's own mappings say nothing about those of others. */
	scene_process(&scene, 900, 1);
	scene_map(&scene, 900, "m.gguf", "/m/m.gguf");
	scene_put(&scene, "/processes/900/mappings/by_path_only", "true");
	look();
	ck_assert_ptr_null(BLIND_IN(WEIGHTS));
	scene_put(&scene, "/refusal", "{'object': 'no map_files'}");
	scene_put(&scene, "/processes/100/mappings/by_path_only", "true");
	look();
	ck_assert_str_eq(BLIND_IN(WEIGHTS)->reason, "no map_files");
}
END_TEST

START_TEST(nobody_shows_mappings)
{
	/* But the agent, which says nothing about others. */
	scene_process(&scene, 900, 1);
	scene_map(&scene, 900, "m.gguf", "/m/m.gguf");
	scene_unmap_all(&scene, SCENE_PID);
	look();
	ck_assert_ptr_nonnull(BLIND_IN(WEIGHTS));
	scene_put(&scene, "/refusal", "{'process': 'no ptrace'}");
	scene_put(&scene, "/processes/100/mappings/status", "'denied'");
	look();
	ck_assert_str_eq(BLIND_IN(WEIGHTS)->reason, "no ptrace");
}
END_TEST

WD_SUITE_BEGIN("evidence sight")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_TEST(who_answers_and_what_it_can_do);
WD_TEST(rights_without_names);
WD_TEST(what_cannot_be_looked_at_at_all);
WD_TEST(what_was_seen_in_part);
WD_TEST(objects_that_cannot_be_reached);
WD_TEST(nobody_shows_mappings);
WD_SUITE_END
