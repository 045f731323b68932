/* observer.h over a socketpair: questions and answers, and what happens when
 * one side dies, lies, asks too much or does not read. */
#include "seam/observer_line.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "seam/frames.h"
#include "support/suite.h"

#define MOST 4
#define NONE ((struct wd_slice){ NULL, 0 })

/* ---- an observer that waits ---------------------------------------------- */

static struct waiting {
	wd_ticket ticket;
	enum wd_call call;
	char body[64];
	int64_t left_ms;
	wd_observer_done *done;
	void *ctx;
} asked[16];
static unsigned ask_count, cancel_count;
static bool is_ready;
static enum wd_status refusal;

static enum wd_status
fake_ask(struct wd_observer *observer, enum wd_call call,
    struct wd_slice question, const struct wd_deadline *deadline,
    wd_observer_done *done, void *ctx, wd_ticket *ticket, struct wd_error *err)
{
	struct waiting *w = &asked[ask_count];

	(void)observer;
	if (refusal != WD_OK)
		return wd_fail(err, refusal, "not now");
	ck_assert_uint_lt(ask_count, WD_COUNT(asked));
	ck_assert_uint_lt(question.len, sizeof(w->body));
	*w = (struct waiting){ .ticket = ++ask_count,
		.call = call,
		.left_ms = wd_deadline_left_ms(deadline),
		.done = done,
		.ctx = ctx };
	if (question.len > 0)
		memcpy(w->body, question.data, question.len);
	*ticket = w->ticket;
	return WD_OK;
}

static void
fake_cancel(struct wd_observer *observer, wd_ticket ticket)
{
	(void)observer;
	ck_assert_uint_gt(ticket, 0);
	asked[ticket - 1].done = NULL;
	cancel_count++;
}

static bool
fake_is_ready(const struct wd_observer *observer)
{
	(void)observer;
	return is_ready;
}

static const struct wd_observer_ops fake_ops = { fake_ask, fake_cancel,
	fake_is_ready, NULL };
static struct wd_observer fake = { &fake_ops };

static void
reply(unsigned number, enum wd_status status, const char *words)
{
	struct wd_error err;

	wd_error_init(&err);
	if (status != WD_OK)
		(void)wd_fail(&err, status, "%s", words);
	ck_assert(asked[number].done != NULL);
	asked[number].done(asked[number].ctx, status,
	    status == WD_OK ? wd_slice_text(words) : NONE, &err);
}

/* ---- the line ------------------------------------------------------------ */

static int pair[2];
static struct wd_observer_remote *remote;
static struct wd_observer *front;
static struct wd_observer_serve *serve;
static unsigned heard_front, heard_observer, stuck;
static int heard_fds;

static enum wd_status
hear_front(void *ctx, struct wd_frame *frame, struct wd_error *err)
{
	(void)ctx;
	(void)err;
	heard_front = frame->kind;
	heard_fds = (int)frame->fd_count;
	return WD_OK;
}

static enum wd_status
hear_observer(void *ctx, struct wd_frame *frame, struct wd_error *err)
{
	(void)ctx;
	(void)err;
	heard_observer = frame->kind;
	return WD_OK;
}

static void
on_stuck(void *ctx)
{
	(void)ctx;
	stuck++;
}

static void
set_up(void)
{
	struct wd_observer_remote_options there = { .clock = &wd_clock_system,
		.open_questions = MOST,
		.frame_bytes = WD_MAX_SEAM_MESSAGE,
		.hear = hear_front,
		.stuck = on_stuck };
	struct wd_observer_serve_options here = { .observer = &fake,
		.clock = &wd_clock_system,
		.open_questions = MOST,
		.hear = hear_observer,
		.stuck = on_stuck };

	ck_assert_int_eq(wd_frame_pair(pair, NULL), WD_OK);
	there.socket = pair[0];
	here.socket = pair[1];
	ck_assert_int_eq(wd_observer_remote_new(&there, &remote, NULL), WD_OK);
	ck_assert_int_eq(wd_observer_serve_new(&here, &serve, NULL), WD_OK);
	front = wd_observer_remote_observer(remote);
	ask_count = cancel_count = heard_front = heard_observer = stuck = 0;
	is_ready = false;
	refusal = WD_OK;
}

static void
tear_down(void)
{
	wd_observer_free(&front);
	wd_observer_serve_free(&serve);
	(void)close(pair[0]);
	if (pair[1] >= 0)
		(void)close(pair[1]);
}

