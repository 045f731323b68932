/*
 * children.c - the process shapes of real servers: workers, holders, port
 * twins, orphans, activation, exec, dead leaders, threads with own tables.
 */
#include "modelserver.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS_MAX_ARGS 128

/* Standard streams to nowhere: a child that kept the pipe of a test open
 * would make the test wait for it. */
static void
detach_streams(void)
{
	int null = open("/dev/null", O_RDWR);

	(void)dup2(null, 0);
	(void)dup2(null, 1);
	(void)dup2(null, 2);
	if (null > 2)
		(void)close(null);
}

/* fork, with the child's clean-up and time limit. Remembers the child when
 * `keep`, to end it with the server. The pipe makes the parent wait until the
 * child is as it should be: see child_is_ready. */
static int ready_pipe[2];

static pid_t
fork_child(bool keep)
{
	pid_t pid;

	if (ms.child_count == MS_MAX_CHILDREN ||
	    pipe2(ready_pipe, O_CLOEXEC) != 0) {
		(void)ms_fail_errno("pipe");
		return -1;
	}
	pid = fork();
	if (pid < 0)
		(void)ms_fail_errno("fork");
	if (pid == 0) {
		detach_streams();
		(void)signal(SIGTERM, SIG_DFL);
		(void)alarm(MS_CHILD_SECONDS);
		(void)close(ready_pipe[0]);
		ms.control = false;
		ms.child_count = 0;
		return 0;
	}
	(void)close(ready_pipe[1]);
	if (pid > 0 && keep)
		ms.children[ms.child_count++] = pid;
	return pid;
}

static void
child_is_ready(void)
{
	(void)!write(ready_pipe[1], "r", 1);
	(void)close(ready_pipe[1]);
}

/* Waits for child_is_ready, or for the exec that closes the pipe. */
static bool
wait_for_child(bool execs)
{
	char byte;
	ssize_t got = read(ready_pipe[0], &byte, 1);

	(void)close(ready_pipe[0]);
	return got == (execs ? 0 : 1) || ms_fail("the child failed");
}

static void __attribute__((noreturn)) stay(void)
{
	child_is_ready();
	for (;;)
		(void)pause();
}

/* The child keeps the weights, the parent the port. */
bool
ms_fork_worker(void)
{
	pid_t pid = fork_child(true);

	if (pid < 0)
		return false;
	if (pid == 0) {
		ms_close_listeners();
		stay();
	}
	if (!wait_for_child(false))
		return false;
	ms_weights_drop();
	ms_answer("%d", pid);
	return true;
}

/* Children that hold the listener and no weights of their own making; they
 * inherit the parent's mappings, so those are dropped. */
bool
ms_fork_holders(unsigned long count)
{
	char pids[2048] = "";
	size_t used = 0;
	pid_t pid;

	while (count-- > 0 && used < sizeof(pids) - 16) {
		pid = fork_child(true);
		if (pid < 0)
			return false;
		if (pid == 0) {
			ms_weights_drop();
			stay();
		}
		if (!wait_for_child(false))
			return false;
		used += (size_t)snprintf(
		    pids + used, sizeof(pids) - used, " %d", pid);
	}
	ms_answer("%s", pids + 1);
	return true;
}

/* A twin: another process with a socket of its own on the first listener's
 * port, serving `model` (or nothing). */
bool
ms_fork_reuseport(const char *model)
{
	uint16_t port, got;
	pid_t pid;

	if (ms.listener_count == 0)
		return ms_fail("nothing listens");
	port = ms.listeners[0].port;
	pid = fork_child(true);
	if (pid < 0)
		return false;
	if (pid == 0) {
		ms_close_listeners();
		ms_weights_drop();
		if (!ms_listen(port, MS_LOOPBACK | MS_REUSEPORT, NULL, &got) ||
		    (*model != '\0' && !ms_weight_load(model, &ms.manner)))
			_exit(1);
		child_is_ready();
		ms_loop();
		_exit(0);
	}
	if (!wait_for_child(false))
		return ms_fail("the twin failed: was --reuseport given?");
	ms_answer("%d", pid);
	return true;
}

static bool
inherit_listener(int fd)
{
	return fcntl(fd, F_SETFD, 0) == 0;
}

