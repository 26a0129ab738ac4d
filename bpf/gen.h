/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between the parts of the generator: the body (body.c), the expressions in
 * it (rpn.c) and the machine's registers (arch_x86.c).
 */
#ifndef BPF_GEN_H
#define BPF_GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "body.h"
#include "emit.h"

#define R0	BPF_REG_0
#define R1	BPF_REG_1
#define R2	BPF_REG_2
#define R3	BPF_REG_3
#define R6	BPF_REG_6
#define R7	BPF_REG_7
#define R8	BPF_REG_8
#define R9	BPF_REG_9
#define FP	BPF_REG_10

#define FAULT_BYTES	8	/* of the failing pointer */
#define RECORD(field)	((int)offsetof(struct ras_record, field))

/*
 * A 64-bit value that is not computed yet: what lies in `kind` plus `add`.
 */
enum value_kind {
	VALUE_CONST,		/* nothing */
	VALUE_MEMORY,		/* `bytes` at base + off, zero-extended */
	VALUE_TEMP,		/* register `base`, r1 to r5 */
};

struct value {
	enum value_kind kind;
	int base, off, bytes;
	uint64_t add;
};

/* Where in the record an item goes. */
struct place {
	int base, off;		/* register and offset */
	bool spilled;		/* the register's value is in FRAME_ITEM */
};

/*
 * Code that leaves the straight line for the rare case, and is written behind
 * it: `enter` is jumped to, it comes back at `back`.
 */
enum stub_kind {
	STUB_FAULT,		/* `value` can't be used: ends the record */
	STUB_EMPTY_OR_FAULT,	/* string read returned <= 0 */
	STUB_STRING_CUT,	/* longer than `limit` */
	STUB_LENGTH_CUT,	/* LEN above `limit` */
	STUB_BUDGET_CUT,	/* longer than what MAXDATALENGTH leaves */
	STUB_BUDGET_NONE,	/* MAXDATALENGTH leaves nothing */
};

struct stub {
	enum stub_kind kind;
	emit_label enter, back;
	struct place place;
	struct value value;
	uint32_t limit;
	uint8_t status;		/* kind of the item */
	bool budget;		/* FRAME_LIMIT holds the limit */
	int stmt;
};

/* each entry's home, each entry's other place, what a deref reads */
#define GEN_SLOTS	(2 * TDF_RPN_STACK + 2)

struct gen {
	struct emit e;
	const struct tdf *tdf;
	const struct body_target *target;
	struct error *err;
	uint16_t machine;	/* ELF e_machine */
	bool flat32;		/* addresses are 32 bits wide */

	struct stub *stubs;
	size_t stub_count, stub_room;
	struct body_note *notes;
	size_t note_count, note_room;
	int stmt;		/* being generated, as in struct body_note */

	struct place place;	/* next item */
	uint32_t budget;	/* MAXDATALENGTH less registers, prefixes */
	uint32_t used;		/* of the budget, at most */
	uint32_t fixed;		/* registers and prefixes so far */
	bool faults;		/* something in it may fault */
	emit_label fault;	/* r1 = failing pointer, r9 = item's place */
	bool relocated;		/* FRAME_BIAS is set */
	int deepest;		/* offset of the frame that is used */
	size_t deepest_insn;	/* stores to it */
};

/* Frame of the program, offsets from r10 */
#define FRAME_COOKIE	(-8)	/* u64; struct ras_record has its parts */
#define FRAME_POINT	(-6)
#define FRAME_SITE	(-4)	/* key of the lookup in sites */
#define FRAME_CPU	(-12)	/* key of the lookup in buffer */
#define FRAME_ROW	(-16)	/* key of the lookup in count */
#define FRAME_NEST	(-20)	/* key of the lookup in nest */
#define FRAME_COUNT	(-32)	/* address of the row */
#define FRAME_BIAS	(-40)	/* what DW_OP_addr adds */
#define FRAME_ITEM	(-48)	/* r9 before an item's length was added */
#define FRAME_LENGTH	(-56)	/* of an item */
#define FRAME_LIMIT	(-64)	/* what an item may take of the budget */
#define FRAME_SLOT(n)	(-72 - 8 * (n))

/* body.c: keep the first error and its text; the emitter then does nothing. */
void gen_fail(struct gen *gen, int code, const char *text, unsigned int number);

/* item.c: one statement, at gen->place */
void item_generate(struct gen *gen, const struct tdf_stmt *stmt);
void item_stub_generate(struct gen *gen, const struct stub *stub);
/* What all faults come to; goes on at `finish` with r9 = end of the record. */
void item_fault_generate(struct gen *gen, emit_label finish);
/* reg = gen->place */
void item_place_load(struct gen *gen, int reg);
/* A fault that stores `value` when dst `op` imm holds. */
void item_fault_if(struct gen *gen, int op, int dst, int32_t imm,
		   const struct value *value);
/* Read `size` bytes (0: r2 bytes) at `address` to where r1 points. */
void item_read(struct gen *gen, uint32_t size, const struct value *address);

/* rpn.c: a checked expression. The result is never VALUE_TEMP. Uses r0 to r5
 * and the slots. */
void rpn_generate(struct gen *gen, const uint8_t *rpn, size_t size,
		  struct value *result);
/* reg = value, of the traced program's width for addresses. reg is r1 to r5;
 * r0 is overwritten when add is wide. */
void rpn_value_load(struct gen *gen, const struct value *value, int reg);
void rpn_address_load(struct gen *gen, const struct value *value, int reg);
/* Does the expression have a DW_OP_addr? */
bool rpn_relocated(const uint8_t *rpn, size_t size);

struct arch_reg {
	int offset;		/* in struct pt_regs */
	int bytes;		/* of the widest name */
	bool ip;
};

/* arch_x86.c: the register with this DWARF number; fails without one. */
struct arch_reg arch_reg_find(struct gen *gen, uint64_t dwarf);
/* Where struct pt_regs has the instruction pointer, 8 bytes. */
int arch_ip_offset(void);

#endif
