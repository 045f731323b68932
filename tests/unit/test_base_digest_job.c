/* base/digest_job.h: right bytes, changes, deadlines, and manners. */
#include "base/digest_job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "support/suite.h"
#include "support/tempdir.h"

static char dir[WD_TEMP_BYTES];

static void
set_up(void)
{
	wd_temp_make(dir);
}

static void
tear_down(void)
{
	wd_temp_remove(dir);
}

static uint8_t
byte_at(uint64_t at)
{
	return (uint8_t)(at * 2654435761U >> 13);
}

/* A file of `size` bytes, open for reading and writing, and its digest. */
static int
make_file(uint64_t size, struct wd_sha256 *digest)
{
	uint8_t *bytes = wd_calloc((size_t)size + 1, 1);
	int fd = open(
	    wd_temp_path(dir, "model.gguf"), O_RDWR | O_CREAT | O_TRUNC, 0600);
	uint64_t i;

	ck_assert_ptr_nonnull(bytes);
	for (i = 0; i < size; i++)
		bytes[i] = byte_at(i);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, bytes, (size_t)size, 0), (ssize_t)size);
	ck_assert_int_eq(
	    wd_sha256((struct wd_slice){ bytes, (size_t)size }, digest, NULL),
	    WD_OK);
	wd_free(bytes);
	return fd;
}

/* ---- manners that write down what is asked of them ----------------------- */

#define MOST_PAGES (16 * WD_JOB_BLOCK / 4096)

static size_t page_size;
static uint8_t cached_pages[MOST_PAGES]; /* what the "system" has cached */
static uint8_t dropped_pages[MOST_PAGES];
static uint8_t asked_pages[MOST_PAGES];
static uint8_t wanted_pages[MOST_PAGES];
static int read_ahead_calls, order_broken, idle_calls;
static bool read_ahead_on = true, tell = true;

static void
mark(uint8_t *pages, uint64_t offset, size_t len)
{
	size_t i;

	ck_assert_uint_eq(offset % page_size, 0);
	for (i = 0; i < (len + page_size - 1) / page_size; i++)
		pages[offset / page_size + i]++;
}

static bool
fake_cached(int fd, uint64_t offset, size_t len, uint8_t *pages)
{
	size_t i;

	(void)fd;
	for (i = 0; i < (len + page_size - 1) / page_size; i++) {
		/* After it was read nobody can tell any more. */
		if (wanted_pages[offset / page_size + i] != 0)
			order_broken++;
		pages[i] = cached_pages[offset / page_size + i];
	}
	mark(asked_pages, offset, len);
	return tell;
}

static void
fake_read_ahead(int fd, bool on)
{
	(void)fd;
	read_ahead_on = on;
	read_ahead_calls++;
}

static void
fake_will_need(int fd, uint64_t offset, size_t len)
{
	(void)fd;
	if (read_ahead_on)
		order_broken++;
	mark(wanted_pages, offset, len);
}

static void
fake_drop(int fd, uint64_t offset, size_t len)
{
	(void)fd;
	mark(dropped_pages, offset, len);
}

static void
fake_be_idle(void)
{
	idle_calls++;
}

static const struct wd_io_manners fake = { fake_cached, fake_read_ahead,
	fake_will_need, fake_drop, fake_be_idle };

static void
use_fake(void)
{
	page_size = (size_t)sysconf(_SC_PAGESIZE);
}

/* ---- bytes --------------------------------------------------------------- */

static const uint64_t sizes[] = { 0, 1, 4095, 4096, 128 << 10, (128 << 10) + 1,
	WD_JOB_BLOCK - 1, WD_JOB_BLOCK, WD_JOB_BLOCK + 1,
	WD_JOB_AHEAD *WD_JOB_BLOCK, 7 * WD_JOB_BLOCK + 12345 };

