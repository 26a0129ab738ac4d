// SPDX-License-Identifier: GPL-2.0
/*
 * AArch64: its registers (aadwarf64 4.1, aapcs64 6); instructions as the GNU
 * assembler has them, and those of extensions: FEAT_LSE, FEAT_LRCPC,
 * FEAT_PAuth, FEAT_BTI (Arm ARM, C4.1 and C6.2); operands that compilers have
 * in notes of static probes; the relocations of object files.
 */
#include "arch.h"

#include <capstone/capstone.h>
#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include "arch_a64_effect.h"
#include "arch_a64_insn.h"
#include "arch_a64_jump.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

struct a64_text {
	char *out;
	size_t size, used;	/* used >= size: there was no room */
};

__attribute__((format(printf, 2, 3)))
static void a64_text_add(struct a64_text *text, const char *format, ...)
{
	size_t room = text->used < text->size ? text->size - text->used : 0;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(room ? text->out + text->used : NULL, room, format,
			   args);
	va_end(args);
	text->used += length > 0 ? length : 0;
}

/* "x3", "w3"; number 31 is the zero register ('z') or the stack pointer ('s')
 */
static void a64_text_register(struct a64_text *text, char letter,
			      unsigned int number, char kind_of_31)
{
	if (number != 31)
		a64_text_add(text, "%c%u", letter, number);
	else if (kind_of_31 == 'z')
		a64_text_add(text, "%czr", letter);
	else
		a64_text_add(text, letter == 'w' ? "wsp" : "sp");
}

/*
 * Instructions of Armv8.1 and later that the library for the others doesn't
 * know: atomic ones, pointer authentication, hints; and udf. In the text:
 *
 * %t %s  the register at bit 0, 16, x or w by the size at bit 30
 * %d %m  the x register at bit 0, 5
 * %g %b %f  the x register or stack pointer at bit 0, 5, 16
 * %p     two pairs of registers, of cas
 * %o     "b", "h" of a size that is less than a word
 * %A %R  "a", "l": acquire and release of atomic operations
 * %a %r  the same of cas
 * %O %S %h  the operation's name; %k %K  the key
 * %D %w  the distance, if any; "!" of one that the base is changed by
 */
static const struct {
	uint32_t mask, word;
	const char *text;
} extensions[] = {
	{ 0x3fa08c1f, 0x3820001f, "st%O%R%o %s, [%b]" },
	{ 0x3f208c00, 0x38200000, "ld%O%A%R%o %s, %t, [%b]" },
	{ 0x3f20fc00, 0x38208000, "swp%A%R%o %s, %t, [%b]" },
	{ 0x3fa07c00, 0x08a07c00, "cas%a%r%o %s, %t, [%b]" },
	{ 0x3ffffc00, 0x38bfc000, "ldapr%o %t, [%b]" },
	{ 0xbfa17c01, 0x08207c00, "casp%a%r %p, [%b]" },
	{ 0xfffff01f, 0xd503201f, "%h" },
	{ 0xfffff81f, 0xd61f081f, "bra%kz %m" },
	{ 0xfffff81f, 0xd63f081f, "blra%kz %m" },
	{ 0xfffff800, 0xd71f0800, "bra%k %m, %g" },
	{ 0xfffff800, 0xd73f0800, "blra%k %m, %g" },
	{ 0xfffffbff, 0xd65f0bff, "reta%k" },
	{ 0xfffffbff, 0xd69f0bff, "ereta%k" },
	{ 0xffffe000, 0xdac10000, "%S %d, %b" },
	{ 0xffffe3e0, 0xdac123e0, "%S %d" },
	{ 0xfffffbe0, 0xdac143e0, "%S %d" },
	{ 0xffe0fc00, 0x9ac03000, "pacga %d, %m, %f" },
	{ 0xff200400, 0xf8200400, "ldra%K %d, [%b%D]%w" },
};

