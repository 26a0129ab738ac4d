// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks by the tables of rastrace/unwind.h. bpf_loop() calls a subprogram for
 * each frame, which finds the code's segment and row by bisection, computes the
 * caller's registers and stores its address in the record.
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

#define SPACE(field)	((int)offsetof(struct unwind_space, field))
#define SEGMENT(field)	((int)offsetof(struct unwind_segment, field))
#define PROCESS(field)	((int)offsetof(struct unwind_process, field))
#define ROW(field)	((int)offsetof(struct unwind_row, field))
#define CACHED(field)	((int)offsetof(struct unwind_cached, field))

/* What the subprogram needs in all of it, or hands on from one part to the next */
#define STATE		BPF_REG_6	/* UNWIND_* */

struct bpf_unwind {
	struct gen *gen;
	struct code *c;
	const struct unwind_call *call;
	int rows_fd;
	code_slot key, pair;	/* pair: two words that were read */
	int index;		/* of the call, from 0 */
	int place;		/* of the first address */
	int ip, pc;		/* the code's address; the same in its module */
	int cached;		/* address of a struct unwind_cached */
	int first;		/* row of the module */
	int from, count;	/* what a bisection is between */
	int kind, cfa, fp, link;	/* of the row that was found; link: times 8 */
	code_label none, outermost, unreadable, stop;
	code_label by_frame, take, realigned, plt, signal, framed, by_cfa;
	code_label taken;	/* the link register's value still holds */
	code_label search, found;	/* the row isn't cached; it is known */
};

/* The address to return to is in a register at first. */
static bool unwind_has_link(const struct bpf_unwind *u)
{
	return u->gen->plan->cpu->link >= 0;
}

/* r0 = the entry of the number in reg */
static void unwind_entry_find(struct bpf_unwind *u, int map_fd, int reg)
{
	code_slot_store(u->c, 4, u->key, 0, reg);
	code_lookup(u->c, map_fd, u->key, u->none);
}

/* r0, from: the last of `count` (at most 2^steps) entries from there on whose number
 * isn't above the pc; the first is taken for granted. Without jumps: each would
 * double what is verified, and the processor guess wrong half the time. */
static void bisect(struct bpf_unwind *u, int map_fd, int steps, int bytes,
		   int field)
{
	struct code *c = u->c;

	while (steps--) {
		code_move(c, R1, u->count);
		code_alu_imm(c, BPF_RSH, R1, 1);
		code_alu(c, BPF_ADD, R1, u->from);
		unwind_entry_find(u, map_fd, R1);
		code_load(c, bytes, R1, R0, field);
		code_move(c, R2, u->pc);
		code_alu(c, BPF_SUB, R2, R1);
		code_alu_imm(c, BPF_ARSH, R2, 63);
		code_alu_imm(c, BPF_XOR, R2, -1);
		code_move(c, R1, u->count);
		code_alu_imm(c, BPF_RSH, R1, 1);
		code_alu(c, BPF_SUB, u->count, R1);
		code_alu(c, BPF_AND, R2, R1);
		code_alu(c, BPF_ADD, u->from, R2);
	}
	unwind_entry_find(u, map_fd, u->from);
}

/* pc -= the segment's base; first, count = its module's rows */
static void unwind_segment_find(struct bpf_unwind *u)
{
	struct code *c = u->c;

	code_move(c, u->pc, u->ip);
	code_load(c, 2, u->from, STATE, UNWIND_SPACE + SPACE(first));
	code_load(c, 2, u->count, STATE, UNWIND_SPACE + SPACE(segments));
	code_jump_imm(c, BPF_JEQ, u->count, 0, u->by_frame);
	bisect(u, u->gen->plan->target->heap->segments_fd, SEGMENT_STEPS, 8,
	       SEGMENT(start));
	code_load(c, 8, R1, R0, SEGMENT(start));
	code_jump_if(c, BPF_JLT, u->pc, R1, u->by_frame);
	code_load(c, 8, R1, R0, SEGMENT(end));
	code_jump_if(c, BPF_JGE, u->pc, R1, u->by_frame);
	code_load(c, 4, u->count, R0, SEGMENT(rows));
	code_jump_imm(c, BPF_JEQ, u->count, 0, u->by_frame);
	code_load(c, 8, R1, R0, SEGMENT(base));
	code_alu(c, BPF_SUB, u->pc, R1);
	code_load(c, 4, u->first, R0, SEGMENT(first));
}

