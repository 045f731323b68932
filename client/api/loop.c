#include <errno.h>
#include <event2/event.h>
#include <string.h>

#include "api/parts.h"
#include "base/limits.h"
#include "base/mem.h"
#include "wire/build.h"
#include "wire/unpack.h"

/* ---- the loop ------------------------------------------------------------ */

enum wd_status
wd_api_loop_new(const struct wd_api_options *options, struct wd_api_loop **loop,
    struct wd_error *err)
{
	WD_CLEANUP(wd_api_loop_free)
	struct wd_api_loop *made = wd_calloc(1, sizeof(*made));
	enum wd_status st;

	if (made == NULL)
		return wd_fail(err, WD_NOMEM, "no memory for calls");
	made->tls = options->tls;
	made->clock = options->clock;
	made->most_at_once =
	    options->most_at_once == 0 ? WD_API_AT_ONCE : options->most_at_once;
	made->base = event_base_new();
	if (made->base == NULL)
		return wd_fail(err, WD_NOMEM, "no memory for an event loop");
	st = wd_lookups_new(made->base, options->resolve, &made->lookups, err);
	if (st == WD_OK)
		*loop = wd_steal(&made);
	return st;
}

static void
free_list(struct wd_api_call *list)
{
	struct wd_api_call *next;

	for (; list != NULL; list = next) {
		next = list->next;
		wd_api_call_free(list);
	}
}

void
wd_api_loop_free(struct wd_api_loop **loop)
{
	struct wd_api_loop *gone = *loop;

	*loop = NULL;
	if (gone == NULL)
		return;
	free_list(gone->calls);
	free_list(gone->queue);
	wd_api_idle_close_all(gone);
	wd_lookups_free(&gone->lookups);
	if (gone->base != NULL) {
		/* libevent frees what it has put off when it turns once. */
		(void)event_base_loop(gone->base, EVLOOP_NONBLOCK);
		event_base_free(gone->base);
	}
	wd_free(gone);
}

/* ---- turns --------------------------------------------------------------- */

static void
let_in(struct wd_api_loop *loop)
{
	struct wd_api_call *call;

	while (loop->queue != NULL && loop->running < loop->most_at_once) {
		call = loop->queue;
		loop->queue = call->next;
		if (loop->queue == NULL)
			loop->queue_end = NULL;
		call->next = loop->calls;
		loop->calls = call;
		loop->running++;
		wd_api_call_begin(call);
	}
}

static void
queue(struct wd_api_loop *loop, struct wd_api_call *call)
{
	if (loop->queue == NULL)
		loop->queue = call;
	else
		loop->queue_end->next = call;
	loop->queue_end = call;
}

void
wd_api_call_end(struct wd_api_call *call, const struct wd_api_fault *fault,
    ProtobufCMessage *answer)
{
	struct wd_api_loop *loop = call->loop;
	struct wd_api_call **at = &loop->calls;
	wd_api_done *done = call->done;
	void *ctx = call->ctx;

	while (*at != call)
		at = &(*at)->next;
	*at = call->next;
	loop->running--;
	wd_api_call_free(call);
	done(ctx, fault, answer);
	let_in(loop);
}

static enum wd_status
make(struct wd_api_loop *loop, const struct wd_target *agent,
    int64_t timeout_ms, wd_api_done *done, void *ctx, struct wd_api_call **call,
    struct wd_error *err)
{
	struct wd_api_call *made = wd_calloc(1, sizeof(*made));

	if (made == NULL)
		return wd_fail(err, WD_NOMEM, "no memory for a call");
	*made = (struct wd_api_call){ .loop = loop,
		.agent = *agent,
		.timeout_ms = timeout_ms,
		.done = done,
		.ctx = ctx };
	(void)wd_target_text(agent, made->shown);
	wd_buf_init(&made->question, WD_MAX_CALL);
	wd_response_init(&made->response, WD_MAX_ANSWER_BODY);
	*call = made;
	return WD_OK;
}

enum wd_status
wd_api_start(struct wd_api_loop *loop, const struct wd_api_request *request,
    wd_api_done *done, void *ctx, struct wd_error *err)
{
	struct wd_api_call *call = NULL;
	enum wd_status st = make(
	    loop, &request->agent, request->timeout_ms, done, ctx, &call, err);

	if (st != WD_OK)
		return st;
	call->method = request->method;
	call->answer = request->answer;
	st = wd_wire_pack(request->question, &call->question, err);
	if (st != WD_OK) {
		wd_api_call_free(call);
		return st;
	}
	queue(loop, call);
	return WD_OK;
}

enum wd_status
wd_api_run(struct wd_api_loop *loop, struct wd_error *err)
{
	let_in(loop);
	while (loop->running > 0)
		if (event_base_loop(loop->base, EVLOOP_ONCE) != 0)
			return wd_fail(err, WD_IO, "the event loop failed");
	return WD_OK;
}

/* ---- waiting for one ----------------------------------------------------- */

struct waiter {
	bool has_ended;
	struct wd_api_fault fault;
	ProtobufCMessage *answer;
};

static void
on_answer(void *ctx, const struct wd_api_fault *fault, ProtobufCMessage *answer)
{
	struct waiter *waiter = ctx;

	waiter->has_ended = true;
	waiter->answer = answer;
	if (fault != NULL)
		waiter->fault = *fault;
}

static bool
fail_here(struct wd_api_fault *fault, const struct wd_error *err)
{
	wd_api_fail(fault, WD_API_LOCAL, WD_API_LOOKUP, "%s", err->message);
	return false;
}

bool
wd_api_ask(struct wd_api_loop *loop, const struct wd_api_request *request,
    ProtobufCMessage **answer, struct wd_api_fault *fault)
{
	struct waiter waiter = { .has_ended = false };
	struct wd_error err;

	wd_error_init(&err);
	if (wd_api_start(loop, request, on_answer, &waiter, &err) != WD_OK ||
	    wd_api_run(loop, &err) != WD_OK)
		return fail_here(fault, &err);
	*answer = waiter.answer;
	if (waiter.answer == NULL)
		*fault = waiter.fault;
	return waiter.answer != NULL;
}

bool
wd_api_connect(struct wd_api_loop *loop, const struct wd_target *target,
    int64_t timeout_ms, int *fd, struct wd_api_fault *fault)
{
	struct waiter waiter = { .has_ended = false };
	struct wd_api_call *call = NULL;
	struct wd_error err;

	wd_error_init(&err);
	if (make(loop, target, timeout_ms, on_answer, &waiter, &call, &err) !=
	    WD_OK)
		return fail_here(fault, &err);
	*fd = -1;
	call->taken = fd;
	queue(loop, call);
	if (wd_api_run(loop, &err) != WD_OK)
		return fail_here(fault, &err);
	if (*fd < 0)
		*fault = waiter.fault;
	return *fd >= 0;
}