static void directive_print(char directive, uint32_t word,
			    struct a64_text *text)
{
	static const char *const operations[] = {
		"add", "clr", "eor", "set", "smax", "smin", "umax", "umin",
	};
	static const char *const signs[] = {
		"pacia", "pacib", "pacda", "pacdb",
		"autia", "autib", "autda", "autdb",
		"paciza", "pacizb", "pacdza", "pacdzb",
		"autiza", "autizb", "autdza", "autdzb", "xpaci", "xpacd",
	};
	static const char *const hints[128] = {
		"nop", "yield", "wfe", "wfi", "sev", "sevl", NULL, "xpaclri",
		"pacia1716", NULL, "pacib1716", NULL,
		"autia1716", NULL, "autib1716", NULL,
		"esb", "psb csync", "tsb csync", NULL, "csdb",
		[24] = "paciaz", "paciasp", "pacibz", "pacibsp",
		"autiaz", "autiasp", "autibz", "autibsp",
		"bti", NULL, "bti c", NULL, "bti j", NULL, "bti jc",
	};
	static const char *const sizes[] = { "b", "h", "", "" };
	unsigned int at0 = word & 31, at5 = word >> 5 & 31;
	unsigned int at16 = word >> 16 & 31, hint = word >> 5 & 0x7f;
	char letter = word >> 30 == 3 ? 'x' : 'w';
	int64_t distance = a64_bit(word, 22) ? -4096 : 0;

	switch (directive) {
	case 't': a64_text_register(text, letter, at0, 'z'); break;
	case 's': a64_text_register(text, letter, at16, 'z'); break;
	case 'd': a64_text_register(text, 'x', at0, 'z'); break;
	case 'm': a64_text_register(text, 'x', at5, 'z'); break;
	case 'g': a64_text_register(text, 'x', at0, 's'); break;
	case 'b': a64_text_register(text, 'x', at5, 's'); break;
	case 'f': a64_text_register(text, 'x', at16, 's'); break;
	case 'p':
		letter = a64_bit(word, 30) ? 'x' : 'w';
		for (unsigned int i = 0; i < 4; i++) {
			a64_text_add(text, i ? ", " : "");
			a64_text_register(text, letter,
					  (i < 2 ? at16 : at0) + (i & 1), 'z');
		}
		break;
	case 'o': a64_text_add(text, "%s", sizes[word >> 30]); break;
	case 'A': a64_text_add(text, a64_bit(word, 23) ? "a" : ""); break;
	case 'R': a64_text_add(text, a64_bit(word, 22) ? "l" : ""); break;
	case 'a': a64_text_add(text, a64_bit(word, 22) ? "a" : ""); break;
	case 'r': a64_text_add(text, a64_bit(word, 15) ? "l" : ""); break;
	case 'O': a64_text_add(text, "%s", operations[word >> 12 & 7]); break;
	case 'S': a64_text_add(text, "%s", signs[word >> 10 & 63]); break;
	case 'h':
		if (hints[hint])
			a64_text_add(text, "%s", hints[hint]);
		else
			a64_text_add(text, "hint #0x%x", hint);
		break;
	case 'k': a64_text_add(text, a64_bit(word, 10) ? "b" : "a"); break;
	case 'K': a64_text_add(text, a64_bit(word, 23) ? "b" : "a"); break;
	case 'D':
		distance += (word >> 12 & 0x1ff) * 8;
		if (distance)
			a64_text_add(text, ", #%d", (int)distance);
		break;
	case 'w': a64_text_add(text, a64_bit(word, 11) ? "!" : ""); break;
	}
}

/* False: none of these. */
static bool a64_extension_print(uint32_t word, struct a64_text *text)
{
	size_t i = 0;

	if (!(word & 0xffff0000)) {
		a64_text_add(text, "udf #%u", word);
		return true;
	}
	while (i < COUNT(extensions) &&
	       (word & extensions[i].mask) != extensions[i].word)
		i++;
	if (i == COUNT(extensions))
		return false;
	for (const char *p = extensions[i].text; *p; p++) {
		if (*p == '%')
			directive_print(*++p, word, text);
		else
			a64_text_add(text, "%c", *p);
	}
	return true;
}

