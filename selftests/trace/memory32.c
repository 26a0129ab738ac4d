// SPDX-License-Identifier: GPL-2.0
/* The same program with 32 bits. */
#include "memory.c"
