/* Hashing in the background: one job for a file, progress, waiting, and when
 * a digest may serve another question. */
#include "evidence/digest_work.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "support/scene.h"
#include "support/suite.h"

static struct scene s;
static struct wd_digest_work *work;
static struct wd_file file;

/* A reader whose hashes end when the test says so. */
static atomic_int hashes, gate_open, fails;

static enum wd_status
gated_digest(struct wd_reader *reader, int fd,
    const struct wd_digest_manner *manner, struct wd_sha256 *sha256,
    struct wd_error *err)
{
	(void)reader;
	(void)fd;
	atomic_fetch_add(&hashes, 1);
	while (!atomic_load(&gate_open)) {
		if (!manner->go_on(manner->go_on_ctx, 7))
			return wd_fail(err, WD_TIMEDOUT, "told to stop");
		(void)usleep(1000);
	}
	if (atomic_load(&fails))
		return wd_fail(err, WD_IO, "the disk says no");
	memset(sha256, 0xab, sizeof(*sha256));
	return WD_OK;
}

static void
free_reader(struct wd_reader *reader)
{
	wd_free(reader);
}

static struct wd_reader *
new_reader(void)
{
	static const struct wd_reader_ops ops = { .digest = gated_digest,
		.free = free_reader };
	struct wd_reader *reader = wd_calloc(1, sizeof(*reader));

	reader->ops = &ops;
	return reader;
}

/* Both clocks are the scene's. */
static int64_t
scene_now(void *ctx)
{
	(void)ctx;
	return s.real_ns;
}

static const struct wd_clock clock_of_scene = { scene_now, scene_now, NULL };

static void
set_up(void)
{
	struct wd_reader *readers[2] = { new_reader(), new_reader() };
	struct wd_work_with with = { .readers = readers, .reader_count = 2 };

	scene_begin(&s);
	s.digests = WD_DIGEST_CACHED_ONLY;
	scene_ask(&s);
	atomic_store(&hashes, 0);
	atomic_store(&gate_open, 0);
	atomic_store(&fails, 0);
	with.host = s.host;
	with.store = s.store;
	with.clock = &clock_of_scene;
	ck_assert_int_eq(wd_digest_work_start(&with, &work, NULL), WD_OK);
	ck_assert_int_eq(wd_host_open_path(s.host, SCENE_PID,
			     wd_slice_text("/m/m.gguf"), &file, NULL),
	    WD_OK);
}

static void
tear_down(void)
{
	wd_digest_work_stop(&work);
	wd_file_release(&file);
	scene_end(&s);
}

static enum wd_status
get(enum wd_work_wish wish, int64_t wait_ms, struct wd_work_result *result)
{
	struct wd_deadline deadline = wd_deadline_in(&wd_clock_system, wait_ms);

	return wd_digest_work_get(work, file.fd, &file.state, wish, s.real_ns,
	    &deadline, result, NULL);
}

static bool
is_kept(void)
{
	struct wd_digest_key key = { file.state.fs_id, file.state.device,
		file.state.inode, file.state.generation, file.state.size_bytes,
		file.state.mtime_ns, file.state.ctime_ns };
	struct wd_digest_row row;

	return wd_store_get(s.store, &key, &row) == WD_OK;
}

static void
wait_until(atomic_int *what, int value)
{
	while (atomic_load(what) < value)
		(void)usleep(1000);
}

