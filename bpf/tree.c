// SPDX-License-Identifier: GPL-2.0
/*
 * The node after a node of a binary tree, in order: the leftmost one to its
 * right, or else the first one above that it is not to the right of. Both ways
 * are loops of so many steps at most. The counter is in the frame, where the
 * verifier follows it; it goes through a loop once for each step, and what
 * follows the loop it does not walk again.
 */
#include "gen.h"

struct tree {
	struct gen *gen;
	const struct rpn_op *op;
	const int *slots;	/* TREE_* */
	emit_label done;
};

/* slot `to` = the pointer at the node in slot `node` + offset; r1 = it */
static void tree_load(struct tree *t, int to, int node, uint32_t offset)
{
	struct gen_value address = {
		.kind = VALUE_MEMORY, .base = FP, .off = t->slots[node],
		.bytes = 8, .add = offset,
	};
	struct emit *e = &t->gen->e;

	if (t->op->bytes < 8)
		emit_store_imm(e, 8, FP, t->slots[to], 0);
	emit_alu(e, BPF_MOV, R1, FP);
	emit_alu_imm(e, BPF_ADD, R1, t->slots[to]);
	item_read(t->gen, t->op->bytes, &address);
	emit_load(e, 8, R1, FP, t->slots[to]);
}

static void tree_loop(struct tree *t, emit_label head)
{
	struct emit *e = &t->gen->e;

	emit_alu_imm(e, BPF_MOV, R1, t->op->tree.steps);
	emit_store(e, 8, FP, t->slots[TREE_STEPS], R1);
	emit_label_place(e, head);
}

/* Once more from `head` on, or it is not found. */
static void tree_again(struct tree *t, emit_label head)
{
	struct stub *lost = stub_new(t->gen, STUB_ARITHMETIC);
	struct emit *e = &t->gen->e;

	if (!lost)
		return;
	lost->value = (struct gen_value){
		.kind = VALUE_MEMORY, .base = FP, .off = t->slots[TREE_NODE],
		.bytes = 8,
	};
	emit_load(e, 8, R1, FP, t->slots[TREE_STEPS]);
	emit_alu_imm(e, BPF_SUB, R1, 1);
	emit_jump_imm(e, BPF_JEQ, R1, 0, lost->enter);
	emit_store(e, 8, FP, t->slots[TREE_STEPS], R1);
	emit_jump(e, head);
}

/* r1 is to the right of the node: as far to the left as there are any. */
static void tree_down(struct tree *t)
{
	emit_label head = emit_label_new(&t->gen->e);
	struct emit *e = &t->gen->e;

	tree_loop(t, head);
	emit_load(e, 8, R1, FP, t->slots[TREE_NEAR]);
	emit_store(e, 8, FP, t->slots[TREE_NODE], R1);
	tree_load(t, TREE_NEAR, TREE_NODE, t->op->tree.left);
	emit_jump_imm(e, BPF_JEQ, R1, 0, t->done);
	tree_again(t, head);
}

/* Nothing is to the right: up, from what is to the right. 0 is above all. */
static void tree_up(struct tree *t)
{
	emit_label head = emit_label_new(&t->gen->e);
	emit_label found = emit_label_new(&t->gen->e);
	struct emit *e = &t->gen->e;

	tree_loop(t, head);
	tree_load(t, TREE_NEAR, TREE_NODE, t->op->tree.parent);
	emit_jump_imm(e, BPF_JEQ, R1, 0, found);
	tree_load(t, TREE_SIDE, TREE_NEAR, t->op->tree.right);
	emit_load(e, 8, R2, FP, t->slots[TREE_NODE]);
	emit_jump_if(e, BPF_JNE, R1, R2, found);
	emit_load(e, 8, R1, FP, t->slots[TREE_NEAR]);
	emit_store(e, 8, FP, t->slots[TREE_NODE], R1);
	tree_again(t, head);
	emit_label_place(e, found);
	emit_load(e, 8, R1, FP, t->slots[TREE_NEAR]);
	emit_store(e, 8, FP, t->slots[TREE_NODE], R1);
}

void tree_next_generate(struct gen *gen, const struct rpn_op *op,
			const int slots[TREE_SLOTS])
{
	struct tree t = {
		.gen = gen, .op = op, .slots = slots,
		.done = emit_label_new(&gen->e),
	};
	emit_label up = emit_label_new(&gen->e);

	tree_load(&t, TREE_NEAR, TREE_NODE, op->tree.right);
	emit_jump_imm(&gen->e, BPF_JEQ, R1, 0, up);
	tree_down(&t);
	emit_label_place(&gen->e, up);
	tree_up(&t);
	emit_label_place(&gen->e, t.done);
}
