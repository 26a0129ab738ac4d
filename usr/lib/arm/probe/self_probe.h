/* SPDX-License-Identifier: GPL-2.0 */
/* Probes in functions of this program, to see what the kernel makes of them. */
#ifndef ARM_SELF_PROBE_H
#define ARM_SELF_PROBE_H

#include <stdbool.h>
#include <linux/bpf.h>
#include "lib/arm/kernel/features.h"

/*
 * Link a program to the beginning of a function, or to its return. A
 * descriptor, or a negative errno.
 */
int self_probe_link(const struct bpf_insn *insns, size_t count,
		    const void *function, bool returns,
		    const struct features *features);

/* Does bpf_get_func_ip() yield the function that returns, at return probes of
 * user space? It yields 0 where the kernel doesn't know. */
bool self_probe_has_func_ip(const struct features *features);

#endif
