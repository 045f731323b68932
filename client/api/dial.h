/*
 * dial.h - a TCP connection to the first of several addresses that takes one.
 *
 * Addresses are tried one after the other, in the resolver's order. Each gets
 * its share of the time that is left, so that one that swallows packets does
 * not keep the others from being tried.
 */
#ifndef WD_API_DIAL_H
#define WD_API_DIAL_H

#include "api/fault.h"
#include "base/clock.h"

struct addrinfo;
struct event_base;
struct wd_dial;

/* `fd` is connected, not blocking and the callee's; or it is -1 and `fault`
 * says why. */
typedef void wd_dial_done(void *ctx, int fd, const struct wd_api_fault *fault);

/* Starts; takes the list (freeaddrinfo), also on failure. `target` names it in
 * messages. `done` is called once, from the event loop, unless it is
 * cancelled. Errors: WD_NOMEM. */
enum wd_status wd_dial_start(struct event_base *base, struct addrinfo *list,
    const struct wd_deadline *deadline, const char *target, wd_dial_done *done,
    void *ctx, struct wd_dial **dial, struct wd_error *err) WD_MUST_CHECK;

/* Accepts NULL, sets NULL. */
void wd_dial_cancel(struct wd_dial **dial);

#endif
