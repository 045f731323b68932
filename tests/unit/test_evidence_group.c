/*
 * Who holds the port, and who serves with those: design section 2, "group";
 * the field cases of section A that concern it.
 */
#include <check.h>
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

/* Process 100 as a mere parent: the weights go to child `pid`. */
static void
child_with_weights(int pid)
{
	scene_process(&s, pid, 100);
	scene_unmap_all(&s, 100);
	scene_map(&s, pid, "m.gguf", "/m/m.gguf");
}

static bool
group_has(size_t index, int pid)
{
	Weightd__V1__Group *group = scene_group(&s, index);
	size_t i;

	for (i = 0; i < group->n_pids; i++)
		if (group->pids[i] == pid)
			return true;
	return false;
}

/* ---- descendants --------------------------------------------------------- */

START_TEST(weights_of_a_child_count)
{
	child_with_weights(101);
	scene_ask(&s);
	ck_assert_int_eq(scene_process_in(&s, 101)->role, ROLE(DESCENDANT));
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
	ck_assert_uint_eq(scene_file(&s, 0)->n_pids, 1);
	ck_assert_int_eq(scene_file(&s, 0)->pids[0], 101);
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

START_TEST(weights_of_a_grandchild_count)
{
	scene_process(&s, 105, 100);
	child_with_weights(101);
	scene_put(&s, "/processes/101/ppid", "105");
	scene_ask(&s);
	ck_assert(group_has(0, 105) && group_has(0, 101));
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
}
END_TEST

/* A chain of processes longer than anybody would draw. */
START_TEST(a_long_chain_is_followed)
{
	int pid;

	for (pid = 1000; pid < 1200; pid++)
		scene_process(&s, pid, pid == 1000 ? 100 : pid - 1);
	scene_unmap_all(&s, 100);
	scene_map(&s, 1199, "m.gguf", "/m/m.gguf");
	scene_ask(&s);
	ck_assert(group_has(0, 1199));
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
}
END_TEST

/* The same session or process group attributes nothing. */
START_TEST(a_sibling_is_no_member)
{
	scene_process(&s, 101, 50);
	scene_unmap_all(&s, 100);
	scene_map(&s, 101, "m.gguf", "/m/m.gguf");
	scene_put(&s, "/processes/100/argv", "['server']");
	scene_ask(&s);
	ck_assert(!group_has(0, 101));
	ck_assert_int_eq(s.all->grade, GRADE(NONE));
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 0);
}
END_TEST

START_TEST(a_child_that_listens_is_capped)
{
	child_with_weights(101);
	scene_listener(&s, "127.0.0.1", 9000, 90);
	scene_owner(&s, 101, 5, 90);
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(INFERRED));
	ck_assert_int_eq(scene_file(&s, 0)->grade, GRADE(INFERRED));
	ck_assert_ptr_nonnull(strstr(scene_file(&s, 0)->reason, "listens"));
	ck_assert_int_ne(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* An engine in Python has no program of its own name: its module tells. */
static const struct {
	const char *argv;
	bool serves;
} modules[] = {
	{ "['python3', '-m', 'vllm.entrypoints.openai.api_server', '--port',"
	  " '9000']",
	    true },
	{ "['python3', '-m', 'mlx_lm.server', '--port', '9000']", true },
	{ "['python3', '-m', 'sglang.launch_server', '--port', '9000']", true },
	/* What starts with python, and is no engine. */
	{ "['python3', '-m', 'http.server', '9000']", false },
	/* A fork that has not named itself yet has the words of the owner. */
	{ "['python3', '-m', 'vllm.entrypoints.openai.api_server', '--port',"
	  " '8080']",
	    false },
	{ "['VLLM::EngineCore']", false },
};

static void
run_module(int pid, const char *argv)
{
	char pointer[64];

	(void)snprintf(pointer, sizeof(pointer), "/processes/%d/exe", pid);
	scene_put(&s, pointer,
	    "{'status': 'ok', 'path': '/usr/bin/python3', 'device': 1,"
	    " 'inode': 7}");
	(void)snprintf(pointer, sizeof(pointer), "/processes/%d/argv", pid);
	scene_put(&s, pointer, argv);
}

START_TEST(a_python_engine_with_its_own_port)
{
	child_with_weights(101);
	run_module(100,
	    "['python3', '-m', 'vllm.entrypoints.openai.api_server', '--port',"
	    " '8080']");
	run_module(101, modules[_i].argv);
	scene_listener(&s, "127.0.0.1", 9000, 90);
	scene_owner(&s, 101, 5, 90);
	scene_ask(&s);
	ck_assert_int_eq(group_has(0, 101), !modules[_i].serves);
	ck_assert_uint_eq(
	    scene_group(&s, 0)->n_candidates, modules[_i].serves ? 0 : 1);
	if (modules[_i].serves)
		ck_assert_uint_eq(scene_group(&s, 0)->hops[0]->port, 9000);
	ck_assert_int_ne(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* Without a port of its own it works for its parent. */
START_TEST(a_python_engine_without_a_port)
{
	child_with_weights(101);
	run_module(100, "['python3', 'gateway.py']");
	run_module(101, modules[0].argv);
	scene_ask(&s);
	ck_assert(group_has(0, 101));
}
END_TEST

/* The owner only looks into the header of the file that the child serves. */
START_TEST(an_open_file_of_the_owner_does_not_lift_the_cap)
{
	child_with_weights(101);
	scene_listener(&s, "127.0.0.1", 9000, 90);
	scene_owner(&s, 101, 5, 90);
	scene_open(&s, 100, 7, "m.gguf", "/m/m.gguf");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(INFERRED));
	scene_map_part(&s, 100, "m.gguf", "/m/m.gguf", 0, 4096);
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(INFERRED));
}
END_TEST

START_TEST(a_child_that_listens_in_another_namespace_is_capped)
{
	child_with_weights(101);
	scene_put(&s, "/listeners/items/-",
	    "{'family': 4, 'address': '0.0.0.0', 'port': 9000, 'inode': 90,"
	    " 'netns': 4026532999}");
	scene_owner(&s, 101, 5, 90);
	scene_put(&s, "/processes/101/netns", "4026532999");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(INFERRED));
}
END_TEST

