// SPDX-License-Identifier: GPL-2.0
/* Decoding, checking and printing expressions (usr/lib/formats/rpn.h). */
#include "tap.h"
#include "lib/formats/rpn.h"

#include <errno.h>
#include <rastrace/tdf.h>

#define N(...)	{ __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ })

static const struct decode_row {
	const char *name;
	uint8_t rpn[16];
	size_t size;
	int ret;
	uint64_t a;
	int64_t b;
	size_t next;
} decode_rows[] = {
	{ "const1s is extended", N(RPN_const1s, 0x80), 0, -128ULL, 0, 2 },
	{ "const1u", N(RPN_const1u, 0x80), 0, 0x80, 0, 2 },
	{ "const2u", N(RPN_const2u, 1, 0x80), 0, 0x8001, 0, 3 },
	{ "const2s", N(RPN_const2s, 1, 0x80), 0, -0x7fffULL, 0, 3 },
	{ "const4u", N(RPN_const4u, 1, 2, 3, 0x80), 0, 0x80030201, 0, 5 },
	{ "const8s", N(RPN_const8s, 0, 0, 0, 0, 0, 0, 0, 0x80), 0, 1ULL << 63,
	  0, 9 },
	{ "const4s", N(RPN_const4s, 0, 0, 0, 0x80), 0, -(1ULL << 31), 0, 5 },
	{ "const8u", N(RPN_const8u, 1, 2, 3, 4, 5, 6, 7, 8), 0,
	  0x0807060504030201ULL, 0, 9 },
	{ "addr", N(RPN_addr, 1, 0, 0, 0, 0, 0, 0, 0x80), 0,
	  0x8000000000000001ULL, 0, 9 },
	{ "lit31", N(RPN_lit_last), 0, 0, 0, 1 },
	{ "uleb", N(RPN_constu, 0x80, 0x80, 0x01), 0, 0x4000, 0, 4 },
	{ "uleb with spare zeroes", N(RPN_constu, 0x81, 0x80, 0), 0, 1, 0, 4 },
	{ "uleb of 64 bits", N(RPN_constu, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
			       0xff, 0xff, 0xff, 1), 0, -1ULL, 0, 11 },
	{ "uleb of 65 bits", N(RPN_constu, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
			       0xff, 0xff, 0xff, 2), -EINVAL, },
	{ "uleb of 11 bytes", N(RPN_constu, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
				0x80, 0x80, 0x80, 0x80, 0), -EINVAL, },
	{ "uleb cut off", N(RPN_constu, 0x80), -EINVAL, },
	{ "sleb", N(RPN_consts, 0x7e), 0, -2ULL, 0, 2 },
	{ "sleb of two bytes", N(RPN_consts, 0x80, 0x7f), 0, -128ULL, 0, 3 },
	{ "sleb of 63 bits", N(RPN_consts, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
			       0x80, 0x80, 0x40), 0, 3ULL << 62, 0, 10 },
	{ "sleb of 64 bits", N(RPN_consts, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
			       0x80, 0x80, 0x80, 0x7f), 0, 1ULL << 63, 0, 11 },
	{ "sleb of 65 bits", N(RPN_consts, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
			       0x80, 0x80, 0x80, 0x01), -EINVAL, },
	{ "breg", N(RPN_breg + 7, 0x78), 0, -8ULL, 0, 2 },
	{ "bregx", N(RPN_bregx, 0x80, 1, 0x7f), 0, 128, -1, 4 },
	{ "bregx cut off", N(RPN_bregx, 0x80, 1), -EINVAL, },
	{ "vector", N(RPN_vector, 17, 0), 0, 17, 0, 3 },
	{ "vector, the high half", N(RPN_vector, 32, 8), 0, 32, 8, 3 },
	{ "vector, no half", N(RPN_vector, 17, 4), -EINVAL, },
	{ "vector, far below", N(RPN_vector, 17, 0x78), -EINVAL, },
	{ "kept", N(RPN_kept, 1), 0, 1, 0, 2 },
	{ "kept as the last", N(RPN_kept, TDF_KEPT_MAX), 0, TDF_KEPT_MAX, 0,
	  2 },
	{ "kept as nothing", N(RPN_kept, 0), -EINVAL, },
	{ "kept, one too many", N(RPN_kept, TDF_KEPT_MAX + 1), -EINVAL, },
	{ "tree_next", N(RPN_tree_next, 16, 0x98, 1, 8, 9), 0, 0, 0, 6 },
	{ "tree_next in 32 steps", N(RPN_tree_next, 16, 24, 8, 32), 0, 0, 0,
	  5 },
	{ "tree_next in 33 steps", N(RPN_tree_next, 16, 24, 8, 33), -EINVAL, },
	{ "tree_next in no steps", N(RPN_tree_next, 16, 24, 8, 0),
	  -EINVAL, },
	{ "tree_next far away",
	  N(RPN_tree_next, 0x80, 0x80, 0x80, 0x80, 8, 24, 8, 9), -EINVAL, },
	{ "tree_next cut off", N(RPN_tree_next, 16, 24, 8), -EINVAL, },
	{ "vector cut off", N(RPN_vector, 17), -EINVAL, },
	{ "deref_size 1", N(RPN_deref_size, 1), 0, 1, 0, 2 },
	{ "deref_size 2", N(RPN_deref_size, 2), 0, 2, 0, 2 },
	{ "deref_size 8", N(RPN_deref_size, 8), 0, 8, 0, 2 },
	{ "deref_size 16", N(RPN_deref_size, 16), -EINVAL, },
	{ "deref_size 4", N(RPN_deref_size, 4), 0, 4, 0, 2 },
	{ "deref_size 3", N(RPN_deref_size, 3), -EINVAL, },
	{ "deref_size 0", N(RPN_deref_size, 0), -EINVAL, },
	{ "skip", N(RPN_skip, 1, 0, RPN_nop), 0, 4, 0, 3 },
	{ "skip past the end", N(RPN_skip, 2, 0, RPN_nop), -EINVAL, },
	{ "skip backwards", N(RPN_skip, 0xff, 0xff, RPN_nop), -EINVAL, },
	{ "bra cut off", N(RPN_bra, 0), -EINVAL, },
	{ "const8s cut off", N(RPN_const8s, 1, 2, 3, 4, 5, 6, 7), -EINVAL, },
	{ "xderef", N(RPN_xderef), 0, 0, 0, 1 },
	{ "xderef_size 2", N(RPN_xderef_size, 2), 0, 2, 0, 2 },
	{ "xderef_size 3", N(RPN_xderef_size, 3), -EINVAL, },
	{ "entry_value", N(RPN_entry_value, 1, 0x55), 0, 5, 0, 3 },
	{ "entry_value of the last", N(RPN_entry_value, 1, 0x6f), 0, 31, 0,
	  3 },
	{ "entry_value of regx", N(RPN_entry_value, 3, 0x90, 0x80, 1), 0, 128,
	  0, 5 },
	{ "entry_value of an argument on the stack",
	  N(RPN_entry_value, 4, RPN_breg + 4, 8, RPN_deref_size, 4), 0, 4, 8,
	  6 },
	{ "entry_value of an argument in front of it",
	  N(RPN_entry_value, 4, RPN_breg, 0x78, RPN_deref_size, 8), 0, 0, -8,
	  6 },
	{ "entry_value of an argument by the last register",
	  N(RPN_entry_value, 4, RPN_breg_last, 8, RPN_deref_size, 4), 0, 31, 8,
	  6 },
	{ "entry_value of an argument that is read whole",
	  N(RPN_entry_value, 4, RPN_breg + 4, 8, RPN_xderef_size, 4),
	  -EINVAL, },
	{ "entry_value of a code below registers",
	  N(RPN_entry_value, 1, 0x4f), -EINVAL, },
	{ "entry_value of a code above", N(RPN_entry_value, 1, 0x91),
	  -EINVAL, },
	{ "entry_value of the first", N(RPN_entry_value, 1, 0x50), 0, 0, 0,
	  3 },
	{ "entry_value of nothing", N(RPN_entry_value, 0), -EINVAL, },
	{ "entry_value of an address",
	  N(RPN_entry_value, 2, RPN_breg + 4, 8), -EINVAL, },
	{ "entry_value of a number", N(RPN_entry_value, 1, RPN_lit), -EINVAL, },
	{ "entry_value of two bytes",
	  N(RPN_entry_value, 4, RPN_breg + 4, 8, RPN_deref_size, 2),
	  -EINVAL, },
	{ "entry_value cut off", N(RPN_entry_value, 4, RPN_breg + 4, 8),
	  -EINVAL, },
	{ "entry_value that is too long", N(RPN_entry_value, 2, 0x55, 0x55),
	  -EINVAL, },
	{ "entry_value of all", N(RPN_entry_value, 0xff, 0xff, 0xff, 0xff,
	  0xff, 0xff, 0xff, 0xff, 0xff, 1), -EINVAL, },
	{ "call2", N(0x98), -EINVAL, },
	{ "reg0", N(0x50), -EINVAL, },
	{ "code 0", N(0), -EINVAL, },
	{ "code 255", N(255), -EINVAL, },
};

