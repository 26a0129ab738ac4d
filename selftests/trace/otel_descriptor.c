// SPDX-License-Identifier: GPL-2.0
/* The same library; the loader fills in a descriptor (TLSDESC). */
#include "otel_pair.c"
