// SPDX-License-Identifier: GPL-2.0
#include "decode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/text.h"
#include "render.h"

/* FMT lines as steps for decode_record() */

static void typed_compile(struct decode_format *format,
			  struct decode_step *step)
{
	step->letter = STEP_TYPED;
	step->type = step->source.type;
	switch (step->type) {
	case FORMAT_CHAR:
		step->letter = 'C';
		break;
	case FORMAT_STRING:
		step->letter = 'S';
		break;
	case FORMAT_BYTES:
		step->letter = STEP_HEX;
		break;
	case FORMAT_DUMP:
		step->letter = STEP_DUMP;
		break;
	case FORMAT_SYM:
		step->letter = STEP_SYM;
		format->has_addresses = true;
		break;
	case FORMAT_STACK:
		step->letter = STEP_STACK;
		format->has_addresses = true;
		break;
	case FORMAT_NAMED:
		step->letter = STEP_VALUE;
		step->ctype = step->source.ctype;
		step->items = value_items(&format->types, step->ctype);
		step->bytes = step->items ? 0 :
			      format->types.types[step->ctype].bytes;
		if (value_kind(&format->types, step->ctype) == VALUE_TEXT)
			step->letter = 'S';
		format->has_values = true;
		break;
	default:
		break;
	}
}

static void step_compile(struct decode_format *format, size_t i)
{
	struct decode_step *step = &format->steps[i];
	char *text = format->text + format->text_length;

	*step = (struct decode_step){
		.letter = format->parsed.steps[i].letter,
		.field = DECODE_NO_FIELD,
		.source = format->parsed.steps[i],
	};
	if (step->source.kind == FORMAT_CONTROL) {
		step->bytes = format_step_bytes(&step->source);
		if (step->letter == '{')
			typed_compile(format, step);
		step->rest = (step->letter == 'S' || step->letter == STEP_HEX ||
			      step->letter == STEP_DUMP ||
			      step->letter == STEP_STACK ||
			      step->letter == STEP_VALUE) &&
			     !step->bytes;
		step->fixed = step->bytes && step->letter != 'I' &&
			      step->letter != 'S';
		step->repeats = i && step[-1].letter == 'R';
		if (!strchr("PRXY", step->letter))
			format->takes_data = true;
		return;
	}
	step->letter = STEP_TEXT;
	step->text = text;
	step->length = text_put_layout(text, step->source.text,
				       step->source.length) - text;
	step->blank = strspn(text, " ") == step->length;
	format->text_length += step->length;
}

static uint32_t decode_type_find(const void *types, const char *name,
				 size_t length)
{
	return value_type_find(types, name, length);
}

int decode_compile(struct decode_format *format, const char *fmt,
		   const struct value_types *types)
{
	struct format_types known = { decode_type_find, types };

	*format = (struct decode_format){ .types = *types };
	if (format_compile(&format->parsed, fmt, &known))
		return -ENOMEM;
	format->count = format->parsed.count;
	format->steps = calloc(format->count + 1, sizeof(*format->steps));
	format->text = calloc(4 * strlen(fmt) + TEXT_SLACK, 1);
	if (!format->steps || !format->text) {
		decode_free(format);
		return -ENOMEM;
	}
	for (size_t i = 0; i < format->count; i++)
		step_compile(format, i);
	render_prepare(format);
	if (!plain_prepare(format))
		return 0;
	decode_free(format);
	return -ENOMEM;
}

void decode_free(struct decode_format *format)
{
	format_free(&format->parsed);
	free(format->plain);
	free(format->steps);
	free(format->text);
	memset(format, 0, sizeof(*format));
}

const char *const decode_note_words[NOTE_KINDS] = {
	"none", "not_readable", "bad_selector", "left_alone", "not_tried",
	"caller_unknown", "division_by_zero", "not_known", "not_available_here",
	"needs_module", "not_traced", "short", "cut", "no_end", "no_prefix",
	"not_formatted", "cut",
};

