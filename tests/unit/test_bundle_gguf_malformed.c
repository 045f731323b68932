/* GGUF files that break their format: refused at once, with the place. */
#include <string.h>

#include "base/limits.h"
#include "support/bundle_make.h"
#include "support/memory_folder.h"
#include "support/suite.h"

#define HEADER 24 /* magic, version, two counts */

static struct make_gguf gguf;
static struct wd_buf file;

static void
add(const char *name, const char *encoding, uint64_t a, uint64_t b)
{
	uint64_t dims[2] = { a, b };

	ck_assert(make_gguf_tensor(&gguf, name, encoding, dims, 2));
}

static void
raw(uint32_t dim_count, const uint64_t *dims, uint32_t written, uint32_t type,
    uint64_t offset)
{
	make_gguf_raw_tensor(
	    &gguf, wd_slice_text("w"), dim_count, dims, written, type, offset);
	gguf.data_size += 64;
}

/* A key, its value as bytes, and bytes enough behind it. */
static void
key_then(uint32_t type, const void *value, size_t len)
{
	static const uint8_t zeros[64];

	make_gguf_key(&gguf, "k", type);
	(void)wd_buf_append(&gguf.keys, value, len);
	(void)wd_buf_append(&gguf.keys, zeros, sizeof(zeros));
}

static void
array_then(uint32_t item, uint64_t count)
{
	struct wd_buf value;

	wd_buf_init(&value, 64);
	make_gguf_put_u32(&gguf, &value, item);
	make_gguf_put_u64(&gguf, &value, count);
	key_then(MAKE_ARRAY, value.data, value.len);
	wd_buf_release(&value);
}

static void
wrong_magic(void)
{
	gguf.infos.len = 0;
}

static void
version_1(void)
{
	gguf.version = 1;
}

static void
version_4(void)
{
	gguf.version = 4;
}

static void
absurd_tensor_count(void)
{
	gguf.tensor_count = UINT64_C(1) << 60;
}

static void
too_many_tensors(void)
{
	gguf.tensor_count = WD_MAX_TENSORS + 1;
}

static void
tensors_that_are_not_there(void)
{
	gguf.tensor_count = 1000;
}

static void
absurd_key_count(void)
{
	gguf.key_count = UINT64_MAX;
}

static void
too_many_keys(void)
{
	gguf.key_count = WD_MAX_GGUF_KEYS + 1;
}

static void
keys_that_are_not_there(void)
{
	gguf.key_count = 1000;
}

static void
key_length(uint64_t len)
{
	make_gguf_put_u64(&gguf, &gguf.keys, len);
	make_gguf_put_u64(&gguf, &gguf.keys, 0);
	gguf.key_count++;
}

static void
absurd_key_length(void)
{
	key_length(UINT64_MAX);
}

static void
long_key(void)
{
	key_length(65536);
}

static void
key_beyond_the_end(void)
{
	key_length(1000);
}

static void
key_with_nul(void)
{
	make_gguf_put_u64(&gguf, &gguf.keys, 3);
	(void)wd_buf_append(&gguf.keys, "a\0b", 3);
	make_gguf_put_u32(&gguf, &gguf.keys, MAKE_U64);
	make_gguf_put_u64(&gguf, &gguf.keys, 0);
	gguf.key_count++;
}

static void
unknown_value_type(void)
{
	key_then(13, "", 0);
}

