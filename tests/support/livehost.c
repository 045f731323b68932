#include "support/livehost.h"

#include <arpa/inet.h>
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_CHILDREN 256

static pid_t children[MAX_CHILDREN];
static size_t child_count;

static void
run_child(void (*body)(void *), void *argument, int ready, pid_t parent)
{
	child_count = 0;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	body(argument);
	(void)!write(ready, "r", 1);
	for (;;)
		(void)pause();
}

bool
live_try_spawn(void (*body)(void *), void *argument, pid_t *pid)
{
	pid_t parent = getpid();
	int ready[2], status;
	char byte;

	ck_assert_uint_lt(child_count, MAX_CHILDREN);
	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	*pid = fork();
	ck_assert_int_ge(*pid, 0);
	if (*pid == 0) {
		(void)close(ready[0]);
		run_child(body, argument, ready[1], parent);
	}
	(void)close(ready[1]);
	children[child_count++] = *pid;
	if (read(ready[0], &byte, 1) == 1) {
		(void)close(ready[0]);
		return true;
	}
	(void)close(ready[0]);
	child_count--;
	ck_assert_int_eq(waitpid(*pid, &status, 0), *pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 77,
	    "the child failed (status %x)", (unsigned)status);
	return false;
}

pid_t
live_spawn(void (*body)(void *), void *argument)
{
	pid_t pid;

	ck_assert(live_try_spawn(body, argument, &pid));
	return pid;
}

void
live_kill(pid_t pid)
{
	size_t i;

	for (i = 0; i < child_count; i++) {
		if (children[i] != pid)
			continue;
		/* A test that gave up its rights leaves that to its end. */
		if (kill(pid, SIGKILL) == 0)
			(void)waitpid(pid, NULL, 0);
		children[i] = children[--child_count];
		return;
	}
}

void
live_kill_all(void)
{
	while (child_count > 0)
		live_kill(children[child_count - 1]);
}

/* ---- sockets ------------------------------------------------------------- */

static socklen_t
make_address(const struct live_bind *b, struct sockaddr_storage *storage)
{
	struct sockaddr_in6 *six = (void *)storage;
	struct sockaddr_in *four = (void *)storage;

	memset(storage, 0, sizeof(*storage));
	if (strchr(b->address, ':') != NULL) {
		six->sin6_family = AF_INET6;
		six->sin6_port = htons(b->port);
		(void)inet_pton(AF_INET6, b->address, &six->sin6_addr);
		return sizeof(*six);
	}
	four->sin_family = AF_INET;
	four->sin_port = htons(b->port);
	(void)inet_pton(AF_INET, b->address, &four->sin_addr);
	return sizeof(*four);
}

static uint16_t
port_of(int fd)
{
	struct sockaddr_storage storage;
	socklen_t len = sizeof(storage);

	if (getsockname(fd, (void *)&storage, &len) < 0)
		return 0;
	return storage.ss_family == AF_INET6 ?
	    ntohs(((struct sockaddr_in6 *)(void *)&storage)->sin6_port) :
	    ntohs(((struct sockaddr_in *)(void *)&storage)->sin_port);
}

int
live_listen(const struct live_bind *b, uint16_t *port)
{
	struct sockaddr_storage storage;
	socklen_t len = make_address(b, &storage);
	int one = 1, saved;
	int fd =
	    socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, b->protocol);

	if (fd < 0)
		return -1;
	if (b->reuse_port)
		(void)setsockopt(
		    fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one));
	if (b->v6only >= 0 && storage.ss_family == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &b->v6only,
		    sizeof(b->v6only));
	if (bind(fd, (void *)&storage, len) < 0 || listen(fd, 16) < 0) {
		saved = errno;
		(void)close(fd);
		errno = saved;
		return -1;
	}
	if (port != NULL)
		*port = port_of(fd);
	return fd;
}

int
live_listen_any(uint16_t *port)
{
	struct live_bind b = { "127.0.0.1", 0, false, -1, 0 };
	int fd = live_listen(&b, port);

	ck_assert_int_ge(fd, 0);
	return fd;
}

uint64_t
live_inode(int fd)
{
	struct stat stat;

	ck_assert_int_eq(fstat(fd, &stat), 0);
	return stat.st_ino;
}

int
live_connect(uint16_t port)
{
	struct live_bind b = { "127.0.0.1", port, false, -1, 0 };
	struct sockaddr_storage storage;
	socklen_t len = make_address(&b, &storage);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(connect(fd, (void *)&storage, len), 0);
	return fd;
}

