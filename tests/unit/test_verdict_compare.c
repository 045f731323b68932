/* verdict.h: lines 9 to 12, what is pinned against what is held. */
#include "base/mem.h"
#include "support/suite.h"
#include "support/verdict_case.h"

/* ---- what is asked --------------------------------------------------------
 */

static void
ask_other_parameters(Weightd__V1__Expectation *e)
{
	pin_parameters(e, MAKE_PARAMETERS + 1);
}

static void
ask_file(Weightd__V1__Expectation *e)
{
	make_digest(&e->digest, 0xf0);
}

static void
ask_other_content(Weightd__V1__Expectation *e)
{
	make_digest(&e->digest, 0xcc);
}

static void
ask_encoding(Weightd__V1__Expectation *e)
{
	make_digest(&e->encoding_digest, 0xe0);
}

static void
ask_other_encoding(Weightd__V1__Expectation *e)
{
	make_digest(&e->encoding_digest, 0xee);
}

static void
ask_declared(Weightd__V1__Expectation *e)
{
	pin_recipe(e, MAKE_DECLARED);
}

static void
ask_other_declared(Weightd__V1__Expectation *e)
{
	pin_recipe(e, "mixed-4-4");
}

static void
ask_derived(Weightd__V1__Expectation *e)
{
	pin_recipe(e, MAKE_DERIVED);
}

static void
ask_other_derived(Weightd__V1__Expectation *e)
{
	pin_recipe(e, "derived:q8_0-f32-0123456789abcdef");
}

static void
ask_setting(Weightd__V1__Expectation *e)
{
	pin_setting(e, "bundle.qwen2.block_count", "28");
}

static void
ask_other_setting(Weightd__V1__Expectation *e)
{
	pin_setting(e, "bundle.qwen2.block_count", "32");
}

static void
ask_second_setting(Weightd__V1__Expectation *e)
{
	ask_setting(e);
	pin_setting(e, "bundle.general.architecture", "llama");
}

static void
ask_absent_setting(Weightd__V1__Expectation *e)
{
	pin_setting(e, "bundle.qwen2.rope.freq_base", "1000000.0");
}

static void
ask_empty_absent_setting(Weightd__V1__Expectation *e)
{
	pin_setting(e, "bundle.qwen2.rope.freq_base", "");
}

static void
ask_run(Weightd__V1__Expectation *e)
{
	ask_parameters(e);
	pin_setting(e, "run.ctx_size", "4096");
}

static void
ask_other_run(Weightd__V1__Expectation *e)
{
	ask_parameters(e);
	pin_setting(e, "run.ctx_size", "8192");
}

static void
ask_name(Weightd__V1__Expectation *e)
{
	pin_model(e, MAKE_NAME);
}

static void
ask_name_only(Weightd__V1__Expectation *e)
{
	ask_name(e);
	e->allow_name_only = 1;
}

static void
ask_wrong_name_only(Weightd__V1__Expectation *e)
{
	pin_model(e, "Qwen2.5 7B");
	e->allow_name_only = 1;
}

static void
ask_wrong_name_case(Weightd__V1__Expectation *e)
{
	pin_model(e, "qwen2.5 7b instruct");
	e->allow_name_only = 1;
}

static void
ask_name_and_parameters(Weightd__V1__Expectation *e)
{
	ask_name(e);
	ask_parameters(e);
}

static void
ask_wrong_name_and_content(Weightd__V1__Expectation *e)
{
	pin_model(e, "Llama 3");
	ask_content(e);
}

static void
ask_file_name(Weightd__V1__Expectation *e)
{
	pin_model(e, "qwen2.5-7b-instruct-q4_k_m.gguf");
	ask_parameters(e);
}

static void
ask_stem(Weightd__V1__Expectation *e)
{
	pin_model(e, "qwen2.5-7b-instruct-q4_k_m");
	ask_parameters(e);
}

static void
ask_part_of_stem(Weightd__V1__Expectation *e)
{
	pin_model(e, "qwen2.5-7b-instruct");
	ask_parameters(e);
}

