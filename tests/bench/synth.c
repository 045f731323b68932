#include "bench/synth.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONGEST_LIFE_SECONDS 300

/* What servers have open: sockets, event descriptors, devices, files. */
static void
fill(size_t descriptors)
{
	size_t have = 3, turn = 0;
	int pair[2];

	for (; have < descriptors; turn++) {
		if (turn % 5 < 2 && have + 2 <= descriptors &&
		    socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0)
			have += 2;
		else if (turn % 5 == 2)
			have += eventfd(0, 0) >= 0;
		else if (open(turn % 5 == 3 ? "/dev/null" : "/etc/passwd",
			     O_RDONLY) >= 0)
			have++;
		else
			return;
	}
}

static int
listen_somewhere(uint16_t *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (void *)&address, sizeof(address)) < 0 ||
	    listen(fd, 16) < 0 || getsockname(fd, (void *)&address, &len) < 0)
		return -1;
	*port = ntohs(address.sin_port);
	return fd;
}

static void
idle(void)
{
	for (;;)
		(void)pause();
}

/* The child's side of the start: `ready` closes when all is set up. */
static void
be_child(pid_t parent)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)alarm(LONGEST_LIFE_SECONDS);
	if (getppid() != parent)
		_exit(1);
}

static int
add(struct synth *synth, pid_t pid)
{
	pid_t *grown =
	    realloc(synth->pids, (synth->count + 1) * sizeof(*synth->pids));

	if (grown == NULL) {
		(void)kill(pid, SIGKILL);
		return -1;
	}
	synth->pids = grown;
	synth->pids[synth->count++] = pid;
	return 0;
}

static int
start_one(struct synth *synth, size_t descriptors, bool listens)
{
	pid_t parent = getpid(), pid;
	uint16_t port = 0;
	int ready[2];

	if (pipe2(ready, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		be_child(parent);
		(void)close(ready[0]);
		if (listens && listen_somewhere(&port) < 0)
			_exit(1);
		fill(descriptors);
		(void)!write(ready[1], &port, sizeof(port));
		(void)close(ready[1]);
		idle();
	}
	(void)close(ready[1]);
	if (pid < 0 || add(synth, pid) < 0 ||
	    read(ready[0], &port, sizeof(port)) != (ssize_t)sizeof(port)) {
		(void)close(ready[0]);
		return -1;
	}
	(void)close(ready[0]);
	if (listens) {
		synth->port = port;
		synth->listening = pid;
	}
	return 0;
}

int
synth_start(struct synth *synth, size_t processes, size_t descriptors)
{
	struct rlimit limit;
	size_t i;

	memset(synth, 0, sizeof(*synth));
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
	for (i = 0; i < processes; i++)
		if (start_one(synth, descriptors, i == processes / 2) < 0) {
			perror("starting a synthetic process");
			return -1;
		}
	return 0;
}

/* Neighbours of different protection stay apart. */
static void
map_all(size_t anonymous, size_t files)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
	int fd = open("/proc/self/exe", O_RDONLY);

	for (i = 0; i < anonymous; i++)
		(void)mmap(NULL, page,
		    i % 2 == 0 ? PROT_READ : PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < files; i++)
		(void)mmap(NULL, page, i % 2 == 0 ? PROT_READ : PROT_NONE,
		    MAP_PRIVATE, fd, 0);
}

pid_t
synth_mappings(struct synth *synth, size_t anonymous, size_t files)
{
	pid_t parent = getpid(), pid;
	int ready[2];
	char byte;

	memset(synth, 0, sizeof(*synth));
	if (pipe2(ready, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		be_child(parent);
		map_all(anonymous, files);
		(void)!write(ready[1], "r", 1);
		idle();
	}
	(void)close(ready[1]);
	if (pid < 0 || add(synth, pid) < 0 || read(ready[0], &byte, 1) != 1) {
		perror("starting a synthetic process");
		pid = -1;
	}
	(void)close(ready[0]);
	return pid;
}

void
synth_stop(struct synth *synth)
{
	size_t i;

	for (i = 0; i < synth->count; i++)
		(void)kill(synth->pids[i], SIGKILL);
	for (i = 0; i < synth->count; i++)
		(void)waitpid(synth->pids[i], NULL, 0);
	free(synth->pids);
	memset(synth, 0, sizeof(*synth));
}
