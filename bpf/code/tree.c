// SPDX-License-Identifier: GPL-2.0
/*
 * The node after a node of a binary tree, in order: the leftmost one to its
 * right, or else the first one above that it is not to the right of. Both ways
 * are loops of so many steps at most.
 *
 * There is a subprogram for that, and another one that brings in what it reads
 * first (vma.c), which is global: it is verified once. The first one is verified
 * for each node, because it is called without preemption, where some kernels
 * allow no global ones (6.12); nothing of its loops is left when it returns.
 *
 * tree(&node, left | right << 32, parent, steps, own): offsets in a node, and
 * gen->own. The node becomes the next one. Returns WALK_* and one of TREE_*, for
 * which it becomes the address that can't be read, or the last node that was
 * found.
 */
#include "gen.h"

#include "lib/formats/tdf.h"

#define TREE_UNREADABLE	1
#define TREE_LOST	2
#define TREE_SHIFT	8	/* of these in the result */

struct tree {
	struct gen *gen;	/* of the subprogram */
	struct code *c;
	bool walking;
	code_slot pointer;	/* that was read */
	int result;		/* address of the node that becomes the next */
	int node, next;		/* and the one next to it, or above */
	int taken, steps;	/* so far, at most */
	int left, right, parent;	/* offsets */
	int at;			/* what is read */
	int bits;		/* WALK_* */
	code_label unreadable, lost, found, out;
};

/* reg = the pointer that the node has at the offset */
static void tree_read(struct tree *t, int node, int offset, int reg)
{
	const struct gen_value address = value_temp(t->at);
	struct code *c = t->c;
	int bytes = t->gen->plan->flat32 ? 4 : 8;

	code_move(c, t->at, offset);
	code_alu(c, BPF_ADD, t->at, node);
	if (t->gen->plan->flat32)
		code_zext32(c, t->at);
	if (t->walking) {
		code_move(c, R1, t->at);
		code_alu_imm(c, BPF_MOV, R2, bytes);
		code_alu_imm(c, BPF_MOV, R3, 0);
		code_call_label(c, t->gen->shared->bring, 3);
		code_alu(c, BPF_OR, t->bits, R0);
	}
	code_slot_store_imm(c, 8, t->pointer, 0, 0);
	code_slot_address(c, R1, t->pointer, 0);
	code_alu_imm(c, BPF_MOV, R2, bytes);
	read_call(t->gen, false, &address);
	code_jump_imm(c, BPF_JNE, R0, 0, t->unreadable);
	code_slot_load(c, 8, reg, t->pointer, 0);
}

/* What bounds the loop is a constant: the verifier of 6.1 can't follow an argument
 * back to where it comes from. */
static void tree_step(struct tree *t, code_label again)
{
	struct code *c = t->c;

	code_jump_imm(c, BPF_JEQ, t->taken, RPN_STEPS_MAX, t->lost);
	code_jump_if(c, BPF_JGE, t->taken, t->steps, t->lost);
	code_alu_imm(c, BPF_ADD, t->taken, 1);
	code_jump(c, again);
}

/* `next` is to the right: as far to the left as there are any. */
static void tree_down(struct tree *t)
{
	code_label again = code_label_new(t->c);
	struct code *c = t->c;

	code_label_place(c, again);
	code_move(c, t->node, t->next);
	tree_read(t, t->node, t->left, t->next);
	code_jump_imm(c, BPF_JEQ, t->next, 0, t->found);
	tree_step(t, again);
}

/* Nothing is to the right: up, from what is to the right. 0 is above all. */
static void tree_up(struct tree *t)
{
	code_label again = code_label_new(t->c), above = code_label_new(t->c);
	struct code *c = t->c;

	code_label_place(c, again);
	tree_read(t, t->node, t->parent, t->next);
	code_jump_imm(c, BPF_JEQ, t->next, 0, above);
	tree_read(t, t->next, t->right, R1);
	code_jump_if(c, BPF_JNE, R1, t->node, above);
	code_move(c, t->node, t->next);
	tree_step(t, again);
	code_label_place(c, above);
	code_move(c, t->node, t->next);
	code_jump(c, t->found);
}

