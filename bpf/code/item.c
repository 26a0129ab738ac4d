// SPDX-License-Identifier: GPL-2.0
/* The items of a record: data statements -> code. */
#include "gen.h"

#include <errno.h>

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* The same with RAS_ITEM_PAGED_IN, where the record is taken again and what the
 * item needs was brought in; and with the item's own flags. */
static void item_state_store(struct gen *gen, const struct gen_place *place,
			     int status)
{
	struct code *c = gen->c;
	int bits;

	status |= gen->item->flags;
	if (gen->version != VERSION_AGAIN) {
		item_status_store(gen, place, status);
		return;
	}
	bits = paging_bits_reg(gen);
	code_alu_imm(c, BPF_AND, bits, WALK_PAGED_IN);
	code_alu_imm(c, BPF_MUL, bits, RAS_ITEM_PAGED_IN / WALK_PAGED_IN);
	code_alu_imm(c, BPF_OR, bits, status);
	code_store(c, 1, place->base, place->off + ITEM_AT(status), bits);
}

static void length_store(struct gen *gen, const struct gen_place *place,
			 int length)
{
	code_store(gen->c, 2, place->base, place->off + ITEM_AT(length),
		   length);
}

/* A register that the data is data_off after */
static int data_reg(const struct gen *gen)
{
	return gen->plan->data_moves ? gen->data : RECORD;
}

/* The budget leaves nothing: the item is not looked at. */
static void limit_none(struct gen *gen, code_label none, int status,
		       code_label done)
{
	const struct gen_place *place = &gen->place;
	struct code *c = gen->c;

	code_rare_begin(c);
	code_label_place(c, none);
	item_status_store(gen, place, status | RAS_ITEM_CUT);
	code_store_imm(c, 2, place->base, place->off + ITEM_AT(length), 0);
	record_flag_set(gen, RAS_RECORD_CUT);
	if (place->base != PLACE)
		code_move(c, PLACE, place->base);
	code_jump(c, done);
	code_rare_end(c);
}

/* A temp with the bytes that the items before left of the budget; it may be below
 * 0. */
static int item_left(struct gen *gen)
{
	struct code *c = gen->c;
	int used = code_temp_new(c), left;

	item_place_load(gen, &gen->place, 0, used);
	code_alu(c, BPF_SUB, used, data_reg(gen));
	left = temp_const(gen, gen->plan->budget + gen->data_off +
			       gen->item->fixed);
	code_alu(c, BPF_SUB, left, used);
	return left;
}

/*
 * Bounds that a comparison shows hold for the register that is compared. A temp
 * that is kept across calls is in the frame, and what is loaded from there again
 * has the bounds that it was stored with: so a length is compared in one temp,
 * and then kept in another one.
 *
 * A temp with what this item may take: its limit, or what the items before left
 * of the budget.
 */
static int item_limit(struct gen *gen, int status, uint32_t limit,
		      code_label done)
{
	code_label none = code_label_new(gen->c);
	code_label small = code_label_new(gen->c);
	struct code *c = gen->c;
	int left = item_left(gen);

	code_jump_imm(c, BPF_JSLE, left, 0, none);
	limit_none(gen, none, status, done);
	code_jump_imm(c, BPF_JLE, left, limit, small);
	code_const(c, left, limit);
	code_label_place(c, small);
	return code_copy(c, left);
}

/*
 * An item of `length` bytes (a register) has been placed: the next one's place
 * depends on it.
 */
static void item_place_advance(struct gen *gen, int length)
{
	struct code *c = gen->c;

	if (gen->place.base != PLACE)
		code_move(c, PLACE, gen->place.base);
	code_alu(c, BPF_ADD, PLACE, length);
	gen->place = (struct gen_place){
		PLACE, gen->place.off + RAS_ITEM_PREFIX,
	};
}

/*
 * Where items may be cut by the budget, the sum of their limits is more than
 * the record has room for: show the verifier what they came to. It also makes
 * the ways through an item, faults and all, one again. Where there are many
 * items that is done for this alone: the ways through items of any length add up.
 */
#define ITEMS_FEW	8

static bool bound_wanted(const struct gen *gen)
{
	bool any = gen->item->kind == ITEM_VARIABLE ||
		   gen->item->kind == ITEM_STRING;

	return gen->item->budget || fault_goes_on(gen) ||
	       (any && gen->plan->item_count > ITEMS_FEW);
}

