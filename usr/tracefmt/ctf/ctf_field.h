/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fields (format/field.h) in CTF. Each name gets a leading underscore, which
 * readers drop, so that none is a keyword of TSDL. babeltrace2 2.0 takes _a for
 * the same as __a: further leading underscores, and one more, go to the end of
 * the name. What isn't a field has one at its end, which no field's name has.
 *
 * Where all fields of a record are there and all strings are text, a field is
 * its value, and one after %R a sequence of values:
 *
 *	integer { ... } _len;
 *	uint16_t _part_length_; string _part[_part_length_];
 *
 * Otherwise a status precedes each field, and the value is there only if it is
 * one of those that have a value:
 *
 *	enum status _len_status_;
 *	variant <_len_status_> {
 *		integer { ... } value;
 *		struct nothing empty;		a string
 *		...
 *		struct at_pointer not_readable;
 *		struct nothing not_traced;
 *		struct bytes incomplete;
 *	} _len;
 */
#ifndef TRACEFMT_CTF_FIELD_H
#define TRACEFMT_CTF_FIELD_H

#include "lib/read/read.h"
#include "ctf_buffer.h"

struct ctf_field {
	const struct field *field;
	char *name;		/* of TSDL, without the leading underscore */
	const struct value_types *types;
	bool array;		/* a sequence */
	bool declared;		/* CTYPE, ENUM: with its type; else as bytes or
				 * a number */
	/* in the record's pieces */
	const struct decode_piece *first;	/* NULL: none */
	uint32_t count;
};

/* 0 or -ENOMEM. */
int ctf_field_open(struct ctf_field *f, const struct field *field,
		   const struct value_types *types);
void ctf_field_close(struct ctf_field *f);
void ctf_field_tsdl(struct ctf_buffer *tsdl, const struct ctf_field *f,
		    bool with_status);
/* The field is there, as the form without a status has it. */
bool ctf_field_is_whole(const struct ctf_field *f);
void ctf_field_write(struct ctf_buffer *out, const struct ctf_field *f,
		     struct stack_owner owner, bool with_status);

/* struct stack */
void ctf_field_write_stack(struct ctf_buffer *out, struct stack_owner owner,
			   struct ras_stack stack, const uint8_t *data,
			   size_t n);

#endif
