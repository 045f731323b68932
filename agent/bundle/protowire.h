/*
 * protowire.h - the protobuf wire format, read field by field from a file.
 *
 * https://protobuf.dev/programming-guides/encoding. Nothing is decoded by a
 * schema: whoever reads knows the field numbers, and enters, copies or skips.
 * What is skipped is not read, so a model of 2 GB with its tensors in the file
 * costs as little as its graph. Every length is held against the message it
 * stands in before anything is done for it. Groups (wire types 3 and 4), which
 * no current format has, are refused. The first failure sticks.
 */
#ifndef WD_BUNDLE_PROTOWIRE_H
#define WD_BUNDLE_PROTOWIRE_H

#include "base/buf.h"
#include "base/error.h"
#include "bundle/source.h"

enum wd_wire_type {
	WD_WIRE_VARINT = 0,
	WD_WIRE_FIXED64 = 1,
	WD_WIRE_BYTES = 2, /* text, bytes, a message, or packed numbers */
	WD_WIRE_FIXED32 = 5,
};

struct wd_wire {
	const struct wd_source *source;
	uint8_t *bytes;
	uint64_t base; /* where in the file bytes[0] stands */
	size_t len;    /* filled */
	size_t at;     /* consumed; <= len */
	size_t fill;   /* how much is read at once; grows while in sequence */
	uint64_t cap;  /* bytes that may still be read */
	enum wd_status status;
	struct wd_error *err; /* may be NULL */
};

struct wd_wire_field {
	uint32_t number;
	enum wd_wire_type type;
	uint64_t value; /* of a number */
	uint64_t start; /* of what is behind the tag (and the length) */
	uint64_t end;   /* of it; the next field begins there */
};

/* At most `cap` bytes of the file are read in all. Errors: WD_NOMEM. */
enum wd_status wd_wire_init(struct wd_wire *wire,
    const struct wd_source *source, uint64_t cap,
    struct wd_error *err) WD_MUST_CHECK;
void wd_wire_release(struct wd_wire *wire);

/* Position in the file of the next byte, and a move to another one. */
uint64_t wd_wire_at(const struct wd_wire *wire);
void wd_wire_seek(struct wd_wire *wire, uint64_t offset);

/* The next field of the message that ends at `end`. A number is consumed; of
 * a WD_WIRE_BYTES field the position is its start, and the caller moves on.
 * False at the end of the message and after a failure: WD_MALFORMED;
 * WD_TRUNCATED when a field reaches beyond the end of the file; WD_LIMIT when
 * the cap is reached; those of the source. */
bool wd_wire_next(struct wd_wire *wire, uint64_t end,
    struct wd_wire_field *field) WD_MUST_CHECK;

/* One number within a packed field that ends at `end`; 0 after a failure. */
uint64_t wd_wire_varint(struct wd_wire *wire, uint64_t end);

/* Moves behind the field. */
void wd_wire_skip(struct wd_wire *wire, const struct wd_wire_field *field);

/* Appends the bytes of a field and moves behind it. Errors: WD_LIMIT when the
 * buffer's maximum is too small, WD_NOMEM, those of wd_wire_next. */
enum wd_status wd_wire_copy(struct wd_wire *wire,
    const struct wd_wire_field *field, struct wd_buf *out) WD_MUST_CHECK;

/* Keeps the failure, and returns its status. */
enum wd_status wd_wire_fail(struct wd_wire *wire, enum wd_status status,
    uint64_t offset, const char *text);

#endif