/* Where the assembler has another name than the library. */
static const struct {
	const char *from, *to;
	const char *zero;	/* only with #0 at the end, which goes away */
} names[] = {
	{ "b.hs", "b.cs" }, { "b.lo", "b.cc" }, { "ins", "mov" },
	{ "sshll", "sxtl", "#0" }, { "ushll", "uxtl", "#0" },
	{ "sshll2", "sxtl2", "#0" }, { "ushll2", "uxtl2", "#0" },
};

/* Numbers of the instruction are written in hexadecimal: those of arithmetic
 * and logic, of conditional comparisons, vector constants, exceptions and
 * barriers, and those for a part of the processor's state. */
static bool word_has_hex(uint32_t word)
{
	unsigned int kind = word >> 23 & 0x3f;

	return kind == 0x22 || kind == 0x24 || kind == 0x25 ||
	       (word & 0x1fe00000) == 0x1a400000 ||	/* ccmp */
	       (word & 0xff200c00) == 0x1e200400 ||	/* fccmp */
	       (word & 0x9ff80400) == 0x0f000400 ||	/* movi */
	       (word & 0xfffff01f) == 0xd503301f ||	/* dmb */
	       (word & 0xfff8f01f) == 0xd500401f ||	/* msr */
	       word >> 24 == 0xd4;
}

/* A label, whose address is written as a number. */
static bool word_has_label(uint32_t word)
{
	return (word & 0x7c000000) == 0x14000000 ||	/* b, bl */
	       (word & 0x7c000000) == 0x34000000 ||	/* cbz, tbz */
	       (word & 0xff000000) == 0x54000000 ||	/* b.eq */
	       (word & 0x1f000000) == 0x10000000 ||	/* adr */
	       (word & 0x3b000000) == 0x18000000;	/* ldr */
}

/* The value that movz and movn leave; false: they are written as they are. */
static bool word_moves(uint32_t word, uint64_t *value)
{
	bool wide = word >> 31, inverts = !(word >> 30 & 1);
	unsigned int shift = (word >> 21 & 3) * 16;
	uint64_t number = word >> 5 & 0xffff;

	if ((word & 0x1f800000) != 0x12800000 || (word >> 29 & 1))
		return false;
	if ((!number && shift) || (inverts && !wide && number == 0xffff))
		return false;
	*value = number << shift;
	if (inverts)
		*value = ~*value;
	if (!wide)
		*value &= UINT32_MAX;
	return true;
}

static char general_letter(uint32_t word)
{
	return word >> 31 ? 'x' : 'w';
}

/* "mov" of a number: movz, movn and orr with the zero register. */
static bool move_print(uint32_t word, const char *operands,
		       struct a64_text *text)
{
	unsigned int to = word & 31;
	const char *number;
	uint64_t value;
	unsigned int chunks = word >> 31 ? 4 : 2, zeros = 0, ones = 0;

	if (word_moves(word, &value)) {
		a64_text_add(text, "mov ");
		a64_text_register(text, general_letter(word), to, 'z');
		a64_text_add(text, ", #0x%llx", (unsigned long long)value);
		return true;
	}
	if ((word & 0x7f8003e0) != 0x320003e0)
		return false;
	number = strchr(operands, '#');
	if (!number)
		return false;
	value = strtoull(number + 1, NULL, 0);

	/* movz, or movn where inverted, would do for the number */
	for (unsigned int i = 0; i < chunks; i++) {
		unsigned int chunk = value >> (16 * i) & 0xffff;

		zeros += chunk == 0;
		ones += chunk == 0xffff;
	}
	if (zeros >= chunks - 1 || ones >= chunks - 1)
		return false;
	a64_text_add(text, "mov ");
	a64_text_register(text, general_letter(word), to, 's');
	a64_text_add(text, ", #0x%llx", (unsigned long long)value);
	return true;
}

