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

#define DWARF_FILES_MAX	(1 << 20)	/* as rows can number them */

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

static char *table_path(struct dwarf_file *dwarf, Dwarf_Die *unit,
			struct line_table *table, size_t file)
{
	if (file >= table->path_count) {
		size_t count = file + 16;
		char **grown = file < DWARF_FILES_MAX ?
			reallocarray(table->paths, count, sizeof(*grown)) :
			NULL;

		if (!grown)
			return NULL;
		memset(grown + table->path_count, 0,
		       (count - table->path_count) * sizeof(*grown));
		table->paths = grown;
		table->path_count = count;
	}
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
		const struct dwarf_row *row = &table->rows.list[i];
		struct dwarf_line_row in = {
			.address = row->address, .line = row->line,
			.file = row->file, .view = row->view,
		};
		uint32_t owner;

		if (!row_line(dwarf, &unit, table, i, file, line))
			continue;
		in.path = *file;
		owner = several ? dwarf_line_owner(dwarf, &scopes, &in) : 0;
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
