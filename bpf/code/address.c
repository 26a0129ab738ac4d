// SPDX-License-Identifier: GPL-2.0
/* Addresses that processors sign and tag, and whose they are. */
#include "gen.h"

#define ADDRESS_LOWEST	4096	/* nothing is mapped below */
#define KERNEL_BIT	55	/* of a signed address */

static int address_width(const struct gen *gen)
{
	const struct plan *plan = gen->plan;

	return plan->target->address_bits ? plan->target->address_bits :
	       plan->cpu->address_bits;
}

void address_strip(struct gen *gen, int reg)
{
	int shift = 64 - address_width(gen);

	if (!gen->plan->cpu->is_signed)
		return;
	code_alu_imm(gen->c, BPF_LSH, reg, shift);
	code_alu_imm(gen->c, BPF_RSH, reg, shift);
}

void address_strip_kernel(struct gen *gen, int reg)
{
	if (!gen->plan->cpu->is_signed)
		return;
	code_alu(gen->c, BPF_OR, reg,
		 temp_const(gen, ~0ULL << address_width(gen)));
}

void address_strip_tag(struct gen *gen, int reg)
{
	if (!gen->plan->cpu->is_signed)
		return;
	code_alu_imm(gen->c, BPF_LSH, reg, 63 - KERNEL_BIT);
	code_alu_imm(gen->c, BPF_ARSH, reg, 63 - KERNEL_BIT);
}

void address_kernel_test(struct gen *gen, int reg, code_label kernel)
{
	struct code *c = gen->c;

	if (gen->plan->cpu->is_signed) {
		reg = code_copy(c, reg);
		code_alu_imm(c, BPF_LSH, reg, 63 - KERNEL_BIT);
	}
	code_jump_imm(c, BPF_JSLT, reg, 0, kernel);
}

void address_test(struct gen *gen, int reg, code_label bad)
{
	struct code *c = gen->c;
	int high = code_copy(c, reg);

	if (gen->plan->cpu->is_signed) {
		code_alu_imm(c, BPF_RSH, high, KERNEL_BIT);
		code_alu_imm(c, BPF_AND, high, 1);
	} else {
		code_alu_imm(c, BPF_RSH, high, address_width(gen));
	}
	code_jump_imm(c, BPF_JNE, high, 0, bad);
	address_strip(gen, reg);
	code_jump_imm(c, BPF_JLT, reg, ADDRESS_LOWEST, bad);
}
