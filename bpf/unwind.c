// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks by the tables of rastrace/unwind.h. bpf_loop() calls a subprogram for
 * each frame, which finds the code's segment and row by bisection, computes the
 * caller's registers and stores its address in the record:
 *
 *	r6	the state (UNWIND_*)
 *	r7	the code's address, then relative to its module, then the row's
 *		kind
 *	r8, r9	what a bisection is between: index, how many; then the row's
 *		offsets, then CFA
 *
 * Return addresses are looked up one byte lower: a call may be the last
 * instruction of its function. Those that an instruction was interrupted at
 * (signals) are as they are.
 */
#include "gen.h"

#include <errno.h>
#include <rastrace/unwind.h>
#include "lib/formats/tdf.h"

#define SEGMENT_STEPS	9	/* 2^9 == UNWIND_SEGMENTS */
#define ROW_STEPS	8	/* rows of a block */

/* the subprogram's frame */
#define FRAME_KEY	(-8)
#define FRAME_FIRST	(-4)	/* row of the module */
#define FRAME_LINK	(-8)	/* of the row that was found */
#define FRAME_PAIR	(-24)	/* two words that were read */
#define FRAME_INDEX	(-32)	/* of the call, from 0 */
#define FRAME_PLACE	(-40)	/* of the first address */

#define SEGMENT(field)	((int)offsetof(struct unwind_segment, field))
#define ROW(field)	((int)offsetof(struct unwind_row, field))

struct bpf_unwind {
	struct gen *gen;
	struct emit *e;
	const struct unwind_call *call;
	int rows_fd;
	emit_label none, outermost, unreadable, stop;
	emit_label by_frame, take, realigned, plt, signal, framed, cfa;
	emit_label taken;	/* the link register's value still holds */
};

/* The address to return to is in a register at first. */
static bool unwind_has_link(const struct bpf_unwind *u)
{
	return u->gen->cpu->link >= 0;
}

bool unwind_possible(const struct gen *gen)
{
	const struct body_heap *heap = gen->target->heap;

	return heap && gen->target->context != BODY_KPROBE &&
	       heap->rows_fd >= 0 && heap->segments_fd >= 0 &&
	       heap->spaces_fd >= 0;
}

/* r8: the last of r9 (at most 2^steps) entries from r8 on whose number isn't
 * above r7; the first is taken for granted. Without jumps: each would
 * double what is verified, and the processor guess wrong half the time. */
static void bisect(struct bpf_unwind *u, int map_fd, int steps, int bytes,
		   int field)
{
	struct emit *e = u->e;

	while (steps--) {
		emit_alu(e, BPF_MOV, R1, R9);
		emit_alu_imm(e, BPF_RSH, R1, 1);
		emit_alu(e, BPF_ADD, R1, R8);
		emit_store(e, 4, FP, FRAME_KEY, R1);
		emit_lookup(e, map_fd, FRAME_KEY, u->none);
		emit_load(e, bytes, R1, R0, field);
		emit_alu(e, BPF_MOV, R2, R7);
		emit_alu(e, BPF_SUB, R2, R1);
		emit_alu_imm(e, BPF_ARSH, R2, 63);
		emit_alu_imm(e, BPF_XOR, R2, -1);
		emit_alu(e, BPF_MOV, R1, R9);
		emit_alu_imm(e, BPF_RSH, R1, 1);
		emit_alu(e, BPF_SUB, R9, R1);
		emit_alu(e, BPF_AND, R2, R1);
		emit_alu(e, BPF_ADD, R8, R2);
	}
	emit_store(e, 4, FP, FRAME_KEY, R8);
	emit_lookup(e, map_fd, FRAME_KEY, u->none);
}

