// SPDX-License-Identifier: GPL-2.0
#include "model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/path.h"
#include "blocks.h"

void heap_model_init(struct heap_model *model, const struct heap_trace *trace)
{
	*model = (struct heap_model){
		.trace = trace, .peak_time = HEAP_NO_TIME,
	};
}

void heap_model_free(struct heap_model *model)
{
	heap_processes_free(&model->processes);
	key_map_free(&model->threads);
	free(model->thread_events);
}

/* ---- kinds of functions ---- */

enum block_kind { KIND_UNKNOWN, KIND_MALLOC, KIND_NEW, KIND_NEW_ARRAY,
		  KIND_MAP };

static enum block_kind function_kind(enum heap_function function)
{
	switch (function) {
	case HEAP_FUNCTION_NONE:
	case HEAP_FUNCTION_RELEASE_ANY:
		return KIND_UNKNOWN;
	case HEAP_FUNCTION_MMAP:
	case HEAP_FUNCTION_MUNMAP:
	case HEAP_FUNCTION_MREMAP:
		return KIND_MAP;
	default:
		if (function < HEAP_FUNCTION_NEW ||
		    function > HEAP_FUNCTION_DELETE_ARRAY_ALIGNED_NOTHROW)
			return KIND_MALLOC;
		return heap_function_is_array(function) ? KIND_NEW_ARRAY :
							  KIND_NEW;
	}
}

static bool kinds_differ(enum heap_function by, enum heap_function with)
{
	enum block_kind a = function_kind(by), b = function_kind(with);

	return a && b && a != b;
}

/* ---- sums ---- */

static void totals_take(struct heap_totals *totals, uint64_t bytes)
{
	totals->count--;
	totals->bytes -= bytes;
}

static void model_went(struct heap_model *model, const struct heap_block *block)
{
	if (block->old) {
		totals_take(&model->old, block->size);
		return;
	}
	heap_totals_add(&model->freed, block->size);
	totals_take(&model->live, block->size);
}

/* ---- blocks that come ---- */

/* What an event does: where, and which blocks of before it was about. */
struct change {
	struct heap_model *model;
	const struct heap_event *event;
	struct heap_step *step;
	struct heap_process *process;
	uint64_t since;		/* the thread's event before; the event itself:
				 * the thread isn't known */
	uint64_t made;		/* number of the event that made the block that
				 * went what it was */
};

static bool before_loss(const struct heap_model *model, uint64_t number)
{
	return model->losing || number <= model->loss;
}

/* Blocks that live where the new one lies. */
static void change_check_overlap(struct change *change, uint64_t address,
				 uint64_t size)
{
	struct heap_model *model = change->model;
	uint64_t last = size ? address + size - 1 : address;
	struct heap_entry *entry;

	if (change->process->maps || change->event->kind == HEAP_OLD ||
	    last < address)
		return;
	entry = heap_process_upto(change->process, last);
	if (!entry || before_loss(model, entry->changed))
		return;
	if (entry->block.address < address &&
	    address - entry->block.address >= entry->block.size)
		return;
	model->other = entry->block;
	change->step->other = &model->other;
	change->step->wrong |= HEAP_WRONG_OVERLAP;
	entry->doubted = model->events;
}

static uint64_t block_index(struct heap_model *model,
			    const struct heap_event *event)
{
	if (event->index > model->indices)
		model->indices = event->index;
	return event->index ? event->index : ++model->indices;
}

