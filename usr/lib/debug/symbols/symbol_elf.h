/* SPDX-License-Identifier: GPL-2.0 */
/* What of an ELF file is needed to know which one it is, and where its code is
 * linked to. Of this machine's byte order. */
#ifndef DEBUG_SYMBOL_ELF_H
#define DEBUG_SYMBOL_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYMBOL_SEGMENTS	16	/* executable ones that are looked at */

struct symbol_elf {
	uint8_t id[30];		/* build-id; cut as rasfile.h has it */
	uint8_t id_length;	/* 0: it has none */
	bool stripped;		/* of its code: a debug file */
	struct symbol_segment {
		uint64_t address, offset, bytes;
	} segments[SYMBOL_SEGMENTS];	/* executable */
	size_t segment_count;
};

/* false: it isn't such a file. */
bool symbol_elf_read(int fd, struct symbol_elf *elf);
/* The build-id among notes; its length, 0: there is none. */
uint8_t symbol_elf_note(const uint8_t *notes, size_t n, uint8_t id[30]);

#endif
