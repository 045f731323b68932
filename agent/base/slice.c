#include "base/slice.h"

#include <string.h>

struct wd_slice
wd_slice_text(const char *text)
{
	return (struct wd_slice){ (const uint8_t *)text, strlen(text) };
}

int
wd_slice_compare(struct wd_slice a, struct wd_slice b)
{
	size_t common = a.len < b.len ? a.len : b.len;
	int order = common == 0 ? 0 : memcmp(a.data, b.data, common);

	if (order != 0)
		return order;
	return (a.len > b.len) - (a.len < b.len);
}

bool
wd_slice_equal(struct wd_slice a, struct wd_slice b)
{
	return a.len == b.len && wd_slice_compare(a, b) == 0;
}

bool
wd_slice_starts(struct wd_slice slice, const char *text)
{
	size_t len = strlen(text);

	if (len == 0)
		return true;
	return slice.len >= len && memcmp(slice.data, text, len) == 0;
}

bool
wd_slice_ends(struct wd_slice slice, const char *text)
{
	size_t len = strlen(text);

	if (len == 0)
		return true;
	return slice.len >= len &&
	    memcmp(slice.data + (slice.len - len), text, len) == 0;
}

static unsigned
digit_value(uint8_t byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - (unsigned)'0';
	if (byte >= 'a' && byte <= 'f')
		return byte - (unsigned)'a' + 10;
	if (byte >= 'A' && byte <= 'F')
		return byte - (unsigned)'A' + 10;
	return 255;
}

bool
wd_slice_number(struct wd_slice slice, unsigned base, uint64_t *number)
{
	uint64_t value = 0;
	size_t i;

	if (slice.len == 0)
		return false;
	for (i = 0; i < slice.len; i++) {
		unsigned digit = digit_value(slice.data[i]);

		if (digit >= base ||
		    __builtin_mul_overflow(value, (uint64_t)base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)digit, &value))
			return false;
	}
	*number = value;
	return true;
}

bool
wd_slice_cut(struct wd_slice *rest, uint8_t separator, struct wd_slice *head)
{
	const uint8_t *found;
	size_t len;

	if (rest->len == 0)
		return false;
	found = memchr(rest->data, separator, rest->len);
	if (found == NULL) {
		*head = *rest;
		*rest = (struct wd_slice){ NULL, 0 };
		return true;
	}
	len = (size_t)(found - rest->data);
	*head = (struct wd_slice){ rest->data, len };
	*rest = (struct wd_slice){ found + 1, rest->len - len - 1 };
	return true;
}

struct wd_cursor
wd_cursor_of(struct wd_slice slice)
{
	return (struct wd_cursor){ slice.data, slice.len, 0, false };
}

size_t
wd_cursor_left(const struct wd_cursor *cursor)
{
	return cursor->len - cursor->at;
}

static enum wd_status
read_number(struct wd_cursor *c, unsigned bytes, uint64_t *v)
{
	uint64_t value = 0;
	unsigned i;

	if (wd_cursor_left(c) < bytes)
		return WD_TRUNCATED;
	for (i = 0; i < bytes; i++) {
		unsigned shift = 8 * (c->big_endian ? bytes - 1 - i : i);

		value |= (uint64_t)c->data[c->at + i] << shift;
	}
	c->at += bytes;
	*v = value;
	return WD_OK;
}

enum wd_status
wd_read_u8(struct wd_cursor *c, uint8_t *v)
{
	uint64_t wide;
	enum wd_status st = read_number(c, 1, &wide);

	if (st == WD_OK)
		*v = (uint8_t)wide;
	return st;
}

enum wd_status
wd_read_u16(struct wd_cursor *c, uint16_t *v)
{
	uint64_t wide;
	enum wd_status st = read_number(c, 2, &wide);

	if (st == WD_OK)
		*v = (uint16_t)wide;
	return st;
}

enum wd_status
wd_read_u32(struct wd_cursor *c, uint32_t *v)
{
	uint64_t wide;
	enum wd_status st = read_number(c, 4, &wide);

	if (st == WD_OK)
		*v = (uint32_t)wide;
	return st;
}

enum wd_status
wd_read_u64(struct wd_cursor *c, uint64_t *v)
{
	return read_number(c, 8, v);
}

enum wd_status
wd_read_slice(struct wd_cursor *c, uint64_t len, struct wd_slice *bytes)
{
	if (len > wd_cursor_left(c))
		return WD_TRUNCATED;
	/* NULL + 0 is not defined in C. */
	*bytes = (struct wd_slice){ c->data == NULL ? NULL : c->data + c->at,
		(size_t)len };
	c->at += (size_t)len;
	return WD_OK;
}
