#include "store/store.h"

#include <errno.h>
#include <pthread.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"
#include "store/place.h"
#include "store/rows.h"

/* After a failure the file is left alone for so long: a bundle of 400 shards
 * must not wait 400 times for the same lock. */
#define REST_NS (2 * WD_NS_PER_SECOND)

/* A file that is damaged again and again is no accident. */
#define MOST_REMAKES 2

#define PRUNE_EVERY 1024

enum cause { BY_OPEN, BY_GET, BY_PUT };

struct wd_store {
	pthread_mutex_t lock;      /* of everything below */
	char *state_dir;           /* NULL: memory only, and meant to be */
	char *path;                /* of the file; NULL until it was found */
	struct wd_rows *file;      /* NULL while it cannot be used */
	struct wd_rows *memory;    /* what the file did not take; or NULL */
	int64_t rest_until_ns;     /* boot time; nothing is asked before */
	int64_t put_rest_until_ns; /* nothing is written before */
	bool given_up;             /* the file is not tried again */
	unsigned remakes;
	unsigned puts;
	struct wd_error trouble; /* status WD_OK: none */
	enum cause cause;
};

static void
lock(struct wd_store *store)
{
	(void)pthread_mutex_lock(&store->lock);
}

static void
unlock(struct wd_store *store)
{
	(void)pthread_mutex_unlock(&store->lock);
}

static const char *
remedy_of(const struct wd_error *why)
{
	if (why->os_errno == ENOSPC)
		return "; free space on that disk";
	if (why->status == WD_BUSY)
		return "; another process holds it: end it, or wait "
		       "(fuser -v on the file names it)";
	if (why->status == WD_DENIED)
		return "; let weightd write there, or name another state "
		       "directory";
	return "";
}

/* Keeps why the file could not be used. Damage is not overwritten. */
static void
set_trouble(
    struct wd_store *store, enum cause cause, const struct wd_error *why)
{
	const char *path = store->path != NULL ? store->path :
	    store->state_dir != NULL           ? store->state_dir :
						 "in memory";
	char name[200];

	if (store->trouble.status == WD_CORRUPT)
		return;
	(void)wd_fail(&store->trouble, why->status,
	    "digest cache %s is not in use: %s%s; answers stay right, digests "
	    "are computed anew",
	    wd_escape_short(name, sizeof(name), wd_slice_text(path)),
	    why->message, remedy_of(why));
	store->trouble.os_errno = why->os_errno;
	store->cause = cause;
}

/* A call of the same kind worked: what it had failed by is over. */
static void
clear_trouble(struct wd_store *store, enum cause cause)
{
	if (store->trouble.status != WD_CORRUPT &&
	    (store->cause == cause || store->cause == BY_OPEN))
		wd_error_init(&store->trouble);
}

/* Who holds the write lock does not keep us from reading. */
static void
rest(struct wd_store *store, enum cause cause)
{
	int64_t until = wd_clock_boot_ns(&wd_clock_system) + REST_NS;

	store->put_rest_until_ns = until;
	if (cause != BY_PUT)
		store->rest_until_ns = until;
}

/* Puts the damaged file out of the way, so that the next open makes a new
 * one. */
static void
move_aside(struct wd_store *store, const struct wd_error *why)
{
	WD_CLEANUP(wd_free_scoped) char *aside = NULL;
	char from[160], to[160];
	struct wd_error err;

	wd_rows_free(&store->file);
	if (store->remakes++ >= MOST_REMAKES ||
	    wd_place_move_aside(store->path, &aside, &err) != WD_OK) {
		store->given_up = true;
		set_trouble(store, BY_OPEN, why);
		return;
	}
	(void)wd_fail(&store->trouble, WD_CORRUPT,
	    "digest cache %s was damaged (%s); it was moved to %s and made "
	    "anew, and digests are computed again; look at the disk's health "
	    "if this happens twice",
	    wd_escape_short(from, sizeof(from), wd_slice_text(store->path)),
	    why->message,
	    wd_escape_short(to, sizeof(to), wd_slice_text(aside)));
}

