// SPDX-License-Identifier: GPL-2.0
/*
 * x86-64: page tables as of the Intel manual, volume 3, 4.5. The root is what
 * VMCOREINFO (Documentation/admin-guide/kdump/vmcoreinfo.rst) has, else CR3
 * of a processor in the notes that QEMU adds.
 */
#include "vmcore_machine.h"

#include <elf.h>
#include <string.h>

#define ENTRY_ADDRESS	0x000ffffffffff000ULL
#define ENTRY_PRESENT	0x001
#define ENTRY_LARGE	0x080
#define KERNEL_MAP	0xffffffff80000000ULL	/* __START_KERNEL_map */

static bool root_from_info(struct vmcore *core)
{
	uint64_t symbol, base, five = 0, encrypted = 0;
	const struct dump *dump = &core->dump;

	if (!dump_info_number(dump, "SYMBOL(swapper_pg_dir)", 16, &symbol) ||
	    !dump_info_number(dump, "NUMBER(phys_base)", 10, &base))
		return false;
	dump_info_number(dump, "NUMBER(pgtable_l5_enabled)", 10, &five);
	dump_info_number(dump, "NUMBER(sme_mask)", 10, &encrypted);
	core->root = symbol - KERNEL_MAP + base;
	core->levels = five ? 5 : 4;
	core->address_mask = ENTRY_ADDRESS & ~encrypted;
	return true;
}

/* struct QEMUCPUState: 8 bytes, 18 registers, 10 segments of 24 bytes, cr[] */
#define QEMU_CR3	(8 + 18 * 8 + 10 * 24 + 3 * 8)
#define QEMU_CR4	(QEMU_CR3 + 8)
#define CR4_LA57	0x1000

static bool x86_open(struct vmcore *core)
{
	const struct dump_text *cpu;
	uint64_t cr3;
	uint64_t cr4;

	core->space = RAS_ANCHOR_SPACE;
	core->space_end = RAS_ANCHOR_SPACE_END;
	core->virtual_bits = 64;

	if (root_from_info(core))
		return true;

	/* With page-table isolation the upper of two pages is the user's. */
	cpu = &core->dump.cpu;
	if (!cpu->data || cpu->size < QEMU_CR4 + sizeof(cr4))
		return false;
	memcpy(&cr3, cpu->data + QEMU_CR3, sizeof(cr3));
	memcpy(&cr4, cpu->data + QEMU_CR4, sizeof(cr4));
	core->root = cr3 & ENTRY_ADDRESS & ~(uint64_t)DUMP_PAGE;
	core->levels = cr4 & CR4_LA57 ? 5 : 4;
	core->address_mask = ENTRY_ADDRESS;
	return true;
}

static enum vmcore_entry x86_entry(uint64_t entry, int level)
{
	if (!(entry & ENTRY_PRESENT))
		return VMCORE_NOTHING;
	return level > 3 || (level > 1 && !(entry & ENTRY_LARGE)) ?
		VMCORE_TABLE : VMCORE_MEMORY;
}

const struct vmcore_machine vmcore_x86 = {
	.elf = EM_X86_64, .name = "x86_64", .entry = x86_entry,
	.open = x86_open,
	.source = "VMCOREINFO or QEMU's notes of the processors",
};
