/*
 * credentials.h - by whom agents are trusted, and who we are: three PEM files.
 *
 * Each is the flag's, or the environment's (WEIGHTCTL_CA, WEIGHTCTL_CERT,
 * WEIGHTCTL_KEY), or ca.crt, client.crt and client.key in the first of these
 * folders that has any of the three: $XDG_CONFIG_HOME/weightd (~/.config when
 * that is not set), /etc/weightd.
 */
#ifndef WD_API_CREDENTIALS_H
#define WD_API_CREDENTIALS_H

#include "base/clock.h"
#include "base/error.h"
#include "base/tls.h"

struct wd_credentials {
	const char *ca; /* paths; NULL: not given */
	const char *certificate;
	const char *key;
};

/* Errors: WD_GONE when a file is not there, with the ways to say where it is;
 * those of wd_tls_new; WD_DENIED, WD_IO, WD_NOMEM. */
enum wd_status wd_credentials_load(const struct wd_credentials *credentials,
    const struct wd_clock *clock, struct wd_tls **tls,
    struct wd_error *err) WD_MUST_CHECK;

#endif
