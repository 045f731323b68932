/* The Linux backend on small folders laid out like /proc: nothing here asks
 * the running kernel. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "host/linux/linux.h"
#include "support/dents_shim.h"
#include "support/proctree.h"
#include "support/suite.h"
#include "support/tempdir.h"

static char dir[WD_TEMP_BYTES];
static struct wd_host *host;
static struct wd_host_linux_options options;

static void
set_up(void)
{
	wd_temp_make(dir);
	memset(&options, 0, sizeof(options));
	options.proc = dir;
	wd_tree_link(dir, "self/ns/net", "net:[4000]");
	wd_tree_link(dir, "self/ns/pid", "pid:[4026531836]");
	wd_tree_file(dir, "self/mountinfo",
	    "22 1 0:21 / /proc rw,relatime - proc proc rw\n");
	wd_tree_file(dir, "self/status", "CapEff:\t0000000000000000\n");
}

static void
open_host(void)
{
	struct wd_error err;

	ck_assert_int_eq(wd_host_linux_open(&options, &host, &err), WD_OK);
}

static void
tear_down(void)
{
	wd_host_free(&host);
	wd_temp_remove(dir);
}

static enum wd_status
listeners(enum wd_netns_scope scope, uint16_t port, struct wd_listeners *found)
{
	struct wd_listener_query query = { scope, 0, port };
	struct wd_deadline deadline = wd_deadline_none();

	return wd_host_listeners(host, &query, &deadline, found, NULL);
}

#define REST " 00000000:00000000 00:00000000 00000000  1000        0 "
#define ANY "00000000:0000"

/* ---- listeners ----------------------------------------------------------- */

START_TEST(test_A4_A6_only_listening_local_ports_count)
{
	struct wd_listeners found;

	wd_tree_net(dir, "net/tcp",
	    /* a client of 8080, a server's end, 8080 and 80 as remote ports */
	    "   0: 0100007F:C000 0100007F:1F90 01" REST "1 1\n"
	    "   1: 0100007F:1F90 0100007F:C000 01" REST "2 1\n"
	    "   2: 0100007F:1F90 " ANY " 0A" REST "3 1\n"
	    "   3: 0100007F:0050 " ANY " 0A" REST "4 1\n"
	    "   4: 00000000:0438 " ANY " 0A" REST "5 1\n");
	open_host();
	ck_assert_int_eq(listeners(WD_NETNS_OWN, 8080, &found), WD_OK);
	ck_assert_uint_eq(found.count, 1);
	ck_assert_uint_eq(found.items[0].inode, 3);
	ck_assert_uint_eq(found.items[0].netns, 4000);
	ck_assert(found.items[0].by_second && !found.items[0].by_primary);
	ck_assert(found.complete && found.agreed);
	ck_assert_uint_eq(found.looks, 1);
	wd_listeners_release(&found);
	ck_assert_int_eq(listeners(WD_NETNS_OWN, 80, &found), WD_OK);
	ck_assert_uint_eq(found.count, 1);
	ck_assert_uint_eq(found.items[0].inode, 4);
	wd_listeners_release(&found);
	ck_assert_int_eq(listeners(WD_NETNS_OWN, 0, &found), WD_OK);
	ck_assert_uint_eq(found.count, 3);
	wd_listeners_release(&found);
}
END_TEST

START_TEST(test_A23_time_wait_is_no_listener)
{
	struct wd_listeners found;
	struct wd_holders holders;
	struct wd_deadline deadline = wd_deadline_none();
	uint64_t none = 0;

	wd_tree_net(dir, "net/tcp",
	    "   0: 0100007F:1F90 0100007F:C000 06 00000000:00000000 "
	    "03:00000B11 00000000     0        0 0 3 0000\n");
	wd_tree_process(dir, 10, 1, "x");
	wd_tree_link(dir, "10/fd/3", "socket:[0]");
	open_host();
	ck_assert_int_eq(listeners(WD_NETNS_OWN, 8080, &found), WD_OK);
	ck_assert_uint_eq(found.count, 0);
	ck_assert(found.complete && found.agreed);
	ck_assert_int_eq(
	    wd_host_holders(host, &none, 1, &deadline, &holders, NULL), WD_OK);
	ck_assert_uint_eq(holders.count, 0);
	wd_listeners_release(&found);
	wd_holders_release(&holders);
}
END_TEST

START_TEST(test_A18_v6_table_alone_does_not_tell_v6only)
{
	struct wd_listeners found;

	wd_tree_net(dir, "net/tcp", "");
	wd_tree_net(dir, "net/tcp6",
	    "   0: 00000000000000000000000000000000:1F90 "
	    "00000000000000000000000000000000:0000 0A" REST "7 1\n");
	open_host();
	ck_assert_int_eq(listeners(WD_NETNS_OWN, 8080, &found), WD_OK);
	ck_assert_uint_eq(found.count, 1);
	ck_assert_int_eq(found.items[0].family, WD_INET6);
	ck_assert_int_eq(found.items[0].v6only, WD_NOT_KNOWN);
	wd_listeners_release(&found);
}
END_TEST

