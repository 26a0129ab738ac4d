/* SPDX-License-Identifier: GPL-2.0 */
/* Finding ids and offsets in a BTF file without loading it. */
#ifndef TRACE_BTF_H
#define TRACE_BTF_H

#include <stddef.h>
#include <stdint.h>

#define BTF_VMLINUX	"/sys/kernel/btf/vmlinux"	/* the kernel's own */
#define BTF_WANTS_MAX	40

/*
 * What is looked for, by its name:
 *
 *	"task_struct"		the id of a structure
 *	"task_struct.thread.ds"	the offset in bytes of a member, in structures
 *				that lie in each other; it may be in anonymous
 *				structures and unions there
 *	"bpf_preempt_disable()"	the id of a function
 *	"__preempt_count:"	the id of a variable
 */
struct btf_want {
	const char *name;
	uint32_t *value;	/* stays when there is none */
};

/* All in one pass over the file. 0, or a negative errno: no such file, no
 * BTF. */
int btf_find(const char *path, const struct btf_want *wants, size_t count);

/* The id of a function in a module's BTF, whose types and strings go on where
 * those of the kernel's, `base`, end. 0: there is none. */
uint32_t btf_find_split(const char *path, const char *base, const char *name);

#endif
