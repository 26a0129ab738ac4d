/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel modules, which distributions install compressed with xz, zstd or
 * gzip, are object files (ELF type ET_REL): their sections have no addresses,
 * and what refers to a symbol is still to be filled in. Here they are given
 * addresses, in the order of the file, as if linked: what reads the module
 * then finds what it would in a program. The kernel places each section for
 * itself, so only distances within one are those of the target.
 */
#ifndef TRCUST_MODULE_REL_H
#define TRCUST_MODULE_REL_H

#include <stdbool.h>
#include "lib/error.h"
#include "module_elf.h"

/*
 * The bytes of an open object file, in memory of their own (*image, which the
 * Elf needs until its end), for module_rel_link(). NULL: err is set.
 */
Elf *module_rel_open(int fd, uint64_t size, void **image, struct error *err);
/*
 * Give the sections addresses, those of the sections with the same names of
 * `like` when it isn't NULL, the symbols values, and apply the relocations.
 * Once for an Elf, whose bytes are in memory that can be written. Undefined
 * symbols get addresses that are in no section. 0, or a negative errno with
 * err set.
 */
int module_rel_link(Elf *elf, uint64_t file_size, Elf *like,
		    struct error *err);
/* Fill module->segments: one for each section that has bytes in the file. */
int module_rel_segments(struct module *module, struct error *err);

/* ".xz", ".zst", ".gz"; ends with NULL. */
extern const char *const unpack_suffixes[];

/*
 * What the open file has, if it is compressed: in *unpacked, a file in memory;
 * else that is -1. 0, or a negative errno with err set: damaged, or too large.
 */
int unpack_file(int fd, int *unpacked, struct error *err);

#endif
