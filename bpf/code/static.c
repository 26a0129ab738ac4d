// SPDX-License-Identifier: GPL-2.0
/*
 * The static tracepoints of user programs: what they record is in the arguments of
 * rastrace_write(), its major is the point.
 */
#include "gen.h"

#include <rastrace.h>

/* Its parameters */
enum argument { MAJOR, MINOR, DATA, LENGTH, ARGUMENTS };

_Static_assert(RASTRACE_DATA_MAX == RAS_STATIC_DATA_MAX,
	       "programs learn what is recorded");

/* Those on the stack come into a slot; not readable: to `failed` */
static code_slot arguments_read(struct gen *gen, code_label failed)
{
	struct code *c = gen->c;
	code_slot slot = 0;

	if (arch_argument_offset(gen->plan->machine, 0) >= 0)
		return slot;
	slot = code_slot_new(c, 4 * ARGUMENTS);
	code_slot_address(c, R1, slot, 0);
	code_alu_imm(c, BPF_MOV, R2, 4 * ARGUMENTS);
	code_load(c, 8, R3, CONTEXT, gen->plan->cpu->stack);
	code_alu_imm(c, BPF_ADD, R3, 4);
	code_call(c, BPF_FUNC_probe_read_user);
	code_jump_imm(c, BPF_JNE, R0, 0, failed);
	return slot;
}

/* reg = the argument; the numbers are 32 bits wide, the others as pointers. */
static void argument_load(struct gen *gen, code_slot arguments,
			  enum argument n, int reg)
{
	int offset = arch_argument_offset(gen->plan->machine, n);

	if (offset < 0)
		code_slot_load(gen->c, 4, reg, arguments, 4 * n);
	else
		code_load(gen->c, n < DATA ? 4 : 8, reg, CONTEXT, offset);
}

/* Is the major on? Instead of the cookie: major and minor. */
void static_begin_generate(struct gen *gen)
{
	code_slot arguments = arguments_read(gen, gen->out);
	struct code *c = gen->c;
	int major = code_temp_new(c), minor = code_temp_new(c);

	argument_load(gen, arguments, MAJOR, major);
	code_jump_imm(c, BPF_JGT, major, RASTRACE_MAJOR_MAX, gen->out);
	code_map_value(c, R2, gen->plan->majors_fd, 0);
	code_alu(c, BPF_ADD, R2, major);
	code_load(c, 1, R2, R2, 0);
	code_jump_imm(c, BPF_JEQ, R2, 0, gen->out);
	argument_load(gen, arguments, MINOR, minor);
	code_jump_imm(c, BPF_JGT, minor, RASTRACE_MINOR_MAX, gen->out);
	code_alu_imm(c, BPF_LSH, major, 16);
	code_alu(c, BPF_OR, major, minor);
	code_slot_store(c, 8, gen->cookie, 0, major);
}

/* reg = the length, cut; the record says so. */
static void static_generate_length(struct gen *gen, code_slot arguments, int reg,
				   bool record)
{
	struct code *c = gen->c;
	code_label whole = code_label_new(c);

	argument_load(gen, arguments, LENGTH, reg);
	code_jump_imm(c, BPF_JLE, reg, RAS_STATIC_DATA_MAX, whole);
	if (record)
		record_flag_set(gen, RAS_RECORD_CUT);
	code_alu_imm(c, BPF_MOV, reg, RAS_STATIC_DATA_MAX);
	code_label_place(c, whole);
}

void static_walk_generate(struct gen *gen)
{
	struct code *c = gen->c;
	code_label failed = code_label_new(c);
	code_slot arguments = arguments_read(gen, failed);
	int data = code_temp_new(c), length = code_temp_new(c);
	const struct gen_value address = value_temp(data);

	gen->item = &gen->plan->items[0];
	argument_load(gen, arguments, DATA, data);
	static_generate_length(gen, arguments, length, false);
	paging_bring_in(gen, &address, length, false);
	code_label_place(c, failed);
}

/* Without a prefix a fault can't be reported: there is no data then. Not readable:
 * absent at most, unless that has been looked into. */
static void static_fault(struct gen *gen, code_label done)
{
	struct code *c = gen->c;
	code_label unreadable = code_label_new(c);
	int bits;

	if (gen->version == VERSION_FIRST) {
		code_jump(c, gen->absent);
		return;
	}
	record_flag_set(gen, RAS_RECORD_FAULT);
	if (gen->version == VERSION_AGAIN) {
		bits = paging_bits_reg(gen);
		code_alu_imm(c, BPF_AND, bits, WALK_LEFT | WALK_UNREADABLE);
		code_jump_imm(c, BPF_JEQ, bits, WALK_UNREADABLE, unreadable);
	}
	why_count(gen, WHY_FAULT(RAS_FAULT_ABSENT));
	code_jump(c, done);
	code_label_place(c, unreadable);
	why_count(gen, WHY_FAULT(RAS_FAULT_UNREADABLE));
	code_jump(c, done);
}

void static_data_generate(struct gen *gen)
{
	struct code *c = gen->c;
	code_label failed = code_label_new(c), done = code_label_new(c);
	code_slot arguments;
	int length = code_temp_new(c);

	gen->item = &gen->plan->items[0];
	item_place_load(gen, &gen->place, 0, PLACE);
	arguments = arguments_read(gen, failed);
	static_generate_length(gen, arguments, R2, true);
	code_jump_imm(c, BPF_JEQ, R2, 0, done);
	code_move(c, length, R2);
	code_move(c, R1, PLACE);
	argument_load(gen, arguments, DATA, R3);
	code_call(c, BPF_FUNC_probe_read_user);
	code_jump_imm(c, BPF_JNE, R0, 0, failed);
	code_alu(c, BPF_ADD, PLACE, length);
	code_rare_begin(c);
	code_label_place(c, failed);
	static_fault(gen, done);
	code_rare_end(c);
	code_label_place(c, done);
	gen->place = (struct gen_place){ .base = PLACE };
}
