/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A tracepoint's FMT lines, run over the data of a record (manual 1.3.5.7 and
 * 1.4): which bytes does each control take, and what is wrong there. All
 * outputs start from these pieces; render.h makes the manual's text of them,
 * field.h typed values.
 */
#ifndef LIB_READ_DECODE_H
#define LIB_READ_DECODE_H

#include <rastrace/buffer.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/formats/format.h"
#include "value.h"

/* A tracepoint's FMT lines, prepared for decode.h. */

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
	bool hidden;		/* takes data, but makes no piece and no field */
	enum format_type type;	/* of STEP_TYPED */
	uint32_t ctype;		/* VALUE */
	uint16_t items;		/* VALUE, S: of a shape, which consists of so
				 * many items; 0: none */
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
	struct plain_step *plain;	/* plain_put()'s; NULL: none */
};

/* With the C types of the format's section. 0 or -ENOMEM. */
int decode_compile(struct decode_format *format, const char *fmt,
		   const struct value_types *types);
void decode_free(struct decode_format *format);

/* What is wrong with a piece, or after it. */
enum decode_note {
	NOTE_NONE,
	NOTE_UNREADABLE,	/* the item faulted at `pointer` */
	NOTE_SELECTOR,		/* the same, of a far pointer */
	NOTE_LEFT,		/* absent; bringing it in wasn't allowed */
	NOTE_NOT_TRIED,		/* not readable as it was, and maybe absent */
	NOTE_CALLER,		/* found through the caller, which isn't known:
				 * the function returns to `pointer` */
	NOTE_ARITHMETIC,	/* division by zero on the way to the item */
	NOTE_UNKNOWN,		/* the CPU time of a call, which isn't known */
	NOTE_ABSENT,		/* a variable that the site doesn't have */
	NOTE_MODULE,		/* one that only rastrace.ko could read */
	NOTE_NOT_TRACED,	/* the record ends at a fault before it */
	NOTE_SHORT,		/* the item or record has `bytes` only of those
				 * that the control takes */
	NOTE_CUT,		/* MAXDATALENGTH or the item's most was reached:
				 * after the bytes */
	NOTE_NO_END,		/* a static record's string without its zero */
	NOTE_NO_PREFIX,		/* where %P expects one: `bytes` at `data` are
				 * something else; the format doesn't fit */
	NOTE_NOT_FORMATTED,	/* after that */
	NOTE_CUT_BEFORE,	/* the record or item was cut before it: it has
				 * no bytes */
};

#define NOTE_KINDS	17

/* One word each, for outputs that programs read ("not_readable"). */
extern const char *const decode_note_words[NOTE_KINDS];

struct decode_piece {
	const struct decode_step *step;
	const uint8_t *data;	/* what it takes; a string's without its zero */
	uint16_t bytes;
	uint8_t note;		/* enum decode_note */
	uint8_t status;		/* of its item (RAS_ITEM_*), or 0 */
	bool in_item;
	bool again;		/* %R: not the first one of its step */
	bool cut;		/* MAXDATALENGTH or the item's most was reached
				 * after the bytes; `note` may add more */
	bool nothing;		/* %R of an empty item: no element, no value */
	bool shared;		/* the piece before has the same note, with
				 * nothing between: text prints it once */
	struct ras_stack stack;	/* of an item that is one */
	bool stack_end;		/* the stack ends here; no STACK prints that */
	uint64_t pointer;	/* of the notes that have one */
	uint64_t whole;		/* of a text that was cut: its bytes in the
				 * program; 0: not known */
};

/* Pieces that a record with so many bytes of data makes at most. */
#define DECODE_PIECES(format, length)	(2 * (format)->count + (length) + 2)

struct decode_result {
	size_t count;		/* pieces */
	uint8_t status;		/* flags of all items met, RAS_ITEM_* */
	bool misfit;		/* the data doesn't fit the format */
};

/*
 * The pieces of a record whose data begins `skip` bytes after its header, in
 * the order of the format: texts, X and Y too, so that all of them in a row are
 * what is printed; %I makes none. seen (or NULL) has a byte for each byte of
 * the data, set to 1 when it was taken.
 */
void decode_record(const struct decode_format *format,
		   const struct ras_record *record, size_t skip,
		   struct decode_piece *pieces, uint8_t *seen,
		   struct decode_result *result);

#endif
