#include "observer/desk.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "observer/calls.h"
#include "observer/lasting.h"
#include "observer/queue.h"
#include "wire/build.h"
#include "wire/unpack.h"

/* A question is one message of a few numbers, a path and an address. */
#define MAX_QUESTION (64U << 10)
#define MAX_QUESTION_MEMORY (1U << 20)

struct wd_desk {
	struct wd_observer observer;
	struct wd_desk_options options;
	struct wd_queue queue;
	bool has_queue;
	int64_t started_real_ns;
	struct wd_host *hash_hosts[WD_WORK_THREADS];
	struct wd_digest_work *work;
	struct wd_answerer answerers[WD_MAX_ANSWERERS];
	pthread_t threads[WD_MAX_ANSWERERS];
	unsigned thread_count;
};

/* ---- an answerer --------------------------------------------------------- */

static void
answer(struct wd_answerer *answerer, struct wd_open_question *question,
    bool may_wait)
{
	const struct wd_call_kind *kind = wd_call_kind_of(question->call);
	enum wd_status st;

	if (wd_deadline_passed(&question->deadline))
		st = wd_fail(&question->err, WD_TIMEDOUT,
		    "the time was up before anybody could look");
	else
		st = kind->answer(answerer, question->request, may_wait,
		    &question->deadline, &question->answer, &question->err);
	question->status = st;
}

static void *
thread_main(void *ctx)
{
	struct wd_answerer *answerer = ctx;
	struct wd_queue *queue = answerer->queue;
	struct wd_open_question *question;
	bool may_wait;

	while ((question = wd_queue_take(queue, &may_wait)) != NULL) {
		answer(answerer, question, may_wait);
		wd_queue_finish(queue, question);
	}
	return NULL;
}

/* ---- the observer -------------------------------------------------------- */

static enum wd_status
desk_ask(struct wd_observer *observer, enum wd_call call, struct wd_slice bytes,
    const struct wd_deadline *deadline, wd_observer_done *done, void *ctx,
    wd_ticket *ticket, struct wd_error *err)
{
	struct wd_desk *desk = (struct wd_desk *)observer;
	const struct wd_call_kind *kind = wd_call_kind_of(call);
	WD_CLEANUP(wd_message_free_scoped) ProtobufCMessage *request = NULL;
	struct wd_open_question *question = NULL;
	enum wd_status st;

	if (kind == NULL)
		return wd_fail(err, WD_UNSUPPORTED,
		    "this observer knows no call with number %d", (int)call);
	if (bytes.len > MAX_QUESTION)
		return wd_fail(err, WD_LIMIT, "a question has at most %u bytes",
		    MAX_QUESTION);
	st = wd_wire_unpack(kind->request, bytes, WD_WIRE_REFUSE_UNKNOWN,
	    MAX_QUESTION_MEMORY, &request, err);
	if (st == WD_OK)
		st = wd_question_new(
		    desk->options.clock, deadline, &request, &question, err);
	if (st != WD_OK)
		return st;
	question->call = call;
	question->waits = kind->waits != NULL && kind->waits(question->request);
	question->done = done;
	question->ctx = ctx;
	return wd_queue_ask(&desk->queue, question, ticket, err);
}

static void
desk_cancel(struct wd_observer *observer, wd_ticket ticket)
{
	wd_queue_cancel(&((struct wd_desk *)observer)->queue, ticket);
}

static bool
desk_is_ready(const struct wd_observer *observer)
{
	/* wd_desk_start gives no desk before its hosts are open. */
	(void)observer;
	return true;
}

static void
desk_free(struct wd_observer *observer)
{
	struct wd_desk *desk = (struct wd_desk *)observer;
	unsigned i;

	if (desk->has_queue)
		wd_queue_stop(&desk->queue);
	for (i = 0; i < desk->thread_count; i++)
		(void)pthread_join(desk->threads[i], NULL);
	wd_digest_work_stop(&desk->work);
	for (i = 0; i < WD_MAX_ANSWERERS; i++) {
		wd_reader_free(&desk->answerers[i].evidence.reader);
		wd_host_free(&desk->answerers[i].evidence.host);
	}
	for (i = 0; i < WD_WORK_THREADS; i++)
		wd_host_free(&desk->hash_hosts[i]);
	if (desk->has_queue)
		wd_queue_release(&desk->queue);
	wd_free(desk);
}

static const struct wd_observer_ops desk_ops = { desk_ask, desk_cancel,
	desk_is_ready, desk_free };