START_TEST(one_job_however_many_ask)
{
	struct wd_work_result result = { .done_bytes = 0 };
	int i;

	for (i = 0; i < 5; i++)
		ck_assert_int_eq(get(WD_WORK_START, 0, &result), WD_BUSY);
	wait_until(&hashes, 1);
	while (result.done_bytes == 0)
		ck_assert_int_eq(get(WD_WORK_START, 0, &result), WD_BUSY);
	ck_assert_uint_eq(result.done_bytes, 7);
	ck_assert_uint_eq(wd_digest_work_open_jobs(work), 1);
	atomic_store(&gate_open, 1);
	ck_assert_int_eq(get(WD_WORK_WAIT, 60000, &result), WD_OK);
	ck_assert_uint_eq(result.row.sha256.bytes[0], 0xab);
	ck_assert_int_eq(result.row.computed_real_ns, s.real_ns);
	ck_assert_int_eq(atomic_load(&hashes), 1);
	ck_assert_uint_eq(wd_digest_work_open_jobs(work), 0);
	ck_assert(is_kept());
}
END_TEST

START_TEST(a_question_waits_until_its_deadline)
{
	struct wd_work_result result;

	ck_assert_int_eq(get(WD_WORK_WAIT, 20, &result), WD_BUSY);
	/* The job goes on without it. */
	ck_assert_uint_eq(wd_digest_work_open_jobs(work), 1);
	atomic_store(&gate_open, 1);
	ck_assert_int_eq(get(WD_WORK_WAIT, 60000, &result), WD_OK);
	ck_assert_int_eq(atomic_load(&hashes), 1);
}
END_TEST

START_TEST(ten_minutes)
{
	struct wd_work_result result;

	atomic_store(&gate_open, 1);
	ck_assert_int_eq(get(WD_WORK_WAIT, 60000, &result), WD_OK);
	s.real_ns += (WD_WORK_KEEP_SECONDS - 1) * WD_NS_PER_SECOND;
	ck_assert_int_eq(get(WD_WORK_START, 0, &result), WD_OK);
	ck_assert_int_lt(result.row.computed_real_ns, s.real_ns);
	s.real_ns += 2 * WD_NS_PER_SECOND;
	atomic_store(&gate_open, 0);
	ck_assert_int_eq(get(WD_WORK_START, 0, &result), WD_BUSY);
	wait_until(&hashes, 2);
}
END_TEST

START_TEST(fresh_is_begun_after_the_question)
{
	struct wd_work_result result;

	atomic_store(&gate_open, 1);
	ck_assert_int_eq(get(WD_WORK_WAIT, 60000, &result), WD_OK);
	s.real_ns++;
	ck_assert_int_eq(get(WD_WORK_FRESH, 60000, &result), WD_OK);
	ck_assert_int_eq(result.row.computed_real_ns, s.real_ns);
	ck_assert_int_eq(atomic_load(&hashes), 2);
}
END_TEST

/* Stores through a mapping leave no trace in the state of such an object. */
START_TEST(memory_is_hashed_for_each_question)
{
	struct wd_work_result result;

	file.state.in_memory = true;
	atomic_store(&gate_open, 1);
	ck_assert_int_eq(get(WD_WORK_START, 60000, &result), WD_OK);
	s.real_ns++;
	ck_assert_int_eq(get(WD_WORK_START, 60000, &result), WD_OK);
	ck_assert_int_eq(atomic_load(&hashes), 2);
}
END_TEST

START_TEST(another_state_is_another_job)
{
	struct wd_work_result result;

	atomic_store(&gate_open, 1);
	ck_assert_int_eq(get(WD_WORK_WAIT, 60000, &result), WD_OK);
	file.state.mtime_ns++;
	/* Not what the object is: it counts as written. */
	ck_assert_int_eq(get(WD_WORK_WAIT, 60000, &result), WD_CHANGED);
	ck_assert_int_eq(atomic_load(&hashes), 2);
}
END_TEST

START_TEST(failures_are_told_and_forgotten)
{
	struct wd_work_result result;
	struct wd_error err;

	atomic_store(&gate_open, 1);
	atomic_store(&fails, 1);
	ck_assert_int_eq(wd_digest_work_get(work, file.fd, &file.state,
			     WD_WORK_WAIT, 0, NULL, &result, &err),
	    WD_IO);
	ck_assert_str_eq(err.message, "the disk says no");
	ck_assert(!is_kept());
	atomic_store(&fails, 0);
	ck_assert_int_eq(get(WD_WORK_WAIT, 60000, &result), WD_OK);
	ck_assert_int_eq(atomic_load(&hashes), 2);
}
END_TEST

