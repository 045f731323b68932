/*
 * server.h - the agent on the network: one TLS port that answers the calls of
 * weightd.v1.AttestationService, GET /healthz and GET /metrics to clients with
 * a certificate of ours.
 *
 * It sees no file and knows nothing of the host: questions go through a
 * wd_observer, keys and certificates come in as a wd_tls. Everything runs in
 * the thread of the event loop that it is given. A hostile client costs at
 * most what the limits say, and delays nobody else: nothing waits but timers.
 */
#ifndef WD_SERVER_SERVER_H
#define WD_SERVER_SERVER_H

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/tls.h"
#include "seam/observer.h"
#include "server/authorise.h"

struct event_base;
struct wd_server;

struct wd_server_limits {
	unsigned connections;          /* in all */
	unsigned connections_per_peer; /* of one address */
	uint32_t work_per_minute;      /* calls of one client; 0: any number */
	/* Absolute, from its beginning: no byte puts an end off. */
	uint32_t handshake_ms;
	uint32_t request_ms; /* first byte of a request to its last */
	uint32_t idle_ms;    /* between requests */
	uint32_t reply_ms;   /* first byte of an answer to its last */
	/* A call that names no time-out, and the longest that one can name. */
	uint32_t call_ms;
	uint32_t call_most_ms;
};

/* 256 connections, 32 of one address, 120 calls, 10, 10, 120, 30 s; calls
 * 30 s, at most 15 minutes. */
struct wd_server_limits wd_server_limits_default(void);

struct wd_server_options {
	struct event_base *base;      /* borrowed */
	const struct wd_clock *clock; /* borrowed */
	struct wd_observer *observer; /* borrowed; freed after the server */
	struct wd_server_limits limits;
};

/* Makes a server that does not listen yet. It takes `*tls` (set NULL, also on
 * failure) and copies the rules. Errors: WD_INVALID for rules; WD_NOMEM. */
enum wd_status wd_server_new(const struct wd_server_options *options,
    struct wd_tls **tls, const struct wd_role_rule *rules, size_t rule_count,
    struct wd_server **server, struct wd_error *err) WD_MUST_CHECK;

/* A listening TCP socket: close-on-exec, not blocking. `address` is an IP
 * address in text; port 0 lets the system choose. Errors: WD_INVALID,
 * WD_BUSY when somebody has the port, WD_DENIED, WD_IO. The caller closes it,
 * or gives it to wd_server_listen. */
enum wd_status wd_server_bind(const char *address, uint16_t port, int *fd,
    struct wd_error *err) WD_MUST_CHECK;

/* Takes a listening socket (closed also on failure) and accepts on it; may
 * be called for several. Errors: WD_NOMEM. */
enum wd_status wd_server_listen(
    struct wd_server *server, int fd, struct wd_error *err) WD_MUST_CHECK;

/* New connections use this configuration; old ones go on with the certificate
 * that they were opened under, but every request is judged by the new rules.
 * Errors as wd_server_new; everything is then as it was. */
enum wd_status wd_server_reload(struct wd_server *server, struct wd_tls **tls,
    const struct wd_role_rule *rules, size_t rule_count,
    struct wd_error *err) WD_MUST_CHECK;

/* Stops accepting, closes idle connections and lets requests end; after
 * `grace_ms` the rest is cut. Then `done` is called, once, from the event
 * loop. */
void wd_server_drain(struct wd_server *server, uint32_t grace_ms,
    void (*done)(void *ctx), void *ctx);

/* Connections that are open now. */
size_t wd_server_connections(const struct wd_server *server);

/* Cuts everything. libevent frees what it still has queued when the loop turns
 * once more (EVLOOP_NONBLOCK). Accepts NULL, sets NULL. */
void wd_server_free(struct wd_server **server);

#endif
