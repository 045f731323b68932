/*
 * What one process has on accelerators. Four ways of accounting, each for the
 * devices that it knows; a handle that none accounts for is listed as not
 * known. What two of them see counts once: too little is a blind spot too
 * many, too much is evidence that is not there.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/mem.h"
#include "host/linux/drm.h"
#include "host/linux/nvml.h"
#include "host/ties.h"

#define NOT_FIRST_PIDS                                                         \
	"the driver counts processes in the host's pid namespace; run the "    \
	"agent there"

struct look {
	struct wd_linux *lx;
	pid_t pid;
	const struct wd_deadline *deadline;
	struct wd_drm_handles drm;
	bool nvidia, kfd;
	struct wd_device_uses *found;
};

/* ---- AMD's compute driver ------------------------------------------------ */

/* The decimal number in a file of sysfs. */
static bool
read_number(int folder, const char *name, uint64_t *number)
{
	WD_CLEANUP(wd_close_scoped)
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	WD_CLEANUP(wd_buf_release) struct wd_buf text = { 0 };
	struct wd_slice rest, line;

	wd_buf_init(&text, 64);
	if (fd < 0 || wd_fd_read(fd, &text) != WD_OK)
		return false;
	rest = wd_buf_slice(&text);
	return wd_slice_cut(&rest, '\n', &line) && rest.len == 0 &&
	    wd_slice_number(line, 10, number);
}

/* vram_GPU, one for each device, in the folder of the process. Why it cannot
 * be summed up; NULL when `*bytes` has the sum. */
static const char *
sum_vram(int folder, uint64_t *bytes)
{
	struct wd_dents dents;
	const char *name;
	uint64_t one;
	bool any = false;

	*bytes = 0;
	wd_dents_init(&dents, folder);
	while ((name = wd_dents_next(&dents)) != NULL) {
		if (strncmp(name, "vram_", 5) != 0)
			continue;
		if (!read_number(folder, name, &one) ||
		    !wd_add_u64(*bytes, one, bytes))
			return "its vram files cannot be read";
		any = true;
	}
	if (dents.os_errno != 0)
		return "the driver's list of its memory cannot be read";
	return any ? NULL : "the driver lists no memory for it";
}

/* Not documented by the kernel; made by kfd_procfs_add_sysfs_files of
 * drivers/gpu/drm/amd/amdkfd/kfd_process.c. */
