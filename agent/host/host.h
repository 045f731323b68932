/*
 * host.h - what the project asks of an operating system. Facts, never policy.
 *
 * linux/, darwin/ and fixture/ implement this one table; everything above it
 * is the same code on every system. All structs here are plain and owned by
 * the caller after the call; each has a release function. Bytes that a
 * process or a file system chose (names, paths, arguments) are `wd_bytes`,
 * never C strings.
 *
 * A call whose length depends on the system (lists, mappings, descriptors)
 * takes a deadline (NULL: none) and looks at it between steps; one step, a
 * file of /proc or a namespace, may overrun it. The others (identity, confirm,
 * process, open_*, file_state, quiet) take none: they make a bounded number of
 * system calls, but each of those can wait for as long as a network or FUSE
 * file system does not answer. Call these where waiting is allowed.
 *
 * A result says how much of the look was completed: `complete` false means
 * that a negative must not be drawn from it, and `blinds` says why. About a
 * single process GONE, DENIED and UNSUPPORTED are ordinary results, returned
 * as status.
 */
#ifndef WD_HOST_HOST_H
#define WD_HOST_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/slice.h"

/* Owned bytes, NUL-terminated behind the last one for convenience. */
struct wd_bytes {
	uint8_t *data; /* NULL when len is 0 */
	size_t len;
};

/* Something that could not be seen: what, why, and what would help. The texts
 * are ready to show. */
struct wd_blind {
	enum wd_status why; /* DENIED, TIMEDOUT, LIMIT, UNSUPPORTED, ... */
	pid_t pid;          /* 0 when it is not about one process */
	char *what;
	char *reason;
	char *remedy;
};
struct wd_blinds {
	struct wd_blind *items;
	size_t count, capacity;
};

/* ---- listeners ---------------------------------------------------------- */

enum wd_family { WD_INET4 = 4, WD_INET6 = 6 };
enum wd_tristate { WD_NO, WD_YES, WD_NOT_KNOWN };

/* One listening TCP socket. The key is (netns, family, address, port, inode):
 * two rows for one port are two facts. */
struct wd_listener {
	uint64_t netns; /* inode of the network namespace; 0 on systems
			 * that have none */
	enum wd_family family;
	uint8_t address[16]; /* network order; 4 bytes used for INET4 */
	uint16_t port;
	uint64_t inode;     /* socket's identity; 0: the kernel shows none */
	uint64_t cookie;    /* sock_diag's, unique per boot; 0: not known */
	uint32_t interface; /* bound device's index, 0: any */
	uint32_t uid;       /* at creation; may be stale */
	enum wd_tristate v6only; /* WD_NO: dual-stack, answers IPv4 too */
	bool mptcp;
	bool by_primary; /* seen by sock_diag / pcblist */
	bool by_second;  /* seen by the second witness, /proc/net */
};

enum wd_netns_scope {
	WD_NETNS_OWN, /* the agent's */
	WD_NETNS_ONE, /* the one with inode `netns` */
	WD_NETNS_ALL,
};

struct wd_listener_query {
	enum wd_netns_scope scope;
	uint64_t netns;
	uint16_t port; /* 0: every port */
};

struct wd_listeners {
	struct wd_listener *items; /* sorted by the key */
	size_t count, capacity;
	bool complete;  /* the asked namespaces were seen whole */
	unsigned looks; /* witnesses that looked: 1 or 2 (per family) */
	bool agreed;    /* two looks were made and found the same */
	struct wd_blinds blinds;
};

/* ---- holders ------------------------------------------------------------ */

/* A process or thread that has a socket open. */
struct wd_holder {
	uint64_t inode;
	pid_t pid; /* thread group leader */
	pid_t tid; /* == pid unless the thread has its own table */
	int fd;
};

struct wd_holders {
	struct wd_holder *items; /* sorted by inode, pid, tid, fd */
	size_t count, capacity;
	bool complete; /* every process's descriptors were read */
	size_t processes_seen;
	size_t vanished; /* gone while we looked: no blind spot by itself */
	struct wd_blinds blinds;
};

