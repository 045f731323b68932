/*
 * What a process has on accelerators: captured trees of /proc and /sys, a
 * library that stands in for NVIDIA's, and handles on the running kernel.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/mem.h"
#include "host/linux/linux.h"
#include "host/linux/nvml.h"
#include "support/livehost.h"
#include "support/proctree.h"
#include "support/suite.h"
#include "support/tempdir.h"

#define PID 4242

static char dir[WD_TEMP_BYTES];
static char sys[WD_TEMP_BYTES + 8], proc[WD_TEMP_BYTES + 8];
static struct wd_host_linux_options options;
static struct wd_host *host;
static struct wd_descriptors open_files;
static struct wd_device_uses uses;
static struct wd_error err;

static void
set_up(void)
{
	wd_temp_make(dir);
	(void)snprintf(sys, sizeof(sys), "%s/sys", dir);
	(void)snprintf(proc, sizeof(proc), "%s/proc", dir);
	wd_tree_folder(dir, "sys");
	wd_tree_link(proc, "self/ns/pid", "pid:[4026531836]");
	options = (struct wd_host_linux_options){
		.proc = proc, .sys = sys, .nvml = FAKE_NVML
	};
	open_files.complete = true;
	ck_assert_int_eq(unsetenv("FAKE_NVML"), 0);
}

static void
tear_down(void)
{
	wd_device_uses_release(&uses);
	wd_descriptors_release(&open_files);
	wd_host_free(&host);
	live_kill_all();
	wd_temp_remove(dir);
}

/* ---- the process --------------------------------------------------------- */

static struct wd_descriptor *
has_open(int fd, const char *path)
{
	void *items = open_files.items;
	struct wd_descriptor *d;

	ck_assert_int_eq(wd_grow(&items, open_files.count, &open_files.capacity,
			     sizeof(*d), 64),
	    WD_OK);
	open_files.items = items;
	d = &open_files.items[open_files.count++];
	*d = (struct wd_descriptor){
		.tid = PID, .fd = fd, .type = WD_OBJECT_DEVICE
	};
	ck_assert_int_eq(wd_bytes_set(&d->path, wd_slice_text(path)), WD_OK);
	return d;
}

static struct wd_descriptor *
has_drm(int fd, const char *path, const char *text)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "%d/fdinfo/%d", PID, fd);
	wd_tree_file(proc, name, text);
	return has_open(fd, path);
}

static enum wd_status
look(const struct wd_deadline *deadline)
{
	struct wd_process process = { .identity = { .pid = PID } };

	if (host == NULL)
		ck_assert_int_eq(
		    wd_host_linux_open(&options, &host, &err), WD_OK);
	wd_device_uses_release(&uses);
	return wd_host_device_uses(
	    host, &process, &open_files, deadline, &uses, &err);
}

/* The one use there is. */
static const struct wd_device_use *
only(void)
{
	ck_assert_int_eq(look(NULL), WD_OK);
	ck_assert(uses.complete);
	ck_assert_uint_eq(uses.count, 1);
	return &uses.items[0];
}

static void
is_known(const struct wd_device_use *use, const char *device, uint64_t bytes)
{
	ck_assert_str_eq(use->device, device);
	ck_assert_msg(use->bytes_known, "%s: %s", use->device, use->reason);
	ck_assert_uint_eq(use->bytes, bytes);
	ck_assert_ptr_null(use->reason);
}

static void
is_unknown(const struct wd_device_use *use, const char *device)
{
	ck_assert_str_eq(use->device, device);
	ck_assert(!use->bytes_known);
	ck_assert_uint_eq(use->bytes, 0);
	ck_assert_ptr_nonnull(use->reason);
}

#define INFO(driver, client, pdev)                                             \
	"pos:\t0\ndrm-driver:\t" driver "\ndrm-client-id:\t" client            \
	"\ndrm-pdev:\t" pdev "\n"

/* ---- nothing to account for ---------------------------------------------- */

START_TEST(no_accelerator_no_use)
{
	has_open(0, "/dev/null");
	has_open(1, "/dev/kfd")->type = WD_OBJECT_REGULAR;
	ck_assert_int_eq(look(NULL), WD_OK);
	ck_assert(uses.complete);
	ck_assert_uint_eq(uses.count, 0);
	open_files.complete = false;
	ck_assert_int_eq(look(NULL), WD_OK);
	ck_assert(!uses.complete);
}
END_TEST

