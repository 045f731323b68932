/* Two bundles held against each other: each difference is told, nothing else
 * is, and what was not compared is never called equal. */
#include <string.h>

#include "base/mem.h"
#include "support/attestation_make.h"
#include "support/suite.h"
#include "verdict/bundle_diff.h"
#include "wire/build.h"

#define RESULT(name) WEIGHTD__V1__BUNDLE_DIFF__RESULT__RESULT_##name
#define FROLE(name) WEIGHTD__V1__FILE_ROLE__FILE_ROLE_##name

static Weightd__V1__Bundle *a, *b;
static Weightd__V1__BundleDiff *diff;
static struct wd_build build;

static void
add_class(Weightd__V1__Bundle *bundle, const char *class, const char *encoding,
    uint64_t tensors)
{
	Weightd__V1__ClassCount *row = WD_BUILD_ADD(
	    &build, bundle, classes, &weightd__v1__class_count__descriptor);

	wd_build_text(&build, &row->tensor_class, class);
	row->count =
	    wd_build_new(&build, &weightd__v1__encoding_count__descriptor);
	wd_build_text(&build, &row->count->encoding, encoding);
	row->count->tensor_count = tensors;
	row->count->parameter_count = tensors * 100;
}

static Weightd__V1__BundleFile *
add_file(Weightd__V1__Bundle *bundle, const char *name, uint64_t size)
{
	Weightd__V1__BundleFile *row = WD_BUILD_ADD(
	    &build, bundle, files, &weightd__v1__bundle_file__descriptor);

	wd_build_bytes(&build, &row->name, wd_slice_text(name));
	row->role = FROLE(WEIGHTS);
	row->present = true;
	row->size_bytes = size;
	return row;
}

static Weightd__V1__Bundle *
make(void)
{
	Weightd__V1__Bundle *bundle =
	    wd_build_new(&build, &weightd__v1__bundle__descriptor);

	bundle->format = WEIGHTD__V1__BUNDLE_FORMAT__BUNDLE_FORMAT_SAFETENSORS;
	bundle->kind = KIND(MODEL);
	wd_build_text(&build, &bundle->inner_name, "name");
	bundle->parameter_count = 1000;
	bundle->parameters_known = true;
	bundle->tensor_count = 10;
	make_digest(&bundle->encoding_digest, 1);
	make_digest(&bundle->settings_digest, 2);
	make_digest(&bundle->content_digest, 3);
	make_setting(&bundle->settings, &bundle->n_settings,
	    "bundle.attention.bits", "8");
	make_setting(
	    &bundle->settings, &bundle->n_settings, "bundle.model_type", "x");
	add_class(bundle, "attention", "F16", 4);
	add_class(bundle, "norm", "F16", 2);
	(void)add_file(bundle, "a.safetensors", 500);
	(void)add_file(bundle, "config.json", 30);
	return bundle;
}

static void
start(void)
{
	build = wd_build_init();
	a = make();
	b = make();
}

static void
compare(Weightd__V1__BundleDiff__Result result)
{
	ck_assert_int_eq(build.status, WD_OK);
	ck_assert_int_eq(wd_bundle_diff(a, b, &diff, NULL), WD_OK);
	ck_assert_int_eq(diff->result, result);
}

static void
stop(void)
{
	wd_message_free(a);
	wd_message_free(b);
	wd_message_free(diff);
	diff = NULL;
}

static void
check_row(const Weightd__V1__FactDifference *row, const char *field,
    const char *left, const char *right)
{
	ck_assert_str_eq(row->field, field);
	ck_assert_int_eq(row->a_presence_case != 0, left != NULL);
	ck_assert_int_eq(row->b_presence_case != 0, right != NULL);
	if (left != NULL)
		ck_assert_str_eq(row->a, left);
	if (right != NULL)
		ck_assert_str_eq(row->b, right);
}

START_TEST(equal_bundles_are_equal)
{
	start();
	compare(RESULT(EQUAL));
	ck_assert_uint_eq(diff->n_facts + diff->n_classes, 0);
	ck_assert_uint_eq(diff->n_settings + diff->n_files, 0);
	stop();
}
END_TEST