struct decode {
	struct decode_piece *out;
	const struct ras_record *record;
	const uint8_t *start;		/* the data */
	const uint8_t *at, *end;	/* of it, not yet taken */
	uint8_t *seen;
	const struct decode_step *stop;	/* after the last step */
	bool noted;		/* a note is here, without text after it */
	bool misfit;
	uint8_t flags;		/* of all items met */
	/* the item of the last prefix */
	bool in_item;
	bool fresh;		/* no control has taken from it yet */
	uint8_t status;
	struct ras_stack stack;	/* of an item that is one */
	const uint8_t *item, *item_end;	/* from its prefix on */
	uint64_t pointer;	/* that faulted */
};

/* ---- items ---- */

static bool status_faulted(uint8_t status)
{
	switch (RAS_ITEM_KIND(status)) {
	case RAS_ITEM_FAULT:
	case RAS_ITEM_SELECTOR:
	case RAS_ITEM_LEFT:
	case RAS_ITEM_NOT_TRIED:
	case RAS_ITEM_ARITHMETIC:
	case RAS_ITEM_UNKNOWN:
		return true;
	default:
		return false;
	}
}

static bool status_stack(uint8_t status)
{
	return RAS_ITEM_KIND(status) == RAS_ITEM_STACK;
}

/* Nothing of what was asked for is in the item. */
static bool status_empty(uint8_t status)
{
	return status_faulted(status) ||
	       RAS_ITEM_KIND(status) == RAS_ITEM_ABSENT;
}

static uint16_t prefix_length(const uint8_t *p)
{
	struct ras_item item;

	memcpy(&item, p, sizeof(item));
	return item.length;
}

static bool prefix_valid(const uint8_t *p, const uint8_t *end)
{
	return end - p >= RAS_ITEM_PREFIX &&
	       RAS_ITEM_KIND(p[0]) <= RAS_ITEM_UNKNOWN &&
	       prefix_length(p) <= end - p - RAS_ITEM_PREFIX &&
	       (!status_stack(p[0]) ||
		prefix_length(p) >= sizeof(struct ras_stack));
}

enum fit { FIT_WRONG, FIT_LOOSE, FIT_EXACT };

/* Bytes of the item whose prefix is at p that controls can take. */
static size_t item_bytes(const uint8_t *p)
{
	size_t head = status_stack(p[0]) ? sizeof(struct ras_stack) : 0;

	return status_empty(p[0]) ? 0 : prefix_length(p) - head;
}

/*
 * Do the steps fit the data from p on, read without an item? There must be a
 * prefix for each %P, and the data should end with the steps.
 */
static enum fit steps_fit(const struct decode_step *step,
			  const struct decode_step *stop, const uint8_t *p,
			  const uint8_t *end)
{
	bool fresh = false;	/* the first control belongs to the item */
	bool lacking = false;	/* a control had too little in its item */
	size_t left = 0;	/* in the item */

	for (; step < stop; step++) {
		if (step->items) {
			p = shape_part_skip(p, end, step->items - fresh);
			left = 0;
			fresh = false;
		} else if (step->letter == 'P' || step->letter == 'R') {
			if (!prefix_valid(p, end))
				return FIT_WRONG;
			fresh = step->letter == 'P';
			left = fresh ? item_bytes(p) : 0;
			p += RAS_ITEM_PREFIX + prefix_length(p);
			step += !fresh;
		} else if (step->letter == 'U' ||
			   (step->rest && !left && !fresh)) {
			return FIT_LOOSE;
		} else if (step->rest) {
			left = 0;
			fresh = false;
		} else if (step->bytes && (left || fresh)) {
			lacking |= step->bytes > left;
			left = step->bytes < left ? left - step->bytes : 0;
			fresh = false;
		} else if (step->bytes > (size_t)(end - p)) {
			return FIT_WRONG;
		} else {
			p += step->bytes;
		}
	}
	return p == end && !lacking ? FIT_EXACT : FIT_LOOSE;
}

/*
 * The item is used up and another control follows without a prefix: does it
 * take a register that was logged after the item, or is the item (of a LEN,
 * say) just shorter than the format? The prefixes further on decide.
 */
static bool item_left_behind(const struct decode *d,
			     const struct decode_step *step)
{
	const struct decode_step *next = step;
	enum fit fit;

	if (d->at == d->end)
		return false;
	fit = steps_fit(step, d->stop, d->at, d->end);
	if (fit != FIT_LOOSE)
		return fit == FIT_EXACT;
	while (next < d->stop && next->letter != 'P' && next->letter != 'R')
		next++;
	return steps_fit(next, d->stop, d->at, d->end) != FIT_EXACT;
}

