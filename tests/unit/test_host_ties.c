/*
 * What ties processes together, as far as no system is asked: the lists, the
 * two ends of a connection, paths of accelerators, hosts that cannot tell,
 * and the fixture.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "host/fixture/fixture.h"
#include "host/ties.h"
#include "support/suite.h"

static struct wd_error err;

/* ---- the two ends -------------------------------------------------------- */

#define V4(a, b, c, d)                                                         \
	{                                                                      \
		a, b, c, d                                                     \
	}
#define MAPPED(a, b, c, d)                                                     \
	{                                                                      \
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d           \
	}

static const struct wd_connection client = { 7, 100, WD_INET4, V4(127, 0, 0, 1),
	V4(127, 0, 0, 2), 40000, 8080 };

static const struct {
	const char *what;
	struct wd_connection row;
	bool is_end;
} other_ends[] = {
	{ "the server's",
	    { 7, 101, WD_INET4, V4(127, 0, 0, 2), V4(127, 0, 0, 1), 8080,
		40000 },
	    true },
	{ "a dual-stack server's",
	    { 7, 101, WD_INET6, MAPPED(127, 0, 0, 2), MAPPED(127, 0, 0, 1),
		8080, 40000 },
	    true },
	{ "in another namespace",
	    { 8, 101, WD_INET4, V4(127, 0, 0, 2), V4(127, 0, 0, 1), 8080,
		40000 },
	    false },
	{ "of another client port",
	    { 7, 101, WD_INET4, V4(127, 0, 0, 2), V4(127, 0, 0, 1), 8080,
		40001 },
	    false },
	{ "of another client",
	    { 7, 101, WD_INET4, V4(127, 0, 0, 2), V4(127, 0, 0, 3), 8080,
		40000 },
	    false },
	{ "of another server address",
	    { 7, 101, WD_INET4, V4(127, 0, 0, 1), V4(127, 0, 0, 1), 8080,
		40000 },
	    false },
	{ "an IPv6 address with the same first bytes",
	    { 7, 101, WD_INET6, V4(127, 0, 0, 2), V4(127, 0, 0, 1), 8080,
		40000 },
	    false },
	{ "itself",
	    { 7, 100, WD_INET4, V4(127, 0, 0, 1), V4(127, 0, 0, 2), 40000,
		8080 },
	    false },
};

START_TEST(the_other_end_of_a_connection)
{
	struct wd_connections list = { 0 };
	struct wd_connection noise = { 7, 5, WD_INET4, V4(1, 1, 1, 1),
		V4(2, 2, 2, 2), 0, 9 };
	uint16_t port;

	for (port = 8075; port < 8085; port++) {
		noise.local_port = port;
		ck_assert_int_eq(wd_connections_add(&list, &noise), WD_OK);
	}
	ck_assert_int_eq(wd_connections_add(&list, &client), WD_OK);
	ck_assert_int_eq(wd_connections_add(&list, &other_ends[_i].row), WD_OK);
	wd_connections_sort(&list);
	ck_assert_msg((wd_connections_other_end(&list, &client) != NULL) ==
		other_ends[_i].is_end,
	    "%s", other_ends[_i].what);
	wd_connections_release(&list);
}
END_TEST

START_TEST(an_empty_list_has_no_other_end)
{
	struct wd_connections list = { 0 };

	wd_connections_sort(&list);
	ck_assert_ptr_null(wd_connections_other_end(&list, &client));
}
END_TEST

/* ---- order --------------------------------------------------------------- */

START_TEST(connections_are_in_order_and_once)
{
	static const struct wd_connection rows[] = {
		{ 1, 9, WD_INET4, { 0 }, { 0 }, 20, 1 },
		{ 1, 8, WD_INET4, { 0 }, { 0 }, 20, 1 },
		{ 1, 1, WD_INET4, { 0 }, { 0 }, 90, 1 },
		{ 1, 0, WD_INET4, { 0 }, { 0 }, 20, 2 },
		{ 1, 9, WD_INET4, { 0 }, { 0 }, 20, 1 },
		{ 1, 0, WD_INET4, { 0 }, { 0 }, 20, 1 },
	};
	struct wd_connections list = { 0 };
	size_t i;

	for (i = 0; i < WD_COUNT(rows); i++)
		ck_assert_int_eq(wd_connections_add(&list, &rows[i]), WD_OK);
	wd_connections_sort(&list);
	ck_assert_uint_eq(list.count, 5);
	ck_assert_uint_eq(list.items[0].remote_port, 1);
	ck_assert_uint_eq(list.items[1].remote_port, 2);
	ck_assert_uint_eq(list.items[2].inode, 8);
	ck_assert_uint_eq(list.items[3].inode, 9);
	ck_assert_uint_eq(list.items[4].local_port, 90);
	wd_connections_release(&list);
	ck_assert_ptr_null(list.items);
}
END_TEST

