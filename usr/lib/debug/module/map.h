/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A map of symbols (manual 1.2.3.2): of GNU ld, of LLVM lld, a System.map, or
 * the output of nm. Used for names that the debug information hasn't.
 */
#ifndef TRCUST_MAP_H
#define TRCUST_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include "lib/error.h"

struct map_symbol {
	const char *name;
	uint64_t address;	/* as linked */
	uint64_t size;		/* 0: up to the next one */
	bool code, data;	/* what it can be; both when it isn't said */
	bool local;
};

struct map;

/* 0, or a negative errno with err set: what line is wrong, or that it is no
 * map at all. */
int map_open(struct map **map, const char *path, struct error *err);
/* The same for text in memory. */
int map_parse(struct map **map, const char *text, uint64_t size,
	      struct error *err);
void map_close(struct map *map);

/* Global ones before local ones; NULL: none. *others: there are more of the
 * same rank. */
const struct map_symbol *map_find(const struct map *map, const char *name,
				  bool code, bool *others);
/* The file's name may be that of a map: *.map, *.MAP, System.map*. */
bool map_name_valid(const char *path);

#endif
