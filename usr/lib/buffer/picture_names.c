// SPDX-License-Identifier: GPL-2.0
#include "picture_names.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rastrace/tdf.h>
#include "lib/array.h"
#include "lib/elf_symbols.h"
#include "lib/identity.h"

#define ADDRESSES_MOST	(1u << 18)
#define MODULES_MOST	4096
#define TEXT_MOST	(8u << 20)	/* of a module's names */
#define USER_TOP	(1ULL << 56)

struct names_address {
	uint32_t pid;
	uint64_t address;
};

struct names_pick {
	uint64_t offset;	/* in the file */
	uint32_t module;
};

/* ---- addresses ---- */

static void address_note(struct picture_names *names, uint32_t pid,
			 uint64_t address)
{
	uint64_t hash = key_map_mix(pid, address);
	size_t step = 0;
	uint64_t number;

	if (!address || address >= USER_TOP ||
	    names->address_count == ADDRESSES_MOST)
		return;
	while ((number = key_map_each_number(&names->known, hash, &step)))
		if (names->addresses[number - 1].address == address &&
		    names->addresses[number - 1].pid == pid)
			return;
	if (!array_grow(&names->addresses, names->address_count,
			&names->address_room, sizeof(*names->addresses)) ||
	    key_map_add_number(&names->known, hash, names->address_count + 1))
		return;
	names->addresses[names->address_count++] =
		(struct names_address){ pid, address };
}

/* What looks like a stack of user space at p; what is none adds names that nothing
 * asks for. Its bytes, or 0. */
static size_t stack_look(const uint8_t *p, size_t left)
{
	struct ras_stack stack;
	struct ras_item item;

	if (left < sizeof(item) + sizeof(stack))
		return 0;
	memcpy(&item, p, sizeof(item));
	memcpy(&stack, p + sizeof(item), sizeof(stack));
	if (RAS_ITEM_KIND(item.status) != RAS_ITEM_STACK ||
	    item.length < sizeof(stack) || item.length > left - sizeof(item) ||
	    (item.length - sizeof(stack)) % 8 ||
	    stack.end > RAS_STACK_NO_TABLE ||
	    stack.flags & ~RAS_STACK_CHANGED)
		return 0;
	return sizeof(item) + item.length;
}

void picture_names_scan(struct picture_names *names, const struct ring *ring,
			uint64_t key, struct picture_stacks *stacks,
			const struct session_list *list)
{
	struct ring_walk walk = { .position = ring->first };
	const struct ras_record *record;
	struct stack_found found;
	uint64_t address;

	while ((record = ring_next(ring, key, &walk))) {
		const uint8_t *p = (const uint8_t *)(record + 1);
		size_t left = record->length - RAS_RECORD_HEADER;

		if (picture_stacks_find(stacks, list, record, &found))
			for (uint32_t i = 0; i < found.count; i++)
				address_note(names, record->pid,
					     found.addresses[i]);
		for (size_t n; left; p += n, left -= n) {
			size_t stack = stack_look(p, left);
			size_t at = sizeof(struct ras_item) +
				    sizeof(struct ras_stack);

			n = stack ? stack : 1;
			for (; at + 8 <= stack; at += 8) {
				memcpy(&address, p + at, sizeof(address));
				address_note(names, record->pid, address);
			}
		}
	}
}

static void row_note(struct picture_names *names, const struct ras_legend *legend,
		     const struct aggregate_row *row)
{
	for (unsigned int i = 0; i < legend->by_count; i++) {
		struct aggregate_stack stack;
		uint64_t address;

		if (legend->by[i].kind != TDF_BY_STACK)
			continue;
		stack = aggregate_stack(legend, i, row->by +
					aggregate_offset(legend, i));
		for (size_t at = 0; at + 8 <= stack.bytes; at += 8) {
			memcpy(&address, stack.addresses + at, sizeof(address));
			address_note(names, stack.pid, address);
		}
	}
}

void picture_names_note(struct picture_names *names,
			const struct aggregates *aggregates)
{
	for (size_t i = 0; i < aggregates->table_count; i++) {
		const struct aggregate_table *table = &aggregates->tables[i];

		for (size_t k = 0; k < table->row_count; k++)
			row_note(names, table->legend, &table->rows[k]);
	}
}

