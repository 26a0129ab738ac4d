// SPDX-License-Identifier: GPL-2.0
/* Where computed jumps of AArch64 lead to. */
#include "arch_a64.h"


void a64_computed_find(const struct arch *arch, const struct arch_code *insns,
		       size_t count, struct arch_computed *computed)
{
	*computed = (struct arch_computed){ 0 };
}

bool a64_address_find(const struct arch *arch, const struct arch_code *insn,
		      uint64_t *address)
{
	return false;
}