/* `resized`: the block that it was before, or NULL. */
static int change_come(struct change *change, const struct heap_block *resized)
{
	const struct heap_event *event = change->event;
	struct heap_model *model = change->model;
	struct heap_entry *entry = heap_process_entry(change->process,
						      event->address);
	struct heap_block block = {
		.address = event->address, .size = event->size,
		.index = resized ? resized->index : block_index(model, event),
		.number = resized ? resized->number : model->events,
		.time = event->time, .pid = event->pid, .tid = event->tid,
		.stack = event->stack, .function = event->function,
		.old = event->kind == HEAP_OLD,
	};
	struct heap_step *step;
	uint64_t bytes;
	uint64_t present;

	if (entry && entry->live) {
		/* The block at an address where another one comes. */
		step = change->step;
		if (change->event->kind == HEAP_REALLOC) {
			model->lost = entry->block;
			step->lost = &model->lost;
		} else {
			model->gone = entry->block;
			step->gone = &model->gone;
		}
		model_went(model, &entry->block);
		if (!change->process->maps &&
		    !before_loss(model, entry->changed)) {
			step->wrong |= HEAP_WRONG_TWICE;
			entry->doubted = model->events;
		}
		entry->displaced = model->events;
		entry->lost++;
		heap_process_remove(change->process, entry);
	}
	change_check_overlap(change, event->address, event->size);
	entry = heap_process_add(change->process, &block);
	if (!entry)
		return -ENOMEM;
	entry->changed = model->events;
	change->step->came = &entry->block;
	if (block.old) {
		heap_totals_add(&model->old, block.size);
		return 0;
	}
	bytes = block.size;
	heap_totals_add(&model->allocated, bytes);
	heap_totals_add(&model->live, bytes);
	present = model->live.bytes - model->left.bytes;
	if (present > model->peak.bytes || !model->peak.count) {
		model->peak.bytes = present;
		model->peak.count = model->live.count - model->left.count;
		model->peak_time = event->time;
		model->peak_number = model->events;
	}
	change->process->last = model->events;
	return 0;
}

/* ---- blocks that go ---- */

static bool name_begins(const struct heap_trace *trace, uint32_t string,
			const char *with)
{
	const char *name = path_base(heap_text(trace, string));

	return !strncmp(name, with, strlen(with));
}

/* All of the stack is libc's, down to where the thread began. */
static bool stack_is_libc(const struct heap_trace *trace, uint32_t stack)
{
	uint32_t module = trace->frames[trace->stacks[stack].frame].module;

	if (!name_begins(trace, module, "libc.so") &&
	    !name_begins(trace, module, "libc-2"))
		return false;
	for (; stack; stack = trace->stacks[stack].parent) {
		const struct heap_frame *frame =
			&trace->frames[trace->stacks[stack].frame];

		if (frame->stopped || frame->module != module)
			return false;
	}
	return true;
}

/* glibc's tcache_thread_shutdown() (malloc/malloc.c) frees what the cache of the
 * thread has by free() itself. */
static bool stack_empties_cache(const struct heap_trace *trace, uint32_t stack)
{
	const struct heap_frame *frame;

	if (!stack || stack >= trace->stack_count)
		return false;
	frame = &trace->frames[trace->stacks[stack].frame];
	if (!frame->symbol)
		return stack_is_libc(trace, stack);
	return name_begins(trace, frame->symbol, "tcache_thread_") ||
	       name_begins(trace, frame->symbol, "__malloc_arena_thread_f");
}

/* It isn't a block's address: what else it may be. */
static void change_unknown(struct change *change, uint64_t address,
			   const struct heap_entry *freed)
{
	struct heap_model *model = change->model;
	struct heap_entry *entry = heap_process_upto(change->process, address);

	change->step->cache = change->event->kind == HEAP_FREE &&
		stack_empties_cache(model->trace, change->event->stack);
	if (change->step->cache)
		return;
	if (change->process->maps) {
		entry = NULL;
		freed = NULL;
	}
	if (entry && address - entry->block.address < entry->block.size &&
	    !before_loss(model, entry->changed)) {
		model->other = entry->block;
		change->step->wrong |= HEAP_WRONG_INSIDE;
	} else if (freed && !before_loss(model, freed->changed)) {
		model->other = freed->block;
		change->step->wrong |= HEAP_WRONG_DOUBLE;
	} else {
		change->step->wrong |= HEAP_WRONG_UNKNOWN;
		model->unknown.count++;
		return;
	}
	change->step->other = &model->other;
}

