/*
 * weights.c - the ways in which engines get a model file into memory.
 */
#include "modelserver.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
	const char *name;
	enum ms_load load;
} loads[] = {
	{ "none", MS_NONE },
	{ "mmap", MS_MMAP },
	{ "mmap-private", MS_MMAP_PRIVATE },
	{ "read-close", MS_READ_CLOSE },
	{ "read-keep-fd", MS_READ_KEEP_FD },
	{ "open-only", MS_OPEN_ONLY },
	{ "map-from-tensor-data", MS_TENSOR_DATA },
};

static bool
parse_partial(const char *text, struct ms_manner *manner)
{
	char *end;

	manner->load = MS_PARTIAL_MAP;
	manner->bytes = strtoull(text, &end, 10);
	if (*end == '@')
		manner->offset = strtoull(end + 1, &end, 10);
	if (*end != '\0' || manner->bytes == 0)
		return ms_fail("partial-map=BYTES[@OFFSET]: %s", text);
	return true;
}

bool
ms_manner_parse(const char *text, struct ms_manner *manner)
{
	char *end;
	size_t i;

	memset(manner, 0, sizeof(*manner));
	for (i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		if (strcmp(text, loads[i].name) == 0) {
			manner->load = loads[i].load;
			return true;
		}
	}
	if (strncmp(text, "partial-map=", 12) == 0)
		return parse_partial(text + 12, manner);
	if (strncmp(text, "map-from=", 9) == 0) {
		manner->load = MS_TENSOR_DATA;
		manner->offset = strtoull(text + 9, &end, 10);
		return *end == '\0' || ms_fail("map-from=OFFSET: %s", text);
	}
	return ms_fail("no such way to load: %s", text);
}

static bool
map_range(struct ms_weight *weight, uint64_t from, uint64_t bytes)
{
	bool private = weight->manner.load == MS_MMAP_PRIVATE;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t skipped = from % page;
	void *mapped;

	if (bytes == 0)
		return ms_fail("nothing to map");
	mapped = mmap(NULL, (size_t)(bytes + skipped),
	    private ? PROT_READ | PROT_WRITE : PROT_READ,
	    private ? MAP_PRIVATE : MAP_SHARED, weight->fd,
	    (off_t)(from - skipped));
	if (mapped == MAP_FAILED)
		return ms_fail_errno("mmap");
	weight->mapped = mapped;
	weight->mapped_bytes = (size_t)(bytes + skipped);
	return true;
}

/* Reads everything, as an engine without mmap does. The memory is written to,
 * so that it is resident. */
static bool
read_all(struct ms_weight *weight, uint64_t size)
{
	uint8_t *memory = malloc((size_t)size + 1);
	uint64_t done = 0;
	ssize_t got;

	if (memory == NULL)
		return ms_fail("no memory for the weights");
	while (done < size) {
		got = read(weight->fd, memory + done, (size_t)(size - done));
		if (got <= 0) {
			free(memory);
			return ms_fail_errno("read");
		}
		done += (uint64_t)got;
	}
	weight->memory = memory;
	return true;
}

static void
close_file(struct ms_weight *weight)
{
	if (weight->fd >= 0)
		(void)close(weight->fd);
	weight->fd = -1;
}

static bool
load_tensor_data(struct ms_weight *weight, uint64_t size)
{
	uint64_t from = weight->manner.offset;

	if (from == 0 && !ms_gguf_data_offset(weight->fd, &from))
		return false;
	if (from >= size)
		return ms_fail("the file ends before the tensor data");
	return map_range(weight, from, size - from);
}

static bool
load_opened(struct ms_weight *weight, uint64_t size)
{
	switch (weight->manner.load) {
	case MS_NONE:
	case MS_OPEN_ONLY:
		return true;
	case MS_MMAP:
	case MS_MMAP_PRIVATE:
		return map_range(weight, 0, size);
	case MS_READ_CLOSE:
	case MS_READ_KEEP_FD:
		return read_all(weight, size);
	case MS_PARTIAL_MAP:
		return map_range(
		    weight, weight->manner.offset, weight->manner.bytes);
	case MS_TENSOR_DATA:
		return load_tensor_data(weight, size);
	}
	return ms_fail("no such way to load");
}

