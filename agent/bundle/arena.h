/*
 * arena.h - memory for the many small texts of one bundle, freed all at once.
 */
#ifndef WD_BUNDLE_ARENA_H
#define WD_BUNDLE_ARENA_H

#include "base/slice.h"
#include "base/status.h"

struct wd_arena;

/* NULL when there is no memory. */
struct wd_arena *wd_arena_new(void) WD_MUST_CHECK;

/* A NUL-terminated copy of the bytes, which lives as long as the arena; NULL
 * when there is no memory. */
char *wd_arena_copy(
    struct wd_arena *arena, struct wd_slice bytes) WD_MUST_CHECK;

/* Accepts NULL and sets NULL. */
void wd_arena_free(struct wd_arena **arena);

#endif