/* Design section 3: equal headers alone are no proof. */
START_TEST(unknown_content_is_not_equal)
{
	start();
	wd_build_digest(&build, &b->content_digest, NULL);
	compare(RESULT(HEADERS_EQUAL));
	ck_assert_uint_eq(diff->n_facts, 0);
	stop();
	start();
	wd_build_digest(&build, &a->content_digest, NULL);
	compare(RESULT(HEADERS_EQUAL));
	stop();
}
END_TEST

START_TEST(other_content_is_different)
{
	start();
	make_digest(&b->content_digest, 4);
	compare(RESULT(DIFFERENT));
	ck_assert_uint_eq(diff->n_facts, 1);
	ck_assert_str_eq(diff->facts[0]->field, "content_digest");
	stop();
}
END_TEST

START_TEST(incomplete_is_not_equal)
{
	start();
	b->incomplete = true;
	compare(RESULT(INCOMPLETE));
	ck_assert(diff->b_incomplete && !diff->a_incomplete);
	stop();
}
END_TEST

/* Two conversions that differ by a recipe: attention at 8 bits or 4. */
START_TEST(settings_are_told_by_key)
{
	start();
	wd_build_text(&build, &b->settings[0]->value, "4");
	make_setting(&a->settings, &a->n_settings, "bundle.z", "1");
	make_setting(&b->settings, &b->n_settings, "bundle.zz", "");
	compare(RESULT(DIFFERENT));
	ck_assert_uint_eq(diff->n_settings, 3);
	check_row(diff->settings[0], "bundle.attention.bits", "8", "4");
	check_row(diff->settings[1], "bundle.z", "1", NULL);
	check_row(diff->settings[2], "bundle.zz", NULL, "");
	stop();
}
END_TEST

START_TEST(classes_are_told_by_encoding)
{
	start();
	b->classes[0]->count->tensor_count = 3;
	wd_build_text(&build, &b->classes[1]->count->encoding, "F32");
	compare(RESULT(DIFFERENT));
	ck_assert_uint_eq(diff->n_classes, 3);
	ck_assert_str_eq(diff->classes[0]->tensor_class, "attention");
	ck_assert_uint_eq(diff->classes[0]->a_tensor_count, 4);
	ck_assert_uint_eq(diff->classes[0]->b_tensor_count, 3);
	ck_assert_str_eq(diff->classes[1]->encoding, "F16");
	ck_assert_uint_eq(diff->classes[1]->b_tensor_count, 0);
	ck_assert_str_eq(diff->classes[2]->encoding, "F32");
	ck_assert_uint_eq(diff->classes[2]->a_tensor_count, 0);
	stop();
}
END_TEST

/* The same rows in another order are the same rows. */
START_TEST(the_order_of_classes_does_not_matter)
{
	Weightd__V1__ClassCount *first;

	start();
	first = b->classes[0];
	b->classes[0] = b->classes[1];
	b->classes[1] = first;
	compare(RESULT(EQUAL));
	stop();
}
END_TEST

START_TEST(facts_are_told)
{
	start();
	b->parameter_count = 980;
	wd_build_text(&build, &b->inner_name, "");
	make_digest(&b->tokenizer_digest, 9);
	compare(RESULT(DIFFERENT));
	ck_assert_uint_eq(diff->n_facts, 3);
	check_row(diff->facts[0], "inner_name", "name", NULL);
	check_row(diff->facts[1], "parameter_count", "1000", "980");
	ck_assert_str_eq(diff->facts[2]->field, "tokenizer_digest");
	ck_assert_int_eq(diff->facts[2]->a_presence_case, 0);
	stop();
}
END_TEST

START_TEST(a_lower_bound_is_no_count)
{
	start();
	b->parameters_known = false;
	compare(RESULT(DIFFERENT));
	check_row(diff->facts[0], "parameter_count", "1000", "at least 1000");
	stop();
}
END_TEST

START_TEST(files_are_told)
{
	start();
	b->files[0]->size_bytes = 501;
	b->files[1]->present = false;
	(void)add_file(a, "d", 1);
	compare(RESULT(DIFFERENT));
	ck_assert_uint_eq(diff->n_files, 3);
	check_row(diff->files[0], "a.safetensors", "500 bytes", "501 bytes");
	check_row(diff->files[1], "config.json", "30 bytes", "missing");
	check_row(diff->files[2], "d", "1 bytes", NULL);
	stop();
}
END_TEST

