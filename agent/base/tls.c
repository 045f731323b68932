#include "base/tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <string.h>

#include "base/escape.h"
#include "base/mem.h"
#include "base/tls_times.h"

struct wd_tls {
	SSL_CTX *ctx;
	int64_t ends_ns;
};

/* ---- OpenSSL's objects as scoped variables --------------------------------
 */

static void
bio_free(BIO **bio)
{
	BIO_free(*bio);
}

static void
x509_free(X509 **certificate)
{
	X509_free(*certificate);
}

static void
key_free(EVP_PKEY **key)
{
	EVP_PKEY_free(*key);
}

static enum wd_status
no_memory(struct wd_error *err)
{
	ERR_clear_error();
	return wd_fail(err, WD_NOMEM, "TLS: out of memory");
}

static enum wd_status
refuse_pem(
    struct wd_error *err, const struct wd_tls_pem *pem, const char *wanted)
{
	char shown[128];

	ERR_clear_error();
	return wd_fail(err, WD_MALFORMED, "%s: holds no %s in PEM form",
	    wd_escape_short(shown, sizeof(shown), wd_slice_text(pem->name)),
	    wanted);
}

static BIO *
open_pem(const struct wd_tls_pem *pem)
{
	if (pem->text.len == 0 || pem->text.len > INT32_MAX)
		return BIO_new_mem_buf("", 0);
	return BIO_new_mem_buf(pem->text.data, (int)pem->text.len);
}

/* A key with a passphrase cannot be read: nobody is there to be asked. */
static int
no_passphrase(char *buffer, int size, int writing, void *ctx)
{
	(void)buffer;
	(void)size;
	(void)writing;
	(void)ctx;
	return -1;
}

/* ---- loading ------------------------------------------------------------- */

static enum wd_status
load_chain(SSL_CTX *ctx, BIO *bio, struct wd_error *err)
{
	X509 *more;

	while ((more = PEM_read_bio_X509(bio, NULL, no_passphrase, NULL)) !=
	    NULL) {
		if (SSL_CTX_add0_chain_cert(ctx, more) == 1)
			continue;
		X509_free(more);
		return no_memory(err);
	}
	ERR_clear_error();
	return WD_OK;
}

static enum wd_status
load_certificate(struct wd_tls *tls, const struct wd_tls_pem *pem,
    const struct wd_clock *clock, struct wd_error *err)
{
	WD_CLEANUP(bio_free) BIO *bio = open_pem(pem);
	WD_CLEANUP(x509_free) X509 *own = NULL;
	enum wd_status st;

	if (bio == NULL)
		return no_memory(err);
	own = PEM_read_bio_X509(bio, NULL, no_passphrase, NULL);
	if (own == NULL)
		return refuse_pem(err, pem, "certificate");
	st = wd_tls_check_times(own, pem->name, clock, err);
	if (st != WD_OK)
		return st;
	tls->ends_ns = wd_tls_time_ns(X509_get0_notAfter(own));
	if (SSL_CTX_use_certificate(tls->ctx, own) != 1)
		return refuse_pem(err, pem, "certificate that can be used");
	return load_chain(tls->ctx, bio, err);
}

static enum wd_status
load_key(
    SSL_CTX *ctx, const struct wd_tls_material *material, struct wd_error *err)
{
	WD_CLEANUP(bio_free) BIO *bio = open_pem(&material->key);
	WD_CLEANUP(key_free) EVP_PKEY *key = NULL;
	char shown[128], other[128];

	if (bio == NULL)
		return no_memory(err);
	key = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);
	if (key == NULL)
		return refuse_pem(
		    err, &material->key, "private key without a passphrase");
	if (SSL_CTX_use_PrivateKey(ctx, key) == 1 &&
	    SSL_CTX_check_private_key(ctx) == 1)
		return WD_OK;
	ERR_clear_error();
	return wd_fail(err, WD_INVALID,
	    "%s: not the key of the certificate in %s; put both files in "
	    "place, then reload",
	    wd_escape_short(
		shown, sizeof(shown), wd_slice_text(material->key.name)),
	    wd_escape_short(other, sizeof(other),
		wd_slice_text(material->certificate.name)));
}

static enum wd_status
load_ca(SSL_CTX *ctx, const struct wd_tls_pem *pem, struct wd_error *err)
{
	WD_CLEANUP(bio_free) BIO *bio = open_pem(pem);
	X509_STORE *store = SSL_CTX_get_cert_store(ctx);
	unsigned count = 0;
	X509 *ca;

	if (bio == NULL)
		return no_memory(err);
	while (
	    (ca = PEM_read_bio_X509(bio, NULL, no_passphrase, NULL)) != NULL) {
		int added = X509_STORE_add_cert(store, ca) == 1 &&
		    SSL_CTX_add_client_CA(ctx, ca) == 1;

		X509_free(ca);
		if (!added)
			return no_memory(err);
		count++;
	}
	ERR_clear_error();
	return count > 0 ? WD_OK : refuse_pem(err, pem, "CA certificate");
}

