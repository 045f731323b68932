/* base/digest_many.h: every file its own digest, however many threads. */
#include "base/digest_many.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "support/suite.h"
#include "support/tempdir.h"

#define FILES 9

static char dir[WD_TEMP_BYTES];
static struct wd_digest_task tasks[FILES];
static uint64_t told;

static void
start(void)
{
	static char bytes[FILES + 1] = "aaaaaaaaa";
	char name[16];
	size_t i;

	wd_temp_make(dir);
	memset(tasks, 0, sizeof(tasks));
	for (i = 0; i < FILES; i++) {
		(void)snprintf(name, sizeof(name), "f%zu", i);
		wd_temp_write(wd_temp_path(dir, name), bytes, i + 1);
		tasks[i].fd = open(wd_temp_path(dir, name), O_RDONLY);
		ck_assert_int_ge(tasks[i].fd, 0);
	}
	told = 0;
}

static void
stop(void)
{
	size_t i;

	for (i = 0; i < FILES; i++)
		(void)close(tasks[i].fd);
	wd_temp_remove(dir);
}

static void
keep_told(void *ctx, uint64_t done_bytes)
{
	*(uint64_t *)ctx = done_bytes;
}

static void
check(size_t i)
{
	struct wd_sha256 alone;

	ck_assert_int_eq(
	    wd_digest_job(tasks[i].fd, NULL, NULL, &alone, NULL), WD_OK);
	ck_assert(wd_sha256_equal(&alone, &tasks[i].sha256));
	ck_assert_int_eq(tasks[i].status, WD_OK);
	ck_assert_int_gt(tasks[i].began_real_ns, 0);
}

static const unsigned thread_counts[] = { 0, 1, 2, 64 };

START_TEST(every_file_has_its_digest)
{
	struct wd_digest_many many = { .tasks = tasks,
		.count = FILES,
		.threads = thread_counts[_i],
		.tick = keep_told,
		.tick_ctx = &told };
	size_t i;

	start();
	ck_assert_int_eq(wd_digest_many(&many, NULL), WD_OK);
	for (i = 0; i < FILES; i++)
		check(i);
	ck_assert_uint_eq(told, 45);
	stop();
}
END_TEST

START_TEST(one_that_fails_spoils_no_other)
{
	struct wd_digest_many many = {
		.tasks = tasks, .count = FILES, .threads = 2
	};
	int pipes[2];
	size_t i;

	start();
	ck_assert_int_eq(pipe(pipes), 0);
	ck_assert_int_eq(dup2(pipes[0], tasks[4].fd), tasks[4].fd);
	ck_assert_int_eq(wd_digest_many(&many, NULL), WD_OK);
	ck_assert_int_eq(tasks[4].status, WD_INVALID);
	ck_assert_int_eq(tasks[4].err.status, WD_INVALID);
	for (i = 0; i < FILES; i++)
		if (i != 4)
			check(i);
	(void)close(pipes[0]);
	(void)close(pipes[1]);
	stop();
}
END_TEST

START_TEST(nothing_and_no_memory)
{
	struct wd_digest_many many = { .tasks = tasks, .threads = 2 };

	ck_assert_int_eq(wd_digest_many(&many, NULL), WD_OK);
	many.count = 1;
	wd_mem_fail_after(0);
	ck_assert_int_eq(wd_digest_many(&many, NULL), WD_NOMEM);
	wd_mem_fail_after(UINT64_MAX);
}
END_TEST

WD_SUITE_BEGIN("base digest many")
WD_LOOP(every_file_has_its_digest, thread_counts);
WD_TEST(one_that_fails_spoils_no_other);
WD_TEST(nothing_and_no_memory);
WD_SUITE_END