/* A helper that inherits the listener by mistake and outlives the server. */
bool
ms_orphan(void)
{
	char seconds[16];
	pid_t pid;

	if (ms.listener_count == 0)
		return ms_fail("nothing listens");
	(void)snprintf(seconds, sizeof(seconds), "%d", MS_CHILD_SECONDS);
	pid = fork_child(false);
	if (pid < 0)
		return false;
	if (pid == 0) {
		(void)inherit_listener(ms.listeners[0].fd);
		(void)execlp("sleep", "sleep", seconds, (char *)NULL);
		(void)!write(ready_pipe[1], "x", 1);
		_exit(1);
	}
	if (!wait_for_child(true))
		return false;
	ms_answer("%d", pid);
	return true;
}

/* The command line of a new generation: --listen-fd and the models. */
static void
build_argv(char **argv, const char *fd, const char *first, char *more)
{
	size_t count = 0, i;
	char *word, *rest = NULL;

	argv[count++] = ms.saved_argv[0];
	for (i = 1; i < (size_t)ms.argc && count < MS_MAX_ARGS - 40; i++)
		argv[count++] = ms.saved_argv[i];
	/* Behind the old ones: the last one counts. */
	argv[count++] = (char *)(uintptr_t)first;
	argv[count++] = (char *)(uintptr_t) "--listen-fd";
	argv[count++] = (char *)(uintptr_t)fd;
	word = strtok_r(more, " ", &rest);
	for (; word != NULL && count < MS_MAX_ARGS - 1;
	     word = strtok_r(NULL, " ", &rest))
		argv[count++] = word;
	argv[count] = NULL;
}

/* As a service manager does: the listener becomes descriptor 3 of a child,
 * LISTEN_FDS and LISTEN_PID tell it so, and we keep our copy. */
bool
ms_activate(void)
{
	char *argv[MS_MAX_ARGS], none[1] = "", number[16];
	pid_t pid;

	if (ms.listener_count == 0)
		return ms_fail("nothing listens");
	pid = fork_child(true);
	if (pid < 0)
		return false;
	if (pid == 0) {
		if (ready_pipe[1] == 3)
			ready_pipe[1] = fcntl(3, F_DUPFD_CLOEXEC, 10);
		if (ms.listeners[0].fd == 3)
			(void)inherit_listener(3);
		else
			(void)dup2(ms.listeners[0].fd, 3);
		(void)snprintf(number, sizeof(number), "%d", getpid());
		(void)setenv("LISTEN_PID", number, 1);
		(void)setenv("LISTEN_FDS", "1", 1);
		/* The child tells that it has loaded by the same pipe. */
		(void)snprintf(number, sizeof(number), "%d", ready_pipe[1]);
		(void)fcntl(ready_pipe[1], F_SETFD, 0);
		(void)setenv("WD_MODELSERVER_READY_FD", number, 1);
		build_argv(argv, "3", "--no-control", none);
		(void)execv("/proc/self/exe", argv);
		_exit(1);
	}
	if (!wait_for_child(false))
		return false;
	ms_weights_drop();
	ms.accepting = false;
	ms_answer("%d", pid);
	return true;
}

/* As a router starts an engine for one model: another program with a command
 * line of its own, which lives on when its parent is killed. */
bool
ms_spawn(char *words)
{
	char *argv[MS_MAX_ARGS], number[16], *rest = NULL;
	size_t count = 0;
	pid_t pid;

	for (argv[count] = strtok_r(words, " ", &rest);
	     argv[count] != NULL && count < MS_MAX_ARGS - 2;
	     argv[count] = strtok_r(NULL, " ", &rest))
		count++;
	if (count == 0)
		return ms_fail("spawn PROGRAM [ARGUMENTS]");
	argv[count++] = (char *)(uintptr_t) "--no-control";
	argv[count] = NULL;
	pid = fork_child(true);
	if (pid < 0)
		return false;
	if (pid == 0) {
		(void)snprintf(number, sizeof(number), "%d", ready_pipe[1]);
		(void)fcntl(ready_pipe[1], F_SETFD, 0);
		(void)setenv("WD_MODELSERVER_READY_FD", number, 1);
		(void)execv(argv[0], argv);
		_exit(1);
	}
	if (!wait_for_child(false))
		return false;
	ms_answer("%d", pid);
	return true;
}

