/*
 * storerows.h - rows of the digest cache that are easy to tell apart.
 */
#ifndef WD_TESTS_SUPPORT_STOREROWS_H
#define WD_TESTS_SUPPORT_STOREROWS_H

#include <string.h>

#include "store/store.h"

/* Row number `n`: every field is different from those of other rows. */
static inline struct wd_digest_row
wd_test_row(uint64_t n)
{
	struct wd_digest_row row;

	memset(&row, 0, sizeof(row));
	row.key.fs_id = 1000 + n;
	row.key.device = 2000 + n;
	row.key.inode = 3000 + n;
	row.key.generation = 4000 + n;
	row.key.size_bytes = 5000 + n;
	row.key.mtime_ns = (int64_t)(6000 + n);
	row.key.ctime_ns = (int64_t)(7000 + n);
	row.computed_real_ns = (int64_t)(8000 + n);
	memset(row.sha256.bytes, (int)(n & 0xff), sizeof(row.sha256.bytes));
	memcpy(row.sha256.bytes, &n, sizeof(n));
	return row;
}

static inline bool
wd_test_row_equal(const struct wd_digest_row *a, const struct wd_digest_row *b)
{
	return a->key.fs_id == b->key.fs_id && a->key.device == b->key.device &&
	    a->key.inode == b->key.inode &&
	    a->key.generation == b->key.generation &&
	    a->key.size_bytes == b->key.size_bytes &&
	    a->key.mtime_ns == b->key.mtime_ns &&
	    a->key.ctime_ns == b->key.ctime_ns &&
	    a->computed_real_ns == b->computed_real_ns &&
	    wd_sha256_equal(&a->sha256, &b->sha256);
}

/* Whether the store gives row `n` as it was put. A wrong row would be worse
 * than none, so that is told apart: -1. */
static inline int
wd_test_has_row(struct wd_store *store, uint64_t n)
{
	struct wd_digest_row want = wd_test_row(n), found;

	if (wd_store_get(store, &want.key, &found) != WD_OK)
		return 0;
	return wd_test_row_equal(&want, &found) ? 1 : -1;
}

static inline void
wd_test_put_row(struct wd_store *store, uint64_t n)
{
	struct wd_digest_row row = wd_test_row(n);

	wd_store_put(store, &row);
}

#endif
