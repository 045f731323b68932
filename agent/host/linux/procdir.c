#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

#include "host/linux/backend.h"
#include "host/linux/procfs.h"

/* The longest path we make: "PID/task/TID/map_files/START-END". */
#define PROC_PATH_BYTES 160

static bool __attribute__((format(printf, 2, 0)))
format_path(char path[PROC_PATH_BYTES], const char *format, va_list args)
{
	int len = vsnprintf(path, PROC_PATH_BYTES, format, args);

	if (len > 0 && len < PROC_PATH_BYTES)
		return true;
	errno = ENAMETOOLONG;
	return false;
}

int
wd_proc_open(const struct wd_linux *lx, int flags, const char *format, ...)
{
	char path[PROC_PATH_BYTES];
	va_list args;
	bool fits;

	va_start(args, format);
	fits = format_path(path, format, args);
	va_end(args);
	return fits ? openat(lx->proc, path, flags | O_CLOEXEC) : -1;
}

enum wd_status
wd_fd_read(int fd, struct wd_buf *out)
{
	uint8_t *space, over;
	size_t room;
	ssize_t got;

	for (;;) {
		room = out->max - out->len;
		if (room > 65536)
			room = 65536;
		if (room == 0) {
			got = read(fd, &over, 1);
			return got == 0 ? WD_OK :
			    got > 0     ? WD_LIMIT :
					  wd_status_from_errno(errno);
		}
		if (wd_buf_reserve(out, room, &space) != WD_OK)
			return out->status;
		got = read(fd, space, room);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return wd_status_from_errno(errno);
		if (got == 0)
			return WD_OK;
		wd_buf_advance(out, (size_t)got);
	}
}

enum wd_status
wd_proc_read(
    const struct wd_linux *lx, struct wd_buf *out, const char *format, ...)
{
	WD_CLEANUP(wd_close_scoped) int fd = -1;
	char path[PROC_PATH_BYTES];
	va_list args;
	bool fits;

	va_start(args, format);
	fits = format_path(path, format, args);
	va_end(args);
	if (!fits)
		return WD_INVALID;
	fd = openat(lx->proc, path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? wd_status_from_errno(errno) : wd_fd_read(fd, out);
}

enum wd_status
wd_proc_link(
    const struct wd_linux *lx, struct wd_link *link, const char *format, ...)
{
	char path[PROC_PATH_BYTES];
	va_list args;
	ssize_t len;
	bool fits;

	va_start(args, format);
	fits = format_path(path, format, args);
	va_end(args);
	link->len = 0;
	if (!fits)
		return WD_INVALID;
	len =
	    readlinkat(lx->proc, path, (char *)link->text, sizeof(link->text));
	if (len < 0)
		return errno == ENAMETOOLONG ? WD_LIMIT :
					       wd_status_from_errno(errno);
	if ((size_t)len == sizeof(link->text))
		return WD_LIMIT;
	link->len = (size_t)len;
	return WD_OK;
}

uint64_t
wd_proc_ns(const struct wd_linux *lx, pid_t pid, const char *kind)
{
	struct wd_link link;
	uint64_t inode = 0;

	if (wd_proc_link(lx, &link, "%d/ns/%s", (int)pid, kind) != WD_OK ||
	    !wd_parse_inode_link(
		(struct wd_slice){ link.text, link.len }, kind, &inode))
		return 0;
	return inode;
}

/* ---- folders ------------------------------------------------------------- */

/* The kernel's linux_dirent64, which no header of the C library gives. */
struct dirent_head {
	uint64_t inode;
	int64_t offset;
	uint16_t length;
	uint8_t type;
	char name[];
};

void
wd_dents_init(struct wd_dents *dents, int fd)
{
	dents->fd = fd;
	dents->filled = 0;
	dents->at = 0;
	dents->os_errno = 0;
}

/* Only 0 is the end: the kernel also leaves off early, with room left, when a
 * signal is pending (filldir64). */
static bool
refill(struct wd_dents *dents)
{
	long got = syscall(
	    SYS_getdents64, dents->fd, dents->block, sizeof(dents->block));

	dents->at = 0;
	dents->filled = got > 0 ? got : 0;
	if (got < 0)
		dents->os_errno = errno;
	return got > 0;
}

const char *
wd_dents_next(struct wd_dents *dents)
{
	const struct dirent_head *head;
	const char *name;

	for (;;) {
		if (dents->at >= dents->filled && !refill(dents)) {
			dents->at = dents->filled;
			return NULL;
		}
		head = (const void *)(dents->block + dents->at);
		dents->at += head->length;
		name = head->name;
		if (name[0] != '.' ||
		    (name[1] != '\0' && (name[1] != '.' || name[2] != '\0')))
			return name;
	}
}

int
wd_name_number(const char *name)
{
	uint64_t number;

	if (!wd_slice_number(wd_slice_text(name), 10, &number) ||
	    number > INT_MAX)
		return -1;
	return (int)number;
}

void
wd_close_scoped(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}
