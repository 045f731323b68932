/*
 * Who has these sockets open: one walk over the descriptors of every process,
 * by several threads. The kernel gives a descriptor's target only by
 * readlink(2), about two microseconds each, so everything else is kept out of
 * the inner loop.
 *
 * A process that was born after the list was taken can have inherited a
 * socket from a holder that is gone by now; new processes are therefore
 * listed again after the walk, and walked too, a few times.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "host/ends.h"
#include "host/linux/backend.h"
#include "host/linux/procfs.h"

#define WALK_MAX_THREADS 16
#define WALK_STEP 8   /* processes taken at once by a thread */
#define WALK_ROUNDS 8 /* times that new processes are looked for */
#define NAMED_BLIND 8

struct walk {
	const struct wd_linux *lx;
	const uint64_t *inodes; /* of sockets, sorted */
	size_t inode_count;
	const uint64_t *pipes; /* sorted */
	size_t pipe_count;
	struct wd_ends *ends;
	const struct wd_deadline *deadline;
	const struct wd_pid_list *pids;
	atomic_size_t next;
	struct wd_pid_list denied; /* collected from the threads */
	struct wd_pid_list odd;
	size_t late;
};

/* What one thread found; nothing is shared. */
struct worker {
	struct walk *walk;
	struct wd_end *items;
	size_t count, capacity;
	size_t seen, vanished;
	struct wd_pid_list denied;
	struct wd_pid_list odd; /* any other failure */
	size_t late;            /* processes not looked at any more */
	enum wd_status status;
	struct wd_dents dents;
};

/* ---- one descriptor table ------------------------------------------------ */

