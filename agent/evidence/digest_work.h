/*
 * digest_work.h - files being hashed in the background: one job for a file,
 * however many questions ask for it.
 *
 * A question takes what is there: a finished digest, or how far the job is
 * (PENDING); or it waits until its deadline. The job goes on when nobody waits
 * any more: the next question has the answer. Jobs hash through the very
 * object that was asked about and decide by design rule 5 whether the digest
 * may be remembered; where it may not (NFS, FUSE, FAT, a file that somebody
 * could be writing) a finished job serves the questions of the next ten
 * minutes, while the file's state is unchanged, as computed with its time.
 *
 * The functions may be called from several threads.
 */
#ifndef WD_EVIDENCE_DIGEST_WORK_H
#define WD_EVIDENCE_DIGEST_WORK_H

#include "base/clock.h"
#include "host/host.h"
#include "seam/reader.h"
#include "store/store.h"

#define WD_WORK_KEEP_SECONDS 600
#define WD_WORK_THREADS 8

struct wd_digest_work;

/* What the jobs work with. Everything is borrowed but the readers. */
struct wd_work_with {
	/* One for each reader; NULL: `host` for all of them. */
	struct wd_host **hosts;
	struct wd_host *host;
	struct wd_store *store;
	const struct wd_clock *clock;
	/* One reader for each thread, taken over; at most WD_WORK_THREADS. */
	struct wd_reader **readers;
	size_t reader_count;
	uint64_t max_bytes_per_second; /* of each job; 0: no cap */
};

/* Starts the threads. Errors: WD_NOMEM; the readers are then freed too. */
enum wd_status wd_digest_work_start(const struct wd_work_with *with,
    struct wd_digest_work **work, struct wd_error *err) WD_MUST_CHECK;

enum wd_work_wish {
	WD_WORK_START, /* start a job, do not wait */
	WD_WORK_WAIT,  /* start, and wait until the deadline */
	WD_WORK_FRESH, /* as WAIT; what began before `since` does not count */
};

struct wd_work_result {
	struct wd_digest_row row; /* WD_OK only */
	uint64_t done_bytes;      /* WD_BUSY: of the job, so far */
};

/* The digest of the object behind `fd`, whose state is `state`. The descriptor
 * stays the caller's. WD_OK also for a digest that was computed up to ten
 * minutes ago: row.computed_real_ns says when. Errors: WD_BUSY (the job
 * waits or goes on), WD_CHANGED (the file was written meanwhile), WD_LIMIT
 * (too many jobs wait), WD_NOMEM, and what wd_reader_digest says. */
enum wd_status wd_digest_work_get(struct wd_digest_work *work, int fd,
    const struct wd_file_state *state, enum wd_work_wish wish,
    int64_t since_real_ns, const struct wd_deadline *deadline,
    struct wd_work_result *result, struct wd_error *err) WD_MUST_CHECK;

/* Jobs that wait or go on. */
size_t wd_digest_work_open_jobs(struct wd_digest_work *work);

/* Stops the jobs, waits for the threads, frees the readers. Accepts NULL and
 * sets NULL. */
void wd_digest_work_stop(struct wd_digest_work **work);

#endif
