#include "host/linux/nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/limits.h"
#include "base/mem.h"
#include "host/ties.h"

/* nvmlReturn_t */
#define NVML_SUCCESS 0
#define NVML_ERROR_NOT_SUPPORTED 3
#define NVML_ERROR_NO_PERMISSION 4
#define NVML_ERROR_INSUFFICIENT_SIZE 7

#define NVML_VALUE_NOT_AVAILABLE UINT64_MAX

/* More than a device can have; a library that says more is broken. */
#define MAX_DEVICES 1024
#define MAX_ENTRIES 65536

/* Instances of one device (MIG): at most 7 x 7. */
#define MAX_INSTANCES 64

/* Processes come while we ask. */
#define LIST_ROUNDS 4

struct nvml_device; /* opaque */

/* nvmlPciInfo_t */
struct nvml_pci {
	char bus_id_legacy[16];
	unsigned domain, bus, device;
	unsigned device_id, subsystem_id;
	char bus_id[32];
};

typedef int nvml_list(struct nvml_device *device, unsigned *count, void *array);

struct wd_nvml {
	char *name;
	bool tried;
	void *library;
	char reason[256]; /* why it cannot be used; "" when it can */
	int (*init)(void);
	int (*shutdown)(void);
	int (*count)(unsigned *count);
	int (*handle)(unsigned index, struct nvml_device **device);
	int (*pci)(struct nvml_device *device, struct nvml_pci *pci);
	nvml_list *compute, *graphics, *mps;
};

/* ---- the library --------------------------------------------------------- */

struct symbol {
	const char *name;
	const char *older; /* NULL: there is none */
	size_t offset;
	bool needed;
};

static const struct symbol symbols[] = {
	{ "nvmlInit_v2", NULL, offsetof(struct wd_nvml, init), true },
	{ "nvmlShutdown", NULL, offsetof(struct wd_nvml, shutdown), true },
	{ "nvmlDeviceGetCount_v2", NULL, offsetof(struct wd_nvml, count),
	    true },
	{ "nvmlDeviceGetHandleByIndex_v2", NULL,
	    offsetof(struct wd_nvml, handle), true },
	{ "nvmlDeviceGetPciInfo_v3", NULL, offsetof(struct wd_nvml, pci),
	    false },
	{ "nvmlDeviceGetComputeRunningProcesses_v3",
	    "nvmlDeviceGetComputeRunningProcesses_v2",
	    offsetof(struct wd_nvml, compute), true },
	{ "nvmlDeviceGetGraphicsRunningProcesses_v3",
	    "nvmlDeviceGetGraphicsRunningProcesses_v2",
	    offsetof(struct wd_nvml, graphics), true },
	{ "nvmlDeviceGetMPSComputeRunningProcesses_v3",
	    "nvmlDeviceGetMPSComputeRunningProcesses_v2",
	    offsetof(struct wd_nvml, mps), false },
};

enum wd_status
wd_nvml_new(const char *name, struct wd_nvml **nvml)
{
	struct wd_nvml *made = wd_calloc(1, sizeof(*made));

	if (made != NULL)
		made->name = wd_strdup(name);
	if (made == NULL || made->name == NULL) {
		wd_nvml_free(&made);
		return WD_NOMEM;
	}
	*nvml = made;
	return WD_OK;
}

void
wd_nvml_free(struct wd_nvml **nvml)
{
	if (*nvml == NULL)
		return;
	if ((*nvml)->library != NULL)
		(void)dlclose((*nvml)->library);
	wd_free((*nvml)->name);
	wd_free(*nvml);
	*nvml = NULL;
}

/* ISO C has no way from dlsym's pointer to one to a function but its bytes. */
static bool
find_symbol(struct wd_nvml *nvml, const struct symbol *symbol)
{
	void *at = dlsym(nvml->library, symbol->name);

	if (at == NULL && symbol->older != NULL)
		at = dlsym(nvml->library, symbol->older);
	memcpy((char *)nvml + symbol->offset, &at, sizeof(at));
	return at != NULL || !symbol->needed;
}

