/*
 * sockets.c - listeners of every kind, an HTTP answer, and the one loop.
 */
#include "modelserver.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

static bool
set_flag(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) == 0;
}

/* The address to bind; the default is the loopback, or everything for
 * MS_DUAL. */
static bool
fill_address(struct sockaddr_storage *storage, socklen_t *len, uint16_t port,
    unsigned flags, const char *text)
{
	struct sockaddr_in6 *six = (void *)storage;
	struct sockaddr_in *four = (void *)storage;

	memset(storage, 0, sizeof(*storage));
	if ((flags & MS_V6) != 0) {
		six->sin6_family = AF_INET6;
		six->sin6_port = htons(port);
		*len = sizeof(*six);
		if (text == NULL)
			text = (flags & MS_LOOPBACK) != 0 ? "::1" : "::";
		return inet_pton(AF_INET6, text, &six->sin6_addr) == 1;
	}
	four->sin_family = AF_INET;
	four->sin_port = htons(port);
	*len = sizeof(*four);
	if (text == NULL)
		text = (flags & MS_LOOPBACK) != 0 ? "127.0.0.1" : "0.0.0.0";
	return inet_pton(AF_INET, text, &four->sin_addr) == 1;
}

static bool
prepare(int fd, unsigned flags)
{
	if (!set_flag(fd, SOL_SOCKET, SO_REUSEADDR, 1))
		return false;
	if ((flags & MS_REUSEPORT) != 0 &&
	    !set_flag(fd, SOL_SOCKET, SO_REUSEPORT, 1))
		return false;
	return (flags & MS_V6) == 0 ||
	    set_flag(fd, IPPROTO_IPV6, IPV6_V6ONLY, (flags & MS_DUAL) == 0);
}

bool
ms_listen_adopt(int fd)
{
	struct sockaddr_storage storage;
	socklen_t len = sizeof(storage);
	struct sockaddr_in6 *six = (void *)&storage;
	struct sockaddr_in *four = (void *)&storage;
	struct ms_listener *listener;

	if (ms.listener_count == MS_MAX_LISTENERS)
		return ms_fail("too many listeners");
	if (getsockname(fd, (void *)&storage, &len) != 0 ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
		return ms_fail_errno("getsockname");
	listener = &ms.listeners[ms.listener_count++];
	listener->fd = fd;
	listener->port = ntohs(
	    storage.ss_family == AF_INET6 ? six->sin6_port : four->sin_port);
	return true;
}

bool
ms_listen(uint16_t port, unsigned flags, const char *address, uint16_t *got)
{
	struct sockaddr_storage storage;
	socklen_t len;
	int fd;

	if (!fill_address(&storage, &len, port, flags, address))
		return ms_fail("no address: %s", address);
	fd = socket((flags & MS_V6) != 0 ? AF_INET6 : AF_INET,
	    SOCK_STREAM | SOCK_CLOEXEC,
	    (flags & MS_MPTCP) != 0 ? IPPROTO_MPTCP : 0);
	if (fd < 0)
		return ms_fail_errno("socket");
	if (!prepare(fd, flags) || bind(fd, (void *)&storage, len) != 0 ||
	    listen(fd, 64) != 0) {
		(void)ms_fail_errno("listen");
		(void)close(fd);
		return false;
	}
	if (!ms_listen_adopt(fd)) {
		(void)close(fd);
		return false;
	}
	*got = ms.listeners[ms.listener_count - 1].port;
	return true;
}

bool
ms_listen_unix(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(at.sun_path) ||
	    ms.listener_count == MS_MAX_LISTENERS)
		return ms_fail("a path too long, or too many listeners");
	memcpy(at.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (void *)&at, sizeof(at)) != 0 ||
	    listen(fd, 64) != 0) {
		(void)ms_fail_errno("listen");
		(void)close(fd);
		return false;
	}
	ms.listeners[ms.listener_count++] = (struct ms_listener){ fd, 0 };
	return true;
}

bool
ms_close_port(uint16_t port)
{
	size_t i, kept = 0;

	for (i = 0; i < ms.listener_count; i++) {
		if (ms.listeners[i].port == port)
			(void)close(ms.listeners[i].fd);
		else
			ms.listeners[kept++] = ms.listeners[i];
	}
	if (kept == ms.listener_count)
		return ms_fail("not listening on port %u", port);
	ms.listener_count = kept;
	return true;
}

void
ms_close_listeners(void)
{
	while (ms.listener_count > 0)
		(void)close(ms.listeners[--ms.listener_count].fd);
}

