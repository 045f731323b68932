/* wire/build.h: messages made piece by piece, also when memory runs out. */
#include "wire/build.h"

#include <string.h>

#include "base/escape.h"
#include "base/mem.h"
#include "support/suite.h"
#include "weightd/v1/attestation.pb-c.h"

static const struct {
	const char *bytes;
	size_t len;
	const char *text;
} texts[] = {
	{ "", 0, "" },
	{ "plain", 5, "plain" },
	{ "a\0b", 3,
	    "a\xef\xbf\xbd"
	    "b" },
	{ "\xff\xfe.gguf", 7, "\xef\xbf\xbd\xef\xbf\xbd.gguf" },
	{ "\xc3\xbc", 2, "\xc3\xbc" },
	{ "\x1b[2J", 4, "\x1b[2J" },
};

START_TEST(strings_are_utf8_without_nul)
{
	struct wd_build build = wd_build_init();
	Weightd__V1__Bundle *bundle =
	    wd_build_new(&build, &weightd__v1__bundle__descriptor);
	struct wd_slice bytes = { (const uint8_t *)texts[_i].bytes,
		texts[_i].len };

	wd_build_text(&build, &bundle->inner_name, "to be replaced");
	wd_build_slice(&build, &bundle->inner_name, bytes);
	ck_assert_int_eq(build.status, WD_OK);
	ck_assert_str_eq(bundle->inner_name, texts[_i].text);
	ck_assert(wd_utf8_valid(wd_slice_text(bundle->inner_name)));
	wd_message_free(bundle);
}
END_TEST

START_TEST(null_and_empty_texts)
{
	struct wd_build build = wd_build_init();
	Weightd__V1__Bundle *bundle =
	    wd_build_new(&build, &weightd__v1__bundle__descriptor);

	wd_build_text(&build, &bundle->inner_name, NULL);
	ck_assert_str_eq(bundle->inner_name, "");
	wd_build_printf(&build, &bundle->architecture, "%s-%d", "a\xff", 7);
	ck_assert_str_eq(bundle->architecture, "a\xef\xbf\xbd-7");
	wd_message_free(bundle);
	wd_message_free(NULL);
}
END_TEST

static const struct {
	int64_t real_ns;
	int64_t seconds;
	int32_t nanos;
} times[] = {
	{ 0, 0, 0 },
	{ 1, 0, 1 },
	{ -1, -1, 999999999 },
	{ -1000000000, -1, 0 },
	{ 1500000000, 1, 500000000 },
	{ INT64_MAX, 9223372036, 854775807 },
	{ INT64_MIN, -9223372037, 145224192 },
};

START_TEST(times_count_nanoseconds_forward)
{
	struct wd_build build = wd_build_init();
	Weightd__V1__Attestation *all =
	    wd_build_new(&build, &weightd__v1__attestation__descriptor);

	wd_build_time(&build, &all->started_at, 5);
	wd_build_time(&build, &all->started_at, times[_i].real_ns);
	ck_assert_int_eq(all->started_at->seconds, times[_i].seconds);
	ck_assert_int_eq(all->started_at->nanos, times[_i].nanos);
	wd_message_free(all);
}
END_TEST

START_TEST(digests_go_in_and_out)
{
	struct wd_build build = wd_build_init();
	Weightd__V1__Bundle *bundle =
	    wd_build_new(&build, &weightd__v1__bundle__descriptor);
	struct wd_sha256 digest, seen = { { 0 } };

	memset(digest.bytes, 0xab, sizeof(digest.bytes));
	ck_assert(!wd_message_digest(NULL, &seen));
	wd_build_digest(&build, &bundle->content_digest, &digest);
	wd_build_digest(&build, &bundle->content_digest, &digest);
	ck_assert(wd_message_digest(bundle->content_digest, &seen));
	ck_assert(wd_sha256_equal(&seen, &digest));
	bundle->content_digest->value.len--;
	ck_assert(!wd_message_digest(bundle->content_digest, &seen));
	bundle->content_digest->value.len++;
	bundle->content_digest->algorithm =
	    WEIGHTD__V1__DIGEST_ALGORITHM__DIGEST_ALGORITHM_UNSPECIFIED;
	ck_assert(!wd_message_digest(bundle->content_digest, &seen));
	wd_build_digest(&build, &bundle->content_digest, NULL);
	ck_assert_ptr_null(bundle->content_digest);
	wd_message_free(bundle);
}
END_TEST

