// SPDX-License-Identifier: GPL-2.0
/*
 * massif.out, as valgrind's massif writes it and ms_print reads it: snapshots
 * of how much is allocated, some of them with the callers.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/text.h"
#include "heapmon/core/format.h"
#include "heapmon/core/trace.h"

struct massif_leaf {
	uint32_t stack;
	uint64_t bytes;
};

#define THRESHOLD	100	/* of so many parts, one is shown: 1.00% */
#define DEPTH_MAX	200	/* callers that are shown */

/* Leaves whose stacks go on with the same frame. */
struct massif_group {
	uint32_t frame;			/* 0: they end here */
	size_t first, count;		/* leaves */
	uint64_t bytes;
};

struct massif_tree {
	FILE *out;
	const struct heap_trace *trace;
	struct massif_leaf *leaves;	/* their stacks: those that follow */
	uint64_t total;
};

static uint32_t leaf_frame(const struct massif_tree *tree,
			   const struct massif_leaf *leaf)
{
	return leaf->stack ? tree->trace->stacks[leaf->stack].frame : 0;
}

static int by_frame(const void *a, const void *b, void *tree)
{
	uint32_t x = leaf_frame(tree, a), y = leaf_frame(tree, b);

	return x < y ? -1 : x > y;
}

static int by_bytes(const void *a, const void *b)
{
	const struct massif_group *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

/* Leaves in order, as groups, the largest first. NULL: no memory. */
static struct massif_group *massif_groups_make(struct massif_tree *tree,
					       size_t first, size_t count,
					       size_t *group_count)
{
	struct massif_group *groups =
		calloc(count ? count : 1, sizeof(*groups));
	struct massif_leaf *leaves = tree->leaves + first;
	size_t n = 0;

	if (!groups)
		return NULL;
	qsort_r(leaves, count, sizeof(*leaves), by_frame, tree);
	for (size_t i = 0; i < count; i++) {
		uint32_t frame = leaf_frame(tree, &leaves[i]);

		if (!i || groups[n - 1].frame != frame)
			groups[n++] =
				(struct massif_group){frame, first + i, 0, 0};
		groups[n - 1].count++;
		groups[n - 1].bytes += leaves[i].bytes;
	}
	qsort(groups, n, sizeof(*groups), by_bytes);
	*group_count = n;
	return groups;
}

static void frame_put(const struct massif_tree *tree, uint32_t number)
{
	const struct heap_trace *trace = tree->trace;
	const struct heap_frame *frame = &trace->frames[number];
	char name[4096];

	heap_frame_name(trace, number, name, sizeof(name));
	fprintf(tree->out, "0x%" PRIX64 ": ", frame->address);
	safe_text_print(tree->out, name, false);
	if (frame->file) {
		fputs(" (", tree->out);
		safe_text_print(tree->out, heap_text(trace, frame->file),
				false);
		fprintf(tree->out, ":%u)", frame->line);
	} else if (frame->module) {
		fputs(" (in ", tree->out);
		safe_text_print(tree->out, heap_text(trace, frame->module),
				false);
		putc(')', tree->out);
	}
}

/* Those who have less than a hundredth of all are one line. The outermost has no
 * frame. */
static int node_write(struct massif_tree *tree, const struct massif_group *node,
		      unsigned int depth)
{
	uint64_t least = tree->total / THRESHOLD + !!(tree->total % THRESHOLD);
	size_t count, shown = 0;
	struct massif_group *groups;
	uint64_t bytes = 0;
	int code = 0;

	for (size_t i = 0; node->frame && i < node->count; i++) {
		struct massif_leaf *leaf = &tree->leaves[node->first + i];

		leaf->stack = tree->trace->stacks[leaf->stack].parent;
	}
	groups = massif_groups_make(tree, node->first, node->count, &count);
	if (!groups)
		return -ENOMEM;
	if (depth == DEPTH_MAX ||
	    (node->frame && count == 1 && !groups[0].frame))
		count = 0;
	while (shown < count && groups[shown].bytes >= least)
		shown++;
	for (size_t i = shown; i < count; i++)
		bytes += groups[i].bytes;

	fprintf(tree->out, "%*sn%zu: %" PRIu64 " ", (int)depth, "",
		shown + (shown < count), node->bytes);
	if (node->frame)
		frame_put(tree, node->frame);
	else
		fputs("(heap allocation functions) malloc/new/new[], "
		      "--alloc-fns, etc.", tree->out);
	putc('\n', tree->out);
	depth++;
	for (size_t i = 0; i < shown && !code; i++)
		if (groups[i].frame)
			code = node_write(tree, &groups[i], depth);
		else
			fprintf(tree->out, "%*sn0: %" PRIu64
				" 0x0: (no callers are known)\n", (int)depth,
				"", groups[i].bytes);
	if (shown < count)
		fprintf(tree->out, "%*sn0: %" PRIu64 " in %zu place%s below "
			"massif's threshold (1.00%%)\n", (int)depth, "", bytes,
			count - shown, count - shown == 1 ? "," : "s, all");
	free(groups);
	return code;
}

/* Write the tree of `count` leaves, which are changed by it; `total` bytes are
 * all that are. 0 or -ENOMEM. */
static int massif_tree_write(FILE *out, const struct heap_trace *trace,
			     struct massif_leaf *leaves, size_t count,
			     uint64_t total)
{
	struct massif_tree tree = { out, trace, leaves, total };
	struct massif_group all = { .count = count, .bytes = total };

	return node_write(&tree, &all, 0);
}

#define SNAPSHOTS	100	/* as many as massif keeps */
#define DETAILED	10	/* each so manieth has a tree */
#define CREDIT		4	/* leaves that each event pays for */
#define MS		1000000	/* ns */
#define SPAN_MIN	(100 * MS)	/* the time of shorter runs is in bytes */

struct snapshot {
	uint64_t number;		/* of the event */
	int64_t time;
	uint64_t passed;		/* bytes that came and went so far */
	uint64_t bytes;
	struct massif_leaf *leaves;	/* NULL: they would cost too much */
	size_t leaf_count;
};

/* What is there of a stack. When the heap was largest it was `at_peak`, unless
 * nothing has changed since: then it is as it is. */
struct site {
	uint64_t bytes, at_peak;
	uint64_t changed;		/* since the peak of this number */
};

struct massif {
	struct heap_output *output;
	struct site *sites;		/* by stack */
	size_t site_count, site_room;
	struct snapshot now, peak, snapshots[SNAPSHOTS];
	uint64_t peaks;
	size_t count;
	uint64_t interval;		/* between snapshots */
	uint64_t credit;		/* leaves that may be kept */
	bool old_warned;
	bool exhausted;			/* memory was: a snapshot lacks leaves */
};

/* ---- what is allocated ---- */

static int massif_site_change(struct massif *massif,
			      const struct heap_block *block, bool came)
{
	const struct heap_trace *trace = massif->output->trace;
	uint64_t bytes = block->size;	/* that it represents */
	struct site *site;

	if (trace->sample)
		bytes = heap_rounded(bytes * heap_trace_weight(trace, bytes));
	if (block->old) {
		if (!massif->old_warned)
			heap_output_warn(massif->output,
					 "old blocks are left out");
		massif->old_warned = true;
		return 0;
	}
	if (!array_extend(&massif->sites, &massif->site_count,
			  &massif->site_room, sizeof(*massif->sites),
			  block->stack))
		return -ENOMEM;
	site = &massif->sites[block->stack];
	if (site->changed < massif->peaks) {
		site->at_peak = site->bytes;
		site->changed = massif->peaks;
	}
	site->bytes += came ? bytes : -bytes;
	massif->now.bytes += came ? bytes : -bytes;
	massif->now.passed += bytes;
	return 0;
}

/* ---- snapshots ---- */

static struct massif_leaf *leaves_make(const struct massif *massif, bool peak,
				       size_t *count)
{
	struct massif_leaf *leaves = calloc(massif->site_count + 1,
					    sizeof(*leaves));

	*count = 0;
	for (size_t i = 0; leaves && i < massif->site_count; i++) {
		const struct site *site = &massif->sites[i];
		uint64_t bytes = peak && site->changed == massif->peaks ?
			site->at_peak : site->bytes;

		if (bytes)
			leaves[(*count)++] = (struct massif_leaf){ i, bytes };
	}
	return leaves;
}

/* Times don't go back, but may be any. */
static uint64_t time_between(const struct snapshot *from,
			     const struct snapshot *to)
{
	return (uint64_t)to->time - (uint64_t)from->time;
}

static void massif_snapshot_take(struct massif *massif)
{
	struct snapshot *snapshot;
	const struct snapshot *last;

	if (massif->count == SNAPSHOTS) {
		/* Every second one goes, and from now on as many are taken. */
		last = &massif->snapshots[massif->count - 1];
		massif->interval = time_between(&massif->snapshots[0], last) /
				   (SNAPSHOTS / 2);
		for (size_t i = 1; i < massif->count; i += 2)
			free(massif->snapshots[i].leaves);
		massif->count /= 2;
		for (size_t i = 1; i < massif->count; i++)
			massif->snapshots[i] = massif->snapshots[2 * i];
	}
	snapshot = &massif->snapshots[massif->count++];
	*snapshot = massif->now;
	if (massif->credit < massif->site_count)
		return;
	massif->credit -= massif->site_count;
	snapshot->leaves = leaves_make(massif, false, &snapshot->leaf_count);
	massif->exhausted |= !snapshot->leaves;
}

static int massif_step(struct heap_output *output, void *state,
		       const struct heap_model *model,
		       const struct heap_step *step, struct error *err)
{
	struct massif *massif = state;
	struct heap_each each = { 0 };
	const struct heap_block *left;
	int code;
	int64_t time;

	if (!step->gone && !step->came && !step->ended[0] && !step->ended[1])
		return 0;
	time = step->event->time;
	massif->now.number = step->number;
	if (time == HEAP_NO_TIME)
		time = step->number;
	if (time > massif->now.time || !massif->count)
		massif->now.time = time;
	if (!massif->count)
		massif_snapshot_take(massif);
	/* their stacks have been met, so there is memory */
	while ((left = heap_step_next_left(step, &each)))
		massif_site_change(massif, left, false);
	code = 0;
	if (step->gone)
		code = massif_site_change(massif, step->gone, false);
	if (!code && step->lost)
		code = massif_site_change(massif, step->lost, false);
	if (!code && step->came && step->event->kind != HEAP_OLD)
		code = massif_site_change(massif, step->came, true);
	if (code)
		return error_no_memory(err);
	massif->credit += CREDIT;
	if (massif->now.bytes > massif->peak.bytes) {
		massif->peak = massif->now;
		massif->peaks++;
	}
	if (time_between(&massif->snapshots[massif->count - 1],
			 &massif->now) >= massif->interval)
		massif_snapshot_take(massif);
	return massif->exhausted ? error_no_memory(err) : 0;
}

/* ---- the file ---- */

/* The peak among the snapshots, in the place of one that is the same. Where it
 * is; NULL: there is none. */
static const struct snapshot *peak_insert(const struct massif *massif,
					  struct snapshot *all, size_t *count)
{
	size_t at = 0;

	if (!massif->peaks)
		return NULL;
	while (at < *count && all[at].number < massif->peak.number)
		at++;
	/* before the first event there is nothing yet */
	if (!at && *count && all[0].number == massif->peak.number)
		at++;
	if (at == *count || all[at].number != massif->peak.number) {
		memmove(all + at + 1, all + at, (*count - at) * sizeof(*all));
		++*count;
	}
	all[at] = massif->peak;
	return &all[at];
}

static void massif_head_put(const struct massif *massif)
{
	const struct heap_trace *trace = massif->output->trace;
	FILE *out = massif->output->file;

	fputs("desc: heapmon", out);
	if (trace->sample)
		fprintf(out, ", sampled by %" PRIu64 " bytes", trace->sample);
	if (trace->min_size)
		fprintf(out, ", blocks from %" PRIu64 " bytes on",
			trace->min_size);
	if (trace->lost == HEAP_LOST_UNKNOWN)
		fputs(", some events lost", out);
	else if (trace->lost)
		fprintf(out, ", %" PRIu64 " events lost", trace->lost);
	fputs("\ncmd: ", out);
	safe_text_print(out, trace->command ?
			heap_text(trace, trace->command) : "(unknown)", false);
	putc('\n', out);
}

static int massif_write(struct massif *massif)
{
	const struct heap_trace *trace = massif->output->trace;
	FILE *out = massif->output->file;
	struct snapshot all[SNAPSHOTS + 2];
	const struct snapshot *peak;
	size_t count = massif->count;
	bool real;			/* times; else bytes that passed */
	int code = 0;

	massif->peak.leaves = leaves_make(massif, true,
					  &massif->peak.leaf_count);
	if (!massif->peak.leaves)
		return -ENOMEM;
	memcpy(all, massif->snapshots, count * sizeof(*all));
	if (!count || all[count - 1].number != massif->now.number)
		all[count++] = massif->now;
	peak = peak_insert(massif, all, &count);
	massif_head_put(massif);
	real = !trace->no_time && time_between(all, &all[count - 1]) >= SPAN_MIN;
	fprintf(out, "time_unit: %s\n", real ? "ms" : "B");
	for (size_t i = 0; i < count && !code; i++) {
		bool detailed = &all[i] == peak ||
			(i % DETAILED == DETAILED - 1 && all[i].leaves);

		fprintf(out, "#-----------\nsnapshot=%zu\n#-----------\n"
			"time=%" PRIu64 "\nmem_heap_B=%" PRIu64 "\n"
			"mem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=%s\n",
			i, real ? time_between(all, &all[i]) / MS :
			all[i].passed, all[i].bytes,
			&all[i] == peak ? "peak" :
			detailed ? "detailed" : "empty");
		if (detailed)
			code = massif_tree_write(out, trace, all[i].leaves,
						 all[i].leaf_count,
						 all[i].bytes);
	}
	return code;
}

static int massif_begin(struct heap_output *output, void *state,
			struct error *err)
{
	((struct massif *)state)->output = output;
	heap_output_warn(output,
			 "single blocks, threads and types are left out");
	return 0;
}

static int massif_end(struct heap_output *output, void *state,
		      const struct heap_model *model, bool failed,
		      struct error *err)
{
	struct massif *massif = state;
	int code = failed ? 0 : massif_write(massif);

	for (size_t i = 0; i < massif->count; i++)
		free(massif->snapshots[i].leaves);
	free(massif->peak.leaves);
	free(massif->sites);
	return code ? error_no_memory(err) : 0;
}

const struct heap_format format_massif = {
	.name = "massif",
	.tags = true,
	.help = "valgrind's massif.out, for ms_print (written only)",
	.state_size = sizeof(struct massif),
	.begin = massif_begin,
	.step = massif_step,
	.end = massif_end,
};
