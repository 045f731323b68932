/*
 * The front's end of the observer's line: a table of open questions. The low
 * bits of a ticket are its place in the table, the others count, so that no
 * ticket comes twice and none needs a search.
 */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "seam/frames.h"
#include "seam/line.h"
#include "seam/message_frame.h"
#include "seam/observer_line.h"
#include "weightd/seam/v1/observer.pb-c.h"

struct pending {
	wd_ticket ticket; /* 0: free */
	wd_observer_done *done;
	void *ctx;
};

struct wd_observer_remote {
	struct wd_observer observer;
	struct wd_observer_remote_options options;
	struct wd_frames frames;
	struct pending *pending;
	uint64_t asked;
	bool is_ready;
	bool is_broken;
};

static struct wd_observer_remote *
remote_of(struct wd_observer *observer)
{
	return (struct wd_observer_remote *)observer;
}

static struct pending *
find(struct wd_observer_remote *remote, wd_ticket ticket)
{
	size_t place = ticket % WD_MAX_OPEN_QUESTIONS;

	if (ticket == 0 || place >= remote->options.open_questions ||
	    remote->pending[place].ticket != ticket)
		return NULL;
	return &remote->pending[place];
}

/* Calls `done` once; the place is free before, for it may ask again. */
static void
finish(struct pending *pending, enum wd_status status, struct wd_slice answer,
    const struct wd_error *err)
{
	struct pending ended = *pending;

	pending->ticket = 0;
	ended.done(ended.ctx, status, answer, err);
}

/* ---- asking -------------------------------------------------------------- */

static enum wd_status
send_now(struct wd_observer_remote *remote, struct wd_frame *frame,
    struct wd_error *err)
{
	enum wd_status st;

	if (remote->is_broken) {
		wd_frame_release(frame);
		return wd_fail(err, WD_GONE,
		    "the observer ended; a new one is being started");
	}
	st = wd_frames_put(&remote->frames, frame, err);
	if (st == WD_OK)
		st = wd_frames_flush(&remote->frames, err);
	if (st == WD_OK && wd_frames_waits(&remote->frames))
		remote->options.stuck(remote->options.ctx);
	return st;
}

static enum wd_status
send_question(struct wd_observer_remote *remote, wd_ticket ticket,
    enum wd_call call, struct wd_slice body, const struct wd_deadline *deadline,
    struct wd_error *err)
{
	Weightd__Seam__V1__Question question =
	    WEIGHTD__SEAM__V1__QUESTION__INIT;
	struct wd_frame frame;
	enum wd_status st;

	question.call = call;
	question.left_ms =
	    deadline == NULL ? -1 : wd_deadline_left_ms(deadline);
	question.body.len = body.len;
	/* Packing reads it only. */
	memcpy(&question.body.data, &body.data, sizeof(body.data));
	st = wd_message_frame(
	    WD_OBSERVER_QUESTION, ticket, &question.base, &frame, err);
	return st == WD_OK ? send_now(remote, &frame, err) : st;
}

static enum wd_status
remote_ask(struct wd_observer *observer, enum wd_call call,
    struct wd_slice question, const struct wd_deadline *deadline,
    wd_observer_done *done, void *ctx, wd_ticket *ticket, struct wd_error *err)
{
	struct wd_observer_remote *remote = remote_of(observer);
	unsigned i, most = remote->options.open_questions;
	wd_ticket made;
	enum wd_status st;

	for (i = 0; i < most && remote->pending[i].ticket != 0; i++)
		;
	if (i == most)
		return wd_fail(err, WD_BUSY,
		    "%u questions are open already; ask again in a moment",
		    most);
	made = ++remote->asked * WD_MAX_OPEN_QUESTIONS + i;
	st = send_question(remote, made, call, question, deadline, err);
	/* What the other end does not read can be no question of its own. */
	if (st == WD_LIMIT)
		return wd_fail(err, WD_BUSY, "the observer is too busy");
	if (st != WD_OK)
		return st;
	remote->pending[i] = (struct pending){ made, done, ctx };
	*ticket = made;
	return WD_OK;
}

static void
remote_cancel(struct wd_observer *observer, wd_ticket ticket)
{
	struct wd_observer_remote *remote = remote_of(observer);
	struct pending *pending = find(remote, ticket);
	struct wd_frame frame = wd_frame_init(WD_OBSERVER_CANCEL, ticket);

	if (pending == NULL)
		return;
	pending->ticket = 0;
	/* When that does not go out, the answer comes and finds nobody. */
	(void)!send_now(remote, &frame, NULL);
}

static bool
remote_is_ready(const struct wd_observer *observer)
{
	const struct wd_observer_remote *remote =
	    (const struct wd_observer_remote *)observer;

	return remote->is_ready && !remote->is_broken;
}

