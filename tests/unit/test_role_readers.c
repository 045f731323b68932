/* Lines to a reader that is replaced while threads ask. */
#include "role/readers.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "seam/frame.h"
#include "support/suite.h"

static struct wd_readers *readers;
static struct wd_reader_lines lines;
static int control[2];

static void
set_up(void)
{
	ck_assert_int_eq(
	    wd_readers_new(&wd_clock_system, &readers, NULL), WD_OK);
	lines = wd_readers_lines(readers);
	ck_assert_int_eq(wd_frame_pair(control, NULL), WD_OK);
}

static void
tear_down(void)
{
	(void)close(control[0]);
	if (control[1] >= 0)
		(void)close(control[1]);
	wd_readers_free(&readers);
}

static bool
is_woken(void)
{
	struct pollfd item = { .fd = wd_readers_wake_fd(readers),
		.events = POLLIN };

	return poll(&item, 1, 0) == 1;
}

START_TEST(a_line_leads_to_the_reader)
{
	struct wd_frame frame;
	int socket = -1, other;
	char byte = 0;

	set_up();
	wd_readers_use(readers, control[0]);
	ck_assert_int_eq(lines.open(lines.ctx, &socket, NULL), WD_OK);
	ck_assert_int_eq(
	    wd_frame_receive(control[1], 0, NULL, &frame, NULL), WD_OK);
	other = wd_frame_take_fd(&frame);
	ck_assert_int_eq(write(socket, "x", 1), 1);
	ck_assert_int_eq(read(other, &byte, 1), 1);
	ck_assert_int_eq(byte, 'x');
	(void)close(other);
	ck_assert_int_eq(read(socket, &byte, 1), 0);
	(void)close(socket);
	wd_frame_release(&frame);
	tear_down();
}
END_TEST

static void *
start_reader(void *ctx)
{
	(void)ctx;
	(void)usleep(20000);
	wd_readers_use(readers, control[0]);
	return NULL;
}

START_TEST(a_thread_waits_for_a_new_reader)
{
	pthread_t starter;
	int socket = -1;

	set_up();
	ck_assert_int_eq(pthread_create(&starter, NULL, start_reader, NULL), 0);
	ck_assert_int_eq(lines.open(lines.ctx, &socket, NULL), WD_OK);
	(void)pthread_join(starter, NULL);
	(void)close(socket);
	tear_down();
}
END_TEST

START_TEST(no_reader_comes_any_more)
{
	struct wd_error err;
	int socket = -1;

	set_up();
	wd_error_init(&err);
	wd_readers_close(readers);
	ck_assert_int_eq(lines.open(lines.ctx, &socket, &err), WD_BUSY);
	ck_assert(err.message[0] != '\0');
	wd_readers_use(readers, control[0]);
	ck_assert_int_eq(lines.open(lines.ctx, &socket, &err), WD_BUSY);
	tear_down();
}
END_TEST

START_TEST(a_hung_reader_is_given_up)
{
	int socket = -1;

	set_up();
	wd_readers_use(readers, control[0]);
	ck_assert_int_eq(lines.open(lines.ctx, &socket, NULL), WD_OK);
	ck_assert(!is_woken());
	lines.lost(lines.ctx, socket);
	ck_assert(is_woken());
	ck_assert(wd_readers_given_up(readers));
	ck_assert(!is_woken());
	ck_assert(!wd_readers_given_up(readers));
	(void)close(socket);
	tear_down();
}
END_TEST

/* A line of yesterday's reader says nothing about today's. */
START_TEST(another_reader_is_spared)
{
	int socket = -1;

	set_up();
	wd_readers_use(readers, control[0]);
	ck_assert_int_eq(lines.open(lines.ctx, &socket, NULL), WD_OK);
	wd_readers_use(readers, -1);
	lines.lost(lines.ctx, socket);
	ck_assert(!is_woken());
	wd_readers_use(readers, control[0]);
	lines.lost(lines.ctx, socket);
	ck_assert(!is_woken());
	ck_assert(!wd_readers_given_up(readers));
	(void)close(socket);
	tear_down();
}
END_TEST

WD_SUITE_BEGIN("role readers")
WD_TEST(a_line_leads_to_the_reader);
WD_TEST(a_thread_waits_for_a_new_reader);
WD_TEST(no_reader_comes_any_more);
WD_TEST(a_hung_reader_is_given_up);
WD_TEST(another_reader_is_spared);
WD_SUITE_END
