#include "wire/parse_json.h"

#include <jansson.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "google/protobuf/timestamp.pb-c.h"
#include "wire/build.h"
#include "wire/scalar_json.h"

/* One object that is being read into one message. */
struct level {
	ProtobufCMessage *message;
	json_t *object;
	void *key;     /* jansson's place in the object; NULL: at its end */
	uint64_t seen; /* fields that stood, by index */
	const ProtobufCFieldDescriptor *list; /* open array, or NULL */
	const json_t *items;
	size_t item;
};

struct parser {
	struct level stack[WD_MAX_WIRE_DEPTH];
	unsigned depth;
	size_t left; /* bytes of memory that the message may still take */
	struct wd_error *err;
};

static enum wd_status
refuse(struct parser *parser, enum wd_status status,
    const ProtobufCFieldDescriptor *field, const char *why)
{
	const struct level *level = &parser->stack[parser->depth - 1];

	return wd_fail(parser->err, status, "%s of %s: %s", field->name,
	    level->message->descriptor->short_name, why);
}

static enum wd_status
spend(struct parser *parser, size_t bytes)
{
	if (bytes > parser->left)
		return wd_fail(parser->err, WD_LIMIT,
		    "the message needs more memory than it is allowed");
	parser->left -= bytes;
	return WD_OK;
}

static enum wd_status
no_memory(struct parser *parser)
{
	return wd_fail(parser->err, WD_NOMEM, "out of memory");
}

/* ---- single values ------------------------------------------------------- */

static enum wd_status
set_text(struct parser *parser, const ProtobufCFieldDescriptor *field,
    const json_t *json, void *slot)
{
	const char *text = json_string_value(json);
	size_t len = json_string_length(json);
	enum wd_status st;
	char *copy;

	if (!json_is_string(json))
		return refuse(parser, WD_MALFORMED, field, "not a string");
	if (strlen(text) != len)
		return refuse(parser, WD_MALFORMED, field, "a NUL in a string");
	if ((st = spend(parser, len + 1)) != WD_OK)
		return st;
	if ((copy = wd_memdup0(text, len)) == NULL)
		return no_memory(parser);
	memcpy(slot, &copy, sizeof(copy));
	return WD_OK;
}

static enum wd_status
set_bytes(struct parser *parser, const ProtobufCFieldDescriptor *field,
    const json_t *json, void *slot)
{
	ProtobufCBinaryData bytes;
	size_t len = json_string_length(json);
	enum wd_status st;

	if (!json_is_string(json))
		return refuse(
		    parser, WD_MALFORMED, field, "not a string of base64");
	if ((st = spend(parser, len)) != WD_OK)
		return st;
	if ((bytes.data = wd_calloc(len + 1, 1)) == NULL)
		return no_memory(parser);
	if (!wd_scalar_base64(
		json_string_value(json), len, bytes.data, &bytes.len)) {
		wd_free(bytes.data);
		return refuse(parser, WD_MALFORMED, field, "not base64");
	}
	memcpy(slot, &bytes, sizeof(bytes));
	return WD_OK;
}

static enum wd_status
set_enum(struct parser *parser, const ProtobufCFieldDescriptor *field,
    const json_t *json, void *slot)
{
	const ProtobufCEnumDescriptor *type = field->descriptor;
	const ProtobufCEnumValue *value = NULL;
	uint64_t bits;

	if (json_is_string(json))
		value = protobuf_c_enum_descriptor_get_value_by_name(
		    type, json_string_value(json));
	else if (!wd_scalar_integer(json, INT32_MIN, INT32_MAX, &bits))
		return refuse(
		    parser, WD_MALFORMED, field, "neither a name nor a number");
	else
		value = protobuf_c_enum_descriptor_get_value(
		    type, (int)(int64_t)bits);
	if (value == NULL)
		return refuse(parser, WD_UNSUPPORTED, field,
		    "a value that this version does not know; ask a newer "
		    "agent, or leave it out");
	memcpy(slot, &value->value, sizeof(value->value));
	return WD_OK;
}

