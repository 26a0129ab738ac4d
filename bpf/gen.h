/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between the parts of the generator: the body (body.c, static.c), who is
 * recorded (filter.c, why.c), the record (record.c, trigger.c), what is
 * before its data (context.c, process.c), calls and blocks (call.c,
 * choose_block.c), the items (item.c, stub.c), what is read at once (reads.c),
 * what is kept (kept.c), the expressions in them (rpn.c, tree.c) and the
 * processor's registers (arch.c, arch_x86.c, arch_a64.c).
 */
#ifndef BPF_GEN_H
#define BPF_GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rastrace/buffer.h>
#include "body.h"
#include "emit.h"
#include "lib/formats/rpn.h"

#define R0	BPF_REG_0
#define R1	BPF_REG_1
#define R2	BPF_REG_2
#define R3	BPF_REG_3
#define R4	BPF_REG_4
#define R5	BPF_REG_5
#define R6	BPF_REG_6
#define R7	BPF_REG_7
#define R8	BPF_REG_8
#define R9	BPF_REG_9
#define FP	BPF_REG_10

#define FAULT_BYTES	8	/* of the failing pointer */
#define VALUE_BYTES	8	/* that a computed value is stored with */
#define RECORD(field)	((int)offsetof(struct ras_record, field))
#define ITEM(field)	((int)offsetof(struct ras_item, field))

/* What a selector was read from: an empty one means something else in each. */
enum arch_segment {
	SEGMENT_NONE,		/* memory, or no selector at all */
	SEGMENT_FLAT,		/* CS, SS, DS, ES */
	SEGMENT_FS, SEGMENT_GS,
};

/*
 * A 64-bit value that is not computed yet: what lies in `kind` plus `add`.
 */
enum gen_value_kind {
	VALUE_CONST,		/* nothing */
	VALUE_MEMORY,		/* `bytes` at base + off, zero-extended */
	VALUE_TEMP,		/* register `base`, r1 to r5 */
};

struct gen_value {
	enum gen_value_kind kind;
	int base, off, bytes;
	uint64_t add;
	enum arch_segment segment;	/* the register it is the value of */
};

/* Where in the record an item goes. */
struct gen_place {
	int base, off;		/* register and offset */
	bool spilled;		/* the register's value is in FRAME_ITEM */
};

/*
 * Code that leaves the straight line for the rare case, and is written after
 * it: `enter` is jumped to, it comes back at `back`.
 */
enum stub_kind {
	STUB_FAULT,		/* `value` can't be used: on to `fault` */
	STUB_ITEM_FAULT,	/* `fault` where the record goes on after it */
	STUB_EMPTY_OR_FAULT,	/* string read returned <= 0 */
	STUB_STRING_CUT,	/* longer than `limit` */
	STUB_LENGTH_CUT,	/* LEN above `limit` */
	STUB_BUDGET_CUT,	/* longer than what MAXDATALENGTH leaves */
	STUB_BUDGET_NONE,	/* MAXDATALENGTH leaves nothing */
	STUB_SELECTOR,		/* `value` (selector << 32 | offset) is none */
	STUB_ARITHMETIC,	/* division by zero */
};

struct stub {
	enum stub_kind kind;
	emit_label enter, back;
	emit_label fault;	/* gen->fault then */
	struct gen_place place;
	struct gen_value value;
	uint32_t limit;
	uint8_t status;		/* kind of the item */
	uint8_t stale;		/* gen->stale then */
	bool walking;		/* gen->walking then */
	uint32_t item;
	bool budget;		/* FRAME_LIMIT holds the limit */
	int stmt;
};

/* each entry's home, each entry's other place, what a deref reads */
#define RPN_SLOTS	(2 * TDF_RPN_STACK + 2)
#define GEN_SLOTS	(RPN_SLOTS + 4)	/* and what segment.c has */

/* Of reads that are one (reads.c) */
#define READS_MAX	64
#define READS_EVENTS	128
#define READS_BYTES	((size_t)-1)

struct read {		/* of `bytes` bytes at an offset from something */
	int base;
	int64_t add;
	uint32_t bytes;
	int span;		/* that it is part of; -1: it's by itself */
	int events;
};