/* r7 = address less the segment's base, FRAME_FIRST, r9 = its module's rows */
static void unwind_segment_find(struct bpf_unwind *u)
{
	struct emit *e = u->e;

	emit_load(e, 4, R8, R6, UNWIND_SPACE);
	emit_load(e, 4, R9, R6, UNWIND_SPACE + 4);
	emit_jump_imm(e, BPF_JEQ, R9, 0, u->by_frame);
	bisect(u, u->gen->target->heap->segments_fd, SEGMENT_STEPS, 8,
	       SEGMENT(start));
	emit_load(e, 8, R1, R0, SEGMENT(start));
	emit_jump_if(e, BPF_JLT, R7, R1, u->by_frame);
	emit_load(e, 8, R1, R0, SEGMENT(end));
	emit_jump_if(e, BPF_JGE, R7, R1, u->by_frame);
	emit_load(e, 4, R9, R0, SEGMENT(rows));
	emit_jump_imm(e, BPF_JEQ, R9, 0, u->by_frame);
	emit_load(e, 8, R1, R0, SEGMENT(base));
	emit_alu(e, BPF_SUB, R7, R1);
	emit_load(e, 4, R1, R0, SEGMENT(first));
	emit_store(e, 4, FP, FRAME_FIRST, R1);
}

/* r8, r9 = first and number of the rows that it may be */
static void unwind_block_find(struct bpf_unwind *u)
{
	struct emit *e = u->e;

	emit_load(e, 4, R1, FP, FRAME_FIRST);
	emit_alu(e, BPF_ADD, R1, R9);
	emit_alu(e, BPF_MOV, R2, R7);
	emit_alu_imm(e, BPF_RSH, R2, UNWIND_BLOCK_SHIFT + 2);
	emit_alu(e, BPF_ADD, R1, R2);
	emit_store(e, 4, FP, FRAME_KEY, R1);
	emit_lookup(e, u->rows_fd, FRAME_KEY, u->none);
	emit_alu(e, BPF_MOV, R1, R7);
	emit_alu_imm(e, BPF_RSH, R1, UNWIND_BLOCK_SHIFT - 2);
	emit_alu_imm(e, BPF_AND, R1, 3 << 2);
	emit_alu(e, BPF_ADD, R0, R1);
	emit_load(e, 4, R9, R0, 0);
	emit_load(e, 4, R8, FP, FRAME_FIRST);
	emit_alu(e, BPF_MOV, R1, R9);
	emit_alu_imm(e, BPF_RSH, R1, 8);
	emit_alu(e, BPF_ADD, R8, R1);
	emit_alu_imm(e, BPF_AND, R9, 0xff);
	emit_alu_imm(e, BPF_ADD, R9, 1);
}

static void signed_load(struct emit *e, int dst, int base, int off)
{
	emit_load(e, 4, dst, base, off);
	emit_alu_imm(e, BPF_LSH, dst, 32);
	emit_alu_imm(e, BPF_ARSH, dst, 32);
}

/* FRAME_PAIR + off = `bytes` bytes at r3 */
static void unwind_user_read(struct bpf_unwind *u, int off, int bytes)
{
	struct emit *e = u->e;

	emit_alu(e, BPF_MOV, R1, FP);
	emit_alu_imm(e, BPF_ADD, R1, FRAME_PAIR + off);
	emit_alu_imm(e, BPF_MOV, R2, bytes);
	emit_call(e, BPF_FUNC_probe_read_user);
	emit_jump_imm(e, BPF_JNE, R0, 0, u->unreadable);
}

/* FRAME_LINK = 8 * the row's link, instead of what it was found by */
static void unwind_link_keep(struct bpf_unwind *u)
{
	struct emit *e = u->e;

	emit_load(e, 2, R1, R0, ROW(link));
	emit_alu_imm(e, BPF_LSH, R1, 48);
	emit_alu_imm(e, BPF_ARSH, R1, 45);
	emit_store(e, 8, FP, FRAME_LINK, R1);
}

