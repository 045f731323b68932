/* ONNX files that break the encoding or the format: refused at once, with the
 * place. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "support/bundle_make.h"
#include "support/memory_folder.h"
#include "support/onnx_make.h"
#include "support/suite.h"

static struct wd_buf graph, inner, file;
static struct wd_bundle *bundle;
static struct wd_error err;

static void
start(void)
{
	wd_buf_init(&graph, MAKE_MAX_BYTES);
	wd_buf_init(&inner, MAKE_MAX_BYTES);
	wd_buf_init(&file, MAKE_MAX_BYTES);
	wd_error_init(&err);
}

static void
finish_expecting(enum wd_status st)
{
	ck_assert_int_eq(
	    describe_bytes(wd_buf_slice(&file), "m.onnx", &bundle, &err), st);
	ck_assert_int_eq(err.status, st);
	if (st != WD_OK)
		ck_assert_ptr_null(bundle);
	wd_bundle_free(&bundle);
	wd_buf_release(&file);
}

/* ---- the encoding ---------------------------------------------------------
 */

static const struct {
	const char *what;
	const char *bytes;
	size_t len;
	enum wd_status status;
	uint64_t offset;
} broken[] = {
	{ "nothing", "", 0, WD_MALFORMED, WD_ERROR_NO_OFFSET },
	{ "no graph", "\x08\x08", 2, WD_MALFORMED, WD_ERROR_NO_OFFSET },
	{ "field 0", "\x00\x00", 2, WD_MALFORMED, 0 },
	{ "a group", "\x0b", 1, WD_MALFORMED, 0 },
	{ "a group's end", "\x0c", 1, WD_MALFORMED, 0 },
	{ "wire type 6", "\x0e", 1, WD_MALFORMED, 0 },
	{ "wire type 7", "\x0f", 1, WD_MALFORMED, 0 },
	{ "a tag beyond 32 bits", "\x88\x80\x80\x80\x80\x01", 6, WD_MALFORMED,
	    0 },
	{ "an endless number",
	    "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12,
	    WD_MALFORMED, 10 },
	{ "65 bits", "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11,
	    WD_MALFORMED, 10 },
	{ "a number cut", "\x08\x80", 2, WD_MALFORMED, 2 },
	{ "a length cut", "\x3a", 1, WD_MALFORMED, 1 },
	{ "a fixed number cut", "\x0d\x01\x02\x03", 4, WD_MALFORMED, 4 },
	{ "eight bytes cut", "\x09\x01\x02\x03\x04\x05\x06\x07", 8,
	    WD_MALFORMED, 8 },
	{ "behind the end", "\x3a\x02\x0a", 3, WD_TRUNCATED, 2 },
	{ "a length of 2^63", "\x3a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
	    11, WD_MALFORMED, 11 },
	{ "a node behind its graph", "\x3a\x02\x0a\x05\x00\x00\x00\x00\x00", 9,
	    WD_MALFORMED, 4 },
	{ "two graphs", "\x3a\x00\x3a\x00", 4, WD_MALFORMED, 4 },
	{ "a packed number behind its field",
	    "\x3a\x06\x2a\x04\x0a\x01\x80\x01", 8, WD_MALFORMED, 7 },
	{ "dimensions of 32 bits", "\x3a\x07\x2a\x05\x0d\x01\x01\x01\x01", 9,
	    WD_MALFORMED, 5 },
	{ "a name that is a number", "\x3a\x04\x2a\x02\x40\x01", 6,
	    WD_MALFORMED, 5 },
	{ "raw data that are a number", "\x3a\x04\x2a\x02\x48\x01", 6,
	    WD_MALFORMED, 5 },
	{ "segments", "\x3a\x04\x2a\x02\x1a\x00", 6, WD_UNSUPPORTED, 6 },
};

START_TEST(a_broken_encoding_is_refused)
{
	start();
	(void)wd_buf_append(&file, broken[_i].bytes, broken[_i].len);
	finish_expecting(broken[_i].status);
	ck_assert_uint_eq(err.offset, broken[_i].offset);
}
END_TEST

/* Fields that a newer version may add are passed over. */
START_TEST(unknown_fields_are_passed_over)
{
	start();
	(void)wd_buf_append(&file,
	    "\xf8\x07\x01\xfd\x07\x01\x02\x03\x04"
	    "\xf9\x07\x01\x02\x03\x04\x05\x06\x07\x08\xfa\x07\x01z\x3a\x00",
	    25);
	finish_expecting(WD_OK);
}
END_TEST

/* ---- tensors --------------------------------------------------------------
 */

static void
put_tensor(void)
{
	make_pb_message(&graph, 5, &inner);
}

static void
product_wraps(void)
{
	uint64_t dims[2] = { UINT64_C(1) << 32, UINT64_C(1) << 32 };

	make_onnx_tensor(&inner, "w", 1, dims, 2, 4);
	put_tensor();
}

