/* wire/parse_json.h: what is refused, and the forms that the oracle in
 * tests/interop does not write. */
#include "wire/parse_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "kinds.pb-c.h"
#include "support/suite.h"
#include "weightd/v1/service.pb-c.h"
#include "wire/build.h"
#include "wire/json.h"

#define KINDS &weightd__testing__kinds__descriptor
#define ATTEST &weightd__v1__attest_port_request__descriptor

static enum wd_status
parse(const char *text, ProtobufCMessage **message, struct wd_error *err)
{
	*message = NULL;
	wd_error_init(err);
	return wd_message_parse_json(
	    KINDS, wd_slice_text(text), 1U << 20, message, err);
}

/* Parsed, and printed again in the one way that we print. */
static const struct {
	const char *text, *again;
} good[] = {
	{ "{}", "{}" },
	{ "{\"bigNatural\":\"18446744073709551615\"}",
	    "{\"bigNatural\":\"18446744073709551615\"}" },
	{ "{\"big_natural\":18446744073709551615}",
	    "{\"bigNatural\":\"18446744073709551615\"}" },
	{ "{\"bigWhole\":-9223372036854775808}",
	    "{\"bigWhole\":\"-9223372036854775808\"}" },
	{ "{\"natural\":\"7\"}", "{\"natural\":7}" },
	{ "{\"natural\":1e3}", "{\"natural\":1000}" },
	{ "{\"natural\":\"1.5e1\"}", "{\"natural\":15}" },
	{ "{\"natural\":2.0}", "{\"natural\":2}" },
	{ "{\"whole\":-2147483648,\"signedFixed\":2147483647}",
	    "{\"whole\":-2147483648,\"signedFixed\":2147483647}" },
	{ "{\"text\":null,\"children\":null,\"chosenText\":null}", "{}" },
	{ "{\"chosenText\":null,\"chosenTruth\":false}",
	    "{\"chosenTruth\":false}" },
	{ "{\"raw\":\"+/8=\"}", "{\"raw\":\"+/8=\"}" },
	{ "{\"raw\":\"-_8\"}", "{\"raw\":\"+/8=\"}" },
	{ "{\"raw\":\"YQ\"}", "{\"raw\":\"YQ==\"}" },
	{ "{\"raw\":\"\"}", "{}" },
	{ "{\"colour\":\"COLOUR_BELOW\"}", "{\"colour\":\"COLOUR_BELOW\"}" },
	{ "{\"colour\":-3}", "{\"colour\":\"COLOUR_BELOW\"}" },
	{ "{\"colours\":[1,\"COLOUR_BELOW\"]}",
	    "{\"colours\":[\"COLOUR_RED\",\"COLOUR_BELOW\"]}" },
	{ "{\"child\":{\"child\":{\"text\":\"x\"}},\"text\":\"y\"}",
	    "{\"text\":\"y\",\"child\":{\"child\":{\"text\":\"x\"}}}" },
	{ "{\"children\":[{\"text\":\"a\"},{},{\"wholes\":[1,2]}],\"wholes\":[]"
	  "}",
	    "{\"children\":[{\"text\":\"a\"},{},{\"wholes\":[1,2]}]}" },
	{ "{\"real\":\"-Infinity\",\"shortReal\":\"0.5\"}",
	    "{\"real\":\"-Infinity\",\"shortReal\":0.5}" },
	{ "{\"at\":\"2024-02-29T23:59:59.5+01:00\"}",
	    "{\"at\":\"2024-02-29T22:59:59.500Z\"}" },
	{ "{\"at\":\"0001-01-01T00:00:00Z\"}",
	    "{\"at\":\"0001-01-01T00:00:00Z\"}" },
	{ "{\"at\":\"1969-12-31T23:59:59.999999999Z\"}",
	    "{\"at\":\"1969-12-31T23:59:59.999999999Z\"}" },
	{ "{\"times\":[\"9999-12-31T23:59:59Z\"]}",
	    "{\"times\":[\"9999-12-31T23:59:59Z\"]}" },
	{ "{\"sha256OfX9Y\":1}", "{\"sha256OfX9Y\":1}" },
	{ "{\"sha256_of_x9_y\":1}", "{\"sha256OfX9Y\":1}" },
};

START_TEST(good_text_is_read)
{
	ProtobufCMessage *message;
	struct wd_error err;
	struct wd_buf out;

	ck_assert_msg(parse(good[_i].text, &message, &err) == WD_OK, "%s: %s",
	    good[_i].text, err.message);
	wd_buf_init(&out, 4096);
	ck_assert_int_eq(
	    wd_message_print_json(message, WD_JSON_COMPACT, &out, NULL), WD_OK);
	ck_assert_str_eq(wd_buf_string(&out), good[_i].again);
	wd_buf_release(&out);
	wd_message_free(message);
}
END_TEST

