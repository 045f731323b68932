/* weightctl servers: which listeners of several hosts serve weights, or front
 * others that do. All hosts are asked at once. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/servers_text.h"
#include "cmd/session.h"
#include "wire/build.h"
#include "wire/json.h"

#define TIMEOUT_MS 30000

struct options {
	struct wd_session_options session;
	struct wd_servers_row *rows;
	size_t count;
	size_t capacity;
	uint64_t netns;
	bool all_namespaces;
	bool as_json;
};

static const char usage[] =
    "usage: weightctl servers HOST... [--netns ID|all] [--format text|json]\n"
    "           [--ca FILE] [--cert FILE] [--key FILE] [--agent-port N]\n"
    "           [--timeout SECONDS] [--at-once N]\n";

static int
complain(const struct wd_error *err)
{
	(void)fprintf(stderr, "weightctl servers: %s\n", err->message);
	return err->status == WD_INVALID || err->status == WD_GONE ||
		err->status == WD_MALFORMED ?
	    WD_EXIT_USAGE :
	    WD_EXIT_UNVERIFIABLE;
}

/* ---- options ------------------------------------------------------------- */

static enum wd_status
add_host(struct options *o, const char *word, struct wd_error *err)
{
	enum wd_status st = wd_grow((void **)&o->rows, o->count, &o->capacity,
	    sizeof(*o->rows), WD_MAX_HOSTS);
	struct wd_servers_row *row;

	if (st != WD_OK)
		return wd_fail(err, st, "too many hosts");
	row = &o->rows[o->count];
	*row = (struct wd_servers_row){ .host = word };
	st = wd_target_parse_host(word, &row->target, err);
	if (st == WD_OK)
		o->count++;
	return st;
}

/* Each has a descriptor, of which a process has 1024 as a rule. */
#define MOST_AT_ONCE 10000

static enum wd_status
set_at_once(struct options *o, const char *value, struct wd_error *err)
{
	uint64_t number = 0;

	if (!wd_slice_number(wd_slice_text(value), 10, &number) ||
	    number == 0 || number > MOST_AT_ONCE)
		return wd_fail(err, WD_INVALID,
		    "--at-once takes a number of hosts from 1 to %d",
		    MOST_AT_ONCE);
	o->session.at_once = (unsigned)number;
	return WD_OK;
}

static enum wd_status
set(struct options *o, const char *flag, const char *value,
    struct wd_error *err)
{
	char shown[64];

	if (wd_session_flag(flag))
		return wd_session_set(&o->session, flag, value, err);
	if (strcmp(flag, "--format") == 0)
		return wd_format_set(&o->as_json, value, err);
	if (strcmp(flag, "--at-once") == 0)
		return set_at_once(o, value, err);
	if (strcmp(flag, "--netns") == 0)
		return wd_netns_set(&o->netns, &o->all_namespaces, value, err);
	return wd_fail(err, WD_INVALID, "%s is no option of servers",
	    wd_escape_short(shown, sizeof(shown), wd_slice_text(flag)));
}

static enum wd_status
parse(struct options *o, int argc, char **argv, struct wd_error *err)
{
	enum wd_status st = WD_OK;
	int i;

	for (i = 1; i < argc && st == WD_OK; i++) {
		if (argv[i][0] != '-')
			st = add_host(o, argv[i], err);
		else if (i + 1 == argc || argv[i + 1][0] == '\0')
			st = wd_fail(err, WD_INVALID,
			    "an option without a value, or none that is known");
		else {
			st = set(o, argv[i], argv[i + 1], err);
			i++;
		}
	}
	/* An empty fleet is an error, never "all is well". */
	if (st == WD_OK && o->count == 0)
		return wd_fail(err, WD_INVALID, "no host is given");
	if (o->session.timeout_ms == 0)
		o->session.timeout_ms = TIMEOUT_MS;
	return st;
}

/* ---- asking -------------------------------------------------------------- */

static void
on_answer(void *ctx, const struct wd_api_fault *fault, ProtobufCMessage *answer)
{
	struct wd_servers_row *row = ctx;

	row->answer = (Weightd__V1__ListServersResponse *)answer;
	if (fault != NULL)
		row->fault = *fault;
	else if (row->answer->host == NULL) {
		wd_message_free(wd_steal(&row->answer));
		wd_api_fail(&row->fault, WD_API_PROTOCOL, WD_API_ANSWER,
		    "%s: it does not say which host it is of",
		    row->target.host);
	}
}

