/* safetensors files: right ones, odd ones, and a table of broken headers. */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "support/bundle_make.h"
#include "support/memory_folder.h"
#include "support/suite.h"

static struct memory_folder folder;
static struct wd_bundle *bundle;
static struct wd_error err;
static struct wd_buf file;

static void
start(void)
{
	memory_folder_init(&folder);
	wd_buf_init(&file, MAKE_MAX_BYTES);
	wd_error_init(&err);
}

static void
stop(void)
{
	ck_assert_uint_eq(folder.open_now, 0);
	wd_bundle_free(&bundle);
	wd_buf_release(&file);
	memory_folder_release(&folder);
}

/* Alone in its folder. */
static enum wd_status
describe(void)
{
	(void)memory_folder_add(
	    &folder, "model.safetensors", wd_buf_slice(&file));
	return memory_folder_describe(
	    &folder, "model.safetensors", &bundle, &err);
}

static void
describe_text(const char *header, size_t data)
{
	start();
	ck_assert_int_eq(make_safetensors_text(header, data, &file), WD_OK);
	ck_assert_int_eq(describe(), WD_OK);
}

START_TEST(a_plain_file_is_counted)
{
	struct make_safetensors st;

	start();
	make_safetensors_init(&st);
	make_safetensors_raw(&st, "\"__metadata__\":{\"format\":\"pt\"}");
	make_safetensors_tensor(&st, "b", "BF16", "[4,8]", 64);
	make_safetensors_tensor(&st, "a", "F32", "[3]", 12);
	ck_assert_int_eq(make_safetensors_file(&st, 1, &file), WD_OK);
	ck_assert_int_eq(describe(), WD_OK);
	ck_assert_int_eq(bundle->format, WD_FORMAT_SAFETENSORS);
	ck_assert(bundle->single_file);
	ck_assert(!bundle->incomplete);
	ck_assert_uint_eq(bundle->note_count, 0);
	ck_assert_uint_eq(bundle->parameter_count, 35);
	ck_assert_uint_eq(bundle->tensor_bytes, 76);
	ck_assert_str_eq(bundle->tensors[0].name, "a");
	ck_assert_str_eq(bundle->tensors[1].encoding, "BF16");
	ck_assert_uint_eq(
	    bundle->tensors[1].offset, bundle->files[0].data_offset);
	ck_assert_uint_eq(bundle->files[0].data_offset, file.len - 76);
	ck_assert_uint_eq(bundle->files[0].needed_bytes, file.len);
	ck_assert(!bundle->has_tokenizer);
	make_safetensors_release(&st);
	stop();
}
END_TEST

/* C10: an empty shape is a scalar, a zero is no element; neither is broken. */
START_TEST(c10_scalars_and_zeros_are_valid)
{
	describe_text("{\"s\":{\"dtype\":\"F32\",\"shape\":[],"
		      "\"data_offsets\":[0,4]},"
		      "\"z\":{\"dtype\":\"F16\",\"shape\":[0],"
		      "\"data_offsets\":[0,0]},"
		      "\"y\":{\"dtype\":\"F16\",\"shape\":[4,0],"
		      "\"data_offsets\":[4,4]}}",
	    4);
	ck_assert_uint_eq(bundle->parameter_count, 1);
	ck_assert_uint_eq(bundle->tensor_count, 3);
	ck_assert_uint_eq(bundle->note_count, 0);
	stop();
}
END_TEST

START_TEST(a_file_without_tensors_is_valid)
{
	describe_text("{}", 0);
	ck_assert_uint_eq(bundle->tensor_count, 0);
	ck_assert(!bundle->incomplete);
	stop();
}
END_TEST

