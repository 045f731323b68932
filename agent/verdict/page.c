#include "verdict/page.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/escape.h"
#include "wire/build.h"

#define KEY_COLUMNS 14

void
wd_page_paint(struct wd_page *page, enum wd_paint paint, const char *text)
{
	static const char *const codes[] = {
		[WD_GREEN] = "\x1b[1;32m",
		[WD_RED] = "\x1b[1;31m",
		[WD_YELLOW] = "\x1b[33m",
		[WD_BOLD] = "\x1b[1m",
	};

	if (page->with_colour)
		(void)wd_buf_text(page->out, codes[paint]);
	wd_page_text(page, text);
	if (page->with_colour)
		(void)wd_buf_text(page->out, "\x1b[0m");
}

void
wd_page_key(struct wd_page *page, unsigned depth, const char *key)
{
	(void)wd_buf_printf(page->out, "%*s%-*s ", (int)(2 * depth), "",
	    KEY_COLUMNS - (int)(2 * depth), key);
}

void
wd_page_end(struct wd_page *page)
{
	(void)wd_buf_byte(page->out, '\n');
}

void
wd_page_line(struct wd_page *page, unsigned depth, const char *key,
    const char *format, ...)
{
	va_list args;

	wd_page_key(page, depth, key);
	va_start(args, format);
	(void)wd_buf_vprintf(page->out, format, args);
	va_end(args);
	wd_page_end(page);
}

void
wd_page_text(struct wd_page *page, const char *text)
{
	struct wd_slice rest = wd_slice_text(text);

	while (rest.len > 0 && page->out->status == WD_OK) {
		uint32_t code = 0;
		size_t len = wd_utf8_char(rest, &code), step = len ? len : 1, i;

		for (i = 0; i < step; i++)
			if (len > 0 && wd_code_point_plain(code))
				(void)wd_buf_byte(page->out, rest.data[i]);
			else
				(void)wd_buf_printf(
				    page->out, "\\x%02x", rest.data[i]);
		rest.data += step;
		rest.len -= step;
	}
}

void
wd_page_bytes(struct wd_page *page, ProtobufCBinaryData bytes, size_t most)
{
	size_t len = bytes.len < most ? bytes.len : most;

	(void)wd_escape(page->out, (struct wd_slice){ bytes.data, len });
	if (len < bytes.len)
		(void)wd_buf_text(page->out, "...");
}

void
wd_page_number(struct wd_page *page, uint64_t number)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, number), i;

	for (i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			(void)wd_buf_byte(page->out, ',');
		(void)wd_buf_byte(page->out, (uint8_t)digits[i]);
	}
}

void
wd_page_digest(struct wd_page *page, const Weightd__V1__Digest *digest)
{
	char text[WD_SHA256_TEXT_BYTES];
	struct wd_sha256 sha256;

	if (wd_message_digest(digest, &sha256))
		(void)wd_buf_text(page->out, wd_sha256_text(&sha256, text));
	else
		(void)wd_buf_text(page->out, "none");
}

void
wd_page_enum(struct wd_page *page, const ProtobufCEnumDescriptor *type,
    int number, const char *prefix)
{
	const ProtobufCEnumValue *value =
	    protobuf_c_enum_descriptor_get_value(type, number);

	if (value == NULL)
		(void)wd_buf_printf(page->out, "unknown(%d)", number);
	else
		(void)wd_buf_text(page->out, value->name + strlen(prefix));
}

void
wd_page_flags(
    struct wd_page *page, const Weightd__V1__Flag *flags, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (i > 0)
			(void)wd_buf_text(page->out, ", ");
		wd_page_enum(page, &weightd__v1__flag__descriptor,
		    (int)flags[i], "FLAG_");
	}
}

void
wd_page_text_line(
    struct wd_page *page, unsigned depth, const char *key, const char *text)
{
	if (text[0] == '\0')
		return;
	wd_page_key(page, depth, key);
	wd_page_text(page, text);
	wd_page_end(page);
}

void
wd_page_flags_line(struct wd_page *page, unsigned depth,
    const Weightd__V1__Flag *flags, size_t count)
{
	if (count == 0)
		return;
	wd_page_key(page, depth, "flags");
	wd_page_flags(page, flags, count);
	wd_page_end(page);
}
