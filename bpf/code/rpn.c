// SPDX-License-Identifier: GPL-2.0
/*
 * Expressions (DWARF 5, section 2.5) -> code. The stack exists at compile time
 * only: an entry says where its value is and what is to be added to it, so
 * constants, registers with offsets and relocated addresses cost nothing until
 * they are used. Where ways join each entry has one temp, its home, that all ways
 * assign.
 */
#include "gen.h"

#include <errno.h>
#include <string.h>

/* Of a jump; label is -1 elsewhere. */
struct rpn_target {
	int64_t label;
	int depth;
};

struct rpn_expr {
	struct gen *gen;
	struct code *c;
	const uint8_t *rpn;
	struct gen_value stack[TDF_RPN_STACK];
	int homes[TDF_RPN_STACK];	/* 0: not made yet */
	int depth;
	int first;			/* temps from there on are its own */
	bool live;			/* false after a skip */
	size_t zero_end;		/* of the last lit0 */
	bool raises;			/* this operation comes right after it
					 * and from nowhere else */
	struct rpn_target *targets;	/* by offset */
};

static bool fits_s32(uint64_t value)
{
	return (int64_t)value == (int32_t)value;
}

static bool in_temp(const struct gen_value *v, int reg)
{
	return v->kind == VALUE_TEMP && v->base == reg;
}

static int temp_users(const struct rpn_expr *x, int reg)
{
	int users = 0;

	for (int i = 0; i < x->depth; i++)
		users += in_temp(&x->stack[i], reg);
	return users;
}

/* Bring an entry into a temp of its own, to be changed there. */
static int entry_own(struct rpn_expr *x, int entry)
{
	struct gen_value *v = &x->stack[entry];
	int reg = v->base;

	if (v->kind != VALUE_TEMP || reg < x->first || temp_users(x, reg) > 1)
		reg = code_temp_new(x->c);
	gen_value_load(x->gen, v, reg);
	*v = value_temp(reg);
	return reg;
}

/* Bring an entry into a temp, to be read only. */
static int entry_use(struct rpn_expr *x, int entry)
{
	const struct gen_value *v = &x->stack[entry];

	if (v->kind == VALUE_TEMP && !v->add)
		return v->base;
	return entry_own(x, entry);
}

static int home_find(struct rpn_expr *x, int entry)
{
	if (!x->homes[entry])
		x->homes[entry] = code_temp_new(x->c);
	return x->homes[entry];
}

static bool is_home(const struct rpn_expr *x, int entry)
{
	const struct gen_value *v = &x->stack[entry];

	return v->kind == VALUE_TEMP && v->base == x->homes[entry] && !v->add;
}

static bool in_foreign_home(const struct rpn_expr *x, int entry)
{
	const struct gen_value *v = &x->stack[entry];

	for (int i = 0; i < TDF_RPN_STACK; i++)
		if (i != entry && x->homes[i] && in_temp(v, x->homes[i]))
			return true;
	return false;
}

/* Bring the lowest entries home. Who lives in another's home leaves first. */
static void entries_flush(struct rpn_expr *x, int count)
{
	for (int i = 0; i < count; i++) {
		int reg;

		if (!in_foreign_home(x, i))
			continue;
		reg = code_temp_new(x->c);
		gen_value_load(x->gen, &x->stack[i], reg);
		x->stack[i] = value_temp(reg);
	}
	for (int i = 0; i < count; i++) {
		if (is_home(x, i))
			continue;
		gen_value_load(x->gen, &x->stack[i], home_find(x, i));
		x->stack[i] = value_temp(x->homes[i]);
	}
}

static struct gen_value *rpn_top(struct rpn_expr *x)
{
	return &x->stack[x->depth - 1];
}

static void rpn_push(struct rpn_expr *x, struct gen_value v)
{
	x->stack[x->depth++] = v;
}

