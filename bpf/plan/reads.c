// SPDX-License-Identifier: GPL-2.0
/*
 * Which reads of a record are one. A call of the helper costs more than the
 * bytes that it reads, so what several statements read is read once, and what
 * is at the same pointer, SPAN_BYTES from end to end, in one span.
 *
 * Where a span can't be read, one of its ends can't, as each is smaller than a
 * page: the read of that end by itself would have failed. The record is then
 * taken again (walk.c), and there each statement reads for itself. So there are
 * spans in a first version that gives up when anything fails, and of what it
 * reads in any case.
 *
 * The expressions are gone through twice: for their reads, which become spans;
 * and for how long these are needed. Spans that aren't needed at a time share
 * words of the frame.
 */
#include "plan.h"

#include "lib/formats/rpn.h"

#define SPAN_BYTES	64	/* of one, at most */
#define WORD		8
#define ADD_MOST	(INT64_MAX / 2)	/* what is farther away is by itself */

/* When something is read or used: in the order of the generated code */
#define TIME(stmt, event)	((int64_t)(stmt) * 0x10000 + (event))
#define TIME_END(stmt)		TIME(stmt, 0xffff)

/* What an address is an offset from */
enum {
	BASE_UNKNOWN, BASE_CONST, BASE_MODULE,
	BASE_READ,					/* + index */
	BASE_REGISTER = BASE_READ + READS_MAX,		/* + number */
};
#define REGISTERS	(1 << 16)
#define BASE_WORD	(BASE_REGISTER + REGISTERS)	/* + a register's */
#define WORDS		(1 << 8)
#define BASE_OFFSET	(BASE_WORD + WORDS)		/* + index */

struct reads_symbol {
	int base;
	uint64_t add;
};

/* An expression that is gone through */
struct reads_walk {
	const struct plan *plan;
	struct reads *reads;
	struct reads_symbol stack[TDF_RPN_STACK];
	int depth;
	int stmt;
	int event;		/* the statement's next read */
	bool again;		/* the spans are known */
};

static bool plannable(const struct plan *plan)
{
	return plan->kind == PLAN_RECORD && plan->bring_in && plan->early &&
	       plan->suffices;
}

/* Which read is it, at this place of the statement? -1: it's by itself. */
static int event_find(const struct reads *reads, int stmt, size_t at)
{
	for (int i = 0; i < reads->event_count; i++)
		if (reads->events[i].stmt == stmt && reads->events[i].at == at)
			return reads->events[i].read;
	return -1;
}

/* The frame's loads are aligned, so what isn't stays by itself. */
static int event_new(struct reads *reads, int stmt, size_t at,
		     const struct read *read)
{
	int i = 0;

	if (read->base == BASE_UNKNOWN || read->bytes > SPAN_BYTES ||
	    read->add > ADD_MOST || read->add < -ADD_MOST ||
	    (at != READS_BYTES && read->add & (read->bytes - 1)))
		return -1;
	while (i < reads->count && (reads->reads[i].base != read->base ||
				    reads->reads[i].add != read->add ||
				    reads->reads[i].bytes != read->bytes))
		i++;
	if (i == READS_MAX || reads->event_count == READS_EVENTS)
		return -1;
	if (i == reads->count)
		reads->reads[reads->count++] = *read;
	reads->reads[i].events++;
	reads->events[reads->event_count++] = (struct read_event){
		stmt, at, i,
	};
	return i;
}

static struct read_span *reads_span_find(const struct reads_walk *w, int read)
{
	int span = w->again && read >= 0 ? w->reads->reads[read].span : -1;

	return span < 0 ? NULL : &w->reads->spans[span];
}

/* What is read at `base` is needed up to then. */
static void base_use(struct reads_walk *w, int base, int64_t time)
{
	struct read_span *span = NULL;

	while (base >= BASE_OFFSET)
		base = w->reads->offsets[base - BASE_OFFSET].base;
	if (base >= BASE_READ && base < BASE_REGISTER)
		span = reads_span_find(w, base - BASE_READ);
	if (span && span->last < time)
		span->last = time;
}

