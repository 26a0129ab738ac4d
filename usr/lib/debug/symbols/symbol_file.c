// SPDX-License-Identifier: GPL-2.0
#include "symbol_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/debug/lines/lines.h"
#include "lib/key_map.h"
#include "lib/library.h"
#include "symbol_inlined.h"
#include "symbol_names.h"

char *symbol_demangle(const char *name)
{
	char *(*demangle)(const char *, char *, size_t *, int *);
	int status;

	if (strncmp(name, "_Z", 2))
		return NULL;
	demangle = library_symbol("libstdc++.so.6", "__cxa_demangle");
	return demangle ? demangle(name, NULL, NULL, &status) : NULL;
}

#if SYMBOL_LIBRARY

#include <dwarf.h>
#include <errno.h>

struct symbol_file {
	struct symbol_library library;
	const struct symbols_settings *settings;
	struct symbol_elf elf;
	Dwfl_Callbacks callbacks;
	Dwfl *dwfl;
	Dwfl_Module *module;
	Dwarf_Addr bias;
	struct symbol_names symbols;
	bool read;		/* symbols is filled in */
	bool *failed;		/* set when there is no memory */
	bool by_segment;	/* offsets in the file aren't those traced */
	struct key_map names;	/* demangled ones, by address of the mangled */

	/* Source lines, from .debug_line. libdw keeps all rows of a unit in one
	 * order: at an address where one sequence ends and another one begins
	 * it may give the line that ends. */
	bool lines_read;		/* the members that follow */
	uint64_t dwarf_bias;		/* libdw's addresses over the debug
					 * information's */
	struct unit_ranges units;	/* addresses of Dwarf_Die */
	struct symbol_scopes scopes;
	struct dwarf_program_sections sections;
	size_t left;			/* bytes of programs not read yet */
	struct key_map programs;	/* struct symbol_program, by offset */
	struct key_map copies;		/* struct symbol_copies, by address */
};

/* What was inlined at an address */
struct symbol_copies {
	size_t count;
	struct symbols_inlined list[];	/* the innermost first */
};

/* Of a unit, or of several. */
struct symbol_program {
	struct dwarf_program program;
	const char *directory;		/* where it was compiled, or NULL */
	struct dwarf_rows rows;
	char **paths;			/* by file, made when asked for */
};

static void symbol_lines_close(struct symbol_file *file)
{
	struct symbol_program *program;
	struct symbol_copies *copies;
	size_t at = 0;

	while ((copies = key_map_next(&file->copies, &at)))
		free(copies);
	key_map_free(&file->copies);
	symbol_scopes_free(&file->scopes);
	at = 0;

	while ((program = key_map_next(&file->programs, &at))) {
		for (size_t i = 0;
		     program->paths && i < program->program.file_count; i++)
			free(program->paths[i]);
		free(program->paths);
		dwarf_rows_free(&program->rows);
		dwarf_program_close(&program->program);
		free(program);
	}
	key_map_free(&file->programs);
	free(file->units.list);
}

/* Linkers put code that they left out at 0, where a file begins. */
static bool is_segment_code(const void *context, uint64_t address)
{
	const struct symbol_file *file = context;
	const struct symbol_segment *segment = file->elf.segments;

	address += file->dwarf_bias - file->bias;
	for (size_t i = 0; i < file->elf.segment_count; i++, segment++)
		if (address - segment->address < segment->bytes)
			return address || segment->offset;
	return false;
}

