// SPDX-License-Identifier: GPL-2.0
#include "mtrc_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "heapmon/core/warn.h"
#include "bytes.h"
#include "caller.h"
#include "displaced.h"
#include "index_set.h"
#include "rebase.h"

#define SLOTS	32	/* of mptrace, which has no more */

/* The names that the reader has in its slots. */
struct mtrc_slots {
	char *names[SLOTS];	/* NULL: none yet */
	uint64_t used[SLOTS];	/* when, the last time */
	uint64_t now;
};

struct mtrc_writer {
	struct heap_output *output;
	struct mpatrol_out out;
	struct mtrc_slots functions, files;
	struct index_set live;	/* blocks that are in the file */
	struct rebase *rebase;	/* with --rebase: all is kept there first */
	uint32_t pid;		/* of the first event */
	bool pids, times, callers, functions_lost;
	bool failed;		/* no memory */
};

/* ---- records ---- */

static bool slot_has(const struct mtrc_slots *cache, int slot, const char *name)
{
	return cache->names[slot] &&
	       !strncmp(cache->names[slot], name, CALLER_NAME_SIZE - 1);
}

/* The slot of the name; else one that is free, or was used the longest ago. */
static int mtrc_slot_find(const struct mtrc_slots *cache, const char *name)
{
	int oldest = 0;

	for (int slot = 0; slot < SLOTS; slot++) {
		if (!cache->names[slot] || slot_has(cache, slot, name))
			return slot;
		if (cache->used[slot] < cache->used[oldest])
			oldest = slot;
	}
	return oldest;
}

static void mtrc_name_write(struct mtrc_writer *writer,
			    struct mtrc_slots *cache, const char *name)
{
	FILE *file = writer->out.file;
	int slot = mtrc_slot_find(cache, name);
	char *copy;

	if (!*name) {
		putc(0, file);
		return;
	}
	cache->used[slot] = ++cache->now;
	if (slot_has(cache, slot, name)) {
		putc(slot + 1, file);
		return;
	}
	copy = strndup(name, CALLER_NAME_SIZE - 1);
	if (!copy) {
		writer->failed = true;
		return;
	}
	free(cache->names[slot]);
	cache->names[slot] = copy;
	putc(0x80 | (slot + 1), file);
	fwrite(copy, 1, strlen(copy) + 1, file);
}

static void record_put(void *context, const struct mtrc_record *record)
{
	struct mtrc_writer *writer = context;
	struct mpatrol_out *out = &writer->out;
	struct caller caller;

	putc(record->letter, out->file);
	if (record->letter != 'H' && record->letter != 'I')
		mpatrol_put_leb128(out, record->index);
	if (record->letter != 'F') {
		mpatrol_put_leb128(out, record->address);
		mpatrol_put_leb128(out, record->size);
	}
	if (record->letter == 'H' || record->letter == 'I')
		return;
	caller_find(writer->output->trace, record->stack, &caller);
	mpatrol_put_leb128(out, record->thread);
	mtrc_name_write(writer, &writer->functions, caller.function);
	mtrc_name_write(writer, &writer->files, caller.file);
	mpatrol_put_leb128(out, caller.line);
}

static void mtrc_record_write(struct mtrc_writer *writer, char letter,
			      const struct heap_step *step,
			      const struct heap_block *block)
{
	struct mtrc_record record = {
		.letter = letter,
		.index = block ? block->index : 0,
		.address = step->event->address,
		.size = step->event->size,
		.thread = step->event->tid,
		.stack = step->event->stack,
	};

	if (writer->rebase)
		rebase_keep(writer->rebase, &record);
	else
		record_put(writer, &record);
}

/* ---- steps ---- */

static void mtrc_leave_out(struct mtrc_writer *writer, const char *what)
{
	heap_output_warn(writer->output, what);
}

static void free_write(struct mtrc_writer *writer, const struct heap_step *step,
		       const struct heap_block *gone)
{
	if (gone && index_set_has(&writer->live, gone->index)) {
		index_set_remove(&writer->live, gone->index);
		mtrc_record_write(writer, 'F', step, gone);
	} else if (gone) {
		mtrc_leave_out(
			writer,
			"frees of blocks that were there before the recording are left out");
	} else {
		mtrc_leave_out(writer, "frees of unknown blocks are left out");
	}
}

