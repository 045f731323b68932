/*
 * openssl.h - OpenSSL's objects as scoped variables, and PEM; for the files of
 * this folder only.
 */
#ifndef WD_PKI_OPENSSL_H
#define WD_PKI_OPENSSL_H

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "pki/pki.h"

void wd_pki_bio_free(BIO **bio);
void wd_pki_key_free(EVP_PKEY **key);
void wd_pki_x509_free(X509 **certificate);
void wd_pki_request_free(X509_REQ **request);
void wd_pki_crl_free(X509_CRL **list);

/* OpenSSL failed where it does not for any input of ours: WD_IO, with its
 * words. Clears its queue of errors. */
enum wd_status wd_pki_trouble(struct wd_error *err, const char *what);

/* Read PEM; WD_MALFORMED with the name. A key with a passphrase is refused. */
enum wd_status wd_pki_load_key(const struct wd_pki_pem *pem, EVP_PKEY **key,
    struct wd_error *err) WD_MUST_CHECK;
enum wd_status wd_pki_load_certificate(const struct wd_pki_pem *pem,
    X509 **certificate, struct wd_error *err) WD_MUST_CHECK;
enum wd_status wd_pki_load_request(const struct wd_pki_pem *pem,
    X509_REQ **request, struct wd_error *err) WD_MUST_CHECK;
enum wd_status wd_pki_load_crl(const struct wd_pki_pem *pem, X509_CRL **list,
    struct wd_error *err) WD_MUST_CHECK;

/* Appends what was written into a memory BIO. */
enum wd_status wd_pki_take_text(
    BIO *bio, struct wd_buf *out, struct wd_error *err) WD_MUST_CHECK;

/* The names that a certificate of ours can hold; `*others` counts the rest. */
enum wd_status wd_pki_read_names(const GENERAL_NAMES *list,
    struct wd_pki_names *names, unsigned *others,
    struct wd_error *err) WD_MUST_CHECK;

/* The CA's pair, looked at: it is a CA, it is valid now, the key is its own. */
struct wd_pki_signer {
	X509 *certificate;
	EVP_PKEY *key;
};
enum wd_status wd_pki_load_ca(const struct wd_pki_ca *ca,
    const struct wd_clock *clock, struct wd_pki_signer *signer,
    struct wd_error *err) WD_MUST_CHECK;
void wd_pki_signer_release(struct wd_pki_signer *signer);

/* The digest that a key signs with; NULL where it has its own. */
const EVP_MD *wd_pki_digest_of(const EVP_PKEY *key);

/* Hexadecimal digits of a serial number. */
enum wd_status wd_pki_serial_text(const ASN1_INTEGER *serial,
    char text[WD_PKI_SERIAL_BYTES], struct wd_error *err) WD_MUST_CHECK;

#endif
