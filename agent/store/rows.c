#include "store/rows.h"

#include <string.h>

#include <sqlite3.h>

#include "base/mem.h"
#include "store/schema.h"

#define KEY_COLUMNS                                                            \
	"device, inode, fs_id, generation, size_bytes, mtime_ns, ctime_ns"
#define ROW_COLUMNS KEY_COLUMNS ", computed_real_ns, sha256, seal"
#define SAME_OBJECT                                                            \
	"device = ?1 AND inode = ?2 AND fs_id = ?3 AND generation = ?4"

enum statement { GET, GET_BEFORE, PUT, COUNT_ROWS, PRUNE, STATEMENTS };

static const char *const sql[STATEMENTS] = {
	[GET] = "SELECT " ROW_COLUMNS " FROM digest WHERE " SAME_OBJECT
		" AND size_bytes = ?5 AND mtime_ns = ?6 AND ctime_ns = ?7",
	[GET_BEFORE] = "SELECT " ROW_COLUMNS " FROM digest WHERE " SAME_OBJECT
		       " AND computed_real_ns < ?5"
		       " ORDER BY computed_real_ns DESC LIMIT 1",
	[PUT] = "INSERT OR REPLACE INTO digest (" ROW_COLUMNS
		") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
	[COUNT_ROWS] = "SELECT count(*) FROM digest",
	[PRUNE] =
	    "DELETE FROM digest WHERE (" KEY_COLUMNS ") IN (SELECT " KEY_COLUMNS
	    " FROM digest ORDER BY computed_real_ns"
	    " LIMIT ?1)",
};

struct wd_rows {
	sqlite3 *db;
	sqlite3_stmt *statements[STATEMENTS];
	int wal_pages; /* in the write-ahead log, after our last commit */
};

/* SQLite's integers are signed: the same 64 bits. */
static sqlite3_int64
as_signed(uint64_t number)
{
	sqlite3_int64 same;

	memcpy(&same, &number, sizeof(same));
	return same;
}

static uint64_t
as_unsigned(sqlite3_int64 number)
{
	uint64_t same;

	memcpy(&same, &number, sizeof(same));
	return same;
}

static enum wd_status
seal_of(
    const struct wd_digest_row *row, sqlite3_int64 *seal, struct wd_error *err)
{
	const struct wd_digest_key *key = &row->key;
	const uint64_t numbers[] = { key->device, key->inode, key->fs_id,
		key->generation, key->size_bytes, (uint64_t)key->mtime_ns,
		(uint64_t)key->ctime_ns, (uint64_t)row->computed_real_ns };
	WD_CLEANUP(wd_hasher_free) struct wd_hasher *hasher = NULL;
	struct wd_sha256 digest;
	enum wd_status st;
	size_t i;

	st = wd_hasher_new(&hasher, err);
	if (st != WD_OK)
		return st;
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		wd_hasher_u64(hasher, numbers[i]);
	wd_hasher_add(hasher, row->sha256.bytes, WD_SHA256_BYTES);
	st = wd_hasher_finish(hasher, &digest, err);
	if (st == WD_OK)
		memcpy(seal, digest.bytes, sizeof(*seal));
	return st;
}

