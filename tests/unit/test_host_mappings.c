/* What processes map, and that exactly that is opened (field reports,
 * sections B and U), on the running kernel. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/dents_shim.h"
#include "support/livehost.h"
#include "support/suite.h"
#include "support/tempdir.h"

static struct wd_host *host;
static char dir[WD_TEMP_BYTES];

static void
set_up(void)
{
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

/* ---- one mapping at a time ----------------------------------------------- */

/* Files are two pages of one letter; the mapping is of the second. */
static void
make_file(const char *path, char letter)
{
	char bytes[8192];

	memset(bytes, letter, sizeof(bytes));
	wd_temp_write(path, bytes, sizeof(bytes));
}

struct holding {
	const char *path;
	int flags;
	void *at; /* wanted address, or NULL */
	void *mapped;
};

static void *
map_path(const struct holding *holding)
{
	int fd = open(holding->path, O_RDWR | O_CLOEXEC);
	void *at = mmap(holding->at, 4096, PROT_READ,
	    holding->flags | (holding->at != NULL ? MAP_FIXED : 0), fd, 4096);

	(void)close(fd);
	if (fd < 0 || at == MAP_FAILED)
		_exit(1);
	return at;
}

static void
hold(void *argument)
{
	struct holding *holding = argument;

	holding->mapped = map_path(holding);
}

static pid_t
holder_of(const char *path)
{
	struct holding holding = { path, MAP_SHARED, NULL, NULL };

	return live_spawn(hold, &holding);
}

struct seen {
	struct wd_process process;
	struct wd_mappings mappings;
	struct wd_mapping *mapping;
};

static struct seen
look(struct wd_host *by, pid_t pid, const char *end)
{
	struct seen seen;

	seen.process = live_process(by, pid);
	seen.mappings = live_mappings(by, &seen.process);
	seen.mapping = live_mapping(&seen.mappings, end);
	ck_assert_msg(seen.mapping != NULL, "no mapping ends with %s", end);
	return seen;
}

static void
seen_release(struct seen *seen)
{
	wd_process_release(&seen->process);
	wd_mappings_release(&seen->mappings);
}

static enum wd_status
open_it(struct wd_host *by, const struct seen *seen, struct wd_file *file)
{
	return live_open_mapping(by, &seen->process, seen->mapping, file);
}

/* Opens what was seen and checks that it is the file of this letter. */
static void
check_content(struct wd_host *by, const struct seen *seen, char letter)
{
	struct wd_file file;
	char byte = 0;

	ck_assert_int_eq(open_it(by, seen, &file), WD_OK);
	ck_assert_int_eq(pread(file.fd, &byte, 1, 0), 1);
	ck_assert_int_eq(byte, letter);
	ck_assert_uint_eq(file.state.size_bytes, 8192);
	wd_file_release(&file);
}

START_TEST(a_mapped_file)
{
	const char *path = wd_temp_path(dir, "m.gguf");
	struct seen seen;
	struct stat stat_;

	make_file(path, 'a');
	ck_assert_int_eq(stat(path, &stat_), 0);
	seen = look(host, holder_of(path), "/m.gguf");
	ck_assert_str_eq((char *)seen.mapping->path.data, path);
	ck_assert_uint_eq(seen.mapping->offset, 4096);
	ck_assert_uint_eq(seen.mapping->end - seen.mapping->start, 4096);
	ck_assert(seen.mapping->readable && seen.mapping->shared);
	ck_assert(!seen.mapping->deleted);
	ck_assert_int_eq(seen.mapping->type, WD_OBJECT_REGULAR);
	ck_assert_uint_eq(seen.mapping->inode, stat_.st_ino);
	ck_assert_uint_gt(seen.mappings.anonymous_bytes, 0);
	ck_assert_int_eq(seen.mappings.by_path_only, !live_is_root());
	check_content(host, &seen, 'a');
	seen_release(&seen);
}
END_TEST

/* ---- deleted, replaced, oddly named -------------------------------------- */