START_TEST(late_is_not_complete)
{
	struct wd_deadline past = { &wd_clock_system, 1 };

	has_open(0, "/dev/kfd");
	ck_assert_int_eq(look(&past), WD_OK);
	ck_assert(!uses.complete);
	ck_assert_uint_eq(uses.count, 1);
	ck_assert(!uses.items[0].bytes_known);
}
END_TEST

/* ---- DRM ----------------------------------------------------------------- */

START_TEST(one_client_counts_once)
{
	has_drm(3, "/dev/dri/renderD128",
	    INFO("xe", "3", "0000:03:00.0") "drm-resident-vram0:\t8 KiB\n");
	has_drm(4, "/dev/dri/renderD128",
	    INFO("xe", "3", "0000:03:00.0") "drm-resident-vram0:\t8 KiB\n");
	has_drm(5, "/dev/dri/card0",
	    INFO("xe", "4", "0000:03:00.0") "drm-resident-vram0:\t1 KiB\n");
	is_known(only(), "drm 0000:03:00.0", 9216);
}
END_TEST

START_TEST(clients_of_two_devices)
{
	has_drm(3, "/dev/dri/renderD129",
	    INFO("xe", "3", "0000:04:00.0") "drm-resident-vram0:\t8 KiB\n");
	has_drm(4, "/dev/dri/renderD128",
	    INFO("xe", "3", "0000:03:00.0") "drm-resident-vram0:\t2 KiB\n");
	ck_assert_int_eq(look(NULL), WD_OK);
	ck_assert_uint_eq(uses.count, 2);
	is_known(&uses.items[0], "drm 0000:03:00.0", 2048);
	is_known(&uses.items[1], "drm 0000:04:00.0", 8192);
}
END_TEST

START_TEST(a_device_that_is_not_on_pci)
{
	has_drm(3, "/dev/dri/renderD128",
	    "drm-driver:\tasahi\ndrm-client-id:\t3\ndrm-total-ram:\t4096\n");
	is_known(only(), "drm renderD128", 4096);
}
END_TEST

START_TEST(an_accel_device_tells_too)
{
	has_drm(3, "/dev/accel/accel0",
	    INFO("intel_vpu", "3", "0000:00:0b.0") "drm-total-ram:\t5\n");
	is_known(only(), "drm 0000:00:0b.0", 5);
}
END_TEST

static const char *const silent[] = {
	"pos:\t0\nflags:\t02\n",
	INFO("xe", "3", "0000:03:00.0"),
	"drm-driver:\txe\ndrm-pdev:\t0000:03:00.0\ndrm-total-vram:\t5\n",
	INFO("xe", "3", "0000:03:00.0") "drm-total-vram:\t5 GiB\n",
	"drm-driver:\txe\ndrm-client-id:\t99999999999999999999\n",
};

START_TEST(a_driver_that_does_not_tell_is_not_known)
{
	wd_tree_link(
	    sys, "class/drm/renderD128/device", "../../../0000:03:00.0");
	has_drm(3, "/dev/dri/renderD128", silent[_i]);
	is_unknown(only(), "drm 0000:03:00.0");
}
END_TEST

/* One handle of a device that tells does not answer for another. */
START_TEST(half_known_is_not_known)
{
	has_drm(3, "/dev/dri/renderD128",
	    INFO("xe", "3", "0000:03:00.0") "drm-resident-vram0:\t8 KiB\n");
	has_drm(4, "/dev/dri/renderD128", INFO("xe", "4", "0000:03:00.0"));
	is_unknown(only(), "drm 0000:03:00.0");
}
END_TEST

START_TEST(more_memory_than_there_can_be)
{
	has_drm(3, "/dev/dri/card0",
	    INFO("xe", "3", "p") "drm-resident-a:\t18446744073709551615\n");
	has_drm(
	    4, "/dev/dri/card0", INFO("xe", "4", "p") "drm-resident-a:\t1\n");
	is_unknown(only(), "drm p");
}
END_TEST

