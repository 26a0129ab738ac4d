// SPDX-License-Identifier: GPL-2.0
#include "address_name.h"

#include <string.h>
#include "lib/number.h"
#include "lib/path.h"
#include "lib/text.h"

/* Characters of each part of a name, which is cut there */
#define SYMBOL_MAX	256
#define FILE_MAX	96
#define MODULE_MAX	64

struct symbols_place symbols_find(struct symbols *symbols,
				  const struct process_table *table,
				  uint32_t pid, uint64_t address)
{
	const struct ras_mapping *mapping =
		process_table_mapping(table, pid, address);

	return mapping ? symbols_find_mapped(symbols, mapping, address,
					     pid == PROCESS_KERNEL) :
			 (struct symbols_place){ 0 };
}

struct symbols_place symbols_find_caller(struct symbols *symbols,
					 const struct process_table *table,
					 uint32_t pid, uint64_t address)
{
	struct symbols_place place = symbols_find(symbols, table, pid,
						  address - 1);

	if (!place.module)
		return place;
	place.offset++;
	place.module_offset++;
	return place;
}

/* At most `most` characters of the text, "..." after a cut */
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

static char *place_put(const struct symbols_place *place, char *p)
{
	if (!place->symbol)
		p = cut_put(p, place->module, MODULE_MAX);
	else
		p = cut_put(p, place->symbol, SYMBOL_MAX);
	*p++ = '+';
	p = number_put_pointer(p, place->symbol ? place->offset :
						  place->module_offset);
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

char *symbols_put(struct symbols *symbols, const struct process_table *table,
		  uint32_t pid, uint64_t address, bool caller, char *p)
{
	char path[sizeof(((struct ras_mapping *)0)->path) + 1] = "";
	const struct ras_mapping *mapping;
	struct symbols_place place = { 0 };

	if (!table)
		return p;
	if (symbols) {
		place = caller ?
			symbols_find_caller(symbols, table, pid, address) :
			symbols_find(symbols, table, pid, address);
	} else if ((mapping = process_table_mapping(table, pid, address))) {
		memcpy(path, mapping->path, sizeof(mapping->path));
		place.module = path_base(path);
		place.module_offset = mapping->offset +
				      (address - mapping->start);
	}
	return place.module ? place_put(&place, p) : p;
}
