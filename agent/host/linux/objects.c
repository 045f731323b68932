#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "host/linux/backend.h"

static const char denied_remedy[] =
    "the object itself is out of reach: CAP_SYS_ADMIN or "
    "CAP_CHECKPOINT_RESTORE, and CAP_SYS_PTRACE, are missing, or a security "
    "module or container boundary forbids it; run the agent as root on the "
    "host";

/* Reopens an O_PATH descriptor for reading. Only a regular file is: opening a
 * FIFO could wait for ever and a device could act. O_NONBLOCK also keeps a
 * foreign lease from holding us. */
static enum wd_status
reopen(struct wd_host *host, int path_fd, struct wd_file *file,
    struct wd_error *err)
{
	struct wd_object_id id;
	enum wd_status st;
	char name[48];

	if (!wd_object_id_of(path_fd, &id))
		return wd_fail_errno(err, errno, "looking at a file");
	if (!S_ISREG(id.mode))
		return wd_fail(err, WD_INVALID,
		    "it is no regular file (mode %o), so it holds no weights",
		    (unsigned)id.mode);
	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", path_fd);
	file->fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (file->fd < 0)
		return wd_fail_errno(err, errno, "opening a file for reading");
	st = wd_linux_file_state(host, file->fd, &file->state, err);
	if (st != WD_OK)
		wd_close_scoped(&file->fd);
	return st;
}

/* ---- the very object ----------------------------------------------------- */

static int
object_path_fd(const struct wd_linux *lx, const struct wd_object_ref *ref)
{
	pid_t tid = ref->tid != 0 ? ref->tid : ref->pid;

	if (!ref->is_mapping)
		return wd_proc_open(lx, O_PATH, "%d/fd/%d", (int)tid, ref->fd);
	if (lx->options.no_map_files) {
		errno = EPERM;
		return -1;
	}
	return wd_proc_open(lx, O_PATH, "%d/map_files/%llx-%llx", (int)tid,
	    (unsigned long long)ref->start, (unsigned long long)ref->end);
}

static bool
is_mapped_object(int fd, const struct wd_mapping *mapping)
{
	struct wd_object_id id;

	return fd >= 0 && wd_object_id_of(fd, &id) &&
	    id.device == mapping->device && id.inode == mapping->inode &&
	    wd_linux_numbers_comparable(fd);
}

/* maps writes a newline as \012, which a name may also hold as it is; the
 * object that fits decides. False when there is nothing to decode. */
static bool
decode_newlines(struct wd_slice path, struct wd_buf *decoded)
{
	size_t i;
	bool any = false;

	for (i = 0; i < path.len; i++) {
		bool newline = path.len - i >= 4 &&
		    wd_slice_starts(
			(struct wd_slice){ path.data + i, 4 }, "\\012");

		wd_buf_byte(decoded, newline ? '\n' : path.data[i]);
		any |= newline;
		i += newline ? 3 : 0;
	}
	return any && decoded->status == WD_OK;
}

static int
resolve_mapped(struct wd_linux *lx, pid_t pid, struct wd_slice path,
    const struct wd_mapping *mapping)
{
	int fd = wd_linux_resolve(lx, pid, path);

	if (is_mapped_object(fd, mapping))
		return fd;
	wd_close_scoped(&fd);
	if (lx->live && lx->mntns != 0 &&
	    wd_proc_ns(lx, pid, "mnt") == lx->mntns)
		fd = wd_linux_resolve_own(path);
	if (is_mapped_object(fd, mapping))
		return fd;
	wd_close_scoped(&fd);
	return -1;
}

/* Without the right to map_files: by path, and only if the object found there
 * has the numbers that the mapping printed. */
static enum wd_status
open_by_path(struct wd_linux *lx, const struct wd_object_ref *ref,
    const struct wd_mapping *mapping, struct wd_file *file,
    struct wd_error *err)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf decoded = { 0 };
	WD_CLEANUP(wd_close_scoped) int fd = -1;
	struct wd_slice path = wd_bytes_slice(&mapping->path);

	wd_buf_init(&decoded, WD_MAX_PATH);
	if (mapping->deleted || path.len == 0)
		return wd_fail(err, WD_DENIED,
		    "process %d maps a deleted file and %s", (int)ref->pid,
		    denied_remedy);
	fd = resolve_mapped(lx, ref->pid, path, mapping);
	if (fd < 0 && decode_newlines(path, &decoded))
		fd = resolve_mapped(
		    lx, ref->pid, wd_buf_slice(&decoded), mapping);
	if (fd < 0)
		return wd_fail(err, WD_DENIED,
		    "what is at the path of a mapping of process %d cannot be "
		    "shown to be what it maps, and %s",
		    (int)ref->pid, denied_remedy);
	return reopen(&lx->host, fd, file, err);
}

