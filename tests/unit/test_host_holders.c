/* Who holds a socket, on the running kernel (field reports, section A). */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/livehost.h"
#include "support/suite.h"
#include "support/tempdir.h"

static struct wd_host *host;
static uint16_t port;
static int listener;
static uint64_t inode;

static void
set_up(void)
{
	host = live_open();
	listener = live_listen_any(&port);
	inode = live_inode(listener);
}

static void
tear_down(void)
{
	wd_host_free(&host);
	live_kill_all();
	(void)close(listener);
}

static void
nothing(void *argument)
{
	(void)argument;
}

static void
close_listener(void *argument)
{
	(void)argument;
	(void)close(listener);
}

static bool
holds(const struct wd_holders *found, pid_t pid)
{
	size_t i;

	for (i = 0; i < found->count; i++)
		if (found->items[i].pid == pid)
			return true;
	return false;
}

/* Everything that can be read was read. */
static void
check_complete(const struct wd_holders *found)
{
	ck_assert_int_eq(found->complete, live_unreadable_processes() == 0);
	ck_assert_int_eq(found->complete, found->blinds.count == 0);
}

/* ---- several holders ----------------------------------------------------- */

START_TEST(test_A2_A3_every_holder_and_nobody_else)
{
	struct wd_holders found, again;
	pid_t workers[4], stranger = live_spawn(close_listener, NULL);
	size_t i;

	for (i = 0; i < 4; i++)
		workers[i] = live_spawn(nothing, NULL);
	found = live_holders(host, inode);
	ck_assert_uint_eq(found.count, 5);
	for (i = 0; i < 4; i++)
		ck_assert(holds(&found, workers[i]));
	ck_assert(holds(&found, getpid()));
	ck_assert(!holds(&found, stranger));
	ck_assert_int_eq(found.items[0].fd, listener);
	check_complete(&found);
	again = live_holders(host, inode);
	ck_assert_uint_eq(again.count, 5);
	for (i = 0; i < 5; i++) {
		ck_assert_int_eq(again.items[i].pid, found.items[i].pid);
		ck_assert_int_eq(again.items[i].fd, found.items[i].fd);
	}
	wd_holders_release(&found);
	wd_holders_release(&again);
}
END_TEST

START_TEST(several_sockets_in_one_walk)
{
	struct wd_deadline deadline = wd_deadline_none();
	uint16_t other_port;
	int other = live_listen_any(&other_port), copy = dup(listener);
	uint64_t inodes[4] = { live_inode(other), 0, inode, inode };
	struct wd_holders found;

	ck_assert_int_eq(
	    wd_host_holders(host, inodes, 4, &deadline, &found, NULL), WD_OK);
	ck_assert_uint_eq(found.count, 3);
	ck_assert_uint_le(found.items[0].inode, found.items[1].inode);
	wd_holders_release(&found);
	(void)close(other);
	(void)close(copy);
}
END_TEST

static pid_t victim;

static void
kill_victim(void *ctx, enum wd_linux_moment at)
{
	(void)ctx;
	if (at == WD_LINUX_AFTER_PIDS && victim != 0) {
		live_kill(victim);
		victim = 0;
	}
}

START_TEST(test_A7_A13_a_holder_that_vanishes_hides_nobody)
{
	struct wd_host_linux_options options = { .at_moment = kill_victim };
	struct wd_host *other = live_open_with(&options);
	pid_t survivor;
	struct wd_holders found;

	victim = live_spawn(nothing, NULL);
	survivor = live_spawn(nothing, NULL);
	found = live_holders(other, inode);
	ck_assert_int_eq(victim, 0);
	ck_assert(holds(&found, survivor));
	ck_assert(holds(&found, getpid()));
	ck_assert_uint_eq(found.count, 2);
	ck_assert_uint_ge(found.vanished, 1);
	check_complete(&found);
	wd_holders_release(&found);
	wd_host_free(&other);
}
END_TEST

static pid_t newborn;

static void
hand_over(void *ctx, enum wd_linux_moment at)
{
	(void)ctx;
	if (at != WD_LINUX_AFTER_PIDS || newborn != 0)
		return;
	newborn = live_spawn(nothing, NULL);
	(void)close(listener);
}

