// SPDX-License-Identifier: GPL-2.0
/* One pass over the operations. */
#include "dwarf_expression.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/tdf.h>
#include "lib/formats/rpn.h"
#include "dwarf_call.h"
#include "dwarf_symbol.h"

#define STACK_MAX	24	/* rpn_check() allows the 16 of a TDF */
#define JUMPS_MAX	32
#define NO_START	SIZE_MAX
#define NESTING_MAX	8
#define CALLS_MAX	2	/* frames outwards that are asked */
#define CHAIN_BYTES	3000	/* of all the callers' values */
#define CHAIN_MAX	256	/* calls that are compared */

/*
 * ---- the stack machine ----
 *
 * Entries of the stack are kept as a TDF's 64 bits: zero- or sign-extended by
 * their type. The generic type of a 32-bit module is unsigned and has 32 bits.
 * An addition may leave more bits, which are cut when the entry is used; only the
 * top can have some.
 */

struct expression_type {
	uint8_t bytes;
	bool is_signed, generic;
};

struct expression_entry {
	struct expression_type type;
	size_t start;		/* of the code that pushed it, or NO_START */
	bool uncut;		/* has more than 32 bits */
};

struct machine_jump {
	size_t target;		/* offset in the DWARF expression */
	size_t operand;		/* where in rpn */
	unsigned int depth;
	struct expression_entry stack[STACK_MAX];
};

struct dwarf_machine {
	const struct dwarf_context *context;
	Dwarf_Attribute *attr;
	struct bytes *rpn;
	struct error *err;
	bool wide;
	bool dead;		/* after a skip */
	unsigned int depth;
	struct expression_entry stack[STACK_MAX];
	unsigned int jump_count;
	struct machine_jump jumps[JUMPS_MAX];
};

static int machine_damaged(struct dwarf_machine *m)
{
	return error_set(m->err, -EINVAL, "its location is damaged");
}

static struct expression_entry *machine_top(struct dwarf_machine *m)
{
	return &m->stack[m->depth - 1];
}

static struct expression_type generic_type(const struct dwarf_machine *m)
{
	return (struct expression_type){.bytes = m->wide ? 8 : 4,
					.generic = true};
}

static void cut_top(struct dwarf_machine *m)
{
	if (!m->depth || !machine_top(m)->uncut)
		return;
	rpn_emit_extend(m->rpn, 4, false);
	machine_top(m)->uncut = false;
	machine_top(m)->start = NO_START;
}

static int stack_push(struct dwarf_machine *m, struct expression_type type)
{
	cut_top(m);
	if (m->depth == STACK_MAX)
		return error_set(m->err, -ENODATA, "it is computed with more "
				 "than 16 stack entries");
	m->stack[m->depth++] = (struct expression_entry){
		.type = type, .start = m->rpn->size,
	};
	return 0;
}

/* Make an entry of the generic type, whose code the caller emits. */
static int machine_push(struct dwarf_machine *m)
{
	return stack_push(m, generic_type(m));
}

static void retype_top(struct dwarf_machine *m, struct expression_type type)
{
	*machine_top(m) = (struct expression_entry){
		.type = type, .start = NO_START,
	};
}

/* The top was computed as a value of the type. */
static void set_top(struct dwarf_machine *m, struct expression_type type)
{
	retype_top(m, type);
	if (type.generic)
		machine_top(m)->uncut = !m->wide;
	else
		rpn_emit_extend(m->rpn, type.bytes, type.is_signed);
}

static int push_constant(struct dwarf_machine *m, uint64_t value)
{
	int code = machine_push(m);

	if (!code)
		rpn_emit_const(m->rpn, m->wide ? value : (uint32_t)value);
	return code;
}

/* The one operation that pushed the top. */
static bool decode_alone(struct dwarf_machine *m, struct rpn_op *op)
{
	size_t start = machine_top(m)->start;

	return start < m->rpn->size &&
	       rpn_single(m->rpn->data + start, m->rpn->size - start, op);
}

/* Add to the top; what is one operation stays one. */
static void machine_add(struct dwarf_machine *m, int64_t value)
{
	struct expression_entry *entry = machine_top(m);
	struct rpn_op op;
	uint64_t number;
	int64_t offset;

	if (!value)
		return;
	if (decode_alone(m, &op) && rpn_is_register(&op, &number, &offset)) {
		m->rpn->size = entry->start;
		rpn_emit_register(m->rpn, number, offset + value);
	} else {
		rpn_emit_add(m->rpn, value, true);
	}
	if (entry->type.generic)
		entry->uncut = !m->wide;
	else
		set_top(m, entry->type);
}

