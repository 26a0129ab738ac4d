// SPDX-License-Identifier: GPL-2.0
#include "callgraph.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/key_map.h"

/* Keys of the vertices START and ALLOC, which no symbol has. */
#define KEY_START	UINT64_MAX
#define KEY_ALLOC	(UINT64_MAX - UINT32_MAX - 1)

struct vertex {
	const struct callsite *site;	/* the first that was met there; NULL:
					 * `start` or `end` */
	uint32_t index;			/* from 1, as they are printed */
	uint64_t visited;		/* by which stack, the last time */
	uint32_t parents, children;	/* first edges; 0: none */
	uint32_t last_parent, last_child;
};

struct edge {
	uint32_t parent, child;		/* vertices */
	uint32_t next_parent;		/* of the child's */
	uint32_t next_child;		/* of the parent's */
	bool cycle;
	bool written;
	struct heap_sums sums;
};

struct callgraph {
	const struct mprof *mprof;
	struct vertex *vertices;	/* from 1 */
	size_t vertex_count, vertex_room;
	struct edge *edges;		/* from 1 */
	size_t edge_count, edge_room;
	struct key_map vertex_numbers;	/* by symbol, or address */
	struct key_map edge_numbers;	/* by parent and child */
	uint32_t *order;		/* vertices as they are printed */
	uint32_t start, end;		/* vertices of the graph file; 0: none */
};

/* ---- building ---- */

/* The number of the vertex with that key, made if there is none; 0: no memory. */
static uint32_t vertex_get(struct callgraph *graph, uint64_t key,
			   const struct callsite *site)
{
	uint32_t number = key_map_serial(&graph->vertex_numbers, key);

	if (!number || number < graph->vertex_count)
		return number;
	if (!array_extend(&graph->vertices, &graph->vertex_count,
			  &graph->vertex_room, sizeof(*graph->vertices),
			  number))
		return 0;
	graph->vertices[number].site = site;
	return number;
}

static void edge_link(struct callgraph *graph, uint32_t number)
{
	struct edge *edge = &graph->edges[number];
	struct vertex *parent = &graph->vertices[edge->parent];
	struct vertex *child = &graph->vertices[edge->child];

	if (parent->last_child)
		graph->edges[parent->last_child].next_child = number;
	else
		parent->children = number;
	parent->last_child = number;
	if (child->last_parent)
		graph->edges[child->last_parent].next_parent = number;
	else
		child->parents = number;
	child->last_parent = number;
}

/* NULL: no memory. */
static struct edge *edge_get(struct callgraph *graph, uint32_t parent,
			     uint32_t child)
{
	uint32_t number = key_map_serial(&graph->edge_numbers,
					 (uint64_t)parent << 32 | child);

	if (number && number < graph->edge_count)
		return &graph->edges[number];
	if (!number || !array_extend(&graph->edges, &graph->edge_count,
				     &graph->edge_room, sizeof(*graph->edges),
				     number))
		return NULL;
	graph->edges[number].parent = parent;
	graph->edges[number].child = child;
	edge_link(graph, number);
	return &graph->edges[number];
}

/* The graph file's edges from START and to ALLOC. */
static int end_add(struct callgraph *graph, uint32_t parent, uint32_t child,
		   const struct mprof_group *group)
{
	struct edge *edge = parent && child ? edge_get(graph, parent, child) :
					      NULL;

	if (!edge)
		return -ENOMEM;
	heap_sums_add(&edge->sums, &group->sums);
	return 0;
}

/* Walk to the outermost. What a stack allocates counts once at a place: an edge
 * that comes back to one is part of a cycle. */
static int stack_add(struct callgraph *graph, const struct mprof_group *group,
		     uint64_t walk)
{
	const struct callsite *site = group->site;
	uint32_t child = vertex_get(graph, mprof_place_key(graph->mprof, site),
				    site);

	if (!child)
		return -ENOMEM;
	graph->vertices[child].visited = walk;
	if (graph->end && end_add(graph, child, graph->end, group))
		return -ENOMEM;
	while (site->parent) {
		struct edge *edge;
		uint32_t parent;

		site = mprof_caller(graph->mprof, site);
		parent = vertex_get(graph, mprof_place_key(graph->mprof, site),
				    site);
		edge = parent ? edge_get(graph, parent, child) : NULL;
		if (!edge)
			return -ENOMEM;
		if (graph->vertices[parent].visited == walk)
			edge->cycle = true;
		else
			heap_sums_add(&edge->sums, &group->sums);
		graph->vertices[parent].visited = walk;
		child = parent;
	}
	return graph->start ? end_add(graph, graph->start, child, group) : 0;
}