/* ---- taking data ---- */

static inline void data_use(struct decode *d, size_t n)
{
	if (d->seen)
		memset(d->seen + (d->at - d->start), 1, n);
	d->at += n;
	d->fresh = false;
	d->noted = false;
}

/* Where the data ends that the control may take. */
static inline const uint8_t *data_end(struct decode *d,
				      const struct decode_step *step)
{
	if (!d->in_item || (d->fresh && status_empty(d->status)))
		return d->in_item ? d->item_end : d->end;
	if (step->letter == 'U' || (!d->fresh && d->at == d->item_end &&
				    item_left_behind(d, step)))
		d->in_item = false;
	return d->in_item ? d->item_end : d->end;
}

static inline struct decode_piece *
decode_piece_add(struct decode *d, const struct decode_step *step)
{
	struct decode_piece *piece = d->out++;

	*piece = (struct decode_piece){ .step = step, .data = d->at };
	return piece;
}

static void piece_note(struct decode *d, struct decode_piece *piece,
		       enum decode_note note)
{
	piece->note = note;
	d->noted = true;
}

static enum decode_note fault_note(uint8_t status, uint64_t pointer)
{
	switch (RAS_ITEM_KIND(status)) {
	case RAS_ITEM_SELECTOR:
		return NOTE_SELECTOR;
	case RAS_ITEM_LEFT:
		return NOTE_LEFT;
	case RAS_ITEM_NOT_TRIED:
		return NOTE_NOT_TRIED;
	case RAS_ITEM_ARITHMETIC:
		return pointer ? NOTE_CALLER : NOTE_ARITHMETIC;
	case RAS_ITEM_UNKNOWN:
		return NOTE_UNKNOWN;
	default:
		return NOTE_UNREADABLE;
	}
}

static enum decode_note absent_note(uint8_t status)
{
	return status & RAS_ITEM_MODULE ? NOTE_MODULE : NOTE_ABSENT;
}

/* Why nothing is left; NOTE_NONE: for no reason that is known. */
static enum decode_note missing_reason(const struct decode *d)
{
	bool faulted = status_faulted(d->status);

	if (d->misfit)
		return NOTE_NOT_FORMATTED;
	if (d->in_item && RAS_ITEM_KIND(d->status) == RAS_ITEM_ABSENT)
		return absent_note(d->status);
	if (d->in_item && (d->status & RAS_ITEM_CUT))
		return NOTE_CUT_BEFORE;
	if (d->in_item && !faulted)
		return NOTE_NONE;
	if (faulted || (d->record->flags & RAS_RECORD_FAULT))
		return NOTE_NOT_TRACED;
	return d->record->flags & RAS_RECORD_CUT ? NOTE_CUT_BEFORE : NOTE_NONE;
}

/* Note what is missing; controls without text between them share a note.
 * false: it isn't known. */
static bool missing_note(struct decode *d, struct decode_piece *piece)
{
	enum decode_note reason = missing_reason(d);

	if (!d->misfit && d->in_item && d->fresh && status_faulted(d->status)) {
		piece->pointer = d->pointer;
		piece_note(d, piece, fault_note(d->status, d->pointer));
	} else if (reason == NOTE_NONE) {
		return false;
	} else {
		piece->shared = d->noted;
		piece_note(d, piece, reason);
	}
	d->fresh = false;
	return true;
}

