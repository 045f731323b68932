/* host/manners/ on Linux, with the real page cache (field report E7). */
#include "host/manners/manners.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/digest_job.h"
#include "support/suite.h"
#include "support/tempdir.h"

#define PAGES 2048

static char dir[WD_TEMP_BYTES];
static size_t page;
static uint8_t block[1 << 16];

/* A file on a disk, written out, whose first half is then cached. */
static int
make_half_cached(void)
{
	int fd = open(wd_temp_path(dir, "m.gguf"), O_RDWR | O_CREAT, 0600);
	size_t done;

	page = (size_t)sysconf(_SC_PAGESIZE);
	ck_assert_int_ge(fd, 0);
	memset(block, 'w', sizeof(block));
	for (done = 0; done < PAGES * page; done += sizeof(block))
		ck_assert_int_eq(
		    write(fd, block, sizeof(block)), sizeof(block));
	ck_assert_int_eq(fsync(fd), 0);
	ck_assert_int_eq(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
	ck_assert_int_eq(posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM), 0);
	for (done = 0; done < PAGES / 2 * page; done += sizeof(block))
		ck_assert_int_eq(pread(fd, block, sizeof(block), (off_t)done),
		    sizeof(block));
	return fd;
}

/* Counts by mincore, the other witness. */
static size_t
count_cached(int fd, size_t first, size_t count)
{
	static unsigned char seen[PAGES];
	size_t i, found = 0;
	void *view = mmap(NULL, count * page, PROT_NONE, MAP_SHARED, fd,
	    (off_t)(first * page));

	ck_assert(view != MAP_FAILED);
	ck_assert_int_eq(mincore(view, count * page, seen), 0);
	(void)munmap(view, count * page);
	for (i = 0; i < count; i++)
		found += seen[i] & 1;
	return found;
}

/* tmpfs has nothing but the page cache. */
static bool
is_tmpfs(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == 0x01021994;
}

START_TEST(hashing_leaves_the_page_cache_as_it_was)
{
	struct wd_sha256 digest;
	int fd = make_half_cached();

	if (is_tmpfs(fd))
		return;
	ck_assert_uint_eq(count_cached(fd, 0, PAGES / 2), PAGES / 2);
	ck_assert_uint_eq(count_cached(fd, PAGES / 2, PAGES / 2), 0);
	ck_assert_int_eq(
	    wd_digest_job(fd, wd_host_io_manners(), NULL, &digest, NULL),
	    WD_OK);
	ck_assert_uint_eq(count_cached(fd, 0, PAGES / 2), PAGES / 2);
	ck_assert_uint_eq(count_cached(fd, PAGES / 2, PAGES / 2), 0);
	(void)close(fd);
}
END_TEST

START_TEST(cached_tells_each_page)
{
	const struct wd_io_manners *manners = wd_host_io_manners();
	uint8_t pages[PAGES];
	int fd = make_half_cached();
	size_t i, wrong = 0;

	memset(pages, 9, sizeof(pages));
	ck_assert(manners->cached(fd, 0, PAGES * page, pages));
	for (i = 0; i < PAGES; i++)
		wrong += pages[i] != (is_tmpfs(fd) || i < PAGES / 2);
	ck_assert_uint_eq(wrong, 0);
	ck_assert(manners->cached(fd, 0, 16 * page, pages));
	ck_assert_uint_eq(pages[0] + pages[15], 2);
	ck_assert(!manners->cached(-1, 0, page, pages));
	(void)close(fd);
}
END_TEST

static int idle_policy;
static long idle_priority;

static void *
idle_thread(void *arg)
{
	wd_host_io_manners()->be_idle();
	idle_policy = sched_getscheduler(0);
	idle_priority = syscall(SYS_ioprio_get, 1, 0);
	return arg;
}

/* The job's thread alone: the one that asked goes on as before. */
START_TEST(idle_concerns_one_thread)
{
	pthread_t thread;
	int before = sched_getscheduler(0);
	long io_before = syscall(SYS_ioprio_get, 1, 0);

	ck_assert_int_eq(pthread_create(&thread, NULL, idle_thread, NULL), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(idle_policy, SCHED_IDLE);
	ck_assert_int_eq(idle_priority >> 13, 3);
	ck_assert_int_eq(sched_getscheduler(0), before);
	ck_assert_int_eq(syscall(SYS_ioprio_get, 1, 0), io_before);
}
END_TEST

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

int
main(void)
{
	Suite *suite = suite_create("host manners");
	TCase *tcase = tcase_create("host manners");
	SRunner *runner;
	int failed;

	wd_temp_begin();
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	suite_add_tcase(suite, tcase);
	WD_TEST(hashing_leaves_the_page_cache_as_it_was);
	WD_TEST(cached_tells_each_page);
	WD_TEST(idle_concerns_one_thread);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	wd_temp_end();
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
