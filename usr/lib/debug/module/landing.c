// SPDX-License-Identifier: GPL-2.0
#include "landing.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "pointers.h"

/* Bytes that are read one behind the other. */
struct reader {
	const uint8_t *at, *end;
	uint64_t address;	/* of `at` */
	uint8_t word;		/* bytes of an address */
	bool failed;		/* there were too few; sticks */
};

struct encodings {		/* of a CIE */
	uint8_t range, table;	/* DW_EH_PE_* */
	bool has_table;
};

static uint64_t read_bytes(struct reader *reader, size_t size, bool is_signed)
{
	uint64_t value = 0;

	if ((size_t)(reader->end - reader->at) < size) {
		reader->failed = true;
		return 0;
	}
	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)reader->at[i] << (8 * i);
	if (is_signed && size && size < 8 && value >> (8 * size - 1))
		value |= ~0ULL << (8 * size);
	reader->at += size;
	reader->address += size;
	return value;
}

static uint64_t read_uleb(struct reader *reader)
{
	unsigned int shift = 0;
	uint64_t value = 0;
	uint8_t byte;

	do {
		byte = read_bytes(reader, 1, false);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !reader->failed);
	return value;
}

/* LSB Core, DWARF Exception Header Encoding; 0, too, of what isn't used for
 * code. */
static uint64_t read_encoded(struct reader *reader, uint8_t encoding)
{
	uint64_t base = (encoding & 0x70) == DW_EH_PE_pcrel ? reader->address :
							      0;
	uint64_t value;

	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
		value = read_bytes(reader, reader->word, false);
		break;
	case DW_EH_PE_uleb128:
		value = read_uleb(reader);
		break;
	case DW_EH_PE_udata2: case DW_EH_PE_sdata2:
		value = read_bytes(reader, 2, encoding & DW_EH_PE_signed);
		break;
	case DW_EH_PE_udata4: case DW_EH_PE_sdata4:
		value = read_bytes(reader, 4, encoding & DW_EH_PE_signed);
		break;
	case DW_EH_PE_udata8: case DW_EH_PE_sdata8:
		value = read_bytes(reader, 8, false);
		break;
	default:
		reader->failed = true;
		return 0;
	}
	reader->failed |= encoding & DW_EH_PE_indirect;
	if (!value)
		return 0;
	return reader->word == 8 ? base + value : (uint32_t)(base + value);
}

static void read_cie(const Dwarf_CIE *cie, uint8_t word,
		     struct encodings *encodings)
{
	struct reader reader = {
		.at = cie->augmentation_data, .word = word,
		.end = cie->augmentation_data + cie->augmentation_data_size,
	};

	*encodings = (struct encodings) { DW_EH_PE_absptr, 0, false };
	if (cie->augmentation[0] != 'z' || !cie->augmentation_data)
		return;
	for (const char *a = cie->augmentation + 1; *a && !reader.failed; a++)
		switch (*a) {
		case 'R':
			encodings->range = read_bytes(&reader, 1, false);
			break;
		case 'L':
			encodings->table = read_bytes(&reader, 1, false);
			encodings->has_table = !reader.failed;
			break;
		case 'P':
			read_encoded(&reader, read_bytes(&reader, 1, false) &
					      ~DW_EH_PE_indirect);
			break;
		}
}

static int read_fde(struct landings *landings, const Dwarf_FDE *fde,
		    uint64_t address, uint8_t word,
		    const struct encodings *encodings)
{
	struct reader reader = {
		.at = fde->start, .end = fde->end, .address = address,
		.word = word,
	};
	struct landing landing;

	landing.start = read_encoded(&reader, encodings->range);
	read_encoded(&reader, encodings->range & 0x0f);
	read_uleb(&reader);	/* of the augmentation */
	landing.table = read_encoded(&reader, encodings->table);
	if (reader.failed || !landing.table)
		return 0;
	if (!array_grow(&landings->list, landings->count, &landings->room,
			sizeof(*landings->list)))
		return -ENOMEM;
	landings->list[landings->count++] = landing;
	return 0;
}

