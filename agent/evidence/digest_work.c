#include "evidence/digest_work.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "evidence/remember.h"

/* Longest sleep of a question that waits, so that a clock that is set does
 * not keep it. */
#define NAP_NS (200 * WD_NS_PER_MS)

enum phase { WAITS, RUNS, ENDED };

struct job {
	struct job *next;
	struct wd_file_state state;
	int fd; /* ours; -1 once it has ended */
	enum phase phase;
	atomic_uint_fast64_t done_bytes;
	unsigned waiting; /* questions that need it to stay */
	/* ENDED */
	enum wd_status status;
	struct wd_error failure;
	struct wd_digest_row row;
	int64_t ended_boot_ns;
};

struct wd_digest_work {
	struct wd_work_with with;
	pthread_t threads[WD_WORK_THREADS];
	size_t thread_count;
	size_t readers_taken; /* by threads that have begun */
	pthread_mutex_t lock; /* of everything below */
	pthread_cond_t moved;
	struct job *jobs; /* oldest first */
	size_t job_count;
	atomic_bool stopping;
};

static void
lock(struct wd_digest_work *work)
{
	(void)pthread_mutex_lock(&work->lock);
}

static void
unlock(struct wd_digest_work *work)
{
	(void)pthread_mutex_unlock(&work->lock);
}

/* ---- the list ------------------------------------------------------------ */

static void
free_job(struct job *job)
{
	if (job->fd >= 0)
		(void)close(job->fd);
	wd_free(job);
}

static bool
is_over(const struct job *job, int64_t now_boot_ns)
{
	return job->phase == ENDED && job->waiting == 0 &&
	    (job->status != WD_OK ||
		now_boot_ns - job->ended_boot_ns >
		    WD_WORK_KEEP_SECONDS * WD_NS_PER_SECOND);
}

static void
drop_old(struct wd_digest_work *work)
{
	int64_t now = wd_clock_boot_ns(work->with.clock);
	struct job **at = &work->jobs;

	while (*at != NULL) {
		struct job *job = *at;

		if (!is_over(job, now)) {
			at = &job->next;
			continue;
		}
		*at = job->next;
		work->job_count--;
		free_job(job);
	}
}

/* A job of the same object in the same state that is good enough: whatever
 * has begun in time, or has not begun yet. */
static struct job *
find_job(struct wd_digest_work *work, const struct wd_file_state *state,
    int64_t since_real_ns)
{
	struct wd_digest_key wanted = wd_digest_key_of(state);
	struct job *job;

	for (job = work->jobs; job != NULL; job = job->next) {
		struct wd_digest_key key = wd_digest_key_of(&job->state);

		if (!wd_digest_key_same(&key, &wanted) ||
		    (job->phase == ENDED && job->status != WD_OK))
			continue;
		if (job->phase == WAITS ||
		    job->row.computed_real_ns >= since_real_ns)
			return job;
	}
	return NULL;
}

static enum wd_status
add_job(struct wd_digest_work *work, int fd, const struct wd_file_state *state,
    struct job **made, struct wd_error *err)
{
	struct job **at = &work->jobs, *job;

	if (work->job_count >= WD_MAX_DIGEST_JOBS)
		return wd_fail(err, WD_LIMIT,
		    "%u files wait to be hashed already; ask again later",
		    WD_MAX_DIGEST_JOBS);
	job = wd_calloc(1, sizeof(*job));
	if (job == NULL)
		return wd_fail(err, WD_NOMEM, "digest: out of memory");
	job->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (job->fd < 0) {
		wd_free(job);
		return wd_fail(err, WD_LIMIT,
		    "digest: no descriptor is left for one more file");
	}
	job->state = *state;
	while (*at != NULL)
		at = &(*at)->next;
	*at = job;
	work->job_count++;
	*made = job;
	(void)pthread_cond_broadcast(&work->moved);
	return WD_OK;
}

/* ---- the threads --------------------------------------------------------- */

/* What one thread works with. */
struct hasher {
	struct wd_host *host;
	struct wd_reader *reader;
};

struct running {
	struct wd_digest_work *work;
	struct job *job;
};

