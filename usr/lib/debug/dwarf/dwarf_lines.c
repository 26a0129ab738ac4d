// SPDX-License-Identifier: GPL-2.0
#include "dwarf_lines.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"

#define DWARF_FILES_MAX	(1 << 20)	/* as rows can number them */

/* ---- units and their tables ---- */

static bool lines_read_units(struct lines *lines, struct dwarf_file *dwarf)
{
	Dwarf_CU *unit = NULL;
	uint64_t end = 0;
	size_t kept = 0;
	Dwarf_Die die;
	uint8_t type;

	while (!dwarf_get_units(dwarf->dwarf, unit, &unit, NULL, &type, &die,
				NULL)) {
		struct line_unit found = { 0 };

		if (!die.cu ||
		    (type != DW_UT_compile && type != DW_UT_skeleton) ||
		    !dwarf_die_number(&die, DW_AT_stmt_list, &found.program))
			continue;
		found.directory = dwarf_die_text(&die, DW_AT_comp_dir);
		if (!array_grow(&lines->units, lines->unit_count,
				&lines->unit_room, sizeof(*lines->units)))
			return false;
		lines->units[lines->unit_count++] = found;
	}
	if (lines->unit_count)
		qsort(lines->units, lines->unit_count, sizeof(*lines->units),
		      array_compare);
	/* Units may share a program, but programs don't overlap. */
	for (size_t i = 0; i < lines->unit_count; i++) {
		uint64_t program = lines->units[i].program, after;

		after = program < end ? 0 :
			dwarf_program_end(&lines->sections, program);
		if (!after)
			continue;
		end = after;
		lines->units[kept++] = lines->units[i];
	}
	lines->unit_count = kept;
	return true;
}

void dwarf_lines_forget(struct line_unit *unit)
{
	struct line_table *table = unit->table;

	if (!table)
		return;
	for (size_t i = 0; i < table->path_count; i++)
		free(table->paths[i]);
	free(table->paths);
	dwarf_rows_free(&table->rows);
	free(table);
	unit->table = NULL;
}

static void lines_free(void *value)
{
	struct lines *lines = value;

	for (size_t i = 0; i < lines->unit_count; i++)
		dwarf_lines_forget(&lines->units[i]);
	hash_index_free(&lines->names);
	free(lines->units);
	free(lines);
}

struct lines *dwarf_lines_get(struct dwarf_file *dwarf)
{
	struct lines *lines = dwarf_memo_find(dwarf, DWARF_LINES, NULL);

	if (lines)
		return lines;
	lines = calloc(1, sizeof(*lines));
	if (lines) {
		dwarf_section_read(dwarf, ".debug_line", &lines->sections.line);
		dwarf_section_read(dwarf, ".debug_line_str",
				   &lines->sections.line_str);
		dwarf_section_read(dwarf, ".debug_str", &lines->sections.str);
	}
	if (lines && !lines_read_units(lines, dwarf)) {
		lines_free(lines);
		lines = NULL;
	}
	if (lines)
		lines = dwarf_memo_add(dwarf, DWARF_LINES, NULL, lines,
				       lines_free);
	dwarf->module->exhausted |= !lines;
	return lines;
}

/* The unit's part; NULL: it has none. */
static struct line_unit *line_unit_find(struct lines *lines, Dwarf_Die *unit)
{
	struct line_unit key = {0};

	if (!lines->unit_count ||
	    !dwarf_die_number(unit, DW_AT_stmt_list, &key.program))
		return NULL;
	return bsearch(&key, lines->units, lines->unit_count, sizeof(key),
		       array_compare);
}

char *dwarf_lines_path(struct dwarf_file *dwarf, Dwarf_Die *unit,
		       uint64_t number)
{
	struct lines *lines = dwarf_lines_get(dwarf);
	struct line_unit *in = lines ? line_unit_find(lines, unit) : NULL;
	struct dwarf_program program;
	char *path;

	if (!in || dwarf_program_open(&program, &lines->sections, in->program))
		return NULL;
	path = dwarf_program_path(&program, number, in->directory);
	dwarf_program_close(&program);
	return path;
}

