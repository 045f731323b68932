/* Files as processes see them, their state, and leases, on the running
 * kernel. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/livehost.h"
#include "support/suite.h"
#include "support/tempdir.h"

static struct wd_host *host;
static char dir[WD_TEMP_BYTES];

static void
set_up(void)
{
	(void)signal(SIGIO, SIG_IGN);
	host = live_open();
	wd_temp_make(dir);
}

static void
tear_down(void)
{
	wd_host_free(&host);
	live_kill_all();
	wd_temp_remove(dir);
}

static enum wd_status
open_path(const char *path, struct wd_file *file)
{
	return wd_host_open_path(
	    host, getpid(), wd_slice_text(path), file, NULL);
}

/* ---- opening --------------------------------------------------------------
 */

START_TEST(test_U12_what_is_no_regular_file_is_refused_without_waiting)
{
	const char *fifo = wd_temp_path(dir, "x.gguf");
	struct wd_file file;

	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	ck_assert_int_eq(open_path(fifo, &file), WD_INVALID);
	ck_assert_int_eq(file.fd, -1);
	ck_assert_int_eq(open_path("/dev/zero", &file), WD_INVALID);
	ck_assert_int_eq(open_path(dir, &file), WD_INVALID);
	ck_assert_int_eq(symlink(fifo, wd_temp_path(dir, "link.gguf")), 0);
	ck_assert_int_eq(
	    open_path(wd_temp_path(dir, "link.gguf"), &file), WD_INVALID);
	ck_assert_int_eq(open_path(wd_temp_path(dir, "none"), &file), WD_GONE);
}
END_TEST

START_TEST(paths_that_cannot_be)
{
	struct wd_slice with_nul = { (const uint8_t *)"/etc\0x", 6 };
	static char longest[5000];
	struct wd_file file;
	int fd;

	ck_assert_int_eq(open_path("", &file), WD_INVALID);
	memset(longest, '/', sizeof(longest) - 1);
	ck_assert_int_eq(open_path(longest, &file), WD_INVALID);
	ck_assert_int_eq(
	    wd_host_open_path(host, getpid(), with_nul, &file, NULL),
	    WD_INVALID);
	ck_assert_int_eq(
	    wd_host_open_folder(host, getpid(), with_nul, &fd, NULL),
	    WD_INVALID);
	ck_assert_int_eq(fd, -1);
}
END_TEST

/* A link to /proc/self/... would lead to files of the agent. */
START_TEST(magic_links_are_not_followed)
{
	struct wd_file file;
	char link[64];
	int fd;

	wd_temp_write(wd_temp_path(dir, "secret"), "x", 1);
	fd = open(wd_temp_path(dir, "secret"), O_RDONLY | O_CLOEXEC);
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ck_assert_int_ne(open_path(link, &file), WD_OK);
	(void)close(fd);
}
END_TEST