struct read_event {		/* where a read is wanted */
	int stmt;
	size_t at;		/* the operation; READS_BYTES: those of a MEM */
	int read;
};

struct read_span {		/* what is read at once */
	int64_t from, to;	/* offsets, as of its reads */
	int64_t first, last;	/* when it is read and no longer needed */
	int word;		/* of the frame's that spans have */
	bool dropped;		/* there was no room */
	bool done;		/* the code that reads it has been generated */
};

struct reads {
	struct read reads[READS_MAX];
	struct read_event events[READS_EVENTS];
	struct read_span spans[READS_MAX];
	int count, event_count, span_count;
	int room;		/* words */
	bool cramped;		/* with more of them there were fewer reads */
	int slots;		/* gen->slots, where there are no spans */
	int calls;		/* that read memory in a first version */
};

/* Of a stack by tables (unwind.c). */
struct unwind_call {
	int pointers;		/* UNWIND_POINTERS words of the frame */
	int word;		/* bytes of a pointer */
	int off;		/* from gen->place to the first address */
	uint32_t depth, taken;	/* addresses at most, and so far */
	emit_label step;	/* set by unwind_generate() */
};

/*
 * Its state: the frame whose caller is looked for next, and the result. It is
 * the last that the record has room for and no record ever takes: the verifier
 * doesn't follow what is there, and is done with the loop after one round.
 */
#define UNWIND_STATE	(RAS_RECORD_MAX - 64)
#define UNWIND_IP_AT	0	/* u64 each */
#define UNWIND_SP_AT	8
#define UNWIND_FP_AT	16
#define UNWIND_LESS	24	/* 1: the instruction pointer is an address to
				 * return to */
#define UNWIND_COUNT	32	/* result: addresses */
#define UNWIND_ENDED	40	/* result: RAS_STACK_* */
#define UNWIND_SPACE	48	/* struct unwind_space */
#define UNWIND_LINK_AT	56	/* u64: link register */
#define UNWIND_POINTERS	2	/* to the state and to the first address */

struct gen {
	struct emit e;
	const struct tdf *tdf;
	const struct tdf_point *point;
	const struct tdf_site *site;
	const struct body_target *target;
	struct error *err;
	uint16_t machine;	/* ELF e_machine */
	const struct processor *cpu;	/* of that */
	bool flat32;		/* addresses are 32 bits wide */

	struct stub *stubs;
	size_t stub_count, stub_room;
	struct body_note *notes;
	size_t note_count, note_room;
	int stmt;		/* being generated, as in struct body_note */

	struct gen_place place;	/* next item */
	uint32_t budget;	/* MAXDATALENGTH less what is in every record */
	uint32_t used;		/* of the budget, at most */
	uint32_t fixed;		/* of what is in every record, so far */
	uint32_t spread;	/* 2^n - 1: bounds the sum of the items' lengths */
	bool faults;		/* something in it may fault */
	bool go_on;		/* after an item that faults */
	size_t item_stubs;	/* stubs before the item */
	emit_label fault;	/* of what is generated: r1 = failing pointer, r2 =
				 * status, r9 = its place */
	emit_label fault_ends, raw_fault;	/* that end the record */
	uint8_t stale;		/* RAS_ITEM_STALE when the item may be it */
	bool relocated;		/* expressions use FRAME_BIAS */
	bool process;		/* who hits is kept, and where */
	bool known;		/* the cookie is in the code, not in the frame */
	bool lean;		/* all of the frame is FRAME_LEAN at most */
	bool wide;		/* expressions took more, or more than the
				 * subprogram may that takes the record again */
	bool is_static;		/* static.c: the point is the major */
	uint32_t context_most;	/* bytes of the context, at most */
	bool data_moves;	/* its length varies: the data begins at FRAME_DATA
				 * + data_off, else at r7 + data_off */
	int data_off;
	emit_label filtered[RAS_FILTERED_KINDS];	/* filter.c */
	size_t stubs_done;	/* of the stubs */
	int own;		/* 0, or the offset of a word: may an address
				 * be of the current process? (item.c) */
	int kept;		/* the first word of what is kept (tdf.h) */
	unsigned int kept_count;
	bool fresh;		/* segment registers are as of now */
	bool bring_in;		/* absent memory is brought in (walk.c) */
	bool walking;		/* expressions bring in what they read; a fault
				 * only goes to `fault` */
	bool walked;		/* the record is taken again */
	uint32_t item;		/* being generated, counted from 1; 0: the IF */
	uint32_t items;		/* of the record, when it has been generated */
	emit_label absent, absent_if;	/* first faults, unless walked */
	emit_label elsewhere;	/* preemption is off: it is taken again */
	emit_label passed;	/* after the IF */
	emit_label unknown;	/* the IF can't be evaluated */
	bool early;		/* the IF comes before preemption is off; then
				 * these are where it isn't fulfilled, and where
				 * it can't be evaluated */
	emit_label refused, undecided;
	emit_label leave;	/* preemption is off: end of the program */
	emit_label out;		/* after it */
	emit_label bring, touch, callback;	/* vma.c */
	emit_label keep, again;	/* process.c, walk.c */
	emit_label tree[2];	/* tree.c: and while walking */
	uint32_t subprograms[BODY_SUBPROGRAMS];
	struct unwind_call unwinds[BODY_UNWINDS];
	uint32_t unwind_count;
	struct reads reads;
	int slots;		/* offset of the first FRAME_SLOT */
	int deepest;		/* offset of the frame that is used */
	size_t deepest_insn;	/* stores to it */
};

