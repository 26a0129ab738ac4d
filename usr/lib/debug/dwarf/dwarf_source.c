// SPDX-License-Identifier: GPL-2.0
/*
 * From lines of a source file to addresses. Of a file that was asked for all
 * rows are kept; where a line's code is in several functions, inlined copies
 * or instances of a template, each has an address of its own.
 */
#include <dwarf.h>
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "lib/array.h"
#include "dwarf_line.h"
#include "dwarf_line_owner.h"
#include "dwarf_lines.h"
#include "lib/debug/module/module.h"

#define FEW_UNITS	4

/* A file that a name means. */
struct source_file {
	char *path;
	bool exact;		/* upper and lower case agree, too */
	bool has_code;
};

struct source_row {
	uint64_t address, end;
	uint32_t line;
	uint32_t file;		/* of the source */
	uint32_t number;	/* of the file in its unit */
	uint16_t view, column;
	bool optimized;		/* not all rows of the unit begin statements */
	bool marked;		/* ... but those that it was marked for do */
};

struct source_rows {
	struct source_row *list;
	size_t count, room;
};

/* All rows for the files that a name means. */
struct source {
	char *name;
	struct source_file *files;
	size_t file_count;
	struct source_rows statements;	/* rows that begin one */
	struct source_rows parts;	/* ... none, behind another line's */
	bool asked, sorted;	/* once; by line, when asked again */
	bool failed;		/* out of memory */
};

/* The number + 1 of the file in the source; 0: it isn't meant. */
static uint32_t source_add_file(struct source *source, char *path)
{
	struct source_file *grown;

	if (!path || !source_path_matches(path, source->name, false)) {
		free(path);
		return 0;
	}
	for (size_t i = 0; i < source->file_count; i++)
		if (!strcmp(source->files[i].path, path)) {
			free(path);
			return i + 1;
		}
	grown = realloc(source->files,
			(source->file_count + 1) * sizeof(*grown));
	if (!grown) {
		source->failed = true;
		free(path);
		return 0;
	}
	source->files = grown;
	grown[source->file_count] = (struct source_file) {
		.path = path,
		.exact = source_path_matches(path, source->name, true),
	};
	return ++source->file_count;
}

struct source_reader {
	const struct module *module;
	struct source *source;
	uint32_t *files;	/* by number in the unit: in the source, + 1 */
	size_t file_count;
	bool inside, dead;	/* a sequence; it is none of the module's */
	size_t statements, parts;	/* rows in front of it */
	size_t open;		/* the first row whose end isn't known */
	bool optimized, marked;	/* as in the rows */
	uint64_t address;	/* of the row before */
	uint32_t line, number;
	uint16_t column;
};

/* A sequence begins, or goes on. */
static void source_begin(struct source_reader *r, uint64_t address)
{
	size_t available;

	if (r->inside)
		return;
	r->dead = !module_code(r->module, address, &available, NULL);
	r->statements = r->source->statements.count;
	r->parts = r->source->parts.count;
}

/* Rows at the address where the sequence ends have no code. */
static void rows_trim(struct source_rows *rows, size_t first, uint64_t end)
{
	while (rows->count > first &&
	       rows->list[rows->count - 1].address == end)
		rows->count--;
}

/* The code of another line begins at the row, or none does. */
static void source_close(struct source_reader *r, const struct dwarf_row *row)
{
	struct source_rows *rows = &r->source->statements;

	if (r->line == row->line && r->number == row->file &&
	    !row->end_sequence)
		return;
	for (; r->open < rows->count; r->open++)
		rows->list[r->open].end = row->address;
}

/* Only a statement that was marked before the code was optimised has a row of
 * its own, in front of that of the part of it that is run first. */
static void source_judge(struct source_reader *r, const struct dwarf_row *row)
{
	r->optimized |= !row->is_stmt;
	r->marked |= r->inside && !row->is_stmt && r->line == row->line &&
		     r->address == row->address && r->column != row->column;
}

static int source_take(void *context, const struct dwarf_row *row)
{
	struct source_reader *r = context;
	struct source_rows *rows = row->is_stmt ? &r->source->statements :
						  &r->source->parts;
	bool goes_on = r->inside && !row->is_stmt && r->line == row->line &&
		       r->number == row->file;

	source_judge(r, row);
	source_close(r, row);
	source_begin(r, row->address);
	r->inside = !row->end_sequence;
	r->address = row->address;
	r->column = row->column;
	r->line = row->line;
	r->number = row->file;
	if (row->end_sequence) {
		rows_trim(&r->source->statements, r->statements, row->address);
		rows_trim(&r->source->parts, r->parts, row->address);
	}
	if (r->dead || row->end_sequence || goes_on || !row->line ||
	    row->file >= r->file_count || !r->files[row->file])
		return 0;
	if (!array_grow(&rows->list, rows->count, &rows->room,
			sizeof(*rows->list)))
		return -ENOMEM;
	rows->list[rows->count++] = (struct source_row) {
		.address = row->address, .line = row->line,
		.file = r->files[row->file] - 1, .number = row->file,
		.view = row->view, .column = row->column,
	};
	return 0;
}

