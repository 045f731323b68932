/*
 * tls_times.h - when a certificate is valid, for tls.c and client/pki only.
 */
#ifndef WD_BASE_TLS_TIMES_H
#define WD_BASE_TLS_TIMES_H

#include <openssl/x509.h>

#include "base/clock.h"
#include "base/error.h"

/* In nanoseconds of real time; the longest that there is when OpenSSL cannot
 * read it or it lies beyond. */
int64_t wd_tls_time_ns(const ASN1_TIME *time);

/* Errors: WD_INVALID when the certificate has expired or is not valid yet by
 * `clock`. Both look alike from outside and need opposite remedies, so each
 * has its own words, and says what the clock says. */
enum wd_status wd_tls_check_times(const X509 *certificate, const char *name,
    const struct wd_clock *clock, struct wd_error *err) WD_MUST_CHECK;

#endif
