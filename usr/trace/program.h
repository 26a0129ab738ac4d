/* SPDX-License-Identifier: GPL-2.0 */
/* The programs of a TDF: one per distinct body. */
#ifndef TRACE_PROGRAM_H
#define TRACE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../../bpf/body.h"

#define PROGRAM_NO_SITE	UINT32_MAX

/* Sites share a program when their bodies and their kind of link are equal. */
struct program {
	struct bpf_insn *insns;
	size_t count;
	enum body_context context;
	bool returns;		/* for return probes */
	uint64_t hash;
	uint32_t first_site, last_site;	/* in the TDF; a point's sites follow
					 * each other */
};

struct program_set {
	struct program *items;
	size_t count;
	uint32_t *next_site;	/* the next site with the same program, or
				 * PROGRAM_NO_SITE; one per site */
	uint32_t *points;	/* per site: its point */
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
