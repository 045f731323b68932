#include "wire/tensor_diff.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bundle/classes.h"
#include "wire/build.h"

/* "[4096,4096] Q4_K" */
static void
put_tensor(struct wd_build *build, char **field, const struct wd_tensor *tensor)
{
	char shape[24 * WD_MAX_TENSOR_DIMS + 1];
	size_t len = 0;
	unsigned i;

	shape[0] = '\0';
	for (i = 0; i < tensor->dims; i++)
		len += (size_t)snprintf(shape + len, sizeof(shape) - len,
		    "%s%" PRIu64, i > 0 ? "," : "", tensor->shape[i]);
	wd_build_printf(build, field, "[%s] %s", shape, tensor->encoding);
}

static void
add_tensor(struct wd_build *build, Weightd__V1__BundleDiff *diff,
    const struct wd_tensor *a, const struct wd_tensor *b)
{
	const char *name = a != NULL ? a->name : b->name;
	Weightd__V1__TensorDifference *row = WD_BUILD_ADD(
	    build, diff, tensors, &weightd__v1__tensor_difference__descriptor);

	if (row == NULL)
		return;
	wd_build_text(build, &row->name, name);
	wd_build_text(build, &row->tensor_class,
	    wd_tensor_class_name(wd_tensor_class(wd_slice_text(name))));
	if (a != NULL) {
		put_tensor(build, &row->a, a);
		row->a_presence_case =
		    WEIGHTD__V1__TENSOR_DIFFERENCE__A_PRESENCE_A;
	}
	if (b != NULL) {
		put_tensor(build, &row->b, b);
		row->b_presence_case =
		    WEIGHTD__V1__TENSOR_DIFFERENCE__B_PRESENCE_B;
	}
}

static bool
is_alike(const struct wd_tensor *a, const struct wd_tensor *b)
{
	return a != NULL && b != NULL && a->dims == b->dims &&
	    memcmp(a->shape, b->shape, a->dims * sizeof(a->shape[0])) == 0 &&
	    strcmp(a->encoding, b->encoding) == 0;
}

/* Which of the next two comes first; 0 when they have one name. */
static int
order_of(
    const struct wd_bundle *a, size_t i, const struct wd_bundle *b, size_t j)
{
	if (i == a->tensor_count)
		return 1;
	if (j == b->tensor_count)
		return -1;
	return strcmp(a->tensors[i].name, b->tensors[j].name);
}

enum wd_status
wd_tensor_diff(const struct wd_bundle *a, const struct wd_bundle *b,
    size_t most, Weightd__V1__BundleDiff *diff, struct wd_error *err)
{
	struct wd_build build = wd_build_init();
	size_t i = 0, j = 0;

	while (i < a->tensor_count || j < b->tensor_count) {
		int order = order_of(a, i, b, j);
		const struct wd_tensor *left =
		    order <= 0 ? &a->tensors[i++] : NULL;
		const struct wd_tensor *right =
		    order >= 0 ? &b->tensors[j++] : NULL;

		if (is_alike(left, right))
			continue;
		if (diff->tensor_difference_count++ < most)
			add_tensor(&build, diff, left, right);
	}
	if (build.status != WD_OK)
		return wd_fail(
		    err, build.status, "no memory for the differences");
	return WD_OK;
}
