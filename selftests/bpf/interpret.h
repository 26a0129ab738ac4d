/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A second opinion: what an address expression and a tracepoint's statements
 * come to, computed step by step from the text of DWARF 5 (section 2.5),
 * tdf.h and buffer.h. Shares nothing with the generator but the names of the
 * operations. Values are of the generic type, 64 bits.
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

/* Of x86-64: bodies for it are made, and run on registers that a test gives
 * them, on every machine. */
#ifndef __x86_64__
struct pt_regs {
	unsigned long r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx,
		      rdx, rsi, rdi, orig_rax, rip, cs, eflags, rsp, ss;
};
#endif

enum {
#define RPN_OP(name, code, operand, pops, pushes) OP_##name = code,
#define RPN_OP_RANGE(name, first, last, operand, pops, pushes) \
	OP_##name = first,
#include <rastrace/rpn.def>
#undef RPN_OP
#undef RPN_OP_RANGE
};

/* What a selector means. */
struct segment {
	uint16_t selector;
	uint64_t base, limit;	/* limit: the last byte */
};

struct interpreter {
	const struct pt_regs *regs;
	bool is32;		/* i386: its register numbers, flat addresses
				 * of 32 bits */
	const uint64_t *x;	/* AArch64: X0 to X30, SP, PC, PSTATE; else
				 * NULL */
	uint64_t bias;
	const uint64_t *vectors;	/* halves of XMM0 to XMM15; NULL: there
					 * is no module that reads them */
	const uint64_t *entry;	/* arguments where the call began */
	pid_t pid;		/* whose memory; 0: this process's own */
	bool bring_in;		/* what can't be read was tried to be brought in */
	uint64_t thread_base[2];	/* fs.base, gs.base */
	bool stale;		/* gs.base was used */
	const struct segment *segments;
	size_t segment_count;
	uint64_t kept[TDF_KEPT_MAX + 1];
	uint64_t elapsed, cputime, at_entry[TDF_ENTRY_VALUES_MAX];
	uint64_t stack[64];
	int depth;
	const uint8_t *code, *end;
	const uint8_t *zero_end;	/* after the last lit0 */
	bool raises;		/* the operation comes right after it: what is
				 * divided is reported */
	uint64_t fault;		/* what could not be used */
	uint8_t status;		/* RAS_ITEM_* of it */
};

static inline bool memory_read(struct interpreter *in, uint64_t *address,
			void *to, size_t size)
{
	struct iovec local = { to, size }, remote;

	in->status = in->bring_in ? RAS_ITEM_FAULT : RAS_ITEM_NOT_TRIED;
	if (in->is32)
		*address = (uint32_t)*address;
	if (!size)
		return true;
	remote = (struct iovec){ (void *)*address, size };
	return process_vm_readv(in->pid ? in->pid : getpid(), &local, 1,
				&remote, 1, 0) == (ssize_t)size;
}

/* aadwarf64, 4.1, and arch-a64.def for PSTATE */
static inline uint64_t register_a64(struct interpreter *in, uint64_t number)
{
	switch (number) {
	case 36:
		in->stale = true;
		return in->thread_base[0];
	case 40:
		return in->x[33];
	default:
		return number <= 32 ? in->x[number] : 0;
	}
}

/* psABI of x86-64 figure 3.36, of i386 table 2.14 */
static inline uint64_t register_value(struct interpreter *in, uint64_t number)
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

	if (in->x)
		return register_a64(in, number);
	if (in->is32 && number < 10)
		return (uint32_t)regs32[number];
	if (!in->is32 && number < 17)
		return regs64[number];
	if (!in->is32 && (number == 58 || number == 59)) {
		in->stale |= number == 59;
		return in->thread_base[number - 58];
	}
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

/* selector : offset to a flat address */
static inline bool far_address(struct interpreter *in, uint64_t *address)
{
	uint64_t offset = pop(in), selector = pop(in);

	in->status = RAS_ITEM_SELECTOR;
	in->fault = selector << 32 | (uint32_t)offset;
	for (size_t i = 0; i < in->segment_count; i++) {
		const struct segment *segment = &in->segments[i];

		if (segment->selector != (uint16_t)selector ||
		    offset > segment->limit)
			continue;
		*address = segment->base + offset;
		return true;
	}
	return false;
}

static inline bool push_far(struct interpreter *in, int bytes)
{
	uint64_t address;

	if (!far_address(in, &address))
		return false;
	push(in, address);
	return push_memory(in, bytes);
}