/* The rows of the few units of most files are kept: prologues are looked for
 * in them next. */
static int source_read_rows(struct source_reader *reader,
			    struct dwarf_file *dwarf, struct line_unit *unit,
			    const struct dwarf_program *program, bool keep)
{
	const struct line_table *table = keep ? dwarf_lines_read(dwarf, unit) :
						unit->table;
	int code = 0;

	if (!table)
		return dwarf_program_run(program, source_take, reader);
	for (size_t i = 0; i < table->rows.count && !code; i++)
		code = source_take(reader, &table->rows.list[i]);
	return code;
}

static void source_read_unit(struct source *source, struct dwarf_file *dwarf,
			     struct line_unit *unit,
			     const struct dwarf_program *program, bool keep)
{
	const char *base = source_path_base(source->name);
	struct source_reader reader = {
		.module = dwarf->module, .source = source,
		.file_count = program->file_count,
		.open = source->statements.count,
	};
	size_t before = source->statements.count;
	bool any = false;

	reader.files = calloc(program->file_count + 1, sizeof(*reader.files));
	if (!reader.files) {
		source->failed = true;
		return;
	}
	for (size_t i = 0; i < program->file_count; i++) {
		char *path;

		if (strcasecmp(source_path_base(program->files[i].name), base))
			continue;
		errno = 0;
		path = dwarf_program_path(program, i, unit->directory);
		source->failed |= errno == ENOMEM;
		reader.files[i] = source_add_file(source, path);
		any |= reader.files[i];
	}
	if (any && source_read_rows(&reader, dwarf, unit, program, keep))
		source->failed = true;
	for (size_t i = before; i < source->statements.count; i++) {
		source->statements.list[i].optimized = reader.optimized;
		source->statements.list[i].marked = reader.marked;
	}
	free(reader.files);
}

