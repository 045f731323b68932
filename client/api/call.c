/* One call: each phase ends in the next one, or in a fault. */
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <inttypes.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

#include "api/parts.h"
#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"
#include "wire/unpack.h"

#define MOST_OF_SSL_GET_ERROR 16
#define SERVICE "/weightd.v1.AttestationService/"

void
wd_api_call_free(struct wd_api_call *call)
{
	wd_lookup_cancel(&call->lookup);
	wd_dial_cancel(&call->dial);
	if (call->timer != NULL)
		event_free(call->timer);
	if (call->stream != NULL)
		wd_api_stream_close(call->stream);
	wd_buf_release(&call->question);
	wd_response_release(&call->response);
	wd_free(call);
}

static void
fail(struct wd_api_call *call, enum wd_api_trouble trouble, const char *words)
{
	struct wd_api_fault fault;

	wd_api_fail(&fault, trouble, call->phase, "%s: %s", call->shown, words);
	wd_api_call_end(call, &fault, NULL);
}

/* ---- the answer ---------------------------------------------------------- */

/* An error of Connect's; what is no such JSON comes from something in between
 * that speaks HTTP. */
static void
take_error(struct wd_api_call *call)
{
	struct wd_response *response = &call->response;
	struct wd_connect_failure failure = { .code = WD_CONNECT_UNKNOWN };
	struct wd_api_fault fault;
	struct wd_error err;
	char words[64];

	wd_error_init(&err);
	if (response->type != WD_RESPONSE_JSON ||
	    response->body.len > WD_MAX_ERROR_BODY ||
	    wd_connect_parse(wd_buf_slice(&response->body), response->status,
		&failure, &err) != WD_OK) {
		(void)snprintf(words, sizeof(words),
		    "HTTP status %d, and no error of an agent",
		    response->status);
		fail(call, WD_API_PROTOCOL, words);
		return;
	}
	wd_api_fail_agent(&fault, call->shown, &failure);
	(void)snprintf(words, sizeof(words), "ask again in %" PRIu32 " s",
	    response->retry_after_s);
	if (fault.trouble == WD_API_RATE_LIMITED &&
	    response->retry_after_s > 0 &&
	    strlen(fault.message) + strlen(words) + 3 < sizeof(fault.message))
		(void)snprintf(fault.message + strlen(fault.message),
		    sizeof(fault.message) - strlen(fault.message), "; %s",
		    words);
	wd_api_call_end(call, &fault, NULL);
}

static void
take_answer(struct wd_api_call *call)
{
	ProtobufCMessage *message = NULL;
	struct wd_error err;

	wd_error_init(&err);
	if (call->response.status != 200) {
		take_error(call);
		return;
	}
	if (call->response.type != WD_RESPONSE_PROTO) {
		fail(call, WD_API_PROTOCOL,
		    "the answer is not application/proto");
		return;
	}
	if (wd_wire_unpack(call->answer, wd_buf_slice(&call->response.body),
		WD_WIRE_ALLOW_UNKNOWN, WD_MAX_ANSWER_MEMORY, &message,
		&err) != WD_OK)
		fail(call, WD_API_PROTOCOL, err.message);
	else {
		if (call->response.keep_alive)
			wd_api_idle_keep(
			    call->loop, &call->agent, wd_steal(&call->stream));
		wd_api_call_end(call, NULL, message);
	}
}

/* ---- bytes --------------------------------------------------------------- */

/* Takes what has come. True when the call has ended. */
static bool
take_bytes(struct wd_api_call *call)
{
	struct evbuffer *in = bufferevent_get_input(call->stream);
	enum wd_http_progress progress = WD_HTTP_MORE;
	const char *why = NULL;
	struct wd_slice part;
	size_t used;

	while (progress == WD_HTTP_MORE && evbuffer_get_length(in) > 0) {
		part.len = evbuffer_get_contiguous_space(in);
		part.data = evbuffer_pullup(in, (ev_ssize_t)part.len);
		progress = wd_response_take(&call->response, part, &used, &why);
		(void)evbuffer_drain(in, used);
	}
	if (progress == WD_HTTP_MORE)
		return false;
	if (progress == WD_HTTP_REFUSED)
		fail(call, WD_API_PROTOCOL, why);
	else if (evbuffer_get_length(in) > 0)
		fail(call, WD_API_PROTOCOL, "it sent more than its answer");
	else
		take_answer(call);
	return true;
}

