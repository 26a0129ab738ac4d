/* SPDX-License-Identifier: GPL-2.0 */
/* BTF files: those of the kernel in /sys/kernel/btf, and section .BTF of ELF files. */
#ifndef LIB_BTF_OPEN_H
#define LIB_BTF_OPEN_H

#include "btf_dwarf.h"
#include "lib/identity.h"

/* Section .BTF of a kernel module: its types continue those of the kernel. */
struct btf_split {
	const void *data;
	size_t size;
};

/*
 * Adds the file's BTF as DWARF to image, as btf_dwarf() does with `source`,
 * whose btf is set here. *identity is the kernel's: the build-id of the
 * running kernel or of an ELF file; of other files the hash of the BTF, with
 * kind TDF_ID_CONTENT. With `split` (or NULL) its BTF is added. 0, or a negative
 * errno with err set: -ENOENT: the file is an ELF file without BTF; -EBADMSG:
 * the BTF is damaged; -ESTALE: the kernel module was built for another kernel.
 */
int btf_dwarf_open(const char *file, const struct btf_split *split,
		   struct btf_dwarf_source *source,
		   struct bytes *image, struct identity *identity,
		   struct error *err);

#endif
