/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A tracepoint's FMT lines, run over the data of a record (manual 1.3.5.7 and
 * 1.4). Where data is not what the format expects, a note in angle brackets
 * stands in its place:
 *
 *	<not readable: 0000000000001234>  the item faulted at this pointer
 *	<bad selector: 0000000000B70001>  the same, of a far pointer
 *	<left alone: 0000000000001234>  absent; who brings it in might not
 *	<not tried: 0000000000001234>  not readable as it was, and maybe absent
 *	<division by zero>	on the way to the item
 *	<not available here>  a variable that the site doesn't have
 *	<not traced>	the record ends at a fault before it
 *	<2 of 4 bytes>	the control takes more than its item or record has;
 *			what there is stands before the note, in hex
 *	<cut>		MAXDATALENGTH or the item's most was reached here
 *	<no end>	a static record's string without its zero
 *	<no prefix: 07 00 01>  where %P expects one: the format doesn't fit
 *	<not formatted>	behind that
 */
#ifndef TRACEFMT_RENDER_H
#define TRACEFMT_RENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rastrace/buffer.h>
#include "stack.h"
#include "value.h"

struct render_step;

struct render_format {
	struct render_step *steps;
	size_t count;
	char *text;
	size_t text_length;	/* of all literal text */
	bool takes_data;	/* there is a control that takes data */
	bool has_values;	/* ... that names a C type */
	bool has_addresses;	/* ... that names addresses */
	struct value_types types;
};

/* With the C types of the format's section. 0 or -ENOMEM. */
int render_compile(struct render_format *format, const char *fmt,
		   const struct value_types *types);
void render_free(struct render_format *format);

struct render_result {
	uint8_t status;		/* flags of all items met, RAS_ITEM_* */
	bool misfit;		/* the data doesn't fit the format */
};

struct render_input {
	const struct ras_record *record;
	size_t skip;			/* bytes in front of the data */
	struct stack_owner owner;	/* of its addresses */
};

/* The most that render_record() writes for so many bytes of data. */
size_t render_room(const struct render_format *format, size_t data_length);

/*
 * Print the record's data at p; returns the end. seen (or NULL) has a byte
 * for each byte of the data, set to 1 when it was formatted.
 */
char *render_record(const struct render_format *format,
		    const struct render_input *input, char *p, uint8_t *seen,
		    struct render_result *result);

#endif
