// SPDX-License-Identifier: GPL-2.0
/*
 * Entries of the stack are kept as a TDF's 64 bits: zero- or sign-extended by
 * their type. The generic type of a 32-bit module is unsigned and has 32 bits.
 * An addition may leave more bits, which are cut when the entry is used; only the
 * top can have some.
 */
#include "dwarf_machine.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <string.h>
#include "lib/formats/rpn_emit.h"
#include "dwarf_symbol.h"

int dwarf_machine_damaged(struct dwarf_machine *m)
{
	return error_set(m->err, -EINVAL, "its location is damaged");
}

struct expression_entry *dwarf_machine_top(struct dwarf_machine *m)
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
	if (!m->depth || !dwarf_machine_top(m)->uncut)
		return;
	rpn_emit_extend(m->rpn, 4, false);
	dwarf_machine_top(m)->uncut = false;
	dwarf_machine_top(m)->start = NO_START;
}

static int stack_push(struct dwarf_machine *m, struct expression_type type)
{
	cut_top(m);
	if (m->depth == DWARF_STACK_MAX)
		return error_set(m->err, -ENODATA, "it is computed with more "
				 "than 16 stack entries");
	m->stack[m->depth++] = (struct expression_entry){
		.type = type, .start = m->rpn->size,
	};
	return 0;
}

int dwarf_machine_push(struct dwarf_machine *m)
{
	return stack_push(m, generic_type(m));
}

/* The top was computed as a value of the type. */
static void set_top(struct dwarf_machine *m, struct expression_type type)
{
	*dwarf_machine_top(m) = (struct expression_entry){
		.type = type, .start = NO_START,
	};
	if (type.generic)
		dwarf_machine_top(m)->uncut = !m->wide;
	else
		rpn_emit_extend(m->rpn, type.bytes, type.is_signed);
}

static int push_constant(struct dwarf_machine *m, uint64_t value)
{
	int code = dwarf_machine_push(m);

	if (!code)
		rpn_emit_const(m->rpn, m->wide ? value : (uint32_t)value);
	return code;
}

/* The one operation that pushed the entry, the top. */
static bool decode_alone(const struct dwarf_machine *m,
			 const struct expression_entry *entry,
			 struct rpn_op *op)
{
	return entry->start < m->rpn->size &&
	       rpn_single(m->rpn->data + entry->start,
			  m->rpn->size - entry->start, op);
}

