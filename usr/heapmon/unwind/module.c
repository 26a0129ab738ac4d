// SPDX-License-Identifier: GPL-2.0
#include "module.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <string.h>
#include "cfi_program.h"

#define PAGE	4096ULL

static uint64_t page_down(uint64_t value)
{
	return value & ~(PAGE - 1);
}

/* Which addresses the file has code at; lowest is what pc 0 is. */
static bool loads_read(struct module *module, Elf *elf, uint64_t *lowest)
{
	size_t count;
	GElf_Phdr ph;

	*lowest = UINT64_MAX;
	if (elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, i, &ph) && ph.p_type == PT_LOAD &&
		    page_down(ph.p_vaddr) < *lowest)
			*lowest = page_down(ph.p_vaddr);
	for (size_t i = 0; i < count; i++) {
		struct module_load *load = &module->loads[module->load_count];
		uint64_t slack;

		if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_LOAD ||
		    !(ph.p_flags & PF_X) || module->load_count == MODULE_LOADS)
			continue;
		slack = ph.p_offset & (PAGE - 1);
		if (ph.p_filesz > UINT32_MAX - PAGE ||
		    ph.p_vaddr - *lowest > UINT32_MAX - ph.p_filesz - PAGE ||
		    ph.p_offset > INT64_MAX ||
		    slack != (ph.p_vaddr & (PAGE - 1)))
			continue;
		load->offset = ph.p_offset - slack;
		load->bytes = page_down(ph.p_filesz + slack + PAGE - 1);
		load->pc = ph.p_vaddr - slack - *lowest;
		if (load->pc + load->bytes > module->bytes)
			module->bytes = load->pc + load->bytes;
		module->load_count++;
	}
	return module->load_count;
}

static Elf_Scn *section_find(Elf *elf, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	const char *name;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, header) ||
		    header->sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, strings, header->sh_name);
		if (name && !strcmp(name, ".eh_frame"))
			return section;
	}
	return NULL;
}

static uint64_t file_offset(Elf *elf, uint64_t address, uint64_t *rest)
{
	size_t count;
	GElf_Phdr ph;

	*rest = 0;
	if (elf_getphdrnum(elf, &count))
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_LOAD ||
		    address < ph.p_vaddr || address - ph.p_vaddr >= ph.p_filesz)
			continue;
		*rest = ph.p_filesz - (address - ph.p_vaddr);
		return ph.p_offset + (address - ph.p_vaddr);
	}
	return 0;
}

/* Without sections: .eh_frame_hdr (LSB Core) says where it is; its end isn't
 * said, but four zeros end it. */
static Elf_Data *segment_find(Elf *elf, int word, uint64_t *address)
{
	uint64_t rest, offset;
	Elf_Data *data = NULL;
	struct cfi_bytes header;
	size_t count;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &count))
		return NULL;
	for (size_t i = 0; i < count && !data; i++)
		if (gelf_getphdr(elf, i, &ph) &&
		    ph.p_type == PT_GNU_EH_FRAME && ph.p_filesz >= 8 &&
		    ph.p_offset < INT64_MAX)
			data = elf_getdata_rawchunk(elf, ph.p_offset, 16,
						    ELF_T_BYTE);
	if (!data || data->d_size < 16)
		return NULL;
	header = (struct cfi_bytes) {
		.at = (uint8_t *)data->d_buf + 4,
		.end = (uint8_t *)data->d_buf + data->d_size,
		.address = ph.p_vaddr + 4,
	};
	*address = cfi_take_pointer(&header, ((uint8_t *)data->d_buf)[1], word);
	offset = file_offset(elf, *address, &rest);
	if (header.failed || !rest)
		return NULL;
	return elf_getdata_rawchunk(elf, offset, rest, ELF_T_BYTE);
}

static void frames_read(struct module *module, Elf *elf, struct cfi *cfi)
{
	GElf_Shdr header;
	Elf_Scn *section = section_find(elf, &header);
	Elf_Data *data;

	if (section) {
		data = elf_rawdata(section, NULL);
		cfi->address = header.sh_addr;
	} else {
		data = segment_find(elf, cfi->word, &cfi->address);
	}
	if (!data || !data->d_buf)
		return;
	cfi->bytes = data->d_buf;
	cfi->size = data->d_size;
	cfi_read(cfi, &module->rows);
	if (module->rows.count)
		rows_sort(&module->rows);
}

static int module_read(struct module *module, Elf *elf)
{
	struct cfi cfi = { 0 };
	GElf_Ehdr header;

	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
		return -ENOEXEC;
	if (header.e_machine == EM_X86_64)
		cfi.word = header.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 0;
	else if (header.e_machine == EM_386)
		cfi.word = 4;
	if (!cfi.word || !loads_read(module, elf, &cfi.lowest))
		return -ENOEXEC;
	cfi.end = cfi.lowest + module->bytes;
	frames_read(module, elf, &cfi);
	return module->rows.failed ? -ENOMEM : 0;
}

static int module_read_end(struct module *module, Elf *elf)
{
	int ret;

	memset(module, 0, sizeof(*module));
	ret = module_read(module, elf);
	elf_end(elf);
	if (ret)
		module_free(module);
	return ret;
}

int module_read_file(struct module *module, int fd)
{
	elf_version(EV_CURRENT);
	return module_read_end(module, elf_begin(fd, ELF_C_READ, NULL));
}

int module_read_image(struct module *module, void *image, size_t size)
{
	elf_version(EV_CURRENT);
	return module_read_end(module, elf_memory(image, size));
}

void module_free(struct module *module)
{
	rows_free(&module->rows);
	memset(module, 0, sizeof(*module));
}
