/* verdict.h: line 2 for one model, and every clause of line 8. */
#include "support/suite.h"
#include "support/verdict_case.h"
#include "verdict/parts.h"

/* ---- flags, wherever they are set -----------------------------------------
 */

static void
flag_model(Weightd__V1__Attestation *all, Weightd__V1__Flag flag)
{
	Weightd__V1__Candidate *model = model_in(all);

	make_flag(&model->flags, &model->n_flags, flag);
}

#define FLAGGER(name, flag)                                                    \
	static void name(Weightd__V1__Attestation *all)                        \
	{                                                                      \
		flag_model(all, FLAG(flag));                                   \
	}

FLAGGER(deleted, DELETED)
FLAGGER(replaced, REPLACED)
FLAGGER(conflict, CONFLICT)
FLAGGER(ambiguous, AMBIGUOUS)
FLAGGER(forwarder, FORWARDER)
FLAGGER(modified, MODIFIED_IN_MEMORY)
FLAGGER(partial, PARTIAL)
FLAGGER(incomplete, INCOMPLETE)
FLAGGER(loading, LOADING)
FLAGGER(changed, CHANGED_SINCE_LOAD)
FLAGGER(stale, SETTINGS_STALE)

static void
modified_file(Weightd__V1__Attestation *all)
{
	Weightd__V1__FileEvidence *file = file_in(all);

	make_flag(&file->flags, &file->n_flags, FLAG(MODIFIED_IN_MEMORY));
}

static void
modified_process(Weightd__V1__Attestation *all)
{
	Weightd__V1__Process *process = all->processes[0];

	make_flag(&process->flags, &process->n_flags, FLAG(MODIFIED_IN_MEMORY));
}

static void
modified_group(Weightd__V1__Attestation *all)
{
	Weightd__V1__Group *group = group_in(all);

	make_flag(&group->flags, &group->n_flags, FLAG(MODIFIED_IN_MEMORY));
}

static void
modified_all(Weightd__V1__Attestation *all)
{
	make_flag(&all->flags, &all->n_flags, FLAG(MODIFIED_IN_MEMORY));
}

/* A process that does not hold the model. */
static void
modified_stranger(Weightd__V1__Attestation *all)
{
	Weightd__V1__Process *process = make_process(all, 99, "stranger");

	make_flag(&process->flags, &process->n_flags, FLAG(MODIFIED_IN_MEMORY));
}

static void
written(Weightd__V1__Attestation *all)
{
	file_in(all)->written = SEEN(YES);
}

static void
incomplete_bundle(Weightd__V1__Attestation *all)
{
	model_in(all)->bundle->incomplete = 1;
}

static void
strange_flag(Weightd__V1__Attestation *all)
{
	flag_model(all, (Weightd__V1__Flag)99);
}

/* ---- grades ---------------------------------------------------------------
 */

static void
witnessed(Weightd__V1__Attestation *all)
{
	model_in(all)->grade = GRADE(WITNESSED);
	file_in(all)->grade = GRADE(WITNESSED);
}

static void
inferred(Weightd__V1__Attestation *all)
{
	model_in(all)->grade = GRADE(INFERRED);
	file_in(all)->grade = GRADE(INFERRED);
	make_text(&file_in(all)->reason, "3 of 339 tensors are mapped");
}

static void
claimed(Weightd__V1__Attestation *all)
{
	model_in(all)->grade = GRADE(CLAIMED);
}

static void
grade_none(Weightd__V1__Attestation *all)
{
	model_in(all)->grade = GRADE(NONE);
}

static void
grade_blind(Weightd__V1__Attestation *all)
{
	model_in(all)->grade = GRADE(BLIND);
}

static void
grade_unspecified(Weightd__V1__Attestation *all)
{
	model_in(all)->grade = GRADE(UNSPECIFIED);
}

static void
weak_file(Weightd__V1__Attestation *all)
{
	file_in(all)->grade = GRADE(INFERRED);
}

