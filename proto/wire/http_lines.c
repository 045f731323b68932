#include <string.h>
#include <strings.h>

#include "wire/http.h"

/* RFC 9110, 5.6.2 */
static bool
is_token_byte(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	    (c >= 'a' && c <= 'z') ||
	    (c != 0 && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

bool
wd_http_is_token(struct wd_slice text)
{
	size_t i;

	for (i = 0; i < text.len; i++)
		if (!is_token_byte(text.data[i]))
			return false;
	return text.len > 0;
}

bool
wd_http_is(struct wd_slice text, const char *word)
{
	return text.len == strlen(word) &&
	    strncasecmp((const char *)text.data, word, text.len) == 0;
}

struct wd_slice
wd_http_trim(struct wd_slice text)
{
	while (text.len > 0 && (text.data[0] == ' ' || text.data[0] == '\t')) {
		text.data++;
		text.len--;
	}
	while (text.len > 0 &&
	    (text.data[text.len - 1] == ' ' || text.data[text.len - 1] == '\t'))
		text.len--;
	return text;
}

bool
wd_http_lists(struct wd_slice value, const char *word)
{
	struct wd_slice option = { NULL, 0 };

	while (wd_slice_cut(&value, ',', &option))
		if (wd_http_is(wd_http_trim(option), word))
			return true;
	return false;
}

bool
wd_http_take_line(struct wd_slice *rest, struct wd_slice *line)
{
	size_t i;

	for (i = 0; i + 1 < rest->len; i++) {
		uint8_t c = rest->data[i];

		if (c == '\r' && rest->data[i + 1] == '\n') {
			*line = (struct wd_slice){ rest->data, i };
			rest->data += i + 2;
			rest->len -= i + 2;
			return true;
		}
		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return false;
	}
	return false;
}

bool
wd_http_split(struct wd_slice line, struct wd_slice *name,
    struct wd_slice *value, const char **why)
{
	*why = "a header has no name";
	*value = line;
	if (line.len == 0)
		return false;
	if (line.data[0] == ' ' || line.data[0] == '\t') {
		*why = "a header is folded";
		return false;
	}
	if (memchr(line.data, ':', line.len) == NULL ||
	    !wd_slice_cut(value, ':', name) || !wd_http_is_token(*name))
		return false;
	*value = wd_http_trim(*value);
	return true;
}
