// SPDX-License-Identifier: GPL-2.0
#include "symbol_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/key_map.h"
#include "lib/library.h"
#include "symbol_elf.h"
#include "symbol_library.h"

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

#include "symbol_lines.h"
#include "symbol_names.h"

struct symbol_file {
	struct symbol_library library;
	const struct symbols_settings *settings;
	struct symbol_elf elf;
	Dwfl_Callbacks callbacks;
	Dwfl *dwfl;
	Dwfl_Module *module;
	Dwarf_Addr bias;
	struct symbol_lines lines;
	struct symbol_names symbols;
	bool read;		/* symbols is filled in */
	bool *failed;		/* set when there is no memory */
	bool by_segment;	/* offsets in the file aren't those traced */
	struct key_map names;	/* demangled ones, by address of the mangled */
};

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

/* libdw closes the file when it has taken it. */
static bool libdw_open(struct symbol_file *file, const char *path, int fd)
{
	const struct symbol_library *library = &file->library;
	void **user = NULL;

	file->callbacks.find_debuginfo = find_debuginfo;
	file->dwfl = library->dwfl_begin(&file->callbacks);
	if (file->dwfl)
		file->module = library->dwfl_report_offline(file->dwfl,
							    "traced", path, fd);
	if (!file->module)
		close(fd);
	if (!file->module ||
	    library->dwfl_report_end(file->dwfl, NULL, NULL))
		return false;
	library->dwfl_module_info(file->module, &user, NULL, NULL, NULL, NULL,
				  NULL, NULL);
	*user = file;
	if (!library->dwfl_module_getelf(file->module, &file->bias))
		return false;
	file->lines = (struct symbol_lines){
		.library = library, .elf = &file->elf, .module = file->module,
		.bias = file->bias, .failed = file->failed,
	};
	return true;
}

struct symbol_file *symbol_file_open(const struct symbols_settings *settings,
				     const struct ras_mapping *mapping,
				     bool *failed)
{
	struct symbol_file *file = calloc(1, sizeof(*file));
	char path[PATH_MAX];
	int fd;

	*failed |= !file;
	if (!file)
		return NULL;
	file->settings = settings;
	file->failed = failed;
	fd = symbol_search_code(settings, mapping, path, &file->elf);
	if (fd < 0)
		fd = symbol_search_debug(settings, mapping, path, &file->elf);
	/* the kernel's mapping has no offset in its file */
	file->by_segment = file->elf.stripped || mapping->path[0] != '/';
	if (fd >= 0 && !(file->elf.segment_count &&
			 library_load(&file->library))) {
		close(fd);
		fd = -1;
	}
	if (fd >= 0 && libdw_open(file, path, fd))
		return file;
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
	symbol_lines_close(&file->lines);
	if (file->dwfl)
		file->library.dwfl_end(file->dwfl);
	while ((name = key_map_next(&file->names, &at)))
		free(name);
	key_map_free(&file->names);
	free(file);
}

/* The demangled name, which is kept; names of C stay as they are. */
static const char *name_demangle(struct symbol_file *file, const char *name)
{
	char *text;

	if (strncmp(name, "_Z", 2))
		return name;
	text = key_map_find(&file->names, key_map_key(name));
	if (text)
		return text;
	text = symbol_demangle(name);
	if (!text)
		text = strdup(name);
	if (text && key_map_add(&file->names, key_map_key(name), text)) {
		free(text);
		text = NULL;
	}
	return text ? text : name;
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
	symbol_lines_find(&file->lines, address, place);
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