/* When not every listener could be seen, any socket may be one. */
START_TEST(a_child_with_a_socket_nobody_can_place_is_capped)
{
	child_with_weights(101);
	scene_socket(&s, 101, 5, 91);
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
	/* The second call is the one about every port. */
	scene_after(&s, "listeners", 1, "/listeners/complete", "false");
	scene_after(&s, "listeners", 2, "/listeners/complete", "true");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(INFERRED));
}
END_TEST

/* A child that ended and was not waited for holds nothing any more. */
START_TEST(a_zombie_is_no_gap)
{
	scene_process(&s, 101, 100);
	scene_put(&s, "/processes/101/state", "'zombie'");
	scene_put(&s, "/processes/101/generation_known", "false");
	scene_put(&s, "/processes/101/mappings/status", "'gone'");
	scene_put(&s, "/processes/101/descriptors/status", "'gone'");
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_moved, 0);
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
	ck_assert_int_eq(scene_process_in(&s, 101)->state,
	    WEIGHTD__V1__PROCESS_STATE__PROCESS_STATE_ZOMBIE);
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* A zombie leader's threads live on: not to see what they hold is a gap. */
START_TEST(a_zombie_leader_that_cannot_be_read_is_a_gap)
{
	scene_process(&s, 101, 100);
	scene_put(&s, "/processes/101/state", "'zombie_leader'");
	scene_put(&s, "/processes/101/mappings/status", "'gone'");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(BLIND));
}
END_TEST

/* A25 */
START_TEST(other_ports_of_the_owner_are_folded)
{
	int i;

	for (i = 0; i < 60; i++) {
		/* Sockets in another order than ports. */
		scene_listener(&s, "127.0.0.1", 9000 + i, 300 - i);
		scene_owner(&s, 100, 40 + i, 300 - i);
	}
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_listeners, 1);
	ck_assert_uint_eq(s.all->n_groups, 1);
	ck_assert_uint_eq(scene_process_in(&s, 100)->n_other_ports, 60);
	ck_assert_uint_eq(scene_process_in(&s, 100)->other_ports[0], 9000);
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
}
END_TEST

/* ---- several holders ----------------------------------------------------- */

