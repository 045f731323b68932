/*
 * digest_many.h - the SHA-256 of several files at once.
 *
 * One stream of SHA-256 keeps one core busy, so the shards of a bundle are
 * hashed next to each other, each by a digest job (digest_job.h) with its
 * manners.
 */
#ifndef WD_BASE_DIGEST_MANY_H
#define WD_BASE_DIGEST_MANY_H

#include "base/digest_job.h"

struct wd_digest_task {
	int fd; /* the caller's; not that of another task */
	/* Filled in: */
	enum wd_status status;
	struct wd_error err;
	struct wd_sha256 sha256;
	int64_t began_real_ns; /* when its first byte was read */
};

struct wd_digest_many {
	struct wd_digest_task *tasks;
	size_t count;
	unsigned threads; /* at once; 0 is 1, and never more than tasks */
	const struct wd_io_manners *manners; /* NULL: none */
	bool idle_class;
	/* Called now and then by the calling thread, with the bytes done of all
	 * files. NULL: never. */
	void (*tick)(void *ctx, uint64_t done_bytes);
	void *tick_ctx;
};

/* Returns when every task has its status. WD_OK also when tasks failed. Errors:
 * WD_NOMEM, WD_IO (no thread could be started). */
enum wd_status wd_digest_many(
    struct wd_digest_many *many, struct wd_error *err) WD_MUST_CHECK;

#endif
