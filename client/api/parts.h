/*
 * parts.h - what loop.c and call.c share; not for others.
 */
#ifndef WD_API_PARTS_H
#define WD_API_PARTS_H

#include "api/api.h"
#include "api/dial.h"
#include "api/response.h"

struct bufferevent;
struct event;

/* A connection that has answered and may answer again. */
struct wd_api_idle {
	struct wd_api_idle *next;
	struct wd_api_loop *loop;
	struct wd_target agent;
	struct bufferevent *stream;
};

struct wd_api_loop {
	struct event_base *base;
	struct wd_tls *tls;
	const struct wd_clock *clock;
	struct wd_lookups *lookups;
	unsigned most_at_once;
	unsigned running;
	struct wd_api_call *calls; /* running */
	struct wd_api_call *queue; /* waiting for their turn */
	struct wd_api_call *queue_end;
	struct wd_api_idle *idle;
	unsigned idle_count;
};

struct wd_api_call {
	struct wd_api_loop *loop;
	struct wd_api_call *next;
	struct wd_target agent;
	char shown[WD_TARGET_TEXT_BYTES]; /* the agent, in messages */
	const char *method;
	const ProtobufCMessageDescriptor *answer;
	struct wd_buf question;
	int64_t timeout_ms;
	struct wd_deadline deadline; /* from its turn on */
	enum wd_api_phase phase;
	struct event *timer;
	struct wd_lookup *lookup;
	struct wd_dial *dial;
	struct bufferevent *stream;
	bool is_reused; /* the stream has answered another call before */
	struct wd_response response;
	int *taken; /* wd_api_connect: where its connection goes; else NULL */
	wd_api_done *done;
	void *ctx;
};

/* Its turn has come. */
void wd_api_call_begin(struct wd_api_call *call);

/* Frees all that it holds; no callback. */
void wd_api_call_free(struct wd_api_call *call);

/* It has ended: takes it off the loop, lets others have their turn, tells its
 * owner and frees it. `answer` goes to the owner. */
void wd_api_call_end(struct wd_api_call *call, const struct wd_api_fault *fault,
    ProtobufCMessage *answer);

/* ---- idle.c -------------------------------------------------------------- */

/* Says goodbye as far as that goes without waiting, and frees. */
void wd_api_stream_close(struct bufferevent *stream);

/* Takes the stream and keeps it for a further call to that agent; closes it
 * when there are enough. */
void wd_api_idle_keep(struct wd_api_loop *loop, const struct wd_target *agent,
    struct bufferevent *stream);

/* A kept one, now the caller's, or NULL. The agent may have closed it already;
 * that shows when it is used. */
struct bufferevent *wd_api_idle_take(
    struct wd_api_loop *loop, const struct wd_target *agent);

void wd_api_idle_close_all(struct wd_api_loop *loop);

#endif
