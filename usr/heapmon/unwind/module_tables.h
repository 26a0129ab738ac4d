/* SPDX-License-Identifier: GPL-2.0 */
/* The tables of all files that are mapped somewhere, each made once. */
#ifndef HEAPMON_UNWIND_MODULE_TABLES_H
#define HEAPMON_UNWIND_MODULE_TABLES_H

#include "lib/error.h"
#include "lib/debug/cfi/cfi.h"

struct module_table {
	uint64_t hash;			/* of what the file is */
	struct cfi_load loads[CFI_LOADS];
	unsigned int load_count;
	uint32_t first, rows;		/* rows is 0: it has none */
};

struct module_tables {
	int fd;
	void *map;			/* of unwind_rows */
	uint32_t room, used;		/* of its entries */
	struct module_table *items;
	size_t count, items_room;
	uint64_t rows, modules, without, left_out;
};

int module_tables_open(struct module_tables *tables, uint32_t rows,
		       struct error *err);
/* Of an open file; NULL: there is none. */
const struct module_table *module_tables_file(struct module_tables *tables,
					      int fd);
const struct module_table *module_tables_image(struct module_tables *tables,
					       void *image,
				    size_t size);
void module_tables_close(struct module_tables *tables);

#endif
