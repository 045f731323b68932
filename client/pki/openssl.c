#include "pki/openssl.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <string.h>

#include "base/escape.h"
#include "base/mem.h"
#include "base/tls_times.h"

void
wd_pki_bio_free(BIO **bio)
{
	BIO_free(*bio);
}

void
wd_pki_key_free(EVP_PKEY **key)
{
	EVP_PKEY_free(*key);
}

void
wd_pki_x509_free(X509 **certificate)
{
	X509_free(*certificate);
}

void
wd_pki_request_free(X509_REQ **request)
{
	X509_REQ_free(*request);
}

void
wd_pki_crl_free(X509_CRL **list)
{
	X509_CRL_free(*list);
}

void
wd_pki_forget(struct wd_buf *buf)
{
	if (buf->data != NULL)
		OPENSSL_cleanse(buf->data, buf->capacity);
	wd_buf_release(buf);
}

enum wd_status
wd_pki_trouble(struct wd_error *err, const char *what)
{
	const char *reason = ERR_reason_error_string(ERR_peek_last_error());

	ERR_clear_error();
	return wd_fail(err, WD_IO, "%s: OpenSSL failed: %s", what,
	    reason == NULL ? "no reason is given" : reason);
}

/* ---- PEM ----------------------------------------------------------------- */

static BIO *
open_pem(const struct wd_pki_pem *pem)
{
	if (pem->text.len == 0 || pem->text.len > INT32_MAX)
		return BIO_new_mem_buf("", 0);
	return BIO_new_mem_buf(pem->text.data, (int)pem->text.len);
}

static enum wd_status
refuse(struct wd_error *err, const struct wd_pki_pem *pem, const char *wanted)
{
	char shown[160];

	ERR_clear_error();
	return wd_fail(err, WD_MALFORMED, "%s: holds no %s in PEM form",
	    wd_escape_short(shown, sizeof(shown), wd_slice_text(pem->name)),
	    wanted);
}

/* Nobody is there to be asked. */
static int
no_passphrase(char *buffer, int size, int writing, void *ctx)
{
	(void)buffer;
	(void)size;
	(void)writing;
	(void)ctx;
	return -1;
}

enum wd_status
wd_pki_load_key(
    const struct wd_pki_pem *pem, EVP_PKEY **key, struct wd_error *err)
{
	WD_CLEANUP(wd_pki_bio_free) BIO *bio = open_pem(pem);

	*key = bio == NULL ?
	    NULL :
	    PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);
	return *key != NULL ?
	    WD_OK :
	    refuse(err, pem, "private key without a passphrase");
}

enum wd_status
wd_pki_load_certificate(
    const struct wd_pki_pem *pem, X509 **certificate, struct wd_error *err)
{
	WD_CLEANUP(wd_pki_bio_free) BIO *bio = open_pem(pem);

	*certificate = bio == NULL ?
	    NULL :
	    PEM_read_bio_X509(bio, NULL, no_passphrase, NULL);
	return *certificate != NULL ? WD_OK : refuse(err, pem, "certificate");
}

enum wd_status
wd_pki_load_request(
    const struct wd_pki_pem *pem, X509_REQ **request, struct wd_error *err)
{
	WD_CLEANUP(wd_pki_bio_free) BIO *bio = open_pem(pem);

	*request = bio == NULL ?
	    NULL :
	    PEM_read_bio_X509_REQ(bio, NULL, no_passphrase, NULL);
	return *request != NULL ? WD_OK :
				  refuse(err, pem, "certificate request");
}

enum wd_status
wd_pki_load_crl(
    const struct wd_pki_pem *pem, X509_CRL **list, struct wd_error *err)
{
	WD_CLEANUP(wd_pki_bio_free) BIO *bio = open_pem(pem);

	*list = bio == NULL ?
	    NULL :
	    PEM_read_bio_X509_CRL(bio, NULL, no_passphrase, NULL);
	return *list != NULL ? WD_OK : refuse(err, pem, "revocation list");
}

enum wd_status
wd_pki_take_text(BIO *bio, struct wd_buf *out, struct wd_error *err)
{
	char part[1024];
	int got;

	while ((got = BIO_read(bio, part, sizeof(part))) > 0)
		(void)wd_buf_append(out, part, (size_t)got);
	OPENSSL_cleanse(part, sizeof(part));
	return out->status == WD_OK ?
	    WD_OK :
	    wd_fail(err, out->status, "no memory for PEM text");
}

/* ---- names --------------------------------------------------------------- */

