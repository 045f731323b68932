/* bundle/source.h: memory, descriptors, and a folder that leads nowhere else.
 */
#include "bundle/source.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/suite.h"
#include "support/tempdir.h"

static const char text[] = "0123456789";

START_TEST(memory_ends_where_it_ends)
{
	struct wd_slice slice = { (const uint8_t *)text, 10 };
	struct wd_source source = wd_source_memory(&slice);
	struct wd_error err;
	char out[16];
	size_t got = 99;

	ck_assert_uint_eq(source.size_bytes, 10);
	ck_assert_int_eq(
	    source.read(source.ctx, 8, out, 16, &got, NULL), WD_OK);
	ck_assert_uint_eq(got, 2);
	ck_assert_int_eq(
	    source.read(source.ctx, 10, out, 16, &got, NULL), WD_OK);
	ck_assert_uint_eq(got, 0);
	ck_assert_int_eq(
	    source.read(source.ctx, UINT64_MAX, out, 16, &got, NULL), WD_OK);
	ck_assert_uint_eq(got, 0);
	ck_assert_int_eq(wd_source_exact(&source, 2, out, 3, NULL), WD_OK);
	ck_assert_int_eq(memcmp(out, "234", 3), 0);
	ck_assert_int_eq(
	    wd_source_exact(&source, 8, out, 3, &err), WD_TRUNCATED);
	ck_assert_uint_eq(err.offset, 10);
}
END_TEST

START_TEST(a_whole_file_fits_or_is_refused)
{
	struct wd_slice slice = { (const uint8_t *)text, 10 };
	struct wd_source source = wd_source_memory(&slice);
	struct wd_buf out;

	wd_buf_init(&out, 9);
	ck_assert_int_eq(wd_source_all(&source, &out, NULL), WD_LIMIT);
	ck_assert_uint_eq(out.len, 0);
	wd_buf_init(&out, 10);
	ck_assert_int_eq(wd_source_all(&source, &out, NULL), WD_OK);
	ck_assert_str_eq(wd_buf_string(&out), text);
	wd_buf_release(&out);
	source.size_bytes = 11; /* it was longer when the look began */
	wd_buf_init(&out, 20);
	ck_assert_int_eq(wd_source_all(&source, &out, NULL), WD_TRUNCATED);
	wd_buf_release(&out);
}
END_TEST

static const struct {
	const char *name;
	size_t len;
	bool allowed;
} names[] = {
	{ "a", 1, true },
	{ "model.gguf", 10, true },
	{ "...", 3, true },
	{ "..a", 3, true },
	{ " ", 1, true },
	{ "", 0, false },
	{ ".", 1, false },
	{ "..", 2, false },
	{ "a/b", 3, false },
	{ "/etc/passwd", 11, false },
	{ "../x", 4, false },
	{ "a/", 2, false },
	{ "a\0b", 3, false },
};

START_TEST(names_are_single_components)
{
	struct wd_slice name = { (const uint8_t *)names[_i].name,
		names[_i].len };

	ck_assert_int_eq(wd_folder_name_allowed(name), names[_i].allowed);
}
END_TEST

START_TEST(names_end_at_255_bytes)
{
	uint8_t name[256];

	memset(name, 'n', sizeof(name));
	ck_assert(wd_folder_name_allowed((struct wd_slice){ name, 255 }));
	ck_assert(!wd_folder_name_allowed((struct wd_slice){ name, 256 }));
}
END_TEST

/* A folder with a bit of everything. */
static char dir[WD_TEMP_BYTES];
static struct wd_folder_fd folder_fd;
static struct wd_folder folder;

static void
set_up(bool beneath)
{
	wd_temp_make(dir);
	wd_temp_write(wd_temp_path(dir, "outside.txt"), "outside", 7);
	ck_assert_int_eq(mkdir(wd_temp_path(dir, "in"), 0700), 0);
	wd_temp_write(wd_temp_path(dir, "in/file"), text, 10);
	ck_assert_int_eq(mkdir(wd_temp_path(dir, "in/sub"), 0700), 0);
	ck_assert_int_eq(mkfifo(wd_temp_path(dir, "in/fifo.gguf"), 0600), 0);
	ck_assert_int_eq(symlink("file", wd_temp_path(dir, "in/near")), 0);
	ck_assert_int_eq(
	    symlink("../outside.txt", wd_temp_path(dir, "in/far")), 0);
	ck_assert_int_eq(symlink("gone", wd_temp_path(dir, "in/broken")), 0);
	ck_assert_int_eq(
	    symlink("fifo.gguf", wd_temp_path(dir, "in/to_fifo")), 0);
	folder_fd.fd = open(wd_temp_path(dir, "in"), O_RDONLY | O_DIRECTORY);
	ck_assert_int_ge(folder_fd.fd, 0);
	folder_fd.beneath = beneath;
	folder = wd_folder_over_fd(&folder_fd);
}

static void
tear_down(void)
{
	(void)close(folder_fd.fd);
	wd_temp_remove(dir);
}

