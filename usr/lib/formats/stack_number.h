/* SPDX-License-Identifier: GPL-2.0 */
/* The stack that a record names by number (RAS_ITEM_STACK_ID of rastrace/buffer.h). */
#ifndef LIB_FORMATS_STACK_NUMBER_H
#define LIB_FORMATS_STACK_NUMBER_H

#include <rastrace/buffer.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The number; false: the record has none, or no room for one where it should be. */
static inline bool stack_number_read(const struct ras_record *record,
				     uint32_t *number)
{
	const uint8_t *p = (const uint8_t *)record + record->stack;

	if (record->stack < RAS_RECORD_HEADER ||
	    record->stack + RAS_ITEM_PREFIX + sizeof(*number) > record->length ||
	    RAS_ITEM_KIND(*p) != RAS_ITEM_STACK_ID)
		return false;
	memcpy(number, p + RAS_ITEM_PREFIX, sizeof(*number));
	return true;
}

/* Numbers of several sessions as keys of a key_map */
static inline uint64_t stack_number_key(uint32_t session, uint32_t number)
{
	return (uint64_t)session << 32 | number;
}

#endif