static enum wd_status
set_integer(struct parser *parser, const ProtobufCFieldDescriptor *field,
    const json_t *json, void *slot)
{
	bool is_wide = false, is_signed = false;
	int64_t least = 0;
	uint64_t most, bits;
	uint32_t narrow;

	if (field->type == PROTOBUF_C_TYPE_INT64 ||
	    field->type == PROTOBUF_C_TYPE_SINT64 ||
	    field->type == PROTOBUF_C_TYPE_SFIXED64)
		is_wide = is_signed = true;
	else if (field->type == PROTOBUF_C_TYPE_UINT64 ||
	    field->type == PROTOBUF_C_TYPE_FIXED64)
		is_wide = true;
	else if (field->type == PROTOBUF_C_TYPE_INT32 ||
	    field->type == PROTOBUF_C_TYPE_SINT32 ||
	    field->type == PROTOBUF_C_TYPE_SFIXED32)
		is_signed = true;
	most = is_wide ? (is_signed ? INT64_MAX : UINT64_MAX) :
			 (is_signed ? INT32_MAX : UINT32_MAX);
	if (is_signed)
		least = is_wide ? INT64_MIN : INT32_MIN;
	if (!wd_scalar_integer(json, least, most, &bits))
		return refuse(parser, WD_MALFORMED, field,
		    "not a whole number within its type");
	narrow = (uint32_t)bits;
	if (is_wide)
		memcpy(slot, &bits, sizeof(bits));
	else
		memcpy(slot, &narrow, sizeof(narrow));
	return WD_OK;
}

static enum wd_status
set_real(struct parser *parser, const ProtobufCFieldDescriptor *field,
    const json_t *json, void *slot)
{
	double number;
	float narrow;

	if (!wd_scalar_real(json, &number))
		return refuse(parser, WD_MALFORMED, field, "not a number");
	narrow = (float)number;
	if (field->type == PROTOBUF_C_TYPE_DOUBLE)
		memcpy(slot, &number, sizeof(number));
	else
		memcpy(slot, &narrow, sizeof(narrow));
	return WD_OK;
}

static enum wd_status
set_truth(struct parser *parser, const ProtobufCFieldDescriptor *field,
    const json_t *json, void *slot)
{
	protobuf_c_boolean truth = json_is_true(json);

	if (!json_is_boolean(json))
		return refuse(
		    parser, WD_MALFORMED, field, "neither true nor false");
	memcpy(slot, &truth, sizeof(truth));
	return WD_OK;
}

static enum wd_status
set_time(struct parser *parser, const ProtobufCFieldDescriptor *field,
    const json_t *json, ProtobufCMessage *message)
{
	Google__Protobuf__Timestamp *time =
	    (Google__Protobuf__Timestamp *)message;
	const char *text = json_string_value(json);

	if (text != NULL && strlen(text) == json_string_length(json) &&
	    wd_scalar_time(text, &time->seconds, &time->nanos))
		return WD_OK;
	return refuse(
	    parser, WD_MALFORMED, field, "not a time as RFC 3339 writes it");
}

/* The new message belongs to its parent from here on, whatever follows. */
static enum wd_status
set_message(struct parser *parser, const ProtobufCFieldDescriptor *field,
    json_t *json, void *slot)
{
	const ProtobufCMessageDescriptor *type = field->descriptor;
	struct wd_build build = wd_build_init();
	ProtobufCMessage *message;
	enum wd_status st = spend(parser, type->sizeof_message);

	if (st != WD_OK)
		return st;
	if ((message = wd_build_new(&build, type)) == NULL)
		return no_memory(parser);
	memcpy(slot, &message, sizeof(message));
	if (type == &google__protobuf__timestamp__descriptor)
		return set_time(parser, field, json, message);
	if (!json_is_object(json))
		return refuse(parser, WD_MALFORMED, field, "not an object");
	if (parser->depth == WD_MAX_WIRE_DEPTH)
		return refuse(parser, WD_LIMIT, field, "nested too deep");
	parser->stack[parser->depth++] = (struct level){ .message = message,
		.object = json,
		.key = json_object_iter(json) };
	return WD_OK;
}

