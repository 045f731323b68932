/* Revocation lists (RFC 5280, 5). */
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include "base/escape.h"
#include "base/mem.h"
#include "pki/openssl.h"

static void
number_free(BIGNUM **number)
{
	BN_free(*number);
}

static void
integer_free(ASN1_INTEGER **integer)
{
	ASN1_INTEGER_free(*integer);
}

static void
time_free(ASN1_TIME **time)
{
	ASN1_TIME_free(*time);
}

/* ---- the list so far ----------------------------------------------------- */

static enum wd_status
load_old(const struct wd_pki_pem *old, const struct wd_pki_signer *signer,
    X509_CRL **list, struct wd_error *err)
{
	char shown[160];
	enum wd_status st;

	if (old->text.len == 0) {
		*list = X509_CRL_new();
		return *list != NULL ? WD_OK :
				       wd_pki_trouble(err, "making a list");
	}
	st = wd_pki_load_crl(old, list, err);
	if (st != WD_OK)
		return st;
	if (X509_CRL_verify(*list, X509_get0_pubkey(signer->certificate)) == 1)
		return WD_OK;
	ERR_clear_error();
	return wd_fail(err, WD_INVALID,
	    "%s: is not signed by this CA; move it away",
	    wd_escape_short(shown, sizeof(shown), wd_slice_text(old->name)));
}

/* One more than it was; lists are told apart by it. */
static bool
count_up(X509_CRL *list)
{
	WD_CLEANUP(integer_free)
	ASN1_INTEGER *number =
	    X509_CRL_get_ext_d2i(list, NID_crl_number, NULL, NULL);
	WD_CLEANUP(number_free)
	BIGNUM *count =
	    number == NULL ? BN_new() : ASN1_INTEGER_to_BN(number, NULL);

	if (number == NULL)
		number = ASN1_INTEGER_new();
	return number != NULL && count != NULL && BN_add_word(count, 1) == 1 &&
	    BN_to_ASN1_INTEGER(count, number) != NULL &&
	    X509_CRL_add1_ext_i2d(
		list, NID_crl_number, number, 0, X509V3_ADD_REPLACE) == 1;
}

/* RFC 5280, 5.2.1. A list that was read has one already. */
static bool
name_key(X509_CRL *list, X509 *issuer)
{
	X509_EXTENSION *made;
	X509V3_CTX ctx;
	int added;

	if (X509_CRL_get_ext_by_NID(list, NID_authority_key_identifier, -1) >=
	    0)
		return true;
	X509V3_set_ctx(&ctx, issuer, NULL, NULL, list, 0);
	made = X509V3_EXT_nconf_nid(
	    NULL, &ctx, NID_authority_key_identifier, "keyid:always");
	added = made != NULL && X509_CRL_add_ext(list, made, -1) == 1;
	X509_EXTENSION_free(made);
	return added;
}

/* ---- entries ------------------------------------------------------------- */

static bool
append(X509_CRL *list, const ASN1_INTEGER *serial, ASN1_TIME *now)
{
	X509_REVOKED *entry = X509_REVOKED_new();

	if (entry != NULL &&
	    X509_REVOKED_set_serialNumber(
		entry, (ASN1_INTEGER *)(uintptr_t)serial) == 1 &&
	    X509_REVOKED_set_revocationDate(entry, now) == 1 &&
	    X509_CRL_add0_revoked(list, entry) == 1)
		return true;
	X509_REVOKED_free(entry);
	return false;
}

static enum wd_status
add_serial(X509_CRL *list, const char *text, ASN1_TIME *now, unsigned *added,
    struct wd_error *err)
{
	WD_CLEANUP(number_free) BIGNUM *number = NULL;
	WD_CLEANUP(integer_free) ASN1_INTEGER *serial = NULL;
	X509_REVOKED *there = NULL;
	char shown[64];

	if (BN_hex2bn(&number, text) <= 0 ||
	    (serial = BN_to_ASN1_INTEGER(number, NULL)) == NULL) {
		ERR_clear_error();
		return wd_fail(err, WD_INVALID, "\"%s\" is no serial number",
		    wd_escape_short(shown, sizeof(shown), wd_slice_text(text)));
	}
	if (X509_CRL_get0_by_serial(list, &there, serial) == 1)
		return WD_OK;
	(*added)++;
	return append(list, serial, now) ? WD_OK :
					   wd_pki_trouble(err, "revoking");
}

/* ---- the new list -------------------------------------------------------- */

static enum wd_status
finish(X509_CRL *list, const struct wd_pki_signer *signer, ASN1_TIME *now,
    struct wd_buf *out, struct wd_error *err)
{
	WD_CLEANUP(wd_pki_bio_free) BIO *bio = BIO_new(BIO_s_mem());

	if (bio == NULL ||
	    X509_CRL_set_version(list, X509_CRL_VERSION_2) != 1 ||
	    X509_CRL_set_issuer_name(
		list, X509_get_subject_name(signer->certificate)) != 1 ||
	    X509_CRL_set1_lastUpdate(list, now) != 1 ||
	    X509_CRL_set1_nextUpdate(
		list, X509_get0_notAfter(signer->certificate)) != 1 ||
	    !name_key(list, signer->certificate) || !count_up(list) ||
	    X509_CRL_sort(list) != 1 ||
	    X509_CRL_sign(list, signer->key, wd_pki_digest_of(signer->key)) <=
		0 ||
	    PEM_write_bio_X509_CRL(bio, list) != 1)
		return wd_pki_trouble(err, "making a revocation list");
	return wd_pki_take_text(bio, out, err);
}

enum wd_status
wd_pki_revoke(const struct wd_pki_ca *ca, const struct wd_pki_pem *old,
    const char *const *serials, size_t count, const struct wd_clock *clock,
    unsigned *added, struct wd_buf *out, struct wd_error *err)
{
	WD_CLEANUP(wd_pki_signer_release)
	struct wd_pki_signer signer = { NULL, NULL };
	WD_CLEANUP(wd_pki_crl_free) X509_CRL *list = NULL;
	WD_CLEANUP(time_free)
	ASN1_TIME *now = ASN1_TIME_set(
	    NULL, (time_t)(wd_clock_real_ns(clock) / WD_NS_PER_SECOND));
	enum wd_status st = wd_pki_load_ca(ca, clock, &signer, err);
	size_t i;

	*added = 0;
	if (st == WD_OK && now == NULL)
		st = wd_pki_trouble(err, "reading the clock");
	if (st == WD_OK)
		st = load_old(old, &signer, &list, err);
	for (i = 0; i < count && st == WD_OK; i++)
		st = add_serial(list, serials[i], now, added, err);
	return st == WD_OK ? finish(list, &signer, now, out, err) : st;
}
