/*
 * Forwarders: where a group without weights passes traffic on to, over TCP
 * and over unix sockets. Process 100 is nginx, 200 the worker behind it.
 */
#include <stdio.h>

#include "support/scene.h"
#include "support/suite.h"

static struct scene s;

static void
set_up(void)
{
	scene_begin(&s);
	scene_unmap_all(&s, 100);
	scene_put(&s, "/processes/100/exe/path", "'/usr/sbin/nginx'");
	scene_put(&s, "/processes/100/argv", "['nginx']");
	scene_process(&s, 200, 1);
	scene_map(&s, 200, "m.gguf", "/m/m.gguf");
	scene_put(&s, "/unix_pairs", "{'items': []}");
	scene_put(&s, "/connections", "{'items': []}");
}

static void
tear_down(void)
{
	scene_end(&s);
}

/* Socket 300 of process 100, as descriptor `fd`, is connected to 301 of 200. */
static void
upstream(int fd)
{
	scene_put(
	    &s, "/unix_pairs/items/-", "{'inode': 300, 'peer_inode': 301}");
	scene_socket(&s, 100, fd, 300);
	scene_owner(&s, 200, 9, 301);
}

/* The worker listens on 9000, and the proxy has a connection to it. */
static void
connection(void)
{
	scene_listener(&s, "127.0.0.1", 9000, 80);
	scene_owner(&s, 200, 4, 80);
	scene_socket(&s, 100, 14, 90);
	scene_put(&s, "/connections/items/-",
	    "{'inode': 90, 'local': '127.0.0.1', 'remote': '127.0.0.1',"
	    " 'local_port': 40000, 'remote_port': 9000}");
}

START_TEST(a_unix_socket_leads_to_a_worker)
{
	Weightd__V1__Group *group;

	upstream(12);
	scene_ask(&s);
	group = scene_group(&s, 0);
	ck_assert(HAS_FLAG(group, FORWARDER));
	ck_assert(HAS_CHECK(group, ROUTES));
	ck_assert_uint_eq(group->n_hops, 1);
	ck_assert_int_eq(
	    group->hops[0]->kind, WEIGHTD__V1__HOP__KIND__KIND_UNIX_SOCKET);
	ck_assert_int_eq(group->hops[0]->pid, 100);
	ck_assert_int_eq(group->hops[0]->peer_pid, 200);
	ck_assert_uint_eq(group->hops[0]->port, 0);
	ck_assert_str_eq(group->hops[0]->address, "");
	ck_assert_uint_eq(s.all->n_behind, 1);
	ck_assert_int_eq(s.all->behind[0]->pids[0], 200);
	ck_assert_int_eq(s.all->behind[0]->grade, GRADE(RESIDENT));
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

/* stdout to the journal, or to the program that started it. */
START_TEST(standard_streams_are_no_hop)
{
	upstream(_i);
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_hops, 0);
	ck_assert_uint_eq(s.all->n_behind, 0);
}
END_TEST

/* Master and worker talk over socket pairs, new ones too. */
START_TEST(the_processes_of_one_proxy_are_no_hops)
{
	scene_process(&s, 101, 100);
	scene_put(&s, "/processes/101/exe/path", "'/usr/sbin/nginx'");
	scene_put_int(&s, "/processes/101/exec_token", 9100);
	scene_put_int(&s, "/processes/100/exec_token", 9100);
	scene_put(
	    &s, "/unix_pairs/items/-", "{'inode': 300, 'peer_inode': 301}");
	scene_socket(&s, 101, 8, 301);
	/* The first look at 100 was before the pair was made. */
	scene_put(
	    &s, "/holders/items/-", "{'inode': 301, 'pid': 101, 'fd': 8}");
	scene_put(
	    &s, "/holders/items/-", "{'inode': 300, 'pid': 100, 'fd': 12}");
	scene_after(&s, "unix_pairs", 1, "/processes/100/descriptors/items/-",
	    "{'fd': 12, 'type': 'socket', 'inode': 300}");
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_pids, 2);
	ck_assert_uint_eq(scene_group(&s, 0)->n_hops, 0);
}
END_TEST

/* An old worker of the proxy is a part of it; a program that was started is
 * not, whatever its name. */
