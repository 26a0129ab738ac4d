// SPDX-License-Identifier: GPL-2.0
/* What mprof, mpatrol's reader of profiling files, prints: tables, and the graph
 * of who calls whom on the way to an allocation. */
#include "style.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/key_map.h"
#include "lib/text.h"
#include "callsites.h"

/* What tables are in: bytes or, with -c, blocks. */
struct mprof_unit {
	const char *name;
	bool counts;
	int width;
	uint64_t allocated, left;	/* of all blocks */
};

struct mprof {
	FILE *out;
	const struct heap_profile *profile;
	struct style_mprof_options options;
	struct callsites callsites;
	struct mprof_unit bytes, count;
	const struct mprof_unit *unit, *other;	/* one of these, and the other */
};

/* Sums in a unit, by class and of all classes. */
struct mprof_figures {
	uint64_t allocated[HEAP_CLASSES], left[HEAP_CLASSES];
	uint64_t sum, left_sum;
};

static struct mprof_figures mprof_figures_of(const struct mprof_unit *unit,
					     const struct heap_sums *sums)
{
	const uint64_t *allocated =
		unit->counts ? sums->allocs : sums->alloc_bytes;
	const uint64_t *freed = unit->counts ? sums->frees : sums->free_bytes;
	struct mprof_figures figures;

	for (int i = 0; i < HEAP_CLASSES; i++) {
		figures.allocated[i] = allocated[i];
		figures.left[i] = allocated[i] - freed[i];
	}
	figures.sum = heap_classes_sum(figures.allocated);
	figures.left_sum = heap_classes_sum(figures.left);
	return figures;
}

static double mprof_percent(uint64_t part, uint64_t whole)
{
	return (double)part / (double)whole * 100.0;
}

/* The same; of nothing it is 0. */
static double mprof_share(uint64_t part, uint64_t whole)
{
	return whole ? mprof_percent(part, whole) : 0;
}

static void totals_find(struct mprof *mprof)
{
	const struct heap_profile *profile = mprof->profile;
	struct mprof_unit *bytes = &mprof->bytes, *count = &mprof->count;
	uint64_t bins = profile->bounds.bins;

	*bytes = (struct mprof_unit){ .name = "bytes", .width = 8 };
	*count = (struct mprof_unit){ "count", true, 6, 0, 0 };
	for (uint64_t i = 0; i < bins; i++) {
		uint64_t size = i < bins - 1 ? i + 1 : 0;

		count->allocated += profile->alloc_bins[i];
		count->left += profile->alloc_bins[i] - profile->free_bins[i];
		bytes->allocated += profile->alloc_bins[i] * size;
		bytes->left += (profile->alloc_bins[i] -
				profile->free_bins[i]) * size;
	}
	bytes->allocated += profile->large_alloc_bytes;
	bytes->left += profile->large_alloc_bytes - profile->large_free_bytes;
	mprof->unit = mprof->options.counts ? count : bytes;
	mprof->other = mprof->options.counts ? bytes : count;
}

/* ---- parts of tables ---- */

/* " s  m  l  x" in percent of the sum. */
static void classes_print(FILE *out, const uint64_t figures[HEAP_CLASSES],
			  uint64_t sum)
{
	for (int i = 0; i < HEAP_CLASSES; i++) {
		double percent = mprof_share(figures[i], sum);

		if (!figures[i] || !sum)
			fputs("   ", out);
		else if (percent <= 0.5)
			fputs("  .", out);
		else if (percent >= 99.5)
			fputs(" %%", out);
		else
			fprintf(out, " %2.0f", percent);
	}
}

static void dashes_print(FILE *out, int n)
{
	for (int i = 0; i < n; i++)
		putc('-', out);
}

static void title_print(FILE *out, int margin, const char *text)
{
	fprintf(out, "%*s%s\n\n", margin, "", text);
}

/* Two titles in the middle above lines as wide as their columns. */
static void heads_print(FILE *out, int margin, const char *left, int left_width,
			const char *right, int right_width)
{
	int before_left = (left_width - (int)strlen(left)) / 2;
	int before_right = (right_width - (int)strlen(right)) / 2;

	fprintf(out, "%*s%-*s  %*s%s\n", margin + before_left, "",
		left_width - before_left, left, before_right, "", right);
	fprintf(out, "%*s", margin, "");
	dashes_print(out, left_width);
	fputs("  ", out);
	dashes_print(out, right_width);
	putc('\n', out);
}

