#include "api/trust.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "verdict/verdict.h"
#include "wire/build.h"

/* ---- the echo ------------------------------------------------------------ */

static bool
same_bytes(const ProtobufCBinaryData *a, const ProtobufCBinaryData *b)
{
	return a->len == b->len &&
	    (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

static bool
same_connection(
    const Weightd__V1__Connection *a, const Weightd__V1__Connection *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return a->port == b->port && strcmp(a->address, b->address) == 0;
}

static bool
same_question(const Weightd__V1__Question *a, const Weightd__V1__Question *b)
{
	return a->port == b->port && a->netns == b->netns &&
	    a->all_namespaces == b->all_namespaces &&
	    strcmp(a->address, b->address) == 0 &&
	    same_connection(a->connection, b->connection);
}

static enum wd_status
check_echo(const Weightd__V1__AttestPortRequest *request,
    const Weightd__V1__AttestPortResponse *answer, struct wd_error *err)
{
	if (!same_bytes(&request->nonce, &answer->nonce))
		return wd_fail(err, WD_INVALID,
		    "the nonce is not the one that was sent: this answers "
		    "another call");
	if (answer->attestation == NULL)
		return wd_fail(err, WD_INVALID, "it holds no attestation");
	if (answer->attestation->question == NULL ||
	    !same_question(request->question, answer->attestation->question))
		return wd_fail(err, WD_INVALID,
		    "it answers another question than the one about port "
		    "%" PRIu32,
		    request->question->port);
	return WD_OK;
}

/* ---- one look at one host ------------------------------------------------ */

static bool
is_before(
    const Google__Protobuf__Timestamp *a, const Google__Protobuf__Timestamp *b)
{
	return a->seconds < b->seconds ||
	    (a->seconds == b->seconds && a->nanos < b->nanos);
}

static enum wd_status
check_processes(const Weightd__V1__Attestation *all, struct wd_error *err)
{
	size_t i;

	for (i = 0; i < all->n_processes; i++) {
		const Weightd__V1__ProcessIdentity *id =
		    all->processes[i]->identity;

		if (id == NULL || strcmp(id->boot_id, all->host->boot_id) != 0)
			return wd_fail(err, WD_INVALID,
			    "its processes are not all of one boot of the "
			    "host");
	}
	return WD_OK;
}

static enum wd_status
check_look(const Weightd__V1__Attestation *all, struct wd_error *err)
{
	size_t i;

	if (all->host == NULL)
		return wd_fail(
		    err, WD_INVALID, "it does not say which host it is of");
	if (all->started_at != NULL && all->ended_at != NULL &&
	    is_before(all->ended_at, all->started_at))
		return wd_fail(err, WD_INVALID, "it ends before it begins");
	for (i = 0; i < all->n_listeners; i++)
		if (all->listeners[i]->port != all->question->port)
			return wd_fail(err, WD_INVALID,
			    "it shows a listener of port %" PRIu32,
			    all->listeners[i]->port);
	return check_processes(all, err);
}

enum wd_status
wd_answer_check(const Weightd__V1__AttestPortRequest *request,
    const Weightd__V1__AttestPortResponse *answer, struct wd_error *err)
{
	enum wd_status st = check_echo(request, answer, err);

	return st == WD_OK ? check_look(answer->attestation, err) : st;
}

/* ---- the verdict --------------------------------------------------------- */

static const char *
word_of(Weightd__V1__VerdictKind kind)
{
	const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(
	    &weightd__v1__verdict_kind__descriptor, (int)kind);

	return value == NULL ? "a word that is not known" :
			       value->name + strlen("VERDICT_KIND_");
}

/* The agent's words against ours. */
static enum wd_status
compare(const Weightd__V1__Verdict *ours, const Weightd__V1__Verdict *theirs,
    struct wd_error *err)
{
	if (theirs == NULL)
		return wd_fail(err, WD_INVALID, "it holds no verdict");
	if (theirs->kind == ours->kind && theirs->line == ours->line)
		return WD_OK;
	return wd_fail(err, WD_INVALID,
	    "the agent says %s (line %" PRIu32 "), and its own observation "
	    "gives %s (line %" PRIu32 "); are both of one version?",
	    word_of(theirs->kind), theirs->line, word_of(ours->kind),
	    ours->line);
}

static enum wd_status
distrust(const Weightd__V1__AttestPortRequest *request,
    const struct wd_error *why, Weightd__V1__Verdict **verdict,
    struct wd_error *err)
{
	char words[WD_ERROR_MESSAGE_BYTES + 32];

	(void)snprintf(words, sizeof(words), "the answer is not trusted: %s",
	    why->message);
	wd_message_free(*verdict);
	*verdict = NULL;
	return wd_verdict_judge(
	    request->expectation, NULL, words, verdict, err);
}

static enum wd_status
judge_fault(const Weightd__V1__AttestPortRequest *request,
    const struct wd_api_fault *fault, Weightd__V1__Verdict **verdict,
    struct wd_error *err)
{
	char words[WD_ERROR_MESSAGE_BYTES + 64];

	/* A refusal of what an agent does not know is no failure to reach it.
	 */
	if (fault->code == WD_CONNECT_UNIMPLEMENTED)
		return wd_verdict_refused(fault->message, verdict, err);
	/* The word in front is for programs. */
	(void)snprintf(words, sizeof(words), "%s: %s",
	    wd_api_trouble_name(fault->trouble), fault->message);
	return wd_verdict_judge(
	    request->expectation, NULL, words, verdict, err);
}

enum wd_status
wd_answer_judge(const Weightd__V1__AttestPortRequest *request,
    const struct wd_api_fault *fault,
    const Weightd__V1__AttestPortResponse *answer,
    Weightd__V1__Verdict **verdict, bool *is_trusted, struct wd_error *err)
{
	struct wd_error why;
	enum wd_status st;

	*is_trusted = false;
	*verdict = NULL;
	if (fault != NULL)
		return judge_fault(request, fault, verdict, err);
	wd_error_init(&why);
	if (wd_answer_check(request, answer, &why) != WD_OK)
		return distrust(request, &why, verdict, err);
	st = wd_verdict_judge(
	    request->expectation, answer->attestation, NULL, verdict, err);
	if (st != WD_OK)
		return st;
	if (compare(*verdict, answer->verdict, &why) != WD_OK)
		return distrust(request, &why, verdict, err);
	*is_trusted = true;
	return WD_OK;
}
