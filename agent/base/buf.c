#include "base/buf.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

void
wd_buf_init(struct wd_buf *buf, size_t max)
{
	*buf = (struct wd_buf){ NULL, 0, 0, max, WD_OK };
}

void
wd_buf_release(struct wd_buf *buf)
{
	wd_free(buf->data);
	wd_buf_init(buf, buf->max);
}

void
wd_buf_reset(struct wd_buf *buf)
{
	buf->len = 0;
	buf->status = WD_OK;
	if (buf->data != NULL)
		buf->data[0] = '\0';
}

static size_t
next_capacity(const struct wd_buf *buf, size_t needed)
{
	size_t wanted = buf->capacity < 64 ? 64 : buf->capacity;

	while (wanted < needed && wanted <= buf->max / 2)
		wanted *= 2;
	if (wanted < needed || wanted > buf->max)
		wanted = buf->max;
	return wanted == SIZE_MAX ? SIZE_MAX - 1 : wanted;
}

enum wd_status
wd_buf_reserve(struct wd_buf *buf, size_t len, uint8_t **space)
{
	size_t capacity;
	uint8_t *grown;

	if (buf->status != WD_OK)
		return buf->status;
	/* SIZE_MAX itself leaves no room for the NUL. */
	if (len > buf->max - buf->len || len == SIZE_MAX - buf->len)
		return buf->status = WD_LIMIT;
	if (buf->data == NULL || len > buf->capacity - buf->len) {
		capacity = next_capacity(buf, buf->len + len);
		grown = wd_reallocarray(buf->data, capacity + 1, 1);
		if (grown == NULL)
			return buf->status = WD_NOMEM;
		buf->data = grown;
		buf->capacity = capacity;
		buf->data[buf->len] = '\0';
	}
	*space = buf->data + buf->len;
	return WD_OK;
}

void
wd_buf_advance(struct wd_buf *buf, size_t len)
{
	assert(len <= buf->capacity - buf->len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

enum wd_status
wd_buf_append(struct wd_buf *buf, const void *bytes, size_t len)
{
	uint8_t *space;

	if (wd_buf_reserve(buf, len, &space) != WD_OK)
		return buf->status;
	if (len > 0)
		memcpy(space, bytes, len);
	wd_buf_advance(buf, len);
	return WD_OK;
}

enum wd_status
wd_buf_text(struct wd_buf *buf, const char *text)
{
	return wd_buf_append(buf, text, strlen(text));
}

enum wd_status
wd_buf_byte(struct wd_buf *buf, uint8_t byte)
{
	return wd_buf_append(buf, &byte, 1);
}

enum wd_status
wd_buf_vprintf(struct wd_buf *buf, const char *format, va_list args)
{
	va_list again;
	uint8_t *space;
	int len;

	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (len < 0)
		return buf->status = WD_LIMIT;
	if (wd_buf_reserve(buf, (size_t)len, &space) != WD_OK)
		return buf->status;
	(void)vsnprintf((char *)space, (size_t)len + 1, format, args);
	wd_buf_advance(buf, (size_t)len);
	return WD_OK;
}

enum wd_status
wd_buf_printf(struct wd_buf *buf, const char *format, ...)
{
	enum wd_status st;
	va_list args;

	va_start(args, format);
	st = wd_buf_vprintf(buf, format, args);
	va_end(args);
	return st;
}

const char *
wd_buf_string(const struct wd_buf *buf)
{
	return buf->data == NULL ? "" : (const char *)buf->data;
}

struct wd_slice
wd_buf_slice(const struct wd_buf *buf)
{
	return (struct wd_slice){ buf->data, buf->len };
}

char *
wd_buf_detach(struct wd_buf *buf)
{
	char *text;

	if (buf->status != WD_OK)
		return NULL;
	if (buf->data == NULL)
		return wd_strdup("");
	text = (char *)buf->data;
	wd_buf_init(buf, buf->max);
	return text;
}