static void place_bound(struct gen *gen)
{
	int sum = code_copy(gen->c, PLACE), data = data_reg(gen);
	struct code *c = gen->c;

	code_alu(c, BPF_SUB, sum, data);
	code_alu_imm(c, BPF_AND, sum, gen->plan->spread);
	code_move(c, PLACE, data);
	code_alu(c, BPF_ADD, PLACE, sum);
}

/* An item of constant length has been placed. */
static void place_step(struct gen *gen, uint32_t length)
{
	if (!fault_goes_on(gen)) {
		gen->place.off += RAS_ITEM_PREFIX + length;
		return;
	}
	if (gen->place.base != PLACE)
		code_move(gen->c, PLACE, gen->place.base);
	code_alu_imm(gen->c, BPF_ADD, PLACE, length);
	gen->place.base = PLACE;
	gen->place.off += RAS_ITEM_PREFIX;
}

void item_value_generate(struct gen *gen, const struct tdf_stmt *stmt,
			 struct gen_value *result)
{
	const uint8_t *rpn = gen->plan->tdf->rpn + stmt->rpn;
	bool whole = stmt->kind == TDF_STMT_MEM &&
		     !(stmt->flags & TDF_STMT_LEN);

	kept_clear(gen, stmt);
	if (stmt->flags & TDF_STMT_SEGMENT)
		rpn_far_generate(gen, rpn, stmt->rpn_length,
				 whole ? stmt->length : 1, result);
	else
		rpn_generate(gen, rpn, stmt->rpn_length, result);
	kept_store(gen, stmt, result);
}

void item_length_generate(struct gen *gen, const struct tdf_stmt *stmt,
			  struct gen_value *result)
{
	const uint8_t *rpn = gen->plan->tdf->rpn + stmt->len_rpn;
	code_slot slot;

	if (stmt->flags & TDF_STMT_LEN_SEGMENT)
		rpn_far_generate(gen, rpn, stmt->len_rpn_length,
				 stmt->len_bytes, result);
	else
		rpn_generate(gen, rpn, stmt->len_rpn_length, result);
	if (stmt->flags & TDF_STMT_LEN_VALUE)
		return;
	slot = code_slot_new(gen->c, stmt->len_bytes);
	read_to_slot(gen, slot, 0, stmt->len_bytes, result);
	*result = value_slot(slot, 0, stmt->len_bytes);
}

/* Status and length, four bytes at once: the data overwrites the fourth. */
static void item_prefix(struct gen *gen, uint32_t length)
{
	int status = RAS_ITEM_VALUE | gen->item->flags;

	code_store_imm(gen->c, 4, gen->place.base, gen->place.off,
		       status | length << 8);
	if (gen->version == VERSION_AGAIN)
		item_state_store(gen, &gen->place, RAS_ITEM_VALUE);
}

/* What has been read to the slot, `more` bytes after the item's place. Loads of
 * the frame are aligned. */
static void item_copy(struct gen *gen, uint32_t more, code_slot slot, int from,
		      uint32_t bytes)
{
	int to = gen->place.off + (int)more, size;

	for (uint32_t at = 0; at < bytes; at += size) {
		int word = code_temp_new(gen->c);

		size = 8;
		while ((uint32_t)size > bytes - at || (from + (int)at) % size)
			size /= 2;
		code_slot_load(gen->c, size, word, slot, from + at);
		code_store(gen->c, size, gen->place.base, to + at, word);
	}
}

/* May so many bytes be read to the frame first? What fails is taken again. */
static bool detour_fits(const struct gen *gen, uint32_t bytes)
{
	return gen->version == VERSION_FIRST &&
	       bytes <= (uint32_t)gen->plan->frame.detour &&
	       !direct_fits(gen, bytes);
}

/* `more` bytes after the item's place */
static void memory_generate(struct gen *gen, const struct gen_value *address,
			    uint32_t bytes, uint32_t more, bool detour)
{
	code_slot slot;
	int off = 0;

	if (read_span_take(gen, READS_BYTES, address, &slot, &off)) {
		item_copy(gen, more, slot, off, bytes);
	} else if (detour && detour_fits(gen, bytes)) {
		slot = code_slot_new(gen->c, (bytes + 7) & ~7u);
		read_to_slot(gen, slot, 0, bytes, address);
		item_copy(gen, more, slot, 0, bytes);
	} else {
		read_to_record(gen, &gen->place, more, bytes, address);
	}
}

