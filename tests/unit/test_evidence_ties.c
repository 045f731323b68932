/*
 * Processes that serve with the owners without descending from them, and those
 * that only seem to: evidence/ties.h.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "host/fixture/fixture.h"
#include "support/scene.h"
#include "support/suite.h"

static struct scene s;

/* Process 100 owns the port and holds nothing; 300, started by somebody else,
 * maps the weights. */
static void
set_up(void)
{
	scene_begin(&s);
	scene_unmap_all(&s, 100);
	scene_put(&s, "/processes/100/argv", "['server']");
	scene_process(&s, 300, 1);
	scene_put(&s, "/processes/300/sid", "300");
	scene_map(&s, 300, "m.gguf", "/m/m.gguf");
}

static void
tear_down(void)
{
	scene_end(&s);
}

static void
pipe_end(int pid, int fd, int inode, bool writes)
{
	char pointer[64], json[160];

	(void)snprintf(
	    pointer, sizeof(pointer), "/processes/%d/descriptors/items/-", pid);
	(void)snprintf(json, sizeof(json),
	    "{'fd': %d, 'type': 'pipe', 'path': 'pipe:[%d]', 'inode': %d,"
	    " 'readable': %s, 'writable': %s}",
	    fd, inode, inode, writes ? "false" : "true",
	    writes ? "true" : "false");
	scene_put(&s, pointer, json);
}

/* 100 writes, `pid` reads. */
static void
tie_by_pipe(int pid)
{
	pipe_end(100, 20, 5000, true);
	pipe_end(pid, 6, 5000, false);
}

static void
tie_by_socket(int pid)
{
	scene_socket(&s, 100, 21, 6001);
	scene_socket(&s, pid, 7, 6002);
	scene_put(&s, "/unix_pairs", "[{'inode': 6001, 'peer_inode': 6002}]");
}

static void
shares(int pid, int inode, const char *more)
{
	char pointer[64], json[256];

	(void)snprintf(
	    pointer, sizeof(pointer), "/processes/%d/mappings/items/-", pid);
	(void)snprintf(json, sizeof(json),
	    "{'type': 'memory', 'path': '/memfd:ring', 'device': 1,"
	    " 'inode': %d, 'start': 4096, 'end': 8192, 'readable': true%s}",
	    inode, more);
	scene_put(&s, pointer, json);
}

static bool
is_member(int pid)
{
	Weightd__V1__Group *group = scene_group(&s, 0);
	size_t i;

	for (i = 0; i < group->n_pids; i++)
		if (group->pids[i] == pid)
			return true;
	return false;
}

static void
expect_tied(Weightd__V1__Tie__Kind kind)
{
	Weightd__V1__Process *p;

	scene_ask(&s);
	ck_assert(is_member(300));
	p = scene_process_in(&s, 300);
	ck_assert_int_eq(p->role, ROLE(TIED));
	ck_assert_uint_eq(p->n_ties, 1);
	ck_assert_int_eq(p->ties[0]->kind, kind);
	ck_assert_int_eq(p->ties[0]->pid, 100);
	ck_assert_int_eq(s.all->grade, GRADE(INFERRED));
	ck_assert_int_eq(scene_file(&s, 0)->pids[0], 300);
	ck_assert_ptr_nonnull(strstr(scene_file(&s, 0)->reason, "tied"));
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
}

static void
expect_no_tie(void)
{
	scene_ask(&s);
	ck_assert(!is_member(300));
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 0);
}

/* ---- what ties ------------------------------------------------------------
 */

START_TEST(a_pipe_ties)
{
	tie_by_pipe(300);
	expect_tied(WEIGHTD__V1__TIE__KIND__KIND_PIPE);
}
END_TEST

START_TEST(a_unix_socket_ties)
{
	tie_by_socket(300);
	expect_tied(WEIGHTD__V1__TIE__KIND__KIND_UNIX_SOCKET);
}
END_TEST

