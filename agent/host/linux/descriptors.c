#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "host/linux/backend.h"
#include "host/linux/procfs.h"

struct look {
	struct wd_linux *lx;
	pid_t pid;
	pid_t tid;  /* whose table is read */
	int folder; /* its fd folder */
	const struct wd_deadline *deadline;
	struct wd_descriptors *found;
};

static enum wd_status
blind(struct look *look, enum wd_status why, const char *remedy)
{
	char what[64];

	look->found->complete = false;
	(void)snprintf(
	    what, sizeof(what), "descriptors of process %d", (int)look->pid);
	return wd_blinds_add(&look->found->blinds, why, look->pid, remedy, what,
	    wd_status_name(why));
}

/* ---- one descriptor ------------------------------------------------------ */

/* The link's own permission bits are the descriptor's mode. */
static void
take_mode(struct look *look, const char *name, struct wd_descriptor *item)
{
	struct stat stat;

	if (fstatat(look->folder, name, &stat, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	item->readable = stat.st_mode & S_IRUSR;
	item->writable = stat.st_mode & S_IWUSR;
}

static enum wd_status
take_position(struct look *look, struct wd_descriptor *item)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { 0 };
	enum wd_status st;

	if (item->type != WD_OBJECT_REGULAR && item->type != WD_OBJECT_MEMORY)
		return WD_OK;
	wd_buf_init(&text, 65536);
	st = wd_proc_read(
	    look->lx, &text, "%d/fdinfo/%d", (int)look->tid, item->fd);
	if (st == WD_OK &&
	    !wd_parse_key(wd_buf_slice(&text), "pos", 10, &item->position))
		item->position = 0;
	return st == WD_NOMEM ? st : WD_OK;
}

static enum wd_status
take_object(struct look *look, const char *name, struct wd_slice text,
    struct wd_descriptor *item)
{
	struct wd_object_id id;
	bool reached =
	    look->lx->live && wd_object_id_at(look->folder, name, &id);
	struct wd_shown shown =
	    wd_linux_shown(look->lx, look->tid, text, reached ? &id : NULL);

	item->type = shown.type;
	item->deleted = shown.deleted;
	if (reached) {
		item->device = id.device;
		item->inode = id.inode;
		item->rdev = shown.type == WD_OBJECT_DEVICE ? id.rdev : 0;
	}
	if (shown.type == WD_OBJECT_SOCKET && !reached &&
	    !wd_parse_inode_link(text, "socket", &item->inode))
		item->inode = 0;
	return wd_bytes_set(&item->path, shown.path);
}

static enum wd_status
add_item(struct wd_descriptors *found, const struct wd_descriptor *item)
{
	void *items = found->items;
	enum wd_status st = wd_grow(&items, found->count, &found->capacity,
	    sizeof(*item), WD_MAX_DESCRIPTORS);

	found->items = items;
	if (st == WD_OK)
		found->items[found->count++] = *item;
	return st;
}

static enum wd_status
take_descriptor(struct look *look, const char *name)
{
	struct wd_descriptor item = { .tid = look->tid,
		.fd = wd_name_number(name) };
	struct wd_link link;
	ssize_t len = readlinkat(
	    look->folder, name, (char *)link.text, sizeof(link.text));
	enum wd_status st;

	if (item.fd < 0 || (len < 0 && errno == ENOENT))
		return WD_OK; /* closed meanwhile */
	if (len < 0 && errno == ENAMETOOLONG)
		len = 0; /* a path above a page has no text */
	if (len < 0)
		return wd_status_from_errno(errno);
	st = take_object(
	    look, name, (struct wd_slice){ link.text, (size_t)len }, &item);
	if (st == WD_OK)
		take_mode(look, name, &item);
	if (st == WD_OK)
		st = take_position(look, &item);
	if (st == WD_OK)
		st = add_item(look->found, &item);
	if (st != WD_OK)
		wd_bytes_release(&item.path);
	return st;
}

/* ---- tables -------------------------------------------------------------- */

static enum wd_status
take_table(struct look *look, pid_t tid)
{
	WD_CLEANUP(wd_close_scoped) int folder = -1;
	struct wd_dents dents;
	const char *name;
	enum wd_status st = WD_OK;

	folder = tid == look->pid ?
	    wd_proc_open(look->lx, O_RDONLY | O_DIRECTORY, "%d/fd", (int)tid) :
	    wd_proc_open(look->lx, O_RDONLY | O_DIRECTORY, "%d/task/%d/fd",
		(int)look->pid, (int)tid);
	if (folder < 0)
		return wd_status_from_errno(errno);
	look->tid = tid;
	look->folder = folder;
	wd_dents_init(&dents, folder);
	while (st == WD_OK && (name = wd_dents_next(&dents)) != NULL)
		st = wd_deadline_passed(look->deadline) ?
		    WD_TIMEDOUT :
		    take_descriptor(look, name);
	if (st == WD_OK && dents.os_errno != 0)
		st = wd_status_from_errno(dents.os_errno);
	return st;
}

/* Where tables cannot be compared all threads were listed; those that show
 * the same as the leader are taken to share its table. */
static bool
same_as_leader(const struct wd_descriptors *found, size_t leaders, size_t first)
{
	size_t i;

	if (found->count - first != leaders)
		return false;
	for (i = 0; i < leaders; i++) {
		const struct wd_descriptor *a = &found->items[i];
		const struct wd_descriptor *b = &found->items[first + i];

		if (a->fd != b->fd || a->inode != b->inode ||
		    !wd_slice_equal(
			wd_bytes_slice(&a->path), wd_bytes_slice(&b->path)))
			return false;
	}
	return true;
}

static enum wd_status
take_own_tables(struct look *look)
{
	WD_CLEANUP(wd_own_tables_release) struct wd_own_tables own = { 0 };
	struct wd_descriptors *found = look->found;
	size_t i, first, leaders = found->count;
	enum wd_status st = wd_linux_own_tables(look->lx, look->pid, &own);

	for (i = 0; i < own.count && st == WD_OK; i++) {
		first = found->count;
		st = take_table(look, own.tids[i]);
		if (st == WD_GONE)
			st = WD_OK;
		if (own.comparable || !same_as_leader(found, leaders, first))
			continue;
		while (found->count > first)
			wd_bytes_release(&found->items[--found->count].path);
	}
	return st;
}

static int
compare_descriptors(const void *a, const void *b)
{
	const struct wd_descriptor *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->fd > y->fd) - (x->fd < y->fd);
}

enum wd_status
wd_linux_descriptors(struct wd_host *host, const struct wd_process *process,
    const struct wd_deadline *deadline, struct wd_descriptors *found,
    struct wd_error *err)
{
	struct look look = { wd_linux_of(host), process->identity.pid, 0, -1,
		deadline, found };
	enum wd_status st;

	found->complete = true;
	st = take_table(&look, look.pid);
	if (st == WD_OK)
		st = take_own_tables(&look);
	if (st == WD_TIMEDOUT)
		st = blind(&look, st, "ask again with a longer deadline");
	else if (st == WD_LIMIT)
		st = blind(&look, st, "none; the agent keeps no more");
	if (found->count > 1)
		qsort(found->items, found->count, sizeof(*found->items),
		    compare_descriptors);
	if (st == WD_OK)
		return WD_OK;
	wd_descriptors_release(found);
	return wd_linux_fail_look(look.lx, "descriptors", look.pid, st, err);
}