START_TEST(test_F14_no_witness_at_all_is_unsupported)
{
	struct wd_listeners found;

	open_host();
	ck_assert_int_eq(listeners(WD_NETNS_OWN, 8080, &found), WD_UNSUPPORTED);
	ck_assert(!found.complete);
	wd_listeners_release(&found);
}
END_TEST

/* The table changes between its two looks. */
static int times;

static void
flicker(void *ctx, enum wd_linux_moment at)
{
	(void)ctx;
	if (at == WD_LINUX_BETWEEN_LOOKS)
		wd_tree_net(dir, "net/tcp",
		    ++times % 2 == 0 ? "" :
				       "   2: 0100007F:1F90 " ANY " 0A" REST
				       "3 1\n");
}

START_TEST(test_A15_looks_that_never_agree_say_so)
{
	struct wd_listeners found;

	times = 0;
	options.at_moment = flicker;
	wd_tree_net(dir, "net/tcp", "");
	open_host();
	ck_assert_int_eq(listeners(WD_NETNS_OWN, 8080, &found), WD_OK);
	ck_assert(!found.agreed);
	ck_assert_int_gt(times, 2);
	wd_listeners_release(&found);
}
END_TEST

static void
flicker_once(void *ctx, enum wd_linux_moment at)
{
	(void)ctx;
	if (at == WD_LINUX_BETWEEN_LOOKS && ++times == 1)
		wd_tree_net(dir, "net/tcp",
		    "   2: 0100007F:1F90 " ANY " 0A" REST "3 1\n");
}

START_TEST(test_A15_a_new_look_settles_a_difference)
{
	struct wd_listeners found;

	times = 0;
	options.at_moment = flicker_once;
	wd_tree_net(dir, "net/tcp", "");
	open_host();
	ck_assert_int_eq(listeners(WD_NETNS_OWN, 8080, &found), WD_OK);
	ck_assert(found.agreed);
	ck_assert_uint_eq(found.count, 1);
	wd_listeners_release(&found);
}
END_TEST

START_TEST(test_A9_other_namespaces_through_their_processes)
{
	struct wd_listener_query query = { WD_NETNS_ONE, 5000, 8080 };
	struct wd_deadline deadline = wd_deadline_none();
	struct wd_listeners found;

	wd_tree_net(
	    dir, "net/tcp", "   2: 0100007F:1F90 " ANY " 0A" REST "3 1\n");
	wd_tree_process(dir, 10, 1, "own");
	wd_tree_process(dir, 20, 1, "other");
	ck_assert_int_eq(unlink(wd_temp_path(dir, "20/ns/net")), 0);
	wd_tree_link(dir, "20/ns/net", "net:[5000]");
	wd_tree_net(
	    dir, "20/net/tcp", "   2: 0100007F:1F90 " ANY " 0A" REST "30 1\n");
	open_host();
	ck_assert_int_eq(listeners(WD_NETNS_ALL, 8080, &found), WD_OK);
	ck_assert_uint_eq(found.count, 2);
	ck_assert(found.complete);
	ck_assert_uint_eq(found.items[0].netns, 4000);
	ck_assert_uint_eq(found.items[0].inode, 3);
	ck_assert_uint_eq(found.items[1].netns, 5000);
	ck_assert_uint_eq(found.items[1].inode, 30);
	wd_listeners_release(&found);
	ck_assert_int_eq(
	    wd_host_listeners(host, &query, &deadline, &found, NULL), WD_OK);
	ck_assert_uint_eq(found.count, 1);
	ck_assert_uint_eq(found.items[0].inode, 30);
	wd_listeners_release(&found);
	query.netns = 6000;
	ck_assert_int_eq(
	    wd_host_listeners(host, &query, &deadline, &found, NULL), WD_OK);
	ck_assert(!found.complete && !found.agreed);
	ck_assert_uint_eq(found.blinds.count, 1);
	wd_listeners_release(&found);
}
END_TEST

START_TEST(test_A9_a_namespace_that_cannot_be_looked_into_is_a_blind_spot)
{
	struct wd_listeners found;

	wd_tree_net(dir, "net/tcp", "");
	wd_tree_file(dir, "self/mountinfo",
	    "22 1 0:21 / /proc rw - proc proc rw\n"
	    "23 1 0:4 net:[5000] /run/netns/x rw - nsfs nsfs rw\n");
	open_host();
	ck_assert_int_eq(listeners(WD_NETNS_ALL, 8080, &found), WD_OK);
	ck_assert(!found.complete);
	ck_assert_uint_eq(found.blinds.count, 1);
	ck_assert_ptr_nonnull(strstr(found.blinds.items[0].what, "5000"));
	wd_listeners_release(&found);
	/* The own one is not concerned. */
	ck_assert_int_eq(listeners(WD_NETNS_OWN, 8080, &found), WD_OK);
	ck_assert(found.complete);
	wd_listeners_release(&found);
}
END_TEST

