// SPDX-License-Identifier: GPL-2.0
#include "symbols.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rastrace/tdf.h>
#include "lib/array.h"
#include "lib/hash.h"
#include "lib/kernel_image.h"
#include "lib/key_map.h"
#include "lib/path.h"
#include "symbol_file.h"

#define NOTES_MAX	4096	/* bytes of a module's notes */

struct kernel_symbol {
	uint64_t address;
	size_t name;		/* offset in names */
};

/* Symbols of the running kernel and its modules, for traces of the same one
 * (the same build-ids; it may have been started again since). */
struct symbol_kernel {
	struct kernel_symbol *symbols;	/* ascending */
	size_t count, room;
	char *names;
	uint64_t text;			/* where the image begins */
};

static void symbol_kernel_close(struct symbol_kernel *kernel)
{
	if (!kernel)
		return;
	free(kernel->symbols);
	free(kernel->names);
	free(kernel);
}

/* NULL: /proc/kallsyms can't be read, or no memory. */
static struct symbol_kernel *symbol_kernel_open(void)
{
	struct symbol_kernel *kernel = calloc(1, sizeof(*kernel));
	FILE *file = fopen("/proc/kallsyms", "re"), *names = NULL;
	char line[1024], type, name[512];
	size_t bytes = 0, size;
	uint64_t address;
	bool good;

	if (kernel)
		names = open_memstream(&kernel->names, &size);
	good = file && names;
	/* "ffffffff81000000 T _text", with "\t[xfs]" after a module's */
	while (good && fgets(line, sizeof(line), file)) {
		/* code only; '$' begins code, or data in it: aaelf64, 5.5.4 */
		if (sscanf(line, "%" SCNx64 " %c %511s", &address, &type,
			   name) != 3 ||
		    !address || !strchr("tTwW", type) || *name == '$')
			continue;
		kernel->text = kernel_image_start(kernel->text, name, address);
		good = array_grow(&kernel->symbols, kernel->count,
				  &kernel->room, sizeof(*kernel->symbols));
		if (good)
			kernel->symbols[kernel->count++] =
				(struct kernel_symbol){ address, bytes };
		bytes += fprintf(names, "%s%c", name, '\0');
		good = good && !ferror(names);
	}
	if (file)
		fclose(file);
	if (names && fclose(names))
		good = false;
	if (!good || !kernel->count) {
		symbol_kernel_close(kernel);
		return NULL;
	}
	qsort(kernel->symbols, kernel->count, sizeof(*kernel->symbols),
	      array_compare);
	return kernel;
}

static bool notes_match(const char *path, const struct ras_mapping *mapping)
{
	uint8_t notes[NOTES_MAX], id[30];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, notes, sizeof(notes));
	uint8_t length = n > 0 ? symbol_elf_note(notes, n, id) : 0;

	if (fd >= 0)
		close(fd);
	return length && mapping->id_kind == TDF_ID_BUILD &&
	       length == mapping->id_length &&
	       !memcmp(id, mapping->id, length);
}

/* The address of the mapping's code now; 0: it isn't there. Names of modules
 * have no slash; one that has isn't looked for. */
static uint64_t symbol_kernel_base(const struct symbol_kernel *kernel,
				   const struct ras_mapping *mapping)
{
	char wanted[64], name[64], path[128], line[4096];
	uint64_t address, found = 0;
	FILE *file;

	if (strnlen(mapping->path, sizeof(wanted)) >= sizeof(wanted))
		return 0;
	strcpy(wanted, mapping->path);
	if (!strcmp(wanted, "vmlinux"))
		return notes_match("/sys/kernel/notes", mapping) ?
		       kernel->text : 0;
	if (!*wanted || strchr(wanted, '/') || *wanted == '.')
		return 0;
	snprintf(path, sizeof(path),
		 "/sys/module/%s/notes/.note.gnu.build-id", wanted);
	if (!notes_match(path, mapping))
		return 0;
	/* "xfs 1234567 1 - Live 0xffffffffc0000000" */
	file = fopen("/proc/modules", "re");
	while (file && !found && fgets(line, sizeof(line), file))
		if (sscanf(line, "%63s %*s %*s %*s %*s 0x%" SCNx64, name,
			   &address) == 2 && !strcmp(name, wanted))
			found = address;
	if (file)
		fclose(file);
	return found;
}

/* The symbol of an address as it is now */
static void symbol_kernel_find(const struct symbol_kernel *kernel,
			       uint64_t address, struct symbols_place *place)
{
	size_t n = array_count_upto(kernel->symbols, kernel->count,
				    sizeof(*kernel->symbols), address);

	if (!n)
		return;
	place->symbol = kernel->names + kernel->symbols[n - 1].name;
	place->offset = address - kernel->symbols[n - 1].address;
}

#define MODULES_MAX	16384	/* a trace may name any number of them */
#define PLACES		4096	/* addresses that are remembered */

/* A file that was mapped. */
struct symbols_module {
	uint8_t id[30];
	uint8_t id_kind, id_length;
	char path[sizeof(((struct ras_mapping *)0)->path) + 1];
	const char *base;		/* in path */
	struct symbol_file *file;	/* NULL: there is none */
	uint64_t kernel_base;		/* address in the running kernel; 0: not
					 * there */
};