/* ---- processes ---------------------------------------------------------- */

/* A process in one life and one exec generation. Equal in all fields, or it
 * is another. */
struct wd_identity {
	pid_t pid;
	uint64_t start;      /* opaque, only for equality (Linux: ticks) */
	uint64_t exe_device; /* of the running executable */
	uint64_t exe_inode;
	uint64_t exec_token; /* changes with exec (Linux: start of the stack) */
	bool generation_known; /* false: the three above could not be read,
				* so an exec would not be noticed */
};

/* What fstat tells of an opened file, and what the file system is. */
struct wd_file_state {
	uint64_t device;
	uint64_t inode;
	uint64_t generation; /* inode generation; 0 when there is none */
	uint64_t size_bytes;
	uint64_t allocated_bytes;
	int64_t mtime_ns, ctime_ns; /* real time */
	uint64_t links;
	uint64_t mount;          /* id of the mount it was reached through; 0:
				  * not known */
	uint64_t fs_id;          /* identifies the mounted file system */
	char fs_type[32];        /* "ext4", "overlay", "nfs"; "" not known */
	bool trusted_times;      /* local, in nanoseconds, moved by stores
				  * through mappings too, leases: rule 5 */
	enum wd_tristate sparse; /* has holes inside its size */
	bool in_memory;          /* memfd, tmpfs without a name, shm */
};

/* An opened object and its state at that moment. `fd` is owned. */
struct wd_file {
	int fd; /* -1: none */
	struct wd_file_state state;
};

/* Environment variable that the project may read (never any other), with
 * secrets already replaced. */
struct wd_variable {
	char *name;
	struct wd_bytes value;
	bool redacted;
};

enum wd_process_state {
	WD_RUNNING,
	WD_ZOMBIE,        /* dead and not reaped */
	WD_ZOMBIE_LEADER, /* main thread ended, others live on */
	WD_KERNEL_THREAD,
};

struct wd_ancestor {
	pid_t pid;
	uint64_t start;
	char comm[64];
};

struct wd_process {
	struct wd_identity identity;
	enum wd_process_state state;
	int64_t start_real_ns; /* start in real time, to one tick */
	pid_t ppid, sid, pgid;
	uint32_t uid, gid; /* effective */
	bool uid_known;
	pid_t live_tid; /* a thread through which to read */
	char comm[64];  /* escaped nowhere: bytes, NUL-terminated */

	enum wd_status exe_status; /* WD_OK, or why the fields are empty */
	struct wd_bytes exe_path;
	bool exe_deleted;
	enum wd_tristate exe_replaced; /* its path leads to another file */

	enum wd_status argv_status;
	struct wd_bytes argv; /* arguments with a NUL behind each; secrets
			       * replaced by host/redact.h, boundaries kept */
	bool argv_redacted;
	bool argv_truncated;   /* longer than WD_MAX_ARGV_BYTES */
	bool argv_overwritten; /* a title was written over it (setproctitle) */

	enum wd_status env_status;
	struct wd_variable *env; /* chosen names only */
	size_t env_count;

	struct wd_ancestor *ancestors; /* parent first, up to PID 1 */
	size_t ancestor_count;

	uint64_t netns, pidns, mntns; /* 0: not seen */
	struct wd_bytes cgroup;       /* path, unified hierarchy preferred */
	char *unit;                   /* systemd or launchd unit; or NULL */
	char *container;              /* container id; or NULL */

	uint64_t rss_anon_bytes, rss_file_bytes, rss_shmem_bytes;
	uint64_t locked_bytes, swap_bytes, hugetlb_bytes;
	enum wd_status io_status;
	uint64_t read_bytes; /* asked of read(2) and the like: rchar */
};

/* One row of the process table. */
struct wd_pid {
	pid_t pid, ppid;
	uint64_t start;  /* as wd_identity.start */
	pid_t sid, pgid; /* 0: not seen */
};
struct wd_pids {
	struct wd_pid *items; /* sorted by pid */
	size_t count, capacity;
	bool complete;
	struct wd_blinds blinds;
};