/* %P, and %R in its place: what the item before has left is skipped. */
static void prefix_take(struct decode *d, const struct decode_step *step)
{
	struct decode_piece *piece;
	size_t left;

	if (d->in_item)
		d->at = d->item_end;
	d->in_item = false;
	if (d->at == d->end || d->misfit)
		return;
	if (!prefix_valid(d->at, d->end)) {
		piece = decode_piece_add(d, step);
		left = d->end - d->at;
		piece->bytes = left < RAS_ITEM_PREFIX ? left : RAS_ITEM_PREFIX;
		piece_note(d, piece, NOTE_NO_PREFIX);
		d->misfit = true;
		return;
	}
	d->status = d->at[0];
	d->item = d->at;
	d->item_end = d->at + RAS_ITEM_PREFIX + prefix_length(d->at);
	d->flags |= d->status & ~RAS_ITEM_KIND(0xff);
	data_use(d, RAS_ITEM_PREFIX);
	/* What precedes the item's bytes, or replaces them. */
	if (status_stack(d->status)) {
		memcpy(&d->stack, d->at, sizeof(d->stack));
		data_use(d, sizeof(d->stack));
	} else if (status_empty(d->status)) {
		left = d->item_end - d->at;
		d->pointer = 0;
		memcpy(&d->pointer, d->at, left < 8 ? left : 8);
		data_use(d, left);
	}
	d->in_item = true;
	d->fresh = true;
}

/* ---- controls ---- */

/* %S: the rest of the item, or up to a zero. */
static void string_take(struct decode *d, struct decode_piece *piece,
			size_t left)
{
	const uint8_t *zero = memchr(d->at, 0, left);

	piece->bytes = zero ? (size_t)(zero - d->at) : left;
	data_use(d, zero ? piece->bytes + 1u : left);
	if (!zero && !d->in_item)
		piece_note(d, piece, NOTE_NO_END);
}

static void bytes_take(struct decode *d, struct decode_piece *piece,
		       size_t bytes, size_t left)
{
	size_t take = bytes < left ? bytes : left;

	piece->bytes = take;
	if (piece->step->letter == 'S')
		piece->bytes = strnlen((const char *)d->at, take);
	data_use(d, take);
	if (take < bytes)
		piece_note(d, piece, NOTE_SHORT);
}

/* %Innn */
static void skip_take(struct decode *d, const struct decode_step *step)
{
	size_t left = data_end(d, step) - d->at;

	if (left && !d->misfit)
		data_use(d, step->bytes < left ? step->bytes : left);
}

/* Nothing of the item is left: say how it ended. */
static void item_finish(struct decode *d, struct decode_piece *piece)
{
	if (d->status & RAS_ITEM_CUT) {
		piece->cut = true;
		piece_note(d, piece, piece->note ? piece->note : NOTE_CUT);
	}
	piece->stack_end = status_stack(d->status) &&
			   piece->step->letter != STEP_STACK;
}

/* The parts that a value of a shape consists of, from `at` on; the first one
 * that is not there is why. */
static enum decode_note parts_note(struct decode *d, struct decode_piece *piece,
				   const struct shape_part *part)
{
	piece->pointer = part->pointer;
	piece->status = part->status;
	if (!part->found)
		return d->record->flags & RAS_RECORD_FAULT ?
		       NOTE_NOT_TRACED : NOTE_CUT_BEFORE;
	if (RAS_ITEM_KIND(part->status) == RAS_ITEM_ABSENT)
		return absent_note(part->status);
	if (status_faulted(part->status))
		return fault_note(part->status, part->pointer);
	return NOTE_CUT_BEFORE;
}

/* The item that %P has begun is the first of the shape's. */
static void shape_take(struct decode *d, const struct decode_step *step)
{
	struct decode_piece *piece;
	const uint8_t *at, *end;
	struct shape_part first, text;
	uint64_t count;

	if (!d->in_item || !d->fresh)
		prefix_take(d, step);
	piece = decode_piece_add(d, step);
	if (!d->in_item || d->misfit) {
		if (!missing_note(d, piece))
			piece_note(d, piece, NOTE_NOT_TRACED);
		return;
	}
	at = d->item;
	end = shape_part_skip(at, d->end, step->items);
	for (const uint8_t *p = at; p < end; p = shape_part_skip(p, end, 1))
		d->flags |= p[0] & ~RAS_ITEM_KIND(0xff);
	d->at = d->item_end;
	data_use(d, end - d->item_end);
	d->in_item = false;
	piece->in_item = true;
	piece->data = at;
	piece->bytes = end - at;
	first = text = shape_part_take(&at, end);
	if (step->letter == 'S') {
		text = shape_part_take(&at, end);
		piece->data = text.data;
		piece->bytes = 0;
		if (shape_part_number(&first, &count) && shape_part_is_value(&text)) {
			piece->bytes = text.length;
			piece->status = text.status;
			piece->cut = text.length < count;
			piece->whole = count;
			piece_note(d, piece, piece->cut ? NOTE_CUT : NOTE_NONE);
			return;
		}
		if (shape_part_number(&first, &count))
			first = text;
	} else if (shape_part_is_value(&first)) {
		piece->status = first.status;
		return;
	}
	piece->bytes = 0;
	piece_note(d, piece, parts_note(d, piece, &first));
}

