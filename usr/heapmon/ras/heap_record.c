// SPDX-License-Identifier: GPL-2.0
#include "heap_record.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/array.h"
#include "lib/elf_symbols.h"
#include "lib/names.h"
#include "lib/debug/symbols/symbols.h"

#define PREFIX		"_ZTV"
#define DEMANGLED	"vtable for "
#define PAGE_MOST	65536	/* a mapping begins so far in front of its
				 * segment, at most */
#define MODULES_MOST	4096

/* ---- a record ---- */

bool heap_record_parse(struct heap_record *record, const uint8_t *data,
		       size_t n)
{
	struct ras_item item;
	uint8_t kind;

	*record = (struct heap_record){ .has_word = false };
	if (n < sizeof(record->heap))
		return false;
	memcpy(&record->heap, data, sizeof(record->heap));
	data += sizeof(record->heap);
	n -= sizeof(record->heap);
	while (n >= sizeof(item)) {
		memcpy(&item, data, sizeof(item));
		data += sizeof(item);
		n -= sizeof(item);
		if (item.length > n)
			return false;
		kind = RAS_ITEM_KIND(item.status);
		if (kind == RAS_ITEM_STACK &&
		    item.length >= sizeof(struct ras_stack)) {
			memcpy(&record->stack_end, data,
			       sizeof(record->stack_end));
			record->stack = data + sizeof(record->stack_end);
			record->stack_bytes =
				item.length - sizeof(record->stack_end);
		} else if (kind == RAS_ITEM_VALUE &&
			   (item.length == 4 || item.length == 8)) {
			uint32_t half;

			record->has_word = true;
			record->word_bytes = item.length;
			memcpy(&half, data, sizeof(half));
			record->word = half;
			if (item.length == 8)
				memcpy(&record->word, data,
				       sizeof(record->word));
		}
		data += item.length;
		n -= item.length;
	}
	return !n;
}

bool heap_record_event(const struct heap_record *record, uint16_t minor,
		       struct heap_event *event)
{
	const struct ras_heap *heap = &record->heap;

	event->function = minor;
	event->address = heap->address;
	event->size = heap->size;
	switch (minor < HEAP_FUNCTIONS ? heap_functions[minor].kind :
					  FUNCTION_ABSENT) {
	case FUNCTION_ACQUIRE:
	case FUNCTION_ACQUIRE_INTO:
		event->kind = HEAP_ALLOC;
		return true;
	case FUNCTION_RESIZE:
	case FUNCTION_MAP:	/* mremap() */
		/* realloc(): of no block it gives one; to 0 bytes it may take
		 * one. */
		event->kind = HEAP_REALLOC;
		event->old = heap->old;
		if (!heap->old) {
			event->kind = HEAP_ALLOC;
		} else if (!heap->address) {
			event->kind = HEAP_FREE;
			event->address = heap->old;
			event->old = 0;
			event->size = 0;
		}
		return true;
	case FUNCTION_RELEASE:
	case FUNCTION_UNMAP:
		event->kind = HEAP_FREE;
		return true;
	default:
		return false;
	}
}

/* ---- stacks ---- */

static uint32_t record_text_add(struct record_names *names, const char *text)
{
	return text ? heap_strings_add(&names->trace->strings, text) : 0;
}

static uint32_t frame_make(struct record_names *names, uint32_t pid,
			   uint64_t address)
{
	const struct ras_mapping *mapping =
		process_table_mapping(names->processes, pid, address - 1);
	struct symbols_place place = symbols_find_caller(
		names->symbols, names->processes, pid, address);
	struct heap_frame frame = {
		.address = address,
		.symbol = record_text_add(names, place.symbol),
		.offset = place.symbol ? place.offset : 0,
		.file = record_text_add(names, place.file),
		.line = place.file ? place.line : 0,
	};

	if (mapping) {
		frame.module_offset = mapping->offset +
				      (address - mapping->start);
		frame.module = heap_strings_add_length(&names->trace->strings,
						       mapping->path,
						       sizeof(mapping->path));
	}
	return heap_trace_frame(names->trace, &frame);
}

static uint32_t frame_find(struct record_names *names, uint32_t pid,
			   uint64_t address)
{
	uint64_t key = key_map_serial(&names->addresses, address);
	uint64_t known;

	key |= (uint64_t)pid << 32;
	known = key_map_number(&names->frames, key);
	if (!known) {
		known = frame_make(names, pid, address) + UINT64_C(1);
		if (!(uint32_t)key ||
		    key_map_add_number(&names->frames, key, known))
			names->failed = true;
	}
	return known - 1;
}