/* from, count = first and number of the rows that it may be */
static void unwind_block_find(struct bpf_unwind *u)
{
	struct code *c = u->c;

	code_move(c, R1, u->first);
	code_alu(c, BPF_ADD, R1, u->count);
	code_move(c, R2, u->pc);
	code_alu_imm(c, BPF_RSH, R2, UNWIND_BLOCK_SHIFT + 2);
	code_alu(c, BPF_ADD, R1, R2);
	unwind_entry_find(u, u->rows_fd, R1);
	code_move(c, R1, u->pc);
	code_alu_imm(c, BPF_RSH, R1, UNWIND_BLOCK_SHIFT - 2);
	code_alu_imm(c, BPF_AND, R1, 3 << 2);
	code_alu(c, BPF_ADD, R0, R1);
	code_load(c, 4, u->count, R0, 0);
	code_move(c, u->from, u->first);
	code_move(c, R1, u->count);
	code_alu_imm(c, BPF_RSH, R1, 8);
	code_alu(c, BPF_ADD, u->from, R1);
	code_alu_imm(c, BPF_AND, u->count, 0xff);
	code_alu_imm(c, BPF_ADD, u->count, 1);
}

static void signed_load(struct code *c, int dst, int base, int off)
{
	code_load(c, 4, dst, base, off);
	code_alu_imm(c, BPF_LSH, dst, 32);
	code_alu_imm(c, BPF_ARSH, dst, 32);
}

/* The pair = `bytes` bytes at the address in reg */
static void unwind_user_read(struct bpf_unwind *u, int reg, int bytes)
{
	struct code *c = u->c;

	code_move(c, R3, reg);
	code_slot_address(c, R1, u->pair, 0);
	code_alu_imm(c, BPF_MOV, R2, bytes);
	code_call(c, BPF_FUNC_probe_read_user);
	code_jump_imm(c, BPF_JNE, R0, 0, u->unreadable);
}

/* The same of a frame's two words, which mostly are in the page of those before */
static void frame_read(struct bpf_unwind *u, int address)
{
	const struct direct_to to = { .base = NO_REG, .slot = u->pair };
	code_label slow = code_label_new(u->c), done = code_label_new(u->c);
	int bytes = 2 * u->call->word;
	struct code *c = u->c;

	if (!u->call->direct) {
		unwind_user_read(u, address, bytes);
		return;
	}
	code_move(c, RECORD, STATE);
	code_alu_imm(c, BPF_SUB, RECORD, UNWIND_STATE);
	direct_read(u->gen, &to, bytes, address, slow);
	code_rare_begin(c);
	code_label_place(c, slow);
	unwind_user_read(u, address, bytes);
	code_jump(c, done);
	code_rare_end(c);
	code_label_place(c, done);
}

/* A member of the state = one of the words that were read */
static void unwind_state_store(struct bpf_unwind *u, int at, int index)
{
	int word = u->call->word;

	code_slot_load(u->c, word, R1, u->pair, index * word);
	code_store(u->c, 8, STATE, at, R1);
}

/* The row is at r0. */
static void unwind_row_load(struct bpf_unwind *u)
{
	struct code *c = u->c;

	code_load(c, 2, u->kind, R0, ROW(kind));
	signed_load(c, u->cfa, R0, ROW(cfa));
	signed_load(c, u->fp, R0, ROW(fp));
	if (unwind_has_link(u)) {
		code_load(c, 2, u->link, R0, ROW(link));
		code_alu_imm(c, BPF_LSH, u->link, 48);
		code_alu_imm(c, BPF_ARSH, u->link, 45);
	}
}

/* The row as it was found the last time. It may be overwritten meanwhile, by who
 * preempts this program. */