START_TEST(test_B4_a_deleted_file_is_still_the_one)
{
	const char *path = wd_temp_path(dir, "m.gguf");
	struct seen seen;
	pid_t pid;

	if (!live_is_root())
		LIVE_SKIP("needs the right to map_files");
	make_file(path, 'a');
	pid = holder_of(path);
	ck_assert_int_eq(unlink(path), 0);
	seen = look(host, pid, "/m.gguf");
	ck_assert_str_eq((char *)seen.mapping->path.data, path);
	ck_assert(seen.mapping->deleted);
	check_content(host, &seen, 'a');
	seen_release(&seen);
	/* B6: another file under the old name. */
	make_file(path, 'b');
	seen = look(host, pid, "/m.gguf");
	ck_assert(seen.mapping->deleted);
	check_content(host, &seen, 'a');
	seen_release(&seen);
}
END_TEST

START_TEST(test_B7_a_file_renamed_over_the_mapped_one)
{
	const char *path = wd_temp_path(dir, "m.gguf");
	const char *other = wd_temp_path(dir, "new");
	struct wd_file disk, held;
	struct seen seen;
	pid_t pid;

	if (!live_is_root())
		LIVE_SKIP("needs the right to map_files");
	make_file(path, 'a');
	make_file(other, 'b');
	pid = holder_of(path);
	ck_assert_int_eq(rename(other, path), 0);
	seen = look(host, pid, "/m.gguf");
	check_content(host, &seen, 'a');
	ck_assert_int_eq(open_it(host, &seen, &held), WD_OK);
	ck_assert_int_eq(wd_host_open_path(host, pid,
			     wd_bytes_slice(&seen.mapping->path), &disk, NULL),
	    WD_OK);
	ck_assert(!wd_file_state_same_object(&held.state, &disk.state));
	ck_assert_uint_eq(held.state.links, 0);
	wd_file_release(&held);
	wd_file_release(&disk);
	seen_release(&seen);
}
END_TEST

static const char *const odd_names[] = {
	"a b.gguf",
	"My  Models .gguf",
	" lead and trail ",
	"a\\012b.gguf",
	"a\nb.gguf",
	"\xff\xfe.gguf",
	"m.gguf (deleted)",
	"m.gguf (deleted) (deleted)",
};

START_TEST(test_B8_B14_U1_names_are_exact_bytes)
{
	const char *path = wd_temp_path(dir, odd_names[_i]);
	struct seen seen;
	pid_t pid;

	make_file(path, 'a');
	pid = holder_of(path);
	seen = look(host, pid, odd_names[_i]);
	ck_assert_uint_eq(seen.mapping->path.len, strlen(path));
	ck_assert(!seen.mapping->deleted);
	check_content(host, &seen, 'a');
	seen_release(&seen);
	if (!live_is_root())
		return;
	ck_assert_int_eq(unlink(path), 0);
	seen = look(host, pid, odd_names[_i]);
	ck_assert_uint_eq(seen.mapping->path.len, strlen(path));
	ck_assert(seen.mapping->deleted);
	check_content(host, &seen, 'a');
	seen_release(&seen);
}
END_TEST

START_TEST(test_U1_two_names_that_maps_shows_alike)
{
	const char *newline = wd_temp_path(dir, "a\nb.gguf");
	const char *text = wd_temp_path(dir, "a\\012b.gguf");
	struct wd_host_linux_options options = { .no_map_files = true };
	struct wd_host *by_path = live_open_with(&options);
	struct seen seen;

	make_file(newline, 'n');
	make_file(text, 't');
	seen = look(host, holder_of(newline), "a\nb.gguf");
	check_content(host, &seen, 'n');
	seen_release(&seen);
	seen = look(host, holder_of(text), "a\\012b.gguf");
	check_content(host, &seen, 't');
	seen_release(&seen);
	seen = look(by_path, holder_of(newline), "b.gguf");
	check_content(by_path, &seen, 'n');
	/* As maps prints it, where nothing else is to be had. */
	ck_assert_int_eq(
	    wd_bytes_set(&seen.mapping->path, wd_slice_text(text)), WD_OK);
	check_content(by_path, &seen, 'n');
	seen_release(&seen);
	wd_host_free(&by_path);
}
END_TEST

