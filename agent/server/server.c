#include "server/server.h"

#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "server/parts.h"

/* Without a descriptor, accept fails at once and for ever; the loop would
 * spin on it. */
#define ACCEPT_PAUSE_MS 100

struct wd_server_limits
wd_server_limits_default(void)
{
	return (struct wd_server_limits){ .connections = 256,
		.connections_per_peer = 32,
		.work_per_minute = 120,
		.handshake_ms = 10000,
		.request_ms = 10000,
		.idle_ms = 120000,
		.reply_ms = 30000,
		.call_ms = 30000,
		.call_most_ms = 900000 };
}

static struct timeval
span(uint32_t ms)
{
	return (struct timeval){ .tv_sec = ms / 1000,
		.tv_usec = (suseconds_t)(ms % 1000) * 1000 };
}

/* ---- rules --------------------------------------------------------------- */

static void
free_rules(struct wd_rules *rules)
{
	size_t i;

	for (i = 0; i < rules->count; i++) {
		/* Copies of ours behind a const pointer. */
		char *name;

		memcpy(&name, &rules->items[i].name, sizeof(name));
		wd_free(name);
	}
	wd_free(rules->items);
	*rules = (struct wd_rules){ NULL, 0 };
}

static enum wd_status
copy_rules(const struct wd_role_rule *items, size_t count,
    struct wd_rules *rules, struct wd_error *err)
{
	enum wd_status st = wd_roles_check(items, count, err);

	*rules = (struct wd_rules){ NULL, 0 };
	if (st != WD_OK)
		return st;
	rules->items = wd_calloc(count, sizeof(*rules->items));
	if (rules->items == NULL)
		return wd_fail(err, WD_NOMEM, "out of memory");
	for (; rules->count < count; rules->count++) {
		struct wd_role_rule *rule = &rules->items[rules->count];

		rule->roles = items[rules->count].roles;
		rule->name = wd_strdup(items[rules->count].name);
		if (rule->name == NULL) {
			free_rules(rules);
			return wd_fail(err, WD_NOMEM, "out of memory");
		}
	}
	return WD_OK;
}

enum wd_status
wd_server_reload(struct wd_server *server, struct wd_tls **tls,
    const struct wd_role_rule *rules, size_t rule_count, struct wd_error *err)
{
	WD_CLEANUP(wd_tls_free) struct wd_tls *fresh = wd_steal(tls);
	struct wd_rules copied;
	enum wd_status st = copy_rules(rules, rule_count, &copied, err);

	if (st != WD_OK)
		return st;
	free_rules(&server->rules);
	server->rules = copied;
	wd_tls_free(&server->tls);
	server->tls = wd_steal(&fresh);
	return WD_OK;
}

/* ---- accepting ----------------------------------------------------------- */

static void
set_accepting(struct wd_server *server, bool on)
{
	size_t i;

	for (i = 0; i < server->listener_count; i++)
		(void)(on ? evconnlistener_enable(server->listeners[i]) :
			    evconnlistener_disable(server->listeners[i]));
}

static void
on_accept_again(evutil_socket_t fd, short events, void *ctx)
{
	struct wd_server *server = ctx;

	(void)fd;
	(void)events;
	if (!server->is_draining)
		set_accepting(server, true);
}

static void
on_accept_error(struct evconnlistener *listener, void *ctx)
{
	struct wd_server *server = ctx;
	struct timeval pause = span(ACCEPT_PAUSE_MS);

	(void)listener;
	server->metrics.accepts[WD_ACCEPT_FAILED]++;
	set_accepting(server, false);
	(void)event_add(server->accept_again, &pause);
}

/* IPv4 as mapped IPv6, so that one address has one form. */
static void
peer_of(const struct sockaddr *address, struct in6_addr *peer)
{
	struct sockaddr_in6 v6;
	struct sockaddr_in v4;

	memset(peer, 0, sizeof(*peer));
	if (address->sa_family == AF_INET6) {
		memcpy(&v6, address, sizeof(v6));
		*peer = v6.sin6_addr;
	} else if (address->sa_family == AF_INET) {
		memcpy(&v4, address, sizeof(v4));
		peer->s6_addr[10] = peer->s6_addr[11] = 0xff;
		memcpy(&peer->s6_addr[12], &v4.sin_addr, 4);
	}
}

static size_t
count_of_peer(const struct wd_server *server, const struct in6_addr *peer)
{
	const struct wd_connection *c;
	size_t count = 0;

	for (c = server->connections; c != NULL; c = c->next)
		if (memcmp(&c->peer, peer, sizeof(*peer)) == 0)
			count++;
	return count;
}

static enum wd_accept_result
may_come_in(const struct wd_server *server, const struct in6_addr *peer)
{
	if (server->connection_count >= server->limits.connections)
		return WD_ACCEPT_FULL;
	if (count_of_peer(server, peer) >= server->limits.connections_per_peer)
		return WD_ACCEPT_PEER_FULL;
	return WD_ACCEPT_TAKEN;
}

