/*
 * The good scene; what is asked of a port; five different answers to "who
 * holds it"; addresses and namespaces.
 */
#include <check.h>
#include <string.h>

#include "base/mem.h"
#include "support/scene.h"
#include "support/suite.h"
#include "wire/build.h"

static struct scene s;

static void
set_up(void)
{
	scene_begin(&s);
}

static void
tear_down(void)
{
	/* It was never allocated. */
	s.question.address = (char *)(uintptr_t)protobuf_c_empty_string;
	scene_end(&s);
}

static void
ask_for(const char *address)
{
	s.question.address = (char *)(uintptr_t)address;
	scene_ask(&s);
}

START_TEST(the_good_answer)
{
	struct wd_sha256 digest = scene_sha256(&s, "m.gguf");
	uint32_t line;

	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_listeners, 1);
	ck_assert_str_eq(s.all->listeners[0]->address, "127.0.0.1");
	ck_assert_uint_eq(s.all->listeners[0]->socket_id, 77);
	ck_assert_uint_eq(s.all->listeners[0]->n_witnesses, 2);
	ck_assert_int_eq(s.all->listeners[0]->owners_state, OWNERS(FOUND));
	ck_assert_uint_eq(s.all->listeners[0]->n_owners, 1);
	ck_assert_int_eq(s.all->listeners[0]->owners[0]->pid, 100);
	ck_assert_int_eq(s.all->listeners[0]->owners[0]->fd, 3);
	ck_assert_uint_eq(s.all->n_groups, 1);
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
	ck_assert_uint_eq(s.all->n_blind_spots, 0);
	ck_assert_uint_eq(s.all->n_moved, 0);
	ck_assert_uint_eq(s.all->n_flags, 0);
	ck_assert_uint_eq(s.all->retries, 0);
	ck_assert_uint_eq(s.all->agreeing_looks, 2);
	ck_assert(s.all->listeners_complete);
	ck_assert_str_eq(s.all->host->boot_id, "b-1");
	ck_assert_uint_eq(s.all->question->port, SCENE_PORT);
	ck_assert_uint_eq(scene_group(&s, 0)->n_candidates, 1);
	ck_assert(scene_group(&s, 0)->members_complete);
	ck_assert_str_eq(scene_model(&s, 0)->bundle->inner_name, "Right");
	ck_assert(scene_model(&s, 0)->mapped_wholly);
	ck_assert_int_eq(scene_model(&s, 0)->on_overlay, SEEN(NO));
	ck_assert_uint_eq(scene_model(&s, 0)->n_flags, 0);
	ck_assert_int_eq(scene_file(&s, 0)->grade, GRADE(RESIDENT));
	ck_assert_str_eq(scene_file(&s, 0)->reason, "");
	ck_assert_int_eq(scene_file(&s, 0)->origin, ORIGIN(MAPPED));
	ck_assert_uint_eq(scene_file(&s, 0)->tensors_mapped, 2);
	ck_assert_uint_eq(scene_file(&s, 0)->mapping_count, 1);
	ck_assert(scene_digest_is(
	    scene_model(&s, 0)->bundle->files[0]->sha256, &digest));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", &line), VERDICT(MATCH));
	ck_assert_uint_eq(line, 12);
}
END_TEST

static const Weightd__V1__Check all_checks[] = {
	WEIGHTD__V1__CHECK__CHECK_LISTENERS,
	WEIGHTD__V1__CHECK__CHECK_LISTENERS_TWICE,
	WEIGHTD__V1__CHECK__CHECK_OWNERS,
	WEIGHTD__V1__CHECK__CHECK_IDENTITY_AGAIN,
	WEIGHTD__V1__CHECK__CHECK_OWNERS_AGAIN,
	WEIGHTD__V1__CHECK__CHECK_MAPPINGS_AGAIN,
	WEIGHTD__V1__CHECK__CHECK_FILES_AGAIN,
	WEIGHTD__V1__CHECK__CHECK_GROUP,
	WEIGHTD__V1__CHECK__CHECK_MAPPINGS,
	WEIGHTD__V1__CHECK__CHECK_DESCRIPTORS,
	WEIGHTD__V1__CHECK__CHECK_CLAIMS,
	WEIGHTD__V1__CHECK__CHECK_HEADERS,
	WEIGHTD__V1__CHECK__CHECK_COVERAGE,
	WEIGHTD__V1__CHECK__CHECK_WRITTEN_PAGES,
	WEIGHTD__V1__CHECK__CHECK_CONTENT_DIGEST,
	WEIGHTD__V1__CHECK__CHECK_CHANGED_SINCE_LOAD,
	WEIGHTD__V1__CHECK__CHECK_SETTINGS_STALE,
};