static void tree_end(struct tree *t, code_label label, int result)
{
	struct code *c = t->c;

	code_label_place(c, label);
	code_store(c, 8, t->result, 0,
		   result == TREE_UNREADABLE ? t->at : t->node);
	code_move(c, R0, t->bits);
	if (result)
		code_alu_imm(c, BPF_OR, R0, result << TREE_SHIFT);
	code_exit(c);
}

/* Null, which the verifier believes to be possible, has no node. */
static void tree_begin(struct tree *t)
{
	struct code *c = t->c;

	code_alu_imm(c, BPF_MOV, R0, 0);
	code_jump_imm(c, BPF_JEQ, R1, 0, t->out);
	t->result = code_copy(c, R1);
	t->left = code_copy(c, R2);
	code_zext32(c, t->left);
	t->right = code_copy(c, R2);
	code_alu_imm(c, BPF_RSH, t->right, 32);
	t->parent = code_copy(c, R3);
	t->steps = code_copy(c, R4);
	t->gen->own = code_copy(c, R5);
	code_load(c, 8, t->node, t->result, 0);
	code_alu_imm(c, BPF_MOV, t->taken, 0);
	code_alu_imm(c, BPF_MOV, t->bits, 0);
}

static void tree_generate(const struct gen *of, bool walking)
{
	struct gen gen = *of;
	struct code *c = gen.c;
	struct tree t = {
		.gen = &gen, .c = c, .walking = walking,
		.pointer = code_slot_new(c, 8),
		.node = code_temp_new(c), .next = code_temp_new(c),
		.taken = code_temp_new(c), .at = code_temp_new(c),
		.bits = code_temp_new(c),
		.unreadable = code_label_new(c), .lost = code_label_new(c),
		.found = code_label_new(c), .out = code_label_new(c),
	};
	code_label up = code_label_new(c);

	code_function_begin(c, BODY_TREE + walking, gen.shared->tree[walking]);
	tree_begin(&t);
	tree_read(&t, t.node, t.right, t.next);
	code_jump_imm(c, BPF_JEQ, t.next, 0, up);
	tree_down(&t);
	code_label_place(c, up);
	tree_up(&t);
	tree_end(&t, t.found, 0);
	tree_end(&t, t.unreadable, TREE_UNREADABLE);
	tree_end(&t, t.lost, TREE_LOST);
	code_label_place(c, t.out);
	code_exit(c);
	code_function_end(c);
}

void trees_generate(struct gen *gen)
{
	gen_note(gen, STMT_EPILOGUE);
	for (int walking = 0; walking < 2; walking++)
		if (code_label_used(gen->c, gen->shared->tree[walking]))
			tree_generate(gen, walking);
}

void tree_next_generate(struct gen *gen, const struct rpn_tree *tree,
			code_slot node)
{
	const struct gen_value there = value_slot(node, 0, 8);
	bool walking = gen->version == VERSION_WALK;
	struct code *c = gen->c;
	int result;

	code_slot_address(c, R1, node, 0);
	code_const(c, R2, tree->left | (uint64_t)tree->right << 32);
	code_const(c, R3, tree->parent);
	code_alu_imm(c, BPF_MOV, R4, tree->steps);
	if (gen->plan->own)
		code_move(c, R5, gen->own);
	else
		code_alu_imm(c, BPF_MOV, R5, 0);
	code_call_label(c, gen->shared->tree[walking], 5);
	result = code_copy(c, R0);
	if (walking) {
		code_move(c, R1, R0);
		code_alu_imm(c, BPF_AND, R1, (1 << TREE_SHIFT) - 1);
		paging_bits_add(gen, R1);
	}
	code_alu_imm(c, BPF_RSH, result, TREE_SHIFT);
	fault_unreadable_if(gen, BPF_JEQ, result, TREE_UNREADABLE, &there);
	fault_raise_if(gen, BPF_JNE, result, 0, &there, RAS_ITEM_ARITHMETIC);
}