START_TEST(a_socket_handed_on_during_the_walk_is_found)
{
	struct wd_host_linux_options options = { .at_moment = hand_over };
	struct wd_host *other = live_open_with(&options);
	struct wd_holders found;

	newborn = 0;
	found = live_holders(other, inode);
	ck_assert_uint_eq(found.count, 1);
	ck_assert_int_eq(found.items[0].pid, newborn);
	wd_holders_release(&found);
	wd_host_free(&other);
}
END_TEST

static struct {
	int births;         /* still to come, one after each round */
	bool time_runs_out; /* after the first */
	int64_t now_ns;
} storm;

static int64_t
storm_ns(void *ctx)
{
	(void)ctx;
	return storm.now_ns;
}

static void
after_each_round(void *ctx, enum wd_linux_moment at)
{
	(void)ctx;
	if (at != WD_LINUX_AFTER_WALK)
		return;
	if (storm.births-- > 0)
		(void)live_spawn(nothing, NULL);
	storm.now_ns += storm.time_runs_out ? WD_NS_PER_SECOND : 0;
}

static const struct {
	int births;
	bool time_runs_out;
	enum wd_status why;
} storms[] = {
	{ 2, false, WD_OK },
	{ 1000, false, WD_LIMIT },
	{ 1000, true, WD_TIMEDOUT },
	{ 0, true, WD_TIMEDOUT },
};

START_TEST(processes_born_to_the_end_of_the_look_are_a_blind_spot)
{
	const struct wd_clock clock = { storm_ns, storm_ns, NULL };
	struct wd_deadline deadline = wd_deadline_in(&clock, 500);
	struct wd_host_linux_options options = { .at_moment =
						     after_each_round };
	struct wd_host *other = live_open_with(&options);
	struct wd_holders found;
	size_t i, named = 0;

	storm.births = storms[_i].births;
	storm.time_runs_out = storms[_i].time_runs_out;
	ck_assert_int_eq(
	    wd_host_holders(other, &inode, 1, &deadline, &found, NULL), WD_OK);
	ck_assert(holds(&found, getpid()));
	for (i = 0; i < found.blinds.count; i++)
		if (found.blinds.items[i].why != WD_DENIED) {
			ck_assert_int_eq(
			    found.blinds.items[i].why, storms[_i].why);
			named++;
		}
	ck_assert_uint_eq(named, storms[_i].why == WD_OK ? 0 : 1);
	if (storms[_i].why == WD_OK)
		check_complete(&found);
	else
		ck_assert(!found.complete);
	wd_holders_release(&found);
	wd_host_free(&other);
}
END_TEST

static void
exec_sleep(void *argument)
{
	pid_t child = fork();

	(void)argument;
	if (child != 0)
		return;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)fcntl(listener, F_SETFD, 0);
	(void)execl("/bin/sleep", "sleep", "600", (char *)NULL);
	_exit(1);
}

START_TEST(test_A12_an_inherited_socket_in_another_program)
{
	struct wd_holders found;
	pid_t parent = live_spawn(exec_sleep, NULL);
	size_t i, sleeping = 0;

	(void)close(listener);
	(void)usleep(100000);
	found = live_holders(host, inode);
	for (i = 0; i < found.count; i++)
		sleeping += found.items[i].pid != parent;
	ck_assert_uint_eq(found.count, 2);
	ck_assert_uint_eq(sleeping, 1);
	wd_holders_release(&found);
}
END_TEST

START_TEST(nobody_holds_what_does_not_exist)
{
	struct wd_holders found = live_holders(host, UINT64_MAX);

	ck_assert_uint_eq(found.count, 0);
	wd_holders_release(&found);
}
END_TEST

/* ---- threads ------------------------------------------------------------- */

static int thread_ready[2];

static void *
own_table(void *argument)
{
	char byte = 'x';

	(void)argument;
	if (unshare(CLONE_FILES) == 0)
		(void)!write(thread_ready[1], &byte, 1);
	for (;;)
		(void)pause();
	return NULL;
}

static void *
shared_table(void *argument)
{
	(void)argument;
	for (;;)
		(void)pause();
	return NULL;
}

/* Leader and one thread share a table without the listener; another thread
 * has a table of its own, with it. */
