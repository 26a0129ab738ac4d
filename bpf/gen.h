/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between the parts of the generator: the body (body.c), its items (item.c,
 * stub.c), the expressions in them (rpn.c) and the machine's registers
 * (arch_x86.c).
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
#define VALUE_BYTES	8	/* that a computed value is stored with */
#define RECORD(field)	((int)offsetof(struct ras_record, field))
#define ITEM(field)	((int)offsetof(struct ras_item, field))

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
	STUB_FAULT,		/* `value` can't be used: on to `fault` */
	STUB_ITEM_FAULT,	/* `fault` where the record goes on behind it */
	STUB_EMPTY_OR_FAULT,	/* string read returned <= 0 */
	STUB_STRING_CUT,	/* longer than `limit` */
	STUB_LENGTH_CUT,	/* LEN above `limit` */
	STUB_BUDGET_CUT,	/* longer than what MAXDATALENGTH leaves */
	STUB_BUDGET_NONE,	/* MAXDATALENGTH leaves nothing */
};

struct stub {
	enum stub_kind kind;
	emit_label enter, back;
	emit_label fault;	/* gen->fault then */
	struct place place;
	struct value value;
	uint32_t limit;
	uint8_t status;		/* kind of the item */
	uint8_t stale;		/* gen->stale then */
	bool budget;		/* FRAME_LIMIT holds the limit */
	int stmt;
};

/* each entry's home, each entry's other place, what a deref reads */
#define GEN_SLOTS	(2 * TDF_RPN_STACK + 2)

struct gen {
	struct emit e;
	const struct tdf *tdf;
	const struct tdf_point *point;
	const struct tdf_site *site;
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
	uint32_t budget;	/* MAXDATALENGTH less what is in every record */
	uint32_t used;		/* of the budget, at most */
	uint32_t fixed;		/* of what is in every record, so far */
	uint32_t spread;	/* 2^n - 1: bounds the sum of the items' lengths */
	bool faults;		/* something in it may fault */
	bool go_on;		/* behind an item that faults */
	size_t item_stubs;	/* stubs before the item */
	emit_label fault;	/* of what is generated: r1 = failing pointer, r9 =
				 * its place */
	emit_label fault_ends, raw_fault;	/* that end the record */
	uint8_t stale;		/* RAS_ITEM_STALE when the item may be it */
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
#define FRAME_LIMITS	(-72)	/* address of the tracepoint's struct ras_limit */
#define FRAME_SLOT(n)	(-80 - 8 * (n))

/* body.c: keep the first error and its text; the emitter then does nothing. */
void gen_fail(struct gen *gen, int code, const char *text, unsigned int number);
/* How much pt_regs' instruction pointer is above the probed address. */
int gen_ip_excess(const struct gen *gen);
/* From here on instructions are those of a statement, or of STMT_*. */
void gen_note(struct gen *gen, int stmt);

#define STMT_PROLOGUE	(-1)
#define STMT_EPILOGUE	(-2)

/* scan.c: sizes, and whether it faults and moves; what can't be done fails. */
void scan_site(struct gen *gen);

/* item.c: the item of the statement `index` and of those that are MORE of it,
 * at gen->place; the index of the next item's statement */
uint32_t item_generate(struct gen *gen, uint32_t index);
/* Behind `index`, the first statement that isn't MORE of it; *bytes: the sum */
uint32_t item_end(const struct gen *gen, uint32_t index, uint32_t *bytes);
/* reg = the place and `more` bytes behind it */
void item_place_load(struct gen *gen, const struct place *place, int more,
		     int reg);
void item_status_store(struct gen *gen, const struct place *place, int status);
/* Read `size` bytes (0: r2 bytes) at `address` to where r1 points. */
void item_read(struct gen *gen, uint32_t size, const struct value *address);
/* The call alone: r2 bytes to where r1 points, or a string of at most that. */
void item_read_call(struct gen *gen, bool string, const struct value *address);

/* stub.c: a new one, of the item that is being generated; NULL after errors */
struct stub *stub_new(struct gen *gen, enum stub_kind kind);
/* A fault that stores `value` when dst `op` imm holds. */
void stub_fault_if(struct gen *gen, int op, int dst, int32_t imm,
		   const struct value *value);
/* One more fault is counted in the row that base points to. */
void stub_fault_count(struct gen *gen, int base);
void stub_generate(struct gen *gen, const struct stub *stub);
/* Where faults end the record; goes on at `finish` with r9 = its end. */
void stub_ends_generate(struct gen *gen, emit_label finish);

/* rpn.c: a checked expression. The result is never VALUE_TEMP. Uses r0 to r5
 * and the slots. */
void rpn_generate(struct gen *gen, const uint8_t *rpn, size_t size,
		  struct value *result);
/* reg = value, of the traced program's width for addresses. reg is r1 to r5;
 * r0 is overwritten when add is wide. */
void rpn_value_load(struct gen *gen, const struct value *value, int reg);
void rpn_address_load(struct gen *gen, const struct value *value, int reg);
/* What an expression uses: RPN_USES_* */
unsigned int rpn_uses(uint16_t machine, const uint8_t *rpn, size_t size);

#define RPN_USES_ADDR	0x01	/* DW_OP_addr */
#define RPN_USES_XDEREF	0x02	/* segments */
#define RPN_USES_BASE	0x04	/* a register of body_thread_bases */
#define RPN_USES_STALE	0x08	/* one of these that the program may have changed
				 * since its thread was switched to */

struct arch_reg {
	int offset;		/* in struct pt_regs */
	int bytes;		/* of the widest name */
	bool ip;
};

/* arch_x86.c: the register with this DWARF number; fails without one. */
struct arch_reg arch_reg_find(struct gen *gen, uint64_t dwarf);
/* Its index in body_thread_bases; -1: it isn't one of these. */
int arch_base_find(uint16_t machine, uint64_t dwarf);
/* Can the program change it without the kernel's knowing? */
bool arch_base_stale(int base);
/* Where struct pt_regs has the instruction pointer, 8 bytes. */
int arch_ip_offset(void);

#endif
