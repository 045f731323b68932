/*
 * mem.h - the only door to the allocator.
 *
 * Out of memory is an ordinary error (WD_NOMEM), never an exit. Tests fail
 * the n-th allocation through wd_mem_fail_after and walk n upwards, so every
 * path on which memory runs out is executed.
 */
#ifndef WD_BASE_MEM_H
#define WD_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Zeroed memory for `count` items of `size` bytes; NULL when there is none or
 * the product overflows. Never zero-sized: a count or size of 0 gives a
 * pointer that can be freed. */
void *wd_calloc(size_t count, size_t size) WD_MUST_CHECK;

/* Resizes to `count` items of `size` bytes; NULL when there is no memory or
 * the product overflows, and then `old` is still valid. New bytes are not
 * zeroed. */
void *wd_reallocarray(void *old, size_t count, size_t size) WD_MUST_CHECK;

/* A NUL-terminated copy of `len` bytes; NULL when there is no memory. */
char *wd_memdup0(const void *bytes, size_t len) WD_MUST_CHECK;

/* A copy of a NUL-terminated string; NULL when there is no memory. */
char *wd_strdup(const char *text) WD_MUST_CHECK;

/* Frees; NULL is allowed. */
void wd_free(void *memory);

/* Makes room for one more item in a growing array: `*items` holds `count`
 * used of `*capacity` items of `size` bytes. Doubles when full, up to `max`
 * items. Errors: WD_NOMEM; WD_LIMIT when count has reached `max`; the array
 * is then as it was. */
enum wd_status wd_grow(void **items, size_t count, size_t *capacity,
    size_t size, size_t max) WD_MUST_CHECK;

/* For tests: allocation number `countdown` from now fails (0: the next one),
 * and so do all after it. UINT64_MAX: none fails. Not thread-safe. */
void wd_mem_fail_after(uint64_t countdown);

/* For tests: whether an allocation has failed since wd_mem_fail_after. */
int wd_mem_has_failed(void);

/* Takes the value out of a scoped variable, so that its cleanup does nothing:
 * `return wd_steal(&thing)`. */
#define wd_steal(pointer)                                                      \
	__extension__({                                                        \
		__typeof__(*(pointer)) stolen_ = *(pointer);                   \
		*(pointer) = NULL;                                             \
		stolen_;                                                       \
	})

/* Runs `function(&variable)` when the variable goes out of scope. */
#define WD_CLEANUP(function) __attribute__((cleanup(function)))

/* Cleanup handler for memory from this module. */
void wd_free_scoped(void *pointer_to_pointer);

#endif