/* Results that are known now; false when they aren't. */
static bool fold_binary(uint8_t code, uint64_t a, uint64_t b, uint64_t *result)
{
	int64_t sa = a, sb = b;

	switch (code) {
	case RPN_and:	*result = a & b; return true;
	case RPN_or:	*result = a | b; return true;
	case RPN_xor:	*result = a ^ b; return true;
	case RPN_plus:	*result = a + b; return true;
	case RPN_minus:	*result = a - b; return true;
	case RPN_mul:	*result = a * b; return true;
	case RPN_shl:	*result = b < 64 ? a << b : 0; return true;
	case RPN_shr:	*result = b < 64 ? a >> b : 0; return true;
	case RPN_shra:	*result = sa >> (b < 64 ? b : 63); return true;
	case RPN_eq:	*result = a == b; return true;
	case RPN_ne:	*result = a != b; return true;
	case RPN_ge:	*result = sa >= sb; return true;
	case RPN_gt:	*result = sa > sb; return true;
	case RPN_le:	*result = sa <= sb; return true;
	case RPN_lt:	*result = sa < sb; return true;
	}
	return false;
}

/* A sum with a constant stays a sum. */
static bool fold_sum(uint8_t code, struct gen_value *a,
		     const struct gen_value *b)
{
	if (code == RPN_plus && a->kind == VALUE_CONST) {
		uint64_t add = a->add;

		*a = *b;
		a->add += add;
		return true;
	}
	if (b->kind != VALUE_CONST || (code != RPN_plus && code != RPN_minus))
		return false;
	a->add += code == RPN_plus ? b->add : -b->add;
	return true;
}

static void plain_generate(struct rpn_expr *x, int op)
{
	const struct gen_value *b = rpn_top(x);
	int dst = entry_own(x, x->depth - 2);

	if (b->kind == VALUE_CONST && fits_s32(b->add))
		code_alu_imm(x->c, op, dst, b->add);
	else
		code_alu(x->c, op, dst, entry_use(x, x->depth - 1));
}

/*
 * BPF shifts by the low six bits of the count, DWARF by all of it: `far` is all
 * ones for counts of 64 and more; done without branches, which would double the
 * states the verifier has to walk.
 */
static void shift_generate(struct rpn_expr *x, uint8_t code)
{
	struct code *c = x->c;
	int dst = entry_own(x, x->depth - 2);
	int count = entry_own(x, x->depth - 1);
	int far = code_copy(c, count);

	code_alu_imm(c, BPF_RSH, far, 6);
	code_alu_imm(c, BPF_NEG, far, 0);
	code_alu_imm(c, BPF_ARSH, far, 63);
	if (code == RPN_shra) {
		code_alu(c, BPF_OR, count, far);
		code_alu_imm(c, BPF_AND, count, 63);
		code_alu(c, BPF_ARSH, dst, count);
		return;
	}
	code_alu_imm(c, BPF_AND, count, 63);
	code_alu(c, code == RPN_shl ? BPF_LSH : BPF_RSH, dst, count);
	code_alu_imm(c, BPF_XOR, far, -1);
	code_alu(c, BPF_AND, dst, far);
}

static void shift_const_generate(struct rpn_expr *x, uint8_t code,
				 uint64_t count)
{
	int dst = entry_own(x, x->depth - 2);

	if (code == RPN_shra)
		code_alu_imm(x->c, BPF_ARSH, dst, count < 64 ? count : 63);
	else if (count >= 64)
		code_alu_imm(x->c, BPF_MOV, dst, 0);
	else
		code_alu_imm(x->c, code == RPN_shl ? BPF_LSH : BPF_RSH, dst,
			     count);
}

/* reg = |reg| */
static void abs_generate(struct code *c, int reg)
{
	int sign = code_copy(c, reg);

	code_alu_imm(c, BPF_ARSH, sign, 63);
	code_alu(c, BPF_XOR, reg, sign);
	code_alu(c, BPF_SUB, reg, sign);
}

