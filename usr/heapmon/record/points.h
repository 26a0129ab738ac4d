/* SPDX-License-Identifier: GPL-2.0 */
/* The TDF of a recording (rastrace/tdf.h): CALL and RELEASE points for the
 * functions of an allocator in one file. And the TFF by which tracefmt prints
 * what they record. */
#ifndef HEAPMON_POINTS_H
#define HEAPMON_POINTS_H

#include "allocator.h"

/*
 * The throwing forms of operator new get no return probe where they call malloc()
 * or aligned_alloc() (libstdc++, libc++; the program itself when they are linked
 * into it): a std::bad_alloc can't be unwound through one, and ends the program.
 * They are CALL points with the site TDF_SITE_CALL alone and, in it, the one
 * statement VALUE, 8 bytes, TDF_STMT_SIZE: their argument 0 at the entry
 * (rastrace/tdf.h: they name the call that they make).
 */
struct points_want {
	unsigned int depth;	/* frames of the stacks; 0: none */
	bool no_free_stacks;	/* releases have none */
	bool types;		/* releases have the block's first word */
};

/* *data is for free(). 0, or a negative errno with err set. */
int points_make_tdf(const struct allocator_file *file,
		    const struct points_want *want, void **data, size_t *size,
		    struct error *err);
/* Of all functions, for files of both classes. */
int points_make_tff(const struct points_want *want, void **data, size_t *size,
		    struct error *err);

#endif
