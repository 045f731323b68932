/*
 * remedy.h - what would help where a look failed, as truthful as the host can
 * tell: a right is named only when the agent has not got it.
 */
#ifndef WD_EVIDENCE_REMEDY_H
#define WD_EVIDENCE_REMEDY_H

#include "evidence/look.h"

/* For a look `about` that ended with `why`; valid until the next call of the
 * host. */
struct wd_refusal wd_look_remedy(
    const struct wd_look *look, enum wd_refused about, enum wd_status why);

#endif
