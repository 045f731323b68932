#include "host/darwin/darwin.h"

#include <libproc.h>
#include <string.h>
#include <sys/proc_info.h>
#include <sys/sysctl.h>

#include "base/mem.h"

/* The contract's types carry what libproc and sysctl give; checked here, where
 * the real headers are. */
_Static_assert(sizeof(((struct proc_bsdinfo *)0)->pbi_start_tvsec) <=
	sizeof(((struct wd_identity *)0)->start),
    "a start time fits wd_identity.start");
_Static_assert(sizeof(((struct proc_regioninfo *)0)->pri_address) <=
	sizeof(((struct wd_mapping *)0)->start),
    "an address fits wd_mapping.start");
_Static_assert(sizeof(((struct socket_info *)0)->soi_so) <=
	sizeof(((struct wd_listener *)0)->inode),
    "a socket's kernel address fits wd_listener.inode");
_Static_assert(sizeof(((struct vinfo_stat *)0)->vst_ino) <=
	sizeof(((struct wd_file_state *)0)->inode),
    "an inode fits wd_file_state.inode");
_Static_assert(PROC_PIDPATHINFO_MAXSIZE >= 1024, "paths are bounded");

static enum wd_status
not_yet(const char *what, struct wd_error *err)
{
	return wd_fail(err, WD_UNSUPPORTED,
	    "%s: the Darwin backend is not there yet; run weightd on Linux",
	    what);
}

static enum wd_status
darwin_identity(struct wd_host *host, struct wd_host_identity *identity,
    struct wd_error *err)
{
	(void)host;
	(void)identity;
	return not_yet("this machine's identity", err);
}

static enum wd_status
darwin_listeners(struct wd_host *host, const struct wd_listener_query *query,
    const struct wd_deadline *deadline, struct wd_listeners *found,
    struct wd_error *err)
{
	(void)host;
	(void)query;
	(void)deadline;
	(void)found;
	return not_yet("listening sockets", err);
}

static enum wd_status
darwin_holders(struct wd_host *host, const uint64_t *inodes, size_t inode_count,
    const struct wd_deadline *deadline, struct wd_holders *found,
    struct wd_error *err)
{
	(void)host;
	(void)inodes;
	(void)inode_count;
	(void)deadline;
	(void)found;
	return not_yet("owners of sockets", err);
}

static enum wd_status
darwin_pids(struct wd_host *host, const struct wd_deadline *deadline,
    struct wd_pids *found, struct wd_error *err)
{
	(void)host;
	(void)deadline;
	(void)found;
	return not_yet("the process table", err);
}

static enum wd_status
darwin_process_identity(struct wd_host *host, pid_t pid,
    struct wd_identity *identity, struct wd_error *err)
{
	(void)host;
	(void)pid;
	(void)identity;
	return not_yet("a process's identity", err);
}

static enum wd_status
darwin_process(struct wd_host *host, pid_t pid, struct wd_process *process,
    struct wd_error *err)
{
	(void)host;
	(void)pid;
	(void)process;
	return not_yet("a process", err);
}

static enum wd_status
darwin_mappings(struct wd_host *host, const struct wd_process *process,
    const struct wd_deadline *deadline, struct wd_mappings *found,
    struct wd_error *err)
{
	(void)host;
	(void)process;
	(void)deadline;
	(void)found;
	return not_yet("mapped files", err);
}

static enum wd_status
darwin_descriptors(struct wd_host *host, const struct wd_process *process,
    const struct wd_deadline *deadline, struct wd_descriptors *found,
    struct wd_error *err)
{
	(void)host;
	(void)process;
	(void)deadline;
	(void)found;
	return not_yet("open files", err);
}

static enum wd_status
darwin_open_object(struct wd_host *host, const struct wd_object_ref *ref,
    const struct wd_mapping *mapping, struct wd_file *file,
    struct wd_error *err)
{
	(void)host;
	(void)ref;
	(void)mapping;
	(void)file;
	return not_yet("a held object", err);
}

static enum wd_status
darwin_open_path(struct wd_host *host, pid_t pid, struct wd_slice path,
    struct wd_file *file, struct wd_error *err)
{
	(void)host;
	(void)pid;
	(void)path;
	(void)file;
	return not_yet("a path as a process sees it", err);
}

static enum wd_status
darwin_open_folder(struct wd_host *host, pid_t pid, struct wd_slice path,
    int *fd, struct wd_error *err)
{
	(void)host;
	(void)pid;
	(void)path;
	(void)fd;
	return not_yet("a folder as a process sees it", err);
}

static enum wd_status
darwin_file_state(struct wd_host *host, int fd, struct wd_file_state *state,
    struct wd_error *err)
{
	(void)host;
	(void)fd;
	(void)state;
	return not_yet("a file's state", err);
}

static enum wd_status
darwin_quiet(struct wd_host *host, const struct wd_file *file, bool *quiet,
    struct wd_error *err)
{
	(void)host;
	(void)file;
	(void)quiet;
	return not_yet("whether a file is being written", err);
}

static void
darwin_free(struct wd_host *host)
{
	wd_free(host);
}

/* confirm, written, connections, unix_pairs and device_uses are NULL: the
 * contract reads that as WD_UNSUPPORTED. */
static const struct wd_host_ops darwin_ops = {
	.identity = darwin_identity,
	.listeners = darwin_listeners,
	.holders = darwin_holders,
	.pids = darwin_pids,
	.process_identity = darwin_process_identity,
	.process = darwin_process,
	.mappings = darwin_mappings,
	.descriptors = darwin_descriptors,
	.open_object = darwin_open_object,
	.open_path = darwin_open_path,
	.open_folder = darwin_open_folder,
	.file_state = darwin_file_state,
	.quiet = darwin_quiet,
	.free = darwin_free,
};

enum wd_status
wd_host_darwin_open(struct wd_host **host, struct wd_error *err)
{
	struct wd_host *made = wd_calloc(1, sizeof(*made));

	if (made == NULL)
		return wd_fail(err, WD_NOMEM, "no memory for the host");
	made->ops = &darwin_ops;
	*host = made;
	return WD_OK;
}