static void
ungraded_file(Weightd__V1__Attestation *all)
{
	file_in(all)->grade = GRADE(UNSPECIFIED);
}

static void
no_model(Weightd__V1__Attestation *all)
{
	Weightd__V1__Group *group = group_in(all);

	wd_message_free(group->candidates[0]);
	group->n_candidates = 0;
	group->grade = GRADE(NONE);
}

static void
no_model_and_blind_spot(Weightd__V1__Attestation *all)
{
	no_model(all);
	make_blind_spot(all, SCOPE(WEIGHTS));
}

static void
no_model_and_other_blind_spot(Weightd__V1__Attestation *all)
{
	no_model(all);
	make_blind_spot(all, SCOPE(OTHER));
}

static void
no_model_and_members_hidden(Weightd__V1__Attestation *all)
{
	no_model(all);
	group_in(all)->members_complete = 0;
}

static void
no_model_but_forwards(Weightd__V1__Attestation *all)
{
	Weightd__V1__Group *group = group_in(all);

	no_model(all);
	make_flag(&group->flags, &group->n_flags, FLAG(FORWARDER));
}

static void
no_model_yet(Weightd__V1__Attestation *all)
{
	Weightd__V1__Group *group = group_in(all);

	no_model(all);
	make_flag(&group->flags, &group->n_flags, FLAG(LOADING));
}

static void
orphan(Weightd__V1__Attestation *all)
{
	no_model(all);
	make_flag(&all->flags, &all->n_flags, FLAG(ORPHAN_HOLDER));
}

static void
members_hidden(Weightd__V1__Attestation *all)
{
	group_in(all)->members_complete = 0;
}

static void
blind_group(Weightd__V1__Attestation *all)
{
	group_in(all)->grade = GRADE(BLIND);
}

static void
blind_spots(Weightd__V1__Attestation *all)
{
	make_blind_spot(all, SCOPE(WEIGHTS));
	make_blind_spot(all, SCOPE(OTHER));
}

static void
no_bundle(Weightd__V1__Attestation *all)
{
	wd_message_free(model_in(all)->bundle);
	model_in(all)->bundle = NULL;
}

/* ---- engines that can swap weights ----------------------------------------
 */

static void
mutable_known(Weightd__V1__Attestation *all)
{
	flag_model(all, FLAG(MUTABLE));
	model_in(all)->other_weights_read_since = SEEN(NO);
	model_in(all)->updatable_without_files = SEEN(NO);
}

static void
mutable_inferred(Weightd__V1__Attestation *all)
{
	mutable_known(all);
	inferred(all);
}

static void
mutable_read_others(Weightd__V1__Attestation *all)
{
	mutable_known(all);
	model_in(all)->other_weights_read_since = SEEN(YES);
}

static void
mutable_reads_not_seen(Weightd__V1__Attestation *all)
{
	mutable_known(all);
	model_in(all)->other_weights_read_since = SEEN(UNSPECIFIED);
}

static void
read_others(Weightd__V1__Attestation *all)
{
	model_in(all)->other_weights_read_since = SEEN(YES);
}

static void
mutable_updatable(Weightd__V1__Attestation *all)
{
	mutable_known(all);
	model_in(all)->updatable_without_files = SEEN(YES);
}

static void
updatable_on_device(Weightd__V1__Attestation *all)
{
	mutable_updatable(all);
	model_in(all)->device_memory = SEEN(YES);
}

static void
updatable_device_not_seen(Weightd__V1__Attestation *all)
{
	mutable_updatable(all);
	model_in(all)->device_memory = SEEN(UNSPECIFIED);
}

static void
on_device(Weightd__V1__Attestation *all)
{
	model_in(all)->device_memory = SEEN(YES);
}

static void
mutable_updatable_witnessed(Weightd__V1__Attestation *all)
{
	mutable_updatable(all);
	witnessed(all);
}

static void
mutable_witnessed(Weightd__V1__Attestation *all)
{
	mutable_known(all);
	witnessed(all);
}

