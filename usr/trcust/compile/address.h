/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Address specifications (manual 1.3.5.15) as DWARF expressions. Values are 64
 * bits wide, so in a 32-bit module every sum is cut to 32 bits. A far address
 * is two values, selector and offset, whose sums are cut to 16 bits.
 */
#ifndef TRCUST_ADDRESS_H
#define TRCUST_ADDRESS_H

#include "symbol.h"

/* A register in this module: its DWARF number; -1 after a message. */
int address_register(const struct compilation *c,
		     const struct compile_site *site,
		     const struct tsf_register *reg, uint8_t *bytes);
/* Appends the register's value + displacement; at a return point the result
 * that it will have. */
void address_register_emit(const struct compile_site *site, unsigned int number,
			   int64_t displacement, struct bytes *rpn);
/* `segmented`: pointers at a symbol are far ones (MEM, ASCIIZ). */
int address_compile(const struct compilation *c,
		    const struct compile_site *site,
		    const struct tsf_address *address,
		    const struct tsf_chain *chain, bool segmented,
		    struct address *result);
bool address_is_absent(const struct address *address);
/* The address of what is in memory as a whole; NULL: it isn't. */
const struct bytes *address_in_memory(const struct address *address);

#endif