/*
 * Kernels before 6.6 divide unsigned only: divide the absolute values, then
 * set the sign (sign is all ones when they differ). -2^63 / -1 wraps.
 * Where the divisor is the literal 0 the dividend is what the item gets.
 */
static void division_generate(struct rpn_expr *x, uint8_t code)
{
	struct code *c = x->c;
	int dst = entry_own(x, x->depth - 2);
	int by = entry_own(x, x->depth - 1), sign;
	struct gen_value raised = value_const(0);

	if (x->raises && code == RPN_div)
		raised = value_temp(dst);
	fault_raise_if(x->gen, BPF_JEQ, by, 0, &raised, RAS_ITEM_ARITHMETIC);
	if (code == RPN_mod) {
		code_alu(c, BPF_MOD, dst, by);
		return;
	}
	sign = code_copy(c, dst);
	code_alu(c, BPF_XOR, sign, by);
	code_alu_imm(c, BPF_ARSH, sign, 63);
	abs_generate(c, dst);
	abs_generate(c, by);
	code_alu(c, BPF_DIV, dst, by);
	code_alu(c, BPF_XOR, dst, sign);
	code_alu(c, BPF_SUB, dst, sign);
}

/* By a literal of 1 to 2^31 - 1 */
static void division_const_generate(struct rpn_expr *x, uint8_t code,
				    int32_t by)
{
	struct code *c = x->c;
	int dst = entry_own(x, x->depth - 2), sign;

	if (code == RPN_mod) {
		code_alu_imm(c, BPF_MOD, dst, by);
		return;
	}
	sign = code_copy(c, dst);
	code_alu_imm(c, BPF_ARSH, sign, 63);
	code_alu(c, BPF_XOR, dst, sign);
	code_alu(c, BPF_SUB, dst, sign);
	code_alu_imm(c, BPF_DIV, dst, by);
	code_alu(c, BPF_XOR, dst, sign);
	code_alu(c, BPF_SUB, dst, sign);
}

static int compare_op(uint8_t code)
{
	switch (code) {
	case RPN_eq:	return BPF_JEQ;
	case RPN_ge:	return BPF_JSGE;
	case RPN_gt:	return BPF_JSGT;
	case RPN_le:	return BPF_JSLE;
	case RPN_lt:	return BPF_JSLT;
	default:	return BPF_JNE;
	}
}

static void compare_generate(struct rpn_expr *x, uint8_t code)
{
	const struct gen_value *b = rpn_top(x);
	code_label holds = code_label_new(x->c);
	int a = entry_use(x, x->depth - 2), result = code_temp_new(x->c);
	bool small = b->kind == VALUE_CONST && fits_s32(b->add);
	int by = small ? 0 : entry_use(x, x->depth - 1);

	code_const(x->c, result, 1);
	if (small)
		code_jump_imm(x->c, compare_op(code), a, b->add, holds);
	else
		code_jump_if(x->c, compare_op(code), a, by, holds);
	code_const(x->c, result, 0);
	code_label_place(x->c, holds);
	x->stack[x->depth - 2] = value_temp(result);
}

static void binary_generate(struct rpn_expr *x, uint8_t code)
{
	switch (code) {
	case RPN_and:	plain_generate(x, BPF_AND); break;
	case RPN_or:	plain_generate(x, BPF_OR); break;
	case RPN_xor:	plain_generate(x, BPF_XOR); break;
	case RPN_plus:	plain_generate(x, BPF_ADD); break;
	case RPN_minus:	plain_generate(x, BPF_SUB); break;
	case RPN_mul:	plain_generate(x, BPF_MUL); break;
	case RPN_shl:
	case RPN_shr:
	case RPN_shra:
		if (rpn_top(x)->kind == VALUE_CONST)
			shift_const_generate(x, code, rpn_top(x)->add);
		else
			shift_generate(x, code);
		break;
	case RPN_div:
	case RPN_mod:
		if (rpn_top(x)->kind == VALUE_CONST &&
		    rpn_top(x)->add - 1 < INT32_MAX)
			division_const_generate(x, code, rpn_top(x)->add);
		else
			division_generate(x, code);
		break;
	default:
		compare_generate(x, code);
	}
}