static bool
go_on(void *ctx, uint64_t done_bytes)
{
	const struct running *running = ctx;

	atomic_store(&running->job->done_bytes, done_bytes);
	return !atomic_load(&running->work->stopping);
}

/* Everything but phase and result is the thread's own while a job runs. */
static enum wd_status
run_job(struct wd_digest_work *work, const struct hasher *with, struct job *job,
    struct wd_digest_row *row, struct wd_error *err)
{
	struct running running = { work, job };
	struct wd_digest_manner manner = {
		.max_bytes_per_second = work->with.max_bytes_per_second,
		.idle_class = true,
		.go_on = go_on,
		.go_on_ctx = &running,
	};
	struct wd_host *host = with->host;
	bool keep = wd_digest_may_keep(
	    host, job->fd, &job->state, row->computed_real_ns);
	enum wd_status st =
	    wd_reader_digest(with->reader, job->fd, &manner, &row->sha256, err);

	if (st != WD_OK)
		return st;
	if (!wd_file_is_unchanged(host, job->fd, &job->state))
		return wd_fail(err, WD_CHANGED,
		    "the file was written while it was hashed");
	keep = keep && wd_file_is_written(host, job->fd, &job->state) == WD_NO;
	if (keep)
		wd_store_put(work->with.store, row);
	return WD_OK;
}

static struct job *
next_job(struct wd_digest_work *work)
{
	struct job *job;

	for (job = work->jobs; job != NULL; job = job->next)
		if (job->phase == WAITS)
			return job;
	return NULL;
}

static void
end_job(struct wd_digest_work *work, struct job *job, enum wd_status status)
{
	job->status = status;
	job->ended_boot_ns = wd_clock_boot_ns(work->with.clock);
	job->phase = ENDED;
	(void)close(job->fd);
	job->fd = -1;
	(void)pthread_cond_broadcast(&work->moved);
}

static void
take_job(
    struct wd_digest_work *work, const struct hasher *with, struct job *job)
{
	enum wd_status st;

	job->phase = RUNS;
	wd_error_init(&job->failure);
	job->row.key = wd_digest_key_of(&job->state);
	job->row.computed_real_ns = wd_clock_real_ns(work->with.clock);
	unlock(work);
	st = run_job(work, with, job, &job->row, &job->failure);
	lock(work);
	end_job(work, job, st);
}

static void *
thread_main(void *ctx)
{
	struct wd_digest_work *work = ctx;
	struct hasher with;
	size_t index;

	lock(work);
	index = work->readers_taken++;
	with.reader = work->with.readers[index];
	with.host = work->with.hosts == NULL ? work->with.host :
					       work->with.hosts[index];
	while (!atomic_load(&work->stopping)) {
		struct job *job = next_job(work);

		if (job != NULL)
			take_job(work, &with, job);
		else
			(void)pthread_cond_wait(&work->moved, &work->lock);
	}
	unlock(work);
	return NULL;
}

/* ---- questions ----------------------------------------------------------- */

/* Sleeps until something moved, or for a nap. */
static void
nap(struct wd_digest_work *work, const struct wd_deadline *deadline)
{
	int64_t left_ms = deadline == NULL ? -1 : wd_deadline_left_ms(deadline);
	int64_t wait = left_ms < 0 || left_ms * WD_NS_PER_MS > NAP_NS ?
	    NAP_NS :
	    left_ms * WD_NS_PER_MS;
	struct timespec until;

	(void)clock_gettime(CLOCK_REALTIME, &until);
	wait += until.tv_nsec;
	until.tv_sec += (time_t)(wait / WD_NS_PER_SECOND);
	until.tv_nsec = (long)(wait % WD_NS_PER_SECOND);
	(void)pthread_cond_timedwait(&work->moved, &work->lock, &until);
}

static void
wait_for(struct wd_digest_work *work, struct job *job,
    const struct wd_deadline *deadline)
{
	job->waiting++;
	while (job->phase != ENDED && !atomic_load(&work->stopping) &&
	    (deadline == NULL || !wd_deadline_passed(deadline)))
		nap(work, deadline);
	job->waiting--;
}

