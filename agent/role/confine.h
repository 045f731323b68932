/*
 * confine.h - how a process of the service gives up what it does not need.
 * One file a system, linux/ first.
 *
 * Front and reader take another user before they touch a byte from outside:
 * no group, no capability, no way back, no core file, no new privilege by
 * exec, and they end when the observer ends. What was given up is looked at
 * afterwards, and a process that still has something ends.
 *
 * Filters of system calls and of paths are still to come; they belong behind
 * wd_confine_child.
 */
#ifndef WD_ROLE_CONFINE_H
#define WD_ROLE_CONFINE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

enum wd_part { WD_PART_FRONT, WD_PART_READER };

/* "front", "reader". */
const char *wd_part_name(enum wd_part part);

struct wd_user {
	bool change; /* false: stay who the observer is */
	uid_t uid;
	gid_t gid;
};

/* How a child is to be confined. */
struct wd_confinement {
	struct wd_user user;
	/* Closed to the eyes of other processes of the same user. Not where
	 * the observer itself would be blind then, for want of a capability:
	 * it could never again say that it saw every process. */
	bool hide;
};

/* Confines this very process. Errors: WD_DENIED, WD_IO: it must end. */
enum wd_status wd_confine_child(enum wd_part part,
    const struct wd_confinement *how, struct wd_error *err) WD_MUST_CHECK;

/* Confines the observer: of what it was given it keeps the capabilities in
 * the table of role/README.md. Errors: WD_DENIED, WD_IO. */
enum wd_status wd_confine_observer(struct wd_error *err) WD_MUST_CHECK;

/* Whether this process may take other users, and whether it can look into
 * processes that hide. */
bool wd_can_change_user(void);
bool wd_can_see_hidden(void);

/* Whether user 0 here is not the system's root, but somebody's whole own
 * world: a user namespace with few users. */
bool wd_root_is_nobody(void);

/* Starts this program as a child with that argument vector (NULL-terminated),
 * no environment, `socket` as descriptor WD_CHILD_SOCKET, standard error as it
 * is and nothing else. May be called in a process with threads. Errors: what
 * the system says. */
#define WD_CHILD_SOCKET 3
enum wd_status wd_spawn(char *const arguments[], int socket, pid_t *pid,
    struct wd_error *err) WD_MUST_CHECK;

#endif
