/* weightctl attest: asks the agent of a host about a port of that host, and
 * judges for itself what it hears. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/trust.h"
#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/session.h"
#include "pki/files.h"
#include "verdict/flags.h"
#include "verdict/show.h"
#include "verdict/verdict.h"
#include "wire/build.h"
#include "wire/json.h"

#define TIMEOUT_MS 30000
#define HASHING_TIMEOUT_MS 900000 /* as long as an agent allows */

#define WISH(name) WEIGHTD__V1__DIGEST_WISH__DIGEST_WISH_##name

struct options {
	struct wd_session_options session;
	struct wd_target service;
	struct wd_asked asked;
	Weightd__V1__Expectation *expectation;
	uint8_t nonce[WD_MAX_NONCE];
	const char *output;
	bool as_json;
	bool connects;
};

static const char usage[] =
    "usage: weightctl attest HOST:PORT [expectation] [--nonce HEX]\n"
    "           [--output FILE] [--connect] [--address ADDR] [--netns ID|all]\n"
    "           [--wait | --headers-only | --fresh] [--format text|json]\n"
    "           [--ca FILE] [--cert FILE] [--key FILE] [--agent-port N]\n"
    "           [--timeout SECONDS]\n"
    "expectation: --model NAME --params N --recipe ID --digest sha256:HEX\n"
    "           --encoding sha256:HEX --setting KEY=VALUE\n"
    "           --with KIND=sha256:HEX|any --min-grade GRADE\n"
    "           --allow-name-only\n";

/* ---- options ------------------------------------------------------------- */

static enum wd_status
set_nonce(struct options *o, const char *value, struct wd_error *err)
{
	size_t len = strlen(value), i;
	uint64_t byte;

	for (i = 0; i + 1 < len && i / 2 < sizeof(o->nonce); i += 2) {
		struct wd_slice two = { (const uint8_t *)value + i, 2 };

		if (!wd_slice_number(two, 16, &byte))
			break;
		o->nonce[i / 2] = (uint8_t)byte;
	}
	if (i != len)
		return wd_fail(err, WD_INVALID,
		    "--nonce takes 1 to %d bytes as pairs of hexadecimal "
		    "digits",
		    WD_MAX_NONCE);
	o->asked.nonce = (struct wd_slice){ o->nonce, len / 2 };
	return WD_OK;
}

static enum wd_status
set_digests(
    struct options *o, Weightd__V1__DigestWish wish, struct wd_error *err)
{
	if (o->asked.digests != WISH(UNSPECIFIED) && o->asked.digests != wish)
		return wd_fail(err, WD_INVALID,
		    "--wait, --headers-only and --fresh exclude each other");
	o->asked.digests = wish;
	return WD_OK;
}

/* Flags without a value; `*known` is false when it is none. */
static enum wd_status
set_switch(
    struct options *o, const char *flag, bool *known, struct wd_error *err)
{
	*known = true;
	if (strcmp(flag, "--wait") == 0)
		return set_digests(o, WISH(WAIT), err);
	if (strcmp(flag, "--headers-only") == 0)
		return set_digests(o, WISH(CACHED), err);
	if (strcmp(flag, "--fresh") == 0)
		return set_digests(o, WISH(FRESH), err);
	if (strcmp(flag, "--connect") == 0)
		o->connects = true;
	else
		*known = false;
	return WD_OK;
}

static bool
takes_value(const char *flag)
{
	static const char *const flags[] = { "--nonce", "--output", "--address",
		"--netns", "--format" };
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (strcmp(flag, flags[i]) == 0)
			return true;
	return wd_session_flag(flag);
}

static enum wd_status
set_value(struct options *o, const char *flag, const char *value,
    struct wd_error *err)
{
	if (wd_session_flag(flag))
		return wd_session_set(&o->session, flag, value, err);
	if (strcmp(flag, "--nonce") == 0)
		return set_nonce(o, value, err);
	if (strcmp(flag, "--netns") == 0)
		return wd_netns_set(
		    &o->asked.netns, &o->asked.all_namespaces, value, err);
	if (strcmp(flag, "--format") == 0)
		return wd_format_set(&o->as_json, value, err);
	if (strcmp(flag, "--output") == 0)
		o->output = value;
	else
		o->asked.address = value;
	return WD_OK;
}

/* `*used` counts arguments. */
static enum wd_status
parse_flag(struct options *o, int count, char **arguments, int *used,
    struct wd_error *err)
{
	const char *flag = arguments[0], *value = NULL;
	bool known = false, expects_value = false;
	bool expects = wd_expectation_flag(flag, &expects_value);
	char shown[64];
	enum wd_status st;

