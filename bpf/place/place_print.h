/* SPDX-License-Identifier: GPL-2.0 */
/* Placed operations as text */
#ifndef BPF_PLACE_PLACE_PRINT_H
#define BPF_PLACE_PLACE_PRINT_H

#include <stdio.h>
#include "place.h"

void place_print(const struct placed *placed, FILE *out);

#endif
