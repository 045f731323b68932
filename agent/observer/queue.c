#include "observer/queue.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "wire/build.h"

/* Longest sleep of an answerer while questions wait for a lane, so that a
 * clock that is set does not keep it. */
#define NAP_NS (200 * WD_NS_PER_MS)

/* What is kept of a question's time to answer it without waiting. */
#define GIVE_UP_MS 2000

static void
lock(struct wd_queue *queue)
{
	(void)pthread_mutex_lock(&queue->lock);
}

static void
unlock(struct wd_queue *queue)
{
	(void)pthread_mutex_unlock(&queue->lock);
}

/* ---- one question -------------------------------------------------------- */

static int64_t
real_ns(void *ctx)
{
	const struct wd_open_question *question = ctx;

	return wd_clock_real_ns(question->real_clock);
}

/* Nobody waits for a cancelled question: its time is over. */
static int64_t
boot_ns(void *ctx)
{
	const struct wd_open_question *question = ctx;

	return atomic_load(&question->cancelled) ?
	    INT64_MAX :
	    wd_clock_boot_ns(question->real_clock);
}

enum wd_status
wd_question_new(const struct wd_clock *clock,
    const struct wd_deadline *deadline, ProtobufCMessage **request,
    struct wd_open_question **question, struct wd_error *err)
{
	struct wd_open_question *made = wd_calloc(1, sizeof(*made));
	int64_t left_ms = wd_deadline_left_ms(deadline), keep_ms;

	if (made == NULL)
		return wd_fail(err, WD_NOMEM, "question: out of memory");
	if (left_ms < 0 || left_ms > WD_MAX_QUESTION_MS)
		left_ms = WD_MAX_QUESTION_MS;
	keep_ms = left_ms / 4 < GIVE_UP_MS ? left_ms / 4 : GIVE_UP_MS;
	made->real_clock = clock;
	made->clock = (struct wd_clock){ real_ns, boot_ns, made };
	made->deadline = wd_deadline_in(&made->clock, left_ms);
	made->give_up = wd_deadline_in(&made->clock, left_ms - keep_ms);
	made->request = wd_steal(request);
	wd_buf_init(&made->answer, WD_MAX_MESSAGE);
	wd_error_init(&made->err);
	*question = made;
	return WD_OK;
}

static void
free_question(struct wd_open_question *question)
{
	wd_message_free(question->request);
	wd_buf_release(&question->answer);
	wd_free(question);
}

/* ---- the list ------------------------------------------------------------ */

static void
append(struct wd_queue *queue, struct wd_open_question *question)
{
	struct wd_open_question **at = &queue->first;

	while (*at != NULL)
		at = &(*at)->next;
	*at = question;
}

static void
unlink_question(struct wd_queue *queue, const struct wd_open_question *question)
{
	struct wd_open_question **at = &queue->first;

	while (*at != question)
		at = &(*at)->next;
	*at = question->next;
}

static struct wd_open_question *
find(struct wd_queue *queue, wd_ticket ticket)
{
	struct wd_open_question *question = queue->first;

	while (question != NULL && question->ticket != ticket)
		question = question->next;
	return question;
}

/* Under the lock. */
static void
cancel(struct wd_queue *queue, struct wd_open_question *question)
{
	if (atomic_load(&question->cancelled))
		return;
	queue->count--;
	if (question->phase == WD_TAKEN) {
		atomic_store(&question->cancelled, true);
		return;
	}
	unlink_question(queue, question);
	free_question(question);
}

/* ---- life ---------------------------------------------------------------- */

static bool
set_flags(int fd)
{
	return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 &&
	    fcntl(fd, F_SETFL, O_NONBLOCK) == 0;
}

enum wd_status
wd_queue_init(
    struct wd_queue *queue, size_t most, unsigned lanes, struct wd_error *err)
{
	memset(queue, 0, sizeof(*queue));
	queue->most = most;
	queue->lanes = lanes;
	if (pipe(queue->wake) != 0)
		return wd_fail_errno(err, errno, "making a pipe for answers");
	if (!set_flags(queue->wake[0]) || !set_flags(queue->wake[1])) {
		(void)close(queue->wake[0]);
		(void)close(queue->wake[1]);
		return wd_fail_errno(err, errno, "making a pipe for answers");
	}
	(void)pthread_mutex_init(&queue->lock, NULL);
	(void)pthread_cond_init(&queue->moved, NULL);
	return WD_OK;
}

void
wd_queue_release(struct wd_queue *queue)
{
	while (queue->first != NULL) {
		struct wd_open_question *question = queue->first;

		queue->first = question->next;
		free_question(question);
	}
	(void)close(queue->wake[0]);
	(void)close(queue->wake[1]);
	(void)pthread_cond_destroy(&queue->moved);
	(void)pthread_mutex_destroy(&queue->lock);
}

/* ---- the loop's thread --------------------------------------------------- */

