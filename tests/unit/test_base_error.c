/* error.h, status.h, log.h: messages that are whole, cut well, and escaped. */
#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/log.h"
#include "support/suite.h"

START_TEST(a_failure_carries_its_story)
{
	struct wd_error err;

	wd_error_init(&err);
	ck_assert_int_eq(err.status, WD_OK);
	ck_assert_int_eq(
	    wd_fail(&err, WD_LIMIT, "%s has %d", "x.gguf", 7), WD_LIMIT);
	ck_assert_int_eq(err.status, WD_LIMIT);
	ck_assert_uint_eq(err.offset, WD_ERROR_NO_OFFSET);
	ck_assert_int_eq(err.os_errno, 0);
	ck_assert_str_eq(err.message, "x.gguf has 7");
	ck_assert_int_eq(
	    wd_fail_at(&err, WD_MALFORMED, 24, "bad"), WD_MALFORMED);
	ck_assert_uint_eq(err.offset, 24);
	ck_assert_int_eq(
	    wd_fail_errno(&err, EACCES, "open %s", "m"), WD_DENIED);
	ck_assert_int_eq(err.os_errno, EACCES);
	ck_assert_uint_eq(err.offset, WD_ERROR_NO_OFFSET);
	ck_assert_str_eq(err.message, "open m: Permission denied");
}
END_TEST

START_TEST(nobody_needs_to_listen)
{
	ck_assert_int_eq(wd_fail(NULL, WD_IO, "x"), WD_IO);
	ck_assert_int_eq(wd_fail_at(NULL, WD_IO, 1, "x"), WD_IO);
	ck_assert_int_eq(wd_fail_errno(NULL, ENOMEM, "x"), WD_NOMEM);
}
END_TEST

START_TEST(words_can_be_put_in_front)
{
	struct wd_error err;

	(void)wd_fail(&err, WD_IO, "inner");
	(void)wd_fail(&err, err.status, "outer: %s", err.message);
	ck_assert_str_eq(err.message, "outer: inner");
}
END_TEST

static const size_t paddings[] = { 500, 507, 508, 509, 510, 511, 512, 600 };

/* However long: terminated, valid UTF-8, and the system's reason is there. */
START_TEST(a_long_message_is_cut_between_characters)
{
	char path[700];
	struct wd_error err;

	memset(path, 'p', sizeof(path));
	(void)snprintf(path + paddings[_i], sizeof(path) - paddings[_i], "%s",
	    "\xe6\x97\xa5\xe6\x9c\xac\xe6\x97\xa5\xe6\x9c\xac");
	(void)wd_fail(&err, WD_IO, "%s", path);
	ck_assert_uint_ge(
	    strlen(err.message), paddings[_i] < 508 ? paddings[_i] : 507);
	ck_assert(wd_utf8_valid(wd_slice_text(err.message)));
	(void)wd_fail_errno(&err, ENOSPC, "%s", path);
	ck_assert(wd_utf8_valid(wd_slice_text(err.message)));
	ck_assert(wd_slice_ends(
	    wd_slice_text(err.message), ": No space left on device"));
}
END_TEST

START_TEST(what_fits_exactly_is_not_cut)
{
	char text[WD_ERROR_MESSAGE_BYTES];
	struct wd_error err;

	memset(text, 'x', sizeof(text));
	memcpy(text + sizeof(text) - 4, "\xe6\x97\xa5", 4);
	(void)wd_fail(&err, WD_IO, "%s", text);
	ck_assert_str_eq(err.message, text);
}
END_TEST

static const struct {
	int os_errno;
	enum wd_status status;
} errnos[] = {
	{ 0, WD_OK },
	{ ENOMEM, WD_NOMEM },
	{ EINVAL, WD_INVALID },
	{ ELOOP, WD_INVALID },
	{ EISDIR, WD_INVALID },
	{ ENOENT, WD_GONE },
	{ ESRCH, WD_GONE },
	{ EACCES, WD_DENIED },
	{ EPERM, WD_DENIED },
	{ EROFS, WD_DENIED },
	{ ENOSYS, WD_UNSUPPORTED },
	{ EAFNOSUPPORT, WD_UNSUPPORTED },
	{ ETIMEDOUT, WD_TIMEDOUT },
	{ EAGAIN, WD_BUSY },
	{ EMFILE, WD_BUSY },
	{ ESTALE, WD_STALE },
	{ EIO, WD_IO },
	{ ENOSPC, WD_IO },
};

START_TEST(errno_to_status)
{
	ck_assert_int_eq(
	    wd_status_from_errno(errnos[_i].os_errno), errnos[_i].status);
}
END_TEST

START_TEST(every_status_has_a_name_of_its_own)
{
	int a, b;

	for (a = 0; a >= WD_STALE; a--) {
		ck_assert_str_ne(wd_status_name((enum wd_status)a), "unknown");
		for (b = 0; b > a; b--)
			ck_assert_str_ne(wd_status_name((enum wd_status)a),
			    wd_status_name((enum wd_status)b));
	}
	ck_assert_str_eq(wd_status_name((enum wd_status)(-99)), "unknown");
}
END_TEST

/* What wd_log writes while `level` is the highest that is shown. */
static const char *
logged(enum wd_log_level level, const char *message, char *out, size_t size)
{
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO);
	size_t len;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(dup2(fileno(file), STDERR_FILENO), 0);
	wd_log_init("test", level);
	wd_log(WD_LOG_WARNING, "%s", message);
	ck_assert_int_ge(dup2(saved, STDERR_FILENO), 0);
	rewind(file);
	len = fread(out, 1, size - 1, file);
	out[len] = '\0';
	(void)fclose(file);
	(void)close(saved);
	return out;
}

START_TEST(a_log_line_is_one_escaped_line)
{
	char out[8192], message[5000];

	ck_assert_str_eq(
	    logged(WD_LOG_WARNING, "a\nb\x1b[0m", out, sizeof(out)),
	    "test: a\\nb\\x1b[0m\n");
	ck_assert_str_eq(logged(WD_LOG_ERROR, "a", out, sizeof(out)), "");
	memset(message, 'x', sizeof(message));
	message[sizeof(message) - 1] = '\0';
	(void)logged(WD_LOG_DEBUG, message, out, sizeof(out));
	ck_assert_uint_eq(strlen(out), strlen("test: ") + 4095 + 1);
}
END_TEST

WD_SUITE_BEGIN("base error")
WD_TEST(a_failure_carries_its_story);
WD_TEST(nobody_needs_to_listen);
WD_TEST(words_can_be_put_in_front);
WD_LOOP(a_long_message_is_cut_between_characters, paddings);
WD_TEST(what_fits_exactly_is_not_cut);
WD_LOOP(errno_to_status, errnos);
WD_TEST(every_status_has_a_name_of_its_own);
WD_TEST(a_log_line_is_one_escaped_line);
WD_SUITE_END
