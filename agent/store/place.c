#include "store/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"

#define FILE_NAME "digests.db"
#define SHOWN_BYTES 200

static void
close_scoped(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

static const char *
shown(char out[SHOWN_BYTES], const char *path)
{
	return wd_escape_short(out, SHOWN_BYTES, wd_slice_text(path));
}

/* mkdir -p; an existing directory keeps its mode. */
static enum wd_status
make_directories(const char *dir, struct wd_error *err)
{
	WD_CLEANUP(wd_free_scoped) char *path = wd_strdup(dir);
	char name[SHOWN_BYTES];
	char *slash;

	if (path == NULL)
		return wd_fail(err, WD_NOMEM, "store: out of memory");
	for (slash = strchr(path + 1, '/'); slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return wd_fail_errno(err, errno,
		    "state directory %s cannot be made (name another one)",
		    shown(name, dir));
	return WD_OK;
}

/* Nobody but us and root may be able to write what `st` describes. */
static enum wd_status
check_ours(const struct stat *st, const char *path, struct wd_error *err)
{
	char name[SHOWN_BYTES];

	if (st->st_uid != geteuid() && st->st_uid != 0)
		return wd_fail(err, WD_DENIED,
		    "%s belongs to user %lu, who could plant digests in it; "
		    "name another state directory, or chown it",
		    shown(name, path), (unsigned long)st->st_uid);
	if ((st->st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return wd_fail(err, WD_DENIED,
		    "%s can be written by other users, who could plant "
		    "digests in it; chmod go-w it",
		    shown(name, path));
	return WD_OK;
}

static enum wd_status
open_directory(const char *real, int *dir, struct wd_error *err)
{
	char name[SHOWN_BYTES];
	struct stat st;

	*dir = open(real, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*dir < 0 || fstat(*dir, &st) != 0)
		return wd_fail_errno(err, errno,
		    "state directory %s cannot be opened", shown(name, real));
	return check_ours(&st, real, err);
}

/* SQLite would take the mode from the umask; its -wal and -shm inherit it. */
static enum wd_status
make_file(int dir, const char *path, struct wd_error *err)
{
	int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(dir, FILE_NAME, flags, 0600);
	char name[SHOWN_BYTES];

	if (fd < 0 && errno != EEXIST)
		return wd_fail_errno(err, errno,
		    "store %s cannot be made; answers stay right, but every "
		    "digest is computed anew",
		    shown(name, path));
	if (fd >= 0)
		(void)close(fd);
	return WD_OK;
}

/* The file is never opened here: closing it again would drop the locks that
 * another connection of this process holds (POSIX). */
static enum wd_status
check_file(int dir, const char *path, struct wd_error *err)
{
	char name[SHOWN_BYTES];
	enum wd_status status;
	struct stat st;

	if (fstatat(dir, FILE_NAME, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return wd_fail_errno(err, errno, "store %s", shown(name, path));
	if (!S_ISREG(st.st_mode))
		return wd_fail(err, WD_INVALID,
		    "store %s is no regular file; remove it",
		    shown(name, path));
	status = check_ours(&st, path, err);
	if (status != WD_OK)
		return status;
	/* A read-only file system refuses; SQLite will say so. */
	if ((st.st_mode & 077) != 0)
		(void)fchmodat(dir, FILE_NAME, 0600, 0);
	return WD_OK;
}

enum wd_status
wd_place_prepare(const char *state_dir, char **path, struct wd_error *err)
{
	WD_CLEANUP(close_scoped) int dir = -1;
	WD_CLEANUP(wd_buf_release) struct wd_buf name;
	char real[PATH_MAX], text[SHOWN_BYTES];
	enum wd_status st;

	wd_buf_init(&name, WD_MAX_PATH);
	if (state_dir[0] == '\0')
		return wd_fail(err, WD_INVALID, "no state directory is named");
	st = make_directories(state_dir, err);
	if (st != WD_OK)
		return st;
	if (realpath(state_dir, real) == NULL)
		return wd_fail_errno(
		    err, errno, "state directory %s", shown(text, state_dir));
	st = open_directory(real, &dir, err);
	if (st != WD_OK)
		return st;
	if (wd_buf_printf(&name, "%s/" FILE_NAME, real) != WD_OK)
		return wd_fail(err, name.status, "state directory %s",
		    shown(text, state_dir));
	st = make_file(dir, wd_buf_string(&name), err);
	if (st == WD_OK)
		st = check_file(dir, wd_buf_string(&name), err);
	if (st != WD_OK)
		return st;
	*path = wd_buf_detach(&name);
	return WD_OK;
}

/* A -wal left behind would be played into the new file. */
static void
remove_companions(const char *path)
{
	static const char *const ends[] = { "-wal", "-shm", "-journal" };
	char name[PATH_MAX];
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		(void)snprintf(name, sizeof(name), "%s%s", path, ends[i]);
		(void)unlink(name);
	}
}

enum wd_status
wd_place_move_aside(const char *path, char **aside, struct wd_error *err)
{
	char name[PATH_MAX], text[SHOWN_BYTES];
	struct stat st;
	unsigned n;

	for (n = 1; n <= WD_PLACE_ASIDE; n++) {
		(void)snprintf(name, sizeof(name), "%s.corrupt-%u", path, n);
		if (lstat(name, &st) != 0 && errno == ENOENT)
			break;
	}
	if (rename(path, name) != 0)
		return wd_fail_errno(err, errno,
		    "store %s is damaged and cannot be moved aside; remove it",
		    shown(text, path));
	remove_companions(path);
	*aside = wd_strdup(name);
	if (*aside == NULL)
		return wd_fail(err, WD_NOMEM, "store: out of memory");
	return WD_OK;
}
