#include <string.h>

#include "verdict/parts.h"

bool
wd_has_check(
    const Weightd__V1__Check *checks, size_t count, Weightd__V1__Check check)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (checks[i] == check)
			return true;
	return false;
}

static bool
is_made(const struct wd_unit *unit, Weightd__V1__Check check)
{
	const Weightd__V1__Attestation *all = unit->attestation;
	const Weightd__V1__Group *group = unit->group;
	const Weightd__V1__Candidate *model = unit->model;

	return wd_has_check(
		   all->checks_performed, all->n_checks_performed, check) ||
	    wd_has_check(
		group->checks_performed, group->n_checks_performed, check) ||
	    wd_has_check(
		model->checks_performed, model->n_checks_performed, check);
}

/* ---- when a check is needed -----------------------------------------------
 */

typedef bool needed_fn(
    const struct wd_unit *unit, const Weightd__V1__Expectation *e);

static bool
always(const struct wd_unit *unit, const Weightd__V1__Expectation *e)
{
	(void)unit;
	(void)e;
	return true;
}

static bool
when_mapped(const struct wd_unit *unit, const Weightd__V1__Expectation *e)
{
	size_t i;

	(void)e;
	for (i = 0; i < unit->model->n_files; i++)
		if (unit->model->files[i]->mapping_count > 0)
			return true;
	return false;
}

/* Whether an engine can swap weights decides only where the evidence does not
 * show the weights of this moment. */
static bool
when_weak(const struct wd_unit *unit, const Weightd__V1__Expectation *e)
{
	(void)e;
	return wd_candidate_grade(unit->model) < WD_GRADE(WITNESSED);
}

static bool
when_headers_pinned(
    const struct wd_unit *unit, const Weightd__V1__Expectation *e)
{
	(void)unit;
	return e != NULL &&
	    (wd_expects_parameters(e) || wd_expects_recipe(e) ||
		e->encoding_digest != NULL || wd_expects_setting(e, "bundle."));
}

/* A digest that is still being computed is line 10's. */
static bool
when_digest_pinned(
    const struct wd_unit *unit, const Weightd__V1__Expectation *e)
{
	const Weightd__V1__Bundle *bundle = unit->model->bundle;

	return e != NULL && e->digest != NULL &&
	    (bundle == NULL ||
		bundle->content_digest_state != WD_DIGEST(PENDING));
}

static bool
when_settings_matter(
    const struct wd_unit *unit, const Weightd__V1__Expectation *e)
{
	(void)unit;
	return e != NULL &&
	    (e->n_settings > 0 || wd_expects_recipe(e) || e->digest != NULL);
}

static bool
when_run_pinned(const struct wd_unit *unit, const Weightd__V1__Expectation *e)
{
	(void)unit;
	return wd_expects_setting(e, "run.");
}

static const struct need {
	Weightd__V1__Check check;
	const char *name;
	const char *purpose;
	needed_fn *is_needed;
} needs[] = {
	{ WD_CHECK(OWNERS), "OWNERS", "to know who serves", always },
	{ WD_CHECK(OWNERS_AGAIN), "OWNERS_AGAIN",
	    "to know that the port did not change hands meanwhile", always },
	{ WD_CHECK(IDENTITY_AGAIN), "IDENTITY_AGAIN",
	    "to know that the processes are still the same", always },
	{ WD_CHECK(GROUP), "GROUP", "to know which processes serve together",
	    always },
	{ WD_CHECK(MAPPINGS), "MAPPINGS", "to see every model that is held",
	    always },
	{ WD_CHECK(MAPPINGS_AGAIN), "MAPPINGS_AGAIN",
	    "to know that the weights were not swapped meanwhile", always },
	{ WD_CHECK(DESCRIPTORS), "DESCRIPTORS",
	    "to see every model that is held", always },
	{ WD_CHECK(CHANGED_SINCE_LOAD), "CHANGED_SINCE_LOAD",
	    "to know that the file is still what was loaded", always },
	{ WD_CHECK(FILES_AGAIN), "FILES_AGAIN",
	    "to know that no weight file was written meanwhile", always },
	{ WD_CHECK(COVERAGE), "COVERAGE", "to know that every tensor is mapped",
	    when_mapped },
	{ WD_CHECK(WRITTEN_PAGES), "WRITTEN_PAGES",
	    "to know that the weights were not modified in memory",
	    when_mapped },
	{ WD_CHECK(ENGINE), "ENGINE",
	    "to know whether the engine can swap weights, as no better than "
	    "INFERRED is seen",
	    when_weak },
	{ WD_CHECK(HEADERS), "HEADERS", "to compare what is pinned",
	    when_headers_pinned },
	{ WD_CHECK(CONTENT_DIGEST), "CONTENT_DIGEST",
	    "to compare the pinned digest", when_digest_pinned },
	{ WD_CHECK(SETTINGS_STALE), "SETTINGS_STALE",
	    "to know that the pinned settings are those that were loaded",
	    when_settings_matter },
	{ WD_CHECK(RUN_SETTINGS), "RUN_SETTINGS",
	    "to compare the pinned run settings", when_run_pinned },
};

