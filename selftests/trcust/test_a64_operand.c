// SPDX-License-Identifier: GPL-2.0
/* Operands in the notes of static probes of AArch64, in every form that
 * compilers give them. */
#include "tap.h"

#include "lib/debug/arch/arch.h"

static const struct {
	const char *text, *meaning;	/* NULL: refused */
} rows[] = {
	/* gcc */
	{ "5", "immediate 5" }, { "-1", "immediate -1" },
	{ "0", "immediate 0" },
	{ "81985529216486895", "immediate 81985529216486895" },
	{ "18446744073709551615", "immediate -1" },
	{ "0x10", "immediate 16" },
	{ "x0", "register 0 bytes 8" }, { "w1", "register 1 bytes 4" },
	{ "X30", "register 30 bytes 8" }, { "sp", "register 31 bytes 8" },
	{ "x29", "register 29 bytes 8" },
	{ "xzr", "immediate 0" }, { "wzr", "immediate 0" },
	{ "[x0]", "memory 0 base 0" }, { "[sp, 12]", "memory 12 base 31" },
	{ "[x1, -800]", "memory -800 base 1" },
	{ "[x0,x1]", "memory 0 base 0 index 1 * 1" },
	{ "[x0, x1, lsl 3]", "memory 0 base 0 index 1 * 8" },
	{ "[x0, #:lo12:counter]", "memory 0 symbol counter" },
	{ "[x0, #:lo12:table+16]", "memory 16 symbol table" },
	{ "[x0, #:lo12:table-16]", "memory -16 symbol table" },
	/* clang, and the assembler itself */
	{ "#5", "immediate 5" }, { "#-5", "immediate -5" },
	{ "[x8]", "memory 0 base 8" }, { "[x8, #16]", "memory 16 base 8" },
	{ "[x8, :lo12:counter]", "memory 0 symbol counter" },
	{ "[x8, x9, lsl #2]", "memory 0 base 8 index 9 * 4" },

	{ "" }, { "#" }, { "-" }, { "#-" }, { "5x" }, { "x" }, { "x31" },
	{ "w31" }, { "x0x" }, { "x99" }, { "d0" }, { "v0" }, { "s3" },
	{ "pc" }, { "pstate" }, { "tpidr" }, { "rdi" }, { "%x0" }, { "$5" },
	{ "x0, x1" }, { "[" }, { "[]" }, { "[x0" }, { "[x0," }, { "[x0,]" },
	{ "[x0, ]" }, { "[x0, 8" }, { "[x0, 8]!" }, { "[x0], 8" },
	{ "[w0]" }, { "[5]" }, { "[x0, w1]" }, { "[x0, w1, sxtw 2]" },
	{ "[x0, sp]" }, { "[x0, x1, lsl 4]" }, { "[x0, x1, lsl]" },
	{ "[x0, x1, lsl -1]" }, { "[x0, x1, x2]" }, { "[x0, 8, 8]" },
	{ "[x0, #:lo12:]" }, { "[x0, #:lo12:a+]" }, { "[x0, #:lo12:a+b]" },
	{ "[x0, #:lo12:a" }, { "[x0, #:lo12:a+1" }, { "[xzr]" },
	{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" }, { "4@x0" },
};

/* In the words of the rows; static. */
static const char *meaning(const char *text, size_t length)
{
	static char out[256];
	struct arch_operand o;
	size_t used = 0;

	if (!arch_aarch64.operand_parse(&arch_aarch64, text, length, &o))
		return "refused";
#define ADD(...) (used += snprintf(out + used, sizeof(out) - used, __VA_ARGS__))
	if (o.kind == ARCH_REGISTER) {
		ADD("register %d bytes %u", o.base, o.bytes);
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
	return out;
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *expected = rows[i].meaning ? rows[i].meaning :
							 "refused";
		size_t length = strlen(rows[i].text);
		char after[300];
		const char *got = meaning(rows[i].text, length);

		if (!tap_ok(!strcmp(got, expected), "'%s'", rows[i].text))
			tap_diag("got %s, expected %s", got, expected);
		/* what follows it isn't its own */
		snprintf(after, sizeof(after), "%s1", rows[i].text);
		got = meaning(after, length);
		if (strcmp(got, expected))
			tap_ok(false, "'%s' in front of 1: %s", rows[i].text,
			       got);
	}
	return tap_done();
}
