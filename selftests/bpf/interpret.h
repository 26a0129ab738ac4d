/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A second opinion: what an address expression and a tracepoint's statements
 * come to, computed step by step from the text of DWARF 5 (section 2.5),
 * tdf.h and buffer.h. Shares nothing with the generator but the names of the
 * operations. Values are of the generic type, 64 bits; memory is this
 * process's own.
 */
#ifndef SELFTESTS_BPF_INTERPRET_H
#define SELFTESTS_BPF_INTERPRET_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include <asm/ptrace.h>
#include <rastrace/buffer.h>
#include <rastrace/tdf.h>

enum {
#define RPN_OP(name, code, operand, pops, pushes) OP_##name = code,
#define RPN_OP_RANGE(name, first, last, operand, pops, pushes) \
	OP_##name = first,
#include <rastrace/rpn.def>
#undef RPN_OP
#undef RPN_OP_RANGE
};

struct interpreter {
	const struct pt_regs *regs;
	bool is32;		/* i386: its register numbers, flat addresses
				 * of 32 bits */
	uint64_t bias;
	uint64_t stack[64];
	int depth;
	const uint8_t *code, *end;
	uint64_t fault;		/* what could not be used */
};

static inline bool memory_read(const struct interpreter *in, uint64_t *address,
			void *to, size_t size)
{
	struct iovec local = { to, size }, remote;

	if (in->is32)
		*address = (uint32_t)*address;
	if (!size)
		return true;
	remote = (struct iovec){ (void *)*address, size };
	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) ==
	       (ssize_t)size;
}

/* psABI of x86-64 figure 3.36, of i386 table 2.14 */
static inline uint64_t register_value(const struct interpreter *in,
				      uint64_t number)
{
	const struct pt_regs *r = in->regs;
	const uint64_t regs64[] = {
		r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp,
		r->r8, r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15,
		r->rip,
	};
	const uint64_t regs32[] = {
		r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi,
		r->rip, r->eflags,
	};

	if (in->is32 && number < 10)
		return (uint32_t)regs32[number];
	if (!in->is32 && number < 17)
		return regs64[number];
	if (number == (in->is32 ? 41 : 51))
		return (uint16_t)r->cs;
	if (number == (in->is32 ? 42 : 52))
		return (uint16_t)r->ss;
	return r->eflags;
}

static inline uint64_t operand(struct interpreter *in, int bytes,
			       bool is_signed)
{
	uint64_t value = 0;

	memcpy(&value, in->code, bytes);
	in->code += bytes;
	if (is_signed && bytes < 8 && value >> (8 * bytes - 1))
		value -= 1ULL << (8 * bytes);
	return value;
}

