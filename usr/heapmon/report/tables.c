// SPDX-License-Identifier: GPL-2.0
/* The report as text. */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "lib/text.h"

#define SECOND	1e9

struct report_tables {
	FILE *out;
	const struct digest *digest;
	const struct report_settings *settings;
	struct report_tag *tags;
	size_t tag_count;
};

const char *report_note(const struct digest *digest, unsigned int number,
			char *text, size_t size)
{
	const struct heap_trace *trace = digest->trace;
	unsigned int notes = 0;

	if (trace->lost == HEAP_LOST_UNKNOWN && notes++ == number)
		return "an unknown number of events is missing: blocks may be listed that were freed, and others be missing";
	if (trace->lost && trace->lost != HEAP_LOST_UNKNOWN &&
	    notes++ == number) {
		snprintf(text, size, "%" PRIu64
			 " events are missing: blocks may be listed that were freed, and others be missing",
			 trace->lost);
		return text;
	}
	if (trace->damaged && notes++ == number) {
		snprintf(text, size,
			 "the file could not be read in %" PRIu64 " places",
			 trace->damaged);
		return text;
	}
	if (trace->sample && notes++ == number) {
		snprintf(text, size, "a sample of the blocks, one in each %"
			 PRIu64 " bytes: figures are estimates by the weights of the blocks",
			 trace->sample);
		return text;
	}
	if (trace->min_size && notes++ == number) {
		snprintf(text, size, "blocks of less than %" PRIu64
			 " bytes were not recorded", trace->min_size);
		return text;
	}
	if ((trace->sample || trace->min_size) && notes++ == number)
		return "too many count as temporary: what was allocated between isn't all here";
	if (digest->sums && notes++ == number)
		return "a file of sums: it has no times, no peak and no threads";
	return NULL;
}

void report_print_notes(FILE *out, const char *prefix,
			const struct digest *digest)
{
	const char *note;
	char text[256];

	for (unsigned int i = 0;
	     (note = report_note(digest, i, text, sizeof(text))); i++)
		fprintf(out, "%s%s\n", prefix, note);
}

/* ---- tags: what the systems of a program have, by its memory tracker ---- */

static int tags_compare(const void *a, const void *b)
{
	const struct report_tag *x = a, *y = b;

	if (x->kept.bytes != y->kept.bytes)
		return x->kept.bytes < y->kept.bytes ? 1 : -1;
	if (x->allocated.bytes != y->allocated.bytes)
		return x->allocated.bytes < y->allocated.bytes ? 1 : -1;
	return x->tag < y->tag ? -1 : x->tag > y->tag;
}

struct report_tag *report_tags(const struct digest *digest, size_t *count)
{
	const struct heap_trace *trace = digest->trace;
	size_t strings = trace->tagged ? trace->strings.count + 1 : 1;
	struct report_tag *tags = calloc(strings, sizeof(*tags));

	*count = 0;
	if (!tags || !trace->tagged)
		return tags;
	for (size_t i = 0; i < digest->site_count; i++) {
		const struct digest_site *site = &digest->sites[i];
		struct report_tag *tag = &tags[heap_stack_tag(trace, i)];

		digest_sum_merge(&tag->allocated, &site->allocated);
		digest_sum_merge(&tag->freed, &site->freed);
		digest_sum_merge(&tag->kept, &site->kept);
		digest_sum_merge(&tag->peak, &site->peak);
		tag->temporary += site->temporary;
	}
	/* away with those of which nothing was allocated: all other strings */
	for (size_t i = 0; i < strings; i++) {
		tags[i].tag = i;
		if (tags[i].allocated.count)
			tags[(*count)++] = tags[i];
	}
	qsort(tags, *count, sizeof(*tags), tags_compare);
	return tags;
}

/* ---- orders ---- */

static int ranks_compare(const void *a, const void *b)
{
	const struct report_rank *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return x->number < y->number ? -1 : x->number > y->number;
}

void report_ranks_sort(void *ranks, size_t count, size_t size)
{
	qsort(ranks, count, size, ranks_compare);
}

/* ---- parts of tables ---- */

static double share(double of, double all)
{
	return all ? of * 100 / all : 0;
}

/* How long the trace is, in seconds; 0: not known. */
static double duration(const struct digest *digest)
{
	const struct heap_trace *trace = digest->trace;

	if (trace->begin == HEAP_NO_TIME)
		return 0;
	return ((uint64_t)trace->end - (uint64_t)trace->begin) / SECOND;
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
			  (uint64_t)digest->trace->begin) / SECOND);
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

/* ---- tables, the largest first ---- */

