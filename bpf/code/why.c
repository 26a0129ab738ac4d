// SPDX-License-Identifier: GPL-2.0
/* Why a hit isn't recorded, an item isn't read: counted on the rare paths. */
#include "gen.h"

void why_row_load(struct gen *gen, code_label missing)
{
	struct code *c = gen->c;
	int row = point_reg(gen);

	code_alu_imm(c, BPF_MUL, row, gen->plan->target->cpus);
	code_call(c, BPF_FUNC_get_smp_processor_id);
	code_alu(c, BPF_ADD, R0, row);
	code_lookup(c, gen->plan->target->why_fd, key_new(gen, R0), missing);
}

void why_dropped_count(struct gen *gen)
{
	code_label missing = code_label_new(gen->c);
	struct code *c = gen->c;
	int row;

	code_call(c, BPF_FUNC_get_smp_processor_id);
	row = code_copy(c, point_reg(gen));
	code_alu_imm(c, BPF_MUL, row,
		     gen->plan->target->cpus * (1 + RAS_NEST_LEVELS));
	code_alu(c, BPF_ADD, row, R0);
	code_lookup(c, gen->plan->target->count_fd, key_new(gen, row), missing);
	code_alu_imm(c, BPF_MOV, R1, 1);
	code_atomic(c, BPF_ADD, R0, COUNT_AT(dropped), R1);
	code_label_place(c, missing);
}

void why_count(struct gen *gen, int off)
{
	code_label missing = code_label_new(gen->c);
	struct code *c = gen->c;

	why_row_load(gen, missing);
	code_atomic(c, BPF_ADD, R0, off, temp_const(gen, 1));
	code_label_place(c, missing);
}