static void
only_a_thread_holds(void *argument)
{
	pthread_t one, two;
	char byte;

	(void)argument;
	if (pipe2(thread_ready, O_CLOEXEC) != 0 ||
	    pthread_create(&one, NULL, own_table, NULL) != 0 ||
	    read(thread_ready[0], &byte, 1) != 1)
		_exit(1);
	(void)close(listener);
	if (pthread_create(&two, NULL, shared_table, NULL) != 0)
		_exit(1);
}

START_TEST(threads_with_their_own_table_are_found)
{
	struct wd_holders found;
	pid_t pid = live_spawn(only_a_thread_holds, NULL);

	(void)close(listener);
	found = live_holders(host, inode);
	ck_assert_uint_eq(found.count, 1);
	ck_assert_int_eq(found.items[0].pid, pid);
	ck_assert_int_ne(found.items[0].tid, pid);
	wd_holders_release(&found);
}
END_TEST

static void
many_threads(void *argument)
{
	pthread_t thread;
	int i;

	(void)argument;
	for (i = 0; i < 20; i++)
		if (pthread_create(&thread, NULL, shared_table, NULL) != 0)
			_exit(1);
}

START_TEST(threads_that_share_the_table_are_not_listed)
{
	struct wd_holders found;
	pid_t pid = live_spawn(many_threads, NULL);

	(void)close(listener);
	found = live_holders(host, inode);
	ck_assert_uint_eq(found.count, 1);
	ck_assert_int_eq(found.items[0].tid, pid);
	wd_holders_release(&found);
}
END_TEST

static void *
after_the_leader(void *argument)
{
	int ready = *(int *)argument;
	char state = 0, path[64];
	FILE *stat;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)getpid());
	while (state != 'Z') {
		stat = fopen(path, "re");
		if (stat != NULL) {
			if (fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
				state = 0;
			(void)fclose(stat);
		}
		(void)usleep(1000);
	}
	(void)!write(ready, "z", 1);
	for (;;)
		(void)pause();
	return NULL;
}

