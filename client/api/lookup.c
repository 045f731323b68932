#include "api/lookup.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/target.h"
#include "base/limits.h"
#include "base/mem.h"

enum state {
	QUEUED,
	RUNNING,   /* a thread has it */
	ENDED,     /* on the list of those that have ended */
	ABANDONED, /* a thread has it, and nobody waits */
};

struct wd_lookup {
	struct wd_lookups *all;
	struct wd_lookup *next;
	enum state state;
	char host[WD_API_HOST_BYTES];
	char port[8];
	wd_lookup_done *done;
	void *ctx;
	int error;
	int os_errno;
	struct addrinfo *list;
};

/* Lives as long as the last thread. */
struct wd_lookups {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct wd_lookup *queue;
	struct wd_lookup *ended;
	unsigned threads;
	unsigned idle;
	unsigned queued;
	bool is_closing;
	int ends[2]; /* a byte goes through when one has ended */
	wd_api_resolve *resolve;
	struct event *readable; /* the owner's alone */
};

/* ---- lists --------------------------------------------------------------- */

static void
append(struct wd_lookup **list, struct wd_lookup *item)
{
	while (*list != NULL)
		list = &(*list)->next;
	item->next = NULL;
	*list = item;
}

static struct wd_lookup *
take_first(struct wd_lookup **list)
{
	struct wd_lookup *first = *list;

	if (first != NULL)
		*list = first->next;
	return first;
}

static void
take_out(struct wd_lookup **list, const struct wd_lookup *item)
{
	while (*list != NULL && *list != item)
		list = &(*list)->next;
	if (*list != NULL)
		*list = item->next;
}

static void
free_lookup(struct wd_lookup *lookup)
{
	if (lookup->list != NULL)
		freeaddrinfo(lookup->list);
	wd_free(lookup);
}

/* ---- threads ------------------------------------------------------------- */

/* The lock is held. The last one out takes everything with it. */
static void
leave(struct wd_lookups *all)
{
	bool is_last;

	all->threads--;
	is_last = all->threads == 0 && all->is_closing;
	(void)pthread_mutex_unlock(&all->lock);
	if (!is_last)
		return;
	(void)close(all->ends[0]);
	(void)close(all->ends[1]);
	(void)pthread_cond_destroy(&all->wake);
	(void)pthread_mutex_destroy(&all->lock);
	wd_free(all);
}

static void
resolve(const struct wd_lookups *all, struct wd_lookup *lookup, int flags)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICSERV | flags };

	lookup->error =
	    all->resolve(lookup->host, lookup->port, &hints, &lookup->list);
	lookup->os_errno = lookup->error == EAI_SYSTEM ? errno : 0;
	if (lookup->error != 0)
		lookup->list = NULL;
}

/* The lock is held. */
static void
hand_back(struct wd_lookups *all, struct wd_lookup *lookup)
{
	if (lookup->state == ABANDONED) {
		free_lookup(lookup);
		return;
	}
	lookup->state = ENDED;
	append(&all->ended, lookup);
	/* A pipe that is full wakes the loop too. */
	(void)!write(all->ends[1], "", 1);
}

static void *
work(void *ctx)
{
	struct wd_lookups *all = ctx;
	struct wd_lookup *lookup;

	(void)pthread_mutex_lock(&all->lock);
	while (!all->is_closing) {
		lookup = take_first(&all->queue);
		if (lookup == NULL) {
			all->idle++;
			(void)pthread_cond_wait(&all->wake, &all->lock);
			all->idle--;
			continue;
		}
		all->queued--;
		lookup->state = RUNNING;
		(void)pthread_mutex_unlock(&all->lock);
		resolve(all, lookup, 0);
		(void)pthread_mutex_lock(&all->lock);
		hand_back(all, lookup);
	}
	leave(all);
	return NULL;
}

/* Signals are the main thread's. */
static int
start_thread(struct wd_lookups *all)
{
	sigset_t every, before;
	pthread_attr_t detached;
	pthread_t thread;
	int wrong;

	(void)sigfillset(&every);
	wrong = pthread_attr_init(&detached);
	if (wrong != 0)
		return wrong;
	(void)pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	(void)pthread_sigmask(SIG_SETMASK, &every, &before);
	wrong = pthread_create(&thread, &detached, work, all);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&detached);
	return wrong;
}

/* ---- the event loop's side ----------------------------------------------- */

static struct wd_lookup *
take_ended(struct wd_lookups *all)
{
	struct wd_lookup *lookup;

	(void)pthread_mutex_lock(&all->lock);
	lookup = take_first(&all->ended);
	(void)pthread_mutex_unlock(&all->lock);
	return lookup;
}

/* A callback may cancel any other lookup: one is taken at a time. */
static void
on_ended(evutil_socket_t fd, short events, void *ctx)
{
	struct wd_lookups *all = ctx;
	struct wd_lookup *lookup;
	char bytes[64];

	(void)events;
	while (read((int)fd, bytes, sizeof(bytes)) > 0)
		;
	while ((lookup = take_ended(all)) != NULL) {
		struct addrinfo *list = wd_steal(&lookup->list);

		lookup->done(
		    lookup->ctx, lookup->error, lookup->os_errno, list);
		wd_free(lookup);
	}
}