/* Where its value goes isn't followed: no farther than the statement. */
static void symbol_use(struct reads_walk *w, const struct reads_symbol *symbol)
{
	base_use(w, symbol->base, TIME_END(w->stmt));
}

/* The address of a span is needed where that is read, only then. */
static void address_use(struct reads_walk *w, int read,
			const struct reads_symbol *address)
{
	struct read_span *span = reads_span_find(w, read);
	int64_t now = TIME(w->stmt, w->event);

	if (!span) {
		symbol_use(w, address);
	} else if (span->first < 0) {
		base_use(w, address->base, now);
		span->first = span->last = now;
	}
}

static int read_walk(struct reads_walk *w, const struct reads_symbol *address,
		     uint32_t bytes, size_t at)
{
	const struct read new = { address->base, address->add, bytes, -1, 0 };
	int read = w->again ? event_find(w->reads, w->stmt, at) :
		   event_new(w->reads, w->stmt, at, &new);

	address_use(w, read, address);
	w->event++;
	return read;
}

static struct reads_symbol *reads_top(struct reads_walk *w)
{
	return &w->stack[w->depth - 1];
}

static void reads_push(struct reads_walk *w, int base, uint64_t add)
{
	w->stack[w->depth++] = (struct reads_symbol){ base, add };
}

/* Copies of entries are made, too: all are in use. */
static void walk_unknown(struct reads_walk *w, const struct rpn_op *op)
{
	for (int i = 0; i < w->depth; i++) {
		symbol_use(w, &w->stack[i]);
		if (i >= w->depth - op->pops)
			w->stack[i].base = BASE_UNKNOWN;
	}
	w->depth -= op->pops;
	for (int i = 0; i < op->pushes; i++)
		reads_push(w, BASE_UNKNOWN, 0);
}

static void walk_sum(struct reads_walk *w, const struct rpn_op *op)
{
	struct reads_symbol *b = reads_top(w), *a = b - 1;

	if (op->code == RPN_plus && a->base == BASE_CONST) {
		b->add += a->add;
		*a = *b;
		w->depth--;
	} else if (b->base == BASE_CONST) {
		a->add += op->code == RPN_plus ? b->add : -b->add;
		w->depth--;
	} else {
		walk_unknown(w, op);
	}
}

static void walk_deref(struct reads_walk *w, uint32_t bytes, size_t at)
{
	int read = read_walk(w, reads_top(w), bytes, at);

	*reads_top(w) = (struct reads_symbol){
		read < 0 ? BASE_UNKNOWN : BASE_READ + read, 0,
	};
}

const struct body_offset *reads_offset_find(const struct plan *plan,
					    const uint8_t *rpn, size_t at)
{
	const struct body_target *target = plan->target;

	for (uint32_t i = 0; i < target->offset_count; i++)
		if (plan->tdf->rpn + target->offsets[i].at == rpn + at &&
		    target->offsets[i].word != BODY_OFFSET_NONE)
			return &target->offsets[i];
	return NULL;
}

const struct body_register *reads_register_find(const struct plan *plan,
						const uint8_t *rpn, size_t at)
{
	const struct body_target *target = plan->target;

	for (uint32_t i = 0; i < target->register_count; i++)
		if (!target->registers[i].item &&
		    plan->tdf->rpn + target->registers[i].at == rpn + at &&
		    target->registers[i].word != BODY_OFFSET_NONE)
			return &target->registers[i];
	return NULL;
}

const struct body_register *reads_item_register_find(const struct plan *plan,
						     uint32_t stmt)
{
	const struct body_target *target = plan->target;

	for (uint32_t i = 0; i < target->register_count; i++)
		if (target->registers[i].item &&
		    target->registers[i].at == stmt &&
		    target->registers[i].word != BODY_OFFSET_NONE)
			return &target->registers[i];
	return NULL;
}

const struct body_length *reads_length_find(const struct plan *plan,
					    uint32_t stmt)
{
	const struct body_target *target = plan->target;

	for (uint32_t i = 0; i < target->length_count; i++)
		if (target->lengths[i].stmt == stmt)
			return &target->lengths[i];
	return NULL;
}

