/*
 * flags.h - the expectation flags of the command line, the same for weightd
 * --once, weightctl attest and weightctl run.
 *
 *   --model NAME --params N --recipe ID --digest sha256:HEX
 *   --encoding sha256:HEX --setting KEY=VALUE --with KIND=sha256:HEX|any
 *   --min-grade GRADE --allow-name-only
 *
 * A flag that is given and empty is an error: nothing is ever pinned to
 * "anything" by a shell variable that was not set.
 */
#ifndef WD_VERDICT_FLAGS_H
#define WD_VERDICT_FLAGS_H

#include <stdbool.h>

#include "base/error.h"
#include "weightd/v1/verdict.pb-c.h"

/* Whether `flag` ("--model") is one of them, and whether it takes a value. */
bool wd_expectation_flag(const char *flag, bool *takes_value);

/* Puts one flag into `*expectation`, which is made when it is NULL and is
 * freed with wd_message_free. `value` is NULL for a flag without one. Errors:
 * WD_INVALID with the flag, the reason and the right form (also for a flag
 * that stands twice); WD_NOMEM. */
enum wd_status wd_expectation_set(Weightd__V1__Expectation **expectation,
    const char *flag, const char *value, struct wd_error *err) WD_MUST_CHECK;

#endif
