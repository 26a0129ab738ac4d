/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs operations, before and after placement, and adds up what others would see
 * of them: stores, calls, and results. Registers, temps and frames that have no
 * value yet have others in each run.
 */
#ifndef RASTRACE_EVALUATE_H
#define RASTRACE_EVALUATE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "bpf/code/code.h"
#include "bpf/place/place.h"

#define EVALUATE_STEPS	200000
#define EVALUATE_WORDS	64
#define POINTER		0x7f5a000000000000ull	/* into a frame */

struct evaluation {
	const struct code_op *ops;
	const uint32_t *next;		/* of each operation; NULL: the next */
	const uint32_t *labels;		/* operation of each; NULL: none */
	const uint32_t *functions;	/* their first operations */
	const int *kinds;
	const uint32_t *slots;		/* where each is; NULL: at r10 */
	uint32_t function_count, label_functions;
	const struct code_func *code_functions;
	uint32_t frame_bytes;
	int regs;
	uint64_t memory[EVALUATE_WORDS];
	uint64_t seen;			/* of all that happened */
	uint64_t noise;
	uint32_t calls, steps;
	int error;
};

static uint64_t evaluate_mix(uint64_t a, uint64_t b)
{
	a = (a ^ b) * 0x9e3779b97f4a7c15ull;
	return a ^ a >> 29;
}

static void evaluate_see(struct evaluation *v, uint64_t what)
{
	v->seen = evaluate_mix(v->seen, what + 1);
}

static uint64_t evaluate_noise(struct evaluation *v)
{
	return v->noise = evaluate_mix(v->noise, 77);
}

static uint64_t evaluate_alu(int op, uint64_t a, uint64_t b)
{
	switch (op) {
	case BPF_ADD:	return a + b;
	case BPF_SUB:	return a - b;
	case BPF_MUL:	return a * b;
	case BPF_DIV:	return b ? a / b : 0;
	case BPF_MOD:	return b ? a % b : a;
	case BPF_OR:	return a | b;
	case BPF_AND:	return a & b;
	case BPF_XOR:	return a ^ b;
	case BPF_LSH:	return a << (b & 63);
	case BPF_RSH:	return a >> (b & 63);
	case BPF_ARSH:	return (int64_t)a >> (b & 63);
	default:	return -a;
	}
}

static bool evaluate_compare(int op, uint64_t a, uint64_t b)
{
	switch (op) {
	case BPF_JEQ:	return a == b;
	case BPF_JNE:	return a != b;
	case BPF_JGT:	return a > b;
	case BPF_JGE:	return a >= b;
	case BPF_JLT:	return a < b;
	case BPF_JLE:	return a <= b;
	case BPF_JSGT:	return (int64_t)a > (int64_t)b;
	case BPF_JSLT:	return (int64_t)a < (int64_t)b;
	default:	return (a & b) != 0;
	}
}

static bool evaluate_is_pointer(uint64_t value)
{
	return (value & 0xffff000000000000ull) == POINTER;
}

/* Memory of the frame, or of others */
static unsigned char *evaluate_memory(struct evaluation *v, uint64_t address,
				      unsigned char *frame, uint32_t bytes)
{
	if (!evaluate_is_pointer(address))
		return (unsigned char *)v->memory +
		       (address & (8 * EVALUATE_WORDS - 8));
	address -= POINTER;
	if (address + bytes > v->frame_bytes) {
		v->error = -1;
		return frame;
	}
	return frame + address;
}

static uint64_t evaluate_call(struct evaluation *v, const struct code_op *op,
			      const uint64_t *regs, unsigned char *frame)
{
	uint64_t result = evaluate_mix(op->imm, ++v->calls);
	unsigned char *memory;

	for (int i = 1; i <= op->args; i++) {
		uint64_t arg = regs[i];
		uint32_t bytes = op->kind != CODE_CALL ? 8 :
				 op->imm == BPF_FUNC_probe_read_user ? regs[2] :
				 i == 2 ? 4 : 8;

		if (!evaluate_is_pointer(arg)) {
			evaluate_see(v, arg);
			result = evaluate_mix(result, arg);
			continue;
		}
		memory = evaluate_memory(v, arg, frame, bytes);
		for (uint32_t n = 0; n < bytes; n++) {
			if (op->kind == CODE_CALL &&
			    op->imm == BPF_FUNC_probe_read_user)
				memory[n] = evaluate_mix(regs[3], n + v->calls);
			else
				evaluate_see(v, memory[n]);
		}
	}
	evaluate_see(v, result);
	return result & 1 ? result : 0;
}

