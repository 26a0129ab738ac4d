/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between the parts that write a body's code (code.h) as its plan says.
 *
 * Registers that are kept across calls:
 *
 *	CONTEXT	struct pt_regs
 *	RECORD	the record: in the slice's data, room for RAS_RECORD_MAX bytes
 *	SLICE	the slice, locked (before: the CPU's main slice)
 *	PLACE	RECORD + the items' variable lengths so far; before the first
 *		item the row of `count`
 *
 * An item's place is RECORD or PLACE plus a constant, so records of constant
 * layout need no PLACE.
 */
#ifndef BPF_CODE_GEN_H
#define BPF_CODE_GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rastrace/buffer.h>
#include "bpf/plan/plan.h"
#include "lib/formats/rpn.h"
#include "ops.h"

#define R0	BPF_REG_0
#define R1	BPF_REG_1
#define R2	BPF_REG_2
#define R3	BPF_REG_3
#define R4	BPF_REG_4
#define R5	BPF_REG_5
#define CONTEXT	BPF_REG_6
#define RECORD	BPF_REG_7
#define SLICE	BPF_REG_8
#define PLACE	BPF_REG_9
#define NO_REG	(-1)

#define RECORD_AT(field)	((int)offsetof(struct ras_record, field))
#define SLICE_AT(field)		((int)offsetof(struct ras_slice, field))
#define COUNT_AT(field)		((int)offsetof(struct ras_count, field))
#define LIMIT_AT(field)		((int)offsetof(struct ras_limit, field))
#define CALL_AT(field)		((int)offsetof(struct ras_call, field))
#define ITEM_AT(field)		((int)offsetof(struct ras_item, field))

#define GEN_COMM_BYTES	16

/*
 * A 64-bit value that is not computed yet: what lies in `kind` plus `add`.
 */
enum gen_value_kind {
	VALUE_CONST,		/* nothing */
	VALUE_MEMORY,		/* `bytes` at base + off, zero-extended */
	VALUE_SLOT,		/* `bytes` at byte `off` of the slot */
	VALUE_TEMP,		/* the register `base` */
};

struct gen_value {
	enum gen_value_kind kind;
	int base, off, bytes;
	code_slot slot;
	uint64_t add;
	enum arch_segment segment;	/* the register it is the value of */
};

/* Where in the record an item goes: a register and an offset. */
struct gen_place {
	int base, off;
};

/*
 * What is generated: a body that brings nothing in has one version. Else the
 * first fault of the first version gives the record up as if it hadn't begun,
 * all statements are evaluated once more without a record, bringing in what they
 * read, and the record is taken again.
 */
enum version {
	VERSION_ONLY,		/* faults are final */
	VERSION_FIRST,		/* the first fault goes to gen->absent */
	VERSION_WALK,		/* bits of the item are added to gen->bits */
	VERSION_AGAIN,		/* faults are final, gen->bits says why, and which
				 * items were brought in */
};

/* Where what fails goes. */
struct gen_fault {
	code_label to;
	/* with gen->fault_pointer, gen->fault_status, PLACE = the item; memory
	 * that can't be read doesn't go there in a first version */
	bool stored;
};

/* Of a stack by tables (unwind.c) */
struct unwind_call {
	int word;		/* bytes of a pointer */
	int off;		/* from gen->place to the first address */
	int flags;		/* ... to the flags of the stack */
	uint32_t depth, taken;	/* addresses at most, and so far */
	int most;		/* ... that there is room for; -1: for all */
	bool direct;		/* frames are read without a call */
	code_label step;	/* set by unwind_generate() */
};

/* The record's state there: the frame whose caller is looked for next, and the
 * result */
#define UNWIND_IP_AT	0	/* u64 each */
#define UNWIND_SP_AT	8
#define UNWIND_FP_AT	16
#define UNWIND_LESS	24	/* 1: the instruction pointer is an address to
				 * return to */
#define UNWIND_COUNT	32	/* result: addresses */
#define UNWIND_ENDED	40	/* result: RAS_STACK_* */
#define UNWIND_SPACE	48	/* struct unwind_space */
#define UNWIND_LINK_AT	56	/* u64: link register */

#define STACK_DISTANCE	(1 << 20)	/* from a frame to the next along frame
					 * pointers, at most */

/* What the functions of a body share: subprograms are written after all else, if
 * their labels are used. */
struct gen_shared {
	code_label keep;	/* process.c */
	code_label walk, again;	/* paging.c */
	code_label tree[2];	/* tree.c: and one that brings in */
	code_label bring, touch, mapping;	/* vma.c */
	struct unwind_call unwinds[BODY_UNWINDS];
	uint32_t unwind_count;
};

/* Where what is read goes: to base + off; without a base, to byte `off` of the
 * slot. */
struct direct_to {
	int base, off;
	code_slot slot;
};

/* Of direct reads (direct.c) */
struct gen_direct {
	bool begun;
	unsigned int reads;	/* so far */
};

/* Of one function, in one version */
struct gen {
	const struct plan *plan;
	struct code *c;
	struct gen_shared *shared;
	enum version version;

	/* temps that the function has assigned, for those after it */
	code_slot cookie;	/* struct ras_record has its parts; unless the
				 * plan knows it */
	int bias;		/* what DW_OP_addr adds, unless known */
	int offsets;		/* address of the site's words in the map */
	int own;		/* 1: an address may be of the current process */
	int bits;		/* WALK_* of the items (walk.c) */
	code_slot row;		/* key of the row of `count` */
	int limits;		/* address of the tracepoint's struct ras_limit */
	int time;		/* of the hit, where there is a rate */
	int muted;		/* 1: this hit is the first above the rate */
	int data;		/* the data begins data_off after it */
	int data_off;
	/* of points that are CALL or RELEASE: address of the thread's struct
	 * ras_call (NO_REG: it has no arguments), level of the point; the
	 * block that a RELEASE has; where blocks are chosen, these three of a
	 * CALL */
	int call, level, block, size, old;
	int open;		/* whole.c: address of what the entry left */
	int slot;		/* whole.c: of the slot with that; 0: it has none */
	int thread;		/* whole.c: process and thread, at an entry */
	int kept[TDF_KEPT_MAX];	/* kept.c */

	/* of the statement or item that is generated */
	int stmt;		/* as in struct body_note */
	const struct plan_item *item;	/* NULL: the IF, or of none */
	struct gen_place place;	/* of the item, or of the next one */
	struct gen_fault fault;
	code_slot far;		/* segment.c: a far pointer: selector << 32 |
				 * offset */
	int room;		/* ... bytes from there on in its segment */

	/* of the record */
	int fault_pointer, fault_status;
	code_label fault_ends, raw_fault;	/* that end the record */
	code_slot spans[READS_MAX];	/* read.c: of the frame, when `read` */
	bool span_read[READS_MAX];

	struct gen_direct direct;

	/* ways of the program */
	code_label filtered[RAS_FILTERED_KINDS];	/* filter.c */
	code_label absent, absent_if;	/* first faults */
	code_label absent_aggregate;	/* first fault of an aggregate */
	code_label aggregated;	/* after them */
	code_label elsewhere;	/* the slice is busy: the record is taken again */
	code_label passed;	/* after the IF */
	code_label unknown;	/* the IF can't be evaluated */
	code_label leave;	/* with preemption off: end of the program */
	code_label out;		/* the same with preemption on, unless the body
				 * is alone */
};

/* The offset of a field in the row of `why` */
#define WHY_FILTERED(kind)	((int)offsetof(struct ras_why, filtered) + \
				 8 * (kind))
