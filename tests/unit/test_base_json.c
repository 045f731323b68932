/* json.h: what jansson leaves open or refuses, and the budget. */
#include "base/json.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "support/suite.h"

#define BUDGET (1U << 20)

#define BYTES(text)                                                            \
	{                                                                      \
		(const uint8_t *)(text), sizeof(text) - 1                      \
	}

/* The tree as compact JSON, in the caller's array. */
static const char *
compact(const json_t *root, char *out, size_t size)
{
	size_t len = json_dumpb(root, out, size, JSON_COMPACT);

	ck_assert_uint_lt(len, size);
	out[len] = '\0';
	return out;
}

static const struct {
	struct wd_slice text;
	const char *tree;
} good[] = {
	{ BYTES("{}"), "{}" },
	{ BYTES(" [1, 2.5, true, null] "), "[1,2.5,true,null]" },
	{ BYTES("\xef\xbb\xbf{\"a\":1}"), "{\"a\":1}" },
	{ BYTES("[NaN,Infinity,-Infinity]"),
	    "[\"NaN\",\"Infinity\",\"-Infinity\"]" },
	{ BYTES("{\"a\": NaN }"), "{\"a\":\"NaN\"}" },
	{ BYTES("[\"NaN\", \"a\\\"NaN\"]"), "[\"NaN\",\"a\\\"NaN\"]" },
	{ BYTES("[9223372036854775807,-9223372036854775808]"),
	    "[9223372036854775807,-9223372036854775808]" },
	{ BYTES("[9223372036854775808]"), "[\"9223372036854775808\"]" },
	{ BYTES("[-9223372036854775809]"), "[\"-9223372036854775809\"]" },
	{ BYTES("[18446744073709551615]"), "[\"18446744073709551615\"]" },
	{ BYTES("[1000000000000000019884624838656]"),
	    "[\"1000000000000000019884624838656\"]" },
	{ BYTES("[1e999,-1E+999]"), "[\"1e999\",\"-1E+999\"]" },
	{ BYTES("[1e-999]"), "[0.0]" },
	{ BYTES("{\"b\":1,\"a\":{\"b\":2}}"), "{\"b\":1,\"a\":{\"b\":2}}" },
	{ BYTES("[\"a\\u0000b\"]"), "[\"a\\u0000b\"]" },
};

START_TEST(good_text)
{
	WD_CLEANUP(wd_json_free) json_t *root = NULL;
	struct wd_error err;
	char out[256];

	wd_error_init(&err);
	ck_assert_msg(
	    wd_json_parse(good[_i].text, BUDGET, &root, &err) == WD_OK, "%s",
	    err.message);
	ck_assert_str_eq(compact(root, out, sizeof(out)), good[_i].tree);
}
END_TEST

