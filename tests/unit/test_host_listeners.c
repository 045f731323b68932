/* Listening sockets of the running kernel (field reports, section A and L). */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/livehost.h"
#include "support/suite.h"
#include "support/tempdir.h"

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

static struct wd_listeners
everywhere(enum wd_netns_scope scope, uint64_t netns, uint16_t port)
{
	struct wd_listener_query query = { scope, netns, port };
	struct wd_deadline deadline = wd_deadline_none();
	struct wd_listeners found;

	ck_assert_int_eq(
	    wd_host_listeners(host, &query, &deadline, &found, NULL), WD_OK);
	return found;
}

/* ---- what is found ------------------------------------------------------- */

START_TEST(both_witnesses_see_the_exact_port)
{
	uint16_t port;
	int fd = live_listen_any(&port);
	struct wd_listeners found = live_listeners(host, port);

	ck_assert_uint_eq(found.count, 1);
	ck_assert(found.agreed);
	ck_assert_uint_eq(found.looks, 2);
	ck_assert(found.items[0].by_primary && found.items[0].by_second);
	ck_assert_uint_eq(found.items[0].inode, live_inode(fd));
	ck_assert_uint_ne(found.items[0].cookie, 0);
	ck_assert_uint_eq(found.items[0].port, port);
	ck_assert_uint_eq(found.items[0].uid, geteuid());
	ck_assert_mem_eq(found.items[0].address, "\x7f\0\0\1", 4);
	ck_assert_uint_ne(found.items[0].netns, 0);
	wd_listeners_release(&found);
	(void)close(fd);
	found = live_listeners(host, port);
	ck_assert_uint_eq(found.count, 0);
	ck_assert(found.agreed);
	wd_listeners_release(&found);
}
END_TEST

START_TEST(test_A1_two_own_sockets_are_two_listeners)
{
	struct live_bind b = { "127.0.0.1", live_free_port(), true, -1, 0 };
	struct wd_listeners found;
	int first = live_listen(&b, NULL), second = live_listen(&b, NULL);

	ck_assert(first >= 0 && second >= 0);
	found = live_listeners(host, b.port);
	ck_assert_uint_eq(found.count, 2);
	ck_assert_uint_ne(found.items[0].inode, found.items[1].inode);
	ck_assert_uint_ne(found.items[0].cookie, found.items[1].cookie);
	wd_listeners_release(&found);
	(void)close(first);
	(void)close(second);
}
END_TEST

START_TEST(test_A4_A6_clients_and_remote_ports_never_match)
{
	uint16_t port, other;
	int fd = live_listen_any(&port), client = live_connect(port);
	int bystander = live_listen_any(&other);
	struct wd_listeners found = live_listeners(host, port);

	ck_assert_uint_eq(found.count, 1);
	ck_assert_uint_eq(found.items[0].inode, live_inode(fd));
	wd_listeners_release(&found);
	(void)close(fd);
	(void)close(client);
	(void)close(bystander);
}
END_TEST

START_TEST(test_A23_time_wait_is_not_listening)
{
	uint16_t port;
	int fd = live_listen_any(&port), client = live_connect(port);
	int served = accept(fd, NULL, NULL);
	struct wd_listeners found;

	ck_assert_int_ge(served, 0);
	(void)close(served); /* the server closes first: TIME_WAIT is its */
	(void)close(client);
	(void)close(fd);
	found = live_listeners(host, port);
	ck_assert_uint_eq(found.count, 0);
	ck_assert(found.complete && found.agreed);
	wd_listeners_release(&found);
}
END_TEST

START_TEST(test_U4_bound_but_not_listening_is_no_listener)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	uint16_t port = live_free_port();
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct wd_listeners found;

	address.sin_port = htons(port);
	ck_assert_int_eq(bind(fd, (void *)&address, sizeof(address)), 0);
	found = live_listeners(host, port);
	ck_assert_uint_eq(found.count, 0);
	wd_listeners_release(&found);
	(void)close(fd);
}
END_TEST

