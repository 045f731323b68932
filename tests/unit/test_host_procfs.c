/* The pure parsers of /proc text. */
#include <string.h>

#include "host/linux/argv.h"
#include "host/linux/names.h"
#include "host/linux/procfs.h"
#include "host/linux/procmaps.h"
#include "host/linux/procnet.h"
#include "support/suite.h"

#define TAIL                                                                   \
	" S 7 8 9 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 3 0 4711 1 2 3 4 5 "       \
	"140736 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 1 1 1 1000 1020 1 1 0\n"

/* ---- stat ---------------------------------------------------------------- */

static const struct {
	const char *text;
	enum wd_status status;
	const char *comm;
} stats[] = {
	{ "42 (cat)" TAIL, WD_OK, "cat" },
	{ "42 (a b)" TAIL, WD_OK, "a b" },
	{ "42 (a) S 1 (b)" TAIL, WD_OK, "a) S 1 (b" },
	{ "42 ())" TAIL, WD_OK, ")" },
	{ "42 (new\nline)" TAIL, WD_OK, "new\nline" },
	{ "42 ()" TAIL, WD_OK, "" },
	{ "", WD_MALFORMED, "" },
	{ "42 cat" TAIL, WD_MALFORMED, "" },
	{ "42 )cat(" TAIL, WD_MALFORMED, "" },
	{ "x (cat)" TAIL, WD_MALFORMED, "" },
	{ "99999999999 (cat)" TAIL, WD_MALFORMED, "" },
	{ "42 (cat)", WD_MALFORMED, "" },
	{ "42 (cat) S", WD_MALFORMED, "" },
	{ "42 (cat) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18",
	    WD_MALFORMED, "" },
	{ "42 (cat) S x 8 9 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 3 0 4711",
	    WD_MALFORMED, "" },
	{ "42 (cat) S 7 8 9 0 -1 4 1 0 0 0 0 0 0 0 20 0 3 0 4711\n", WD_OK,
	    "cat" },
};

START_TEST(stat_table)
{
	struct wd_stat stat;

	memset(&stat, 0, sizeof(stat));
	ck_assert_int_eq(wd_parse_stat(wd_slice_text(stats[_i].text), &stat),
	    stats[_i].status);
	if (stats[_i].status != WD_OK)
		return;
	ck_assert_str_eq(stat.comm, stats[_i].comm);
	ck_assert_int_eq(stat.pid, 42);
	ck_assert_int_eq(stat.state, 'S');
	ck_assert_int_eq(stat.ppid, 7);
	ck_assert_int_eq(stat.pgid, 8);
	ck_assert_int_eq(stat.sid, 9);
	ck_assert_uint_eq(stat.threads, 3);
	ck_assert_uint_eq(stat.start_ticks, 4711);
}
END_TEST

START_TEST(stat_late_fields)
{
	struct wd_stat stat;

	ck_assert_int_eq(
	    wd_parse_stat(wd_slice_text("42 (cat)" TAIL), &stat), WD_OK);
	ck_assert_uint_eq(stat.stack_start, 140736);
	ck_assert_uint_eq(stat.arg_start, 1000);
	ck_assert_uint_eq(stat.arg_end, 1020);
	ck_assert_uint_eq(stat.flags, 4194560);
}
END_TEST

/* ---- maps ---------------------------------------------------------------- */

