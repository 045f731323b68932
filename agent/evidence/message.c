/*
 * A look as the message of the schema. Nothing is decided here.
 */
#include <arpa/inet.h>

#include "evidence/message.h"

#define FLAG(name) WEIGHTD__V1__FLAG__FLAG_##name
#define GRADE(name) WEIGHTD__V1__GRADE__GRADE_##name
#define CHECK(name) WEIGHTD__V1__CHECK__CHECK_##name

Weightd__V1__Tristate
wd_say_tristate(enum wd_tristate value)
{
	switch (value) {
	case WD_NO:
		return WEIGHTD__V1__TRISTATE__TRISTATE_NO;
	case WD_YES:
		return WEIGHTD__V1__TRISTATE__TRISTATE_YES;
	case WD_NOT_KNOWN:
		break;
	}
	return WEIGHTD__V1__TRISTATE__TRISTATE_UNSPECIFIED;
}

void
wd_say_owner(const struct wd_holder *holder, Weightd__V1__Owner *out)
{
	out->pid = holder->pid;
	out->tid = holder->tid;
	out->fd = holder->fd;
}

static void
say_listener(struct wd_build *b, const struct wd_look *look, size_t index,
    Weightd__V1__Listener *out)
{
	const struct wd_listener *l = &look->listeners.items[index];
	char address[INET6_ADDRSTRLEN] = "";
	size_t i;

	(void)inet_ntop(l->family == WD_INET4 ? AF_INET : AF_INET6, l->address,
	    address, sizeof(address));
	wd_build_text(b, &out->address, address);
	out->netns = l->netns;
	out->family = l->family == WD_INET4 ?
	    WEIGHTD__V1__FAMILY__FAMILY_INET4 :
	    WEIGHTD__V1__FAMILY__FAMILY_INET6;
	out->port = l->port;
	out->socket_id = l->inode;
	if (l->family == WD_INET6)
		out->dual_stack = wd_say_tristate(l->v6only == WD_NO ? WD_YES :
			l->v6only == WD_YES                          ? WD_NO :
					      WD_NOT_KNOWN);
	out->mptcp = l->mptcp;
	out->interface_index = l->interface;
	if (l->by_primary)
		WD_BUILD_PUSH(
		    b, out, witnesses, WEIGHTD__V1__WITNESS__WITNESS_SOCK_DIAG);
	if (l->by_second)
		WD_BUILD_PUSH(
		    b, out, witnesses, WEIGHTD__V1__WITNESS__WITNESS_PROC_NET);
	out->owners_state = look->owners_state[index];
	if (look->listener_group[index] != WD_NONE) {
		out->group_presence_case =
		    WEIGHTD__V1__LISTENER__GROUP_PRESENCE_GROUP;
		out->group = (uint32_t)look->listener_group[index];
	}
	for (i = 0; i < look->holders.count; i++) {
		const struct wd_holder *h = &look->holders.items[i];
		Weightd__V1__Owner *owner;

		if (h->inode != l->inode || l->inode == 0)
			continue;
		owner = WD_BUILD_ADD(
		    b, out, owners, &weightd__v1__owner__descriptor);
		if (owner == NULL)
			return;
		wd_say_owner(h, owner);
	}
}

void
wd_say_blind(struct wd_build *b, const struct wd_blind *blind,
    Weightd__V1__BlindSpot__Scope scope, Weightd__V1__BlindSpot *out)
{
	out->scope = scope;
	out->pid = blind->pid;
	wd_build_text(b, &out->what, blind->what);
	wd_build_text(b, &out->reason, blind->reason);
	wd_build_text(b, &out->remedy, blind->remedy);
}

static void
say_blinds(struct wd_build *b, const struct wd_blinds *blinds,
    Weightd__V1__BlindSpot__Scope scope, Weightd__V1__Attestation *out)
{
	size_t i;

	for (i = 0; i < blinds->count; i++) {
		Weightd__V1__BlindSpot *spot = WD_BUILD_ADD(
		    b, out, blind_spots, &weightd__v1__blind_spot__descriptor);

		if (spot == NULL)
			return;
		wd_say_blind(b, &blinds->items[i], scope, spot);
	}
}

