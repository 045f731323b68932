/* Certificates: the CA's own, and those that it signs. */
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <string.h>

#include "base/escape.h"
#include "base/mem.h"
#include "base/tls_times.h"
#include "pki/extensions.h"

#define DAY_NS (INT64_C(86400) * WD_NS_PER_SECOND)
#define SERIAL_BITS 127 /* RFC 5280, 4.1.2.2: positive, at most 20 bytes */

static void
names_free(GENERAL_NAMES **names)
{
	GENERAL_NAMES_free(*names);
}

static void
number_free(BIGNUM **number)
{
	BN_free(*number);
}

/* ---- parts --------------------------------------------------------------- */

/* Random, and with the top bit set, so never 0 and always of one length. */
static bool
set_serial(X509 *certificate)
{
	WD_CLEANUP(number_free) BIGNUM *number = BN_new();

	return number != NULL &&
	    BN_rand(number, SERIAL_BITS, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) ==
	    1 &&
	    BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) !=
	    NULL;
}

static bool
set_time(ASN1_TIME *time, int64_t ns)
{
	return time != NULL &&
	    ASN1_TIME_set(time, (time_t)(ns / WD_NS_PER_SECOND)) != NULL;
}

static bool
set_times(X509 *certificate, int64_t now_ns, int64_t to_ns)
{
	return set_time(X509_getm_notBefore(certificate),
		   now_ns - WD_PKI_BACKDATE_SECONDS * WD_NS_PER_SECOND) &&
	    set_time(X509_getm_notAfter(certificate), to_ns);
}

/* A new certificate with serial number and times. */
static enum wd_status
start(int64_t now_ns, int64_t to_ns, X509 **certificate, struct wd_error *err)
{
	*certificate = X509_new();
	if (*certificate != NULL &&
	    X509_set_version(*certificate, X509_VERSION_3) == 1 &&
	    set_serial(*certificate) && set_times(*certificate, now_ns, to_ns))
		return WD_OK;
	return wd_pki_trouble(err, "making a certificate");
}

struct part {
	int nid;
	const char *value;
};

/* One after the other: the authority key identifier of a CA's own certificate
 * is its subject key identifier, which must be there first. */
static enum wd_status
add_parts(X509 *certificate, X509 *issuer, const struct part *parts,
    size_t count, struct wd_error *err)
{
	X509V3_CTX ctx;
	size_t i;

	X509V3_set_ctx(&ctx, issuer, certificate, NULL, NULL, 0);
	for (i = 0; i < count; i++) {
		X509_EXTENSION *made = X509V3_EXT_nconf_nid(
		    NULL, &ctx, parts[i].nid, parts[i].value);
		int added =
		    made != NULL && X509_add_ext(certificate, made, -1) == 1;

		X509_EXTENSION_free(made);
		if (!added)
			return wd_pki_trouble(err, OBJ_nid2sn(parts[i].nid));
	}
	return WD_OK;
}

static enum wd_status
write_certificate(
    const X509 *certificate, struct wd_buf *out, struct wd_error *err)
{
	WD_CLEANUP(wd_pki_bio_free) BIO *bio = BIO_new(BIO_s_mem());

	if (bio == NULL || PEM_write_bio_X509(bio, certificate) != 1)
		return wd_pki_trouble(err, "writing a certificate");
	return wd_pki_take_text(bio, out, err);
}

static enum wd_status
check_days(unsigned days, struct wd_error *err)
{
	if (days > 0 && days <= WD_PKI_MAX_DAYS)
		return WD_OK;
	return wd_fail(
	    err, WD_INVALID, "--days must be from 1 to %d", WD_PKI_MAX_DAYS);
}

/* ---- the CA's own -------------------------------------------------------- */

/* Free text, but a name: people read it in lists. */
static enum wd_status
check_ca_name(const char *name, struct wd_error *err)
{
	struct wd_slice text = wd_slice_text(name), rest = text;
	uint32_t code = 0;
	size_t len;

	while (rest.len > 0 && (len = wd_utf8_char(rest, &code)) > 0 &&
	    wd_code_point_plain(code)) {
		rest.data += len;
		rest.len -= len;
	}
	if (text.len > 0 && text.len <= WD_PKI_MOST_IN_SUBJECT && rest.len == 0)
		return WD_OK;
	return wd_fail(err, WD_INVALID,
	    "--name must be of 1 to %d bytes of plain text",
	    WD_PKI_MOST_IN_SUBJECT);
}

static enum wd_status
fill_ca(X509 *made, EVP_PKEY *key, const char *name, struct wd_error *err)
{
	static const struct part parts[] = {
		{ NID_basic_constraints, "critical,CA:TRUE,pathlen:0" },
		{ NID_key_usage, "critical,keyCertSign,cRLSign" },
		{ NID_subject_key_identifier, "hash" },
		{ NID_authority_key_identifier, "keyid:always" },
	};
	X509_NAME *subject = X509_get_subject_name(made);
	enum wd_status st;

	if (!wd_pki_name_subject(subject, name) ||
	    X509_set_issuer_name(made, subject) != 1 ||
	    X509_set_pubkey(made, key) != 1)
		return wd_pki_trouble(err, "making a CA");
	st =
	    add_parts(made, made, parts, sizeof(parts) / sizeof(parts[0]), err);
	if (st == WD_OK && X509_sign(made, key, wd_pki_digest_of(key)) <= 0)
		return wd_pki_trouble(err, "signing the CA");
	return st;
}

