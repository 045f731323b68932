#include "server/metrics.h"

#include <inttypes.h>

static const char *const call_names[WD_METRIC_CALLS] = {
	[0] = "none",
	[WD_CALL_ATTEST_PORT] = "AttestPort",
	[WD_CALL_DESCRIBE_BUNDLE] = "DescribeBundle",
	[WD_CALL_LIST_SERVERS] = "ListServers",
	[WD_CALL_GET_HOST] = "GetHost",
};
static const char *const accept_names[WD_ACCEPT_RESULTS] = {
	[WD_ACCEPT_TAKEN] = "taken",
	[WD_ACCEPT_FULL] = "full",
	[WD_ACCEPT_PEER_FULL] = "peer_full",
	[WD_ACCEPT_FAILED] = "failed",
};
static const char *const handshake_names[WD_TLS_OTHER + 1] = {
	[WD_TLS_FINE] = "ok",
	[WD_TLS_NO_CERTIFICATE] = "no_certificate",
	[WD_TLS_EXPIRED] = "expired",
	[WD_TLS_NOT_YET_VALID] = "not_yet_valid",
	[WD_TLS_UNKNOWN_CA] = "unknown_ca",
	[WD_TLS_REVOKED] = "revoked",
	[WD_TLS_WRONG_PURPOSE] = "wrong_purpose",
	[WD_TLS_WRONG_NAME] = "wrong_name",
	[WD_TLS_OTHER] = "other",
};
/* By weightd.v1.VerdictKind. */
static const char *const verdict_names[WD_METRIC_VERDICTS] = { "none", "match",
	"mismatch", "missing", "unverifiable", "unreachable", "extra" };

/* Upper ends in milliseconds; the last bucket has none. */
static const uint32_t bucket_ms[WD_METRIC_BUCKETS - 1] = { 1, 5, 25, 100, 500,
	2500, 10000 };
static const char *const bucket_names[WD_METRIC_BUCKETS] = { "0.001", "0.005",
	"0.025", "0.1", "0.5", "2.5", "10", "+Inf" };

void
wd_metrics_call(struct wd_metrics *metrics, enum wd_call call,
    enum wd_connect_code code, int64_t duration_ns)
{
	unsigned at = 0;

	while (at < WD_METRIC_BUCKETS - 1 &&
	    duration_ns > (int64_t)bucket_ms[at] * 1000000)
		at++;
	metrics->calls[call][code]++;
	metrics->durations[at]++;
	metrics->duration_count++;
	metrics->duration_sum_ns += duration_ns;
}

static void
family(struct wd_buf *out, const char *name, const char *type, const char *help)
{
	(void)wd_buf_printf(
	    out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void
print_labelled(struct wd_buf *out, const char *name, const char *label,
    const char *const *values, const uint64_t *counts, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		(void)wd_buf_printf(out, "%s{%s=\"%s\"} %" PRIu64 "\n", name,
		    label, values[i], counts[i]);
}

/* Only what has happened: 5 calls times 17 codes would be a long page. */
static void
print_calls(struct wd_buf *out, const struct wd_metrics *metrics)
{
	size_t call, code;

	family(out, "weightd_calls_total", "counter",
	    "Calls that were answered, by method and Connect code.");
	for (call = 0; call < WD_METRIC_CALLS; call++)
		for (code = 0; code < WD_METRIC_CODES; code++)
			if (metrics->calls[call][code] > 0)
				(void)wd_buf_printf(out,
				    "weightd_calls_total{method=\"%s\","
				    "code=\"%s\"} %" PRIu64 "\n",
				    call_names[call],
				    wd_connect_code_name(
					(enum wd_connect_code)code),
				    metrics->calls[call][code]);
}

static void
print_durations(struct wd_buf *out, const struct wd_metrics *metrics)
{
	uint64_t sum = 0;
	size_t i;

	family(out, "weightd_call_duration_seconds", "histogram",
	    "Time from the last byte of a request to its answer.");
	for (i = 0; i < WD_METRIC_BUCKETS; i++) {
		sum += metrics->durations[i];
		(void)wd_buf_printf(out,
		    "weightd_call_duration_seconds_bucket{le=\"%s\"} %" PRIu64
		    "\n",
		    bucket_names[i], sum);
	}
	(void)wd_buf_printf(out,
	    "weightd_call_duration_seconds_sum %.9f\n"
	    "weightd_call_duration_seconds_count %" PRIu64 "\n",
	    (double)metrics->duration_sum_ns / 1e9, metrics->duration_count);
}

static void
print_gauges(struct wd_buf *out, const struct wd_metrics_now *now)
{
	family(out, "weightd_build_info", "gauge",
	    "1; the version is in the label.");
	(void)wd_buf_text(
	    out, "weightd_build_info{version=\"" WD_VERSION "\"} 1\n");
	family(out, "weightd_ready", "gauge",
	    "1 when questions about the host are answered.");
	(void)wd_buf_printf(out, "weightd_ready %d\n", now->is_ready ? 1 : 0);
	family(
	    out, "weightd_connections", "gauge", "Connections that are open.");
	(void)wd_buf_printf(
	    out, "weightd_connections %" PRIu64 "\n", now->connections);
	family(out, "weightd_certificate_expiry_timestamp_seconds", "gauge",
	    "When the agent's own certificate ends.");
	(void)wd_buf_printf(out,
	    "weightd_certificate_expiry_timestamp_seconds %" PRId64 "\n",
	    now->certificate_ends_ns / WD_NS_PER_SECOND);
}

enum wd_status
wd_metrics_print(const struct wd_metrics *metrics,
    const struct wd_metrics_now *now, struct wd_buf *out)
{
	print_gauges(out, now);
	family(out, "weightd_accepts_total", "counter",
	    "Connections that came in, by what became of them.");
	print_labelled(out, "weightd_accepts_total", "result", accept_names,
	    metrics->accepts, WD_ACCEPT_RESULTS);
	family(out, "weightd_handshakes_total", "counter",
	    "TLS handshakes that ended, by result.");
	print_labelled(out, "weightd_handshakes_total", "result",
	    handshake_names, metrics->handshakes, WD_TLS_OTHER + 1);
	family(out, "weightd_refused_requests_total", "counter",
	    "Requests that were broken, too large or too slow.");
	(void)wd_buf_printf(out, "weightd_refused_requests_total %" PRIu64 "\n",
	    metrics->refused_requests);
	print_calls(out, metrics);
	print_durations(out, metrics);
	family(out, "weightd_verdicts_total", "counter",
	    "Answers of AttestPort, by verdict.");
	print_labelled(out, "weightd_verdicts_total", "verdict", verdict_names,
	    metrics->verdicts, WD_METRIC_VERDICTS);
	return out->status;
}
