/*
 * The fixture backend says what its document says, refuses what the document
 * must not say, and changes exactly when it is told to.
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "host/fixture/fixture.h"

#define FOLDER "fixtures/hosts"

static struct wd_host *host;
static struct wd_error err;

static void
set_up(void)
{
	wd_error_init(&err);
	ck_assert_msg(wd_host_fixture_open(
			  FOLDER "/one_server.json", &host, &err) == WD_OK,
	    "%s", err.message);
}

static void
tear_down(void)
{
	wd_host_free(&host);
	ck_assert_ptr_null(host);
}

static struct wd_host *
parse(const char *text)
{
	struct wd_host *made = NULL;

	ck_assert_msg(wd_host_fixture_parse(
			  wd_slice_text(text), FOLDER, &made, &err) == WD_OK,
	    "%s", err.message);
	return made;
}

/* ---- sockets ------------------------------------------------------------- */

START_TEST(identity_is_read)
{
	struct wd_host_identity identity;

	ck_assert_int_eq(wd_host_identity(host, &identity, &err), WD_OK);
	ck_assert_str_eq(identity.boot_id, "b-1");
	ck_assert_str_eq(identity.hostname, "box");
	ck_assert_uint_eq(identity.netns, 4026531840);
	ck_assert_int_eq(identity.pid_of_agent, 900);
	ck_assert_int_eq(identity.tick_ns, 10000000);
}
END_TEST

START_TEST(listeners_by_namespace_and_port)
{
	struct wd_listener_query query = { WD_NETNS_OWN, 0, 8080 };
	struct wd_listeners found;

	ck_assert_int_eq(
	    wd_host_listeners(host, &query, NULL, &found, &err), WD_OK);
	ck_assert_uint_eq(found.count, 1);
	ck_assert_uint_eq(found.items[0].inode, 77);
	ck_assert_mem_eq(found.items[0].address, "\x7f\0\0\1", 4);
	ck_assert(found.complete && found.agreed);
	ck_assert_uint_eq(found.looks, 2);
	wd_listeners_release(&found);

	query.scope = WD_NETNS_ONE;
	query.netns = 4026532000;
	ck_assert_int_eq(
	    wd_host_listeners(host, &query, NULL, &found, &err), WD_OK);
	ck_assert_uint_eq(found.count, 1);
	ck_assert_uint_eq(found.items[0].inode, 70);
	wd_listeners_release(&found);

	query = (struct wd_listener_query){ WD_NETNS_ALL, 0, 0 };
	ck_assert_int_eq(
	    wd_host_listeners(host, &query, NULL, &found, &err), WD_OK);
	ck_assert_uint_eq(found.count, 3);
	ck_assert_uint_eq(found.items[0].inode, 77);
	ck_assert_uint_eq(found.items[1].inode, 78);
	ck_assert_int_eq(found.items[1].v6only, WD_NO);
	ck_assert(!found.items[1].by_second);
	ck_assert_uint_eq(found.items[2].inode, 70);
	wd_listeners_release(&found);
}
END_TEST

START_TEST(a_late_look_is_not_complete)
{
	struct wd_listener_query query = { WD_NETNS_OWN, 0, 8080 };
	struct wd_deadline late = { &wd_clock_system, 1 };
	struct wd_listeners listeners;
	struct wd_holders holders;
	struct wd_pids pids;
	uint64_t inode = 77;

	ck_assert_int_eq(
	    wd_host_listeners(host, &query, &late, &listeners, &err), WD_OK);
	ck_assert(!listeners.complete);
	ck_assert_uint_eq(listeners.blinds.count, 1);
	ck_assert_int_eq(listeners.blinds.items[0].why, WD_TIMEDOUT);
	wd_listeners_release(&listeners);
	ck_assert_int_eq(
	    wd_host_holders(host, &inode, 1, &late, &holders, &err), WD_OK);
	ck_assert(!holders.complete);
	wd_holders_release(&holders);
	ck_assert_int_eq(wd_host_pids(host, &late, &pids, &err), WD_OK);
	ck_assert(!pids.complete);
	wd_pids_release(&pids);
}
END_TEST

