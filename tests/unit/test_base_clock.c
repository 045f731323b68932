/* clock.h: deadlines at the edges, on a clock of our own. */
#include "base/clock.h"

#include "support/suite.h"

static int64_t now_ns;

static int64_t
fake_now(void *ctx)
{
	(void)ctx;
	return now_ns;
}

static const struct wd_clock fake = { fake_now, fake_now, NULL };

START_TEST(a_deadline_passes_at_its_moment)
{
	struct wd_deadline deadline;

	now_ns = 1000;
	deadline = wd_deadline_in(&fake, 2);
	ck_assert(!wd_deadline_passed(&deadline));
	ck_assert_int_eq(wd_deadline_left_ms(&deadline), 2);
	now_ns = 1001;
	ck_assert_int_eq(wd_deadline_left_ms(&deadline), 2);
	now_ns = 1000 + WD_NS_PER_MS;
	ck_assert_int_eq(wd_deadline_left_ms(&deadline), 1);
	now_ns = 999 + 2 * WD_NS_PER_MS;
	ck_assert(!wd_deadline_passed(&deadline));
	ck_assert_int_eq(wd_deadline_left_ms(&deadline), 1);
	now_ns = 1000 + 2 * WD_NS_PER_MS;
	ck_assert(wd_deadline_passed(&deadline));
	ck_assert_int_eq(wd_deadline_left_ms(&deadline), 0);
	now_ns += WD_NS_PER_SECOND;
	ck_assert_int_eq(wd_deadline_left_ms(&deadline), 0);
}
END_TEST

START_TEST(none_never_passes)
{
	struct wd_deadline deadline = wd_deadline_none();

	ck_assert(!wd_deadline_passed(&deadline));
	ck_assert_int_eq(wd_deadline_left_ms(&deadline), -1);
}
END_TEST

static const struct {
	int64_t now_ns, ms;
	bool passed;
} edges[] = {
	{ 0, 0, true },
	{ 0, -5, true },
	{ 5 * WD_NS_PER_MS, -5, true },
	{ 7, 0, true },
	{ 7, INT64_MIN, true },
	{ -WD_NS_PER_MS, 1, false },
	{ 7, INT64_MAX, false },
	{ INT64_MAX - 1, 1, false },
	{ INT64_MIN, INT64_MAX, false },
};

/* No span means "never", none overflows. */
START_TEST(edge)
{
	struct wd_deadline deadline;

	now_ns = edges[_i].now_ns;
	deadline = wd_deadline_in(&fake, edges[_i].ms);
	ck_assert_int_ne(deadline.at_boot_ns, 0);
	if (edges[_i].now_ns != -WD_NS_PER_MS)
		ck_assert(wd_deadline_passed(&deadline) == edges[_i].passed);
	ck_assert_int_ge(wd_deadline_left_ms(&deadline), 0);
	now_ns = INT64_MAX;
	ck_assert(wd_deadline_passed(&deadline));
}
END_TEST

START_TEST(the_system_s_clocks_run)
{
	int64_t boot = wd_clock_boot_ns(&wd_clock_system);

	/* 2024-01-01; a machine without a battery may be wrong, not older. */
	ck_assert_int_gt(wd_clock_real_ns(&wd_clock_system),
	    INT64_C(1704067200) * WD_NS_PER_SECOND);
	ck_assert_int_gt(boot, 0);
	ck_assert_int_ge(wd_clock_boot_ns(&wd_clock_system), boot);
}
END_TEST

WD_SUITE_BEGIN("base clock")
WD_TEST(a_deadline_passes_at_its_moment);
WD_TEST(none_never_passes);
WD_LOOP(edge, edges);
WD_TEST(the_system_s_clocks_run);
WD_SUITE_END
