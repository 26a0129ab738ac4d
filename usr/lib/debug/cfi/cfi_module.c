// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cfi_program.h"

#define SCAN_MOST	(16 << 20)	/* bytes of code: a C library's, the vDSO's */

struct cfi_reader {
	struct cfi_module *module;
	const struct cfi_machine *machine;
	uint64_t lowest;	/* address that is pc 0 */
};

/* Which addresses the file has code at */
static bool loads_read(struct cfi_reader *reader, Elf *elf)
{
	struct cfi_module *module = reader->module;
	uint64_t page = sysconf(_SC_PAGESIZE), lowest = UINT64_MAX;
	size_t count;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, i, &ph) && ph.p_type == PT_LOAD &&
		    (ph.p_vaddr & ~(page - 1)) < lowest)
			lowest = ph.p_vaddr & ~(page - 1);
	for (size_t i = 0; i < count; i++) {
		struct cfi_load *load = &module->loads[module->load_count];
		uint64_t slack;

		if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_LOAD ||
		    !(ph.p_flags & PF_X) || module->load_count == CFI_LOADS)
			continue;
		slack = ph.p_offset & (page - 1);
		if (ph.p_filesz > UINT32_MAX - page ||
		    ph.p_vaddr - lowest > UINT32_MAX - ph.p_filesz - page ||
		    ph.p_offset > INT64_MAX ||
		    slack != (ph.p_vaddr & (page - 1)))
			continue;
		load->offset = ph.p_offset - slack;
		load->file_bytes = ph.p_filesz + slack;
		load->bytes = (load->file_bytes + page - 1) & ~(page - 1);
		load->pc = ph.p_vaddr - slack - lowest;
		if (load->pc + load->bytes > module->bytes)
			module->bytes = load->pc + load->bytes;
		module->load_count++;
	}
	reader->lowest = lowest;
	return module->load_count;
}

/* Without sections: .eh_frame_hdr (LSB Core) has the address of .eh_frame, but
 * not its end, which four zeros mark. */
static void cfi_segment_find(Elf *elf, struct cfi_section *section)
{
	Elf_Data *data = NULL;
	struct cursor header;
	size_t count;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &count))
		return;
	for (size_t i = 0; i < count && !data; i++)
		if (gelf_getphdr(elf, i, &ph) &&
		    ph.p_type == PT_GNU_EH_FRAME && ph.p_filesz >= 8 &&
		    ph.p_offset < INT64_MAX)
			data = elf_getdata_rawchunk(elf, ph.p_offset, 16,
						    ELF_T_BYTE);
	if (!data || data->d_size < 16)
		return;
	header = (struct cursor) {
		.at = (uint8_t *)data->d_buf + 4,
		.end = (uint8_t *)data->d_buf + data->d_size,
		.address = ph.p_vaddr + 4,
	};
	section->address = cfi_pointer(&header, ((uint8_t *)data->d_buf)[1],
				       section->word);
	for (size_t i = 0; i < count && !header.failed; i++) {
		uint64_t at;

		if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_LOAD ||
		    section->address - ph.p_vaddr >= ph.p_filesz)
			continue;
		at = section->address - ph.p_vaddr;
		data = elf_getdata_rawchunk(elf, ph.p_offset + at,
					    ph.p_filesz - at, ELF_T_BYTE);
		section->bytes = data ? data->d_buf : NULL;
		section->size = section->bytes ? data->d_size : 0;
		return;
	}
}

static int function_take(void *context, const struct cfi_function *function)
{
	const struct cfi_reader *reader = context;
	struct cfi_module *module = reader->module;
	uint64_t end = reader->lowest + module->bytes;

	if (function->begin >= reader->lowest && function->begin < end &&
	    function->end <= end)
		cfi_program_run(function, reader->machine, reader->lowest,
				&module->rows);
	return module->rows.failed;
}

/*
 * The code that a signal's handler returns to has no call frame information. It
 * is known by its instructions (arch/arm64/kernel/vdso/sigreturn.S, "don't
 * touch": mov x8, #__NR_rt_sigreturn; svc #0). Its row begins before it, where an
 * address to return to is looked up.
 */
static void signals_add(struct cfi_reader *reader, Elf *elf)
{
	static const uint8_t enter[8] = {
		0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4,
	};
	struct cfi_module *module = reader->module;
	unsigned int count = reader->machine->signal ? module->load_count : 0;

	for (unsigned int i = 0; i < count; i++) {
		const struct cfi_load *load = &module->loads[i];
		Elf_Data *code;

		if (load->file_bytes > SCAN_MOST)
			continue;
		code = elf_getdata_rawchunk(elf, load->offset,
					    load->file_bytes, ELF_T_BYTE);
		if (!code || !code->d_buf)
			continue;
		for (size_t at = 0; at + sizeof(enter) <= code->d_size;
		     at += 4) {
			struct unwind_row row = {
				.pc = load->pc + at - 4, .kind = UNWIND_SIGNAL,
				.cfa = reader->machine->signal,
			};

			if (load->pc + at < 4 ||
			    memcmp((uint8_t *)code->d_buf + at, enter,
				   sizeof(enter)))
				continue;
			cfi_rows_add(&module->rows, &row);
			row = (struct unwind_row) {
				.pc = load->pc + at + sizeof(enter),
				.kind = UNWIND_FRAME,
			};
			cfi_rows_add(&module->rows, &row);
		}
	}
}

static int cfi_elf_read(struct cfi_module *module, Elf *elf)
{
	struct cfi_reader reader = { .module = module };
	struct cfi_section section;
	GElf_Ehdr header;
	int code = -ENOEXEC;

	memset(module, 0, sizeof(*module));
	if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header))
		reader.machine = cfi_machine_find(header.e_machine,
						  header.e_ident[EI_CLASS]);
	if (reader.machine && loads_read(&reader, elf)) {
		if (!cfi_section_find(elf, &section))
			cfi_segment_find(elf, &section);
		cfi_each(&section, function_take, &reader);
		signals_add(&reader, elf);
		if (module->rows.count)
			cfi_rows_sort(&module->rows);
		code = module->rows.failed ? -ENOMEM : 0;
	}
	elf_end(elf);
	if (code)
		cfi_module_free(module);
	return code;
}

int cfi_module_read(struct cfi_module *module, int fd)
{
	elf_version(EV_CURRENT);
	return cfi_elf_read(module, elf_begin(fd, ELF_C_READ, NULL));
}

int cfi_module_read_image(struct cfi_module *module, void *image, size_t size)
{
	elf_version(EV_CURRENT);
	return cfi_elf_read(module, elf_memory(image, size));
}

void cfi_module_free(struct cfi_module *module)
{
	free(module->rows.items);
	memset(module, 0, sizeof(*module));
}