/* ---- holders ------------------------------------------------------------- */

static struct wd_holders
holders_of(uint64_t inode)
{
	struct wd_deadline deadline = wd_deadline_none();
	struct wd_holders found;

	ck_assert_int_eq(
	    wd_host_holders(host, &inode, 1, &deadline, &found, NULL), WD_OK);
	return found;
}

START_TEST(holders_in_stable_order_and_by_exact_inode)
{
	struct wd_holders found;

	wd_tree_process(dir, 30, 1, "c");
	wd_tree_process(dir, 4, 1, "a");
	wd_tree_process(dir, 200, 1, "b");
	wd_tree_link(dir, "30/fd/9", "socket:[77]");
	wd_tree_link(dir, "30/fd/10", "socket:[77]");
	wd_tree_link(dir, "4/fd/3", "socket:[77]");
	wd_tree_link(dir, "4/fd/4", "socket:[770]");
	wd_tree_link(dir, "4/fd/5", "socket:[7]");
	wd_tree_link(dir, "200/fd/1", "pipe:[77]");
	wd_tree_link(dir, "200/fd/2", "/tmp/socket:[77]");
	wd_tree_link(dir, "200/fd/3", "socket:[77] (deleted)");
	open_host();
	found = holders_of(77);
	ck_assert_uint_eq(found.count, 3);
	ck_assert_int_eq(found.items[0].pid, 4);
	ck_assert_int_eq(found.items[1].pid, 30);
	ck_assert_int_eq(found.items[1].fd, 9);
	ck_assert_int_eq(found.items[2].fd, 10);
	ck_assert(found.complete);
	ck_assert_uint_eq(found.processes_seen, 3);
	wd_holders_release(&found);
}
END_TEST

START_TEST(threads_with_a_table_of_their_own)
{
	struct wd_holders found;

	wd_tree_process(dir, 30, 1, "c");
	wd_tree_link(dir, "30/fd/5", "socket:[77]");
	/* Shares the leader's table. */
	wd_tree_link(dir, "30/task/31/fd/5", "socket:[77]");
	/* Has its own. */
	wd_tree_link(dir, "30/task/32/fd/6", "socket:[77]");
	open_host();
	found = holders_of(77);
	ck_assert_uint_eq(found.count, 2);
	ck_assert_int_eq(found.items[0].tid, 30);
	ck_assert_int_eq(found.items[1].tid, 32);
	ck_assert_int_eq(found.items[1].pid, 30);
	wd_holders_release(&found);
}
END_TEST

static const struct {
	const char *mountinfo, *status, *pidns;
	bool complete;
} views[] = {
	{ "rw", "0", "4026531836", true },
	{ "rw,hidepid=0", "0", "4026531836", true },
	{ "rw,gid=3999999999,hidepid=2", "0", "4026531836", false },
	{ "rw,gid=3999999999,hidepid=invisible", "0", "4026531836", false },
	{ "rw,gid=3999999999,hidepid=1", "0", "4026531836", false },
	{ "rw,hidepid=ptraceable", "0", "4026531836", false },
	/* CAP_SYS_PTRACE sees all. */
	{ "rw,gid=3999999999,hidepid=2", "80000", "4026531836", true },
	{ "rw", "80000", "4026532000", false },
};

START_TEST(test_U7_hidden_processes_are_a_blind_spot)
{
	struct wd_deadline deadline = wd_deadline_none();
	struct wd_holders found;
	struct wd_pids pids;
	char text[256];

	(void)snprintf(text, sizeof(text),
	    "22 1 0:21 / /proc rw - proc proc %s\n", views[_i].mountinfo);
	wd_tree_file(dir, "self/mountinfo", text);
	(void)snprintf(text, sizeof(text), "CapEff:\t%s\n", views[_i].status);
	wd_tree_file(dir, "self/status", text);
	(void)snprintf(text, sizeof(text), "pid:[%s]", views[_i].pidns);
	ck_assert_int_eq(unlink(wd_temp_path(dir, "self/ns/pid")), 0);
	wd_tree_link(dir, "self/ns/pid", text);
	open_host();
	found = holders_of(77);
	ck_assert_int_eq(found.complete, views[_i].complete);
	ck_assert_int_eq(found.blinds.count == 0, views[_i].complete);
	wd_holders_release(&found);
	ck_assert_int_eq(wd_host_pids(host, &deadline, &pids, NULL), WD_OK);
	ck_assert_int_eq(pids.complete, views[_i].complete);
	wd_pids_release(&pids);
}
END_TEST

START_TEST(the_operator_may_vouch_for_the_pid_namespace)
{
	struct wd_holders found;

	ck_assert_int_eq(unlink(wd_temp_path(dir, "self/ns/pid")), 0);
	wd_tree_link(dir, "self/ns/pid", "pid:[4026532000]");
	options.pid_namespace_is_all = true;
	open_host();
	found = holders_of(77);
	ck_assert(found.complete);
	wd_holders_release(&found);
}
END_TEST

