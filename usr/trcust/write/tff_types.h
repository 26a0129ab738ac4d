/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which of the C types of a compilation a TFF needs: those that the formats
 * name, and what they consist of. What a pointer points at isn't printed.
 */
#ifndef TRCUST_TFF_TYPES_H
#define TRCUST_TFF_TYPES_H

#include "trcust/compile/ctype.h"

struct tff_types {
	const struct ctypes *known;
	uint32_t *by_name;	/* indices, sorted by name; exact ones */
	uint32_t *indices;	/* in the TFF; CTYPE_NONE: not wanted */
	bool failed;		/* out of memory */
};

void tff_types_open(struct tff_types *types, const struct ctypes *known);
/* The types that a format names go into the TFF. */
void tff_types_want(struct tff_types *types, const char *fmt);
/* All formats were seen: their indices are given. */
void tff_types_settle(struct tff_types *types);
uint32_t tff_types_index(const struct tff_types *types, uint32_t type);
void tff_types_close(struct tff_types *types);

#endif
