/*
 * clock.h - the three clocks that the project reads, and a deadline.
 *
 * Tests put their own clock in place. Times are nanoseconds in an int64_t:
 * real time since 1970-01-01T00:00:00Z (no leap seconds), boot time since the
 * machine started, sleep included.
 */
#ifndef WD_BASE_CLOCK_H
#define WD_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define WD_NS_PER_SECOND INT64_C(1000000000)
#define WD_NS_PER_MS INT64_C(1000000)

struct wd_clock {
	int64_t (*real_ns)(void *ctx);
	int64_t (*boot_ns)(void *ctx); /* never goes back */
	void *ctx;
};

/* The system's clocks. */
extern const struct wd_clock wd_clock_system;

int64_t wd_clock_real_ns(const struct wd_clock *clock);
int64_t wd_clock_boot_ns(const struct wd_clock *clock);

/* A moment of boot time after which work must stop; at_boot_ns 0: never. */
struct wd_deadline {
	const struct wd_clock *clock;
	int64_t at_boot_ns;
};

struct wd_deadline wd_deadline_none(void);

/* `ms` from now; 0 and below have already passed. A span that int64_t cannot
 * hold becomes the longest (or shortest) that it can. */
struct wd_deadline wd_deadline_in(const struct wd_clock *clock, int64_t ms);
bool wd_deadline_passed(const struct wd_deadline *deadline);

/* Milliseconds that are left, rounded up and at least 0; -1 when there is no
 * end. */
int64_t wd_deadline_left_ms(const struct wd_deadline *deadline);

#endif
