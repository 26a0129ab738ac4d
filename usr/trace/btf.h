/* SPDX-License-Identifier: GPL-2.0 */
/* Finding ids and offsets in a BTF file without loading it. */
#ifndef TRACE_BTF_H
#define TRACE_BTF_H

#include <stddef.h>
#include <stdint.h>

/*
 * ids[i] becomes the id of the function names[i] (at most 8), or stays. 0, or
 * a negative errno: no such file, no BTF.
 */
int btf_functions_find(const char *path, const char *const *names,
		       size_t count, uint32_t *ids);

/*
 * The offset in bytes of a member: names[0] is a structure, names[1] a member
 * of it, names[2] a member of that one, which is a structure, and so on; at
 * most 8 names. 0, or a negative errno; -ENOENT: there is none.
 */
int btf_member_find(const char *path, const char *const *names, size_t count,
		    uint32_t *offset);

#endif