START_TEST(shared_memory_ties)
{
	shares(100, 7000, ", 'writable': true, 'open_status': 'invalid'");
	shares(300, 7000, ", 'writable': true, 'open_status': 'invalid'");
	expect_tied(WEIGHTD__V1__TIE__KIND__KIND_SHARED_MEMORY);
}
END_TEST

/* A worker of a child: ties of descendants count as those of owners do. */
START_TEST(a_tie_to_a_descendant_counts)
{
	scene_process(&s, 101, 100);
	pipe_end(101, 20, 5000, true);
	pipe_end(300, 6, 5000, false);
	scene_ask(&s);
	ck_assert(is_member(300));
	ck_assert_int_eq(scene_process_in(&s, 300)->ties[0]->pid, 101);
}
END_TEST

/* ---- what does not --------------------------------------------------------
 */

/* The same session, process group and cgroup attribute nothing. */
START_TEST(a_neighbour_is_not_tied)
{
	scene_put(&s, "/processes/300/sid", "50");
	scene_put(&s, "/processes/100/cgroup", "'/system.slice/x.service'");
	scene_put(&s, "/processes/300/cgroup", "'/system.slice/x.service'");
	expect_no_tie();
	ck_assert_int_eq(s.all->grade, GRADE(NONE));
}
END_TEST

/* Output to whoever started it. */
START_TEST(standard_streams_tie_nobody)
{
	int fd;

	for (fd = 0; fd <= 2; fd++) {
		pipe_end(100, fd, 5000 + fd, fd > 0);
		pipe_end(300, 10 + fd, 5000 + fd, fd == 0);
	}
	expect_no_tie();
	ck_assert_int_eq(s.all->grade, GRADE(NONE));
}
END_TEST

START_TEST(a_standard_socket_ties_nobody)
{
	scene_socket(&s, 100, 1, 6001);
	scene_socket(&s, 300, 7, 6002);
	scene_put(&s, "/unix_pairs", "[{'inode': 6001, 'peer_inode': 6002}]");
	expect_no_tie();
}
END_TEST

/* Both write to one logger. */
START_TEST(two_writers_of_one_pipe_are_not_tied)
{
	pipe_end(100, 20, 5000, true);
	pipe_end(300, 20, 5000, true);
	expect_no_tie();
}
END_TEST

START_TEST(a_named_fifo_ties_nobody)
{
	tie_by_pipe(300);
	scene_put(&s, "/processes/100/descriptors/items",
	    "[{'fd': 3, 'type': 'socket', 'inode': 77}, {'fd': 20,"
	    " 'type': 'pipe', 'path': '/run/x.fifo', 'inode': 5000,"
	    " 'readable': false, 'writable': true}]");
	expect_no_tie();
}
END_TEST

/* A socket and a pipe may have one number. */
START_TEST(a_pipe_with_the_number_of_a_socket_is_no_end)
{
	pipe_end(100, 20, 5000, true);
	scene_socket(&s, 300, 6, 5000);
	expect_no_tie();
}
END_TEST

static const char *const no_ring[] = {
	"", /* read only: a library, a font cache */
	", 'writable': true, 'shared': false",
};

START_TEST(memory_that_is_not_shared_ties_nobody)
{
	shares(100, 7000, ", 'writable': true, 'open_status': 'invalid'");
	shares(300, 7000, no_ring[_i]);
	expect_no_tie();
}
END_TEST

/* It serves others on its own port. */
START_TEST(a_server_of_its_own_is_no_member)
{
	tie_by_pipe(300);
	scene_listener(&s, "127.0.0.1", 9000, 90);
	scene_owner(&s, 300, 5, 90);
	expect_no_tie();
}
END_TEST

START_TEST(a_server_by_the_engine_table_is_no_member)
{
	tie_by_pipe(300);
	scene_put(&s, "/processes/300/exe/path", "'/usr/bin/llama-server'");
	expect_no_tie();
}
END_TEST

/* The worker of another server. */
START_TEST(the_worker_of_another_server_is_no_member)
{
	tie_by_pipe(300);
	scene_process(&s, 299, 1);
	scene_listener(&s, "127.0.0.1", 9000, 90);
	scene_owner(&s, 299, 5, 90);
	scene_put(&s, "/processes/300/ppid", "299");
	expect_no_tie();
}
END_TEST