START_TEST(test_A20_a_passed_deadline_is_no_answer)
{
	struct wd_deadline deadline = wd_deadline_in(&wd_clock_system, -1);
	struct wd_holders found;
	uint64_t inode = 77;

	wd_tree_process(dir, 30, 1, "c");
	wd_tree_link(dir, "30/fd/5", "socket:[77]");
	open_host();
	ck_assert_int_eq(
	    wd_host_holders(host, &inode, 1, &deadline, &found, NULL), WD_OK);
	ck_assert(!found.complete);
	ck_assert_uint_eq(found.blinds.count, 1);
	ck_assert_int_eq(found.blinds.items[0].why, WD_TIMEDOUT);
	wd_holders_release(&found);
}
END_TEST

START_TEST(no_memory_is_an_error)
{
	struct wd_deadline deadline = wd_deadline_none();
	struct wd_holders found;
	uint64_t n, inode = 77;
	enum wd_status st;

	wd_tree_process(dir, 30, 1, "c");
	wd_tree_link(dir, "30/fd/5", "socket:[77]");
	open_host();
	for (n = 0; n < 1000; n++) {
		wd_mem_fail_after(n);
		st = wd_host_holders(host, &inode, 1, &deadline, &found, NULL);
		if (!wd_mem_has_failed())
			break;
		wd_mem_fail_after(UINT64_MAX);
		ck_assert_int_eq(st, WD_NOMEM);
		wd_holders_release(&found);
	}
	wd_mem_fail_after(UINT64_MAX);
	ck_assert_int_eq(st, WD_OK);
	ck_assert_uint_gt(n, 3);
	ck_assert_uint_eq(found.count, 1);
	wd_holders_release(&found);
}
END_TEST

/* ---- processes ----------------------------------------------------------- */

START_TEST(all_facts_of_a_process)
{
	struct wd_process process;

	wd_tree_file(dir, "stat", "cpu 1\nbtime 1700000000\n");
	wd_tree_process(dir, 1, 0, "systemd");
	wd_tree_process(dir, 10, 1, "sh");
	wd_tree_process(dir, 30, 10, "llama-server");
	wd_tree_file(dir, "30/io", "rchar: 123456\nwchar: 1\n");
	wd_tree_bytes(dir, "30/environ", "HOME=/r\0HF_TOKEN=x\0X=y\0", 23);
	wd_tree_link(dir, "30/exe", "/usr/bin/llama-server (deleted)");
	open_host();
	ck_assert_int_eq(wd_host_process(host, 30, &process, NULL), WD_OK);
	ck_assert_int_eq(process.identity.pid, 30);
	ck_assert_uint_eq(process.identity.start, 130);
	/* The executable itself is not in the tree. */
	ck_assert(!process.identity.generation_known);
	ck_assert_int_eq(process.ppid, 10);
	ck_assert_int_eq(process.live_tid, 30);
	ck_assert_int_eq(process.state, WD_RUNNING);
	ck_assert_int_eq(process.start_real_ns, INT64_C(1700000001300000000));
	ck_assert_uint_eq(process.uid, 1000);
	ck_assert_uint_eq(process.gid, 1001);
	ck_assert_str_eq(process.comm, "llama-server");
	ck_assert_str_eq(
	    (char *)process.exe_path.data, "/usr/bin/llama-server");
	ck_assert(process.exe_deleted);
	ck_assert_int_eq(process.exe_replaced, WD_NOT_KNOWN);
	ck_assert_mem_eq(process.argv.data, "prog\0-m\0/models/a.gguf", 23);
	ck_assert_uint_eq(process.env_count, 2);
	ck_assert_str_eq((char *)process.env[1].value.data, "[redacted]");
	ck_assert_uint_eq(process.ancestor_count, 2);
	ck_assert_int_eq(process.ancestors[0].pid, 10);
	ck_assert_int_eq(process.ancestors[1].pid, 1);
	ck_assert_str_eq(process.ancestors[1].comm, "systemd");
	ck_assert_str_eq(process.unit, "llama.service");
	ck_assert_ptr_null(process.container);
	ck_assert_int_eq(process.io_status, WD_OK);
	ck_assert_uint_eq(process.read_bytes, 123456);
	ck_assert_uint_eq(process.rss_anon_bytes, 10240);
	ck_assert_uint_eq(process.netns, 4000);
	wd_process_release(&process);
	ck_assert_int_eq(wd_host_process(host, 31, &process, NULL), WD_GONE);
}
END_TEST

