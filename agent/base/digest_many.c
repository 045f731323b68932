#include "base/digest_many.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/mem.h"

#define TICK_NS (200 * WD_NS_PER_MS)

struct crew {
	const struct wd_digest_many *many;
	atomic_size_t next;
	atomic_uint_fast64_t done_bytes;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	unsigned working;
};

/* What one job has told so far. */
struct share {
	struct crew *crew;
	uint64_t done_bytes;
};

static bool
note_done(void *ctx, uint64_t done_bytes)
{
	struct share *share = ctx;

	if (done_bytes > share->done_bytes) {
		(void)atomic_fetch_add(
		    &share->crew->done_bytes, done_bytes - share->done_bytes);
		share->done_bytes = done_bytes;
	}
	return true;
}

static void
hash_task(struct crew *crew, struct wd_digest_task *task)
{
	struct share share = { crew, 0 };
	struct wd_digest_manner manner = { .idle_class = crew->many->idle_class,
		.go_on = note_done,
		.go_on_ctx = &share };

	wd_error_init(&task->err);
	task->began_real_ns = wd_clock_real_ns(&wd_clock_system);
	task->status = wd_digest_job(
	    task->fd, crew->many->manners, &manner, &task->sha256, &task->err);
}

static void *
work(void *arg)
{
	struct crew *crew = arg;
	size_t at;

	while ((at = atomic_fetch_add(&crew->next, 1)) < crew->many->count)
		hash_task(crew, &crew->many->tasks[at]);
	(void)pthread_mutex_lock(&crew->lock);
	crew->working--;
	(void)pthread_cond_signal(&crew->ended);
	(void)pthread_mutex_unlock(&crew->lock);
	return NULL;
}

/* The condition's clock is the wall clock, and a jump of it only makes a tick
 * early or late. */
static struct timespec
next_tick(void)
{
	int64_t at = wd_clock_real_ns(&wd_clock_system) + TICK_NS;

	return (struct timespec){ (time_t)(at / WD_NS_PER_SECOND),
		(long)(at % WD_NS_PER_SECOND) };
}

static void
wait_for(struct crew *crew)
{
	const struct wd_digest_many *many = crew->many;
	struct timespec until;

	(void)pthread_mutex_lock(&crew->lock);
	while (crew->working > 0) {
		until = next_tick();
		(void)pthread_cond_timedwait(&crew->ended, &crew->lock, &until);
		if (many->tick != NULL)
			many->tick(
			    many->tick_ctx, atomic_load(&crew->done_bytes));
	}
	(void)pthread_mutex_unlock(&crew->lock);
}

/* Fewer threads than asked for do the work as well. */
static enum wd_status
run_crew(
    struct crew *crew, pthread_t *threads, unsigned count, struct wd_error *err)
{
	unsigned started = 0, i;
	int failed = 0;

	crew->working = count;
	while (started < count && failed == 0) {
		failed = pthread_create(&threads[started], NULL, work, crew);
		started += failed == 0;
	}
	(void)pthread_mutex_lock(&crew->lock);
	crew->working -= count - started;
	(void)pthread_mutex_unlock(&crew->lock);
	wait_for(crew);
	for (i = 0; i < started; i++)
		(void)pthread_join(threads[i], NULL);
	return started > 0 ? WD_OK :
			     wd_fail_errno(err, failed, "no thread to hash in");
}

enum wd_status
wd_digest_many(struct wd_digest_many *many, struct wd_error *err)
{
	WD_CLEANUP(wd_free_scoped) pthread_t *threads = NULL;
	struct crew crew = { .many = many };
	unsigned count = many->threads == 0 ? 1 : many->threads;
	enum wd_status st;

	if (count > many->count)
		count = (unsigned)many->count;
	if (count == 0)
		return WD_OK;
	threads = wd_calloc(count, sizeof(*threads));
	if (threads == NULL)
		return wd_fail(err, WD_NOMEM, "no memory for threads");
	atomic_init(&crew.next, 0);
	atomic_init(&crew.done_bytes, 0);
	(void)pthread_mutex_init(&crew.lock, NULL);
	(void)pthread_cond_init(&crew.ended, NULL);
	st = run_crew(&crew, threads, count, err);
	(void)pthread_cond_destroy(&crew.ended);
	(void)pthread_mutex_destroy(&crew.lock);
	return st;
}