START_TEST(a_handle_that_was_closed)
{
	has_open(3, "/dev/dri/renderD128");
	is_unknown(only(), "drm renderD128");
}
END_TEST

START_TEST(the_pci_address_by_number_before_name)
{
	wd_tree_link(
	    sys, "class/drm/renderD128/device", "../../../0000:03:00.0");
	wd_tree_link(sys, "dev/char/226:129/device", "../../../0000:0a:00.1");
	has_open(3, "/dev/dri/renderD128")->rdev = makedev(226, 129);
	is_unknown(only(), "drm 0000:0a:00.1");
}
END_TEST

START_TEST(a_link_that_is_no_pci_address)
{
	wd_tree_link(sys, "class/drm/renderD128/device", "../../soc@0");
	has_open(3, "/dev/dri/renderD128");
	is_unknown(only(), "drm renderD128");
}
END_TEST

START_TEST(other_accelerators_are_not_known)
{
	has_open(3, "/dev/davinci0");
	has_open(4, "/dev/\033[2J/dev/neuron0");
	ck_assert_int_eq(look(NULL), WD_OK);
	ck_assert_uint_eq(uses.count, 2);
	is_unknown(&uses.items[0], "/dev/\\x1b[2J/dev/neuron0");
	is_unknown(&uses.items[1], "/dev/davinci0");
}
END_TEST

/* ---- AMD's compute driver ------------------------------------------------ */

static void
has_kfd(const char *vram)
{
	has_open(9, "/dev/kfd");
	if (vram != NULL)
		wd_tree_file(sys, "class/kfd/kfd/proc/4242/vram_51771", vram);
}

START_TEST(kfd_adds_up)
{
	has_kfd("1000\n");
	wd_tree_file(sys, "class/kfd/kfd/proc/4242/vram_23", "24\n");
	wd_tree_file(sys, "class/kfd/kfd/proc/4242/sdma_23", "7\n");
	wd_tree_file(sys, "class/kfd/kfd/proc/4242/pasid", "32771\n");
	wd_tree_file(sys, "class/kfd/kfd/proc/1/vram_23", "555\n");
	is_known(only(), "kfd", 1024);
}
END_TEST

static const char *const bad_vram[] = { NULL, "", "-1\n", "1 2\n", "1\n2\n",
	"18446744073709551616\n" };

START_TEST(kfd_that_cannot_be_read)
{
	wd_tree_file(sys, "class/kfd/kfd/proc/4242/vram_1", "5\n");
	if (bad_vram[_i] == NULL)
		ck_assert_int_eq(
		    unlink(wd_temp_path(sys, "class/kfd/kfd/proc/4242/vram_1")),
		    0);
	has_kfd(bad_vram[_i]);
	is_unknown(only(), "kfd");
}
END_TEST

START_TEST(kfd_of_a_process_that_it_does_not_list)
{
	wd_tree_file(sys, "class/kfd/kfd/proc/1/vram_23", "555\n");
	has_kfd(NULL);
	is_unknown(only(), "kfd");
}
END_TEST

/* Not to be read, and another. */
static const char *const namespaces[] = { NULL, "pid:[4026532001]" };

/* The number means another process there. */
START_TEST(kfd_from_within_a_pid_namespace)
{
	ck_assert_int_eq(unlink(wd_temp_path(proc, "self/ns/pid")), 0);
	if (namespaces[_i] != NULL)
		wd_tree_link(proc, "self/ns/pid", namespaces[_i]);
	has_kfd("1000\n");
	is_unknown(only(), "kfd");
}
END_TEST

static const struct {
	const char *vram, *drm;
	uint64_t bytes;
} amd[] = {
	{ "1000\n",
	    INFO("amdgpu", "3", "0000:03:00.0") "drm-memory-vram:\t1200\n",
	    1200 },
	{ "1000\n",
	    INFO("amdgpu", "3", "0000:03:00.0") "drm-memory-vram:\t10\n",
	    1000 },
};

START_TEST(kfd_and_its_render_node_count_once)
{
	has_kfd(amd[_i].vram);
	has_drm(8, "/dev/dri/renderD128", amd[_i].drm);
	is_known(only(), "kfd", amd[_i].bytes);
}
END_TEST

