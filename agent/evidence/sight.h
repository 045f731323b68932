/*
 * sight.h - what the agent can see of this host, whatever the question: found
 * by looking, not by believing its own configuration.
 *
 * Every listener is looked for, then who holds them, then the processes, and
 * the mappings of processes that are not the agent's, until one of them shows
 * whether the mapped objects themselves can be reached. What fails there would
 * fail in an answer about a port too.
 */
#ifndef WD_EVIDENCE_SIGHT_H
#define WD_EVIDENCE_SIGHT_H

#include "evidence/attest.h"

/* Who answers, and what it can see. `started_real_ns`: when the agent was.
 * What could not be seen, also for want of time, is a blind spot in the answer.
 * Errors: those of wd_host_identity; WD_NOMEM. The caller frees it with
 * wd_message_free. */
enum wd_status wd_look_at_sight(const struct wd_evidence *evidence,
    int64_t started_real_ns, const struct wd_deadline *deadline,
    Weightd__V1__GetHostResponse **answer, struct wd_error *err) WD_MUST_CHECK;

#endif
