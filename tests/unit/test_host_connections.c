/*
 * Connections and pairs of unix sockets on the running kernel, and
 * connections of a captured tree.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "host/linux/procnet.h"
#include "support/livehost.h"
#include "support/proctree.h"
#include "support/suite.h"
#include "support/tempdir.h"

static struct wd_error err;

static struct wd_connections
connections_of(struct wd_host *host, uint64_t netns)
{
	struct wd_connections found;

	wd_error_init(&err);
	ck_assert_msg(
	    wd_host_connections(host, netns, NULL, &found, &err) == WD_OK, "%s",
	    err.message);
	return found;
}

static const struct wd_connection *
by_inode(const struct wd_connections *found, uint64_t inode)
{
	size_t i;

	for (i = 0; i < found->count; i++)
		if (found->items[i].inode == inode)
			return &found->items[i];
	return NULL;
}

/* A connection between two sockets of this process. */
struct joined {
	int listener, client, server;
	uint16_t port;
};

static bool
join(const char *address, const char *to, struct joined *joined)
{
	struct live_bind b = { address, 0, false, 0, 0 };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
	struct sockaddr_in four = { .sin_family = AF_INET };
	bool v6 = strchr(to, ':') != NULL;
	int st;

	joined->listener = live_listen(&b, &joined->port);
	if (joined->listener < 0)
		return false;
	joined->client =
	    socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	six.sin6_port = four.sin_port = htons(joined->port);
	if (v6)
		st = inet_pton(AF_INET6, to, &six.sin6_addr);
	else
		st = inet_pton(AF_INET, to, &four.sin_addr);
	ck_assert_int_eq(st, 1);
	st = v6 ? connect(joined->client, (void *)&six, sizeof(six)) :
		  connect(joined->client, (void *)&four, sizeof(four));
	ck_assert_int_eq(st, 0);
	joined->server = accept(joined->listener, NULL, NULL);
	ck_assert_int_ge(joined->server, 0);
	return true;
}

static void
part(struct joined *joined)
{
	(void)close(joined->client);
	(void)close(joined->server);
	(void)close(joined->listener);
}

/* ---- connections --------------------------------------------------------- */

static const struct wd_host_linux_options ways[] = {
	{ .no_netlink = false },
	{ .no_netlink = true },
};

static void
check_both_ends(struct wd_host *host, const struct joined *joined)
{
	struct wd_connections found = connections_of(host, 0);
	const struct wd_connection *client =
	    by_inode(&found, live_inode(joined->client));
	const struct wd_connection *server =
	    by_inode(&found, live_inode(joined->server));

	ck_assert_ptr_nonnull(client);
	ck_assert_ptr_nonnull(server);
	ck_assert(found.complete);
	ck_assert_uint_eq(client->remote_port, joined->port);
	ck_assert_uint_eq(server->local_port, joined->port);
	ck_assert_uint_eq(client->local_port, server->remote_port);
	ck_assert_uint_ne(client->netns, 0);
	ck_assert_ptr_eq(wd_connections_other_end(&found, client), server);
	ck_assert_ptr_eq(wd_connections_other_end(&found, server), client);
	/* A listening socket is no connection. */
	ck_assert_ptr_null(by_inode(&found, live_inode(joined->listener)));
	wd_connections_release(&found);
}

START_TEST(both_ends_of_an_ipv4_connection)
{
	struct wd_host *host = live_open_with(&ways[_i]);
	struct joined joined;

	ck_assert(join("127.0.0.1", "127.0.0.1", &joined));
	check_both_ends(host, &joined);
	part(&joined);
	wd_host_free(&host);
}
END_TEST

START_TEST(both_ends_of_an_ipv6_connection)
{
	struct wd_host *host = live_open_with(&ways[_i]);
	struct joined joined;

	if (!join("::1", "::1", &joined))
		LIVE_SKIP("no IPv6 here");
	check_both_ends(host, &joined);
	part(&joined);
	wd_host_free(&host);
}
END_TEST

START_TEST(an_ipv4_client_of_a_dual_stack_server)
{
	struct wd_host *host = live_open_with(&ways[_i]);
	struct joined joined;

	if (!join("::", "127.0.0.1", &joined))
		LIVE_SKIP("no IPv6 here");
	check_both_ends(host, &joined);
	part(&joined);
	wd_host_free(&host);
}
END_TEST