static enum wd_status
result_of(
    const struct job *job, struct wd_work_result *result, struct wd_error *err)
{
	if (job->phase != ENDED) {
		result->done_bytes = atomic_load(&job->done_bytes);
		return wd_fail(err, WD_BUSY, "the file is being hashed");
	}
	if (job->status != WD_OK && err != NULL)
		*err = job->failure;
	if (job->status == WD_OK)
		result->row = job->row;
	return job->status;
}

enum wd_status
wd_digest_work_get(struct wd_digest_work *work, int fd,
    const struct wd_file_state *state, enum wd_work_wish wish,
    int64_t since_real_ns, const struct wd_deadline *deadline,
    struct wd_work_result *result, struct wd_error *err)
{
	/* What lives in memory shows no sign of being written. */
	bool fresh = wish == WD_WORK_FRESH || state->in_memory;
	struct job *job;
	enum wd_status st = WD_OK;

	lock(work);
	drop_old(work);
	job = find_job(work, state, fresh ? since_real_ns : INT64_MIN);
	if (job == NULL)
		st = add_job(work, fd, state, &job, err);
	if (st == WD_OK && (wish != WD_WORK_START || state->in_memory))
		wait_for(work, job, deadline);
	if (st == WD_OK)
		st = result_of(job, result, err);
	unlock(work);
	return st;
}

size_t
wd_digest_work_open_jobs(struct wd_digest_work *work)
{
	const struct job *job;
	size_t count = 0;

	lock(work);
	for (job = work->jobs; job != NULL; job = job->next)
		count += job->phase != ENDED;
	unlock(work);
	return count;
}

/* ---- life ---------------------------------------------------------------- */

static void
free_work(struct wd_digest_work *work)
{
	size_t i;

	for (i = 0; i < work->with.reader_count; i++)
		wd_reader_free(&work->with.readers[i]);
	wd_free(work->with.readers);
	while (work->jobs != NULL) {
		struct job *job = work->jobs;

		work->jobs = job->next;
		free_job(job);
	}
	(void)pthread_cond_destroy(&work->moved);
	(void)pthread_mutex_destroy(&work->lock);
	wd_free(work);
}

void
wd_digest_work_stop(struct wd_digest_work **work)
{
	struct wd_digest_work *old = *work;
	size_t i;

	if (old == NULL)
		return;
	lock(old);
	atomic_store(&old->stopping, true);
	(void)pthread_cond_broadcast(&old->moved);
	unlock(old);
	for (i = 0; i < old->thread_count; i++)
		(void)pthread_join(old->threads[i], NULL);
	free_work(old);
	*work = NULL;
}

/* Takes over the readers, also on failure. */
static enum wd_status
take_readers(struct wd_digest_work *work, const struct wd_work_with *with)
{
	size_t i;

	work->with = *with;
	work->with.readers =
	    wd_calloc(with->reader_count, sizeof(*with->readers));
	for (i = 0; i < with->reader_count; i++) {
		if (work->with.readers == NULL)
			wd_reader_free(&with->readers[i]);
		else
			work->with.readers[i] = with->readers[i];
	}
	if (work->with.readers == NULL)
		work->with.reader_count = 0;
	return work->with.readers == NULL ? WD_NOMEM : WD_OK;
}

enum wd_status
wd_digest_work_start(const struct wd_work_with *with,
    struct wd_digest_work **work, struct wd_error *err)
{
	struct wd_digest_work *made = wd_calloc(1, sizeof(*made));
	enum wd_status st;
	size_t i;

	if (made == NULL) {
		for (i = 0; i < with->reader_count; i++)
			wd_reader_free(&with->readers[i]);
		return wd_fail(err, WD_NOMEM, "digests: out of memory");
	}
	(void)pthread_mutex_init(&made->lock, NULL);
	(void)pthread_cond_init(&made->moved, NULL);
	st = take_readers(made, with);
	for (i = 0; st == WD_OK && i < with->reader_count; i++) {
		if (pthread_create(
			&made->threads[i], NULL, thread_main, made) != 0)
			st = WD_NOMEM;
		else
			made->thread_count++;
	}
	*work = made;
	if (st == WD_OK)
		return st;
	wd_digest_work_stop(work);
	return wd_fail(err, st, "digests: no memory for their threads");
}