void dwarf_machine_add(struct dwarf_machine *m, int64_t value)
{
	struct expression_entry *entry = dwarf_machine_top(m);
	struct rpn_op op;
	uint64_t number;
	int64_t offset;

	if (!value)
		return;
	if (decode_alone(m, entry, &op) &&
	    rpn_is_register(&op, &number, &offset)) {
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

int dwarf_machine_read_type(struct dwarf_machine *m, const Dwarf_Op *op,
			    uint64_t offset, struct expression_type *type)
{
	Dwarf_Attribute encoding;
	Dwarf_Word number;
	Dwarf_Die die;
	int bytes;

	*type = generic_type(m);
	if (!offset)
		return 0;
	if (!m->attr || dwarf_getlocation_die(m->attr, op, &die) ||
	    dwarf_tag(&die) != DW_TAG_base_type ||
	    dwarf_formudata(dwarf_attr(&die, DW_AT_encoding, &encoding),
			    &number))
		return dwarf_machine_damaged(m);
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
	int code = dwarf_machine_read_type(m, op, op->number, &type);

	if (code)
		return code;
	if (dwarf_getlocation_attr(m->attr, op, &value) ||
	    dwarf_formblock(&value, &block) || block.length != type.bytes)
		return dwarf_machine_damaged(m);
	memcpy(&number, block.data, block.length);
	if (type.is_signed && type.bytes < 8 &&
	    number >> (8 * type.bytes - 1))
		number |= ~0ULL << (8 * type.bytes);
	code = stack_push(m, type);
	if (!code)
		rpn_emit_const(m->rpn, number);
	return code;
}

void dwarf_machine_convert(struct dwarf_machine *m, struct expression_type type)
{
	cut_top(m);
	if (type.generic && !m->wide)
		rpn_emit_extend(m->rpn, 4, false);
	else if (!type.generic)
		rpn_emit_extend(m->rpn, type.bytes, type.is_signed);
	*dwarf_machine_top(m) = (struct expression_entry){
		.type = type, .start = NO_START,
	};
}

static int machine_convert(struct dwarf_machine *m, const Dwarf_Op *op)
{
	struct expression_type type;
	int code = dwarf_machine_read_type(m, op, op->number, &type);

	if (code)
		return code;
	if (!m->depth)
		return dwarf_machine_damaged(m);
	dwarf_machine_convert(m, type);
	return 0;
}

static int machine_deref(struct dwarf_machine *m, const Dwarf_Op *op)
{
	struct expression_type type = generic_type(m);
	unsigned int bytes = type.bytes;
	int code = 0;

	if (!m->depth)
		return dwarf_machine_damaged(m);
	if (op->atom != DW_OP_deref)
		bytes = op->number;
	if (op->atom == DW_OP_deref_type || op->atom == DW_OP_GNU_deref_type)
		code = dwarf_machine_read_type(m, op, op->number2, &type);
	if (code)
		return code;
	if (!bytes || bytes > 8)
		return dwarf_machine_damaged(m);
	if (bytes & (bytes - 1))
		return error_set(m->err, -ENODATA, "it is computed from %u "
				 "bytes of memory", bytes);
	cut_top(m);
	rpn_emit_deref(m->rpn, bytes);
	if (!type.generic && type.is_signed)
		rpn_emit_extend(m->rpn, bytes, true);
	*dwarf_machine_top(m) = (struct expression_entry){
		.type = type, .start = NO_START,
	};
	return 0;
}

/* Both operands of a module of 32 bits as signed numbers. */
static void sign_operands(struct dwarf_machine *m, bool both)
{
	if (m->wide || !dwarf_machine_top(m)->type.generic)
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

/* Operations with two operands whose result has the type of the first */
static int machine_binary(struct dwarf_machine *m, uint8_t atom)
{
	struct expression_type type;

	if (m->depth < 2)
		return dwarf_machine_damaged(m);
	cut_top(m);
	type = m->stack[m->depth - 2].type;
	if (atom == DW_OP_mod && type.is_signed) {
		/* a mod b is a - a / b * b */
		static const uint8_t mod[] = {
			RPN_over, RPN_over, RPN_div, RPN_mul, RPN_minus,
		};

		bytes_add(m->rpn, mod, sizeof(mod));
	} else if (atom == DW_OP_div && is_unsigned_8(type)) {
		emit_unsigned_div(m);
	} else {
		if (atom == DW_OP_div)
			sign_operands(m, true);
		if ((atom == DW_OP_shr || atom == DW_OP_shra) &&
		    type.bytes < 8) {
			/* the top is how far the other entry is shifted */
			rpn_emit_op(m->rpn, RPN_swap);
			rpn_emit_extend(m->rpn, type.bytes,
					atom == DW_OP_shra);
			rpn_emit_op(m->rpn, RPN_swap);
		}
		rpn_emit_op(m->rpn, atom);
	}
	m->depth--;
	set_top(m, type);
	return 0;
}

static int machine_compare(struct dwarf_machine *m, uint8_t atom)
{
	if (m->depth < 2)
		return dwarf_machine_damaged(m);
	cut_top(m);
	if (is_unsigned_8(m->stack[m->depth - 2].type) && atom != DW_OP_eq &&
	    atom != DW_OP_ne)
		/* A TDF compares signed numbers: flip the highest bits. */
		for (int i = 0; i < 2; i++) {
			rpn_emit_const(m->rpn, INT64_MIN);
			rpn_emit_op(m->rpn, RPN_xor);
			rpn_emit_op(m->rpn, RPN_swap);
		}
	else
		sign_operands(m, true);
	rpn_emit_op(m->rpn, atom);
	m->depth--;
	*dwarf_machine_top(m) = (struct expression_entry){
		.type = generic_type(m), .start = NO_START,
	};
	return 0;
}

static int machine_unary(struct dwarf_machine *m, uint8_t atom)
{
	if (!m->depth)
		return dwarf_machine_damaged(m);
	cut_top(m);
	if (atom == DW_OP_abs)
		sign_operands(m, false);
	rpn_emit_op(m->rpn, atom);
	set_top(m, dwarf_machine_top(m)->type);
	return 0;
}

static int machine_copy(struct dwarf_machine *m, uint8_t atom,
			uint64_t index)
{
	struct expression_type type;
	int code;

	if (atom != DW_OP_pick)
		index = atom == DW_OP_over;
	if (index >= m->depth)
		return dwarf_machine_damaged(m);
	type = m->stack[m->depth - 1 - index].type;
	code = stack_push(m, type);
	if (code)
		return code;
	dwarf_machine_top(m)->start = NO_START;
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
		return dwarf_machine_damaged(m);
	cut_top(m);
	rpn_emit_op(m->rpn, atom);
	if (atom == DW_OP_drop) {
		m->depth--;
		return 0;
	}
	last = *dwarf_machine_top(m);
	for (unsigned int i = 1; i < count; i++)
		m->stack[m->depth - i] = m->stack[m->depth - i - 1];
	m->stack[m->depth - count] = last;
	for (unsigned int i = 1; i <= count; i++)
		m->stack[m->depth - i].start = NO_START;
	return 0;
}

/* An address or a constant of another section, by its index. */
static int machine_indexed(struct dwarf_machine *m, const Dwarf_Op *op)
{
	bool address = op->atom == DW_OP_addrx ||
		       op->atom == DW_OP_GNU_addr_index;
	Dwarf_Attribute attr;
	Dwarf_Word value;
	Dwarf_Addr at;
	int code;

	if (!m->attr || dwarf_getlocation_attr(m->attr, op, &attr))
		return dwarf_machine_damaged(m);
	if (!address)
		return dwarf_formudata(&attr, &value) ?
			       dwarf_machine_damaged(m) :
			       push_constant(m, value);
	if (dwarf_formaddr(&attr, &at))
		return dwarf_machine_damaged(m);
	code = dwarf_machine_push(m);
	if (!code)
		rpn_emit_addr(m->rpn, at);
	return code;
}

/* The offset of a thread-local variable is a constant just pushed. */
static int machine_thread(struct dwarf_machine *m)
{
	struct expression_entry *entry;
	struct rpn_op op;
	int64_t constant;
	uint64_t offset;
	int code;

	if (!m->depth)
		return dwarf_machine_damaged(m);
	entry = dwarf_machine_top(m);
	if (!decode_alone(m, entry, &op))
		return dwarf_machine_damaged(m);
	if (!rpn_is_constant(&op, &constant))
		return error_set(m->err, -ENODATA, "it is thread-local at a "
				 "place that is computed");
	m->rpn->size = entry->start;
	entry->start = NO_START;
	offset = constant;
	code = dwarf_thread_offset(m->context->dwarf, &offset, m->err);
	return code ? code : dwarf_thread_emit(m->context->dwarf, offset,
					       m->rpn, m->err);
}

int dwarf_machine_land(struct dwarf_machine *m, size_t target, bool last)
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
			return dwarf_machine_damaged(m);
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
	if (m->jump_count == DWARF_JUMPS_MAX ||
	    (op->atom == DW_OP_bra && !m->depth))
		return dwarf_machine_damaged(m);
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

int dwarf_machine_run(struct dwarf_machine *m, const Dwarf_Op *op)
{
	int code;

	switch (op->atom) {
	case DW_OP_nop:
	case DW_OP_GNU_uninit:
		return 0;
	case DW_OP_const1u ... DW_OP_consts:
		return push_constant(m, op->number);
	case DW_OP_lit0 ... DW_OP_lit31:
		return push_constant(m, op->atom - DW_OP_lit0);
	case DW_OP_addr:
		code = dwarf_machine_push(m);
		if (!code)
			rpn_emit_addr(m->rpn, op->number);
		return code;
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
	case DW_OP_constx:
	case DW_OP_GNU_const_index:
		return machine_indexed(m, op);
	case DW_OP_const_type:
	case DW_OP_GNU_const_type:
		return machine_const_type(m, op);
	case DW_OP_form_tls_address:
	case DW_OP_GNU_push_tls_address:
		return machine_thread(m);
	case DW_OP_convert:
	case DW_OP_GNU_convert:
	case DW_OP_reinterpret:
	case DW_OP_GNU_reinterpret:
		return machine_convert(m, op);
	case DW_OP_dup:
	case DW_OP_over:
	case DW_OP_pick:
		return machine_copy(m, op->atom, op->number);
	case DW_OP_drop:
	case DW_OP_swap:
	case DW_OP_rot:
		return machine_move(m, op->atom);
	case DW_OP_deref:
	case DW_OP_deref_size:
	case DW_OP_deref_type:
	case DW_OP_GNU_deref_type:
		return machine_deref(m, op);
	case DW_OP_plus_uconst:
		if (!m->depth)
			return dwarf_machine_damaged(m);
		dwarf_machine_add(m, op->number);
		return 0;
	case DW_OP_abs:
	case DW_OP_neg:
	case DW_OP_not:
		return machine_unary(m, op->atom);
	case DW_OP_and: case DW_OP_div: case DW_OP_minus: case DW_OP_mod:
	case DW_OP_mul: case DW_OP_or: case DW_OP_plus: case DW_OP_shl:
	case DW_OP_shr: case DW_OP_shra: case DW_OP_xor:
		return machine_binary(m, op->atom);
	case DW_OP_eq ... DW_OP_ne:
		return machine_compare(m, op->atom);
	case DW_OP_bra:
	case DW_OP_skip:
		return machine_jump(m, op);
	default:
		return machine_refuse(m, op->atom);
	}
}

int dwarf_machine_end(struct dwarf_machine *m, size_t last)
{
	int code;

	/* no jump may end inside an operation */
	for (unsigned int i = 0; i < m->jump_count; i++)
		if (m->jumps[i].target <= last)
			return dwarf_machine_damaged(m);
	code = dwarf_machine_land(m, 0, true);
	if (!code && m->depth != 1)
		code = dwarf_machine_damaged(m);
	if (!code)
		cut_top(m);
	return code;
}
