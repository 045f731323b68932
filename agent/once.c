#include "once.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "evidence/attest.h"
#include "host/manners/manners.h"
#include "host/system.h"
#include "verdict/flags.h"
#include "verdict/question.h"
#include "verdict/show.h"
#include "verdict/verdict.h"
#include "wire/build.h"
#include "wire/json.h"

#define EXIT_USAGE 2
#define EXIT_UNVERIFIABLE 4

struct options {
	uint32_t port;
	bool as_json;
	int64_t timeout_ms; /* 0: none */
	const char *state_folder;
	enum wd_digest_wish digests;
	const char *address;
	Weightd__V1__Connection *connection; /* NULL: none is named */
	uint64_t netns;
	bool all_namespaces;
	bool pid_namespace_is_all;
	Weightd__V1__Expectation *expectation;
};

static enum wd_status
parse_number(const char *flag, const char *value, uint64_t max,
    uint64_t *number, struct wd_error *err)
{
	char shown[64];

	if (!wd_slice_number(wd_slice_text(value), 10, number) ||
	    *number == 0 || *number > max)
		return wd_fail(err, WD_INVALID,
		    "%s \"%s\" is no number from 1 to %llu", flag,
		    wd_escape_short(shown, sizeof(shown), wd_slice_text(value)),
		    (unsigned long long)max);
	return WD_OK;
}

static enum wd_status
parse_format(struct options *o, const char *value, struct wd_error *err)
{
	o->as_json = strcmp(value, "json") == 0;
	if (o->as_json || strcmp(value, "text") == 0)
		return WD_OK;
	return wd_fail(err, WD_INVALID, "--format is text or json");
}

static enum wd_status
parse_netns(struct options *o, const char *value, struct wd_error *err)
{
	o->all_namespaces = strcmp(value, "all") == 0;
	if (o->all_namespaces)
		return WD_OK;
	return parse_number("--netns", value, UINT64_MAX, &o->netns, err);
}

/* Flags of this command; `*known` is false when it is none of them. */
static enum wd_status
parse_own(struct options *o, const char *flag, const char *value, bool *known,
    struct wd_error *err)
{
	uint64_t number = 0;
	enum wd_status st = WD_OK;

	*known = true;
	if (strcmp(flag, "--format") == 0)
		return parse_format(o, value, err);
	if (strcmp(flag, "--netns") == 0)
		return parse_netns(o, value, err);
	if (strcmp(flag, "--connection") == 0) {
		wd_message_free(o->connection);
		o->connection = NULL;
		return wd_connection_parse(flag, value, &o->connection, err);
	}
	if (strcmp(flag, "--timeout") == 0) {
		st = parse_number(flag, value, 86400, &number, err);
		if (st == WD_OK)
			o->timeout_ms = (int64_t)number * 1000;
	} else if (strcmp(flag, "--state-dir") == 0) {
		o->state_folder = value;
	} else if (strcmp(flag, "--address") == 0) {
		o->address = value;
	} else {
		*known = false;
	}
	return st;
}

static bool
parse_switch(struct options *o, const char *flag)
{
	if (strcmp(flag, "--headers-only") == 0)
		o->digests = WD_DIGEST_CACHED_ONLY;
	else if (strcmp(flag, "--fresh") == 0)
		o->digests = WD_DIGEST_FRESH;
	else if (strcmp(flag, "--pid-namespace-is-all") == 0)
		o->pid_namespace_is_all = true;
	else
		return false;
	return true;
}

static bool
is_own_with_value(const char *flag)
{
	static const char *const names[] = { "--format", "--netns", "--timeout",
		"--state-dir", "--address", "--connection" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(flag, names[i]) == 0)
			return true;
	return false;
}

/* One flag, with its value when it takes one; `*used` counts arguments. */
static enum wd_status
parse_flag(struct options *o, int count, char **arguments, int *used,
    struct wd_error *err)
{
	const char *flag = arguments[0];
	const char *value = NULL;
	char shown[64];
	bool takes_value = is_own_with_value(flag), known;
	bool expects = wd_expectation_flag(flag, &known);
	enum wd_status st;

	if (expects)
		takes_value = known;
	*used = 1;
	if (takes_value) {
		if (count < 2 || arguments[1][0] == '\0')
			return wd_fail(err, WD_INVALID,
			    "%s needs a value that is not empty", flag);
		value = arguments[1];
		*used = 2;
	}
	if (expects)
		return wd_expectation_set(&o->expectation, flag, value, err);
	if (parse_switch(o, flag))
		return WD_OK;
	if (value != NULL) {
		st = parse_own(o, flag, value, &known, err);
		if (known)
			return st;
	}
	return wd_fail(err, WD_INVALID,
	    "\"%s\" is no option of weightd --once; see weightd --help",
	    wd_escape_short(shown, sizeof(shown), wd_slice_text(flag)));
}