static int row_compare(const void *a, const void *b)
{
	const struct source_row *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

/* A file whose name has the same case takes precedence. */
static void rows_prefer_exact(const struct source *source,
			      struct source_rows *rows)
{
	bool any = false;
	size_t kept = 0;

	for (size_t i = 0; i < source->file_count; i++)
		any |= source->files[i].exact;
	for (size_t i = 0; i < rows->count; i++) {
		struct source_file *file = &source->files[rows->list[i].file];

		if (any && !file->exact)
			continue;
		file->has_code = true;
		rows->list[kept++] = rows->list[i];
	}
	rows->count = kept;
}

static void source_free(void *node)
{
	struct source *source = node;

	for (size_t i = 0; i < source->file_count; i++)
		free(source->files[i].path);
	free(source->files);
	free(source->statements.list);
	free(source->parts.list);
	free(source->name);
	free(source);
}

void dwarf_sources_free(void *sources)
{
	tdestroy(sources, source_free);
}

static int source_compare(const void *a, const void *b)
{
	const struct source *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static bool source_has_few_units(struct lines *lines, const char *base)
{
	uint32_t position = 0;
	bool failed;
	int count = 0;

	while (count <= FEW_UNITS &&
	       dwarf_lines_next(lines, base, &position, &failed))
		count++;
	return count <= FEW_UNITS;
}

static void source_read(struct source *source, struct dwarf_file *dwarf,
			struct lines *lines)
{
	const char *base = source_path_base(source->name);
	bool keep = source_has_few_units(lines, base), failed = false;
	struct line_unit *unit;
	uint32_t position = 0;

	while (!source->failed &&
	       (unit = dwarf_lines_next(lines, base, &position, &failed))) {
		struct dwarf_program program;
		int code = dwarf_program_open(&program, &lines->sections,
					      unit->program);

		source->failed |= code == -ENOMEM;
		if (code)
			continue;
		source_read_unit(source, dwarf, unit, &program, keep);
		dwarf_program_close(&program);
	}
	source->failed |= failed;
	rows_prefer_exact(source, &source->statements);
	rows_prefer_exact(source, &source->parts);
}

/* NULL: no memory. */
static struct source *source_get(struct dwarf_file *dwarf, const char *name)
{
	struct lines *lines = dwarf_lines_get(dwarf);
	struct source key = { .name = (char *)name }, *source, **found;

	if (!lines)
		return NULL;
	found = tfind(&key, &lines->sources, source_compare);
	if (found)
		return *found;
	source = calloc(1, sizeof(*source));
	if (!source)
		return NULL;
	source->name = strdup(name);
	if (source->name)
		source_read(source, dwarf, lines);
	if (!source->name || source->failed ||
	    !tsearch(source, &lines->sources, source_compare)) {
		source_free(source);
		return NULL;
	}
	return source;
}

/* Where a line has code, and what it is part of. */
struct candidate {
	const void *owner;	/* function or inlined copy */
	uint32_t number;	/* of that one, as in struct dwarf_blocks */
	bool cold;		/* not in the part that has its entry */
	uint16_t column;
	struct dwarf_line_site site;
	const char *file;
};

/* The address isn't in the range that has the entry. */
static bool is_cold(Dwarf_Die *function, uint64_t address)
{
	Dwarf_Addr base, start, end;
	uint64_t entry = 0;
	bool first = true;

	for (ptrdiff_t at = 0;
	     (at = dwarf_ranges(function, at, &base, &start, &end)) > 0;
	     first = false) {
		if (first)
			entry = dwarf_die_entry(function, start);
		if (entry >= start && entry < end)
			return address < start || address >= end;
	}
	return false;
}

/* gcc marks where statements begin before it optimises
 * (-gstatement-frontiers): the marks are copied with the code. The files that
 * -flto optimises have none. */
static void judge_unit(struct dwarf_line_site *site, Dwarf_Die *function,
		       const struct source_row *row)
{
	Dwarf_Attribute attr;
	Dwarf_Die unit;
	const char *producer = NULL;

	if (dwarf_diecu(function, &unit, NULL, NULL) &&
	    dwarf_attr(&unit, DW_AT_producer, &attr))
		producer = dwarf_formstring(&attr);
	if (!producer || strncmp(producer, "GNU ", 4))
		return;
	site->optimized &= strstr(producer, " -O") &&
			   !strstr(producer, " -O0");
	site->marked = site->optimized && row->marked && row->column &&
		       strncmp(producer, "GNU GIMPLE ", 11);
}

static void candidate_fill(struct candidate *candidate,
			   struct dwarf_file *dwarf,
			   const struct dwarf_line_row *row,
			   const struct source_row *source)
{
	struct dwarf_scopes scopes;
	Dwarf_Die function;

	candidate->file = row->path;
	candidate->column = source->column;
	candidate->site = (struct dwarf_line_site) {
		.address = row->address, .end = source->end,
		.file = row->file, .optimized = source->optimized,
	};
	if (dwarf_scopes_find(dwarf, row->address, &scopes) || !scopes.count) {
		candidate->owner = module_function_find(dwarf->module,
							row->address);
		return;
	}
	candidate->number = dwarf_line_owner(dwarf, &scopes, row);
	function = scopes.blocks->list[candidate->number].die;
	candidate->owner = candidate->site.function = function.addr;
	candidate->cold = is_cold(&function, row->address);
	judge_unit(&candidate->site, &function, source);
}

static int candidate_compare(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->owner != y->owner)
		return (const char *)x->owner < (const char *)y->owner ? -1 : 1;
	if (x->cold != y->cold)
		return x->cold ? 1 : -1;
	if (x->site.address != y->site.address)
		return x->site.address < y->site.address ? -1 : 1;
	return (x->column > y->column) - (x->column < y->column);
}

static int address_compare(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->site.address != y->site.address)
		return x->site.address < y->site.address ? -1 : 1;
	if (x->site.rest != y->site.rest)
		return x->site.rest ? 1 : -1;
	return (x->number > y->number) - (x->number < y->number);
}

/* The rows of one owner. The first is where its first statement begins; the
 * same column has copies of that. Returns how many are kept. */
static size_t owner_reduce(struct candidate *list, size_t count)
{
	struct candidate *first = list;
	size_t kept = 1;

	for (size_t i = 1; i < count; i++) {
		struct candidate *last = &list[kept - 1];

		if (list[i].site.address == last->site.address) {
			last->site.rest &= list[i].column != first->column;
			last->site.repeated |= last->column == list[i].column;
		} else {
			list[kept] = list[i];
			list[kept++].site.rest =
				!first->site.optimized || !first->column ||
				list[i].column != first->column;
		}
	}
	return kept;
}

/* Those without an owner are all kept. At the same address the outer one, of
 * functions that share a line. */
static size_t candidates_reduce(struct candidate *list, size_t count,
				bool *several)
{
	size_t kept = 0, unique = 0, end;

	qsort(list, count, sizeof(*list), candidate_compare);
	for (size_t i = 0; i < count; i = end) {
		size_t taken;

		for (end = i + 1; end < count && list[i].owner &&
				  list[end].owner == list[i].owner; )
			end++;
		taken = owner_reduce(&list[i], end - i);
		memmove(&list[kept], &list[i], taken * sizeof(*list));
		kept += taken;
	}
	*several = false;
	for (size_t i = 0; i < kept; i++)
		*several |= list[i].site.rest;
	qsort(list, kept, sizeof(*list), address_compare);
	for (size_t i = 0; i < kept; i++)
		if (!unique ||
		    list[unique - 1].site.address != list[i].site.address)
			list[unique++] = list[i];
	return unique;
}

