#include "base/mem.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_uint_fast64_t countdown_left = UINT64_MAX;
static atomic_int has_failed;

static int
must_fail(void)
{
	uint64_t left = atomic_load(&countdown_left);

	if (left == UINT64_MAX)
		return 0;
	if (left == 0) {
		atomic_store(&has_failed, 1);
		return 1;
	}
	atomic_store(&countdown_left, left - 1);
	return 0;
}

void
wd_mem_fail_after(uint64_t countdown)
{
	atomic_store(&has_failed, 0);
	atomic_store(&countdown_left, countdown);
}

int
wd_mem_has_failed(void)
{
	return atomic_load(&has_failed);
}

/* No object can be larger than PTRDIFF_MAX; not even asking keeps a hostile
 * length from looking like a bug to the sanitizers. */
static int
is_absurd(size_t count, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(count, size, &bytes) ||
	    bytes > PTRDIFF_MAX;
}

void *
wd_calloc(size_t count, size_t size)
{
	if (must_fail() || is_absurd(count, size))
		return NULL;
	if (count == 0 || size == 0)
		return calloc(1, 1);
	return calloc(count, size);
}

void *
wd_reallocarray(void *old, size_t count, size_t size)
{
	if (must_fail() || is_absurd(count, size))
		return NULL;
	return realloc(old, count * size == 0 ? 1 : count * size);
}

char *
wd_memdup0(const void *bytes, size_t len)
{
	char *copy;

	if (len == SIZE_MAX || (copy = wd_calloc(len + 1, 1)) == NULL)
		return NULL;
	if (len > 0)
		memcpy(copy, bytes, len);
	return copy;
}

char *
wd_strdup(const char *text)
{
	return wd_memdup0(text, strlen(text));
}

void
wd_free(void *memory)
{
	free(memory);
}

enum wd_status
wd_grow(void **items, size_t count, size_t *capacity, size_t size, size_t max)
{
	size_t wanted;
	void *grown;

	if (count < *capacity)
		return WD_OK;
	if (count >= max)
		return WD_LIMIT;
	wanted = *capacity < 8 ? 8 : *capacity * 2;
	if (wanted > max || wanted < *capacity)
		wanted = max;
	grown = wd_reallocarray(*items, wanted, size);
	if (grown == NULL)
		return WD_NOMEM;
	*items = grown;
	*capacity = wanted;
	return WD_OK;
}

void
wd_free_scoped(void *pointer_to_pointer)
{
	void *memory;

	memcpy(&memory, pointer_to_pointer, sizeof(memory));
	free(memory);
}