struct symbols_known {
	const struct symbols_module *module;	/* NULL: nothing yet */
	uint64_t distance, offset;	/* from the mapping's start; the mapping's
					 * in the file */
	struct symbols_place place;
};

struct symbols {
	const struct symbols_settings *settings;
	pthread_mutex_t lock;
	struct key_map modules;		/* by hash of id and path */
	size_t count;
	struct symbol_kernel *kernel;
	bool kernel_tried;
	bool failed;			/* no memory for a module */
	struct key_map names;		/* demangled, by the address of the other */
	struct symbols_known places[PLACES];
};

struct symbols *symbols_open(const struct symbols_settings *settings)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols)
		return NULL;
	symbols->settings = settings;
	pthread_mutex_init(&symbols->lock, NULL);
	return symbols;
}

void symbols_close(struct symbols *symbols)
{
	struct symbols_module *module;
	size_t at = 0;
	char *name;

	if (!symbols)
		return;
	while ((module = key_map_next(&symbols->modules, &at))) {
		symbol_file_close(module->file);
		free(module);
	}
	key_map_free(&symbols->modules);
	at = 0;
	while ((name = key_map_next(&symbols->names, &at)))
		free(name);
	key_map_free(&symbols->names);
	symbol_kernel_close(symbols->kernel);
	pthread_mutex_destroy(&symbols->lock);
	free(symbols);
}

bool symbols_failed(const struct symbols *symbols)
{
	return symbols && symbols->failed;
}

/* Found or made; NULL: no memory, or too many. */
static struct symbols_module *
symbols_module_get(struct symbols *symbols, const struct ras_mapping *mapping,
		   bool is_kernel)
{
	struct symbols_module *module;
	size_t step = 0;
	uint64_t hash;

	hash = hash_fnv(HASH_FNV_START, mapping->id, sizeof(mapping->id));
	hash = hash_fnv(hash, mapping->path,
			strnlen(mapping->path, sizeof(mapping->path)));
	while ((module = key_map_each(&symbols->modules, hash, &step)))
		if (module->id_kind == mapping->id_kind &&
		    module->id_length == mapping->id_length &&
		    !memcmp(module->id, mapping->id, sizeof(module->id)) &&
		    !strncmp(module->path, mapping->path,
			     sizeof(mapping->path)))
			return module;
	if (symbols->count == MODULES_MAX)
		return NULL;
	module = calloc(1, sizeof(*module));
	if (!module || key_map_add(&symbols->modules, hash, module)) {
		symbols->failed = true;
		free(module);
		return NULL;
	}
	symbols->count++;
	module->id_kind = mapping->id_kind;
	module->id_length = mapping->id_length;
	memcpy(module->id, mapping->id, sizeof(module->id));
	memcpy(module->path, mapping->path, sizeof(mapping->path));
	module->base = path_base(module->path);
	if (symbols->settings->off)
		return module;
	module->file = symbol_file_open(symbols->settings, mapping,
					&symbols->failed);
	if (!is_kernel)
		return module;
	if (!symbols->kernel_tried)
		symbols->kernel = symbol_kernel_open();
	symbols->kernel_tried = true;
	if (symbols->kernel)
		module->kernel_base = symbol_kernel_base(symbols->kernel,
							 mapping);
	return module;
}

struct symbols_place symbols_find_mapped(struct symbols *symbols,
					 const struct ras_mapping *mapping,
					 uint64_t address, bool is_kernel)
{
	uint64_t distance = address - mapping->start;
	struct symbols_known *at = &symbols->places[(address ^ address >> 12) %
						    PLACES];
	struct symbols_place place = { 0 };
	const struct symbols_module *module;

	pthread_mutex_lock(&symbols->lock);
	module = symbols_module_get(symbols, mapping, is_kernel);
	if (module && (at->module != module || at->distance != distance ||
		       at->offset != mapping->offset)) {
		*at = (struct symbols_known){
			.module = module, .distance = distance,
			.offset = mapping->offset,
			.place.module = module->base,
			.place.module_offset = mapping->offset + distance,
		};
		if (module->file)
			symbol_file_find(module->file, mapping, distance,
					 &at->place);
		if (!at->place.symbol && module->kernel_base)
			symbol_kernel_find(symbols->kernel,
					   module->kernel_base + distance,
					   &at->place);
	}
	if (module)
		place = at->place;
	pthread_mutex_unlock(&symbols->lock);
	return place;
}

const char *symbols_name(struct symbols *symbols, const char *name)
{
	char *made;

	if (symbols->settings->off)
		return NULL;
	pthread_mutex_lock(&symbols->lock);
	made = key_map_find(&symbols->names, key_map_key(name));
	if (!made) {
		made = symbol_demangle(name);
		if (made && key_map_add(&symbols->names, key_map_key(name),
					made)) {
			free(made);
			made = NULL;
			symbols->failed = true;
		}
	}
	pthread_mutex_unlock(&symbols->lock);
	return made ? made : name;
}
