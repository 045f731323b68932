/* reach.h: addresses of interfaces and translated connections. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/linux/procreach.h"
#include "support/livehost.h"
#include "support/proctree.h"
#include "support/suite.h"
#include "support/tempdir.h"

static struct wd_error err;

/* ---- parsers ------------------------------------------------------------- */

START_TEST(fib_trie_tells_addresses_by_two_lines)
{
	static const char *const lines[] = { "Local:", "  +-- 127.0.0.0/8 2",
		"     |-- 127.0.0.0", "        /8 host LOCAL",
		"     |-- 172.17.0.2", "        /32 link UNICAST",
		"        /32 host LOCAL", "     |-- 172.17.255.255",
		"        /32 link BROADCAST", "        /32 host UNICAST",
		"     |-- no.address", "        /32 host LOCAL", "" };
	struct wd_fib_reader reader;
	size_t i, met = 0;

	memset(&reader, 0, sizeof(reader));
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (!wd_fib_line(&reader, wd_slice_text(lines[i])))
			continue;
		ck_assert_uint_eq(i, 6);
		ck_assert_mem_eq(reader.address, "\xac\x11\0\x02", 4);
		met++;
	}
	ck_assert_uint_eq(met, 1);
}
END_TEST

#define ONE "00000000000000000000000000000001"

static const struct {
	const char *line;
	enum wd_status status;
} inet6[] = {
	{ ONE " 01 80 10 80       lo", WD_OK },
	{ "0000000000000000000000000000001 01 80 10 80 lo", WD_MALFORMED },
	{ "0000000000000000000000000000000g 01 80 10 80 lo", WD_MALFORMED },
	{ "", WD_MALFORMED },
};

START_TEST(addresses_of_ipv6)
{
	static const uint8_t loopback[16] = { [15] = 1 };
	uint8_t address[16];

	ck_assert_int_eq(
	    wd_parse_inet6_line(wd_slice_text(inet6[_i].line), address),
	    inet6[_i].status);
	if (inet6[_i].status == WD_OK)
		ck_assert_mem_eq(address, loopback, 16);
}
END_TEST

#define HEAD "ipv4     2 tcp      6 431999 ESTABLISHED "
#define OUT "src=10.0.0.9 dst=10.0.0.1 sport=40000 dport=8080 "
#define PLAIN "src=10.0.0.1 dst=10.0.0.9 sport=8080 dport=40000 "
#define BACK "src=172.17.0.2 dst=10.0.0.9 sport=80 dport=40000 "
#define TAIL "[ASSURED] mark=0 zone=0 use=2"

static const struct {
	const char *line;
	enum wd_status status;
	bool translated;
} tracked[] = {
	{ HEAD OUT BACK TAIL, WD_OK, true },
	{ HEAD OUT "packets=1 bytes=2 " BACK TAIL, WD_OK, true },
	{ HEAD OUT PLAIN TAIL, WD_OK, false },
	/* Rewritten is what differs in any of the four. */
	{ HEAD OUT "src=10.0.0.1 dst=10.0.0.9 sport=81 dport=40000", WD_OK,
	    true },
	{ HEAD OUT "src=10.0.0.2 dst=10.0.0.9 sport=8080 dport=40000", WD_OK,
	    true },
	{ HEAD OUT "src=10.0.0.1 dst=10.0.0.8 sport=8080 dport=40000", WD_OK,
	    true },
	{ HEAD OUT "src=10.0.0.1 dst=10.0.0.9 sport=8080 dport=40001", WD_OK,
	    true },
	{ "ipv4     2 tcp      6 431999 TIME_WAIT " OUT BACK TAIL, WD_OK,
	    false },
	{ "ipv4     2 udp      17 29 " OUT BACK TAIL, WD_OK, false },
	{ "ipv4     2 sctp     132 9 ESTABLISHED " OUT BACK TAIL, WD_OK,
	    false },
	{ "ipv6     10 tcp 6 9 ESTABLISHED src=::1 dst=::2 sport=1 dport=2 "
	  "src=::3 dst=::1 sport=2 dport=1",
	    WD_OK, true },
	{ HEAD OUT TAIL, WD_MALFORMED, false },
	{ HEAD "src=10.0.0 dst=10.0.0.1 sport=1 dport=2 " BACK, WD_MALFORMED,
	    false },
	{ HEAD "src=10.0.0.9 dst=10.0.0.1 sport=65536 dport=2 " BACK,
	    WD_MALFORMED, false },
	{ HEAD "src=::1 dst=10.0.0.1 sport=1 dport=2 " BACK, WD_MALFORMED,
	    false },
	{ "ipv4 2 tcp", WD_MALFORMED, false },
	{ "", WD_MALFORMED, false },
};

