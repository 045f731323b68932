/* store.h: what is remembered, under exactly which key. */
#include "store/store.h"

#include <sys/stat.h>

#include "base/mem.h"
#include "support/storerows.h"
#include "support/suite.h"
#include "support/tempdir.h"

static struct wd_store *
open_at(const char *dir)
{
	struct wd_store *store = NULL;

	ck_assert_int_eq(wd_store_open(dir, &store, NULL), WD_OK);
	return store;
}

static struct wd_store *
open_well(const char *dir)
{
	struct wd_store *store = open_at(dir);
	struct wd_error why;

	wd_error_init(&why);
	ck_assert_msg(wd_store_state(store, &why) == WD_OK, "%s", why.message);
	return store;
}

START_TEST(rows_outlive_the_process)
{
	char dir[WD_TEMP_BYTES];
	struct wd_store *store;

	wd_temp_make(dir);
	store = open_well(dir);
	ck_assert_int_eq(wd_test_has_row(store, 1), 0);
	wd_test_put_row(store, 1);
	wd_test_put_row(store, 2);
	ck_assert_int_eq(wd_test_has_row(store, 1), 1);
	wd_store_free(&store);
	ck_assert_ptr_null(store);
	store = open_well(dir);
	ck_assert_int_eq(wd_test_has_row(store, 1), 1);
	ck_assert_int_eq(wd_test_has_row(store, 2), 1);
	ck_assert_int_eq(wd_test_has_row(store, 3), 0);
	wd_store_free(&store);
	wd_temp_remove(dir);
}
END_TEST

START_TEST(two_stores_share_a_file)
{
	char dir[WD_TEMP_BYTES];
	struct wd_store *a, *b;

	wd_temp_make(dir);
	a = open_well(dir);
	b = open_well(dir);
	wd_test_put_row(a, 1);
	ck_assert_int_eq(wd_test_has_row(b, 1), 1);
	wd_test_put_row(b, 2);
	ck_assert_int_eq(wd_test_has_row(a, 2), 1);
	ck_assert_int_eq(wd_store_state(a, NULL), WD_OK);
	wd_store_free(&a);
	wd_store_free(&b);
	wd_temp_remove(dir);
}
END_TEST

