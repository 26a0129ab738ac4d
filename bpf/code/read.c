// SPDX-License-Identifier: GPL-2.0
/* Reading what statements name. */
#include "gen.h"

#include <errno.h>

static void read_user(struct gen *gen, bool string)
{
	code_call(gen->c, string ? BPF_FUNC_probe_read_user_str :
				   BPF_FUNC_probe_read_user);
}

static void read_kernel(struct gen *gen, bool string)
{
	code_call(gen->c, string ? BPF_FUNC_probe_read_kernel_str :
				   BPF_FUNC_probe_read_kernel);
}

/* include/linux/preempt.h; an int3, which may be the probe's own, counts once in
 * both of the first two. */
#define COUNT_NMI_SHIFT		20
#define COUNT_HARDIRQ_SHIFT	16
#define COUNT_NEST_MASK		0xf
#define COUNT_SOFTIRQ		0x100

/* What is interrupted, r0: the current task */
static int count_load(struct gen *gen)
{
	const struct body_layout *l = gen->plan->target->layout;
	struct code *c = gen->c;

	if (!l->cpu_count)
		return temp_load(gen, 4, R0, l->task_count);
	code_variable(c, R1, l->cpu_count);
	code_call(c, BPF_FUNC_this_cpu_ptr);
	return temp_load(gen, 4, R0, l->cpu_count_at);
}

/* Interrupts have to do with any process, and kernel threads with none: of these
 * only those that have taken one's memory (kthread_use_mm) have task->mm. */
void read_own_generate(struct gen *gen)
{
	const struct body_layout *l = gen->plan->target->layout;
	struct code *c = gen->c;
	code_label other;
	int count, nmi;

	if (!gen->plan->own)
		return;
	code_const(c, gen->own, 0);
	if (!l || !l->task_mm || (!l->task_count && !l->cpu_count))
		return;
	other = code_label_new(c);
	code_call(c, BPF_FUNC_get_current_task_btf);
	code_jump_imm(c, BPF_JEQ, temp_load(gen, 8, R0, l->task_mm), 0, other);
	count = count_load(gen);
	nmi = code_copy(c, count);
	code_alu_imm(c, BPF_AND, nmi, COUNT_SOFTIRQ);
	code_jump_imm(c, BPF_JNE, nmi, 0, other);
	code_move(c, nmi, count);
	code_alu_imm(c, BPF_RSH, count, COUNT_HARDIRQ_SHIFT);
	code_alu_imm(c, BPF_AND, count, COUNT_NEST_MASK);
	code_alu_imm(c, BPF_RSH, nmi, COUNT_NMI_SHIFT);
	code_alu_imm(c, BPF_AND, nmi, COUNT_NEST_MASK);
	code_jump_if(c, BPF_JNE, count, nmi, other);
	code_const(c, gen->own, 1);
	code_label_place(c, other);
}

/* Kernel code handles addresses of the process as well, which a system call was
 * given. No type shows that: the address itself does. */
static void read_either(struct gen *gen, bool string)
{
	code_label kernel = code_label_new(gen->c);
	code_label done = code_label_new(gen->c);
	struct code *c = gen->c;
	/* a slot whose address is in r1 over a jump shares its place with none */
	int to = code_copy(c, R1);

	address_kernel_test(gen, R3, kernel);
	code_alu_imm(c, BPF_MOV, R0, -EFAULT);
	code_jump_imm(c, BPF_JEQ, gen->own, 0, done);
	code_move(c, R1, to);
	read_user(gen, string);
	code_jump(c, done);
	code_label_place(c, kernel);
	code_move(c, R1, to);
	read_kernel(gen, string);
	code_label_place(c, done);
}

void read_call(struct gen *gen, bool string, const struct gen_value *address)
{
	value_address_load(gen, address, R3);
	if (gen->plan->target->context != BODY_KPROBE)
		read_user(gen, string);
	else if (address->kind == VALUE_CONST && (int64_t)address->add < 0)
		read_kernel(gen, string);
	else
		read_either(gen, string);
}

/* R1 = where it goes */
static void to_load(struct gen *gen, const struct direct_to *to)
{
	struct gen_place place = { to->base, to->off };

	if (to->base == NO_REG)
		code_slot_address(gen->c, R1, to->slot, to->off);
	else
		item_place_load(gen, &place, 0, R1);
}