/* A2 a, A3: one inode, five holders, in stable order. */
START_TEST(one_inode_is_one_group)
{
	int pid;

	for (pid = 105; pid > 101; pid--) {
		scene_process(&s, pid, 100);
		scene_owner(&s, pid, 3, 77);
	}
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_groups, 1);
	ck_assert_uint_eq(s.all->n_flags, 0);
	ck_assert_uint_eq(s.all->listeners[0]->n_owners, 5);
	for (pid = 0; pid < 5; pid++)
		ck_assert_int_eq(s.all->listeners[0]->owners[pid]->pid,
		    pid == 0 ? 100 : 101 + pid);
	for (pid = 0; pid < 5; pid++)
		ck_assert_int_eq(
		    scene_group(&s, 0)->pids[pid], pid == 0 ? 100 : 101 + pid);
	ck_assert_int_eq(scene_process_in(&s, 102)->role, ROLE(OWNER));
	ck_assert_int_eq(scene_process_in(&s, 102)->parent_pid, 100);
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

static void
twin_with(const char *file)
{
	scene_process(&s, 200, 50);
	scene_listener(&s, "127.0.0.1", 8080, 78);
	scene_owner(&s, 200, 3, 78);
	scene_map(&s, 200, file, "/m/twin.gguf");
}

/* A1, A2 b: two own sockets on one port. */
START_TEST(reuseport_twins_are_two_groups)
{
	uint32_t line;

	scene_gguf(&s, "w.gguf", "Wrong", NULL, 64, 2);
	twin_with("w.gguf");
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_listeners, 2);
	ck_assert_uint_eq(s.all->n_groups, 2);
	ck_assert(HAS_FLAG(s.all, AMBIGUOUS));
	ck_assert_uint_eq(s.all->listeners[0]->group, 0);
	ck_assert_uint_eq(s.all->listeners[1]->group, 1);
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", &line), VERDICT(UNVERIFIABLE));
	ck_assert_uint_eq(line, 7);
}
END_TEST

START_TEST(twins_with_the_same_file_match)
{
	twin_with("m.gguf");
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_groups, 2);
	ck_assert(HAS_FLAG(s.all, AMBIGUOUS));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* One server, a socket for each family: no ambiguity. */
START_TEST(two_sockets_of_one_owner_are_one_group)
{
	scene_listener(&s, "::1", 8080, 79);
	scene_owner(&s, 100, 6, 79);
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_listeners, 2);
	ck_assert_uint_eq(s.all->n_groups, 1);
	ck_assert(!HAS_FLAG(s.all, AMBIGUOUS));
}
END_TEST

/* The twin is the other one's child: an owner all the same. */
START_TEST(a_child_with_its_own_socket_is_an_owner)
{
	twin_with("m.gguf");
	scene_put(&s, "/processes/200/ppid", "100");
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_groups, 2);
	ck_assert_int_eq(scene_process_in(&s, 200)->role, ROLE(OWNER));
}
END_TEST

/* The same port number at another address is the child's own server: it says
 * nothing of what its parent serves with. */
START_TEST(a_child_with_the_asked_port_elsewhere_is_capped)
{
	child_with_weights(101);
	scene_listener(&s, "127.0.0.2", 8080, 78);
	scene_owner(&s, 101, 3, 78);
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_groups, 2);
	ck_assert_int_eq(scene_group(&s, 0)->grade, GRADE(INFERRED));
	ck_assert_int_eq(scene_group(&s, 1)->grade, GRADE(RESIDENT));
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

/* It holds the owner's second socket: whoever asks there asks both. */
START_TEST(a_child_that_shares_an_asked_socket_is_not_capped)
{
	child_with_weights(101);
	scene_listener(&s, "::1", 8080, 79);
	scene_owner(&s, 100, 6, 79);
	scene_owner(&s, 101, 6, 79);
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_groups, 2);
	ck_assert_int_eq(scene_group(&s, 0)->grade, GRADE(RESIDENT));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* ---- activators ---------------------------------------------------------- */

