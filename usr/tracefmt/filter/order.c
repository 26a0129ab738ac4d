// SPDX-License-Identifier: GPL-2.0
#include "order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/array.h"
#include "lib/outfile.h"

/* ---- events that wait ---- */

/*
 * A queue of events with their records: added at the end, given up at the front
 * by whole blocks, read in either direction. The newest blocks are in memory,
 * the others in an unnamed file of TMPDIR.
 */

/* What a block holds. */
struct store_block {
	uint64_t first, last;	/* numbers of its events, which ascend */
	uint64_t selected;	/* so many of them */
	int64_t newest;		/* the latest of their times */
};

/* Takes an event, which stays for the call only; not 0: no more. */
typedef int (*store_take)(void *context, const struct event *event,
			  bool selected);

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

/* NULL: no memory. */
static struct store *store_open(void)
{
	struct store *store = calloc(1, sizeof(*store));

	if (store)
		store->fd = -1;
	return store;
}

static void store_close(struct store *store)
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

/* Give up the first block. */
static void store_drop(struct store *store)
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

/* 0, or a negative errno; the record is copied. */
static int store_add(struct store *store, const struct event *event,
		     bool selected)
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

/* All events of a block, backwards if `newest_first`. 0, a negative errno, or
 * what take() returned. */
static int store_read(struct store *store, size_t index, bool newest_first,
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

/* ---- the order ---- */

struct order {
	struct order_settings settings;
	order_take take;
	void *context;
	bool direct;		/* nothing of what follows is there */
	/* --since and --until of the trace's end */
	struct store *undecided;
	int64_t newest;		/* of all events so far */
	/* --around */
	struct store *before;	/* events that were not selected, the newest */
	uint64_t following;	/* so many more follow a selected one */
	/* --last, --newest-first */
	struct store *kept;
	uint64_t selected;	/* of these */
	size_t from;		/* the block of the first that is wanted */
	uint64_t from_selected;	/* in the blocks from there on */
	uint64_t skip;		/* order_end(): selected ones to be left out */
	uint64_t first;		/* the first number that is wanted */
};

static bool store_want(struct store **store, bool wanted)
{
	*store = wanted ? store_open() : NULL;
	return *store || !wanted;
}

struct order *order_open(const struct order_settings *settings,
			 order_take take, void *context)
{
	struct order *order = calloc(1, sizeof(*order));

	if (!order)
		return NULL;
	order->settings = *settings;
	order->take = take;
	order->context = context;
	order->newest = INT64_MIN;
	if (!store_want(&order->undecided,
			settings->since_end || settings->until_end) ||
	    !store_want(&order->before, settings->around) ||
	    !store_want(&order->kept,
			settings->last || settings->newest_first)) {
		order_close(order);
		return NULL;
	}
	order->direct = !order->undecided && !order->before && !order->kept;
	return order;
}

void order_close(struct order *order)
{
	if (!order)
		return;
	store_close(order->undecided);
	store_close(order->before);
	store_close(order->kept);
	free(order);
}

/* ---- --last ---- */

/* Give up the blocks in front of the last N selected events and what is
 * around them. A new block has been begun. */
static void kept_trim(struct order *order)
{
	uint64_t around = order->settings.around;
	struct store *kept = order->kept;
	struct store_block block;

	for (;;) {
		block = block_at(kept, order->from)->holds;
		if (order->from_selected - block.selected <
		    order->settings.last)
			break;
		order->from_selected -= block.selected;
		order->from++;
	}
	while (order->from) {
		block = block_at(kept, 0)->holds;
		if (block_at(kept, order->from)->holds.first - block.last <=
		    around)
			break;
		store_drop(kept);
		order->selected -= block.selected;
		order->from--;
	}
}

static int order_event_give(struct order *order, const struct event *event,
			    bool selected)
{
	size_t blocks;
	int code;

	if (!order->kept)
		return order->take(order->context, event);
	blocks = order->kept->count;
	code = store_add(order->kept, event, selected);
	if (code)
		return code;
	order->selected += selected;
	order->from_selected += selected;
	if (order->settings.last && order->kept->count > blocks)
		kept_trim(order);
	return 0;
}

/* ---- --around ---- */

static int before_take(void *context, const struct event *event, bool selected)
{
	struct order *order = context;

	return event->number < order->first ? 0 :
	       order_event_give(order, event, selected);
}

/* Those in front of a selected event that weren't given yet. */
static int before_give(struct order *order, uint64_t number)
{
	uint64_t around = order->settings.around;
	int code = 0;

	order->first = number > around ? number - around : 0;
	for (size_t i = 0; i < order->before->count && !code; i++)
		code = store_read(order->before, i, false, before_take, order);
	while (order->before->count)
		store_drop(order->before);
	return code;
}

static int before_keep(struct order *order, const struct event *event)
{
	int code = store_add(order->before, event, false);

	while (!code &&
	       event->number - block_at(order->before, 0)->holds.last >=
	       order->settings.around)
		store_drop(order->before);
	return code;
}

static int decided_add(struct order *order, const struct event *event,
		       bool selected)
{
	int code;

	if (order->settings.around) {
		if (selected) {
			code = before_give(order, event->number);
			order->following = order->settings.around;
			return code ? code :
				      order_event_give(order, event, true);
		}
		if (!order->following)
			return before_keep(order, event);
		order->following--;
		return order_event_give(order, event, false);
	}
	return selected ? order_event_give(order, event, true) : 0;
}

/* ---- the trace's end ---- */

/* Is it in the wanted span, if the trace ends with the newest event? */
static bool end_has(const struct order *order, const struct event *event)
{
	uint64_t distance = (uint64_t)order->newest - (uint64_t)event->time;
	const struct order_settings *s = &order->settings;

	return (!s->since_end || distance <= s->since_end) &&
	       (!s->until_end || distance >= s->until_end);
}

static int undecided_take(void *context, const struct event *event,
			  bool selected)
{
	struct order *order = context;

	return decided_add(order, event, selected && end_has(order, event));
}

/* No later event changes the result of end_has() for the first block. */
static bool block_is_decided(const struct order *order)
{
	struct store_block block = block_at(order->undecided, 0)->holds;
	uint64_t distance = (uint64_t)order->newest - (uint64_t)block.newest;
	const struct order_settings *s = &order->settings;

	return s->since_end ? distance > s->since_end :
			      distance >= s->until_end;
}

int order_add(struct order *order, const struct event *event, bool selected)
{
	int code;

	if (order->direct)
		return selected ? order->take(order->context, event) : 0;
	if (!order->undecided)
		return decided_add(order, event, selected);
	code = 0;
	if (order->newest < event->time)
		order->newest = event->time;
	if (selected || order->settings.around)
		code = store_add(order->undecided, event, selected);
	while (!code && order->undecided->count > 1 &&
	       block_is_decided(order)) {
		code = store_read(order->undecided, 0, false, undecided_take,
				  order);
		store_drop(order->undecided);
	}
	return code;
}

/* ---- the end ---- */

/* Positive: the first event that is wanted has been found. */
static int order_first_find(void *context, const struct event *event,
			    bool selected)
{
	struct order *order = context;

	if (!selected || order->skip--)
		return 0;
	order->first = event->number > order->settings.around ?
		       event->number - order->settings.around : 0;
	return 1;
}

static int first_set(struct order *order)
{
	size_t blocks = order->kept->count;
	int code = 0;

	order->first = 0;
	if (!order->settings.last || order->selected <= order->settings.last)
		return 0;
	order->skip = order->selected - order->settings.last;
	for (size_t i = 0; i < blocks && !code; i++)
		code = store_read(order->kept, i, false, order_first_find,
				  order);
	return code < 0 ? code : 0;
}

static int kept_take(void *context, const struct event *event, bool selected)
{
	struct order *order = context;

	return event->number < order->first ? 0 :
	       order->take(order->context, event);
}

int order_end(struct order *order)
{
	bool newest_first = order->settings.newest_first;
	size_t blocks;
	int code;

	code = 0;
	while (!code && order->undecided && order->undecided->count) {
		code = store_read(order->undecided, 0, false, undecided_take,
				  order);
		store_drop(order->undecided);
	}
	if (code || !order->kept)
		return code;
	code = first_set(order);
	blocks = order->kept->count;
	for (size_t i = 0; i < blocks && !code; i++)
		code = store_read(order->kept,
				  newest_first ? blocks - 1 - i : i,
				  newest_first, kept_take, order);
	return code;
}
