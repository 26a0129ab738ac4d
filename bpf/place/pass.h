/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between the passes of placement. A function's operations are about names: 0 to
 * 9 are the registers, temps are numbered anew for each function, and a few
 * mean nothing or for a call, so that no pass has to ask what an operation
 * has. The frame is cells: the slots, and temps that are kept there.
 *
 * Each pass runs through all operations a fixed number of times, and works with
 * sets: bits per name. A body is placed in some 50 nanoseconds per operation;
 * thousands of them are, when a TDF is armed.
 */
#ifndef BPF_PLACE_PASS_H
#define BPF_PLACE_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "place.h"

#define PASS_REGS	10
#define PASS_REG_MASK	0x3ffu
#define PASS_CALLER	0x03fu		/* registers that calls destroy */
#define PASS_CALLEE	0x3c0u		/* those that they keep */
#define PASS_NONE	UINT32_MAX

enum pass_special {
	NAME_NOTHING = PASS_REGS,
	NAME_CALL,			/* a call "defines" it */
	NAME_CALL_RARE,			/* one of a rare path */
	NAME_FIRST,			/* temp */
};

/* What an operation does to dst and src */
#define ROLE_DEF_DST	0x01
#define ROLE_USE_DST	0x02
#define ROLE_USE_SRC	0x04
#define ROLE_PURE	0x08		/* needless when dst is */
#define ROLE_CALL	0x10
#define ROLE_CELL	0x20		/* `target` is a cell */
#define ROLE_JUMP	0x40		/* `target` is a block */
extern const uint8_t pass_roles[CODE_KINDS];

/* The names of an operation */
struct pass_refs {
	uint16_t def;			/* gets a value */
	uint16_t uses[2];		/* dst, src */
	uint16_t same;			/* a move: its source */
	uint16_t implied;		/* registers that are used, too */
	uint16_t destroyed;		/* registers */
	uint8_t roles;
};

struct pass_block {
	uint32_t first, end;		/* operations */
	uint32_t fall, jump;		/* blocks that follow it, or PASS_NONE */
	bool rare;
};

/* Where a temp is kept that lives across calls */
enum pass_keep {
	KEEP_NOT,			/* in a register all the time */
	KEEP_SAVED,			/* in the frame during calls */
	KEEP_FRAME,			/* in the frame, with copies */
	KEEP_CONST,			/* nowhere: it's computed again */
};

struct pass_name {
	uint32_t weight;		/* of operations with it */
	uint32_t defs;
	uint32_t def;			/* one of them */
	uint32_t cell;			/* of KEEP_FRAME, KEEP_SAVED */
	uint32_t parent;		/* a copy: of which name; or 0 */
	uint32_t block;			/* a copy: the last one that has it */
	uint8_t keep;			/* enum pass_keep */
	bool single;			/* each operation has its own copy */
	int8_t reg;			/* that it has; -1: none yet */
};

struct pass_cell {
	uint32_t bytes, weight;
	int32_t off;			/* from register 10 */
};

/* A copy that has a value where a block ends */
struct pass_span {
	struct pass_span *next;
	uint32_t name;
};

/* The operations of a function */
struct pass_text {
	struct code_op *ops;		/* CODE_LABEL: nothing any more */
	struct pass_refs *refs;
	uint32_t count;
	struct pass_block *blocks;
	uint32_t names, words;		/* of a set of names */
	/* a set for each name: of those it has conflicts with, and of those it
	 * is moved from or to */
	uint64_t *conflicts, *moves;
	uint64_t *live;			/* a set */
};

struct pass_chunk;

struct pass {
	const struct code *code;
	int error;
	struct pass_chunk *chunks;	/* memory that goes at the end */
	/* of the function */
	uint32_t block_count;
	uint32_t *postorder;		/* of its blocks */
	bool loops;
	struct pass_text in;
	struct pass_text out;		/* when temps are kept in the frame */
	struct pass_span **spans;	/* of each block of it; NULL: none */
	uint32_t calls;
	uint64_t *live_in, *live_out;	/* sets of `in`, of each block */
	struct pass_name *names;
	struct pass_cell *cells;
	uint32_t cell_count, slot_count;	/* of them */
	uint32_t frame;			/* bytes */
};

/* Zeroed memory; NULL after an error. */
void *pass_take(struct pass *p, size_t count, size_t bytes);
/* The same with what happens to be there */
void *pass_room(struct pass *p, size_t count, size_t bytes);
void pass_free(struct pass *p);
/* What has been taken since then is free again, if it was not very much. */
struct pass_mark {
	const struct pass_chunk *chunk;
	size_t used;
};
struct pass_mark pass_mark(const struct pass *p);
void pass_reuse(struct pass *p, const struct pass_mark *mark);
#define PASS_ROOM(p, array, count) \
	((array) = pass_room(p, count, sizeof(*(array))))
#define PASS_TAKE(p, array, count) \
	((array) = pass_take(p, count, sizeof(*(array))))