static void
absurd_string_length(void)
{
	key_then(MAKE_STRING, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
}

static void
string_beyond_the_end(void)
{
	key_then(MAKE_STRING, "\0\0\1\0\0\0\0\0", 8);
}

static void
array_of_arrays(void)
{
	array_then(MAKE_ARRAY, 1);
}

static void
array_of_unknown(void)
{
	array_then(13, 1);
}

static void
absurd_array(void)
{
	array_then(MAKE_U8, UINT64_C(1) << 63);
}

/* Times 8 it would wrap around to 8. */
static void
wrapping_array(void)
{
	array_then(MAKE_U64, (UINT64_C(1) << 61) + 1);
}

static void
array_beyond_the_end(void)
{
	array_then(MAKE_STRING, 1000);
}

static void
string_in_array_beyond_the_end(void)
{
	struct wd_buf value;

	wd_buf_init(&value, 64);
	make_gguf_put_u32(&gguf, &value, MAKE_STRING);
	make_gguf_put_u64(&gguf, &value, 1);
	make_gguf_put_u64(&gguf, &value, 1 << 20);
	key_then(MAKE_ARRAY, value.data, value.len);
	wd_buf_release(&value);
}

static void
alignment_zero(void)
{
	make_gguf_u32(&gguf, "general.alignment", 0);
}

static void
alignment_three(void)
{
	make_gguf_u32(&gguf, "general.alignment", 3);
}

static void
alignment_as_text(void)
{
	make_gguf_string(&gguf, "general.alignment", "32");
}

/* C13: which of the two counts? */
static void
key_twice(void)
{
	make_gguf_u32(&gguf, "k", 1);
	make_gguf_u32(&gguf, "z", 1);
	make_gguf_u32(&gguf, "k", 2);
}

static void
split_key_twice(void)
{
	make_gguf_u32(&gguf, "split.no", 0);
	make_gguf_u32(&gguf, "split.no", 1);
}

static void
absurd_dim_count(void)
{
	uint64_t dims[1] = { 1 };

	raw(UINT32_MAX, dims, 1, 0, 0);
}

static void
five_dims(void)
{
	uint64_t dims[5] = { 1, 1, 1, 1, 1 };

	raw(5, dims, 5, 0, 0);
}

static void
huge_dim(void)
{
	uint64_t dims[4] = { UINT64_MAX, 2, 1, 1 };

	raw(4, dims, 4, 0, 0);
}

/* (2^42 + 1) * 2^22 wraps around to 2^22. */
static void
wrapping_dims(void)
{
	uint64_t dims[2] = { (UINT64_C(1) << 42) + 1, UINT64_C(1) << 22 };

	raw(2, dims, 2, 0, 0);
}

/* 3 * 2^62 fits 64 bits and is negative for ggml; no type's size stops it. */
static void
dims_beyond_63_bits(void)
{
	uint64_t dims[2] = { UINT64_C(1) << 62, 3 };

	raw(2, dims, 2, 9999, 0);
}

/* The elements fit, their bytes do not. */
static void
wrapping_size(void)
{
	uint64_t dims[2] = { UINT64_C(1) << 31, UINT64_C(1) << 31 };

	raw(2, dims, 2, 28, 0);
}

static void
partial_block(void)
{
	uint64_t dims[2] = { 100, 256 };

	raw(2, dims, 2, 12, 0);
}

static void
unaligned_offset(void)
{
	uint64_t dims[1] = { 4 };

	raw(1, dims, 1, 0, 33);
}

static void
absurd_offset(void)
{
	uint64_t dims[1] = { 4 };

	raw(1, dims, 1, 0, UINT64_C(1) << 63);
}

static void
far_offset(void)
{
	uint64_t dims[1] = { 4 };

	raw(1, dims, 1, 0, (UINT64_C(1) << 63) - 32);
}

static void
overlapping(void)
{
	uint64_t dims[1] = { 16 };

	add("a", "F32", 16, 1);
	make_gguf_raw_tensor(&gguf, wd_slice_text("b"), 1, dims, 1, 0, 32);
}

static void
same_place(void)
{
	uint64_t dims[1] = { 16 };

	add("a", "F32", 16, 1);
	make_gguf_raw_tensor(&gguf, wd_slice_text("b"), 1, dims, 1, 0, 0);
}

/* The size of "b" is not known, but it begins within "a". */
static void
unsized_within_another(void)
{
	uint64_t dims[1] = { 16 };

	add("a", "F32", 16, 1);
	make_gguf_raw_tensor(&gguf, wd_slice_text("b"), 1, dims, 1, 9999, 32);
}

static void
tensor_twice(void)
{
	add("w", "F32", 4, 1);
	add("w", "F32", 4, 2);
}

static void
long_tensor_name(void)
{
	uint8_t name[WD_MAX_TENSOR_NAME + 1];
	uint64_t dims[1] = { 1 };

	memset(name, 'n', sizeof(name));
	make_gguf_raw_tensor(
	    &gguf, (struct wd_slice){ name, sizeof(name) }, 1, dims, 1, 0, 0);
}

static void
tensor_name_with_nul(void)
{
	struct wd_slice name = { (const uint8_t *)"a\0b", 3 };
	uint64_t dims[1] = { 1 };

	make_gguf_raw_tensor(&gguf, name, 1, dims, 1, 0, 0);
	gguf.data_size += 32;
}

static void
too_many_elements(void)
{
	uint64_t dims[2] = { UINT64_C(1) << 31, UINT64_C(1) << 31 };
	char name[2] = "a";

	/* Of an unknown type, so that no size stops it: 5 * 2^62. */
	for (; name[0] < 'f'; name[0]++)
		make_gguf_raw_tensor(&gguf, wd_slice_text(name), 2, dims, 2,
		    9999, 32 * (uint64_t)(name[0] - 'a'));
	gguf.data_size = 5 * 32;
}

static void
shard_of_none(void)
{
	make_gguf_number(&gguf, "split.no", MAKE_U16, 3);
	make_gguf_number(&gguf, "split.count", MAKE_U16, 3);
}

static void
shard_of_too_many(void)
{
	make_gguf_number(&gguf, "split.no", MAKE_U16, 3);
	make_gguf_number(
	    &gguf, "split.count", MAKE_U16, WD_MAX_BUNDLE_FILES + 1);
}

#define ANYWHERE UINT64_MAX

/* Offsets: the key "k" of key_then takes 9 bytes, its type 4; a tensor "w"
 * 9 bytes of name, 4 of dimension count, 8 for each. */
static const struct {
	void (*make)(void);
	enum wd_status status;
	uint64_t offset;
} cases[] = {
	{ wrong_magic, WD_MALFORMED, 0 },
	{ version_1, WD_UNSUPPORTED, 4 },
	{ version_4, WD_UNSUPPORTED, 4 },
	{ absurd_tensor_count, WD_MALFORMED, 8 },
	{ too_many_tensors, WD_LIMIT, 8 },
	{ tensors_that_are_not_there, WD_TRUNCATED, 16 },
	{ absurd_key_count, WD_MALFORMED, 16 },
	{ too_many_keys, WD_LIMIT, 16 },
	{ keys_that_are_not_there, WD_TRUNCATED, HEADER },
	{ absurd_key_length, WD_MALFORMED, HEADER },
	{ long_key, WD_MALFORMED, HEADER },
	{ key_beyond_the_end, WD_TRUNCATED, HEADER + 8 },
	{ key_with_nul, WD_MALFORMED, HEADER },
	{ unknown_value_type, WD_MALFORMED, HEADER + 9 },
	{ absurd_string_length, WD_MALFORMED, HEADER + 21 },
	{ string_beyond_the_end, WD_TRUNCATED, HEADER + 21 },
	{ array_of_arrays, WD_MALFORMED, HEADER + 13 },
	{ array_of_unknown, WD_MALFORMED, HEADER + 13 },
	{ absurd_array, WD_MALFORMED, HEADER + 17 },
	{ wrapping_array, WD_MALFORMED, HEADER + 17 },
	{ array_beyond_the_end, WD_TRUNCATED, HEADER + 25 },
	{ string_in_array_beyond_the_end, WD_TRUNCATED, HEADER + 33 },
	{ alignment_zero, WD_MALFORMED, HEADER + 8 + 17 + 4 },
	{ alignment_three, WD_MALFORMED, HEADER + 8 + 17 + 4 },
	{ alignment_as_text, WD_MALFORMED, HEADER + 8 + 17 + 4 },
	{ key_twice, WD_MALFORMED, HEADER + 2 * 17 },
	{ split_key_twice, WD_MALFORMED, HEADER + 24 },
	{ absurd_dim_count, WD_MALFORMED, HEADER + 9 },
	{ five_dims, WD_MALFORMED, HEADER + 9 },
	{ huge_dim, WD_MALFORMED, HEADER + 13 },
	{ wrapping_dims, WD_MALFORMED, HEADER + 21 },
	{ dims_beyond_63_bits, WD_MALFORMED, HEADER + 21 },
	{ wrapping_size, WD_MALFORMED, HEADER + 29 },
	{ partial_block, WD_MALFORMED, HEADER + 29 },
	{ unaligned_offset, WD_MALFORMED, HEADER + 25 },
	{ absurd_offset, WD_MALFORMED, HEADER + 25 },
	{ far_offset, WD_MALFORMED, ANYWHERE },
	{ overlapping, WD_MALFORMED, ANYWHERE },
	{ same_place, WD_MALFORMED, ANYWHERE },
	{ unsized_within_another, WD_MALFORMED, ANYWHERE },
	{ tensor_twice, WD_MALFORMED, ANYWHERE },
	{ long_tensor_name, WD_LIMIT, HEADER },
	{ tensor_name_with_nul, WD_MALFORMED, HEADER },
	{ too_many_elements, WD_MALFORMED, ANYWHERE },
	{ shard_of_none, WD_MALFORMED, ANYWHERE },
	{ shard_of_too_many, WD_LIMIT, ANYWHERE },
};

static void
check(enum wd_status status, uint64_t offset)
{
	struct wd_bundle *bundle = NULL;
	struct wd_error err;

	wd_error_init(&err);
	ck_assert_int_eq(
	    describe_bytes(wd_buf_slice(&file), "m.gguf", &bundle, &err),
	    status);
	ck_assert_ptr_null(bundle);
	ck_assert_int_eq(err.status, status);
	ck_assert_uint_gt(strlen(err.message), 0);
	if (offset != ANYWHERE)
		ck_assert_uint_eq(err.offset, offset);
	/* The error is optional. */
	ck_assert_int_eq(
	    describe_bytes(wd_buf_slice(&file), "m.gguf", &bundle, NULL),
	    status);
}

/* C8, C11, C13 and all the rest; the table says where. */
START_TEST(c08_c11_c13_malformed_files_are_refused)
{
	make_gguf_init(&gguf);
	wd_buf_init(&file, MAKE_MAX_BYTES);
	cases[_i].make();
	ck_assert_int_eq(make_gguf_file(&gguf, 1, &file), WD_OK);
	if (cases[_i].make == wrong_magic)
		file.data[0] = 'g';
	check(cases[_i].status, cases[_i].offset);
	wd_buf_release(&file);
	make_gguf_release(&gguf);
}
END_TEST

/* C11: 43 bytes that promise 2^63 items, with all the bytes there are. */
START_TEST(c11_a_tiny_file_with_a_huge_array)
{
	struct wd_slice bytes;
	struct wd_bundle *bundle = NULL;
	struct wd_error err;

	make_gguf_init(&gguf);
	wd_buf_init(&file, 1024);
	make_gguf_key(&gguf, "", MAKE_ARRAY);
	make_gguf_put_u32(&gguf, &gguf.keys, MAKE_U8);
	make_gguf_put_u64(&gguf, &gguf.keys, UINT64_C(1) << 63);
	ck_assert_int_eq(make_gguf_header(&gguf, &file), WD_OK);
	bytes = wd_buf_slice(&file);
	bytes.len = HEADER + gguf.keys.len;
	ck_assert_int_eq(
	    describe_bytes(bytes, "m.gguf", &bundle, &err), WD_MALFORMED);
	wd_buf_release(&file);
	make_gguf_release(&gguf);
}
END_TEST

WD_SUITE_BEGIN("bundle gguf malformed")
WD_LOOP(c08_c11_c13_malformed_files_are_refused, cases);
WD_TEST(c11_a_tiny_file_with_a_huge_array);
WD_SUITE_END
