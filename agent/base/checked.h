/*
 * checked.h - arithmetic on sizes that came from outside.
 *
 * Each function returns false on overflow and leaves the output untouched.
 */
#ifndef WD_BASE_CHECKED_H
#define WD_BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

static inline bool WD_MUST_CHECK
wd_add_u64(uint64_t a, uint64_t b, uint64_t *sum)
{
	uint64_t result;

	if (__builtin_add_overflow(a, b, &result))
		return false;
	*sum = result;
	return true;
}

static inline bool WD_MUST_CHECK
wd_mul_u64(uint64_t a, uint64_t b, uint64_t *product)
{
	uint64_t result;

	if (__builtin_mul_overflow(a, b, &result))
		return false;
	*product = result;
	return true;
}

/* `value` rounded up to a multiple of `alignment` (a power of two or any
 * other number above 0). */
static inline bool WD_MUST_CHECK
wd_align_u64(uint64_t value, uint64_t alignment, uint64_t *aligned)
{
	uint64_t rest;

	if (alignment == 0)
		return false;
	rest = value % alignment;
	if (rest == 0) {
		*aligned = value;
		return true;
	}
	return wd_add_u64(value, alignment - rest, aligned);
}

#endif
