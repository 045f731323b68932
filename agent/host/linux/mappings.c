/*
 * The file mappings of a process.
 *
 * map_files lists only mappings that have a file and its links give the exact
 * path, so a process with tens of thousands of anonymous mappings costs no
 * more than its files; PROCMAP_QUERY (Linux 6.11) then tells of each range
 * what a line of maps would. On older kernels, and without the right to
 * map_files, the text of maps is read.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "host/linux/backend.h"
#include "host/linux/procfs.h"
#include "host/linux/procmaps.h"

/* linux/fs.h of Linux 6.11, which older headers lack. */
struct procmap_query {
	uint64_t size, query_flags, query_addr;
	uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset;
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	uint32_t vma_name_size, build_id_size;
	uint64_t vma_name_addr, build_id_addr;
};
#define PROCMAP_QUERY_CALL _IOWR('f', 17, struct procmap_query)
#define PROCMAP_READABLE 1U
#define PROCMAP_WRITABLE 2U
#define PROCMAP_EXECUTABLE 4U
#define PROCMAP_SHARED 8U

#define LIST_ROUNDS 4

struct look {
	struct wd_linux *lx;
	pid_t pid, tid;
	const struct wd_deadline *deadline;
	struct wd_mappings *found;
	int maps; /* for the query */
	int map_files;
};

static enum wd_status
add_mapping(struct wd_mappings *found, struct wd_mapping **added)
{
	void *items = found->items;
	enum wd_status st = wd_grow(&items, found->count, &found->capacity,
	    sizeof(**added), WD_MAX_MAPPINGS);

	found->items = items;
	if (st != WD_OK)
		return st;
	*added = &found->items[found->count++];
	memset(*added, 0, sizeof(**added));
	return WD_OK;
}

static void
drop_mappings(struct wd_mappings *found)
{
	size_t i;

	for (i = 0; i < found->count; i++)
		wd_bytes_release(&found->items[i].path);
	found->count = 0;
}

static bool
later(struct look *look)
{
	return wd_deadline_passed(look->deadline);
}

static enum wd_status
blind(struct look *look, enum wd_status why, const char *remedy,
    const char *reason)
{
	char what[64];

	look->found->complete = false;
	(void)snprintf(
	    what, sizeof(what), "mappings of process %d", (int)look->pid);
	return wd_blinds_add(
	    &look->found->blinds, why, look->pid, remedy, what, reason);
}

/* ---- path and kind of one mapping ---------------------------------------- */

static enum wd_status
settle_path(struct look *look, struct wd_mapping *mapping, struct wd_slice text,
    const struct wd_object_id *id)
{
	struct wd_shown shown = wd_linux_shown(look->lx, look->tid, text, id);

	mapping->type = shown.type;
	mapping->deleted = shown.deleted;
	if (id != NULL && shown.type == WD_OBJECT_DEVICE)
		mapping->rdev = id->rdev;
	return wd_bytes_set(&mapping->path, shown.path);
}

static void
range_name(const struct wd_mapping *mapping, char name[40])
{
	(void)snprintf(name, 40, "%llx-%llx",
	    (unsigned long long)mapping->start,
	    (unsigned long long)mapping->end);
}

/* A captured link would lead to a file of this system. */
static bool
may_follow(const struct look *look)
{
	return look->lx->live && !look->lx->options.no_map_files;
}

/* The exact path from the link, where maps would escape; the object's mode
 * where following it is allowed. WD_CHANGED when the range is gone. */
static enum wd_status
take_link(struct look *look, struct wd_mapping *mapping)
{
	struct wd_object_id id;
	struct wd_link link;
	char name[40];
	bool reached;
	ssize_t len;

	range_name(mapping, name);
	len = readlinkat(
	    look->map_files, name, (char *)link.text, sizeof(link.text));
	/* A path above a page has no text; its object is there all the same. */
	if (len < 0 && errno == ENAMETOOLONG)
		len = 0;
	if (len < 0)
		return errno == ENOENT ? WD_CHANGED :
					 wd_status_from_errno(errno);
	reached =
	    may_follow(look) && wd_object_id_at(look->map_files, name, &id);
	if (!reached &&
	    (!may_follow(look) || errno == EPERM || errno == EACCES))
		look->found->by_path_only = true;
	return settle_path(look, mapping,
	    (struct wd_slice){ link.text, (size_t)len }, reached ? &id : NULL);
}

/* ---- by query ------------------------------------------------------------ */