/* ---- what a process holds ----------------------------------------------- */

/* Where an object was met, enough to open that very object again. */
struct wd_object_ref {
	pid_t pid;
	pid_t tid;           /* through which it is reached */
	bool is_mapping;     /* else a descriptor */
	uint64_t start, end; /* address range; mapping only */
	int fd;              /* descriptor only */
};

enum wd_object_type {
	WD_OBJECT_REGULAR,
	WD_OBJECT_MEMORY, /* memfd, shm, an unlinked tmpfs file */
	WD_OBJECT_SOCKET,
	WD_OBJECT_PIPE,
	WD_OBJECT_DEVICE, /* character device: see rdev */
	WD_OBJECT_IO_URING,
	WD_OBJECT_OTHER,
};

struct wd_mapping {
	uint64_t start, end; /* addresses */
	enum wd_object_type type;
	uint64_t rdev;          /* devices only */
	uint64_t offset;        /* in the file, bytes */
	uint64_t device, inode; /* as printed; compare through open_object */
	struct wd_bytes path;   /* as the kernel gives it, without a mark */
	bool deleted;           /* the kernel marks it so */
	bool shared, readable, writable, executable;
	bool written_known;
	uint64_t written_bytes; /* private pages that no longer come from the
				 * file (copied on write, swapped ones too) */
};

struct wd_mappings {
	struct wd_mapping *items; /* files only, by address */
	size_t count, capacity;
	uint64_t anonymous_bytes; /* address space without a file */
	bool by_path_only;        /* no right to map_files: see open_object */
	bool complete;            /* every mapping was seen */
	struct wd_blinds blinds;
};

struct wd_descriptor {
	pid_t tid; /* whose table; == pid unless a thread has its own */
	int fd;
	enum wd_object_type type;
	bool readable, writable;
	uint64_t device, inode; /* a socket's inode is its identity */
	uint64_t rdev;          /* devices only */
	struct wd_bytes path;
	bool deleted;
	uint64_t position;
};

struct wd_descriptors {
	struct wd_descriptor *items; /* sorted by tid, fd */
	size_t count, capacity;
	bool complete; /* every descriptor of every table was seen */
	struct wd_blinds blinds;
};

/* What wd_host_confirm found. It confirms what an earlier answer named and
 * never extends it: a process that has joined since is not looked for, so no
 * answer about *all* owners can be drawn from it. */
struct wd_confirmation {
	bool listeners_same; /* the ports have these sockets and no others */
	bool holders_same;   /* each named holder still holds its socket */
	size_t lost;         /* named holders that no longer do */
};

/* ---- what ties processes together --------------------------------------- */

/* One end of an established TCP connection. Both ends of a connection inside
 * one machine are two rows. */
struct wd_connection {
	uint64_t netns;
	uint64_t inode; /* of the socket; 0: nobody has it open any more, or
			 * nobody has accepted it yet */
	enum wd_family family;
	uint8_t local[16], remote[16]; /* network order, as in wd_listener */
	uint16_t local_port, remote_port;
};
struct wd_connections {
	struct wd_connection *items; /* sorted by local port, inode; no row
				      * twice */
	size_t count, capacity;
	bool complete;
	struct wd_blinds blinds;
};

/* Two unix sockets, stream or seqpacket, that are connected to each other. */
struct wd_unix_pair {
	uint64_t inode, peer_inode;
};
struct wd_unix_pairs {
	struct wd_unix_pair *items; /* sorted by inode; both directions */
	size_t count, capacity;
	bool complete;
	struct wd_blinds blinds;
};

/* What one process has on devices that compute. */
struct wd_device_use {
	char *device;   /* "NVIDIA 0000:01:00.0", "drm card0", "kfd" */
	uint64_t bytes; /* of its memory; valid when `bytes_known` */
	bool bytes_known;
	char *reason; /* why not, ready to show; NULL when known */
};
struct wd_device_uses {
	struct wd_device_use *items; /* sorted by device */
	size_t count, capacity;
	bool complete; /* every handle that the process has is in the list */
};

