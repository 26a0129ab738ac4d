/* SPDX-License-Identifier: GPL-2.0 */
/* Typed controls of a fixed width (format.h): values and text. */
#ifndef LIB_READ_CONTROL_H
#define LIB_READ_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/formats/format.h"

/*
 * Typed controls (format.h); all their bytes are at data. Those with bits: the
 * value in its order of bytes, bits above it zero (number_sign()).
 */
uint64_t control_load(const struct format_step *step,
			     const uint8_t *data);
/* TIME, TIMESPEC, TIMEVAL: ns since 1970; false: it doesn't fit, or its
 * fraction is a second or more. */
bool control_load_time(const struct format_step *step, const uint8_t *data,
		      int64_t *ns);
/* DURATION: ns; false: it doesn't fit. */
bool control_load_duration(const struct format_step *step, const uint8_t *data,
			  uint64_t *ns);

/* Any typed control with a width of its own, but strings, bytes, addresses of
 * symbols and C types. */
char *control_put(const struct format_step *step, const uint8_t *data,
			 char *p);
/* Characters that it writes at most. */
size_t control_room(const struct format_step *step);

#endif
