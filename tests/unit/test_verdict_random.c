/*
 * verdict.h as a property: whatever the answer looks like, there is no MATCH
 * while anything in it disqualifies. The oracle below is written from the
 * table, clause by clause, over the knobs that made the answer; it shares no
 * code with the room.
 */
#include "support/suite.h"
#include "support/verdict_case.h"

#define ROUNDS 20000

static uint64_t state = 0x9e3779b97f4a7c15;

/* xorshift64*; the seed is fixed, so every run is the same. */
static uint32_t
draw(uint32_t below)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint32_t)((state * UINT64_C(0x2545f4914f6cdd1d)) >> 33) % below;
}

/* Once in `rarity` times. */
static bool
rarely(uint32_t rarity)
{
	return draw(rarity) == 0;
}

/* One answer and one question, as the facts the oracle needs. */
struct world {
	bool is_bad; /* some clause of lines 1 to 8 forbids a MATCH */
	Weightd__V1__Grade grade, least;
	bool has_changed, has_stale, is_mutable, is_mapped_wholly;
	bool on_overlay, on_device, is_copied, is_mapped_object;
	Weightd__V1__Tristate read_since, updatable;
	Weightd__V1__DigestState digest_state;
	bool pins_digest, digest_equals;
	bool pins_settings, setting_equals;
	bool pins_recipe, recipe_equals;
	bool pins_parameters, parameters_equal;
	bool pins_name, name_equals, allows_name;
	bool has_adapter, expects_adapter;
};

static void
bad(struct world *w, bool is_bad)
{
	w->is_bad = w->is_bad || is_bad;
}

static void
draw_port(struct world *w, Weightd__V1__Attestation *all)
{
	static const Weightd__V1__Check needed[] = { CHECK(LISTENERS),
		CHECK(OWNERS), CHECK(OWNERS_AGAIN), CHECK(IDENTITY_AGAIN),
		CHECK(GROUP), CHECK(MAPPINGS), CHECK(MAPPINGS_AGAIN),
		CHECK(DESCRIPTORS), CHECK(COVERAGE), CHECK(WRITTEN_PAGES),
		CHECK(CHANGED_SINCE_LOAD), CHECK(FILES_AGAIN) };

	if (rarely(20)) {
		drop_check(all, needed[draw(WD_COUNT(needed))]);
		bad(w, true);
	}
	if (rarely(20)) {
		all->listeners_complete = 0;
		bad(w, true);
	}
	if (rarely(20)) {
		make_moved(all, (Weightd__V1__Moved)(1 + draw(5)));
		bad(w, true);
	}
	if (rarely(10)) {
		uint32_t scope = 1 + draw(4);

		make_blind_spot(all, (Weightd__V1__BlindSpot__Scope)scope);
		bad(w, scope <= 2);
	}
	if (rarely(10)) {
		uint32_t owners = draw(6);

		all->listeners[0]->owners_state =
		    (Weightd__V1__OwnersState)owners;
		bad(w, owners != 1);
	}
	if (rarely(20)) {
		group_in(all)->members_complete = 0;
		bad(w, true);
	}
}

/* A flag somewhere on the way from the answer to the file. */
static void
draw_flag(struct world *w, Weightd__V1__Attestation *all)
{
	Weightd__V1__Flag flag = (Weightd__V1__Flag)(1 + draw(14));
	Weightd__V1__Candidate *model = model_in(all);

	switch (draw(4)) {
	case 0:
		make_flag(&model->flags, &model->n_flags, flag);
		break;
	case 1:
		make_flag(&file_in(all)->flags, &file_in(all)->n_flags, flag);
		break;
	case 2:
		make_flag(&group_in(all)->flags, &group_in(all)->n_flags, flag);
		break;
	default:
		make_flag(&all->processes[0]->flags,
		    &all->processes[0]->n_flags, flag);
		break;
	}
	bad(w,
	    flag == FLAG(FORWARDER) || flag == FLAG(MODIFIED_IN_MEMORY) ||
		flag == FLAG(PARTIAL) || flag == FLAG(INCOMPLETE) ||
		flag == FLAG(LOADING));
	w->has_changed = w->has_changed || flag == FLAG(CHANGED_SINCE_LOAD);
	w->has_stale = w->has_stale || flag == FLAG(SETTINGS_STALE);
	w->is_mutable = w->is_mutable || flag == FLAG(MUTABLE);
}