/* The base type at the offset in the operation's unit; 0: the generic one. */
static int machine_read_type(struct dwarf_machine *m, const Dwarf_Op *op,
			     uint64_t offset, struct expression_type *type)
{
	uint64_t number;
	Dwarf_Die die;
	int bytes;

	*type = generic_type(m);
	if (!offset)
		return 0;
	if (!m->attr || dwarf_getlocation_die(m->attr, op, &die) ||
	    dwarf_tag(&die) != DW_TAG_base_type ||
	    !dwarf_die_number(&die, DW_AT_encoding, &number))
		return machine_damaged(m);
	bytes = dwarf_bytesize(&die);
	if (number == DW_ATE_float || number == DW_ATE_complex_float ||
	    number == DW_ATE_imaginary_float || number == DW_ATE_decimal_float)
		return error_set(m->err, -ENODATA, "it is computed in floating "
				 "point, which a probe can't do");
	if (bytes < 1 || bytes > 8)
		return error_set(m->err, -ENODATA, "it is computed with "
				 "integers of %d bytes", bytes);
	*type = (struct expression_type){
		.bytes = bytes,
		.is_signed = number == DW_ATE_signed ||
			     number == DW_ATE_signed_char,
	};
	return 0;
}

static int machine_const_type(struct dwarf_machine *m, const Dwarf_Op *op)
{
	struct expression_type type;
	Dwarf_Attribute value;
	Dwarf_Block block;
	uint64_t number = 0;
	int code = machine_read_type(m, op, op->number, &type);

	if (code)
		return code;
	if (dwarf_getlocation_attr(m->attr, op, &value) ||
	    dwarf_formblock(&value, &block) || block.length != type.bytes)
		return machine_damaged(m);
	memcpy(&number, block.data, block.length);
	if (type.is_signed && type.bytes < 8 && number >> (8 * type.bytes - 1))
		number |= ~0ULL << (8 * type.bytes);
	code = stack_push(m, type);
	if (!code)
		rpn_emit_const(m->rpn, number);
	return code;
}

/* The top becomes a value of the type; the low bytes are kept. */
static void machine_become(struct dwarf_machine *m, struct expression_type type)
{
	cut_top(m);
	if (type.generic && !m->wide)
		rpn_emit_extend(m->rpn, 4, false);
	else if (!type.generic)
		rpn_emit_extend(m->rpn, type.bytes, type.is_signed);
	retype_top(m, type);
}

static int machine_deref(struct dwarf_machine *m, const Dwarf_Op *op)
{
	struct expression_type type = generic_type(m);
	unsigned int bytes = type.bytes;
	int code = 0;

	if (!m->depth)
		return machine_damaged(m);
	if (op->atom != DW_OP_deref)
		bytes = op->number;
	if (op->atom == DW_OP_deref_type || op->atom == DW_OP_GNU_deref_type)
		code = machine_read_type(m, op, op->number2, &type);
	if (code)
		return code;
	if (!bytes || bytes > 8)
		return machine_damaged(m);
	if (bytes & (bytes - 1))
		return error_set(m->err, -ENODATA, "it is computed from %u "
				 "bytes of memory", bytes);
	cut_top(m);
	rpn_emit_deref(m->rpn, bytes);
	if (!type.generic && type.is_signed)
		rpn_emit_extend(m->rpn, bytes, true);
	retype_top(m, type);
	return 0;
}

/* Both operands of a module of 32 bits as signed numbers. */
static void sign_operands(struct dwarf_machine *m, bool both)
{
	if (m->wide || !machine_top(m)->type.generic)
		return;
	rpn_emit_extend(m->rpn, 4, true);
	if (!both)
		return;
	rpn_emit_op(m->rpn, RPN_swap);
	rpn_emit_extend(m->rpn, 4, true);
	rpn_emit_op(m->rpn, RPN_swap);
}

static bool is_unsigned_8(struct expression_type type)
{
	return !type.generic && !type.is_signed && type.bytes == 8;
}

/*
 * a / b of unsigned numbers by the signed division: where b has its top bit,
 * a >= b; else q = a / 2 / b * 2, and one more when a - q * b >= b.
 */
