/* reader.h in this process: descriptors in, facts out, nothing opened by
 * name but through the caller. */
#include "seam/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "support/bundle_make.h"
#include "support/suite.h"
#include "support/tempdir.h"

static char dir[WD_TEMP_BYTES];
static struct wd_reader *reader;

static void
set_up(void)
{
	wd_temp_make(dir);
	ck_assert_int_eq(wd_reader_in_process(NULL, &reader, NULL), WD_OK);
}

static void
tear_down(void)
{
	wd_reader_free(&reader);
	wd_temp_remove(dir);
}

/* Writes shard `number` of `of` (0: a single file) of a model. */
static int
make_shard(const char *name, unsigned number, unsigned of)
{
	static const uint64_t dims[] = { 32, 2 };
	struct make_gguf gguf;
	struct wd_buf file;
	char tensor[32];

	make_gguf_init(&gguf);
	wd_buf_init(&file, 1U << 20);
	make_gguf_string(&gguf, "general.architecture", "llama");
	if (of > 0) {
		make_gguf_number(&gguf, "split.no", MAKE_U16, number - 1);
		make_gguf_number(&gguf, "split.count", MAKE_U16, of);
		make_gguf_number(&gguf, "split.tensors.count", MAKE_I32, of);
	}
	(void)snprintf(tensor, sizeof(tensor), "blk.%u.weight", number);
	ck_assert(make_gguf_tensor(&gguf, tensor, "F16", dims, 2));
	ck_assert_int_eq(make_gguf_file(&gguf, number, &file), WD_OK);
	wd_temp_write(wd_temp_path(dir, name), file.data, file.len);
	wd_buf_release(&file);
	make_gguf_release(&gguf);
	return open(wd_temp_path(dir, name), O_RDONLY | O_CLOEXEC);
}

START_TEST(sniffing_goes_by_content)
{
	enum wd_bundle_format format = WD_FORMAT_SAFETENSORS;
	int fd = make_shard("model.txt", 1, 0), ends[2];

	ck_assert_int_eq(wd_reader_sniff(reader, fd, &format, NULL), WD_OK);
	ck_assert_int_eq(format, WD_FORMAT_GGUF);
	(void)close(fd);
	wd_temp_write(wd_temp_path(dir, "x.gguf"), "text", 4);
	fd = open(wd_temp_path(dir, "x.gguf"), O_RDONLY);
	ck_assert_int_eq(wd_reader_sniff(reader, fd, &format, NULL), WD_OK);
	ck_assert_int_eq(format, WD_FORMAT_UNKNOWN);
	(void)close(fd);
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(
	    wd_reader_sniff(reader, ends[0], &format, NULL), WD_INVALID);
	ck_assert_int_eq(wd_reader_sniff(reader, -1, &format, NULL), WD_IO);
}
END_TEST