START_TEST(kfd_does_not_answer_for_others)
{
	has_kfd("1000\n");
	has_drm(8, "/dev/dri/renderD128",
	    INFO("i915", "3", "0000:00:02.0") "drm-total-system0:\t10\n");
	has_drm(7, "/dev/dri/renderD129", INFO("amdgpu", "3", "0000:03:00.0"));
	ck_assert_int_eq(look(NULL), WD_OK);
	ck_assert_uint_eq(uses.count, 3);
	is_known(&uses.items[0], "drm 0000:00:02.0", 10);
	is_unknown(&uses.items[1], "drm 0000:03:00.0");
	is_known(&uses.items[2], "kfd", 1000);
}
END_TEST

/* ---- NVIDIA -------------------------------------------------------------- */

static void
has_nvidia(const char *script)
{
	ck_assert_int_eq(setenv("FAKE_NVML", script, 1), 0);
	has_open(20, "/dev/nvidiactl");
	has_open(21, "/dev/nvidia0");
	has_open(22, "/dev/nvidia-uvm");
}

static const struct {
	const char *what;
	const char *script;
	uint64_t bytes;
} listed[] = {
	{ "alone", "device=0:1:0 c=4242:4096", 4096 },
	{ "among others", "device=0:1:0 c=1:7 c=4242:4096 c=42:9", 4096 },
	{ "entries of 16 bytes",
	    "entry=16 device=0:1:0 c=1:7 c=4242:4096 c=3:4", 4096 },
	{ "entries of 32 bytes",
	    "entry=32 device=0:1:0 c=1:7 c=4242:4096 c=3:4", 4096 },
	{ "one entry of 32 bytes", "entry=32 device=0:1:0 c=4242:4096", 4096 },
	{ "in two lists", "device=0:1:0 c=4242:10 g=4242:30 m=4242:20", 30 },
	{ "graphics alone", "device=0:1:0 g=4242:30", 30 },
	{ "under MPS", "device=0:1:0 m=4242:30", 30 },
	{ "two instances", "device=0:1:0 c=4242:10:1:0 c=4242:5:2:0", 15 },
	{ "two compute instances", "device=0:1:0 c=4242:10:1:0 c=4242:5:1:1",
	    15 },
	{ "no graphics here", "device=0:1:0 c=4242:10 g!3 m!3", 10 },
	{ "on the second device", "device=0:9:0 c=1:1 device=0:1:0 c=4242:10",
	    10 },
	{ "nothing allocated", "device=0:1:0 c=4242:0", 0 },
};

START_TEST(nvidia_lists_the_process)
{
	has_nvidia(listed[_i].script);
	is_known(only(), "NVIDIA 0000:01:00.0", listed[_i].bytes);
}
END_TEST

START_TEST(nvidia_on_two_devices)
{
	has_nvidia("device=1:a:0 c=4242:10 device=0:1:1f c=4242:20");
	ck_assert_int_eq(look(NULL), WD_OK);
	ck_assert_uint_eq(uses.count, 2);
	is_known(&uses.items[0], "NVIDIA 0000:01:1f.0", 20);
	is_known(&uses.items[1], "NVIDIA 0001:0a:00.0", 10);
}
END_TEST

static const struct {
	const char *what;
	const char *script;
	const char *device;
} not_listed[] = {
	{ "memory not available", "device=0:1:0 c=4242:na",
	    "NVIDIA 0000:01:00.0" },
	{ "not available in one list", "device=0:1:0 c=4242:5 g=4242:na",
	    "NVIDIA 0000:01:00.0" },
	{ "compute refused", "device=0:1:0 c!4", "NVIDIA 0000:01:00.0" },
	{ "compute not supported", "device=0:1:0 c!3", "NVIDIA 0000:01:00.0" },
	{ "graphics failed", "device=0:1:0 c=4242:5 g!999",
	    "NVIDIA 0000:01:00.0" },
	{ "device lost", "device=0:1:0 handle=15", "NVIDIA 0" },
	{ "on no list", "device=0:1:0 c=1:5", "NVIDIA" },
	{ "no device", "", "NVIDIA" },
	{ "no driver", "init=9 device=0:1:0 c=4242:5", "NVIDIA" },
	{ "an unknown layout", "entry=40 device=0:1:0 c=4242:5 c=1:1",
	    "NVIDIA 0000:01:00.0" },
	{ "too much",
	    "device=0:1:0 c=4242:18446744073709551614:1:1 "
	    "c=4242:5:2:2",
	    "NVIDIA 0000:01:00.0" },
};

