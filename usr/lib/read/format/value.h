/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values of the types that a TFF describes. value_walk() finds what a value
 * consists of and calls a visitor for each part; text, JSON and
 * CTF are visitors. Types from a hostile TFF describe any number of values in
 * few bytes, so walks have limits.
 */
#ifndef LIB_READ_VALUE_H
#define LIB_READ_VALUE_H

#include <rastrace/tff.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/formats/tff.h"
#include "shape_part.h"

/* ---- types ---- */

/* The C types of a section. */
struct value_types {
	const struct tff_ctype *types;
	uint32_t count;
	const struct tff_member *members;
	const char *strings;
	const uint32_t *by_name;	/* see tff_ctypes_sort() */
	const uint16_t *parts;	/* see struct tff; NULL: none has any */
};

/* What the values of a type are. */
enum value_kind {
	/* integers of 1 to 8 bytes, or bit-fields */
	VALUE_UNSIGNED,
	VALUE_SIGNED,
	VALUE_BOOL,
	VALUE_CHARACTER,	/* of 1, 2 or 4 bytes */
	VALUE_POINTER,
	VALUE_ENUM,		/* signed if value_is_signed() */
	/* other scalars */
	VALUE_FLOAT,		/* of 4 or 8 bytes */
	VALUE_WIDE,		/* an integer of 16 bytes */
	VALUE_BYTES,		/* anything else */
	VALUE_NONE,		/* without a size */
	/* composed ones */
	VALUE_STRING,		/* an array of characters */
	VALUE_STRUCT,		/* or a union */
	VALUE_ARRAY,		/* or a sequence, list, tuple */
	VALUE_MAP,		/* entries of a key and a value */
	VALUE_TEXT,		/* of a known length */
	VALUE_ADDRESS,		/* of a network: visited as its text */
	VALUE_PATH,		/* names: the same */
	VALUE_ONE,		/* what a pointer points at */
	VALUE_VARIANT,		/* one of several */
	VALUE_DYNAMIC,		/* of a type that the program knows: raw */
	VALUE_TIME,		/* a duration: raw are its seconds, count its
				 * nanoseconds */
};

struct value_types value_types_of(const struct tff *tff,
				  const struct tff_section *section);
/* Items that a value of the type consists of, when it has parts (rastrace/tff.h);
 * 0: it has none, its bytes are all. */
unsigned int value_items(const struct value_types *types, uint32_t ctype);
/* Index of the type that a control names (format_type_match()), or
 * TFF_CTYPE_NONE. */
uint32_t value_type_find(const struct value_types *types, const char *name,
			 size_t length);
enum value_kind value_kind(const struct value_types *types, uint32_t ctype);
/* A signed integer or enumeration. */
bool value_is_signed(const struct tff_ctype *type);
/* Name of the enumerator that has the value; NULL: none has. At most *work
 * enumerators are looked at; *work is reduced by their number. */
const char *value_enumerator(const struct value_types *types, uint32_t ctype,
			     uint64_t value, uint32_t *work);

/* ---- one value ---- */

struct value_node {
	enum value_kind kind;
	bool is_bits;		/* a bit-field: it has no data */
	uint32_t ctype;
	const struct tff_ctype *type;
	const uint8_t *data;
	size_t have;		/* bytes of it that are there */
	uint64_t raw;		/* kinds up to FLOAT, if all bytes are there: */
	unsigned int bits;	/* its low `bits` */
	/* STRING, ARRAY, MAP, TEXT, while they are visited */
	uint64_t count;		/* elements; VALUE_MORE: 0 if not known */
	uint64_t whole;		/* of which so many are there */
	size_t unit;		/* bytes of each */
};

struct value_node value_node(const struct value_types *types, uint32_t ctype,
			     const uint8_t *data, size_t have);
/* The member of the structure at data, of which `have` bytes are there. false:
 * data ends before the member. */
bool value_member(struct value_node *node, const struct value_types *types,
		  const struct tff_member *member, const uint8_t *data,
		  size_t have);

/* ---- the walk ---- */

