// SPDX-License-Identifier: GPL-2.0
#include "cfi.h"

#include <dwarf.h>
#include "lib/elf_symbols.h"

struct cie {
	const uint8_t *at;	/* which one it is; NULL: none */
	struct cfi_function function;
	bool augmented;		/* functions have data of it */
	uint8_t table;		/* encoding of the landing pads' tables */
};

bool cfi_section_find(Elf *elf, struct cfi_section *section)
{
	GElf_Shdr sh;
	Elf_Scn *scn = elf_section_named(elf, ".eh_frame", &sh);
	bool found = scn && sh.sh_type != SHT_NOBITS;
	Elf_Data *data = found ? elf_rawdata(scn, NULL) : NULL;

	*section = (struct cfi_section) {
		.word = gelf_getclass(elf) == ELFCLASS64 ? 8 : 4,
	};
	if (data && data->d_buf) {
		section->bytes = data->d_buf;
		section->size = data->d_size;
		section->address = sh.sh_addr;
	}
	return found;
}

uint64_t cfi_pointer(struct cursor *cursor, uint8_t encoding,
		     unsigned int word)
{
	uint64_t place = cursor->address, value = 0;

	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr: value = cursor_fixed(cursor, word); break;
	case DW_EH_PE_uleb128: value = cursor_uleb(cursor); break;
	case DW_EH_PE_udata2: value = cursor_fixed(cursor, 2); break;
	case DW_EH_PE_udata4: value = cursor_fixed(cursor, 4); break;
	case DW_EH_PE_udata8: value = cursor_fixed(cursor, 8); break;
	case DW_EH_PE_sleb128: value = cursor_sleb(cursor); break;
	case DW_EH_PE_sdata2: value = cursor_signed(cursor, 2); break;
	case DW_EH_PE_sdata4: value = cursor_signed(cursor, 4); break;
	case DW_EH_PE_sdata8: value = cursor_signed(cursor, 8); break;
	default: cursor->failed = true;
	}
	switch (encoding & 0x70) {
	case DW_EH_PE_absptr: break;
	case DW_EH_PE_pcrel: value += value ? place : 0; break;
	default: cursor->failed = true;
	}
	if (encoding & DW_EH_PE_indirect)
		cursor->failed = true;
	return word == 4 ? (uint32_t)value : value;
}

static bool cie_read(struct cie *cie, const struct cfi_section *section,
		     struct cursor c)
{
	struct cfi_function *function = &cie->function;
	uint64_t version = cursor_fixed(&c, 1);
	const char *letters = cursor_string(&c);
	struct cursor more;

	*cie = (struct cie) {
		.augmented = letters[0] == 'z', .table = DW_EH_PE_omit,
	};
	function->section = section;
	if (version == 4)
		cursor_skip(&c, 2);
	function->code_align = cursor_uleb(&c);
	function->data_align = cursor_sleb(&c);
	function->return_register = version == 1 ? cursor_fixed(&c, 1) :
						   cursor_uleb(&c);
	if (!cie->augmented) {
		function->initial = c;
		return !letters[0] && !c.failed;
	}
	more = c;
	cursor_skip(&c, cursor_uleb(&c));
	cursor_uleb(&more);
	more.end = c.at;
	function->initial = c;
	/* An unknown letter ends the augmentation, whose length is known. */
	for (letters++; *letters; letters++) {
		switch (*letters) {
		case 'R':
			function->encoding = cursor_fixed(&more, 1);
			break;
		case 'L':
			cie->table = cursor_fixed(&more, 1);
			break;
		case 'P':	/* the personality routine */
			cfi_pointer(&more, cursor_fixed(&more, 1) & 0x0f,
				    section->word);
			break;
		case 'S':
			function->signal = true;
			break;
		case 'B':
			break;
		default:
			return !c.failed;
		}
	}
	return !c.failed;
}

/* The length that an entry begins with; what it holds is left in *c. */
static uint64_t entry_length(struct cursor *c)
{
	uint64_t length = cursor_fixed(c, 4);

	return length == 0xffffffff ? cursor_fixed(c, 8) : length;
}

/* The CIE that begins `back` bytes before `id`; false: there is none. */
static bool cie_find(struct cie *cie, const struct cfi_section *section,
		     const uint8_t *id, uint64_t back)
{
	struct cursor c;
	uint64_t length;

	if (back > (uint64_t)(id - section->bytes))
		return false;
	if (cie->at == id - back)
		return true;
	c = (struct cursor) {
		.at = id - back, .end = section->bytes + section->size,
		.address = section->address + (id - back - section->bytes),
	};
	length = entry_length(&c);
	if (length < (uint64_t)(c.end - c.at))
		c.end = c.at + length;
	if (cursor_fixed(&c, 4) || c.failed || !cie_read(cie, section, c)) {
		cie->at = NULL;
		return false;
	}
	cie->at = id - back;
	return true;
}

int cfi_each(const struct cfi_section *section,
	     int (*take)(void *context, const struct cfi_function *function),
	     void *context)
{
	struct cursor all = {
		.at = section->bytes, .end = section->bytes + section->size,
		.address = section->address,
	};
	struct cie cie = { NULL };
	int code = 0;

	while (!code && all.at < all.end) {
		uint64_t length = entry_length(&all), back;
		struct cfi_function function;
		struct cursor c = all, augmentation;
		const uint8_t *id = c.at;

		/* a length of 0 ends the section */
		cursor_skip(&all, length);
		if (all.failed || !length)
			break;
		c.end = all.at;
		back = cursor_fixed(&c, 4);
		if (!back || c.failed || !cie_find(&cie, section, id, back))
			continue;
		function = cie.function;
		function.begin = cfi_pointer(&c, function.encoding,
					     section->word);
		function.end = function.begin +
			       cfi_pointer(&c, function.encoding & 0x0f,
					   section->word);
		if (cie.augmented) {
			uint64_t bytes = cursor_uleb(&c);

			augmentation = c;
			cursor_skip(&c, bytes);
			augmentation.end = c.at;
			if (cie.table != DW_EH_PE_omit)
				function.table = cfi_pointer(&augmentation,
							     cie.table,
							     section->word);
			if (augmentation.failed)
				function.table = 0;
		}
		function.program = c;
		if (!c.failed && function.end >= function.begin)
			code = take(context, &function);
	}
	return code;
}
