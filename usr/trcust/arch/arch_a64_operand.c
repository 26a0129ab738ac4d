// SPDX-License-Identifier: GPL-2.0
/* Operands of AArch64 as the assembler writes them. */
#include "arch_a64.h"


bool a64_operand_parse(const struct arch *arch, const char *text, size_t length,
		       struct arch_operand *operand)
{
	return false;
}
