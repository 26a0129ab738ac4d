// SPDX-License-Identifier: GPL-2.0
/* The same, linked statically */
#include "old_target.c"
