/*
 * tls.h - TLS 1.3 with certificates on both sides. With digest.h the only
 * user of OpenSSL.
 *
 * A configuration is made from PEM text, not from files: who speaks to the
 * network need not see the file system. It is complete and consistent or it is
 * not made at all, so a reload that fails leaves the old one in place. Nothing
 * older than TLS 1.3, no early data.
 *
 * A server gives session tickets (RFC 8446, 4.6.1), since a handshake that
 * takes one up costs half. Their key is made with the configuration and lives
 * in memory only, so a new configuration ends every session that was given
 * out under the old CA, CRL or roles; so does the end of the client's
 * certificate, and WD_TLS_TICKET_SECONDS.
 *
 * The system's own CAs are never used.
 */
#ifndef WD_BASE_TLS_H
#define WD_BASE_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/slice.h"

struct ssl_st; /* OpenSSL's SSL */
struct wd_tls;

#define WD_TLS_TICKET_SECONDS 3600

enum wd_tls_side { WD_TLS_SERVER, WD_TLS_CLIENT };

/* PEM text and what to call it in messages, usually its path. */
struct wd_tls_pem {
	const char *name;
	struct wd_slice text;
};

struct wd_tls_material {
	struct wd_tls_pem certificate; /* own one first, then the chain */
	struct wd_tls_pem key;
	struct wd_tls_pem ca;  /* whom to trust; one or several */
	struct wd_tls_pem crl; /* without text: none */
};

/* Makes a configuration. Errors: WD_MALFORMED when a text is no PEM of its
 * kind; WD_INVALID when the key is not the certificate's, when the
 * certificate has expired (with the date) or is not valid yet (with both
 * clocks and the time between them); WD_NOMEM. `clock` must outlive the
 * configuration and its sessions. */
enum wd_status wd_tls_new(enum wd_tls_side side,
    const struct wd_tls_material *material, const struct wd_clock *clock,
    struct wd_tls **tls, struct wd_error *err) WD_MUST_CHECK;

/* Accepts NULL, sets NULL. Sessions that are open go on. */
void wd_tls_free(struct wd_tls **tls);

/* When the own certificate ends, in nanoseconds of real time. */
int64_t wd_tls_ends_ns(const struct wd_tls *tls);

/* A new session, to be given to bufferevent_openssl_socket_new, which then
 * owns it; else wd_tls_session_free. Errors: WD_NOMEM. */
enum wd_status wd_tls_session_new(struct wd_tls *tls, struct ssl_st **session,
    struct wd_error *err) WD_MUST_CHECK;
void wd_tls_session_free(struct ssl_st **session);

/* For clients, before the handshake: the server's certificate must name this
 * host (a DNS name, or an IP address in its text form), not only its common
 * name. Errors: WD_INVALID when it is neither; WD_NOMEM. */
enum wd_status wd_tls_expect_host(struct ssl_st *session, const char *host,
    struct wd_error *err) WD_MUST_CHECK;

/* Says "no more" to the other side as far as that goes without waiting. */
void wd_tls_goodbye(struct ssl_st *session);

/* What was wrong with the other side's certificate. */
enum wd_tls_trouble {
	WD_TLS_FINE,
	WD_TLS_NO_CERTIFICATE,
	WD_TLS_EXPIRED,
	WD_TLS_NOT_YET_VALID,
	WD_TLS_UNKNOWN_CA,
	WD_TLS_REVOKED,
	WD_TLS_WRONG_PURPOSE, /* not made for clients (servers) */
	WD_TLS_WRONG_NAME,
	WD_TLS_OTHER, /* not TLS 1.3, or anything else */
};

/* After a failed handshake: what it was, and `err` (may be NULL) in words,
 * for expired and not yet valid with both clocks. `code` is OpenSSL's, of
 * which libevent takes hold first (bufferevent_get_openssl_error); 0: none. */
enum wd_tls_trouble wd_tls_trouble(struct ssl_st *session, unsigned long code,
    const struct wd_clock *clock, struct wd_error *err);

/* How the other side ended a connection, from OpenSSL's code as above. */
enum wd_tls_end {
	WD_TLS_END_OTHER,
	WD_TLS_END_EOF,         /* it closed, without a word */
	WD_TLS_END_CERTIFICATE, /* an alert: it does not take our certificate */
	WD_TLS_END_VERSION,     /* an alert: it speaks no TLS 1.3 */
	WD_TLS_END_ALERT,       /* another alert */
	WD_TLS_END_NO_TLS,      /* it does not speak TLS at all */
};

/* `*words` (static) gets what the alert says: "certificate expired"; "" when
 * there was none. */
enum wd_tls_end wd_tls_end_of(unsigned long code, const char **words);

/* As above, when writing failed: an alert that came before has not been read
 * then. Nothing else can be done with the session afterwards. */
enum wd_tls_end wd_tls_last_words(struct ssl_st *session, const char **words);

/* After a handshake: whether the other side showed a certificate and it was
 * verified. To be asked before anything is believed. */
bool wd_tls_is_verified(const struct ssl_st *session);

#define WD_TLS_MAX_NAMES 32
#define WD_TLS_MAX_NAME 256

/* Names of a verified certificate: "dns:", "uri:" (subject alternative names,
 * RFC 5280, 4.2.1.6) and "cn:". Names that are too long, hold a NUL or are not
 * UTF-8 are left out. URIs come first, the common name last. */
struct wd_tls_names {
	char items[WD_TLS_MAX_NAMES][WD_TLS_MAX_NAME];
	size_t count;
};

void wd_tls_peer_names(
    const struct ssl_st *session, struct wd_tls_names *names);

#endif