START_TEST(relative_paths_and_folders)
{
	struct wd_file file;
	struct stat a, b;
	int fd;

	ck_assert_int_eq(mkdir(wd_temp_path(dir, "in"), 0700), 0);
	wd_temp_write(wd_temp_path(dir, "in/a"), "hello", 5);
	ck_assert_int_eq(chdir(dir), 0);
	ck_assert_int_eq(open_path("in/a", &file), WD_OK);
	ck_assert_uint_eq(file.state.size_bytes, 5);
	wd_file_release(&file);
	ck_assert_int_eq(open_path("in/../in/./a", &file), WD_OK);
	wd_file_release(&file);
	ck_assert_int_eq(
	    wd_host_open_folder(host, getpid(), wd_slice_text("in"), &fd, NULL),
	    WD_OK);
	ck_assert_int_eq(fstat(fd, &a), 0);
	ck_assert_int_eq(stat(wd_temp_path(dir, "in"), &b), 0);
	ck_assert_uint_eq(a.st_ino, b.st_ino);
	(void)close(fd);
	ck_assert_int_eq(wd_host_open_folder(
			     host, getpid(), wd_slice_text("in/a"), &fd, NULL),
	    WD_INVALID);
	ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

START_TEST(a_descriptor_is_opened_as_the_object_it_is)
{
	const char *path = wd_temp_path(dir, "m.gguf");
	struct wd_object_ref ref = { getpid(), getpid(), false, 0, 0, -1 };
	struct wd_deadline deadline = wd_deadline_none();
	struct wd_process process = live_process(host, getpid());
	struct wd_descriptors found;
	struct wd_file file;
	size_t i;
	char byte;
	int fd;

	wd_temp_write(path, "old", 3);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(lseek(fd, 2, SEEK_SET), 2);
	ck_assert_int_eq(unlink(path), 0);
	wd_temp_write(path, "new", 3);
	ref.fd = fd;
	ck_assert_int_eq(
	    wd_host_open_object(host, &ref, NULL, &file, NULL), WD_OK);
	ck_assert_int_eq(pread(file.fd, &byte, 1, 0), 1);
	ck_assert_int_eq(byte, 'o');
	wd_file_release(&file);
	ck_assert_int_eq(
	    wd_host_descriptors(host, &process, &deadline, &found, NULL),
	    WD_OK);
	for (i = 0; i < found.count && found.items[i].fd != fd; i++)
		;
	ck_assert_uint_lt(i, found.count);
	ck_assert_int_eq(found.items[i].type, WD_OBJECT_REGULAR);
	ck_assert(found.items[i].deleted && found.items[i].readable);
	ck_assert(!found.items[i].writable);
	ck_assert_uint_eq(found.items[i].position, 2);
	ck_assert_str_eq((char *)found.items[i].path.data, path);
	wd_descriptors_release(&found);
	wd_process_release(&process);
	(void)close(fd);
	ck_assert_int_eq(
	    wd_host_open_object(host, &ref, NULL, &file, NULL), WD_GONE);
}
END_TEST

START_TEST(devices_sockets_and_pipes_are_told_apart)
{
	struct wd_deadline deadline = wd_deadline_none();
	struct wd_process process = live_process(host, getpid());
	struct wd_descriptors found;
	int ends[2], device = open("/dev/null", O_RDWR | O_CLOEXEC);
	uint16_t port;
	int listener = live_listen_any(&port);
	size_t i, seen = 0;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	ck_assert_int_eq(
	    wd_host_descriptors(host, &process, &deadline, &found, NULL),
	    WD_OK);
	ck_assert(found.complete);
	for (i = 0; i < found.count; i++) {
		const struct wd_descriptor *item = &found.items[i];

		if (item->fd == device) {
			ck_assert_int_eq(item->type, WD_OBJECT_DEVICE);
			ck_assert_uint_ne(item->rdev, 0);
			seen++;
		} else if (item->fd == listener) {
			ck_assert_int_eq(item->type, WD_OBJECT_SOCKET);
			ck_assert_uint_eq(item->inode, live_inode(listener));
			seen++;
		} else if (item->fd == ends[0] || item->fd == ends[1]) {
			ck_assert_int_eq(item->type, WD_OBJECT_PIPE);
			ck_assert_int_eq(item->writable, item->fd == ends[1]);
			seen++;
		}
		ck_assert_int_eq(item->tid, getpid());
	}
	ck_assert_uint_eq(seen, 4);
	wd_descriptors_release(&found);
	wd_process_release(&process);
}
END_TEST

/* ---- state ----------------------------------------------------------------
 */

START_TEST(the_state_is_that_of_stat)
{
	const char *path = wd_temp_path(dir, "a");
	struct wd_file_state now;
	struct wd_file file;
	struct stat stat_;

	wd_temp_write(path, "hello", 5);
	ck_assert_int_eq(stat(path, &stat_), 0);
	ck_assert_int_eq(open_path(path, &file), WD_OK);
	ck_assert_uint_eq(file.state.device, stat_.st_dev);
	ck_assert_uint_eq(file.state.inode, stat_.st_ino);
	ck_assert_uint_eq(file.state.size_bytes, 5);
	ck_assert_int_eq(file.state.mtime_ns,
	    stat_.st_mtim.tv_sec * WD_NS_PER_SECOND + stat_.st_mtim.tv_nsec);
	ck_assert_int_eq(file.state.ctime_ns,
	    stat_.st_ctim.tv_sec * WD_NS_PER_SECOND + stat_.st_ctim.tv_nsec);
	ck_assert_uint_eq(file.state.links, 1);
	ck_assert_uint_ne(file.state.fs_id, 0);
	ck_assert_int_eq(wd_host_file_state(host, file.fd, &now, NULL), WD_OK);
	ck_assert(wd_file_state_unchanged(&file.state, &now));
	ck_assert_int_eq(chmod(path, 0640), 0);
	ck_assert_int_eq(link(path, wd_temp_path(dir, "b")), 0);
	ck_assert_int_eq(wd_host_file_state(host, file.fd, &now, NULL), WD_OK);
	ck_assert(wd_file_state_same_object(&file.state, &now));
	ck_assert(!wd_file_state_unchanged(&file.state, &now));
	wd_file_release(&file);
	ck_assert_int_ne(wd_host_file_state(host, -1, &now, NULL), WD_OK);
}
END_TEST

/* From here on this call fails, as it does on a broken file system. */
static bool
break_fstatfs(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fstatfs, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { WD_COUNT(code), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

START_TEST(a_state_that_cannot_be_read_leaves_nothing_open)
{
	struct wd_object_ref ref = { getpid(), getpid(), false, 0, 0, -1 };
	const char *path = wd_temp_path(dir, "a");
	struct wd_file file;
	int next;

	wd_temp_write(path, "hello", 5);
	ref.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (!break_fstatfs())
		LIVE_SKIP("may not filter calls");
	next = dup(ref.fd);
	(void)close(next);
	ck_assert_int_eq(open_path(path, &file), WD_IO);
	ck_assert_int_eq(file.fd, -1);
	ck_assert_int_eq(
	    wd_host_open_object(host, &ref, NULL, &file, NULL), WD_IO);
	ck_assert_int_eq(file.fd, -1);
	ck_assert_int_eq(dup(ref.fd), next);
}
END_TEST

START_TEST(holes_are_seen)
{
	const char *path = wd_temp_path(dir, "sparse");
	struct wd_file file;
	char block[8192];

	wd_temp_write(path, "head", 4);
	ck_assert_int_eq(truncate(path, 1 << 20), 0);
	ck_assert_int_eq(open_path(path, &file), WD_OK);
	ck_assert_int_eq(file.state.sparse, WD_YES);
	wd_file_release(&file);
	memset(block, 'x', sizeof(block));
	wd_temp_write(path, block, sizeof(block));
	ck_assert_int_eq(open_path(path, &file), WD_OK);
	ck_assert_int_ne(file.state.sparse, WD_YES);
	wd_file_release(&file);
}
END_TEST

START_TEST(file_systems_have_names_and_traits)
{
	struct wd_file file;

	if (!live_is_root() || unshare(CLONE_NEWNS) != 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("t", dir, "tmpfs", 0, NULL) != 0)
		LIVE_SKIP("may not mount");
	wd_temp_write(wd_temp_path(dir, "a"), "hello", 5);
	ck_assert_int_eq(open_path(wd_temp_path(dir, "a"), &file), WD_OK);
	ck_assert_str_eq(file.state.fs_type, "tmpfs");
	ck_assert(!file.state.trusted_times);
	ck_assert(!file.state.in_memory);
	wd_file_release(&file);
	ck_assert_int_eq(open_path("/proc/cpuinfo", &file), WD_OK);
	ck_assert_str_eq(file.state.fs_type, "proc");
	ck_assert(!file.state.trusted_times);
	wd_file_release(&file);
}
END_TEST

/* A store into a page that the mapping had read before moves no time there,
 * so that equal times say nothing. */
START_TEST(times_in_memory_file_systems_are_not_believed)
{
	char path[] = "/dev/shm/wd-test-XXXXXX";
	struct wd_file_state now;
	struct wd_file file;
	char bytes[4096] = "old";
	void *mapped;
	volatile char *shared;
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd < 0)
		LIVE_SKIP("no /dev/shm");
	ck_assert_int_eq(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	mapped = mmap(
	    NULL, sizeof(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(mapped, MAP_FAILED);
	shared = mapped;
	ck_assert_int_eq(shared[0], 'o');
	ck_assert_int_eq(open_path(path, &file), WD_OK);
	ck_assert_int_eq(unlink(path), 0);
	shared[0] = 'n';
	ck_assert_int_eq(munmap(mapped, sizeof(bytes)), 0);
	(void)close(fd);
	ck_assert_int_eq(pread(file.fd, bytes, 1, 0), 1);
	ck_assert_int_eq(bytes[0], 'n');
	ck_assert_int_eq(wd_host_file_state(host, file.fd, &now, NULL), WD_OK);
	ck_assert(!file.state.trusted_times);
	ck_assert(!now.trusted_times);
	wd_file_release(&file);
}
END_TEST

/* A file system that keeps whole seconds shows in the ctime; here the mtime
 * alone is whole, which anybody can set. */
START_TEST(a_whole_mtime_alone_is_no_sign)
{
	const char *path = wd_temp_path(dir, "a");
	struct timespec times[2] = { { 1700000000, 0 }, { 1700000000, 0 } };
	struct wd_file file;
	bool before;

	wd_temp_write(path, "hello", 5);
	ck_assert_int_eq(open_path(path, &file), WD_OK);
	before = file.state.trusted_times;
	wd_file_release(&file);
	ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
	ck_assert_int_eq(open_path(path, &file), WD_OK);
	ck_assert_int_eq(file.state.trusted_times, before);
	wd_file_release(&file);
}
END_TEST

/* ---- quiet ----------------------------------------------------------------
 */

START_TEST(a_lease_tells_of_writers)
{
	const char *path = wd_temp_path(dir, "a");
	struct wd_file file;
	enum wd_status st;
	bool quiet = false;
	void *shared;
	int fd;

	wd_temp_write(path, "hello", 5);
	ck_assert_int_eq(open_path(path, &file), WD_OK);
	st = wd_host_quiet(host, &file, &quiet, NULL);
	if (st == WD_UNSUPPORTED)
		LIVE_SKIP("no leases on this file system");
	ck_assert_int_eq(st, WD_OK);
	ck_assert(quiet);
	/* The lease was dropped again: opening for writing does not wait. */
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(wd_host_quiet(host, &file, &quiet, NULL), WD_OK);
	ck_assert(!quiet);
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(shared, MAP_FAILED);
	(void)close(fd);
	ck_assert_int_eq(wd_host_quiet(host, &file, &quiet, NULL), WD_OK);
	ck_assert(!quiet);
	ck_assert_int_eq(munmap(shared, 4096), 0);
	ck_assert_int_eq(wd_host_quiet(host, &file, &quiet, NULL), WD_OK);
	ck_assert(quiet);
	wd_file_release(&file);
}
END_TEST

START_TEST(no_lease_is_not_quiet)
{
	struct wd_file file;
	bool quiet = true;

	ck_assert_int_eq(open_path("/proc/cpuinfo", &file), WD_OK);
	ck_assert_int_eq(
	    wd_host_quiet(host, &file, &quiet, NULL), WD_UNSUPPORTED);
	ck_assert(!quiet);
	wd_file_release(&file);
}
END_TEST

START_TEST(a_lease_on_a_file_of_others_needs_a_right)
{
	const char *path = wd_temp_path(dir, "a");
	struct wd_file file;
	bool quiet = true;

	if (!live_is_root())
		LIVE_SKIP("needs root to become somebody else");
	wd_temp_write(path, "hello", 5);
	ck_assert_int_eq(open_path(path, &file), WD_OK);
	if (wd_host_quiet(host, &file, &quiet, NULL) == WD_UNSUPPORTED)
		LIVE_SKIP("no leases on this file system");
	ck_assert_int_eq(setresuid(65534, 65534, 65534), 0);
	ck_assert_int_eq(wd_host_quiet(host, &file, &quiet, NULL), WD_DENIED);
	ck_assert(!quiet);
	wd_file_release(&file);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("host files");
	TCase *tcase = tcase_create("host files");
	SRunner *runner;
	int failed;

	wd_temp_begin();
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	suite_add_tcase(suite, tcase);
	WD_TEST(test_U12_what_is_no_regular_file_is_refused_without_waiting);
	WD_TEST(paths_that_cannot_be);
	WD_TEST(magic_links_are_not_followed);
	WD_TEST(relative_paths_and_folders);
	WD_TEST(a_descriptor_is_opened_as_the_object_it_is);
	WD_TEST(devices_sockets_and_pipes_are_told_apart);
	WD_TEST(the_state_is_that_of_stat);
	WD_TEST(a_state_that_cannot_be_read_leaves_nothing_open);
	WD_TEST(holes_are_seen);
	WD_TEST(file_systems_have_names_and_traits);
	WD_TEST(times_in_memory_file_systems_are_not_believed);
	WD_TEST(a_whole_mtime_alone_is_no_sign);
	WD_TEST(a_lease_tells_of_writers);
	WD_TEST(no_lease_is_not_quiet);
	WD_TEST(a_lease_on_a_file_of_others_needs_a_right);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	wd_temp_end();
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
