/* Nothing leads out of a folder that an operator named. */
#include "host/below.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "host/system.h"
#include "support/suite.h"
#include "support/tempdir.h"

static char dir[WD_TEMP_BYTES], root[WD_TEMP_BYTES + 8];
static struct wd_host *host;

static void
make(const char *name, const char *link_to)
{
	char path[WD_TEMP_BYTES + 64];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (link_to != NULL) {
		ck_assert_int_eq(symlink(link_to, path), 0);
		return;
	}
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(name, file), 0);
	(void)fclose(file);
}

static void
set_up(void)
{
	char path[WD_TEMP_BYTES + 64];

	wd_temp_make(dir);
	(void)snprintf(root, sizeof(root), "%s/root", dir);
	ck_assert_int_eq(mkdir(root, 0700), 0);
	(void)snprintf(path, sizeof(path), "%s/root/sub", dir);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	make("secret", NULL);
	make("root/m.gguf", NULL);
	make("root/sub/in", "../m.gguf");
	make("root/up", "../secret");
	make("root/far", "/etc/passwd");
	make("root/folder", "..");
	make("root/magic", "/proc/self/root/etc/passwd");
	ck_assert_int_eq(wd_host_system(true, &host, NULL), WD_OK);
}

static void
tear_down(void)
{
	wd_host_free(&host);
	wd_temp_remove(dir);
}

static const struct {
	const char *path;
	enum wd_status status;
} paths[] = {
	{ "m.gguf", WD_OK },
	{ "sub/in", WD_OK },
	{ "up", WD_DENIED },
	{ "far", WD_DENIED },
	{ "magic", WD_DENIED },
	{ "folder/secret", WD_DENIED },
	{ "sub/../../secret", WD_DENIED },
	{ "/etc/passwd", WD_DENIED },
	{ "none", WD_GONE },
};

START_TEST(a_file_is_below_or_denied)
{
	struct wd_file file;

	ck_assert_int_eq(wd_host_open_below(host, wd_slice_text(root),
			     wd_slice_text(paths[_i].path), &file, NULL),
	    paths[_i].status);
	ck_assert_int_eq(file.fd >= 0, paths[_i].status == WD_OK);
	if (paths[_i].status == WD_OK)
		ck_assert_uint_eq(file.state.size_bytes, strlen("root/m.gguf"));
	wd_file_release(&file);
}
END_TEST

START_TEST(a_folder_is_below_or_denied)
{
	int fd;

	ck_assert_int_eq(wd_host_folder_below(host, wd_slice_text(root),
			     wd_slice_text(""), &fd, NULL),
	    WD_OK);
	(void)close(fd);
	ck_assert_int_eq(wd_host_folder_below(host, wd_slice_text(root),
			     wd_slice_text("m.gguf"), &fd, NULL),
	    WD_INVALID);
	ck_assert_int_eq(wd_host_folder_below(host, wd_slice_text(root),
			     wd_slice_text("folder"), &fd, NULL),
	    WD_DENIED);
	ck_assert_int_eq(fd, -1);
}
END_TEST

WD_SUITE_BEGIN("host below")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_LOOP(a_file_is_below_or_denied, paths);
WD_TEST(a_folder_is_below_or_denied);
WD_SUITE_END
