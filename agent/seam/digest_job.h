/*
 * digest_job.h - one long read of one file, politely.
 *
 * Private to the room; see wd_reader_digest for what is promised.
 */
#ifndef WD_SEAM_DIGEST_JOB_H
#define WD_SEAM_DIGEST_JOB_H

#include "seam/reader.h"

/* Bytes between two looks at the deadline, the rate and the page cache; a
 * multiple of every page size. */
#define WD_JOB_BLOCK (1U << 20)

/* Blocks whose pages were looked at and that are being read ahead: at most
 * so many MiB are in the page cache because of us. */
#define WD_JOB_AHEAD 4

/* `manner` may be NULL: no deadline, no limit. Errors: as wd_reader_digest. */
enum wd_status wd_digest_job(int fd, const struct wd_io_manners *manners,
    const struct wd_digest_manner *manner, struct wd_sha256 *sha256,
    struct wd_error *err) WD_MUST_CHECK;

#endif
