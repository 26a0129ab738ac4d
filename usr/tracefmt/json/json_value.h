/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values of C types as JSON: structures as objects (members of anonymous ones
 * among those of what is around them), arrays as arrays, those of characters as
 * strings up to a zero, pointers as "0x7FFD1000", enumerations as {"value":1,
 * "name":"RED"} with null where no enumerator has the value. What data ends
 * before is left out.
 */
#ifndef TRACEFMT_JSON_VALUE_H
#define TRACEFMT_JSON_VALUE_H

#include <stdbool.h>
#include "lib/read/read.h"

/* Bytes that are written beyond the budget at most. */
#define JSON_VALUE_SLACK	1024

/*
 * The value at data, of whose bytes `have` are there, at p; returns the end.
 * The budget's text becomes 0 when not all of it has room: what is written is
 * valid all the same. *invalid is of its strings.
 */
char *json_put_value(const struct value_types *types, uint32_t ctype,
		     const uint8_t *data, size_t have, char *p,
		     struct value_budget *budget, enum json_bytes *invalid);
/* An enumeration's; name NULL: no enumerator has the value. */
char *json_put_enum(char *p, const char *number, size_t number_length,
		    const char *name, size_t name_length);

#endif