START_TEST(test_B9_a_mapping_at_a_low_address)
{
	const char *path = wd_temp_path(dir, "low.gguf");
	struct holding holding = { path, MAP_SHARED, (void *)0x8000000, NULL };
	struct seen seen;

	make_file(path, 'a');
	seen = look(host, live_spawn(hold, &holding), "/low.gguf");
	ck_assert_uint_eq(seen.mapping->start, 0x8000000);
	check_content(host, &seen, 'a');
	seen_release(&seen);
}
END_TEST

/* ---- without the right to map_files ---------------------------------------
 */

START_TEST(test_B9_by_path_if_device_and_inode_fit)
{
	const char *path = wd_temp_path(dir, "m.gguf");
	struct wd_host_linux_options options = { .no_map_files = true };
	struct wd_host *by_path = live_open_with(&options);
	struct wd_file file;
	struct seen seen;
	pid_t pid;

	make_file(path, 'a');
	pid = holder_of(path);
	seen = look(by_path, pid, "/m.gguf");
	ck_assert(seen.mappings.by_path_only);
	check_content(by_path, &seen, 'a');
	seen_release(&seen);
	ck_assert_int_eq(rename(path, wd_temp_path(dir, "gone")), 0);
	make_file(path, 'b');
	/* Another file under the name that was seen: never opened. */
	seen = look(by_path, pid, "/gone");
	ck_assert_int_eq(
	    wd_bytes_set(&seen.mapping->path, wd_slice_text(path)), WD_OK);
	ck_assert_int_eq(open_it(by_path, &seen, &file), WD_DENIED);
	ck_assert_int_eq(file.fd, -1);
	seen_release(&seen);
	ck_assert_int_eq(unlink(wd_temp_path(dir, "gone")), 0);
	seen = look(by_path, pid, "/gone");
	ck_assert(seen.mapping->deleted);
	ck_assert_int_eq(open_it(by_path, &seen, &file), WD_DENIED);
	seen_release(&seen);
	wd_host_free(&by_path);
}
END_TEST

START_TEST(test_B9_the_right_is_really_missing)
{
	static const unsigned rights[] = { CAP_SYS_ADMIN,
		CAP_CHECKPOINT_RESTORE };
	const char *path = wd_temp_path(dir, "m.gguf");
	struct wd_file file;
	struct seen seen;
	pid_t pid;

	if (!live_is_root())
		LIVE_SKIP("needs root");
	make_file(path, 'a');
	pid = holder_of(path);
	ck_assert(live_drop(rights, WD_COUNT(rights)));
	seen = look(host, pid, "/m.gguf");
	ck_assert(seen.mappings.by_path_only);
	check_content(host, &seen, 'a');
	seen_release(&seen);
	ck_assert_int_eq(unlink(path), 0);
	seen = look(host, pid, "/m.gguf");
	ck_assert_int_eq(open_it(host, &seen, &file), WD_DENIED);
	seen_release(&seen);
}
END_TEST

/* ---- file systems that number differently ---------------------------------
 */

