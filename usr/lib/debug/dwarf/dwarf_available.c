// SPDX-License-Identifier: GPL-2.0
/* The source lines where a variable is that isn't where it was asked for. */
#include <dwarf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/debug/module/module.h"
#include "dwarf_lines.h"
#include "dwarf_location.h"
#include "dwarf_scope.h"

#define RANGES_MAX	256	/* of a location list */
#define RUNS_SHOWN	4

struct available_line {
	uint32_t number;
	bool available;		/* at its lowest address */
	uint64_t address;
};

struct available {
	const struct dwarf_context *context;
	struct module_range ranges[RANGES_MAX];
	size_t range_count;
	struct available_line *lines;	/* of the function and the file */
	size_t line_count;
};

struct line_run {		/* of lines that follow each other */
	uint32_t first, last;
};

/* Where the variable is */
static void ranges_read(struct available *a, Dwarf_Attribute *attr)
{
	struct dwarf_context context = *a->context;
	Dwarf_Addr base, start, end;
	struct place place;
	ptrdiff_t at = 0;
	Dwarf_Op *ops;
	size_t count;

	for (int i = 0; i < 4 * RANGES_MAX && a->range_count < RANGES_MAX;
	     i++) {
		at = dwarf_getlocations(attr, at, &base, &start, &end, &ops,
					&count);
		if (at <= 0)
			break;
		if (!count || end <= start ||
		    (a->range_count && !start))	/* the default one */
			continue;
		context.pc = start;
		if (!dwarf_location_place(&context, attr, ops, count, &place,
					  NULL))
			a->ranges[a->range_count++] =
				(struct module_range){ start, end };
		place_free(&place);
	}
}

/* The file that declares the variable, as the unit's rows number it; where the
 * entry is from another unit, the file of the code at pc. */
static uint32_t available_file_find(const struct available *a,
				    const struct line_table *table,
				    Dwarf_Die *variable)
{
	const struct dwarf_row *rows = table->rows.list;
	Dwarf_Die root = dwarf_die_root(variable);
	uint32_t file = 0;
	uint64_t number;

	if (root.cu == a->context->function.cu &&
	    dwarf_die_number(&root, DW_AT_decl_file, &number))
		return number;
	for (size_t i = 0; i < table->rows.count &&
			   rows[i].address <= a->context->pc; i++)
		file = rows[i].file;
	return file;
}

static int line_compare(const void *a, const void *b)
{
	const struct available_line *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

/* The lines of the function in the file; *near: the one that the code at pc is
 * in, or was called from. */
static bool available_lines_read(struct available *a,
				 const struct line_table *table, uint32_t file,
				 uint32_t *near)
{
	Dwarf_Die function = a->context->function;
	size_t kept = 0;

	*near = 0;
	a->lines = calloc(table->rows.count, sizeof(*a->lines));
	if (!a->lines)
		return false;
	for (size_t i = 0; i < table->rows.count; i++) {
		const struct dwarf_row *row = &table->rows.list[i];
		struct available_line line = {
			.number = row->line, .address = row->address,
		};

		if (row->file != file || !row->line ||
		    dwarf_haspc(&function, row->address) <= 0)
			continue;
		if (row->address <= a->context->pc)
			*near = row->line;
		if (!row->is_stmt || row->end_sequence)
			continue;
		for (size_t k = 0; k < a->range_count; k++)
			line.available |=
				row->address >= a->ranges[k].start &&
				row->address < a->ranges[k].end;
		a->lines[a->line_count++] = line;
	}
	if (a->line_count)
		qsort(a->lines, a->line_count, sizeof(*a->lines),
		      line_compare);
	for (size_t i = 0; i < a->line_count; i++)
		if (!kept || a->lines[kept - 1].number != a->lines[i].number)
			a->lines[kept++] = a->lines[i];
	a->line_count = kept;
	return true;
}

static uint32_t run_distance(const struct line_run *run, uint32_t line)
{
	return line < run->first ? run->first - line :
	       line > run->last ? line - run->last : 0;
}

/* The runs of lines with the variable that are nearest to the line, in their
 * order. */
static size_t runs_find(const struct available *a, uint32_t line,
			struct line_run runs[RUNS_SHOWN + 1])
{
	size_t count = 0;

	for (size_t i = 0; i < a->line_count; i++) {
		struct line_run *run = &runs[count];
		size_t worst = 0;

		if (!a->lines[i].available)
			continue;
		run->first = run->last = a->lines[i].number;
		while (i + 1 < a->line_count && a->lines[i + 1].available)
			run->last = a->lines[++i].number;
		if (++count <= RUNS_SHOWN)
			continue;
		for (size_t k = 1; k < count; k++)
			if (run_distance(&runs[k], line) >
			    run_distance(&runs[worst], line))
				worst = k;
		memmove(&runs[worst], &runs[worst + 1],
			(--count - worst) * sizeof(*runs));
	}
	return count;
}

static void lines_hint(const struct available *a, uint32_t line,
		       const char *path, struct error *err)
{
	struct line_run runs[RUNS_SHOWN + 1];
	size_t count = runs_find(a, line, runs), used = 0;
	char text[128] = "";

	if (!count) {
		error_hint(err, "available only from %#" PRIx64 " up to %#"
			   PRIx64, a->ranges[0].start, a->ranges[0].end);
		return;
	}
	for (size_t i = 0; i < count && used < sizeof(text); i++) {
		used += snprintf(text + used, sizeof(text) - used, "%s%" PRIu32,
				 !i ? "" : i + 1 == count ? " and " : ", ",
				 runs[i].first);
		if (runs[i].last != runs[i].first && used < sizeof(text))
			used += snprintf(text + used, sizeof(text) - used,
					 "-%" PRIu32, runs[i].last);
	}
	error_hint(err, "available at line%s %s of %s",
		   count > 1 || runs[0].first != runs[0].last ? "s" : "", text,
		   source_path_base(path));
}

int dwarf_variable_hint(struct dwarf_file *dwarf,
			const struct dwarf_variable *variable, uint64_t pc,
			struct error *err)
{
	struct dwarf_context context = { .dwarf = dwarf, .pc = pc };
	Dwarf_Die die = variable->die, unit;
	const struct line_table *table = NULL;
	struct dwarf_scopes scopes;
	Dwarf_Attribute attr;
	struct available *a;
	uint32_t file, near;
	int code;

	if (!variable->local ||
	    !dwarf_attr_integrate(&die, DW_AT_location, &attr))
		return 0;
	code = dwarf_scopes_find(dwarf, pc, &scopes);
	if (code || !scopes.count)
		return code == -ENOMEM ? code : 0;
	context.function = scopes.dies[0];
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	a->context = &context;
	ranges_read(a, &attr);
	if (a->range_count && dwarf_skeleton_find(dwarf, pc, &unit))
		table = dwarf_lines_table(dwarf, &unit);
	file = table ? available_file_find(a, table, &die) : 0;
	if (table && !available_lines_read(a, table, file, &near)) {
		code = -ENOMEM;
	} else if (table) {
		char *path = dwarf_lines_path(dwarf, &unit, file);

		lines_hint(a, near, path ? path : "the source", err);
		free(path);
	}
	free(a->lines);
	free(a);
	return code;
}
