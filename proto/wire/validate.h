/*
 * validate.h - bytes of protobuf, looked at before anything is made of them.
 *
 * protobuf-c 1.4 unpacks what it should not: it calls itself for every level
 * (10,000 levels end the process), merges a submessage that stands twice by
 * packing it again (quadratic), takes strings that are not UTF-8 and lets C
 * cut them at a NUL. So bytes are walked first, by the descriptor and without
 * an allocation (wire format: protobuf.dev/programming-guides/encoding).
 *
 * Stricter than the format, in what no writer of ours or of a generated
 * client does: a field that is not repeated stands once, of a oneof one member
 * stands; a 32-bit number has 32 bits; the wire type is the field's own.
 * Readers differ in all of these, and a question must mean one thing.
 */
#ifndef WD_WIRE_VALIDATE_H
#define WD_WIRE_VALIDATE_H

#include <protobuf-c/protobuf-c.h>

#include "base/error.h"
#include "base/slice.h"

enum wd_wire_unknown {
	/* For questions: a field or an enum value that is not in the schema
	 * could narrow the question, so it is refused (WD_UNSUPPORTED). */
	WD_WIRE_REFUSE_UNKNOWN,
	/* For answers: a newer agent may say more. */
	WD_WIRE_ALLOW_UNKNOWN,
};

/* Whether `bytes` are a message of `type` that may be unpacked. Errors:
 * WD_MALFORMED or WD_TRUNCATED with the offset; WD_LIMIT when messages are
 * nested deeper than WD_MAX_WIRE_DEPTH; WD_UNSUPPORTED as above. The message
 * names the field. */
enum wd_status wd_wire_check(const ProtobufCMessageDescriptor *type,
    struct wd_slice bytes, enum wd_wire_unknown unknown,
    struct wd_error *err) WD_MUST_CHECK;

#endif