START_TEST(a_list_of_names)
{
	WD_CLEANUP(wd_listing_release) struct wd_listing listing;
	int ends[2], fd;

	wd_temp_write(wd_temp_path(dir, "main"), "0123\n", 5);
	fd = open(wd_temp_path(dir, "main"), O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(
	    wd_reader_names(reader, fd, WD_LISTING_REF, &listing, NULL), WD_OK);
	ck_assert_uint_eq(listing.count, 1);
	wd_listing_release(&listing);
	(void)close(fd);
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(
	    wd_reader_names(reader, ends[0], WD_LISTING_REF, &listing, NULL),
	    WD_INVALID);
	ck_assert_uint_eq(listing.count, 0);
}
END_TEST

START_TEST(a_file_alone)
{
	WD_CLEANUP(wd_bundle_free) struct wd_bundle *bundle = NULL;
	int fd = make_shard("m.gguf", 1, 0);

	ck_assert_int_eq(wd_reader_describe(reader, fd, wd_slice_text("m.gguf"),
			     NULL, NULL, &bundle, NULL),
	    WD_OK);
	ck_assert_uint_eq(bundle->parameter_count, 64);
	ck_assert(!bundle->incomplete);
	(void)close(fd);
}
END_TEST

/* Siblings over `dir` that write down what they were asked for. */
struct asked {
	int fds[16];
	size_t opens;
	enum wd_status answer; /* WD_OK: open for real */
	const struct wd_deadline *deadline;
};

static enum wd_status
open_sibling(void *ctx, struct wd_slice name, int *fd, struct wd_error *err)
{
	struct asked *asked = ctx;
	char text[300];

	ck_assert(wd_folder_name_allowed(name));
	if (asked->answer != WD_OK)
		return wd_fail(err, asked->answer, "as the test says");
	ck_assert_uint_lt(asked->opens, WD_COUNT(asked->fds));
	(void)snprintf(
	    text, sizeof(text), "%.*s", (int)name.len, (const char *)name.data);
	*fd = open(wd_temp_path(dir, text), O_RDONLY | O_NONBLOCK);
	if (*fd < 0)
		return wd_fail(err, WD_NOTFOUND, "not there");
	asked->fds[asked->opens++] = *fd;
	return WD_OK;
}

static enum wd_status
list_siblings(void *ctx, bool (*each)(void *each_ctx, struct wd_slice name),
    void *each_ctx, struct wd_error *err)
{
	static const char *const names[] = { "m-00001-of-00002.gguf",
		"m-00002-of-00002.gguf" };
	struct asked *asked = ctx;
	size_t i;

	if (asked->answer != WD_OK)
		return wd_fail(err, asked->answer, "as the test says");
	for (i = 0; i < WD_COUNT(names); i++)
		if (!each(each_ctx, wd_slice_text(names[i])))
			break;
	return WD_OK;
}

static enum wd_status
describe_first(struct asked *asked, int fd, struct wd_bundle **bundle)
{
	struct wd_siblings siblings = { open_sibling, list_siblings, asked };

	return wd_reader_describe(reader, fd,
	    wd_slice_text("m-00001-of-00002.gguf"), &siblings, asked->deadline,
	    bundle, NULL);
}

/* The second shard comes through the caller, whose descriptor stays open. */
START_TEST(a_split_set)
{
	WD_CLEANUP(wd_bundle_free) struct wd_bundle *bundle = NULL;
	int first = make_shard("m-00001-of-00002.gguf", 1, 2);
	struct asked asked = { .opens = 0 };
	size_t i;

	(void)close(make_shard("m-00002-of-00002.gguf", 2, 2));
	ck_assert_int_eq(describe_first(&asked, first, &bundle), WD_OK);
	ck_assert_uint_eq(bundle->parameter_count, 128);
	ck_assert_uint_eq(bundle->file_count, 2);
	ck_assert(!bundle->incomplete);
	ck_assert_uint_ge(asked.opens, 1);
	for (i = 0; i < asked.opens; i++)
		ck_assert_int_eq(close(asked.fds[i]), 0);
	ck_assert_int_eq(close(first), 0);
}
END_TEST

START_TEST(a_sibling_that_is_no_file)
{
	WD_CLEANUP(wd_bundle_free) struct wd_bundle *bundle = NULL;
	int first = make_shard("m-00001-of-00002.gguf", 1, 2);
	struct asked asked = { .opens = 0 };

	ck_assert_int_eq(
	    mkfifo(wd_temp_path(dir, "m-00002-of-00002.gguf"), 0600), 0);
	ck_assert_int_eq(describe_first(&asked, first, &bundle), WD_OK);
	ck_assert(bundle->incomplete);
}
END_TEST

START_TEST(a_folder_that_cannot_be_looked_at)
{
	WD_CLEANUP(wd_bundle_free) struct wd_bundle *bundle = NULL;
	int first = make_shard("m-00001-of-00002.gguf", 1, 2);
	struct asked asked = { .answer = WD_DENIED };

	ck_assert_int_eq(describe_first(&asked, first, &bundle), WD_OK);
	ck_assert(bundle->incomplete);
}
END_TEST

/* A clock that goes on by one tick for each look at it. */
static int64_t ticks;

static int64_t
tick(void *ctx)
{
	(void)ctx;
	return ++ticks;
}

static const struct wd_clock ticking = { tick, tick, NULL };

/* A GGUF whose header has an array of 4 MiB: 64 windows to read. */
static int
make_long_header(void)
{
	static uint8_t zeros[1 << 16];
	static const uint8_t start[] = { 'G', 'G', 'U', 'F', 3, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0,
		0, 'k', 9, 0, 0, 0, 7, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0 };
	int fd = open(wd_temp_path(dir, "long.gguf"), O_RDWR | O_CREAT, 0600);
	size_t i;

	ck_assert_int_eq(write(fd, start, sizeof(start)), sizeof(start));
	for (i = 0; i < 64; i++)
		ck_assert_int_eq(
		    write(fd, zeros, sizeof(zeros)), sizeof(zeros));
	return fd;
}

START_TEST(a_long_header_ends_at_the_deadline)
{
	WD_CLEANUP(wd_bundle_free) struct wd_bundle *bundle = NULL;
	struct wd_deadline deadline = { &ticking, INT64_MAX };
	struct wd_slice name = wd_slice_text("long.gguf");
	struct wd_error err;
	int fd = make_long_header();

	ticks = 0;
	ck_assert_int_eq(wd_reader_describe(
			     reader, fd, name, NULL, &deadline, &bundle, NULL),
	    WD_OK);
	ck_assert_int_ge(ticks, 64);
	wd_bundle_free(&bundle);
	ticks = 0;
	deadline.at_boot_ns = 10;
	ck_assert_int_eq(wd_reader_describe(
			     reader, fd, name, NULL, &deadline, &bundle, &err),
	    WD_TIMEDOUT);
	ck_assert_int_le(ticks, 12);
	ck_assert_ptr_nonnull(strstr(err.message, "deadline"));
	ck_assert_ptr_null(bundle);
	(void)close(fd);
}
END_TEST

/* Wherever it passes, nothing is said: a shard that was not read for want of
 * time is not a shard that is missing. */
START_TEST(a_set_is_described_whole_or_not_at_all)
{
	struct wd_deadline deadline = { &ticking, INT64_MAX };
	int first = make_shard("m-00001-of-00002.gguf", 1, 2);
	enum wd_status st = WD_TIMEDOUT;
	int64_t at;

	(void)close(make_shard("m-00002-of-00002.gguf", 2, 2));
	for (at = 1; at < 100 && st == WD_TIMEDOUT; at++) {
		WD_CLEANUP(wd_bundle_free) struct wd_bundle *bundle = NULL;
		struct asked asked = { .deadline = &deadline };

		ticks = 0;
		deadline.at_boot_ns = at;
		st = describe_first(&asked, first, &bundle);
		ck_assert_int_eq(st == WD_OK, bundle != NULL);
		if (st == WD_OK)
			ck_assert(!bundle->incomplete);
		while (asked.opens > 0)
			(void)close(asked.fds[--asked.opens]);
	}
	ck_assert_int_eq(st, WD_OK);
	ck_assert_int_gt(at, 4);
	(void)close(first);
}
END_TEST

static int manners_used;

static void
note_drop(int fd, uint64_t offset, size_t len)
{
	(void)fd;
	(void)offset;
	(void)len;
	manners_used++;
}

static bool
nothing_cached(int fd, uint64_t offset, size_t len, uint8_t *pages)
{
	(void)fd;
	(void)offset;
	memset(pages, 0, len / (size_t)sysconf(_SC_PAGESIZE));
	return true;
}

START_TEST(digests_use_the_manners)
{
	static const struct wd_io_manners manners = { .cached = nothing_cached,
		.drop = note_drop };
	struct wd_reader *polite = NULL;
	struct wd_sha256 digest, want;
	int fd;

	wd_temp_write(wd_temp_path(dir, "f"), "abc", 3);
	fd = open(wd_temp_path(dir, "f"), O_RDONLY);
	ck_assert_int_eq(wd_sha256(wd_slice_text("abc"), &want, NULL), WD_OK);
	ck_assert_int_eq(wd_reader_in_process(&manners, &polite, NULL), WD_OK);
	ck_assert_int_eq(
	    wd_reader_digest(polite, fd, NULL, &digest, NULL), WD_OK);
	ck_assert(wd_sha256_equal(&digest, &want));
	ck_assert_int_eq(manners_used, 1);
	wd_reader_free(&polite);
	ck_assert_ptr_null(polite);
	wd_reader_free(&polite);
	(void)close(fd);
}
END_TEST

START_TEST(no_memory_is_a_status)
{
	struct wd_reader *none = NULL;

	wd_mem_fail_after(0);
	ck_assert_int_eq(wd_reader_in_process(NULL, &none, NULL), WD_NOMEM);
	wd_mem_fail_after(UINT64_MAX);
	ck_assert_ptr_null(none);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("seam reader");
	TCase *tcase = tcase_create("seam reader");
	SRunner *runner;
	int failed;

	wd_temp_begin();
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	suite_add_tcase(suite, tcase);
	WD_TEST(sniffing_goes_by_content);
	WD_TEST(a_list_of_names);
	WD_TEST(a_file_alone);
	WD_TEST(a_split_set);
	WD_TEST(a_sibling_that_is_no_file);
	WD_TEST(a_folder_that_cannot_be_looked_at);
	WD_TEST(a_long_header_ends_at_the_deadline);
	WD_TEST(a_set_is_described_whole_or_not_at_all);
	WD_TEST(digests_use_the_manners);
	WD_TEST(no_memory_is_a_status);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	wd_temp_end();
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
