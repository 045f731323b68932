/*
 * service_parts.h - what the files service*.c share, and nobody else sees.
 *
 * service.c starts, hears signals and ends; service_front.c has the front's
 * line; service_settings.c what the front is told, and reloading;
 * service_desk.c the desk and the reader. One thread.
 */
#ifndef WD_ROLE_SERVICE_PARTS_H
#define WD_ROLE_SERVICE_PARTS_H

#include <event2/event.h>

#include "observer/desk.h"
#include "role/child.h"
#include "role/front_line.h"
#include "role/listeners.h"
#include "role/readers.h"
#include "role/service.h"
#include "role/users.h"

struct wd_service {
	const char *config_path;
	struct wd_config *config;
	struct event_base *base;
	struct wd_sockets sockets;
	struct wd_users users;
	struct wd_store *store;
	struct wd_readers *readers;
	struct wd_desk *desk;
	struct wd_child *front, *reader;

	/* service_front.c */
	struct wd_observer_serve *serve; /* NULL: no front */
	struct event *front_readable, *front_writable;
	struct event *hang; /* runs while an answer to a ping is due */
	uint64_t ping_id;
	bool front_works; /* it took its settings */

	/* service_settings.c: what a front is started with, and what it was
	 * asked to take (`asked_id` 0: nothing). */
	struct wd_buf good, asked;
	uint64_t good_id, asked_id, last_id;
	struct wd_config *asked_config; /* with `asked`; NULL: the same */
	struct stat marks[WD_MATERIALS];
	bool has_good;
	int64_t certificate_ends_s, warned_boot_ns;

	/* service_desk.c */
	struct event *desk_wake, *reader_wake;
	wd_ticket desk_ticket; /* of the self-test or the watchdog's question */
	bool desk_works;

	/* service.c */
	struct event *tick, *watchdog, *drain_end;
	struct event *signals[4];
	bool told_ready;
	bool is_reloading;             /* the service manager waits for READY */
	bool pong_counts, desk_counts; /* for the watchdog's round */
	bool is_ending;
	int code;
};

/* ---- service.c ----------------------------------------------------------- */

/* Something moved: tells the service manager when the service is ready, has
 * reloaded, or lives. */
void wd_service_moved(struct wd_service *service);

/* Ends the loop with that exit code. */
void wd_service_end(struct wd_service *service, int code);

/* ---- service_front.c ----------------------------------------------------- */

enum wd_status wd_service_front_new(
    struct wd_service *service, struct wd_error *err) WD_MUST_CHECK;
void wd_service_front_free(struct wd_service *service);

/* Sends settings, with the listening sockets when they are the first. */
enum wd_status wd_service_front_tell(struct wd_service *service,
    const struct wd_buf *settings, uint64_t id, bool with_sockets,
    struct wd_error *err) WD_MUST_CHECK;

/* Asks for a sign of life; without one in time the front is replaced. */
void wd_service_front_ping(struct wd_service *service);

/* Lets the front finish what it does. False when there is none. */
bool wd_service_front_drain(struct wd_service *service);

/* Tells the front whether the observer is ready. */
void wd_service_front_ready(struct wd_service *service);

/* ---- service_settings.c -------------------------------------------------- */

/* The settings of the first front. Errors: those of wd_material_read. */
enum wd_status wd_service_settings_first(
    struct wd_service *service, struct wd_error *err) WD_MUST_CHECK;

/* Reads configuration and files anew (SIGHUP). */
void wd_service_reload(struct wd_service *service);

/* Reads the files anew when one of them has changed. */
void wd_service_look_at_files(struct wd_service *service);

/* The front's word about settings. */
enum wd_status wd_service_settings_state(struct wd_service *service,
    const struct wd_frame *frame, struct wd_error *err) WD_MUST_CHECK;

/* The front has gone with settings that it had not taken yet. */
void wd_service_settings_lost(struct wd_service *service);

void wd_service_settings_release(struct wd_service *service);

/* ---- service_desk.c ------------------------------------------------------ */

enum wd_status wd_service_desk_new(
    struct wd_service *service, struct wd_error *err) WD_MUST_CHECK;
void wd_service_desk_free(struct wd_service *service);

/* Asks the desk for a sign of life. */
void wd_service_desk_ask(struct wd_service *service);

#endif
