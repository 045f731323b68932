/*
 * trust.h - what a caller makes of an agent's answer: first whether it is an
 * answer to the question at all, then a verdict of its own. Pure.
 *
 * The agent's own verdict is never taken over. It is made anew from the
 * attestation, by the very function that the agent uses, and an agent that says
 * something else is not trusted: it judges by other rules, or something
 * between it and us changed its words.
 */
#ifndef WD_API_TRUST_H
#define WD_API_TRUST_H

#include "api/fault.h"
#include "weightd/v1/service.pb-c.h"

/* Whether the answer is to this question: nonce and question are echoed, it
 * comes from one host in one boot, all of it belongs to the asked port, and
 * its times are in order. Errors: WD_INVALID, and the message says what is not
 * so. */
enum wd_status wd_answer_check(const Weightd__V1__AttestPortRequest *request,
    const Weightd__V1__AttestPortResponse *answer,
    struct wd_error *err) WD_MUST_CHECK;

/* Our verdict: of the fault when there is one (line 1, or 2 when the agent does
 * not know what was asked), else of the answer, which becomes "not trusted"
 * (line 1) when the check above or the agent's own verdict says so.
 * `*is_trusted` says whether the answer may be shown. Errors: WD_NOMEM;
 * WD_INVALID as wd_expectation_check. */
enum wd_status wd_answer_judge(const Weightd__V1__AttestPortRequest *request,
    const struct wd_api_fault *fault,
    const Weightd__V1__AttestPortResponse *answer,
    Weightd__V1__Verdict **verdict, bool *is_trusted,
    struct wd_error *err) WD_MUST_CHECK;

#endif
