// SPDX-License-Identifier: GPL-2.0
/* The same without frame pointers */
#include "stack.c"
