/* verdict.h: lines 1 to 7, what concerns the port and not one model. */
#include "support/suite.h"
#include "support/verdict_case.h"

/* ---- how the world is spoiled ---------------------------------------------
 */

static void
no_listeners(Weightd__V1__Attestation *all)
{
	while (all->n_listeners > 0)
		wd_message_free(all->listeners[--all->n_listeners]);
}

static void
incomplete(Weightd__V1__Attestation *all)
{
	all->listeners_complete = 0;
	make_blind_spot(all, SCOPE(LISTENERS));
}

static void
incomplete_and_none(Weightd__V1__Attestation *all)
{
	no_listeners(all);
	all->listeners_complete = 0;
}

static void
blind_listeners(Weightd__V1__Attestation *all)
{
	make_blind_spot(all, SCOPE(LISTENERS));
}

static void
none_by_one_look(Weightd__V1__Attestation *all)
{
	no_listeners(all);
	all->agreeing_looks = 1;
}

static void
moving(Weightd__V1__Attestation *all)
{
	make_moved(all, MOVED(OWNERS));
}

static void
moving_and_none(Weightd__V1__Attestation *all)
{
	no_listeners(all);
	make_moved(all, MOVED(LISTENERS));
}

static void
no_look(Weightd__V1__Attestation *all)
{
	drop_check(all, CHECK(LISTENERS));
}

static void
hidden(Weightd__V1__Attestation *all)
{
	all->listeners[0]->owners_state = OWNERS(HIDDEN);
}

static void
vanished(Weightd__V1__Attestation *all)
{
	all->listeners[0]->owners_state = OWNERS(VANISHED);
}

static void
partly(Weightd__V1__Attestation *all)
{
	all->listeners[0]->owners_state = OWNERS(PARTLY);
}

static void
ownerless(Weightd__V1__Attestation *all)
{
	all->listeners[0]->owners_state = OWNERS(NONE);
}

static void
unspecified_owners(Weightd__V1__Attestation *all)
{
	all->listeners[0]->owners_state = OWNERS(UNSPECIFIED);
}

static void
found_but_empty(Weightd__V1__Attestation *all)
{
	Weightd__V1__Listener *listener = all->listeners[0];

	wd_message_free(listener->owners[0]);
	listener->n_owners = 0;
}

static void
blind_owners(Weightd__V1__Attestation *all)
{
	make_blind_spot(all, SCOPE(OWNERS));
}

/* The second of two listeners has an owner that cannot be seen. */
static void
second_hidden(Weightd__V1__Attestation *all)
{
	make_listener(all, "::", 0)->owners_state = OWNERS(HIDDEN);
}

static void
both_families(Weightd__V1__Attestation *all)
{
	make_listener(all, "::", 0);
}

static void
twins(Weightd__V1__Attestation *all)
{
	make_listener(all, "127.0.0.1", 1);
	make_candidate(make_group(all), KIND(MODEL), "Twin");
}

static void
unequal_twins(Weightd__V1__Attestation *all)
{
	twins(all);
	all->groups[1]->candidates[0]->bundle->parameter_count++;
}

static void
strange_twins(Weightd__V1__Attestation *all)
{
	unequal_twins(all);
	model_in(all)->bundle->parameter_count++;
}

static void
weak_twin(Weightd__V1__Attestation *all)
{
	twins(all);
	all->groups[1]->candidates[0]->grade = GRADE(CLAIMED);
}

static void
empty_twin(Weightd__V1__Attestation *all)
{
	make_listener(all, "127.0.0.1", 1);
	make_group(all);
}

static void
groupless_twin(Weightd__V1__Attestation *all)
{
	make_listener(all, "127.0.0.1", 1)->group_presence_case =
	    WEIGHTD__V1__LISTENER__GROUP_PRESENCE__NOT_SET;
}

static void
two_models(Weightd__V1__Attestation *all)
{
	make_candidate(group_in(all), KIND(MODEL), "Second")
	    ->bundle->parameter_count++;
}

static void
two_equal_models(Weightd__V1__Attestation *all)
{
	make_candidate(group_in(all), KIND(MODEL), "Second");
}

static void
model_and_companions(Weightd__V1__Attestation *all)
{
	make_candidate(group_in(all), KIND(DRAFT), "Draft");
	make_candidate(group_in(all), KIND(ADAPTER), "Adapter");
	make_candidate(group_in(all), KIND(PROJECTOR), "Projector");
}

