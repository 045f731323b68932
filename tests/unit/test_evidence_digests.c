/*
 * The bytes: which digest is believed, remembered, or not to be had; and what
 * changed since it was loaded. Design rule 5.
 */
#include <check.h>
#include <string.h>

#include "support/scene.h"
#include "support/suite.h"

static struct scene s;

static void
set_up(void)
{
	scene_begin(&s);
}

static void
tear_down(void)
{
	scene_end(&s);
}

static Weightd__V1__DigestState
state(void)
{
	return scene_model(&s, 0)->bundle->files[0]->digest_state;
}

/* Other bytes of the same length in the same file. */
static void
overwrite(const char *name)
{
	FILE *file = fopen(wd_temp_path(s.folder, name), "r+b");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fseek(file, -1, SEEK_END), 0);
	ck_assert_int_eq(fputc('x', file), 'x');
	ck_assert_int_eq(fclose(file), 0);
}

static struct wd_digest_key
key_of_file(void)
{
	struct wd_digest_key key;
	struct wd_file file = { .fd = -1 };
	struct wd_slice path = wd_slice_text("/m/m.gguf");

	if (s.host == NULL)
		scene_ask(&s);
	ck_assert_int_eq(
	    wd_host_open_path(s.host, 100, path, &file, NULL), WD_OK);
	key = (struct wd_digest_key){ file.state.fs_id, file.state.device,
		file.state.inode, file.state.generation, file.state.size_bytes,
		file.state.mtime_ns, file.state.ctime_ns };
	wd_file_release(&file);
	return key;
}

static bool
is_remembered(void)
{
	struct wd_digest_key key = key_of_file();
	struct wd_digest_row row;

	return wd_store_get(s.store, &key, &row) == WD_OK;
}

/* ---- the cache ----------------------------------------------------------- */

START_TEST(computed_then_cached)
{
	struct wd_sha256 digest = scene_sha256(&s, "m.gguf");

	scene_ask(&s);
	ck_assert_int_eq(state(), STATE(COMPUTED));
	ck_assert(is_remembered());
	scene_ask(&s);
	ck_assert_int_eq(state(), STATE(CACHED));
	ck_assert(scene_digest_is(
	    scene_model(&s, 0)->bundle->files[0]->sha256, &digest));
	ck_assert_int_eq(
	    scene_model(&s, 0)->bundle->content_digest_state, STATE(CACHED));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
	s.digests = WD_DIGEST_FRESH;
	scene_ask(&s);
	ck_assert_int_eq(state(), STATE(COMPUTED));
}
END_TEST

static const struct {
	const char *what, *pointer, *json;
} not_to_be_remembered[] = {
	{ "not quiet", "/files/m.gguf/quiet", "false" },
	{ "nobody can tell whether it is quiet", "/files/m.gguf/quiet_status",
	    "'unsupported'" },
	{ "times that cannot be trusted", "/files/m.gguf/trusted_times",
	    "false" },
	{ "ctime within two seconds of now", "/files/m.gguf/ctime_ns",
	    "1700004998000000001" },
	{ "mtime within two seconds of now", "/files/m.gguf/mtime_ns",
	    "1700004998000000001" },
	{ "a ctime to come", "/files/m.gguf/ctime_ns", "1700009999000000000" },
};

START_TEST(what_is_not_remembered)
{
	scene_put(&s, not_to_be_remembered[_i].pointer,
	    not_to_be_remembered[_i].json);
	scene_ask(&s);
	ck_assert_int_eq(state(), STATE(COMPUTED));
	ck_assert_msg(!is_remembered(), "%s", not_to_be_remembered[_i].what);
	scene_ask(&s);
	ck_assert_int_eq(state(), STATE(COMPUTED));
}
END_TEST

/* A row that is there is not believed either, when somebody may be writing. */
START_TEST(what_is_not_believed)
{
	struct wd_digest_row row;

	scene_put(&s, not_to_be_remembered[_i].pointer,
	    not_to_be_remembered[_i].json);
	row.key = key_of_file();
	row.computed_real_ns = SCENE_NOW - WD_NS_PER_SECOND;
	memset(&row.sha256, 0xee, sizeof(row.sha256));
	wd_store_put(s.store, &row);
	scene_ask(&s);
	ck_assert_msg(
	    state() == STATE(COMPUTED), "%s", not_to_be_remembered[_i].what);
	ck_assert(!scene_digest_is(
	    scene_model(&s, 0)->bundle->files[0]->sha256, &row.sha256));
}
END_TEST

