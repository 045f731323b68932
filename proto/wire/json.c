#include "wire/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/slice.h"
#include "google/protobuf/timestamp.pb-c.h"

/* One message that is being printed. The printer keeps a stack of them
 * instead of calling itself. */
struct level {
	const ProtobufCMessage *message;
	unsigned field; /* next one to look at */
	bool has_printed;
	const ProtobufCFieldDescriptor *list; /* open array, or NULL */
	size_t item;                          /* next one of the array */
};

struct printer {
	struct wd_buf *out;
	bool is_indented;
	struct level stack[WD_MESSAGE_JSON_DEPTH];
	unsigned depth;  /* levels in use */
	unsigned margin; /* open brackets */
	struct wd_error *err;
};

/* ---- scalars ------------------------------------------------------------- */

static void
print_char(struct wd_buf *out, const uint8_t *bytes, size_t len, uint32_t code)
{
	if (code == '"' || code == '\\')
		(void)wd_buf_printf(out, "\\%c", (char)code);
	else if (code == '\n')
		(void)wd_buf_text(out, "\\n");
	else if (code == '\t')
		(void)wd_buf_text(out, "\\t");
	else if (wd_code_point_plain(code))
		(void)wd_buf_append(out, bytes, len);
	else if (code < 0x10000)
		(void)wd_buf_printf(out, "\\u%04" PRIx32, code);
	else
		(void)wd_buf_printf(out, "\\u%04" PRIx32 "\\u%04" PRIx32,
		    0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff));
}

void
wd_json_print_text(const char *text, struct wd_buf *out)
{
	struct wd_slice rest = wd_slice_text(text == NULL ? "" : text);

	(void)wd_buf_byte(out, '"');
	while (rest.len > 0 && out->status == WD_OK) {
		uint32_t code = 0xfffd;
		size_t len = wd_utf8_char(rest, &code);

		if (len == 0) {
			(void)wd_buf_text(out, "\xef\xbf\xbd");
			len = 1;
		} else {
			print_char(out, rest.data, len, code);
		}
		rest.data += len;
		rest.len -= len;
	}
	(void)wd_buf_byte(out, '"');
}

/* RFC 4648, section 4: the standard alphabet, with padding. */
static void
print_base64(struct wd_buf *out, const ProtobufCBinaryData *bytes)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t i;

	(void)wd_buf_byte(out, '"');
	for (i = 0; i < bytes->len && out->status == WD_OK; i += 3) {
		const uint8_t *p = bytes->data + i;
		size_t left = bytes->len - i;
		uint32_t group = (uint32_t)p[0] << 16 |
		    (left > 1 ? (uint32_t)p[1] << 8 : 0) |
		    (left > 2 ? p[2] : 0);
		char text[4] = {
			digits[group >> 18],
			digits[group >> 12 & 63],
			left > 1 ? digits[group >> 6 & 63] : '=',
			left > 2 ? digits[group & 63] : '=',
		};

		(void)wd_buf_append(out, text, sizeof(text));
	}
	(void)wd_buf_byte(out, '"');
}

/* The shortest of 15 to 17 (float: 6 to 9) digits that reads back as the same
 * number. */
static void
print_real(struct wd_buf *out, double number, bool is_float)
{
	int digits = is_float ? 6 : 15, most = is_float ? 9 : 17;
	char text[40];

	if (isnan(number)) {
		(void)wd_buf_text(out, "\"NaN\"");
		return;
	}
	if (isinf(number)) {
		(void)wd_buf_text(
		    out, number > 0 ? "\"Infinity\"" : "\"-Infinity\"");
		return;
	}
	for (; digits <= most; digits++) {
		(void)snprintf(text, sizeof(text), "%.*g", digits, number);
		if (is_float ? strtof(text, NULL) == (float)number :
			       !(strtod(text, NULL) < number) &&
			    !(strtod(text, NULL) > number))
			break;
	}
	(void)wd_buf_text(out, text);
}

