#include "verdict/verdict.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/mem.h"
#include "verdict/parts.h"

#define OWNERS(name) WEIGHTD__V1__OWNERS_STATE__OWNERS_STATE_##name
#define SCOPE(name) WEIGHTD__V1__BLIND_SPOT__SCOPE__SCOPE_##name

/* One judgement in the making. */
struct judging {
	const Weightd__V1__Expectation *expectation;
	const Weightd__V1__Attestation *attestation;
	struct wd_unit *units;
	size_t unit_count;
	struct wd_comparison *comparisons; /* one a unit */
	struct wd_build build;
	Weightd__V1__Verdict *verdict;
};

bool
wd_rule(struct wd_ruling *ruling, Weightd__V1__VerdictKind kind, uint32_t line,
    const char *format, ...)
{
	va_list args;

	ruling->kind = kind;
	ruling->line = line;
	va_start(args, format);
	(void)vsnprintf(ruling->reason, sizeof(ruling->reason), format, args);
	va_end(args);
	return true;
}

/* ---- the units: what there is to judge ------------------------------------
 */

static const Weightd__V1__Group *
group_of(const Weightd__V1__Attestation *attestation,
    const Weightd__V1__Listener *listener, uint32_t *index)
{
	if (listener->group_presence_case !=
		WEIGHTD__V1__LISTENER__GROUP_PRESENCE_GROUP ||
	    listener->group >= attestation->n_groups)
		return NULL;
	*index = listener->group;
	return attestation->groups[listener->group];
}

/* Two listeners of one group (one for each family, say) are judged once. */
static bool
is_listed(const struct judging *j, const Weightd__V1__Group *group)
{
	size_t i;

	for (i = 0; i < j->unit_count; i++)
		if (j->units[i].group == group)
			return true;
	return false;
}

static void
add_unit(struct judging *j, const Weightd__V1__Group *group, uint32_t index,
    const Weightd__V1__Candidate *model, uint32_t model_index)
{
	j->units[j->unit_count++] = (struct wd_unit){ j->attestation, group,
		index, model, model_index };
}

static void
add_group(struct judging *j, const Weightd__V1__Group *group, uint32_t index)
{
	size_t before = j->unit_count;
	uint32_t i;

	if (is_listed(j, group))
		return;
	for (i = 0; group != NULL && i < group->n_candidates; i++)
		if (!wd_is_companion(group->candidates[i]))
			add_unit(j, group, index, group->candidates[i], i);
	if (j->unit_count == before)
		add_unit(j, group, index, NULL, 0);
}

/* Those behind the connection, when one was asked about; else those behind
 * every listener. */
static void
add_groups(struct judging *j)
{
	const Weightd__V1__Attestation *all = j->attestation;
	const Weightd__V1__Group *group;
	uint32_t index = 0;
	size_t i;

	if (wd_is_about_connection(all)) {
		group = wd_connection_group(all, &index);
		add_group(j, group, index);
		return;
	}
	for (i = 0; i < all->n_listeners; i++) {
		index = 0;
		group = group_of(all, all->listeners[i], &index);
		add_group(j, group, index);
	}
}

/* At most one unit for every candidate and one for every listener, or for the
 * connection. */
static enum wd_status
collect_units(struct judging *j)
{
	const Weightd__V1__Attestation *all = j->attestation;
	size_t most = all->n_listeners + 1, i;

	for (i = 0; i < all->n_groups; i++)
		most += all->groups[i]->n_candidates;
	j->units = wd_calloc(most, sizeof(*j->units));
	j->comparisons = wd_calloc(most, sizeof(*j->comparisons));
	if (j->units == NULL || j->comparisons == NULL)
		return WD_NOMEM;
	add_groups(j);
	for (i = 0; i < j->unit_count; i++)
		wd_compare_unit(&j->units[i], j->expectation, &j->build,
		    j->verdict, &j->comparisons[i]);
	return WD_OK;
}

/* ---- lines 2 to 6: the port -----------------------------------------------
 */

