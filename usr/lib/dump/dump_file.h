/* SPDX-License-Identifier: GPL-2.0 */
/* A dump's file, for its forms: dump_elf.c, dump_kdump.c, dump_flat.c. */
#ifndef LIB_DUMP_FILE_H
#define LIB_DUMP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"

#define DUMP_PAGE	4096u

struct dump_segment {
	uint64_t physical, size;	/* as far as it is in the file */
	uint64_t offset;		/* in the file */
};

struct dump_text {
	char *data;		/* NULL: not there */
	size_t size;
};

struct dump {
	int fd;
	uint64_t size;		/* of the file */
	uint16_t machine;	/* ELF's number; of a compressed one not known */
	char machine_name[65];	/* of a compressed one: as uname -m has it */
	struct dump_segment *segments;	/* ascending, apart */
	size_t count;
	uint64_t pages;		/* of memory in it, at most */
	struct dump_kdump *kdump;	/* NULL: an ELF core */
	bool cut;		/* short: known now, or found while it is read */
	bool damaged;		/* has pages that can't be unpacked */
	struct dump_text info;	/* VMCOREINFO: lines "NAME=VALUE" */
	struct dump_text cpu;	/* QEMU's note of a processor */
};

/* Read exactly these bytes of the file. */
bool dump_fetch(const struct dump *dump, uint64_t at, void *to, size_t size);
/* "FILE is damaged: what"; returns -EINVAL. */
int dump_damaged(const char *path, const char *what, struct error *err);
/* Copy a text, unless there is one. */
void dump_text_set(struct dump_text *text, const void *data, size_t size);
/* Take VMCOREINFO and the processor's out of ELF notes. */
void dump_notes_take(struct dump *dump, const uint8_t *notes, size_t size);

#endif
