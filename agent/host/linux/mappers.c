/*
 * Who maps these objects: one walk over the text of every process's maps. The
 * text names a mapped file by device and inode as the kernel prints them, which
 * is enough to find the few processes that are worth a closer look, and costs
 * a tenth of what following every link of map_files would.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "host/ends.h"
#include "host/linux/backend.h"
#include "host/linux/procfs.h"
#include "host/linux/procmaps.h"

struct walk {
	struct wd_linux *lx;
	const struct wd_object_number *objects;
	size_t object_count;
	struct wd_mappers *found;
	size_t denied, odd, late;
};

static bool
is_asked(const struct walk *walk, const struct wd_map_line *line)
{
	size_t i;

	for (i = 0; i < walk->object_count && line->inode != 0; i++)
		if (walk->objects[i].inode == line->inode &&
		    walk->objects[i].device == line->device)
			return true;
	return false;
}

static enum wd_status
add(struct wd_mappers *found, pid_t pid, const struct wd_map_line *line)
{
	void *items = found->items;
	enum wd_status st = wd_grow(&items, found->count, &found->capacity,
	    sizeof(*found->items), WD_MAX_MAPPINGS);

	found->items = items;
	if (st == WD_OK)
		found->items[found->count++] = (struct wd_mapper){ pid,
			{ line->device, line->inode }, line->start, line->end,
			line->shared, line->readable, line->writable };
	return st;
}

static enum wd_status
take_text(struct walk *walk, pid_t pid, struct wd_slice text)
{
	struct wd_map_line parsed;
	struct wd_slice line;
	enum wd_status st = WD_OK;

	while (st == WD_OK && wd_slice_cut(&text, '\n', &line))
		if (wd_parse_map_line(line, &parsed) == WD_OK &&
		    is_asked(walk, &parsed))
			st = add(walk->found, pid, &parsed);
	return st;
}

/* No text is what a kernel thread, a process without memory and a dead leader
 * with live threads have: only the last maps something. */
static enum wd_status
explain_nothing(struct walk *walk, pid_t pid)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { 0 };
	struct wd_stat stat;
	enum wd_status st;

	wd_buf_init(&text, 4096);
	st = wd_proc_read(walk->lx, &text, "%d/stat", (int)pid);
	if (st == WD_OK)
		st = wd_parse_stat(wd_buf_slice(&text), &stat);
	if (st == WD_OK && stat.state == 'Z' && stat.threads > 1)
		walk->odd++;
	return st == WD_GONE ? WD_OK : st;
}

static enum wd_status
take_process(struct walk *walk, pid_t pid, struct wd_buf *text)
{
	enum wd_status st;

	wd_buf_reset(text);
	st = wd_proc_read(walk->lx, text, "%d/maps", (int)pid);
	if (st == WD_OK && text->len == 0)
		st = explain_nothing(walk, pid);
	else if (st == WD_OK)
		st = take_text(walk, pid, wd_buf_slice(text));
	if (st == WD_NOMEM || st == WD_OK || st == WD_GONE)
		return st == WD_NOMEM ? st : WD_OK;
	if (st == WD_DENIED)
		walk->denied++;
	else
		walk->odd++;
	return WD_OK;
}

static enum wd_status
note(struct walk *walk, size_t count, enum wd_status why,
    struct wd_refusal because)
{
	char what[64];

	if (count == 0)
		return WD_OK;
	walk->found->complete = false;
	(void)snprintf(what, sizeof(what), "mappings of %zu processes", count);
	return wd_blinds_add(
	    &walk->found->blinds, why, 0, because.remedy, what, because.reason);
}

static enum wd_status
report(struct walk *walk)
{
	const struct wd_refusal odd = { "the system failed to show them",
		"ask again" };
	const struct wd_refusal late = { "the deadline came first",
		"ask again with a longer deadline" };
	struct wd_refusal denied =
	    walk->denied == 0 ? odd : wd_linux_refusal(walk->lx);
	enum wd_status st = note(walk, walk->denied, WD_DENIED, denied);

	if (st == WD_OK)
		st = note(walk, walk->odd, WD_IO, odd);
	return st == WD_OK ? note(walk, walk->late, WD_TIMEDOUT, late) : st;
}

static int
compare(const void *a, const void *b)
{
	const struct wd_mapper *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

static enum wd_status
walk_all(
    struct walk *walk, const struct wd_deadline *deadline, struct wd_error *err)
{
	WD_CLEANUP(wd_pid_list_release) struct wd_pid_list pids = { 0 };
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { 0 };
	bool hidden = false;
	enum wd_status st =
	    wd_linux_hidden_processes(walk->lx, &walk->found->blinds, &hidden);
	size_t i;

	walk->found->complete = !hidden;
	wd_buf_init(&text, WD_MAX_PROC_TEXT);
	if (st == WD_OK)
		st = wd_linux_list_pids(walk->lx, &pids, err);
	for (i = 0; i < pids.count && st == WD_OK; i++) {
		if (wd_deadline_passed(deadline))
			walk->late++;
		else
			st = take_process(walk, pids.items[i], &text);
	}
	return st == WD_OK ? report(walk) : st;
}

enum wd_status
wd_linux_mappers(struct wd_host *host, const struct wd_object_number *objects,
    size_t count, const struct wd_deadline *deadline, struct wd_mappers *found,
    struct wd_error *err)
{
	struct walk walk = { wd_linux_of(host), objects, count, found, 0, 0,
		0 };
	enum wd_status st = walk_all(&walk, deadline, err);

	if (found->count > 1)
		qsort(
		    found->items, found->count, sizeof(*found->items), compare);
	if (st == WD_OK)
		return WD_OK;
	wd_mappers_release(found);
	return wd_fail(err, st == WD_NOMEM ? st : WD_UNSUPPORTED,
	    "looking for mappings: %s", wd_status_name(st));
}