/*
 * Frame of the program, offsets from r10.
 *
 * Kernels from 6.13 on give a program whose frame is larger than FRAME_LEAN a
 * frame elsewhere: calls have to save its address, reads into it take the long
 * way through the kernel's checks of where is read to, and programs that may be
 * preempted share it with who comes next on that CPU. So what bodies usually
 * need fits in there: gen->lean is one that needs nothing below FRAME_BIAS but
 * slots, and when its cookie is known nothing below FRAME_ROW.
 */
#define FRAME_LEAN	48
#define FRAME_AGAIN	288	/* on top of it, of the 512 for all that is called */
#define FRAME_MOST	416	/* without a lean one; expressions take no more */
#define FRAME_CPU	(-4)	/* key of the lookup in buffer */
#define FRAME_ROW	(-8)	/* key of the lookup in count */
#define FRAME_COOKIE	(-16)	/* u64; struct ras_record has its parts */
#define FRAME_POINT	(-14)
#define FRAME_SITE	(-12)
#define FRAME_NEST	(-20)	/* key of the lookup in nest */
#define FRAME_MUTED	(-24)	/* u32: this hit is the first above the rate */
#define FRAME_BIAS	(-32)	/* what DW_OP_addr adds */
#define FRAME_COUNT	(-40)	/* address of the row, unless lean */
#define FRAME_ITEM	(-48)	/* r9 before an item's length was added */
#define FRAME_LENGTH	(-56)	/* of an item */
#define FRAME_LIMIT	(-64)	/* what an item may take of the budget */
#define FRAME_LIMITS	(-72)	/* address of the tracepoint's struct ras_limit */
#define FRAME_DATA	(-80)	/* with data_moves */
#define FRAME_WALK(n)	(-88 - 8 * (n))	/* what bringing in came to, four bits
					 * (WALK_*) for each of 16 items */
#define FRAME_WALKS	4		/* of these */
#define FRAME_CALL	(-120)	/* address of the thread's struct ras_call */
#define FRAME_CALLER	(-128)	/* what is at the stack pointer */
#define FRAME_BLOCK	(-136)	/* address that a RELEASE has; where blocks are
				 * chosen, these three of a CALL */
