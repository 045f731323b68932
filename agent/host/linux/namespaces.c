#include "host/linux/namespaces.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "host/linux/procfs.h"
#include "host/linux/sockdiag.h"

/* ---- the list ------------------------------------------------------------ */

void
wd_netns_list_release(struct wd_netns_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		wd_bytes_release(&list->items[i].mount);
	wd_free(list->items);
	wd_blinds_release(&list->blinds);
	memset(list, 0, sizeof(*list));
}

static struct wd_netns *
find_netns(struct wd_netns_list *list, uint64_t inode)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (list->items[i].inode == inode)
			return &list->items[i];
	return NULL;
}

static enum wd_status
add_netns(const struct wd_linux *lx, struct wd_netns_list *list, uint64_t inode,
    pid_t pid, struct wd_netns **added)
{
	struct wd_netns *known = find_netns(list, inode);
	void *items = list->items;
	enum wd_status st;

	if (known == NULL) {
		st = wd_grow(&items, list->count, &list->capacity,
		    sizeof(*known), WD_MAX_NAMESPACES);
		list->items = items;
		if (st != WD_OK)
			return st;
		known = &list->items[list->count++];
		memset(known, 0, sizeof(*known));
		known->inode = inode;
		known->own = inode == lx->netns;
	}
	if (known->pid == 0)
		known->pid = pid;
	*added = known;
	return WD_OK;
}

enum wd_status
wd_netns_own(const struct wd_linux *lx, struct wd_netns_list *list)
{
	struct wd_netns *own;
	enum wd_status st = add_netns(lx, list, lx->netns, 0, &own);

	if (st != WD_OK)
		return st;
	own->own = true;
	list->complete = true;
	return WD_OK;
}

/* ---- through processes --------------------------------------------------- */

struct netns_walk {
	const struct wd_linux *lx;
	struct wd_netns_list *list;
	struct unseen {
		size_t count;
		pid_t pid;          /* the last of them, to name */
		enum wd_status why; /* of that one */
	} denied, odd;
};

/* A task that has ended has left its namespace; any other failure leaves one
 * that may never be looked into. */
static void
note_unseen(struct netns_walk *walk, enum wd_status st, pid_t pid)
{
	struct unseen *unseen = st == WD_DENIED ? &walk->denied : &walk->odd;

	if (st == WD_OK || st == WD_GONE)
		return;
	unseen->count++;
	unseen->pid = pid;
	unseen->why = st;
}

static enum wd_status
take_task(struct netns_walk *walk, pid_t pid, pid_t tid)
{
	struct wd_netns *added;
	struct wd_link link;
	uint64_t inode;
	enum wd_status st =
	    wd_proc_link(walk->lx, &link, "%d/ns/net", (int)tid);

	if (st == WD_OK &&
	    !wd_parse_inode_link(
		(struct wd_slice){ link.text, link.len }, "net", &inode))
		st = WD_MALFORMED;
	note_unseen(walk, st, pid);
	return st == WD_OK ?
	    add_netns(walk->lx, walk->list, inode, tid, &added) :
	    WD_OK;
}

/* Threads can be in another namespace than their leader (setns(2)). A thread
 * is reached as /proc/TID, which is there though unlisted. */
static enum wd_status
take_process(struct netns_walk *walk, pid_t pid)
{
	WD_CLEANUP(wd_close_scoped) int folder = -1;
	struct wd_dents dents;
	const char *name;
	enum wd_status st = take_task(walk, pid, pid);

	folder =
	    wd_proc_open(walk->lx, O_RDONLY | O_DIRECTORY, "%d/task", (int)pid);
	if (folder < 0) {
		note_unseen(walk, wd_status_from_errno(errno), pid);
		return st;
	}
	wd_dents_init(&dents, folder);
	while (st == WD_OK && (name = wd_dents_next(&dents)) != NULL) {
		int tid = wd_name_number(name);

		if (tid > 0 && tid != pid)
			st = take_task(walk, pid, tid);
	}
	if (st == WD_OK && dents.os_errno != 0)
		note_unseen(walk, wd_status_from_errno(dents.os_errno), pid);
	return st;
}