static void
mutable_update_not_seen(Weightd__V1__Attestation *all)
{
	mutable_witnessed(all);
	model_in(all)->updatable_without_files = SEEN(UNSPECIFIED);
}

/* ---- a file that changed, and the exception --------------------------------
 */

static void
changed_partly_mapped(Weightd__V1__Attestation *all)
{
	changed(all);
	model_in(all)->mapped_wholly = 0;
}

static void
changed_on_overlay(Weightd__V1__Attestation *all)
{
	changed(all);
	model_in(all)->on_overlay = SEEN(YES);
}

static void
changed_overlay_not_seen(Weightd__V1__Attestation *all)
{
	changed(all);
	model_in(all)->on_overlay = SEEN(UNSPECIFIED);
}

static void
changed_on_device(Weightd__V1__Attestation *all)
{
	changed(all);
	model_in(all)->device_memory = SEEN(YES);
}

static void
changed_copied(Weightd__V1__Attestation *all)
{
	changed(all);
	model_in(all)->memory_copies = SEEN(YES);
}

static void
changed_copies_not_seen(Weightd__V1__Attestation *all)
{
	changed(all);
	model_in(all)->memory_copies = SEEN(UNSPECIFIED);
}

static void
changed_device_not_seen(Weightd__V1__Attestation *all)
{
	changed(all);
	model_in(all)->device_memory = SEEN(UNSPECIFIED);
}

static void
changed_cached(Weightd__V1__Attestation *all)
{
	changed(all);
	model_in(all)->bundle->content_digest_state = STATE(CACHED);
}

static void
changed_hashed_before(Weightd__V1__Attestation *all)
{
	changed(all);
	model_in(all)->bundle->files[0]->digested_at->seconds--;
}

static void
changed_witnessed(Weightd__V1__Attestation *all)
{
	changed(all);
	witnessed(all);
}

static void
changed_hashed_beside(Weightd__V1__Attestation *all)
{
	changed(all);
	file_in(all)->origin =
	    WEIGHTD__V1__FILE_EVIDENCE__ORIGIN__ORIGIN_BESIDE;
}

static void
changed_and_modified(Weightd__V1__Attestation *all)
{
	changed(all);
	modified(all);
}

/* ---- what is asked --------------------------------------------------------
 */

static void
ask_inferred(Weightd__V1__Expectation *e)
{
	ask_parameters(e);
	e->minimum_grade = GRADE(INFERRED);
}

static void
ask_resident(Weightd__V1__Expectation *e)
{
	ask_parameters(e);
	e->minimum_grade = GRADE(RESIDENT);
}

static void
ask_resident_only(Weightd__V1__Expectation *e)
{
	e->minimum_grade = GRADE(RESIDENT);
}

static void
ask_other_content(Weightd__V1__Expectation *e)
{
	make_digest(&e->digest, 0xcc);
}

static void
ask_file(Weightd__V1__Expectation *e)
{
	make_digest(&e->digest, 0xf0);
}

static void
ask_setting(Weightd__V1__Expectation *e)
{
	pin_setting(e, "bundle.qwen2.block_count", "28");
}

static void
ask_run_setting(Weightd__V1__Expectation *e)
{
	pin_setting(e, "run.ctx_size", "4096");
}

static void
ask_recipe(Weightd__V1__Expectation *e)
{
	pin_recipe(e, MAKE_DECLARED);
}

static void
ask_encoding(Weightd__V1__Expectation *e)
{
	make_digest(&e->encoding_digest, 0xe0);
}

#define NO VERDICT(UNVERIFIABLE), 8
#define YES VERDICT(MATCH), 12