static inline void set_add(uint64_t *set, uint32_t name)
{
	set[name / 64] |= 1ull << name % 64;
}

static inline void set_remove(uint64_t *set, uint32_t name)
{
	set[name / 64] &= ~(1ull << name % 64);
}

static inline bool set_has(const uint64_t *set, uint32_t name)
{
	return set[name / 64] >> name % 64 & 1;
}

static inline void refs_find(struct pass_refs *refs, const struct code_op *op,
			     bool rare)
{
	uint8_t roles = pass_roles[op->kind];

	refs->def = roles & ROLE_DEF_DST ? op->dst : NAME_NOTHING;
	refs->uses[0] = roles & ROLE_USE_DST ? op->dst : NAME_NOTHING;
	refs->uses[1] = roles & ROLE_USE_SRC ? op->src : NAME_NOTHING;
	refs->same = op->kind == CODE_MOVE ? op->src : NAME_NOTHING;
	refs->implied = op->kind == CODE_EXIT;
	refs->destroyed = 0;
	refs->roles = roles;
	if (roles & ROLE_CALL) {
		refs->def = rare ? NAME_CALL_RARE : NAME_CALL;
		refs->implied = ((1u << op->args) - 1) << 1;
		refs->destroyed = PASS_CALLER;
	} else if (op->kind == CODE_ATOMIC && op->op == BPF_CMPXCHG) {
		refs->def = 0;
		refs->implied = 1;
	} else if (op->kind == CODE_ATOMIC && op->op & BPF_FETCH) {
		refs->def = op->src;
	}
}

/* The name's bit in that word of a set of so many words, or none */
static inline uint64_t word_bit(uint32_t name, uint32_t word, uint32_t words)
{
	return words == 1 || name / 64 == word ? 1ull << name % 64 : 0;
}

/*
 * From what has a value after the operation to what has one before it. This and
 * the next function are inlined for sets of one and two words, which are in the
 * processor's registers then; most functions have no larger ones.
 */
static inline void live_step(uint64_t *live, const struct pass_refs *refs,
			     uint32_t words)
{
	if (words > 2) {
		set_remove(live, refs->def);
		live[0] = (live[0] & ~(uint64_t)refs->destroyed) |
			  refs->implied;
		set_add(live, refs->uses[0]);
		set_add(live, refs->uses[1]);
		return;
	}
	for (uint32_t w = 0; w < words; w++) {
		live[w] &= ~word_bit(refs->def, w, words);
		if (!w)
			live[w] = (live[w] & ~(uint64_t)refs->destroyed) |
				  refs->implied;
		live[w] |= word_bit(refs->uses[0], w, words) |
			   word_bit(refs->uses[1], w, words);
	}
}

/* What gets a value where others have one has conflicts with them. */
static inline void conflicts_step(struct pass_text *text, const uint64_t *live,
				  const struct pass_refs *refs, uint32_t words)
{
	uint64_t *row = text->conflicts + (size_t)refs->def * words;
	bool had = words > 2 && set_has(row, refs->same);

	for (uint32_t w = 0; w < words; w++)
		row[w] |= words > 2 ? live[w] :
			  live[w] & ~word_bit(refs->same, w, words);
	if (refs->same == NAME_NOTHING)
		return;
	if (words > 2 && !had)
		set_remove(row, refs->same);
	set_add(text->moves + (size_t)refs->def * words, refs->same);
	set_add(text->moves + (size_t)refs->same * words, refs->def);
}

/* Call the function, which must be inline, with a constant number of words. */
#define WITH_WORDS(function, words, ...) \
	((words) == 1 ? function(__VA_ARGS__, 1) : \
	 (words) == 2 ? function(__VA_ARGS__, 2) : \
	 function(__VA_ARGS__, words))
#define PASS_INLINE	static inline __attribute__((always_inline))

/* order.c: all functions that are reached, in their order; then one of them. */
struct pass_order;
struct pass_order *order_make(struct pass *p);
uint32_t order_functions(const struct pass_order *order);
/* The function's number in struct code */
uint32_t order_function(struct pass *p, struct pass_order *order, uint32_t i);
/* Of a function of struct code: its place, from 0 */
uint32_t order_rank(const struct pass_order *order, code_label label);

/* live.c: the sets of `in`, without operations that are needless; weights */
void live_find(struct pass *p);
/* Sets for so many names, all empty */
void live_room(struct pass *p, struct pass_text *text, uint32_t names);

/* keep.c: which temps are in the frame; are there any? */
bool keep_choose(struct pass *p);
/* Keep this one longer in the frame; false: it can't be. */
bool keep_more(struct pass *p, uint32_t name);
/* p->out: with them there */
void keep_write(struct pass *p);

/* color.c: registers; false: some temps are kept in another way now. */
bool color_names(struct pass *p);

/* frame.c: the cells' offsets */
void frame_lay_out(struct pass *p);

#endif