/* What a look that was refused was about. */
enum wd_refused {
	WD_REFUSED_PROCESS, /* what a process holds */
	WD_REFUSED_OBJECT,  /* the very object that it holds, to be opened */
};

/* Why the system refuses such looks, and what would help; static texts. */
struct wd_refusal {
	const char *reason, *remedy;
};

struct wd_host_identity {
	char boot_id[64];
	char hostname[256];
	char os[128]; /* "Linux 6.18.1 x86_64" */
	uint64_t netns;
	pid_t pid_of_agent;
	int64_t tick_ns; /* step of process start times (Linux: 10 ms) */
};

struct wd_host;
struct wd_rights;          /* rights.h */
struct wd_way;             /* way.h */
struct wd_local_addresses; /* reach.h */
struct wd_translations;

/* See host/ends.h. */
struct wd_ends_wanted;
struct wd_ends;
struct wd_object_number;
struct wd_mappers;

struct wd_host_ops {
	enum wd_status (*identity)(struct wd_host *host,
	    struct wd_host_identity *identity, struct wd_error *err);
	enum wd_status (*listeners)(struct wd_host *host,
	    const struct wd_listener_query *query,
	    const struct wd_deadline *deadline, struct wd_listeners *found,
	    struct wd_error *err);
	enum wd_status (*holders)(struct wd_host *host, const uint64_t *inodes,
	    size_t inode_count, const struct wd_deadline *deadline,
	    struct wd_holders *found, struct wd_error *err);
	enum wd_status (*pids)(struct wd_host *host,
	    const struct wd_deadline *deadline, struct wd_pids *found,
	    struct wd_error *err);
	enum wd_status (*process_identity)(struct wd_host *host, pid_t pid,
	    struct wd_identity *identity, struct wd_error *err);
	enum wd_status (*process)(struct wd_host *host, pid_t pid,
	    struct wd_process *process, struct wd_error *err);
	enum wd_status (*mappings)(struct wd_host *host,
	    const struct wd_process *process,
	    const struct wd_deadline *deadline, struct wd_mappings *found,
	    struct wd_error *err);
	enum wd_status (*descriptors)(struct wd_host *host,
	    const struct wd_process *process,
	    const struct wd_deadline *deadline, struct wd_descriptors *found,
	    struct wd_error *err);
	enum wd_status (*open_object)(struct wd_host *host,
	    const struct wd_object_ref *ref, const struct wd_mapping *mapping,
	    struct wd_file *file, struct wd_error *err);
	enum wd_status (*open_path)(struct wd_host *host, pid_t pid,
	    struct wd_slice path, struct wd_file *file, struct wd_error *err);
	enum wd_status (*open_folder)(struct wd_host *host, pid_t pid,
	    struct wd_slice path, int *fd, struct wd_error *err);
	enum wd_status (*file_state)(struct wd_host *host, int fd,
	    struct wd_file_state *state, struct wd_error *err);
	enum wd_status (*quiet)(struct wd_host *host,
	    const struct wd_file *file, bool *quiet, struct wd_error *err);
	/* Both may be NULL: WD_UNSUPPORTED. */
	enum wd_status (*confirm)(struct wd_host *host,
	    const struct wd_listeners *listeners,
	    const struct wd_holders *holders,
	    struct wd_confirmation *confirmation, struct wd_error *err);
	enum wd_status (*written)(struct wd_host *host,
	    const struct wd_process *process,
	    const struct wd_deadline *deadline, struct wd_mappings *mappings,
	    struct wd_error *err);
	/* The following may be NULL: WD_UNSUPPORTED. */
	enum wd_status (*connections)(struct wd_host *host, uint64_t netns,
	    const struct wd_deadline *deadline, struct wd_connections *found,
	    struct wd_error *err);
	enum wd_status (*unix_pairs)(struct wd_host *host,
	    const struct wd_deadline *deadline, struct wd_unix_pairs *found,
	    struct wd_error *err);
	enum wd_status (*device_uses)(struct wd_host *host,
	    const struct wd_process *process,
	    const struct wd_descriptors *descriptors,
	    const struct wd_deadline *deadline, struct wd_device_uses *found,
	    struct wd_error *err);
	enum wd_status (*ends)(struct wd_host *host,
	    const struct wd_ends_wanted *wanted,
	    const struct wd_deadline *deadline, struct wd_ends *found,
	    struct wd_error *err);
	enum wd_status (*mappers)(struct wd_host *host,
	    const struct wd_object_number *objects, size_t count,
	    const struct wd_deadline *deadline, struct wd_mappers *found,
	    struct wd_error *err);
	enum wd_status (*local_addresses)(struct wd_host *host,
	    const struct wd_deadline *deadline,
	    struct wd_local_addresses *found, struct wd_error *err);
	enum wd_status (*way)(struct wd_host *host, pid_t pid,
	    struct wd_slice path, size_t sure, struct wd_way *way,
	    struct wd_error *err);
	enum wd_status (*translations)(struct wd_host *host, uint64_t netns,
	    uint16_t port, const struct wd_deadline *deadline,
	    struct wd_translations *found, struct wd_error *err);
	struct wd_refusal (*refusal)(
	    struct wd_host *host, enum wd_refused about);
	enum wd_status (*rights)(struct wd_host *host, struct wd_rights *rights,
	    struct wd_error *err);
	/* below.h; of a file, or of a folder when `folder` is not NULL. */
	enum wd_status (*open_below)(struct wd_host *host, struct wd_slice root,
	    struct wd_slice path, struct wd_file *file, int *folder,
	    struct wd_error *err);
	void (*free)(struct wd_host *host);
};