static const struct {
	const char *text;
	enum wd_status status;
	const char *names; /* stands in the message */
} bad[] = {
	{ "", WD_MALFORMED, "JSON" },
	{ "[]", WD_MALFORMED, "object" },
	{ "7", WD_MALFORMED, "JSON" },
	{ "{", WD_MALFORMED, "JSON" },
	{ "{\"text\":\"a\",\"text\":\"b\"}", WD_MALFORMED, "twice" },
	{ "{\"bigNatural\":1,\"big_natural\":2}", WD_MALFORMED, "big_natural" },
	{ "{\"bigNatural\":null,\"big_natural\":2}", WD_MALFORMED, "twice" },
	{ "{\"chosenText\":\"a\",\"chosenTruth\":false}", WD_MALFORMED,
	    "chosen_truth" },
	{ "{\"chosenChild\":{},\"chosenText\":\"a\"}", WD_MALFORMED,
	    "chosen_text" },
	{ "{\"nothing\":1}", WD_UNSUPPORTED, "nothing" },
	{ "{\"BigNatural\":1}", WD_UNSUPPORTED, "BigNatural" },
	{ "{\"child\":{\"nothing\":1}}", WD_UNSUPPORTED, "nothing" },
	{ "{\"no\\u001b[2J\":1}", WD_UNSUPPORTED, "no\\x1b[2J" },
	{ "{\"colour\":\"COLOUR_GREEN\"}", WD_UNSUPPORTED, "colour" },
	{ "{\"colour\":2}", WD_UNSUPPORTED, "colour" },
	{ "{\"colour\":\"1\"}", WD_UNSUPPORTED, "colour" },
	{ "{\"colour\":true}", WD_MALFORMED, "colour" },
	{ "{\"colours\":[9]}", WD_UNSUPPORTED, "colours" },
	{ "{\"text\":\"a\\u0000b\"}", WD_MALFORMED, "NUL" },
	{ "{\"text\":1}", WD_MALFORMED, "text" },
	{ "{\"text\":[\"a\"]}", WD_MALFORMED, "text" },
	{ "{\"texts\":\"a\"}", WD_MALFORMED, "texts" },
	{ "{\"texts\":[\"a\",null]}", WD_MALFORMED, "texts" },
	{ "{\"texts\":[\"a\",1]}", WD_MALFORMED, "texts" },
	{ "{\"raws\":[\"YQ==\",\"!\"]}", WD_MALFORMED, "raws" },
	{ "{\"children\":[{},7]}", WD_MALFORMED, "children" },
	{ "{\"children\":{}}", WD_MALFORMED, "children" },
	{ "{\"child\":[]}", WD_MALFORMED, "child" },
	{ "{\"truth\":1}", WD_MALFORMED, "truth" },
	{ "{\"truth\":\"true\"}", WD_MALFORMED, "truth" },
	{ "{\"natural\":-1}", WD_MALFORMED, "natural" },
	{ "{\"natural\":4294967296}", WD_MALFORMED, "natural" },
	{ "{\"natural\":0.5}", WD_MALFORMED, "natural" },
	{ "{\"natural\":\"0x10\"}", WD_MALFORMED, "natural" },
	{ "{\"natural\":\"\"}", WD_MALFORMED, "natural" },
	{ "{\"natural\":\" 1\"}", WD_MALFORMED, "natural" },
	{ "{\"natural\":\"1 \"}", WD_MALFORMED, "natural" },
	{ "{\"natural\":\"+1\"}", WD_MALFORMED, "natural" },
	{ "{\"natural\":NaN}", WD_MALFORMED, "natural" },
	{ "{\"bigNatural\":18446744073709551616}", WD_MALFORMED,
	    "big_natural" },
	{ "{\"bigWhole\":9223372036854775808}", WD_MALFORMED, "big_whole" },
	{ "{\"bigWhole\":\"-9223372036854775809\"}", WD_MALFORMED,
	    "big_whole" },
	{ "{\"bigNatural\":1e17}", WD_MALFORMED, "big_natural" },
	{ "{\"real\":\"nan\"}", WD_MALFORMED, "real" },
	{ "{\"real\":\"0x1p3\"}", WD_MALFORMED, "real" },
	{ "{\"real\":\"1e999\"}", WD_MALFORMED, "real" },
	{ "{\"raw\":\"a\"}", WD_MALFORMED, "raw" },
	{ "{\"raw\":\"A\"}", WD_MALFORMED, "raw" },
	{ "{\"raw\":\"YR==\"}", WD_MALFORMED, "raw" },
	{ "{\"raw\":\"YQ=\"}", WD_MALFORMED, "raw" },
	{ "{\"raw\":\"Y Q=\"}", WD_MALFORMED, "raw" },
	{ "{\"raw\":\"====\"}", WD_MALFORMED, "raw" },
	{ "{\"at\":\"2023-02-29T00:00:00Z\"}", WD_MALFORMED, "at" },
	{ "{\"at\":\"2024-13-01T00:00:00Z\"}", WD_MALFORMED, "at" },
	{ "{\"at\":\"2024-01-01T24:00:00Z\"}", WD_MALFORMED, "at" },
	{ "{\"at\":\"2024-01-01T00:00:00\"}", WD_MALFORMED, "at" },
	{ "{\"at\":\"2024-01-01T00:00:00.Z\"}", WD_MALFORMED, "at" },
	{ "{\"at\":\"2024-01-01T00:00:00.1234567890Z\"}", WD_MALFORMED, "at" },
	{ "{\"at\":\"0001-01-01T00:00:00+00:01\"}", WD_MALFORMED, "at" },
	{ "{\"at\":\"0000-12-31T23:59:59Z\"}", WD_MALFORMED, "at" },
	{ "{\"at\":7}", WD_MALFORMED, "at" },
	{ "{\"times\":[\"x\"]}", WD_MALFORMED, "times" },
};