/* A block that the parent had: from here on the process has its own. */
static int change_inherit(struct change *change,
			  const struct heap_block *block,
			  struct heap_entry **entry)
{
	struct heap_block own = *block;

	own.old = true;
	own.left = false;
	own.pid = change->process->pid;
	own.index = ++change->model->indices;
	*entry = heap_process_add(change->process, &own);
	if (!*entry)
		return -ENOMEM;
	(*entry)->changed = change->process->forked;
	heap_totals_add(&change->model->old, own.size);
	return 0;
}

/* It is recorded when the function returns, but the block went before. */
static bool event_is_late(const struct heap_event *event)
{
	return event->kind == HEAP_REALLOC ||
	       event->function == HEAP_FUNCTION_REALLOC ||
	       event->function == HEAP_FUNCTION_REALLOCARRAY;
}

/* A call that was under way when another thread got the address of its block,
 * so that this one was taken for lost. */
static bool change_claims(struct change *change, uint64_t address,
			  struct heap_entry *entry)
{
	const struct heap_event *event = change->event;

	if (!entry || !event_is_late(event))
		return false;
	if (entry->doubted > change->since) {
		change->step->excuses = true;
		change->step->since = change->since;
	}
	if (!entry->lost || entry->displaced <= change->since ||
	    (event->kind == HEAP_REALLOC && event->address == address))
		return false;
	entry->lost--;
	return true;
}

/* The block at `address` goes: by a FREE or a REALLOC. */
static int change_go(struct change *change, uint64_t address)
{
	struct heap_model *model = change->model;
	struct heap_process *process = change->process;
	struct heap_entry *entry = heap_process_entry(process, address);
	const struct heap_block *inherited =
		entry ? NULL : heap_process_inherited(process, address);

	if (inherited && change_inherit(change, inherited, &entry))
		return -ENOMEM;
	if (change_claims(change, address, entry)) {
		change->step->wrong |= HEAP_WRONG_LATE;
		return 0;
	}
	if (!entry || !entry->live) {
		change_unknown(change, address, entry);
		return 0;
	}
	model->gone = entry->block;
	change->step->gone = &model->gone;
	change->made = entry->changed;
	if (kinds_differ(model->gone.function, change->event->function))
		change->step->wrong |= HEAP_WRONG_KIND;
	model_went(model, &model->gone);
	heap_process_remove(process, entry);
	entry->changed = model->events;
	return 0;
}

/* ---- processes ---- */

static const struct heap_block *process_next(const struct heap_process *process,
					     size_t *at)
{
	while (++*at < process->count)
		if (process->entries[*at].live)
			return &process->entries[*at].block;
	return NULL;
}

/* The process that has the id of the event isn't any more. */
static void model_end(struct heap_model *model, struct heap_step *step)
{
	for (int maps = 0; maps < 2; maps++) {
		struct heap_process *process =
			heap_process_find(&model->processes, step->event->pid,
					  maps);
		const struct heap_block *block;

		if (!process)
			continue;
		heap_process_end(process);
		for (size_t at = 0; (block = process_next(process, &at)); )
			if (!block->old)
				heap_totals_add(&model->left, block->size);
		step->ended[maps] = process;
	}
}

static int model_fork(struct heap_model *model, struct heap_step *step)
{
	const struct heap_event *event = step->event;

	model_end(model, step);
	for (int maps = 0; maps < 2; maps++) {
		struct heap_process *parent, *process;

		parent = heap_process_find(&model->processes, event->parent,
					   maps);
		if (!parent || event->parent == event->pid)
			continue;
		process = heap_process_get(&model->processes, event->pid, maps);
		if (!process)
			return -ENOMEM;
		process->parent = parent;
		process->forked = model->events;
		parent->forks = true;
	}
	return 0;
}

const struct heap_block *heap_step_next_left(const struct heap_step *step,
					     struct heap_each *each)
{
	const struct heap_block *block;

	for (; each->maps < 2; each->maps++, each->at = 0) {
		block = step->ended[each->maps] ?
			process_next(step->ended[each->maps], &each->at) : NULL;
		if (block)
			return block;
	}
	return NULL;
}