enum value_status {
	VALUE_SHORT,		/* data ends within it */
	VALUE_TOO_DEEP,		/* too many structures and arrays in each other */
	VALUE_CUT,		/* walk->work is used up */
	VALUE_MORE,		/* the program has more elements, or characters,
				 * than were recorded */
	VALUE_MISSING,		/* walk->part is not there */
	VALUE_NO_NODE,		/* of a LIST: walk->part, where its next node is */
	VALUE_LOST,		/* the next node of a tree isn't found in as many
				 * steps as a balanced one has */
	VALUE_NO_CASE,		/* of a VARIANT or DYNAMIC: no alternative has the
				 * number node->raw */
};

enum value_entry { ENTRY_KEY, ENTRY_VALUE, ENTRY_END };

struct value_walk {
	const struct value_types *types;
	const struct value_visitor *visitor;
	void *own;		/* the visitor's */
	uint32_t work;		/* values and enumerators that may be looked at */
	bool full;		/* nothing more is visited; visitors set it, too */
	unsigned int depth;
	/* the parts that are not visited yet */
	const uint8_t *parts, *parts_end;
	struct shape_part part;	/* see VALUE_MISSING */
};

struct value_visitor {
	/* Members of unnamed structures are members of the outer one. */
	bool flat;
	/* Of so many equal elements one is visited, and repeat() follows.
	 * repeat is NULL: all are visited. */
	uint32_t repeats;
	void (*repeat)(struct value_walk *walk, uint64_t count);
	/* A STRUCT, ARRAY or MAP; false: its content is left out, and end() */
	bool (*begin)(struct value_walk *walk, const struct value_node *node);
	void (*end)(struct value_walk *walk, const struct value_node *node);
	/* Before each member (name, which may be "") and each element (NULL);
	 * false: leave out the rest of the structure or array. */
	bool (*item)(struct value_walk *walk, const char *name);
	/* Of a MAP, after item(): before the key, between it and its value,
	 * after that. NULL: not wanted. */
	void (*entry)(struct value_walk *walk, const struct value_node *map,
		      enum value_entry where);
	/* All bytes of a scalar are there. */
	/* or a TIME's two numbers */
	void (*scalar)(struct value_walk *walk, const struct value_node *node);
	/* node->whole characters, of which a zero may be the end */
	void (*string)(struct value_walk *walk, const struct value_node *node);
	/* A null pointer, an optional value that isn't there: `name` or "" */
	void (*null)(struct value_walk *walk, const struct value_node *node,
		     const char *name);
	/* Before and after the value of a VARIANT that is no optional one, of a
	 * DYNAMIC, or that has a name: value->kind is NONE when the alternative has none. NULL:
	 * the value alone is visited. */
	void (*choice)(struct value_walk *walk, const struct value_node *node,
		       const char *name, const struct value_node *value);
	void (*choice_end)(struct value_walk *walk,
			   const struct value_node *node, const char *name,
			   const struct value_node *value);
	/* Why a value is not visited, or not all of it. SHORT of a STRUCT: a
	 * member is missing; true: visit the next ones. */
	bool (*status)(struct value_walk *walk, const struct value_node *node,
		       enum value_status status);
};

/* The value at data, of whose bytes `have` are there; of a type with parts data
 * is its items. The caller sets types, visitor, own and work. */
void value_walk(struct value_walk *walk, uint32_t ctype, const uint8_t *data,
		size_t have);

/*
 * Values of C types as C writes them: {a = 1, color = RED, name = "x", p =
 * 0x7FFD1000}. More than 9 equal elements of an array become "0 <repeats 30
 * times>"; where data ends early "<4 of 8 bytes>" follows.
 */

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

/* A TIME's nanoseconds are less than a second and have the sign of its
 * seconds. */
bool value_time_is_valid(const struct value_node *node);
/* A TIME with its unit, "1.5s", "250us"; NUMBER_MAX bytes at most. */
char *value_put_time(char *p, const struct value_node *node);

#define VALUE_CHARACTER_MAX	16

/* A character of 1, 2 or 4 bytes, fit for a terminal; VALUE_CHARACTER_MAX bytes
 * at most. */
char *value_put_character(char *p, uint32_t c, size_t bytes);

#endif