/* The row is at r0. */
static void row_apply(struct bpf_unwind *u)
{
	struct emit *e = u->e;

	emit_load(e, 2, R7, R0, ROW(kind));
	signed_load(e, R8, R0, ROW(cfa));
	signed_load(e, R9, R0, ROW(fp));
	if (unwind_has_link(u))
		unwind_link_keep(u);
	emit_jump_imm(e, BPF_JEQ, R7, UNWIND_FRAME, u->by_frame);
	emit_jump_imm(e, BPF_JEQ, R7, UNWIND_FP, u->framed);
	emit_jump_imm(e, BPF_JEQ, R7, UNWIND_END, u->outermost);
	if (!unwind_has_link(u))
		emit_jump_imm(e, BPF_JEQ, R7, UNWIND_REALIGNED, u->realigned);
	emit_load(e, 8, R1, R6, UNWIND_SP_AT);
	emit_alu(e, BPF_ADD, R8, R1);
	emit_jump_imm(e, BPF_JEQ, R7, UNWIND_SP, u->cfa);
	emit_jump_imm(e, BPF_JEQ, R7, UNWIND_SIGNAL, u->signal);
	if (!unwind_has_link(u))
		emit_jump_imm(e, BPF_JEQ, R7, UNWIND_PLT, u->plt);
	emit_jump(e, u->none);
}

static void plt_generate(struct bpf_unwind *u)
{
	int word = u->call->word;
	struct emit *e = u->e;

	emit_label_place(e, u->plt);
	emit_load(e, 8, R8, R6, UNWIND_SP_AT);
	emit_alu_imm(e, BPF_ADD, R8, word);
	emit_load(e, 8, R1, R6, UNWIND_IP_AT);
	emit_alu_imm(e, BPF_AND, R1, 15);
	emit_jump_imm(e, BPF_JLT, R1, 11, u->cfa);
	emit_alu_imm(e, BPF_ADD, R8, word);
	emit_jump(e, u->cfa);
}

static void frame_add(struct bpf_unwind *u, int reg)
{
	emit_load(u->e, 8, R1, R6, UNWIND_FP_AT);
	emit_alu(u->e, BPF_ADD, reg, R1);
}

/* The stack pointer grows with every frame; of a function that has built none it
 * is the caller's where nothing is pushed. */
static void cfa_test(struct bpf_unwind *u)
{
	int wrong = unwind_has_link(u) ? BPF_JLT : BPF_JLE;
	struct emit *e = u->e;

	if (u->call->word == 4)
		emit_zext32(e, R8);
	emit_load(e, 8, R1, R6, UNWIND_SP_AT);
	emit_jump_if(e, wrong, R8, R1, u->none);
	emit_store(e, 8, R6, UNWIND_SP_AT, R8);
}

/* The pair in front of the CFA: the address to return to and, mostly, the
 * caller's frame pointer. */
static void pair_read(struct bpf_unwind *u)
{
	int word = u->call->word;
	struct emit *e = u->e;

	emit_alu(e, BPF_MOV, R3, R8);
	emit_alu_imm(e, BPF_SUB, R3, 2 * word);
	unwind_user_read(u, 0, 2 * word);
	emit_load(e, word, R1, FP, FRAME_PAIR + word);
	emit_store(e, 8, R6, UNWIND_IP_AT, R1);
}

static void realigned_generate(struct bpf_unwind *u)
{
	int word = u->call->word;
	struct emit *e = u->e;

	emit_label_place(e, u->realigned);
	frame_add(u, R8);
	frame_add(u, R9);
	emit_alu(e, BPF_MOV, R3, R8);
	unwind_user_read(u, 0, word);
	emit_load(e, word, R8, FP, FRAME_PAIR);
	cfa_test(u);
	pair_read(u);
	emit_alu(e, BPF_MOV, R3, R9);
	unwind_user_read(u, 0, word);
	emit_load(e, word, R1, FP, FRAME_PAIR);
	emit_store(e, 8, R6, UNWIND_FP_AT, R1);
	emit_jump(e, u->take);
}

