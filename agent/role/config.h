/*
 * config.h - what the operator wrote, checked: weightd.yaml(5).
 *
 * The file is trusted as the program is: it must belong to root (or to who
 * runs the agent) and be writable by nobody else. Nothing is read from the
 * files that it names. Every error says where, FILE:LINE:COLUMN, and what
 * would help; a key that is not known is an error, with the nearest one that
 * is.
 */
#ifndef WD_ROLE_CONFIG_H
#define WD_ROLE_CONFIG_H

#include "base/log.h"
#include "server/server.h"

#define WD_CONFIG_VERSION 1
#define WD_DEFAULT_PORT 7433
#define WD_MAX_CONFIG_LIST 4096 /* role names, model roots */
#define WD_MAX_CONFIG_LISTEN 8  /* as the server takes */

struct wd_texts {
	char **items;
	size_t count, capacity;
};

struct wd_config {
	char *path; /* of the file */
	uint32_t version;
	struct wd_texts addresses; /* empty: every address */
	uint32_t port;
	char *certificate, *key, *ca;
	char *crl; /* NULL: none */
	/* Names of certificates, as in server/authorise.h. */
	struct wd_texts read, work;
	char *front_user, *reader_user; /* a name, a number or "same" */
	char *state_dir;                /* NULL: the system's */
	struct wd_server_limits limits;
	uint32_t open_questions;
	uint32_t drain_ms;
	uint32_t digest_threads, look_threads;
	uint64_t digest_bytes_per_second; /* 0: no cap */
	struct wd_texts model_roots;
	bool pid_namespace_is_all;
	uint32_t check_ms; /* between two looks at files and processes */
	uint32_t log_style, log_level;
};

/* Reads a file. Errors: WD_INVALID, WD_MALFORMED, WD_LIMIT for what is in it;
 * WD_DENIED when others may write to it; what opening it says; WD_NOMEM. The
 * caller frees it with wd_config_free. */
enum wd_status wd_config_load(const char *path, struct wd_config **config,
    struct wd_error *err) WD_MUST_CHECK;

/* The same of text, for tests; `path` is what errors name. */
enum wd_status wd_config_parse(const char *path, struct wd_slice text,
    struct wd_config **config, struct wd_error *err) WD_MUST_CHECK;

/* Accepts NULL, sets NULL. */
void wd_config_free(struct wd_config **config);

/* The rules for the server; their names stay the configuration's. The caller
 * frees the array with wd_free. Errors: WD_NOMEM. */
enum wd_status wd_config_rules(const struct wd_config *config,
    struct wd_role_rule **rules, size_t *count,
    struct wd_error *err) WD_MUST_CHECK;

/* The first key whose new value can be used only after a restart; NULL when
 * everything that differs can be used now. */
const char *wd_config_needs_restart(
    const struct wd_config *now, const struct wd_config *next);

#endif