/* The number after a '#', in the assembler's form. */
static const char *a64_number_print(const char *p, bool hex,
				    struct a64_text *text)
{
	bool minus = *p == '-';
	size_t digits = strspn(p + minus, "0123456789");
	uint64_t value;
	char *end;

	if (p[minus + digits] == '.') {
		double real = strtod(p, &end);

		/* only comparisons have the number 0 */
		a64_text_add(text, real ? "#%.18e" : "#%.1f", real);
		return end;
	}
	/* a 64-bit constant of a vector has no 0x */
	value = strtoull(p + minus, &end, digits == 16 ? 16 : 0);
	if (minus)
		value = -value;
	if (hex)
		a64_text_add(text, "#0x%llx", (unsigned long long)value);
	else
		a64_text_add(text, "#%lld", (long long)value);
	return end;
}

/* One letter, or all that belongs together. */
static const char *a64_part_print(const char *start, const char *p,
				  struct a64_text *text)
{
	const char *close = strchr(p, '}'), *comma = strchr(p, ',');
	const char *last = close;
	char *end;

	/* "{v1.4s, v2.4s, v3.4s}": more than two are "{v1.4s-v3.4s}" */
	if (*p == '{') {
		while (last && last > p && last[-1] != ' ')
			last--;
		if (!comma || !close || comma > close || last - comma < 3 ||
		    strtoul(p + 2, NULL, 10) > strtoul(last + 1, NULL, 10)) {
			a64_text_add(text, "{");
			return p + 1;
		}
		a64_text_add(text, "%.*s-", (int)(comma - p), p);
		return last;
	}
	if (!strncmp(p, "0x", 2) && p > start && p[-1] == '[') {
		a64_text_add(text, "%lu", strtoul(p, &end, 0));
		return end;
	}

	/* a condition that has two names */
	if (!strcmp(p, ", hs") || !strcmp(p, ", lo")) {
		a64_text_add(text, p[2] == 'h' ? ", cs" : ", cc");
		return p + 4;
	}
	a64_text_add(text, "%c", *p);
	return p + 1;
}

/* The name as the assembler has it; operands may become shorter. */
static const char *a64_name_find(const char *name, char *operands)
{
	size_t length = strlen(operands);
	char *zero = strstr(operands, "zr, #");

	for (size_t i = 0; i < COUNT(names); i++) {
		size_t end = names[i].zero ? strlen(names[i].zero) + 2 : 0;

		if (strcmp(name, names[i].from) || length < end ||
		    (end && strcmp(operands + length - end + 2,
				   names[i].zero)))
			continue;
		operands[length - end] = 0;
		return names[i].to;
	}
	if (!strcmp(name, "bfi") && zero && zero > operands + 1) {
		memmove(zero - 1, zero + 4, strlen(zero + 4) + 1);
		return "bfc";
	}
	return name;
}

/* An instruction that the library knows */
static void known_print(uint32_t word, cs_insn *insn, struct a64_text *text)
{
	char *operands = insn->op_str, *reg = strstr(operands, "s3_");
	const char *name, *label;
	bool inside = false, hex;

	if (move_print(word, operands, text))
		return;
	name = a64_name_find(insn->mnemonic, operands);
	a64_text_add(text, "%s%s", name, *operands ? " " : "");

	/* the assembler has other names of system registers than the library */
	for (char *p = operands; !strncmp(name, "sys", 3) && *p; p++)
		if (*p == 'c')
			*p = 'C';
	if (reg && (!strcmp(name, "mrs") || !strcmp(name, "msr")))
		reg[1] = '0' + (word >> 19 & 3);

	hex = word_has_hex(word) || !strncmp(name, "prf", 3);
	label = word_has_label(word) ? strrchr(operands, '#') : NULL;
	for (const char *p = operands; *p;) {
		/* "lsl #4": how far is a decimal number always */
		bool shift = p - operands >= 2 && p[-1] == ' ' &&
			     isalpha(p[-2]);

		inside = *p == '[' || (inside && *p != ']');
		if (p == label)
			p++;
		else if (*p == '#')
			p = a64_number_print(p + 1, hex && !inside && !shift,
					     text);
		else
			p = a64_part_print(operands, p, text);
	}
}

