/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers and strings that are read one after the other from hostile bytes. */
#ifndef LIB_CURSOR_H
#define LIB_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cursor {
	const uint8_t *at, *end;
	uint64_t address;	/* of `at`: moves with it */
	bool failed;		/* read past the end, or a LEB128 number has more
				 * than 64 bits; what is read then is 0 */
};

/* Skip bytes; their start, or NULL if there are fewer. */
static inline const uint8_t *cursor_skip(struct cursor *cursor,
					 uint64_t size)
{
	const uint8_t *at = cursor->at;

	if (cursor->failed || size > (uint64_t)(cursor->end - at)) {
		cursor->failed = true;
		cursor->at = cursor->end;
		return NULL;
	}
	cursor->at += size;
	cursor->address += size;
	return at;
}

/* Little-endian numbers of up to 8 bytes: zero-extended, sign-extended. */
static inline uint64_t cursor_fixed(struct cursor *cursor,
				     unsigned int size)
{
	const uint8_t *p = cursor_skip(cursor, size);
	uint64_t value = 0;

	for (unsigned int i = 0; p && i < size; i++)
		value |= (uint64_t)p[i] << (8 * i);
	return value;
}

uint64_t cursor_signed(struct cursor *cursor, unsigned int size);
/* LEB128 (DWARF 5, section 7.6) */
uint64_t cursor_uleb(struct cursor *cursor);
int64_t cursor_sleb(struct cursor *cursor);
/* A string that ends with a zero byte; "" if it has no end. */
const char *cursor_string(struct cursor *cursor);

#endif