/* Split and shared debug information has file tables of its own. NULL: none. */
static const char *other_file(Dwarf_Die *unit, uint64_t number)
{
	Dwarf_Files *files;
	size_t count;

	if (dwarf_getsrcfiles(unit, &files, &count) || number >= count)
		return NULL;
	return dwarf_filesrc(files, number, NULL, NULL);
}

/* dwarf_decl_file() of libdw 0.188 aborts in a split unit. */
const char *dwarf_line_decl_file(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Word number;
	Dwarf_Die unit;

	if (dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_file, &attr),
			    &number) ||
	    dwarf_cu_info(attr.cu, NULL, NULL, &unit, NULL, NULL, NULL, NULL))
		return NULL;
	return other_file(&unit, number);
}

bool dwarf_line_unit_file_matches(struct dwarf_file *dwarf, Dwarf_CU *cu,
				  uint64_t number, const char *wanted)
{
	const char *name;
	bool matches;
	Dwarf_Die die;
	char *path;

	if (dwarf_cu_info(cu, NULL, NULL, &die, NULL, NULL, NULL, NULL))
		return false;
	if (dwarf_cu_getdwarf(cu) != dwarf->dwarf) {
		name = other_file(&die, number);
		return name && source_path_matches(name, wanted, false);
	}
	path = dwarf_lines_path(dwarf, &die, number);
	matches = path && source_path_matches(path, wanted, false);
	free(path);
	return matches;
}

static bool is_module_code(const void *context, uint64_t address)
{
	size_t available;

	return module_code(context, address, &available, NULL);
}

struct line_table *dwarf_lines_read(struct dwarf_file *dwarf,
				    struct line_unit *unit,
				    const struct dwarf_program *program)
{
	struct line_table *table;

	if (unit->table)
		return unit->table;
	table = calloc(1, sizeof(*table));
	if (table && !dwarf_rows_read(&table->rows, program, is_module_code,
				      dwarf->module)) {
		unit->table = table;
	} else {
		dwarf->module->exhausted = true;
		free(table);
	}
	return unit->table;
}

struct line_table *dwarf_lines_table(struct dwarf_file *dwarf, Dwarf_Die *die)
{
	struct lines *lines = dwarf_lines_get(dwarf);
	struct line_unit *unit = lines ? line_unit_find(lines, die) : NULL;
	struct dwarf_program program;
	int code;

	if (!unit || unit->table)
		return unit ? unit->table : NULL;
	code = dwarf_program_open(&program, &lines->sections, unit->program);
	dwarf->module->exhausted |= code == -ENOMEM;
	if (code)
		return NULL;
	dwarf_lines_read(dwarf, unit, &program);
	dwarf_program_close(&program);
	return unit->table;
}

static uint32_t file_name_hash(const char *name)
{
	uint32_t hash = 2166136261u;	/* FNV-1a, 32 bits */

	for (; *name; name++) {
		uint8_t c = *name;

		c |= c >= 'A' && c <= 'Z' ? 0x20 : 0;
		hash = (hash ^ c) * 16777619u;
	}
	return hash;
}

static bool lines_read_names(struct lines *lines)
{
	bool good = true;

	for (size_t i = 0; good && i < lines->unit_count; i++) {
		struct dwarf_program program;
		int code = dwarf_program_open(&program, &lines->sections,
					      lines->units[i].program);

		good = code != -ENOMEM;
		if (code)
			continue;
		for (size_t k = 0; good && k < program.file_count; k++) {
			const char *name =
				source_path_base(program.files[k].name);

			good = hash_index_add(&lines->names,
					      file_name_hash(name), i);
		}
		dwarf_program_close(&program);
	}
	good = good && hash_index_make(&lines->names);
	if (!good)
		hash_index_free(&lines->names);
	return good;
}

