#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "server/parts.h"

#define BACKLOG 256

static enum wd_status
read_address(const char *text, uint16_t port, struct sockaddr_storage *address,
    socklen_t *len, struct wd_error *err)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET,
		.sin_port = htons(port) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
		.sin6_port = htons(port) };
	char shown[64];

	if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
		memcpy(address, &v4, sizeof(v4));
		*len = sizeof(v4);
		return WD_OK;
	}
	if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1) {
		memcpy(address, &v6, sizeof(v6));
		*len = sizeof(v6);
		return WD_OK;
	}
	return wd_fail(err, WD_INVALID, "\"%s\" is no IP address to listen on",
	    wd_escape_short(shown, sizeof(shown), wd_slice_text(text)));
}

/* Node sends head and body apart; with Nagle's algorithm that costs 40 ms.
 * Accepted sockets inherit it. */
static int
prepare(int fd)
{
	int on = 1;

	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0)
		return -1;
	return setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

enum wd_status
wd_server_bind(
    const char *address, uint16_t port, int *fd, struct wd_error *err)
{
	struct sockaddr_storage where;
	socklen_t len;
	enum wd_status st = read_address(address, port, &where, &len, err);
	int made, os_errno;

	if (st != WD_OK)
		return st;
	made = socket(
	    where.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (made < 0)
		return wd_fail_errno(err, errno, "no socket");
	if (prepare(made) == 0 &&
	    bind(made, (struct sockaddr *)&where, len) == 0 &&
	    listen(made, BACKLOG) == 0) {
		*fd = made;
		return WD_OK;
	}
	os_errno = errno;
	(void)close(made);
	if (os_errno == EADDRINUSE)
		return wd_fail(err, WD_BUSY,
		    "%s port %u: somebody else listens on it", address,
		    (unsigned)port);
	return wd_fail_errno(err, os_errno, "%s port %u: cannot listen",
	    address, (unsigned)port);
}
