// SPDX-License-Identifier: GPL-2.0
#include "cfi_module.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include "cfi_program.h"

#define SCAN_MOST	(16 << 20)	/* bytes of code: a C library's, the vDSO's */

static uint64_t page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

static uint64_t page_down(uint64_t value)
{
	return value & ~(page_size() - 1);
}

/* Which addresses the file has code at; lowest is what pc 0 is. */
static bool loads_read(struct module *module, Elf *elf, uint64_t *lowest)
{
	size_t count;
	GElf_Phdr ph;

	uint64_t page = page_size();

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
		slack = ph.p_offset & (page - 1);
		if (ph.p_filesz > UINT32_MAX - page ||
		    ph.p_vaddr - *lowest > UINT32_MAX - ph.p_filesz - page ||
		    ph.p_offset > INT64_MAX ||
		    slack != (ph.p_vaddr & (page - 1)))
			continue;
		load->offset = ph.p_offset - slack;
		load->bytes = page_down(ph.p_filesz + slack + page - 1);
		load->file_bytes = ph.p_filesz + slack;
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
}

/*
 * What a signal's handler returns to has no call frame information, and is known
 * by its code (arch/arm64/kernel/vdso/sigreturn.S, "don't touch": mov x8,
 * #__NR_rt_sigreturn; svc #0). Its row begins in front of it, where an address
 * to return to is looked up.
 */
static void signals_scan(struct module *module, const uint8_t *code,
			 size_t size, uint64_t pc, int context)
{
	static const uint8_t enter[8] = {
		0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4,
	};

	for (size_t at = 0; at + sizeof(enter) <= size; at += 4) {
		struct unwind_row row = {
			.pc = pc + at - 4, .kind = UNWIND_SIGNAL,
			.cfa = context,
		};

		if (pc + at < 4 || memcmp(code + at, enter, sizeof(enter)))
			continue;
		rows_add(&module->rows, &row);
		row = (struct unwind_row) {
			.pc = pc + at + sizeof(enter), .kind = UNWIND_FRAME,
		};
		rows_add(&module->rows, &row);
	}
}

static void signals_add(struct module *module, Elf *elf,
			const struct cfi *cfi)
{
	int context = cfi_machine_signal(cfi->machine);

	for (unsigned int i = 0; context && i < module->load_count; i++) {
		const struct module_load *load = &module->loads[i];
		Elf_Data *code;

		if (load->file_bytes > SCAN_MOST)
			continue;
		code = elf_getdata_rawchunk(elf, load->offset,
					    load->file_bytes, ELF_T_BYTE);
		if (code && code->d_buf)
			signals_scan(module, code->d_buf, code->d_size,
				     load->pc, context);
	}
}

static int module_read(struct module *module, Elf *elf)
{
	struct cfi cfi = { 0 };
	GElf_Ehdr header;

	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
		return -ENOEXEC;
	cfi.machine = cfi_machine_find(header.e_machine,
				       header.e_ident[EI_CLASS]);
	cfi.word = header.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
	if (!cfi.machine || !loads_read(module, elf, &cfi.lowest))
		return -ENOEXEC;
	cfi.end = cfi.lowest + module->bytes;
	frames_read(module, elf, &cfi);
	signals_add(module, elf, &cfi);
	if (module->rows.count)
		rows_sort(&module->rows);
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
