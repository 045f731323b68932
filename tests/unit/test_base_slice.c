/* slice.h: bounded reads, numbers, cutting. */
#include "base/slice.h"

#include <string.h>

#include "support/suite.h"

static const struct wd_slice nothing = { NULL, 0 };

START_TEST(comparing_is_bytewise_and_shorter_comes_first)
{
	ck_assert_int_lt(
	    wd_slice_compare(wd_slice_text("a"), wd_slice_text("b")), 0);
	ck_assert_int_lt(
	    wd_slice_compare(wd_slice_text("a"), wd_slice_text("aa")), 0);
	ck_assert_int_gt(
	    wd_slice_compare(wd_slice_text("\x80"), wd_slice_text("a")), 0);
	ck_assert_int_eq(wd_slice_compare(nothing, wd_slice_text("")), 0);
	ck_assert(wd_slice_equal(nothing, wd_slice_text("")));
	ck_assert(!wd_slice_equal(wd_slice_text("a"), wd_slice_text("ab")));
	ck_assert(!wd_slice_equal(wd_slice_text("ab"), wd_slice_text("ac")));
}
END_TEST

START_TEST(starts_and_ends_hold_for_the_empty_slice)
{
	ck_assert(wd_slice_starts(nothing, ""));
	ck_assert(wd_slice_ends(nothing, ""));
	ck_assert(!wd_slice_starts(nothing, "a"));
	ck_assert(!wd_slice_ends(nothing, "a"));
	ck_assert(wd_slice_starts(wd_slice_text("abc"), "ab"));
	ck_assert(!wd_slice_starts(wd_slice_text("abc"), "bc"));
	ck_assert(wd_slice_ends(wd_slice_text("abc"), "bc"));
	ck_assert(!wd_slice_ends(wd_slice_text("abc"), "ab"));
	ck_assert(!wd_slice_ends(wd_slice_text("c"), "bc"));
}
END_TEST

static const struct {
	const char *text;
	unsigned base;
	bool good;
	uint64_t number;
} numbers[] = {
	{ "0", 10, true, 0 },
	{ "007", 10, true, 7 },
	{ "18446744073709551615", 10, true, UINT64_MAX },
	{ "18446744073709551616", 10, false, 0 },
	{ "99999999999999999999", 10, false, 0 },
	{ "ffffffffffffffff", 16, true, UINT64_MAX },
	{ "FFffFFffFFffFFff", 16, true, UINT64_MAX },
	{ "10000000000000000", 16, false, 0 },
	{ "", 10, false, 0 },
	{ "-1", 10, false, 0 },
	{ "+1", 10, false, 0 },
	{ " 1", 10, false, 0 },
	{ "1 ", 10, false, 0 },
	{ "a", 10, false, 0 },
	{ "g", 16, false, 0 },
	{ "0x1", 16, false, 0 },
};

START_TEST(number)
{
	uint64_t value = 42;
	bool good = wd_slice_number(
	    wd_slice_text(numbers[_i].text), numbers[_i].base, &value);

	ck_assert_msg(good == numbers[_i].good, "%s", numbers[_i].text);
	ck_assert_uint_eq(value, good ? numbers[_i].number : 42);
}
END_TEST

START_TEST(cutting_gives_every_part)
{
	struct wd_slice rest = wd_slice_text("a::b"), head;

	ck_assert(wd_slice_cut(&rest, ':', &head));
	ck_assert(wd_slice_equal(head, wd_slice_text("a")));
	ck_assert(wd_slice_cut(&rest, ':', &head));
	ck_assert_uint_eq(head.len, 0);
	ck_assert(wd_slice_cut(&rest, ':', &head));
	ck_assert(wd_slice_equal(head, wd_slice_text("b")));
	ck_assert(!wd_slice_cut(&rest, ':', &head));
	ck_assert(wd_slice_equal(head, wd_slice_text("b")));
}
END_TEST