static void row_recall(struct bpf_unwind *u)
{
	struct code *c = u->c;

	code_move(c, R1, u->ip);
	code_alu_imm(c, BPF_RSH, R1, 9);
	code_alu(c, BPF_XOR, R1, u->ip);
	code_alu_imm(c, BPF_AND, R1, UNWIND_CACHE - 1);
	code_slot_store(c, 4, u->key, 0, R1);
	code_lookup(c, u->gen->plan->target->heap->cache_fd, u->key, u->none);
	code_move(c, u->cached, R0);
	code_load(c, 8, R1, R0, CACHED(pc));
	code_jump_if(c, BPF_JNE, R1, u->ip, u->search);
	code_load(c, 8, R1, R0, CACHED(space));
	code_load(c, 8, R2, STATE, UNWIND_SPACE);
	code_jump_if(c, BPF_JNE, R1, R2, u->search);
	code_alu_imm(c, BPF_ADD, R0, CACHED(row));
	unwind_row_load(u);
	code_load(c, 8, R1, u->cached, CACHED(pc));
	code_jump_if(c, BPF_JNE, R1, u->ip, u->search);
}

/* It is at r0. */
static void row_remember(struct bpf_unwind *u)
{
	struct code *c = u->c;

	code_store_imm(c, 8, u->cached, CACHED(pc), 0);
	for (int at = 0; at < (int)sizeof(struct unwind_row); at += 8) {
		code_load(c, 8, R1, R0, at);
		code_store(c, 8, u->cached, CACHED(row) + at, R1);
	}
	code_load(c, 8, R1, STATE, UNWIND_SPACE);
	code_store(c, 8, u->cached, CACHED(space), R1);
	code_store(c, 8, u->cached, CACHED(pc), u->ip);
}

static void row_search(struct bpf_unwind *u)
{
	unwind_segment_find(u);
	unwind_block_find(u);
	bisect(u, u->rows_fd, ROW_STEPS, 4, ROW(pc));
}

static void unwind_row_find(struct bpf_unwind *u)
{
	struct code *c = u->c;

	if (u->gen->plan->target->heap->cache_fd < 0) {
		row_search(u);
		unwind_row_load(u);
		return;
	}
	row_recall(u);
	code_rare_begin(c);
	code_label_place(c, u->search);
	row_search(u);
	row_remember(u);
	unwind_row_load(u);
	code_jump(c, u->found);
	code_rare_end(c);
	code_label_place(c, u->found);
}

static void row_apply(struct bpf_unwind *u)
{
	struct code *c = u->c;

	code_jump_imm(c, BPF_JEQ, u->kind, UNWIND_FRAME, u->by_frame);
	code_jump_imm(c, BPF_JEQ, u->kind, UNWIND_FP, u->framed);
	code_jump_imm(c, BPF_JEQ, u->kind, UNWIND_END, u->outermost);
	if (!unwind_has_link(u))
		code_jump_imm(c, BPF_JEQ, u->kind, UNWIND_REALIGNED,
			      u->realigned);
	code_load(c, 8, R1, STATE, UNWIND_SP_AT);
	code_alu(c, BPF_ADD, u->cfa, R1);
	code_jump_imm(c, BPF_JEQ, u->kind, UNWIND_SP, u->by_cfa);
	code_jump_imm(c, BPF_JEQ, u->kind, UNWIND_SIGNAL, u->signal);
	if (!unwind_has_link(u))
		code_jump_imm(c, BPF_JEQ, u->kind, UNWIND_PLT, u->plt);
	code_jump(c, u->none);
}

static void plt_generate(struct bpf_unwind *u)
{
	int word = u->call->word;
	struct code *c = u->c;

	code_label_place(c, u->plt);
	code_load(c, 8, u->cfa, STATE, UNWIND_SP_AT);
	code_alu_imm(c, BPF_ADD, u->cfa, word);
	code_load(c, 8, R1, STATE, UNWIND_IP_AT);
	code_alu_imm(c, BPF_AND, R1, 15);
	code_jump_imm(c, BPF_JLT, R1, 11, u->by_cfa);
	code_alu_imm(c, BPF_ADD, u->cfa, word);
	code_jump(c, u->by_cfa);
}

static void frame_add(struct bpf_unwind *u, int reg)
{
	code_load(u->c, 8, R1, STATE, UNWIND_FP_AT);
	code_alu(u->c, BPF_ADD, reg, R1);
}

/* The stack pointer grows with every frame; of a function that has built none it
 * is the caller's where nothing is pushed. */