struct line_unit *dwarf_lines_next(struct lines *lines, const char *name,
				   uint32_t *position, bool *failed)
{
	uint32_t hash = file_name_hash(name), unit, before = UINT32_MAX;

	*failed = !lines->names.buckets && !lines_read_names(lines);
	if (*failed)
		return NULL;
	if (*position)
		before = lines->names.entries[*position - 1].number;
	while (hash_index_next(&lines->names, hash, position, &unit))
		if (unit != before)
			return &lines->units[unit];
	return NULL;
}

/*
 * ---- the function that a row is of ----
 *
 * Where inlined copies begin, their lines and those of the function around them
 * have the same address. The order of the rows, which gcc numbers (views), or
 * the lines in the entries decide.
 */

struct owner_search {
	struct dwarf_file *dwarf;
	struct dwarf_scopes *scopes;
	const struct dwarf_row *row;
	const char *path;	/* of its file */
	uint32_t owner;		/* the best so far */
	uint64_t declared;	/* the line where it is; 0: not known */
};

/* The row's file is the one that the entry names. Split debug information has
 * file tables of its own, without directories. */
static bool is_of_file(const struct owner_search *search, Dwarf_Die *die,
		       unsigned int name)
{
	bool split = dwarf_cu_getdwarf(die->cu) != search->dwarf->dwarf;
	uint64_t number;

	if (!dwarf_die_number(die, name, &number))
		return false;
	if (!split && number == search->row->file &&
	    die->cu == search->scopes->dies[0].cu)
		return true;
	return dwarf_line_unit_file_matches(
		search->dwarf, die->cu, number,
		split ? source_path_base(search->path) : search->path);
}

/* The line where the function is declared, when that is in the row's file. gcc
 * has none for lambdas: then UINT64_MAX. */
static uint64_t declared_at(const struct owner_search *search,
			    const Dwarf_Die *die)
{
	Dwarf_Die at = *die;
	uint64_t line;

	for (int i = 0; i <= DWARF_ORIGINS_MAX; i++) {
		if (dwarf_die_number(&at, DW_AT_decl_line, &line))
			return is_of_file(search, &at, DW_AT_decl_file) ? line :
									  0;
		if (!dwarf_die_origin(&at))
			break;
	}
	return UINT64_MAX;
}

static uint64_t called_at(const struct owner_search *search, Dwarf_Die *copy)
{
	uint64_t line;

	return dwarf_die_number(copy, DW_AT_call_line, &line) &&
	       is_of_file(search, copy, DW_AT_call_file) ? line : 0;
}

/* A lambda is defined before its call, in the function that calls it. */
static bool is_declared_before_call(const struct owner_search *search,
				    uint32_t number, uint64_t declared)
{
	const struct dwarf_block *list = search->scopes->blocks->list;
	Dwarf_Die copy = list[number].die;
	uint64_t called = called_at(search, &copy), around;

	if (called <= declared || search->row->line < called)
		return false;
	do {
		number = list[number].outer;
		copy = list[number].die;
	} while (number && dwarf_block_is_one(dwarf_tag(&copy)));
	around = declared_at(search, &copy);
	return around && around < declared;
}

static bool is_around(const struct dwarf_scopes *scopes, uint32_t number)
{
	for (size_t i = 0; i < scopes->count; i++)
		if (scopes->numbers[i] == number)
			return true;
	return false;
}

/* Of several the one that is declared nearest above the line; one that has the
 * address before one that is entered there and has no code. */
static void owner_consider(struct owner_search *search, uint32_t number)
{
	const Dwarf_Die *die = &search->scopes->blocks->list[number].die;
	bool around = is_around(search->scopes, number);
	uint64_t declared = declared_at(search, die);

	if (declared == UINT64_MAX && around)
		declared = search->row->line;
	else if (declared > search->row->line ||
		 (number && is_declared_before_call(search, number, declared)))
		declared = 0;
	if (declared < search->declared ||
	    (!around && declared == search->declared))
		return;
	search->declared = declared;
	search->owner = number;
}

