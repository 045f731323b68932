/*
 * scalar_json.h - single values of proto3 JSON, for parse_json.c only.
 *
 * Each returns false when the JSON value does not fit the field's type.
 */
#ifndef WD_WIRE_SCALAR_JSON_H
#define WD_WIRE_SCALAR_JSON_H

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stdint.h>

/* A whole number from `least` (0 or below) to `most`, as the bits of an
 * int64_t when it is negative. */
bool wd_scalar_integer(
    const json_t *json, int64_t least, uint64_t most, uint64_t *bits);

/* A number, "NaN", "Infinity", "-Infinity", or a number in a string. */
bool wd_scalar_real(const json_t *json, double *number);

/* base64 or base64url (RFC 4648), padded or not. `*out` has room for 3/4 of
 * the text; unused bits must be zero. */
bool wd_scalar_base64(
    const char *text, size_t len, uint8_t *out, size_t *out_len);

/* RFC 3339 with "Z" or an offset, to seconds since 1970 and nanoseconds. */
bool wd_scalar_time(const char *text, int64_t *seconds, int32_t *nanos);

#endif
