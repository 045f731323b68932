#include "role/service.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "host/system.h"
#include "role/notify.h"
#include "role/service_parts.h"
#include "role/state_dir.h"

#define EXIT_START 1
#define EXIT_CONFIG 2

/* Beyond the grace of a drain, which the front keeps by itself. */
#define DRAIN_MARGIN_MS 2000
/* A look that hangs in the system must not keep the service from ending. */
#define END_SECONDS 5

static struct timeval
span(uint64_t us)
{
	return (struct timeval){ .tv_sec = (time_t)(us / 1000000),
		.tv_usec = (suseconds_t)(us % 1000000) };
}

/* ---- what the service manager is told ------------------------------------ */

static void
tell(const char *lines)
{
	struct wd_error err;

	wd_error_init(&err);
	if (wd_notify(lines, &err) != WD_OK)
		wd_log(WD_LOG_WARNING, "%s", err.message);
}

void
wd_service_moved(struct wd_service *service)
{
	if (service->is_ending)
		return;
	if (!service->told_ready && service->front_works &&
	    service->desk_works) {
		service->told_ready = true;
		tell("READY=1\nSTATUS=answering");
		wd_log(WD_LOG_INFO, "ready");
	}
	if (service->told_ready && service->is_reloading &&
	    service->asked_id == 0) {
		service->is_reloading = false;
		tell("READY=1\nSTATUS=answering");
	}
	if (service->pong_counts && service->desk_counts) {
		service->pong_counts = service->desk_counts = false;
		if (wd_notify_watchdog_us() != 0)
			tell("WATCHDOG=1");
	}
}

/* ---- timers -------------------------------------------------------------- */

static void
on_tick(evutil_socket_t fd, short events, void *ctx)
{
	struct wd_service *service = ctx;

	(void)fd;
	(void)events;
	wd_service_look_at_files(service);
	wd_service_front_ping(service);
	if (!service->desk_works)
		wd_service_desk_ask(service);
}

static void
on_watchdog(evutil_socket_t fd, short events, void *ctx)
{
	struct wd_service *service = ctx;

	(void)fd;
	(void)events;
	service->pong_counts = service->desk_counts = false;
	wd_service_front_ping(service);
	wd_service_desk_ask(service);
}

static struct event *
add_timer(struct wd_service *service, event_callback_fn callback, uint64_t us)
{
	struct timeval wait = span(us);
	struct event *timer =
	    event_new(service->base, -1, EV_PERSIST, callback, service);

	if (timer != NULL && event_add(timer, &wait) != 0) {
		event_free(timer);
		timer = NULL;
	}
	return timer;
}

static enum wd_status
start_timers(struct wd_service *service, struct wd_error *err)
{
	uint64_t watchdog_us = wd_notify_watchdog_us();

	service->tick = add_timer(
	    service, on_tick, (uint64_t)service->config->check_ms * 1000);
	if (watchdog_us != 0)
		service->watchdog =
		    add_timer(service, on_watchdog, watchdog_us / 2);
	if (service->tick == NULL ||
	    (watchdog_us != 0 && service->watchdog == NULL))
		return wd_fail(err, WD_NOMEM, "out of memory");
	return WD_OK;
}

/* ---- the end ------------------------------------------------------------- */

void
wd_service_end(struct wd_service *service, int code)
{
	service->code = code;
	service->is_ending = true;
	(void)event_base_loopbreak(service->base);
}

static void
on_drain_end(evutil_socket_t fd, short events, void *ctx)
{
	struct wd_service *service = ctx;

	(void)fd;
	(void)events;
	wd_service_end(service, 0);
}

/* The first one drains, the second one ends at once. */
static void
on_end(evutil_socket_t number, short events, void *ctx)
{
	struct wd_service *service = ctx;
	struct timeval wait = span(
	    ((uint64_t)service->config->drain_ms + DRAIN_MARGIN_MS) * 1000);

	(void)number;
	(void)events;
	if (service->is_ending) {
		wd_service_end(service, 0);
		return;
	}
	service->is_ending = true;
	tell("STOPPING=1\nSTATUS=ending");
	wd_log(WD_LOG_INFO, "ending");
	wd_child_let_go(service->front);
	wd_child_let_go(service->reader);
	service->drain_end = evtimer_new(service->base, on_drain_end, service);
	if (service->drain_end == NULL || !wd_service_front_drain(service))
		wd_service_end(service, 0);
	else
		(void)event_add(service->drain_end, &wait);
}

static void
on_reload(evutil_socket_t number, short events, void *ctx)
{
	struct wd_service *service = ctx;

	(void)number;
	(void)events;
	if (!service->is_ending)
		wd_service_reload(service);
}

static void
on_child(evutil_socket_t number, short events, void *ctx)
{
	struct wd_service *service = ctx;

	(void)number;
	(void)events;
	if (service->front != NULL)
		wd_child_reap(service->front);
	if (service->reader != NULL)
		wd_child_reap(service->reader);
}