/* Items are numbers of stacks, types, threads or tags. */
struct report_table {
	const char *title, *columns;
	const char *timed;	/* more columns, when times are known */
	const char *last;	/* the last column; NULL: lines of a stack follow */
	const char *what;	/* are left out */
	void (*row)(const struct report_tables *tables, size_t number);
};

static void print_part(const struct report_tables *tables,
		       const struct digest_sum *sum,
		       const struct digest_sum *all)
{
	fprintf(tables->out, "  %12.0f %16.0f %6.1f", sum->count, sum->bytes,
		share(sum->bytes, all->bytes));
}

static void row_live(const struct report_tables *tables, size_t number)
{
	const struct digest_site *site = &tables->digest->sites[number];

	print_part(tables, &site->kept, &tables->digest->kept);
	if (tables->digest->trace->begin != HEAP_NO_TIME)
		fprintf(tables->out, " %12.3f s %12.3f s",
			site->youngest / SECOND, site->oldest / SECOND);
}

static void row_peak(const struct report_tables *tables, size_t number)
{
	print_part(tables, &tables->digest->sites[number].peak,
		   &tables->digest->peak);
}

static void row_allocated(const struct report_tables *tables, size_t number)
{
	const struct digest_sum *sum = &tables->digest->sites[number].allocated;
	double seconds = duration(tables->digest);

	fprintf(tables->out, "  %12.0f %16.0f %6.1f %12.1f", sum->count,
		sum->bytes, share(sum->count, tables->digest->allocated.count),
		sum->bytes / sum->count);
	if (seconds)
		fprintf(tables->out, " %14.1f %16.1f", sum->count / seconds,
			sum->bytes / seconds);
}

static void row_temporary(const struct report_tables *tables, size_t number)
{
	const struct digest_site *site = &tables->digest->sites[number];

	fprintf(tables->out, "  %12.0f %12.0f %6.1f %16.0f", site->temporary,
		site->allocated.count,
		share(site->temporary, site->allocated.count),
		site->allocated.bytes);
}

static void row_type(const struct report_tables *tables, size_t number)
{
	const struct digest_type *type = &digest_types(tables->digest)[number];

	fprintf(tables->out, "  %12.0f %16.0f %12.0f", type->freed.count,
		type->freed.bytes, type->old.count);
	if (duration(tables->digest))
		fprintf(tables->out, " %12.6f s", type->freed.count ?
			type->lifetime / type->freed.count / SECOND : 0);
	fputs("  ", tables->out);
	safe_text_print(tables->out, type->kind == HEAP_TYPE_NAMED ?
			heap_text(tables->digest->trace, type->type) :
			type->kind == HEAP_TYPE_NO_TABLE ?
			"(first word 0)" : "(no vtable)", false);
}

static void row_thread(const struct report_tables *tables, size_t number)
{
	const struct digest_thread *thread =
		&digest_threads(tables->digest)[number];

	fprintf(tables->out, "  %8" PRIu32 " %8" PRIu32
		" %12.0f %16.0f %12.0f %16.0f %12.0f %12.0f", thread->pid,
		thread->tid, thread->allocated.count, thread->allocated.bytes,
		thread->freed.count, thread->freed.bytes, thread->foreign,
		thread->temporary);
}

static void row_tag(const struct report_tables *tables, size_t number)
{
	const struct report_tag *tag = &tables->tags[number];

	fprintf(tables->out, "  %12.0f %16.0f %12.0f %12.0f %16.0f %12.0f  ",
		tag->allocated.count, tag->allocated.bytes, tag->freed.count,
		tag->kept.count, tag->kept.bytes, tag->temporary);
	safe_text_print(tables->out, tag->tag ?
			heap_text(tables->digest->trace, tag->tag) : "(none)",
			false);
}

/* The other sections have functions of their own. */
static const struct report_table report_tables[REPORT_SECTIONS] = {
	[REPORT_LIVE] = {
		"not freed, by stack",
		"        blocks            bytes      %",
		"       youngest         oldest", NULL, "stacks", row_live,
	},
	[REPORT_PEAK] = {
		"at the peak, by stack",
		"        blocks            bytes      %", "", NULL, "stacks",
		row_peak,
	},
	[REPORT_ALLOCATED] = {
		"most allocations, by stack",
		"        blocks            bytes      %      average",
		"       blocks/s          bytes/s", NULL, "stacks",
		row_allocated,
	},
	[REPORT_TEMPORARY] = {
		"temporary: freed before anything else was allocated, by stack",
		"     temporary    allocated      %            bytes", "", NULL,
		"stacks", row_temporary,
	},
	[REPORT_TYPES] = {
		"types, by the vtable when the block was freed, or found",
		"         freed            bytes          old",
		"    mean life ", "  type", "types", row_type,
	},
	[REPORT_THREADS] = {
		"threads",
		"       pid      tid    allocated            bytes        freed            bytes   of others'    temporary",
		"", "", "threads", row_thread,
	},
	[REPORT_TAGS] = {
		"tags",
		"     allocated            bytes        freed    not freed            bytes    temporary",
		"", "  tag", "tags", row_tag,
	},
};

