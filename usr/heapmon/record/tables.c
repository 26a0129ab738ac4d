// SPDX-License-Identifier: GPL-2.0
#include "tables.h"

#include <string.h>
#include "lib/hash.h"

void tdf_tables_begin(struct tdf_tables *tables, unsigned int count)
{
	*tables = (struct tdf_tables){ .count = count };
	tables_add_string(tables, "");
}

uint32_t tables_add(struct tdf_tables *tables, unsigned int table,
		    const void *entry, size_t size)
{
	bytes_add(&tables->bytes[table], entry, size);
	return tables->counts[table]++;
}

uint32_t tables_add_bytes(struct tdf_tables *tables, unsigned int table,
			  const void *bytes, size_t size)
{
	uint32_t at = tables->counts[table];

	bytes_add(&tables->bytes[table], bytes, size);
	tables->counts[table] += size;
	return at;
}

uint32_t tables_add_string(struct tdf_tables *tables, const char *string)
{
	return tables_add_bytes(tables, tables->count - 1, string,
				strlen(string) + 1);
}

/* What the headers have in common, up to the CRC */
struct tables_head {
	char magic[8];
	uint16_t version, header_size;
	uint32_t file_size, crc;
};

int tables_end(struct tdf_tables *tables, void *header, size_t header_size,
	       struct tdf_table *const *places, void **data, size_t *size,
	       struct error *err)
{
	struct tables_head *head = header;
	struct bytes file = { 0 };

	bytes_add(&file, header, header_size);
	for (unsigned int i = 0; i < tables->count; i++) {
		bytes_align(&file);
		*places[i] = (struct tdf_table){ file.size, tables->counts[i] };
		bytes_join(&file, &tables->bytes[i]);
		bytes_free(&tables->bytes[i]);
	}
	bytes_align(&file);
	if (file.failed) {
		bytes_free(&file);
		return error_no_memory(err);
	}
	head->header_size = header_size;
	head->file_size = file.size;
	head->crc = 0;
	memcpy(file.data, header, header_size);
	head->crc = hash_crc32(0, file.data, file.size);
	memcpy(file.data, header, header_size);
	*data = file.data;
	*size = file.size;
	return 0;
}
