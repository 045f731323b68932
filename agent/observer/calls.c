#include "observer/calls.h"

#include <stddef.h>

static enum wd_status
answer_nothing(struct wd_answerer *answerer, const ProtobufCMessage *request,
    bool may_wait, const struct wd_deadline *deadline, struct wd_buf *answer,
    struct wd_error *err)
{
	(void)answerer;
	(void)request;
	(void)may_wait;
	(void)deadline;
	(void)answer;
	(void)err;
	return WD_OK;
}

static const struct wd_call_kind kinds[] = {
	{ WD_CALL_ATTEST_PORT, &weightd__v1__attest_port_request__descriptor,
	    wd_attest_port_waits, wd_answer_attest_port },
	{ WD_CALL_DESCRIBE_BUNDLE,
	    &weightd__v1__describe_bundle_request__descriptor,
	    wd_describe_bundle_waits, wd_answer_describe_bundle },
	{ WD_CALL_GET_HOST, &weightd__v1__get_host_request__descriptor, NULL,
	    wd_answer_get_host },
	{ WD_CALL_SIGN_OF_LIFE, &weightd__v1__get_host_request__descriptor,
	    NULL, answer_nothing },
};

const struct wd_call_kind *
wd_call_kind_of(enum wd_call call)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].call == call)
			return &kinds[i];
	return NULL;
}

bool
wd_wish_waits(Weightd__V1__DigestWish wish)
{
	return wish == WEIGHTD__V1__DIGEST_WISH__DIGEST_WISH_WAIT ||
	    wish == WEIGHTD__V1__DIGEST_WISH__DIGEST_WISH_FRESH;
}

enum wd_digest_wish
wd_wish_of(Weightd__V1__DigestWish wish, bool may_wait)
{
	if (wd_wish_waits(wish) && !may_wait)
		return WD_DIGEST_START;
	switch ((int)wish) {
	case WEIGHTD__V1__DIGEST_WISH__DIGEST_WISH_START:
		return WD_DIGEST_START;
	case WEIGHTD__V1__DIGEST_WISH__DIGEST_WISH_WAIT:
		return WD_DIGEST_COMPUTE;
	case WEIGHTD__V1__DIGEST_WISH__DIGEST_WISH_FRESH:
		return WD_DIGEST_FRESH;
	default:
		/* The front settles what the caller may cause. */
		return WD_DIGEST_CACHED_ONLY;
	}
}