static enum wd_status
load_crl(SSL_CTX *ctx, const struct wd_tls_pem *pem, struct wd_error *err)
{
	WD_CLEANUP(bio_free) BIO *bio = open_pem(pem);
	X509_STORE *store = SSL_CTX_get_cert_store(ctx);
	unsigned count = 0;
	X509_CRL *crl;

	if (bio == NULL)
		return no_memory(err);
	while ((crl = PEM_read_bio_X509_CRL(bio, NULL, no_passphrase, NULL)) !=
	    NULL) {
		int added = X509_STORE_add_crl(store, crl);

		X509_CRL_free(crl);
		if (added != 1)
			return no_memory(err);
		count++;
	}
	ERR_clear_error();
	if (count == 0)
		return refuse_pem(err, pem, "revocation list");
	if (X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK) != 1)
		return no_memory(err);
	return WD_OK;
}

/* ---- the certificate that failed ------------------------------------------
 *
 * OpenSSL forgets it with the handshake; kept beside the session, its dates
 * can be told. */

static CRYPTO_ONCE once = CRYPTO_ONCE_STATIC_INIT;
static int refused_index = -1;

static void
free_refused(void *session, void *refused, CRYPTO_EX_DATA *data, int index,
    long number, void *ctx)
{
	(void)session;
	(void)data;
	(void)index;
	(void)number;
	(void)ctx;
	X509_free(refused);
}

static void
make_index(void)
{
	refused_index = SSL_get_ex_new_index(0, NULL, NULL, NULL, free_refused);
}

static int
note_refused(int is_good, X509_STORE_CTX *check)
{
	SSL *session = X509_STORE_CTX_get_ex_data(
	    check, SSL_get_ex_data_X509_STORE_CTX_idx());
	X509 *bad = X509_STORE_CTX_get_current_cert(check);

	if (is_good == 1 || session == NULL || bad == NULL ||
	    SSL_get_ex_data(session, refused_index) != NULL)
		return is_good;
	if (X509_up_ref(bad) == 1 &&
	    SSL_set_ex_data(session, refused_index, bad) != 1)
		X509_free(bad);
	return is_good;
}

/* ---- configuration ------------------------------------------------------- */

/* A session is taken up again without a look at the client's certificate, so
 * its dates are looked at here; a full handshake then says what is wrong. */
static SSL_TICKET_RETURN
take_ticket(SSL *session, SSL_SESSION *kept, const unsigned char *key_name,
    size_t key_name_len, SSL_TICKET_STATUS status, void *clock)
{
	X509 *peer = kept == NULL ? NULL : SSL_SESSION_get0_peer(kept);

	(void)session;
	(void)key_name;
	(void)key_name_len;
	if (status == SSL_TICKET_EMPTY || status == SSL_TICKET_NO_DECRYPT ||
	    peer == NULL ||
	    wd_tls_check_times(peer, "the certificate", clock, NULL) != WD_OK)
		return SSL_TICKET_RETURN_IGNORE_RENEW;
	return SSL_TICKET_RETURN_USE;
}

/* The key of tickets is made with the SSL_CTX and dies with it, which every
 * reload replaces. `clock` must outlive the sessions. */
static int
give_tickets(SSL_CTX *ctx, const struct wd_clock *clock)
{
	void *arg;

	memcpy(&arg, &clock, sizeof(arg)); /* OpenSSL's pointer is not const */
	(void)SSL_CTX_set_timeout(ctx, WD_TLS_TICKET_SECONDS);
	return SSL_CTX_set_session_ticket_cb(ctx, NULL, take_ticket, arg) ==
	    1 &&
	    SSL_CTX_set_num_tickets(ctx, 1) == 1;
}

static enum wd_status
set_rules(SSL_CTX *ctx, enum wd_tls_side side, const struct wd_clock *clock,
    struct wd_error *err)
{
	static const unsigned char name[] = "weightd";

	SSL_CTX_set_verify(ctx,
	    SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, note_refused);
	(void)SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	/* Idle connections give their buffers back: 34 KB each. */
	(void)SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
	if (SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) != 1 ||
	    SSL_CTX_set_max_early_data(ctx, 0) != 1 ||
	    (side == WD_TLS_SERVER && !give_tickets(ctx, clock)) ||
	    SSL_CTX_set_session_id_context(ctx, name, sizeof(name) - 1) != 1)
		return no_memory(err);
	return WD_OK;
}

