/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Symbols and source lines of traced addresses, from the ELF files and debug
 * files of this machine whose build-id is the traced one's, and from the running
 * kernel. This header is all that code outside of the folder includes. Several
 * threads may ask at once.
 */
#ifndef DEBUG_SYMBOLS_H
#define DEBUG_SYMBOLS_H

#include "symbol_file.h"
#include "symbol_search.h"

struct symbols;

/* NULL: no memory. */
struct symbols *symbols_open(const struct symbols_settings *settings);
void symbols_close(struct symbols *symbols);
/* There was no memory for a name that was asked for; symbols may be NULL. */
bool symbols_failed(const struct symbols *symbols);

/* The place of an address in a mapping of a process or, `is_kernel`, of the
 * kernel. Its strings stay until symbols_close(). */
struct symbols_place symbols_find_mapped(struct symbols *symbols,
					 const struct ras_mapping *mapping,
					 uint64_t address, bool is_kernel);

/* A name as places have it: demangled; NULL: no names are wanted. Both stay until
 * symbols_close(). */
const char *symbols_name(struct symbols *symbols, const char *name);

#endif
