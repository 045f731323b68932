/*
 * store.h - what is remembered between questions: file digests.
 *
 * The store is disposable. Whatever happens to its file (locked, corrupt, on
 * a full or read-only disk) the answers stay right: a look-up that fails is a
 * miss, a write that fails is lost, and wd_store_state says so in words. A
 * damaged file is moved aside and made anew. The only user of sqlite3.h.
 *
 * No call waits longer than about 0.2 s for another process. Several threads
 * may use one store, one after the other; it is not carried over a fork.
 */
#ifndef WD_STORE_STORE_H
#define WD_STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/error.h"

struct wd_store;

/* Everything that must be unchanged for a digest to hold (design rule 5). */
struct wd_digest_key {
	uint64_t fs_id;
	uint64_t device;
	uint64_t inode;
	uint64_t generation;
	uint64_t size_bytes;
	int64_t mtime_ns;
	int64_t ctime_ns;
};

struct wd_digest_row {
	struct wd_digest_key key;
	struct wd_sha256 sha256;
	int64_t computed_real_ns; /* when hashing began */
};

/* Opens or makes the store in directory `state_dir` (created with mode 0700
 * when missing; must belong to the user or root and be writable by nobody
 * else: who can plant a digest can turn a wrong answer into a MATCH). Always
 * gives a usable object: when the file cannot be used, one that remembers only
 * in memory, and wd_store_state tells why. Errors: only WD_NOMEM. */
enum wd_status wd_store_open(const char *state_dir, struct wd_store **store,
    struct wd_error *err) WD_MUST_CHECK;

/* A store that never touches a disk. */
enum wd_status wd_store_open_memory(
    struct wd_store **store, struct wd_error *err) WD_MUST_CHECK;

/* WD_OK while all is well with the file; else the last trouble, with the
 * remedy in `err`. May turn bad at any call, and good again when the trouble
 * has passed: WD_BUSY, WD_IO and WD_DENIED are tried anew after a few seconds.
 * WD_CORRUPT stays: the file was damaged, moved aside and made anew, or could
 * not be. WD_UNSUPPORTED: it is a newer weightd's or another program's. */
enum wd_status wd_store_state(
    struct wd_store *store, struct wd_error *err) WD_MUST_CHECK;

/* The digest under exactly this key. Errors: WD_NOTFOUND (also when the store
 * could not be asked). */
enum wd_status wd_store_get(struct wd_store *store,
    const struct wd_digest_key *key, struct wd_digest_row *row) WD_MUST_CHECK;

/* The newest digest of the same object (fs, device, inode, generation) that
 * was computed before `before_real_ns`, whatever its times were then. Errors:
 * WD_NOTFOUND. */
enum wd_status wd_store_get_before(struct wd_store *store,
    const struct wd_digest_key *key, int64_t before_real_ns,
    struct wd_digest_row *row) WD_MUST_CHECK;

/* Remembers; replaces what stands under that key. A failure is kept in the
 * state and does not concern the caller: the row is then remembered in memory.
 * Now and then the oldest rows are dropped, see WD_MAX_DIGEST_ROWS. */
void wd_store_put(struct wd_store *store, const struct wd_digest_row *row);

/* Drops the oldest rows until at most `max_rows` are left. */
void wd_store_prune(struct wd_store *store, uint64_t max_rows);

/* Accepts NULL and sets NULL. */
void wd_store_free(struct wd_store **store);

#endif