static enum wd_status
set_value(struct parser *parser, const ProtobufCFieldDescriptor *field,
    json_t *json, void *slot)
{
	switch (field->type) {
	case PROTOBUF_C_TYPE_STRING:
		return set_text(parser, field, json, slot);
	case PROTOBUF_C_TYPE_BYTES:
		return set_bytes(parser, field, json, slot);
	case PROTOBUF_C_TYPE_ENUM:
		return set_enum(parser, field, json, slot);
	case PROTOBUF_C_TYPE_BOOL:
		return set_truth(parser, field, json, slot);
	case PROTOBUF_C_TYPE_FLOAT:
	case PROTOBUF_C_TYPE_DOUBLE:
		return set_real(parser, field, json, slot);
	case PROTOBUF_C_TYPE_MESSAGE:
		return set_message(parser, field, json, slot);
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_SFIXED32:
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_FIXED32:
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
	default:
		return set_integer(parser, field, json, slot);
	}
}

/* ---- arrays -------------------------------------------------------------- */

static size_t
item_size(const ProtobufCFieldDescriptor *field)
{
	switch (field->type) {
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_MESSAGE:
		return sizeof(void *);
	case PROTOBUF_C_TYPE_BYTES:
		return sizeof(ProtobufCBinaryData);
	case PROTOBUF_C_TYPE_BOOL:
		return sizeof(protobuf_c_boolean);
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
	case PROTOBUF_C_TYPE_DOUBLE:
		return 8;
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_SFIXED32:
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_FIXED32:
	case PROTOBUF_C_TYPE_FLOAT:
	case PROTOBUF_C_TYPE_ENUM:
	default:
		return 4;
	}
}

static void *
place(ProtobufCMessage *message, unsigned offset)
{
	return (char *)message + offset;
}

/* Room for all items at once; they come into being one by one. */
static enum wd_status
open_list(struct parser *parser, struct level *level,
    const ProtobufCFieldDescriptor *field, const json_t *json)
{
	size_t count = json_array_size(json);
	enum wd_status st;
	void *items;

	if (!json_is_array(json))
		return refuse(parser, WD_MALFORMED, field, "not an array");
	if (count == 0)
		return WD_OK;
	/* The tree that holds the items is larger than the array. */
	if ((st = spend(parser, count * item_size(field))) != WD_OK)
		return st;
	if ((items = wd_calloc(count, item_size(field))) == NULL)
		return no_memory(parser);
	memcpy(place(level->message, field->offset), &items, sizeof(items));
	level->list = field;
	level->items = json;
	level->item = 0;
	return WD_OK;
}

static enum wd_status
step_list(struct parser *parser, struct level *level)
{
	const ProtobufCFieldDescriptor *field = level->list;
	json_t *json = json_array_get(level->items, level->item);
	size_t size = item_size(field), *count;
	uint64_t value[2] = { 0, 0 }; /* large enough for any item */
	enum wd_status st;
	char *items;

	if (json == NULL) {
		level->list = NULL;
		return WD_OK;
	}
	memcpy(&items, place(level->message, field->offset), sizeof(items));
	count = place(level->message, field->quantifier_offset);
	st = set_value(parser, field, json, value);
	/* Also a failed submessage is the array's, to be freed with it. */
	if (st != WD_OK &&
	    (field->type != PROTOBUF_C_TYPE_MESSAGE || value[0] == 0))
		return st;
	memcpy(items + size * level->item++, value, size);
	(*count)++;
	return st;
}

/* ---- fields -------------------------------------------------------------- */

/* Whether `key` is the field's name in lowerCamelCase. */
static bool
is_camel(const char *name, const char *key)
{
	for (; *name != '\0'; name++, key++) {
		char wanted = *name;

		if (wanted == '_' && name[1] != '\0') {
			wanted = *++name;
			if (wanted >= 'a' && wanted <= 'z')
				wanted = (char)(wanted - 'a' + 'A');
		}
		if (*key != wanted)
			return false;
	}
	return *key == '\0';
}

static const ProtobufCFieldDescriptor *
find_field(const ProtobufCMessageDescriptor *type, const char *key)
{
	unsigned i;

	for (i = 0; i < type->n_fields; i++)
		if (strcmp(type->fields[i].name, key) == 0 ||
		    is_camel(type->fields[i].name, key))
			return &type->fields[i];
	return NULL;
}