static void test_decode(void)
{
	const size_t count = sizeof(decode_rows) / sizeof(*decode_rows);

	for (size_t i = 0; i < count; i++) {
		const struct decode_row *row = &decode_rows[i];
		struct rpn_op op;
		int ret = rpn_decode(row->rpn, row->size, 0, &op);

		tap_ok(ret == row->ret &&
		       (ret || (op.a == row->a && op.b == row->b &&
				op.next == row->next)),
		       "decode: %s", row->name);
	}
}

#define LIT	RPN_lit
#define LIT4	LIT, LIT, LIT, LIT
#define LIT16	LIT4, LIT4, LIT4, LIT4
#define DROP15	RPN_drop, RPN_drop, RPN_drop, RPN_drop, RPN_drop, RPN_drop, \
		RPN_drop, RPN_drop, RPN_drop, RPN_drop, RPN_drop, RPN_drop, \
		RPN_drop, RPN_drop, RPN_drop

static const struct check_row {
	const char *name;
	uint8_t rpn[48];
	size_t size;
	const char *error;	/* NULL: it is fine */
} check_rows[] = {
	{ "one value", N(LIT), NULL },
	{ "16 entries", N(LIT16, DROP15), NULL },
	{ "17 entries", N(LIT16, LIT, DROP15, RPN_drop),
	  "stack overflow at byte 16 ('lit')" },
	{ "dup of the 16th", N(LIT16, RPN_dup, DROP15, RPN_drop),
	  "stack overflow at byte 16 ('dup')" },
	{ "nothing", N(RPN_nop), "0 values left instead of 1" },
	{ "xderef", N(LIT, LIT, RPN_xderef), NULL },
	{ "xderef of one", N(LIT, RPN_xderef), "stack underflow at byte 1 ('xderef')" },
	{ "two values", N(LIT, LIT), "2 values left instead of 1" },
	{ "plus of one", N(LIT, RPN_plus),
	  "stack underflow at byte 1 ('plus')" },
	{ "rot of two", N(LIT, LIT, RPN_rot),
	  "stack underflow at byte 2 ('rot')" },
	{ "deref of nothing", N(RPN_deref),
	  "stack underflow at byte 0 ('deref')" },
	{ "pick of the last", N(LIT, LIT, RPN_pick, 1, RPN_drop, RPN_drop),
	  NULL },
	{ "pick below the last", N(LIT, LIT, RPN_pick, 2, RPN_drop, RPN_drop),
	  "stack underflow at byte 2 ('pick')" },
	{ "unknown operation", N(LIT, 0xe0), "bad operation at byte 1" },
	{ "operand cut off", N(LIT, RPN_constu, 0x80),
	  "bad operation at byte 1" },
	{ "jump to the end", N(LIT, RPN_skip, 0, 0), NULL },
	{ "jump over bytes that are never reached",
	  N(LIT, RPN_skip, 1, 0, RPN_plus), NULL },
	{ "they must be operations", N(LIT, RPN_skip, 1, 0, 0xe0),
	  "bad operation at byte 4" },
	{ "jump into an operand",
	  N(LIT, RPN_skip, 1, 0, RPN_const2u, LIT, LIT, RPN_drop),
	  "jump into the operands of 'const2u' at byte 4" },
	{ "jump after its first byte",
	  N(LIT, RPN_skip, 2, 0, RPN_const2u, LIT, LIT, RPN_drop),
	  "jump into the operands of 'const2u' at byte 4" },
	{ "depths agree", N(LIT, LIT, RPN_bra, 1, 0, RPN_neg), NULL },
	{ "depths differ", N(LIT, LIT, RPN_bra, 1, 0, LIT),
	  "ways to byte 6 differ in stack depth" },
	{ "depths of two jumps agree",
	  N(LIT, LIT, RPN_bra, 5, 0, LIT, RPN_bra, 1, 0, RPN_neg), NULL },
	{ "depths of two jumps differ",
	  N(LIT, LIT, LIT, RPN_bra, 5, 0, RPN_drop, LIT, RPN_bra, 0, 0),
	  "ways to byte 11 differ in stack depth" },
};

