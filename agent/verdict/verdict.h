/*
 * verdict.h - one expectation against one observation: the table of twelve
 * lines, as one pure function for agent and client. The first line that
 * applies decides.
 *
 *  1  agent unreachable, or not trusted                        UNREACHABLE
 *  2  a field or a check that the agent cannot make            UNVERIFIABLE
 *  3  listeners of the asked namespace not completely seen     UNVERIFIABLE
 *  4  two agreeing looks find no listener                      MISSING
 *     (role disabled: MATCH, and MISMATCH if there is one)
 *  5  the listener's owners not completely seen                UNVERIFIABLE
 *  6  role forwarder: weights held or a hop outside its routes MISMATCH,
 *     every routed worker proven MATCH, else UNVERIFIABLE
 *  7  several candidates: all MATCH, all MISMATCH, else        UNVERIFIABLE
 *  8  the evidence is too weak or unsound                      UNVERIFIABLE
 *  9  a pinned field differs, a companion too many or missing  MISMATCH
 * 10  a pinned digest is still pending                         UNVERIFIABLE
 * 11  nothing but a name is pinned, and that was not allowed   UNVERIFIABLE
 * 12  otherwise                                                MATCH
 *
 * When the question names a connection, the answer is about whoever accepted
 * it, and about nobody else. Lines 2 to 5 then read:
 *
 *  2  the agent did not look for the connection, or not again at the end
 *  3  the connection was not found, could not be looked for, or several fit;
 *     or its port is another than the asked one, without proof of translation
 *  4  role disabled: MISMATCH. Never MISSING: whoever asks is connected, so
 *     that what was not found is not known, even when nothing listens any more
 *  5  nobody has accepted it yet, or not every holder could be seen
 *
 * and line 7 counts the models of that one group. Listeners are shown and
 * decide nothing.
 *
 * Where the table leaves a choice, "not known" never counts as "equal" nor as
 * "different": a pinned value that could not be determined (a digest without
 * a value, a parameter count that is only a lower bound, a companion that
 * could hide in a blind spot) is decided by line 10.
 *
 * Line 2 needs these of checks_performed, listed for the candidate, its group
 * or the whole answer: LISTENERS, OWNERS, OWNERS_AGAIN, IDENTITY_AGAIN, GROUP,
 * MAPPINGS, MAPPINGS_AGAIN, DESCRIPTORS, CHANGED_SINCE_LOAD, FILES_AGAIN;
 * COVERAGE and WRITTEN_PAGES when a file is mapped; ENGINE when a grade below
 * WITNESSED would do; HEADERS when parameters, encoding, recipe or bundle.*
 * settings are pinned; CONTENT_DIGEST when a digest is; SETTINGS_STALE when
 * settings, recipe or digest are; RUN_SETTINGS when run.* is. A check is asked
 * for only where the verdict would be built on it: owners that are hidden are
 * line 5's, a group that could not be looked into is line 8's.
 */
#ifndef WD_VERDICT_VERDICT_H
#define WD_VERDICT_VERDICT_H

#include "base/error.h"
#include "weightd/v1/verdict.pb-c.h"

/* Judges `attestation` (NULL: none was had; `unreachable` then says why)
 * against `expectation` (NULL: none; the port must only be proven at the
 * default minimum grade). Pure: the same arguments give the same verdict, for
 * ever. The caller frees it with wd_message_free. Errors: WD_NOMEM; WD_INVALID
 * as wd_expectation_check. */
enum wd_status wd_verdict_judge(const Weightd__V1__Expectation *expectation,
    const Weightd__V1__Attestation *attestation, const char *unreachable,
    Weightd__V1__Verdict **verdict, struct wd_error *err) WD_MUST_CHECK;

/* The verdict when an agent answered, and refused the question because it
 * does not know one of its fields: line 2, not line 1. Errors: WD_NOMEM. */
enum wd_status wd_verdict_refused(const char *reason,
    Weightd__V1__Verdict **verdict, struct wd_error *err) WD_MUST_CHECK;

/* Whether the expectation (may be NULL) may be asked at all. Errors:
 * WD_INVALID when it is present and empty, a field of it is, a digest has the
 * wrong length, the minimum grade is below INFERRED, or fields contradict;
 * WD_UNSUPPORTED when it holds a field or an enum value that this program
 * does not know (wd_verdict_judge: line 2). The message names the field and
 * the remedy. */
enum wd_status wd_expectation_check(const Weightd__V1__Expectation *expectation,
    struct wd_error *err) WD_MUST_CHECK;

/* The exit code of design: 0 match, 1 mismatch, missing or extra, 3
 * unreachable, 4 unverifiable and everything that is no verdict. */
int wd_verdict_exit_code(const Weightd__V1__Verdict *verdict);

#endif
