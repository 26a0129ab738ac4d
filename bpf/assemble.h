/* SPDX-License-Identifier: GPL-2.0 */
/* Placed operations as eBPF instructions. */
#ifndef BPF_ASSEMBLE_H
#define BPF_ASSEMBLE_H

#include "body.h"
#include "place/place.h"

/* Sets insns, notes and subprograms; 0, or a negative errno: -E2BIG when a jump
 * is too far. The caller frees with body_free(). */
int assemble_body(struct body *body, const struct placed *placed);

#endif
