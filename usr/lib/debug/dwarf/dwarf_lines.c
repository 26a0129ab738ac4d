// SPDX-License-Identifier: GPL-2.0
#include "dwarf_lines.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "dwarf_die.h"
#include "lib/debug/module/module.h"

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

static void lines_free(struct lines *lines)
{
	if (!lines)
		return;
	for (size_t i = 0; i < lines->unit_count; i++) {
		struct line_table *table = lines->units[i].table;

		if (!table)
			continue;
		for (size_t file = 0; file < table->path_count; file++)
			free(table->paths[file]);
		free(table->paths);
		dwarf_rows_free(&table->rows);
		free(table);
	}
	if (lines->sources)
		lines->sources_free(lines->sources);
	hash_index_free(&lines->names);
	free(lines->units);
	free(lines);
}

void dwarf_lines_free(struct dwarf_file *dwarf)
{
	lines_free(dwarf->lines);
	dwarf->lines = NULL;
}

struct lines *dwarf_lines_get(struct dwarf_file *dwarf)
{
	struct lines *lines = dwarf->lines;

	if (lines)
		return lines;
	lines = calloc(1, sizeof(*lines));
	dwarf->module->exhausted |= !lines;
	if (!lines)
		return NULL;
	dwarf_section_read(dwarf, ".debug_line", &lines->sections.line);
	dwarf_section_read(dwarf, ".debug_line_str", &lines->sections.line_str);
	dwarf_section_read(dwarf, ".debug_str", &lines->sections.str);
	if (!lines_read_units(lines, dwarf)) {
		dwarf->module->exhausted = true;
		lines_free(lines);
		return NULL;
	}
	dwarf->lines = lines;
	return lines;
}

struct line_unit *dwarf_lines_unit(struct lines *lines, Dwarf_Die *unit)
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
	struct line_unit *in = lines ? dwarf_lines_unit(lines, unit) : NULL;
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
				    struct line_unit *unit)
{
	const struct lines *lines = dwarf->lines;
	struct dwarf_program program;
	struct line_table *table;
	int code;

	if (unit->table)
		return unit->table;
	code = dwarf_program_open(&program, &lines->sections, unit->program);
	dwarf->module->exhausted |= code == -ENOMEM;
	if (code)
		return NULL;
	table = calloc(1, sizeof(*table));
	if (table && !dwarf_rows_read(&table->rows, &program, is_module_code,
				      dwarf->module)) {
		unit->table = table;
	} else {
		dwarf->module->exhausted = true;
		free(table);
	}
	dwarf_program_close(&program);
	return unit->table;
}

struct line_table *dwarf_lines_table(struct dwarf_file *dwarf, Dwarf_Die *die)
{
	struct lines *lines = dwarf_lines_get(dwarf);
	struct line_unit *unit = lines ? dwarf_lines_unit(lines, die) : NULL;

	return unit ? dwarf_lines_read(dwarf, unit) : NULL;
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