static void test_check(void)
{
	static uint8_t longest[TDF_RPN_MAX + 1];
	struct error err;

	for (size_t i = 0; i < sizeof(check_rows) / sizeof(*check_rows); i++) {
		const struct check_row *row = &check_rows[i];
		int ret = rpn_check(row->rpn, row->size, 1, &err);

		tap_str(ret ? err.text : NULL, row->error, "check: %s",
			row->name);
	}
	tap_is(rpn_check((uint8_t[]){ LIT, LIT }, 2, 2, &err), 0,
	       "check: two entries of a far address");
	tap_is(rpn_check((uint8_t[]){ LIT }, 1, 2, &err), -EINVAL,
	       "check: one entry of a far address");
	tap_is(rpn_check(longest, 0, 1, &err), -EINVAL, "check: empty");
	memset(longest, RPN_nop, sizeof(longest));
	longest[0] = RPN_lit;
	tap_is(rpn_check(longest, TDF_RPN_MAX, 1, &err), 0, "check: 4095 bytes");
	tap_is(rpn_check(longest, TDF_RPN_MAX + 1, 1, &err), -EINVAL,
	       "check: 4096 bytes");
}

static void test_print(void)
{
	static const uint8_t rpn[] = {
		RPN_breg + 7, 8, RPN_deref, RPN_plus_uconst, 6, RPN_breg + 6,
		0x78, RPN_bregx, 16, 0, RPN_const1s, 0xff, RPN_lit + 5,
		RPN_addr, 0x10, 0x20, 0, 0, 0, 0, 0, 0, RPN_deref_size, 4,
		RPN_skip, 0, 0, RPN_lit, RPN_consts, 0x7f, RPN_entry_value, 1,
		0x55, RPN_entry_value, 4, RPN_breg + 4, 8, RPN_deref_size, 4,
		RPN_vector, 17, 8, RPN_kept, 3, RPN_tree_next, 16, 0x98, 1,
		8, 9, 0xe0,
	};
	static const char expected[] =
		"breg7+8; deref; plus_uconst 6; breg6-8; bregx 16+0; "
		"const1s -1; lit5; addr 0x2010; deref_size 4; skip to 27; "
		"lit0; consts -1; entry_value reg5; entry_value reg4+8 size 4; "
		"vector 17+8; kept 3; tree_next 16 152 8, 9 steps; ?";
	char text[320], small[16];

	rpn_print(rpn, sizeof(rpn), text, sizeof(text));
	tap_str(text, expected, "print");
	memset(small, 'x', sizeof(small));
	rpn_print(rpn, sizeof(rpn), small, sizeof(small));
	tap_str(small, "breg7+8; deref;", "print: cut to the size");
	rpn_print(rpn, sizeof(rpn), small, 1);
	tap_str(small, "", "print: no room");
	small[0] = 'x';
	rpn_print(rpn, sizeof(rpn), small, 0);
	tap_is(small[0], 'x', "print: not even for the end");
	rpn_print((uint8_t[]){ 0xe0 }, 1, small, sizeof(small));
	tap_str(small, "?", "print: nothing that is known");
}

int main(void)
{
	test_decode();
	test_check();
	test_print();
	return tap_done();
}