START_TEST(rows_of_conntrack)
{
	struct wd_translation t;
	bool translated = true;

	ck_assert_int_eq(wd_parse_conntrack(
			     wd_slice_text(tracked[_i].line), &t, &translated),
	    tracked[_i].status);
	ck_assert(translated == tracked[_i].translated);
}
END_TEST

START_TEST(both_views_of_a_translation)
{
	struct wd_translation t;
	bool translated;

	ck_assert_int_eq(wd_parse_conntrack(wd_slice_text(HEAD OUT BACK TAIL),
			     &t, &translated),
	    WD_OK);
	ck_assert_mem_eq(t.client, "\x0a\0\0\x09", 4);
	ck_assert_mem_eq(t.asked, "\x0a\0\0\x01", 4);
	ck_assert_mem_eq(t.server, "\xac\x11\0\x02", 4);
	ck_assert_mem_eq(t.seen, "\x0a\0\0\x09", 4);
	ck_assert_uint_eq(t.client_port, 40000);
	ck_assert_uint_eq(t.asked_port, 8080);
	ck_assert_uint_eq(t.server_port, 80);
	ck_assert_uint_eq(t.seen_port, 40000);
	ck_assert_int_eq(t.family, WD_INET4);
}
END_TEST

/* ---- a captured tree ----------------------------------------------------- */

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
	wd_tree_file(dir, "self/mountinfo",
	    "22 1 0:5 / /proc rw shared:1 - proc proc rw\n");
	wd_tree_file(dir, "net/fib_trie",
	    "     |-- 10.0.0.1\n        /32 host LOCAL\n"
	    "     |-- 10.0.0.1\n        /32 host LOCAL\n");
	wd_tree_file(dir, "net/if_inet6", ONE " 01 80 10 80       lo\n");
	wd_tree_folder(dir, "101/task/101");
	wd_tree_link(dir, "101/ns/net", "net:[4001]");
}

START_TEST(addresses_of_every_namespace)
{
	struct wd_host *host;
	struct wd_local_addresses found;

	make_tree();
	host = captured();
	ck_assert_int_eq(
	    wd_host_local_addresses(host, NULL, &found, &err), WD_OK);
	/* Namespace 4001 shows nothing. */
	ck_assert(!found.complete);
	ck_assert_uint_eq(found.count, 2);
	ck_assert_uint_eq(found.blinds.count, 1);
	wd_local_addresses_release(&found);
	wd_tree_file(dir, "101/net/fib_trie",
	    "     |-- 172.17.0.2\n        /32 host LOCAL\n");
	ck_assert_int_eq(
	    wd_host_local_addresses(host, NULL, &found, &err), WD_OK);
	ck_assert(found.complete);
	ck_assert_uint_eq(found.count, 3);
	ck_assert_uint_eq(found.items[0].netns, 4000);
	ck_assert_int_eq(found.items[1].family, WD_INET6);
	ck_assert_uint_eq(found.items[2].netns, 4001);
	ck_assert_mem_eq(found.items[2].address, "\xac\x11\0\x02", 4);
	wd_local_addresses_release(&found);
	wd_host_free(&host);
	wd_temp_remove(dir);
}
END_TEST

