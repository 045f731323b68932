/* Connections between two calls. Handshakes are what calls cost most. */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <string.h>

#include "api/parts.h"
#include "base/limits.h"
#include "base/mem.h"

void
wd_api_stream_close(struct bufferevent *stream)
{
	struct ssl_st *session = bufferevent_openssl_get_ssl(stream);

	if (session != NULL)
		wd_tls_goodbye(session);
	bufferevent_free(stream);
}

/* Takes it off the list; its stream is the caller's. */
static struct bufferevent *
take_off(struct wd_api_idle *idle)
{
	struct wd_api_idle **at = &idle->loop->idle;
	struct bufferevent *stream = idle->stream;

	while (*at != idle)
		at = &(*at)->next;
	*at = idle->next;
	idle->loop->idle_count--;
	wd_free(idle);
	return stream;
}

/* Nobody was asked anything: what comes now is the end, or nonsense. A
 * callback that libevent had put off finds nothing. */
static void
on_readable(struct bufferevent *stream, void *ctx)
{
	if (evbuffer_get_length(bufferevent_get_input(stream)) > 0)
		wd_api_stream_close(take_off(ctx));
}

static void
on_event(struct bufferevent *stream, short events, void *ctx)
{
	(void)stream;
	(void)events;
	wd_api_stream_close(take_off(ctx));
}

void
wd_api_idle_keep(struct wd_api_loop *loop, const struct wd_target *agent,
    struct bufferevent *stream)
{
	struct wd_api_idle *idle = loop->idle_count < WD_MAX_IDLE_CONNECTIONS ?
	    wd_calloc(1, sizeof(*idle)) :
	    NULL;

	if (idle == NULL) {
		wd_api_stream_close(stream);
		return;
	}
	*idle = (struct wd_api_idle){ loop->idle, loop, *agent, stream };
	loop->idle = idle;
	loop->idle_count++;
	bufferevent_setcb(stream, on_readable, NULL, on_event, idle);
}

struct bufferevent *
wd_api_idle_take(struct wd_api_loop *loop, const struct wd_target *agent)
{
	struct wd_api_idle *idle;

	for (idle = loop->idle; idle != NULL; idle = idle->next)
		if (idle->agent.port == agent->port &&
		    strcmp(idle->agent.host, agent->host) == 0)
			return take_off(idle);
	return NULL;
}

void
wd_api_idle_close_all(struct wd_api_loop *loop)
{
	while (loop->idle != NULL)
		wd_api_stream_close(take_off(loop->idle));
}