static const struct {
	const char *dtype;
	unsigned elements, bytes;
} dtypes[] = {
	{ "BOOL", 8, 8 },
	{ "U8", 8, 8 },
	{ "I8", 8, 8 },
	{ "F4", 8, 4 },
	{ "F6_E2M3", 8, 6 },
	{ "F6_E3M2", 8, 6 },
	{ "F8_E5M2", 8, 8 },
	{ "F8_E4M3", 8, 8 },
	{ "F8_E4M3FNUZ", 8, 8 },
	{ "F8_E5M2FNUZ", 8, 8 },
	{ "I16", 8, 16 },
	{ "U16", 8, 16 },
	{ "F16", 8, 16 },
	{ "BF16", 8, 16 },
	{ "I32", 8, 32 },
	{ "U32", 8, 32 },
	{ "F32", 8, 32 },
	{ "C64", 8, 64 },
	{ "F64", 8, 64 },
	{ "I64", 8, 64 },
	{ "U64", 8, 64 },
};

START_TEST(every_dtype_of_the_format_is_counted)
{
	char header[128];

	(void)snprintf(header, sizeof(header),
	    "{\"w\":{\"dtype\":\"%s\",\"shape\":[8],\"data_offsets\":[0,%u]}}",
	    dtypes[_i].dtype, dtypes[_i].bytes);
	describe_text(header, dtypes[_i].bytes);
	ck_assert(bundle->parameters_known);
	ck_assert_uint_eq(bundle->parameter_count, 8);
	ck_assert_uint_eq(bundle->tensor_bytes, dtypes[_i].bytes);
	ck_assert_str_eq(bundle->tensors[0].encoding, dtypes[_i].dtype);
	stop();
}
END_TEST

/* C20: an unknown dtype leaves the bounds, and nobody knows the count. */
START_TEST(c20_an_unknown_dtype_is_bounded)
{
	describe_text("{\"w\":{\"dtype\":\"ZZ9\",\"shape\":[4],"
		      "\"data_offsets\":[0,16]}}",
	    16);
	ck_assert_str_eq(bundle->tensors[0].encoding, "unknown(ZZ9)");
	ck_assert_uint_eq(bundle->tensors[0].size_bytes, 16);
	ck_assert(!bundle->parameters_known);
	ck_assert_ptr_nonnull(note_with(bundle, WD_NOTE_UNKNOWN, "ZZ9"));
	stop();
	start();
	ck_assert_int_eq(
	    make_safetensors_text("{\"w\":{\"dtype\":\"ZZ9\",\"shape\":[4],"
				  "\"data_offsets\":[0,17]}}",
		16, &file),
	    WD_OK);
	ck_assert_int_eq(describe(), WD_MALFORMED);
	stop();
}
END_TEST

/* C26: the data end early. */
START_TEST(c26_a_cut_file_is_incomplete)
{
	char text[96];

	describe_text("{\"w\":{\"dtype\":\"F32\",\"shape\":[4],"
		      "\"data_offsets\":[0,16]}}",
	    15);
	(void)snprintf(text, sizeof(text), "need %zu bytes, have %zu",
	    file.len + 1, file.len);
	ck_assert_ptr_nonnull(note_with(bundle, WD_NOTE_INCOMPLETE, text));
	ck_assert(bundle->incomplete);
	ck_assert_uint_eq(bundle->parameter_count, 4);
	stop();
}
END_TEST

/* C26: the header ends early, at every place. */
START_TEST(c26_a_file_cut_in_its_header_is_truncated)
{
	size_t len, whole;

	start();
	ck_assert_int_eq(
	    make_safetensors_text("{\"w\":{\"dtype\":\"F32\",\"shape\":[],"
				  "\"data_offsets\":[0,4]}}",
		0, &file),
	    WD_OK);
	whole = file.len;
	for (len = 0; len < whole; len++) {
		WD_CLEANUP(wd_free_scoped)
		char *exact = wd_memdup0(file.data, len);
		struct wd_slice bytes = { (const uint8_t *)exact, len };

		ck_assert_int_eq(
		    describe_bytes(bytes, "m.safetensors", &bundle, &err),
		    WD_TRUNCATED);
		ck_assert_uint_eq(err.offset, len);
		/* Said before memory is taken for the header. */
		ck_assert_int_eq(
		    strstr(err.message, "need at least") != NULL, len >= 8);
	}
	stop();
}
END_TEST