START_TEST(process_ids_and_parents)
{
	struct wd_deadline deadline = wd_deadline_none();
	struct wd_pids pids;

	wd_tree_process(dir, 30, 10, "c");
	wd_tree_process(dir, 4, 1, "a");
	wd_tree_folder(dir, "12x");
	wd_tree_folder(dir, "99");
	open_host();
	ck_assert_int_eq(wd_host_pids(host, &deadline, &pids, NULL), WD_OK);
	ck_assert(pids.complete);
	ck_assert_uint_eq(pids.count, 2);
	ck_assert_int_eq(pids.items[0].pid, 4);
	ck_assert_int_eq(pids.items[1].pid, 30);
	ck_assert_int_eq(pids.items[1].ppid, 10);
	ck_assert_uint_eq(pids.items[1].start, 130);
	wd_pids_release(&pids);
}
END_TEST

/* ---- what cannot be read is not gone ------------------------------------- */

static const struct {
	const char *text; /* of stat; NULL: a folder */
	enum wd_status why;
} stats[] = {
	{ "30 (c", WD_MALFORMED },
	{ "", WD_MALFORMED },
	{ NULL, WD_INVALID },
};

START_TEST(test_B23_a_process_whose_stat_is_not_read_is_a_blind_spot)
{
	struct wd_deadline deadline = wd_deadline_none();
	struct wd_pids pids;

	wd_tree_process(dir, 4, 1, "a");
	if (stats[_i].text != NULL)
		wd_tree_file(dir, "30/stat", stats[_i].text);
	else
		wd_tree_folder(dir, "30/stat");
	open_host();
	ck_assert_int_eq(wd_host_pids(host, &deadline, &pids, NULL), WD_OK);
	ck_assert(!pids.complete);
	ck_assert_uint_eq(pids.count, 1);
	ck_assert_uint_eq(pids.blinds.count, 1);
	ck_assert_int_eq(pids.blinds.items[0].why, stats[_i].why);
	ck_assert_int_eq(pids.blinds.items[0].pid, 30);
	wd_pids_release(&pids);
}
END_TEST

/* Takes every right from a file of the tree and from this test. */
static bool
forbid(const char *name)
{
	return geteuid() == 0 && chmod(dir, 0755) == 0 &&
	    chmod(wd_temp_path(dir, name), 0) == 0 &&
	    setresgid(65534, 65534, 65534) == 0 &&
	    setresuid(65534, 65534, 65534) == 0;
}

/* One refusal, of process 30; the remedy depends on the rights one has. */
static void
check_refused(const struct wd_blinds *blinds, bool may_trace)
{
	ck_assert_uint_eq(blinds->count, 1);
	ck_assert_int_eq(blinds->items[0].why, WD_DENIED);
	ck_assert_int_eq(blinds->items[0].pid, 30);
	ck_assert_int_eq(
	    strstr(blinds->items[0].remedy, "with CAP_SYS_PTRACE") == NULL,
	    may_trace);
	ck_assert_int_eq(
	    strstr(blinds->items[0].reason, "security module") != NULL &&
		strstr(blinds->items[0].remedy, "on the host") != NULL,
	    may_trace);
}

static const struct {
	const char *rights;
	bool may_trace;
} tracers[] = {
	{ "CapEff:\t0000000000000000\n", false },
	{ "CapEff:\t0000000000080000\n", true },
};

static const struct {
	const char *rights;
	const char *process, *object; /* in the reasons */
} refusals[] = {
	{ "CapEff:\t0000000000000000\n", "CAP_SYS_PTRACE is missing",
	    "CAP_SYS_PTRACE is missing" },
	{ "CapEff:\t0000010000200000\n", "CAP_SYS_PTRACE is missing",
	    "CAP_SYS_PTRACE is missing" },
	{ "CapEff:\t0000000000080000\n", "security module",
	    "CAP_CHECKPOINT_RESTORE is missing" },
	{ "CapEff:\t0000010000080000\n", "security module", "security module" },
	{ "CapEff:\t0000000000280000\n", "security module", "security module" },
};

/* Only a right that is not there is missing. */
START_TEST(test_B23_a_refusal_names_what_is_missing)
{
	struct wd_refusal of_process, of_object;

	wd_tree_file(dir, "self/status", refusals[_i].rights);
	open_host();
	of_process = wd_host_refusal(host, WD_REFUSED_PROCESS);
	ck_assert_msg(strstr(of_process.reason, refusals[_i].process) != NULL,
	    "%s", of_process.reason);
	of_object = wd_host_refusal(host, WD_REFUSED_OBJECT);
	ck_assert_msg(strstr(of_object.reason, refusals[_i].object) != NULL,
	    "%s", of_object.reason);
	ck_assert_int_eq(strstr(of_object.remedy, "CAP_") == NULL,
	    strcmp(refusals[_i].object, "security module") == 0);
}
END_TEST

START_TEST(test_B23_refused_process_in_the_list)
{
	struct wd_deadline deadline = wd_deadline_none();
	struct wd_pids pids;

	wd_tree_file(dir, "self/status", tracers[_i].rights);
	wd_tree_process(dir, 30, 1, "c");
	open_host();
	if (!forbid("30/stat"))
		return;
	ck_assert_int_eq(wd_host_pids(host, &deadline, &pids, NULL), WD_OK);
	ck_assert(!pids.complete);
	check_refused(&pids.blinds, tracers[_i].may_trace);
	wd_pids_release(&pids);
}
END_TEST

