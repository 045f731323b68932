/* client/pki/files.h: whole or not there, and never over another. */
#include "pki/files.h"

#include <dirent.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/suite.h"
#include "support/tempdir.h"

static char dir[WD_TEMP_BYTES];
static struct wd_pki_folder folder;
static struct wd_error err;

static void
begin(void)
{
	wd_error_init(&err);
	wd_temp_make(dir);
	ck_assert_int_eq(
	    wd_pki_folder_open(dir, false, true, &folder, NULL), WD_OK);
}

static void
end(void)
{
	wd_pki_folder_close(&folder);
	wd_temp_remove(dir);
}

static unsigned
count_files(void)
{
	DIR *list = opendir(dir);
	const struct dirent *entry;
	unsigned count = 0;

	ck_assert_ptr_nonnull(list);
	while ((entry = readdir(list)) != NULL)
		count += strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0;
	(void)closedir(list);
	return count;
}

static unsigned
mode_of(const char *name)
{
	struct stat state;

	ck_assert_int_eq(lstat(wd_temp_path(dir, name), &state), 0);
	return (unsigned)(state.st_mode & 07777);
}

static void
expect_content(const char *name, const char *text)
{
	struct wd_buf bytes;

	wd_buf_init(&bytes, 100);
	ck_assert_int_eq(
	    wd_pki_read(&folder, name, false, &bytes, NULL), WD_OK);
	ck_assert_str_eq(wd_buf_string(&bytes), text);
	wd_buf_release(&bytes);
}

START_TEST(modes_do_not_come_from_the_umask)
{
	begin();
	(void)umask(0);
	ck_assert_int_eq(wd_pki_write(&folder, "k", WD_PKI_SECRET_MODE,
			     wd_slice_text("key"), NULL),
	    WD_OK);
	(void)umask(0777);
	ck_assert_int_eq(wd_pki_write(&folder, "c", WD_PKI_PUBLIC_MODE,
			     wd_slice_text("crt"), NULL),
	    WD_OK);
	ck_assert_uint_eq(mode_of("k"), 0600);
	ck_assert_uint_eq(mode_of("c"), 0644);
	ck_assert_uint_eq(count_files(), 2);
	end();
}
END_TEST

START_TEST(nothing_is_overwritten)
{
	begin();
	wd_temp_write(wd_temp_path(dir, "k"), "old", 3);
	ck_assert_int_eq(symlink("nowhere", wd_temp_path(dir, "link")), 0);
	ck_assert_int_eq(
	    wd_pki_write(&folder, "k", 0600, wd_slice_text("new"), &err),
	    WD_BUSY);
	ck_assert_ptr_nonnull(
	    strstr(err.message, "/k: is there already and is never"));
	/* A symbolic link that leads nowhere is something too. */
	ck_assert_int_eq(
	    wd_pki_write(&folder, "link", 0600, wd_slice_text("new"), NULL),
	    WD_BUSY);
	ck_assert_int_eq(wd_pki_must_be_free(&folder, "link", NULL), WD_BUSY);
	ck_assert_int_eq(wd_pki_must_be_free(&folder, "free", NULL), WD_OK);
	expect_content("k", "old");
	ck_assert_uint_eq(count_files(), 2);
	end();
}
END_TEST

START_TEST(replacing_is_whole)
{
	begin();
	wd_temp_write(wd_temp_path(dir, "l"), "old", 3);
	ck_assert_int_eq(
	    wd_pki_replace(&folder, "l", 0644, wd_slice_text("new"), NULL),
	    WD_OK);
	expect_content("l", "new");
	ck_assert_uint_eq(count_files(), 1);
	end();
}
END_TEST

