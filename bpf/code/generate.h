/* SPDX-License-Identifier: GPL-2.0 */
/* From the plan of a body to its code. */
#ifndef BPF_CODE_GENERATE_H
#define BPF_CODE_GENERATE_H

#include "code.h"

struct plan;

/* `c` must be freed with code_free(). 0, or the first error, with the plan's err
 * set if there is a text for it. */
int code_generate(struct code *c, const struct plan *plan);

#endif