static void
ask_repository(Weightd__V1__Expectation *e)
{
	pin_model(e, "Qwen/Qwen2.5-7B-Instruct-GGUF");
	ask_parameters(e);
}

static void
ask_name_and_run(Weightd__V1__Expectation *e)
{
	ask_name(e);
	pin_setting(e, "run.ctx_size", "4096");
}

static void
ask_name_and_any_adapter(Weightd__V1__Expectation *e)
{
	ask_name(e);
	pin_companion(e, KIND(ADAPTER), -1);
}

static void
ask_any_adapter(Weightd__V1__Expectation *e)
{
	ask_parameters(e);
	pin_companion(e, KIND(ADAPTER), -1);
}

static void
ask_that_adapter(Weightd__V1__Expectation *e)
{
	ask_parameters(e);
	pin_companion(e, KIND(ADAPTER), 0xc0);
}

static void
ask_other_adapter(Weightd__V1__Expectation *e)
{
	ask_parameters(e);
	pin_companion(e, KIND(ADAPTER), 0xcc);
}

static void
ask_two_adapters(Weightd__V1__Expectation *e)
{
	ask_that_adapter(e);
	pin_companion(e, KIND(ADAPTER), 0xaa);
}

static void
ask_any_draft(Weightd__V1__Expectation *e)
{
	ask_parameters(e);
	pin_companion(e, KIND(DRAFT), -1);
}

/* ---- how the world differs ------------------------------------------------
 */

static void
uncounted_below(Weightd__V1__Attestation *all)
{
	model_in(all)->bundle->parameters_known = 0;
	model_in(all)->bundle->parameter_count = MAKE_PARAMETERS - 1;
}

static void
uncounted_equal(Weightd__V1__Attestation *all)
{
	model_in(all)->bundle->parameters_known = 0;
}

static void
uncounted_above(Weightd__V1__Attestation *all)
{
	model_in(all)->bundle->parameters_known = 0;
	model_in(all)->bundle->parameter_count = MAKE_PARAMETERS + 1;
}

static void
state_of_content(Weightd__V1__Attestation *all, Weightd__V1__DigestState state)
{
	model_in(all)->bundle->content_digest_state = state;
	model_in(all)->bundle->files[0]->digest_state = state;
}

static void
cached(Weightd__V1__Attestation *all)
{
	state_of_content(all, STATE(CACHED));
}

/* A digest that stands there although its state says that it is a claim. */
static void
named(Weightd__V1__Attestation *all)
{
	state_of_content(all, STATE(NAMED));
}

static void
unspecified(Weightd__V1__Attestation *all)
{
	state_of_content(all, STATE(UNSPECIFIED));
}

static void
pending(Weightd__V1__Attestation *all)
{
	state_of_content(all, STATE(PENDING));
	make_digest(&model_in(all)->bundle->content_digest, 0);
	wd_message_free(model_in(all)->bundle->content_digest);
	model_in(all)->bundle->content_digest = NULL;
}

static void
pending_unlisted(Weightd__V1__Attestation *all)
{
	pending(all);
	drop_check(all, CHECK(CONTENT_DIGEST));
}

static void
not_computed(Weightd__V1__Attestation *all)
{
	pending(all);
	state_of_content(all, STATE(NONE));
}

static void
pending_and_different(Weightd__V1__Attestation *all)
{
	pending(all);
	model_in(all)->bundle->parameter_count++;
}

static void
several_files(Weightd__V1__Attestation *all)
{
	model_in(all)->bundle->single_file = 0;
}

static void
file_not_hashed(Weightd__V1__Attestation *all)
{
	model_in(all)->bundle->files[0]->digest_state = STATE(NONE);
}

static void
no_encoding(Weightd__V1__Attestation *all)
{
	wd_message_free(model_in(all)->bundle->encoding_digest);
	model_in(all)->bundle->encoding_digest = NULL;
}

static void
no_declared(Weightd__V1__Attestation *all)
{
	make_text(&model_in(all)->bundle->declared_recipe, "");
}

static void
no_derived(Weightd__V1__Attestation *all)
{
	make_text(&model_in(all)->bundle->derived_recipe, "");
}

