// SPDX-License-Identifier: GPL-2.0
/*
 * The node after a node of a binary tree, in order: the leftmost one to its
 * right, or else the first one above that it is not to the right of. Both ways
 * are loops of so many steps at most.
 *
 * There is a subprogram for that, and another one that brings in what it reads
 * first (walk.c), which is global: it is verified once. The first one is verified
 * for each node, because it is called without preemption, where some kernels
 * allow no global ones (6.12); nothing of its loops is left when it returns.
 *
 * tree(&node, left | right << 32, parent, steps, own): offsets in a node, and
 * the value of gen->own. The node becomes the next one. Returns WALK_* and one
 * of TREE_*, for which it becomes the address that can't be read, or the last
 * node that was found.
 */
#include "gen.h"

#include "lib/formats/tdf.h"

#define TREE_UNREADABLE	1
#define TREE_LOST	2
#define TREE_SHIFT	8	/* of these in the result */

/* of the subprograms */
#define FRAME_SIDES	(-8)	/* two u32 */
#define FRAME_ABOVE	(-16)	/* of the parent */
#define FRAME_OWN	(-24)
#define FRAME_POINTER	(-32)	/* that was read */
#define FRAME_AT	(-40)	/* where from */
#define FRAME_BITS	(-48)	/* WALK_* */
#define FRAME_STEPS	(-56)	/* that it may take */

/*
 *	r6	&node
 *	r7	the node
 *	r8	the one next to it, or above
 *	r9	steps that it took
 */
struct tree {
	struct gen *gen;
	struct emit *e;
	bool walking;
	emit_label unreadable, lost, found, out;
};

/* r1 = the pointer that the node in `node` has at the offset in the frame */
static void tree_read(struct tree *t, int node, int offset)
{
	const struct gen_value address = { .kind = VALUE_TEMP, .base = R3 };
	struct emit *e = t->e;
	int bytes = t->gen->flat32 ? 4 : 8;

	emit_load(e, 4, R3, FP, offset);
	emit_alu(e, BPF_ADD, R3, node);
	rpn_address_load(t->gen, &address, R3);
	emit_store(e, 8, FP, FRAME_AT, R3);
	if (t->walking) {
		emit_alu(e, BPF_MOV, R1, R3);
		emit_alu_imm(e, BPF_MOV, R2, bytes);
		emit_alu_imm(e, BPF_MOV, R3, 0);
		emit_call_label(e, t->gen->bring);
		emit_load(e, 8, R1, FP, FRAME_BITS);
		emit_alu(e, BPF_OR, R1, R0);
		emit_store(e, 8, FP, FRAME_BITS, R1);
		emit_load(e, 8, R3, FP, FRAME_AT);
	}
	emit_store_imm(e, 8, FP, FRAME_POINTER, 0);
	emit_alu(e, BPF_MOV, R1, FP);
	emit_alu_imm(e, BPF_ADD, R1, FRAME_POINTER);
	emit_alu_imm(e, BPF_MOV, R2, bytes);
	item_read_call(t->gen, false, &address);
	emit_jump_imm(e, BPF_JNE, R0, 0, t->unreadable);
	emit_load(e, 8, R1, FP, FRAME_POINTER);
}

/* What bounds the loop is a constant: the verifier of 6.1 can't follow an argument
 * back to where it comes from. */
static void tree_step(struct tree *t, emit_label again)
{
	struct emit *e = t->e;

	emit_jump_imm(e, BPF_JEQ, R9, RPN_STEPS_MAX, t->lost);
	emit_load(e, 8, R1, FP, FRAME_STEPS);
	emit_jump_if(e, BPF_JGE, R9, R1, t->lost);
	emit_alu_imm(e, BPF_ADD, R9, 1);
	emit_jump(e, again);
}

/* r8 is to the right: as far to the left as there are any. */
static void tree_down(struct tree *t)
{
	emit_label again = emit_label_new(t->e);
	struct emit *e = t->e;

	emit_label_place(e, again);
	emit_alu(e, BPF_MOV, R7, R8);
	tree_read(t, R7, FRAME_SIDES);
	emit_jump_imm(e, BPF_JEQ, R1, 0, t->found);
	emit_alu(e, BPF_MOV, R8, R1);
	tree_step(t, again);
}