static int a64_insn_print(const struct arch *arch, const uint8_t *code,
			  size_t size, uint64_t address, char *out,
			  size_t out_size)
{
	struct a64_text text = { .out = out, .size = out_size };
	struct arch_insn insn;
	cs_insn *known = NULL;
	size_t count = 0;
	csh handle;

	if (!out_size || arch_insn_decode(arch, code, size, &insn))
		return -EINVAL;
	if (a64_extension_print(a64_word(code), &text))
		return text.used < out_size ? 0 : -EINVAL;
	if (!cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &handle)) {
		count = cs_disasm(handle, code, 4, address, 1, &known);
		if (count) {
			known_print(a64_word(code), known, &text);
			cs_free(known, count);
		}
		cs_close(&handle);
	}
	if (!count)
		a64_text_add(&text, ".inst 0x%08x", a64_word(code));
	return text.used < out_size ? 0 : -EINVAL;
}

#define NAME_SIZE	8
#define TEXT_SIZE	256

struct a64_reader {
	const struct arch *arch;
	const char *at, *end;
};

static void skip_spaces(struct a64_reader *r)
{
	while (r->at < r->end && *r->at == ' ')
		r->at++;
}

static bool a64_take(struct a64_reader *r, const char *text)
{
	size_t length = strlen(text);

	skip_spaces(r);
	if ((size_t)(r->end - r->at) < length ||
	    strncasecmp(r->at, text, length))
		return false;
	r->at += length;
	return true;
}

static bool at_end(struct a64_reader *r)
{
	skip_spaces(r);
	return r->at == r->end;
}

/* A name of letters and digits, as the register that it is; NULL: none. */
static const struct arch_register *a64_take_register(struct a64_reader *r)
{
	const struct arch_register *reg;
	char name[NAME_SIZE];
	size_t length = 0;

	skip_spaces(r);
	while (r->at + length < r->end && isalnum(r->at[length]))
		length++;
	if (!length || length >= sizeof(name))
		return NULL;
	memcpy(name, r->at, length);
	name[length] = 0;
	reg = arch_register_find(r->arch, name);
	if (!reg || reg->pt_regs < 0 || reg->dwarf < 0 ||
	    (reg->kind != ARCH_GPR))
		return NULL;
	r->at += length;
	return reg;
}

/* With or without the # of the assembler. */
static bool a64_take_number(struct a64_reader *r, int64_t *number)
{
	char digits[24];
	size_t length = 0;
	bool minus;
	char *end;

	a64_take(r, "#");
	minus = a64_take(r, "-");
	while (r->at + length < r->end && isalnum(r->at[length]))
		length++;
	if (!length || length >= sizeof(digits) || !isdigit(*r->at))
		return false;
	memcpy(digits, r->at, length);
	digits[length] = 0;
	*number = strtoull(digits, &end, 0);
	if (*end)
		return false;
	if (minus)
		*number = -(uint64_t)*number;
	r->at += length;
	return true;
}