	*used = 1;
	if (expects_value || takes_value(flag)) {
		if (count < 2 || arguments[1][0] == '\0')
			return wd_fail(err, WD_INVALID,
			    "%s needs a value that is not empty", flag);
		value = arguments[1];
		*used = 2;
	}
	if (expects)
		return wd_expectation_set(&o->expectation, flag, value, err);
	if (value != NULL)
		return set_value(o, flag, value, err);
	st = set_switch(o, flag, &known, err);
	if (st != WD_OK || known)
		return st;
	return wd_fail(err, WD_INVALID, "%s is no option of attest",
	    wd_escape_short(shown, sizeof(shown), wd_slice_text(flag)));
}

static enum wd_status
parse(struct options *o, int argc, char **argv, struct wd_error *err)
{
	enum wd_status st = WD_OK;
	int i, used;

	for (i = 1; i < argc && st == WD_OK; i += used) {
		used = 1;
		if (argv[i][0] == '-')
			st = parse_flag(o, argc - i, argv + i, &used, err);
		else if (o->service.port != 0)
			st = wd_fail(err, WD_INVALID,
			    "more than one HOST:PORT is given");
		else
			st = wd_target_parse(argv[i], &o->service, err);
	}
	if (st == WD_OK && o->service.port == 0)
		return wd_fail(err, WD_INVALID, "no HOST:PORT is given");
	if (st == WD_OK && o->expectation != NULL)
		st = wd_expectation_check(o->expectation, err);
	o->asked.port = o->service.port;
	o->asked.expectation = o->expectation;
	if (o->session.timeout_ms == 0)
		o->session.timeout_ms = o->asked.digests == WISH(WAIT) ||
			o->asked.digests == WISH(FRESH) ?
		    HASHING_TIMEOUT_MS :
		    TIMEOUT_MS;
	return st;
}

/* ---- the connection ------------------------------------------------------ */

static bool
read_own_end(int fd, char address[INET6_ADDRSTRLEN], uint16_t *port)
{
	struct sockaddr_storage own;
	socklen_t len = sizeof(own);
	struct sockaddr_in in4;
	struct sockaddr_in6 in6;

	if (getsockname(fd, (struct sockaddr *)&own, &len) != 0)
		return false;
	if (own.ss_family == AF_INET) {
		memcpy(&in4, &own, sizeof(in4));
		*port = ntohs(in4.sin_port);
		return inet_ntop(AF_INET, &in4.sin_addr, address,
			   INET6_ADDRSTRLEN) != NULL;
	}
	memcpy(&in6, &own, sizeof(in6));
	*port = ntohs(in6.sin6_port);
	return own.ss_family == AF_INET6 &&
	    inet_ntop(AF_INET6, &in6.sin6_addr, address, INET6_ADDRSTRLEN) !=
	    NULL;
}

/* Connects to the service itself. Stays open until the answer is there. */
static bool
connect_service(const struct options *o, struct wd_session *session, int *fd,
    char address[INET6_ADDRSTRLEN], uint16_t *port, struct wd_api_fault *fault)
{
	if (!wd_api_connect(
		session->loop, &o->service, o->session.timeout_ms, fd, fault))
		return false;
	if (read_own_end(*fd, address, port))
		return true;
	wd_api_fail(fault, WD_API_LOCAL, WD_API_CONNECT,
	    "--connect: this machine does not tell the connection's own end");
	return false;
}

/* ---- the answer ---------------------------------------------------------- */

/* Takes the agent's verdict out and puts ours in. What is not trusted is not
 * shown at all. */
static enum wd_status
settle(const Weightd__V1__AttestPortRequest *request,
    const struct wd_api_fault *fault, Weightd__V1__AttestPortResponse **answer,
    bool *is_trusted, struct wd_error *err)
{
	struct wd_build b = wd_build_init();
	Weightd__V1__Verdict *verdict = NULL;
	enum wd_status st =
	    wd_answer_judge(request, fault, *answer, &verdict, is_trusted, err);

	if (st != WD_OK) {
		wd_message_free(verdict);
		return st;
	}
	if (!*is_trusted) {
		wd_message_free(*answer);
		*answer = wd_build_new(
		    &b, &weightd__v1__attest_port_response__descriptor);
	}
	if (*answer == NULL) {
		wd_message_free(verdict);
		return wd_fail(err, WD_NOMEM, "no memory for the answer");
	}
	wd_message_free((*answer)->verdict);
	(*answer)->verdict = verdict;
	return WD_OK;
}