static void
both(void)
{
	ck_assert_int_eq(wd_observer_serve_receive(serve, NULL), WD_OK);
	ck_assert_int_eq(wd_observer_remote_receive(remote, NULL), WD_OK);
}

/* ---- what the asker got -------------------------------------------------- */

struct got {
	unsigned count;
	enum wd_status status;
	char text[256];
};

static void
on_done(void *ctx, enum wd_status status, struct wd_slice answer,
    const struct wd_error *err)
{
	struct got *got = ctx;
	struct wd_slice text =
	    status == WD_OK ? answer : wd_slice_text(err->message);

	got->count++;
	got->status = status;
	memset(got->text, 0, sizeof(got->text));
	memcpy(got->text, text.data,
	    text.len < sizeof(got->text) ? text.len : sizeof(got->text) - 1);
}

static enum wd_status
ask(enum wd_call call, const char *words, struct got *got, wd_ticket *ticket)
{
	struct wd_deadline deadline = wd_deadline_in(&wd_clock_system, 5000);

	memset(got, 0, sizeof(*got));
	return wd_observer_ask(front, call, wd_slice_text(words), &deadline,
	    on_done, got, ticket, NULL);
}

START_TEST(answers_find_their_questions)
{
	struct got one, two;
	wd_ticket first, second;

	set_up();
	ck_assert_int_eq(
	    ask(WD_CALL_ATTEST_PORT, "a question", &one, &first), WD_OK);
	ck_assert_int_eq(ask(WD_CALL_GET_HOST, "", &two, &second), WD_OK);
	ck_assert_uint_ne(first, second);
	both();
	ck_assert_uint_eq(ask_count, 2);
	ck_assert_int_eq(asked[0].call, WD_CALL_ATTEST_PORT);
	ck_assert_str_eq(asked[0].body, "a question");
	ck_assert(asked[0].left_ms > 0 && asked[0].left_ms <= 5000);
	reply(1, WD_OK, "second");
	reply(0, WD_DENIED, "not for you");
	ck_assert_uint_eq(one.count + two.count, 0);
	both();
	ck_assert_uint_eq(one.count, 1);
	ck_assert_int_eq(one.status, WD_DENIED);
	ck_assert_str_eq(one.text, "not for you");
	ck_assert_int_eq(two.status, WD_OK);
	ck_assert_str_eq(two.text, "second");
	tear_down();
}
END_TEST

START_TEST(tickets_are_not_used_again)
{
	wd_ticket tickets[32];
	struct got got;
	unsigned i, k;

	set_up();
	for (i = 0; i < WD_COUNT(tickets); i++) {
		ask_count = 0;
		ck_assert_int_eq(
		    ask(WD_CALL_GET_HOST, "", &got, &tickets[i]), WD_OK);
		both();
		reply(0, WD_OK, "x");
		both();
		ck_assert_uint_eq(got.count, 1);
		for (k = 0; k < i; k++)
			ck_assert_uint_ne(tickets[k], tickets[i]);
	}
	tear_down();
}
END_TEST

START_TEST(cancelled_questions_are_not_answered)
{
	struct got one, two;
	wd_ticket first, second;

	set_up();
	ck_assert_int_eq(ask(WD_CALL_GET_HOST, "", &one, &first), WD_OK);
	both();
	wd_observer_cancel(front, first);
	wd_observer_cancel(front, first);
	both();
	ck_assert_uint_eq(cancel_count, 1);
	/* The answer and the cancel cross each other. */
	ck_assert_int_eq(ask(WD_CALL_GET_HOST, "", &two, &second), WD_OK);
	both();
	reply(1, WD_OK, "late");
	wd_observer_cancel(front, second);
	both();
	ck_assert_uint_eq(cancel_count, 1);
	ck_assert_uint_eq(one.count + two.count, 0);
	tear_down();
}
END_TEST

START_TEST(open_questions_have_a_cap)
{
	struct got got[MOST + 1];
	wd_ticket ticket;
	unsigned i;

	set_up();
	for (i = 0; i < MOST; i++)
		ck_assert_int_eq(
		    ask(WD_CALL_GET_HOST, "", &got[i], &ticket), WD_OK);
	ck_assert_int_eq(
	    ask(WD_CALL_GET_HOST, "", &got[MOST], &ticket), WD_BUSY);
	both();
	reply(2, WD_OK, "x");
	both();
	ck_assert_int_eq(ask(WD_CALL_GET_HOST, "", &got[MOST], &ticket), WD_OK);
	tear_down();
}
END_TEST

