/*
 * schema.h - the tables of the store's file, and their versions.
 *
 * A file carries our SQLite application_id and, as user_version, the number of
 * migration steps that were applied to it. A step is never changed once it has
 * been released; a new layout is a new step.
 */
#ifndef WD_STORE_SCHEMA_H
#define WD_STORE_SCHEMA_H

#include <sqlite3.h>

#include "base/error.h"

/* "wtd" and 1: so that file(1) and we tell it from other people's files. */
#define WD_SCHEMA_APPLICATION_ID 0x77746401

/* Brings the tables of an open database up to our version, in one
 * transaction. Errors: WD_UNSUPPORTED when the file is of a newer version or
 * not ours; those of wd_sqlite_fail. */
enum wd_status wd_schema_bring_up(
    sqlite3 *db, struct wd_error *err) WD_MUST_CHECK;

/* The version that bring_up leads to. */
int wd_schema_version(void);

/* Turns SQLite's last failure on `db` (may be NULL) into ours: WD_BUSY,
 * WD_CORRUPT, WD_NOMEM, WD_DENIED, WD_IO (os_errno ENOSPC on a full disk).
 * Always returns a failure. */
enum wd_status wd_sqlite_fail(
    sqlite3 *db, int code, const char *doing, struct wd_error *err);

#endif