/* What is at equal offsets from an equal base is at the same pointer. */
static void walk_offset(struct reads_walk *w, const struct body_offset *offset)
{
	struct reads_symbol *top = reads_top(w);
	struct reads *reads = w->reads;
	int i = 0;

	while (i < reads->offset_count &&
	       (reads->offsets[i].base != top->base ||
		reads->offsets[i].add != top->add ||
		reads->offsets[i].word != offset->word))
		i++;
	if (top->base == BASE_UNKNOWN || i == READS_OFFSETS) {
		symbol_use(w, top);
		*top = (struct reads_symbol){ BASE_UNKNOWN, 0 };
		return;
	}
	if (i == reads->offset_count)
		reads->offsets[reads->offset_count++] = (struct read_offset){
			top->base, top->add, offset->word,
		};
	*top = (struct reads_symbol){ BASE_OFFSET + i, offset->rest };
}

/* The offset of the operation, which may be in the map */
static void walk_add(struct reads_walk *w, const uint8_t *rpn, size_t at,
		     uint64_t add)
{
	const struct body_offset *offset = reads_offset_find(w->plan, rpn, at);

	if (offset)
		walk_offset(w, offset);
	else
		reads_top(w)->add += add;
}

static int register_base(const struct plan *plan, const uint8_t *rpn, size_t at,
			 uint64_t number)
{
	const struct body_register *reg = reads_register_find(plan, rpn, at);

	if (reg)
		return reg->word < WORDS ? BASE_WORD + (int)reg->word :
		       BASE_UNKNOWN;
	return number < REGISTERS ? BASE_REGISTER + (int)number : BASE_UNKNOWN;
}

static void walk_op(struct reads_walk *w, const uint8_t *rpn,
		    const struct rpn_op *op)
{
	uint64_t number;
	int64_t value;

	if (rpn_is_constant(op, &value)) {
		reads_push(w, BASE_CONST, value);
		return;
	}
	if (rpn_is_register(op, &number, &value)) {
		reads_push(w, register_base(w->plan, rpn, op->at, number), 0);
		walk_add(w, rpn, op->at, value);
		return;
	}
	switch (op->code) {
	case RPN_addr:
		reads_push(w, BASE_MODULE, 0);
		walk_add(w, rpn, op->at, op->a);
		break;
	case RPN_plus_uconst:
		walk_add(w, rpn, op->at, op->a);
		break;
	case RPN_plus: case RPN_minus:
		walk_sum(w, op);
		break;
	case RPN_deref:
		walk_deref(w, 8, op->at);
		break;
	case RPN_deref_size:
		walk_deref(w, op->a, op->at);
		break;
	default:
		walk_unknown(w, op);
	}
}

/* Up to the first jump: what follows may not be read. */
static void reads_walk_stmt(struct reads_walk *w, const struct tdf_stmt *stmt)
{
	const uint8_t *rpn = w->plan->tdf->rpn + stmt->rpn;
	struct rpn_op op = { 0 };

	w->depth = w->event = 0;
	while (rpn_next(rpn, stmt->rpn_length, &op)) {
		walk_op(w, rpn, &op);
		if (op.operand == RPN_JUMP)
			return;
	}
	if (stmt->kind == TDF_STMT_MEM && !reads_length_find(w->plan, w->stmt)) {
		int read =
			read_walk(w, reads_top(w), stmt->length, READS_BYTES);

		if (read >= 0)
			base_use(w, BASE_READ + read,
				 TIME(w->stmt, w->event));
		return;
	}
	symbol_use(w, reads_top(w));
}

static void walk_all(struct plan *plan, bool again)
{
	struct reads_walk w = {
		.plan = plan, .reads = &plan->reads, .again = again,
	};
	const struct tdf_site *site = plan->site;
	const struct tdf_stmt *stmt = plan->tdf->stmts + site->first_stmt;

	for (__u32 i = 0; i < site->stmts; i++, stmt++) {
		w.stmt = site->first_stmt + i;
		if ((stmt->kind == TDF_STMT_MEM ||
		     stmt->kind == TDF_STMT_VALUE ||
		     stmt->kind == TDF_STMT_ASCIIZ) &&
		    !(stmt->flags & (TDF_STMT_LEN | TDF_STMT_SEGMENT)))
			reads_walk_stmt(&w, stmt);
	}
}