static void
in_hub_cache(Weightd__V1__Attestation *all)
{
	make_text(&model_in(all)->bundle->repository,
	    "Qwen/Qwen2.5-7B-Instruct-GGUF");
}

static void
adapter_of_grade(Weightd__V1__Attestation *all, Weightd__V1__Grade grade)
{
	Weightd__V1__Candidate *adapter =
	    make_candidate(group_in(all), KIND(ADAPTER), "Adapter");

	adapter->grade = grade;
	adapter->files[0]->grade = grade;
}

static void
with_adapter(Weightd__V1__Attestation *all)
{
	adapter_of_grade(all, GRADE(RESIDENT));
}

static void
with_inferred_adapter(Weightd__V1__Attestation *all)
{
	adapter_of_grade(all, GRADE(INFERRED));
}

static void
with_claimed_adapter(Weightd__V1__Attestation *all)
{
	adapter_of_grade(all, GRADE(CLAIMED));
}

static void
with_unused_draft(Weightd__V1__Attestation *all)
{
	Weightd__V1__Candidate *draft =
	    make_candidate(group_in(all), KIND(DRAFT), "Draft");

	draft->grade = GRADE(CLAIMED);
	draft->in_use = SEEN(NO);
}

static void
with_pending_adapter(Weightd__V1__Attestation *all)
{
	Weightd__V1__Bundle *bundle;

	with_adapter(all);
	bundle = group_in(all)->candidates[1]->bundle;
	bundle->content_digest_state = STATE(PENDING);
	bundle->files[0]->digest_state = STATE(PENDING);
}

static void
with_modified_adapter(Weightd__V1__Attestation *all)
{
	Weightd__V1__Candidate *adapter;

	with_adapter(all);
	adapter = group_in(all)->candidates[1];
	make_flag(&adapter->flags, &adapter->n_flags, FLAG(MODIFIED_IN_MEMORY));
}

static void
with_adapter_not_seen_through(Weightd__V1__Attestation *all)
{
	with_adapter(all);
	group_in(all)->candidates[1]->files[0]->written = SEEN(UNSPECIFIED);
}

static void
with_changed_adapter(Weightd__V1__Attestation *all)
{
	Weightd__V1__Candidate *adapter;

	with_adapter(all);
	adapter = group_in(all)->candidates[1];
	make_flag(&adapter->flags, &adapter->n_flags, FLAG(CHANGED_SINCE_LOAD));
}

static void
with_draft(Weightd__V1__Attestation *all)
{
	make_candidate(group_in(all), KIND(DRAFT), "Draft");
}

static void
with_projector(Weightd__V1__Attestation *all)
{
	make_candidate(group_in(all), KIND(PROJECTOR), "Projector");
}

static void
with_two_adapters(Weightd__V1__Attestation *all)
{
	with_adapter(all);
	with_adapter(all);
	make_digest(
	    &group_in(all)->candidates[2]->bundle->content_digest, 0xaa);
	make_digest(
	    &group_in(all)->candidates[2]->bundle->files[0]->sha256, 0xab);
}

static void
blind(Weightd__V1__Attestation *all)
{
	make_blind_spot(all, SCOPE(WEIGHTS));
}

#define SAME VERDICT(MATCH), 12
#define DIFFERS VERDICT(MISMATCH), 9
#define OPEN VERDICT(UNVERIFIABLE), 10
#define NAMELESS VERDICT(UNVERIFIABLE), 11