START_TEST(a_zombie_leader_is_read_through_its_threads)
{
	struct wd_holders found;
	struct wd_process process;
	pthread_t thread;
	int ready[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (pthread_create(
			&thread, NULL, after_the_leader, &ready[1]) != 0)
			_exit(1);
		(void)syscall(SYS_exit, 0); /* this thread alone */
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	(void)close(listener);
	found = live_holders(host, inode);
	ck_assert_uint_eq(found.count, 1);
	ck_assert_int_eq(found.items[0].pid, pid);
	ck_assert_int_ne(found.items[0].tid, pid);
	process = live_process(host, pid);
	ck_assert_int_eq(process.state, WD_ZOMBIE_LEADER);
	ck_assert_int_eq(process.live_tid, found.items[0].tid);
	ck_assert(process.identity.generation_known);
	wd_process_release(&process);
	wd_holders_release(&found);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}
END_TEST

/* ---- what may not be seen ------------------------------------------------ */

/* Gives up root and all rights but stays able to report. */
static bool
become_nobody(void)
{
	return setgroups(0, NULL) == 0 && setresgid(65534, 65534, 65534) == 0 &&
	    setresuid(65534, 65534, 65534) == 0;
}

START_TEST(test_B23_a_refused_look_is_a_blind_spot)
{
	struct wd_holders found;
	pid_t pid;
	size_t i, named = 0;

	if (!live_is_root())
		LIVE_SKIP("needs root to become somebody else");
	pid = live_spawn(nothing, NULL);
	ck_assert(become_nobody());
	found = live_holders(host, inode);
	ck_assert(!holds(&found, pid));
	ck_assert(!found.complete);
	ck_assert_uint_gt(found.blinds.count, 0);
	for (i = 0; i < found.blinds.count; i++) {
		ck_assert_int_eq(found.blinds.items[i].why, WD_DENIED);
		named += strstr(found.blinds.items[i].remedy,
			     "CAP_SYS_PTRACE") != NULL;
	}
	ck_assert_uint_eq(named, found.blinds.count);
	wd_holders_release(&found);
}
END_TEST

static void
as_nobody(void *argument)
{
	(void)argument;
	LIVE_NEED(become_nobody());
}

/* Root, but without the rights, as in most containers. CAP_PERFMON, which
 * CAP_SYS_ADMIN includes, opens maps on newer kernels (mm_access). */
START_TEST(test_B23_root_without_ptrace)
{
	static const unsigned rights[] = { CAP_SYS_PTRACE, CAP_PERFMON,
		CAP_SYS_ADMIN };
	struct wd_process process;
	struct wd_holders found;
	struct wd_deadline deadline = wd_deadline_none();
	struct wd_mappings mappings;
	struct wd_descriptors descriptors;
	pid_t pid;

	if (!live_is_root() || !live_try_spawn(as_nobody, NULL, &pid))
		LIVE_SKIP("needs root");
	ck_assert(live_drop(rights, WD_COUNT(rights)));
	found = live_holders(host, inode);
	ck_assert(!found.complete);
	ck_assert(!holds(&found, pid));
	wd_holders_release(&found);
	process = live_process(host, pid);
	ck_assert_int_eq(process.exe_status, WD_DENIED);
	ck_assert_int_eq(process.env_status, WD_DENIED);
	ck_assert(!process.identity.generation_known);
	ck_assert_int_eq(
	    wd_host_mappings(host, &process, &deadline, &mappings, NULL),
	    WD_DENIED);
	ck_assert_int_eq(
	    wd_host_descriptors(host, &process, &deadline, &descriptors, NULL),
	    WD_DENIED);
	wd_process_release(&process);
}
END_TEST

/* The reader's group decides as well: dropping the uid alone proves nothing. */
START_TEST(test_U7_hidepid_hides_and_we_say_so)
{
	struct wd_host_linux_options options = { 0 };
	struct wd_host *other;
	struct wd_holders found;
	size_t i, hidden = 0;

	if (!live_is_root() || unshare(CLONE_NEWNS) != 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("proc", "/proc", "proc", 0, "hidepid=2") != 0)
		LIVE_SKIP("may not mount /proc");
	ck_assert(become_nobody());
	other = live_open_with(&options);
	found = live_holders(other, inode);
	ck_assert(!found.complete);
	for (i = 0; i < found.blinds.count; i++)
		hidden +=
		    strstr(found.blinds.items[i].reason, "hidepid") != NULL;
	ck_assert_uint_eq(hidden, 1);
	wd_holders_release(&found);
	wd_host_free(&other);
}
END_TEST

/* ---- size ---------------------------------------------------------------- */

static int descriptors_each;

static void
many_descriptors(void *argument)
{
	int i, base = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)argument;
	for (i = 0; i < descriptors_each; i++)
		if (dup(base) < 0)
			break;
}

/* 200,000 descriptors: in as many processes as the limit asks for. */
START_TEST(test_A20_two_hundred_thousand_descriptors)
{
	struct wd_deadline tight = wd_deadline_in(&wd_clock_system, 1);
	struct rlimit limit;
	struct wd_holders found;
	int made;
	pid_t last = 0;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	descriptors_each =
	    limit.rlim_max > 200020 ? 200000 : (int)limit.rlim_max - 20;
	if (descriptors_each < 2000)
		LIVE_SKIP("the limit of descriptors is too low");
	for (made = 0; made < 200000; made += descriptors_each)
		last = live_spawn(many_descriptors, NULL);
	found = live_holders(host, inode);
	ck_assert(holds(&found, last));
	check_complete(&found);
	wd_holders_release(&found);
	/* With too little time the answer is a part, and says so. */
	ck_assert_int_eq(
	    wd_host_holders(host, &inode, 1, &tight, &found, NULL), WD_OK);
	ck_assert(!found.complete);
	ck_assert_int_eq(
	    found.blinds.items[found.blinds.count - 1].why, WD_TIMEDOUT);
	wd_holders_release(&found);
}
END_TEST

/* ---- the repeat ---------------------------------------------------------- */

static struct wd_confirmation
confirm(const struct wd_listeners *listeners, const struct wd_holders *holders)
{
	struct wd_confirmation confirmation;
	struct wd_error err;

	wd_error_init(&err);
	ck_assert_msg(wd_host_confirm(host, listeners, holders, &confirmation,
			  &err) == WD_OK,
	    "%s", err.message);
	return confirmation;
}

