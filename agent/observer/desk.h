/*
 * desk.h - where questions about this host are answered: the observer behind
 * seam/observer.h, in this very process.
 *
 * Some threads answer, each with a host and a reader of its own, so that a
 * look that hangs delays no other question. The desk itself, as every
 * observer, belongs to one thread, that of an event loop: the loop watches
 * wd_desk_wake_fd for reading and then calls wd_desk_deliver, which calls
 * `done` for what has been answered.
 *
 * A question comes from a process that may have been taken over. It is
 * validated against the schema under a budget before it is unpacked, its
 * deadline is capped (WD_MAX_QUESTION_MS), and paths in it reach only what the
 * options allow. Questions that wait for a file to be hashed are answered by
 * at most half of the threads; those beyond wait in the queue, and are answered
 * without the digest when their time runs out.
 */
#ifndef WD_OBSERVER_DESK_H
#define WD_OBSERVER_DESK_H

#include "evidence/digest_work.h"
#include "host/host.h"
#include "seam/observer.h"
#include "seam/reader.h"
#include "store/store.h"

struct wd_desk;

struct wd_desk_options {
	const struct wd_clock *clock; /* borrowed */
	struct wd_store *store; /* borrowed; may be used by many threads */
	/* One more host: called for each thread while the desk starts. */
	enum wd_status (*new_host)(
	    void *ctx, struct wd_host **host, struct wd_error *err);
	/* One more reader: called in the thread that uses it, when it is first
	 * needed and again after the last one said WD_GONE (lasting.h). */
	enum wd_status (*new_reader)(
	    void *ctx, struct wd_reader **reader, struct wd_error *err);
	void *ctx;
	unsigned answerers; /* threads; 1 to WD_MAX_ANSWERERS */
	unsigned hashers; /* of the background digests; 1 to WD_WORK_THREADS */
	unsigned open_questions;        /* more are WD_BUSY; at least 1 */
	uint64_t hash_bytes_per_second; /* of each job; 0: no cap */
	/* Absolute folders below which DescribeBundle may look; borrowed. */
	const char *const *model_roots;
	size_t model_root_count;
};

/* Starts the threads, in which every signal is blocked. On WD_OK the desk
 * answers until wd_observer_free of its observer, which cancels every question,
 * waits for the threads and frees the desk: a look that a dead network file
 * system keeps is waited for. `options` is copied, what it points to must
 * outlive the desk. Errors: WD_INVALID (options), WD_NOMEM, what new_host
 * says. */
enum wd_status wd_desk_start(const struct wd_desk_options *options,
    struct wd_desk **desk, struct wd_error *err) WD_MUST_CHECK;

/* The desk as an observer; borrowed. */
struct wd_observer *wd_desk_observer(struct wd_desk *desk);

/* Readable when something was answered; the desk's. */
int wd_desk_wake_fd(const struct wd_desk *desk);

/* Calls `done` for every answer that is there, in this thread. */
void wd_desk_deliver(struct wd_desk *desk);

#endif
