#include "wire/validate.h"

#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "base/limits.h"

/* Wire types; 3 and 4 were groups, which proto3 does not have. */
enum wire_type { VARINT = 0, FIXED64 = 1, LENGTH = 2, FIXED32 = 5 };

#define MAX_FIELD_NUMBER ((1U << 29) - 1)

struct level {
	const ProtobufCMessageDescriptor *type;
	size_t end;    /* offset behind its last byte */
	uint64_t seen; /* by index of the field */
};

struct walk {
	struct wd_cursor at;
	enum wd_wire_unknown unknown;
	struct level stack[WD_MAX_WIRE_DEPTH];
	unsigned depth;
	struct wd_error *err;
};

/* One field as it stands on the wire. */
struct tag {
	size_t at;
	uint32_t number;
	unsigned wire_type;
	const ProtobufCFieldDescriptor *field; /* NULL: not in the schema */
};

static struct level *
top(struct walk *walk)
{
	return &walk->stack[walk->depth - 1];
}

static enum wd_status
refuse(struct walk *walk, const struct tag *tag, enum wd_status status,
    const char *why)
{
	const char *type = top(walk)->type->short_name;

	if (tag->field == NULL)
		return wd_fail_at(walk->err, status, tag->at,
		    "field %" PRIu32 " of %s: %s", tag->number, type, why);
	return wd_fail_at(walk->err, status, tag->at, "%s of %s: %s",
	    tag->field->name, type, why);
}

/* ---- reading within a level ---------------------------------------------- */

static size_t
left(struct walk *walk, size_t end)
{
	return end - walk->at.at;
}

static enum wd_status
read_varint(struct walk *walk, size_t end, uint64_t *value)
{
	uint64_t result = 0;
	unsigned i;

	for (i = 0; i < 10; i++) {
		uint8_t byte;

		if (left(walk, end) == 0)
			return WD_TRUNCATED;
		byte = walk->at.data[walk->at.at++];
		if (i == 9 && byte > 1)
			return WD_MALFORMED;
		result |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte < 0x80) {
			*value = result;
			return WD_OK;
		}
	}
	return WD_MALFORMED;
}

static enum wd_status
skip(struct walk *walk, size_t end, size_t len)
{
	if (left(walk, end) < len)
		return WD_TRUNCATED;
	walk->at.at += len;
	return WD_OK;
}

/* ---- one value ----------------------------------------------------------- */

static unsigned
wire_type_of(ProtobufCType type)
{
	switch (type) {
	case PROTOBUF_C_TYPE_FIXED64:
	case PROTOBUF_C_TYPE_SFIXED64:
	case PROTOBUF_C_TYPE_DOUBLE:
		return FIXED64;
	case PROTOBUF_C_TYPE_FIXED32:
	case PROTOBUF_C_TYPE_SFIXED32:
	case PROTOBUF_C_TYPE_FLOAT:
		return FIXED32;
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_BYTES:
	case PROTOBUF_C_TYPE_MESSAGE:
		return LENGTH;
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_BOOL:
	case PROTOBUF_C_TYPE_ENUM:
	default:
		return VARINT;
	}
}

/* A number that a narrower reader would cut to another one. Negative numbers
 * of 32 bits are written with all 64. */
static bool
is_too_wide(ProtobufCType type, uint64_t value)
{
	if (type == PROTOBUF_C_TYPE_UINT32 || type == PROTOBUF_C_TYPE_SINT32)
		return value > UINT32_MAX;
	if (type == PROTOBUF_C_TYPE_INT32 || type == PROTOBUF_C_TYPE_ENUM)
		return value > INT32_MAX &&
		    value < UINT64_C(0xffffffff80000000);
	return type == PROTOBUF_C_TYPE_BOOL && value > 1;
}

static enum wd_status
check_varint(struct walk *walk, const struct tag *tag, uint64_t value)
{
	const ProtobufCFieldDescriptor *field = tag->field;

	if (is_too_wide(field->type, value))
		return refuse(
		    walk, tag, WD_MALFORMED, "a number beyond its type");
	if (field->type == PROTOBUF_C_TYPE_ENUM &&
	    walk->unknown == WD_WIRE_REFUSE_UNKNOWN &&
	    protobuf_c_enum_descriptor_get_value(
		field->descriptor, (int)(int64_t)value) == NULL)
		return refuse(walk, tag, WD_UNSUPPORTED,
		    "a value that this version does not know; ask a newer "
		    "agent, or leave it out");
	return WD_OK;
}

/* A value that is not preceded by its length. */
static enum wd_status
walk_number(
    struct walk *walk, const struct tag *tag, unsigned wire_type, size_t end)
{
	uint64_t value = 0;
	enum wd_status st;

	if (wire_type == FIXED64)
		st = skip(walk, end, 8);
	else if (wire_type == FIXED32)
		st = skip(walk, end, 4);
	else
		st = read_varint(walk, end, &value);
	if (st != WD_OK)
		return refuse(walk, tag, st, "not a whole number");
	if (wire_type != VARINT || tag->field == NULL)
		return WD_OK;
	return check_varint(walk, tag, value);
}

static enum wd_status
walk_packed(struct walk *walk, const struct tag *tag, size_t end)
{
	unsigned wire_type = wire_type_of(tag->field->type);
	enum wd_status st = WD_OK;

	while (st == WD_OK && left(walk, end) > 0)
		st = walk_number(walk, tag, wire_type, end);
	return st;
}

static enum wd_status
check_text(struct walk *walk, const struct tag *tag, struct wd_slice text)
{
	if (!wd_utf8_valid(text))
		return refuse(walk, tag, WD_MALFORMED, "not UTF-8");
	if (text.len > 0 && memchr(text.data, '\0', text.len) != NULL)
		return refuse(walk, tag, WD_MALFORMED, "a NUL in a string");
	return WD_OK;
}