static enum wd_status
hear_signals(struct wd_service *service, struct wd_error *err)
{
	static const struct {
		int number;
		event_callback_fn callback;
	} rows[] = { { SIGTERM, on_end }, { SIGINT, on_end },
		{ SIGHUP, on_reload }, { SIGCHLD, on_child } };
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		service->signals[i] = evsignal_new(
		    service->base, rows[i].number, rows[i].callback, service);
		if (service->signals[i] == NULL ||
		    event_add(service->signals[i], NULL) != 0)
			return wd_fail(err, WD_NOMEM, "out of memory");
	}
	return WD_OK;
}

/* ---- start --------------------------------------------------------------- */

static enum wd_status
open_state(struct wd_service *service, struct wd_error *err)
{
	WD_CLEANUP(wd_free_scoped) char *folder = NULL;
	struct wd_error trouble;
	enum wd_status st;

	folder = service->config->state_dir != NULL ?
	    wd_strdup(service->config->state_dir) :
	    wd_host_state_folder();
	if (folder == NULL)
		return wd_fail(err, WD_INVALID,
		    "there is no folder for the state; set state_dir");
	st = wd_state_dir_open(folder, err);
	if (st == WD_OK)
		st = wd_store_open(folder, &service->store, err);
	if (st != WD_OK)
		return st;
	wd_error_init(&trouble);
	if (wd_store_state(service->store, &trouble) != WD_OK)
		wd_log(WD_LOG_WARNING, "%s", trouble.message);
	return WD_OK;
}

/* With the rights that the observer was started with. */
static enum wd_status
prepare(struct wd_service *service, struct wd_error *err)
{
	enum wd_status st =
	    wd_config_load(service->config_path, &service->config, err);

	if (st != WD_OK)
		return st;
	wd_log_init("weightd", (enum wd_log_level)service->config->log_level);
	wd_log_style((enum wd_log_style)service->config->log_style);
	st = wd_users_find(service->config, &service->users, err);
	if (st == WD_OK)
		st = wd_sockets_open(service->config, &service->sockets, err);
	return st == WD_OK ? wd_confine_observer(err) : st;
}

static enum wd_status
start(struct wd_service *service, struct wd_error *err)
{
	enum wd_status st = open_state(service, err);

	if (st == WD_OK)
		st = wd_service_settings_first(service, err);
	if (st != WD_OK)
		return st;
	service->base = event_base_new();
	if (service->base == NULL)
		return wd_fail(err, WD_NOMEM, "out of memory");
	st = hear_signals(service, err);
	if (st == WD_OK)
		st = wd_service_desk_new(service, err);
	if (st == WD_OK)
		st = wd_service_front_new(service, err);
	if (st == WD_OK)
		st = start_timers(service, err);
	if (st == WD_OK)
		wd_service_desk_ask(service);
	return st;
}

static void
say_listening(const struct wd_service *service)
{
	char text[WD_SOCKET_TEXT];
	unsigned i;

	for (i = 0; i < service->sockets.count; i++)
		wd_log(WD_LOG_INFO, "listening on %s%s",
		    wd_socket_text(service->sockets.fds[i], text),
		    service->sockets.are_given ? ", given by systemd" : "");
}

static void
free_event(struct event *event)
{
	if (event != NULL)
		event_free(event);
}

/* ends(3) whatever still waits. */
static void
on_alarm(int number)
{
	(void)number;
	_exit(0);
}

static void
stop(struct wd_service *service)
{
	size_t i;

	(void)signal(SIGALRM, on_alarm);
	(void)alarm(END_SECONDS);
	service->is_ending = true;
	wd_service_front_free(service);
	wd_service_desk_free(service);
	wd_service_settings_release(service);
	free_event(service->tick);
	free_event(service->watchdog);
	free_event(service->drain_end);
	for (i = 0; i < sizeof(service->signals) / sizeof(service->signals[0]);
	     i++)
		free_event(service->signals[i]);
	wd_store_free(&service->store);
	wd_sockets_close(&service->sockets);
	if (service->base != NULL)
		event_base_free(service->base);
	wd_config_free(&service->config);
}

static int
code_of(enum wd_status st)
{
	return st == WD_INVALID || st == WD_MALFORMED ? EXIT_CONFIG :
							EXIT_START;
}

int
wd_service_run(const char *config_path)
{
	struct wd_service service;
	struct wd_error err;
	enum wd_status st;

	memset(&service, 0, sizeof(service));
	service.config_path = config_path;
	wd_error_init(&err);
	/* A read lease that is broken while we hold it sends SIGIO, whose
	 * default ends the process. */
	(void)signal(SIGIO, SIG_IGN);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	wd_notify_init();
	st = prepare(&service, &err);
	if (st == WD_OK)
		st = start(&service, &err);
	if (st == WD_OK) {
		say_listening(&service);
		(void)event_base_dispatch(service.base);
	} else {
		wd_log(WD_LOG_ERROR, "%s", err.message);
		service.code = code_of(st);
	}
	stop(&service);
	return service.code;
}