static const struct {
	struct wd_slice text;
	enum wd_status status;
	uint64_t offset; /* WD_ERROR_NO_OFFSET: not looked at */
	const char *words;
} bad[] = {
	{ BYTES(""), WD_MALFORMED, 0, "empty" },
	{ BYTES("\xef\xbb\xbf"), WD_MALFORMED, 3, "empty" },
	{ BYTES("1"), WD_MALFORMED, 1, "expected" },
	{ BYTES("NaN"), WD_MALFORMED, 3, "expected" },
	{ BYTES("[1] x"), WD_MALFORMED, 5, "end of file" },
	{ BYTES("[1,]"), WD_MALFORMED, 4, "unexpected" },
	{ BYTES("[1,\n2,\n}]"), WD_MALFORMED, 8, "line 3" },
	{ BYTES("{\"a\":1,\"a\":2}"), WD_MALFORMED, 10, "twice" },
	{ BYTES("{\"a\":1,\"\\u0061\":2}"), WD_MALFORMED, 15, "twice" },
	{ BYTES("[{\"a\":{},\"a\":{}}]"), WD_MALFORMED, 12, "twice" },
	/* quotes that were put in do not move the offset */
	{ BYTES("[NaN,NaN,]"), WD_MALFORMED, 10, "unexpected" },
	{ BYTES("\xef\xbb\xbf[NaN,]"), WD_MALFORMED, 9, "unexpected" },
	{ BYTES("[NaN,!,NaN]"), WD_MALFORMED, 6, "invalid token" },
	{ BYTES("[nan]"), WD_MALFORMED, WD_ERROR_NO_OFFSET, "token" },
	{ BYTES("[+Infinity]"), WD_MALFORMED, WD_ERROR_NO_OFFSET, "token" },
	{ BYTES("[--Infinity]"), WD_MALFORMED, WD_ERROR_NO_OFFSET, "token" },
	{ BYTES("[NaN_]"), WD_MALFORMED, WD_ERROR_NO_OFFSET, "" },
	{ BYTES("{NaN:1}"), WD_MALFORMED, WD_ERROR_NO_OFFSET, "" },
	{ BYTES("{NaN :1}"), WD_MALFORMED, WD_ERROR_NO_OFFSET, "" },
	{ BYTES("{9223372036854775808:1}"), WD_MALFORMED, WD_ERROR_NO_OFFSET,
	    "" },
	/* no JSON number, however large */
	{ BYTES("[09223372036854775808]"), WD_MALFORMED, WD_ERROR_NO_OFFSET,
	    "" },
	{ BYTES("[01e999]"), WD_MALFORMED, WD_ERROR_NO_OFFSET, "" },
	{ BYTES("[1.e999]"), WD_MALFORMED, WD_ERROR_NO_OFFSET, "" },
	{ BYTES("[1e]"), WD_MALFORMED, WD_ERROR_NO_OFFSET, "" },
	{ BYTES("[0x1p9999]"), WD_MALFORMED, WD_ERROR_NO_OFFSET, "" },
	{ BYTES("[\"\xff\"]"), WD_MALFORMED, WD_ERROR_NO_OFFSET, "0xff" },
	{ BYTES("[\"a\nb\"]"), WD_MALFORMED, WD_ERROR_NO_OFFSET, "newline" },
	{ BYTES("[\"a"), WD_MALFORMED, 3, "" },
	{ BYTES("[\"a\\"), WD_MALFORMED, WD_ERROR_NO_OFFSET, "" },
	{ BYTES("{\"a\\u0000\":1}"), WD_MALFORMED, WD_ERROR_NO_OFFSET, "NUL" },
	{ BYTES("[1]\0"), WD_MALFORMED, WD_ERROR_NO_OFFSET, "" },
	{ BYTES("// x\n[1]"), WD_MALFORMED, WD_ERROR_NO_OFFSET, "" },
};

START_TEST(bad_text)
{
	json_t *root = NULL;
	struct wd_error err;

	wd_error_init(&err);
	ck_assert_int_eq(
	    wd_json_parse(bad[_i].text, BUDGET, &root, &err), bad[_i].status);
	ck_assert_int_eq(err.status, bad[_i].status);
	ck_assert_ptr_null(root);
	ck_assert_msg(
	    strstr(err.message, bad[_i].words) != NULL, "%s", err.message);
	if (bad[_i].offset != WD_ERROR_NO_OFFSET)
		ck_assert_msg(err.offset == bad[_i].offset, "%ju: %s",
		    (uintmax_t)err.offset, err.message);
	ck_assert_int_eq(
	    wd_json_parse(bad[_i].text, BUDGET, &root, NULL), bad[_i].status);
}
END_TEST

START_TEST(the_file_s_bytes_are_escaped_in_the_message)
{
	json_t *root = NULL;
	struct wd_error err;

	ck_assert_int_eq(wd_json_parse(wd_slice_text("[1, \x1b[31mred]"),
			     BUDGET, &root, &err),
	    WD_MALFORMED);
	ck_assert_ptr_null(strchr(err.message, '\x1b'));
	ck_assert_ptr_nonnull(strstr(err.message, "\\x1b"));
}
END_TEST

static enum wd_status
parse_nested(unsigned depth, struct wd_error *err)
{
	WD_CLEANUP(wd_json_free) json_t *root = NULL;
	struct wd_buf text;
	enum wd_status st;
	unsigned i;

	wd_buf_init(&text, 10000);
	for (i = 0; i < depth; i++)
		(void)wd_buf_text(&text, i % 2 == 0 ? "[" : "{\"a\":");
	(void)wd_buf_text(&text, "[]");
	for (i = depth; i > 0; i--)
		(void)wd_buf_byte(&text, i % 2 == 1 ? ']' : '}');
	st = wd_json_parse(wd_buf_slice(&text), BUDGET, &root, err);
	wd_buf_release(&text);
	return st;
}

START_TEST(depth_is_capped_exactly)
{
	struct wd_error err;

	ck_assert_int_eq(parse_nested(WD_MAX_JSON_DEPTH - 1, NULL), WD_OK);
	ck_assert_int_eq(parse_nested(WD_MAX_JSON_DEPTH, &err), WD_LIMIT);
	ck_assert_ptr_nonnull(strstr(err.message, "deeper than 64"));
	ck_assert_uint_eq(err.offset, 32 * 1 + 32 * 5);
}
END_TEST

