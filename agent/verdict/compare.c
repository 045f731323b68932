#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "verdict/parts.h"

/* One comparison at work: what is compared, and where differences go. */
struct comparing {
	const struct wd_unit *unit;
	const Weightd__V1__Expectation *expectation;
	struct wd_build *build;
	Weightd__V1__Verdict *verdict;
	struct wd_comparison *result;
};

/* ---- results --------------------------------------------------------------
 */

static void
point_at(struct comparing *c, Weightd__V1__Difference *row, uint32_t candidate)
{
	row->candidate =
	    wd_build_new(c->build, &weightd__v1__candidate_ref__descriptor);
	if (row->candidate == NULL)
		return;
	row->candidate->group = c->unit->group_index;
	row->candidate->candidate = candidate;
}

/* Notes a difference. The texts are bytes of peers and files: escaped here. */
static void
differ_at(struct comparing *c, uint32_t candidate, const char *field,
    const char *expected, const char *observed)
{
	struct wd_comparison *result = c->result;
	Weightd__V1__Difference *row = WD_BUILD_ADD(c->build, c->verdict,
	    differences, &weightd__v1__difference__descriptor);
	char what[112], wanted[144], seen[224];

	wd_escape_short(what, sizeof(what), wd_slice_text(field));
	wd_escape_short(wanted, sizeof(wanted), wd_slice_text(expected));
	wd_escape_short(seen, sizeof(seen), wd_slice_text(observed));
	if (result->different++ == 0)
		(void)snprintf(result->first_difference,
		    sizeof(result->first_difference),
		    "%s: expected %s, observed %s", what, wanted, seen);
	if (row == NULL)
		return;
	wd_build_text(c->build, &row->field, field);
	wd_build_text(c->build, &row->expected, expected);
	wd_build_text(c->build, &row->observed, observed);
	point_at(c, row, candidate);
}

static void
differ(struct comparing *c, const char *field, const char *expected,
    const char *observed)
{
	differ_at(c, c->unit->model_index, field, expected, observed);
}

static void
not_known(struct comparing *c, const char *text)
{
	struct wd_comparison *result = c->result;

	if (result->unknown++ == 0)
		(void)snprintf(result->first_unknown,
		    sizeof(result->first_unknown), "%s", text);
}

/* ---- digests --------------------------------------------------------------
 */

static const char *
digest_text(const Weightd__V1__Digest *digest, char text[WD_SHA256_TEXT_BYTES])
{
	struct wd_sha256 sha256;

	if (!wd_message_digest(digest, &sha256))
		return "none";
	return wd_sha256_text(&sha256, text);
}

static bool
is_same_digest(const Weightd__V1__Digest *a, const Weightd__V1__Digest *b)
{
	struct wd_sha256 left, right;

	return wd_message_digest(a, &left) && wd_message_digest(b, &right) &&
	    wd_sha256_equal(&left, &right);
}

/* Made from the bytes; a digest that only a file's name gives is a claim. */
static bool
is_measured(const Weightd__V1__Digest *digest, Weightd__V1__DigestState state)
{
	struct wd_sha256 sha256;

	return wd_message_digest(digest, &sha256) &&
	    (state == WD_DIGEST(COMPUTED) || state == WD_DIGEST(CACHED) ||
		state == WD_DIGEST(KERNEL));
}

/* The one weight file that is the whole bundle, or NULL. */
static const Weightd__V1__BundleFile *
only_file(const Weightd__V1__Bundle *bundle)
{
	const Weightd__V1__BundleFile *only = NULL;
	size_t i;

	if (!bundle->single_file)
		return NULL;
	for (i = 0; i < bundle->n_files; i++) {
		if (bundle->files[i]->role !=
		    WEIGHTD__V1__FILE_ROLE__FILE_ROLE_WEIGHTS)
			continue;
		if (only != NULL)
			return NULL;
		only = bundle->files[i];
	}
	return only;
}

enum wd_answer
wd_compare_digest(
    const Weightd__V1__Digest *pin, const Weightd__V1__Bundle *bundle)
{
	const Weightd__V1__BundleFile *file = only_file(bundle);
	bool is_content_known =
	    is_measured(bundle->content_digest, bundle->content_digest_state);
	bool is_file_known =
	    file != NULL && is_measured(file->sha256, file->digest_state);

	if ((is_content_known && is_same_digest(pin, bundle->content_digest)) ||
	    (is_file_known && is_same_digest(pin, file->sha256)))
		return WD_EQUAL;
	if (!is_content_known || (file != NULL && !is_file_known))
		return WD_UNKNOWN;
	return WD_DIFFERENT;
}

