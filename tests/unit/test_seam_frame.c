/* frame.h: messages and descriptors over a socketpair, and what a broken
 * sender gets. */
#include "seam/frame.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/suite.h"

static int pair[2];

static void
set_up(void)
{
	ck_assert_int_eq(wd_frame_pair(pair, NULL), WD_OK);
}

static void
tear_down(void)
{
	(void)close(pair[0]);
	(void)close(pair[1]);
}

static bool
is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

START_TEST(a_frame_comes_as_it_was_sent)
{
	uint8_t bytes[] = "some bytes";
	struct wd_frame out = wd_frame_init(7, 0x1122334455667788), in;
	struct stat a, b;
	int ends[2], fd;

	ck_assert_int_eq(pipe(ends), 0);
	out.data = bytes;
	out.len = sizeof(bytes);
	out.fds[0] = ends[0];
	out.fds[1] = ends[1];
	out.fd_count = 2;
	ck_assert_int_eq(wd_frame_send(pair[0], &out, NULL, NULL), WD_OK);
	ck_assert_int_eq(
	    wd_frame_receive(pair[1], 100, NULL, &in, NULL), WD_OK);
	ck_assert_uint_eq(in.kind, 7);
	ck_assert_uint_eq(in.id, 0x1122334455667788);
	ck_assert_uint_eq(in.len, sizeof(bytes));
	ck_assert_int_eq(memcmp(in.data, bytes, in.len), 0);
	ck_assert_uint_eq(in.fd_count, 2);
	ck_assert_int_eq(fstat(ends[0], &a), 0);
	ck_assert_int_eq(fstat(in.fds[0], &b), 0);
	ck_assert_uint_eq(a.st_ino, b.st_ino);
	ck_assert_int_eq(fcntl(in.fds[0], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	fd = wd_frame_take_fd(&in);
	wd_frame_release(&in);
	ck_assert(is_open(fd));
	(void)close(fd);
	(void)close(ends[0]);
	(void)close(ends[1]);
}
END_TEST

START_TEST(release_closes_what_came)
{
	struct wd_frame out = wd_frame_init(1, 1), in;
	int fd;

	out.fds[out.fd_count++] = pair[0];
	ck_assert_int_eq(wd_frame_send(pair[0], &out, NULL, NULL), WD_OK);
	ck_assert_int_eq(wd_frame_receive(pair[1], 0, NULL, &in, NULL), WD_OK);
	fd = in.fds[0];
	ck_assert(is_open(fd));
	wd_frame_release(&in);
	ck_assert(!is_open(fd));
}
END_TEST

/* Larger than any socket buffer: the two ends take turns. */
START_TEST(a_large_frame_meets_a_slow_reader)
{
	struct wd_deadline soon = wd_deadline_in(&wd_clock_system, 50);
	struct wd_frame out = wd_frame_init(1, 1);

	out.len = 8U << 20;
	out.data = calloc(1, out.len);
	ck_assert_int_eq(
	    wd_frame_send(pair[0], &out, &soon, NULL), WD_TIMEDOUT);
	free(out.data);
}
END_TEST

START_TEST(silence_is_a_timeout)
{
	struct wd_deadline soon = wd_deadline_in(&wd_clock_system, 20);
	struct wd_frame in;

	ck_assert_int_eq(
	    wd_frame_receive(pair[1], 9, &soon, &in, NULL), WD_TIMEDOUT);
}
END_TEST

START_TEST(the_end_is_gone)
{
	struct wd_frame frame = wd_frame_init(1, 1);
	uint8_t half[] = { 9, 0, 0, 0, 1, 0 };

	ck_assert_int_eq(send(pair[0], half, sizeof(half), 0), sizeof(half));
	ck_assert_int_eq(shutdown(pair[0], SHUT_RDWR), 0);
	ck_assert_int_eq(
	    wd_frame_receive(pair[1], 9, NULL, &frame, NULL), WD_GONE);
	frame = wd_frame_init(1, 1);
	ck_assert_int_eq(wd_frame_send(pair[1], &frame, NULL, NULL), WD_GONE);
}
END_TEST

struct header {
	uint32_t len;
	uint16_t fds;
	enum wd_status status;
};

/* With room for 10 bytes; no descriptor is really sent. */
static const struct header headers[] = {
	{ 0, 0, WD_OK },
	{ 11, 0, WD_MALFORMED },
	{ UINT32_MAX, 0, WD_MALFORMED },
	{ 0, 9, WD_MALFORMED },
	{ 0, UINT16_MAX, WD_MALFORMED },
	{ 0, 1, WD_MALFORMED },
};

START_TEST(headers_are_checked)
{
	struct wd_frame_header header = { headers[_i].len, 1, headers[_i].fds,
		1 };
	uint8_t bytes[WD_FRAME_HEADER_BYTES];
	struct wd_frame in;

	wd_frame_header_write(&header, bytes);
	ck_assert_int_eq(send(pair[0], bytes, sizeof(bytes), 0), sizeof(bytes));
	ck_assert_int_eq(
	    wd_frame_receive(pair[1], 10, NULL, &in, NULL), headers[_i].status);
	if (headers[_i].status == WD_OK)
		wd_frame_release(&in);
}
END_TEST

/* More than are announced, and more than are allowed: none stays open. */
START_TEST(descriptors_that_nobody_announced)
{
	int fds[WD_FRAME_DESCRIPTORS + 2], before, after;
	union {
		struct cmsghdr header;
		uint8_t bytes[CMSG_SPACE(sizeof(fds))];
	} control = { 0 };
	struct wd_frame_header header = { 0, 1, 0, 1 };
	uint8_t bytes[WD_FRAME_HEADER_BYTES];
	struct iovec iov = { bytes, sizeof(bytes) };
	struct msghdr message = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes
	};
	struct wd_frame in;
	size_t i, count = _i == 0 ? 1 : WD_COUNT(fds);

	for (i = 0; i < count; i++)
		fds[i] = pair[0];
	wd_frame_header_write(&header, bytes);
	message.msg_controllen = CMSG_SPACE(count * sizeof(int));
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(count * sizeof(int));
	memcpy(CMSG_DATA(&control.header), fds, count * sizeof(int));
	ck_assert_int_gt(sendmsg(pair[0], &message, 0), 0);
	before = dup(0);
	(void)close(before);
	ck_assert_int_eq(
	    wd_frame_receive(pair[1], 10, NULL, &in, NULL), WD_MALFORMED);
	after = dup(0);
	(void)close(after);
	ck_assert_int_eq(before, after);
}
END_TEST

WD_SUITE_BEGIN("seam frame")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_TEST(a_frame_comes_as_it_was_sent);
WD_TEST(release_closes_what_came);
WD_TEST(a_large_frame_meets_a_slow_reader);
WD_TEST(silence_is_a_timeout);
WD_TEST(the_end_is_gone);
WD_LOOP(headers_are_checked, headers);
tcase_add_loop_test(tcase, descriptors_that_nobody_announced, 0, 2);
WD_SUITE_END