static uint64_t evaluate_function(struct evaluation *v, uint32_t function,
				  const uint64_t *args, int count);

/* The function at a label, or with a number after placement */
static uint32_t evaluate_target(const struct evaluation *v, uint32_t target)
{
	if (!v->labels)
		return target;
	for (uint32_t i = 1; i < v->function_count; i++)
		if (v->code_functions[i].label == target)
			return i;
	return 0;
}

static void evaluate_op(struct evaluation *v, const struct code_op *op,
			uint64_t *regs, unsigned char *frame)
{
	bool slot = op->kind >= CODE_SLOT_LOAD && op->kind <= CODE_SLOT_ADDRESS;
	uint32_t at = op->off + (!slot || !v->slots ? v->frame_bytes :
				 v->slots[op->target]);
	uint64_t *dst = &regs[op->dst], *src = &regs[op->src], old;
	unsigned char *memory;

	switch (op->kind) {
	case CODE_MOVE:
		*dst = *src;
		break;
	case CODE_CONST:
		*dst = op->imm;
		break;
	case CODE_ALU:
		*dst = evaluate_alu(op->op, *dst, *src);
		break;
	case CODE_ALU_IMM:
		*dst = evaluate_alu(op->op, *dst, op->imm);
		break;
	case CODE_ZEXT32:
		*dst = (uint32_t)*dst;
		break;
	case CODE_LOAD:
		memory = evaluate_memory(v, *src + op->off, frame, op->bytes);
		*dst = 0;
		memcpy(dst, memory, op->bytes);
		break;
	case CODE_STORE:
	case CODE_STORE_IMM:
		old = op->kind == CODE_STORE ? *src : op->imm;
		memory = evaluate_memory(v, *dst + op->off, frame, op->bytes);
		memcpy(memory, &old, op->bytes);
		if (evaluate_is_pointer(*dst))
			break;
		evaluate_see(v, *dst + op->off);
		evaluate_see(v, op->bytes == 8 ? old :
			     old & ((1ull << 8 * op->bytes) - 1));
		break;
	case CODE_ATOMIC:
		memory = evaluate_memory(v, *dst + op->off, frame, 8);
		memcpy(&old, memory, 8);
		evaluate_see(v, old);
		evaluate_see(v, *src);
		if (op->op == BPF_CMPXCHG) {
			if (old == regs[0])
				memcpy(memory, src, 8);
			regs[0] = old;
			break;
		}
		old = op->op == BPF_XCHG ? *src : old + *src;
		if (op->op & BPF_FETCH)
			memcpy(src, memory, 8);
		memcpy(memory, &old, 8);
		break;
	case CODE_SLOT_LOAD:
		*dst = 0;
		memcpy(dst, frame + at, op->bytes);
		break;
	case CODE_SLOT_STORE:
		memcpy(frame + at, src, op->bytes);
		break;
	case CODE_SLOT_STORE_IMM:
		memcpy(frame + at, &op->imm, op->bytes);
		break;
	case CODE_SLOT_ADDRESS:
		*dst = POINTER + at;
		break;
	case CODE_MAP:
	case CODE_MAP_VALUE:
	case CODE_VARIABLE:
		*dst = evaluate_mix(op->kind, op->imm + op->off) >> 20;
		break;
	case CODE_CALLBACK:
		*dst = v->kinds[evaluate_target(v, op->target)];
		break;
	case CODE_CALL:
	case CODE_KFUNC:
	case CODE_MODULE_KFUNC:
		regs[0] = evaluate_call(v, op, regs, frame);
		break;
	case CODE_CALL_LABEL:
		regs[0] = evaluate_function(v, evaluate_target(v, op->target),
					    regs, op->args);
		break;
	}
	if (op->kind >= CODE_CALL && op->kind <= CODE_CALL_LABEL)
		for (int i = 1; i <= 5; i++)
			regs[i] = evaluate_noise(v);
}

