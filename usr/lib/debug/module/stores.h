/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a function may have stored in its frame before an instruction. Distances
 * are from the canonical frame address (CFA): below it is nothing of the
 * function's when it is entered.
 */
#ifndef TRCUST_STORES_H
#define TRCUST_STORES_H

#include "lib/debug/arch/arch.h"
#include "labels.h"
#include "flow.h"

struct stores;

/* Bytes of the frame. */
struct stores_slot {
	int64_t low, high;	/* [low, high) */
	/* the object that the bytes are of: a pointer to another one doesn't
	 * lead to it; low == high: its bounds aren't known */
	int64_t object_low, object_high;
};

/*
 * Of a block that the function begins with; or, with NULL, of all of its code.
 * 0, -ENOMEM; -ENOENT: there are ways in it that aren't known, or it is huge.
 */
int stores_find(const struct flow *flow, const struct labels *labels,
		uint64_t entry, const struct block *block,
		struct stores **stores);
void stores_free(struct stores *stores);

enum stores_value {
	STORES_NONE,		/* no way has led there yet */
	STORES_OTHER,		/* no address in the frame */
	STORES_FRAME,		/* CFA + *offset */
	STORES_ANY,		/* not known; also, that code isn't come to */
};

/* What the register has before the instruction. */
enum stores_value stores_register(const struct stores *stores,
				  uint64_t address, unsigned int number,
				  int64_t *offset);

/* What the stack pointer has at most instructions, of those where the frame
 * isn't empty. False: nothing that is known, or not all of the code is. */
bool stores_settled(const struct stores *stores, int64_t *offset);

/* Is there a way from the function's entry to the instruction on which one
 * before it has stored some of the slot, or may have through a pointer?
 * *leaked: on one of them a pointer to it got elsewhere. */
bool stores_before(const struct stores *stores, uint64_t address,
		   const struct stores_slot *slot, bool *leaked);

/* Is there a way from the function's entry to the instruction on which another
 * one writes the register? */
bool stores_written(const struct stores *stores, uint64_t address,
		    unsigned int number);

enum stores_relation {
	STORES_APART,		/* the instruction leaves the slot alone */
	STORES_ALL,		/* writes all of it: its write number *write
				 * has it from byte *offset on */
	STORES_MAYBE,		/* some of it, or it may */
};

/* What the instruction itself does. *leaked is what it is before the
 * instruction, and becomes what it is after it. */
enum stores_relation stores_relate(const struct stores *stores,
				   uint64_t address,
				   const struct stores_slot *slot,
				   bool *leaked, size_t *write,
				   int64_t *offset);

#endif
