#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/tls.h"

/* What the other side says about our certificate (RFC 8446, 6.2). */
static const struct {
	int alert;
	const char *words;
} about_certificate[] = {
	{ SSL_AD_BAD_CERTIFICATE, "bad certificate" },
	{ SSL_AD_UNSUPPORTED_CERTIFICATE, "not made for clients" },
	{ SSL_AD_CERTIFICATE_REVOKED, "revoked" },
	{ SSL_AD_CERTIFICATE_EXPIRED, "expired" },
	{ SSL_AD_CERTIFICATE_UNKNOWN, "not acceptable" },
	{ SSL_AD_UNKNOWN_CA, "of a CA that it does not know" },
	{ SSL_AD_ACCESS_DENIED, "access denied" },
	{ SSL_AD_CERTIFICATE_REQUIRED, "no certificate was shown" },
};

static enum wd_tls_end
alert_of(int alert, const char **words)
{
	size_t i;

	for (i = 0;
	     i < sizeof(about_certificate) / sizeof(about_certificate[0]); i++)
		if (about_certificate[i].alert == alert) {
			*words = about_certificate[i].words;
			return WD_TLS_END_CERTIFICATE;
		}
	*words = SSL_alert_desc_string_long(alert);
	return alert == SSL_AD_PROTOCOL_VERSION ? WD_TLS_END_VERSION :
						  WD_TLS_END_ALERT;
}

enum wd_tls_end
wd_tls_end_of(unsigned long code, const char **words)
{
	int reason = ERR_GET_REASON(code);

	*words = "";
	if (ERR_GET_LIB(code) != ERR_LIB_SSL)
		return WD_TLS_END_OTHER;
	/* OpenSSL's reasons for alerts that were received are their numbers
	 * and 1000. */
	if (reason >= SSL_AD_REASON_OFFSET &&
	    reason < SSL_AD_REASON_OFFSET + 256)
		return alert_of(reason - SSL_AD_REASON_OFFSET, words);
	switch (reason) {
	case SSL_R_UNEXPECTED_EOF_WHILE_READING:
		return WD_TLS_END_EOF;
	case SSL_R_WRONG_VERSION_NUMBER:
	case SSL_R_HTTP_REQUEST:
	case SSL_R_PACKET_LENGTH_TOO_LONG:
	case SSL_R_RECORD_LENGTH_MISMATCH:
	case SSL_R_BAD_RECORD_TYPE:
		return WD_TLS_END_NO_TLS;
	case SSL_R_UNSUPPORTED_PROTOCOL:
		return WD_TLS_END_VERSION;
	default:
		return WD_TLS_END_OTHER;
	}
}

enum wd_tls_end
wd_tls_last_words(struct ssl_st *session, const char **words)
{
	enum wd_tls_end end = WD_TLS_END_OTHER;
	char nothing[256];
	unsigned i;

	*words = "";
	/* A few records at most; an answer to nothing is of no interest. */
	for (i = 0; i < 16 && end == WD_TLS_END_OTHER; i++) {
		ERR_clear_error();
		if (SSL_read(session, nothing, sizeof(nothing)) > 0)
			continue;
		end = wd_tls_end_of(ERR_peek_error(), words);
		break;
	}
	ERR_clear_error();
	return end;
}
