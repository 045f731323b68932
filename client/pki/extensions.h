/*
 * extensions.h - parts of requests and certificates that both are made of; for
 * the files of this folder only.
 */
#ifndef WD_PKI_EXTENSIONS_H
#define WD_PKI_EXTENSIONS_H

#include "pki/openssl.h"

/* Appends an extension whose value is in OpenSSL's text form
 * (x509v3_config(5)). Errors: WD_IO. */
enum wd_status wd_pki_extend(X509_EXTENSIONS **list, X509V3_CTX *ctx, int nid,
    const char *value, struct wd_error *err) WD_MUST_CHECK;

/* The subject alternative names in text form; critical when the subject is
 * empty (RFC 5280, 4.2.1.6). Errors: those of the buffer. */
enum wd_status wd_pki_names_value(
    const struct wd_pki_names *names, struct wd_buf *value);

/* The extended key usage of a role, in text form. */
const char *wd_pki_usage_of(enum wd_pki_role role);

/* Sets the common name, or leaves the subject empty when it would be too long
 * for one. */
bool wd_pki_name_subject(X509_NAME *subject, const char *name);

#endif