static int read_frames(struct landings *landings, const struct module *module,
		       Elf_Data *data, uint64_t address)
{
	uint8_t word = module->elf_class == ELFCLASS64 ? 8 : 4;
	const unsigned char *ident =
		(const unsigned char *)elf_getident(module->elf, NULL);
	Dwarf_Off at = 0, next, cie_at = -1;
	struct encodings encodings = { 0 };
	Dwarf_CFI_Entry entry, cie;
	int code = 0;

	for (; !code && at < data->d_size; at = next) {
		int result = dwarf_next_cfi(ident, data, true, at, &next,
					    &entry);

		if (result > 0 || next <= at)
			break;
		if (result || dwarf_cfi_cie_p(&entry))
			continue;
		if (entry.fde.CIE_pointer != cie_at) {
			Dwarf_Off behind;

			cie_at = entry.fde.CIE_pointer;
			encodings.has_table = false;
			if (cie_at < data->d_size &&
			    !dwarf_next_cfi(ident, data, true, cie_at, &behind,
					    &cie) && dwarf_cfi_cie_p(&cie))
				read_cie(&cie.cie, word, &encodings);
		}
		if (encodings.has_table)
			code = read_fde(landings, &entry.fde, address +
					(entry.fde.start -
					 (const uint8_t *)data->d_buf),
					word, &encodings);
	}
	return code;
}

static int landing_compare(const void *a, const void *b)
{
	const struct landing *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

int landings_find(struct landings *landings, const struct module *module)
{
	Elf_Scn *scn = NULL;
	int code = 0;
	size_t names;
	GElf_Shdr sh;

	landings->known = true;
	if (elf_getshdrstrndx(module->elf, &names))
		return 0;
	while (!code && (scn = elf_nextscn(module->elf, scn))) {
		const char *name = gelf_getshdr(scn, &sh) ?
			elf_strptr(module->elf, names, sh.sh_name) : NULL;
		Elf_Data *data;

		if (!name || strcmp(name, ".eh_frame") ||
		    sh.sh_type == SHT_NOBITS)
			continue;
		data = elf_rawdata(scn, NULL);
		if (data && data->d_buf)
			code = read_frames(landings, module, data, sh.sh_addr);
	}
	if (landings->count)
		qsort(landings->list, landings->count,
		      sizeof(*landings->list), landing_compare);
	return code;
}

void landings_free(struct landings *landings)
{
	free(landings->list);
	memset(landings, 0, sizeof(*landings));
}

static void mark_pads(struct reader *table, uint8_t encoding, uint64_t base,
		      struct flow *flow)
{
	while (table->at < table->end && !table->failed) {
		uint64_t pad;
		struct flow_part *part;

		read_encoded(table, encoding);		/* start */
		read_encoded(table, encoding);		/* length */
		pad = read_encoded(table, encoding);
		read_uleb(table);			/* action */
		part = pad && !table->failed ?
			flow_part_find(flow, base + pad) : NULL;
		if (part)
			part->marks[base + pad - part->start] |= FLOW_TARGET;
	}
}

static void read_table(const struct landing *landing, struct flow *flow)
{
	const struct module *module = flow->source.module;
	uint64_t base = landing->start, size;
	struct reader reader = {
		.address = landing->table,
		.word = module->elf_class == ELFCLASS64 ? 8 : 4,
	};
	size_t available;
	uint8_t encoding;

	reader.at = pointers_bytes(module, landing->table, &available);
	if (!reader.at)
		return;
	reader.end = reader.at + available;
	encoding = read_bytes(&reader, 1, false);
	if (encoding != DW_EH_PE_omit)
		base = read_encoded(&reader, encoding);
	if (read_bytes(&reader, 1, false) != DW_EH_PE_omit)
		read_uleb(&reader);
	encoding = read_bytes(&reader, 1, false);
	size = read_uleb(&reader);
	if (reader.failed || size > (size_t)(reader.end - reader.at))
		return;
	reader.end = reader.at + size;
	mark_pads(&reader, encoding, base, flow);
}

void landings_mark(const struct landings *landings, struct flow *flow)
{
	for (size_t i = 0; i < flow->part_count; i++) {
		const struct flow_part *part = &flow->parts[i];
		size_t l = array_count_upto(landings->list, landings->count,
					    sizeof(*landings->list),
					    part->start);

		while (l && landings->list[l - 1].start == part->start)
			l--;
		for (; l < landings->count &&
		       landings->list[l].start - part->start < part->size; l++)
			read_table(&landings->list[l], flow);
	}
}
