/* SPDX-License-Identifier: GPL-2.0 */
/* What a hit costs on this machine. */
#ifndef TRACE_HIT_COST_H
#define TRACE_HIT_COST_H

#include "lib/arm/kernel/features.h"

/* Probes in functions of this program, to see what the kernel makes of them. */

/* Does bpf_get_func_ip() yield the function that returns, at return probes of
 * user space? It yields 0 where the kernel doesn't know. */
bool self_probe_has_func_ip(const struct features *features);

struct hit_cost {
	/* ns of a hit whose program does nothing, by TDF_COST_*; 0: it couldn't
	 * be measured */
	unsigned int ns[TDF_COST_UNKNOWN];
	unsigned int read_ns;	/* of a program's reading of 8 bytes */
};

/* By probing functions of this program; takes some milliseconds. */
void hit_cost_measure(struct hit_cost *cost, const struct features *features);

/*
 * The same, as it was measured once and is kept in the run directory; a user who
 * may not probe gets zeros until then.
 */
void hit_cost_recall(struct hit_cost *cost, const char *run);

/* "812 ns" at a site with this TDF_COST_* and these TDF_SITE_*, in COST_TEXT
 * characters; as cost_print() where it wasn't measured. */
bool hit_cost_print(char *text, const struct hit_cost *cost, uint8_t kind,
		    uint8_t flags);

struct hit_body {
	uint32_t insns;		/* of a program when all memory is there */
	uint32_t reads;		/* of these, calls that read memory */
	uint32_t calls;		/* other calls of the kernel */
};

void hit_body_count(struct hit_body *body, const struct bpf_insn *insns,
		    size_t count);

/* ns that it takes: an estimate. */
unsigned int hit_cost_estimate(const struct hit_cost *cost,
			       const struct hit_body *body);

#endif
