/* SPDX-License-Identifier: GPL-2.0 */
/* A tracepoint's FMT lines, prepared for decode.h. */
#ifndef LIB_READ_DECODE_FORMAT_H
#define LIB_READ_DECODE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/formats/format.h"
#include "value.h"

/* Letters of our own beside those of format_step */
#define STEP_TEXT	0
#define STEP_VALUE	'V'	/* of a C type */
#define STEP_HEX	'H'	/* %{hex}, %{hex5} */
#define STEP_DUMP	'M'
#define STEP_SYM	'N'
#define STEP_STACK	'K'
#define STEP_TYPED	'{'	/* other typed ones */

struct decode_step {
	char letter;		/* upper case, or STEP_* */
	bool blank;		/* TEXT: only blanks */
	bool repeats;		/* follows %R */
	bool rest;		/* takes what its item has */
	bool fixed;		/* takes `bytes`, which are its value */
	enum format_type type;	/* of STEP_TYPED */
	uint32_t ctype;		/* VALUE */
	uint32_t bytes;		/* data it takes; 0: as much as there is */
	const char *text;	/* TEXT, fit for a terminal */
	size_t length;
	uint32_t field;		/* index in field_set (field.h), of what takes
				 * data and prints it; else DECODE_NO_FIELD */
	struct format_step source;	/* as format.h has it: base, width, the
					 * names of flags and so on */
};

#define DECODE_NO_FIELD	UINT32_MAX

struct decode_format {
	struct decode_step *steps;
	size_t count;
	char *text;
	size_t text_length;	/* of all literal text */
	bool takes_data;	/* there is a control that takes data */
	bool has_values;	/* ... that names a C type */
	bool has_addresses;	/* ... that names addresses */
	size_t room, room_each;	/* render_room()'s: of any record, and of each
				 * byte of its data */
	struct value_types types;
	struct format parsed;	/* `source` points into it */
	struct plain_step *plain;	/* plain.h's; NULL: none */
};

/* With the C types of the format's section. 0 or -ENOMEM. */
int decode_compile(struct decode_format *format, const char *fmt,
		   const struct value_types *types);
void decode_free(struct decode_format *format);

#endif