/* As vLLM's workers: a child under a title that maps the first model, copies
 * it to where nobody sees it (a device), unmaps it, and is spoken to over a
 * pipe. The parent never had it. */
bool
ms_fork_reader(const char *title)
{
	const struct ms_manner manner = { MS_MMAP, 0, 0 };
	int orders[2];
	pid_t pid;

	if (ms.model_count == 0 || pipe2(orders, O_CLOEXEC) != 0)
		return ms_fail("no model, or no pipe");
	pid = fork_child(true);
	if (pid < 0)
		return false;
	if (pid == 0) {
		ms_close_listeners();
		(void)close(orders[1]);
		if (!ms_weight_load(ms.models[0], &manner))
			_exit(1);
		ms_weights_drop();
		ms_title(title, strlen(title));
		stay();
	}
	(void)close(orders[0]);
	if (!wait_for_child(false))
		return false;
	ms_answer("%d", pid);
	return true;
}

/* Same pid and start time, new generation, which knows no children any more.
 * `more` is added to the command line, so that the new generation can load
 * something else. */
bool
ms_exec_self(const char *more)
{
	char *argv[MS_MAX_ARGS], number[16], *copy = strdup(more);

	if (copy == NULL || ms.listener_count == 0)
		return ms_fail("nothing listens");
	ms_end_children();
	(void)inherit_listener(ms.listeners[0].fd);
	(void)snprintf(number, sizeof(number), "%d", ms.listeners[0].fd);
	build_argv(argv, number, "--answer-ok", copy);
	(void)execv("/proc/self/exe", argv);
	return ms_fail_errno("execv");
}

/* ---- threads ------------------------------------------------------------- */

static bool
leader_is_dead(void)
{
	char text[512] = "";
	const char *name_end;
	FILE *stat = fopen("/proc/self/stat", "r");

	if (stat == NULL)
		return true;
	(void)!fread(text, 1, sizeof(text) - 1, stat);
	(void)fclose(stat);
	name_end = strrchr(text, ')');
	return name_end != NULL && name_end[1] != '\0' && name_end[2] == 'Z';
}

static void *
loop_thread(void *ctx)
{
	(void)ctx;
	while (!leader_is_dead())
		(void)usleep(1000);
	printf("ok\n");
	(void)fflush(stdout);
	ms_loop();
	ms_end_children();
	_exit(0);
}

/* The main thread ends; the process lives on as a zombie leader with a live
 * thread that answers and goes on serving. */
bool
ms_leader_exit(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, loop_thread, NULL) != 0)
		return ms_fail("no thread");
	pthread_exit(NULL);
}

static sem_t thread_ready;

/* Has a descriptor table of its own, in which the listeners live on. */
static void *
files_thread(void *ctx)
{
	int fd, listener = ms.listeners[0].fd;

	(void)ctx;
	if (unshare(CLONE_FILES) != 0)
		listener = -1;
	(void)sem_post(&thread_ready);
	while (listener >= 0) {
		fd = accept(listener, NULL, NULL);
		if (fd < 0)
			break;
		if (ms_http_take(fd))
			ms_http_answer(fd);
		(void)close(fd);
	}
	return NULL;
}

bool
ms_thread_files(void)
{
	pthread_t thread;

	if (ms.listener_count == 0)
		return ms_fail("nothing listens");
	if (sem_init(&thread_ready, 0, 0) != 0 ||
	    pthread_create(&thread, NULL, files_thread, NULL) != 0)
		return ms_fail("no thread");
	(void)sem_wait(&thread_ready);
	ms_close_listeners();
	return true;
}

/* ---- the rest ------------------------------------------------------------ */

void
ms_end_children(void)
{
	while (ms.child_count > 0) {
		pid_t pid = ms.children[--ms.child_count];

		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
	}
}

/* As setproctitle: over the memory of the arguments, zeros behind. */
void
ms_title(const char *text, size_t len)
{
	char *start = ms.argv[0];
	char *last = ms.argv[ms.argc - 1];
	size_t room = (size_t)(last + strlen(last) + 1 - start);

	memset(start, 0, room);
	memcpy(start, text, len < room ? len : room - 1);
}
