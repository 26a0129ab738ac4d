// SPDX-License-Identifier: GPL-2.0
#include "emit.h"

#include <errno.h>
#include <stdlib.h>

int emit_array_grow(void *array, size_t *room, size_t count, size_t entry)
{
	void **pointer = array, *grown;
	size_t more = *room ? *room * 2 : 64;

	if (count < *room)
		return 0;
	grown = realloc(*pointer, more * entry);
	if (!grown)
		return -ENOMEM;
	*pointer = grown;
	*room = more;
	return 0;
}

static void emit_insn(struct emit *e, int code, int dst, int src, int off,
		      int32_t imm)
{
	if (!e->error && (off < INT16_MIN || off > INT16_MAX))
		e->error = -E2BIG;
	if (!e->error)
		e->error = emit_array_grow(&e->insns, &e->room, e->count,
					   sizeof(*e->insns));
	if (e->error)
		return;
	e->insns[e->count++] = (struct bpf_insn){
		.code = code, .dst_reg = dst, .src_reg = src, .off = off,
		.imm = imm,
	};
}

emit_label emit_label_new(struct emit *e)
{
	if (!e->error)
		e->error = emit_array_grow(&e->labels, &e->label_room,
					   e->label_count, sizeof(*e->labels));
	if (e->error)
		return 0;
	e->labels[e->label_count] = (struct emit_place){ .insn = -1 };
	return e->label_count++;
}

void emit_label_place(struct emit *e, emit_label label)
{
	if (!e->error)
		e->labels[label].insn = e->count;
}

/* The next instruction leads to the label. */
static void jump_add(struct emit *e, emit_label label, bool in_imm)
{
	if (!e->error)
		e->error = emit_array_grow(&e->jumps, &e->jump_room,
					   e->jump_count, sizeof(*e->jumps));
	if (e->error)
		return;
	e->jumps[e->jump_count++] = (struct emit_jump){
		e->count, label, in_imm,
	};
}

static void emit_branch(struct emit *e, int code, int dst, int src,
			int32_t imm, emit_label label)
{
	jump_add(e, label, false);
	emit_insn(e, code, dst, src, 0, imm);
}

void emit_jump(struct emit *e, emit_label label)
{
	emit_branch(e, BPF_JMP | BPF_JA, 0, 0, 0, label);
}

void emit_jump_if(struct emit *e, int op, int dst, int src, emit_label label)
{
	emit_branch(e, BPF_JMP | op | BPF_X, dst, src, 0, label);
}

void emit_jump_imm(struct emit *e, int op, int dst, int32_t imm,
		   emit_label label)
{
	emit_branch(e, BPF_JMP | op | BPF_K, dst, 0, imm, label);
}

int emit_finish(struct emit *e)
{
	for (size_t i = 0; i < e->jump_count && !e->error; i++) {
		const struct emit_jump *jump = &e->jumps[i];
		int64_t off = e->labels[jump->label].insn - jump->insn - 1;

		if (e->labels[jump->label].insn < 0)
			e->error = -EINVAL;
		else if (jump->in_imm)
			e->insns[jump->insn].imm = off;
		else if (off < INT16_MIN || off > INT16_MAX)
			e->error = -E2BIG;
		else
			e->insns[jump->insn].off = off;
	}
	return e->error;
}

void emit_free(struct emit *e)
{
	free(e->labels);
	free(e->jumps);
}

void emit_alu(struct emit *e, int op, int dst, int src)
{
	emit_insn(e, BPF_ALU64 | op | BPF_X, dst, src, 0, 0);
}

void emit_alu_imm(struct emit *e, int op, int dst, int32_t imm)
{
	emit_insn(e, BPF_ALU64 | op | BPF_K, dst, 0, 0, imm);
}

void emit_zext32(struct emit *e, int dst)
{
	emit_insn(e, BPF_ALU | BPF_MOV | BPF_X, dst, dst, 0, 0);
}

static void emit_wide(struct emit *e, int dst, int src, uint32_t low,
		      uint32_t high)
{
	emit_insn(e, BPF_LD | BPF_DW | BPF_IMM, dst, src, 0, low);
	emit_insn(e, 0, 0, 0, 0, high);
}

void emit_const(struct emit *e, int dst, uint64_t value)
{
	if ((int64_t)value == (int32_t)value)
		emit_alu_imm(e, BPF_MOV, dst, value);
	else
		emit_wide(e, dst, 0, value, value >> 32);
}

static int size_code(int bytes)
{
	return bytes == 1 ? BPF_B : bytes == 2 ? BPF_H :
	       bytes == 4 ? BPF_W : BPF_DW;
}

void emit_load(struct emit *e, int bytes, int dst, int base, int off)
{
	emit_insn(e, BPF_LDX | BPF_MEM | size_code(bytes), dst, base, off, 0);
}

void emit_store(struct emit *e, int bytes, int base, int off, int src)
{
	emit_insn(e, BPF_STX | BPF_MEM | size_code(bytes), base, src, off, 0);
}

void emit_store_imm(struct emit *e, int bytes, int base, int off,
		    int32_t imm)
{
	emit_insn(e, BPF_ST | BPF_MEM | size_code(bytes), base, 0, off, imm);
}

void emit_atomic(struct emit *e, int op, int base, int off, int src)
{
	emit_insn(e, BPF_STX | BPF_ATOMIC | BPF_DW, base, src, off, op);
}

void emit_map(struct emit *e, int dst, int map_fd)
{
	emit_wide(e, dst, BPF_PSEUDO_MAP_FD, map_fd, 0);
}

void emit_map_value(struct emit *e, int dst, int map_fd, uint32_t off)
{
	emit_wide(e, dst, BPF_PSEUDO_MAP_VALUE, map_fd, off);
}

void emit_variable(struct emit *e, int dst, uint32_t btf_id)
{
	emit_wide(e, dst, BPF_PSEUDO_BTF_ID, btf_id, 0);
}

void emit_lookup(struct emit *e, int map_fd, int key, emit_label missing)
{
	emit_map(e, BPF_REG_1, map_fd);
	emit_alu(e, BPF_MOV, BPF_REG_2, BPF_REG_10);
	emit_alu_imm(e, BPF_ADD, BPF_REG_2, key);
	emit_call(e, BPF_FUNC_map_lookup_elem);
	emit_jump_imm(e, BPF_JEQ, BPF_REG_0, 0, missing);
}

void emit_call(struct emit *e, int helper)
{
	emit_insn(e, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

void emit_kfunc(struct emit *e, uint32_t btf_id)
{
	emit_insn(e, BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, 0, btf_id);
}

void emit_module_kfunc(struct emit *e, int place, uint32_t btf_id)
{
	emit_insn(e, BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, place,
		  btf_id);
}

void emit_call_label(struct emit *e, emit_label label)
{
	jump_add(e, label, true);
	emit_insn(e, BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, 0);
}

void emit_callback(struct emit *e, int dst, emit_label label)
{
	jump_add(e, label, true);
	emit_wide(e, dst, BPF_PSEUDO_FUNC, 0, 0);
}

void emit_exit(struct emit *e)
{
	emit_insn(e, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}
