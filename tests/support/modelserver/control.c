/*
 * control.c - commands, one a line, each answered by one line: "ok [DATA]" or
 * "error TEXT". The rest of the line behind the command is its argument, so
 * paths may have spaces; \xHH, \n, \0 and \\ stand for bytes.
 *
 *   load MANNER FILE    load one more          unload   drop all weights
 *   swap FILE           drop all, load FILE as the command line said
 *   unlink              the first model's file, as all up to truncate
 *   replace FILE        a copy of FILE is renamed over it
 *   overwrite [FILE]    FILE's bytes (or a flipped last byte), in place
 *   truncate BYTES
 *   write-private       one page of the first private mapping
 *   shared-writable F   maps F shared and writable, and holds it
 *   memfd FILE          a copy of FILE in a memfd, mapped
 *   listen PORT [v4|v6only|dual|mptcp|reuseport|any|addr=ADDRESS]...
 *                       answers with the port (0 picks one)
 *   close PORT          connect PORT        listen-unix PATH
 *   hold                requests stay unanswered, as while an engine computes
 *   release             they are answered
 *   fork-worker         answers with the child's pid, as do:
 *   fork-holders N      reuseport [MODEL]      orphan      activate
 *   fork-reader TITLE   spawn PROGRAM [ARGUMENTS]
 *   exec-self [OPTIONS] answered by the new generation
 *   leader-exit         thread-files
 *   title TEXT          over argv;             comm TEXT
 *   exit                ends the children too; exit leave: does not
 */
#include "modelserver.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static char answer[4096];

void
ms_answer(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(answer, sizeof(answer), format, args);
	va_end(args);
}

static int
hex_digit(char digit)
{
	const char *digits = "0123456789abcdef";
	const char *found = digit == '\0' ? NULL : strchr(digits, digit);

	return found == NULL ? 0 : (int)(found - digits);
}

/* Resolves the escapes in place and returns the length. */
static size_t
unescape(char *text)
{
	char *from = text, *to = text;

	while (*from != '\0') {
		if (*from != '\\' || from[1] == '\0') {
			*to++ = *from++;
			continue;
		}
		from++;
		if (*from == 'x' && from[1] != '\0' && from[2] != '\0') {
			*to++ = (char)(hex_digit(from[1]) * 16 +
			    hex_digit(from[2]));
			from += 3;
			continue;
		}
		*to++ = *from == 'n' ? '\n' : *from == '0' ? '\0' : *from;
		from++;
	}
	*to = '\0';
	return (size_t)(to - text);
}

static const char *
first_model(void)
{
	return ms.weight_count > 0 ? ms.weights[0].path : "";
}

static bool
do_load(char *text, size_t len)
{
	char *path = strchr(text, ' ');
	struct ms_manner manner;

	(void)len;
	if (path == NULL)
		return ms_fail("load MANNER FILE");
	*path++ = '\0';
	return ms_manner_parse(text, &manner) && ms_weight_load(path, &manner);
}

static bool
do_unload(char *text, size_t len)
{
	(void)text;
	(void)len;
	ms_weights_drop();
	return true;
}

static bool
do_swap(char *path, size_t len)
{
	(void)len;
	ms_weights_drop();
	return ms_weight_load(path, &ms.manner);
}

static bool
do_unlink(char *text, size_t len)
{
	(void)text;
	(void)len;
	return unlink(first_model()) == 0 || ms_fail_errno("unlink");
}

static bool
do_replace(char *path, size_t len)
{
	(void)len;
	return ms_file_replace(first_model(), path);
}

static bool
do_overwrite(char *path, size_t len)
{
	(void)len;
	return ms_file_overwrite(first_model(), path);
}

static bool
do_truncate(char *text, size_t len)
{
	(void)len;
	return ms_file_truncate(first_model(), strtoull(text, NULL, 10));
}

static bool
do_write_private(char *text, size_t len)
{
	(void)text;
	(void)len;
	return ms_weight_write_private();
}

static bool
do_shared_writable(char *path, size_t len)
{
	(void)len;
	return ms_weight_shared_writable(path);
}

static bool
do_memfd(char *path, size_t len)
{
	(void)len;
	return ms_weight_memfd(path);
}

static bool
listen_word(const char *word, unsigned *flags, const char **address)
{
	static const struct {
		const char *word;
		unsigned set, clear;
	} words[] = {
		{ "v4", 0, MS_V6 },
		{ "v6only", MS_V6, MS_DUAL },
		{ "dual", MS_V6 | MS_DUAL, MS_LOOPBACK },
		{ "mptcp", MS_MPTCP, 0 },
		{ "reuseport", MS_REUSEPORT, 0 },
		{ "any", 0, MS_LOOPBACK },
	};
	size_t i;

	if (strncmp(word, "addr=", 5) == 0) {
		*address = word + 5;
		if (strchr(*address, ':') != NULL)
			*flags |= MS_V6;
		return true;
	}
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(word, words[i].word) == 0) {
			*flags = (*flags & ~words[i].clear) | words[i].set;
			return true;
		}
	}
	return ms_fail("listen: no such word: %s", word);
}