static void rpn_op_binary(struct rpn_expr *x, uint8_t code)
{
	struct gen_value *b = rpn_top(x), *a = b - 1;
	uint64_t result;

	if (a->kind == VALUE_CONST && b->kind == VALUE_CONST &&
	    fold_binary(code, a->add, b->add, &result))
		*a = value_const(result);
	else if (!fold_sum(code, a, b))
		binary_generate(x, code);
	x->depth--;
}

static uint64_t fold_unary(uint8_t code, uint64_t a)
{
	if (code == RPN_not)
		return ~a;
	return code == RPN_neg || (int64_t)a < 0 ? -a : a;
}

static void rpn_op_unary(struct rpn_expr *x, uint8_t code)
{
	struct gen_value *v = rpn_top(x);
	int reg;

	if (v->kind == VALUE_CONST) {
		v->add = fold_unary(code, v->add);
		return;
	}
	reg = entry_own(x, x->depth - 1);
	if (code == RPN_abs)
		abs_generate(x->c, reg);
	else if (code == RPN_neg)
		code_alu_imm(x->c, BPF_NEG, reg, 0);
	else
		code_alu_imm(x->c, BPF_XOR, reg, -1);
}

static void rpn_op_deref(struct rpn_expr *x, int bytes, size_t at)
{
	code_slot slot;
	int off = 0;

	if (!read_span_take(x->gen, at, rpn_top(x), &slot, &off)) {
		slot = code_slot_new(x->c, bytes);
		read_to_slot(x->gen, slot, 0, bytes, rpn_top(x));
	}
	*rpn_top(x) = value_slot(slot, off, bytes);
}

/* The 8 bytes at the selector:offset on top of the stack, or fewer. */
static void op_xderef(struct rpn_expr *x, int bytes)
{
	code_slot slot = code_slot_new(x->c, bytes);
	struct gen_value linear;

	segment_generate(x->gen, rpn_top(x) - 1, rpn_top(x), bytes, &linear);
	x->depth--;
	read_to_slot(x->gen, slot, 0, bytes, &linear);
	*rpn_top(x) = value_slot(slot, 0, bytes);
}

/* Nothing is known as long as it is 0. */
static void late_test(struct rpn_expr *x, int reg)
{
	const struct gen_value none = value_const(0);
	struct code *c = x->c;
	code_label unknown;

	if (x->gen->version != VERSION_WALK) {
		fault_unreadable_if(x->gen, BPF_JEQ, reg, 0, &none);
		return;
	}
	unknown = code_label_new(c);
	code_jump_imm(c, BPF_JEQ, reg, 0, unknown);
	code_rare_begin(c);
	code_label_place(c, unknown);
	paging_bits_add(x->gen, temp_const(x->gen, WALK_UNREADABLE));
	code_jump(c, x->gen->fault.to);
	code_rare_end(c);
}

/* What the kernel keeps of the thread, as of its last switch. */
static void rpn_op_thread(struct rpn_expr *x, const struct arch_thread *thread,
			  enum arch_segment segment, int64_t add)
{
	int reg;

	if (x->gen->plan->target->context == BODY_KPROBE)
		gen_fail(x->gen, -EOPNOTSUPP,
			 "thread-local data of the kernel can't be read");
	else if (!thread->offset)
		gen_fail(x->gen, -EOPNOTSUPP,
			 "thread-local data can't be read: this kernel has no BTF");
	code_call(x->c, BPF_FUNC_get_current_task_btf);
	reg = temp_load(x->gen, thread->bytes, R0, thread->offset);
	if (thread->late)
		late_test(x, reg);
	rpn_push(x, value_temp(reg));
	rpn_top(x)->add = add;
	rpn_top(x)->segment = add ? SEGMENT_NONE : segment;
}