START_TEST(integers_in_both_byte_orders)
{
	static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
		13, 14, 15 };
	struct wd_cursor c;
	uint8_t v8 = 0;
	uint16_t v16 = 0;
	uint32_t v32 = 0;
	uint64_t v64 = 0;

	c = wd_cursor_of((struct wd_slice){ bytes, sizeof(bytes) });
	ck_assert_int_eq(wd_read_u8(&c, &v8), WD_OK);
	ck_assert_int_eq(wd_read_u16(&c, &v16), WD_OK);
	ck_assert_int_eq(wd_read_u32(&c, &v32), WD_OK);
	ck_assert_int_eq(wd_read_u64(&c, &v64), WD_OK);
	ck_assert_uint_eq(v8, 1);
	ck_assert_uint_eq(v16, 0x0302);
	ck_assert_uint_eq(v32, 0x07060504);
	ck_assert_uint_eq(v64, UINT64_C(0x0f0e0d0c0b0a0908));
	ck_assert_uint_eq(wd_cursor_left(&c), 0);
	c = wd_cursor_of((struct wd_slice){ bytes, sizeof(bytes) });
	c.big_endian = true;
	c.at = 1;
	ck_assert_int_eq(wd_read_u16(&c, &v16), WD_OK);
	ck_assert_int_eq(wd_read_u32(&c, &v32), WD_OK);
	ck_assert_int_eq(wd_read_u64(&c, &v64), WD_OK);
	ck_assert_uint_eq(v16, 0x0203);
	ck_assert_uint_eq(v32, 0x04050607);
	ck_assert_uint_eq(v64, UINT64_C(0x08090a0b0c0d0e0f));
}
END_TEST

/* A read that does not fit consumes nothing and writes nothing. */
START_TEST(reads_are_all_or_nothing)
{
	static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7 };
	struct wd_cursor c;
	struct wd_slice part = wd_slice_text("untouched");
	uint8_t v8 = 9;
	uint16_t v16 = 9;
	uint32_t v32 = 9;
	uint64_t v64 = 9;

	c = wd_cursor_of((struct wd_slice){ bytes, sizeof(bytes) });
	ck_assert_int_eq(wd_read_u64(&c, &v64), WD_TRUNCATED);
	ck_assert_int_eq(wd_read_slice(&c, 8, &part), WD_TRUNCATED);
	ck_assert_int_eq(wd_read_slice(&c, UINT64_MAX, &part), WD_TRUNCATED);
	ck_assert_uint_eq(c.at, 0);
	ck_assert_uint_eq(v64, 9);
	ck_assert(wd_slice_equal(part, wd_slice_text("untouched")));
	ck_assert_int_eq(wd_read_slice(&c, 4, &part), WD_OK);
	ck_assert(wd_slice_equal(part, (struct wd_slice){ bytes, 4 }));
	ck_assert_int_eq(wd_read_u32(&c, &v32), WD_TRUNCATED);
	ck_assert_int_eq(wd_read_slice(&c, 3, &part), WD_OK);
	ck_assert(part.data == bytes + 4);
	ck_assert_int_eq(wd_read_u16(&c, &v16), WD_TRUNCATED);
	ck_assert_int_eq(wd_read_u8(&c, &v8), WD_TRUNCATED);
	ck_assert_uint_eq(v8 + v16 + v32, 27);
	ck_assert_uint_eq(c.at, 7);
}
END_TEST

START_TEST(nothing_can_be_read_from_nothing)
{
	struct wd_cursor c = wd_cursor_of(nothing);
	struct wd_slice part = wd_slice_text("x");
	uint8_t byte;

	ck_assert_int_eq(wd_read_slice(&c, 0, &part), WD_OK);
	ck_assert_uint_eq(part.len, 0);
	ck_assert_int_eq(wd_read_u8(&c, &byte), WD_TRUNCATED);
}
END_TEST

WD_SUITE_BEGIN("base slice")
WD_TEST(comparing_is_bytewise_and_shorter_comes_first);
WD_TEST(starts_and_ends_hold_for_the_empty_slice);
WD_LOOP(number, numbers);
WD_TEST(cutting_gives_every_part);
WD_TEST(integers_in_both_byte_orders);
WD_TEST(reads_are_all_or_nothing);
WD_TEST(nothing_can_be_read_from_nothing);
WD_SUITE_END