static void cfa_test(struct bpf_unwind *u)
{
	int wrong = unwind_has_link(u) ? BPF_JLT : BPF_JLE;
	struct code *c = u->c;

	if (u->call->word == 4)
		code_zext32(c, u->cfa);
	code_load(c, 8, R1, STATE, UNWIND_SP_AT);
	code_jump_if(c, wrong, u->cfa, R1, u->none);
	code_store(c, 8, STATE, UNWIND_SP_AT, u->cfa);
}

/* The pair in front of the CFA: the address to return to and, mostly, the
 * caller's frame pointer. */
static void pair_read(struct bpf_unwind *u)
{
	struct code *c = u->c;
	int address = code_copy(c, u->cfa);

	code_alu_imm(c, BPF_SUB, address, 2 * u->call->word);
	frame_read(u, address);
	unwind_state_store(u, UNWIND_IP_AT, 1);
}

static void realigned_generate(struct bpf_unwind *u)
{
	int word = u->call->word;
	struct code *c = u->c;

	code_label_place(c, u->realigned);
	frame_add(u, u->cfa);
	frame_add(u, u->fp);
	unwind_user_read(u, u->cfa, word);
	code_slot_load(c, word, u->cfa, u->pair, 0);
	cfa_test(u);
	pair_read(u);
	unwind_user_read(u, u->fp, word);
	unwind_state_store(u, UNWIND_FP_AT, 0);
	code_jump(c, u->take);
}

static void cfa_generate(struct bpf_unwind *u)
{
	int word = u->call->word;
	struct code *c = u->c;
	code_label paired = code_label_new(c);

	code_label_place(c, u->framed);
	frame_add(u, u->cfa);
	code_label_place(c, u->by_cfa);
	cfa_test(u);
	pair_read(u);
	code_jump_imm(c, BPF_JEQ, u->fp, 0, u->take);
	code_jump_imm(c, BPF_JEQ, u->fp, -2 * word, paired);
	code_move(c, R3, u->cfa);
	code_alu(c, BPF_ADD, R3, u->fp);
	unwind_user_read(u, R3, word);
	code_label_place(c, paired);
	unwind_state_store(u, UNWIND_FP_AT, 0);
	code_jump(c, u->take);
}

/* The address to return to and the frame pointer, each by itself. The register has
 * the address of the innermost frame, or of one that a signal interrupted. */
static void apart_read(struct bpf_unwind *u, int record)
{
	struct code *c = u->c;
	code_label in_register = code_label_new(c), frame = code_label_new(c);

	code_jump_imm(c, BPF_JEQ, u->link, 0, in_register);
	code_move(c, R3, u->link);
	code_alu(c, BPF_ADD, R3, record);
	unwind_user_read(u, R3, 8);
	unwind_state_store(u, UNWIND_IP_AT, 0);
	code_jump(c, frame);
	code_label_place(c, in_register);
	code_load(c, 8, R1, STATE, UNWIND_LINK_AT);
	code_jump_imm(c, BPF_JEQ, R1, 0, u->none);
	code_store(c, 8, STATE, UNWIND_IP_AT, R1);
	code_label_place(c, frame);
	code_jump_imm(c, BPF_JEQ, u->fp, 0, u->take);
	unwind_user_read(u, record, 8);
	unwind_state_store(u, UNWIND_FP_AT, 0);
	code_jump(c, u->take);
}

/* A frame record is the frame pointer and the address to return to (aapcs64
 * 6.4.6); rows may say otherwise. */
static void linked_generate(struct bpf_unwind *u)
{
	struct code *c = u->c;
	code_label apart = code_label_new(c);
	int record;

	code_label_place(c, u->framed);
	frame_add(u, u->cfa);
	code_label_place(c, u->by_cfa);
	cfa_test(u);
	record = code_copy(c, u->fp);
	code_alu(c, BPF_ADD, record, u->cfa);
	code_jump_imm(c, BPF_JNE, u->link, 8, apart);
	code_jump_imm(c, BPF_JEQ, u->fp, 0, apart);
	unwind_user_read(u, record, 16);
	unwind_state_store(u, UNWIND_FP_AT, 0);
	unwind_state_store(u, UNWIND_IP_AT, 1);
	code_jump(c, u->take);
	code_label_place(c, apart);
	apart_read(u, record);
}