static enum wd_status
write_file(const char *path, const struct wd_buf *text, struct wd_error *err)
{
	WD_CLEANUP(wd_pki_folder_close)
	struct wd_pki_folder folder = { -1, NULL };
	const char *slash = strrchr(path, '/');
	WD_CLEANUP(wd_free_scoped)
	char *parent = slash == NULL ?
	    wd_strdup(".") :
	    wd_memdup0(path, (size_t)(slash - path) + 1);
	const char *name = slash == NULL ? path : slash + 1;
	enum wd_status st;

	if (parent == NULL)
		return wd_fail(err, WD_NOMEM, "no memory for a name");
	if (name[0] == '\0')
		return wd_fail(err, WD_INVALID, "--output names a folder");
	st = wd_pki_folder_open(parent, false, false, &folder, err);
	if (st != WD_OK)
		return st;
	return wd_pki_replace(
	    &folder, name, WD_PKI_PUBLIC_MODE, wd_buf_slice(text), err);
}

static enum wd_status
publish(const struct options *o, const Weightd__V1__AttestPortResponse *answer,
    bool is_trusted, struct wd_error *err)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { .data = NULL };
	WD_CLEANUP(wd_buf_release) struct wd_buf json = { .data = NULL };
	enum wd_status st;

	wd_buf_init(&text, WD_MAX_MESSAGE);
	wd_buf_init(&json, WD_MAX_MESSAGE);
	st = wd_message_print_json(&answer->base, WD_JSON_INDENTED, &json, err);
	if (st == WD_OK && !o->as_json &&
	    wd_show_answer(answer, isatty(STDOUT_FILENO) == 1, &text) != WD_OK)
		st = wd_fail(err, text.status, "no memory for the text");
	if (st == WD_OK && o->output != NULL && is_trusted)
		st = write_file(o->output, &json, err);
	if (st != WD_OK)
		return st;
	if (o->output != NULL && !is_trusted)
		(void)fputs("weightctl attest: there is no answer to write to "
			    "the file\n",
		    stderr);
	return wd_print_whole(o->as_json ? &json : &text, err);
}

static int
complain(const struct wd_error *err)
{
	(void)fprintf(stderr, "weightctl attest: %s\n", err->message);
	return err->status == WD_INVALID || err->status == WD_GONE ||
		err->status == WD_MALFORMED ?
	    WD_EXIT_USAGE :
	    WD_EXIT_UNVERIFIABLE;
}

static enum wd_status
ask(struct options *o, struct wd_session *session, int *fd,
    Weightd__V1__AttestPortRequest **request,
    Weightd__V1__AttestPortResponse **answer, struct wd_api_fault *fault,
    struct wd_error *err)
{
	struct wd_api_request call = { .method = "AttestPort",
		.answer = &weightd__v1__attest_port_response__descriptor,
		.timeout_ms = o->session.timeout_ms };
	char address[INET6_ADDRSTRLEN] = "";
	ProtobufCMessage *message = NULL;
	bool is_connected = true;
	enum wd_status st;

	if (o->connects) {
		is_connected = connect_service(
		    o, session, fd, address, &o->asked.own_port, fault);
		o->asked.own_address = address;
	}
	st = wd_asked_message(&o->asked, request, err);
	o->asked.own_address = NULL;
	if (st != WD_OK || !is_connected)
		return st;
	call.agent = wd_session_agent(&o->session, &o->service);
	call.question = &(*request)->base;
	if (wd_api_ask(session->loop, &call, &message, fault))
		*answer = (Weightd__V1__AttestPortResponse *)message;
	return WD_OK;
}

static int
attest(struct options *o, struct wd_session *session, int *fd)
{
	WD_CLEANUP(wd_message_free_scoped)
	Weightd__V1__AttestPortRequest *request = NULL;
	WD_CLEANUP(wd_message_free_scoped)
	Weightd__V1__AttestPortResponse *answer = NULL;
	struct wd_api_fault fault = { .trouble = WD_API_FINE };
	bool is_trusted = false;
	struct wd_error err;
	enum wd_status st;

	wd_error_init(&err);
	st = ask(o, session, fd, &request, &answer, &fault, &err);
	if (st == WD_OK)
		st = settle(request, answer == NULL ? &fault : NULL, &answer,
		    &is_trusted, &err);
	if (st == WD_OK)
		st = publish(o, answer, is_trusted, &err);
	return st == WD_OK ? wd_verdict_exit_code(answer->verdict) :
			     complain(&err);
}

int
wd_cmd_attest(int argc, char **argv)
{
	struct options options = { .as_json = false };
	struct wd_session session = { NULL, NULL };
	struct wd_error err;
	int code, fd = -1;

	wd_error_init(&err);
	if (parse(&options, argc, argv, &err) != WD_OK) {
		code = complain(&err);
		(void)fputs(usage, stderr);
	} else if (wd_session_open(&options.session, &session, &err) != WD_OK) {
		code = complain(&err);
	} else {
		code = attest(&options, &session, &fd);
	}
	if (fd >= 0)
		(void)close(fd);
	wd_session_close(&session);
	wd_message_free(options.expectation);
	return code;
}
