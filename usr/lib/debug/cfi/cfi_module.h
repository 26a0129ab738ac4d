/* SPDX-License-Identifier: GPL-2.0 */
/* The rows of an ELF file. */
#ifndef HEAPMON_UNWIND_MODULE_H
#define HEAPMON_UNWIND_MODULE_H

#include <elf.h>
#include "rows.h"

#define MODULE_LOADS	16	/* executable segments; more are left out */

struct module_load {
	uint64_t offset, bytes;	/* in the file, of whole pages */
	uint64_t file_bytes;	/* that the file has of them */
	uint64_t pc;		/* of its first byte */
};

struct module {
	struct module_load loads[MODULE_LOADS];
	unsigned int load_count;
	uint64_t bytes;		/* pcs are below */
	struct rows rows;	/* none: it has no .eh_frame */
};

/* Of an open file, or of an image in memory. 0, or a negative errno. */
int module_read_file(struct module *module, int fd);
int module_read_image(struct module *module, void *image, size_t size);
void module_free(struct module *module);

#endif