static void cfa_generate(struct bpf_unwind *u)
{
	int word = u->call->word;
	struct emit *e = u->e;
	emit_label paired = emit_label_new(e);

	emit_label_place(e, u->framed);
	frame_add(u, R8);
	emit_label_place(e, u->cfa);
	cfa_test(u);
	pair_read(u);
	emit_jump_imm(e, BPF_JEQ, R9, 0, u->take);
	emit_jump_imm(e, BPF_JEQ, R9, -2 * word, paired);
	emit_alu(e, BPF_MOV, R3, R8);
	emit_alu(e, BPF_ADD, R3, R9);
	unwind_user_read(u, 0, word);
	emit_label_place(e, paired);
	emit_load(e, word, R1, FP, FRAME_PAIR);
	emit_store(e, 8, R6, UNWIND_FP_AT, R1);
	emit_jump(e, u->take);
}

/* r9 leads to a frame record: frame pointer and address to return to (aapcs64
 * 6.4.6). */
static void unwind_record_read(struct bpf_unwind *u)
{
	struct emit *e = u->e;

	emit_alu(e, BPF_MOV, R3, R9);
	unwind_user_read(u, 0, 16);
	emit_load(e, 8, R1, FP, FRAME_PAIR);
	emit_store(e, 8, R6, UNWIND_FP_AT, R1);
	emit_load(e, 8, R1, FP, FRAME_PAIR + 8);
	emit_store(e, 8, R6, UNWIND_IP_AT, R1);
	emit_jump(e, u->take);
}

/* The same of rows that say otherwise: each by itself, r7 says whether the frame
 * pointer was saved. The register has the address of the innermost frame, or of
 * one that a signal interrupted. */
static void apart_read(struct bpf_unwind *u)
{
	struct emit *e = u->e;
	emit_label in_register = emit_label_new(e), frame = emit_label_new(e);

	emit_load(e, 8, R3, FP, FRAME_LINK);
	emit_jump_imm(e, BPF_JEQ, R3, 0, in_register);
	emit_alu(e, BPF_ADD, R3, R9);
	unwind_user_read(u, 0, 8);
	emit_load(e, 8, R1, FP, FRAME_PAIR);
	emit_store(e, 8, R6, UNWIND_IP_AT, R1);
	emit_jump(e, frame);
	emit_label_place(e, in_register);
	emit_load(e, 8, R1, R6, UNWIND_LINK_AT);
	emit_jump_imm(e, BPF_JEQ, R1, 0, u->none);
	emit_store(e, 8, R6, UNWIND_IP_AT, R1);
	emit_label_place(e, frame);
	emit_jump_imm(e, BPF_JEQ, R7, 0, u->take);
	emit_alu(e, BPF_MOV, R3, R9);
	unwind_user_read(u, 0, 8);
	emit_load(e, 8, R1, FP, FRAME_PAIR);
	emit_store(e, 8, R6, UNWIND_FP_AT, R1);
	emit_jump(e, u->take);
}

static void linked_generate(struct bpf_unwind *u)
{
	struct emit *e = u->e;
	emit_label apart = emit_label_new(e);

	emit_label_place(e, u->framed);
	frame_add(u, R8);
	emit_label_place(e, u->cfa);
	cfa_test(u);
	emit_alu(e, BPF_MOV, R7, R9);
	emit_alu(e, BPF_ADD, R9, R8);
	emit_load(e, 8, R1, FP, FRAME_LINK);
	emit_jump_imm(e, BPF_JNE, R1, 8, apart);
	emit_jump_imm(e, BPF_JEQ, R7, 0, apart);
	unwind_record_read(u);
	emit_label_place(e, apart);
	apart_read(u);
}

/* The context is at r8. */
static void signal_generate(struct bpf_unwind *u)
{
	const struct processor_context *context = &u->gen->cpu->context;
	const struct { int off, at; } words[] = {
		{ context->fp, UNWIND_FP_AT }, { context->sp, UNWIND_SP_AT },
		{ context->ip, UNWIND_IP_AT },
		{ context->link, UNWIND_LINK_AT },
	};
	struct emit *e = u->e;

	emit_label_place(e, u->signal);
	for (int i = 0; i < (unwind_has_link(u) ? 4 : 3); i++) {
		emit_alu(e, BPF_MOV, R3, R8);
		emit_alu_imm(e, BPF_ADD, R3, words[i].off);
		unwind_user_read(u, 0, u->call->word);
		emit_load(e, u->call->word, R1, FP, FRAME_PAIR);
		emit_store(e, 8, R6, words[i].at, R1);
	}
	emit_store_imm(e, 8, R6, UNWIND_LESS, 0);
	emit_jump(e, u->taken);
}

