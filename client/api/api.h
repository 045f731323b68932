/*
 * api.h - calls to agents: name, connection, TLS 1.3 with certificates on both
 * sides, one Connect call in protobuf, and its answer or the one reason why
 * there is none.
 *
 * All calls of a loop run in one thread, as callbacks; so many at once, the
 * others wait their turn, and a call's time begins with its turn. Nothing an
 * agent does makes a call outlive its time.
 */
#ifndef WD_API_API_H
#define WD_API_API_H

#include "api/fault.h"
#include "api/lookup.h"
#include "api/target.h"
#include "base/clock.h"
#include "base/tls.h"
#include "weightd/v1/service.pb-c.h"

struct wd_api_loop;

struct wd_api_options {
	struct wd_tls *tls;           /* borrowed */
	const struct wd_clock *clock; /* borrowed */
	unsigned most_at_once;        /* 0: WD_API_AT_ONCE */
	wd_api_resolve *resolve;      /* NULL: the system's */
};

#define WD_API_AT_ONCE 256

/* Errors: WD_NOMEM, WD_IO. */
enum wd_status wd_api_loop_new(const struct wd_api_options *options,
    struct wd_api_loop **loop, struct wd_error *err) WD_MUST_CHECK;

/* Calls that are open end without their callback. Accepts NULL, sets NULL. */
void wd_api_loop_free(struct wd_api_loop **loop);

/* What is asked of whom. */
struct wd_api_request {
	struct wd_target agent;           /* with a port */
	const char *method;               /* "AttestPort"; static */
	const ProtobufCMessage *question; /* packed before start returns */
	const ProtobufCMessageDescriptor *answer;
	int64_t timeout_ms; /* of the whole call; above 0 */
};

/* Called once: `answer` is the callee's (wd_message_free) and `fault` NULL, or
 * the other way round. It may start further calls. */
typedef void wd_api_done(
    void *ctx, const struct wd_api_fault *fault, ProtobufCMessage *answer);

/* Starts a call, or queues it. `done` is never called before this returns.
 * Errors: WD_NOMEM, WD_LIMIT for a question that is too large. */
enum wd_status wd_api_start(struct wd_api_loop *loop,
    const struct wd_api_request *request, wd_api_done *done, void *ctx,
    struct wd_error *err) WD_MUST_CHECK;

/* Runs until every call has ended. Errors: WD_IO. */
enum wd_status wd_api_run(
    struct wd_api_loop *loop, struct wd_error *err) WD_MUST_CHECK;

/* One call, waited for. False: `fault` says why there is no answer. */
bool wd_api_ask(struct wd_api_loop *loop, const struct wd_api_request *request,
    ProtobufCMessage **answer, struct wd_api_fault *fault) WD_MUST_CHECK;

/* A plain TCP connection, waited for; the caller closes it. False: `fault`
 * says why there is none. */
bool wd_api_connect(struct wd_api_loop *loop, const struct wd_target *target,
    int64_t timeout_ms, int *fd, struct wd_api_fault *fault) WD_MUST_CHECK;

#endif
