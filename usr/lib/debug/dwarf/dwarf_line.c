// SPDX-License-Identifier: GPL-2.0
/* From addresses to lines of the source. */
#include "dwarf_line.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dwarf_die.h"
#include "dwarf_line_owner.h"
#include "dwarf_lines.h"
#include "lib/debug/module/module.h"

/* Split and shared debug information has file tables of its own. NULL: none. */
static const char *other_file(Dwarf_Die *unit, uint64_t number)
{
	Dwarf_Files *files;
	size_t count;

	if (dwarf_getsrcfiles(unit, &files, &count) || number >= count)
		return NULL;
	return dwarf_filesrc(files, number, NULL, NULL);
}

static bool other_file_matches(Dwarf_Die *unit, uint64_t number,
			       const char *wanted)
{
	const char *name = other_file(unit, number);

	return name && source_path_matches(name, wanted, false);
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
	struct lines *lines = dwarf_lines_get(dwarf);
	struct dwarf_program program;
	struct line_unit *unit;
	bool matches = false;
	Dwarf_Die die;
	char *path;

	if (!lines || dwarf_cu_info(cu, NULL, NULL, &die, NULL, NULL, NULL,
				    NULL))
		return false;
	if (dwarf_cu_getdwarf(cu) != dwarf->dwarf)
		return other_file_matches(&die, number, wanted);
	unit = dwarf_lines_unit(lines, &die);
	if (!unit || dwarf_program_open(&program, &lines->sections,
					unit->program))
		return false;
	path = dwarf_program_path(&program, number, unit->directory);
	matches = path && source_path_matches(path, wanted, false);
	free(path);
	dwarf_program_close(&program);
	return matches;
}

static char *unit_file(struct dwarf_file *dwarf, Dwarf_CU *cu,
		       uint64_t number)
{
	struct lines *lines = dwarf_lines_get(dwarf);
	struct dwarf_program program;
	struct line_unit *unit;
	Dwarf_Die die;
	char *path;

	if (!lines || dwarf_cu_getdwarf(cu) != dwarf->dwarf ||
	    dwarf_cu_info(cu, NULL, NULL, &die, NULL, NULL, NULL, NULL))
		return NULL;
	unit = dwarf_lines_unit(lines, &die);
	if (!unit || dwarf_program_open(&program, &lines->sections,
					unit->program))
		return NULL;
	path = dwarf_program_path(&program, number, unit->directory);
	dwarf_program_close(&program);
	return path;
}

char *dwarf_line_declared(struct dwarf_file *dwarf, const Dwarf_Die *die)
{
	Dwarf_Die root = *die, whole;
	Dwarf_Attribute attr;
	Dwarf_Word file, line;
	const char *name;
	char *path, *text;

	root = dwarf_die_root(&root);
	if (dwarf_formudata(dwarf_attr(&root, DW_AT_decl_line, &attr), &line) ||
	    dwarf_formudata(dwarf_attr(&root, DW_AT_decl_file, &attr), &file) ||
	    !dwarf_diecu(&root, &whole, NULL, NULL))
		return NULL;
	path = unit_file(dwarf, root.cu, file);
	name = path ? path : dwarf_diename(&whole);
	if (!name || asprintf(&text, "%s:%u", name, (unsigned int)line) < 0)
		text = NULL;
	free(path);
	return text;
}

static char *table_path(struct dwarf_file *dwarf, Dwarf_Die *unit,
			struct line_table *table, size_t file)
{
	struct lines *lines = dwarf_lines_get(dwarf);
	const struct line_unit *in = dwarf_lines_unit(lines, unit);
	struct dwarf_program program;

	if (table->path_count > file && table->paths[file])
		return table->paths[file];
	if (dwarf_program_open(&program, &lines->sections, in->program))
		return NULL;
	if (!table->paths)
		table->paths = calloc(program.file_count + 1,
				      sizeof(*table->paths));
	if (table->paths)
		table->path_count = program.file_count;
	if (file < table->path_count)
		table->paths[file] = dwarf_program_path(&program, file,
							in->directory);
	dwarf_program_close(&program);
	return file < table->path_count ? table->paths[file] : NULL;
}

static bool row_is_of(struct dwarf_file *dwarf, struct dwarf_scopes *scopes,
		      const Dwarf_Die *function, const struct dwarf_row *row,
		      const char *path)
{
	const struct dwarf_line_row in = {
		.address = row->address, .line = row->line,
		.file = row->file, .view = row->view, .path = path,
	};
	uint32_t owner = dwarf_line_owner(dwarf, scopes, &in);

	return scopes->blocks->list[owner].die.addr == function->addr;
}

static bool row_tell(struct dwarf_file *dwarf, Dwarf_Die *unit,
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
	return table && row_tell(dwarf, &unit, table, end - 1, file, line);
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
	for (size_t i = end; i-- > first; )
		if (row_tell(dwarf, &unit, table, i, file, line) &&
		    (!several || row_is_of(dwarf, &scopes, &function,
					   &table->rows.list[i], *file)) &&
		    (!best || *line == from->line))
			best = i + 1;
	return row_tell(dwarf, &unit, table, best ? best - 1 : end - 1, file,
			line);
}

int dwarf_line_each(struct dwarf_file *dwarf, const struct module_range *range,
		    const char *file, uint32_t line, uint32_t column,
		    int (*take)(void *context, uint64_t address),
		    void *context)
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

/* The address of the first row from `at` on that is marked as the prologue's
 * end, or else of the second one that begins a statement. */
static bool prologue_row(const struct dwarf_rows *rows, size_t at,
			 uint64_t end, uint64_t *address)
{
	unsigned int statements = 0;
	bool found = false;

	for (; at < rows->count; at++) {
		const struct dwarf_row *row = &rows->list[at];

		if (row->address >= end || row->end_sequence)
			break;
		if (row->prologue_end) {
			*address = row->address;
			return true;
		}
		if (!row->is_stmt || !row->line)
			continue;
		if (++statements == 2) {
			*address = row->address;
			found = true;
		}
	}
	return found;
}

bool dwarf_prologue_find(struct dwarf_file *dwarf, uint64_t start,
			 uint64_t end, uint64_t *address)
{
	const struct line_table *table;
	const struct dwarf_rows *rows;
	Dwarf_Die unit;
	int language;
	size_t at, behind;

	table = rows_find(dwarf, start, &unit, &at, &behind);
	if (!table)
		return false;
	language = dwarf_srclang(&unit);
	if (language == DW_LANG_Mips_Assembler ||
	    language == DWARF_LANG_ASSEMBLY)
		return false;
	rows = &table->rows;
	/* the end of the code before may stand at the same address */
	while (at < behind && rows->list[at].end_sequence)
		at++;
	return at < behind && rows->list[at].address == start &&
	       prologue_row(rows, at, end, address);
}
