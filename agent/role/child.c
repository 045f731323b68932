#include "role/child.h"

#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "role/backoff.h"
#include "role/users.h"
#include "seam/frame.h"

/* Killed, but the system could not end them yet; more are forgotten, which
 * leaves a dead row in the process table. */
#define MAX_DYING 16

struct wd_child {
	struct wd_child_options options;
	pid_t pid; /* 0: none */
	int socket;
	int64_t started_boot_ns;
	struct wd_backoff backoff;
	struct event *again;
	bool is_let_go;
	pid_t dying[MAX_DYING];
};

static const char *
name_of(const struct wd_child *child)
{
	return wd_part_name(child->options.part);
}

/* ---- starting ------------------------------------------------------------ */

static enum wd_status
spawn(struct wd_child *child, int socket, struct wd_error *err)
{
	const struct wd_confinement *how = &child->options.confinement;
	char program[] = "weightd", hide[] = "hide", show[] = "show";
	char role[32], uid[WD_USER_TEXT], gid[WD_USER_TEXT];
	char *arguments[] = { program, role, uid, gid, how->hide ? hide : show,
		NULL };

	(void)snprintf(role, sizeof(role), "--role=%s", name_of(child));
	wd_user_arguments(&how->user, uid, gid);
	return wd_spawn(arguments, socket, &child->pid, err);
}

static void
forget(struct wd_child *child)
{
	child->options.ended(child->options.ctx);
	(void)close(child->socket);
	child->socket = -1;
	child->pid = 0;
}

enum wd_status
wd_child_start(struct wd_child *child, struct wd_error *err)
{
	int pair[2];
	enum wd_status st = wd_frame_pair(pair, err);

	if (st != WD_OK)
		return st;
	st = spawn(child, pair[1], err);
	(void)close(pair[1]);
	if (st != WD_OK) {
		(void)close(pair[0]);
		child->pid = 0;
		return st;
	}
	child->socket = pair[0];
	child->started_boot_ns = wd_clock_boot_ns(child->options.clock);
	st = child->options.started(child->options.ctx, child->socket, err);
	if (st != WD_OK)
		(void)kill(child->pid, SIGKILL);
	return st;
}

static void
start_again_later(struct wd_child *child, const char *how)
{
	int64_t lived_ms =
	    (wd_clock_boot_ns(child->options.clock) - child->started_boot_ns) /
	    WD_NS_PER_MS;
	uint32_t pause = wd_backoff_after(&child->backoff, lived_ms);
	struct timeval wait = { .tv_sec = pause / 1000,
		.tv_usec = (suseconds_t)(pause % 1000) * 1000 };

	wd_log(WD_LOG_ERROR, "%s %s; a new one starts %s", name_of(child), how,
	    pause == 0 ? "now" : "after a pause");
	(void)event_add(child->again, &wait);
}

static void
on_again(evutil_socket_t fd, short events, void *ctx)
{
	struct wd_child *child = ctx;
	char how[WD_ERROR_MESSAGE_BYTES + 32];
	struct wd_error err;

	(void)fd;
	(void)events;
	wd_error_init(&err);
	if (child->is_let_go || child->pid != 0 ||
	    wd_child_start(child, &err) == WD_OK || child->pid != 0)
		return;
	(void)snprintf(how, sizeof(how), "does not start: %s", err.message);
	start_again_later(child, how);
}

/* ---- ending -------------------------------------------------------------- */

static void
describe_end(pid_t pid, int status, char *how, size_t size)
{
	if (WIFSIGNALED(status))
		(void)snprintf(how, size,
		    "(process %d) was ended by signal %d (%s)", (int)pid,
		    WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		(void)snprintf(how, size,
		    "(process %d) ended with exit code %d", (int)pid,
		    WEXITSTATUS(status));
}

static void
reap_dying(struct wd_child *child)
{
	size_t i;
	int status;

	for (i = 0; i < MAX_DYING; i++)
		if (child->dying[i] != 0 &&
		    waitpid(child->dying[i], &status, WNOHANG) != 0)
			child->dying[i] = 0;
}

void
wd_child_reap(struct wd_child *child)
{
	char how[128];
	int status = 0;
	pid_t pid = child->pid;

	reap_dying(child);
	if (pid == 0 || waitpid(pid, &status, WNOHANG) != pid)
		return;
	describe_end(pid, status, how, sizeof(how));
	forget(child);
	if (!child->is_let_go)
		start_again_later(child, how);
}

void
wd_child_hung_up(struct wd_child *child)
{
	if (child->pid != 0 && !child->is_let_go)
		(void)kill(child->pid, SIGKILL);
}

void
wd_child_give_up(struct wd_child *child, const char *why)
{
	char how[WD_ERROR_MESSAGE_BYTES + 64];
	size_t i;

	if (child->pid == 0)
		return;
	(void)kill(child->pid, SIGKILL);
	for (i = 0; i < MAX_DYING && child->dying[i] != 0; i++)
		;
	if (i < MAX_DYING)
		child->dying[i] = child->pid;
	(void)snprintf(how, sizeof(how), "(process %d) was ended: %s",
	    (int)child->pid, why);
	forget(child);
	if (!child->is_let_go)
		start_again_later(child, how);
}

bool
wd_child_runs(const struct wd_child *child)
{
	return child->pid != 0;
}

void
wd_child_let_go(struct wd_child *child)
{
	child->is_let_go = true;
	(void)event_del(child->again);
}

/* ---- life ---------------------------------------------------------------- */

enum wd_status
wd_child_new(const struct wd_child_options *options, struct wd_child **child,
    struct wd_error *err)
{
	struct wd_child *made = wd_calloc(1, sizeof(*made));

	if (made == NULL)
		return wd_fail(err, WD_NOMEM, "out of memory");
	made->options = *options;
	made->socket = -1;
	made->again = evtimer_new(options->base, on_again, made);
	if (made->again == NULL) {
		wd_free(made);
		return wd_fail(err, WD_NOMEM, "out of memory");
	}
	*child = made;
	return WD_OK;
}

void
wd_child_free(struct wd_child **child)
{
	struct wd_child *c = *child;

	*child = NULL;
	if (c == NULL)
		return;
	wd_child_let_go(c);
	if (c->pid != 0) {
		(void)kill(c->pid, SIGKILL);
		forget(c);
	}
	event_free(c->again);
	wd_free(c);
}