/* What the reference refuses, others serve: counted, with a note. */
START_TEST(bytes_that_belong_to_no_tensor_are_noted)
{
	describe_text("{\"w\":{\"dtype\":\"F32\",\"shape\":[4],"
		      "\"data_offsets\":[0,16]}}",
	    21);
	ck_assert_ptr_nonnull(note_with(
	    bundle, WD_NOTE_MALFORMED, "5 bytes after its last tensor"));
	ck_assert_uint_eq(bundle->parameter_count, 4);
	stop();
	describe_text("{\"w\":{\"dtype\":\"F32\",\"shape\":[4],"
		      "\"data_offsets\":[4,20]},"
		      "\"v\":{\"dtype\":\"F32\",\"shape\":[1],"
		      "\"data_offsets\":[23,27]}}",
	    27);
	ck_assert_ptr_nonnull(note_with(
	    bundle, WD_NOTE_MALFORMED, "7 bytes between its tensors"));
	ck_assert_uint_eq(bundle->parameter_count, 5);
	ck_assert_uint_eq(bundle->note_count, 1);
	stop();
}
END_TEST

#define TENSOR(dtype, shape, offsets)                                          \
	"{\"w\":{\"dtype\":" dtype ",\"shape\":" shape                         \
	",\"data_offsets\":" offsets "}}"

/* 10: the name of the tensor stands at byte 2 of the header. */
static const struct {
	const char *header;
	enum wd_status status;
	uint64_t offset;
} headers[] = {
	{ "{\"w\":{}}", WD_MALFORMED, 10 },
	{ "{\"w\":[]}", WD_MALFORMED, 10 },
	{ "{\"w\":null}", WD_MALFORMED, 10 },
	{ "{\"w\"}", WD_MALFORMED, WD_ERROR_NO_OFFSET },
	{ "{\"w\":", WD_MALFORMED, WD_ERROR_NO_OFFSET },
	{ "[]      ", WD_MALFORMED, 8 },
	{ " {}", WD_MALFORMED, 8 },
	{ "{}{}", WD_MALFORMED, WD_ERROR_NO_OFFSET },
	{ "{\"__metadata__\":[]}", WD_MALFORMED, 10 },
	{ "{\"__metadata__\":{\"a\":1}}", WD_MALFORMED, 10 },
	{ TENSOR("1", "[4]", "[0,16]"), WD_MALFORMED, 10 },
	{ TENSOR("\"\"", "[4]", "[0,16]"), WD_MALFORMED, 10 },
	{ TENSOR("\"F 32\"", "[4]", "[0,16]"), WD_MALFORMED, 10 },
	{ TENSOR("\"F32\"", "4", "[0,16]"), WD_MALFORMED, 10 },
	{ TENSOR("\"F32\"", "[4.0]", "[0,16]"), WD_MALFORMED, 10 },
	{ TENSOR("\"F32\"", "[-4]", "[0,16]"), WD_MALFORMED, 10 },
	{ TENSOR("\"F32\"", "[0,-4]", "[0,0]"), WD_MALFORMED, 10 },
	{ TENSOR("\"F32\"", "[\"4\"]", "[0,16]"), WD_MALFORMED, 10 },
	{ TENSOR("\"F32\"", "[18446744073709551616]", "[0,16]"), WD_MALFORMED,
	    10 },
	{ TENSOR("\"F32\"", "[1,1,1,1,1,1,1,1,4]", "[0,16]"), WD_LIMIT, 10 },
	/* C21: products that wrap around to 0 */
	{ TENSOR("\"F32\"", "[4294967296,4294967296]", "[0,0]"), WD_MALFORMED,
	    10 },
	{ TENSOR("\"F32\"", "[4611686018427387904]", "[0,0]"), WD_MALFORMED,
	    10 },
	{ TENSOR("\"F64\"", "[2305843009213693952]", "[0,0]"), WD_MALFORMED,
	    10 },
	/* C21: offsets that disagree with the shape */
	{ TENSOR("\"F64\"", "[4]", "[0,16]"), WD_MALFORMED, 10 },
	{ TENSOR("\"F32\"", "[4]", "[0,17]"), WD_MALFORMED, 10 },
	{ TENSOR("\"F32\"", "[4]", "[16,0]"), WD_MALFORMED, 10 },
	{ TENSOR("\"ZZ9\"", "[4]", "[16,0]"), WD_MALFORMED, 10 },
	{ TENSOR("\"F32\"", "[4]", "[-16,0]"), WD_MALFORMED, 10 },
	{ TENSOR("\"F32\"", "[4]", "[0]"), WD_MALFORMED, 10 },
	{ TENSOR("\"F32\"", "[4]", "[0,16,32]"), WD_MALFORMED, 10 },
	{ TENSOR("\"F32\"", "[4]", "[0,16.0]"), WD_MALFORMED, 10 },
	{ TENSOR("\"F32\"", "[4]", "{}"), WD_MALFORMED, 10 },
	{ TENSOR("\"F32\"", "[4]", "[9223372036854775791,9223372036854775807]"),
	    WD_MALFORMED, 10 },
	{ TENSOR("\"F4\"", "[3]", "[0,1]"), WD_MALFORMED, 10 },
	{ TENSOR("\"F4\"", "[3]", "[0,2]"), WD_MALFORMED, 10 },
	/* C13: one name twice, equal or not */
	{ "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
	  "\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}",
	    WD_MALFORMED, WD_ERROR_NO_OFFSET },
	{ "{\"w\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[1],"
	  "\"data_offsets\":[0,1]}}",
	    WD_MALFORMED, WD_ERROR_NO_OFFSET },
	{ "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
	  "\"\\u0061\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}"
	  "}",
	    WD_MALFORMED, WD_ERROR_NO_OFFSET },
	/* C7 (a): two tensors on the same bytes, or across each other */
	{ "{\"embed\":{\"dtype\":\"U8\",\"shape\":[9],\"data_offsets\":[0,9]},"
	  "\"head\":{\"dtype\":\"U8\",\"shape\":[9],\"data_offsets\":[0,9]}}",
	    WD_MALFORMED, WD_ERROR_NO_OFFSET },
	{ "{\"a\":{\"dtype\":\"U8\",\"shape\":[9],\"data_offsets\":[0,9]},"
	  "\"b\":{\"dtype\":\"U8\",\"shape\":[9],\"data_offsets\":[8,17]}}",
	    WD_MALFORMED, WD_ERROR_NO_OFFSET },
};

