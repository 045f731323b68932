/*
 * What a server leaves behind when it ends: a helper that keeps the port, a
 * worker that keeps the weights. Field cases A12, A26, D12, D17.
 */
#include <check.h>

#include "host/fixture/fixture.h"
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

/* A26: a new server listens, and the worker of the old one still holds its
 * weights: shown, and no part of the answer about the new one. */
static void
worker_beside_a_new_server(void)
{
	scene_gguf(&s, "w.gguf", "Old", NULL, 64, 2);
	scene_process(&s, 101, 1);
	scene_map(&s, 101, "w.gguf", "/m/w.gguf");
}

START_TEST(orphaned_weights_beside_a_new_server_are_shown)
{
	worker_beside_a_new_server();
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_groups, 1);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 1);
	ck_assert_str_eq(scene_model(&s, 0)->bundle->inner_name, "Right");
	ck_assert_uint_eq(s.all->n_orphans, 1);
	ck_assert_int_eq(s.all->orphans[0]->pids[0], 101);
	ck_assert(HAS_FLAG(s.all, ORPHAN_WEIGHTS));
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
	ck_assert_int_eq(scene_verdict(&s, "w.gguf", NULL), VERDICT(MISMATCH));
}
END_TEST

/* Its bytes are not worth reading for an answer about another process. */
START_TEST(an_orphan_beside_a_server_is_not_hashed)
{
	worker_beside_a_new_server();
	scene_ask(&s);
	ck_assert_int_eq(
	    s.all->orphans[0]->candidates[0]->bundle->content_digest_state,
	    STATE(NONE));
	ck_assert_int_eq(
	    scene_model(&s, 0)->bundle->content_digest_state, STATE(COMPUTED));
}
END_TEST

/* A device that it holds hides nothing of the server's; it may end while we
 * look. */
START_TEST(what_an_orphan_hides_is_not_the_servers)
{
	worker_beside_a_new_server();
	scene_put(&s, "/processes/101/descriptors/items/-",
	    "{'fd': 9, 'type': 'device', 'path': '/dev/nvidia0'}");
	scene_put(&s, "/processes/101/generation_known", "false");
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_orphans, 1);
	ck_assert(!scene_blind(&s, SCOPE(WEIGHTS), "101"));
	ck_assert(scene_blind(&s, SCOPE(OTHER), "101"));
	ck_assert(HAS_CHECK(s.all, IDENTITY_AGAIN));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* It serves on its own port, whoever started it. */
START_TEST(a_server_whose_parent_died_is_no_orphan)
{
	worker_beside_a_new_server();
	scene_listener(&s, "127.0.0.1", 9000, 90);
	scene_owner(&s, 101, 5, 90);
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_orphans, 0);
	/* Nobody serves any more: a child of a router has a port as well. */
	scene_remove(&s, "/listeners/items/0");
	scene_remove(&s, "/holders/items/0");
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_orphans, 1);
}
END_TEST

/* A worker that is tied to the server belongs to it. */
START_TEST(a_tied_worker_is_no_orphan)
{
	worker_beside_a_new_server();
	scene_put(&s, "/processes/100/descriptors/items/-",
	    "{'fd': 20, 'type': 'pipe', 'path': 'pipe:[5000]', 'inode': 5000,"
	    " 'writable': true}");
	scene_put(&s, "/processes/101/descriptors/items/-",
	    "{'fd': 20, 'type': 'pipe', 'path': 'pipe:[5000]',"
	    " 'inode': 5000}");
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_orphans, 0);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 2);
}
END_TEST

/* The process table alone tells whom nobody left behind. */
START_TEST(only_who_may_be_left_is_looked_into)
{
	uint64_t before;

	scene_ask(&s);
	before = wd_host_fixture_calls(s.host, "mappings");
	scene_process(&s, 60, 50);
	scene_ask(&s);
	ck_assert_uint_eq(wd_host_fixture_calls(s.host, "mappings"), before);
}
END_TEST

/* D17: a chain of processes, and no weights anywhere: no stale answer. */
START_TEST(a_chain_without_weights_holds_none)
{
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
	scene_unmap_all(&s, 100);
	scene_process(&s, 101, 100);
	scene_process(&s, 102, 101);
	scene_put(&s, "/processes/100/argv", "['server']");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(NONE));
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 0);
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

/* ---- D12: the same weights elsewhere ---------------------------------------
 */

START_TEST(a_second_instance_is_shown)
{
	scene_process(&s, 300, 50);
	scene_map(&s, 300, "m.gguf", "/m/m.gguf");
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_pids, 1);
	ck_assert_uint_eq(scene_model(&s, 0)->n_also_held_by, 1);
	ck_assert_int_eq(scene_model(&s, 0)->also_held_by[0], 300);
	ck_assert(HAS_FLAG(scene_model(&s, 0), DUPLICATE_INSTANCE));
	ck_assert_uint_eq(scene_model(&s, 0)->n_pids, 1);
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* Each of two servers names the other, and not itself. */
START_TEST(two_instances_name_each_other)
{
	size_t i;

	scene_process(&s, 300, 50);
	scene_listener(&s, "127.0.0.2", SCENE_PORT, 78);
	scene_owner(&s, 300, 3, 78);
	scene_map(&s, 300, "m.gguf", "/m/m.gguf");
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_groups, 2);
	for (i = 0; i < 2; i++) {
		const Weightd__V1__Group *group = scene_group(&s, i);

		ck_assert_uint_eq(group->n_candidates, 1);
		ck_assert_uint_eq(group->candidates[0]->n_also_held_by, 1);
		ck_assert_int_ne(group->candidates[0]->also_held_by[0],
		    group->candidates[0]->pids[0]);
	}
}
END_TEST

/* Members share the file, and another file may print the same numbers. */
START_TEST(members_and_other_files_are_no_second_instance)
{
	scene_process(&s, 101, 100);
	scene_map(&s, 101, "m.gguf", "/m/m.gguf");
	scene_process(&s, 300, 50);
	scene_gguf(&s, "w.gguf", "Other", NULL, 64, 2);
	scene_put(&s, "/files/m.gguf/device", "7");
	scene_put(&s, "/files/m.gguf/inode", "8");
	scene_map(&s, 300, "w.gguf", "/m/w.gguf");
	scene_put(&s, "/processes/300/mappings/items/0/device", "7");
	scene_put(&s, "/processes/300/mappings/items/0/inode", "8");
	scene_ask(&s);
	ck_assert_uint_eq(scene_model(&s, 0)->n_also_held_by, 0);
	ck_assert(!HAS_FLAG(scene_model(&s, 0), DUPLICATE_INSTANCE));
}
END_TEST

START_TEST(instances_that_cannot_be_seen_are_a_blind_spot)
{
	scene_put(&s, "/mappers", "{'complete': false}");
	scene_ask(&s);
	ck_assert(scene_blind(&s, SCOPE(OTHER), "hold the same weights"));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
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
WD_TEST(orphaned_weights_beside_a_new_server_are_shown);
WD_TEST(an_orphan_beside_a_server_is_not_hashed);
WD_TEST(what_an_orphan_hides_is_not_the_servers);
WD_TEST(a_server_whose_parent_died_is_no_orphan);
WD_TEST(a_tied_worker_is_no_orphan);
WD_TEST(only_who_may_be_left_is_looked_into);
WD_TEST(a_chain_without_weights_holds_none);
WD_TEST(a_second_instance_is_shown);
WD_TEST(two_instances_name_each_other);
WD_TEST(members_and_other_files_are_no_second_instance);
WD_TEST(instances_that_cannot_be_seen_are_a_blind_spot);
WD_SUITE_END
