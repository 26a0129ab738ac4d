// SPDX-License-Identifier: GPL-2.0
#include "symbol_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rastrace/tdf.h>
#include "lib/key_map.h"
#include "lib/path.h"
#include "symbol_elf.h"
#include "symbol_library.h"
#include "symbol_lines.h"
#include "symbol_names.h"

#define SYSTEM_DEBUG	"/usr/lib/debug"

struct symbol_file {
	struct symbol_library library;
	const struct symbols_settings *settings;
	struct symbol_elf elf;
	struct dwfl_callbacks callbacks;
	struct dwfl *dwfl;
	struct dwfl_module *module;
	uint64_t bias;
	struct symbol_lines lines;
	struct symbol_names symbols;
	bool read;		/* they are */
	bool *failed;		/* for want of memory something isn't known */
	bool by_segment;	/* offsets in the file aren't those traced */
	struct key_map names;	/* demangled ones, by address of the mangled */
};

/* ---- finding it ---- */

/* A debug file. */
struct wanted {
	const uint8_t *id;
	size_t length;
	const char *path;		/* of the file with the code */
	char link[NAME_MAX + 1];	/* its debug link, else how they are
					 * called: NAME.debug */
};

static void wanted_name(struct wanted *wanted, const char *path,
			const char *link)
{
	wanted->path = path;
	if (link && !strchr(link, '/'))
		snprintf(wanted->link, sizeof(wanted->link), "%s", link);
	else
		snprintf(wanted->link, sizeof(wanted->link), "%s.debug",
			 path_base(path));
}

/* A file was looked for in a directory, and fd is it, or -1. */
static void use_note(const struct symbols_settings *settings, size_t dir,
		     int fd)
{
	if (settings->use)
		settings->use[dir] |= SYMBOLS_LOOKED |
				      (fd >= 0 ? SYMBOLS_HAD : 0);
}

static bool id_matches(const struct symbol_elf *elf, const uint8_t *id,
		       size_t length)
{
	return elf->id_length == length && !memcmp(elf->id, id, length);
}

/* The file if it is the one; -1. */
static int file_try(const char *path, const uint8_t *id, size_t length,
		    struct symbol_elf *elf)
{
	int fd = symbol_elf_open(path);

	if (fd < 0)
		return -1;
	if (symbol_elf_read(fd, elf) && id_matches(elf, id, length))
		return fd;
	close(fd);
	return -1;
}

/* "DIR/.build-id/xx/yyyySUFFIX" */
static bool id_path(char path[PATH_MAX], const char *dir, const uint8_t *id,
		    size_t length, const char *suffix)
{
	int n = snprintf(path, PATH_MAX, "%s/.build-id/%02x/", dir, id[0]);

	if (n < 0 || n + 2 * length + strlen(suffix) >= PATH_MAX)
		return false;
	for (size_t i = 1; i < length; i++)
		n += sprintf(path + n, "%02x", id[i]);
	strcpy(path + n, suffix);
	return true;
}

static int id_try(char path[PATH_MAX], const char *dir, const uint8_t *id,
		  size_t length, const char *suffix, struct symbol_elf *elf)
{
	return id_path(path, dir, id, length, suffix) ?
	       file_try(path, id, length, elf) : -1;
}

/* "DIR/NAME" */
static int name_try(char path[PATH_MAX], const char *dir, const char *name,
		    const struct wanted *wanted, struct symbol_elf *elf)
{
	return snprintf(path, PATH_MAX, "%s/%s", dir, name) < PATH_MAX ?
	       file_try(path, wanted->id, wanted->length, elf) : -1;
}

/* A --symbols directory. */
static int debug_try(char path[PATH_MAX], const char *dir,
		     const struct wanted *wanted, struct symbol_elf *elf)
{
	char below[PATH_MAX];
	int fd = id_try(path, dir, wanted->id, wanted->length, ".debug", elf);

	if (fd < 0 && snprintf(below, sizeof(below), "%s" SYSTEM_DEBUG, dir) <
		      PATH_MAX)
		fd = id_try(path, below, wanted->id, wanted->length, ".debug",
			    elf);
	return fd < 0 ? name_try(path, dir, wanted->link, wanted, elf) : fd;
}

