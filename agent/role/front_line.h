/*
 * front_line.h - what observer and front say to each other besides questions
 * and answers (seam/observer_line.h): settings, and signs of life.
 */
#ifndef WD_ROLE_FRONT_LINE_H
#define WD_ROLE_FRONT_LINE_H

#include "role/config.h"
#include "role/material.h"
#include "seam/observer_line.h"
#include "weightd/seam/v1/observer.pb-c.h"

enum wd_front_kind {
	WD_FRONT_SETTINGS = WD_OBSERVER_OTHER, /* FrontSettings */
	WD_FRONT_STATE, /* FrontState, under the id of the settings */
	WD_FRONT_PING,  /* nothing */
	WD_FRONT_PONG,  /* nothing, under the ping's id */
	WD_FRONT_DRAIN, /* nothing; the id is the grace in milliseconds */
};

/* The settings as bytes of a FrontSettings. Errors: WD_NOMEM, WD_LIMIT. */
enum wd_status wd_settings_pack(const struct wd_config *config,
    const struct wd_material *material, struct wd_buf *out,
    struct wd_error *err) WD_MUST_CHECK;

/* What the front makes of them. */
struct wd_settings {
	Weightd__Seam__V1__FrontSettings *message;
	struct wd_tls *tls;
	struct wd_role_rule *rules; /* names are the message's */
	size_t rule_count;
	struct wd_server_limits limits;
};

/* Errors: those of wd_tls_new; WD_MALFORMED for bytes that are no message;
 * WD_NOMEM. `settings` is to be released in any case. */
enum wd_status wd_settings_take(struct wd_slice bytes,
    const struct wd_clock *clock, struct wd_settings *settings,
    struct wd_error *err) WD_MUST_CHECK;
void wd_settings_release(struct wd_settings *settings);

/* The front's word about settings, and back: WD_OK, or why they were refused.
 * Errors of reading: also WD_MALFORMED. */
enum wd_status wd_state_frame(uint64_t id, enum wd_status st,
    const struct wd_error *why, int64_t certificate_ends_s,
    struct wd_frame *frame, struct wd_error *err) WD_MUST_CHECK;
enum wd_status wd_state_read(const struct wd_frame *frame,
    int64_t *certificate_ends_s, struct wd_error *err) WD_MUST_CHECK;

#endif
