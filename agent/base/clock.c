#include "base/clock.h"

#include <time.h>

#ifdef CLOCK_BOOTTIME
#define BOOT_CLOCK CLOCK_BOOTTIME
#else
#define BOOT_CLOCK CLOCK_MONOTONIC /* Darwin: counts sleep as well */
#endif

static int64_t
read_ns(clockid_t id)
{
	struct timespec now = { 0, 0 };

	(void)clock_gettime(id, &now);
	return (int64_t)now.tv_sec * WD_NS_PER_SECOND + (int64_t)now.tv_nsec;
}

static int64_t
system_real_ns(void *ctx)
{
	(void)ctx;
	return read_ns(CLOCK_REALTIME);
}

static int64_t
system_boot_ns(void *ctx)
{
	(void)ctx;
	return read_ns(BOOT_CLOCK);
}

const struct wd_clock wd_clock_system = { system_real_ns, system_boot_ns,
	(void *)0 };

int64_t
wd_clock_real_ns(const struct wd_clock *clock)
{
	return clock->real_ns(clock->ctx);
}

int64_t
wd_clock_boot_ns(const struct wd_clock *clock)
{
	return clock->boot_ns(clock->ctx);
}

struct wd_deadline
wd_deadline_none(void)
{
	return (struct wd_deadline){ &wd_clock_system, 0 };
}

struct wd_deadline
wd_deadline_in(const struct wd_clock *clock, int64_t ms)
{
	int64_t at, span;

	if (__builtin_mul_overflow(ms, WD_NS_PER_MS, &span))
		span = ms < 0 ? INT64_MIN : INT64_MAX;
	if (__builtin_add_overflow(wd_clock_boot_ns(clock), span, &at))
		at = ms < 0 ? INT64_MIN : INT64_MAX;
	/* 0 would read as "never"; one nanosecond earlier is as good. */
	return (struct wd_deadline){ clock, at == 0 ? -1 : at };
}

bool
wd_deadline_passed(const struct wd_deadline *deadline)
{
	return deadline->at_boot_ns != 0 &&
	    wd_clock_boot_ns(deadline->clock) >= deadline->at_boot_ns;
}

int64_t
wd_deadline_left_ms(const struct wd_deadline *deadline)
{
	int64_t left;

	if (deadline->at_boot_ns == 0)
		return -1;
	if (wd_deadline_passed(deadline))
		return 0;
	if (__builtin_sub_overflow(
		deadline->at_boot_ns, wd_clock_boot_ns(deadline->clock), &left))
		left = INT64_MAX;
	return left / WD_NS_PER_MS + (left % WD_NS_PER_MS != 0);
}
