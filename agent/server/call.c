#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "server/parts.h"
#include "weightd/v1/service.pb-c.h"
#include "wire/build.h"
#include "wire/json.h"
#include "wire/parse_json.h"
#include "wire/unpack.h"

/* What the observer gets less than the caller, so that an answer that names
 * what it could not look at still arrives in time. */
#define MARGIN_MS 250

#define SERVICE "/weightd.v1.AttestationService/"

static const struct wd_call_row rows[] = {
	{ SERVICE "AttestPort", WD_CALL_ATTEST_PORT,
	    &weightd__v1__attest_port_request__descriptor,
	    &weightd__v1__attest_port_response__descriptor, true,
	    wd_attest_admit, wd_attest_pack, wd_attest_finish },
	{ SERVICE "DescribeBundle", WD_CALL_DESCRIBE_BUNDLE,
	    &weightd__v1__describe_bundle_request__descriptor,
	    &weightd__v1__describe_bundle_response__descriptor, true,
	    wd_bundle_admit, NULL, NULL },
	{ SERVICE "ListServers", WD_CALL_LIST_SERVERS,
	    &weightd__v1__list_servers_request__descriptor,
	    &weightd__v1__list_servers_response__descriptor, true, NULL, NULL,
	    NULL },
	{ SERVICE "GetHost", WD_CALL_GET_HOST,
	    &weightd__v1__get_host_request__descriptor,
	    &weightd__v1__get_host_response__descriptor, false, NULL, NULL,
	    NULL },
};

const struct wd_call_row *
wd_call_row_of(const char *path)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].path, path) == 0)
			return &rows[i];
	return NULL;
}

/* ---- the end ------------------------------------------------------------- */

void
wd_call_abandon(struct wd_open_call **call)
{
	struct wd_open_call *c = *call;

	*call = NULL;
	if (c == NULL)
		return;
	wd_observer_cancel(c->connection->server->observer, c->ticket);
	if (c->timer != NULL)
		event_free(c->timer);
	wd_message_free(c->request);
	wd_free(c);
}

/* Counts the call and detaches it from its connection, so that the answer can
 * be sent. */
static struct wd_connection *
end_call(struct wd_open_call *call, enum wd_connect_code code)
{
	struct wd_connection *connection = call->connection;
	struct wd_server *server = connection->server;

	wd_metrics_call(&server->metrics, call->row->call, code,
	    wd_clock_boot_ns(server->clock) - call->started_boot_ns);
	wd_call_abandon(&connection->call);
	return connection;
}

static void
fail_call(struct wd_open_call *call, const struct wd_connect_failure *failure,
    const char *headers)
{
	/* It may point into the call. */
	struct wd_connect_failure kept = *failure;

	wd_connection_fail(end_call(call, failure->code), &kept, headers);
}

static void
fail_with(struct wd_open_call *call, const struct wd_error *err)
{
	struct wd_connect_failure failure;

	wd_connect_fail_of(&failure, err);
	fail_call(call, &failure, "");
}

/* ---- the answer ---------------------------------------------------------- */

/* The answer in the caller's codec. */
static enum wd_status
encode(struct wd_open_call *call, struct wd_slice answer, struct wd_buf *out,
    struct wd_error *err)
{
	WD_CLEANUP(wd_message_free_scoped) ProtobufCMessage *message = NULL;
	enum wd_status st;

	if (call->codec == WD_CONNECT_PROTO) {
		st = wd_buf_append(out, answer.data, answer.len);
		return st == WD_OK ? st : wd_fail(err, st, "answer too large");
	}
	st = wd_wire_unpack(call->row->response, answer, WD_WIRE_ALLOW_UNKNOWN,
	    WD_MAX_MESSAGE, &message, err);
	if (st != WD_OK)
		return st;
	return wd_message_print_json(message, WD_JSON_COMPACT, out, err);
}

static enum wd_status
make_answer(struct wd_open_call *call, struct wd_slice answer,
    struct wd_buf *out, struct wd_error *err)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf made;
	enum wd_status st;

	wd_buf_init(&made, WD_MAX_MESSAGE);
	if (call->row->finish == NULL)
		return encode(call, answer, out, err);
	st = call->row->finish(call, answer, &made, err);
	return st == WD_OK ? encode(call, wd_buf_slice(&made), out, err) : st;
}

static void
send_answer(struct wd_open_call *call, struct wd_slice body)
{
	struct wd_reply reply = { .status = 200,
		.content_type = wd_connect_content_type(call->codec),
		.headers = "",
		.body = body };

	wd_connection_reply(end_call(call, WD_CONNECT_OK), &reply);
}

static void
on_answer(void *ctx, enum wd_status status, struct wd_slice answer,
    const struct wd_error *err)
{
	struct wd_open_call *call = ctx;
	WD_CLEANUP(wd_buf_release) struct wd_buf body;
	struct wd_error own;

	call->ticket = 0;
	wd_buf_init(&body, WD_MAX_MESSAGE);
	wd_error_init(&own);
	if (status != WD_OK) {
		fail_with(call, err);
		return;
	}
	if (make_answer(call, answer, &body, &own) == WD_OK) {
		send_answer(call, wd_buf_slice(&body));
		return;
	}
	/* The observer's answer, not the caller's question, was wrong. */
	if (own.status != WD_NOMEM && own.status != WD_LIMIT)
		own.status = WD_CORRUPT;
	fail_with(call, &own);
}