static const char *
account_kfd(const struct look *look, uint64_t *bytes)
{
	WD_CLEANUP(wd_close_scoped) int folder = -1;
	char path[64];

	if (!wd_linux_pids_are_first(look->lx))
		return NOT_FIRST_PIDS;
	if (look->lx->sys < 0)
		return "there is no /sys; mount it where the agent runs";
	(void)snprintf(
	    path, sizeof(path), "class/kfd/kfd/proc/%d", (int)look->pid);
	folder =
	    openat(look->lx->sys, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return "the driver does not list the process, which may have "
		       "the handle from its parent";
	return sum_vram(folder, bytes);
}

/* ---- what two ways see --------------------------------------------------- */

static void
drop(struct wd_device_uses *uses, size_t index)
{
	wd_free(uses->items[index].device);
	wd_free(uses->items[index].reason);
	uses->count--;
	memmove(&uses->items[index], &uses->items[index + 1],
	    (uses->count - index) * sizeof(*uses->items));
}

static const char *
driver_of(const struct look *look, const char *device)
{
	size_t i;

	for (i = 0; i < look->drm.count; i++)
		if (strcmp(look->drm.items[i].device, device) == 0)
			return look->drm.items[i].info.driver;
	return "";
}

/* The compute driver allocates through the render node, so newer kernels show
 * its memory in both: the larger of the two is all of it. */
static enum wd_status
add_kfd(struct look *look)
{
	struct wd_device_uses *found = look->found;
	uint64_t bytes = 0, drm = 0;
	const char *reason = account_kfd(look, &bytes);
	size_t i = 0;

	while (reason == NULL && i < found->count) {
		if (!found->items[i].bytes_known ||
		    strcmp(driver_of(look, found->items[i].device), "amdgpu") !=
			0) {
			i++;
			continue;
		}
		if (!wd_add_u64(drm, found->items[i].bytes, &drm))
			drm = UINT64_MAX;
		drop(found, i);
	}
	return wd_device_uses_add(
	    found, "kfd", bytes > drm ? bytes : drm, reason);
}

static bool
nvidia_accounts_for(const struct wd_device_uses *uses, const char *drm_device)
{
	size_t i;

	for (i = 0; i < uses->count; i++)
		if (uses->items[i].bytes_known &&
		    strncmp(uses->items[i].device, "NVIDIA ", 7) == 0 &&
		    strcmp(uses->items[i].device + 7, drm_device + 4) == 0)
			return true;
	return false;
}

static enum wd_status
add_nvidia(struct look *look)
{
	struct wd_device_uses *found = look->found;
	enum wd_status st;
	size_t i = 0;

	if (look->lx->nvml == NULL)
		return wd_device_uses_add(found, "NVIDIA", 0,
		    "a captured tree has no library to ask");
	if (!wd_linux_pids_are_first(look->lx))
		return wd_device_uses_add(found, "NVIDIA", 0, NOT_FIRST_PIDS);
	st = wd_nvml_uses(look->lx->nvml, look->pid, look->deadline, found);
	/* NVIDIA's render node tells nothing itself; the library counts what
	 * was allocated through it. */
	while (st == WD_OK && i < found->count) {
		if (!found->items[i].bytes_known &&
		    strncmp(found->items[i].device, "drm ", 4) == 0 &&
		    nvidia_accounts_for(found, found->items[i].device))
			drop(found, i);
		else
			i++;
	}
	return st;
}

/* ---- the question -------------------------------------------------------- */

/* Whether the path is below `folder`, wherever that is mounted. */
static bool
contains(struct wd_slice path, const char *text)
{
	for (; path.len > 0; path.data++, path.len--)
		if (wd_slice_starts(path, text))
			return true;
	return false;
}

static enum wd_status
take_descriptor(struct look *look, const struct wd_descriptor *d)
{
	struct wd_slice path = wd_bytes_slice(&d->path);

	if (d->type != WD_OBJECT_DEVICE || !wd_host_is_accelerator(path))
		return WD_OK;
	if (contains(path, "/dev/nvidia")) {
		look->nvidia = true;
		return WD_OK;
	}
	if (contains(path, "/dev/kfd")) {
		look->kfd = true;
		return WD_OK;
	}
	return wd_drm_add(look->lx, d, &look->drm);
}

static enum wd_status
look_at_all(struct look *look, const struct wd_descriptors *descriptors)
{
	enum wd_status st = WD_OK;
	size_t i;

	for (i = 0; i < descriptors->count && st == WD_OK; i++)
		st = wd_deadline_passed(look->deadline) ?
		    WD_TIMEDOUT :
		    take_descriptor(look, &descriptors->items[i]);
	if (st == WD_OK)
		st = wd_drm_sum(&look->drm, look->found);
	if (st == WD_OK && look->kfd)
		st = add_kfd(look);
	if (st == WD_OK && look->nvidia)
		st = add_nvidia(look);
	return st;
}

/* What is listed after the time ran out may count twice or be a part. */
enum wd_status
wd_linux_device_uses(struct wd_host *host, const struct wd_process *process,
    const struct wd_descriptors *descriptors,
    const struct wd_deadline *deadline, struct wd_device_uses *found,
    struct wd_error *err)
{
	struct look look = { .lx = wd_linux_of(host),
		.pid = process->identity.pid,
		.deadline = deadline,
		.found = found };
	enum wd_status st = look_at_all(&look, descriptors);

	wd_drm_handles_release(&look.drm);
	found->complete = st == WD_OK && descriptors->complete;
	if (st != WD_OK)
		wd_device_uses_release(found);
	if (st == WD_TIMEDOUT || st == WD_LIMIT)
		st = wd_device_uses_add(found, "devices", 0,
		    st == WD_LIMIT ? "there are more than the agent keeps" :
				     "the deadline came first");
	wd_device_uses_sort(found);
	if (st == WD_OK)
		return WD_OK;
	wd_device_uses_release(found);
	return wd_fail(err, st, "devices of process %d: %s",
	    (int)process->identity.pid, wd_status_name(st));
}
