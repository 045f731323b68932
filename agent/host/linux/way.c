/*
 * The way of a path, component by component, with O_PATH only: nothing is
 * opened for reading and no link is followed by the kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "host/linux/backend.h"
#include "host/way.h"

/* As the kernel has it (path_resolution(7)). */
#define MAX_LINKS 40

struct walk {
	int root, at; /* owned */
	struct statx root_stat, at_stat;
	struct wd_buf text; /* what is left to be followed, from `pos` */
	size_t pos, sure;
	unsigned links;
	struct wd_way *way;
};

static void
walk_release(struct walk *w)
{
	wd_close_scoped(&w->root);
	wd_close_scoped(&w->at);
	wd_buf_release(&w->text);
}

static bool
state_of(int fd, struct statx *stat)
{
	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
		   STATX_BASIC_STATS, stat) == 0;
}

static int64_t
ctime_of(const struct statx *stat)
{
	int64_t ns;

	if (__builtin_mul_overflow(
		stat->stx_ctime.tv_sec, WD_NS_PER_SECOND, &ns) ||
	    __builtin_add_overflow(ns, (int64_t)stat->stx_ctime.tv_nsec, &ns))
		return INT64_MAX;
	return ns;
}

static bool
is_mount_root(const struct statx *stat)
{
	return (stat->stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

static bool
is_root(const struct walk *w)
{
	return w->at_stat.stx_ino == w->root_stat.stx_ino &&
	    w->at_stat.stx_dev_major == w->root_stat.stx_dev_major &&
	    w->at_stat.stx_dev_minor == w->root_stat.stx_dev_minor;
}

static void
note(struct walk *w, int64_t ns)
{
	if (w->pos > w->sure && ns > w->way->changed_ns)
		w->way->changed_ns = ns;
}

/* `inner` lies in `outer`; the root of a mount is never renamed. */
static void
note_folder(
    struct walk *w, const struct statx *inner, const struct statx *outer)
{
	int64_t in = ctime_of(inner), out = ctime_of(outer);

	if (!is_mount_root(inner))
		note(w, in < out ? in : out);
}

/* Continues with what the link says, before what was left. */
static bool
take_link(struct walk *w, int link)
{
	char target[WD_MAX_PATH];
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { 0 };
	ssize_t len = readlinkat(link, "", target, sizeof(target));

	if (++w->links > MAX_LINKS || len <= 0 ||
	    (size_t)len >= sizeof(target)) {
		errno = ELOOP;
		return false;
	}
	wd_buf_init(&text, 4 * WD_MAX_PATH);
	(void)wd_buf_append(&text, target, (size_t)len);
	(void)wd_buf_byte(&text, '/');
	if (wd_buf_append(&text, w->text.data + w->pos, w->text.len - w->pos) !=
	    WD_OK) {
		errno = ENAMETOOLONG;
		return false;
	}
	wd_buf_release(&w->text);
	w->text = text;
	text = (struct wd_buf){ 0 };
	w->pos = 0;
	w->sure = 0;
	if (target[0] != '/')
		return true;
	wd_close_scoped(&w->at);
	w->at = fcntl(w->root, F_DUPFD_CLOEXEC, 0);
	w->at_stat = w->root_stat;
	return w->at >= 0;
}

static bool
step(struct walk *w, const char *name)
{
	WD_CLEANUP(wd_close_scoped) int next = -1;
	bool up = strcmp(name, "..") == 0;
	struct statx stat;

	if (strcmp(name, ".") == 0 || (up && is_root(w)))
		return true;
	next = openat(w->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (next < 0 || !state_of(next, &stat))
		return false;
	if (S_ISLNK(stat.stx_mode)) {
		note(w, ctime_of(&stat));
		return take_link(w, next);
	}
	if (up)
		note_folder(w, &w->at_stat, &stat);
	else if (S_ISDIR(stat.stx_mode))
		note_folder(w, &stat, &w->at_stat);
	w->way->mounted = is_mount_root(&stat) ||
	    (!up && is_mount_root(&w->at_stat) && !is_root(w));
	wd_close_scoped(&w->at);
	w->at = next;
	next = -1;
	w->at_stat = stat;
	return true;
}

/* The next component into `name`; false at the end. */
static bool
cut(struct walk *w, char name[WD_MAX_PATH])
{
	const char *text = (const char *)w->text.data;
	size_t start;

	while (w->pos < w->text.len && text[w->pos] == '/')
		w->pos++;
	start = w->pos;
	while (w->pos < w->text.len && text[w->pos] != '/')
		w->pos++;
	if (start == w->pos || w->pos - start >= WD_MAX_PATH)
		return false;
	memcpy(name, text + start, w->pos - start);
	name[w->pos - start] = '\0';
	return true;
}

enum wd_status
wd_linux_way(struct wd_host *host, pid_t pid, struct wd_slice path, size_t sure,
    struct wd_way *way, struct wd_error *err)
{
	WD_CLEANUP(walk_release)
	struct walk w = { .root = -1, .at = -1, .way = way };
	char name[WD_MAX_PATH];

	wd_buf_init(&w.text, 4 * WD_MAX_PATH);
	w.root =
	    wd_linux_path_below_root(wd_linux_of(host), pid, path, &w.text);
	if (w.root < 0 || (w.at = fcntl(w.root, F_DUPFD_CLOEXEC, 0)) < 0 ||
	    !state_of(w.root, &w.root_stat))
		return wd_fail_errno(err, errno,
		    "following a path as process %d sees it", (int)pid);
	w.at_stat = w.root_stat;
	/* A relative path got the working directory in front. */
	w.sure = sure == 0 ? 0 : sure + (w.text.len - path.len);
	while (cut(&w, name))
		if (!step(&w, name))
			return wd_fail_errno(err, errno,
			    "following a path as process %d sees it", (int)pid);
	return WD_OK;
}
