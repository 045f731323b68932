#include "bundle/canon.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

void
wd_canon_init(struct wd_canon *canon)
{
	/* Room for the digest's own text, too. */
	wd_buf_init(&canon->text, WD_MAX_SETTING_TEXT + WD_SHA256_TEXT_BYTES);
	canon->hasher = NULL;
	canon->status = WD_OK;
}

void
wd_canon_release(struct wd_canon *canon)
{
	wd_buf_release(&canon->text);
	wd_hasher_free(&canon->hasher);
}

void
wd_canon_reset(struct wd_canon *canon)
{
	wd_buf_reset(&canon->text);
	wd_hasher_free(&canon->hasher);
	canon->status = WD_OK;
}

/* From here on the text is only hashed. */
static void
go_over(struct wd_canon *canon)
{
	canon->status = wd_hasher_new(&canon->hasher, NULL);
	if (canon->status == WD_OK)
		wd_hasher_add(canon->hasher, canon->text.data, canon->text.len);
}

void
wd_canon_bytes(struct wd_canon *canon, const void *bytes, size_t len)
{
	if (canon->status != WD_OK)
		return;
	if (canon->hasher == NULL &&
	    len > WD_MAX_SETTING_TEXT - canon->text.len)
		go_over(canon);
	if (canon->hasher != NULL)
		wd_hasher_add(canon->hasher, bytes, len);
	else if (canon->status == WD_OK)
		canon->status = wd_buf_append(&canon->text, bytes, len);
}

static void
put_text(struct wd_canon *canon, const char *text)
{
	wd_canon_bytes(canon, text, strlen(text));
}

void
wd_canon_unsigned(struct wd_canon *canon, uint64_t number)
{
	char text[24], *at = text + sizeof(text);

	do
		*--at = (char)('0' + number % 10);
	while ((number /= 10) != 0);
	wd_canon_bytes(canon, at, (size_t)(text + sizeof(text) - at));
}

void
wd_canon_signed(struct wd_canon *canon, int64_t number)
{
	uint64_t magnitude = (uint64_t)number;

	if (number < 0) {
		wd_canon_bytes(canon, "-", 1);
		magnitude = 0 - magnitude;
	}
	wd_canon_unsigned(canon, magnitude);
}

/* The fewest significant digits that read back as `number`, as "%.*e" writes
 * them. Normal numbers that have 15 digits or fewer show them at 15; below the
 * normal range doubles are so coarse that fewer can do. */
static void
shortest(double number, char text[WD_CANON_NUMBER_BYTES])
{
	int digits = fabs(number) < DBL_MIN ? 1 : 15;

	for (; digits <= 17; digits++) {
		(void)snprintf(
		    text, WD_CANON_NUMBER_BYTES, "%.*e", digits - 1, number);
		if (strtod(text, NULL) == number)
			return;
	}
}

/* Takes "d.ddde+xx" apart: digits without trailing zeros, and the place of the
 * decimal point counted from the first digit. */
static size_t
take_apart(const char *text, char digits[20], int *point)
{
	size_t count = 0;

	for (; *text != 'e'; text++)
		if (*text >= '0' && *text <= '9' && count < 19)
			digits[count++] = *text;
	while (count > 1 && digits[count - 1] == '0')
		count--;
	digits[count] = '\0';
	*point = (int)strtol(text + 1, NULL, 10) + 1;
	return count;
}

/* ECMA-262, Number::toString: k digits, the point after the n-th. */
static void
lay_out(char *out, const char *digits, int k, int n)
{
	size_t size = WD_CANON_NUMBER_BYTES - 1;

	if (n >= k && n <= 21)
		(void)snprintf(out, size, "%s%.*s", digits, n - k,
		    "000000000000000000000");
	else if (n > 0 && n <= 21)
		(void)snprintf(out, size, "%.*s.%s", n, digits, digits + n);
	else if (n > -6 && n <= 0)
		(void)snprintf(out, size, "0.%.*s%s", -n, "000000", digits);
	else if (k == 1)
		(void)snprintf(out, size, "%se%+d", digits, n - 1);
	else
		(void)snprintf(
		    out, size, "%c.%se%+d", digits[0], digits + 1, n - 1);
}

const char *
wd_canon_number(double number, char out[WD_CANON_NUMBER_BYTES])
{
	char text[WD_CANON_NUMBER_BYTES], digits[20];
	int point = 0;
	size_t count;

	if (isnan(number) || isinf(number) || number == 0) {
		/* Minus zero is zero. */
		(void)snprintf(out, WD_CANON_NUMBER_BYTES, "%s",
		    isnan(number)   ? "NaN" :
			number == 0 ? "0" :
			number < 0  ? "-Infinity" :
				      "Infinity");
		return out;
	}
	shortest(fabs(number), text);
	count = take_apart(text, digits, &point);
	out[0] = '-';
	lay_out(out + (number < 0), digits, (int)count, point);
	return out;
}

void
wd_canon_double(struct wd_canon *canon, double number)
{
	char text[WD_CANON_NUMBER_BYTES];

	put_text(canon, wd_canon_number(number, text));
}

static void
put_escape(struct wd_canon *canon, uint8_t byte)
{
	static const char named[] = "\bb\tt\nn\ff\rr\"\"\\\\";
	char text[8];
	size_t i;

	for (i = 0; i + 1 < sizeof(named); i += 2) {
		if ((uint8_t)named[i] != byte)
			continue;
		(void)snprintf(text, sizeof(text), "\\%c", named[i + 1]);
		put_text(canon, text);
		return;
	}
	(void)snprintf(text, sizeof(text), "\\u%04x", byte);
	put_text(canon, text);
}