/* The former second entry `a`, the former top `b`. */
static inline bool binary(struct interpreter *in, int op, uint64_t a,
			  uint64_t b)
{
	int64_t sa = a, sb = b;

	in->status = RAS_ITEM_ARITHMETIC;
	in->fault = in->raises && op == OP_div ? a : 0;
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

/* psABI of x86-64 3.2.3: which register has which argument; of i386 2.2.3: they
 * are after the address to return to. */
static inline void push_entry(struct interpreter *in)
{
	static const int arguments[] = { 5, 4, 1, 2, 8, 9 };
	const uint8_t *code = in->code + 1;

	in->code += 1 + *in->code;
	if (in->is32) {
		push(in, in->entry[code[1] / 4 - 1]);
		return;
	}
	for (int i = 0; i < 6; i++)
		if (*code - 0x50 == arguments[i])
			push(in, in->entry[i]);
}

static inline uint64_t unary(struct interpreter *in, int op, uint64_t a)
{
	switch (op) {
	case OP_abs:
		return (int64_t)a < 0 ? -a : a;
	case OP_neg:
		return -a;
	case OP_not:
		return ~a;
	default:
		return a + operand_leb(in, false);
	}
}

static inline bool pointer_read(struct interpreter *in, uint64_t address,
				int bytes, uint64_t *pointer)
{
	*pointer = 0;
	in->fault = address;
	return memory_read(in, &address, pointer, bytes);
}

/* What replaces the node on top is found in `steps` nodes at most. */
static inline bool tree_next(struct interpreter *in)
{
	int bytes = in->is32 ? 4 : 8;
	uint64_t left = operand_leb(in, false), right = operand_leb(in, false);
	uint64_t parent = operand_leb(in, false);
	int steps = operand(in, 1, false);
	uint64_t node = pop(in), other, side;

	if (!pointer_read(in, node + right, bytes, &other))
		return false;
	for (int i = 0; other && i <= steps; i++) {
		node = other;
		if (!pointer_read(in, node + left, bytes, &other))
			return false;
		if (!other) {
			push(in, node);
			return true;
		}
	}
	for (int i = 0; !other && i <= steps; i++) {
		if (!pointer_read(in, node + parent, bytes, &other))
			return false;
		side = 0;
		if (other && !pointer_read(in, other + right, bytes, &side))
			return false;
		if (!other || side != node) {
			push(in, other);
			return true;
		}
		node = other;
		other = 0;
	}
	in->status = RAS_ITEM_ARITHMETIC;
	in->fault = node;
	return false;
}

static inline bool step(struct interpreter *in)
{
	int op = *in->code++;
	uint64_t a, b;

	in->raises = in->code - 1 == in->zero_end;
	if (op == OP_lit)
		in->zero_end = in->code;
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
	case OP_xderef:
		return push_far(in, 8);
	case OP_xderef_size:
		return push_far(in, operand(in, 1, false));
	case OP_abs:
	case OP_neg:
	case OP_not:
	case OP_plus_uconst:
		push(in, unary(in, op, pop(in)));
		return true;
	case OP_bra:
		jump(in, pop(in) != 0);
		return true;
	case OP_skip:
		jump(in, true);
		return true;
	case OP_nop:
		return true;
	case OP_kept:
		push(in, in->kept[operand(in, 1, false)]);
		return true;
	case OP_elapsed:
		push(in, in->elapsed);
		return true;
	case OP_cputime:
		push(in, in->cputime);
		return true;
	case OP_at_entry:
		push(in, in->at_entry[operand(in, 1, false)]);
		return true;
	case OP_tree_next:
		return tree_next(in);
	case OP_entry_value:
		push_entry(in);
		return true;
	case OP_vector:
		a = operand_leb(in, false);
		b = operand_leb(in, true);
		in->status = RAS_ITEM_ABSENT | RAS_ITEM_MODULE;
		in->fault = 0;
		if (!in->vectors)
			return false;
		push(in, in->vectors[2 * (a - 17) + b / 8]);
		return true;
	default:
		b = pop(in);
		a = pop(in);
		return binary(in, op, a, b);
	}
}

/* true: *value is the result; false: *value is what failed. Of a far address
 * the result is the flat one. */
static inline bool interpret(struct interpreter *in, const uint8_t *rpn,
			     size_t size, bool segment, uint64_t *value)
{
	in->depth = 0;
	in->zero_end = NULL;
	in->code = rpn;
	in->end = rpn + size;
	while (in->code < in->end) {
		if (!step(in))
			goto fault;
	}
	if (!segment)
		*value = pop(in);
	else if (!far_address(in, value))
		goto fault;
	return true;
fault:
	*value = in->is32 && in->status == RAS_ITEM_NOT_TRIED ?
		 (uint32_t)in->fault : in->fault;
	return false;
}