static void emit_unsigned_div(struct dwarf_machine *m)
{
#define FLIP	RPN_const8u, 0, 0, 0, 0, 0, 0, 0, 0x80, RPN_xor
#define GE	FLIP, RPN_swap, FLIP, RPN_swap, RPN_ge
	static const uint8_t big[] = { GE };
	static const uint8_t small[] = {
		RPN_over, RPN_lit + 1, RPN_shr, RPN_over, RPN_div,
		RPN_lit + 1, RPN_shl, RPN_rot,			/* q a b */
		RPN_pick, 2, RPN_over, RPN_mul, RPN_pick, 2, RPN_swap,
		RPN_minus, RPN_swap, GE,			/* q a more */
		RPN_swap, RPN_drop, RPN_plus,
		RPN_skip, sizeof(big), 0,
	};
#undef GE
#undef FLIP
	static const uint8_t choice[] = {
		RPN_dup, RPN_lit, RPN_lt, RPN_bra, sizeof(small), 0,
	};

	bytes_add(m->rpn, choice, sizeof(choice));
	bytes_add(m->rpn, small, sizeof(small));
	bytes_add(m->rpn, big, sizeof(big));
}

/* Operations with one operand or two, whose result has the type of the first
 * unless they compare */
static int machine_compute(struct dwarf_machine *m, uint8_t atom)
{
	bool unary = atom == DW_OP_abs || atom == DW_OP_neg ||
		     atom == DW_OP_not;
	bool compares = atom >= DW_OP_eq && atom <= DW_OP_ne;
	bool orders = compares && atom != DW_OP_eq && atom != DW_OP_ne;
	/* a mod b is a - a / b * b */
	static const uint8_t mod[] = {
		RPN_over, RPN_over, RPN_div, RPN_mul, RPN_minus,
	};
	struct expression_type type;

	if (m->depth < (unary ? 1 : 2))
		return machine_damaged(m);
	cut_top(m);
	type = m->stack[m->depth - 2 + unary].type;
	/* a TDF compares signed numbers: flip the highest bits */
	for (int i = 0; orders && is_unsigned_8(type) && i < 2; i++) {
		rpn_emit_const(m->rpn, INT64_MIN);
		rpn_emit_op(m->rpn, RPN_xor);
		rpn_emit_op(m->rpn, RPN_swap);
	}
	if (compares || atom == DW_OP_div || atom == DW_OP_abs)
		sign_operands(m, !unary);
	m->depth -= !unary;
	if ((atom == DW_OP_shr || atom == DW_OP_shra) && type.bytes < 8) {
		/* the top is how far the other entry is shifted */
		rpn_emit_op(m->rpn, RPN_swap);
		rpn_emit_extend(m->rpn, type.bytes, atom == DW_OP_shra);
		rpn_emit_op(m->rpn, RPN_swap);
	}
	if (atom == DW_OP_mod && type.is_signed)
		bytes_add(m->rpn, mod, sizeof(mod));
	else if (atom == DW_OP_div && is_unsigned_8(type))
		emit_unsigned_div(m);
	else
		rpn_emit_op(m->rpn, atom);
	if (compares)
		retype_top(m, generic_type(m));
	else
		set_top(m, type);
	return 0;
}

static int machine_copy(struct dwarf_machine *m, uint8_t atom, uint64_t index)
{
	struct expression_type type;
	int code;

	if (atom != DW_OP_pick)
		index = atom == DW_OP_over;
	if (index >= m->depth)
		return machine_damaged(m);
	type = m->stack[m->depth - 1 - index].type;
	code = stack_push(m, type);
	if (code)
		return code;
	machine_top(m)->start = NO_START;
	rpn_emit_op(m->rpn, atom);
	if (atom == DW_OP_pick)
		rpn_emit_op(m->rpn, index);
	return 0;
}

/* swap, rot, drop */
static int machine_move(struct dwarf_machine *m, uint8_t atom)
{
	unsigned int count = atom == DW_OP_drop ? 1 :
			     atom == DW_OP_swap ? 2 : 3;
	struct expression_entry last;

	if (m->depth < count)
		return machine_damaged(m);
	cut_top(m);
	rpn_emit_op(m->rpn, atom);
	if (atom == DW_OP_drop) {
		m->depth--;
		return 0;
	}
	last = *machine_top(m);
	for (unsigned int i = 1; i < count; i++)
		m->stack[m->depth - i] = m->stack[m->depth - i - 1];
	m->stack[m->depth - count] = last;
	for (unsigned int i = 1; i <= count; i++)
		m->stack[m->depth - i].start = NO_START;
	return 0;
}

static int push_address(struct dwarf_machine *m, const Dwarf_Op *op)
{
	uint64_t address;
	int code;

	if (!dwarf_die_address(m->attr, op, 1, &address))
		return machine_damaged(m);
	code = machine_push(m);
	if (!code)
		rpn_emit_addr(m->rpn, address);
	return code;
}

/* A constant of another section, by its index */
static int push_indexed(struct dwarf_machine *m, const Dwarf_Op *op)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (!m->attr || dwarf_getlocation_attr(m->attr, op, &attr) ||
	    dwarf_formudata(&attr, &value))
		return machine_damaged(m);
	return push_constant(m, value);
}

