// SPDX-License-Identifier: GPL-2.0
/*
 * Of a file that was asked for all rows are kept; where a line's code is in
 * several functions, inlined copies or instances of a template, each has an
 * address of its own.
 */
#include "dwarf_source.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "lib/array.h"
#include "lib/hash.h"
#include "dwarf_lines.h"

#define FEW_UNITS	4

/* A file that a name means. */
struct source_file {
	char *path;
	bool exact;		/* upper and lower case agree, too */
	bool has_code;
};

struct source_row {
	uint64_t line;
	uint64_t end;
	struct dwarf_row row;
	uint32_t file;		/* of the source */
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
	struct source_rows statements;	/* rows that begin one, by line */
	struct source_rows parts;	/* other rows, after another line's */
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
	struct source_lines *source;
	uint32_t *files;	/* by number in the unit: in the source, + 1 */
	size_t file_count;
	size_t open;		/* the first row whose end isn't known */
	bool inside;		/* a sequence */
	bool optimized, marked;	/* as in the rows */
	struct dwarf_row before;
};

static int source_take(struct source_reader *r, const struct dwarf_row *row)
{
	struct source_rows *statements = &r->source->statements;
	struct source_rows *rows = row->is_stmt ? statements :
						  &r->source->parts;
	bool same_line = r->before.line == row->line;
	bool same = same_line && r->before.file == row->file;
	bool goes_on = r->inside && !row->is_stmt && same;

	/* Only a statement that was marked before the code was optimised has a
	 * row of its own, before that of the part of it that is run first. */
	r->optimized |= !row->is_stmt;
	r->marked |= r->inside && !row->is_stmt && same_line &&
		     r->before.address == row->address &&
		     r->before.column != row->column;
	/* The code of another line begins at the row, or none does. */
	if (!same || row->end_sequence)
		for (; r->open < statements->count; r->open++)
			statements->list[r->open].end = row->address;
	r->inside = !row->end_sequence;
	r->before = *row;
	if (row->end_sequence || goes_on || !row->line ||
	    row->file >= r->file_count || !r->files[row->file])
		return 0;
	if (!array_grow(&rows->list, rows->count, &rows->room,
			sizeof(*rows->list)))
		return -ENOMEM;
	rows->list[rows->count++] = (struct source_row) {
		.line = row->line, .row = *row,
		.file = r->files[row->file] - 1,
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
		.source = source, .file_count = program->file_count,
		.open = source->statements.count,
	};
	size_t before = source->statements.count;
	struct line_table *table;
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
	keep |= unit->table != NULL;
	table = any ? dwarf_lines_read(dwarf, unit, program) : NULL;
	for (size_t i = 0; table && i < table->rows.count && !code; i++)
		code = source_take(&reader, &table->rows.list[i]);
	if (!keep)
		dwarf_lines_forget(unit);
	source->failed |= code || (any && !table);
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
	return (x->row.address > y->row.address) -
	       (x->row.address < y->row.address);
}

/* A file whose name has the same case takes precedence. */
static void rows_settle(const struct source_lines *source,
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
	if (kept)
		qsort(rows->list, kept, sizeof(*rows->list),
		      source_row_compare);
}

static void source_free(void *value)
{
	struct source_lines *source = value;

	for (size_t i = 0; i < source->file_count; i++)
		free(source->files[i].path);
	free(source->files);
	free(source->statements.list);
	free(source->parts.list);
	free(source->name);
	free(source);
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
	rows_settle(source, &source->statements);
	rows_settle(source, &source->parts);
}

/* NULL: no memory. */
static struct source_lines *source_get(struct dwarf_file *dwarf,
				       const char *name)
{
	const struct key_map *known = &dwarf->memos[DWARF_SOURCES].map;
	uint64_t key = hash_fnv(HASH_FNV_START, name, strlen(name));
	struct lines *lines = dwarf_lines_get(dwarf);
	struct source_lines *source;
	size_t step = 0;

	while ((source = key_map_each(known, key, &step)))
		if (!strcmp(source->name, name))
			return source;
	source = lines ? calloc(1, sizeof(*source)) : NULL;
	if (!source)
		return NULL;
	source->name = strdup(name);
	if (source->name)
		source_lines_read(source, dwarf, lines);
	if (source->name && !source->failed)
		return dwarf_memo_add(dwarf, DWARF_SOURCES,
				      (void *)(uintptr_t)key, source,
				      source_free);
	source_free(source);
	return NULL;
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
			   const struct source_row *source, const char *path)
{
	const struct dwarf_row *row = &source->row;
	struct dwarf_line_site *site = &candidate->site;
	Dwarf_Addr base, start, end;
	struct dwarf_scopes scopes;
	Dwarf_Die function, unit;
	const char *producer = NULL;
	uint64_t entry = 0;
	ptrdiff_t at = 0;

	candidate->file = path;
	candidate->column = row->column;
	*site = (struct dwarf_line_site) {
		.address = row->address, .end = source->end,
		.file = row->file, .optimized = source->optimized,
	};
	if (dwarf_scopes_find(dwarf, row->address, &scopes) || !scopes.count) {
		candidate->owner = module_function_find(dwarf->module,
							row->address);
		return;
	}
	candidate->number = dwarf_line_owner(dwarf, &scopes, row, path);
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
	site->optimized &= strstr(producer, " -O") && !strstr(producer, " -O0");
	site->marked = site->optimized && source->marked && row->column &&
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

/* The rows of the first line with code from `line` on */
static const struct source_row *source_rows_find(const struct source_rows *rows,
						 uint32_t line, size_t *count)
{
	size_t at = array_count_upto(rows->list, rows->count,
				     sizeof(*rows->list), line ? line - 1 : 0);
	const struct source_row *first = rows->list + at;

	for (*count = 0; at < rows->count && rows->list[at].line == first->line;
	     at++)
		++*count;
	return first;
}

int dwarf_line_find(struct dwarf_file *dwarf, const char *file, uint32_t line,
		    struct dwarf_line_sites *result)
{
	struct source_lines *source = source_get(dwarf, file);
	const struct source_row *rows, *parts;
	size_t count, part_count, files = 0;
	struct line_candidate *list;
	bool several;

	*result = (struct dwarf_line_sites) {
		.verdict = DWARF_LINE_NO_FILE, .line = line,
	};
	if (!source)
		return -ENOMEM;
	if (!source->file_count)
		return 0;
	result->file = source->files[0].path;
	for (size_t i = 0; i < source->file_count; i++)
		files += source->files[i].has_code;
	result->several_files = files > 1;
	rows = source_rows_find(&source->statements, line, &count);
	result->verdict = DWARF_LINE_FOUND;
	if (!count || rows->line != line) {
		result->verdict = DWARF_LINE_NEXT;
		parts = source_rows_find(&source->parts, line, &part_count);
		if (part_count && parts->line == line) {
			result->verdict = DWARF_LINE_PART;
			rows = parts;
			count = part_count;
		}
	}
	if (!count) {
		result->verdict = DWARF_LINE_PAST;
		result->line = 0;
		if (source->statements.count)
			result->line = rows[-1].line;
		return 0;
	}
	result->line = rows->line;
	list = calloc(count, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		candidate_fill(&list[i], dwarf, &rows[i],
			       source->files[rows[i].file].path);
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

void dwarf_line_sites_free(struct dwarf_line_sites *result)
{
	free(result->sites);
	free(result->rests);
	*result = (struct dwarf_line_sites) {0};
}
