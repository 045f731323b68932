/* Keys and requests: what is made on the host, and what a CA reads of it. */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <string.h>

#include "base/escape.h"
#include "base/mem.h"
#include "pki/extensions.h"
#include "pki/openssl.h"

#define LEAST_SECURITY_BITS 112 /* NIST SP 800-57, part 1: until 2030 */

static void
extensions_free(X509_EXTENSIONS **list)
{
	sk_X509_EXTENSION_pop_free(*list, X509_EXTENSION_free);
}

static void
names_free(GENERAL_NAMES **names)
{
	GENERAL_NAMES_free(*names);
}

static void
usages_free(EXTENDED_KEY_USAGE **usages)
{
	EXTENDED_KEY_USAGE_free(*usages);
}

/* ---- keys ---------------------------------------------------------------- */

enum wd_status
wd_pki_make_key(struct wd_buf *key, struct wd_error *err)
{
	WD_CLEANUP(wd_pki_key_free) EVP_PKEY *made = EVP_EC_gen("P-256");
	/* Its memory is overwritten when it is freed. */
	WD_CLEANUP(wd_pki_bio_free) BIO *bio = BIO_new(BIO_s_secmem());

	if (made == NULL || bio == NULL ||
	    PEM_write_bio_PKCS8PrivateKey(
		bio, made, NULL, NULL, 0, NULL, NULL) != 1)
		return wd_pki_trouble(err, "making a key");
	return wd_pki_take_text(bio, key, err);
}

/* ---- making a request ---------------------------------------------------- */

static bool
add_extensions(X509_REQ *request, const struct wd_pki_names *names,
    enum wd_pki_role role, struct wd_error *err)
{
	WD_CLEANUP(extensions_free)
	X509_EXTENSIONS *list = sk_X509_EXTENSION_new_null();
	WD_CLEANUP(wd_buf_release) struct wd_buf value = { .data = NULL };
	X509V3_CTX ctx;

	X509V3_set_ctx(&ctx, NULL, NULL, request, NULL, 0);
	wd_buf_init(&value, WD_PKI_PEM_BYTES);
	return list != NULL && wd_pki_names_value(names, &value) == WD_OK &&
	    wd_pki_extend(&list, &ctx, NID_subject_alt_name,
		wd_buf_string(&value), err) == WD_OK &&
	    wd_pki_extend(&list, &ctx, NID_ext_key_usage, wd_pki_usage_of(role),
		err) == WD_OK &&
	    X509_REQ_add_extensions(request, list) == 1;
}

static bool
fill(X509_REQ *request, EVP_PKEY *key, const struct wd_pki_names *names,
    enum wd_pki_role role, struct wd_error *err)
{
	return X509_REQ_set_version(request, X509_REQ_VERSION_1) == 1 &&
	    wd_pki_name_subject(
		X509_REQ_get_subject_name(request), names->items[0].text) &&
	    X509_REQ_set_pubkey(request, key) == 1 &&
	    add_extensions(request, names, role, err) &&
	    X509_REQ_sign(request, key, wd_pki_digest_of(key)) > 0;
}

enum wd_status
wd_pki_make_request(const struct wd_pki_pem *key,
    const struct wd_pki_names *names, enum wd_pki_role role,
    struct wd_buf *request, struct wd_error *err)
{
	WD_CLEANUP(wd_pki_key_free) EVP_PKEY *own = NULL;
	WD_CLEANUP(wd_pki_request_free) X509_REQ *made = X509_REQ_new();
	WD_CLEANUP(wd_pki_bio_free) BIO *bio = BIO_new(BIO_s_mem());
	enum wd_status st = wd_pki_load_key(key, &own, err);

	if (st != WD_OK)
		return st;
	if (names->count == 0)
		return wd_fail(err, WD_INVALID, "a request without a name");
	if (made == NULL || bio == NULL || !fill(made, own, names, role, err) ||
	    PEM_write_bio_X509_REQ(bio, made) != 1)
		return wd_pki_trouble(err, "making a request");
	return wd_pki_take_text(bio, request, err);
}

/* ---- reading a request --------------------------------------------------- */

static unsigned
roles_of(const EXTENDED_KEY_USAGE *usages)
{
	int count = usages == NULL ? 0 : sk_ASN1_OBJECT_num(usages), i;
	unsigned roles = 0;

	for (i = 0; i < count; i++) {
		int nid = OBJ_obj2nid(sk_ASN1_OBJECT_value(usages, i));

		if (nid == NID_server_auth)
			roles |= WD_PKI_HOST;
		if (nid == NID_client_auth)
			roles |= WD_PKI_CLIENT;
	}
	return roles;
}

