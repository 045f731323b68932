/*
 * rate.h - how often a client may ask for work: N requests a minute, by its
 * certificate's name. Pure but for the clock that is passed in.
 *
 * A bucket for each client holds N requests at most and fills evenly, so a
 * burst of N is allowed. WD_MAX_RATED_CLIENTS clients are remembered; when
 * there are more, the one that was seen longest ago is forgotten, which gives
 * it at most one full bucket more than it should have.
 */
#ifndef WD_SERVER_RATE_H
#define WD_SERVER_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct wd_rate;

/* Errors: WD_NOMEM. `per_minute` 0: no limit. */
enum wd_status wd_rate_new(uint32_t per_minute, struct wd_rate **rate,
    struct wd_error *err) WD_MUST_CHECK;
void wd_rate_free(struct wd_rate **rate);

/* Takes one request out of the client's bucket. False when it is empty;
 * `*wait_s` then says after how many seconds one is there. */
bool wd_rate_take(struct wd_rate *rate, const char *client, int64_t now_ns,
    int64_t *wait_s) WD_MUST_CHECK;

#endif
