// SPDX-License-Identifier: GPL-2.0
#include "place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/formats/rpn.h"

#define VALUE_BYTES	8	/* of what an expression yields */

struct place_piece *place_add(struct place *place, enum place_kind kind,
			      uint64_t bytes)
{
	struct place_piece *grown = realloc(place->pieces, (place->count + 1) *
					    sizeof(*grown));

	if (!grown) {
		place->failed = true;
		return NULL;
	}
	place->pieces = grown;
	grown += place->count++;
	*grown = (struct place_piece){ .kind = kind, .bytes = bytes };
	return grown;
}

struct bytes *place_begin(struct place *place, enum place_kind kind)
{
	struct place_piece *piece;

	memset(place, 0, sizeof(*place));
	piece = place_add(place, kind, 0);
	return piece ? &piece->rpn : NULL;
}

void place_free(struct place *place)
{
	for (size_t i = 0; i < place->count; i++) {
		bytes_free(&place->pieces[i].rpn);
		free(place->pieces[i].why);
	}
	free(place->pieces);
	memset(place, 0, sizeof(*place));
}

/* A range of a place's bytes, walked piece by piece. */
struct place_walk {
	const struct place *place;
	size_t next;
	uint64_t skip, left;	/* bytes before the range; still in it */

	const struct place_piece *piece;
	uint64_t start, bytes;	/* the range's part in this piece */
};

/* 1: the next part; 0: the range is through; -ERANGE: the place is. */
static int place_walk_next(struct place_walk *walk)
{
	const struct place_piece *piece;

	if (!walk->left)
		return 0;
	for (;; walk->skip -= piece->bytes) {
		if (walk->next == walk->place->count)
			return -ERANGE;
		piece = &walk->place->pieces[walk->next++];
		if ((walk->place->count == 1 && !piece->bytes) ||
		    walk->skip < piece->bytes)
			break;
	}
	walk->piece = piece;
	walk->start = walk->skip;
	walk->bytes = walk->left;
	if (piece->bytes && walk->bytes > piece->bytes - walk->start)
		walk->bytes = piece->bytes - walk->start;
	if (piece->kind == PLACE_VALUE &&
	    (walk->start >= VALUE_BYTES ||
	     walk->bytes > VALUE_BYTES - walk->start))
		return -ERANGE;
	walk->skip = 0;
	walk->left -= walk->bytes;
	return 1;
}

bool place_is_known(const struct place *place, uint64_t offset,
		    uint64_t length, const char **why)
{
	struct place_walk walk = {
		.place = place, .skip = offset, .left = length,
	};

	while (place_walk_next(&walk) > 0) {
		if (walk.piece->kind != PLACE_ABSENT)
			continue;
		*why = walk.piece->why;
		return false;
	}
	return true;
}

void place_emit_shift(struct bytes *rpn, uint8_t operation, uint64_t bits)
{
	if (!bits)
		return;
	rpn_emit_const(rpn, bits);
	rpn_emit_op(rpn, operation);
}

static int slice_piece(const struct place_walk *walk, struct place *part)
{
	const struct place_piece *from = walk->piece;
	struct place_piece *to = place_add(part, from->kind, walk->bytes);

	if (!to)
		return -ENOMEM;
	if (from->why) {
		to->why = strdup(from->why);
		if (!to->why)
			return -ENOMEM;
	}
	bytes_join(&to->rpn, &from->rpn);
	if (from->kind == PLACE_MEMORY)
		rpn_emit_add(&to->rpn, walk->start, true);
	else if (from->kind == PLACE_VALUE)
		place_emit_shift(&to->rpn, RPN_shr, 8 * walk->start);
	return to->rpn.failed ? -ENOMEM : 0;
}

int place_slice(const struct place *place, uint64_t offset, uint64_t length,
		struct place *part)
{
	struct place_walk walk = {
		.place = place, .skip = offset, .left = length,
	};
	int code;

	memset(part, 0, sizeof(*part));
	snprintf(part->where, sizeof(part->where), "%s", place->where);
	while ((code = place_walk_next(&walk)) > 0) {
		code = slice_piece(&walk, part);
		if (code)
			break;
	}
	if (!code && !part->count)
		code = -ERANGE;
	if (code)
		place_free(part);
	return code;
}

/* `done` bytes before the part are on the stack. */
static void value_part(const struct place_walk *walk, unsigned int done,
		       struct bytes *rpn)
{
	const struct bytes *from = &walk->piece->rpn;

	for (uint64_t at = 0, bytes; at < walk->bytes; at += bytes) {
		bytes = walk->bytes;
		bytes_join(rpn, from);
		if (walk->piece->kind == PLACE_MEMORY) {
			/* an operation reads 8, 4, 2 or 1 at once */
			for (bytes = 8; bytes > walk->bytes - at; )
				bytes /= 2;
			rpn_emit_add(rpn, walk->start + at, true);
			rpn_emit_deref(rpn, bytes);
		} else {
			place_emit_shift(rpn, RPN_shr, 8 * walk->start);
			rpn_emit_extend(rpn, bytes, false);
		}
		place_emit_shift(rpn, RPN_shl, 8 * (done + at));
		if (done + at)
			rpn_emit_op(rpn, RPN_or);
	}
}

int place_value(const struct place *place, uint64_t offset,
		unsigned int bytes, bool is_signed, struct bytes *rpn)
{
	size_t start = rpn->size;
	struct place_walk walk = {
		.place = place, .skip = offset, .left = bytes,
	};
	unsigned int done = 0;
	int code;

	if (!bytes || bytes > VALUE_BYTES)
		return -ERANGE;
	while ((code = place_walk_next(&walk)) > 0) {
		if (walk.piece->kind == PLACE_ABSENT) {
			code = -ENODATA;
			break;
		}
		value_part(&walk, done, rpn);
		done += walk.bytes;
	}
	if (code)
		rpn->size = start;
	else if (is_signed)
		rpn_emit_extend(rpn, bytes, true);
	return code;
}