static bool
is_disabled(const struct judging *j)
{
	return wd_expected_role(j->expectation) == WD_ROLE_OF(DISABLED);
}

static bool
is_forwarder(const struct judging *j)
{
	return wd_expected_role(j->expectation) == WD_ROLE_OF(FORWARDER);
}

static uint32_t
port_of(const struct judging *j)
{
	const Weightd__V1__Attestation *all = j->attestation;

	return all->question == NULL ? 0 : all->question->port;
}

static bool
is_owned(const Weightd__V1__Listener *listener)
{
	return listener->owners_state == OWNERS(FOUND) &&
	    listener->n_owners > 0;
}

static bool
all_owned(const Weightd__V1__Attestation *all)
{
	size_t i;

	for (i = 0; i < all->n_listeners; i++)
		if (!is_owned(all->listeners[i]))
			return false;
	return true;
}

/* A companion whose digest is pinned needs the same checks as the model. */
static bool
rule_companion_checks(const struct wd_unit *unit,
    const Weightd__V1__Expectation *e, struct wd_ruling *ruling)
{
	struct wd_unit beside = *unit;
	size_t i;

	for (i = 0; unit->group != NULL && i < unit->group->n_candidates; i++) {
		beside.model = unit->group->candidates[i];
		if (wd_is_pinned_companion(beside.model, e) &&
		    wd_rule_checks(&beside, e, ruling))
			return true;
	}
	return false;
}

static bool
rule_line_2(const struct judging *j, struct wd_ruling *ruling)
{
	const Weightd__V1__Attestation *all = j->attestation;
	bool by_connection = wd_is_about_connection(all);
	size_t i;

	if (by_connection && wd_rule_connection_check(all, ruling))
		return true;
	if (!by_connection && all->listeners_complete &&
	    !wd_has_check(all->checks_performed, all->n_checks_performed,
		WD_CHECK(LISTENERS)))
		return wd_rule(ruling, WD_VERDICT(UNVERIFIABLE), 2,
		    "port %" PRIu32 ": the agent did not make the check "
		    "LISTENERS, needed to know what listens; ask a newer "
		    "agent",
		    port_of(j));
	if (is_disabled(j) || is_forwarder(j) ||
	    !(by_connection ? wd_connection_is_owned(all) : all_owned(all)))
		return false;
	for (i = 0; i < j->unit_count; i++)
		if (wd_rule_checks(&j->units[i], j->expectation, ruling) ||
		    rule_companion_checks(&j->units[i], j->expectation, ruling))
			return true;
	return false;
}

static bool
rule_spot(const struct judging *j, uint32_t line, const char *what,
    Weightd__V1__BlindSpot__Scope scope, struct wd_ruling *ruling)
{
	return wd_rule_spot(j->attestation, line, what, scope, ruling);
}

static bool
rule_line_3(const struct judging *j, struct wd_ruling *ruling)
{
	const Weightd__V1__Attestation *all = j->attestation;
	bool by_connection = wd_is_about_connection(all);

	if (by_connection && wd_rule_connection_unseen(all, ruling))
		return true;
	if ((!by_connection && !all->listeners_complete) ||
	    wd_blind_spot_of(all, SCOPE(LISTENERS)) != NULL)
		return rule_spot(j, 3, "not every listener could be seen",
		    SCOPE(LISTENERS), ruling);
	if (all->n_moved > 0)
		return wd_rule(ruling, WD_VERDICT(UNVERIFIABLE), 3,
		    "port %" PRIu32 ": what was seen still moved after %" PRIu32
		    " more tries; ask again when the server is at rest",
		    port_of(j), all->retries);
	if (!by_connection && all->n_listeners == 0 && all->agreeing_looks < 2)
		return wd_rule(ruling, WD_VERDICT(UNVERIFIABLE), 3,
		    "port %" PRIu32 ": no listener was found, by one look "
		    "only; a second one must agree: ask again",
		    port_of(j));
	return false;
}

