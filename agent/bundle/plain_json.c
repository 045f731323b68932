#include "bundle/plain_json.h"

#define MOST_DIGITS 18 /* fits in int64_t */

static void
skip_blanks(struct wd_plain *text)
{
	while (text->rest.len > 0 &&
	    (text->rest.data[0] == ' ' || text->rest.data[0] == '\n' ||
		text->rest.data[0] == '\t' || text->rest.data[0] == '\r')) {
		text->rest.data++;
		text->rest.len--;
	}
}

static struct wd_slice
advance(struct wd_plain *text, size_t len)
{
	struct wd_slice part = { text->rest.data, len };

	text->rest.data += len;
	text->rest.len -= len;
	return part;
}

static struct wd_slice
not_plain(struct wd_plain *text)
{
	text->plain = false;
	return (struct wd_slice){ NULL, 0 };
}

bool
wd_plain_take(struct wd_plain *text, char byte)
{
	skip_blanks(text);
	if (text->rest.len == 0 || text->rest.data[0] != (uint8_t)byte)
		return false;
	(void)advance(text, 1);
	return true;
}

void
wd_plain_expect(struct wd_plain *text, char byte)
{
	if (!wd_plain_take(text, byte))
		text->plain = false;
}

struct wd_slice
wd_plain_string(struct wd_plain *text)
{
	struct wd_slice inside;
	size_t at = 0;

	wd_plain_expect(text, '"');
	while (at < text->rest.len && text->rest.data[at] >= 0x20 &&
	    text->rest.data[at] < 0x7f && text->rest.data[at] != '"' &&
	    text->rest.data[at] != '\\')
		at++;
	if (!text->plain || at == text->rest.len || text->rest.data[at] != '"')
		return not_plain(text);
	inside = advance(text, at);
	(void)advance(text, 1);
	return inside;
}

uint64_t
wd_plain_number(struct wd_plain *text)
{
	uint64_t value = 0;
	size_t at = 0;

	skip_blanks(text);
	while (at < text->rest.len && at <= MOST_DIGITS &&
	    text->rest.data[at] >= '0' && text->rest.data[at] <= '9')
		value = value * 10 + (text->rest.data[at++] - '0');
	/* What follows decides whether it was whole. */
	if (at == 0 || at > MOST_DIGITS || at == text->rest.len ||
	    (at > 1 && text->rest.data[0] == '0'))
		text->plain = false;
	(void)advance(text, at);
	return value;
}

struct wd_slice
wd_plain_object(struct wd_plain *text)
{
	bool quoted = false;
	size_t at, depth = 0;

	skip_blanks(text);
	if (text->rest.len == 0 || text->rest.data[0] != '{')
		return not_plain(text);
	for (at = 0; at < text->rest.len; at++) {
		uint8_t byte = text->rest.data[at];

		if (quoted && byte == '\\')
			at++;
		else if (byte == '"')
			quoted = !quoted;
		else if (!quoted && byte == '{')
			depth++;
		else if (!quoted && byte == '}' && --depth == 0)
			return advance(text, at + 1);
	}
	return not_plain(text);
}

void
wd_plain_end(struct wd_plain *text)
{
	skip_blanks(text);
	text->plain &= text->rest.len == 0;
}
