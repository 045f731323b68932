/* The member list of a zip archive; and archives that lie about it. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "bundle/zip.h"
#include "support/suite.h"
#include "support/zip_make.h"

static struct make_zip made;
static struct wd_zip zip;
static struct wd_error err;

/* Both kinds of archive. */
static const bool both[] = { false, true };

static void
make(bool wide)
{
	make_zip_init(&made);
	made.wide = wide;
	make_zip_add(&made, "m/b", wd_slice_text("0123456789"), 0x11111111);
	make_zip_add(&made, "m/a", wd_slice_text("abc"), 0x22222222);
	make_zip_finish(&made);
}

static enum wd_status
read_bytes(struct wd_slice bytes)
{
	struct wd_source source = wd_source_memory(&bytes);

	wd_error_init(&err);
	return wd_zip_read(&source, &zip, &err);
}

static void
check_members(void)
{
	ck_assert_uint_eq(zip.count, 2);
	ck_assert(wd_slice_equal(zip.members[0].name, wd_slice_text("m/a")));
	ck_assert(wd_slice_equal(zip.members[1].name, wd_slice_text("m/b")));
	ck_assert_uint_eq(zip.members[0].size_bytes, 3);
	ck_assert_uint_eq(zip.members[1].size_bytes, 10);
	ck_assert_uint_eq(zip.members[1].packed_bytes, 10);
	ck_assert_uint_eq(zip.members[0].crc32, 0x22222222);
	ck_assert_uint_eq(zip.members[0].offset, 30 + 3 + 10);
	wd_zip_release(&zip);
}

START_TEST(members_are_listed_by_name)
{
	make(both[_i]);
	ck_assert_int_eq(read_bytes(wd_buf_slice(&made.file)), WD_OK);
	check_members();
	make_zip_release(&made);
}
END_TEST

/* A comment of 26 bytes that holds an end record of its own, whose comment
 * would not fit the rest. */
START_TEST(a_comment_is_no_end)
{
	make(false);
	made.file.data[made.file.len - 2] = 26;
	(void)wd_buf_append(&made.file, "PK\5\6", 4);
	make_little(&made.file, 0, 8);
	make_little(&made.file, 0, 8);
	make_little(&made.file, 7, 6);
	ck_assert_int_eq(read_bytes(wd_buf_slice(&made.file)), WD_OK);
	check_members();
	make_zip_release(&made);
}
END_TEST

START_TEST(an_empty_archive_has_no_members)
{
	make_zip_init(&made);
	make_zip_finish(&made);
	ck_assert_int_eq(read_bytes(wd_buf_slice(&made.file)), WD_OK);
	ck_assert_uint_eq(zip.count, 0);
	wd_zip_release(&zip);
	make_zip_release(&made);
}
END_TEST

/* The two archives that `make` makes begin their directory at 79; the narrow
 * one ends at 177, the wide one has its wide end at 245, the locator at 301
 * and the end at 321. */
#define DIRECTORY 79
#define EXTRA (DIRECTORY + 49) /* of the wide one's first entry */
#define NARROW 177
#define WIDE 245
#define LOCATOR 301
#define END 321