static void
on_readable(struct bufferevent *stream, void *ctx)
{
	struct wd_api_call *call = ctx;

	(void)stream;
	if (call->phase != WD_API_ANSWER)
		fail(call, WD_API_PROTOCOL, "it spoke before it was asked");
	else
		(void)take_bytes(call);
}

/* The agent's own end of the call comes a little before ours: what it says
 * then tells more than our silence. */
static int64_t
time_for_agent_ms(const struct wd_api_call *call)
{
	int64_t left = wd_deadline_left_ms(&call->deadline);
	int64_t margin = left / 10 < 500 ? left / 10 : 500;

	return left - margin;
}

static void
send_question(struct wd_api_call *call)
{
	struct evbuffer *out = bufferevent_get_output(call->stream);

	call->phase = WD_API_ANSWER;
	if (evbuffer_add_printf(out,
		"POST " SERVICE "%s HTTP/1.1\r\n"
		"Host: %s\r\n"
		"User-Agent: weightctl/" WD_VERSION "\r\n"
		"Content-Type: application/proto\r\n"
		"Content-Length: %zu\r\n"
		"Connect-Protocol-Version: 1\r\n"
		"Connect-Timeout-Ms: %" PRId64 "\r\n\r\n",
		call->method, call->shown, call->question.len,
		time_for_agent_ms(call)) < 0 ||
	    evbuffer_add(out, call->question.data, call->question.len) != 0)
		fail(call, WD_API_LOCAL, "no memory for the question");
}

/* ---- how a connection ends ----------------------------------------------- */

static enum wd_api_trouble
trouble_of(enum wd_tls_trouble trouble)
{
	switch (trouble) {
	case WD_TLS_EXPIRED:
		return WD_API_CERT_EXPIRED;
	case WD_TLS_NOT_YET_VALID:
		return WD_API_CERT_NOT_YET_VALID;
	case WD_TLS_UNKNOWN_CA:
		return WD_API_CERT_UNKNOWN_CA;
	case WD_TLS_REVOKED:
		return WD_API_CERT_REVOKED;
	case WD_TLS_WRONG_NAME:
		return WD_API_CERT_WRONG_NAME;
	case WD_TLS_WRONG_PURPOSE:
	case WD_TLS_NO_CERTIFICATE:
	case WD_TLS_OTHER:
	case WD_TLS_FINE:
		break;
	}
	return WD_API_CERT_OTHER;
}

static void
fail_refused(struct wd_api_call *call, const char *alert)
{
	char words[160];

	(void)snprintf(words, sizeof(words),
	    "the agent does not take our certificate: %s", alert);
	fail(call, WD_API_OWN_CERT, words);
}

/* It hung up. Whoever does not take our certificate may say so only by that. */
static void
fail_closed(struct wd_api_call *call)
{
	if (wd_response_has_begun(&call->response))
		fail(call, WD_API_PROTOCOL,
		    "the connection ended within the answer");
	else if (call->phase == WD_API_HANDSHAKE)
		fail(call, WD_API_CLOSED,
		    "it hung up during the TLS handshake: too many "
		    "connections, or no agent");
	else
		fail(call, WD_API_CLOSED, "it hung up before it answered");
}

/* What OpenSSL says, of which libevent kept the codes: the last first. */
static enum wd_tls_end
read_end(struct bufferevent *stream, unsigned long *code, const char **words)
{
	enum wd_tls_end end = WD_TLS_END_OTHER;
	unsigned long next;

	*code = 0;
	*words = "";
	while ((next = bufferevent_get_openssl_error(stream)) != 0) {
		/* libevent puts the number of SSL_get_error among them. */
		if (next <= MOST_OF_SSL_GET_ERROR || end != WD_TLS_END_OTHER)
			continue;
		end = wd_tls_end_of(next, words);
		*code = next;
	}
	return end;
}