/* A11: the manager opened the socket, the service has it too. */
START_TEST(pid_1_is_an_activator)
{
	scene_owner(&s, 1, 40, 77);
	scene_ask(&s);
	ck_assert_int_eq(scene_process_in(&s, 1)->role, ROLE(ACTIVATOR));
	ck_assert_int_eq(scene_process_in(&s, 100)->role, ROLE(OWNER));
	ck_assert_uint_eq(s.all->listeners[0]->n_owners, 2);
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
	/* What else PID 1 started is not part of it. */
	ck_assert(!group_has(0, 50));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* A11: "B not started yet". */
START_TEST(an_activator_alone_serves_nothing)
{
	scene_put(&s, "/holders/items", "[]");
	scene_owner(&s, 1, 40, 77);
	scene_ask(&s);
	ck_assert_int_eq(s.all->listeners[0]->owners_state, OWNERS(FOUND));
	ck_assert_int_eq(scene_process_in(&s, 1)->role, ROLE(ACTIVATOR));
	ck_assert_int_eq(s.all->grade, GRADE(NONE));
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 0);
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

/* What an activator may hide is not asked: it is no candidate. */
START_TEST(an_activator_that_cannot_be_read_is_no_gap)
{
	scene_owner(&s, 1, 40, 77);
	scene_put(&s, "/processes/1/mappings/status", "'denied'");
	scene_put(&s, "/processes/1/descriptors/status", "'denied'");
	scene_put(&s, "/processes/1/generation_known", "false");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
	ck_assert(HAS_CHECK(scene_group(&s, 0), MAPPINGS));
	ck_assert(HAS_CHECK(scene_group(&s, 0), DESCRIPTORS));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

static const char *const managers[] = { "/lib/systemd/systemd",
	"/usr/sbin/inetd", "/usr/bin/systemd-socket-activate" };

START_TEST(a_manager_is_known_by_its_program)
{
	char json[128];

	scene_process(&s, 60, 50);
	(void)snprintf(json, sizeof(json),
	    "{'path': '%s', 'device': 1, 'inode': 9}", managers[_i]);
	scene_put(&s, "/processes/60/exe", json);
	scene_owner(&s, 60, 3, 77);
	scene_ask(&s);
	ck_assert_int_eq(scene_process_in(&s, 60)->role, ROLE(ACTIVATOR));
}
END_TEST

/* B22: never by what it calls itself. */
START_TEST(a_manager_by_argv_is_none)
{
	scene_put(&s, "/processes/100/argv", "['/usr/lib/systemd/systemd']");
	scene_put(&s, "/processes/100/comm", "'systemd'");
	scene_ask(&s);
	ck_assert_int_eq(scene_process_in(&s, 100)->role, ROLE(OWNER));
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
}
END_TEST

static void
activated_child(const char *listen_pid)
{
	char json[160];

	scene_process(&s, 101, 100);
	scene_owner(&s, 101, 3, 77);
	(void)snprintf(json, sizeof(json),
	    "[{'name': 'LISTEN_PID', 'value': '%s'},"
	    " {'name': 'LISTEN_FDS', 'value': '1'}]",
	    listen_pid);
	scene_put(&s, "/processes/101/env", json);
}

START_TEST(who_handed_the_socket_over_is_an_activator)
{
	activated_child("101");
	scene_unmap_all(&s, 100);
	scene_map(&s, 101, "m.gguf", "/m/m.gguf");
	/* A further child of the activator does not serve. */
	scene_process(&s, 102, 100);
	scene_ask(&s);
	ck_assert_int_eq(scene_process_in(&s, 100)->role, ROLE(ACTIVATOR));
	ck_assert_int_eq(scene_process_in(&s, 101)->role, ROLE(OWNER));
	ck_assert(!group_has(0, 102));
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
}
END_TEST

START_TEST(a_variable_for_another_process_says_nothing)
{
	activated_child("999");
	scene_unmap_all(&s, 100);
	scene_map(&s, 101, "m.gguf", "/m/m.gguf");
	scene_ask(&s);
	ck_assert_int_eq(scene_process_in(&s, 100)->role, ROLE(OWNER));
}
END_TEST

/* The variable is the child's word. A parent that holds weights itself is a
 * candidate whatever it says. */
START_TEST(an_activator_with_weights_is_an_owner)
{
	scene_gguf(&s, "w.gguf", "Wrong", NULL, 64, 2);
	activated_child("101");
	scene_unmap_all(&s, 100);
	scene_map(&s, 100, "w.gguf", "/m/w.gguf");
	scene_map(&s, 101, "m.gguf", "/m/m.gguf");
	scene_ask(&s);
	ck_assert_int_eq(scene_process_in(&s, 100)->role, ROLE(OWNER));
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 2);
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

/* In a container the server is PID 1. */
START_TEST(pid_1_with_weights_is_an_owner)
{
	scene_put(&s, "/holders/items", "[]");
	scene_owner(&s, 1, 40, 77);
	scene_map(&s, 1, "m.gguf", "/m/m.gguf");
	scene_ask(&s);
	ck_assert_int_eq(scene_process_in(&s, 1)->role, ROLE(OWNER));
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
}
END_TEST

/* In a container PID 1 serves, and keeps its workers in its session; what it
 * only adopted does not serve with it. */
START_TEST(workers_of_a_server_that_is_pid_1)
{
	scene_put(&s, "/holders/items", "[]");
	scene_owner(&s, 1, 40, 77);
	scene_put(&s, "/processes/1/exe/path", "'/usr/bin/python3.11'");
	scene_process(&s, 101, 1);
	scene_put(&s, "/processes/101/sid", "1");
	scene_gguf(&s, "w.gguf", "Worker", NULL, 64, 2);
	scene_map(&s, 101, "w.gguf", "/m/w.gguf");
	scene_ask(&s);
	ck_assert_int_eq(scene_process_in(&s, 1)->role, ROLE(OWNER));
	ck_assert(group_has(0, 101));
	ck_assert(!group_has(0, 50) && !group_has(0, 100));
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 1);
	ck_assert_str_eq(scene_model(&s, 0)->bundle->inner_name, "Worker");
}
END_TEST

START_TEST(pid_1_that_cannot_be_read_is_blind)
{
	scene_put(&s, "/holders/items", "[]");
	scene_owner(&s, 1, 40, 77);
	scene_put(&s, "/processes/1/mappings/status", "'denied'");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(BLIND));
}
END_TEST

