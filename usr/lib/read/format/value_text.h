/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values of C types as C writes them: {a = 1, color = RED, name = "x", p =
 * 0x7FFD1000}. More than 9 equal elements of an array become "0 <repeats 30
 * times>"; where data ends early "<4 of 8 bytes>" follows.
 */
#ifndef LIB_READ_VALUE_TEXT_H
#define LIB_READ_VALUE_TEXT_H

#include "value.h"

/* Bytes of text that all values of a record make at most; the rest is "...". */
#define VALUE_TEXT_MAX	(64u << 10)

/* What a record may still use, over all its values. */
struct value_budget {
	uint32_t text;		/* bytes */
	uint32_t work;		/* see struct value_walk */
};

#define VALUE_BUDGET	((struct value_budget){ VALUE_TEXT_MAX, 1u << 18 })

/*
 * The value at data, of whose bytes `have` are there, at p; returns the end.
 * At most 8 bytes more are written than the budget says.
 */
char *value_put(const struct value_types *types, uint32_t ctype,
		const uint8_t *data, size_t have, char *p,
		struct value_budget *budget);
/* The name of an ENUM's value, or the names of its flags ("READ | WRITE"), at
 * p; returns the end, which is p when it has none. Where `end` is reached,
 * walk->full is set. */
char *value_put_enum(struct value_walk *walk, const struct value_node *node,
		     char *p, const char *end);

#define VALUE_CHARACTER_MAX	16

/* A character of 1, 2 or 4 bytes, fit for a terminal; VALUE_CHARACTER_MAX bytes
 * at most. */
char *value_put_character(char *p, uint32_t c, size_t bytes);

#endif