static const struct verdict_case rows[] = {
	/* shown, and deciding nothing */
	{ "deleted", deleted, ask_parameters, YES, NULL },
	{ "replaced", replaced, ask_parameters, YES, NULL },
	{ "conflict", conflict, ask_parameters, YES, NULL },
	{ "ambiguous", ambiguous, ask_parameters, YES, NULL },
	{ "other blind spots", blind_spots, ask_parameters, YES, NULL },
	{ "a stranger's flag", modified_stranger, ask_parameters, YES, NULL },
	{ "a file found only by its path", ungraded_file, ask_parameters, YES,
	    NULL },

	{ "forwarder", forwarder, ask_parameters, NO, "FORWARDER" },
	{ "modified", modified, ask_parameters, NO, "MODIFIED_IN_MEMORY" },
	{ "modified, file", modified_file, ask_parameters, NO,
	    "MODIFIED_IN_MEMORY" },
	{ "modified, process", modified_process, ask_parameters, NO,
	    "MODIFIED_IN_MEMORY" },
	{ "modified, group", modified_group, ask_parameters, NO,
	    "MODIFIED_IN_MEMORY" },
	{ "modified, answer", modified_all, ask_parameters, NO,
	    "MODIFIED_IN_MEMORY" },
	{ "written pages", written, ask_parameters, NO, "MODIFIED_IN_MEMORY" },
	{ "modified, nothing asked", modified, NULL, NO, NULL },
	{ "modified, content equal", modified, ask_content, NO, NULL },
	{ "partial", partial, ask_parameters, NO, "PARTIAL" },
	{ "incomplete", incomplete, ask_parameters, NO, "INCOMPLETE" },
	{ "incomplete bundle", incomplete_bundle, ask_parameters, NO,
	    "INCOMPLETE" },
	{ "loading", loading, ask_parameters, NO, "LOADING" },
	{ "loading, nothing asked", loading, NULL, NO, "LOADING" },

	{ "witnessed", witnessed, ask_parameters, YES, "WITNESSED" },
	{ "witnessed, resident asked", witnessed, ask_resident, NO,
	    "RESIDENT was asked" },
	{ "witnessed, only resident asked", witnessed, ask_resident_only, NO,
	    "RESIDENT was asked" },
	{ "resident asked", NULL, ask_resident, YES, NULL },
	{ "inferred", inferred, ask_parameters, NO,
	    "3 of 339 tensors are mapped" },
	{ "inferred, nothing asked", inferred, NULL, NO, "--min-grade" },
	{ "inferred asked", inferred, ask_inferred, YES, "INFERRED" },
	{ "claimed, inferred asked", claimed, ask_inferred, NO, "CLAIMED" },
	{ "grade none", grade_none, ask_inferred, NO, "NONE" },
	{ "grade blind", grade_blind, ask_inferred, NO, "BLIND" },
	{ "no grade", grade_unspecified, ask_inferred, NO, NULL },
	{ "one weak file", weak_file, ask_parameters, NO, "INFERRED" },
	{ "nothing held", no_model, ask_parameters, NO, "NONE" },
	{ "nothing held, nothing asked", no_model, NULL, NO, "NONE" },
	{ "nothing held, blind spot", no_model_and_blind_spot, ask_parameters,
	    NO, "BLIND" },
	{ "nothing held, other blind spot", no_model_and_other_blind_spot,
	    ask_parameters, NO, "NONE" },
	{ "nothing held, members hidden", no_model_and_members_hidden,
	    ask_parameters, NO, "BLIND" },
	{ "nothing held, forwards", no_model_but_forwards, ask_parameters, NO,
	    "FORWARDER" },
	{ "nothing held yet", no_model_yet, ask_parameters, NO, "LOADING" },
	{ "orphan", orphan, ask_parameters, NO, "ORPHAN_HOLDER" },
	{ "a member hidden", members_hidden, ask_parameters, NO, "BLIND" },
	{ "group blind", blind_group, ask_parameters, NO, "BLIND" },
	{ "no bundle", no_bundle, ask_parameters, NO, "described" },

	{ "mutable, resident", mutable_known, ask_parameters, YES, NULL },
	{ "mutable, witnessed", mutable_witnessed, ask_parameters, YES, NULL },
	{ "mutable, inferred", mutable_inferred, ask_inferred, NO, "MUTABLE" },
	{ "mutable, read others", mutable_read_others, ask_parameters, NO,
	    "other weights" },
	{ "mutable, reads not seen", mutable_reads_not_seen, ask_parameters, NO,
	    "other weights" },
	{ "read others", read_others, ask_parameters, NO, "other weights" },
	{ "mutable, updatable, resident", mutable_updatable, ask_parameters,
	    YES, NULL },
	{ "mutable, updatable, copy on a device", updatable_on_device,
	    ask_parameters, NO, "without a file" },
	{ "mutable, updatable, device not seen", updatable_device_not_seen,
	    ask_parameters, NO, "without a file" },
	{ "copy on a device", on_device, ask_content, YES, NULL },
	{ "mutable, updatable", mutable_updatable_witnessed, ask_parameters, NO,
	    "without a file" },
	{ "mutable, update not seen", mutable_update_not_seen, ask_parameters,
	    NO, "without a file" },

	{ "changed", changed, ask_parameters, NO, "CHANGED_SINCE_LOAD" },
	{ "changed, nothing asked", changed, NULL, NO, "CHANGED_SINCE_LOAD" },
	{ "changed, content equal", changed, ask_content, YES, NULL },
	{ "changed, only file equal", changed, ask_file, YES, NULL },
	{ "changed, content different", changed, ask_other_content, NO, NULL },
	{ "changed, partly mapped", changed_partly_mapped, ask_content, NO,
	    "CHANGED_SINCE_LOAD" },
	{ "changed, overlay", changed_on_overlay, ask_content, NO,
	    "CHANGED_SINCE_LOAD" },
	{ "changed, overlay not seen", changed_overlay_not_seen, ask_content,
	    NO, "CHANGED_SINCE_LOAD" },
	/* The device computes from the bytes that were loaded. */
	{ "changed, copy in memory", changed_copied, ask_content, NO,
	    "CHANGED_SINCE_LOAD" },
	{ "changed, copies not seen", changed_copies_not_seen, ask_content, NO,
	    "CHANGED_SINCE_LOAD" },
	{ "changed, copy on a device", changed_on_device, ask_content, NO,
	    "CHANGED_SINCE_LOAD" },
	{ "changed, device not seen", changed_device_not_seen, ask_content, NO,
	    "CHANGED_SINCE_LOAD" },
	{ "changed, digest cached", changed_cached, ask_content, NO,
	    "CHANGED_SINCE_LOAD" },
	{ "changed, hashed before the question", changed_hashed_before,
	    ask_content, NO, "CHANGED_SINCE_LOAD" },
	{ "changed, witnessed", changed_witnessed, ask_content, NO,
	    "CHANGED_SINCE_LOAD" },
	{ "changed, hashed beside", changed_hashed_beside, ask_content, NO,
	    "CHANGED_SINCE_LOAD" },
	{ "changed and modified", changed_and_modified, ask_content, NO,
	    "MODIFIED_IN_MEMORY" },

	{ "stale, parameters", stale, ask_parameters, YES, NULL },
	{ "stale, encoding", stale, ask_encoding, YES, NULL },
	{ "stale, nothing asked", stale, NULL, YES, NULL },
	{ "stale, settings", stale, ask_setting, NO, "SETTINGS_STALE" },
	{ "stale, run settings", stale, ask_run_setting, NO, "SETTINGS_STALE" },
	{ "stale, recipe", stale, ask_recipe, NO, "SETTINGS_STALE" },
	{ "stale, content", stale, ask_content, NO, "SETTINGS_STALE" },
};

