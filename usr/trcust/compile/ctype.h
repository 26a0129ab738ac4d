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
	struct ctype_member *members;
	size_t member_count;
};

struct dwarf_file;

struct ctypes {
	struct ctype *types;
	size_t count, room;
	void *index;		/* by entry, by content and by name */
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
/* An array of `count` elements. */
uint32_t ctypes_put_array(struct ctypes *types, uint32_t element,
			  uint32_t count);
/* An array's type without its first `dimension` dimensions. */
uint32_t ctypes_add_part(struct ctypes *types, Dwarf_Die *array,
			 unsigned int dimension);
/* The type that a control of a FMT names, "struct foo" or "foo"; CTYPE_NONE. */
uint32_t ctypes_find(const struct ctypes *types, const char *name,
		     size_t length);
void ctypes_free(struct ctypes *types);

#endif
