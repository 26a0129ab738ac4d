/* SPDX-License-Identifier: GPL-2.0 */
/* What of a file was lost and where: kept while it is read, reported at the
 * end. */
#ifndef LIB_READ_DAMAGE_H
#define LIB_READ_DAMAGE_H

#include <stdbool.h>
#include <stddef.h>

#define DAMAGE_LINES	16	/* a ruined file would have thousands */

struct damage {
	char lines[DAMAGE_LINES][160];
	size_t count;		/* all, also those not kept */
	bool exhausted;		/* memory was: what is missing isn't damaged */
};

void damage_add(struct damage *damage, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
