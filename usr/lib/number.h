/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers as text: number_put_* write at p and return the end. */
#ifndef LIB_NUMBER_H
#define LIB_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NUMBER_MAX	64	/* characters of the longest one */

/* n bytes, at most 8, as they are in memory. */
static inline uint64_t number_load(const uint8_t *data, size_t n)
{
	uint64_t value = 0;

	memcpy(&value, data, n);
	return value;
}

/* The low 1 to 64 bits of raw as a signed number. */
static inline int64_t number_sign(uint64_t raw, unsigned int bits)
{
	return (int64_t)(raw << (64 - bits)) >> (64 - bits);
}

char *number_put_signed(char *p, uint64_t raw, unsigned int bits);
/* "0x7FFD1000" */
char *number_put_pointer(char *p, uint64_t value);
/* "true", "false", or the number that it is */
char *number_put_bool(char *p, uint64_t value);
/* IEEE, 4 or 8 bytes: the shortest number that reads as the same value. */
char *number_put_float(char *p, const uint8_t *data, size_t bytes);
/* In base 1 << shift, without leading zeros. */
char *number_put_digits(char *p, uint64_t value, unsigned int shift);
/* An integer of 16 bytes. */
char *number_put_wide(char *p, unsigned __int128 value, bool is_signed);

/* Numbers with a unit, as options take them. False: it is none. */

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
