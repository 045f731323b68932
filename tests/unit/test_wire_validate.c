/* wire/validate.h and wire/unpack.h: what protobuf-c would take, and must not
 * get. The good half is the oracle's (tests/interop/json_oracle.py). */
#include "wire/validate.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "kinds.pb-c.h"
#include "support/suite.h"
#include "weightd/v1/service.pb-c.h"
#include "wire/build.h"
#include "wire/unpack.h"

#define BYTES(text)                                                            \
	{                                                                      \
		(const uint8_t *)(text), sizeof(text) - 1                      \
	}

#define KINDS &weightd__testing__kinds__descriptor
#define ATTEST &weightd__v1__attest_port_request__descriptor

static const struct {
	const char *name;
	const ProtobufCMessageDescriptor *type;
	struct wd_slice bytes;
	enum wd_status status;
	uint64_t offset;
} cases[] = {
	{ "nothing", KINDS, BYTES(""), WD_OK, 0 },
	{ "whole = -1", KINDS,
	    BYTES("\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), WD_OK, 0 },
	{ "text in UTF-8", KINDS, BYTES("\x72\x02\xc3\xbc"), WD_OK, 0 },
	{ "packed", KINDS, BYTES("\xa2\x01\x03\x01\xac\x02"), WD_OK, 0 },
	{ "not packed, twice", KINDS, BYTES("\xa0\x01\x01\xa0\x01\x02"), WD_OK,
	    0 },
	{ "children twice", KINDS, BYTES("\xd2\x01\x00\xd2\x01\x00"), WD_OK,
	    0 },
	{ "child", KINDS, BYTES("\x92\x01\x02\x18\x01"), WD_OK, 0 },

	{ "tag cut", KINDS, BYTES("\xa0"), WD_TRUNCATED, 0 },
	{ "field 0", KINDS, BYTES("\x00\x00"), WD_MALFORMED, 0 },
	{ "field beyond 2^29", KINDS, BYTES("\x80\x80\x80\x80\x10\x00"),
	    WD_MALFORMED, 0 },
	{ "tag of 11 bytes", KINDS,
	    BYTES("\x98\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00\x01"),
	    WD_MALFORMED, 0 },
	{ "varint of 65 bits", KINDS,
	    BYTES("\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), WD_MALFORMED,
	    0 },
	{ "varint cut", KINDS, BYTES("\x18\xff"), WD_TRUNCATED, 0 },
	{ "fixed32 cut", KINDS, BYTES("\x4d\x01\x02\x03"), WD_TRUNCATED, 0 },
	{ "fixed64 cut", KINDS, BYTES("\x51\x01\x02\x03\x04\x05\x06\x07"),
	    WD_TRUNCATED, 0 },
	{ "length beyond the end", KINDS, BYTES("\x72\x03gg"), WD_TRUNCATED,
	    0 },
	{ "child beyond its parent", KINDS, BYTES("\x92\x01\x03\x72\x05wwwww"),
	    WD_TRUNCATED, 3 },
	{ "varint beyond its parent", KINDS, BYTES("\x92\x01\x02\x18\xff\x01"),
	    WD_TRUNCATED, 3 },
	{ "packed cut", KINDS, BYTES("\xa2\x01\x02\x01\xac"), WD_TRUNCATED, 0 },
	{ "group", KINDS, BYTES("\x1b\x1c"), WD_MALFORMED, 0 },
	{ "wire type 7", KINDS, BYTES("\x1f"), WD_MALFORMED, 0 },
	{ "string as a number", KINDS, BYTES("\x70\x01"), WD_MALFORMED, 0 },
	{ "one number packed", KINDS, BYTES("\x1a\x01\x01"), WD_MALFORMED, 0 },
	{ "packed fixed64 of 7 bytes", KINDS,
	    BYTES("\x9a\x01\x07"
		  "1234567"),
	    WD_TRUNCATED, 0 },

	{ "not UTF-8", KINDS, BYTES("\x18\x01\x72\x01\xff"), WD_MALFORMED, 2 },
	{ "surrogate", KINDS, BYTES("\x72\x03\xed\xa0\x80"), WD_MALFORMED, 0 },
	{ "NUL in a string", KINDS,
	    BYTES("\x72\x03"
		  "a\0b"),
	    WD_MALFORMED, 0 },
	{ "NUL in one of several", KINDS,
	    BYTES("\xba\x01\x01"
		  "a\xba\x01\x01\0"),
	    WD_MALFORMED, 4 },
	{ "NUL in bytes", KINDS, BYTES("\x7a\x01\0"), WD_OK, 0 },

	{ "message twice", KINDS, BYTES("\x92\x01\x00\x92\x01\x00"),
	    WD_MALFORMED, 3 },
	{ "number twice", KINDS, BYTES("\x18\x01\x18\x01"), WD_MALFORMED, 2 },
	{ "two of a oneof", KINDS, BYTES("\xe8\x01\x01\xf2\x01\x01x"),
	    WD_MALFORMED, 3 },
	{ "one of a oneof twice", KINDS, BYTES("\xe8\x01\x01\xe8\x01\x01"),
	    WD_MALFORMED, 3 },
	{ "uint32 of 33 bits", KINDS, BYTES("\x28\x80\x80\x80\x80\x10"),
	    WD_MALFORMED, 0 },
	{ "int32 of 33 bits", KINDS, BYTES("\x18\x80\x80\x80\x80\x10"),
	    WD_MALFORMED, 0 },
	{ "int32 2^31", KINDS, BYTES("\x18\x80\x80\x80\x80\x08"), WD_MALFORMED,
	    0 },
	{ "truth of 2", KINDS, BYTES("\x68\x02"), WD_MALFORMED, 0 },

	{ "unknown field", KINDS, BYTES("\xc0\x02\x01"), WD_UNSUPPORTED, 0 },
	{ "unknown enum value", KINDS, BYTES("\x80\x01\x07"), WD_UNSUPPORTED,
	    0 },
	{ "known enum value below 0", KINDS,
	    BYTES("\x80\x01\xfd\xff\xff\xff\xff\xff\xff\xff\xff\x01"), WD_OK,
	    0 },
	{ "unknown enum value, packed", KINDS, BYTES("\xca\x01\x02\x01\x09"),
	    WD_UNSUPPORTED, 0 },
	/* What a newer caller may ask for must not be overlooked. */
	{ "unknown field of an expectation", ATTEST,
	    BYTES("\x12\x03\xa0\x06\x01"), WD_UNSUPPORTED, 2 },
	{ "unknown grade of an expectation", ATTEST, BYTES("\x12\x02\x40\x63"),
	    WD_UNSUPPORTED, 2 },
	{ "unknown field of a question", ATTEST, BYTES("\x0a\x03\xa0\x06\x01"),
	    WD_UNSUPPORTED, 2 },
	{ "port 2^32 + 8081", ATTEST, BYTES("\x0a\x06\x08\x91\xbf\x80\x80\x10"),
	    WD_MALFORMED, 2 },
};

START_TEST(bytes_are_walked)
{
	struct wd_error err;
	enum wd_status st;

	wd_error_init(&err);
	st = wd_wire_check(
	    cases[_i].type, cases[_i].bytes, WD_WIRE_REFUSE_UNKNOWN, &err);
	ck_assert_msg(st == cases[_i].status, "%s: %s, %s", cases[_i].name,
	    wd_status_name(st), err.message);
	if (st != WD_OK)
		ck_assert_msg(err.offset == cases[_i].offset,
		    "%s: offset %llu, %s", cases[_i].name,
		    (unsigned long long)err.offset, err.message);
}
END_TEST

static const struct wd_slice strange[] = {
	BYTES("\xc0\x02\x01"),
	BYTES("\xc1\x02"
	      "12345678"),
	BYTES("\xc2\x02\x03xyz"),
	BYTES("\xc5\x02"
	      "1234"),
	BYTES("\x80\x01\x07"),
};

START_TEST(answers_may_say_more)
{
	ck_assert_int_eq(
	    wd_wire_check(KINDS, strange[_i], WD_WIRE_ALLOW_UNKNOWN, NULL),
	    WD_OK);
	ck_assert_int_eq(
	    wd_wire_check(KINDS, strange[_i], WD_WIRE_REFUSE_UNKNOWN, NULL),
	    WD_UNSUPPORTED);
}
END_TEST

START_TEST(unknown_groups_are_refused_everywhere)
{
	struct wd_slice group = BYTES("\xc3\x02\xc4\x02");

	ck_assert_int_eq(
	    wd_wire_check(KINDS, group, WD_WIRE_ALLOW_UNKNOWN, NULL),
	    WD_MALFORMED);
}
END_TEST

/* `levels` children, each in the other. */
static struct wd_slice
nested(uint8_t *space, size_t size, unsigned levels)
{
	size_t at = size, len;

	for (; levels > 0; levels--) {
		len = size - at;
		if (len >= 128)
			space[--at] = (uint8_t)(len >> 7);
		space[--at] = (uint8_t)(len >= 128 ? (len & 0x7f) | 0x80 : len);
		space[--at] = 0x01;
		space[--at] = 0x92;
	}
	return (struct wd_slice){ space + at, size - at };
}

START_TEST(depth_is_bounded)
{
	uint8_t space[4096];
	struct wd_slice most =
	    nested(space, sizeof(space), WD_MAX_WIRE_DEPTH - 1);

	ck_assert_int_eq(
	    wd_wire_check(KINDS, most, WD_WIRE_REFUSE_UNKNOWN, NULL), WD_OK);
	most = nested(space, sizeof(space), WD_MAX_WIRE_DEPTH);
	ck_assert_int_eq(
	    wd_wire_check(KINDS, most, WD_WIRE_REFUSE_UNKNOWN, NULL), WD_LIMIT);
	most = nested(space, sizeof(space), 900);
	ck_assert_int_eq(
	    wd_wire_check(KINDS, most, WD_WIRE_REFUSE_UNKNOWN, NULL), WD_LIMIT);
}
END_TEST

/* 1,000 empty children in 3,000 bytes are hundreds of kilobytes. */
static struct wd_slice
many_children(uint8_t *space, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		memcpy(space + 3 * i, "\xd2\x01\x00", 3);
	return (struct wd_slice){ space, 3 * count };
}

START_TEST(memory_is_bounded)
{
	uint8_t space[3000];
	struct wd_slice bytes = many_children(space, 1000);
	ProtobufCMessage *message = NULL;
	struct wd_error err;

	wd_error_init(&err);
	ck_assert_int_eq(wd_wire_unpack(KINDS, bytes, WD_WIRE_REFUSE_UNKNOWN,
			     100000, &message, &err),
	    WD_LIMIT);
	ck_assert_ptr_null(message);
	ck_assert_int_eq(wd_wire_unpack(KINDS, bytes, WD_WIRE_REFUSE_UNKNOWN,
			     2000000, &message, &err),
	    WD_OK);
	wd_message_free(message);
}
END_TEST

START_TEST(what_is_refused_is_not_unpacked)
{
	struct wd_slice twice = BYTES("\x92\x01\x00\x92\x01\x00");
	ProtobufCMessage *message = NULL;

	ck_assert_int_eq(wd_wire_unpack(KINDS, twice, WD_WIRE_REFUSE_UNKNOWN,
			     1000000, &message, NULL),
	    WD_MALFORMED);
	ck_assert_ptr_null(message);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
	struct wd_slice bytes = BYTES("\x0a\x07\x08\x91\x3f\x22\x02::\x12\x05"
				      "\x0a\x03qwe\x1a\x02\x01\x02");
	uint64_t n;

	for (n = 0;; n++) {
		ProtobufCMessage *message = NULL;
		enum wd_status st;

		wd_mem_fail_after(n);
		st = wd_wire_unpack(ATTEST, bytes, WD_WIRE_REFUSE_UNKNOWN,
		    100000, &message, NULL);
		wd_mem_fail_after(UINT64_MAX);
		wd_message_free(message);
		if (st == WD_OK)
			break;
		ck_assert_int_eq(st, WD_NOMEM);
	}
	ck_assert_uint_gt(n, 3);
}
END_TEST

START_TEST(pack_gives_back_what_was_unpacked)
{
	struct wd_slice bytes = BYTES("\x0a\x03\x08\x91\x3f\x1a\x01x");
	ProtobufCMessage *message = NULL;
	struct wd_buf out;

	wd_buf_init(&out, 8);
	ck_assert_int_eq(wd_wire_unpack(ATTEST, bytes, WD_WIRE_REFUSE_UNKNOWN,
			     100000, &message, NULL),
	    WD_OK);
	ck_assert_int_eq(wd_wire_pack(message, &out, NULL), WD_OK);
	ck_assert(wd_slice_equal(wd_buf_slice(&out), bytes));
	ck_assert_int_eq(wd_wire_pack(message, &out, NULL), WD_LIMIT);
	wd_buf_release(&out);
	wd_message_free(message);
}
END_TEST

WD_SUITE_BEGIN("wire validate")
WD_LOOP(bytes_are_walked, cases);
WD_LOOP(answers_may_say_more, strange);
WD_TEST(unknown_groups_are_refused_everywhere);
WD_TEST(depth_is_bounded);
WD_TEST(memory_is_bounded);
WD_TEST(what_is_refused_is_not_unpacked);
WD_TEST(every_allocation_may_fail);
WD_TEST(pack_gives_back_what_was_unpacked);
WD_SUITE_END