START_TEST(a_refusal_comes_as_an_answer)
{
	struct got got;
	wd_ticket ticket;

	set_up();
	refusal = WD_BUSY;
	ck_assert_int_eq(ask(WD_CALL_GET_HOST, "", &got, &ticket), WD_OK);
	both();
	ck_assert_uint_eq(got.count, 1);
	ck_assert_int_eq(got.status, WD_BUSY);
	ck_assert_str_eq(got.text, "not now");
	tear_down();
}
END_TEST

START_TEST(readiness_is_told)
{
	set_up();
	ck_assert(!wd_observer_is_ready(front));
	is_ready = true;
	ck_assert_int_eq(wd_observer_serve_ready(serve, NULL), WD_OK);
	both();
	ck_assert(wd_observer_is_ready(front));
	is_ready = false;
	ck_assert_int_eq(wd_observer_serve_ready(serve, NULL), WD_OK);
	both();
	ck_assert(!wd_observer_is_ready(front));
	tear_down();
}
END_TEST

START_TEST(other_kinds_are_handed_on)
{
	struct wd_frame frame = wd_frame_init(WD_OBSERVER_OTHER + 1, 7);

	set_up();
	frame.fds[frame.fd_count++] = dup(0);
	ck_assert_int_eq(wd_observer_serve_say(serve, &frame, NULL), WD_OK);
	frame = wd_frame_init(WD_OBSERVER_OTHER + 2, 8);
	ck_assert_int_eq(wd_observer_remote_say(remote, &frame, NULL), WD_OK);
	both();
	ck_assert_uint_eq(heard_front, WD_OBSERVER_OTHER + 1);
	ck_assert_int_eq(heard_fds, 1);
	ck_assert_uint_eq(heard_observer, WD_OBSERVER_OTHER + 2);
	tear_down();
}
END_TEST

/* F: the observer is killed while questions are open. */
START_TEST(open_questions_learn_of_the_end)
{
	struct got got[2], later;
	wd_ticket ticket;

	set_up();
	is_ready = true;
	ck_assert_int_eq(wd_observer_serve_ready(serve, NULL), WD_OK);
	ck_assert_int_eq(ask(WD_CALL_GET_HOST, "", &got[0], &ticket), WD_OK);
	ck_assert_int_eq(ask(WD_CALL_GET_HOST, "", &got[1], &ticket), WD_OK);
	both();
	(void)close(pair[1]);
	pair[1] = -1;
	ck_assert_int_eq(wd_observer_remote_receive(remote, NULL), WD_GONE);
	ck_assert_uint_eq(got[0].count, 1);
	ck_assert_int_eq(got[0].status, WD_GONE);
	ck_assert_uint_eq(got[1].count, 1);
	ck_assert(!wd_observer_is_ready(front));
	ck_assert_int_eq(ask(WD_CALL_GET_HOST, "", &later, &ticket), WD_GONE);
	ck_assert_uint_eq(later.count, 0);
	tear_down();
}
END_TEST

START_TEST(nothing_is_asked_over_a_broken_line)
{
	struct wd_frame frame = wd_frame_init(WD_OBSERVER_QUESTION, 1);
	struct got open, later;
	wd_ticket ticket;

	set_up();
	ck_assert_int_eq(ask(WD_CALL_GET_HOST, "", &open, &ticket), WD_OK);
	ck_assert_int_eq(wd_frame_send(pair[1], &frame, NULL, NULL), WD_OK);
	ck_assert_int_eq(
	    wd_observer_remote_receive(remote, NULL), WD_MALFORMED);
	ck_assert_int_eq(open.status, WD_GONE);
	ck_assert_int_eq(ask(WD_CALL_GET_HOST, "", &later, &ticket), WD_GONE);
	tear_down();
}
END_TEST

START_TEST(a_front_that_ends_takes_its_questions_back)
{
	struct got got;
	wd_ticket ticket;

	set_up();
	ck_assert_int_eq(ask(WD_CALL_GET_HOST, "", &got, &ticket), WD_OK);
	both();
	(void)shutdown(pair[0], SHUT_RDWR);
	ck_assert_int_eq(wd_observer_serve_receive(serve, NULL), WD_GONE);
	ck_assert_uint_eq(cancel_count, 0);
	wd_observer_serve_free(&serve);
	ck_assert_uint_eq(cancel_count, 1);
	tear_down();
}
END_TEST