START_TEST(pairs_are_in_order_and_once)
{
	struct wd_unix_pairs list = { 0 };

	ck_assert_int_eq(wd_unix_pairs_add(&list, 4, 3), WD_OK);
	ck_assert_int_eq(wd_unix_pairs_add(&list, 3, 4), WD_OK);
	ck_assert_int_eq(wd_unix_pairs_add(&list, 4, 3), WD_OK);
	wd_unix_pairs_sort(&list);
	ck_assert_uint_eq(list.count, 2);
	ck_assert_uint_eq(list.items[0].inode, 3);
	ck_assert_uint_eq(list.items[1].inode, 4);
	ck_assert_uint_eq(list.items[1].peer_inode, 3);
	wd_unix_pairs_release(&list);
}
END_TEST

/* Every allocation in turn fails; nothing is lost and nothing half-built is
 * left. */
START_TEST(no_memory_for_a_device)
{
	struct wd_device_uses uses;
	enum wd_status st;
	uint64_t n;

	for (n = 0;; n++) {
		memset(&uses, 0, sizeof(uses));
		wd_mem_fail_after(n);
		st = wd_device_uses_add(&uses, "drm card0", 1, "why");
		wd_mem_fail_after(UINT64_MAX);
		ck_assert_uint_eq(uses.count, st == WD_OK ? 1 : 0);
		wd_device_uses_release(&uses);
		if (st == WD_OK)
			break;
		ck_assert_int_eq(st, WD_NOMEM);
	}
	ck_assert_uint_eq(n, 3);
}
END_TEST

START_TEST(a_reason_means_that_bytes_are_not_known)
{
	struct wd_device_uses uses = { 0 };

	ck_assert_int_eq(wd_device_uses_add(&uses, "b", 5, NULL), WD_OK);
	ck_assert_int_eq(wd_device_uses_add(&uses, "a", 5, "why"), WD_OK);
	wd_device_uses_sort(&uses);
	ck_assert_str_eq(uses.items[0].device, "a");
	ck_assert(!uses.items[0].bytes_known);
	ck_assert_uint_eq(uses.items[0].bytes, 0);
	ck_assert(uses.items[1].bytes_known);
	ck_assert_ptr_null(uses.items[1].reason);
	wd_device_uses_release(&uses);
}
END_TEST

/* ---- accelerators -------------------------------------------------------- */

static const struct {
	const char *path;
	bool is;
} paths[] = {
	{ "/dev/nvidia0", true },
	{ "/dev/nvidiactl", true },
	{ "/dev/dri/renderD128", true },
	{ "/dev/kfd", true },
	{ "/dev/accel/accel0", true },
	{ "/var/lib/chroot/dev/kfd", true },
	{ "/dev/null", false },
	{ "/dev/dr", false },
	{ "/home/dev.kfd", false },
	{ "dev/kfd", false },
	{ "/dev/snd/controlC0", false },
	{ "", false },
};

START_TEST(a_path_of_an_accelerator)
{
	ck_assert_int_eq(wd_host_is_accelerator(wd_slice_text(paths[_i].path)),
	    paths[_i].is);
}
END_TEST

/* ---- hosts that cannot tell ---------------------------------------------- */

START_TEST(a_host_without_the_calls_says_so)
{
	static const struct wd_host_ops none = { 0 };
	struct wd_host host = { &none };
	struct wd_connections connections;
	struct wd_unix_pairs pairs;
	struct wd_device_uses uses;
	struct wd_process process = { 0 };
	struct wd_descriptors descriptors = { 0 };

	ck_assert_int_eq(
	    wd_host_connections(&host, 0, NULL, &connections, &err),
	    WD_UNSUPPORTED);
	ck_assert(!connections.complete);
	ck_assert_int_eq(
	    wd_host_unix_pairs(&host, NULL, &pairs, &err), WD_UNSUPPORTED);
	ck_assert(!pairs.complete);
	ck_assert_int_eq(wd_host_device_uses(
			     &host, &process, &descriptors, NULL, &uses, &err),
	    WD_UNSUPPORTED);
	ck_assert(!uses.complete);
}
END_TEST