START_TEST(the_digest_is_right)
{
	static const struct wd_digest_manner idle = { .idle_class = true };
	struct wd_sha256 want, plain, polite, lazy;
	int fd = make_file(sizes[_i], &want);

	use_fake();
	/* The position of the descriptor does not matter, and stays. */
	ck_assert_int_eq(lseek(fd, 77, SEEK_SET), 77);
	ck_assert_int_eq(wd_digest_job(fd, NULL, NULL, &plain, NULL), WD_OK);
	ck_assert_int_eq(wd_digest_job(fd, &fake, NULL, &polite, NULL), WD_OK);
	ck_assert_int_eq(idle_calls, 0);
	ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), 77);
	ck_assert(wd_sha256_equal(&plain, &want));
	ck_assert(wd_sha256_equal(&polite, &want));
	ck_assert_int_eq(wd_digest_job(fd, NULL, &idle, &lazy, NULL), WD_OK);
	ck_assert(wd_sha256_equal(&lazy, &want));
	ck_assert_int_eq(close(fd), 0);
}
END_TEST

START_TEST(only_a_regular_file_is_hashed)
{
	struct wd_sha256 digest;
	int ends[2];
	int folder = open(dir, O_RDONLY | O_DIRECTORY);

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(
	    wd_digest_job(ends[0], NULL, NULL, &digest, NULL), WD_INVALID);
	ck_assert_int_eq(
	    wd_digest_job(folder, NULL, NULL, &digest, NULL), WD_INVALID);
	ck_assert_int_eq(wd_digest_job(-1, NULL, NULL, &digest, NULL), WD_IO);
	(void)close(ends[0]);
	(void)close(ends[1]);
	(void)close(folder);
}
END_TEST