static const struct {
	const char *line;
	enum wd_status status;
	const char *path;
} maps[] = {
	{ "7f00-7f10 r--p 00001000 fe:00 77 /m/a.gguf", WD_OK, "/m/a.gguf" },
	{ "7f00-7f10 r--p 00001000 fe:00 77   /m/a.gguf\n", WD_OK,
	    "/m/a.gguf" },
	{ "7f00-7f10 r--p 00001000 fe:00 77 /My  Models/ a b .gguf ", WD_OK,
	    "/My  Models/ a b .gguf " },
	{ "7f00-7f10 r--p 00001000 fe:00 77 /a\\012b (deleted)", WD_OK,
	    "/a\\012b (deleted)" },
	{ "7f00-7f10 r--p 00001000 fe:00 77 /\xff\xfe.gguf", WD_OK,
	    "/\xff\xfe.gguf" },
	{ "7f00-7f10 r--p 00001000 fe:00 77 ", WD_OK, "" },
	{ "7f00-7f10 r--p 00001000 fe:00 77", WD_OK, "" },
	{ "", WD_MALFORMED, "" },
	{ "7f10-7f10 r--p 0 fe:00 77", WD_MALFORMED, "" },
	{ "7f20-7f10 r--p 0 fe:00 77", WD_MALFORMED, "" },
	{ "7f00 r--p 0 fe:00 77", WD_MALFORMED, "" },
	{ "7f00-7f10 r-- 0 fe:00 77", WD_MALFORMED, "" },
	{ "7f00-7f10 r--p x fe:00 77", WD_MALFORMED, "" },
	{ "7f00-7f10 r--p 0 fe 77", WD_MALFORMED, "" },
	{ "7f00-7f10 r--p 0 1ffffffff:00 77", WD_MALFORMED, "" },
	{ "7f00-7f10 r--p 0 fe:00 -7", WD_MALFORMED, "" },
	{ "7f00-11112222333344445 r--p 0 fe:00 7", WD_MALFORMED, "" },
};

START_TEST(maps_table_B8_U1)
{
	struct wd_map_line map;

	ck_assert_int_eq(wd_parse_map_line(wd_slice_text(maps[_i].line), &map),
	    maps[_i].status);
	if (maps[_i].status != WD_OK)
		return;
	ck_assert(wd_slice_equal(map.path, wd_slice_text(maps[_i].path)));
	ck_assert_uint_eq(map.start, 0x7f00);
	ck_assert_uint_eq(map.end, 0x7f10);
	ck_assert_uint_eq(map.offset, 0x1000);
	ck_assert_uint_eq(map.device, 0xfe00);
	ck_assert_uint_eq(map.inode, 77);
	ck_assert(map.readable && !map.writable && !map.shared);
}
END_TEST

START_TEST(maps_flags)
{
	struct wd_map_line map;

	ck_assert_int_eq(
	    wd_parse_map_line(wd_slice_text("1-2 -wxs 0 0:0 1 /x"), &map),
	    WD_OK);
	ck_assert(!map.readable && map.writable && map.executable);
	ck_assert(map.shared);
}
END_TEST

START_TEST(private_huge_pages_tell_nothing)
{
	ck_assert(wd_is_private_hugetlb(
	    wd_slice_text("Private_Hugetlb:    2048 kB")));
	ck_assert(!wd_is_private_hugetlb(
	    wd_slice_text("Private_Hugetlb:       0 kB")));
	ck_assert(!wd_is_private_hugetlb(
	    wd_slice_text("Shared_Hugetlb:     2048 kB")));
}
END_TEST

START_TEST(smaps_counts_anonymous_and_swap_only)
{
	uint64_t bytes = 0;

	ck_assert(wd_parse_smaps_line(
	    wd_slice_text("Anonymous:            12 kB"), &bytes));
	ck_assert(wd_parse_smaps_line(
	    wd_slice_text("Swap:                  4 kB"), &bytes));
	ck_assert(!wd_parse_smaps_line(
	    wd_slice_text("AnonHugePages:       100 kB"), &bytes));
	ck_assert(!wd_parse_smaps_line(
	    wd_slice_text("SwapPss:             100 kB"), &bytes));
	ck_assert(!wd_parse_smaps_line(
	    wd_slice_text("Anonymous: 99999999999999999999 kB"), &bytes));
	ck_assert_uint_eq(bytes, 16 * 1024);
}
END_TEST

static const struct {
	const char *name;
	bool good;
	uint64_t start, end;
} ranges[] = {
	{ "400000-401000", true, 0x400000, 0x401000 },
	{ "1000-2000", true, 0x1000, 0x2000 },
	{ "7fffffffe000-7ffffffff000", true, 0x7fffffffe000, 0x7ffffffff000 },
	{ "2000-1000", false, 0, 0 },
	{ "2000-", false, 0, 0 },
	{ "-2000", false, 0, 0 },
	{ "2000", false, 0, 0 },
	{ "", false, 0, 0 },
};

