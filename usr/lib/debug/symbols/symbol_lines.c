// SPDX-License-Identifier: GPL-2.0
#include "symbol_library.h"

#if SYMBOL_LIBRARY

#include "symbol_lines.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of a unit, or of several. */
struct symbol_program {
	struct dwarf_program program;
	const char *directory;		/* where it was compiled, or NULL */
	struct dwarf_rows rows;
	char **paths;			/* by file, made when asked for */
};

void symbol_lines_open(struct symbol_lines *lines,
		       const struct symbol_library *library,
		       Dwfl_Module *module, uint64_t bias,
		       const struct symbol_elf *elf, bool *failed)
{
	*lines = (struct symbol_lines){
		.library = library, .module = module, .bias = bias, .elf = elf,
		.failed = failed,
	};
}

static void program_free(struct symbol_program *program)
{
	for (size_t i = 0; program->paths && i < program->program.file_count;
	     i++)
		free(program->paths[i]);
	free(program->paths);
	dwarf_rows_free(&program->rows);
	dwarf_program_close(&program->program);
	free(program);
}

void symbol_lines_close(struct symbol_lines *lines)
{
	struct symbol_program *program;
	size_t at = 0;

	while ((program = key_map_next(&lines->programs, &at)))
		program_free(program);
	key_map_free(&lines->programs);
	symbol_units_free(&lines->units);
}

/* ---- reading ---- */

/* libdw has expanded a packed one, whose name stays. */
static bool name_is(const char *name, const char *wanted)
{
	return name && (!strncmp(name, ".debug_", 7) ?
			!strcmp(name + 7, wanted) :
			!strncmp(name, ".zdebug_", 8) &&
			!strcmp(name + 8, wanted));
}

static void section_take(struct symbol_lines *lines,
			 Elf_Scn *section, const char *name,
			 const GElf_Shdr *header)
{
	struct dwarf_bytes *bytes =
		name_is(name, "line") ? &lines->sections.line :
		name_is(name, "line_str") ? &lines->sections.line_str :
		name_is(name, "str") ? &lines->sections.str :
		name_is(name, "rnglists") ? &lines->units.lists : NULL;
	const Elf_Data *data;

	if (!bytes || header->sh_type == SHT_NOBITS ||
	    header->sh_flags & SHF_COMPRESSED)
		return;
	data = lines->library->elf_rawdata(section, NULL);
	if (data && data->d_buf)
		*bytes = (struct dwarf_bytes){ data->d_buf, data->d_size };
}

/* Linkers put code that they left out at 0, where a file begins. */
static bool is_code(const void *context, uint64_t address)
{
	const struct symbol_lines *lines = context;
	const struct symbol_segment *segment = lines->elf->segments;

	address += lines->dwarf_bias - lines->bias;
	for (size_t i = 0; i < lines->elf->segment_count; i++, segment++)
		if (address - segment->address < segment->bytes)
			return address || segment->offset;
	return false;
}

static void lines_read(struct symbol_lines *lines)
{
	const struct symbol_library *library = lines->library;
	Elf_Scn *section = NULL;
	Dwarf *dwarf;
	Dwarf_Addr bias = 0;
	GElf_Shdr header;
	Elf *elf;
	size_t names;

	lines->read = true;
	dwarf = library->dwfl_module_getdwarf(lines->module, &bias);
	elf = dwarf ? library->dwarf_getelf(dwarf) : NULL;
	if (!elf || library->elf_getshdrstrndx(elf, &names))
		return;
	lines->dwarf_bias = bias;
	while ((section = library->elf_nextscn(elf, section)))
		if (library->gelf_getshdr(section, &header))
			section_take(lines, section,
				     library->elf_strptr(elf, names,
						     header.sh_name), &header);
	lines->left = lines->sections.line.size;
	if (!symbol_units_read(&lines->units, library, lines->module, is_code,
			       lines))
		*lines->failed = true;
}

/* ---- programs ---- */

/* Programs don't overlap: all of them don't have more than the section. */
static void program_read(struct symbol_lines *lines, uint64_t offset,
			 struct symbol_program *program)
{
	uint64_t end = dwarf_program_end(&lines->sections, offset);
	int code;

	if (!end || end - offset > lines->left)
		return;
	lines->left -= end - offset;
	code = dwarf_program_open(&program->program, &lines->sections, offset);
	if (!code)
		code = dwarf_rows_read(&program->rows, &program->program,
				       is_code, lines);
	if (code == -ENOMEM)
		*lines->failed = true;
}

/* The unit's; NULL: it has none, or there is no memory. */
static struct symbol_program *program_get(struct symbol_lines *lines,
					  Dwarf_Die *unit)
{
	const struct symbol_library *library = lines->library;
	Dwarf_Attribute attribute;
	struct symbol_program *program;
	Dwarf_Word offset;

	if (!library->dwarf_attr(unit, DW_AT_stmt_list, &attribute) ||
	    library->dwarf_formudata(&attribute, &offset))
		return NULL;
	program = key_map_find(&lines->programs, offset);
	if (program)
		return program;
	program = calloc(1, sizeof(*program));
	*lines->failed |= !program;
	if (!program)
		return NULL;
	if (library->dwarf_attr(unit, DW_AT_comp_dir, &attribute))
		program->directory = library->dwarf_formstring(&attribute);
	program_read(lines, offset, program);
	if (!key_map_add(&lines->programs, offset, program))
		return program;
	program_free(program);
	*lines->failed = true;
	return NULL;
}

static const char *program_path(struct symbol_program *program, size_t file)
{
	const struct dwarf_program *from = &program->program;

	if (file >= from->file_count)
		return NULL;
	if (!program->paths)
		program->paths = calloc(from->file_count,
					sizeof(*program->paths));
	if (program->paths && !program->paths[file])
		program->paths[file] = dwarf_program_path(from, file,
							  program->directory);
	return program->paths ? program->paths[file] : NULL;
}

/* ---- asking ---- */

/* For a unit without address ranges libdw decides. */
static Dwarf_Die *unit_find(const struct symbol_lines *lines,
			    uint64_t address)
{
	Dwarf_Die *unit = symbol_units_find(&lines->units,
					    address - lines->dwarf_bias);
	Dwarf_Addr base = 0, start, end;

	if (unit)
		return unit;
	unit = lines->library->dwfl_module_addrdie(lines->module, address,
						   &base);
	return unit && symbol_units_range(&lines->units, lines->library, unit,
					  0, &base, &start, &end) > 0 ?
	       NULL : unit;
}

void symbol_lines_find(struct symbol_lines *lines, uint64_t address,
		       struct symbols_place *place)
{
	struct symbol_program *program = NULL;
	const struct dwarf_row *row;
	Dwarf_Die *unit;
	size_t first, end;

	if (!lines->read)
		lines_read(lines);
	unit = lines->sections.line.size ? unit_find(lines, address) : NULL;
	if (unit)
		program = program_get(lines, unit);
	if (!program ||
	    !dwarf_rows_find(&program->rows, address - lines->dwarf_bias,
			     &first, &end))
		return;
	row = &program->rows.list[end - 1];
	if (row->end_sequence)
		return;
	place->file = program_path(program, row->file);
	place->line = row->line;
}

#endif
