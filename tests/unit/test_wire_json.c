/* wire/json.h: what the oracle in tests/interop cannot reach: bad strings,
 * limits, times out of range, exact text. */
#include "wire/json.h"

#include <stdio.h>
#include <string.h>

#include "kinds.pb-c.h"
#include "support/suite.h"
#include "wire/build.h"

static void
print_kinds(const Weightd__Testing__Kinds *message,
    enum wd_message_json_style style, const char *wanted)
{
	struct wd_buf out;

	wd_buf_init(&out, 4096);
	ck_assert_int_eq(
	    wd_message_print_json(&message->base, style, &out, NULL), WD_OK);
	ck_assert_str_eq(wd_buf_string(&out), wanted);
	wd_buf_release(&out);
}

START_TEST(names_numbers_and_order)
{
	Weightd__Testing__Kinds message, child;
	uint64_t naturals[] = { 0, UINT64_MAX };

	weightd__testing__kinds__init(&message);
	weightd__testing__kinds__init(&child);
	message.sha256_of_x9_y = 7;
	message.big_whole = INT64_MIN;
	message.natural = UINT32_MAX;
	message.colour = (Weightd__Testing__Colour)42;
	message.child = &child;
	message.big_naturals = naturals;
	message.n_big_naturals = 2;
	print_kinds(&message, WD_JSON_COMPACT,
	    "{\"bigWhole\":\"-9223372036854775808\",\"natural\":4294967295,"
	    "\"colour\":42,\"child\":{},"
	    "\"bigNaturals\":[\"0\",\"18446744073709551615\"],"
	    "\"sha256OfX9Y\":7}");
	message.big_whole = 0;
	message.natural = 0;
	message.colour = WEIGHTD__TESTING__COLOUR__COLOUR_BELOW;
	print_kinds(&message, WD_JSON_INDENTED,
	    "{\n  \"colour\": \"COLOUR_BELOW\",\n  \"child\": {},\n"
	    "  \"bigNaturals\": [\n    \"0\",\n"
	    "    \"18446744073709551615\"\n  ],\n  \"sha256OfX9Y\": 7\n}\n");
}
END_TEST

START_TEST(nothing_is_an_empty_object)
{
	Weightd__Testing__Kinds message;

	weightd__testing__kinds__init(&message);
	print_kinds(&message, WD_JSON_COMPACT, "{}");
	print_kinds(&message, WD_JSON_INDENTED, "{}\n");
}
END_TEST

START_TEST(a_chosen_default_is_there)
{
	Weightd__Testing__Kinds message;

	weightd__testing__kinds__init(&message);
	message.choice_case = WEIGHTD__TESTING__KINDS__CHOICE_CHOSEN_NATURAL;
	print_kinds(&message, WD_JSON_COMPACT, "{\"chosenNatural\":\"0\"}");
	message.choice_case = WEIGHTD__TESTING__KINDS__CHOICE_CHOSEN_TRUTH;
	message.chosen_truth = 0;
	print_kinds(&message, WD_JSON_COMPACT, "{\"chosenTruth\":false}");
	message.choice_case = WEIGHTD__TESTING__KINDS__CHOICE_CHOSEN_CHILD;
	message.chosen_child = NULL;
	print_kinds(&message, WD_JSON_COMPACT, "{}");
}
END_TEST

