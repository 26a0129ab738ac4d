/* SPDX-License-Identifier: GPL-2.0 */
/* Processes that have other instructions in their memory than the file has. */
#ifndef TRACE_PATCHED_H
#define TRACE_PATCHED_H

#include "target.h"

/*
 * A probe runs the file's instruction instead of the one that it replaces in a
 * process: both must be the same. Compares, at the sites of the picked points of
 * a module, the private pages of the process `pid`, 0: of all that have the
 * module mapped. What can't be read is passed over. 0, or a negative errno with
 * err set: -ESTALE names the process.
 */
int patched_check(const struct tdf *tdf, uint32_t module,
		  const struct target *target, const bool *picked, uint32_t pid,
		  struct error *err);

#endif