static void name_print(const struct mprof *mprof, FILE *out,
		       const struct callsite *site)
{
	const struct heap_trace *trace = mprof->profile->trace;
	const struct callsite_symbol *symbol;
	int64_t offset;

	if (!site->symbol) {
		fprintf(out, "0x%0*" PRIX64, trace->bits == 32 ? 8 : 16,
			site->address);
		return;
	}
	symbol = &mprof->callsites.symbols[site->symbol - 1];
	offset = site->address - symbol->address;
	safe_text_print(out, heap_text(trace, symbol->name), false);
	if (mprof->options.addresses && offset)
		fprintf(out, "%+" PRId64, offset);
}

/* ---- allocation bins ---- */

static void bin_print(const struct mprof *mprof, uint64_t bin)
{
	const struct heap_profile *profile = mprof->profile;
	const struct mprof_unit *count = &mprof->count, *bytes = &mprof->bytes;
	bool last = bin == profile->bounds.bins - 1;
	uint64_t n = profile->alloc_bins[bin];
	uint64_t left = n - profile->free_bins[bin];
	uint64_t size = n * (bin + 1), left_size = left * (bin + 1);

	if (last) {
		size = profile->large_alloc_bytes;
		left_size = size - profile->large_free_bytes;
	}
	fprintf(mprof->out, " %s %4" PRIu64 "  %6" PRIu64 "  %6.2f  %8" PRIu64
		"  %6.2f  %6" PRIu64 "  %6.2f  %8" PRIu64 "  %6.2f\n",
		last ? ">=" : "  ", bin + 1,
		n, mprof_percent(n, count->allocated),
		size, mprof_percent(size, bytes->allocated),
		left, mprof_share(left, count->left),
		left_size, mprof_share(left_size, bytes->left));
}

static void bins_print(const struct mprof *mprof)
{
	const struct heap_profile *profile = mprof->profile;
	bool any = false;

	title_print(mprof->out, 32, "ALLOCATION BINS");
	fprintf(mprof->out, "%29s(number of bins: %" PRIu64 ")\n\n", "",
		profile->bounds.bins);
	heads_print(mprof->out, 10, "allocated", 32, "unfreed", 32);
	fputs("    size   count       %     bytes       %   count       %"
	      "     bytes       %\n\n", mprof->out);
	for (uint64_t i = 0; i < profile->bounds.bins; i++) {
		if (!profile->alloc_bins[i])
			continue;
		bin_print(mprof, i);
		any = true;
	}
	fprintf(mprof->out, "%s   total  %6" PRIu64 "          %8" PRIu64
		"          %6" PRIu64 "          %8" PRIu64 "\n",
		any ? "\n" : "", mprof->count.allocated, mprof->bytes.allocated,
		mprof->count.left, mprof->bytes.left);
}

/* ---- rows: call sites taken together, largest first ---- */

struct mprof_row {
	uint64_t key;
	size_t order;			/* in which they were made */
	const struct callsite *site;	/* the first of those taken together */
	struct heap_sums sums;
};

/* Of equal ones the later one is first, as a walk down mpatrol's tree meets
 * them. */
static int mprof_row_compare(const void *a, const void *b)
{
	const struct mprof_row *one = a, *two = b;

	if (one->key != two->key)
		return one->key > two->key ? -1 : 1;
	return one->order > two->order ? -1 : one->order < two->order;
}

/* ---- direct allocations ---- */

static void direct_row_print(const struct mprof *mprof,
			     const struct mprof_row *row)
{
	const struct mprof_unit *all = mprof->unit;
	struct mprof_figures figures = mprof_figures_of(all, &row->sums);

	fprintf(mprof->out, "%*" PRIu64 "  %6.2f ", all->width, row->key,
		mprof_percent(row->key, all->allocated));
	classes_print(mprof->out, figures.allocated, all->allocated);
	fprintf(mprof->out, "  %*" PRIu64 "  %6.2f ", all->width,
		figures.left_sum, mprof_share(figures.left_sum, all->left));
	classes_print(mprof->out, figures.left, all->left);
	fprintf(mprof->out, "  %*" PRIu64 "  ", mprof->other->width,
		mprof_figures_of(mprof->other, &row->sums).sum);
	name_print(mprof, mprof->out, row->site);
	putc('\n', mprof->out);
}

