/*
 * Published container ports. Process 100 is docker-proxy and publishes port
 * 8080 for 172.17.0.2:80; in namespace 7, which has that address, process 200
 * of a container listens there with the model.
 */
#include <stdio.h>

#include "support/scene.h"
#include "support/suite.h"

#define CONTAINER "0123456789ab"

static struct scene s;

static void
set_up(void)
{
	scene_begin(&s);
	scene_unmap_all(&s, 100);
	scene_put(&s, "/processes/100/exe/path", "'/usr/bin/docker-proxy'");
	scene_put(&s, "/processes/100/argv",
	    "['docker-proxy', '-proto', 'tcp', '-host-ip', '0.0.0.0',"
	    " '-host-port', '8080', '-container-ip', '172.17.0.2',"
	    " '-container-port', '80']");
	scene_process(&s, 200, 1);
	scene_put(&s, "/processes/200/netns", "7");
	scene_put(&s, "/processes/200/container", "'" CONTAINER "'");
	scene_map(&s, 200, "m.gguf", "/m/m.gguf");
	scene_put(&s, "/listeners/items/-",
	    "{'netns': 7, 'family': 4, 'address': '0.0.0.0', 'port': 80,"
	    " 'inode': 80, 'cookie': 9}");
	scene_owner(&s, 200, 4, 80);
	scene_put(&s, "/connections", "{'items': []}");
	scene_put(&s, "/local_addresses",
	    "{'items': [{'address': '127.0.0.1'}, {'address': '172.17.0.1'},"
	    " {'netns': 7, 'address': '127.0.0.1'},"
	    " {'netns': 7, 'address': '172.17.0.2'}]}");
}

static void
tear_down(void)
{
	scene_end(&s);
}

static Weightd__V1__Hop *
the_hop(void)
{
	scene_ask(&s);
	ck_assert(HAS_FLAG(scene_group(&s, 0), FORWARDER));
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
	ck_assert_uint_eq(scene_group(&s, 0)->n_hops, 1);
	return scene_group(&s, 0)->hops[0];
}

static bool
leads_on(const Weightd__V1__Hop *hop)
{
	return hop->group_presence_case ==
	    WEIGHTD__V1__HOP__GROUP_PRESENCE_GROUP;
}

START_TEST(the_container_behind_is_named)
{
	Weightd__V1__Hop *hop = the_hop();

	ck_assert_int_eq(hop->kind, WEIGHTD__V1__HOP__KIND__KIND_PUBLISHED);
	ck_assert_str_eq(hop->address, "172.17.0.2");
	ck_assert_uint_eq(hop->port, 80);
	ck_assert_uint_eq(hop->netns, 7);
	ck_assert_str_eq(hop->container, CONTAINER);
	ck_assert(leads_on(hop));
	ck_assert_int_eq(s.all->behind[0]->pids[0], 200);
	ck_assert_int_eq(s.all->behind[0]->grade, GRADE(RESIDENT));
	ck_assert(HAS_CHECK(scene_group(&s, 0), ROUTES));
}
END_TEST

static const char *const spellings[] = {
	"['docker-proxy', '-container-ip=172.17.0.2', '-container-port=80']",
	"['docker-proxy', '--container-ip', '172.17.0.2',"
	" '--container-port=80', '-use-listen-fd']",
};

START_TEST(options_are_read_as_go_does)
{
	scene_put(&s, "/processes/100/argv", spellings[_i]);
	ck_assert(leads_on(the_hop()));
}
END_TEST

/* The connection that is in use is the same way, not another. */
START_TEST(a_connection_to_the_container_is_the_same_hop)
{
	scene_socket(&s, 100, 14, 90);
	scene_put(&s, "/connections/items/-",
	    "{'inode': 90, 'local': '172.17.0.1', 'remote': '172.17.0.2',"
	    " 'local_port': 40000, 'remote_port': 80}");
	ck_assert_uint_ge(the_hop()->samples, 1);
}
END_TEST

static void
no_address(void)
{
	scene_remove(&s, "/local_addresses/items/3");
}

static void
address_twice(void)
{
	scene_put(&s, "/local_addresses/items/0",
	    "{'netns': 8, 'address': '172.17.0.2'}");
}

static void
addresses_denied(void)
{
	scene_put(&s, "/local_addresses/status", "'denied'");
}

static const struct {
	void (*spoil)(void);
} unresolved[] = { { no_address }, { address_twice }, { addresses_denied } };

START_TEST(an_address_that_is_not_one_namespaces)
{
	Weightd__V1__Hop *hop;

	unresolved[_i].spoil();
	hop = the_hop();
	ck_assert(!leads_on(hop));
	ck_assert_str_eq(hop->address, "172.17.0.2");
	ck_assert_str_eq(hop->container, "");
	ck_assert(!HAS_CHECK(scene_group(&s, 0), ROUTES));
}
END_TEST

/* Found, and there may be another. */
START_TEST(addresses_that_were_not_all_seen)
{
	scene_put(&s, "/local_addresses/complete", "false");
	(void)the_hop();
	ck_assert(!HAS_CHECK(scene_group(&s, 0), ROUTES));
}
END_TEST

static const char *const unreadable[] = {
	"['docker-proxy']",
	"['docker-proxy', '-proto', 'udp', '-container-ip', '172.17.0.2',"
	" '-container-port', '80']",
	"['docker-proxy', '-container-ip', 'here', '-container-port', '80']",
	"['docker-proxy', '-container-ip', '172.17.0.2', '-container-port',"
	" '0']",
	"['docker-proxy', '-container-ip', '172.17.0.2', '-container-port',"
	" '65536']",
	"['docker-proxy', '-container-port', '80']",
};

START_TEST(a_command_line_that_says_nothing)
{
	scene_put(&s, "/processes/100/argv", unreadable[_i]);
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_hops, 0);
	ck_assert(HAS_FLAG(scene_group(&s, 0), FORWARDER));
	ck_assert(!HAS_CHECK(scene_group(&s, 0), ROUTES));
}
END_TEST

/* Anybody may write such a command line. */
START_TEST(only_the_executable_makes_a_publisher)
{
	scene_put(&s, "/processes/100/exe/path", "'/usr/bin/server'");
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_hops, 0);
}
END_TEST

/* Weights that it holds itself are shown, and are not what answers. */
START_TEST(with_weights_of_its_own)
{
	scene_map(&s, 100, "m.gguf", "/m/m.gguf");
	scene_ask(&s);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 1);
	ck_assert_uint_eq(scene_group(&s, 0)->n_hops, 1);
	ck_assert(HAS_FLAG(scene_group(&s, 0), FORWARDER));
}
END_TEST

WD_SUITE_BEGIN("evidence published")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_TEST(the_container_behind_is_named);
WD_LOOP(options_are_read_as_go_does, spellings);
WD_TEST(a_connection_to_the_container_is_the_same_hop);
WD_LOOP(an_address_that_is_not_one_namespaces, unresolved);
WD_TEST(addresses_that_were_not_all_seen);
WD_LOOP(a_command_line_that_says_nothing, unreadable);
WD_TEST(only_the_executable_makes_a_publisher);
WD_TEST(with_weights_of_its_own);
WD_SUITE_END
