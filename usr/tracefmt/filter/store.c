// SPDX-License-Identifier: GPL-2.0
#include "store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/array.h"
#include "lib/temp_file.h"

#define BLOCK_BYTES	(256u << 10)
#define BLOCKS_IN_MEMORY 48

/* In a block: the event, its record, its size again for reading backwards. */
struct store_entry {
	struct event event;	/* record: set when it is read */
	uint32_t bytes;		/* of all, a multiple of 8 */
	bool selected;
};

#define ENTRY_TAIL	8

struct store_block_data {
	uint8_t *data;		/* NULL: in the file */
	size_t used;
	uint64_t slot;		/* there */
	struct store_block holds;
};

struct store {
	struct store_block_data *blocks;	/* from `front` on, `count` of them */
	size_t front, count, room;
	size_t spilled;		/* from the front on: in the file */
	int fd;			/* -1: none yet */
	uint64_t slots;		/* of the file, ever used */
	uint64_t *free_slots;
	size_t free_count, free_room;
	uint8_t *loaded;	/* a block of the file */
	uint8_t *spare;		/* memory of a block that was given up */
};

struct store *store_open(void)
{
	struct store *store = calloc(1, sizeof(*store));

	if (store)
		store->fd = -1;
	return store;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	for (size_t i = 0; i < store->count; i++)
		free(store->blocks[store->front + i].data);
	if (store->fd >= 0)
		close(store->fd);
	free(store->blocks);
	free(store->free_slots);
	free(store->loaded);
	free(store->spare);
	free(store);
}

static struct store_block_data *block_at(const struct store *store,
					 size_t block)
{
	return &store->blocks[store->front + block];
}

/* ---- the file ---- */

static void memory_give_up(struct store *store, uint8_t *data)
{
	free(store->spare);
	store->spare = data;
}

/* The oldest block in memory goes to the file. */
static int block_spill(struct store *store)
{
	struct store_block_data *block = block_at(store, store->spilled);
	int code;

	if (store->fd < 0)
		store->fd = temp_file_open();
	if (store->fd < 0)
		return store->fd;
	block->slot = store->free_count ?
		      store->free_slots[--store->free_count] : store->slots++;
	code = temp_file_write(store->fd, block->data, block->used,
			       block->slot * BLOCK_BYTES);
	if (code)
		return code;
	memory_give_up(store, block->data);
	block->data = NULL;
	store->spilled++;
	return 0;
}

/* ---- blocks ---- */

/* Room for one more after the last. */
static int blocks_reserve(struct store *store)
{
	size_t room = store->room ? 2 * store->room : 64;
	struct store_block_data *blocks;

	if (store->front + store->count < store->room)
		return 0;
	if (store->front > store->room / 2) {
		memmove(store->blocks, store->blocks + store->front,
			store->count * sizeof(*store->blocks));
		store->front = 0;
		return 0;
	}
	blocks = reallocarray(store->blocks, room, sizeof(*blocks));
	if (!blocks)
		return -ENOMEM;
	store->blocks = blocks;
	store->room = room;
	return 0;
}

static int block_begin(struct store *store, uint64_t number)
{
	uint8_t *data;
	int code = blocks_reserve(store);

	if (!code && store->count - store->spilled >= BLOCKS_IN_MEMORY)
		code = block_spill(store);
	if (code)
		return code;
	data = store->spare ? store->spare : malloc(BLOCK_BYTES);
	store->spare = NULL;
	if (!data)
		return -ENOMEM;
	*block_at(store, store->count++) = (struct store_block_data){
		.data = data, .holds = { .first = number, .newest = INT64_MIN },
	};
	return 0;
}

size_t store_blocks(const struct store *store)
{
	return store->count;
}

struct store_block store_block(const struct store *store, size_t block)
{
	return block_at(store, block)->holds;
}

void store_drop(struct store *store)
{
	struct store_block_data *block = block_at(store, 0);

	if (store->spilled) {
		/* without memory for its number the slot stays unused */
		if (array_grow(&store->free_slots, store->free_count,
			       &store->free_room, sizeof(*store->free_slots)))
			store->free_slots[store->free_count++] = block->slot;
		store->spilled--;
	} else {
		memory_give_up(store, block->data);
	}
	store->front++;
	store->count--;
}

/* ---- events ---- */

int store_add(struct store *store, const struct event *event, bool selected)
{
	uint32_t length = event->record->length;
	struct store_entry entry = {
		.event = *event, .selected = selected,
		.bytes = sizeof(entry) + ((length + 7) & ~7u) + ENTRY_TAIL,
	};
	struct store_block_data *block = store->count ?
			      block_at(store, store->count - 1) : NULL;
	uint8_t *p;

	if (!block || BLOCK_BYTES - block->used < entry.bytes) {
		int code = block_begin(store, event->number);

		if (code)
			return code;
		block = block_at(store, store->count - 1);
	}
	p = block->data + block->used;
	memcpy(p, &entry, sizeof(entry));
	memcpy(p + sizeof(entry), event->record, length);
	memcpy(p + entry.bytes - sizeof(entry.bytes), &entry.bytes,
	       sizeof(entry.bytes));
	block->used += entry.bytes;
	block->holds.last = event->number;
	block->holds.selected += selected;
	if (block->holds.newest < event->time)
		block->holds.newest = event->time;
	return 0;
}

static int entry_give(uint8_t *p, store_take take, void *context)
{
	struct store_entry *entry = (struct store_entry *)p;

	entry->event.record = (struct ras_record *)(entry + 1);
	return take(context, &entry->event, entry->selected);
}

int store_read(struct store *store, size_t index, bool newest_first,
	       store_take take, void *context)
{
	const struct store_block_data *block = block_at(store, index);
	uint8_t *data = block->data;
	size_t used = block->used;
	uint32_t bytes;
	int code = 0;

	/* Load a block that is in the file. */
	if (!data) {
		if (!store->loaded)
			store->loaded = malloc(BLOCK_BYTES);
		if (!store->loaded)
			return -ENOMEM;
		code = temp_file_read(store->fd, store->loaded, block->used,
				      block->slot * BLOCK_BYTES);
		if (code)
			return code;
		data = store->loaded;
	}
	for (size_t at = 0; !newest_first && at < used && !code;
	     at += ((struct store_entry *)(data + at))->bytes)
		code = entry_give(data + at, take, context);
	while (newest_first && used && !code) {
		memcpy(&bytes, data + used - sizeof(bytes), sizeof(bytes));
		used -= bytes;
		code = entry_give(data + used, take, context);
	}
	return code;
}
