/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers with a unit, as options take them. False: it is none. */
#ifndef LIB_QUANTITY_H
#define LIB_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

/* "12" */
bool quantity_number(const char *text, uint64_t *number);
/* "12", or with the unit "/s" "12/s" */
bool quantity_number_unit(const char *text, const char *unit,
			  uint64_t *number);
/* "100", "64K", "16M", "1G", in either case */
bool quantity_bytes(const char *text, uint64_t *bytes);
/* "90", "90s", "5m", "2h": nanoseconds, not 0 */
bool quantity_time(const char *text, uint64_t *time);

#define QUANTITY_TIME	"a time is expected: 90, 90s, 5m or 2h"

#endif
