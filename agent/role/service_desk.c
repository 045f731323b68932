#include "base/log.h"
#include "base/mem.h"
#include "host/system.h"
#include "role/service_parts.h"

/* What a look at the whole host may take; longer is hung. */
#define SIGN_OF_LIFE_MS 20000

/* ---- what the desk needs ------------------------------------------------- */

static enum wd_status
new_host(void *ctx, struct wd_host **host, struct wd_error *err)
{
	const struct wd_service *service = ctx;

	return wd_host_system(service->config->pid_namespace_is_all, host, err);
}

static enum wd_status
new_reader(void *ctx, struct wd_reader **reader, struct wd_error *err)
{
	struct wd_service *service = ctx;
	struct wd_reader_lines lines = wd_readers_lines(service->readers);

	return wd_reader_over_lines(&lines, &wd_clock_system, reader, err);
}

/* ---- the reader ---------------------------------------------------------- */

static enum wd_status
reader_started(void *ctx, int socket, struct wd_error *err)
{
	struct wd_service *service = ctx;

	(void)err;
	wd_readers_use(service->readers, socket);
	return WD_OK;
}

static void
reader_ended(void *ctx)
{
	struct wd_service *service = ctx;

	wd_readers_use(service->readers, -1);
}

static void
on_reader_wake(evutil_socket_t fd, short events, void *ctx)
{
	struct wd_service *service = ctx;

	(void)fd;
	(void)events;
	if (wd_readers_given_up(service->readers))
		wd_child_give_up(service->reader,
		    "it hung or broke the protocol; a file system may hang");
}

/* ---- signs of life ------------------------------------------------------- */

static void
on_sign(void *ctx, enum wd_status status, struct wd_slice answer,
    const struct wd_error *err)
{
	struct wd_service *service = ctx;

	(void)answer;
	service->desk_ticket = 0;
	if (status != WD_OK) {
		wd_log(WD_LOG_ERROR, "the self-test failed: %s", err->message);
		return;
	}
	service->desk_works = service->desk_counts = true;
	wd_service_moved(service);
}

void
wd_service_desk_ask(struct wd_service *service)
{
	struct wd_slice nothing = { NULL, 0 };
	struct wd_deadline deadline =
	    wd_deadline_in(&wd_clock_system, SIGN_OF_LIFE_MS);
	struct wd_error err;
	enum wd_status st;

	if (service->desk_ticket != 0)
		return;
	wd_error_init(&err);
	/* The self-test looks at the host once; later the threads' lives are
	 * in question, and a look for its own sake would cost. */
	st = wd_observer_ask(wd_desk_observer(service->desk),
	    service->desk_works ? WD_CALL_SIGN_OF_LIFE : WD_CALL_GET_HOST,
	    nothing, &deadline, on_sign, service, &service->desk_ticket, &err);
	if (st != WD_OK)
		on_sign(service, st, nothing, &err);
}

static void
on_desk_wake(evutil_socket_t fd, short events, void *ctx)
{
	struct wd_service *service = ctx;

	(void)fd;
	(void)events;
	wd_desk_deliver(service->desk);
	wd_service_front_ready(service);
}

/* ---- life ---------------------------------------------------------------- */

static enum wd_status
start_desk(struct wd_service *service, struct wd_error *err)
{
	const struct wd_config *config = service->config;
	struct wd_desk_options options = { .clock = &wd_clock_system,
		.store = service->store,
		.new_host = new_host,
		.new_reader = new_reader,
		.ctx = service,
		.answerers = config->look_threads,
		.hashers = config->digest_threads,
		/* The front's, and one of our own. */
		.open_questions = config->open_questions + 1,
		.hash_bytes_per_second = config->digest_bytes_per_second,
		.model_roots = (const char *const *)config->model_roots.items,
		.model_root_count = config->model_roots.count };
	enum wd_status st = wd_desk_start(&options, &service->desk, err);

	if (st != WD_OK)
		return st;
	service->desk_wake =
	    event_new(service->base, wd_desk_wake_fd(service->desk),
		EV_READ | EV_PERSIST, on_desk_wake, service);
	if (service->desk_wake == NULL ||
	    event_add(service->desk_wake, NULL) != 0)
		return wd_fail(err, WD_NOMEM, "out of memory");
	return WD_OK;
}

static enum wd_status
start_reader(struct wd_service *service, struct wd_error *err)
{
	struct wd_child_options options = { .part = WD_PART_READER,
		.confinement = { service->users.reader, wd_can_see_hidden() },
		.base = service->base,
		.clock = &wd_clock_system,
		.started = reader_started,
		.ended = reader_ended,
		.ctx = service };
	enum wd_status st;

	service->reader_wake =
	    event_new(service->base, wd_readers_wake_fd(service->readers),
		EV_READ | EV_PERSIST, on_reader_wake, service);
	if (service->reader_wake == NULL ||
	    event_add(service->reader_wake, NULL) != 0)
		return wd_fail(err, WD_NOMEM, "out of memory");
	st = wd_child_new(&options, &service->reader, err);
	return st == WD_OK ? wd_child_start(service->reader, err) : st;
}

enum wd_status
wd_service_desk_new(struct wd_service *service, struct wd_error *err)
{
	enum wd_status st =
	    wd_readers_new(&wd_clock_system, &service->readers, err);

	if (st == WD_OK)
		st = start_reader(service, err);
	return st == WD_OK ? start_desk(service, err) : st;
}

/* The reader first: a thread that waits for it then hears that it ended. */
void
wd_service_desk_free(struct wd_service *service)
{
	struct wd_observer *observer;

	if (service->readers != NULL)
		wd_readers_close(service->readers);
	wd_child_free(&service->reader);
	if (service->desk_wake != NULL)
		event_free(service->desk_wake);
	if (service->reader_wake != NULL)
		event_free(service->reader_wake);
	if (service->desk != NULL) {
		observer = wd_desk_observer(service->desk);
		wd_observer_free(&observer);
	}
	wd_readers_free(&service->readers);
}
