// SPDX-License-Identifier: GPL-2.0
#include "symbols.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "lib/hash.h"
#include "lib/key_map.h"
#include "lib/path.h"
#include "symbol_file.h"
#include "symbol_kernel.h"

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

	if (!symbols)
		return;
	while ((module = key_map_next(&symbols->modules, &at))) {
		symbol_file_close(module->file);
		free(module);
	}
	key_map_free(&symbols->modules);
	symbol_kernel_close(symbols->kernel);
	pthread_mutex_destroy(&symbols->lock);
	free(symbols);
}

bool symbols_failed(const struct symbols *symbols)
{
	return symbols && symbols->failed;
}

static bool symbols_module_is(const struct symbols_module *module,
			      const struct ras_mapping *mapping)
{
	return module->id_kind == mapping->id_kind &&
	       module->id_length == mapping->id_length &&
	       !memcmp(module->id, mapping->id, sizeof(module->id)) &&
	       !strncmp(module->path, mapping->path, sizeof(mapping->path));
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
		if (symbols_module_is(module, mapping))
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
