/* SPDX-License-Identifier: GPL-2.0 */
/* One eBPF instruction as text, in the kernel verifier's notation. */
#ifndef BPF_DISASM_H
#define BPF_DISASM_H

#include <stddef.h>
#include <linux/bpf.h>

/* Print one instruction ("r1 = *(u64 *)(r6 +112)") into text; returns how
 * many struct bpf_insn it takes (2 for 64-bit immediates). */
int disasm_print(const struct bpf_insn *insn, char *text, size_t size);

#endif
