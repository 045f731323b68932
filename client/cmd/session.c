#include "cmd/session.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"
#include "wire/build.h"
#include "wire/unpack.h"

#define NONCE_BYTES 16

/* ---- options ------------------------------------------------------------- */

bool
wd_session_flag(const char *flag)
{
	static const char *const flags[] = { "--ca", "--cert", "--key",
		"--agent-port", "--timeout" };
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (strcmp(flag, flags[i]) == 0)
			return true;
	return false;
}

static enum wd_status
set_timeout(
    struct wd_session_options *options, const char *value, struct wd_error *err)
{
	uint64_t seconds = 0;
	char shown[32];

	if (!wd_slice_number(wd_slice_text(value), 10, &seconds) ||
	    seconds == 0 || seconds > 86400)
		return wd_fail(err, WD_INVALID,
		    "--timeout \"%s\" is no number of seconds from 1 to 86400",
		    wd_escape_short(
			shown, sizeof(shown), wd_slice_text(value)));
	options->timeout_ms = (int64_t)seconds * 1000;
	return WD_OK;
}

enum wd_status
wd_session_set(struct wd_session_options *options, const char *flag,
    const char *value, struct wd_error *err)
{
	if (strcmp(flag, "--agent-port") == 0)
		return wd_target_port(flag, value, &options->agent_port, err);
	if (strcmp(flag, "--timeout") == 0)
		return set_timeout(options, value, err);
	if (strcmp(flag, "--ca") == 0)
		options->credentials.ca = value;
	else if (strcmp(flag, "--cert") == 0)
		options->credentials.certificate = value;
	else
		options->credentials.key = value;
	return WD_OK;
}

enum wd_status
wd_format_set(bool *as_json, const char *value, struct wd_error *err)
{
	*as_json = strcmp(value, "json") == 0;
	if (*as_json || strcmp(value, "text") == 0)
		return WD_OK;
	return wd_fail(err, WD_INVALID, "--format is text or json");
}

const char *
wd_session_word(struct wd_session_options *options, int argc, char **argv,
    struct wd_error *err)
{
	if (argc < 2 || argv[1][0] == '\0')
		return "an option needs a value that is not empty";
	return wd_session_set(options, argv[0], argv[1], err) == WD_OK ?
	    NULL :
	    err->message;
}

enum wd_status
wd_netns_set(uint64_t *netns, bool *all_namespaces, const char *value,
    struct wd_error *err)
{
	*all_namespaces = strcmp(value, "all") == 0;
	if (*all_namespaces ||
	    (wd_slice_number(wd_slice_text(value), 10, netns) && *netns != 0))
		return WD_OK;
	return wd_fail(err, WD_INVALID,
	    "--netns takes the number of a network namespace, or all");
}

/* ---- opening ------------------------------------------------------------- */

enum wd_status
wd_session_open(const struct wd_session_options *options,
    struct wd_session *session, struct wd_error *err)
{
	struct wd_api_options api = { .clock = &wd_clock_system,
		.most_at_once = options->at_once };
	enum wd_status st;

	*session = (struct wd_session){ NULL, NULL };
	/* An agent that hangs up must not end us. */
	(void)signal(SIGPIPE, SIG_IGN);
	st = wd_credentials_load(
	    &options->credentials, &wd_clock_system, &session->tls, err);
	if (st != WD_OK)
		return st;
	api.tls = session->tls;
	st = wd_api_loop_new(&api, &session->loop, err);
	if (st != WD_OK)
		wd_session_close(session);
	return st;
}

void
wd_session_close(struct wd_session *session)
{
	wd_api_loop_free(&session->loop);
	wd_tls_free(&session->tls);
}

struct wd_target
wd_session_agent(
    const struct wd_session_options *options, const struct wd_target *host)
{
	struct wd_target agent = *host;

	agent.port =
	    options->agent_port == 0 ? WD_API_AGENT_PORT : options->agent_port;
	return agent;
}

enum wd_status
wd_print_whole(const struct wd_buf *out, struct wd_error *err)
{
	if (fwrite(wd_buf_string(out), 1, out->len, stdout) != out->len ||
	    fflush(stdout) != 0)
		return wd_fail_errno(err, errno,
		    "the answer could not be written to standard output");
	return WD_OK;
}

/* ---- the question -------------------------------------------------------- */

/* The expectation is the caller's; a message owns what hangs on it, so it gets
 * a copy. */
static enum wd_status
copy_expectation(const Weightd__V1__Expectation *expectation,
    Weightd__V1__AttestPortRequest *request, struct wd_error *err)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf bytes = { .data = NULL };
	ProtobufCMessage *copy = NULL;
	enum wd_status st;

	if (expectation == NULL)
		return WD_OK;
	wd_buf_init(&bytes, WD_MAX_CALL);
	st = wd_wire_pack(&expectation->base, &bytes, err);
	if (st == WD_OK)
		st = wd_wire_unpack(&weightd__v1__expectation__descriptor,
		    wd_buf_slice(&bytes), WD_WIRE_REFUSE_UNKNOWN,
		    WD_MAX_ANSWER_MEMORY, &copy, err);
	request->expectation = (Weightd__V1__Expectation *)copy;
	return st;
}

static enum wd_status
fill_nonce(const struct wd_asked *asked, struct wd_build *b,
    Weightd__V1__AttestPortRequest *request, struct wd_error *err)
{
	uint8_t random[NONCE_BYTES];
	struct wd_slice nonce = asked->nonce;

	if (nonce.len == 0) {
		if (getentropy(random, sizeof(random)) != 0)
			return wd_fail_errno(err, errno, "no random numbers");
		nonce = (struct wd_slice){ random, sizeof(random) };
	}
	wd_build_bytes(b, &request->nonce, nonce);
	return WD_OK;
}

static void
fill_question(const struct wd_asked *asked, struct wd_build *b,
    Weightd__V1__Question *question)
{
	Weightd__V1__Connection *own;

	question->port = asked->port;
	question->netns = asked->netns;
	question->all_namespaces = asked->all_namespaces;
	wd_build_text(b, &question->address, asked->address);
	if (asked->own_address == NULL)
		return;
	own = wd_build_new(b, &weightd__v1__connection__descriptor);
	question->connection = own;
	if (own == NULL)
		return;
	wd_build_text(b, &own->address, asked->own_address);
	own->port = asked->own_port;
}

enum wd_status
wd_asked_message(const struct wd_asked *asked,
    Weightd__V1__AttestPortRequest **request, struct wd_error *err)
{
	WD_CLEANUP(wd_message_free_scoped)
	Weightd__V1__AttestPortRequest *made = NULL;
	struct wd_build b = wd_build_init();
	enum wd_status st;

	made = wd_build_new(&b, &weightd__v1__attest_port_request__descriptor);
	if (made != NULL)
		made->question =
		    wd_build_new(&b, &weightd__v1__question__descriptor);
	if (made == NULL || made->question == NULL)
		return wd_fail(err, WD_NOMEM, "no memory for the question");
	fill_question(asked, &b, made->question);
	made->digests = asked->digests;
	st = fill_nonce(asked, &b, made, err);
	if (st == WD_OK && b.status != WD_OK)
		st = wd_fail(err, b.status, "no memory for the question");
	if (st == WD_OK)
		st = copy_expectation(asked->expectation, made, err);
	if (st == WD_OK)
		*request = wd_steal(&made);
	return st;
}