static bool
is_pending(const Weightd__V1__Bundle *bundle)
{
	return bundle->content_digest_state == WD_DIGEST(PENDING);
}

/* A pin may be of either kind, and which one it is nobody can tell when it
 * equals neither: of a single file both are shown, each by its name. */
static void
differ_by_digest(struct comparing *c, const Weightd__V1__Digest *pin)
{
	const Weightd__V1__Bundle *bundle = c->unit->model->bundle;
	const Weightd__V1__BundleFile *file = only_file(bundle);
	char text[3][WD_SHA256_TEXT_BYTES], name[WD_LABEL_BYTES];
	char observed[3 * WD_SHA256_TEXT_BYTES + WD_LABEL_BYTES];

	(void)digest_text(pin, text[0]);
	(void)digest_text(bundle->content_digest, text[1]);
	if (file == NULL) {
		differ(c, "digest", text[0], text[1]);
		return;
	}
	(void)wd_escape_short(name, sizeof(name),
	    (struct wd_slice){ file->name.data, file->name.len });
	(void)snprintf(observed, sizeof(observed),
	    "content digest %s, file sha256 of %s %s", text[1],
	    name[0] == '\0' ? "the file" : name,
	    digest_text(file->sha256, text[2]));
	differ(c, "digest", text[0], observed);
}

static void
compare_digest(struct comparing *c)
{
	const Weightd__V1__Digest *pin = c->expectation->digest;
	const Weightd__V1__Bundle *bundle = c->unit->model->bundle;

	if (pin == NULL)
		return;
	switch (wd_compare_digest(pin, bundle)) {
	case WD_EQUAL:
		return;
	case WD_UNKNOWN:
		not_known(c,
		    is_pending(bundle) ?
			"the pinned digest is still being computed; ask "
			"again" :
			"the weights' digest could not be computed; see the "
			"blind spots");
		return;
	case WD_DIFFERENT:
		differ_by_digest(c, pin);
		return;
	}
}

static void
compare_encoding(struct comparing *c)
{
	const Weightd__V1__Digest *pin = c->expectation->encoding_digest;
	const Weightd__V1__Digest *seen =
	    c->unit->model->bundle->encoding_digest;
	char text[2][WD_SHA256_TEXT_BYTES];

	if (pin == NULL || is_same_digest(pin, seen))
		return;
	if (seen == NULL)
		not_known(c,
		    "the encodings could not be read; see the notes on the "
		    "bundle");
	else
		differ(c, "encoding_digest", digest_text(pin, text[0]),
		    digest_text(seen, text[1]));
}

/* ---- numbers and names ----------------------------------------------------
 */

static void
compare_parameters(struct comparing *c)
{
	const Weightd__V1__Bundle *bundle = c->unit->model->bundle;
	uint64_t pinned = c->expectation->parameter_count;
	char expected[32], observed[48];

	if (!wd_expects_parameters(c->expectation))
		return;
	if (bundle->parameters_known && bundle->parameter_count == pinned)
		return;
	if (!bundle->parameters_known && bundle->parameter_count <= pinned) {
		not_known(c,
		    "the parameters could not all be counted, an encoding is "
		    "not known; pin the digest or the encoding instead");
		return;
	}
	(void)snprintf(expected, sizeof(expected), "%" PRIu64, pinned);
	(void)snprintf(observed, sizeof(observed), "%s%" PRIu64,
	    bundle->parameters_known ? "" : "at least ",
	    bundle->parameter_count);
	differ(c, "parameter_count", expected, observed);
}

static bool
has_name(const Weightd__V1__Candidate *model, const char *name)
{
	size_t i;

	if (strcmp(model->bundle->inner_name, name) == 0 ||
	    strcmp(model->bundle->repository, name) == 0)
		return true;
	for (i = 0; i < model->n_names; i++)
		if (strcmp(model->names[i], name) == 0)
			return true;
	return false;
}

static void
compare_model(struct comparing *c)
{
	const Weightd__V1__Candidate *model = c->unit->model;
	const char *observed = model->bundle->inner_name;

	if (!wd_expects_model(c->expectation) ||
	    has_name(model, c->expectation->model))
		return;
	if (observed[0] == '\0')
		observed = model->n_names > 0 ? model->names[0] : "no name";
	differ(c, "model", c->expectation->model, observed);
}

