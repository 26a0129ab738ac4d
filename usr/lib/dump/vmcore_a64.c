// SPDX-License-Identifier: GPL-2.0
/*
 * AArch64: page tables of TTBR1 with a granule of 4 KiB, as of the Arm
 * Architecture Reference Manual, D8.3. VMCOREINFO has their address
 * (Documentation/admin-guide/kdump/vmcoreinfo.rst), and nothing else.
 */
#include "vmcore_machine.h"

#include <elf.h>

#define ENTRY_ADDRESS	0x0003fffffffff000ULL	/* with FEAT_LPA2's bits 48, 49 */
#define ENTRY_VALID	0x1
#define ENTRY_TABLE	0x2	/* at the last level: memory */

/* The tables are in the image, and modules no farther than jumps reach. */
static bool a64_open(struct vmcore *core)
{
	uint64_t symbol, offset, hidden, page = DUMP_PAGE;
	const struct dump *dump = &core->dump;

	dump_info_number(dump, "PAGESIZE", 10, &page);
	if (page != DUMP_PAGE ||
	    !dump_info_number(dump, "SYMBOL(swapper_pg_dir)", 16, &symbol) ||
	    !dump_info_number(dump, "NUMBER(kimage_voffset)", 16, &offset) ||
	    !dump_info_number(dump, "NUMBER(TCR_EL1_T1SZ)", 16, &hidden) ||
	    hidden < 12 || hidden > 39)
		return false;
	core->root = symbol - offset;
	core->virtual_bits = 64 - hidden;
	core->levels = (core->virtual_bits - 12 + 8) / 9;
	core->address_mask = ENTRY_ADDRESS;
	core->space = (symbol & -(uint64_t)DUMP_PAGE) - RAS_ANCHOR_AROUND;
	core->space_end = symbol < RAS_ANCHOR_SPACE_END - RAS_ANCHOR_AROUND ?
		symbol + RAS_ANCHOR_AROUND : RAS_ANCHOR_SPACE_END;
	return true;
}

static enum vmcore_entry a64_entry(uint64_t entry, int level)
{
	bool table = entry & ENTRY_TABLE;

	if (!(entry & ENTRY_VALID) || (level == 1 && !table))
		return VMCORE_NOTHING;
	return level > 1 && table ? VMCORE_TABLE : VMCORE_MEMORY;
}

const struct vmcore_machine vmcore_a64 = {
	.elf = EM_AARCH64, .name = "aarch64", .entry = a64_entry,
	.open = a64_open,
	.source = "VMCOREINFO of a kernel with pages of 4096 bytes",
};