static bool
private_mounts(void)
{
	return live_is_root() && unshare(CLONE_NEWNS) == 0 &&
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

START_TEST(test_B1_overlay_is_opened_as_it_is_mapped)
{
	char options[1024], path[WD_TEMP_BYTES + 32];
	struct wd_host_linux_options limited = { .no_map_files = true };
	struct wd_host *by_path = live_open_with(&limited);
	struct wd_file held, disk;
	struct seen seen;

	if (!private_mounts() || mount("t", dir, "tmpfs", 0, NULL) != 0)
		LIVE_SKIP("may not mount");
	ck_assert_int_eq(mkdir(wd_temp_path(dir, "l"), 0755), 0);
	ck_assert_int_eq(mkdir(wd_temp_path(dir, "u"), 0755), 0);
	ck_assert_int_eq(mkdir(wd_temp_path(dir, "w"), 0755), 0);
	ck_assert_int_eq(mkdir(wd_temp_path(dir, "m"), 0755), 0);
	make_file(wd_temp_path(dir, "l/m.gguf"), 'a');
	(void)snprintf(options, sizeof(options),
	    "lowerdir=%s/l,upperdir=%s/u,workdir=%s/w", dir, dir, dir);
	(void)snprintf(path, sizeof(path), "%s/m/m.gguf", dir);
	if (mount("o", wd_temp_path(dir, "m"), "overlay", 0, options) != 0)
		LIVE_SKIP("no overlay file system");
	/* Read only, or it would be copied up. */
	{
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		ck_assert_ptr_ne(
		    mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 4096),
		    MAP_FAILED);
		(void)close(fd);
	}
	seen = look(host, getpid(), "/m.gguf");
	check_content(host, &seen, 'a');
	ck_assert_int_eq(open_it(host, &seen, &held), WD_OK);
	ck_assert_str_eq(held.state.fs_type, "overlay");
	ck_assert(!held.state.trusted_times);
	ck_assert_int_eq(
	    wd_host_open_path(host, getpid(), wd_slice_text(path), &disk, NULL),
	    WD_OK);
	ck_assert(wd_file_state_same_object(&held.state, &disk.state));
	wd_file_release(&held);
	wd_file_release(&disk);
	seen_release(&seen);
	/* By path it cannot be verified, whatever the numbers are. */
	seen = look(by_path, getpid(), "/m.gguf");
	ck_assert_int_eq(open_it(by_path, &seen, &held), WD_DENIED);
	seen_release(&seen);
	wd_host_free(&by_path);
}
END_TEST

/* As on btrfs: maps prints another device than stat gives. */
START_TEST(test_B2_another_device_is_another_file)
{
	const char *path = wd_temp_path(dir, "m.gguf");
	struct wd_host_linux_options options = { .no_map_files = true };
	struct wd_host *by_path = live_open_with(&options);
	struct wd_file file;
	struct seen seen;

	make_file(path, 'a');
	seen = look(by_path, holder_of(path), "/m.gguf");
	seen.mapping->device = makedev(0, 77);
	ck_assert_int_eq(open_it(by_path, &seen, &file), WD_DENIED);
	seen_release(&seen);
	/* With the right to the object itself the pair does not matter. */
	if (live_is_root()) {
		seen = look(host, holder_of(path), "/m.gguf");
		seen.mapping->device = makedev(0, 77);
		check_content(host, &seen, 'a');
		seen_release(&seen);
	}
	wd_host_free(&by_path);
}
END_TEST

START_TEST(test_U2_a_lazily_unmounted_file_system)
{
	const char *point = wd_temp_path(dir, "mnt");
	char path[WD_TEMP_BYTES + 32];
	struct seen seen;
	pid_t pid;

	ck_assert_int_eq(mkdir(point, 0755), 0);
	if (!private_mounts() || mount("t", point, "tmpfs", 0, NULL) != 0)
		LIVE_SKIP("may not mount");
	(void)snprintf(path, sizeof(path), "%s/m.gguf", point);
	make_file(path, 'a');
	pid = holder_of(path);
	ck_assert_int_eq(umount2(point, MNT_DETACH), 0);
	/* Only "/m.gguf" is left of the path. */
	seen = look(host, pid, "m.gguf");
	ck_assert_str_eq((char *)seen.mapping->path.data, "/m.gguf");
	check_content(host, &seen, 'a');
	seen_release(&seen);
}
END_TEST

/* ---- chroot ---------------------------------------------------------------
 */

static void
hold_in_chroot(void *argument)
{
	const char *root = argument;
	struct holding holding = { "/models/m.gguf", MAP_SHARED, NULL, NULL };

	LIVE_NEED(chroot(root) == 0);
	if (chdir("/models") != 0)
		_exit(1);
	(void)map_path(&holding);
}