START_TEST(pid_1_with_large_memory_is_blind)
{
	scene_put(&s, "/holders/items", "[]");
	scene_owner(&s, 1, 40, 77);
	scene_put(&s, "/processes/1/rss_anon_bytes", "4294967296");
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(BLIND));
}
END_TEST

/* Its children are services of their own. */
START_TEST(children_of_a_manager_do_not_serve_with_it)
{
	scene_put(&s, "/holders/items", "[]");
	scene_process(&s, 60, 50);
	scene_put(&s, "/processes/60/exe/path", "'/usr/sbin/inetd'");
	scene_put(&s, "/processes/60/rss_anon_bytes", "4294967296");
	scene_owner(&s, 60, 3, 77);
	scene_put(&s, "/processes/100/ppid", "60");
	scene_ask(&s);
	ck_assert(!group_has(0, 100));
	ck_assert_int_eq(s.all->grade, GRADE(BLIND));
}
END_TEST

WD_SUITE_BEGIN("evidence group")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_TEST(weights_of_a_child_count);
WD_TEST(weights_of_a_grandchild_count);
WD_TEST(a_long_chain_is_followed);
WD_TEST(a_sibling_is_no_member);
WD_TEST(a_child_that_listens_is_capped);
WD_TEST(a_child_with_the_asked_port_elsewhere_is_capped);
WD_TEST(a_child_that_shares_an_asked_socket_is_not_capped);
WD_LOOP(a_python_engine_with_its_own_port, modules);
WD_TEST(a_python_engine_without_a_port);
WD_TEST(an_open_file_of_the_owner_does_not_lift_the_cap);
WD_TEST(a_child_that_listens_in_another_namespace_is_capped);
WD_TEST(a_child_with_a_socket_nobody_can_place_is_capped);
WD_TEST(a_zombie_is_no_gap);
WD_TEST(a_zombie_leader_that_cannot_be_read_is_a_gap);
WD_TEST(other_ports_of_the_owner_are_folded);
WD_TEST(one_inode_is_one_group);
WD_TEST(reuseport_twins_are_two_groups);
WD_TEST(twins_with_the_same_file_match);
WD_TEST(two_sockets_of_one_owner_are_one_group);
WD_TEST(a_child_with_its_own_socket_is_an_owner);
WD_TEST(pid_1_is_an_activator);
WD_TEST(an_activator_alone_serves_nothing);
WD_TEST(an_activator_that_cannot_be_read_is_no_gap);
WD_LOOP(a_manager_is_known_by_its_program, managers);
WD_TEST(a_manager_by_argv_is_none);
WD_TEST(who_handed_the_socket_over_is_an_activator);
WD_TEST(a_variable_for_another_process_says_nothing);
WD_TEST(an_activator_with_weights_is_an_owner);
WD_TEST(pid_1_with_weights_is_an_owner);
WD_TEST(workers_of_a_server_that_is_pid_1);
WD_TEST(pid_1_that_cannot_be_read_is_blind);
WD_TEST(pid_1_with_large_memory_is_blind);
WD_TEST(children_of_a_manager_do_not_serve_with_it);
WD_SUITE_END