static const struct verdict_case rows[] = {
	{ "parameters", NULL, ask_parameters, SAME, NULL },
	{ "other parameters", NULL, ask_other_parameters, DIFFERS,
	    "parameter_count: expected 7615616513, observed 7615616512" },
	{ "not all counted", uncounted_below, ask_parameters, OPEN,
	    "could not all be counted" },
	{ "lower bound equal", uncounted_equal, ask_parameters, OPEN, NULL },
	{ "lower bound above", uncounted_above, ask_parameters, DIFFERS,
	    "at least" },

	{ "content", NULL, ask_content, SAME, NULL },
	{ "content cached", cached, ask_content, SAME, NULL },
	{ "single file", NULL, ask_file, SAME, NULL },
	{ "one file of several", several_files, ask_file, DIFFERS, "digest" },
	{ "content of several", several_files, ask_content, SAME, NULL },
	{ "other content", NULL, ask_other_content, DIFFERS, "digest" },
	{ "content by name only", named, ask_content, OPEN, NULL },
	{ "file by name only", named, ask_file, OPEN, NULL },
	{ "content of no state", unspecified, ask_content, OPEN, NULL },
	{ "content pending", pending, ask_content, OPEN, "still being" },
	{ "content pending, unlisted", pending_unlisted, ask_content, OPEN,
	    "still being" },
	{ "file pending", pending, ask_file, OPEN, "still being" },
	{ "content pending, not pinned", pending, ask_parameters, SAME, NULL },
	{ "content not computed", not_computed, ask_content, OPEN,
	    "could not be computed" },
	{ "file not hashed", file_not_hashed, ask_file, OPEN, NULL },
	{ "pending, other differs", pending_and_different, ask_parameters,
	    DIFFERS, "parameter_count" },

	{ "encoding", NULL, ask_encoding, SAME, NULL },
	{ "other encoding", NULL, ask_other_encoding, DIFFERS,
	    "encoding_digest" },
	{ "no encoding", no_encoding, ask_encoding, OPEN, NULL },

	{ "declared recipe", NULL, ask_declared, SAME, NULL },
	{ "other declared", NULL, ask_other_declared, DIFFERS, "recipe" },
	{ "none declared", no_declared, ask_declared, DIFFERS,
	    "none declared" },
	{ "derived recipe", NULL, ask_derived, SAME, NULL },
	{ "other derived", NULL, ask_other_derived, DIFFERS, "recipe" },
	{ "none derived", no_derived, ask_derived, OPEN, NULL },

	{ "setting", NULL, ask_setting, SAME, NULL },
	{ "other setting", NULL, ask_other_setting, DIFFERS,
	    "settings[bundle.qwen2.block_count]: expected 32, observed 28" },
	{ "second setting", NULL, ask_second_setting, DIFFERS, NULL },
	{ "absent setting", NULL, ask_absent_setting, DIFFERS, "not set" },
	{ "absent setting, empty", NULL, ask_empty_absent_setting, DIFFERS,
	    "not set" },
	{ "run setting", NULL, ask_run, SAME, NULL },
	{ "other run setting", NULL, ask_other_run, DIFFERS, "run.ctx_size" },

	{ "name only", NULL, ask_name, NAMELESS, "--allow-name-only" },
	{ "name only, allowed", NULL, ask_name_only, SAME, NULL },
	{ "wrong name only", NULL, ask_wrong_name_only, DIFFERS, "model" },
	{ "wrong case", NULL, ask_wrong_name_case, DIFFERS, "model" },
	{ "name and run settings", NULL, ask_name_and_run, NAMELESS, NULL },
	{ "name and parameters", NULL, ask_name_and_parameters, SAME, NULL },
	{ "wrong name, right content", NULL, ask_wrong_name_and_content,
	    DIFFERS, "model: expected Llama 3" },
	{ "file name", NULL, ask_file_name, SAME, NULL },
	{ "file name without extension", NULL, ask_stem, SAME, NULL },
	{ "part of a name", NULL, ask_part_of_stem, DIFFERS, "model" },
	{ "repository", in_hub_cache, ask_repository, SAME, NULL },
	{ "no repository", NULL, ask_repository, DIFFERS, "model" },

	{ "adapter not expected", with_adapter, ask_parameters, DIFFERS,
	    "companions[adapter]" },
	{ "inferred adapter not expected", with_inferred_adapter,
	    ask_parameters, DIFFERS, "companions[adapter]" },
	{ "claimed adapter not expected", with_claimed_adapter, ask_parameters,
	    SAME, NULL },
	{ "adapter, nothing asked", with_adapter, NULL, SAME, NULL },
	{ "draft not expected", with_draft, ask_parameters, DIFFERS,
	    "companions[draft]" },
	{ "projector not expected", with_projector, ask_parameters, DIFFERS,
	    "companions[projector]" },
	{ "any adapter", with_adapter, ask_any_adapter, SAME, NULL },
	{ "any adapter, inferred", with_inferred_adapter, ask_any_adapter, SAME,
	    NULL },
	{ "any adapter, claimed", with_claimed_adapter, ask_any_adapter,
	    DIFFERS, "absent" },
	{ "another digest, of a single file", NULL, ask_other_content, DIFFERS,
	    "file sha256 of qwen2.5-7b-instruct-q4_k_m.gguf sha256:f0f0" },
	{ "any adapter, claimed and named", with_claimed_adapter,
	    ask_any_adapter, DIFFERS,
	    "absent: Adapter is only named, grade CLAIMED" },
	{ "any draft, not in use", with_unused_draft, ask_any_draft, DIFFERS,
	    "absent: Draft is named and not in use" },
	{ "any draft, an adapter claimed", with_claimed_adapter, ask_any_draft,
	    DIFFERS, "observed absent;" },
	{ "that adapter", with_adapter, ask_that_adapter, SAME, NULL },
	{ "that adapter, inferred", with_inferred_adapter, ask_that_adapter,
	    VERDICT(UNVERIFIABLE), 8, "Adapter: grade INFERRED" },
	{ "that adapter, modified", with_modified_adapter, ask_that_adapter,
	    VERDICT(UNVERIFIABLE), 8, "MODIFIED_IN_MEMORY" },
	{ "any adapter, modified", with_modified_adapter, ask_any_adapter, SAME,
	    NULL },
	{ "that adapter, pages not seen", with_adapter_not_seen_through,
	    ask_that_adapter, VERDICT(UNVERIFIABLE), 2, "Adapter" },
	{ "any adapter, pages not seen", with_adapter_not_seen_through,
	    ask_any_adapter, SAME, NULL },
	{ "that adapter, changed and equal", with_changed_adapter,
	    ask_that_adapter, SAME, NULL },
	{ "another adapter, changed", with_changed_adapter, ask_other_adapter,
	    VERDICT(UNVERIFIABLE), 8, "CHANGED_SINCE_LOAD" },
	{ "two adapters, one changed", with_changed_adapter, ask_two_adapters,
	    DIFFERS, "absent" },
	{ "another adapter", with_adapter, ask_other_adapter, DIFFERS,
	    "companions[adapter]" },
	{ "adapter pending", with_pending_adapter, ask_that_adapter, OPEN,
	    NULL },
	{ "one adapter too many", with_two_adapters, ask_that_adapter, DIFFERS,
	    "none like it" },
	{ "no adapter", NULL, ask_any_adapter, DIFFERS, "absent" },
	{ "no such adapter", NULL, ask_that_adapter, DIFFERS, "absent" },
	{ "adapter for draft", with_adapter, ask_any_draft, DIFFERS, NULL },
	{ "no adapter seen", blind, ask_any_adapter, OPEN, NULL },
	{ "name and adapter", with_adapter, ask_name_and_any_adapter, NAMELESS,
	    NULL },
};