static void
product_above_2_63(void)
{
	uint64_t dims[2] = { UINT64_C(1) << 32, UINT64_C(1) << 31 };

	/* Of a type that is not known: nothing but the product is wrong. */
	make_onnx_tensor(&inner, "w", 99, dims, 2, 4);
	put_tensor();
}

static void
dimension_below_0(void)
{
	uint64_t dims[2] = { 0, UINT64_MAX };

	make_onnx_tensor(&inner, "w", 1, dims, 2, 0);
	put_tensor();
}

static void
bytes_above_2_63(void)
{
	uint64_t dims[1] = { INT64_MAX };

	make_onnx_tensor(&inner, "w", 11, dims, 1, 4);
	put_tensor();
}

static void
raw_data_twice(void)
{
	make_onnx_tensor(&inner, "w", 1, NULL, 0, 4);
	make_pb_text(&inner, 9, "four");
	put_tensor();
}

static void
data_of_two_kinds(void)
{
	make_onnx_tensor(&inner, "w", 1, NULL, 0, 0);
	make_pb_text(&inner, 4, "four");
	make_pb_text(&inner, 5, "four");
	put_tensor();
}

static void
data_here_and_there(void)
{
	uint64_t dims[1] = { 1 };

	make_onnx_external(&inner, "w", 1, dims, 1, "data", "0", "4");
	make_pb_text(&inner, 9, "four");
	put_tensor();
}

static void
external_of(const char *location, const char *offset, const char *length)
{
	uint64_t dims[1] = { 1 };

	make_onnx_external(&inner, "w", 1, dims, 1, location, offset, length);
	put_tensor();
}

static void
no_location(void)
{
	external_of(NULL, "0", "4");
}

static void
empty_location(void)
{
	external_of("", "0", "4");
}

static void
length_of_another_type(void)
{
	external_of("data", "0", "5");
}

static void
offset_no_number(void)
{
	external_of("data", "0x10", "4");
}

static void
offset_below_0(void)
{
	external_of("data", "-1", "4");
}

static void
offset_above_2_63(void)
{
	external_of("data", "9223372036854775808", "4");
}

static void
end_above_2_63(void)
{
	external_of("data", "9223372036854775807", "4");
}

static void
second_location(struct wd_buf *tensor, const char *key)
{
	struct wd_buf entry;

	wd_buf_init(&entry, 1024);
	make_pb_text(&entry, 1, key);
	make_pb_text(&entry, 2, "4");
	make_pb_message(tensor, 13, &entry);
}

static void
location_twice(void)
{
	uint64_t dims[1] = { 1 };

	make_onnx_external(&inner, "w", 1, dims, 1, "data", "0", "4");
	second_location(&inner, "location");
	put_tensor();
}

static void
length_twice(void)
{
	uint64_t dims[1] = { 1 };

	make_onnx_external(&inner, "w", 1, dims, 1, "data", "0", "4");
	second_location(&inner, "length");
	put_tensor();
}

static void
bytes_half_shared(void)
{
	uint64_t dims[1] = { 2 };

	make_onnx_external(&inner, "a", 1, dims, 1, "data", "0", "8");
	put_tensor();
	make_onnx_external(&inner, "b", 1, dims, 1, "data", "7", "8");
	put_tensor();
}

/* C13: readers differ on which one counts. */
static void
name_twice(void)
{
	make_onnx_tensor(&inner, "w", 1, NULL, 0, 4);
	put_tensor();
	make_onnx_tensor(&inner, "w", 1, NULL, 0, 4);
	put_tensor();
}

static const struct {
	void (*make)(void);
} tensors[] = {
	{ product_wraps },
	{ product_above_2_63 },
	{ dimension_below_0 },
	{ bytes_above_2_63 },
	{ raw_data_twice },
	{ data_of_two_kinds },
	{ data_here_and_there },
	{ no_location },
	{ empty_location },
	{ length_of_another_type },
	{ offset_no_number },
	{ offset_below_0 },
	{ offset_above_2_63 },
	{ end_above_2_63 },
	{ location_twice },
	{ length_twice },
	{ bytes_half_shared },
	{ name_twice },
};

START_TEST(a_broken_tensor_is_refused)
{
	start();
	tensors[_i].make();
	make_onnx_model(&file, &graph);
	finish_expecting(WD_MALFORMED);
}
END_TEST

/* ---- caps -----------------------------------------------------------------
 */

static void
nested(unsigned depth)
{
	struct wd_buf sub, attribute, node;

	wd_buf_init(&sub, MAKE_MAX_BYTES);
	wd_buf_init(&attribute, MAKE_MAX_BYTES);
	wd_buf_init(&node, MAKE_MAX_BYTES);
	for (; depth > 0; depth--) {
		make_pb_message(&attribute, 6, &sub);
		make_pb_message(&node, 5, &attribute);
		make_pb_message(&sub, 1, &node);
	}
	make_onnx_model(&file, &sub);
}

