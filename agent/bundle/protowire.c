#include "bundle/protowire.h"

#include <string.h>

#include "base/mem.h"

/* Behind a skip little is read: between two tensors of a model stand a few
 * dozen bytes. In sequence more and more is. */
#define LEAST_FILL 4096
#define MOST_FILL 65536

enum wd_status
wd_wire_init(struct wd_wire *wire, const struct wd_source *source, uint64_t cap,
    struct wd_error *err)
{
	*wire = (struct wd_wire){ .source = source,
		.fill = LEAST_FILL,
		.cap = cap,
		.status = WD_OK,
		.err = err };
	wire->bytes = wd_calloc(MOST_FILL, 1);
	if (wire->bytes == NULL)
		return wd_fail(err, WD_NOMEM, "no memory to read the file");
	return WD_OK;
}

void
wd_wire_release(struct wd_wire *wire)
{
	wd_free(wire->bytes);
	wire->bytes = NULL;
}

uint64_t
wd_wire_at(const struct wd_wire *wire)
{
	return wire->base + wire->at;
}

void
wd_wire_seek(struct wd_wire *wire, uint64_t offset)
{
	if (offset >= wire->base && offset - wire->base <= wire->len) {
		wire->at = (size_t)(offset - wire->base);
		return;
	}
	wire->base = offset;
	wire->len = 0;
	wire->at = 0;
	wire->fill = LEAST_FILL;
}

enum wd_status
wd_wire_fail(struct wd_wire *wire, enum wd_status status, uint64_t offset,
    const char *text)
{
	if (wire->status == WD_OK)
		wire->status =
		    wd_fail_at(wire->err, status, offset, "%s", text);
	return wire->status;
}

/* Reads on where the buffer ends; all of it was consumed. */
static bool
fill(struct wd_wire *wire)
{
	size_t want = wire->fill, got = 0;
	enum wd_status st;

	wire->base += wire->len;
	wire->len = 0;
	wire->at = 0;
	if (want > wire->cap) {
		(void)wd_wire_fail(wire, WD_LIMIT, wire->base,
		    "what stands beside the tensors is larger than any known "
		    "model's");
		return false;
	}
	st = wire->source->read(
	    wire->source->ctx, wire->base, wire->bytes, want, &got, wire->err);
	if (st != WD_OK) {
		wire->status = st;
		return false;
	}
	if (got == 0) {
		(void)wd_wire_fail(wire, WD_TRUNCATED, wire->base,
		    "the file has become shorter while it was read");
		return false;
	}
	wire->len = got;
	wire->cap -= got;
	wire->fill = want < MOST_FILL ? want * 4 : MOST_FILL;
	return true;
}

/* The next byte of the message; false when it has none left. */
static bool
take(struct wd_wire *wire, uint64_t end, uint8_t *byte)
{
	if (wire->status != WD_OK)
		return false;
	if (wd_wire_at(wire) >= end) {
		(void)wd_wire_fail(wire, WD_MALFORMED, wd_wire_at(wire),
		    "a field ends behind the message that it stands in");
		return false;
	}
	if (wire->at == wire->len && !fill(wire))
		return false;
	*byte = wire->bytes[wire->at++];
	return true;
}

uint64_t
wd_wire_varint(struct wd_wire *wire, uint64_t end)
{
	uint64_t value = 0;
	unsigned shift;
	uint8_t byte;

	for (shift = 0; shift < 64; shift += 7) {
		if (!take(wire, end, &byte))
			return 0;
		/* The tenth byte has room for one bit. */
		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	(void)wd_wire_fail(wire, WD_MALFORMED, wd_wire_at(wire) - 1,
	    "a number has more than 64 bits");
	return 0;
}

static uint64_t
fixed(struct wd_wire *wire, uint64_t end, unsigned size)
{
	uint64_t value = 0;
	uint8_t byte = 0;
	unsigned i;

	for (i = 0; i < size && take(wire, end, &byte); i++)
		value |= (uint64_t)byte << (8 * i);
	return value;
}

static void
check_length(
    struct wd_wire *wire, uint64_t end, const struct wd_wire_field *field)
{
	uint64_t size = wire->source->size_bytes;

	if (wire->status != WD_OK || field->value <= end - field->start)
		return;
	if (end < size || field->value > INT64_MAX - field->start)
		(void)wd_wire_fail(wire, WD_MALFORMED, field->start,
		    "a field ends behind the message that it stands in");
	else
		wire->status = wd_fail_at(wire->err, WD_TRUNCATED, field->start,
		    "the file ends too early: need at least %llu bytes, "
		    "have %llu",
		    (unsigned long long)(field->start + field->value),
		    (unsigned long long)size);
}

/* What is behind the tag. */
static void
read_value(struct wd_wire *wire, uint64_t end, struct wd_wire_field *field)
{
	field->start = wd_wire_at(wire);
	switch (field->type) {
	case WD_WIRE_VARINT:
		field->value = wd_wire_varint(wire, end);
		break;
	case WD_WIRE_FIXED64:
		field->value = fixed(wire, end, 8);
		break;
	case WD_WIRE_FIXED32:
		field->value = fixed(wire, end, 4);
		break;
	case WD_WIRE_BYTES:
		field->value = wd_wire_varint(wire, end);
		field->start = wd_wire_at(wire);
		check_length(wire, end, field);
		field->end = field->start + field->value;
		return;
	}
	field->end = wd_wire_at(wire);
}

bool
wd_wire_next(struct wd_wire *wire, uint64_t end, struct wd_wire_field *field)
{
	uint64_t at = wd_wire_at(wire), tag;
	unsigned type;

	if (wire->status != WD_OK || at >= end)
		return false;
	tag = wd_wire_varint(wire, end);
	type = tag & 7;
	if (wire->status != WD_OK)
		return false;
	if (tag >> 3 == 0 || tag > UINT32_MAX ||
	    (type > 2 && type != WD_WIRE_FIXED32)) {
		(void)wd_wire_fail(wire, WD_MALFORMED, at,
		    "this is no field of a protobuf message");
		return false;
	}
	*field = (struct wd_wire_field){ .number = (uint32_t)(tag >> 3),
		.type = (enum wd_wire_type)type };
	read_value(wire, end, field);
	return wire->status == WD_OK;
}

void
wd_wire_skip(struct wd_wire *wire, const struct wd_wire_field *field)
{
	wd_wire_seek(wire, field->end);
}

enum wd_status
wd_wire_copy(
    struct wd_wire *wire, const struct wd_wire_field *field, struct wd_buf *out)
{
	wd_wire_seek(wire, field->start);
	if (wire->status == WD_OK &&
	    field->end - field->start > out->max - out->len)
		return wd_wire_fail(wire, WD_LIMIT, field->start,
		    "a text is longer than any known model's");
	while (wire->status == WD_OK && wd_wire_at(wire) < field->end) {
		uint64_t left = field->end - wd_wire_at(wire);
		size_t have;

		if (wire->at == wire->len && !fill(wire))
			break;
		have = wire->len - wire->at;
		if (left < have)
			have = (size_t)left;
		if (wd_buf_append(out, wire->bytes + wire->at, have) != WD_OK)
			return wd_wire_fail(wire, out->status, wd_wire_at(wire),
			    "no memory for a text");
		wire->at += have;
	}
	return wire->status;
}
