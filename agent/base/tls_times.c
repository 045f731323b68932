#include "base/tls_times.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/escape.h"

int64_t
wd_tls_time_ns(const ASN1_TIME *time)
{
	ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
	int days = 0, seconds = 0;
	int64_t ns;

	if (epoch == NULL || ASN1_TIME_diff(&days, &seconds, epoch, time) != 1)
		days = INT32_MAX;
	ASN1_TIME_free(epoch);
	if (__builtin_mul_overflow(
		(int64_t)days * 86400 + seconds, WD_NS_PER_SECOND, &ns))
		return INT64_MAX;
	return ns;
}

#define DATE_BYTES 32

static const char *
show_date(char text[DATE_BYTES], int64_t ns)
{
	time_t seconds = (time_t)(ns / WD_NS_PER_SECOND);
	struct tm utc;

	if (gmtime_r(&seconds, &utc) == NULL ||
	    strftime(text, DATE_BYTES, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
		text[0] = '\0';
	return text;
}

static void
show_span(char *text, size_t size, int64_t ns)
{
	int64_t seconds = ns / WD_NS_PER_SECOND;

	if (seconds >= 2 * 86400)
		(void)snprintf(text, size, "%" PRId64 " days", seconds / 86400);
	else if (seconds >= 2 * 3600)
		(void)snprintf(text, size, "%" PRId64 " hours", seconds / 3600);
	else
		(void)snprintf(text, size, "%" PRId64 " seconds", seconds);
}

enum wd_status
wd_tls_check_times(const X509 *certificate, const char *name,
    const struct wd_clock *clock, struct wd_error *err)
{
	int64_t now = wd_clock_real_ns(clock);
	int64_t from = wd_tls_time_ns(X509_get0_notBefore(certificate));
	int64_t to = wd_tls_time_ns(X509_get0_notAfter(certificate));
	char shown[128], at[DATE_BYTES], clock_at[DATE_BYTES], span[32];

	wd_escape_short(shown, sizeof(shown), wd_slice_text(name));
	if (now > to)
		return wd_fail(err, WD_INVALID,
		    "%s: expired on %s; the clock says %s; renew it", shown,
		    show_date(at, to), show_date(clock_at, now));
	if (now >= from)
		return WD_OK;
	show_span(span, sizeof(span), from - now);
	return wd_fail(err, WD_INVALID,
	    "%s: not valid before %s; the clock says %s, %s earlier; is it "
	    "slow?",
	    shown, show_date(at, from), show_date(clock_at, now), span);
}