static void frame_generate(struct bpf_unwind *u)
{
	int word = u->call->word;
	struct emit *e = u->e;

	emit_label_place(e, u->by_frame);
	emit_load(e, 8, R3, R6, UNWIND_FP_AT);
	emit_jump_imm(e, BPF_JEQ, R3, 0, u->outermost);
	emit_alu(e, BPF_MOV, R8, R3);
	emit_alu_imm(e, BPF_AND, R8, word - 1);
	emit_jump_imm(e, BPF_JNE, R8, 0, u->none);
	emit_load(e, 8, R1, R6, UNWIND_SP_AT);
	emit_alu(e, BPF_MOV, R8, R3);
	emit_alu(e, BPF_SUB, R8, R1);
	emit_jump_imm(e, BPF_JGT, R8, STACK_DISTANCE, u->none);
	emit_alu(e, BPF_MOV, R8, R3);
	emit_alu_imm(e, BPF_ADD, R8, 2 * word);
	emit_store(e, 8, R6, UNWIND_SP_AT, R8);
	unwind_user_read(u, 0, 2 * word);
	emit_load(e, word, R1, FP, FRAME_PAIR);
	emit_store(e, 8, R6, UNWIND_FP_AT, R1);
	emit_load(e, word, R1, FP, FRAME_PAIR + word);
	emit_store(e, 8, R6, UNWIND_IP_AT, R1);
}

/* The address in the state is the next of the record. */
static void take_generate(struct bpf_unwind *u)
{
	struct emit *e = u->e;

	emit_label_place(e, u->take);
	if (unwind_has_link(u))
		emit_store_imm(e, 8, R6, UNWIND_LINK_AT, 0);
	emit_label_place(e, u->taken);
	emit_load(e, 8, R3, R6, UNWIND_IP_AT);
	arch_address_strip(u->gen, R3);
	emit_jump_imm(e, BPF_JEQ, R3, 0, u->outermost);
	arch_address_test(u->gen, R3, R1, u->none);
	if (unwind_has_link(u))
		emit_store(e, 8, R6, UNWIND_IP_AT, R3);
	emit_load(e, 8, R1, FP, FRAME_INDEX);
	emit_jump_imm(e, BPF_JGE, R1, u->call->depth - u->call->taken,
		      u->stop);
	emit_alu(e, BPF_MOV, R2, R1);
	emit_alu_imm(e, BPF_ADD, R2, 1 + u->call->taken);
	emit_store(e, 8, R6, UNWIND_COUNT, R2);
	emit_load(e, 8, R2, FP, FRAME_PLACE);
	emit_alu_imm(e, BPF_LSH, R1, 3);
	emit_alu(e, BPF_ADD, R2, R1);
	emit_store(e, 8, R2, 0, R3);
	emit_alu_imm(e, BPF_MOV, R0, 0);
	emit_exit(e);
}

static void end_generate(struct bpf_unwind *u, emit_label label, int end)
{
	emit_label_place(u->e, label);
	emit_store_imm(u->e, 8, R6, UNWIND_ENDED, end);
	emit_jump(u->e, u->stop);
}