/* The context is at the CFA. */
static void signal_generate(struct bpf_unwind *u)
{
	const struct processor_context *context = &u->gen->plan->cpu->context;
	const struct { int off, at; } words[] = {
		{ context->fp, UNWIND_FP_AT }, { context->sp, UNWIND_SP_AT },
		{ context->ip, UNWIND_IP_AT },
		{ context->link, UNWIND_LINK_AT },
	};
	struct code *c = u->c;

	code_label_place(c, u->signal);
	for (int i = 0; i < (unwind_has_link(u) ? 4 : 3); i++) {
		code_move(c, R3, u->cfa);
		code_alu_imm(c, BPF_ADD, R3, words[i].off);
		unwind_user_read(u, R3, u->call->word);
		unwind_state_store(u, words[i].at, 0);
	}
	code_store_imm(c, 8, STATE, UNWIND_LESS, 0);
	code_jump(c, u->taken);
}

static void frame_generate(struct bpf_unwind *u)
{
	int word = u->call->word;
	struct code *c = u->c;
	code_label kept = code_label_new(c);
	int frame;

	code_label_place(c, u->by_frame);
	frame = temp_load(u->gen, 8, STATE, UNWIND_FP_AT);
	/* the register is 0 also in code that keeps anything there */
	code_jump_imm(c, BPF_JNE, frame, 0, kept);
	code_jump_imm(c, BPF_JEQ, u->index, 0, u->none);
	code_jump(c, u->outermost);
	code_label_place(c, kept);
	code_move(c, R1, frame);
	code_alu_imm(c, BPF_AND, R1, word - 1);
	code_jump_imm(c, BPF_JNE, R1, 0, u->none);
	code_load(c, 8, R1, STATE, UNWIND_SP_AT);
	code_move(c, R2, frame);
	code_alu(c, BPF_SUB, R2, R1);
	code_jump_imm(c, BPF_JGT, R2, STACK_DISTANCE, u->none);
	code_move(c, R2, frame);
	code_alu_imm(c, BPF_ADD, R2, 2 * word);
	code_store(c, 8, STATE, UNWIND_SP_AT, R2);
	unwind_user_read(u, frame, 2 * word);
	unwind_state_store(u, UNWIND_FP_AT, 0);
	unwind_state_store(u, UNWIND_IP_AT, 1);
}

/* The address in the state is the next of the record. */
static void take_generate(struct bpf_unwind *u)
{
	const struct unwind_call *call = u->call;
	struct code *c = u->c;
	int address, index, to;

	code_label_place(c, u->take);
	if (unwind_has_link(u))
		code_store_imm(c, 8, STATE, UNWIND_LINK_AT, 0);
	code_label_place(c, u->taken);
	address = temp_load(u->gen, 8, STATE, UNWIND_IP_AT);
	address_strip(u->gen, address);
	code_jump_imm(c, BPF_JEQ, address, 0, u->outermost);
	address_test(u->gen, address, u->none);
	if (unwind_has_link(u))
		code_store(c, 8, STATE, UNWIND_IP_AT, address);
	/* a register: what is compared is what is added */
	index = code_copy(c, u->index);
	code_jump_imm(c, BPF_JGE, index, call->depth - call->taken, u->stop);
	code_move(c, R2, index);
	code_alu_imm(c, BPF_ADD, R2, 1 + call->taken);
	code_store(c, 8, STATE, UNWIND_COUNT, R2);
	to = code_copy(c, u->place);
	code_alu_imm(c, BPF_LSH, index, 3);
	code_alu(c, BPF_ADD, to, index);
	code_store(c, 8, to, 0, address);
	code_alu_imm(c, BPF_MOV, R0, 0);
	code_exit(c);
}

static void end_generate(struct bpf_unwind *u, code_label label, int end)
{
	code_label_place(u->c, label);
	code_store_imm(u->c, 8, STATE, UNWIND_ENDED, end);
	code_jump(u->c, u->stop);
}

