/*
 * Paths as another process sees them, and what the kernel's text for an open
 * object means.
 *
 * Nothing here opens a file for reading: O_PATH names the object without
 * touching it, so a FIFO does not block and a device is not started.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "host/linux/backend.h"

/* ---- identity of objects ------------------------------------------------- */

static bool
object_id(int folder, const char *name, int flags, struct wd_object_id *id)
{
	struct statx stat;

	/* AT_STATX_DONT_SYNC: no question to a server that may be dead. */
	if (statx(folder, name, flags | AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT,
		STATX_BASIC_STATS, &stat) < 0)
		return false;
	*id = (struct wd_object_id){
		.device = makedev(stat.stx_dev_major, stat.stx_dev_minor),
		.inode = stat.stx_ino,
		.rdev = makedev(stat.stx_rdev_major, stat.stx_rdev_minor),
		.links = stat.stx_nlink,
		.mode = stat.stx_mode,
	};
	return true;
}

bool
wd_object_id_at(int folder, const char *name, struct wd_object_id *id)
{
	return object_id(folder, name, 0, id);
}

bool
wd_object_id_of(int fd, struct wd_object_id *id)
{
	return object_id(fd, "", AT_EMPTY_PATH, id);
}

static bool
same_object(const struct wd_object_id *a, const struct wd_object_id *b)
{
	return a->device == b->device && a->inode == b->inode;
}

/* ---- resolving ----------------------------------------------------------- */

static int
open_below(int root, const char *path, uint64_t resolve)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
		.resolve = resolve | RESOLVE_NO_MAGICLINKS };

	return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

static bool
has_nul(struct wd_slice path)
{
	return path.len > 0 && memchr(path.data, '\0', path.len) != NULL;
}

static bool
path_text(struct wd_slice path, char text[WD_MAX_PATH])
{
	if (path.len == 0 || path.len >= WD_MAX_PATH || has_nul(path)) {
		errno = path.len >= WD_MAX_PATH ? ENAMETOOLONG : EINVAL;
		return false;
	}
	memcpy(text, path.data, path.len);
	text[path.len] = '\0';
	return true;
}

int
wd_linux_resolve_own(struct wd_slice path)
{
	char text[WD_MAX_PATH];

	if (!path_text(path, text))
		return -1;
	return open_below(AT_FDCWD, text, 0);
}

int
wd_linux_resolve_below(struct wd_slice root, struct wd_slice path)
{
	WD_CLEANUP(wd_close_scoped) int folder = wd_linux_resolve_own(root);
	char text[WD_MAX_PATH];

	if (folder < 0 || !path_text(path, text))
		return -1;
	return open_below(folder, text, RESOLVE_BENEATH);
}

/* The working directory's path below the process's root: the kernel shows
 * both as the reader sees them, so a common beginning is cut off. */
static struct wd_slice
inside_root(const struct wd_link *cwd, const struct wd_link *root)
{
	struct wd_slice inside = { cwd->text, cwd->len };

	if (root->len > 1 && cwd->len >= root->len &&
	    memcmp(cwd->text, root->text, root->len) == 0 &&
	    (cwd->len == root->len || cwd->text[root->len] == '/')) {
		inside.data += root->len;
		inside.len -= root->len;
	}
	return inside;
}

/* A relative path is joined to the working directory's and resolved from the
 * root, so that ".." and absolute links mean what they mean to the process.
 * That the text led to the true working directory is checked. */
static bool
join_cwd(const struct wd_linux *lx, pid_t pid, int root, struct wd_slice path,
    struct wd_buf *joined)
{
	WD_CLEANUP(wd_close_scoped) int true_cwd = -1;
	WD_CLEANUP(wd_close_scoped) int found = -1;
	struct wd_link cwd, at_root;
	struct wd_object_id a, b;

	if (wd_proc_link(lx, &cwd, "%d/cwd", (int)pid) != WD_OK ||
	    wd_proc_link(lx, &at_root, "%d/root", (int)pid) != WD_OK)
		return false;
	wd_buf_byte(joined, '/');
	if (wd_buf_append(joined, inside_root(&cwd, &at_root).data,
		inside_root(&cwd, &at_root).len) != WD_OK)
		return false;
	true_cwd = wd_proc_open(lx, O_PATH | O_DIRECTORY, "%d/cwd", (int)pid);
	found = open_below(root, wd_buf_string(joined), RESOLVE_IN_ROOT);
	if (true_cwd < 0 || found < 0 || !wd_object_id_of(true_cwd, &a) ||
	    !wd_object_id_of(found, &b) || !same_object(&a, &b))
		return false;
	wd_buf_byte(joined, '/');
	return wd_buf_append(joined, path.data, path.len) == WD_OK;
}

int
wd_linux_path_below_root(const struct wd_linux *lx, pid_t pid,
    struct wd_slice path, struct wd_buf *joined)
{
	int root;