enum wd_status
wd_linux_open_object(struct wd_host *host, const struct wd_object_ref *ref,
    const struct wd_mapping *mapping, struct wd_file *file,
    struct wd_error *err)
{
	struct wd_linux *lx = wd_linux_of(host);
	WD_CLEANUP(wd_close_scoped) int fd = object_path_fd(lx, ref);

	if (fd >= 0)
		return reopen(host, fd, file, err);
	if ((errno == EPERM || errno == EACCES) && ref->is_mapping &&
	    mapping != NULL)
		return open_by_path(lx, ref, mapping, file, err);
	if (errno == EPERM || errno == EACCES)
		return ref->is_mapping ?
		    wd_fail(err, WD_DENIED, "a mapping of process %d: %s",
			(int)ref->pid, denied_remedy) :
		    wd_linux_fail_look(
			lx, "descriptors", ref->pid, WD_DENIED, err);
	if (ref->is_mapping)
		return wd_fail_errno(err, errno,
		    "opening the mapping %llx-%llx of process %d",
		    (unsigned long long)ref->start,
		    (unsigned long long)ref->end, (int)ref->pid);
	return wd_fail_errno(err, errno, "opening descriptor %d of process %d",
	    ref->fd, (int)ref->pid);
}

/* ---- by path ------------------------------------------------------------- */

static enum wd_status
check_path(struct wd_slice path, struct wd_error *err)
{
	size_t i;

	if (path.len == 0 || path.len >= WD_MAX_PATH)
		return wd_fail(err, WD_INVALID,
		    "a path of %zu bytes; 1 to %d are possible", path.len,
		    WD_MAX_PATH - 1);
	for (i = 0; i < path.len; i++)
		if (path.data[i] == '\0')
			return wd_fail(err, WD_INVALID,
			    "a path with a NUL in it (byte %zu)", i);
	return WD_OK;
}

enum wd_status
wd_linux_open_path(struct wd_host *host, pid_t pid, struct wd_slice path,
    struct wd_file *file, struct wd_error *err)
{
	struct wd_linux *lx = wd_linux_of(host);
	WD_CLEANUP(wd_close_scoped) int fd = -1;
	enum wd_status st = check_path(path, err);

	if (st != WD_OK)
		return st;
	fd = wd_linux_resolve(lx, pid, path);
	if (fd < 0)
		return wd_fail_errno(err, errno,
		    "opening a path as process %d sees it", (int)pid);
	return reopen(host, fd, file, err);
}

enum wd_status
wd_linux_open_folder(struct wd_host *host, pid_t pid, struct wd_slice path,
    int *fd, struct wd_error *err)
{
	struct wd_linux *lx = wd_linux_of(host);
	WD_CLEANUP(wd_close_scoped) int found = -1;
	enum wd_status st = check_path(path, err);

	if (st != WD_OK)
		return st;
	found = wd_linux_resolve(lx, pid, path);
	if (found < 0)
		return wd_fail_errno(err, errno,
		    "opening a folder as process %d sees it", (int)pid);
	*fd = openat(found, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*fd >= 0)
		return WD_OK;
	if (errno == ENOTDIR)
		return wd_fail(err, WD_INVALID, "it is no folder");
	return wd_fail_errno(
	    err, errno, "opening a folder as process %d sees it", (int)pid);
}

enum wd_status
wd_linux_open_below(struct wd_host *host, struct wd_slice root,
    struct wd_slice path, struct wd_file *file, int *folder,
    struct wd_error *err)
{
	WD_CLEANUP(wd_close_scoped) int found = -1;
	struct wd_slice name = path.len == 0 ? wd_slice_text(".") : path;
	enum wd_status st = check_path(root, err);

	if (st == WD_OK)
		st = check_path(name, err);
	if (st != WD_OK)
		return st;
	found = wd_linux_resolve_below(root, name);
	if (found < 0 && errno == EXDEV)
		return wd_fail(
		    err, WD_DENIED, "the path leads out of its folder");
	if (found < 0)
		return wd_fail_errno(err, errno, "opening a path");
	if (folder == NULL)
		return reopen(host, found, file, err);
	*folder = openat(found, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*folder >= 0)
		return WD_OK;
	if (errno == ENOTDIR)
		return wd_fail(err, WD_INVALID, "it is no folder");
	return wd_fail_errno(err, errno, "opening a folder");
}
