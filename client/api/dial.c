#include "api/dial.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/target.h"
#include "base/escape.h"
#include "base/mem.h"

struct wd_dial {
	struct event_base *base;
	struct addrinfo *list;
	struct addrinfo *at; /* the one that is being tried; NULL: all were */
	struct wd_deadline deadline;
	char target[WD_TARGET_TEXT_BYTES];
	wd_dial_done *done;
	void *ctx;
	int fd;
	struct event *event;
	unsigned tried;
	struct wd_api_fault worst; /* of what failed, the most telling */
};

static void
close_one(struct wd_dial *dial)
{
	if (dial->event != NULL)
		event_free(dial->event);
	dial->event = NULL;
	if (dial->fd >= 0)
		(void)close(dial->fd);
	dial->fd = -1;
}

void
wd_dial_cancel(struct wd_dial **dial)
{
	if (*dial == NULL)
		return;
	close_one(*dial);
	if ((*dial)->list != NULL)
		freeaddrinfo((*dial)->list);
	wd_free(*dial);
	*dial = NULL;
}

/* ---- what went wrong ----------------------------------------------------- */

/* Somebody who refuses is there, and a silent address may be: that says more
 * than an address of a family that this machine has no route for. */
static int
weight_of(enum wd_api_trouble trouble)
{
	switch ((int)trouble) {
	case WD_API_REFUSED:
		return 3;
	case WD_API_TIMEOUT:
		return 2;
	case WD_API_UNREACHABLE:
		return 1;
	default:
		return 0;
	}
}

static enum wd_api_trouble
trouble_of(int os_errno)
{
	switch (os_errno) {
	case ECONNREFUSED:
	case ECONNRESET:
		return WD_API_REFUSED;
	case ETIMEDOUT:
		return WD_API_TIMEOUT;
	case EMFILE:
	case ENFILE:
	case ENOMEM:
	case ENOBUFS:
		return WD_API_LOCAL;
	default:
		return WD_API_UNREACHABLE;
	}
}

static void
note(struct wd_dial *dial, int os_errno)
{
	enum wd_api_trouble trouble = trouble_of(os_errno);
	char address[NI_MAXHOST] = "?";

	(void)getnameinfo(dial->at->ai_addr, dial->at->ai_addrlen, address,
	    sizeof(address), NULL, 0, NI_NUMERICHOST);
	dial->tried++;
	if (dial->worst.trouble != WD_API_FINE &&
	    weight_of(trouble) <= weight_of(dial->worst.trouble))
		return;
	wd_api_fail(&dial->worst, trouble, WD_API_CONNECT, "%s: address %s: %s",
	    dial->target, address, strerror(os_errno));
}

/* ---- one address after the other ----------------------------------------- */

static void try_next(struct wd_dial *dial);

static void
end(struct wd_dial *dial)
{
	wd_dial_done *done = dial->done;
	struct wd_api_fault fault = dial->worst;
	void *ctx = dial->ctx;
	int fd = dial->fd;

	dial->fd = -1;
	wd_dial_cancel(&dial);
	done(ctx, fd, fd >= 0 ? NULL : &fault);
}

static void
on_event(evutil_socket_t fd, short events, void *ctx)
{
	struct wd_dial *dial = ctx;
	socklen_t len = sizeof(int);
	int wrong = ETIMEDOUT;

	if ((events & EV_WRITE) != 0 &&
	    getsockopt((int)fd, SOL_SOCKET, SO_ERROR, &wrong, &len) != 0)
		wrong = errno;
	if (wrong == 0) {
		event_free(dial->event);
		dial->event = NULL;
		end(dial);
		return;
	}
	note(dial, wrong);
	close_one(dial);
	dial->at = dial->at->ai_next;
	try_next(dial);
}

/* The time that this address gets: its share of what is left. */
static struct timeval
share(const struct wd_dial *dial)
{
	int64_t left = wd_deadline_left_ms(&dial->deadline);
	const struct addrinfo *at;
	int64_t count = 0;

	for (at = dial->at; at != NULL; at = at->ai_next)
		count++;
	/* Without an end each would wait for ever; the system's own would be
	 * minutes. */
	if (left < 0)
		left = 60000;
	left = left / count + 1;
	return (struct timeval){ .tv_sec = (time_t)(left / 1000),
		.tv_usec = (suseconds_t)(left % 1000 * 1000) };
}

/* Returns an errno value; EINPROGRESS when it goes on. */
static int
begin_connect(struct wd_dial *dial)
{
	int on = 1;

	dial->fd = socket(dial->at->ai_family, SOCK_STREAM, 0);
	if (dial->fd < 0)
		return errno;
	if (fcntl(dial->fd, F_SETFD, FD_CLOEXEC) != 0 ||
	    fcntl(dial->fd, F_SETFL, O_NONBLOCK) != 0)
		return errno;
	(void)setsockopt(dial->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(dial->fd, dial->at->ai_addr, dial->at->ai_addrlen) == 0)
		return EINPROGRESS;
	return errno == EINTR ? EINPROGRESS : errno;
}

static bool
try_one(struct wd_dial *dial)
{
	struct timeval wait = share(dial);
	int wrong = begin_connect(dial);

	if (wrong == EINPROGRESS) {
		dial->event =
		    event_new(dial->base, dial->fd, EV_WRITE, on_event, dial);
		if (dial->event != NULL && event_add(dial->event, &wait) == 0)
			return true;
		wrong = ENOMEM;
	}
	note(dial, wrong);
	close_one(dial);
	return false;
}

static void
try_next(struct wd_dial *dial)
{
	size_t len;

	for (; dial->at != NULL; dial->at = dial->at->ai_next)
		if (try_one(dial))
			return;
	len = strlen(dial->worst.message);
	if (dial->tried > 1)
		(void)snprintf(dial->worst.message + len,
		    sizeof(dial->worst.message) - len,
		    " (%u addresses were tried)", dial->tried);
	end(dial);
}

static void
on_start(evutil_socket_t fd, short events, void *ctx)
{
	struct wd_dial *dial = ctx;

	(void)fd;
	(void)events;
	event_free(dial->event);
	dial->event = NULL;
	try_next(dial);
}

enum wd_status
wd_dial_start(struct event_base *base, struct addrinfo *list,
    const struct wd_deadline *deadline, const char *target, wd_dial_done *done,
    void *ctx, struct wd_dial **dial, struct wd_error *err)
{
	struct wd_dial *made = wd_calloc(1, sizeof(*made));

	if (made != NULL) {
		*made = (struct wd_dial){ .base = base,
			.list = list,
			.at = list,
			.deadline = *deadline,
			.done = done,
			.ctx = ctx,
			.fd = -1 };
		wd_escape_short(
		    made->target, sizeof(made->target), wd_slice_text(target));
		made->event = evtimer_new(base, on_start, made);
	} else {
		freeaddrinfo(list);
	}
	if (made == NULL || made->event == NULL) {
		wd_dial_cancel(&made);
		return wd_fail(err, WD_NOMEM, "no memory for a connection");
	}
	event_active(made->event, EV_TIMEOUT, 0);
	*dial = made;
	return WD_OK;
}