static bool
rule_disabled(const struct judging *j, struct wd_ruling *ruling)
{
	return wd_rule(ruling, WD_VERDICT(MISMATCH), 4,
	    "port %" PRIu32 ": something listens where nothing may; stop it, "
	    "or correct the expectation",
	    port_of(j));
}

static bool
rule_line_4(const struct judging *j, struct wd_ruling *ruling)
{
	const Weightd__V1__Attestation *all = j->attestation;

	/* Whoever has a connection is served: something is there, whatever
	 * else is known of the port. */
	if (wd_is_about_connection(all))
		return is_disabled(j) && rule_disabled(j, ruling);
	if (all->n_listeners == 0 && is_disabled(j))
		return wd_rule(ruling, WD_VERDICT(MATCH), 4,
		    "port %" PRIu32 ": nothing listens, as expected",
		    port_of(j));
	if (all->n_listeners == 0)
		return wd_rule(ruling, WD_VERDICT(MISSING), 4,
		    "port %" PRIu32 ": nothing listens; start the server, or "
		    "ask for its address or network namespace",
		    port_of(j));
	return is_disabled(j) && rule_disabled(j, ruling);
}

static const char *
owners_text(const Weightd__V1__Listener *listener)
{
	static const struct wd_word words[] = {
		{ OWNERS(NONE),
		    "no process that can be seen holds the listener: the "
		    "kernel does, or one in a place that was not looked at" },
		{ OWNERS(HIDDEN),
		    "a process that may not be looked into could hold the "
		    "listener" },
		{ OWNERS(VANISHED),
		    "the listener's owner went away during the look" },
		{ OWNERS(PARTLY),
		    "some owners were found, others may be hidden" },
	};

	return WD_WORD(words, listener->owners_state,
	    "the listener's owners were not looked for");
}

static bool
rule_line_5(const struct judging *j, struct wd_ruling *ruling)
{
	const Weightd__V1__Attestation *all = j->attestation;
	bool by_connection = wd_is_about_connection(all);
	size_t i;

	if (by_connection && wd_rule_connection_unowned(all, ruling))
		return true;
	for (i = 0; !by_connection && i < all->n_listeners; i++)
		if (!is_owned(all->listeners[i]))
			return rule_spot(j, 5, owners_text(all->listeners[i]),
			    SCOPE(OWNERS), ruling);
	if (wd_blind_spot_of(all, SCOPE(OWNERS)) != NULL)
		return rule_spot(j, 5, "further owners may be hidden",
		    SCOPE(OWNERS), ruling);
	return false;
}

/* ---- lines 8 to 12: one unit ----------------------------------------------
 */

static bool
rule_line_9(const struct wd_unit *unit, const struct wd_comparison *seen,
    struct wd_ruling *ruling)
{
	char label[WD_LABEL_BYTES], more[32] = "";

	if (seen->different == 0)
		return false;
	if (seen->different > 1)
		(void)snprintf(
		    more, sizeof(more), " (and %zu more)", seen->different - 1);
	return wd_rule(ruling, WD_VERDICT(MISMATCH), 9,
	    "%s: %s%s; other weights or settings than expected are served: "
	    "start the right ones, or correct the expectation",
	    wd_candidate_label(unit->model, label), seen->first_difference,
	    more);
}

static bool
rule_line_10(const struct wd_unit *unit, const struct wd_comparison *seen,
    struct wd_ruling *ruling)
{
	char label[WD_LABEL_BYTES];

	if (seen->unknown == 0)
		return false;
	return wd_rule(ruling, WD_VERDICT(UNVERIFIABLE), 10, "%s: %s",
	    wd_candidate_label(unit->model, label), seen->first_unknown);
}

static bool
rule_line_11(const struct wd_unit *unit,
    const Weightd__V1__Expectation *expectation, struct wd_ruling *ruling)
{
	char label[WD_LABEL_BYTES];

	if (!wd_expects_model(expectation) || wd_expects_weights(expectation) ||
	    expectation->allow_name_only)
		return false;
	return wd_rule(ruling, WD_VERDICT(UNVERIFIABLE), 11,
	    "%s: only a name is pinned, and a name is no proof; pin "
	    "--params, --recipe, --digest or --encoding, or say "
	    "--allow-name-only",
	    wd_candidate_label(unit->model, label));
}