START_TEST(range_table_B9)
{
	uint64_t start, end;
	bool good =
	    wd_parse_map_range(wd_slice_text(ranges[_i].name), &start, &end);

	ck_assert_int_eq(good, ranges[_i].good);
	if (good) {
		ck_assert_uint_eq(start, ranges[_i].start);
		ck_assert_uint_eq(end, ranges[_i].end);
	}
}
END_TEST

/* ---- net ----------------------------------------------------------------- */

#define ROW_TAIL                                                               \
	" 00000000:00000000 00:00000000 00000000  1000        0 4242 1 "

static const struct {
	const char *line;
	enum wd_status status;
	uint16_t port;
	uint8_t state;
	uint64_t inode;
} rows[] = {
	{ "   0: 0100007F:1F90 00000000:0000 0A" ROW_TAIL, WD_OK, 8080, 10,
	    4242 },
	{ "  12: 0100007F:1F90 0100007F:0050 01" ROW_TAIL "x", WD_OK, 8080, 1,
	    4242 },
	{ "  12: 0100007F:1F90 0100007F:0050 06 00000000:00000000 03:00000B11 "
	  "00000000     0        0 0 3 0000\n",
	    WD_OK, 8080, 6, 0 },
	{ "  sl  local_address rem_address   st tx_queue", WD_MALFORMED, 0, 0,
	    0 },
	{ "", WD_MALFORMED, 0, 0, 0 },
	{ "   0: 0100007F:1F90", WD_MALFORMED, 0, 0, 0 },
	{ "   0: 0100007:1F90 00000000:0000 0A" ROW_TAIL, WD_MALFORMED, 0, 0,
	    0 },
	{ "   0: 0100007F0100007F:1F90 0:0 0A" ROW_TAIL, WD_MALFORMED, 0, 0,
	    0 },
	{ "   0: 0100007F:11F90 00000000:0000 0A" ROW_TAIL, WD_MALFORMED, 0, 0,
	    0 },
	{ "   0: 0100007F:1F90 00000000:0000 10A" ROW_TAIL, WD_MALFORMED, 0, 0,
	    0 },
};

START_TEST(net_table)
{
	struct wd_net_row row;

	ck_assert_int_eq(wd_parse_net_row(wd_slice_text(rows[_i].line), &row),
	    rows[_i].status);
	if (rows[_i].status != WD_OK)
		return;
	ck_assert_uint_eq(row.local_port, rows[_i].port);
	ck_assert_uint_eq(row.state, rows[_i].state);
	ck_assert_uint_eq(row.inode, rows[_i].inode);
	ck_assert(!row.v6);
	/* 127.0.0.1 in the order of a little-endian machine. */
	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		ck_assert_mem_eq(row.local, "\x7f\0\0\1", 4);
}
END_TEST

START_TEST(test_A19_v6_words_are_host_endian)
{
	static const uint8_t mapped[16] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff,
		0xff, 127, 0, 0, 1 };
	struct wd_net_row row;

	if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
		return;
	ck_assert_int_eq(
	    wd_parse_net_row(
		wd_slice_text(
		    "   0: 0000000000000000FFFF00000100007F:1F90 "
		    "00000000000000000000000000000000:0000 0A" ROW_TAIL),
		&row),
	    WD_OK);
	ck_assert(row.v6);
	ck_assert_mem_eq(row.local, mapped, 16);
}
END_TEST

START_TEST(test_A18_who_answers_ipv4)
{
	uint8_t any[16] = { 0 }, loopback[16] = { 0 }, mapped[16] = { 0 };

	loopback[15] = 1;
	mapped[10] = mapped[11] = 0xff;
	mapped[12] = 127;
	ck_assert_int_eq(wd_v6only_settle(any, WD_NO), WD_NO);
	ck_assert_int_eq(wd_v6only_settle(any, WD_YES), WD_YES);
	ck_assert_int_eq(wd_v6only_settle(any, WD_NOT_KNOWN), WD_NOT_KNOWN);
	ck_assert_int_eq(wd_v6only_settle(loopback, WD_NO), WD_YES);
	ck_assert_int_eq(wd_v6only_settle(mapped, WD_NOT_KNOWN), WD_NO);
}
END_TEST

