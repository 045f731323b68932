/*
 * Questions that are bound to a connection: the answer is about whoever
 * accepted it (design section 5). Process 100 listens on port 8080 with
 * m.gguf; its twin 200 does too, with n.gguf, on a socket of its own.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "host/fixture/fixture.h"
#include "support/scene.h"
#include "support/suite.h"

#define FOUND(name) WEIGHTD__V1__CONNECTION_STATE__CONNECTION_STATE_##name
#define CALLER_PORT 5555

static struct scene s;
static Weightd__V1__Connection from;
static char caller[64];

static void
ask_from(const char *address, uint32_t port)
{
	(void)snprintf(caller, sizeof(caller), "%s", address);
	from.address = caller;
	from.port = port;
	s.question.connection = &from;
}

static void
set_up(void)
{
	scene_begin(&s);
	scene_gguf(&s, "n.gguf", "Other", NULL, 64, 21);
	scene_process(&s, 200, 50);
	scene_listener(&s, "127.0.0.1", SCENE_PORT, 78);
	scene_owner(&s, 200, 3, 78);
	scene_map(&s, 200, "n.gguf", "/m/n.gguf");
	scene_put(&s, "/connections", "{'items': []}");
	weightd__v1__connection__init(&from);
	ask_from("127.0.0.1", CALLER_PORT);
}

static void
tear_down(void)
{
	scene_end(&s);
}

/* One end; `more` are further fields, with a comma before them. */
static void
end_with(int inode, const char *local, int local_port, const char *remote,
    int remote_port, const char *more)
{
	char item[512];

	(void)snprintf(item, sizeof(item),
	    "{'inode': %d, 'local': '%s', 'local_port': %d, 'remote': '%s',"
	    " 'remote_port': %d%s}",
	    inode, local, local_port, remote, remote_port, more);
	scene_put(&s, "/connections/items/-", item);
}

static void
end_at(int inode, const char *local, int local_port, const char *remote,
    int remote_port)
{
	end_with(inode, local, local_port, remote, remote_port, "");
}

/* The connection that the question names, as process `pid` accepted it. */
static void
accepted_by(int pid)
{
	end_at(500, "127.0.0.1", SCENE_PORT, "127.0.0.1", CALLER_PORT);
	scene_owner(&s, pid, 9, 500);
}

static void
expect_state(Weightd__V1__ConnectionState state, uint32_t line)
{
	uint32_t by;

	scene_ask(&s);
	ck_assert_ptr_nonnull(s.all->connection);
	ck_assert_int_eq(s.all->connection->state, state);
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", &by), VERDICT(UNVERIFIABLE));
	ck_assert_uint_eq(by, line);
	/* No other process stands in for the one that is meant. */
	ck_assert_uint_eq(s.all->n_groups, 0);
	ck_assert_int_eq(s.all->grade, GRADE(BLIND));
}

static void
expect_holder(int pid)
{
	ck_assert_int_eq(s.all->connection->state, FOUND(FOUND));
	ck_assert_uint_eq(s.all->connection->n_owners, 1);
	ck_assert_int_eq(s.all->connection->owners[0]->pid, pid);
	ck_assert_uint_eq(s.all->n_groups, 1);
	ck_assert_uint_eq(s.all->connection->group, 0);
	ck_assert_int_eq(scene_group(&s, 0)->pids[0], pid);
	ck_assert(HAS_CHECK(s.all, CONNECTION));
}

/* A1, both ways round. */
START_TEST(a_twin_does_not_answer_for_the_other)
{
	int pid = _i == 0 ? 100 : 200;
	const char *file = _i == 0 ? "m.gguf" : "n.gguf";
	const char *other = _i == 0 ? "n.gguf" : "m.gguf";

	accepted_by(pid);
	scene_ask(&s);
	expect_holder(pid);
	ck_assert_uint_eq(s.all->n_listeners, 2);
	ck_assert_int_eq(scene_verdict(&s, file, NULL), VERDICT(MATCH));
	ck_assert_int_eq(scene_verdict(&s, other, NULL), VERDICT(MISMATCH));
	ck_assert_uint_eq(s.all->connection->socket_id, 500);
	ck_assert_str_eq(s.all->connection->local_address, "127.0.0.1");
	ck_assert_str_eq(s.all->question->connection->address, "127.0.0.1");
	ck_assert_uint_eq(s.all->question->connection->port, CALLER_PORT);
}
END_TEST