enum wd_status
wd_tls_new(enum wd_tls_side side, const struct wd_tls_material *material,
    const struct wd_clock *clock, struct wd_tls **tls, struct wd_error *err)
{
	WD_CLEANUP(wd_tls_free)
	struct wd_tls *made = wd_calloc(1, sizeof(*made));
	enum wd_status st;

	if (made == NULL || CRYPTO_THREAD_run_once(&once, make_index) != 1 ||
	    refused_index < 0)
		return no_memory(err);
	made->ctx = SSL_CTX_new(
	    side == WD_TLS_SERVER ? TLS_server_method() : TLS_client_method());
	if (made->ctx == NULL)
		return no_memory(err);
	if ((st = set_rules(made->ctx, side, clock, err)) != WD_OK ||
	    (st = load_certificate(made, &material->certificate, clock, err)) !=
		WD_OK ||
	    (st = load_key(made->ctx, material, err)) != WD_OK ||
	    (st = load_ca(made->ctx, &material->ca, err)) != WD_OK)
		return st;
	if (material->crl.text.len > 0 &&
	    (st = load_crl(made->ctx, &material->crl, err)) != WD_OK)
		return st;
	*tls = wd_steal(&made);
	return WD_OK;
}

void
wd_tls_free(struct wd_tls **tls)
{
	if (*tls != NULL)
		SSL_CTX_free((*tls)->ctx);
	wd_free(*tls);
	*tls = NULL;
}

int64_t
wd_tls_ends_ns(const struct wd_tls *tls)
{
	return tls->ends_ns;
}

/* ---- sessions ------------------------------------------------------------ */

enum wd_status
wd_tls_session_new(
    struct wd_tls *tls, struct ssl_st **session, struct wd_error *err)
{
	*session = SSL_new(tls->ctx);
	return *session != NULL ? WD_OK : no_memory(err);
}

void
wd_tls_session_free(struct ssl_st **session)
{
	SSL_free(*session);
	*session = NULL;
}

enum wd_status
wd_tls_expect_host(
    struct ssl_st *session, const char *host, struct wd_error *err)
{
	X509_VERIFY_PARAM *rules = SSL_get0_param(session);
	/* OpenSSL's macro takes no const. */
	WD_CLEANUP(wd_free_scoped) char *name = wd_strdup(host);
	char shown[128];

	if (name == NULL)
		return no_memory(err);
	X509_VERIFY_PARAM_set_hostflags(rules,
	    X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
		X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
	if (host[0] != '\0' &&
	    (X509_VERIFY_PARAM_set1_ip_asc(rules, host) == 1 ||
		(X509_VERIFY_PARAM_set1_host(rules, host, 0) == 1 &&
		    SSL_set_tlsext_host_name(session, name) == 1)))
		return WD_OK;
	ERR_clear_error();
	return wd_fail(err, WD_INVALID, "\"%s\" is no host name",
	    wd_escape_short(shown, sizeof(shown), wd_slice_text(host)));
}

void
wd_tls_goodbye(struct ssl_st *session)
{
	if (SSL_is_init_finished(session))
		(void)SSL_shutdown(session);
	ERR_clear_error();
}

bool
wd_tls_is_verified(const struct ssl_st *session)
{
	return session != NULL && SSL_is_init_finished(session) &&
	    SSL_get0_peer_certificate(session) != NULL &&
	    SSL_get_verify_result(session) == X509_V_OK;
}

/* ---- what went wrong ----------------------------------------------------- */

static enum wd_tls_trouble
trouble_of(long verify_result)
{
	switch (verify_result) {
	case X509_V_ERR_CERT_HAS_EXPIRED:
		return WD_TLS_EXPIRED;
	case X509_V_ERR_CERT_NOT_YET_VALID:
		return WD_TLS_NOT_YET_VALID;
	case X509_V_ERR_CERT_REVOKED:
		return WD_TLS_REVOKED;
	case X509_V_ERR_INVALID_PURPOSE:
		return WD_TLS_WRONG_PURPOSE;
	case X509_V_ERR_HOSTNAME_MISMATCH:
	case X509_V_ERR_IP_ADDRESS_MISMATCH:
		return WD_TLS_WRONG_NAME;
	case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
	case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
	case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
	case X509_V_ERR_CERT_SIGNATURE_FAILURE:
		return WD_TLS_UNKNOWN_CA;
	default:
		return WD_TLS_OTHER;
	}
}

enum wd_tls_trouble
wd_tls_trouble(struct ssl_st *session, unsigned long code,
    const struct wd_clock *clock, struct wd_error *err)
{
	long result = SSL_get_verify_result(session);
	X509 *refused = SSL_get_ex_data(session, refused_index);
	const char *reason = code == 0 ? NULL : ERR_reason_error_string(code);

	if (ERR_GET_REASON(code) == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) {
		(void)wd_fail(err, WD_DENIED, "no certificate was shown");
		return WD_TLS_NO_CERTIFICATE;
	}
	if (result == X509_V_OK) {
		(void)wd_fail(err, WD_MALFORMED, "%s",
		    reason == NULL ? "the handshake was broken off" : reason);
		return WD_TLS_OTHER;
	}
	/* Says both clocks when that is what is wrong. */
	if (refused == NULL ||
	    wd_tls_check_times(refused, "the certificate", clock, err) == WD_OK)
		(void)wd_fail(err, WD_DENIED, "certificate: %s",
		    X509_verify_cert_error_string(result));
	return trouble_of(result);
}