START_TEST(lines_9_to_12)
{
	run_verdict_case(&rows[_i]);
}
END_TEST

/* ---- what is not pinned ----------------------------------------------------
 */

static const struct {
	void (*ask)(Weightd__V1__Expectation *e);
	const char *listed; /* words that must be there, or NULL */
	const char *absent; /* words that must not, or NULL */
} not_pinned[] = {
	{ ask_parameters, "does not tell 4 bits from 8", NULL },
	{ ask_parameters, "content:", NULL },
	{ ask_parameters, "tokenizer:", NULL },
	{ ask_parameters, "settings:", NULL },
	{ ask_parameters, "run settings:", NULL },
	{ ask_encoding, "content:", "does not tell 4 bits from 8" },
	{ ask_derived, "content:", "does not tell 4 bits from 8" },
	{ ask_declared, "does not tell 4 bits from 8", NULL },
	{ ask_setting, "content:", " settings: what" },
	{ ask_content, "run settings:", "content:" },
	{ ask_content, NULL, "tokenizer:" },
	{ ask_run, "content:", "run settings:" },
};

START_TEST(a_match_lists_what_it_does_not_vouch_for)
{
	Weightd__V1__Attestation *all = make_attestation();
	Weightd__V1__Expectation *e = make_expectation();
	Weightd__V1__Verdict *verdict;
	char text[2048] = " ";
	size_t i;

	not_pinned[_i].ask(e);
	verdict = judge_or_fail(e, all, "not pinned");
	ck_assert_int_eq(verdict->kind, VERDICT(MATCH));
	for (i = 0; i < verdict->n_not_pinned; i++) {
		(void)strncat(text, verdict->not_pinned[i],
		    sizeof(text) - strlen(text) - 1);
		(void)strncat(text, "\n ", sizeof(text) - strlen(text) - 1);
	}
	if (not_pinned[_i].listed != NULL)
		ck_assert_ptr_nonnull(strstr(text, not_pinned[_i].listed));
	if (not_pinned[_i].absent != NULL)
		ck_assert_ptr_null(strstr(text, not_pinned[_i].absent));
	wd_message_free(verdict);
	wd_message_free(e);
	wd_message_free(all);
}
END_TEST

