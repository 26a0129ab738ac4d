// SPDX-License-Identifier: GPL-2.0
/*
 * Places of values: every part of every place, read by its expression, has the
 * bytes that the value has; parts that are absent or beyond it are refused.
 */
#include <errno.h>
#include "bpf/interpret.h"
#include "tap.h"
#include "lib/debug/dwarf/place.h"
#include "lib/formats/rpn.h"

#define BYTES_MAX	24

static const uint8_t value[BYTES_MAX] = {
	0x81, 0x12, 0xf3, 0x24, 0x95, 0x36, 0xc7, 0x48, 0xd9, 0x5a, 0xeb, 0x6c,
	0xfd, 0x7e, 0x8f, 0x01, 0xa2, 0x13, 0xb4, 0x25, 0xc6, 0x37, 0xd8, 0x49,
};

/* Pieces one after the other: m memory, v value, a absent; the bytes of each,
 * 0: a whole place. */
static const struct row {
	const char *name, *kinds;
	uint8_t bytes[6];
} rows[] = {
	{ "memory", "m", { 0 } },
	{ "a register", "v", { 0 } },
	{ "half a register", "v", { 4 } },
	{ "one piece of memory", "m", { 12 } },
	{ "two registers", "vv", { 8, 8 } },
	{ "registers of small pieces", "vvvv", { 1, 2, 4, 1 } },
	{ "a register, then memory", "vm", { 4, 12 } },
	{ "memory in many parts", "mmmmm", { 3, 1, 7, 2, 5 } },
	{ "a hole", "vav", { 8, 4, 8 } },
	{ "nothing", "a", { 0 } },
	{ "an empty piece", "mvm", { 4, 0, 4 } },
};

static void row_place(const struct row *row, struct place *place, char *known)
{
	unsigned int at = 0;

	memset(place, 0, sizeof(*place));
	memset(known, '-', BYTES_MAX);
	for (size_t i = 0; row->kinds[i]; i++) {
		char kind = row->kinds[i];
		bool whole = !row->bytes[i] && !row->kinds[1];
		unsigned int bytes = whole ? kind == 'v' ? 8 : BYTES_MAX :
					     row->bytes[i];
		struct place_piece *piece = place_add(place,
			kind == 'm' ? PLACE_MEMORY :
			kind == 'v' ? PLACE_VALUE : PLACE_ABSENT,
			row->bytes[i]);
		int64_t word = 0x7777777777777777;

		memcpy(&word, value + at, kind == 'v' ? bytes : 0);
		if (kind == 'm')
			rpn_emit_const(&piece->rpn, (intptr_t)value + at);
		else if (kind == 'v')
			rpn_emit_const(&piece->rpn, word);
		else
			piece->why = strdup("it is a hole");
		memset(known + at, kind, bytes);
		at += bytes;
	}
}

/* What reading the part must come to. */
static int part_verdict(const char *known, unsigned int offset,
			unsigned int bytes)
{
	int code = 0;

	for (unsigned int i = offset; i < offset + bytes; i++) {
		if (i >= BYTES_MAX || known[i] == '-')
			return -ERANGE;
		if (known[i] == 'a')
			code = -ENODATA;
	}
	return code;
}

static int64_t part_value(unsigned int offset, unsigned int bytes,
			  bool is_signed)
{
	unsigned int rest = 64 - 8 * bytes;
	uint64_t word = 0;

	memcpy(&word, value + offset, bytes);
	word <<= rest;
	return is_signed ? (int64_t)word >> rest : (int64_t)(word >> rest);
}

static bool evaluate(const struct bytes *rpn, uint64_t *result)
{
	struct interpreter in = {0};
	struct error err;

	return !rpn_check(rpn->data, rpn->size, 1, &err) &&
	       interpret(&in, rpn->data, rpn->size, false, result);
}

/* Where pieces differ in their verdict, either may be reported. */
static bool verdict_fits(int code, int expected)
{
	return code == expected || (code == -ENODATA && expected == -ERANGE);
}

