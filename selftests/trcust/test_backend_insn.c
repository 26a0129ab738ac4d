// SPDX-License-Identifier: GPL-2.0
/* Which instructions a probe may be on, and what it costs there. */
#include <elf.h>
#include "tap.h"
#include "arch_x86.h"
#include "rastrace/tdf.h"

#define W ELFCLASS64
#define N ELFCLASS32

enum { NOP5 = TDF_COST_NOP5, FAST = TDF_COST_EMULATED, STEP = TDF_COST_STEPPED,
       USER = 10, ALL = 11, BAD = 12 };

static const struct {
	const char *name;
	unsigned char elf_class, size;
	const char *bytes;
	int expected;
} table[] = {
	{ "nop5", W, 5, "\x0f\x1f\x44\x00\x00", NOP5 },
	{ "nop5 of 32 bits", N, 5, "\x0f\x1f\x44\x00\x00", FAST },
	{ "nop", W, 1, "\x90", FAST },
	{ "nop2", W, 2, "\x66\x90", FAST },
	{ "nop3", W, 3, "\x0f\x1f\x00", FAST },
	{ "nop8", W, 8, "\x0f\x1f\x84\x00\x00\x00\x00\x00", FAST },
	{ "nop5 by prefixes", W, 5, "\x66\x66\x66\x66\x90", NOP5 },
	{ "nopw of 5 bytes", W, 5, "\x66\x0f\x1f\x40\x00", NOP5 },
	{ "0f 1f /1", W, 5, "\x0f\x1f\x4c\x00\x00", STEP },
	{ "pause", W, 2, "\xf3\x90", FAST },
	{ "nop9", W, 9, "\x66\x0f\x1f\x84\x00\x00\x00\x00\x00", STEP },
	{ "push rbp", W, 1, "\x55", FAST },
	{ "push r12", W, 2, "\x41\x54", FAST },
	{ "push rbp with a needless prefix", W, 2, "\x48\x55", STEP },
	{ "push 66", W, 2, "\x66\x50", STEP },
	{ "call", W, 5, "\xe8\x00\x00\x00\x00", FAST },
	{ "jmp", W, 5, "\xe9\x00\x00\x00\x00", FAST },
	{ "jmp short", W, 2, "\xeb\x00", FAST },
	{ "je short", W, 2, "\x74\x00", FAST },
	{ "jne", W, 6, "\x0f\x85\x00\x00\x00\x00", FAST },
	{ "jmp *rax", W, 2, "\xff\xe0", STEP },
	{ "endbr64", W, 4, "\xf3\x0f\x1e\xfa", STEP },
	{ "ret", W, 1, "\xc3", STEP },
	{ "mov", W, 3, "\x48\x89\xe5", STEP },
	{ "stosq", W, 2, "\x48\xab", STEP },
	{ "rep ret", W, 2, "\xf3\xc3", STEP },
	{ "mfence", W, 3, "\x0f\xae\xf0", STEP },
	{ "xgetbv", W, 3, "\x0f\x01\xd0", STEP },
	{ "rdtscp", W, 3, "\x0f\x01\xf9", STEP },
	{ "mov fs:", W, 9, "\x64\x48\x8b\x04\x25\x28\x00\x00\x00", STEP },
	{ "imul", W, 3, "\x6b\xc0\x07", STEP },
	{ "div", W, 2, "\xf7\xf1", STEP },
	{ "popf", W, 1, "\x9d", STEP },
	{ "rdtsc", W, 2, "\x0f\x31", STEP },
	{ "cpuid", W, 2, "\x0f\xa2", STEP },
	{ "movdqa", W, 4, "\x66\x0f\x6f\xc1", STEP },

	{ "vpor", W, 4, "\xc5\xe9\xeb\xc2", USER },
	{ "vpcmpeqd", W, 4, "\xc5\xe9\x76\xc2", USER },
	{ "vzeroupper", W, 3, "\xc5\xf8\x77", USER },
	{ "andn, three bytes of VEX", W, 5, "\xc4\xe2\x70\xf2\xc2", USER },
	{ "vpord, EVEX", W, 6, "\x62\xf1\x6d\x48\xeb\xc2", USER },
	{ "cs nopw", W, 10, "\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", USER },
	{ "notrack jmp", W, 3, "\x3e\xff\xe0", USER },
	{ "es mov", N, 3, "\x26\x8b\x00", USER },
	{ "ss mov", N, 3, "\x36\x8b\x00", USER },
	{ "lock inc", W, 3, "\xf0\xff\x00", USER },
	{ "syscall", W, 2, "\x0f\x05", USER },
	{ "sysenter", N, 2, "\x0f\x34", USER },
	{ "rep stosq", W, 3, "\xf3\x48\xab", USER },
	{ "repne scasb", W, 2, "\xf2\xae", USER },
	{ "xchg r8, rax", W, 2, "\x49\x90", USER },
	{ "call, data16 (TLS)", W, 8, "\x66\x66\x48\xe8\0\0\0\0", USER },
	{ "je, data16", N, 3, "\x66\x74\x00", USER },
	{ "lcall", W, 2, "\xff\x18", USER },
	{ "ret, two REX prefixes", W, 3, "\x41\x41\xc3", USER },
	{ "smsw", W, 3, "\x0f\x01\xe0", USER },
	{ "in", W, 1, "\xec", USER },
	{ "out", W, 2, "\xe6\x80", USER },
	{ "insb", W, 1, "\x6c", USER },
	{ "hlt", W, 1, "\xf4", USER },
	{ "cli", W, 1, "\xfa", USER },
	{ "sti", W, 1, "\xfb", USER },
	{ "lgdt", W, 3, "\x0f\x01\x10", USER },
	{ "pop ds", N, 1, "\x1f", USER },

	{ "int3", W, 1, "\xcc", ALL },
	{ "int 0x80", W, 2, "\xcd\x80", ALL },
	{ "into", N, 1, "\xce", ALL },
	{ "int1", W, 1, "\xf1", ALL },
	{ "iretq", W, 2, "\x48\xcf", ALL },
	{ "ud2", W, 2, "\x0f\x0b", ALL },
	{ "pushf", W, 1, "\x9c", ALL },
	{ "mov ss", W, 2, "\x8e\xd0", ALL },
	{ "pop ss", N, 1, "\x17", ALL },

	{ "into does not exist in 64 bits", W, 1, "\xce", BAD },
	{ "pusha does not exist in 64 bits", W, 1, "\x60", BAD },
	{ "pusha", N, 1, "\x60", STEP },
	{ "half a mov", W, 2, "\x48\x89", BAD },
	{ "nothing", W, 0, "", BAD },
};

static int outcome(const struct arch_insn *insn, int code)
{
	if (code)
		return BAD;
	if (insn->refused)
		return ALL;
	return insn->user_refused ? USER : insn->cost;
}

int main(void)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct arch_insn insn;
		int code = arch_insn_decode(x86_of(table[i].elf_class),
					    (const uint8_t *)table[i].bytes,
					    table[i].size, &insn);
		int got = outcome(&insn, code);

		if (!tap_ok(got == table[i].expected, "%s", table[i].name))
			tap_diag("got %d, expected %d", got,
				 table[i].expected);
		if (!code && insn.length != table[i].size)
			tap_ok(false, "%s: length %u", table[i].name,
			       insn.length);
		if (!code && insn.user_refused && !insn.why)
			tap_ok(false, "%s: refused without a reason",
			       table[i].name);
	}
	return tap_done();
}