/* One of its ranges begins there. */
static bool begins_at(Dwarf_Die *die, uint64_t address)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		if (start == address)
			return true;
	return false;
}

uint32_t dwarf_line_owner(struct dwarf_file *dwarf, struct dwarf_scopes *scopes,
			  const struct dwarf_row *row, const char *path)
{
	struct owner_search search = {
		.dwarf = dwarf, .scopes = scopes, .row = row, .path = path,
	};
	const struct dwarf_block *list = scopes->blocks->list;
	uint32_t skipped = UINT32_MAX;

	owner_consider(&search, 0);
	for (uint32_t i = 1; i < scopes->blocks->count; i++) {
		Dwarf_Die copy = list[i].die;
		bool around = is_around(scopes, i), entered, before;
		uint32_t outer = i;
		uint64_t view;

		while (outer > skipped)
			outer = list[outer].outer;
		if (!list[i].inlined || outer == skipped)
			continue;
		/* The entry may have the number of the row that is the copy's
		 * first one. Else a row is before the copy when it is the line
		 * of the call. */
		entered = list[i].entry && list[i].entry == row->address &&
			  dwarf_die_number(&copy, DW_AT_GNU_entry_view, &view);
		if (entered)
			before = row->view < view;
		else
			before = around && begins_at(&copy, row->address) &&
				 called_at(&search, &copy) == row->line;
		if (before)
			skipped = i;
		else if (entered || around)
			owner_consider(&search, i);
	}
	return search.owner;
}

/* ---- from addresses to lines ---- */

char *dwarf_line_declared(struct dwarf_file *dwarf, const Dwarf_Die *die)
{
	Dwarf_Die root = *die, unit;
	uint64_t file, line;
	char *path = NULL, *text;
	const char *name;

	root = dwarf_die_root(&root);
	if (!dwarf_die_number(&root, DW_AT_decl_line, &line) ||
	    !dwarf_die_number(&root, DW_AT_decl_file, &file) ||
	    !dwarf_diecu(&root, &unit, NULL, NULL))
		return NULL;
	if (dwarf_cu_getdwarf(root.cu) == dwarf->dwarf)
		path = dwarf_lines_path(dwarf, &unit, file);
	name = path ? path : dwarf_diename(&unit);
	if (!name || asprintf(&text, "%s:%u", name, (unsigned int)line) < 0)
		text = NULL;
	free(path);
	return text;
}

static const char *table_path(struct dwarf_file *dwarf, Dwarf_Die *unit,
			      struct line_table *table, size_t file)
{
	if (file >= DWARF_FILES_MAX ||
	    !array_extend(&table->paths, &table->path_count, &table->path_room,
			  sizeof(*table->paths), file))
		return NULL;
	if (!table->paths[file])
		table->paths[file] = dwarf_lines_path(dwarf, unit, file);
	return table->paths[file];
}

static bool row_line(struct dwarf_file *dwarf, Dwarf_Die *unit,
		     struct line_table *table, size_t at, const char **file,
		     uint32_t *line)
{
	const struct dwarf_row *row = &table->rows.list[at];

	if (row->end_sequence || !row->line)
		return false;
	*file = table_path(dwarf, unit, table, row->file);
	*line = row->line;
	return *file;
}

/* As dwarf_rows_find() has it; NULL: there is no such row. */
static struct line_table *rows_find(struct dwarf_file *dwarf, uint64_t address,
				    Dwarf_Die *unit, size_t *first, size_t *end)
{
	struct line_table *table;

	if (!dwarf_skeleton_find(dwarf, address, unit))
		return NULL;
	table = dwarf_lines_table(dwarf, unit);
	return table && dwarf_rows_find(&table->rows, address, first, end) ?
	       table : NULL;
}