START_TEST(test_B17_a_chroot_has_its_own_view)
{
	struct wd_host_linux_options options = { .no_map_files = true };
	struct wd_host *by_path = live_open_with(&options);
	struct wd_file file;
	struct seen seen;
	pid_t pid;

	ck_assert_int_eq(mkdir(wd_temp_path(dir, "models"), 0755), 0);
	make_file(wd_temp_path(dir, "models/m.gguf"), 'a');
	if (!live_try_spawn(hold_in_chroot, dir, &pid))
		LIVE_SKIP("may not chroot");
	seen = look(host, pid, "/m.gguf");
	/* The kernel shows our view of the path ... */
	ck_assert_str_eq((char *)seen.mapping->path.data,
	    wd_temp_path(dir, "models/m.gguf"));
	check_content(host, &seen, 'a');
	seen_release(&seen);
	seen = look(by_path, pid, "/m.gguf");
	check_content(by_path, &seen, 'a');
	seen_release(&seen);
	/* ... while what the process says is its own, and so is "..". */
	ck_assert_int_eq(wd_host_open_path(host, pid,
			     wd_slice_text("/models/m.gguf"), &file, NULL),
	    WD_OK);
	wd_file_release(&file);
	ck_assert_int_eq(
	    wd_host_open_path(host, pid, wd_slice_text("m.gguf"), &file, NULL),
	    WD_OK);
	wd_file_release(&file);
	ck_assert_int_eq(
	    wd_host_open_path(host, pid,
		wd_slice_text("../../../models/m.gguf"), &file, NULL),
	    WD_OK);
	wd_file_release(&file);
	ck_assert_int_eq(wd_host_open_path(host, pid,
			     wd_slice_text("/etc/passwd"), &file, NULL),
	    WD_GONE);
	wd_host_free(&by_path);
}
END_TEST

/* ---- memory and other objects ---------------------------------------------
 */

static void
hold_memory(void *argument)
{
	int fd = memfd_create("m.gguf", MFD_CLOEXEC);
	char bytes[8192];

	(void)argument;
	memset(bytes, 'm', sizeof(bytes));
	if (write(fd, bytes, sizeof(bytes)) != (ssize_t)sizeof(bytes) ||
	    mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 4096) == MAP_FAILED)
		_exit(1);
	(void)close(fd);
}

START_TEST(test_B18_a_memfd_is_memory_and_not_deleted)
{
	struct wd_file file;
	struct seen seen =
	    look(host, live_spawn(hold_memory, NULL), "memfd:m.gguf");

	ck_assert_int_eq(seen.mapping->type, WD_OBJECT_MEMORY);
	ck_assert(!seen.mapping->deleted);
	ck_assert_str_eq((char *)seen.mapping->path.data, "/memfd:m.gguf");
	if (live_is_root()) {
		check_content(host, &seen, 'm');
		ck_assert_int_eq(open_it(host, &seen, &file), WD_OK);
		ck_assert(file.state.in_memory);
		wd_file_release(&file);
	}
	seen_release(&seen);
}
END_TEST

static void
hold_zero(void *argument)
{
	int fd = open("/dev/zero", O_RDWR | O_CLOEXEC);

	(void)argument;
	if (mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
		_exit(1);
	(void)close(fd);
}

START_TEST(test_B4_shared_zero_pages_are_memory)
{
	struct seen seen = look(host, live_spawn(hold_zero, NULL), "/dev/zero");

	ck_assert_int_eq(seen.mapping->type, WD_OBJECT_MEMORY);
	ck_assert(!seen.mapping->deleted);
	seen_release(&seen);
}
END_TEST

static void
hold_ring(void *argument)
{
	struct tpacket_req request = { .tp_block_size = 4096,
		.tp_block_nr = 1,
		.tp_frame_size = 2048,
		.tp_frame_nr = 2 };
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	(void)argument;
	LIVE_NEED(fd >= 0 &&
	    setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &request,
		sizeof(request)) == 0);
	if (mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) ==
	    MAP_FAILED)
		_exit(1);
}

START_TEST(test_B4_a_mapped_socket_is_no_file)
{
	struct wd_process process;
	struct wd_mappings mappings;
	struct wd_file file;
	size_t i, sockets = 0;
	pid_t pid;

	if (!live_try_spawn(hold_ring, NULL, &pid))
		LIVE_SKIP("no packet sockets here");
	process = live_process(host, pid);
	mappings = live_mappings(host, &process);
	for (i = 0; i < mappings.count; i++) {
		if (mappings.items[i].type != WD_OBJECT_SOCKET)
			continue;
		sockets++;
		ck_assert_int_eq(live_open_mapping(
				     host, &process, &mappings.items[i], &file),
		    WD_INVALID);
	}
	ck_assert_uint_eq(sockets, 1);
	wd_mappings_release(&mappings);
	wd_process_release(&process);
}
END_TEST