START_TEST(c07_c13_c21_broken_headers_are_refused)
{
	start();
	ck_assert_int_eq(
	    make_safetensors_text(headers[_i].header, 64, &file), WD_OK);
	ck_assert_int_eq(describe(), headers[_i].status);
	ck_assert_int_eq(err.status, headers[_i].status);
	ck_assert_ptr_null(bundle);
	if (headers[_i].offset != WD_ERROR_NO_OFFSET)
		ck_assert_uint_eq(err.offset, headers[_i].offset);
	stop();
}
END_TEST

static const struct {
	uint8_t length[8];
	enum wd_status status;
} lengths[] = {
	{ { 0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, WD_MALFORMED },
	{ { 0, 0, 0, 0, 0, 0, 0, 0x80 }, WD_MALFORMED },
	{ { 0, 0, 0, 0, 1 }, WD_MALFORMED },
	{ { 1, 0, 0x40, 6 }, WD_MALFORMED }, /* 100 MiB + 1 */
	{ { 0, 0, 0x40, 6 }, WD_TRUNCATED }, /* 100 MiB */
	{ { 0 }, WD_MALFORMED },
	{ { 1 }, WD_MALFORMED },
	{ { 57 }, WD_TRUNCATED },
};

/* C21: nothing is taken for a header that is not there. */
START_TEST(c21_header_lengths_are_held_against_the_file)
{
	start();
	ck_assert_int_eq(make_safetensors_text(
			     "{}                                              "
			     "        ",
			     0, &file),
	    WD_OK);
	memcpy(file.data, lengths[_i].length, 8);
	ck_assert_int_eq(describe(), lengths[_i].status);
	stop();
}
END_TEST

START_TEST(deep_headers_are_refused)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text;
	int i;

	start();
	wd_buf_init(&text, 1 << 20);
	(void)wd_buf_text(&text, "{\"w\":");
	for (i = 0; i < 100000; i++)
		(void)wd_buf_byte(&text, '[');
	ck_assert_int_eq(
	    make_safetensors_text(wd_buf_string(&text), 0, &file), WD_OK);
	ck_assert_int_eq(describe(), WD_LIMIT);
	stop();
}
END_TEST