static void direct_print(const struct mprof *mprof, struct mprof_row *rows)
{
	const struct heap_bounds *bounds = &mprof->profile->bounds;
	const struct mprof_unit *unit = mprof->unit, *other = mprof->other;
	int width = unit->width + 21;
	size_t count;
	struct heap_sums sums = { 0 };
	struct mprof_figures figures;
	const struct callsites *sites;

	/* One row for each place, for all of its callers. */
	sites = &mprof->callsites;
	count = 0;
	for (size_t i = 0; i < sites->count;) {
		const struct callsite *first = &sites->items[i++];
		struct mprof_row *row = &rows[count];

		if (!first->from)
			continue;
		*row = (struct mprof_row){ .site = first, .order = count++ };
		heap_sums_add(&row->sums, &first->from->sums);
		for (; i < sites->count &&
		       callsites_same_place(sites, &sites->items[i], first);
		     i++)
			if (sites->items[i].from)
				heap_sums_add(&row->sums,
					      &sites->items[i].from->sums);
		row->key = mprof_figures_of(mprof->unit, &row->sums).sum;
	}
	qsort(rows, count, sizeof(*rows), mprof_row_compare);

	title_print(mprof->out, 31, "DIRECT ALLOCATIONS");
	fprintf(mprof->out, "%20s(0 < s <= %" PRIu64 " < m <= %" PRIu64
		" < l <= %" PRIu64 " < x)\n\n", "", bounds->small,
		bounds->medium, bounds->large);
	heads_print(mprof->out, 0, "allocated", width, "unfreed", width);
	fprintf(mprof->out, "%*s       %%   s  m  l  x  %*s       %%"
		"   s  m  l  x  %*s  function\n\n", unit->width, unit->name,
		unit->width, unit->name, other->width, other->name);
	for (size_t i = 0; i < count; i++) {
		direct_row_print(mprof, &rows[i]);
		heap_sums_add(&sums, &rows[i].sums);
	}
	figures = mprof_figures_of(unit, &sums);
	fprintf(mprof->out, "%s%*" PRIu64 "         ", count ? "\n" : "",
		unit->width, unit->allocated);
	classes_print(mprof->out, figures.allocated, unit->allocated);
	fprintf(mprof->out, "  %*" PRIu64 "         ", unit->width, unit->left);
	classes_print(mprof->out, figures.left, unit->left);
	fprintf(mprof->out, "  %*" PRIu64 "  total\n", other->width,
		other->allocated);
}

/* ---- memory leaks ---- */

static size_t leak_rows(const struct mprof *mprof,
			const struct callsite_group *groups, size_t group_count,
			struct mprof_row *rows)
{
	size_t count = 0;

	for (size_t i = 0; i < group_count; i++) {
		uint64_t key = mprof_figures_of(mprof->unit,
						&groups[i].sums).left_sum;

		if (!key)
			continue;
		rows[count] = (struct mprof_row){
			key, count, groups[i].site, groups[i].sums,
		};
		count++;
	}
	qsort(rows, count, sizeof(*rows), mprof_row_compare);
	return count;
}

static void leak_row_print(const struct mprof *mprof,
			   const struct mprof_row *row)
{
	const struct callsite *site = row->site;
	struct mprof_figures figures =
		mprof_figures_of(mprof->unit, &row->sums);
	struct mprof_figures other =
		mprof_figures_of(mprof->other, &row->sums);
	unsigned int depth = mprof->options.depth;

	fprintf(mprof->out, "%6.2f  %*" PRIu64 "  %6.2f  %*" PRIu64
		"  %6.2f  %*" PRIu64 "  %*" PRIu64 "  ",
		mprof_percent(row->key, mprof->unit->left),
		mprof->unit->width, row->key,
		mprof_percent(row->key, figures.sum),
		mprof->other->width, other.left_sum,
		mprof_percent(other.left_sum, other.sum),
		mprof->unit->width, figures.sum, mprof->other->width, other.sum);
	name_print(mprof, mprof->out, site);
	putc('\n', mprof->out);
	for (unsigned int i = 1; site->parent && (!depth || i < depth); i++) {
		site = callsites_caller(&mprof->callsites, site);
		fprintf(mprof->out, "%60s", "");
		name_print(mprof, mprof->out, site);
		putc('\n', mprof->out);
	}
}

