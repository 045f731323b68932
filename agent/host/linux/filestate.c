/*
 * The state of an opened file, and whether somebody could be writing to it.
 * What can be believed depends on the file system; the table says so.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "host/linux/backend.h"

enum fs_trait {
	FS_TIMES = 1,      /* local, in nanoseconds, moved by every write */
	FS_LEASES = 2,     /* every writer goes through this kernel's inode */
	FS_HOLES = 4,      /* SEEK_HOLE tells the truth */
	FS_GENERATION = 8, /* FS_IOC_GETVERSION; never asked of FUSE */
	FS_MEMORY = 16,
};

/* From statfs(2) and the kernels' sources, where linux/magic.h lacks one. */
static const struct fs_kind {
	uint32_t magic;
	const char *name;
	unsigned traits;
} fs_kinds[] = {
	{ EXT4_SUPER_MAGIC, "ext4",
	    FS_TIMES | FS_LEASES | FS_HOLES | FS_GENERATION },
	{ XFS_SUPER_MAGIC, "xfs",
	    FS_TIMES | FS_LEASES | FS_HOLES | FS_GENERATION },
	{ BTRFS_SUPER_MAGIC, "btrfs",
	    FS_TIMES | FS_LEASES | FS_HOLES | FS_GENERATION },
	{ F2FS_SUPER_MAGIC, "f2fs",
	    FS_TIMES | FS_LEASES | FS_HOLES | FS_GENERATION },
	/* A store through a shared mapping moves no time once the page has
	 * been read through it: there is no page_mkwrite to notice it. */
	{ TMPFS_MAGIC, "tmpfs", FS_LEASES | FS_HOLES | FS_MEMORY },
	{ RAMFS_MAGIC, "ramfs", FS_LEASES | FS_MEMORY },
	{ HUGETLBFS_MAGIC, "hugetlbfs", FS_MEMORY },
	/* Writers may go past the merged view, to a layer below. */
	{ OVERLAYFS_SUPER_MAGIC, "overlay", FS_HOLES },
	{ 0x2fc12fc1, "zfs", FS_HOLES },
	{ 0xca451a4e, "bcachefs", FS_HOLES },
	{ NFS_SUPER_MAGIC, "nfs", 0 },
	{ 0xff534d42, "cifs", 0 },
	{ 0xfe534d42, "smb2", 0 },
	{ FUSE_SUPER_MAGIC, "fuse", 0 },
	{ V9FS_MAGIC, "9p", 0 },
	{ CEPH_SUPER_MAGIC, "ceph", 0 },
	{ MSDOS_SUPER_MAGIC, "vfat", FS_LEASES }, /* times step by 2 s */
	{ EXFAT_SUPER_MAGIC, "exfat", FS_LEASES },
	{ 0x7366746e, "ntfs3", FS_LEASES },
	{ SQUASHFS_MAGIC, "squashfs", 0 },
	{ EROFS_SUPER_MAGIC_V1, "erofs", 0 },
	{ ISOFS_SUPER_MAGIC, "iso9660", 0 },
	{ PROC_SUPER_MAGIC, "proc", 0 },
	{ SYSFS_MAGIC, "sysfs", 0 },
};

static const struct fs_kind *
fs_kind_of(const struct statfs *fs)
{
	size_t i;

	for (i = 0; i < sizeof(fs_kinds) / sizeof(fs_kinds[0]); i++)
		if (fs_kinds[i].magic == (uint32_t)fs->f_type)
			return &fs_kinds[i];
	return NULL;
}

bool
wd_linux_numbers_comparable(int fd)
{
	struct statfs fs;

	/* maps prints the numbers of the layer or the whole volume below;
	 * stat gives those of the merged view or the subvolume. */
	return fstatfs(fd, &fs) == 0 &&
	    (uint32_t)fs.f_type != OVERLAYFS_SUPER_MAGIC &&
	    (uint32_t)fs.f_type != BTRFS_SUPER_MAGIC &&
	    (uint32_t)fs.f_type != 0xca451a4e;
}

static uint64_t
inode_generation(int fd)
{
	long version = 0;

	/* The kernel writes 4 bytes, whatever the request's number says. */
	if (ioctl(fd, FS_IOC_GETVERSION, &version) < 0)
		return 0;
	return (uint32_t)version;
}

