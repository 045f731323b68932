/*
 * procfs.h - the text of /proc/PID files, parsed. Pure: bytes in, facts out,
 * so that it is tested and fuzzed without a system.
 *
 * The formats are proc(5) and the kernel's Documentation/filesystems/proc.rst.
 * Every function reads only the slice it is given; output is written only on
 * success.
 */
#ifndef WD_HOST_LINUX_PROCFS_H
#define WD_HOST_LINUX_PROCFS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/slice.h"

/* /proc/PID/stat. The name stands in parentheses and may itself hold spaces,
 * parentheses and newlines: it ends at the last ')' of the text. */
struct wd_stat {
	pid_t pid;
	char comm[64];
	char state;
	pid_t ppid, pgid, sid;
	uint64_t flags;
	uint64_t threads;
	uint64_t start_ticks; /* since boot */
	uint64_t stack_start; /* 0: not allowed to see */
	uint64_t arg_start, arg_end;
};
#define WD_STAT_KTHREAD UINT64_C(0x00200000) /* PF_KTHREAD */

/* Errors: WD_MALFORMED when a field up to the start time is missing or no
 * number. The later fields are 0 when the text ends before them. */
enum wd_status wd_parse_stat(
    struct wd_slice text, struct wd_stat *stat) WD_MUST_CHECK;

/* /proc/PID/status: the numbers that follow. Lines that are absent (kernel
 * threads have no memory) leave 0. */
struct wd_status_file {
	bool uid_known, gid_known;
	uint32_t uid, gid; /* effective */
	uint64_t vm_bytes;
	uint64_t rss_anon_bytes, rss_file_bytes, rss_shmem_bytes;
	uint64_t locked_bytes, swap_bytes, hugetlb_bytes;
	uint64_t cap_effective;
};
void wd_parse_status(struct wd_slice text, struct wd_status_file *status);

/* The number behind "KEY:" at the start of a line: /proc/PID/io ("rchar"),
 * fdinfo ("pos", "flags" in octal). */
bool wd_parse_key(struct wd_slice text, const char *key, unsigned base,
    uint64_t *number) WD_MUST_CHECK;

/* A link of the form "KIND:[N]": sockets and namespaces. */
bool wd_parse_inode_link(
    struct wd_slice text, const char *kind, uint64_t *inode) WD_MUST_CHECK;

/* /proc/stat's "btime": seconds since 1970 at boot. */
bool wd_parse_boot_time(struct wd_slice text, uint64_t *seconds) WD_MUST_CHECK;

/* One line of /proc/PID/cgroup: "ID:CONTROLLERS:PATH". */
struct wd_cgroup_line {
	uint64_t hierarchy; /* 0: the unified one */
	struct wd_slice controllers;
	struct wd_slice path;
};
bool wd_parse_cgroup_line(
    struct wd_slice line, struct wd_cgroup_line *parsed) WD_MUST_CHECK;

/* One line of /proc/PID/mountinfo: what we use of it. Paths are still
 * escaped (wd_unescape_mount). */
struct wd_mount_line {
	struct wd_slice root, mount_point, fs_type, super_options;
};
bool wd_parse_mount_line(
    struct wd_slice line, struct wd_mount_line *parsed) WD_MUST_CHECK;

/* Appends with \040, \011, \012 and \134 turned back into bytes: mountinfo
 * escapes exactly these, so unlike in maps this is unambiguous. */
enum wd_status wd_unescape_mount(struct wd_buf *out, struct wd_slice text);

#endif
