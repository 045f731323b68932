/*
 * calls.h - the calls of the schema as the desk answers them. Private to this
 * room.
 *
 * One file a call: each takes the request message and appends the bytes of the
 * response.
 */
#ifndef WD_OBSERVER_CALLS_H
#define WD_OBSERVER_CALLS_H

#include "base/buf.h"
#include "evidence/attest.h"
#include "observer/desk.h"

struct wd_queue;

/* What one thread answers with. */
struct wd_answerer {
	struct wd_queue *queue;
	const struct wd_desk_options *options;
	int64_t started_real_ns; /* when the desk was */
	struct wd_evidence evidence;
};

typedef enum wd_status wd_answer_call(struct wd_answerer *answerer,
    const ProtobufCMessage *request, bool may_wait,
    const struct wd_deadline *deadline, struct wd_buf *answer,
    struct wd_error *err);

struct wd_call_kind {
	enum wd_call call;
	const ProtobufCMessageDescriptor *request;
	/* Whether the question may wait for files to be hashed; NULL: none
	 * does. */
	bool (*waits)(const ProtobufCMessage *request);
	wd_answer_call *answer;
};

/* NULL when there is no such call. */
const struct wd_call_kind *wd_call_kind_of(enum wd_call call);

/* What evidence shall do about digests. A caller for whom there is no lane
 * (`may_wait` false) has the work started all the same. */
enum wd_digest_wish wd_wish_of(Weightd__V1__DigestWish wish, bool may_wait);
bool wd_wish_waits(Weightd__V1__DigestWish wish);

/* Errors: WD_INVALID, and those of wd_attest_port and wd_wire_pack. */
wd_answer_call wd_answer_attest_port;
bool wd_attest_port_waits(const ProtobufCMessage *request);

/* Errors: those of wd_describe_at_path and wd_wire_pack. */
wd_answer_call wd_answer_describe_bundle;
bool wd_describe_bundle_waits(const ProtobufCMessage *request);

/* Errors: those of wd_look_at_sight and wd_wire_pack. */
wd_answer_call wd_answer_get_host;

#endif
