/*
 * unpack.h - messages from bytes that are not trusted, and back.
 *
 * What is unpacked can be 57 times as large as its bytes, so memory comes
 * from a budget that counts every allocation and gets nothing back.
 */
#ifndef WD_WIRE_UNPACK_H
#define WD_WIRE_UNPACK_H

#include <protobuf-c/protobuf-c.h>

#include "base/buf.h"
#include "base/error.h"
#include "wire/validate.h"

/* Checks `bytes` (wire/validate.h) and unpacks them with at most `max_memory`
 * bytes of allocations in all. The caller frees `*message` with
 * wd_message_free. Errors: as wd_wire_check; WD_LIMIT beyond `max_memory`;
 * WD_NOMEM. */
enum wd_status wd_wire_unpack(const ProtobufCMessageDescriptor *type,
    struct wd_slice bytes, enum wd_wire_unknown unknown, size_t max_memory,
    ProtobufCMessage **message, struct wd_error *err) WD_MUST_CHECK;

/* Appends the bytes of `message`. Errors: those of the buffer. */
enum wd_status wd_wire_pack(const ProtobufCMessage *message, struct wd_buf *out,
    struct wd_error *err) WD_MUST_CHECK;

#endif