#define FRAME_SIZE	(-144)
#define FRAME_OLD	(-152)
#define FRAME_LEVEL	(-160)	/* of the point */
/* after the words of a CALL or RELEASE, where it is one */
#define FRAME_SLOT(gen, n)	((gen)->slots - 8 * SLOT_PLACE(gen, n))
#define FRAME_SLOTS		(-120)	/* gen->slots */
#define FRAME_SLOTS_CALL	(-168)
#define FRAME_SLOTS_LEAN	(-40)
#define FRAME_SLOTS_KNOWN	(-16)
/* In a lean frame those that most expressions do with are the first. */
#define SLOT_PLACE(gen, n) \
	((gen)->lean && (n) < RPN_SLOTS ? \
	 ((n) + RPN_SLOTS - TDF_RPN_STACK) % RPN_SLOTS : (n))
#define FRAME_FAR(gen)	FRAME_SLOT(gen, RPN_SLOTS)	/* a far pointer:
						 * selector << 32 | offset */
#define FRAME_LINEAR(gen) FRAME_SLOT(gen, RPN_SLOTS + 1) /* what it means */
#define FRAME_ROOM(gen)	FRAME_SLOT(gen, RPN_SLOTS + 2)	/* bytes from there on */
#define FRAME_DESC(gen)	FRAME_SLOT(gen, RPN_SLOTS + 3)	/* what was read for it */
#define FRAME_TIME	FRAME_LENGTH	/* of the hit, until the first item */
/* of an item that faults: there is no expression any more */
#define FRAME_STATUS(gen)	((gen)->lean ? (gen)->slots : FRAME_LENGTH)

