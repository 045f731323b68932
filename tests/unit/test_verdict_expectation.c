/* verdict.h: which expectations may be asked at all. */
#include "support/suite.h"
#include "support/verdict_case.h"

static void
nothing(Weightd__V1__Expectation *e)
{
	(void)e;
}

static void
allow_alone(Weightd__V1__Expectation *e)
{
	e->allow_name_only = 1;
}

static void
empty_model(Weightd__V1__Expectation *e)
{
	pin_model(e, "");
}

static void
no_parameters(Weightd__V1__Expectation *e)
{
	pin_parameters(e, 0);
}

static void
empty_recipe(Weightd__V1__Expectation *e)
{
	pin_recipe(e, "");
}

static void
empty_derived(Weightd__V1__Expectation *e)
{
	pin_recipe(e, "derived:");
}

static void
short_digest(Weightd__V1__Expectation *e)
{
	make_digest(&e->digest, 1);
	e->digest->value.len = 31;
}

static void
empty_digest(Weightd__V1__Expectation *e)
{
	make_digest(&e->digest, 1);
	e->digest->value.len = 0;
}

static void
short_encoding(Weightd__V1__Expectation *e)
{
	make_digest(&e->encoding_digest, 1);
	e->encoding_digest->value.len = 20;
}

static void
no_algorithm(Weightd__V1__Expectation *e)
{
	make_digest(&e->digest, 1);
	e->digest->algorithm =
	    WEIGHTD__V1__DIGEST_ALGORITHM__DIGEST_ALGORITHM_UNSPECIFIED;
}

static void
strange_key(Weightd__V1__Expectation *e)
{
	pin_setting(e, "ctx_size", "1");
}

static void
bare_prefix(Weightd__V1__Expectation *e)
{
	pin_setting(e, "bundle.", "1");
}

static void
bare_run(Weightd__V1__Expectation *e)
{
	pin_setting(e, "run.", "1");
}

static void
key_twice(Weightd__V1__Expectation *e)
{
	pin_setting(e, "run.a", "1");
	pin_setting(e, "run.a", "2");
}

static void
companion_without_kind(Weightd__V1__Expectation *e)
{
	pin_companion(e, KIND(UNSPECIFIED), -1);
}

static void
companion_model(Weightd__V1__Expectation *e)
{
	pin_companion(e, KIND(MODEL), -1);
}

static void
companion_of_nothing(Weightd__V1__Expectation *e)
{
	pin_companion(e, KIND(DRAFT), -1)->want_case =
	    WEIGHTD__V1__EXPECTED_COMPANION__WANT__NOT_SET;
}

static void
companion_not_any(Weightd__V1__Expectation *e)
{
	pin_companion(e, KIND(DRAFT), -1)->any = 0;
}

static void
companion_short(Weightd__V1__Expectation *e)
{
	pin_companion(e, KIND(DRAFT), 1)->digest->value.len = 5;
}

static void
grade_claimed(Weightd__V1__Expectation *e)
{
	ask_parameters(e);
	e->minimum_grade = GRADE(CLAIMED);
}

static void
grade_none(Weightd__V1__Expectation *e)
{
	ask_parameters(e);
	e->minimum_grade = GRADE(NONE);
}

static void
grade_blind(Weightd__V1__Expectation *e)
{
	e->minimum_grade = GRADE(BLIND);
}

static void
disabled_with_pins(Weightd__V1__Expectation *e)
{
	ask_parameters(e);
	e->role = ROLE(DISABLED);
}

static void
forwarder_with_pins(Weightd__V1__Expectation *e)
{
	ask_content(e);
	e->role = ROLE(FORWARDER);
}

static void
routes_of_a_worker(Weightd__V1__Expectation *e)
{
	ask_parameters(e);
	pin_route(e, "a", 8081);
}

static void
route_without_port(Weightd__V1__Expectation *e)
{
	e->role = ROLE(FORWARDER);
	pin_route(e, "a", 0);
}

static void
route_to_no_port(Weightd__V1__Expectation *e)
{
	e->role = ROLE(FORWARDER);
	pin_route(e, "a", 65536);
}

