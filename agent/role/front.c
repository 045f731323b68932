/*
 * The front process: the server before an observer that is another process.
 * It gets its settings and its listening sockets over the line, and opens no
 * file.
 */
#include <event2/event.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "role/front_line.h"
#include "role/parts.h"

/* The first settings are on their way when the process starts. */
#define START_MS 30000

struct front {
	int socket;
	struct event_base *base;
	struct wd_observer_remote *remote;
	struct wd_server *server;
	struct event *readable, *writable;
};

static void
end(int code)
{
	/* Nothing is to be saved, and memory goes with the process. */
	_exit(code);
}

/* ---- what the observer says ---------------------------------------------- */

static void
say_state(struct front *front, uint64_t id, enum wd_status st,
    const struct wd_error *why, int64_t ends_s)
{
	struct wd_frame frame;

	if (wd_state_frame(id, st, why, ends_s, &frame, NULL) == WD_OK)
		(void)!wd_observer_remote_say(front->remote, &frame, NULL);
	wd_frame_release(&frame);
}

static void
set_log(const struct wd_settings *settings)
{
	wd_log_init("weightd", (enum wd_log_level)settings->message->log_level);
	wd_log_style(settings->message->log_json ? WD_LOG_JSON : WD_LOG_TEXT);
}

static void
reload(struct front *front, const struct wd_frame *frame)
{
	struct wd_settings settings;
	struct wd_error err;
	enum wd_status st;
	int64_t ends_s = 0;

	wd_error_init(&err);
	st = wd_settings_take((struct wd_slice){ frame->data, frame->len },
	    &wd_clock_system, &settings, &err);
	if (st == WD_OK) {
		ends_s = wd_tls_ends_ns(settings.tls) / WD_NS_PER_SECOND;
		st = wd_server_reload(front->server, &settings.tls,
		    settings.rules, settings.rule_count, &err);
	}
	if (st == WD_OK)
		set_log(&settings);
	say_state(front, frame->id, st, &err, ends_s);
	wd_settings_release(&settings);
}

static void
on_drained(void *ctx)
{
	(void)ctx;
	end(0);
}

static enum wd_status
hear(void *ctx, struct wd_frame *frame, struct wd_error *err)
{
	struct front *front = ctx;
	struct wd_frame pong = wd_frame_init(WD_FRONT_PONG, frame->id);

	switch (frame->kind) {
	case WD_FRONT_SETTINGS:
		reload(front, frame);
		return WD_OK;
	case WD_FRONT_PING:
		return wd_observer_remote_say(front->remote, &pong, err);
	case WD_FRONT_DRAIN:
		wd_server_drain(
		    front->server, (uint32_t)frame->id, on_drained, front);
		return WD_OK;
	default:
		return wd_fail(
		    err, WD_MALFORMED, "the observer said something unknown");
	}
}

/* ---- the line in the loop ------------------------------------------------ */

static void
on_stuck(void *ctx)
{
	struct front *front = ctx;

	(void)event_add(front->writable, NULL);
}

static void
on_writable(evutil_socket_t fd, short events, void *ctx)
{
	struct front *front = ctx;

	(void)fd;
	(void)events;
	if (wd_observer_remote_flush(front->remote, NULL) == WD_OK &&
	    wd_observer_remote_waits(front->remote))
		(void)event_add(front->writable, NULL);
}

/* Without an observer there is nothing to serve. */
static void
on_readable(evutil_socket_t fd, short events, void *ctx)
{
	struct front *front = ctx;
	struct wd_error err;
	enum wd_status st;

	(void)fd;
	(void)events;
	wd_error_init(&err);
	st = wd_observer_remote_receive(front->remote, &err);
	if (st == WD_OK)
		return;
	if (st != WD_GONE)
		wd_log(WD_LOG_ERROR, "front: %s", err.message);
	end(st == WD_GONE ? 0 : 1);
}

/* ---- start --------------------------------------------------------------- */

static enum wd_status
make_remote(struct front *front, const struct wd_settings *settings,
    struct wd_error *err)
{
	struct wd_observer_remote_options options = { .socket = front->socket,
		.clock = &wd_clock_system,
		.open_questions = settings->message->open_questions,
		.frame_bytes = WD_MAX_SEAM_MESSAGE,
		.hear = hear,
		.stuck = on_stuck,
		.ctx = front };

	front->readable = event_new(front->base, front->socket,
	    EV_READ | EV_PERSIST, on_readable, front);
	front->writable =
	    event_new(front->base, front->socket, EV_WRITE, on_writable, front);
	if (front->readable == NULL || front->writable == NULL ||
	    event_add(front->readable, NULL) != 0)
		return wd_fail(err, WD_NOMEM, "out of memory");
	return wd_observer_remote_new(&options, &front->remote, err);
}

static enum wd_status
make_server(struct front *front, struct wd_settings *settings,
    struct wd_frame *frame, struct wd_error *err)
{
	struct wd_server_options options = { front->base, &wd_clock_system,
		wd_observer_remote_observer(front->remote), settings->limits };
	enum wd_status st;
	unsigned i;

	st = wd_server_new(&options, &settings->tls, settings->rules,
	    settings->rule_count, &front->server, err);
	for (i = 0; i < frame->fd_count && st == WD_OK; i++) {
		int fd = frame->fds[i];

		frame->fds[i] = -1;
		st = wd_server_listen(front->server, fd, err);
	}
	return st;
}

static enum wd_status
start(struct front *front, struct wd_frame *frame, int64_t *ends_s,
    struct wd_error *err)
{
	struct wd_settings settings;
	struct wd_slice bytes = { frame->data, frame->len };
	enum wd_status st =
	    wd_settings_take(bytes, &wd_clock_system, &settings, err);

	if (st == WD_OK) {
		set_log(&settings);
		*ends_s = wd_tls_ends_ns(settings.tls) / WD_NS_PER_SECOND;
		st = make_remote(front, &settings, err);
	}
	if (st == WD_OK)
		st = make_server(front, &settings, frame, err);
	wd_settings_release(&settings);
	return st;
}

/* The observer ends a front that could not start, and says why. */
static int
fail_start(
    int socket, uint64_t id, enum wd_status st, const struct wd_error *why)
{
	struct wd_deadline deadline =
	    wd_deadline_in(&wd_clock_system, START_MS);
	struct wd_frame frame;

	if (wd_state_frame(id, st, why, 0, &frame, NULL) == WD_OK)
		(void)!wd_frame_send(socket, &frame, &deadline, NULL);
	wd_frame_release(&frame);
	return 1;
}

int
wd_front_run(int socket)
{
	struct front front = { .socket = socket };
	struct wd_deadline deadline =
	    wd_deadline_in(&wd_clock_system, START_MS);
	struct wd_frame frame;
	struct wd_error err;
	int64_t ends_s = 0;
	enum wd_status st;

	wd_error_init(&err);
	front.base = event_base_new();
	if (front.base == NULL ||
	    wd_frame_receive(
		socket, WD_MAX_SEAM_MESSAGE, &deadline, &frame, &err) != WD_OK)
		return 1;
	st = frame.kind == WD_FRONT_SETTINGS ?
	    start(&front, &frame, &ends_s, &err) :
	    wd_fail(&err, WD_MALFORMED, "no settings came");
	if (st != WD_OK) {
		int code = fail_start(socket, frame.id, st, &err);

		wd_frame_release(&frame);
		end(code);
	}
	say_state(&front, frame.id, WD_OK, NULL, ends_s);
	wd_frame_release(&frame);
	(void)event_base_dispatch(front.base);
	end(1);
	return 1;
}
