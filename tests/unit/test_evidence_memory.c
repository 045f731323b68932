/*
 * Memory runs out at every single allocation of a whole look: an error, no
 * leak (LeakSanitizer looks), no descriptor left open, no half answer.
 */
#include <check.h>
#include <dirent.h>
#include <string.h>

#include "base/mem.h"
#include "support/scene.h"
#include "support/suite.h"
#include "wire/build.h"

static struct scene s;

static unsigned
open_descriptors(void)
{
	DIR *dir = opendir("/dev/fd");
	unsigned count = 0;

	if (dir == NULL)
		return 0;
	while (readdir(dir) != NULL)
		count++;
	(void)closedir(dir);
	return count;
}

static void
set_up(void)
{
	scene_begin(&s);
	scene_shard(&s, "x-00001-of-00002.gguf", 1, 2, 64, 11);
	scene_shard(&s, "x-00002-of-00002.gguf", 2, 2, 32, 12);
	scene_process(&s, 101, 100);
	scene_map(&s, 101, "x-00001-of-00002.gguf", "/m/x-00001-of-00002.gguf");
	scene_path(
	    &s, 101, "/m/x-00002-of-00002.gguf", "x-00002-of-00002.gguf");
	scene_open(&s, 100, 9, "m.gguf", "/m/m.gguf");
	scene_put(&s, "/processes/100/rss_anon_bytes", "4294967296");
	scene_put(&s, "/processes/100/mappings/items/0/shared", "false");
	scene_put(&s, "/processes/100/descriptors/items/-",
	    "{'fd': 19, 'type': 'device', 'path': '/dev/nvidia0'}");
	scene_put(&s, "/processes/100/devices",
	    "[{'device': 'NVIDIA 0000:01:00.0', 'bytes': 68719476736}]");
	scene_put(&s, "/processes/101/descriptors/items/-",
	    "{'fd': 19, 'type': 'device', 'path': '/dev/dri/card0'}");
	scene_put(&s, "/processes/101/devices",
	    "[{'device': 'drm card0', 'bytes': 0}]");
	scene_put(&s, "/processes/100/argv",
	    "['server', '-m', '/m', '--alias', 'x', '--lora=/m/m.gguf']");
}

static void
tear_down(void)
{
	wd_mem_fail_after(UINT64_MAX);
	scene_end(&s);
}

static void
fail_everywhere(void)
{
	struct wd_evidence with = {
		.reader = s.reader, .store = s.store, .clock = &s.clock
	};
	unsigned before, n;

	scene_ask(&s);
	with.host = s.host;
	before = open_descriptors();
	for (n = 0;; n++) {
		Weightd__V1__Attestation *all = NULL;
		enum wd_status st;
		int failed;

		ck_assert_uint_lt(n, 100000);
		wd_mem_fail_after(n);
		st = wd_attest_port(
		    &with, &s.question, s.digests, &s.deadline, &all, NULL);
		failed = wd_mem_has_failed();
		wd_mem_fail_after(UINT64_MAX);
		ck_assert_uint_eq(open_descriptors(), before);
		if (!failed) {
			ck_assert_int_eq(st, WD_OK);
			wd_message_free(all);
			break;
		}
		ck_assert_msg(
		    st == WD_NOMEM, "allocation %u: %s", n, wd_status_name(st));
		ck_assert_ptr_null(all);
	}
	ck_assert_uint_gt(n, 40);
}

START_TEST(a_look_at_a_server)
{
	fail_everywhere();
}
END_TEST

START_TEST(a_look_that_hashes)
{
	s.digests = WD_DIGEST_FRESH;
	fail_everywhere();
}
END_TEST

START_TEST(a_look_at_nothing)
{
	scene_put(&s, "/listeners/items", "[]");
	scene_put(&s, "/holders/items", "[]");
	scene_put(&s, "/processes/101/ppid", "1");
	scene_put(&s, "/processes/100/mappings/status", "'denied'");
	fail_everywhere();
	ck_assert_uint_eq(s.all->n_orphans, 1);
}
END_TEST

START_TEST(a_look_for_a_connection)
{
	Weightd__V1__Connection from;
	char address[] = "127.0.0.1";

	weightd__v1__connection__init(&from);
	from.address = address;
	from.port = 5555;
	s.question.connection = &from;
	scene_put(&s, "/connections",
	    "[{'inode': 500, 'local': '127.0.0.1', 'local_port': 8080,"
	    " 'remote': '127.0.0.1', 'remote_port': 5555}]");
	scene_owner(&s, 101, 7, 500);
	fail_everywhere();
	ck_assert_int_eq(s.all->connection->state,
	    WEIGHTD__V1__CONNECTION_STATE__CONNECTION_STATE_FOUND);
	scene_put(&s, "/connections/0/local_port", "80");
	scene_put(&s, "/translations",
	    "{'complete': false, 'items': [{'client': '127.0.0.1',"
	    " 'client_port': 5555, 'asked': '10.0.0.1', 'asked_port': 8080,"
	    " 'server': '127.0.0.1', 'server_port': 80,"
	    " 'seen': '127.0.0.1', 'seen_port': 5555}]}");
	fail_everywhere();
	ck_assert(s.all->connection->translated);
	scene_put(&s, "/connections", "{'complete': false, 'items': []}");
	fail_everywhere();
}
END_TEST

START_TEST(a_look_at_a_published_port)
{
	scene_unmap_all(&s, 100);
	scene_put(&s, "/processes/100/descriptors/items", "[]");
	scene_put(&s, "/processes/100/rss_anon_bytes", "0");
	scene_put(&s, "/processes/101/ppid", "1");
	scene_put(&s, "/processes/100/exe/path", "'/usr/bin/docker-proxy'");
	scene_put(&s, "/processes/100/argv",
	    "['docker-proxy', '-container-ip', '172.17.0.2',"
	    " '-container-port', '80']");
	scene_put(&s, "/processes/101/container", "'0123456789ab'");
	scene_put(&s, "/listeners/items/-",
	    "{'netns': 7, 'family': 4, 'address': '0.0.0.0', 'port': 80,"
	    " 'inode': 80, 'cookie': 9}");
	scene_owner(&s, 101, 4, 80);
	scene_put(
	    &s, "/local_addresses", "[{'netns': 7, 'address': '172.17.0.2'}]");
	scene_put(&s, "/connections", "[]");
	fail_everywhere();
	ck_assert_uint_eq(s.all->n_behind, 1);
}
END_TEST

WD_SUITE_BEGIN("evidence memory")
tcase_set_timeout(tcase, 600);
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_TEST(a_look_at_a_server);
WD_TEST(a_look_that_hashes);
WD_TEST(a_look_at_nothing);
WD_TEST(a_look_for_a_connection);
WD_TEST(a_look_at_a_published_port);
WD_SUITE_END