static int vertex_compare(const void *a, const void *b, void *context)
{
	const struct callgraph *graph = context;
	const struct callsite *one =
		graph->vertices[*(const uint32_t *)a].site;
	const struct callsite *two =
		graph->vertices[*(const uint32_t *)b].site;
	bool by_symbol = mprof_by_symbol(graph->mprof, one);

	if (by_symbol != mprof_by_symbol(graph->mprof, two))
		return by_symbol ? -1 : 1;
	if (by_symbol)
		return one->symbol < two->symbol ? -1 :
		       one->symbol > two->symbol;
	return one->address < two->address ? -1 : one->address > two->address;
}

/* Symbols come first, then addresses. */
static int vertices_order(struct callgraph *graph)
{
	size_t count = graph->vertex_count ? graph->vertex_count - 1 : 0;

	graph->order = calloc(count + 1, sizeof(*graph->order));
	if (!graph->order)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		graph->order[i] = i + 1;
	qsort_r(graph->order, count, sizeof(*graph->order), vertex_compare,
		graph);
	for (size_t i = 0; i < count; i++)
		graph->vertices[graph->order[i]].index = i + 1;
	return 0;
}

static int callgraph_build(struct callgraph *graph)
{
	const struct mprof *mprof = graph->mprof;

	for (size_t i = 0; i < mprof->stack_count; i++)
		if (stack_add(graph, &mprof->stacks[i], i + 1))
			return -ENOMEM;
	return 0;
}

static void callgraph_free(struct callgraph *graph)
{
	free(graph->vertices);
	free(graph->edges);
	free(graph->order);
	key_map_free(&graph->vertex_numbers);
	key_map_free(&graph->edge_numbers);
}

/* ---- printing ---- */

static void edge_print(const struct callgraph *graph, const struct edge *edge,
		       uint32_t other)
{
	const struct mprof *mprof = graph->mprof;
	const struct vertex *vertex = &graph->vertices[other];
	const uint64_t *allocated = mprof_allocated(mprof, &edge->sums);
	uint64_t sum = heap_classes_sum(allocated), left[HEAP_CLASSES];
	uint64_t left_sum = mprof_left(mprof, &edge->sums, left);

	fprintf(mprof->out, "%s%*" PRIu64 " ", edge->cycle ? " (*) " : "     ",
		mprof->width, sum);
	mprof_classes_print(mprof->out, allocated, sum);
	fprintf(mprof->out, "  %*" PRIu64 " ", mprof->width, left_sum);
	mprof_classes_print(mprof->out, left, left_sum);
	fputs("      ", mprof->out);
	mprof_name_print(mprof, vertex->site);
	fprintf(mprof->out, " [%" PRIu32 "]\n", vertex->index);
}

static void vertex_print(const struct callgraph *graph,
			 const struct vertex *vertex, int width)
{
	const struct mprof *mprof = graph->mprof;
	char index[16];

	for (int i = 0; i < width; i++)
		putc('-', mprof->out);
	putc('\n', mprof->out);
	for (uint32_t i = vertex->parents; i; i = graph->edges[i].next_parent)
		edge_print(graph, &graph->edges[i], graph->edges[i].parent);
	snprintf(index, sizeof(index), "[%" PRIu32 "]", vertex->index);
	fprintf(mprof->out, "%-*s", width + 2, index);
	mprof_name_print(mprof, vertex->site);
	fprintf(mprof->out, " %s\n", index);
	for (uint32_t i = vertex->children; i; i = graph->edges[i].next_child)
		edge_print(graph, &graph->edges[i], graph->edges[i].child);
}

