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
	struct key_pairs symbols;	/* numbers, by begin and name */
};

/* ---- stacks: which are needed, and their indices ---- */

static void indices_find(struct callsite_builder *builder)
{
	const struct heap_profile *profile = builder->profile;
	const struct heap_trace *trace = builder->trace;
	size_t count = 0;

	for (size_t i = 0; i < profile->site_count; i++)
		for (uint32_t at = profile->sites[i].stack;
		     at && !builder->index[at]; at = trace->stacks[at].parent)
			builder->index[at] = 1;
	for (size_t i = 1; i < trace->stack_count; i++) {
		bool stopped = trace->frames[trace->stacks[i].frame].stopped;

		if (!builder->index[i])
			continue;
		builder->out->stopped |= stopped;
		builder->index[i] = stopped ? 0 : ++count;
	}
	builder->out->count = count;
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

static int items_make(struct callsite_builder *builder)
{
	const struct heap_profile *profile = builder->profile;
	const struct heap_trace *trace = builder->trace;
	struct callsites *out = builder->out;

	for (size_t i = 1; i < trace->stack_count; i++) {
		const struct heap_stack *stack = &trace->stacks[i];
		uint32_t index = builder->index[i];

		if (!index)
			continue;
		out->items[index - 1] = (struct callsite){
			.address = builder->addresses[stack->frame],
			.index = index,
			.parent = builder->index[stack->parent],
			.symbol = stack->frame,	/* until they are in order */
			.from = i < profile->site_at_size && profile->site_at[i]
				? &profile->sites[profile->site_at[i] - 1]
				: NULL,
		};
	}
	qsort(out->items, out->count, sizeof(*out->items), item_compare);
	for (size_t i = 0; i < out->count; i++) {
		struct callsite *item = &out->items[i];
		uint32_t frame = item->symbol;
		uint32_t name = callsite_frame_name(&trace->frames[frame]);

		out->place[item->index] = i;
		item->symbol = 0;
		if (!name)
			continue;
		item->symbol = key_pairs_serial(&builder->symbols,
						builder->begins[frame], name);
		if (!item->symbol)
			return -ENOMEM;
		if (item->symbol > out->symbol_count)
			out->symbols[out->symbol_count++] =
				(struct callsite_symbol){
					builder->begins[frame], name
				};
	}
	return 0;
}

/* ---- all ---- */

int callsites_make(struct callsites *callsites,
		   const struct heap_profile *profile)
{
	const struct heap_trace *trace = profile->trace;
	struct callsite_builder builder = {
		.out = callsites, .profile = profile, .trace = trace,
		.index = calloc(trace->stack_count + 1, sizeof(uint32_t)),
		.names = calloc(trace->frame_count + 1, sizeof(uint32_t)),
		.begins = calloc(trace->frame_count + 1, sizeof(uint64_t)),
		.addresses = calloc(trace->frame_count + 1, sizeof(uint64_t)),
	};
	size_t room;
	int ret = -ENOMEM;

	if (builder.index && builder.names && builder.begins &&
	    builder.addresses) {
		indices_find(&builder);
		addresses_find(&builder);
		room = callsites->count + 1;
		callsites->items = calloc(room, sizeof(*callsites->items));
		callsites->place = calloc(room, sizeof(*callsites->place));
		callsites->symbols = calloc(room, sizeof(*callsites->symbols));
		if (callsites->items && callsites->place && callsites->symbols)
			ret = items_make(&builder);
	}
	free(builder.index);
	free(builder.names);
	free(builder.begins);
	free(builder.addresses);
	key_pairs_free(&builder.symbols);
	return ret;
}

void callsites_free(struct callsites *callsites)
{
	free(callsites->items);
	free(callsites->place);
	free(callsites->symbols);
	*callsites = (struct callsites){ 0 };
}

/* ---- groups ---- */

/*
 * By index: what a call site's callers are together, as far as `before` has
 * the callers' own; 0: it has none. A caller's index is lower, so that in
 * place (before == now) all of them count.
 */
static bool callers_number(const struct callsites *sites,
			   struct key_pairs *pairs, const uint32_t *before,
			   uint32_t *now)
{
	for (uint32_t i = 1; i <= sites->count; i++) {
		const struct callsite *site = &sites->items[sites->place[i]];
		const struct callsite *caller;

		now[i] = 0;
		if (!site->parent)
			continue;
		caller = callsites_caller(sites, site);
		now[i] = key_pairs_serial(pairs,
					  callsites_place_key(sites, caller),
					  before[site->parent]);
		if (!now[i])
			return false;
	}
	return true;
}

/* The same for callers up to so many frames in all. */
static bool callers_compare(const struct callsites *sites,
			    struct key_pairs *pairs, unsigned int depth,
			    uint32_t *callers)
{
	size_t size = (sites->count + 1) * sizeof(*callers);
	uint32_t *before;
	bool done = true;

	if (!depth || depth > sites->count)
		return callers_number(sites, pairs, callers, callers);
	before = calloc(1, size);
	for (unsigned int i = 1; before && done && i < depth; i++) {
		key_pairs_free(pairs);
		done = callers_number(sites, pairs, before, callers);
		memcpy(before, callers, size);
	}
	free(before);
	return before && done;
}

/* Neighbours that are one place and have the same callers become one. */
static bool groups_fill(const struct callsites *sites,
			struct key_pairs *pairs, const uint32_t *callers,
			struct callsite_group *groups, uint32_t *group_of,
			size_t *count)
{
	size_t first = 0;

	key_pairs_free(pairs);
	for (size_t i = 0; i < sites->count; i++) {
		const struct callsite *site = &sites->items[i];
		uint32_t pair;

		if (!callsites_same_place(sites, site, &sites->items[first]))
			first = i;
		if (!site->from)
			continue;
		pair = key_pairs_serial(pairs, first, callers[site->index]);
		if (!pair)
			return false;
		if (pair > *count) {
			groups[*count].site = site;
			group_of[pair] = (*count)++;
		}
		heap_sums_add(&groups[group_of[pair]].sums, &site->from->sums);
	}
	return true;
}

struct callsite_group *callsites_groups(const struct callsites *sites,
					unsigned int depth, size_t *count)
{
	size_t room = sites->count + 1;
	uint32_t *callers = calloc(room, sizeof(*callers));
	uint32_t *group_of = calloc(room, sizeof(*group_of));
	struct callsite_group *groups = calloc(room, sizeof(*groups));
	struct key_pairs pairs = { 0 };

	*count = 0;
	if (!callers || !group_of || !groups ||
	    !callers_compare(sites, &pairs, depth, callers) ||
	    !groups_fill(sites, &pairs, callers, groups, group_of, count)) {
		free(groups);
		groups = NULL;
	}
	free(callers);
	free(group_of);
	key_pairs_free(&pairs);
	return groups;
}
