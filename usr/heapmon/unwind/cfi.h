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

struct cfi {
	const uint8_t *bytes;
	size_t size;
	uint64_t address;	/* of the bytes, as linked */
	int word;		/* bytes of a pointer: 4 is i386, 8 x86-64 */
	uint64_t lowest;	/* address that is pc 0 */
	uint64_t end;		/* behind the highest address of code */
};

/* Add the rows of all functions; what makes no sense is left out. */
void cfi_read(const struct cfi *cfi, struct rows *rows);

#endif
