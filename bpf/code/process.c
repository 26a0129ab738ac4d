// SPDX-License-Identifier: GPL-2.0
/*
 * The process that hits, and where its module is: struct ras_process. The last
 * one is in the slice, and in `processes` already.
 */
#include "gen.h"

#define PROCESS(field)	((int)offsetof(struct ras_process, field))

static int bias_reg(struct gen *gen)
{
	const struct gen_value bias = gen_bias(gen);

	return value_reg(gen, &bias);
}

/* A temp with pid << 32 | session << 16 | module */
static int identity_reg(struct gen *gen)
{
	uint32_t session = gen->plan->target->session;
	int identity = temp_load(gen, 4, RECORD, RECORD_AT(pid));
	struct code *c = gen->c;

	code_alu_imm(c, BPF_LSH, identity, 32);
	code_alu(c, BPF_OR, identity,
		 temp_const(gen, session << 16 | gen->plan->point->module));
	return identity;
}

/* r0 = 0: the process whose number is in r1 is kept; `time`: a temp, or NO_REG,
 * that of the record. What isn't kept is tried again with the next record, or
 * the next key. */
static void keep_call(struct gen *gen, int time)
{
	uint64_t key = (uint64_t)gen->plan->point->module << 48 |
		       (uint64_t)gen->plan->target->session << 32;
	struct code *c = gen->c;

	code_const(c, R2, key);
	code_alu(c, BPF_OR, R1, R2);
	code_move(c, R2, bias_reg(gen));
	if (time == NO_REG)
		code_load(c, 8, R3, RECORD, RECORD_AT(time));
	else
		code_move(c, R3, time);
	code_call_label(c, gen->shared->keep, 3);
}

/*
 * Not who hit last: r1 = the key, r2 = the bias, r3 = the time. An entry, unless
 * there is one with this bias. r0 = 0: there is.
 */
void process_keep_generate(struct gen *gen)
{
	int map = gen->plan->target->processes_fd;
	struct code *c = gen->c;
	code_label missing = code_label_new(c);
	code_slot key = code_slot_new(c, sizeof(struct ras_process_key));
	code_slot entry = code_slot_new(c, sizeof(struct ras_process));
	int there, bias;

	if (!code_label_used(c, gen->shared->keep))
		return;
	gen_note(gen, STMT_EPILOGUE);
	code_function_begin(c, BODY_KEEP, gen->shared->keep);
	code_slot_store(c, 8, key, 0, R1);
	code_slot_store(c, 8, entry, PROCESS(bias), R2);
	code_slot_store(c, 8, entry, PROCESS(seen), R3);
	code_lookup(c, map, key, missing);
	there = temp_load(gen, 8, R0, PROCESS(bias));
	bias = code_temp_new(c);
	code_slot_load(c, 8, bias, entry, PROCESS(bias));
	code_alu_imm(c, BPF_MOV, R0, 0);
	code_jump_if(c, BPF_JNE, there, bias, missing);
	code_exit(c);
	code_label_place(c, missing);
	comm_to_slot(gen, entry, PROCESS(comm));
	code_map(c, R1, map);
	code_slot_address(c, R2, key, 0);
	code_slot_address(c, R3, entry, 0);
	code_alu_imm(c, BPF_MOV, R4, BPF_ANY);
	code_call(c, BPF_FUNC_map_update_elem);
	code_exit(c);
	code_function_end(c);
}

/* returned.c may not know where: no program is that far away. */
static void bias_check(struct gen *gen, code_label failed)
{
	const struct plan *plan = gen->plan;
	struct code *c = gen->c;
	int bias;

	if (plan->target->context != BODY_UPROBE || plan->target->func_ip ||
	    !(plan->site->flags & TDF_SITE_RETURN))
		return;
	bias = code_copy(c, bias_reg(gen));
	code_alu(c, BPF_ADD, bias, temp_const(gen, 1ULL << 52));
	code_alu_imm(c, BPF_RSH, bias, 53);
	code_jump_imm(c, BPF_JNE, bias, 0, failed);
}

/* Another one hit last. */
static void other_process(struct gen *gen, code_label other, code_label same)
{
	struct code *c = gen->c;

	code_rare_begin(c);
	code_label_place(c, other);
	code_load(c, 4, R1, RECORD, RECORD_AT(pid));
	keep_call(gen, NO_REG);
	code_jump_imm(c, BPF_JNE, R0, 0, same);
	code_store(c, 8, SLICE, SLICE_AT(process), identity_reg(gen));
	code_store(c, 8, SLICE, SLICE_AT(bias), bias_reg(gen));
	code_jump(c, same);
	code_rare_end(c);
}

void process_current_keep(struct gen *gen)
{
	code_label done = code_label_new(gen->c);
	struct code *c = gen->c;
	int pid, time;

	if (!gen->plan->process)
		return;
	bias_check(gen, done);
	code_call(c, BPF_FUNC_get_current_pid_tgid);
	code_alu_imm(c, BPF_RSH, R0, 32);
	pid = code_copy(c, R0);
	code_call(c, BPF_FUNC_ktime_get_boot_ns);
	time = code_copy(c, R0);
	code_move(c, R1, pid);
	keep_call(gen, time);
	code_label_place(c, done);
}

void process_generate(struct gen *gen)
{
	code_label other = code_label_new(gen->c);
	code_label same = code_label_new(gen->c);
	struct code *c = gen->c;
	int known;

	if (!gen->plan->process || gen->version == VERSION_AGAIN)
		return;
	bias_check(gen, same);
	/* one argument after the other: compilers differ in their order */
	known = temp_load(gen, 8, SLICE, SLICE_AT(process));
	code_jump_if(c, BPF_JNE, identity_reg(gen), known, other);
	known = temp_load(gen, 8, SLICE, SLICE_AT(bias));
	code_jump_if(c, BPF_JNE, bias_reg(gen), known, other);
	other_process(gen, other, same);
	code_label_place(c, same);
}
