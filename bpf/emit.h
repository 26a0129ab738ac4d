/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writing eBPF instructions. Nothing here returns an error: the first one
 * sticks, everything after it does nothing, emit_finish() returns it. Jumps go
 * to labels, which may be placed later.
 */
#ifndef BPF_EMIT_H
#define BPF_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/bpf.h>

struct emit_jump {
	uint32_t insn, label;
	bool in_imm;			/* the distance goes there, not into off */
};

struct emit_place {
	int64_t insn;			/* -1 while not placed */
};

struct emit {
	struct bpf_insn *insns;
	size_t count, room;
	struct emit_place *labels;
	size_t label_count, label_room;
	struct emit_jump *jumps;	/* to be resolved */
	size_t jump_count, jump_room;
	int error;			/* negative errno */
};

typedef uint32_t emit_label;

/* Resolve the jumps; 0 or the first error. e->insns stays the caller's. */
int emit_finish(struct emit *e);
/* Free all but e->insns. */
void emit_free(struct emit *e);
/* Make room for one more entry after count; 0 or -ENOMEM. */
int emit_array_grow(void *array, size_t *room, size_t count, size_t entry);

emit_label emit_label_new(struct emit *e);
void emit_label_place(struct emit *e, emit_label label);

/* op is BPF_ADD, BPF_MOV ...; imm is sign-extended to 64 bits */
void emit_alu(struct emit *e, int op, int dst, int src);
void emit_alu_imm(struct emit *e, int op, int dst, int32_t imm);
/* dst = (u32)dst */
void emit_zext32(struct emit *e, int dst);
/* dst = value, in one instruction where it fits */
void emit_const(struct emit *e, int dst, uint64_t value);

/* bytes is 1, 2, 4 or 8; loads are zero-extended */
void emit_load(struct emit *e, int bytes, int dst, int base, int off);
void emit_store(struct emit *e, int bytes, int base, int off, int src);
void emit_store_imm(struct emit *e, int bytes, int base, int off,
		    int32_t imm);
/* 8 bytes; op is BPF_ADD, BPF_ADD | BPF_FETCH, BPF_XCHG, BPF_CMPXCHG (compares
 * with r0) */
void emit_atomic(struct emit *e, int op, int base, int off, int src);

void emit_map(struct emit *e, int dst, int map_fd);
/* dst = address of byte `off` of the only entry of an array */
void emit_map_value(struct emit *e, int dst, int map_fd, uint32_t off);

/* r0 = entry of the map whose key is at r10 + key; none: to `missing`. Uses r1
 * to r5. */
void emit_lookup(struct emit *e, int map_fd, int key, emit_label missing);

/* dst = a variable of the kernel's, by its BTF id */
void emit_variable(struct emit *e, int dst, uint32_t btf_id);

void emit_call(struct emit *e, int helper);
void emit_kfunc(struct emit *e, uint32_t btf_id);
/* One of the module whose BTF is fds[place], from 1, of the program's fd_array. */
void emit_module_kfunc(struct emit *e, int place, uint32_t btf_id);
/* Of a subprogram of this program, which begins at the label. */
void emit_call_label(struct emit *e, emit_label label);
/* dst = its address, for helpers that call back */
void emit_callback(struct emit *e, int dst, emit_label label);
void emit_exit(struct emit *e);

void emit_jump(struct emit *e, emit_label label);
/* op is BPF_JEQ, BPF_JSGT ... */
void emit_jump_if(struct emit *e, int op, int dst, int src, emit_label label);
void emit_jump_imm(struct emit *e, int op, int dst, int32_t imm,
		   emit_label label);

#endif