/* The offset of a thread-local variable is a constant just pushed. */
static int machine_thread(struct dwarf_machine *m)
{
	struct rpn_op op;
	int64_t constant;
	uint64_t offset;
	int code;

	if (!m->depth || !decode_alone(m, &op))
		return machine_damaged(m);
	if (!rpn_is_constant(&op, &constant))
		return error_set(m->err, -ENODATA, "it is thread-local at a "
				 "place that is computed");
	m->rpn->size = machine_top(m)->start;
	machine_top(m)->start = NO_START;
	offset = constant;
	code = dwarf_thread_offset(m->context->dwarf, &offset, m->err);
	return code ? code : dwarf_thread_emit(m->context->dwarf, offset,
					       m->rpn, m->err);
}

/* Jumps to `target` end here: after an unconditional one the stack is again as
 * it was at the jump. `last` takes those to the end. */
static int machine_land(struct dwarf_machine *m, size_t target, bool last)
{
	unsigned int kept = 0;
	bool any = false;

	for (unsigned int i = 0; i < m->jump_count; i++) {
		struct machine_jump *jump = &m->jumps[i];
		size_t distance;

		if (!last && jump->target != target) {
			if (i != kept)
				m->jumps[kept] = *jump;
			kept++;
			continue;
		}
		if (!any)
			cut_top(m);
		any = true;
		if (m->dead) {
			m->depth = jump->depth;
			memcpy(m->stack, jump->stack, sizeof(m->stack));
			m->dead = false;
		}
		distance = m->rpn->size - (jump->operand + 2);
		if (m->depth != jump->depth || distance > INT16_MAX ||
		    m->rpn->failed)
			return machine_damaged(m);
		m->rpn->data[jump->operand] = distance;
		m->rpn->data[jump->operand + 1] = distance >> 8;
	}
	m->jump_count = kept;
	for (unsigned int i = 0; any && i < m->depth; i++)
		m->stack[i].start = NO_START;
	return 0;
}

static int machine_jump(struct dwarf_machine *m, const Dwarf_Op *op)
{
	int64_t distance = (int16_t)op->number;
	struct machine_jump *jump;

	if (distance < 0)
		return error_set(m->err, -ENODATA, "it is computed by a loop, "
				 "which a probe can't do");
	if (m->jump_count == JUMPS_MAX || (op->atom == DW_OP_bra && !m->depth))
		return machine_damaged(m);
	cut_top(m);
	if (op->atom == DW_OP_bra)
		m->depth--;
	jump = &m->jumps[m->jump_count++];
	jump->target = op->offset + 3 + distance;
	jump->operand = m->rpn->size + 1;
	jump->depth = m->depth;
	memcpy(jump->stack, m->stack, sizeof(m->stack));
	rpn_emit_op(m->rpn, op->atom);
	rpn_emit_fixed(m->rpn, 0, 2);
	m->dead = op->atom == DW_OP_skip;
	return 0;
}

static int machine_refuse(struct dwarf_machine *m, uint8_t atom)
{
	static const struct {
		uint8_t atom;
		const char *name;
	} names[] = {
		{ DW_OP_xderef, "xderef" },
		{ DW_OP_xderef_size, "xderef_size" },
		{ DW_OP_xderef_type, "xderef_type" },
		{ DW_OP_push_object_address, "push_object_address" },
		{ DW_OP_call2, "call2" }, { DW_OP_call4, "call4" },
		{ DW_OP_call_ref, "call_ref" },
		{ DW_OP_implicit_pointer, "implicit_pointer" },
		{ DW_OP_GNU_implicit_pointer, "implicit_pointer" },
		{ DW_OP_GNU_variable_value, "GNU_variable_value" },
		{ DW_OP_GNU_encoded_addr, "GNU_encoded_addr" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].atom == atom)
			return error_set(m->err, -ENODATA, "it is computed "
					 "with DW_OP_%s, which a probe can't "
					 "do", names[i].name);
	return error_set(m->err, -ENODATA, "it is computed with operation %#x "
			 "of DWARF, which a probe can't do", atom);
}

/*
 * ---- frames ----
 *
 * By call frame information (DWARF 5 section 6.4): that of .eh_frame of the
 * module, or, where it has none, of .debug_frame. The description of a frame, its
 * base and the values at its entry are expressions themselves.
 */

static void cfi_free(void *value)
{
	dwarf_cfi_end(value);
}

/* The description of the frame at the context's pc, to be freed. 0, -ENODATA:
 * there is none, or -ENOMEM, with err set. */