static bool
query(struct look *look, struct wd_mapping *mapping, int *os_errno)
{
	struct procmap_query ask;

	memset(&ask, 0, sizeof(ask));
	ask.size = sizeof(ask);
	ask.query_addr = mapping->start;
	if (ioctl(look->maps, PROCMAP_QUERY_CALL, &ask) < 0) {
		*os_errno = errno;
		return false;
	}
	*os_errno = 0;
	if (ask.vma_start != mapping->start || ask.vma_end != mapping->end)
		return false;
	mapping->offset = ask.vma_offset;
	mapping->device = makedev(ask.dev_major, ask.dev_minor);
	mapping->inode = ask.inode;
	mapping->readable = ask.vma_flags & PROCMAP_READABLE;
	mapping->writable = ask.vma_flags & PROCMAP_WRITABLE;
	mapping->executable = ask.vma_flags & PROCMAP_EXECUTABLE;
	mapping->shared = ask.vma_flags & PROCMAP_SHARED;
	return true;
}

/* Lists the ranges that have a file. */
static enum wd_status
list_ranges(struct look *look)
{
	struct wd_mapping *mapping;
	struct wd_dents dents;
	const char *name;
	uint64_t start, end;
	enum wd_status st = WD_OK;

	if (lseek(look->map_files, 0, SEEK_SET) < 0)
		return wd_status_from_errno(errno);
	wd_dents_init(&dents, look->map_files);
	while (st == WD_OK && (name = wd_dents_next(&dents)) != NULL) {
		if (!wd_parse_map_range(wd_slice_text(name), &start, &end))
			continue;
		st = add_mapping(look->found, &mapping);
		if (st == WD_OK) {
			mapping->start = start;
			mapping->end = end;
		}
	}
	if (st == WD_OK && dents.os_errno != 0)
		st = wd_status_from_errno(dents.os_errno);
	return st;
}

/* WD_UNSUPPORTED: an older kernel. WD_CHANGED: mappings moved meanwhile. */
static enum wd_status
query_ranges(struct look *look)
{
	enum wd_status st = WD_OK;
	int os_errno;
	size_t i;

	for (i = 0; i < look->found->count && st == WD_OK; i++) {
		struct wd_mapping *mapping = &look->found->items[i];

		if (i % 256 == 255 && later(look))
			return WD_TIMEDOUT;
		if (query(look, mapping, &os_errno))
			st = take_link(look, mapping);
		else if (os_errno == 0 || os_errno == ENOENT)
			st = WD_CHANGED;
		else if (os_errno == ESRCH)
			st = WD_GONE;
		else
			st = WD_UNSUPPORTED;
	}
	return st;
}

static enum wd_status
look_by_query(struct look *look)
{
	enum wd_status st = WD_CHANGED;
	int round;

	for (round = 0; round < LIST_ROUNDS && st == WD_CHANGED; round++) {
		drop_mappings(look->found);
		st = list_ranges(look);
		if (st == WD_OK) {
			wd_linux_moment(look->lx, WD_LINUX_AFTER_RANGES);
			st = query_ranges(look);
		}
	}
	return st;
}

/* ---- by text ------------------------------------------------------------- */

static enum wd_status
take_line(struct look *look, struct wd_slice line)
{
	struct wd_mapping *mapping;
	struct wd_map_line map;
	enum wd_status st;

	if (wd_parse_map_line(line, &map) != WD_OK)
		return WD_MALFORMED;
	if (map.inode == 0 && !wd_slice_starts(map.path, "/"))
		return WD_OK;
	st = add_mapping(look->found, &mapping);
	if (st != WD_OK)
		return st;
	mapping->start = map.start;
	mapping->end = map.end;
	mapping->offset = map.offset;
	mapping->device = map.device;
	mapping->inode = map.inode;
	mapping->readable = map.readable;
	mapping->writable = map.writable;
	mapping->executable = map.executable;
	mapping->shared = map.shared;
	if (look->map_files >= 0) {
		st = take_link(look, mapping);
		if (st == WD_OK || st == WD_NOMEM)
			return st;
	}
	look->found->by_path_only = true;
	return settle_path(look, mapping, map.path, NULL);
}