/* sshd listens too, and has started both. */
START_TEST(a_common_ancestor_that_listens_is_no_server_of_one)
{
	tie_by_pipe(300);
	scene_listener(&s, "127.0.0.1", 22, 90);
	scene_owner(&s, 50, 5, 90);
	scene_process(&s, 299, 50);
	scene_put(&s, "/processes/300/ppid", "299");
	scene_ask(&s);
	ck_assert(is_member(300));
}
END_TEST

/* children.c took it out of the group as a hop: a tie does not put it back. */
START_TEST(a_child_that_is_a_hop_stays_one)
{
	scene_process(&s, 301, 100);
	scene_put(&s, "/processes/301/exe/path", "'/usr/bin/llama-server'");
	scene_put(&s, "/processes/300/ppid", "301");
	tie_by_pipe(300);
	expect_no_tie();
	ck_assert(HAS_FLAG(scene_group(&s, 0), FORWARDER));
}
END_TEST

/* What a proxy talks to over a unix socket is behind it, not part of it. */
START_TEST(nobody_is_tied_to_a_proxy)
{
	tie_by_socket(300);
	scene_put(&s, "/processes/100/exe/path", "'/usr/sbin/nginx'");
	expect_no_tie();
	ck_assert(HAS_FLAG(scene_group(&s, 0), FORWARDER));
}
END_TEST

static const char *const services[] = { "/usr/lib/systemd/systemd-journald",
	"/usr/bin/dbus-daemon", "/usr/bin/dockerd", "/usr/sbin/nscd",
	"/usr/lib/xorg/Xorg", "/usr/bin/tee", "/usr/bin/logger", "/bin/bash",
	"/usr/lib/systemd/systemd", "/usr/bin/tini" };

START_TEST(services_of_the_system_are_not_tied)
{
	char json[128];

	tie_by_socket(300);
	(void)snprintf(json, sizeof(json),
	    "{'path': '%s', 'device': 1, 'inode': 9}", services[_i]);
	scene_put(&s, "/processes/300/exe", json);
	expect_no_tie();
	ck_assert(!scene_blind(&s, SCOPE(OTHER), "tied"));
}
END_TEST

/* A12: the helper of a dead server inherited its pipe to a worker. */
START_TEST(a_left_over_holder_ties_nobody)
{
	scene_put(&s, "/holders/items", "[]");
	scene_process(&s, 102, 1);
	scene_put(&s, "/processes/102/descriptors/items", "[]");
	scene_owner(&s, 102, 3, 77);
	pipe_end(102, 20, 5000, true);
	pipe_end(300, 6, 5000, false);
	expect_no_tie();
	ck_assert_int_eq(scene_process_in(&s, 102)->role, ROLE(ORPHAN_HOLDER));
}
END_TEST

/* ---- twins, supervisors ---------------------------------------------------
 */

/* A1, A2 b: two servers on one port, both tied to one supervisor, and each to
 * the other by a pipe that it inherited. */
START_TEST(twins_of_one_supervisor_stay_ambiguous)
{
	uint32_t line;

	scene_map(&s, 100, "m.gguf", "/m/m.gguf");
	scene_unmap_all(&s, 300);
	scene_gguf(&s, "w.gguf", "Wrong", NULL, 64, 2);
	scene_process(&s, 200, 300);
	scene_listener(&s, "127.0.0.1", 8080, 78);
	scene_owner(&s, 200, 3, 78);
	scene_map(&s, 200, "w.gguf", "/m/w.gguf");
	scene_put(&s, "/processes/100/ppid", "300");
	tie_by_pipe(300);
	pipe_end(200, 20, 5001, true);
	pipe_end(300, 8, 5001, false);
	pipe_end(200, 21, 5000, false);
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_groups, 2);
	ck_assert(HAS_FLAG(s.all, AMBIGUOUS));
	ck_assert_uint_eq(scene_group(&s, 0)->n_pids, 1);
	ck_assert_uint_eq(scene_group(&s, 1)->n_pids, 1);
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", &line), VERDICT(UNVERIFIABLE));
	ck_assert_uint_eq(line, 7);
}
END_TEST

