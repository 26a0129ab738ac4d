/* SPDX-License-Identifier: GPL-2.0 */
/* The call frame information of an ELF file as rows of unwind tables. */
#ifndef DEBUG_CFI_MODULE_H
#define DEBUG_CFI_MODULE_H

#include <rastrace/unwind.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cfi_rows {
	struct unwind_row *items;
	size_t count, room;
	bool failed;		/* no memory: they aren't all */
};

/* How many struct unwind_blocks `bytes` bytes of code have. */
uint32_t cfi_rows_blocks(uint64_t bytes);
void cfi_rows_index(const struct cfi_rows *rows, struct unwind_blocks *blocks,
		    uint32_t count);

#define CFI_LOADS	16	/* executable segments; more are left out */

struct cfi_module {
	struct cfi_load {
		uint64_t offset, bytes;	/* in the file, of whole pages */
		uint64_t file_bytes;	/* that the file has of them */
		uint64_t pc;		/* of its first byte */
	} loads[CFI_LOADS];
	unsigned int load_count;
	uint64_t bytes;		/* pcs are below */
	struct cfi_rows rows;	/* none: it has no .eh_frame */
};

/* Of an open file, or of an image in memory. 0, or a negative errno. */
int cfi_module_read(struct cfi_module *module, int fd);
int cfi_module_read_image(struct cfi_module *module, void *image, size_t size);
void cfi_module_free(struct cfi_module *module);

#endif