/* ---- status, links, mounts ----------------------------------------------- */

START_TEST(status_numbers)
{
	struct wd_status_file s;

	wd_parse_status(
	    wd_slice_text(
		"Name:\tUid:\t9\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\n"
		"VmSize:\t  100 kB\nVmLck:\t 4 kB\nRssAnon:\t 1 kB\n"
		"RssFile:\t 2 kB\nRssShmem:\t 3 kB\nVmSwap:\t 5 kB\n"
		"HugetlbPages:\t 2048 kB\nCapEff:\t00000000000a0000\n"),
	    &s);
	ck_assert(s.uid_known && s.gid_known);
	ck_assert_uint_eq(s.uid, 2);
	ck_assert_uint_eq(s.gid, 6);
	ck_assert_uint_eq(s.vm_bytes, 102400);
	ck_assert_uint_eq(s.rss_anon_bytes, 1024);
	ck_assert_uint_eq(s.rss_file_bytes, 2048);
	ck_assert_uint_eq(s.rss_shmem_bytes, 3072);
	ck_assert_uint_eq(s.locked_bytes, 4096);
	ck_assert_uint_eq(s.swap_bytes, 5120);
	ck_assert_uint_eq(s.hugetlb_bytes, 2097152);
	ck_assert_uint_eq(s.cap_effective, 0xa0000);
	wd_parse_status(
	    wd_slice_text("Uid:\t1\nVmSize: 99999999999999999999"), &s);
	ck_assert(!s.uid_known);
	ck_assert_uint_eq(s.vm_bytes, 0);
}
END_TEST

START_TEST(inode_links)
{
	uint64_t inode = 7;

	ck_assert(wd_parse_inode_link(
	    wd_slice_text("socket:[12]"), "socket", &inode));
	ck_assert_uint_eq(inode, 12);
	ck_assert(
	    !wd_parse_inode_link(wd_slice_text("socket:[]"), "socket", &inode));
	ck_assert(!wd_parse_inode_link(
	    wd_slice_text("socket:[12"), "socket", &inode));
	ck_assert(
	    !wd_parse_inode_link(wd_slice_text("pipe:[12]"), "socket", &inode));
	ck_assert(!wd_parse_inode_link(
	    wd_slice_text("socket:[1x]"), "socket", &inode));
	ck_assert_uint_eq(inode, 12);
}
END_TEST

START_TEST(mount_lines)
{
	struct wd_mount_line mount;
	struct wd_buf path;

	ck_assert(wd_parse_mount_line(
	    wd_slice_text("36 35 0:4 net:[4026532] /run/a\\040b rw shared:1 "
			  "master:2 - nsfs nsfs rw,hidepid=2"),
	    &mount));
	ck_assert(wd_slice_equal(mount.root, wd_slice_text("net:[4026532]")));
	ck_assert(wd_slice_equal(mount.fs_type, wd_slice_text("nsfs")));
	ck_assert(
	    wd_slice_equal(mount.super_options, wd_slice_text("rw,hidepid=2")));
	wd_buf_init(&path, 100);
	ck_assert_int_eq(wd_unescape_mount(&path, mount.mount_point), WD_OK);
	ck_assert_str_eq(wd_buf_string(&path), "/run/a b");
	wd_buf_reset(&path);
	ck_assert_int_eq(
	    wd_unescape_mount(&path, wd_slice_text("\\134\\04\\999")), WD_OK);
	ck_assert_str_eq(wd_buf_string(&path), "\\\\04\\999");
	wd_buf_release(&path);
	ck_assert(!wd_parse_mount_line(
	    wd_slice_text("36 35 0:4 / /mnt rw shared:1 nsfs nsfs rw"),
	    &mount));
	ck_assert(!wd_parse_mount_line(wd_slice_text("36 35"), &mount));
}
END_TEST