/* Keeps a finished weight; what was loaded becomes resident by a look at
 * every page. */
static void
keep(struct ms_weight *weight)
{
	volatile const uint8_t *bytes = weight->mapped;
	size_t at;

	for (at = 0; at < weight->mapped_bytes; at += 4096)
		(void)bytes[at];
	ms.weights[ms.weight_count++] = *weight;
}

bool
ms_weight_load(const char *path, const struct ms_manner *manner)
{
	struct ms_weight weight = { NULL, *manner, -1, NULL, 0, NULL };
	struct stat stat;
	bool loaded;

	if (ms.weight_count == MS_MAX_MODELS)
		return ms_fail("too many models");
	weight.path = strdup(path);
	if (weight.path == NULL)
		return ms_fail("no memory");
	if (manner->load == MS_NONE) {
		keep(&weight);
		return true;
	}
	weight.fd = open(path, O_RDONLY | O_CLOEXEC);
	loaded = weight.fd >= 0 && fstat(weight.fd, &stat) == 0;
	if (!loaded)
		(void)ms_fail_errno(path);
	else
		loaded = load_opened(&weight, (uint64_t)stat.st_size);
	if (!loaded ||
	    (manner->load != MS_OPEN_ONLY && manner->load != MS_READ_KEEP_FD))
		close_file(&weight);
	if (!loaded) {
		free(weight.path);
		return false;
	}
	keep(&weight);
	return true;
}

void
ms_weights_drop(void)
{
	struct ms_weight *weight;

	while (ms.weight_count > 0) {
		weight = &ms.weights[--ms.weight_count];
		if (weight->mapped != NULL)
			(void)munmap(weight->mapped, weight->mapped_bytes);
		close_file(weight);
		free(weight->memory);
		free(weight->path);
	}
}

bool
ms_weight_write_private(void)
{
	struct ms_weight *weight = &ms.weights[0];
	uint8_t *byte;

	if (ms.weight_count == 0 || weight->manner.load != MS_MMAP_PRIVATE)
		return ms_fail("needs --load mmap-private");
	byte = (uint8_t *)weight->mapped + weight->mapped_bytes - 1;
	*(volatile uint8_t *)byte = (uint8_t) ~*byte;
	return true;
}

static bool
copy_to(int to, const char *path)
{
	uint8_t bytes[65536];
	int from = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (from < 0)
		return ms_fail_errno(path);
	while ((got = read(from, bytes, sizeof(bytes))) > 0) {
		if (write(to, bytes, (size_t)got) != got)
			break;
	}
	(void)close(from);
	return got == 0 || ms_fail_errno("copying to the memfd");
}

bool
ms_weight_memfd(const char *path)
{
	struct ms_weight weight = { NULL, { MS_MMAP, 0, 0 }, -1, NULL, 0,
		NULL };
	const char *slash = strrchr(path, '/');
	struct stat stat;

	if (ms.weight_count == MS_MAX_MODELS)
		return ms_fail("too many models");
	weight.fd = memfd_create(slash == NULL ? path : slash + 1, MFD_CLOEXEC);
	if (weight.fd < 0)
		return ms_fail_errno("memfd_create");
	if (!copy_to(weight.fd, path) || fstat(weight.fd, &stat) != 0 ||
	    !map_range(&weight, 0, (uint64_t)stat.st_size)) {
		close_file(&weight);
		return false;
	}
	close_file(&weight);
	weight.path = strdup(path);
	keep(&weight);
	return true;
}

bool
ms_weight_shared_writable(const char *path)
{
	struct stat stat;
	void *mapped = MAP_FAILED;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &stat) != 0)
		return ms_fail_errno(path);
	if (stat.st_size > 0)
		mapped = mmap(NULL, (size_t)stat.st_size,
		    PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	(void)close(fd);
	/* Held for good: nothing ever unmaps it. */
	return mapped != MAP_FAILED || ms_fail_errno("mmap");
}
