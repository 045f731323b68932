#include "support/tempdir.h"

#include <check.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool
make(char dir[WD_TEMP_BYTES])
{
	const char *base = getenv("TMPDIR");
	char template[WD_TEMP_BYTES], real[PATH_MAX];

	(void)snprintf(template, sizeof(template), "%s/weightd-test.XXXXXX",
	    base != NULL && base[0] != '\0' ? base : "/tmp");
	if (mkdtemp(template) == NULL || realpath(template, real) == NULL ||
	    strlen(real) >= WD_TEMP_BYTES)
		return false;
	memcpy(dir, real, strlen(real) + 1);
	return true;
}

void
wd_temp_make(char dir[WD_TEMP_BYTES])
{
	ck_assert(make(dir));
}

static char whole[WD_TEMP_BYTES];

/* Check's assertions do not work in main. */
void
wd_temp_begin(void)
{
	if (!make(whole)) {
		perror("temporary folder");
		exit(EXIT_FAILURE);
	}
	/* A test that has become somebody else must get through. */
	(void)chmod(whole, 0711);
	(void)setenv("TMPDIR", whole, 1);
}

void
wd_temp_end(void)
{
	wd_temp_remove(whole);
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	(void)remove(path);
	return 0;
}

void
wd_temp_remove(const char *dir)
{
	(void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

const char *
wd_temp_path(const char *dir, const char *name)
{
	static char paths[4][2 * WD_TEMP_BYTES];
	static unsigned next;
	char *path = paths[next++ % 4];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

void
wd_temp_write(const char *path, const void *bytes, size_t len)
{
	FILE *file = fopen(path, "wb");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, len, file), len);
	ck_assert_int_eq(fclose(file), 0);
}