static const struct {
	const char *what;
	bool wide;
	size_t at;
	unsigned len;
	uint64_t value;
	enum wd_status status;
} faults[] = {
	{ "no end", false, NARROW, 1, 0, WD_TRUNCATED },
	{ "another part", false, NARROW + 4, 2, 1, WD_MALFORMED },
	{ "the directory's part", false, NARROW + 6, 2, 1, WD_MALFORMED },
	{ "other counts", false, NARROW + 8, 2, 1, WD_MALFORMED },
	{ "a member more", false, NARROW + 8, 4, 0x30003, WD_MALFORMED },
	{ "a count too high", false, NARROW + 8, 4, 0x10001000, WD_MALFORMED },
	{ "a count beyond the cap", false, NARROW + 8, 4, 0xfefefefe,
	    WD_LIMIT },
	{ "a directory over its end", false, NARROW + 12, 4, 99, WD_MALFORMED },
	{ "a directory behind it", false, NARROW + 12, 4, 0x00fffffe,
	    WD_MALFORMED },
	{ "a directory beyond the cap", false, NARROW + 12, 4, 0x01000001,
	    WD_LIMIT },
	{ "it starts too late", false, NARROW + 16, 4, 80, WD_MALFORMED },
	{ "it starts too early", false, NARROW + 16, 4, 78, WD_MALFORMED },
	{ "no entry", false, DIRECTORY, 1, 0, WD_MALFORMED },
	{ "no name", false, DIRECTORY + 28, 2, 0, WD_MALFORMED },
	{ "a name beyond the cap", false, DIRECTORY + 28, 2, 2000,
	    WD_MALFORMED },
	{ "an extra field that is cut", false, DIRECTORY + 30, 2, 9999,
	    WD_MALFORMED },
	{ "two sizes of a stored member", false, DIRECTORY + 24, 4, 11,
	    WD_MALFORMED },
	{ "data over the directory", false, DIRECTORY + 20, 8,
	    0x0000003700000037, WD_MALFORMED },
	{ "data over the next", false, DIRECTORY + 20, 8, 0x0000000b0000000b,
	    WD_MALFORMED },
	{ "wide sizes that are not there", false, DIRECTORY + 20, 8, UINT64_MAX,
	    WD_MALFORMED },
	{ "one name", false, DIRECTORY + 49 + 46 + 2, 1, 'b', WD_MALFORMED },
	{ "no wide end", true, WIDE, 1, 0, WD_MALFORMED },
	{ "a wide end of another part", true, WIDE + 16, 4, 1, WD_MALFORMED },
	{ "its directory's part", true, WIDE + 20, 4, 1, WD_MALFORMED },
	{ "other wide counts", true, WIDE + 24, 8, 3, WD_MALFORMED },
	{ "a locator to nowhere", true, LOCATOR + 8, 8, UINT64_MAX,
	    WD_MALFORMED },
	{ "a locator to itself", true, LOCATOR + 8, 8, LOCATOR - 55,
	    WD_MALFORMED },
	{ "ends that disagree on the count", true, END + 10, 2, 1,
	    WD_MALFORMED },
	{ "ends that disagree on the size", true, END + 12, 4, 1,
	    WD_MALFORMED },
	{ "ends that disagree on the place", true, END + 16, 4, 1,
	    WD_MALFORMED },
	{ "an offset near 2^64", true, EXTRA + 10 + 16, 8, UINT64_MAX - 8,
	    WD_MALFORMED },
	{ "a size near 2^64", true, EXTRA + 10, 8, UINT64_MAX - 8,
	    WD_MALFORMED },
	{ "a short wide field", true, EXTRA + 8, 2, 16, WD_MALFORMED },
	{ "a wide field that is cut", true, EXTRA + 8, 2, 99, WD_MALFORMED },
	{ "a field before it that is cut", true, EXTRA + 2, 2, 99,
	    WD_MALFORMED },
};

START_TEST(an_archive_that_lies_is_refused)
{
	unsigned i;

	make(faults[_i].wide);
	ck_assert_uint_eq(made.file.len, (faults[_i].wide ? END : NARROW) + 22);
	for (i = 0; i < faults[_i].len; i++)
		made.file.data[faults[_i].at + i] =
		    (uint8_t)(faults[_i].value >> (8 * i));
	ck_assert_msg(read_bytes(wd_buf_slice(&made.file)) == faults[_i].status,
	    "%s: %s", faults[_i].what, err.message);
	ck_assert_int_eq(err.status, faults[_i].status);
	ck_assert_uint_ne(err.offset, WD_ERROR_NO_OFFSET);
	make_zip_release(&made);
}
END_TEST

START_TEST(a_cut_archive_is_refused)
{
	struct wd_slice bytes;
	size_t len;

	make(both[_i]);
	bytes = wd_buf_slice(&made.file);
	for (len = 0; len < made.file.len; len++) {
		bytes.len = len;
		ck_assert_int_ne(read_bytes(bytes), WD_OK);
	}
	make_zip_release(&made);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
	enum wd_status st = WD_NOMEM;
	uint64_t n;

	make(true);
	for (n = 0; n < 20; n++) {
		wd_mem_fail_after(n);
		st = read_bytes(wd_buf_slice(&made.file));
		wd_mem_fail_after(UINT64_MAX);
		if (st == WD_OK)
			break;
		ck_assert_int_eq(st, WD_NOMEM);
	}
	ck_assert_int_eq(st, WD_OK);
	ck_assert_uint_gt(n, 2);
	wd_zip_release(&zip);
	make_zip_release(&made);
}
END_TEST

WD_SUITE_BEGIN("bundle zip")
WD_LOOP(members_are_listed_by_name, both);
WD_TEST(a_comment_is_no_end);
WD_TEST(an_empty_archive_has_no_members);
WD_LOOP(an_archive_that_lies_is_refused, faults);
WD_LOOP(a_cut_archive_is_refused, both);
WD_TEST(every_allocation_may_fail);
WD_SUITE_END
