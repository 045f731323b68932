/*
 * namespaces.h - the network namespaces that can be seen, and a view into
 * each: its sock_diag socket and its tables in /proc/net.
 */
#ifndef WD_HOST_LINUX_NAMESPACES_H
#define WD_HOST_LINUX_NAMESPACES_H

#include "host/linux/backend.h"

struct wd_netns {
	uint64_t inode;
	bool own;
	pid_t pid;             /* a process in it; 0: only a mount keeps it */
	struct wd_bytes mount; /* where it is mounted, if anywhere */
};

struct wd_netns_list {
	struct wd_netns *items; /* own first, the others by inode */
	size_t count, capacity;
	bool complete;
	struct wd_blinds blinds;
};

/* The agent's own alone. */
enum wd_status wd_netns_own(
    const struct wd_linux *lx, struct wd_netns_list *list) WD_MUST_CHECK;

/* All of them: of every process and thread, and those kept by a mount.
 * Errors: WD_NOMEM, WD_LIMIT, those of listing processes. */
enum wd_status wd_netns_all(const struct wd_linux *lx,
    const struct wd_deadline *deadline, struct wd_netns_list *list,
    struct wd_error *err) WD_MUST_CHECK;

void wd_netns_list_release(struct wd_netns_list *list);

/* A look into one namespace. What could not be opened is -1, with its
 * status. */
struct wd_netns_view {
	int diag, tcp, tcp6;
	enum wd_status diag_status, tcp_status, tcp6_status;
};

/* Enters by a helper thread, so no thread of ours is left elsewhere; where
 * that is not allowed, the tables of a process in it are taken. Errors: none;
 * the view says what it has. */
void wd_netns_view_open(const struct wd_linux *lx, const struct wd_netns *ns,
    struct wd_netns_view *view);
void wd_netns_view_close(struct wd_netns_view *view);

#endif