START_TEST(test_B23_refused_descriptors)
{
	struct wd_holders found;

	wd_tree_file(dir, "self/status", tracers[_i].rights);
	wd_tree_process(dir, 30, 1, "c");
	open_host();
	if (!forbid("30/fd"))
		return;
	found = holders_of(77);
	ck_assert(!found.complete);
	check_refused(&found.blinds, tracers[_i].may_trace);
	wd_holders_release(&found);
}
END_TEST

START_TEST(test_B23_refused_threads_may_be_in_other_namespaces)
{
	struct wd_listeners found;

	wd_tree_file(dir, "self/status", tracers[_i].rights);
	wd_tree_net(dir, "net/tcp", "");
	wd_tree_process(dir, 30, 1, "c");
	open_host();
	if (!forbid("30/task"))
		return;
	ck_assert_int_eq(listeners(WD_NETNS_ALL, 8080, &found), WD_OK);
	ck_assert(!found.complete);
	check_refused(&found.blinds, tracers[_i].may_trace);
	wd_listeners_release(&found);
}
END_TEST

START_TEST(refused_maps_and_descriptors_name_the_remedy)
{
	struct wd_deadline deadline = wd_deadline_none();
	struct wd_descriptors descriptors;
	struct wd_mappings mappings;
	struct wd_process process;
	struct wd_error err;
	bool may_trace = tracers[_i].may_trace;

	wd_tree_file(dir, "self/status", tracers[_i].rights);
	wd_tree_process(dir, 30, 1, "c");
	wd_tree_file(dir, "30/maps", "");
	open_host();
	ck_assert_int_eq(wd_host_process(host, 30, &process, NULL), WD_OK);
	if (geteuid() == 0)
		ck_assert_int_eq(chmod(wd_temp_path(dir, "30/fd"), 0), 0);
	if (!forbid("30/maps"))
		return;
	ck_assert_int_eq(
	    wd_host_mappings(host, &process, &deadline, &mappings, &err),
	    WD_DENIED);
	ck_assert_int_eq(
	    strstr(err.message, "security module") != NULL, may_trace);
	ck_assert_int_eq(
	    wd_host_descriptors(host, &process, &deadline, &descriptors, &err),
	    WD_DENIED);
	ck_assert_int_eq(
	    strstr(err.message, "security module") != NULL, may_trace);
	ck_assert_int_eq(
	    strstr(err.message, "as root with CAP_SYS_PTRACE") == NULL,
	    may_trace);
	wd_process_release(&process);
}
END_TEST

static const struct {
	int os_errno;
	bool complete;
} ends[] = { { EIO, false }, { EACCES, false }, { ENOENT, true },
	{ ESRCH, true } };

START_TEST(a_list_of_threads_that_breaks_off_is_a_blind_spot)
{
	struct wd_listeners found;

	wd_tree_net(dir, "net/tcp", "");
	wd_tree_process(dir, 30, 1, "c");
	open_host();
	wd_dents_failing = "/30/task";
	wd_dents_errno = ends[_i].os_errno;
	ck_assert_int_eq(listeners(WD_NETNS_ALL, 8080, &found), WD_OK);
	ck_assert_int_eq(found.complete, ends[_i].complete);
	ck_assert_int_eq(found.blinds.count == 0, ends[_i].complete);
	wd_listeners_release(&found);
}
END_TEST

START_TEST(no_memory_for_a_process)
{
	struct wd_process process;
	enum wd_status st = WD_OK;
	uint64_t n;

	wd_tree_process(dir, 1, 0, "systemd");
	wd_tree_process(dir, 30, 1, "llama-server");
	wd_tree_bytes(dir, "30/environ", "HOME=/r\0HF_TOKEN=x\0X=y\0", 23);
	wd_tree_link(dir, "30/exe", "/usr/bin/llama-server");
	open_host();
	for (n = 0; n < 1000; n++) {
		wd_mem_fail_after(n);
		st = wd_host_process(host, 30, &process, NULL);
		if (!wd_mem_has_failed())
			break;
		wd_mem_fail_after(UINT64_MAX);
		ck_assert_int_ne(st, WD_OK);
		wd_process_release(&process);
	}
	wd_mem_fail_after(UINT64_MAX);
	ck_assert_int_eq(st, WD_OK);
	ck_assert_uint_gt(n, 8);
	wd_process_release(&process);
}
END_TEST

/* ---- mappings ------------------------------------------------------------ */

static struct wd_process
process_30(void)
{
	struct wd_process process;

	ck_assert_int_eq(wd_host_process(host, 30, &process, NULL), WD_OK);
	return process;
}

