/* mem.h and checked.h: products, growth, and the failing allocator. */
#include "base/mem.h"

#include <string.h>

#include "base/checked.h"
#include "support/suite.h"

START_TEST(products_that_overflow_give_nothing)
{
	void *kept = wd_calloc(1, 1);

	ck_assert_ptr_null(wd_calloc(SIZE_MAX / 2, 3));
	ck_assert_ptr_nonnull(kept);
	ck_assert_ptr_null(wd_reallocarray(kept, SIZE_MAX / 2, 3));
	/* A product that wraps to nothing. */
	ck_assert_ptr_null(wd_calloc(SIZE_MAX / 2 + 1, 2));
	ck_assert_ptr_null(wd_reallocarray(kept, SIZE_MAX / 2 + 1, 2));
	wd_free(kept);
}
END_TEST

START_TEST(nothing_is_still_a_pointer)
{
	void *a = wd_calloc(0, 8), *b = wd_calloc(8, 0);
	void *c = wd_reallocarray(NULL, 0, 8);

	ck_assert(a != NULL && b != NULL && c != NULL);
	wd_free(a);
	wd_free(b);
	wd_free(c);
	wd_free(NULL);
}
END_TEST

START_TEST(memory_is_zeroed_and_copies_end_in_nul)
{
	uint8_t *zeroed = wd_calloc(100, 1), zeros[100] = { 0 };
	char *copy = wd_memdup0("a\0b", 3), *none = wd_memdup0(NULL, 0);
	char *text = wd_strdup("text");

	ck_assert_mem_eq(zeroed, zeros, sizeof(zeros));
	ck_assert_mem_eq(copy, "a\0b\0", 4);
	ck_assert_str_eq(none, "");
	ck_assert_str_eq(text, "text");
	ck_assert_ptr_null(wd_memdup0("x", SIZE_MAX));
	wd_free(zeroed);
	wd_free(copy);
	wd_free(none);
	wd_free(text);
}
END_TEST

START_TEST(growing_stops_at_the_cap)
{
	uint32_t *items = NULL;
	size_t count = 0, capacity = 0;
	enum wd_status st;

	while ((st = wd_grow((void **)&items, count, &capacity, sizeof(*items),
		    21)) == WD_OK) {
		ck_assert_uint_gt(capacity, count);
		ck_assert_uint_le(capacity, 21);
		items[count] = (uint32_t)count;
		count++;
	}
	ck_assert_int_eq(st, WD_LIMIT);
	ck_assert_uint_eq(count, 21);
	ck_assert_uint_eq(items[20], 20);
	wd_free(items);
}
END_TEST

START_TEST(growing_without_memory_keeps_the_array)
{
	uint32_t *items = NULL, *before;
	size_t capacity = 0;

	ck_assert_int_eq(
	    wd_grow((void **)&items, 0, &capacity, sizeof(*items), 100), WD_OK);
	before = items;
	items[7] = 7;
	wd_mem_fail_after(0);
	ck_assert_int_eq(
	    wd_grow((void **)&items, 8, &capacity, sizeof(*items), 100),
	    WD_NOMEM);
	ck_assert_int_eq(wd_mem_has_failed(), 1);
	wd_mem_fail_after(UINT64_MAX);
	ck_assert(items == before && capacity == 8 && items[7] == 7);
	wd_free(items);
}
END_TEST

START_TEST(the_nth_allocation_and_all_after_it_fail)
{
	void *first;

	wd_mem_fail_after(1);
	first = wd_calloc(1, 1);
	ck_assert_ptr_nonnull(first);
	ck_assert_int_eq(wd_mem_has_failed(), 0);
	ck_assert_ptr_null(wd_calloc(1, 1));
	ck_assert_ptr_null(wd_strdup("x"));
	ck_assert_ptr_null(wd_reallocarray(first, 2, 1));
	ck_assert_int_eq(wd_mem_has_failed(), 1);
	wd_mem_fail_after(UINT64_MAX);
	ck_assert_int_eq(wd_mem_has_failed(), 0);
	wd_free(first);
}
END_TEST

START_TEST(stealing_leaves_nothing_to_clean_up)
{
	char *kept;

	{
		WD_CLEANUP(wd_free_scoped) char *text = wd_strdup("kept");

		kept = wd_steal(&text);
		ck_assert_ptr_null(text);
	}
	ck_assert_str_eq(kept, "kept");
	wd_free(kept);
}
END_TEST

static const struct {
	uint64_t a, b;
	bool sum_fits, product_fits, align_fits;
	uint64_t sum, product, aligned;
} sums[] = {
	{ 0, 1, true, true, true, 1, 0, 0 },
	{ 5, 3, true, true, true, 8, 15, 6 },
	{ 6, 3, true, true, true, 9, 18, 6 },
	{ 33, 32, true, true, true, 65, 1056, 64 },
	{ 7, 0, true, true, false, 7, 0, 0 },
	{ UINT64_MAX, 1, false, true, true, 0, UINT64_MAX, UINT64_MAX },
	{ UINT64_MAX - 1, 1, true, true, true, UINT64_MAX, UINT64_MAX - 1,
	    UINT64_MAX - 1 },
	{ UINT64_C(1) << 32, UINT64_C(1) << 32, true, false, true,
	    UINT64_C(1) << 33, 0, UINT64_C(1) << 32 },
	{ UINT64_MAX - 2, 32, false, false, false, 0, 0, 0 },
};

/* On overflow the output is untouched. */
START_TEST(checked)
{
	uint64_t sum = 42, product = 42, aligned = 42;

	ck_assert(
	    wd_add_u64(sums[_i].a, sums[_i].b, &sum) == sums[_i].sum_fits);
	ck_assert_uint_eq(sum, sums[_i].sum_fits ? sums[_i].sum : 42);
	ck_assert(wd_mul_u64(sums[_i].a, sums[_i].b, &product) ==
	    sums[_i].product_fits);
	ck_assert_uint_eq(
	    product, sums[_i].product_fits ? sums[_i].product : 42);
	ck_assert(wd_align_u64(sums[_i].a, sums[_i].b, &aligned) ==
	    sums[_i].align_fits);
	ck_assert_uint_eq(aligned, sums[_i].align_fits ? sums[_i].aligned : 42);
}
END_TEST

WD_SUITE_BEGIN("base mem")
WD_TEST(products_that_overflow_give_nothing);
WD_TEST(nothing_is_still_a_pointer);
WD_TEST(memory_is_zeroed_and_copies_end_in_nul);
WD_TEST(growing_stops_at_the_cap);
WD_TEST(growing_without_memory_keeps_the_array);
WD_TEST(the_nth_allocation_and_all_after_it_fail);
WD_TEST(stealing_leaves_nothing_to_clean_up);
WD_LOOP(checked, sums);
WD_SUITE_END
