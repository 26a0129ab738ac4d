/* SPDX-License-Identifier: GPL-2.0 */
/* Member effect_find of struct arch */
#ifndef DEBUG_ARCH_X86_EFFECT_H
#define DEBUG_ARCH_X86_EFFECT_H

#include "arch.h"

bool x86_effect_find(const struct arch *arch, const uint8_t *code, size_t size,
		     uint64_t address, struct arch_effect *effect);

#endif
