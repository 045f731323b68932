/*
 * A group as the message of the schema.
 */
#include <arpa/inet.h>
#include <stdlib.h>

#include "base/mem.h"
#include "evidence/devices.h"
#include "evidence/message.h"

#define FLAG(name) WEIGHTD__V1__FLAG__FLAG_##name
#define GRADE(name) WEIGHTD__V1__GRADE__GRADE_##name
#define CHECK(name) WEIGHTD__V1__CHECK__CHECK_##name

static void
say_claim(struct wd_build *b, const struct wd_look *look,
    const struct wd_claim *claim, Weightd__V1__Claim *out)
{
	if (out == NULL)
		return;
	out->source = claim->source;
	out->pid = look->members[claim->member].pid;
	wd_build_text(b, &out->key, claim->key);
	wd_build_bytes(b, &out->value, wd_bytes_slice(&claim->value));
	out->agrees = wd_say_tristate(claim->agrees);
}

/* Lists of a router can be long: what leads to nothing held is cut short. */
#define MAX_LISTED 7 /* besides the first */

static void
say_claims(struct wd_build *b, const struct wd_look *look,
    const struct wd_group *group, Weightd__V1__Group *out)
{
	Weightd__V1__Claim *last = NULL, *row;
	size_t i, listed = 0;

	for (i = 0; i < group->claim_count && b->status == WD_OK; i++) {
		const struct wd_claim *claim = &group->claims[i];
		bool fold = claim->listed && claim->agrees != WD_YES;

		if (fold && last != NULL && listed++ >= MAX_LISTED) {
			last->folded++;
			continue;
		}
		row = WD_BUILD_ADD(
		    b, out, claims, &weightd__v1__claim__descriptor);
		say_claim(b, look, claim, row);
		last = fold ? row : last;
	}
}

static void
say_group_checks(struct wd_build *b, const struct wd_look *look,
    const struct wd_group *group, Weightd__V1__Group *out)
{
	bool mappings = true, descriptors = true, devices = true;
	size_t i;

	for (i = 0; i < group->member_count; i++) {
		const struct wd_member *m = &look->members[group->members[i]];

		if (!m->candidate)
			continue;
		mappings &= m->mappings_status == WD_OK && m->mappings.complete;
		descriptors &=
		    m->descriptors_status == WD_OK && m->descriptors.complete;
		devices &= wd_member_devices_known(m);
	}
	if (look->pids.complete)
		WD_BUILD_PUSH(b, out, checks_performed, CHECK(GROUP));
	if (mappings)
		WD_BUILD_PUSH(b, out, checks_performed, CHECK(MAPPINGS));
	if (descriptors)
		WD_BUILD_PUSH(b, out, checks_performed, CHECK(DESCRIPTORS));
	if (devices)
		WD_BUILD_PUSH(b, out, checks_performed, CHECK(ACCELERATORS));
	if (group->checked_claims)
		WD_BUILD_PUSH(b, out, checks_performed, CHECK(CLAIMS));
	if (group->engine_asked && group->mutable != WD_NOT_KNOWN)
		WD_BUILD_PUSH(b, out, checks_performed, CHECK(ENGINE));
	if (group->checked_routes)
		WD_BUILD_PUSH(b, out, checks_performed, CHECK(ROUTES));
	if (group->engine_asked && group->run.complete)
		WD_BUILD_PUSH(b, out, checks_performed, CHECK(RUN_SETTINGS));
}

/* What the engine table says. */
static void
say_engine(
    struct wd_build *b, const struct wd_group *group, Weightd__V1__Group *out)
{
	size_t i;

	if (!group->engine_asked)
		return;
	if (group->mutable == WD_YES)
		WD_BUILD_PUSH(b, out, flags, FLAG(MUTABLE));
	if (group->partial == WD_YES)
		WD_BUILD_PUSH(b, out, flags, FLAG(PARTIAL));
	for (i = 0; i < group->run.count; i++) {
		Weightd__V1__Setting *setting = WD_BUILD_ADD(
		    b, out, run_settings, &weightd__v1__setting__descriptor);

		if (setting == NULL)
			return;
		wd_build_text(b, &setting->key, group->run.items[i].key);
		wd_build_text(b, &setting->value, group->run.items[i].value);
	}
}

/* NONE only when everything was seen and nothing is left unexplained. */
static Weightd__V1__Grade
group_grade(const struct wd_group *group, size_t *models)
{
	Weightd__V1__Grade lowest = GRADE(RESIDENT);
	size_t i;

	*models = 0;
	for (i = 0; i < group->model_count; i++) {
		if (group->models[i].kind != WD_KIND_MODEL)
			continue;
		++*models;
		if (group->models[i].grade < lowest)
			lowest = group->models[i].grade;
	}
	if (!group->members_complete)
		return GRADE(BLIND);
	if (*models > 0)
		return lowest;
	return group->unexplained ? GRADE(BLIND) : GRADE(NONE);
}

/* Models before companions, then by path: the same order every time. */
static int
compare_models(const void *a, const void *b)
{
	const struct wd_model *x = *(struct wd_model *const *)a;
	const struct wd_model *y = *(struct wd_model *const *)b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return wd_slice_compare(
	    wd_bytes_slice(&x->path), wd_bytes_slice(&y->path));
}

static void
say_models(struct wd_build *b, const struct wd_look *look,
    struct wd_group *group, Weightd__V1__Group *out)
{
	WD_CLEANUP(wd_free_scoped) struct wd_model **sorted = NULL;
	size_t i;

