#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "role/notify.h"
#include "role/service_parts.h"

#define DAY_SECONDS 86400
/* Long enough to have a certificate made. */
#define WARN_DAYS 14

static const char *
date_text(int64_t seconds, char text[32])
{
	time_t when = (time_t)seconds;
	struct tm parts;

	if (gmtime_r(&when, &parts) == NULL ||
	    strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
		(void)snprintf(text, 32, "?");
	return text;
}

/* ---- making -------------------------------------------------------------- */

static enum wd_status
make(struct wd_service *service, const struct wd_config *config,
    struct wd_buf *out, struct wd_error *err)
{
	WD_CLEANUP(wd_material_release)
	struct wd_material material = { .key_is_open = false };
	enum wd_status st = wd_material_read(config, &material, err);

	if (st != WD_OK)
		return st;
	memcpy(service->marks, material.marks, sizeof(service->marks));
	if (material.key_is_open)
		wd_log(WD_LOG_WARNING,
		    "%s can be read by others; chmod go-r it", config->key);
	wd_buf_init(out, 5 * (size_t)WD_MAX_MATERIAL);
	return wd_settings_pack(config, &material, out, err);
}

static void
forget(struct wd_buf *settings)
{
	/* The key is in there. */
	if (settings->data != NULL)
		explicit_bzero(settings->data, settings->capacity);
	wd_buf_release(settings);
	memset(settings, 0, sizeof(*settings));
}

enum wd_status
wd_service_settings_first(struct wd_service *service, struct wd_error *err)
{
	service->good_id = ++service->last_id;
	return make(service, service->config, &service->good, err);
}

/* ---- taken or not -------------------------------------------------------- */

static void
use_config(struct wd_service *service, struct wd_config **config)
{
	if (*config == NULL)
		return;
	wd_config_free(&service->config);
	service->config = wd_steal(config);
	wd_log_init("weightd", (enum wd_log_level)service->config->log_level);
	wd_log_style((enum wd_log_style)service->config->log_style);
}

/* From now on a front is started with what was asked for. */
static void
promote(struct wd_service *service)
{
	forget(&service->good);
	service->good = service->asked;
	service->good_id = service->asked_id;
	memset(&service->asked, 0, sizeof(service->asked));
	service->asked_id = 0;
	use_config(service, &service->asked_config);
}

static void
drop_asked(struct wd_service *service)
{
	forget(&service->asked);
	service->asked_id = 0;
	wd_config_free(&service->asked_config);
}

void
wd_service_settings_lost(struct wd_service *service)
{
	if (service->asked_id == 0)
		return;
	wd_log(WD_LOG_ERROR,
	    "the new settings were not taken, for the front ended; the old "
	    "ones stay");
	drop_asked(service);
	wd_service_moved(service);
}

static void
say_taken(struct wd_service *service, int64_t ends_s)
{
	char date[32];
	struct wd_log_field fields[] = {
		{ "certificate", service->config->certificate },
		{ "until", date_text(ends_s, date) },
	};

	service->certificate_ends_s = ends_s;
	service->warned_boot_ns = 0;
	wd_log_event(WD_LOG_INFO, "settings", fields, 2);
}

/* A first front that refuses what it is started with ends the start; a later
 * one may find a certificate that has expired since, and is tried again. */
static enum wd_status
refused_at_start(struct wd_service *service, const struct wd_error *why)
{
	wd_log(WD_LOG_ERROR, "%s", why->message);
	if (!service->has_good)
		wd_service_end(service, 1);
	return WD_OK;
}

static void
refused(struct wd_service *service, const struct wd_error *why)
{
	wd_log(WD_LOG_ERROR,
	    "the new settings were refused, the old ones "
	    "stay: %s",
	    why->message);
	drop_asked(service);
	wd_service_moved(service);
}

enum wd_status
wd_service_settings_state(struct wd_service *service,
    const struct wd_frame *frame, struct wd_error *err)
{
	struct wd_error why;
	int64_t ends_s = 0;
	enum wd_status st;
	bool is_asked =
	    service->asked_id != 0 && frame->id == service->asked_id;

	wd_error_init(&why);
	st = wd_state_read(frame, &ends_s, &why);
	if (st == WD_MALFORMED || (!is_asked && frame->id != service->good_id))
		return wd_fail(err, WD_MALFORMED,
		    "the front's word about its settings is none");
	if (st != WD_OK && is_asked) {
		refused(service, &why);
		return WD_OK;
	}
	if (st != WD_OK)
		return refused_at_start(service, &why);
	if (is_asked)
		promote(service);
	service->front_works = service->has_good = true;
	say_taken(service, ends_s);
	wd_service_front_ready(service);
	wd_service_moved(service);
	return WD_OK;
}

/* ---- asking -------------------------------------------------------------- */

static enum wd_status
ask_front(
    struct wd_service *service, struct wd_config **config, struct wd_error *err)
{
	const struct wd_config *next =
	    *config != NULL ? *config : service->config;
	enum wd_status st;

	drop_asked(service);
	st = make(service, next, &service->asked, err);
	if (st != WD_OK) {
		drop_asked(service);
		return st;
	}
	service->asked_id = ++service->last_id;
	service->asked_config = wd_steal(config);
	if (service->front_works)
		return wd_service_front_tell(
		    service, &service->asked, service->asked_id, false, err);
	/* The next front is started with them. */
	promote(service);
	wd_service_moved(service);
	return WD_OK;
}

static void
fail_reload(struct wd_service *service, const struct wd_error *err)
{
	wd_log(WD_LOG_ERROR, "not reloaded, everything stays as it was: %s",
	    err->message);
	wd_service_moved(service);
}

void
wd_service_reload(struct wd_service *service)
{
	WD_CLEANUP(wd_config_free) struct wd_config *config = NULL;
	struct wd_error err;
	const char *key;

	wd_error_init(&err);
	service->is_reloading = true;
	(void)!wd_notify_reloading(NULL);
	if (wd_config_load(service->config_path, &config, &err) != WD_OK) {
		fail_reload(service, &err);
		return;
	}
	key = wd_config_needs_restart(service->config, config);
	if (key != NULL)
		wd_log(WD_LOG_WARNING,
		    "%s has changed, which needs a restart; the rest is used "
		    "now",
		    key);
	if (ask_front(service, &config, &err) != WD_OK)
		fail_reload(service, &err);
}

static void
warn_of_end(struct wd_service *service)
{
	int64_t left = service->certificate_ends_s -
	    wd_clock_real_ns(&wd_clock_system) / WD_NS_PER_SECOND;
	int64_t now = wd_clock_boot_ns(&wd_clock_system);
	char date[32];

	if (service->certificate_ends_s == 0 ||
	    left > WARN_DAYS * DAY_SECONDS ||
	    (service->warned_boot_ns != 0 &&
		now - service->warned_boot_ns < DAY_SECONDS * WD_NS_PER_SECOND))
		return;
	service->warned_boot_ns = now;
	wd_log(WD_LOG_WARNING, "the certificate %s ends %s; renew it",
	    service->config->certificate,
	    date_text(service->certificate_ends_s, date));
}

void
wd_service_look_at_files(struct wd_service *service)
{
	struct wd_config *same = NULL;
	struct wd_error err;

	wd_error_init(&err);
	warn_of_end(service);
	if (wd_material_changed(service->config, service->marks) &&
	    ask_front(service, &same, &err) != WD_OK)
		wd_log(WD_LOG_ERROR,
		    "not reloaded, everything stays as it "
		    "was: %s",
		    err.message);
}

void
wd_service_settings_release(struct wd_service *service)
{
	drop_asked(service);
	forget(&service->good);
}