START_TEST(nvidia_that_does_not_tell_is_not_known)
{
	has_nvidia(not_listed[_i].script);
	is_unknown(only(), not_listed[_i].device);
}
END_TEST

START_TEST(nvidia_within_a_pid_namespace)
{
	ck_assert_int_eq(unlink(wd_temp_path(proc, "self/ns/pid")), 0);
	wd_tree_link(proc, "self/ns/pid", "pid:[4026532001]");
	has_nvidia("device=0:1:0 c=4242:4096");
	is_unknown(only(), "NVIDIA");
}
END_TEST

static const char *const libraries[] = { "/nonexistent/libnvidia-ml.so.1",
	"libc.so.6", NULL };

START_TEST(nvidia_without_the_library)
{
	options.nvml = libraries[_i];
	has_nvidia("device=0:1:0 c=4242:4096");
	is_unknown(only(), "NVIDIA");
}
END_TEST

static int
number_in_library(const char *name)
{
	void *library = dlopen(FAKE_NVML, RTLD_NOW | RTLD_NOLOAD);
	int number;

	ck_assert_ptr_nonnull(library);
	memcpy(&number, dlsym(library, name), sizeof(number));
	(void)dlclose(library);
	return number;
}

/* A driver held open cannot be reset. */
START_TEST(nvidia_is_let_go_after_each_look)
{
	has_nvidia("device=0:1:0 c=4242:4096");
	(void)only();
	(void)only();
	ck_assert_int_eq(number_in_library("fake_nvml_inits"), 2);
	ck_assert_int_eq(number_in_library("fake_nvml_open"), 0);
}
END_TEST

START_TEST(nvidia_is_not_loaded_without_need)
{
	has_open(9, "/dev/kfd");
	(void)only();
	ck_assert_ptr_null(dlopen(FAKE_NVML, RTLD_NOW | RTLD_NOLOAD));
}
END_TEST

START_TEST(nvidia_answers_for_its_render_node)
{
	has_nvidia("device=0:1:0 c=4242:4096");
	has_drm(
	    8, "/dev/dri/renderD128", INFO("nvidia-drm", "3", "0000:01:00.0"));
	is_known(only(), "NVIDIA 0000:01:00.0", 4096);
}
END_TEST

START_TEST(nvidia_does_not_answer_for_others)
{
	has_nvidia("device=0:1:0 c=4242:4096");
	has_drm(8, "/dev/dri/renderD128", INFO("xe", "3", "0000:02:00.0"));
	ck_assert_int_eq(look(NULL), WD_OK);
	ck_assert_uint_eq(uses.count, 2);
	is_known(&uses.items[0], "NVIDIA 0000:01:00.0", 4096);
	is_unknown(&uses.items[1], "drm 0000:02:00.0");
}
END_TEST

/* ---- layouts ------------------------------------------------------------- */

static const struct {
	size_t written, count, bytes;
} layouts[] = {
	{ 16, 1, 16 },
	{ 24, 1, 24 },
	{ 32, 1, 32 },
	{ 48, 3, 16 },
	{ 72, 3, 24 },
	{ 96, 3, 32 },
	{ 0, 1, 0 },
	{ 17, 1, 0 },
	{ 71, 3, 0 },
	{ 24, 3, 0 },
	{ 40, 1, 0 },
	{ 120, 3, 0 },
};

START_TEST(the_layout_of_entries)
{
	uint8_t array[3 * WD_NVML_ENTRY_ROOM];

	memset(array, WD_NVML_FILL, sizeof(array));
	memset(array, 0, layouts[_i].written);
	ck_assert_uint_eq(
	    wd_nvml_entry_bytes(array, layouts[_i].count), layouts[_i].bytes);
}
END_TEST

/* ---- memory runs out ----------------------------------------------------- */

