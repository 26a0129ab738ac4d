// SPDX-License-Identifier: GPL-2.0
/* Any bytes as a map: refused, or every symbol is found by its name. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "lib/debug/module/map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The names in the text are parts of it: look for each word. */
static void look_up(const struct map *map, const char *text, size_t size)
{
	char name[256];
	bool others;

	for (size_t at = 0; at < size; at++) {
		size_t n = 0;

		while (at + n < size && n < sizeof(name) - 1 &&
		       !strchr(" \t\r\n", text[at + n]))
			n++;
		memcpy(name, text + at, n);
		name[n] = '\0';
		for (int code = 0; n && code < 2; code++) {
			const struct map_symbol *symbol =
				map_find(map, name, code, &others);

			if (symbol && (code ? !symbol->code : !symbol->data))
				abort();
		}
		at += n;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err;
	struct map *map;
	int code = map_parse(&map, (const char *)data, size, &err);

	if (!code != !!map)
		abort();
	if (map)
		look_up(map, (const char *)data, size);
	map_close(map);
	return 0;
}
