/* SPDX-License-Identifier: GPL-2.0 */
/* The programs of a TDF: one per distinct body. */
#ifndef TRACE_PROGRAM_H
#define TRACE_PROGRAM_H

#include <stddef.h>
#include <stdint.h>
#include "../../bpf/body.h"

#define PROGRAM_NO_POINT	UINT32_MAX

struct program {
	struct bpf_insn *insns;
	size_t count;
	enum body_context context;
	uint64_t hash;
	uint32_t first_point;	/* of those that share it, in the TDF */
};

struct program_set {
	struct program *items;
	size_t count;
	uint32_t *next_point;	/* the next point with the same program, or
				 * PROGRAM_NO_POINT; one per point */
	uint32_t *table;	/* hash table of item numbers + 1 */
	size_t table_size;	/* a power of two */
};

/*
 * Generate all bodies of the TDF and put equal ones together. `target` is
 * complete but for its context. 0, or a negative errno with err set.
 */
int program_set_make(struct program_set *set, const struct tdf *tdf,
		     const struct body_target *target, struct error *err);
void program_set_free(struct program_set *set);

/* Load one; a file descriptor, or a negative errno with err set. */
int program_load(const struct program *program, uint32_t attach_type,
		 struct error *err);

#endif