/* In pieces: a process can have millions of mappings. */
static enum wd_status
look_by_text(struct look *look)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { 0 };
	struct wd_slice rest, line;
	enum wd_status st = WD_OK;
	uint8_t *space;
	ssize_t got;

	drop_mappings(look->found);
	wd_buf_init(&text, 262144);
	if (lseek(look->maps, 0, SEEK_SET) < 0)
		return wd_status_from_errno(errno);
	for (;;) {
		if (later(look))
			return WD_TIMEDOUT;
		if (wd_buf_reserve(&text, 65536, &space) != WD_OK)
			return text.status;
		got = read(look->maps, space, 65536);
		if (got < 0)
			return wd_status_from_errno(errno);
		if (got == 0)
			return text.len == 0 ? WD_OK : WD_MALFORMED;
		wd_buf_advance(&text, (size_t)got);
		rest = wd_buf_slice(&text);
		while (st == WD_OK && rest.len > 0 &&
		    memchr(rest.data, '\n', rest.len) != NULL &&
		    wd_slice_cut(&rest, '\n', &line))
			st = take_line(look, line);
		if (st != WD_OK)
			return st;
		if (rest.len > 0)
			memmove(text.data, rest.data, rest.len);
		text.len = rest.len;
	}
}

/* ---- the operation ------------------------------------------------------- */

static int
compare_mappings(const void *a, const void *b)
{
	const struct wd_mapping *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Address space without a file: all of it less what the mappings take. */
static enum wd_status
count_anonymous(struct look *look)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { 0 };
	struct wd_status_file status;
	uint64_t files = 0;
	enum wd_status st;
	size_t i;

	wd_buf_init(&text, 1UL << 20);
	st = wd_proc_read(look->lx, &text, "%d/status", (int)look->tid);
	if (st != WD_OK)
		return st == WD_NOMEM ? st : WD_OK;
	wd_parse_status(wd_buf_slice(&text), &status);
	for (i = 0; i < look->found->count; i++)
		files +=
		    look->found->items[i].end - look->found->items[i].start;
	if (status.vm_bytes > files)
		look->found->anonymous_bytes = status.vm_bytes - files;
	return WD_OK;
}

/* An empty list is only believed of a thread that still has its address
 * space; /proc shows nothing, and no error, for one that has lost it. */
static enum wd_status
check_alive(struct look *look)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { 0 };
	struct wd_stat stat;
	enum wd_status st;

	if (look->found->count > 0)
		return WD_OK;
	wd_buf_init(&text, 4096);
	st = wd_proc_read(look->lx, &text, "%d/stat", (int)look->tid);
	if (st == WD_OK)
		st = wd_parse_stat(wd_buf_slice(&text), &stat);
	if (st != WD_OK)
		return st;
	return stat.state == 'Z' || stat.state == 'X' ? WD_GONE : WD_OK;
}

static enum wd_status
look_at_all(struct look *look)
{
	enum wd_status st = WD_UNSUPPORTED;

	if (look->map_files >= 0 && look->lx->live)
		st = look_by_query(look);
	if (st == WD_UNSUPPORTED || st == WD_DENIED)
		st = look_by_text(look);
	if (st == WD_CHANGED)
		st = blind(look, st, "ask again",
		    "they changed each time they were looked at");
	else if (st == WD_TIMEDOUT)
		st = blind(look, st, "ask again with a longer deadline",
		    "the deadline came first");
	else if (st == WD_LIMIT)
		st = blind(look, st, "none; the agent keeps no more",
		    "there are more than the agent keeps");
	return st == WD_OK ? check_alive(look) : st;
}

enum wd_status
wd_linux_mappings(struct wd_host *host, const struct wd_process *process,
    const struct wd_deadline *deadline, struct wd_mappings *found,
    struct wd_error *err)
{
	struct look look = { wd_linux_of(host), process->identity.pid,
		process->live_tid, deadline, found, -1, -1 };
	enum wd_status st = WD_OK;

	found->complete = true;
	look.maps = wd_proc_open(look.lx, O_RDONLY, "%d/maps", (int)look.tid);
	if (look.maps < 0)
		st = wd_status_from_errno(errno);
	else
		look.map_files = wd_proc_open(look.lx, O_RDONLY | O_DIRECTORY,
		    "%d/map_files", (int)look.tid);
	if (st == WD_OK)
		st = look_at_all(&look);
	if (st == WD_OK)
		st = count_anonymous(&look);
	wd_close_scoped(&look.maps);
	wd_close_scoped(&look.map_files);
	if (st != WD_OK) {
		wd_mappings_release(found);
		return wd_linux_fail_look(
		    look.lx, "mappings", look.pid, st, err);
	}
	if (found->count > 1)
		qsort(found->items, found->count, sizeof(*found->items),
		    compare_mappings);
	return WD_OK;
}