START_TEST(a_file_that_nobody_hashed_does_not_differ)
{
	start();
	make_digest(&a->files[0]->sha256, 7);
	compare(RESULT(EQUAL));
	wd_message_free(diff);
	make_digest(&b->files[0]->sha256, 8);
	compare(RESULT(DIFFERENT));
	ck_assert_uint_eq(diff->n_files, 1);
	stop();
}
END_TEST

/* Renaming a single file, or all shards of a set, changes nothing. */
START_TEST(names_of_whole_bundles_do_not_differ)
{
	start();
	a->n_files = b->n_files = 1;
	a->single_file = b->single_file = true;
	wd_build_bytes(&build, &b->files[0]->name, wd_slice_text("other"));
	compare(RESULT(EQUAL));
	wd_message_free(diff);
	a->single_file = b->single_file = false;
	compare(RESULT(DIFFERENT));
	wd_message_free(diff);
	a->files[0]->shard = b->files[0]->shard = 1;
	compare(RESULT(EQUAL));
	a->n_files = b->n_files = 2;
	stop();
}
END_TEST

START_TEST(the_order_of_the_two_only_turns_the_sides)
{
	Weightd__V1__BundleDiff *back = NULL;

	start();
	wd_build_text(&build, &b->settings[0]->value, "4");
	compare(RESULT(DIFFERENT));
	ck_assert_int_eq(wd_bundle_diff(b, a, &back, NULL), WD_OK);
	ck_assert_uint_eq(back->n_settings, 1);
	ck_assert_str_eq(back->settings[0]->a, diff->settings[0]->b);
	wd_message_free(back);
	stop();
}
END_TEST

/* Rule 9: nothing that a file says reaches a terminal unescaped. */
START_TEST(text_is_safe_for_a_terminal)
{
	struct wd_buf out;
	char value[400];

	start();
	memset(value, 'v', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	wd_build_text(&build, &b->settings[0]->value, "\x1b[31m");
	wd_build_text(&build, &b->settings[1]->value, value);
	b->classes[0]->count->tensor_count = 3;
	b->incomplete = true;
	compare(RESULT(DIFFERENT));
	wd_buf_init(&out, 65536);
	ck_assert_int_eq(wd_show_bundle_diff(diff, false, &out), WD_OK);
	ck_assert_ptr_null(strchr(wd_buf_string(&out), '\x1b'));
	ck_assert_ptr_nonnull(strstr(
	    wd_buf_string(&out), "bundle.attention.bits: 8 -> \\x1b[31m\n"));
	ck_assert_ptr_nonnull(
	    strstr(wd_buf_string(&out), "attention F16: 4 -> 3"));
	ck_assert_ptr_nonnull(strstr(wd_buf_string(&out), "vvv...\n"));
	ck_assert_ptr_nonnull(strstr(wd_buf_string(&out), "INCOMPLETE"));
	wd_buf_release(&out);
	stop();
}
END_TEST

START_TEST(every_allocation_may_fail)
{
	enum wd_status st = WD_NOMEM;
	uint64_t step;

	start();
	wd_build_text(&build, &b->settings[0]->value, "4");
	b->classes[0]->count->tensor_count = 3;
	for (step = 0; st == WD_NOMEM; step++) {
		ck_assert_uint_lt(step, 1000);
		wd_mem_fail_after(step);
		st = wd_bundle_diff(a, b, &diff, NULL);
		wd_mem_fail_after(UINT64_MAX);
	}
	ck_assert_int_eq(st, WD_OK);
	ck_assert_uint_gt(step, 5);
	stop();
}
END_TEST

WD_SUITE_BEGIN("verdict bundle diff")
WD_TEST(equal_bundles_are_equal);
WD_TEST(unknown_content_is_not_equal);
WD_TEST(other_content_is_different);
WD_TEST(incomplete_is_not_equal);
WD_TEST(settings_are_told_by_key);
WD_TEST(classes_are_told_by_encoding);
WD_TEST(the_order_of_classes_does_not_matter);
WD_TEST(facts_are_told);
WD_TEST(a_lower_bound_is_no_count);
WD_TEST(files_are_told);
WD_TEST(a_file_that_nobody_hashed_does_not_differ);
WD_TEST(names_of_whole_bundles_do_not_differ);
WD_TEST(the_order_of_the_two_only_turns_the_sides);
WD_TEST(text_is_safe_for_a_terminal);
WD_TEST(every_allocation_may_fail);
WD_SUITE_END
