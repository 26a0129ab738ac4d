/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A body as operations: eBPF instructions whose registers, frame and order are
 * not decided yet. Placement (bpf/place) decides them.
 *
 * Registers
 *	0 to 5		where calls want their arguments and leave results;
 *			calls destroy them
 *	6 to 9		kept across calls, as their users agree
 *	from CODE_TEMP	temps, as many as wanted; each may be assigned several
 *			times, and keeps its value across calls
 * The frame is a set of slots: pieces of memory without an offset. A slot keeps
 * what is in it from its first mention on any way to the last one. Register 10
 * is not used directly.
 *
 * Every operation belongs to a path. Path 0 is the straight line of the
 * program; a rare path goes after all paths that were begun before it. Each path
 * belongs to a function: 0 is the program itself, the others are subprograms. A
 * path does not run into the next one: its last operation is a jump or an exit.
 */
#ifndef BPF_CODE_CODE_H
#define BPF_CODE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/bpf.h>

#define CODE_TEMP	16
#define CODE_TEMPS_MOST	(INT16_MAX - CODE_TEMP)

/* Instead of a statement's index */
#define STMT_PROLOGUE	(-1)
#define STMT_EPILOGUE	(-2)

typedef uint32_t code_label;
typedef uint32_t code_slot;

enum code_kind {
	CODE_MOVE,		/* dst = src */
	CODE_CONST,		/* dst = imm, 64 bits */
	CODE_ALU,		/* dst = dst `op` src; op is BPF_ADD ... */
	CODE_ALU_IMM,		/* dst = dst `op` imm, sign-extended */
	CODE_ZEXT32,		/* dst = (u32)dst */
	/* `bytes` is 1, 2, 4 or 8; loads are zero-extended */
	CODE_LOAD,		/* dst = *(src + off) */
	CODE_STORE,		/* *(dst + off) = src */
	CODE_STORE_IMM,		/* *(dst + off) = imm */
	CODE_ATOMIC,		/* `op` on *(dst + off), 8 bytes, with src */
	CODE_SLOT_LOAD,		/* dst = byte `off` of slot `target` and on */
	CODE_SLOT_STORE,
	CODE_SLOT_STORE_IMM,
	CODE_SLOT_ADDRESS,	/* dst = address of byte `off` of the slot */
	CODE_FRAME_TOUCH,	/* touch the deepest word of the frame */
	CODE_MAP,		/* dst = the map with the fd imm */
	CODE_MAP_VALUE,		/* dst = byte `off` of its only entry */
	CODE_VARIABLE,		/* dst = variable with the BTF id imm */
	CODE_CALLBACK,		/* dst = the function at label `target` */
	/* calls: they use r1 to r`args` */
	CODE_CALL,		/* helper imm */
	CODE_KFUNC,		/* BTF id imm */
	CODE_MODULE_KFUNC,	/* BTF id imm, of the module at `off` */
	CODE_CALL_LABEL,	/* the function at label `target` */
	CODE_EXIT,
	CODE_LABEL,		/* label `target` is here */
	CODE_JUMP,		/* to label `target` */
	CODE_JUMP_IF,		/* when dst `op` src; op is BPF_JEQ ... */
	CODE_JUMP_IMM,		/* when dst `op` imm */
	CODE_KINDS
};

struct code_op {
	uint8_t kind;		/* enum code_kind */
	uint8_t op, bytes, args;
	int16_t dst, src;
	int32_t off;
	uint32_t target;
	uint32_t path;
	int32_t stmt;		/* that it belongs to; STMT_* */
	uint64_t imm;
};

struct code_path {
	uint32_t function;
	uint32_t parent;	/* path that it was begun in */
};

#define CODE_MAIN	(-1)	/* kind of function 0 */

struct code_func {
	int kind;		/* index of struct body's subprograms */
	code_label label;	/* where it begins; not of function 0 */
	uint32_t path;		/* its straight line */
};

struct code_label_state {
	bool placed, used;	/* a jump leads to it */
};

struct code {
	struct code_op *ops;	/* in the order of writing */
	size_t count, room;
	struct code_path *paths;
	size_t path_count, path_room;
	struct code_func *functions;
	size_t function_count, function_room;
	struct code_label_state *labels;
	size_t label_count, label_room;
	uint32_t *slots;	/* bytes of each */
	size_t slot_count, slot_room;
	int temps;		/* registers so far: CODE_TEMP + temps */
	uint32_t path;		/* of what is being written */
	int stmt;
	int error;		/* negative errno */
};

#endif
