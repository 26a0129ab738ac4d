/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The C types of what is logged, as the TFF has them (struct tff_ctype): each
 * once, by content. Index 0 is the first; CTYPE_NONE: not known.
 */
#ifndef TRCUST_CTYPE_H
#define TRCUST_CTYPE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rastrace/tff.h>

#define CTYPE_NONE	TFF_CTYPE_NONE

struct ctype_member {
	const char *name;	/* owned by the table */
	uint32_t ctype;
	int64_t value;		/* ENUM: value; else offset in bits */
	uint32_t bits;		/* of a bit-field, else 0 */
};

struct ctype {
	const char *name;	/* unique in the table: "struct request",
				 * "unsigned int"; owned by the table */
	uint8_t kind;		/* TFF_CTYPE_* */
	bool is_signed;
	uint32_t bytes;
	uint32_t target, count;
	uint16_t parts;		/* see tff_ctype_parts() */
	struct ctype_member *members;
	size_t member_count;
};

/* As tff_ctype_is_apart(). */
static inline bool ctype_is_apart(const struct ctype *type)
{
	return type->kind >= TFF_CTYPE_TEXT &&
	       type->kind != TFF_CTYPE_VARIANT && type->kind != TFF_CTYPE_TUPLE;
}

struct dwarf_file;
struct dwarf_member;

struct ctypes {
	struct ctype *types;
	size_t count, room;
	void *index;		/* by entry, by content and by name */
	/* What shapes make of a type: CTYPE_NONE, nothing. NULL: types are as
	 * the debug information has them. */
	uint32_t (*shape)(struct ctypes *types, const Dwarf_Die *type);
	void *shaper;		/* its */
	uint16_t shape_most;	/* elements, bytes of the outermost; 0: as
				 * usual */
	unsigned int shape_depth;	/* sequences and pointers in each
					 * other */
	unsigned int shape_inside;	/* members, elements, alternatives: the
				 * type of what is in them is known */
	unsigned int shape_many;	/* sequences around: what is logged of
				 * an element is logged for each */
	struct dwarf_file *dwarf;	/* to complete declarations; or NULL */
	bool failed;		/* out of memory; sticks */
};

/* The type that a DW_TAG_..._type entry describes; typedefs and qualifiers are
 * passed over, but a typedef names a type that has no name. CTYPE_NONE when
 * memory is out or the entry is damaged. */
uint32_t ctypes_add(struct ctypes *types, Dwarf_Die *type);
/* A type that no entry describes, with these members. "#2" is added to a name
 * that another type has. */
uint32_t ctypes_put(struct ctypes *types, const struct ctype *type);
/* Bytes of which nothing more is known. */
uint32_t ctypes_put_bytes(struct ctypes *types, const char *name,
			  uint64_t bytes);
/* An array of `count` elements. */
uint32_t ctypes_put_array(struct ctypes *types, uint32_t element,
			  uint32_t count);
/* An array's type without its first `dimension` dimensions. */
uint32_t ctypes_add_part(struct ctypes *types, Dwarf_Die *array,
			 unsigned int dimension);
/* The type that a control of a FMT names, "struct foo" or "foo"; CTYPE_NONE. */
uint32_t ctypes_find(const struct ctypes *types, const char *name,
		     size_t length);
/* DWARF 5 section 5.7.10: a structure is one of several alternatives, and nothing
 * else; false: it isn't. */
bool ctype_variants_find(Dwarf_Die *bare, Dwarf_Die *part);
/* What a DW_TAG_variant consists of, of a structure with one member without a
 * name of its own ("__0") that one, and its name. */
bool ctype_alternative_find(Dwarf_Die *bare, Dwarf_Die *variant,
			    struct dwarf_member *member, const char **name);
void ctypes_free(struct ctypes *types);

#endif
