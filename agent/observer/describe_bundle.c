/*
 * DescribeBundle: the fingerprint of a bundle by its path.
 */
#include "base/mem.h"
#include "evidence/at_path.h"
#include "observer/calls.h"
#include "wire/build.h"
#include "wire/unpack.h"

bool
wd_describe_bundle_waits(const ProtobufCMessage *request)
{
	return wd_wish_waits(
	    ((const Weightd__V1__DescribeBundleRequest *)request)->digests);
}

enum wd_status
wd_answer_describe_bundle(struct wd_answerer *answerer,
    const ProtobufCMessage *message, bool may_wait,
    const struct wd_deadline *deadline, struct wd_buf *answer,
    struct wd_error *err)
{
	const Weightd__V1__DescribeBundleRequest *request =
	    (const Weightd__V1__DescribeBundleRequest *)message;
	struct wd_at_path at = { { request->path.data, request->path.len },
		answerer->options->model_roots,
		answerer->options->model_root_count };
	WD_CLEANUP(wd_message_free_scoped) Weightd__V1__Bundle *bundle = NULL;
	Weightd__V1__DescribeBundleResponse response;
	enum wd_status st = wd_describe_at_path(&answerer->evidence, &at,
	    wd_wish_of(request->digests, may_wait), deadline, &bundle, err);

	if (st != WD_OK)
		return st;
	weightd__v1__describe_bundle_response__init(&response);
	response.bundle = bundle;
	return wd_wire_pack(&response.base, answer, err);
}