/* ---- the fixture --------------------------------------------------------- */

static struct wd_host *
parse(const char *text)
{
	struct wd_host *made = NULL;

	ck_assert_msg(wd_host_fixture_parse(
			  wd_slice_text(text), ".", &made, &err) == WD_OK,
	    "%s", err.message);
	return made;
}

#define CONNECTIONS                                                            \
	"\"identity\": {\"netns\": 50}, \"connections\": ["                    \
	"{\"inode\": 2, \"local\": \"::1\", \"local_port\": 9,"                \
	" \"remote\": \"::1\", \"remote_port\": 8},"                           \
	"{\"inode\": 1, \"local\": \"10.0.0.1\", \"local_port\": 7,"           \
	" \"remote\": \"10.0.0.2\", \"remote_port\": 6},"                      \
	"{\"netns\": 51, \"local\": \"10.0.0.1\", \"local_port\": 5,"          \
	" \"remote\": \"10.0.0.2\", \"remote_port\": 6}]"

START_TEST(fixture_connections_of_one_namespace)
{
	struct wd_host *host = parse("{" CONNECTIONS "}");
	struct wd_connections found;

	ck_assert_int_eq(
	    wd_host_connections(host, 0, NULL, &found, &err), WD_OK);
	ck_assert(found.complete);
	ck_assert_uint_eq(found.count, 2);
	ck_assert_uint_eq(found.items[0].local_port, 7);
	ck_assert_int_eq(found.items[0].family, WD_INET4);
	ck_assert_mem_eq(found.items[0].remote, "\x0a\0\0\2", 4);
	ck_assert_uint_eq(found.items[0].netns, 50);
	ck_assert_int_eq(found.items[1].family, WD_INET6);
	ck_assert_uint_eq(found.items[1].inode, 2);
	wd_connections_release(&found);
	ck_assert_int_eq(
	    wd_host_connections(host, 51, NULL, &found, &err), WD_OK);
	ck_assert_uint_eq(found.count, 1);
	ck_assert_uint_eq(found.items[0].local_port, 5);
	wd_connections_release(&found);
	ck_assert_uint_eq(wd_host_fixture_calls(host, "connections"), 2);
	wd_host_free(&host);
}
END_TEST

START_TEST(fixture_pairs_go_both_ways)
{
	struct wd_host *host =
	    parse("{\"unix_pairs\": [{\"inode\": 5, \"peer_inode\": 3}]}");
	struct wd_unix_pairs found;

	ck_assert_int_eq(wd_host_unix_pairs(host, NULL, &found, &err), WD_OK);
	ck_assert_uint_eq(found.count, 2);
	ck_assert_uint_eq(found.items[0].inode, 3);
	ck_assert_uint_eq(found.items[0].peer_inode, 5);
	ck_assert_uint_eq(found.items[1].inode, 5);
	wd_unix_pairs_release(&found);
	wd_host_free(&host);
}
END_TEST

START_TEST(fixture_devices_known_and_not)
{
	struct wd_host *host =
	    parse("{\"processes\": {\"12\": {\"devices\": ["
		  "{\"device\": \"kfd\"},"
		  "{\"device\": \"NVIDIA 0000:01:00.0\", \"bytes\": 4096},"
		  "{\"device\": \"drm card0\", \"reason\": \"old\"}]}}}");
	struct wd_process process = { .identity = { .pid = 12 } };
	struct wd_descriptors none = { 0 };
	struct wd_device_uses uses;

	ck_assert_int_eq(
	    wd_host_device_uses(host, &process, &none, NULL, &uses, &err),
	    WD_OK);
	ck_assert(uses.complete);
	ck_assert_uint_eq(uses.count, 3);
	ck_assert_str_eq(uses.items[0].device, "NVIDIA 0000:01:00.0");
	ck_assert(uses.items[0].bytes_known);
	ck_assert_uint_eq(uses.items[0].bytes, 4096);
	ck_assert_str_eq(uses.items[1].reason, "old");
	ck_assert(!uses.items[1].bytes_known);
	ck_assert_ptr_nonnull(uses.items[2].reason);
	ck_assert(!uses.items[2].bytes_known);
	wd_device_uses_release(&uses);
	process.identity.pid = 13;
	ck_assert_int_eq(
	    wd_host_device_uses(host, &process, &none, NULL, &uses, &err),
	    WD_GONE);
	wd_host_free(&host);
}
END_TEST

