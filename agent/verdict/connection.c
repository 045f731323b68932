/*
 * Lines 2 to 5 of the table when the question names a connection. What is not
 * known of it is UNVERIFIABLE: whoever asks has it established, so "nothing
 * listens" is no answer, and neither is the proof of another process that
 * listens on the same port.
 */
#include <inttypes.h>

#include "base/escape.h"
#include "verdict/parts.h"

#define STATE(name) WEIGHTD__V1__CONNECTION_STATE__CONNECTION_STATE_##name
#define SCOPE(name) WEIGHTD__V1__BLIND_SPOT__SCOPE__SCOPE_##name

bool
wd_is_about_connection(const Weightd__V1__Attestation *all)
{
	return all->connection != NULL ||
	    (all->question != NULL && all->question->connection != NULL);
}

const Weightd__V1__Group *
wd_connection_group(const Weightd__V1__Attestation *all, uint32_t *index)
{
	const Weightd__V1__AcceptedConnection *c = all->connection;

	if (c == NULL ||
	    c->group_presence_case !=
		WEIGHTD__V1__ACCEPTED_CONNECTION__GROUP_PRESENCE_GROUP ||
	    c->group >= all->n_groups)
		return NULL;
	*index = c->group;
	return all->groups[c->group];
}

bool
wd_connection_is_owned(const Weightd__V1__Attestation *all)
{
	const Weightd__V1__AcceptedConnection *c = all->connection;
	uint32_t index;

	return c != NULL && c->state == STATE(FOUND) && c->socket_id != 0 &&
	    c->n_owners > 0 && wd_connection_group(all, &index) != NULL;
}

static uint32_t
port_of(const Weightd__V1__Attestation *all)
{
	return all->question == NULL ? 0 : all->question->port;
}

bool
wd_rule_connection_check(
    const Weightd__V1__Attestation *all, struct wd_ruling *ruling)
{
	if (all->connection != NULL &&
	    (all->connection->state != STATE(FOUND) ||
		wd_has_check(all->checks_performed, all->n_checks_performed,
		    WD_CHECK(CONNECTION))))
		return false;
	return wd_rule(ruling, WD_VERDICT(UNVERIFIABLE), 2,
	    "port %" PRIu32 ": the agent did not make the check CONNECTION, "
	    "needed to know who accepted the connection; ask again, or ask a "
	    "newer agent",
	    port_of(all));
}

/* Translation apart, the service's port is the one that was asked for. */
static bool
is_other_port(const Weightd__V1__Attestation *all)
{
	const Weightd__V1__AcceptedConnection *c = all->connection;

	return c->state == STATE(FOUND) && !c->translated &&
	    c->local_port != port_of(all);
}

bool
wd_rule_connection_unseen(
    const Weightd__V1__Attestation *all, struct wd_ruling *ruling)
{
	static const struct wd_word words[] = {
		{ STATE(NONE), "the connection was not found" },
		{ STATE(SEVERAL), "which connection is meant cannot be told" },
		{ STATE(HIDDEN), "the connection could not be looked for" },
		{ STATE(UNSPECIFIED), "the connection was not looked for" },
	};
	Weightd__V1__ConnectionState state = all->connection->state;

	if (is_other_port(all))
		return wd_rule(ruling, WD_VERDICT(UNVERIFIABLE), 3,
		    "port %" PRIu32 ": the connection ends at port %" PRIu32
		    " and no translation was proven; ask for that port",
		    port_of(all), all->connection->local_port);
	/* With its holders hidden, the socket itself is known. */
	if (state == STATE(FOUND) || state == STATE(NOT_ACCEPTED) ||
	    (state == STATE(HIDDEN) && all->connection->socket_id != 0))
		return false;
	return wd_rule_spot(all, 3,
	    WD_WORD(words, state, "the state of the connection is not known"),
	    SCOPE(LISTENERS), ruling);
}

bool
wd_rule_connection_unowned(
    const Weightd__V1__Attestation *all, struct wd_ruling *ruling)
{
	if (wd_connection_is_owned(all))
		return false;
	return wd_rule_spot(all, 5,
	    all->connection->state == STATE(NOT_ACCEPTED) ?
		"no process has accepted the connection yet" :
		"who holds the connection could not be seen",
	    SCOPE(OWNERS), ruling);
}

bool
wd_rule_spot(const Weightd__V1__Attestation *all, uint32_t line,
    const char *what, Weightd__V1__BlindSpot__Scope scope,
    struct wd_ruling *ruling)
{
	const Weightd__V1__BlindSpot *spot = wd_blind_spot_of(all, scope);
	uint32_t port = all->question == NULL ? 0 : all->question->port;
	char shown[3][220];

	if (spot == NULL)
		return wd_rule(ruling, WD_VERDICT(UNVERIFIABLE), line,
		    "port %" PRIu32 ": %s; let the agent run with the rights "
		    "to look, and ask again",
		    port, what);
	wd_escape_short(shown[0], sizeof(shown[0]), wd_slice_text(spot->what));
	wd_escape_short(
	    shown[1], sizeof(shown[1]), wd_slice_text(spot->reason));
	wd_escape_short(
	    shown[2], sizeof(shown[2]), wd_slice_text(spot->remedy));
	return wd_rule(ruling, WD_VERDICT(UNVERIFIABLE), line,
	    "port %" PRIu32 ": %s: %s: %s; %s", port, what, shown[0], shown[1],
	    shown[2]);
}
