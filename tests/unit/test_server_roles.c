/* server/authorise.h and server/rate.h: who may do what, and how often. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "server/authorise.h"
#include "server/rate.h"
#include "support/suite.h"

static const struct {
	const char *rule, *name;
	bool fits;
} rules[] = {
	{ "dns:a.lab", "dns:a.lab", true },
	{ "dns:a.lab", "dns:A.LAB", true },
	{ "dns:a.lab", "dns:a.lab.evil", false },
	{ "dns:a.lab", "cn:a.lab", false },
	{ "cn:ops", "cn:ops", true },
	{ "cn:ops", "cn:OPS", false },
	{ "cn:ops", "cn:ops2", false },
	{ "uri:spiffe://lab/a", "uri:spiffe://lab/a", true },
	{ "uri:spiffe://lab/a", "uri:spiffe://lab/A", false },
	{ "dns:*.lab", "dns:a.lab", true },
	{ "dns:*.lab", "dns:a.b.lab", false },
	{ "dns:*.lab", "dns:.lab", false },
	{ "dns:*.lab", "dns:lab", false },
	{ "dns:*.lab", "cn:a.lab", false },
	{ "dns:*.lab", "uri:a.lab", false },
	{ "dns:a.lab", "dns:*.lab", false },
	{ "*", "cn:anybody", true },
};

START_TEST(names_are_held_against_rules)
{
	struct wd_role_rule rule = { rules[_i].rule, WD_ROLE_READ };
	struct wd_tls_names names = { .count = 1 };

	(void)snprintf(names.items[0], WD_TLS_MAX_NAME, "%s", rules[_i].name);
	ck_assert_int_eq(wd_roles_check(&rule, 1, NULL), WD_OK);
	ck_assert_uint_eq(
	    wd_roles_of(&rule, 1, &names), rules[_i].fits ? WD_ROLE_READ : 0);
}
END_TEST

static const char *const wrong[] = { "", "a.lab", "dns:", "cn:", "dns:*",
	"dns:*.", "dns:*.*.lab", "dns:a*.lab", "cn:*", "ip:1.2.3.4", "**" };

START_TEST(rules_that_nobody_understands_are_refused)
{
	struct wd_role_rule rule = { wrong[_i], WD_ROLE_READ };

	ck_assert_int_eq(wd_roles_check(&rule, 1, NULL), WD_INVALID);
}
END_TEST

START_TEST(roles_add_up)
{
	struct wd_role_rule both[] = { { "cn:a", WD_ROLE_WORK },
		{ "cn:b", WD_ROLE_READ } };
	struct wd_tls_names names = { .count = 0 };

	ck_assert_uint_eq(wd_roles_of(both, 2, &names), 0);
	(void)snprintf(names.items[0], WD_TLS_MAX_NAME, "cn:a");
	names.count = 1;
	ck_assert_uint_eq(
	    wd_roles_of(both, 2, &names), WD_ROLE_READ | WD_ROLE_WORK);
}
END_TEST

#define SECOND WD_NS_PER_SECOND

START_TEST(a_bucket_empties_and_fills)
{
	int64_t now = 1000 * SECOND, wait = 0;
	struct wd_rate *rate = NULL;
	int i;

	ck_assert_int_eq(wd_rate_new(6, &rate, NULL), WD_OK);
	for (i = 0; i < 6; i++)
		ck_assert(wd_rate_take(rate, "a", now, &wait));
	ck_assert(!wd_rate_take(rate, "a", now, &wait));
	ck_assert_int_eq(wait, 10);
	ck_assert(!wd_rate_take(rate, "a", now + 9 * SECOND, &wait));
	ck_assert_int_eq(wait, 1);
	ck_assert(wd_rate_take(rate, "b", now, &wait));
	ck_assert(wd_rate_take(rate, "a", now + 10 * SECOND, &wait));
	ck_assert(!wd_rate_take(rate, "a", now + 10 * SECOND, &wait));
	/* Ten idle minutes are no ten minutes' worth. */
	now += 600 * SECOND;
	for (i = 0; i < 6; i++)
		ck_assert(wd_rate_take(rate, "a", now, &wait));
	ck_assert(!wd_rate_take(rate, "a", now, &wait));
	wd_rate_free(&rate);
}
END_TEST

START_TEST(without_a_limit_all_may)
{
	struct wd_rate *rate = NULL;
	int64_t wait;
	int i;

	ck_assert_int_eq(wd_rate_new(0, &rate, NULL), WD_OK);
	for (i = 0; i < 1000; i++)
		ck_assert(wd_rate_take(rate, "a", 1, &wait));
	wd_rate_free(&rate);
}
END_TEST

START_TEST(many_clients_push_out_the_oldest)
{
	struct wd_rate *rate = NULL;
	int64_t wait;
	char name[16];
	int i;

	ck_assert_int_eq(wd_rate_new(1, &rate, NULL), WD_OK);
	for (i = 0; i < WD_MAX_RATED_CLIENTS; i++) {
		(void)snprintf(name, sizeof(name), "c%d", i);
		ck_assert(wd_rate_take(rate, name, SECOND + i, &wait));
	}
	ck_assert(!wd_rate_take(rate, "c0", 2 * SECOND, &wait));
	ck_assert(wd_rate_take(rate, "new", 2 * SECOND, &wait));
	/* c1 was seen longest ago; c0 was not forgotten. */
	ck_assert(!wd_rate_take(rate, "c0", 2 * SECOND, &wait));
	ck_assert(wd_rate_take(rate, "c1", 2 * SECOND, &wait));
	wd_rate_free(&rate);
}
END_TEST

WD_SUITE_BEGIN("server roles")
WD_LOOP(names_are_held_against_rules, rules);
WD_LOOP(rules_that_nobody_understands_are_refused, wrong);
WD_TEST(roles_add_up);
WD_TEST(a_bucket_empties_and_fills);
WD_TEST(without_a_limit_all_may);
WD_TEST(many_clients_push_out_the_oldest);
WD_SUITE_END
