/* bundle/canon.h and encoding.h: numbers, JSON, long text, block sizes. */
#include "bundle/canon.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "bundle/encoding.h"
#include "support/bundle_make.h"
#include "support/suite.h"

/* The first rows are those of RFC 8785, appendix B. */
static const struct {
	uint64_t bits;
	const char *text;
} doubles[] = {
	{ UINT64_C(0x0000000000000000), "0" },
	{ UINT64_C(0x8000000000000000), "0" },
	{ UINT64_C(0x0000000000000001), "5e-324" },
	{ UINT64_C(0x8000000000000001), "-5e-324" },
	{ UINT64_C(0x7fefffffffffffff), "1.7976931348623157e+308" },
	{ UINT64_C(0xffefffffffffffff), "-1.7976931348623157e+308" },
	{ UINT64_C(0x4340000000000000), "9007199254740992" },
	{ UINT64_C(0xc340000000000000), "-9007199254740992" },
	{ UINT64_C(0x4430000000000000), "295147905179352830000" },
	{ UINT64_C(0x44b52d02c7e14af5), "9.999999999999997e+22" },
	{ UINT64_C(0x44b52d02c7e14af6), "1e+23" },
	{ UINT64_C(0x44b52d02c7e14af7), "1.0000000000000001e+23" },
	{ UINT64_C(0x444b1ae4d6e2ef4e), "999999999999999700000" },
	{ UINT64_C(0x444b1ae4d6e2ef4f), "999999999999999900000" },
	{ UINT64_C(0x444b1ae4d6e2ef50), "1e+21" },
	{ UINT64_C(0x3eb0c6f7a0b5ed8c), "9.999999999999997e-7" },
	{ UINT64_C(0x3eb0c6f7a0b5ed8d), "0.000001" },
	{ UINT64_C(0x41b3de4355555553), "333333333.3333332" },
	{ UINT64_C(0x41b3de4355555554), "333333333.33333325" },
	{ UINT64_C(0x41b3de4355555555), "333333333.3333333" },
	{ UINT64_C(0x41b3de4355555556), "333333333.3333334" },
	{ UINT64_C(0x41b3de4355555557), "333333333.33333343" },
	{ UINT64_C(0xbecbf647612f3696), "-0.0000033333333333333333" },
	{ UINT64_C(0x43143ff3c1cb0959), "1424953923781206.2" },
	{ UINT64_C(0x7ff0000000000000), "Infinity" },
	{ UINT64_C(0xfff0000000000000), "-Infinity" },
	{ UINT64_C(0x7ff8000000000000), "NaN" },
	/* below the normal numbers */
	{ UINT64_C(0x000fffffffffffff), "2.225073858507201e-308" },
	{ UINT64_C(0x0010000000000000), "2.2250738585072014e-308" },
	{ UINT64_C(0x0000000000000003), "1.5e-323" },
};

START_TEST(numbers_are_written_as_rfc_8785_does)
{
	char text[WD_CANON_NUMBER_BYTES];
	double number;

	memcpy(&number, &doubles[_i].bits, sizeof(number));
	ck_assert_str_eq(wd_canon_number(number, text), doubles[_i].text);
}
END_TEST

/* What GGUF stores as float32 is written as the double that it is. */
static const struct {
	float value;
	const char *text;
} floats[] = {
	{ 1e-5F, "0.000009999999747378752" },
	{ 1e-6F, "9.999999974752427e-7" },
	{ 1e-12F, "9.999999960041972e-13" },
	{ 0.5F, "0.5" },
	{ 10000.0F, "10000" },
	{ 999999.4375F, "999999.4375" },
	{ FLT_MAX, "3.4028234663852886e+38" },
	{ -1.0F, "-1" },
};

START_TEST(floats_are_written_as_the_doubles_they_are)
{
	char text[WD_CANON_NUMBER_BYTES];

	ck_assert_str_eq(
	    wd_canon_number((double)floats[_i].value, text), floats[_i].text);
}
END_TEST

