// SPDX-License-Identifier: GPL-2.0
#include "parser.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_SIZE	(64u << 10)

struct chunk {
	struct chunk *next;
	size_t used, size;
	_Alignas(16) char data[];
};

/* The tree and the memory its nodes stand in. */
struct tsf_memory {
	struct tsf tsf;		/* first: what others see */
	struct chunk *chunks;
};

struct tsf *tsf_make(void)
{
	struct tsf_memory *memory = calloc(1, sizeof(*memory));

	return memory ? &memory->tsf : NULL;
}

void *tsf_alloc(struct tsf *tsf, size_t size)
{
	struct tsf_memory *memory = (struct tsf_memory *)tsf;
	struct chunk *chunk = memory->chunks;
	size_t room;

	size = (size + 15) & ~(size_t)15;
	if (!chunk || chunk->size - chunk->used < size) {
		room = size > CHUNK_SIZE ? size : CHUNK_SIZE;
		chunk = calloc(1, sizeof(*chunk) + room);
		if (!chunk)
			return NULL;
		chunk->size = room;
		chunk->next = memory->chunks;
		memory->chunks = chunk;
	}
	chunk->used += size;
	return chunk->data + chunk->used - size;
}

void *tsf_append(struct tsf *tsf, void *array, size_t *count, size_t size)
{
	void **start = array;
	char *grown;

	/* full when the count is a power of two */
	if (!(*count & (*count - 1))) {
		grown = tsf_alloc(tsf, (*count ? *count * 2 : 1) * size);
		if (!grown)
			return NULL;
		if (*count)
			memcpy(grown, *start, *count * size);
		*start = grown;
	}
	return (char *)*start + (*count)++ * size;
}

void tsf_free(struct tsf *tsf)
{
	struct tsf_memory *memory = (struct tsf_memory *)tsf;
	struct chunk *chunk, *next;

	if (!tsf)
		return;
	for (chunk = memory->chunks; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(memory);
}