START_TEST(line_8)
{
	run_verdict_case(&rows[_i]);
}
END_TEST

/* ---- line 2: checks that were not made -------------------------------------
 */

static const struct {
	Weightd__V1__Check check;
	const char *name;
	void (*ask)(Weightd__V1__Expectation *e);
	void (*spoil)(Weightd__V1__Attestation *all);
	bool is_needed;
} checks[] = {
	{ CHECK(OWNERS), "OWNERS", ask_parameters, NULL, true },
	{ CHECK(OWNERS_AGAIN), "OWNERS_AGAIN", ask_parameters, NULL, true },
	{ CHECK(IDENTITY_AGAIN), "IDENTITY_AGAIN", ask_parameters, NULL, true },
	{ CHECK(GROUP), "GROUP", ask_parameters, NULL, true },
	{ CHECK(MAPPINGS), "MAPPINGS", ask_parameters, NULL, true },
	{ CHECK(MAPPINGS), "MAPPINGS", NULL, NULL, true },
	{ CHECK(MAPPINGS_AGAIN), "MAPPINGS_AGAIN", ask_parameters, NULL, true },
	{ CHECK(DESCRIPTORS), "DESCRIPTORS", ask_parameters, NULL, true },
	{ CHECK(CHANGED_SINCE_LOAD), "CHANGED_SINCE_LOAD", ask_parameters, NULL,
	    true },
	{ CHECK(FILES_AGAIN), "FILES_AGAIN", ask_parameters, NULL, true },
	{ CHECK(COVERAGE), "COVERAGE", ask_parameters, NULL, true },
	{ CHECK(WRITTEN_PAGES), "WRITTEN_PAGES", ask_parameters, NULL, true },
	{ CHECK(WRITTEN_PAGES), "WRITTEN_PAGES", NULL, NULL, true },
	{ CHECK(ENGINE), "ENGINE", ask_inferred, inferred, true },
	{ CHECK(ENGINE), "ENGINE", ask_parameters, NULL, false },
	{ CHECK(HEADERS), "HEADERS", ask_parameters, NULL, true },
	{ CHECK(HEADERS), "HEADERS", ask_recipe, NULL, true },
	{ CHECK(HEADERS), "HEADERS", ask_encoding, NULL, true },
	{ CHECK(HEADERS), "HEADERS", ask_setting, NULL, true },
	{ CHECK(HEADERS), "HEADERS", ask_content, NULL, false },
	{ CHECK(CONTENT_DIGEST), "CONTENT_DIGEST", ask_content, NULL, true },
	{ CHECK(CONTENT_DIGEST), "CONTENT_DIGEST", ask_parameters, NULL,
	    false },
	{ CHECK(SETTINGS_STALE), "SETTINGS_STALE", ask_content, NULL, true },
	{ CHECK(SETTINGS_STALE), "SETTINGS_STALE", ask_recipe, NULL, true },
	{ CHECK(SETTINGS_STALE), "SETTINGS_STALE", ask_run_setting, NULL,
	    true },
	{ CHECK(SETTINGS_STALE), "SETTINGS_STALE", ask_parameters, NULL,
	    false },
	{ CHECK(RUN_SETTINGS), "RUN_SETTINGS", ask_run_setting, NULL, true },
	{ CHECK(RUN_SETTINGS), "RUN_SETTINGS", ask_setting, NULL, false },
	{ CHECK(CLAIMS), "CLAIMS", ask_parameters, NULL, false },
	{ CHECK(ACCELERATORS), "ACCELERATORS", ask_parameters, NULL, false },
	{ CHECK(LISTENERS_TWICE), "LISTENERS_TWICE", ask_parameters, NULL,
	    false },
};