static int cfi_frame_find(const struct dwarf_context *context,
			  Dwarf_Frame **frame, struct error *err)
{
	struct dwarf_file *dwarf = context->dwarf;
	Dwarf_CFI *cfi = dwarf_memo_find(dwarf, DWARF_FRAMES, NULL);

	*frame = NULL;
	if (!cfi) {
		cfi = dwarf_getcfi_elf(dwarf->module->elf);
		if (cfi && !dwarf_memo_add(dwarf, DWARF_FRAMES, NULL, cfi,
					   cfi_free))
			return error_no_memory(err);
	}
	if (cfi && !dwarf_cfi_addrframe(cfi, context->pc, frame))
		return 0;
	cfi = dwarf->dwarf ? dwarf_getcfi(dwarf->dwarf) : NULL;
	if (cfi && !dwarf_cfi_addrframe(cfi, context->pc, frame))
		return 0;
	return error_set(err, -ENODATA, "it is in the stack frame, of which "
			 "the module has no description");
}

bool dwarf_frame_base_find(const struct dwarf_context *context,
			   Dwarf_Attribute *attr, Dwarf_Op **ops, size_t *count)
{
	Dwarf_Die function = context->function;

	return function.addr &&
	       dwarf_die_location(&function, DW_AT_frame_base, attr) &&
	       dwarf_getlocation_addr(attr, context->pc, ops, count, 1) == 1 &&
	       *count;
}

bool dwarf_frame_base_register(const struct dwarf_context *context,
			       unsigned int *number)
{
	Dwarf_Attribute attr;
	size_t count;
	Dwarf_Op *ops;

	return dwarf_frame_base_find(context, &attr, &ops, &count) &&
	       count == 1 && dwarf_op_register(ops, number);
}

/* The context's canonical frame address. */
static int frame_cfa_emit(const struct dwarf_context *context,
			  struct bytes *rpn, struct error *err)
{
	Dwarf_Frame *frame;
	Dwarf_Op *ops;
	size_t count;
	int code = cfi_frame_find(context, &frame, err);

	if (code)
		return code;
	if (dwarf_frame_cfa(frame, &ops, &count) || !count)
		code = error_set(err, -ENODATA, "it is in the stack frame, "
				 "which isn't known here");
	else
		code = dwarf_expression_emit(context, NULL, ops, count, rpn,
					     err);
	free(frame);
	return code;
}

int dwarf_frame_address_emit(struct dwarf_file *dwarf, struct module *module,
			     uint64_t pc, struct bytes *rpn, struct error *err)
{
	struct dwarf_file bare = { .module = module };
	struct dwarf_context context = {
		.dwarf = dwarf ? dwarf : &bare, .pc = pc,
	};
	int code = frame_cfa_emit(&context, rpn, err);

	dwarf_memos_free(&bare);
	return code;
}

/* The frame base may be named as a register, which means what it holds. */
static int frame_base_emit(const struct dwarf_context *context,
			   struct bytes *rpn, struct error *err)
{
	Dwarf_Attribute attr;
	unsigned int number;
	size_t count;
	Dwarf_Op *ops;

	if (!dwarf_frame_base_find(context, &attr, &ops, &count))
		return error_set(err, -ENODATA, "it is in the stack frame, "
				 "which isn't known here");
	if (count == 1 && dwarf_op_register(ops, &number))
		return dwarf_frame_own_emit(context, number, 0, rpn, err);
	return dwarf_expression_emit(context, &attr, ops, count, rpn, err);
}

/* A register as the context's caller will find it. Without a rule the calling
 * convention decides; libdw 0.188 takes rax for rbx there. A register for the
 * return address has it still, unless the rule is that it is lost (then there
 * are operations, none). With -1: the address that the context returns to. */
static int frame_register_emit(const struct dwarf_context *context, int number,
			       struct bytes *rpn, struct error *err)
{
	const struct arch *arch = context->dwarf->module->arch;
	Dwarf_Op memory[3], *ops;
	Dwarf_Frame *frame;
	unsigned int other;
	size_t count;
	bool value;
	int code = cfi_frame_find(context, &frame, err);

