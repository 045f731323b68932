/*
 * Whether /proc shows every process: hidepid hides those of others, a pid
 * namespace all that are outside it. Either way a list of processes or of
 * holders supports no negative.
 */
#include <grp.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "host/linux/backend.h"
#include "host/linux/procfs.h"
#include "host/rights.h"

/* The inode of the first pid namespace: PROC_PID_INIT_INO of
 * linux/proc_ns.h, fixed since Linux 3.8. */
#define FIRST_PID_NAMESPACE UINT64_C(0xEFFFFFFC)

#define CAP_SYS_PTRACE_BIT (UINT64_C(1) << 19)
/* Either of them opens map_files (fs/proc/base.c, proc_map_files_get_link). */
#define MAP_FILES_BITS ((UINT64_C(1) << 21) | (UINT64_C(1) << 40))

/* The value of an option "NAME=VALUE" in a comma list. */
static bool
option_value(struct wd_slice options, const char *name, struct wd_slice *value)
{
	struct wd_slice option, key;

	while (wd_slice_cut(&options, ',', &option))
		if (wd_slice_cut(&option, '=', &key) &&
		    wd_slice_equal(key, wd_slice_text(name))) {
			*value = option;
			return true;
		}
	return false;
}

static bool
in_group(uint64_t wanted)
{
	gid_t groups[1024];
	int count = getgroups(1024, groups), i;

	if (wanted == getegid())
		return true;
	for (i = 0; i < count; i++)
		if (wanted == groups[i])
			return true;
	return false;
}

/* hidepid spares members of the group in gid=, which is 0 when not given:
 * root's group sees all. */
static bool
mount_hides(struct wd_slice options)
{
	struct wd_slice value;
	uint64_t group = 0;

	if (!option_value(options, "hidepid", &value) ||
	    wd_slice_equal(value, wd_slice_text("0")) ||
	    wd_slice_equal(value, wd_slice_text("off")))
		return false;
	/* "ptraceable" has no exception for a group. */
	if (wd_slice_equal(value, wd_slice_text("4")) ||
	    wd_slice_equal(value, wd_slice_text("ptraceable")))
		return true;
	if (option_value(options, "gid", &value) &&
	    !wd_slice_number(value, 10, &group))
		return true;
	return !in_group(group);
}

static enum wd_status
read_rights(const struct wd_linux *lx, uint64_t *effective)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { 0 };
	struct wd_status_file status;
	enum wd_status st;

	*effective = 0;
	wd_buf_init(&text, 65536);
	st = wd_proc_read(lx, &text, "self/status");
	if (st != WD_OK)
		return st;
	wd_parse_status(wd_buf_slice(&text), &status);
	*effective = status.cap_effective;
	return WD_OK;
}

/* Whether the agent has at least one of the capabilities. */
static bool
has_right(const struct wd_linux *lx, uint64_t bits)
{
	uint64_t effective = 0;

	return read_rights(lx, &effective) == WD_OK && (effective & bits) != 0;
}

/* capabilities(7), as far as looks use them. */
static const struct {
	const char *name;
	unsigned bit;
	const char *purpose;
} rights_of_looks[] = {
	{ "CAP_SYS_PTRACE", 19,
	    "descriptors, mappings and memory of processes of other users; "
	    "without it their sockets and files are blind" },
	{ "CAP_DAC_READ_SEARCH", 2,
	    "files that those processes hold, and the folders above them; "
	    "without it weights in folders of other users are blind" },
	{ "CAP_CHECKPOINT_RESTORE", 40,
	    "the mapped object itself (map_files; CAP_SYS_ADMIN opens it too); "
	    "without either, files are found by path, never on overlay and "
	    "btrfs" },
	{ "CAP_SYS_ADMIN", 21,
	    "sockets of other network namespaces; without it the listeners of "
	    "containers with a network of their own may be missing" },
	{ "CAP_LEASE", 28,
	    "a read lease on files of other users; without it their digests "
	    "are not kept" },
};

enum wd_status
wd_linux_rights(
    struct wd_host *host, struct wd_rights *rights, struct wd_error *err)
{
	uint64_t effective = 0;
	enum wd_status st = read_rights(wd_linux_of(host), &effective);
	size_t i;

	if (st != WD_OK)
		return wd_fail(
		    err, st, "the agent's own rights: %s", wd_status_name(st));
	for (i = 0; i < sizeof(rights_of_looks) / sizeof(rights_of_looks[0]);
	     i++)
		rights->items[rights->count++] =
		    (struct wd_right){ rights_of_looks[i].name,
			    rights_of_looks[i].purpose,
			    (effective >> rights_of_looks[i].bit & 1) != 0 };
	return WD_OK;
}

