/* store.h: locked, damaged, foreign, planted, killed in mid-write: the rows
 * that are given stay right, and the state says so. */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/place.h"
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

static const char *
db_path(void)
{
	return wd_temp_path(dir, "digests.db");
}

static bool
exists(const char *name)
{
	struct stat st;

	return lstat(wd_temp_path(dir, name), &st) == 0;
}

static struct wd_store *
open_here(void)
{
	struct wd_store *store = NULL;

	ck_assert_int_eq(wd_store_open(dir, &store, NULL), WD_OK);
	return store;
}

/* Leaves a file with rows 0 to 99. */
static void
fill(void)
{
	struct wd_store *store = open_here();
	uint64_t n;

	for (n = 0; n < 100; n++)
		wd_test_put_row(store, n);
	ck_assert_int_eq(wd_store_state(store, NULL), WD_OK);
	wd_store_free(&store);
}

/* The state is `status`, and its message has `words`. */
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

/* Usable all the same: what is put now is found now. */
static void
expect_usable(struct wd_store *store)
{
	wd_test_put_row(store, 5000);
	ck_assert_int_eq(wd_test_has_row(store, 5000), 1);
	ck_assert_int_eq(wd_test_has_row(store, 5001), 0);
}

static void
run_sql(const char *sql)
{
	sqlite3 *db = NULL;
	char *why = NULL;

	ck_assert_int_eq(sqlite3_open(db_path(), &db), SQLITE_OK);
	ck_assert_msg(
	    sqlite3_exec(db, sql, NULL, NULL, &why) == SQLITE_OK, "%s", why);
	ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
}

/* ---- locked -------------------------------------------------------------- */

static const char *const locks[] = {
	"BEGIN EXCLUSIVE",
	"PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;"
	"UPDATE digest SET seal = seal",
};

/* Another process takes the lock and is then stopped. */
static pid_t
start_locker(const char *sql)
{
	pid_t pid = fork();
	sqlite3 *db = NULL;
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (sqlite3_open(db_path(), &db) == SQLITE_OK &&
		    sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK)
			(void)raise(SIGSTOP);
		_exit(1);
	}
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert(WIFSTOPPED(status));
	return pid;
}