static enum wd_status
ask_all(struct options *o, struct wd_session *session, struct wd_error *err)
{
	Weightd__V1__ListServersRequest question;
	struct wd_api_request call = { .method = "ListServers",
		.question = &question.base,
		.answer = &weightd__v1__list_servers_response__descriptor,
		.timeout_ms = o->session.timeout_ms };
	enum wd_status st = WD_OK;
	size_t i;

	weightd__v1__list_servers_request__init(&question);
	question.netns = o->netns;
	question.all_namespaces = o->all_namespaces;
	for (i = 0; i < o->count && st == WD_OK; i++) {
		call.agent = wd_session_agent(&o->session, &o->rows[i].target);
		st = wd_api_start(
		    session->loop, &call, on_answer, &o->rows[i], err);
	}
	return st == WD_OK ? wd_api_run(session->loop, err) : st;
}

/* ---- output -------------------------------------------------------------- */

static enum wd_status
print_row(
    const struct wd_servers_row *row, struct wd_buf *out, struct wd_error *err)
{
	enum wd_status st = WD_OK;

	(void)wd_buf_text(out, "{\"host\":");
	wd_json_print_text(row->target.host, out);
	if (row->answer != NULL) {
		(void)wd_buf_text(out, ",\"answer\":");
		st = wd_message_print_json(
		    &row->answer->base, WD_JSON_COMPACT, out, err);
	} else {
		(void)wd_buf_printf(out,
		    ",\"fault\":{\"kind\":\"%s\",\"phase\":\"%s\","
		    "\"message\":",
		    wd_api_trouble_name(row->fault.trouble),
		    wd_api_phase_name(row->fault.phase));
		wd_json_print_text(row->fault.message, out);
		(void)wd_buf_text(out, "}");
	}
	(void)wd_buf_text(out, "}");
	return st;
}

static enum wd_status
print_json(const struct options *o, struct wd_buf *out, struct wd_error *err)
{
	enum wd_status st = WD_OK;
	size_t i;

	(void)wd_buf_text(out, "{\"hosts\":[\n");
	for (i = 0; i < o->count && st == WD_OK; i++) {
		st = print_row(&o->rows[i], out, err);
		(void)wd_buf_text(out, i + 1 < o->count ? ",\n" : "\n");
	}
	(void)wd_buf_text(out, "]}\n");
	return st;
}

static enum wd_status
print(const struct options *o, struct wd_error *err)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf out = { .data = NULL };
	enum wd_status st = WD_OK;

	wd_buf_init(&out, SIZE_MAX);
	if (o->as_json)
		st = print_json(o, &out, err);
	else
		(void)wd_servers_text(o->rows, o->count, &out);
	if (st == WD_OK && out.status != WD_OK)
		st = wd_fail(err, out.status, "no memory for the answers");
	return st == WD_OK ? wd_print_whole(&out, err) : st;
}

/* 4 when somebody could not look everywhere, 3 when somebody did not answer;
 * 4 goes before 3. */
static int
exit_code(const struct options *o)
{
	int code = WD_EXIT_MATCH;
	size_t i;

	for (i = 0; i < o->count; i++) {
		const Weightd__V1__ListServersResponse *answer =
		    o->rows[i].answer;

		if (answer != NULL &&
		    (!answer->listeners_complete || !answer->servers_complete))
			return WD_EXIT_UNVERIFIABLE;
		/* An agent that does not know the question was reached. */
		if (answer == NULL &&
		    o->rows[i].fault.code == WD_CONNECT_UNIMPLEMENTED)
			return WD_EXIT_UNVERIFIABLE;
		if (answer == NULL)
			code = WD_EXIT_UNREACHABLE;
	}
	return code;
}

int
wd_cmd_servers(int argc, char **argv)
{
	struct options options = { .rows = NULL };
	struct wd_session session = { NULL, NULL };
	struct wd_error err;
	enum wd_status st;
	size_t i;
	int code;

	wd_error_init(&err);
	st = parse(&options, argc, argv, &err);
	if (st != WD_OK)
		(void)fputs(usage, stderr);
	if (st == WD_OK)
		st = wd_session_open(&options.session, &session, &err);
	if (st == WD_OK)
		st = ask_all(&options, &session, &err);
	if (st == WD_OK)
		st = print(&options, &err);
	code = st == WD_OK ? exit_code(&options) : complain(&err);
	wd_session_close(&session);
	for (i = 0; i < options.count; i++)
		wd_message_free(options.rows[i].answer);
	wd_free(options.rows);
	return code;
}
