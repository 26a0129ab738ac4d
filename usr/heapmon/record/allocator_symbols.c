// SPDX-License-Identifier: GPL-2.0
/* The functions of heap.def in an ELF file. */
#include "allocator.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/array.h"
#include "lib/elf_symbols.h"
#include "debugdata.h"
#include "entry.h"

struct scan {
	struct allocator_file *file;
	const struct allocator_want *want;
	size_t room;
	bool objects;		/* the file was asked for by name */
	int code;
};

/* Symbols that only one allocator's code has. */
static const struct {
	const char *symbol;
	enum allocator_name name;
} marks[] = {
	{ "__libc_mallopt", ALLOCATOR_GLIBC },
	{ "__malloc_hook", ALLOCATOR_GLIBC },
	{ "malloc_info", ALLOCATOR_GLIBC },
	{ "__libc_malloc_impl", ALLOCATOR_MUSL },
	{ "__malloc_donate", ALLOCATOR_MUSL },
	{ "__dls3", ALLOCATOR_MUSL },
	{ "mallctl", ALLOCATOR_JEMALLOC },
	{ "je_mallctl", ALLOCATOR_JEMALLOC },
	{ "tc_malloc", ALLOCATOR_TCMALLOC },
	{ "MallocExtension_GetNumericProperty", ALLOCATOR_TCMALLOC },
	{ "mi_malloc", ALLOCATOR_MIMALLOC },
};

static void mark_take(struct allocator_file *file, const char *name)
{
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (!strcmp(marks[i].symbol, name) &&
		    marks[i].name > file->name)
			file->name = marks[i].name;
}


static const struct heap_function_def *symbol_function(const struct scan *scan,
					      const char *symbol)
{
	const char *prefix = scan->want->prefix;
	size_t length = prefix ? strlen(prefix) : 0;
	enum heap_function function;
	char name[64];
	size_t size;
	size_t at;

	if (prefix && strncmp(symbol, prefix, length))
		return NULL;
	symbol += length;
	if (scan->file->elf_class == ELFCLASS32) {
		/* "_Znwj" of a 32-bit program is "_Znwm" of the table: size_t
		 * is another type (Itanium C++ ABI, 5.1.5.2). */
		size = sizeof(name);
		at = strncmp(symbol, "_Zn", 3) ? 6 : 4;
		strncpy(name, symbol, size - 1);
		name[size - 1] = '\0';
		if (!strncmp(name, "_Z", 2) && strlen(name) > at &&
		    name[at] == 'j')
			name[at] = 'm';

		symbol = name;
	}
	function = heap_function_find(symbol);
	return function && ((heap_functions[function].kind != FUNCTION_MAP &&
			     heap_functions[function].kind != FUNCTION_UNMAP) ||
			    (scan->want->maps && !scan->want->prefix))
		       ? &heap_functions[function]
		       : NULL;
}

static bool allocator_offset_find(Elf *elf, uint64_t address, uint64_t *offset)
{
	GElf_Phdr phdr;
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, i, &phdr) || phdr.p_type != PT_LOAD ||
		    !(phdr.p_flags & PF_X) || address < phdr.p_vaddr ||
		    address - phdr.p_vaddr >= phdr.p_filesz)
			continue;
		*offset = address - phdr.p_vaddr + phdr.p_offset;
		return true;
	}
	return false;
}

/* Of functions at one address that of the lowest level stays; when one is free()
 * and another operator delete, it may be either. */
static void alias_take(struct allocator_place *place,
		       const struct heap_function_def *function,
		       const char *symbol)
{
	const struct heap_function_def *known =
		&heap_functions[place->function];

	if (known->kind != function->kind ||
	    known->minor == HEAP_FUNCTION_RELEASE_ANY)
		return;
	if (known->kind == FUNCTION_RELEASE &&
	    heap_function_is_cxx(known->minor) !=
		    heap_function_is_cxx(function->minor)) {
		place->function = HEAP_FUNCTION_RELEASE_ANY;
		return;
	}
	if (function->level >= known->level)
		return;
	place->function = function->minor;
	strncpy(place->symbol, symbol, sizeof(place->symbol) - 1);
}