START_TEST(a_descriptor_that_cannot_be_read)
{
	struct wd_sha256 digest;
	struct wd_error err;
	int fd;

	(void)close(make_file(100, &digest));
	fd = open(wd_temp_path(dir, "model.gguf"), O_WRONLY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(wd_digest_job(fd, NULL, NULL, &digest, &err), WD_IO);
	ck_assert_int_eq(err.os_errno, EBADF);
	(void)close(fd);
}
END_TEST

/* ---- stopping and changing ----------------------------------------------- */

struct meddler {
	int fd;
	uint64_t at;
	off_t new_size; /* -1: say stop */
	uint64_t calls, last_done;
	bool backwards;
};

static bool
meddle(void *ctx, uint64_t done)
{
	struct meddler *meddler = ctx;

	meddler->calls++;
	meddler->backwards |= done < meddler->last_done;
	meddler->last_done = done;
	if (done < meddler->at)
		return true;
	if (meddler->new_size < 0)
		return false;
	return ftruncate(meddler->fd, meddler->new_size) == 0;
}

static const struct {
	uint64_t at;
	off_t new_size;
	enum wd_status status;
} changes[] = {
	{ WD_JOB_BLOCK, 2 * WD_JOB_BLOCK, WD_CHANGED },
	{ WD_JOB_BLOCK, 2 * WD_JOB_BLOCK + 5, WD_CHANGED },
	{ WD_JOB_BLOCK, 0, WD_CHANGED },
	/* All was read already: shorter or longer is a change all the same. */
	{ 5 * WD_JOB_BLOCK, 5 * WD_JOB_BLOCK - 1, WD_CHANGED },
	{ 5 * WD_JOB_BLOCK, 5 * WD_JOB_BLOCK + 1, WD_CHANGED },
	{ 0, 6 * WD_JOB_BLOCK, WD_CHANGED },
	{ 0, 5 * WD_JOB_BLOCK, WD_OK },
	{ 0, -1, WD_TIMEDOUT },
	{ 1, -1, WD_TIMEDOUT },
	{ 4 * WD_JOB_BLOCK, -1, WD_TIMEDOUT },
};

START_TEST(in_the_middle_of_it)
{
	struct wd_sha256 want, digest, before;
	struct meddler meddler = { .at = changes[_i].at,
		.new_size = changes[_i].new_size };
	struct wd_digest_manner manner = { .go_on = meddle,
		.go_on_ctx = &meddler };
	struct wd_error err;
	uint64_t page;

	use_fake();
	wd_error_init(&err);
	memset(&digest, 7, sizeof(digest));
	before = digest;
	meddler.fd = make_file(5 * WD_JOB_BLOCK, &want);
	ck_assert_int_eq(
	    wd_digest_job(meddler.fd, &fake, &manner, &digest, &err),
	    changes[_i].status);
	ck_assert(!meddler.backwards);
	if (changes[_i].status == WD_OK) {
		ck_assert(wd_sha256_equal(&digest, &want));
		ck_assert_uint_ge(meddler.calls, 5);
	} else {
		ck_assert(wd_sha256_equal(&digest, &before));
		ck_assert_uint_gt(strlen(err.message), 0);
	}
	/* What was brought in is gone, also after a failure. */
	for (page = 0; page < MOST_PAGES; page++)
		ck_assert_uint_eq(dropped_pages[page], wanted_pages[page]);
	ck_assert(read_ahead_on);
	(void)close(meddler.fd);
}
END_TEST

static int64_t fake_now_ns;

static int64_t
fake_now(void *ctx)
{
	(void)ctx;
	return fake_now_ns += 10;
}

START_TEST(the_deadline_ends_it)
{
	static const struct wd_clock clock = { fake_now, fake_now, NULL };
	struct wd_deadline deadline = { &clock, 35 };
	struct wd_digest_manner manner = { .deadline = &deadline };
	struct wd_sha256 want, digest;
	struct wd_error err;
	int fd = make_file(5 * WD_JOB_BLOCK, &want);

	ck_assert_int_eq(
	    wd_digest_job(fd, NULL, &manner, &digest, &err), WD_TIMEDOUT);
	ck_assert_ptr_nonnull(strstr(err.message, "of 5242880 bytes"));
	deadline.at_boot_ns = INT64_MAX;
	ck_assert_int_eq(
	    wd_digest_job(fd, NULL, &manner, &digest, NULL), WD_OK);
	ck_assert(wd_sha256_equal(&digest, &want));
	(void)close(fd);
}
END_TEST

/* At 4 MiB/s the job of 3 MiB takes 0.75 s at least; a rate that would need
 * centuries ends at the deadline all the same. */
START_TEST(the_rate_is_kept)
{
	struct wd_digest_manner manner = { .max_bytes_per_second =
					       4 * WD_JOB_BLOCK };
	int64_t began = wd_clock_boot_ns(&wd_clock_system);
	struct wd_deadline deadline;
	struct wd_sha256 want, digest;
	int fd = make_file(3 * WD_JOB_BLOCK, &want);

	ck_assert_int_eq(
	    wd_digest_job(fd, NULL, &manner, &digest, NULL), WD_OK);
	ck_assert(wd_sha256_equal(&digest, &want));
	ck_assert_int_ge(
	    wd_clock_boot_ns(&wd_clock_system) - began, 750 * WD_NS_PER_MS);
	deadline = wd_deadline_in(&wd_clock_system, 200);
	manner.deadline = &deadline;
	manner.max_bytes_per_second = 1;
	ck_assert_int_eq(
	    wd_digest_job(fd, NULL, &manner, &digest, NULL), WD_TIMEDOUT);
	(void)close(fd);
}
END_TEST

/* ---- manners ------------------------------------------------------------- */

/* Every page is asked about once, before it is read ahead; what was not there
 * is dropped, what was there is not. */
START_TEST(the_page_cache_is_left_as_found)
{
	const uint64_t size = 6 * WD_JOB_BLOCK + 5000;
	struct wd_sha256 want, digest;
	uint64_t page, pages;
	int fd;

	use_fake();
	pages = (size + page_size - 1) / page_size;
	for (page = 0; page < pages; page++)
		cached_pages[page] = page % 7 == 3 || page / 256 == 2;
	fd = make_file(size, &want);
	ck_assert_int_eq(wd_digest_job(fd, &fake, NULL, &digest, NULL), WD_OK);
	ck_assert(wd_sha256_equal(&digest, &want));
	ck_assert_int_eq(order_broken, 0);
	ck_assert_int_eq(read_ahead_calls, 2);
	ck_assert(read_ahead_on);
	for (page = 0; page < MOST_PAGES; page++) {
		ck_assert_uint_eq(asked_pages[page], page < pages);
		ck_assert_uint_eq(wanted_pages[page], page < pages);
		ck_assert_uint_eq(dropped_pages[page],
		    page < pages && cached_pages[page] == 0);
	}
	(void)close(fd);
}
END_TEST

/* Who cannot tell what was cached must not drop anything. */
START_TEST(nothing_is_dropped_on_a_guess)
{
	struct wd_sha256 want, digest;
	int fd = make_file(3 * WD_JOB_BLOCK, &want);
	uint64_t page;

	use_fake();
	tell = false;
	ck_assert_int_eq(wd_digest_job(fd, &fake, NULL, &digest, NULL), WD_OK);
	ck_assert(wd_sha256_equal(&digest, &want));
	for (page = 0; page < MOST_PAGES; page++)
		ck_assert_uint_eq(dropped_pages[page], 0);
	(void)close(fd);
}
END_TEST

/* Never more than a few MiB are in the cache because of us. */
static uint64_t most_ahead;

static bool
watch_ahead(void *ctx, uint64_t done)
{
	uint64_t page, held = 0;

	(void)ctx;
	(void)done;
	for (page = 0; page < MOST_PAGES; page++)
		held += wanted_pages[page] > dropped_pages[page];
	if (held * page_size > most_ahead)
		most_ahead = held * page_size;
	return true;
}

START_TEST(the_window_is_small)
{
	struct wd_digest_manner manner = { .go_on = watch_ahead };
	struct wd_sha256 want, digest;
	int fd = make_file(12 * WD_JOB_BLOCK, &want);

	use_fake();
	ck_assert_int_eq(
	    wd_digest_job(fd, &fake, &manner, &digest, NULL), WD_OK);
	ck_assert_uint_le(most_ahead, WD_JOB_AHEAD * WD_JOB_BLOCK);
	ck_assert_uint_ge(most_ahead, WD_JOB_BLOCK);
	(void)close(fd);
}
END_TEST

START_TEST(idle_only_when_asked)
{
	struct wd_digest_manner manner = { .idle_class = true };
	struct wd_sha256 want, digest;
	int fd = make_file(100, &want);

	use_fake();
	ck_assert_int_eq(
	    wd_digest_job(fd, &fake, &manner, &digest, NULL), WD_OK);
	ck_assert_int_eq(idle_calls, 1);
	manner.idle_class = false;
	ck_assert_int_eq(
	    wd_digest_job(fd, &fake, &manner, &digest, NULL), WD_OK);
	ck_assert_int_eq(idle_calls, 1);
	(void)close(fd);
}
END_TEST

START_TEST(no_memory_is_a_status)
{
	enum wd_status st = WD_NOMEM;
	struct wd_sha256 want, digest;
	int fd = make_file(100, &want);
	uint64_t n;

	use_fake();
	for (n = 0; st != WD_OK; n++) {
		wd_mem_fail_after(n);
		st = wd_digest_job(fd, &fake, NULL, &digest, NULL);
		wd_mem_fail_after(UINT64_MAX);
		if (st != WD_OK)
			ck_assert_int_eq(st, WD_NOMEM);
	}
	ck_assert_uint_ge(n, 4);
	(void)close(fd);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("base digest_job");
	TCase *tcase = tcase_create("base digest_job");
	SRunner *runner;
	int failed;

	wd_temp_begin();
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	suite_add_tcase(suite, tcase);
	WD_LOOP(the_digest_is_right, sizes);
	WD_TEST(only_a_regular_file_is_hashed);
	WD_TEST(a_descriptor_that_cannot_be_read);
	WD_LOOP(in_the_middle_of_it, changes);
	WD_TEST(the_deadline_ends_it);
	WD_TEST(the_rate_is_kept);
	WD_TEST(the_page_cache_is_left_as_found);
	WD_TEST(nothing_is_dropped_on_a_guess);
	WD_TEST(the_window_is_small);
	WD_TEST(idle_only_when_asked);
	WD_TEST(no_memory_is_a_status);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	wd_temp_end();
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
