// SPDX-License-Identifier: GPL-2.0
/* Instructions of AArch64, and which of them the kernel can probe. */
#include "arch_a64.h"

#include <errno.h>

int a64_insn_decode(const struct arch *arch, const uint8_t *code, size_t size,
		    struct arch_insn *insn)
{
	return -EINVAL;
}