/* Who is not let in is closed at once and fails at once, before any work is
 * done for it. */
static void
on_accept(struct evconnlistener *listener, evutil_socket_t fd,
    struct sockaddr *address, int len, void *ctx)
{
	struct wd_server *server = ctx;
	struct in6_addr peer;
	enum wd_accept_result result;

	(void)listener;
	(void)len;
	peer_of(address, &peer);
	result = may_come_in(server, &peer);
	if (result != WD_ACCEPT_TAKEN)
		(void)close(fd);
	else if (wd_connection_new(server, fd, &peer, NULL) != WD_OK)
		result = WD_ACCEPT_FAILED;
	server->metrics.accepts[result]++;
}

enum wd_status
wd_server_listen(struct wd_server *server, int fd, struct wd_error *err)
{
	struct evconnlistener *listener = NULL;

	if (server->listener_count < WD_MAX_LISTENERS_OF_OURS)
		listener = evconnlistener_new(server->base, on_accept, server,
		    LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
	if (listener == NULL) {
		(void)close(fd);
		return wd_fail(err, WD_NOMEM, "no memory to listen with");
	}
	evconnlistener_set_error_cb(listener, on_accept_error);
	server->listeners[server->listener_count++] = listener;
	return WD_OK;
}

/* ---- life ---------------------------------------------------------------- */

static void
end_drain(struct wd_server *server)
{
	void (*drained)(void *ctx) = server->drained;

	server->drained = NULL;
	if (drained != NULL)
		drained(server->drained_ctx);
}

static void
on_drain_end(evutil_socket_t fd, short events, void *ctx)
{
	struct wd_server *server = ctx;

	(void)fd;
	(void)events;
	while (server->connections != NULL)
		wd_connection_free(server->connections);
	end_drain(server);
}

void
wd_server_gone(struct wd_server *server, struct wd_connection *connection)
{
	struct timeval now = { 0, 0 };

	if (connection->previous != NULL)
		connection->previous->next = connection->next;
	else
		server->connections = connection->next;
	if (connection->next != NULL)
		connection->next->previous = connection->previous;
	server->connection_count--;
	/* From the loop, never from within whoever closed it. */
	if (server->is_draining && server->connection_count == 0)
		(void)event_add(server->drain_end, &now);
}

void
wd_server_drain(struct wd_server *server, uint32_t grace_ms,
    void (*done)(void *ctx), void *ctx)
{
	struct timeval grace = span(grace_ms);
	struct wd_connection *c, *next;

	server->is_draining = true;
	server->drained = done;
	server->drained_ctx = ctx;
	set_accepting(server, false);
	if (server->connection_count == 0)
		grace = span(0);
	(void)event_add(server->drain_end, &grace);
	for (c = server->connections; c != NULL; c = next) {
		next = c->next;
		wd_connection_drain(c);
	}
}

size_t
wd_server_connections(const struct wd_server *server)
{
	return server->connection_count;
}

enum wd_status
wd_server_new(const struct wd_server_options *options, struct wd_tls **tls,
    const struct wd_role_rule *rules, size_t rule_count,
    struct wd_server **server, struct wd_error *err)
{
	WD_CLEANUP(wd_tls_free) struct wd_tls *own = wd_steal(tls);
	WD_CLEANUP(wd_server_free)
	struct wd_server *made = wd_calloc(1, sizeof(*made));
	enum wd_status st;

	if (made == NULL)
		return wd_fail(err, WD_NOMEM, "out of memory");
	made->base = options->base;
	made->clock = options->clock;
	made->observer = options->observer;
	made->limits = options->limits;
	if ((st = copy_rules(rules, rule_count, &made->rules, err)) != WD_OK ||
	    (st = wd_rate_new(
		 options->limits.work_per_minute, &made->rate, err)) != WD_OK)
		return st;
	made->accept_again = evtimer_new(made->base, on_accept_again, made);
	made->drain_end = evtimer_new(made->base, on_drain_end, made);
	if (made->accept_again == NULL || made->drain_end == NULL)
		return wd_fail(err, WD_NOMEM, "out of memory");
	made->tls = wd_steal(&own);
	*server = wd_steal(&made);
	return WD_OK;
}

void
wd_server_free(struct wd_server **server)
{
	struct wd_server *s = *server;
	size_t i;

	*server = NULL;
	if (s == NULL)
		return;
	s->is_draining = false;
	while (s->connections != NULL)
		wd_connection_free(s->connections);
	for (i = 0; i < s->listener_count; i++)
		evconnlistener_free(s->listeners[i]);
	if (s->accept_again != NULL)
		event_free(s->accept_again);
	if (s->drain_end != NULL)
		event_free(s->drain_end);
	wd_rate_free(&s->rate);
	free_rules(&s->rules);
	wd_tls_free(&s->tls);
	wd_free(s);
}
