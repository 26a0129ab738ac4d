// SPDX-License-Identifier: GPL-2.0
/* Why a hit isn't recorded, an item isn't read: counted on the rare paths. */
#include "gen.h"

/* r0 = the point's row of `why` on the running CPU; none: to `missing` */
void why_row_load(struct gen *gen, emit_label missing)
{
	struct emit *e = &gen->e;

	gen_point_get(gen, R1);
	emit_alu_imm(e, BPF_MUL, R1, gen->target->cpus);
	emit_load(e, 4, R2, FP, FRAME_CPU);
	emit_alu(e, BPF_ADD, R1, R2);
	emit_store(e, 4, FP, FRAME_ROW, R1);
	emit_lookup(e, gen->target->why_fd, FRAME_ROW, missing);
}

void why_count(struct gen *gen, int off)
{
	emit_label missing = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	why_row_load(gen, missing);
	emit_alu_imm(e, BPF_MOV, R1, 1);
	emit_atomic(e, BPF_ADD, R0, off, R1);
	emit_label_place(e, missing);
}