START_TEST(test_A25_one_process_with_sixty_ports)
{
	uint16_t ports[60];
	int fds[60], i;
	struct wd_listeners found;

	for (i = 0; i < 60; i++)
		fds[i] = live_listen_any(&ports[i]);
	for (i = 0; i < 60; i += 20) {
		found = live_listeners(host, ports[i]);
		ck_assert_uint_eq(found.count, 1);
		wd_listeners_release(&found);
	}
	found = live_listeners(host, 0);
	ck_assert_uint_ge(found.count, 60);
	wd_listeners_release(&found);
	for (i = 0; i < 60; i++)
		(void)close(fds[i]);
}
END_TEST

/* ---- families ------------------------------------------------------------ */

static const struct {
	const char *address;
	int v6only;
	enum wd_tristate expected;
	uint8_t bytes[16];
} sixes[] = {
	{ "::", 0, WD_NO, { 0 } },
	{ "::", 1, WD_YES, { 0 } },
	{ "::1", 0, WD_YES, { [15] = 1 } },
	{ "::ffff:127.0.0.1", 0, WD_NO,
	    { [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 } },
};

START_TEST(test_A18_A19_ipv6_addresses_and_dual_stack)
{
	struct live_bind b = { sixes[_i].address, 0, false, sixes[_i].v6only,
		0 };
	struct wd_listeners found;
	uint16_t port;
	int fd = live_listen(&b, &port);

	if (fd < 0)
		LIVE_SKIP("no IPv6 here");
	found = live_listeners(host, port);
	ck_assert_uint_eq(found.count, 1);
	ck_assert(found.agreed);
	ck_assert_int_eq(found.items[0].family, WD_INET6);
	ck_assert_int_eq(found.items[0].v6only, sixes[_i].expected);
	ck_assert_mem_eq(found.items[0].address, sixes[_i].bytes, 16);
	wd_listeners_release(&found);
	(void)close(fd);
}
END_TEST

/* Section L: what may be bound together, and that each is its own row. */
static const struct {
	struct live_bind first, second;
	bool possible;
} pairs[] = {
	{ { "0.0.0.0", 0, false, -1, 0 }, { "::", 0, false, 1, 0 }, true },
	{ { "::", 0, false, 0, 0 }, { "0.0.0.0", 0, false, -1, 0 }, false },
	{ { "::", 0, false, 0, 0 }, { "127.0.0.1", 0, false, -1, 0 }, false },
	{ { "0.0.0.0", 0, true, -1, 0 }, { "127.0.0.1", 0, true, -1, 0 },
	    true },
	{ { "::", 0, true, 0, 0 }, { "127.0.0.1", 0, true, -1, 0 }, true },
	{ { "127.0.0.1", 0, false, -1, 0 }, { "127.0.0.2", 0, false, -1, 0 },
	    true },
	{ { "127.0.0.1", 0, false, -1, 0 }, { "::1", 0, false, -1, 0 }, true },
};

START_TEST(test_L_bind_combinations)
{
	struct live_bind first = pairs[_i].first, second = pairs[_i].second;
	struct wd_listeners found;
	int a, b;

	first.port = second.port = live_free_port();
	a = live_listen(&first, NULL);
	b = live_listen(&second, NULL);
	if (a < 0)
		LIVE_SKIP("no IPv6 here");
	ck_assert_int_eq(b >= 0, pairs[_i].possible);
	found = live_listeners(host, first.port);
	ck_assert_uint_eq(found.count, pairs[_i].possible ? 2 : 1);
	ck_assert(found.agreed);
	wd_listeners_release(&found);
	(void)close(a);
	if (b >= 0)
		(void)close(b);
}
END_TEST

START_TEST(mptcp_listeners_are_marked)
{
	struct live_bind b = { "127.0.0.1", 0, false, -1, 262 };
	struct wd_listeners found;
	uint16_t port;
	int fd = live_listen(&b, &port);

	if (fd < 0)
		LIVE_SKIP("no MPTCP here");
	found = live_listeners(host, port);
	ck_assert_uint_eq(found.count, 1);
	ck_assert(found.items[0].mptcp);
	ck_assert(found.agreed);
	ck_assert_uint_eq(found.items[0].inode, live_inode(fd));
	wd_listeners_release(&found);
	(void)close(fd);
}
END_TEST

/* ---- sockets that come and go -------------------------------------------- */

static void
flicker(void *argument)
{
	const uint16_t *port = argument;
	struct live_bind b = { "127.0.0.1", *port, false, -1, 0 };
	pid_t worker = fork();
	int fd;

	if (worker != 0)
		return;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		fd = live_listen(&b, NULL);
		(void)usleep(500);
		if (fd >= 0)
			(void)close(fd);
		(void)usleep(500);
	}
}