static void
route_without_name(Weightd__V1__Expectation *e)
{
	e->role = ROLE(FORWARDER);
	pin_route(e, "", 8081);
}

static void
strange_role(Weightd__V1__Expectation *e)
{
	ask_parameters(e);
	e->role = (Weightd__V1__ExpectedRole)4;
}

static void
strange_grade(Weightd__V1__Expectation *e)
{
	ask_parameters(e);
	e->minimum_grade = (Weightd__V1__Grade)7;
}

static void
strange_kind(Weightd__V1__Expectation *e)
{
	pin_companion(e, (Weightd__V1__BundleKind)77, -1);
}

static void
strange_algorithm(Weightd__V1__Expectation *e)
{
	make_digest(&e->digest, 1);
	e->digest->algorithm = (Weightd__V1__DigestAlgorithm)2;
}

static void
strange_companion_digest(Weightd__V1__Expectation *e)
{
	pin_companion(e, KIND(DRAFT), 1)->digest->algorithm =
	    (Weightd__V1__DigestAlgorithm)2;
}

static void
good_everything(Weightd__V1__Expectation *e)
{
	pin_model(e, "m");
	pin_parameters(e, 1);
	pin_recipe(e, "derived:x");
	make_digest(&e->digest, 1);
	make_digest(&e->encoding_digest, 2);
	pin_setting(e, "bundle.a", "");
	pin_setting(e, "run.a", "1");
	pin_companion(e, KIND(ADAPTER), 3);
	pin_companion(e, KIND(DRAFT), -1);
	e->minimum_grade = GRADE(INFERRED);
	e->role = ROLE(WORKER);
}

static void
good_forwarder(Weightd__V1__Expectation *e)
{
	e->role = ROLE(FORWARDER);
	pin_route(e, "a", 65535);
}

static void
good_grade(Weightd__V1__Expectation *e)
{
	e->minimum_grade = GRADE(RESIDENT);
}

static const struct {
	const char *name;
	void (*ask)(Weightd__V1__Expectation *e);
	enum wd_status status;
	const char *message;
} rows[] = {
	{ "nothing", nothing, WD_INVALID, "empty" },
	{ "allow alone", allow_alone, WD_INVALID, "empty" },
	{ "empty model", empty_model, WD_INVALID, "model" },
	{ "no parameters", no_parameters, WD_INVALID, "parameter_count" },
	{ "empty recipe", empty_recipe, WD_INVALID, "recipe" },
	{ "empty derived", empty_derived, WD_INVALID, "recipe" },
	{ "short digest", short_digest, WD_INVALID, "digest" },
	{ "empty digest", empty_digest, WD_INVALID, "digest" },
	{ "short encoding", short_encoding, WD_INVALID, "encoding_digest" },
	{ "no algorithm", no_algorithm, WD_INVALID, "digest" },
	{ "strange key", strange_key, WD_INVALID, "settings" },
	{ "bare prefix", bare_prefix, WD_INVALID, "settings" },
	{ "bare run", bare_run, WD_INVALID, "settings" },
	{ "key twice", key_twice, WD_INVALID, "twice" },
	{ "companion, no kind", companion_without_kind, WD_INVALID, "kind" },
	{ "companion model", companion_model, WD_INVALID, "kind" },
	{ "companion of nothing", companion_of_nothing, WD_INVALID, "draft" },
	{ "companion not any", companion_not_any, WD_INVALID, "draft" },
	{ "companion short", companion_short, WD_INVALID, "companions" },
	{ "grade claimed", grade_claimed, WD_INVALID, "CLAIMED" },
	{ "grade none", grade_none, WD_INVALID, "NONE" },
	{ "grade blind", grade_blind, WD_INVALID, "BLIND" },
	{ "disabled with pins", disabled_with_pins, WD_INVALID, "role" },
	{ "forwarder with pins", forwarder_with_pins, WD_INVALID, "role" },
	{ "routes of a worker", routes_of_a_worker, WD_INVALID, "routes" },
	{ "route without port", route_without_port, WD_INVALID, "routes" },
	{ "route to no port", route_to_no_port, WD_INVALID, "routes" },
	{ "route without name", route_without_name, WD_INVALID, "routes" },
	{ "strange role", strange_role, WD_UNSUPPORTED, "role" },
	{ "strange grade", strange_grade, WD_UNSUPPORTED, "grade" },
	{ "strange kind", strange_kind, WD_UNSUPPORTED, "field or value" },
	{ "strange algorithm", strange_algorithm, WD_UNSUPPORTED,
	    "field or value" },
	{ "strange companion digest", strange_companion_digest, WD_UNSUPPORTED,
	    "field or value" },
	{ "everything", good_everything, WD_OK, NULL },
	{ "forwarder", good_forwarder, WD_OK, NULL },
	{ "grade", good_grade, WD_OK, NULL },
};