START_TEST(a_closing_connection_is_none)
{
	struct wd_host *host = live_open_with(&ways[_i]);
	struct wd_connections found;
	struct joined joined;

	ck_assert(join("127.0.0.1", "127.0.0.1", &joined));
	ck_assert_int_eq(shutdown(joined.client, SHUT_WR), 0);
	found = connections_of(host, 0);
	ck_assert_ptr_null(by_inode(&found, live_inode(joined.client)));
	ck_assert_ptr_null(by_inode(&found, live_inode(joined.server)));
	wd_connections_release(&found);
	part(&joined);
	wd_host_free(&host);
}
END_TEST

/* In the queue of the listener: established, and nobody's yet. */
START_TEST(a_connection_that_nobody_has_accepted)
{
	struct wd_host *host = live_open_with(&ways[_i]);
	struct wd_connections found;
	const struct wd_connection *row;
	uint16_t port;
	int listener = live_listen_any(&port), client = live_connect(port);

	found = connections_of(host, 0);
	row = by_inode(&found, live_inode(client));
	ck_assert_ptr_nonnull(row);
	row = wd_connections_other_end(&found, row);
	ck_assert_ptr_nonnull(row);
	ck_assert_uint_eq(row->inode, 0);
	wd_connections_release(&found);
	(void)close(client);
	(void)close(listener);
	wd_host_free(&host);
}
END_TEST

/* In a namespace of its own there is nothing but what this made. */
struct elsewhere {
	uint64_t client, server, netns;
	uint16_t port;
};

static void
loopback_up(void)
{
	struct ifreq request;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	memset(&request, 0, sizeof(request));
	(void)snprintf(request.ifr_name, sizeof(request.ifr_name), "lo");
	request.ifr_flags = IFF_UP;
	LIVE_NEED(ioctl(fd, SIOCSIFFLAGS, &request) == 0);
	(void)close(fd);
}

static void
connect_elsewhere(void *argument)
{
	struct elsewhere *elsewhere = argument;
	struct joined joined;
	struct stat stat_buf;

	LIVE_NEED(unshare(CLONE_NEWNET) == 0);
	loopback_up();
	LIVE_NEED(join("127.0.0.1", "127.0.0.1", &joined));
	LIVE_NEED(stat("/proc/self/ns/net", &stat_buf) == 0);
	elsewhere->client = live_inode(joined.client);
	elsewhere->server = live_inode(joined.server);
	elsewhere->netns = stat_buf.st_ino;
	elsewhere->port = joined.port;
}