START_TEST(holders_of_the_asked_inodes)
{
	struct wd_holders found;
	uint64_t inodes[] = { 78, 77 };

	ck_assert_int_eq(
	    wd_host_holders(host, inodes, 2, NULL, &found, &err), WD_OK);
	ck_assert_uint_eq(found.count, 3);
	ck_assert_int_eq(found.items[0].pid, 100);
	ck_assert_int_eq(found.items[0].tid, 100);
	ck_assert_int_eq(found.items[1].pid, 101);
	ck_assert_int_eq(found.items[2].tid, 105);
	ck_assert_uint_eq(found.processes_seen, 3);
	ck_assert(found.complete);
	wd_holders_release(&found);
	ck_assert_int_eq(
	    wd_host_holders(host, inodes, 1, NULL, &found, &err), WD_OK);
	ck_assert_uint_eq(found.count, 1);
	wd_holders_release(&found);
}
END_TEST

START_TEST(confirmation_follows_the_document)
{
	struct wd_host *moving = parse(
	    "{\"listeners\": {\"items\": [{\"family\": 4, \"port\": 1,"
	    "\"address\": \"127.0.0.1\", \"inode\": 7, \"cookie\": 1}]},"
	    "\"holders\": {\"items\": [{\"inode\": 7, \"pid\": 1, \"fd\": 2}]},"
	    "\"after\": [{\"calls\": 1, \"of\": \"confirm\", \"set\":"
	    "{\"/listeners/items/-\": {\"family\": 4, \"port\": 1, \"inode\": "
	    "8,"
	    "\"address\": \"127.0.0.1\"}}, \"remove\": "
	    "[\"/holders/items/0\"]}]}");
	struct wd_listener_query query = { WD_NETNS_ALL, 0, 1 };
	struct wd_listeners listeners;
	struct wd_holders holders;
	struct wd_confirmation same;
	uint64_t inode = 7;

	ck_assert_int_eq(
	    wd_host_listeners(moving, &query, NULL, &listeners, &err), WD_OK);
	ck_assert_int_eq(
	    wd_host_holders(moving, &inode, 1, NULL, &holders, &err), WD_OK);
	ck_assert_int_eq(
	    wd_host_confirm(moving, &listeners, &holders, &same, &err), WD_OK);
	ck_assert(same.listeners_same && same.holders_same && same.lost == 0);
	ck_assert_int_eq(
	    wd_host_confirm(moving, &listeners, &holders, &same, &err), WD_OK);
	ck_assert(!same.listeners_same && !same.holders_same);
	ck_assert_uint_eq(same.lost, 1);
	wd_listeners_release(&listeners);
	wd_holders_release(&holders);
	wd_host_free(&moving);
}
END_TEST

/* ---- processes ----------------------------------------------------------- */

START_TEST(process_facts)
{
	struct wd_process process;

	ck_assert_int_eq(wd_host_process(host, 100, &process, &err), WD_OK);
	ck_assert_uint_eq(process.identity.start, 500);
	ck_assert_uint_eq(process.identity.exe_inode, 2);
	ck_assert_uint_eq(process.identity.exec_token, 9);
	ck_assert(process.identity.generation_known);
	ck_assert_str_eq((char *)process.exe_path.data, "/usr/bin/server");
	ck_assert_int_eq(process.exe_replaced, WD_NO);
	ck_assert_uint_eq(process.argv.len, 14);
	ck_assert_mem_eq(process.argv.data, "server\0-m\0/m\xff", 14);
	ck_assert_uint_eq(process.env_count, 1);
	ck_assert_str_eq(process.env[0].name, "LLAMA_ARG_MODEL");
	ck_assert_str_eq(process.unit, "server.service");
	ck_assert_ptr_null(process.container);
	ck_assert_uint_eq(process.uid, 33);
	ck_assert_uint_eq(process.read_bytes, 12345);
	ck_assert_uint_eq(process.netns, 4026531840);
	wd_process_release(&process);

	ck_assert_int_eq(wd_host_process(host, 101, &process, &err), WD_OK);
	ck_assert_uint_eq(process.ancestor_count, 2);
	ck_assert_int_eq(process.ancestors[0].pid, 100);
	ck_assert_uint_eq(process.ancestors[0].start, 500);
	ck_assert_str_eq(process.ancestors[1].comm, "init");
	wd_process_release(&process);
	ck_assert_int_eq(wd_host_process(host, 999, &process, &err), WD_GONE);
}
END_TEST

