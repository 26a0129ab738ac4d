// SPDX-License-Identifier: GPL-2.0
/*
 * Expressions (DWARF 5, section 2.5) -> instructions. The stack exists at
 * compile time only: an entry says where its value is and what is to be added
 * to it, so constants, registers with offsets and relocated addresses cost
 * nothing until they are used. Results of arithmetic stay in r1 to r5 (temps)
 * until a call; then they move to slots of the frame. Entry i has the home
 * slot i, where it must be at a branch and where ways join; the slots from
 * TDF_RPN_STACK to RPN_SLOTS are for everything else. r0 is scratch.
 */
#include "gen.h"

#include <errno.h>
#include <string.h>

#include "lib/formats/rpn.h"

#define TEMP_FIRST	BPF_REG_1
#define TEMP_LAST	BPF_REG_5
#define REGS		BPF_REG_6	/* struct pt_regs */

struct rpn_expr {
	struct gen *gen;
	struct emit *e;
	struct gen_value stack[TDF_RPN_STACK];
	int depth;
	unsigned int pinned;		/* temps in use by this operation */
	bool live;			/* false after a skip */
	size_t zero_end;		/* of the last lit0 */
	bool raises;			/* this operation comes right after it
					 * and from nowhere else */
	/* of the targets of jumps; label is -1 elsewhere */
	struct { int64_t label; int depth; } targets[TDF_RPN_MAX + 1];
};

static bool fits_s32(uint64_t value)
{
	return (int64_t)value == (int32_t)value;
}

static struct gen_value value_const(uint64_t number)
{
	return (struct gen_value){ .kind = VALUE_CONST, .add = number };
}

static struct gen_value value_temp(int reg)
{
	return (struct gen_value){ .kind = VALUE_TEMP, .base = reg };
}

static struct gen_value value_memory(int base, int off, int bytes, uint64_t add)
{
	return (struct gen_value){ VALUE_MEMORY, base, off, bytes, add, 0 };
}

static void add_const(struct emit *e, int reg, uint64_t number)
{
	if (!number)
		return;
	if (fits_s32(number)) {
		emit_alu_imm(e, BPF_ADD, reg, number);
		return;
	}
	emit_const(e, BPF_REG_0, number);
	emit_alu(e, BPF_ADD, reg, BPF_REG_0);
}

void rpn_value_load(struct gen *gen, const struct gen_value *v, int reg)
{
	struct emit *e = &gen->e;

	switch (v->kind) {
	case VALUE_CONST:
		emit_const(e, reg, v->add);
		return;
	case VALUE_MEMORY:
		emit_load(e, v->bytes, reg, v->base, v->off);
		break;
	case VALUE_TEMP:
		if (v->base != reg)
			emit_alu(e, BPF_MOV, reg, v->base);
		break;
	}
	add_const(e, reg, v->add);
}

void rpn_address_load(struct gen *gen, const struct gen_value *v, int reg)
{
	rpn_value_load(gen, v, reg);
	if (gen->flat32)
		emit_zext32(&gen->e, reg);
}

static bool in_temp(const struct gen_value *v, int reg)
{
	return v->kind == VALUE_TEMP && v->base == reg;
}

static bool in_frame(const struct gen_value *v, int off)
{
	return v->kind == VALUE_MEMORY && v->base == BPF_REG_10 &&
	       v->off == off;
}

static int temp_users(const struct rpn_expr *x, int reg)
{
	int users = 0;

	for (int i = 0; i < x->depth; i++)
		users += in_temp(&x->stack[i], reg);
	return users;
}

static int slot_take(const struct rpn_expr *x, int n)
{
	if (x->gen->deepest > FRAME_SLOT(x->gen, n))
		x->gen->deepest = FRAME_SLOT(x->gen, n);
	return FRAME_SLOT(x->gen, n);
}

static int slot_new(const struct rpn_expr *x)
{
	for (int n = TDF_RPN_STACK; n < RPN_SLOTS; n++) {
		int off = FRAME_SLOT(x->gen, n), i = 0;

		while (i < x->depth && !in_frame(&x->stack[i], off))
			i++;
		if (i == x->depth)
			return slot_take(x, n);
	}
	x->e->error = -E2BIG;
	return FRAME_SLOT(x->gen, TDF_RPN_STACK);
}