uint16_t
live_free_port(void)
{
	uint16_t port;
	int fd = live_listen_any(&port);

	(void)close(fd);
	return port;
}

/* ---- looks --------------------------------------------------------------- */

struct wd_host *
live_open_with(const struct wd_host_linux_options *options)
{
	struct wd_host *host = NULL;
	struct wd_error err;

	ck_assert_msg(wd_host_linux_open(options, &host, &err) == WD_OK,
	    "opening the host");
	return host;
}

struct wd_host *
live_open(void)
{
	return live_open_with(NULL);
}

struct wd_listeners
live_listeners(struct wd_host *host, uint16_t port)
{
	struct wd_listener_query query = { WD_NETNS_OWN, 0, port };
	struct wd_deadline deadline = wd_deadline_none();
	struct wd_listeners found;
	struct wd_error err;

	wd_error_init(&err);
	ck_assert_msg(
	    wd_host_listeners(host, &query, &deadline, &found, &err) == WD_OK,
	    "%s", err.message);
	ck_assert(found.complete);
	return found;
}

struct wd_holders
live_holders(struct wd_host *host, uint64_t inode)
{
	struct wd_deadline deadline = wd_deadline_none();
	struct wd_holders found;
	struct wd_error err;

	wd_error_init(&err);
	ck_assert_msg(
	    wd_host_holders(host, &inode, 1, &deadline, &found, &err) == WD_OK,
	    "%s", err.message);
	return found;
}

struct wd_process
live_process(struct wd_host *host, pid_t pid)
{
	struct wd_process process;
	struct wd_error err;

	wd_error_init(&err);
	ck_assert_msg(wd_host_process(host, pid, &process, &err) == WD_OK, "%s",
	    err.message);
	return process;
}

struct wd_mappings
live_mappings(struct wd_host *host, const struct wd_process *process)
{
	struct wd_deadline deadline = wd_deadline_none();
	struct wd_mappings found;
	struct wd_error err;

	wd_error_init(&err);
	ck_assert_msg(
	    wd_host_mappings(host, process, &deadline, &found, &err) == WD_OK,
	    "%s", err.message);
	ck_assert(found.complete);
	return found;
}

struct wd_mapping *
live_mapping(struct wd_mappings *mappings, const char *end)
{
	size_t i;

	for (i = 0; i < mappings->count; i++)
		if (wd_slice_ends(
			wd_bytes_slice(&mappings->items[i].path), end))
			return &mappings->items[i];
	return NULL;
}

enum wd_status
live_open_mapping(struct wd_host *host, const struct wd_process *process,
    const struct wd_mapping *mapping, struct wd_file *file)
{
	struct wd_object_ref ref = { process->identity.pid, process->live_tid,
		true, mapping->start, mapping->end, -1 };

	return wd_host_open_object(host, &ref, mapping, file, NULL);
}

/* ---- what this test may see ---------------------------------------------- */

static bool
can_read_descriptors(const char *pid)
{
	struct dirent *entry;
	char path[300], text[64];
	bool denied = false;
	DIR *folder;

	(void)snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	folder = opendir(path);
	if (folder == NULL)
		return errno != EACCES && errno != EPERM;
	while (!denied && (entry = readdir(folder)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		denied = readlinkat(dirfd(folder), entry->d_name, text,
			     sizeof(text)) < 0 &&
		    (errno == EACCES || errno == EPERM);
	}
	(void)closedir(folder);
	return !denied;
}

size_t
live_unreadable_processes(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	size_t count = 0;

	ck_assert_ptr_nonnull(proc);
	while ((entry = readdir(proc)) != NULL)
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    !can_read_descriptors(entry->d_name))
			count++;
	(void)closedir(proc);
	return count;
}

static void
drop(struct __user_cap_data_struct data[2], unsigned capability)
{
	data[capability / 32].effective &= ~(1U << capability % 32);
	data[capability / 32].permitted &= ~(1U << capability % 32);
}

bool
live_drop(const unsigned *capabilities, size_t count)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3,
		0 };
	struct __user_cap_data_struct data[2];
	size_t i;

	if (syscall(SYS_capget, &head, data) != 0)
		return false;
	for (i = 0; i < count; i++)
		drop(data, capabilities[i]);
	return syscall(SYS_capset, &head, data) == 0;
}

bool
live_is_root(void)
{
	return geteuid() == 0;
}