/* What the operation adds to the top of the stack */
static void rpn_op_add(struct rpn_expr *x, size_t at, uint64_t add)
{
	const struct body_offset *offset =
		reads_offset_find(x->gen->plan, x->rpn, at);
	int reg;

	if (!offset) {
		rpn_top(x)->add += add;
		return;
	}
	reg = entry_own(x, x->depth - 1);
	code_alu(x->c, BPF_ADD, reg,
		 temp_load(x->gen, 8, x->gen->offsets, 8 * offset->word));
	rpn_top(x)->add += offset->rest;
}

static void op_register(struct rpn_expr *x, size_t at, uint64_t number,
			int64_t add)
{
	struct gen *gen = x->gen;
	enum arch_segment segment = arch_segment_find(gen->plan->machine, number);
	const struct body_register *own =
		reads_register_find(gen->plan, x->rpn, at);
	struct arch_thread thread;
	struct gen_register reg;

	if (arch_thread_find(gen->plan->target->layout, gen->plan->machine, number,
			     &thread)) {
		rpn_op_thread(x, &thread, segment, add);
		return;
	}
	reg = gen_register_find(gen, number);
	if (own) {
		rpn_push(x, value_temp(gen_register_load(gen, own, reg.bytes)));
		rpn_op_add(x, at, add);
		return;
	}
	if (reg.ip)
		add -= gen_ip_excess(gen);
	rpn_push(x, value_memory(CONTEXT, reg.offset, reg.bytes, 0));
	rpn_op_add(x, at, add);
	rpn_top(x)->segment = add ? SEGMENT_NONE : segment;
}

/* What the module's kfunc stores in a slot. Without it items don't come here
 * (item_generate): an IF, or what has no prefix, can't be evaluated. */
static void op_vector(struct rpn_expr *x, const struct rpn_op *op)
{
	const struct gen_value none = value_const(0);
	int number = gen_vector_find(x->gen, op->a);
	code_slot slot = code_slot_new(x->c, 8);
	struct code *c = x->c;

	code_slot_store_imm(c, 8, slot, 0, 0);
	if (x->gen->plan->target->vector_read) {
		code_slot_address(c, R1, slot, 0);
		code_alu_imm(c, BPF_MOV, R2, 2 * number + (op->b != 0));
		code_module_kfunc(c, BODY_MODULE_PLACE,
				  x->gen->plan->target->vector_read, 2);
	} else {
		code_alu_imm(c, BPF_MOV, R0, -EOPNOTSUPP);
	}
	fault_unreadable_if(x->gen, BPF_JNE, R0, 0, &none);
	rpn_push(x, value_slot(slot, 0, 8));
}

static void op_entry(struct rpn_expr *x, const struct rpn_op *op)
{
	int reg = code_temp_new(x->c);

	entry_value_load(x->gen, op, reg);
	rpn_push(x, value_temp(reg));
}

/* It was kept if the entry's record is that long. */
static void op_at_entry(struct rpn_expr *x, unsigned int number)
{
	const struct gen_value none = value_const(0);
	int at = RAS_RECORD_HEADER + 8 * (int)number;
	int length = temp_load(x->gen, 4, x->gen->open, RECORD_AT(length));

	fault_unreadable_if(x->gen, BPF_JLT, length, at + 8, &none);
	rpn_push(x, value_memory(x->gen->open, at, 8, 0));
}

static void op_cputime(struct rpn_expr *x)
{
	const struct gen_value none = value_const(0);
	int time = temp_load(x->gen, 8, x->gen->open, WHOLE_CPUTIME);

	fault_raise_if(x->gen, BPF_JEQ, time, -1, &none, RAS_ITEM_UNKNOWN);
	rpn_push(x, value_temp(time));
}