static enum wd_status
open_once(struct wd_store *store, struct wd_error *err)
{
	enum wd_status st;

	wd_free(wd_steal(&store->path));
	st = wd_place_prepare(store->state_dir, &store->path, err);
	if (st != WD_OK)
		return st;
	return wd_rows_open(store->path, &store->file, err);
}

static void
open_file(struct wd_store *store)
{
	struct wd_error why;
	enum wd_status st;

	wd_error_init(&why);
	st = open_once(store, &why);
	if (st == WD_CORRUPT) {
		move_aside(store, &why);
		if (store->given_up)
			return;
		st = open_once(store, &why);
	}
	if (st == WD_OK) {
		clear_trouble(store, BY_OPEN);
		return;
	}
	set_trouble(store, BY_OPEN, &why);
	/* Those do not pass by themselves. */
	store->given_up = st == WD_UNSUPPORTED || st == WD_CORRUPT;
	rest(store, BY_OPEN);
}

/* The file when it can be used now, else NULL. */
static struct wd_rows *
usable_file(struct wd_store *store, enum cause cause)
{
	int64_t until =
	    cause == BY_PUT ? store->put_rest_until_ns : store->rest_until_ns;

	if (store->state_dir == NULL || store->given_up ||
	    wd_clock_boot_ns(&wd_clock_system) < until)
		return NULL;
	if (store->file == NULL)
		open_file(store);
	return store->file;
}

static void
file_failed(
    struct wd_store *store, enum cause cause, const struct wd_error *why)
{
	if (why->status == WD_CORRUPT) {
		move_aside(store, why);
		return;
	}
	set_trouble(store, cause, why);
	rest(store, cause);
}

static enum wd_status
new_store(struct wd_store **store, struct wd_error *err)
{
	struct wd_store *made = wd_calloc(1, sizeof(*made));

	if (made == NULL)
		return wd_fail(err, WD_NOMEM, "store: out of memory");
	if (pthread_mutex_init(&made->lock, NULL) != 0) {
		wd_free(made);
		return wd_fail(err, WD_NOMEM, "store: no memory for a lock");
	}
	wd_error_init(&made->trouble);
	*store = made;
	return WD_OK;
}

enum wd_status
wd_store_open(
    const char *state_dir, struct wd_store **store, struct wd_error *err)
{
	WD_CLEANUP(wd_store_free) struct wd_store *made = NULL;
	enum wd_status st = new_store(&made, err);

	if (st != WD_OK)
		return st;
	made->state_dir = wd_strdup(state_dir);
	if (made->state_dir == NULL)
		return wd_fail(err, WD_NOMEM, "store: out of memory");
	open_file(made);
	*store = wd_steal(&made);
	return WD_OK;
}

enum wd_status
wd_store_open_memory(struct wd_store **store, struct wd_error *err)
{
	return new_store(store, err);
}

enum wd_status
wd_store_state(struct wd_store *store, struct wd_error *err)
{
	enum wd_status st;

	lock(store);
	st = store->trouble.status;
	if (st != WD_OK && err != NULL)
		*err = store->trouble;
	unlock(store);
	return st;
}

/* One question to a database: get, or the newest before a moment. */
struct question {
	const struct wd_digest_key *key;
	const int64_t *before_real_ns; /* NULL: exactly this key */
};

static enum wd_status
ask(struct wd_rows *rows, const struct question *question,
    struct wd_digest_row *row, struct wd_error *err)
{
	if (question->before_real_ns == NULL)
		return wd_rows_get(rows, question->key, row, err);
	return wd_rows_get_before(
	    rows, question->key, *question->before_real_ns, row, err);
}

static enum wd_status
ask_file(struct wd_store *store, const struct question *question,
    struct wd_digest_row *row)
{
	struct wd_rows *file = usable_file(store, BY_GET);
	struct wd_error why;
	enum wd_status st;

