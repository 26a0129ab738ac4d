/* SPDX-License-Identifier: GPL-2.0 */
/* The plan of a body as text */
#ifndef BPF_PLAN_PLAN_PRINT_H
#define BPF_PLAN_PLAN_PRINT_H

#include <stdio.h>
#include "plan.h"

void plan_print(const struct plan *plan, FILE *out);

#endif