/* Every implementation embeds this as its first member. */
struct wd_host {
	const struct wd_host_ops *ops;
};

/* Who this machine is. */
enum wd_status wd_host_identity(struct wd_host *host,
    struct wd_host_identity *identity, struct wd_error *err) WD_MUST_CHECK;

/* The listening TCP sockets that `query` asks for. WD_OK with `complete`
 * false when only a part was seen; errors only when nothing could be looked
 * at (WD_UNSUPPORTED: neither witness is to be had). */
enum wd_status wd_host_listeners(struct wd_host *host,
    const struct wd_listener_query *query, const struct wd_deadline *deadline,
    struct wd_listeners *found, struct wd_error *err) WD_MUST_CHECK;

/* Every process and thread that has one of the sockets open; one walk for
 * all. Errors: WD_NOMEM, WD_UNSUPPORTED. */
enum wd_status wd_host_holders(struct wd_host *host, const uint64_t *inodes,
    size_t inode_count, const struct wd_deadline *deadline,
    struct wd_holders *found, struct wd_error *err) WD_MUST_CHECK;

/* Whether an earlier answer is still true for what it named: each earlier
 * listener is the same socket (inode and cookie) and no other socket listens
 * on its port in its namespace; each named holder still has that socket under
 * that descriptor. Microseconds instead of a walk: for repeats between full
 * looks. See struct wd_confirmation for what it does not say.
 * Errors: WD_INVALID (no listeners given, or one without a cookie),
 * WD_UNSUPPORTED (no sock_diag, or another namespace than the agent's). */
enum wd_status wd_host_confirm(struct wd_host *host,
    const struct wd_listeners *listeners, const struct wd_holders *holders,
    struct wd_confirmation *confirmation, struct wd_error *err) WD_MUST_CHECK;

/* Every process, with its parent, sorted by pid. WD_OK with `complete` false
 * when some may be hidden (hidepid, a pid namespace, a cap, the deadline):
 * then a descendant may be missing. Errors: WD_NOMEM, WD_UNSUPPORTED. */
enum wd_status wd_host_pids(struct wd_host *host,
    const struct wd_deadline *deadline, struct wd_pids *found,
    struct wd_error *err) WD_MUST_CHECK;

