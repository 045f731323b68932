#include "bundle/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/mem.h"

#define NAME_BYTES 255

enum wd_status
wd_source_exact(const struct wd_source *source, uint64_t offset, void *bytes,
    size_t len, struct wd_error *err)
{
	uint8_t *at = bytes;
	size_t got, done = 0;
	enum wd_status st;

	while (done < len) {
		st = source->read(source->ctx, offset + done, at + done,
		    len - done, &got, err);
		if (st != WD_OK)
			return st;
		if (got == 0)
			return wd_fail_at(err, WD_TRUNCATED, offset + done,
			    "the file ends at byte %llu, within what it "
			    "promises",
			    (unsigned long long)(offset + done));
		done += got;
	}
	return WD_OK;
}

enum wd_status
wd_source_all(
    const struct wd_source *source, struct wd_buf *out, struct wd_error *err)
{
	enum wd_status st;
	uint8_t *space;
	size_t len;

	if (source->size_bytes > out->max)
		return wd_fail(err, WD_LIMIT,
		    "the file has %llu bytes, more than the %zu that are read",
		    (unsigned long long)source->size_bytes, out->max);
	len = (size_t)source->size_bytes;
	if (len == 0)
		return WD_OK;
	if (wd_buf_reserve(out, len, &space) != WD_OK)
		return wd_fail(err, out->status, "no memory for the file");
	st = wd_source_exact(source, 0, space, len, err);
	if (st == WD_OK)
		wd_buf_advance(out, len);
	return st;
}

static enum wd_status
memory_read(void *ctx, uint64_t offset, void *bytes, size_t len, size_t *got,
    struct wd_error *err)
{
	const struct wd_slice *slice = ctx;

	(void)err;
	*got = 0;
	if (offset >= slice->len)
		return WD_OK;
	*got = slice->len - (size_t)offset;
	if (*got > len)
		*got = len;
	memcpy(bytes, slice->data + offset, *got);
	return WD_OK;
}

struct wd_source
wd_source_memory(const struct wd_slice *slice)
{
	struct wd_source source = { memory_read, NULL, slice->len };

	/* The vtable's context is not const; this one is only read. */
	memcpy(&source.ctx, &slice, sizeof(source.ctx));
	return source;
}

static int
context_fd(void *ctx)
{
	return (int)(intptr_t)ctx;
}

static enum wd_status
fd_read(void *ctx, uint64_t offset, void *bytes, size_t len, size_t *got,
    struct wd_error *err)
{
	ssize_t n;

	*got = 0;
	if (offset > INT64_MAX)
		return WD_OK;
	do
		n = pread(context_fd(ctx), bytes, len, (off_t)offset);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return wd_fail_errno(err, errno, "cannot read the file");
	*got = (size_t)n;
	return WD_OK;
}

enum wd_status
wd_source_fd(int fd, struct wd_source *source, struct wd_error *err)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return wd_fail_errno(err, errno, "cannot stat the file");
	if (!S_ISREG(st.st_mode))
		return wd_fail(err, WD_INVALID, "it is no regular file");
	*source = (struct wd_source){ fd_read, (void *)(intptr_t)fd,
		(uint64_t)st.st_size };
	return WD_OK;
}

int
wd_source_descriptor(const struct wd_source *source)
{
	return source->read == fd_read ? context_fd(source->ctx) : -1;
}

bool
wd_folder_name_allowed(struct wd_slice name)
{
	if (name.len == 0 || name.len > NAME_BYTES)
		return false;
	if (memchr(name.data, '/', name.len) != NULL ||
	    memchr(name.data, '\0', name.len) != NULL)
		return false;
	return !wd_slice_equal(name, wd_slice_text(".")) &&
	    !wd_slice_equal(name, wd_slice_text(".."));
}

/* O_NONBLOCK: opening a FIFO must not wait for its writer. */
#define OPEN_FLAGS (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

static enum wd_status
open_failed(int os_errno, const char *shown, struct wd_error *err)
{
	if (os_errno == ENOENT || os_errno == ENOTDIR)
		return wd_fail(err, WD_NOTFOUND, "%s is not there", shown);
	if (os_errno == ELOOP)
		return wd_fail(err, WD_DENIED,
		    "%s is a symbolic link that is not followed", shown);
	if (os_errno == ENXIO || os_errno == ENODEV)
		return wd_fail(err, WD_INVALID, "%s is no regular file", shown);
	return wd_fail_errno(err, os_errno, "cannot open %s", shown);
}

