/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The items that a value of a shape consists of (rastrace/tff.h): a list of
 * items, each with a status of its own. Hostile like all of a record.
 */
#ifndef LIB_READ_SHAPE_PART_H
#define LIB_READ_SHAPE_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shape_part {
	const uint8_t *data;
	size_t length;
	uint8_t status;		/* RAS_ITEM_* */
	bool found;		/* false: the record ends before it */
	uint64_t pointer;	/* that could not be read */
};

/* The item at *at, which is moved past it. */
struct shape_part shape_part_take(const uint8_t **at, const uint8_t *end);
const uint8_t *shape_part_skip(const uint8_t *at, const uint8_t *end,
			 unsigned int count);
/* It has what was asked for, or the first bytes of it. */
bool shape_part_is_value(const struct shape_part *part);
/* A number of 8 bytes; false: it is not there, or was cut. */
bool shape_part_number(const struct shape_part *part, uint64_t *number);

/* A byte that is 0 or not; false: it is not there. */
bool shape_part_flag(const struct shape_part *part, bool *flag);
/* Nothing of it is there, because the record is full or ends before it. */
bool shape_part_is_cut(const struct shape_part *part);
/* The next node of a tree wasn't found; `pointer` is the last one. */
bool shape_part_is_lost(const struct shape_part *part);

#define SHAPE_NOTE_MAX	64

/* Why it is not there, as in render.h: "<not readable: 0000000000001234>". */
char *shape_part_put_note(char *p, const struct shape_part *part);

#endif