static struct allocator_place *allocator_place_find(struct allocator_file *file,
						    uint64_t offset)
{
	for (size_t i = 0; i < file->count; i++)
		if (file->places[i].offset == offset)
			return &file->places[i];
	return NULL;
}

/* A function has one place in a file: tracepoints have one module each, and
 * the first symbol is that of .dynsym. */
static bool function_known(const struct allocator_file *file,
			   enum heap_function function)
{
	for (size_t i = 0; i < file->count; i++)
		if (file->places[i].function == function)
			return true;
	return false;
}

static void allocator_place_add(struct scan *scan,
				const struct heap_function_def *function,
				uint64_t offset, uint64_t address,
				const char *symbol)
{
	struct allocator_file *file = scan->file;
	struct allocator_place *place = allocator_place_find(file, offset);

	if (place) {
		alias_take(place, function, symbol);
		return;
	}
	if (function_known(file, function->minor))
		return;
	if (!array_grow(&file->places, file->count, &scan->room,
			sizeof(*place))) {
		scan->code = -ENOMEM;
		return;
	}
	place = &file->places[file->count];
	*place = (struct allocator_place){
		.function = function->minor, .offset = offset,
		.address = address,
	};
	strncpy(place->symbol, symbol, sizeof(place->symbol) - 1);
	if (allocator_entry_read(file, place,
				 function->kind == FUNCTION_RELEASE))
		file->count++;
}

static void allocator_symbol_take(struct scan *scan, Elf *elf,
				  const GElf_Sym *symbol, const char *name)
{
	unsigned int bind = GELF_ST_BIND(symbol->st_info);
	const struct heap_function_def *function;
	uint64_t offset;

	mark_take(scan->file, name);
	if (GELF_ST_TYPE(symbol->st_info) != STT_FUNC ||
	    (bind == STB_LOCAL && !scan->want->object_count))
		return;
	function = symbol_function(scan, name);
	if (function && allocator_offset_find(elf, symbol->st_value, &offset))
		allocator_place_add(scan, function, offset, symbol->st_value,
				    name);
}

/* The symbols of `elf`. `image`: whose segments name the places of the code: an
 * unpacked table of symbols has none of its own. */
static void tables_scan(struct scan *scan, Elf *image, Elf *elf, uint32_t type)
{
	struct elf_symbols at = { .elf = elf, .type = type };

	while (!scan->code && elf_symbols_next(&at))
		if (at.symbol.st_value)
			allocator_symbol_take(scan, image, &at.symbol, at.name);
}

static int allocator_place_compare(const void *a, const void *b)
{
	const struct allocator_place *x = a, *y = b;

	return x->function < y->function ? -1 : x->function > y->function;
}

int allocator_file_read(struct allocator_file *file,
			const struct allocator_want *want)
{
	struct scan scan = { .file = file, .want = want };
	GElf_Ehdr header;
	Elf *elf;
	void *data;
	size_t size;
	Elf *inner;

	elf_version(EV_CURRENT);
	elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header)) {
		elf_end(elf);
		return -ENOEXEC;
	}
	file->machine = header.e_machine;
	file->elf_class = header.e_ident[EI_CLASS];
	tables_scan(&scan, elf, elf, SHT_DYNSYM);
	tables_scan(&scan, elf, elf, SHT_SYMTAB);
	if (!debugdata_read(elf, &data, &size)) {
		inner = elf_memory(data, size);
		if (inner)
			tables_scan(&scan, elf, inner, SHT_SYMTAB);
		elf_end(inner);
		free(data);
	}
	elf_end(elf);
	if (file->count)
		qsort(file->places, file->count, sizeof(*file->places),
		      allocator_place_compare);
	return scan.code;
}