/* Opening a device or a socket could do something, so what a name leads to is
 * looked at before; fstat after the open has the last word. */
static bool
is_other_kind(const struct wd_folder_fd *folder, const char *name)
{
	int flags = folder->beneath ? AT_SYMLINK_NOFOLLOW : 0;
	struct stat st;

	return fstatat(folder->fd, name, &st, flags) == 0 &&
	    !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode);
}

static enum wd_status
folder_open(void *ctx, struct wd_slice name, struct wd_source *source,
    struct wd_error *err)
{
	const struct wd_folder_fd *folder = ctx;
	int flags = OPEN_FLAGS | (folder->beneath ? O_NOFOLLOW : 0);
	char text[NAME_BYTES + 1], shown[128];
	enum wd_status st;
	int fd;

	(void)wd_escape_short(shown, sizeof(shown), name);
	if (!wd_folder_name_allowed(name))
		return wd_fail(err, WD_INVALID,
		    "\"%s\" is no name of a file in this folder", shown);
	memcpy(text, name.data, name.len);
	text[name.len] = '\0';
	if (is_other_kind(folder, text))
		return wd_fail(err, WD_INVALID, "%s is no regular file", shown);
	fd = openat(folder->fd, text, flags);
	if (fd < 0)
		return open_failed(errno, shown, err);
	st = wd_source_fd(fd, source, err);
	if (st != WD_OK)
		(void)close(fd);
	return st;
}

static void
folder_close(void *ctx, struct wd_source *source)
{
	(void)ctx;
	(void)close(context_fd(source->ctx));
	*source = (struct wd_source){ .read = NULL };
}

#define LINK_BYTES 4096

enum wd_status
wd_folder_link(
    int fd, struct wd_slice name, struct wd_buf *text, struct wd_error *err)
{
	char name_text[NAME_BYTES + 1];
	uint8_t *space;
	ssize_t len;

	if (!wd_folder_name_allowed(name))
		return wd_fail(err, WD_INVALID, "no name of a file");
	memcpy(name_text, name.data, name.len);
	name_text[name.len] = '\0';
	if (wd_buf_reserve(text, LINK_BYTES, &space) != WD_OK)
		return wd_fail(err, text->status, "no room for a link");
	len = readlinkat(fd, name_text, (char *)space, LINK_BYTES);
	if (len < 0 && errno == EINVAL)
		return wd_fail(err, WD_INVALID, "it is no link");
	if (len < 0 && errno == ENOENT)
		return wd_fail(err, WD_NOTFOUND, "the link is not there");
	if (len < 0)
		return wd_fail_errno(err, errno, "cannot read the link");
	wd_buf_advance(text, (size_t)len);
	return WD_OK;
}

static enum wd_status
list_entries(DIR *dir, bool (*each)(void *each_ctx, struct wd_slice name),
    void *each_ctx, struct wd_error *err)
{
	const struct dirent *entry;

	for (;;) {
		errno = 0;
		entry = readdir(dir);
		if (entry == NULL && errno != 0)
			return wd_fail_errno(
			    err, errno, "cannot list the folder");
		if (entry == NULL)
			return WD_OK;
		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		if (!each(each_ctx, wd_slice_text(entry->d_name)))
			return WD_OK;
	}
}

static enum wd_status
folder_list(void *ctx, bool (*each)(void *each_ctx, struct wd_slice name),
    void *each_ctx, struct wd_error *err)
{
	const struct wd_folder_fd *folder = ctx;
	enum wd_status st;
	DIR *dir;
	/* A descriptor of its own: the caller's keeps its position. */
	int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return wd_fail_errno(err, errno, "cannot list the folder");
	dir = fdopendir(fd);
	if (dir == NULL) {
		st = wd_fail_errno(err, errno, "cannot list the folder");
		(void)close(fd);
		return st;
	}
	st = list_entries(dir, each, each_ctx, err);
	(void)closedir(dir);
	return st;
}

struct wd_folder
wd_folder_over_fd(struct wd_folder_fd *folder)
{
	return (struct wd_folder){ folder_open, folder_close, folder_list,
		folder, NULL };
}
