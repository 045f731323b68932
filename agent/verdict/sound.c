#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "verdict/parts.h"

/* ---- what a candidate is --------------------------------------------------
 */

static struct wd_slice
last_component(struct wd_slice path)
{
	struct wd_slice part = path;

	while (path.len > 0 && path.data[path.len - 1] == '/')
		path.len--;
	part = path;
	while (part.len > 0 && part.data[part.len - 1] != '/')
		part.len--;
	return (struct wd_slice){ path.data + part.len, path.len - part.len };
}

const char *
wd_candidate_label(
    const Weightd__V1__Candidate *candidate, char label[WD_LABEL_BYTES])
{
	const Weightd__V1__Bundle *bundle = candidate->bundle;
	struct wd_slice name = { NULL, 0 };

	if (bundle != NULL && bundle->inner_name[0] != '\0')
		name = wd_slice_text(bundle->inner_name);
	else if (bundle != NULL && bundle->path.len > 0)
		name = last_component(
		    (struct wd_slice){ bundle->path.data, bundle->path.len });
	if (name.len == 0)
		name = wd_slice_text("model without a name");
	return wd_escape_short(label, WD_LABEL_BYTES, name);
}

bool
wd_is_companion(const Weightd__V1__Candidate *candidate)
{
	const Weightd__V1__Bundle *bundle = candidate->bundle;

	return bundle != NULL &&
	    (bundle->kind == WD_KIND_OF(ADAPTER) ||
		bundle->kind == WD_KIND_OF(DRAFT) ||
		bundle->kind == WD_KIND_OF(PROJECTOR));
}

Weightd__V1__Grade
wd_candidate_grade(const Weightd__V1__Candidate *candidate)
{
	Weightd__V1__Grade lowest = candidate->grade;
	size_t i;

	/* a file that was only found by its path has no grade of its own */
	for (i = 0; i < candidate->n_files; i++)
		if (candidate->files[i]->grade != WD_GRADE(UNSPECIFIED) &&
		    candidate->files[i]->grade < lowest)
			lowest = candidate->files[i]->grade;
	return lowest;
}

/* The name of an enum value behind its prefix. */
static const char *
word_of(const ProtobufCEnumDescriptor *type, int number, size_t prefix)
{
	const ProtobufCEnumValue *value =
	    protobuf_c_enum_descriptor_get_value(type, number);

	return value == NULL ? "unknown" : value->name + prefix;
}

const char *
wd_grade_word(Weightd__V1__Grade grade)
{
	return word_of(
	    &weightd__v1__grade__descriptor, (int)grade, strlen("GRADE_"));
}

const char *
wd_find_word(
    const struct wd_word *words, size_t count, int value, const char *otherwise)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (words[i].value == value)
			return words[i].word;
	return otherwise;
}

const char *
wd_kind_word(Weightd__V1__BundleKind kind)
{
	static const struct wd_word words[] = {
		{ WD_KIND_OF(MODEL), "model" },
		{ WD_KIND_OF(ADAPTER), "adapter" },
		{ WD_KIND_OF(DRAFT), "draft" },
		{ WD_KIND_OF(PROJECTOR), "projector" },
	};

	return WD_WORD(words, kind, "unknown");
}

const Weightd__V1__BlindSpot *
wd_blind_spot_of(const Weightd__V1__Attestation *attestation,
    Weightd__V1__BlindSpot__Scope scope)
{
	size_t i;

	for (i = 0; i < attestation->n_blind_spots; i++)
		if (attestation->blind_spots[i]->scope == scope)
			return attestation->blind_spots[i];
	return NULL;
}

/* ---- flags, wherever they were set ----------------------------------------
 */

static bool
has_flag(const Weightd__V1__Flag *flags, size_t count, Weightd__V1__Flag flag)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (flags[i] == flag)
			return true;
	return false;
}

static bool
holds(const Weightd__V1__Candidate *model, int32_t pid)
{
	size_t i;

	for (i = 0; i < model->n_pids; i++)
		if (model->pids[i] == pid)
			return true;
	return false;
}

static bool
process_has_flag(const Weightd__V1__Process *process,
    const Weightd__V1__Candidate *model, Weightd__V1__Flag flag)
{
	return process->identity != NULL &&
	    holds(model, process->identity->pid) &&
	    has_flag(process->flags, process->n_flags, flag);
}