/* "[x0]", "[sp, 12]", "[x0, x1, lsl 3]", "[x0, #:lo12:sym]" */
static bool memory_parse(struct a64_reader *r, struct arch_operand *operand)
{
	const struct arch_register *reg = a64_take_register(r);
	int64_t shift;

	operand->kind = ARCH_MEMORY;
	if (!reg || reg->bytes != 8)
		return false;
	operand->base = reg->dwarf;
	if (!a64_take(r, ","))
		return a64_take(r, "]") && at_end(r);
	if (a64_take(r, "#:lo12:") || a64_take(r, ":lo12:")) {
		/*
		 * The symbol's place in its page, whose address is in the
		 * register before. Both together are the symbol's address, and
		 * the register isn't needed.
		 */
		operand->symbol = r->at;
		while (r->at < r->end && !strchr("+-] ", *r->at))
			r->at++;
		operand->symbol_length = r->at - operand->symbol;
		operand->base = -1;
		if (!operand->symbol_length)
			return false;
		if ((a64_take(r, "+") || (r->at < r->end && *r->at == '-')) &&
		    !a64_take_number(r, &operand->number))
			return false;
	} else if (!a64_take_number(r, &operand->number)) {
		reg = a64_take_register(r);
		if (!reg || reg->bytes != 8 ||
		    !arch_register_is_index(r->arch, reg))
			return false;
		operand->index = reg->dwarf;
		if (a64_take(r, ",")) {
			if (!a64_take(r, "lsl") ||
			    !a64_take_number(r, &shift) || shift < 0 ||
			    shift > 3)
				return false;
			operand->scale = 1 << shift;
		}
	}
	return a64_take(r, "]") && at_end(r);
}

static bool a64_operand_parse(const struct arch *arch, const char *text,
			      size_t length, struct arch_operand *operand)
{
	struct a64_reader r = { arch, text, text + length };
	const struct arch_register *reg;

	*operand = (struct arch_operand){
		.kind = ARCH_IMMEDIATE, .base = -1, .index = -1, .scale = 1,
	};
	if (length > TEXT_SIZE)
		return false;
	if (a64_take(&r, "["))
		return memory_parse(&r, operand);
	/* these two are numbers: they read as 0 */
	if (a64_take(&r, "xzr") || a64_take(&r, "wzr") ||
	    a64_take_number(&r, &operand->number))
		return at_end(&r);
	reg = a64_take_register(&r);
	if (!reg)
		return false;
	operand->kind = ARCH_REGISTER;
	operand->base = reg->dwarf;
	operand->bytes = reg->bytes;
	return at_end(&r);
}

static const struct arch_register registers[] = {
#define RAS_REG(reg, size, dw, regs_offset, reg_kind)			\
	{ .name = #reg, .bytes = size, .dwarf = dw,			\
	  .pt_regs = regs_offset, .kind = ARCH_##reg_kind },
#include <rastrace/arch-a64.def>
#undef RAS_REG
};

static const struct arch_bank banks[] = { { 64, 32, 0, "v" }, { 0 } };

/* aaelf64 5.7.4 to 5.7.8, as far as kernel modules have them
 * (arch/arm64/kernel/module.c) */
#define DATA(name, size, from_here)					\
	{ R_AARCH64_##name, { .bytes = size, .relative = from_here } }
/* the number's bits [low, low + width) at bit `where` of an instruction */
#define FIELD(name, from_here, low, width, where)			\
	{ R_AARCH64_##name, { .bytes = 4, .relative = from_here,	\
			      .first = low, .count = width, .at = where } }
/* of a jump: the distance's bits from 2 on */
#define JUMP(name, width, where)					\
	{ R_AARCH64_##name, { .bytes = 4, .relative = true, .clamps = true, \
			      .first = 2, .count = width, .at = where } }
/* adr, adrp: the lowest two bits have a field of their own (Arm ARM C6.2.12) */
#define ADR(name, round, low)						\
	{ R_AARCH64_##name, { .bytes = 4, .relative = true,		\
			      .pages = round, .first = low, .count = 21,	\
			      .at = 5, .low_at = 29 } }