bool
ms_connect(uint16_t port)
{
	struct sockaddr_in to = { 0 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	to.sin_family = AF_INET;
	to.sin_port = htons(port);
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	/* Kept open until the end: as a proxy keeps its upstream. */
	if (fd < 0 || connect(fd, (void *)&to, sizeof(to)) != 0)
		return ms_fail_errno("connect");
	return true;
}

/* 200 and the claimed name, whatever was asked, or with the alias * the name
 * that was asked for: the defects which the project is there to see through. */
void
ms_http_answer(int fd)
{
	const char *name = strcmp(ms.alias, "*") == 0 ? ms.asked : ms.alias;
	char body[768], answer[1024];
	int len;

	len = snprintf(body, sizeof(body),
	    "{\"object\":\"list\",\"model\":\"%s\",\"data\":[{\"id\":\"%s\","
	    "\"object\":\"model\"}]}\n",
	    name, name);
	len = snprintf(answer, sizeof(answer),
	    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	    "Content-Length: %d\r\nConnection: close\r\n\r\n%s",
	    len, body);
	(void)send(fd, answer, (size_t)len, MSG_NOSIGNAL);
}

static void
accept_one(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	if (ms.connection_count == MS_MAX_CONNECTIONS)
		(void)close(fd);
	else
		ms.connections[ms.connection_count++] = fd;
}

/* The value of "model" in the request. */
static void
keep_asked(const char *request)
{
	const char *name = strstr(request, "\"model\": \"");
	size_t len = name == NULL ? 0 : strcspn(name + 10, "\"");

	(void)snprintf(ms.asked, sizeof(ms.asked), "%.*s", (int)len,
	    len == 0 ? "" : name + 10);
}

/* Head and body are there: no Content-Length is no body. */
static bool
is_whole(const char *request)
{
	const char *end = strstr(request, "\r\n\r\n");
	const char *length = strstr(request, "Content-Length: ");

	if (end == NULL)
		return false;
	return length == NULL || length > end ||
	    strlen(end + 4) >= strtoul(length + 16, NULL, 10);
}

/* Takes the whole request, so that the answer's close does not reset
 * a client that is still writing. False when the client left without one. */
bool
ms_http_take(int fd)
{
	struct pollfd poll_fd = { fd, POLLIN, 0 };
	char head[4096];
	size_t used = 0;
	ssize_t got;

	while (used < sizeof(head) - 1 && poll(&poll_fd, 1, 1000) == 1) {
		got = recv(fd, head + used, sizeof(head) - 1 - used, 0);
		if (got <= 0)
			break;
		used += (size_t)got;
		head[used] = '\0';
		if (is_whole(head))
			break;
	}
	head[used] = '\0';
	keep_asked(head);
	return used > 0;
}

/* A client that only connects stays connected until it asks or leaves. */
static void
serve_one(size_t index)
{
	int fd = ms.connections[index];

	if (ms_http_take(fd))
		ms_http_answer(fd);
	(void)close(fd);
	ms.connections[index] = ms.connections[--ms.connection_count];
}

/* Reads what there is of standard input and runs whole lines. */
static void
read_control(void)
{
	static char line[MS_LINE_BYTES];
	static size_t used;
	char command[MS_LINE_BYTES], *end;
	size_t len;
	ssize_t got;

	got = read(STDIN_FILENO, line + used, sizeof(line) - used - 1);
	if (got <= 0) {
		ms.stopping = true;
		return;
	}
	used += (size_t)got;
	while ((end = memchr(line, '\n', used)) != NULL) {
		*end = '\0';
		len = (size_t)(end + 1 - line);
		memcpy(command, line, len);
		used -= len;
		/* Before the command runs: it may never come back here. */
		memmove(line, end + 1, used);
		ms_control_line(command);
	}
	if (used == sizeof(line) - 1)
		used = 0; /* no command is that long */
}

static size_t
fill_polls(struct pollfd *polls)
{
	size_t i, count = 0;

	for (i = 0; ms.accepting && i < ms.listener_count; i++)
		polls[count++] =
		    (struct pollfd){ ms.listeners[i].fd, POLLIN, 0 };
	for (i = 0; i < ms.connection_count; i++)
		polls[count++] = (struct pollfd){ ms.connections[i],
			ms.holding ? 0 : POLLIN, 0 };
	if (ms.control)
		polls[count++] = (struct pollfd){ STDIN_FILENO, POLLIN, 0 };
	return count;
}

void
ms_loop(void)
{
	struct pollfd polls[MS_MAX_LISTENERS + MS_MAX_CONNECTIONS + 1];
	size_t listeners, served, count, i;

	while (!ms.stopping) {
		listeners = ms.accepting ? ms.listener_count : 0;
		served = ms.connection_count;
		count = fill_polls(polls);
		if (poll(polls, (nfds_t)count, 1000) < 0 && errno != EINTR)
			return;
		/* Backwards: serving one moves the last into its place. */
		for (i = served; i > 0; i--) {
			if (polls[listeners + i - 1].revents != 0)
				serve_one(i - 1);
		}
		for (i = 0; i < listeners; i++) {
			if (polls[i].revents != 0)
				accept_one(polls[i].fd);
		}
		if (ms.control && polls[count - 1].revents != 0)
			read_control();
	}
}