/* The other end of the same connection is a row as well. */
START_TEST(the_callers_own_socket_is_not_taken)
{
	end_at(501, "127.0.0.1", CALLER_PORT, "127.0.0.1", SCENE_PORT);
	scene_owner(&s, 200, 4, 501);
	expect_state(FOUND(NONE), 3);
	accepted_by(100);
	scene_ask(&s);
	expect_holder(100);
}
END_TEST

START_TEST(a_socket_connected_to_itself_is_the_callers)
{
	ask_from("127.0.0.1", SCENE_PORT);
	end_at(502, "127.0.0.1", SCENE_PORT, "127.0.0.1", SCENE_PORT);
	scene_owner(&s, 100, 4, 502);
	expect_state(FOUND(NONE), 3);
	/* Another address of the same port is no loop. */
	scene_put(&s, "/connections", "{'items': []}");
	end_at(503, "127.0.0.2", SCENE_PORT, "127.0.0.1", SCENE_PORT);
	scene_owner(&s, 100, 5, 503);
	scene_ask(&s);
	expect_holder(100);
}
END_TEST

static const struct {
	const char *local, *remote, *asked;
} mapped[] = {
	{ "::ffff:10.0.0.1", "::ffff:10.0.0.9", "10.0.0.9" },
	{ "10.0.0.1", "10.0.0.9", "::ffff:10.0.0.9" },
	{ "::ffff:10.0.0.1", "::ffff:10.0.0.9", "::ffff:10.0.0.9" },
	{ "2001:db8::1", "2001:db8::9", "2001:db8::9" },
};

START_TEST(families_are_compared_as_they_reach)
{
	ask_from(mapped[_i].asked, CALLER_PORT);
	end_at(
	    500, mapped[_i].local, SCENE_PORT, mapped[_i].remote, CALLER_PORT);
	scene_owner(&s, 200, 9, 500);
	scene_ask(&s);
	expect_holder(200);
}
END_TEST

START_TEST(another_callers_connection_is_not_meant)
{
	end_at(500, "127.0.0.1", SCENE_PORT, "127.0.0.2", CALLER_PORT);
	end_at(501, "127.0.0.1", SCENE_PORT, "127.0.0.1", CALLER_PORT + 1);
	scene_owner(&s, 100, 9, 500);
	scene_owner(&s, 100, 10, 501);
	expect_state(FOUND(NONE), 3);
	ck_assert(scene_blind(&s, SCOPE(LISTENERS), "connection from"));
}
END_TEST

/* A port of the caller can be connected to several services. */
START_TEST(the_asked_port_tells_two_services_apart)
{
	end_at(501, "127.0.0.1", 9090, "127.0.0.1", CALLER_PORT);
	scene_owner(&s, 200, 8, 501);
	expect_state(FOUND(NONE), 3);
	accepted_by(100);
	scene_ask(&s);
	expect_holder(100);
}
END_TEST

START_TEST(the_address_tells_two_sockets_apart)
{
	char address[] = "127.0.0.2", *kept = s.question.address;

	accepted_by(100);
	end_at(501, "127.0.0.2", SCENE_PORT, "127.0.0.1", CALLER_PORT);
	scene_owner(&s, 200, 9, 501);
	expect_state(FOUND(SEVERAL), 3);
	s.question.address = address;
	scene_ask(&s);
	s.question.address = kept;
	expect_holder(200);
}
END_TEST

START_TEST(the_same_ends_in_two_namespaces)
{
	accepted_by(100);
	end_with(501, "127.0.0.1", SCENE_PORT, "127.0.0.1", CALLER_PORT,
	    ", 'netns': 7");
	scene_owner(&s, 200, 9, 501);
	expect_state(FOUND(SEVERAL), 3);
	s.question.netns = 7;
	scene_ask(&s);
	expect_holder(200);
	ck_assert_uint_eq(s.all->connection->netns, 7);
	s.question.netns = 4026531840;
	scene_ask(&s);
	expect_holder(100);
}
END_TEST

