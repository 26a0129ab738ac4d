// SPDX-License-Identifier: GPL-2.0
/*
 * Where functions begin and end: by symbols with a size, and, where those were
 * stripped, by the frame descriptions of .eh_frame.
 */
#include "module_elf.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"

#define OVERLAP_MAX	64	/* functions that begin inside another */

struct frame_reader {
	struct module *module;
	unsigned char ident[EI_NIDENT];
	Elf_Data *data;
	uint64_t address;	/* of the section */
	Dwarf_Off cie_at;	/* whose encoding is known */
	uint8_t encoding;
	size_t room;
};

static int function_add(struct module *module, size_t *room, uint64_t start,
			uint64_t end)
{
	size_t available;

	if (end <= start || !module_code(module, start, &available, NULL))
		return 0;
	if (end - start > available)
		end = start + available;
	if (!array_grow(&module->functions, module->function_count, room,
			sizeof(*module->functions)))
		return -ENOMEM;
	module->functions[module->function_count++] =
		(struct module_range) { start, end };
	return 0;
}

static int functions_of_symbols(struct module *module, size_t *room)
{
	for (size_t i = 0; i < module->symbol_count; i++) {
		const struct module_symbol *symbol = &module->symbols[i];

		if (!symbol->defined || symbol->absolute || !symbol->size ||
		    (symbol->type != STT_FUNC &&
		     symbol->type != STT_GNU_IFUNC))
			continue;
		if (function_add(module, room, symbol->address,
				 symbol->address + symbol->size))
			return -ENOMEM;
	}
	return 0;
}

static size_t frame_pointer_size(const struct frame_reader *reader,
				 uint8_t encoding)
{
	switch (encoding & 0x07) {
	case DW_EH_PE_absptr:
		return reader->ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
	case DW_EH_PE_udata2:
		return 2;
	case DW_EH_PE_udata4:
		return 4;
	case DW_EH_PE_udata8:
		return 8;
	default:
		return 0;
	}
}

/* The number at p by the encoding's low half: little-endian. */
static uint64_t frame_number(const uint8_t *p, size_t size, bool is_signed)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)p[i] << (8 * i);
	if (is_signed && size < 8 && value >> (8 * size - 1))
		value |= ~0ULL << (8 * size);
	return value;
}

/* How the FDEs of a CIE encode their addresses: the augmentation's R. */
static uint8_t cie_encoding(const struct frame_reader *reader,
			    const Dwarf_CIE *cie)
{
	const uint8_t *p = cie->augmentation_data;
	const uint8_t *end = p + cie->augmentation_data_size;

	if (cie->augmentation[0] != 'z' || !p)
		return DW_EH_PE_absptr;
	for (const char *a = cie->augmentation + 1; *a && p < end; a++) {
		size_t size;

		switch (*a) {
		case 'R':
			return *p;
		case 'L':
			p++;
			break;
		case 'P':
			size = frame_pointer_size(reader, *p);
			if (!size || (size_t)(end - p) <= size)
				return DW_EH_PE_omit;
			p += 1 + size;
			break;
		case 'S': case 'B':
			break;
		default:
			return DW_EH_PE_omit;
		}
	}
	return DW_EH_PE_absptr;
}

static uint8_t fde_encoding(struct frame_reader *reader, Dwarf_Off cie_at)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	if (cie_at == reader->cie_at)
		return reader->encoding;
	reader->cie_at = cie_at;
	reader->encoding = DW_EH_PE_omit;
	if (cie_at < reader->data->d_size &&
	    !dwarf_next_cfi(reader->ident, reader->data, true, cie_at, &next,
			    &entry) &&
	    dwarf_cfi_cie_p(&entry))
		reader->encoding = cie_encoding(reader, &entry.cie);
	return reader->encoding;
}

static int fde_add(struct frame_reader *reader, const Dwarf_FDE *fde)
{
	uint8_t encoding = fde_encoding(reader, fde->CIE_pointer);
	size_t size = frame_pointer_size(reader, encoding);
	uint64_t start, length;

	if (encoding == DW_EH_PE_omit || !size ||
	    (size_t)(fde->end - fde->start) < 2 * size)
		return 0;
	start = frame_number(fde->start, size, encoding & DW_EH_PE_signed);
	length = frame_number(fde->start + size, size, false);
	switch (encoding & 0x70) {
	case 0:
		break;
	case DW_EH_PE_pcrel:
		start += reader->address +
			 (fde->start - (const uint8_t *)reader->data->d_buf);
		break;
	default:
		return 0;
	}
	if (reader->ident[EI_CLASS] == ELFCLASS32)
		start = (uint32_t)start;
	return function_add(reader->module, &reader->room, start,
			    start + length);
}

static int functions_of_frames(struct frame_reader *reader)
{
	Dwarf_Off at = 0, next;
	Dwarf_CFI_Entry entry;
	int code = 0;

	while (!code && at < reader->data->d_size) {
		int result = dwarf_next_cfi(reader->ident, reader->data, true,
					    at, &next, &entry);

		if (result > 0 || next <= at)
			break;
		if (!result && !dwarf_cfi_cie_p(&entry))
			code = fde_add(reader, &entry.fde);
		at = next;
	}
	return code;
}

static int function_compare(const void *a, const void *b)
{
	const struct module_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

static int module_find_frames(struct module *module, size_t *room)
{
	struct frame_reader reader = {
		.module = module, .cie_at = -1, .room = *room,
	};
	Elf_Scn *scn = NULL;
	size_t names, size;
	const char *ident = elf_getident(module->elf, &size);
	GElf_Shdr sh;
	int code;

	if (!ident || size < EI_NIDENT ||
	    elf_getshdrstrndx(module->elf, &names))
		return 0;
	memcpy(reader.ident, ident, EI_NIDENT);
	while ((scn = elf_nextscn(module->elf, scn))) {
		const char *name = gelf_getshdr(scn, &sh) ?
			elf_strptr(module->elf, names, sh.sh_name) : NULL;

		if (!name || strcmp(name, ".eh_frame") ||
		    sh.sh_type == SHT_NOBITS)
			continue;
		reader.data = elf_rawdata(scn, NULL);
		reader.address = sh.sh_addr;
		if (!reader.data || !reader.data->d_buf)
			return 0;
		code = functions_of_frames(&reader);
		*room = reader.room;
		return code;
	}
	return 0;
}

int module_load_functions(struct module *module)
{
	size_t room = 0;

	free(module->functions);
	module->functions = NULL;
	module->function_count = 0;
	if (functions_of_symbols(module, &room) ||
	    module_find_frames(module, &room))
		return -ENOMEM;
	if (module->function_count)
		qsort(module->functions, module->function_count,
		      sizeof(*module->functions), function_compare);
	return 0;
}

const struct module_range *
module_function_find(const struct module *module, uint64_t address)
{
	size_t behind = array_count_upto(module->functions,
					 module->function_count,
					 sizeof(*module->functions), address);

	for (size_t i = behind; i && behind - i < OVERLAP_MAX; i--)
		if (module->functions[i - 1].end > address)
			return &module->functions[i - 1];
	return NULL;
}