static const struct {
	const char *json;
	const char *text;
} trees[] = {
	{ "[]", "[]" },
	{ "{}", "{}" },
	{ " [ 1 , 2.50 , -3e2 ] ", "[1,2.5,-300]" },
	{ "{\"b\":1,\"a\":{\"d\":[],\"c\":{}}}",
	    "{\"a\":{\"c\":{},\"d\":[]},\"b\":1}" },
	{ "[true,false,null,\"x\"]", "[true,false,null,\"x\"]" },
	{ "[\"\\u0001\\b\\f\\n\\r\\t\\\"\\\\\\/\\u00e9\"]",
	    "[\"\\u0001\\b\\f\\n\\r\\t\\\"\\\\/\303\251\"]" },
	{ "[9223372036854775807,-9223372036854775808]",
	    "[9223372036854775807,-9223372036854775808]" },
	{ "[18446744073709551615,NaN]", "[\"18446744073709551615\",\"NaN\"]" },
	{ "[1.0,1,1e0]", "[1,1,1]" },
	{ "{\"B\":0,\"a\":0,\"A\":0,\"\":0}",
	    "{\"\":0,\"A\":0,\"B\":0,\"a\":0}" },
};

START_TEST(json_is_compact_and_sorted)
{
	WD_CLEANUP(wd_json_free) json_t *root = NULL;
	struct wd_canon canon;
	struct wd_slice value;

	wd_canon_init(&canon);
	ck_assert_int_eq(wd_json_parse(wd_slice_text(trees[_i].json),
			     WD_MAX_JSON_MEMORY, &root, NULL),
	    WD_OK);
	wd_canon_json(&canon, root);
	ck_assert_int_eq(wd_canon_value(&canon, &value), WD_OK);
	ck_assert_str_eq((const char *)value.data, trees[_i].text);
	wd_canon_release(&canon);
}
END_TEST

static void
fill(struct wd_canon *canon, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		wd_canon_bytes(canon, "x", 1);
}

/* Long text counts by its digest, whatever the pieces it came in. */
START_TEST(long_text_becomes_its_digest)
{
	char text[WD_SHA256_TEXT_BYTES];
	struct wd_sha256 digest;
	struct wd_canon canon;
	struct wd_slice value;
	struct wd_buf all;

	wd_canon_init(&canon);
	fill(&canon, WD_MAX_SETTING_TEXT);
	ck_assert_int_eq(wd_canon_value(&canon, &value), WD_OK);
	ck_assert_uint_eq(value.len, WD_MAX_SETTING_TEXT);
	wd_buf_init(&all, WD_MAX_SETTING_TEXT + 10);
	ck_assert_int_eq(wd_buf_append(&all, value.data, value.len), WD_OK);
	ck_assert_int_eq(wd_buf_text(&all, "xyz"), WD_OK);
	wd_canon_bytes(&canon, "x", 1);
	wd_canon_bytes(&canon, "yz", 2);
	ck_assert_int_eq(wd_canon_value(&canon, &value), WD_OK);
	ck_assert_int_eq(wd_sha256(wd_buf_slice(&all), &digest, NULL), WD_OK);
	ck_assert_str_eq(
	    (const char *)value.data, wd_sha256_text(&digest, text));
	wd_canon_reset(&canon);
	fill(&canon, 3);
	ck_assert_int_eq(wd_canon_value(&canon, &value), WD_OK);
	ck_assert_str_eq((const char *)value.data, "xxx");
	wd_buf_release(&all);
	wd_canon_release(&canon);
}
END_TEST

/* Two tables, written from two readings of the specification. */
START_TEST(block_sizes_agree_with_the_makers)
{
	uint32_t id, found = 0;

	for (id = 0; id < 50; id++) {
		const struct wd_encoding *ours = wd_gguf_type(id);
		const struct make_encoding *theirs =
		    ours == NULL ? NULL : make_encoding(ours->name);

		if (theirs == NULL)
			continue;
		found++;
		ck_assert_uint_eq(theirs->id, id);
		ck_assert_uint_eq(theirs->block, ours->block);
		ck_assert_uint_eq(theirs->bytes * 8, ours->bits);
	}
	ck_assert_uint_ge(found, 23);
}
END_TEST

/* Bits per weight, as llama.cpp prints them for its types. */
static const struct {
	uint32_t id;
	const char *name;
	double bits;
} per_weight[] = {
	{ 2, "Q4_0", 4.5 },
	{ 10, "Q2_K", 2.625 },
	{ 11, "Q3_K", 3.4375 },
	{ 12, "Q4_K", 4.5 },
	{ 13, "Q5_K", 5.5 },
	{ 14, "Q6_K", 6.5625 },
	{ 15, "Q8_K", 9.125 },
	{ 16, "IQ2_XXS", 2.0625 },
	{ 17, "IQ2_XS", 2.3125 },
	{ 18, "IQ3_XXS", 3.0625 },
	{ 19, "IQ1_S", 1.5625 },
	{ 21, "IQ3_S", 3.4375 },
	{ 22, "IQ2_S", 2.5625 },
	{ 23, "IQ4_XS", 4.25 },
	{ 29, "IQ1_M", 1.75 },
	{ 34, "TQ1_0", 1.6875 },
	{ 35, "TQ2_0", 2.0625 },
	{ 39, "MXFP4", 4.25 },
	{ 40, "NVFP4", 4.5 },
	{ 41, "Q1_0", 1.125 },
	{ 42, "Q2_0", 2.25 },
};