/* ---- zombie leader --------------------------------------------------------
 */

static char leader_path[WD_TEMP_BYTES];

static void *
outlive(void *argument)
{
	struct holding holding = { leader_path, MAP_SHARED, NULL, NULL };
	char state = 0, path[64];
	FILE *stat_;

	(void)map_path(&holding);
	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)getpid());
	while (state != 'Z') {
		stat_ = fopen(path, "re");
		if (stat_ == NULL ||
		    fscanf(stat_, "%*d (%*[^)]) %c", &state) != 1)
			_exit(1);
		(void)fclose(stat_);
		(void)usleep(1000);
	}
	(void)!write(*(int *)argument, "z", 1);
	for (;;)
		(void)pause();
	return NULL;
}

START_TEST(a_zombie_leader_is_read_through_a_live_thread)
{
	struct wd_deadline deadline = wd_deadline_none();
	struct wd_mappings mappings;
	struct seen seen;
	pthread_t thread;
	int ready[2];
	char byte;
	pid_t pid;

	(void)snprintf(leader_path, sizeof(leader_path), "%s",
	    wd_temp_path(dir, "m.gguf"));
	make_file(leader_path, 'a');
	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (pthread_create(&thread, NULL, outlive, &ready[1]) != 0)
			_exit(1);
		(void)syscall(SYS_exit, 0);
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	seen = look(host, pid, "/m.gguf");
	ck_assert_int_eq(seen.process.state, WD_ZOMBIE_LEADER);
	ck_assert_int_ne(seen.process.live_tid, pid);
	check_content(host, &seen, 'a');
	wd_mappings_release(&seen.mappings);
	/* Read through the leader there is nothing, and no error: gone. */
	seen.process.live_tid = pid;
	ck_assert_int_eq(
	    wd_host_mappings(host, &seen.process, &deadline, &mappings, NULL),
	    WD_GONE);
	wd_process_release(&seen.process);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}
END_TEST

/* ---- written pages --------------------------------------------------------
 */

static void
write_privately(void *argument)
{
	const char *path = argument;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);

	if (at == MAP_FAILED)
		_exit(1);
	at[5000] = 'x';
	if (mprotect(at, 8192, PROT_READ) != 0)
		_exit(1);
}

START_TEST(written_private_pages_are_counted)
{
	const char *path = wd_temp_path(dir, "m.gguf");
	struct wd_deadline deadline = wd_deadline_none();
	struct holding clean = { path, MAP_PRIVATE, NULL, NULL };
	struct seen seen;

	make_file(path, 'a');
	seen = look(host, live_spawn(write_privately, (void *)(uintptr_t)path),
	    "/m.gguf");
	ck_assert(!seen.mapping->written_known);
	ck_assert_int_eq(wd_host_written(host, &seen.process, &deadline,
			     &seen.mappings, NULL),
	    WD_OK);
	ck_assert(seen.mapping->written_known);
	ck_assert_uint_eq(seen.mapping->written_bytes, 4096);
	seen_release(&seen);
	seen = look(host, live_spawn(hold, &clean), "/m.gguf");
	ck_assert_int_eq(wd_host_written(host, &seen.process, &deadline,
			     &seen.mappings, NULL),
	    WD_OK);
	ck_assert(seen.mapping->written_known);
	ck_assert_uint_eq(seen.mapping->written_bytes, 0);
	seen_release(&seen);
}
END_TEST

/* ---- mappings that move under the look ------------------------------------
 */

static void *moving;
static int moves;

static void
move_mapping(void *ctx, enum wd_linux_moment at)
{
	int limit = *(int *)ctx;

	if (at != WD_LINUX_AFTER_RANGES || moves >= limit)
		return;
	moves++;
	moving = mremap(moving, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED,
	    (void *)(0x10000000UL + 0x100000UL * (unsigned long)moves));
}

