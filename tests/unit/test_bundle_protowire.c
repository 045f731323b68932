/* The wire format's reader: what it may read, and a source that fails. */
#include <string.h>

#include "bundle/protowire.h"
#include "support/suite.h"

/* A file of fields 1 with the number 1, which fails or ends from a place on. */
struct ending {
	uint64_t at;
	enum wd_status status; /* WD_OK: it ends */
};

static enum wd_status
ending_read(void *ctx, uint64_t offset, void *bytes, size_t len, size_t *got,
    struct wd_error *err)
{
	const struct ending *ending = ctx;
	uint8_t *out = bytes;
	size_t i;

	*got = 0;
	if (offset >= ending->at)
		return ending->status == WD_OK ?
		    WD_OK :
		    wd_fail(err, ending->status, "it fails");
	*got = ending->at - offset < len ? (size_t)(ending->at - offset) : len;
	for (i = 0; i < *got; i++)
		out[i] = (offset + i) % 2 == 0 ? 0x08 : 0x01;
	return WD_OK;
}

static struct wd_error err;

static enum wd_status
read_all(struct ending *ending, uint64_t cap, uint64_t *fields)
{
	struct wd_source source = { ending_read, ending, 1000000 };
	struct wd_wire_field field;
	enum wd_status st;
	struct wd_wire wire;

	wd_error_init(&err);
	ck_assert_int_eq(wd_wire_init(&wire, &source, cap, &err), WD_OK);
	for (*fields = 0; wd_wire_next(&wire, source.size_bytes, &field);)
		++*fields;
	st = wire.status;
	/* The first failure stays. */
	ck_assert(!wd_wire_next(&wire, source.size_bytes, &field));
	ck_assert_int_eq(wd_wire_fail(&wire, WD_LIMIT, 0, "another"),
	    st == WD_OK ? WD_LIMIT : st);
	wd_wire_release(&wire);
	return st;
}

START_TEST(all_fields_are_read)
{
	struct ending ending = { 1000000, WD_OK };
	uint64_t fields;

	ck_assert_int_eq(read_all(&ending, 2000000, &fields), WD_OK);
	ck_assert_uint_eq(fields, 500000);
}
END_TEST

START_TEST(no_more_is_read_than_may_be)
{
	struct ending ending = { 1000000, WD_OK };
	uint64_t fields;

	ck_assert_int_eq(read_all(&ending, 100000, &fields), WD_LIMIT);
	ck_assert_uint_le(fields, 50000);
	ck_assert_uint_gt(fields, 1000);
}
END_TEST

START_TEST(a_file_that_became_shorter_is_said)
{
	struct ending ending = { 4096, WD_OK };
	uint64_t fields;

	ck_assert_int_eq(read_all(&ending, 2000000, &fields), WD_TRUNCATED);
	ck_assert_uint_eq(fields, 2048);
	ck_assert_uint_eq(err.offset, 4096);
}
END_TEST

START_TEST(a_failure_to_read_is_passed_on)
{
	struct ending ending = { 4097, WD_STALE };
	uint64_t fields;

	ck_assert_int_eq(read_all(&ending, 2000000, &fields), WD_STALE);
	ck_assert_uint_eq(fields, 2048);
}
END_TEST

START_TEST(a_text_is_copied_or_refused_whole)
{
	struct wd_slice bytes = wd_slice_text("\x12\x05hello\x18\x01");
	struct wd_source source = wd_source_memory(&bytes);
	struct wd_wire_field field;
	struct wd_wire wire;
	struct wd_buf text;

	ck_assert_int_eq(wd_wire_init(&wire, &source, 1 << 20, &err), WD_OK);
	wd_buf_init(&text, 5);
	ck_assert(wd_wire_next(&wire, bytes.len, &field));
	ck_assert_int_eq(wd_wire_copy(&wire, &field, &text), WD_OK);
	ck_assert_str_eq(wd_buf_string(&text), "hello");
	ck_assert_int_eq(wd_wire_copy(&wire, &field, &text), WD_LIMIT);
	wd_buf_release(&text);
	wd_wire_release(&wire);
}
END_TEST

START_TEST(a_copy_of_a_failing_file_fails)
{
	struct ending ending = { 4096, WD_IO };
	struct wd_source source = { ending_read, &ending, 1000000 };
	struct wd_wire_field field = { .start = 4000, .end = 5000 };
	struct wd_wire wire;
	struct wd_buf text;

	ck_assert_int_eq(wd_wire_init(&wire, &source, 1 << 20, &err), WD_OK);
	wd_buf_init(&text, 5000);
	ck_assert_int_eq(wd_wire_copy(&wire, &field, &text), WD_IO);
	wd_buf_release(&text);
	wd_wire_release(&wire);
}
END_TEST

WD_SUITE_BEGIN("bundle protowire")
WD_TEST(all_fields_are_read);
WD_TEST(no_more_is_read_than_may_be);
WD_TEST(a_file_that_became_shorter_is_said);
WD_TEST(a_failure_to_read_is_passed_on);
WD_TEST(a_text_is_copied_or_refused_whole);
WD_TEST(a_copy_of_a_failing_file_fails);
WD_SUITE_END