static void
draw_evidence(struct world *w, Weightd__V1__Attestation *all)
{
	Weightd__V1__Candidate *model = model_in(all);
	Weightd__V1__FileEvidence *file = file_in(all);

	w->grade = rarely(3) ? (Weightd__V1__Grade)draw(7) : GRADE(RESIDENT);
	if (rarely(2))
		model->grade = w->grade;
	else if (w->grade != GRADE(UNSPECIFIED))
		file->grade = w->grade;
	else
		w->grade = GRADE(RESIDENT);
	model->other_weights_read_since = (Weightd__V1__Tristate)draw(3);
	model->updatable_without_files = (Weightd__V1__Tristate)draw(3);
	if (rarely(2)) {
		model->other_weights_read_since = SEEN(NO);
		model->updatable_without_files = SEEN(NO);
	}
	w->read_since = model->other_weights_read_since;
	w->updatable = model->updatable_without_files;
	model->mapped_wholly = !rarely(4);
	w->is_mapped_wholly = model->mapped_wholly;
	model->on_overlay =
	    rarely(4) ? (Weightd__V1__Tristate)draw(3) : SEEN(NO);
	w->on_overlay = model->on_overlay != SEEN(NO);
	model->device_memory =
	    rarely(4) ? (Weightd__V1__Tristate)draw(3) : SEEN(NO);
	w->on_device = model->device_memory != SEEN(NO);
	model->memory_copies =
	    rarely(4) ? (Weightd__V1__Tristate)draw(3) : SEEN(NO);
	w->is_copied = model->memory_copies != SEEN(NO);
	w->is_mapped_object = !rarely(4);
	if (!w->is_mapped_object)
		file->origin = WEIGHTD__V1__FILE_EVIDENCE__ORIGIN__ORIGIN_OPEN;
	if (rarely(10)) {
		file->written = (Weightd__V1__Tristate)draw(3);
		bad(w, file->written != SEEN(NO));
	}
	w->digest_state =
	    rarely(3) ? (Weightd__V1__DigestState)draw(7) : STATE(COMPUTED);
	model->bundle->content_digest_state = w->digest_state;
	model->bundle->files[0]->digest_state = w->digest_state;
	w->has_adapter = rarely(8);
	if (w->has_adapter)
		make_candidate(group_in(all), KIND(ADAPTER), "Adapter");
}

static void
draw_question(struct world *w, Weightd__V1__Expectation *e)
{
	w->least = GRADE(WITNESSED);
	if (rarely(3)) {
		w->least = (Weightd__V1__Grade)(4 + draw(3));
		e->minimum_grade = w->least;
	}
	w->pins_parameters = rarely(2);
	w->parameters_equal = !rarely(3);
	if (w->pins_parameters)
		pin_parameters(
		    e, MAKE_PARAMETERS + (w->parameters_equal ? 0 : 1));
	w->pins_digest = rarely(2);
	w->digest_equals = !rarely(3);
	if (w->pins_digest)
		make_digest(&e->digest, w->digest_equals ? 0xc0 : 0xcc);
	w->pins_settings = rarely(4);
	w->setting_equals = !rarely(3);
	if (w->pins_settings)
		pin_setting(e, "bundle.qwen2.block_count",
		    w->setting_equals ? "28" : "32");
	w->pins_recipe = rarely(4);
	w->recipe_equals = !rarely(3);
	if (w->pins_recipe)
		pin_recipe(
		    e, w->recipe_equals ? MAKE_DERIVED : "derived:other");
	w->pins_name = rarely(3);
	w->name_equals = !rarely(3);
	if (w->pins_name)
		pin_model(e, w->name_equals ? MAKE_NAME : "other");
	w->allows_name = rarely(2);
	e->allow_name_only = w->allows_name;
	w->expects_adapter = rarely(6);
	if (w->expects_adapter)
		pin_companion(e, KIND(ADAPTER), -1);
}

