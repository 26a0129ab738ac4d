/* SPDX-License-Identifier: GPL-2.0 */
/* What an expression's name is in the events of a point, and its values. */
#ifndef TRACEFMT_OPERAND_H
#define TRACEFMT_OPERAND_H

#include "expression_tree.h"
#include "tracefmt/output/output.h"

struct operand {
	enum expression_builtin builtin;
	const struct match_point *point;
	const struct field *field;	/* NULL: the point doesn't have it */
	bool element;		/* one of the array of a %R, of a string's or
				 * stack's parts: `index` */
	uint64_t index;
	bool inside;		/* of a C type: a value of this type there */
	uint32_t ctype;
	uint64_t offset;	/* of a bit-field: that of its structure */
	const struct tff_member *bits;	/* NULL: no bit-field */
};

enum term_kind {
	TERM_MISSING, TERM_INTEGER, TERM_REAL,
	TERM_STRING,
	TERM_TEXT,		/* has a text only: operand_text() */
};

/* A value in an expression. */
struct term {
	enum term_kind kind;
	union {
		__int128 i;
		double f;
	};
	const uint8_t *data;	/* STRING; else what was read */
	size_t length;
	const struct operand *operand;	/* NULL: a constant, or computed */
	const struct decode_piece *piece;
};

/* Where values come from. */
struct operand_source {
	const struct event *event;
	const struct scratch *scratch;	/* the pieces */
	struct symbols *symbols;
};

/* The point's operand of that name; name->found is set when it has a field. */
struct operand operand_bind(struct expression_name *name,
			    const struct match_point *point);
struct term operand_load(const struct operand *operand,
				  const struct operand_source *source);
/* The value as a string, in `text` where that's needed: the name of an integer
 * that has one, else its digits. MISSING when there is no memory. */
struct term operand_text(const struct term *value,
				  const struct operand_source *source,
				  struct text *text);

#endif