/* body.c: keep the first error and its text; the emitter then does nothing. */
void gen_fail(struct gen *gen, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* How much pt_regs' instruction pointer is above the probed address. */
int gen_ip_excess(const struct gen *gen);
/* From here on instructions are those of a statement, or of STMT_*. */
void gen_note(struct gen *gen, int stmt);

/* The labels; and after all, the body, or the first error */
void gen_begin(struct gen *gen);
int gen_finish(struct gen *gen, struct body *body);
/* The lowest offset of `words` scratch words, free between expressions. */
int gen_frame_take(struct gen *gen, int words);
/* r0 = `bytes` that the kernel has at r0 + member, by way of FP + off */
void gen_member_load(struct gen *gen, int off, int bytes, uint32_t member,
		     emit_label failed);
/* returned.c: r0 = where the function is whose return probe is hit, or what no
 * address is; the layout has what that needs. */
bool returned_known(const struct body_layout *layout);
void returned_load(struct gen *gen);
/* FRAME_COOKIE, unless it is known, and FRAME_CPU are set. */
void gen_cookie_load(struct gen *gen);
void gen_cpu_load(struct gen *gen);
/* reg = the cookie; the point in it */
void gen_cookie_get(struct gen *gen, int reg);
void gen_point_get(struct gen *gen, int reg);
/* What DW_OP_addr adds: known from the registers, or in FRAME_BIAS. */
struct gen_value gen_bias(const struct gen *gen);
/* The thread's name at base + off, GEN_COMM_BYTES, padded with zeros */
void gen_comm_store(struct gen *gen, int base, int off);
#define GEN_COMM_BYTES	16

/* r6 and the frame; then state and trigger, before anything else is done */
void body_begin_generate(struct gen *gen);
void gen_frame_begin(struct gen *gen);
void gen_frame_end(struct gen *gen);
void body_bias_generate(struct gen *gen);
void body_state_generate(struct gen *gen);
/* The items of the site's statements, at gen->place; static.c: the data */
void body_data_generate(struct gen *gen);
void static_data_generate(struct gen *gen);
/* Bring the data in: walk.c. */
void static_walk_generate(struct gen *gen);

#define STMT_PROLOGUE	(-1)
#define STMT_EPILOGUE	(-2)

/* scan.c: sizes, and whether it faults and moves; what can't be done fails. */
void scan_site(struct gen *gen);
/* Has every item the room that it may need? Else they are cut by what the items
 * before have left, and may not be looked at. */
bool scan_budget_suffices(const struct gen *gen);
/* The bytes that are read of a string at most, its zero and one more counted;
 * of all of the site's strings, 0 without any */
uint32_t scan_string_bytes(const struct gen *gen, const struct tdf_stmt *stmt);
uint32_t scan_strings_bytes(const struct gen *gen);

/*
 * reads.c: which reads of the record are one, in so many words of the frame at
 * most. Those that are needed at a statement are before its slots.
 */
void reads_plan(struct gen *gen, int room);
void reads_slots(struct gen *gen, int stmt);
/* What gen->stmt reads at an operation, or READS_BYTES: where in the frame it is,
 * aligned by its size there; 0: it is read by itself. If it isn't there yet, it
 * is read, with others; the value of its address is used then. */
int reads_take(struct gen *gen, size_t at, const struct gen_value *address);
bool reads_done(const struct gen *gen, size_t at);

/* kept.c: what statements keep for later ones. Words of the frame, if any are
 * needed; they have a value before the statements. */
void kept_scan(struct gen *gen);
void kept_begin(struct gen *gen);
/* A statement's own, 0 until it is stored from r1; none: nothing */
void kept_clear(struct gen *gen, const struct tdf_stmt *stmt);
void kept_store(struct gen *gen, const struct tdf_stmt *stmt,
		struct gen_value *value);
struct gen_value kept_value(const struct gen *gen, unsigned int number);

/* tree.c: the node whose address is in a word of the frame becomes the next
 * one. And the subprograms that find it, after all else. */
void tree_next_generate(struct gen *gen, const struct rpn_tree *tree, int slot);
void trees_generate(struct gen *gen);

/* item.c: the item of the statement `index` and of those that are MORE of it,
 * at gen->place; the index of the next item's statement */
uint32_t item_generate(struct gen *gen, uint32_t index);
/* Has it an expression, whose bits are those of gen->item? */
bool item_is_read(const struct gen *gen, uint32_t index);
/* A statement's address or value, the value of its LEN */
void item_value_generate(struct gen *gen, const struct tdf_stmt *stmt,
			 struct gen_value *result);
void item_length_generate(struct gen *gen, const struct tdf_stmt *stmt,
			  struct gen_value *result);
/* After `index`, the first statement that isn't MORE of it; *bytes: the sum */
uint32_t item_end(const struct gen *gen, uint32_t index, uint32_t *bytes);
/* reg = the place and `more` bytes after it */
void item_place_load(struct gen *gen, const struct gen_place *place, int more,
		     int reg);
void item_status_store(struct gen *gen, const struct gen_place *place, int status);
/* The same with RAS_ITEM_PAGED_IN, where the record is taken again and what
 * gen->item or a stub's item needs was brought in. Uses r4 and r5. */
void item_state_store(struct gen *gen, const struct gen_place *place, int status,
		      uint32_t item);
/* Sets gen->own's word, if there is one. */
void item_own_generate(struct gen *gen);
/* Read `size` bytes (0: r2 bytes) at `address` to where r1 points. */
void item_read(struct gen *gen, uint32_t size, const struct gen_value *address);
/* The call alone: r2 bytes to where r1 points, or a string of at most that.
 * Uses r3 and r4. */
void item_read_call(struct gen *gen, bool string, const struct gen_value *address);

/*
 * why.c: one more of what is at `off` (WHY_*) in the row of `why` of the
 * point on the running CPU. Needs FRAME_POINT and FRAME_CPU; uses FRAME_ROW and
 * r0 to r5.
 */
void why_count(struct gen *gen, int off);
/* r0 = that row; none: to `missing` */
void why_row_load(struct gen *gen, emit_label missing);

#define WHY_FILTERED(kind)	((int)offsetof(struct ras_why, filtered) + \
				 8 * (kind))
#define WHY_FAULT(kind)		((int)offsetof(struct ras_why, faults) + \
				 8 * (kind))
#define WHY_PAGED_IN		((int)offsetof(struct ras_why, paged_in))

/*
 * trigger.c: all has stopped: to gen->filtered; before the record at r7 is
 * published, r9 is kept; after it, under the slice's lock.
 */
void trigger_test(struct gen *gen);
void trigger_claim(struct gen *gen);
void trigger_count(struct gen *gen);

/*
 * The other parts of a body; each is called by body.c at its place:
 *
 * filter.c: not of the processes asked for, before preemption is off; later the
 * ceiling of records per second, by the row in FRAME_LIMITS: to gen->filtered,
 * but the first above it goes on with FRAME_MUTED set.
 */
