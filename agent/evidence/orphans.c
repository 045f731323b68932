/*
 * Processes that hold weights although the process that served with them is
 * gone (a worker that outlived its server): whether nobody listens any more, or
 * a new server does. Of which port that server was cannot be known. Not one
 * that is in a group; and beside a server not one that listens itself: servers
 * whose starting script has ended are healthy neighbours. When nobody listens
 * they are shown too: children of a router have ports of their own.
 */
#include <stdio.h>
#include <string.h>

#include "evidence/look.h"
#include "evidence/remedy.h"

static const struct wd_pid *
find_pid(const struct wd_pids *pids, pid_t pid)
{
	size_t low = 0, high = pids->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pids->items[middle].pid == pid)
			return &pids->items[middle];
		if (pids->items[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

bool
wd_look_parent_died(struct wd_look *look, const struct wd_process *process)
{
	struct wd_process parent;
	bool died = false;

	/* Who leads a session or a process group was put there on purpose. */
	if (process->sid == process->identity.pid ||
	    process->pgid == process->identity.pid)
		return false;
	/* A child begins in its parent's session; in another's it was adopted.
	 * A process group whose leader is gone lost its parent as well. */
	memset(&parent, 0, sizeof(parent));
	if (process->ppid > 0 &&
	    wd_host_process(look->with->host, process->ppid, &parent, NULL) ==
		WD_OK)
		died = parent.sid != process->sid;
	wd_process_release(&parent);
	return died ||
	    (look->pids.complete &&
		find_pid(&look->pids, process->pgid) == NULL);
}

/* The process's own mappings; `*seen` is false when they could not be read. */
static enum wd_status
outlived(struct wd_look *look, const struct wd_process *process, bool *holds,
    bool *seen)
{
	struct wd_mappings rows;
	enum wd_tristate known = WD_NOT_KNOWN;
	enum wd_status st;

	memset(&rows, 0, sizeof(rows));
	st = wd_host_mappings(
	    look->with->host, process, look->deadline, &rows, NULL);
	if (st == WD_OK)
		known = wd_look_maps_weights(look, process, &rows);
	wd_mappings_release(&rows);
	*holds = known == WD_YES;
	*seen = known != WD_NOT_KNOWN || st == WD_GONE;
	return st == WD_NOMEM ? st : WD_OK;
}

/* The same question of the process table alone, which is cheap; true when it
 * does not suffice. */
static bool
may_be_left(const struct wd_look *look, const struct wd_pid *row)
{
	const struct wd_pid *parent = find_pid(&look->pids, row->ppid);

	if (row->sid == row->pid || row->pgid == row->pid)
		return false;
	return parent == NULL || parent->sid != row->sid ||
	    find_pid(&look->pids, row->pgid) == NULL;
}

static bool
is_member(const struct wd_look *look, pid_t pid)
{
	size_t i;

	for (i = 0; i < look->member_count; i++)
		if (look->members[i].pid == pid)
			return true;
	return false;
}

static enum wd_status
drop_servers(struct wd_look *look, const struct wd_process *process, bool *left)
{
	bool listens = false;
	enum wd_status st;

	if (!*left || look->listeners.count == 0)
		return WD_OK;
	st = wd_look_process_listens(look, process, &listens);
	*left = !listens;
	return st;
}

static enum wd_status
consider(struct wd_look *look, const struct wd_pid *row, bool *seen,
    struct wd_error *err)
{
	struct wd_process process;
	pid_t pid = row->pid;
	bool holds = false;
	enum wd_status st;

	*seen = true;
	if (pid == look->host.pid_of_agent || pid == 1 ||
	    !may_be_left(look, row) || is_member(look, pid))
		return WD_OK;
	memset(&process, 0, sizeof(process));
	st = wd_host_process(look->with->host, pid, &process, NULL);
	if (st != WD_OK) {
		*seen = st == WD_GONE;
	} else if (process.state != WD_KERNEL_THREAD &&
	    process.state != WD_ZOMBIE && wd_look_parent_died(look, &process)) {
		st = outlived(look, &process, &holds, seen);
		if (st == WD_OK)
			st = drop_servers(look, &process, &holds);
	}
	wd_process_release(&process);
	if (st == WD_OK && holds)
		st = wd_look_add_orphan(look, pid, err);
	return st == WD_NOMEM ? wd_fail(err, st, "orphans: out of memory") :
				WD_OK;
}

/* Decides nothing about the port, so it is shown only. */
static enum wd_status
note_unseen(struct wd_look *look, size_t unseen, bool late)
{
	char reason[128];

	if (unseen == 0 && !late)
		return WD_OK;
	if (late)
		(void)snprintf(reason, sizeof(reason),
		    "the time was up before every process was looked into");
	else
		(void)snprintf(reason, sizeof(reason),
		    "%zu processes could not be looked into", unseen);
	return wd_blinds_add(&look->other_blinds,
	    late ? WD_TIMEDOUT : WD_DENIED, 0,
	    wd_look_remedy(
		look, WD_REFUSED_PROCESS, late ? WD_TIMEDOUT : WD_DENIED)
		.remedy,
	    "weights that outlived their server", reason);
}

enum wd_status
wd_look_orphans(struct wd_look *look, struct wd_error *err)
{
	size_t i, unseen = 0;
	bool seen, late = false;
	enum wd_status st = WD_OK;

	for (i = 0; i < look->pids.count && st == WD_OK && !late; i++) {
		late = wd_deadline_passed(look->deadline);
		if (late)
			break;
		st = consider(look, &look->pids.items[i], &seen, err);
		unseen += seen ? 0 : 1;
	}
	if (st == WD_OK && note_unseen(look, unseen, late) != WD_OK)
		st = wd_fail(err, WD_NOMEM, "orphans: out of memory");
	return st;
}
