/*
 * The observer's end of its line. The front may have been taken over: its
 * frames are small, their number is capped, an id names one question at a
 * time, and what a question says is for the observer to judge.
 */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "seam/frames.h"
#include "seam/line.h"
#include "seam/message_frame.h"
#include "seam/observer_line.h"
#include "weightd/seam/v1/observer.pb-c.h"

struct open_question {
	struct wd_observer_serve *serve;
	uint64_t id; /* 0: free */
	wd_ticket ticket;
};

struct wd_observer_serve {
	struct wd_observer_serve_options options;
	struct wd_frames frames;
	struct open_question *open;
	bool told_ready;
};

static struct open_question *
find(struct wd_observer_serve *serve, uint64_t id)
{
	unsigned i;

	for (i = 0; i < serve->options.open_questions; i++)
		if (serve->open[i].id == id)
			return &serve->open[i];
	return NULL;
}

/* ---- answers ------------------------------------------------------------- */

static enum wd_status
send_now(struct wd_observer_serve *serve, struct wd_frame *frame,
    struct wd_error *err)
{
	enum wd_status st = wd_frames_put(&serve->frames, frame, err);

	if (st == WD_OK)
		st = wd_frames_flush(&serve->frames, err);
	if (st == WD_OK && wd_frames_waits(&serve->frames))
		serve->options.stuck(serve->options.ctx);
	return st;
}

static enum wd_status
send_answer(struct wd_observer_serve *serve, uint64_t id, enum wd_status status,
    struct wd_slice body, const struct wd_error *why, struct wd_error *err)
{
	Weightd__Seam__V1__Answer answer = WEIGHTD__SEAM__V1__ANSWER__INIT;
	Weightd__Seam__V1__Failure failure;
	struct wd_frame frame;
	enum wd_status st;

	wd_line_failure(status, why, &failure);
	answer.failure = &failure;
	if (status == WD_OK) {
		answer.body.len = body.len;
		/* Packing reads it only. */
		memcpy(&answer.body.data, &body.data, sizeof(body.data));
	}
	st =
	    wd_message_frame(WD_OBSERVER_ANSWER, id, &answer.base, &frame, err);
	return st == WD_OK ? send_now(serve, &frame, err) : st;
}

static void
answer(struct wd_observer_serve *serve, uint64_t id, enum wd_status status,
    struct wd_slice body, const struct wd_error *why)
{
	struct wd_slice nothing = { NULL, 0 };
	struct wd_error own;
	enum wd_status st;

	wd_error_init(&own);
	st = send_answer(serve, id, status, body, why, &own);
	/* Too much to carry just now: the failure itself is not. A line that is
	 * broken is noticed where it is read. */
	if (st == WD_LIMIT || st == WD_NOMEM)
		(void)!send_answer(serve, id, st, nothing, &own, NULL);
}

static void
on_done(void *ctx, enum wd_status status, struct wd_slice body,
    const struct wd_error *err)
{
	struct open_question *question = ctx;
	uint64_t id = question->id;

	question->id = 0;
	answer(question->serve, id, status, body, err);
}

/* ---- questions ----------------------------------------------------------- */

static bool
is_call(uint32_t call)
{
	return call >= WD_CALL_ATTEST_PORT && call <= WD_CALL_GET_HOST;
}

static void
ask(struct wd_observer_serve *serve, uint64_t id,
    const Weightd__Seam__V1__Question *message)
{
	struct wd_slice nothing = { NULL, 0 };
	struct open_question *question = find(serve, 0);
	struct wd_deadline deadline = message->left_ms < 0 ?
	    wd_deadline_none() :
	    wd_deadline_in(serve->options.clock, message->left_ms);
	struct wd_error err;
	enum wd_status st;

	wd_error_init(&err);
	if (question == NULL) {
		st = wd_fail(&err, WD_BUSY,
		    "%u questions are open already; ask again in a moment",
		    serve->options.open_questions);
	} else {
		question->id = id;
		st = wd_observer_ask(serve->options.observer,
		    (enum wd_call)message->call,
		    (struct wd_slice){ message->body.data, message->body.len },
		    &deadline, on_done, question, &question->ticket, &err);
		if (st != WD_OK)
			question->id = 0;
	}
	if (st != WD_OK)
		answer(serve, id, st, nothing, &err);
}

static enum wd_status
hear_question(struct wd_observer_serve *serve, const struct wd_frame *frame,
    struct wd_error *err)
{
	Weightd__Seam__V1__Question *message;
	bool is_known;