START_TEST(a_fork_of_a_proxy_is_a_part_of_it)
{
	const char *kinds[] = { "/usr/sbin/nginx", "/usr/sbin/nginx",
		"/usr/bin/ollama" };
	char path[64];

	scene_process(&s, 101, 100);
	(void)snprintf(path, sizeof(path), "'%s'", kinds[_i]);
	scene_put(&s, "/processes/100/exe/path", path);
	scene_put(&s, "/processes/101/exe/path", path);
	scene_put_int(&s, "/processes/100/exec_token", 9100);
	scene_put_int(&s, "/processes/101/exec_token", _i == 1 ? 9101 : 9100);
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_pids, _i == 0 ? 2 : 1);
	ck_assert_uint_eq(scene_group(&s, 0)->n_hops, _i == 0 ? 0 : 1);
}
END_TEST

/* A child that listens on no port is followed by its pid. */
START_TEST(a_child_without_a_port_is_followed)
{
	scene_process(&s, 101, 100);
	scene_put(&s, "/processes/100/exe/path", "'/usr/bin/ollama'");
	scene_put(&s, "/processes/101/exe/path", "'/usr/bin/llama-server'");
	scene_map(&s, 101, "m.gguf", "/m/m.gguf");
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_hops, 1);
	ck_assert_int_eq(scene_group(&s, 0)->hops[0]->peer_pid, 101);
	ck_assert_uint_eq(s.all->n_behind, 1);
	ck_assert_int_eq(s.all->behind[0]->grade, GRADE(RESIDENT));
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

/* Whatever may hide a hop takes the check back. */
static const struct {
	const char *pointer, *json;
} gaps[] = {
	{ "/unix_pairs/complete", "false" },
	{ "/connections/complete", "false" },
	{ "/processes/100/netns", "4026531999" },
};

START_TEST(routes_that_were_not_all_seen)
{
	scene_put(&s, gaps[_i].pointer, gaps[_i].json);
	scene_ask(&s);
	ck_assert(!HAS_CHECK(scene_group(&s, 0), ROUTES));
	ck_assert(HAS_FLAG(scene_group(&s, 0), FORWARDER));
}
END_TEST

START_TEST(an_owner_of_the_other_end_that_was_not_seen)
{
	upstream(12);
	scene_put(&s, "/holders/complete", "false");
	scene_ask(&s);
	ck_assert(!HAS_CHECK(scene_group(&s, 0), ROUTES));
}
END_TEST

START_TEST(whoever_listens_there_was_not_seen)
{
	connection();
	scene_ask(&s);
	ck_assert(HAS_CHECK(scene_group(&s, 0), ROUTES));
	ck_assert_uint_eq(s.all->n_behind, 1);
	/* From the second time on: the question's own owners are known. */
	scene_after(&s, "connections", 1, "/holders/complete", "false");
	scene_ask(&s);
	ck_assert(!HAS_CHECK(scene_group(&s, 0), ROUTES));
}
END_TEST

/* More of them than are followed: there may be others. */
START_TEST(too_many_unix_sockets)
{
	char json[96];
	int i;

	for (i = 0; i < 65; i++) {
		(void)snprintf(json, sizeof(json),
		    "{'inode': %d, 'peer_inode': %d}", 1000 + i, 2000 + i);
		scene_put(&s, "/unix_pairs/items/-", json);
		scene_socket(&s, 100, 100 + i, 1000 + i);
	}
	scene_ask(&s);
	ck_assert(!HAS_CHECK(scene_group(&s, 0), ROUTES));
}
END_TEST