	if (code)
		return code;
	if (number < 0)
		number = dwarf_frame_info(frame, NULL, NULL, NULL);
	if (number < 0) {
		code = error_set(err, -ENODATA, "its caller isn't known here");
	} else if (dwarf_frame_register(frame, number, memory, &ops, &count)) {
		code = error_set(err, -ENODATA, "the description of its frame "
				 "is damaged");
	} else if (count == 1 && dwarf_op_register(ops, &other)) {
		code = dwarf_frame_own_emit(context, other, 0, rpn, err);
	} else if (count) {	/* where it is, or its value */
		value = ops[count - 1].atom == DW_OP_stack_value;
		code = dwarf_expression_emit(context, NULL, ops, count - value,
					     rpn, err);
		if (!code && !value)
			rpn_emit_deref(rpn, dwarf_is_wide(context->dwarf) ?
						    8 : 4);
	} else if (arch_register_is_kept(arch, number) ||
		   (!ops && number == arch->link)) {
		code = dwarf_frame_own_emit(context, number, 0, rpn, err);
	} else {
		code = error_set(err, -ENODATA, "the caller's register isn't "
				 "kept");
	}
	free(frame);
	return code;
}

int dwarf_frame_own_emit(const struct dwarf_context *context,
			 unsigned int number, int64_t displacement,
			 struct bytes *rpn, struct error *err)
{
	const struct arch *arch = context->dwarf->module->arch;
	char name[16];
	int code;

	if (context->callee) {
		code = frame_register_emit(context->callee, number, rpn, err);
		if (!code)
			rpn_emit_add(rpn, displacement, true);
		return code;
	}
	if (!arch_register_print(arch, number, name, sizeof(name)))
		return error_set(err, -ENODATA, "held in %s, which a probe "
				 "can't read", name);
	rpn_emit_register(rpn, number, displacement);
	return 0;
}

/*
 * Values at the entry of a function (DWARF 5 section 2.5.1.7). After the entry
 * they may be known from the caller: the calls of this function have entries of
 * how each argument is computed (section 3.4.2), and the return address shows
 * which call it was. When it was another one, the expression faults.
 */

/* The decision which of the calls it was. */
struct entry_chain {
	const struct dwarf_context *context;
	struct call_argument argument;
	struct bytes *rpn;
	size_t start;
	size_t ends[CHAIN_MAX];	/* operands of jumps to the end */
	size_t end_count;
};

static int entry_refuse(struct error *err)
{
	return error_set(err, -ENODATA, "only known as the value at entry of "
			 "the function, which isn't kept");
}

/* How the call computes the argument, from what the probe finds */
static int call_value_emit(const struct entry_chain *chain,
			   const struct call *call, struct bytes *rpn)
{
	struct dwarf_context caller = *chain->context;
	Dwarf_Die site = call->site;
	Dwarf_Attribute value;
	Dwarf_Op *ops;
	size_t count;

	if (call->tail || !call->return_pc ||
	    !module_is_together(caller.dwarf->module, chain->context->pc,
				call->return_pc) ||
	    !dwarf_call_value_find(&chain->argument, &site, &value) ||
	    dwarf_getlocation(&value, &ops, &count) || !count)
		return -ENODATA;
	caller.callee = chain->context;
	caller.pc = call->return_pc - 1;
	caller.function = call->function;
	caller.calls++;
	return dwarf_expression_emit(&caller, &value, ops, count, rpn, NULL);
}

/*
 * The return address is on top. Unless it is this call's, which may be signed in
 * its high bits, go on to the next call; else replace it by the value and jump to
 * the end. 1: the chain is full.
 */
static int chain_add(struct entry_chain *chain, const struct call *call)
{
	const struct arch *arch = chain->context->dwarf->module->arch;
	struct bytes value = {0}, *rpn = chain->rpn;
	int code = call_value_emit(chain, call, &value);

	if (!code && (chain->end_count == CHAIN_MAX ||
		      rpn->size - chain->start + value.size > CHAIN_BYTES))
		code = 1;
	if (!code) {
		rpn_emit_op(rpn, RPN_dup);
		rpn_emit_addr(rpn, call->return_pc);
		rpn_emit_op(rpn, arch->signed_from ? RPN_xor : RPN_ne);
		if (arch->signed_from) {
			rpn_emit_const(rpn, (1ULL << arch->signed_from) - 1);
			rpn_emit_op(rpn, RPN_and);
		}
		rpn_emit_op(rpn, RPN_bra);
		rpn_emit_fixed(rpn, 1 + value.size + 3, 2);
		rpn_emit_op(rpn, RPN_drop);
		bytes_join(rpn, &value);
		rpn_emit_op(rpn, RPN_skip);
		chain->ends[chain->end_count++] = rpn->size;
		rpn_emit_fixed(rpn, 0, 2);
	}
	bytes_free(&value);
	return code == -ENODATA || code == -EINVAL ? 0 : code;
}

static int callers_emit(const struct dwarf_context *context,
			const struct call_argument *argument,
			struct bytes *rpn, struct error *err)
{
	struct entry_chain chain = {
		.context = context, .argument = *argument, .rpn = rpn,
		.start = rpn->size,
	};
	Dwarf_Die function = context->function, die;
	const struct call_table *table = NULL;
	const struct call *call;
	struct unit *unit = NULL;
	size_t count;
	int code;

