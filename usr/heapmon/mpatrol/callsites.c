// SPDX-License-Identifier: GPL-2.0
#include "callsites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/key_map.h"

#define MADE_UP_FIRST	0x1000	/* address of the first place without one */

struct callsite_builder {
	struct callsites *out;
	const struct heap_profile *profile;
	const struct heap_trace *trace;
	uint32_t *index;	/* by stack; 0: it is not needed */
	uint32_t *names;	/* frames without an address, by name */
	size_t name_count;
	uint64_t *begins;	/* by frame: of its symbol */
	uint64_t *addresses;	/* by frame */
	struct key_map symbols;		/* numbers, by hash of name and begin */
};


/* ---- stacks: which are needed, and their indices ---- */

static void stack_mark(struct callsite_builder *builder, uint32_t stack)
{
	for (; stack && !builder->index[stack];
	     stack = builder->trace->stacks[stack].parent)
		builder->index[stack] = 1;
}

/* ---- addresses ---- */

/* Of the symbol, or else of the file that the place is in. */
static uint32_t callsite_frame_name(const struct heap_frame *frame)
{
	return frame->symbol ? frame->symbol : frame->module;
}

static int callsite_name_compare(const void *a, const void *b, void *context)
{
	const struct heap_trace *trace = context;
	const struct heap_frame *one = &trace->frames[*(const uint32_t *)a];
	const struct heap_frame *two = &trace->frames[*(const uint32_t *)b];

	if (callsite_frame_name(one) != callsite_frame_name(two))
		return callsite_frame_name(one) < callsite_frame_name(two) ? -1
									   : 1;
	if (one->file != two->file)
		return one->file < two->file ? -1 : 1;
	if (one->line != two->line)
		return one->line < two->line ? -1 : 1;
	return (one > two) - (one < two);
}

static void addresses_find(struct callsite_builder *builder)
{
	const struct heap_trace *trace = builder->trace;
	uint64_t begin;

	for (size_t i = 1; i < trace->stack_count; i++) {
		uint32_t number = trace->stacks[i].frame;
		const struct heap_frame *frame = &trace->frames[number];

		if (!builder->index[i] || builder->addresses[number])
			continue;
		if (frame->address) {
			builder->addresses[number] = frame->address;
			builder->begins[number] = frame->address -
				(frame->symbol ? frame->offset :
						 frame->module_offset);
		} else {
			builder->addresses[number] = MADE_UP_FIRST;
			builder->names[builder->name_count++] = number;
		}
	}

	/* Frames of one symbol follow one another, its begin is where the first
	 * is. */
	begin = MADE_UP_FIRST;
	builder->out->made_up = builder->name_count;
	qsort_r(builder->names, builder->name_count, sizeof(*builder->names),
		callsite_name_compare, (void *)trace);
	for (size_t i = 0; i < builder->name_count; i++) {
		uint32_t frame = builder->names[i];

		if (i && callsite_frame_name(&trace->frames[frame]) !=
				 callsite_frame_name(
					 &trace->frames[builder->names[i - 1]]))
			begin = MADE_UP_FIRST + i;
		builder->addresses[frame] = MADE_UP_FIRST + i;
		builder->begins[frame] = begin;
	}
}

/* ---- items ---- */

static int item_compare(const void *a, const void *b)
{
	const struct callsite *one = a, *two = b;

	if (one->address != two->address)
		return one->address < two->address ? -1 : 1;
	return one->index < two->index ? -1 : one->index > two->index;
}

/* Number of the symbol, from 1; 0: no memory. */
static uint32_t symbol_number(struct callsite_builder *builder, uint32_t name,
			      uint64_t address)
{
	struct callsites *out = builder->out;
	uint64_t hash = key_map_mix(key_map_mix(0, name), address);
	size_t step = 0;
	uint32_t number;

	while ((number = key_map_each_number(&builder->symbols, hash, &step)))
		if (out->symbols[number - 1].name == name &&
		    out->symbols[number - 1].address == address)
			return number;
	number = out->symbol_count + 1;
	if (key_map_add_number(&builder->symbols, hash, number))
		return 0;
	out->symbols[out->symbol_count++] = (struct callsite_symbol){
		address, name
	};
	return number;
}

static int symbols_number(struct callsite_builder *builder)
{
	for (size_t i = 0; i < builder->out->count; i++) {
		struct callsite *item = &builder->out->items[i];
		uint32_t frame = item->symbol;
		uint32_t name =
			callsite_frame_name(&builder->trace->frames[frame]);

		item->symbol = 0;
		if (!name)
			continue;
		item->symbol = symbol_number(builder, name,
					     builder->begins[frame]);
		if (!item->symbol)
			return -ENOMEM;
	}
	return 0;
}

/* ---- all ---- */

static void *room_for(size_t count, size_t size)
{
	return calloc(count ? count : 1, size);
}

static int builder_run(struct callsite_builder *builder)
{
	const struct heap_trace *trace = builder->trace;
	struct callsites *out = builder->out;
	const struct heap_profile *profile = builder->profile;
	size_t count;

	builder->index = room_for(trace->stack_count, sizeof(uint32_t));
	builder->names = room_for(trace->frame_count, sizeof(uint32_t));
	builder->begins = room_for(trace->frame_count, sizeof(uint64_t));
	builder->addresses = room_for(trace->frame_count, sizeof(uint64_t));
	if (!builder->index || !builder->names || !builder->begins ||
	    !builder->addresses)
		return -ENOMEM;
	count = 0;
	for (size_t i = 0; i < profile->site_count; i++)
		stack_mark(builder, profile->sites[i].stack);
	for (size_t i = 1; i < builder->trace->stack_count; i++) {
		if (!builder->index[i])
			continue;
		if (builder->trace->frames[builder->trace->stacks[i].frame]
			    .stopped) {
			builder->index[i] = 0;
			builder->out->stopped = true;
		} else {
			builder->index[i] = ++count;
		}
	}
	builder->out->count = count;
	addresses_find(builder);
	out->items = room_for(out->count, sizeof(*out->items));
	out->symbols = room_for(out->count, sizeof(*out->symbols));
	if (!out->items || !out->symbols)
		return -ENOMEM;
	for (size_t i = 1; i < trace->stack_count; i++) {
		uint32_t index = builder->index[i];
		const struct heap_stack *stack = &trace->stacks[i];
		struct callsite *item;

		if (!index)
			continue;
		item = &builder->out->items[index - 1];
		*item = (struct callsite){
			.address = builder->addresses[stack->frame],
			.index = index,
			.parent = builder->index[stack->parent],
			/* for now; see symbols_number() */
			.symbol = stack->frame,
		};
		if (i < profile->site_at_size && profile->site_at[i])
			item->from = &profile->sites[profile->site_at[i] - 1];
	}
	qsort(out->items, out->count, sizeof(*out->items), item_compare);
	return symbols_number(builder);
}

int callsites_make(struct callsites *callsites,
		   const struct heap_profile *profile)
{
	struct callsite_builder builder = {
		.out = callsites, .profile = profile, .trace = profile->trace,
	};
	int ret;

	*callsites = (struct callsites){ 0 };
	ret = builder_run(&builder);
	free(builder.index);
	free(builder.names);
	free(builder.begins);
	free(builder.addresses);
	key_map_free(&builder.symbols);
	return ret;
}

void callsites_free(struct callsites *callsites)
{
	free(callsites->items);
	free(callsites->symbols);
	*callsites = (struct callsites){ 0 };
}
