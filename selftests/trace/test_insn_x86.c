// SPDX-License-Identifier: GPL-2.0
/* Lengths of x86 instructions, and which of them take no probe. */
#include <string.h>
#include "tap.h"
#include "lib/arm/probe/target.h"

static const struct {
	const char *name, *bytes;
	size_t size;
	bool wide;
	unsigned int length;
	const char *hazard;	/* a part of it */
} rows[] = {
#define ROW(name, bytes, wide, length, hazard) \
	{ name, bytes, sizeof(bytes) - 1, wide, length, hazard }
	ROW("push %rbp", "\x55", true, 1, NULL),
	ROW("mov %rsp,%rbp", "\x48\x89\xe5", true, 3, NULL),
	ROW("mov 8(%rsp),%eax", "\x8b\x44\x24\x08", true, 4, NULL),
	ROW("mov 0(%rip),%rax", "\x48\x8b\x05\0\0\0\0", true, 7, NULL),
	ROW("mov 0(,%rax,8),%rax", "\x48\x8b\x04\xc5\0\0\0\0", true, 8, NULL),
	ROW("movabs $0,%rax", "\x48\xb8\0\0\0\0\0\0\0\0", true, 10, NULL),
	ROW("mov $0,%ax", "\x66\xb8\0\0", true, 4, NULL),
	ROW("movabs 0,%al", "\xa0\0\0\0\0\0\0\0\0", true, 9, NULL),
	ROW("mov 0,%al", "\xa0\0\0\0\0", false, 5, NULL),
	ROW("testb $0,(%rdi)", "\xf6\x07\0", true, 3, NULL),
	ROW("notb (%rdi)", "\xf6\x17", true, 2, NULL),
	ROW("testl $0,(%rdi)", "\xf7\x07\0\0\0\0", true, 6, NULL),
	ROW("enter", "\xc8\0\0\0", true, 4, NULL),
	ROW("call", "\xe8\0\0\0\0", true, 5, NULL),
	ROW("callw", "\x66\xe8\0\0", false, 4, NULL),
	ROW("lcall", "\x9a\0\0\0\0\0\0", false, 7, NULL),
	ROW("jo rel32", "\x0f\x80\0\0\0\0", true, 6, NULL),
	ROW("endbr64", "\xf3\x0f\x1e\xfa", true, 4, NULL),
	ROW("nop of 9 bytes", "\x66\x0f\x1f\x84\0\0\0\0\0", true, 9, NULL),
	ROW("pshufb", "\x66\x0f\x38\0\xc1", true, 5, NULL),
	ROW("palignr", "\x66\x0f\x3a\x0f\xc1\x08", true, 6, NULL),
	ROW("inc %eax", "\x40", false, 1, NULL),
	ROW("mov (%bp),%ax", "\x67\x66\x8b\x46\0", false, 5, NULL),
	ROW("les", "\xc4\x07", false, 2, NULL),
	ROW("bound", "\x62\x07", false, 2, NULL),
	ROW("pop (%rdi)", "\x8f\x07", true, 2, NULL),
	ROW("mov %fs:0,%rax", "\x64\x48\x8b\x04\x25\0\0\0\0", true, 9, NULL),
	ROW("lock incl", "\xf0\xff\x07", true, 3, "lock"),
	ROW("notrack jmp", "\x3e\xff\xe0", true, 3, "segment"),
	ROW("cs nop", "\x66\x2e\x0f\x1f\x84\0\0\0\0\0", true, 10, "segment"),
	ROW("vzeroupper", "\xc5\xf8\x77", true, 0, "VEX"),
	ROW("vpor", "\xc4\xe1\x75\xeb\xc2", true, 0, "VEX"),
	ROW("vpor, 32 bits", "\xc5\xf5\xeb\xc2", false, 0, "VEX"),
	ROW("EVEX", "\x62\xf1\x75\x48\xeb\xc2", true, 0, "VEX"),
	ROW("XOP", "\x8f\xe9\x78\x81\xc1", true, 0, "XOP"),
	ROW("a part", "\x48\x8b\x05\0", true, 0, NULL),
	ROW("prefixes alone", "\x66\x66", true, 0, NULL),
	ROW("nothing", "", true, 0, NULL),
};

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *hazard;
		unsigned int length = insn_x86_length(
			(const uint8_t *)rows[i].bytes, rows[i].size,
			rows[i].wide, &hazard);

		tap_is(length, rows[i].length, "%s: its bytes", rows[i].name);
		tap_ok(rows[i].hazard ? hazard && strstr(hazard, rows[i].hazard) :
					!hazard, "  %s",
		       rows[i].hazard ? "refused" : "takes a probe");
	}
	return tap_done();
}
