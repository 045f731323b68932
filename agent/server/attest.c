#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/parts.h"
#include "verdict/verdict.h"
#include "weightd/v1/service.pb-c.h"
#include "wire/build.h"
#include "wire/unpack.h"

#define WISH(name) WEIGHTD__V1__DIGEST_WISH__DIGEST_WISH_##name

/* ---- the question -------------------------------------------------------- */

/* Settles what the caller left open, and holds it against its roles: hashing
 * is work. */
static bool
settle_digests(const struct wd_open_call *call, Weightd__V1__DigestWish *wish,
    struct wd_connect_failure *failure)
{
	bool may_work = (call->roles & WD_ROLE_WORK) != 0;

	if (*wish == WISH(UNSPECIFIED))
		*wish = may_work ? WISH(START) : WISH(CACHED);
	if (may_work || *wish == WISH(CACHED))
		return true;
	wd_connect_fail(failure, WD_CONNECT_PERMISSION_DENIED,
	    "%s may read, and not have files hashed: ask with "
	    "DIGEST_WISH_CACHED, or be given the role to cause work",
	    call->client);
	return false;
}

static bool
check_question(const Weightd__V1__AttestPortRequest *request,
    struct wd_connect_failure *failure)
{
	if (request->question == NULL || request->question->port == 0 ||
	    request->question->port > 65535) {
		wd_connect_fail(failure, WD_CONNECT_INVALID_ARGUMENT,
		    "question.port: must be from 1 to 65535");
		return false;
	}
	if (request->nonce.len > WD_MAX_NONCE) {
		wd_connect_fail(failure, WD_CONNECT_INVALID_ARGUMENT,
		    "nonce: at most %d bytes", WD_MAX_NONCE);
		return false;
	}
	return true;
}

bool
wd_attest_admit(struct wd_open_call *call, struct wd_connect_failure *failure)
{
	Weightd__V1__AttestPortRequest *request =
	    (Weightd__V1__AttestPortRequest *)call->request;
	struct wd_error err;

	wd_error_init(&err);
	if (!check_question(request, failure) ||
	    !settle_digests(call, &request->digests, failure))
		return false;
	if (wd_expectation_check(request->expectation, &err) == WD_OK)
		return true;
	wd_connect_fail_of(failure, &err);
	return false;
}

bool
wd_bundle_admit(struct wd_open_call *call, struct wd_connect_failure *failure)
{
	Weightd__V1__DescribeBundleRequest *request =
	    (Weightd__V1__DescribeBundleRequest *)call->request;
	const ProtobufCBinaryData *path = &request->path;

	if (path->len == 0 || path->data[0] != '/' ||
	    path->len >= WD_MAX_PATH ||
	    memchr(path->data, '\0', path->len) != NULL) {
		wd_connect_fail(failure, WD_CONNECT_INVALID_ARGUMENT,
		    "path: must be absolute, and below %d bytes", WD_MAX_PATH);
		return false;
	}
	return settle_digests(call, &request->digests, failure);
}

/* Expectation and nonce concern only the caller and the verdict. */
enum wd_status
wd_attest_pack(const struct wd_open_call *call, struct wd_buf *question,
    struct wd_error *err)
{
	const Weightd__V1__AttestPortRequest *request =
	    (const Weightd__V1__AttestPortRequest *)call->request;
	Weightd__V1__AttestPortRequest stripped;

	weightd__v1__attest_port_request__init(&stripped);
	stripped.question = request->question;
	stripped.digests = request->digests;
	return wd_wire_pack(&stripped.base, question, err);
}

/* ---- the log line -------------------------------------------------------- */

static const char *
verdict_word(const Weightd__V1__Verdict *verdict)
{
	const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(
	    &weightd__v1__verdict_kind__descriptor, (int)verdict->kind);

	return value == NULL ? "unknown" :
			       value->name + strlen("VERDICT_KIND_");
}

static const char *
requested_name(const Weightd__V1__Expectation *expectation)
{
	return expectation != NULL &&
		expectation->model_presence_case ==
		    WEIGHTD__V1__EXPECTATION__MODEL_PRESENCE_MODEL ?
	    expectation->model :
	    "";
}

