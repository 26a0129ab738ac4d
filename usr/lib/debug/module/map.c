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
	uint32_t *next;		/* per symbol: index + 1 in the bucket */
	uint32_t *buckets;
	size_t bucket_count;
	struct demangle_index full_names;
};

static size_t map_bucket(const struct map *map, const char *name)
{
	return hash_fnv(HASH_FNV_START, name, strlen(name)) &
	       (map->bucket_count - 1);
}

static int map_hash(struct map *map, struct error *err)
{
	map->bucket_count = 1024;
	while (map->bucket_count < map->symbols.count)
		map->bucket_count *= 2;
	map->buckets = calloc(map->bucket_count, sizeof(*map->buckets));
	map->next = calloc(map->symbols.count + 1, sizeof(*map->next));
	if (!map->buckets || !map->next)
		return error_no_memory(err);
	for (size_t i = map->symbols.count; i--; ) {
		const char *name = map->symbols.list[i].name;
		uint32_t *bucket = &map->buckets[map_bucket(map, name)];

		map->next[i] = *bucket;
		*bucket = i + 1;
		demangle_index_add(&map->full_names, name, i);
	}
	demangle_index_finish(&map->full_names);
	if (map->full_names.failed)
		return error_no_memory(err);
	return 0;
}

/* Takes the text, which is malloc'd and has a zero behind its end. */
static int map_make(struct map **result, char *text, size_t size,
		    struct error *err)
{
	struct map *map = calloc(1, sizeof(*map));
	int code;

	*result = NULL;
	if (!map) {
		free(text);
		return error_no_memory(err);
	}
	map->text = text;
	code = map_read(&map->symbols, text, size, err);
	if (!code)
		code = map_hash(map, err);
	if (code)
		map_close(map);
	else
		*result = map;
	return code;
}

int map_parse(struct map **result, const char *text, uint64_t size,
	      struct error *err)
{
	char *copy = malloc(size + 1);

	*result = NULL;
	if (!copy)
		return error_no_memory(err);
	memcpy(copy, text, size);
	copy[size] = '\0';
	return map_make(result, copy, size, err);
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
	free(map->buckets);
	free(map->next);
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

static void choose_full(const struct map *map, const char *name,
			struct map_choice *choice)
{
	const struct demangle_index *index = &map->full_names;
	const struct map_symbol *list = map->symbols.list;
	const struct demangle_entry *entry;
	uint32_t position = 0;

	while ((entry = demangle_index_next(index, name, &position)))
		map_choose(choice, &list[entry->number]);
	position = 0;
	while (!choice->best &&
	       (entry = demangle_index_within(index, name, &position)))
		if (demangle_is_whole(list[entry->number].name, name))
			map_choose(choice, &list[entry->number]);
}

const struct map_symbol *map_find(const struct map *map, const char *name,
				  bool code, bool *others)
{
	struct map_choice choice = { .code = code };
	uint32_t i = map->buckets[map_bucket(map, name)];

	for (; i; i = map->next[i - 1])
		if (!strcmp(map->symbols.list[i - 1].name, name))
			map_choose(&choice, &map->symbols.list[i - 1]);
	if (!choice.best)
		choose_full(map, name, &choice);
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
