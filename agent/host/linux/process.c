#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "host/linux/argv.h"
#include "host/linux/backend.h"
#include "host/linux/names.h"
#include "host/linux/procfs.h"
#include "host/redact.h"

/* ---- stat and identity --------------------------------------------------- */

static enum wd_status
read_stat(const struct wd_linux *lx, pid_t pid, pid_t tid, struct wd_stat *stat)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { 0 };
	enum wd_status st;

	wd_buf_init(&text, 4096);
	/* /proc/PID/stat counts the whole process, task/TID/stat one thread. */
	st = pid == tid ?
	    wd_proc_read(lx, &text, "%d/stat", (int)pid) :
	    wd_proc_read(lx, &text, "%d/task/%d/stat", (int)pid, (int)tid);
	if (st != WD_OK)
		return st;
	return wd_parse_stat(wd_buf_slice(&text), stat);
}

static bool
is_dead(char state)
{
	return state == 'Z' || state == 'X' || state == 'x';
}

/* The lowest thread that is alive; `pid` when there is none. */
static pid_t
find_live_thread(const struct wd_linux *lx, pid_t pid)
{
	WD_CLEANUP(wd_close_scoped) int folder = -1;
	struct wd_dents dents;
	struct wd_stat stat;
	const char *name;
	pid_t lowest = pid;

	folder = wd_proc_open(lx, O_RDONLY | O_DIRECTORY, "%d/task", (int)pid);
	if (folder < 0)
		return pid;
	wd_dents_init(&dents, folder);
	while ((name = wd_dents_next(&dents)) != NULL) {
		int tid = wd_name_number(name);

		if (tid <= 0 || tid == pid || (lowest != pid && tid > lowest) ||
		    read_stat(lx, pid, tid, &stat) != WD_OK ||
		    is_dead(stat.state))
			continue;
		lowest = tid;
	}
	return lowest;
}

/* A process as one moment showed it: what all the rest is read through. */
struct view {
	struct wd_stat stat;
	pid_t live; /* a thread that has the address space */
	enum wd_process_state state;
	uint64_t stack_start, arg_start, arg_end;
	struct wd_object_id exe;
	enum wd_status exe_status;
};

static enum wd_status
look_at_exe(const struct wd_linux *lx, pid_t tid, struct wd_object_id *id)
{
	char path[32];

	/* A captured link would lead to a file of this system. */
	if (!lx->live)
		return WD_UNSUPPORTED;
	(void)snprintf(path, sizeof(path), "%d/exe", (int)tid);
	if (wd_object_id_at(lx->proc, path, id))
		return WD_OK;
	return wd_status_from_errno(errno);
}

static enum wd_process_state
state_of(const struct wd_stat *stat, pid_t live)
{
	if (stat->flags & WD_STAT_KTHREAD)
		return WD_KERNEL_THREAD;
	if (!is_dead(stat->state))
		return WD_RUNNING;
	return live != stat->pid ? WD_ZOMBIE_LEADER : WD_ZOMBIE;
}

static enum wd_status
look_at(const struct wd_linux *lx, pid_t pid, struct view *view)
{
	struct wd_stat thread;
	enum wd_status st = read_stat(lx, pid, pid, &view->stat);

	if (st != WD_OK)
		return st;
	view->live = pid;
	if (is_dead(view->stat.state))
		view->live = find_live_thread(lx, pid);
	view->state = state_of(&view->stat, view->live);
	thread = view->stat;
	if (view->live != pid &&
	    read_stat(lx, pid, view->live, &thread) != WD_OK)
		thread = view->stat;
	view->stack_start = thread.stack_start;
	view->arg_start = thread.arg_start;
	view->arg_end = thread.arg_end;
	view->exe = (struct wd_object_id){ 0 };
	view->exe_status = look_at_exe(lx, view->live, &view->exe);
	return WD_OK;
}

