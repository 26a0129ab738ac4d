/* SPDX-License-Identifier: GPL-2.0 */
/* `trace on --dry-run`: what would be armed, and what a hit will cost. */
#ifndef TRACE_DRY_RUN_H
#define TRACE_DRY_RUN_H

#include "lib/arm/arm.h"

/* Load the programs of the jobs, attach nothing, and print. What would be
 * refused is reported and counted. 0, or a negative errno with err set. */
int dry_run(struct job_list *jobs, struct error *err);

#endif