START_TEST(boot_time)
{
	uint64_t seconds;

	ck_assert(wd_parse_boot_time(
	    wd_slice_text("cpu 1 2\nbtime 1700000000\nx 1\n"), &seconds));
	ck_assert_uint_eq(seconds, 1700000000);
	ck_assert(!wd_parse_boot_time(wd_slice_text("btime\n"), &seconds));
}
END_TEST

/* ---- control groups ------------------------------------------------------ */

#define ID64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct {
	const char *text, *path, *unit, *container;
} groups[] = {
	{ "0::/system.slice/llama.service\n", "/system.slice/llama.service",
	    "llama.service", "" },
	{ "0::/user.slice/user-1000.slice/user@1000.service/app.slice/"
	  "vllm.service\n",
	    "/user.slice/user-1000.slice/user@1000.service/app.slice/"
	    "vllm.service",
	    "vllm.service", "" },
	{ "0::/user.slice/user-0.slice/session-3.scope\n",
	    "/user.slice/user-0.slice/session-3.scope", "session-3.scope", "" },
	{ "0::/system.slice/docker-" ID64 ".scope\n",
	    "/system.slice/docker-" ID64 ".scope", "docker-" ID64 ".scope",
	    ID64 },
	{ "12:pids:/docker/" ID64 "\n1:name=systemd:/docker/" ID64 "\n0::/\n",
	    "/docker/" ID64, "", ID64 },
	{ "0::/kubepods.slice/kubepods-besteffort.slice/"
	  "kubepods-besteffort-pod1.slice/cri-containerd-" ID64 ".scope\n",
	    "/kubepods.slice/kubepods-besteffort.slice/"
	    "kubepods-besteffort-pod1.slice/cri-containerd-" ID64 ".scope",
	    "cri-containerd-" ID64 ".scope", ID64 },
	{ "0::/kubepods/burstable/pod1/" ID64 "\n",
	    "/kubepods/burstable/pod1/" ID64, "", ID64 },
	{ "0::/machine.slice/libpod-" ID64 ".scope/container\n",
	    "/machine.slice/libpod-" ID64 ".scope/container",
	    "libpod-" ID64 ".scope", ID64 },
	{ "0::/machine.slice/libpod-conmon-" ID64 ".scope\n",
	    "/machine.slice/libpod-conmon-" ID64 ".scope",
	    "libpod-conmon-" ID64 ".scope", "" },
	{ "0::/kubepods.slice/crio-" ID64 ".scope\n",
	    "/kubepods.slice/crio-" ID64 ".scope", "crio-" ID64 ".scope",
	    ID64 },
	{ "0::/lxc.payload.web/init.scope\n", "/lxc.payload.web/init.scope", "",
	    "web" },
	{ "3:cpu:/lxc/web/x\n", "/lxc/web/x", "", "web" },
	{ "0::/machine.slice/systemd-nspawn@deb.service/payload\n",
	    "/machine.slice/systemd-nspawn@deb.service/payload",
	    "systemd-nspawn@deb.service", "deb" },
	{ "0::/system.slice/not-" ID64 "0.scope\n",
	    "/system.slice/not-" ID64 "0.scope", "not-" ID64 "0.scope", "" },
	{ "0::/\n", "/", "", "" },
	{ "broken\n::\nx:y:z\n", "", "", "" },
	{ "0::/a:b/c\n", "/a:b/c", "", "" },
};

START_TEST(group_table)
{
	struct wd_slice path = wd_cgroup_choose(wd_slice_text(groups[_i].text));

	ck_assert(wd_slice_equal(path, wd_slice_text(groups[_i].path)));
	ck_assert(wd_slice_equal(
	    wd_cgroup_unit(path), wd_slice_text(groups[_i].unit)));
	ck_assert(wd_slice_equal(
	    wd_cgroup_container(path), wd_slice_text(groups[_i].container)));
}
END_TEST