static void op_tree_next(struct rpn_expr *x, const struct rpn_op *op)
{
	code_slot node = code_slot_new(x->c, 8);

	code_slot_store(x->c, 8, node, 0, entry_use(x, x->depth - 1));
	tree_next_generate(x->gen, &op->tree, node);
	*rpn_top(x) = value_slot(node, 0, 8);
}

static const struct body_section *rpn_section_find(const struct gen *gen,
						   uint64_t address)
{
	const struct body_target *target = gen->plan->target;
	const struct body_section *section = target->sections;

	if (!target->section_count ||
	    gen->plan->tdf->sections->module != gen->plan->point->module)
		return NULL;
	for (__u32 i = 0; i < target->section_count; i++, section++)
		if (address - section->address < section->size)
			return section;
	return NULL;
}

/* The address of the running CPU's copy. */
static void op_percpu(struct rpn_expr *x, uint64_t address)
{
	const struct gen_value table =
		value_const(x->gen->plan->target->percpu_offsets);
	code_slot slot = code_slot_new(x->c, 8);
	struct code *c = x->c;

	code_call(c, BPF_FUNC_get_smp_processor_id);
	code_alu_imm(c, BPF_LSH, R0, 3);
	code_const(c, R3, table.add);
	code_alu(c, BPF_ADD, R3, R0);
	code_alu_imm(c, BPF_MOV, R2, 8);
	code_slot_address(c, R1, slot, 0);
	code_call(c, BPF_FUNC_probe_read_kernel);
	fault_unreadable_if(x->gen, BPF_JNE, R0, 0, &table);
	rpn_push(x, value_slot(slot, 0, 8));
	rpn_top(x)->add = address;
}

static void op_addr(struct rpn_expr *x, size_t at, uint64_t address)
{
	const struct body_section *section = rpn_section_find(x->gen, address);
	struct gen_value bias = gen_bias(x->gen);
	uint64_t run;

	if (!section) {
		rpn_push(x, bias);
		rpn_op_add(x, at, address);
		return;
	}
	run = section->run + (address - section->address);
	if (section->percpu)
		op_percpu(x, run);
	else
		rpn_push(x, value_const(run));
}

static void op_rotate(struct rpn_expr *x, int count)
{
	struct gen_value last = *rpn_top(x);
	int i = x->depth - 1;

	for (; --count; i--)
		x->stack[i] = x->stack[i - 1];
	x->stack[i] = last;
}

static void rpn_op_jump(struct rpn_expr *x, const struct rpn_op *op)
{
	int64_t *label = &x->targets[op->a].label;
	int reg = 0;

	if (*label < 0)
		*label = code_label_new(x->c);
	if (op->code == RPN_bra)
		reg = entry_use(x, x->depth - 1);
	if (op->code == RPN_bra && in_foreign_home(x, x->depth - 1))
		reg = code_copy(x->c, reg);
	entries_flush(x, x->depth - op->pops);
	x->depth -= op->pops;
	x->targets[op->a].depth = x->depth;
	if (op->code == RPN_bra) {
		code_jump_imm(x->c, BPF_JNE, reg, 0, *label);
		return;
	}
	code_jump(x->c, *label);
	x->live = false;
}

/* Where a jump lands, all entries are at home. */
static void rpn_join(struct rpn_expr *x, size_t at)
{
	if (x->targets[at].label < 0)
		return;
	if (x->live)
		entries_flush(x, x->depth);
	code_label_place(x->c, x->targets[at].label);
	x->live = true;
	x->depth = x->targets[at].depth;
	for (int i = 0; i < x->depth; i++)
		x->stack[i] = value_temp(home_find(x, i));
}

