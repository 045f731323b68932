/* Host names that stand for many. */
#include "map/range.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "support/suite.h"

struct heard {
	struct wd_buf names; /* with commas */
	size_t count;
	size_t fail_at;
};

static enum wd_status
hear(void *ctx, const char *name, struct wd_error *err)
{
	struct heard *heard = ctx;

	if (heard->count++ == heard->fail_at)
		return wd_fail(err, WD_NOTFOUND, "enough");
	if (heard->count <= 20)
		(void)wd_buf_printf(&heard->names, "%s%s",
		    heard->names.len > 0 ? "," : "", name);
	return WD_OK;
}

static const struct {
	const char *text, *names;
} good[] = {
	{ "mac-3.lab", "mac-3.lab" },
	{ "gpu-[1-3]", "gpu-1,gpu-2,gpu-3" },
	{ "gpu-[08-11].dc1", "gpu-08.dc1,gpu-09.dc1,gpu-10.dc1,gpu-11.dc1" },
	{ "n[1,3,5-7]", "n1,n3,n5,n6,n7" },
	{ "[7]", "7" },
	{ "r[1-2]-n[01-02]", "r1-n01,r1-n02,r2-n01,r2-n02" },
	{ "n[0-2]", "n0,n1,n2" },
	{ "n[00]", "n00" },
	{ "n[001,5]", "n001,n5" },
	/* An address, not a range. */
	{ "[::1]", "[::1]" },
	{ "fd00::1", "fd00::1" },
};

START_TEST(ranges_are_expanded)
{
	struct heard heard = { .fail_at = SIZE_MAX };

	wd_buf_init(&heard.names, 4096);
	ck_assert_int_eq(
	    wd_range_expand(wd_slice_text(good[_i].text), hear, &heard, NULL),
	    WD_OK);
	ck_assert_str_eq(wd_buf_string(&heard.names), good[_i].names);
	wd_buf_release(&heard.names);
}
END_TEST

static const struct {
	const char *text, *words;
	enum wd_status status;
} bad[] = {
	{ "n[1-", "not closed", WD_INVALID },
	{ "n1]", "not opened", WD_INVALID },
	{ "n[1]2]", "not opened", WD_INVALID },
	{ "n]1[2]", "not opened", WD_INVALID },
	{ "n[]", "empty", WD_INVALID },
	{ "n[1,]", "comma", WD_INVALID },
	{ "n[,1]", "empty part", WD_INVALID },
	{ "n[3-1]", "counts up", WD_INVALID },
	{ "n[a-c]", "numbers", WD_INVALID },
	{ "n[1-2-3]", "numbers", WD_INVALID },
	{ "n[1234567890]", "numbers", WD_INVALID },
	{ "n[01-2]", "same number of digits", WD_INVALID },
	{ "n[1-02]", "same number of digits", WD_INVALID },
	{ "n[1]n[1]n[1]n[1]n[1]n[1]n[1]n[1]n[1]", "8 brackets", WD_INVALID },
	{ "n[1-100001]", "more than 100000", WD_LIMIT },
	{ "n[1-1000]-[1-101]", "more than 100000", WD_LIMIT },
	{ "n[1-999999999]-[0-999999999]", "more than 100000", WD_LIMIT },
	{ "n[\x1b[2J]", "numbers", WD_INVALID },
};

START_TEST(wrong_ones_are_refused_before_a_name_is_heard)
{
	struct heard heard = { .fail_at = SIZE_MAX };
	struct wd_error err;

	wd_error_init(&err);
	wd_buf_init(&heard.names, 4096);
	ck_assert_int_eq(
	    wd_range_expand(wd_slice_text(bad[_i].text), hear, &heard, &err),
	    bad[_i].status);
	ck_assert_msg(strstr(err.message, bad[_i].words) != NULL, "%s: %s",
	    bad[_i].text, err.message);
	ck_assert_ptr_null(strchr(err.message, '\x1b'));
	ck_assert_uint_eq(heard.count, 0);
	wd_buf_release(&heard.names);
}
END_TEST

START_TEST(as_many_as_a_fleet_has)
{
	struct heard heard = { .fail_at = SIZE_MAX };

	wd_buf_init(&heard.names, 4096);
	ck_assert_int_eq(wd_range_expand(wd_slice_text("n[1-1000]-[1-100]"),
			     hear, &heard, NULL),
	    WD_OK);
	ck_assert_uint_eq(heard.count, WD_MAX_HOSTS);
	wd_buf_release(&heard.names);
}
END_TEST

START_TEST(who_hears_may_stop)
{
	struct heard heard = { .fail_at = 1 };
	struct wd_error err;

	wd_error_init(&err);
	wd_buf_init(&heard.names, 4096);
	ck_assert_int_eq(
	    wd_range_expand(wd_slice_text("n[1-9]"), hear, &heard, &err),
	    WD_NOTFOUND);
	ck_assert_uint_eq(heard.count, 2);
	wd_buf_release(&heard.names);
}
END_TEST

START_TEST(long_names_are_refused)
{
	char text[300];
	struct heard heard = { .fail_at = SIZE_MAX };

	wd_buf_init(&heard.names, 4096);
	memset(text, 'a', sizeof(text));
	(void)snprintf(text + 250, sizeof(text) - 250, "[1-2]");
	ck_assert_int_eq(
	    wd_range_expand(wd_slice_text(text), hear, &heard, NULL),
	    WD_INVALID);
	text[256] = '\0';
	memset(text, 'a', 256);
	ck_assert_int_eq(
	    wd_range_expand(wd_slice_text(text), hear, &heard, NULL),
	    WD_INVALID);
	ck_assert_uint_eq(heard.count, 0);
	wd_buf_release(&heard.names);
}
END_TEST

WD_SUITE_BEGIN("map range")
WD_LOOP(ranges_are_expanded, good);
WD_LOOP(wrong_ones_are_refused_before_a_name_is_heard, bad);
WD_TEST(as_many_as_a_fleet_has);
WD_TEST(who_hears_may_stop);
WD_TEST(long_names_are_refused);
WD_SUITE_END
