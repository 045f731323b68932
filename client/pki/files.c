#include "pki/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"

#define MODE_BITS 07777
#define OTHERS_READ 077
#define OTHERS_WRITE 022
#define TEMPORARY_BYTES 40

/* "FOLDER/NAME", made safe, for messages. */
static const char *
show(const struct wd_pki_folder *folder, const char *name, char *out,
    size_t size)
{
	char path[WD_MAX_PATH];

	if (folder->fd == AT_FDCWD || strcmp(folder->path, ".") == 0)
		(void)snprintf(path, sizeof(path), "%s", name);
	else
		(void)snprintf(path, sizeof(path), "%s/%s", folder->path, name);
	return wd_escape_short(out, size, wd_slice_text(path));
}

static enum wd_status
fail_errno(struct wd_error *err, int os_errno,
    const struct wd_pki_folder *folder, const char *name, const char *verb)
{
	char shown[256];

	return wd_fail_errno(err, os_errno, "%s: cannot %s",
	    show(folder, name, shown, sizeof(shown)), verb);
}

/* ---- folders ------------------------------------------------------------- */

static enum wd_status
check_folder(const struct wd_pki_folder *folder, struct wd_error *err)
{
	struct stat state;
	char shown[256];

	wd_escape_short(shown, sizeof(shown), wd_slice_text(folder->path));
	if (fstat(folder->fd, &state) != 0)
		return wd_fail_errno(err, errno, "%s: cannot stat", shown);
	if ((state.st_mode & OTHERS_WRITE) != 0)
		return wd_fail(err, WD_INVALID,
		    "%s: others may write there and could put another key in "
		    "place; run chmod 700 on it, or choose another folder",
		    shown);
	return WD_OK;
}

enum wd_status
wd_pki_folder_open(const char *path, bool make, bool is_secret,
    struct wd_pki_folder *folder, struct wd_error *err)
{
	char shown[256];
	enum wd_status st = WD_OK;

	*folder = (struct wd_pki_folder){ -1, path };
	wd_escape_short(shown, sizeof(shown), wd_slice_text(path));
	if (make && mkdir(path, 0700) != 0 && errno != EEXIST)
		return wd_fail_errno(
		    err, errno, "%s: cannot make the folder", shown);
	folder->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder->fd < 0)
		return wd_fail_errno(
		    err, errno, "%s: cannot open the folder", shown);
	if (is_secret)
		st = check_folder(folder, err);
	if (st != WD_OK)
		wd_pki_folder_close(folder);
	return st;
}

void
wd_pki_folder_close(struct wd_pki_folder *folder)
{
	if (folder->fd >= 0)
		(void)close(folder->fd);
	folder->fd = -1;
}

bool
wd_pki_is_there(const struct wd_pki_folder *folder, const char *name)
{
	struct stat state;

	return fstatat(folder->fd, name, &state, AT_SYMLINK_NOFOLLOW) == 0;
}

static enum wd_status
refuse_taken(
    const struct wd_pki_folder *folder, const char *name, struct wd_error *err)
{
	char shown[256];

	return wd_fail(err, WD_BUSY,
	    "%s: is there already and is never overwritten; move it away "
	    "first",
	    show(folder, name, shown, sizeof(shown)));
}

enum wd_status
wd_pki_must_be_free(
    const struct wd_pki_folder *folder, const char *name, struct wd_error *err)
{
	return wd_pki_is_there(folder, name) ? refuse_taken(folder, name, err) :
					       WD_OK;
}

/* ---- writing ------------------------------------------------------------- */

static int
write_all(int fd, struct wd_slice bytes)
{
	ssize_t done;

	while (bytes.len > 0) {
		done = write(fd, bytes.data, bytes.len);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return errno;
		bytes.data += done;
		bytes.len -= (size_t)done;
	}
	return 0;
}

/* Returns an errno value. The mode is set, not asked for: the umask must not
 * decide over it. */
static int
fill(int fd, unsigned mode, struct wd_slice bytes)
{
	int wrong;

	if (fchmod(fd, (mode_t)mode) != 0)
		return errno;
	wrong = write_all(fd, bytes);
	if (wrong == 0 && fsync(fd) != 0)
		wrong = errno;
	return wrong;
}

