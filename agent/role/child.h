/*
 * child.h - one process of the service, kept running: started, ended when it
 * hangs, started again after a pause when it died (backoff.h), with one line
 * in the log for each death.
 *
 * Belongs to the thread of the observer's event loop. Whoever has it calls
 * wd_child_reap on SIGCHLD.
 */
#ifndef WD_ROLE_CHILD_H
#define WD_ROLE_CHILD_H

#include "base/clock.h"
#include "role/confine.h"

struct event_base;
struct wd_child;

struct wd_child_options {
	enum wd_part part;
	struct wd_confinement confinement;
	struct event_base *base;
	const struct wd_clock *clock;
	/* It runs; `socket` is our end of its line. Errors: it is ended. */
	enum wd_status (*started)(void *ctx, int socket, struct wd_error *err);
	/* It is gone, or given up: the socket will be closed. */
	void (*ended)(void *ctx);
	void *ctx;
};

/* Errors: WD_NOMEM. Does not start it. */
enum wd_status wd_child_new(const struct wd_child_options *options,
    struct wd_child **child, struct wd_error *err) WD_MUST_CHECK;

/* The first start. Errors: what the system and `started` say. */
enum wd_status wd_child_start(
    struct wd_child *child, struct wd_error *err) WD_MUST_CHECK;

/* Looks whether it has ended. */
void wd_child_reap(struct wd_child *child);

/* It closed its line: it ends, or is made to; wd_child_reap says which. */
void wd_child_hung_up(struct wd_child *child);

/* It hangs or lies, in words: it is killed and replaced, even when the system
 * cannot end it just now. */
void wd_child_give_up(struct wd_child *child, const char *why);

bool wd_child_runs(const struct wd_child *child);

/* From now on its end is no failure and it is not started again. */
void wd_child_let_go(struct wd_child *child);

/* Kills it. Accepts NULL, sets NULL. */
void wd_child_free(struct wd_child **child);

#endif
