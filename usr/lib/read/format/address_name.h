/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of addresses: the process table (book.h) has what was mapped there,
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
#include "lib/read/book.h"

#define SYMBOLS_NAME_MAX	512	/* characters of an address's name */

/* The place of pid's address (BOOK_KERNEL: the kernel's); module is NULL when
 * nothing was mapped there. Strings stay until symbols_close(). */
struct symbols_place symbols_find(struct symbols *symbols,
				  const struct book *book, uint32_t pid,
				  uint64_t address);
/* The place of a return address: symbol and line are those of the call before
 * it, which may be the last instruction of its function. */
struct symbols_place symbols_find_caller(struct symbols *symbols,
					 const struct book *book, uint32_t pid,
					 uint64_t address);
/* Write the text above at p, safe for a terminal; nothing when nothing was mapped
 * there. Returns the end. symbols or book may be NULL. caller: the address is a
 * return address. */
char *symbols_put(struct symbols *symbols, const struct book *book,
		  uint32_t pid, uint64_t address, bool caller, char *p);

#endif
