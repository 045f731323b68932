#include <event2/buffer.h>
#include <event2/bufferevent_ssl.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "server/parts.h"

/* How much is read ahead of what is being looked at, also while a call runs:
 * only who reads learns that the client has gone. */
#define READ_AHEAD (WD_MAX_REQUEST_HEAD + WD_MAX_REQUEST_BODY)
#define LINGER_MS 1000

static void
enter(struct wd_connection *connection, enum wd_phase phase, uint32_t ms)
{
	struct timeval wait = { .tv_sec = ms / 1000,
		.tv_usec = (suseconds_t)(ms % 1000) * 1000 };

	connection->phase = phase;
	(void)event_add(connection->timer, &wait);
}

/* ---- answers ------------------------------------------------------------- */

void
wd_connection_reply(
    struct wd_connection *connection, const struct wd_reply *reply)
{
	struct evbuffer *out = bufferevent_get_output(connection->bev);

	if (connection->server->is_draining)
		connection->is_last = true;
	if (evbuffer_add_printf(out,
		"HTTP/1.1 %d %s\r\n"
		"Content-Type: %s\r\n"
		"Content-Length: %zu\r\n"
		"%s%s\r\n",
		reply->status, wd_http_reason(reply->status),
		reply->content_type, reply->body.len, reply->headers,
		connection->is_last ? "Connection: close\r\n" : "") < 0 ||
	    evbuffer_add(out, reply->body.data, reply->body.len) != 0) {
		wd_connection_free(connection);
		return;
	}
	enter(connection, WD_PHASE_REPLY, connection->server->limits.reply_ms);
	(void)bufferevent_enable(connection->bev, EV_WRITE);
}

void
wd_connection_fail(struct wd_connection *connection,
    const struct wd_connect_failure *failure, const char *headers)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf body;
	struct wd_reply reply = { .status = failure->http_status,
		.content_type = "application/json",
		.headers = headers };

	wd_buf_init(&body, WD_MAX_REQUEST_BODY);
	(void)wd_connect_print(failure, &body);
	reply.body = wd_buf_slice(&body);
	wd_connection_reply(connection, &reply);
}

static enum wd_connect_code
code_of_refusal(int status)
{
	if (status == 408)
		return WD_CONNECT_DEADLINE_EXCEEDED;
	if (status == 413 || status == 414 || status == 431)
		return WD_CONNECT_RESOURCE_EXHAUSTED;
	return status == 501 || status == 505 ? WD_CONNECT_UNIMPLEMENTED :
						WD_CONNECT_INVALID_ARGUMENT;
}

/* Where a request ends cannot be told any more, so it is the last. */
static void
refuse(struct wd_connection *connection, int status, const char *why)
{
	struct wd_connect_failure failure;

	connection->server->metrics.refused_requests++;
	connection->is_last = true;
	wd_connect_fail(&failure, code_of_refusal(status), "%s", why);
	failure.http_status = status;
	wd_connection_fail(connection, &failure, "");
}

/* ---- one request --------------------------------------------------------- */

/* Bytes of the input up to and with the empty line; 0 when it is not there. */
static size_t
head_length(struct evbuffer *in)
{
	struct evbuffer_ptr end = evbuffer_search(in, "\r\n\r\n", 4, NULL);

	return end.pos < 0 ? 0 : (size_t)end.pos + 4;
}

/* True when the head has been read and the request goes on. */
static bool
take_head(struct wd_connection *connection, struct evbuffer *in)
{
	struct wd_http_refusal refusal;
	size_t len = head_length(in);
	struct wd_slice head;

	if (len > WD_MAX_REQUEST_HEAD ||
	    (len == 0 && evbuffer_get_length(in) > WD_MAX_REQUEST_HEAD)) {
		refuse(connection, 431, "the headers are too large");
		return false;
	}
	if (len == 0)
		return false;
	head.data = evbuffer_pullup(in, (ev_ssize_t)len);
	head.len = len;
	if (head.data == NULL) {
		wd_connection_free(connection);
		return false;
	}
	if (!wd_http_read_head(head, &connection->head, &refusal)) {
		refuse(connection, refusal.status, refusal.why);
		return false;
	}
	(void)evbuffer_drain(in, len);
	connection->has_head = true;
	connection->is_last = !connection->head.keep_alive;
	connection->chunks = (struct wd_http_chunks){ .state = WD_CHUNK_LINE };
	wd_buf_reset(&connection->body);
	if (connection->head.wants_continue)
		(void)evbuffer_add_printf(
		    bufferevent_get_output(connection->bev),
		    "HTTP/1.1 100 Continue\r\n\r\n");
	return true;
}

