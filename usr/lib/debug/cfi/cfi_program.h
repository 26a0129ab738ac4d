/* SPDX-License-Identifier: GPL-2.0 */
/* The instructions of one function's call frame information. */
#ifndef DEBUG_CFI_PROGRAM_H
#define DEBUG_CFI_PROGRAM_H

#include "cfi.h"

/* DWARF numbers of registers (psABI, aadwarf64 4.1) */
struct cfi_machine {
	uint16_t machine;	/* ELF's */
	uint8_t elf_class;
	uint64_t sp, fp;
	uint64_t ip;		/* as expressions of .plt name it */
	int context_sp;		/* offset of the stack pointer in struct
				 * sigcontext */
	int signal;		/* bytes from the stack pointer of a signal's
				 * handler to struct sigcontext; 0: call frame
				 * information has it */
	bool link;		/* calls leave the address to return to in a
				 * register */
};

/* Of ELF's e_machine and class; NULL: not known. */
const struct cfi_machine *cfi_machine_find(uint16_t machine, uint8_t elf_class);
/* Add the rows of a function; pc 0 is the address `lowest`. */
void cfi_program_run(const struct cfi_function *function,
		     const struct cfi_machine *machine, uint64_t lowest,
		     struct cfi_rows *rows);

#endif
