// SPDX-License-Identifier: GPL-2.0
/* Instructions of AArch64 as the assembler has them. */
#include "arch_a64.h"

#include <errno.h>

int a64_insn_print(const struct arch *arch, const uint8_t *code, size_t size,
		   uint64_t address, char *text, size_t text_size)
{
	return -EINVAL;
}