static void
on_deadline(evutil_socket_t fd, short events, void *ctx)
{
	struct wd_connect_failure failure;

	(void)fd;
	(void)events;
	wd_connect_fail(&failure, WD_CONNECT_DEADLINE_EXCEEDED,
	    "not answered within the time-out of the call");
	fail_call(ctx, &failure, "");
}

/* ---- the question -------------------------------------------------------- */

static enum wd_status
ask(struct wd_open_call *call, int64_t timeout_ms, struct wd_error *err)
{
	struct wd_server *server = call->connection->server;
	struct timeval wait = { .tv_sec = (time_t)(timeout_ms / 1000),
		.tv_usec = (suseconds_t)(timeout_ms % 1000) * 1000 };
	int64_t margin =
	    timeout_ms / 10 < MARGIN_MS ? timeout_ms / 10 : MARGIN_MS;
	struct wd_deadline deadline =
	    wd_deadline_in(server->clock, timeout_ms - margin);
	WD_CLEANUP(wd_buf_release) struct wd_buf question;
	enum wd_status st;

	wd_buf_init(&question, WD_MAX_REQUEST_MEMORY);
	st = call->row->pack != NULL ?
	    call->row->pack(call, &question, err) :
	    wd_wire_pack(call->request, &question, err);
	if (st != WD_OK)
		return st;
	call->timer = evtimer_new(server->base, on_deadline, call);
	if (call->timer == NULL || event_add(call->timer, &wait) != 0)
		return wd_fail(err, WD_NOMEM, "out of memory");
	return wd_observer_ask(server->observer, call->row->call,
	    wd_buf_slice(&question), &deadline, on_answer, call, &call->ticket,
	    err);
}

static enum wd_status
read_request(struct wd_open_call *call, struct wd_error *err)
{
	struct wd_slice body = wd_buf_slice(&call->connection->body);

	if (call->codec == WD_CONNECT_JSON)
		return wd_message_parse_json(call->row->request, body,
		    WD_MAX_REQUEST_MEMORY, &call->request, err);
	return wd_wire_unpack(call->row->request, body, WD_WIRE_REFUSE_UNKNOWN,
	    WD_MAX_REQUEST_MEMORY, &call->request, err);
}

static bool
take_rate(struct wd_open_call *call)
{
	struct wd_server *server = call->connection->server;
	struct wd_connect_failure failure;
	char retry[64];
	int64_t wait_s;

	if (!call->row->is_work ||
	    wd_rate_take(
		server->rate, call->client, call->started_boot_ns, &wait_s))
		return true;
	(void)snprintf(
	    retry, sizeof(retry), "Retry-After: %" PRId64 "\r\n", wait_s);
	wd_connect_fail(&failure, WD_CONNECT_RESOURCE_EXHAUSTED,
	    "more than %" PRIu32 " calls a minute; ask again in %" PRId64 " s",
	    server->limits.work_per_minute, wait_s);
	fail_call(call, &failure, retry);
	return false;
}

/* Whether the client may make the call at all. */
static bool
admit(struct wd_open_call *call)
{
	struct wd_connect_failure failure;
	struct wd_error err;

	wd_error_init(&err);
	if ((call->roles & WD_ROLE_READ) == 0) {
		wd_connect_fail(&failure, WD_CONNECT_PERMISSION_DENIED,
		    "no role of the agent's configuration names this "
		    "certificate");
		fail_call(call, &failure, "");
		return false;
	}
	if (!take_rate(call))
		return false;
	if (read_request(call, &err) != WD_OK) {
		fail_with(call, &err);
		return false;
	}
	if (call->row->admit == NULL || call->row->admit(call, &failure))
		return true;
	fail_call(call, &failure, "");
	return false;
}

static const char *
hint_of(int http_status)
{
	if (http_status == 415)
		return "Accept-Post: application/proto, application/json\r\n";
	return http_status == 501 ? "Accept-Encoding: identity\r\n" : "";
}

static int64_t
timeout_of(
    const struct wd_server *server, const struct wd_connect_call *headers)
{
	if (!headers->has_timeout)
		return server->limits.call_ms;
	return headers->timeout_ms < server->limits.call_most_ms ?
	    headers->timeout_ms :
	    server->limits.call_most_ms;
}

void
wd_call_start(struct wd_connection *connection, const struct wd_call_row *row)
{
	const struct wd_http_head *head = &connection->head;
	struct wd_connect_headers headers = {
		wd_http_value(head, WD_HTTP_CONTENT_TYPE),
		wd_http_value(head, WD_HTTP_CONTENT_ENCODING),
		wd_http_value(head, WD_HTTP_CONNECT_VERSION),
		wd_http_value(head, WD_HTTP_CONNECT_TIMEOUT),
	};
	struct wd_connect_failure failure;
	struct wd_connect_call read;
	struct wd_open_call *call = wd_calloc(1, sizeof(*call));
	struct wd_error err;

	wd_error_init(&err);
	if (call == NULL) {
		wd_connect_fail(
		    &failure, WD_CONNECT_RESOURCE_EXHAUSTED, "out of memory");
		wd_connection_fail(connection, &failure, "");
		return;
	}
	connection->call = call;
	call->connection = connection;
	call->row = row;
	call->started_boot_ns = wd_clock_boot_ns(connection->server->clock);
	call->roles = wd_connection_roles(connection, call->client);
	if (!wd_connect_read(&headers, &read, &failure)) {
		fail_call(call, &failure, hint_of(failure.http_status));
		return;
	}
	call->codec = read.codec;
	if (admit(call) &&
	    ask(call, timeout_of(connection->server, &read), &err) != WD_OK)
		fail_with(call, &err);
}