/* Words of the frame, where the first byte is as aligned as in memory */
static int reads_words(int64_t first, int64_t end)
{
	return ((first & (WORD - 1)) + end - first + WORD - 1) / WORD;
}

static bool room_suffices(struct reads *reads, int64_t from, int64_t to)
{
	if (reads_words(from, to) <= reads->room)
		return true;
	reads->cramped = true;
	return false;
}

/* Join what is near the first, as long as there is something; how often it's
 * wanted. */
static int span_grow(struct reads *reads, int index, struct read_span *span)
{
	const struct read *first = &reads->reads[index];
	int events = first->events;
	bool grown;

	do {
		grown = false;
		for (int i = index + 1; i < reads->count; i++) {
			struct read *r = &reads->reads[i];
			int64_t from = r->add, to = from + r->bytes;

			from = from < span->from ? from : span->from;
			to = to > span->to ? to : span->to;
			if (r->base != first->base || r->span >= 0 ||
			    to - from > SPAN_BYTES ||
			    !room_suffices(reads, from, to))
				continue;
			*span = (struct read_span){ .from = from, .to = to };
			r->span = reads->span_count;
			events += r->events;
			grown = true;
		}
	} while (grown);
	return events;
}

/* What is read once only stays by itself. */
static void spans_find(struct reads *reads)
{
	for (int i = 0; i < reads->count; i++) {
		struct read *r = &reads->reads[i];
		struct read_span *span = &reads->spans[reads->span_count];

		if (r->span >= 0)
			continue;
		*span = (struct read_span){
			.from = r->add, .to = (int64_t)r->add + r->bytes,
		};
		if (span_grow(reads, i, span) < 2 ||
		    !room_suffices(reads, span->from, span->to))
			continue;
		r->span = reads->span_count++;
	}
}

/* The first words that nothing has at this time; false: there are none. */
static bool span_place(struct reads *reads, int index)
{
	struct read_span *span = &reads->spans[index];
	int count = reads_words(span->from, span->to), i;

	for (span->word = 0; span->word + count <= reads->room; span->word++) {
		for (i = 0; i < index; i++) {
			const struct read_span *s = &reads->spans[i];

			if (!s->dropped && s->first < span->last &&
			    span->first < s->last &&
			    s->word < span->word + count &&
			    span->word < s->word + reads_words(s->from, s->to))
				break;
		}
		if (i == index)
			return true;
	}
	return false;
}

static void span_drop(struct reads *reads, int index)
{
	reads->spans[index].dropped = reads->cramped = true;
	for (int i = 0; i < reads->count; i++)
		if (reads->reads[i].span == index)
			reads->reads[i].span = -1;
}

/* What a span that is dropped would have kept is needed longer. */
static bool spans_place(struct plan *plan)
{
	struct reads *reads = &plan->reads;

	for (int i = 0; i < reads->span_count; i++)
		reads->spans[i].first = reads->spans[i].last = -1;
	walk_all(plan, true);
	for (int i = 0; i < reads->span_count; i++) {
		if (!reads->spans[i].dropped && !span_place(reads, i)) {
			span_drop(reads, i);
			return false;
		}
	}
	return true;
}

void reads_plan(struct plan *plan, int room)
{
	struct reads *reads = &plan->reads;

	reads->count = reads->event_count = reads->span_count = 0;
	reads->offset_count = 0;
	reads->room = room;
	reads->cramped = false;
	if (!plannable(plan))
		return;
	walk_all(plan, false);
	spans_find(reads);
	while (!spans_place(plan))
		;
}

const struct read *reads_find(const struct reads *reads, int stmt, size_t at)
{
	int read = event_find(reads, stmt, at);

	return read < 0 || reads->reads[read].span < 0 ? NULL :
	       &reads->reads[read];
}

int reads_span_bytes(const struct read_span *span)
{
	return WORD * reads_words(span->from, span->to);
}
