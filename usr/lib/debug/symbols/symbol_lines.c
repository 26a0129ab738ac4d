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
	free(lines->units.list);
}

/* Linkers put code that they left out at 0, where a file begins. */
static bool is_segment_code(const void *context, uint64_t address)
{
	const struct symbol_lines *lines = context;
	const struct symbol_segment *segment = lines->elf->segments;

	address += lines->dwarf_bias - lines->bias;
	for (size_t i = 0; i < lines->elf->segment_count; i++, segment++)
		if (address - segment->address < segment->bytes)
			return address || segment->offset;
	return false;
}

/*
 * The unit's entry in the table of offsets to range lists (DWARF 5, section 7.28)
 * points into the section. libdw doesn't check that: an entry of 64 bits may
 * point anywhere.
 */
static bool list_is_within(const struct symbol_lines *lines, Dwarf_Die *unit)
{
	Dwarf_Attribute ranges, attribute;
	const struct symbol_library *library = lines->library;
	size_t size = lines->lists.size;
	uint8_t address_bytes, offset_bytes;
	Dwarf_Die whole;
	Dwarf_Word index, base;
	uint64_t offset;

	if (!library->dwarf_attr(unit, DW_AT_ranges, &ranges) ||
	    ranges.form != DW_FORM_rnglistx ||
	    !library->dwarf_diecu(unit, &whole, &address_bytes,
				  &offset_bytes) ||
	    offset_bytes != sizeof(offset))
		return true;
	ranges.form = DW_FORM_udata;
	if (library->dwarf_formudata(&ranges, &index) ||
	    !library->dwarf_attr(unit, DW_AT_rnglists_base, &attribute) ||
	    library->dwarf_formudata(&attribute, &base) ||
	    size < sizeof(offset) || base > size - sizeof(offset) ||
	    index > (size - sizeof(offset) - base) / sizeof(offset))
		return false;
	memcpy(&offset, lines->lists.data + base + index * sizeof(offset),
	       sizeof(offset));
	return offset < size - base;
}

/* dwarf_ranges() of a unit, and none where libdw would read outside of the
 * lists */
static ptrdiff_t unit_range(const struct symbol_lines *lines, Dwarf_Die *unit,
			    ptrdiff_t at, Dwarf_Addr *base, Dwarf_Addr *start,
			    Dwarf_Addr *end)
{
	if (!at && !list_is_within(lines, unit))
		return 0;
	return lines->library->dwarf_ranges(unit, at, base, start, end);
}

static void symbol_lines_read(struct symbol_lines *lines)
{
	const struct symbol_library *library = lines->library;
	Elf_Scn *section = NULL;
	Dwarf_Die *unit = NULL;
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
	while ((section = library->elf_nextscn(elf, section))) {
		struct {
			const char *name;
			struct dwarf_bytes *bytes;
		} wanted[] = {
			{ "line", &lines->sections.line },
			{ "line_str", &lines->sections.line_str },
			{ "str", &lines->sections.str },
			{ "rnglists", &lines->lists },
		};
		const char *name = library->gelf_getshdr(section, &header) ?
			library->elf_strptr(elf, names, header.sh_name) : NULL;
		const Elf_Data *data;

		/* libdw has expanded a packed one, whose name stays */
		if (!name || header.sh_type == SHT_NOBITS ||
		    header.sh_flags & SHF_COMPRESSED ||
		    (strncmp(name, ".debug_", 7) &&
		     strncmp(name, ".zdebug_", 8)))
			continue;
		name = strchr(name, '_') + 1;
		for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
			if (strcmp(name, wanted[i].name))
				continue;
			data = library->elf_rawdata(section, NULL);
			if (data && data->d_buf)
				*wanted[i].bytes = (struct dwarf_bytes){
					data->d_buf, data->d_size,
				};
		}
	}
	lines->left = lines->sections.line.size;
	while ((unit = library->dwfl_module_nextcu(lines->module, unit,
						   &bias))) {
		Dwarf_Addr base = 0, start, end;
		ptrdiff_t at = 0;

		while ((at = unit_range(lines, unit, at, &base, &start,
					&end)) > 0)
			if (start < end && is_segment_code(lines, start) &&
			    !unit_ranges_add(&lines->units, start, end,
					     (uintptr_t)unit)) {
				*lines->failed = true;
				unit_ranges_sort(&lines->units);
				return;
			}
	}
	unit_ranges_sort(&lines->units);
}

/* The unit's; NULL: it has none, or there is no memory. */
static struct symbol_program *program_get(struct symbol_lines *lines,
					  Dwarf_Die *unit)
{
	const struct symbol_library *library = lines->library;
	Dwarf_Attribute attribute;
	struct symbol_program *program;
	Dwarf_Word offset;
	uint64_t end;
	int code = 0;

	if (!library->dwarf_attr(unit, DW_AT_stmt_list, &attribute) ||
	    library->dwarf_formudata(&attribute, &offset))
		return NULL;
	program = key_map_find(&lines->programs, offset);
	if (program)
		return program;
	program = calloc(1, sizeof(*program));
	if (!program || key_map_add(&lines->programs, offset, program)) {
		free(program);
		*lines->failed = true;
		return NULL;
	}
	if (library->dwarf_attr(unit, DW_AT_comp_dir, &attribute))
		program->directory = library->dwarf_formstring(&attribute);
	/* Programs don't overlap: all of them don't have more than the
	 * section. */
	end = dwarf_program_end(&lines->sections, offset);
	if (!end || end - offset > lines->left)
		return program;
	lines->left -= end - offset;
	code = dwarf_program_open(&program->program, &lines->sections, offset);
	if (!code)
		code = dwarf_rows_read(&program->rows, &program->program,
				       is_segment_code, lines);
	*lines->failed |= code == -ENOMEM;
	return program;
}

void symbol_lines_find(struct symbol_lines *lines, uint64_t address,
		       struct symbols_place *place)
{
	const struct symbol_library *library = lines->library;
	struct symbol_program *program = NULL;
	Dwarf_Addr base = 0, low, high;
	Dwarf_Die *unit = NULL;
	const struct dwarf_row *row;
	size_t first, end;
	uint64_t number;

	if (!lines->read)
		symbol_lines_read(lines);
	if (unit_ranges_find(&lines->units, address - lines->dwarf_bias,
			     &number)) {
		unit = (Dwarf_Die *)(uintptr_t)number;
	} else if (lines->sections.line.size) {
		/* for a unit without address ranges libdw decides */
		unit = library->dwfl_module_addrdie(lines->module, address,
						    &base);
		if (unit && unit_range(lines, unit, 0, &base, &low,
				       &high) > 0)
			unit = NULL;
	}
	if (unit && lines->sections.line.size)
		program = program_get(lines, unit);
	if (!program ||
	    !dwarf_rows_find(&program->rows, address - lines->dwarf_bias,
			     &first, &end))
		return;
	row = &program->rows.list[end - 1];
	if (row->end_sequence)
		return;
	place->line = row->line;
	if (row->file >= program->program.file_count)
		return;
	if (!program->paths)
		program->paths = calloc(program->program.file_count,
					sizeof(*program->paths));
	if (!program->paths)
		return;
	if (!program->paths[row->file])
		program->paths[row->file] =
			dwarf_program_path(&program->program, row->file,
					   program->directory);
	place->file = program->paths[row->file];
}

#endif
