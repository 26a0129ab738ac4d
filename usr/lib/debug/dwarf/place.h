/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the bytes of a value are at one address of the program: in memory, or
 * in a register, a constant, a computation; a value may have several pieces
 * (DWARF 5 section 2.6.1.2).
 */
#ifndef TRCUST_PLACE_H
#define TRCUST_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/formats/bytes.h"

enum place_kind {
	PLACE_MEMORY,	/* rpn yields its address */
	PLACE_VALUE,	/* rpn yields the value itself: 8 bytes, little-endian */
	PLACE_ABSENT,	/* nowhere: optimized out */
};

struct place_piece {
	enum place_kind kind;
	struct bytes rpn;	/* an expression of its own; ABSENT: empty */
	uint64_t bytes;		/* 0: of the only piece, as many as one asks */
	char *why;		/* ABSENT: the reason, "held in xmm0, which a
				 * probe can't read" */
};

struct place {
	struct place_piece *pieces;
	size_t count;
	bool failed;		/* out of memory; sticks */
	/* of the first piece, for people: "register rdi", "frame slot
	 * CFA-24", "global at 0x4010", "constant", "rdi at entry" */
	char where[64];
};

/* Add a piece; its rpn is empty, to be filled. NULL: no memory. */
struct place_piece *place_add(struct place *place, enum place_kind kind,
			      uint64_t bytes);
/* A place of one piece, kind, with an empty rpn. */
struct bytes *place_begin(struct place *place, enum place_kind kind);
void place_free(struct place *place);
/* Shift the top by so many bits. */
void place_emit_shift(struct bytes *rpn, uint8_t operation, uint64_t bits);

/* No piece of [offset, offset + length) is absent. *why: of the first one. */
bool place_is_known(const struct place *place, uint64_t offset,
		    uint64_t length, const char **why);
/* The part [offset, offset + length) of the bytes, as a place of its own. 0,
 * -ERANGE: the place hasn't that many, -ENOMEM. */
int place_slice(const struct place *place, uint64_t offset, uint64_t length,
		struct place *part);
/*
 * Append to rpn an expression that yields the value of [offset, offset +
 * bytes), 1 to 8 bytes, zero- or sign-extended: what is in memory is read.
 * 0, -ENODATA when a part is absent, -ERANGE; rpn is then as it was.
 */
int place_value(const struct place *place, uint64_t offset,
		unsigned int bytes, bool is_signed, struct bytes *rpn);

#endif