static const struct arch_object_relocation relocations[] = {
	{ R_AARCH64_NONE, { 0 } },
	{ 256, { 0 } },		/* R_AARCH64_NONE of early tools */
	DATA(ABS64, 8, false),
	DATA(ABS32, 4, false),
	DATA(ABS16, 2, false),
	DATA(PREL64, 8, true),
	DATA(PREL32, 4, true),
	DATA(PREL16, 2, true),
	{ 314, { .bytes = 4, .relative = true } },	/* R_AARCH64_PLT32 */
	FIELD(MOVW_UABS_G0, false, 0, 16, 5),
	FIELD(MOVW_UABS_G0_NC, false, 0, 16, 5),
	FIELD(MOVW_UABS_G1, false, 16, 16, 5),
	FIELD(MOVW_UABS_G1_NC, false, 16, 16, 5),
	FIELD(MOVW_UABS_G2, false, 32, 16, 5),
	FIELD(MOVW_UABS_G2_NC, false, 32, 16, 5),
	FIELD(MOVW_UABS_G3, false, 48, 16, 5),
	FIELD(MOVW_SABS_G0, false, 0, 16, 5),
	FIELD(MOVW_SABS_G1, false, 16, 16, 5),
	FIELD(MOVW_SABS_G2, false, 32, 16, 5),
	FIELD(MOVW_PREL_G0, true, 0, 16, 5),
	FIELD(MOVW_PREL_G0_NC, true, 0, 16, 5),
	FIELD(MOVW_PREL_G1, true, 16, 16, 5),
	FIELD(MOVW_PREL_G1_NC, true, 16, 16, 5),
	FIELD(MOVW_PREL_G2, true, 32, 16, 5),
	FIELD(MOVW_PREL_G2_NC, true, 32, 16, 5),
	FIELD(MOVW_PREL_G3, true, 48, 16, 5),
	FIELD(LD_PREL_LO19, true, 2, 19, 5),
	ADR(ADR_PREL_LO21, false, 0),
	ADR(ADR_PREL_PG_HI21, true, 12),
	ADR(ADR_PREL_PG_HI21_NC, true, 12),
	FIELD(ADD_ABS_LO12_NC, false, 0, 12, 10),
	FIELD(LDST8_ABS_LO12_NC, false, 0, 12, 10),
	FIELD(LDST16_ABS_LO12_NC, false, 1, 11, 10),
	FIELD(LDST32_ABS_LO12_NC, false, 2, 10, 10),
	FIELD(LDST64_ABS_LO12_NC, false, 3, 9, 10),
	FIELD(LDST128_ABS_LO12_NC, false, 4, 8, 10),
	JUMP(TSTBR14, 14, 5),
	JUMP(CONDBR19, 19, 5),
	JUMP(JUMP26, 26, 0),
	JUMP(CALL26, 26, 0),
};

const struct arch arch_aarch64 = {
	.name = "AArch64", .others = { "arm64" },
	.machine = EM_AARCH64, .elf_class = ELFCLASS64,
	.registers = registers,
	.register_count = COUNT(registers),
	.ip = 32, .flags = 40, .stack = 31, .frame = 29, .thread = 36,
	.thread_header = 16,
	.slots = { .address = R_AARCH64_GLOB_DAT,
		   .distance = R_AARCH64_TLS_TPREL,
		   .descriptor = R_AARCH64_TLSDESC },
	.marks = "xdv",
	/* the fewest bits of an address (CONFIG_ARM64_VA_BITS_36) */
	.signed_from = 36,
	.results = { 0, 1 }, .result = "X0", .link = 30, .insn_bytes = 4,
	.rseq_signature = 0xd428bc00,
	.char_is_unsigned = true,
	/* x19 to x29, the stack pointer */
	.kept = 0xbff80000,
	.banks = banks,
	.go = { { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 }, 16,
		64, 16, 28 },
	.relocations = relocations, .relocation_count = COUNT(relocations),
	.operand_parse = a64_operand_parse,
	.insn_decode = a64_insn_decode, .insn_held = a64_insn_held,
	.insn_print = a64_insn_print,
	.effect_find = a64_effect_find, .computed_find = a64_computed_find,
	.address_find = a64_address_find,
};
