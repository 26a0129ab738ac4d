/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sites whose bodies are alike: all that a body is generated from is equal, but
 * for registers, offsets in expressions and lengths of memory. Such sites can
 * share a program that has these in a map: a program takes milliseconds to verify,
 * another link to it microseconds.
 */
#ifndef TRACE_ALIKE_H
#define TRACE_ALIKE_H

#include <stdbool.h>
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
	struct body_register *registers;
	uint32_t offset_count, length_count, register_count;
	uint32_t program;		/* for the caller; ALIKE_NONE at first */
};

#define ALIKE_LENGTHS	4	/* that may differ, of a site; later ones are equal */
#define ALIKE_WORDS	32	/* that differ, of a site */

enum alike_kind {
	ALIKE_OFFSET, ALIKE_LENGTH,
	ALIKE_REGISTER,		/* value: where struct pt_regs has it */
	ALIKE_ITEM,		/* the same, of a REGS */
};

struct alike_value {
	uint64_t value;
	uint32_t at;		/* of its operation in the TDF's table; of lengths
				 * and items the statement */
	uint32_t most;		/* of a length */
	enum alike_kind kind;
};

struct alike_site {
	uint32_t group;		/* ALIKE_NONE: it is by itself */
	uint32_t next;		/* site of the group; ALIKE_NONE: no more */
	size_t shape, shape_size;
	size_t value, value_count;
};

struct alike {
	struct alike_site *sites;
	struct alike_group *groups;
	uint32_t group_count;
	uint8_t *shapes;
	size_t shape_bytes, shape_room;
	struct alike_value *values;
	size_t value_count, value_room;
	uint64_t *rows;		/* what the map has, by site: row_words of each;
				 * NULL: there is no map */
	uint32_t row_words;
};

struct alike_limits {
	uint32_t own;		/* so many programs don't need a map */
	bool registers;		/* they may be there */
};

/*
 * Find the groups of the points whose picks[] isn't 0. 0 or -ENOMEM; alike_free()
 * in any case.
 */
int alike_find(struct alike *alike, const struct tdf *tdf, const uint8_t *picks,
	       const struct alike_limits *limits);
void alike_free(struct alike *alike);
/* Bytes that a site has in the map; 0: there is none. */
size_t alike_row_bytes(const struct alike *alike);

#endif