/* A group that no listener leads to is not behind the port. */
static void
stray_group(Weightd__V1__Attestation *all)
{
	make_candidate(make_group(all), KIND(MODEL), "Elsewhere")
	    ->bundle->parameter_count++;
}

static void
lost_group(Weightd__V1__Attestation *all)
{
	all->listeners[0]->group = 99;
}

static void
only_forwards(Weightd__V1__Attestation *all)
{
	Weightd__V1__Group *group = group_in(all);

	wd_message_free(group->candidates[0]);
	group->n_candidates = 0;
	group->grade = GRADE(NONE);
	make_flag(&group->flags, &group->n_flags, FLAG(FORWARDER));
	make_hop(group, "127.0.0.1", 9001);
}

static void
forwards_astray(Weightd__V1__Attestation *all)
{
	only_forwards(all);
	make_hop(group_in(all), "10.0.0.9", 9999);
}

static void
claims_only(Weightd__V1__Attestation *all)
{
	model_in(all)->grade = GRADE(CLAIMED);
}

static void
holds_an_adapter(Weightd__V1__Attestation *all)
{
	only_forwards(all);
	make_candidate(group_in(all), KIND(ADAPTER), "Adapter")->grade =
	    GRADE(INFERRED);
}

/* ---- what is asked --------------------------------------------------------
 */

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

static void
ask_routes(Weightd__V1__Expectation *e)
{
	e->role = ROLE(FORWARDER);
	pin_route(e, "qwen", 9001);
}

static void
ask_grade(Weightd__V1__Expectation *e)
{
	e->minimum_grade = GRADE(RESIDENT);
}

static void
ask_worker(Weightd__V1__Expectation *e)
{
	e->role = ROLE(WORKER);
}

/* ---- the table ------------------------------------------------------------
 */

