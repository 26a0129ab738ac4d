/* SPDX-License-Identifier: GPL-2.0 */
/* Member insn_print of struct arch */
#ifndef DEBUG_ARCH_A64_TEXT_H
#define DEBUG_ARCH_A64_TEXT_H

#include "arch.h"

int a64_insn_print(const struct arch *arch, const uint8_t *code, size_t size,
		   uint64_t address, char *text, size_t text_size);

#endif