/* An unknown program: nothing of it could have been pinned. */
START_TEST(no_hint_at_options_that_nobody_knows)
{
	Weightd__V1__Attestation *all = make_attestation();
	Weightd__V1__Expectation *e = make_expectation();
	Weightd__V1__Verdict *verdict;
	const char *last;

	ask_content(e);
	drop_check(all, CHECK(RUN_SETTINGS));
	verdict = judge_or_fail(e, all, "not pinned");
	ck_assert_int_eq(verdict->kind, VERDICT(MATCH));
	ck_assert_uint_eq(verdict->n_not_pinned, 1);
	last = verdict->not_pinned[0];
	ck_assert_ptr_nonnull(strstr(last, "cannot be pinned here"));
	ck_assert_ptr_null(strstr(last, "run.KEY"));
	wd_message_free(verdict);
	wd_message_free(e);
	wd_message_free(all);
}
END_TEST

START_TEST(every_difference_is_listed)
{
	Weightd__V1__Attestation *all = make_attestation();
	Weightd__V1__Expectation *e = make_expectation();
	Weightd__V1__Verdict *verdict;

	pin_model(e, "x");
	ask_other_parameters(e);
	ask_other_declared(e);
	ask_other_content(e);
	ask_other_encoding(e);
	ask_other_setting(e);
	pin_companion(e, KIND(DRAFT), -1);
	with_adapter(all);
	verdict = judge_or_fail(e, all, "all");
	ck_assert_uint_eq(verdict->n_differences, 8);
	ck_assert_ptr_nonnull(strstr(verdict->reason, "(and 7 more)"));
	ck_assert_uint_eq(verdict->n_not_pinned, 0);
	wd_message_free(verdict);
	wd_message_free(e);
	wd_message_free(all);
}
END_TEST

START_TEST(a_failing_allocation_is_no_verdict)
{
	Weightd__V1__Attestation *all = make_attestation();
	Weightd__V1__Expectation *e = make_expectation();
	uint64_t n;
	enum wd_status st;

	ask_other_parameters(e);
	with_adapter(all);
	for (n = 0; n < 1000; n++) {
		Weightd__V1__Verdict *verdict = NULL;

		wd_mem_fail_after(n);
		st = wd_verdict_judge(e, all, NULL, &verdict, NULL);
		wd_mem_fail_after(UINT64_MAX);
		if (st == WD_OK) {
			wd_message_free(verdict);
			break;
		}
		ck_assert_int_eq(st, WD_NOMEM);
		ck_assert_ptr_null(verdict);
	}
	ck_assert_uint_gt(n, 10);
	ck_assert_uint_lt(n, 1000);
	wd_message_free(e);
	wd_message_free(all);
}
END_TEST

WD_SUITE_BEGIN("verdict compare")
WD_LOOP(lines_9_to_12, rows);
WD_LOOP(a_match_lists_what_it_does_not_vouch_for, not_pinned);
WD_TEST(no_hint_at_options_that_nobody_knows);
WD_TEST(every_difference_is_listed);
WD_TEST(a_failing_allocation_is_no_verdict);
WD_SUITE_END
