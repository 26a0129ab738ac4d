/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers as text; number_put_* write at p and return the end. */
#ifndef TRACEFMT_NUMBER_H
#define TRACEFMT_NUMBER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "../lib/format.h"

#define NUMBER_MAX	64	/* characters of the longest one */

/* n bytes, at most 8, as they are in memory. */
static inline uint64_t number_load(const uint8_t *data, size_t n)
{
	uint64_t value = 0;

	memcpy(&value, data, n);
	return value;
}

/* The low 1 to 64 bits of raw. */
char *number_put_signed(char *p, uint64_t raw, unsigned int bits);
/* "0x7FFD1000" */
char *number_put_pointer(char *p, uint64_t value);
/* "true", "false", or the number that it is */
char *number_put_bool(char *p, uint64_t value);
/* IEEE, 4 or 8 bytes: the shortest number that reads as the same value. */
char *number_put_float(char *p, const uint8_t *data, size_t bytes);
/* A typed control with a width of its own; all its bytes are there. At most 9
 * characters for each of them. */
char *number_put_control(enum format_type type, unsigned int bytes,
			 const uint8_t *data, char *p);

#endif
