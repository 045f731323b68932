/*
 * canon.h - the canonical text of a setting's value.
 *
 * Equal values give equal text whichever format they came from: numbers as
 * RFC 8785 (ECMAScript's Number::toString) writes them, integers with all
 * their digits, arrays and objects as compact JSON with keys sorted by bytes.
 * Text above WD_MAX_SETTING_TEXT bytes is replaced by "sha256:HEX" of itself;
 * memory stays bounded by that. The text is raw: who keeps it escapes it.
 */
#ifndef WD_BUNDLE_CANON_H
#define WD_BUNDLE_CANON_H

#include <jansson.h>

#include "base/buf.h"
#include "base/digest.h"

struct wd_canon {
	struct wd_buf text;
	struct wd_hasher *hasher; /* once the text has grown too long */
	enum wd_status status;    /* WD_OK, WD_NOMEM or WD_IO */
};

/* Allocates nothing. */
void wd_canon_init(struct wd_canon *canon);
void wd_canon_release(struct wd_canon *canon);

/* Forgets the text and keeps the memory. */
void wd_canon_reset(struct wd_canon *canon);

/* Each appends; a failure is kept in `status`. */
void wd_canon_bytes(struct wd_canon *canon, const void *bytes, size_t len);
void wd_canon_unsigned(struct wd_canon *canon, uint64_t number);
void wd_canon_signed(struct wd_canon *canon, int64_t number);

/* Infinity and NaN are written with these names. */
void wd_canon_double(struct wd_canon *canon, double number);

/* Part of a JSON string's inside: bytes below 0x20, '"' and '\' escaped as
 * RFC 8785 does, all others as they are. */
void wd_canon_quoted(struct wd_canon *canon, const void *bytes, size_t len);

/* A whole JSON value; a string at the top stands without quotes. */
void wd_canon_json(struct wd_canon *canon, const json_t *value);

/* The canonical value, valid until the next call. Errors: WD_NOMEM, WD_IO. */
enum wd_status wd_canon_value(
    struct wd_canon *canon, struct wd_slice *value) WD_MUST_CHECK;

/* Writes `number` as wd_canon_double does. Returns `out`. */
#define WD_CANON_NUMBER_BYTES 32
const char *wd_canon_number(double number, char out[WD_CANON_NUMBER_BYTES]);

#endif
