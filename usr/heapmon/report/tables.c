// SPDX-License-Identifier: GPL-2.0
/* The report as text. */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "lib/safe_text.h"

#define SECOND	1e9

struct report_tables {
	FILE *out;
	const struct digest *digest;
	const struct report_settings *settings;
};

static double share(double of, double all)
{
	return all ? of * 100 / all : 0;
}

/* How long the trace is, in seconds; 0: not known. */
static double duration(const struct digest *digest)
{
	if (digest->begin == HEAP_NO_TIME)
		return 0;
	return ((uint64_t)digest->end - (uint64_t)digest->begin) / SECOND;
}

static size_t rows(const struct report_tables *tables, size_t count)
{
	uint32_t top = tables->settings->top;

	return top && top < count ? top : count;
}

static void print_more(const struct report_tables *tables, size_t count,
		       const char *what)
{
	size_t shown = rows(tables, count);

	if (shown < count)
		fprintf(tables->out, "  ... and %zu more %s (--top=0 for all)\n",
			count - shown, what);
}

static void report_print_stack(const struct report_tables *tables,
			       uint32_t stack, const char *indent)
{
	const struct heap_trace *trace = tables->digest->trace;
	uint32_t depth = tables->settings->depth, left = depth;
	char text[1024];

	if (!stack)
		fprintf(tables->out, "%s(no stack)\n", indent);
	for (uint32_t at = stack; at; at = trace->stacks[at].parent) {
		if (depth && !left--) {
			fprintf(tables->out, "%s... %" PRIu32 " more\n", indent,
				trace->stacks[at].depth);
			return;
		}
		heap_frame_print(trace, trace->stacks[at].frame, text,
				 sizeof(text));
		fprintf(tables->out, "%s%s\n", indent, text);
	}
}

/* ---- the heading ---- */

static void print_sum(const struct report_tables *tables, const char *name,
		      const struct digest_sum *sum, const char *more)
{
	fprintf(tables->out, "  %-11s %12.0f blocks %16.0f bytes%s\n", name,
		sum->count, sum->bytes, more);
}

static int print_summary(const struct report_tables *tables)
{
	const struct digest *digest = tables->digest;
	char at[64] = "";

	fputs("\nsummary\n", tables->out);
	print_sum(tables, "allocated", &digest->allocated, "");
	print_sum(tables, "freed", &digest->freed, "");
	print_sum(tables, "not freed", &digest->kept,
		  digest->left.count ? ", processes that ended included" : "");
	if (digest->peak_time != HEAP_NO_TIME)
		snprintf(at, sizeof(at), " at %.3f s",
			 ((uint64_t)digest->peak_time -
			  (uint64_t)digest->begin) / SECOND);
	if (!digest->sums) {
		print_sum(tables, "peak", &digest->peak, at);
		fprintf(tables->out, "  %-11s %12.0f blocks, %.1f %%\n",
			"temporary", digest->temporary,
			share(digest->temporary, digest->allocated.count));
	}
	if (digest->old.count)
		print_sum(tables, "old", &digest->old,
			  ", there at the begin: in no other figure");
	if (digest->unknown)
		fprintf(tables->out, "  %-11s %12" PRIu64
			" releases of blocks that were never seen\n",
			"unknown", digest->unknown);
	if (digest->reserved.count)
		print_sum(tables, "reserved", &digest->reserved,
			  " that the heap grew by");
	if (digest->processes > 1)
		fprintf(tables->out, "  %-11s %12" PRIu32 "\n", "processes",
			digest->processes);
	return 0;
}

/* ---- tables of stacks ---- */

static void row_live(const struct report_tables *tables,
		     const struct digest_site *site)
{
	fprintf(tables->out, "  %12.0f %16.0f %6.1f", site->kept.count,
		site->kept.bytes,
		share(site->kept.bytes, tables->digest->kept.bytes));
	if (tables->digest->begin != HEAP_NO_TIME)
		fprintf(tables->out, " %12.3f s %12.3f s",
			site->youngest / SECOND, site->oldest / SECOND);
}

static void row_peak(const struct report_tables *tables,
		     const struct digest_site *site)
{
	fprintf(tables->out, "  %12.0f %16.0f %6.1f", site->peak.count,
		site->peak.bytes,
		share(site->peak.bytes, tables->digest->peak.bytes));
}

static void row_allocated(const struct report_tables *tables,
			  const struct digest_site *site)
{
	double seconds = duration(tables->digest);

	fprintf(tables->out, "  %12.0f %16.0f %6.1f %12.1f",
		site->allocated.count, site->allocated.bytes,
		share(site->allocated.count, tables->digest->allocated.count),
		site->allocated.bytes / site->allocated.count);
	if (seconds)
		fprintf(tables->out, " %14.1f %16.1f",
			site->allocated.count / seconds,
			site->allocated.bytes / seconds);
}

