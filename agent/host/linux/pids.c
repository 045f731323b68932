#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "host/linux/backend.h"
#include "host/linux/procfs.h"

void
wd_pid_list_release(struct wd_pid_list *list)
{
	wd_free(list->items);
	memset(list, 0, sizeof(*list));
}

static int
compare_pids(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void
wd_pid_list_sort(struct wd_pid_list *list)
{
	if (list->count > 1)
		qsort(list->items, list->count, sizeof(pid_t), compare_pids);
}

enum wd_status
wd_pid_list_add(struct wd_pid_list *list, pid_t pid)
{
	void *items = list->items;
	enum wd_status st = wd_grow(&items, list->count, &list->capacity,
	    sizeof(pid), WD_MAX_PROCESSES);

	list->items = items;
	if (st == WD_OK)
		list->items[list->count++] = pid;
	return st;
}

enum wd_status
wd_linux_list_pids(
    const struct wd_linux *lx, struct wd_pid_list *list, struct wd_error *err)
{
	WD_CLEANUP(wd_close_scoped) int folder = -1;
	struct wd_dents dents;
	const char *name;
	enum wd_status st = WD_OK;

	folder = wd_proc_open(lx, O_RDONLY | O_DIRECTORY, ".");
	if (folder < 0)
		return wd_fail_errno(err, errno, "listing the processes");
	wd_dents_init(&dents, folder);
	while (st == WD_OK && (name = wd_dents_next(&dents)) != NULL) {
		int pid = wd_name_number(name);

		if (pid > 0)
			st = wd_pid_list_add(list, pid);
	}
	if (st != WD_OK)
		return wd_fail(
		    err, st, "listing the processes: %s", wd_status_name(st));
	if (dents.os_errno != 0)
		return wd_fail_errno(
		    err, dents.os_errno, "listing the processes");
	wd_pid_list_sort(list);
	return WD_OK;
}

/* ---- the operation ------------------------------------------------------- */

/* Processes that are there and of which nothing could be read. */
struct unread {
	size_t count;
	pid_t pid;          /* the last of them, to name */
	enum wd_status why; /* of that one */
};

static enum wd_status
read_row(struct wd_linux *lx, pid_t pid, struct wd_stat *stat)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { 0 };
	enum wd_status st;

	wd_buf_init(&text, 4096);
	st = wd_proc_read(lx, &text, "%d/stat", (int)pid);
	return st == WD_OK ? wd_parse_stat(wd_buf_slice(&text), stat) : st;
}

static enum wd_status
add_row(struct wd_linux *lx, pid_t pid, struct wd_pids *found,
    struct unread unread[2])
{
	void *items = found->items;
	struct wd_stat stat;
	enum wd_status st = read_row(lx, pid, &stat);

	if (st == WD_GONE)
		return WD_OK;
	if (st == WD_NOMEM)
		return st;
	if (st != WD_OK) {
		unread += st == WD_DENIED ? 0 : 1;
		*unread = (struct unread){ unread->count + 1, pid, st };
		return WD_OK;
	}
	st = wd_grow(&items, found->count, &found->capacity,
	    sizeof(*found->items), WD_MAX_PROCESSES);
	found->items = items;
	if (st == WD_OK)
		found->items[found->count++] = (struct wd_pid){ pid, stat.ppid,
			stat.start_ticks, stat.sid, stat.pgid };
	return st;
}

static enum wd_status
report_unread(
    struct wd_linux *lx, const struct unread *unread, struct wd_pids *found)
{
	struct wd_refusal refusal = { "the system failed to show them",
		"ask again" };
	char what[64];

	if (unread->count == 0)
		return WD_OK;
	if (unread->why == WD_DENIED)
		refusal = wd_linux_refusal(lx);
	found->complete = false;
	(void)snprintf(what, sizeof(what), "parent and start of %zu processes",
	    unread->count);
	return wd_blinds_add(&found->blinds, unread->why,
	    unread->count == 1 ? unread->pid : 0, refusal.remedy, what,
	    refusal.reason);
}

static enum wd_status
out_of_time(struct wd_pids *found)
{
	found->complete = false;
	return wd_blinds_add(&found->blinds, WD_TIMEDOUT, 0,
	    "ask again with a longer deadline", "the remaining processes",
	    "the deadline came first");
}

enum wd_status
wd_linux_pids(struct wd_host *host, const struct wd_deadline *deadline,
    struct wd_pids *found, struct wd_error *err)
{
	WD_CLEANUP(wd_pid_list_release) struct wd_pid_list list = { 0 };
	struct wd_linux *lx = wd_linux_of(host);
	struct unread unread[2] = { { 0 } }; /* refused, and all others */
	bool hidden = false;
	enum wd_status st = wd_linux_list_pids(lx, &list, err);
	size_t i;

	if (st != WD_OK)
		return st;
	st = wd_linux_hidden_processes(lx, &found->blinds, &hidden);
	found->complete = !hidden;
	for (i = 0; i < list.count && st == WD_OK; i++) {
		if (wd_deadline_passed(deadline)) {
			st = out_of_time(found);
			break;
		}
		st = add_row(lx, list.items[i], found, unread);
	}
	for (i = 0; i < 2 && st == WD_OK; i++)
		st = report_unread(lx, &unread[i], found);
	if (st != WD_OK)
		return wd_fail(
		    err, st, "listing the processes: %s", wd_status_name(st));
	return WD_OK;
}
