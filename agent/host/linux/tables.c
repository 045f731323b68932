/*
 * Threads can have a descriptor table of their own (unshare(CLONE_FILES)),
 * which /proc/PID/fd of the leader does not show. To look for them must not
 * double the cost of a walk: kcmp(2) tells whether two tasks share a table
 * for the price of one short call, and only processes with several threads
 * are asked.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "host/linux/backend.h"

void
wd_own_tables_release(struct wd_own_tables *tables)
{
	wd_free(tables->tids);
	memset(tables, 0, sizeof(*tables));
}

/* A folder's link count is 2 and one for each folder in it, and task/ keeps
 * to that. In a captured tree it means nothing. */
static bool
has_one_thread(const struct wd_linux *lx, pid_t pid)
{
	struct stat stat;
	char path[32];

	(void)snprintf(path, sizeof(path), "%d/task", (int)pid);
	return lx->live && fstatat(lx->proc, path, &stat, 0) == 0 &&
	    stat.st_nlink == 3;
}

static bool
same_table(pid_t a, pid_t b, bool *comparable)
{
	long order = syscall(SYS_kcmp, a, b, KCMP_FILES, 0UL, 0UL);

	if (order < 0 && errno != ESRCH)
		*comparable = false;
	return order == 0;
}

/* Threads that share one table among themselves, but not with the leader,
 * are listed by one of them. */
static bool
is_new_table(
    const struct wd_linux *lx, pid_t pid, pid_t tid, struct wd_own_tables *own)
{
	size_t i;

	if (!lx->live) {
		own->comparable = false;
		return true;
	}
	if (same_table(pid, tid, &own->comparable))
		return false;
	for (i = 0; i < own->count && own->comparable; i++)
		if (same_table(own->tids[i], tid, &own->comparable))
			return false;
	return true;
}

static enum wd_status
add_tid(struct wd_own_tables *own, pid_t tid)
{
	void *items = own->tids;
	enum wd_status st = wd_grow(
	    &items, own->count, &own->capacity, sizeof(tid), WD_MAX_PROCESSES);

	own->tids = items;
	if (st == WD_OK)
		own->tids[own->count++] = tid;
	return st;
}

enum wd_status
wd_linux_own_tables(
    const struct wd_linux *lx, pid_t pid, struct wd_own_tables *tables)
{
	WD_CLEANUP(wd_close_scoped) int folder = -1;
	struct wd_dents dents;
	const char *name;
	enum wd_status st = WD_OK;

	tables->comparable = true;
	if (has_one_thread(lx, pid))
		return WD_OK;
	folder = wd_proc_open(lx, O_RDONLY | O_DIRECTORY, "%d/task", (int)pid);
	if (folder < 0)
		return wd_status_from_errno(errno);
	wd_dents_init(&dents, folder);
	while (st == WD_OK && (name = wd_dents_next(&dents)) != NULL) {
		int tid = wd_name_number(name);

		if (tid > 0 && tid != pid && is_new_table(lx, pid, tid, tables))
			st = add_tid(tables, tid);
	}
	if (st == WD_OK && dents.os_errno != 0)
		st = wd_status_from_errno(dents.os_errno);
	return st;
}
