// SPDX-License-Identifier: GPL-2.0
#include "massif_tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "lib/safe_text.h"

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

static void rest_write(const struct massif_tree *tree,
		       const struct massif_group *groups, size_t count,
		       unsigned int depth)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		bytes += groups[i].bytes;
	if (count)
		fprintf(tree->out, "%*sn0: %" PRIu64 " in %zu place%s below "
			"massif's threshold (1.00%%)\n", (int)depth, "", bytes,
			count, count == 1 ? "," : "s, all");
}

static int node_write(struct massif_tree *tree, const struct massif_group *node,
		      unsigned int depth);

static int children_write(struct massif_tree *tree,
			  const struct massif_group *groups, size_t count,
			  unsigned int depth)
{
	int code = 0;

	for (size_t i = 0; i < count && !code; i++) {
		if (groups[i].frame)
			code = node_write(tree, &groups[i], depth);
		else
			fprintf(tree->out, "%*sn0: %" PRIu64
				" 0x0: (no callers are known)\n",
				(int)depth, "", groups[i].bytes);
	}
	return code;
}

/* The outermost has no frame. */
static int node_write(struct massif_tree *tree, const struct massif_group *node,
		      unsigned int depth)
{
	size_t count, shown;
	struct massif_group *groups;
	int code;
	uint64_t least;

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

	/* The groups are shown in lines of their own, the largest first, but
	 * for those that have less than a hundredth of all. */
	least = tree->total / THRESHOLD + !!(tree->total % THRESHOLD);
	shown = 0;
	while (shown < count && groups[shown].bytes >= least)
		shown++;

	fprintf(tree->out, "%*sn%zu: %" PRIu64 " ", (int)depth, "",
		shown + (shown < count), node->bytes);
	if (node->frame)
		frame_put(tree, node->frame);
	else
		fputs("(heap allocation functions) malloc/new/new[], "
		      "--alloc-fns, etc.", tree->out);
	putc('\n', tree->out);
	code = children_write(tree, groups, shown, depth + 1);
	rest_write(tree, groups + shown, count - shown, depth + 1);
	free(groups);
	return code;
}

int massif_tree_write(FILE *out, const struct heap_trace *trace,
		      struct massif_leaf *leaves, size_t count, uint64_t total)
{
	struct massif_tree tree = { out, trace, leaves, total };
	struct massif_group all = { .count = count, .bytes = total };

	return node_write(&tree, &all, 0);
}