static void step_generate(struct bpf_unwind *u, uint32_t number)
{
	struct code *c = u->c;

	code_function_begin(c, BODY_UNWIND_FIRST + number, u->call->step);
	code_move(c, u->index, R1);
	code_load(c, 8, STATE, R2, 0);
	code_load(c, 8, u->place, R2, 8);
	code_load(c, 8, u->ip, STATE, UNWIND_IP_AT);
	code_load(c, 8, R1, STATE, UNWIND_LESS);
	code_alu(c, BPF_SUB, u->ip, R1);
	code_store_imm(c, 8, STATE, UNWIND_LESS, 1);
	unwind_row_find(u);
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
	code_label_place(c, u->stop);
	code_alu_imm(c, BPF_MOV, R0, 1);
	code_exit(c);
	code_function_end(c);
}

/* The running process has no tables, or another program's: they are asked for once.
 * Where it has mapped code since, or unmapped it, they are as they were till then,
 * which is marked. Its space goes to UNWIND_SPACE; without a call, the address of
 * its struct unwind_process to `process`, or 0. */
static void tables_check(struct gen *gen, const struct unwind_call *call,
			 int process, code_slot pid, code_label missing,
			 code_label found)
{
	const struct body_heap *heap = gen->plan->target->heap;
	const struct body_layout *layout = gen->plan->target->layout;
	code_slot entry = code_slot_new(gen->c, sizeof(struct unwind_process));
	code_label ask = code_label_new(gen->c), changed = code_label_new(gen->c);
	struct code *c = gen->c;
	int mm, stack, code;

	code_call(c, BPF_FUNC_get_current_task_btf);
	mm = temp_load(gen, 8, R0, layout->task_mm);
	code_jump_imm(c, BPF_JEQ, mm, 0, found);
	stack = temp_load(gen, 8, mm, layout->mm_stack);
	code = temp_load(gen, 8, mm, layout->mm_code);
	code_lookup(c, heap->spaces_fd, pid, missing);
	code_load(c, 8, R1, R0, PROCESS(stack));
	code_jump_if(c, BPF_JNE, R1, stack, missing);
	if (call) {
		code_load(c, 8, R1, R0, PROCESS(space));
		code_store(c, 8, RECORD, UNWIND_STATE + UNWIND_SPACE, R1);
	} else {
		code_move(c, process, R0);
	}
	code_load(c, 8, R1, R0, PROCESS(code));
	code_jump_if(c, BPF_JNE, R1, code, changed);
	code_rare_begin(c);
	code_label_place(c, changed);
	code_load(c, 8, R1, R0, PROCESS(asked));
	code_store(c, 8, R0, PROCESS(asked), code);
	if (call)
		code_store_imm(c, 1, gen->place.base,
			       gen->place.off + call->flags, RAS_STACK_CHANGED);
	else
		code_alu_imm(c, BPF_MOV, process, 0);
	code_jump_if(c, BPF_JEQ, R1, code, found);
	code_jump(c, ask);
	code_label_place(c, missing);
	for (int at = 0; at < (int)sizeof(struct unwind_process); at += 8)
		code_slot_store_imm(c, 8, entry, at, 0);
	code_slot_store(c, 8, entry, PROCESS(stack), stack);
	code_slot_store(c, 8, entry, PROCESS(code), code);
	code_slot_store(c, 8, entry, PROCESS(asked), code);
	code_map(c, R1, heap->spaces_fd);
	code_slot_address(c, R2, pid, 0);
	code_slot_address(c, R3, entry, 0);
	code_alu_imm(c, BPF_MOV, R4, BPF_ANY);
	code_call(c, BPF_FUNC_map_update_elem);
	/* no room: it isn't asked for, by each hit anew */
	code_zext32(c, R0);
	code_jump_imm(c, BPF_JNE, R0, 0, found);
	code_label_place(c, ask);
	code_map(c, R1, heap->asks_fd);
	code_slot_address(c, R2, pid, 0);
	code_alu_imm(c, BPF_MOV, R3, 4);
	code_alu_imm(c, BPF_MOV, R4, 0);
	code_call(c, BPF_FUNC_ringbuf_output);
	code_jump(c, found);
	code_rare_end(c);
}

