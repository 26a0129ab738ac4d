/* SPDX-License-Identifier: GPL-2.0 */
/* The USDT probes that an ELF file has, by its notes. */
#ifndef LIB_USDT_NOTE_H
#define LIB_USDT_NOTE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct usdt_note {
	uint64_t address;	/* of the probe, as the file is linked now */
	uint64_t semaphore;	/* of its counter; 0: none */
	const char *names;	/* provider, name, arguments: strings, which
				 * may lack their zeros */
	size_t size;		/* of them */
};

/* Call `visit` for each, as long as it returns 0; what it returned. */
int usdt_notes_each(Elf *elf,
		    int (*visit)(const struct usdt_note *note, void *context),
		    void *context);

/* Where in the file the address is, whose segment has these flags (PF_*). */
bool usdt_offset_find(Elf *elf, uint64_t address, uint32_t flags,
		      uint64_t *offset);

#endif
