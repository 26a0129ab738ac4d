/* SPDX-License-Identifier: GPL-2.0 */
/* Reading a place with the plain interpreter. */
#ifndef SELFTESTS_PLACE_READ_H
#define SELFTESTS_PLACE_READ_H

#include <inttypes.h>
#include <stdio.h>
#include "selftests/bpf/interpret.h"
#include "lib/formats/rpn.h"
#include "lib/debug/dwarf/place.h"

/* What the expression comes to, which must be one that a TDF can have; else
 * false, and why in text. */
static inline bool place_compute(struct interpreter *in,
				 const struct bytes *rpn, uint64_t *value,
				 char *text, size_t text_size)
{
	struct error err = {0};

	if (rpn_check(rpn->data, rpn->size, 1, &err)) {
		snprintf(text, text_size, "damaged expression: %.99s",
			 err.text);
		return false;
	}
	if (interpret(in, rpn->data, rpn->size, false, value))
		return true;
	snprintf(text, text_size, "fault %" PRIx64, *value);
	return false;
}

static inline bool place_read_piece(struct interpreter *in,
				    const struct place_piece *piece,
				    uint8_t *bytes, char *text,
				    size_t text_size)
{
	uint64_t value;

	if (!place_compute(in, &piece->rpn, &value, text, text_size))
		return false;
	if (piece->kind == PLACE_VALUE) {
		memcpy(bytes, &value, piece->bytes);
		return true;
	}
	if (memory_read(in, &value, bytes, piece->bytes))
		return true;
	snprintf(text, text_size, "fault %" PRIx64, value);
	return false;
}

/* A value of up to 8 bytes has two ways to be read: they must agree. */
static inline bool place_agrees(struct interpreter *in,
				const struct place *place, uint64_t offset,
				uint64_t size, const uint8_t *bytes,
				char *text, size_t text_size)
{
	struct bytes rpn = {0};
	uint64_t value, other = 0;
	bool same = false;

	if (size > 8 || (size & (size - 1)))
		return true;
	memcpy(&other, bytes, size);
	if (place_value(place, offset, size, false, &rpn)) {
		snprintf(text, text_size, "damaged: no value");
	} else if (place_compute(in, &rpn, &value, text, text_size)) {
		same = value == other;
		if (!same)
			snprintf(text, text_size, "damaged: value %" PRIx64
				 ", bytes %" PRIx64, value, other);
	}
	bytes_free(&rpn);
	return same;
}

/* The bytes [offset, offset + size) of what is there; else false and why. */
static inline bool place_read(struct interpreter *in,
			      const struct place *place, uint64_t offset,
			      uint64_t size, uint8_t *bytes, char *text,
			      size_t text_size)
{
	const char *why = "";
	struct place part;
	size_t at = 0;
	bool good;
	int code;

	if (!place_is_known(place, offset, size, &why)) {
		snprintf(text, text_size, "absent %s", why);
		return false;
	}
	code = place_slice(place, offset, size, &part);
	good = !code;
	if (code)
		snprintf(text, text_size, "damaged: slice %d", code);
	for (size_t i = 0; i < part.count && good; i++) {
		good = place_read_piece(in, &part.pieces[i], bytes + at, text,
					text_size);
		at += part.pieces[i].bytes;
	}
	place_free(&part);
	return good && place_agrees(in, place, offset, size, bytes, text,
				    text_size);
}

#endif
