// SPDX-License-Identifier: GPL-2.0
/* Writing operations: their text, paths and functions, and errors that stick. */
#include <errno.h>
#include <limits.h>
#include "bpf/code/code_print.h"
#include "bpf/code/ops.h"
#include "tap.h"

/* The code's text, without tabs and line ends at the end */
static const char *text_of(const struct code *c)
{
	static char text[4096];
	FILE *out = fmemopen(text, sizeof(text), "w");

	code_print(c, out);
	fclose(out);
	return text;
}

static void is_text(const struct code *c, const char *expected,
		    const char *what)
{
	const char *got = text_of(c);

	tap_ok(!strcmp(got, expected), "%s", what);
	if (strcmp(got, expected))
		tap_diag("got:\n%s\nexpected:\n%s", got, expected);
}

/* Each operation, and its text */
static void test_operations(void)
{
	struct code c;
	code_label label;
	code_slot slot;
	int t0, t1;

	code_begin(&c);
	t0 = code_temp_new(&c);
	t1 = code_copy(&c, BPF_REG_1);
	slot = code_slot_new(&c, 16);
	label = code_label_new(&c);
	code_note(&c, 3);
	code_const(&c, t0, 0x123456789ull);
	code_alu(&c, BPF_MOV, BPF_REG_6, t0);
	code_alu(&c, BPF_SUB, t0, t1);
	code_alu_imm(&c, BPF_MOV, t1, -1);
	code_alu_imm(&c, BPF_ARSH, t1, 3);
	code_alu_imm(&c, BPF_NEG, t1, 0);
	code_zext32(&c, t1);
	code_load(&c, 2, t0, BPF_REG_6, 8);
	code_store(&c, 1, t0, -8, t1);
	code_store_imm(&c, 4, t0, 0, 7);
	code_atomic(&c, BPF_ADD, t0, 0, t1);
	code_atomic(&c, BPF_ADD | BPF_FETCH, t0, 0, t1);
	code_atomic(&c, BPF_XCHG, t0, 0, t1);
	code_atomic(&c, BPF_CMPXCHG, t0, 8, t1);
	code_slot_load(&c, 8, t0, slot, 8);
	code_slot_store(&c, 4, slot, 4, t0);
	code_slot_store_imm(&c, 2, slot, 14, 5);
	code_slot_address(&c, BPF_REG_2, slot, 8);
	code_frame_touch(&c);
	code_map_value(&c, t0, 4, 70000);
	code_variable(&c, t0, 77);
	code_lookup(&c, 3, slot, label);
	code_kfunc(&c, 100, 2);
	code_module_kfunc(&c, 1, 101, 0);
	code_jump_if(&c, BPF_JSGT, t0, t1, label);
	code_jump(&c, label);
	code_label_place(&c, label);
	code_exit(&c);
	tap_ok(!code_finish(&c), "all operations can be written");
	is_text(&c, "\t; 0\n\tt1 = r1\n\t; 3\n\tt0 = 0x123456789\n\tr6 = t0\n"
		"\tt0 -= t1\n\tt1 = -1\n\tt1 s>>= 3\n\tt1 = -t1\n"
		"\tt1 = (u32)t1\n\tt0 = *(u16 *)(r6 +8)\n"
		"\t*(u8 *)(t0 -8) = t1\n\t*(u32 *)(t0 +0) = 7\n"
		"\tlock *(u64 *)(t0 +0) += t1\n"
		"\tt1 = fetch_add *(u64 *)(t0 +0) += t1\n"
		"\tt1 = xchg *(u64 *)(t0 +0), t1\n"
		"\tr0 = cmpxchg *(u64 *)(t0 +8), t1\n"
		"\tt0 = *(u64 *)(slot0 +8)\n\t*(u32 *)(slot0 +4) = t0\n"
		"\t*(u16 *)(slot0 +14) = 5\n\tr2 = slot0 +8\n"
		"\ttouch frame\n\tt0 = map[fd:4][0]+70000\n"
		"\tt0 = variable#77\n\tr1 = map[fd:3]\n\tr2 = slot0 +0\n"
		"\tcall bpf_map_lookup_elem(2)\n\tif r0 == 0 goto L0\n"
		"\tcall kfunc#100(2)\n\tcall module kfunc#101(0)\n"
		"\tif t0 s> t1 goto L0\n\tgoto L0\nL0:\n\texit\n",
		"and have their text");
	code_free(&c);
}