uint32_t record_names_stack(struct record_names *names, uint32_t pid,
			    const struct heap_record *record)
{
	struct heap_frame end = { .stopped = true };
	uint32_t number = 0;
	uint64_t address;

	/* a frame for the callers that aren't known */
	if (record->stack_end.end != RAS_STACK_OUTERMOST) {
		end.symbol = record_text_add(names,
				      names_stack_stopped(record->stack_end.end));
		number = heap_trace_stack(names->trace, 0,
					  heap_trace_frame(names->trace, &end));
	}
	/* the innermost is the first */
	for (size_t i = record->stack_bytes / 8; i; i--) {
		memcpy(&address, record->stack + 8 * (i - 1), sizeof(address));
		number = heap_trace_stack(names->trace, number,
					  frame_find(names, pid, address));
	}
	return number;
}

/* ---- classes: files ---- */

struct vtable {
	uint64_t address, size;		/* as linked */
	uint32_t name;			/* string: the class */
};

/* A file, as some mapping has it. */
struct vtable_module {
	struct ras_mapping mapping;	/* by which it was found */
	uint64_t low, high;		/* addresses as linked; 0, 0: it can't be
					 * read */
	struct symbol_elf elf;
	struct vtable *tables;		/* ascending */
	size_t count, room;
};

/* All tables of symbols that are of this type: "ns::Class" of
 * "_ZTVN2ns5ClassE". */
static void vtable_symbols_read(struct record_names *names,
				struct vtable_module *module, Elf *elf,
				uint32_t type)
{
	struct elf_symbols at = { .elf = elf, .type = type };
	const char *name;
	char *text;

	while (elf_symbols_next(&at)) {
		if (strncmp(at.name, PREFIX, strlen(PREFIX)) ||
		    !at.symbol.st_size)
			continue;
		if (!array_grow(&module->tables, module->count, &module->room,
				sizeof(*module->tables))) {
			names->failed = true;
			return;
		}
		text = symbol_demangle(at.name);
		name = text && !strncmp(text, DEMANGLED, strlen(DEMANGLED)) ?
			text + strlen(DEMANGLED) : at.name + strlen(PREFIX);
		module->tables[module->count++] = (struct vtable){
			at.symbol.st_value, at.symbol.st_size,
			record_text_add(names, name),
		};
		free(text);
	}
}

static void vtable_segments_read(struct vtable_module *module, Elf *elf)
{
	GElf_Phdr ph;
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return;
	for (size_t i = 0; i < count && gelf_getphdr(elf, i, &ph); i++) {
		if (ph.p_type != PT_LOAD ||
		    ph.p_vaddr + ph.p_memsz < ph.p_vaddr)
			continue;
		if (!module->high || ph.p_vaddr < module->low)
			module->low = ph.p_vaddr;
		if (ph.p_vaddr + ph.p_memsz > module->high)
			module->high = ph.p_vaddr + ph.p_memsz;
	}
}

/* The file of the code, or else its debug file, which has what was stripped
 * off. */
static void vtable_file_read(struct record_names *names,
			     struct vtable_module *module, bool debug)
{
	struct symbol_elf unused;
	char path[PATH_MAX];
	int fd = debug ? symbol_search_debug(names->settings, &module->mapping,
					     path, &unused) :
			 symbol_search_code(names->settings, &module->mapping,
					    path, &module->elf);
	Elf *elf = NULL;