START_TEST(another_namespace_is_looked_into_alone)
{
	struct elsewhere *elsewhere = mmap(NULL, sizeof(*elsewhere),
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct wd_host *host = live_open_with(&ways[_i]);
	struct wd_connections found;
	pid_t pid;

	ck_assert_ptr_ne(elsewhere, MAP_FAILED);
	if (!live_try_spawn(connect_elsewhere, elsewhere, &pid))
		LIVE_SKIP("no network namespaces here");
	found = connections_of(host, elsewhere->netns);
	ck_assert(found.complete);
	ck_assert_uint_eq(found.count, 2);
	ck_assert_uint_eq(found.items[0].netns, elsewhere->netns);
	ck_assert_ptr_nonnull(by_inode(&found, elsewhere->client));
	ck_assert_ptr_nonnull(by_inode(&found, elsewhere->server));
	wd_connections_release(&found);
	found = connections_of(host, 0);
	ck_assert_ptr_null(by_inode(&found, elsewhere->client));
	wd_connections_release(&found);
	live_kill(pid);
	wd_host_free(&host);
}
END_TEST

START_TEST(a_namespace_that_is_not_there)
{
	struct wd_host *host = live_open();
	struct wd_connections found = connections_of(host, 12345);

	ck_assert(!found.complete);
	ck_assert_uint_eq(found.count, 0);
	ck_assert_uint_eq(found.blinds.count, 1);
	wd_connections_release(&found);
	wd_host_free(&host);
}
END_TEST

START_TEST(a_deadline_that_has_passed)
{
	struct wd_deadline past = { &wd_clock_system, 1 };
	struct wd_host *host = live_open_with(&ways[_i]);
	struct wd_connections found;

	ck_assert_int_eq(
	    wd_host_connections(host, 0, &past, &found, &err), WD_OK);
	ck_assert(!found.complete);
	ck_assert_uint_eq(found.blinds.count, 1);
	ck_assert_int_eq(found.blinds.items[0].why, WD_TIMEDOUT);
	wd_connections_release(&found);
	wd_host_free(&host);
}
END_TEST

/* ---- a captured tree ----------------------------------------------------- */

#define REST " 00000000:00000000 00:00000000 00000000  1000        0 "

static char dir[WD_TEMP_BYTES];

static struct wd_host *
captured(void)
{
	struct wd_host_linux_options options = { .proc = dir };

	return live_open_with(&options);
}

static void
make_tree(void)
{
	wd_temp_make(dir);
	wd_tree_link(dir, "self/ns/net", "net:[4000]");
}

START_TEST(captured_tables_are_read)
{
	struct wd_host *host;
	struct wd_connections found;

	make_tree();
	wd_tree_net(dir, "net/tcp",
	    "   0: 0100007F:1F90 00000000:0000 0A" REST "500 1\n"
	    "   1: 0100007F:1F90 0200007F:9C40 01" REST "501 1\n"
	    "   2: 0200007F:9C40 0100007F:1F90 01" REST "502 1\n"
	    "   3: 0200007F:9C41 0100007F:1F90 06" REST "0 3\n"
	    "   4: 0200007F:9C42 0100007F:1F90 08" REST "503 1\n");
	wd_tree_net(dir, "net/tcp6",
	    "   0: 00000000000000000000000001000000:1F91 "
	    "00000000000000000000000001000000:9C43 01" REST "504 1\n");
	host = captured();
	found = connections_of(host, 0);
	ck_assert(found.complete);
	ck_assert_uint_eq(found.count, 3);
	ck_assert_uint_eq(found.items[0].inode, 501);
	ck_assert_mem_eq(found.items[0].local, "\x7f\0\0\1", 4);
	ck_assert_mem_eq(found.items[0].remote, "\x7f\0\0\2", 4);
	ck_assert_uint_eq(found.items[0].remote_port, 0x9c40);
	ck_assert_uint_eq(found.items[0].netns, 4000);
	ck_assert_int_eq(found.items[1].family, WD_INET6);
	ck_assert_uint_eq(found.items[1].remote[15], 1);
	ck_assert_ptr_eq(
	    wd_connections_other_end(&found, &found.items[0]), &found.items[2]);
	wd_connections_release(&found);
	wd_host_free(&host);
	wd_temp_remove(dir);
}
END_TEST

START_TEST(a_captured_tree_without_tables)
{
	struct wd_host *host;
	struct wd_connections found;
	struct wd_unix_pairs pairs;

	make_tree();
	host = captured();
	ck_assert_int_eq(
	    wd_host_connections(host, 0, NULL, &found, &err), WD_UNSUPPORTED);
	ck_assert_int_eq(
	    wd_host_unix_pairs(host, NULL, &pairs, &err), WD_UNSUPPORTED);
	wd_host_free(&host);
	wd_temp_remove(dir);
}
END_TEST

/* A system without IPv6 has no tcp6. */
START_TEST(a_captured_tree_without_ipv6)
{
	struct wd_host *host;
	struct wd_connections found;

	make_tree();
	wd_tree_net(dir, "net/tcp",
	    "   1: 0100007F:1F90 0200007F:9C40 01" REST "501 1\n");
	host = captured();
	found = connections_of(host, 4000);
	ck_assert(found.complete);
	ck_assert_uint_eq(found.count, 1);
	wd_connections_release(&found);
	wd_host_free(&host);
	wd_temp_remove(dir);
}
END_TEST

#define MOUNTS "22 1 0:5 / /proc rw shared:1 - proc proc rw\n"

/* Of every namespace: what one cannot show is a gap, and no word about the
 * others. */
START_TEST(every_namespace_of_a_captured_tree)
{
	struct wd_host *host;
	struct wd_connections found;

	make_tree();
	wd_tree_net(dir, "net/tcp",
	    "   1: 0100007F:1F90 0200007F:9C40 01" REST "501 1\n");
	wd_tree_file(dir, "self/mountinfo", MOUNTS);
	host = captured();
	found = connections_of(host, WD_NETNS_EVERY);
	ck_assert(found.complete);
	ck_assert_uint_eq(found.count, 1);
	wd_connections_release(&found);
	wd_host_free(&host);
	wd_tree_folder(dir, "101/task/101");
	wd_tree_link(dir, "101/ns/net", "net:[4001]");
	host = captured();
	found = connections_of(host, WD_NETNS_EVERY);
	ck_assert(!found.complete);
	ck_assert_uint_eq(found.count, 1);
	ck_assert_uint_eq(found.blinds.count, 1);
	ck_assert_ptr_nonnull(strstr(found.blinds.items[0].what, "4001"));
	wd_connections_release(&found);
	wd_host_free(&host);
	wd_tree_net(dir, "101/net/tcp",
	    "   1: 0100007F:1F90 0200007F:9C40 01" REST "601 1\n");
	host = captured();
	found = connections_of(host, WD_NETNS_EVERY);
	ck_assert(found.complete);
	ck_assert_uint_eq(found.count, 2);
	ck_assert_uint_eq(found.items[1].netns, 4001);
	wd_connections_release(&found);
	wd_host_free(&host);
	wd_temp_remove(dir);
}
END_TEST

/* Without the list of mounts there may be more namespaces. */
START_TEST(namespaces_that_are_not_known)
{
	struct wd_host *host;
	struct wd_connections found;

	make_tree();
	wd_tree_net(dir, "net/tcp",
	    "   1: 0100007F:1F90 0200007F:9C40 01" REST "501 1\n");
	host = captured();
	found = connections_of(host, WD_NETNS_EVERY);
	ck_assert(!found.complete);
	ck_assert_uint_ge(found.blinds.count, 1);
	ck_assert_uint_eq(found.count, 1);
	wd_connections_release(&found);
	wd_host_free(&host);
	wd_temp_remove(dir);
}
END_TEST

/* ---- rows ---------------------------------------------------------------- */

#define V6_ONE "00000000000000000000000001000000"

static const struct {
	const char *ends;
	enum wd_status status;
} rows[] = {
	{ "0100007F:1F90 0200007F:9C40", WD_OK },
	{ V6_ONE ":1F90 " V6_ONE ":9C40", WD_OK },
	{ "0100007F:1F90 " V6_ONE ":9C40", WD_MALFORMED },
	{ V6_ONE ":1F90 0100007F:9C40", WD_MALFORMED },
	{ "0100007F:1F90 0200007F:19C40", WD_MALFORMED },
	{ "0100007F:1F90 0200007G:9C40", WD_MALFORMED },
	{ "0100007F:1F90 0200007F", WD_MALFORMED },
};

START_TEST(both_ends_of_a_row)
{
	struct wd_net_row row;
	char line[256];

	(void)snprintf(
	    line, sizeof(line), "   0: %s 01" REST "501 1\n", rows[_i].ends);
	ck_assert_int_eq(
	    wd_parse_net_row(wd_slice_text(line), &row), rows[_i].status);
	if (rows[_i].status == WD_OK)
		ck_assert_uint_eq(row.remote_port, 0x9c40);
}
END_TEST

/* ---- unix sockets -------------------------------------------------------- */

static bool
is_pair(const struct wd_unix_pairs *pairs, uint64_t inode, uint64_t peer)
{
	size_t i;

	for (i = 0; i < pairs->count; i++)
		if (pairs->items[i].inode == inode &&
		    pairs->items[i].peer_inode == peer)
			return true;
	return false;
}

static bool
is_listed(const struct wd_unix_pairs *pairs, uint64_t inode)
{
	size_t i;

	for (i = 0; i < pairs->count; i++)
		if (pairs->items[i].inode == inode ||
		    pairs->items[i].peer_inode == inode)
			return true;
	return false;
}

static struct wd_unix_pairs
pairs_of(struct wd_host *host)
{
	struct wd_unix_pairs found;

	wd_error_init(&err);
	ck_assert_msg(wd_host_unix_pairs(host, NULL, &found, &err) == WD_OK,
	    "%s", err.message);
	ck_assert(found.complete);
	return found;
}

static const struct {
	int type;
	bool listed;
} kinds[] = {
	{ SOCK_STREAM, true },
	{ SOCK_SEQPACKET, true },
	{ SOCK_DGRAM, false },
};

START_TEST(a_socketpair_is_a_pair)
{
	struct wd_host *host = live_open();
	struct wd_unix_pairs found;
	int two[2], alone[2];

	ck_assert_int_eq(
	    socketpair(AF_UNIX, kinds[_i].type | SOCK_CLOEXEC, 0, two), 0);
	ck_assert_int_eq(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, alone), 0);
	(void)close(alone[1]);
	found = pairs_of(host);
	ck_assert_int_eq(
	    is_pair(&found, live_inode(two[0]), live_inode(two[1])),
	    kinds[_i].listed);
	ck_assert_int_eq(
	    is_pair(&found, live_inode(two[1]), live_inode(two[0])),
	    kinds[_i].listed);
	ck_assert(!is_listed(&found, live_inode(alone[0])));
	wd_unix_pairs_release(&found);
	(void)close(two[0]);
	(void)close(two[1]);
	(void)close(alone[0]);
	wd_host_free(&host);
}
END_TEST

