/* SPDX-License-Identifier: GPL-2.0 */
/* What of an x86 instruction decides whether a probe may replace it. */
#ifndef TRACE_INSN_X86_H
#define TRACE_INSN_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The bytes of the instruction that begins at code[0], of which `size` are there;
 * 0: it isn't whole. *hazard becomes the prefix with which the kernel doesn't probe
 * it as it should, and what happens then, or NULL.
 */
unsigned int insn_x86_length(const uint8_t *code, size_t size, bool wide,
			     const char **hazard);

#endif
