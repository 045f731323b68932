/*
 * names.h - what a certificate of ours may be for: host names and IP
 * addresses, and one role.
 *
 * Names are checked before they go into a request and again before a CA signs
 * them: letters, digits, hyphens and dots (RFC 1123, 2.1; RFC 5280, 4.2.1.6),
 * or an IP address in text. No wildcard, no scope, no user name.
 */
#ifndef WD_PKI_NAMES_H
#define WD_PKI_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

#define WD_PKI_MAX_NAMES 32       /* as many as an agent reads of a client */
#define WD_PKI_NAME_BYTES 254     /* RFC 1035: 253 characters */
#define WD_PKI_MOST_IN_SUBJECT 64 /* of a common name (RFC 5280, A.1) */

struct wd_pki_name {
	size_t ip_len; /* 4 or 16; 0: a host name */
	uint8_t ip[16];
	char text[WD_PKI_NAME_BYTES]; /* in lower case; of an IP the usual form
				       */
};

/* No name stands twice; the first one is the certificate's own. */
struct wd_pki_names {
	struct wd_pki_name items[WD_PKI_MAX_NAMES];
	size_t count;
};

/* Adds a name; one that is there already changes nothing. Errors: WD_INVALID
 * when it is neither a host name nor an IP address; WD_LIMIT. */
enum wd_status wd_pki_names_add(struct wd_pki_names *names, const char *text,
    struct wd_error *err) WD_MUST_CHECK;

/* As above, for the 4 or 16 bytes of an address. */
enum wd_status wd_pki_names_add_ip(struct wd_pki_names *names,
    const uint8_t *bytes, size_t len, struct wd_error *err) WD_MUST_CHECK;

/* Whether both hold the same names, in any order. */
bool wd_pki_names_equal(
    const struct wd_pki_names *a, const struct wd_pki_names *b);

/* Whether `text` is one of them. */
bool wd_pki_names_hold(const struct wd_pki_names *names, const char *text);

/* Appends "DNS:mac-3.lab, IP:10.0.0.3" with `between` between two. Errors:
 * those of the buffer. */
enum wd_status wd_pki_names_text(
    const struct wd_pki_names *names, const char *between, struct wd_buf *out);

/* A certificate is for answering as a host, or for asking as a client. */
enum wd_pki_role {
	WD_PKI_NO_ROLE = 0, /* the caller left it open */
	WD_PKI_HOST = 1,
	WD_PKI_CLIENT = 2,
};

/* Errors: WD_INVALID. */
enum wd_status wd_pki_role_parse(const char *text, enum wd_pki_role *role,
    struct wd_error *err) WD_MUST_CHECK;

/* "host", "client"; "no role". */
const char *wd_pki_role_name(enum wd_pki_role role);

#endif