/* Constant length */
static void item_plain(struct gen *gen, const struct tdf_stmt *stmt)
{
	struct gen_value address;

	item_value_generate(gen, stmt, &address);
	item_prefix(gen, stmt->length);
	memory_generate(gen, &address, stmt->length, RAS_ITEM_PREFIX, true);
	place_step(gen, stmt->length);
}

/* A sum in this order: the verifier of 6.18 keeps of a register with a constant
 * added that it is that far from the other one, and doesn't let lengths be that
 * are far from anything. */
static void length_load(struct gen *gen, const struct gen_value *value, int reg)
{
	struct gen_value from = *value;

	if (!value->add || value->kind == VALUE_CONST) {
		gen_value_load(gen, value, reg);
		return;
	}
	from.add = 0;
	code_const(gen->c, reg, value->add);
	code_alu(gen->c, BPF_ADD, reg, value_reg(gen, &from));
}

/* A temp with the length that LEN yields, at most `limit` */
static int item_generate_length(struct gen *gen, const struct tdf_stmt *stmt,
				uint32_t limit)
{
	code_label cut = code_label_new(gen->c), back = code_label_new(gen->c);
	struct code *c = gen->c;
	int length = code_temp_new(c);
	struct gen_value value;

	item_length_generate(gen, stmt, &value);
	item_state_store(gen, &gen->place, RAS_ITEM_VALUE);
	length_load(gen, &value, length);
	code_jump_imm(c, BPF_JGT, length, limit, cut);
	code_rare_begin(c);
	code_label_place(c, cut);
	item_state_store(gen, &gen->place, RAS_ITEM_VALUE | RAS_ITEM_CUT);
	code_const(c, length, limit);
	code_jump(c, back);
	code_rare_end(c);
	code_label_place(c, back);
	return length;
}

/* The same with the length in the map; what is above the limit isn't there. */
static int length_of_site(struct gen *gen, const struct body_length *own,
			  uint32_t limit)
{
	code_label above = code_label_new(gen->c), back = code_label_new(gen->c);
	int length = temp_load(gen, 8, gen->offsets, 8 * own->word);
	struct code *c = gen->c;

	code_jump_imm(c, BPF_JGT, length, limit, above);
	code_rare_begin(c);
	code_label_place(c, above);
	code_const(c, length, limit);
	code_jump(c, back);
	code_rare_end(c);
	code_label_place(c, back);
	return length;
}

/*
 * The part of `length` that the budget leaves, `limit`. What may be a constant is
 * on the right: on the left the verifier of 6.1 doesn't compare it with the
 * other's bounds, and goes ways that can't be gone.
 */
static void budget_cut(struct gen *gen, int length, int limit)
{
	code_label cut = code_label_new(gen->c), back = code_label_new(gen->c);
	struct code *c = gen->c;

	code_jump_if(c, BPF_JLT, limit, length, cut);
	code_rare_begin(c);
	code_label_place(c, cut);
	item_state_store(gen, &gen->place, RAS_ITEM_VALUE | RAS_ITEM_CUT);
	record_flag_set(gen, RAS_RECORD_CUT);
	code_move(c, length, limit);
	code_jump(c, back);
	code_rare_end(c);
	code_label_place(c, back);
}

/* The segment has `bytes` bytes from the address on, or it is a bad one. */
static void item_room_check(struct gen *gen, int bytes)
{
	const struct gen_value far = value_slot(gen->far, 0, 8);
	code_label bad = code_label_new(gen->c);
	struct code *c = gen->c;

	code_jump_if(c, BPF_JLT, gen->room, bytes, bad);
	code_rare_begin(c);
	code_label_place(c, bad);
	fault_raise(gen, &far, RAS_ITEM_SELECTOR);
	code_rare_end(c);
}

/*
 * A length known at run time only. Zero is an empty item, its address isn't
 * looked at. PLACE is advanced before that is tested, so that both ways have
 * the same bounds. One byte above the limit is enough to see that the budget
 * cuts.
 */