/* A vendor's library is not made to be unloaded: it stays, once loaded. */
static void
load(struct wd_nvml *nvml)
{
	size_t i;

	nvml->tried = true;
	nvml->library =
	    dlopen(nvml->name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (nvml->library == NULL) {
		(void)snprintf(nvml->reason, sizeof(nvml->reason),
		    "%.64s cannot be loaded; install the driver's management "
		    "library where the agent runs",
		    nvml->name);
		return;
	}
	for (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		if (find_symbol(nvml, &symbols[i]))
			continue;
		(void)snprintf(nvml->reason, sizeof(nvml->reason),
		    "%.64s has no %s; update the driver", nvml->name,
		    symbols[i].name);
		return;
	}
}

/* ---- one list of processes ----------------------------------------------- */

size_t
wd_nvml_entry_bytes(const uint8_t *array, size_t count)
{
	size_t end = count * WD_NVML_ENTRY_ROOM, size;

	while (end > 0 && array[end - 1] == WD_NVML_FILL)
		end--;
	for (size = 16; size <= 32; size += 8)
		if (end == count * size)
			return size;
	return 0;
}

struct entry {
	uint32_t gpu_instance, compute_instance;
	uint64_t bytes;
};

/* What the lists of one device say of one process. */
struct seen {
	pid_t pid;
	struct entry entries[MAX_INSTANCES];
	size_t count;
	const char *trouble; /* why it is not to be relied on */
};

/* One process can be in several lists with the same memory, so of equal
 * instances the larger counts. */
static void
add_entry(struct seen *seen, const struct entry *entry)
{
	size_t i;

	for (i = 0; i < seen->count; i++) {
		struct entry *known = &seen->entries[i];

		if (known->gpu_instance != entry->gpu_instance ||
		    known->compute_instance != entry->compute_instance)
			continue;
		if (entry->bytes > known->bytes)
			known->bytes = entry->bytes;
		return;
	}
	if (seen->count == MAX_INSTANCES)
		seen->trouble = "the NVIDIA library lists the process in more "
				"instances than there can be";
	else
		seen->entries[seen->count++] = *entry;
}

/* pid, 4 bytes apart from it the bytes, then the instances. */
static void
take_entry(const uint8_t *at, size_t size, struct seen *seen)
{
	struct entry entry = { UINT32_MAX, UINT32_MAX, 0 };
	uint32_t pid;

	memcpy(&pid, at, sizeof(pid));
	if (pid != (uint32_t)seen->pid)
		return;
	memcpy(&entry.bytes, at + 8, sizeof(entry.bytes));
	if (size >= 24) {
		memcpy(&entry.gpu_instance, at + 16, 4);
		memcpy(&entry.compute_instance, at + 20, 4);
	}
	add_entry(seen, &entry);
}

static void
take_entries(const uint8_t *array, size_t count, struct seen *seen)
{
	size_t size = wd_nvml_entry_bytes(array, count), i;

	if (size == 0) {
		seen->trouble = "the NVIDIA library writes process entries of "
				"a layout that the agent does not know";
		return;
	}
	for (i = 0; i < count; i++)
		take_entry(array + i * size, size, seen);
}

static const char *
explain(int result)
{
	if (result == NVML_ERROR_NOT_SUPPORTED)
		return "the NVIDIA library does not list processes of this "
		       "device";
	if (result == NVML_ERROR_NO_PERMISSION)
		return "the NVIDIA library refuses to list processes; run the "
		       "agent as root";
	return "the NVIDIA library failed to list the processes of this "
	       "device";
}

/* Asks with `*count` entries of room; it then says how many there are. The
 * layout is certain only when they fill the room. */
static enum wd_status
ask_list(nvml_list *list, struct nvml_device *device, unsigned *count,
    int *result, struct seen *seen)
{
	WD_CLEANUP(wd_free_scoped) uint8_t *array = NULL;
	unsigned room = *count;

	if (room > MAX_ENTRIES) {
		seen->trouble = "the NVIDIA library lists more processes than "
				"the agent takes";
		*result = NVML_SUCCESS;
		return WD_OK;
	}
	array = wd_calloc(room + 1, WD_NVML_ENTRY_ROOM);
	if (array == NULL)
		return WD_NOMEM;
	memset(array, WD_NVML_FILL, (size_t)(room + 1) * WD_NVML_ENTRY_ROOM);
	*result = list(device, count, room == 0 ? NULL : array);
	if (*result == NVML_SUCCESS && *count != room)
		*result = NVML_ERROR_INSUFFICIENT_SIZE;
	if (*result == NVML_SUCCESS && room > 0)
		take_entries(array, room, seen);
	return WD_OK;
}

static enum wd_status
take_list(nvml_list *list, struct nvml_device *device, bool optional,
    struct seen *seen)
{
	unsigned count = 0;
	int result = NVML_ERROR_INSUFFICIENT_SIZE, round;
	enum wd_status st = WD_OK;

	for (round = 0; round < LIST_ROUNDS && st == WD_OK &&
	     result == NVML_ERROR_INSUFFICIENT_SIZE;
	     round++)
		st = ask_list(list, device, &count, &result, seen);
	if (st != WD_OK || result == NVML_SUCCESS)
		return st;
	if (!optional || result != NVML_ERROR_NOT_SUPPORTED)
		seen->trouble = explain(result);
	return WD_OK;
}

/* ---- one device ---------------------------------------------------------- */

static void
name_device(const struct wd_nvml *nvml, struct nvml_device *device,
    unsigned index, char *name, size_t size)
{
	struct nvml_pci pci;

	memset(&pci, 0, sizeof(pci));
	if (device != NULL && nvml->pci != NULL &&
	    nvml->pci(device, &pci) == NVML_SUCCESS)
		(void)snprintf(name, size, "NVIDIA %04x:%02x:%02x.0",
		    pci.domain, pci.bus, pci.device);
	else
		(void)snprintf(name, size, "NVIDIA %u", index);
}

static enum wd_status
add_seen(const struct seen *seen, const char *name, struct wd_device_uses *uses)
{
	uint64_t bytes = 0;
	size_t i;

	if (seen->trouble != NULL)
		return wd_device_uses_add(uses, name, 0, seen->trouble);
	if (seen->count == 0)
		return WD_OK;
	for (i = 0; i < seen->count; i++)
		if (seen->entries[i].bytes == NVML_VALUE_NOT_AVAILABLE ||
		    !wd_add_u64(bytes, seen->entries[i].bytes, &bytes))
			return wd_device_uses_add(uses, name, 0,
			    "the NVIDIA library lists the process without its "
			    "memory");
	return wd_device_uses_add(uses, name, bytes, NULL);
}

static enum wd_status
look_at(struct wd_nvml *nvml, unsigned index, pid_t pid,
    struct wd_device_uses *uses)
{
	struct seen seen = { .pid = pid };
	struct nvml_device *device = NULL;
	int result = nvml->handle(index, &device);
	enum wd_status st = WD_OK;
	char name[64];

	name_device(nvml, result == NVML_SUCCESS ? device : NULL, index, name,
	    sizeof(name));
	if (result != NVML_SUCCESS)
		return wd_device_uses_add(uses, name, 0, explain(result));
	st = take_list(nvml->compute, device, false, &seen);
	if (st == WD_OK)
		st = take_list(nvml->graphics, device, true, &seen);
	if (st == WD_OK && nvml->mps != NULL)
		st = take_list(nvml->mps, device, true, &seen);
	return st == WD_OK ? add_seen(&seen, name, uses) : st;
}

/* ---- the question -------------------------------------------------------- */

static enum wd_status
look_at_all(struct wd_nvml *nvml, pid_t pid, const struct wd_deadline *deadline,
    struct wd_device_uses *uses)
{
	size_t before = uses->count;
	enum wd_status st = WD_OK;
	unsigned count = 0, i;

	if (nvml->count(&count) != NVML_SUCCESS || count > MAX_DEVICES)
		return wd_device_uses_add(uses, "NVIDIA", 0,
		    "the NVIDIA library does not tell how many devices there "
		    "are");
	for (i = 0; i < count && st == WD_OK; i++)
		st = wd_deadline_passed(deadline) ? WD_TIMEDOUT :
						    look_at(nvml, i, pid, uses);
	if (st != WD_OK || uses->count > before)
		return st;
	return wd_device_uses_add(uses, "NVIDIA", 0,
	    "the NVIDIA library does not list the process, which holds a "
	    "handle of the driver");
}

enum wd_status
wd_nvml_uses(struct wd_nvml *nvml, pid_t pid,
    const struct wd_deadline *deadline, struct wd_device_uses *uses)
{
	enum wd_status st;
	char reason[96];
	int result;

	if (!nvml->tried)
		load(nvml);
	if (nvml->reason[0] != '\0')
		return wd_device_uses_add(uses, "NVIDIA", 0, nvml->reason);
	result = nvml->init();
	if (result != NVML_SUCCESS) {
		(void)snprintf(reason, sizeof(reason),
		    "the NVIDIA library cannot reach the driver (error %d)",
		    result);
		return wd_device_uses_add(uses, "NVIDIA", 0, reason);
	}
	st = look_at_all(nvml, pid, deadline, uses);
	(void)nvml->shutdown();
	return st;
}