/* ---- answers ------------------------------------------------------------- */

static enum wd_status
hear_answer(struct wd_observer_remote *remote, const struct wd_frame *frame,
    struct wd_error *err)
{
	Weightd__Seam__V1__Answer *answer;
	struct pending *pending = find(remote, frame->id);
	struct wd_error failure;
	enum wd_status st;

	if (pending == NULL)
		return WD_OK; /* taken back */
	answer = wd_line_message(frame, &weightd__seam__v1__answer__descriptor);
	if (answer == NULL)
		return wd_fail(err, WD_MALFORMED,
		    "the observer's answer could not be read");
	wd_error_init(&failure);
	st = wd_line_status(answer->failure, &failure);
	finish(pending, st,
	    st == WD_OK ?
		(struct wd_slice){ answer->body.data, answer->body.len } :
		(struct wd_slice){ NULL, 0 },
	    &failure);
	weightd__seam__v1__answer__free_unpacked(answer, NULL);
	return WD_OK;
}

static enum wd_status
hear(struct wd_observer_remote *remote, struct wd_frame *frame,
    struct wd_error *err)
{
	if (frame->kind >= WD_OBSERVER_OTHER)
		return remote->options.hear(remote->options.ctx, frame, err);
	if (frame->kind == WD_OBSERVER_ANSWER)
		return hear_answer(remote, frame, err);
	if (frame->kind != WD_OBSERVER_READY)
		return wd_fail(
		    err, WD_MALFORMED, "the observer said something unknown");
	remote->is_ready = frame->id == 1;
	return WD_OK;
}

/* Nobody waits for an answer that cannot come. */
static void
break_line(struct wd_observer_remote *remote)
{
	struct wd_slice nothing = { NULL, 0 };
	struct wd_error gone;
	unsigned i;

	remote->is_broken = true;
	wd_error_init(&gone);
	(void)wd_fail(&gone, WD_GONE,
	    "the observer ended before it had answered; a new one is being "
	    "started");
	for (i = 0; i < remote->options.open_questions; i++)
		if (remote->pending[i].ticket != 0)
			finish(&remote->pending[i], WD_GONE, nothing, &gone);
}

enum wd_status
wd_observer_remote_receive(
    struct wd_observer_remote *remote, struct wd_error *err)
{
	struct wd_frame frame;
	enum wd_status st = WD_OK;

	while (st == WD_OK) {
		st = wd_frames_take(&remote->frames, &frame, err);
		if (st == WD_OK) {
			st = hear(remote, &frame, err);
			wd_frame_release(&frame);
		}
	}
	if (st == WD_BUSY)
		return WD_OK;
	break_line(remote);
	return st;
}

enum wd_status
wd_observer_remote_say(struct wd_observer_remote *remote,
    struct wd_frame *frame, struct wd_error *err)
{
	return send_now(remote, frame, err);
}

enum wd_status
wd_observer_remote_flush(
    struct wd_observer_remote *remote, struct wd_error *err)
{
	return wd_frames_flush(&remote->frames, err);
}

bool
wd_observer_remote_waits(const struct wd_observer_remote *remote)
{
	return wd_frames_waits(&remote->frames);
}

/* ---- life ---------------------------------------------------------------- */

static void
remote_free(struct wd_observer *observer)
{
	struct wd_observer_remote *remote = remote_of(observer);

	wd_frames_release(&remote->frames);
	wd_free(remote->pending);
	wd_free(remote);
}

enum wd_status
wd_observer_remote_new(const struct wd_observer_remote_options *options,
    struct wd_observer_remote **remote, struct wd_error *err)
{
	static const struct wd_observer_ops ops = { remote_ask, remote_cancel,
		remote_is_ready, remote_free };
	struct wd_observer_remote *made;

	if (options->open_questions < 1 ||
	    options->open_questions > WD_MAX_OPEN_QUESTIONS)
		return wd_fail(err, WD_INVALID,
		    "the number of open questions is 1 to %d",
		    WD_MAX_OPEN_QUESTIONS);
	made = wd_calloc(1, sizeof(*made));
	if (made == NULL)
		return wd_fail(err, WD_NOMEM, "out of memory");
	made->observer.ops = &ops;
	made->options = *options;
	wd_frames_init(&made->frames, options->socket, options->frame_bytes,
	    WD_MAX_LINE_QUEUE);
	made->pending =
	    wd_calloc(options->open_questions, sizeof(*made->pending));
	if (made->pending == NULL) {
		wd_free(made);
		return wd_fail(err, WD_NOMEM, "out of memory");
	}
	*remote = made;
	return WD_OK;
}

struct wd_observer *
wd_observer_remote_observer(struct wd_observer_remote *remote)
{
	return &remote->observer;
}