bool
wd_unit_has_flag(const struct wd_unit *unit, Weightd__V1__Flag flag)
{
	const Weightd__V1__Attestation *all = unit->attestation;
	const Weightd__V1__Candidate *model = unit->model;
	size_t i;

	if (has_flag(all->flags, all->n_flags, flag) ||
	    (unit->group != NULL &&
		has_flag(unit->group->flags, unit->group->n_flags, flag)))
		return true;
	if (model == NULL)
		return false;
	if (has_flag(model->flags, model->n_flags, flag))
		return true;
	for (i = 0; i < model->n_files; i++)
		if (has_flag(
			model->files[i]->flags, model->files[i]->n_flags, flag))
			return true;
	for (i = 0; i < all->n_processes; i++)
		if (process_has_flag(all->processes[i], model, flag))
			return true;
	return false;
}

/* ---- the clauses of line 8 ------------------------------------------------
 */

/* The unit and what was asked of it. For a companion `pin` is its own. */
struct asked {
	const struct wd_unit *unit;
	const Weightd__V1__Expectation *expectation;
	const Weightd__V1__Digest *pin; /* NULL: no digest is pinned */
	Weightd__V1__Grade grade;
	Weightd__V1__Grade least;
};

static bool
is_forwarder(const struct asked *asked)
{
	return wd_unit_has_flag(asked->unit, WD_FLAG(FORWARDER));
}

static bool
is_below(const struct asked *asked)
{
	return asked->grade < asked->least;
}

static bool
is_modified(const struct asked *asked)
{
	const Weightd__V1__Candidate *model = asked->unit->model;
	size_t i;

	for (i = 0; i < model->n_files; i++)
		if (model->files[i]->written == WD_SEEN(YES))
			return true;
	return wd_unit_has_flag(asked->unit, WD_FLAG(MODIFIED_IN_MEMORY));
}

static bool
is_partial(const struct asked *asked)
{
	return wd_unit_has_flag(asked->unit, WD_FLAG(PARTIAL));
}

static bool
is_incomplete(const struct asked *asked)
{
	const Weightd__V1__Bundle *bundle = asked->unit->model->bundle;

	return wd_unit_has_flag(asked->unit, WD_FLAG(INCOMPLETE)) ||
	    (bundle != NULL && bundle->incomplete);
}

static bool
is_loading(const struct asked *asked)
{
	return wd_unit_has_flag(asked->unit, WD_FLAG(LOADING));
}

static bool
is_mutable(const struct asked *asked)
{
	return wd_unit_has_flag(asked->unit, WD_FLAG(MUTABLE));
}

static bool
is_mutable_and_weak(const struct asked *asked)
{
	return is_mutable(asked) && asked->grade < WD_GRADE(WITNESSED);
}

/* "Not seen" is not "no" for an engine that can do it. */
static bool
could_be(const struct asked *asked, Weightd__V1__Tristate seen)
{
	return seen == WD_SEEN(YES) ||
	    (is_mutable(asked) && seen != WD_SEEN(NO));
}

static bool
has_read_others(const struct asked *asked)
{
	return could_be(asked, asked->unit->model->other_weights_read_since);
}

/* What computes may be a copy on a device, of which mappings say nothing: the
 * old bytes of a file that changed, or weights that came without one. */
static bool
may_compute_elsewhere(const struct asked *asked)
{
	return asked->unit->model->device_memory != WD_SEEN(NO);
}

/* Or a copy that was made at load in the process's own memory: the old bytes,
 * repacked. */
static bool
may_compute_from_copies(const struct asked *asked)
{
	return may_compute_elsewhere(asked) ||
	    asked->unit->model->memory_copies != WD_SEEN(NO);
}

static bool
is_updatable(const struct asked *asked)
{
	bool could =
	    could_be(asked, asked->unit->model->updatable_without_files);

	if (may_compute_elsewhere(asked))
		return could;
	return asked->grade < WD_GRADE(RESIDENT) && could;
}

/* Every file was reached through a mapping: what was hashed is what is
 * mapped. */
