/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers as text; number_put_* write at p and return the end. */
#ifndef TRACEFMT_NUMBER_H
#define TRACEFMT_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "lib/formats/format.h"

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

/*
 * Typed controls (format.h); all their bytes are at data. Those with bits: the
 * value in its order of bytes, bits above it zero (number_sign()).
 */
uint64_t number_load_control(const struct format_step *step,
			     const uint8_t *data);
/* TIME, TIMESPEC, TIMEVAL: ns since 1970; false: it doesn't fit, or its
 * fraction is a second or more. */
bool number_load_time(const struct format_step *step, const uint8_t *data,
		      int64_t *ns);
/* DURATION: ns; false: it doesn't fit. */
bool number_load_duration(const struct format_step *step, const uint8_t *data,
			  uint64_t *ns);

char *number_put_signed(char *p, uint64_t raw, unsigned int bits);
/* "0x7FFD1000" */
char *number_put_pointer(char *p, uint64_t value);
/* "true", "false", or the number that it is */
char *number_put_bool(char *p, uint64_t value);
/* IEEE, 4 or 8 bytes: the shortest number that reads as the same value. */
char *number_put_float(char *p, const uint8_t *data, size_t bytes);
/* Any typed control with a width of its own, but strings, bytes, addresses of
 * symbols and C types. */
char *number_put_control(const struct format_step *step, const uint8_t *data,
			 char *p);
/* Characters that it writes at most. */
size_t number_control_room(const struct format_step *step);

#endif
