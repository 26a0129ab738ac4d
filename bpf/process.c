// SPDX-License-Identifier: GPL-2.0
/*
 * Who hits, and where the module lies there: struct ras_process. Who hit last
 * stands in the slice, and is in `processes` already.
 */
#include "gen.h"

#define SLICE(field)	((int)offsetof(struct ras_slice, field))
#define PROCESS(field)	((int)offsetof(struct ras_process, field))
#define KEY_BYTES	((int)sizeof(struct ras_process_key))
#define ENTRY_BYTES	((int)sizeof(struct ras_process))

/* r1 = pid << 32 | session << 16 | module, r2 = the bias */
static void identity_load(struct gen *gen)
{
	uint32_t session = gen->target->session;
	struct emit *e = &gen->e;

	emit_load(e, 4, R1, R7, RECORD(pid));
	emit_alu_imm(e, BPF_LSH, R1, 32);
	emit_const(e, R2, session << 16 | gen->point->module);
	emit_alu(e, BPF_OR, R1, R2);
	emit_load(e, 8, R2, FP, FRAME_BIAS);
}

/* `key` and `value` are offsets of the frame; r2 = the bias. */
static void entry_store(struct gen *gen, int key, int value, emit_label failed)
{
	struct emit *e = &gen->e;

	emit_store(e, 8, FP, value + PROCESS(bias), R2);
	emit_load(e, 8, R1, R7, RECORD(time));
	emit_store(e, 8, FP, value + PROCESS(seen), R1);
	gen_comm_store(gen, FP, value + PROCESS(comm));
	emit_map(e, R1, gen->target->processes_fd);
	emit_alu(e, BPF_MOV, R2, FP);
	emit_alu_imm(e, BPF_ADD, R2, key);
	emit_alu(e, BPF_MOV, R3, FP);
	emit_alu_imm(e, BPF_ADD, R3, value);
	emit_alu_imm(e, BPF_MOV, BPF_REG_4, BPF_ANY);
	emit_call(e, BPF_FUNC_map_update_elem);
	emit_jump_imm(e, BPF_JNE, R0, 0, failed);
}

/* Not who hit last: an entry, unless there is one with this bias. */
static void entry_make(struct gen *gen, emit_label failed)
{
	emit_label missing = emit_label_new(&gen->e);
	emit_label known = emit_label_new(&gen->e);
	struct emit *e = &gen->e;
	int value = gen_frame_take(gen, (ENTRY_BYTES + KEY_BYTES) / 8);
	int key = value + ENTRY_BYTES;

	emit_load(e, 4, R1, R7, RECORD(pid));
	emit_store(e, 4, FP, key, R1);
	emit_store_imm(e, 2, FP, key + 4, gen->target->session);
	emit_store_imm(e, 2, FP, key + 6, gen->point->module);
	emit_lookup(e, gen->target->processes_fd, key, missing);
	emit_load(e, 8, R1, R0, PROCESS(bias));
	emit_load(e, 8, R2, FP, FRAME_BIAS);
	emit_jump_if(e, BPF_JEQ, R1, R2, known);
	emit_label_place(e, missing);
	emit_load(e, 8, R2, FP, FRAME_BIAS);
	entry_store(gen, key, value, failed);
	emit_label_place(e, known);
}

/* returned_load() may not know where: no program is that far away. */
static void bias_check(struct gen *gen, emit_label failed)
{
	struct emit *e = &gen->e;

	if (gen->target->context != BODY_UPROBE || gen->target->func_ip ||
	    !(gen->site->flags & TDF_SITE_RETURN))
		return;
	emit_load(e, 8, R1, FP, FRAME_BIAS);
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
	entry_make(gen, same);
	identity_load(gen);
	emit_store(e, 8, R8, SLICE(process), R1);
	emit_store(e, 8, R8, SLICE(bias), R2);
	emit_label_place(e, same);
}