static int
compare_inodes(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static bool
is_asked(const struct walk *walk, uint64_t inode, bool is_pipe)
{
	const uint64_t *inodes = is_pipe ? walk->pipes : walk->inodes;
	size_t count = is_pipe ? walk->pipe_count : walk->inode_count;

	return count > 0 &&
	    bsearch(&inode, inodes, count, sizeof(inode), compare_inodes) !=
	    NULL;
}

static enum wd_status
add_end(struct worker *worker, struct wd_end end)
{
	void *items = worker->items;
	enum wd_status st = wd_grow(&items, worker->count, &worker->capacity,
	    sizeof(end), WD_MAX_HOLDERS);

	worker->items = items;
	if (st == WD_OK)
		worker->items[worker->count++] = end;
	return st;
}

/* The inode of a link "socket:[N]" or "pipe:[N]"; 0 for all others. */
static uint64_t
inode_of_link(const char *text, ssize_t len, bool *is_pipe)
{
	uint64_t inode = 0;
	ssize_t i = 0;

	*is_pipe = len > 6 && memcmp(text, "pipe:[", 6) == 0;
	if (*is_pipe)
		i = 6;
	else if (len > 8 && memcmp(text, "socket:[", 8) == 0)
		i = 8;
	if (i == 0)
		return 0;
	for (; i < len && text[i] >= '0' && text[i] <= '9'; i++)
		inode = inode * 10 + (uint64_t)(text[i] - '0');
	return i == len - 1 && text[i] == ']' ? inode : 0;
}

/* Which end of a pipe it is: the link's own permission bits tell. */
static enum wd_status
take_mode(int folder, const char *name, struct wd_end *end)
{
	struct stat stat;

	if (!end->is_pipe)
		return WD_OK;
	if (fstatat(folder, name, &stat, AT_SYMLINK_NOFOLLOW) < 0)
		return wd_status_from_errno(errno);
	end->readable = stat.st_mode & S_IRUSR;
	end->writable = stat.st_mode & S_IWUSR;
	return WD_OK;
}

static enum wd_status
take_descriptor(
    struct worker *worker, int folder, const char *name, pid_t pid, pid_t tid)
{
	char text[64];
	ssize_t len = readlinkat(folder, name, text, sizeof(text));
	struct wd_end end = { .pid = pid, .tid = tid };
	enum wd_status st;

	/* ENOENT: closed since it was listed, or the process ended, which the
	 * list itself then tells. */
	if (len < 0)
		return errno == ENOENT || errno == ENAMETOOLONG ?
		    WD_OK :
		    wd_status_from_errno(errno);
	end.inode = inode_of_link(text, len, &end.is_pipe);
	if (end.inode == 0 || !is_asked(worker->walk, end.inode, end.is_pipe))
		return WD_OK;
	end.fd = wd_name_number(name);
	st = take_mode(folder, name, &end);
	if (st == WD_GONE)
		return WD_OK;
	return st == WD_OK ? add_end(worker, end) : st;
}

static enum wd_status
walk_folder(struct worker *worker, int folder, pid_t pid, pid_t tid)
{
	const char *name;
	enum wd_status st = WD_OK;
	size_t entries = 0;

	wd_dents_init(&worker->dents, folder);
	while (st == WD_OK && (name = wd_dents_next(&worker->dents)) != NULL) {
		/* A process can have a million descriptors. */
		if (++entries % 4096 == 0 &&
		    wd_deadline_passed(worker->walk->deadline))
			return WD_TIMEDOUT;
		st = take_descriptor(worker, folder, name, pid, tid);
	}
	if (st == WD_OK && worker->dents.os_errno != 0)
		st = wd_status_from_errno(worker->dents.os_errno);
	return st;
}

static enum wd_status
walk_table(struct worker *worker, pid_t pid, pid_t tid)
{
	const struct wd_linux *lx = worker->walk->lx;
	WD_CLEANUP(wd_close_scoped) int folder = -1;

	folder = tid == pid ?
	    wd_proc_open(lx, O_RDONLY | O_DIRECTORY, "%d/fd", (int)pid) :
	    wd_proc_open(lx, O_RDONLY | O_DIRECTORY, "%d/task/%d/fd", (int)pid,
		(int)tid);
	if (folder < 0)
		return wd_status_from_errno(errno);
	return walk_folder(worker, folder, pid, tid);
}

/* ---- one process --------------------------------------------------------- */

/* Where tables cannot be compared every thread was walked: what a thread has
 * under the same number as its leader counts as the leader's. */
static void
drop_shared(struct worker *worker, size_t first, size_t leaders)
{
	size_t i, j, kept = leaders;

	for (i = leaders; i < worker->count; i++) {
		const struct wd_end *item = &worker->items[i];

		for (j = first; j < leaders; j++)
			if (worker->items[j].inode == item->inode &&
			    worker->items[j].fd == item->fd)
				break;
		if (j == leaders)
			worker->items[kept++] = *item;
	}
	worker->count = kept;
}

static enum wd_status
walk_threads(struct worker *worker, pid_t pid, size_t first)
{
	WD_CLEANUP(wd_own_tables_release) struct wd_own_tables own = { 0 };
	size_t i, leaders = worker->count;
	enum wd_status st = wd_linux_own_tables(worker->walk->lx, pid, &own);

	for (i = 0; i < own.count && st == WD_OK; i++) {
		st = walk_table(worker, pid, own.tids[i]);
		if (st == WD_GONE) /* the thread ended; its table with it */
			st = WD_OK;
	}
	if (!own.comparable)
		drop_shared(worker, first, leaders);
	return st;
}

/* A zombie leader's table is empty without an error; its threads' tables are
 * found like any other thread's. */
static void
walk_process(struct worker *worker, pid_t pid)
{
	size_t first = worker->count;
	enum wd_status st = walk_table(worker, pid, pid);

	worker->seen++;
	if (st == WD_OK)
		st = walk_threads(worker, pid, first);
	switch (st) {
	case WD_OK:
		return;
	case WD_GONE:
		worker->vanished++;
		return;
	case WD_DENIED:
		worker->status = wd_pid_list_add(&worker->denied, pid);
		return;
	case WD_TIMEDOUT:
		worker->late++;
		return;
	case WD_NOMEM:
	case WD_LIMIT:
		worker->status = st;
		return;
	case WD_INVALID:
	case WD_MALFORMED:
	case WD_TRUNCATED:
	case WD_UNSUPPORTED:
	case WD_NOTFOUND:
	case WD_CHANGED:
	case WD_BUSY:
	case WD_IO:
	case WD_CORRUPT:
	case WD_STALE:
		break;
	}
	worker->status = wd_pid_list_add(&worker->odd, pid);
}

static void *
work(void *argument)
{
	struct worker *worker = argument;
	struct walk *walk = worker->walk;
	size_t at, end;

	for (;;) {
		at = atomic_fetch_add(&walk->next, WALK_STEP);
		if (at >= walk->pids->count || worker->status != WD_OK)
			return NULL;
		end = at + WALK_STEP;
		if (end > walk->pids->count)
			end = walk->pids->count;
		for (; at < end; at++) {
			if (wd_deadline_passed(walk->deadline))
				worker->late++;
			else
				walk_process(worker, walk->pids->items[at]);
		}
	}
}

/* ---- the threads --------------------------------------------------------- */

/* The caller works too; a thread that cannot be made is done without. */
static void
run_workers(struct worker *workers, unsigned count)
{
	pthread_t threads[WALK_MAX_THREADS];
	unsigned i, made = 0;

	for (i = 1; i < count; i++) {
		if (pthread_create(&threads[made], NULL, work, &workers[i]) !=
		    0)
			break;
		made++;
	}
	(void)work(&workers[0]);
	for (i = 0; i < made; i++)
		(void)pthread_join(threads[i], NULL);
}

static enum wd_status
move_pids(struct wd_pid_list *from, struct wd_pid_list *to)
{
	enum wd_status st = WD_OK;
	size_t i;

	for (i = 0; i < from->count && st == WD_OK; i++)
		st = wd_pid_list_add(to, from->items[i]);
	return st;
}

static enum wd_status
keep_end(struct wd_ends *found, const struct wd_end *end)
{
	void *items = found->items;
	enum wd_status st = wd_grow(&items, found->count, &found->capacity,
	    sizeof(*found->items), WD_MAX_HOLDERS);

	found->items = items;
	if (st == WD_OK)
		found->items[found->count++] = *end;
	return st;
}

static enum wd_status
collect(struct worker *worker, struct walk *walk, struct wd_holders *found)
{
	enum wd_status st = worker->status;
	size_t i;

	found->processes_seen += worker->seen;
	found->vanished += worker->vanished;
	walk->late += worker->late;
	for (i = 0; i < worker->count && st == WD_OK; i++)
		st = keep_end(walk->ends, &worker->items[i]);
	if (st == WD_OK)
		st = move_pids(&worker->denied, &walk->denied);
	return st == WD_OK ? move_pids(&worker->odd, &walk->odd) : st;
}

static void
worker_release(struct worker *worker)
{
	wd_free(worker->items);
	wd_pid_list_release(&worker->denied);
	wd_pid_list_release(&worker->odd);
}

static enum wd_status
walk_pids(
    struct walk *walk, const struct wd_pid_list *pids, struct wd_holders *found)
{
	WD_CLEANUP(wd_free_scoped) struct worker *workers = NULL;
	unsigned i, count = walk->lx->threads;
	enum wd_status st = WD_OK;

	if (pids->count < 4UL * WALK_STEP)
		count = 1;
	workers = wd_calloc(count, sizeof(*workers));
	if (workers == NULL)
		return WD_NOMEM;
	walk->pids = pids;
	atomic_store(&walk->next, 0);
	for (i = 0; i < count; i++)
		workers[i].walk = walk;
	run_workers(workers, count);
	for (i = 0; i < count; i++) {
		if (st == WD_OK)
			st = collect(&workers[i], walk, found);
		worker_release(&workers[i]);
	}
	return st;
}

/* ---- rounds -------------------------------------------------------------- */

/* What is in `now` and not in `before`; both are sorted. */
static enum wd_status
difference(const struct wd_pid_list *now, const struct wd_pid_list *before,
    struct wd_pid_list *fresh)
{
	enum wd_status st = WD_OK;
	size_t i, j = 0;

	for (i = 0; i < now->count && st == WD_OK; i++) {
		while (j < before->count && before->items[j] < now->items[i])
			j++;
		if (j == before->count || before->items[j] != now->items[i])
			st = wd_pid_list_add(fresh, now->items[i]);
	}
	return st;
}

/* Walks what has been born since `known` was listed, and brings that up to
 * date. */
static enum wd_status
walk_newborn(struct walk *walk, struct wd_pid_list *known,
    struct wd_holders *found, size_t *born, struct wd_error *err)
{
	WD_CLEANUP(wd_pid_list_release) struct wd_pid_list fresh = { 0 };
	WD_CLEANUP(wd_pid_list_release) struct wd_pid_list now = { 0 };
	struct wd_pid_list swap;
	enum wd_status st = wd_linux_list_pids(walk->lx, &now, err);

	if (st == WD_OK)
		st = difference(&now, known, &fresh);
	if (st == WD_OK && fresh.count > 0)
		st = walk_pids(walk, &fresh, found);
	*born = fresh.count;
	swap = *known;
	*known = now;
	now = swap;
	return st;
}

/* A process that nobody has looked at may have taken the socket over. */
static enum wd_status
report_newborn(bool late, struct wd_holders *found)
{
	found->complete = false;
	if (late)
		return wd_blinds_add(&found->blinds, WD_TIMEDOUT, 0,
		    "ask again with a longer deadline",
		    "processes born during the look",
		    "the deadline came first");
	return wd_blinds_add(&found->blinds, WD_LIMIT, 0, "ask again",
	    "processes born during the look",
	    "new ones were born each time they were looked for");
}

static enum wd_status
walk_rounds(struct walk *walk, struct wd_holders *found, struct wd_error *err)
{
	WD_CLEANUP(wd_pid_list_release) struct wd_pid_list known = { 0 };
	enum wd_status st = wd_linux_list_pids(walk->lx, &known, err);
	size_t born = 1;
	bool late = false;
	int round;

	if (st != WD_OK)
		return st;
	wd_linux_moment(walk->lx, WD_LINUX_AFTER_PIDS);
	st = walk_pids(walk, &known, found);
	wd_linux_moment(walk->lx, WD_LINUX_AFTER_WALK);
	if (!walk->lx->live)
		return st;
	for (round = 0; round < WALK_ROUNDS && st == WD_OK && born > 0;
	     round++) {
		late = wd_deadline_passed(walk->deadline);
		if (late)
			break;
		st = walk_newborn(walk, &known, found, &born, err);
		wd_linux_moment(walk->lx, WD_LINUX_AFTER_WALK);
	}
	return st == WD_OK && born > 0 ? report_newborn(late, found) : st;
}

/* ---- what could not be seen ---------------------------------------------- */

struct gap {
	enum wd_status why;
	const char *reason, *remedy;
};

/* The first few by name, the others by number. */
static enum wd_status
blind_processes(
    struct wd_pid_list *pids, const struct gap *gap, struct wd_holders *found)
{
	enum wd_status st = WD_OK;
	char what[96];
	size_t i;

	wd_pid_list_sort(pids);
	for (i = 0; i < pids->count && i < NAMED_BLIND && st == WD_OK; i++) {
		(void)snprintf(what, sizeof(what),
		    "open descriptors of process %d", (int)pids->items[i]);
		st = wd_blinds_add(&found->blinds, gap->why, pids->items[i],
		    gap->remedy, what, gap->reason);
	}
	if (st != WD_OK || pids->count <= NAMED_BLIND)
		return st;
	(void)snprintf(what, sizeof(what),
	    "open descriptors of %zu more processes",
	    pids->count - NAMED_BLIND);
	return wd_blinds_add(
	    &found->blinds, gap->why, 0, gap->remedy, what, gap->reason);
}

static enum wd_status
report_gaps(struct walk *walk, struct wd_holders *found)
{
	static const struct gap odd = { WD_IO, "the system failed to show them",
		"ask again" };
	struct wd_refusal refusal = walk->denied.count > 0 ?
	    wd_linux_refusal(walk->lx) :
	    (struct wd_refusal){ NULL, NULL };
	struct gap denied = { WD_DENIED, refusal.reason, refusal.remedy };
	enum wd_status st = blind_processes(&walk->denied, &denied, found);
	char what[96];

	if (st == WD_OK)
		st = blind_processes(&walk->odd, &odd, found);
	if (walk->denied.count > 0 || walk->odd.count > 0 || walk->late > 0)
		found->complete = false;
	if (st != WD_OK || walk->late == 0)
		return st;
	(void)snprintf(what, sizeof(what), "open descriptors of %zu processes",
	    walk->late);
	return wd_blinds_add(&found->blinds, WD_TIMEDOUT, 0,
	    "ask again with a longer deadline", what,
	    "the deadline came first");
}

static enum wd_status
sorted_inodes(const uint64_t *inodes, size_t count, uint64_t **sorted,
    size_t *sorted_count)
{
	size_t i, kept = 0;

	*sorted = wd_calloc(count, sizeof(**sorted));
	if (*sorted == NULL)
		return WD_NOMEM;
	/* 0 is no socket: TIME_WAIT rows have it. */
	for (i = 0; i < count; i++)
		if (inodes[i] != 0)
			(*sorted)[kept++] = inodes[i];
	if (kept > 1)
		qsort(*sorted, kept, sizeof(**sorted), compare_inodes);
	*sorted_count = kept;
	return WD_OK;
}

static enum wd_status
look(struct walk *walk, struct wd_holders *found, struct wd_error *err)
{
	bool hidden = false;
	enum wd_status st =
	    wd_linux_hidden_processes(walk->lx, &found->blinds, &hidden);

	found->complete = !hidden;
	if (st == WD_OK && walk->inode_count + walk->pipe_count > 0)
		st = walk_rounds(walk, found, err);
	if (st == WD_OK)
		st = report_gaps(walk, found);
	if (st != WD_LIMIT)
		return st;
	found->complete = false;
	return wd_blinds_add(&found->blinds, WD_LIMIT, 0,
	    "ask for fewer sockets at once", "further holders",
	    "more holders than the agent keeps");
}

enum wd_status
wd_linux_walk(struct wd_linux *lx, const struct wd_ends_wanted *wanted,
    const struct wd_deadline *deadline, struct wd_ends *ends,
    struct wd_holders *seen, struct wd_error *err)
{
	WD_CLEANUP(wd_free_scoped) uint64_t *sockets = NULL;
	WD_CLEANUP(wd_free_scoped) uint64_t *pipes = NULL;
	struct walk walk = { .lx = lx, .deadline = deadline, .ends = ends };
	enum wd_status st = sorted_inodes(
	    wanted->sockets, wanted->socket_count, &sockets, &walk.inode_count);

	if (st == WD_OK)
		st = sorted_inodes(wanted->pipes, wanted->pipe_count, &pipes,
		    &walk.pipe_count);
	walk.inodes = sockets;
	walk.pipes = pipes;
	if (st == WD_OK)
		st = look(&walk, seen, err);
	wd_pid_list_release(&walk.denied);
	wd_pid_list_release(&walk.odd);
	return st;
}
