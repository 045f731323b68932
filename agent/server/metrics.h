/*
 * metrics.h - what the server counts, and its text for Prometheus.
 *
 * Text format 0.0.4, by the rules of promtool's lint: every family has HELP
 * and TYPE, counters end with _total, base units, no label whose values a
 * client could choose.
 */
#ifndef WD_SERVER_METRICS_H
#define WD_SERVER_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/tls.h"
#include "seam/observer.h"
#include "wire/connect.h"

#define WD_METRIC_CALLS 5 /* wd_call, 0: none of them */
#define WD_METRIC_CODES 17
#define WD_METRIC_VERDICTS 7
#define WD_METRIC_BUCKETS 8

enum wd_accept_result {
	WD_ACCEPT_TAKEN,
	WD_ACCEPT_FULL,      /* too many connections */
	WD_ACCEPT_PEER_FULL, /* too many of this address */
	WD_ACCEPT_FAILED,    /* no descriptor or no memory */
	WD_ACCEPT_RESULTS,
};

struct wd_metrics {
	uint64_t accepts[WD_ACCEPT_RESULTS];
	uint64_t handshakes[WD_TLS_OTHER + 1]; /* by wd_tls_trouble */
	uint64_t calls[WD_METRIC_CALLS][WD_METRIC_CODES];
	uint64_t verdicts[WD_METRIC_VERDICTS];
	uint64_t refused_requests; /* before any call: HTTP, time, size */
	uint64_t durations[WD_METRIC_BUCKETS]; /* not cumulative */
	uint64_t duration_count;
	int64_t duration_sum_ns;
};

/* Counts a call that ended. */
void wd_metrics_call(struct wd_metrics *metrics, enum wd_call call,
    enum wd_connect_code code, int64_t duration_ns);

/* What is looked up when somebody asks. */
struct wd_metrics_now {
	uint64_t connections;
	bool is_ready;
	int64_t certificate_ends_ns;
};

/* Appends the page. Errors: those of the buffer. */
enum wd_status wd_metrics_print(const struct wd_metrics *metrics,
    const struct wd_metrics_now *now, struct wd_buf *out);

#endif
