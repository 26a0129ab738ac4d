// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that isn't resident: what bringing in came to, WALK_BITS bits for each
 * item in gen->bits.
 */
#include "gen.h"

#define ITEMS	21		/* those beyond share the last one's bits */
#define PAGED_IN_ALL	(0x1249249249249249 * WALK_PAGED_IN)

static int bits_shift(const struct gen *gen)
{
	uint32_t number = gen->item->number;

	return WALK_BITS * (int)((number < ITEMS ? number : ITEMS) - 1);
}

int paging_bits_reg(struct gen *gen)
{
	int bits = code_copy(gen->c, gen->bits);

	if (bits_shift(gen))
		code_alu_imm(gen->c, BPF_RSH, bits, bits_shift(gen));
	return bits;
}

void paging_bits_add(struct gen *gen, int reg)
{
	if (!gen->item)
		return;
	if (bits_shift(gen))
		code_alu_imm(gen->c, BPF_LSH, reg, bits_shift(gen));
	code_alu(gen->c, BPF_OR, gen->bits, reg);
}

void paging_bring_in(struct gen *gen, const struct gen_value *address,
		     int bytes, bool string)
{
	struct code *c = gen->c;

	value_address_load(gen, address, R1);
	code_move(c, R2, bytes);
	code_alu_imm(c, BPF_MOV, R3, string);
	code_call_label(c, gen->shared->bring, 3);
	paging_bits_add(gen, R0);
}

void paging_note(struct gen *gen)
{
	code_label nothing = code_label_new(gen->c);
	struct code *c = gen->c;
	int bits = code_copy(c, gen->bits);

	code_alu(c, BPF_AND, bits, temp_const(gen, PAGED_IN_ALL));
	code_jump_imm(c, BPF_JEQ, bits, 0, nothing);
	record_flag_set(gen, RAS_RECORD_PAGED_IN);
	why_count(gen, WHY_AT(paged_in));
	code_label_place(c, nothing);
}