static enum wd_status
parse(struct options *o, int count, char **arguments, struct wd_error *err)
{
	uint64_t port;
	enum wd_status st;
	int i, used;

	if (count < 1)
		return wd_fail(err, WD_INVALID,
		    "--once needs a port: weightd --once PORT");
	st = parse_number("port", arguments[0], 65535, &port, err);
	if (st != WD_OK)
		return st;
	o->port = (uint32_t)port;
	for (i = 1; i < count; i += used) {
		st = parse_flag(o, count - i, arguments + i, &used, err);
		if (st != WD_OK)
			return st;
	}
	return o->expectation == NULL ?
	    WD_OK :
	    wd_expectation_check(o->expectation, err);
}

static enum wd_status
open_store(
    const struct options *o, struct wd_store **store, struct wd_error *err)
{
	WD_CLEANUP(wd_free_scoped) char *folder = NULL;

	if (o->state_folder != NULL)
		return wd_store_open(o->state_folder, store, err);
	folder = wd_host_state_folder();
	if (folder == NULL)
		return wd_store_open_memory(store, err);
	return wd_store_open(folder, store, err);
}

static enum wd_status
ask(const struct options *o, const struct wd_evidence *evidence,
    Weightd__V1__AttestPortResponse *answer, struct wd_error *err)
{
	Weightd__V1__Question question;
	struct wd_deadline deadline = o->timeout_ms == 0 ?
	    wd_deadline_none() :
	    wd_deadline_in(evidence->clock, o->timeout_ms);
	WD_CLEANUP(wd_free_scoped) char *address = NULL;
	enum wd_status st;

	address = wd_strdup(o->address == NULL ? "" : o->address);
	if (address == NULL)
		return wd_fail(err, WD_NOMEM, "out of memory");
	weightd__v1__question__init(&question);
	question.port = o->port;
	question.netns = o->netns;
	question.all_namespaces = o->all_namespaces;
	question.address = address;
	question.connection = o->connection;
	st = wd_attest_port(evidence, &question, o->digests, &deadline,
	    &answer->attestation, err);
	if (st != WD_OK)
		return st;
	return wd_verdict_judge(
	    o->expectation, answer->attestation, NULL, &answer->verdict, err);
}

static enum wd_status
print(const struct options *o, const Weightd__V1__AttestPortResponse *answer,
    struct wd_error *err)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf out;
	enum wd_status st;

	wd_buf_init(&out, WD_MAX_MESSAGE);
	if (o->as_json)
		st = wd_message_print_json(
		    &answer->base, WD_JSON_INDENTED, &out, err);
	else
		st = wd_show_answer(answer, isatty(STDOUT_FILENO) == 1, &out);
	if (st != WD_OK)
		return st;
	if (fwrite(wd_buf_string(&out), 1, out.len, stdout) != out.len ||
	    fflush(stdout) != 0)
		return wd_fail(err, WD_IO,
		    "the answer could not be written to standard output");
	return WD_OK;
}

/* The exit code of a question that could not be answered at all. */
static int
complain(const struct wd_error *err)
{
	wd_log(WD_LOG_ERROR, "%s", err->message);
	return err->status == WD_INVALID ? EXIT_USAGE : EXIT_UNVERIFIABLE;
}

static int
run(const struct options *o, struct wd_error *err)
{
	WD_CLEANUP(wd_host_free) struct wd_host *host = NULL;
	WD_CLEANUP(wd_reader_free) struct wd_reader *reader = NULL;
	WD_CLEANUP(wd_store_free) struct wd_store *store = NULL;
	struct wd_evidence evidence = { .clock = &wd_clock_system };
	Weightd__V1__AttestPortResponse answer;
	enum wd_status st;
	int code;

	st = wd_host_system(o->pid_namespace_is_all, &host, err);
	if (st == WD_OK)
		st = wd_reader_in_process(wd_host_io_manners(), &reader, err);
	if (st == WD_OK)
		st = open_store(o, &store, err);
	if (st != WD_OK)
		return complain(err);
	evidence.host = host;
	evidence.reader = reader;
	evidence.store = store;
	weightd__v1__attest_port_response__init(&answer);
	st = ask(o, &evidence, &answer, err);
	if (st == WD_OK)
		st = print(o, &answer, err);
	code =
	    st == WD_OK ? wd_verdict_exit_code(answer.verdict) : complain(err);
	wd_message_free(answer.attestation);
	wd_message_free(answer.verdict);
	return code;
}

int
wd_once(int count, char **arguments)
{
	struct options options = { .digests = WD_DIGEST_COMPUTE };
	struct wd_error err;
	int code;

	wd_error_init(&err);
	/* A read lease that is broken while we hold it sends SIGIO, whose
	 * default ends the process. */
	(void)signal(SIGIO, SIG_IGN);
	(void)signal(SIGPIPE, SIG_IGN);
	/* A limit on file sizes is the store's error, not our end. */
	(void)signal(SIGXFSZ, SIG_IGN);
	if (parse(&options, count, arguments, &err) != WD_OK)
		code = complain(&err);
	else
		code = run(&options, &err);
	wd_message_free(options.connection);
	wd_message_free(options.expectation);
	return code;
}