struct wd_observer *
wd_desk_observer(struct wd_desk *desk)
{
	return &desk->observer;
}

int
wd_desk_wake_fd(const struct wd_desk *desk)
{
	return desk->queue.wake[0];
}

void
wd_desk_deliver(struct wd_desk *desk)
{
	wd_queue_deliver(&desk->queue);
}

/* ---- start --------------------------------------------------------------- */

static enum wd_status
check_options(const struct wd_desk_options *o, struct wd_error *err)
{
	if (o->answerers < 1 || o->answerers > WD_MAX_ANSWERERS)
		return wd_fail(err, WD_INVALID, "answerers: from 1 to %d",
		    WD_MAX_ANSWERERS);
	if (o->hashers < 1 || o->hashers > WD_WORK_THREADS)
		return wd_fail(
		    err, WD_INVALID, "hashers: from 1 to %d", WD_WORK_THREADS);
	if (o->open_questions < 1)
		return wd_fail(err, WD_INVALID, "open questions: at least 1");
	return WD_OK;
}

static enum wd_status
new_reader(
    struct wd_desk *desk, struct wd_reader **reader, struct wd_error *err)
{
	struct wd_reader_maker maker = { desk->options.new_reader,
		desk->options.ctx };

	return wd_reader_lasting(&maker, reader, err);
}

static enum wd_status
start_work(struct wd_desk *desk, struct wd_error *err)
{
	struct wd_reader *readers[WD_WORK_THREADS] = { NULL };
	struct wd_work_with with = { .hosts = desk->hash_hosts,
		.store = desk->options.store,
		.clock = desk->options.clock,
		.readers = readers,
		.reader_count = desk->options.hashers,
		.max_bytes_per_second = desk->options.hash_bytes_per_second };
	enum wd_status st = WD_OK;
	unsigned i;

	for (i = 0; i < desk->options.hashers && st == WD_OK; i++) {
		st = desk->options.new_host(
		    desk->options.ctx, &desk->hash_hosts[i], err);
		if (st == WD_OK)
			st = new_reader(desk, &readers[i], err);
	}
	if (st == WD_OK)
		return wd_digest_work_start(&with, &desk->work, err);
	for (i = 0; i < desk->options.hashers; i++)
		wd_reader_free(&readers[i]);
	return st;
}

static enum wd_status
start_answerer(
    struct wd_desk *desk, struct wd_answerer *answerer, struct wd_error *err)
{
	struct wd_evidence *evidence = &answerer->evidence;
	enum wd_status st;

	answerer->queue = &desk->queue;
	answerer->options = &desk->options;
	answerer->started_real_ns = desk->started_real_ns;
	evidence->store = desk->options.store;
	evidence->clock = desk->options.clock;
	evidence->work = desk->work;
	st = desk->options.new_host(desk->options.ctx, &evidence->host, err);
	if (st == WD_OK)
		st = new_reader(desk, &evidence->reader, err);
	if (st != WD_OK)
		return st;
	if (pthread_create(&desk->threads[desk->thread_count], NULL,
		thread_main, answerer) != 0)
		return wd_fail(err, WD_NOMEM, "no memory for a thread");
	desk->thread_count++;
	return WD_OK;
}

static enum wd_status
start_all(struct wd_desk *desk, struct wd_error *err)
{
	unsigned lanes = (desk->options.answerers + 1) / 2, i;
	enum wd_status st = wd_queue_init(
	    &desk->queue, desk->options.open_questions, lanes, err);

	desk->has_queue = st == WD_OK;
	if (st == WD_OK)
		st = start_work(desk, err);
	for (i = 0; i < desk->options.answerers && st == WD_OK; i++)
		st = start_answerer(desk, &desk->answerers[i], err);
	return st;
}

enum wd_status
wd_desk_start(const struct wd_desk_options *options, struct wd_desk **desk,
    struct wd_error *err)
{
	struct wd_desk *made;
	sigset_t all, before;
	enum wd_status st = check_options(options, err);

	if (st != WD_OK)
		return st;
	made = wd_calloc(1, sizeof(*made));
	if (made == NULL)
		return wd_fail(err, WD_NOMEM, "desk: out of memory");
	made->observer.ops = &desk_ops;
	made->options = *options;
	made->started_real_ns = wd_clock_real_ns(options->clock);
	/* Threads inherit the mask: signals are the loop's. */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	st = start_all(made, err);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (st != WD_OK) {
		desk_free(&made->observer);
		return st;
	}
	*desk = made;
	return WD_OK;
}