START_TEST(long_enough_ago_is_remembered)
{
	scene_put(&s, "/files/m.gguf/ctime_ns", "1700004997999999999");
	scene_ask(&s);
	ck_assert(is_remembered());
}
END_TEST

/* A writer came between the two leases. */
START_TEST(a_writer_after_hashing)
{
	scene_after(&s, "quiet", 2, "/files/m.gguf/quiet", "false");
	scene_ask(&s);
	ck_assert_int_eq(state(), STATE(COMPUTED));
	ck_assert(!is_remembered());
}
END_TEST

/* E1: rewritten, its mtime set back; the ctime tells. */
START_TEST(a_rewrite_with_an_old_mtime)
{
	struct wd_sha256 digest;

	scene_ask(&s);
	overwrite("m.gguf");
	digest = scene_sha256(&s, "m.gguf");
	scene_put(&s, "/files/m.gguf/ctime_ns", "1699999001000000000");
	scene_ask(&s);
	ck_assert_int_eq(state(), STATE(COMPUTED));
	ck_assert(scene_digest_is(
	    scene_model(&s, 0)->bundle->files[0]->sha256, &digest));
}
END_TEST

/* E3: chmod, or one link more. One re-hash, and the digest is the same. */
START_TEST(only_metadata_changed)
{
	struct wd_sha256 digest = scene_sha256(&s, "m.gguf");

	scene_ask(&s);
	scene_put(&s, "/files/m.gguf/ctime_ns", "1699999001000000000");
	scene_ask(&s);
	ck_assert_int_eq(state(), STATE(COMPUTED));
	scene_ask(&s);
	ck_assert_int_eq(state(), STATE(CACHED));
	ck_assert(scene_digest_is(
	    scene_model(&s, 0)->bundle->files[0]->sha256, &digest));
}
END_TEST

/* E8: the handle is stale once, and found again; or it stays so. */
START_TEST(a_stale_handle)
{
	const char *at = "/processes/100/mappings/items/0/open_status";

	scene_put(&s, at, "'stale handle'");
	if (_i == 0)
		scene_after(&s, "open_object", 1, at, NULL);
	scene_ask(&s);
	if (_i == 0) {
		ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
		ck_assert_int_eq(
		    scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
		return;
	}
	ck_assert(scene_blind(&s, SCOPE(WEIGHTS), "/m/m.gguf"));
	ck_assert_ptr_nonnull(
	    strstr(s.all->blind_spots[0]->reason, "stale handle"));
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
}
END_TEST

/* ---- not to be had ------------------------------------------------------- */

START_TEST(headers_only)
{
	s.digests = WD_DIGEST_CACHED_ONLY;
	scene_ask(&s);
	ck_assert_int_eq(state(), STATE(NONE));
	ck_assert_ptr_null(scene_model(&s, 0)->bundle->content_digest);
	ck_assert(!HAS_CHECK(scene_model(&s, 0), CONTENT_DIGEST));
	ck_assert_int_eq(s.all->grade, GRADE(RESIDENT));
	ck_assert_int_eq(
	    scene_verdict(&s, "m.gguf", NULL), VERDICT(UNVERIFIABLE));
	s.digests = WD_DIGEST_COMPUTE;
	scene_ask(&s);
	s.digests = WD_DIGEST_CACHED_ONLY;
	scene_ask(&s);
	ck_assert_int_eq(state(), STATE(CACHED));
}
END_TEST

/* A clock that reaches the deadline once the digest's turn has come. */
static unsigned readings;

static int64_t
boot_that_runs_out(void *ctx)
{
	(void)ctx;
	return ++readings > 100 ? 100 : 1;
}

static int64_t
real_of_scene(void *ctx)
{
	const struct scene *scene = ctx;

	return scene->real_ns;
}

START_TEST(pending_at_the_deadline)
{
	static struct wd_clock clock;
	unsigned n;
	bool was_pending = false;

	/* Wherever the time runs out: never a wrong digest, never a negative
	 * answer; and somewhere it is the digest that is pending. */
	clock = (struct wd_clock){ real_of_scene, boot_that_runs_out, &s };
	scene_process(&s, 101, 100);
	scene_owner(&s, 101, 3, 77);
	scene_gguf(&s, "d.gguf", "Second", NULL, 64, 3);
	scene_map(&s, 101, "d.gguf", "/m/d.gguf");
	for (n = 0; n <= 100; n++) {
		readings = n;
		s.deadline = (struct wd_deadline){ &clock, 50 };
		scene_ask(&s);
		wd_store_free(&s.store);
		ck_assert_int_eq(wd_store_open_memory(&s.store, NULL), WD_OK);
		ck_assert_int_ne(s.all->grade, GRADE(NONE));
		ck_assert_int_ne(
		    scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
		ck_assert_int_ne(
		    scene_verdict(&s, "m.gguf", NULL), VERDICT(MISSING));
		if (s.all->n_groups == 0 || s.all->groups[0]->n_candidates == 0)
			continue;
		if (state() == STATE(PENDING)) {
			was_pending = true;
			ck_assert_ptr_null(
			    scene_model(&s, 0)->bundle->files[0]->sha256);
			ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL),
			    VERDICT(UNVERIFIABLE));
		}
	}
	ck_assert(was_pending);
}
END_TEST