	if (!function.addr || context->calls == CALLS_MAX)
		return entry_refuse(err);
	if (dwarf_unit_find(context->dwarf, context->pc, &die))
		unit = dwarf_unit_get(context->dwarf, &die);
	if (unit)
		table = dwarf_calls_get(context->dwarf, unit);
	if (!table)
		return error_no_memory(err);
	call = dwarf_calls_of(table, &function, &count);
	if (!count || dwarf_call_repeats(table, &function))
		return entry_refuse(err);
	code = frame_register_emit(context, -1, rpn, err);
	for (; count-- && !code; call++)
		code = chain_add(&chain, call);
	if (code < 0)
		return code;
	if (!chain.end_count)
		return entry_refuse(err);
	/* No call is left: divide by zero, a fault that is reported with the
	 * return address. */
	rpn_emit_const(rpn, 0);
	rpn_emit_op(rpn, RPN_div);
	for (size_t i = 0; i < chain.end_count && !rpn->failed; i++) {
		size_t distance = rpn->size - (chain.ends[i] + 2);

		rpn->data[chain.ends[i]] = distance;
		rpn->data[chain.ends[i] + 1] = distance >> 8;
	}
	return rpn->failed ? -ENOMEM : 0;
}

/* An expression as it was when the context's function was entered. */
static int entry_emit(const struct dwarf_context *context,
		      Dwarf_Attribute *attr, const Dwarf_Op *ops, size_t count,
		      struct bytes *rpn, struct error *err)
{
	struct call_argument argument = {0};
	bool simple = count == 1 && dwarf_op_register(ops, &argument.number);
	Dwarf_Die function = context->function;
	Dwarf_Addr base, start, end;

	if (simple && context->entry_name && !context->callee)
		arch_register_print(context->dwarf->module->arch,
				    argument.number, context->entry_name, 16);
	if (context->callee || !function.addr ||
	    dwarf_ranges(&function, 0, &base, &start, &end) <= 0 ||
	    dwarf_die_entry(&function, start) != context->pc)
		return simple ? callers_emit(context, &argument, rpn, err) :
				entry_refuse(err);
	/* the registers still have the values */
	return simple ? dwarf_frame_own_emit(context, argument.number, 0, rpn,
					     err) :
			dwarf_expression_emit(context, attr, ops, count, rpn,
					      err);
}

static int machine_push_register(struct dwarf_machine *m, uint64_t number,
				 int64_t add)
{
	int code = machine_push(m);

	if (!code && number > INT16_MAX)
		code = machine_damaged(m);
	if (!code)
		code = dwarf_frame_own_emit(m->context, number, add,
					    m->rpn, m->err);
	if (!code)
		machine_top(m)->uncut = !m->wide && add;
	return code;
}

/* What an operation pushes that is computed by an expression of its own. */
static int
machine_push_nested(struct dwarf_machine *m,
		    int (*emit)(const struct dwarf_context *context,
				struct bytes *rpn, struct error *err))
{
	struct dwarf_context context = *m->context;
	int code = machine_push(m);

	if (code)
		return code;
	if (++context.nesting > NESTING_MAX)
		return machine_damaged(m);
	return emit(&context, m->rpn, m->err);
}

/* A value as it was at the entry of the function: of an expression, or of a
 * parameter that every call has, but the function doesn't take. */
static int machine_entry_value(struct dwarf_machine *m, const Dwarf_Op *op)
{
	struct dwarf_context context = *m->context;
	bool parameter = op->atom == DW_OP_GNU_parameter_ref;
	struct call_argument argument = {0};
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	Dwarf_Die die;
	size_t count;
	int code;

	if (!m->attr ||
	    (parameter ? dwarf_getlocation_die(m->attr, op, &die) :
	     dwarf_getlocation_attr(m->attr, op, &attr) ||
	     dwarf_getlocation(&attr, &ops, &count)))
		return machine_damaged(m);
	code = machine_push(m);
	if (code)
		return code;
	machine_top(m)->start = NO_START;
	if (++context.nesting > NESTING_MAX)
		return machine_damaged(m);
	if (!parameter)
		return entry_emit(&context, &attr, ops, count, m->rpn, m->err);
	argument.parameter = dwarf_die_root(&die).addr;
	if (context.entry_name && !context.callee)
		strcpy(context.entry_name, "argument");
	return callers_emit(&context, &argument, m->rpn, m->err);
}

