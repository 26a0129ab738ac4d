/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pieces of a record (decode.h) as text, as the manual has it. Where data is
 * not what the format expects, a note in angle brackets replaces it:
 *
 *	<not readable: 0000000000001234>  the item faulted at this pointer
 *	<bad selector: 0000000000B70001>  the same, of a far pointer
 *	<left alone: 0000000000001234>  absent; bringing it in wasn't allowed
 *	<not tried: 0000000000001234>  not readable as it was, and maybe absent
 *	<caller unknown: 0000000000001234>  it is found through the caller
 *	<division by zero>	on the way to the item
 *	<not known>	the CPU time of a call that ended in another thread, or of
 *			whose switches one was not seen
 *	<not available here>  a variable that the site doesn't have
 *	<not traced>	the record ends at a fault before it
 *	<2 of 4 bytes>	the control takes more than its item or record has;
 *			what there is precedes the note, in hex
 *	<cut>		MAXDATALENGTH or the item's most was reached here
 *	<cut: 128 of 300 bytes>	a text, of which the program has so many
 *	<no end>	a static record's string without its zero
 *	<no prefix: 07 00 01>  where %P expects one: the format doesn't fit
 *	<not formatted>	after that
 */
#ifndef LIB_READ_RENDER_H
#define LIB_READ_RENDER_H

#include "decode.h"
#include "stack.h"
#include "value.h"

/*
 * In most records all controls find what they take. The text of such a plain
 * record is made here without the pieces of decode.h, which is much faster.
 */

/* Of decode_compile(): format->plain, NULL where no record can be plain. 0 or
 * -ENOMEM. */
int plain_prepare(struct decode_format *format);

/*
 * The text of a record whose controls all find what they take, at p, in
 * render_room(); returns the end. NULL: the record is not plain; discard what
 * was written.
 */
char *plain_put(const struct decode_format *format,
		const struct ras_record *record, size_t skip, char *p);

struct render_input {
	const struct decode_format *format;
	const struct ras_record *record;
	struct stack_owner owner;	/* of its addresses */
};

/* Of decode_compile(): how much text the format makes. */
void render_prepare(struct decode_format *format);
/* The most that a record with so many bytes of data makes. */
static inline size_t render_room(const struct decode_format *format,
				 size_t data_length)
{
	return format->room + format->room_each * data_length;
}

/* The text of all pieces at p; returns the end. */
char *render_pieces(const struct render_input *input,
		    const struct decode_piece *pieces, size_t count, char *p);

/* One piece alone, value and note; in render_room(format, piece->bytes). */
char *render_piece(const struct render_input *input,
		   const struct decode_piece *piece, char *p);

#endif
