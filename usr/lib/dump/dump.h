/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The physical memory of a machine in a file: an ELF core (kdump's
 * /proc/vmcore, QEMU's dump-guest-memory, `makedumpfile -E`), or compressed as
 * makedumpfile and QEMU do it; either may be flattened.
 */
#ifndef LIB_DUMP_H
#define LIB_DUMP_H

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
