/* Who has the other end of a pipe or socket, and who maps an object, on the
 * running kernel: host/ends.h. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/ends.h"
#include "support/livehost.h"
#include "support/suite.h"

static struct wd_host *host;

static void
set_up(void)
{
	host = live_open();
}

static void
tear_down(void)
{
	wd_host_free(&host);
	live_kill_all();
}

static void
nothing(void *argument)
{
	(void)argument;
}

static const struct wd_end *
end_of(const struct wd_ends *found, pid_t pid, int fd)
{
	size_t i;

	for (i = 0; i < found->count; i++)
		if (found->items[i].pid == pid && found->items[i].fd == fd)
			return &found->items[i];
	return NULL;
}

START_TEST(both_ends_of_a_pipe_are_told_apart)
{
	struct wd_ends_wanted wanted = { NULL, 0, NULL, 1 };
	struct wd_ends found;
	const struct wd_end *end;
	struct stat st;
	uint64_t inode;
	pid_t child;
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(fstat(ends[0], &st), 0);
	inode = st.st_ino;
	wanted.pipes = &inode;
	child = live_spawn(nothing, NULL);
	ck_assert_int_eq(
	    wd_host_ends(host, &wanted, NULL, &found, NULL), WD_OK);
	end = end_of(&found, getpid(), ends[0]);
	ck_assert_ptr_nonnull(end);
	ck_assert(end->is_pipe && end->readable && !end->writable);
	end = end_of(&found, child, ends[1]);
	ck_assert_ptr_nonnull(end);
	ck_assert(end->is_pipe && !end->readable && end->writable);
	ck_assert_uint_eq(end->inode, inode);
	wd_ends_release(&found);
	/* The same number as a socket's is another thing. */
	wanted = (struct wd_ends_wanted){ &inode, 1, NULL, 0 };
	ck_assert_int_eq(
	    wd_host_ends(host, &wanted, NULL, &found, NULL), WD_OK);
	ck_assert_uint_eq(found.count, 0);
	wd_ends_release(&found);
	(void)close(ends[0]);
	(void)close(ends[1]);
}
END_TEST

START_TEST(a_socket_is_found)
{
	struct wd_ends_wanted wanted = { NULL, 1, NULL, 0 };
	struct wd_ends found;
	uint64_t inode;
	int two[2];

	ck_assert_int_eq(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, two), 0);
	inode = live_inode(two[1]);
	wanted.sockets = &inode;
	ck_assert_int_eq(
	    wd_host_ends(host, &wanted, NULL, &found, NULL), WD_OK);
	ck_assert_uint_eq(found.count, 1);
	ck_assert(end_of(&found, getpid(), two[1]) != NULL);
	ck_assert(!found.items[0].is_pipe);
	wd_ends_release(&found);
	(void)close(two[0]);
	(void)close(two[1]);
}
END_TEST

static bool
is_mapper(const struct wd_mappers *found, pid_t pid, const void *at)
{
	size_t i;

	for (i = 0; i < found->count; i++)
		if (found->items[i].pid == pid &&
		    found->items[i].start == (uintptr_t)at &&
		    found->items[i].shared && found->items[i].writable)
			return true;
	return false;
}

START_TEST(whoever_maps_it_is_found)
{
	int fd = memfd_create("ring", MFD_CLOEXEC);
	struct wd_object_number number;
	struct wd_mappers found;
	struct stat st;
	pid_t child;
	void *at;

	ck_assert_int_eq(ftruncate(fd, 4096), 0);
	at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert(at != MAP_FAILED);
	ck_assert_int_eq(fstat(fd, &st), 0);
	number = (struct wd_object_number){ st.st_dev, st.st_ino };
	child = live_spawn(nothing, NULL);
	ck_assert_int_eq(
	    wd_host_mappers(host, &number, 1, NULL, &found, NULL), WD_OK);
	ck_assert_uint_eq(found.count, 2);
	ck_assert(is_mapper(&found, getpid(), at));
	ck_assert(is_mapper(&found, child, at));
	wd_mappers_release(&found);
	number.inode++;
	ck_assert_int_eq(
	    wd_host_mappers(host, &number, 1, NULL, &found, NULL), WD_OK);
	ck_assert_uint_eq(found.count, 0);
	wd_mappers_release(&found);
	(void)munmap(at, 4096);
	(void)close(fd);
}
END_TEST

/* A walk that the deadline ended supports no negative. */
START_TEST(a_late_walk_is_incomplete)
{
	struct wd_deadline deadline = wd_deadline_in(&wd_clock_system, -1);
	uint64_t inode = 1;
	struct wd_ends_wanted wanted = { &inode, 1, &inode, 1 };
	struct wd_object_number number = { 1, 1 };
	struct wd_mappers rows;
	struct wd_ends ends;

	ck_assert_int_eq(
	    wd_host_ends(host, &wanted, &deadline, &ends, NULL), WD_OK);
	ck_assert(!ends.complete);
	ck_assert_uint_gt(ends.blinds.count, 0);
	wd_ends_release(&ends);
	ck_assert_int_eq(
	    wd_host_mappers(host, &number, 1, &deadline, &rows, NULL), WD_OK);
	ck_assert(!rows.complete);
	ck_assert_uint_gt(rows.blinds.count, 0);
	wd_mappers_release(&rows);
}
END_TEST

/* The table of processes tells sessions as well. */
START_TEST(the_table_tells_sessions)
{
	struct wd_pids pids;
	bool seen = false;
	size_t i;

	ck_assert_int_eq(wd_host_pids(host, NULL, &pids, NULL), WD_OK);
	for (i = 0; i < pids.count; i++)
		if (pids.items[i].pid == getpid()) {
			seen = true;
			ck_assert_int_eq(pids.items[i].sid, getsid(0));
			ck_assert_int_eq(pids.items[i].pgid, getpgrp());
		}
	ck_assert(seen);
	wd_pids_release(&pids);
}
END_TEST

WD_SUITE_BEGIN("host ends")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_TEST(both_ends_of_a_pipe_are_told_apart);
WD_TEST(a_socket_is_found);
WD_TEST(whoever_maps_it_is_found);
WD_TEST(a_late_walk_is_incomplete);
WD_TEST(the_table_tells_sessions);
WD_SUITE_END