/* A disk that is full, or a quota: here a limit on the size of files. */
START_TEST(nothing_half_written_stays)
{
	static char much[8192];
	struct rlimit limit = { 4096, 4096 };

	begin();
	memset(much, 'x', sizeof(much) - 1);
	(void)signal(SIGXFSZ, SIG_IGN);
	wd_temp_write(wd_temp_path(dir, "l"), "old", 3);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(
	    wd_pki_write(&folder, "k", 0600, wd_slice_text(much), &err), WD_IO);
	ck_assert_ptr_nonnull(strstr(err.message, "/k: cannot write"));
	ck_assert_int_eq(
	    wd_pki_replace(&folder, "l", 0600, wd_slice_text(much), NULL),
	    WD_IO);
	expect_content("l", "old");
	ck_assert_uint_eq(count_files(), 1);
	end();
}
END_TEST

START_TEST(a_key_that_others_read_is_not_used)
{
	struct wd_buf bytes;

	begin();
	wd_buf_init(&bytes, 100);
	wd_temp_write(wd_temp_path(dir, "k"), "key", 3);
	ck_assert_int_eq(chmod(wd_temp_path(dir, "k"), 0640), 0);
	ck_assert_int_eq(
	    wd_pki_read(&folder, "k", true, &bytes, &err), WD_INVALID);
	ck_assert_ptr_nonnull(strstr(err.message, "(mode 0640)"));
	ck_assert_uint_eq(bytes.len, 0);
	ck_assert_int_eq(chmod(wd_temp_path(dir, "k"), 0400), 0);
	ck_assert_int_eq(wd_pki_read(&folder, "k", true, &bytes, NULL), WD_OK);
	wd_buf_release(&bytes);
	end();
}
END_TEST

START_TEST(a_folder_that_others_write_holds_no_ca)
{
	struct wd_pki_folder other;

	begin();
	ck_assert_int_eq(chmod(dir, 0770), 0);
	ck_assert_int_eq(
	    wd_pki_folder_open(dir, false, true, &other, &err), WD_INVALID);
	ck_assert_ptr_nonnull(strstr(err.message, "chmod 700"));
	ck_assert_int_eq(other.fd, -1);
	ck_assert_int_eq(
	    wd_pki_folder_open(dir, false, false, &other, NULL), WD_OK);
	wd_pki_folder_close(&other);
	ck_assert_int_eq(wd_pki_folder_open(wd_temp_path(dir, "new"), true,
			     true, &other, NULL),
	    WD_OK);
	ck_assert_uint_eq(mode_of("new"), 0700);
	wd_pki_folder_close(&other);
	ck_assert_int_eq(wd_pki_folder_open(wd_temp_path(dir, "none"), false,
			     true, &other, NULL),
	    WD_GONE);
	end();
}
END_TEST

/* A FIFO named x.key must not block us, and a device has no end. */
START_TEST(only_files_are_read)
{
	struct wd_buf bytes;

	begin();
	wd_buf_init(&bytes, 8);
	ck_assert_int_eq(mkfifo(wd_temp_path(dir, "fifo"), 0600), 0);
	ck_assert_int_eq(
	    wd_pki_read(&folder, "fifo", true, &bytes, NULL), WD_INVALID);
	ck_assert_int_eq(
	    wd_pki_read_path("/dev/zero", false, &bytes, NULL), WD_INVALID);
	ck_assert_int_eq(
	    wd_pki_read(&folder, "none", false, &bytes, NULL), WD_GONE);
	wd_temp_write(wd_temp_path(dir, "long"), "123456789", 9);
	ck_assert_int_eq(
	    wd_pki_read(&folder, "long", false, &bytes, &err), WD_LIMIT);
	wd_buf_release(&bytes);
	end();
}
END_TEST

WD_SUITE_BEGIN("client pki files")
WD_TEST(modes_do_not_come_from_the_umask);
WD_TEST(nothing_is_overwritten);
WD_TEST(replacing_is_whole);
WD_TEST(nothing_half_written_stays);
WD_TEST(a_key_that_others_read_is_not_used);
WD_TEST(a_folder_that_others_write_holds_no_ca);
WD_TEST(only_files_are_read);
WD_SUITE_END
