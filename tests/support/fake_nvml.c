/*
 * A stand-in for NVIDIA's management library, for tests: it says what the
 * environment variable FAKE_NVML tells it to. Words:
 *
 *	entry=N		size of a process entry, 16 and up; 24 at the start
 *	init=N		nvmlInit_v2 fails with error N
 *	device=D:B:S	a device with this PCI address (hexadecimal); the
 *			following words are about it
 *	handle=N	it cannot be had: error N
 *	c=PID:BYTES:GI:CI	a process in its list of compute processes;
 *			g= graphics, m= MPS. BYTES may be "na"
 *	c!N g!N m!N	that list cannot be had: error N
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEVICES 4
#define MAX_LISTED 8

struct listed {
	unsigned pid;
	unsigned long long bytes;
	unsigned gpu_instance, compute_instance;
};

struct list {
	struct listed items[MAX_LISTED];
	unsigned count;
	int error;
};

struct device {
	unsigned domain, bus, slot;
	int handle_error;
	struct list lists[3]; /* c, g, m */
};

struct pci {
	char bus_id_legacy[16];
	unsigned domain, bus, device, device_id, subsystem_id;
	char bus_id[32];
};

/* How often the driver was initialised and not shut down. */
int fake_nvml_open;
int fake_nvml_inits;

static struct device devices[MAX_DEVICES];
static unsigned device_count;
static size_t entry_bytes;
static int init_error;

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct device **device);
int nvmlDeviceGetPciInfo_v3(struct device *device, struct pci *pci);
int nvmlDeviceGetComputeRunningProcesses_v3(
    struct device *device, unsigned *count, uint8_t *array);
int nvmlDeviceGetGraphicsRunningProcesses_v3(
    struct device *device, unsigned *count, uint8_t *array);
int nvmlDeviceGetMPSComputeRunningProcesses_v3(
    struct device *device, unsigned *count, uint8_t *array);

static void
add_listed(struct list *list, const char *word)
{
	struct listed one = { 0, 0, UINT32_MAX, UINT32_MAX };
	char bytes[32] = "";

	if (sscanf(word, "%u:%31[^:]:%u:%u", &one.pid, bytes, &one.gpu_instance,
		&one.compute_instance) < 2 ||
	    list->count == MAX_LISTED)
		abort();
	one.bytes =
	    strcmp(bytes, "na") == 0 ? UINT64_MAX : strtoull(bytes, NULL, 10);
	list->items[list->count++] = one;
}

static void
take_word(const char *word)
{
	static const char names[] = "cgm";
	struct device *device =
	    &devices[device_count == 0 ? 0 : device_count - 1];
	const char *name = strchr(names, word[0]);

	if (strncmp(word, "entry=", 6) == 0) {
		entry_bytes = (size_t)atoi(word + 6);
	} else if (strncmp(word, "init=", 5) == 0) {
		init_error = atoi(word + 5);
	} else if (strncmp(word, "handle=", 7) == 0) {
		device->handle_error = atoi(word + 7);
	} else if (strncmp(word, "device=", 7) == 0) {
		device = &devices[device_count++];
		if (sscanf(word + 7, "%x:%x:%x", &device->domain, &device->bus,
			&device->slot) != 3)
			abort();
	} else if (name != NULL && word[1] == '!') {
		device->lists[name - names].error = atoi(word + 2);
	} else if (name != NULL && word[1] == '=') {
		add_listed(&device->lists[name - names], word + 2);
	} else {
		abort();
	}
}

int
nvmlInit_v2(void)
{
	const char *script = getenv("FAKE_NVML");
	char text[1024], *word, *save = NULL;

	fake_nvml_inits++;
	memset(devices, 0, sizeof(devices));
	device_count = 0;
	entry_bytes = 24;
	init_error = 0;
	(void)snprintf(text, sizeof(text), "%s", script == NULL ? "" : script);
	for (word = strtok_r(text, " ", &save); word != NULL;
	     word = strtok_r(NULL, " ", &save))
		take_word(word);
	if (init_error == 0)
		fake_nvml_open++;
	return init_error;
}

int
nvmlShutdown(void)
{
	fake_nvml_open--;
	return 0;
}

int
nvmlDeviceGetCount_v2(unsigned *count)
{
	*count = device_count;
	return 0;
}

int
nvmlDeviceGetHandleByIndex_v2(unsigned index, struct device **device)
{
	*device = &devices[index];
	return devices[index].handle_error;
}

int
nvmlDeviceGetPciInfo_v3(struct device *device, struct pci *pci)
{
	pci->domain = device->domain;
	pci->bus = device->bus;
	pci->device = device->slot;
	return 0;
}

/* As the real one: a room that is too small is an error, with the number that
 * would do. */
static int
give(const struct list *list, unsigned *count, uint8_t *array)
{
	unsigned i, room = *count;
	const unsigned long long none = 0;
	size_t at;

	if (list->error != 0)
		return list->error;
	*count = list->count;
	if (room < list->count)
		return 7;
	for (i = 0; i < list->count; i++, array += entry_bytes) {
		memcpy(array, &list->items[i].pid, 4);
		memcpy(array + 8, &list->items[i].bytes, 8);
		if (entry_bytes >= 24) {
			memcpy(array + 16, &list->items[i].gpu_instance, 4);
			memcpy(array + 20, &list->items[i].compute_instance, 4);
		}
		for (at = 24; at < entry_bytes; at += 8)
			memcpy(array + at, &none, 8);
	}
	return 0;
}

int
nvmlDeviceGetComputeRunningProcesses_v3(
    struct device *device, unsigned *count, uint8_t *array)
{
	return give(&device->lists[0], count, array);
}

int
nvmlDeviceGetGraphicsRunningProcesses_v3(
    struct device *device, unsigned *count, uint8_t *array)
{
	return give(&device->lists[1], count, array);
}

int
nvmlDeviceGetMPSComputeRunningProcesses_v3(
    struct device *device, unsigned *count, uint8_t *array)
{
	return give(&device->lists[2], count, array);
}
