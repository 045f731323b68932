/* escape.h: what passes, what does not, and cutting. */
#include "base/escape.h"

#include <string.h>

#include "base/mem.h"
#include "support/suite.h"

#define BYTES(text)                                                            \
	{                                                                      \
		(const uint8_t *)(text), sizeof(text) - 1                      \
	}

static const struct {
	struct wd_slice bytes;
	const char *escaped;
} cases[] = {
	{ BYTES(""), "" },
	{ BYTES("plain text, 100%"), "plain text, 100%" },
	{ BYTES("caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\xa6\x99"),
	    "caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\xa6\x99" },
	{ BYTES("a\nb\tc\\d"), "a\\nb\\tc\\\\d" },
	{ BYTES("\\x1b"), "\\\\x1b" },
	{ BYTES("\x1b[31m\r\x7f"), "\\x1b[31m\\x0d\\x7f" },
	{ BYTES("a\0b"), "a\\x00b" },
	/* C1: CSI as a single code point */
	{ BYTES("\xc2\x9b"), "\\xc2\\x9b" },
	/* blanks that are no space, soft hyphen */
	{ BYTES("\xc2\xa0\xc2\xad"), "\\xc2\\xa0\\xc2\\xad" },
	{ BYTES("\xe3\x80\x80"), "\\xe3\\x80\\x80" },
	/* right-to-left override, isolate, zero-width space, BOM */
	{ BYTES("\xe2\x80\xae"), "\\xe2\\x80\\xae" },
	{ BYTES("\xe2\x81\xa6"), "\\xe2\\x81\\xa6" },
	{ BYTES("\xe2\x80\x8b"), "\\xe2\\x80\\x8b" },
	{ BYTES("\xef\xbb\xbf"), "\\xef\\xbb\\xbf" },
	/* line and paragraph separator */
	{ BYTES("\xe2\x80\xa8\xe2\x80\xa9"), "\\xe2\\x80\\xa8\\xe2\\x80\\xa9" },
	/* tag characters, variation selector, Hangul filler */
	{ BYTES("\xf3\xa0\x81\x81"), "\\xf3\\xa0\\x81\\x81" },
	{ BYTES("\xef\xb8\x8f"), "\\xef\\xb8\\x8f" },
	{ BYTES("\xe3\x85\xa4"), "\\xe3\\x85\\xa4" },
	/* neighbours of the ranges pass */
	{ BYTES("\xc2\xa1\xc2\xae\xe2\x80\x90\xe2\x80\xb0\xe2\x81\x9e"),
	    "\xc2\xa1\xc2\xae\xe2\x80\x90\xe2\x80\xb0\xe2\x81\x9e" },
	/* not UTF-8: lone, cut, overlong, surrogate, too large */
	{ BYTES("\x80\xff"), "\\x80\\xff" },
	{ BYTES("a\xe2\x82"), "a\\xe2\\x82" },
	{ BYTES("\xc0\xaf"), "\\xc0\\xaf" },
	{ BYTES("\xe0\x80\xaf"), "\\xe0\\x80\\xaf" },
	{ BYTES("\xed\xa0\x80"), "\\xed\\xa0\\x80" },
	{ BYTES("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80" },
	/* a bad lead byte takes nothing else with it */
	{ BYTES("\xe2\x28\xa1"), "\\xe2(\\xa1" },
};

START_TEST(escaping)
{
	struct wd_buf out;
	char shown[64];

	wd_buf_init(&out, 1000);
	ck_assert_int_eq(wd_escape(&out, cases[_i].bytes), WD_OK);
	ck_assert_str_eq(wd_buf_string(&out), cases[_i].escaped);
	ck_assert(wd_utf8_valid(wd_buf_slice(&out)));
	ck_assert_str_eq(wd_escape_short(shown, sizeof(shown), cases[_i].bytes),
	    cases[_i].escaped);
	wd_buf_release(&out);
}
END_TEST

static bool
is_escaped_form(const char *shown, struct wd_slice bytes)
{
	if (shown[0] != '\\')
		return wd_slice_equal(wd_slice_text(shown), bytes);
	return strlen(shown) == (shown[1] == 'x' ? 4 * bytes.len : 2);
}

/* Every code point of Unicode: the output is one line of valid UTF-8, and
 * reading it backwards gives the code point again. */
START_TEST(every_code_point)
{
	uint8_t utf8[4];
	uint32_t code;

	for (code = 0; code <= 0x10ffff; code++) {
		struct wd_slice bytes = { utf8, 0 };
		char shown[32];

		if (code >= 0xd800 && code <= 0xdfff)
			continue;
		if (code < 0x80) {
			utf8[bytes.len++] = (uint8_t)code;
		} else if (code < 0x800) {
			utf8[bytes.len++] = (uint8_t)(0xc0 | code >> 6);
			utf8[bytes.len++] = (uint8_t)(0x80 | (code & 63));
		} else if (code < 0x10000) {
			utf8[bytes.len++] = (uint8_t)(0xe0 | code >> 12);
			utf8[bytes.len++] = (uint8_t)(0x80 | (code >> 6 & 63));
			utf8[bytes.len++] = (uint8_t)(0x80 | (code & 63));
		} else {
			utf8[bytes.len++] = (uint8_t)(0xf0 | code >> 18);
			utf8[bytes.len++] = (uint8_t)(0x80 | (code >> 12 & 63));
			utf8[bytes.len++] = (uint8_t)(0x80 | (code >> 6 & 63));
			utf8[bytes.len++] = (uint8_t)(0x80 | (code & 63));
		}
		/* An assertion of Check is too slow for a million rounds. */
		(void)wd_escape_short(shown, sizeof(shown), bytes);
		if (!wd_utf8_valid(bytes) || !is_escaped_form(shown, bytes))
			ck_abort_msg("U+%04x: %s", code, shown);
	}
}
END_TEST

static const struct {
	struct wd_slice bytes;
	bool valid;
} utf8_cases[] = {
	{ BYTES(""), true },
	{ BYTES("a\0b"), true },
	{ BYTES("\x7f\xc2\x80\xdf\xbf"), true },
	{ BYTES("\xe0\xa0\x80\xef\xbf\xbf"), true },
	{ BYTES("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"), true },
	{ BYTES("\xed\x9f\xbf\xee\x80\x80"), true },
	{ BYTES("\x80"), false },
	{ BYTES("\xc1\xbf"), false },
	{ BYTES("\xc2"), false },
	{ BYTES("\xc2\x41"), false },
	{ BYTES("\xe0\x9f\xbf"), false },
	{ BYTES("\xed\xbf\xbf"), false },
	{ BYTES("\xf0\x8f\xbf\xbf"), false },
	{ BYTES("\xf4\x90\x80\x80"), false },
	{ BYTES("\xf5\x80\x80\x80"), false },
	{ BYTES("\xf0\x90\x80"), false },
	{ BYTES("ok\xff"), false },
};

START_TEST(utf8)
{
	ck_assert(wd_utf8_valid(utf8_cases[_i].bytes) == utf8_cases[_i].valid);
}
END_TEST

static const struct {
	struct wd_slice bytes;
	const char *word;
} words[] = {
	{ BYTES(""), "\"\"" },
	{ BYTES("--model=/srv/m-1_2.gguf"), "--model=/srv/m-1_2.gguf" },
	{ BYTES("two words"), "\"two words\"" },
	{ BYTES("a\"b"), "\"a\\\"b\"" },
	{ BYTES("a\\\"b"), "\"a\\\\\\\"b\"" },
	{ BYTES("\""), "\"\\\"\"" },
	{ BYTES("a\nb"), "\"a\\nb\"" },
	{ BYTES("a\0"), "\"a\\x00\"" },
	{ BYTES("$HOME;`x`"), "\"$HOME;`x`\"" },
};

START_TEST(word)
{
	struct wd_buf out;

	wd_buf_init(&out, 1000);
	ck_assert_int_eq(wd_escape_word(&out, words[_i].bytes), WD_OK);
	ck_assert_str_eq(wd_buf_string(&out), words[_i].word);
	wd_buf_release(&out);
}
END_TEST

static const struct {
	size_t size;
	struct wd_slice bytes;
	const char *shown;
} cuts[] = {
	{ 1, BYTES("abc"), "" },
	{ 3, BYTES("abcdef"), "ab" },
	{ 4, BYTES("abcd"), "..." },
	{ 7, BYTES("abcdef"), "abcdef" },
	{ 7, BYTES("abcdefg"), "abc..." },
	/* not within a character of two, three or four bytes */
	{ 8,
	    BYTES("abc\xc3\xa9"
		  "def"),
	    "abc..." },
	{ 9,
	    BYTES("abc\xc3\xa9"
		  "defg"),
	    "abc\xc3\xa9..." },
	{ 8,
	    BYTES("ab\xe6\x97\xa5"
		  "defg"),
	    "ab..." },
	{ 10,
	    BYTES("ab\xf0\x9f\xa6\x99"
		  "defg"),
	    "ab\xf0\x9f\xa6\x99..." },
	{ 9,
	    BYTES("ab\xf0\x9f\xa6\x99"
		  "defg"),
	    "ab..." },
	/* not within an escape */
	{ 8,
	    BYTES("ab\x1b"
		  "cdef"),
	    "ab..." },
	{ 8, BYTES("abcdef\n"), "abcd..." },
	{ 16, BYTES("\xff\xff\xff\xff\xff"), "\\xff\\xff\\xff..." },
};

START_TEST(cut)
{
	char shown[32];

	memset(shown, '#', sizeof(shown));
	(void)wd_escape_short(shown, cuts[_i].size, cuts[_i].bytes);
	ck_assert_str_eq(shown, cuts[_i].shown);
	ck_assert_int_eq(shown[cuts[_i].size], '#');
}
END_TEST

START_TEST(a_cut_is_seen_even_before_a_long_tail)
{
	char shown[16];
	struct wd_slice nuls = { NULL, 100000 };
	uint8_t *bytes = wd_calloc(nuls.len, 1);

	ck_assert_ptr_nonnull(bytes);
	nuls.data = bytes;
	ck_assert_str_eq(
	    wd_escape_short(shown, sizeof(shown), nuls), "\\x00\\x00\\x00...");
	ck_assert_str_eq(wd_escape_short(shown, 0, nuls), "");
	wd_free(bytes);
}
END_TEST

START_TEST(escaping_short_needs_no_memory)
{
	char shown[16];

	wd_mem_fail_after(0);
	(void)wd_escape_short(shown, sizeof(shown), wd_slice_text("a\nb"));
	ck_assert_int_eq(wd_mem_has_failed(), 0);
	wd_mem_fail_after(UINT64_MAX);
	ck_assert_str_eq(shown, "a\\nb");
}
END_TEST

/* The bytes behind the slice would make it whole; they are not ours. */
START_TEST(nothing_behind_the_end_is_read)
{
	struct wd_slice euro = { (const uint8_t *)"\xe2\x82\xac", 3 };
	char shown[32];

	ck_assert(wd_utf8_valid(euro));
	euro.len = 2;
	ck_assert(!wd_utf8_valid(euro));
	ck_assert_str_eq(
	    wd_escape_short(shown, sizeof(shown), euro), "\\xe2\\x82");
}
END_TEST

START_TEST(the_buffer_s_failure_is_returned)
{
	struct wd_buf out;

	wd_buf_init(&out, 3);
	ck_assert_int_eq(wd_escape(&out, wd_slice_text("abcd")), WD_LIMIT);
	wd_buf_release(&out);
	wd_mem_fail_after(0);
	ck_assert_int_eq(wd_escape_word(&out, wd_slice_text("a b")), WD_NOMEM);
	wd_mem_fail_after(UINT64_MAX);
	wd_buf_release(&out);
}
END_TEST

WD_SUITE_BEGIN("base escape")
WD_LOOP(escaping, cases);
WD_TEST(every_code_point);
WD_LOOP(utf8, utf8_cases);
WD_LOOP(word, words);
WD_LOOP(cut, cuts);
WD_TEST(a_cut_is_seen_even_before_a_long_tail);
WD_TEST(escaping_short_needs_no_memory);
WD_TEST(nothing_behind_the_end_is_read);
WD_TEST(the_buffer_s_failure_is_returned);
WD_SUITE_END