/* Cheap: identity only, for re-checks. Errors: WD_GONE. */
enum wd_status wd_host_process_identity(struct wd_host *host, pid_t pid,
    struct wd_identity *identity, struct wd_error *err) WD_MUST_CHECK;

/* All facts about one process. Parts that were refused have their own status.
 * Errors: WD_GONE, WD_NOMEM. */
enum wd_status wd_host_process(struct wd_host *host, pid_t pid,
    struct wd_process *process, struct wd_error *err) WD_MUST_CHECK;

/* Its file mappings; `complete` false when rows may be missing (deadline, cap).
 * A zombie leader is read through a live thread; a process that has no address
 * space any more is WD_GONE, never an empty WD_OK. Errors: WD_GONE, WD_DENIED,
 * WD_UNSUPPORTED, WD_NOMEM. */
enum wd_status wd_host_mappings(struct wd_host *host,
    const struct wd_process *process, const struct wd_deadline *deadline,
    struct wd_mappings *found, struct wd_error *err) WD_MUST_CHECK;

/* Fills `written_known` and `written_bytes` of the private ones of `mappings`,
 * which may be a subset of what wd_host_mappings found, in its order. Apart
 * from it because the system walks every page for the answer. A mapping that
 * is no longer there stays not known. Errors: as mappings. */
enum wd_status wd_host_written(struct wd_host *host,
    const struct wd_process *process, const struct wd_deadline *deadline,
    struct wd_mappings *mappings, struct wd_error *err) WD_MUST_CHECK;

/* Its descriptors, of every thread that has a table of its own. Errors: as
 * mappings. */
enum wd_status wd_host_descriptors(struct wd_host *host,
    const struct wd_process *process, const struct wd_deadline *deadline,
    struct wd_descriptors *found, struct wd_error *err) WD_MUST_CHECK;

/* Opens, for reading, the very object that the process holds; never another
 * that has its name. `mapping` is the row that `ref` came from, or NULL for a
 * descriptor. Without the right to reach the object itself it is opened by
 * path below the process's root, and must then have the device and inode that
 * the mapping printed, on a file system where those can be compared.
 * Errors: WD_GONE, WD_DENIED (cannot be verified: BLIND), WD_INVALID (no
 * regular file), WD_STALE. The caller releases `file`; on an error its `fd`
 * is -1 and nothing is to be released. */
enum wd_status wd_host_open_object(struct wd_host *host,
    const struct wd_object_ref *ref, const struct wd_mapping *mapping,
    struct wd_file *file, struct wd_error *err) WD_MUST_CHECK;

/* What is at `path` now as process `pid` would see it (its root and working
 * directory): to compare with, and to follow claims; never evidence. Never
 * blocks on a FIFO or device. `file` as above. Errors: WD_GONE, WD_DENIED,
 * WD_INVALID. */
enum wd_status wd_host_open_path(struct wd_host *host, pid_t pid,
    struct wd_slice path, struct wd_file *file,
    struct wd_error *err) WD_MUST_CHECK;

/* As open_path, for a directory; `*fd` is the caller's to close. */
enum wd_status wd_host_open_folder(struct wd_host *host, pid_t pid,
    struct wd_slice path, int *fd, struct wd_error *err) WD_MUST_CHECK;

/* The state of an opened file now. */
enum wd_status wd_host_file_state(struct wd_host *host, int fd,
    struct wd_file_state *state, struct wd_error *err) WD_MUST_CHECK;

/* Whether nobody has the file open for writing or mapped shared and writable
 * at this moment (a read lease taken and dropped). WD_UNSUPPORTED where the
 * system cannot tell; that is not "quiet". */
enum wd_status wd_host_quiet(struct wd_host *host, const struct wd_file *file,
    bool *quiet, struct wd_error *err) WD_MUST_CHECK;