/* C11: nesting costs no stack. The model and the graph are two messages. */
START_TEST(graphs_are_nested_as_deep_as_the_cap)
{
	start();
	nested((WD_MAX_ONNX_DEPTH - 2) / 3);
	finish_expecting(WD_OK);
	start();
	nested((WD_MAX_ONNX_DEPTH - 2) / 3 + 1);
	finish_expecting(WD_LIMIT);
	start();
	nested(20000);
	finish_expecting(WD_LIMIT);
}
END_TEST

static void
of_dimensions(unsigned count)
{
	static const uint64_t ones[9] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };

	make_onnx_tensor(&inner, "w", 1, ones, count, 4);
	put_tensor();
	make_onnx_model(&file, &graph);
}

START_TEST(dimensions_have_a_cap)
{
	start();
	of_dimensions(8);
	finish_expecting(WD_OK);
	start();
	of_dimensions(9);
	finish_expecting(WD_LIMIT);
}
END_TEST

static void
of_name(size_t len)
{
	static char name[2 * WD_MAX_ONNX_NAME];

	memset(name, 'n', sizeof(name));
	name[len] = '\0';
	make_onnx_tensor(&inner, name, 1, NULL, 0, 4);
	put_tensor();
	make_onnx_model(&file, &graph);
}

START_TEST(names_have_a_cap)
{
	start();
	of_name(WD_MAX_TENSOR_NAME);
	finish_expecting(WD_OK);
	start();
	of_name(WD_MAX_TENSOR_NAME + 1);
	finish_expecting(WD_LIMIT);
	start();
	of_name(WD_MAX_ONNX_NAME + 1);
	finish_expecting(WD_LIMIT);
}
END_TEST

START_TEST(names_are_escaped)
{
	start();
	make_onnx_tensor(&inner, "w\n\033[31m", 1, NULL, 0, 4);
	put_tensor();
	make_onnx_model(&file, &graph);
	ck_assert_int_eq(
	    describe_bytes(wd_buf_slice(&file), "m.onnx", &bundle, &err),
	    WD_OK);
	ck_assert_str_eq(bundle->tensors[0].name, "w\\n\\x1b[31m");
	wd_bundle_free(&bundle);
	wd_buf_release(&file);
}
END_TEST

/* Every byte of a sound model cut off, and every byte changed: no crash, no
 * reading beyond (the fuzz target does it with more patience). */
START_TEST(a_cut_model_is_never_sound)
{
	size_t len;

	start();
	make_onnx_tensor(&inner, "w", 1, NULL, 0, 4);
	put_tensor();
	make_onnx_model(&file, &graph);
	for (len = 0; len < file.len; len++) {
		struct wd_slice part = { file.data, len };
		enum wd_status st =
		    describe_bytes(part, "m.onnx", &bundle, &err);

		/* The opset behind the graph may be missing whole. */
		if (st == WD_OK)
			ck_assert_uint_eq(len, file.len - 6);
		wd_bundle_free(&bundle);
	}
	wd_buf_release(&file);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
	uint64_t step;
	enum wd_status st = WD_NOMEM;

	start();
	make_onnx_tensor(&inner, "w\n", 99, NULL, 0, 4);
	put_tensor();
	make_onnx_tensor(&inner, "v", 1, NULL, 0, 0);
	put_tensor();
	external_of("data", "0", "4");
	make_onnx_node(&inner, "DequantizeLinear",
	    (const char *const[]){ "w\n", "v", NULL });
	make_pb_message(&graph, 1, &inner);
	make_onnx_model(&file, &graph);
	for (step = 0; st == WD_NOMEM; step++) {
		ck_assert_uint_lt(step, 10000);
		wd_mem_fail_after(step);
		st = describe_bytes(
		    wd_buf_slice(&file), "m.onnx", &bundle, &err);
		wd_mem_fail_after(UINT64_MAX);
	}
	ck_assert_int_eq(st, WD_OK);
	ck_assert_uint_gt(step, 10);
	wd_bundle_free(&bundle);
	wd_buf_release(&file);
}
END_TEST

WD_SUITE_BEGIN("bundle onnx malformed")
WD_LOOP(a_broken_encoding_is_refused, broken);
WD_TEST(unknown_fields_are_passed_over);
WD_LOOP(a_broken_tensor_is_refused, tensors);
WD_TEST(graphs_are_nested_as_deep_as_the_cap);
WD_TEST(dimensions_have_a_cap);
WD_TEST(names_have_a_cap);
WD_TEST(names_are_escaped);
WD_TEST(a_cut_model_is_never_sound);
WD_TEST(every_allocation_may_fail);
WD_SUITE_END