static void row_temporary(const struct report_tables *tables,
			  const struct digest_site *site)
{
	fprintf(tables->out, "  %12.0f %12.0f %6.1f %16.0f", site->temporary,
		site->allocated.count,
		share(site->temporary, site->allocated.count),
		site->allocated.bytes);
}

struct site_table {
	const char *title, *columns, *timed;	/* timed: more of them, when
						 * times are known */
	report_key key;
	void (*row)(const struct report_tables *tables,
		    const struct digest_site *site);
};

/* The other sections have functions of their own. */
static const struct site_table site_tables[REPORT_SECTIONS] = {
	[REPORT_LIVE] = {
		"not freed, by stack",
		"        blocks            bytes      %",
		"       youngest         oldest", report_key_kept, row_live,
	},
	[REPORT_PEAK] = {
		"at the peak, by stack",
		"        blocks            bytes      %", "", report_key_peak,
		row_peak,
	},
	[REPORT_ALLOCATED] = {
		"most allocations, by stack",
		"        blocks            bytes      %      average",
		"       blocks/s          bytes/s", report_key_allocated,
		row_allocated,
	},
	[REPORT_TEMPORARY] = {
		"temporary: freed before anything else was allocated, by stack",
		"     temporary    allocated      %            bytes", "",
		report_key_temporary, row_temporary,
	},
};

static int print_sites(const struct report_tables *tables,
		       enum report_section section)
{
	const struct site_table *table = &site_tables[section];
	const struct digest *digest = tables->digest;
	double least = tables->settings->min_age * SECOND;
	struct report_order order;
	size_t kept = 0;

	if (!report_order_sites(digest, table->key, &order))
		return -ENOMEM;
	if (section == REPORT_LIVE && least > 0) {
		/* Leave out stacks whose blocks are all too young. */
		for (size_t i = 0; i < order.count; i++)
			if (digest->sites[order.items[i]].oldest >= least)
				order.items[kept++] = order.items[i];
		order.count = kept;
	}
	if (order.count)
		fprintf(tables->out, "\n%s\n%s%s\n", table->title,
			table->columns, duration(digest) ? table->timed : "");
	for (size_t i = 0; i < rows(tables, order.count); i++) {
		table->row(tables, &digest->sites[order.items[i]]);
		fputc('\n', tables->out);
		report_print_stack(tables, order.items[i], "      ");
	}
	print_more(tables, order.count, "stacks");
	free(order.items);
	return 0;
}

/* ---- by size, over time ---- */

static void print_bar(FILE *out, double of, double most)
{
	static const char bar[] = "########################################";
	int length = most ? of / most * (sizeof(bar) - 1) + 0.5 : 0;

	fprintf(out, "%s%.*s\n", length ? " " : "", length, bar);
}

static int print_sizes(const struct report_tables *tables)
{
	const struct digest_size *sizes = tables->digest->sizes;
	unsigned int first = DIGEST_SIZES, last = 0;
	double most = 0;

	for (unsigned int i = 0; i < DIGEST_SIZES; i++) {
		if (!sizes[i].allocated.count)
			continue;
		first = first < i ? first : i;
		last = i;
		if (sizes[i].allocated.count > most)
			most = sizes[i].allocated.count;
	}
	if (!most)
		return 0;
	fputs("\nallocated, by size\n         up to       blocks            bytes    not freed\n",
	      tables->out);
	for (unsigned int i = first; i <= last; i++) {
		if (digest_size_most(i) == UINT64_MAX)
			fprintf(tables->out, "  %12s", "larger");
		else
			fprintf(tables->out, "  %12" PRIu64,
				digest_size_most(i));
		fprintf(tables->out, " %12.0f %16.0f %12.0f",
			sizes[i].allocated.count, sizes[i].allocated.bytes,
			sizes[i].kept.count);
		print_bar(tables->out, sizes[i].allocated.count, most);
	}
	return 0;
}