START_TEST(a_repeat_confirms_what_was_named)
{
	struct wd_listeners listeners = live_listeners(host, port);
	pid_t worker = live_spawn(nothing, NULL);
	struct wd_holders holders = live_holders(host, inode);
	struct wd_confirmation now = confirm(&listeners, &holders);

	ck_assert(now.listeners_same && now.holders_same);
	ck_assert_uint_eq(now.lost, 0);
	live_kill(worker);
	now = confirm(&listeners, &holders);
	ck_assert(now.listeners_same && !now.holders_same);
	ck_assert_uint_eq(now.lost, 1);
	wd_listeners_release(&listeners);
	wd_holders_release(&holders);
}
END_TEST

START_TEST(a_repeat_notices_another_socket)
{
	struct wd_listeners listeners = live_listeners(host, port);
	struct wd_holders holders = live_holders(host, inode);
	struct live_bind twin = { "127.0.0.2", port, false, -1, 0 };
	struct live_bind same = { "127.0.0.1", port, false, -1, 0 };
	struct wd_confirmation now;
	int fd = live_listen(&twin, NULL);

	ck_assert_int_ge(fd, 0);
	now = confirm(&listeners, &holders);
	ck_assert(!now.listeners_same && now.holders_same);
	(void)close(fd);
	now = confirm(&listeners, &holders);
	ck_assert(now.listeners_same);
	/* The same address and port again, under the same number. */
	(void)close(listener);
	fd = live_listen(&same, NULL);
	ck_assert_int_eq(fd, listener);
	now = confirm(&listeners, &holders);
	ck_assert(!now.listeners_same && !now.holders_same);
	wd_listeners_release(&listeners);
	/* Inodes come again, cookies do not. */
	listeners = live_listeners(host, port);
	now = confirm(&listeners, &holders);
	ck_assert(now.listeners_same);
	listeners.items[0].cookie++;
	now = confirm(&listeners, &holders);
	ck_assert(!now.listeners_same);
	wd_listeners_release(&listeners);
	wd_holders_release(&holders);
}
END_TEST

START_TEST(a_repeat_needs_something_to_confirm)
{
	struct wd_listeners none = { 0 };
	struct wd_listeners listeners = live_listeners(host, port);
	struct wd_holders holders = { 0 };
	struct wd_confirmation now;

	ck_assert_int_eq(
	    wd_host_confirm(host, &none, &holders, &now, NULL), WD_INVALID);
	ck_assert(!now.listeners_same);
	listeners.items[0].cookie = 0;
	ck_assert_int_eq(
	    wd_host_confirm(host, &listeners, &holders, &now, NULL),
	    WD_INVALID);
	listeners.items[0].netns++;
	ck_assert_int_eq(
	    wd_host_confirm(host, &listeners, &holders, &now, NULL),
	    WD_UNSUPPORTED);
	wd_listeners_release(&listeners);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("host holders");
	TCase *tcase = tcase_create("host holders");
	SRunner *runner;
	int failed;

	wd_temp_begin();
	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	suite_add_tcase(suite, tcase);
	WD_TEST(test_A2_A3_every_holder_and_nobody_else);
	WD_TEST(several_sockets_in_one_walk);
	WD_TEST(test_A7_A13_a_holder_that_vanishes_hides_nobody);
	WD_TEST(a_socket_handed_on_during_the_walk_is_found);
	WD_LOOP(processes_born_to_the_end_of_the_look_are_a_blind_spot, storms);
	WD_TEST(test_A12_an_inherited_socket_in_another_program);
	WD_TEST(nobody_holds_what_does_not_exist);
	WD_TEST(threads_with_their_own_table_are_found);
	WD_TEST(threads_that_share_the_table_are_not_listed);
	WD_TEST(a_zombie_leader_is_read_through_its_threads);
	WD_TEST(test_B23_a_refused_look_is_a_blind_spot);
	WD_TEST(test_B23_root_without_ptrace);
	WD_TEST(test_U7_hidepid_hides_and_we_say_so);
	WD_TEST(test_A20_two_hundred_thousand_descriptors);
	WD_TEST(a_repeat_confirms_what_was_named);
	WD_TEST(a_repeat_notices_another_socket);
	WD_TEST(a_repeat_needs_something_to_confirm);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	wd_temp_end();
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