/* Where the running process's segments are, to UNWIND_SPACE */
static void space_load(struct gen *gen, const struct unwind_call *call)
{
	const struct body_heap *heap = gen->plan->target->heap;
	struct code *c = gen->c;
	code_label missing = code_label_new(c), found = code_label_new(c);
	code_slot pid;

	code_store_imm(c, 8, RECORD, UNWIND_STATE + UNWIND_SPACE, 0);
	code_call(c, BPF_FUNC_get_current_pid_tgid);
	code_alu_imm(c, BPF_RSH, R0, 32);
	pid = key_new(gen, R0);
	if (heap->asks_fd >= 0) {
		tables_check(gen, call, NO_REG, pid, missing, found);
		code_label_place(c, found);
		return;
	}
	code_lookup(c, heap->spaces_fd, pid, missing);
	code_load(c, 8, R1, R0, PROCESS(space));
	code_store(c, 8, RECORD, UNWIND_STATE + UNWIND_SPACE, R1);
	code_label_place(c, missing);
}

void unwind_process_find(struct gen *gen, int process)
{
	struct code *c = gen->c;
	code_label missing = code_label_new(c), found = code_label_new(c);

	code_alu_imm(c, BPF_MOV, process, 0);
	code_call(c, BPF_FUNC_get_current_pid_tgid);
	code_alu_imm(c, BPF_RSH, R0, 32);
	tables_check(gen, NULL, process, key_new(gen, R0), missing, found);
	code_label_place(c, found);
}

void unwind_generate(struct gen *gen, const struct unwind_call *call)
{
	struct gen_shared *shared = gen->shared;
	struct code *c = gen->c;
	code_slot pointers = code_slot_new(c, 16);
	struct unwind_call *kept;

	code_store_imm(c, 8, RECORD, UNWIND_STATE + UNWIND_COUNT, call->taken);
	code_store_imm(c, 8, RECORD, UNWIND_STATE + UNWIND_ENDED,
		       RAS_STACK_DEPTH);
	/* the verifier fails for a loop without rounds */
	if (call->taken == call->depth)
		return;
	if (shared->unwind_count == BODY_UNWINDS) {
		gen_fail(gen, -E2BIG, "more than %d stacks", BODY_UNWINDS);
		return;
	}
	kept = &shared->unwinds[shared->unwind_count++];
	*kept = *call;
	kept->step = code_label_new(c);
	space_load(gen, call);
	code_move(c, R1, RECORD);
	code_alu_imm(c, BPF_ADD, R1, UNWIND_STATE);
	code_slot_store(c, 8, pointers, 0, R1);
	item_place_load(gen, &gen->place, call->off +
			call->taken * STACK_FRAME_BYTES, R1);
	code_slot_store(c, 8, pointers, 8, R1);
	if (call->most >= 0) {
		code_move(c, R1, call->most);
		code_alu_imm(c, BPF_SUB, R1, call->taken);
	} else {
		code_alu_imm(c, BPF_MOV, R1, call->depth - call->taken);
	}
	code_callback(c, R2, kept->step);
	code_slot_address(c, R3, pointers, 0);
	code_alu_imm(c, BPF_MOV, R4, 0);
	code_call(c, BPF_FUNC_loop);
}

void unwind_steps_generate(struct gen *gen)
{
	struct gen_shared *shared = gen->shared;
	struct code *c = gen->c;

	gen_note(gen, STMT_EPILOGUE);
	for (uint32_t i = 0; i < shared->unwind_count; i++) {
		struct bpf_unwind u = {
			.gen = gen, .c = c, .call = &shared->unwinds[i],
			.rows_fd = gen->plan->target->heap->rows_fd,
			.key = code_slot_new(c, 4),
			.pair = code_slot_new(c, 16),
			.index = code_temp_new(c), .place = code_temp_new(c),
			.ip = code_temp_new(c), .pc = code_temp_new(c),
			.cached = code_temp_new(c), .first = code_temp_new(c),
			.from = code_temp_new(c), .count = code_temp_new(c),
			.kind = code_temp_new(c), .cfa = code_temp_new(c),
			.fp = code_temp_new(c), .link = code_temp_new(c),
			.none = code_label_new(c),
			.outermost = code_label_new(c),
			.unreadable = code_label_new(c),
			.stop = code_label_new(c),
			.by_frame = code_label_new(c),
			.take = code_label_new(c), .taken = code_label_new(c),
			.realigned = code_label_new(c),
			.plt = code_label_new(c), .signal = code_label_new(c),
			.framed = code_label_new(c),
			.by_cfa = code_label_new(c),
			.search = code_label_new(c),
			.found = code_label_new(c),
		};

		step_generate(&u, i);
	}
}