static void
end_locker(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* 5,000 puts and gets would take minutes if each waited for the lock; the
 * test case would then run into its time-out. */
START_TEST(a_lock_costs_little_and_passes)
{
	struct wd_store *store;
	pid_t locker;
	uint64_t n;
	int i;

	fill();
	locker = start_locker(locks[_i]);
	store = open_here();
	for (n = 200; n < 5200; n++) {
		wd_test_put_row(store, n);
		ck_assert_int_eq(wd_test_has_row(store, n), 1);
		ck_assert_int_ge(wd_test_has_row(store, n % 100), 0);
	}
	expect_state(store, WD_BUSY, "another process holds it");
	end_locker(locker);
	for (i = 0; i < 100 && wd_store_state(store, NULL) != WD_OK; i++) {
		(void)usleep(100000);
		wd_test_put_row(store, 6000);
		(void)wd_test_has_row(store, 6000);
	}
	ck_assert_int_eq(wd_store_state(store, NULL), WD_OK);
	wd_test_put_row(store, 6000);
	wd_store_free(&store);
	store = open_here();
	ck_assert_int_eq(wd_test_has_row(store, 6000), 1);
	ck_assert_int_eq(wd_test_has_row(store, 42), 1);
	wd_store_free(&store);
}
END_TEST

/* Who only writes does not keep us from reading. */
START_TEST(reading_goes_on_beside_a_writer)
{
	struct wd_store *store;
	pid_t locker;
	uint64_t n;

	fill();
	store = open_here();
	locker = start_locker("BEGIN EXCLUSIVE");
	wd_test_put_row(store, 200);
	expect_state(store, WD_BUSY, "another process holds it");
	for (n = 0; n < 100; n++)
		ck_assert_int_eq(wd_test_has_row(store, n), 1);
	expect_state(store, WD_BUSY, "another process holds it");
	end_locker(locker);
	wd_store_free(&store);
}
END_TEST

START_TEST(opening_a_locked_file)
{
	struct wd_store *store;
	pid_t locker;

	fill();
	locker = start_locker(locks[1]);
	store = open_here();
	expect_usable(store);
	expect_state(store, WD_BUSY, "another process holds it");
	end_locker(locker);
	wd_store_free(&store);
}
END_TEST

/* ---- damaged ------------------------------------------------------------- */

static void
overwrite(off_t at, size_t len, int byte)
{
	int fd = open(db_path(), O_WRONLY);
	char block[4096];
	size_t done;

	memset(block, byte, sizeof(block));
	ck_assert_int_ge(fd, 0);
	for (done = 0; done < len; done += sizeof(block))
		ck_assert_int_eq(
		    pwrite(fd, block, sizeof(block), at + (off_t)done),
		    sizeof(block));
	ck_assert_int_eq(close(fd), 0);
}

static void
damage_page_1(void)
{
	overwrite(0, 4096, 0xa5);
}

static void
damage_page_1_with_zeros(void)
{
	overwrite(0, 4096, 0);
}

static void
damage_all_but_page_1(void)
{
	overwrite(4096, 64 << 10, 0xff);
}

static void
cut_short(void)
{
	ck_assert_int_eq(truncate(db_path(), 5000), 0);
}

static void
write_text(void)
{
	wd_temp_write(db_path(), "this is no database at all\n", 27);
}

static void
drop_table(void)
{
	run_sql("DROP TABLE digest");
}

static void
plant_digest(void)
{
	run_sql("UPDATE digest SET sha256 = randomblob(32)");
}

static void
plant_short_digest(void)
{
	run_sql("UPDATE digest SET sha256 = x'00'");
}

static void
plant_long_digest(void)
{
	run_sql("UPDATE digest SET sha256 = CAST(sha256 || x'00' AS BLOB)");
}

static void
plant_other_time(void)
{
	run_sql("UPDATE digest SET computed_real_ns = 1");
}

static void (*const damages[])(void) = { damage_page_1,
	damage_page_1_with_zeros, damage_all_but_page_1, cut_short, write_text,
	drop_table, plant_digest, plant_short_digest, plant_long_digest,
	plant_other_time };

/* Moved aside, made anew, said so; and never a wrong digest. */
START_TEST(a_damaged_file_is_moved_aside)
{
	struct wd_store *store;
	uint64_t n;

	fill();
	damages[_i]();
	store = open_here();
	for (n = 0; n < 100; n++)
		ck_assert_int_eq(wd_test_has_row(store, n), 0);
	expect_state(store, WD_CORRUPT, "digests.db.corrupt-1");
	expect_usable(store);
	expect_state(store, WD_CORRUPT, "made anew");
	wd_store_free(&store);
	ck_assert(exists("digests.db.corrupt-1"));
	store = open_here();
	ck_assert_int_eq(wd_store_state(store, NULL), WD_OK);
	ck_assert_int_eq(wd_test_has_row(store, 5000), 1);
	wd_store_free(&store);
}
END_TEST

/* While the store is open, with the pages not in its cache. */
START_TEST(damage_is_noticed_while_in_use)
{
	struct wd_store *store;
	uint64_t n;

	fill();
	store = open_here();
	damage_all_but_page_1();
	for (n = 0; n < 100; n++)
		ck_assert_int_eq(wd_test_has_row(store, n), 0);
	expect_state(store, WD_CORRUPT, "made anew");
	wd_test_put_row(store, 1);
	wd_store_free(&store);
	store = open_here();
	ck_assert_int_eq(wd_store_state(store, NULL), WD_OK);
	ck_assert_int_eq(wd_test_has_row(store, 1), 1);
	wd_store_free(&store);
}
END_TEST

START_TEST(damaged_files_do_not_pile_up)
{
	struct wd_store *store;
	int i;

	for (i = 0; i < 6; i++) {
		fill();
		damage_page_1();
		store = open_here();
		expect_state(store, WD_CORRUPT, "made anew");
		wd_store_free(&store);
	}
	ck_assert(exists("digests.db.corrupt-1"));
	ck_assert(exists("digests.db.corrupt-3"));
	ck_assert(!exists("digests.db.corrupt-4"));
}
END_TEST

/* The log of the damaged file must not be played into the new one. */
START_TEST(no_old_log_comes_into_the_new_file)
{
	static uint8_t log[1 << 20];
	struct wd_store *store;
	size_t len;
	FILE *file;

	fill();
	store = open_here();
	wd_test_put_row(store, 300);
	file = fopen(wd_temp_path(dir, "digests.db-wal"), "rb");
	ck_assert_ptr_nonnull(file);
	len = fread(log, 1, sizeof(log), file);
	ck_assert_uint_gt(len, 4096);
	(void)fclose(file);
	wd_store_free(&store);
	damage_page_1();
	wd_temp_write(wd_temp_path(dir, "digests.db-wal"), log, len);
	store = open_here();
	expect_state(store, WD_CORRUPT, "made anew");
	expect_usable(store);
	ck_assert_int_eq(wd_test_has_row(store, 300), 0);
	wd_store_free(&store);
	store = open_here();
	ck_assert_int_eq(wd_store_state(store, NULL), WD_OK);
	ck_assert_int_eq(wd_test_has_row(store, 5000), 1);
	wd_store_free(&store);
}
END_TEST

/* SQLite removes it when it closes well; a process that crashed did not. */
START_TEST(moving_aside_takes_the_log_away)
{
	char *aside = NULL;

	wd_temp_write(db_path(), "damaged", 7);
	wd_temp_write(wd_temp_path(dir, "digests.db-wal"), "log", 3);
	wd_temp_write(wd_temp_path(dir, "digests.db-shm"), "index", 5);
	ck_assert_int_eq(wd_place_move_aside(db_path(), &aside, NULL), WD_OK);
	ck_assert_str_eq(aside, wd_temp_path(dir, "digests.db.corrupt-1"));
	ck_assert(exists("digests.db.corrupt-1"));
	ck_assert(!exists("digests.db"));
	ck_assert(!exists("digests.db-wal"));
	ck_assert(!exists("digests.db-shm"));
	wd_free(aside);
}
END_TEST

/* Later trouble does not hide that digests were lost. */
START_TEST(damage_stays_said)
{
	struct wd_store *store;
	pid_t locker;

	fill();
	damage_page_1();
	store = open_here();
	locker = start_locker("BEGIN EXCLUSIVE");
	expect_usable(store);
	expect_state(store, WD_CORRUPT, "made anew");
	end_locker(locker);
	wd_store_free(&store);
}
END_TEST

/* ---- not ours ------------------------------------------------------------ */

START_TEST(a_newer_file_is_left_alone)
{
	struct wd_store *store;

	fill();
	run_sql("PRAGMA user_version = 99");
	store = open_here();
	expect_state(store, WD_UNSUPPORTED, "version 99");
	expect_state(store, WD_UNSUPPORTED, "upgrade weightd");
	ck_assert_int_eq(wd_test_has_row(store, 1), 0);
	expect_usable(store);
	wd_store_free(&store);
	ck_assert(!exists("digests.db.corrupt-1"));
	run_sql("PRAGMA user_version = 1");
	store = open_here();
	ck_assert_int_eq(wd_test_has_row(store, 1), 1);
	ck_assert_int_eq(wd_test_has_row(store, 5000), 0);
	wd_store_free(&store);
}
END_TEST

START_TEST(another_program_s_database_is_left_alone)
{
	struct wd_store *store;

	run_sql("CREATE TABLE digest (x); INSERT INTO digest VALUES (1)");
	store = open_here();
	expect_state(store, WD_UNSUPPORTED, "another program");
	expect_usable(store);
	wd_store_free(&store);
	run_sql("UPDATE digest SET x = x + 1");
}
END_TEST

START_TEST(a_symbolic_link_is_not_followed)
{
	char elsewhere[WD_TEMP_BYTES];
	struct wd_store *store;
	struct stat st;

	wd_temp_make(elsewhere);
	wd_temp_write(wd_temp_path(elsewhere, "target"), "", 0);
	ck_assert_int_eq(
	    symlink(wd_temp_path(elsewhere, "target"), db_path()), 0);
	store = open_here();
	expect_state(store, WD_INVALID, "no regular file");
	expect_usable(store);
	wd_store_free(&store);
	ck_assert_int_eq(stat(wd_temp_path(elsewhere, "target"), &st), 0);
	ck_assert_int_eq(st.st_size, 0);
	wd_temp_remove(elsewhere);
}
END_TEST

START_TEST(a_fifo_does_not_block)
{
	struct wd_store *store;

	ck_assert_int_eq(mkfifo(db_path(), 0600), 0);
	store = open_here();
	expect_state(store, WD_INVALID, "no regular file");
	expect_usable(store);
	wd_store_free(&store);
}
END_TEST

/* A link on the way to the directory is an administrator's choice. */
START_TEST(a_link_to_the_directory_is_followed)
{
	struct wd_store *store = NULL;

	ck_assert_int_eq(mkdir(wd_temp_path(dir, "real"), 0700), 0);
	ck_assert_int_eq(symlink("real", wd_temp_path(dir, "link")), 0);
	ck_assert_int_eq(
	    wd_store_open(wd_temp_path(dir, "link"), &store, NULL), WD_OK);
	ck_assert_int_eq(wd_store_state(store, NULL), WD_OK);
	wd_test_put_row(store, 1);
	wd_store_free(&store);
	ck_assert(exists("real/digests.db"));
}
END_TEST

static const struct {
	mode_t mode;
	bool good;
} modes[] = { { 0700, true }, { 0755, true }, { 0770, false }, { 0707, false },
	{ 01777, false } };

/* Who can write the file can plant a digest. */
START_TEST(a_directory_that_others_write_is_not_trusted)
{
	struct wd_store *store;

	fill();
	ck_assert_int_eq(chmod(dir, modes[_i].mode), 0);
	store = open_here();
	ck_assert_int_eq(wd_test_has_row(store, 1), modes[_i].good);
	if (modes[_i].good)
		ck_assert_int_eq(wd_store_state(store, NULL), WD_OK);
	else
		expect_state(store, WD_DENIED, "chmod go-w");
	expect_usable(store);
	wd_store_free(&store);
}
END_TEST

START_TEST(a_file_that_others_write_is_not_trusted)
{
	struct wd_store *store;

	fill();
	ck_assert_int_eq(chmod(db_path(), 0622), 0);
	store = open_here();
	ck_assert_int_eq(wd_test_has_row(store, 1), 0);
	expect_state(store, WD_DENIED, "chmod go-w");
	wd_store_free(&store);
}
END_TEST

START_TEST(somebody_else_s_file_is_not_trusted)
{
	struct wd_store *store;

	if (geteuid() != 0)
		return; /* only root can give a file away */
	fill();
	ck_assert_int_eq(chown(db_path(), 12345, 12345), 0);
	store = open_here();
	ck_assert_int_eq(wd_test_has_row(store, 1), 0);
	expect_state(store, WD_DENIED, "belongs to user 12345");
	wd_store_free(&store);
	ck_assert_int_eq(chown(db_path(), 0, 0), 0);
	ck_assert_int_eq(chown(dir, 12345, 12345), 0);
	store = open_here();
	expect_state(store, WD_DENIED, "belongs to user 12345");
	wd_store_free(&store);
}
END_TEST

static const char *const bad_dirs[] = { "", "/dev/null", "/dev/null/x",
	"/proc/weightd" };

START_TEST(a_directory_that_cannot_be)
{
	struct wd_store *store = NULL;
	struct wd_error why;

	ck_assert_int_eq(wd_store_open(bad_dirs[_i], &store, NULL), WD_OK);
	ck_assert_int_ne(wd_store_state(store, &why), WD_OK);
	ck_assert_ptr_nonnull(strstr(why.message, "state directory"));
	expect_usable(store);
	wd_store_free(&store);
}
END_TEST

/* ---- killed -------------------------------------------------------------- */

/* Puts rows 0, 1, 2... and reports each as soon as it is put. */
static void
write_for_ever(int report)
{
	struct wd_store *store = open_here();
	uint64_t n;

	for (n = 0;; n++) {
		wd_test_put_row(store, n);
		if (write(report, &n, sizeof(n)) != sizeof(n))
			_exit(1);
	}
}

/* kill -9 at some moment of a put: what was reported is there, nothing is
 * wrong, and the file is not damaged. */
START_TEST(killed_while_writing)
{
	uint64_t n, last = 0;
	struct wd_store *store;
	int report[2], i;
	pid_t pid;

	ck_assert_int_eq(pipe(report), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		write_for_ever(report[1]);
	(void)close(report[1]);
	for (i = 0; i < 100 + 700 * _i; i++)
		ck_assert_int_eq(
		    read(report[0], &last, sizeof(last)), sizeof(last));
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	while (read(report[0], &n, sizeof(n)) == sizeof(n))
		last = n;
	(void)close(report[0]);
	store = open_here();
	ck_assert_int_eq(wd_store_state(store, NULL), WD_OK);
	for (n = 0; n <= last; n++)
		ck_assert_int_eq(wd_test_has_row(store, n), 1);
	ck_assert_int_ge(wd_test_has_row(store, last + 1), 0);
	ck_assert_int_eq(wd_test_has_row(store, last + 2), 0);
	wd_store_free(&store);
	ck_assert(!exists("digests.db.corrupt-1"));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("store trouble");
	TCase *tcase = tcase_create("store trouble");
	SRunner *runner;
	int failed;

	wd_temp_begin();
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	suite_add_tcase(suite, tcase);
	WD_LOOP(a_lock_costs_little_and_passes, locks);
	WD_TEST(reading_goes_on_beside_a_writer);
	WD_TEST(opening_a_locked_file);
	WD_LOOP(a_damaged_file_is_moved_aside, damages);
	WD_TEST(damage_is_noticed_while_in_use);
	WD_TEST(damaged_files_do_not_pile_up);
	WD_TEST(no_old_log_comes_into_the_new_file);
	WD_TEST(moving_aside_takes_the_log_away);
	WD_TEST(damage_stays_said);
	WD_TEST(a_newer_file_is_left_alone);
	WD_TEST(another_program_s_database_is_left_alone);
	WD_TEST(a_symbolic_link_is_not_followed);
	WD_TEST(a_fifo_does_not_block);
	WD_TEST(a_link_to_the_directory_is_followed);
	WD_LOOP(a_directory_that_others_write_is_not_trusted, modes);
	WD_TEST(a_file_that_others_write_is_not_trusted);
	WD_TEST(somebody_else_s_file_is_not_trusted);
	WD_LOOP(a_directory_that_cannot_be, bad_dirs);
	tcase_add_loop_test(tcase, killed_while_writing, 0, 5);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	wd_temp_end();
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