#define WHY_FAULT(kind)		((int)offsetof(struct ras_why, faults) + \
				 8 * (kind))
#define WHY_AT(field)		((int)offsetof(struct ras_why, field))

/* Bits of an item, from the subprogram that brings in (vma.c) */
#define WALK_PAGED_IN	0x01
#define WALK_LEFT	0x02	/* waits for somebody else */
#define WALK_UNREADABLE	0x04
#define WALK_BITS	3	/* of an item */

/* value.c */

/* Keep the first error and its text; nothing is written then. */
void gen_fail(struct gen *gen, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* From here on operations are those of a statement, or of STMT_*. */
void gen_note(struct gen *gen, int stmt);
struct gen_value value_const(uint64_t number);
struct gen_value value_memory(int base, int off, int bytes, uint64_t add);
struct gen_value value_slot(code_slot slot, int off, int bytes);
struct gen_value value_temp(int reg);
/* reg = value; of the traced program's width for addresses */
void gen_value_load(struct gen *gen, const struct gen_value *value, int reg);
void value_address_load(struct gen *gen, const struct gen_value *value,
			int reg);
/* A register that has it, to read only */
int value_reg(struct gen *gen, const struct gen_value *value);
/* A new temp with what is in memory or in a constant */
int temp_load(struct gen *gen, int bytes, int base, int off);
int temp_const(struct gen *gen, uint64_t number);
/* A new temp with the place of the highest bit of a number, which isn't 0 */
int highest_bit(struct gen *gen, int number);
/* The register with this DWARF number; fails without one. */
struct gen_register {
	int offset;		/* in struct pt_regs */
	int bytes;		/* of the widest name */
	bool ip;
};
struct gen_register gen_register_find(struct gen *gen, uint64_t dwarf);
/* Which of the vector registers has this DWARF number; fails without one. */
int gen_vector_find(struct gen *gen, uint64_t dwarf);
/* A temp with the register that a word of the site names; or its low bytes */
int gen_register_load(struct gen *gen, const struct body_register *own,
		      int bytes);
/* How much pt_regs' instruction pointer is above the probed address. */
int gen_ip_excess(const struct gen *gen);
/* What DW_OP_addr adds: known from the registers, or gen->bias */
struct gen_value gen_bias(const struct gen *gen);
/* A new temp with the cookie; the minor, the point, the site in it */
int cookie_reg(struct gen *gen);
int minor_reg(struct gen *gen);
int point_reg(struct gen *gen);
int site_reg(struct gen *gen);
/* reg = `bytes` that the kernel has at base + member; not readable: to `failed` */
void member_load(struct gen *gen, int reg, int bytes, int base,
		 uint32_t member, code_label failed);
/* The running CPU as a key in a new slot, and in r0 */
code_slot cpu_key(struct gen *gen);
/* Make the register visible to others at base + off, and all that was written
 * before. */
void gen_publish(struct gen *gen, int base, int off, int reg);
/* The number in reg as a key of 4 bytes in a new slot */
code_slot key_new(struct gen *gen, int reg);
/* The thread's name, GEN_COMM_BYTES padded with zeros, in a slot or the record */
void comm_to_slot(struct gen *gen, code_slot slot, int off);
void comm_to_record(struct gen *gen, int off);

/* reg = the place and `more` bytes after it */
void item_place_load(struct gen *gen, const struct gen_place *place, int more,
		     int reg);
void item_status_store(struct gen *gen, const struct gen_place *place,
		       int status);
/* The record has RAS_RECORD_*. */
void record_flag_set(struct gen *gen, int flag);

/* address.c: reg = the address of user code in it, without a signature; _test:
 * and none of user space goes to `bad` */
void address_strip(struct gen *gen, int reg);
void address_test(struct gen *gen, int reg, code_label bad);
/* The same of the kernel's code */
void address_strip_kernel(struct gen *gen, int reg);
/* To `kernel` when the address in reg is the kernel's */
void address_kernel_test(struct gen *gen, int reg, code_label kernel);
/* reg = the address of user data in it, without a tag */
void address_strip_tag(struct gen *gen, int reg);

/* why.c: one more of what is at `off` (WHY_*) in the row of `why` of the point on
 * the running CPU. Uses r0 to r5; _row: r0 = that row, none: to `missing`;
 * _dropped: one more `dropped` of the point, which has nothing to do with a
 * slice */
void why_count(struct gen *gen, int off);
void why_row_load(struct gen *gen, code_label missing);
void why_dropped_count(struct gen *gen);

/* fault.c */

/* Memory at `value` couldn't be read, when reg `op` imm holds. */
void fault_unreadable_if(struct gen *gen, int op, int reg, int32_t imm,
			 const struct gen_value *value);
/* Right here */
void fault_unreadable(struct gen *gen, const struct gen_value *value);
/* Something else fails, that is the value of `status` (RAS_ITEM_SELECTOR or
 * RAS_ITEM_ARITHMETIC); _if: when reg `op` imm holds */
void fault_raise(struct gen *gen, const struct gen_value *value, int status);
void fault_raise_if(struct gen *gen, int op, int reg, int32_t imm,
		    const struct gen_value *value, int status);
/* An item begins, whose faults go on after it or end the record; ends, with
 * gen->place the next one's. */
void fault_item_begin(struct gen *gen);
void fault_item_end(struct gen *gen, code_label done);
/* Does the next item's place depend on whether this one faults? */
bool fault_goes_on(const struct gen *gen);
/* Where faults end the record; goes on at `finish` with PLACE = its end. A rare
 * path. */
void fault_ends_generate(struct gen *gen, code_label finish);

/* read.c */

/* Read `bytes` bytes at `address` to byte `off` of the slot, or to a place of the
 * record; where that fails as for fault_unreadable(). */
void read_to_slot(struct gen *gen, code_slot slot, int off, uint32_t bytes,
		  const struct gen_value *address);
void read_to_record(struct gen *gen, const struct gen_place *place, int more,
		    uint32_t bytes, const struct gen_value *address);
/* The same, of as many bytes as a register says, which has bounds */
void read_variable(struct gen *gen, const struct gen_place *place, int more,
		   int bytes, const struct gen_value *address);
/* The same with a length of 1 or more, and room for `most` bytes, a multiple of 8:
 * without a call if that can be */
void read_counted(struct gen *gen, const struct gen_place *place, int more,
		  uint32_t most, int bytes, const struct gen_value *address);
/* A string of at most `most` bytes, its zero included, without a call if that can
 * be: r0 = as of the helper. False: not in this body. */
bool read_string_direct(struct gen *gen, const struct gen_place *place, int more,
			uint32_t most, const struct gen_value *address);
/* The call alone: r2 bytes to where r1 points, or a string of at most that;
 * result in r0 */
void read_call(struct gen *gen, bool string, const struct gen_value *address);
/* What gen->stmt reads at an operation, or READS_BYTES, is part of what is read
 * at once: it is now in a slot, at *off. False: it is read by itself. */
bool read_span_take(struct gen *gen, size_t at, const struct gen_value *address,
		    code_slot *slot, int *off);
/* Sets gen->own, if the plan wants it. */
void read_own_generate(struct gen *gen);

/*
 * direct.c: reading without a call. Begins and ends with the data of the record, in
 * whose memory it remembers what it has found.
 *
 * Then `bytes` bytes at the address in a register, as many as are in a register, in
 * words with room for `most`, or a string of at most `most` bytes, its zero
 * included, into the record: r0 = its bytes as of the helper.
 * What can't be read so goes to `slow`, with nothing or something written. They
 * may be so many, if these fit; of a string DIRECT_STRING_LEAST or more.
 */
#define DIRECT_STRING_LEAST	8
/* r0 = what reads at the address in reg and can't fault; uses r1 to r5. */
void direct_cast(struct gen *gen, int reg);
void direct_begin(struct gen *gen);
void direct_end(struct gen *gen);
bool direct_fits(const struct gen *gen, uint32_t bytes);
void direct_read(struct gen *gen, const struct direct_to *to, uint32_t bytes,
		 int address, code_label slow);
void direct_counted(struct gen *gen, const struct direct_to *to, uint32_t most,
		    int bytes, int address, code_label slow);
void direct_string(struct gen *gen, const struct direct_to *to, uint32_t most,
		   int address, code_label slow);

/* rpn.c: a checked expression. */
void rpn_generate(struct gen *gen, const uint8_t *rpn, size_t size,
		  struct gen_value *result);
/* The same of a far address, which becomes the linear one of `bytes` bytes, as
 * of segment_generate(). */
void rpn_far_generate(struct gen *gen, const uint8_t *rpn, size_t size,
		      uint32_t bytes, struct gen_value *result);

/* kept.c: what statements keep for later ones: values before the statements; a
 * statement's own, 0 until it is stored */
void kept_begin(struct gen *gen);
void kept_clear(struct gen *gen, const struct tdf_stmt *stmt);
void kept_store(struct gen *gen, const struct tdf_stmt *stmt,
		struct gen_value *value);
struct gen_value kept_value(const struct gen *gen, unsigned int number);

/* tree.c: the node whose address is in the slot of 8 bytes becomes the next one.
 * And the subprograms that find it, after all else. */
void tree_next_generate(struct gen *gen, const struct rpn_tree *tree,
			code_slot node);
void trees_generate(struct gen *gen);

/* segment.c: the linear address of selector:offset, where the segment has
 * `bytes` bytes at least; else RAS_ITEM_SELECTOR is raised. Sets gen->far, and
 * gen->room: the bytes from there to the segment's end. */
void segment_generate(struct gen *gen, const struct gen_value *selector,
		      const struct gen_value *offset, uint32_t bytes,
		      struct gen_value *result);

/* item.c: an item at gen->place, which moves */
void item_generate(struct gen *gen, const struct plan_item *item);
/* A statement's address or value, the value of its LEN */
void item_value_generate(struct gen *gen, const struct tdf_stmt *stmt,
			 struct gen_value *result);
void item_length_generate(struct gen *gen, const struct tdf_stmt *stmt,
			  struct gen_value *result);

/* paging.c: user memory that isn't resident. A temp with the WALK_* bits of
 * gen->item, and above them others' */
int paging_bits_reg(struct gen *gen);
/* gen->bits |= the WALK_* in reg, which it changes */
void paging_bits_add(struct gen *gen, int reg);
/* Bring in as many bytes at `address` as the register says, or a string of at most
 * so many with its zero. Adds its WALK_* to gen->bits. */
void paging_bring_in(struct gen *gen, const struct gen_value *address,
		     int bytes, bool string);
/* After the header of a record that is taken again: its flag and `paged_in`,
 * when something was brought in */
void paging_note(struct gen *gen);

/* again.c: where the first faults go: gen->absent, gen->absent_if,
 * gen->absent_aggregate, gen->elsewhere; and the subprograms that are called there,
 * after all else */
void again_generate(struct gen *gen);
void again_functions_generate(struct gen *gen);

/* vma.c: the subprograms that bring in, after all other code */
void vma_generate(struct gen *gen);

/* start.c: the labels and temps of a function; CONTEXT, what is touched of the frame,
 * preemption if alone; state and trigger; the cookie; the bias */
void gen_begin(struct gen *gen, const struct plan *plan, struct code *c,
	       struct gen_shared *shared, enum version version);
void start_generate(struct gen *gen);
void start_state_generate(struct gen *gen);
void start_cookie_generate(struct gen *gen);
void start_bias_generate(struct gen *gen);
/* preemption, where the kernel offers it */
void start_preempt(struct gen *gen, bool enable);
/* The end: gen->leave, gen->out */
void start_exits_generate(struct gen *gen, int result);

/* record.c */

/* Preemption off, SLICE = the CPU's main slice, PLACE = its row of `count`; none:
 * to gen->leave */
void record_enter(struct gen *gen);
/* From record_enter() and all conditions to the end: takes a slice, writes and
 * publishes the record. VERSION_AGAIN doesn't count MAXHITS again. */
void record_generate(struct gen *gen);
/* SLICE's lock is released. */
void record_unlock(struct gen *gen);

/* filter.c: not of the processes asked for; PASSCOUNT, MAXHITS as far as it is
 * reached, the ceiling of records per second; the IF. All to gen->filtered. */
void filter_processes(struct gen *gen);
void filter_limits(struct gen *gen);
void filter_condition(struct gen *gen);
/* All ways to gen->filtered and gen->unknown: rare paths */
void filter_ways_generate(struct gen *gen);

/* trigger.c: all has stopped: to gen->filtered; before the record is published;
 * after it, under the slice's lock */
void trigger_test(struct gen *gen);
void trigger_claim(struct gen *gen);
void trigger_count(struct gen *gen);

/*
 * aggregate.c: after all else that a hit does, at gen->leave, and to
 * gen->aggregated; without another try at what faults; and their part of bringing
 * in what is absent
 */
void aggregates_generate(struct gen *gen);
void aggregates_final(struct gen *gen);
void aggregates_walk(struct gen *gen);

/* context.c: what is between header and data, at gen->place, which moves */
void context_generate(struct gen *gen);

/* process.c: who hits, into `processes`, when it isn't who hit last; r8 is the
 * locked slice. The subprogram that puts it there, after all else */
void process_generate(struct gen *gen);
/* The same without a record: who hits now, also if it is kept already */
void process_current_keep(struct gen *gen);
void process_keep_generate(struct gen *gen);

/* returned.c: a temp = where the function is whose return probe is hit, or what
 * no address is; the layout has what that needs. */
int returned_generate(struct gen *gen);

/* stack.c: an item RAS_ITEM_STACK at gen->place, which moves; cfa may be
 * NULL; left: a temp with the bytes that there are for addresses, or -1. */
void stack_generate(struct gen *gen, const struct tdf_stmt *cfa,
		    uint32_t depth, int left);
/* stack_id.c: the item RAS_ITEM_STACK at gen->place, of at most `depth` addresses,
 * becomes a RAS_ITEM_STACK_ID if its stack has a number or can get one */
void stack_id_generate(struct gen *gen, uint32_t depth);
/* unwind.c: addresses at gen->place + call->off from the state on, which this
 * goes on from; after all, the subprograms that do it. */
void unwind_generate(struct gen *gen, const struct unwind_call *call);
/* process = address of the running process's struct unwind_process; 0: none is
 * known, and it is asked for. */
void unwind_process_find(struct gen *gen, int process);
/* RAS_CONTEXT_OTEL (otel.c) */
void otel_generate(struct gen *gen);
void unwind_steps_generate(struct gen *gen);

/* entry.c: reg = a value as the call began, by an operation entry_value */
void entry_value_load(struct gen *gen, const struct rpn_op *op, int reg);

/*
 * call.c: what a record takes from gen->call: its minor; after a stack item at
 * gen->place, whose addresses follow the prefix; reg = the size of a call that
 * was named, if it was.
 */
void call_name_generate(struct gen *gen);
void call_frames_drop(struct gen *gen, int addresses, uint32_t depth);
void call_size_load(struct gen *gen, int reg);
#define CALL_SIZE_OWN	(-1)	/* the name came without a size */
/* The statement with these flags (TDF_STMT_BLOCK, _SIZE or _OLD); reg = the value
 * of one, before a record is begun; it can't be read: to `fault` */
const struct tdf_stmt *call_stmt_find(const struct gen *gen,
				      const struct tdf_site *site, int flags);
void call_stmt_load(struct gen *gen, const struct tdf_stmt *stmt,
		    code_label fault, int reg);
/* gen->block and gen->size of a CALL, what it hasn't is 0; they can't be read: to
 * gen->unknown. reg = the old block, false: there is no statement for it. */
void call_block_load(struct gen *gen);
/* gen->size = that, of the return's statements; at the beginning, too */
void call_bytes_load(struct gen *gen, const struct tdf_site *site);
bool call_old_load(struct gen *gen, const struct tdf_site *site, int reg);

/*
 * choose_block.c: is the block one to record? Else to RAS_FILTERED_CONDITION.
 * PLACE is the row of `count`. What goes before it, where a CALL begins
 * (gen->call) that returns at the site, and what undoes that, where its record is
 * filtered. And reg = the value of a statement, false: it's its own.
 */
void choose_block_generate(struct gen *gen);
void choose_block_begin(struct gen *gen, const struct tdf_site *site);
void choose_block_decide(struct gen *gen, const struct tdf_site *site);
void choose_block_undo(struct gen *gen);
bool choose_block_value(struct gen *gen, const struct tdf_stmt *stmt, int reg);

/* call_site.c: points that are CALL or RELEASE. Where a call begins, the whole
 * program; at the others, before preemption is off: gen->call, or to
 * RAS_FILTERED_NESTED. */
void call_begin_generate(struct gen *gen);
void call_join_generate(struct gen *gen);

/*
 * whole.c: calls that are one record. Where they begin: the record, whose end is
 * PLACE, is kept, or there is no room: to `full`. At an exit: gen->open, or the program is done,
 * before preemption is off; the same in another function; between context and
 * data, what the entry left, or all there is, which goes on at `finish`; after
 * the record. _forget: what an entry left is removed; nothing: to `missing`.
 */
void whole_keep_generate(struct gen *gen, code_label full);
/* r0 = the time, at the entry, of a call that has its CPU time */
void whole_enter_time(struct gen *gen);
#define WHOLE_CPUTIME	RECORD_AT(tid)	/* of gen->open, 8 bytes; -1: not known */
void whole_join_generate(struct gen *gen);
void whole_find(struct gen *gen, code_label missing);
/* Of an entry that may have a slot: gen->slot, RECORD is there; it has none: to
 * `taken`. It is kept there. */
void whole_slot_take(struct gen *gen, code_label taken);
void whole_slot_keep(struct gen *gen);
void whole_copy_generate(struct gen *gen, code_label finish);
void whole_close_generate(struct gen *gen);
void whole_forget(struct gen *gen, code_label missing);
void whole_none_generate(struct gen *gen);

/* static.c: the arguments of rastrace_write(): is the major on? gen->cookie; the
 * data; what brings it in */
void static_begin_generate(struct gen *gen);
void static_data_generate(struct gen *gen);
void static_walk_generate(struct gen *gen);

/* walk.c: all items, or the IF alone, bringing in what they read (VERSION_WALK) */
void walk_generate(struct gen *gen);
void walk_condition(struct gen *gen);

#endif
