#include <inttypes.h>
#include <stdio.h>

#include "base/escape.h"
#include "verdict/parts.h"

static const Weightd__V1__Candidate *
weights_held(const Weightd__V1__Group *group)
{
	size_t i;

	for (i = 0; group != NULL && i < group->n_candidates; i++)
		if (wd_candidate_grade(group->candidates[i]) >=
		    WD_GRADE(INFERRED))
			return group->candidates[i];
	return NULL;
}

static bool
is_routed(
    const Weightd__V1__Expectation *expectation, const Weightd__V1__Hop *hop)
{
	size_t i;

	for (i = 0; i < expectation->n_routes; i++)
		if (expectation->routes[i]->port == hop->port)
			return true;
	return false;
}

static const Weightd__V1__Hop *
stray_hop(const Weightd__V1__Expectation *expectation,
    const Weightd__V1__Group *group)
{
	size_t i;

	/* without routes in the expectation there is nothing to be outside */
	if (group == NULL || expectation->n_routes == 0)
		return NULL;
	for (i = 0; i < group->n_hops; i++)
		if (!is_routed(expectation, group->hops[i]))
			return group->hops[i];
	return NULL;
}

const char *
wd_hop_label(const Weightd__V1__Hop *hop, char label[WD_LABEL_BYTES])
{
	char address[80];

	if (hop->port != 0)
		(void)snprintf(label, WD_LABEL_BYTES, "%s port %" PRIu32,
		    wd_escape_short(
			address, sizeof(address), wd_slice_text(hop->address)),
		    hop->port);
	else if (hop->peer_pid != 0)
		(void)snprintf(label, WD_LABEL_BYTES, "pid %" PRId32 " %s",
		    hop->peer_pid,
		    hop->kind == WEIGHTD__V1__HOP__KIND__KIND_UNIX_SOCKET ?
			"by a unix socket" :
			"without a TCP port");
	else
		(void)snprintf(
		    label, WD_LABEL_BYTES, "a process without a TCP port");
	return label;
}

/* "8081, 8082": the workers, those of the routes when there are any. */
static void
name_workers(const Weightd__V1__Expectation *e, const Weightd__V1__Group *group,
    char *text, size_t size)
{
	size_t hops = group == NULL ? 0 : group->n_hops;
	size_t count = e->n_routes > 0 ? e->n_routes : hops, i, len = 0;
	char label[WD_LABEL_BYTES];
	int wrote;

	(void)snprintf(text, size, "not seen");
	for (i = 0; i < count && len < size; i++) {
		if (e->n_routes > 0)
			(void)snprintf(label, sizeof(label), "%" PRIu32,
			    e->routes[i]->port);
		else
			(void)wd_hop_label(group->hops[i], label);
		wrote = snprintf(
		    text + len, size - len, "%s%s", i == 0 ? "" : ", ", label);
		len += wrote > 0 ? (size_t)wrote : 0;
	}
}

static bool
rule_group(const Weightd__V1__Group *group, const Weightd__V1__Expectation *e,
    uint32_t port, struct wd_ruling *ruling)
{
	const Weightd__V1__Candidate *held = weights_held(group);
	const Weightd__V1__Hop *hop = stray_hop(e, group);
	char text[WD_LABEL_BYTES];

	if (held != NULL)
		return wd_rule(ruling, WD_VERDICT(MISMATCH), 6,
		    "port %" PRIu32 ": a forwarder was expected, and it holds "
		    "weights itself (%s); correct the expectation or the "
		    "server",
		    port, wd_candidate_label(held, text));
	if (hop == NULL)
		return false;
	return wd_rule(ruling, WD_VERDICT(MISMATCH), 6,
	    "port %" PRIu32 ": it passes traffic to %s, which no route names; "
	    "correct the routes or the forwarder",
	    port, wd_hop_label(hop, text));
}

bool
wd_rule_forwarder(const struct wd_unit *units, size_t count,
    const Weightd__V1__Expectation *expectation, uint32_t port,
    struct wd_ruling *ruling)
{
	char text[WD_LABEL_BYTES];
	size_t i;

	for (i = 0; i < count; i++)
		if (rule_group(units[i].group, expectation, port, ruling))
			return true;
	name_workers(expectation, units[0].group, text, sizeof(text));
	return wd_rule(ruling, WD_VERDICT(UNVERIFIABLE), 6,
	    "port %" PRIu32 ": a forwarder proves nothing by itself; ask each "
	    "of its workers at its own port (%s)",
	    port, text);
}