enum wd_status
wd_pki_make_ca(const struct wd_pki_pem *key, const char *name, unsigned days,
    const struct wd_clock *clock, struct wd_buf *certificate,
    struct wd_error *err)
{
	WD_CLEANUP(wd_pki_key_free) EVP_PKEY *own = NULL;
	WD_CLEANUP(wd_pki_x509_free) X509 *made = NULL;
	int64_t now = wd_clock_real_ns(clock);
	enum wd_status st = check_days(days, err);

	if (st == WD_OK)
		st = check_ca_name(name, err);
	if (st == WD_OK)
		st = wd_pki_load_key(key, &own, err);
	if (st == WD_OK)
		st = start(now, now + days * DAY_NS, &made, err);
	if (st == WD_OK)
		st = fill_ca(made, own, name, err);
	return st == WD_OK ? write_certificate(made, certificate, err) : st;
}

/* ---- signing ------------------------------------------------------------- */

static enum wd_status
add_leaf_parts(X509 *made, const struct wd_pki_grant *grant, X509 *ca,
    struct wd_error *err)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf names = { .data = NULL };
	struct part parts[] = {
		{ NID_basic_constraints, "critical,CA:FALSE" },
		{ NID_key_usage, "critical,digitalSignature" },
		{ NID_ext_key_usage, wd_pki_usage_of(grant->role) },
		{ NID_subject_key_identifier, "hash" },
		{ NID_authority_key_identifier, "keyid:always" },
		{ NID_subject_alt_name, NULL },
	};
	size_t count = sizeof(parts) / sizeof(parts[0]);

	wd_buf_init(&names, WD_PKI_PEM_BYTES);
	if (wd_pki_names_value(&grant->names, &names) != WD_OK)
		return wd_fail(err, names.status, "no memory for names");
	parts[count - 1].value = wd_buf_string(&names);
	return add_parts(made, ca, parts, count, err);
}

/* What was signed is read back: these names and no other. */
static enum wd_status
check_signed(X509 *made, const struct wd_pki_grant *grant,
    struct wd_pki_signer *signer, struct wd_error *err)
{
	struct wd_pki_names names = { .count = 0 };
	WD_CLEANUP(names_free)
	GENERAL_NAMES *list =
	    X509_get_ext_d2i(made, NID_subject_alt_name, NULL, NULL);
	unsigned others = 0;
	enum wd_status st = wd_pki_read_names(list, &names, &others, err);

	if (st != WD_OK)
		return st;
	if (others == 0 && wd_pki_names_equal(&names, &grant->names) &&
	    X509_verify(made, X509_get0_pubkey(signer->certificate)) == 1)
		return WD_OK;
	ERR_clear_error();
	return wd_fail(err, WD_CORRUPT,
	    "the signed certificate does not say what was to be signed");
}

static enum wd_status
fill_leaf(X509 *made, X509_REQ *request, struct wd_pki_grant *grant,
    struct wd_pki_signer *signer, struct wd_error *err)
{
	enum wd_status st;

	if (!wd_pki_name_subject(
		X509_get_subject_name(made), grant->names.items[0].text) ||
	    X509_set_issuer_name(
		made, X509_get_subject_name(signer->certificate)) != 1 ||
	    X509_set_pubkey(made, X509_REQ_get0_pubkey(request)) != 1)
		return wd_pki_trouble(err, "making a certificate");
	st = add_leaf_parts(made, grant, signer->certificate, err);
	if (st == WD_OK &&
	    X509_sign(made, signer->key, wd_pki_digest_of(signer->key)) <= 0)
		st = wd_pki_trouble(err, "signing the certificate");
	if (st == WD_OK)
		st = check_signed(made, grant, signer, err);
	if (st == WD_OK)
		st = wd_pki_serial_text(
		    X509_get0_serialNumber(made), grant->serial, err);
	return st;
}

static enum wd_status
sign(struct wd_pki_signer *signer, X509_REQ *request,
    struct wd_pki_grant *grant, int64_t now, struct wd_buf *certificate,
    struct wd_error *err)
{
	WD_CLEANUP(wd_pki_x509_free) X509 *made = NULL;
	int64_t ca_ends =
	    wd_tls_time_ns(X509_get0_notAfter(signer->certificate));
	int64_t to = now + grant->days * DAY_NS;
	enum wd_status st;

	grant->is_cut = to > ca_ends;
	st = start(now, grant->is_cut ? ca_ends : to, &made, err);
	if (st == WD_OK)
		st = fill_leaf(made, request, grant, signer, err);
	return st == WD_OK ? write_certificate(made, certificate, err) : st;
}

enum wd_status
wd_pki_sign(const struct wd_pki_ca *ca, const struct wd_pki_pem *pem,
    struct wd_pki_grant *grant, const struct wd_clock *clock,
    struct wd_buf *certificate, struct wd_error *err)
{
	WD_CLEANUP(wd_pki_request_free) X509_REQ *request = NULL;
	WD_CLEANUP(wd_pki_signer_release)
	struct wd_pki_signer signer = { NULL, NULL };
	struct wd_pki_request asked;
	enum wd_status st = check_days(grant->days, err);

	if (st == WD_OK && (grant->names.count == 0 || grant->role == 0))
		st = wd_fail(err, WD_INVALID, "nothing is to be signed");
	if (st == WD_OK)
		st = wd_pki_read_request(pem, &asked, err);
	if (st == WD_OK)
		st = wd_pki_load_request(pem, &request, err);
	if (st == WD_OK)
		st = wd_pki_load_ca(ca, clock, &signer, err);
	return st == WD_OK ? sign(&signer, request, grant,
				 wd_clock_real_ns(clock), certificate, err) :
			     st;
}
