#include "host/linux/linux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/mem.h"
#include "host/linux/backend.h"
#include "host/linux/nvml.h"
#include "host/linux/procfs.h"

#define MAX_THREADS 8

void
wd_linux_moment(const struct wd_linux *lx, enum wd_linux_moment at)
{
	if (lx->options.at_moment != NULL)
		lx->options.at_moment(lx->options.ctx, at);
}

/* ---- identity ------------------------------------------------------------ */

/* The file's first line; "" when there is none. */
static void
read_line(const struct wd_linux *lx, const char *path, char *line, size_t size)
{
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { 0 };
	struct wd_slice rest, head;

	line[0] = '\0';
	wd_buf_init(&text, 4096);
	if (wd_proc_read(lx, &text, "%s", path) != WD_OK)
		return;
	rest = wd_buf_slice(&text);
	if (wd_slice_cut(&rest, '\n', &head))
		(void)snprintf(
		    line, size, "%.*s", (int)head.len, (const char *)head.data);
}

static void
describe_system(const struct wd_linux *lx, char *os, size_t size)
{
	struct utsname name;
	char release[64];

	if (lx->live && uname(&name) == 0) {
		(void)snprintf(os, size, "%.32s %.64s %.28s", name.sysname,
		    name.release, name.machine);
		return;
	}
	read_line(lx, "sys/kernel/osrelease", release, sizeof(release));
	(void)snprintf(os, size, "Linux %s", release);
}

enum wd_status
wd_linux_identity(struct wd_host *host, struct wd_host_identity *identity,
    struct wd_error *err)
{
	struct wd_linux *lx = wd_linux_of(host);
	long ticks = sysconf(_SC_CLK_TCK);

	(void)err;
	read_line(lx, "sys/kernel/random/boot_id", identity->boot_id,
	    sizeof(identity->boot_id));
	read_line(lx, "sys/kernel/hostname", identity->hostname,
	    sizeof(identity->hostname));
	describe_system(lx, identity->os, sizeof(identity->os));
	identity->netns = lx->netns;
	identity->pid_of_agent = lx->live ? getpid() : 0;
	identity->tick_ns = WD_NS_PER_SECOND / (ticks > 0 ? ticks : 100);
	return WD_OK;
}

/* ---- opening and closing ------------------------------------------------- */

static void
linux_free(struct wd_host *host)
{
	struct wd_linux *lx = wd_linux_of(host);

	wd_close_scoped(&lx->proc);
	wd_close_scoped(&lx->sys);
	wd_close_scoped(&lx->diag);
	wd_nvml_free(&lx->nvml);
	wd_free(lx);
}

static const struct wd_host_ops linux_ops = {
	.identity = wd_linux_identity,
	.listeners = wd_linux_listeners,
	.holders = wd_linux_holders,
	.pids = wd_linux_pids,
	.process_identity = wd_linux_process_identity,
	.process = wd_linux_process,
	.mappings = wd_linux_mappings,
	.descriptors = wd_linux_descriptors,
	.open_object = wd_linux_open_object,
	.open_path = wd_linux_open_path,
	.open_folder = wd_linux_open_folder,
	.way = wd_linux_way,
	.file_state = wd_linux_file_state,
	.quiet = wd_linux_quiet,
	.confirm = wd_linux_confirm,
	.written = wd_linux_written,
	.connections = wd_linux_connections,
	.local_addresses = wd_linux_local_addresses,
	.translations = wd_linux_translations,
	.unix_pairs = wd_linux_unix_pairs,
	.device_uses = wd_linux_device_uses,
	.refusal = wd_linux_op_refusal,
	.rights = wd_linux_rights,
	.open_below = wd_linux_open_below,
	.ends = wd_linux_ends,
	.mappers = wd_linux_mappers,
	.free = linux_free,
};

static unsigned
choose_threads(unsigned asked)
{
	long processors;

	if (asked == 0) {
		processors = sysconf(_SC_NPROCESSORS_ONLN);
		asked = processors < 2 ? 2 : (unsigned)processors;
	}
	return asked > MAX_THREADS ? MAX_THREADS : asked;
}

/* The inode N of "self/ns/KIND"; 0 when it cannot be read. */
static uint64_t
own_namespace(const struct wd_linux *lx, const char *kind)
{
	struct wd_link link;
	uint64_t inode = 0;

	if (wd_proc_link(lx, &link, "self/ns/%s", kind) != WD_OK ||
	    !wd_parse_inode_link(
		(struct wd_slice){ link.text, link.len }, kind, &inode))
		return 0;
	return inode;
}

/* The kernel keeps memfds on a mount of its own; one of ours tells which
 * device that is. */
static uint64_t
memfd_device(void)
{
	WD_CLEANUP(wd_close_scoped) int fd = memfd_create("", MFD_CLOEXEC);
	struct stat stat;

	return fd >= 0 && fstat(fd, &stat) == 0 ? stat.st_dev : 0;
}

/* Where accelerators are accounted for. A captured tree has only what the
 * caller names. A system without /sys is no failure. */
static enum wd_status
open_accounts(struct wd_linux *lx)
{
	const char *sys = lx->options.sys, *nvml = lx->options.nvml;

	if (sys == NULL && lx->live)
		sys = "/sys";
	if (nvml == NULL && lx->live)
		nvml = "libnvidia-ml.so.1";
	lx->options.sys = lx->options.nvml = NULL; /* as above */
	if (sys != NULL)
		lx->sys = open(sys, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return nvml == NULL ? WD_OK : wd_nvml_new(nvml, &lx->nvml);
}

enum wd_status
wd_host_linux_open(const struct wd_host_linux_options *options,
    struct wd_host **host, struct wd_error *err)
{
	struct wd_linux *lx = wd_calloc(1, sizeof(*lx));
	const char *folder = "/proc";
	int os_errno;

	if (lx == NULL)
		return wd_fail(err, WD_NOMEM, "opening the host: no memory");
	if (options != NULL)
		lx->options = *options;
	if (lx->options.proc != NULL)
		folder = lx->options.proc;
	lx->host.ops = &linux_ops;
	lx->live = lx->options.proc == NULL;
	lx->options.proc = NULL; /* the caller's text may go */
	lx->diag = -1;
	lx->sys = -1;
	lx->threads = choose_threads(lx->options.threads);
	lx->proc = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lx->proc < 0) {
		os_errno = errno;
		wd_free(lx);
		return wd_fail_errno(err, os_errno,
		    "opening %s (is the proc file system mounted?)", folder);
	}
	if (open_accounts(lx) != WD_OK) {
		linux_free(&lx->host);
		return wd_fail(err, WD_NOMEM, "opening the host: no memory");
	}
	lx->netns = own_namespace(lx, "net");
	lx->mntns = own_namespace(lx, "mnt");
	lx->shm_device = lx->live ? memfd_device() : 0;
	*host = &lx->host;
	return WD_OK;
}