static enum wd_status
enter(struct walk *walk, const struct tag *tag, size_t end)
{
	const ProtobufCMessageDescriptor *type = tag->field->descriptor;

	if (walk->depth == WD_MAX_WIRE_DEPTH)
		return refuse(walk, tag, WD_LIMIT, "nested too deep");
	walk->stack[walk->depth++] = (struct level){ .type = type, .end = end };
	return WD_OK;
}

static enum wd_status
walk_bytes(struct walk *walk, const struct tag *tag)
{
	uint64_t len = 0;
	size_t start;
	enum wd_status st = read_varint(walk, top(walk)->end, &len);

	if (st == WD_OK && len > left(walk, top(walk)->end))
		st = WD_TRUNCATED;
	if (st != WD_OK)
		return refuse(walk, tag, st, "a length beyond the end");
	start = walk->at.at;
	if (tag->field != NULL && tag->field->type == PROTOBUF_C_TYPE_MESSAGE)
		return enter(walk, tag, start + (size_t)len);
	if (tag->field != NULL && wire_type_of(tag->field->type) != LENGTH)
		return walk_packed(walk, tag, start + (size_t)len);
	walk->at.at += (size_t)len;
	if (tag->field == NULL || tag->field->type != PROTOBUF_C_TYPE_STRING)
		return WD_OK;
	return check_text(
	    walk, tag, (struct wd_slice){ walk->at.data + start, (size_t)len });
}

/* ---- one field ----------------------------------------------------------- */

static bool
is_oneof(const ProtobufCFieldDescriptor *field)
{
	return (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
}

/* Fields of which at most one may stand, as bits: the field itself, and the
 * other members of its oneof. */
static uint64_t
rivals(const ProtobufCMessageDescriptor *type,
    const ProtobufCFieldDescriptor *field)
{
	uint64_t bits = UINT64_C(1) << (field - type->fields);
	unsigned i;

	if (!is_oneof(field))
		return bits;
	for (i = 0; i < type->n_fields; i++)
		if (is_oneof(&type->fields[i]) &&
		    type->fields[i].quantifier_offset ==
			field->quantifier_offset)
			bits |= UINT64_C(1) << i;
	return bits;
}

static enum wd_status
check_once(struct walk *walk, const struct tag *tag)
{
	struct level *level = top(walk);
	uint64_t bits;

	if (level->type->n_fields > WD_MAX_WIRE_FIELDS)
		return refuse(walk, tag, WD_LIMIT, "its message is too large");
	if (tag->field->label == PROTOBUF_C_LABEL_REPEATED)
		return WD_OK;
	bits = rivals(level->type, tag->field);
	if ((level->seen & bits) != 0)
		return refuse(walk, tag, WD_MALFORMED,
		    is_oneof(tag->field) ? "two members of one choice" :
					   "stands twice");
	level->seen |= bits;
	return WD_OK;
}

static enum wd_status
read_tag(struct walk *walk, struct tag *tag)
{
	uint64_t key = 0;
	enum wd_status st;

	*tag = (struct tag){ .at = walk->at.at };
	st = read_varint(walk, top(walk)->end, &key);
	if (st != WD_OK)
		return refuse(walk, tag, st, "not a whole tag");
	if (key >> 3 == 0 || key >> 3 > MAX_FIELD_NUMBER)
		return refuse(walk, tag, WD_MALFORMED, "no field number");
	tag->number = (uint32_t)(key >> 3);
	tag->wire_type = (unsigned)(key & 7);
	tag->field = protobuf_c_message_descriptor_get_field(
	    top(walk)->type, tag->number);
	return WD_OK;
}

static bool
fits(const struct tag *tag)
{
	unsigned own;

	if (tag->field == NULL)
		return tag->wire_type == VARINT || tag->wire_type == FIXED64 ||
		    tag->wire_type == LENGTH || tag->wire_type == FIXED32;
	own = wire_type_of(tag->field->type);
	return tag->wire_type == own ||
	    (tag->wire_type == LENGTH &&
		tag->field->label == PROTOBUF_C_LABEL_REPEATED);
}

static enum wd_status
walk_field(struct walk *walk)
{
	struct tag tag;
	enum wd_status st = read_tag(walk, &tag);

	if (st != WD_OK)
		return st;
	if (tag.field == NULL && walk->unknown == WD_WIRE_REFUSE_UNKNOWN)
		return refuse(walk, &tag, WD_UNSUPPORTED,
		    "this version does not know it; ask a newer agent, or "
		    "leave it out");
	if (!fits(&tag))
		return refuse(
		    walk, &tag, WD_MALFORMED, "not the field's wire type");
	if (tag.field != NULL)
		st = check_once(walk, &tag);
	if (st != WD_OK)
		return st;
	if (tag.wire_type == LENGTH)
		return walk_bytes(walk, &tag);
	return walk_number(walk, &tag, tag.wire_type, top(walk)->end);
}

enum wd_status
wd_wire_check(const ProtobufCMessageDescriptor *type, struct wd_slice bytes,
    enum wd_wire_unknown unknown, struct wd_error *err)
{
	struct walk walk = { .at = wd_cursor_of(bytes),
		.unknown = unknown,
		.depth = 1,
		.err = err };
	enum wd_status st = WD_OK;

	walk.stack[0] = (struct level){ .type = type, .end = bytes.len };
	while (st == WD_OK && walk.depth > 0) {
		if (left(&walk, top(&walk)->end) == 0)
			walk.depth--;
		else
			st = walk_field(&walk);
	}
	return st;
}