START_TEST(mappings_and_written_pages)
{
	struct wd_process process;
	struct wd_mappings found;

	ck_assert_int_eq(wd_host_process(host, 100, &process, &err), WD_OK);
	ck_assert_int_eq(
	    wd_host_mappings(host, &process, NULL, &found, &err), WD_OK);
	ck_assert_uint_eq(found.count, 2);
	ck_assert_uint_eq(found.items[0].start, 4096);
	ck_assert_uint_eq(found.items[0].inode, 4711);
	ck_assert_uint_eq(found.anonymous_bytes, 4096);
	ck_assert(found.items[0].shared && !found.items[1].shared);
	ck_assert(!found.items[1].written_known);
	ck_assert_int_eq(
	    wd_host_written(host, &process, NULL, &found, &err), WD_OK);
	ck_assert(!found.items[0].written_known);
	ck_assert(found.items[1].written_known);
	ck_assert_uint_eq(found.items[1].written_bytes, 4096);
	wd_mappings_release(&found);
	process.identity.pid = 101;
	ck_assert_int_eq(
	    wd_host_mappings(host, &process, NULL, &found, &err), WD_DENIED);
	process.identity.pid = 999;
	ck_assert_int_eq(
	    wd_host_mappings(host, &process, NULL, &found, &err), WD_GONE);
	wd_process_release(&process);
}
END_TEST

START_TEST(files_have_real_bytes_and_a_described_state)
{
	struct wd_object_ref ref = { 100, 100, true, 4096, 8192, -1 };
	struct wd_file file;
	struct wd_file_state state;
	char bytes[8] = "";
	bool quiet = false;

	ck_assert_int_eq(
	    wd_host_open_object(host, &ref, NULL, &file, &err), WD_OK);
	ck_assert_int_eq(pread(file.fd, bytes, 3, 0), 3);
	ck_assert_str_eq(bytes, "not");
	ck_assert_uint_eq(file.state.device, 2049);
	ck_assert_uint_eq(file.state.inode, 4711);
	ck_assert_uint_eq(file.state.size_bytes, 32);
	ck_assert_int_eq(file.state.ctime_ns, 2000);
	ck_assert_str_eq(file.state.fs_type, "ext4");
	ck_assert_int_eq(
	    wd_host_file_state(host, file.fd, &state, &err), WD_OK);
	ck_assert(wd_file_state_unchanged(&state, &file.state));
	ck_assert_int_eq(wd_host_quiet(host, &file, &quiet, &err), WD_OK);
	ck_assert(quiet);
	wd_file_release(&file);

	ref = (struct wd_object_ref){ 100, 100, false, 0, 0, 5 };
	ck_assert_int_eq(
	    wd_host_open_object(host, &ref, NULL, &file, &err), WD_OK);
	ck_assert_int_eq(wd_host_quiet(host, &file, &quiet, &err), WD_OK);
	ck_assert(!quiet);
	wd_file_release(&file);
	ref.fd = 6;
	ck_assert_int_eq(
	    wd_host_open_object(host, &ref, NULL, &file, &err), WD_DENIED);
	ref.fd = 3;
	ck_assert_int_eq(
	    wd_host_open_object(host, &ref, NULL, &file, &err), WD_INVALID);
	ref.fd = 33;
	ck_assert_int_eq(
	    wd_host_open_object(host, &ref, NULL, &file, &err), WD_GONE);
}
END_TEST