static bool
is_digest_known(const struct world *w)
{
	return w->digest_state == STATE(COMPUTED) ||
	    w->digest_state == STATE(CACHED) ||
	    w->digest_state == STATE(KERNEL);
}

static bool
is_change_excused(const struct world *w)
{
	return w->pins_digest && w->digest_equals &&
	    w->digest_state == STATE(COMPUTED) && w->is_mapped_wholly &&
	    !w->on_overlay && !w->on_device && !w->is_copied &&
	    w->is_mapped_object && w->grade == GRADE(RESIDENT);
}

/* Lines 8 to 11 over the facts. */
static bool
may_match(const struct world *w, bool has_pins)
{
	bool settings_matter =
	    w->pins_settings || w->pins_recipe || w->pins_digest;

	if (w->is_bad || w->grade < w->least)
		return false;
	if (w->read_since == SEEN(YES) ||
	    (w->is_mutable && w->read_since != SEEN(NO)))
		return false;
	if ((w->grade < GRADE(RESIDENT) || w->on_device) &&
	    (w->updatable == SEEN(YES) ||
		(w->is_mutable && w->updatable != SEEN(NO))))
		return false;
	if (w->is_mutable && w->grade < GRADE(WITNESSED))
		return false;
	if (w->has_changed && !is_change_excused(w))
		return false;
	if (w->has_stale && settings_matter)
		return false;
	if (!has_pins)
		return true;
	if ((w->pins_parameters && !w->parameters_equal) ||
	    (w->pins_settings && !w->setting_equals) ||
	    (w->pins_recipe && !w->recipe_equals) ||
	    (w->pins_name && !w->name_equals) ||
	    w->has_adapter != w->expects_adapter)
		return false;
	if (w->pins_digest && (!w->digest_equals || !is_digest_known(w)))
		return false;
	return !w->pins_name || w->allows_name || w->pins_parameters ||
	    w->pins_settings || w->pins_recipe || w->pins_digest;
}

static bool
one_round(int round)
{
	struct world w = { .is_bad = false };
	Weightd__V1__Attestation *all = make_attestation();
	Weightd__V1__Expectation *e = make_expectation();
	Weightd__V1__Verdict *verdict;
	bool has_pins, is_asked, expected, matched;

	draw_port(&w, all);
	while (rarely(3))
		draw_flag(&w, all);
	draw_evidence(&w, all);
	draw_question(&w, e);
	has_pins = w.pins_parameters || w.pins_digest || w.pins_settings ||
	    w.pins_recipe || w.pins_name || w.expects_adapter;
	is_asked = has_pins || e->minimum_grade != GRADE(UNSPECIFIED);
	expected = may_match(&w, has_pins);
	verdict = judge_or_fail(is_asked ? e : NULL, all, "random");
	matched = verdict->kind == VERDICT(MATCH);
	if (matched != expected)
		ck_abort_msg("round %d: line %u, kind %d: %s", round,
		    verdict->line, (int)verdict->kind, verdict->reason);
	wd_message_free(verdict);
	wd_message_free(e);
	wd_message_free(all);
	return matched;
}

START_TEST(there_is_a_match_exactly_when_nothing_forbids_it)
{
	int round, matches = 0;

	for (round = 0; round < ROUNDS; round++)
		matches += one_round(round) ? 1 : 0;
	/* the oracle must have had both kinds to tell apart */
	ck_assert_int_gt(matches, ROUNDS / 100);
	ck_assert_int_lt(matches, ROUNDS / 2);
}
END_TEST

WD_SUITE_BEGIN("verdict random")
WD_TEST(there_is_a_match_exactly_when_nothing_forbids_it);
WD_SUITE_END