/* A tie of a tie is not followed, and that is said. */
START_TEST(a_supervisor_in_the_middle_is_named)
{
	scene_process(&s, 301, 1);
	tie_by_pipe(301);
	pipe_end(301, 8, 5001, true);
	pipe_end(300, 9, 5001, false);
	expect_no_tie();
	ck_assert(!is_member(301));
	ck_assert(scene_blind(&s, SCOPE(OTHER),
	    "process 301 (server), tied "
	    "to process 100 by a pipe"));
}
END_TEST

/* ---- grades ---------------------------------------------------------------
 */

/* The server serves from its GPU, and talks to a process that holds the very
 * weights that are expected: no proof, whatever grade is asked for. */
static const struct {
	const char *pointer, *json;
} own_secrets[] = {
	{ "/processes/100/descriptors/items/-",
	    "{'fd': 9, 'type': 'device', 'path': '/dev/nvidia0'}" },
	{ "/processes/100/rss_anon_bytes", "4294967296" },
};

START_TEST(a_neighbour_of_a_server_with_a_secret_is_only_claimed)
{
	tie_by_pipe(300);
	scene_put(&s, own_secrets[_i].pointer, own_secrets[_i].json);
	scene_ask(&s);
	ck_assert(is_member(300));
	ck_assert_int_eq(s.all->grade, GRADE(CLAIMED));
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

/* The neighbour's file is as large as the server's memory. */
START_TEST(weights_of_a_neighbour_account_for_no_memory)
{
	tie_by_pipe(300);
	scene_gguf(&s, "big.gguf", "Big", NULL, 8 << 20, 3);
	scene_map(&s, 300, "big.gguf", "/m/big.gguf");
	scene_put(&s, "/processes/100/rss_anon_bytes", "300000000");
	scene_ask(&s);
	ck_assert(scene_blind(&s, SCOPE(WEIGHTS), "memory of process 100"));
	ck_assert_int_eq(s.all->grade, GRADE(CLAIMED));
}
END_TEST

/* An own mapping is worth what it was. */
START_TEST(a_tie_does_not_spoil_what_the_server_maps)
{
	tie_by_pipe(300);
	scene_map(&s, 100, "m.gguf", "/m/m.gguf");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* The server only looked into the header of the file. */
START_TEST(an_open_file_of_the_server_lifts_nothing)
{
	tie_by_pipe(300);
	scene_open(&s, 100, 9, "m.gguf", "/m/m.gguf");
	scene_put(&s, "/processes/100/descriptors/items/-",
	    "{'fd': 10, 'type': 'device', 'path': '/dev/nvidia0'}");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(CLAIMED));
}
END_TEST

/* Its words, and the bytes that it read, prove nothing about the server. */
START_TEST(words_and_counters_of_a_neighbour_count_for_nothing)
{
	tie_by_pipe(300);
	scene_gguf(&s, "w.gguf", "Wanted", NULL, 64, 2);
	scene_path(&s, 300, "/m/w.gguf", "w.gguf");
	scene_path(&s, 100, "/m/w.gguf", "w.gguf");
	scene_put(&s, "/processes/300/argv", "['x', '--model', '/m/w.gguf']");
	scene_put(&s, "/processes/300/read_bytes", "1000000000");
	scene_ask(&s);
	ck_assert(is_member(300));
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 1);
	ck_assert_uint_eq(scene_group(&s, 0)->n_claims, 0);
	scene_unmap_all(&s, 300);
	scene_put(&s, "/processes/300/descriptors/items/-",
	    "{'fd': 9, 'type': 'device', 'path': '/dev/nvidia0'}");
	scene_put(&s, "/processes/100/argv", "['x', '--model', '/m/w.gguf']");
	scene_ask(&s);
	ck_assert(is_member(300));
	ck_assert_str_eq(scene_model(&s, 0)->bundle->inner_name, "Wanted");
	ck_assert_int_eq(s.all->grade, GRADE(CLAIMED));
}
END_TEST