static bool
is_mapped_object(const Weightd__V1__Candidate *model)
{
	size_t i;

	for (i = 0; i < model->n_files; i++)
		if (model->files[i]->origin !=
		    WEIGHTD__V1__FILE_EVIDENCE__ORIGIN__ORIGIN_MAPPED)
			return false;
	return model->n_files > 0;
}

static bool
is_before(
    const Google__Protobuf__Timestamp *a, const Google__Protobuf__Timestamp *b)
{
	return a->seconds != b->seconds ? a->seconds < b->seconds :
					  a->nanos < b->nanos;
}

/* Every digest was begun after the question came: a digest of nine minutes
 * ago says nothing about a file whose times cannot be believed. */
static bool
is_hashed_now(const struct asked *asked)
{
	const Weightd__V1__Bundle *bundle = asked->unit->model->bundle;
	const Google__Protobuf__Timestamp *since =
	    asked->unit->attestation->started_at;
	size_t i;

	if (bundle->content_digest_state != WD_DIGEST(COMPUTED) ||
	    since == NULL)
		return false;
	for (i = 0; i < bundle->n_files; i++)
		if (bundle->files[i]->counted &&
		    (bundle->files[i]->digested_at == NULL ||
			is_before(bundle->files[i]->digested_at, since)))
			return false;
	return true;
}

/* A change of the file does not matter when the pages that are mapped at this
 * moment were hashed for this answer and are what was pinned. On overlayfs
 * the mapping may be of the lower file and the digest of the upper one. */
static bool
is_change_harmless(const struct asked *asked)
{
	const Weightd__V1__Candidate *model = asked->unit->model;

	return asked->pin != NULL && asked->grade == WD_GRADE(RESIDENT) &&
	    model->mapped_wholly && model->on_overlay == WD_SEEN(NO) &&
	    is_mapped_object(model) && model->bundle != NULL &&
	    is_hashed_now(asked) &&
	    wd_compare_digest(asked->pin, model->bundle) == WD_EQUAL;
}

static bool
is_changed(const struct asked *asked)
{
	return wd_unit_has_flag(asked->unit, WD_FLAG(CHANGED_SINCE_LOAD)) &&
	    (may_compute_from_copies(asked) || !is_change_harmless(asked));
}

static bool
is_stale(const struct asked *asked)
{
	const Weightd__V1__Expectation *e = asked->expectation;

	return e != NULL &&
	    (e->n_settings > 0 || wd_expects_recipe(e) || asked->pin != NULL) &&
	    wd_unit_has_flag(asked->unit, WD_FLAG(SETTINGS_STALE));
}

static const struct clause {
	bool (*applies)(const struct asked *asked);
	const char *text; /* thing and reason; the remedy behind it */
} clauses[] = {
	{ is_forwarder,
	    "FORWARDER: the process passes traffic on; ask the worker behind "
	    "it, at the worker's own port" },
	{ is_modified,
	    "MODIFIED_IN_MEMORY: pages of the weights were written after the "
	    "load, so the file no longer says what runs; restart the server "
	    "without merging adapters at run time" },
	{ is_partial,
	    "PARTIAL: other ranks hold the rest of the model; ask every host "
	    "that serves a rank" },
	{ is_incomplete,
	    "INCOMPLETE: a shard is missing or a file is cut; complete the "
	    "download and restart the server" },
	{ is_loading,
	    "LOADING: the weights are not wholly loaded yet; ask again when "
	    "the server is ready" },
	{ is_mutable_and_weak,
	    "MUTABLE: the engine can swap its weights, and no better than "
	    "INFERRED is seen of those that run now; let the agent watch from "
	    "the load on, or map the file" },
	{ has_read_others,
	    "MUTABLE: it was not excluded that other weights were read since "
	    "these; restart the server with the wanted model" },
	{ is_updatable,
	    "MUTABLE: it was not excluded that the engine got new weights "
	    "without a file; switch run-time weight updates off, or map the "
	    "file" },
	{ is_changed,
	    "CHANGED_SINCE_LOAD: the file changed after it was loaded; "
	    "restart the server, or pin the content digest of wholly mapped "
	    "weights of which neither a device nor the engine (llama-server "
	    "--no-repack) has a copy" },
	{ is_stale,
	    "SETTINGS_STALE: a settings file is newer than the process, so "
	    "the pinned value may not be what runs; restart the server" },
};