/* Of a program that may be anything, unix sockets say nothing about traffic. */
START_TEST(an_unknown_program_has_no_unix_hops)
{
	upstream(12);
	scene_put(&s, "/processes/100/exe/path", "'/usr/bin/server'");
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_hops, 0);
	ck_assert_int_ne(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* ---- a model of its own, and requests that go elsewhere --------------------
 */

static void
has_a_model(const char *program)
{
	scene_put(&s, "/processes/100/exe/path", program);
	scene_put(
	    &s, "/processes/100/argv", "['gateway', '--model', '/m/m.gguf']");
	scene_map(&s, 100, "m.gguf", "/m/m.gguf");
	connection();
}

static const char *const passing[] = { "'/usr/sbin/nginx'",
	"'/usr/bin/haproxy'", "'/usr/bin/llama-swap'", "'/usr/bin/ollama'",
	"'/usr/bin/local-ai'" };

/* D8: a gateway with a small model in its own memory. What it holds is shown,
 * and does not say who answers. */
START_TEST(a_known_gateway_with_a_model)
{
	uint32_t line = 0;

	has_a_model(passing[_i]);
	scene_ask(&s);
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
	ck_assert(HAS_FLAG(scene_group(&s, 0), FORWARDER));
	ck_assert_uint_eq(scene_group(&s, 0)->n_hops, 1);
	ck_assert_uint_eq(scene_group(&s, 0)->hops[0]->port, 9000);
	ck_assert_uint_eq(s.all->n_behind, 1);
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", &line), VERDICT(UNVERIFIABLE));
	ck_assert_uint_eq(line, 8);
	ck_assert_int_eq(scene_verdict(&s, NULL, NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

/* Words are enough to be careful. */
START_TEST(a_gateway_by_words_with_a_model)
{
	has_a_model("'/usr/bin/python3'");
	scene_put(&s, "/processes/100/argv",
	    "['python3', '/usr/bin/litellm', '--model', '/m/m.gguf']");
	scene_ask(&s);
	ck_assert(HAS_FLAG(scene_group(&s, 0), FORWARDER));
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

/* Of a program that nobody knows it is shown, and does not decide. */
START_TEST(an_unknown_gateway_with_a_model)
{
	has_a_model("'/opt/gateway'");
	scene_ask(&s);
	ck_assert(!HAS_FLAG(scene_group(&s, 0), FORWARDER));
	ck_assert_uint_eq(scene_group(&s, 0)->n_hops, 1);
	ck_assert_uint_eq(scene_group(&s, 0)->hops[0]->port, 9000);
	ck_assert_uint_eq(s.all->n_behind, 0);
	ck_assert(scene_blind(&s, SCOPE(OTHER), "may pass on"));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* Clients that it accepted are no servers. */
START_TEST(a_server_with_clients_passes_nothing_on)
{
	scene_put(&s, "/processes/100/exe/path", "'/opt/server'");
	scene_map(&s, 100, "m.gguf", "/m/m.gguf");
	scene_socket(&s, 100, 14, 90);
	scene_put(&s, "/connections/items/-",
	    "{'inode': 90, 'local': '127.0.0.1', 'remote': '127.0.0.1',"
	    " 'local_port': 8080, 'remote_port': 40000}");
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_hops, 0);
	ck_assert(!scene_blind(&s, SCOPE(OTHER), "may pass on"));
}
END_TEST

/* Connections of somebody else are none of ours. */
START_TEST(a_server_beside_a_client)
{
	has_a_model("'/opt/server'");
	scene_put(&s, "/connections/items/0/inode", "9999");
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_hops, 0);
	ck_assert(!scene_blind(&s, SCOPE(OTHER), "may pass on"));
}
END_TEST

WD_SUITE_BEGIN("evidence hops")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_TEST(a_unix_socket_leads_to_a_worker);
tcase_add_loop_test(tcase, standard_streams_are_no_hop, 0, 3);
WD_TEST(the_processes_of_one_proxy_are_no_hops);
tcase_add_loop_test(tcase, a_fork_of_a_proxy_is_a_part_of_it, 0, 3);
WD_TEST(a_child_without_a_port_is_followed);
WD_LOOP(routes_that_were_not_all_seen, gaps);
WD_TEST(an_owner_of_the_other_end_that_was_not_seen);
WD_TEST(whoever_listens_there_was_not_seen);
WD_TEST(too_many_unix_sockets);
WD_TEST(an_unknown_program_has_no_unix_hops);
WD_LOOP(a_known_gateway_with_a_model, passing);
WD_TEST(a_gateway_by_words_with_a_model);
WD_TEST(an_unknown_gateway_with_a_model);
WD_TEST(a_server_with_clients_passes_nothing_on);
WD_TEST(a_server_beside_a_client);
WD_SUITE_END