/* A second model makes the answer ambiguous, as a child's would. */
START_TEST(other_weights_of_a_neighbour_are_a_candidate)
{
	scene_gguf(&s, "w.gguf", "Wrong", NULL, 64, 2);
	tie_by_pipe(300);
	scene_map(&s, 100, "m.gguf", "/m/m.gguf");
	scene_unmap_all(&s, 300);
	scene_map(&s, 300, "w.gguf", "/m/w.gguf");
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 2);
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

/* ---- what holds none ------------------------------------------------------
 */

START_TEST(a_device_makes_a_member)
{
	tie_by_pipe(300);
	scene_unmap_all(&s, 300);
	scene_put(&s, "/processes/300/descriptors/items/-",
	    "{'fd': 9, 'type': 'device', 'path': '/dev/nvidia0'}");
	scene_ask(&s);
	ck_assert(is_member(300));
	ck_assert_int_eq(s.all->grade, GRADE(BLIND));
}
END_TEST

START_TEST(a_client_without_weights_is_named)
{
	tie_by_socket(300);
	scene_unmap_all(&s, 300);
	expect_no_tie();
	ck_assert_int_eq(s.all->grade, GRADE(NONE));
	ck_assert(scene_blind(&s, SCOPE(OTHER), "by a unix socket"));
}
END_TEST

START_TEST(large_memory_at_the_other_end_is_no_none)
{
	tie_by_pipe(300);
	scene_unmap_all(&s, 300);
	scene_put(&s, "/processes/300/rss_anon_bytes", "4294967296");
	expect_no_tie();
	ck_assert_int_eq(s.all->grade, GRADE(BLIND));
	ck_assert(scene_blind(&s, SCOPE(WEIGHTS), "process 300"));
}
END_TEST

START_TEST(who_cannot_be_looked_into_is_no_none)
{
	tie_by_pipe(300);
	scene_put(&s, "/processes/300/mappings/status", "'denied'");
	expect_no_tie();
	ck_assert_int_eq(s.all->grade, GRADE(BLIND));
	ck_assert(scene_blind(&s, SCOPE(WEIGHTS), "process 300"));
}
END_TEST

/* Ties that could not be looked for are not absent. */
static const struct {
	const char *pointer, *json;
} refusals[] = {
	{ "/unix_pairs", "{'status': 'unsupported'}" },
	{ "/unix_pairs", "{'complete': false, 'items': []}" },
	{ "/ends", "{'status': 'denied'}" },
	{ "/ends", "{'complete': false}" },
	{ "/mappers", "{'status': 'unsupported'}" },
	{ "/mappers", "{'complete': false}" },
};

START_TEST(ties_that_cannot_be_seen_are_a_blind_spot)
{
	pipe_end(100, 20, 5000, true);
	scene_socket(&s, 100, 21, 6001);
	shares(100, 7000, ", 'writable': true, 'open_status': 'invalid'");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(NONE));
	scene_put(&s, refusals[_i].pointer, refusals[_i].json);
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(BLIND));
	ck_assert(scene_blind(&s, SCOPE(WEIGHTS), "processes tied by"));
}
END_TEST

/* Nobody has anything that could tie: nobody is asked. */
START_TEST(without_strands_there_is_no_walk)
{
	scene_unmap_all(&s, 300);
	scene_ask(&s);
	ck_assert_uint_eq(wd_host_fixture_calls(s.host, "ends"), 0);
	ck_assert_uint_eq(wd_host_fixture_calls(s.host, "mappers"), 0);
	tie_by_pipe(300);
	scene_ask(&s);
	ck_assert_uint_eq(wd_host_fixture_calls(s.host, "ends"), 1);
	ck_assert_uint_eq(wd_host_fixture_calls(s.host, "mappers"), 0);
}
END_TEST

/* ---- seen by defects that nobody had noticed ------------------------------
 */

