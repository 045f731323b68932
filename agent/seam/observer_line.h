/*
 * observer_line.h - the observer's interface (observer.h) over a socketpair:
 * the front asks at one end, the observer answers at the other.
 *
 * Both ends belong to an event loop that they do not know: whoever has them
 * watches the socket, calls `receive` when it is readable, and `flush` when it
 * is writable as long as `waits` says so. Nothing here blocks.
 *
 * Frames carry the messages of proto/weightd/seam/v1/observer.proto, the id
 * names the question. Kinds from WD_OBSERVER_OTHER on belong to whoever has
 * the ends (role/) and are handed on.
 */
#ifndef WD_SEAM_OBSERVER_LINE_H
#define WD_SEAM_OBSERVER_LINE_H

#include "seam/frame.h"
#include "seam/observer.h"

enum wd_observer_kind {
	WD_OBSERVER_QUESTION = 1, /* Question */
	WD_OBSERVER_CANCEL = 2,   /* nothing: the question is taken back */
	WD_OBSERVER_ANSWER = 3,   /* Answer */
	WD_OBSERVER_READY = 4,    /* nothing; id 1: ready, 0: not */
	WD_OBSERVER_OTHER = 16,
};

/* Hears a frame of another kind; it is released afterwards. Errors are the
 * end of the line. */
typedef enum wd_status wd_observer_hear(
    void *ctx, struct wd_frame *frame, struct wd_error *err);

/* ---- the front's end ----------------------------------------------------- */

struct wd_observer_remote;

struct wd_observer_remote_options {
	int socket; /* borrowed */
	const struct wd_clock *clock;
	unsigned open_questions; /* more are WD_BUSY; 1 to
				  * WD_MAX_OPEN_QUESTIONS */
	size_t frame_bytes;      /* the largest frame that may come */
	wd_observer_hear *hear;
	/* Called when something waits to be sent that could not go at once. */
	void (*stuck)(void *ctx);
	void *ctx;
};

/* Errors: WD_INVALID, WD_NOMEM. */
enum wd_status wd_observer_remote_new(
    const struct wd_observer_remote_options *options,
    struct wd_observer_remote **remote, struct wd_error *err) WD_MUST_CHECK;

/* As an observer; wd_observer_free frees the whole. */
struct wd_observer *wd_observer_remote_observer(
    struct wd_observer_remote *remote);

/* Takes what has come. Errors: WD_GONE (the observer ended), WD_MALFORMED,
 * WD_NOMEM, WD_IO; what `hear` says. Every open question then got WD_GONE, and
 * every later one gets it at once. */
enum wd_status wd_observer_remote_receive(
    struct wd_observer_remote *remote, struct wd_error *err) WD_MUST_CHECK;

/* Queues a frame of a kind from WD_OBSERVER_OTHER on, and takes what it
 * holds. Errors: WD_LIMIT, WD_NOMEM, WD_GONE. */
enum wd_status wd_observer_remote_say(struct wd_observer_remote *remote,
    struct wd_frame *frame, struct wd_error *err) WD_MUST_CHECK;

enum wd_status wd_observer_remote_flush(
    struct wd_observer_remote *remote, struct wd_error *err) WD_MUST_CHECK;
bool wd_observer_remote_waits(const struct wd_observer_remote *remote);

/* ---- the observer's end -------------------------------------------------- */

struct wd_observer_serve;

struct wd_observer_serve_options {
	int socket;                   /* borrowed */
	struct wd_observer *observer; /* who answers; borrowed */
	const struct wd_clock *clock;
	unsigned open_questions; /* more are answered with WD_BUSY */
	wd_observer_hear *hear;
	void (*stuck)(void *ctx);
	void *ctx;
};

/* Errors: WD_INVALID, WD_NOMEM. */
enum wd_status wd_observer_serve_new(
    const struct wd_observer_serve_options *options,
    struct wd_observer_serve **serve, struct wd_error *err) WD_MUST_CHECK;

/* Takes what has come from a front that may have been taken over. Errors:
 * WD_GONE, WD_MALFORMED, WD_NOMEM, WD_IO; what `hear` says: the front is to be
 * ended and this freed. */
enum wd_status wd_observer_serve_receive(
    struct wd_observer_serve *serve, struct wd_error *err) WD_MUST_CHECK;

/* As wd_observer_remote_say. */
enum wd_status wd_observer_serve_say(struct wd_observer_serve *serve,
    struct wd_frame *frame, struct wd_error *err) WD_MUST_CHECK;

/* Tells the front whether the observer is ready, when that has changed.
 * Errors: as say. */
enum wd_status wd_observer_serve_ready(
    struct wd_observer_serve *serve, struct wd_error *err) WD_MUST_CHECK;

enum wd_status wd_observer_serve_flush(
    struct wd_observer_serve *serve, struct wd_error *err) WD_MUST_CHECK;
bool wd_observer_serve_waits(const struct wd_observer_serve *serve);

/* Cancels what is open. Accepts NULL, sets NULL. */
void wd_observer_serve_free(struct wd_observer_serve **serve);

#endif