/* ---- argv ---------------------------------------------------------------- */

#define ARGV(text)                                                             \
	{                                                                      \
		(const uint8_t *)(text), sizeof(text) - 1                      \
	}

static const struct {
	struct wd_slice argv;
	struct wd_argv_facts facts;
	bool overwritten;
} titles[] = {
	{ ARGV("prog\0-m\0a.gguf\0"), { 15, 3, true, false }, false },
	{ ARGV("prog\0-m\0a.gguf\0"), { 0, 0, false, false }, false },
	/* A shorter title, padded with NULs. */
	{ ARGV("VLLM::E\0\0\0\0\0\0\0\0"), { 15, 3, true, false }, true },
	{ ARGV("VLLM::E\0\0\0\0\0\0\0\0"), { 15, 0, false, false }, true },
	/* Joined by blanks, one NUL. */
	{ ARGV("prog -m a.gguf\0"), { 15, 3, true, false }, true },
	/* The same without exec's count: nothing tells. */
	{ ARGV("prog -m a.gguf\0"), { 15, 0, false, false }, false },
	/* On into the environment. */
	{ ARGV("a title longer than the area\0"), { 15, 0, false, false },
	    true },
	{ ARGV("no end"), { 6, 0, false, false }, true },
	/* Blanked. */
	{ ARGV("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), { 15, 3, true, false },
	    true },
	{ ARGV("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), { 15, 0, false, false },
	    true },
	/* Honest empty arguments. */
	{ ARGV("prog\0\0"), { 6, 2, true, false }, false },
	{ ARGV("\0"), { 1, 1, true, false }, false },
	{ ARGV(""), { 0, 0, false, false }, false },
	/* Only the beginning was read. */
	{ ARGV("prog\0-m"), { 15, 3, true, true }, false },
};

START_TEST(test_B10_title_table)
{
	ck_assert_int_eq(
	    wd_argv_overwritten(titles[_i].argv, &titles[_i].facts),
	    titles[_i].overwritten);
}
END_TEST

START_TEST(environment_takes_only_chosen_names)
{
	static const struct wd_slice block =
	    ARGV("PATH=/bin\0LLAMA_ARG_MODEL=/m/a=b.gguf\0HF_TOKEN=hf_1\0"
		 "=odd\0none\0LISTEN_FDS=1\0LISTEN_FDS=2\0\0MODEL=x");
	struct wd_process process;

	memset(&process, 0, sizeof(process));
	ck_assert_int_eq(wd_environment_take(block, &process), WD_OK);
	ck_assert_uint_eq(process.env_count, 4);
	ck_assert_str_eq(process.env[0].name, "LLAMA_ARG_MODEL");
	ck_assert_str_eq((char *)process.env[0].value.data, "/m/a=b.gguf");
	ck_assert_str_eq(process.env[1].name, "HF_TOKEN");
	ck_assert_str_eq((char *)process.env[1].value.data, "[redacted]");
	ck_assert(process.env[1].redacted);
	ck_assert_str_eq((char *)process.env[2].value.data, "1");
	ck_assert_str_eq(process.env[3].name, "MODEL");
	wd_process_release(&process);
}
END_TEST

WD_SUITE_BEGIN("host procfs")
WD_LOOP(stat_table, stats);
WD_TEST(stat_late_fields);
WD_LOOP(maps_table_B8_U1, maps);
WD_TEST(maps_flags);
WD_TEST(private_huge_pages_tell_nothing);
WD_TEST(smaps_counts_anonymous_and_swap_only);
WD_LOOP(range_table_B9, ranges);
WD_LOOP(net_table, rows);
WD_TEST(test_A19_v6_words_are_host_endian);
WD_TEST(test_A18_who_answers_ipv4);
WD_TEST(status_numbers);
WD_TEST(inode_links);
WD_TEST(mount_lines);
WD_TEST(boot_time);
WD_LOOP(group_table, groups);
WD_LOOP(test_B10_title_table, titles);
WD_TEST(environment_takes_only_chosen_names);
WD_SUITE_END
