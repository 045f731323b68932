/* verdict.h: lines 2 to 7 when the question names a connection. */
#include "support/suite.h"
#include "support/verdict_case.h"
#include "verdict/question.h"

#define FOUND(name) WEIGHTD__V1__CONNECTION_STATE__CONNECTION_STATE_##name

static void
good(Weightd__V1__Attestation *all)
{
	make_connection(all);
}

static void
not_looked_for(Weightd__V1__Attestation *all)
{
	make_connection(all);
	wd_message_free(all->connection);
	all->connection = NULL;
}

static void
not_looked_for_again(Weightd__V1__Attestation *all)
{
	make_connection(all);
	drop_check(all, CHECK(CONNECTION));
}

/* The answer is about a connection also when its question is not. */
static void
question_says_nothing(Weightd__V1__Attestation *all)
{
	make_connection(all)->state = FOUND(NONE);
	wd_message_free(all->question->connection);
	all->question->connection = NULL;
}

static void
set_state(Weightd__V1__Attestation *all, Weightd__V1__ConnectionState state)
{
	Weightd__V1__AcceptedConnection *c = make_connection(all);

	c->state = state;
	c->socket_id = 0;
}

static void
none(Weightd__V1__Attestation *all)
{
	set_state(all, FOUND(NONE));
}

/* Nothing listens either: that is no MISSING. */
static void
none_and_no_listener(Weightd__V1__Attestation *all)
{
	set_state(all, FOUND(NONE));
	while (all->n_listeners > 0)
		wd_message_free(all->listeners[--all->n_listeners]);
}

static void
several(Weightd__V1__Attestation *all)
{
	set_state(all, FOUND(SEVERAL));
}

static void
hidden(Weightd__V1__Attestation *all)
{
	set_state(all, FOUND(HIDDEN));
	make_blind_spot(all, SCOPE(LISTENERS));
}

static void
unspecified(Weightd__V1__Attestation *all)
{
	set_state(all, FOUND(UNSPECIFIED));
}

static void
unknown_state(Weightd__V1__Attestation *all)
{
	set_state(all, (Weightd__V1__ConnectionState)77);
}

static void
not_accepted(Weightd__V1__Attestation *all)
{
	set_state(all, FOUND(NOT_ACCEPTED));
}

static void
holders_hidden(Weightd__V1__Attestation *all)
{
	make_connection(all)->state = FOUND(HIDDEN);
	make_blind_spot(all, SCOPE(OWNERS));
}

static void
further_holders(Weightd__V1__Attestation *all)
{
	make_connection(all);
	make_blind_spot(all, SCOPE(OWNERS));
}

static void
nobody_holds_it(Weightd__V1__Attestation *all)
{
	Weightd__V1__AcceptedConnection *c = make_connection(all);

	while (c->n_owners > 0)
		wd_message_free(c->owners[--c->n_owners]);
}

static void
no_socket(Weightd__V1__Attestation *all)
{
	make_connection(all)->socket_id = 0;
}

static void
no_group(Weightd__V1__Attestation *all)
{
	make_connection(all)->group_presence_case =
	    WEIGHTD__V1__ACCEPTED_CONNECTION__GROUP_PRESENCE__NOT_SET;
}

static void
group_out_of_range(Weightd__V1__Attestation *all)
{
	make_connection(all)->group = 7;
}

static void
another_port(Weightd__V1__Attestation *all)
{
	make_connection(all)->local_port = 80;
}

static void
translated(Weightd__V1__Attestation *all)
{
	Weightd__V1__AcceptedConnection *c = make_connection(all);

	c->local_port = 80;
	c->translated = 1;
}

static void
moving(Weightd__V1__Attestation *all)
{
	make_connection(all);
	make_moved(all, MOVED(CONNECTION));
}

/* A twin that listens on the port too, with another model. */
static Weightd__V1__Candidate *
make_twin(Weightd__V1__Attestation *all)
{
	Weightd__V1__Candidate *twin =
	    make_candidate(make_group(all), KIND(MODEL), "other");

	twin->bundle->parameter_count = 1;
	make_listener(all, "127.0.0.1", 1);
	return twin;
}

static void
twin_is_another(Weightd__V1__Attestation *all)
{
	make_connection(all);
	make_twin(all);
}

static void
twin_accepted_it(Weightd__V1__Attestation *all)
{
	make_twin(all);
	make_connection(all)->group = 1;
}

/* Listeners that nobody could see decide nothing. */
static void
listeners_unseen(Weightd__V1__Attestation *all)
{
	make_connection(all);
	all->listeners_complete = 0;
	all->agreeing_looks = 0;
	all->listeners[0]->owners_state = OWNERS(HIDDEN);
	drop_check(all, CHECK(LISTENERS));
}

static void
listener_is_closed(Weightd__V1__Attestation *all)
{
	make_connection(all);
	all->agreeing_looks = 1;
	while (all->n_listeners > 0)
		wd_message_free(all->listeners[--all->n_listeners]);
}

static void
without_owners_check(Weightd__V1__Attestation *all)
{
	make_connection(all);
	drop_check(all, CHECK(OWNERS_AGAIN));
}

static void
ask_disabled(Weightd__V1__Expectation *e)
{
	e->role = ROLE(DISABLED);
}

static void
ask_forwarder(Weightd__V1__Expectation *e)
{
	e->role = ROLE(FORWARDER);
}

