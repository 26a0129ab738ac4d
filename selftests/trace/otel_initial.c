// SPDX-License-Identifier: GPL-2.0
/* The same library; the loader fills in the distance from the thread pointer. */
#include "otel_pair.c"
