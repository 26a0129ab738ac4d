/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The values of a record by name, for outputs that programs read and for
 * expressions. Every control that takes data and prints it is a field; what
 * follows %R is an array.
 *
 * A field's label is the text in front of the control, back to the control or
 * the line end before, without blanks, '=', ':', ',', ';', quotes and brackets
 * at its ends: "Status_Rec.next->age". A bracket whose partner is in the label
 * stays, "v[2]", unless the two are around all of it. Its name is the label with
 * a '_' for every run of other characters than letters, digits and '_', none at
 * its ends: "Status_Rec_next_age"; "_" goes in front of a digit; without a label
 * it is "arg" and the number of the field, from 1. A name that is there already
 * gets "_2", "_3" ... at its end. Names of one FMT are stable: they don't depend
 * on data.
 */
#ifndef LIB_READ_FIELD_H
#define LIB_READ_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/formats/format.h"
#include "decode.h"

/* Typed controls of a fixed width (format.h): values and text. */

/* Any typed control with a width of its own, but strings, bytes, addresses of
 * symbols and C types. */
char *control_put(const struct format_step *step, const uint8_t *data,
			 char *p);
/* Characters that it writes at most. */
size_t control_room(const struct format_step *step);

enum field_kind {
	FIELD_UNSIGNED,		/* `base`: how it is printed */
	FIELD_SIGNED,
	FIELD_FLOAT,
	FIELD_BOOL,
	FIELD_ENUM,		/* a number with a name: field_enum_name() */
	FIELD_FLAGS,		/* a number whose bits have names: `names` */
	FIELD_STRING,		/* bytes that are text, of no known encoding */
	FIELD_BYTES,
	FIELD_ADDRESS,		/* that has a name: %{sym} */
	FIELD_POINTER,
	FIELD_TIME,		/* ns since 1970, signed */
	FIELD_DURATION,		/* ns, unsigned */
	FIELD_TEXT,		/* has no number, only its text: IP4, IP6, MAC,
				 * far addresses (%A) */
	FIELD_STACK,		/* addresses, 8 bytes each */
	FIELD_CTYPE,		/* struct, union, array: see value.h */
};

struct field {
	char *name;		/* see above */
	char *label;		/* as in the FMT; "" */
	enum field_kind kind;
	uint8_t base;		/* UNSIGNED: 2, 8, 10 or 16 */
	uint8_t bytes;		/* of a number; 0: another kind */
	uint8_t bits;		/* of it, that count */
	bool is_signed;		/* SIGNED, ENUM: `i` is the value */
	bool array;		/* after %R */
	uint32_t ctype;		/* of a C type: index in the format's types; else
				 * TFF_CTYPE_NONE */
	char **names;		/* ENUM without a C type, FLAGS: for each of
				 * step->source.names; else NULL */
	size_t name_count;
	const struct decode_step *step;
};

struct field_set {
	struct field *fields;
	size_t count;
};

/* The fields of a compiled format; sets `field` of its steps. 0 or -ENOMEM. */
int field_set_make(struct field_set *set, struct decode_format *format);
void field_set_free(struct field_set *set);
/* NULL: there is none of this name. */
const struct field *field_find(const struct field_set *set, const char *name,
			       size_t length);

/* A piece of a field (decode.h) as a value. */
struct field_value {
	enum field_kind kind;
	uint8_t note;		/* enum decode_note */
	bool there;		/* there is a value; else the note says why not.
				 * With NOTE_CUT, NOTE_NO_END, and NOTE_SHORT of
				 * STRING, BYTES, CTYPE it is what there is */
	union {
		uint64_t u;	/* UNSIGNED, BOOL, ENUM, FLAGS, ADDRESS,
				 * POINTER, DURATION */
		int64_t i;	/* SIGNED, ENUM if is_signed, TIME */
		double f;
	};
	const uint8_t *data;	/* the bytes themselves */
	size_t length;
	uint64_t pointer;	/* of a note that has one */
};

struct field_value field_value(const struct field *field,
			       const struct decode_piece *piece);
/* Value of kind TEXT, or of one with names, at p, in control_room()
 * (number.h); returns the end. */
char *field_text_put(const struct field *field,
		     const struct decode_piece *piece, char *p);
/* "RED"; NULL: no enumerator has the value. */
const char *field_enum_name(const struct decode_format *format,
			    const struct field *field, uint64_t value);
/* The first piece of the field; the other ones of an array have the same step.
 * NULL: the record ended before. */
const struct decode_piece *field_piece(const struct field *field,
				       const struct decode_piece *pieces,
				       size_t count);

#endif