static int leaks_print(const struct mprof *mprof, struct mprof_row *rows)
{
	const struct mprof_unit *unit = mprof->unit, *other = mprof->other;
	size_t count;
	struct callsite_group *groups = callsites_groups(
		&mprof->callsites, mprof->options.depth, &count);

	if (!groups)
		return -ENOMEM;
	count = leak_rows(mprof, groups, count, rows);
	free(groups);
	title_print(mprof->out, 34, "MEMORY LEAKS");
	fprintf(mprof->out, "%28s(maximum stack depth: %u)\n\n", "",
		mprof->options.depth);
	heads_print(mprof->out, 0, "unfreed", 40, "allocated", 16);
	fprintf(mprof->out, "     %%  %*s       %%  %*s       %%  %*s  %*s"
		"  function\n\n", unit->width, unit->name, other->width,
		other->name, unit->width, unit->name, other->width, other->name);
	for (size_t i = 0; i < count; i++)
		leak_row_print(mprof, &rows[i]);
	fprintf(mprof->out, "%s        %*" PRIu64 "  %6.2f  %*" PRIu64
		"  %6.2f  %*" PRIu64 "  %*" PRIu64 "  total\n",
		count ? "\n" : "", unit->width, unit->left,
		mprof_share(unit->left, unit->allocated), other->width,
		other->left, mprof_share(other->left, other->allocated),
		unit->width, unit->allocated, other->width, other->allocated);
	return 0;
}

/* ---- the call graph ---- */

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
	struct callsite_group *stacks;	/* callers compared to the outermost */
	size_t stack_count;
	struct vertex *vertices;	/* from 1 */
	size_t vertex_count, vertex_room;
	struct edge *edges;		/* from 1 */
	size_t edge_count, edge_room;
	struct key_map vertex_numbers;	/* by symbol, or address */
	struct key_map edge_numbers;	/* by parent and child */
	uint32_t *order;		/* vertices as they are printed */
	uint32_t start, end;		/* vertices of the graph file; 0: none */
};

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
		   const struct callsite_group *group)
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
static int stack_add(struct callgraph *graph,
		     const struct callsite_group *group, uint64_t walk)
{
	const struct callsites *sites = &graph->mprof->callsites;
	const struct callsite *site = group->site;
	uint32_t parent, child = vertex_get(
		graph, callsites_place_key(sites, site), site);
	struct edge *edge;

	if (!child)
		return -ENOMEM;
	graph->vertices[child].visited = walk;
	if (graph->end && end_add(graph, child, graph->end, group))
		return -ENOMEM;
	for (; site->parent; child = parent) {
		site = callsites_caller(sites, site);
		parent = vertex_get(graph, callsites_place_key(sites, site),
				    site);
		edge = parent ? edge_get(graph, parent, child) : NULL;
		if (!edge)
			return -ENOMEM;
		if (graph->vertices[parent].visited == walk)
			edge->cycle = true;
		else
			heap_sums_add(&edge->sums, &group->sums);
		graph->vertices[parent].visited = walk;
	}
	return graph->start ? end_add(graph, graph->start, child, group) : 0;
}

static int callgraph_build(struct callgraph *graph)
{
	graph->stacks = callsites_groups(&graph->mprof->callsites, 0,
					 &graph->stack_count);
	if (!graph->stacks)
		return -ENOMEM;
	for (size_t i = 0; i < graph->stack_count; i++)
		if (stack_add(graph, &graph->stacks[i], i + 1))
			return -ENOMEM;
	return 0;
}

static void callgraph_free(struct callgraph *graph)
{
	free(graph->stacks);
	free(graph->vertices);
	free(graph->edges);
	free(graph->order);
	key_map_free(&graph->vertex_numbers);
	key_map_free(&graph->edge_numbers);
}

/* ---- its table ---- */

/* Symbols come first, then addresses. */
static int vertex_compare(const void *a, const void *b, void *context)
{
	const struct callgraph *graph = context;
	const struct callsite *one =
		graph->vertices[*(const uint32_t *)a].site;
	const struct callsite *two =
		graph->vertices[*(const uint32_t *)b].site;
	const struct callsites *sites = &graph->mprof->callsites;
	bool by_symbol = callsites_by_symbol(sites, one);

	if (by_symbol != callsites_by_symbol(sites, two))
		return by_symbol ? -1 : 1;
	if (by_symbol)
		return one->symbol < two->symbol ? -1 :
		       one->symbol > two->symbol;
	return one->address < two->address ? -1 : one->address > two->address;
}

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

static void edge_print(const struct callgraph *graph, const struct edge *edge,
		       uint32_t other)
{
	const struct mprof *mprof = graph->mprof;
	const struct vertex *vertex = &graph->vertices[other];
	struct mprof_figures figures =
		mprof_figures_of(mprof->unit, &edge->sums);

	fprintf(mprof->out, "%s%*" PRIu64 " ", edge->cycle ? " (*) " : "     ",
		mprof->unit->width, figures.sum);
	classes_print(mprof->out, figures.allocated, figures.sum);
	fprintf(mprof->out, "  %*" PRIu64 " ", mprof->unit->width,
		figures.left_sum);
	classes_print(mprof->out, figures.left, figures.left_sum);
	fputs("      ", mprof->out);
	name_print(mprof, mprof->out, vertex->site);
	fprintf(mprof->out, " [%" PRIu32 "]\n", vertex->index);
}