START_TEST(mappings_by_text_alone)
{
	struct wd_deadline deadline = wd_deadline_none();
	struct wd_process process;
	struct wd_mappings found;

	wd_tree_process(dir, 30, 1, "c");
	wd_tree_file(dir, "30/maps",
	    "00010000-00020000 rw-p 00000000 00:00 0 \n"
	    "00400000-00401000 r-xp 00000000 fe:00 7 /bin/My  Prog \n"
	    "00500000-00600000 r--s 00002000 fe:00 8 /m/a.gguf (deleted)\n"
	    "00700000-00701000 rw-p 00000000 00:00 0 [heap]\n"
	    "00800000-00801000 rw-s 00000000 00:01 9 /memfd:m.gguf (deleted)\n"
	    "00900000-00901000 rw-s 00000000 00:08 10 socket:[10]\n");
	open_host();
	process = process_30();
	ck_assert_int_eq(
	    wd_host_mappings(host, &process, &deadline, &found, NULL), WD_OK);
	ck_assert(found.complete && found.by_path_only);
	ck_assert_uint_eq(found.count, 4);
	ck_assert_str_eq((char *)found.items[0].path.data, "/bin/My  Prog ");
	ck_assert(!found.items[0].deleted && !found.items[0].shared);
	ck_assert_str_eq((char *)found.items[1].path.data, "/m/a.gguf");
	ck_assert(found.items[1].deleted && found.items[1].shared);
	ck_assert_uint_eq(found.items[1].offset, 0x2000);
	ck_assert_int_eq(found.items[1].type, WD_OBJECT_REGULAR);
	ck_assert_str_eq((char *)found.items[2].path.data, "/memfd:m.gguf");
	ck_assert(!found.items[2].deleted);
	ck_assert_int_eq(found.items[2].type, WD_OBJECT_MEMORY);
	ck_assert_int_eq(found.items[3].type, WD_OBJECT_SOCKET);
	/* VmSize is 1,000 KiB; the four take 1,036: never below 0. */
	ck_assert_uint_eq(found.anonymous_bytes, 0);
	wd_mappings_release(&found);
	wd_process_release(&process);
}
END_TEST

START_TEST(written_pages_from_smaps)
{
	struct wd_deadline deadline = wd_deadline_none();
	struct wd_process process;
	struct wd_mappings found;

	wd_tree_process(dir, 30, 1, "c");
	wd_tree_file(dir, "30/maps",
	    "00400000-00401000 r--p 00000000 fe:00 7 /a\n"
	    "00500000-00600000 r--p 00002000 fe:00 8 /m/a.gguf\n"
	    "00700000-00800000 r--s 00000000 fe:00 9 /s\n"
	    "00a00000-00b00000 r--p 00000000 fe:00 9 /gone\n");
	wd_tree_file(dir, "30/smaps",
	    "00400000-00401000 r--p 00000000 fe:00 7 /a\n"
	    "Size: 4 kB\nAnonymous:        0 kB\nSwap:       0 kB\n"
	    "00500000-00600000 r--p 00002000 fe:00 8 /m/a.gguf\n"
	    "Anonymous:        8 kB\nSwap:       4 kB\n"
	    "00700000-00800000 r--s 00000000 fe:00 9 /s\n"
	    "Anonymous:        8 kB\n"
	    "00a00000-00b01000 r--p 00000000 fe:00 9 /gone\n"
	    "Anonymous:        8 kB\n");
	open_host();
	process = process_30();
	ck_assert_int_eq(
	    wd_host_mappings(host, &process, &deadline, &found, NULL), WD_OK);
	ck_assert_int_eq(
	    wd_host_written(host, &process, &deadline, &found, NULL), WD_OK);
	ck_assert(found.items[0].written_known);
	ck_assert_uint_eq(found.items[0].written_bytes, 0);
	ck_assert(found.items[1].written_known);
	ck_assert_uint_eq(found.items[1].written_bytes, 12288);
	ck_assert(found.items[2].written_known);
	ck_assert_uint_eq(found.items[2].written_bytes, 0);
	ck_assert(!found.items[3].written_known);
	wd_mappings_release(&found);
	wd_process_release(&process);
}
END_TEST

START_TEST(a_cut_line_of_maps_is_no_end)
{
	struct wd_deadline deadline = wd_deadline_none();
	struct wd_process process;
	struct wd_mappings found;

	wd_tree_process(dir, 30, 1, "c");
	wd_tree_file(dir, "30/maps", "00400000-00401000 r--p 00000000 fe");
	open_host();
	process = process_30();
	ck_assert_int_eq(
	    wd_host_mappings(host, &process, &deadline, &found, NULL),
	    WD_MALFORMED);
	wd_process_release(&process);
}
END_TEST

/* ---- descriptors --------------------------------------------------------- */