	if (file == NULL)
		return WD_NOTFOUND;
	wd_error_init(&why);
	st = ask(file, question, row, &why);
	if (st == WD_OK || st == WD_NOTFOUND) {
		clear_trouble(store, BY_GET);
		return st;
	}
	file_failed(store, BY_GET, &why);
	return WD_NOTFOUND;
}

/* Of two rows the newer one is the answer. */
static enum wd_status
ask_both(struct wd_store *store, const struct question *question,
    struct wd_digest_row *row)
{
	enum wd_status st = ask_file(store, question, row);
	struct wd_digest_row other;

	if (store->memory == NULL ||
	    ask(store->memory, question, &other, NULL) != WD_OK)
		return st;
	if (st != WD_OK || other.computed_real_ns > row->computed_real_ns)
		*row = other;
	return WD_OK;
}

static enum wd_status
ask_locked(struct wd_store *store, const struct question *question,
    struct wd_digest_row *row)
{
	enum wd_status st;

	lock(store);
	st = ask_both(store, question, row);
	unlock(store);
	return st;
}

enum wd_status
wd_store_get(struct wd_store *store, const struct wd_digest_key *key,
    struct wd_digest_row *row)
{
	return ask_locked(store, &(struct question){ key, NULL }, row);
}

enum wd_status
wd_store_get_before(struct wd_store *store, const struct wd_digest_key *key,
    int64_t before_real_ns, struct wd_digest_row *row)
{
	return ask_locked(
	    store, &(struct question){ key, &before_real_ns }, row);
}

static bool
put_in_file(struct wd_store *store, const struct wd_digest_row *row)
{
	struct wd_rows *file = usable_file(store, BY_PUT);
	struct wd_error why;

	if (file == NULL)
		return false;
	wd_error_init(&why);
	if (wd_rows_put(file, row, &why) == WD_OK) {
		clear_trouble(store, BY_PUT);
		return true;
	}
	file_failed(store, BY_PUT, &why);
	/* A file that was just made anew takes the row. */
	file = why.status == WD_CORRUPT ? usable_file(store, BY_PUT) : NULL;
	return file != NULL && wd_rows_put(file, row, NULL) == WD_OK;
}

static void
put_in_memory(struct wd_store *store, const struct wd_digest_row *row)
{
	struct wd_error why;
	enum wd_status st = WD_OK;

	wd_error_init(&why);
	if (store->memory == NULL)
		st = wd_rows_open(NULL, &store->memory, &why);
	if (st == WD_OK)
		st = wd_rows_put(store->memory, row, &why);
	if (st != WD_OK && store->state_dir == NULL)
		set_trouble(store, BY_PUT, &why);
}

static void
prune(struct wd_store *store, uint64_t max_rows)
{
	struct wd_rows *file = usable_file(store, BY_PUT);
	struct wd_error why;

	wd_error_init(&why);
	if (file != NULL && wd_rows_prune(file, max_rows, &why) != WD_OK)
		file_failed(store, BY_PUT, &why);
	if (max_rows > WD_MAX_DIGEST_ROWS_IN_MEMORY)
		max_rows = WD_MAX_DIGEST_ROWS_IN_MEMORY;
	if (store->memory != NULL &&
	    wd_rows_prune(store->memory, max_rows, NULL) != WD_OK)
		wd_rows_free(&store->memory);
}

void
wd_store_put(struct wd_store *store, const struct wd_digest_row *row)
{
	lock(store);
	if (!put_in_file(store, row))
		put_in_memory(store, row);
	if (store->puts++ % PRUNE_EVERY == 0)
		prune(store, WD_MAX_DIGEST_ROWS);
	unlock(store);
}

void
wd_store_prune(struct wd_store *store, uint64_t max_rows)
{
	lock(store);
	prune(store, max_rows);
	unlock(store);
}

void
wd_store_free(struct wd_store **store)
{
	if (*store == NULL)
		return;
	wd_rows_free(&(*store)->file);
	wd_rows_free(&(*store)->memory);
	(void)pthread_mutex_destroy(&(*store)->lock);
	wd_free((*store)->state_dir);
	wd_free((*store)->path);
	wd_free(*store);
	*store = NULL;
}
