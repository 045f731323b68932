/*
 * parts.h - what the files of this room share; not for others.
 *
 * verdict.c walks the table; expectation.c knows what was asked, checks.c what
 * had to be looked at (line 2), forwarder.c line 6, sound.c when evidence
 * carries (line 8), compare.c what differs (lines 9 and 10).
 */
#ifndef WD_VERDICT_PARTS_H
#define WD_VERDICT_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weightd/v1/verdict.pb-c.h"
#include "wire/build.h"

#define WD_GRADE(name) WEIGHTD__V1__GRADE__GRADE_##name
#define WD_FLAG(name) WEIGHTD__V1__FLAG__FLAG_##name
#define WD_CHECK(name) WEIGHTD__V1__CHECK__CHECK_##name
#define WD_VERDICT(name) WEIGHTD__V1__VERDICT_KIND__VERDICT_KIND_##name
#define WD_ROLE_OF(name) WEIGHTD__V1__EXPECTED_ROLE__EXPECTED_ROLE_##name
#define WD_KIND_OF(name) WEIGHTD__V1__BUNDLE_KIND__BUNDLE_KIND_##name
#define WD_DIGEST(name) WEIGHTD__V1__DIGEST_STATE__DIGEST_STATE_##name
#define WD_SEEN(name) WEIGHTD__V1__TRISTATE__TRISTATE_##name

#define WD_REASON_BYTES 1024
#define WD_LABEL_BYTES 160

/* A number of the schema and what it is called. Tables of these stand where a
 * switch would: the generated enums carry a value that is none, and an answer
 * of a newer agent may carry numbers that have no name here. */
struct wd_word {
	int value;
	const char *word;
};

/* The word for `value`, or `otherwise`. */
const char *wd_find_word(const struct wd_word *words, size_t count, int value,
    const char *otherwise);
#define WD_WORD(words, value, otherwise)                                       \
	wd_find_word((words), sizeof(words) / sizeof((words)[0]),              \
	    (int)(value), (otherwise))

/* One thing to judge: a group behind a listener and one model in it. */
struct wd_unit {
	const Weightd__V1__Attestation *attestation;
	const Weightd__V1__Group *group; /* NULL: nobody is behind it */
	uint32_t group_index;
	const Weightd__V1__Candidate *model; /* NULL: it holds none */
	uint32_t model_index;
};

/* What a line of the table says. */
struct wd_ruling {
	Weightd__V1__VerdictKind kind;
	uint32_t line;
	char reason[WD_REASON_BYTES];
};