	if (path.len == 0 || path.len >= WD_MAX_PATH || has_nul(path)) {
		errno = EINVAL;
		return -1;
	}
	root = wd_proc_open(lx, O_PATH | O_DIRECTORY, "%d/root", (int)pid);
	if (root < 0)
		return -1;
	if (path.data[0] == '/')
		wd_buf_append(joined, path.data, path.len);
	else if (!join_cwd(lx, pid, root, path, joined)) {
		(void)close(root);
		errno = ENOENT;
		return -1;
	}
	return root;
}

int
wd_linux_resolve(const struct wd_linux *lx, pid_t pid, struct wd_slice path)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf joined = { 0 };
	WD_CLEANUP(wd_close_scoped) int root = -1;

	wd_buf_init(&joined, 2 * WD_MAX_PATH);
	root = wd_linux_path_below_root(lx, pid, path, &joined);
	if (root < 0)
		return -1;
	return open_below(root, wd_buf_string(&joined), RESOLVE_IN_ROOT);
}

/* ---- what the kernel shows ----------------------------------------------- */

static bool
leads_to(int fd, const struct wd_object_id *id)
{
	struct wd_object_id there;
	bool same;

	if (fd < 0)
		return false;
	same = wd_object_id_of(fd, &there) && same_object(&there, id);
	(void)close(fd);
	return same;
}

bool
wd_linux_path_leads_to(const struct wd_linux *lx, pid_t pid,
    struct wd_slice path, const struct wd_object_id *id)
{
	if (leads_to(wd_linux_resolve(lx, pid, path), id))
		return true;
	/* In a chroot of our own mount namespace the kernel shows the path as
	 * we see it, not as the process does. */
	return lx->live && wd_proc_ns(lx, pid, "mnt") == lx->mntns &&
	    lx->mntns != 0 && leads_to(wd_linux_resolve_own(path), id);
}

static enum wd_object_type
type_by_text(struct wd_slice text)
{
	static const struct {
		const char *start;
		enum wd_object_type type;
	} kinds[] = {
		{ "socket:[", WD_OBJECT_SOCKET },
		{ "pipe:[", WD_OBJECT_PIPE },
		{ "anon_inode:[io_uring]", WD_OBJECT_IO_URING },
		{ "/memfd:", WD_OBJECT_MEMORY },
		{ "/SYSV", WD_OBJECT_MEMORY },
		{ "/anon_hugepage", WD_OBJECT_MEMORY },
		{ "/dev/zero", WD_OBJECT_MEMORY },
		{ "/", WD_OBJECT_REGULAR },
	};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (wd_slice_starts(text, kinds[i].start))
			return kinds[i].type;
	return WD_OBJECT_OTHER;
}

/* The kernel's own names for memory; they carry the mark from birth. A real
 * file can have such a name too, so where the object was reached its device
 * decides. */
static bool
is_memory(const struct wd_linux *lx, struct wd_slice text,
    const struct wd_object_id *id)
{
	if (type_by_text(text) != WD_OBJECT_MEMORY)
		return false;
	if (id == NULL || lx->shm_device == 0)
		return true;
	return id->device == lx->shm_device ||
	    (id->links == 0 && !wd_slice_starts(text, "/dev/zero"));
}

static enum wd_object_type
type_by_mode(struct wd_slice text, const struct wd_object_id *id)
{
	enum wd_object_type type = type_by_text(text);

	switch (id->mode & S_IFMT) {
	case S_IFREG:
		return type == WD_OBJECT_IO_URING ? type : WD_OBJECT_REGULAR;
	case S_IFSOCK:
		return WD_OBJECT_SOCKET;
	case S_IFIFO:
		return WD_OBJECT_PIPE;
	case S_IFCHR:
		return WD_OBJECT_DEVICE;
	default:
		return type == WD_OBJECT_IO_URING ? type : WD_OBJECT_OTHER;
	}
}

struct wd_shown
wd_linux_shown(const struct wd_linux *lx, pid_t pid, struct wd_slice text,
    const struct wd_object_id *id)
{
	static const char mark[] = " (deleted)";
	struct wd_shown shown = { text, false, type_by_text(text) };

	if (is_memory(lx, text, id)) {
		shown.type = WD_OBJECT_MEMORY;
		if (wd_slice_ends(text, mark))
			shown.path.len -= sizeof(mark) - 1;
		return shown;
	}
	if (id != NULL)
		shown.type = type_by_mode(text, id);
	if (!wd_slice_starts(text, "/") || !wd_slice_ends(text, mark))
		return shown;
	/* A file can really be named "x (deleted)": then that path leads to
	 * the very object. */
	if (id != NULL && wd_linux_path_leads_to(lx, pid, text, id))
		return shown;
	shown.deleted = true;
	shown.path.len -= sizeof(mark) - 1;
	return shown;
}
