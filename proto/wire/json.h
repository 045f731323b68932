/*
 * json.h - messages as proto3 JSON, by descriptor.
 *
 * Follows the ProtoJSON mapping (protobuf.dev/programming-guides/json):
 * lowerCamelCase names in the order of their numbers; 64-bit integers as
 * strings; bytes as standard base64 with padding; enum values by name, or by
 * number when the schema has no name for them; google.protobuf.Timestamp as RFC
 * 3339 in UTC with 0, 3, 6 or 9 digits of a second; NaN and infinities as
 * strings. Fields without presence are left out when they have their default;
 * members of a oneof are there whenever they are set.
 *
 * What a terminal or page could act on (controls, C1, direction marks,
 * invisible characters) is written as \uXXXX, which is the same JSON string.
 * A string field that is not UTF-8 gets U+FFFD for each bad byte.
 *
 * The schema may not use json_name or map fields: protobuf-c does not pass
 * them on.
 */
#ifndef WD_WIRE_JSON_H
#define WD_WIRE_JSON_H

#include <protobuf-c/protobuf-c.h>

#include "base/buf.h"
#include "base/error.h"
#include "google/protobuf/timestamp.pb-c.h"

enum wd_message_json_style {
	WD_JSON_COMPACT,  /* one line, no spaces, no newline at the end */
	WD_JSON_INDENTED, /* two spaces a level, a newline at the end */
};

/* Messages may be nested this deep; the schema needs 7. */
#define WD_MESSAGE_JSON_DEPTH 16

/* Appends `message` to `out`. Errors: WD_NOMEM; WD_LIMIT when the buffer is
 * full or nesting passes WD_MESSAGE_JSON_DEPTH; WD_INVALID for a timestamp
 * outside the years 1 to 9999, which JSON cannot express. */
enum wd_status wd_message_print_json(const ProtobufCMessage *message,
    enum wd_message_json_style style, struct wd_buf *out,
    struct wd_error *err) WD_MUST_CHECK;

/* Appends `text` (NULL: "") as a JSON string with its quotes, by the rules
 * above. A failure stays in the buffer. */
void wd_json_print_text(const char *text, struct wd_buf *out);

/* Appends a timestamp as RFC 3339 text in UTC, without quotes. Errors: as
 * wd_message_print_json. */
enum wd_status wd_message_print_time(const Google__Protobuf__Timestamp *time,
    struct wd_buf *out, struct wd_error *err);

#endif
