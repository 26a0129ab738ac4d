/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values of C types as C writes them: {a = 1, color = RED, name = "x", p =
 * 0x7FFD1000}. More than 9 equal elements of an array stand as
 * "0 <repeats 30 times>". Where data ends early "<4 of 8 bytes>" stands.
 */
#ifndef TRACEFMT_VALUE_H
#define TRACEFMT_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rastrace/tff.h>
#include "lib/formats/tff.h"

/* Bytes of text that all values of a record make at most; what is more is
 * "...": types from a hostile TFF describe any number of values in few bytes. */
#define VALUE_TEXT_MAX	(64u << 10)

/* The C types of a section. */
struct value_types {
	const struct tff_ctype *types;
	uint32_t count;
	const struct tff_member *members;
	const char *strings;
	const uint32_t *by_name;	/* see tff_ctypes_sort() */
};

struct value_types value_types_of(const struct tff *tff,
				  const struct tff_section *section);
/* Index of the type that a control names (format_type_match()), or
 * TFF_CTYPE_NONE. */
uint32_t value_type_find(const struct value_types *types, const char *name,
			 size_t length);

/* The bits of a bit-field, as the low ones of raw; false: data ends before
 * them. */
bool value_load_bits(const struct tff_member *member, const uint8_t *data,
		     size_t have, uint64_t *raw);

/* What a record may still use, over all its values. */
struct value_budget {
	uint32_t text;		/* bytes */
	uint32_t work;		/* values and enumerators looked at */
};

#define VALUE_BUDGET	((struct value_budget){ VALUE_TEXT_MAX, 1u << 18 })

/*
 * The value at data, of whose bytes `have` are there, at p; returns the end.
 * At most 8 bytes more are written than the budget says.
 */
char *value_put(const struct value_types *types, uint32_t ctype,
		const uint8_t *data, size_t have, char *p,
		struct value_budget *budget);

#endif