/* A message with every kind of list, twice packed and unpacked. */
static Weightd__V1__Attestation *
make_lists(struct wd_build *build)
{
	Weightd__V1__Attestation *all =
	    wd_build_new(build, &weightd__v1__attestation__descriptor);
	Weightd__V1__Process *process;
	Weightd__V1__Group *group;
	int i;

	if (all == NULL)
		return NULL;
	for (i = 0; i < 5; i++) {
		process = WD_BUILD_ADD(
		    build, all, processes, &weightd__v1__process__descriptor);
		group = WD_BUILD_ADD(
		    build, all, groups, &weightd__v1__group__descriptor);
		if (process == NULL || group == NULL)
			break;
		wd_build_add_bytes(build, &process->n_argv, &process->argv,
		    (struct wd_slice){ (const uint8_t *)"\0\xff", 2 });
		wd_build_bytes(
		    build, &process->comm, wd_slice_text("llama-server"));
		WD_BUILD_PUSH(build, group, pids, i);
		WD_BUILD_PUSH(
		    build, all, moved, WEIGHTD__V1__MOVED__MOVED_OWNERS);
		wd_build_printf(build, &process->unit, "unit-%d", i);
		wd_build_text(build, &process->container, "c\xff");
		wd_build_time(build, &all->ended_at, i);
	}
	return all;
}

START_TEST(lists_survive_the_wire_and_grow_on)
{
	struct wd_build build = wd_build_init();
	Weightd__V1__Attestation *all = make_lists(&build), *again;
	uint8_t bytes[1024];
	size_t len = weightd__v1__attestation__get_packed_size(all);

	ck_assert_uint_eq(all->n_processes, 5);
	ck_assert_uint_le(len, sizeof(bytes));
	ck_assert_uint_eq(weightd__v1__attestation__pack(all, bytes), len);
	again = weightd__v1__attestation__unpack(NULL, len, bytes);
	ck_assert_ptr_nonnull(again);
	ck_assert_uint_eq(again->n_groups, 5);
	ck_assert_int_eq(again->groups[4]->pids[0], 4);
	ck_assert_uint_eq(again->processes[4]->argv[0].len, 2);
	/* an unpacked array has no room to spare */
	for (len = 0; len < 100; len++)
		WD_BUILD_PUSH(
		    &build, again, moved, WEIGHTD__V1__MOVED__MOVED_FILES);
	ck_assert_uint_eq(again->n_moved, 105);
	wd_message_free(again);
	wd_message_free(all);
}
END_TEST

START_TEST(a_failed_builder_does_nothing_more)
{
	struct wd_build build = { WD_NOMEM };
	char *text = NULL;
	size_t count = 0;
	void **items = NULL;

	ck_assert_ptr_null(
	    wd_build_new(&build, &weightd__v1__bundle__descriptor));
	wd_build_text(&build, &text, "x");
	wd_build_printf(&build, &text, "x");
	ck_assert_ptr_null(text);
	ck_assert_ptr_null(wd_build_add(
	    &build, &count, &items, &weightd__v1__bundle__descriptor));
	ck_assert_uint_eq(count, 0);
	ck_assert_ptr_null(items);
}
END_TEST

START_TEST(a_failing_allocation_leaves_a_message_that_can_be_freed)
{
	uint64_t n;

	for (n = 0; n < 1000; n++) {
		struct wd_build build = wd_build_init();
		Weightd__V1__Attestation *all;

		wd_mem_fail_after(n);
		all = make_lists(&build);
		wd_mem_fail_after(UINT64_MAX);
		wd_message_free(all);
		if (build.status == WD_OK)
			break;
		ck_assert_int_eq(build.status, WD_NOMEM);
	}
	ck_assert_uint_gt(n, 40);
	ck_assert_uint_lt(n, 1000);
}
END_TEST

WD_SUITE_BEGIN("wire build")
WD_LOOP(strings_are_utf8_without_nul, texts);
WD_TEST(null_and_empty_texts);
WD_LOOP(times_count_nanoseconds_forward, times);
WD_TEST(digests_go_in_and_out);
WD_TEST(lists_survive_the_wire_and_grow_on);
WD_TEST(a_failed_builder_does_nothing_more);
WD_TEST(a_failing_allocation_leaves_a_message_that_can_be_freed);
WD_SUITE_END