START_TEST(a_connected_unix_socket_and_its_server)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	struct wd_host *host = live_open();
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), server;
	socklen_t len = sizeof(name);
	struct wd_unix_pairs found;

	/* Bound without a name: the kernel makes an abstract one. */
	ck_assert_int_eq(
	    bind(listener, (void *)&name, sizeof(name.sun_family)), 0);
	ck_assert_int_eq(getsockname(listener, (void *)&name, &len), 0);
	ck_assert_int_eq(listen(listener, 4), 0);
	ck_assert_int_eq(connect(client, (void *)&name, len), 0);
	found = pairs_of(host);
	ck_assert(!is_listed(&found, live_inode(client)));
	wd_unix_pairs_release(&found);
	server = accept(listener, NULL, NULL);
	ck_assert_int_ge(server, 0);
	found = pairs_of(host);
	ck_assert(is_pair(&found, live_inode(client), live_inode(server)));
	ck_assert(is_pair(&found, live_inode(server), live_inode(client)));
	ck_assert(!is_listed(&found, live_inode(listener)));
	wd_unix_pairs_release(&found);
	(void)close(server);
	(void)close(client);
	(void)close(listener);
	wd_host_free(&host);
}
END_TEST

START_TEST(without_netlink_unix_pairs_are_not_known)
{
	struct wd_host *host = live_open_with(&ways[1]);
	struct wd_unix_pairs found;

	ck_assert_int_eq(
	    wd_host_unix_pairs(host, NULL, &found, &err), WD_UNSUPPORTED);
	ck_assert(!found.complete);
	wd_host_free(&host);
}
END_TEST