	sorted = wd_calloc(group->model_count, sizeof(*sorted));
	if (sorted == NULL) {
		b->status = WD_NOMEM;
		return;
	}
	for (i = 0; i < group->model_count; i++)
		sorted[i] = &group->models[i];
	if (group->model_count > 1)
		qsort(sorted, group->model_count, sizeof(*sorted),
		    compare_models);
	for (i = 0; i < group->model_count && b->status == WD_OK; i++) {
		Weightd__V1__Candidate *c = WD_BUILD_ADD(
		    b, out, candidates, &weightd__v1__candidate__descriptor);

		if (c != NULL)
			wd_say_candidate(b, look, group, sorted[i], c);
	}
}

static Weightd__V1__Hop__Kind
hop_kind(enum wd_hop_kind kind)
{
	switch (kind) {
	case WD_HOP_CHILD:
		return WEIGHTD__V1__HOP__KIND__KIND_CHILD;
	case WD_HOP_CONNECTION:
		return WEIGHTD__V1__HOP__KIND__KIND_CONNECTION;
	case WD_HOP_REMOTE:
		return WEIGHTD__V1__HOP__KIND__KIND_REMOTE;
	case WD_HOP_PUBLISHED:
		return WEIGHTD__V1__HOP__KIND__KIND_PUBLISHED;
	case WD_HOP_UNIX:
		return WEIGHTD__V1__HOP__KIND__KIND_UNIX_SOCKET;
	}
	return WEIGHTD__V1__HOP__KIND__KIND_UNSPECIFIED;
}

/* The place of a group among those that hops lead to. */
static uint32_t
index_behind(const struct wd_look *look, size_t group)
{
	uint32_t index = 0;
	size_t i;

	for (i = 0; i < group; i++)
		index += look->groups[i].behind;
	return index;
}

/* The container of those who listen at the end of a published port. */
static const char *
container_behind(const struct wd_look *look, const struct wd_hop *hop)
{
	const struct wd_group *group;
	size_t i;

	if (hop->group == WD_NONE)
		return "";
	group = &look->groups[hop->group];
	for (i = 0; i < group->member_count; i++) {
		const char *container =
		    look->members[group->members[i]].process.container;

		if (container != NULL)
			return container;
	}
	return "";
}

static void
say_hops(struct wd_build *b, const struct wd_look *look,
    const struct wd_group *group, Weightd__V1__Group *out)
{
	size_t i;

	for (i = 0; i < group->hop_count; i++) {
		const struct wd_hop *hop = &group->hops[i];
		char address[INET6_ADDRSTRLEN] = "";
		Weightd__V1__Hop *said =
		    WD_BUILD_ADD(b, out, hops, &weightd__v1__hop__descriptor);

		if (said == NULL)
			return;
		if (hop->port != 0)
			(void)inet_ntop(
			    hop->family == WD_INET4 ? AF_INET : AF_INET6,
			    hop->address, address, sizeof(address));
		wd_build_text(b, &said->address, address);
		said->kind = hop_kind(hop->kind);
		said->pid = hop->pid;
		said->peer_pid = hop->peer;
		said->port = hop->port;
		said->netns = hop->netns;
		said->samples = hop->samples;
		if (hop->kind == WD_HOP_PUBLISHED)
			wd_build_text(
			    b, &said->container, container_behind(look, hop));
		if (hop->group == WD_NONE || !look->groups[hop->group].behind)
			continue;
		said->group_presence_case =
		    WEIGHTD__V1__HOP__GROUP_PRESENCE_GROUP;
		said->group = index_behind(look, hop->group);
	}
}

/* Passes traffic on: it is known by its program to do so, whatever it holds;
 * or it holds no model, and goes somewhere else. Whoever has room for one on a
 * device may answer by itself, wherever else it talks to. */
static bool
is_forwarder(const struct wd_look *look, const struct wd_group *group)
{
	if (group->orphan_weights)
		return false;
	if (wd_group_may_hold_model(group))
		return wd_look_passes_on(look, group);
	if (wd_look_is_proxy(look, group))
		return true;
	return group->hop_count > 0 &&
	    wd_group_on_device(look, group) != WD_YES;
}

void
wd_say_group(struct wd_build *b, const struct wd_look *look,
    struct wd_group *group, Weightd__V1__Group *out)
{
	size_t i, models;

	for (i = 0; i < group->member_count; i++)
		wd_say_pid(b, &out->n_pids, &out->pids,
		    look->members[group->members[i]].pid);
	out->members_complete = group->members_complete;
	out->grade = group_grade(group, &models);
	if (models > 1)
		WD_BUILD_PUSH(b, out, flags, FLAG(AMBIGUOUS));
	for (i = 0; i < group->member_count; i++)
		if (look->members[group->members[i]].role ==
		    WD_MEMBER_ORPHAN_HOLDER) {
			WD_BUILD_PUSH(b, out, flags, FLAG(ORPHAN_HOLDER));
			break;
		}
	if (group->orphan_weights)
		WD_BUILD_PUSH(b, out, flags, FLAG(ORPHAN_WEIGHTS));
	if (group->loading)
		WD_BUILD_PUSH(b, out, flags, FLAG(LOADING));
	if (is_forwarder(look, group))
		WD_BUILD_PUSH(b, out, flags, FLAG(FORWARDER));
	say_engine(b, group, out);
	say_hops(b, look, group, out);
	say_models(b, look, group, out);
	say_claims(b, look, group, out);
	say_group_checks(b, look, group, out);
}