START_TEST(test_A15_a_stable_port_beside_a_flickering_one)
{
	uint16_t moving = live_free_port(), stable;
	int fd = live_listen_any(&stable), i;
	struct wd_listeners found;

	(void)live_spawn(flicker, &moving);
	for (i = 0; i < 50; i++) {
		found = live_listeners(host, stable);
		ck_assert_uint_eq(found.count, 1);
		ck_assert(found.agreed);
		ck_assert_uint_eq(found.items[0].inode, live_inode(fd));
		wd_listeners_release(&found);
		/* The moving one: whatever is said is about that port. */
		found = live_listeners(host, moving);
		if (found.count > 0)
			ck_assert_uint_eq(found.items[0].port, moving);
		wd_listeners_release(&found);
	}
	(void)close(fd);
}
END_TEST

/* ---- namespaces ---------------------------------------------------------- */

static void
loopback_up(void)
{
	struct ifreq request;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	memset(&request, 0, sizeof(request));
	memcpy(request.ifr_name, "lo", sizeof("lo"));
	request.ifr_flags = IFF_UP;
	(void)ioctl(fd, SIOCSIFFLAGS, &request);
	(void)close(fd);
}

static void
listen_elsewhere(void *argument)
{
	const uint16_t *port = argument;
	struct live_bind b = { "127.0.0.1", *port, false, -1, 0 };

	LIVE_NEED(unshare(CLONE_NEWNET) == 0);
	loopback_up();
	if (live_listen(&b, NULL) < 0)
		_exit(1);
}

static uint64_t
netns_of(pid_t pid)
{
	struct wd_process process = live_process(host, pid);
	uint64_t netns = process.netns;

	wd_process_release(&process);
	return netns;
}

START_TEST(test_A8_A9_one_port_in_two_namespaces)
{
	uint16_t port = live_free_port();
	struct wd_listeners found;
	struct live_bind b = { "127.0.0.1", port, false, -1, 0 };
	uint64_t netns;
	pid_t pid;
	int fd;

	if (!live_try_spawn(listen_elsewhere, &port, &pid))
		LIVE_SKIP("may not make a network namespace");
	netns = netns_of(pid);
	found = live_listeners(host, port);
	ck_assert_uint_eq(found.count, 0);
	wd_listeners_release(&found);

	found = everywhere(WD_NETNS_ALL, 0, port);
	ck_assert_uint_eq(found.count, 1);
	ck_assert_uint_eq(found.items[0].netns, netns);
	ck_assert(found.items[0].by_primary && found.items[0].by_second);
	wd_listeners_release(&found);

	fd = live_listen(&b, NULL);
	ck_assert_int_ge(fd, 0);
	found = everywhere(WD_NETNS_ALL, 0, port);
	ck_assert_uint_eq(found.count, 2);
	ck_assert_uint_ne(found.items[0].netns, found.items[1].netns);
	wd_listeners_release(&found);
	found = everywhere(WD_NETNS_ONE, netns, port);
	ck_assert_uint_eq(found.count, 1);
	ck_assert(found.complete && found.agreed);
	ck_assert_uint_eq(found.items[0].netns, netns);
	wd_listeners_release(&found);
	(void)close(fd);
	/* The look left this thread where it was. */
	found = live_listeners(host, port);
	ck_assert_uint_eq(found.count, 0);
	wd_listeners_release(&found);
}
END_TEST

/* In a mount namespace of its own: a network namespace with a listener in
 * which no process is; only a mount, and a socket, keep it. */
