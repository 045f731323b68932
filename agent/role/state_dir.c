#include "role/state_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/slice.h"

#define NAME "VERSION"

static enum wd_status
write_version(int folder, const char *path, struct wd_error *err)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d\n", WD_STATE_VERSION);
	int fd = openat(folder, NAME,
	    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	ssize_t written;

	if (fd < 0)
		return wd_fail_errno(err, errno, "%s/" NAME, path);
	written = write(fd, text, (size_t)len);
	(void)close(fd);
	if (written == len)
		return WD_OK;
	/* Half a version would be no version. */
	(void)unlinkat(folder, NAME, 0);
	return wd_fail(err, WD_IO, "%s/" NAME " cannot be written", path);
}

static enum wd_status
read_version(int fd, const char *path, struct wd_error *err)
{
	char text[32];
	ssize_t len = read(fd, text, sizeof(text));
	struct wd_slice line = { (const uint8_t *)text, 0 };
	uint64_t version;

	if (len < 0)
		return wd_fail_errno(err, errno, "%s/" NAME, path);
	line.len = (size_t)len;
	if (wd_slice_ends(line, "\n"))
		line.len--;
	if (!wd_slice_number(line, 10, &version) || version == 0)
		return wd_fail(err, WD_CORRUPT,
		    "%s/" NAME " holds no number: is that the folder of "
		    "weightd's state? Remove it when it is",
		    path);
	if (version > WD_STATE_VERSION)
		return wd_fail(err, WD_UNSUPPORTED,
		    "%s was made by a newer weightd (version %llu, this one "
		    "knows %d); use that one, or set another state_dir",
		    path, (unsigned long long)version, WD_STATE_VERSION);
	return WD_OK;
}

static enum wd_status
check_version(int folder, const char *path, struct wd_error *err)
{
	int fd = openat(
	    folder, NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	enum wd_status st;

	if (fd < 0 && errno == ENOENT)
		return write_version(folder, path, err);
	if (fd < 0)
		return wd_fail_errno(err, errno, "%s/" NAME, path);
	st = read_version(fd, path, err);
	(void)close(fd);
	return st;
}

enum wd_status
wd_state_dir_open(const char *path, struct wd_error *err)
{
	int folder;
	enum wd_status st;

	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return wd_fail_errno(err, errno, "state_dir %s", path);
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return wd_fail_errno(err, errno, "state_dir %s", path);
	st = check_version(folder, path, err);
	(void)close(folder);
	return st;
}