static void variable_item(struct gen *gen, const struct tdf_stmt *stmt,
			  code_label done)
{
	const struct body_length *own =
		reads_length_find(gen->plan, gen->item->first);
	uint32_t most = min_u32(own ? own->most : stmt->length,
				gen->item->limit + 1);
	struct gen_place item = gen->place, next;
	struct code *c = gen->c;
	struct gen_value address;
	int limit = 0, length;

	if (gen->item->budget)
		limit = item_limit(gen, RAS_ITEM_VALUE, gen->item->limit, done);
	if (stmt->flags & TDF_STMT_LEN) {
		length = item_generate_length(gen, stmt, most);
	} else {
		item_state_store(gen, &item, RAS_ITEM_VALUE);
		length = own ? length_of_site(gen, own, most) :
			       temp_const(gen, most);
	}
	if (gen->item->budget)
		budget_cut(gen, length, limit);
	length = code_copy(c, length);
	length_store(gen, &item, length);
	if (item.base == PLACE)
		item.base = code_copy(c, PLACE);
	item_place_advance(gen, length);
	if (!own)	/* what the map has isn't 0 */
		code_jump_imm(c, BPF_JEQ, length, 0, done);

	next = gen->place;
	gen->place = item;
	item_value_generate(gen, stmt, &address);
	if (stmt->flags & TDF_STMT_SEGMENT)
		item_room_check(gen, length);
	if (own)
		read_counted(gen, &item, RAS_ITEM_PREFIX, own->most, length,
			     &address);
	else
		read_variable(gen, &item, RAS_ITEM_PREFIX, length, &address);
	gen->place = next;
}

/* 1 if it isn't 0; without a branch, as there are many of them */
static void is_set(struct code *c, int reg)
{
	int negative = code_copy(c, reg);

	code_alu_imm(c, BPF_NEG, negative, 0);
	code_alu(c, BPF_OR, reg, negative);
	code_alu_imm(c, BPF_RSH, reg, 63);
}

static void value_piece(struct gen *gen, const struct tdf_stmt *stmt,
			uint32_t more)
{
	uint32_t bytes = stmt->length;
	int reg = code_temp_new(gen->c);
	struct gen_value value;

	if (bytes & (bytes - 1))	/* what follows overwrites the rest */
		bytes = PLAN_VALUE_BYTES;
	if (!choose_block_value(gen, stmt, reg)) {
		item_value_generate(gen, stmt, &value);
		gen_value_load(gen, &value, reg);
		if ((stmt->flags & TDF_STMT_OLD) == TDF_STMT_SIZE)
			call_size_load(gen, reg);
		if (stmt->reg && bytes == 1)
			is_set(gen->c, reg);
	}
	code_store(gen->c, bytes, gen->place.base, gen->place.off + (int)more,
		   reg);
}

static void item_pieces(struct gen *gen, uint32_t more)
{
	const struct tdf_stmt *stmt =
		&gen->plan->tdf->stmts[gen->item->first];
	struct gen_value address;

	for (uint32_t i = gen->item->first; i < gen->item->end; i++, stmt++) {
		gen_note(gen, i);
		if (stmt->kind == TDF_STMT_MEM) {
			item_value_generate(gen, stmt, &address);
			memory_generate(gen, &address, stmt->length, more,
					false);
		} else {
			value_piece(gen, stmt, more);
		}
		more += stmt->length;
	}
}

/* Pieces are read whole, then cut; faults leave nothing of them. */
static void sum_item(struct gen *gen, code_label done)
{
	uint32_t bytes = gen->item->bytes;
	int limit, length;

	if (!gen->item->budget) {
		item_prefix(gen, bytes);
		item_pieces(gen, RAS_ITEM_PREFIX);
		place_step(gen, bytes);
		return;
	}
	limit = item_limit(gen, RAS_ITEM_VALUE, gen->item->limit, done);
	item_state_store(gen, &gen->place, RAS_ITEM_VALUE);
	item_pieces(gen, RAS_ITEM_PREFIX);
	length = temp_const(gen, bytes);
	budget_cut(gen, length, limit);
	length_store(gen, &gen->place, length);
	item_place_advance(gen, length);
}

/* A string that is read: its address, and the most bytes of it, without the zero:
 * those that the budget leaves are in a temp. */
struct item_string {
	struct gen_value address;
	uint32_t most;
	int limit;		/* with a budget */
	int length;		/* what the helper returned */
};

