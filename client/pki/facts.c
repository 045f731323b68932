/* What certificates say, for people. */
#include <openssl/err.h>
#include <string.h>

#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/tls_times.h"
#include "pki/openssl.h"

static void
names_free(GENERAL_NAMES **names)
{
	GENERAL_NAMES_free(*names);
}

/* ---- names --------------------------------------------------------------- */

/* OpenSSL's text of a name, made safe. */
static void
show_bio(BIO *bio, char *out, size_t size)
{
	char text[512];
	int got = BIO_read(bio, text, sizeof(text));

	wd_escape_short(out, size,
	    (struct wd_slice){
		(const uint8_t *)text, got > 0 ? (size_t)got : 0 });
}

static enum wd_status
show_subject(
    const X509_NAME *name, char *out, size_t size, struct wd_error *err)
{
	WD_CLEANUP(wd_pki_bio_free) BIO *bio = BIO_new(BIO_s_mem());
	unsigned long style = (XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);

	if (bio == NULL || X509_NAME_print_ex(bio, name, 0, style) < 0)
		return wd_pki_trouble(err, "reading a name");
	show_bio(bio, out, size);
	return WD_OK;
}

static enum wd_status
show_name(GENERAL_NAME *name, struct wd_buf *out, struct wd_error *err)
{
	WD_CLEANUP(wd_pki_bio_free) BIO *bio = BIO_new(BIO_s_mem());
	char shown[300];

	if (bio == NULL || GENERAL_NAME_print(bio, name) != 1)
		return wd_pki_trouble(err, "reading a name");
	show_bio(bio, shown, sizeof(shown));
	(void)wd_buf_printf(out, "%s%s", out->len == 0 ? "" : ", ", shown);
	return WD_OK;
}

static enum wd_status
read_names(X509 *certificate, struct wd_pki_facts *facts, struct wd_error *err)
{
	WD_CLEANUP(names_free)
	GENERAL_NAMES *list =
	    X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
	int count = list == NULL ? 0 : sk_GENERAL_NAME_num(list), i;
	enum wd_status st = WD_OK;
	unsigned others = 0;

	for (i = 0; i < count && st == WD_OK; i++)
		st = show_name(
		    sk_GENERAL_NAME_value(list, i), &facts->names, err);
	/* A certificate of another CA may hold what ours cannot. */
	if (st == WD_OK &&
	    wd_pki_read_names(list, &facts->plain, &others, NULL) != WD_OK)
		facts->plain.count = 0;
	return st;
}

/* ---- the rest ------------------------------------------------------------ */

static void
read_use(X509 *certificate, struct wd_pki_facts *facts)
{
	facts->is_ca = X509_check_ca(certificate) == 1;
	facts->for_hosts = !facts->is_ca &&
	    X509_check_purpose(certificate, X509_PURPOSE_SSL_SERVER, 0) == 1;
	facts->for_clients = !facts->is_ca &&
	    X509_check_purpose(certificate, X509_PURPOSE_SSL_CLIENT, 0) == 1;
}

static void
read_key(X509 *certificate, struct wd_pki_facts *facts)
{
	const EVP_PKEY *key = X509_get0_pubkey(certificate);
	const char *kind = key == NULL ? NULL : EVP_PKEY_get0_type_name(key);
	char group[32] = "";

	if (kind == NULL) {
		(void)snprintf(facts->key, sizeof(facts->key), "not known");
		return;
	}
	if (EVP_PKEY_get_group_name(key, group, sizeof(group), NULL) != 1)
		group[0] = '\0';
	(void)snprintf(facts->key, sizeof(facts->key), "%s%s%s, %d bits", kind,
	    group[0] == '\0' ? "" : " ", group, EVP_PKEY_get_bits(key));
}

static enum wd_status
read_digest(
    const X509 *certificate, struct wd_sha256 *sha256, struct wd_error *err)
{
	unsigned char *der = NULL;
	int len = i2d_X509(certificate, &der);
	enum wd_status st;

	if (len <= 0)
		return wd_pki_trouble(err, "reading a certificate");
	st = wd_sha256((struct wd_slice){ der, (size_t)len }, sha256, err);
	OPENSSL_free(der);
	return st;
}

enum wd_status
wd_pki_read_certificate(const struct wd_pki_pem *pem,
    struct wd_pki_facts *facts, struct wd_error *err)
{
	WD_CLEANUP(wd_pki_x509_free) X509 *read = NULL;
	enum wd_status st;

	memset(facts, 0, sizeof(*facts));
	wd_buf_init(&facts->names, WD_PKI_PEM_BYTES);
	st = wd_pki_load_certificate(pem, &read, err);
	if (st != WD_OK)
		return st;
	st = show_subject(X509_get_subject_name(read), facts->subject,
	    sizeof(facts->subject), err);
	if (st == WD_OK)
		st = show_subject(X509_get_issuer_name(read), facts->issuer,
		    sizeof(facts->issuer), err);
	if (st == WD_OK)
		st = read_names(read, facts, err);
	if (st == WD_OK)
		st = wd_pki_serial_text(
		    X509_get0_serialNumber(read), facts->serial, err);
	read_use(read, facts);
	read_key(read, facts);
	facts->from_ns = wd_tls_time_ns(X509_get0_notBefore(read));
	facts->to_ns = wd_tls_time_ns(X509_get0_notAfter(read));
	ERR_clear_error();
	return st == WD_OK ? read_digest(read, &facts->sha256, err) : st;
}

void
wd_pki_facts_release(struct wd_pki_facts *facts)
{
	wd_buf_release(&facts->names);
}

enum wd_status
wd_pki_is_pair(const struct wd_pki_pem *certificate,
    const struct wd_pki_pem *key, bool *is_pair, struct wd_error *err)
{
	WD_CLEANUP(wd_pki_x509_free) X509 *read = NULL;
	WD_CLEANUP(wd_pki_key_free) EVP_PKEY *own = NULL;
	enum wd_status st = wd_pki_load_certificate(certificate, &read, err);

	if (st == WD_OK)
		st = wd_pki_load_key(key, &own, err);
	if (st != WD_OK)
		return st;
	*is_pair = X509_check_private_key(read, own) == 1;
	ERR_clear_error();
	return WD_OK;
}
