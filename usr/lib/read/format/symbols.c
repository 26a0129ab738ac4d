// SPDX-License-Identifier: GPL-2.0
#include "symbols.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "lib/path.h"
#include "number.h"
#include "lib/debug/symbols/symbol_file.h"
#include "lib/debug/symbols/symbol_kernel.h"
#include "text.h"

#define MODULES_START	64	/* a power of two */
#define MODULES_MAX	16384	/* a trace may name any number of them */
#define PLACES		4096	/* addresses that are remembered */
/* Characters of what a name consists of, cut there. */
#define SYMBOL_MAX	256
#define FILE_MAX	96
#define MODULE_MAX	64

/* What lay in a mapping. */
struct module {
	uint8_t id[30];
	uint8_t id_kind, id_length;
	char path[sizeof(((struct ras_mapping *)0)->path) + 1];
	const char *base;		/* in path */
	struct symbol_file *file;	/* NULL: there is none */
	uint64_t kernel_base;		/* where it is in the running kernel; 0:
					 * it isn't */
};

struct remembered {
	const struct module *module;	/* NULL: nothing yet */
	uint64_t distance, offset;	/* from the mapping's start; the mapping's
					 * in the file */
	struct symbols_place place;
};

struct symbols {
	const struct symbols_settings *settings;
	pthread_mutex_t lock;
	struct module **modules;	/* hashed by id and path */
	size_t size, count;
	struct symbol_kernel *kernel;
	bool kernel_tried;
	bool failed;			/* no memory for a module */
	struct remembered places[PLACES];
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
	if (!symbols)
		return;
	for (size_t i = 0; i < symbols->size; i++) {
		if (symbols->modules[i])
			symbol_file_close(symbols->modules[i]->file);
		free(symbols->modules[i]);
	}
	free(symbols->modules);
	symbol_kernel_close(symbols->kernel);
	pthread_mutex_destroy(&symbols->lock);
	free(symbols);
}

bool symbols_failed(const struct symbols *symbols)
{
	return symbols && symbols->failed;
}

const char *symbols_useless(const struct symbols_settings *settings,
			    size_t *at)
{
	while (settings->use && *at < settings->dir_count)
		if (settings->use[(*at)++] == SYMBOLS_LOOKED)
			return settings->dirs[*at - 1];
	return NULL;
}

/* ---- modules ---- */

static size_t mapping_hash(const struct ras_mapping *mapping)
{
	uint64_t hash = 0;

	memcpy(&hash, mapping->id, sizeof(hash));
	for (size_t i = 0; i < sizeof(mapping->path) && mapping->path[i]; i++)
		hash = hash * 31 + (unsigned char)mapping->path[i];
	return hash * 0x9e3779b97f4a7c15ULL >> 32;
}

static bool module_is(const struct module *module,
		      const struct ras_mapping *mapping)
{
	return module->id_kind == mapping->id_kind &&
	       module->id_length == mapping->id_length &&
	       !memcmp(module->id, mapping->id, sizeof(module->id)) &&
	       !strncmp(module->path, mapping->path, sizeof(mapping->path));
}

static struct module **module_place(const struct symbols *symbols,
				    const struct ras_mapping *mapping)
{
	size_t at = mapping_hash(mapping);

	for (;; at++) {
		struct module **place =
			&symbols->modules[at & (symbols->size - 1)];

		if (!*place || module_is(*place, mapping))
			return place;
	}
}

static bool modules_grow(struct symbols *symbols)
{
	struct symbols grown = { .size = symbols->size ? 2 * symbols->size :
							 MODULES_START };
	struct ras_mapping key;

	grown.modules = calloc(grown.size, sizeof(*grown.modules));
	if (!grown.modules)
		return false;
	for (size_t i = 0; i < symbols->size; i++) {
		const struct module *module = symbols->modules[i];

		if (!module)
			continue;
		key = (struct ras_mapping){
			.id_kind = module->id_kind,
			.id_length = module->id_length,
		};
		memcpy(key.id, module->id, sizeof(key.id));
		memcpy(key.path, module->path, sizeof(key.path));
		*module_place(&grown, &key) = symbols->modules[i];
	}
	free(symbols->modules);
	symbols->modules = grown.modules;
	symbols->size = grown.size;
	return true;
}

static void module_load(struct symbols *symbols, struct module *module,
			const struct ras_mapping *mapping, bool is_kernel)
{
	if (symbols->settings->off)
		return;
	module->file = symbol_file_open(symbols->settings, mapping,
					&symbols->failed);
	if (!is_kernel)
		return;
	if (!symbols->kernel_tried)
		symbols->kernel = symbol_kernel_open();
	symbols->kernel_tried = true;
	if (symbols->kernel)
		module->kernel_base = symbol_kernel_base(symbols->kernel,
							 mapping);
}

