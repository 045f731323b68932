/*
 * pki.h - keys, requests, certificates and revocation lists, for fleets
 * without a CA of their own. PEM text in, PEM text out: no file, no name of
 * one. Files are pki/files.h's.
 *
 * Keys are EC P-256. A certificate holds exactly the names that the CA was
 * told to sign, one role, and nothing else that a request asked for. What is
 * made passes OpenSSL's strict check (X509_V_FLAG_X509_STRICT; RFC 5280,
 * 4.2).
 */
#ifndef WD_PKI_PKI_H
#define WD_PKI_PKI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/error.h"
#include "pki/names.h"

/* Room for a key, a request or a certificate in PEM form. */
#define WD_PKI_PEM_BYTES 65536

/* A certificate is valid a little before it was made: another machine's clock
 * may be behind. */
#define WD_PKI_BACKDATE_SECONDS 300

#define WD_PKI_MAX_DAYS 36500

#define WD_PKI_SERIAL_BYTES 48 /* hexadecimal digits of 20 bytes, and more */

/* PEM text and what to call it in messages. */
struct wd_pki_pem {
	const char *name;
	struct wd_slice text;
};

/* Overwrites and frees a buffer that held a key. */
void wd_pki_forget(struct wd_buf *buf);

/* Appends a new private key (PKCS #8). Errors: WD_NOMEM, WD_IO. */
enum wd_status wd_pki_make_key(
    struct wd_buf *key, struct wd_error *err) WD_MUST_CHECK;

/* Appends a CA certificate for `key`, valid for `days`: it may sign
 * certificates and revocation lists, and no further CA. Errors: WD_INVALID for
 * the name or the days; WD_MALFORMED for the key; WD_NOMEM, WD_IO. */
enum wd_status wd_pki_make_ca(const struct wd_pki_pem *key, const char *name,
    unsigned days, const struct wd_clock *clock, struct wd_buf *certificate,
    struct wd_error *err) WD_MUST_CHECK;

/* Appends a request (PKCS #10) with these names and this role. Errors:
 * WD_MALFORMED for the key; WD_NOMEM, WD_IO. */
enum wd_status wd_pki_make_request(const struct wd_pki_pem *key,
    const struct wd_pki_names *names, enum wd_pki_role role,
    struct wd_buf *request, struct wd_error *err) WD_MUST_CHECK;

/* What a request asks for. */
struct wd_pki_request {
	struct wd_pki_names names;
	unsigned roles;          /* of enum wd_pki_role; 0: none is asked for */
	unsigned ignored;        /* other extensions that it asks for */
	char ignored_names[160]; /* of them, with commas between */
	struct wd_sha256
	    key_sha256; /* of its public key (SubjectPublicKeyInfo) */
};

/* Reads a request. Errors: WD_MALFORMED when it is none, or is not signed by
 * its own key; WD_INVALID for names that a certificate of ours cannot hold, no
 * names at all, or a weak key. */
enum wd_status wd_pki_read_request(const struct wd_pki_pem *pem,
    struct wd_pki_request *request, struct wd_error *err) WD_MUST_CHECK;

/* What a CA signs. */
struct wd_pki_grant {
	struct wd_pki_names names;
	enum wd_pki_role role;
	unsigned days;
	bool is_cut;                      /* out: the CA ends earlier */
	char serial[WD_PKI_SERIAL_BYTES]; /* out: hexadecimal */
};

struct wd_pki_ca {
	struct wd_pki_pem certificate;
	struct wd_pki_pem key;
};

/* Appends a certificate for the key of the request, with what the grant says.
 * It ends with the CA at the latest. The names in it are read back and held
 * against the grant. Errors: WD_INVALID when the CA is none, has ended, is not
 * valid yet or has another key; WD_MALFORMED; WD_NOMEM, WD_IO. */
enum wd_status wd_pki_sign(const struct wd_pki_ca *ca,
    const struct wd_pki_pem *request, struct wd_pki_grant *grant,
    const struct wd_clock *clock, struct wd_buf *certificate,
    struct wd_error *err) WD_MUST_CHECK;

/* What a certificate says, for people and for finding it. Texts are escaped. */
struct wd_pki_facts {
	char subject[256];
	char issuer[256];
	struct wd_buf names; /* all of them, as text */
	struct wd_pki_names
	    plain; /* those that a certificate of ours can hold */
	bool is_ca;
	bool for_hosts;   /* a server may show it */
	bool for_clients; /* a client may show it */
	int64_t from_ns;  /* real time */
	int64_t to_ns;
	char serial[WD_PKI_SERIAL_BYTES]; /* hexadecimal */
	char key[64];                     /* "EC P-256" */
	struct wd_sha256 sha256;          /* of the certificate */
};

/* Reads the first certificate of the text. The caller releases the facts, also
 * after an error. Errors: WD_MALFORMED; WD_NOMEM. */
enum wd_status wd_pki_read_certificate(const struct wd_pki_pem *pem,
    struct wd_pki_facts *facts, struct wd_error *err) WD_MUST_CHECK;
void wd_pki_facts_release(struct wd_pki_facts *facts);

/* Whether it is the certificate's key. Errors: WD_MALFORMED when one of both
 * cannot be read. */
enum wd_status wd_pki_is_pair(const struct wd_pki_pem *certificate,
    const struct wd_pki_pem *key, bool *is_pair,
    struct wd_error *err) WD_MUST_CHECK;

/* Appends a revocation list: the entries of `old` (empty text: none) and these
 * serial numbers (hexadecimal), valid until the CA ends. `*added` says how many
 * were not in it before. Errors: as wd_pki_sign; WD_INVALID when `old` is
 * another CA's. */
enum wd_status wd_pki_revoke(const struct wd_pki_ca *ca,
    const struct wd_pki_pem *old, const char *const *serials, size_t count,
    const struct wd_clock *clock, unsigned *added, struct wd_buf *list,
    struct wd_error *err) WD_MUST_CHECK;

#endif