static uint64_t evaluate_function(struct evaluation *v, uint32_t function,
				  const uint64_t *args, int count)
{
	uint64_t *regs = calloc(v->regs, sizeof(*regs)), result;
	unsigned char *frame = malloc(v->frame_bytes + 8);
	uint32_t at = v->functions[function];

	for (int i = 0; i < v->regs; i++)
		regs[i] = evaluate_noise(v) >> 8;
	for (uint32_t i = 0; i < v->frame_bytes; i++)
		frame[i] = evaluate_noise(v);
	for (int i = 1; i <= count; i++)
		regs[i] = args[i];
	while (!v->error) {
		const struct code_op *op = &v->ops[at];
		bool jump = op->kind == CODE_JUMP;

		if (++v->steps > EVALUATE_STEPS)
			v->error = -2;
		if (op->kind == CODE_EXIT)
			break;
		if (op->kind == CODE_JUMP_IF)
			jump = evaluate_compare(op->op, regs[op->dst],
						regs[op->src]);
		else if (op->kind == CODE_JUMP_IMM)
			jump = evaluate_compare(op->op, regs[op->dst], op->imm);
		else
			evaluate_op(v, op, regs, frame);
		if (jump)
			at = v->labels ? v->labels[op->target] : op->target;
		else
			at = v->next ? v->next[at] : at + 1;
	}
	result = regs[0];
	free(regs);
	free(frame);
	return result;
}

/* What `code` does: seen, and the result */
static void evaluate_code(struct evaluation *v, const struct code *code)
{
	uint32_t *next = calloc(code->count + 1, sizeof(*next));
	uint32_t *labels = calloc(code->label_count + 1, sizeof(*labels));
	uint32_t *last = calloc(code->path_count + 1, sizeof(*last));
	uint32_t *functions = calloc(code->function_count, sizeof(*functions));
	uint32_t *slots = calloc(code->slot_count + 1, sizeof(*slots));
	int *kinds = calloc(code->function_count, sizeof(*kinds));
	uint64_t none[6] = { 0 };

	*v = (struct evaluation){
		.ops = code->ops, .next = next, .labels = labels,
		.functions = functions, .kinds = kinds, .slots = slots,
		.function_count = code->function_count,
		.code_functions = code->functions,
		.regs = CODE_TEMP + code->temps, .noise = 1,
	};
	for (uint32_t i = 0; i < code->slot_count; i++) {
		slots[i] = v->frame_bytes;
		v->frame_bytes += (code->slots[i] + 7) & ~7u;
	}
	for (uint32_t i = 0; i < code->function_count; i++)
		kinds[i] = code->functions[i].kind;
	for (uint32_t i = 0; i < code->path_count; i++)
		last[i] = UINT32_MAX;
	for (uint32_t i = 0; i < code->count; i++) {
		const struct code_op *op = &code->ops[i];
		uint32_t function = code->paths[op->path].function;

		if (last[op->path] != UINT32_MAX)
			next[last[op->path]] = i;
		else if (code->functions[function].path == op->path)
			functions[function] = i;
		last[op->path] = i;
		if (op->kind == CODE_LABEL)
			labels[op->target] = i;
	}
	evaluate_see(v, evaluate_function(v, 0, none, 0));
	free(next);
	free(labels);
	free(last);
	free(functions);
	free(slots);
	free(kinds);
}

static void evaluate_placed(struct evaluation *v, const struct placed *placed)
{
	uint32_t *functions = calloc(placed->function_count,
				     sizeof(*functions));
	int *kinds = calloc(placed->function_count, sizeof(*kinds));
	uint64_t none[6] = { 0 };

	*v = (struct evaluation){
		.ops = placed->ops, .functions = functions, .kinds = kinds,
		.function_count = placed->function_count,
		.frame_bytes = 512, .regs = 10, .noise = 2,
	};
	for (uint32_t i = 0; i < placed->function_count; i++) {
		functions[i] = placed->functions[i].first;
		kinds[i] = placed->functions[i].kind;
	}
	evaluate_see(v, evaluate_function(v, 0, none, 0));
	free(functions);
	free(kinds);
}

#endif