static void
compare_recipe(struct comparing *c)
{
	const Weightd__V1__Bundle *bundle = c->unit->model->bundle;
	bool is_derived = wd_expects_derived_recipe(c->expectation);
	const char *seen =
	    is_derived ? bundle->derived_recipe : bundle->declared_recipe;

	if (!wd_expects_recipe(c->expectation) ||
	    strcmp(c->expectation->recipe, seen) == 0)
		return;
	if (is_derived && seen[0] == '\0')
		not_known(c,
		    "the recipe could not be derived; see the notes on the "
		    "bundle");
	else
		differ(c, "recipe", c->expectation->recipe,
		    seen[0] == '\0' ? "none declared" : seen);
}

/* ---- settings -------------------------------------------------------------
 */

static const char *
value_of(Weightd__V1__Setting *const *settings, size_t count, const char *key)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (strcmp(settings[i]->key, key) == 0)
			return settings[i]->value;
	return NULL;
}

static void
compare_setting(struct comparing *c, const Weightd__V1__Setting *pin)
{
	const Weightd__V1__Bundle *bundle = c->unit->model->bundle;
	const Weightd__V1__Group *group = c->unit->group;
	bool is_run = wd_slice_starts(wd_slice_text(pin->key), "run.");
	const char *seen = is_run ?
	    value_of(group->run_settings, group->n_run_settings, pin->key) :
	    value_of(bundle->settings, bundle->n_settings, pin->key);
	char field[320];

	if (seen != NULL && strcmp(seen, pin->value) == 0)
		return;
	(void)snprintf(field, sizeof(field), "settings[%.300s]", pin->key);
	differ(c, field, pin->value, seen == NULL ? "not set" : seen);
}

/* ---- companions -----------------------------------------------------------
 */

static bool
is_held(const Weightd__V1__Candidate *candidate)
{
	return wd_is_companion(candidate) &&
	    wd_candidate_grade(candidate) >= WD_GRADE(INFERRED);
}

/* Whether a held companion is the one that is expected. */
static enum wd_answer
fits(const Weightd__V1__ExpectedCompanion *expected,
    const Weightd__V1__Candidate *held)
{
	if (held->bundle->kind != expected->kind)
		return WD_DIFFERENT;
	if (expected->want_case != WEIGHTD__V1__EXPECTED_COMPANION__WANT_DIGEST)
		return WD_EQUAL;
	return wd_compare_digest(expected->digest, held->bundle);
}

static void
companion_field(char field[64], Weightd__V1__BundleKind kind)
{
	(void)snprintf(field, 64, "companions[%s]", wd_kind_word(kind));
}

static void
compare_held(struct comparing *c, uint32_t index)
{
	const Weightd__V1__Candidate *held = c->unit->group->candidates[index];
	char label[WD_LABEL_BYTES], field[64];
	bool is_unknown = false;
	size_t i;

	for (i = 0; i < c->expectation->n_companions; i++) {
		enum wd_answer answer =
		    fits(c->expectation->companions[i], held);

		if (answer == WD_EQUAL)
			return;
		is_unknown = is_unknown || answer == WD_UNKNOWN;
	}
	if (is_unknown) {
		not_known(
		    c, "the digest of a companion is not known yet; ask again");
		return;
	}
	companion_field(field, held->bundle->kind);
	differ_at(
	    c, index, field, "none like it", wd_candidate_label(held, label));
}

/* Whether an expected companion is there. Absence needs a complete look. */
static enum wd_answer
find_expected(
    struct comparing *c, const Weightd__V1__ExpectedCompanion *expected)
{
	const Weightd__V1__Group *group = c->unit->group;
	bool may_hide =
	    wd_blind_spot_of(c->unit->attestation,
		WEIGHTD__V1__BLIND_SPOT__SCOPE__SCOPE_WEIGHTS) != NULL;
	enum wd_answer answer = may_hide ? WD_UNKNOWN : WD_DIFFERENT;
	size_t i;

	for (i = 0; i < group->n_candidates; i++) {
		enum wd_answer one = is_held(group->candidates[i]) ?
		    fits(expected, group->candidates[i]) :
		    WD_DIFFERENT;

		if (one == WD_EQUAL)
			return WD_EQUAL;
		if (one == WD_UNKNOWN)
			answer = WD_UNKNOWN;
	}
	return answer;
}

