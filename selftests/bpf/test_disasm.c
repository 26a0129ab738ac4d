// SPDX-License-Identifier: GPL-2.0
/* Every kind of instruction the generator makes, as text; how far they reach. */
#include <errno.h>
#include "tap.h"
#include "bpf/disasm.h"
#include "bpf/emit.h"

static const char *const expected[] = {
	"r1 = r2", "r1 += -5", "r3 s>>= 63", "r0 ^= -1", "r2 = -r2",
	"r4 %= r5", "w3 = w3", "r1 = -1", "r1 = 0x123456789abcdef0",
	"r1 = 0xffffffff", "r2 = *(u64 *)(r6 +112)", "r2 = *(u8 *)(r10 -8)",
	"*(u32 *)(r7 +8) = r1", "*(u16 *)(r9 +1) = 8",
	"lock *(u64 *)(r8 +24) += r1", "r1 = atomic_xchg((u64 *)(r8 +0), r1)",
	"r0 = atomic_cmpxchg((u64 *)(r8 +0), r0, r1)", "r1 = map[fd:7]",
	"r1 = map[fd:7][0]+8", "call bpf_probe_read_user#112",
	"call kfunc#65252", "call kfunc#7", "if r0 != 0 goto pc+3", "if r1 s> r2 goto pc+2",
	"goto pc+1", "if r1 == 2 goto pc+0", "call pc+4", "r3 = func pc+3",
	"r0 = 0", "exit", "exit",
};

static void emit_all(struct emit *e)
{
	emit_label target;

	emit_alu(e, BPF_MOV, 1, 2);
	emit_alu_imm(e, BPF_ADD, 1, -5);
	emit_alu_imm(e, BPF_ARSH, 3, 63);
	emit_alu_imm(e, BPF_XOR, 0, -1);
	emit_alu_imm(e, BPF_NEG, 2, 0);
	emit_alu(e, BPF_MOD, 4, 5);
	emit_zext32(e, 3);
	emit_const(e, 1, -1ULL);
	emit_const(e, 1, 0x123456789abcdef0ULL);
	emit_const(e, 1, 0xffffffff);
	emit_load(e, 8, 2, 6, 112);
	emit_load(e, 1, 2, 10, -8);
	emit_store(e, 4, 7, 8, 1);
	emit_store_imm(e, 2, 9, 1, 8);
	emit_atomic(e, BPF_ADD, 8, 24, 1);
	emit_atomic(e, BPF_XCHG, 8, 0, 1);
	emit_atomic(e, BPF_CMPXCHG, 8, 0, 1);
	emit_map(e, 1, 7);
	emit_map_value(e, 1, 7, 8);
	emit_call(e, BPF_FUNC_probe_read_user);
	emit_kfunc(e, 65252);
	emit_module_kfunc(e, 3, 7);
	target = emit_label_new(e);
	emit_jump_imm(e, BPF_JNE, 0, 0, target);
	emit_jump_if(e, BPF_JSGT, 1, 2, target);
	emit_jump(e, target);
	emit_jump_imm(e, BPF_JEQ, 1, 2, target);
	emit_label_place(e, target);
	target = emit_label_new(e);
	emit_call_label(e, target);
	emit_callback(e, 3, target);
	emit_alu_imm(e, BPF_MOV, 0, 0);
	emit_exit(e);
	emit_label_place(e, target);
	emit_exit(e);
}

static void test_texts(void)
{
	struct emit e = { 0 };
	const struct bpf_insn *insn;
	char text[128];

	emit_all(&e);
	tap_is(emit_finish(&e), 0, "jumps are resolved");
	insn = e.insns;
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		insn += disasm_print(insn, text, sizeof(text));
		tap_str(text, expected[i], "%s", expected[i]);
	}
	tap_is(insn - e.insns, e.count, "nothing is left");
	tap_is(disasm_print(e.insns, text, 4), 1, "cut to the size");
	tap_str(text, "r1 ", "what was room for");
	emit_free(&e);
	free(e.insns);
}

/* Whatever the bytes, there is a text. */
static void test_bytes(void)
{
	struct bpf_insn insn[2] = { 0 };
	bool whole = true;
	char text[128];

	for (int code = 0; code < 256; code++) {
		insn[0].code = code;
		insn[0].off = insn[0].imm = 0x7fff;
		text[0] = '\0';
		disasm_print(insn, text, sizeof(text));
		whole &= text[0] && strlen(text) < sizeof(text) - 1;
	}
	tap_ok(whole, "every code has a text");
	insn[0].code = 0x06;
	disasm_print(insn, text, sizeof(text));
	tap_str(text, "(06) dst 0 src 0 off 32767 imm 32767",
		"unknown instruction");
	insn[0].code = BPF_ALU64 | BPF_DIV | BPF_K;
	insn[0].off = 1;
	disasm_print(insn, text, sizeof(text));
	tap_str(text, "(37) dst 0 src 0 off 1 imm 32767",
		"a signed division, which the generator doesn't make");
}

/* Over so many instructions, from the first one on or back to it */
static void jumps(int over, bool back, int code)
{
	struct emit e = { 0 };
	emit_label label = emit_label_new(&e);
	size_t jump = back ? over : 0;

	if (back)
		emit_label_place(&e, label);
	else
		emit_jump(&e, label);
	for (int i = 0; i < over; i++)
		emit_exit(&e);
	if (back)
		emit_jump(&e, label);
	else
		emit_label_place(&e, label);
	tap_is(emit_finish(&e), code, "a jump %s over %d instructions",
	       back ? "back" : "on", over);
	if (!code)
		tap_is(e.insns[jump].off, back ? -over - 1 : over,
		       "  by that many");
	emit_free(&e);
	free(e.insns);
}

static void reaches(int off, int code)
{
	struct emit e = { 0 };

	emit_load(&e, 8, 1, 6, off);
	tap_is(emit_finish(&e), code, "a load at %d", off);
	tap_is(e.count, !code, "  is there, or not");
	emit_free(&e);
	free(e.insns);
}

static void test_reach(void)
{
	jumps(0, false, 0);
	jumps(0, true, 0);
	jumps(INT16_MAX, false, 0);
	jumps(INT16_MAX + 1, false, -E2BIG);
	jumps(-INT16_MIN - 1, true, 0);
	jumps(-INT16_MIN, true, -E2BIG);
	reaches(INT16_MAX, 0);
	reaches(INT16_MAX + 1, -E2BIG);
	reaches(INT16_MIN, 0);
	reaches(INT16_MIN - 1, -E2BIG);
}

static void test_errors(void)
{
	struct emit open = { 0 }, wide = { 0 };

	emit_jump(&open, emit_label_new(&open));
	tap_is(emit_finish(&open), -EINVAL, "a label without a place");
	emit_load(&wide, 8, 1, 6, 40000);
	emit_exit(&wide);
	tap_ok(emit_finish(&wide) == -E2BIG && !wide.count,
	       "an offset too wide stops everything after it");
	emit_free(&open);
	emit_free(&wide);
	free(open.insns);
}

int main(void)
{
	test_texts();
	test_bytes();
	test_reach();
	test_errors();
	return tap_done();
}