/* ---- a front that was taken over ----------------------------------------- */

static const struct {
	uint16_t kind;
	uint64_t id;
	const char *data;
	size_t len;
	bool fd;
} lies[] = {
	{ WD_OBSERVER_QUESTION, 0, "\x08\x04", 2, false },
	{ WD_OBSERVER_QUESTION, 1, "\x08\x04", 2, false }, /* in use */
	{ WD_OBSERVER_QUESTION, 2, "\x08\x09", 2, false }, /* no such call */
	{ WD_OBSERVER_QUESTION, 2, "", 0, false },
	{ WD_OBSERVER_QUESTION, 2, "\x0a\xff", 2, false }, /* no message */
	{ WD_OBSERVER_QUESTION, 2, "\x08\x04", 2, true },
	{ WD_OBSERVER_ANSWER, 1, "", 0, false },
	{ WD_OBSERVER_READY, 1, "", 0, false },
	{ 0, 1, "", 0, false },
	{ 9, 1, "", 0, false },
};

static void
send_raw(uint16_t kind, uint64_t id, const char *data, size_t len, bool fd)
{
	struct wd_frame frame = wd_frame_init(kind, id);

	frame.data = (uint8_t *)wd_memdup0(data, len);
	frame.len = len;
	if (fd)
		frame.fds[frame.fd_count++] = dup(0);
	ck_assert_int_eq(wd_frame_send(pair[0], &frame, NULL, NULL), WD_OK);
	wd_frame_release(&frame);
}

START_TEST(lies_end_the_line)
{
	set_up();
	send_raw(WD_OBSERVER_QUESTION, 1, "\x08\x04", 2, false);
	ck_assert_int_eq(wd_observer_serve_receive(serve, NULL), WD_OK);
	ck_assert_uint_eq(ask_count, 1);
	send_raw(lies[_i].kind, lies[_i].id, lies[_i].data, lies[_i].len,
	    lies[_i].fd);
	ck_assert_int_eq(wd_observer_serve_receive(serve, NULL), WD_MALFORMED);
	ck_assert_uint_eq(ask_count, 1);
	tear_down();
}
END_TEST

START_TEST(large_questions_are_refused)
{
	uint8_t bytes[WD_FRAME_HEADER_BYTES];
	struct wd_frame_header header = { WD_MAX_QUESTION + 1,
		WD_OBSERVER_QUESTION, 0, 1 };

	set_up();
	wd_frame_header_write(&header, bytes);
	ck_assert_int_eq(write(pair[0], bytes, sizeof(bytes)), sizeof(bytes));
	ck_assert_int_eq(wd_observer_serve_receive(serve, NULL), WD_MALFORMED);
	tear_down();
}
END_TEST

START_TEST(too_many_questions_are_answered_with_busy)
{
	struct wd_frame frame;
	unsigned i;

	set_up();
	for (i = 1; i <= MOST + 1; i++)
		send_raw(WD_OBSERVER_QUESTION, i, "\x08\x04", 2, false);
	ck_assert_int_eq(wd_observer_serve_receive(serve, NULL), WD_OK);
	ck_assert_uint_eq(ask_count, MOST);
	ck_assert_int_eq(
	    wd_frame_receive(pair[0], WD_MAX_QUESTION, NULL, &frame, NULL),
	    WD_OK);
	ck_assert_uint_eq(frame.kind, WD_OBSERVER_ANSWER);
	ck_assert_uint_eq(frame.id, MOST + 1);
	wd_frame_release(&frame);
	tear_down();
}
END_TEST

/* ---- who does not read --------------------------------------------------- */

START_TEST(answers_come_whole_when_they_are_read_slowly)
{
	static char large[3U << 20];
	struct got got;
	wd_ticket ticket;
	unsigned turns = 0;

	set_up();
	memset(large, 'a', sizeof(large) - 1);
	ck_assert_int_eq(ask(WD_CALL_GET_HOST, "", &got, &ticket), WD_OK);
	both();
	reply(0, WD_OK, large);
	ck_assert_uint_eq(stuck, 1);
	ck_assert(wd_observer_serve_waits(serve));
	while (got.count == 0 && turns++ < 10000) {
		ck_assert_int_eq(
		    wd_observer_remote_receive(remote, NULL), WD_OK);
		ck_assert_int_eq(wd_observer_serve_flush(serve, NULL), WD_OK);
	}
	ck_assert_int_eq(got.status, WD_OK);
	ck_assert(!wd_observer_serve_waits(serve));
	tear_down();
}
END_TEST