/* The established TCP connections of one network namespace (0: the agent's),
 * or with WD_NETNS_EVERY of all that can be seen; those that one side has begun
 * to close are not among them. A look at one moment: idle ones close within
 * seconds, so that an absent row proves nothing. WD_OK with `complete` false
 * when rows may be missing. Errors: WD_NOMEM, WD_UNSUPPORTED. */
#define WD_NETNS_EVERY UINT64_MAX
enum wd_status wd_host_connections(struct wd_host *host, uint64_t netns,
    const struct wd_deadline *deadline, struct wd_connections *found,
    struct wd_error *err) WD_MUST_CHECK;

/* Every connected pair of unix sockets of the agent's network
 * namespace (they are bound to it by creation; a pair made elsewhere is not
 * listed, and `complete` says nothing about those). Errors: WD_NOMEM,
 * WD_UNSUPPORTED. */
enum wd_status wd_host_unix_pairs(struct wd_host *host,
    const struct wd_deadline *deadline, struct wd_unix_pairs *found,
    struct wd_error *err) WD_MUST_CHECK;

/* What the process has on devices that compute, as the system or the vendor's
 * library accounts for it. `descriptors` are those of the process. A handle
 * whose memory is not accounted for is listed with `bytes_known` false.
 * Errors: WD_NOMEM, WD_UNSUPPORTED. */
enum wd_status wd_host_device_uses(struct wd_host *host,
    const struct wd_process *process, const struct wd_descriptors *descriptors,
    const struct wd_deadline *deadline, struct wd_device_uses *found,
    struct wd_error *err) WD_MUST_CHECK;

/* Why a look that gave WD_DENIED was refused: names only a right that the
 * agent has not, else who else may refuse. The texts are valid until the next
 * call of the host. */
struct wd_refusal wd_host_refusal(struct wd_host *host, enum wd_refused about);

void wd_host_free(struct wd_host **host);

/* ---- the structs' own functions (host.c) --------------------------------- */

/* The same life and, as far as `generation_known` says, the same program: a
 * generation that was known once and is not known now counts as different. */
bool wd_identity_equal(
    const struct wd_identity *a, const struct wd_identity *b);
bool wd_file_state_same_object(
    const struct wd_file_state *a, const struct wd_file_state *b);
/* Same object and nothing moved: size, mtime and ctime are equal too. */
bool wd_file_state_unchanged(
    const struct wd_file_state *a, const struct wd_file_state *b);

/* Adds a blind spot; the texts are copied. Errors: WD_NOMEM. */
enum wd_status wd_blinds_add(struct wd_blinds *blinds, enum wd_status why,
    pid_t pid, const char *remedy, const char *what,
    const char *reason) WD_MUST_CHECK;

void wd_bytes_release(struct wd_bytes *bytes);
enum wd_status wd_bytes_set(
    struct wd_bytes *bytes, struct wd_slice from) WD_MUST_CHECK;
struct wd_slice wd_bytes_slice(const struct wd_bytes *bytes);

void wd_blinds_release(struct wd_blinds *blinds);
void wd_listeners_release(struct wd_listeners *listeners);
void wd_pids_release(struct wd_pids *pids);
void wd_holders_release(struct wd_holders *holders);
void wd_process_release(struct wd_process *process);
void wd_mappings_release(struct wd_mappings *mappings);
void wd_descriptors_release(struct wd_descriptors *descriptors);
void wd_connections_release(struct wd_connections *connections);

/* The row of the other end of `connection`, when that is in the same list: an
 * IPv4 client and a dual-stack server show one address in two families.
 * `connections` must be sorted as its struct says; NULL when there is none.
 * (ties.c) */
const struct wd_connection *wd_connections_other_end(
    const struct wd_connections *connections,
    const struct wd_connection *connection);

/* Whether `path` is that of a device that computes. (ties.c) */
bool wd_host_is_accelerator(struct wd_slice path);

void wd_unix_pairs_release(struct wd_unix_pairs *pairs);
void wd_device_uses_release(struct wd_device_uses *uses);
void wd_file_release(struct wd_file *file);

#endif
