/* store.h on disks that are full, read-only or forbidden, and the length of
 * the write-ahead log. Linux: mounts in a namespace of the test's own. */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/rows.h"
#include "support/storerows.h"
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

static struct wd_store *
open_at(const char *path)
{
	struct wd_store *store = NULL;

	ck_assert_int_eq(wd_store_open(path, &store, NULL), WD_OK);
	return store;
}

static void
expect_state(struct wd_store *store, enum wd_status status, const char *words)
{
	struct wd_error why;

	wd_error_init(&why);
	ck_assert_msg(wd_store_state(store, &why) == status, "%d, %s",
	    (int)why.status, why.message);
	ck_assert_msg(
	    strstr(why.message, words) != NULL, "\"%s\"", why.message);
}

static void
expect_usable(struct wd_store *store)
{
	wd_test_put_row(store, 50000);
	ck_assert_int_eq(wd_test_has_row(store, 50000), 1);
	ck_assert_int_eq(wd_test_has_row(store, 50001), 0);
}

/* Mounts need a namespace of our own, so that nothing is left behind; without
 * root one inside a user namespace. */
static void
enter_namespace(void)
{
	int flags = geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER;

	ck_assert_msg(unshare(flags) == 0,
	    "cannot make a mount namespace (%s): allow it, or run as root",
	    strerror(errno));
	ck_assert_int_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
}

static void
mount_small(const char *size)
{
	enter_namespace();
	ck_assert_int_eq(mount("tmpfs", dir, "tmpfs", 0, size), 0);
	ck_assert_int_eq(chmod(dir, 0700), 0);
}

START_TEST(a_disk_that_becomes_full)
{
	struct wd_store *store;
	uint64_t n, last;

	mount_small("size=1m");
	store = open_at(dir);
	for (n = 0; n < 20000 && wd_store_state(store, NULL) == WD_OK; n++)
		wd_test_put_row(store, n);
	last = n - 1;
	expect_state(store, WD_IO, "full");
	expect_state(store, WD_IO, "free space on that disk");
	expect_usable(store);
	for (n = 0; n <= last; n++)
		ck_assert_int_eq(wd_test_has_row(store, n), 1);
	wd_store_free(&store);
	store = open_at(dir);
	for (n = 0; n <= last; n++)
		ck_assert_int_ge(wd_test_has_row(store, n), 0);
	expect_usable(store);
	wd_store_free(&store);
	ck_assert_int_ne(
	    access(wd_temp_path(dir, "digests.db.corrupt-1"), F_OK), 0);
}
END_TEST

START_TEST(a_disk_that_is_full_already)
{
	struct wd_store *store;
	char block[4096] = { 0 };
	int fd;

	mount_small("size=1m");
	fd = open(wd_temp_path(dir, "ballast"), O_WRONLY | O_CREAT, 0600);
	while (write(fd, block, sizeof(block)) > 0)
		;
	ck_assert_int_eq(close(fd), 0);
	store = open_at(dir);
	ck_assert_int_ne(wd_store_state(store, NULL), WD_OK);
	expect_usable(store);
	wd_store_free(&store);
	ck_assert_int_eq(unlink(wd_temp_path(dir, "ballast")), 0);
	store = open_at(dir);
	ck_assert_int_eq(wd_store_state(store, NULL), WD_OK);
	expect_usable(store);
	wd_store_free(&store);
}
END_TEST

static void
make_read_only(void)
{
	ck_assert_int_eq(mount(dir, dir, NULL, MS_BIND, NULL), 0);
	ck_assert_int_eq(
	    mount(NULL, dir, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL), 0);
}

START_TEST(a_read_only_disk_without_the_file)
{
	struct wd_store *store;

	enter_namespace();
	make_read_only();
	store = open_at(dir);
	expect_state(store, WD_DENIED, "Read-only file system");
	expect_usable(store);
	wd_store_free(&store);
	store = open_at(wd_temp_path(dir, "below"));
	expect_state(store, WD_DENIED, "state directory");
	expect_usable(store);
	wd_store_free(&store);
}
END_TEST

