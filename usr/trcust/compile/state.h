/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registers and memory along a straight line of code, relative to what they had
 * where it begins.
 */
#ifndef TRCUST_STATE_H
#define TRCUST_STATE_H

#include "lib/debug/arch/arch.h"

/* What a value is relative to: below ARCH_REGISTERS what the register had at
 * the beginning, from STATE_OTHERS on what an instruction has made. */
enum {
	STATE_NUMBER = ARCH_REGISTERS,	/* 0 */
	STATE_FIXED,		/* the load bias */
	STATE_THREAD,		/* the base of the thread's variables */
	STATE_NONE,		/* not known; equal to nothing */
	STATE_VECTORS,		/* what a vector register had then */
	STATE_VECTORS_LAST = STATE_VECTORS + ARCH_VECTORS - 1,
	STATE_OTHERS,
};

/* The low `bytes` of base + add, extended by zeros or the sign. */
struct state_value {
	unsigned int base;
	int64_t add;
	uint8_t bytes;
	uint8_t known;		/* of the result: so many low bytes, 1 to 8 */
	bool is_signed;
};

/* Memory: an address, and how much there is. */
struct state_range {
	struct state_value address;
	bool clean;		/* of an address with STATE_NONE: as in
				 * struct state_other */
	unsigned int bytes;	/* 0: not known */
};

struct state_other {
	bool is_memory;		/* what `memory` had at the beginning, and has
				 * when it is read */
	struct state_range memory;
	bool clean;		/* no address below the stack pointer where the
				 * code begins can have been made of it */
	struct state_value copied;	/* the register it was copied from,
					 * which is known in part only */
};

struct state_write {
	size_t at;		/* number of the instruction */
	struct state_range to;
	struct state_value value;
};

struct state {
	const struct arch *arch;
	unsigned int width;	/* of a register */
	unsigned int stack;	/* the stack pointer */
	int frame;		/* a register that leads to the frame; -1 */
	bool fresh;		/* nothing leads below the stack pointer where
				 * the code begins */
	struct state_value registers[ARCH_REGISTERS];
	struct state_value low[ARCH_VECTORS];	/* halves of vector registers */
	struct state_other *others;
	size_t other_count, other_room;
	struct state_write *writes;	/* in order */
	size_t write_count, write_room;
	/* the instruction since which memory may lead below the stack pointer
	 * of the beginning */
	size_t escaped;
	bool vectors;		/* other registers than those may */
	bool failed;		/* out of memory; sticks */
};

void state_begin(struct state *state, const struct arch *arch, int frame,
		 bool fresh);
void state_end(struct state *state);
/* After instruction `at`. */
void state_step(struct state *state, size_t at, const struct arch_insn *insn,
		const struct arch_effect *effect);

/* Of the registers there: STATE_NONE in its base when it can't be known. */
struct state_range state_range_of(const struct state *state,
				  const struct arch_memory *memory);
/* All of an address is base + add. */
bool state_is_linear(const struct state *state,
		     const struct state_value *value);
/* Relative to the stack pointer or the frame. */
bool state_is_stack(const struct state *state, const struct state_value *value);
bool state_is_clean(const struct state *state, unsigned int base);
/* The same of what is read at an address that is `clean`: what is below the
 * stack pointer may be left over from earlier calls, and lead anywhere. */
bool state_leads_clean(const struct state *state,
		       const struct state_value *address, bool clean);
/* The bytes that are known of both are the same; of all of a register. */
bool state_is_alike(const struct state_value *a, const struct state_value *b);
bool state_is_same(const struct state *state, const struct state_value *a,
		   const struct state_value *b);

/* The low bytes of value + add, extended; what they are extended to may not be
 * known. False: that's no such value. */
bool state_extend(const struct state_value *value, int64_t add,
		  unsigned int bytes, bool is_signed, struct state_value *out);

enum state_relation {
	STATE_DISJOINT,
	STATE_INSIDE,		/* all of the first is in the second */
	STATE_OVERLAP,		/* or it may */
};

/* The last of the writes before number `before` that may have changed the
 * memory; NULL: none. */
const struct state_write *state_write_find(const struct state *state,
					   const struct state_range *range,
					   size_t before,
					   enum state_relation *relation);

#endif