static enum wd_http_progress
take_length(struct wd_connection *connection, struct evbuffer *in)
{
	size_t wanted = (size_t)connection->head.content_length;
	uint8_t *space;

	if (evbuffer_get_length(in) < wanted)
		return WD_HTTP_MORE;
	if (wd_buf_reserve(&connection->body, wanted, &space) == WD_OK) {
		(void)evbuffer_remove(in, space, wanted);
		wd_buf_advance(&connection->body, wanted);
	}
	return WD_HTTP_DONE;
}

static enum wd_http_progress
take_chunks(struct wd_connection *connection, struct evbuffer *in)
{
	struct wd_slice bytes = { evbuffer_pullup(in, -1),
		evbuffer_get_length(in) };
	struct wd_http_refusal refusal;
	enum wd_http_progress progress;
	size_t used = 0;

	if (bytes.data == NULL)
		return WD_HTTP_MORE;
	progress = wd_http_take_chunks(
	    &connection->chunks, bytes, &used, &connection->body, &refusal);
	(void)evbuffer_drain(in, used);
	if (progress == WD_HTTP_REFUSED)
		refuse(connection, refusal.status, refusal.why);
	return progress;
}

static void
start_call(struct wd_connection *connection)
{
	connection->has_head = false;
	connection->phase = WD_PHASE_CALL;
	(void)event_del(connection->timer);
	if (connection->body.status != WD_OK)
		refuse(connection, 413, "no memory for the body");
	else
		wd_pages_start(connection);
}

/* Goes on with what has been read; at most one request. */
static void
advance(struct wd_connection *connection)
{
	struct evbuffer *in = bufferevent_get_input(connection->bev);
	enum wd_http_progress progress;

	if (evbuffer_get_length(in) == 0)
		return;
	if (connection->phase == WD_PHASE_IDLE)
		enter(connection, WD_PHASE_REQUEST,
		    connection->server->limits.request_ms);
	if (!connection->has_head && !take_head(connection, in))
		return;
	progress = connection->head.is_chunked ? take_chunks(connection, in) :
						 take_length(connection, in);
	if (progress == WD_HTTP_DONE)
		start_call(connection);
}

static void
become_idle(struct wd_connection *connection)
{
	enter(connection, WD_PHASE_IDLE, connection->server->limits.idle_ms);
	/* The next request may be there already. */
	advance(connection);
}

/* ---- what happens to it -------------------------------------------------- */

/* Delayed acknowledgements of a head cost a Nagle client 40 ms. */
static void
acknowledge(const struct wd_connection *connection)
{
#ifdef TCP_QUICKACK
	int on = 1;

	(void)setsockopt(bufferevent_getfd(connection->bev), IPPROTO_TCP,
	    TCP_QUICKACK, &on, sizeof(on));
#else
	(void)connection;
#endif
}

static void
on_read(struct bufferevent *bev, void *ctx)
{
	struct wd_connection *connection = ctx;
	struct evbuffer *in = bufferevent_get_input(bev);

	acknowledge(connection);
	if (connection->phase == WD_PHASE_LINGER)
		(void)evbuffer_drain(in, evbuffer_get_length(in));
	else if (connection->phase == WD_PHASE_IDLE ||
	    connection->phase == WD_PHASE_REQUEST)
		advance(connection);
}

/* Everything that was written is on its way. */
static void
on_write(struct bufferevent *bev, void *ctx)
{
	struct wd_connection *connection = ctx;

	if (connection->phase != WD_PHASE_REPLY ||
	    evbuffer_get_length(bufferevent_get_output(bev)) > 0)
		return;
	if (!connection->is_last) {
		become_idle(connection);
		return;
	}
	wd_tls_goodbye(bufferevent_openssl_get_ssl(bev));
	enter(connection, WD_PHASE_LINGER, LINGER_MS);
	on_read(bev, connection);
}

static void
on_connected(struct wd_connection *connection)
{
	struct ssl_st *session = bufferevent_openssl_get_ssl(connection->bev);

	/* The configuration demands it already; who is believed without it is
	 * root's neighbour, so it is asked once more. */
	if (!wd_tls_is_verified(session)) {
		wd_connection_free(connection);
		return;
	}
	connection->server->metrics.handshakes[WD_TLS_FINE]++;
	become_idle(connection);
}

