/* Two tensor tables held against each other. */
#include <string.h>

#include "support/suite.h"
#include "wire/build.h"
#include "wire/tensor_diff.h"

static struct wd_tensor
tensor(const char *name, const char *encoding, uint64_t size)
{
	return (struct wd_tensor){ .name = name,
		.name_len = strlen(name),
		.encoding = encoding,
		.shape = { size, 2 },
		.dims = 2,
		.elements = 2 * size,
		.parameters = 2 * size,
		.size_bytes = 4 * size };
}

static struct wd_tensor left[4], right[4];
static struct wd_bundle a, b;

static void
start(void)
{
	left[0] = tensor("a.attn", "F16", 4);
	left[1] = tensor("b.mlp", "F16", 4);
	left[2] = tensor("c.mlp", "F16", 4);
	memcpy(right, left, sizeof(right));
	a = (struct wd_bundle){ .tensors = left, .tensor_count = 3 };
	b = (struct wd_bundle){ .tensors = right, .tensor_count = 3 };
}

static Weightd__V1__BundleDiff *
compare(size_t most)
{
	struct wd_build build = wd_build_init();
	Weightd__V1__BundleDiff *diff =
	    wd_build_new(&build, &weightd__v1__bundle_diff__descriptor);

	ck_assert_int_eq(wd_tensor_diff(&a, &b, most, diff, NULL), WD_OK);
	return diff;
}

START_TEST(each_tensor_is_told)
{
	Weightd__V1__BundleDiff *diff;

	start();
	right[0].shape[1] = 3;
	right[1].encoding = "F32";
	right[2] = tensor("d", "F16", 4);
	diff = compare(99);
	ck_assert_uint_eq(diff->n_tensors, 4);
	ck_assert_uint_eq(diff->tensor_difference_count, 4);
	ck_assert_str_eq(diff->tensors[0]->name, "a.attn");
	ck_assert_str_eq(diff->tensors[0]->a, "[4,2] F16");
	ck_assert_str_eq(diff->tensors[0]->b, "[4,3] F16");
	ck_assert_str_eq(diff->tensors[1]->b, "[4,2] F32");
	ck_assert_str_eq(diff->tensors[1]->tensor_class, "feed-forward");
	ck_assert_str_eq(diff->tensors[2]->name, "c.mlp");
	ck_assert_int_eq(diff->tensors[2]->b_presence_case, 0);
	ck_assert_str_eq(diff->tensors[3]->name, "d");
	ck_assert_int_eq(diff->tensors[3]->a_presence_case, 0);
	wd_message_free(diff);
}
END_TEST

START_TEST(equal_tables_give_nothing)
{
	Weightd__V1__BundleDiff *diff;

	start();
	diff = compare(99);
	ck_assert_uint_eq(diff->tensor_difference_count, 0);
	wd_message_free(diff);
}
END_TEST

START_TEST(all_are_counted_and_some_are_kept)
{
	Weightd__V1__BundleDiff *diff;

	start();
	b.tensor_count = 0;
	diff = compare(2);
	ck_assert_uint_eq(diff->n_tensors, 2);
	ck_assert_uint_eq(diff->tensor_difference_count, 3);
	wd_message_free(diff);
}
END_TEST

WD_SUITE_BEGIN("wire tensor diff")
WD_TEST(each_tensor_is_told);
WD_TEST(equal_tables_give_nothing);
WD_TEST(all_are_counted_and_some_are_kept);
WD_SUITE_END
