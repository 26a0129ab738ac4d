// SPDX-License-Identifier: GPL-2.0
/* The same of 32 bits */
#include "old_target.c"
