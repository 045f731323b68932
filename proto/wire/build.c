#include "wire/build.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"

static void *
keep(struct wd_build *build, void *memory)
{
	if (memory == NULL)
		build->status = WD_NOMEM;
	return memory;
}

void *
wd_build_new(
    struct wd_build *build, const ProtobufCMessageDescriptor *descriptor)
{
	void *message;

	if (build->status != WD_OK)
		return NULL;
	message = keep(build, wd_calloc(1, descriptor->sizeof_message));
	if (message != NULL)
		protobuf_c_message_init(descriptor, message);
	return message;
}

void
wd_message_free(void *message)
{
	if (message != NULL)
		protobuf_c_message_free_unpacked(message, NULL);
}

void
wd_message_free_scoped(void *pointer_to_message)
{
	void *message;

	memcpy(&message, pointer_to_message, sizeof(message));
	wd_message_free(message);
}

/* The length of the character at the start that may stand in a string; 0 for
 * a NUL, where C would end it, and for bytes that are not UTF-8. */
static size_t
string_char(struct wd_slice bytes)
{
	uint32_t code = 0;
	size_t len = wd_utf8_char(bytes, &code);

	return code == 0 ? 0 : len;
}

/* A copy with U+FFFD in place of each byte that may not stand in a string. */
static char *
clean_copy(struct wd_slice bytes)
{
	struct wd_buf out;
	struct wd_slice rest = bytes;

	wd_buf_init(&out, WD_MAX_MESSAGE);
	(void)wd_buf_text(&out, "");
	while (rest.len > 0 && out.status == WD_OK) {
		size_t len = string_char(rest);

		if (len > 0)
			(void)wd_buf_append(&out, rest.data, len);
		else
			(void)wd_buf_text(&out, "\xef\xbf\xbd");
		len = len > 0 ? len : 1;
		rest.data += len;
		rest.len -= len;
	}
	if (out.status == WD_OK)
		return wd_buf_detach(&out);
	wd_buf_release(&out);
	return NULL;
}

static bool
is_clean(struct wd_slice bytes)
{
	return wd_utf8_valid(bytes) &&
	    (bytes.len == 0 || memchr(bytes.data, '\0', bytes.len) == NULL);
}

static char *
string_of(struct wd_build *build, struct wd_slice bytes)
{
	if (build->status != WD_OK)
		return NULL;
	if (is_clean(bytes))
		return keep(build, wd_memdup0(bytes.data, bytes.len));
	return keep(build, clean_copy(bytes));
}

static void
replace_string(char **field, char *text)
{
	if (*field != protobuf_c_empty_string)
		wd_free(*field);
	*field = text;
}

void
wd_build_slice(struct wd_build *build, char **field, struct wd_slice text)
{
	char *copy = string_of(build, text);

	if (copy != NULL)
		replace_string(field, copy);
}

void
wd_build_text(struct wd_build *build, char **field, const char *text)
{
	wd_build_slice(build, field, wd_slice_text(text == NULL ? "" : text));
}

void
wd_build_printf(struct wd_build *build, char **field, const char *format, ...)
{
	struct wd_buf out;
	va_list args;

	if (build->status != WD_OK)
		return;
	wd_buf_init(&out, WD_MAX_MESSAGE);
	va_start(args, format);
	(void)wd_buf_vprintf(&out, format, args);
	va_end(args);
	if (out.status == WD_OK)
		wd_build_slice(build, field, wd_buf_slice(&out));
	else
		build->status = out.status;
	wd_buf_release(&out);
}

void
wd_build_bytes(
    struct wd_build *build, ProtobufCBinaryData *field, struct wd_slice bytes)
{
	char *copy;

	if (build->status != WD_OK)
		return;
	copy = keep(build, wd_memdup0(bytes.data, bytes.len));
	if (copy == NULL)
		return;
	wd_free(field->data);
	field->data = (uint8_t *)copy;
	field->len = bytes.len;
}

void
wd_build_digest(struct wd_build *build, Weightd__V1__Digest **field,
    const struct wd_sha256 *digest)
{
	Weightd__V1__Digest *message;

	if (digest == NULL) {
		wd_message_free(*field);
		*field = NULL;
		return;
	}
	message = wd_build_new(build, &weightd__v1__digest__descriptor);
	if (message == NULL)
		return;
	message->algorithm =
	    WEIGHTD__V1__DIGEST_ALGORITHM__DIGEST_ALGORITHM_SHA256;
	wd_build_bytes(build, &message->value,
	    (struct wd_slice){ digest->bytes, sizeof(digest->bytes) });
	wd_message_free(*field);
	*field = message;
}

bool
wd_message_digest(const Weightd__V1__Digest *message, struct wd_sha256 *digest)
{
	if (message == NULL ||
	    message->algorithm !=
		WEIGHTD__V1__DIGEST_ALGORITHM__DIGEST_ALGORITHM_SHA256 ||
	    message->value.len != sizeof(digest->bytes))
		return false;
	memcpy(digest->bytes, message->value.data, sizeof(digest->bytes));
	return true;
}

void
wd_build_time(struct wd_build *build, Google__Protobuf__Timestamp **field,
    int64_t real_ns)
{
	int64_t seconds = real_ns / WD_NS_PER_SECOND;
	int64_t nanos = real_ns % WD_NS_PER_SECOND;
	Google__Protobuf__Timestamp *message;

	message = wd_build_new(build, &google__protobuf__timestamp__descriptor);
	if (message == NULL)
		return;
	/* nanos count forward, also before 1970 (timestamp.proto) */
	if (nanos < 0) {
		nanos += WD_NS_PER_SECOND;
		seconds--;
	}
	message->seconds = seconds;
	message->nanos = (int32_t)nanos;
	wd_message_free(*field);
	*field = message;
}

bool
wd_build_grow(struct wd_build *build, size_t count, void **items, size_t size)
{
	void *grown;

	if (build->status != WD_OK)
		return false;
	/* by one: an array that was unpacked has no spare capacity */
	grown = wd_reallocarray(*items, count + 1, size);
	if (keep(build, grown) == NULL)
		return false;
	*items = grown;
	return true;
}

void
wd_build_adopt(
    struct wd_build *build, size_t *count, void ***items, void *message)
{
	void *array = *items;

	if (message == NULL)
		return;
	if (!wd_build_grow(build, *count, &array, sizeof(**items))) {
		wd_message_free(message);
		return;
	}
	*items = array;
	(*items)[(*count)++] = message;
}

void *
wd_build_add(struct wd_build *build, size_t *count, void ***items,
    const ProtobufCMessageDescriptor *descriptor)
{
	void *message = wd_build_new(build, descriptor);

	wd_build_adopt(build, count, items, message);
	return build->status == WD_OK ? message : NULL;
}

void
wd_build_add_text(
    struct wd_build *build, size_t *count, char ***items, const char *text)
{
	char *copy = string_of(build, wd_slice_text(text));
	void *array = *items;

	if (copy == NULL)
		return;
	if (!wd_build_grow(build, *count, &array, sizeof(**items))) {
		wd_free(copy);
		return;
	}
	*items = array;
	(*items)[(*count)++] = copy;
}

void
wd_build_add_bytes(struct wd_build *build, size_t *count,
    ProtobufCBinaryData **items, struct wd_slice bytes)
{
	ProtobufCBinaryData item = { 0, NULL };
	void *array = *items;

	wd_build_bytes(build, &item, bytes);
	if (item.data == NULL)
		return;
	if (!wd_build_grow(build, *count, &array, sizeof(**items))) {
		wd_free(item.data);
		return;
	}
	*items = array;
	(*items)[(*count)++] = item;
}
