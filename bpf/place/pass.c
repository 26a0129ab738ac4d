// SPDX-License-Identifier: GPL-2.0
#include "pass.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEFS		(ROLE_DEF_DST | ROLE_PURE)
#define CHANGES		(ROLE_DEF_DST | ROLE_USE_DST | ROLE_PURE)
#define READS		(ROLE_DEF_DST | ROLE_USE_SRC | ROLE_PURE)

const uint8_t pass_roles[CODE_KINDS] = {
	[CODE_MOVE] = READS,
	[CODE_CONST] = DEFS,
	[CODE_ALU] = CHANGES | ROLE_USE_SRC,
	[CODE_ALU_IMM] = CHANGES,
	[CODE_ZEXT32] = CHANGES,
	[CODE_LOAD] = READS,
	[CODE_STORE] = ROLE_USE_DST | ROLE_USE_SRC,
	[CODE_STORE_IMM] = ROLE_USE_DST,
	[CODE_ATOMIC] = ROLE_USE_DST | ROLE_USE_SRC,
	[CODE_SLOT_LOAD] = DEFS | ROLE_CELL,
	[CODE_SLOT_STORE] = ROLE_USE_SRC | ROLE_CELL,
	[CODE_SLOT_STORE_IMM] = ROLE_CELL,
	[CODE_SLOT_ADDRESS] = DEFS | ROLE_CELL,
	[CODE_MAP] = DEFS,
	[CODE_MAP_VALUE] = DEFS,
	[CODE_VARIABLE] = DEFS,
	[CODE_CALLBACK] = DEFS,
	[CODE_CALL] = ROLE_CALL,
	[CODE_KFUNC] = ROLE_CALL,
	[CODE_MODULE_KFUNC] = ROLE_CALL,
	[CODE_CALL_LABEL] = ROLE_CALL,
	[CODE_JUMP] = ROLE_JUMP,
	[CODE_JUMP_IF] = ROLE_JUMP | ROLE_USE_DST | ROLE_USE_SRC,
	[CODE_JUMP_IMM] = ROLE_JUMP | ROLE_USE_DST,
};

/* Of this size glibc gives memory back only once, and keeps it from then on. */
#define CHUNK		((size_t)256 << 10)

struct pass_chunk {
	struct pass_chunk *next;
	size_t used, size;
	max_align_t memory[];
};

void *pass_room(struct pass *p, size_t count, size_t bytes)
{
	struct pass_chunk *chunk = p->chunks;
	size_t size = (count * bytes + 15) & ~(size_t)15, room;

	if (p->error)
		return NULL;
	if (!chunk || chunk->size - chunk->used < size) {
		room = size > CHUNK ? size : CHUNK;
		chunk = malloc(sizeof(*chunk) + room);
		if (!chunk) {
			p->error = -ENOMEM;
			return NULL;
		}
		*chunk = (struct pass_chunk){ p->chunks, 0, room };
		p->chunks = chunk;
	}
	chunk->used += size;
	return (char *)chunk->memory + chunk->used - size;
}

void *pass_take(struct pass *p, size_t count, size_t bytes)
{
	void *room = pass_room(p, count, bytes);

	return room ? memset(room, 0, count * bytes) : NULL;
}

struct pass_mark pass_mark(const struct pass *p)
{
	return (struct pass_mark){ p->chunks, p->chunks->used };
}

void pass_reuse(struct pass *p, const struct pass_mark *mark)
{
	if (p->chunks == mark->chunk)
		p->chunks->used = mark->used;
}

void pass_free(struct pass *p)
{
	while (p->chunks) {
		struct pass_chunk *chunk = p->chunks;

		p->chunks = chunk->next;
		free(chunk);
	}
}