	if (frame->id == 0 || find(serve, frame->id) != NULL)
		return wd_fail(err, WD_MALFORMED,
		    "the front gave a question a number that is in use");
	message =
	    wd_line_message(frame, &weightd__seam__v1__question__descriptor);
	if (message == NULL)
		return wd_fail(err, WD_MALFORMED,
		    "the front's question could not be read");
	is_known = is_call(message->call);
	if (is_known)
		ask(serve, frame->id, message);
	weightd__seam__v1__question__free_unpacked(message, NULL);
	return is_known ? WD_OK :
			  wd_fail(err, WD_MALFORMED,
			      "the front made a call that there is not");
}

static void
hear_cancel(struct wd_observer_serve *serve, uint64_t id)
{
	struct open_question *question = id == 0 ? NULL : find(serve, id);

	if (question == NULL)
		return; /* its answer is under way */
	question->id = 0;
	wd_observer_cancel(serve->options.observer, question->ticket);
}

static enum wd_status
hear(struct wd_observer_serve *serve, struct wd_frame *frame,
    struct wd_error *err)
{
	if (frame->fd_count > 0)
		return wd_fail(
		    err, WD_MALFORMED, "the front sent a descriptor");
	if (frame->kind >= WD_OBSERVER_OTHER)
		return serve->options.hear(serve->options.ctx, frame, err);
	if (frame->kind == WD_OBSERVER_QUESTION)
		return hear_question(serve, frame, err);
	if (frame->kind != WD_OBSERVER_CANCEL)
		return wd_fail(
		    err, WD_MALFORMED, "the front said something unknown");
	hear_cancel(serve, frame->id);
	return WD_OK;
}

/* Frames in one turn: others want the loop too. */
#define FRAMES_A_TURN 64

enum wd_status
wd_observer_serve_receive(struct wd_observer_serve *serve, struct wd_error *err)
{
	struct wd_frame frame;
	enum wd_status st = WD_OK;
	unsigned i;

	for (i = 0; i < FRAMES_A_TURN && st == WD_OK; i++) {
		st = wd_frames_take(&serve->frames, &frame, err);
		if (st == WD_OK) {
			st = hear(serve, &frame, err);
			wd_frame_release(&frame);
		}
	}
	return st == WD_BUSY ? WD_OK : st;
}

enum wd_status
wd_observer_serve_say(struct wd_observer_serve *serve, struct wd_frame *frame,
    struct wd_error *err)
{
	return send_now(serve, frame, err);
}

enum wd_status
wd_observer_serve_ready(struct wd_observer_serve *serve, struct wd_error *err)
{
	bool ready = wd_observer_is_ready(serve->options.observer);
	struct wd_frame frame = wd_frame_init(WD_OBSERVER_READY, ready ? 1 : 0);

	if (ready == serve->told_ready)
		return WD_OK;
	serve->told_ready = ready;
	return send_now(serve, &frame, err);
}

enum wd_status
wd_observer_serve_flush(struct wd_observer_serve *serve, struct wd_error *err)
{
	return wd_frames_flush(&serve->frames, err);
}

bool
wd_observer_serve_waits(const struct wd_observer_serve *serve)
{
	return wd_frames_waits(&serve->frames);
}

/* ---- life ---------------------------------------------------------------- */

enum wd_status
wd_observer_serve_new(const struct wd_observer_serve_options *options,
    struct wd_observer_serve **serve, struct wd_error *err)
{
	struct wd_observer_serve *made;
	unsigned i;

	if (options->open_questions < 1 ||
	    options->open_questions > WD_MAX_OPEN_QUESTIONS)
		return wd_fail(err, WD_INVALID,
		    "the number of open questions is 1 to %d",
		    WD_MAX_OPEN_QUESTIONS);
	made = wd_calloc(1, sizeof(*made));
	if (made == NULL)
		return wd_fail(err, WD_NOMEM, "out of memory");
	made->open = wd_calloc(options->open_questions, sizeof(*made->open));
	if (made->open == NULL) {
		wd_free(made);
		return wd_fail(err, WD_NOMEM, "out of memory");
	}
	for (i = 0; i < options->open_questions; i++)
		made->open[i].serve = made;
	made->options = *options;
	wd_frames_init(
	    &made->frames, options->socket, WD_MAX_QUESTION, WD_MAX_LINE_QUEUE);
	*serve = made;
	return WD_OK;
}

void
wd_observer_serve_free(struct wd_observer_serve **serve)
{
	struct wd_observer_serve *s = *serve;
	unsigned i;

	*serve = NULL;
	if (s == NULL)
		return;
	for (i = 0; i < s->options.open_questions; i++)
		if (s->open[i].id != 0)
			wd_observer_cancel(
			    s->options.observer, s->open[i].ticket);
	wd_frames_release(&s->frames);
	wd_free(s->open);
	wd_free(s);
}
