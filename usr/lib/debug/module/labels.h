/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the computed jumps of a function lead: a switch by a table, gotos by
 * tables of labels. Jumps that stay inside are marked FLOW_SWITCH, what they
 * may lead to FLOW_TARGET. A table's end isn't known, and of addresses all that
 * the module has are taken: some labels too many, none too few.
 */
#ifndef TRCUST_LABELS_H
#define TRCUST_LABELS_H

#include "flow.h"

struct labels;

/* NULL: no memory. The flow must last longer. */
struct labels *labels_find(struct flow *flow);
void labels_free(struct labels *labels);

/* A way that isn't seen may lead to the address: from a jump whose labels
 * aren't known and that has the frame as it is there. */
bool labels_may_be(const struct labels *labels, uint64_t address);
/* There are jumps that stay inside. */
bool labels_any(const struct labels *labels);

#endif
