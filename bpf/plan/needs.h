/* SPDX-License-Identifier: GPL-2.0 */
/* What a site's statements use and need, before its body is planned. */
#ifndef BPF_PLAN_NEEDS_H
#define BPF_PLAN_NEEDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/formats/tdf.h"

/* What the body of a site needs beside the session's maps. */
struct body_needs {
	bool limits;		/* limits_fd: MAXHITS or PASSCOUNT */
	bool aggregates;	/* aggregates_fd, aggregated_fd */
	bool by_stack;		/* by_stack_fd */
	bool func_ip;		/* a return probe of user space */
	bool layout;		/* target->layout */
	bool segments;		/* target->segments_save */
	bool vectors;		/* target->vector_read */
	bool stack;		/* tables of the stacks of user space */
	uint32_t depth;		/* frames of its deepest STACK */
	bool direct;		/* target->direct, if there may be one */
	bool cputime;		/* target->threads_fd */
};

struct body_needs body_needs_find(const struct tdf *tdf,
				  const struct tdf_point *point,
				  const struct tdf_site *site);

#define RPN_USES_ADDR	0x01	/* DW_OP_addr */
#define RPN_USES_XDEREF	0x02	/* segments: needs target->layout */
#define RPN_USES_BASE	0x04	/* what is kept of a thread (arch_thread_find):
				 * needs target->layout */
#define RPN_USES_STALE	0x08	/* one of these that the program may have changed
				 * since its thread was switched to */
#define RPN_USES_LATE	0x10	/* one that is 0 until then */
#define RPN_USES_VECTOR	0x20	/* a vector register: target->vector_read */
#define RPN_USES_MEMORY	0x40	/* it reads some */
#define RPN_USES_RAISES	0x80	/* what else may fail: a division, a tree */
#define RPN_USES_CPUTIME 0x100	/* the CPU time of a whole call */

/* What a statement's expressions use; all of a site */
unsigned int stmt_uses_find(const struct tdf *tdf, const struct tdf_stmt *stmt,
			    uint16_t machine);
unsigned int site_uses_find(const struct tdf *tdf, const struct tdf_site *site,
			    uint16_t machine);
/* Does an exit of the point use the call's CPU time? */
bool point_has_cputime(const struct tdf *tdf, const struct tdf_point *point);
/* Does the site read memory of the program? STACK does, but looks only at what
 * is resident. */
bool site_reads(const struct tdf *tdf, const struct tdf_site *site);

#endif
