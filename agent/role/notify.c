#include "role/notify.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/slice.h"

static struct sockaddr_un manager = { .sun_family = AF_UNIX };
static socklen_t manager_len; /* 0: none */
static bool is_wrong;
static uint64_t watchdog_us;

/* "/path", or "@name" in the abstract namespace of Linux (unix(7)). */
static void
take_address(const char *text)
{
	size_t len = strlen(text);

	is_wrong = len < 2 || len >= sizeof(manager.sun_path) ||
	    (text[0] != '/' && text[0] != '@');
	if (is_wrong)
		return;
	memcpy(manager.sun_path, text, len);
	if (text[0] == '@')
		manager.sun_path[0] = '\0';
	manager_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
}

static void
take_watchdog(const char *usec, const char *pid)
{
	uint64_t number = 0;

	if (pid != NULL &&
	    (!wd_slice_number(wd_slice_text(pid), 10, &number) ||
		number != (uint64_t)getpid()))
		return;
	if (usec != NULL && wd_slice_number(wd_slice_text(usec), 10, &number))
		watchdog_us = number;
}

void
wd_notify_init(void)
{
	const char *address = getenv("NOTIFY_SOCKET");

	manager_len = 0;
	watchdog_us = 0;
	is_wrong = false;
	if (address != NULL)
		take_address(address);
	take_watchdog(getenv("WATCHDOG_USEC"), getenv("WATCHDOG_PID"));
	(void)unsetenv("NOTIFY_SOCKET");
	(void)unsetenv("WATCHDOG_USEC");
	(void)unsetenv("WATCHDOG_PID");
}

enum wd_status
wd_notify(const char *lines, struct wd_error *err)
{
	int fd;
	ssize_t sent;
	enum wd_status st = WD_OK;

	if (is_wrong)
		return wd_fail(err, WD_INVALID,
		    "NOTIFY_SOCKET is neither an absolute path nor @NAME");
	if (manager_len == 0)
		return WD_OK;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return wd_fail_errno(err, errno, "notify: no socket");
	sent = sendto(fd, lines, strlen(lines), MSG_NOSIGNAL | MSG_DONTWAIT,
	    (const struct sockaddr *)&manager, manager_len);
	if (sent < 0)
		st = wd_fail_errno(
		    err, errno, "the service manager cannot be told");
	(void)close(fd);
	return st;
}

enum wd_status
wd_notify_reloading(struct wd_error *err)
{
	struct timespec now = { 0, 0 };
	char lines[96];

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	(void)snprintf(lines, sizeof(lines),
	    "RELOADING=1\nMONOTONIC_USEC=%" PRId64,
	    (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000);
	return wd_notify(lines, err);
}

uint64_t
wd_notify_watchdog_us(void)
{
	return watchdog_us;
}
