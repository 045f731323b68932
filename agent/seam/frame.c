#include "seam/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/mem.h"
#include "seam/frame_some.h"

/* Some systems set these by other means: SIGPIPE is ignored by every program
 * of ours, and the flag is set behind the call. */
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif
#ifndef MSG_CMSG_CLOEXEC
#define MSG_CMSG_CLOEXEC 0
#endif
#ifndef SOCK_CLOEXEC
#define SOCK_CLOEXEC 0
#endif

struct wd_frame
wd_frame_init(uint16_t kind, uint64_t id)
{
	struct wd_frame frame = { .kind = kind, .id = id };

	memset(frame.fds, -1, sizeof(frame.fds));
	return frame;
}

void
wd_frame_release(struct wd_frame *frame)
{
	unsigned i;

	for (i = 0; i < frame->fd_count; i++)
		if (frame->fds[i] >= 0)
			(void)close(frame->fds[i]);
	frame->fd_count = 0;
	wd_free(frame->data);
	frame->data = NULL;
	frame->len = 0;
}

int
wd_frame_take_fd(struct wd_frame *frame)
{
	int fd;

	if (frame->fd_count == 0)
		return -1;
	fd = frame->fds[0];
	frame->fds[0] = -1;
	return fd;
}

/* ---- the header ---------------------------------------------------------- */

static void
put(uint8_t *bytes, uint64_t value, unsigned count)
{
	unsigned i;

	for (i = 0; i < count; i++)
		bytes[i] = (uint8_t)(value >> (8 * i));
}

void
wd_frame_header_write(
    const struct wd_frame_header *header, uint8_t bytes[WD_FRAME_HEADER_BYTES])
{
	put(bytes, header->len, 4);
	put(bytes + 4, header->kind, 2);
	put(bytes + 6, header->fd_count, 2);
	put(bytes + 8, header->id, 8);
}

enum wd_status
wd_frame_header_read(const uint8_t bytes[WD_FRAME_HEADER_BYTES],
    size_t max_bytes, struct wd_frame_header *header, struct wd_error *err)
{
	struct wd_cursor cursor =
	    wd_cursor_of((struct wd_slice){ bytes, WD_FRAME_HEADER_BYTES });

	if (wd_read_u32(&cursor, &header->len) != WD_OK ||
	    wd_read_u16(&cursor, &header->kind) != WD_OK ||
	    wd_read_u16(&cursor, &header->fd_count) != WD_OK ||
	    wd_read_u64(&cursor, &header->id) != WD_OK)
		return wd_fail(err, WD_MALFORMED, "frame: short header");
	if (header->len > max_bytes || header->fd_count > WD_FRAME_DESCRIPTORS)
		return wd_fail(err, WD_MALFORMED,
		    "frame: announces %u bytes and %u descriptors, allowed are "
		    "%zu and %u",
		    header->len, header->fd_count, max_bytes,
		    WD_FRAME_DESCRIPTORS);
	return WD_OK;
}

/* ---- waiting ------------------------------------------------------------- */

static enum wd_status
wait_for(int socket, short events, const struct wd_deadline *deadline,
    struct wd_error *err)
{
	struct pollfd item = { .fd = socket, .events = events };
	int64_t left = deadline == NULL ? -1 : wd_deadline_left_ms(deadline);
	int count = poll(&item, 1, left > INT_MAX ? INT_MAX : (int)left);

	if (count < 0 && errno != EINTR)
		return wd_fail_errno(err, errno, "frame: poll");
	if (count == 0 && deadline != NULL && wd_deadline_passed(deadline))
		return wd_fail(err, WD_TIMEDOUT,
		    "frame: the other process does not answer in time");
	return WD_OK;
}

static bool
would_block(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static enum wd_status
broken(const char *doing, struct wd_error *err)
{
	if (errno == EPIPE || errno == ECONNRESET)
		return wd_fail(
		    err, WD_GONE, "frame: the other process has ended");
	return wd_fail_errno(err, errno, "frame: %s", doing);
}

/* ---- sending ------------------------------------------------------------- */

union control {
	struct cmsghdr header;
	uint8_t bytes[CMSG_SPACE(sizeof(int) * WD_FRAME_DESCRIPTORS)];
};

static void
attach(struct msghdr *message, union control *control,
    const struct wd_frame *frame)
{
	size_t bytes = frame->fd_count * sizeof(int);
	struct cmsghdr *head;

	if (frame->fd_count == 0)
		return;
	memset(control, 0, sizeof(*control));
	message->msg_control = control->bytes;
	message->msg_controllen = CMSG_SPACE(bytes);
	head = CMSG_FIRSTHDR(message);
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(bytes);
	memcpy(CMSG_DATA(head), frame->fds, bytes);
}

/* Header and data from byte `done` on. */
static unsigned
parts(struct iovec iov[2], uint8_t *header, const struct wd_frame *frame,
    size_t done)
{
	unsigned count = 0;

	if (done < WD_FRAME_HEADER_BYTES)
		iov[count++] = (struct iovec){ header + done,
			WD_FRAME_HEADER_BYTES - done };
	done = done > WD_FRAME_HEADER_BYTES ? done - WD_FRAME_HEADER_BYTES : 0;
	if (frame->len > done)
		iov[count++] =
		    (struct iovec){ frame->data + done, frame->len - done };
	return count;
}

enum wd_status
wd_frame_send_some(int socket, const struct wd_frame *frame, size_t *done,
    struct wd_error *err)
{
	struct wd_frame_header header = { (uint32_t)frame->len, frame->kind,
		(uint16_t)frame->fd_count, frame->id };
	uint8_t bytes[WD_FRAME_HEADER_BYTES];
	union control control;
	struct iovec iov[2];
	struct msghdr message = { .msg_iov = iov };
	ssize_t sent;

	wd_frame_header_write(&header, bytes);
	message.msg_iovlen = parts(iov, bytes, frame, *done);
	if (*done == 0)
		attach(&message, &control, frame);
	sent = sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent < 0)
		return would_block() ? WD_BUSY : broken("send", err);
	*done += (size_t)sent;
	return WD_OK;
}

