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
	bool marked;		/* those of marked statements do */
};

struct source_rows {
	struct source_row *list;
	size_t count, room;
};

/* All rows for the files that a name means. */
struct source_lines {
	char *name;
	struct source_file *files;
	size_t file_count;
	struct source_rows statements;	/* rows that begin one */
	struct source_rows parts;	/* other rows, after another line's */
	bool asked, sorted;	/* once; by line, when asked again */
	bool failed;		/* out of memory */
};

/* The number + 1 of the file in the source; 0: it isn't meant. */
static uint32_t source_add_file(struct source_lines *source, char *path)
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
	struct source_lines *source;
	uint32_t *files;	/* by number in the unit: in the source, + 1 */
	size_t file_count;
	bool inside, dead;	/* a sequence; it is none of the module's */
	size_t statements, parts;	/* rows before it */
	size_t open;		/* the first row whose end isn't known */
	bool optimized, marked;	/* as in the rows */
	struct dwarf_row before;
};

/* Rows at the address where the sequence ends have no code. */
static void rows_trim(struct source_rows *rows, size_t first, uint64_t end)
{
	while (rows->count > first &&
	       rows->list[rows->count - 1].address == end)
		rows->count--;
}

static int source_take(void *context, const struct dwarf_row *row)
{
	struct source_reader *r = context;
	struct source_rows *statements = &r->source->statements;
	struct source_rows *parts = &r->source->parts;
	struct source_rows *rows = row->is_stmt ? statements : parts;
	bool same_line = r->before.line == row->line;
	bool goes_on = r->inside && !row->is_stmt && same_line &&
		       r->before.file == row->file;
	size_t available;

	/* Only a statement that was marked before the code was optimised has a
	 * row of its own, before that of the part of it that is run first. */
	r->optimized |= !row->is_stmt;
	r->marked |= r->inside && !row->is_stmt && same_line &&
		     r->before.address == row->address &&
		     r->before.column != row->column;
	/* The code of another line begins at the row, or none does. */
	if (!same_line || r->before.file != row->file || row->end_sequence)
		for (; r->open < statements->count; r->open++)
			statements->list[r->open].end = row->address;
	if (!r->inside) {
		r->dead = !module_code(r->module, row->address, &available,
				       NULL);
		r->statements = statements->count;
		r->parts = parts->count;
	}
	r->inside = !row->end_sequence;
	r->before = *row;
	if (row->end_sequence) {
		rows_trim(statements, r->statements, row->address);
		rows_trim(parts, r->parts, row->address);
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
static void source_read_unit(struct source_lines *source,
			     struct dwarf_file *dwarf, struct line_unit *unit,
			     const struct dwarf_program *program, bool keep)
{
	const char *base = source_path_base(source->name);
	struct source_reader reader = {
		.module = dwarf->module, .source = source,
		.file_count = program->file_count,
		.open = source->statements.count,
	};
	size_t before = source->statements.count;
	const struct line_table *table;
	bool any = false;
	int code = 0;

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
	table = any && keep ? dwarf_lines_read(dwarf, unit) : unit->table;
	if (any && !table)
		code = dwarf_program_run(program, source_take, &reader);
	for (size_t i = 0; any && table && i < table->rows.count && !code; i++)
		code = source_take(&reader, &table->rows.list[i]);
	source->failed |= code;
	for (size_t i = before; i < source->statements.count; i++) {
		source->statements.list[i].optimized = reader.optimized;
		source->statements.list[i].marked = reader.marked;
	}
	free(reader.files);
}

static int source_row_compare(const void *a, const void *b)
{
	const struct source_row *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

/* A file whose name has the same case takes precedence. */
static void rows_prefer_exact(const struct source_lines *source,
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
	struct source_lines *source = node;

	for (size_t i = 0; i < source->file_count; i++)
		free(source->files[i].path);
	free(source->files);
	free(source->statements.list);
	free(source->parts.list);
	free(source->name);
	free(source);
}

static void sources_free(void *sources)
{
	tdestroy(sources, source_free);
}

static int source_compare(const void *a, const void *b)
{
	const struct source_lines *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void source_lines_read(struct source_lines *source,
			      struct dwarf_file *dwarf, struct lines *lines)
{
	const char *base = source_path_base(source->name);
	uint32_t position = 0;
	struct line_unit *unit;
	bool failed = false;
	int count = 0;

	while (count <= FEW_UNITS &&
	       dwarf_lines_next(lines, base, &position, &failed))
		count++;
	position = 0;
	while (!source->failed &&
	       (unit = dwarf_lines_next(lines, base, &position, &failed))) {
		struct dwarf_program program;
		int code = dwarf_program_open(&program, &lines->sections,
					      unit->program);

		source->failed |= code == -ENOMEM;
		if (code)
			continue;
		source_read_unit(source, dwarf, unit, &program,
				 count <= FEW_UNITS);
		dwarf_program_close(&program);
	}
	source->failed |= failed;
	rows_prefer_exact(source, &source->statements);
	rows_prefer_exact(source, &source->parts);
}

/* NULL: no memory. */
static struct source_lines *source_get(struct dwarf_file *dwarf,
				       const char *name)
{
	struct lines *lines = dwarf_lines_get(dwarf);
	struct source_lines key = { .name = (char *)name }, *source, **found;

	if (!lines)
		return NULL;
	found = tfind(&key, &lines->sources, source_compare);
	if (found)
		return *found;
	source = calloc(1, sizeof(*source));
	if (!source)
		return NULL;
	lines->sources_free = sources_free;
	source->name = strdup(name);
	if (source->name)
		source_lines_read(source, dwarf, lines);
	if (!source->name || source->failed ||
	    !tsearch(source, &lines->sources, source_compare)) {
		source_free(source);
		return NULL;
	}
	return source;
}

/* Where a line has code, and what that is part of */
struct line_candidate {
	const void *owner;	/* function or inlined copy */
	uint32_t number;	/* of that one, as in struct dwarf_blocks */
	bool cold;		/* not in the part that has its entry */
	uint16_t column;
	struct dwarf_line_site site;
	const char *file;
};

static void candidate_fill(struct line_candidate *candidate,
			   struct dwarf_file *dwarf,
			   const struct dwarf_line_row *row,
			   const struct source_row *source)
{
	struct dwarf_line_site *site = &candidate->site;
	Dwarf_Addr base, start, end;
	struct dwarf_scopes scopes;
	Dwarf_Die function, unit;
	const char *producer = NULL;
	uint64_t entry = 0;
	ptrdiff_t at = 0;

	candidate->file = row->path;
	candidate->column = source->column;
	*site = (struct dwarf_line_site) {
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
	candidate->owner = site->function = function.addr;
	/* cold: not in the range that has the entry */
	for (bool first = true;
	     (at = dwarf_ranges(&function, at, &base, &start, &end)) > 0;
	     first = false) {
		if (first)
			entry = dwarf_die_entry(&function, start);
		if (entry >= start && entry < end) {
			candidate->cold = row->address < start ||
					  row->address >= end;
			break;
		}
	}
	/* gcc marks where statements begin before it optimises
	 * (-gstatement-frontiers): the marks are copied with the code. The
	 * files that -flto optimises have none. */
	if (dwarf_diecu(&function, &unit, NULL, NULL))
		producer = dwarf_die_text(&unit, DW_AT_producer);
	if (!producer || strncmp(producer, "GNU ", 4))
		return;
	site->optimized &= strstr(producer, " -O") &&
			   !strstr(producer, " -O0");
	site->marked = site->optimized && source->marked && source->column &&
		       strncmp(producer, "GNU GIMPLE ", 11);
}

static int line_candidate_compare(const void *a, const void *b)
{
	const struct line_candidate *x = a, *y = b;

	if (x->owner != y->owner)
		return (const char *)x->owner < (const char *)y->owner ? -1 : 1;
	if (x->cold != y->cold)
		return x->cold ? 1 : -1;
	if (x->site.address != y->site.address)
		return x->site.address < y->site.address ? -1 : 1;
	return (x->column > y->column) - (x->column < y->column);
}

static int line_address_compare(const void *a, const void *b)
{
	const struct line_candidate *x = a, *y = b;

	if (x->site.address != y->site.address)
		return x->site.address < y->site.address ? -1 : 1;
	if (x->site.rest != y->site.rest)
		return x->site.rest ? 1 : -1;
	return (x->number > y->number) - (x->number < y->number);
}

/*
 * Of each owner, the first row is where its first statement begins; rows of the
 * same column are copies of that. Those without an owner are all kept. At the
 * same address the outer one, of functions that share a line. Returns how many
 * are kept.
 */
static size_t line_candidates_reduce(struct line_candidate *list, size_t count,
				     bool *several)
{
	size_t kept = 0, unique = 0, first = 0;

	*several = false;
	qsort(list, count, sizeof(*list), line_candidate_compare);
	for (size_t i = 0; i < count; i++) {
		struct line_candidate next = list[i];
		struct line_candidate *last = kept ? &list[kept - 1] : NULL;

		if (!last || !next.owner || next.owner != last->owner) {
			first = kept;
			list[kept++] = next;
			continue;
		}
		if (next.site.address == last->site.address) {
			last->site.rest &= next.column != list[first].column;
			last->site.repeated |= last->column == next.column;
			continue;
		}
		next.site.rest = !list[first].site.optimized ||
				 !list[first].column ||
				 next.column != list[first].column;
		list[kept++] = next;
	}
	for (size_t i = 0; i < kept; i++)
		*several |= list[i].site.rest;
	qsort(list, kept, sizeof(*list), line_address_compare);
	for (size_t i = 0; i < kept; i++)
		if (!unique ||
		    list[unique - 1].site.address != list[i].site.address)
			list[unique++] = list[i];
	return unique;
}

static int line_sites_fill(struct dwarf_line_sites *result,
			   struct dwarf_file *dwarf,
			   const struct source_lines *source,
			   const struct source_row *rows, size_t count)
{
	struct line_candidate *list = calloc(count, sizeof(*list));
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
	count = line_candidates_reduce(list, count, &several);
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
static size_t source_select(struct source_lines *source, uint32_t line,
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
	if (!source->sorted)
		qsort(all->list, all->count, sizeof(*all->list),
		      source_row_compare);
	source->sorted = true;
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

int dwarf_line_find(struct dwarf_file *dwarf, const char *file, uint32_t line,
		    struct dwarf_line_sites *result)
{
	struct source_lines *source = source_get(dwarf, file);
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
		result->line = 0;
		for (size_t i = 0; i < source->statements.count; i++)
			if (source->statements.list[i].line > result->line)
				result->line = source->statements.list[i].line;
		return 0;
	}
	result->line = rows->line;
	result->verdict = parts ? DWARF_LINE_PART :
			  result->line == line ? DWARF_LINE_FOUND :
						 DWARF_LINE_NEXT;
	return line_sites_fill(result, dwarf, source, rows, count);
}

void dwarf_line_sites_free(struct dwarf_line_sites *result)
{
	free(result->sites);
	free(result->rests);
	*result = (struct dwarf_line_sites) {0};
}
