// SPDX-License-Identifier: GPL-2.0
/* Operands as compilers for AArch64 have them in notes of static probes. */
#include "arch_a64.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

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

bool a64_operand_parse(const struct arch *arch, const char *text, size_t length,
		       struct arch_operand *operand)
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