static void string_limit_load(struct gen *gen, const struct item_string *s,
			      int reg)
{
	if (gen->item->budget)
		code_move(gen->c, reg, s->limit);
	else
		code_alu_imm(gen->c, BPF_MOV, reg, s->most);
}

/*
 * The empty string: 6.1 and 6.12 return 0, 6.18 returns 1. A string that can't
 * be read may still have as many bytes as are wanted, up to the end of its
 * page: then it is one that goes on.
 */
static void string_empty_or_fault(struct gen *gen, const struct item_string *s,
				  code_label back)
{
	code_label fault = code_label_new(gen->c);
	struct code *c = gen->c;

	code_jump_imm(c, BPF_JSLT, s->length, 0, fault);
	code_const(c, s->length, 1);
	code_jump(c, back);
	code_label_place(c, fault);
	if (gen->version != VERSION_FIRST) {
		item_place_load(gen, &gen->place, RAS_ITEM_PREFIX, R1);
		string_limit_load(gen, s, R2);
		read_call(gen, false, &s->address);
		fault = code_label_new(c);
		code_jump_imm(c, BPF_JNE, R0, 0, fault);
		string_limit_load(gen, s, s->length);
		code_alu_imm(c, BPF_ADD, s->length, 2);
		code_jump(c, back);
		code_label_place(c, fault);
	}
	fault_unreadable(gen, &s->address);
}

static void string_cut(struct gen *gen, const struct item_string *s,
		       code_label back)
{
	struct code *c = gen->c;

	item_state_store(gen, &gen->place, RAS_ITEM_STRING | RAS_ITEM_CUT);
	string_limit_load(gen, s, s->length);
	if (gen->item->budget) {
		code_jump_imm(c, BPF_JEQ, s->length, s->most, back);
		record_flag_set(gen, RAS_RECORD_CUT);
	}
	code_jump(c, back);
}

/* s->length = length without the zero, at most the limit */
static void string_length_find(struct gen *gen, const struct item_string *s)
{
	code_label odd = code_label_new(gen->c), read = code_label_new(gen->c);
	code_label cut = code_label_new(gen->c), done = code_label_new(gen->c);
	struct code *c = gen->c;

	code_jump_imm(c, BPF_JSLE, s->length, 0, odd);
	code_rare_begin(c);
	code_label_place(c, odd);
	string_empty_or_fault(gen, s, read);
	code_rare_end(c);
	code_label_place(c, read);
	code_alu_imm(c, BPF_SUB, s->length, 1);
	if (gen->item->budget)
		code_jump_if(c, BPF_JLT, s->limit, s->length, cut);
	else
		code_jump_imm(c, BPF_JGT, s->length, s->most, cut);
	code_rare_begin(c);
	code_label_place(c, cut);
	string_cut(gen, s, done);
	code_rare_end(c);
	code_label_place(c, done);
}

/* The limit, or what the segment has from the address on if that's less */
static int string_room(struct gen *gen, int limit)
{
	code_label enough = code_label_new(gen->c);
	struct code *c = gen->c;
	int bytes = code_copy(c, limit);

	code_jump_if(c, BPF_JLE, bytes, gen->room, enough);
	code_move(c, bytes, gen->room);
	/* for the verifier of 6.1, which goes there though it can't be */
	code_alu_imm(c, BPF_AND, bytes, TDF_DATA_MAX - 1);
	code_label_place(c, enough);
	return code_copy(c, bytes);
}

/* All of the detour is copied: what the string doesn't fill is zeros, nothing of
 * the kernel's. */
static code_slot string_slot_clear(struct gen *gen, uint32_t bytes)
{
	code_slot slot = code_slot_new(gen->c, (bytes + 7) & ~7u);

	for (uint32_t off = 0; off < bytes; off += 8)
		code_slot_store_imm(gen->c, 8, slot, off, 0);
	return slot;
}

/*
 * Two bytes more than the limit are read: one for the zero, one to
 * distinguish a string that fits exactly from a longer one.
 */