void
wd_canon_quoted(struct wd_canon *canon, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;
	size_t i, kept = 0;

	for (i = 0; i < len; i++) {
		if (at[i] >= 0x20 && at[i] != '"' && at[i] != '\\')
			continue;
		wd_canon_bytes(canon, at + kept, i - kept);
		put_escape(canon, at[i]);
		kept = i + 1;
	}
	if (len > kept)
		wd_canon_bytes(canon, at + kept, len - kept);
}

static void
put_quoted(struct wd_canon *canon, const char *text, size_t len)
{
	put_text(canon, "\"");
	wd_canon_quoted(canon, text, len);
	put_text(canon, "\"");
}

static void
put_scalar(struct wd_canon *canon, const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_STRING:
		put_quoted(
		    canon, json_string_value(value), json_string_length(value));
		return;
	case JSON_INTEGER:
		wd_canon_signed(canon, json_integer_value(value));
		return;
	case JSON_REAL:
		wd_canon_double(canon, json_real_value(value));
		return;
	case JSON_TRUE:
		put_text(canon, "true");
		return;
	case JSON_FALSE:
		put_text(canon, "false");
		return;
	case JSON_NULL:
		put_text(canon, "null");
		return;
	case JSON_OBJECT:
	case JSON_ARRAY:
		return;
	}
}

/* One array or object that is being written. The parser has bounded the depth
 * to WD_MAX_JSON_DEPTH, so the stack is a fixed array. */
struct level {
	const json_t *value;
	const char **keys; /* of an object, sorted; NULL for an array */
	size_t at;
	size_t count;
};

static int
compare_keys(const void *a, const void *b)
{
	const char *const *left = a, *const *right = b;

	return strcmp(*left, *right);
}

static enum wd_status
sorted_keys(const json_t *object, struct level *level)
{
	json_t *same;
	void *at;
	size_t i = 0;

	level->count = json_object_size(object);
	level->keys = wd_calloc(level->count, sizeof(*level->keys));
	if (level->keys == NULL)
		return WD_NOMEM;
	/* jansson's iterators ask for a pointer that is not const. */
	memcpy(&same, &object, sizeof(same));
	for (at = json_object_iter(same); at != NULL && i < level->count;
	     at = json_object_iter_next(same, at))
		level->keys[i++] = json_object_iter_key(at);
	qsort(level->keys, i, sizeof(*level->keys), compare_keys);
	return WD_OK;
}

static enum wd_status
enter(struct wd_canon *canon, struct level *level, const json_t *value)
{
	*level = (struct level){ .value = value };
	if (json_is_array(value)) {
		level->count = json_array_size(value);
		put_text(canon, "[");
		return WD_OK;
	}
	put_text(canon, "{");
	return sorted_keys(value, level);
}

static void
leave(struct wd_canon *canon, struct level *level)
{
	put_text(canon, level->keys == NULL ? "]" : "}");
	wd_free(level->keys);
	level->keys = NULL;
}

/* Writes what stands before the next member, and returns the member. */
static const json_t *
next_member(struct wd_canon *canon, struct level *level)
{
	const char *key;

	if (level->at > 0)
		put_text(canon, ",");
	if (level->keys == NULL)
		return json_array_get(level->value, level->at++);
	key = level->keys[level->at++];
	put_quoted(canon, key, strlen(key));
	put_text(canon, ":");
	return json_object_get(level->value, key);
}

static bool
is_container(const json_t *value)
{
	return json_is_array(value) || json_is_object(value);
}

static void
put_container(struct wd_canon *canon, const json_t *value)
{
	struct level levels[WD_MAX_JSON_DEPTH + 1];
	enum wd_status st = enter(canon, &levels[0], value);
	size_t depth = 1;

	while (depth > 0 && st == WD_OK) {
		struct level *level = &levels[depth - 1];
		const json_t *member;

		if (level->at == level->count) {
			leave(canon, level);
			depth--;
			continue;
		}
		member = next_member(canon, level);
		if (!is_container(member))
			put_scalar(canon, member);
		else if (depth <= WD_MAX_JSON_DEPTH)
			st = enter(canon, &levels[depth++], member);
		else
			st = WD_LIMIT;
	}
	while (depth > 0)
		wd_free(levels[--depth].keys);
	if (st != WD_OK)
		canon->status = st;
}

void
wd_canon_json(struct wd_canon *canon, const json_t *value)
{
	if (is_container(value))
		put_container(canon, value);
	else if (json_is_string(value))
		wd_canon_bytes(
		    canon, json_string_value(value), json_string_length(value));
	else
		put_scalar(canon, value);
}

enum wd_status
wd_canon_value(struct wd_canon *canon, struct wd_slice *value)
{
	char text[WD_SHA256_TEXT_BYTES];
	struct wd_sha256 digest;

	*value = wd_buf_slice(&canon->text);
	if (canon->status != WD_OK)
		return canon->status;
	if (canon->hasher == NULL)
		return WD_OK;
	canon->status = wd_hasher_finish(canon->hasher, &digest, NULL);
	if (canon->status != WD_OK)
		return canon->status;
	wd_buf_reset(&canon->text);
	canon->status =
	    wd_buf_text(&canon->text, wd_sha256_text(&digest, text));
	*value = wd_buf_slice(&canon->text);
	return canon->status;
}