static void symbol_lines_read(struct symbol_file *file)
{
	const struct symbol_library *library = &file->library;
	Elf_Scn *section = NULL;
	Dwarf_Die *unit = NULL;
	Dwarf *dwarf;
	Dwarf_Addr bias = 0;
	GElf_Shdr header;
	Elf *elf;
	size_t names;

	file->lines_read = true;
	dwarf = library->dwfl_module_getdwarf(file->module, &bias);
	elf = dwarf ? library->dwarf_getelf(dwarf) : NULL;
	if (!elf || library->elf_getshdrstrndx(elf, &names))
		return;
	file->dwarf_bias = bias;
	while ((section = library->elf_nextscn(elf, section))) {
		struct {
			const char *name;
			struct dwarf_bytes *bytes;
		} wanted[] = {
			{ "line", &file->sections.line },
			{ "line_str", &file->sections.line_str },
			{ "str", &file->sections.str },
			{ "rnglists", &file->scopes.lists },
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
	file->left = file->sections.line.size;
	while ((unit = library->dwfl_module_nextcu(file->module, unit,
						   &bias))) {
		Dwarf_Addr base = 0, start, end;
		ptrdiff_t at = 0;

		while ((at = symbol_scope_range(&file->scopes, unit, at, &base,
						&start, &end)) > 0)
			if (start < end && is_segment_code(file, start) &&
			    !unit_ranges_add(&file->units, start, end,
					     (uintptr_t)unit)) {
				*file->failed = true;
				unit_ranges_sort(&file->units);
				return;
			}
	}
	unit_ranges_sort(&file->units);
}

/* The unit's; NULL: it has none, or there is no memory. */
static struct symbol_program *program_get(struct symbol_file *file,
					  Dwarf_Die *unit)
{
	const struct symbol_library *library = &file->library;
	Dwarf_Attribute attribute;
	struct symbol_program *program;
	Dwarf_Word offset;
	uint64_t end;
	int code = 0;

	if (!library->dwarf_attr(unit, DW_AT_stmt_list, &attribute) ||
	    library->dwarf_formudata(&attribute, &offset))
		return NULL;
	program = key_map_find(&file->programs, offset);
	if (program)
		return program;
	program = calloc(1, sizeof(*program));
	if (!program || key_map_add(&file->programs, offset, program)) {
		free(program);
		*file->failed = true;
		return NULL;
	}
	if (library->dwarf_attr(unit, DW_AT_comp_dir, &attribute))
		program->directory = library->dwarf_formstring(&attribute);
	/* Programs don't overlap: all of them don't have more than the
	 * section. */
	end = dwarf_program_end(&file->sections, offset);
	if (!end || end - offset > file->left)
		return program;
	file->left -= end - offset;
	code = dwarf_program_open(&program->program, &file->sections, offset);
	if (!code)
		code = dwarf_rows_read(&program->rows, &program->program,
				       is_segment_code, file);
	*file->failed |= code == -ENOMEM;
	return program;
}

/* Which has code at the address; NULL: none. */
static Dwarf_Die *symbol_unit_at(struct symbol_file *file, uint64_t address)
{
	Dwarf_Addr base = 0, low, high;
	Dwarf_Die *unit;
	uint64_t number;

	if (!file->lines_read)
		symbol_lines_read(file);
	if (unit_ranges_find(&file->units, address - file->dwarf_bias,
			     &number))
		return (Dwarf_Die *)(uintptr_t)number;
	if (!file->sections.line.size)
		return NULL;
	/* for a unit without address ranges libdw decides */
	unit = file->library.dwfl_module_addrdie(file->module, address, &base);
	if (unit && symbol_scope_range(&file->scopes, unit, 0, &base, &low,
				       &high) > 0)
		return NULL;
	return unit;
}

static const char *program_file(struct symbol_program *program, size_t file)
{
	if (file >= program->program.file_count)
		return NULL;
	if (!program->paths)
		program->paths = calloc(program->program.file_count,
					sizeof(*program->paths));
	if (!program->paths)
		return NULL;
	if (!program->paths[file])
		program->paths[file] = dwarf_program_path(&program->program,
							  file,
							  program->directory);
	return program->paths[file];
}

static void symbol_line_find(const struct symbol_file *file,
			     struct symbol_program *program, uint64_t address,
			     struct symbols_place *place)
{
	const struct dwarf_row *row;
	size_t first, end;

	if (!dwarf_rows_find(&program->rows, address - file->dwarf_bias,
			     &first, &end))
		return;
	row = &program->rows.list[end - 1];
	if (row->end_sequence)
		return;
	place->line = row->line;
	place->file = program_file(program, row->file);
}

/* The demangled name, which is kept; names of C stay as they are. */
static const char *name_demangle(struct symbol_file *file, const char *name)
{
	uint64_t key = key_map_key(name);
	char *text = key_map_find(&file->names, key);

	if (text || strncmp(name, "_Z", 2))
		return text ? text : name;
	text = symbol_demangle(name);
	if (!text)
		text = strdup(name);
	if (text && !key_map_add(&file->names, key, text))
		return text;
	free(text);
	return name;
}

static uint64_t symbol_number(const struct symbol_file *file, Dwarf_Die *die,
			      unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;

	return file->library.dwarf_attr(die, name, &attribute) &&
	       !file->library.dwarf_formudata(&attribute, &number) ? number : 0;
}

static void symbol_inlined_fill(struct symbol_file *file, Dwarf_Die *unit,
				struct symbol_program *program,
				uint64_t address, struct symbols_place *place)
{
	Dwarf_Die copies[SYMBOL_INLINED_MOST];
	struct symbol_copies *known = key_map_find(&file->copies, address);
	size_t count;

	if (!known) {
		count = symbol_inlined_find(&file->scopes, unit,
					    address - file->dwarf_bias, copies,
					    file->failed);
		if (!count)
			return;
		known = malloc(sizeof(*known) + count * sizeof(*known->list));
		if (!known || key_map_add(&file->copies, address, known)) {
			*file->failed = true;
			free(known);
			return;
		}
		known->count = count;
		for (size_t i = 0; i < count; i++) {
			Dwarf_Die *copy = &copies[count - 1 - i];
			const char *name = symbol_inlined_name(&file->scopes,
							       copy);
			uint64_t line = symbol_number(file, copy,
						      DW_AT_call_line);

			known->list[i] = (struct symbols_inlined) {
				.name = name ? name_demangle(file, name) : NULL,
				.line = line,
			};
			if (line)
				known->list[i].file = program_file(
					program, symbol_number(
						file, copy, DW_AT_call_file));
		}
	}
	place->inlined = known->list;
	place->inlined_count = known->count;
}

static void symbol_lines_find(struct symbol_file *file, uint64_t address,
			      struct symbols_place *place)
{
	Dwarf_Die *unit = symbol_unit_at(file, address);
	struct symbol_program *program = NULL;

	if (unit && file->sections.line.size)
		program = program_get(file, unit);
	if (!program)
		return;
	symbol_line_find(file, program, address, place);
	if (place->file)
		symbol_inlined_fill(file, unit, program, address, place);
}

/* False: there is no libdw. */
static bool library_load(struct symbol_library *library)
{
#define SYMBOL_LIBRARY_LOAD(name)					\
	library->name = library_symbol("libdw.so.1", #name);		\
	if (!library->name)						\
		return false;
	SYMBOL_LIBRARY_FUNCTIONS(SYMBOL_LIBRARY_LOAD)
	return true;
}

/* libdw asks for the file with the debug information. */
static int find_debuginfo(Dwfl_Module *module, void **user, const char *name,
			  Dwarf_Addr base, const char *path,
			  const char *debuglink, GElf_Word crc,
			  char **debug_file)
{
	const struct symbol_file *file = *user;
	char found[PATH_MAX];
	struct symbol_elf elf;
	int fd = symbol_search_linked(file->settings, file->elf.id,
				      file->elf.id_length, path, debuglink,
				      found, &elf);

	if (fd < 0)
		return -1;
	*debug_file = strdup(found);
	if (*debug_file)
		return fd;
	close(fd);
	return -1;
}

struct symbol_file *symbol_file_open(const struct symbols_settings *settings,
				     const struct ras_mapping *mapping,
				     bool *failed)
{
	struct symbol_file *file = calloc(1, sizeof(*file));
	const struct symbol_library *library = &file->library;
	char path[PATH_MAX];
	void **user = NULL;
	int fd;

	*failed |= !file;
	if (!file)
		return NULL;
	file->settings = settings;
	file->scopes.library = library;
	file->failed = failed;
	fd = symbol_search_code(settings, mapping, path, &file->elf);
	if (fd < 0)
		fd = symbol_search_debug(settings, mapping, path, &file->elf);
	/* the kernel's mapping has no offset in its file */
	file->by_segment = file->elf.stripped || mapping->path[0] != '/';
	if (fd >= 0 && file->elf.segment_count &&
	    library_load(&file->library)) {
		file->callbacks.find_debuginfo = find_debuginfo;
		file->dwfl = library->dwfl_begin(&file->callbacks);
	}
	/* libdw closes the file when it has taken it. */
	if (file->dwfl)
		file->module = library->dwfl_report_offline(file->dwfl,
							    "traced", path, fd);
	if (!file->module && fd >= 0)
		close(fd);
	if (file->module && !library->dwfl_report_end(file->dwfl, NULL, NULL)) {
		library->dwfl_module_info(file->module, &user, NULL, NULL,
					  NULL, NULL, NULL, NULL);
		*user = file;
		if (library->dwfl_module_getelf(file->module, &file->bias))
			return file;
	}
	symbol_file_close(file);
	return NULL;
}

void symbol_file_close(struct symbol_file *file)
{
	size_t at = 0;
	char *name;

	if (!file)
		return;
	symbol_names_free(&file->symbols);
	symbol_lines_close(file);
	if (file->dwfl)
		file->library.dwfl_end(file->dwfl);
	while ((name = key_map_next(&file->names, &at)))
		free(name);
	key_map_free(&file->names);
	free(file);
}

/* The address, as linked, of the file's code there; false: there is none. */
static bool address_of(const struct symbol_file *file,
		       const struct ras_mapping *mapping, uint64_t distance,
		       uint64_t *address)
{
	const struct symbol_segment *segment = file->elf.segments;
	uint64_t offset = mapping->offset + distance, first;

	if (file->by_segment) {
		/* From the page that the segment begins on to its mapping's
		 * end, pages are as large as the kernel's that mapped it. */
		first = segment->address & ~4095ULL;
		for (uint64_t page = 4096; page <= 65536; page *= 4) {
			uint64_t start = segment->address / page * page;
			uint64_t end = segment->address + segment->bytes;

			if ((end - start + page - 1) / page * page ==
			    mapping->end - mapping->start) {
				first = start;
				break;
			}
		}
		*address = first + distance;
		return (file->elf.segment_count == 1 ||
			mapping->path[0] != '/') &&
		       *address - segment->address < segment->bytes;
	}
	for (size_t i = 0; i < file->elf.segment_count; i++, segment++) {
		if (offset - segment->offset >= segment->bytes)
			continue;
		*address = offset - segment->offset + segment->address;
		return true;
	}
	return false;
}

void symbol_file_find(struct symbol_file *file,
		      const struct ras_mapping *mapping, uint64_t distance,
		      struct symbols_place *place)
{
	uint64_t address, offset;
	const char *name;

	if (!address_of(file, mapping, distance, &address))
		return;
	address += file->bias;
	if (!file->read && !symbol_names_read(&file->symbols, &file->library,
					      file->module))
		*file->failed = true;
	file->read = true;
	name = symbol_names_find(&file->symbols, address, &offset);
	if (name) {
		place->symbol = name_demangle(file, name);
		place->offset = offset;
	}
	symbol_lines_find(file, address, place);
}

#else

struct symbol_file *symbol_file_open(const struct symbols_settings *settings,
				     const struct ras_mapping *mapping,
				     bool *failed)
{
	return NULL;
}

void symbol_file_find(struct symbol_file *file,
		      const struct ras_mapping *mapping, uint64_t distance,
		      struct symbols_place *place)
{
}

void symbol_file_close(struct symbol_file *file)
{
}

#endif
