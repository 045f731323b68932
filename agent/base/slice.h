/*
 * slice.h - bytes that somebody else owns, and the one bounded reader of them.
 *
 * A read is all or nothing: on WD_TRUNCATED nothing is consumed and the
 * output is untouched. Integers are read in the byte order that is asked for,
 * never in the machine's.
 */
#ifndef WD_BASE_SLICE_H
#define WD_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct wd_slice {
	const uint8_t *data; /* may be NULL when len is 0 */
	size_t len;
};

/* The bytes of a NUL-terminated string, without the NUL. */
struct wd_slice wd_slice_text(const char *text);

/* Whether both hold the same bytes. */
bool wd_slice_equal(struct wd_slice a, struct wd_slice b);

/* Whether `slice` begins (ends) with the bytes of `text`. */
bool wd_slice_starts(struct wd_slice slice, const char *text);
bool wd_slice_ends(struct wd_slice slice, const char *text);

/* Byte-wise order: negative, 0, positive as memcmp; the shorter of two equal
 * beginnings comes first. */
int wd_slice_compare(struct wd_slice a, struct wd_slice b);

/* Parses all of `slice` as a decimal (base 10) or hexadecimal (base 16,
 * without prefix) number. False when empty, when a byte is no digit, or when
 * the number is above UINT64_MAX. */
bool wd_slice_number(
    struct wd_slice slice, unsigned base, uint64_t *number) WD_MUST_CHECK;

/* Cuts off everything up to the first `separator` byte: `*head` gets what
 * stood before it, `*rest` (may be the same object as the input) what stands
 * after it. Without a separator head is everything and rest is empty. False
 * when the input was already empty. */
bool wd_slice_cut(
    struct wd_slice *rest, uint8_t separator, struct wd_slice *head);

struct wd_cursor {
	const uint8_t *data;
	size_t len;
	size_t at; /* <= len */
	bool big_endian;
};

/* A reader at the start of `slice`, little-endian. */
struct wd_cursor wd_cursor_of(struct wd_slice slice);
size_t wd_cursor_left(const struct wd_cursor *cursor);

/* Errors of all: WD_TRUNCATED. */
enum wd_status wd_read_u8(struct wd_cursor *c, uint8_t *v) WD_MUST_CHECK;
enum wd_status wd_read_u16(struct wd_cursor *c, uint16_t *v) WD_MUST_CHECK;
enum wd_status wd_read_u32(struct wd_cursor *c, uint32_t *v) WD_MUST_CHECK;
enum wd_status wd_read_u64(struct wd_cursor *c, uint64_t *v) WD_MUST_CHECK;

/* The next `len` bytes, not copied. */
enum wd_status wd_read_slice(
    struct wd_cursor *c, uint64_t len, struct wd_slice *bytes) WD_MUST_CHECK;

#endif
