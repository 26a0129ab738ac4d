/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ELF file of a mapping, with what libdw finds in it and in its debug file.
 * It is looked for in the --symbols directories (the mapping's path below them,
 * its base name, .build-id/xx/yyyy), at its path, and as a debug file in
 * /usr/lib/debug, and where its debug link leads to; only a file of the mapping's
 * build-id is taken.
 */
#ifndef TRACEFMT_SYMBOL_FILE_H
#define TRACEFMT_SYMBOL_FILE_H

#include "lib/read/read.h"

struct symbol_file;
struct symbol_elf;

/* The mapping's ELF file, or its debug file, as a descriptor; -1: there is
 * none. */
int symbol_file_open_code(const struct symbols_settings *settings,
			  const struct ras_mapping *mapping,
			  struct symbol_elf *elf);
int symbol_file_open_debug(const struct symbols_settings *settings,
			   const struct ras_mapping *mapping,
			   struct symbol_elf *elf);
/* NULL: there is none, or no libdw; or no memory, and *failed is set. */
struct symbol_file *symbol_file_open(const struct symbols_settings *settings,
				     const struct ras_mapping *mapping,
				     bool *failed);
/* Symbol and line of an address that lies `distance` behind the mapping's
 * start; strings stay until the file is closed. */
void symbol_file_find(struct symbol_file *file,
		      const struct ras_mapping *mapping, uint64_t distance,
		      struct symbols_place *place);
void symbol_file_close(struct symbol_file *file);

#endif