/* The first model that was found behind the port. */
static const char *
resolved_name(const Weightd__V1__Attestation *all)
{
	size_t i, k;

	for (i = 0; i < all->n_groups; i++)
		for (k = 0; k < all->groups[i]->n_candidates; k++) {
			const Weightd__V1__Candidate *found =
			    all->groups[i]->candidates[k];

			if (found->bundle == NULL ||
			    found->bundle->kind !=
				WEIGHTD__V1__BUNDLE_KIND__BUNDLE_KIND_MODEL)
				continue;
			if (found->bundle->inner_name[0] != '\0')
				return found->bundle->inner_name;
			return found->n_names > 0 ? found->names[0] : "";
		}
	return "";
}

static const char *
match_word(const Weightd__V1__Expectation *expectation,
    const Weightd__V1__Verdict *verdict)
{
	if (expectation == NULL)
		return "none";
	if (verdict->kind == WEIGHTD__V1__VERDICT_KIND__VERDICT_KIND_MATCH)
		return "yes";
	return verdict->kind ==
		WEIGHTD__V1__VERDICT_KIND__VERDICT_KIND_UNVERIFIABLE ?
	    "unknown" :
	    "no";
}

/* What was asked for and what is there, side by side: the line that would have
 * shown the alias. */
static void
log_attestation(const struct wd_open_call *call, uint32_t port,
    const Weightd__V1__Expectation *expectation,
    const Weightd__V1__AttestPortResponse *response)
{
	const Weightd__V1__Verdict *verdict = response->verdict;
	char port_text[16], line_text[16];
	struct wd_log_field fields[] = {
		{ "client", call->client },
		{ "port", port_text },
		{ "requested", requested_name(expectation) },
		{ "resolved", resolved_name(response->attestation) },
		{ "match", match_word(expectation, verdict) },
		{ "verdict", verdict_word(verdict) },
		{ "line", line_text },
	};

	(void)snprintf(port_text, sizeof(port_text), "%" PRIu32, port);
	(void)snprintf(line_text, sizeof(line_text), "%" PRIu32, verdict->line);
	wd_log_event(
	    WD_LOG_INFO, "attest", fields, sizeof(fields) / sizeof(fields[0]));
}

/* ---- the answer ---------------------------------------------------------- */

/* Verdict and nonce as a message of their own: bytes of two messages of one
 * type, put one behind the other, are their union. So the attestation need
 * not be packed again. */
static enum wd_status
append_own(const Weightd__V1__AttestPortRequest *request,
    Weightd__V1__Verdict *verdict, struct wd_slice answer, struct wd_buf *out,
    struct wd_error *err)
{
	Weightd__V1__AttestPortResponse own;

	weightd__v1__attest_port_response__init(&own);
	own.verdict = verdict;
	own.nonce = request->nonce;
	if (wd_buf_append(out, answer.data, answer.len) != WD_OK)
		return wd_fail(err, out->status, "the answer is too large");
	return wd_wire_pack(&own.base, out, err);
}

static enum wd_status
judge(struct wd_open_call *call, Weightd__V1__AttestPortResponse *response,
    struct wd_slice answer, struct wd_buf *out, struct wd_error *err)
{
	const Weightd__V1__AttestPortRequest *request =
	    (const Weightd__V1__AttestPortRequest *)call->request;
	struct wd_metrics *metrics = &call->connection->server->metrics;
	enum wd_status st;

	if (response->attestation == NULL || response->verdict != NULL)
		return wd_fail(
		    err, WD_CORRUPT, "the observer's answer is no attestation");
	st = wd_verdict_judge(request->expectation, response->attestation, NULL,
	    &response->verdict, err);
	if (st != WD_OK)
		return st;
	if ((size_t)response->verdict->kind < WD_METRIC_VERDICTS)
		metrics->verdicts[response->verdict->kind]++;
	log_attestation(
	    call, request->question->port, request->expectation, response);
	return append_own(request, response->verdict, answer, out, err);
}

enum wd_status
wd_attest_finish(struct wd_open_call *call, struct wd_slice answer,
    struct wd_buf *out, struct wd_error *err)
{
	WD_CLEANUP(wd_message_free_scoped) ProtobufCMessage *message = NULL;
	enum wd_status st = wd_wire_unpack(call->row->response, answer,
	    WD_WIRE_ALLOW_UNKNOWN, WD_MAX_MESSAGE, &message, err);

	if (st != WD_OK)
		return st;
	return judge(
	    call, (Weightd__V1__AttestPortResponse *)message, answer, out, err);
}
