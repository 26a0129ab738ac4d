// SPDX-License-Identifier: GPL-2.0
#include "module_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "lib/array.h"
#include "lib/hash.h"
#include "lib/sysbpf.h"

static size_t unwind_map_bytes(const struct module_tables *tables)
{
	size_t page = sysconf(_SC_PAGESIZE);
	size_t bytes = (size_t)tables->room * sizeof(struct unwind_row);

	return (bytes + page - 1) / page * page;
}

int module_tables_open(struct module_tables *tables, uint32_t rows,
		       struct error *err)
{
	*tables = (struct module_tables) { .map = MAP_FAILED, .room = rows };
	tables->fd = sysbpf_array_create("unwind_rows",
					 sizeof(struct unwind_row), rows);
	if (tables->fd < 0)
		return error_set(err, tables->fd,
				 "cannot create map 'unwind_rows' (%u): %s",
				 rows, strerror(-tables->fd));
	tables->map = mmap(NULL, unwind_map_bytes(tables),
			   PROT_READ | PROT_WRITE, MAP_SHARED, tables->fd, 0);
	if (tables->map == MAP_FAILED)
		return error_set(err, -errno, "cannot map 'unwind_rows': %s",
				 strerror(errno));
	return 0;
}

static struct module_table *
unwind_table_find(const struct module_tables *tables, uint64_t hash)
{
	for (size_t i = 0; i < tables->count; i++)
		if (tables->items[i].hash == hash)
			return &tables->items[i];
	return NULL;
}

/* Into the map, when it has room. */
static void table_store(struct module_tables *tables,
			struct module_table *table,
			const struct cfi_module *module)
{
	uint32_t blocks = cfi_rows_blocks(module->bytes);
	struct unwind_row *rows = tables->map;
	size_t count = module->rows.count;

	if (count > tables->room - tables->used ||
	    blocks > tables->room - tables->used - count) {
		tables->left_out++;
		return;
	}
	rows += tables->used;
	memcpy(rows, module->rows.items, count * sizeof(*rows));
	cfi_rows_index(&module->rows, (struct unwind_blocks *)(rows + count),
		   blocks);
	table->first = tables->used;
	table->rows = count;
	tables->used += count + blocks;
	tables->rows += count;
}

/* ret: of reading the module, which is freed */
static const struct module_table *unwind_table_add(struct module_tables *tables,
						   uint64_t hash,
						   struct cfi_module *module,
						   int ret)
{
	struct module_table *table;

	if (!array_grow(&tables->items, tables->count, &tables->items_room,
			sizeof(*tables->items))) {
		if (!ret)
			cfi_module_free(module);
		return NULL;
	}
	table = &tables->items[tables->count++];
	*table = (struct module_table) { .hash = hash };
	tables->modules++;
	if (ret) {
		tables->without++;
		return table;
	}
	memcpy(table->loads, module->loads, sizeof(table->loads));
	table->load_count = module->load_count;
	if (module->rows.count)
		table_store(tables, table, module);
	else
		tables->without++;
	cfi_module_free(module);
	return table;
}

const struct module_table *module_tables_file(struct module_tables *tables,
					      int fd)
{
	const struct module_table *known;
	struct cfi_module module;
	struct stat st;
	uint64_t hash;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return NULL;
	hash = hash_fnv(HASH_FNV_START, &st.st_dev, sizeof(st.st_dev));
	hash = hash_fnv(hash, &st.st_ino, sizeof(st.st_ino));
	hash = hash_fnv(hash, &st.st_size, sizeof(st.st_size));
	hash = hash_fnv(hash, &st.st_ctim, sizeof(st.st_ctim));
	known = unwind_table_find(tables, hash);
	return known ? known
		     : unwind_table_add(tables, hash, &module,
					cfi_module_read(&module, fd));
}

const struct module_table *module_tables_image(struct module_tables *tables,
					       void *image,
				    size_t size)
{
	uint64_t hash = hash_fnv(HASH_FNV_START, image, size);
	const struct module_table *known = unwind_table_find(tables, hash);
	struct cfi_module module;

	return known ? known
		     : unwind_table_add(
			       tables, hash, &module,
			       cfi_module_read_image(&module, image, size));
}

void module_tables_close(struct module_tables *tables)
{
	if (tables->map != MAP_FAILED)
		munmap(tables->map, unwind_map_bytes(tables));
	if (tables->fd >= 0)
		close(tables->fd);
	free(tables->items);
}