/* Move a temp to the frame, for all entries that are in it. */
static void temp_spill(struct rpn_expr *x, int reg)
{
	int off = slot_new(x);

	emit_store(x->e, 8, BPF_REG_10, off, reg);
	for (int i = 0; i < x->depth; i++) {
		struct gen_value *v = &x->stack[i];

		if (in_temp(v, reg))
			*v = (struct gen_value){ VALUE_MEMORY, BPF_REG_10, off, 8,
					     v->add, v->segment };
	}
}

static void temps_spill(struct rpn_expr *x)
{
	for (int reg = TEMP_FIRST; reg <= TEMP_LAST; reg++) {
		if (temp_users(x, reg))
			temp_spill(x, reg);
	}
}

static int temp_pin(struct rpn_expr *x, int reg)
{
	x->pinned |= 1u << reg;
	return reg;
}

static int temp_new(struct rpn_expr *x)
{
	int victim = -1;

	for (int reg = TEMP_FIRST; reg <= TEMP_LAST; reg++) {
		if (x->pinned & 1u << reg)
			continue;
		if (!temp_users(x, reg))
			return temp_pin(x, reg);
		victim = reg;
	}
	temp_spill(x, victim);
	return temp_pin(x, victim);
}

/* Bring an entry into a temp of its own, to be changed there. */
static int entry_own(struct rpn_expr *x, int entry)
{
	struct gen_value *v = &x->stack[entry];
	int reg;

	if (v->kind == VALUE_TEMP && temp_users(x, v->base) == 1) {
		reg = temp_pin(x, v->base);
		add_const(x->e, reg, v->add);
	} else {
		reg = temp_new(x);
		rpn_value_load(x->gen, v, reg);
	}
	*v = value_temp(reg);
	return reg;
}

/* Bring an entry into a temp, to be read only. */
static int entry_use(struct rpn_expr *x, int entry)
{
	const struct gen_value *v = &x->stack[entry];

	if (v->kind == VALUE_TEMP && !v->add)
		return temp_pin(x, v->base);
	return entry_own(x, entry);
}

static bool is_home(const struct rpn_expr *x, int entry)
{
	const struct gen_value *v = &x->stack[entry];

	return in_frame(v, FRAME_SLOT(x->gen, entry)) && v->bytes == 8 &&
	       !v->add;
}

static bool in_foreign_home(const struct rpn_expr *x, int entry)
{
	for (int i = 0; i < TDF_RPN_STACK; i++) {
		if (i != entry &&
		    in_frame(&x->stack[entry], FRAME_SLOT(x->gen, i)))
			return true;
	}
	return false;
}