static int print_time(const struct report_tables *tables)
{
	const struct digest *digest = tables->digest;
	double length = digest->span_length / SECOND, most = 0;
	unsigned int used = 0;

	for (unsigned int i = 0; i < DIGEST_SPANS; i++) {
		if (digest->spans[i].used)
			used = i + 1;
		if (digest->spans[i].most > most)
			most = digest->spans[i].most;
	}
	if (!used)
		return 0;
	fputs("\nover time: per second, and the most bytes at once\n          from     blocks/s          bytes/s      freed/s            bytes\n",
	      tables->out);
	for (unsigned int i = 0; i < used; i++) {
		const struct digest_span *span = &digest->spans[i];

		fprintf(tables->out,
			"  %10.3f s %12.1f %16.1f %12.1f %16.0f", i * length,
			span->allocated.count / length,
			span->allocated.bytes / length,
			span->freed.count / length, span->most);
		print_bar(tables->out, span->most, most);
	}
	return 0;
}

/* ---- types, threads ---- */

static int compare_types(const void *a, const void *b)
{
	const struct digest_type *x = *(const struct digest_type *const *)a;
	const struct digest_type *y = *(const struct digest_type *const *)b;

	if (x->freed.bytes + x->old.bytes != y->freed.bytes + y->old.bytes)
		return x->freed.bytes + x->old.bytes <
		       y->freed.bytes + y->old.bytes ? 1 : -1;
	return x < y ? -1 : x > y;
}

static void print_type(const struct report_tables *tables,
		       const struct digest_type *type)
{
	const struct heap_trace *trace = tables->digest->trace;

	fprintf(tables->out, "  %12.0f %16.0f %12.0f", type->freed.count,
		type->freed.bytes, type->old.count);
	if (duration(tables->digest))
		fprintf(tables->out, " %12.6f s", type->freed.count ?
			type->lifetime / type->freed.count / SECOND : 0);
	fputs("  ", tables->out);
	if (type->kind == HEAP_TYPE_NAMED)
		safe_text_print(tables->out, heap_text(trace, type->type),
				false);
	else
		fputs(type->kind == HEAP_TYPE_NO_TABLE ?
		      "(first word 0)" : "(no vtable)", tables->out);
	fputc('\n', tables->out);
}

/* Programs in C have none: there, first words that point nowhere mean nothing. */
static bool types_known(const struct digest *digest)
{
	for (size_t i = 0; i < digest->types.count; i++)
		if (digest_types(digest)[i].kind == HEAP_TYPE_NAMED)
			return true;
	return false;
}

static int print_types(const struct report_tables *tables)
{
	const struct digest *digest = tables->digest;
	const struct digest_type **order;

	if (!types_known(digest))
		return 0;
	order = calloc(digest->types.count, sizeof(*order));
	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < digest->types.count; i++)
		order[i] = &digest_types(digest)[i];
	qsort(order, digest->types.count, sizeof(*order), compare_types);
	fprintf(tables->out,
		"\ntypes, by the vtable when the block was freed, or found\n         freed            bytes          old%s  type\n",
		duration(digest) ? "    mean life " : "");
	for (size_t i = 0; i < rows(tables, digest->types.count); i++)
		print_type(tables, order[i]);
	print_more(tables, digest->types.count, "types");
	free(order);
	return 0;
}

static int compare_threads(const void *a, const void *b)
{
	const struct digest_thread *x = *(const struct digest_thread *const *)a;
	const struct digest_thread *y = *(const struct digest_thread *const *)b;

	if (x->allocated.count != y->allocated.count)
		return x->allocated.count < y->allocated.count ? 1 : -1;
	return x < y ? -1 : x > y;
}

static void print_thread(const struct report_tables *tables,
			 const struct digest_thread *thread)
{
	fprintf(tables->out, "  %8" PRIu32 " %8" PRIu32
		" %12.0f %16.0f %12.0f %16.0f %12.0f %12.0f\n", thread->pid,
		thread->tid, thread->allocated.count, thread->allocated.bytes,
		thread->freed.count, thread->freed.bytes, thread->foreign,
		thread->temporary);
}

static int print_threads(const struct report_tables *tables)
{
	const struct digest *digest = tables->digest;
	const struct digest_thread **order;

	if (!(digest->threads.count > 1 ||
	      (digest->threads.count && digest_threads(digest)->tid)))
		return 0;
	order = calloc(digest->threads.count, sizeof(*order));
	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < digest->threads.count; i++)
		order[i] = &digest_threads(digest)[i];
	qsort(order, digest->threads.count, sizeof(*order), compare_threads);
	fputs("\nthreads\n       pid      tid    allocated            bytes        freed            bytes   of others'    temporary\n",
	      tables->out);
	for (size_t i = 0; i < rows(tables, digest->threads.count); i++)
		print_thread(tables, order[i]);
	print_more(tables, digest->threads.count, "threads");
	free(order);
	return 0;
}

/* ---- tags ---- */

