/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A kernel's BTF (Documentation/bpf/btf.rst) as an ELF file with DWARF 4, so
 * that everything that reads debug information reads BTF.
 *
 * The unit has all types, and each function with its parameters where the
 * processor's calling convention puts them. BTF has no addresses: a function
 * is one byte long, because the parameters are there only at the entry.
 */
#ifndef LIB_BTF_DWARF_H
#define LIB_BTF_DWARF_H

#include <stdint.h>
#include "lib/error.h"
#include "lib/formats/bytes.h"

struct btf;			/* bpf/btf.h */

/* Addresses that functions, and per-CPU variables, get without `address` */
#define BTF_DWARF_CODE		0xffffffff81000000
#define BTF_DWARF_STEP		16
#define BTF_DWARF_PERCPU	0xffffffff40000000
#define BTF_DWARF_PERCPU_SIZE	0x1000000

struct btf_dwarf_source {
	const struct btf *btf;	/* may continue that of the kernel */
	uint16_t machine;	/* ELF machine */
	/* The address of a function or variable, or 0: it is left out. NULL:
	 * those above are made up. */
	uint64_t (*address)(void *context, const char *name);
	void *context;
};

/* The file's bytes, added to image. 0; -ENOMEM; -EBADMSG: the BTF is damaged or
 * big-endian. */
int btf_dwarf(const struct btf_dwarf_source *source, struct bytes *image,
	      struct error *err);

#endif