START_TEST(a_number_that_shows_another_file_now)
{
	struct wd_object_ref ref = { 100, 100, true, 4096, 8192, -1 };
	struct wd_file_state state;
	struct wd_file file;
	int other = open(FOLDER "/one_server.json", O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(other, 0);
	ck_assert_int_eq(
	    wd_host_open_object(host, &ref, NULL, &file, &err), WD_OK);
	ck_assert_int_eq(dup2(other, file.fd), file.fd);
	ck_assert_int_eq(
	    wd_host_file_state(host, file.fd, &state, &err), WD_OK);
	ck_assert_uint_ne(state.inode, 4711);
	ck_assert_uint_gt(state.size_bytes, 32);
	wd_file_release(&file);
	(void)close(other);
}
END_TEST

START_TEST(paths_are_the_documents)
{
	struct wd_file file;
	int fd;

	ck_assert_int_eq(wd_host_open_path(host, 100,
			     wd_slice_text("/m/content.bin"), &file, &err),
	    WD_OK);
	ck_assert_uint_eq(file.state.inode, 4711);
	wd_file_release(&file);
	ck_assert_int_eq(wd_host_open_path(host, 100,
			     wd_slice_text("/m/secret"), &file, &err),
	    WD_DENIED);
	ck_assert_int_eq(
	    wd_host_open_path(host, 100, wd_slice_text("/m/none"), &file, &err),
	    WD_GONE);
	ck_assert_int_eq(
	    wd_host_open_folder(host, 100, wd_slice_text("/m"), &fd, &err),
	    WD_OK);
	ck_assert_int_eq(faccessat(fd, "content.bin", R_OK, 0), 0);
	(void)close(fd);
}
END_TEST

START_TEST(descriptors_are_sorted)
{
	struct wd_process process = { .identity.pid = 100 };
	struct wd_descriptors found;

	ck_assert_int_eq(
	    wd_host_descriptors(host, &process, NULL, &found, &err), WD_OK);
	ck_assert_uint_eq(found.count, 3);
	ck_assert_int_eq(found.items[0].fd, 3);
	ck_assert_int_eq(found.items[0].tid, 100);
	ck_assert_int_eq(found.items[0].type, WD_OBJECT_SOCKET);
	ck_assert_uint_eq(found.items[0].inode, 77);
	ck_assert(found.items[1].writable);
	wd_descriptors_release(&found);
}
END_TEST

/* ---- the script ---------------------------------------------------------- */

static uint64_t
start_of(struct wd_host *moving, pid_t pid)
{
	struct wd_identity identity;
	enum wd_status status =
	    wd_host_process_identity(moving, pid, &identity, &err);

	ck_assert(status == WD_OK || status == WD_GONE);
	return status == WD_GONE ? 0 : identity.start;
}

START_TEST(pid_is_reused_after_two_looks)
{
	struct wd_host *moving = parse(
	    "{\"processes\": {\"7\": {\"start\": 1}, \"8\": {\"start\": 2}},"
	    "\"after\": [{\"calls\": 2, \"of\": \"process_identity\","
	    "\"pid\": 7, \"set\": {\"/processes/7/start\": 9}},"
	    "{\"calls\": 4, \"remove\": [\"/processes/7\"]}]}");
	int i;

	ck_assert_uint_eq(start_of(moving, 8), 2);
	ck_assert_uint_eq(start_of(moving, 7), 1);
	ck_assert_uint_eq(start_of(moving, 7), 1);
	ck_assert_uint_eq(start_of(moving, 7), 9);
	for (i = 0; i < 4; i++)
		ck_assert_uint_eq(start_of(moving, 7), 0);
	ck_assert_uint_eq(wd_host_fixture_calls(moving, "process_identity"), 8);
	ck_assert_uint_eq(wd_host_fixture_calls(moving, "pids"), 0);
	ck_assert_uint_eq(wd_host_fixture_calls(moving, NULL), 8);
	wd_host_free(&moving);
}
END_TEST

START_TEST(file_changes_while_it_is_open)
{
	struct wd_host *moving = parse(
	    "{\"files\": {\"f\": {\"path\": \"content.bin\", \"inode\": 1,"
	    "\"ctime_ns\": 5}}, \"processes\": {\"7\": {\"descriptors\":"
	    "{\"items\": [{\"fd\": 3, \"file\": \"f\"}]}}},"
	    "\"after\": [{\"calls\": 1, \"of\": \"open_object\","
	    "\"set\": {\"/files/f/ctime_ns\": 6}}]}");
	struct wd_object_ref ref = { 7, 7, false, 0, 0, 3 };
	struct wd_file_state now;
	struct wd_file file;

	ck_assert_int_eq(
	    wd_host_open_object(moving, &ref, NULL, &file, &err), WD_OK);
	ck_assert_int_eq(file.state.ctime_ns, 5);
	ck_assert_int_eq(
	    wd_host_file_state(moving, file.fd, &now, &err), WD_OK);
	ck_assert(wd_file_state_same_object(&file.state, &now));
	ck_assert(!wd_file_state_unchanged(&file.state, &now));
	wd_file_release(&file);
	wd_host_free(&moving);
}
END_TEST

START_TEST(a_pointer_that_leads_nowhere_is_an_error)
{
	struct wd_host *moving =
	    parse("{\"processes\": {\"7\": {}}, \"after\": [{\"calls\": 0,"
		  "\"set\": {\"/processes/8/start\": 9}}]}");
	struct wd_identity identity;

	ck_assert_int_eq(
	    wd_host_process_identity(moving, 7, &identity, &err), WD_MALFORMED);
	wd_host_free(&moving);
}
END_TEST

/* ---- documents that must not be ------------------------------------------ */

static const struct {
	const char *text;
	const char *says; /* a part of the message */
} refused[] = {
	{ "[]", "object" },
	{ "{", "" },
	{ "{\"listener\": {}}", "unknown key \"listener\"" },
	{ "{\"listeners\": {\"complet\": true}}", "\"complet\"" },
	{ "{\"listeners\": {\"items\": [{\"family\": 5}]}}", "family" },
	{ "{\"listeners\": {\"items\": [{\"family\": 4,"
	  "\"address\": \"::1\"}]}}",
	    "address" },
	{ "{\"listeners\": {\"items\": [{\"port\": 65536}]}}", "port" },
	{ "{\"listeners\": {\"items\": [{\"inode\": -1}]}}", "inode" },
	{ "{\"listeners\": {\"blinds\": [{\"why\": \"tired\"}]}}", "tired" },
	{ "{\"holders\": {\"items\": [{\"fd\": true}]}}", "fd" },
	{ "{\"holders\": {\"items\": {}}}", "items" },
	{ "{\"identity\": {\"status\": 1}}", "status" },
	{ "{\"processes\": {\"x\": {}}}", "PID" },
	{ "{\"processes\": {\"1\": {\"state\": \"asleep\"}}}", "state" },
	{ "{\"processes\": {\"1\": {\"argv\": [1]}}}", "argv" },
	{ "{\"processes\": {\"1\": {\"argv\": [{\"hex\": \"0\"}]}}}", "hex" },
	{ "{\"processes\": {\"1\": {\"env\": [{\"value\": \"\"}]}}}", "name" },
	{ "{\"processes\": {\"1\": {\"exe\": {\"replaced\": true}}}}",
	    "replaced" },
	{ "{\"processes\": {\"1\": {\"mappings\": {\"items\": [{\"file\":"
	  "\"none\"}]}}}}",
	    "none" },
	{ "{\"processes\": {\"1\": {\"descriptors\": {\"items\": [{\"type\":"
	  "\"chair\"}]}}}}",
	    "type" },
	{ "{\"files\": {\"f\": {\"path\": \"content.bin\", \"size\": 1}}}",
	    "\"size\"" },
	{ "{\"after\": [{\"of\": \"sleep\"}]}", "of" },
	{ "{\"after\": [{\"when\": 1}]}", "when" },
};

START_TEST(document_is_refused)
{
	struct wd_host *made = NULL;
	enum wd_status status;

	status = wd_host_fixture_parse(
	    wd_slice_text(refused[_i].text), FOLDER, &made, &err);
	ck_assert_msg(status == WD_MALFORMED, "%s: %s", refused[_i].text,
	    wd_status_name(status));
	ck_assert_ptr_null(made);
	ck_assert_msg(strstr(err.message, refused[_i].says) != NULL, "%s: %s",
	    refused[_i].text, err.message);
}
END_TEST

START_TEST(document_that_is_not_there)
{
	struct wd_host *made = NULL;

	ck_assert_int_eq(
	    wd_host_fixture_open(FOLDER "/none.json", &made, &err), WD_GONE);
	ck_assert_ptr_null(made);
}
END_TEST

/* Every call, once; the first status that is not WD_OK. */
static enum wd_status
use_everything(struct wd_host *used)
{
	struct wd_listener_query query = { WD_NETNS_ALL, 0, 0 };
	struct wd_object_ref ref = { 100, 100, true, 4096, 8192, -1 };
	WD_CLEANUP(wd_listeners_release) struct wd_listeners listeners = { 0 };
	WD_CLEANUP(wd_holders_release) struct wd_holders holders = { 0 };
	WD_CLEANUP(wd_pids_release) struct wd_pids pids = { 0 };
	WD_CLEANUP(wd_process_release) struct wd_process process = { 0 };
	WD_CLEANUP(wd_mappings_release) struct wd_mappings mappings = { 0 };
	WD_CLEANUP(wd_descriptors_release)
	struct wd_descriptors descriptors = { 0 };
	WD_CLEANUP(wd_file_release) struct wd_file file = { .fd = -1 };
	uint64_t inode = 77;
	enum wd_status status;

	status = wd_host_listeners(used, &query, NULL, &listeners, &err);
	if (status == WD_OK)
		status = wd_host_holders(used, &inode, 1, NULL, &holders, &err);
	if (status == WD_OK)
		status = wd_host_pids(used, NULL, &pids, &err);
	if (status == WD_OK)
		status = wd_host_process(used, 100, &process, &err);
	if (status == WD_OK)
		status =
		    wd_host_mappings(used, &process, NULL, &mappings, &err);
	if (status == WD_OK)
		status = wd_host_descriptors(
		    used, &process, NULL, &descriptors, &err);
	if (status == WD_OK)
		status = wd_host_open_object(used, &ref, NULL, &file, &err);
	return status;
}

START_TEST(every_allocation_may_fail)
{
	struct wd_host *made;
	enum wd_status status = WD_NOMEM;
	uint64_t n;

	for (n = 0; status == WD_NOMEM; n++) {
		made = NULL;
		wd_mem_fail_after(n);
		status = wd_host_fixture_open(
		    FOLDER "/one_server.json", &made, NULL);
		if (status == WD_OK)
			status = use_everything(made);
		wd_mem_fail_after(UINT64_MAX);
		wd_host_free(&made);
		ck_assert_msg(status == WD_OK || status == WD_NOMEM,
		    "allocation %d: %s", (int)n, wd_status_name(status));
	}
	ck_assert_uint_gt(n, 50);
}
END_TEST

static Suite *
fixture_suite(void)
{
	Suite *suite = suite_create("host fixture");
	TCase *one = tcase_create("one server");
	TCase *documents = tcase_create("documents");

	tcase_add_checked_fixture(one, set_up, tear_down);
	tcase_add_test(one, identity_is_read);
	tcase_add_test(one, listeners_by_namespace_and_port);
	tcase_add_test(one, a_late_look_is_not_complete);
	tcase_add_test(one, holders_of_the_asked_inodes);
	tcase_add_test(one, process_facts);
	tcase_add_test(one, mappings_and_written_pages);
	tcase_add_test(one, files_have_real_bytes_and_a_described_state);
	tcase_add_test(one, a_number_that_shows_another_file_now);
	tcase_add_test(one, paths_are_the_documents);
	tcase_add_test(one, descriptors_are_sorted);
	suite_add_tcase(suite, one);

	tcase_add_test(documents, confirmation_follows_the_document);
	tcase_add_test(documents, pid_is_reused_after_two_looks);
	tcase_add_test(documents, file_changes_while_it_is_open);
	tcase_add_test(documents, a_pointer_that_leads_nowhere_is_an_error);
	tcase_add_loop_test(documents, document_is_refused, 0,
	    (int)(sizeof(refused) / sizeof(refused[0])));
	tcase_add_test(documents, document_that_is_not_there);
	tcase_add_test(documents, every_allocation_may_fail);
	suite_add_tcase(suite, documents);
	return suite;
}

int
main(void)
{
	SRunner *runner = srunner_create(fixture_suite());
	int failed;

	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
