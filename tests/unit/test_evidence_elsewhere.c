/*
 * Where connections to the port may end instead (design rule 7; U9 and table L
 * of the field cases): said when there is a sign of it, deciding nothing.
 * Process 100 listens on 127.0.0.1:8080.
 */
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

static bool
is_said(const char *what)
{
	scene_ask(&s);
	return scene_blind(&s, SCOPE(OTHER), what);
}

static void
wildcard(const char *address, const char *v6only, int pid)
{
	scene_listener(&s, address, SCENE_PORT, 78);
	if (v6only != NULL)
		scene_put(&s, "/listeners/items/1/v6only", v6only);
	if (pid != 100)
		scene_process(&s, pid, 50);
	scene_owner(&s, pid, 5, 78);
}

static const struct {
	const char *address, *v6only;
	int pid;
	bool said;
} wildcards[] = {
	{ "0.0.0.0", NULL, 200, true },
	{ "::", "'no'", 200, true },
	{ "::", "'unknown'", 200, true },
	/* It never answered on the address. */
	{ "::", "'yes'", 200, false },
	{ "127.0.0.2", NULL, 200, false },
	/* Whoever gets it, the same process answers. */
	{ "0.0.0.0", NULL, 100, false },
};

/* U9, table L: 0.0.0.0:P and 127.0.0.1:P of two processes. */
START_TEST(the_specific_address_wins)
{
	wildcard(
	    wildcards[_i].address, wildcards[_i].v6only, wildcards[_i].pid);
	ck_assert(is_said("at 127.0.0.1") == wildcards[_i].said);
}
END_TEST

START_TEST(not_in_another_namespace)
{
	wildcard("0.0.0.0", NULL, 200);
	scene_put(&s, "/listeners/items/1/netns", "7");
	s.question.all_namespaces = 1;
	ck_assert(!is_said("at 127.0.0.1"));
}
END_TEST

/* Bound to a device it answers only what comes that way. */
START_TEST(not_when_it_is_bound_to_a_device)
{
	wildcard("0.0.0.0", NULL, 200);
	scene_put(&s, "/listeners/items/0/interface", "2");
	ck_assert(!is_said("at 127.0.0.1"));
}
END_TEST

/* Of one process with a descendant, all listeners are listed anyway. */
START_TEST(the_port_in_another_namespace)
{
	scene_put(&s, "/listeners/items/-",
	    "{'netns': 7, 'family': 4, 'address': '0.0.0.0', 'port': 8080,"
	    " 'inode': 90, 'cookie': 9}");
	ck_assert(!is_said("other namespaces"));
	scene_process(&s, 101, 100);
	ck_assert(is_said("other namespaces"));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
	s.question.all_namespaces = 1;
	ck_assert(!is_said("other namespaces"));
}
END_TEST

START_TEST(another_port_in_another_namespace)
{
	scene_put(&s, "/listeners/items/-",
	    "{'netns': 7, 'family': 4, 'address': '0.0.0.0', 'port': 8081,"
	    " 'inode': 90, 'cookie': 9}");
	scene_process(&s, 101, 100);
	ck_assert(!is_said("other namespaces"));
}
END_TEST

#define ROW(netns, asked_port, server, server_port)                            \
	"{'items': [{'netns': " netns ", 'client': '10.0.0.9',"                \
	" 'client_port': 5555, 'asked': '10.0.0.1', 'asked_port': " asked_port \
	", 'server': '" server "', 'server_port': " server_port                \
	", 'seen': '10.0.0.7', 'seen_port': 5555}]}"

static const struct {
	const char *translations;
	bool said;
} redirected[] = {
	{ ROW("4026531840", "8080", "172.17.0.2", "80"), true },
	{ ROW("4026531840", "8080", "10.0.0.1", "80"), true },
	{ ROW("4026531840", "8080", "172.17.0.2", "8080"), true },
	/* Only the client's own end is another. */
	{ ROW("4026531840", "8080", "10.0.0.1", "8080"), false },
	{ ROW("4026531840", "8081", "172.17.0.2", "80"), false },
	{ ROW("7", "8080", "172.17.0.2", "80"), false },
	{ "{'items': []}", false },
	/* Without a sign nothing is said. */
	{ "{'status': 'denied'}", false },
};

START_TEST(connections_are_passed_on)
{
	scene_put(&s, "/translations", redirected[_i].translations);
	ck_assert(is_said("at 10.0.0.1") == redirected[_i].said);
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* Nothing listens, and still there is an answer on the port. */
START_TEST(passed_on_where_nothing_listens)
{
	scene_put(&s, "/listeners/items", "[]");
	scene_put(&s, "/holders/items", "[]");
	scene_put(&s, "/translations", redirected[0].translations);
	ck_assert(is_said("at 10.0.0.1"));
	ck_assert_int_eq(scene_verdict(&s, NULL, NULL), VERDICT(MISSING));
}
END_TEST

START_TEST(a_question_about_a_connection_has_no_such_doubt)
{
	Weightd__V1__Connection from;
	char address[] = "127.0.0.1";

	weightd__v1__connection__init(&from);
	from.address = address;
	from.port = 5555;
	wildcard("0.0.0.0", NULL, 200);
	scene_put(&s, "/translations", redirected[0].translations);
	scene_put(&s, "/connections",
	    "[{'inode': 500, 'local': '127.0.0.1', 'local_port': 8080,"
	    " 'remote': '127.0.0.1', 'remote_port': 5555}]");
	scene_owner(&s, 100, 9, 500);
	s.question.connection = &from;
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_blind_spots, 0);
}
END_TEST

WD_SUITE_BEGIN("evidence elsewhere")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_LOOP(the_specific_address_wins, wildcards);
WD_TEST(not_in_another_namespace);
WD_TEST(not_when_it_is_bound_to_a_device);
WD_TEST(the_port_in_another_namespace);
WD_TEST(another_port_in_another_namespace);
WD_LOOP(connections_are_passed_on, redirected);
WD_TEST(passed_on_where_nothing_listens);
WD_TEST(a_question_about_a_connection_has_no_such_doubt);
WD_SUITE_END