static enum wd_status
report_unseen(struct netns_walk *walk, const struct unseen *unseen)
{
	struct wd_refusal refusal = { "the system failed to show them",
		"ask again" };
	char what[96];

	if (unseen->count == 0)
		return WD_OK;
	if (unseen->why == WD_DENIED)
		refusal = wd_linux_refusal(walk->lx);
	walk->list->complete = false;
	(void)snprintf(what, sizeof(what),
	    "network namespaces of %zu processes or threads", unseen->count);
	return wd_blinds_add(&walk->list->blinds, unseen->why,
	    unseen->count == 1 ? unseen->pid : 0, refusal.remedy, what,
	    refusal.reason);
}

static enum wd_status
walk_processes(struct netns_walk *walk, const struct wd_deadline *deadline,
    struct wd_error *err)
{
	WD_CLEANUP(wd_pid_list_release) struct wd_pid_list pids = { 0 };
	enum wd_status st = wd_linux_list_pids(walk->lx, &pids, err);
	size_t i;

	for (i = 0; i < pids.count && st == WD_OK; i++) {
		if (wd_deadline_passed(deadline)) {
			walk->list->complete = false;
			return wd_blinds_add(&walk->list->blinds, WD_TIMEDOUT,
			    0, "ask again with a longer deadline",
			    "network namespaces of the remaining processes",
			    "the deadline came first");
		}
		st = take_process(walk, pids.items[i]);
	}
	if (st == WD_OK)
		st = report_unseen(walk, &walk->denied);
	return st == WD_OK ? report_unseen(walk, &walk->odd) : st;
}

/* ---- through mounts ------------------------------------------------------ */

/* `ip netns add` and container engines keep a namespace by mounting its file:
 * file system "nsfs", root "net:[N]". */
static enum wd_status
take_mount(const struct wd_linux *lx, struct wd_netns_list *list,
    const struct wd_mount_line *mount)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf path = { 0 };
	struct wd_netns *added;
	uint64_t inode;
	enum wd_status st;

	wd_buf_init(&path, WD_MAX_PATH);
	if (!wd_slice_equal(mount->fs_type, wd_slice_text("nsfs")) ||
	    !wd_parse_inode_link(mount->root, "net", &inode))
		return WD_OK;
	st = wd_unescape_mount(&path, mount->mount_point);
	if (st == WD_OK)
		st = add_netns(lx, list, inode, 0, &added);
	if (st != WD_OK || added->mount.len > 0)
		return st;
	return wd_bytes_set(&added->mount, wd_buf_slice(&path));
}

static enum wd_status
walk_mounts(const struct wd_linux *lx, struct wd_netns_list *list)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { 0 };
	struct wd_mount_line mount;
	struct wd_slice rest, line;
	enum wd_status st;

	wd_buf_init(&text, WD_MAX_PROC_TEXT);
	st = wd_proc_read(lx, &text, "self/mountinfo");
	if (st == WD_NOMEM)
		return st;
	if (st != WD_OK) {
		list->complete = false;
		return wd_blinds_add(&list->blinds, st, 0,
		    "give the agent a readable /proc/self/mountinfo",
		    "network namespaces that only a mount keeps",
		    wd_status_name(st));
	}
	rest = wd_buf_slice(&text);
	while (st == WD_OK && wd_slice_cut(&rest, '\n', &line))
		if (wd_parse_mount_line(line, &mount))
			st = take_mount(lx, list, &mount);
	return st;
}

static int
compare_netns(const void *a, const void *b)
{
	const struct wd_netns *x = a, *y = b;

	if (x->own != y->own)
		return x->own ? -1 : 1;
	return (x->inode > y->inode) - (x->inode < y->inode);
}

enum wd_status
wd_netns_all(const struct wd_linux *lx, const struct wd_deadline *deadline,
    struct wd_netns_list *list, struct wd_error *err)
{
	struct netns_walk walk = { .lx = lx, .list = list };
	enum wd_status st = wd_netns_own(lx, list);
	bool hidden = false;

	if (st == WD_OK)
		st = walk_processes(&walk, deadline, err);
	if (st == WD_OK)
		st = walk_mounts(lx, list);
	if (st == WD_OK)
		st = wd_linux_hidden_processes(lx, &list->blinds, &hidden);
	if (st != WD_OK)
		return wd_fail(err, st, "listing network namespaces: %s",
		    wd_status_name(st));
	if (hidden)
		list->complete = false;
	qsort(list->items, list->count, sizeof(*list->items), compare_netns);
	return WD_OK;
}

