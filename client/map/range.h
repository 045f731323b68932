/*
 * range.h - many host names written as one: "gpu-[01-64].dc1".
 *
 * Brackets hold numbers and ranges of numbers, with commas between them
 * ("n[1,3,5-7]"); several brackets give every combination, the last one
 * counting fastest. Numbers have as many digits as the first one was written
 * with, when that begins with a zero, as in ClusterShell and pdsh. An IPv6
 * address in brackets ("[::1]") is no range.
 */
#ifndef WD_MAP_RANGE_H
#define WD_MAP_RANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/slice.h"

/* Whether the text has a range in it. */
bool wd_range_is(struct wd_slice text);

/* Calls `each` for every name, in order, until it fails; a text without a
 * range is its only name. Errors: WD_INVALID for a text that is wrong, with
 * the remedy; WD_LIMIT for more than WD_MAX_HOSTS names; those of
 * `each`. Nothing is called before the whole text was checked. */
enum wd_status wd_range_expand(struct wd_slice text,
    enum wd_status (*each)(void *ctx, const char *name, struct wd_error *err),
    void *ctx, struct wd_error *err) WD_MUST_CHECK;

#endif
