#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "server/parts.h"

static void
send_text(struct wd_connection *connection, int status, const char *type,
    struct wd_slice text)
{
	struct wd_reply reply = { .status = status,
		.content_type = type,
		.headers = "",
		.body = text };

	wd_connection_reply(connection, &reply);
}

static void
send_failure(struct wd_connection *connection, enum wd_connect_code code,
    int status, const char *headers, const char *why)
{
	struct wd_connect_failure failure;

	wd_connect_fail(&failure, code, "%s", why);
	if (status != 0)
		failure.http_status = status;
	wd_connection_fail(connection, &failure, headers);
}

/* For load balancers and people: the text is for people. */
static void
send_health(struct wd_connection *connection)
{
	bool is_ready = wd_observer_is_ready(connection->server->observer) &&
	    !connection->server->is_draining;

	send_text(connection, is_ready ? 200 : 503, "text/plain",
	    wd_slice_text(is_ready ? "ok\n" : "not ready\n"));
}

static void
send_metrics(struct wd_connection *connection)
{
	struct wd_server *server = connection->server;
	struct wd_metrics_now now = {
		.connections = server->connection_count,
		.is_ready = wd_observer_is_ready(server->observer),
		.certificate_ends_ns = wd_tls_ends_ns(server->tls),
	};
	WD_CLEANUP(wd_buf_release) struct wd_buf page;

	wd_buf_init(&page, WD_MAX_REQUEST_MEMORY);
	if (wd_metrics_print(&server->metrics, &now, &page) == WD_OK)
		send_text(connection, 200,
		    "text/plain; version=0.0.4; charset=utf-8",
		    wd_buf_slice(&page));
	else
		send_failure(connection, WD_CONNECT_RESOURCE_EXHAUSTED, 503, "",
		    "out of memory");
}

static void
start_get(struct wd_connection *connection,
    void (*send)(struct wd_connection *connection))
{
	char client[WD_TLS_MAX_NAME];

	if (connection->head.method != WD_HTTP_GET)
		send_failure(connection, WD_CONNECT_UNIMPLEMENTED, 405,
		    "Allow: GET\r\n", "only GET is possible here");
	else if ((wd_connection_roles(connection, client) & WD_ROLE_READ) == 0)
		send_failure(connection, WD_CONNECT_PERMISSION_DENIED, 0, "",
		    "no role of the agent's configuration names this "
		    "certificate");
	else
		send(connection);
}

void
wd_pages_start(struct wd_connection *connection)
{
	const char *path = connection->head.path;
	const struct wd_call_row *row = wd_call_row_of(path);

	if (strcmp(path, "/healthz") == 0)
		start_get(connection, send_health);
	else if (strcmp(path, "/metrics") == 0)
		start_get(connection, send_metrics);
	else if (row == NULL)
		send_failure(connection, WD_CONNECT_UNIMPLEMENTED, 404, "",
		    "no such path; the calls are below "
		    "/weightd.v1.AttestationService/");
	else if (connection->head.method != WD_HTTP_POST)
		send_failure(connection, WD_CONNECT_UNIMPLEMENTED, 405,
		    "Allow: POST\r\n", "only POST is possible here");
	else
		wd_call_start(connection, row);
}