/* ---- changed since it was loaded ----------------------------------------- */

static const struct {
	const char *field;
	int64_t after_start_ns;
	bool changed;
} moments[] = {
	{ "ctime_ns", 10000001, true },
	{ "mtime_ns", 10000001, true },
	{ "ctime_ns", 10000000, false },
	{ "ctime_ns", -1, false },
};

START_TEST(a_file_younger_than_the_process)
{
	char pointer[64];

	(void)snprintf(
	    pointer, sizeof(pointer), "/files/m.gguf/%s", moments[_i].field);
	scene_put_int(&s, pointer, SCENE_START + moments[_i].after_start_ns);
	scene_ask(&s);
	ck_assert_int_eq(HAS_FLAG(scene_file(&s, 0), CHANGED_SINCE_LOAD),
	    moments[_i].changed);
	ck_assert_int_eq(HAS_FLAG(scene_model(&s, 0), CHANGED_SINCE_LOAD),
	    moments[_i].changed);
	ck_assert_int_eq(scene_verdict(&s, NULL, NULL),
	    moments[_i].changed ? VERDICT(UNVERIFIABLE) : VERDICT(MATCH));
}
END_TEST

/* A child has what its parent had loaded before the fork. */
START_TEST(a_fork_is_as_old_as_its_parent)
{
	scene_process(&s, 101, 100);
	scene_put_int(
	    &s, "/processes/101/start_real_ns", SCENE_START + 900000000000);
	scene_put(&s, "/processes/101/exec_token", "9100");
	scene_put(&s, "/processes/101/exe",
	    "{'path': '/usr/bin/server', 'device': 1, 'inode': 3}");
	scene_unmap_all(&s, 100);
	scene_map(&s, 101, "m.gguf", "/m/m.gguf");
	scene_put_int(&s, "/files/m.gguf/ctime_ns", SCENE_START + 500000000000);
	scene_ask(&s);
	ck_assert(HAS_FLAG(scene_file(&s, 0), CHANGED_SINCE_LOAD));
	/* With an exec of its own it has loaded for itself. */
	scene_put(&s, "/processes/101/exec_token", "1");
	scene_ask(&s);
	ck_assert(!HAS_FLAG(scene_file(&s, 0), CHANGED_SINCE_LOAD));
}
END_TEST

/* The parent that loaded it holds no socket and is no member. */
START_TEST(a_fork_of_a_loader_that_does_not_serve)
{
	scene_put(&s, "/processes/50/exec_token", "9100");
	scene_put(&s, "/processes/50/exe",
	    "{'path': '/usr/bin/server', 'device': 1, 'inode': 3}");
	scene_put_int(
	    &s, "/processes/50/start_real_ns", SCENE_START - 900000000000);
	scene_put_int(&s, "/files/m.gguf/ctime_ns", SCENE_START - 500000000000);
	scene_ask(&s);
	ck_assert(HAS_FLAG(scene_file(&s, 0), CHANGED_SINCE_LOAD));
}
END_TEST

static void
remember_earlier(const struct wd_sha256 *sha256, int64_t at_ns,
    int64_t mtime_ns, int64_t ctime_ns)
{
	struct wd_digest_row row = { .key = key_of_file(),
		.sha256 = *sha256,
		.computed_real_ns = at_ns };

	row.key.mtime_ns = mtime_ns;
	row.key.ctime_ns = ctime_ns;
	wd_store_put(s.store, &row);
}

#define OLD (SCENE_START - 1000 * WD_NS_PER_SECOND)
#define HASHED (SCENE_START - 100 * WD_NS_PER_SECOND)