static const struct verdict_case rows[] = {
	{ "good", NULL, ask_parameters, VERDICT(MATCH), 12, "RESIDENT" },
	{ "good, nothing asked", NULL, NULL, VERDICT(MATCH), 12,
	    "nothing was compared" },
	{ "good, only a grade asked", NULL, ask_grade, VERDICT(MATCH), 12,
	    "nothing was compared" },
	{ "good, only a worker asked", NULL, ask_worker, VERDICT(MATCH), 12,
	    "nothing was compared" },

	{ "listeners not looked for", no_look, ask_parameters,
	    VERDICT(UNVERIFIABLE), 2, "LISTENERS" },
	{ "not looked for, disabled", no_look, ask_disabled,
	    VERDICT(UNVERIFIABLE), 2, "LISTENERS" },

	{ "listeners incomplete", incomplete, ask_parameters,
	    VERDICT(UNVERIFIABLE), 3, "run the agent as root" },
	{ "listeners incomplete, none", incomplete_and_none, ask_parameters,
	    VERDICT(UNVERIFIABLE), 3, "not every listener" },
	{ "listeners incomplete, disabled", incomplete_and_none, ask_disabled,
	    VERDICT(UNVERIFIABLE), 3, NULL },
	{ "blind spot among listeners", blind_listeners, ask_parameters,
	    VERDICT(UNVERIFIABLE), 3, "permission denied" },
	{ "still moving", moving, ask_parameters, VERDICT(UNVERIFIABLE), 3,
	    "moved" },
	{ "still moving, nothing asked", moving, NULL, VERDICT(UNVERIFIABLE), 3,
	    "moved" },
	{ "moving and none", moving_and_none, ask_parameters,
	    VERDICT(UNVERIFIABLE), 3, "moved" },
	{ "none by one look", none_by_one_look, ask_parameters,
	    VERDICT(UNVERIFIABLE), 3, "one look only" },
	{ "none by one look, disabled", none_by_one_look, ask_disabled,
	    VERDICT(UNVERIFIABLE), 3, "one look only" },

	{ "missing", no_listeners, ask_parameters, VERDICT(MISSING), 4,
	    "nothing listens" },
	{ "missing, nothing asked", no_listeners, NULL, VERDICT(MISSING), 4,
	    "nothing listens" },
	{ "missing forwarder", no_listeners, ask_forwarder, VERDICT(MISSING), 4,
	    "nothing listens" },
	{ "disabled and silent", no_listeners, ask_disabled, VERDICT(MATCH), 4,
	    "as expected" },
	{ "disabled and listening", NULL, ask_disabled, VERDICT(MISMATCH), 4,
	    "something listens" },
	{ "disabled, listening, hidden", hidden, ask_disabled,
	    VERDICT(MISMATCH), 4, NULL },

	{ "owner hidden", hidden, ask_parameters, VERDICT(UNVERIFIABLE), 5,
	    "may not be looked into" },
	{ "owner vanished", vanished, ask_parameters, VERDICT(UNVERIFIABLE), 5,
	    "went away" },
	{ "owners partly", partly, ask_parameters, VERDICT(UNVERIFIABLE), 5,
	    "others may be hidden" },
	{ "no owner", ownerless, ask_parameters, VERDICT(UNVERIFIABLE), 5,
	    "no process" },
	{ "owners unspecified", unspecified_owners, ask_parameters,
	    VERDICT(UNVERIFIABLE), 5, "not looked for" },
	{ "found but empty", found_but_empty, ask_parameters,
	    VERDICT(UNVERIFIABLE), 5, NULL },
	{ "owner hidden, nothing asked", hidden, NULL, VERDICT(UNVERIFIABLE), 5,
	    NULL },
	{ "blind spot among owners", blind_owners, ask_parameters,
	    VERDICT(UNVERIFIABLE), 5, "run the agent as root" },
	{ "second listener's owner hidden", second_hidden, ask_parameters,
	    VERDICT(UNVERIFIABLE), 5, NULL },
	{ "forwarder, owner hidden", hidden, ask_forwarder,
	    VERDICT(UNVERIFIABLE), 5, NULL },

	{ "forwarder that holds weights", NULL, ask_forwarder,
	    VERDICT(MISMATCH), 6, MAKE_NAME },
	{ "forwarder that holds an adapter", holds_an_adapter, ask_forwarder,
	    VERDICT(MISMATCH), 6, "Adapter" },
	{ "forwarder that names weights", claims_only, ask_forwarder,
	    VERDICT(UNVERIFIABLE), 6, "workers" },
	{ "forwarder without routes", only_forwards, ask_forwarder,
	    VERDICT(UNVERIFIABLE), 6, "9001" },
	{ "forwarder with routes", only_forwards, ask_routes,
	    VERDICT(UNVERIFIABLE), 6, "9001" },
	{ "forwarder to elsewhere", forwards_astray, ask_routes,
	    VERDICT(MISMATCH), 6, "9999" },
	{ "elsewhere without routes", forwards_astray, ask_forwarder,
	    VERDICT(UNVERIFIABLE), 6, NULL },

	{ "one group on both families", both_families, ask_parameters,
	    VERDICT(MATCH), 12, NULL },
	{ "twins", twins, ask_parameters, VERDICT(MATCH), 7, "all 2" },
	{ "twins, nothing asked", twins, NULL, VERDICT(MATCH), 7, "all 2" },
	{ "unequal twins", unequal_twins, ask_parameters, VERDICT(UNVERIFIABLE),
	    7, "--address" },
	{ "strange twins", strange_twins, ask_parameters, VERDICT(MISMATCH), 7,
	    "none of 2" },
	{ "weak twin", weak_twin, ask_parameters, VERDICT(UNVERIFIABLE), 7,
	    NULL },
	{ "twin without weights", empty_twin, ask_parameters,
	    VERDICT(UNVERIFIABLE), 7, NULL },
	{ "twin without a group", groupless_twin, ask_parameters,
	    VERDICT(UNVERIFIABLE), 7, NULL },
	{ "two models", two_models, ask_parameters, VERDICT(UNVERIFIABLE), 7,
	    "1 match and 1 do not" },
	{ "two equal models", two_equal_models, ask_parameters, VERDICT(MATCH),
	    7, NULL },
	{ "companions are no candidates", model_and_companions, NULL,
	    VERDICT(MATCH), 12, NULL },
	{ "a group behind no listener", stray_group, ask_parameters,
	    VERDICT(MATCH), 12, NULL },
	{ "a listener that leads nowhere", lost_group, ask_parameters,
	    VERDICT(UNVERIFIABLE), 8, NULL },
};

START_TEST(lines_1_to_7)
{
	run_verdict_case(&rows[_i]);
}
END_TEST

