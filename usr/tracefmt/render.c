// SPDX-License-Identifier: GPL-2.0
#include "render.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "../lib/format.h"
#include "number.h"
#include "text.h"

#define NOTE_MAX	64	/* bytes of the longest note, with some room; a
				 * TEXT_ROW_MAX has room in two */

/* Letters of our own: a value of a C type, %{hex}, %{dump}, %{sym}, %{stack} */
#define VALUE		'V'
#define HEX		'H'
#define DUMP		'M'
#define SYM		'N'
#define STACK		'K'

struct render_step {
	char letter;		/* of format_step; 0 = text; VALUE, HEX */
	enum format_type type;	/* of a letter '{' */
	uint32_t ctype;		/* VALUE */
	bool blank;		/* TEXT: only blanks */
	uint32_t bytes;		/* data it takes; 0: as much as there is */
	const char *text;
	size_t length;
};

struct render {
	char *p;
	const struct ras_record *record;
	struct stack_owner owner;
	const uint8_t *start;		/* the data */
	const uint8_t *at, *end;	/* of it, not yet formatted */
	uint8_t *seen;
	const struct render_step *stop;	/* behind the last step */
	/* the item of the last prefix */
	bool in_item;
	bool fresh;		/* no control has taken from it yet */
	const uint8_t *item_end;
	uint8_t status;
	uint64_t pointer;	/* that faulted */
	struct ras_stack stack;	/* of an item that is one */
	/* of the record */
	bool noted;		/* a note stands here, no text behind */
	struct render_result result;
	const struct value_types *types;
	struct value_budget budget;
};

/* ---- compiling ---- */

static void typed_compile(struct render_format *format,
			  struct render_step *step,
			  const struct format_step *source)
{
	step->type = source->type;
	switch (source->type) {
	case FORMAT_CHAR:
		step->letter = 'C';
		break;
	case FORMAT_STRING:
		step->letter = 'S';
		break;
	case FORMAT_BYTES:
		step->letter = HEX;
		break;
	case FORMAT_DUMP:
		step->letter = DUMP;
		break;
	case FORMAT_SYM:
		step->letter = SYM;
		format->has_addresses = true;
		break;
	case FORMAT_STACK:
		step->letter = STACK;
		format->has_addresses = true;
		break;
	case FORMAT_NAMED:
		step->letter = VALUE;
		step->ctype = source->ctype;
		step->bytes = format->types.types[source->ctype].bytes;
		format->has_values = true;
		break;
	default:
		break;
	}
}

static void step_compile(struct render_format *format, size_t i,
			 const struct format_step *source)
{
	struct render_step *step = &format->steps[i];
	char *text = format->text + format->text_length;

	*step = (struct render_step){ .letter = source->letter };
	if (source->kind == FORMAT_CONTROL) {
		step->bytes = format_step_bytes(source);
		if (step->letter == '{')
			typed_compile(format, step, source);
		if (!strchr("PRXY", step->letter))
			format->takes_data = true;
		return;
	}
	step->letter = 0;
	step->text = text;
	step->length = text_put_layout(text, source->text, source->length) -
		       text;
	step->blank = strspn(text, " ") == step->length;
	format->text_length += step->length;
}

static uint32_t type_find(const void *types, const char *name, size_t length)
{
	return value_type_find(types, name, length);
}

int render_compile(struct render_format *format, const char *fmt,
		   const struct value_types *types)
{
	struct format_types known = { type_find, types };
	struct format parsed;

	*format = (struct render_format){ .types = *types };
	if (format_compile(&parsed, fmt, &known))
		return -ENOMEM;
	format->count = parsed.count;
	format->steps = calloc(parsed.count + 1, sizeof(*format->steps));
	format->text = calloc(4 * strlen(fmt) + 1, 1);
	if (!format->steps || !format->text) {
		format_free(&parsed);
		render_free(format);
		return -ENOMEM;
	}
	for (size_t i = 0; i < parsed.count; i++)
		step_compile(format, i, &parsed.steps[i]);
	format_free(&parsed);
	return 0;
}

void render_free(struct render_format *format)
{
	free(format->steps);
	free(format->text);
	memset(format, 0, sizeof(*format));
}

/* ---- notes ---- */

#define NOTE(r, literal) \
	((r)->noted = true, (r)->p = TEXT_PUT((r)->p, literal))

static void note_short(struct render *r, size_t got, size_t wanted)
{
	r->p = TEXT_PUT(r->p, "<");
	r->p = text_put_decimal(r->p, got);
	r->p = TEXT_PUT(r->p, " of ");
	r->p = text_put_decimal(r->p, wanted);
	NOTE(r, " bytes>");
}