/* chmod, link, unlink, rename: the ctime moves, the bytes do not. */
START_TEST(only_the_inode_was_touched)
{
	struct wd_sha256 digest = scene_sha256(&s, "m.gguf");

	scene_put_int(
	    &s, "/files/m.gguf/ctime_ns", SCENE_START + WD_NS_PER_SECOND);
	scene_ask(&s);
	ck_assert(HAS_FLAG(scene_file(&s, 0), CHANGED_SINCE_LOAD));
	remember_earlier(&digest, HASHED, OLD, OLD);
	scene_ask(&s);
	ck_assert(!HAS_FLAG(scene_file(&s, 0), CHANGED_SINCE_LOAD));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
}
END_TEST

static const struct {
	const char *what;
	int64_t at_ns, mtime_ns;
	bool equal;
} no_excuse[] = {
	{ "the bytes are others", HASHED, OLD, false },
	{ "hashed after the start", SCENE_START + 1, OLD, true },
	/* Written, loaded, and written back: the mtime tells. */
	{ "the same bytes, written again", HASHED, OLD - 1, true },
};

START_TEST(an_earlier_digest_that_excuses_nothing)
{
	struct wd_sha256 digest = scene_sha256(&s, "m.gguf");

	digest.bytes[0] ^= no_excuse[_i].equal ? 0 : 1;
	scene_put_int(
	    &s, "/files/m.gguf/ctime_ns", SCENE_START + WD_NS_PER_SECOND);
	remember_earlier(
	    &digest, no_excuse[_i].at_ns, no_excuse[_i].mtime_ns, OLD);
	scene_ask(&s);
	ck_assert_msg(HAS_FLAG(scene_file(&s, 0), CHANGED_SINCE_LOAD), "%s",
	    no_excuse[_i].what);
}
END_TEST

/* Without a digest of today nothing can be compared. */
START_TEST(no_digest_today_excuses_nothing)
{
	struct wd_sha256 digest = scene_sha256(&s, "m.gguf");

	scene_put_int(
	    &s, "/files/m.gguf/ctime_ns", SCENE_START + WD_NS_PER_SECOND);
	remember_earlier(&digest, HASHED, OLD, OLD);
	wd_store_free(&s.store);
	ck_assert_int_eq(wd_store_open_memory(&s.store, NULL), WD_OK);
	remember_earlier(&digest, HASHED, OLD, OLD);
	s.digests = WD_DIGEST_CACHED_ONLY;
	scene_ask(&s);
	ck_assert_int_eq(state(), STATE(NONE));
	ck_assert(HAS_FLAG(scene_file(&s, 0), CHANGED_SINCE_LOAD));
}
END_TEST

/* A store that does not work: the answer is right, and says so. */
START_TEST(a_store_in_trouble_is_said)
{
	static const char garbage[] = "this is no database at all, honestly";
	const char *folder = wd_temp_path(s.folder, "state");

	wd_store_free(&s.store);
	ck_assert_int_eq(wd_store_open(folder, &s.store, NULL), WD_OK);
	wd_store_free(&s.store);
	wd_temp_write(
	    wd_temp_path(wd_temp_path(s.folder, "state"), "digests.db"),
	    garbage, sizeof(garbage));
	ck_assert_int_eq(
	    wd_store_open(wd_temp_path(s.folder, "state"), &s.store, NULL),
	    WD_OK);
	scene_ask(&s);
	ck_assert_int_eq(state(), STATE(COMPUTED));
	ck_assert_int_eq(scene_verdict(&s, "m.gguf", NULL), VERDICT(MATCH));
	ck_assert(scene_blind(&s, SCOPE(OTHER), "digest cache"));
}
END_TEST

WD_SUITE_BEGIN("evidence digests")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_TEST(computed_then_cached);
WD_LOOP(what_is_not_remembered, not_to_be_remembered);
WD_LOOP(what_is_not_believed, not_to_be_remembered);
WD_TEST(long_enough_ago_is_remembered);
WD_TEST(a_writer_after_hashing);
WD_TEST(a_rewrite_with_an_old_mtime);
WD_TEST(only_metadata_changed);
tcase_add_loop_test(tcase, a_stale_handle, 0, 2);
WD_TEST(headers_only);
WD_TEST(pending_at_the_deadline);
WD_LOOP(a_file_younger_than_the_process, moments);
WD_TEST(a_fork_is_as_old_as_its_parent);
WD_TEST(a_fork_of_a_loader_that_does_not_serve);
WD_TEST(only_the_inode_was_touched);
WD_LOOP(an_earlier_digest_that_excuses_nothing, no_excuse);
WD_TEST(no_digest_today_excuses_nothing);
WD_TEST(a_store_in_trouble_is_said);
WD_SUITE_END
