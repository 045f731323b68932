/*
 * queue.h - the questions that the desk has not answered yet, and the answers
 * that nobody has fetched. Private to this room.
 *
 * A question is ASKED, TAKEN by an answerer, then ANSWERED, and leaves when
 * the loop's thread delivers it. One that is cancelled leaves at once, or, when
 * an answerer has it, as soon as that one is done: its clock then says that
 * every deadline has passed.
 *
 * wd_queue_ask, _cancel and _deliver belong to the loop's thread, _take and
 * _finish to the answerers.
 */
#ifndef WD_OBSERVER_QUEUE_H
#define WD_OBSERVER_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>

#include <protobuf-c/protobuf-c.h>

#include "base/buf.h"
#include "seam/observer.h"

enum wd_question_phase { WD_ASKED, WD_TAKEN, WD_ANSWERED };

struct wd_open_question {
	struct wd_open_question *next;
	wd_ticket ticket;
	enum wd_call call;
	ProtobufCMessage *request;
	bool waits; /* for files to be hashed: it may take all its time */
	/* Reads the desk's clock, until the question is cancelled. */
	struct wd_clock clock;
	const struct wd_clock *real_clock;
	struct wd_deadline deadline; /* by `clock` */
	struct wd_deadline give_up;  /* earlier: to answer without waiting */
	atomic_bool cancelled;
	enum wd_question_phase phase; /* under the queue's lock */
	bool holds_lane;              /* taken as one that waits */
	wd_observer_done *done;
	void *ctx;
	/* WD_ANSWERED */
	enum wd_status status;
	struct wd_buf answer;
	struct wd_error err;
};

struct wd_queue {
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t moved;
	struct wd_open_question *first; /* oldest first */
	size_t count;                   /* without the cancelled */
	size_t most;
	unsigned lanes, lanes_taken; /* for questions that wait */
	wd_ticket last_ticket;
	bool stopping;
	int wake[2]; /* reading and writing end; -1: none */
	bool awake;  /* a byte is in it */
};

/* Errors: WD_IO (no descriptors), and then nothing is to be released. */
enum wd_status wd_queue_init(struct wd_queue *queue, size_t most,
    unsigned lanes, struct wd_error *err) WD_MUST_CHECK;

/* Every thread must have ended. Frees whatever is left, undelivered. */
void wd_queue_release(struct wd_queue *queue);

/* A question, not in the queue yet: takes over `*request` when it succeeds.
 * `deadline` is read by its own clock and capped. Errors: WD_NOMEM. */
enum wd_status wd_question_new(const struct wd_clock *clock,
    const struct wd_deadline *deadline, ProtobufCMessage **request,
    struct wd_open_question **question, struct wd_error *err) WD_MUST_CHECK;

/* Takes over the question, also when it fails. Errors: WD_BUSY. */
enum wd_status wd_queue_ask(struct wd_queue *queue,
    struct wd_open_question *question, wd_ticket *ticket,
    struct wd_error *err) WD_MUST_CHECK;

void wd_queue_cancel(struct wd_queue *queue, wd_ticket ticket);

/* Waits for the oldest question that may be answered now, and takes it. With
 * `*may_wait` false it is one that waits, for which there was no lane and is
 * no time left. NULL: the queue stops. */
struct wd_open_question *wd_queue_take(struct wd_queue *queue, bool *may_wait);

/* The answer is in the question, which the caller must not use any more. */
void wd_queue_finish(struct wd_queue *queue, struct wd_open_question *question);

/* Calls `done` for what is answered. */
void wd_queue_deliver(struct wd_queue *queue);

/* Cancels every question; _take returns NULL from now on. */
void wd_queue_stop(struct wd_queue *queue);

/* So many questions are open, and so many of them taken. */
size_t wd_queue_open(struct wd_queue *queue);

#endif