static bool check_value(const struct place *place, const char *known,
			unsigned int offset, unsigned int bytes, bool is_signed)
{
	int expected = part_verdict(known, offset, bytes);
	struct bytes rpn = {0};
	uint64_t got = 0;
	int code = place_value(place, offset, bytes, is_signed, &rpn);
	bool good = verdict_fits(code, expected);

	if (good && !code)
		good = evaluate(&rpn, &got) &&
		       (int64_t)got == part_value(offset, bytes, is_signed);
	else if (good)
		good = !rpn.size;
	if (!good)
		tap_diag("[%u, +%u)%s: %d, %#llx", offset, bytes,
			 is_signed ? " signed" : "", code,
			 (unsigned long long)got);
	bytes_free(&rpn);
	return good;
}

static bool check_known(const struct place *place, const char *known,
			unsigned int offset, unsigned int bytes)
{
	const char *why = NULL;
	int verdict = part_verdict(known, offset, bytes);
	bool is = place_is_known(place, offset, bytes, &why);

	if (verdict == -ERANGE)
		return true;
	return is == !verdict && (is || (why && !strcmp(why, "it is a hole")));
}

/* A slice of a place is a place: its parts are the parts of the value. */
static bool check_slice(const struct place *place, const char *known,
			unsigned int offset, unsigned int bytes)
{
	char part_known[BYTES_MAX];
	struct place part;
	uint64_t total = 0;
	int code = place_slice(place, offset, bytes, &part);
	bool good = (code == -ERANGE) ==
		    (part_verdict(known, offset, bytes) == -ERANGE);

	if (code)
		return good && !part.count && !part.pieces;
	memset(part_known, '-', sizeof(part_known));
	memcpy(part_known, known + offset, bytes);
	for (size_t i = 0; i < part.count; i++)
		total += part.pieces[i].bytes;
	good &= total == bytes && !strcmp(part.where, "somewhere");
	for (unsigned int at = 0; good && at < bytes; at++) {
		struct bytes rpn = {0};
		uint64_t got;

		code = place_value(&part, at, 1, false, &rpn);
		good = code == part_verdict(part_known, at, 1) &&
		       (code || (evaluate(&rpn, &got) &&
				 got == value[offset + at]));
		bytes_free(&rpn);
	}
	good &= place_value(&part, bytes, 1, false, &(struct bytes){0}) ==
		-ERANGE;
	place_free(&part);
	return good;
}

static void check_row(const struct row *row)
{
	bool values = true, known = true, slices = true;
	char map[BYTES_MAX];
	struct place place;

	row_place(row, &place, map);
	strcpy(place.where, "somewhere");
	for (unsigned int at = 0; at < BYTES_MAX; at++)
		for (unsigned int n = 1; n <= BYTES_MAX - at; n++) {
			known &= check_known(&place, map, at, n);
			slices &= check_slice(&place, map, at, n);
			if (n > 8)
				continue;
			values &= check_value(&place, map, at, n, false);
			values &= check_value(&place, map, at, n, true);
		}
	tap_ok(values, "%s: values", row->name);
	tap_ok(known, "%s: what is known", row->name);
	tap_ok(slices, "%s: slices", row->name);
	place_free(&place);
}

static void check_limits(void)
{
	struct bytes rpn = {0};
	struct place place, part;
	uint64_t got;

	rpn_emit_const(place_begin(&place, PLACE_MEMORY), (intptr_t)value + 8);
	tap_is(place_value(&place, 0, 9, false, &rpn), -ERANGE, "nine bytes");
	tap_is(place_value(&place, 0, 0, false, &rpn), -ERANGE, "no bytes");
	tap_is(place_slice(&place, 0, 0, &part), -ERANGE, "an empty slice");
	tap_ok(!place_value(&place, -4, 2, false, &rpn) &&
	       evaluate(&rpn, &got) && got == 0x3695,
	       "memory in front of the address");
	bytes_free(&rpn);
	place_free(&place);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row(&rows[i]);
	check_limits();
	return tap_done();
}