/* Brackets in strings do not nest; a thousand lists side by side neither. */
START_TEST(depth_counts_what_is_open)
{
	WD_CLEANUP(wd_json_free) json_t *root = NULL;
	struct wd_buf text;
	int i;

	wd_buf_init(&text, 10000);
	(void)wd_buf_text(&text, "[\"[[[[[[[[\\\"[[[[\"");
	for (i = 0; i < 1000; i++)
		(void)wd_buf_text(&text, ",[]");
	(void)wd_buf_byte(&text, ']');
	ck_assert_int_eq(
	    wd_json_parse(wd_buf_slice(&text), BUDGET, &root, NULL), WD_OK);
	ck_assert_uint_eq(json_array_size(root), 1001);
	wd_buf_release(&text);
}
END_TEST

START_TEST(the_budget_holds)
{
	json_t *root = NULL;
	struct wd_error err;
	struct wd_buf text;
	int i;

	wd_buf_init(&text, 1U << 20);
	(void)wd_buf_text(&text, "[0");
	for (i = 0; i < 10000; i++)
		(void)wd_buf_text(&text, ",[]");
	(void)wd_buf_byte(&text, ']');
	ck_assert_int_eq(
	    wd_json_parse(wd_buf_slice(&text), 64 << 10, &root, &err),
	    WD_LIMIT);
	ck_assert_ptr_nonnull(strstr(err.message, "memory"));
	/* A spent budget does not touch the next parse. */
	ck_assert_int_eq(
	    wd_json_parse(wd_buf_slice(&text), 16 << 20, &root, &err), WD_OK);
	wd_json_free(&root);
	ck_assert_ptr_null(root);
	wd_buf_release(&text);
}
END_TEST

/* What is freed while parsing can be used again: a long list is moved into
 * ever larger blocks, 2 MiB in all, of which 1.5 MiB are held at once. */
START_TEST(freed_memory_returns_to_the_budget)
{
	json_t *root = NULL;
	struct wd_buf text;
	int i;

	wd_buf_init(&text, 1U << 20);
	(void)wd_buf_text(&text, "[true");
	for (i = 0; i < 99999; i++)
		(void)wd_buf_text(&text, ",true");
	(void)wd_buf_byte(&text, ']');
	ck_assert_int_eq(
	    wd_json_parse(wd_buf_slice(&text), 1800 << 10, &root, NULL), WD_OK);
	ck_assert_uint_eq(json_array_size(root), 100000);
	wd_json_free(&root);
	wd_buf_release(&text);
}
END_TEST

/* Trees that jansson made before the first parse are freed by the same
 * allocator. */
START_TEST(trees_of_our_own_mix_with_parsed_ones)
{
	WD_CLEANUP(wd_json_free) json_t *root = NULL;
	json_t *own = json_object();
	char out[64];

	ck_assert_int_eq(
	    wd_json_parse(wd_slice_text("{\"b\":2}"), BUDGET, &root, NULL),
	    WD_OK);
	ck_assert_int_eq(json_object_set(own, "parsed", root), 0);
	ck_assert_str_eq(
	    compact(own, out, sizeof(out)), "{\"parsed\":{\"b\":2}}");
	json_decref(own);
}
END_TEST

START_TEST(no_memory_is_a_status)
{
	struct wd_slice text =
	    wd_slice_text("{\"a\":[NaN,1,\"x\"],\"b\":{\"c\":2.5}}");
	enum wd_status st = WD_NOMEM;
	uint64_t n;

	for (n = 0; st != WD_OK; n++) {
		json_t *root = NULL;
		struct wd_error err;

		wd_error_init(&err);
		wd_mem_fail_after(n);
		st = wd_json_parse(text, BUDGET, &root, &err);
		wd_mem_fail_after(UINT64_MAX);
		if (st == WD_OK)
			wd_json_free(&root);
		else
			ck_assert_msg(st == WD_NOMEM && root == NULL, "%ju: %s",
			    (uintmax_t)n, err.message);
	}
	ck_assert_uint_ge(n, 10);
}
END_TEST

WD_SUITE_BEGIN("base json")
WD_LOOP(good_text, good);
WD_LOOP(bad_text, bad);
WD_TEST(the_file_s_bytes_are_escaped_in_the_message);
WD_TEST(depth_is_capped_exactly);
WD_TEST(depth_counts_what_is_open);
WD_TEST(the_budget_holds);
WD_TEST(freed_memory_returns_to_the_budget);
WD_TEST(trees_of_our_own_mix_with_parsed_ones);
WD_TEST(no_memory_is_a_status);
WD_SUITE_END
