/* SPDX-License-Identifier: GPL-2.0 */
/* The programs of a TDF: one per distinct body. */
#ifndef TRACE_PROGRAM_H
#define TRACE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "bpf/body.h"
#include "lib/key_map.h"

#define PROGRAM_NO_SITE	UINT32_MAX

/* Sites share a program when their bodies and their kind of link are equal. */
struct program {
	struct bpf_insn *insns;		/* these as in struct body */
	size_t count;
	bool sleepable;
	int module_fd;			/* its BTF, where body_target has
					 * segments_save */
	uint32_t subprograms[BODY_SUBPROGRAMS];
	enum body_context context;
	bool returns;			/* for return probes */
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
	struct key_map by_hash;	/* of items */
};

#define PROGRAM_PICKED	0x01	/* the point is to be armed */
#define PROGRAM_TRIGGER	0x02	/* the point stops the recording */

/*
 * Generate the bodies of the points that picks[] names with PROGRAM_* and put
 * equal ones together. `target` is complete but for context and trigger. 0, or
 * a negative errno with err set.
 */
int program_set_make(struct program_set *set, const struct tdf *tdf,
		     const uint8_t *picks, const struct body_target *target,
		     struct error *err);
void program_set_free(struct program_set *set);
/* That of a site's link */
uint64_t program_cookie(const struct tdf *tdf, uint32_t point, uint32_t site);

/*
 * Call `take` for each program, some at a time in threads of their own: the
 * kernel takes its time to verify them. 0, or what the first that failed
 * returned, with its err; then not all were taken.
 */
int program_set_each(const struct program_set *set,
		     int (*take)(void *context, const struct program *program,
				 struct error *err),
		     void *context, struct error *err);

/* Load one; a file descriptor, or a negative errno with err set. */
int program_load(const struct program *program, uint32_t attach_type,
		 struct error *err);

#endif
