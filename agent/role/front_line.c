#include "role/front_line.h"

#include <string.h>

#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"
#include "wire/build.h"
#include "wire/unpack.h"

/* PEM files four times, rules, and what a message takes besides. */
#define SETTINGS_MEMORY (6U * WD_MAX_MATERIAL)

/* ---- the observer's side ------------------------------------------------- */

static void
build_pem(struct wd_build *build, Weightd__Seam__V1__Pem **field,
    const char *path, struct wd_slice text)
{
	Weightd__Seam__V1__Pem *pem;

	if (path == NULL)
		return;
	pem = wd_build_new(build, &weightd__seam__v1__pem__descriptor);
	*field = pem;
	if (pem == NULL)
		return;
	wd_build_bytes(build, &pem->name, wd_slice_text(path));
	wd_build_bytes(build, &pem->text, text);
}

static void
build_rules(struct wd_build *build, const struct wd_config *config,
    Weightd__Seam__V1__FrontSettings *message)
{
	WD_CLEANUP(wd_free_scoped) struct wd_role_rule *rules = NULL;
	Weightd__Seam__V1__RoleRule *rule;
	size_t count, i;

	if (wd_config_rules(config, &rules, &count, NULL) != WD_OK) {
		build->status = WD_NOMEM;
		return;
	}
	for (i = 0; i < count; i++) {
		rule = WD_BUILD_ADD(build, message, rules,
		    &weightd__seam__v1__role_rule__descriptor);
		if (rule == NULL)
			return;
		wd_build_bytes(
		    build, &rule->name, wd_slice_text(rules[i].name));
		rule->roles = rules[i].roles;
	}
}

static void
set_limits(
    const struct wd_config *config, Weightd__Seam__V1__FrontSettings *message)
{
	const struct wd_server_limits *limits = &config->limits;

	message->connections = limits->connections;
	message->connections_per_peer = limits->connections_per_peer;
	message->work_per_minute = limits->work_per_minute;
	message->handshake_ms = limits->handshake_ms;
	message->request_ms = limits->request_ms;
	message->idle_ms = limits->idle_ms;
	message->reply_ms = limits->reply_ms;
	message->call_ms = limits->call_ms;
	message->call_most_ms = limits->call_most_ms;
	message->open_questions = config->open_questions;
	message->log_json = config->log_style == WD_LOG_JSON;
	message->log_level = config->log_level;
}

enum wd_status
wd_settings_pack(const struct wd_config *config,
    const struct wd_material *material, struct wd_buf *out,
    struct wd_error *err)
{
	struct wd_build build = wd_build_init();
	Weightd__Seam__V1__FrontSettings *message = wd_build_new(
	    &build, &weightd__seam__v1__front_settings__descriptor);
	Weightd__Seam__V1__Pem **pems[WD_MATERIALS];
	enum wd_status st;
	unsigned i;

	if (message == NULL)
		return wd_fail(err, WD_NOMEM, "out of memory");
	pems[WD_CERTIFICATE] = &message->certificate;
	pems[WD_KEY] = &message->private_key;
	pems[WD_CA] = &message->ca;
	pems[WD_CRL] = &message->crl;
	for (i = 0; i < WD_MATERIALS; i++)
		build_pem(&build, pems[i], wd_material_path(config, i),
		    wd_buf_slice(&material->texts[i]));
	build_rules(&build, config, message);
	set_limits(config, message);
	st = build.status == WD_OK ?
	    wd_wire_pack(&message->base, out, err) :
	    wd_fail(err, build.status, "out of memory");
	wd_message_free(message);
	return st;
}

enum wd_status
wd_state_read(const struct wd_frame *frame, int64_t *certificate_ends_s,
    struct wd_error *err)
{
	ProtobufCMessage *message = NULL;
	const Weightd__Seam__V1__FrontState *state;
	char shown[WD_ERROR_MESSAGE_BYTES];
	enum wd_status st;

	st = wd_wire_unpack(&weightd__seam__v1__front_state__descriptor,
	    (struct wd_slice){ frame->data, frame->len },
	    WD_WIRE_REFUSE_UNKNOWN, 65536, &message, err);
	if (st != WD_OK)
		return wd_fail(err, WD_MALFORMED,
		    "the front's word about its settings could not be read");
	state = (const Weightd__Seam__V1__FrontState *)message;
	*certificate_ends_s = state->certificate_ends;
	if (state->failure != NULL && state->failure->status != WD_OK)
		st = wd_fail(err, WD_INVALID, "%s",
		    wd_escape_short(shown, sizeof(shown),
			(struct wd_slice){ state->failure->message.data,
			    state->failure->message.len }));
	wd_message_free(message);
	return st;
}

/* ---- the front's side ---------------------------------------------------- */

/* A path as text, with its end; the message's own bytes hold none. */
static enum wd_status
take_name(const Weightd__Seam__V1__Pem *pem, char *name, size_t size)
{
	if (pem == NULL || pem->name.len == 0 || pem->name.len >= size)
		return WD_MALFORMED;
	memcpy(name, pem->name.data, pem->name.len);
	name[pem->name.len] = '\0';
	return WD_OK;
}