static bool
may_trace(const struct wd_linux *lx)
{
	return has_right(lx, CAP_SYS_PTRACE_BIT);
}

struct wd_refusal
wd_linux_refusal(const struct wd_linux *lx)
{
	if (may_trace(lx))
		return (struct wd_refusal){
			"refused although the agent has CAP_SYS_PTRACE: a "
			"security module or a container boundary forbids it",
			"run the agent on the host, outside any container, or "
			"allow it in the security module (AppArmor, SELinux)"
		};
	return (struct wd_refusal){ "the kernel refused the look: "
				    "CAP_SYS_PTRACE is missing",
		"run the agent as root with CAP_SYS_PTRACE" };
}

struct wd_refusal
wd_linux_op_refusal(struct wd_host *host, enum wd_refused about)
{
	const struct wd_linux *lx = wd_linux_of(host);

	if (about == WD_REFUSED_PROCESS || !may_trace(lx))
		return wd_linux_refusal(lx);
	if (!has_right(lx, MAP_FILES_BITS))
		return (struct wd_refusal){
			"the kernel refused to open the object itself: "
			"CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE is missing",
			"run the agent as root, or with CAP_CHECKPOINT_RESTORE "
			"as well"
		};
	return (struct wd_refusal){
		"the object itself could not be opened although the agent has "
		"the rights to: a security module, a container boundary or "
		"the file system forbids it",
		"run the agent on the host, outside any container, or allow "
		"it in the security module (AppArmor, SELinux)"
	};
}

enum wd_status
wd_linux_fail_look(const struct wd_linux *lx, const char *what, pid_t pid,
    enum wd_status st, struct wd_error *err)
{
	struct wd_refusal refusal;

	if (st != WD_DENIED)
		return wd_fail(err, st, "%s of process %d: %s", what, (int)pid,
		    wd_status_name(st));
	refusal = wd_linux_refusal(lx);
	return wd_fail(err, st, "%s of process %d: %s; %s", what, (int)pid,
	    refusal.reason, refusal.remedy);
}

/* The last mount on /proc is the one that is seen. */
static enum wd_status
proc_hides(const struct wd_linux *lx, bool *hides)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { 0 };
	struct wd_mount_line mount;
	struct wd_slice rest, line;
	enum wd_status st;

	wd_buf_init(&text, WD_MAX_PROC_TEXT);
	st = wd_proc_read(lx, &text, "self/mountinfo");
	if (st == WD_NOMEM)
		return st;
	rest = wd_buf_slice(&text);
	while (wd_slice_cut(&rest, '\n', &line))
		if (wd_parse_mount_line(line, &mount) &&
		    wd_slice_equal(mount.fs_type, wd_slice_text("proc")) &&
		    wd_slice_equal(mount.mount_point, wd_slice_text("/proc")))
			*hides = mount_hides(mount.super_options);
	if (*hides && may_trace(lx))
		*hides = false;
	return WD_OK;
}

/* 0 when it cannot be read. */
static uint64_t
own_pid_namespace(const struct wd_linux *lx)
{
	struct wd_link link;
	uint64_t inode = 0;

	if (wd_proc_link(lx, &link, "self/ns/pid") != WD_OK ||
	    !wd_parse_inode_link(
		(struct wd_slice){ link.text, link.len }, "pid", &inode))
		return 0;
	return inode;
}

static bool
in_inner_namespace(const struct wd_linux *lx)
{
	uint64_t inode = own_pid_namespace(lx);

	if (inode == 0)
		return false;
	return inode != FIRST_PID_NAMESPACE;
}

bool
wd_linux_pids_are_first(const struct wd_linux *lx)
{
	return own_pid_namespace(lx) == FIRST_PID_NAMESPACE;
}

enum wd_status
wd_linux_hidden_processes(
    const struct wd_linux *lx, struct wd_blinds *blinds, bool *hidden)
{
	bool hides = false;
	enum wd_status st = proc_hides(lx, &hides);

	*hidden = false;
	if (st == WD_OK && hides) {
		*hidden = true;
		st = wd_blinds_add(blinds, WD_DENIED, 0,
		    "mount /proc with hidepid=0 for the agent, or give it "
		    "CAP_SYS_PTRACE",
		    "processes of other users",
		    "/proc is mounted with hidepid");
	}
	if (st != WD_OK || lx->options.pid_namespace_is_all ||
	    !in_inner_namespace(lx))
		return st;
	*hidden = true;
	return wd_blinds_add(blinds, WD_DENIED, 0,
	    "run the agent in the host's pid namespace",
	    "processes outside this pid namespace",
	    "the agent runs in a pid namespace of its own");
}
