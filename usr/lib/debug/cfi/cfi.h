/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Call frame information: the functions of .eh_frame (LSB Core, "Exception
 * Frames"; DWARF 5, 6.4). Its bytes are hostile.
 */
#ifndef DEBUG_CFI_H
#define DEBUG_CFI_H

#include <gelf.h>
#include "lib/cursor.h"

struct cfi_section {
	const uint8_t *bytes;
	size_t size;
	uint64_t address;	/* of the bytes, as linked */
	unsigned int word;	/* bytes of a pointer */
};

struct cfi_function {
	const struct cfi_section *section;
	uint64_t begin, end;	/* addresses, as linked */
	uint64_t table;		/* address of the table of its landing
				 * pads (Itanium C++ ABI: Exception Handling); 0 */
	uint64_t code_align, data_align;
	uint64_t return_register;
	uint8_t encoding;	/* of addresses, DW_EH_PE_* */
	bool signal;		/* the frame of a signal */
	struct cursor initial, program;	/* instructions */
};

/* The file's .eh_frame; false: it has none. */
bool cfi_section_find(Elf *elf, struct cfi_section *section);
/* Call take for each function; what makes no sense is left out. Stops when it
 * returns non-zero, which is returned. */
int cfi_each(const struct cfi_section *section,
	     int (*take)(void *context, const struct cfi_function *function),
	     void *context);
/* A pointer in one of the encodings DW_EH_PE_*: 0 is none. */
uint64_t cfi_pointer(struct cursor *cursor, uint8_t encoding,
		     unsigned int word);

#endif