START_TEST(what_cannot_be_trusted_is_not_kept)
{
	struct wd_work_result result;

	file.state.trusted_times = false;
	atomic_store(&gate_open, 1);
	ck_assert_int_eq(get(WD_WORK_WAIT, 60000, &result), WD_OK);
	ck_assert(!is_kept());
	/* Yet it serves the next question. */
	ck_assert_int_eq(get(WD_WORK_START, 0, &result), WD_OK);
}
END_TEST

/* A job that runs hears of the end; a question that waits does not hang. */
START_TEST(stopping_ends_everything)
{
	struct wd_work_result result;

	ck_assert_int_eq(get(WD_WORK_START, 0, &result), WD_BUSY);
	wait_until(&hashes, 1);
	wd_digest_work_stop(&work);
	ck_assert_ptr_null(work);
}
END_TEST

/* ---- in an answer -------------------------------------------------------- */

START_TEST(an_answer_says_how_far_it_is)
{
	const Weightd__V1__BundleFile *row;

	s.work = work;
	s.digests = WD_DIGEST_START;
	scene_ask(&s);
	row = scene_model(&s, 0)->bundle->files[0];
	ck_assert_int_eq(row->digest_state, STATE(PENDING));
	ck_assert_ptr_null(row->sha256);
	wait_until(&hashes, 1);
	while (row->hashed_bytes == 0) {
		scene_ask(&s);
		row = scene_model(&s, 0)->bundle->files[0];
	}
	ck_assert_uint_eq(row->hashed_bytes, 7);
	ck_assert_int_eq(atomic_load(&hashes), 1);
	atomic_store(&gate_open, 1);
	s.digests = WD_DIGEST_COMPUTE;
	scene_ask(&s);
	row = scene_model(&s, 0)->bundle->files[0];
	/* The job may have ended, and been remembered, before it asks. */
	ck_assert(row->digest_state == STATE(COMPUTED) ||
	    row->digest_state == STATE(CACHED));
	ck_assert_uint_eq(row->sha256->value.data[0], 0xab);
	scene_ask(&s);
	row = scene_model(&s, 0)->bundle->files[0];
	ck_assert_int_eq(row->digest_state, STATE(CACHED));
	s.digests = WD_DIGEST_FRESH;
	s.real_ns++;
	scene_ask(&s);
	row = scene_model(&s, 0)->bundle->files[0];
	ck_assert_int_eq(row->digest_state, STATE(COMPUTED));
	ck_assert_int_eq(atomic_load(&hashes), 2);
}
END_TEST

START_TEST(too_many_jobs)
{
	struct wd_work_result result;
	enum wd_status st = WD_BUSY;
	int i;

	for (i = 0; st == WD_BUSY && i < 2 * WD_MAX_DIGEST_JOBS; i++) {
		file.state.ctime_ns++;
		st = get(WD_WORK_START, 0, &result);
	}
	ck_assert_int_eq(st, WD_LIMIT);
	ck_assert_int_eq(i, WD_MAX_DIGEST_JOBS + 1);
}
END_TEST

WD_SUITE_BEGIN("evidence digest work")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_TEST(one_job_however_many_ask);
WD_TEST(a_question_waits_until_its_deadline);
WD_TEST(ten_minutes);
WD_TEST(fresh_is_begun_after_the_question);
WD_TEST(memory_is_hashed_for_each_question);
WD_TEST(another_state_is_another_job);
WD_TEST(failures_are_told_and_forgotten);
WD_TEST(what_cannot_be_trusted_is_not_kept);
WD_TEST(stopping_ends_everything);
WD_TEST(an_answer_says_how_far_it_is);
WD_TEST(too_many_jobs);
WD_SUITE_END