START_TEST(unix_pairs_after_the_deadline)
{
	struct wd_deadline past = { &wd_clock_system, 1 };
	struct wd_host *host = live_open();
	struct wd_unix_pairs found;

	ck_assert_int_eq(wd_host_unix_pairs(host, &past, &found, &err), WD_OK);
	ck_assert(!found.complete);
	ck_assert_int_eq(found.blinds.items[0].why, WD_TIMEDOUT);
	wd_unix_pairs_release(&found);
	wd_host_free(&host);
}
END_TEST

WD_SUITE_BEGIN("host connections")
tcase_add_checked_fixture(tcase, NULL, live_kill_all);
WD_LOOP(both_ends_of_an_ipv4_connection, ways);
WD_LOOP(both_ends_of_an_ipv6_connection, ways);
WD_LOOP(an_ipv4_client_of_a_dual_stack_server, ways);
WD_LOOP(a_closing_connection_is_none, ways);
WD_LOOP(a_connection_that_nobody_has_accepted, ways);
WD_LOOP(another_namespace_is_looked_into_alone, ways);
WD_TEST(a_namespace_that_is_not_there);
WD_LOOP(a_deadline_that_has_passed, ways);
WD_TEST(captured_tables_are_read);
WD_TEST(a_captured_tree_without_tables);
WD_TEST(a_captured_tree_without_ipv6);
WD_TEST(every_namespace_of_a_captured_tree);
WD_TEST(namespaces_that_are_not_known);
WD_LOOP(both_ends_of_a_row, rows);
WD_LOOP(a_socketpair_is_a_pair, kinds);
WD_TEST(a_connected_unix_socket_and_its_server);
WD_TEST(without_netlink_unix_pairs_are_not_known);
WD_TEST(unix_pairs_after_the_deadline);
WD_SUITE_END