START_TEST(what_may_be_asked)
{
	Weightd__V1__Expectation *e = make_expectation();
	struct wd_error err;
	enum wd_status st;

	rows[_i].ask(e);
	wd_error_init(&err);
	st = wd_expectation_check(e, &err);
	if (st != rows[_i].status)
		ck_abort_msg("%s: %s: %s", rows[_i].name, wd_status_name(st),
		    err.message);
	if (rows[_i].message != NULL)
		ck_assert_ptr_nonnull(strstr(err.message, rows[_i].message));
	wd_message_free(e);
}
END_TEST

START_TEST(judging_refuses_what_may_not_be_asked)
{
	Weightd__V1__Expectation *e = make_expectation();
	Weightd__V1__Attestation *all = make_attestation();
	Weightd__V1__Verdict *verdict = NULL;
	enum wd_status st;

	rows[_i].ask(e);
	st = wd_verdict_judge(e, all, NULL, &verdict, NULL);
	if (rows[_i].status == WD_INVALID) {
		ck_assert_int_eq(st, WD_INVALID);
		ck_assert_ptr_null(verdict);
	} else {
		ck_assert_int_eq(st, WD_OK);
	}
	if (rows[_i].status == WD_UNSUPPORTED) {
		ck_assert_int_eq(verdict->kind, VERDICT(UNVERIFIABLE));
		ck_assert_uint_eq(verdict->line, 2);
	}
	wd_message_free(verdict);
	wd_message_free(all);
	wd_message_free(e);
}
END_TEST

/* As it arrives over the wire: field 99 of the message and of each part. */
static const struct {
	const char *name;
	const uint8_t bytes[24];
	size_t len;
} strange[] = {
	{ "expectation", { 0x10, 5, 0x98, 0x06, 1 }, 5 },
	{ "digest", { 0x22, 3, 0x98, 0x06, 1 }, 5 },
	{ "encoding", { 0x2a, 3, 0x98, 0x06, 1 }, 5 },
	{ "setting",
	    { 0x32, 10, 0x0a, 5, 'r', 'u', 'n', '.', 'a', 0x98, 0x06, 1 }, 12 },
	{ "companion", { 0x3a, 7, 0x08, 2, 0x18, 1, 0x98, 0x06, 1 }, 9 },
	{ "route", { 0x50, 2, 0x5a, 3, 0x98, 0x06, 1 }, 7 },
};

START_TEST(unknown_fields_are_line_2)
{
	Weightd__V1__Attestation *all = make_attestation();
	Weightd__V1__Expectation *e = weightd__v1__expectation__unpack(
	    NULL, strange[_i].len, strange[_i].bytes);
	Weightd__V1__Verdict *verdict;

	ck_assert_ptr_nonnull(e);
	verdict = judge_or_fail(e, all, strange[_i].name);
	ck_assert_int_eq(verdict->kind, VERDICT(UNVERIFIABLE));
	ck_assert_uint_eq(verdict->line, 2);
	wd_message_free(verdict);
	wd_message_free(e);
	wd_message_free(all);
}
END_TEST

START_TEST(no_expectation_may_be_asked)
{
	ck_assert_int_eq(wd_expectation_check(NULL, NULL), WD_OK);
}
END_TEST

WD_SUITE_BEGIN("verdict expectation")
WD_LOOP(what_may_be_asked, rows);
WD_LOOP(judging_refuses_what_may_not_be_asked, rows);
WD_LOOP(unknown_fields_are_line_2, strange);
WD_TEST(no_expectation_may_be_asked);
WD_SUITE_END
