/*
 * observer.h - the seam between the front, which speaks to the network and
 * sees no file, and the observer, which looks at the host.
 *
 * A question is bytes of protobuf: the request message of one call of
 * weightd.v1.AttestationService, packed anew by the front from a message that
 * it has validated (wire/validate.h), so no byte of the network passes as it
 * came. An answer is bytes of the call's response message. What only concerns
 * the caller and its verdict stays in the front: an AttestPortRequest arrives
 * without `expectation` and `nonce`, an AttestPortResponse carries only its
 * `attestation`; the front adds verdict and nonce.
 *
 * Whoever implements this in another process validates the question once
 * more, since the front may have been taken over, and so may it never trust a
 * path, a deadline or a count in it. The front in turn takes an answer as the
 * observer's word, but unpacks it under a budget.
 *
 * Everything happens in one thread, that of the caller's event loop.
 */
#ifndef WD_SEAM_OBSERVER_H
#define WD_SEAM_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/slice.h"

/* The calls of the schema, in its order. Numbers are part of what goes over a
 * socketpair: never reuse one. */
enum wd_call {
	WD_CALL_ATTEST_PORT = 1,
	WD_CALL_DESCRIBE_BUNDLE = 2,
	WD_CALL_LIST_SERVERS = 3,
	WD_CALL_GET_HOST = 4,
	/* Of no schema and over no socket: a desk's own process asks whether
	 * its threads still answer. The answer is empty. */
	WD_CALL_SIGN_OF_LIFE = 32,
};

/* Names a question that is being answered; never 0, and not used again while
 * the observer lives. */
typedef uint64_t wd_ticket;

/* The end of one question. `status` is WD_OK and `answer` the response
 * message; or the answer is empty and `err` (never NULL then) says why:
 *
 *	WD_INVALID      the question is wrong; the message is for the caller
 *	WD_UNSUPPORTED  this system or version cannot do it
 *	WD_NOTFOUND     what it asks about is not there
 *	WD_DENIED       outside what callers may ask about
 *	WD_TIMEDOUT     the deadline came, and nothing honest can be said
 *	WD_BUSY         too many questions at once
 *	WD_GONE         the observer ended; a new one is being started
 *	others          our own failure
 *
 * At its deadline an observer should rather give an answer that names what it
 * could not look at than WD_TIMEDOUT. `answer` and `err` are borrowed until
 * the function returns. The function may ask and cancel. */
typedef void wd_observer_done(void *ctx, enum wd_status status,
    struct wd_slice answer, const struct wd_error *err);

struct wd_observer;

struct wd_observer_ops {
	enum wd_status (*ask)(struct wd_observer *observer, enum wd_call call,
	    struct wd_slice question, const struct wd_deadline *deadline,
	    wd_observer_done *done, void *ctx, wd_ticket *ticket,
	    struct wd_error *err);
	void (*cancel)(struct wd_observer *observer, wd_ticket ticket);
	bool (*is_ready)(const struct wd_observer *observer);
	void (*free)(struct wd_observer *observer);
};

/* An implementation puts this first in its own struct. */
struct wd_observer {
	const struct wd_observer_ops *ops;
};

/* Starts to answer. `question` is copied; `deadline` is copied, its clock
 * must outlive the observer. `done` is called exactly once and never before
 * this returns, unless the question is cancelled. On failure it is not called
 * at all. Errors: WD_BUSY when too many questions are open, WD_GONE when
 * there is no observer just now, WD_NOMEM; of an observer in this process also
 * those of wd_wire_unpack, for bytes that are no question. */
enum wd_status wd_observer_ask(struct wd_observer *observer, enum wd_call call,
    struct wd_slice question, const struct wd_deadline *deadline,
    wd_observer_done *done, void *ctx, wd_ticket *ticket,
    struct wd_error *err) WD_MUST_CHECK;

/* The caller has gone: `done` will not be called, and work that serves nobody
 * else may stop. A ticket that is not open is allowed and does nothing. */
void wd_observer_cancel(struct wd_observer *observer, wd_ticket ticket);

/* Whether a question would be taken now: the observer runs and its self-test
 * is done. Looks at what is known; asks nothing. */
bool wd_observer_is_ready(const struct wd_observer *observer);

/* Ends the observer; open questions are cancelled. Accepts NULL, sets NULL. */
void wd_observer_free(struct wd_observer **observer);

#endif
