/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fields (format/field.h) in CTF. A field's name has an underscore in front,
 * which readers drop: so no name means something to TSDL. babeltrace2 2.0 takes
 * _a for the same as __a: underscores that a name begins with stand behind it,
 * and one more. What isn't a field has one behind, which no field's name has.
 *
 * Where all fields of a record are there and all strings are text, a field is
 * its value, and one behind %R a sequence of values:
 *
 *	integer { ... } _len;
 *	uint16_t _part_length_; string _part[_part_length_];
 *
 * Otherwise each has its status in front, and the value is there only when that
 * says so:
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
	char *name;		/* of TSDL, without the underscore in front */
	const struct value_types *types;
	bool array;		/* a sequence */
	bool told;		/* CTYPE, ENUM: the type is; else it is bytes, a
				 * number */
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
