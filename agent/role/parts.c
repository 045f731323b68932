#include "role/parts.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include "base/log.h"
#include "role/confine.h"
#include "role/users.h"

#define EXIT_USAGE 2
#define EXIT_CONFINE 3

const char *
wd_part_name(enum wd_part part)
{
	return part == WD_PART_FRONT ? "front" : "reader";
}

static bool
has_line(void)
{
	int type = 0;
	socklen_t len = sizeof(type);

	return getsockopt(WD_CHILD_SOCKET, SOL_SOCKET, SO_TYPE, &type, &len) ==
	    0 &&
	    type == SOCK_STREAM &&
	    fcntl(WD_CHILD_SOCKET, F_SETFD, FD_CLOEXEC) == 0;
}

static bool
read_part(const char *text, enum wd_part *part)
{
	*part =
	    strcmp(text, "--role=reader") == 0 ? WD_PART_READER : WD_PART_FRONT;
	return *part == WD_PART_READER || strcmp(text, "--role=front") == 0;
}

int
wd_part_main(int count, char **arguments)
{
	struct wd_confinement how = { .hide = false };
	enum wd_part part;
	struct wd_error err;

	wd_error_init(&err);
	if (count != 4 || !read_part(arguments[0], &part) || !has_line() ||
	    wd_user_of_arguments(arguments[1], arguments[2], &how.user, &err) !=
		WD_OK) {
		wd_log(WD_LOG_ERROR,
		    "--role is for weightd itself: weightd --config FILE");
		return EXIT_USAGE;
	}
	how.hide = strcmp(arguments[3], "show") != 0;
	(void)signal(SIGPIPE, SIG_IGN);
	/* The observer is told to end, and tells its children. */
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	if (wd_confine_child(part, &how, &err) != WD_OK) {
		wd_log(WD_LOG_ERROR, "%s: %s", wd_part_name(part), err.message);
		return EXIT_CONFINE;
	}
	return part == WD_PART_FRONT ? wd_front_run(WD_CHILD_SOCKET) :
				       wd_reader_run(WD_CHILD_SOCKET);
}
