/*
 * The options of a command line that stands in a file.
 */
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "bundle/listing_parts.h"

static bool
is_blank(uint8_t byte)
{
	return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

static size_t
skip_blanks(struct wd_slice text)
{
	size_t at = 0;

	while (at < text.len &&
	    (is_blank(text.data[at]) ||
		(text.data[at] == '\\' && at + 1 < text.len &&
		    is_blank(text.data[at + 1]))))
		at++;
	return at;
}

/* The next word of a shell's line: blanks part words, quotes and backslashes
 * keep them together. False at the end. */
static bool
next_word(struct wd_slice *rest, struct wd_buf *word)
{
	size_t at = skip_blanks(*rest);
	uint8_t quote = 0;

	wd_buf_reset(word);
	if (at == rest->len)
		return false;
	for (; at < rest->len; at++) {
		uint8_t byte = rest->data[at];

		if (quote == 0 && is_blank(byte))
			break;
		if (byte == quote) {
			quote = 0;
			continue;
		}
		if (quote == 0 && (byte == '"' || byte == '\'')) {
			quote = byte;
			continue;
		}
		if (byte == '\\' && quote != '\'' && at + 1 < rest->len)
			byte = rest->data[++at];
		(void)wd_buf_byte(word, byte);
	}
	rest->data += at;
	rest->len -= at;
	return true;
}

static struct wd_slice
without_dashes(struct wd_slice word)
{
	unsigned i;

	for (i = 0; i < 2 && wd_slice_starts(word, "-"); i++) {
		word.data++;
		word.len--;
	}
	return word;
}

/* `$` begins what a shell, or the engine's macros, would put in its place. */
static enum wd_status
add_value(struct wd_listing *listing, struct wd_slice entry,
    enum wd_listed_use use, struct wd_slice option, struct wd_slice value)
{
	if (value.len > 0 && memchr(value.data, '$', value.len) != NULL) {
		listing->complete = false;
		return WD_OK;
	}
	return wd_listing_add(listing, use, entry, option, value);
}

/* Takes the word, and the value behind it, into the list. */
static enum wd_status
take_word(struct wd_listing *listing, struct wd_slice entry,
    struct wd_buf *word, struct wd_slice *rest, struct wd_buf *value)
{
	struct wd_slice name = wd_buf_slice(word), inlined = name;
	struct wd_slice option = { NULL, 0 };
	enum wd_listed_use use = WD_LISTED_MODEL;
	bool serve = wd_slice_equal(name, wd_slice_text("serve"));

	(void)wd_slice_cut(&inlined, '=', &option);
	if (!serve &&
	    (!wd_slice_starts(option, "-") ||
		!wd_listing_option(without_dashes(option), &use)))
		return WD_OK;
	if (inlined.len > 0)
		return add_value(listing, entry, use, option, inlined);
	if (!next_word(rest, value))
		return WD_OK;
	/* `vllm serve MODEL`; `ollama serve` has none. */
	if (serve && wd_slice_starts(wd_buf_slice(value), "-"))
		return WD_OK;
	return add_value(listing, entry, use, option, wd_buf_slice(value));
}

enum wd_status
wd_listing_command(struct wd_listing *listing, struct wd_slice entry,
    struct wd_slice command, struct wd_error *err)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf word;
	WD_CLEANUP(wd_buf_release) struct wd_buf value;
	enum wd_status st = WD_OK;
	size_t count = 0;

	wd_buf_init(&word, WD_MAX_LISTING_FILE);
	wd_buf_init(&value, WD_MAX_LISTING_FILE);
	while (st == WD_OK && next_word(&command, &word)) {
		if (count++ == WD_MAX_ARGUMENTS) {
			listing->complete = false;
			break;
		}
		st = take_word(listing, entry, &word, &command, &value);
		if (word.status != WD_OK || value.status != WD_OK)
			st = WD_NOMEM;
	}
	return st == WD_OK ? st : wd_fail(err, st, "no memory for a list");
}