START_TEST(checks_of_the_good_answer)
{
	Weightd__V1__Check check = all_checks[_i];

	scene_ask(&s);
	ck_assert(scene_made(s.all->checks_performed, s.all->n_checks_performed,
		      check) ||
	    scene_made(scene_group(&s, 0)->checks_performed,
		scene_group(&s, 0)->n_checks_performed, check) ||
	    scene_made(scene_model(&s, 0)->checks_performed,
		scene_model(&s, 0)->n_checks_performed, check));
}
END_TEST

/* An earlier agent must not claim what only later ones can do. */
START_TEST(checks_nobody_makes_yet)
{
	scene_ask(&s);
	ck_assert(!HAS_CHECK(scene_model(&s, 0), ENGINE));
	ck_assert(!HAS_CHECK(scene_group(&s, 0), ROUTES));
	ck_assert(!HAS_CHECK(scene_group(&s, 0), RUN_SETTINGS));
}
END_TEST

static const struct {
	uint32_t port;
	const char *address;
} bad_questions[] = { { 0, "" }, { 65536, "" }, { 8080, "localhost" },
	{ 8080, "127.0.0.1.5" }, { 8080, "[::1" }, { 8080, "" } };

START_TEST(questions_that_are_none)
{
	struct wd_evidence with = {
		.reader = s.reader, .store = s.store, .clock = &s.clock
	};
	bool is_good = bad_questions[_i].address[0] == '\0' &&
	    bad_questions[_i].port == 8080;

	scene_ask(&s);
	with.host = s.host;
	s.question.port = bad_questions[_i].port;
	s.question.address = (char *)(uintptr_t)bad_questions[_i].address;
	wd_message_free(s.all);
	s.all = NULL;
	ck_assert_int_eq(wd_attest_port(&with, &s.question, s.digests,
			     &s.deadline, &s.all, NULL),
	    is_good ? WD_OK : WD_INVALID);
}
END_TEST

/* ---- who holds it -------------------------------------------------------- */

static const struct owners_row {
	const char *what;
	const char *holders;
	Weightd__V1__OwnersState state;
	Weightd__V1__Grade grade;
} owners_rows[] = {
	{ "found", "{'items': [{'inode': 77, 'pid': 100, 'fd': 3}]}",
	    OWNERS(FOUND), GRADE(RESIDENT) },
	{ "none", "{'items': []}", OWNERS(NONE), GRADE(BLIND) },
	{ "hidden", "{'complete': false, 'items': []}", OWNERS(HIDDEN),
	    GRADE(BLIND) },
	{ "the walk failed", "{'status': 'unsupported'}", OWNERS(HIDDEN),
	    GRADE(BLIND) },
	{ "vanished", "{'vanished': 1, 'items': []}", OWNERS(VANISHED),
	    GRADE(BLIND) },
	{ "partly",
	    "{'complete': false, 'items':"
	    " [{'inode': 77, 'pid': 100, 'fd': 3}]}",
	    OWNERS(PARTLY), GRADE(BLIND) },
	{ "others vanished",
	    "{'vanished': 3, 'items': [{'inode': 77, 'pid': 100, 'fd': 3}]}",
	    OWNERS(FOUND), GRADE(RESIDENT) },
};

START_TEST(who_holds_it)
{
	const struct owners_row *row = &owners_rows[_i];
	uint32_t line;
	Weightd__V1__VerdictKind kind;

	scene_put(&s, "/holders", row->holders);
	scene_ask(&s);
	ck_assert_msg(s.all->listeners[0]->owners_state == row->state, "%s: %d",
	    row->what, (int)s.all->listeners[0]->owners_state);
	ck_assert_msg(s.all->grade == row->grade, "%s: grade %d", row->what,
	    (int)s.all->grade);
	kind = scene_verdict(&s, "m.gguf", &line);
	ck_assert_int_eq(kind,
	    row->grade == GRADE(RESIDENT) ? VERDICT(MATCH) :
					    VERDICT(UNVERIFIABLE));
	ck_assert_uint_eq(line, row->grade == GRADE(RESIDENT) ? 12 : 5);
}
END_TEST