/* Any one field of the key that differs is another file. */
START_TEST(every_field_of_the_key_counts)
{
	struct wd_store *store = NULL;
	struct wd_digest_row row = wd_test_row(1), found;
	struct wd_digest_key key;

	ck_assert_int_eq(wd_store_open_memory(&store, NULL), WD_OK);
	wd_store_put(store, &row);
	key = row.key;
	ck_assert_int_eq(wd_store_get(store, &key, &found), WD_OK);
#define DIFFERENT(field)                                                       \
	key = row.key;                                                         \
	key.field++;                                                           \
	ck_assert_msg(wd_store_get(store, &key, &found) == WD_NOTFOUND,        \
	    "%s does not count", #field)
	DIFFERENT(fs_id);
	DIFFERENT(device);
	DIFFERENT(inode);
	DIFFERENT(generation);
	DIFFERENT(size_bytes);
	DIFFERENT(mtime_ns);
	DIFFERENT(ctime_ns);
#undef DIFFERENT
	wd_store_free(&store);
}
END_TEST

static const struct wd_digest_key edge_keys[] = {
	{ 0, 0, 0, 0, 0, 0, 0 },
	{ UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, INT64_MAX,
	    INT64_MAX },
	{ UINT64_C(1) << 63, UINT64_C(1) << 63, (UINT64_C(1) << 63) + 1,
	    UINT64_C(1) << 63, UINT64_C(1) << 63, INT64_MIN, INT64_MIN },
	{ (UINT64_C(1) << 53) + 1, (UINT64_C(1) << 53) + 1,
	    (UINT64_C(1) << 53) + 1, (UINT64_C(1) << 53) + 1,
	    (UINT64_C(1) << 53) + 1, -1, -1 },
};

/* SQLite's integers are signed and may pass through doubles; ours may not. */
START_TEST(numbers_are_kept_whole)
{
	char dir[WD_TEMP_BYTES];
	struct wd_digest_row row = wd_test_row(7), found;
	struct wd_store *store;

	wd_temp_make(dir);
	row.key = edge_keys[_i];
	row.computed_real_ns = row.key.ctime_ns;
	store = open_well(dir);
	wd_store_put(store, &row);
	wd_store_free(&store);
	store = open_well(dir);
	ck_assert_int_eq(wd_store_get(store, &row.key, &found), WD_OK);
	ck_assert(wd_test_row_equal(&row, &found));
	wd_store_free(&store);
	wd_temp_remove(dir);
}
END_TEST

START_TEST(the_same_key_is_replaced)
{
	struct wd_digest_row row = wd_test_row(1), found;
	struct wd_store *store = NULL;

	ck_assert_int_eq(wd_store_open_memory(&store, NULL), WD_OK);
	wd_store_put(store, &row);
	row.sha256.bytes[0] ^= 0xff;
	row.computed_real_ns++;
	wd_store_put(store, &row);
	ck_assert_int_eq(wd_store_get(store, &row.key, &found), WD_OK);
	ck_assert(wd_test_row_equal(&row, &found));
	wd_store_free(&store);
}
END_TEST

/* Three states of one file, and another file that must not be taken. */
START_TEST(the_newest_before_a_moment)
{
	struct wd_digest_row row = wd_test_row(1), found;
	struct wd_store *store = NULL;
	struct wd_digest_key asked = row.key;
	int64_t i;

	ck_assert_int_eq(wd_store_open_memory(&store, NULL), WD_OK);
	for (i = 1; i <= 3; i++) {
		row.key.mtime_ns = i;
		row.key.size_bytes = (uint64_t)(100 * i);
		row.computed_real_ns = 10 * i;
		wd_store_put(store, &row);
	}
	row.key.inode++;
	row.computed_real_ns = 25;
	wd_store_put(store, &row);
	asked.mtime_ns = 99;
	ck_assert_int_eq(
	    wd_store_get_before(store, &asked, 1000, &found), WD_OK);
	ck_assert_int_eq(found.computed_real_ns, 30);
	ck_assert_int_eq(found.key.mtime_ns, 3);
	ck_assert_int_eq(wd_store_get_before(store, &asked, 30, &found), WD_OK);
	ck_assert_int_eq(found.computed_real_ns, 20);
	ck_assert_int_eq(wd_store_get_before(store, &asked, 11, &found), WD_OK);
	ck_assert_int_eq(found.computed_real_ns, 10);
	ck_assert_int_eq(
	    wd_store_get_before(store, &asked, 10, &found), WD_NOTFOUND);
#define OTHER(field)                                                           \
	asked = wd_test_row(1).key;                                            \
	asked.field += 5;                                                      \
	ck_assert_int_eq(                                                      \
	    wd_store_get_before(store, &asked, 1000, &found), WD_NOTFOUND)
	OTHER(fs_id);
	OTHER(device);
	OTHER(inode);
	OTHER(generation);
#undef OTHER
	wd_store_free(&store);
}
END_TEST

START_TEST(the_oldest_rows_are_pruned)
{
	char dir[WD_TEMP_BYTES];
	struct wd_store *store;
	uint64_t n;

	wd_temp_make(dir);
	store = open_well(dir);
	for (n = 0; n < 50; n++)
		wd_test_put_row(store, n * 7 % 50);
	wd_store_prune(store, 50);
	ck_assert_int_eq(wd_test_has_row(store, 0), 1);
	wd_store_prune(store, 20);
	for (n = 0; n < 50; n++)
		ck_assert_int_eq(wd_test_has_row(store, n), n >= 30);
	wd_store_free(&store);
	ck_assert_int_eq(wd_store_open_memory(&store, NULL), WD_OK);
	for (n = 0; n < 5; n++)
		wd_test_put_row(store, n);
	wd_store_prune(store, 2);
	for (n = 0; n < 5; n++)
		ck_assert_int_eq(wd_test_has_row(store, n), n >= 3);
	wd_store_free(&store);
	wd_temp_remove(dir);
}
END_TEST

static unsigned
mode_of(const char *path)
{
	struct stat st;

	ck_assert_msg(lstat(path, &st) == 0, "%s", path);
	return st.st_mode & 07777;
}

/* Whatever the umask, nobody else may read or write. */
START_TEST(directory_and_files_are_private)
{
	char dir[WD_TEMP_BYTES];
	struct wd_store *store;
	mode_t before = umask(0);

	wd_temp_make(dir);
	store = open_well(wd_temp_path(dir, "var/lib/weightd"));
	wd_test_put_row(store, 1);
	(void)umask(before);
	ck_assert_uint_eq(mode_of(wd_temp_path(dir, "var")), 0700);
	ck_assert_uint_eq(mode_of(wd_temp_path(dir, "var/lib/weightd")), 0700);
	ck_assert_uint_eq(
	    mode_of(wd_temp_path(dir, "var/lib/weightd/digests.db")), 0600);
	ck_assert_uint_eq(
	    mode_of(wd_temp_path(dir, "var/lib/weightd/digests.db-wal")), 0600);
	wd_store_free(&store);
	/* A mode that somebody loosened is put right. */
	ck_assert_int_eq(
	    chmod(wd_temp_path(dir, "var/lib/weightd/digests.db"), 0644), 0);
	store = open_well(wd_temp_path(dir, "var/lib/weightd"));
	ck_assert_uint_eq(
	    mode_of(wd_temp_path(dir, "var/lib/weightd/digests.db")), 0600);
	ck_assert_int_eq(wd_test_has_row(store, 1), 1);
	wd_store_free(&store);
	wd_temp_remove(dir);
}
END_TEST

START_TEST(no_memory_is_an_error_or_a_miss)
{
	struct wd_store *store = NULL;
	char dir[WD_TEMP_BYTES];
	enum wd_status st = WD_NOMEM;
	uint64_t n;

	wd_temp_make(dir);
	for (n = 0; st != WD_OK || wd_mem_has_failed(); n++) {
		ck_assert_uint_lt(n, 1000);
		wd_store_free(&store);
		wd_mem_fail_after(n);
		st = wd_store_open(dir, &store, NULL);
		if (st == WD_OK) {
			wd_test_put_row(store, 1);
			ck_assert_int_ge(wd_test_has_row(store, 1), 0);
			if (wd_mem_has_failed())
				ck_assert_int_ne(
				    wd_store_state(store, NULL), WD_OK);
		} else {
			ck_assert_int_eq(st, WD_NOMEM);
			ck_assert_ptr_null(store);
		}
		if (!wd_mem_has_failed())
			break;
		wd_mem_fail_after(UINT64_MAX);
		st = WD_NOMEM;
	}
	wd_mem_fail_after(UINT64_MAX);
	ck_assert_uint_ge(n, 4);
	ck_assert_int_eq(wd_test_has_row(store, 1), 1);
	wd_store_free(&store);
	wd_temp_remove(dir);
}
END_TEST

WD_SUITE_BEGIN("store rows")
WD_TEST(rows_outlive_the_process);
WD_TEST(two_stores_share_a_file);
WD_TEST(every_field_of_the_key_counts);
WD_LOOP(numbers_are_kept_whole, edge_keys);
WD_TEST(the_same_key_is_replaced);
WD_TEST(the_newest_before_a_moment);
WD_TEST(the_oldest_rows_are_pruned);
WD_TEST(directory_and_files_are_private);
WD_TEST(no_memory_is_an_error_or_a_miss);
WD_SUITE_END
