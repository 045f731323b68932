/* Lists of hosts. */
#include "map/hosts.h"

#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "support/suite.h"

static struct wd_hosts hosts;
static struct wd_error err;

static void
set_up(void)
{
	wd_error_init(&err);
}

static void
tear_down(void)
{
	wd_hosts_release(&hosts);
}

static void
must_be(const char *wanted)
{
	struct wd_buf names;
	size_t i;

	wd_buf_init(&names, 4096);
	for (i = 0; i < hosts.count; i++)
		(void)wd_buf_printf(
		    &names, "%s%s", i > 0 ? " " : "", hosts.items[i]);
	ck_assert_str_eq(wd_buf_string(&names), wanted);
	wd_buf_release(&names);
}

START_TEST(each_host_once_in_order)
{
	ck_assert_int_eq(wd_hosts_add_lines(&hosts, "hosts",
			     wd_slice_text("# all of them\r\n"
					   "mac-3.lab\r\n\n  gpu-[2-3]  # new\n"
					   "gpu-[1-3]\nmac-3.lab"),
			     &err),
	    WD_OK);
	must_be("mac-3.lab gpu-2 gpu-3 gpu-1");
}
END_TEST

static const struct {
	const char *text, *words;
} bad_lines[] = {
	{ "", "names no host" },
	{ "\n# none\n", "names no host" },
	{ "a\nb c\n", "list:2: \"b c\" is no host" },
	{ "a\nhttps://b\n", "list:2:" },
	{ "a\n\nb[1-\n", "list:3:" },
	{ "user@b\n", "list:1:" },
	{ "b\x1b[2J\n", "list:1: \"b\\x1b[2J\"" },
};

START_TEST(wrong_lines_are_told)
{
	ck_assert_int_eq(wd_hosts_add_lines(&hosts, "list",
			     wd_slice_text(bad_lines[_i].text), &err),
	    WD_INVALID);
	ck_assert_msg(strstr(err.message, bad_lines[_i].words) != NULL, "%s",
	    err.message);
}
END_TEST

START_TEST(targets_of_prometheus)
{
	ck_assert_int_eq(
	    wd_hosts_add_file_sd(&hosts, "sd.json",
		wd_slice_text(
		    "[{\"targets\": [\"mac-3.lab:9100\", "
		    "\"10.0.0.7\", \"[fd00::1]:9100\", \"fd00::2\"],"
		    " \"labels\": {\"job\": \"node\"}},"
		    " {\"targets\": [\"gpu-[1-2]:9100\", \"[3-4]:9100\"]}]"),
		&err),
	    WD_OK);
	must_be("mac-3.lab 10.0.0.7 fd00::1 fd00::2 gpu-1 gpu-2 3 4");
}
END_TEST

static const struct {
	const char *text, *words;
} bad_sd[] = {
	{ "targets: [a]\n", "no file_sd file" },
	{ "- labels: {a: b}\n", "sd:1:3: a group of file_sd" },
	{ "- targets: a\n", "list `targets`" },
	{ "- targets: [a]\n- targets:\n  - [b]\n", "sd:3:5:" },
	{ "- targets: ['a b']\n", "sd:1:13:" },
	{ "- targets: []\n", "names no host" },
	{ "[]\n", "names no host" },
};

START_TEST(wrong_files_are_told)
{
	ck_assert_int_eq(wd_hosts_add_file_sd(&hosts, "sd",
			     wd_slice_text(bad_sd[_i].text), &err),
	    WD_INVALID);
	ck_assert_msg(
	    strstr(err.message, bad_sd[_i].words) != NULL, "%s", err.message);
}
END_TEST

START_TEST(a_fleet_has_an_end)
{
	ck_assert_int_eq(
	    wd_hosts_add(&hosts, wd_slice_text("n[1-100000]"), &err), WD_OK);
	ck_assert_uint_eq(hosts.count, WD_MAX_HOSTS);
	/* One that is known already is no more. */
	ck_assert_int_eq(
	    wd_hosts_add(&hosts, wd_slice_text("n[5-9]"), &err), WD_OK);
	ck_assert_int_eq(
	    wd_hosts_add(&hosts, wd_slice_text("m"), &err), WD_LIMIT);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
	enum wd_status st = WD_NOMEM;
	uint64_t n;

	for (n = 0; st == WD_NOMEM && n < 200; n++) {
		wd_hosts_release(&hosts);
		wd_mem_fail_after(n);
		st = wd_hosts_add_lines(
		    &hosts, "list", wd_slice_text("a\nb[1-20]\n"), &err);
		wd_mem_fail_after(UINT64_MAX);
	}
	ck_assert_int_eq(st, WD_OK);
	ck_assert_uint_gt(n, 20);
	ck_assert_uint_eq(hosts.count, 21);
}
END_TEST

WD_SUITE_BEGIN("map hosts")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_TEST(each_host_once_in_order);
WD_LOOP(wrong_lines_are_told, bad_lines);
WD_TEST(targets_of_prometheus);
WD_LOOP(wrong_files_are_told, bad_sd);
WD_TEST(a_fleet_has_an_end);
WD_TEST(every_allocation_may_fail);
WD_SUITE_END
