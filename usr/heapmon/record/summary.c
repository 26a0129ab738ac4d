// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/safe_text.h"
#include "lib/buffer/session.h"
#include "lib/arm/arm.h"
#include "recording.h"

struct record_figures {
	uint64_t acquired, resized, released;
	uint64_t nested, passed;	/* calls inside others; blocks not chosen */
	uint64_t dropped, missed;
};

static void summary_point_sum(struct record_figures *figures, uint16_t minor,
			      const struct ras_count *rows, uint32_t slices)
{
	enum heap_function_kind kind =
		minor < HEAP_FUNCTIONS ? heap_functions[minor].kind :
					 FUNCTION_ABSENT;
	uint64_t recorded = 0;

	for (uint32_t i = 0; i < slices; i++) {
		recorded += rows[i].recorded;
		figures->dropped += rows[i].dropped;
	}
	switch (kind) {
	case FUNCTION_ABSENT:
		break;
	case FUNCTION_RESIZE:
		figures->resized += recorded;
		break;
	case FUNCTION_RELEASE:
	case FUNCTION_UNMAP:
		figures->released += recorded;
		break;
	default:
		figures->acquired += recorded;
	}
}

static void session_sum(struct recording *r, struct record_figures *figures,
			const struct session *session)
{
	struct ras_count *rows;
	struct ras_why *why;
	uint32_t slices = r->buffer.slices;
	uint32_t points;
	uint64_t *missed;

	if (session_counts_read(session, slices, &rows, NULL))
		return;
	for (uint32_t i = 0; i < session->entry->points; i++)
		summary_point_sum(figures, session->points[i].minor,
				  rows + (size_t)i * slices, slices);
	free(rows);
	points = session->entry->points;
	missed = calloc(points + 1, sizeof(*missed));
	if (missed) {
		session_missed_read(session, missed);
		for (uint32_t i = 0; i < points; i++)
			if (missed[i] != RAS_MISSED_UNKNOWN)
				figures->missed += missed[i];
		free(missed);
	}
	if (session_why_read(session, r->buffer.control->cpus, &why, NULL))
		return;
	for (uint32_t i = 0; i < session->entry->points; i++) {
		figures->nested += why[i].filtered[RAS_FILTERED_NESTED];
		figures->passed += why[i].filtered[RAS_FILTERED_CONDITION];
	}
	free(why);
}

static void summary_figures_read(struct recording *r,
				 struct record_figures *figures)
{
	struct session_list list;

	if (session_list_read(&list, &r->buffer, r->private.path, NULL))
		return;
	for (size_t i = 0; i < list.count; i++)
		session_sum(r, figures, &list.items[i]);
	session_list_free(&list);
}

/* "1 resize", "2 resizes" */
static void print_number(const char *before, uint64_t number, const char *what)
{
	fprintf(stderr, "%s%llu %s%s", before, (unsigned long long)number, what,
		number == 1 ? "" : "s");
}

void recording_summarize(struct recording *r)
{
	struct record_figures figures = { 0 };
	char bytes[AMOUNT_TEXT];
	char old_bytes[AMOUNT_TEXT];
	struct unwind_figures tables;

	summary_figures_read(r, &figures);
	amount_print_bytes(bytes, r->spooler.files.total);
	print_number("heapmon: recorded ", r->spooler.total, "event");
	fprintf(stderr, " of %u process%s in %.1f s, %s", r->seen,
		r->seen == 1 ? "" : "es", (buffer_time() - r->begun) / 1e9,
		bytes);
	print_number(": ", figures.acquired, "allocation");
	print_number(", ", figures.resized, "resize");
	print_number(", ", figures.released, "release");
	fputc('\n', stderr);
	for (size_t i = 0; i < r->armed && i < r->allocator.count; i++) {
		const struct allocator_file *file = &r->allocator.files[i];

		if (!file->count)
			continue;
		print_number("heapmon: probed ", file->count, "function");
		fputs(" of '", stderr);
		safe_text_print(stderr, file->path, false);
		fprintf(stderr, "'%s%s%s%s\n", file->name ? " (" : "",
			file->name ? allocator_names[file->name] : "",
			file->name ? ")" : "",
			i < r->armed_first || !allocator_file_gives(file) ? "" :
			": it came later, its first calls are missing");
	}
	if (r->unwind) {
		unwind_figures(r->unwind, &tables);
		print_number("heapmon: stack tables: ", tables.rows,
			     "row");
		print_number(" of ", tables.modules, "file");
		if (tables.without)
			fprintf(stderr, ", %llu without a table",
				(unsigned long long)tables.without);
		if (tables.left_out)
			fprintf(stderr, ", %llu left out: no room",
				(unsigned long long)tables.left_out);
		fputc('\n', stderr);
		if (r->unwind_failed)
			fputs("heapmon: of some processes no table could be made: frame pointers are followed\n",
			      stderr);
	}
	if (r->old_blocks) {
		amount_print_bytes(old_bytes, r->old_bytes);
		print_number("heapmon: ", r->old_blocks, "block");
		fprintf(stderr, " (%s) %s there before; stopped for %.1f ms\n",
			old_bytes, r->old_blocks == 1 ? "was" : "were",
			r->old_stopped / 1e6);
	}
	if (r->spooler.lost)
		fprintf(stderr,
			"heapmon: %llu events were overwritten before they could be written: a larger buffer keeps them longer (--buffer)\n",
			(unsigned long long)r->spooler.lost);
	if (figures.dropped) {
		print_number("heapmon: dropped ", figures.dropped, "event");
		fputc('\n', stderr);
	}
	if (figures.missed) {
		print_number("heapmon: the kernel missed ", figures.missed,
			     "call");
		fputc('\n', stderr);
	}
	if (r->tracker_lost)
		fputs("heapmon: the kernel lost events of processes: forks and exits may be missing\n",
		      stderr);
	if (r->unseen)
		fprintf(stderr,
			"heapmon: %u program%s that %s executed ended before it was seen which allocator %s: calls may be missing\n",
			r->unseen, r->unseen == 1 ? "" : "s",
			r->unseen == 1 ? "was" : "were",
			r->unseen == 1 ? "it has" : "they have");
	if (r->why.text[0])
		error_print("heapmon", &r->why);
}
