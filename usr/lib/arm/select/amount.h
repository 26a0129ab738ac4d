/* SPDX-License-Identifier: GPL-2.0 */
/* Bytes, moments and spans of time as people read them. */
#ifndef TRACE_AMOUNT_H
#define TRACE_AMOUNT_H

#include <stddef.h>
#include <stdint.h>

#define AMOUNT_TEXT	40	/* room that is enough */
#define AMOUNT_MOMENT	96	/* of a moment */

/* "12 bytes", "64 KiB", "2.3 MiB" */
void amount_print_bytes(char text[AMOUNT_TEXT], uint64_t bytes);
/* "2026-11-21 10:15:00.123 (3 s ago)", local; of nanoseconds since the boot,
 * and what makes wall time of them. */
void amount_print_moment(char text[AMOUNT_MOMENT], uint64_t time, uint64_t now,
			 int64_t wall_offset);

#endif
