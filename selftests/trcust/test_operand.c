// SPDX-License-Identifier: GPL-2.0
/* Operands in the notes of static probes, in every form of the assembler. */
#include "tap.h"

#include <elf.h>
#include "arch_x86.h"

static const struct {
	const char *text, *meaning;	/* NULL: refused */
	bool is32;
} rows[] = {
	{ "$5", "immediate 5" },
	{ "$-5", "immediate -5" },
	{ "$0x10", "immediate 16" },
	{ "$18446744073709551615", "immediate -1" },
	{ "%rdi", "register 5 bytes 8" },
	{ "%RDI", "register 5 bytes 8" },
	{ "%edi", "register 5 bytes 4" },
	{ "%di", "register 5 bytes 2" },
	{ "%dil", "register 5 bytes 1" },
	{ "%al", "register 0 bytes 1" },
	{ "%ah", "register 0 bytes 1 shift 8" },
	{ "%bh", "register 3 bytes 1 shift 8" },
	{ "%bpl", "register 6 bytes 1" },
	{ "%spl", "register 7 bytes 1" },
	{ "%r8", "register 8 bytes 8" },
	{ "%r8d", "register 8 bytes 4" },
	{ "%r15w", "register 15 bytes 2" },
	{ "%r10b", "register 10 bytes 1" },
	{ "-20(%rbp)", "memory -20 base 6" },
	{ "(%rax)", "memory 0 base 0" },
	{ "0x8(%rsp)", "memory 8 base 7" },
	{ "8(%rax,%rbx)", "memory 8 base 0 index 3 * 1" },
	{ "8(%rax,%rbx,4)", "memory 8 base 0 index 3 * 4" },
	{ "(,%rcx,8)", "memory 0 index 2 * 8" },
	{ "table(,%rcx,8)", "memory 0 index 2 * 8 symbol table" },
	{ "sym", "memory 0 symbol sym" },
	{ "sym+4", "memory 4 symbol sym" },
	{ "sym-4(%rip)", "memory -4 symbol sym" },
	{ "4+sym(%rip)", "memory 4 symbol sym" },
	{ "8+sym+4(%rip)", "memory 12 symbol sym" },
	{ "a.b$c(%rip)", "memory 0 symbol a.b$c" },
	{ "sym(%rax)", "memory 0 base 0 symbol sym" },
	{ "4096", "memory 4096" },
	{ "%eax", "register 0 bytes 4", true },
	{ "%ecx", "register 1 bytes 4", true },
	{ "-4(%ebp)", "memory -4 base 5", true },
	{ "sym(%eip)", "memory 0 symbol sym", true },
	{ "%rax", NULL, true }, { "%r8d", NULL, true },
	{ "" }, { "$" }, { "$-" }, { "$x" }, { "$5x" }, { "%" }, { "%xmm0" },
	{ "%st(0)" }, { "%fs:8" }, { "%ds" }, { "%rl" }, { "%xl" },
	{ "%sih" }, { "%r8x" }, { "%r99" }, { "(%rax" }, { "()" }, { "8()" },
	{ "(%rax,%rbx,3)" }, { "(%rax,%rbx,)" }, { "(%rax,%rbx,44)" },
	{ "(%rax,)" }, { "(%xmm0)" }, { "4(%rip)" }, { "sym+(%rax)" },
	{ "a+b(%rip)" }, { "-sym" }, { "sym(%rip,%rax)" }, { "4x(%rax)" },
	{ "%fs:sym@tpoff" }, { "%aaaaaaaaaaaaaaaaaaaaaaaaa" },
};

/* In the words of the rows; static. */
static const char *meaning(const char *text, bool is32)
{
	static char out[256];
	const struct arch *arch = x86_of(is32 ? ELFCLASS32 : ELFCLASS64);
	struct arch_operand o;
	size_t used = 0;

	if (!arch->operand_parse(arch, text, strlen(text), &o))
		return "refused";
#define ADD(...) (used += snprintf(out + used, sizeof(out) - used, __VA_ARGS__))
	if (o.kind == ARCH_REGISTER) {
		ADD("register %d bytes %u", o.base, o.bytes);
		if (o.shift)
			ADD(" shift %u", o.shift);
		return out;
	}
	ADD("%s %lld", o.kind == ARCH_MEMORY ? "memory" : "immediate",
	    (long long)o.number);
	if (o.base >= 0)
		ADD(" base %d", o.base);
	if (o.index >= 0)
		ADD(" index %d * %u", o.index, o.scale);
	if (o.symbol)
		ADD(" symbol %.*s", (int)o.symbol_length, o.symbol);
#undef ADD
	return out;
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		tap_str(meaning(rows[i].text, rows[i].is32),
			rows[i].meaning ? rows[i].meaning : "refused",
			"%s%s", rows[i].text, rows[i].is32 ? " (32)" : "");
	return tap_done();
}