START_TEST(line_2_names_the_check_that_is_missing)
{
	Weightd__V1__Attestation *all = make_attestation();
	Weightd__V1__Expectation *e =
	    checks[_i].ask == NULL ? NULL : make_expectation();
	Weightd__V1__Verdict *verdict;

	if (checks[_i].spoil != NULL)
		checks[_i].spoil(all);
	if (e != NULL)
		checks[_i].ask(e);
	drop_check(all, checks[_i].check);
	verdict = judge_or_fail(e, all, checks[_i].name);
	if (checks[_i].is_needed) {
		char wanted[64];

		(void)snprintf(
		    wanted, sizeof(wanted), "check %s,", checks[_i].name);
		ck_assert_int_eq(verdict->kind, VERDICT(UNVERIFIABLE));
		ck_assert_uint_eq(verdict->line, 2);
		ck_assert_ptr_nonnull(strstr(verdict->reason, wanted));
		/* More rights make no program known. */
		ck_assert_int_eq(
		    strstr(verdict->reason, "rights to look") == NULL,
		    checks[_i].check == CHECK(ENGINE) ||
			checks[_i].check == CHECK(RUN_SETTINGS));
	} else {
		ck_assert_int_eq(verdict->kind, VERDICT(MATCH));
	}
	wd_message_free(verdict);
	wd_message_free(e);
	wd_message_free(all);
}
END_TEST

