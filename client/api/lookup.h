/*
 * lookup.h - names to addresses, through the system's own resolver, so that
 * /etc/hosts, mDNS and whatever else the system is set up with count.
 *
 * getaddrinfo can hang for minutes and cannot be stopped. So it runs in a few
 * threads of its own, and a lookup that nobody waits for any more is let go:
 * its thread ends with it, or with the process. Threads touch nothing but
 * their own list.
 */
#ifndef WD_API_LOOKUP_H
#define WD_API_LOOKUP_H

#include <netdb.h>
#include <stdint.h>

#include "base/error.h"

struct event_base;
struct wd_lookups;
struct wd_lookup;

/* As getaddrinfo(3); what tests put in its place. */
typedef int wd_api_resolve(const char *host, const char *port,
    const struct addrinfo *hints, struct addrinfo **list);

/* `error` is 0, and the list the callee's (freeaddrinfo); or an EAI_ number,
 * with errno for EAI_SYSTEM. */
typedef void wd_lookup_done(
    void *ctx, int error, int os_errno, struct addrinfo *list);

/* `resolve` NULL: the system's. Errors: WD_NOMEM, WD_IO. */
enum wd_status wd_lookups_new(struct event_base *base, wd_api_resolve *resolve,
    struct wd_lookups **lookups, struct wd_error *err) WD_MUST_CHECK;

/* Does not wait for threads. Every lookup must have ended or been cancelled.
 * Accepts NULL, sets NULL. */
void wd_lookups_free(struct wd_lookups **lookups);

/* Starts a lookup. `done` is called once, from the event loop and never before
 * this returns, unless it is cancelled. Errors: WD_NOMEM, WD_IO. */
enum wd_status wd_lookup_start(struct wd_lookups *lookups, const char *host,
    uint16_t port, wd_lookup_done *done, void *ctx, struct wd_lookup **lookup,
    struct wd_error *err) WD_MUST_CHECK;

/* Accepts NULL, sets NULL. */
void wd_lookup_cancel(struct wd_lookup **lookup);

#endif
