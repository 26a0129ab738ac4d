/* SPDX-License-Identifier: GPL-2.0 */
/* Members of struct arch */
#ifndef DEBUG_ARCH_A64_JUMP_H
#define DEBUG_ARCH_A64_JUMP_H

#include "arch.h"

void a64_computed_find(const struct arch *arch, const struct arch_code *insns,
		       size_t count, struct arch_computed *computed);
void a64_address_find(const struct arch *arch, const struct arch_code *insns,
		      size_t count, struct arch_address *address);

#endif