/* What the names and dtypes of a quantised bundle look like. */
static const struct {
	const char *names[3];
	const char *dtypes[3];
	bool known;
	uint64_t lower_bound; /* each has 8 elements */
} schemes[] = {
	{ { "w.qweight", "w.scales", "w.qzeros" }, { "I32", "F16", "I32" },
	    false, 8 },
	{ { "w.weight", "w.scales", "w.biases" }, { "U32", "F16", "F16" },
	    false, 8 },
	{ { "w_blocks", "w_scales", "b" }, { "U8", "U8", "F16" }, false, 16 },
	{ { "w.weight_packed", "w.weight_scale", "w.weight_shape" },
	    { "I32", "BF16", "I64" }, false, 8 },
	{ { "w", "w.absmax", "w.quant_map" }, { "U8", "F32", "F32" }, false,
	    8 },
	{ { "w.weight", "w.weight_scale_inv", "n" },
	    { "F8_E4M3", "F32", "F32" }, true, 16 },
	{ { "w", "s", "t" }, { "F4", "F8_E8M0", "F32" }, false, 24 },
	/* plain ones */
	{ { "w.weight", "w.bias", "position_ids" }, { "F16", "F16", "I64" },
	    true, 24 },
	{ { "w.weight", "layer.scales", "n" }, { "F16", "F16", "F16" }, true,
	    24 },
	{ { "w.weight", "x.u8", "n" }, { "U32", "U8", "F16" }, true, 24 },
};

/* Never a wrong count: packed words are not parameters. */
START_TEST(packed_tensors_make_the_count_unknown)
{
	struct make_safetensors st;
	size_t i;

	start();
	make_safetensors_init(&st);
	for (i = 0; i < 3; i++) {
		const char *dtype = schemes[_i].dtypes[i];
		unsigned size = strchr(dtype, '4') != NULL ? 4 :
		    strstr(dtype, "16") != NULL            ? 16 :
		    strstr(dtype, "32") != NULL            ? 32 :
							     8;

		if (strcmp(dtype, "I64") == 0)
			size = 64;
		if (strcmp(dtype, "F8_E4M3") == 0)
			size = 8;
		make_safetensors_tensor(
		    &st, schemes[_i].names[i], dtype, "[8]", size);
	}
	ck_assert_int_eq(make_safetensors_file(&st, 1, &file), WD_OK);
	ck_assert_int_eq(describe(), WD_OK);
	ck_assert_int_eq(bundle->parameters_known, schemes[_i].known);
	ck_assert_uint_eq(bundle->parameter_count, schemes[_i].lower_bound);
	ck_assert_uint_eq(bundle->stored_elements, 24);
	ck_assert_int_eq(note_with(bundle, WD_NOTE_UNKNOWN, "packed") != NULL,
	    !schemes[_i].known);
	make_safetensors_release(&st);
	stop();
}
END_TEST

WD_SUITE_BEGIN("bundle safetensors")
WD_TEST(a_plain_file_is_counted);
WD_TEST(c10_scalars_and_zeros_are_valid);
WD_TEST(a_file_without_tensors_is_valid);
WD_LOOP(every_dtype_of_the_format_is_counted, dtypes);
WD_TEST(c20_an_unknown_dtype_is_bounded);
WD_TEST(c26_a_cut_file_is_incomplete);
WD_TEST(c26_a_file_cut_in_its_header_is_truncated);
WD_TEST(bytes_that_belong_to_no_tensor_are_noted);
WD_LOOP(c07_c13_c21_broken_headers_are_refused, headers);
WD_LOOP(c21_header_lengths_are_held_against_the_file, lengths);
WD_TEST(deep_headers_are_refused);
WD_LOOP(packed_tensors_make_the_count_unknown, schemes);
WD_SUITE_END