static void mtrc_block_step(struct mtrc_writer *writer,
			    const struct heap_step *step)
{
	const struct heap_block *lost = mpatrol_displaced(step);

	if (!step->came) {
		free_write(writer, step, step->gone);
		return;
	}
	if (lost && !lost->old) {
		mtrc_leave_out(
			writer,
			"frees are put in for blocks in whose place others came");
		free_write(writer, step, lost);
	}
	if (index_set_has(&writer->live, step->came->index)) {
		mtrc_record_write(writer, 'R', step, step->came);
		return;
	}
	if (!index_set_add(&writer->live, step->came->index))
		writer->failed = true;
	mtrc_record_write(writer, 'A', step, step->came);
}

/* Note what the file can't hold. */
static void note_unheld(struct mtrc_writer *writer,
			const struct heap_event *event)
{
	const struct heap_trace *trace = writer->output->trace;

	if (!writer->pid)
		writer->pid = event->pid;
	writer->pids |= event->pid != writer->pid;
	writer->times |= event->time != HEAP_NO_TIME;
	writer->functions_lost |= event->function || event->tag;
	writer->callers |= event->stack && event->stack < trace->stack_count &&
			   trace->stacks[event->stack].depth > 1;
}

static void step_write(struct mtrc_writer *writer,
		       const struct heap_step *step)
{
	switch (step->event->kind) {
	case HEAP_ALLOC:
	case HEAP_REALLOC:
	case HEAP_FREE:
		note_unheld(writer, step->event);
		mtrc_block_step(writer, step);
		break;
	case HEAP_GROW:
		mtrc_record_write(writer, 'H', step, NULL);
		break;
	case HEAP_INTERNAL:
		mtrc_record_write(writer, 'I', step, NULL);
		break;
	case HEAP_OLD:
		mtrc_leave_out(
			writer,
			"blocks that were there before the recording are left out");
		break;
	default:
		break;
	}
}

/* ---- the format's functions ---- */

static int mtrc_begin(struct heap_output *output, void *state,
		      struct error *err)
{
	struct mtrc_writer *writer = state;
	int ret = 0;

	writer->output = output;
	writer->out = (struct mpatrol_out){
		output->file, mpatrol_form_wanted(output->options), false
	};
	if (output->options->rebase)
		ret = rebase_new(&writer->rebase, err);
	if (!ret)
		mpatrol_put_header(&writer->out, MTRC_MAGIC);
	return ret;
}

static int mtrc_step(struct heap_output *output, void *state,
		     const struct heap_model *model,
		     const struct heap_step *step, struct error *err)
{
	struct mtrc_writer *writer = state;

	step_write(writer, step);
	return writer->failed ? error_no_memory(err) : 0;
}

static void mtrc_warn_unheld(const struct mtrc_writer *writer)
{
	static const char *const texts[] = {
		"processes are not distinguished; --pid selects one",
		"times are left out",
		"of the callers only the innermost is kept",
		"the functions of the allocator are left out",
	};
	const bool unheld[] = { writer->pids, writer->times, writer->callers,
				writer->functions_lost };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (unheld[i])
			heap_output_warn(writer->output, texts[i]);
}

static int mtrc_end(struct heap_output *output, void *state,
		    const struct heap_model *model, bool failed,
		    struct error *err)
{
	struct mtrc_writer *writer = state;
	int ret = 0;

	if (!failed && writer->rebase)
		ret = rebase_replay(writer->rebase, record_put, writer, err);
	if (!failed && !ret)
		ret = writer->failed ? error_no_memory(err) :
		      mpatrol_put_check(&writer->out, err);
	if (!failed && !ret) {
		mpatrol_put_magic(&writer->out, MTRC_MAGIC);
		mtrc_warn_unheld(writer);
	}
	for (int i = 0; i < SLOTS; i++) {
		free(writer->functions.names[i]);
		free(writer->files.names[i]);
	}
	index_set_free(&writer->live);
	rebase_free(writer->rebase);
	return ret;
}

const struct heap_format format_mtrc = {
	.name = "mtrc",
	.words = true,
	.help = "mpatrol tracing (mpatrol.trace)",
	.detect = mtrc_detect,
	.read_events = mtrc_read_events,
	.state_size = sizeof(struct mtrc_writer),
	.begin = mtrc_begin,
	.step = mtrc_step,
	.end = mtrc_end,
};
