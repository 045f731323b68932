#include "store/schema.h"

#include <errno.h>

#include "base/escape.h"

/*
 * 1: The unsigned numbers of a key are stored as the signed ones of the same
 *    64 bits; they are compared for equality only. `seal` are the first eight
 *    bytes of a SHA-256 over the row: SQLite has no checksums, and a flipped
 *    bit must not become a digest.
 */
static const char *const steps[] = {
	"CREATE TABLE digest ("
	" device INTEGER NOT NULL, inode INTEGER NOT NULL,"
	" fs_id INTEGER NOT NULL, generation INTEGER NOT NULL,"
	" size_bytes INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,"
	" ctime_ns INTEGER NOT NULL, computed_real_ns INTEGER NOT NULL,"
	" sha256 BLOB NOT NULL, seal INTEGER NOT NULL,"
	" PRIMARY KEY (device, inode, fs_id, generation, size_bytes, mtime_ns,"
	"  ctime_ns)) WITHOUT ROWID;"
	"CREATE INDEX digest_by_age ON digest (computed_real_ns);",
};

#define STEP_COUNT ((int)(sizeof(steps) / sizeof(steps[0])))

int
wd_schema_version(void)
{
	return STEP_COUNT;
}

static enum wd_status
status_of(int code)
{
	switch (code & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_PROTOCOL:
		return WD_BUSY;
	case SQLITE_ERROR: /* our statements are right: a table is missing */
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_SCHEMA:
	case SQLITE_MISMATCH:
		return WD_CORRUPT;
	case SQLITE_NOMEM:
		return WD_NOMEM;
	case SQLITE_PERM:
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
	case SQLITE_AUTH:
		return WD_DENIED;
	default:
		return WD_IO;
	}
}

enum wd_status
wd_sqlite_fail(sqlite3 *db, int code, const char *doing, struct wd_error *err)
{
	const char *why =
	    db == NULL ? sqlite3_errstr(code) : sqlite3_errmsg(db);
	char words[160];

	(void)wd_fail(err, status_of(code), "%s: %s", doing,
	    wd_escape_short(words, sizeof(words), wd_slice_text(why)));
	if (err != NULL && (code & 0xff) == SQLITE_FULL)
		err->os_errno = ENOSPC;
	return status_of(code);
}

static enum wd_status
run(sqlite3 *db, const char *sql, struct wd_error *err)
{
	int code = sqlite3_exec(db, sql, NULL, NULL, NULL);

	return code == SQLITE_OK ? WD_OK :
				   wd_sqlite_fail(db, code, "store", err);
}

static enum wd_status
read_number(sqlite3 *db, const char *sql, int *number, struct wd_error *err)
{
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_step(statement);
	if (code == SQLITE_ROW)
		*number = sqlite3_column_int(statement, 0);
	(void)sqlite3_finalize(statement);
	return code == SQLITE_ROW ? WD_OK :
				    wd_sqlite_fail(db, code, "store", err);
}

/* The version that the file has; 0 for an empty one. */
static enum wd_status
read_version(sqlite3 *db, int *version, struct wd_error *err)
{
	int id = 0, tables = 0;
	enum wd_status st;

	st = read_number(db, "PRAGMA user_version", version, err);
	if (st == WD_OK)
		st = read_number(db, "PRAGMA application_id", &id, err);
	if (st == WD_OK)
		st = read_number(
		    db, "SELECT count(*) FROM sqlite_schema", &tables, err);
	if (st != WD_OK)
		return st;
	if (id != WD_SCHEMA_APPLICATION_ID &&
	    (id != 0 || tables != 0 || *version != 0))
		return wd_fail(err, WD_UNSUPPORTED,
		    "it is a database of another program; move it away");
	if (*version < 0 || *version > STEP_COUNT)
		return wd_fail(err, WD_UNSUPPORTED,
		    "it has version %d and this weightd knows up to %d; "
		    "upgrade weightd, or remove the file",
		    *version, STEP_COUNT);
	return WD_OK;
}

static enum wd_status
apply_steps(sqlite3 *db, int version, struct wd_error *err)
{
	enum wd_status st = WD_OK;
	char sql[80];

	for (; st == WD_OK && version < STEP_COUNT; version++)
		st = run(db, steps[version], err);
	if (st != WD_OK)
		return st;
	(void)sqlite3_snprintf(sizeof(sql), sql,
	    "PRAGMA application_id = %d; PRAGMA user_version = %d;",
	    WD_SCHEMA_APPLICATION_ID, STEP_COUNT);
	return run(db, sql, err);
}

enum wd_status
wd_schema_bring_up(sqlite3 *db, struct wd_error *err)
{
	enum wd_status st;
	int version = 0;

	st = read_version(db, &version, err);
	if (st != WD_OK || version == STEP_COUNT)
		return st;
	/* Somebody else may have been faster: look again under the lock. */
	st = run(db, "BEGIN IMMEDIATE", err);
	if (st != WD_OK)
		return st;
	st = read_version(db, &version, err);
	if (st == WD_OK && version < STEP_COUNT)
		st = apply_steps(db, version, err);
	if (st == WD_OK)
		st = run(db, "COMMIT", err);
	if (st != WD_OK)
		(void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return st;
}
