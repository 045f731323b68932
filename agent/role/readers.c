#include "role/readers.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "seam/frame.h"

#define MAX_SOCKET 65536
/* The reader's control thread does nothing but take lines. */
#define SEND_MS 2000

struct wd_readers {
	const struct wd_clock *clock;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int control; /* -1: no reader */
	uint32_t number;
	bool is_closed, is_given_up;
	int wake[2];
	/* Which reader the line with this descriptor leads to. */
	uint32_t *number_of;
};

/* ---- a new line ---------------------------------------------------------- */

/* Waits, locked, until there is a reader. */
static bool
wait_for_reader(struct wd_readers *readers, const struct timespec *until)
{
	int rc = 0;

	while (readers->control < 0 && !readers->is_closed && rc == 0)
		rc = pthread_cond_timedwait(
		    &readers->changed, &readers->lock, until);
	return readers->control >= 0 && !readers->is_closed;
}

static void
give_up(struct wd_readers *readers)
{
	readers->is_given_up = true;
	/* A full pipe wakes as well. */
	(void)!write(readers->wake[1], "", 1);
}

static enum wd_status
send_line(struct wd_readers *readers, int *socket, struct wd_error *err)
{
	struct wd_deadline deadline = wd_deadline_in(readers->clock, SEND_MS);
	struct wd_frame frame = wd_frame_init(WD_READERS_LINE, 0);
	int pair[2];
	enum wd_status st = wd_frame_pair(pair, err);

	if (st != WD_OK)
		return st;
	if (pair[0] >= MAX_SOCKET) {
		(void)close(pair[0]);
		(void)close(pair[1]);
		return wd_fail(err, WD_LIMIT, "too many descriptors are open");
	}
	frame.fds[frame.fd_count++] = pair[1];
	st = wd_frame_send(readers->control, &frame, &deadline, err);
	wd_frame_release(&frame);
	if (st != WD_OK) {
		(void)close(pair[0]);
		return st;
	}
	readers->number_of[pair[0]] = readers->number;
	*socket = pair[0];
	return WD_OK;
}

static enum wd_status
open_locked(struct wd_readers *readers, int *socket, struct wd_error *err)
{
	struct timespec until;
	enum wd_status st = WD_GONE;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += WD_READERS_WAIT_MS / 1000;
	while (st == WD_GONE && wait_for_reader(readers, &until)) {
		st = send_line(readers, socket, err);
		/* It died, which the loop will hear as well. */
		if (st == WD_GONE)
			readers->control = -1;
		if (st == WD_TIMEDOUT)
			give_up(readers);
	}
	if (st == WD_GONE)
		return wd_fail(err, WD_BUSY,
		    "the reader process is not running: it ended too often "
		    "lately, or the service ends; see the log");
	return st;
}

static enum wd_status
open_line(void *ctx, int *socket, struct wd_error *err)
{
	struct wd_readers *readers = ctx;
	enum wd_status st;

	(void)pthread_mutex_lock(&readers->lock);
	st = open_locked(readers, socket, err);
	(void)pthread_mutex_unlock(&readers->lock);
	return st;
}

static void
line_lost(void *ctx, int socket)
{
	struct wd_readers *readers = ctx;

	(void)pthread_mutex_lock(&readers->lock);
	if (readers->control >= 0 &&
	    readers->number_of[socket] == readers->number)
		give_up(readers);
	(void)pthread_mutex_unlock(&readers->lock);
}

struct wd_reader_lines
wd_readers_lines(struct wd_readers *readers)
{
	return (struct wd_reader_lines){ open_line, line_lost, readers };
}

/* ---- the loop's side ----------------------------------------------------- */

void
wd_readers_use(struct wd_readers *readers, int control)
{
	(void)pthread_mutex_lock(&readers->lock);
	readers->control = control;
	readers->is_given_up = false;
	if (control >= 0)
		readers->number++;
	(void)pthread_cond_broadcast(&readers->changed);
	(void)pthread_mutex_unlock(&readers->lock);
}

int
wd_readers_wake_fd(const struct wd_readers *readers)
{
	return readers->wake[0];
}

bool
wd_readers_given_up(struct wd_readers *readers)
{
	char bytes[64];
	bool given_up;

	while (read(readers->wake[0], bytes, sizeof(bytes)) > 0)
		;
	(void)pthread_mutex_lock(&readers->lock);
	given_up = readers->is_given_up;
	readers->is_given_up = false;
	(void)pthread_mutex_unlock(&readers->lock);
	return given_up;
}

void
wd_readers_close(struct wd_readers *readers)
{
	(void)pthread_mutex_lock(&readers->lock);
	readers->is_closed = true;
	(void)pthread_cond_broadcast(&readers->changed);
	(void)pthread_mutex_unlock(&readers->lock);
}

/* ---- life ---------------------------------------------------------------- */

static void
init_lock(struct wd_readers *readers)
{
	pthread_condattr_t attributes;

	(void)pthread_mutex_init(&readers->lock, NULL);
	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&readers->changed, &attributes);
	(void)pthread_condattr_destroy(&attributes);
}

enum wd_status
wd_readers_new(const struct wd_clock *clock, struct wd_readers **readers,
    struct wd_error *err)
{
	WD_CLEANUP(wd_readers_free)
	struct wd_readers *made = wd_calloc(1, sizeof(*made));

	if (made == NULL)
		return wd_fail(err, WD_NOMEM, "out of memory");
	init_lock(made);
	made->clock = clock;
	made->control = made->wake[0] = made->wake[1] = -1;
	made->number_of = wd_calloc(MAX_SOCKET, sizeof(*made->number_of));
	if (made->number_of == NULL)
		return wd_fail(err, WD_NOMEM, "out of memory");
	if (pipe2(made->wake, O_CLOEXEC | O_NONBLOCK) != 0)
		return wd_fail_errno(err, errno, "no pipe");
	*readers = wd_steal(&made);
	return WD_OK;
}

void
wd_readers_free(struct wd_readers **readers)
{
	struct wd_readers *r = *readers;

	*readers = NULL;
	if (r == NULL)
		return;
	if (r->wake[0] >= 0) {
		(void)close(r->wake[0]);
		(void)close(r->wake[1]);
	}
	(void)pthread_cond_destroy(&r->changed);
	(void)pthread_mutex_destroy(&r->lock);
	wd_free(r->number_of);
	wd_free(r);
}