static bool
do_listen(char *text, size_t len)
{
	unsigned flags = MS_LOOPBACK;
	const char *address = NULL;
	char *rest = NULL, *word = strtok_r(text, " ", &rest);
	uint16_t port = word == NULL ? 0 : (uint16_t)atoi(word), got;

	(void)len;
	while ((word = strtok_r(NULL, " ", &rest)) != NULL) {
		if (!listen_word(word, &flags, &address))
			return false;
	}
	if (!ms_listen(port, flags, address, &got))
		return false;
	ms_answer("%u", got);
	return true;
}

static bool
do_close(char *text, size_t len)
{
	(void)len;
	return ms_close_port((uint16_t)atoi(text));
}

static bool
do_connect(char *text, size_t len)
{
	(void)len;
	return ms_connect((uint16_t)atoi(text));
}

static bool
do_listen_unix(char *path, size_t len)
{
	(void)len;
	return ms_listen_unix(path);
}

static bool
do_hold(char *text, size_t len)
{
	(void)text;
	(void)len;
	ms.holding = true;
	return true;
}

static bool
do_release(char *text, size_t len)
{
	(void)text;
	(void)len;
	ms.holding = false;
	return true;
}

static bool
do_fork_worker(char *text, size_t len)
{
	(void)text;
	(void)len;
	return ms_fork_worker();
}

static bool
do_fork_holders(char *text, size_t len)
{
	(void)len;
	return ms_fork_holders(strtoul(text, NULL, 10));
}

static bool
do_reuseport(char *text, size_t len)
{
	(void)len;
	return ms_fork_reuseport(text);
}

static bool
do_orphan(char *text, size_t len)
{
	(void)text;
	(void)len;
	return ms_orphan();
}

static bool
do_activate(char *text, size_t len)
{
	(void)text;
	(void)len;
	return ms_activate();
}

static bool
do_spawn(char *words, size_t len)
{
	(void)len;
	return ms_spawn(words);
}

static bool
do_fork_reader(char *title, size_t len)
{
	(void)len;
	return ms_fork_reader(title);
}

static bool
do_exec_self(char *text, size_t len)
{
	(void)len;
	return ms_exec_self(text);
}

static bool
do_leader_exit(char *text, size_t len)
{
	(void)text;
	(void)len;
	return ms_leader_exit();
}

static bool
do_thread_files(char *text, size_t len)
{
	(void)text;
	(void)len;
	return ms_thread_files();
}

static bool
do_title(char *text, size_t len)
{
	ms_title(text, len);
	return true;
}

static bool
do_comm(char *text, size_t len)
{
	(void)len;
	return prctl(PR_SET_NAME, text) == 0 || ms_fail_errno("prctl");
}

static bool
do_exit(char *text, size_t len)
{
	(void)len;
	if (strcmp(text, "leave") == 0)
		ms.child_count = 0;
	ms.stopping = true;
	return true;
}

static const struct {
	const char *name;
	bool (*run)(char *text, size_t len);
} commands[] = {
	{ "load", do_load },
	{ "unload", do_unload },
	{ "swap", do_swap },
	{ "unlink", do_unlink },
	{ "replace", do_replace },
	{ "overwrite", do_overwrite },
	{ "truncate", do_truncate },
	{ "write-private", do_write_private },
	{ "shared-writable", do_shared_writable },
	{ "memfd", do_memfd },
	{ "listen", do_listen },
	{ "close", do_close },
	{ "connect", do_connect },
	{ "listen-unix", do_listen_unix },
	{ "hold", do_hold },
	{ "release", do_release },
	{ "fork-worker", do_fork_worker },
	{ "fork-holders", do_fork_holders },
	{ "reuseport", do_reuseport },
	{ "orphan", do_orphan },
	{ "activate", do_activate },
	{ "spawn", do_spawn },
	{ "fork-reader", do_fork_reader },
	{ "exec-self", do_exec_self },
	{ "leader-exit", do_leader_exit },
	{ "thread-files", do_thread_files },
	{ "title", do_title },
	{ "comm", do_comm },
	{ "exit", do_exit },
};

static bool
run_command(const char *name, char *text, size_t len)
{
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(name, commands[i].name) == 0)
			return commands[i].run(text, len);
	}
	return ms_fail("no such command: %s", name);
}

void
ms_control_line(char *line)
{
	char *text = strchr(line, ' ');
	size_t len = 0;

	answer[0] = '\0';
	if (text != NULL) {
		*text++ = '\0';
		len = unescape(text);
	}
	if (run_command(line, text == NULL ? line + strlen(line) : text, len))
		printf(answer[0] != '\0' ? "ok %s\n" : "ok\n", answer);
	else
		printf("error %s\n", ms_problem);
	(void)fflush(stdout);
}
