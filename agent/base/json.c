#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"

/* jansson has one allocator for the process, so the budget is a global too, of
 * each thread. Each block carries its size in front of it, so that frees give
 * back to the budget. */
#define BLOCK_HEAD 16
static _Thread_local size_t budget_left = SIZE_MAX;
static _Thread_local int budget_spent, memory_failed;

static void *
budget_malloc(size_t size)
{
	unsigned char *block;

	if (size > SIZE_MAX - BLOCK_HEAD || size + BLOCK_HEAD > budget_left) {
		budget_spent = 1;
		return NULL;
	}
	block = wd_calloc(size + BLOCK_HEAD, 1);
	if (block == NULL) {
		memory_failed = 1;
		return NULL;
	}
	memcpy(block, &size, sizeof(size));
	budget_left -= size + BLOCK_HEAD;
	return block + BLOCK_HEAD;
}

static void
budget_free(void *memory)
{
	unsigned char *block = memory;
	size_t size;

	if (block == NULL)
		return;
	block -= BLOCK_HEAD;
	memcpy(&size, block, sizeof(size));
	if (budget_left <= SIZE_MAX - size - BLOCK_HEAD)
		budget_left += size + BLOCK_HEAD;
	wd_free(block);
}

/* Before main, so that no json_t made earlier with jansson's own allocator is
 * freed with ours. The hash seed is left to jansson (random): with a known one
 * a file could hold a million keys of one bucket. */
__attribute__((constructor)) static void
install_allocator(void)
{
	json_set_alloc_funcs(budget_malloc, budget_free);
}

static void
use_budget(size_t bytes)
{
	budget_left = bytes;
	budget_spent = 0;
	memory_failed = 0;
}

static size_t
string_end(struct wd_slice text, size_t at)
{
	at++;
	while (at < text.len && text.data[at] != '"')
		at += text.data[at] == '\\' ? 2 : 1;
	return at < text.len ? at + 1 : text.len;
}

static int
is_token_byte(uint8_t byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
	    (byte >= 'A' && byte <= 'Z') || byte == '+' || byte == '-' ||
	    byte == '.';
}

static size_t
skip_digits(struct wd_slice token, size_t at)
{
	while (at < token.len && token.data[at] >= '0' && token.data[at] <= '9')
		at++;
	return at;
}

/* RFC 8259 section 6. `*integer`: neither fraction nor exponent. */
static int
is_number(struct wd_slice token, int *integer)
{
	size_t at = token.len > 0 && token.data[0] == '-', start = at;

	at = skip_digits(token, start);
	if (at == start || (token.data[start] == '0' && at > start + 1))
		return 0;
	*integer = at == token.len;
	if (at < token.len && token.data[at] == '.') {
		start = at + 1;
		at = skip_digits(token, start);
		if (at == start)
			return 0;
	}
	if (at < token.len && (token.data[at] | 0x20) == 'e') {
		start = at + 1;
		if (start < token.len &&
		    (token.data[start] == '+' || token.data[start] == '-'))
			start++;
		at = skip_digits(token, start);
		if (at == start)
			return 0;
	}
	return at == token.len;
}

/* An integer that int64_t does not hold. */
static int
is_huge_integer(struct wd_slice token)
{
	uint64_t value, most = INT64_MAX;

	if (token.data[0] == '-') {
		token.data++;
		token.len--;
		most++;
	}
	return !wd_slice_number(token, 10, &value) || value > most;
}

/* A real beyond the range of double. No writer needs 64 characters for one;
 * a longer token is left to jansson. */
static int
is_huge_real(struct wd_slice token)
{
	char copy[64];

	if (token.len >= sizeof(copy))
		return 0;
	memcpy(copy, token.data, token.len);
	copy[token.len] = '\0';
	return isinf(strtod(copy, NULL)) != 0;
}

static int
must_quote(struct wd_slice token)
{
	static const char *const words[] = { "NaN", "Infinity", "-Infinity" };
	int integer;
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (wd_slice_equal(token, wd_slice_text(words[i])))
			return 1;
	if (!is_number(token, &integer))
		return 0;
	return integer ? is_huge_integer(token) : is_huge_real(token);
}

/* A token in the place of a key is wrong, and stays so. */
static int
is_key(struct wd_slice text, size_t at)
{
	while (at < text.len && text.data[at] != '\0' &&
	    strchr(" \t\r\n", text.data[at]) != NULL)
		at++;
	return at < text.len && text.data[at] == ':';
}

/* Where in the text the scan stands, and the token that it found there. */
struct scan {
	struct wd_slice text;
	size_t at;
	unsigned depth;
	struct wd_slice token;
};

/* Moves on to the next token that must be quoted; `token` is empty at the
 * end of the text. Depth is counted here: jansson's own cap of 2048 is more
 * stack than a reader should give to a file. */