/* ---- events ---- */

/* The thread is heard of. 0 or -ENOMEM. */
static int change_thread(struct change *change)
{
	const struct heap_event *event = change->event;
	struct heap_model *model = change->model;
	uint32_t thread;

	change->since = model->events;
	if (!event->tid || event->kind == HEAP_OLD)
		return 0;
	thread = key_map_serial(&model->threads,
				(uint64_t)event->pid << 32 | event->tid);
	if (!thread || !array_extend(&model->thread_events,
				     &model->thread_count, &model->thread_room,
				     sizeof(*model->thread_events), thread))
		return -ENOMEM;
	change->since = model->thread_events[thread];
	model->thread_events[thread] = model->events;
	return 0;
}

/* One of a block, or of none: address 0, unless a block is there: a program may
 * say so of itself (a memory tracker's stream). */
static int model_change(struct heap_model *model, struct heap_step *step)
{
	const struct heap_event *event = step->event;
	struct change change = {
		.model = model, .event = event, .step = step,
		.process = heap_process_get(&model->processes, event->pid,
				function_kind(event->function) == KIND_MAP),
	};
	const struct heap_block *gone;
	struct heap_block before;
	int ret;
	struct heap_entry *entry;

	if (!change.process || change_thread(&change))
		return -ENOMEM;
	if (event->kind == HEAP_REALLOC) {
		ret = 0;
		if (change.event->old)
			ret = change_go(&change, change.event->old);
		gone = change.step->gone;
		if (ret || !change.event->address)
			return ret;
		if (gone)
			before = *gone;
		return change_come(&change, gone ? &before : NULL);
	}
	if (event->kind == HEAP_ALLOC)
		return change_come(&change, NULL);
	if (!event->address && (event->kind == HEAP_OLD ||
				!heap_model_find(model, event->pid, 0)))
		return 0;
	if (event->kind == HEAP_OLD) {
		/* A block that the recording has already isn't an old one. */
		entry = heap_process_entry(change.process,
					   change.event->address);
		return entry && entry->live ? 0 : change_come(&change, NULL);
	}
	ret = change_go(&change, change.event->address);
	if (ret || !change.step->gone ||
	    change.made != change.process->last)
		return ret;
	change.step->temporary = true;
	change.model->temporary++;
	return 0;
}

int heap_model_apply(struct heap_model *model, const struct heap_event *event,
		     struct heap_step *step)
{
	*step = (struct heap_step){ .event = event };
	switch (event->kind) {
	case HEAP_ALLOC:
	case HEAP_REALLOC:
	case HEAP_FREE:
	case HEAP_OLD:
		step->number = ++model->events;
		return model_change(model, step);
	case HEAP_GROW:
	case HEAP_INTERNAL:
		step->number = ++model->events;
		return 0;
	case HEAP_FORK:
		return model_fork(model, step);
	case HEAP_EXEC:
	case HEAP_EXIT:
		model_end(model, step);
		return 0;
	case HEAP_LOSS:
		model->loss = model->events;
		model->losing = event->lasts;
		return 0;
	case HEAP_BEGIN:
		return 0;
	}
	return 0;
}

const struct heap_block *heap_model_next(const struct heap_model *model,
					 struct heap_each *each)
{
	const struct heap_block *block;

	if (!each->process && !each->at)
		each->process = model->processes.first;
	for (; each->process; each->process = each->process->next) {
		block = process_next(each->process, &each->at);
		if (block)
			return block;
		each->at = 0;
	}
	return NULL;
}

const struct heap_block *heap_model_find(const struct heap_model *model,
					 uint32_t pid, uint64_t address)
{
	for (int maps = 0; maps < 2; maps++) {
		const struct heap_process *process =
			heap_process_find(&model->processes, pid, maps);
		const struct heap_entry *entry = process ?
			heap_process_entry(process, address) : NULL;

		if (entry && entry->live)
			return &entry->block;
	}
	return NULL;
}