static struct wd_identity
identity_of(pid_t pid, const struct view *view)
{
	struct wd_identity identity = { .pid = pid,
		.start = view->stat.start_ticks };

	if (view->exe_status != WD_OK || view->stack_start == 0)
		return identity;
	identity.exe_device = view->exe.device;
	identity.exe_inode = view->exe.inode;
	identity.exec_token = view->stack_start;
	identity.generation_known = true;
	return identity;
}

static enum wd_status
fail_process(enum wd_status st, pid_t pid, struct wd_error *err)
{
	if (st == WD_MALFORMED)
		return wd_fail(err, st,
		    "process %d: /proc/%d/stat is not of the known form",
		    (int)pid, (int)pid);
	return wd_fail(err, st, "process %d: %s", (int)pid, wd_status_name(st));
}

enum wd_status
wd_linux_process_identity(struct wd_host *host, pid_t pid,
    struct wd_identity *identity, struct wd_error *err)
{
	struct view view;
	enum wd_status st = look_at(wd_linux_of(host), pid, &view);

	if (st != WD_OK)
		return fail_process(st, pid, err);
	*identity = identity_of(pid, &view);
	return WD_OK;
}

/* ---- executable ---------------------------------------------------------- */

/* Where the path of the executable leads today. */
static enum wd_tristate
exe_replaced(const struct wd_linux *lx, pid_t live, struct wd_slice path,
    const struct wd_object_id *exe)
{
	WD_CLEANUP(wd_close_scoped) int fd = -1;

	if (wd_linux_path_leads_to(lx, live, path, exe))
		return WD_NO;
	fd = wd_linux_resolve(lx, live, path);
	if (fd >= 0)
		return WD_YES;
	return errno == ENOENT || errno == ENOTDIR ? WD_NO : WD_NOT_KNOWN;
}

static enum wd_status
take_exe(const struct wd_linux *lx, const struct view *view,
    struct wd_process *process)
{
	const struct wd_object_id *id =
	    view->exe_status == WD_OK ? &view->exe : NULL;
	struct wd_shown shown;
	struct wd_link link;
	enum wd_status st;

	process->exe_replaced = WD_NOT_KNOWN;
	process->exe_status =
	    wd_proc_link(lx, &link, "%d/exe", (int)view->live);
	if (process->exe_status != WD_OK) {
		/* Kernel threads and the dead have none. */
		if (process->exe_status == WD_GONE)
			process->exe_status = WD_NOTFOUND;
		return WD_OK;
	}
	shown = wd_linux_shown(
	    lx, view->live, (struct wd_slice){ link.text, link.len }, id);
	st = wd_bytes_set(&process->exe_path, shown.path);
	if (st != WD_OK)
		return st;
	process->exe_deleted = shown.deleted;
	if (id != NULL && shown.type == WD_OBJECT_REGULAR)
		process->exe_replaced =
		    exe_replaced(lx, view->live, shown.path, id);
	return WD_OK;
}

/* ---- command line -------------------------------------------------------- */

/* The word at the start of the stack is the number of arguments that exec was
 * given; setproctitle moves the pointers behind it, never the count. Reading
 * does not stop the process. A 32-bit process has a 32-bit word there. */
static bool
read_argc(const struct wd_linux *lx, const struct view *view, uint64_t *argc)
{
	WD_CLEANUP(wd_close_scoped) int mem = -1;
	uint64_t word = 0;

	if (!lx->live || view->stack_start == 0 ||
	    view->stack_start > INT64_MAX)
		return false;
	mem = wd_proc_open(lx, O_RDONLY, "%d/mem", (int)view->live);
	if (mem < 0 ||
	    pread(mem, &word, sizeof(word), (off_t)view->stack_start) !=
		(ssize_t)sizeof(word))
		return false;
	*argc = word > UINT32_MAX ? (uint32_t)word : word;
	return true;
}