enum wd_status
wd_frame_send(int socket, const struct wd_frame *frame,
    const struct wd_deadline *deadline, struct wd_error *err)
{
	size_t done = 0, total = WD_FRAME_HEADER_BYTES + frame->len;
	enum wd_status st;

	if (frame->len > UINT32_MAX)
		return wd_fail(err, WD_LIMIT, "frame: more than 4 GiB");
	while (done < total) {
		st = wd_frame_send_some(socket, frame, &done, err);
		if (st == WD_BUSY)
			st = wait_for(socket, POLLOUT, deadline, err);
		if (st != WD_OK)
			return st;
	}
	return WD_OK;
}

/* ---- receiving ----------------------------------------------------------- */

/* Keeps the descriptors of one message; false when there were too many. */
static bool
keep(struct msghdr *message, struct wd_frame *frame)
{
	struct cmsghdr *head;
	bool fits = (message->msg_flags & MSG_CTRUNC) == 0;

	for (head = CMSG_FIRSTHDR(message); head != NULL;
	     head = CMSG_NXTHDR(message, head)) {
		const uint8_t *data = CMSG_DATA(head);
		size_t bytes = head->cmsg_len - CMSG_LEN(0), at;

		if (head->cmsg_level != SOL_SOCKET ||
		    head->cmsg_type != SCM_RIGHTS)
			continue;
		for (at = 0; at + sizeof(int) <= bytes; at += sizeof(int)) {
			int fd;

			memcpy(&fd, data + at, sizeof(fd));
			(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
			if (frame->fd_count < WD_FRAME_DESCRIPTORS) {
				frame->fds[frame->fd_count++] = fd;
				continue;
			}
			(void)close(fd);
			fits = false;
		}
	}
	return fits;
}

enum wd_status
wd_frame_take_some(int socket, uint8_t *bytes, size_t len, size_t *done,
    struct wd_frame *frame, struct wd_error *err)
{
	union control control;
	struct iovec iov = { bytes + *done, len - *done };
	struct msghdr message = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	ssize_t got =
	    recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (got > 0 && !keep(&message, frame))
		return wd_fail(
		    err, WD_MALFORMED, "frame: too many descriptors");
	if (got == 0)
		return wd_fail(
		    err, WD_GONE, "frame: the other process has ended");
	if (got < 0)
		return would_block() ? WD_BUSY : broken("receive", err);
	*done += (size_t)got;
	return WD_OK;
}

/* Exactly `len` bytes, with what descriptors come along. */
static enum wd_status
take(int socket, uint8_t *bytes, size_t len, const struct wd_deadline *deadline,
    struct wd_frame *frame, struct wd_error *err)
{
	size_t done = 0;
	enum wd_status st;

	while (done < len) {
		st = wd_frame_take_some(socket, bytes, len, &done, frame, err);
		if (st == WD_BUSY)
			st = wait_for(socket, POLLIN, deadline, err);
		if (st != WD_OK)
			return st;
	}
	return WD_OK;
}

static enum wd_status
receive(int socket, size_t max_bytes, const struct wd_deadline *deadline,
    struct wd_frame *frame, struct wd_error *err)
{
	uint8_t bytes[WD_FRAME_HEADER_BYTES];
	struct wd_frame_header header;
	enum wd_status st;

	st = take(socket, bytes, sizeof(bytes), deadline, frame, err);
	if (st == WD_OK)
		st = wd_frame_header_read(bytes, max_bytes, &header, err);
	if (st != WD_OK)
		return st;
	frame->kind = header.kind;
	frame->id = header.id;
	if (header.len > 0) {
		frame->data = wd_calloc(header.len, 1);
		if (frame->data == NULL)
			return wd_fail(err, WD_NOMEM,
			    "frame: no memory for %u bytes", header.len);
		frame->len = header.len;
		st =
		    take(socket, frame->data, frame->len, deadline, frame, err);
	}
	if (st == WD_OK && frame->fd_count != header.fd_count)
		return wd_fail(err, WD_MALFORMED,
		    "frame: %u descriptors came, %u were announced",
		    frame->fd_count, header.fd_count);
	return st;
}

enum wd_status
wd_frame_receive(int socket, size_t max_bytes,
    const struct wd_deadline *deadline, struct wd_frame *frame,
    struct wd_error *err)
{
	enum wd_status st;

	*frame = wd_frame_init(0, 0);
	st = receive(socket, max_bytes, deadline, frame, err);
	if (st != WD_OK)
		wd_frame_release(frame);
	return st;
}

enum wd_status
wd_frame_pair(int pair[2], struct wd_error *err)
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return wd_fail_errno(err, errno, "no pair of sockets");
	(void)fcntl(pair[0], F_SETFD, FD_CLOEXEC);
	(void)fcntl(pair[1], F_SETFD, FD_CLOEXEC);
	return WD_OK;
}