/* Without a namespace in the question all are searched. */
START_TEST(a_connection_in_another_namespace)
{
	end_with(501, "172.17.0.2", SCENE_PORT, "127.0.0.1", CALLER_PORT,
	    ", 'netns': 7");
	scene_owner(&s, 200, 9, 501);
	scene_ask(&s);
	expect_holder(200);
}
END_TEST

START_TEST(not_accepted_yet)
{
	end_at(0, "127.0.0.1", SCENE_PORT, "127.0.0.1", CALLER_PORT);
	expect_state(FOUND(NOT_ACCEPTED), 5);
	ck_assert(scene_blind(&s, SCOPE(OWNERS), "connection from"));
	ck_assert_uint_eq(s.all->connection->local_port, SCENE_PORT);
	ck_assert_uint_eq(s.all->connection->n_owners, 0);
}
END_TEST

START_TEST(not_every_connection_was_seen)
{
	accepted_by(100);
	scene_put(&s, "/connections/complete", "false");
	expect_state(FOUND(HIDDEN), 3);
	ck_assert(!HAS_CHECK(s.all, CONNECTION));
	scene_put(&s, "/connections/complete", "true");
	scene_put(&s, "/connections/status", "'denied'");
	expect_state(FOUND(HIDDEN), 3);
	ck_assert(scene_blind(&s, SCOPE(LISTENERS), "connections"));
	ck_assert_uint_eq(s.all->connection->local_port, 0);
}
END_TEST

START_TEST(hidden_holders)
{
	accepted_by(100);
	scene_put(&s, "/holders/complete", "false");
	scene_ask(&s);
	ck_assert_int_eq(s.all->connection->state, FOUND(HIDDEN));
	ck_assert_uint_eq(s.all->connection->socket_id, 500);
	ck_assert(scene_blind(&s, SCOPE(OWNERS), "holders"));
	{
		uint32_t line;

		ck_assert_int_eq(
		    scene_verdict(&s, "m.gguf", &line), VERDICT(UNVERIFIABLE));
		ck_assert_uint_eq(line, 5);
	}
}
END_TEST

/* On its way to another process, or in a place that was not looked at. */
START_TEST(nobody_holds_it)
{
	end_at(500, "127.0.0.1", SCENE_PORT, "127.0.0.1", CALLER_PORT);
	expect_state(FOUND(HIDDEN), 5);
}
END_TEST

/* D1: the child that was forked for the connection, without its parent. */
START_TEST(prefork_only_the_child_counts)
{
	scene_process(&s, 101, 100);
	scene_map(&s, 101, "n.gguf", "/m/n.gguf");
	scene_owner(&s, 101, 3, 77);
	accepted_by(101);
	scene_ask(&s);
	expect_holder(101);
	ck_assert_uint_eq(scene_group(&s, 0)->n_pids, 1);
	ck_assert_int_eq(scene_verdict(&s, "n.gguf", NULL), VERDICT(MATCH));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MISMATCH));
}
END_TEST