static int64_t
to_ns(const struct statx_timestamp *time)
{
	int64_t ns;

	if (__builtin_mul_overflow(time->tv_sec, WD_NS_PER_SECOND, &ns) ||
	    __builtin_add_overflow(ns, (int64_t)time->tv_nsec, &ns))
		return time->tv_sec < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

static void
take_stat(const struct statx *stat, struct wd_file_state *state)
{
	state->device = makedev(stat->stx_dev_major, stat->stx_dev_minor);
	state->inode = stat->stx_ino;
	state->size_bytes = stat->stx_size;
	state->allocated_bytes = stat->stx_blocks * 512;
	state->mtime_ns = to_ns(&stat->stx_mtime);
	state->ctime_ns = to_ns(&stat->stx_ctime);
	state->links = stat->stx_nlink;
	/* Linux 5.8 */
	state->mount =
	    (stat->stx_mask & STATX_MNT_ID) != 0 ? stat->stx_mnt_id : 0;
}

static void
take_fs_id(const struct statfs *fs, struct wd_file_state *state)
{
	uint32_t words[2];

	_Static_assert(sizeof(fs->f_fsid) == sizeof(words), "f_fsid");
	memcpy(words, &fs->f_fsid, sizeof(words));
	state->fs_id = (uint64_t)words[1] << 32 | words[0];
	if (state->fs_id == 0)
		state->fs_id = state->device;
}

/* Where SEEK_HOLE is only the default (the whole file is data), fewer blocks
 * than bytes still tell; compression would look the same. */
static enum wd_tristate
is_sparse(int fd, const struct wd_file_state *state, unsigned traits)
{
	off_t hole;

	if (state->size_bytes == 0)
		return WD_NO;
	hole = lseek(fd, 0, SEEK_HOLE);
	if (hole >= 0 && (uint64_t)hole < state->size_bytes)
		return WD_YES;
	if (hole >= 0 && (traits & FS_HOLES))
		return WD_NO;
	return state->allocated_bytes < state->size_bytes ? WD_YES :
							    WD_NOT_KNOWN;
}

/* ext4 with small inodes keeps whole seconds only. A file whose ctime falls
 * on a second by chance is distrusted once in a billion. */
static bool
times_are_fine(const struct wd_file_state *state)
{
	return state->ctime_ns % WD_NS_PER_SECOND != 0;
}

enum wd_status
wd_linux_file_state(struct wd_host *host, int fd, struct wd_file_state *state,
    struct wd_error *err)
{
	const struct fs_kind *kind;
	struct statfs fs;
	struct statx stat;
	unsigned traits;

	(void)host;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_MNT_ID,
		&stat) < 0)
		return wd_fail_errno(err, errno, "reading a file's state");
	if (fstatfs(fd, &fs) < 0)
		return wd_fail_errno(
		    err, errno, "reading a file system's state");
	take_stat(&stat, state);
	take_fs_id(&fs, state);
	kind = fs_kind_of(&fs);
	traits = kind == NULL ? 0 : kind->traits;
	if (kind != NULL)
		memcpy(state->fs_type, kind->name, strlen(kind->name) + 1);
	if (traits & FS_GENERATION)
		state->generation = inode_generation(fd);
	state->trusted_times =
	    (traits & (FS_TIMES | FS_LEASES)) == (FS_TIMES | FS_LEASES) &&
	    times_are_fine(state);
	state->sparse = is_sparse(fd, state, traits);
	state->in_memory = (traits & FS_MEMORY) && state->links == 0;
	return WD_OK;
}

/* ---- quiet --------------------------------------------------------------- */

/* A read lease is granted only while nobody has the file open for writing; a
 * shared writable mapping keeps its file open. */
enum wd_status
wd_linux_quiet(struct wd_host *host, const struct wd_file *file, bool *quiet,
    struct wd_error *err)
{
	const struct fs_kind *kind;
	struct statfs fs;

	(void)host;
	if (fstatfs(file->fd, &fs) < 0)
		return wd_fail_errno(
		    err, errno, "reading a file system's state");
	kind = fs_kind_of(&fs);
	if (kind == NULL || !(kind->traits & FS_LEASES))
		return wd_fail(err, WD_UNSUPPORTED,
		    "file system %s: a lease does not see every writer",
		    kind == NULL ? "of unknown kind" : kind->name);
	if (fcntl(file->fd, F_SETLEASE, F_RDLCK) == 0) {
		(void)fcntl(file->fd, F_SETLEASE, F_UNLCK);
		*quiet = true;
		return WD_OK;
	}
	if (errno == EAGAIN)
		return WD_OK;
	if (errno == EACCES || errno == EPERM)
		return wd_fail(err, WD_DENIED,
		    "a lease on a file of another user: run the agent with "
		    "CAP_LEASE");
	return wd_fail(err, WD_UNSUPPORTED,
	    "file system %s does not give leases", kind->name);
}