static const struct {
	const char *name;
	enum wd_status following; /* symbolic links, as in hub caches */
	enum wd_status beneath;
} entries[] = {
	{ "file", WD_OK, WD_OK },
	{ "near", WD_OK, WD_DENIED },
	{ "far", WD_OK, WD_DENIED },
	{ "broken", WD_NOTFOUND, WD_DENIED },
	{ "absent", WD_NOTFOUND, WD_NOTFOUND },
	{ "sub", WD_INVALID, WD_INVALID },
	{ "fifo.gguf", WD_INVALID, WD_INVALID },
	{ "to_fifo", WD_INVALID, WD_DENIED },
	{ "..", WD_INVALID, WD_INVALID },
	{ "../outside.txt", WD_INVALID, WD_INVALID },
	{ "sub/../file", WD_INVALID, WD_INVALID },
	{ "", WD_INVALID, WD_INVALID },
};

static void
open_and_check(const char *name, enum wd_status expected)
{
	struct wd_source source = { .read = NULL };
	struct wd_error err;
	char first = '?';

	wd_error_init(&err);
	ck_assert_int_eq(
	    folder.open(folder.ctx, wd_slice_text(name), &source, &err),
	    expected);
	if (expected != WD_OK) {
		ck_assert_int_eq(err.status, expected);
		return;
	}
	ck_assert_int_eq(wd_source_exact(&source, 0, &first, 1, NULL), WD_OK);
	ck_assert_int_eq(first, strcmp(name, "far") == 0 ? 'o' : '0');
	folder.close(folder.ctx, &source);
	ck_assert(source.read == NULL);
}

/* A test that blocks at the FIFO fails by its time limit. */
START_TEST(a_folder_opens_regular_files_only)
{
	set_up(false);
	open_and_check(entries[_i].name, entries[_i].following);
	tear_down();
}
END_TEST

START_TEST(a_folder_that_is_a_fence_does_not_lead_out)
{
	enum wd_status expected = entries[_i].beneath;

	set_up(true);
	open_and_check(entries[_i].name, expected);
	tear_down();
}
END_TEST

static bool
count_names(void *ctx, struct wd_slice name)
{
	size_t *count = ctx;

	ck_assert(wd_folder_name_allowed(name));
	(*count)++;
	return *count < 100;
}

static bool
stop_at_once(void *ctx, struct wd_slice name)
{
	size_t *count = ctx;

	(void)name;
	(*count)++;
	return false;
}

START_TEST(a_folder_lists_its_entries)
{
	size_t count = 0;

	set_up(true);
	ck_assert_int_eq(
	    folder.list(folder.ctx, count_names, &count, NULL), WD_OK);
	ck_assert_uint_eq(count, 7);
	count = 0; /* again: the descriptor's position is not used up */
	ck_assert_int_eq(
	    folder.list(folder.ctx, count_names, &count, NULL), WD_OK);
	ck_assert_uint_eq(count, 7);
	count = 0;
	ck_assert_int_eq(
	    folder.list(folder.ctx, stop_at_once, &count, NULL), WD_OK);
	ck_assert_uint_eq(count, 1);
	tear_down();
}
END_TEST

START_TEST(a_descriptor_must_be_a_regular_file)
{
	struct wd_source source;
	int pipes[2];

	ck_assert_int_eq(pipe(pipes), 0);
	ck_assert_int_eq(wd_source_fd(pipes[0], &source, NULL), WD_INVALID);
	ck_assert_int_ne(wd_source_fd(-1, &source, NULL), WD_OK);
	(void)close(pipes[0]);
	(void)close(pipes[1]);
}
END_TEST

START_TEST(a_descriptor_is_given_back)
{
	struct wd_slice slice = { (const uint8_t *)text, 10 };
	struct wd_source memory = wd_source_memory(&slice);
	struct wd_source source = { .read = NULL };

	set_up(true);
	ck_assert_int_eq(wd_source_fd(folder_fd.fd, &source, NULL), WD_INVALID);
	ck_assert_int_eq(wd_source_descriptor(&source), -1);
	ck_assert_int_eq(
	    folder.open(folder.ctx, wd_slice_text("file"), &source, NULL),
	    WD_OK);
	ck_assert_int_gt(wd_source_descriptor(&source), folder_fd.fd);
	folder.close(folder.ctx, &source);
	ck_assert_int_eq(wd_source_descriptor(&memory), -1);
	tear_down();
}
END_TEST

START_TEST(a_file_that_shrinks_is_told)
{
	struct wd_source source;
	char out[10];
	int fd;

	set_up(false);
	fd = open(wd_temp_path(dir, "in/file"), O_RDWR);
	ck_assert_int_eq(wd_source_fd(fd, &source, NULL), WD_OK);
	ck_assert_uint_eq(source.size_bytes, 10);
	ck_assert_int_eq(ftruncate(fd, 4), 0);
	ck_assert_int_eq(
	    wd_source_exact(&source, 0, out, 10, NULL), WD_TRUNCATED);
	(void)close(fd);
	tear_down();
}
END_TEST

WD_SUITE_BEGIN("bundle source")
WD_TEST(memory_ends_where_it_ends);
WD_TEST(a_whole_file_fits_or_is_refused);
WD_LOOP(names_are_single_components, names);
WD_TEST(names_end_at_255_bytes);
WD_LOOP(a_folder_opens_regular_files_only, entries);
WD_LOOP(a_folder_that_is_a_fence_does_not_lead_out, entries);
WD_TEST(a_folder_lists_its_entries);
WD_TEST(a_descriptor_must_be_a_regular_file);
WD_TEST(a_descriptor_is_given_back);
WD_TEST(a_file_that_shrinks_is_told);
WD_SUITE_END
