#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "role/service_parts.h"

/* Within which a front answers, whatever it does: nothing in it waits. */
#define PONG_SECONDS 10

/* ---- what the front says ------------------------------------------------- */

static enum wd_status
hear(void *ctx, struct wd_frame *frame, struct wd_error *err)
{
	struct wd_service *service = ctx;

	if (frame->kind == WD_FRONT_STATE)
		return wd_service_settings_state(service, frame, err);
	if (frame->kind != WD_FRONT_PONG || frame->id != service->ping_id)
		return wd_fail(
		    err, WD_MALFORMED, "the front said something unknown");
	(void)event_del(service->hang);
	service->pong_counts = true;
	wd_service_moved(service);
	return WD_OK;
}

static void
on_hang(evutil_socket_t fd, short events, void *ctx)
{
	struct wd_service *service = ctx;

	(void)fd;
	(void)events;
	wd_child_give_up(service->front, "it does not answer");
}

void
wd_service_front_ping(struct wd_service *service)
{
	struct timeval wait = { PONG_SECONDS, 0 };
	struct wd_frame ping;

	if (service->serve == NULL || !service->front_works ||
	    event_pending(service->hang, EV_TIMEOUT, NULL) != 0)
		return;
	ping = wd_frame_init(WD_FRONT_PING, ++service->ping_id);
	(void)event_add(service->hang, &wait);
	/* What does not go out has no answer either. */
	(void)!wd_observer_serve_say(service->serve, &ping, NULL);
}

/* ---- the line in the loop ------------------------------------------------ */

static void
on_stuck(void *ctx)
{
	struct wd_service *service = ctx;

	(void)event_add(service->front_writable, NULL);
}

static void
on_writable(evutil_socket_t fd, short events, void *ctx)
{
	struct wd_service *service = ctx;

	(void)fd;
	(void)events;
	if (wd_observer_serve_flush(service->serve, NULL) == WD_OK &&
	    wd_observer_serve_waits(service->serve))
		(void)event_add(service->front_writable, NULL);
}

static void
on_readable(evutil_socket_t fd, short events, void *ctx)
{
	struct wd_service *service = ctx;
	struct wd_error err;
	enum wd_status st;

	(void)fd;
	(void)events;
	wd_error_init(&err);
	st = wd_observer_serve_receive(service->serve, &err);
	if (st == WD_OK)
		return;
	if (st == WD_GONE) {
		(void)event_del(service->front_readable);
		wd_child_hung_up(service->front);
		return;
	}
	wd_child_give_up(service->front, err.message);
}

static void
drop_event(struct event **event)
{
	if (*event != NULL)
		event_free(*event);
	*event = NULL;
}

static void
ended(void *ctx)
{
	struct wd_service *service = ctx;

	drop_event(&service->front_readable);
	drop_event(&service->front_writable);
	(void)event_del(service->hang);
	wd_observer_serve_free(&service->serve);
	service->front_works = false;
	wd_service_settings_lost(service);
	if (service->is_ending)
		wd_service_end(service, service->code);
}

static enum wd_status
add_line(struct wd_service *service, int socket, struct wd_error *err)
{
	struct wd_observer_serve_options options = { .socket = socket,
		.observer = wd_desk_observer(service->desk),
		.clock = &wd_clock_system,
		.open_questions = service->config->open_questions,
		.hear = hear,
		.stuck = on_stuck,
		.ctx = service };

	service->front_readable = event_new(
	    service->base, socket, EV_READ | EV_PERSIST, on_readable, service);
	service->front_writable =
	    event_new(service->base, socket, EV_WRITE, on_writable, service);
	if (service->front_readable == NULL ||
	    service->front_writable == NULL ||
	    event_add(service->front_readable, NULL) != 0)
		return wd_fail(err, WD_NOMEM, "out of memory");
	return wd_observer_serve_new(&options, &service->serve, err);
}

static enum wd_status
started(void *ctx, int socket, struct wd_error *err)
{
	struct wd_service *service = ctx;
	enum wd_status st = add_line(service, socket, err);

	if (st == WD_OK)
		st = wd_service_front_tell(
		    service, &service->good, service->good_id, true, err);
	return st;
}

/* ---- what it is told ----------------------------------------------------- */

static enum wd_status
add_sockets(const struct wd_service *service, struct wd_frame *frame,
    struct wd_error *err)
{
	unsigned i;

	for (i = 0; i < service->sockets.count; i++) {
		int fd = fcntl(service->sockets.fds[i], F_DUPFD_CLOEXEC, 0);

		if (fd < 0)
			return wd_fail_errno(err, errno, "no descriptor");
		frame->fds[frame->fd_count++] = fd;
	}
	return WD_OK;
}

enum wd_status
wd_service_front_tell(struct wd_service *service, const struct wd_buf *settings,
    uint64_t id, bool with_sockets, struct wd_error *err)
{
	struct wd_frame frame = wd_frame_init(WD_FRONT_SETTINGS, id);
	enum wd_status st = WD_OK;

	frame.data = (uint8_t *)wd_memdup0(settings->data, settings->len);
	frame.len = settings->len;
	if (frame.data == NULL)
		return wd_fail(err, WD_NOMEM, "out of memory");
	if (with_sockets)
		st = add_sockets(service, &frame, err);
	if (st != WD_OK) {
		wd_frame_release(&frame);
		return st;
	}
	return wd_observer_serve_say(service->serve, &frame, err);
}

bool
wd_service_front_drain(struct wd_service *service)
{
	struct wd_frame drain =
	    wd_frame_init(WD_FRONT_DRAIN, service->config->drain_ms);

	return service->serve != NULL && service->front_works &&
	    wd_observer_serve_say(service->serve, &drain, NULL) == WD_OK;
}

void
wd_service_front_ready(struct wd_service *service)
{
	if (service->serve != NULL && service->front_works)
		(void)!wd_observer_serve_ready(service->serve, NULL);
}

/* ---- life ---------------------------------------------------------------- */

enum wd_status
wd_service_front_new(struct wd_service *service, struct wd_error *err)
{
	struct wd_child_options options = { .part = WD_PART_FRONT,
		.confinement = { service->users.front, wd_can_see_hidden() },
		.base = service->base,
		.clock = &wd_clock_system,
		.started = started,
		.ended = ended,
		.ctx = service };
	enum wd_status st;

	service->hang = evtimer_new(service->base, on_hang, service);
	if (service->hang == NULL)
		return wd_fail(err, WD_NOMEM, "out of memory");
	st = wd_child_new(&options, &service->front, err);
	return st == WD_OK ? wd_child_start(service->front, err) : st;
}

void
wd_service_front_free(struct wd_service *service)
{
	wd_child_free(&service->front);
	drop_event(&service->hang);
}