static bool
rule_line_12(const struct wd_unit *unit,
    const Weightd__V1__Expectation *expectation, struct wd_ruling *ruling)
{
	char label[WD_LABEL_BYTES];

	wd_candidate_label(unit->model, label);
	return wd_rule(ruling, WD_VERDICT(MATCH), 12, "%s: grade %s%s", label,
	    wd_grade_word(wd_candidate_grade(unit->model)),
	    wd_expects_anything(expectation) ?
		", everything that is pinned is equal" :
		", nothing was compared");
}

static void
rule_unit(const struct judging *j, size_t at, struct wd_ruling *ruling)
{
	const struct wd_unit *unit = &j->units[at];
	const struct wd_comparison *seen = &j->comparisons[at];
	bool has_pins = wd_expects_anything(j->expectation);

	if (wd_rule_sound(unit, j->expectation, ruling))
		return;
	if (has_pins &&
	    (rule_line_9(unit, seen, ruling) ||
		rule_line_10(unit, seen, ruling) ||
		rule_line_11(unit, j->expectation, ruling)))
		return;
	(void)rule_line_12(unit, j->expectation, ruling);
}

/* ---- line 7: several ------------------------------------------------------
 */

static void
add_part(
    struct judging *j, const struct wd_unit *unit, const struct wd_ruling *one)
{
	Weightd__V1__PartVerdict *part = WD_BUILD_ADD(&j->build, j->verdict,
	    parts, &weightd__v1__part_verdict__descriptor);

	if (part == NULL)
		return;
	part->group = unit->group_index;
	part->kind = one->kind;
	part->line = one->line;
	wd_build_text(&j->build, &part->reason, one->reason);
	if (unit->model == NULL)
		return;
	part->candidate =
	    wd_build_new(&j->build, &weightd__v1__candidate_ref__descriptor);
	if (part->candidate == NULL)
		return;
	part->candidate->group = unit->group_index;
	part->candidate->candidate = unit->model_index;
}

static void
rule_line_7(struct judging *j, struct wd_ruling *ruling)
{
	size_t i, matching = 0, mismatching = 0, count = j->unit_count;
	struct wd_ruling one;

	for (i = 0; i < count; i++) {
		rule_unit(j, i, &one);
		matching += one.kind == WD_VERDICT(MATCH) ? 1 : 0;
		mismatching += one.kind == WD_VERDICT(MISMATCH) ? 1 : 0;
		add_part(j, &j->units[i], &one);
	}
	if (matching == count)
		(void)wd_rule(ruling, WD_VERDICT(MATCH), 7,
		    "port %" PRIu32 ": all %zu candidates match", port_of(j),
		    count);
	else if (mismatching == count)
		(void)wd_rule(ruling, WD_VERDICT(MISMATCH), 7,
		    "port %" PRIu32 ": none of %zu candidates is what was "
		    "expected; start the right one, or correct the "
		    "expectation",
		    port_of(j), count);
	else
		(void)wd_rule(ruling, WD_VERDICT(UNVERIFIABLE), 7,
		    "port %" PRIu32 ": %zu candidates could answer, %zu "
		    "match and %zu do not; leave one, or name it with "
		    "--address or --netns",
		    port_of(j), count, matching, mismatching);
}

/* ---- the table ------------------------------------------------------------
 */

static void
walk_table(struct judging *j, struct wd_ruling *ruling)
{
	if (rule_line_2(j, ruling) || rule_line_3(j, ruling) ||
	    rule_line_4(j, ruling) || rule_line_5(j, ruling) ||
	    (is_forwarder(j) &&
		wd_rule_forwarder(j->units, j->unit_count, j->expectation,
		    port_of(j), ruling)))
		return;
	if (j->unit_count > 1)
		rule_line_7(j, ruling);
	else
		rule_unit(j, 0, ruling);
}