static enum wd_status
next_token(struct scan *scan, struct wd_error *err)
{
	struct wd_slice text = scan->text;
	size_t end;

	scan->token = (struct wd_slice){ NULL, 0 };
	while (scan->at < text.len) {
		uint8_t byte = text.data[scan->at];

		if (byte == '"') {
			scan->at = string_end(text, scan->at);
			continue;
		}
		if ((byte == '[' || byte == '{') &&
		    ++scan->depth > WD_MAX_JSON_DEPTH)
			return wd_fail_at(err, WD_LIMIT, scan->at,
			    "JSON is nested deeper than %d", WD_MAX_JSON_DEPTH);
		if ((byte == ']' || byte == '}') && scan->depth > 0)
			scan->depth--;
		for (end = scan->at;
		     end < text.len && is_token_byte(text.data[end]); end++)
			;
		scan->token =
		    (struct wd_slice){ text.data + scan->at, end - scan->at };
		scan->at = end > scan->at ? end : end + 1;
		if (must_quote(scan->token) && !is_key(text, end))
			return WD_OK;
		scan->token.len = 0;
	}
	return WD_OK;
}

/* Copies `text` to `out` with Python's extra tokens put in quotes; `out` stays
 * empty when there are none. */
static enum wd_status
prepare(struct wd_slice text, struct wd_buf *out, struct wd_error *err)
{
	struct scan scan = { .text = text };
	const uint8_t *kept = text.data;
	enum wd_status st;

	while ((st = next_token(&scan, err)) == WD_OK && scan.token.len > 0) {
		(void)wd_buf_append(
		    out, kept, (size_t)(scan.token.data - kept));
		(void)wd_buf_byte(out, '"');
		(void)wd_buf_append(out, scan.token.data, scan.token.len);
		(void)wd_buf_byte(out, '"');
		kept = scan.token.data + scan.token.len;
	}
	if (st != WD_OK)
		return st;
	if (out->len > 0)
		(void)wd_buf_append(
		    out, kept, (size_t)(text.data + text.len - kept));
	if (out->status != WD_OK)
		return wd_fail(err, out->status, "JSON: out of memory");
	return WD_OK;
}

/* Where byte `at` of the prepared text stood before the quotes came in. */
static size_t
offset_before(struct wd_slice text, size_t at)
{
	struct scan scan = { .text = text };
	size_t quotes = 0;

	while (next_token(&scan, NULL) == WD_OK && scan.token.len > 0) {
		size_t token_at = (size_t)(scan.token.data - text.data);

		if (token_at + quotes >= at)
			break;
		quotes += token_at + scan.token.len + quotes + 1 >= at ? 1 : 2;
	}
	return at - quotes;
}

static enum wd_status
load(
    struct wd_slice text, json_t **root, size_t *position, struct wd_error *err)
{
	char shown[256];
	json_error_t why;

	*position = 0;
	*root = json_loadb((const char *)text.data, text.len,
	    JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
	if (*root != NULL)
		return WD_OK;
	if (budget_spent)
		return wd_fail(
		    err, WD_LIMIT, "JSON needs more memory than it is allowed");
	/* jansson does not always say so itself. */
	if (memory_failed)
		return wd_fail(err, WD_NOMEM, "JSON: out of memory");
	*position = why.position > 0 ? (size_t)why.position : 0;
	return wd_fail(err, WD_MALFORMED,
	    "not valid JSON: line %d, column %d: %s", why.line, why.column,
	    json_error_code(&why) == json_error_duplicate_key ?
		"a key stands twice in one object" :
		/* It quotes the file. */
		wd_escape_short(shown, sizeof(shown), wd_slice_text(why.text)));
}

enum wd_status
wd_json_parse(struct wd_slice text, size_t max_memory, json_t **root,
    struct wd_error *err)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf quoted;
	size_t position, mark = 0;
	enum wd_status st;

	/* "NaN," becomes "\"NaN\",": less than twice as long. */
	wd_buf_init(&quoted, text.len < SIZE_MAX / 2 ? text.len * 2 : text.len);
	if (wd_slice_starts(text, "\xef\xbb\xbf")) {
		mark = 3;
		text.data += mark;
		text.len -= mark;
	}
	if (text.len == 0)
		return wd_fail_at(
		    err, WD_MALFORMED, mark, "not valid JSON: it is empty");
	st = prepare(text, &quoted, err);
	if (st == WD_LIMIT && err != NULL && err->offset != WD_ERROR_NO_OFFSET)
		err->offset += mark;
	if (st != WD_OK)
		return st;
	use_budget(max_memory);
	st = load(quoted.len > 0 ? wd_buf_slice(&quoted) : text, root,
	    &position, err);
	budget_left = SIZE_MAX / 2;
	if (st == WD_MALFORMED && err != NULL)
		err->offset = mark +
		    (quoted.len > 0 ? offset_before(text, position) : position);
	return st;
}

int
wd_json_is_number(struct wd_slice token)
{
	int integer;

	return is_number(token, &integer);
}

void
wd_json_free(json_t **root)
{
	if (*root != NULL)
		json_decref(*root);
	*root = NULL;
}