/* ---- what is there ---- */

static bool module_get(struct picture_names *names,
		       const struct ras_mapping *mapping, uint32_t *number)
{
	for (*number = 0; *number < names->module_count; (*number)++) {
		const struct ras_mapping *module = &names->modules[*number];

		if (module->id_kind == mapping->id_kind &&
		    !memcmp(module->id, mapping->id, sizeof(module->id)))
			return true;
	}
	if (names->module_count == MODULES_MOST ||
	    !array_grow(&names->modules, names->module_count,
			&names->module_room, sizeof(*names->modules)))
		return false;
	names->modules[names->module_count++] = *mapping;
	return true;
}

static void address_place(struct picture_names *names,
			  const struct mappings *mappings, uint64_t address)
{
	size_t n = array_count_upto(mappings->items, mappings->count,
				    sizeof(*mappings->items), address);
	const struct ras_mapping *mapping = &mappings->items[n - 1];
	struct names_pick pick;

	if (!n || address >= mapping->end || mapping->id_kind != TDF_ID_BUILD ||
	    !module_get(names, mapping, &pick.module) ||
	    !array_grow(&names->picks, names->pick_count, &names->pick_room,
			sizeof(*names->picks)))
		return;
	pick.offset = address - mapping->start + mapping->offset;
	names->picks[names->pick_count++] = pick;
}

void picture_names_place(struct picture_names *names, uint32_t pid,
			 struct mappings *mappings)
{
	if (mappings->count)
		qsort(mappings->items, mappings->count,
		      sizeof(*mappings->items), array_compare);
	for (size_t i = 0; i < names->address_count; i++)
		if (names->addresses[i].pid == pid)
			address_place(names, mappings,
				      names->addresses[i].address);
}

/* ---- symbols of a module ---- */

struct names_symbol {
	uint64_t offset, bytes;
	const char *name;	/* in the file */
	struct names_symbol *below;	/* begins before it */
	bool used;
};

struct names_file {
	struct names_symbol *items;
	size_t count, room;
	size_t begun;			/* of these, up to an offset ... */
	struct names_symbol *top;	/* ... the last that may go on after it */
};

/* From the address as linked to the offset in the file */
static bool offset_find(Elf *elf, uint64_t address, uint64_t *offset)
{
	size_t count = 0;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, i, &ph) && ph.p_type == PT_LOAD &&
		    ph.p_flags & PF_X && address - ph.p_vaddr < ph.p_filesz) {
			*offset = address - ph.p_vaddr + ph.p_offset;
			return true;
		}
	return false;
}

static void symbols_collect(struct names_file *file, Elf *elf, Elf *symbols)
{
	static const uint32_t types[] = { SHT_SYMTAB, SHT_DYNSYM };

	for (size_t i = 0; i < 2; i++) {
		struct elf_symbols at = { .elf = symbols, .type = types[i] };
		struct names_symbol symbol = { 0 };

		while (elf_symbols_next(&at)) {
			unsigned int type = GELF_ST_TYPE(at.symbol.st_info);

			if ((type != STT_FUNC && type != STT_GNU_IFUNC) ||
			    at.symbol.st_shndx == SHN_UNDEF ||
			    !at.symbol.st_size ||
			    !offset_find(elf, at.symbol.st_value,
					 &symbol.offset) ||
			    !array_grow(&file->items, file->count, &file->room,
					sizeof(*file->items)))
				continue;
			symbol.bytes = at.symbol.st_size;
			symbol.name = at.name;
			file->items[file->count++] = symbol;
		}
	}
}

/* The function that has the byte, of several the last to begin. Offsets ascend. */
static void names_symbol_use(struct names_file *file, uint64_t offset)
{
	while (file->begun < file->count &&
	       file->items[file->begun].offset <= offset) {
		file->items[file->begun].below = file->top;
		file->top = &file->items[file->begun++];
	}
	while (file->top && offset - file->top->offset >= file->top->bytes)
		file->top = file->top->below;
	if (file->top)
		file->top->used = true;
}