/* The agent's certificate, or anything else of the handshake. */
static void
fail_handshake(struct wd_api_call *call, unsigned long code)
{
	struct ssl_st *session = bufferevent_openssl_get_ssl(call->stream);
	enum wd_tls_trouble trouble;
	struct wd_error err;
	char words[400];

	wd_error_init(&err);
	trouble = wd_tls_trouble(session, code, call->loop->clock, &err);
	if (trouble == WD_TLS_OTHER && err.status == WD_MALFORMED) {
		(void)snprintf(words, sizeof(words),
		    "the TLS handshake failed: %.300s", err.message);
		fail(call, WD_API_NO_TLS, words);
		return;
	}
	(void)snprintf(words, sizeof(words), "the agent's certificate: %.300s",
	    err.message);
	fail(call, trouble_of(trouble), words);
}

static void dial_anew(struct wd_api_call *call);

static void
on_end(struct wd_api_call *call, short events)
{
	unsigned long code;
	const char *alert;
	enum wd_tls_end end;

	/* A kept connection that the agent had closed: nothing was answered,
	 * and every call of ours may be made again. */
	if (call->is_reused && !wd_response_has_begun(&call->response)) {
		dial_anew(call);
		return;
	}
	end = read_end(call->stream, &code, &alert);

	/* It hung up while we wrote; why may lie there, not read yet. */
	if (end == WD_TLS_END_OTHER && (events & BEV_EVENT_WRITING) != 0) {
		end = wd_tls_last_words(
		    bufferevent_openssl_get_ssl(call->stream), &alert);
		code = 0;
	}
	if (end == WD_TLS_END_CERTIFICATE)
		fail_refused(call, alert);
	else if (end == WD_TLS_END_NO_TLS)
		fail(call, WD_API_NO_TLS, "it does not speak TLS");
	else if (end == WD_TLS_END_VERSION)
		fail(call, WD_API_NO_TLS, "it does not speak TLS 1.3");
	else if (end == WD_TLS_END_EOF || (events & BEV_EVENT_EOF) != 0 ||
	    code == 0)
		fail_closed(call);
	else if (call->phase == WD_API_HANDSHAKE)
		fail_handshake(call, code);
	else
		fail(call, WD_API_PROTOCOL, "the TLS connection broke");
}

static void
on_event(struct bufferevent *stream, short events, void *ctx)
{
	struct wd_api_call *call = ctx;
	struct ssl_st *session = bufferevent_openssl_get_ssl(stream);

	if ((events & BEV_EVENT_CONNECTED) == 0) {
		/* What came before the end may be the whole answer. */
		if (call->phase != WD_API_ANSWER || !take_bytes(call))
			on_end(call, events);
		return;
	}
	if (!wd_tls_is_verified(session))
		fail(call, WD_API_CERT_OTHER, "it showed no certificate");
	else
		send_question(call);
}

/* ---- phases -------------------------------------------------------------- */

