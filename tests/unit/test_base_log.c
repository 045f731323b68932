/* Lines on standard error: escaped, in both styles, one write each. */
#include "base/log.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "support/suite.h"

static char said[65536];

/* What the function wrote to standard error. */
static const char *
hear(void (*speak)(void))
{
	int pair[2], old = dup(STDERR_FILENO);
	ssize_t len;

	ck_assert_int_eq(pipe(pair), 0);
	ck_assert_int_ge(old, 0);
	ck_assert_int_eq(dup2(pair[1], STDERR_FILENO), STDERR_FILENO);
	(void)close(pair[1]);
	speak();
	ck_assert_int_eq(dup2(old, STDERR_FILENO), STDERR_FILENO);
	(void)close(old);
	len = read(pair[0], said, sizeof(said) - 1);
	ck_assert_int_ge(len, 0);
	said[len] = '\0';
	(void)close(pair[0]);
	return said;
}

static void
speak_hostile(void)
{
	static const struct wd_log_field fields[] = {
		{ "requested", "80b\x1b[2J \"x\"" },
		{ "match", "no" },
	};

	wd_log(WD_LOG_ERROR, "a\x1b[2J\n%d", 7);
	wd_log(WD_LOG_INFO, "below the level");
	wd_log_event(WD_LOG_WARNING, "attest", fields, 2);
	wd_log_event(WD_LOG_DEBUG, "attest", fields, 2);
}

START_TEST(text_is_escaped)
{
	wd_log_init("weightd", WD_LOG_WARNING);
	wd_log_style(WD_LOG_TEXT);
	ck_assert_str_eq(hear(speak_hostile),
	    "weightd: a\\x1b[2J\\n7\n"
	    "weightd: attest requested=\"80b\\x1b[2J \\\"x\\\"\" match=no\n");
}
END_TEST

static json_t *
next_object(const char **lines)
{
	const char *end = strchr(*lines, '\n');
	json_t *root = NULL;

	ck_assert_ptr_nonnull(end);
	ck_assert_int_eq(
	    wd_json_parse((struct wd_slice){ (const uint8_t *)*lines,
			      (size_t)(end - *lines) },
		1 << 20, &root, NULL),
	    WD_OK);
	*lines = end + 1;
	return root;
}

static const char *
member(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

START_TEST(json_is_one_object_a_line)
{
	const char *lines;
	json_t *line;

	wd_log_init("weightd", WD_LOG_WARNING);
	wd_log_style(WD_LOG_JSON);
	lines = hear(speak_hostile);
	line = next_object(&lines);
	ck_assert_str_eq(member(line, "level"), "error");
	ck_assert_str_eq(member(line, "message"), "a\\x1b[2J\\n7");
	ck_assert_uint_eq(strlen(member(line, "time")), 24);
	ck_assert_int_eq(member(line, "time")[23], 'Z');
	json_decref(line);
	line = next_object(&lines);
	ck_assert_str_eq(member(line, "event"), "attest");
	ck_assert_str_eq(member(line, "requested"), "80b\\x1b[2J \"x\"");
	ck_assert_str_eq(member(line, "match"), "no");
	json_decref(line);
	ck_assert_str_eq(lines, "");
}
END_TEST

static void
speak_at_length(void)
{
	static char value[15000];
	struct wd_log_field fields[] = { { "first", value },
		{ "second", value }, { "third", "x" } };

	memset(value, 'a', sizeof(value) - 1);
	wd_log_event(WD_LOG_ERROR, "long", fields, 3);
}

START_TEST(what_does_not_fit_is_left_out_whole)
{
	const char *lines;
	json_t *line;

	wd_log_init("weightd", WD_LOG_ERROR);
	wd_log_style(WD_LOG_JSON);
	lines = hear(speak_at_length);
	line = next_object(&lines);
	ck_assert_ptr_nonnull(member(line, "first"));
	ck_assert_ptr_null(member(line, "second"));
	json_decref(line);
}
END_TEST

WD_SUITE_BEGIN("base log")
WD_TEST(text_is_escaped);
WD_TEST(json_is_one_object_a_line);
WD_TEST(what_does_not_fit_is_left_out_whole);
WD_SUITE_END