#define SCOPE(name) WEIGHTD__V1__BLIND_SPOT__SCOPE__SCOPE_##name

static void
say_all_blinds(struct wd_build *b, const struct wd_look *look,
    Weightd__V1__Attestation *out)
{
	struct wd_blinds store = { NULL, 0, 0 };
	struct wd_error why;
	size_t i;

	wd_error_init(&why);
	/* Beside a connection, listeners are shown and decide nothing. */
	say_blinds(b, &look->listeners.blinds,
	    wd_look_has_connection(look) ? SCOPE(OTHER) : SCOPE(LISTENERS),
	    out);
	say_blinds(b, &look->listener_blinds, SCOPE(LISTENERS), out);
	say_blinds(b, &look->holders.blinds, SCOPE(OWNERS), out);
	say_blinds(b, &look->owner_blinds, SCOPE(OWNERS), out);
	if (look->group_count > 0 || look->listeners.count > 0)
		say_blinds(b, &look->pids.blinds, SCOPE(WEIGHTS), out);
	say_blinds(b, &look->weight_blinds, SCOPE(WEIGHTS), out);
	for (i = 0; i < look->member_count; i++) {
		say_blinds(
		    b, &look->members[i].mappings.blinds, SCOPE(WEIGHTS), out);
		say_blinds(b, &look->members[i].descriptors.blinds,
		    SCOPE(WEIGHTS), out);
	}
	say_blinds(b, &look->other_blinds, SCOPE(OTHER), out);
	if (wd_store_state(look->with->store, &why) != WD_OK &&
	    wd_blinds_add(&store, why.status, 0,
		"digests are computed anew for every question until it works",
		"digest cache", why.message) == WD_OK)
		say_blinds(b, &store, SCOPE(OTHER), out);
	wd_blinds_release(&store);
}

static void
say_checks(struct wd_build *b, const struct wd_look *look,
    Weightd__V1__Attestation *out)
{
	if (look->listeners.looks > 0)
		WD_BUILD_PUSH(b, out, checks_performed, CHECK(LISTENERS));
	if (look->listeners.agreed)
		WD_BUILD_PUSH(b, out, checks_performed, CHECK(LISTENERS_TWICE));
	if (look->holders.complete)
		WD_BUILD_PUSH(b, out, checks_performed, CHECK(OWNERS));
	if (look->identity_again)
		WD_BUILD_PUSH(b, out, checks_performed, CHECK(IDENTITY_AGAIN));
	if (look->owners_again)
		WD_BUILD_PUSH(b, out, checks_performed, CHECK(OWNERS_AGAIN));
	if (look->mappings_again)
		WD_BUILD_PUSH(b, out, checks_performed, CHECK(MAPPINGS_AGAIN));
	if (look->files_again)
		WD_BUILD_PUSH(b, out, checks_performed, CHECK(FILES_AGAIN));
	if (look->accepted.again)
		WD_BUILD_PUSH(b, out, checks_performed, CHECK(CONNECTION));
}

Weightd__V1__HostIdentity *
wd_say_host(struct wd_build *b, const struct wd_host_identity *host)
{
	Weightd__V1__HostIdentity *out =
	    wd_build_new(b, &weightd__v1__host_identity__descriptor);

	if (out == NULL)
		return NULL;
	wd_build_text(b, &out->hostname, host->hostname);
	wd_build_text(b, &out->boot_id, host->boot_id);
	wd_build_text(b, &out->operating_system, host->os);
	wd_build_text(b, &out->agent_version, WD_VERSION);
	out->netns = host->netns;
	return out;
}

static void
say_question(struct wd_build *b, const struct wd_look *look,
    Weightd__V1__Attestation *out)
{
	out->question = wd_build_new(b, &weightd__v1__question__descriptor);
	if (out->question == NULL)
		return;
	out->question->port = look->question->port;
	out->question->netns = look->question->netns;
	out->question->all_namespaces = look->question->all_namespaces;
	wd_build_text(b, &out->question->address, look->question->address);
}

