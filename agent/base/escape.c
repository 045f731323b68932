#include "base/escape.h"

#include <string.h>

/* Decodes one code point of RFC 3629; 0 when the bytes are not valid there. */
static size_t
utf8_decode(const uint8_t *p, size_t left, uint32_t *code)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len, i;

	if (p[0] < 0x80) {
		*code = p[0];
		return 1;
	}
	len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : p[0] >= 0xc2 ? 2 : 0;
	if (len == 0 || p[0] > 0xf4 || len > left)
		return 0;
	*code = p[0] & (0xffU >> (len + 1));
	for (i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (p[i] & 0x3fU);
	}
	if (*code < smallest[len] || *code > 0x10ffff ||
	    (*code >= 0xd800 && *code <= 0xdfff))
		return 0;
	return len;
}

/* Code points that change how the text around them is shown, show nothing, or
 * look like the space that they are not: Unicode 15 controls, separators other
 * than U+0020, Default_Ignorable_Code_Point, annotation marks, and the
 * backslash that we escape with. */
static const struct {
	uint32_t first, last;
} unsafe_ranges[] = {
	{ 0x00, 0x1f },
	{ '\\', '\\' },
	{ 0x7f, 0xa0 },
	{ 0xad, 0xad },
	{ 0x34f, 0x34f },
	{ 0x61c, 0x61c },
	{ 0x115f, 0x1160 },
	{ 0x1680, 0x1680 },
	{ 0x17b4, 0x17b5 },
	{ 0x180b, 0x180f },
	{ 0x2000, 0x200f },
	{ 0x2028, 0x202f },
	{ 0x205f, 0x206f },
	{ 0x2800, 0x2800 },
	{ 0x3000, 0x3000 },
	{ 0x3164, 0x3164 },
	{ 0xfe00, 0xfe0f },
	{ 0xfeff, 0xfeff },
	{ 0xffa0, 0xffa0 },
	{ 0xfff0, 0xfffb },
	{ 0x1bca0, 0x1bca3 },
	{ 0x1d173, 0x1d17a },
	{ 0xe0000, 0xe0fff },
};

static bool
is_unsafe(uint32_t code)
{
	size_t i;

	for (i = 0; i < sizeof(unsafe_ranges) / sizeof(unsafe_ranges[0]); i++)
		if (code <= unsafe_ranges[i].last)
			return code >= unsafe_ranges[i].first;
	return false;
}

/* The longest output of one step: four bytes, each as \xHH. */
#define STEP_BYTES (4 * 4)

static size_t
escape_byte(char *out, uint8_t byte)
{
	static const char digits[] = "0123456789abcdef";

	out[0] = '\\';
	if (byte == '\n' || byte == '\t' || byte == '\\') {
		out[1] = byte == '\n' ? 'n' : byte == '\t' ? 't' : '\\';
		return 2;
	}
	out[1] = 'x';
	out[2] = digits[byte >> 4];
	out[3] = digits[byte & 15];
	return 4;
}

/* Escapes the character at the start of `bytes` (not empty), or its first
 * byte when that begins none. Returns how many bytes were used. */
static size_t
escape_step(struct wd_slice bytes, char out[STEP_BYTES], size_t *out_len)
{
	uint32_t code = 0;
	size_t len = utf8_decode(bytes.data, bytes.len, &code);
	size_t i;

	if (len > 0 && !is_unsafe(code)) {
		memcpy(out, bytes.data, len);
		*out_len = len;
		return len;
	}
	if (len == 0)
		len = 1;
	*out_len = 0;
	for (i = 0; i < len; i++)
		*out_len += escape_byte(out + *out_len, bytes.data[i]);
	return len;
}

enum wd_status
wd_escape(struct wd_buf *out, struct wd_slice bytes)
{
	char step[STEP_BYTES];
	size_t at, len;

	for (at = 0; at < bytes.len && out->status == WD_OK;) {
		at += escape_step(
		    (struct wd_slice){ bytes.data + at, bytes.len - at }, step,
		    &len);
		(void)wd_buf_append(out, step, len);
	}
	return out->status;
}

static bool
is_bare(uint8_t byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
	    (byte >= 'a' && byte <= 'z') ||
	    (byte != '\0' && strchr("-_./:=,+@%", byte) != NULL);
}

enum wd_status
wd_escape_word(struct wd_buf *out, struct wd_slice bytes)
{
	size_t i;

	for (i = 0; i < bytes.len && is_bare(bytes.data[i]); i++)
		;
	if (i == bytes.len && bytes.len > 0)
		return wd_buf_append(out, bytes.data, bytes.len);
	(void)wd_buf_byte(out, '"');
	for (i = 0; i < bytes.len;) {
		const uint8_t *quote =
		    memchr(bytes.data + i, '"', bytes.len - i);
		size_t len = quote == NULL ? bytes.len - i :
					     (size_t)(quote - bytes.data) - i;

		(void)wd_escape(out, (struct wd_slice){ bytes.data + i, len });
		i += len;
		if (quote != NULL) {
			(void)wd_buf_text(out, "\\\"");
			i++;
		}
	}
	return wd_buf_byte(out, '"');
}

const char *
wd_escape_short(char *out, size_t size, struct wd_slice bytes)
{
	static const char dots[] = "...";
	size_t at = 0, len = 0, dots_at = 0, step_len = 0;
	char step[STEP_BYTES];

	if (size == 0)
		return "";
	while (at < bytes.len) {
		at += escape_step(
		    (struct wd_slice){ bytes.data + at, bytes.len - at }, step,
		    &step_len);
		if (len + step_len >= size)
			break;
		memcpy(out + len, step, step_len);
		len += step_len;
		/* The last end of a step behind which the dots fit. */
		if (len + sizeof(dots) <= size)
			dots_at = len;
		step_len = 0;
	}
	out[len] = '\0';
	if (step_len > 0 && size >= sizeof(dots))
		memcpy(out + dots_at, dots, sizeof(dots));
	return out;
}

bool
wd_utf8_valid(struct wd_slice bytes)
{
	size_t at = 0;

	while (at < bytes.len) {
		uint32_t code;
		size_t len =
		    utf8_decode(bytes.data + at, bytes.len - at, &code);

		if (len == 0)
			return false;
		at += len;
	}
	return true;
}

size_t
wd_utf8_char(struct wd_slice bytes, uint32_t *code)
{
	return bytes.len == 0 ? 0 : utf8_decode(bytes.data, bytes.len, code);
}

bool
wd_code_point_plain(uint32_t code)
{
	return code == '\\' || !is_unsafe(code);
}