/* One name for a place, as many as there is room for */
static void names_thin(struct names_file *file, struct ras_names *head)
{
	uint64_t last = UINT64_MAX;

	for (size_t i = 0; i < file->count; i++) {
		struct names_symbol *symbol = &file->items[i];
		size_t length = strlen(symbol->name) + 1;

		symbol->used &= symbol->offset != last &&
				length <= TEXT_MOST - head->bytes;
		if (!symbol->used)
			continue;
		last = symbol->offset;
		head->bytes += length;
		head->count++;
	}
}

static void names_put(struct names_file *file, const struct ras_mapping *module,
		      struct chunk_out *out)
{
	struct ras_names head = {
		.id_kind = module->id_kind, .id_length = module->id_length,
	};
	struct ras_name name = { 0 };

	memcpy(head.id, module->id, sizeof(head.id));
	names_thin(file, &head);
	if (!head.count)
		return;
	chunk_begin(out);
	chunk_add(out, &head, sizeof(head));
	for (size_t i = 0; i < file->count; i++) {
		const struct names_symbol *symbol = &file->items[i];

		if (!symbol->used)
			continue;
		name.offset = symbol->offset;
		name.length = symbol->bytes < UINT32_MAX ? symbol->bytes :
							   UINT32_MAX;
		chunk_add(out, &name, sizeof(name));
		name.text += strlen(symbol->name) + 1;
	}
	for (size_t i = 0; i < file->count; i++)
		if (file->items[i].used)
			chunk_add(out, file->items[i].name,
				  strlen(file->items[i].name) + 1);
	chunk_end(out, RAS_CHUNK_NAMES);
}

/* The file with that build-id; -1: it is another one, or not there. */
static int names_module_open(const char *path, const struct ras_mapping *module)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct identity id = { 0 };

	if (fd < 0)
		return -1;
	identity_read_build_id(fd, &id);
	if (id.kind == module->id_kind && !memcmp(id.id, module->id, sizeof(id.id)))
		return fd;
	close(fd);
	return -1;
}

static int debug_open(const struct ras_mapping *module)
{
	char path[128] = "/usr/lib/debug/.build-id/";
	size_t used = strlen(path);

	for (size_t i = 0; i < module->id_length && i < sizeof(module->id); i++)
		used += snprintf(path + used, sizeof(path) - used, "%s%02x",
				 i == 1 ? "/" : "", module->id[i]);
	snprintf(path + used, sizeof(path) - used, ".debug");
	return names_module_open(path, module);
}

static void module_names_write(struct picture_names *names, uint32_t number,
			       struct chunk_out *out)
{
	const struct ras_mapping *module = &names->modules[number];
	int fd = names_module_open(module->path, module);
	int debug_fd = fd < 0 ? -1 : debug_open(module);
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	Elf *debug = debug_fd < 0 ? NULL : elf_begin(debug_fd, ELF_C_READ, NULL);
	struct names_file file = { 0 };
	uint64_t last = UINT64_MAX;

	if (elf)
		symbols_collect(&file, elf, elf);
	if (elf && debug)
		symbols_collect(&file, elf, debug);
	if (file.count)
		qsort(file.items, file.count, sizeof(*file.items),
		      array_compare);
	for (size_t i = 0; i < names->pick_count; i++) {
		const struct names_pick *pick = &names->picks[i];

		if (pick->module != number || pick->offset == last)
			continue;
		/* of a caller it is the byte before */
		last = pick->offset;
		if (last)
			names_symbol_use(&file, last - 1);
		names_symbol_use(&file, last);
	}
	names_put(&file, module, out);
	free(file.items);
	elf_end(debug);
	elf_end(elf);
	if (debug_fd >= 0)
		close(debug_fd);
	if (fd >= 0)
		close(fd);
}

void picture_names_write(struct picture_names *names, struct chunk_out *out)
{
	elf_version(EV_CURRENT);
	if (names->pick_count)
		qsort(names->picks, names->pick_count, sizeof(*names->picks),
		      array_compare);
	for (uint32_t i = 0; i < names->module_count; i++)
		module_names_write(names, i, out);
}

void picture_names_free(struct picture_names *names)
{
	free(names->addresses);
	free(names->modules);
	free(names->picks);
	key_map_free(&names->known);
	*names = (struct picture_names){ 0 };
}
