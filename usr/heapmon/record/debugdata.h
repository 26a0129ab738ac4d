/* SPDX-License-Identifier: GPL-2.0 */
/* The table of symbols that stripped files of some systems carry compressed
 * (.gnu_debugdata: an ELF file in xz). */
#ifndef HEAPMON_DEBUGDATA_H
#define HEAPMON_DEBUGDATA_H

#include <libelf.h>
#include <stddef.h>

/* *data is for free(). 0, or a negative errno: -ENOENT: there is none, or no
 * liblzma to unpack it. */
int debugdata_read(Elf *elf, void **data, size_t *size);

#endif
