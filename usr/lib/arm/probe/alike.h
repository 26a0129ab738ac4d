/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sites whose bodies are alike: all that a body is generated from is equal, but
 * for offsets in expressions ("plus_uconst") and lengths of memory. Such sites can
 * share a program that has these in a map: a program takes milliseconds to verify,
 * another link to it microseconds.
 */
#ifndef TRACE_ALIKE_H
#define TRACE_ALIKE_H

#include <stddef.h>
#include <stdint.h>
#include "bpf/plan/target.h"
#include "lib/formats/tdf.h"

#define ALIKE_NONE	UINT32_MAX

struct alike_group {
	uint32_t first_site, last_site, sites;
	struct body_offset *offsets;	/* of the first site: those that are in
					 * the map */
	struct body_length *lengths;
	uint32_t offset_count, length_count;
	uint32_t program;		/* for the caller; ALIKE_NONE at first */
};

#define ALIKE_LENGTHS	4	/* that may differ, of a site; later ones are equal */
#define ALIKE_WORDS	(8 + ALIKE_LENGTHS)	/* that differ, of a site */

struct alike_row {
	uint64_t words[ALIKE_WORDS];
};

struct alike_offset {
	uint64_t value;
	uint32_t at;		/* of its operation in the TDF's table; of a
				 * length, its statement */
	uint32_t most;		/* it is a length, at most this; 0: an offset */
};

struct alike_site {
	uint32_t group;		/* ALIKE_NONE: it is by itself */
	uint32_t next;		/* site of the group; ALIKE_NONE: no more */
	size_t shape, shape_size;
	size_t offset, offset_count;
};

struct alike {
	struct alike_site *sites;
	struct alike_group *groups;
	uint32_t group_count;
	uint8_t *shapes;
	size_t shape_bytes, shape_room;
	struct alike_offset *offsets;
	size_t offset_count, offset_room;
	struct alike_row *rows;	/* what the map has, by site; NULL: there is
				 * no map */
};

/*
 * Find the groups of the points whose picks[] isn't 0. When there are more than
 * `most` without a map, there is one. 0 or -ENOMEM; alike_free() in any case.
 */
int alike_find(struct alike *alike, const struct tdf *tdf, const uint8_t *picks,
	       uint32_t most);
void alike_free(struct alike *alike);

#endif
