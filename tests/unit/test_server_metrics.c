/* The page for Prometheus: what is counted, where it is counted. */
#include "server/metrics.h"

#include <string.h>

#include "support/suite.h"

static void
has_line(const struct wd_buf *page, const char *line)
{
	const char *at = wd_buf_string(page);
	size_t len = strlen(line);

	while (at != NULL && (strncmp(at, line, len) != 0 || at[len] != '\n'))
		at = (at = strchr(at, '\n')) == NULL ? NULL : at + 1;
	ck_assert_msg(
	    at != NULL, "\"%s\" is not in:\n%s", line, wd_buf_string(page));
}

START_TEST(calls_are_counted)
{
	struct wd_metrics_now now = { 3, true, 1700000000 * WD_NS_PER_SECOND };
	struct wd_metrics metrics;
	struct wd_buf page;

	memset(&metrics, 0, sizeof(metrics));
	/* A bucket holds its own upper end. */
	wd_metrics_call(
	    &metrics, WD_CALL_ATTEST_PORT, WD_CONNECT_OK, WD_NS_PER_MS);
	wd_metrics_call(
	    &metrics, WD_CALL_ATTEST_PORT, WD_CONNECT_OK, WD_NS_PER_MS + 1);
	wd_metrics_call(&metrics, WD_CALL_GET_HOST,
	    WD_CONNECT_DEADLINE_EXCEEDED, 11 * WD_NS_PER_SECOND);
	wd_buf_init(&page, 1 << 20);
	ck_assert_int_eq(wd_metrics_print(&metrics, &now, &page), WD_OK);
	has_line(
	    &page, "weightd_calls_total{method=\"AttestPort\",code=\"ok\"} 2");
	has_line(&page,
	    "weightd_calls_total{method=\"GetHost\","
	    "code=\"deadline_exceeded\"} 1");
	has_line(&page, "weightd_call_duration_seconds_bucket{le=\"0.001\"} 1");
	has_line(&page, "weightd_call_duration_seconds_bucket{le=\"0.005\"} 2");
	has_line(&page, "weightd_call_duration_seconds_bucket{le=\"10\"} 2");
	has_line(&page, "weightd_call_duration_seconds_bucket{le=\"+Inf\"} 3");
	has_line(&page, "weightd_call_duration_seconds_count 3");
	has_line(&page, "weightd_call_duration_seconds_sum 11.002000001");
	has_line(&page, "weightd_connections 3");
	has_line(&page, "weightd_ready 1");
	has_line(
	    &page, "weightd_certificate_expiry_timestamp_seconds 1700000000");
	wd_buf_release(&page);
}
END_TEST

START_TEST(a_page_that_does_not_fit_is_none)
{
	struct wd_metrics_now now = { 0, false, 0 };
	struct wd_metrics metrics;
	struct wd_buf page;

	memset(&metrics, 0, sizeof(metrics));
	wd_buf_init(&page, 500);
	ck_assert_int_eq(wd_metrics_print(&metrics, &now, &page), WD_LIMIT);
	wd_buf_release(&page);
}
END_TEST

WD_SUITE_BEGIN("server metrics")
WD_TEST(calls_are_counted);
WD_TEST(a_page_that_does_not_fit_is_none);
WD_SUITE_END