static const struct verdict_case rows[] = {
	{ "found", good, ask_parameters, VERDICT(MATCH), 12, NULL },
	{ "found, nothing expected", good, NULL, VERDICT(MATCH), 12, NULL },
	{ "not looked for", not_looked_for, ask_parameters,
	    VERDICT(UNVERIFIABLE), 2, "CONNECTION" },
	{ "not again", not_looked_for_again, ask_parameters,
	    VERDICT(UNVERIFIABLE), 2, "CONNECTION" },
	{ "without the owners' check", without_owners_check, ask_parameters,
	    VERDICT(UNVERIFIABLE), 2, "OWNERS_AGAIN" },
	{ "question says nothing", question_says_nothing, ask_parameters,
	    VERDICT(UNVERIFIABLE), 3, "not found" },
	{ "none", none, ask_parameters, VERDICT(UNVERIFIABLE), 3, "not found" },
	{ "none, and nothing listens", none_and_no_listener, ask_parameters,
	    VERDICT(UNVERIFIABLE), 3, "not found" },
	{ "none, and nothing may listen", none_and_no_listener, ask_disabled,
	    VERDICT(UNVERIFIABLE), 3, "not found" },
	{ "several", several, ask_parameters, VERDICT(UNVERIFIABLE), 3,
	    "which connection" },
	{ "hidden", hidden, ask_parameters, VERDICT(UNVERIFIABLE), 3,
	    "could not be looked for" },
	{ "no state", unspecified, ask_parameters, VERDICT(UNVERIFIABLE), 3,
	    "not looked for" },
	{ "a state of the future", unknown_state, ask_parameters,
	    VERDICT(UNVERIFIABLE), 3, "not known" },
	{ "another port", another_port, ask_parameters, VERDICT(UNVERIFIABLE),
	    3, "port 80" },
	{ "translated", translated, ask_parameters, VERDICT(MATCH), 12, NULL },
	{ "moving", moving, ask_parameters, VERDICT(UNVERIFIABLE), 3, "moved" },
	{ "found where nothing may listen", good, ask_disabled,
	    VERDICT(MISMATCH), 4, NULL },
	{ "not accepted", not_accepted, ask_parameters, VERDICT(UNVERIFIABLE),
	    5, "accepted" },
	{ "holders hidden", holders_hidden, ask_parameters,
	    VERDICT(UNVERIFIABLE), 5, "could not be seen" },
	{ "further holders", further_holders, ask_parameters,
	    VERDICT(UNVERIFIABLE), 5, NULL },
	{ "nobody holds it", nobody_holds_it, ask_parameters,
	    VERDICT(UNVERIFIABLE), 5, NULL },
	{ "no socket", no_socket, ask_parameters, VERDICT(UNVERIFIABLE), 5,
	    NULL },
	{ "no group", no_group, ask_parameters, VERDICT(UNVERIFIABLE), 5,
	    NULL },
	{ "a group that is not there", group_out_of_range, ask_parameters,
	    VERDICT(UNVERIFIABLE), 5, NULL },
	{ "a twin does not decide", twin_is_another, ask_parameters,
	    VERDICT(MATCH), 12, NULL },
	{ "the twin accepted it", twin_accepted_it, ask_parameters,
	    VERDICT(MISMATCH), 9, NULL },
	{ "listeners unseen", listeners_unseen, ask_parameters, VERDICT(MATCH),
	    12, NULL },
	{ "the listener is closed", listener_is_closed, ask_parameters,
	    VERDICT(MATCH), 12, NULL },
	{ "a forwarder that holds weights", good, ask_forwarder,
	    VERDICT(MISMATCH), 6, NULL },
};

START_TEST(with_a_connection)
{
	run_verdict_case(&rows[_i]);
}
END_TEST

/* ---- the flag ------------------------------------------------------------ */

static const struct {
	const char *text, *address; /* NULL: refused */
	uint32_t port;
} ends[] = {
	{ "127.0.0.1:40000", "127.0.0.1", 40000 },
	{ "[::1]:1", "::1", 1 },
	{ "[::ffff:10.0.0.1]:65535", "::ffff:10.0.0.1", 65535 },
	{ "", NULL, 0 },
	{ ":80", NULL, 0 },
	{ "[]:80", NULL, 0 },
	{ "127.0.0.1", NULL, 0 },
	{ "127.0.0.1:", NULL, 0 },
	{ "127.0.0.1:0", NULL, 0 },
	{ "127.0.0.1:65536", NULL, 0 },
	{ "127.0.0.1:8o", NULL, 0 },
	{ "127.0.0.1: 80", NULL, 0 },
	{ "127.0.0.1:+80", NULL, 0 },
	{ "::1:80", NULL, 0 },
	{ "[::1]", NULL, 0 },
	{ "[::1]80", NULL, 0 },
	{ "[127.0.0.1]:80", NULL, 0 },
	{ "[fe80::1%lo]:80", NULL, 0 },
	{ "localhost:80", NULL, 0 },
	{ "127.0.0.1.127.0.0.1.127.0.0.1.127.0.0.1.127.0.0.1.127.0.0.1:80",
	    NULL, 0 },
};

START_TEST(the_end_of_a_connection)
{
	Weightd__V1__Connection *connection = NULL;
	struct wd_error err;
	enum wd_status st;

	wd_error_init(&err);
	st = wd_connection_parse(
	    "--connection", ends[_i].text, &connection, &err);
	if (ends[_i].address == NULL) {
		ck_assert_int_eq(st, WD_INVALID);
		ck_assert_ptr_null(connection);
		ck_assert_ptr_nonnull(strstr(err.message, "--connection"));
		return;
	}
	ck_assert_int_eq(st, WD_OK);
	ck_assert_str_eq(connection->address, ends[_i].address);
	ck_assert_uint_eq(connection->port, ends[_i].port);
	wd_message_free(connection);
}
END_TEST

WD_SUITE_BEGIN("verdict connection")
WD_LOOP(with_a_connection, rows);
WD_LOOP(the_end_of_a_connection, ends);
WD_SUITE_END
