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

struct line {
	uint32_t number;
	bool available;		/* where it begins first */
	uint64_t address;
};

struct available {
	const struct dwarf_context *context;
	struct module_range ranges[RANGES_MAX];
	size_t range_count;
	struct line *lines;	/* of the function and the file */
	size_t line_count;
};

struct run {
	uint32_t first, last;
};

static bool range_add(struct available *a, Dwarf_Attribute *attr,
		      struct module_range range, const Dwarf_Op *ops,
		      size_t count)
{
	struct dwarf_context context = *a->context;
	struct place place;

	context.pc = range.start;
	if (!count || range.end <= range.start ||
	    (a->range_count && !range.start))	/* the default one */
		return false;
	if (!dwarf_location_place(&context, attr, ops, count, &place, NULL))
		a->ranges[a->range_count++] = range;
	place_free(&place);
	return a->range_count == RANGES_MAX;
}

static void ranges_read(struct available *a, Dwarf_Attribute *attr)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	Dwarf_Op *ops;
	size_t count;

	for (int i = 0; i < 4 * RANGES_MAX; i++) {
		at = dwarf_getlocations(attr, at, &base, &start, &end, &ops,
					&count);
		if (at <= 0 ||
		    range_add(a, attr, (struct module_range){ start, end },
			      ops, count))
			break;
	}
}

static bool is_in_ranges(const struct available *a, uint64_t address)
{
	for (size_t i = 0; i < a->range_count; i++)
		if (address >= a->ranges[i].start && address < a->ranges[i].end)
			return true;
	return false;
}

/* The file that declares the variable, as the unit's rows number it; where the
 * entry is from another unit, the file of the code at pc. */
static uint32_t file_find(const struct available *a,
			  const struct line_table *table, Dwarf_Die *variable)
{
	Dwarf_Die root = dwarf_die_root(variable);
	Dwarf_Attribute attr;
	uint32_t file = 0;
	Dwarf_Word number;

	if (root.cu == a->context->function.cu &&
	    !dwarf_formudata(dwarf_attr(&root, DW_AT_decl_file, &attr),
			     &number))
		return number;
	for (size_t i = 0; i < table->rows.count &&
	     table->rows.list[i].address <= a->context->pc; i++)
		file = table->rows.list[i].file;
	return file;
}

/* The line of the file that the code at pc is in, or was called from. */
static uint32_t line_near(const struct available *a,
			  const struct line_table *table, uint32_t file)
{
	Dwarf_Die function = a->context->function;
	uint32_t line = 0;

	for (size_t i = 0; i < table->rows.count &&
	     table->rows.list[i].address <= a->context->pc; i++)
		if (table->rows.list[i].file == file && table->rows.list[i].line &&
		    dwarf_haspc(&function, table->rows.list[i].address) > 0)
			line = table->rows.list[i].line;
	return line;
}

static int line_compare(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

static bool lines_read(struct available *a, const struct line_table *table,
		       uint32_t file)
{
	Dwarf_Die function = a->context->function;
	size_t kept = 0;

	a->lines = calloc(table->rows.count, sizeof(*a->lines));
	if (!a->lines)
		return false;
	for (size_t i = 0; i < table->rows.count; i++) {
		const struct dwarf_row *row = &table->rows.list[i];

		if (row->is_stmt && !row->end_sequence && row->line &&
		    row->file == file &&
		    dwarf_haspc(&function, row->address) > 0)
			a->lines[a->line_count++] = (struct line){
				row->line, is_in_ranges(a, row->address),
				row->address,
			};
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

static uint32_t run_distance(const struct run *run, uint32_t line)
{
	return line < run->first ? run->first - line :
	       line > run->last ? line - run->last : 0;
}

/* Keep the nearest few, in their order. */
static void run_keep(struct run *runs, size_t *count, struct run run,
		     uint32_t line)
{
	size_t worst = 0;

	runs[(*count)++] = run;
	if (*count <= RUNS_SHOWN)
		return;
	for (size_t i = 1; i < *count; i++)
		if (run_distance(&runs[i], line) >
		    run_distance(&runs[worst], line))
			worst = i;
	memmove(&runs[worst], &runs[worst + 1],
		(--*count - worst) * sizeof(*runs));
}

static size_t runs_find(const struct available *a, uint32_t line,
			struct run *runs)
{
	size_t count = 0;

	for (size_t i = 0; i < a->line_count; i++) {
		struct run run = { a->lines[i].number, a->lines[i].number };

		if (!a->lines[i].available)
			continue;
		while (i + 1 < a->line_count && a->lines[i + 1].available)
			run.last = a->lines[++i].number;
		run_keep(runs, &count, run, line);
	}
	return count;
}

static void print_lines(const struct available *a, uint32_t line,
			const char *path, struct error *err)
{
	struct run runs[RUNS_SHOWN + 1];
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

static char *file_path(const struct available *a, Dwarf_Die *unit,
		       uint32_t file)
{
	struct lines *lines = dwarf_lines_get(a->context->dwarf);
	const struct line_unit *in;
	struct dwarf_program program;
	char *path;

	in = lines ? dwarf_lines_unit(lines, unit) : NULL;
	if (!in || dwarf_program_open(&program, &lines->sections, in->program))
		return NULL;
	path = dwarf_program_path(&program, file, in->directory);
	dwarf_program_close(&program);
	return path;
}

/* The lines of the function that have the variable. */
static int lines_tell(struct available *a, Dwarf_Die *variable,
		      struct error *err)
{
	const struct line_table *table;
	Dwarf_Die unit;
	uint32_t file;
	char *path;

	if (!a->range_count ||
	    !dwarf_skeleton_find(a->context->dwarf, a->context->pc, &unit))
		return 0;
	table = dwarf_lines_table(a->context->dwarf, &unit);
	if (!table)
		return 0;
	file = file_find(a, table, variable);
	if (!lines_read(a, table, file))
		return -ENOMEM;
	path = file_path(a, &unit, file);
	print_lines(a, line_near(a, table, file), path ? path : "the source",
		    err);
	free(path);
	return 0;
}

int dwarf_variable_hint(struct dwarf_file *dwarf,
			const struct dwarf_variable *variable, uint64_t pc,
			struct error *err)
{
	struct dwarf_context context = { .dwarf = dwarf, .pc = pc };
	Dwarf_Die die = variable->die;
	struct dwarf_scopes scopes;
	struct available *a;
	Dwarf_Attribute attr;
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
	code = lines_tell(a, &die, err);
	free(a->lines);
	free(a);
	return code;
}
