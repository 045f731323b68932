#include "role/listeners.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FIRST_GIVEN 3 /* SD_LISTEN_FDS_START */

const char *
wd_socket_text(int fd, char text[WD_SOCKET_TEXT])
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} address = { .any = { .sa_family = AF_UNSPEC } };
	socklen_t len = sizeof(address);
	char host[INET6_ADDRSTRLEN] = "?";

	if (getsockname(fd, &address.any, &len) != 0)
		address.any.sa_family = AF_UNSPEC;
	if (address.any.sa_family == AF_INET6) {
		(void)inet_ntop(
		    AF_INET6, &address.v6.sin6_addr, host, sizeof(host));
		(void)snprintf(text, WD_SOCKET_TEXT, "[%s]:%u", host,
		    (unsigned)ntohs(address.v6.sin6_port));
		return text;
	}
	(void)inet_ntop(AF_INET, &address.v4.sin_addr, host, sizeof(host));
	(void)snprintf(text, WD_SOCKET_TEXT, "%s:%u", host,
	    (unsigned)ntohs(address.v4.sin_port));
	return text;
}

void
wd_sockets_close(struct wd_sockets *sockets)
{
	while (sockets->count > 0)
		(void)close(sockets->fds[--sockets->count]);
}

/* ---- given --------------------------------------------------------------- */

static bool
take_number(const char *name, uint64_t *number)
{
	const char *text = getenv(name);

	return text != NULL && wd_slice_number(wd_slice_text(text), 10, number);
}

/* A socket that is meant for us listens on TCP already. */
static enum wd_status
adopt(int fd, struct wd_error *err)
{
	int type = 0, listens = 0, domain = 0, on = 1;
	socklen_t len = sizeof(type);

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) != 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) != 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) != 0 ||
	    type != SOCK_STREAM || listens == 0 ||
	    (domain != AF_INET && domain != AF_INET6))
		return wd_fail(err, WD_INVALID,
		    "LISTEN_FDS: descriptor %d is no listening TCP socket; "
		    "the socket unit has ListenStream=PORT",
		    fd);
	/* As wd_server_bind makes them. */
	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0 ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 ||
	    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0)
		return wd_fail_errno(err, errno, "descriptor %d", fd);
	return WD_OK;
}

static enum wd_status
take_given(struct wd_sockets *sockets, struct wd_error *err)
{
	uint64_t pid = 0, count = 0, i;
	bool is_ours = take_number("LISTEN_PID", &pid) &&
	    pid == (uint64_t)getpid() && take_number("LISTEN_FDS", &count);
	enum wd_status st = WD_OK;

	(void)unsetenv("LISTEN_PID");
	(void)unsetenv("LISTEN_FDS");
	(void)unsetenv("LISTEN_FDNAMES");
	if (!is_ours || count == 0)
		return WD_OK;
	if (count > WD_MAX_CONFIG_LISTEN)
		return wd_fail(err, WD_INVALID,
		    "LISTEN_FDS: at most %d sockets can be taken",
		    WD_MAX_CONFIG_LISTEN);
	sockets->are_given = true;
	for (i = 0; i < count && st == WD_OK; i++) {
		st = adopt(FIRST_GIVEN + (int)i, err);
		if (st == WD_OK)
			sockets->fds[sockets->count++] = FIRST_GIVEN + (int)i;
	}
	return st;
}

/* ---- bound --------------------------------------------------------------- */

static enum wd_status
bind_one(const struct wd_config *config, const char *address,
    struct wd_sockets *sockets, struct wd_error *err)
{
	char holder[256];
	int fd = -1;
	enum wd_status st =
	    wd_server_bind(address, (uint16_t)config->port, &fd, err);

	if (st == WD_BUSY)
		return wd_fail(err, st,
		    "%s port %u is taken by %s; end that, or set listen.port",
		    address, (unsigned)config->port,
		    wd_port_holder(
			(uint16_t)config->port, holder, sizeof(holder)));
	if (st == WD_OK)
		sockets->fds[sockets->count++] = fd;
	return st;
}

/* Every address: IPv6 answers IPv4 as well, where there is IPv6. */
static enum wd_status
bind_every(const struct wd_config *config, struct wd_sockets *sockets,
    struct wd_error *err)
{
	struct wd_error why;
	enum wd_status st;

	wd_error_init(&why);
	st = bind_one(config, "::", sockets, &why);
	if (st == WD_OK)
		return st;
	if (why.os_errno == EAFNOSUPPORT || why.os_errno == EADDRNOTAVAIL)
		return bind_one(config, "0.0.0.0", sockets, err);
	return wd_fail(err, st, "%s", why.message);
}

enum wd_status
wd_sockets_open(const struct wd_config *config, struct wd_sockets *sockets,
    struct wd_error *err)
{
	enum wd_status st;
	size_t i;

	memset(sockets, 0, sizeof(*sockets));
	st = take_given(sockets, err);
	if (st != WD_OK || sockets->are_given)
		return st;
	if (config->addresses.count == 0)
		return bind_every(config, sockets, err);
	for (i = 0; i < config->addresses.count && st == WD_OK; i++)
		st = bind_one(config, config->addresses.items[i], sockets, err);
	if (st != WD_OK)
		wd_sockets_close(sockets);
	return st;
}
