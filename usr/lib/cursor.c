// SPDX-License-Identifier: GPL-2.0
#include "cursor.h"

#include <string.h>

uint64_t cursor_signed(struct cursor *cursor, unsigned int size)
{
	unsigned int unused = 64 - 8 * size;

	return (int64_t)(cursor_fixed(cursor, size) << unused) >> unused;
}

/* The tenth byte has the 64th bit and its copies. */
static uint64_t leb_read(struct cursor *cursor, bool is_signed)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint8_t byte = cursor_fixed(cursor, 1), bits = byte & 0x7f;

		value |= (uint64_t)bits << shift;
		if (shift == 63 && bits && bits != (is_signed ? 0x7f : 1))
			break;
		if (byte & 0x80)
			continue;
		if (is_signed && bits & 0x40 && shift < 57)
			value |= ~0ULL << (shift + 7);
		return value;
	}
	cursor->failed = true;
	return 0;
}

uint64_t cursor_uleb(struct cursor *cursor)
{
	return leb_read(cursor, false);
}

int64_t cursor_sleb(struct cursor *cursor)
{
	return leb_read(cursor, true);
}

const char *cursor_string(struct cursor *cursor)
{
	const uint8_t *end = cursor->failed ? NULL :
		memchr(cursor->at, '\0', cursor->end - cursor->at);

	if (!end) {
		cursor->failed = true;
		return "";
	}
	return (const char *)cursor_skip(cursor, end + 1 - cursor->at);
}
