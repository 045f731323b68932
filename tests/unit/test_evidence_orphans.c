/*
 * What a server leaves behind when it ends: a helper that keeps the port, a
 * worker that keeps the weights. Field cases A12, A26.
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

/* Process 100 as a mere parent: the weights go to child `pid`. */
static void
child_with_weights(int pid)
{
	scene_process(&s, pid, 100);
	scene_unmap_all(&s, 100);
	scene_map(&s, pid, "m.gguf", "/m/m.gguf");
}

/* A12: the server is dead, its helper kept the socket. */
static void
helper_holds_the_port(int ppid)
{
	scene_put(&s, "/holders/items", "[]");
	scene_process(&s, 101, ppid);
	scene_put(&s, "/processes/101/descriptors/items", "[]");
	scene_put(&s, "/processes/101/comm", "'sleep'");
	scene_owner(&s, 101, 3, 77);
}

START_TEST(an_orphan_holder_serves_nothing)
{
	helper_holds_the_port(1);
	scene_ask(&s);
	ck_assert_int_eq(scene_process_in(&s, 101)->role, ROLE(ORPHAN_HOLDER));
	ck_assert(HAS_FLAG(scene_process_in(&s, 101), ORPHAN_HOLDER));
	ck_assert(HAS_FLAG(scene_group(&s, 0), ORPHAN_HOLDER));
	ck_assert_int_eq(s.all->grade, GRADE(NONE));
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

START_TEST(the_helper_of_a_live_server_is_none)
{
	helper_holds_the_port(100);
	scene_ask(&s);
	ck_assert_int_eq(scene_process_in(&s, 101)->role, ROLE(OWNER));
}
END_TEST

/* Started on its own: it leads its session, nobody left it behind. */
START_TEST(a_daemon_is_no_orphan)
{
	helper_holds_the_port(1);
	scene_put(&s, "/processes/101/sid", "101");
	scene_put(&s, "/processes/101/pgid", "101");
	scene_ask(&s);
	ck_assert_int_eq(scene_process_in(&s, 101)->role, ROLE(OWNER));
}
END_TEST

static const struct {
	const char *pointer, *json;
} signs_of_life[] = {
	{ "/processes/101/descriptors/items/-",
	    "{'fd': 9, 'type': 'other', 'path': 'anon_inode:[eventpoll]'}" },
	{ "/processes/101/descriptors/items/-",
	    "{'fd': 9, 'type': 'socket', 'inode': 500}" },
	{ "/processes/101/descriptors/items/-",
	    "{'fd': 9, 'type': 'io_uring', 'path': 'anon_inode:[io_uring]'}" },
	{ "/processes/101/descriptors/complete", "false" },
	{ "/processes/101/rss_anon_bytes", "4294967296" },
	{ "/processes/101/mappings/status", "'denied'" },
};

START_TEST(a_sign_of_life_makes_an_owner)
{
	helper_holds_the_port(1);
	scene_put(&s, signs_of_life[_i].pointer, signs_of_life[_i].json);
	scene_ask(&s);
	ck_assert_int_eq(scene_process_in(&s, 101)->role, ROLE(OWNER));
	ck_assert(!HAS_FLAG(scene_group(&s, 0), ORPHAN_HOLDER));
}
END_TEST

/* Its group's leader is only not seen: nothing follows from that. */
START_TEST(a_hidden_leader_makes_no_orphan)
{
	helper_holds_the_port(50);
	scene_put(&s, "/pids", "{'complete': false, 'hidden': [50]}");
	scene_ask(&s);
	ck_assert_int_eq(scene_process_in(&s, 101)->role, ROLE(OWNER));
	ck_assert_int_eq(s.all->grade, GRADE(BLIND));
}
END_TEST

/* A26, after kill -9 of the parent. */
static void
worker_outlives_its_server(void)
{
	child_with_weights(101);
	scene_put(&s, "/processes/101/ppid", "1");
	scene_remove(&s, "/processes/100");
	scene_put(&s, "/listeners/items", "[]");
	scene_put(&s, "/holders/items", "[]");
}

START_TEST(orphaned_weights_are_shown)
{
	uint32_t line;

	worker_outlives_its_server();
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_groups, 0);
	ck_assert_uint_eq(s.all->n_orphans, 1);
	ck_assert(HAS_FLAG(s.all, ORPHAN_WEIGHTS));
	ck_assert_int_eq(s.all->orphans[0]->pids[0], 101);
	ck_assert(HAS_FLAG(s.all->orphans[0], ORPHAN_WEIGHTS));
	ck_assert_uint_eq(s.all->orphans[0]->n_candidates, 1);
	ck_assert_int_eq(scene_process_in(&s, 101)->role, ROLE(ORPHAN_WEIGHTS));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", &line), VERDICT(MISSING));
	ck_assert_uint_eq(line, 4);
}
END_TEST

START_TEST(weights_of_a_living_family_are_no_orphans)
{
	scene_put(&s, "/listeners/items", "[]");
	scene_put(&s, "/holders/items", "[]");
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_orphans, 0);
	ck_assert(!HAS_FLAG(s.all, ORPHAN_WEIGHTS));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MISSING));
	/* The leader of its group is only not seen. */
	scene_put(&s, "/pids", "{'complete': false, 'hidden': [50]}");
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_orphans, 0);
}
END_TEST

/* The search for orphans was refused: said, not swallowed. */
START_TEST(an_orphan_that_cannot_be_read_is_a_blind_spot)
{
	worker_outlives_its_server();
	scene_put(&s, "/processes/101/mappings/status", "'denied'");
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_orphans, 0);
	ck_assert(scene_blind(&s, SCOPE(OTHER), "outlived"));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MISSING));
}
END_TEST

WD_SUITE_BEGIN("evidence orphans")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_TEST(an_orphan_holder_serves_nothing);
WD_TEST(the_helper_of_a_live_server_is_none);
WD_TEST(a_daemon_is_no_orphan);
WD_LOOP(a_sign_of_life_makes_an_owner, signs_of_life);
WD_TEST(a_hidden_leader_makes_no_orphan);
WD_TEST(orphaned_weights_are_shown);
WD_TEST(weights_of_a_living_family_are_no_orphans);
WD_TEST(an_orphan_that_cannot_be_read_is_a_blind_spot);
WD_SUITE_END