START_TEST(every_allocation_fails_in_turn)
{
	enum wd_status st = WD_NOMEM;
	uint64_t n;

	has_nvidia("device=0:1:0 c=4242:4096");
	has_kfd("1000\n");
	has_drm(8, "/dev/dri/renderD128",
	    INFO("amdgpu", "3", "0000:03:00.0") "drm-memory-vram:\t1200\n");
	has_drm(7, "/dev/dri/renderD129", INFO("xe", "3", "0000:02:00.0"));
	ck_assert_int_eq(look(NULL), WD_OK);
	for (n = 0; st != WD_OK; n++) {
		wd_mem_fail_after(n);
		st = look(NULL);
		wd_mem_fail_after(UINT64_MAX);
		if (st != WD_OK) {
			ck_assert_int_eq(st, WD_NOMEM);
			ck_assert_uint_eq(uses.count, 0);
		}
	}
	ck_assert_uint_gt(n, 10);
	ck_assert_uint_eq(uses.count, 3);
}
END_TEST

/* ---- the running kernel -------------------------------------------------- */

static void
open_null_as(void *argument)
{
	LIVE_NEED(open(argument, O_RDWR | O_CLOEXEC) >= 0);
}

/* A device of another kind with an accelerator's name tells nothing, and that
 * is what is said. */
START_TEST(a_handle_on_the_running_kernel)
{
	char path[WD_TEMP_BYTES + 64];
	struct wd_process process;
	pid_t pid;

	wd_tree_folder(dir, "dev/dri");
	(void)snprintf(path, sizeof(path), "%s/dev/dri/renderD128", dir);
	if (mknod(path, S_IFCHR | 0666, makedev(1, 3)) != 0)
		LIVE_SKIP("may not make device nodes");
	if (!live_try_spawn(open_null_as, path, &pid))
		LIVE_SKIP("device nodes cannot be opened here");
	host = live_open();
	process = live_process(host, pid);
	ck_assert_int_eq(
	    wd_host_descriptors(host, &process, NULL, &open_files, &err),
	    WD_OK);
	ck_assert_int_eq(
	    wd_host_device_uses(host, &process, &open_files, NULL, &uses, &err),
	    WD_OK);
	ck_assert(uses.complete);
	ck_assert_uint_eq(uses.count, 1);
	is_unknown(&uses.items[0], path);
	wd_process_release(&process);
}
END_TEST

WD_SUITE_BEGIN("host devices")
tcase_add_checked_fixture(tcase, set_up, tear_down);
WD_TEST(no_accelerator_no_use);
WD_TEST(late_is_not_complete);
WD_TEST(one_client_counts_once);
WD_TEST(clients_of_two_devices);
WD_TEST(a_device_that_is_not_on_pci);
WD_TEST(an_accel_device_tells_too);
WD_LOOP(a_driver_that_does_not_tell_is_not_known, silent);
WD_TEST(half_known_is_not_known);
WD_TEST(more_memory_than_there_can_be);
WD_TEST(a_handle_that_was_closed);
WD_TEST(the_pci_address_by_number_before_name);
WD_TEST(a_link_that_is_no_pci_address);
WD_TEST(other_accelerators_are_not_known);
WD_TEST(kfd_adds_up);
WD_LOOP(kfd_that_cannot_be_read, bad_vram);
WD_TEST(kfd_of_a_process_that_it_does_not_list);
WD_LOOP(kfd_from_within_a_pid_namespace, namespaces);
WD_LOOP(kfd_and_its_render_node_count_once, amd);
WD_TEST(kfd_does_not_answer_for_others);
WD_LOOP(nvidia_lists_the_process, listed);
WD_TEST(nvidia_on_two_devices);
WD_LOOP(nvidia_that_does_not_tell_is_not_known, not_listed);
WD_TEST(nvidia_within_a_pid_namespace);
WD_LOOP(nvidia_without_the_library, libraries);
WD_TEST(nvidia_is_let_go_after_each_look);
WD_TEST(nvidia_is_not_loaded_without_need);
WD_TEST(nvidia_answers_for_its_render_node);
WD_TEST(nvidia_does_not_answer_for_others);
WD_LOOP(the_layout_of_entries, layouts);
WD_TEST(every_allocation_fails_in_turn);
WD_TEST(a_handle_on_the_running_kernel);
WD_SUITE_END