static const struct {
	const char *text;
	const char *json;
} strings[] = {
	{ "a\xff"
	  "b",
	    "\"a\xef\xbf\xbd"
	    "b\"" },
	{ "\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
	{ "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
	{ "\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
	{ "\"\\/\n\t\r", "\"\\\"\\\\/\\n\\t\\u000d\"" },
	{ "\x1b[31m\x7f", "\"\\u001b[31m\\u007f\"" },
	{ "\xc2\x9b", "\"\\u009b\"" },
	{ "\xe2\x80\xae", "\"\\u202e\"" },
	{ "\xf3\xa0\x81\x81", "\"\\udb40\\udc41\"" },
	{ "\xc3\xbc\xf0\x9f\xa6\x99", "\"\xc3\xbc\xf0\x9f\xa6\x99\"" },
};

START_TEST(strings_are_valid_and_harmless)
{
	Weightd__Testing__Kinds message;
	char text[32], wanted[128];

	weightd__testing__kinds__init(&message);
	(void)snprintf(text, sizeof(text), "%s", strings[_i].text);
	(void)snprintf(
	    wanted, sizeof(wanted), "{\"text\":%s}", strings[_i].json);
	message.text = text;
	print_kinds(&message, WD_JSON_COMPACT, wanted);
	message.text = NULL;
	print_kinds(&message, WD_JSON_COMPACT, "{}");
}
END_TEST

static const struct {
	uint8_t bytes[4];
	size_t len;
	const char *json;
} blobs[] = {
	{ { 0xfb, 0xff, 0xfe, 0 }, 1, "{\"raw\":\"+w==\"}" },
	{ { 0xfb, 0xff, 0xfe, 0 }, 2, "{\"raw\":\"+/8=\"}" },
	{ { 0xfb, 0xff, 0xfe, 0 }, 3, "{\"raw\":\"+//+\"}" },
	{ { 0xfb, 0xff, 0xfe, 0 }, 4, "{\"raw\":\"+//+AA==\"}" },
	{ { 0 }, 0, "{}" },
};

START_TEST(bytes_are_standard_base64)
{
	Weightd__Testing__Kinds message;
	uint8_t bytes[4];

	weightd__testing__kinds__init(&message);
	memcpy(bytes, blobs[_i].bytes, sizeof(bytes));
	message.raw.data = bytes;
	message.raw.len = blobs[_i].len;
	print_kinds(&message, WD_JSON_COMPACT, blobs[_i].json);
}
END_TEST

static const struct {
	int64_t seconds;
	int32_t nanos;
	const char *text; /* NULL: out of range */
} times[] = {
	{ 0, 0, "1970-01-01T00:00:00Z" },
	{ -1, 999999999, "1969-12-31T23:59:59.999999999Z" },
	{ 951782400, 0, "2000-02-29T00:00:00Z" },
	{ 951868799, 0, "2000-02-29T23:59:59Z" },
	{ 4107542400, 0, "2100-03-01T00:00:00Z" },
	{ 4107542399, 0, "2100-02-28T23:59:59Z" },
	{ 1796040000, 500000000, "2026-11-30T12:00:00.500Z" },
	{ 1796040000, 500000, "2026-11-30T12:00:00.000500Z" },
	{ 1796040000, 500, "2026-11-30T12:00:00.000000500Z" },
	{ -62135596800, 0, "0001-01-01T00:00:00Z" },
	{ 253402300799, 999999999, "9999-12-31T23:59:59.999999999Z" },
	{ -62135596801, 0, NULL },
	{ 253402300800, 0, NULL },
	{ INT64_MAX, 0, NULL },
	{ INT64_MIN, 0, NULL },
	{ 0, -1, NULL },
	{ 0, 1000000000, NULL },
};

START_TEST(times_are_rfc_3339)
{
	Google__Protobuf__Timestamp at;
	struct wd_buf out;
	enum wd_status st;
	char wanted[64];

	google__protobuf__timestamp__init(&at);
	at.seconds = times[_i].seconds;
	at.nanos = times[_i].nanos;
	wd_buf_init(&out, 4096);
	st = wd_message_print_json(&at.base, WD_JSON_COMPACT, &out, NULL);
	if (times[_i].text == NULL) {
		ck_assert_int_eq(st, WD_INVALID);
	} else {
		(void)snprintf(
		    wanted, sizeof(wanted), "\"%s\"", times[_i].text);
		ck_assert_int_eq(st, WD_OK);
		ck_assert_str_eq(wd_buf_string(&out), wanted);
	}
	wd_buf_release(&out);
}
END_TEST

/* A chain of `links` messages around an innermost one. */
static enum wd_status
print_chain(size_t links)
{
	struct wd_build build = wd_build_init();
	Weightd__Testing__Kinds *root, *at;
	struct wd_error err;
	struct wd_buf out;
	enum wd_status st;

	root = at = wd_build_new(&build, &weightd__testing__kinds__descriptor);
	for (; links > 0; links--) {
		at->child =
		    wd_build_new(&build, &weightd__testing__kinds__descriptor);
		at = at->child;
	}
	wd_error_init(&err);
	wd_buf_init(&out, 4096);
	st = wd_message_print_json(&root->base, WD_JSON_COMPACT, &out, &err);
	wd_buf_release(&out);
	wd_message_free(root);
	return st;
}

START_TEST(depth_is_limited)
{
	ck_assert_int_eq(print_chain(WD_MESSAGE_JSON_DEPTH - 1), WD_OK);
	ck_assert_int_eq(print_chain(WD_MESSAGE_JSON_DEPTH), WD_LIMIT);
}
END_TEST

START_TEST(a_full_buffer_is_reported)
{
	Weightd__Testing__Kinds message;
	struct wd_error err;
	struct wd_buf out;

	weightd__testing__kinds__init(&message);
	message.natural = 1234;
	wd_error_init(&err);
	wd_buf_init(&out, 8);
	ck_assert_int_eq(
	    wd_message_print_json(&message.base, WD_JSON_COMPACT, &out, &err),
	    WD_LIMIT);
	ck_assert_int_eq(err.status, WD_LIMIT);
	wd_buf_release(&out);
}
END_TEST

WD_SUITE_BEGIN("wire json")
WD_TEST(names_numbers_and_order);
WD_TEST(nothing_is_an_empty_object);
WD_TEST(a_chosen_default_is_there);
WD_LOOP(strings_are_valid_and_harmless, strings);
WD_LOOP(bytes_are_standard_base64, blobs);
WD_LOOP(times_are_rfc_3339, times);
WD_TEST(depth_is_limited);
WD_TEST(a_full_buffer_is_reported);
WD_SUITE_END
