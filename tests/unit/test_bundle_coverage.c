/* wd_bundle_coverage: interval arithmetic between ranges and tensors. */
#include <string.h>

#include "base/mem.h"
#include "bundle/bundle.h"
#include "support/suite.h"

/* Two files: 0 with tensors [100,200) [200,250) [300,300) [400,?), 1000 bytes;
 * 1 with [0,10). */
static struct wd_tensor tensors[] = {
	{ .name = "b",
	    .file = 0,
	    .offset = 200,
	    .size_bytes = 50,
	    .sized = true },
	{ .name = "a",
	    .file = 0,
	    .offset = 100,
	    .size_bytes = 100,
	    .sized = true },
	{ .name = "u", .file = 0, .offset = 400, .sized = false },
	{ .name = "e", .file = 0, .offset = 300, .sized = true },
	{ .name = "o",
	    .file = 1,
	    .offset = 0,
	    .size_bytes = 10,
	    .sized = true },
};
static struct wd_bundle_file files[] = { { .size_bytes = 1000 },
	{ .size_bytes = 10 } };
static const struct wd_bundle bundle = {
	.tensors = tensors, .tensor_count = 5, .files = files, .file_count = 2
};

static const struct {
	struct wd_range ranges[4];
	size_t count;
	uint64_t covered, bytes;
} cases[] = {
	{ { { 0, 0 } }, 0, 1, 0 }, /* the empty tensor is always covered */
	{ { { 0, 1000 } }, 1, 4, 750 },
	{ { { 0, UINT64_MAX } }, 1, 4, 750 },
	{ { { 100, 100 } }, 1, 2, 100 },
	{ { { 100, 99 } }, 1, 1, 99 },
	{ { { 101, 99 } }, 1, 1, 99 },
	{ { { 150, 50 }, { 100, 50 } }, 2, 2, 100 },  /* touching */
	{ { { 150, 50 }, { 100, 49 } }, 2, 1, 99 },   /* a gap of one */
	{ { { 100, 80 }, { 120, 130 } }, 2, 3, 150 }, /* overlapping */
	{ { { 100, 150 }, { 120, 10 }, { 100, 150 } }, 3, 3, 150 },
	{ { { 250, 150 } }, 1, 1, 0 },
	{ { { 400, 600 } }, 1, 2, 600 },
	{ { { 400, 599 } }, 1, 1, 599 },
	{ { { UINT64_MAX, UINT64_MAX } }, 1, 1, 0 },
};

START_TEST(ranges_cover_what_they_cover)
{
	struct wd_coverage found;

	ck_assert_int_eq(wd_bundle_coverage(&bundle, 0, cases[_i].ranges,
			     cases[_i].count, &found),
	    WD_OK);
	ck_assert_uint_eq(found.tensors, 4);
	ck_assert_uint_eq(found.tensor_bytes, 750);
	ck_assert_uint_eq(found.tensors_covered, cases[_i].covered);
	ck_assert_uint_eq(found.bytes_covered, cases[_i].bytes);
	ck_assert(!found.all_sized);
}
END_TEST

START_TEST(files_are_kept_apart)
{
	struct wd_range whole = { 0, 1000 };
	struct wd_coverage found;

	ck_assert_int_eq(
	    wd_bundle_coverage(&bundle, 1, &whole, 1, &found), WD_OK);
	ck_assert_uint_eq(found.tensors, 1);
	ck_assert_uint_eq(found.tensors_covered, 1);
	ck_assert_uint_eq(found.bytes_covered, 10);
	ck_assert(found.all_sized);
}
END_TEST

START_TEST(an_unsized_tensor_reaches_to_the_next)
{
	struct wd_tensor two[] = {
		{ .name = "a", .offset = 10, .sized = false },
		{ .name = "b", .offset = 30, .size_bytes = 5, .sized = true },
	};
	struct wd_bundle small = { .tensors = two,
		.tensor_count = 2,
		.files = files,
		.file_count = 1 };
	struct wd_range range = { 10, 20 };
	struct wd_coverage found;

	ck_assert_int_eq(
	    wd_bundle_coverage(&small, 0, &range, 1, &found), WD_OK);
	ck_assert_uint_eq(found.tensor_bytes, 25);
	ck_assert_uint_eq(found.tensors_covered, 1);
	ck_assert_uint_eq(found.bytes_covered, 20);
}
END_TEST

START_TEST(no_memory_is_told)
{
	struct wd_range whole = { 0, 1000 };
	struct wd_coverage found = { .tensors = 77 };

	wd_mem_fail_after(0);
	ck_assert_int_eq(
	    wd_bundle_coverage(&bundle, 0, &whole, 1, &found), WD_NOMEM);
	wd_mem_fail_after(1);
	ck_assert_int_eq(
	    wd_bundle_coverage(&bundle, 0, &whole, 1, &found), WD_NOMEM);
	wd_mem_fail_after(UINT64_MAX);
	ck_assert_uint_eq(found.tensors, 77);
}
END_TEST

WD_SUITE_BEGIN("bundle coverage")
WD_LOOP(ranges_cover_what_they_cover, cases);
WD_TEST(files_are_kept_apart);
WD_TEST(an_unsized_tensor_reaches_to_the_next);
WD_TEST(no_memory_is_told);
WD_SUITE_END