static const struct {
	int moves;
	bool complete;
} movements[] = { { 1, true }, { 1000, false } };

START_TEST(mappings_that_move_are_listed_again_or_reported)
{
	const char *path = wd_temp_path(dir, "m.gguf");
	int limit = movements[_i].moves;
	struct wd_host_linux_options options = { .at_moment = move_mapping,
		.ctx = &limit };
	struct holding holding = { path, MAP_SHARED, NULL, NULL };
	struct wd_deadline deadline = wd_deadline_none();
	struct wd_host *other = live_open_with(&options);
	struct wd_process process = live_process(other, getpid());
	struct wd_mappings found;

	make_file(path, 'a');
	hold(&holding);
	moving = holding.mapped;
	moves = 0;
	ck_assert_int_eq(
	    wd_host_mappings(other, &process, &deadline, &found, NULL), WD_OK);
	if (moves == 0)
		LIVE_SKIP("an older kernel is read by text");
	ck_assert_int_eq(found.complete, movements[_i].complete);
	ck_assert_int_eq(found.blinds.count == 0, movements[_i].complete);
	if (movements[_i].complete)
		ck_assert_ptr_nonnull(live_mapping(&found, "/m.gguf"));
	wd_mappings_release(&found);
	wd_process_release(&process);
	wd_host_free(&other);
}
END_TEST

/* The kernel also gives less than there is room for when a signal comes. */
START_TEST(a_short_answer_is_not_the_end_of_the_mappings)
{
	const char *path = wd_temp_path(dir, "m.gguf");
	struct wd_process process = live_process(host, getpid());
	struct wd_mappings found;
	size_t i, count = 0;
	int fd;

	make_file(path, 'a');
	fd = open(path, O_RDONLY | O_CLOEXEC);
	for (i = 0; i < 64; i++)
		ck_assert_ptr_ne(
		    mmap(NULL, 4096, i % 2 == 0 ? PROT_READ : PROT_NONE,
			MAP_SHARED, fd, 0),
		    MAP_FAILED);
	wd_dents_room = 256;
	found = live_mappings(host, &process);
	wd_dents_room = 0;
	ck_assert(found.complete);
	for (i = 0; i < found.count; i++)
		count += strcmp((char *)found.items[i].path.data, path) == 0;
	ck_assert_uint_eq(count, 64);
	wd_mappings_release(&found);
	wd_process_release(&process);
	(void)close(fd);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("host mappings");
	TCase *tcase = tcase_create("host mappings");
	SRunner *runner;
	int failed;

	wd_temp_begin();
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	suite_add_tcase(suite, tcase);
	WD_TEST(a_mapped_file);
	WD_TEST(test_B4_a_deleted_file_is_still_the_one);
	WD_TEST(test_B7_a_file_renamed_over_the_mapped_one);
	WD_LOOP(test_B8_B14_U1_names_are_exact_bytes, odd_names);
	WD_TEST(test_U1_two_names_that_maps_shows_alike);
	WD_TEST(test_B9_a_mapping_at_a_low_address);
	WD_TEST(test_B9_by_path_if_device_and_inode_fit);
	WD_TEST(test_B9_the_right_is_really_missing);
	WD_TEST(test_B1_overlay_is_opened_as_it_is_mapped);
	WD_TEST(test_B2_another_device_is_another_file);
	WD_TEST(test_U2_a_lazily_unmounted_file_system);
	WD_TEST(test_B17_a_chroot_has_its_own_view);
	WD_TEST(test_B18_a_memfd_is_memory_and_not_deleted);
	WD_TEST(test_B4_shared_zero_pages_are_memory);
	WD_TEST(test_B4_a_mapped_socket_is_no_file);
	WD_TEST(a_zombie_leader_is_read_through_a_live_thread);
	WD_TEST(written_private_pages_are_counted);
	WD_LOOP(mappings_that_move_are_listed_again_or_reported, movements);
	WD_TEST(a_short_answer_is_not_the_end_of_the_mappings);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	wd_temp_end();
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