/* Whether run settings could have been pinned. */
static bool
knows_options(const struct judging *j)
{
	size_t i;

	for (i = 0; i < j->unit_count; i++)
		if (j->units[i].group == NULL ||
		    !wd_has_check(j->units[i].group->checks_performed,
			j->units[i].group->n_checks_performed,
			WD_CHECK(RUN_SETTINGS)))
			return false;
	return true;
}

/* Decides, unless a line before the table was walked has done so. */
static void
finish(struct judging *j, struct wd_ruling *ruling)
{
	Weightd__V1__Verdict *verdict = j->verdict;

	if (ruling->line == 0)
		walk_table(j, ruling);
	verdict->kind = ruling->kind;
	verdict->line = ruling->line;
	verdict->without_expectation = !wd_expects_anything(j->expectation) &&
	    !is_disabled(j) && !is_forwarder(j);
	wd_build_text(&j->build, &verdict->reason, ruling->reason);
	if (ruling->kind == WD_VERDICT(MATCH) && !is_disabled(j))
		wd_list_not_pinned(
		    j->expectation, knows_options(j), &j->build, verdict);
}

static void
release(struct judging *j)
{
	wd_free(j->units);
	wd_free(j->comparisons);
	wd_message_free(j->verdict);
}

static enum wd_status
make_verdict(struct judging *j, struct wd_ruling *ruling,
    Weightd__V1__Verdict **verdict, struct wd_error *err)
{
	enum wd_status st;

	j->build = wd_build_init();
	j->verdict = wd_build_new(&j->build, &weightd__v1__verdict__descriptor);
	if (j->verdict == NULL)
		return wd_fail(err, WD_NOMEM, "no memory for a verdict");
	st = j->attestation == NULL ? WD_OK : collect_units(j);
	if (st == WD_OK)
		finish(j, ruling);
	if (st == WD_OK)
		st = j->build.status;
	if (st == WD_OK)
		*verdict = wd_steal(&j->verdict);
	release(j);
	return st == WD_OK ? WD_OK :
			     wd_fail(err, st, "no memory for a verdict");
}

enum wd_status
wd_verdict_judge(const Weightd__V1__Expectation *expectation,
    const Weightd__V1__Attestation *attestation, const char *unreachable,
    Weightd__V1__Verdict **verdict, struct wd_error *err)
{
	struct judging j = { .expectation = expectation,
		.attestation = attestation };
	struct wd_ruling ruling = { .line = 0 };
	struct wd_error why;
	enum wd_status st;

	wd_error_init(&why);
	st = wd_expectation_check(expectation, &why);
	if (st == WD_INVALID)
		return wd_fail(err, st, "%s", why.message);
	if (attestation == NULL)
		(void)wd_rule(&ruling, WD_VERDICT(UNREACHABLE), 1, "%s",
		    unreachable == NULL ? "the agent could not be asked" :
					  unreachable);
	else if (st == WD_UNSUPPORTED)
		(void)wd_rule(
		    &ruling, WD_VERDICT(UNVERIFIABLE), 2, "%s", why.message);
	return make_verdict(&j, &ruling, verdict, err);
}

enum wd_status
wd_verdict_refused(
    const char *reason, Weightd__V1__Verdict **verdict, struct wd_error *err)
{
	struct judging j = { .expectation = NULL };
	struct wd_ruling ruling = { .line = 0 };

	(void)wd_rule(&ruling, WD_VERDICT(UNVERIFIABLE), 2,
	    "the agent does not know what was asked: %s", reason);
	return make_verdict(&j, &ruling, verdict, err);
}

int
wd_verdict_exit_code(const Weightd__V1__Verdict *verdict)
{
	if (verdict == NULL)
		return 4;
	if (verdict->kind == WD_VERDICT(MATCH))
		return 0;
	if (verdict->kind == WD_VERDICT(MISMATCH) ||
	    verdict->kind == WD_VERDICT(MISSING) ||
	    verdict->kind == WD_VERDICT(EXTRA))
		return 1;
	return verdict->kind == WD_VERDICT(UNREACHABLE) ? 3 : 4;
}