static void
pages_not_seen(Weightd__V1__Attestation *all)
{
	file_in(all)->written = SEEN(UNSPECIFIED);
}

/* A file that was read, not mapped, has no pages of its own. */
static void
read_not_mapped(Weightd__V1__Attestation *all)
{
	inferred(all);
	file_in(all)->mapping_count = 0;
	file_in(all)->written = SEEN(UNSPECIFIED);
	drop_check(all, CHECK(WRITTEN_PAGES));
	drop_check(all, CHECK(COVERAGE));
}

static void
strange_group_flag(Weightd__V1__Attestation *all)
{
	Weightd__V1__Group *group = group_in(all);

	make_flag(&group->flags, &group->n_flags, (Weightd__V1__Flag)99);
}

static const struct verdict_case line_2_rows[] = {
	{ "pages not seen", pages_not_seen, ask_parameters,
	    VERDICT(UNVERIFIABLE), 2, "pages" },
	{ "read, not mapped", read_not_mapped, ask_inferred, YES, NULL },
	{ "unknown flag", strange_flag, ask_parameters, VERDICT(UNVERIFIABLE),
	    2, "flag" },
	{ "unknown flag of the group", strange_group_flag, ask_parameters,
	    VERDICT(UNVERIFIABLE), 2, "flag" },
};

START_TEST(line_2_other_reasons)
{
	run_verdict_case(&line_2_rows[_i]);
}
END_TEST

START_TEST(differences_are_listed_whatever_line_decides)
{
	Weightd__V1__Attestation *all = make_attestation();
	Weightd__V1__Expectation *e = make_expectation();
	Weightd__V1__Verdict *verdict;

	loading(all);
	pin_parameters(e, 5);
	verdict = judge_or_fail(e, all, "loading");
	ck_assert_uint_eq(verdict->line, 8);
	ck_assert_uint_eq(verdict->n_differences, 1);
	ck_assert_str_eq(verdict->differences[0]->field, "parameter_count");
	ck_assert_str_eq(verdict->differences[0]->expected, "5");
	ck_assert_str_eq(verdict->differences[0]->observed, "7615616512");
	ck_assert_ptr_nonnull(verdict->differences[0]->candidate);
	wd_message_free(verdict);
	wd_message_free(e);
	wd_message_free(all);
}
END_TEST

START_TEST(what_others_say_is_escaped_in_reasons)
{
	Weightd__V1__Attestation *all = make_attestation();
	Weightd__V1__Verdict *verdict;

	no_model_and_blind_spot(all);
	make_text(&all->blind_spots[0]->what, "\x1b[2Jgone");
	verdict = judge_or_fail(NULL, all, "escape");
	ck_assert_ptr_null(strchr(verdict->reason, '\x1b'));
	ck_assert_ptr_nonnull(strstr(verdict->reason, "\\x1b[2Jgone"));
	wd_message_free(verdict);
	wd_message_free(all);
}
END_TEST

WD_SUITE_BEGIN("verdict sound")
WD_LOOP(line_8, rows);
WD_LOOP(line_2_names_the_check_that_is_missing, checks);
WD_LOOP(line_2_other_reasons, line_2_rows);
WD_TEST(differences_are_listed_whatever_line_decides);
WD_TEST(what_others_say_is_escaped_in_reasons);
WD_SUITE_END