START_TEST(types_have_their_bits_per_weight)
{
	const struct wd_encoding *type = wd_gguf_type(per_weight[_i].id);

	ck_assert_str_eq(type->name, per_weight[_i].name);
	ck_assert(fabs(type->bits / (double)type->block - per_weight[_i].bits) <
	    1e-9);
}
END_TEST

START_TEST(types_that_were_given_up_keep_names)
{
	ck_assert_str_eq(wd_gguf_type(4)->name, "Q4_2");
	ck_assert_uint_eq(wd_gguf_type(4)->block, 0);
	ck_assert_str_eq(wd_gguf_type(31)->name, "Q4_0_4_4");
	ck_assert_str_eq(wd_gguf_type(38)->name, "IQ4_NL_8_8");
	ck_assert_ptr_null(wd_gguf_type(43));
	ck_assert_ptr_null(wd_gguf_type(UINT32_MAX));
}
END_TEST

static const struct {
	const char *name;
	uint64_t elements;
	bool fits;
	uint64_t size;
} sizes[] = {
	{ "F4", 2, true, 1 },
	{ "F4", 3, false, 0 },
	{ "F6_E2M3", 4, true, 3 },
	{ "F6_E3M2", 1, false, 0 },
	{ "F8_E8M0", 5, true, 5 },
	{ "F8_E4M3FNUZ", 5, true, 5 },
	{ "BOOL", 9, true, 9 },
	{ "C64", 2, true, 16 },
	{ "BF16", 0, true, 0 },
	{ "F64", UINT64_C(1) << 58, false, 0 },
	{ "U16", 7, true, 14 },
};

START_TEST(dtypes_have_their_sizes)
{
	const struct wd_encoding *dtype =
	    wd_safetensors_dtype(wd_slice_text(sizes[_i].name));
	uint64_t size = 77;

	ck_assert_ptr_nonnull(dtype);
	ck_assert_int_eq(
	    wd_encoding_size(dtype, sizes[_i].elements, &size), sizes[_i].fits);
	ck_assert_uint_eq(size, sizes[_i].fits ? sizes[_i].size : 77);
	ck_assert_ptr_null(wd_safetensors_dtype(wd_slice_text("ZZ9")));
	ck_assert_ptr_null(wd_safetensors_dtype(wd_slice_text("f16")));
}
END_TEST

START_TEST(file_types_are_not_tensor_types)
{
	const char *encoding = NULL;

	ck_assert_str_eq(wd_gguf_file_type(15, &encoding), "Q4_K_M");
	ck_assert_str_eq(encoding, "Q4_K");
	ck_assert_str_eq(wd_gguf_file_type(7, &encoding), "Q8_0");
	ck_assert_str_eq(encoding, "Q8_0");
	ck_assert_str_eq(wd_gguf_file_type(38, &encoding), "MXFP4_MOE");
	ck_assert_str_eq(encoding, "MXFP4");
	ck_assert_ptr_null(wd_gguf_file_type(5, &encoding));
	ck_assert_ptr_null(wd_gguf_file_type(1024, &encoding));
	ck_assert_ptr_null(wd_gguf_file_type(UINT64_MAX, &encoding));
}
END_TEST

WD_SUITE_BEGIN("bundle canon")
WD_LOOP(numbers_are_written_as_rfc_8785_does, doubles);
WD_LOOP(floats_are_written_as_the_doubles_they_are, floats);
WD_LOOP(json_is_compact_and_sorted, trees);
WD_TEST(long_text_becomes_its_digest);
WD_TEST(block_sizes_agree_with_the_makers);
WD_LOOP(types_have_their_bits_per_weight, per_weight);
WD_TEST(types_that_were_given_up_keep_names);
WD_LOOP(dtypes_have_their_sizes, sizes);
WD_TEST(file_types_are_not_tensor_types);
WD_SUITE_END