void filter_processes(struct gen *gen);
void filter_rate(struct gen *gen);
/* All ways to gen->filtered. Of kinds before RAS_FILTERED_CONDITION preemption
 * isn't off, and FRAME_CPU isn't set. */
void filter_ways_generate(struct gen *gen);
/* context.c: what is between header and data, at gen->place, which moves; and
 * what others need to know of it before. */
void context_generate(struct gen *gen);
void context_scan(struct gen *gen);
/* process.c: who hits, into `processes`, when it isn't who hit last; r0 is
 * bpf_get_current_pid_tgid, r8 the locked slice. Keeps r6 to r9. */
void process_generate(struct gen *gen);
/* The subprogram that puts it there, after all else. */
void process_keep_generate(struct gen *gen);
/* stack.c: an item RAS_ITEM_STACK at gen->place, which moves; cfa may be
 * NULL. */
void stack_generate(struct gen *gen, const struct tdf_stmt *cfa,
		    uint32_t depth);
#define STACK_FRAME_BYTES	8
#define STACK_DISTANCE	(1 << 20)	/* from a frame to the next along frame
					 * pointers, at most */
#define STACK_ITEM_BYTES(depth)	(RAS_ITEM_PREFIX + sizeof(struct ras_stack) + \
				 STACK_FRAME_BYTES * (depth))
/*
 * unwind.c: addresses at gen->place + call->off from the state on, which this
 * goes on from; after all, the subprograms that do it.
 */
bool unwind_possible(const struct gen *gen);
void unwind_generate(struct gen *gen, const struct unwind_call *call);
void unwind_steps_generate(struct gen *gen);
/*
 * call.c: points that are CALL or RELEASE. Where a call begins, the whole program;
 * at the others, before preemption is off: FRAME_CALL, or to RAS_FILTERED_NESTED;
 * the minor of the record at r7, keeps r0; reg = a value as the call began, by an
 * operation entry_value; r1 = the size of a call that was named, if it was.
 */
void call_begin_generate(struct gen *gen);
void call_join_generate(struct gen *gen);
void call_name_generate(struct gen *gen);
void call_value_load(struct gen *gen, const struct rpn_op *op, int reg);
void call_size_load(struct gen *gen);
/* After a stack item at gen->place, whose addresses follow the prefix. */
void call_frames_drop(struct gen *gen, int addresses, uint32_t depth);
/* FRAME_BLOCK and FRAME_SIZE of a CALL, what it hasn't is 0; they can't be read:
 * to gen->unknown. r1 = the old block, false: there is no statement for it. */
void call_block_load(struct gen *gen);
bool call_old_load(struct gen *gen);
/*
 * choose_block.c: is the block one to record? Else to RAS_FILTERED_CONDITION. r9
 * is the row of `count`. What goes before it, where a CALL begins (r7 is its
 * struct ras_call), and what undoes that, where its record is filtered. And r1 =
 * the value of a statement, false: it's its own.
 */
void choose_block_generate(struct gen *gen);
void choose_block_begin(struct gen *gen);
void choose_block_undo(struct gen *gen);
bool choose_block_value(struct gen *gen, const struct tdf_stmt *stmt);
/* segment.c: the linear address of selector:offset, where the segment has
 * `bytes` bytes at least; else to a STUB_SELECTOR. The result is in the frame
 * until the next call; FRAME_ROOM: the bytes from there to the segment's end. */
void segment_generate(struct gen *gen, const struct gen_value *selector,
		      const struct gen_value *offset, uint32_t bytes,
		      struct gen_value *result);
/*
 * walk.c: user memory that isn't resident. Where gen->bring_in, the first fault
 * of a record goes to gen->absent (r8 is the locked slice, FRAME_COUNT its row):
 * the record becomes one that hadn't begun, the slice is unlocked, all statements
 * are evaluated once more, bringing in what they read (each page only after its
 * mapping was looked at: vma.c), and record_generate() makes a second version
 * with gen->walked: faults are final there, items that were brought in say so. A
 * fault of the IF goes to gen->absent_if (no slice yet), which evaluates it a
 * second time and comes back at gen->passed. Called by body.c at its end; does
 * nothing unless gen->bring_in.
 */
