/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of addresses: process_table.h has what was mapped there,
 * lib/debug/symbols the symbol and source line. Without a symbol the name is
 * module and offset. Several threads may ask at once.
 *
 *	malloc+0x1A (libc.so.6)
 *	work+0x14 app.c:33 (app)
 *	libc.so.6+0x29D90
 */
#ifndef READ_ADDRESS_NAME_H
#define READ_ADDRESS_NAME_H

#include "lib/debug/symbols/symbols.h"
#include "lib/read/process_table.h"

#define SYMBOLS_NAME_MAX	512	/* characters of an address's name */

/* The place of an address of pid, or of the kernel (PROCESS_KERNEL); module is
 * NULL when nothing was mapped there. Strings are valid until
 * symbols_close(). */
struct symbols_place symbols_find(struct symbols *symbols,
				  const struct process_table *table,
				  uint32_t pid, uint64_t address);
/* The place of a return address: symbol and line are those of the call before
 * it, which may be the last instruction of its function. */
struct symbols_place symbols_find_caller(struct symbols *symbols,
					 const struct process_table *table,
					 uint32_t pid, uint64_t address);
/* Write the text above at p, fit for a terminal; nothing when nothing was mapped
 * there. Returns the end. symbols or table may be NULL; caller: it is a return
 * address. */
char *symbols_put(struct symbols *symbols, const struct process_table *table,
		  uint32_t pid, uint64_t address, bool caller, char *p);

#endif