bool dwarf_line_of(struct dwarf_file *dwarf, uint64_t address,
		   const char **file, uint32_t *line)
{
	struct line_table *table;
	size_t first, end;
	Dwarf_Die unit;

	table = rows_find(dwarf, address, &unit, &first, &end);
	return table && row_line(dwarf, &unit, table, end - 1, file, line);
}

bool dwarf_line_from(struct dwarf_file *dwarf, const struct dwarf_from *from,
		     const char **file, uint32_t *line)
{
	struct dwarf_scopes scopes;
	struct line_table *table;
	size_t first, end, best = 0;
	Dwarf_Die unit, function;
	bool several;

	table = rows_find(dwarf, from->pc, &unit, &first, &end);
	if (!table || dwarf_scopes_find(dwarf, from->pc, &scopes))
		return false;
	several = dwarf_scopes_choose(dwarf, from, &function);
	for (size_t i = end; i-- > first; ) {
		uint32_t owner;

		if (!row_line(dwarf, &unit, table, i, file, line))
			continue;
		owner = several ?
			dwarf_line_owner(dwarf, &scopes, &table->rows.list[i],
					 *file) : 0;
		if ((!several || scopes.blocks->list[owner].die.addr ==
					 function.addr) &&
		    (!best || *line == from->line))
			best = i + 1;
	}
	return row_line(dwarf, &unit, table, best ? best - 1 : end - 1, file,
			line);
}

int dwarf_line_each(struct dwarf_file *dwarf, const struct module_range *range,
		    const char *file, uint32_t line, uint32_t column,
		    int (*take)(void *context, uint64_t address), void *context)
{
	struct line_table *table;
	uint64_t taken = 0;
	size_t at, end;
	Dwarf_Die unit;
	int code = 0;

	table = rows_find(dwarf, range->start, &unit, &at, &end);
	for (; table && !code && at < table->rows.count; at++) {
		const struct dwarf_row *row = &table->rows.list[at];
		const char *path;

		if (row->address >= range->end)
			break;
		if (row->address < range->start || row->end_sequence ||
		    !row->is_stmt || row->line != line ||
		    row->column != column || row->address == taken)
			continue;
		path = table_path(dwarf, &unit, table, row->file);
		if (!path || strcmp(source_path_base(path),
				    source_path_base(file)))
			continue;
		taken = row->address;
		code = take(context, taken);
	}
	return code;
}

bool dwarf_line_begins(struct dwarf_file *dwarf, uint64_t address)
{
	struct line_table *table;
	size_t at, end;
	Dwarf_Die unit;

	table = rows_find(dwarf, address, &unit, &at, &end);
	for (; table && at < end; at++) {
		const struct dwarf_row *row = &table->rows.list[at];

		if (row->address == address && !row->end_sequence &&
		    row->is_stmt && row->line)
			return true;
	}
	return false;
}

bool dwarf_prologue_find(struct dwarf_file *dwarf, uint64_t start,
			 uint64_t end, uint64_t *address)
{
	unsigned int statements = 0;
	const struct line_table *table;
	const struct dwarf_row *rows;
	size_t at, after;
	Dwarf_Die unit;
	int language;

	table = rows_find(dwarf, start, &unit, &at, &after);
	if (!table)
		return false;
	language = dwarf_srclang(&unit);
	if (language == DW_LANG_Mips_Assembler ||
	    language == DWARF_LANG_ASSEMBLY)
		return false;
	rows = table->rows.list;
	/* the code before may end at the same address */
	while (at < after && rows[at].end_sequence)
		at++;
	if (at == after || rows[at].address != start)
		return false;
	for (; at < table->rows.count && rows[at].address < end &&
	       !rows[at].end_sequence; at++) {
		if (rows[at].is_stmt && rows[at].line)
			statements++;
		else if (!rows[at].prologue_end)
			continue;
		if (rows[at].prologue_end || statements == 2)
			*address = rows[at].address;
		if (rows[at].prologue_end)
			return true;
	}
	return statements > 1;
}
