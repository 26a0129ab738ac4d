// SPDX-License-Identifier: GPL-2.0
#include "vtables.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/array.h"
#include "lib/elf_symbols.h"
#include "lib/debug/symbols/symbols.h"

#define PREFIX		"_ZTV"
#define DEMANGLED	"vtable for "
#define PAGE_MOST	65536	/* a mapping begins so far in front of its
				 * segment, at most */
#define MODULES_MOST	4096

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

/* Where a file lies in a process. */
struct vtable_range {
	uint64_t start, end;
	uint64_t bias;			/* + address as linked */
	const struct vtable_module *module;
};

struct vtable_process {
	uint32_t pid;
	struct vtable_range *ranges;	/* ascending */
	size_t count, room;
};

/* ---- files ---- */

/* "ns::Class" of "_ZTVN2ns5ClassE" */
static uint32_t class_name(struct vtables *vtables, const char *symbol)
{
	char *text = symbol_demangle(symbol);
	uint32_t name;

	if (text && !strncmp(text, DEMANGLED, strlen(DEMANGLED)))
		name = heap_strings_add(vtables->strings,
					text + strlen(DEMANGLED));
	else
		name = heap_strings_add(vtables->strings,
					symbol + strlen(PREFIX));
	free(text);
	return name;
}

static void vtable_symbol_take(struct vtables *vtables,
			       struct vtable_module *module, const char *name,
			       const GElf_Sym *symbol)
{
	if (strncmp(name, PREFIX, strlen(PREFIX)) || !symbol->st_size)
		return;
	if (!array_grow(&module->tables, module->count, &module->room,
			sizeof(*module->tables))) {
		vtables->failed = true;
		return;
	}
	module->tables[module->count++] = (struct vtable){
		symbol->st_value, symbol->st_size, class_name(vtables, name),
	};
}

/* All tables of symbols that are of this type. */
static void vtable_symbols_read(struct vtables *vtables,
				struct vtable_module *module, Elf *elf,
				uint32_t type)
{
	struct elf_symbols at = { .elf = elf, .type = type };

	while (elf_symbols_next(&at))
		vtable_symbol_take(vtables, module, at.name, &at.symbol);
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

/* The debug file has what was stripped off. */
static void debug_read(struct vtables *vtables, struct vtable_module *module)
{
	struct symbol_elf unused;
	char path[PATH_MAX];
	int fd = symbol_search_debug(vtables->settings, &module->mapping, path,
				     &unused);
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);

	if (elf)
		vtable_symbols_read(vtables, module, elf, SHT_SYMTAB);
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}

static void vtable_module_read(struct vtables *vtables,
			       struct vtable_module *module)
{
	char path[PATH_MAX];
	int fd = symbol_search_code(vtables->settings, &module->mapping, path,
				    &module->elf);
	Elf *elf;

	if (fd < 0)
		return;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf) {
		vtable_segments_read(module, elf);
		vtable_symbols_read(vtables, module, elf, SHT_SYMTAB);
		if (!module->count)
			debug_read(vtables, module);
		if (!module->count)
			vtable_symbols_read(vtables, module, elf, SHT_DYNSYM);
	}
	elf_end(elf);
	close(fd);
	if (module->count)
		qsort(module->tables, module->count, sizeof(*module->tables),
		      array_compare);
}


static const struct vtable_module *
vtable_module_get(struct vtables *vtables, const struct ras_mapping *mapping)
{
	struct vtable_module *module;

	for (size_t i = 0; i < vtables->module_count; i++)
		if (vtables->modules[i]->mapping.id_kind == mapping->id_kind &&
		    vtables->modules[i]->mapping.id_length ==
			    mapping->id_length &&
		    !memcmp(vtables->modules[i]->mapping.id, mapping->id,
			    sizeof(vtables->modules[i]->mapping.id)) &&
		    !strncmp(vtables->modules[i]->mapping.path, mapping->path,
			     sizeof(vtables->modules[i]->mapping.path)))
			return vtables->modules[i];
	if (vtables->module_count == MODULES_MOST)
		return NULL;
	module = calloc(1, sizeof(*module));
	if (!module || !array_grow(&vtables->modules, vtables->module_count,
				   &vtables->module_room, sizeof(module))) {
		vtables->failed = true;
		free(module);
		return NULL;
	}
	module->mapping = *mapping;
	vtable_module_read(vtables, module);
	vtables->modules[vtables->module_count++] = module;
	return module;
}