/* ---- nothing was found, or too little -------------------------------------
 */

/* A text that another made ready to show: nothing of it may act on a
 * terminal, whoever that was. */
static void
quote(char *out, size_t size, const char *text)
{
	wd_escape_short(out, size, wd_slice_text(text));
}

static bool
rule_blind(const struct wd_unit *unit, struct wd_ruling *ruling)
{
	const Weightd__V1__BlindSpot *spot = wd_blind_spot_of(
	    unit->attestation, WEIGHTD__V1__BLIND_SPOT__SCOPE__SCOPE_WEIGHTS);
	char what[200], reason[200], remedy[300];

	if (spot == NULL)
		return wd_rule(ruling, WD_VERDICT(UNVERIFIABLE), 8,
		    "BLIND: a process behind the port could not be looked "
		    "into; let the agent run with the rights to look");
	quote(what, sizeof(what), spot->what);
	quote(reason, sizeof(reason), spot->reason);
	quote(remedy, sizeof(remedy), spot->remedy);
	return wd_rule(ruling, WD_VERDICT(UNVERIFIABLE), 8,
	    "BLIND: weights may be where the agent could not look: %s: %s; %s",
	    what, reason, remedy);
}

/* Names whom the traffic was seen going to, so that they can be asked. */
static bool
rule_forwarder(const struct wd_unit *unit, struct wd_ruling *ruling)
{
	char workers[400] = "", label[WD_LABEL_BYTES];
	size_t i, len = 0;

	for (i = 0; i < unit->group->n_hops && len + 1 < sizeof(workers); i++) {
		int more = snprintf(workers + len, sizeof(workers) - len,
		    "%s%s", len == 0 ? "; seen behind it: " : ", ",
		    wd_hop_label(unit->group->hops[i], label));

		if (more < 0)
			break;
		len += (size_t)more;
	}
	return wd_rule(ruling, WD_VERDICT(UNVERIFIABLE), 8, "%s%s",
	    clauses[0].text,
	    len > 0 ?
		workers :
		"; none was seen, so ask again while it passes requests on");
}

static bool
rule_none(const struct wd_unit *unit, struct wd_ruling *ruling)
{
	if (wd_unit_has_flag(unit, WD_FLAG(FORWARDER)))
		return rule_forwarder(unit, ruling);
	if (wd_unit_has_flag(unit, WD_FLAG(LOADING)))
		return wd_rule(ruling, WD_VERDICT(UNVERIFIABLE), 8,
		    "LOADING: no weights are loaded yet; ask again when the "
		    "server is ready");
	if (wd_unit_has_flag(unit, WD_FLAG(ORPHAN_HOLDER)))
		return wd_rule(ruling, WD_VERDICT(UNVERIFIABLE), 8,
		    "ORPHAN_HOLDER: no weights are held, and the process "
		    "behind "
		    "the port seems to have only inherited it; look whether "
		    "it still serves, and start the server of the model");
	if (unit->group != NULL && unit->group->n_candidates > 0)
		return wd_rule(ruling, WD_VERDICT(UNVERIFIABLE), 8,
		    "NONE: only adapters, drafts or projectors are held, and "
		    "no model that they could belong to; ask again when the "
		    "server has loaded its model");
	return wd_rule(ruling, WD_VERDICT(UNVERIFIABLE), 8,
	    "NONE: no process behind the port has weights mapped or open, and "
	    "what was read and closed cannot be seen; have the server map its "
	    "file, or ask the worker's own port");
}

static bool
is_blind(const struct wd_unit *unit)
{
	return !unit->group->members_complete ||
	    unit->group->grade == WD_GRADE(BLIND);
}

static bool
rule_absent(const struct wd_unit *unit, struct wd_ruling *ruling)
{
	bool may_hide =
	    wd_blind_spot_of(unit->attestation,
		WEIGHTD__V1__BLIND_SPOT__SCOPE__SCOPE_WEIGHTS) != NULL;

	if (unit->group != NULL && (is_blind(unit) || may_hide))
		return rule_blind(unit, ruling);
	return rule_none(unit, ruling);
}