START_TEST(a_queue_has_a_cap)
{
	struct wd_frames frames;
	struct wd_frame frame;
	unsigned i;

	set_up();
	wd_frames_init(&frames, pair[1], 100, 200);
	for (i = 0; i < 3; i++) {
		frame = wd_frame_init(1, 1);
		frame.data = wd_calloc(80, 1);
		frame.len = 80;
		ck_assert_int_eq(wd_frames_put(&frames, &frame, NULL),
		    i < 2 ? WD_OK : WD_LIMIT);
		ck_assert_ptr_null(frame.data);
	}
	wd_frames_release(&frames);
	ck_assert(!wd_frames_waits(&frames));
	/* A frame that is too large alone still goes. */
	frame = wd_frame_init(1, 1);
	frame.data = wd_calloc(300, 1);
	frame.len = 300;
	ck_assert_int_eq(wd_frames_put(&frames, &frame, NULL), WD_OK);
	wd_frames_release(&frames);
	tear_down();
}
END_TEST

/* Byte by byte, and descriptors that were not announced. */
START_TEST(frames_are_put_together)
{
	struct wd_frame_header header = { 3, 20, 0, 77 };
	uint8_t bytes[WD_FRAME_HEADER_BYTES + 3];
	struct wd_frames frames;
	struct wd_frame frame;
	size_t i;

	set_up();
	wd_frame_header_write(&header, bytes);
	memcpy(bytes + WD_FRAME_HEADER_BYTES, "abc", 3);
	wd_frames_init(&frames, pair[1], 100, 100);
	for (i = 0; i < sizeof(bytes); i++) {
		ck_assert_int_eq(
		    wd_frames_take(&frames, &frame, NULL), WD_BUSY);
		ck_assert_int_eq(write(pair[0], bytes + i, 1), 1);
	}
	ck_assert_int_eq(wd_frames_take(&frames, &frame, NULL), WD_OK);
	ck_assert_uint_eq(frame.id, 77);
	ck_assert_uint_eq(frame.len, 3);
	ck_assert_int_eq(memcmp(frame.data, "abc", 3), 0);
	wd_frame_release(&frame);
	header.fd_count = 1;
	wd_frame_header_write(&header, bytes);
	ck_assert_int_eq(write(pair[0], bytes, sizeof(bytes)), sizeof(bytes));
	ck_assert_int_eq(wd_frames_take(&frames, &frame, NULL), WD_MALFORMED);
	wd_frames_release(&frames);
	tear_down();
}
END_TEST

START_TEST(no_memory_is_an_error)
{
	struct got got;
	wd_ticket ticket;
	uint64_t n;
	enum wd_status st = WD_NOMEM;

	set_up();
	for (n = 0; st == WD_NOMEM; n++) {
		wd_mem_fail_after(n);
		st = ask(WD_CALL_GET_HOST, "words", &got, &ticket);
		wd_mem_fail_after(UINT64_MAX);
	}
	ck_assert_int_eq(st, WD_OK);
	ck_assert_uint_gt(n, 1);
	both();
	reply(0, WD_OK, "x");
	both();
	ck_assert_uint_eq(got.count, 1);
	tear_down();
}
END_TEST

WD_SUITE_BEGIN("seam observer")
WD_TEST(answers_find_their_questions);
WD_TEST(tickets_are_not_used_again);
WD_TEST(cancelled_questions_are_not_answered);
WD_TEST(open_questions_have_a_cap);
WD_TEST(a_refusal_comes_as_an_answer);
WD_TEST(readiness_is_told);
WD_TEST(other_kinds_are_handed_on);
WD_TEST(open_questions_learn_of_the_end);
WD_TEST(nothing_is_asked_over_a_broken_line);
WD_TEST(a_front_that_ends_takes_its_questions_back);
WD_LOOP(lies_end_the_line, lies);
WD_TEST(large_questions_are_refused);
WD_TEST(too_many_questions_are_answered_with_busy);
WD_TEST(answers_come_whole_when_they_are_read_slowly);
WD_TEST(a_queue_has_a_cap);
WD_TEST(frames_are_put_together);
WD_TEST(no_memory_is_an_error);
WD_SUITE_END