/* Bring the lowest entries home. Who lives in another's home leaves first. */
static void entries_flush(struct rpn_expr *x, int count)
{
	unsigned int pinned = x->pinned;

	for (int i = 0; i < count; i++) {
		if (in_foreign_home(x, i))
			entry_own(x, i);
		x->pinned = pinned;
	}
	for (int i = 0; i < count; i++) {
		if (is_home(x, i))
			continue;
		emit_store(x->e, 8, BPF_REG_10, slot_take(x, i),
			   entry_use(x, i));
		x->stack[i] = value_memory(BPF_REG_10,
					   FRAME_SLOT(x->gen, i), 8, 0);
		x->pinned = pinned;
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
static bool fold_sum(uint8_t code, struct gen_value *a, const struct gen_value *b)
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

static void emit_plain(struct rpn_expr *x, int op)
{
	const struct gen_value *b = rpn_top(x);
	int dst = entry_own(x, x->depth - 2);

	if (b->kind == VALUE_CONST && fits_s32(b->add))
		emit_alu_imm(x->e, op, dst, b->add);
	else
		emit_alu(x->e, op, dst, entry_use(x, x->depth - 1));
}

/*
 * BPF shifts by the low six bits of the count, DWARF by all of it. r0 becomes
 * all ones for counts of 64 and more; done without branches, which would
 * double the states the verifier has to walk.
 */
static void emit_shift(struct rpn_expr *x, uint8_t code)
{
	struct emit *e = x->e;
	int dst = entry_own(x, x->depth - 2);
	int count = entry_own(x, x->depth - 1);

	emit_alu(e, BPF_MOV, BPF_REG_0, count);
	emit_alu_imm(e, BPF_RSH, BPF_REG_0, 6);
	emit_alu_imm(e, BPF_NEG, BPF_REG_0, 0);
	emit_alu_imm(e, BPF_ARSH, BPF_REG_0, 63);
	if (code == RPN_shra) {
		emit_alu(e, BPF_OR, count, BPF_REG_0);
		emit_alu_imm(e, BPF_AND, count, 63);
		emit_alu(e, BPF_ARSH, dst, count);
		return;
	}
	emit_alu_imm(e, BPF_AND, count, 63);
	emit_alu(e, code == RPN_shl ? BPF_LSH : BPF_RSH, dst, count);
	emit_alu_imm(e, BPF_XOR, BPF_REG_0, -1);
	emit_alu(e, BPF_AND, dst, BPF_REG_0);
}

static void emit_shift_const(struct rpn_expr *x, uint8_t code, uint64_t count)
{
	int dst = entry_own(x, x->depth - 2);

	if (code == RPN_shra)
		emit_alu_imm(x->e, BPF_ARSH, dst, count < 64 ? count : 63);
	else if (count >= 64)
		emit_alu_imm(x->e, BPF_MOV, dst, 0);
	else
		emit_alu_imm(x->e, code == RPN_shl ? BPF_LSH : BPF_RSH, dst,
			     count);
}

/* reg = |reg|, with r0 */
static void emit_abs(struct emit *e, int reg)
{
	emit_alu(e, BPF_MOV, BPF_REG_0, reg);
	emit_alu_imm(e, BPF_ARSH, BPF_REG_0, 63);
	emit_alu(e, BPF_XOR, reg, BPF_REG_0);
	emit_alu(e, BPF_SUB, reg, BPF_REG_0);
}

/*
 * Kernels before 6.6 divide unsigned only: divide the absolute values, then
 * set the sign (sign is all ones when they differ). -2^63 / -1 wraps.
 * Where the divisor is the literal 0 the dividend is what the item gets.
 */
static void emit_division(struct rpn_expr *x, uint8_t code)
{
	struct emit *e = x->e;
	int dst = entry_own(x, x->depth - 2);
	int by = entry_own(x, x->depth - 1), sign;
	struct stub *stub;

	stub = stub_new(x->gen, STUB_ARITHMETIC);
	if (!stub)
		return;
	if (x->raises && code == RPN_div)
		stub->value = value_temp(dst);
	emit_jump_imm(e, BPF_JEQ, by, 0, stub->enter);
	if (code == RPN_mod) {
		emit_alu(e, BPF_MOD, dst, by);
		return;
	}
	sign = temp_new(x);
	emit_alu(e, BPF_MOV, sign, dst);
	emit_alu(e, BPF_XOR, sign, by);
	emit_alu_imm(e, BPF_ARSH, sign, 63);
	emit_abs(e, dst);
	emit_abs(e, by);
	emit_alu(e, BPF_DIV, dst, by);
	emit_alu(e, BPF_XOR, dst, sign);
	emit_alu(e, BPF_SUB, dst, sign);
}

/* By a literal of 1 to 2^31 - 1 */
static void emit_division_const(struct rpn_expr *x, uint8_t code, int32_t by)
{
	struct emit *e = x->e;
	int dst = entry_own(x, x->depth - 2), sign;

	if (code == RPN_mod) {
		emit_alu_imm(e, BPF_MOD, dst, by);
		return;
	}
	sign = temp_new(x);
	emit_alu(e, BPF_MOV, sign, dst);
	emit_alu_imm(e, BPF_ARSH, sign, 63);
	emit_alu(e, BPF_XOR, dst, sign);
	emit_alu(e, BPF_SUB, dst, sign);
	emit_alu_imm(e, BPF_DIV, dst, by);
	emit_alu(e, BPF_XOR, dst, sign);
	emit_alu(e, BPF_SUB, dst, sign);
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

static void emit_compare(struct rpn_expr *x, uint8_t code)
{
	emit_label holds = emit_label_new(x->e);
	const struct gen_value *b = rpn_top(x);
	int dst = entry_own(x, x->depth - 2), by = -1;

	if (b->kind != VALUE_CONST || !fits_s32(b->add))
		by = entry_use(x, x->depth - 1);
	emit_alu_imm(x->e, BPF_MOV, BPF_REG_0, 1);
	if (by < 0)
		emit_jump_imm(x->e, compare_op(code), dst, b->add, holds);
	else
		emit_jump_if(x->e, compare_op(code), dst, by, holds);
	emit_alu_imm(x->e, BPF_MOV, BPF_REG_0, 0);
	emit_label_place(x->e, holds);
	emit_alu(x->e, BPF_MOV, dst, BPF_REG_0);
}

static void emit_binary(struct rpn_expr *x, uint8_t code)
{
	switch (code) {
	case RPN_and:	emit_plain(x, BPF_AND); break;
	case RPN_or:	emit_plain(x, BPF_OR); break;
	case RPN_xor:	emit_plain(x, BPF_XOR); break;
	case RPN_plus:	emit_plain(x, BPF_ADD); break;
	case RPN_minus:	emit_plain(x, BPF_SUB); break;
	case RPN_mul:	emit_plain(x, BPF_MUL); break;
	case RPN_shl:
	case RPN_shr:
	case RPN_shra:
		if (rpn_top(x)->kind == VALUE_CONST)
			emit_shift_const(x, code, rpn_top(x)->add);
		else
			emit_shift(x, code);
		break;
	case RPN_div:
	case RPN_mod:
		if (rpn_top(x)->kind == VALUE_CONST &&
		    rpn_top(x)->add - 1 < INT32_MAX)
			emit_division_const(x, code, rpn_top(x)->add);
		else
			emit_division(x, code);
		break;
	default:
		emit_compare(x, code);
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
		emit_binary(x, code);
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
		emit_abs(x->e, reg);
	else if (code == RPN_neg)
		emit_alu_imm(x->e, BPF_NEG, reg, 0);
	else
		emit_alu_imm(x->e, BPF_XOR, reg, -1);
}

static void rpn_op_deref(struct rpn_expr *x, int bytes, size_t at)
{
	int off;

	if (!reads_done(x->gen, at))
		temps_spill(x);
	off = reads_take(x->gen, at, rpn_top(x));
	if (!off) {
		off = slot_new(x);
		emit_alu(x->e, BPF_MOV, BPF_REG_1, BPF_REG_10);
		emit_alu_imm(x->e, BPF_ADD, BPF_REG_1, off);
		item_read(x->gen, bytes, rpn_top(x));
	}
	*rpn_top(x) = value_memory(BPF_REG_10, off, bytes, 0);
}

/* The 8 bytes at the selector:offset on top of the stack, or fewer. */
static void op_xderef(struct rpn_expr *x, int bytes)
{
	struct gen_value linear;
	int off;

	temps_spill(x);
	segment_generate(x->gen, rpn_top(x) - 1, rpn_top(x), bytes, &linear);
	x->depth--;
	off = slot_new(x);
	emit_alu(x->e, BPF_MOV, BPF_REG_1, BPF_REG_10);
	emit_alu_imm(x->e, BPF_ADD, BPF_REG_1, off);
	item_read(x->gen, bytes, &linear);
	*rpn_top(x) = value_memory(BPF_REG_10, off, bytes, 0);
}

/* Nothing is known as long as it is 0. */
static void late_test(struct rpn_expr *x, int reg)
{
	const struct gen_value none = { 0 };
	emit_label known;

	if (!x->gen->walking) {
		stub_fault_if(x->gen, BPF_JEQ, reg, 0, &none);
		return;
	}
	known = emit_label_new(x->e);
	emit_jump_imm(x->e, BPF_JNE, reg, 0, known);
	emit_alu_imm(x->e, BPF_OR, BPF_REG_9, WALK_UNREADABLE);
	emit_jump(x->e, x->gen->fault);
	emit_label_place(x->e, known);
}

/* What the kernel keeps of the thread, as of its last switch. */
static void rpn_op_thread(struct rpn_expr *x, const struct arch_thread *thread,
			  enum arch_segment segment, int64_t add)
{
	int reg;

	if (x->gen->target->context == BODY_KPROBE)
		gen_fail(x->gen, -EOPNOTSUPP,
			 "thread-local data of the kernel can't be read");
	else if (!thread->offset)
		gen_fail(x->gen, -EOPNOTSUPP,
			 "thread-local data can't be read: this kernel has no BTF");
	temps_spill(x);
	emit_call(x->e, BPF_FUNC_get_current_task_btf);
	reg = temp_new(x);
	emit_load(x->e, thread->bytes, reg, BPF_REG_0, thread->offset);
	if (thread->late)
		late_test(x, reg);
	rpn_push(x, value_temp(reg));
	rpn_top(x)->add = add;
	rpn_top(x)->segment = add ? SEGMENT_NONE : segment;
}

static void op_register(struct rpn_expr *x, uint64_t number, int64_t add)
{
	struct gen *gen = x->gen;
	enum arch_segment segment = arch_segment_find(gen->machine, number);
	struct arch_thread thread;
	struct arch_reg reg;

	if (arch_thread_find(gen->target->layout, gen->machine, number,
			     &thread)) {
		rpn_op_thread(x, &thread, segment, add);
		return;
	}
	reg = arch_reg_find(gen, number);
	if (reg.ip)
		add -= gen_ip_excess(gen);
	rpn_push(x, value_memory(REGS, reg.offset, reg.bytes, add));
	rpn_top(x)->segment = add ? SEGMENT_NONE : segment;
}

/* What the module's kfunc stores in a slot. Without it items don't come here
 * (item_generate): an IF, or what has no prefix, can't be evaluated. */
static void op_vector(struct rpn_expr *x, const struct rpn_op *op)
{
	const struct gen_value none = { 0 };
	int number = arch_vector_find(x->gen, op->a), off;
	struct emit *e = x->e;

	temps_spill(x);
	off = slot_new(x);
	emit_store_imm(e, 8, BPF_REG_10, off, 0);
	if (x->gen->target->vector_read) {
		emit_alu(e, BPF_MOV, BPF_REG_1, BPF_REG_10);
		emit_alu_imm(e, BPF_ADD, BPF_REG_1, off);
		emit_alu_imm(e, BPF_MOV, BPF_REG_2, 2 * number + (op->b != 0));
		emit_module_kfunc(e, BODY_MODULE_PLACE,
				  x->gen->target->vector_read);
	} else {
		emit_alu_imm(e, BPF_MOV, BPF_REG_0, -EOPNOTSUPP);
	}
	stub_fault_if(x->gen, BPF_JNE, BPF_REG_0, 0, &none);
	rpn_push(x, value_memory(BPF_REG_10, off, 8, 0));
}

static void op_entry(struct rpn_expr *x, const struct rpn_op *op)
{
	int reg = temp_new(x);

	call_value_load(x->gen, op, reg);
	rpn_push(x, value_temp(reg));
}

static void op_tree_next(struct rpn_expr *x, const struct rpn_op *op)
{
	int slot;

	temps_spill(x);
	slot = slot_new(x);
	rpn_value_load(x->gen, rpn_top(x), BPF_REG_1);
	emit_store(x->e, 8, BPF_REG_10, slot, BPF_REG_1);
	tree_next_generate(x->gen, &op->tree, slot);
	*rpn_top(x) = value_memory(BPF_REG_10, slot, 8, 0);
}

static const struct body_section *rpn_section_find(const struct gen *gen,
						   uint64_t address)
{
	const struct body_target *target = gen->target;
	const struct body_section *section = target->sections;

	if (!target->section_count ||
	    gen->tdf->sections->module != gen->point->module)
		return NULL;
	for (__u32 i = 0; i < target->section_count; i++, section++)
		if (address - section->address < section->size)
			return section;
	return NULL;
}

/* The address of the running CPU's copy. */
static void op_percpu(struct rpn_expr *x, uint64_t address)
{
	const struct gen_value table = value_const(x->gen->target->percpu_offsets);
	struct emit *e = x->e;
	int off, reg;

	temps_spill(x);
	off = slot_new(x);
	emit_call(e, BPF_FUNC_get_smp_processor_id);
	emit_alu_imm(e, BPF_LSH, BPF_REG_0, 3);
	emit_const(e, BPF_REG_3, table.add);
	emit_alu(e, BPF_ADD, BPF_REG_3, BPF_REG_0);
	emit_alu_imm(e, BPF_MOV, BPF_REG_2, 8);
	emit_alu(e, BPF_MOV, BPF_REG_1, BPF_REG_10);
	emit_alu_imm(e, BPF_ADD, BPF_REG_1, off);
	emit_call(e, BPF_FUNC_probe_read_kernel);
	stub_fault_if(x->gen, BPF_JNE, BPF_REG_0, 0, &table);
	reg = temp_new(x);
	emit_load(e, 8, reg, BPF_REG_10, off);
	rpn_push(x, value_temp(reg));
	rpn_top(x)->add = address;
}

static void op_addr(struct rpn_expr *x, uint64_t address)
{
	const struct body_section *section = rpn_section_find(x->gen, address);
	struct gen_value bias = gen_bias(x->gen);
	uint64_t run;

	if (!section) {
		bias.add += address;
		rpn_push(x, bias);
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
	int64_t *label = &x->targets[op->a].label, reg = 0;

	if (*label < 0)
		*label = emit_label_new(x->e);
	if (op->code == RPN_bra)
		reg = entry_use(x, x->depth - 1);
	entries_flush(x, x->depth - op->pops);
	x->depth -= op->pops;
	x->targets[op->a].depth = x->depth;
	if (op->code == RPN_bra) {
		emit_jump_imm(x->e, BPF_JNE, reg, 0, *label);
		return;
	}
	emit_jump(x->e, *label);
	x->live = false;
}

/* Where a jump lands, all entries are at home. */
static void rpn_join(struct rpn_expr *x, size_t at)
{
	if (x->targets[at].label < 0)
		return;
	if (x->live)
		entries_flush(x, x->depth);
	emit_label_place(x->e, x->targets[at].label);
	x->live = true;
	x->depth = x->targets[at].depth;
	for (int i = 0; i < x->depth; i++)
		x->stack[i] = value_memory(BPF_REG_10,
					   FRAME_SLOT(x->gen, i), 8, 0);
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
		op_register(x, number, value);
		return;
	}
	switch (op->code) {
	case RPN_addr:
		op_addr(x, op->a);
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
			rpn_top(x)->add += op->a;
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
	x->pinned = 0;
}

/* The lowest entries of what is left become results[]; nothing after errors. */
static void expression_generate(struct gen *gen, const uint8_t *rpn,
				size_t size, struct gen_value *results, int count)
{
	struct rpn_expr x = { .gen = gen, .e = &gen->e, .live = true };
	struct rpn_op op = { 0 };

	for (size_t i = 0; i <= size; i++)
		x.targets[i].label = -1;
	while (!gen->e.error && rpn_next(rpn, size, &op)) {
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
	if (gen->e.error)
		return;
	rpn_join(&x, size);
	temps_spill(&x);
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

static unsigned int register_uses(uint16_t machine, uint64_t number)
{
	struct arch_thread thread;

	if (!arch_thread_find(NULL, machine, number, &thread))
		return 0;
	return RPN_USES_BASE | (thread.stale ? RPN_USES_STALE : 0) |
	       (thread.late ? RPN_USES_LATE : 0);
}

unsigned int rpn_uses(uint16_t machine, const uint8_t *rpn, size_t size)
{
	unsigned int uses = 0;
	struct rpn_op op = { 0 };

	while (rpn_next(rpn, size, &op)) {
		if (op.code == RPN_addr)
			uses |= RPN_USES_ADDR;
		else if (op.code == RPN_xderef || op.code == RPN_xderef_size)
			uses |= RPN_USES_XDEREF;
		else if (op.code == RPN_vector)
			uses |= RPN_USES_VECTOR;
		else if (op.code == RPN_bregx)
			uses |= register_uses(machine, op.a);
	}
	return uses;
}