static enum wd_status
take_argv(const struct wd_linux *lx, const struct view *view,
    struct wd_process *process)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { 0 };
	struct wd_argv_facts facts = { 0 };
	enum wd_status st;

	wd_buf_init(&text, WD_MAX_ARGV_BYTES);
	st = wd_proc_read(lx, &text, "%d/cmdline", (int)view->live);
	if (st == WD_NOMEM)
		return st;
	process->argv_truncated = st == WD_LIMIT;
	process->argv_status = st == WD_LIMIT ? WD_OK : st;
	if (process->argv_status != WD_OK)
		return WD_OK;
	if (view->arg_end > view->arg_start)
		facts.area_bytes = view->arg_end - view->arg_start;
	facts.argc_known = read_argc(lx, view, &facts.argc);
	facts.truncated = process->argv_truncated;
	process->argv_overwritten =
	    wd_argv_overwritten(wd_buf_slice(&text), &facts);
	st = wd_bytes_set(&process->argv, wd_buf_slice(&text));
	if (st != WD_OK)
		return st;
	return wd_redact_argv(&process->argv, &process->argv_redacted);
}

static enum wd_status
take_environment(const struct wd_linux *lx, const struct view *view,
    struct wd_process *process)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { 0 };
	enum wd_status st;

	wd_buf_init(&text, WD_MAX_ENV_BYTES);
	st = wd_proc_read(lx, &text, "%d/environ", (int)view->live);
	if (st == WD_NOMEM)
		return st;
	process->env_status = st;
	if (st != WD_OK && st != WD_LIMIT)
		return WD_OK;
	return wd_environment_take(wd_buf_slice(&text), process);
}

/* ---- numbers ------------------------------------------------------------- */

static enum wd_status
take_status(const struct wd_linux *lx, const struct view *view,
    struct wd_process *process)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { 0 };
	struct wd_status_file status;
	enum wd_status st;

	wd_buf_init(&text, 1UL << 20);
	st = wd_proc_read(lx, &text, "%d/status", (int)view->live);
	if (st == WD_NOMEM)
		return st;
	if (st != WD_OK)
		return WD_OK;
	wd_parse_status(wd_buf_slice(&text), &status);
	process->uid = status.uid;
	process->gid = status.gid;
	process->uid_known = status.uid_known && status.gid_known;
	process->rss_anon_bytes = status.rss_anon_bytes;
	process->rss_file_bytes = status.rss_file_bytes;
	process->rss_shmem_bytes = status.rss_shmem_bytes;
	process->locked_bytes = status.locked_bytes;
	process->swap_bytes = status.swap_bytes;
	process->hugetlb_bytes = status.hugetlb_bytes;
	return WD_OK;
}

/* Of the process: /proc/PID/io adds up its threads, the ended ones too. */
static enum wd_status
take_io(const struct wd_linux *lx, pid_t pid, struct wd_process *process)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { 0 };

	wd_buf_init(&text, 4096);
	process->io_status = wd_proc_read(lx, &text, "%d/io", (int)pid);
	if (process->io_status == WD_NOMEM)
		return WD_NOMEM;
	if (process->io_status == WD_OK &&
	    !wd_parse_key(
		wd_buf_slice(&text), "rchar", 10, &process->read_bytes))
		process->io_status = WD_MALFORMED;
	return WD_OK;
}

/* The boot in real time. Live: by both clocks, so to the nanosecond and moved
 * along with the real one; else what /proc/stat said, in seconds. */
static int64_t
boot_real_ns(const struct wd_linux *lx)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { 0 };
	uint64_t seconds;

	if (lx->live)
		return wd_clock_real_ns(&wd_clock_system) -
		    wd_clock_boot_ns(&wd_clock_system);
	wd_buf_init(&text, 1UL << 24);
	if (wd_proc_read(lx, &text, "stat") != WD_OK ||
	    !wd_parse_boot_time(wd_buf_slice(&text), &seconds) ||
	    seconds > INT64_MAX / WD_NS_PER_SECOND)
		return 0;
	return (int64_t)seconds * WD_NS_PER_SECOND;
}