int callgraph_print(const struct mprof *mprof)
{
	struct callgraph graph = { .mprof = mprof };
	int ret = callgraph_build(&graph);
	size_t count;
	int width;

	if (!ret)
		ret = vertices_order(&graph);
	if (!ret) {
		count = graph.vertex_count ? graph.vertex_count - 1 : 0;
		width = mprof->width + 13;
		fprintf(mprof->out, "%29sALLOCATION CALL GRAPH\n\n",
			"");
		fprintf(mprof->out,
			"%28s(number of vertices: %zu)\n\n", "", count);
		mprof_heads(mprof->out, 5, "allocated", width,
			    "unfreed", width);
		fprintf(mprof->out,
			"index%*s   s  m  l  x  %*s   s  m  l  x"
			"  function\n",
			mprof->width, mprof->unit,
			mprof->width, mprof->unit);
		for (size_t i = 0; i < count; i++)
			vertex_print(&graph, &graph.vertices[graph.order[i]],
				     5 + 2 * width + 2);
	}
	callgraph_free(&graph);
	return ret;
}

/* ---- the graph file ---- */

/* In quotes. 0 or -ENOMEM. */
static int callgraph_name_write(const struct callgraph *graph, uint32_t number)
{
	const struct callsite *site = graph->vertices[number].site;
	struct mprof named = *graph->mprof;
	FILE *out = named.options.graph;
	char *name = NULL;
	size_t size;
	bool failed;

	named.out = open_memstream(&name, &size);
	if (!named.out)
		return -ENOMEM;
	if (site)
		mprof_name_print(&named, site);
	else
		fputs(number == graph->start ? "START" : "ALLOC", named.out);
	failed = ferror(named.out);
	failed |= fclose(named.out);
	putc('"', out);
	for (const char *at = name; !failed && *at; at++) {
		if (*at == '"' || *at == '\\')
			putc('\\', out);
		putc(*at, out);
	}
	putc('"', out);
	free(name);
	return failed ? -ENOMEM : 0;
}

static int edge_write(const struct callgraph *graph, const struct edge *edge)
{
	const struct style_mprof_options *options = &graph->mprof->options;
	uint64_t left[HEAP_CLASSES], sum;
	int ret;

	if (options->leaks)
		sum = mprof_left(graph->mprof, &edge->sums, left);
	else
		sum = heap_classes_sum(
			mprof_allocated(graph->mprof, &edge->sums));
	if (options->leaks && !sum)
		return 0;
	fputs("    ", options->graph);
	ret = callgraph_name_write(graph, edge->parent);
	fputs(" -> ", options->graph);
	if (!ret)
		ret = callgraph_name_write(graph, edge->child);
	fprintf(options->graph, " [label = \"%" PRIu64 "\"%s];\n", sum,
		edge->cycle ? ", style = dotted" : "");
	return ret;
}

int callgraph_write(const struct mprof *mprof)
{
	struct callgraph graph = { .mprof = mprof };
	FILE *out = mprof->options.graph;
	int ret;
	uint32_t *next;
	size_t depth;

	graph.start = vertex_get(&graph, KEY_START, NULL);
	graph.end = vertex_get(&graph, KEY_ALLOC, NULL);
	ret = graph.start && graph.end ? callgraph_build(&graph) : -ENOMEM;
	fprintf(out, "/* produced by heapmon report --style=mprof */\n\n"
		"digraph \"%s call graph\"\n{\n",
		mprof->options.leaks ? "memory leak" : "allocation");
	if (!ret) {
		/* Each edge once, followed by the edges of the place that it
		 * leads to. */
		next = calloc(graph.edge_count + 2, sizeof(*next));
		depth = 0;
		ret = next ? 0 : -ENOMEM;
		if (!ret)
			next[depth++] = graph.vertices[graph.start].children;
		while (!ret && depth) {
			struct edge *edge = &graph.edges[next[depth - 1]];

			if (!next[depth - 1]) {
				depth--;
				continue;
			}
			next[depth - 1] = edge->next_child;
			if (edge->written)
				continue;
			edge->written = true;
			ret = edge_write(&graph, edge);
			next[depth++] = graph.vertices[edge->child].children;
		}
		free(next);
	}
	fputs("}\n", out);
	callgraph_free(&graph);
	return ret;
}