/* How many items the section may have. */
static size_t items_count(const struct report_tables *tables,
			  enum report_section section)
{
	const struct digest *digest = tables->digest;

	switch (section) {
	case REPORT_TYPES:
		/* Programs in C have none: there, first words that point nowhere
		 * mean nothing. */
		for (size_t i = 0; i < digest->types.count; i++)
			if (digest_types(digest)[i].kind == HEAP_TYPE_NAMED)
				return digest->types.count;
		return 0;
	case REPORT_THREADS:
		return digest->threads.count == 1 && !digest_threads(digest)->tid
			? 0 : digest->threads.count;
	case REPORT_TAGS:
		return tables->tag_count;
	default:
		return digest->site_count;
	}
}

/* What an item is ordered by; below 0: it is not shown. */
static double item_key(const struct report_tables *tables,
		       enum report_section section, size_t number)
{
	const struct digest *digest = tables->digest;
	const struct digest_type *types = digest_types(digest);
	const struct digest_site *site;
	double key = 0;

	switch (section) {
	case REPORT_TYPES:
		return types[number].freed.bytes + types[number].old.bytes;
	case REPORT_THREADS:
		return digest_threads(digest)[number].allocated.count;
	case REPORT_TAGS:
		return 0;	/* they are in order */
	default:
		site = &digest->sites[number];
	}
	switch (section) {
	case REPORT_LIVE:
		if (site->oldest >= tables->settings->min_age * SECOND)
			key = site->kept.bytes + site->kept.count / 1e6;
		break;
	case REPORT_PEAK:
		key = site->peak.bytes + site->peak.count / 1e6;
		break;
	case REPORT_ALLOCATED:
		key = site->allocated.count;
		break;
	default:
		key = site->temporary;
	}
	return key > 0 ? key : -1;
}

static int print_table(const struct report_tables *tables,
		       enum report_section section)
{
	const struct report_table *table = &report_tables[section];
	size_t all = items_count(tables, section), count = 0;
	struct report_rank *ranks = calloc(all + 1, sizeof(*ranks));

	if (!ranks)
		return -ENOMEM;
	for (size_t i = 0; i < all; i++) {
		double key = item_key(tables, section, i);

		if (key >= 0)
			ranks[count++] = (struct report_rank){ key, i };
	}
	report_ranks_sort(ranks, count, sizeof(*ranks));
	if (count)
		fprintf(tables->out, "\n%s\n%s%s%s\n", table->title,
			table->columns,
			duration(tables->digest) ? table->timed : "",
			table->last ? table->last : "");
	for (size_t i = 0; i < rows(tables, count); i++) {
		table->row(tables, ranks[i].number);
		fputc('\n', tables->out);
		if (!table->last)
			report_print_stack(tables, ranks[i].number, "      ");
	}
	print_more(tables, count, table->what);
	free(ranks);
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
			 (uint64_t)tables->digest->trace->begin) / SECOND);
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
};

int report_print_tables(FILE *out, const struct digest *digest,
			const struct report_settings *settings,
			struct error *err)
{
	struct report_tables tables = { out, digest, settings, NULL, 0 };
	int ret;
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
	if (digest->trace->begin != HEAP_NO_TIME) {
		fprintf(tables.out, ", %.3f s", duration(digest));
		seconds = digest->trace->begin / (int64_t)SECOND;
		if (gmtime_r(&seconds, &tm) &&
		    strftime(date, sizeof(date),
			     "%Y-%m-%d %H:%M:%S UTC", &tm))
			fprintf(tables.out, ", from %s", date);
	}
	fputc('\n', tables.out);
	report_print_notes(out, "note: ", digest);
	tables.tags = report_tags(digest, &tables.tag_count);
	ret = tables.tags ? 0 : -ENOMEM;
	for (unsigned int i = 0; !ret && i < REPORT_SECTIONS; i++)
		if (settings->sections & 1u << i)
			ret = sections[i] ? sections[i](&tables) :
			      print_table(&tables, i);
	free(tables.tags);
	return ret ? error_no_memory(err) : 0;
}