static int64_t
start_real_ns(const struct wd_linux *lx, uint64_t ticks)
{
	long per_second = sysconf(_SC_CLK_TCK);
	int64_t boot = boot_real_ns(lx), since;

	if (per_second <= 0)
		per_second = 100;
	if (boot == 0 || ticks > INT64_MAX ||
	    __builtin_mul_overflow(
		(int64_t)ticks, WD_NS_PER_SECOND / per_second, &since) ||
	    __builtin_add_overflow(boot, since, &boot))
		return 0;
	return boot;
}

/* ---- relations ----------------------------------------------------------- */

static enum wd_status
take_ancestors(
    const struct wd_linux *lx, pid_t parent, struct wd_process *process)
{
	size_t capacity = 0;
	enum wd_status st;
	struct wd_stat stat;

	while (parent > 0 && process->ancestor_count < WD_MAX_ANCESTORS &&
	    read_stat(lx, parent, parent, &stat) == WD_OK) {
		void *items = process->ancestors;
		struct wd_ancestor *added;

		st = wd_grow(&items, process->ancestor_count, &capacity,
		    sizeof(*added), WD_MAX_ANCESTORS);
		process->ancestors = items;
		if (st != WD_OK)
			return st;
		added = &process->ancestors[process->ancestor_count++];
		added->pid = parent;
		added->start = stat.start_ticks;
		memcpy(added->comm, stat.comm, sizeof(added->comm));
		parent = stat.ppid;
	}
	return WD_OK;
}

static enum wd_status
set_text(char **text, struct wd_slice from)
{
	if (from.len == 0)
		return WD_OK;
	*text = wd_memdup0(from.data, from.len);
	return *text == NULL ? WD_NOMEM : WD_OK;
}

static enum wd_status
take_cgroup(const struct wd_linux *lx, pid_t pid, struct wd_process *process)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { 0 };
	struct wd_slice path;
	enum wd_status st;

	wd_buf_init(&text, 1UL << 20);
	st = wd_proc_read(lx, &text, "%d/cgroup", (int)pid);
	if (st == WD_NOMEM)
		return st;
	if (st != WD_OK)
		return WD_OK;
	path = wd_cgroup_choose(wd_buf_slice(&text));
	st = wd_bytes_set(&process->cgroup, path);
	if (st == WD_OK)
		st = set_text(&process->unit, wd_cgroup_unit(path));
	if (st == WD_OK)
		st = set_text(&process->container, wd_cgroup_container(path));
	return st;
}

/* ---- all of it ----------------------------------------------------------- */

static void
take_view(const struct wd_linux *lx, pid_t pid, const struct view *view,
    struct wd_process *process)
{
	process->identity = identity_of(pid, view);
	process->state = view->state;
	process->start_real_ns = start_real_ns(lx, view->stat.start_ticks);
	process->ppid = view->stat.ppid;
	process->sid = view->stat.sid;
	process->pgid = view->stat.pgid;
	process->live_tid = view->live;
	memcpy(process->comm, view->stat.comm, sizeof(process->comm));
	process->netns = wd_proc_ns(lx, view->live, "net");
	process->pidns = wd_proc_ns(lx, view->live, "pid");
	process->mntns = wd_proc_ns(lx, view->live, "mnt");
}

enum wd_status
wd_linux_process(struct wd_host *host, pid_t pid, struct wd_process *process,
    struct wd_error *err)
{
	struct wd_linux *lx = wd_linux_of(host);
	struct view view;
	enum wd_status st = look_at(lx, pid, &view);

	if (st != WD_OK)
		return fail_process(st, pid, err);
	take_view(lx, pid, &view, process);
	st = take_exe(lx, &view, process);
	if (st == WD_OK)
		st = take_argv(lx, &view, process);
	if (st == WD_OK)
		st = take_environment(lx, &view, process);
	if (st == WD_OK)
		st = take_status(lx, &view, process);
	if (st == WD_OK)
		st = take_io(lx, pid, process);
	if (st == WD_OK)
		st = take_ancestors(lx, view.stat.ppid, process);
	if (st == WD_OK)
		st = take_cgroup(lx, pid, process);
	if (st != WD_OK) {
		wd_process_release(process);
		return fail_process(st, pid, err);
	}
	return WD_OK;
}
