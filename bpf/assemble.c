// SPDX-License-Identifier: GPL-2.0
#include "assemble.h"

#include <errno.h>
#include <stdlib.h>

#include "emit.h"

struct assembler {
	const struct placed *placed;
	struct emit e;
	emit_label *labels;		/* of each operation, + 1 */
	emit_label *functions;
	struct body_note *notes;
	size_t note_count, note_room;
};

static void assemble_op(struct assembler *a, const struct code_op *op)
{
	struct emit *e = &a->e;

	switch ((enum code_kind)op->kind) {
	case CODE_MOVE:
		emit_alu(e, BPF_MOV, op->dst, op->src);
		break;
	case CODE_CONST:
		emit_const(e, op->dst, op->imm);
		break;
	case CODE_ALU:
		emit_alu(e, op->op, op->dst, op->src);
		break;
	case CODE_ALU_IMM:
		emit_alu_imm(e, op->op, op->dst, op->imm);
		break;
	case CODE_ZEXT32:
		emit_zext32(e, op->dst);
		break;
	case CODE_LOAD:
		emit_load(e, op->bytes, op->dst, op->src, op->off);
		break;
	case CODE_STORE:
		emit_store(e, op->bytes, op->dst, op->off, op->src);
		break;
	case CODE_STORE_IMM:
		emit_store_imm(e, op->bytes, op->dst, op->off, op->imm);
		break;
	case CODE_ATOMIC:
		emit_atomic(e, op->op, op->dst, op->off, op->src);
		break;
	case CODE_SLOT_LOAD:
		emit_load(e, op->bytes, op->dst, BPF_REG_10, op->off);
		break;
	case CODE_SLOT_STORE:
		emit_store(e, op->bytes, BPF_REG_10, op->off, op->src);
		break;
	case CODE_SLOT_STORE_IMM:
		emit_store_imm(e, op->bytes, BPF_REG_10, op->off, op->imm);
		break;
	case CODE_SLOT_ADDRESS:
		emit_alu(e, BPF_MOV, op->dst, BPF_REG_10);
		emit_alu_imm(e, BPF_ADD, op->dst, op->off);
		break;
	case CODE_MAP:
		emit_map(e, op->dst, op->imm);
		break;
	case CODE_MAP_VALUE:
		emit_map_value(e, op->dst, op->imm, op->off);
		break;
	case CODE_VARIABLE:
		emit_variable(e, op->dst, op->imm);
		break;
	case CODE_CALLBACK:
		emit_callback(e, op->dst, a->functions[op->target]);
		break;
	case CODE_CALL:
		emit_call(e, op->imm);
		break;
	case CODE_KFUNC:
		emit_kfunc(e, op->imm);
		break;
	case CODE_MODULE_KFUNC:
		emit_module_kfunc(e, op->off, op->imm);
		break;
	case CODE_CALL_LABEL:
		emit_call_label(e, a->functions[op->target]);
		break;
	case CODE_EXIT:
		emit_exit(e);
		break;
	case CODE_JUMP:
		emit_jump(e, a->labels[op->target] - 1);
		break;
	case CODE_JUMP_IF:
		emit_jump_if(e, op->op, op->dst, op->src,
			     a->labels[op->target] - 1);
		break;
	case CODE_JUMP_IMM:
		emit_jump_imm(e, op->op, op->dst, op->imm,
			      a->labels[op->target] - 1);
		break;
	case CODE_FRAME_TOUCH:
	case CODE_LABEL:
	case CODE_KINDS:
		e->error = -EINVAL;
		break;
	}
}

static void note_add(struct assembler *a, int stmt)
{
	size_t last = a->note_count;

	if (last && a->notes[last - 1].stmt == stmt)
		return;
	if (emit_array_grow(&a->notes, &a->note_room, last,
			    sizeof(*a->notes))) {
		a->e.error = -ENOMEM;
		return;
	}
	a->notes[a->note_count++] = (struct body_note){ a->e.count, stmt };
}

static void assemble_all(struct assembler *a, struct body *body)
{
	const struct placed *placed = a->placed;
	size_t function = 0;

	for (size_t i = 0; i < placed->function_count; i++)
		a->functions[i] = emit_label_new(&a->e);
	for (size_t i = 0; i < placed->count; i++) {
		const struct code_op *op = &placed->ops[i];

		if (op->kind >= CODE_JUMP && !a->labels[op->target])
			a->labels[op->target] = emit_label_new(&a->e) + 1;
	}
	for (size_t i = 0; i < placed->count && !a->e.error; i++) {
		const struct placed_function *next =
			&placed->functions[function];

		if (function < placed->function_count && next->first == i) {
			emit_label_place(&a->e, a->functions[function++]);
			if (next->kind >= 0)
				body->subprograms[next->kind] = a->e.count;
		}
		if (a->labels[i])
			emit_label_place(&a->e, a->labels[i] - 1);
		note_add(a, placed->ops[i].stmt);
		assemble_op(a, &placed->ops[i]);
	}
}

int assemble_body(struct body *body, const struct placed *placed)
{
	struct assembler a = { .placed = placed };
	int ret = -ENOMEM;

	*body = (struct body){ 0 };
	a.labels = calloc(placed->count + 1, sizeof(*a.labels));
	a.functions = calloc(placed->function_count + 1, sizeof(*a.functions));
	if (a.labels && a.functions) {
		assemble_all(&a, body);
		ret = emit_finish(&a.e);
	}
	emit_free(&a.e);
	free(a.labels);
	free(a.functions);
	if (ret) {
		free(a.e.insns);
		free(a.notes);
		*body = (struct body){ 0 };
		return ret;
	}
	body->insns = a.e.insns;
	body->count = a.e.count;
	body->notes = a.notes;
	body->note_count = a.note_count;
	return 0;
}
