/* cmd/kept.h: one open for each file, and no change goes unseen. */
#include "cmd/kept.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "support/suite.h"
#include "support/tempdir.h"

static char dir[WD_TEMP_BYTES];
static struct wd_kept kept;
static struct wd_folder folder;

static void
start(void)
{
	wd_temp_make(dir);
	wd_temp_write(wd_temp_path(dir, "a.gguf"), "first", 5);
	wd_temp_write(wd_temp_path(dir, "b.gguf"), "other", 5);
	wd_kept_init(&kept, open(dir, O_RDONLY | O_DIRECTORY));
	folder = wd_kept_folder(&kept);
}

static void
stop(void)
{
	wd_kept_release(&kept);
	wd_temp_remove(dir);
}

static void
read_name(const char *name, const char *want)
{
	struct wd_source source;
	char text[8] = "";

	ck_assert_int_eq(
	    folder.open(folder.ctx, wd_slice_text(name), &source, NULL), WD_OK);
	ck_assert_uint_eq(source.size_bytes, strlen(want));
	ck_assert_int_eq(
	    wd_source_exact(&source, 0, text, strlen(want), NULL), WD_OK);
	ck_assert_str_eq(text, want);
	folder.close(folder.ctx, &source);
}

/* Another file under the same name does not reach the reader. */
START_TEST(a_name_leads_to_the_same_object_for_good)
{
	start();
	read_name("a.gguf", "first");
	ck_assert_int_eq(
	    rename(wd_temp_path(dir, "b.gguf"), wd_temp_path(dir, "a.gguf")),
	    0);
	read_name("a.gguf", "first");
	ck_assert_uint_eq(kept.count, 1);
	stop();
}
END_TEST

START_TEST(a_given_file_is_kept_under_its_name)
{
	struct wd_slice name = wd_slice_text("a.gguf");
	int fd, ends[2];

	start();
	fd = open(wd_temp_path(dir, "a.gguf"), O_RDONLY);
	ck_assert_int_eq(wd_kept_add(&kept, name, fd, NULL), WD_OK);
	read_name("a.gguf", "first");
	ck_assert_uint_eq(kept.count, 1);
	ck_assert_int_eq(wd_kept_find(&kept, name)->fd, fd);
	ck_assert_ptr_null(wd_kept_find(&kept, wd_slice_text("b.gguf")));
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(wd_kept_add(&kept, name, ends[0], NULL), WD_INVALID);
	ck_assert_int_eq(fcntl(ends[0], F_GETFD), -1); /* closed */
	(void)close(ends[1]);
	stop();
	ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
}
END_TEST

static void
write_in_place(void)
{
	int fd = open(wd_temp_path(dir, "b.gguf"), O_WRONLY);

	ck_assert_int_eq(pwrite(fd, "OTHER", 5, 0), 5);
	(void)close(fd);
}

/* As above, with the time of modification put back. */
static void
write_in_secret(void)
{
	struct stat before;
	struct timespec times[2];

	ck_assert_int_eq(stat(wd_temp_path(dir, "b.gguf"), &before), 0);
	times[0] = before.st_atim;
	times[1] = before.st_mtim;
	write_in_place();
	ck_assert_int_eq(
	    utimensat(AT_FDCWD, wd_temp_path(dir, "b.gguf"), times, 0), 0);
}

static void
append(void)
{
	ck_assert_int_eq(truncate(wd_temp_path(dir, "b.gguf"), 6), 0);
}

static void
replace(void)
{
	wd_temp_write(wd_temp_path(dir, "new"), "OTHER", 5);
	ck_assert_int_eq(
	    rename(wd_temp_path(dir, "new"), wd_temp_path(dir, "b.gguf")), 0);
}

static void
remove_it(void)
{
	ck_assert_int_eq(unlink(wd_temp_path(dir, "b.gguf")), 0);
}

/* The old object stays as it was, times and all. */
static void
turn_the_link(void)
{
	ck_assert_int_eq(symlink("a.gguf", wd_temp_path(dir, "new")), 0);
	ck_assert_int_eq(
	    rename(wd_temp_path(dir, "new"), wd_temp_path(dir, "link")), 0);
}

static void (*const changes[])(void) = { write_in_place, write_in_secret,
	append, replace, remove_it, turn_the_link };

/* Longer than a tick of any file system's clock. */
static void
let_a_tick_pass(void)
{
	(void)nanosleep(&(struct timespec){ 0, 30000000 }, NULL);
}

START_TEST(no_change_goes_unseen)
{
	bool by_link = changes[_i] == turn_the_link;
	const char *name = by_link ? "link" : "b.gguf";

	start();
	ck_assert_int_eq(symlink("b.gguf", wd_temp_path(dir, "link")), 0);
	read_name("a.gguf", "first");
	read_name(name, "other");
	ck_assert_ptr_null(wd_kept_changed(&kept));
	let_a_tick_pass();
	changes[_i]();
	ck_assert_ptr_nonnull(wd_kept_changed(&kept));
	ck_assert_str_eq(wd_kept_changed(&kept)->name, name);
	stop();
}
END_TEST

START_TEST(what_is_not_there_is_told)
{
	struct wd_source source;

	start();
	ck_assert_int_eq(
	    folder.open(folder.ctx, wd_slice_text("absent"), &source, NULL),
	    WD_NOTFOUND);
	ck_assert_uint_eq(kept.count, 0);
	stop();
	wd_kept_init(&kept, -1);
	ck_assert_int_eq(
	    folder.open(folder.ctx, wd_slice_text("a.gguf"), &source, NULL),
	    WD_GONE);
}
END_TEST

START_TEST(memory_may_end_anywhere)
{
	enum wd_status st = WD_NOMEM;
	struct wd_source source;
	uint64_t n;

	for (n = 0; n < 10 && st == WD_NOMEM; n++) {
		start();
		wd_mem_fail_after(n);
		st = folder.open(
		    folder.ctx, wd_slice_text("a.gguf"), &source, NULL);
		wd_mem_fail_after(UINT64_MAX);
		ck_assert_uint_eq(kept.count, st == WD_OK);
		stop();
	}
	ck_assert_int_eq(st, WD_OK);
	ck_assert_uint_ge(n, 3);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("client kept");
	TCase *tcase = tcase_create("client kept");
	SRunner *runner;
	int failed;

	wd_temp_begin();
	suite_add_tcase(suite, tcase);
	WD_TEST(a_name_leads_to_the_same_object_for_good);
	WD_TEST(a_given_file_is_kept_under_its_name);
	WD_LOOP(no_change_goes_unseen, changes);
	WD_TEST(what_is_not_there_is_told);
	WD_TEST(memory_may_end_anywhere);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	wd_temp_end();
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