static void op_push(struct rpn_expr *x, const struct rpn_op *op)
{
	uint64_t number;
	int64_t value;

	if (rpn_is_constant(op, &value)) {
		rpn_push(x, value_const(value));
		return;
	}
	if (rpn_is_register(op, &number, &value)) {
		op_register(x, op->at, number, value);
		return;
	}
	switch (op->code) {
	case RPN_addr:
		op_addr(x, op->at, op->a);
		break;
	case RPN_dup:
		rpn_push(x, *rpn_top(x));
		break;
	case RPN_over:
		rpn_push(x, rpn_top(x)[-1]);
		break;
	case RPN_pick:
		rpn_push(x, x->stack[x->depth - 1 - (int)op->a]);
		break;
	case RPN_entry_value:
		op_entry(x, op);
		break;
	case RPN_vector:
		op_vector(x, op);
		break;
	case RPN_kept:
		rpn_push(x, kept_value(x->gen, op->a));
		break;
	case RPN_elapsed:
		rpn_push(x, value_memory(x->gen->open, RECORD_AT(stamp), 8, 0));
		break;
	case RPN_cputime:
		op_cputime(x);
		break;
	case RPN_at_entry:
		op_at_entry(x, op->a);
		break;
	}
}

static void generate_op(struct rpn_expr *x, const struct rpn_op *op)
{
	if (op->pushes > op->pops) {
		op_push(x, op);
	} else if (op->code == RPN_xderef) {
		op_xderef(x, 8);
	} else if (op->code == RPN_xderef_size) {
		op_xderef(x, op->a);
	} else if (op->pops == 2 && op->pushes == 1) {
		rpn_op_binary(x, op->code);
	} else {
		switch (op->code) {
		case RPN_abs:
		case RPN_neg:
		case RPN_not:
			rpn_op_unary(x, op->code);
			break;
		case RPN_plus_uconst:
			rpn_op_add(x, op->at, op->a);
			break;
		case RPN_deref:
			rpn_op_deref(x, 8, op->at);
			break;
		case RPN_deref_size:
			rpn_op_deref(x, op->a, op->at);
			break;
		case RPN_tree_next:
			op_tree_next(x, op);
			break;
		case RPN_drop:
			x->depth--;
			break;
		case RPN_swap:
			op_rotate(x, 2);
			break;
		case RPN_rot:
			op_rotate(x, 3);
			break;
		case RPN_bra:
		case RPN_skip:
			rpn_op_jump(x, op);
			break;
		}
	}
}

/* The lowest entries of what is left become results[]; nothing after errors. */
static void expression_generate(struct gen *gen, const uint8_t *rpn,
				size_t size, struct gen_value *results, int count)
{
	struct rpn_target targets[TDF_RPN_MAX + 1];
	struct rpn_expr x = {
		.gen = gen, .c = gen->c, .rpn = rpn, .live = true, .targets = targets,
		.first = CODE_TEMP + gen->c->temps,
	};
	struct rpn_op op = { 0 };

	for (size_t i = 0; i <= size; i++)
		x.targets[i].label = -1;
	while (!gen->c->error && rpn_next(rpn, size, &op)) {
		rpn_join(&x, op.at);
		x.raises = op.at && x.zero_end == op.at &&
			   x.targets[op.at].label < 0;
		if (x.live)
			generate_op(&x, &op);
		if (op.code == RPN_lit)
			x.zero_end = op.next;
	}
	if (op.next != size)
		gen_fail(gen, -EINVAL, "bad operation at byte %zu", op.next);
	memset(results, 0, count * sizeof(*results));
	if (gen->c->error)
		return;
	rpn_join(&x, size);
	memcpy(results, x.stack, count * sizeof(*results));
}

void rpn_generate(struct gen *gen, const uint8_t *rpn, size_t size,
		  struct gen_value *result)
{
	expression_generate(gen, rpn, size, result, 1);
}

void rpn_far_generate(struct gen *gen, const uint8_t *rpn, size_t size,
		      uint32_t bytes, struct gen_value *result)
{
	struct gen_value far[2];

	expression_generate(gen, rpn, size, far, 2);
	segment_generate(gen, &far[0], &far[1], bytes, result);
}