/* Found or made; NULL: no memory, or too many. */
static struct module *module_get(struct symbols *symbols,
				 const struct ras_mapping *mapping,
				 bool is_kernel)
{
	struct module **place, *module;

	if (2 * symbols->count >= symbols->size && !modules_grow(symbols)) {
		symbols->failed = true;
		return NULL;
	}
	place = module_place(symbols, mapping);
	if (*place || symbols->count == MODULES_MAX)
		return *place;
	module = calloc(1, sizeof(*module));
	symbols->failed |= !module;
	if (!module)
		return NULL;
	module->id_kind = mapping->id_kind;
	module->id_length = mapping->id_length;
	memcpy(module->id, mapping->id, sizeof(module->id));
	memcpy(module->path, mapping->path, sizeof(mapping->path));
	module->base = path_base(module->path);
	module_load(symbols, module, mapping, is_kernel);
	*place = module;
	symbols->count++;
	return module;
}

/* ---- asking ---- */

static struct symbols_place place_make(const struct symbols *symbols,
				       const struct module *module,
				       const struct ras_mapping *mapping,
				       uint64_t distance)
{
	struct symbols_place place = {
		.module = module->base,
		.module_offset = mapping->offset + distance,
	};

	if (module->file)
		symbol_file_find(module->file, mapping, distance, &place);
	if (!place.symbol && module->kernel_base)
		symbol_kernel_find(symbols->kernel,
				   module->kernel_base + distance, &place);
	return place;
}

static struct symbols_place place_find(struct symbols *symbols,
				       const struct ras_mapping *mapping,
				       uint64_t address, bool is_kernel)
{
	const struct module *module = module_get(symbols, mapping, is_kernel);
	uint64_t distance = address - mapping->start;
	struct remembered *at = &symbols->places[(address ^ address >> 12) %
						 PLACES];

	if (!module)
		return (struct symbols_place){ 0 };
	if (at->module == module && at->distance == distance &&
	    at->offset == mapping->offset)
		return at->place;
	*at = (struct remembered){
		.module = module, .distance = distance,
		.offset = mapping->offset,
		.place = place_make(symbols, module, mapping, distance),
	};
	return at->place;
}

struct symbols_place symbols_find(struct symbols *symbols,
				  const struct book *book, uint32_t pid,
				  uint64_t address)
{
	const struct ras_mapping *mapping = book_mapping(book, pid, address);
	struct symbols_place place = { 0 };

	if (!mapping)
		return place;
	pthread_mutex_lock(&symbols->lock);
	place = place_find(symbols, mapping, address, pid == BOOK_KERNEL);
	pthread_mutex_unlock(&symbols->lock);
	return place;
}

struct symbols_place symbols_find_caller(struct symbols *symbols,
					 const struct book *book, uint32_t pid,
					 uint64_t address)
{
	struct symbols_place place = symbols_find(symbols, book, pid,
						  address - 1);

	if (!place.module)
		return place;
	place.offset++;
	place.module_offset++;
	return place;
}

/* ---- text ---- */

/* No more than `most` characters of it. */
static char *cut_put(char *p, const char *text, size_t most)
{
	size_t n = strnlen(text, most), kept;
	char safe[4 * SYMBOL_MAX];
	size_t length = text_put_safe(safe, text, n) - safe;

	if (length <= most && !text[n])
		return text_put(p, safe, length);
	kept = length < most ? length : most;
	while (kept && kept < length && (safe[kept] & 0xc0) == 0x80)
		kept--;		/* not within a character */
	p = text_put(p, safe, kept);
	return TEXT_PUT(p, "...");
}

static char *offset_put(char *p, uint64_t offset)
{
	*p++ = '+';
	return number_put_pointer(p, offset);
}

static char *place_put(const struct symbols_place *place, char *p)
{
	if (!place->symbol) {
		p = cut_put(p, place->module, MODULE_MAX);
		p = offset_put(p, place->module_offset);
	} else {
		p = cut_put(p, place->symbol, SYMBOL_MAX);
		p = offset_put(p, place->offset);
	}
	if (place->file) {
		*p++ = ' ';
		p = cut_put(p, path_base(place->file), FILE_MAX);
		*p++ = ':';
		p = text_put_decimal(p, place->line);
	}
	if (!place->symbol)
		return p;
	p = TEXT_PUT(p, " (");
	p = cut_put(p, place->module, MODULE_MAX);
	return TEXT_PUT(p, ")");
}

static char *mapping_put(const struct ras_mapping *mapping, uint64_t address,
			 char *p)
{
	char path[sizeof(mapping->path) + 1] = "";
	struct symbols_place place = {
		.module_offset = mapping->offset + (address - mapping->start),
	};

	memcpy(path, mapping->path, sizeof(mapping->path));
	place.module = path_base(path);
	return place_put(&place, p);
}

char *symbols_put(struct symbols *symbols, const struct book *book,
		  uint32_t pid, uint64_t address, bool caller, char *p)
{
	const struct ras_mapping *mapping;
	struct symbols_place place;

	if (!book)
		return p;
	if (!symbols) {
		mapping = book_mapping(book, pid, address);
		return mapping ? mapping_put(mapping, address, p) : p;
	}
	place = caller ? symbols_find_caller(symbols, book, pid, address) :
			 symbols_find(symbols, book, pid, address);
	return place.module ? place_put(&place, p) : p;
}