/* Descriptors come in any order. */
START_TEST(one_of_several_pipes)
{
	pipe_end(100, 18, 9000, true);
	pipe_end(100, 19, 7000, true);
	tie_by_pipe(300);
	expect_tied(WEIGHTD__V1__TIE__KIND__KIND_PIPE);
}
END_TEST

/* What 300 has mapped may not be read: weights may be there. */
START_TEST(a_tied_process_that_was_read_in_part)
{
	scene_unmap_all(&s, 300);
	tie_by_pipe(300);
	scene_put(&s, "/processes/300/mappings", "{'status': 'denied'}");
	scene_ask(&s);
	ck_assert(!is_member(300));
	ck_assert(scene_blind(&s, SCOPE(WEIGHTS), "process 300"));
}
END_TEST

/* 300 works for a server of its own that is a child of the owner. */
START_TEST(a_worker_of_a_hop)
{
	scene_process(&s, 200, 100);
	scene_put(&s, "/processes/200/exe/path", "'/usr/bin/llama-server'");
	scene_put(&s, "/processes/200/argv", "['llama-server', '-m', 'x']");
	scene_put(&s, "/processes/300/ppid", "200");
	tie_by_pipe(300);
	expect_no_tie();
}
END_TEST

/* The owner maps a part: what a tied process maps of the rest is no better. */
START_TEST(a_part_of_the_owner_and_all_of_a_tied_process)
{
	scene_map_part(&s, 100, "m.gguf", "/m/m.gguf", 0, 1024);
	tie_by_pipe(300);
	scene_ask(&s);
	ck_assert(is_member(300));
	ck_assert_int_eq(scene_file(&s, 0)->grade, GRADE(INFERRED));
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

WD_SUITE_BEGIN("evidence ties")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_TEST(a_pipe_ties);
WD_TEST(a_unix_socket_ties);
WD_TEST(shared_memory_ties);
WD_TEST(a_tie_to_a_descendant_counts);
WD_TEST(a_neighbour_is_not_tied);
WD_TEST(standard_streams_tie_nobody);
WD_TEST(a_standard_socket_ties_nobody);
WD_TEST(two_writers_of_one_pipe_are_not_tied);
WD_TEST(a_named_fifo_ties_nobody);
WD_TEST(a_pipe_with_the_number_of_a_socket_is_no_end);
WD_LOOP(memory_that_is_not_shared_ties_nobody, no_ring);
WD_TEST(a_server_of_its_own_is_no_member);
WD_TEST(a_server_by_the_engine_table_is_no_member);
WD_TEST(the_worker_of_another_server_is_no_member);
WD_TEST(a_common_ancestor_that_listens_is_no_server_of_one);
WD_TEST(a_child_that_is_a_hop_stays_one);
WD_TEST(nobody_is_tied_to_a_proxy);
WD_LOOP(services_of_the_system_are_not_tied, services);
WD_TEST(a_left_over_holder_ties_nobody);
WD_TEST(twins_of_one_supervisor_stay_ambiguous);
WD_TEST(a_supervisor_in_the_middle_is_named);
WD_LOOP(a_neighbour_of_a_server_with_a_secret_is_only_claimed, own_secrets);
WD_TEST(weights_of_a_neighbour_account_for_no_memory);
WD_TEST(a_tie_does_not_spoil_what_the_server_maps);
WD_TEST(an_open_file_of_the_server_lifts_nothing);
WD_TEST(words_and_counters_of_a_neighbour_count_for_nothing);
WD_TEST(other_weights_of_a_neighbour_are_a_candidate);
WD_TEST(a_device_makes_a_member);
WD_TEST(a_client_without_weights_is_named);
WD_TEST(large_memory_at_the_other_end_is_no_none);
WD_TEST(who_cannot_be_looked_into_is_no_none);
WD_LOOP(ties_that_cannot_be_seen_are_a_blind_spot, refusals);
WD_TEST(without_strands_there_is_no_walk);
WD_TEST(one_of_several_pipes);
WD_TEST(a_tied_process_that_was_read_in_part);
WD_TEST(a_worker_of_a_hop);
WD_TEST(a_part_of_the_owner_and_all_of_a_tied_process);
WD_SUITE_END