static const char *fault_text(uint8_t status)
{
	switch (RAS_ITEM_KIND(status)) {
	case RAS_ITEM_SELECTOR:
		return "<bad selector: ";
	case RAS_ITEM_LEFT:
		return "<left alone: ";
	case RAS_ITEM_NOT_TRIED:
		return "<not tried: ";
	default:
		return "<not readable: ";
	}
}

static void note_fault(struct render *r)
{
	const char *text = fault_text(r->status);

	if (RAS_ITEM_KIND(r->status) == RAS_ITEM_ARITHMETIC) {
		NOTE(r, "<division by zero>");
		return;
	}
	r->p = text_put(r->p, text, strlen(text));
	r->p = text_put_hex(r->p, r->pointer, 16);
	NOTE(r, ">");
}

#define NOTE_ABSENT	"<not available here>"

/* ---- taking data ---- */

static bool status_faulted(uint8_t status)
{
	switch (RAS_ITEM_KIND(status)) {
	case RAS_ITEM_FAULT:
	case RAS_ITEM_SELECTOR:
	case RAS_ITEM_LEFT:
	case RAS_ITEM_NOT_TRIED:
	case RAS_ITEM_ARITHMETIC:
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
	       RAS_ITEM_KIND(p[0]) <= RAS_ITEM_STACK &&
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

/* The control takes what there is. */
static bool step_takes_rest(const struct render_step *step)
{
	return step->letter == 'S' || step->letter == DUMP ||
	       step->letter == STACK ||
	       (!step->bytes && (step->letter == HEX || step->letter == VALUE));
}

/*
 * Do the steps fit the data from p on, read without an item? Prefixes must
 * be where %P stands, and the data should end with the steps.
 */
static enum fit steps_fit(const struct render_step *step,
			  const struct render_step *stop, const uint8_t *p,
			  const uint8_t *end)
{
	bool fresh = false;	/* the first control belongs to the item */
	bool lacking = false;	/* a control had too little in its item */
	size_t left = 0;	/* in the item */

	for (; step < stop; step++) {
		if (step->letter == 'P' || step->letter == 'R') {
			if (!prefix_valid(p, end))
				return FIT_WRONG;
			fresh = step->letter == 'P';
			left = fresh ? item_bytes(p) : 0;
			p += RAS_ITEM_PREFIX + prefix_length(p);
			step += !fresh;
		} else if (step->letter == 'U' ||
			   (step_takes_rest(step) && !left && !fresh)) {
			return FIT_LOOSE;
		} else if (step_takes_rest(step)) {
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
 * take a register that was logged behind the item, or is the item (of a LEN,
 * say) just shorter than the format? The prefixes further on tell.
 */
static bool item_left_behind(const struct render *r,
			     const struct render_step *step)
{
	const struct render_step *next = step;
	enum fit fit;

	if (r->at == r->end)
		return false;
	fit = steps_fit(step, r->stop, r->at, r->end);
	if (fit != FIT_LOOSE)
		return fit == FIT_EXACT;
	while (next < r->stop && next->letter != 'P' && next->letter != 'R')
		next++;
	return steps_fit(next, r->stop, r->at, r->end) != FIT_EXACT;
}

static void data_use(struct render *r, size_t n)
{
	if (r->seen)
		memset(r->seen + (r->at - r->start), 1, n);
	r->at += n;
	r->fresh = false;
	r->noted = false;
}

/* Where the data ends that the control may take. */
static const uint8_t *data_end(struct render *r, const struct render_step *step)
{
	if (!r->in_item || (r->fresh && status_empty(r->status)))
		return r->in_item ? r->item_end : r->end;
	if (step->letter == 'U' || (!r->fresh && r->at == r->item_end &&
				    item_left_behind(r, step)))
		r->in_item = false;
	return r->in_item ? r->item_end : r->end;
}

/* Why nothing is left, or NULL: for no reason that is known. */
static const char *missing_reason(const struct render *r)
{
	bool faulted = status_faulted(r->status);

	if (r->result.misfit)
		return "<not formatted>";
	if (r->in_item && RAS_ITEM_KIND(r->status) == RAS_ITEM_ABSENT)
		return NOTE_ABSENT;
	if (r->in_item && (r->status & RAS_ITEM_CUT))
		return "<cut>";
	if (r->in_item && !faulted)
		return NULL;
	if (faulted || (r->record->flags & RAS_RECORD_FAULT))
		return "<not traced>";
	return r->record->flags & RAS_RECORD_CUT ? "<cut>" : NULL;
}

/* Note what is missing; controls without text between them share a note. */
static bool missing_tell(struct render *r)
{
	const char *reason = missing_reason(r);

	if (!r->result.misfit && r->in_item && r->fresh &&
	    status_faulted(r->status)) {
		note_fault(r);
	} else if (!reason) {
		return false;
	} else if (!r->noted) {
		r->p = text_put(r->p, reason, strlen(reason));
		r->noted = true;
	}
	r->fresh = false;
	return true;
}

static void prefix_misfit(struct render *r)
{
	size_t left = r->end - r->at;

	r->p = TEXT_PUT(r->p, "<no prefix:");
	for (size_t i = 0; i < left && i < RAS_ITEM_PREFIX; i++) {
		*r->p++ = ' ';
		r->p = text_put_hex(r->p, r->at[i], 2);
	}
	NOTE(r, ">");
	r->result.misfit = true;
}

/* %P, and %R in its place: what the item before has left is skipped. */
static void prefix_take(struct render *r)
{
	if (r->in_item)
		r->at = r->item_end;
	r->in_item = false;
	if (r->at == r->end || r->result.misfit)
		return;
	if (!prefix_valid(r->at, r->end)) {
		prefix_misfit(r);
		return;
	}
	r->status = r->at[0];
	r->item_end = r->at + RAS_ITEM_PREFIX + prefix_length(r->at);
	r->result.status |= r->status & ~RAS_ITEM_KIND(0xff);
	data_use(r, RAS_ITEM_PREFIX);
	r->in_item = true;
	r->fresh = true;
	if (status_stack(r->status)) {
		memcpy(&r->stack, r->at, sizeof(r->stack));
		data_use(r, sizeof(r->stack));
		r->fresh = true;
	}
	if (!status_empty(r->status))
		return;
	r->pointer = 0;
	memcpy(&r->pointer, r->at,
	       r->item_end - r->at < 8 ? r->item_end - r->at : 8);
	data_use(r, r->item_end - r->at);
	r->fresh = true;
}

/* ---- printing ---- */

static void put_hex_bytes(struct render *r, const uint8_t *data, size_t n)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		if (i)
			*r->p++ = ' ';
		*r->p++ = digits[data[i] >> 4];
		*r->p++ = digits[data[i] & 0xf];
	}
}

/* Two numbers of `digits` with a separator between. */
static void put_pair(struct render *r, uint32_t a, char separator, uint32_t b,
		     int digits)
{
	r->p = text_put_hex(r->p, a, digits);
	*r->p++ = separator;
	r->p = text_put_hex(r->p, b, digits);
}

/* Controls of a fixed width; all bytes are there. */
static void put_value(struct render *r, const struct render_step *step,
		      const uint8_t *data)
{
	switch (step->letter) {
	case 'B':
		r->p = text_put_hex(r->p, data[0], 2);
		break;
	case 'C':
		r->p = text_put_safe(r->p, data, 1);
		break;
	case 'W':
		r->p = text_put_hex(r->p, number_load(data, 2), 4);
		break;
	case 'D':
		put_pair(r, number_load(data + 2, 2), ' ', number_load(data, 2), 4);
		break;
	case 'F':
		r->p = text_put_hex(r->p, number_load(data, 4), 8);
		break;
	case 'Q':
		put_pair(r, number_load(data, 4), ' ', number_load(data + 4, 4), 8);
		break;
	case 'L':
		r->p = text_put_hex(r->p, number_load(data, 8), 16);
		break;
	case HEX:
		put_hex_bytes(r, data, step->bytes);
		break;
	case SYM:
		r->p = stack_put_address(r->owner,
					 number_load(data, step->bytes), r->p);
		break;
	case '{':
		r->p = number_put_control(step->type, step->bytes, data, r->p);
		break;
	case 'A':	/* registers: segment first; memory: offset first */
		if (r->in_item)
			put_pair(r, number_load(data + 2, 2), ':', number_load(data, 2), 4);
		else
			put_pair(r, number_load(data, 2), ':', number_load(data + 2, 2), 4);
		break;
	}
}

/* %S: the rest of the item, or up to a zero. */
static void run_string(struct render *r, size_t left)
{
	const uint8_t *zero = memchr(r->at, 0, left);
	size_t length = zero ? (size_t)(zero - r->at) : left;

	r->p = text_put_safe(r->p, r->at, length);
	data_use(r, zero ? length + 1 : length);
	if (!zero && !r->in_item)
		NOTE(r, "<no end>");
}

/* %U: the rest of the record, prefixes and all. */
static void run_rest(struct render *r)
{
	put_hex_bytes(r, r->at, r->end - r->at);
	data_use(r, r->end - r->at);
	r->in_item = false;
}

/* %{hex} */
static void run_bytes(struct render *r, size_t left)
{
	put_hex_bytes(r, r->at, left);
	data_use(r, left);
}

/* %{dump}: in lines of its own */
static void run_dump(struct render *r, size_t left)
{
	for (size_t row = 0; row < left; row += TEXT_ROW) {
		*r->p++ = '\n';
		r->p = text_put_row(r->p, r->at, left, row);
	}
	data_use(r, left);
}

/* %{stack}, of what is none %{dump} */
static void run_stack(struct render *r, size_t left)
{
	if (!r->in_item || !status_stack(r->status)) {
		run_dump(r, left);
		return;
	}
	r->p = stack_put(r->owner, r->stack, r->at, left, r->p);
	data_use(r, left);
}

/* Other controls have taken a stack's addresses. */
static void stack_end_tell(struct render *r, bool blank)
{
	const char *text = stack_end_text(r->stack.end);

	if (blank)
		*r->p++ = ' ';
	r->p = text_put(r->p, text, strlen(text));
}

/* %{struct request}: of a type without a size, what there is. */
static void run_typed(struct render *r, const struct render_step *step,
		      size_t left)
{
	size_t take = step->bytes && step->bytes < left ? step->bytes : left;

	r->p = value_put(r->types, step->ctype, r->at, take, r->p, &r->budget);
	data_use(r, take);
}

/* %Innn */
static void run_skip(struct render *r, const struct render_step *step)
{
	size_t left = data_end(r, step) - r->at;

	if (left && !r->result.misfit)
		data_use(r, step->bytes < left ? step->bytes : left);
}

/* A control of a fixed width. */
static void run_value(struct render *r, const struct render_step *step,
		      size_t left)
{
	if (step->bytes <= left) {
		put_value(r, step, r->at);
		data_use(r, step->bytes);
		return;
	}
	put_hex_bytes(r, r->at, left);
	if (left)
		*r->p++ = ' ';
	data_use(r, left);
	note_short(r, left, step->bytes);
}

static void run_data(struct render *r, const struct render_step *step)
{
	size_t left;

	if (step->letter == 'I') {
		run_skip(r, step);
		return;
	}
	left = data_end(r, step) - r->at;
	if ((!left || r->result.misfit) && missing_tell(r))
		return;
	if (step->letter == 'U')
		run_rest(r);
	else if (step->letter == 'S')
		run_string(r, left);
	else if (step->letter == VALUE)
		run_typed(r, step, left);
	else if (step->letter == DUMP)
		run_dump(r, left);
	else if (step->letter == STACK)
		run_stack(r, left);
	else if (step->letter == HEX && !step->bytes)
		run_bytes(r, left);
	else
		run_value(r, step, left);
	if (!r->in_item || r->at != r->item_end)
		return;
	if (r->status & RAS_ITEM_CUT)
		NOTE(r, "<cut>");
	if (status_stack(r->status) && step->letter != STACK)
		stack_end_tell(r, true);
}

/* %R: the control again and again, to the end of the item. */
static void run_repeat(struct render *r, const struct render_step *step)
{
	const uint8_t *before = NULL;

	prefix_take(r);
	if (r->in_item && r->at == r->item_end && !status_empty(r->status) &&
	    !(r->status & RAS_ITEM_CUT)) {
		if (status_stack(r->status))
			stack_end_tell(r, false);
		r->fresh = false;
		return;
	}
	while (r->at != before) {
		if (before && step->letter != 'C' && step->letter != 'I')
			*r->p++ = ' ';
		before = r->at;
		run_data(r, step);
		if (!r->in_item || r->at == r->item_end)
			return;
	}
}

char *render_record(const struct render_format *format,
		    const struct render_input *input, char *p, uint8_t *seen,
		    struct render_result *result)
{
	const struct render_step *step = format->steps;
	const struct ras_record *record = input->record;
	const uint8_t *start = (const uint8_t *)(record + 1) + input->skip;
	struct render r = {
		.p = p, .record = record, .seen = seen, .owner = input->owner,
		.start = start, .at = start,
		.end = (const uint8_t *)record + record->length,
		.stop = format->steps + format->count,
		.types = &format->types, .budget = VALUE_BUDGET,
	};

	for (; step < r.stop; step++) {
		switch (step->letter) {
		case 0:
			r.p = text_put(r.p, step->text, step->length);
			r.noted = r.noted && step->blank;
			break;
		case 'P':
			prefix_take(&r);
			break;
		case 'R':
			run_repeat(&r, ++step);
			break;
		case 'X':
			r.p = text_put_hex(r.p, record->major, 4);
			break;
		case 'Y':
			r.p = text_put_hex(r.p, record->minor, 4);
			break;
		default:
			run_data(&r, step);
		}
	}
	*result = r.result;
	return r.p;
}

/* Every byte makes at most 8 and a separator, every step at most two notes. */
size_t render_room(const struct render_format *format, size_t data_length)
{
	return format->text_length + 2 * NOTE_MAX * (format->count + 1) +
	       9 * data_length +
	       (format->has_values ? VALUE_TEXT_MAX : 0) +
	       (format->has_addresses ?
		(data_length / 4 + 2 * (format->count + 1)) * STACK_LINE_MAX :
		0);
}