static bool
open_ends(struct wd_lookups *all)
{
	int i;

	if (pipe(all->ends) != 0)
		return false;
	for (i = 0; i < 2; i++)
		if (fcntl(all->ends[i], F_SETFL, O_NONBLOCK) != 0 ||
		    fcntl(all->ends[i], F_SETFD, FD_CLOEXEC) != 0)
			return false;
	return true;
}

enum wd_status
wd_lookups_new(struct event_base *base, wd_api_resolve *system,
    struct wd_lookups **lookups, struct wd_error *err)
{
	struct wd_lookups *all = wd_calloc(1, sizeof(*all));

	*lookups = all;
	if (all == NULL)
		return wd_fail(err, WD_NOMEM, "no memory for lookups");
	all->ends[0] = all->ends[1] = -1;
	all->resolve = system != NULL ? system : getaddrinfo;
	if (pthread_mutex_init(&all->lock, NULL) != 0 ||
	    pthread_cond_init(&all->wake, NULL) != 0) {
		wd_free(all);
		*lookups = NULL;
		return wd_fail(err, WD_IO, "no lock for lookups");
	}
	if (!open_ends(all)) {
		(void)wd_fail_errno(err, errno, "lookups: no pipe");
		wd_lookups_free(lookups);
		return WD_IO;
	}
	all->readable =
	    event_new(base, all->ends[0], EV_READ | EV_PERSIST, on_ended, all);
	if (all->readable != NULL && event_add(all->readable, NULL) == 0)
		return WD_OK;
	wd_lookups_free(lookups);
	return wd_fail(err, WD_NOMEM, "no memory for lookups");
}

void
wd_lookups_free(struct wd_lookups **lookups)
{
	struct wd_lookups *all = *lookups;

	*lookups = NULL;
	if (all == NULL)
		return;
	if (all->readable != NULL)
		event_free(all->readable);
	(void)pthread_mutex_lock(&all->lock);
	all->is_closing = true;
	(void)pthread_cond_broadcast(&all->wake);
	/* This one counts as a thread that leaves. */
	all->threads++;
	leave(all);
}

static bool
is_literal(const struct wd_lookups *all, struct wd_lookup *lookup)
{
	resolve(all, lookup, AI_NUMERICHOST);
	return lookup->error == 0;
}

/* The lock is held. */
static enum wd_status
queue(struct wd_lookups *all, struct wd_lookup *lookup, struct wd_error *err)
{
	int wrong = 0;

	if (all->queued >= all->idle && all->threads < WD_MAX_LOOKUP_THREADS) {
		wrong = start_thread(all);
		if (wrong == 0)
			all->threads++;
	}
	if (all->threads == 0)
		return wd_fail_errno(err, wrong, "no thread for a lookup");
	append(&all->queue, lookup);
	all->queued++;
	(void)pthread_cond_signal(&all->wake);
	return WD_OK;
}

enum wd_status
wd_lookup_start(struct wd_lookups *all, const char *host, uint16_t port,
    wd_lookup_done *done, void *ctx, struct wd_lookup **lookup,
    struct wd_error *err)
{
	struct wd_lookup *made = wd_calloc(1, sizeof(*made));
	enum wd_status st = WD_OK;

	if (made == NULL)
		return wd_fail(err, WD_NOMEM, "no memory for a lookup");
	*made = (struct wd_lookup){ .all = all, .done = done, .ctx = ctx };
	(void)snprintf(made->host, sizeof(made->host), "%s", host);
	(void)snprintf(made->port, sizeof(made->port), "%u", (unsigned)port);
	/* An address needs no thread. */
	if (is_literal(all, made)) {
		(void)pthread_mutex_lock(&all->lock);
		hand_back(all, made);
		(void)pthread_mutex_unlock(&all->lock);
	} else {
		(void)pthread_mutex_lock(&all->lock);
		st = queue(all, made, err);
		(void)pthread_mutex_unlock(&all->lock);
	}
	if (st != WD_OK)
		free_lookup(made);
	else
		*lookup = made;
	return st;
}

void
wd_lookup_cancel(struct wd_lookup **lookup)
{
	struct wd_lookup *gone = *lookup;
	struct wd_lookups *all;
	bool is_running;

	*lookup = NULL;
	if (gone == NULL)
		return;
	all = gone->all;
	(void)pthread_mutex_lock(&all->lock);
	is_running = gone->state == RUNNING;
	if (is_running) {
		gone->state = ABANDONED;
	} else {
		all->queued -= gone->state == QUEUED;
		take_out(&all->queue, gone);
		take_out(&all->ended, gone);
	}
	(void)pthread_mutex_unlock(&all->lock);
	if (!is_running)
		free_lookup(gone);
}