static int
after_commit(void *ctx, sqlite3 *db, const char *name, int pages)
{
	struct wd_rows *rows = ctx;

	rows->wal_pages = pages;
	if (pages >= WD_ROWS_WAL_PAGES)
		(void)sqlite3_wal_checkpoint_v2(
		    db, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	return SQLITE_OK;
}

/* Whatever a damaged or planted file says, it runs no code of its own and
 * reaches no other file. */
static void
configure(struct wd_rows *rows)
{
	(void)sqlite3_extended_result_codes(rows->db, 1);
	(void)sqlite3_busy_timeout(rows->db, WD_ROWS_BUSY_MS);
	(void)sqlite3_db_config(
	    rows->db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
	(void)sqlite3_db_config(
	    rows->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
	(void)sqlite3_limit(rows->db, SQLITE_LIMIT_ATTACHED, 0);
	(void)sqlite3_wal_hook(rows->db, after_commit, rows);
}

/* NORMAL loses the last rows on a power cut, never the file. */
static enum wd_status
set_up(struct wd_rows *rows, struct wd_error *err)
{
	static const char pragmas[] = "PRAGMA journal_mode = WAL;"
				      "PRAGMA synchronous = NORMAL;"
				      "PRAGMA journal_size_limit = 1048576;"
				      "PRAGMA cell_size_check = ON;"
				      "PRAGMA cache_size = -512;"
				      "PRAGMA mmap_size = 0;"
				      "PRAGMA temp_store = MEMORY;";
	enum wd_status st;
	int code, i;

	/* First: a file that is not ours must not even become WAL. */
	st = wd_schema_bring_up(rows->db, err);
	if (st != WD_OK)
		return st;
	code = sqlite3_exec(rows->db, pragmas, NULL, NULL, NULL);
	for (i = 0; code == SQLITE_OK && i < STATEMENTS; i++)
		code = sqlite3_prepare_v3(rows->db, sql[i], -1,
		    SQLITE_PREPARE_PERSISTENT, &rows->statements[i], NULL);
	return code == SQLITE_OK ? WD_OK :
				   wd_sqlite_fail(rows->db, code, "store", err);
}

enum wd_status
wd_rows_open(const char *path, struct wd_rows **rows, struct wd_error *err)
{
	WD_CLEANUP(wd_rows_free)
	struct wd_rows *made = wd_calloc(1, sizeof(*made));
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW |
	    SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
	enum wd_status st;
	int code;

	if (made == NULL)
		return wd_fail(err, WD_NOMEM, "store: out of memory");
	code = sqlite3_open_v2(
	    path == NULL ? ":memory:" : path, &made->db, flags, NULL);
	if (code != SQLITE_OK)
		return wd_sqlite_fail(made->db, code, "store", err);
	/* SQLite falls back to that by itself. */
	if (sqlite3_db_readonly(made->db, "main") == 1)
		return wd_fail(err, WD_DENIED, "store: it can only be read");
	configure(made);
	st = set_up(made, err);
	if (st == WD_OK)
		*rows = wd_steal(&made);
	return st;
}

static void
bind_key(sqlite3_stmt *statement, const struct wd_digest_key *key)
{
	(void)sqlite3_bind_int64(statement, 1, as_signed(key->device));
	(void)sqlite3_bind_int64(statement, 2, as_signed(key->inode));
	(void)sqlite3_bind_int64(statement, 3, as_signed(key->fs_id));
	(void)sqlite3_bind_int64(statement, 4, as_signed(key->generation));
}

static void
bind_whole_key(sqlite3_stmt *statement, const struct wd_digest_key *key)
{
	bind_key(statement, key);
	(void)sqlite3_bind_int64(statement, 5, as_signed(key->size_bytes));
	(void)sqlite3_bind_int64(statement, 6, key->mtime_ns);
	(void)sqlite3_bind_int64(statement, 7, key->ctime_ns);
}

static enum wd_status
take_row(
    sqlite3_stmt *statement, struct wd_digest_row *row, struct wd_error *err)
{
	sqlite3_int64 seal = 0;
	struct wd_digest_row found = {
		.key = {
			.device = as_unsigned(sqlite3_column_int64(statement, 0)),
			.inode = as_unsigned(sqlite3_column_int64(statement, 1)),
			.fs_id = as_unsigned(sqlite3_column_int64(statement, 2)),
			.generation =
			    as_unsigned(sqlite3_column_int64(statement, 3)),
			.size_bytes =
			    as_unsigned(sqlite3_column_int64(statement, 4)),
			.mtime_ns = sqlite3_column_int64(statement, 5),
			.ctime_ns = sqlite3_column_int64(statement, 6),
		},
		.computed_real_ns = sqlite3_column_int64(statement, 7),
	};
	const void *digest = sqlite3_column_blob(statement, 8);
	enum wd_status st;

	if (digest == NULL ||
	    sqlite3_column_bytes(statement, 8) != WD_SHA256_BYTES)
		return wd_fail(err, WD_CORRUPT, "store: a digest is cut");
	memcpy(found.sha256.bytes, digest, WD_SHA256_BYTES);
	st = seal_of(&found, &seal, err);
	if (st != WD_OK)
		return st;
	if (seal != sqlite3_column_int64(statement, 9))
		return wd_fail(
		    err, WD_CORRUPT, "store: a row's seal is broken");
	*row = found;
	return WD_OK;
}

/* Runs a bound query of one row at most, and makes it ready again. */
static enum wd_status
query(struct wd_rows *rows, enum statement which, struct wd_digest_row *row,
    struct wd_error *err)
{
	sqlite3_stmt *statement = rows->statements[which];
	int code = sqlite3_step(statement);
	enum wd_status st;

	if (code == SQLITE_ROW)
		st = take_row(statement, row, err);
	else if (code == SQLITE_DONE)
		st = WD_NOTFOUND;
	else
		st = wd_sqlite_fail(rows->db, code, "store", err);
	(void)sqlite3_reset(statement);
	return st;
}

enum wd_status
wd_rows_get(struct wd_rows *rows, const struct wd_digest_key *key,
    struct wd_digest_row *row, struct wd_error *err)
{
	bind_whole_key(rows->statements[GET], key);
	return query(rows, GET, row, err);
}

enum wd_status
wd_rows_get_before(struct wd_rows *rows, const struct wd_digest_key *key,
    int64_t before_real_ns, struct wd_digest_row *row, struct wd_error *err)
{
	sqlite3_stmt *statement = rows->statements[GET_BEFORE];

	bind_key(statement, key);
	(void)sqlite3_bind_int64(statement, 5, before_real_ns);
	return query(rows, GET_BEFORE, row, err);
}

/* Runs a bound statement that gives no row. */
static enum wd_status
change(struct wd_rows *rows, enum statement which, struct wd_error *err)
{
	int code = sqlite3_step(rows->statements[which]);
	enum wd_status st = WD_OK;

	if (code != SQLITE_DONE)
		st = wd_sqlite_fail(rows->db, code, "store", err);
	(void)sqlite3_reset(rows->statements[which]);
	return st;
}

/* A reader that never ends keeps the log from being reused, and it would
 * grow until the disk is full. */
static enum wd_status
shorten_log(struct wd_rows *rows, struct wd_error *err)
{
	int code, pages = 0, copied = 0;

	if (rows->wal_pages < WD_ROWS_WAL_MOST)
		return WD_OK;
	code = sqlite3_wal_checkpoint_v2(
	    rows->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, &pages, &copied);
	if (code != SQLITE_OK)
		return wd_sqlite_fail(rows->db, code,
		    "store: another process keeps the write-ahead log from "
		    "being emptied (fuser -v on the file names it)",
		    err);
	rows->wal_pages = 0;
	return WD_OK;
}

enum wd_status
wd_rows_put(
    struct wd_rows *rows, const struct wd_digest_row *row, struct wd_error *err)
{
	sqlite3_stmt *statement = rows->statements[PUT];
	sqlite3_int64 seal = 0;
	enum wd_status st;

	st = shorten_log(rows, err);
	if (st == WD_OK)
		st = seal_of(row, &seal, err);
	if (st != WD_OK)
		return st;
	bind_whole_key(statement, &row->key);
	(void)sqlite3_bind_int64(statement, 8, row->computed_real_ns);
	(void)sqlite3_bind_blob(
	    statement, 9, row->sha256.bytes, WD_SHA256_BYTES, SQLITE_TRANSIENT);
	(void)sqlite3_bind_int64(statement, 10, seal);
	return change(rows, PUT, err);
}

enum wd_status
wd_rows_prune(struct wd_rows *rows, uint64_t max_rows, struct wd_error *err)
{
	sqlite3_stmt *statement = rows->statements[COUNT_ROWS];
	int code = sqlite3_step(statement);
	uint64_t count = 0;

	if (code == SQLITE_ROW)
		count = as_unsigned(sqlite3_column_int64(statement, 0));
	(void)sqlite3_reset(statement);
	if (code != SQLITE_ROW)
		return wd_sqlite_fail(rows->db, code, "store", err);
	if (count <= max_rows)
		return WD_OK;
	(void)sqlite3_bind_int64(
	    rows->statements[PRUNE], 1, as_signed(count - max_rows));
	return change(rows, PRUNE, err);
}

void
wd_rows_free(struct wd_rows **rows)
{
	int i;

	if (*rows == NULL)
		return;
	for (i = 0; i < STATEMENTS; i++)
		(void)sqlite3_finalize((*rows)->statements[i]);
	(void)sqlite3_close((*rows)->db);
	wd_free(*rows);
	*rows = NULL;
}
