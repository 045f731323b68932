/*
 * redact.h - secrets in command lines and environments, replaced before they
 * leave the collector; and which environment names are read at all. Pure, and
 * the same on every system.
 *
 * What counts as a secret: the value of an option, assignment, header or
 * query parameter whose name says so (api key, token, password, secret); the
 * user part of a URL; words that follow "Bearer" or "Basic"; and words that
 * look like a known provider's key (hf_, sk-, ghp_, ...). What does not:
 * anything that only sounds alike (--tokenizer, --max-tokens, --api-key-file,
 * HF_TOKEN_PATH); a path to a model stays readable.
 */
#ifndef WD_HOST_REDACT_H
#define WD_HOST_REDACT_H

#include <stdbool.h>

#include "base/slice.h"
#include "host/host.h"

#define WD_REDACTED "[redacted]"

/* Whether the project may read this environment variable. */
bool wd_env_name_chosen(struct wd_slice name);

/* Whether a value under this option, variable or parameter name is a secret.
 * Leading dashes, case and '-' against '_' do not matter. */
bool wd_name_is_secret(struct wd_slice name);

/* Replaces the secrets in `argv` (arguments with a NUL behind each; the last
 * may lack it). The number of arguments stays. `*redacted` tells whether there
 * were any. Errors: WD_NOMEM. */
enum wd_status wd_redact_argv(
    struct wd_bytes *argv, bool *redacted) WD_MUST_CHECK;

/* `value` of the variable `name` into `out`, secrets replaced. Errors:
 * WD_NOMEM. */
enum wd_status wd_redact_variable(struct wd_slice name, struct wd_slice value,
    struct wd_bytes *out, bool *redacted) WD_MUST_CHECK;

#endif