/* Fills the ruling and returns true: "this line applies". */
bool wd_rule(struct wd_ruling *ruling, Weightd__V1__VerdictKind kind,
    uint32_t line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- connection.c -------------------------------------------------------- */

/* Whether the answer is about one connection; then lines 3 to 5 are about it,
 * and the listeners decide nothing. */
bool wd_is_about_connection(const Weightd__V1__Attestation *attestation);

/* The group of the connection's holders, or NULL. */
const Weightd__V1__Group *wd_connection_group(
    const Weightd__V1__Attestation *attestation, uint32_t *index);

/* It was found, and who holds it is known. */
bool wd_connection_is_owned(const Weightd__V1__Attestation *attestation);

/* Lines 2, 3 and 5 for the connection. */
bool wd_rule_connection_check(
    const Weightd__V1__Attestation *attestation, struct wd_ruling *ruling);
bool wd_rule_connection_unseen(
    const Weightd__V1__Attestation *attestation, struct wd_ruling *ruling);
bool wd_rule_connection_unowned(
    const Weightd__V1__Attestation *attestation, struct wd_ruling *ruling);

/* UNVERIFIABLE by `line`: what a blind spot of that scope hides, with its
 * texts, which are another's. */
bool wd_rule_spot(const Weightd__V1__Attestation *attestation, uint32_t line,
    const char *what, Weightd__V1__BlindSpot__Scope scope,
    struct wd_ruling *ruling);

/* ---- expectation.c ------------------------------------------------------- */

bool wd_expects_model(const Weightd__V1__Expectation *e);
bool wd_expects_parameters(const Weightd__V1__Expectation *e);
bool wd_expects_recipe(const Weightd__V1__Expectation *e);
bool wd_expects_derived_recipe(const Weightd__V1__Expectation *e);

/* A setting whose key begins with `prefix` is pinned. */
bool wd_expects_setting(const Weightd__V1__Expectation *e, const char *prefix);

/* Something of the weights themselves is pinned, more than a name. */
bool wd_expects_weights(const Weightd__V1__Expectation *e);

/* There is something to compare: lines 9 to 11 apply. */
bool wd_expects_anything(const Weightd__V1__Expectation *e);

Weightd__V1__ExpectedRole wd_expected_role(const Weightd__V1__Expectation *e);

/* The asked minimum grade, WITNESSED by default. */
Weightd__V1__Grade wd_expected_grade(const Weightd__V1__Expectation *e);

/* ---- what a candidate is ------------------------------------------------- */

/* The name to call it by, escaped; `label` is returned. */
const char *wd_candidate_label(
    const Weightd__V1__Candidate *candidate, char label[WD_LABEL_BYTES]);

/* Where a hop leads, "10.0.0.9 port 8081" or "pid 12", escaped; `label` is
 * returned. */
const char *wd_hop_label(
    const Weightd__V1__Hop *hop, char label[WD_LABEL_BYTES]);

/* An adapter, draft or projector: beside a model, never one. */
bool wd_is_companion(const Weightd__V1__Candidate *candidate);

/* One that is really held, of a kind for which a digest is pinned. */
bool wd_is_pinned_companion(const Weightd__V1__Candidate *candidate,
    const Weightd__V1__Expectation *expectation);

/* The lowest grade that the candidate or one of its files has. */
Weightd__V1__Grade wd_candidate_grade(const Weightd__V1__Candidate *candidate);

/* "GRADE_INFERRED" without its prefix: "INFERRED"; "unknown" for a number
 * that the schema does not name. */
const char *wd_grade_word(Weightd__V1__Grade grade);
const char *wd_kind_word(Weightd__V1__BundleKind kind);

/* ---- checks.c ------------------------------------------------------------ */

/* Line 2 for one unit. */
bool wd_rule_checks(const struct wd_unit *unit,
    const Weightd__V1__Expectation *expectation, struct wd_ruling *ruling);

/* Whether a check is listed among `count` checks. */
bool wd_has_check(
    const Weightd__V1__Check *checks, size_t count, Weightd__V1__Check check);

/* ---- forwarder.c --------------------------------------------------------- */

/* Line 6, for a port that is expected to pass traffic on; there is at least
 * one unit. Always applies. */
bool wd_rule_forwarder(const struct wd_unit *units, size_t count,
    const Weightd__V1__Expectation *expectation, uint32_t port,
    struct wd_ruling *ruling);

/* ---- sound.c ------------------------------------------------------------- */

/* Line 8 for one unit. */
bool wd_rule_sound(const struct wd_unit *unit,
    const Weightd__V1__Expectation *expectation, struct wd_ruling *ruling);

/* Whether the flag was set on the candidate, a file of it, a process that
 * holds it, its group, or the whole answer. */
bool wd_unit_has_flag(const struct wd_unit *unit, Weightd__V1__Flag flag);

/* The first blind spot of a scope, or NULL. */
const Weightd__V1__BlindSpot *wd_blind_spot_of(
    const Weightd__V1__Attestation *attestation,
    Weightd__V1__BlindSpot__Scope scope);

/* ---- compare.c ----------------------------------------------------------- */

enum wd_answer { WD_EQUAL, WD_DIFFERENT, WD_UNKNOWN };

/* What the comparison of one unit came to. */
struct wd_comparison {
	size_t different;
	size_t unknown;
	char first_difference[WD_REASON_BYTES / 2];
	char first_unknown[WD_REASON_BYTES / 2];
};

/* A pinned digest against a bundle: its content digest, or the SHA-256 of the
 * one file that is the whole bundle. */
enum wd_answer wd_compare_digest(
    const Weightd__V1__Digest *pin, const Weightd__V1__Bundle *bundle);

/* Compares everything that is pinned and appends each difference to the
 * verdict, whatever line will decide. */
void wd_compare_unit(const struct wd_unit *unit,
    const Weightd__V1__Expectation *expectation, struct wd_build *build,
    Weightd__V1__Verdict *verdict, struct wd_comparison *comparison);

/* Line 12: what a MATCH does not vouch for. `run_known`: run settings could
 * have been pinned. */
void wd_list_not_pinned(const Weightd__V1__Expectation *expectation,
    bool run_known, struct wd_build *build, Weightd__V1__Verdict *verdict);

#endif