START_TEST(bad_text_is_refused)
{
	ProtobufCMessage *message;
	struct wd_error err;
	enum wd_status st = parse(bad[_i].text, &message, &err);

	ck_assert_msg(st == bad[_i].status, "%s: %s, %s", bad[_i].text,
	    wd_status_name(st), err.message);
	ck_assert_ptr_null(message);
	ck_assert_msg(strstr(err.message, bad[_i].names) != NULL, "%s: %s",
	    bad[_i].text, err.message);
}
END_TEST

START_TEST(nesting_is_bounded)
{
	ProtobufCMessage *message;
	struct wd_error err;
	struct wd_buf text;
	unsigned levels, i;

	wd_buf_init(&text, 4096);
	for (levels = WD_MAX_WIRE_DEPTH; levels <= WD_MAX_WIRE_DEPTH + 1;
	     levels++) {
		wd_buf_reset(&text);
		for (i = 1; i < levels; i++)
			(void)wd_buf_text(&text, "{\"child\":");
		(void)wd_buf_text(&text, "{}");
		for (i = 1; i < levels; i++)
			(void)wd_buf_text(&text, "}");
		ck_assert_int_eq(parse(wd_buf_string(&text), &message, &err),
		    levels == WD_MAX_WIRE_DEPTH ? WD_OK : WD_LIMIT);
		wd_message_free(message);
	}
	wd_buf_release(&text);
}
END_TEST

/* `count` empty objects. */
static void
many_children(struct wd_buf *text, unsigned count)
{
	(void)wd_buf_text(text, "{\"children\":[{}");
	for (; count > 1; count--)
		(void)wd_buf_text(text, ",{}");
	(void)wd_buf_text(text, "]}");
}

START_TEST(memory_is_bounded)
{
	ProtobufCMessage *message = NULL;
	struct wd_error err;
	struct wd_buf text;

	wd_error_init(&err);
	wd_buf_init(&text, 1U << 20);
	many_children(&text, 3000);
	ck_assert_int_eq(wd_message_parse_json(KINDS, wd_buf_slice(&text),
			     900000, &message, &err),
	    WD_LIMIT);
	ck_assert_ptr_null(message);
	ck_assert_int_eq(wd_message_parse_json(KINDS, wd_buf_slice(&text),
			     4U << 20, &message, &err),
	    WD_OK);
	wd_message_free(message);
	wd_buf_release(&text);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
	static const char text[] =
	    "{\"question\":{\"port\":8081,\"address\":\"::\"},\"expectation\":"
	    "{\"model\":\"q\",\"settings\":[{\"key\":\"bundle.a\",\"value\":"
	    "\"1\"},{\"key\":\"run.b\"}],\"digest\":{\"value\":\"YQ==\"}},"
	    "\"nonce\":\"YWJj\"}";
	uint64_t n;

	for (n = 0;; n++) {
		ProtobufCMessage *message = NULL;
		enum wd_status st;

		wd_mem_fail_after(n);
		st = wd_message_parse_json(
		    ATTEST, wd_slice_text(text), 1U << 20, &message, NULL);
		wd_mem_fail_after(UINT64_MAX);
		wd_message_free(message);
		if (st == WD_OK)
			break;
		ck_assert_int_eq(st, WD_NOMEM);
	}
	ck_assert_uint_gt(n, 20);
}
END_TEST

WD_SUITE_BEGIN("wire parse json")
WD_LOOP(good_text_is_read, good);
WD_LOOP(bad_text_is_refused, bad);
WD_TEST(nesting_is_bounded);
WD_TEST(memory_is_bounded);
WD_TEST(every_allocation_may_fail);
WD_SUITE_END
