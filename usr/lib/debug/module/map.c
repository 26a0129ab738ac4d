// SPDX-License-Identifier: GPL-2.0
#include "map.h"

#include <stdlib.h>
#include <string.h>
#include "lib/hash.h"
#include "lib/path.h"
#include "lib/formats/table.h"
#include "demangle.h"
#include "map_read.h"

struct map {
	char *text;		/* the names point into it */
	struct map_symbols symbols;
	struct key_map names;	/* hash of a name: index + 1 */
	struct demangle_index full_names;
};

static uint64_t map_name_hash(const char *name)
{
	return hash_fnv(HASH_FNV_START, name, strlen(name));
}

int map_parse(struct map **result, const char *text, uint64_t size,
	      struct error *err)
{
	struct map *map = calloc(1, sizeof(*map));
	bool failed = false;
	int code;

	*result = NULL;
	if (map)
		map->text = malloc(size + 1);
	if (!map || !map->text) {
		free(map);
		return error_no_memory(err);
	}
	memcpy(map->text, text, size);
	map->text[size] = '\0';
	code = map_read(&map->symbols, map->text, size, err);
	for (size_t i = 0; !code && i < map->symbols.count; i++) {
		const char *name = map->symbols.list[i].name;

		failed |= key_map_add_number(&map->names, map_name_hash(name),
					     i + 1);
		demangle_index_add(&map->full_names, name, i);
	}
	if (!code && (failed || map->full_names.failed))
		code = error_no_memory(err);
	if (code)
		map_close(map);
	else
		*result = map;
	return code;
}

int map_open(struct map **result, const char *path, struct error *err)
{
	void *data;
	size_t size;
	int code = table_file_read(path, &data, &size, err);

	*result = NULL;
	if (code)
		return code;
	code = map_parse(result, data, size, err);
	free(data);
	return code;
}

void map_close(struct map *map)
{
	if (!map)
		return;
	demangle_index_free(&map->full_names);
	free(map->symbols.list);
	key_map_free(&map->names);
	free(map->text);
	free(map);
}

/* What is asked for, and what was found. */
struct map_choice {
	const struct map_symbol *best;
	bool code, others;
};

static void map_choose(struct map_choice *choice,
		       const struct map_symbol *symbol)
{
	const struct map_symbol *best = choice->best;

	if (choice->code ? !symbol->code : !symbol->data)
		return;
	if (!best || (best->local && !symbol->local)) {
		choice->best = symbol;
		choice->others = false;
	} else if (best->local == symbol->local &&
		   best->address != symbol->address) {
		choice->others = true;
	}
}

const struct map_symbol *map_find(const struct map *map, const char *name,
				  bool code, bool *others)
{
	struct map_choice choice = { .code = code };
	const struct demangle_index *index = &map->full_names;
	const struct map_symbol *list = map->symbols.list;
	const struct demangle_entry *entry;
	uint64_t hash = map_name_hash(name);
	size_t step = 0, i;

	while ((i = key_map_each_number(&map->names, hash, &step)))
		if (!strcmp(list[i - 1].name, name))
			map_choose(&choice, &list[i - 1]);

	/* names of C++: in parts, or whole */
	step = 0;
	if (!choice.best)
		while ((entry = demangle_index_next(index, name, &step)))
			map_choose(&choice, &list[entry->number]);
	step = 0;
	while (!choice.best &&
	       (entry = demangle_index_within(index, name, &step)))
		if (demangle_is_whole(list[entry->number].name, name))
			map_choose(&choice, &list[entry->number]);
	*others = choice.others;
	return choice.best;
}

bool map_name_valid(const char *path)
{
	const char *base = path_base(path);
	size_t length = strlen(base);

	return !strncmp(base, "System.map", 10) ||
	       (length > 4 && (!strcmp(base + length - 4, ".map") ||
			       !strcmp(base + length - 4, ".MAP")));
}
