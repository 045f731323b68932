/*
 * main.c - command line and life of wd-modelserver.
 *
 *   wd-modelserver [PORT] [--model FILE]... [--load MANNER] [--alias NAME]
 *       [--address ADDRESS] [--v6only|--dual] [--mptcp] [--reuseport]
 *       [--no-listen] [--no-control] [--pad BYTES]
 *
 * Prints "ready PORT PID" once everything is loaded and listens, then takes
 * commands on standard input (control.c) and ends with it; with --no-control
 * it lives until SIGTERM. Unknown options are ignored with their value, so
 * that tests can give it any engine's command line. MANNER: mmap (default),
 * mmap-private, read-close, read-keep-fd, open-only, none,
 * partial-map=BYTES[@OFFSET], map-from-tensor-data, map-from=OFFSET.
 */
#include "modelserver.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ms_server ms;
char ms_problem[512];

struct options {
	uint16_t port;
	unsigned flags;
	const char *address;
	int listen_fd; /* a listener from before an exec, or activation */
	bool listen;
	bool answer_ok; /* after exec-self */
};

bool
ms_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(ms_problem, sizeof(ms_problem), format, args);
	va_end(args);
	return false;
}

bool
ms_fail_errno(const char *what)
{
	return ms_fail("%s: %s", what, strerror(errno));
}

static bool
plain_option(const char *name, struct options *options)
{
	static const struct {
		const char *name;
		unsigned flags;
	} listen_flags[] = {
		{ "--v6only", MS_V6 },
		{ "--dual", MS_V6 | MS_DUAL },
		{ "--mptcp", MS_MPTCP },
		{ "--reuseport", MS_REUSEPORT },
	};
	size_t i;

	for (i = 0; i < sizeof(listen_flags) / sizeof(listen_flags[0]); i++) {
		if (strcmp(name, listen_flags[i].name) == 0) {
			options->flags |= listen_flags[i].flags;
			return true;
		}
	}
	if (strcmp(name, "--no-listen") == 0)
		options->listen = false;
	else if (strcmp(name, "--no-control") == 0)
		ms.control = false;
	else if (strcmp(name, "--answer-ok") == 0)
		options->answer_ok = true;
	else if (strcmp(name, "--no-models") == 0)
		ms.model_count = 0;
	else
		return false;
	return true;
}

static bool
set_address(const char *text, struct options *options)
{
	options->address = text;
	if (strchr(text, ':') != NULL)
		options->flags |= MS_V6;
	return true;
}

static bool
value_option(const char *name, const char *value, struct options *options)
{
	if (strcmp(name, "--model") == 0 || strcmp(name, "-m") == 0) {
		if (ms.model_count == MS_MAX_MODELS)
			return ms_fail("too many models");
		ms.models[ms.model_count++] = value;
	} else if (strcmp(name, "--load") == 0) {
		return ms_manner_parse(value, &ms.manner);
	} else if (strcmp(name, "--alias") == 0) {
		(void)snprintf(ms.alias, sizeof(ms.alias), "%s", value);
	} else if (strcmp(name, "--address") == 0) {
		return set_address(value, options);
	} else if (strcmp(name, "--port") == 0) {
		options->port = (uint16_t)atoi(value);
	} else if (strcmp(name, "--listen-fd") == 0) {
		options->listen_fd = atoi(value);
	}
	return true;
}

static bool
parse_options(int argc, char **argv, struct options *options)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (argv[i][0] != '-') {
			options->port = (uint16_t)atoi(argv[i]);
			continue;
		}
		if (plain_option(argv[i], options))
			continue;
		if (i + 1 == argc)
			return ms_fail("%s needs a value", argv[i]);
		if (!value_option(argv[i], argv[i + 1], options))
			return false;
		i++;
	}
	if ((options->flags & MS_DUAL) != 0)
		options->flags &= ~(unsigned)MS_LOOPBACK;
	return true;
}

static bool
start(const struct options *options, uint16_t *port)
{
	size_t i;

	for (i = 0; i < ms.model_count; i++) {
		if (!ms_weight_load(ms.models[i], &ms.manner))
			return false;
	}
	if (options->listen_fd >= 0) {
		if (!ms_listen_adopt(options->listen_fd))
			return false;
		*port = ms.listeners[0].port;
		return true;
	}
	return !options->listen ||
	    ms_listen(options->port, options->flags, options->address, port);
}

static bool
save_argv(int argc, char **argv)
{
	int i;

	ms.argc = argc;
	ms.argv = argv;
	ms.saved_argv = calloc((size_t)argc + 1, sizeof(char *));
	for (i = 0; ms.saved_argv != NULL && i < argc; i++) {
		ms.saved_argv[i] = strdup(argv[i]);
		if (ms.saved_argv[i] == NULL)
			return ms_fail("no memory");
	}
	return ms.saved_argv != NULL || ms_fail("no memory");
}

static void
on_term(int number)
{
	(void)number;
	ms.stopping = true;
}

/* An activated child tells its parent through a pipe that it has loaded. */
static void
tell_parent(void)
{
	const char *text = getenv("WD_MODELSERVER_READY_FD");

	if (text == NULL)
		return;
	(void)!write(atoi(text), "r", 1);
	(void)close(atoi(text));
}

int
main(int argc, char **argv)
{
	struct options options = { 0, MS_LOOPBACK, NULL, -1, true, false };
	struct sigaction term = { 0 };
	uint16_t port = 0;

	ms.control = ms.accepting = true;
	ms.manner.load = MS_MMAP;
	(void)snprintf(ms.alias, sizeof(ms.alias), "demo");
	term.sa_handler = on_term;
	(void)sigaction(SIGTERM, &term, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	if (!save_argv(argc, argv) ||
	    !parse_options(argc, ms.saved_argv, &options) ||
	    !start(&options, &port)) {
		fprintf(stderr, "wd-modelserver: %s\n", ms_problem);
		return 1;
	}
	if (options.answer_ok)
		printf("ok %d\n", getpid());
	else
		printf("ready %u %d\n", port, getpid());
	(void)fflush(stdout);
	tell_parent();
	ms_loop();
	ms_end_children();
	return 0;
}