/* Rights help to see more of a program, and not to know it. */
static const char *
remedy_of(Weightd__V1__Check check)
{
	if (check == WD_CHECK(ENGINE))
		return "nobody can tell that of a program that the agent does "
		       "not know by its executable, or whose command line it "
		       "could not read; have the server map its whole file, "
		       "or use an engine that is known";
	if (check == WD_CHECK(RUN_SETTINGS))
		return "the options in force can be told only of an engine "
		       "that the agent knows, when all of them are on its "
		       "command line or in its environment; give them there, "
		       "or leave run.* out";
	return "let it run with the rights to look, or ask a newer agent";
}

/* A mapped file whose written pages could not be seen, or NULL. */
static const Weightd__V1__FileEvidence *
file_not_seen_through(const Weightd__V1__Candidate *model)
{
	size_t i;

	for (i = 0; i < model->n_files; i++)
		if (model->files[i]->mapping_count > 0 &&
		    model->files[i]->written == WD_SEEN(UNSPECIFIED))
			return model->files[i];
	return NULL;
}

/* A flag on the candidate or its group that the schema does not name. */
static bool
has_strange_flag(const Weightd__V1__Flag *flags, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (protobuf_c_enum_descriptor_get_value(
			&weightd__v1__flag__descriptor, (int)flags[i]) == NULL)
			return true;
	return false;
}

/* Whether line 8 will refuse the unit anyway, with a better reason. */
static bool
is_refused_later(
    const struct wd_unit *unit, const Weightd__V1__Expectation *expectation)
{
	return unit->model == NULL || !unit->group->members_complete ||
	    unit->group->grade == WD_GRADE(BLIND) ||
	    wd_candidate_grade(unit->model) < wd_expected_grade(expectation);
}

bool
wd_rule_checks(const struct wd_unit *unit,
    const Weightd__V1__Expectation *expectation, struct wd_ruling *ruling)
{
	char label[WD_LABEL_BYTES];
	size_t i;

	if (is_refused_later(unit, expectation))
		return false;
	wd_candidate_label(unit->model, label);
	for (i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (needs[i].is_needed(unit, expectation) &&
		    !is_made(unit, needs[i].check))
			return wd_rule(ruling, WD_VERDICT(UNVERIFIABLE), 2,
			    "%s: the agent did not make the check %s, needed "
			    "%s; %s",
			    label, needs[i].name, needs[i].purpose,
			    remedy_of(needs[i].check));
	if (file_not_seen_through(unit->model) != NULL)
		return wd_rule(ruling, WD_VERDICT(UNVERIFIABLE), 2,
		    "%s: whether its mapped pages were written could not be "
		    "seen; let the agent run with the rights to look",
		    label);
	if (has_strange_flag(unit->model->flags, unit->model->n_flags) ||
	    has_strange_flag(unit->group->flags, unit->group->n_flags))
		return wd_rule(ruling, WD_VERDICT(UNVERIFIABLE), 2,
		    "%s: the answer holds a flag that this version does not "
		    "know; update weightctl",
		    label);
	return false;
}