void walk_generate(struct gen *gen);
/* The second version, where it is a subprogram with a frame of its own: the
 * body is lean. After all else. */
void walk_again_generate(struct gen *gen);
/* After the header of a record that is taken again: its flag and `paged_in`,
 * when something was brought in. Uses r0 to r5. */
void walk_note(struct gen *gen);
/* reg = the WALK_* bits of the item; uses no other */
void walk_bits_load(struct gen *gen, uint32_t item, int reg);
/* While gen->walking: bring in what r1 points to, r2 bytes of it, or (r3 != 0) a
 * string of at most so many with its zero. Adds WALK_* to r9; uses r0 to r5. */
void walk_bring_in(struct gen *gen);

#define WALK_PAGED_IN	0x01
#define WALK_LEFT	0x02	/* waits for somebody else */
#define WALK_UNREADABLE	0x04

/* vma.c: the subprograms that walk.c calls, after all other code. */
void vma_generate(struct gen *gen);

/*
 * record.c (the IF: body.c), what walk.c calls again:
 * preemption off, FRAME_CPU, r8 = the CPU's main slice, r9 = its row of `count`;
 * none: to gen->leave
 */
void record_enter(struct gen *gen);
/* the IF: with gen->walked a fault counts and filters, else it goes to
 * gen->absent_if where gen->bring_in. Unless gen->early r9 is the row, kept. */
void record_condition(struct gen *gen);
/* From record_enter() and all conditions to the program's end: takes a slice,
 * writes and publishes the record, with the stubs and rare ways of this
 * version. With gen->walked it doesn't count MAXHITS again. */
void record_generate(struct gen *gen);
/* preemption, where the kernel offers it */
void record_preempt(struct gen *gen, bool enable);
/* r8's lock is released */
void record_unlock(struct gen *gen);
/* The record at r7 has RAS_RECORD_*; uses r1. */
void record_flag_set(struct gen *gen, int flag);

/* stub.c: a new one, of the item that is being generated; NULL after errors */
struct stub *stub_new(struct gen *gen, enum stub_kind kind);
/* A fault that stores `value`, where memory couldn't be read, when dst `op` imm
 * holds. */
void stub_fault_if(struct gen *gen, int op, int dst, int32_t imm,
		   const struct gen_value *value);
void stub_generate(struct gen *gen, const struct stub *stub);
/* Where faults end the record; goes on at `finish` with r9 = its end. */
void stub_ends_generate(struct gen *gen, emit_label finish);

/* rpn.c: a checked expression. The result is never VALUE_TEMP. Uses r0 to r5
 * and the slots. */
void rpn_generate(struct gen *gen, const uint8_t *rpn, size_t size,
		  struct gen_value *result);
/* The same of a far address, which becomes the linear one of `bytes` bytes, as
 * of segment_generate(). */
void rpn_far_generate(struct gen *gen, const uint8_t *rpn, size_t size,
		      uint32_t bytes, struct gen_value *result);
/* reg = value, of the traced program's width for addresses. reg is r1 to r5;
 * r0 is overwritten when add is wide. */
void rpn_value_load(struct gen *gen, const struct gen_value *value, int reg);
void rpn_address_load(struct gen *gen, const struct gen_value *value, int reg);
/* What an expression uses: RPN_USES_* */
unsigned int rpn_uses(uint16_t machine, const uint8_t *rpn, size_t size);

#define RPN_USES_ADDR	0x01	/* DW_OP_addr */
#define RPN_USES_XDEREF	0x02	/* segments: needs target->layout */
#define RPN_USES_BASE	0x04	/* what is kept of a thread (arch_thread_find):
				 * needs target->layout */
#define RPN_USES_STALE	0x08	/* one of these that the program may have changed
				 * since its thread was switched to */
#define RPN_USES_LATE	0x10	/* one that is 0 until then */
#define RPN_USES_VECTOR	0x20	/* a vector register: target->vector_read */

/*
 * arch.c: what differs between processors; one table for each, in arch_x86.c and
 * arch_a64.c.
 */
