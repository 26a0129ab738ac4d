// SPDX-License-Identifier: GPL-2.0
#include "tables.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "lib/hash.h"

static void tables_drop(struct tables *tables)
{
	for (unsigned int i = 0; i < tables->count; i++) {
		if (tables->streams[i])
			fclose(tables->streams[i]);
		free(tables->data[i]);
	}
}

int tables_begin(struct tables *tables, unsigned int count, struct error *err)
{
	*tables = (struct tables){ .count = count };
	for (unsigned int i = 0; i < count; i++) {
		tables->streams[i] = open_memstream(&tables->data[i],
						    &tables->sizes[i]);
		if (tables->streams[i])
			continue;
		tables_drop(tables);
		return error_no_memory(err);
	}
	tables_add_string(tables, "");
	return 0;
}

uint32_t tables_add(struct tables *tables, unsigned int table,
		    const void *entry, size_t size)
{
	fwrite(entry, size, 1, tables->streams[table]);
	return tables->counts[table]++;
}

uint32_t tables_add_bytes(struct tables *tables, unsigned int table,
			  const void *bytes, size_t size)
{
	uint32_t at = tables->counts[table];

	fwrite(bytes, 1, size, tables->streams[table]);
	tables->counts[table] += size;
	return at;
}

uint32_t tables_add_string(struct tables *tables, const char *string)
{
	return tables_add_bytes(tables, tables->count - 1, string,
				strlen(string) + 1);
}

static size_t aligned(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

/* What the headers have in common, up to the CRC */
struct tables_head {
	char magic[8];
	uint16_t version, header_size;
	uint32_t file_size, crc;
};

int tables_end(struct tables *tables, void *header, size_t header_size,
	       struct tdf_table *const *places, void **data, size_t *size,
	       struct error *err)
{
	size_t total = aligned(header_size);
	bool failed = false;
	uint8_t *file;
	struct tables_head *head;
	size_t at;

	for (unsigned int i = 0; i < tables->count; i++) {
		failed |= ferror(tables->streams[i]);
		failed |= fclose(tables->streams[i]) != 0;
		tables->streams[i] = NULL;
		total += aligned(tables->sizes[i]);
	}
	*data = failed ? NULL : calloc(1, total);
	if (*data) {
		file = *data;
		head = header;
		at = aligned(header_size);
		for (unsigned int i = 0; i < tables->count; i++) {
			*places[i] = (struct tdf_table){at, tables->counts[i]};
			memcpy(file + at, tables->data[i], tables->sizes[i]);
			at += aligned(tables->sizes[i]);
		}
		head->header_size = header_size;
		head->file_size = total;
		head->crc = 0;
		memcpy(file, header, header_size);
		head->crc = hash_crc32(0, file, total);
		memcpy(file, header, header_size);
	}
	*size = total;
	tables_drop(tables);
	return *data ? 0 : error_no_memory(err);
}