START_TEST(test_A9_a_namespace_kept_by_a_mount)
{
	char dir[WD_TEMP_BYTES];
	struct wd_listeners found;
	uint16_t port = live_free_port();
	struct live_bind b = { "127.0.0.1", port, false, -1, 0 };
	int back, fd;

	if (!live_is_root() || unshare(CLONE_NEWNS) != 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		LIVE_SKIP("may not mount");
	wd_temp_make(dir);
	wd_temp_write(wd_temp_path(dir, "ns one"), "", 0);
	back = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(unshare(CLONE_NEWNET), 0);
	loopback_up();
	fd = live_listen(&b, NULL);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(mount("/proc/thread-self/ns/net",
			     wd_temp_path(dir, "ns one"), NULL, MS_BIND, NULL),
	    0);
	ck_assert_int_eq(setns(back, CLONE_NEWNET), 0);
	(void)close(back);
	found = everywhere(WD_NETNS_ALL, 0, port);
	ck_assert_uint_eq(found.count, 1);
	ck_assert_uint_eq(found.items[0].inode, live_inode(fd));
	ck_assert(found.items[0].by_primary && found.items[0].by_second);
	wd_listeners_release(&found);
	ck_assert_int_eq(umount(wd_temp_path(dir, "ns one")), 0);
	wd_temp_remove(dir);
	(void)close(fd);
}
END_TEST

/* ---- no netlink ---------------------------------------------------------- */

START_TEST(test_F14_without_netlink_by_option)
{
	struct wd_host_linux_options options = { .no_netlink = true };
	struct wd_host *other = live_open_with(&options);
	uint16_t port;
	int fd = live_listen_any(&port);
	struct wd_listeners found = live_listeners(other, port);

	ck_assert_uint_eq(found.count, 1);
	ck_assert_uint_eq(found.looks, 1);
	ck_assert(found.agreed);
	ck_assert(!found.items[0].by_primary && found.items[0].by_second);
	ck_assert_uint_eq(found.items[0].inode, live_inode(fd));
	wd_listeners_release(&found);
	wd_host_free(&other);
	(void)close(fd);
}
END_TEST

/* socket(AF_NETLINK, ...) gives EAFNOSUPPORT from now on, as in gVisor, WSL 1
 * and under many a filter. */
static bool
forbid_netlink(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { WD_COUNT(filter), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

START_TEST(test_F14_netlink_refused_by_the_system)
{
	struct wd_confirmation confirmation;
	struct wd_holders none = { 0 };
	struct wd_listeners found;
	uint16_t port;
	int fd = live_listen_any(&port);

	if (!forbid_netlink())
		LIVE_SKIP("no seccomp filters here");
	found = live_listeners(host, port);
	ck_assert_uint_eq(found.count, 1);
	ck_assert_uint_eq(found.looks, 1);
	ck_assert(found.agreed && !found.items[0].by_primary);
	found.items[0].cookie = 1;
	ck_assert_int_eq(
	    wd_host_confirm(host, &found, &none, &confirmation, NULL),
	    WD_UNSUPPORTED);
	wd_listeners_release(&found);
	(void)close(fd);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("host listeners");
	TCase *tcase = tcase_create("host listeners");
	SRunner *runner;
	int failed;

	wd_temp_begin();
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	suite_add_tcase(suite, tcase);
	WD_TEST(both_witnesses_see_the_exact_port);
	WD_TEST(test_A1_two_own_sockets_are_two_listeners);
	WD_TEST(test_A4_A6_clients_and_remote_ports_never_match);
	WD_TEST(test_A23_time_wait_is_not_listening);
	WD_TEST(test_U4_bound_but_not_listening_is_no_listener);
	WD_TEST(test_A25_one_process_with_sixty_ports);
	WD_LOOP(test_A18_A19_ipv6_addresses_and_dual_stack, sixes);
	WD_LOOP(test_L_bind_combinations, pairs);
	WD_TEST(mptcp_listeners_are_marked);
	WD_TEST(test_A15_a_stable_port_beside_a_flickering_one);
	WD_TEST(test_A8_A9_one_port_in_two_namespaces);
	WD_TEST(test_A9_a_namespace_kept_by_a_mount);
	WD_TEST(test_F14_without_netlink_by_option);
	WD_TEST(test_F14_netlink_refused_by_the_system);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	wd_temp_end();
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