/* The kernel shows no inode (A23): nothing is looked up under 0. */
START_TEST(a_listener_without_an_inode)
{
	scene_put(&s, "/listeners/items/0/inode", "0");
	scene_put(&s, "/holders/items", "[{'inode': 0, 'pid': 100, 'fd': 3}]");
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_groups, 0);
	ck_assert_int_ne(s.all->listeners[0]->owners_state, OWNERS(FOUND));
	ck_assert_int_eq(s.all->grade, GRADE(BLIND));
}
END_TEST

/* The owner is in the table and gone when it is read: on every try. */
START_TEST(an_owner_that_is_gone)
{
	scene_remove(&s, "/processes/100");
	scene_ask(&s);
	ck_assert_int_eq(s.all->listeners[0]->owners_state, OWNERS(VANISHED));
	ck_assert(scene_moved(&s, MOVED(IDENTITY)));
	ck_assert_uint_eq(s.all->retries, 3);
	ck_assert_int_eq(s.all->grade, GRADE(BLIND));
	ck_assert_int_ne(scene_group(&s, 0)->grade, GRADE(NONE));
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

/* A7: one of two holders is gone; the other is still reported. */
START_TEST(one_of_two_owners_is_gone)
{
	scene_put(&s, "/holders/items/-", "{'inode': 77, 'pid': 99, 'fd': 3}");
	scene_after(&s, "holders", 1, "/holders/items",
	    "[{'inode': 77, 'pid': 100, 'fd': 3}]");
	scene_ask(&s);
	ck_assert_int_eq(s.all->listeners[0]->owners_state, OWNERS(FOUND));
	ck_assert_uint_eq(s.all->listeners[0]->n_owners, 1);
	ck_assert_uint_ge(s.all->retries, 1);
	ck_assert_uint_eq(s.all->n_moved, 0);
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

START_TEST(a_process_without_rights_to_its_facts)
{
	scene_put(&s, "/processes/100/process_status", "'denied'");
	scene_ask(&s);
	ck_assert_int_eq(s.all->listeners[0]->owners_state, OWNERS(FOUND));
	ck_assert_int_eq(s.all->grade, GRADE(BLIND));
	ck_assert_int_eq(scene_process_in(&s, 100)->mappings_sight,
	    WEIGHTD__V1__SIGHT__SIGHT_DENIED);
}
END_TEST

/* ---- nobody listens ------------------------------------------------------ */

static const struct missing_row {
	const char *what, *listeners;
	Weightd__V1__VerdictKind kind;
	uint32_t line;
} missing_rows[] = {
	{ "two looks agree", "{'items': []}", VERDICT(MISSING), 4 },
	{ "one look only", "{'looks': 1, 'agreed': false, 'items': []}",
	    VERDICT(UNVERIFIABLE), 3 },
	{ "not all was seen", "{'complete': false, 'items': []}",
	    VERDICT(UNVERIFIABLE), 3 },
	{ "the look failed", "{'status': 'unsupported'}", VERDICT(UNVERIFIABLE),
	    3 },
	{ "the look was refused", "{'status': 'denied'}", VERDICT(UNVERIFIABLE),
	    3 },
	{ "time ran out", "{'status': 'timed out'}", VERDICT(UNVERIFIABLE), 3 },
};

START_TEST(nobody_listens)
{
	const struct missing_row *row = &missing_rows[_i];
	uint32_t line;

	scene_put(&s, "/listeners", row->listeners);
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_listeners, 0);
	ck_assert_msg(
	    scene_verdict(&s, "m.gguf", &line) == row->kind, "%s", row->what);
	ck_assert_uint_eq(line, row->line);
	ck_assert_int_eq(s.all->grade == GRADE(NONE),
	    strstr(row->listeners, "complete") == NULL &&
		strstr(row->listeners, "status") == NULL);
}
END_TEST

/* It begins to listen in the middle of the look. */
START_TEST(a_listener_that_comes_late)
{
	scene_put(&s, "/listeners/items", "[]");
	scene_after(&s, "listeners", 1, "/listeners/items/-",
	    "{'family': 4, 'address': '127.0.0.1', 'port': 8080,"
	    " 'inode': 77, 'cookie': 5}");
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_listeners, 1);
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

/* ---- addresses ----------------------------------------------------------- */

static const struct address_row {
	const char *bound, *v6only, *asked;
	bool answers;
} address_rows[] = {
	{ "127.0.0.1", "'unknown'", "127.0.0.1", true },
	{ "127.0.0.1", "'unknown'", "127.0.0.2", false },
	{ "127.0.0.1", "'unknown'", "::1", false },
	{ "127.0.0.1", "'unknown'", "::ffff:127.0.0.1", true },
	{ "127.0.0.1", "'unknown'", "[::ffff:127.0.0.1]", true },
	{ "0.0.0.0", "'unknown'", "10.1.2.3", true },
	{ "0.0.0.0", "'unknown'", "::1", false },
	{ "::", "'no'", "10.1.2.3", true },   /* A18 */
	{ "::", "'yes'", "10.1.2.3", false }, /* A18 */
	{ "::", "'unknown'", "10.1.2.3", true },
	{ "::", "'no'", "::ffff:10.1.2.3", true },
	{ "::", "'yes'", "fe80::1", true },
	{ "::1", "'yes'", "::1", true },
	{ "::1", "'yes'", "[::1]", true },
	{ "::1", "'yes'", "::2", false },
	{ "::ffff:127.0.0.1", "'no'", "127.0.0.1", true }, /* A19 */
	{ "::ffff:127.0.0.1", "'no'", "127.0.0.2", false },
};

START_TEST(which_addresses_answer)
{
	const struct address_row *row = &address_rows[_i];
	char json[256];

	(void)snprintf(json, sizeof(json),
	    "[{'family': %d, 'address': '%s', 'port': 8080, 'inode': 77,"
	    " 'v6only': %s}]",
	    strchr(row->bound, ':') == NULL ? 4 : 6, row->bound, row->v6only);
	scene_put(&s, "/listeners/items", json);
	ask_for(row->asked);
	ck_assert_msg((s.all->n_listeners == 1) == row->answers, "%s on %s",
	    row->asked, row->bound);
}
END_TEST

/* The kernel prefers the socket with the address over the wildcard. */
START_TEST(the_specific_socket_answers)
{
	scene_process(&s, 200, 50);
	scene_listener(&s, "0.0.0.0", 8080, 78);
	scene_owner(&s, 200, 3, 78);
	ask_for("127.0.0.1");
	ck_assert_uint_eq(s.all->n_listeners, 1);
	ck_assert_uint_eq(s.all->listeners[0]->socket_id, 77);
	ask_for("10.0.0.1");
	ck_assert_uint_eq(s.all->n_listeners, 1);
	ck_assert_uint_eq(s.all->listeners[0]->socket_id, 78);
	ask_for("");
	ck_assert_uint_eq(s.all->n_listeners, 2);
}
END_TEST

/* ---- namespaces ---------------------------------------------------------- */

static void
container(void)
{
	scene_process(&s, 300, 50);
	scene_put(&s, "/processes/300/netns", "4026532000");
	scene_put(&s, "/listeners/items/-",
	    "{'family': 4, 'address': '0.0.0.0', 'port': 8080, 'inode': 90,"
	    " 'netns': 4026532000}");
	scene_owner(&s, 300, 3, 90);
}

/* A8, A9 */
START_TEST(namespaces)
{
	container();
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_listeners, 1);
	ck_assert_uint_eq(s.all->listeners[0]->netns, 4026531840);
	s.question.netns = 4026532000;
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_listeners, 1);
	ck_assert_uint_eq(s.all->listeners[0]->netns, 4026532000);
	ck_assert_uint_eq(s.all->listeners[0]->socket_id, 90);
	s.question.netns = 0;
	s.question.all_namespaces = true;
	scene_ask(&s);
	ck_assert_uint_eq(s.all->n_listeners, 2);
	ck_assert_uint_eq(s.all->n_groups, 2);
}
END_TEST

/* An address is preferred within its own namespace only. */
START_TEST(an_address_in_every_namespace)
{
	container();
	s.question.all_namespaces = true;
	ask_for("127.0.0.1");
	ck_assert_uint_eq(s.all->n_listeners, 2);
}
END_TEST

WD_SUITE_BEGIN("evidence port")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_TEST(the_good_answer);
WD_LOOP(checks_of_the_good_answer, all_checks);
WD_TEST(checks_nobody_makes_yet);
WD_LOOP(questions_that_are_none, bad_questions);
WD_LOOP(who_holds_it, owners_rows);
WD_TEST(a_listener_without_an_inode);
WD_TEST(an_owner_that_is_gone);
WD_TEST(one_of_two_owners_is_gone);
WD_TEST(a_process_without_rights_to_its_facts);
WD_LOOP(nobody_listens, missing_rows);
WD_TEST(a_listener_that_comes_late);
WD_LOOP(which_addresses_answer, address_rows);
WD_TEST(the_specific_socket_answers);
WD_TEST(namespaces);
WD_TEST(an_address_in_every_namespace);
WD_SUITE_END
