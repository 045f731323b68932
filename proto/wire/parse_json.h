/*
 * parse_json.h - proto3 JSON to messages, by descriptor; json.h writes it.
 *
 * Follows the ProtoJSON mapping (protobuf.dev/programming-guides/json): names
 * in lowerCamelCase or as in the schema; integers as numbers or strings, also
 * as 1e3 or 1.0 when that is a whole number; bytes in either base64 alphabet,
 * with or without padding; enum values by name or number; null is "not set".
 *
 * As strict as wire/validate.h: an unknown name or enum value is refused
 * (WD_UNSUPPORTED), a field that stands twice, two members of a oneof and a
 * NUL in a string too.
 */
#ifndef WD_WIRE_PARSE_JSON_H
#define WD_WIRE_PARSE_JSON_H

#include <protobuf-c/protobuf-c.h>

#include "base/error.h"
#include "base/slice.h"

/* Makes a message of `type` from JSON text, whose root must be an object. The
 * tree and the message may each take `max_memory` bytes. The caller frees
 * `*message` with wd_message_free. Errors: WD_MALFORMED, WD_UNSUPPORTED,
 * WD_LIMIT, WD_NOMEM; the message names the field. Not to be called from two
 * threads at once (base/json.h). */
enum wd_status wd_message_parse_json(const ProtobufCMessageDescriptor *type,
    struct wd_slice text, size_t max_memory, ProtobufCMessage **message,
    struct wd_error *err) WD_MUST_CHECK;

#endif