static int operation_run(struct dwarf_machine *m, const Dwarf_Op *op)
{
	struct expression_type type;
	int code;

	switch (op->atom) {
	case DW_OP_breg0 ... DW_OP_breg31:
		return machine_push_register(m, op->atom - DW_OP_breg0,
					     op->number);
	case DW_OP_bregx:
		return machine_push_register(m, op->number, op->number2);
	case DW_OP_regval_type: case DW_OP_GNU_regval_type:
		code = machine_read_type(m, op, op->number2, &type);
		if (!code)
			code = machine_push_register(m, op->number, 0);
		if (!code)
			machine_become(m, type);
		return code;
	case DW_OP_fbreg:
		code = machine_push_nested(m, frame_base_emit);
		if (!code)
			machine_add(m, op->number);
		return code;
	case DW_OP_call_frame_cfa:
		return machine_push_nested(m, frame_cfa_emit);
	case DW_OP_entry_value: case DW_OP_GNU_entry_value:
	case DW_OP_GNU_parameter_ref:
		return machine_entry_value(m, op);
	case DW_OP_nop: case DW_OP_GNU_uninit:
		return 0;
	case DW_OP_const1u ... DW_OP_consts:
		return push_constant(m, op->number);
	case DW_OP_lit0 ... DW_OP_lit31:
		return push_constant(m, op->atom - DW_OP_lit0);
	case DW_OP_addr: case DW_OP_addrx: case DW_OP_GNU_addr_index:
		return push_address(m, op);
	case DW_OP_constx: case DW_OP_GNU_const_index:
		return push_indexed(m, op);
	case DW_OP_const_type: case DW_OP_GNU_const_type:
		return machine_const_type(m, op);
	case DW_OP_form_tls_address: case DW_OP_GNU_push_tls_address:
		return machine_thread(m);
	case DW_OP_convert: case DW_OP_GNU_convert: case DW_OP_reinterpret:
	case DW_OP_GNU_reinterpret:
		code = machine_read_type(m, op, op->number, &type);
		if (!code && !m->depth)
			code = machine_damaged(m);
		if (!code)
			machine_become(m, type);
		return code;
	case DW_OP_dup:
	case DW_OP_over:
	case DW_OP_pick:
		return machine_copy(m, op->atom, op->number);
	case DW_OP_drop:
	case DW_OP_swap:
	case DW_OP_rot:
		return machine_move(m, op->atom);
	case DW_OP_deref: case DW_OP_deref_size: case DW_OP_deref_type:
	case DW_OP_GNU_deref_type:
		return machine_deref(m, op);
	case DW_OP_plus_uconst:
		if (!m->depth)
			return machine_damaged(m);
		machine_add(m, op->number);
		return 0;
	case DW_OP_abs: case DW_OP_neg: case DW_OP_not:
	case DW_OP_and: case DW_OP_div: case DW_OP_minus: case DW_OP_mod:
	case DW_OP_mul: case DW_OP_or: case DW_OP_plus: case DW_OP_shl:
	case DW_OP_shr: case DW_OP_shra: case DW_OP_xor:
	case DW_OP_eq ... DW_OP_ne:
		return machine_compute(m, op->atom);
	case DW_OP_bra:
	case DW_OP_skip:
		return machine_jump(m, op);
	default:
		return machine_refuse(m, op->atom);
	}
}

int dwarf_expression_emit(const struct dwarf_context *context,
			  Dwarf_Attribute *attr, const Dwarf_Op *ops,
			  size_t count, struct bytes *rpn, struct error *err)
{
	size_t last = count ? ops[count - 1].offset : 0;
	struct dwarf_machine m;
	int code = 0;

	memset(&m, 0, offsetof(struct dwarf_machine, jumps));
	m.context = context;
	m.attr = attr;
	m.rpn = rpn;
	m.err = err;
	m.wide = dwarf_is_wide(context->dwarf);
	for (size_t i = 0; i < count && !code; i++) {
		code = machine_land(&m, ops[i].offset, false);
		if (!code && !m.dead)
			code = operation_run(&m, &ops[i]);
		if (!code && rpn->size > TDF_RPN_MAX)
			code = error_set(err, -ENODATA, "its computation is "
					 "longer than a TDF allows");
	}
	/* no jump may end inside an operation */
	for (unsigned int i = 0; i < m.jump_count && !code; i++)
		if (m.jumps[i].target <= last)
			code = machine_damaged(&m);
	if (!code)
		code = machine_land(&m, 0, true);
	if (!code && m.depth != 1)
		code = machine_damaged(&m);
	if (code)
		return code;
	cut_top(&m);
	return rpn->failed ? -ENOMEM : 0;
}
