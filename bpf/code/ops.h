/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writing operations (code.h). Nothing here returns an error: the first one
 * sticks, and everything after it does nothing. Jumps go to labels, which may
 * be placed later.
 */
#ifndef BPF_CODE_OPS_H
#define BPF_CODE_OPS_H

#include "code.h"

/* code_begin() may be called for a struct code that is all zeros. */
void code_begin(struct code *c);
/* 0 or the first error: also what is not finished or not placed. */
int code_finish(struct code *c);
void code_free(struct code *c);
void code_fail(struct code *c, int error);
/* From here on operations belong to this statement, or STMT_*. */
void code_note(struct code *c, int stmt);

int code_temp_new(struct code *c);
/* Aligned by 8, or by its size when that is 1, 2 or 4 */
code_slot code_slot_new(struct code *c, uint32_t bytes);

code_label code_label_new(struct code *c);
void code_label_place(struct code *c, code_label label);
/* Does a jump lead to it yet? */
bool code_label_used(const struct code *c, code_label label);

/*
 * What is written between these two is after the straight line, and what comes
 * after continues the path that was interrupted. They nest.
 */
void code_rare_begin(struct code *c);
void code_rare_end(struct code *c);
/* The same for a function, which begins at the label. */
void code_function_begin(struct code *c, int kind, code_label label);
void code_function_end(struct code *c);

void code_move(struct code *c, int dst, int src);
/* A new temp with its value */
int code_copy(struct code *c, int src);
/* op is BPF_ADD, BPF_MOV ...; imm is sign-extended to 64 bits */
void code_alu(struct code *c, int op, int dst, int src);
void code_alu_imm(struct code *c, int op, int dst, int32_t imm);
/* dst = (u32)dst */
void code_zext32(struct code *c, int dst);
void code_const(struct code *c, int dst, uint64_t value);

/* bytes is 1, 2, 4 or 8; loads are zero-extended */
void code_load(struct code *c, int bytes, int dst, int base, int off);
void code_store(struct code *c, int bytes, int base, int off, int src);
void code_store_imm(struct code *c, int bytes, int base, int off, int32_t imm);
/* 8 bytes; op is BPF_ADD, BPF_ADD | BPF_FETCH, BPF_XCHG, BPF_CMPXCHG (compares
 * with r0) */
void code_atomic(struct code *c, int op, int base, int off, int src);

void code_slot_load(struct code *c, int bytes, int dst, code_slot slot,
		    int off);
void code_slot_store(struct code *c, int bytes, code_slot slot, int off,
		     int src);
void code_slot_store_imm(struct code *c, int bytes, code_slot slot, int off,
			 int32_t imm);
void code_slot_address(struct code *c, int dst, code_slot slot, int off);
/* Touch the frame's deepest word; no slot is in use here. */
void code_frame_touch(struct code *c);

void code_map(struct code *c, int dst, int map_fd);
/* dst = address of byte `off` of the only entry of an array */
void code_map_value(struct code *c, int dst, int map_fd, uint32_t off);
/* r0 = entry of the map whose key is in the slot; none: to `missing` */
void code_lookup(struct code *c, int map_fd, code_slot key, code_label missing);
/* dst = a variable of the kernel's, by its BTF id */
void code_variable(struct code *c, int dst, uint32_t btf_id);

/* Calls use r1 on, as many as the callee has arguments; helpers are known. */
void code_call(struct code *c, int helper);
void code_kfunc(struct code *c, uint32_t btf_id, int args);
/* Of the module whose BTF is fds[place], from 1, of the program's fd_array */
void code_module_kfunc(struct code *c, int place, uint32_t btf_id, int args);
void code_call_label(struct code *c, code_label label, int args);
/* dst = the function's address, for helpers that call back */
void code_callback(struct code *c, int dst, code_label label);
/* The result is r0. */
void code_exit(struct code *c);

void code_jump(struct code *c, code_label label);
/* op is BPF_JEQ, BPF_JSGT ... */
void code_jump_if(struct code *c, int op, int dst, int src, code_label label);
void code_jump_imm(struct code *c, int op, int dst, int32_t imm,
		   code_label label);

#endif
