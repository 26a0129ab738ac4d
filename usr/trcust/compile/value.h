/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values of expressions and what C does with them (C11 section 6.3 and 6.5).
 * On the stack of a probe every value has 64 bits, and is kept as its type
 * has it: what is above the type's bytes are zeros, or copies of the sign.
 *
 * Functions that return a bool return false after an error message: then
 * e->code is 1, or -1 without memory.
 */
#ifndef TRCUST_VALUE_H
#define TRCUST_VALUE_H

#include "value_type.h"

enum value_form {
	VALUE_CONSTANT,		/* number */
	VALUE_COMPUTED,		/* rpn yields it */
	VALUE_PLACE,		/* not read yet */
};

struct value {
	struct value_type type;
	enum value_form kind;
	uint64_t number;
	struct bytes rpn;
	struct place place;
	uint64_t bit_offset;	/* where it begins in the place */
	unsigned int bits;	/* of a bit-field, which was not promoted yet;
				 * else 0 */
	bool reversed;		/* as struct dwarf_member has it */
	char where[64];		/* where it comes from, for people */
	struct srcpos pos;	/* of what names it */
	const char *name;	/* "" without one */
};

/* What the shape of a value has: the address of its characters, elements, or of
 * what it points to, and their number. */
enum value_view { VIEW_TEXT, VIEW_SEQUENCE, VIEW_ONE };

struct evaluation {
	const struct compilation *c;
	const struct compile_site *site;
	bool wide;		/* a module of 64 bits */
	bool unread;		/* in a sizeof: nothing is evaluated */
	/* Sees through the shape of a value; false: it has no such one, or
	 * after a message (code). NULL: shapes are not seen. */
	bool (*view)(struct evaluation *e, struct srcpos pos,
		     const struct value *value, enum value_view kind,
		     struct value *address, struct value *count);
	const struct value *self;	/* names are those of its members, as in
				 * a shape; NULL: of the program */
	const uint32_t *index;	/* what the name "index" means in a shape; NULL:
				 * nothing special */
	bool lenient;		/* of a type that nothing names: if no shape of
				 * it fits, it has none */
	int code;		/* 0, or what the caller returns */
	bool absent;		/* a part isn't at this site */
	char absent_why[128];
};

struct evaluation evaluation_begin(const struct compilation *c,
				   const struct compile_site *site);
void value_free(struct value *value);
/* A value that is in a place, again; false: no memory. */
bool value_copy(const struct value *value, struct value *copy);
bool value_report_memory(struct evaluation *e, struct srcpos pos);
/* "'op' cannot be applied to TYPE [and TYPE]"; returns false. */
bool value_refuse(struct evaluation *e, struct srcpos pos, const char *op,
		  const struct value *a, const struct value *b);

bool value_report_size(struct evaluation *e, struct srcpos pos,
		       const struct value_type *type);

/* Bytes of the type of a number; false, after a message: no probe computes with
 * it. */
bool value_scalar_bytes(struct evaluation *e, struct srcpos pos,
			struct value_type *type, uint64_t *bytes);

/* Appends what yields a value that was loaded. */
void value_push(const struct value *value, struct bytes *rpn);
struct value value_constant(struct value_type type, uint64_t number);
/* The bytes at the address that `address` yields; that value is used up. */
bool value_dereference(struct evaluation *e, struct srcpos pos, const char *op,
		       struct value *value);
/* Read what it has: arrays become pointers, a bit-field stays one. */
bool value_load(struct evaluation *e, struct srcpos pos, const char *op,
		struct value *value);
bool value_address(struct evaluation *e, struct srcpos pos,
		   struct value *value);
/* References mean what they refer to. */
bool value_refer(struct evaluation *e, struct value *value);
/* The part of a struct, union or array that begins so many bits into it. */
void value_narrow(struct value *value, const struct value_type *type,
		  int64_t bits_in, unsigned int bits);
/* In memory as a whole, and not a bit-field: appends its address. Also true
 * without memory for that. */
bool value_in_memory(const struct value *value, uint64_t bytes,
		     struct bytes *rpn);

/* Conversions and operations (C11 sections 6.3.1, 6.5.3 to 6.5.14) of values
 * that were loaded. */
void value_convert(struct evaluation *e, struct value *value,
		   const struct value_type *type);
bool value_unary(struct evaluation *e, struct srcpos pos, enum expr_op op,
		 struct value *value);
/* The result is in a; b is used up. */
bool value_binary(struct evaluation *e, struct srcpos pos, enum expr_op op,
		  struct value *a, struct value *b);
/* The type that both branches of a choice are converted to. */
bool value_common(struct evaluation *e, struct srcpos pos,
		  const struct value *a, const struct value *b,
		  struct value_type *type);

#endif