START_TEST(unreachable_is_line_1_whatever_was_asked)
{
	Weightd__V1__Expectation *e = make_expectation();
	Weightd__V1__Verdict *verdict = NULL;

	e->role = (Weightd__V1__ExpectedRole)77;
	ck_assert_int_eq(
	    wd_verdict_judge(e, NULL, "gpu-3: no route", &verdict, NULL),
	    WD_OK);
	ck_assert_int_eq(verdict->kind, VERDICT(UNREACHABLE));
	ck_assert_uint_eq(verdict->line, 1);
	ck_assert_str_eq(verdict->reason, "gpu-3: no route");
	ck_assert_uint_eq(verdict->n_not_pinned, 0);
	wd_message_free(verdict);
	wd_message_free(e);
}
END_TEST

START_TEST(a_refusal_is_line_2)
{
	Weightd__V1__Verdict *verdict = NULL;

	ck_assert_int_eq(
	    wd_verdict_refused("unknown field 12", &verdict, NULL), WD_OK);
	ck_assert_int_eq(verdict->kind, VERDICT(UNVERIFIABLE));
	ck_assert_uint_eq(verdict->line, 2);
	ck_assert_ptr_nonnull(strstr(verdict->reason, "unknown field 12"));
	wd_message_free(verdict);
}
END_TEST

START_TEST(parts_are_listed_when_there_are_several)
{
	Weightd__V1__Attestation *all = make_attestation();
	Weightd__V1__Expectation *e = make_expectation();
	Weightd__V1__Verdict *verdict;

	unequal_twins(all);
	empty_twin(all);
	all->listeners[2]->group = 2;
	ask_parameters(e);
	verdict = judge_or_fail(e, all, "parts");
	ck_assert_uint_eq(verdict->n_parts, 3);
	ck_assert_int_eq(verdict->parts[0]->kind, VERDICT(MATCH));
	ck_assert_uint_eq(verdict->parts[0]->line, 12);
	ck_assert_int_eq(verdict->parts[1]->kind, VERDICT(MISMATCH));
	ck_assert_uint_eq(verdict->parts[1]->line, 9);
	ck_assert_uint_eq(verdict->parts[1]->candidate->group, 1);
	ck_assert_int_eq(verdict->parts[2]->kind, VERDICT(UNVERIFIABLE));
	ck_assert_uint_eq(verdict->parts[2]->line, 8);
	ck_assert_ptr_null(verdict->parts[2]->candidate);
	ck_assert_uint_eq(verdict->n_differences, 1);
	ck_assert_uint_eq(verdict->differences[0]->candidate->group, 1);
	wd_message_free(verdict);
	wd_message_free(e);
	wd_message_free(all);
}
END_TEST

START_TEST(nothing_asked_is_said)
{
	Weightd__V1__Attestation *all = make_attestation();
	Weightd__V1__Verdict *verdict = judge_or_fail(NULL, all, "nothing");

	ck_assert(verdict->without_expectation);
	ck_assert_uint_eq(verdict->n_not_pinned, 1);
	ck_assert_ptr_nonnull(strstr(verdict->not_pinned[0], "everything"));
	wd_message_free(verdict);
	wd_message_free(all);
}
END_TEST

static const struct {
	Weightd__V1__VerdictKind kind;
	int code;
} codes[] = {
	{ VERDICT(MATCH), 0 },
	{ VERDICT(MISMATCH), 1 },
	{ VERDICT(MISSING), 1 },
	{ VERDICT(EXTRA), 1 },
	{ VERDICT(UNREACHABLE), 3 },
	{ VERDICT(UNVERIFIABLE), 4 },
	{ VERDICT(UNSPECIFIED), 4 },
	{ (Weightd__V1__VerdictKind)77, 4 },
};

START_TEST(only_a_match_exits_with_0)
{
	Weightd__V1__Verdict verdict;

	weightd__v1__verdict__init(&verdict);
	verdict.kind = codes[_i].kind;
	ck_assert_int_eq(wd_verdict_exit_code(&verdict), codes[_i].code);
	ck_assert_int_eq(wd_verdict_exit_code(NULL), 4);
}
END_TEST

WD_SUITE_BEGIN("verdict port")
WD_LOOP(lines_1_to_7, rows);
WD_TEST(unreachable_is_line_1_whatever_was_asked);
WD_TEST(a_refusal_is_line_2);
WD_TEST(parts_are_listed_when_there_are_several);
WD_TEST(nothing_asked_is_said);
WD_LOOP(only_a_match_exits_with_0, codes);
WD_SUITE_END