enum wd_status
wd_queue_ask(struct wd_queue *queue, struct wd_open_question *question,
    wd_ticket *ticket, struct wd_error *err)
{
	enum wd_status st = WD_OK;

	lock(queue);
	if (queue->count >= queue->most) {
		st = wd_fail(err, WD_BUSY,
		    "%zu questions are being answered already; ask again "
		    "later",
		    queue->count);
	} else {
		*ticket = question->ticket = ++queue->last_ticket;
		append(queue, question);
		queue->count++;
		(void)pthread_cond_signal(&queue->moved);
	}
	unlock(queue);
	if (st != WD_OK)
		free_question(question);
	return st;
}

void
wd_queue_cancel(struct wd_queue *queue, wd_ticket ticket)
{
	struct wd_open_question *question;

	lock(queue);
	question = find(queue, ticket);
	if (question != NULL)
		cancel(queue, question);
	unlock(queue);
}

static struct wd_open_question *
fetch(struct wd_queue *queue)
{
	struct wd_open_question *question;

	lock(queue);
	question = queue->first;
	while (question != NULL && question->phase != WD_ANSWERED)
		question = question->next;
	if (question != NULL) {
		unlink_question(queue, question);
		queue->count--;
	}
	unlock(queue);
	return question;
}

/* First the byte, then the answers: one that comes in between wakes again. */
static void
go_to_sleep(struct wd_queue *queue)
{
	char byte;

	lock(queue);
	queue->awake = false;
	(void)!read(queue->wake[0], &byte, 1);
	unlock(queue);
}

void
wd_queue_deliver(struct wd_queue *queue)
{
	struct wd_open_question *question;

	go_to_sleep(queue);
	while ((question = fetch(queue)) != NULL) {
		question->done(question->ctx, question->status,
		    question->status == WD_OK ?
			wd_buf_slice(&question->answer) :
			(struct wd_slice){ NULL, 0 },
		    &question->err);
		free_question(question);
	}
}

void
wd_queue_stop(struct wd_queue *queue)
{
	struct wd_open_question *question, *next;

	lock(queue);
	queue->stopping = true;
	for (question = queue->first; question != NULL; question = next) {
		next = question->next;
		cancel(queue, question);
	}
	(void)pthread_cond_broadcast(&queue->moved);
	unlock(queue);
}

size_t
wd_queue_open(struct wd_queue *queue)
{
	size_t count;

	lock(queue);
	count = queue->count;
	unlock(queue);
	return count;
}

/* ---- the answerers ------------------------------------------------------- */

/* Whether the question may be answered now, and how. */
static bool
may_take(const struct wd_queue *queue, const struct wd_open_question *question,
    bool *may_wait)
{
	if (question->phase != WD_ASKED)
		return false;
	*may_wait = queue->lanes_taken < queue->lanes;
	return !question->waits || *may_wait ||
	    wd_deadline_passed(&question->give_up);
}

/* `*lines` tells whether some question waits for a lane. */
static struct wd_open_question *
next_question(struct wd_queue *queue, bool *may_wait, bool *lines)
{
	struct wd_open_question *question;

	*lines = false;
	for (question = queue->first; question != NULL;
	     question = question->next) {
		if (may_take(queue, question, may_wait))
			return question;
		*lines |= question->phase == WD_ASKED;
	}
	return NULL;
}

static void
wait_for_more(struct wd_queue *queue, bool briefly)
{
	struct timespec until;

	if (!briefly) {
		(void)pthread_cond_wait(&queue->moved, &queue->lock);
		return;
	}
	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += NAP_NS;
	until.tv_sec += until.tv_nsec / WD_NS_PER_SECOND;
	until.tv_nsec %= WD_NS_PER_SECOND;
	(void)pthread_cond_timedwait(&queue->moved, &queue->lock, &until);
}

struct wd_open_question *
wd_queue_take(struct wd_queue *queue, bool *may_wait)
{
	struct wd_open_question *question = NULL;
	bool lines = false;

	lock(queue);
	while (!queue->stopping) {
		question = next_question(queue, may_wait, &lines);
		if (question != NULL)
			break;
		wait_for_more(queue, lines);
	}
	if (question != NULL) {
		question->phase = WD_TAKEN;
		question->holds_lane = question->waits && *may_wait;
		queue->lanes_taken += question->holds_lane;
	}
	unlock(queue);
	return question;
}

static void
wake_loop(struct wd_queue *queue)
{
	if (queue->awake)
		return;
	queue->awake = true;
	(void)!write(queue->wake[1], "", 1);
}

void
wd_queue_finish(struct wd_queue *queue, struct wd_open_question *question)
{
	bool cancelled;

	lock(queue);
	if (question->holds_lane) {
		queue->lanes_taken--;
		(void)pthread_cond_signal(&queue->moved);
	}
	cancelled = atomic_load(&question->cancelled);
	if (cancelled) {
		unlink_question(queue, question);
	} else {
		question->phase = WD_ANSWERED;
		wake_loop(queue);
	}
	unlock(queue);
	if (cancelled)
		free_question(question);
}