static void
on_event(struct bufferevent *bev, short what, void *ctx)
{
	struct wd_connection *connection = ctx;
	struct ssl_st *session = bufferevent_openssl_get_ssl(bev);
	enum wd_tls_trouble trouble;

	if ((what & BEV_EVENT_CONNECTED) != 0) {
		on_connected(connection);
		return;
	}
	if (connection->phase == WD_PHASE_HANDSHAKE) {
		trouble =
		    wd_tls_trouble(session, bufferevent_get_openssl_error(bev),
			connection->server->clock, NULL);
		connection->server->metrics.handshakes[trouble]++;
	}
	/* Also the end of only one direction: whoever cannot send cannot be
	 * told from whoever has gone. */
	wd_connection_free(connection);
}

static void
on_timer(evutil_socket_t fd, short events, void *ctx)
{
	struct wd_connection *connection = ctx;

	(void)fd;
	(void)events;
	if (connection->phase == WD_PHASE_REQUEST) {
		refuse(connection, 408, "the request took too long");
		return;
	}
	if (connection->phase == WD_PHASE_HANDSHAKE)
		connection->server->metrics.handshakes[WD_TLS_OTHER]++;
	wd_connection_free(connection);
}

unsigned
wd_connection_roles(const struct wd_connection *connection, char *client)
{
	const struct wd_rules *rules = &connection->server->rules;
	struct wd_tls_names names;

	wd_tls_peer_names(bufferevent_openssl_get_ssl(connection->bev), &names);
	memcpy(client, names.count > 0 ? names.items[0] : "nameless",
	    names.count > 0 ? WD_TLS_MAX_NAME : sizeof("nameless"));
	return wd_roles_of(rules->items, rules->count, &names);
}

/* ---- life ---------------------------------------------------------------- */

static struct bufferevent *
open_bufferevent(struct wd_server *server, int fd, struct wd_error *err)
{
	WD_CLEANUP(wd_tls_session_free) struct ssl_st *session = NULL;
	struct bufferevent *bev;

	if (wd_tls_session_new(server->tls, &session, err) != WD_OK)
		return NULL;
	bev = bufferevent_openssl_socket_new(server->base, fd, session,
	    BUFFEREVENT_SSL_ACCEPTING,
	    BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
	if (bev == NULL)
		return NULL;
	/* It frees the session from here on. */
	(void)wd_steal(&session);
	bufferevent_openssl_set_allow_dirty_shutdown(bev, 1);
	return bev;
}

static void
link_in(struct wd_connection *connection)
{
	struct wd_server *server = connection->server;

	connection->next = server->connections;
	if (connection->next != NULL)
		connection->next->previous = connection;
	server->connections = connection;
	server->connection_count++;
}

enum wd_status
wd_connection_new(struct wd_server *server, int fd, const struct in6_addr *peer,
    struct wd_error *err)
{
	struct wd_connection *made = wd_calloc(1, sizeof(*made));

	if (made != NULL) {
		made->server = server;
		made->peer = *peer;
		wd_buf_init(&made->body, WD_MAX_REQUEST_BODY);
		made->timer = evtimer_new(server->base, on_timer, made);
		if (made->timer != NULL)
			made->bev = open_bufferevent(server, fd, err);
	}
	if (made == NULL || made->bev == NULL) {
		if (made != NULL && made->timer != NULL)
			event_free(made->timer);
		wd_free(made);
		(void)close(fd);
		return wd_fail(err, WD_NOMEM, "no memory for a connection");
	}
	link_in(made);
	bufferevent_setwatermark(made->bev, EV_READ, 0, READ_AHEAD);
	bufferevent_setcb(made->bev, on_read, on_write, on_event, made);
	(void)bufferevent_enable(made->bev, EV_READ | EV_WRITE);
	enter(made, WD_PHASE_HANDSHAKE, server->limits.handshake_ms);
	return WD_OK;
}

void
wd_connection_free(struct wd_connection *connection)
{
	wd_call_abandon(&connection->call);
	bufferevent_free(connection->bev);
	event_free(connection->timer);
	wd_buf_release(&connection->body);
	wd_server_gone(connection->server, connection);
	wd_free(connection);
}

void
wd_connection_drain(struct wd_connection *connection)
{
	connection->is_last = true;
	if (connection->phase == WD_PHASE_HANDSHAKE ||
	    connection->phase == WD_PHASE_IDLE)
		wd_connection_free(connection);
}