START_TEST(a_read_only_disk_with_the_file)
{
	struct wd_store *store = open_at(dir);

	wd_test_put_row(store, 1);
	wd_store_free(&store);
	enter_namespace();
	make_read_only();
	store = open_at(dir);
	ck_assert_int_ge(wd_test_has_row(store, 1), 0);
	expect_state(store, WD_DENIED, "let weightd write there");
	expect_usable(store);
	wd_store_free(&store);
}
END_TEST

/* Root ignores the mode, so the test becomes somebody else. */
START_TEST(a_directory_without_the_right_to_write)
{
	struct wd_store *store;

	ck_assert_int_eq(chmod(dir, 0555), 0);
	if (geteuid() == 0) {
		ck_assert_int_eq(setgid(65534), 0);
		ck_assert_int_eq(setuid(65534), 0);
	}
	store = open_at(dir);
	expect_state(store, WD_DENIED, "Permission denied");
	expect_usable(store);
	wd_store_free(&store);
}
END_TEST

static off_t
log_bytes(void)
{
	struct stat st;

	if (stat(wd_temp_path(dir, "digests.db-wal"), &st) != 0)
		return 0;
	return st.st_size;
}

#define FRAME_BYTES (4096 + 24)

START_TEST(the_log_stays_short)
{
	struct wd_store *store = open_at(dir);
	off_t longest = 0;
	uint64_t n;

	for (n = 0; n < 3000; n++) {
		wd_test_put_row(store, n);
		if (log_bytes() > longest)
			longest = log_bytes();
	}
	ck_assert_int_eq(wd_store_state(store, NULL), WD_OK);
	ck_assert_int_gt(longest, 0);
	ck_assert_int_le(longest, 2 * WD_ROWS_WAL_PAGES * FRAME_BYTES);
	wd_store_free(&store);
	ck_assert_int_eq(log_bytes(), 0);
}
END_TEST

/* A reader that never ends pins the log. */
START_TEST(the_log_is_bounded_beside_a_reader)
{
	struct wd_store *store = open_at(dir);
	sqlite3 *reader = NULL;
	uint64_t n;
	int i;

	wd_test_put_row(store, 0);
	ck_assert_int_eq(
	    sqlite3_open(wd_temp_path(dir, "digests.db"), &reader), SQLITE_OK);
	ck_assert_int_eq(
	    sqlite3_exec(
		reader, "BEGIN; SELECT count(*) FROM digest", NULL, NULL, NULL),
	    SQLITE_OK);
	for (n = 1; n < 6000; n++) {
		wd_test_put_row(store, n);
		if (n % 100 == 0)
			ck_assert_int_eq(wd_test_has_row(store, n - 50), 1);
	}
	expect_state(store, WD_BUSY, "write-ahead log");
	ck_assert_int_ge(log_bytes(), WD_ROWS_WAL_MOST * FRAME_BYTES);
	ck_assert_int_le(
	    log_bytes(), (WD_ROWS_WAL_MOST + 64) * (off_t)FRAME_BYTES);
	ck_assert_int_eq(sqlite3_close(reader), SQLITE_OK);
	for (i = 0; i < 100 && wd_store_state(store, NULL) != WD_OK; i++) {
		(void)usleep(100000);
		wd_test_put_row(store, 7000);
	}
	ck_assert_int_eq(wd_store_state(store, NULL), WD_OK);
	ck_assert_int_le(
	    log_bytes(), 2 * WD_ROWS_WAL_PAGES * (off_t)FRAME_BYTES);
	wd_store_free(&store);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("store disk");
	TCase *tcase = tcase_create("store disk");
	SRunner *runner;
	int failed;

	wd_temp_begin();
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	suite_add_tcase(suite, tcase);
	WD_TEST(a_disk_that_becomes_full);
	WD_TEST(a_disk_that_is_full_already);
	WD_TEST(a_read_only_disk_without_the_file);
	WD_TEST(a_read_only_disk_with_the_file);
	WD_TEST(a_directory_without_the_right_to_write);
	WD_TEST(the_log_stays_short);
	WD_TEST(the_log_is_bounded_beside_a_reader);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	wd_temp_end();
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
