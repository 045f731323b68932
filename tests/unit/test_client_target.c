/* client/api/target.h: hosts and ports as users write them. */
#include "api/target.h"

#include <string.h>

#include "support/suite.h"

static const struct {
	const char *text;
	const char *shown; /* NULL: refused */
} targets[] = {
	{ "mac-3.lab:8080", "mac-3.lab:8080" },
	{ "10.0.0.3:1", "10.0.0.3:1" },
	{ "[::1]:8080", "[::1]:8080" },
	{ "[fe80::1%eth0]:65535", "[fe80::1%eth0]:65535" },
	{ "my_host:80", "my_host:80" },
	{ "", NULL },
	{ ":", NULL },
	{ ":80", NULL },
	{ "host", NULL },
	{ "host:", NULL },
	{ "host:0", NULL },
	{ "host:65536", NULL },
	{ "host:00080", "host:80" },
	{ "host:000080", NULL },
	{ "host:+80", NULL },
	{ "host:80 ", NULL },
	{ "host:8o", NULL },
	{ "::1:8080", NULL },
	{ "[::1]", NULL },
	{ "[::1]8080", NULL },
	{ "[]:80", NULL },
	{ "[host]:80", NULL },
	{ "http://host:80", NULL },
	{ "user@host:80", NULL },
	{ "a b:80", NULL },
	{ "a\r\nX: y:80", NULL },
	{ "-host:80", NULL },
	{ "h\xc3\xb6st:80", NULL },
};

START_TEST(targets_are_read)
{
	struct wd_target target = { .port = 0 };
	char text[WD_TARGET_TEXT_BYTES];
	enum wd_status st = wd_target_parse(targets[_i].text, &target, NULL);

	if (targets[_i].shown == NULL) {
		ck_assert_int_eq(st, WD_INVALID);
		return;
	}
	ck_assert_int_eq(st, WD_OK);
	ck_assert_str_eq(wd_target_text(&target, text), targets[_i].shown);
}
END_TEST

static const struct {
	const char *text;
	const char *host; /* NULL: refused */
} hosts[] = {
	{ "mac-3.lab", "mac-3.lab" },
	{ "::1", "::1" },
	{ "[::1]", "::1" },
	{ "10.0.0.3", "10.0.0.3" },
	{ "mac-3.lab:80", NULL },
	{ "[::1]:80", NULL },
	{ "", NULL },
	{ "a/b", NULL },
	{ "--ca", NULL },
};

START_TEST(hosts_are_read)
{
	struct wd_target target = { .port = 1 };
	enum wd_status st = wd_target_parse_host(hosts[_i].text, &target, NULL);

	ck_assert_int_eq(st, hosts[_i].host == NULL ? WD_INVALID : WD_OK);
	if (hosts[_i].host == NULL)
		return;
	ck_assert_str_eq(target.host, hosts[_i].host);
	ck_assert_uint_eq(target.port, 0);
}
END_TEST

START_TEST(a_name_too_long_is_refused)
{
	char text[WD_API_HOST_BYTES + 8];
	struct wd_target target;

	memset(text, 'a', sizeof(text));
	memcpy(text + WD_API_HOST_BYTES - 1, ":80", 4);
	ck_assert_int_eq(wd_target_parse(text, &target, NULL), WD_OK);
	memcpy(text + WD_API_HOST_BYTES - 1, "a:80", 5);
	ck_assert_int_eq(wd_target_parse(text, &target, NULL), WD_INVALID);
}
END_TEST

START_TEST(paths_are_told_from_targets)
{
	ck_assert(wd_target_looks_like("host:80"));
	ck_assert(wd_target_looks_like("[::1]:80"));
	ck_assert(!wd_target_looks_like("./host:80"));
	ck_assert(!wd_target_looks_like("model.gguf"));
	ck_assert(!wd_target_looks_like("llama3:8b"));
	ck_assert(!wd_target_looks_like("host:"));
	ck_assert(!wd_target_looks_like(":80"));
}
END_TEST

WD_SUITE_BEGIN("client target")
WD_LOOP(targets_are_read, targets);
WD_LOOP(hosts_are_read, hosts);
WD_TEST(a_name_too_long_is_refused);
WD_TEST(paths_are_told_from_targets);
WD_SUITE_END
