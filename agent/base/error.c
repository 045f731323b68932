#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void
wd_error_init(struct wd_error *err)
{
	err->status = WD_OK;
	err->os_errno = 0;
	err->offset = WD_ERROR_NO_OFFSET;
	err->message[0] = '\0';
}

/* Takes off a UTF-8 sequence that a cut left unfinished: a message goes into
 * protobuf strings, which must be valid. */
static void
drop_unfinished(char *text, size_t len)
{
	size_t start = len;

	while (start > 0 && ((uint8_t)text[start - 1] & 0xc0) == 0x80)
		start--;
	if (start > 0 && (uint8_t)text[start - 1] >= 0xc0)
		text[start - 1] = '\0';
}

/* Copies `text` to message[at...]; what does not fit is cut off. */
static void
place(struct wd_error *err, size_t at, const char *text, size_t len)
{
	size_t room = sizeof(err->message) - 1 - at;
	bool cut = len > room;

	memcpy(err->message + at, text, cut ? room : len);
	err->message[at + (cut ? room : len)] = '\0';
	if (cut)
		drop_unfinished(err->message, at + room);
}

/* The message is made elsewhere first: an argument may be err->message. One
 * byte more than fits shows place() that it was cut. */
__attribute__((format(printf, 5, 0))) static void
fill(struct wd_error *err, enum wd_status status, int os_errno, uint64_t offset,
    const char *format, va_list args)
{
	char text[WD_ERROR_MESSAGE_BYTES + 1];

	(void)vsnprintf(text, sizeof(text), format, args);
	place(err, 0, text, strlen(text));
	err->status = status;
	err->os_errno = os_errno;
	err->offset = offset;
}

enum wd_status
wd_fail(struct wd_error *err, enum wd_status status, const char *format, ...)
{
	va_list args;

	if (err == NULL)
		return status;
	va_start(args, format);
	fill(err, status, 0, WD_ERROR_NO_OFFSET, format, args);
	va_end(args);
	return status;
}

enum wd_status
wd_fail_at(struct wd_error *err, enum wd_status status, uint64_t offset,
    const char *format, ...)
{
	va_list args;

	if (err == NULL)
		return status;
	va_start(args, format);
	fill(err, status, 0, offset, format, args);
	va_end(args);
	return status;
}

enum wd_status
wd_fail_errno(struct wd_error *err, int os_errno, const char *format, ...)
{
	enum wd_status status = wd_status_from_errno(os_errno);
	char reason[128];
	va_list args;
	int reason_len;
	size_t len;

	if (err == NULL)
		return status;
	va_start(args, format);
	fill(err, status, os_errno, WD_ERROR_NO_OFFSET, format, args);
	va_end(args);
	/* The reason matters more than the end of a long path. */
	reason_len =
	    snprintf(reason, sizeof(reason), ": %s", strerror(os_errno));
	if (reason_len < 0 || (size_t)reason_len >= sizeof(reason))
		reason_len = (int)strlen(reason);
	len = strlen(err->message);
	if (len > sizeof(err->message) - 1 - (size_t)reason_len) {
		len = sizeof(err->message) - 1 - (size_t)reason_len;
		err->message[len] = '\0';
		drop_unfinished(err->message, len);
		len = strlen(err->message);
	}
	place(err, len, reason, (size_t)reason_len);
	return status;
}
