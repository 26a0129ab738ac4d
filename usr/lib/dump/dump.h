/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The physical memory of a machine in a file: an ELF core (kdump's
 * /proc/vmcore, QEMU's dump-guest-memory, `makedumpfile -E`), or compressed as
 * makedumpfile and QEMU do it; either may be flattened.
 */
#ifndef LIB_DUMP_H
#define LIB_DUMP_H

#include "dump_file.h"

/* 0, or a negative errno with err set. */
int dump_open(struct dump *dump, const char *path, struct error *err);
void dump_close(struct dump *dump);

/* Copy memory from a physical address on, as far as the file has it in a row;
 * how many bytes. */
size_t dump_read(struct dump *dump, uint64_t physical, void *to, size_t size);

/* Of VMCOREINFO; "" when it isn't there. */
void dump_info_text(const struct dump *dump, const char *name, char *value,
		    size_t size);
/* The same as a number; 0 is left alone when it isn't there, else 1. */
int dump_info_number(const struct dump *dump, const char *name, int base,
		     uint64_t *value);

#endif