static void string_item(struct gen *gen, const struct tdf_stmt *stmt,
			code_label done)
{
	uint32_t limit = gen->item->limit;
	bool budget = gen->item->budget;
	bool detour = false;
	struct item_string s = { .most = min_u32(stmt->length, limit + 1) };
	struct code *c = gen->c;
	code_slot slot = 0;

	if (budget)
		s.limit = item_limit(gen, RAS_ITEM_STRING, limit, done);
	item_value_generate(gen, stmt, &s.address);
	if (stmt->flags & TDF_STMT_SEGMENT)
		s.limit = string_room(gen, s.limit);
	if (budget || !read_string_direct(gen, &gen->place, RAS_ITEM_PREFIX,
					  limit + 2, &s.address)) {
		detour = !budget && detour_fits(gen, limit + 2);
		if (detour) {
			slot = string_slot_clear(gen, limit + 2);
			code_slot_address(c, R1, slot, 0);
		} else {
			item_place_load(gen, &gen->place, RAS_ITEM_PREFIX, R1);
		}
		if (budget) {
			code_move(c, R2, s.limit);
			code_alu_imm(c, BPF_ADD, R2, 2);
		} else {
			code_alu_imm(c, BPF_MOV, R2, limit + 2);
		}
		read_call(gen, true, &s.address);
	}
	s.length = code_copy(c, R0);
	item_state_store(gen, &gen->place, RAS_ITEM_STRING);
	string_length_find(gen, &s);
	if (detour)
		item_copy(gen, RAS_ITEM_PREFIX, slot, 0, limit);
	length_store(gen, &gen->place, s.length);
	item_place_advance(gen, s.length);
}

static void register_item(struct gen *gen, const struct tdf_stmt *stmt)
{
	const struct body_register *own =
		reads_item_register_find(gen->plan, gen->item->first);
	struct gen_register reg = gen_register_find(gen, stmt->reg);
	bool excess = reg.ip && gen_ip_excess(gen);
	int value;

	if (reg.bytes < stmt->reg_bytes)
		gen_fail(gen, -EINVAL, "register %u is not that wide",
			 stmt->reg);
	if (own)
		value = gen_register_load(gen, own, stmt->reg_bytes);
	else
		value = temp_load(gen, excess ? 8 : stmt->reg_bytes, CONTEXT,
				  reg.offset);
	if (excess)
		code_alu_imm(gen->c, BPF_SUB, value, gen_ip_excess(gen));
	code_store(gen->c, stmt->reg_bytes, gen->place.base, gen->place.off,
		   value);
	gen->place.off += stmt->reg_bytes;
}

/* With a prefix, which says what became of it */
static void prefixed_item(struct gen *gen, const struct tdf_stmt *stmt)
{
	code_label done = code_label_new(gen->c);

	fault_item_begin(gen);
	switch (gen->item->kind) {
	case ITEM_STRING:
		string_item(gen, stmt, done);
		break;
	case ITEM_SUM:
		sum_item(gen, done);
		break;
	case ITEM_VARIABLE:
		variable_item(gen, stmt, done);
		break;
	default:
		item_plain(gen, stmt);
	}
	code_label_place(gen->c, done);
	fault_item_end(gen, done);
	if (bound_wanted(gen))
		place_bound(gen);
}

static void absent_item(struct gen *gen, const struct tdf_stmt *stmt)
{
	kept_clear(gen, stmt);
	code_store_imm(gen->c, 4, gen->place.base, gen->place.off,
		       RAS_ITEM_ABSENT | gen->item->flags);
	gen->place.off += RAS_ITEM_PREFIX;
}

/* Without a prefix a fault can't be reported: the record ends before the item. */
static void raw_item(struct gen *gen)
{
	gen->fault = (struct gen_fault){ gen->raw_fault, true };
	item_pieces(gen, 0);
	gen->place.off += (int)gen->item->bytes;
}

void item_generate(struct gen *gen, const struct plan_item *item)
{
	const struct tdf_stmt *stmt = &gen->plan->tdf->stmts[item->first];

	gen->item = item;
	gen_note(gen, item->first);
	switch (item->kind) {
	case ITEM_REG:
		register_item(gen, stmt);
		break;
	case ITEM_ABSENT:
		absent_item(gen, stmt);
		break;
	case ITEM_STACK:
		stack_generate(gen, stmt, item->depth,
			       item->budget ? item_left(gen) : -1);
		if (item->budget)
			place_bound(gen);
		break;
	case ITEM_RAW:
		raw_item(gen);
		break;
	default:
		prefixed_item(gen, stmt);
	}
	gen->item = NULL;
}
