/*
 * parts.h - what the files of this room share, and nobody else sees.
 *
 * server.c accepts and owns the connections; connection.c carries one of them
 * through its phases; pages.c finds what a request is for; call.c answers one
 * call; attest.c is what is particular about AttestPort.
 */
#ifndef WD_SERVER_PARTS_H
#define WD_SERVER_PARTS_H

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <protobuf-c/protobuf-c.h>
#include <sys/socket.h>

#include "server/http.h"
#include "server/metrics.h"
#include "server/rate.h"
#include "server/server.h"
#include "wire/connect.h"

struct wd_rules {
	struct wd_role_rule *items;
	size_t count;
};

#define WD_MAX_LISTENERS_OF_OURS 8

struct wd_server {
	struct event_base *base;
	const struct wd_clock *clock;
	struct wd_observer *observer;
	struct wd_server_limits limits;
	struct wd_tls *tls;
	struct wd_rules rules;
	struct wd_rate *rate;
	struct wd_metrics metrics;
	struct evconnlistener *listeners[WD_MAX_LISTENERS_OF_OURS];
	size_t listener_count;
	struct event *accept_again; /* after a pause for want of descriptors */
	struct wd_connection *connections;
	size_t connection_count;
	bool is_draining;
	struct event *drain_end;
	void (*drained)(void *ctx);
	void *drained_ctx;
};

/* Where a connection stands; each phase has a deadline of its own. */
enum wd_phase {
	WD_PHASE_HANDSHAKE,
	WD_PHASE_IDLE,    /* no byte of the next request is there */
	WD_PHASE_REQUEST, /* some are */
	WD_PHASE_CALL,    /* being answered; the call has the timer */
	WD_PHASE_REPLY,   /* the answer is on its way */
	WD_PHASE_LINGER,  /* the last answer is out: what still comes is
			   * dropped, so that no reset overtakes the answer */
};

struct wd_connection {
	struct wd_server *server;
	struct wd_connection *next, *previous;
	struct bufferevent *bev;
	struct event *timer;
	enum wd_phase phase;
	struct in6_addr peer; /* IPv4 mapped */
	struct wd_http_head head;
	bool has_head;
	struct wd_http_chunks chunks;
	struct wd_buf body;
	bool is_last; /* no request follows this one */
	struct wd_open_call *call;
};

/* ---- connection.c -------------------------------------------------------- */

/* Takes an accepted socket; closed on failure. Errors: WD_NOMEM. */
enum wd_status wd_connection_new(struct wd_server *server, int fd,
    const struct in6_addr *peer, struct wd_error *err) WD_MUST_CHECK;

/* The roles and the first name of whoever is at the other end. The name is a
 * buffer of WD_TLS_MAX_NAME bytes. */
unsigned wd_connection_roles(
    const struct wd_connection *connection, char *client);

/* Ends it and its call, and tells the server. */
void wd_connection_free(struct wd_connection *connection);

/* Closes when nothing is going on, else after the answer. */
void wd_connection_drain(struct wd_connection *connection);

struct wd_reply {
	int status;
	const char *content_type;
	const char *headers; /* whole lines with CR LF, or "" */
	struct wd_slice body;
};

/* Sends the answer to the request; the connection may be gone afterwards. */
void wd_connection_reply(
    struct wd_connection *connection, const struct wd_reply *reply);

/* The same for a failure, as JSON; `headers` as above. */
void wd_connection_fail(struct wd_connection *connection,
    const struct wd_connect_failure *failure, const char *headers);

/* ---- pages.c ------------------------------------------------------------- */

/* Answers the request whose head and body are there, now or later. */
void wd_pages_start(struct wd_connection *connection);

/* ---- call.c -------------------------------------------------------------- */

/* A call of the schema that is being answered. */
struct wd_open_call {
	struct wd_connection *connection;
	const struct wd_call_row *row;
	enum wd_connect_codec codec;
	ProtobufCMessage *request;
	char client[WD_TLS_MAX_NAME]; /* the first of its names */
	unsigned roles;
	int64_t started_boot_ns;
	wd_ticket ticket;
	struct event *timer;
};

/* What is particular about one call. */
struct wd_call_row {
	const char *path;
	enum wd_call call;
	const ProtobufCMessageDescriptor *request;
	const ProtobufCMessageDescriptor *response;
	bool is_work; /* makes the observer look; counted by rate.h */
	/* Whether the request may be asked by this client; settles what it
	 * left open. NULL: always. */
	bool (*admit)(
	    struct wd_open_call *call, struct wd_connect_failure *failure);
	/* The question as the observer gets it. NULL: the request. */
	enum wd_status (*pack)(const struct wd_open_call *call,
	    struct wd_buf *question, struct wd_error *err);
	/* Makes the answer from the observer's. NULL: it is the answer. */
	enum wd_status (*finish)(struct wd_open_call *call,
	    struct wd_slice answer, struct wd_buf *out, struct wd_error *err);
};

/* The row of a path, or NULL. */
const struct wd_call_row *wd_call_row_of(const char *path);

/* Answers the call whose request has been read. */
void wd_call_start(
    struct wd_connection *connection, const struct wd_call_row *row);

/* The client has gone. */
void wd_call_abandon(struct wd_open_call **call);

/* ---- attest.c ------------------------------------------------------------ */

bool wd_attest_admit(
    struct wd_open_call *call, struct wd_connect_failure *failure);
bool wd_bundle_admit(
    struct wd_open_call *call, struct wd_connect_failure *failure);
enum wd_status wd_attest_pack(const struct wd_open_call *call,
    struct wd_buf *question, struct wd_error *err);
enum wd_status wd_attest_finish(struct wd_open_call *call,
    struct wd_slice answer, struct wd_buf *out, struct wd_error *err);

/* ---- server.c ------------------------------------------------------------ */

void wd_server_gone(struct wd_server *server, struct wd_connection *connection);

#endif