static void
say_moved(struct wd_build *b, const struct wd_look *look,
    Weightd__V1__Attestation *out)
{
	unsigned bit;

	for (bit = WEIGHTD__V1__MOVED__MOVED_LISTENERS;
	     bit <= WEIGHTD__V1__MOVED__MOVED_CONNECTION; bit++)
		if (look->moved & (1U << bit))
			WD_BUILD_PUSH(b, out, moved, (Weightd__V1__Moved)bit);
}

/* NONE would say that somebody looked everywhere. */
static bool
is_blind(const struct wd_look *look)
{
	size_t i;

	if (wd_look_has_connection(look))
		return look->accepted.state !=
		    WEIGHTD__V1__CONNECTION_STATE__CONNECTION_STATE_FOUND;
	for (i = 0; i < look->listeners.count; i++)
		if (look->owners_state[i] !=
		    WEIGHTD__V1__OWNERS_STATE__OWNERS_STATE_FOUND)
			return true;
	return !look->listeners.complete;
}

static Weightd__V1__Group *
add_group(struct wd_build *b, const struct wd_group *group,
    Weightd__V1__Attestation *out)
{
	if (group->orphan_weights)
		return WD_BUILD_ADD(
		    b, out, orphans, &weightd__v1__group__descriptor);
	if (group->behind)
		return WD_BUILD_ADD(
		    b, out, behind, &weightd__v1__group__descriptor);
	return WD_BUILD_ADD(b, out, groups, &weightd__v1__group__descriptor);
}

static void
say_groups(
    struct wd_build *b, struct wd_look *look, Weightd__V1__Attestation *out)
{
	size_t i;

	out->grade = GRADE(NONE);
	for (i = 0; i < look->group_count && b->status == WD_OK; i++) {
		struct wd_group *group = &look->groups[i];
		Weightd__V1__Group *said = add_group(b, group, out);

		if (said == NULL)
			return;
		wd_say_group(b, look, group, said);
		if (!group->orphan_weights && !group->behind &&
		    (out->n_groups == 1 || said->grade < out->grade))
			out->grade = said->grade;
	}
	if (is_blind(look))
		out->grade = GRADE(BLIND);
	if (out->n_groups > 1)
		WD_BUILD_PUSH(b, out, flags, FLAG(AMBIGUOUS));
	if (out->n_orphans > 0)
		WD_BUILD_PUSH(b, out, flags, FLAG(ORPHAN_WEIGHTS));
}

enum wd_status
wd_look_message(struct wd_look *look, Weightd__V1__Attestation **attestation,
    struct wd_error *err)
{
	struct wd_build b = wd_build_init();
	Weightd__V1__Attestation *out =
	    wd_build_new(&b, &weightd__v1__attestation__descriptor);
	size_t i;

	if (out == NULL)
		return wd_fail(err, WD_NOMEM, "attestation: out of memory");
	say_question(&b, look, out);
	out->host = wd_say_host(&b, &look->host);
	wd_build_time(&b, &out->started_at, look->memo->started_real_ns);
	wd_build_time(&b, &out->ended_at, wd_clock_real_ns(look->with->clock));
	for (i = 0; i < look->listeners.count && b.status == WD_OK; i++) {
		Weightd__V1__Listener *l = WD_BUILD_ADD(
		    &b, out, listeners, &weightd__v1__listener__descriptor);

		if (l != NULL)
			say_listener(&b, look, i, l);
	}
	wd_say_connection(&b, look, out);
	out->listeners_complete = look->listeners.complete;
	out->agreeing_looks = look->listeners.agreed ? 2 :
	    look->listeners.looks > 0                ? 1 :
						       0;
	for (i = 0; i < look->member_count && b.status == WD_OK; i++) {
		Weightd__V1__Process *p = WD_BUILD_ADD(
		    &b, out, processes, &weightd__v1__process__descriptor);

		if (p != NULL)
			wd_say_process(&b, look, &look->members[i], p);
	}
	say_groups(&b, look, out);
	say_all_blinds(&b, look, out);
	say_checks(&b, look, out);
	say_moved(&b, look, out);
	out->retries = look->retries;
	if (b.status != WD_OK) {
		wd_message_free(out);
		return wd_fail(
		    err, b.status, "attestation: %s", wd_status_name(b.status));
	}
	*attestation = out;
	return WD_OK;
}