static enum wd_status
open_stream(struct wd_api_call *call, int fd, struct wd_error *err)
{
	struct ssl_st *session = NULL;
	char host[WD_API_HOST_BYTES], *scope;
	enum wd_status st;

	memcpy(host, call->agent.host, sizeof(host));
	/* A scope says which way to go and is no part of a name. */
	scope = strchr(host, '%');
	if (scope != NULL)
		*scope = '\0';
	st = wd_tls_session_new(call->loop->tls, &session, err);
	if (st == WD_OK)
		st = wd_tls_expect_host(session, host, err);
	if (st == WD_OK) {
		call->stream = bufferevent_openssl_socket_new(call->loop->base,
		    fd, session, BUFFEREVENT_SSL_CONNECTING,
		    BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
		if (call->stream == NULL)
			st = wd_fail(err, WD_NOMEM, "no memory for TLS");
	}
	if (st == WD_OK)
		return st;
	wd_tls_session_free(&session);
	(void)close(fd);
	return st;
}

static void
attach(struct wd_api_call *call)
{
	bufferevent_setcb(call->stream, on_readable, NULL, on_event, call);
	/* What an agent sends is read only as fast as it is looked at. */
	bufferevent_setwatermark(call->stream, EV_READ, 0, 65536);
	(void)bufferevent_enable(call->stream, EV_READ | EV_WRITE);
}

static void
on_dialled(void *ctx, int fd, const struct wd_api_fault *fault)
{
	struct wd_api_call *call = ctx;
	struct wd_error err;

	call->dial = NULL;
	if (fd < 0) {
		wd_api_call_end(call, fault, NULL);
		return;
	}
	if (call->taken != NULL) {
		*call->taken = fd;
		wd_api_call_end(call, NULL, NULL);
		return;
	}
	wd_error_init(&err);
	call->phase = WD_API_HANDSHAKE;
	if (open_stream(call, fd, &err) != WD_OK) {
		fail(call, WD_API_LOCAL, err.message);
		return;
	}
	attach(call);
}

static void
fail_lookup(struct wd_api_call *call, int error, int os_errno)
{
	bool is_temporary = error == EAI_AGAIN || error == EAI_FAIL;
	char words[200];

	(void)snprintf(words, sizeof(words), "the name cannot be looked up: %s",
	    error == EAI_SYSTEM ? strerror(os_errno) : gai_strerror(error));
	if (error == EAI_MEMORY)
		fail(call, WD_API_LOCAL, words);
	else
		fail(call,
		    is_temporary || error == EAI_SYSTEM ?
			WD_API_NAME_TEMPORARY :
			WD_API_NAME_UNKNOWN,
		    words);
}

static void
on_looked_up(void *ctx, int error, int os_errno, struct addrinfo *list)
{
	struct wd_api_call *call = ctx;
	struct wd_error err;

	call->lookup = NULL;
	if (error != 0) {
		fail_lookup(call, error, os_errno);
		return;
	}
	wd_error_init(&err);
	call->phase = WD_API_CONNECT;
	if (wd_dial_start(call->loop->base, list, &call->deadline, call->shown,
		on_dialled, call, &call->dial, &err) != WD_OK)
		fail(call, WD_API_LOCAL, err.message);
}

static bool
start_lookup(struct wd_api_call *call)
{
	call->phase = WD_API_LOOKUP;
	return wd_lookup_start(call->loop->lookups, call->agent.host,
		   call->agent.port, on_looked_up, call, &call->lookup,
		   NULL) == WD_OK;
}

static void
dial_anew(struct wd_api_call *call)
{
	wd_api_stream_close(wd_steal(&call->stream));
	call->is_reused = false;
	if (!start_lookup(call))
		fail(call, WD_API_LOCAL, "no memory or no thread for the call");
}

static void
on_time(evutil_socket_t fd, short events, void *ctx)
{
	struct wd_api_call *call = ctx;
	char words[120];

	(void)fd;
	(void)events;
	(void)snprintf(words, sizeof(words),
	    "no end after %" PRId64 " ms of %s", call->timeout_ms,
	    wd_api_phase_name(call->phase));
	fail(call, WD_API_TIMEOUT, words);
}

/* A failure is told from the event loop, never from within the start. */
static void
on_no_memory(evutil_socket_t fd, short events, void *ctx)
{
	(void)fd;
	(void)events;
	fail(ctx, WD_API_LOCAL, "no memory or no thread for the call");
}

static bool
reuse(struct wd_api_call *call)
{
	if (call->taken == NULL)
		call->stream = wd_api_idle_take(call->loop, &call->agent);
	if (call->stream == NULL)
		return false;
	call->is_reused = true;
	attach(call);
	send_question(call);
	return true;
}

void
wd_api_call_begin(struct wd_api_call *call)
{
	struct wd_api_loop *loop = call->loop;
	struct timeval wait = { .tv_sec = (time_t)(call->timeout_ms / 1000),
		.tv_usec = (suseconds_t)(call->timeout_ms % 1000 * 1000) };
	struct timeval now = { 0, 0 };

	call->deadline = wd_deadline_in(loop->clock, call->timeout_ms);
	call->timer = evtimer_new(loop->base, on_time, call);
	if (call->timer != NULL && event_add(call->timer, &wait) == 0 &&
	    (reuse(call) || start_lookup(call)))
		return;
	if (event_base_once(
		loop->base, -1, EV_TIMEOUT, on_no_memory, call, &now) != 0)
		wd_api_call_end(call,
		    &(struct wd_api_fault){ .trouble = WD_API_LOCAL }, NULL);
}