static inline uint64_t operand_leb(struct interpreter *in, bool is_signed)
{
	uint64_t value = 0;
	int shift = 0;
	uint8_t byte;

	do {
		byte = *in->code++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (is_signed && shift < 64 && (byte & 0x40))
		value -= 1ULL << shift;
	return value;
}

static inline uint64_t pop(struct interpreter *in)
{
	return in->stack[--in->depth];
}

static inline void push(struct interpreter *in, uint64_t value)
{
	in->stack[in->depth++] = value;
}

static inline bool push_memory(struct interpreter *in, int bytes)
{
	uint64_t address = pop(in), value = 0;

	if (!memory_read(in, &address, &value, bytes)) {
		in->fault = address;
		return false;
	}
	push(in, value);
	return true;
}

/* The former second entry `a`, the former top `b`. */
static inline bool binary(struct interpreter *in, int op, uint64_t a,
			  uint64_t b)
{
	int64_t sa = a, sb = b;

	in->fault = a;
	switch (op) {
	case OP_and: push(in, a & b); break;
	case OP_or: push(in, a | b); break;
	case OP_xor: push(in, a ^ b); break;
	case OP_plus: push(in, a + b); break;
	case OP_minus: push(in, a - b); break;
	case OP_mul: push(in, a * b); break;
	case OP_div:
		if (!b)
			return false;
		push(in, sb == -1 ? -a : (uint64_t)(sa / sb));
		break;
	case OP_mod:
		if (!b)
			return false;
		push(in, a % b);
		break;
	case OP_shl: push(in, b > 63 ? 0 : a << b); break;
	case OP_shr: push(in, b > 63 ? 0 : a >> b); break;
	case OP_shra: push(in, b > 63 ? (sa < 0 ? -1 : 0) : sa >> b); break;
	case OP_eq: push(in, sa == sb); break;
	case OP_ge: push(in, sa >= sb); break;
	case OP_gt: push(in, sa > sb); break;
	case OP_le: push(in, sa <= sb); break;
	case OP_lt: push(in, sa < sb); break;
	case OP_ne: push(in, sa != sb); break;
	default: return false;
	}
	return true;
}

static inline void stack_op(struct interpreter *in, int op)
{
	uint64_t a, b, c;

	switch (op) {
	case OP_dup:
		push(in, in->stack[in->depth - 1]);
		break;
	case OP_drop:
		pop(in);
		break;
	case OP_over:
		push(in, in->stack[in->depth - 2]);
		break;
	case OP_pick:
		push(in, in->stack[in->depth - 1 - operand(in, 1, false)]);
		break;
	case OP_swap:
		a = pop(in);
		b = pop(in);
		push(in, a);
		push(in, b);
		break;
	case OP_rot:	/* the top becomes third, the second the top */
		a = pop(in);
		b = pop(in);
		c = pop(in);
		push(in, a);
		push(in, c);
		push(in, b);
		break;
	}
}

static inline uint64_t constant(struct interpreter *in, int op)
{
	switch (op) {
	case OP_const1u: return operand(in, 1, false);
	case OP_const1s: return operand(in, 1, true);
	case OP_const2u: return operand(in, 2, false);
	case OP_const2s: return operand(in, 2, true);
	case OP_const4u: return operand(in, 4, false);
	case OP_const4s: return operand(in, 4, true);
	case OP_constu: return operand_leb(in, false);
	case OP_consts: return operand_leb(in, true);
	default: return operand(in, 8, false);
	}
}

static inline void jump(struct interpreter *in, bool taken)
{
	int64_t distance = operand(in, 2, true);

	if (taken)
		in->code += distance;
}

static inline bool step(struct interpreter *in)
{
	int op = *in->code++;
	uint64_t a, b;

	switch (op) {
	case OP_lit ... OP_lit + 31:
		push(in, op - OP_lit);
		return true;
	case OP_breg ... OP_breg + 31:
		a = operand_leb(in, true);
		push(in, register_value(in, op - OP_breg) + a);
		return true;
	case OP_bregx:
		a = operand_leb(in, false);
		b = operand_leb(in, true);
		push(in, register_value(in, a) + b);
		return true;
	case OP_const1u ... OP_consts:
		push(in, constant(in, op));
		return true;
	case OP_addr:
		push(in, operand(in, 8, false) + in->bias);
		return true;
	case OP_dup ... OP_rot:
		stack_op(in, op);
		return true;
	case OP_deref:
		return push_memory(in, 8);
	case OP_deref_size:
		return push_memory(in, operand(in, 1, false));
	case OP_abs:
		a = pop(in);
		push(in, (int64_t)a < 0 ? -a : a);
		return true;
	case OP_neg:
		push(in, -pop(in));
		return true;
	case OP_not:
		push(in, ~pop(in));
		return true;
	case OP_plus_uconst:
		a = pop(in);
		push(in, a + operand_leb(in, false));
		return true;
	case OP_bra:
		jump(in, pop(in) != 0);
		return true;
	case OP_skip:
		jump(in, true);
		return true;
	case OP_nop:
		return true;
	default:
		b = pop(in);
		a = pop(in);
		return binary(in, op, a, b);
	}
}

/* true: *value is the address; false: *value is what failed. */
static inline bool interpret(struct interpreter *in, const uint8_t *rpn,
			     size_t size, uint64_t *value)
{
	in->depth = 0;
	in->code = rpn;
	in->end = rpn + size;
	while (in->code < in->end) {
		if (!step(in)) {
			*value = in->is32 ? (uint32_t)in->fault : in->fault;
			return false;
		}
	}
	*value = pop(in);
	return true;
}

/* A record under construction. */
struct expected {
	uint8_t data[RAS_RECORD_MAX];
	size_t length;		/* of the data behind the header */
	uint16_t flags;
	unsigned int faults;
	size_t left;		/* of MAXDATALENGTH, for memory items */
};

static inline void put(struct expected *x, const void *data, size_t size)
{
	memcpy(x->data + x->length, data, size);
	x->length += size;
}

static inline void put_item(struct expected *x, uint8_t status,
			    const void *data, uint16_t size)
{
	put(x, &status, 1);
	put(x, &size, 2);
	put(x, data, size);
}

static inline bool put_fault(struct expected *x, uint64_t pointer)
{
	put_item(x, RAS_ITEM_FAULT, &pointer, 8);
	x->flags |= RAS_RECORD_FAULT;
	x->faults++;
	return false;
}

static inline size_t cut(struct expected *x, size_t length, size_t limit,
		  uint8_t *status)
{
	size_t most = limit < x->left ? limit : x->left;

	if (length <= most)
		return length;
	*status |= RAS_ITEM_CUT;
	if (most < limit)
		x->flags |= RAS_RECORD_CUT;
	return most;
}

static inline bool put_string(struct expected *x, struct interpreter *in,
		       const struct tdf_stmt *s, uint64_t address)
{
	size_t most = s->length < x->left ? s->length : x->left, length = 0;
	uint8_t status = RAS_ITEM_STRING, byte;
	char text[RAS_RECORD_MAX];

	while (length < most + 2) {
		uint64_t at = address + length;

		if (!memory_read(in, &at, &byte, 1)) {
			if (length >= most) {
				length = most + 1;
				break;
			}
			if (in->is32)
				address = (uint32_t)address;
			return put_fault(x, address);
		}
		if (!byte)
			break;
		text[length++] = byte;
	}
	length = cut(x, length, s->length, &status);
	put_item(x, status, text, length);
	x->left -= length;
	return true;
}

static inline bool put_memory(struct expected *x, struct interpreter *in,
		       const struct tdf_stmt *s, const uint8_t *rpn)
{
	uint8_t status = RAS_ITEM_VALUE, bytes[RAS_RECORD_MAX];
	uint64_t address, length = s->length;

	if (s->flags & TDF_STMT_LEN) {
		length = 0;
		if (!interpret(in, rpn + s->len_rpn, s->len_rpn_length,
			       &address) ||
		    !memory_read(in, &address, &length, s->len_bytes))
			return put_fault(x, address);
		if (length > s->length) {
			length = s->length;
			status |= RAS_ITEM_CUT;
		}
	}
	length = cut(x, length, s->length, &status);
	if (length && (!interpret(in, rpn + s->rpn, s->rpn_length, &address) ||
		       !memory_read(in, &address, bytes, length)))
		return put_fault(x, address);
	put_item(x, status, bytes, length);
	x->left -= length;
	return true;
}

static inline bool put_statement(struct expected *x, struct interpreter *in,
			  const struct tdf_stmt *s, const uint8_t *rpn)
{
	bool string = s->kind == TDF_STMT_ASCIIZ;
	uint64_t value;

	if (s->kind == TDF_STMT_REG) {
		value = register_value(in, s->reg);
		put(x, &value, s->reg_bytes);
		return true;
	}
	if (!x->left) {
		x->flags |= RAS_RECORD_CUT;
		put_item(x, RAS_ITEM_CUT | (string ? RAS_ITEM_STRING :
				RAS_ITEM_VALUE), NULL, 0);
		return true;
	}
	if (!string)
		return put_memory(x, in, s, rpn);
	if (!interpret(in, rpn + s->rpn, s->rpn_length, &value))
		return put_fault(x, value);
	return put_string(x, in, s, value);
}

/* Registers and prefixes are taken off MAXDATALENGTH first. */
static inline void interpret_record(struct expected *x, struct interpreter *in,
			     const struct tdf_stmt *stmts, size_t count,
			     const uint8_t *rpn, size_t maxdata)
{
	size_t fixed = 0;

	memset(x, 0, sizeof(*x));
	for (size_t i = 0; i < count; i++)
		fixed += stmts[i].kind == TDF_STMT_REG ? stmts[i].reg_bytes :
							 RAS_ITEM_PREFIX;
	x->left = fixed < maxdata ? maxdata - fixed : 0;
	for (size_t i = 0; i < count; i++) {
		if (!put_statement(x, in, &stmts[i], rpn))
			return;
	}
}

#endif
