#include "base/digest_job.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

/* What is read at once: small enough to be in the processor's second-level
 * cache still when it is hashed. */
#define PIECE (128U << 10)

struct job {
	int fd;
	uint64_t size;
	const struct wd_io_manners *manners;
	const struct wd_digest_manner *manner;
	struct wd_hasher *hasher;
	uint8_t *piece;

	size_t page_bytes;
	uint8_t *pages;           /* AHEAD rings of one block's pages */
	bool known[WD_JOB_AHEAD]; /* `pages` of that block are filled in */
	uint64_t looked;          /* blocks before this byte were looked at */
	uint64_t left;            /* blocks before this byte are done with */
	int64_t started_boot_ns;
};

static size_t
block_len(const struct job *job, uint64_t at)
{
	uint64_t rest = job->size - at;

	return rest < WD_JOB_BLOCK ? (size_t)rest : WD_JOB_BLOCK;
}

static size_t
slot_of(uint64_t at)
{
	return (size_t)(at / WD_JOB_BLOCK % WD_JOB_AHEAD);
}

static uint8_t *
pages_of(const struct job *job, uint64_t at)
{
	return job->pages + slot_of(at) * (WD_JOB_BLOCK / job->page_bytes);
}

/* Notes which pages of the next block are cached, then has it read. The order
 * matters: afterwards nobody could tell whose pages they are. */
static void
look_ahead(struct job *job)
{
	const struct wd_io_manners *manners = job->manners;
	uint64_t at = job->looked;
	size_t len = block_len(job, at);

	job->known[slot_of(at)] = manners->cached != NULL &&
	    manners->cached(job->fd, at, len, pages_of(job, at));
	if (manners->will_need != NULL)
		manners->will_need(job->fd, at, len);
	job->looked += len;
}

/* Drops each run of pages that the block did not have in the cache before. */
static void
leave_block(struct job *job)
{
	uint64_t at = job->left;
	size_t len = block_len(job, at), page = job->page_bytes;
	size_t count = (len + page - 1) / page, first, end;
	const uint8_t *pages = pages_of(job, at);

	job->left += len;
	if (!job->known[slot_of(at)] || job->manners->drop == NULL)
		return;
	for (first = 0; first < count; first = end + 1) {
		for (end = first; end < count && pages[end] == 0; end++)
			;
		/* Whole pages, also at the end of the file. */
		if (end > first)
			job->manners->drop(
			    job->fd, at + first * page, (end - first) * page);
	}
}

static enum wd_status
read_piece(const struct job *job, uint64_t at, size_t len, struct wd_error *err)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = pread(
		    job->fd, job->piece + done, len - done, (off_t)(at + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return wd_fail_errno(
			    err, errno, "cannot read the file to hash it");
		if (n == 0)
			return wd_fail(err, WD_CHANGED,
			    "the file became shorter while it was hashed");
		done += (size_t)n;
	}
	return WD_OK;
}

static enum wd_status
hash_block(struct job *job, uint64_t at, struct wd_error *err)
{
	uint64_t end = at + block_len(job, at);
	enum wd_status st;
	size_t len;

	for (; at < end; at += len) {
		len = end - at < PIECE ? (size_t)(end - at) : PIECE;
		st = read_piece(job, at, len, err);
		if (st != WD_OK)
			return st;
		wd_hasher_add(job->hasher, job->piece, len);
	}
	return WD_OK;
}

static bool
may_go_on(const struct job *job, uint64_t done)
{
	const struct wd_digest_manner *manner = job->manner;

	if (manner->deadline != NULL && wd_deadline_passed(manner->deadline))
		return false;
	return manner->go_on == NULL || manner->go_on(manner->go_on_ctx, done);
}

/* The moment of boot time at which `done` bytes are due; 0: long ago. */
static int64_t
due_boot_ns(const struct job *job, uint64_t done)
{
	uint64_t rate = job->manner->max_bytes_per_second;
	uint64_t seconds;

	if (rate == 0)
		return 0;
	seconds = done / rate;
	if (seconds > INT32_MAX)
		seconds = INT32_MAX;
	return job->started_boot_ns + (int64_t)seconds * WD_NS_PER_SECOND +
	    (int64_t)((double)(done % rate) / (double)rate * 1e9);
}

/* Sleeps in short naps until `done` bytes are due, or the job must end. */
static void
keep_rate(const struct job *job, uint64_t done)
{
	const int64_t most = 50 * WD_NS_PER_MS;
	int64_t due = due_boot_ns(job, done), wait;

	while (may_go_on(job, done)) {
		wait = due - wd_clock_boot_ns(&wd_clock_system);
		if (wait <= 0)
			return;
		wait = wait < most ? wait : most;
		(void)nanosleep(&(struct timespec){ 0, (long)wait }, NULL);
	}
}