static int print_tags(const struct report_tables *tables)
{
	size_t count;
	struct report_tag *tags = report_tags(tables->digest, &count);

	if (!tags)
		return -ENOMEM;
	if (count)
		fputs("\ntags\n     allocated            bytes        freed    not freed            bytes    temporary  tag\n",
		      tables->out);
	for (size_t i = 0; i < rows(tables, count); i++) {
		fprintf(tables->out, "  %12.0f %16.0f %12.0f %12.0f %16.0f %12.0f  ",
			tags[i].allocated.count, tags[i].allocated.bytes,
			tags[i].freed.count, tags[i].kept.count,
			tags[i].kept.bytes, tags[i].temporary);
		safe_text_print(tables->out, tags[i].tag ?
				heap_text(tables->digest->trace, tags[i].tag) :
				"(none)", false);
		fputc('\n', tables->out);
	}
	print_more(tables, count, "tags");
	free(tags);
	return 0;
}

/* ---- what is wrong ---- */

static void print_wrong(const struct report_tables *tables,
			const struct digest_wrong *wrong)
{
	const struct heap_event *event = &wrong->event;
	const char *by = heap_function_text(event->function);
	const char *with = heap_function_text(wrong->other.function);

	fprintf(tables->out, "  %s, %" PRIu64 " time%s: of 0x%" PRIx64,
		digest_wrong_text(wrong->wrong), wrong->count,
		wrong->count == 1 ? "" : "s, first",
		digest_wrong_address(wrong));
	if (event->tid)
		fprintf(tables->out, " in thread %" PRIu32, event->tid);
	if (event->time != HEAP_NO_TIME)
		fprintf(tables->out, " at %.6f s",
			((uint64_t)event->time -
			 (uint64_t)tables->digest->begin) / SECOND);
	fprintf(tables->out, "%s%s, from\n", *by ? " by " : "", by);
	report_print_stack(tables, wrong->stack, "      ");
	if (!wrong->other.number)
		return;
	fprintf(tables->out, "    the block 0x%" PRIx64 " of %" PRIu64
		" bytes%s%s, from\n", wrong->other.address, wrong->other.size,
		*with ? " by " : "", with);
	report_print_stack(tables, wrong->other_stack, "      ");
}

static int print_wrongs(const struct report_tables *tables)
{
	const struct digest *digest = tables->digest;

	if (digest->wrongs.count)
		fputs("\nwrong\n", tables->out);
	for (size_t i = 0; i < rows(tables, digest->wrongs.count); i++)
		print_wrong(tables, &digest_wrongs(digest)[i]);
	print_more(tables, digest->wrongs.count, "places");
	if (digest->wrong_more)
		fprintf(tables->out, "  ... and %" PRIu64
			" times at still more places\n", digest->wrong_more);
	return 0;
}

static int (*const sections[REPORT_SECTIONS])(
	const struct report_tables *tables) = {
	[REPORT_SUMMARY] = print_summary,
	[REPORT_WRONG] = print_wrongs,
	[REPORT_SIZES] = print_sizes,
	[REPORT_TIME] = print_time,
	[REPORT_TYPES] = print_types,
	[REPORT_THREADS] = print_threads,
	[REPORT_TAGS] = print_tags,
};

int report_print_tables(FILE *out, const struct digest *digest,
			const struct report_settings *settings,
			struct error *err)
{
	struct report_tables tables = { out, digest, settings };
	int ret = 0;
	const char *note;
	char text[256];
	time_t seconds;
	struct tm tm;
	char date[64];
	const char *command = heap_text(digest->trace, digest->trace->command);

	fputs("heap of ", tables.out);
	if (*command) {
		fputc('\'', tables.out);
		safe_text_print(tables.out, command, false);
		fputc('\'', tables.out);
	} else {
		fputs("a program", tables.out);
	}
	if (digest->begin != HEAP_NO_TIME) {
		fprintf(tables.out, ", %.3f s", duration(digest));
		seconds = digest->begin / (int64_t)SECOND;
		if (gmtime_r(&seconds, &tm) &&
		    strftime(date, sizeof(date),
			     "%Y-%m-%d %H:%M:%S UTC", &tm))
			fprintf(tables.out, ", from %s", date);
	}
	fputc('\n', tables.out);
	for (unsigned int i = 0;
	     (note = report_note(digest, i, text, sizeof(text))); i++)
		fprintf(tables.out, "note: %s\n", note);
	for (unsigned int i = 0; !ret && i < REPORT_SECTIONS; i++)
		if (settings->sections & 1u << i)
			ret = sections[i] ? sections[i](&tables) :
					    print_sites(&tables, i);
	return ret ? error_no_memory(err) : 0;
}
