/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Call frame information: .eh_frame (LSB Core, "Exception Frames"; DWARF 5,
 * 6.4) becomes rows. Its bytes are hostile.
 */
#ifndef HEAPMON_UNWIND_CFI_H
#define HEAPMON_UNWIND_CFI_H

#include <stddef.h>
#include <stdint.h>
#include "rows.h"

struct cfi_machine;	/* cfi_program.c */

struct cfi {
	const struct cfi_machine *machine;
	const uint8_t *bytes;
	size_t size;
	uint64_t address;	/* of the bytes, as linked */
	int word;		/* bytes of a pointer */
	uint64_t lowest;	/* address that is pc 0 */
	uint64_t end;		/* behind the highest address of code */
};

/* The registers that matter, of ELF's e_machine and class; NULL: not known. */
const struct cfi_machine *cfi_machine_find(uint16_t machine, uint8_t elf_class);
/* Where the address of an instruction that a signal interrupted leads from: bytes
 * from the stack pointer to struct sigcontext; 0: call frame information tells. */
int cfi_machine_signal(const struct cfi_machine *machine);
/* Add the rows of all functions; what makes no sense is left out. */
void cfi_read(const struct cfi *cfi, struct rows *rows);

#endif