static void
print_enum(struct wd_buf *out, const ProtobufCEnumDescriptor *type, int number)
{
	const ProtobufCEnumValue *value =
	    protobuf_c_enum_descriptor_get_value(type, number);

	if (value == NULL)
		(void)wd_buf_printf(out, "%d", number);
	else
		(void)wd_buf_printf(out, "\"%s\"", value->name);
}

/* ---- google.protobuf.Timestamp ------------------------------------------- */

#define SECONDS_OF_YEAR_1 INT64_C(-62135596800)
#define SECONDS_OF_YEAR_9999 INT64_C(253402300799)

/* Proleptic Gregorian date of a day number since 1970; years begin in March
 * inside, so that the leap day is the last of its year. */
static void
civil_date(int64_t days, int64_t *year, int64_t *month, int64_t *day)
{
	int64_t from_0 = days + 719468; /* since 0000-03-01; positive here */
	int64_t era = from_0 / 146097;
	int64_t of_era = from_0 % 146097;
	int64_t year_of_era =
	    (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year =
	    of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	int64_t march_month = (5 * of_year + 2) / 153;

	*day = of_year - (153 * march_month + 2) / 5 + 1;
	*month = march_month < 10 ? march_month + 3 : march_month - 9;
	*year = year_of_era + era * 400 + (*month <= 2 ? 1 : 0);
}

static void
print_fraction(struct wd_buf *out, int32_t nanos)
{
	if (nanos % 1000000 == 0 && nanos != 0)
		(void)wd_buf_printf(out, ".%03" PRId32, nanos / 1000000);
	else if (nanos % 1000 == 0 && nanos != 0)
		(void)wd_buf_printf(out, ".%06" PRId32, nanos / 1000);
	else if (nanos != 0)
		(void)wd_buf_printf(out, ".%09" PRId32, nanos);
}

enum wd_status
wd_message_print_time(const Google__Protobuf__Timestamp *time,
    struct wd_buf *out, struct wd_error *err)
{
	int64_t days, of_day, year, month, day;

	if (time->seconds < SECONDS_OF_YEAR_1 ||
	    time->seconds > SECONDS_OF_YEAR_9999 || time->nanos < 0 ||
	    time->nanos > 999999999)
		return wd_fail(err, WD_INVALID,
		    "timestamp of %" PRId64 " s and %" PRId32
		    " ns: only the years 1 to 9999 can be written",
		    time->seconds, time->nanos);
	days = time->seconds / 86400;
	of_day = time->seconds % 86400;
	if (of_day < 0) {
		of_day += 86400;
		days--;
	}
	civil_date(days, &year, &month, &day);
	(void)wd_buf_printf(out,
	    "%04" PRId64 "-%02" PRId64 "-%02" PRId64 "T%02" PRId64 ":%02" PRId64
	    ":%02" PRId64,
	    year, month, day, of_day / 3600, of_day / 60 % 60, of_day % 60);
	print_fraction(out, time->nanos);
	return wd_buf_byte(out, 'Z');
}

static enum wd_status
print_timestamp(struct printer *printer, const ProtobufCMessage *message)
{
	enum wd_status st;

	(void)wd_buf_byte(printer->out, '"');
	st = wd_message_print_time((const Google__Protobuf__Timestamp *)message,
	    printer->out, printer->err);
	(void)wd_buf_byte(printer->out, '"');
	return st;
}

static bool
is_timestamp(const ProtobufCMessage *message)
{
	return strcmp(message->descriptor->name, "google.protobuf.Timestamp") ==
	    0;
}

/* ---- fields -------------------------------------------------------------- */

static void
print_name(struct wd_buf *out, const char *name)
{
	(void)wd_buf_byte(out, '"');
	for (; *name != '\0'; name++) {
		bool is_upper = *name == '_' && name[1] != '\0';
		char c;

		if (is_upper)
			name++;
		c = *name;
		if (is_upper && c >= 'a' && c <= 'z')
			c = (char)(c - 'a' + 'A');
		(void)wd_buf_byte(out, (uint8_t)c);
	}
	(void)wd_buf_byte(out, '"');
}

static const void *
member(const ProtobufCMessage *message, unsigned offset)
{
	return (const char *)message + offset;
}

static bool
is_message(const ProtobufCFieldDescriptor *field)
{
	return field->type == PROTOBUF_C_TYPE_MESSAGE;
}

/* The size of one value of the field in memory. */
static size_t
value_size(const ProtobufCFieldDescriptor *field)
{
	switch (field->type) {
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
	case PROTOBUF_C_TYPE_DOUBLE:
		return 8;
	case PROTOBUF_C_TYPE_BOOL:
		return sizeof(protobuf_c_boolean);
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_MESSAGE:
		return sizeof(void *);
	case PROTOBUF_C_TYPE_BYTES:
		return sizeof(ProtobufCBinaryData);
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

static const void *
pointer_at(const void *value)
{
	const void *pointer;

	memcpy(&pointer, value, sizeof(pointer));
	return pointer;
}

/* Whether a field without presence holds its default. */
static bool
is_default(const ProtobufCFieldDescriptor *field, const void *value)
{
	static const char zeros[8];
	const char *text;

	if (field->type == PROTOBUF_C_TYPE_BYTES)
		return ((const ProtobufCBinaryData *)value)->len == 0;
	if (field->type == PROTOBUF_C_TYPE_MESSAGE)
		return pointer_at(value) == NULL;
	if (field->type != PROTOBUF_C_TYPE_STRING)
		return memcmp(value, zeros, value_size(field)) == 0;
	text = pointer_at(value);
	return text == NULL || text[0] == '\0';
}

/* Whether the field is to be printed. */
static bool
is_there(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
	const void *quantifier = member(message, field->quantifier_offset);
	const void *value = member(message, field->offset);
	size_t count;
	int32_t which;

	if (field->label == PROTOBUF_C_LABEL_REPEATED) {
		memcpy(&count, quantifier, sizeof(count));
		return count > 0;
	}
	if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0) {
		memcpy(&which, quantifier, sizeof(which));
		return which == (int32_t)field->id &&
		    !(is_message(field) && pointer_at(value) == NULL);
	}
	return !is_default(field, value);
}

/* Prints one value that is not a message. */
static void
print_scalar(struct wd_buf *out, const ProtobufCFieldDescriptor *field,
    const void *value)
{
	switch (field->type) {
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_SFIXED32:
		(void)wd_buf_printf(out, "%" PRId32, *(const int32_t *)value);
		return;
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_FIXED32:
		(void)wd_buf_printf(out, "%" PRIu32, *(const uint32_t *)value);
		return;
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
		(void)wd_buf_printf(
		    out, "\"%" PRId64 "\"", *(const int64_t *)value);
		return;
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
		(void)wd_buf_printf(
		    out, "\"%" PRIu64 "\"", *(const uint64_t *)value);
		return;
	case PROTOBUF_C_TYPE_FLOAT:
		print_real(out, (double)*(const float *)value, true);
		return;
	case PROTOBUF_C_TYPE_DOUBLE:
		print_real(out, *(const double *)value, false);
		return;
	case PROTOBUF_C_TYPE_BOOL:
		(void)wd_buf_text(
		    out, *(const protobuf_c_boolean *)value ? "true" : "false");
		return;
	case PROTOBUF_C_TYPE_ENUM:
		print_enum(out, field->descriptor, *(const int *)value);
		return;
	case PROTOBUF_C_TYPE_STRING:
		wd_json_print_text(pointer_at(value), out);
		return;
	case PROTOBUF_C_TYPE_BYTES:
		print_base64(out, value);
		return;
	case PROTOBUF_C_TYPE_MESSAGE:
		return;
	}
}

/* ---- structure ----------------------------------------------------------- */

static void
print_line(struct printer *printer)
{
	unsigned i;

	if (!printer->is_indented)
		return;
	(void)wd_buf_byte(printer->out, '\n');
	for (i = 0; i < printer->margin; i++)
		(void)wd_buf_text(printer->out, "  ");
}

static void
print_separator(struct printer *printer, bool is_first)
{
	if (!is_first)
		(void)wd_buf_byte(printer->out, ',');
	print_line(printer);
}

static void
open_bracket(struct printer *printer, char bracket)
{
	(void)wd_buf_byte(printer->out, (uint8_t)bracket);
	printer->margin++;
}

static void
close_bracket(struct printer *printer, char bracket, bool is_empty)
{
	printer->margin--;
	if (!is_empty)
		print_line(printer);
	(void)wd_buf_byte(printer->out, (uint8_t)bracket);
}

static enum wd_status
open_message(struct printer *printer, const ProtobufCMessage *message)
{
	if (message == NULL)
		return wd_buf_text(printer->out, "null");
	if (is_timestamp(message))
		return print_timestamp(printer, message);
	if (printer->depth == WD_MESSAGE_JSON_DEPTH)
		return wd_fail(printer->err, WD_LIMIT,
		    "message nested deeper than %d", WD_MESSAGE_JSON_DEPTH);
	printer->stack[printer->depth++] = (struct level){ .message = message };
	open_bracket(printer, '{');
	return WD_OK;
}

static enum wd_status
print_value(struct printer *printer, const ProtobufCFieldDescriptor *field,
    const void *value)
{
	if (is_message(field))
		return open_message(printer, pointer_at(value));
	print_scalar(printer->out, field, value);
	return printer->out->status;
}

/* The next item of the open array, or its end. */
static enum wd_status
step_list(struct printer *printer, struct level *level)
{
	const ProtobufCFieldDescriptor *field = level->list;
	const char *items = pointer_at(member(level->message, field->offset));
	size_t count, at = level->item++;

	memcpy(&count, member(level->message, field->quantifier_offset),
	    sizeof(count));
	if (at == count) {
		level->list = NULL;
		close_bracket(printer, ']', false);
		return WD_OK;
	}
	print_separator(printer, at == 0);
	return print_value(printer, field, items + at * value_size(field));
}

/* The next field of the message, or its end. */
static enum wd_status
step_field(struct printer *printer, struct level *level)
{
	const ProtobufCMessageDescriptor *type = level->message->descriptor;
	const ProtobufCFieldDescriptor *field;

	while (level->field < type->n_fields &&
	    !is_there(level->message, &type->fields[level->field]))
		level->field++;
	if (level->field == type->n_fields) {
		printer->depth--;
		close_bracket(printer, '}', !level->has_printed);
		return WD_OK;
	}
	field = &type->fields[level->field++];
	print_separator(printer, !level->has_printed);
	level->has_printed = true;
	print_name(printer->out, field->name);
	(void)wd_buf_text(printer->out, printer->is_indented ? ": " : ":");
	if (field->label != PROTOBUF_C_LABEL_REPEATED)
		return print_value(
		    printer, field, member(level->message, field->offset));
	level->list = field;
	level->item = 0;
	open_bracket(printer, '[');
	return WD_OK;
}

enum wd_status
wd_message_print_json(const ProtobufCMessage *message,
    enum wd_message_json_style style, struct wd_buf *out, struct wd_error *err)
{
	struct printer printer = {
		.out = out, .is_indented = style == WD_JSON_INDENTED, .err = err
	};
	enum wd_status st = open_message(&printer, message);

	while (st == WD_OK && out->status == WD_OK && printer.depth > 0) {
		struct level *level = &printer.stack[printer.depth - 1];

		st = level->list != NULL ? step_list(&printer, level) :
					   step_field(&printer, level);
	}
	if (st == WD_OK && style == WD_JSON_INDENTED)
		(void)wd_buf_byte(out, '\n');
	if (out->status != WD_OK)
		return wd_fail(err, out->status, "JSON of %s: %s",
		    message->descriptor->name,
		    out->status == WD_LIMIT ? "larger than allowed" :
					      "no memory");
	return st;
}
