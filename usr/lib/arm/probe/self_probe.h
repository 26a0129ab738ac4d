/* SPDX-License-Identifier: GPL-2.0 */
/* Probes in functions of this program, to see what the kernel makes of them. */
#ifndef TRACE_SELF_PROBE_H
#define TRACE_SELF_PROBE_H

#include <stdbool.h>
#include <stdint.h>
#include "lib/arm/kernel/features.h"

/*
 * Link a loaded program to the beginning of a function, or its return; pid: of
 * the process that is meant alone, or 0 (uprobe_multi links only). A
 * descriptor, or a negative errno.
 */
int self_probe_link(int program, const void *function, bool returns,
		    uint32_t pid, const struct features *features);

#endif
