#include "seam/line.h"

#include <string.h>

#include "base/escape.h"
#include "base/limits.h"
#include "base/mem.h"
#include "seam/message_frame.h"
#include "wire/unpack.h"

enum wd_status
wd_message_frame(uint16_t kind, uint64_t id, const ProtobufCMessage *message,
    struct wd_frame *frame, struct wd_error *err)
{
	*frame = wd_frame_init(kind, id);
	frame->len = protobuf_c_message_get_packed_size(message);
	if (frame->len > WD_MAX_SEAM_MESSAGE)
		return wd_fail(err, WD_LIMIT,
		    "seam: a message of %zu bytes; at most %zu can be carried",
		    frame->len, (size_t)WD_MAX_SEAM_MESSAGE);
	frame->data = wd_calloc(frame->len, 1);
	if (frame->data == NULL)
		return wd_fail(err, WD_NOMEM, "seam: out of memory");
	(void)protobuf_c_message_pack(message, frame->data);
	return WD_OK;
}

enum wd_status
wd_line_send(int socket, enum wd_line_kind kind,
    const ProtobufCMessage *message, int fd, const struct wd_deadline *deadline,
    struct wd_error *err)
{
	struct wd_frame frame;
	enum wd_status st =
	    wd_message_frame((uint16_t)kind, 0, message, &frame, err);

	if (st != WD_OK)
		return st;
	if (fd >= 0)
		frame.fds[frame.fd_count++] = fd;
	st = wd_frame_send(socket, &frame, deadline, err);
	frame.fd_count = 0; /* the descriptor stays the caller's */
	wd_frame_release(&frame);
	return st;
}

void *
wd_line_message(
    const struct wd_frame *frame, const ProtobufCMessageDescriptor *descriptor)
{
	struct wd_slice bytes = { frame->data, frame->len };
	ProtobufCMessage *message = NULL;

	if (wd_wire_unpack(descriptor, bytes, WD_WIRE_REFUSE_UNKNOWN,
		WD_MAX_SEAM_MEMORY, &message, NULL) != WD_OK)
		return NULL;
	return message;
}

void
wd_line_failure(enum wd_status status, const struct wd_error *err,
    Weightd__Seam__V1__Failure *failure)
{
	weightd__seam__v1__failure__init(failure);
	failure->status = status;
	if (status == WD_OK || err == NULL)
		return;
	failure->os_errno = err->os_errno;
	failure->offset = err->offset;
	failure->message.len = strlen(err->message);
	/* Packing reads it only. */
	memcpy(&failure->message.data, &(const char *){ err->message },
	    sizeof(failure->message.data));
}

/* Escaped already by whoever made it, which the other side may not be any
 * more. */
static bool
is_plain(struct wd_slice text)
{
	uint32_t code;
	size_t len;

	for (; text.len > 0; text.data += len, text.len -= len) {
		len = wd_utf8_char(text, &code);
		if (len == 0 || (code != '\\' && !wd_code_point_plain(code)))
			return false;
	}
	return true;
}

enum wd_status
wd_line_status(const Weightd__Seam__V1__Failure *failure, struct wd_error *err)
{
	char escaped[WD_ERROR_MESSAGE_BYTES];
	struct wd_slice text;

	if (failure == NULL || failure->status == WD_OK)
		return WD_OK;
	if (failure->status > WD_OK || failure->status < WD_STALE)
		return wd_fail(
		    err, WD_MALFORMED, "seam: an unknown status came back");
	text = (struct wd_slice){ failure->message.data,
		failure->message.len < sizeof(escaped) ? failure->message.len :
							 sizeof(escaped) };
	if (is_plain(text))
		(void)wd_fail_at(err, (enum wd_status)failure->status,
		    failure->offset, "%.*s", (int)text.len,
		    (const char *)text.data);
	else
		(void)wd_fail_at(err, (enum wd_status)failure->status,
		    failure->offset, "%s",
		    wd_escape_short(escaped, sizeof(escaped), text));
	if (err != NULL)
		err->os_errno = failure->os_errno;
	return (enum wd_status)failure->status;
}
