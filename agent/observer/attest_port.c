/*
 * AttestPort without what concerns only the caller: no verdict, no nonce.
 */
#include "base/mem.h"
#include "observer/calls.h"
#include "wire/build.h"
#include "wire/unpack.h"

bool
wd_attest_port_waits(const ProtobufCMessage *request)
{
	return wd_wish_waits(
	    ((const Weightd__V1__AttestPortRequest *)request)->digests);
}

static enum wd_status
check(const Weightd__V1__AttestPortRequest *request, struct wd_error *err)
{
	if (request->question == NULL)
		return wd_fail(
		    err, WD_INVALID, "question: missing; name a port");
	if (request->expectation != NULL || request->nonce.len > 0)
		return wd_fail(err, WD_INVALID,
		    "expectation and nonce are judged and echoed by the front, "
		    "not here");
	return WD_OK;
}

enum wd_status
wd_answer_attest_port(struct wd_answerer *answerer,
    const ProtobufCMessage *message, bool may_wait,
    const struct wd_deadline *deadline, struct wd_buf *answer,
    struct wd_error *err)
{
	const Weightd__V1__AttestPortRequest *request =
	    (const Weightd__V1__AttestPortRequest *)message;
	WD_CLEANUP(wd_message_free_scoped)
	Weightd__V1__Attestation *attestation = NULL;
	Weightd__V1__AttestPortResponse response;
	enum wd_status st = check(request, err);

	if (st == WD_OK)
		st = wd_attest_port(&answerer->evidence, request->question,
		    wd_wish_of(request->digests, may_wait), deadline,
		    &attestation, err);
	if (st != WD_OK)
		return st;
	weightd__v1__attest_port_response__init(&response);
	response.attestation = attestation;
	return wd_wire_pack(&response.base, answer, err);
}
