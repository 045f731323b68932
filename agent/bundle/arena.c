#include "bundle/arena.h"

#include <string.h>

#include "base/mem.h"

/* A text that does not fit into what is left gets a chunk of its own. */
#define CHUNK_BYTES 32768

struct chunk {
	struct chunk *next;
	size_t used;
	size_t size;
	char bytes[];
};

struct wd_arena {
	struct chunk *chunks; /* the one that is being filled comes first */
};

struct wd_arena *
wd_arena_new(void)
{
	return wd_calloc(1, sizeof(struct wd_arena));
}

static struct chunk *
chunk_for(struct wd_arena *arena, size_t need)
{
	struct chunk *first = arena->chunks, *made;
	size_t size = need > CHUNK_BYTES ? need : CHUNK_BYTES;

	if (first != NULL && need <= first->size - first->used)
		return first;
	if (size > SIZE_MAX - sizeof(*made))
		return NULL;
	made = wd_calloc(1, sizeof(*made) + size);
	if (made == NULL)
		return NULL;
	made->size = size;
	made->next = first;
	arena->chunks = made;
	return made;
}

char *
wd_arena_copy(struct wd_arena *arena, struct wd_slice bytes)
{
	struct chunk *chunk;
	char *copy;

	if (bytes.len == SIZE_MAX)
		return NULL;
	chunk = chunk_for(arena, bytes.len + 1);
	if (chunk == NULL)
		return NULL;
	copy = chunk->bytes + chunk->used;
	if (bytes.len > 0)
		memcpy(copy, bytes.data, bytes.len);
	copy[bytes.len] = '\0';
	chunk->used += bytes.len + 1;
	return copy;
}

void
wd_arena_free(struct wd_arena **arena)
{
	struct chunk *chunk, *next;

	if (*arena == NULL)
		return;
	for (chunk = (*arena)->chunks; chunk != NULL; chunk = next) {
		next = chunk->next;
		wd_free(chunk);
	}
	wd_free(*arena);
	*arena = NULL;
}
