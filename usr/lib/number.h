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

#endif