static enum wd_status
read_dns(const ASN1_IA5STRING *value, struct wd_pki_names *names,
    struct wd_error *err)
{
	int len = ASN1_STRING_length(value);
	WD_CLEANUP(wd_free_scoped)
	char *text = wd_memdup0(ASN1_STRING_get0_data(value), (size_t)len);

	if (text == NULL)
		return wd_fail(err, WD_NOMEM, "no memory for names");
	if (strlen(text) != (size_t)len)
		return wd_fail(err, WD_INVALID, "a host name holds a NUL");
	return wd_pki_names_add(names, text, err);
}

static enum wd_status
read_name(const GENERAL_NAME *name, struct wd_pki_names *names,
    unsigned *others, struct wd_error *err)
{
	if (name->type == GEN_DNS)
		return read_dns(name->d.dNSName, names, err);
	if (name->type == GEN_IPADD)
		return wd_pki_names_add_ip(names,
		    ASN1_STRING_get0_data(name->d.iPAddress),
		    (size_t)ASN1_STRING_length(name->d.iPAddress), err);
	(*others)++;
	return WD_OK;
}

enum wd_status
wd_pki_read_names(const GENERAL_NAMES *list, struct wd_pki_names *names,
    unsigned *others, struct wd_error *err)
{
	int count = list == NULL ? 0 : sk_GENERAL_NAME_num(list), i;
	enum wd_status st = WD_OK;

	for (i = 0; i < count && st == WD_OK; i++)
		st = read_name(
		    sk_GENERAL_NAME_value(list, i), names, others, err);
	return st;
}

/* ---- the CA -------------------------------------------------------------- */

const EVP_MD *
wd_pki_digest_of(const EVP_PKEY *key)
{
	if (EVP_PKEY_is_a(key, "ED25519") || EVP_PKEY_is_a(key, "ED448"))
		return NULL;
	return EVP_sha256();
}

void
wd_pki_signer_release(struct wd_pki_signer *signer)
{
	X509_free(signer->certificate);
	EVP_PKEY_free(signer->key);
	*signer = (struct wd_pki_signer){ NULL, NULL };
}

static enum wd_status
check_ca(const struct wd_pki_ca *ca, const struct wd_pki_signer *signer,
    struct wd_error *err)
{
	char shown[160], other[160];

	wd_escape_short(
	    shown, sizeof(shown), wd_slice_text(ca->certificate.name));
	if (X509_check_ca(signer->certificate) != 1 ||
	    (X509_get_key_usage(signer->certificate) & KU_KEY_CERT_SIGN) == 0)
		return wd_fail(err, WD_INVALID,
		    "%s: is no certificate of a CA; `weightctl pki init` makes "
		    "one",
		    shown);
	if (X509_check_private_key(signer->certificate, signer->key) == 1)
		return WD_OK;
	ERR_clear_error();
	return wd_fail(err, WD_INVALID,
	    "%s: is not the key of the certificate in %s; put the two files "
	    "of one CA there",
	    wd_escape_short(other, sizeof(other), wd_slice_text(ca->key.name)),
	    shown);
}

enum wd_status
wd_pki_load_ca(const struct wd_pki_ca *ca, const struct wd_clock *clock,
    struct wd_pki_signer *signer, struct wd_error *err)
{
	enum wd_status st;

	*signer = (struct wd_pki_signer){ NULL, NULL };
	st = wd_pki_load_certificate(
	    &ca->certificate, &signer->certificate, err);
	if (st == WD_OK)
		st = wd_pki_load_key(&ca->key, &signer->key, err);
	if (st == WD_OK)
		st = check_ca(ca, signer, err);
	if (st == WD_OK)
		st = wd_tls_check_times(
		    signer->certificate, ca->certificate.name, clock, err);
	if (st != WD_OK)
		wd_pki_signer_release(signer);
	return st;
}

enum wd_status
wd_pki_serial_text(const ASN1_INTEGER *serial, char text[WD_PKI_SERIAL_BYTES],
    struct wd_error *err)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *bytes = ASN1_STRING_get0_data(serial);
	int len = ASN1_STRING_length(serial), i;

	if (len <= 0 || (size_t)len * 2 >= WD_PKI_SERIAL_BYTES)
		return wd_fail(
		    err, WD_MALFORMED, "a serial number of %d bytes", len);
	for (i = 0; i < len; i++) {
		*text++ = digits[bytes[i] >> 4];
		*text++ = digits[bytes[i] & 15];
	}
	*text = '\0';
	return WD_OK;
}