	if (fd >= 0) {
		elf_version(EV_CURRENT);
		elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	}
	if (elf) {
		if (!debug)
			vtable_segments_read(module, elf);
		vtable_symbols_read(names, module, elf, SHT_SYMTAB);
		if (!debug && !module->count)
			vtable_file_read(names, module, true);
		if (!debug && !module->count)
			vtable_symbols_read(names, module, elf, SHT_DYNSYM);
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}

static const struct vtable_module *
vtable_module_get(struct record_names *names, const struct ras_mapping *mapping)
{
	struct vtable_module *module;

	for (size_t i = 0; i < names->module_count; i++) {
		const struct ras_mapping *known = &names->modules[i]->mapping;

		if (known->id_kind == mapping->id_kind &&
		    known->id_length == mapping->id_length &&
		    !memcmp(known->id, mapping->id, sizeof(known->id)) &&
		    !strncmp(known->path, mapping->path, sizeof(known->path)))
			return names->modules[i];
	}
	if (names->module_count == MODULES_MOST)
		return NULL;
	module = calloc(1, sizeof(*module));
	if (!module || !array_grow(&names->modules, names->module_count,
				   &names->module_room, sizeof(module))) {
		names->failed = true;
		free(module);
		return NULL;
	}
	names->modules[names->module_count++] = module;
	module->mapping = *mapping;
	vtable_file_read(names, module, false);
	if (module->count)
		qsort(module->tables, module->count, sizeof(*module->tables),
		      array_compare);
	return module;
}

/* ---- classes: processes ---- */

/* Where a file is in a process. */
struct vtable_range {
	uint64_t start, end;
	uint64_t bias;			/* + address as linked */
	const struct vtable_module *module;
};

struct vtable_process {
	struct vtable_range *ranges;	/* ascending */
	size_t count, room;
};

static void vtable_range_add(struct record_names *names,
			     struct vtable_process *process,
			     const struct ras_mapping *mapping)
{
	const struct vtable_module *module = vtable_module_get(names, mapping);
	struct vtable_range range = { .module = module };
	const struct symbol_segment *segment;
	uint64_t skew = 0;
	size_t i = 0;

	if (!module || !module->high)
		return;
	for (segment = module->elf.segments; i < module->elf.segment_count;
	     i++, segment++) {
		skew = mapping->offset - segment->offset;
		if (skew < segment->bytes || -skew < PAGE_MOST)
			break;
	}
	if (i == module->elf.segment_count)
		return;
	range.bias = mapping->start - (segment->address + skew);
	range.start = range.bias + module->low;
	range.end = range.bias + module->high;
	if (process->count &&
	    process->ranges[process->count - 1].start == range.start)
		return;
	if (array_grow(&process->ranges, process->count, &process->room,
		       sizeof(*process->ranges)))
		process->ranges[process->count++] = range;
	else
		names->failed = true;
}

static const struct vtable_process *
vtable_process_get(struct record_names *names, uint32_t pid)
{
	struct vtable_process *process = key_map_find(&names->vtables, pid);
	const struct process_entry *known;

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process || key_map_add(&names->vtables, pid, process)) {
		names->failed = true;
		free(process);
		return NULL;
	}
	known = process_table_find(names->processes, pid);
	for (uint32_t i = 0; known && i < known->map_count; i++)
		vtable_range_add(names, process, &known->maps[i]);
	if (process->count)
		qsort(process->ranges, process->count,
		      sizeof(*process->ranges), array_compare);
	return process;
}

/* An object's first word points after the offset to the top and the pointer to
 * the type's information, to the first virtual function of the class, or to a
 * later one. */
static uint32_t module_class(const struct vtable_module *module,
			     uint64_t address, unsigned int bytes)
{
	size_t at = array_count_upto(module->tables, module->count,
				     sizeof(*module->tables), address);
	uint64_t inside;

	if (!at)
		return 0;
	inside = address - module->tables[at - 1].address;
	if (inside < 2 * bytes || inside > module->tables[at - 1].size ||
	    inside % bytes)
		return 0;
	return module->tables[at - 1].name;
}

enum heap_type record_names_class(struct record_names *names, uint32_t pid,
				  uint64_t word, unsigned int bytes,
				  uint32_t *name)
{
	const struct vtable_process *process;
	const struct vtable_range *range;
	size_t at;

	*name = 0;
	if (!word)
		return HEAP_TYPE_NO_TABLE;
	process = names->settings->off ? NULL : vtable_process_get(names, pid);
	if (!process || !process->count)
		return HEAP_TYPE_NONE;
	at = array_count_upto(process->ranges, process->count,
			      sizeof(*process->ranges), word);
	range = at ? &process->ranges[at - 1] : NULL;
	if (range && word < range->end)
		*name = module_class(range->module, word - range->bias, bytes);
	return *name ? HEAP_TYPE_NAMED : HEAP_TYPE_OTHER;
}

void record_names_free(struct record_names *names)
{
	struct vtable_process *process;
	size_t at = 0;

	symbols_close(names->symbols);
	key_map_free(&names->addresses);
	key_map_free(&names->frames);
	for (size_t i = 0; i < names->module_count; i++) {
		free(names->modules[i]->tables);
		free(names->modules[i]);
	}
	while ((process = key_map_next(&names->vtables, &at))) {
		free(process->ranges);
		free(process);
	}
	free(names->modules);
	key_map_free(&names->vtables);
}