static enum wd_status
take_tls(const Weightd__Seam__V1__FrontSettings *message,
    const struct wd_clock *clock, struct wd_tls **tls, struct wd_error *err)
{
	const Weightd__Seam__V1__Pem *const pems[WD_MATERIALS] = {
		message->certificate, message->private_key, message->ca,
		message->crl
	};
	char names[WD_MATERIALS][WD_MAX_PATH];
	struct wd_tls_material material;
	struct wd_tls_pem *parts[WD_MATERIALS] = { &material.certificate,
		&material.key, &material.ca, &material.crl };
	unsigned i;

	memset(&material, 0, sizeof(material));
	for (i = 0; i < WD_MATERIALS; i++) {
		if (i == WD_CRL && pems[i] == NULL)
			continue;
		if (take_name(pems[i], names[i], sizeof(names[i])) != WD_OK)
			return wd_fail(err, WD_MALFORMED,
			    "the settings lack a certificate or a name");
		*parts[i] = (struct wd_tls_pem){ names[i],
			{ pems[i]->text.data, pems[i]->text.len } };
	}
	return wd_tls_new(WD_TLS_SERVER, &material, clock, tls, err);
}

static enum wd_status
take_rules(const Weightd__Seam__V1__FrontSettings *message,
    struct wd_settings *settings, struct wd_error *err)
{
	size_t i;

	if (message->n_rules > WD_MAX_ROLE_RULES)
		return wd_fail(err, WD_LIMIT, "roles: at most %d names",
		    WD_MAX_ROLE_RULES);
	settings->rules = wd_calloc(message->n_rules, sizeof(*settings->rules));
	if (settings->rules == NULL)
		return wd_fail(err, WD_NOMEM, "out of memory");
	for (i = 0; i < message->n_rules; i++) {
		const Weightd__Seam__V1__RoleRule *rule = message->rules[i];
		char *name = wd_memdup0(rule->name.data, rule->name.len);

		if (name == NULL)
			return wd_fail(err, WD_NOMEM, "out of memory");
		settings->rules[settings->rule_count++] =
		    (struct wd_role_rule){ name, rule->roles };
	}
	return WD_OK;
}

static void
take_limits(const Weightd__Seam__V1__FrontSettings *message,
    struct wd_server_limits *limits)
{
	*limits = (struct wd_server_limits){
		.connections = message->connections,
		.connections_per_peer = message->connections_per_peer,
		.work_per_minute = message->work_per_minute,
		.handshake_ms = message->handshake_ms,
		.request_ms = message->request_ms,
		.idle_ms = message->idle_ms,
		.reply_ms = message->reply_ms,
		.call_ms = message->call_ms,
		.call_most_ms = message->call_most_ms,
	};
}

enum wd_status
wd_settings_take(struct wd_slice bytes, const struct wd_clock *clock,
    struct wd_settings *settings, struct wd_error *err)
{
	ProtobufCMessage *message = NULL;
	enum wd_status st;

	memset(settings, 0, sizeof(*settings));
	st = wd_wire_unpack(&weightd__seam__v1__front_settings__descriptor,
	    bytes, WD_WIRE_REFUSE_UNKNOWN, SETTINGS_MEMORY, &message, err);
	if (st != WD_OK)
		return st;
	settings->message = (Weightd__Seam__V1__FrontSettings *)message;
	take_limits(settings->message, &settings->limits);
	st = take_rules(settings->message, settings, err);
	return st == WD_OK ?
	    take_tls(settings->message, clock, &settings->tls, err) :
	    st;
}

void
wd_settings_release(struct wd_settings *settings)
{
	size_t i;

	for (i = 0; i < settings->rule_count; i++) {
		char *name;

		memcpy(&name, &settings->rules[i].name, sizeof(name));
		wd_free(name);
	}
	wd_free(settings->rules);
	wd_tls_free(&settings->tls);
	if (settings->message != NULL && settings->message->private_key != NULL)
		explicit_bzero(settings->message->private_key->text.data,
		    settings->message->private_key->text.len);
	wd_message_free(settings->message);
	memset(settings, 0, sizeof(*settings));
}

enum wd_status
wd_state_frame(uint64_t id, enum wd_status st, const struct wd_error *why,
    int64_t certificate_ends_s, struct wd_frame *frame, struct wd_error *err)
{
	struct wd_build build = wd_build_init();
	Weightd__Seam__V1__FrontState *state =
	    wd_build_new(&build, &weightd__seam__v1__front_state__descriptor);
	WD_CLEANUP(wd_buf_release) struct wd_buf out;
	enum wd_status packed;

	*frame = wd_frame_init(WD_FRONT_STATE, id);
	wd_buf_init(&out, 65536);
	if (state != NULL && st != WD_OK)
		state->failure = wd_build_new(
		    &build, &weightd__seam__v1__failure__descriptor);
	if (state != NULL && state->failure != NULL) {
		state->failure->status = st;
		wd_build_bytes(&build, &state->failure->message,
		    wd_slice_text(why->message));
	}
	if (state != NULL)
		state->certificate_ends = certificate_ends_s;
	packed = build.status == WD_OK ?
	    wd_wire_pack(&state->base, &out, err) :
	    wd_fail(err, build.status, "out of memory");
	wd_message_free(state);
	if (packed != WD_OK)
		return packed;
	frame->len = out.len;
	frame->data = (uint8_t *)wd_memdup0(out.data, out.len);
	return frame->data != NULL ? WD_OK :
				     wd_fail(err, WD_NOMEM, "out of memory");
}
