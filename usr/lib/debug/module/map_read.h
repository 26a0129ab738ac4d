/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TRCUST_MAP_READ_H
#define TRCUST_MAP_READ_H

#include <stddef.h>
#include "map.h"

struct map_symbols {
	struct map_symbol *list;
	size_t count, room;
};

/*
 * Read the text of a map, which has a zero at text[size]. Names end in it: it
 * is changed. 0, -EINVAL: it is no map, or damaged, err says in which line;
 * -ENOMEM. The caller frees symbols->list in any case.
 */
int map_read(struct map_symbols *symbols, char *text, uint64_t size,
	     struct error *err);

#endif