/* --symbols names a file itself: a debug file, or one with code. */
static int given_try(char path[PATH_MAX],
		     const struct symbols_settings *settings,
		     const uint8_t *id, size_t length, bool debug,
		     struct symbol_elf *elf)
{
	for (size_t i = 0; i < settings->dir_count; i++) {
		int fd = -1;

		if (snprintf(path, PATH_MAX, "%s", settings->dirs[i]) <
		    PATH_MAX)
			fd = file_try(path, id, length, elf);
		use_note(settings, i, fd);
		if (fd >= 0 && elf->stripped == debug)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

/* Where a debug link leads to. */
static int link_try(char path[PATH_MAX], const struct wanted *wanted,
		    struct symbol_elf *elf)
{
	static const char *const formats[] = {
		"%.*s", "%.*s/.debug", SYSTEM_DEBUG "%.*s",
	};
	const char *slash = strrchr(wanted->path, '/');
	char dir[PATH_MAX];
	int fd = -1;

	for (int i = 0; slash && fd < 0 && i < 3; i++)
		if (snprintf(dir, sizeof(dir), formats[i],
			     (int)(slash - wanted->path), wanted->path) <
		    PATH_MAX)
			fd = name_try(path, dir, wanted->link, wanted, elf);
	return fd;
}

/* The debug file; its path is in `path`. */
static int debug_open(const struct symbols_settings *settings,
		      const struct wanted *wanted, char path[PATH_MAX],
		      struct symbol_elf *elf)
{
	int fd = -1;

	for (size_t i = 0; fd < 0 && i < settings->dir_count; i++) {
		fd = debug_try(path, settings->dirs[i], wanted, elf);
		use_note(settings, i, fd);
	}
	if (fd < 0)
		fd = id_try(path, SYSTEM_DEBUG, wanted->id, wanted->length,
			    ".debug", elf);
	if (fd < 0)
		fd = link_try(path, wanted, elf);
	return fd < 0 ? given_try(path, settings, wanted->id, wanted->length,
				  true, elf) : fd;
}

/* As the traced machine had it, below `dir` or with "" here. */
static int path_try(char path[PATH_MAX], const char *dir,
		    const struct ras_mapping *mapping, const char *name,
		    struct symbol_elf *elf)
{
	if (snprintf(path, PATH_MAX, "%s%s", dir, name) >= PATH_MAX)
		return -1;
	return file_try(path, mapping->id, mapping->id_length, elf);
}

static int code_open(const struct symbols_settings *settings,
		     const struct ras_mapping *mapping, char path[PATH_MAX],
		     struct symbol_elf *elf)
{
	char name[sizeof(mapping->path) + 1] = "", base[sizeof(name) + 1];
	int fd = -1;

	memcpy(name, mapping->path, sizeof(mapping->path));
	snprintf(base, sizeof(base), "/%s", path_base(name));
	for (size_t i = 0; fd < 0 && i < settings->dir_count; i++) {
		const char *dir = settings->dirs[i];

		if (name[0] == '/')
			fd = path_try(path, dir, mapping, name, elf);
		if (fd < 0)
			fd = path_try(path, dir, mapping, base, elf);
		if (fd < 0)
			fd = id_try(path, dir, mapping->id, mapping->id_length,
				    "", elf);
		use_note(settings, i, fd);
	}
	if (fd < 0)
		fd = given_try(path, settings, mapping->id, mapping->id_length,
			       false, elf);
	return fd < 0 && name[0] == '/' ?
	       path_try(path, "", mapping, name, elf) : fd;
}

static bool mapping_has_id(const struct ras_mapping *mapping)
{
	return mapping->id_kind == TDF_ID_BUILD && mapping->id_length &&
	       mapping->id_length <= sizeof(mapping->id);
}

int symbol_file_open_code(const struct symbols_settings *settings,
			  const struct ras_mapping *mapping,
			  struct symbol_elf *elf)
{
	char path[PATH_MAX];

	return mapping_has_id(mapping) ?
	       code_open(settings, mapping, path, elf) : -1;
}

static int mapping_debug_open(const struct symbols_settings *settings,
			      const struct ras_mapping *mapping,
			      char path[PATH_MAX], struct symbol_elf *elf)
{
	char name[sizeof(mapping->path) + 1] = "";
	struct wanted wanted = {
		.id = mapping->id, .length = mapping->id_length,
	};

	memcpy(name, mapping->path, sizeof(mapping->path));
	wanted_name(&wanted, name, NULL);
	return debug_open(settings, &wanted, path, elf);
}

int symbol_file_open_debug(const struct symbols_settings *settings,
			   const struct ras_mapping *mapping,
			   struct symbol_elf *elf)
{
	char path[PATH_MAX];

	return mapping_has_id(mapping) ?
	       mapping_debug_open(settings, mapping, path, elf) : -1;
}

/* libdw asks for the file with the debug information. */
static int find_debuginfo(struct dwfl_module *module, void **user,
			  const char *name, Elf64_Addr base, const char *path,
			  const char *debuglink, Elf64_Word crc,
			  char **debug_file)
{
	const struct symbol_file *file = *user;
	struct wanted wanted = {
		.id = file->elf.id, .length = file->elf.id_length,
	};
	char found[PATH_MAX];
	struct symbol_elf elf;
	int fd;

	wanted_name(&wanted, path, debuglink);
	fd = debug_open(file->settings, &wanted, found, &elf);
	if (fd < 0)
		return -1;
	*debug_file = strdup(found);
	if (*debug_file)
		return fd;
	close(fd);
	return -1;
}

/* ---- opening ---- */

/* libdw closes the file when it has taken it. */
static bool module_open(struct symbol_file *file, const char *path, int fd)
{
	struct symbol_library *library = &file->library;
	Elf64_Addr bias = 0;
	void **user = NULL;

	file->callbacks.find_debuginfo = find_debuginfo;
	file->dwfl = library->begin(&file->callbacks);
	if (file->dwfl)
		file->module = library->report(file->dwfl, "traced", path, fd);
	if (!file->module)
		close(fd);
	if (!file->module || library->report_end(file->dwfl, NULL, NULL))
		return false;
	library->info(file->module, &user, NULL, NULL, NULL, NULL, NULL, NULL);
	*user = file;
	if (!library->elf(file->module, &bias))
		return false;
	file->bias = bias;
	symbol_lines_open(&file->lines, library, file->module, bias,
			  &file->elf, file->failed);
	return true;
}

struct symbol_file *symbol_file_open(const struct symbols_settings *settings,
				     const struct ras_mapping *mapping,
				     bool *failed)
{
	struct symbol_file *file;
	char path[PATH_MAX];
	int fd;

	if (!mapping_has_id(mapping))
		return NULL;
	file = calloc(1, sizeof(*file));
	*failed |= !file;
	if (!file)
		return NULL;
	file->settings = settings;
	file->failed = failed;
	fd = code_open(settings, mapping, path, &file->elf);
	if (fd < 0)
		fd = mapping_debug_open(settings, mapping, path, &file->elf);
	/* the kernel's mapping has no offset in its file */
	file->by_segment = file->elf.stripped || mapping->path[0] != '/';
	if (fd >= 0 && !(file->elf.segment_count &&
			 symbol_library_load(&file->library))) {
		close(fd);
		fd = -1;
	}
	if (fd >= 0 && module_open(file, path, fd))
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
		file->library.end(file->dwfl);
	while ((name = key_map_next(&file->names, &at)))
		free(name);
	key_map_free(&file->names);
	free(file);
}

/* ---- asking ---- */

/* "ns::work(int)" of "_ZN2ns4workEi"; names of C stay as they are. */
static const char *name_demangle(struct symbol_file *file, const char *name)
{
	char *text;
	int status;

	if (strncmp(name, "_Z", 2) || !file->library.demangle)
		return name;
	text = key_map_find(&file->names, key_map_key(name));
	if (text)
		return text;
	text = file->library.demangle(name, NULL, NULL, &status);
	if (!text)
		text = strdup(name);
	if (text && key_map_add(&file->names, key_map_key(name), text)) {
		free(text);
		text = NULL;
	}
	return text ? text : name;
}

/* From the page that the segment begins on to its mapping's end, pages are as
 * large as the kernel's that mapped it. */
static uint64_t segment_page(const struct symbol_segment *segment,
			     const struct ras_mapping *mapping)
{
	uint64_t bytes = mapping->end - mapping->start;

	for (uint64_t page = 4096; page <= 65536; page *= 4) {
		uint64_t first = segment->address / page * page;
		uint64_t end = segment->address + segment->bytes;

		if ((end - first + page - 1) / page * page == bytes)
			return first;
	}
	return segment->address & ~4095ULL;
}

/* Where the file's code is linked to that lies there; false: nowhere. */
static bool address_of(const struct symbol_file *file,
		       const struct ras_mapping *mapping, uint64_t distance,
		       uint64_t *address)
{
	const struct symbol_segment *segment = file->elf.segments;
	uint64_t offset = mapping->offset + distance;

	if (file->by_segment) {
		*address = segment_page(segment, mapping) + distance;
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