/* Without a call, or with one where that can't be. False: not in this body. */
static bool read_direct(struct gen *gen, const struct direct_to *to,
			uint32_t bytes, const struct gen_value *address)
{
	code_label slow, done;
	struct code *c = gen->c;
	int reg;

	if (!direct_fits(gen, bytes))
		return false;
	slow = code_label_new(c);
	done = code_label_new(c);
	reg = code_temp_new(c);
	value_address_load(gen, address, reg);
	direct_read(gen, to, bytes, reg, slow);
	code_rare_begin(c);
	code_label_place(c, slow);
	to_load(gen, to);
	code_alu_imm(c, BPF_MOV, R2, bytes);
	value_address_load(gen, address, R3);
	read_user(gen, false);
	fault_unreadable_if(gen, BPF_JNE, R0, 0, address);
	code_jump(c, done);
	code_rare_end(c);
	code_label_place(c, done);
	return true;
}

bool read_string_direct(struct gen *gen, const struct gen_place *place, int more,
			uint32_t most, const struct gen_value *address)
{
	struct direct_to to = { place->base, place->off + more, 0 };
	code_label slow, done;
	struct code *c = gen->c;
	int reg;

	if (most < DIRECT_STRING_LEAST || !direct_fits(gen, most))
		return false;
	slow = code_label_new(c);
	done = code_label_new(c);
	reg = code_temp_new(c);
	value_address_load(gen, address, reg);
	direct_string(gen, &to, most, reg, slow);
	code_rare_begin(c);
	code_label_place(c, slow);
	to_load(gen, &to);
	code_alu_imm(c, BPF_MOV, R2, most);
	value_address_load(gen, address, R3);
	read_user(gen, true);
	code_jump(c, done);
	code_rare_end(c);
	code_label_place(c, done);
	return true;
}

void read_to_slot(struct gen *gen, code_slot slot, int off, uint32_t bytes,
		  const struct gen_value *address)
{
	struct direct_to to = { NO_REG, off, slot };
	struct code *c = gen->c;

	if (read_direct(gen, &to, bytes, address))
		return;
	if (gen->version == VERSION_WALK)
		paging_bring_in(gen, address, temp_const(gen, bytes), false);
	code_slot_address(c, R1, slot, off);
	code_alu_imm(c, BPF_MOV, R2, bytes);
	read_call(gen, false, address);
	fault_unreadable_if(gen, BPF_JNE, R0, 0, address);
}

void read_variable(struct gen *gen, const struct gen_place *place, int more,
		   int bytes, const struct gen_value *address)
{
	item_place_load(gen, place, more, R1);
	code_move(gen->c, R2, bytes);
	read_call(gen, false, address);
	fault_unreadable_if(gen, BPF_JNE, R0, 0, address);
}

void read_counted(struct gen *gen, const struct gen_place *place, int more,
		  uint32_t most, int bytes, const struct gen_value *address)
{
	struct direct_to to = { place->base, place->off + more, 0 };
	code_label slow = code_label_new(gen->c), done = code_label_new(gen->c);
	struct code *c = gen->c;
	int reg;

	if (!direct_fits(gen, most)) {
		read_variable(gen, place, more, bytes, address);
		return;
	}
	reg = code_temp_new(c);
	value_address_load(gen, address, reg);
	direct_counted(gen, &to, most, bytes, reg, slow);
	code_rare_begin(c);
	code_label_place(c, slow);
	read_variable(gen, place, more, bytes, address);
	code_jump(c, done);
	code_rare_end(c);
	code_label_place(c, done);
}

void read_to_record(struct gen *gen, const struct gen_place *place, int more,
		    uint32_t bytes, const struct gen_value *address)
{
	struct direct_to to = { place->base, place->off + more, 0 };

	if (!read_direct(gen, &to, bytes, address))
		read_variable(gen, place, more, temp_const(gen, bytes), address);
}

bool read_span_take(struct gen *gen, size_t at, const struct gen_value *address,
		    code_slot *slot, int *off)
{
	const struct reads *reads = &gen->plan->reads;
	const struct read *read = gen->version == VERSION_FIRST ?
		reads_find(reads, gen->stmt, at) : NULL;
	const struct read_span *span;
	struct gen_value from = *address;

	if (!read)
		return false;
	span = &reads->spans[read->span];
	*off = span->from & 7;
	if (!gen->span_read[read->span]) {
		*slot = code_slot_new(gen->c, reads_span_bytes(span));
		from.add -= read->add - span->from;
		read_to_slot(gen, *slot, *off, span->to - span->from, &from);
		gen->spans[read->span] = *slot;
		gen->span_read[read->span] = true;
	}
	*slot = gen->spans[read->span];
	*off += (int)(read->add - span->from);
	return true;
}