enum processor_reg_kind { REG_GPR, REG_IP, REG_FLAGS, REG_SEG, REG_BASE };

struct processor_reg {
	const char *name;
	int bytes;		/* of the widest name */
	int dwarf;		/* -1: not with this processor */
	int offset;		/* in struct pt_regs, -1: not in there */
	enum processor_reg_kind kind;
};

/* A register that the kernel keeps elsewhere, in task_struct. */
struct processor_thread {
	const char *name;
	size_t layout;		/* where struct body_layout has its offset */
	bool stale;		/* see struct arch_thread */
	bool late;
	enum arch_segment segment;	/* that it selects */
};

/* Where a signal's handler has the interrupted registers: offsets in struct
 * sigcontext (asm/sigcontext.h) */
struct processor_context {
	int fp, sp, ip, link;
};

#define PROCESSOR_ARGUMENTS	8

struct processor {
	uint16_t machine;	/* ELF e_machine */
	const struct processor_reg *regs;
	size_t reg_count;
	const struct processor_thread *threads;	/* of all that regs have */
	/* Offsets of 8 bytes in struct pt_regs: instruction, stack and frame
	 * pointer; link: what has the address to return to, where a function
	 * has built no frame; -1: it is on the stack, by a call */
	int ip, stack, frame, link;
	int call_bytes;		/* that a call pushes */
	/* Offsets in struct pt_regs of a C function's arguments */
	int arguments[PROCESSOR_ARGUMENTS];
	unsigned int argument_count;	/* 0: they are on the stack, words of 4
					 * bytes above the address to return to */
	struct processor_context context;
	int kprobe_excess;	/* of ip over the probed address of a kprobe */
	int address_bits;	/* of user space; target->address_bits is better */
	bool is_signed;		/* above these an address may have a signature,
				 * and a tag; bit 55 is the kernel's (Arm ARM,
				 * D8.10) */
	bool strong;		/* a plain store doesn't publish what was written
				 * before */
	bool segments;		/* addresses may have selectors */
	int vector_first;	/* DWARF number of the first vector register */
	int vector_count;	/* that the kernel module reads */
};

extern const struct processor processor_x86_64, processor_i386, processor_a64;

/* NULL: none that is known */
const struct processor *processor_find(uint16_t machine);

struct arch_reg {
	int offset;		/* in struct pt_regs */
	int bytes;		/* of the widest name */
	bool ip;
};

/* The register with this DWARF number; fails without one. */
struct arch_reg arch_reg_find(struct gen *gen, uint64_t dwarf);
/* A register that pt_regs doesn't have, in task_struct. False: none of these. */
struct arch_thread {
	uint32_t offset;	/* 0: not known */
	int bytes;
	bool stale;		/* the program may have changed it since its
				 * thread was switched to */
	bool late;		/* set once, but 0 until its thread was switched
				 * to afterwards */
};

bool arch_thread_find(const struct body_layout *layout, uint16_t machine,
		      uint64_t dwarf, struct arch_thread *thread);
enum arch_segment arch_segment_find(uint16_t machine, uint64_t dwarf);
/* Which of the vector registers has this DWARF number; fails without one. */
int arch_vector_find(struct gen *gen, uint64_t dwarf);
/* Where struct pt_regs has the n-th argument of a C function, of 8 bytes; -1: it
 * is on the stack, n + 1 words of 4 bytes above the stack pointer. */
int arch_argument_offset(uint16_t machine, unsigned int n);
/* reg = the address of user code in it, without a signature; _test: and none of
 * user space goes to `bad`, uses `scratch` */
void arch_address_strip(struct gen *gen, int reg);
void arch_address_test(struct gen *gen, int reg, int scratch, emit_label bad);
/* The same of the kernel's code; uses `scratch` */
void arch_kernel_strip(struct gen *gen, int reg, int scratch);
/* To `kernel` when the address in reg is the kernel's; uses `scratch` */
void arch_kernel_test(struct gen *gen, int reg, int scratch, emit_label kernel);
/* reg = the address of user data in it, without a tag */
void arch_tag_strip(struct gen *gen, int reg);

#endif