START_TEST(translations_of_every_namespace)
{
	struct wd_host *host;
	struct wd_translations found;

	make_tree();
	host = captured();
	/* Without connection tracking nothing is translated. */
	ck_assert_int_eq(wd_host_translations(
			     host, WD_NETNS_EVERY, 8080, NULL, &found, &err),
	    WD_OK);
	ck_assert(found.complete);
	ck_assert_uint_eq(found.count, 0);
	wd_translations_release(&found);
	/* It is there, and its tables are not. */
	wd_tree_file(dir, "sys/net/netfilter/nf_conntrack_max", "1\n");
	ck_assert_int_eq(wd_host_translations(
			     host, WD_NETNS_EVERY, 8080, NULL, &found, &err),
	    WD_OK);
	ck_assert(!found.complete);
	ck_assert_uint_eq(found.blinds.count, 2);
	wd_translations_release(&found);
	wd_tree_file(dir, "net/nf_conntrack", HEAD OUT BACK TAIL "\n");
	wd_tree_file(dir, "101/net/nf_conntrack", HEAD OUT PLAIN TAIL "\n");
	ck_assert_int_eq(wd_host_translations(
			     host, WD_NETNS_EVERY, 8080, NULL, &found, &err),
	    WD_OK);
	ck_assert(found.complete);
	ck_assert_uint_eq(found.count, 1);
	ck_assert_uint_eq(found.items[0].netns, 4000);
	wd_translations_release(&found);
	ck_assert_int_eq(
	    wd_host_translations(host, WD_NETNS_EVERY, 80, NULL, &found, &err),
	    WD_OK);
	ck_assert_uint_eq(found.count, 0);
	wd_translations_release(&found);
	/* The own namespace alone, whatever others hide. */
	ck_assert_int_eq(unlink(wd_temp_path(dir, "101/net/nf_conntrack")), 0);
	ck_assert_int_eq(
	    wd_host_translations(host, 0, 8080, NULL, &found, &err), WD_OK);
	ck_assert(found.complete);
	ck_assert_uint_eq(found.count, 1);
	wd_translations_release(&found);
	wd_host_free(&host);
	wd_temp_remove(dir);
}
END_TEST

/* A row that nobody can read may be the one that matters. */
START_TEST(a_row_that_is_not_understood_is_a_gap)
{
	struct wd_host *host;
	struct wd_translations found;

	make_tree();
	wd_tree_file(dir, "net/nf_conntrack", HEAD OUT "\n");
	wd_tree_file(dir, "101/net/nf_conntrack", "");
	host = captured();
	ck_assert_int_eq(wd_host_translations(
			     host, WD_NETNS_EVERY, 8080, NULL, &found, &err),
	    WD_OK);
	ck_assert(!found.complete);
	wd_translations_release(&found);
	wd_host_free(&host);
	wd_temp_remove(dir);
}
END_TEST

/* ---- the running kernel -------------------------------------------------- */

START_TEST(the_loopback_is_an_address)
{
	struct wd_host *host = live_open();
	struct wd_local_addresses found;
	bool met = false;
	size_t i;

	ck_assert_int_eq(
	    wd_host_local_addresses(host, NULL, &found, &err), WD_OK);
	for (i = 0; i < found.count; i++)
		met |= found.items[i].family == WD_INET4 &&
		    memcmp(found.items[i].address, "\x7f\0\0\1", 4) == 0;
	ck_assert(met);
	wd_local_addresses_release(&found);
	wd_host_free(&host);
}
END_TEST

WD_SUITE_BEGIN("host reach")
tcase_add_checked_fixture(tcase, NULL, live_kill_all);
WD_TEST(fib_trie_tells_addresses_by_two_lines);
WD_LOOP(addresses_of_ipv6, inet6);
WD_LOOP(rows_of_conntrack, tracked);
WD_TEST(both_views_of_a_translation);
WD_TEST(addresses_of_every_namespace);
WD_TEST(translations_of_every_namespace);
WD_TEST(a_row_that_is_not_understood_is_a_gap);
WD_TEST(the_loopback_is_an_address);
WD_SUITE_END