START_TEST(descriptors_by_kind)
{
	static const enum wd_object_type types[] = { WD_OBJECT_REGULAR,
		WD_OBJECT_SOCKET, WD_OBJECT_PIPE, WD_OBJECT_IO_URING,
		WD_OBJECT_MEMORY, WD_OBJECT_OTHER };
	struct wd_deadline deadline = wd_deadline_none();
	struct wd_process process;
	struct wd_descriptors found;
	size_t i;

	wd_tree_process(dir, 30, 1, "c");
	wd_tree_link(dir, "30/fd/0", "/m/a.gguf (deleted)");
	wd_tree_file(dir, "30/fdinfo/0", "pos:\t4096\nflags:\t0100000\n");
	wd_tree_link(dir, "30/fd/1", "socket:[77]");
	wd_tree_link(dir, "30/fd/2", "pipe:[8]");
	wd_tree_link(dir, "30/fd/3", "anon_inode:[io_uring]");
	wd_tree_link(dir, "30/fd/4", "/memfd:x (deleted)");
	wd_tree_link(dir, "30/fd/5", "anon_inode:[eventfd]");
	open_host();
	process = process_30();
	ck_assert_int_eq(
	    wd_host_descriptors(host, &process, &deadline, &found, NULL),
	    WD_OK);
	ck_assert(found.complete);
	ck_assert_uint_eq(found.count, WD_COUNT(types));
	for (i = 0; i < found.count; i++)
		ck_assert_int_eq(found.items[i].type, types[i]);
	ck_assert_str_eq((char *)found.items[0].path.data, "/m/a.gguf");
	ck_assert(found.items[0].deleted);
	ck_assert_uint_eq(found.items[0].position, 4096);
	ck_assert_uint_eq(found.items[1].inode, 77);
	ck_assert(!found.items[4].deleted);
	wd_descriptors_release(&found);
	wd_process_release(&process);
}
END_TEST

/* ---- structs ------------------------------------------------------------- */

START_TEST(identities_compare)
{
	struct wd_identity a = { 1, 2, 3, 4, 5, true }, b = a;

	ck_assert(wd_identity_equal(&a, &b));
	b.start = 9;
	ck_assert(!wd_identity_equal(&a, &b));
	b = a;
	b.exec_token = 9;
	ck_assert(!wd_identity_equal(&a, &b));
	b = a;
	b.generation_known = false;
	ck_assert(!wd_identity_equal(&a, &b));
	a.generation_known = false;
	b.exe_inode = 9;
	ck_assert(wd_identity_equal(&a, &b));
}
END_TEST

START_TEST(there_must_be_a_proc_folder)
{
	struct wd_error err;

	options.proc = "/does/not/exist";
	ck_assert_int_eq(wd_host_linux_open(&options, &host, &err), WD_GONE);
	ck_assert_ptr_null(host);
	ck_assert_ptr_nonnull(strstr(err.message, "/does/not/exist"));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("host captured");
	TCase *tcase = tcase_create("host captured");
	SRunner *runner;
	int failed;

	wd_temp_begin();
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	suite_add_tcase(suite, tcase);
	WD_TEST(test_A4_A6_only_listening_local_ports_count);
	WD_TEST(test_A23_time_wait_is_no_listener);
	WD_TEST(test_A18_v6_table_alone_does_not_tell_v6only);
	WD_TEST(test_F14_no_witness_at_all_is_unsupported);
	WD_TEST(test_A15_looks_that_never_agree_say_so);
	WD_TEST(test_A15_a_new_look_settles_a_difference);
	WD_TEST(test_A9_other_namespaces_through_their_processes);
	WD_TEST(test_A9_a_namespace_that_cannot_be_looked_into_is_a_blind_spot);
	WD_TEST(holders_in_stable_order_and_by_exact_inode);
	WD_TEST(threads_with_a_table_of_their_own);
	WD_LOOP(test_U7_hidden_processes_are_a_blind_spot, views);
	WD_TEST(the_operator_may_vouch_for_the_pid_namespace);
	WD_TEST(test_A20_a_passed_deadline_is_no_answer);
	WD_TEST(no_memory_is_an_error);
	WD_TEST(all_facts_of_a_process);
	WD_TEST(process_ids_and_parents);
	WD_LOOP(
	    test_B23_a_process_whose_stat_is_not_read_is_a_blind_spot, stats);
	WD_LOOP(test_B23_a_refusal_names_what_is_missing, refusals);
	WD_LOOP(test_B23_refused_process_in_the_list, tracers);
	WD_LOOP(test_B23_refused_descriptors, tracers);
	WD_LOOP(test_B23_refused_threads_may_be_in_other_namespaces, tracers);
	WD_LOOP(refused_maps_and_descriptors_name_the_remedy, tracers);
	WD_LOOP(a_list_of_threads_that_breaks_off_is_a_blind_spot, ends);
	WD_TEST(no_memory_for_a_process);
	WD_TEST(mappings_by_text_alone);
	WD_TEST(written_pages_from_smaps);
	WD_TEST(a_cut_line_of_maps_is_no_end);
	WD_TEST(descriptors_by_kind);
	WD_TEST(identities_compare);
	WD_TEST(there_must_be_a_proc_folder);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	wd_temp_end();
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