/* ---- a view into one ----------------------------------------------------- */

static int
open_or_status(
    const struct wd_linux *lx, const char *path, enum wd_status *status)
{
	int fd = wd_proc_open(lx, O_RDONLY, "%s", path);

	*status = fd < 0 ? wd_status_from_errno(errno) : WD_OK;
	return fd;
}

static void
view_none(struct wd_netns_view *view, enum wd_status why)
{
	*view = (struct wd_netns_view){ -1, -1, -1, why, why, why };
}

void
wd_netns_view_close(struct wd_netns_view *view)
{
	wd_close_scoped(&view->diag);
	wd_close_scoped(&view->tcp);
	wd_close_scoped(&view->tcp6);
}

/* Opens everything in the calling thread's namespace. */
static void
view_here(
    const struct wd_linux *lx, const char *folder, struct wd_netns_view *view)
{
	char path[64];

	if (lx->options.no_netlink || !lx->live) {
		view->diag_status = WD_UNSUPPORTED;
	} else {
		view->diag = wd_diag_socket();
		view->diag_status =
		    view->diag < 0 ? wd_status_from_errno(errno) : WD_OK;
	}
	(void)snprintf(path, sizeof(path), "%s/tcp", folder);
	view->tcp = open_or_status(lx, path, &view->tcp_status);
	(void)snprintf(path, sizeof(path), "%s/tcp6", folder);
	view->tcp6 = open_or_status(lx, path, &view->tcp6_status);
}

struct entry {
	const struct wd_linux *lx;
	int ns;
	struct wd_netns_view *view;
	int os_errno;
};

static void *
enter(void *argument)
{
	struct entry *entry = argument;

	if (setns(entry->ns, CLONE_NEWNET) < 0)
		entry->os_errno = errno;
	else
		view_here(entry->lx, "thread-self/net", entry->view);
	return NULL;
}

/* The namespace's own file, checked to be the one we mean: a pid may have
 * been reused and a mount replaced meanwhile. */
static int
open_netns(const struct wd_linux *lx, const struct wd_netns *ns)
{
	struct wd_object_id id;
	int fd = -1;

	if (ns->pid != 0)
		fd = wd_proc_open(lx, O_RDONLY, "%d/ns/net", (int)ns->pid);
	if (fd < 0 && ns->mount.len > 0)
		fd = open((const char *)ns->mount.data,
		    O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && wd_object_id_of(fd, &id) && id.inode == ns->inode)
		return fd;
	wd_close_scoped(&fd);
	return -1;
}

static bool
view_by_entering(const struct wd_linux *lx, const struct wd_netns *ns,
    struct wd_netns_view *view)
{
	WD_CLEANUP(wd_close_scoped) int fd = open_netns(lx, ns);
	struct entry entry = { lx, fd, view, 0 };
	pthread_t thread;

	if (fd < 0 || pthread_create(&thread, NULL, enter, &entry) != 0)
		return false;
	(void)pthread_join(thread, NULL);
	return entry.os_errno == 0;
}

void
wd_netns_view_open(const struct wd_linux *lx, const struct wd_netns *ns,
    struct wd_netns_view *view)
{
	char folder[32];

	view_none(view, WD_DENIED);
	if (ns->own) {
		view_here(lx, lx->live ? "thread-self/net" : "net", view);
		return;
	}
	if (lx->live && view_by_entering(lx, ns, view))
		return;
	if (ns->pid == 0)
		return;
	(void)snprintf(folder, sizeof(folder), "%d/net", (int)ns->pid);
	view->tcp_status = view->tcp6_status = WD_OK;
	view->diag_status = WD_UNSUPPORTED;
	{
		char path[64];

		(void)snprintf(path, sizeof(path), "%s/tcp", folder);
		view->tcp = open_or_status(lx, path, &view->tcp_status);
		(void)snprintf(path, sizeof(path), "%s/tcp6", folder);
		view->tcp6 = open_or_status(lx, path, &view->tcp6_status);
	}
	/* The tables belong to whoever has the pid now. */
	if (wd_proc_ns(lx, ns->pid, "net") != ns->inode) {
		wd_netns_view_close(view);
		view_none(view, WD_GONE);
	}
}