static bool
name_temporary(char name[TEMPORARY_BYTES])
{
	uint64_t random[2];

	if (getentropy(random, sizeof(random)) != 0)
		return false;
	(void)snprintf(name, TEMPORARY_BYTES, ".%016llx%016llx",
	    (unsigned long long)random[0], (unsigned long long)random[1]);
	return true;
}

/* A whole file under a name that nobody knows. Returns an errno value. */
static int
write_temporary(const struct wd_pki_folder *folder, unsigned mode,
    struct wd_slice bytes, char name[TEMPORARY_BYTES])
{
	int fd, wrong;

	if (!name_temporary(name))
		return errno;
	fd = openat(folder->fd, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	wrong = fill(fd, mode, bytes);
	if (close(fd) != 0 && wrong == 0)
		wrong = errno;
	if (wrong != 0)
		(void)unlinkat(folder->fd, name, 0);
	return wrong;
}

enum wd_status
wd_pki_write(const struct wd_pki_folder *folder, const char *name,
    unsigned mode, struct wd_slice bytes, struct wd_error *err)
{
	char temporary[TEMPORARY_BYTES];
	int wrong = write_temporary(folder, mode, bytes, temporary);

	if (wrong != 0)
		return fail_errno(err, wrong, folder, name, "write");
	if (linkat(folder->fd, temporary, folder->fd, name, 0) != 0)
		wrong = errno;
	(void)unlinkat(folder->fd, temporary, 0);
	if (wrong == EEXIST)
		return refuse_taken(folder, name, err);
	if (wrong != 0)
		return fail_errno(err, wrong, folder, name, "write");
	(void)fsync(folder->fd);
	return WD_OK;
}

enum wd_status
wd_pki_replace(const struct wd_pki_folder *folder, const char *name,
    unsigned mode, struct wd_slice bytes, struct wd_error *err)
{
	char temporary[TEMPORARY_BYTES];
	int wrong = write_temporary(folder, mode, bytes, temporary);

	if (wrong != 0)
		return fail_errno(err, wrong, folder, name, "write");
	if (renameat(folder->fd, temporary, folder->fd, name) != 0) {
		wrong = errno;
		(void)unlinkat(folder->fd, temporary, 0);
		return fail_errno(err, wrong, folder, name, "replace");
	}
	(void)fsync(folder->fd);
	return WD_OK;
}

void
wd_pki_remove(const struct wd_pki_folder *folder, const char *name)
{
	(void)unlinkat(folder->fd, name, 0);
}

/* ---- reading ------------------------------------------------------------- */

static void
close_scoped(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

static enum wd_status
check_file(int fd, bool is_secret, const struct wd_pki_folder *folder,
    const char *name, struct wd_error *err)
{
	struct stat state;
	char shown[256];

	if (fstat(fd, &state) != 0)
		return fail_errno(err, errno, folder, name, "stat");
	show(folder, name, shown, sizeof(shown));
	if (!S_ISREG(state.st_mode))
		return wd_fail(err, WD_INVALID, "%s: is no file", shown);
	if (is_secret && (state.st_mode & OTHERS_READ) != 0)
		return wd_fail(err, WD_INVALID,
		    "%s: holds a key, and others may read it (mode %04o); run "
		    "chmod 600 on it, and make a new key if they could have",
		    shown, (unsigned)(state.st_mode & MODE_BITS));
	return WD_OK;
}

enum wd_status
wd_pki_read(const struct wd_pki_folder *folder, const char *name,
    bool is_secret, struct wd_buf *bytes, struct wd_error *err)
{
	/* A FIFO must not block us. */
	WD_CLEANUP(close_scoped)
	int fd = openat(
	    folder->fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char part[4096], shown[256];
	enum wd_status st;
	ssize_t got;

	if (fd < 0)
		return fail_errno(err, errno, folder, name, "open");
	st = check_file(fd, is_secret, folder, name, err);
	if (st != WD_OK)
		return st;
	while ((got = read(fd, part, sizeof(part))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail_errno(err, errno, folder, name, "read");
		if (wd_buf_append(bytes, part, (size_t)got) != WD_OK)
			return wd_fail(err, bytes->status,
			    "%s: is too large to be what it should",
			    show(folder, name, shown, sizeof(shown)));
	}
	return WD_OK;
}

enum wd_status
wd_pki_read_path(const char *path, bool is_secret, struct wd_buf *bytes,
    struct wd_error *err)
{
	struct wd_pki_folder here = { AT_FDCWD, "." };

	return wd_pki_read(&here, path, is_secret, bytes, err);
}
