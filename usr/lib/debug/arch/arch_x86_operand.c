// SPDX-License-Identifier: GPL-2.0
/* Operands as the GNU assembler has them in notes of static probes. */
#include "arch_x86.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAME_SIZE	8
#define TEXT_SIZE	256

/* A register, or a part of one: "r8d", "r8w", "r8b", "al" and "ah" of "ax",
 * "sil" of "si". */
static bool register_parse(const struct arch *arch, const char *text,
			   size_t length, struct arch_operand *operand,
			   int *number)
{
	char name[NAME_SIZE], part;
	const struct arch_register *reg;

	if (length < 2 || *text != '%' || length > NAME_SIZE)
		return false;
	memcpy(name, text + 1, --length);
	name[length] = 0;
	operand->shift = 0;
	reg = arch_register_find(arch, name);
	operand->bytes = reg ? reg->bytes : 1;
	if (!reg) {
		part = tolower(name[length - 1]);
		name[length - 1] = 0;
		if (length >= 3 && tolower(name[0]) == 'r' &&
		    isdigit(name[1]) && strchr("dwb", part)) {
			operand->bytes = part == 'd' ? 4 : part == 'w' ? 2 : 1;
			reg = arch_register_find(arch, name);
			if (reg && reg->bytes != 8)
				reg = NULL;
		} else if ((part == 'l' || part == 'h') && length == 2 &&
			   strchr("abcd", tolower(name[0]))) {
			operand->shift = part == 'h' ? 8 : 0;
			strcpy(name + 1, "x");
			reg = arch_register_find(arch, name);
		} else if (part == 'l' && length == 3) {
			reg = arch_register_find(arch, name);
		}
	}
	if (!reg || reg->pt_regs < 0)
		return false;
	*number = reg->dwarf;
	return *number >= 0;
}

static bool x86_number_parse(const char **p, int64_t *number)
{
	char *end;

	*number = strtoull(*p, &end, 0);
	if (end == *p)
		return false;
	*p = end;
	return true;
}

/* Sum of numbers and at most one symbol: "-20", "sym+4", "4+sym" */
static bool displacement_parse(const char *p, const char *end,
			       struct arch_operand *operand)
{
	while (p < end) {
		bool minus = *p == '-';
		int64_t number;

		p += *p == '-' || *p == '+';
		if (isdigit(*p)) {
			if (!x86_number_parse(&p, &number))
				return false;
			operand->number += minus ? -number : number;
		} else {
			if (minus || operand->symbol)
				return false;
			operand->symbol = p;
			while (p < end && *p != '+' && *p != '-')
				p++;
			operand->symbol_length = p - operand->symbol;
			if (!operand->symbol_length)
				return false;
		}
		if (p < end && *p != '+' && *p != '-')
			return false;
	}
	return p == end;
}

/* Between the parentheses: "base", "base,index,scale", ",index,scale" */
static bool x86_parts_parse(const struct arch *arch, const char *p,
			    const char *end, struct arch_operand *operand)
{
	struct arch_operand unused;
	const char *comma = memchr(p, ',', end - p);
	size_t length = (comma ? comma : end) - p;

	/* the symbol's address is the operand's */
	if (length == 4 && (!strncasecmp(p, "%rip", 4) ||
			    !strncasecmp(p, "%eip", 4)))
		return !comma && operand->symbol;
	if (length && !register_parse(arch, p, length, &unused, &operand->base))
		return false;
	if (!comma)
		return length;
	p = comma + 1;
	comma = memchr(p, ',', end - p);
	if (!register_parse(arch, p, (comma ? comma : end) - p, &unused,
			    &operand->index))
		return false;
	if (!comma)
		return true;
	operand->scale = comma[1] - '0';
	return comma + 2 == end && (operand->scale == 1 ||
				    operand->scale == 2 ||
				    operand->scale == 4 || operand->scale == 8);
}

bool x86_operand_parse(const struct arch *arch, const char *text, size_t length,
		       struct arch_operand *operand)
{
	const char *p, *end = text + length;
	bool minus;

	*operand = (struct arch_operand){
		.kind = ARCH_REGISTER, .base = -1, .index = -1, .scale = 1,
	};
	if (!length || length > TEXT_SIZE)
		return false;
	if (*text == '%' && !memchr(text, ':', length))
		return register_parse(arch, text, length, operand,
				      &operand->base);
	if (*text != '$') {
		const char *open = memchr(text, '(', length);

		operand->kind = ARCH_MEMORY;
		if (*text == '%')
			return false;
		if (!open)
			return displacement_parse(text, end, operand);
		return end[-1] == ')' &&
		       displacement_parse(text, open, operand) &&
		       x86_parts_parse(arch, open + 1, end - 1, operand);
	}
	operand->kind = ARCH_IMMEDIATE;
	p = text + 1;
	minus = p < end && *p == '-';
	p += minus;
	if (p == end || !isdigit(*p) || !x86_number_parse(&p, &operand->number))
		return false;
	if (minus)
		operand->number = -operand->number;
	return p == end;
}
