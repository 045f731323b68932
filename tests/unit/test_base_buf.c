/* buf.h: the cap, all or nothing, failure that stays, no memory. */
#include "base/buf.h"

#include <string.h>

#include "base/mem.h"
#include "support/suite.h"

START_TEST(text_is_always_terminated)
{
	struct wd_buf buf;

	wd_buf_init(&buf, 100);
	ck_assert_str_eq(wd_buf_string(&buf), "");
	ck_assert_int_eq(wd_buf_append(&buf, NULL, 0), WD_OK);
	ck_assert_str_eq(wd_buf_string(&buf), "");
	ck_assert_int_eq(wd_buf_text(&buf, "port "), WD_OK);
	ck_assert_int_eq(wd_buf_printf(&buf, "%d", 8080), WD_OK);
	ck_assert_int_eq(wd_buf_byte(&buf, '!'), WD_OK);
	ck_assert_str_eq(wd_buf_string(&buf), "port 8080!");
	ck_assert_uint_eq(wd_buf_slice(&buf).len, 10);
	wd_buf_reset(&buf);
	ck_assert_str_eq(wd_buf_string(&buf), "");
	wd_buf_release(&buf);
	ck_assert_ptr_null(buf.data);
}
END_TEST

static const size_t caps[] = { 0, 1, 5, 63, 64, 65, 100, 127, 128, 1000 };

/* Exactly `max` bytes fit, one by one and at once. */
START_TEST(the_cap_is_exact)
{
	size_t max = caps[_i], i;
	uint8_t block[1001];
	struct wd_buf buf;

	memset(block, 'x', sizeof(block));
	wd_buf_init(&buf, max);
	for (i = 0; i < max; i++)
		ck_assert_int_eq(wd_buf_byte(&buf, 'x'), WD_OK);
	ck_assert_uint_le(buf.capacity, max);
	ck_assert_int_eq(wd_buf_byte(&buf, 'x'), WD_LIMIT);
	ck_assert_uint_eq(buf.len, max);
	wd_buf_release(&buf);
	ck_assert_int_eq(wd_buf_append(&buf, block, max), WD_OK);
	ck_assert_uint_eq(strlen(wd_buf_string(&buf)), max);
	wd_buf_release(&buf);
	ck_assert_int_eq(wd_buf_append(&buf, block, max + 1), WD_LIMIT);
	ck_assert_uint_eq(buf.len, 0);
	wd_buf_release(&buf);
}
END_TEST

START_TEST(a_failure_stays_until_reset)
{
	struct wd_buf buf;
	uint8_t *space = NULL;

	wd_buf_init(&buf, 4);
	ck_assert_int_eq(wd_buf_text(&buf, "abc"), WD_OK);
	ck_assert_int_eq(wd_buf_printf(&buf, "%s", "de"), WD_LIMIT);
	ck_assert_str_eq(wd_buf_string(&buf), "abc");
	ck_assert_int_eq(wd_buf_byte(&buf, 'd'), WD_LIMIT);
	ck_assert_int_eq(wd_buf_reserve(&buf, 0, &space), WD_LIMIT);
	ck_assert_ptr_null(wd_buf_detach(&buf));
	wd_buf_reset(&buf);
	ck_assert_int_eq(wd_buf_text(&buf, "four"), WD_OK);
	wd_buf_release(&buf);
}
END_TEST

START_TEST(absurd_lengths_are_refused)
{
	struct wd_buf buf;
	uint8_t *space = NULL;

	wd_buf_init(&buf, SIZE_MAX);
	ck_assert_int_eq(wd_buf_reserve(&buf, SIZE_MAX, &space), WD_LIMIT);
	wd_buf_reset(&buf);
	/* Would need SIZE_MAX bytes with the NUL; must not wrap to 0. */
	ck_assert_int_eq(wd_buf_reserve(&buf, SIZE_MAX - 1, &space), WD_NOMEM);
	wd_buf_reset(&buf);
	ck_assert_int_eq(wd_buf_byte(&buf, 1), WD_OK);
	ck_assert_int_eq(wd_buf_reserve(&buf, SIZE_MAX - 1, &space), WD_LIMIT);
	wd_buf_release(&buf);
}
END_TEST

START_TEST(detach_hands_the_string_over)
{
	struct wd_buf buf;
	char *text;

	wd_buf_init(&buf, 100);
	text = wd_buf_detach(&buf);
	ck_assert_str_eq(text, "");
	wd_free(text);
	(void)wd_buf_text(&buf, "mine");
	text = wd_buf_detach(&buf);
	ck_assert_str_eq(text, "mine");
	ck_assert_uint_eq(buf.len, 0);
	ck_assert_ptr_null(buf.data);
	wd_free(text);
}
END_TEST

START_TEST(reserve_and_advance)
{
	struct wd_buf buf;
	uint8_t *space = NULL;

	wd_buf_init(&buf, 10);
	ck_assert_int_eq(wd_buf_reserve(&buf, 10, &space), WD_OK);
	memcpy(space, "0123456789", 10);
	wd_buf_advance(&buf, 3);
	ck_assert_str_eq(wd_buf_string(&buf), "012");
	ck_assert_int_eq(wd_buf_reserve(&buf, 8, &space), WD_LIMIT);
	wd_buf_release(&buf);
}
END_TEST

/* A page of appends, with each allocation failing in turn. */
START_TEST(no_memory_is_a_status)
{
	uint64_t n;
	int i;

	for (n = 0;; n++) {
		struct wd_buf buf;

		wd_buf_init(&buf, 4096);
		wd_mem_fail_after(n);
		for (i = 0; i < 50; i++)
			(void)wd_buf_printf(&buf, "row %02d\n", i);
		wd_mem_fail_after(UINT64_MAX);
		if (buf.status == WD_OK) {
			ck_assert_uint_eq(buf.len, 350);
			wd_buf_release(&buf);
			break;
		}
		ck_assert_int_eq(buf.status, WD_NOMEM);
		ck_assert_uint_eq(buf.len % 7, 0);
		wd_buf_release(&buf);
	}
	ck_assert_uint_ge(n, 3);
}
END_TEST

WD_SUITE_BEGIN("base buf")
WD_TEST(text_is_always_terminated);
WD_LOOP(the_cap_is_exact, caps);
WD_TEST(a_failure_stays_until_reset);
WD_TEST(absurd_lengths_are_refused);
WD_TEST(detach_hands_the_string_over);
WD_TEST(reserve_and_advance);
WD_TEST(no_memory_is_a_status);
WD_SUITE_END
