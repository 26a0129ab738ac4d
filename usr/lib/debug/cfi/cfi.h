/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Call frame information: the functions of .eh_frame (LSB Core, "Exception
 * Frames"; DWARF 5, 6.4), and what an ELF file's become: rows of unwind tables.
 * Its bytes are hostile.
 */
#ifndef DEBUG_CFI_H
#define DEBUG_CFI_H

#include <gelf.h>
#include <rastrace/unwind.h>
#include "lib/cursor.h"

struct cfi_section {
	const uint8_t *bytes;
	size_t size;
	uint64_t address;	/* of the bytes, as linked */
	unsigned int word;	/* bytes of a pointer */
};

struct cfi_function {
	const struct cfi_section *section;
	uint64_t begin, end;	/* addresses, as linked */
	uint64_t table;		/* address of the table of its landing
				 * pads (Itanium C++ ABI: Exception Handling); 0 */
	uint64_t code_align, data_align;
	uint64_t return_register;
	uint8_t encoding;	/* of addresses, DW_EH_PE_* */
	bool signal;		/* the frame of a signal */
	struct cursor initial, program;	/* instructions */
};

/* The file's .eh_frame; false: it has none. */
bool cfi_section_find(Elf *elf, struct cfi_section *section);
/* Call take for each function; what makes no sense is left out. Stops when it
 * returns non-zero, which is returned. */
int cfi_each(const struct cfi_section *section,
	     int (*take)(void *context, const struct cfi_function *function),
	     void *context);
/* A pointer in one of the encodings DW_EH_PE_*: 0 is none. */
uint64_t cfi_pointer(struct cursor *cursor, uint8_t encoding,
		     unsigned int word);

/* ---- rows.c: rows while they are collected ---- */

struct cfi_rows {
	struct unwind_row *items;
	size_t count, room;
	bool failed;		/* no memory: they aren't all */
};

/* Add one; the rows of a function follow each other. */
void cfi_rows_add(struct cfi_rows *rows, const struct unwind_row *row);
/* Ascending, each differs from the one before, and pc 0 has one. What functions
 * end with (UNWIND_FRAME) gives way to a function that begins there. */
void cfi_rows_sort(struct cfi_rows *rows);
/* How many struct unwind_blocks `bytes` bytes of code have. */
uint32_t cfi_rows_blocks(uint64_t bytes);
void cfi_rows_index(const struct cfi_rows *rows, struct unwind_blocks *blocks,
		    uint32_t count);

/* ---- cfi_module.c: the rows of an ELF file ---- */

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