static void vertex_print(const struct callgraph *graph,
			 const struct vertex *vertex, int width)
{
	FILE *out = graph->mprof->out;
	char index[16];

	dashes_print(out, width);
	putc('\n', out);
	for (uint32_t i = vertex->parents; i; i = graph->edges[i].next_parent)
		edge_print(graph, &graph->edges[i], graph->edges[i].parent);
	snprintf(index, sizeof(index), "[%" PRIu32 "]", vertex->index);
	fprintf(out, "%-*s", width + 2, index);
	name_print(graph->mprof, out, vertex->site);
	fprintf(out, " %s\n", index);
	for (uint32_t i = vertex->children; i; i = graph->edges[i].next_child)
		edge_print(graph, &graph->edges[i], graph->edges[i].child);
}

static int callgraph_print(const struct mprof *mprof)
{
	struct callgraph graph = { .mprof = mprof };
	const struct mprof_unit *unit = mprof->unit;
	int ret = callgraph_build(&graph), width = unit->width + 13;
	size_t count = graph.vertex_count ? graph.vertex_count - 1 : 0;

	if (!ret)
		ret = vertices_order(&graph);
	if (!ret) {
		title_print(mprof->out, 29, "ALLOCATION CALL GRAPH");
		fprintf(mprof->out, "%28s(number of vertices: %zu)\n\n", "",
			count);
		heads_print(mprof->out, 5, "allocated", width, "unfreed", width);
		fprintf(mprof->out, "index%*s   s  m  l  x  %*s   s  m  l  x"
			"  function\n", unit->width, unit->name, unit->width,
			unit->name);
		for (size_t i = 0; i < count; i++)
			vertex_print(&graph, &graph.vertices[graph.order[i]],
				     5 + 2 * width + 2);
	}
	callgraph_free(&graph);
	return ret;
}

/* ---- the graph file, in the language of dot(1) ---- */

/* In quotes. 0 or -ENOMEM. */
static int vertex_write(const struct callgraph *graph, uint32_t number)
{
	const struct callsite *site = graph->vertices[number].site;
	FILE *out = graph->mprof->options.graph, *text;
	char *name = NULL;
	size_t size;
	bool failed;

	text = open_memstream(&name, &size);
	if (!text)
		return -ENOMEM;
	if (site)
		name_print(graph->mprof, text, site);
	else
		fputs(number == graph->start ? "START" : "ALLOC", text);
	failed = ferror(text);
	failed |= fclose(text);
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
	struct mprof_figures figures =
		mprof_figures_of(graph->mprof->unit, &edge->sums);
	int ret;

	if (options->leaks && !figures.left_sum)
		return 0;
	fputs("    ", options->graph);
	ret = vertex_write(graph, edge->parent);
	fputs(" -> ", options->graph);
	if (!ret)
		ret = vertex_write(graph, edge->child);
	fprintf(options->graph, " [label = \"%" PRIu64 "\"%s];\n",
		options->leaks ? figures.left_sum : figures.sum,
		edge->cycle ? ", style = dotted" : "");
	return ret;
}

/* From START by all callers to ALLOC, with what was allocated, or isn't freed,
 * on the way. */
static int callgraph_write(const struct mprof *mprof)
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
		if (next)
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

/* ---- all ---- */

int style_mprof_print(FILE *out, const struct heap_profile *profile,
		      const struct style_mprof_options *options,
		      struct error *err)
{
	struct mprof mprof = {
		.out = out, .profile = profile, .options = *options,
		.callsites.apart = options->addresses,
	};
	int ret = callsites_make(&mprof.callsites, profile);
	struct mprof_row *rows =
		calloc(mprof.callsites.count + 1, sizeof(*rows));

	if (!ret && rows) {
		totals_find(&mprof);
		bins_print(&mprof);
		fputs("\n\n", out);
		direct_print(&mprof, rows);
		fputs("\n\n", out);
		ret = leaks_print(&mprof, rows);
	}
	if (!ret && rows && options->call_graph) {
		fputs("\n\n", out);
		ret = callgraph_print(&mprof);
	}
	if (!ret && rows && options->graph)
		ret = callgraph_write(&mprof);
	free(rows);
	callsites_free(&mprof.callsites);
	return ret || !rows ? error_no_memory(err) : 0;
}
