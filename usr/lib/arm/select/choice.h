/* SPDX-License-Identifier: GPL-2.0 */
/* Which sessions, armed or over, and which of their tracepoints operands name:
 * "app", "app(3)", "app(QUE,PRE)" (selection.h). */
#ifndef TRACE_CHOICE_H
#define TRACE_CHOICE_H

#include <stdbool.h>
#include "lib/buffer/session.h"
#include "lib/formats/tdf.h"

/*
 * Set chosen[session of the list][point] for what the operand means; the others
 * stay. tdfs[] has the TDF of each session, or NULL. 0, or a negative errno with
 * err set: -ENOENT when it means nothing that was ever armed.
 */
int choice_add(const struct session_list *list, struct tdf *const *tdfs,
	       const char *operand, bool *const *chosen, struct error *err);

#endif