static void step_generate(struct bpf_unwind *u)
{
	struct emit *e = u->e;

	emit_store(e, 8, FP, FRAME_INDEX, R1);
	emit_load(e, 8, R6, R2, 0);
	emit_load(e, 8, R1, R2, 8);
	emit_store(e, 8, FP, FRAME_PLACE, R1);
	emit_load(e, 8, R7, R6, UNWIND_IP_AT);
	emit_load(e, 8, R1, R6, UNWIND_LESS);
	emit_alu(e, BPF_SUB, R7, R1);
	emit_store_imm(e, 8, R6, UNWIND_LESS, 1);
	unwind_segment_find(u);
	unwind_block_find(u);
	bisect(u, u->rows_fd, ROW_STEPS, 4, ROW(pc));
	row_apply(u);
	signal_generate(u);
	if (unwind_has_link(u)) {
		linked_generate(u);
	} else {
		plt_generate(u);
		realigned_generate(u);
		cfa_generate(u);
	}
	frame_generate(u);
	take_generate(u);
	end_generate(u, u->none, RAS_STACK_NO_TABLE);
	end_generate(u, u->unreadable, RAS_STACK_UNREADABLE);
	end_generate(u, u->outermost, RAS_STACK_OUTERMOST);
	emit_label_place(e, u->stop);
	emit_alu_imm(e, BPF_MOV, R0, 1);
	emit_exit(e);
}

/* Where the running process's segments are, to UNWIND_SPACE */
static void space_load(struct gen *gen)
{
	emit_label missing = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	emit_store_imm(e, 8, R7, UNWIND_STATE + UNWIND_SPACE, 0);
	emit_call(e, BPF_FUNC_get_current_pid_tgid);
	emit_alu_imm(e, BPF_RSH, R0, 32);
	emit_store(e, 4, FP, FRAME_ROW, R0);
	emit_lookup(e, gen->target->heap->spaces_fd, FRAME_ROW, missing);
	emit_load(e, 8, R1, R0, 0);
	emit_store(e, 8, R7, UNWIND_STATE + UNWIND_SPACE, R1);
	emit_label_place(e, missing);
}

void unwind_generate(struct gen *gen, const struct unwind_call *call)
{
	struct emit *e = &gen->e;
	struct unwind_call *kept;

	if (gen->unwind_count == BODY_UNWINDS) {
		gen_fail(gen, -E2BIG, "more than %u stacks", BODY_UNWINDS);
		return;
	}
	kept = &gen->unwinds[gen->unwind_count++];
	*kept = *call;
	kept->step = emit_label_new(e);
	space_load(gen);
	emit_store_imm(e, 8, R7, UNWIND_STATE + UNWIND_COUNT, call->taken);
	emit_store_imm(e, 8, R7, UNWIND_STATE + UNWIND_ENDED, RAS_STACK_DEPTH);
	emit_alu(e, BPF_MOV, R1, R7);
	emit_alu_imm(e, BPF_ADD, R1, UNWIND_STATE);
	emit_store(e, 8, FP, call->pointers, R1);
	item_place_load(gen, &gen->place, call->off +
			call->taken * STACK_FRAME_BYTES, R1);
	emit_store(e, 8, FP, call->pointers + 8, R1);
	emit_alu_imm(e, BPF_MOV, R1, call->depth - call->taken);
	emit_callback(e, R2, kept->step);
	emit_alu(e, BPF_MOV, R3, FP);
	emit_alu_imm(e, BPF_ADD, R3, call->pointers);
	emit_alu_imm(e, BPF_MOV, R4, 0);
	emit_call(e, BPF_FUNC_loop);
}

void unwind_steps_generate(struct gen *gen)
{
	struct emit *e = &gen->e;

	for (uint32_t i = 0; i < gen->unwind_count; i++) {
		struct bpf_unwind u = {
			.gen = gen, .e = e, .call = &gen->unwinds[i],
			.rows_fd = gen->target->heap->rows_fd,
			.none = emit_label_new(e),
			.outermost = emit_label_new(e),
			.unreadable = emit_label_new(e),
			.stop = emit_label_new(e),
			.by_frame = emit_label_new(e),
			.take = emit_label_new(e), .taken = emit_label_new(e),
			.realigned = emit_label_new(e),
			.plt = emit_label_new(e), .signal = emit_label_new(e),
			.framed = emit_label_new(e), .cfa = emit_label_new(e),
		};

		gen_note(gen, STMT_EPILOGUE);
		emit_label_place(e, u.call->step);
		gen->subprograms[BODY_UNWIND_FIRST + i] = e->count;
		step_generate(&u);
	}
}