/* The child listens on the same port at another address: for itself. */
START_TEST(a_child_with_a_listener_of_its_own_is_capped)
{
	scene_process(&s, 101, 100);
	scene_unmap_all(&s, 100);
	scene_map(&s, 101, "n.gguf", "/m/n.gguf");
	scene_listener(&s, "127.0.0.2", SCENE_PORT, 78);
	scene_owner(&s, 101, 3, 78);
	accepted_by(100);
	scene_ask(&s);
	expect_holder(100);
	ck_assert_int_eq(scene_group(&s, 0)->grade, GRADE(INFERRED));
	ck_assert_int_eq(
	    scene_verdict(&s, "n.gguf", NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

/* A parent that keeps the connection may answer on it. */
START_TEST(several_holders_are_one_group)
{
	scene_process(&s, 101, 100);
	scene_map(&s, 101, "n.gguf", "/m/n.gguf");
	accepted_by(101);
	scene_owner(&s, 100, 9, 500);
	scene_ask(&s);
	ck_assert_uint_eq(s.all->connection->n_owners, 2);
	ck_assert_uint_eq(s.all->n_groups, 1);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 2);
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

START_TEST(a_thread_with_its_own_table)
{
	end_at(500, "127.0.0.1", SCENE_PORT, "127.0.0.1", CALLER_PORT);
	scene_put(&s, "/holders/items/-",
	    "{'inode': 500, 'pid': 200, 'tid': 205, 'fd': 9}");
	scene_ask(&s);
	expect_holder(200);
	ck_assert_int_eq(s.all->connection->owners[0]->tid, 205);
}
END_TEST

/* Whoever listens besides is shown, and not looked into. */
START_TEST(listeners_decide_nothing)
{
	accepted_by(100);
	scene_put(&s, "/listeners/complete", "false");
	scene_put(&s, "/listeners/agreed", "false");
	scene_put(&s, "/listeners/blinds",
	    "[{'why': 'denied', 'what': 'listening sockets'}]");
	scene_ask(&s);
	expect_holder(100);
	ck_assert_uint_eq(s.all->n_listeners, 2);
	ck_assert_uint_eq(s.all->n_processes, 1);
	ck_assert_int_eq(s.all->listeners[0]->group_presence_case,
	    WEIGHTD__V1__LISTENER__GROUP_PRESENCE_GROUP);
	ck_assert_int_eq(s.all->listeners[1]->group_presence_case,
	    WEIGHTD__V1__LISTENER__GROUP_PRESENCE__NOT_SET);
	ck_assert_int_eq(s.all->listeners[1]->owners[0]->pid, 200);
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* Never MISSING: whoever asks is connected. */
START_TEST(nothing_listens_any_more)
{
	scene_put(&s, "/listeners/items", "[]");
	expect_state(FOUND(NONE), 3);
	accepted_by(100);
	scene_ask(&s);
	expect_holder(100);
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* Closed while we looked: once more, and then it is not there. */
START_TEST(closed_while_we_looked)
{
	accepted_by(100);
	scene_after(&s, "mappings", 1, "/connections/items", "[]");
	expect_state(FOUND(NONE), 3);
	ck_assert_uint_gt(s.all->retries, 0);
}
END_TEST

/* Met by the second look alone, it fits as well. */
START_TEST(another_that_fits_comes_while_we_looked)
{
	accepted_by(100);
	scene_after(&s, "connections", 1, "/connections/items/-",
	    "{'inode': 400, 'netns': 7, 'local': '127.0.0.1',"
	    " 'local_port': 8080, 'remote': '127.0.0.1',"
	    " 'remote_port': 5555}");
	expect_state(FOUND(SEVERAL), 3);
	ck_assert_uint_gt(s.all->retries, 0);
}
END_TEST

START_TEST(accepted_while_we_looked)
{
	end_at(0, "127.0.0.1", SCENE_PORT, "127.0.0.1", CALLER_PORT);
	scene_owner(&s, 100, 9, 500);
	scene_after(&s, "connections", 1, "/connections/items/0/inode", "500");
	scene_ask(&s);
	expect_holder(100);
	ck_assert_uint_eq(s.all->retries, 1);
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* Handed on every time: what holds it cannot be said. */
static void
hand_on(unsigned calls, int pid)
{
	char item[64];

	(void)snprintf(
	    item, sizeof(item), "[{'inode': 500, 'pid': %d, 'fd': 9}]", pid);
	scene_after(&s, "holders", calls, "/holders/items", item);
}

START_TEST(handed_on_while_we_looked)
{
	accepted_by(100);
	hand_on(1, 200);
	scene_ask(&s);
	expect_holder(200);
	ck_assert_uint_eq(s.all->retries, 1);
	ck_assert_int_eq(scene_verdict(&s, "n.gguf", NULL), VERDICT(MATCH));
}
END_TEST

START_TEST(handed_on_all_the_time)
{
	unsigned i;
	uint32_t line;

	accepted_by(100);
	for (i = 1; i <= 8; i++)
		hand_on(i, i % 2 == 1 ? 200 : 100);
	scene_ask(&s);
	ck_assert(scene_moved(&s, MOVED(CONNECTION)));
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", &line), VERDICT(UNVERIFIABLE));
	ck_assert_uint_eq(line, 3);
}
END_TEST

/* The listener next door comes and goes: that is not about us. */
START_TEST(other_listeners_may_move)
{
	accepted_by(100);
	scene_after(&s, "mappings", 1, "/listeners/items", "[]");
	scene_ask(&s);
	expect_holder(100);
	ck_assert_uint_eq(s.all->n_moved, 0);
	ck_assert_uint_eq(s.all->retries, 0);
}
END_TEST

/* The connection's own row is no way on for a server without weights. */
START_TEST(the_accepted_socket_is_no_hop)
{
	scene_unmap_all(&s, 100);
	scene_put(&s, "/listeners/items", "[]");
	accepted_by(100);
	scene_ask(&s);
	expect_holder(100);
	ck_assert_uint_eq(scene_group(&s, 0)->n_hops, 0);
	ck_assert(!HAS_FLAG(scene_group(&s, 0), FORWARDER));
}
END_TEST

/* ---- translation ----------------------------------------------------------
 */

/* Port 8080 leads to port 80 of namespace 7, where 200 accepted. */
static void
published(const char *translations)
{
	end_with(
	    600, "172.17.0.2", 80, "127.0.0.1", CALLER_PORT, ", 'netns': 7");
	scene_owner(&s, 200, 9, 600);
	scene_put(&s, "/translations", translations);
}

#define ROW(asked, asked_port, server, server_port, seen_port)                 \
	"{'items': [{'client': '127.0.0.1', 'client_port': 5555,"              \
	" 'asked': '" asked "', 'asked_port': " #asked_port                    \
	", 'server': '" server "', 'server_port': " #server_port               \
	", 'seen': '127.0.0.1', 'seen_port': " #seen_port "}]}"

START_TEST(a_translation_is_followed_when_it_is_proven)
{
	published(ROW("10.0.0.1", 8080, "172.17.0.2", 80, 5555));
	scene_ask(&s);
	expect_holder(200);
	ck_assert(s.all->connection->translated);
	ck_assert_uint_eq(s.all->connection->local_port, 80);
	ck_assert_int_eq(scene_verdict(&s, "n.gguf", NULL), VERDICT(MATCH));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MISMATCH));
}
END_TEST

static const char *const unproven[] = {
	"{'items': []}",
	ROW("10.0.0.1", 8081, "172.17.0.2", 80, 5555),
	ROW("10.0.0.1", 8080, "172.17.0.3", 80, 5555),
	ROW("10.0.0.1", 8080, "172.17.0.2", 81, 5555),
	ROW("10.0.0.1", 8080, "172.17.0.2", 80, 5556),
	"{'items': [{'client': '127.0.0.2', 'client_port': 5555,"
	" 'asked': '10.0.0.1', 'asked_port': 8080, 'server': '172.17.0.2',"
	" 'server_port': 80, 'seen': '127.0.0.1', 'seen_port': 5555}]}",
	"{'items': [{'client': '127.0.0.1', 'client_port': 5556,"
	" 'asked': '10.0.0.1', 'asked_port': 8080, 'server': '172.17.0.2',"
	" 'server_port': 80, 'seen': '127.0.0.1', 'seen_port': 5555}]}",
};

START_TEST(without_proof_another_port_is_another_service)
{
	published(unproven[_i]);
	expect_state(FOUND(NONE), 3);
	ck_assert(scene_blind(&s, SCOPE(LISTENERS), "connection from"));
}
END_TEST

START_TEST(the_tables_of_translations_cannot_be_read)
{
	published("{'status': 'denied'}");
	expect_state(FOUND(NONE), 3);
	ck_assert(scene_blind(&s, SCOPE(LISTENERS), "translated"));
	published("{'complete': false, 'items': []}");
	expect_state(FOUND(NONE), 3);
	ck_assert(scene_blind(&s, SCOPE(LISTENERS), "translated"));
	/* To whom the port itself answers they do not matter. */
	accepted_by(100);
	scene_ask(&s);
	expect_holder(100);
	ck_assert(!scene_blind(&s, SCOPE(LISTENERS), "translated"));
	ck_assert(scene_blind(&s, SCOPE(OTHER), "translated"));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* One of two connections of the caller is rewritten from the asked port, the
 * other one reaches it as it is. */
START_TEST(a_translated_and_a_plain_connection_are_two)
{
	char address[] = "10.0.0.1", plain[] = "127.0.0.1";
	char *kept = s.question.address;

	accepted_by(100);
	published(ROW("10.0.0.1", 8080, "172.17.0.2", 80, 5555));
	expect_state(FOUND(SEVERAL), 3);
	s.question.address = address;
	scene_ask(&s);
	expect_holder(200);
	s.question.address = plain;
	scene_ask(&s);
	s.question.address = kept;
	expect_holder(100);
}
END_TEST

/* Only the address was rewritten: both views lead to one socket. */
START_TEST(a_translated_address_of_the_same_port)
{
	end_with(600, "172.17.0.2", SCENE_PORT, "127.0.0.1", CALLER_PORT,
	    ", 'netns': 7");
	end_at(601, "127.0.0.1", 9, "127.0.0.1", CALLER_PORT);
	scene_owner(&s, 200, 9, 600);
	scene_put(&s, "/translations",
	    ROW("10.0.0.1", 8080, "172.17.0.2", 8080, 5555));
	scene_ask(&s);
	expect_holder(200);
}
END_TEST

static const struct {
	const char *address;
	uint32_t port;
} refused[] = {
	{ "127.0.0.1", 0 },
	{ "127.0.0.1", 65536 },
	{ "", 80 },
	{ "localhost", 80 },
	{ "0.0.0.0", 80 },
	{ "::", 80 },
};

START_TEST(an_end_that_is_none)
{
	struct wd_evidence with = {
		.reader = s.reader, .store = s.store, .clock = &s.clock
	};
	Weightd__V1__Attestation *all = NULL;

	accepted_by(100);
	scene_ask(&s);
	with.host = s.host;
	ask_from(refused[_i].address, refused[_i].port);
	ck_assert_int_eq(wd_attest_port(&with, &s.question, s.digests,
			     &s.deadline, &all, NULL),
	    WD_INVALID);
	ck_assert_ptr_null(all);
}
END_TEST

WD_SUITE_BEGIN("evidence connection")
tcase_add_checked_fixture(tcase, set_up, tear_down);
tcase_add_loop_test(tcase, a_twin_does_not_answer_for_the_other, 0, 2);
WD_TEST(the_callers_own_socket_is_not_taken);
WD_TEST(a_socket_connected_to_itself_is_the_callers);
WD_LOOP(families_are_compared_as_they_reach, mapped);
WD_TEST(another_callers_connection_is_not_meant);
WD_TEST(the_asked_port_tells_two_services_apart);
WD_TEST(the_address_tells_two_sockets_apart);
WD_TEST(the_same_ends_in_two_namespaces);
WD_TEST(a_connection_in_another_namespace);
WD_TEST(not_accepted_yet);
WD_TEST(not_every_connection_was_seen);
WD_TEST(hidden_holders);
WD_TEST(nobody_holds_it);
WD_TEST(prefork_only_the_child_counts);
WD_TEST(a_child_with_a_listener_of_its_own_is_capped);
WD_TEST(several_holders_are_one_group);
WD_TEST(a_thread_with_its_own_table);
WD_TEST(listeners_decide_nothing);
WD_TEST(nothing_listens_any_more);
WD_TEST(closed_while_we_looked);
WD_TEST(another_that_fits_comes_while_we_looked);
WD_TEST(accepted_while_we_looked);
WD_TEST(handed_on_while_we_looked);
WD_TEST(handed_on_all_the_time);
WD_TEST(other_listeners_may_move);
WD_TEST(the_accepted_socket_is_no_hop);
WD_TEST(a_translation_is_followed_when_it_is_proven);
WD_LOOP(without_proof_another_port_is_another_service, unproven);
WD_TEST(the_tables_of_translations_cannot_be_read);
WD_TEST(a_translated_and_a_plain_connection_are_two);
WD_TEST(a_translated_address_of_the_same_port);
WD_LOOP(an_end_that_is_none, refused);
WD_SUITE_END