/* Nothing is to the right: up, from what is to the right. 0 is above all. */
static void tree_up(struct tree *t)
{
	emit_label again = emit_label_new(t->e), above = emit_label_new(t->e);
	struct emit *e = t->e;

	emit_label_place(e, again);
	tree_read(t, R7, FRAME_ABOVE);
	emit_alu(e, BPF_MOV, R8, R1);
	emit_jump_imm(e, BPF_JEQ, R8, 0, above);
	tree_read(t, R8, FRAME_SIDES + 4);
	emit_jump_if(e, BPF_JNE, R1, R7, above);
	emit_alu(e, BPF_MOV, R7, R8);
	tree_step(t, again);
	emit_label_place(e, above);
	emit_alu(e, BPF_MOV, R7, R8);
	emit_jump(e, t->found);
}

static void tree_end(struct tree *t, emit_label label, int result)
{
	struct emit *e = t->e;

	emit_label_place(e, label);
	if (result == TREE_UNREADABLE)
		emit_load(e, 8, R7, FP, FRAME_AT);
	emit_store(e, 8, R6, 0, R7);
	emit_load(e, 8, R0, FP, FRAME_BITS);
	if (result)
		emit_alu_imm(e, BPF_OR, R0, result << TREE_SHIFT);
	emit_exit(e);
}

/* Null, which the verifier believes to be possible, has no node. */
static void tree_begin(struct tree *t)
{
	struct emit *e = t->e;

	emit_alu_imm(e, BPF_MOV, R0, 0);
	emit_jump_imm(e, BPF_JEQ, R1, 0, t->out);
	emit_alu(e, BPF_MOV, R6, R1);
	emit_load(e, 8, R7, R1, 0);
	emit_alu_imm(e, BPF_MOV, R9, 0);
	emit_store(e, 8, FP, FRAME_STEPS, R4);
	emit_store(e, 8, FP, FRAME_SIDES, R2);
	emit_store(e, 8, FP, FRAME_ABOVE, R3);
	emit_store(e, 8, FP, FRAME_OWN, R5);
	emit_store_imm(e, 8, FP, FRAME_BITS, 0);
}

static void tree_generate(struct gen *gen, bool walking)
{
	struct tree t = {
		.gen = gen, .e = &gen->e, .walking = walking,
		.unreadable = emit_label_new(&gen->e),
		.lost = emit_label_new(&gen->e),
		.found = emit_label_new(&gen->e),
		.out = emit_label_new(&gen->e),
	};
	emit_label up = emit_label_new(t.e);
	int own = gen->own;

	gen->own = FRAME_OWN;
	emit_label_place(t.e, gen->tree[walking]);
	gen->subprograms[BODY_TREE + walking] = t.e->count;
	tree_begin(&t);
	tree_read(&t, R7, FRAME_SIDES + 4);
	emit_alu(t.e, BPF_MOV, R8, R1);
	emit_jump_imm(t.e, BPF_JEQ, R8, 0, up);
	tree_down(&t);
	emit_label_place(t.e, up);
	tree_up(&t);
	tree_end(&t, t.found, 0);
	tree_end(&t, t.unreadable, TREE_UNREADABLE);
	tree_end(&t, t.lost, TREE_LOST);
	emit_label_place(t.e, t.out);
	emit_exit(t.e);
	gen->own = own;
}

void trees_generate(struct gen *gen)
{
	gen_note(gen, STMT_EPILOGUE);
	for (int walking = 0; walking < 2; walking++)
		if (emit_label_used(&gen->e, gen->tree[walking]))
			tree_generate(gen, walking);
}

void tree_next_generate(struct gen *gen, const struct rpn_tree *tree, int slot)
{
	const struct gen_value node = {
		.kind = VALUE_MEMORY, .base = FP, .off = slot, .bytes = 8,
	};
	struct emit *e = &gen->e;
	struct stub *lost;

	emit_alu(e, BPF_MOV, R1, FP);
	emit_alu_imm(e, BPF_ADD, R1, slot);
	emit_const(e, R2, tree->left | (uint64_t)tree->right << 32);
	emit_const(e, R3, tree->parent);
	emit_alu_imm(e, BPF_MOV, R4, tree->steps);
	if (gen->own)
		emit_load(e, 8, R5, FP, gen->own);
	else
		emit_alu_imm(e, BPF_MOV, R5, 0);
	emit_call_label(e, gen->tree[gen->walking]);
	if (gen->walking) {
		emit_alu(e, BPF_MOV, R1, R0);
		emit_alu_imm(e, BPF_AND, R1, (1 << TREE_SHIFT) - 1);
		emit_alu(e, BPF_OR, R9, R1);
	}
	emit_alu_imm(e, BPF_RSH, R0, TREE_SHIFT);
	stub_fault_if(gen, BPF_JEQ, R0, TREE_UNREADABLE, &node);
	lost = stub_new(gen, STUB_ARITHMETIC);
	if (!lost)
		return;
	lost->value = node;
	emit_jump_imm(e, BPF_JNE, R0, 0, lost->enter);
}
