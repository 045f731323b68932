/*
 * rows.h - digest rows in one SQLite database, on disk or in memory.
 *
 * One connection, used by one thread, not carried over a fork. Knows nothing
 * of what to do when the database cannot be used: see store.c.
 */
#ifndef WD_STORE_ROWS_H
#define WD_STORE_ROWS_H

#include <stdint.h>

#include "store/store.h"

struct wd_rows;

/* Milliseconds for which a call waits on another process's lock. */
#define WD_ROWS_BUSY_MS 100

/* The write-ahead log is copied back into the file at this many pages of
 * 4 KiB, and when a reader elsewhere keeps that from happening, writing stops
 * at WD_ROWS_WAL_MOST. */
#define WD_ROWS_WAL_PAGES 256
#define WD_ROWS_WAL_MOST 4096

/* Opens the existing file `path`, or memory when it is NULL, and brings its
 * tables up to date. Errors: those of wd_schema_bring_up. */
enum wd_status wd_rows_open(const char *path, struct wd_rows **rows,
    struct wd_error *err) WD_MUST_CHECK;

/* As wd_store_get and wd_store_get_before. Errors: WD_NOTFOUND; WD_CORRUPT
 * also when a row's seal is broken; those of wd_sqlite_fail. */
enum wd_status wd_rows_get(struct wd_rows *rows,
    const struct wd_digest_key *key, struct wd_digest_row *row,
    struct wd_error *err) WD_MUST_CHECK;
enum wd_status wd_rows_get_before(struct wd_rows *rows,
    const struct wd_digest_key *key, int64_t before_real_ns,
    struct wd_digest_row *row, struct wd_error *err) WD_MUST_CHECK;

/* Errors: WD_BUSY also when the write-ahead log has become too long. */
enum wd_status wd_rows_put(struct wd_rows *rows,
    const struct wd_digest_row *row, struct wd_error *err) WD_MUST_CHECK;

/* Drops the oldest rows until `max_rows` are left. */
enum wd_status wd_rows_prune(struct wd_rows *rows, uint64_t max_rows,
    struct wd_error *err) WD_MUST_CHECK;

void wd_rows_free(struct wd_rows **rows);

#endif