/* Why the grade is no better: the reason of the file that has the lowest. */
static const char *
reason_of_grade(const Weightd__V1__Candidate *model, Weightd__V1__Grade grade)
{
	size_t i;

	for (i = 0; i < model->n_files; i++)
		if (model->files[i]->grade == grade &&
		    model->files[i]->reason[0] != '\0')
			return model->files[i]->reason;
	return "the evidence is no stronger";
}

static bool
rule_below(
    const struct asked *asked, const char *label, struct wd_ruling *ruling)
{
	const Weightd__V1__Candidate *model = asked->unit->model;
	char reason[300];

	quote(reason, sizeof(reason), reason_of_grade(model, asked->grade));
	return wd_rule(ruling, WD_VERDICT(UNVERIFIABLE), 8,
	    "%s: grade %s, %s was asked for: %s; have the server map its file, "
	    "or ask for less with --min-grade",
	    label, wd_grade_word(asked->grade), wd_grade_word(asked->least),
	    reason);
}

static bool
rule_clauses(const struct asked *asked, struct wd_ruling *ruling)
{
	char label[WD_LABEL_BYTES];
	size_t i;

	wd_candidate_label(asked->unit->model, label);
	for (i = 0; i < sizeof(clauses) / sizeof(clauses[0]); i++)
		if (clauses[i].applies(asked))
			return wd_rule(ruling, WD_VERDICT(UNVERIFIABLE), 8,
			    "%s: %s", label, clauses[i].text);
	if (is_below(asked))
		return rule_below(asked, label, ruling);
	return false;
}

/* ---- companions whose digest is pinned ------------------------------------
 */

bool
wd_is_pinned_companion(
    const Weightd__V1__Candidate *candidate, const Weightd__V1__Expectation *e)
{
	size_t i;

	if (e == NULL || !wd_is_companion(candidate) ||
	    wd_candidate_grade(candidate) < WD_GRADE(INFERRED))
		return false;
	for (i = 0; i < e->n_companions; i++)
		if (e->companions[i]->kind == candidate->bundle->kind &&
		    e->companions[i]->want_case ==
			WEIGHTD__V1__EXPECTED_COMPANION__WANT_DIGEST)
			return true;
	return false;
}

/* An expected companion is held to the same standard as the model when its
 * digest is pinned; with "any" its presence is enough. */
static bool
rule_companion(const struct wd_unit *unit, const Weightd__V1__Expectation *e,
    const Weightd__V1__Candidate *held, struct wd_ruling *ruling)
{
	struct wd_unit beside = *unit;
	struct asked asked = { .unit = &beside, .expectation = e };
	size_t i;

	beside.model = held;
	asked.grade = wd_candidate_grade(held);
	asked.least = wd_expected_grade(e);
	for (i = 0; i < e->n_companions; i++) {
		if (e->companions[i]->kind != held->bundle->kind ||
		    e->companions[i]->want_case !=
			WEIGHTD__V1__EXPECTED_COMPANION__WANT_DIGEST)
			continue;
		/* the pin that it fits, if any, may excuse a change */
		asked.pin = e->companions[i]->digest;
		if (wd_compare_digest(asked.pin, held->bundle) == WD_EQUAL)
			break;
	}
	return rule_clauses(&asked, ruling);
}

bool
wd_rule_sound(const struct wd_unit *unit,
    const Weightd__V1__Expectation *expectation, struct wd_ruling *ruling)
{
	struct asked asked = { .unit = unit, .expectation = expectation };
	size_t i;

	if (unit->group == NULL || unit->model == NULL)
		return rule_absent(unit, ruling);
	if (is_blind(unit))
		return rule_blind(unit, ruling);
	asked.pin = expectation == NULL ? NULL : expectation->digest;
	asked.grade = wd_candidate_grade(unit->model);
	asked.least = wd_expected_grade(expectation);
	if (unit->model->bundle == NULL)
		return wd_rule(ruling, WD_VERDICT(UNVERIFIABLE), 8,
		    "a model is held whose files could not be described; see "
		    "the blind spots");
	if (rule_clauses(&asked, ruling))
		return true;
	for (i = 0; i < unit->group->n_candidates; i++) {
		const Weightd__V1__Candidate *held = unit->group->candidates[i];

		if (wd_is_pinned_companion(held, expectation) &&
		    rule_companion(unit, expectation, held, ruling))
			return true;
	}
	return false;
}