/* Notes that the field stood; a oneof stands with any of its members. */
static enum wd_status
mark(struct parser *parser, struct level *level,
    const ProtobufCFieldDescriptor *field, bool is_null)
{
	const ProtobufCMessageDescriptor *type = level->message->descriptor;
	uint64_t bit = UINT64_C(1) << (field - type->fields);
	int32_t *which;

	if (type->n_fields > WD_MAX_WIRE_FIELDS)
		return refuse(
		    parser, WD_LIMIT, field, "its message is too large");
	if ((level->seen & bit) != 0)
		return refuse(parser, WD_MALFORMED, field,
		    "stands twice, under both of its names");
	level->seen |= bit;
	if (is_null || (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) == 0)
		return WD_OK;
	which = place(level->message, field->quantifier_offset);
	if (*which != 0)
		return refuse(
		    parser, WD_MALFORMED, field, "two members of one choice");
	return WD_OK;
}

/* The case is set only with the value, so that a message that is freed half
 * way holds nothing of another member. */
static enum wd_status
set_field(struct parser *parser, struct level *level,
    const ProtobufCFieldDescriptor *field, json_t *json)
{
	void *slot = place(level->message, field->offset);
	int32_t *which = place(level->message, field->quantifier_offset);
	bool is_one = (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
	enum wd_status st;

	if (is_one && field->type == PROTOBUF_C_TYPE_MESSAGE)
		*which = (int32_t)field->id;
	st = set_value(parser, field, json, slot);
	if (is_one && st == WD_OK)
		*which = (int32_t)field->id;
	return st;
}

static enum wd_status
step_field(struct parser *parser, struct level *level)
{
	const ProtobufCFieldDescriptor *field;
	const char *key;
	json_t *json;
	char shown[96];
	enum wd_status st;

	if (level->key == NULL) {
		parser->depth--;
		return WD_OK;
	}
	key = json_object_iter_key(level->key);
	json = json_object_iter_value(level->key);
	level->key = json_object_iter_next(level->object, level->key);
	field = find_field(level->message->descriptor, key);
	if (field == NULL)
		return wd_fail(parser->err, WD_UNSUPPORTED,
		    "%s has no field \"%s\" that this version knows; ask a "
		    "newer agent, or leave it out",
		    level->message->descriptor->short_name,
		    wd_escape_short(shown, sizeof(shown), wd_slice_text(key)));
	st = mark(parser, level, field, json_is_null(json));
	if (st != WD_OK || json_is_null(json))
		return st;
	if (field->label == PROTOBUF_C_LABEL_REPEATED)
		return open_list(parser, level, field, json);
	return set_field(parser, level, field, json);
}

static enum wd_status
fill(struct parser *parser)
{
	enum wd_status st = WD_OK;

	while (st == WD_OK && parser->depth > 0) {
		struct level *level = &parser->stack[parser->depth - 1];

		st = level->list != NULL ? step_list(parser, level) :
					   step_field(parser, level);
	}
	return st;
}

enum wd_status
wd_message_parse_json(const ProtobufCMessageDescriptor *type,
    struct wd_slice text, size_t max_memory, ProtobufCMessage **message,
    struct wd_error *err)
{
	struct parser parser = { .left = max_memory, .err = err };
	struct wd_build build = wd_build_init();
	WD_CLEANUP(wd_json_free) json_t *root = NULL;
	WD_CLEANUP(wd_message_free_scoped) ProtobufCMessage *made = NULL;
	enum wd_status st = wd_json_parse(text, max_memory, &root, err);

	if (st != WD_OK)
		return st;
	if (!json_is_object(root))
		return wd_fail(err, WD_MALFORMED, "a message is a JSON object");
	if ((made = wd_build_new(&build, type)) == NULL)
		return no_memory(&parser);
	parser.stack[parser.depth++] = (struct level){
		.message = made, .object = root, .key = json_object_iter(root)
	};
	st = fill(&parser);
	if (st == WD_OK)
		*message = wd_steal(&made);
	return st;
}
