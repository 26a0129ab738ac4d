// SPDX-License-Identifier: GPL-2.0
/*
 * What can't be read, or computed. These are rare paths. Where one comes back,
 * the verifier must have walked the straight line with the wider bounds before:
 * it follows the fall through first, and then has nothing new to walk. Else 20
 * strings were 2^20 ways.
 */
#include "gen.h"

/* Does memory that can't be read give the record up? */
static bool given_up(const struct gen *gen)
{
	return gen->version == VERSION_FIRST && gen->fault.stored;
}

/* Four bits for each combination of WALK_LEFT and WALK_UNREADABLE; none of them:
 * it was not tried. */
#define STATUS_BY_WALK	(RAS_ITEM_NOT_TRIED | \
			 RAS_ITEM_LEFT << 4 * WALK_LEFT | \
			 RAS_ITEM_FAULT << 4 * WALK_UNREADABLE | \
			 RAS_ITEM_LEFT << 4 * (WALK_LEFT | WALK_UNREADABLE))

/* gen->fault_status = why memory couldn't be read */
static void fault_status_find(struct gen *gen)
{
	int status = gen->fault_status, bits;
	struct code *c = gen->c;

	if (gen->version != VERSION_AGAIN) {
		code_const(c, status,
			   gen->plan->target->context == BODY_KPROBE ?
			   RAS_ITEM_FAULT : RAS_ITEM_NOT_TRIED);
		return;
	}
	bits = paging_bits_reg(gen);
	code_alu_imm(c, BPF_AND, bits, WALK_LEFT | WALK_UNREADABLE);
	code_alu_imm(c, BPF_MUL, bits, 4);
	code_const(c, status, STATUS_BY_WALK);
	code_alu(c, BPF_RSH, status, bits);
	code_alu_imm(c, BPF_AND, status, 0x0f);
}

/* The pointer and the status are there. */
static void fault_leave(struct gen *gen)
{
	item_place_load(gen, &gen->place, 0, PLACE);
	if (gen->item->flags)
		code_alu_imm(gen->c, BPF_OR, gen->fault_status,
			     gen->item->flags);
	code_jump(gen->c, gen->fault.to);
}

void fault_unreadable(struct gen *gen, const struct gen_value *value)
{
	if (given_up(gen)) {
		code_jump(gen->c, gen->absent);
		return;
	}
	if (!gen->fault.stored) {
		code_jump(gen->c, gen->fault.to);
		return;
	}
	value_address_load(gen, value, gen->fault_pointer);
	fault_status_find(gen);
	fault_leave(gen);
}

void fault_unreadable_if(struct gen *gen, int op, int reg, int32_t imm,
			 const struct gen_value *value)
{
	struct code *c = gen->c;
	code_label rare;

	if (given_up(gen) || !gen->fault.stored) {
		code_jump_imm(c, op, reg, imm, given_up(gen) ? gen->absent :
			      gen->fault.to);
		return;
	}
	rare = code_label_new(c);
	code_jump_imm(c, op, reg, imm, rare);
	code_rare_begin(c);
	code_label_place(c, rare);
	fault_unreadable(gen, value);
	code_rare_end(c);
}

/* Bad selector: the far pointer is kept; division by zero: `value`, 0 for most.
 * A record that may still be given up isn't gone on with: what is skipped may
 * have been read for others, and the fault would be counted twice. */
void fault_raise(struct gen *gen, const struct gen_value *value, int status)
{
	if (!gen->fault.stored) {
		code_jump(gen->c, gen->fault.to);
		return;
	}
	if (given_up(gen) && gen->plan->go_on) {
		code_jump(gen->c, gen->absent);
		return;
	}
	gen_value_load(gen, value, gen->fault_pointer);
	code_const(gen->c, gen->fault_status, status);
	fault_leave(gen);
}

void fault_raise_if(struct gen *gen, int op, int reg, int32_t imm,
		    const struct gen_value *value, int status)
{
	struct code *c = gen->c;
	code_label rare;

	if (!gen->fault.stored) {
		code_jump_imm(c, op, reg, imm, gen->fault.to);
		return;
	}
	rare = code_label_new(c);
	code_jump_imm(c, op, reg, imm, rare);
	code_rare_begin(c);
	code_label_place(c, rare);
	fault_raise(gen, value, status);
	code_rare_end(c);
}

/* The failing pointer instead of the item's data, at PLACE */
static void fault_store(struct gen *gen)
{
	struct code *c = gen->c;

	code_store(c, 1, PLACE, ITEM_AT(status), gen->fault_status);
	code_store_imm(c, 2, PLACE, ITEM_AT(length), PLAN_FAULT_BYTES);
	code_store(c, 8, PLACE, RAS_ITEM_PREFIX, gen->fault_pointer);
}

/* RAS_FAULT_* of each status, four bits each */
#define FAULT_BY_STATUS	(RAS_FAULT_UNREADABLE << 4 * RAS_ITEM_FAULT | \
			 RAS_FAULT_SELECTOR << 4 * RAS_ITEM_SELECTOR | \
			 RAS_FAULT_ABSENT << 4 * RAS_ITEM_LEFT | \
			 RAS_FAULT_ABSENT << 4 * RAS_ITEM_NOT_TRIED | \
			 RAS_FAULT_ARITHMETIC << 4 * RAS_ITEM_ARITHMETIC)

/* Computed, not branched to: the ways stay one. */
static void fault_count(struct gen *gen)
{
	code_label missing = code_label_new(gen->c);
	struct code *c = gen->c;
	int status = gen->fault_status, kind;

	record_flag_set(gen, RAS_RECORD_FAULT);
	why_row_load(gen, missing);
	code_alu_imm(c, BPF_AND, status, RAS_ITEM_KIND(~0));
	code_alu_imm(c, BPF_MUL, status, 4);
	kind = temp_const(gen, FAULT_BY_STATUS);
	code_alu(c, BPF_RSH, kind, status);
	code_alu_imm(c, BPF_AND, kind, RAS_FAULT_KINDS - 1);
	code_alu_imm(c, BPF_MUL, kind, 8);
	code_alu(c, BPF_ADD, R0, kind);
	code_atomic(c, BPF_ADD, R0, WHY_FAULT(0), temp_const(gen, 1));
	code_label_place(c, missing);
}

bool fault_goes_on(const struct gen *gen)
{
	return gen->plan->go_on && gen->version != VERSION_FIRST &&
	       gen->item->faults;
}

void fault_item_begin(struct gen *gen)
{
	gen->fault = (struct gen_fault){
		fault_goes_on(gen) ? code_label_new(gen->c) : gen->fault_ends,
		true,
	};
}

void fault_item_end(struct gen *gen, code_label done)
{
	struct code *c = gen->c;

	if (!fault_goes_on(gen))
		return;
	code_rare_begin(c);
	code_label_place(c, gen->fault.to);
	fault_store(gen);
	code_alu_imm(c, BPF_ADD, PLACE,
		     PLAN_FAULT_BYTES + RAS_ITEM_PREFIX - gen->place.off);
	fault_count(gen);
	code_jump(c, done);
	code_rare_end(c);
}

void fault_ends_generate(struct gen *gen, code_label finish)
{
	struct code *c = gen->c;

	code_rare_begin(c);
	code_label_place(c, gen->fault_ends);
	fault_store(gen);
	code_alu_imm(c, BPF_ADD, PLACE, RAS_ITEM_PREFIX + PLAN_FAULT_BYTES);
	code_label_place(c, gen->raw_fault);
	fault_count(gen);
	code_jump(c, finish);
	code_rare_end(c);
}
