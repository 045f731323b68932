/*
 * digest_job.h - the SHA-256 of one file by one long, polite read.
 *
 * On a machine that serves a model a careless read of 50 GB pushes that model
 * out of the page cache. This one, given the system's manners, leaves the
 * cache as it was and yields processor and disk. Agent and client hash
 * bundles through it and through nothing else.
 */
#ifndef WD_BASE_DIGEST_JOB_H
#define WD_BASE_DIGEST_JOB_H

#include "base/clock.h"
#include "base/digest.h"
#include "base/manners.h"

/* Bytes between two looks at the deadline, the rate and the page cache; a
 * multiple of every page size. */
#define WD_JOB_BLOCK (1U << 20)

/* Blocks whose pages were looked at and that are being read ahead: at most
 * so many MiB are in the page cache because of us. */
#define WD_JOB_AHEAD 4

/* How a digest job treats the machine. */
struct wd_digest_manner {
	uint64_t max_bytes_per_second; /* 0: as fast as it goes */
	bool idle_class;               /* yield CPU and disk to everybody */
	const struct wd_deadline *deadline; /* NULL: none */
	/* Asked about every MiB with the bytes done; false stops the job with
	 * WD_TIMEDOUT, and must then be said again whenever it is asked.
	 * NULL: never asked. With idle_class it is asked from
	 * another thread, while the caller waits. */
	bool (*go_on)(void *ctx, uint64_t done_bytes);
	void *go_on_ctx;
};

/* The SHA-256 of the file's bytes, read with pread through the page cache; the
 * descriptor's position stays. Pages that were cached before stay, those that
 * the job brought in go again, also when it fails. `manners` is the system's
 * table (host/manners/manners.h); with NULL neither the page cache nor
 * idle_class is regarded. `manner` may be NULL: no deadline, no limit.
 *
 * A rewrite in place that keeps the size is not noticed: the caller compares
 * the file's state before and after. Errors: WD_TIMEDOUT, WD_IO, WD_STALE,
 * WD_INVALID (no regular file), WD_NOMEM, WD_CHANGED when the size moved while
 * it was read. */
enum wd_status wd_digest_job(int fd, const struct wd_io_manners *manners,
    const struct wd_digest_manner *manner, struct wd_sha256 *sha256,
    struct wd_error *err) WD_MUST_CHECK;

#endif
