/*
 * ties.h - processes that are tied to a group without descending from it.
 *
 * A tie lies between a candidate of a group (an owner or a descendant) and a
 * process outside: opposite ends of one pipe, two unix sockets that are
 * connected to each other, or one memory object (memfd, /dev/shm, System V)
 * that both map shared and writable. Of two things only one tie is made:
 *
 *   - The member's standard input, output and error tie nobody: they lead to
 *     shells, `tee`, journald and whoever started it.
 *   - A tie of a tie is not followed. A supervisor between two processes has
 *     pipes to all that it started, and would mix its services up. What is
 *     behind such a process is not known, and a blind spot says so.
 *   - A named FIFO ties nobody: whoever may open its path may write to it.
 *
 * Of tied processes only those that hold weights, or a device that computes,
 * become members (PROCESS_ROLE_TIED): no other changes what is served. Never
 * one that is, or descends from, a server of its own (a listener, or the engine
 * table), that descends from an owner (children.c has decided about it), or
 * that is a service manager or a known service of the system; and nobody is
 * tied to a proxy. A tie says that two processes talk, not that one answers the
 * other's requests, so weights that only tied processes hold are INFERRED at
 * best; and only CLAIMED when somebody who owns the port, or descends from an
 * owner, holds memory, a device or a file that nobody can account for: it may
 * serve from there. What a tied process's command line names, and the bytes it
 * has read, count for nothing.
 */
#ifndef WD_EVIDENCE_TIES_H
#define WD_EVIDENCE_TIES_H

#include "evidence/look.h"
#include "host/ends.h"

/* A process that is tied to members of one group and is none of them, or not
 * yet known to be one. */
struct wd_outsider {
	size_t group;
	pid_t pid;
	struct wd_tie *ties;
	size_t tie_count, tie_capacity;
};
struct wd_outsiders {
	struct wd_outsider *items;
	size_t count, capacity;
};

/* ties.c: who is tied to the groups of the question. What could not be seen is
 * a blind spot, and the groups are then `unexplained`. Errors: WD_NOMEM. */
enum wd_status wd_look_find_outsiders(
    struct wd_look *look, struct wd_outsiders *found) WD_MUST_CHECK;
void wd_outsiders_release(struct wd_outsiders *outsiders);

/* tied.c: adds the tied processes that hold weights to their groups, and blind
 * spots about the others. Errors: WD_NOMEM. */
enum wd_status wd_look_tied(
    struct wd_look *look, struct wd_error *err) WD_MUST_CHECK;

#endif