/* "absent", and what would be it if it were only there. */
static const char *
absent_words(struct comparing *c,
    const Weightd__V1__ExpectedCompanion *expected, char *words, size_t size)
{
	const Weightd__V1__Group *group = c->unit->group;
	char label[WD_LABEL_BYTES];
	size_t i;

	for (i = 0; i < group->n_candidates; i++) {
		const Weightd__V1__Candidate *one = group->candidates[i];

		if (!wd_is_companion(one) || is_held(one) ||
		    fits(expected, one) == WD_DIFFERENT)
			continue;
		(void)snprintf(words, size, "absent: %s is %s",
		    wd_candidate_label(one, label),
		    one->in_use == WD_SEEN(NO) ? "named and not in use" :
						 "only named, grade CLAIMED");
		return words;
	}
	return "absent";
}

static void
compare_expected(
    struct comparing *c, const Weightd__V1__ExpectedCompanion *expected)
{
	char field[64], text[WD_SHA256_TEXT_BYTES];
	char words[WD_LABEL_BYTES + 64];
	bool is_any =
	    expected->want_case == WEIGHTD__V1__EXPECTED_COMPANION__WANT_ANY;

	companion_field(field, expected->kind);
	switch (find_expected(c, expected)) {
	case WD_EQUAL:
		return;
	case WD_UNKNOWN:
		not_known(c,
		    "an expected companion may be where the agent could not "
		    "look, or its digest is not known yet; see the blind "
		    "spots");
		return;
	case WD_DIFFERENT:
		differ(c, field,
		    is_any ? "any" : digest_text(expected->digest, text),
		    absent_words(c, expected, words, sizeof(words)));
		return;
	}
}

static void
compare_companions(struct comparing *c)
{
	uint32_t i;

	for (i = 0; i < c->unit->group->n_candidates; i++)
		if (is_held(c->unit->group->candidates[i]))
			compare_held(c, i);
	for (i = 0; i < c->expectation->n_companions; i++)
		compare_expected(c, c->expectation->companions[i]);
}

void
wd_compare_unit(const struct wd_unit *unit,
    const Weightd__V1__Expectation *expectation, struct wd_build *build,
    Weightd__V1__Verdict *verdict, struct wd_comparison *comparison)
{
	struct comparing c = { unit, expectation, build, verdict, comparison };
	size_t i;

	*comparison = (struct wd_comparison){ 0 };
	if (!wd_expects_anything(expectation) || unit->model == NULL ||
	    unit->model->bundle == NULL)
		return;
	compare_model(&c);
	compare_parameters(&c);
	compare_recipe(&c);
	compare_digest(&c);
	compare_encoding(&c);
	for (i = 0; i < expectation->n_settings; i++)
		compare_setting(&c, expectation->settings[i]);
	compare_companions(&c);
}

/* ---- what a match does not vouch for --------------------------------------
 */

void
wd_list_not_pinned(const Weightd__V1__Expectation *e, bool run_known,
    struct wd_build *build, Weightd__V1__Verdict *verdict)
{
	bool has_encoding = e != NULL &&
	    (e->encoding_digest != NULL || wd_expects_derived_recipe(e));
	size_t *count = &verdict->n_not_pinned;
	char ***items = &verdict->not_pinned;

	if (!wd_expects_anything(e)) {
		wd_build_add_text(build, count, items,
		    "everything: no expectation was given, the weights are "
		    "proven and were compared with nothing");
		return;
	}
	if (e->digest == NULL) {
		wd_build_add_text(build, count, items,
		    "content: the values of the weights; another training or "
		    "merge can have the same shape (pin --digest)");
		if (!has_encoding)
			wd_build_add_text(build, count, items,
			    "encoding: parameter count alone does not tell 4 "
			    "bits from 8 (pin --encoding or --digest)");
		if (!wd_expects_setting(e, "bundle."))
			wd_build_add_text(build, count, items,
			    "settings: what the engine reads from the bundle "
			    "besides the tensors (pin --setting or --digest)");
		wd_build_add_text(build, count, items,
		    "tokenizer: only a content digest pins it (pin --digest)");
	}
	if (!wd_expects_setting(e, "run."))
		wd_build_add_text(build, count, items,
		    run_known ?
			"run settings: context size, speculative decoding, "
			"cache (pin --setting run.KEY=VALUE)" :
			"run settings: context size, speculative decoding, "
			"cache (they cannot be pinned here: the agent cannot "
			"tell all options of this program)");
}