static int sites_fill(struct dwarf_line_sites *result,
		      struct dwarf_file *dwarf, const struct source *source,
		      const struct source_row *rows, size_t count)
{
	struct candidate *list = calloc(count, sizeof(*list));
	bool several;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct dwarf_line_row row = {
			.address = rows[i].address, .line = rows[i].line,
			.file = rows[i].number, .view = rows[i].view,
			.path = source->files[rows[i].file].path,
		};

		candidate_fill(&list[i], dwarf, &row, &rows[i]);
	}
	count = candidates_reduce(list, count, &several);
	result->scattered = several && result->verdict == DWARF_LINE_PART;
	result->sites = calloc(count, sizeof(*result->sites));
	result->rests = calloc(count, sizeof(*result->rests));
	for (size_t i = 0; result->sites && result->rests && i < count; i++) {
		if (list[i].site.rest)
			result->rests[result->rest_count++] = list[i].site;
		else
			result->sites[result->count++] = list[i].site;
	}
	result->file = list[0].file;
	free(list);
	return result->count ? 0 : -ENOMEM;
}

static void source_sort(struct source *source)
{
	struct source_rows *rows = &source->statements;

	if (!source->sorted && rows->count)
		qsort(rows->list, rows->count, sizeof(*rows->list),
		      row_compare);
	source->sorted = true;
}

/* Bring the rows of a line to the front; returns how many there are. */
static size_t rows_gather(struct source_rows *rows, uint32_t line)
{
	size_t count = 0;

	for (size_t i = 0; i < rows->count; i++) {
		struct source_row row = rows->list[i];

		if (row.line != line)
			continue;
		rows->list[i] = rows->list[count];
		rows->list[count++] = row;
	}
	return count;
}

/* The rows of the first line with code from `line` on; returns how many there
 * are. Most files are asked for one line only: that doesn't pay for sorting. */
static size_t source_select(struct source *source, uint32_t line,
			    const struct source_row **rows)
{
	struct source_rows *all = &source->statements;
	uint32_t next = UINT32_MAX;
	size_t low = 0, end;

	*rows = all->list;
	if (!all->count)
		return 0;
	if (!source->asked) {
		source->asked = true;
		for (size_t i = 0; i < all->count; i++)
			if (all->list[i].line >= line &&
			    all->list[i].line < next)
				next = all->list[i].line;
		return rows_gather(all, next);
	}
	source_sort(source);
	for (size_t high = all->count; low < high; ) {
		size_t middle = low + (high - low) / 2;

		if (all->list[middle].line < line)
			low = middle + 1;
		else
			high = middle;
	}
	*rows += low;
	for (end = low; end < all->count &&
			all->list[end].line == (*rows)->line; )
		end++;
	return end - low;
}

static uint32_t rows_last(const struct source_rows *rows)
{
	uint32_t last = 0;

	for (size_t i = 0; i < rows->count; i++)
		if (rows->list[i].line > last)
			last = rows->list[i].line;
	return last;
}

int dwarf_line_find(struct dwarf_file *dwarf, const char *file, uint32_t line,
		    struct dwarf_line_sites *result)
{
	struct source *source = source_get(dwarf, file);
	const struct source_row *rows;
	size_t count, parts, files = 0;

	*result = (struct dwarf_line_sites) {
		.verdict = DWARF_LINE_NO_FILE, .line = line,
	};
	if (!source)
		return -ENOMEM;
	if (!source->file_count)
		return 0;
	result->file = source->files[0].path;
	result->verdict = DWARF_LINE_PAST;
	for (size_t i = 0; i < source->file_count; i++)
		files += source->files[i].has_code;
	result->several_files = files > 1;
	count = source_select(source, line, &rows);
	parts = count && rows->line == line ? 0 :
		rows_gather(&source->parts, line);
	if (parts) {
		count = parts;
		rows = source->parts.list;
	}
	if (!count) {
		result->line = rows_last(&source->statements);
		return 0;
	}
	result->line = rows->line;
	result->verdict = parts ? DWARF_LINE_PART :
			  result->line == line ? DWARF_LINE_FOUND :
						 DWARF_LINE_NEXT;
	return sites_fill(result, dwarf, source, rows, count);
}

void dwarf_line_sites_free(struct dwarf_line_sites *result)
{
	free(result->sites);
	free(result->rests);
	*result = (struct dwarf_line_sites) {0};
}