/* What changes nothing isn't written. */
static void test_identities(void)
{
	static const struct { int op, imm; bool written; } rows[] = {
		{ BPF_ADD, 0 }, { BPF_SUB, 0 }, { BPF_OR, 0 }, { BPF_XOR, 0 },
		{ BPF_LSH, 0 }, { BPF_RSH, 0 }, { BPF_ARSH, 0 },
		{ BPF_MUL, 1 }, { BPF_DIV, 1 }, { BPF_AND, 0, true },
		{ BPF_ADD, 1, true }, { BPF_MUL, 0, true }, { BPF_MOD, 1, true },
		{ BPF_NEG, 0, true }, { BPF_MOV, 0, true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct code c;

		code_begin(&c);
		code_alu_imm(&c, rows[i].op, BPF_REG_1, rows[i].imm);
		tap_ok((c.count == 1) == rows[i].written,
		       "operation %02x with %d is %swritten", rows[i].op,
		       rows[i].imm, rows[i].written ? "" : "not ");
		code_free(&c);
	}
}

static void test_paths(void)
{
	code_label rare, inner, back, function;
	struct code c;

	code_begin(&c);
	rare = code_label_new(&c);
	inner = code_label_new(&c);
	back = code_label_new(&c);
	function = code_label_new(&c);
	tap_ok(!code_label_used(&c, rare), "no jump leads to a label");
	code_jump_imm(&c, BPF_JEQ, BPF_REG_1, 0, rare);
	tap_ok(code_label_used(&c, rare), "then one does");
	code_rare_begin(&c);
	code_label_place(&c, rare);
	code_jump_imm(&c, BPF_JEQ, BPF_REG_1, 1, inner);
	code_rare_begin(&c);
	code_label_place(&c, inner);
	code_jump(&c, back);
	code_rare_end(&c);
	code_function_begin(&c, 2, function);
	code_alu_imm(&c, BPF_MOV, BPF_REG_0, 0);
	code_exit(&c);
	code_function_end(&c);
	code_call_label(&c, function, 1);
	code_jump(&c, back);
	code_rare_end(&c);
	code_label_place(&c, back);
	code_exit(&c);
	tap_ok(!code_finish(&c), "paths may be inside others");
	is_text(&c, "\t; 0\n\tif r1 == 0 goto L0\nL2:\n\texit\n"
		"rare 1, in 0:\n\t; 0\nL0:\n\tif r1 == 1 goto L1\n"
		"\tcall L3(1)\n\tgoto L2\n"
		"rare 2, in 1:\n\t; 0\nL1:\n\tgoto L2\n"
		"function 1, path 3:\n\t; 0\nL3:\n\tr0 = 0\n\texit\n",
		"and go on where they were interrupted");
	code_free(&c);
}

/* Each of them is wrong. */
static void wrong_frame_pointer(struct code *c)
{
	code_move(c, BPF_REG_1, BPF_REG_10);
}

static void wrong_register(struct code *c)
{
	code_move(c, 11, BPF_REG_1);
}

static void wrong_temp(struct code *c)
{
	code_const(c, code_temp_new(c) + 1, 0);
}

static void wrong_slot(struct code *c)
{
	code_slot_load(c, 8, BPF_REG_1, code_slot_new(c, 4), 0);
}

static void wrong_slot_offset(struct code *c)
{
	code_slot_store_imm(c, 1, code_slot_new(c, 8), -1, 0);
}

static void wrong_helper(struct code *c)
{
	code_call(c, BPF_FUNC_trace_printk);
}

static void wrong_label(struct code *c)
{
	code_jump(c, code_label_new(c));
}

static void wrong_label_twice(struct code *c)
{
	code_label label = code_label_new(c);

	code_label_place(c, label);
	code_label_place(c, label);
}

static void wrong_rare_open(struct code *c)
{
	code_rare_begin(c);
}

static void wrong_rare_end(struct code *c)
{
	code_rare_end(c);
}

static void wrong_function_end(struct code *c)
{
	code_rare_begin(c);
	code_function_end(c);
}

static void wrong_offset(struct code *c)
{
	code_load(c, 8, BPF_REG_1, BPF_REG_6, INT16_MAX + 1);
}

static void test_errors(void)
{
	static const struct {
		const char *what;
		void (*write)(struct code *c);
		int error;
	} rows[] = {
		{ "register 10", wrong_frame_pointer, -EINVAL },
		{ "a register that there isn't", wrong_register, -EINVAL },
		{ "a temp that there isn't", wrong_temp, -EINVAL },
		{ "more than a slot", wrong_slot, -EINVAL },
		{ "what is before a slot", wrong_slot_offset, -EINVAL },
		{ "a helper without a number of arguments", wrong_helper,
		  -EINVAL },
		{ "a label that isn't placed", wrong_label, -EINVAL },
		{ "a label that is placed twice", wrong_label_twice, -EINVAL },
		{ "a rare path without an end", wrong_rare_open, -EINVAL },
		{ "the end of no rare path", wrong_rare_end, -EINVAL },
		{ "the end of a function in a rare path", wrong_function_end,
		  -EINVAL },
		{ "an offset that is too large", wrong_offset, -E2BIG },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct code c;

		code_begin(&c);
		rows[i].write(&c);
		code_exit(&c);
		tap_ok(code_finish(&c) == rows[i].error, "refused: %s",
		       rows[i].what);
		code_free(&c);
	}
}

static void test_sticks(void)
{
	struct code c;

	code_begin(&c);
	code_fail(&c, -EDOM);
	code_fail(&c, -EINVAL);
	code_move(&c, 11, BPF_REG_10);
	code_label_place(&c, code_label_new(&c));
	code_rare_begin(&c);
	code_function_begin(&c, 1, code_label_new(&c));
	code_slot_load(&c, 8, BPF_REG_1, code_slot_new(&c, 8), 0);
	tap_ok(code_finish(&c) == -EDOM, "the first error sticks");
	tap_ok(!c.count, "and nothing is written after it");
	code_free(&c);
}

int main(void)
{
	test_operations();
	test_identities();
	test_paths();
	test_errors();
	test_sticks();
	return tap_done();
}