START_TEST(fixture_parts_can_be_absent_partial_or_refused)
{
	struct wd_host *host = parse("{}");
	struct wd_connections found;
	struct wd_unix_pairs pairs;

	ck_assert_int_eq(
	    wd_host_connections(host, 0, NULL, &found, &err), WD_OK);
	ck_assert(found.complete && found.count == 0);
	wd_host_free(&host);

	host = parse("{\"connections\": {\"complete\": false, \"blinds\": "
		     "[{\"why\": \"timed out\", \"what\": \"x\"}]},"
		     "\"unix_pairs\": {\"status\": \"unsupported\"}}");
	ck_assert_int_eq(
	    wd_host_connections(host, 0, NULL, &found, &err), WD_OK);
	ck_assert(!found.complete);
	ck_assert_uint_eq(found.blinds.count, 1);
	wd_connections_release(&found);
	ck_assert_int_eq(
	    wd_host_unix_pairs(host, NULL, &pairs, &err), WD_UNSUPPORTED);
	wd_host_free(&host);
}
END_TEST

START_TEST(fixture_late_is_not_complete)
{
	struct wd_deadline past = { &wd_clock_system, 1 };
	struct wd_host *host = parse("{" CONNECTIONS "}");
	struct wd_connections found;
	struct wd_unix_pairs pairs;

	ck_assert_int_eq(
	    wd_host_connections(host, 0, &past, &found, &err), WD_OK);
	ck_assert(!found.complete);
	ck_assert_int_eq(found.blinds.items[0].why, WD_TIMEDOUT);
	wd_connections_release(&found);
	ck_assert_int_eq(wd_host_unix_pairs(host, &past, &pairs, &err), WD_OK);
	ck_assert(!pairs.complete);
	wd_unix_pairs_release(&pairs);
	wd_host_free(&host);
}
END_TEST

static const char *const malformed[] = {
	"{\"connections\": 5}",
	"{\"connections\": [{\"local\": \"::1\", \"remote\": \"1.1.1.1\"}]}",
	"{\"connections\": [{\"local\": \"1.1.1\", \"remote\": \"1.1.1.1\"}]}",
	"{\"connections\": [{\"remote\": \"1.1.1.1\"}]}",
	"{\"connections\": [{\"local\": \"1.1.1.1\", \"remote\": \"1.1.1.1\","
	" \"port\": 1}]}",
	"{\"unix_pairs\": [{\"inode\": 5}]}",
	"{\"unix_pairs\": [5]}",
	"{\"unix_pairs\": {\"itms\": []}}",
	"{\"processes\": {\"1\": {\"devices\": [{\"bytes\": 1}]}}}",
	"{\"processes\": {\"1\": {\"devices\": [{\"device\": \"d\","
	" \"bytes\": 1, \"reason\": \"r\"}]}}}",
	"{\"processes\": {\"1\": {\"devices\": [{\"device\": \"d\","
	" \"bytes\": -1}]}}}",
};

START_TEST(fixture_refuses)
{
	struct wd_host *host = NULL;

	ck_assert_int_eq(wd_host_fixture_parse(
			     wd_slice_text(malformed[_i]), ".", &host, &err),
	    WD_MALFORMED);
	ck_assert_ptr_null(host);
}
END_TEST

WD_SUITE_BEGIN("host ties")
WD_LOOP(the_other_end_of_a_connection, other_ends);
WD_TEST(an_empty_list_has_no_other_end);
WD_TEST(connections_are_in_order_and_once);
WD_TEST(pairs_are_in_order_and_once);
WD_TEST(no_memory_for_a_device);
WD_TEST(a_reason_means_that_bytes_are_not_known);
WD_LOOP(a_path_of_an_accelerator, paths);
WD_TEST(a_host_without_the_calls_says_so);
WD_TEST(fixture_connections_of_one_namespace);
WD_TEST(fixture_pairs_go_both_ways);
WD_TEST(fixture_devices_known_and_not);
WD_TEST(fixture_parts_can_be_absent_partial_or_refused);
WD_TEST(fixture_late_is_not_complete);
WD_LOOP(fixture_refuses, malformed);
WD_SUITE_END
