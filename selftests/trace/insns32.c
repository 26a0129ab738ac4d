// SPDX-License-Identifier: GPL-2.0
/* The same of 32 bits. */
#include "insns.c"
