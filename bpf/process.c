// SPDX-License-Identifier: GPL-2.0
/*
 * The process that hits, and where its module is: struct ras_process. The last
 * one is in the slice, and in `processes` already.
 */
#include "gen.h"

#define SLICE(field)	((int)offsetof(struct ras_slice, field))
#define PROCESS(field)	((int)offsetof(struct ras_process, field))
#define ENTRY_BYTES	((int)sizeof(struct ras_process))

static void bias_load(struct gen *gen, int reg)
{
	const struct gen_value bias = gen_bias(gen);

	rpn_value_load(gen, &bias, reg);
}

/* r1 = pid << 32 | session << 16 | module, r2 = the bias */
static void identity_load(struct gen *gen)
{
	uint32_t session = gen->target->session;
	struct emit *e = &gen->e;

	emit_load(e, 4, R1, R7, RECORD(pid));
	emit_alu_imm(e, BPF_LSH, R1, 32);
	emit_const(e, R2, session << 16 | gen->point->module);
	emit_alu(e, BPF_OR, R1, R2);
	bias_load(gen, R2);
}

/* What isn't kept is tried again with the next record. */
static void keep_call(struct gen *gen, emit_label failed)
{
	uint64_t key = (uint64_t)gen->point->module << 48 |
		       (uint64_t)gen->target->session << 32;
	struct emit *e = &gen->e;

	emit_load(e, 4, R1, R7, RECORD(pid));
	emit_const(e, R2, key);
	emit_alu(e, BPF_OR, R1, R2);
	bias_load(gen, R2);
	emit_load(e, 8, R3, R7, RECORD(time));
	emit_call_label(e, gen->keep);
	emit_jump_imm(e, BPF_JNE, R0, 0, failed);
}

#define FRAME_KEY	(-8)
#define FRAME_VALUE	(FRAME_KEY - ENTRY_BYTES)

/*
 * Not who hit last: r1 = the key, r2 = the bias, r3 = the time. An entry, unless
 * there is one with this bias. r0 = 0: there is.
 */
void process_keep_generate(struct gen *gen)
{
	emit_label missing = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	if (!emit_label_used(e, gen->keep))
		return;
	gen_note(gen, STMT_EPILOGUE);
	emit_label_place(e, gen->keep);
	gen->subprograms[BODY_KEEP] = e->count;
	emit_store(e, 8, FP, FRAME_KEY, R1);
	emit_store(e, 8, FP, FRAME_VALUE + PROCESS(bias), R2);
	emit_store(e, 8, FP, FRAME_VALUE + PROCESS(seen), R3);
	emit_lookup(e, gen->target->processes_fd, FRAME_KEY, missing);
	emit_load(e, 8, R1, R0, PROCESS(bias));
	emit_load(e, 8, R2, FP, FRAME_VALUE + PROCESS(bias));
	emit_alu_imm(e, BPF_MOV, R0, 0);
	emit_jump_if(e, BPF_JNE, R1, R2, missing);
	emit_exit(e);
	emit_label_place(e, missing);
	gen_comm_store(gen, FP, FRAME_VALUE + PROCESS(comm));
	emit_map(e, R1, gen->target->processes_fd);
	emit_alu(e, BPF_MOV, R2, FP);
	emit_alu_imm(e, BPF_ADD, R2, FRAME_KEY);
	emit_alu(e, BPF_MOV, R3, FP);
	emit_alu_imm(e, BPF_ADD, R3, FRAME_VALUE);
	emit_alu_imm(e, BPF_MOV, BPF_REG_4, BPF_ANY);
	emit_call(e, BPF_FUNC_map_update_elem);
	emit_exit(e);
}

/* returned_load() may not know where: no program is that far away. */
static void bias_check(struct gen *gen, emit_label failed)
{
	struct emit *e = &gen->e;

	if (gen->target->context != BODY_UPROBE || gen->target->func_ip ||
	    !(gen->site->flags & TDF_SITE_RETURN))
		return;
	bias_load(gen, R1);
	emit_const(e, R2, 1ULL << 52);
	emit_alu(e, BPF_ADD, R1, R2);
	emit_alu_imm(e, BPF_RSH, R1, 53);
	emit_jump_imm(e, BPF_JNE, R1, 0, failed);
}

void process_generate(struct gen *gen)
{
	emit_label other = emit_label_new(&gen->e);
	emit_label same = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	if (!gen->process || gen->walked)
		return;
	bias_check(gen, same);
	identity_load(gen);
	emit_load(e, 8, R3, R8, SLICE(process));
	emit_jump_if(e, BPF_JNE, R1, R3, other);
	emit_load(e, 8, R3, R8, SLICE(bias));
	emit_jump_if(e, BPF_JEQ, R2, R3, same);
	emit_label_place(e, other);
	keep_call(gen, same);
	identity_load(gen);
	emit_store(e, 8, R8, SLICE(process), R1);
	emit_store(e, 8, R8, SLICE(bias), R2);
	emit_label_place(e, same);
}