static enum wd_status
hash_all(struct job *job, struct wd_error *err)
{
	enum wd_status st;
	uint64_t at;

	for (at = 0; at < job->size; at += WD_JOB_BLOCK) {
		if (!may_go_on(job, at))
			return wd_fail(err, WD_TIMEDOUT,
			    "hashing stopped at its deadline after %llu of "
			    "%llu bytes",
			    (unsigned long long)at,
			    (unsigned long long)job->size);
		while (job->looked < job->size &&
		    job->looked < at + WD_JOB_AHEAD * WD_JOB_BLOCK)
			look_ahead(job);
		st = hash_block(job, at, err);
		if (st != WD_OK)
			return st;
		leave_block(job);
		keep_rate(job, at + block_len(job, at));
	}
	return WD_OK;
}

/* Bytes behind the end that was promised are a change as well. */
static enum wd_status
check_size(const struct job *job, struct wd_error *err)
{
	struct stat now;

	if (fstat(job->fd, &now) != 0)
		return wd_fail_errno(err, errno, "cannot stat the file");
	if ((uint64_t)now.st_size != job->size)
		return wd_fail(err, WD_CHANGED,
		    "the file's size went from %llu to %llu bytes while it "
		    "was hashed",
		    (unsigned long long)job->size,
		    (unsigned long long)now.st_size);
	return WD_OK;
}

static enum wd_status
prepare(struct job *job, struct wd_error *err)
{
	long page = sysconf(_SC_PAGESIZE);
	struct stat st;

	if (fstat(job->fd, &st) != 0)
		return wd_fail_errno(err, errno, "cannot stat the file");
	if (!S_ISREG(st.st_mode))
		return wd_fail(err, WD_INVALID, "it is no regular file");
	job->size = (uint64_t)st.st_size;
	job->page_bytes = page > 0 ? (size_t)page : 4096;
	job->pages = wd_calloc(WD_JOB_AHEAD, WD_JOB_BLOCK / job->page_bytes);
	job->piece = wd_calloc(PIECE, 1);
	if (job->pages == NULL || job->piece == NULL)
		return wd_fail(err, WD_NOMEM, "no memory to hash the file");
	job->started_boot_ns = wd_clock_boot_ns(&wd_clock_system);
	return wd_hasher_new(&job->hasher, err);
}

static void
release(struct job *job)
{
	wd_free(job->pages);
	wd_free(job->piece);
	wd_hasher_free(&job->hasher);
}

static enum wd_status
run(struct job *job, struct wd_sha256 *sha256, struct wd_error *err)
{
	const struct wd_io_manners *manners = job->manners;
	enum wd_status st = prepare(job, err);

	if (st == WD_OK) {
		if (manners->read_ahead != NULL)
			manners->read_ahead(job->fd, false);
		st = hash_all(job, err);
		while (job->left < job->looked)
			leave_block(job);
		if (manners->read_ahead != NULL)
			manners->read_ahead(job->fd, true);
	}
	if (st == WD_OK)
		st = check_size(job, err);
	if (st == WD_OK)
		st = wd_hasher_finish(job->hasher, sha256, err);
	release(job);
	return st;
}

/* What goes into the thread of an idle job and comes out of it. */
struct idle_run {
	struct job *job;
	struct wd_sha256 *sha256;
	struct wd_error *err;
	enum wd_status status;
};

static void *
idle_main(void *arg)
{
	struct idle_run *idle = arg;

	idle->job->manners->be_idle();
	idle->status = run(idle->job, idle->sha256, idle->err);
	return NULL;
}

/* In a thread of its own, since being idle cannot be taken back. */
static enum wd_status
run_idle(struct job *job, struct wd_sha256 *sha256, struct wd_error *err)
{
	struct idle_run idle = { job, sha256, err, WD_IO };
	pthread_t thread;
	int failed = pthread_create(&thread, NULL, idle_main, &idle);

	if (failed != 0)
		return wd_fail_errno(err, failed, "no thread to hash in");
	(void)pthread_join(thread, NULL);
	return idle.status;
}

enum wd_status
wd_digest_job(int fd, const struct wd_io_manners *manners,
    const struct wd_digest_manner *manner, struct wd_sha256 *sha256,
    struct wd_error *err)
{
	static const struct wd_io_manners plain = { .cached = NULL };
	static const struct wd_digest_manner free_run = {
		.max_bytes_per_second = 0
	};
	struct job job = { .fd = fd,
		.manners = manners != NULL ? manners : &plain,
		.manner = manner != NULL ? manner : &free_run };

	if (job.manner->idle_class && job.manners->be_idle != NULL)
		return run_idle(&job, sha256, err);
	return run(&job, sha256, err);
}
