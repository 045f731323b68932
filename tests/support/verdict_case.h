/*
 * verdict_case.h - one row of a table of verdicts: a good attestation that is
 * spoiled, an expectation, and what the table of twelve lines makes of it.
 */
#ifndef WD_TESTS_SUPPORT_VERDICT_CASE_H
#define WD_TESTS_SUPPORT_VERDICT_CASE_H

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "support/attestation_make.h"
#include "verdict/verdict.h"
#include "wire/build.h"

struct verdict_case {
	const char *name;
	void (*spoil)(Weightd__V1__Attestation *all); /* NULL: leave it good */
	void (*ask)(Weightd__V1__Expectation *e);     /* NULL: no expectation */
	Weightd__V1__VerdictKind kind;
	uint32_t line;
	const char *reason; /* must stand in the reason; NULL: anything */
};

static inline Weightd__V1__Verdict *
judge_or_fail(const Weightd__V1__Expectation *e,
    const Weightd__V1__Attestation *all, const char *name)
{
	Weightd__V1__Verdict *verdict = NULL;
	struct wd_error err;
	enum wd_status st;

	wd_error_init(&err);
	st = wd_verdict_judge(e, all, NULL, &verdict, &err);
	if (st != WD_OK || verdict == NULL)
		ck_abort_msg("%s: %s", name, err.message);
	return verdict;
}

static inline void
run_verdict_case(const struct verdict_case *row)
{
	Weightd__V1__Attestation *all = make_attestation();
	Weightd__V1__Expectation *e =
	    row->ask == NULL ? NULL : make_expectation();
	Weightd__V1__Verdict *verdict;

	if (row->spoil != NULL)
		row->spoil(all);
	if (row->ask != NULL)
		row->ask(e);
	verdict = judge_or_fail(e, all, row->name);
	if (verdict->kind != row->kind || verdict->line != row->line)
		ck_abort_msg("%s: kind %d by line %u, not %d by line %u: %s",
		    row->name, (int)verdict->kind, verdict->line,
		    (int)row->kind, row->line, verdict->reason);
	if (row->reason != NULL && strstr(verdict->reason, row->reason) == NULL)
		ck_abort_msg("%s: \"%s\" is not in the reason: %s", row->name,
		    row->reason, verdict->reason);
	wd_message_free(verdict);
	wd_message_free(e);
	wd_message_free(all);
}

/* What most rows ask for: the good model's parameters. */
static inline void
ask_parameters(Weightd__V1__Expectation *e)
{
	pin_parameters(e, MAKE_PARAMETERS);
}

static inline void
ask_content(Weightd__V1__Expectation *e)
{
	make_digest(&e->digest, 0xc0);
}

#endif