/* Names it when it is none that we read: it will not be signed. */
static void
note_ignored(struct wd_pki_request *out, X509_EXTENSION *extension)
{
	ASN1_OBJECT *kind = X509_EXTENSION_get_object(extension);
	int nid = OBJ_obj2nid(kind);
	size_t len = strlen(out->ignored_names);
	char name[64], shown[72];

	if (nid == NID_subject_alt_name || nid == NID_ext_key_usage)
		return;
	(void)OBJ_obj2txt(name, sizeof(name), kind, 0);
	wd_escape_short(shown, sizeof(shown), wd_slice_text(name));
	out->ignored++;
	if (len + strlen(shown) + 3 <= sizeof(out->ignored_names))
		(void)snprintf(out->ignored_names + len,
		    sizeof(out->ignored_names) - len, "%s%s",
		    len == 0 ? "" : ", ", shown);
}

static enum wd_status
read_extensions(
    X509_REQ *request, struct wd_pki_request *out, struct wd_error *err)
{
	WD_CLEANUP(extensions_free)
	X509_EXTENSIONS *list = X509_REQ_get_extensions(request);
	WD_CLEANUP(names_free)
	GENERAL_NAMES *names =
	    X509V3_get_d2i(list, NID_subject_alt_name, NULL, NULL);
	WD_CLEANUP(usages_free)
	EXTENDED_KEY_USAGE *usages =
	    X509V3_get_d2i(list, NID_ext_key_usage, NULL, NULL);
	unsigned others = 0;
	enum wd_status st;
	int i;

	st = wd_pki_read_names(names, &out->names, &others, err);
	if (st != WD_OK)
		return st;
	if (others > 0)
		return wd_fail(err, WD_INVALID,
		    "asks for %u names that are neither host names nor IP "
		    "addresses; make the request with `weightctl pki request`",
		    others);
	if (out->names.count == 0)
		return wd_fail(err, WD_INVALID,
		    "asks for no name (a common name alone is none: RFC 9525); "
		    "make the request with `weightctl pki request`");
	out->roles = roles_of(usages);
	for (i = 0; list != NULL && i < sk_X509_EXTENSION_num(list); i++)
		note_ignored(out, sk_X509_EXTENSION_value(list, i));
	return WD_OK;
}

static enum wd_status
digest_key(const EVP_PKEY *key, struct wd_sha256 *sha256, struct wd_error *err)
{
	unsigned char *der = NULL;
	int len = i2d_PUBKEY(key, &der);
	enum wd_status st;

	if (len <= 0)
		return wd_pki_trouble(err, "reading a public key");
	st = wd_sha256((struct wd_slice){ der, (size_t)len }, sha256, err);
	OPENSSL_free(der);
	return st;
}

/* Only who has the key can have signed the request with it. */
static enum wd_status
check_key(X509_REQ *request, struct wd_pki_request *out, struct wd_error *err)
{
	EVP_PKEY *key = X509_REQ_get0_pubkey(request);

	if (key == NULL || X509_REQ_verify(request, key) != 1) {
		ERR_clear_error();
		return wd_fail(err, WD_MALFORMED,
		    "is not signed by its own key; it was changed or damaged "
		    "on the way: fetch it again from its host");
	}
	if (EVP_PKEY_get_security_bits(key) < LEAST_SECURITY_BITS)
		return wd_fail(err, WD_INVALID,
		    "its key is too weak (%d bits of security, %d are needed); "
		    "make the request with `weightctl pki request`",
		    EVP_PKEY_get_security_bits(key), LEAST_SECURITY_BITS);
	return digest_key(key, &out->key_sha256, err);
}

enum wd_status
wd_pki_read_request(const struct wd_pki_pem *pem, struct wd_pki_request *out,
    struct wd_error *err)
{
	WD_CLEANUP(wd_pki_request_free) X509_REQ *request = NULL;
	struct wd_error why;
	char shown[160];
	enum wd_status st = wd_pki_load_request(pem, &request, err);

	memset(out, 0, sizeof(*out));
	if (st != WD_OK)
		return st;
	wd_error_init(&why);
	st = check_key(request, out, &why);
	if (st == WD_OK)
		st = read_extensions(request, out, &why);
	ERR_clear_error();
	if (st != WD_OK)
		return wd_fail(err, st, "%s: %s",
		    wd_escape_short(
			shown, sizeof(shown), wd_slice_text(pem->name)),
		    why.message);
	return WD_OK;
}