/* A control of a fixed width whose bytes are all there, as most are. */
static inline bool whole_take(struct decode *d, const struct decode_step *step,
			      bool again)
{
	const uint8_t *end = d->in_item ? d->item_end : d->end;

	if (!step->fixed || (size_t)(end - d->at) < step->bytes || d->misfit)
		return false;
	*d->out = (struct decode_piece){
		.step = step, .data = d->at, .bytes = step->bytes,
		.status = d->in_item ? d->status : 0,
		.in_item = d->in_item, .again = again, .stack = d->stack,
	};
	data_use(d, step->bytes);
	if (d->in_item && d->at == d->item_end)
		item_finish(d, d->out);
	d->out++;
	return true;
}

static void data_take(struct decode *d, const struct decode_step *step,
		      bool again)
{
	struct decode_piece *piece;
	size_t left;

	if (step->items) {
		shape_take(d, step);
		return;
	}
	if (whole_take(d, step, again))
		return;
	if (step->letter == 'I') {
		skip_take(d, step);
		return;
	}
	left = data_end(d, step) - d->at;
	piece = decode_piece_add(d, step);
	piece->again = again;
	if ((!left || d->misfit) && missing_note(d, piece))
		return;
	piece->in_item = d->in_item;
	piece->status = d->in_item ? d->status : 0;
	piece->stack = d->stack;
	if (step->letter == 'S' && step->rest)
		string_take(d, piece, left);
	else
		bytes_take(d, piece, step->bytes ? step->bytes : left, left);
	if (step->letter == 'U')
		d->in_item = false;
	else if (d->in_item && d->at == d->item_end)
		item_finish(d, piece);
}

/* %R of an item without bytes. */
static void nothing_take(struct decode *d, const struct decode_step *step)
{
	struct decode_piece *piece;

	d->fresh = false;
	if (step->letter == 'I')
		return;
	piece = decode_piece_add(d, step);
	piece->nothing = true;
	piece->in_item = true;
	piece->status = d->status;
	piece->stack = d->stack;
	piece->stack_end = status_stack(d->status);
}

/* %R: the control again and again, to the end of the item. */
static void repeat_take(struct decode *d, const struct decode_step *step)
{
	const uint8_t *before = NULL;

	prefix_take(d, step);
	if (d->in_item && d->at == d->item_end && !status_empty(d->status) &&
	    !(d->status & RAS_ITEM_CUT)) {
		nothing_take(d, step + 1);
		return;
	}
	while (d->at != before) {
		bool again = before;

		before = d->at;
		data_take(d, step + 1, again);
		if (!d->in_item || d->at == d->item_end)
			return;
	}
}

void decode_record(const struct decode_format *format,
		   const struct ras_record *record, size_t skip,
		   struct decode_piece *pieces, uint8_t *seen,
		   struct decode_result *result)
{
	const struct decode_step *step = format->steps;
	const uint8_t *start = (const uint8_t *)(record + 1) + skip;
	struct decode d = {
		.out = pieces, .record = record, .seen = seen,
		.start = start, .at = start,
		.end = (const uint8_t *)record + record->length,
		.stop = format->steps + format->count,
	};

	for (; step < d.stop; step++) {
		struct decode_piece *out = step->hidden ? d.out : NULL;

		switch (step->letter) {
		case STEP_TEXT:
			decode_piece_add(&d, step);
			d.noted = d.noted && step->blank;
			break;
		case 'P':
			prefix_take(&d, step);
			break;
		case 'R':
			repeat_take(&d, step++);
			break;
		case 'X':
		case 'Y':
			decode_piece_add(&d, step);
			break;
		default:
			data_take(&d, step, false);
		}
		d.out = out ? out : d.out;
	}
	*result = (struct decode_result){
		.count = d.out - pieces, .status = d.flags, .misfit = d.misfit,
	};
}
