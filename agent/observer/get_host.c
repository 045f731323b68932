/*
 * GetHost: who answers, and what it can see.
 */
#include "base/mem.h"
#include "evidence/sight.h"
#include "observer/calls.h"
#include "wire/build.h"
#include "wire/unpack.h"

enum wd_status
wd_answer_get_host(struct wd_answerer *answerer,
    const ProtobufCMessage *message, bool may_wait,
    const struct wd_deadline *deadline, struct wd_buf *answer,
    struct wd_error *err)
{
	WD_CLEANUP(wd_message_free_scoped)
	Weightd__V1__GetHostResponse *response = NULL;
	enum wd_status st = wd_look_at_sight(&answerer->evidence,
	    answerer->started_real_ns, deadline, &response, err);

	(void)message; /* it has no fields */
	(void)may_wait;
	return st == WD_OK ? wd_wire_pack(&response->base, answer, err) : st;
}