static inline bool interpret_stmt(struct interpreter *in,
				  const struct tdf_stmt *s, const uint8_t *rpn,
				  uint64_t *value)
{
	return interpret(in, rpn + s->rpn, s->rpn_length,
			 s->flags & TDF_STMT_SEGMENT, value);
}

/* A record under construction. */
struct expected {
	uint8_t data[RAS_RECORD_MAX];
	size_t length;		/* of the data after the header */
	uint16_t flags;
	unsigned int faults;
	size_t left;		/* of MAXDATALENGTH, for memory items */
	bool go_on;		/* ONFAULT=CONTINUE */
	bool filtered;		/* by its IF: there is no record */
};

static inline void put(struct expected *x, const void *data, size_t size)
{
	if (size)
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

/* All that put something return whether the record goes on. */
static inline bool put_fault(struct expected *x, const struct interpreter *in,
			     uint64_t pointer)
{
	put_item(x, in->status | (in->stale ? RAS_ITEM_STALE : 0), &pointer, 8);
	x->left -= x->left < 8 ? x->left : 8;
	x->flags |= RAS_RECORD_FAULT;
	x->faults++;
	return x->go_on;
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
		       const struct tdf_stmt *s, const uint8_t *rpn)
{
	size_t most = s->length < x->left ? s->length : x->left, length = 0;
	uint8_t status = RAS_ITEM_STRING, byte;
	char text[RAS_RECORD_MAX];
	uint64_t address;

	if (!interpret_stmt(in, s, rpn, &address))
		return put_fault(x, in, address);
	while (length < most + 2) {
		uint64_t at = address + length;

		if (!memory_read(in, &at, &byte, 1)) {
			if (length >= most) {
				length = most + 1;
				break;
			}
			if (in->is32)
				address = (uint32_t)address;
			return put_fault(x, in, address);
		}
		if (!byte)
			break;
		text[length++] = byte;
	}
	status |= in->stale ? RAS_ITEM_STALE : 0;
	length = cut(x, length, s->length, &status);
	put_item(x, status, text, length);
	x->left -= length;
	return true;
}

/* true: *length; false: *address is what failed. */
static inline bool length_read(struct interpreter *in, const struct tdf_stmt *s,
			       const uint8_t *rpn, uint64_t *length,
			       uint64_t *address)
{
	bool segment = s->flags & TDF_STMT_LEN_SEGMENT;

	if (!interpret(in, rpn + s->len_rpn, s->len_rpn_length, segment,
		       address))
		return false;
	*length = *address;
	if (s->flags & TDF_STMT_LEN_VALUE)
		return true;
	*length = 0;
	return memory_read(in, address, length, s->len_bytes);
}

static inline bool put_memory(struct expected *x, struct interpreter *in,
		       const struct tdf_stmt *s, const uint8_t *rpn)
{
	uint8_t status = RAS_ITEM_VALUE, bytes[RAS_RECORD_MAX];
	uint64_t address, length = s->length;

	if (s->flags & TDF_STMT_LEN) {
		if (!length_read(in, s, rpn, &length, &address))
			return put_fault(x, in, address);
		if (length > s->length) {
			length = s->length;
			status |= RAS_ITEM_CUT;
		}
	}
	length = cut(x, length, s->length, &status);
	if (length && (!interpret_stmt(in, s, rpn, &address) ||
		       !memory_read(in, &address, bytes, length)))
		return put_fault(x, in, address);
	status |= in->stale ? RAS_ITEM_STALE : 0;
	put_item(x, status, bytes, length);
	x->left -= length;
	return true;
}

/* The bytes of `count` pieces; false: *address is what failed. */
static inline bool pieces_read(struct interpreter *in,
			       const struct tdf_stmt *s, size_t count,
			       const uint8_t *rpn, uint8_t *bytes,
			       uint64_t *address)
{
	for (size_t i = 0; i < count; i++) {
		if (!interpret_stmt(in, &s[i], rpn, address))
			return false;
		if (s[i].kind == TDF_STMT_VALUE && s[i].reg)
			in->kept[s[i].reg] = *address;
		if (s[i].kind == TDF_STMT_VALUE && s[i].reg && s[i].length == 1)
			*address = *address != 0;
		if (s[i].kind == TDF_STMT_VALUE)
			memcpy(bytes, address, s[i].length);
		else if (!memory_read(in, address, bytes, s[i].length))
			return false;
		bytes += s[i].length;
	}
	return true;
}

static inline bool put_pieces(struct expected *x, struct interpreter *in,
			      const struct tdf_stmt *s, size_t count,
			      const uint8_t *rpn)
{
	uint8_t status = RAS_ITEM_VALUE, bytes[RAS_RECORD_MAX];
	size_t length = 0;
	uint64_t address;

	for (size_t i = 0; i < count; i++)
		length += s[i].length;
	if (!pieces_read(in, s, count, rpn, bytes, &address)) {
		if (!(s->flags & TDF_STMT_RAW))
			return put_fault(x, in, address);
		x->flags |= RAS_RECORD_FAULT;
		x->faults++;
		return false;
	}
	if (s->flags & TDF_STMT_RAW) {
		put(x, bytes, length);
		return true;
	}
	status |= in->stale ? RAS_ITEM_STALE : 0;
	length = cut(x, length, length, &status);
	put_item(x, status, bytes, length);
	x->left -= length;
	return true;
}

/* The item is in a vector register, and nothing reads these. */
static inline bool needs_module(struct interpreter *in,
				const struct tdf_stmt *s, size_t count,
				const uint8_t *rpn)
{
	uint64_t value;

	for (size_t i = 0; i < count; i++) {
		in->status = RAS_ITEM_VALUE;
		if (!interpret_stmt(in, &s[i], rpn, &value) &&
		    in->status & RAS_ITEM_MODULE)
			return true;
	}
	in->stale = false;
	return false;
}

/* The item that s begins, of `count` statements. */
static inline bool put_statement(struct expected *x, struct interpreter *in,
				 const struct tdf_stmt *s, size_t count,
				 const uint8_t *rpn)
{
	bool string = s->kind == TDF_STMT_ASCIIZ;
	uint64_t value;

	in->stale = false;
	if (s->kind == TDF_STMT_REG) {
		value = register_value(in, s->reg);
		put(x, &value, s->reg_bytes);
		return true;
	}
	if (s->kind == TDF_STMT_ABSENT) {
		put_item(x, RAS_ITEM_ABSENT, NULL, 0);
		return true;
	}
	if (s->flags & TDF_STMT_RAW)
		return put_pieces(x, in, s, count, rpn);
	if (s->kind == TDF_STMT_VALUE && s->reg)
		in->kept[s->reg] = 0;
	if (needs_module(in, s, count, rpn)) {
		put_item(x, RAS_ITEM_ABSENT | RAS_ITEM_MODULE, NULL, 0);
		return true;
	}
	if (!x->left) {
		x->flags |= RAS_RECORD_CUT;
		put_item(x, RAS_ITEM_CUT | (string ? RAS_ITEM_STRING :
				RAS_ITEM_VALUE), NULL, 0);
		return true;
	}
	if (string)
		return put_string(x, in, s, rpn);
	if (s->kind == TDF_STMT_VALUE || count > 1)
		return put_pieces(x, in, s, count, rpn);
	return put_memory(x, in, s, rpn);
}

/* What is in every record: registers, prefixes, items without one. */
static inline size_t fixed_bytes(const struct tdf_stmt *s, size_t count)
{
	size_t fixed = 0;
	bool raw = false;

	for (; count--; s++) {
		if (!(s->flags & TDF_STMT_MORE))
			raw = s->flags & TDF_STMT_RAW;
		if (s->kind == TDF_STMT_REG)
			fixed += s->reg_bytes;
		else if (raw)
			fixed += s->length;
		else if (s->kind != TDF_STMT_IF && !(s->flags & TDF_STMT_MORE))
			fixed += RAS_ITEM_PREFIX;
	}
	return fixed;
}

/* IF: is the record to be made? */
static inline bool condition_holds(struct expected *x, struct interpreter *in,
				   const struct tdf_stmt *s,
				   const uint8_t *rpn)
{
	uint64_t value;

	if (!interpret_stmt(in, s, rpn, &value)) {
		x->faults++;
		value = 0;
	}
	x->filtered = !value;
	return value;
}

/* What is in every record is taken off MAXDATALENGTH first. */
static inline void interpret_record(struct expected *x, struct interpreter *in,
				    const struct tdf_point *point,
				    const struct tdf_site *site,
				    const struct tdf_stmt *stmts,
				    const uint8_t *rpn, size_t maxdata)
{
	size_t count = site->stmts, fixed = fixed_bytes(stmts, count), more;

	memset(x, 0, sizeof(*x));
	x->go_on = point->flags & TDF_POINT_CONTINUE;
	if (site->flags & TDF_SITE_TAIL_CALL)
		x->flags = RAS_RECORD_TAIL_CALL;
	x->left = fixed < maxdata ? maxdata - fixed : 0;
	for (size_t i = 0; i < count; i += more) {
		more = 1;
		if (stmts[i].kind == TDF_STMT_IF) {
			if (!condition_holds(x, in, &stmts[i], rpn))
				return;
			continue;
		}
		while (i + more < count &&
		       stmts[i + more].flags & TDF_STMT_MORE)
			more++;
		if (!put_statement(x, in, &stmts[i], more, rpn))
			return;
	}
}

#endif