/* ---- processes ---- */

static bool bias_of(const struct vtable_module *module,
		    const struct ras_mapping *mapping, uint64_t *bias)
{
	for (size_t i = 0; i < module->elf.segment_count; i++) {
		const struct symbol_segment *segment = &module->elf.segments[i];
		uint64_t skew = mapping->offset - segment->offset;

		if (skew >= segment->bytes && -skew >= PAGE_MOST)
			continue;
		*bias = mapping->start - (segment->address + skew);
		return true;
	}
	return false;
}

static void vtable_range_add(struct vtables *vtables,
			     struct vtable_process *process,
			     const struct ras_mapping *mapping)
{
	const struct vtable_module *module =
		vtable_module_get(vtables, mapping);
	struct vtable_range range = { .module = module };

	if (!module || !module->high || !bias_of(module, mapping, &range.bias))
		return;
	range.start = range.bias + module->low;
	range.end = range.bias + module->high;
	if (process->count &&
	    process->ranges[process->count - 1].start == range.start)
		return;
	if (array_grow(&process->ranges, process->count, &process->room,
		       sizeof(*process->ranges)))
		process->ranges[process->count++] = range;
	else
		vtables->failed = true;
}

static struct vtable_process *process_make(struct vtables *vtables,
					   uint32_t pid)
{
	const struct process_entry *known = process_table_find(vtables->table,
							     pid);
	struct vtable_process *process = calloc(1, sizeof(*process));

	if (!process)
		return NULL;
	process->pid = pid;
	for (uint32_t i = 0; known && i < known->map_count; i++)
		vtable_range_add(vtables, process, &known->maps[i]);
	if (process->count)
		qsort(process->ranges, process->count,
		      sizeof(*process->ranges), array_compare);
	return process;
}

static const struct vtable_process *vtable_process_get(struct vtables *vtables,
						       uint32_t pid)
{
	struct vtable_process *process = key_map_find(&vtables->processes, pid);

	if (process)
		return process;
	process = process_make(vtables, pid);
	if (process && !key_map_add(&vtables->processes, pid, process))
		return process;
	vtables->failed = true;
	if (process)
		free(process->ranges);
	free(process);
	return NULL;
}

/* ---- asking ---- */

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

enum heap_type vtables_find(struct vtables *vtables, uint32_t pid,
			    uint64_t word, unsigned int bytes, uint32_t *name)
{
	const struct vtable_process *process;
	const struct vtable_range *range;
	size_t at;

	*name = 0;
	if (!word)
		return HEAP_TYPE_NO_TABLE;
	process = vtables->settings->off ? NULL
					 : vtable_process_get(vtables, pid);
	if (!process || !process->count)
		return HEAP_TYPE_NONE;
	at = array_count_upto(process->ranges, process->count,
			      sizeof(*process->ranges), word);
	range = at ? &process->ranges[at - 1] : NULL;
	if (range && word < range->end)
		*name = module_class(range->module, word - range->bias, bytes);
	return *name ? HEAP_TYPE_NAMED : HEAP_TYPE_OTHER;
}

void vtables_free(struct vtables *vtables)
{
	struct vtable_process *process;
	size_t at = 0;

	for (size_t i = 0; i < vtables->module_count; i++) {
		free(vtables->modules[i]->tables);
		free(vtables->modules[i]);
	}
	while ((process = key_map_next(&vtables->processes, &at))) {
		free(process->ranges);
		free(process);
	}
	free(vtables->modules);
	key_map_free(&vtables->processes);
}
