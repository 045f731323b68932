#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/tls.h"

static void
add(struct wd_tls_names *names, const char *kind, const ASN1_STRING *string)
{
	struct wd_slice text = { ASN1_STRING_get0_data(string),
		(size_t)ASN1_STRING_length(string) };

	/* A NUL in a name has been used to pass for somebody else. */
	if (names->count == WD_TLS_MAX_NAMES || text.len == 0 ||
	    text.len + strlen(kind) >= WD_TLS_MAX_NAME ||
	    memchr(text.data, '\0', text.len) != NULL || !wd_utf8_valid(text))
		return;
	(void)snprintf(names->items[names->count++], WD_TLS_MAX_NAME, "%s%.*s",
	    kind, (int)text.len, (const char *)text.data);
}

static void
add_alternatives(struct wd_tls_names *names, const GENERAL_NAMES *all,
    int wanted, const char *kind)
{
	int i;

	for (i = 0; i < sk_GENERAL_NAME_num(all); i++) {
		const GENERAL_NAME *name = sk_GENERAL_NAME_value(all, i);

		if (name->type == wanted)
			add(names, kind, name->d.ia5);
	}
}

static void
add_common_name(struct wd_tls_names *names, const X509 *certificate)
{
	const X509_NAME *subject = X509_get_subject_name(certificate);
	int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
	unsigned char *utf8 = NULL;
	int len;

	/* Two common names: which one is meant? */
	if (at < 0 ||
	    X509_NAME_get_index_by_NID(subject, NID_commonName, at) >= 0)
		return;
	len = ASN1_STRING_to_UTF8(
	    &utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
	if (len > 0) {
		ASN1_STRING *copy = ASN1_STRING_new();

		if (copy != NULL && ASN1_STRING_set(copy, utf8, len) == 1)
			add(names, "cn:", copy);
		ASN1_STRING_free(copy);
	}
	OPENSSL_free(utf8);
}

void
wd_tls_peer_names(const struct ssl_st *session, struct wd_tls_names *names)
{
	X509 *peer = SSL_get0_peer_certificate(session);
	GENERAL_NAMES *all;

	names->count = 0;
	if (peer == NULL || !wd_tls_is_verified(session))
		return;
	all = X509_get_ext_d2i(peer, NID_subject_alt_name, NULL, NULL);
	if (all != NULL) {
		add_alternatives(names, all, GEN_URI, "uri:");
		add_alternatives(names, all, GEN_DNS, "dns:");
		GENERAL_NAMES_free(all);
	}
	add_common_name(names, peer);
}
