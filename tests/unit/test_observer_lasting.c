/* A reader that is made when it is needed, and made anew when it ended. */
#include "observer/lasting.h"

#include "base/mem.h"
#include "support/suite.h"

/* How many readers were made, which of them end at their first call, and when
 * none can be made. */
static unsigned made, ending, calls;
static enum wd_status making;

struct mortal {
	struct wd_reader reader;
	bool ends;
};

static enum wd_status
mortal_sniff(struct wd_reader *reader, int fd, enum wd_bundle_format *format,
    struct wd_error *err)
{
	(void)fd;
	calls++;
	if (((struct mortal *)reader)->ends)
		return wd_fail(err, WD_GONE, "it has ended");
	*format = WD_FORMAT_GGUF;
	return WD_OK;
}

static enum wd_status
mortal_digest(struct wd_reader *reader, int fd,
    const struct wd_digest_manner *manner, struct wd_sha256 *sha256,
    struct wd_error *err)
{
	(void)reader;
	(void)fd;
	(void)manner;
	(void)sha256;
	calls++;
	return wd_fail(err, WD_TIMEDOUT, "late");
}

static void
mortal_free(struct wd_reader *reader)
{
	wd_free(reader);
}

static enum wd_status
make(void *ctx, struct wd_reader **reader, struct wd_error *err)
{
	static const struct wd_reader_ops ops = { .sniff = mortal_sniff,
		.digest = mortal_digest,
		.free = mortal_free };
	struct mortal *mortal = wd_calloc(1, sizeof(*mortal));

	(void)ctx;
	if (making != WD_OK) {
		wd_free(mortal);
		return wd_fail(err, making, "crashed too often");
	}
	mortal->reader.ops = &ops;
	mortal->ends = made < ending;
	made++;
	*reader = &mortal->reader;
	return WD_OK;
}

static struct wd_reader *reader;
static enum wd_bundle_format format;

static void
set_up(void)
{
	struct wd_reader_maker maker = { make, NULL };

	made = ending = calls = 0;
	making = WD_OK;
	ck_assert_int_eq(wd_reader_lasting(&maker, &reader, NULL), WD_OK);
}

static void
tear_down(void)
{
	wd_reader_free(&reader);
}

START_TEST(made_once_when_needed)
{
	ck_assert_uint_eq(made, 0);
	ck_assert_int_eq(wd_reader_sniff(reader, 3, &format, NULL), WD_OK);
	ck_assert_int_eq(wd_reader_sniff(reader, 3, &format, NULL), WD_OK);
	ck_assert_uint_eq(made, 1);
	ck_assert_int_eq(format, WD_FORMAT_GGUF);
}
END_TEST

START_TEST(one_that_ended_is_replaced)
{
	ending = 1;
	ck_assert_int_eq(wd_reader_sniff(reader, 3, &format, NULL), WD_OK);
	ck_assert_uint_eq(made, 2);
	ck_assert_int_eq(wd_reader_sniff(reader, 3, &format, NULL), WD_OK);
	ck_assert_uint_eq(made, 2);
}
END_TEST

/* The file that ends every reader must not read as a file that has gone. */
START_TEST(two_that_ended_are_an_error)
{
	struct wd_error err;

	ending = 2;
	wd_error_init(&err);
	ck_assert_int_eq(wd_reader_sniff(reader, 3, &format, &err), WD_IO);
	ck_assert_int_eq(err.status, WD_IO);
	ck_assert_uint_eq(calls, 2);
	/* The next question has a new one. */
	ck_assert_int_eq(wd_reader_sniff(reader, 3, &format, NULL), WD_OK);
}
END_TEST

START_TEST(other_failures_are_the_callers)
{
	struct wd_sha256 sha256;

	ck_assert_int_eq(
	    wd_reader_digest(reader, 3, NULL, &sha256, NULL), WD_TIMEDOUT);
	ck_assert_uint_eq(calls, 1);
}
END_TEST

START_TEST(none_can_be_made)
{
	struct wd_error err;

	wd_error_init(&err);
	making = WD_GONE;
	ck_assert_int_eq(wd_reader_sniff(reader, 3, &format, &err), WD_IO);
	ck_assert_str_eq(err.message, "no reader for files: crashed too often");
	making = WD_OK;
	ck_assert_int_eq(wd_reader_sniff(reader, 3, &format, NULL), WD_OK);
}
END_TEST

WD_SUITE_BEGIN("observer lasting")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_TEST(made_once_when_needed);
WD_TEST(one_that_ended_is_replaced);
WD_TEST(two_that_ended_are_an_error);
WD_TEST(other_failures_are_the_callers);
WD_TEST(none_can_be_made);
WD_SUITE_END
