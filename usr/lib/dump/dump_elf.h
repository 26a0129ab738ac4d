/* SPDX-License-Identifier: GPL-2.0 */
/* Dumps that are ELF cores */
#ifndef LIB_DUMP_ELF_H
#define LIB_DUMP_ELF_H

#include "dump_file.h"

/* dump->fd is open, all else zero. 0, or a negative errno with err set. */
int dump_elf_open(struct dump *dump, const char *path, struct error *err);
/* As dump_read(). */
size_t dump_elf_read(struct dump *dump, uint64_t physical, void *to,
		     size_t size);

#endif
