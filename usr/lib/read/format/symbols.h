/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of addresses: symbol and source line, from the ELF files and debug files
 * of this machine, when their build-id is the traced one's. libdw is loaded when
 * it is needed; without it, or without the file, the name is that of book.h,
 * module and offset. Several threads may ask at once.
 *
 *	malloc+0x1A (libc.so.6)
 *	work+0x14 app.c:33 (app)
 *	libc.so.6+0x29D90
 */
#ifndef TRACEFMT_SYMBOLS_H
#define TRACEFMT_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>
#include "lib/read/book.h"

struct symbols;

#define SYMBOLS_NAME_MAX	512	/* characters of an address's name */

struct symbols_settings {
	bool off;		/* --no-symbols */
	char **dirs;		/* --symbols DIR: where the files of the other
				 * machine lie, like a root directory, or
				 * debug files by build-id; or one such file */
	size_t dir_count;
	unsigned char *use;	/* per directory SYMBOLS_*, filled in; or NULL */
};

/* What came of it. */
#define SYMBOLS_LOOKED	1	/* a file was looked for */
#define SYMBOLS_HAD	2	/* it had one */

/* The first directory from *at on that was of no use, and *at behind it; NULL:
 * there is no more. */
const char *symbols_useless(const struct symbols_settings *settings,
			    size_t *at);

/* NULL: no memory. */
struct symbols *symbols_open(const struct symbols_settings *settings);
void symbols_close(struct symbols *symbols);
/* There was no memory for a name that was asked for; symbols may be NULL. */
bool symbols_failed(const struct symbols *symbols);

/* What is known of an address. */
struct symbols_place {
	const char *symbol;	/* demangled; NULL: not known */
	uint64_t offset;	/* from it */
	const char *file;	/* of the source; NULL: not known */
	unsigned int line;
	const char *module;	/* base name of the file; NULL: lies nowhere */
	uint64_t module_offset;
};

/* pid's address (BOOK_KERNEL: the kernel's) as the book says what lay there.
 * Strings stay until symbols_close(). */
struct symbols_place symbols_find(struct symbols *symbols,
				  const struct book *book, uint32_t pid,
				  uint64_t address);
/* The same of a return address: symbol and line are those of the call in front
 * of it, which may be the last instruction of its function. */
struct symbols_place symbols_find_caller(struct symbols *symbols,
					 const struct book *book, uint32_t pid,
					 uint64_t address);
/* The text above at p, safe for a terminal; nothing when it lies nowhere.
 * Returns the end. symbols or book may be NULL. caller: of a return address. */
char *symbols_put(struct symbols *symbols, const struct book *book,
		  uint32_t pid, uint64_t address, bool caller, char *p);

#endif
