// SPDX-License-Identifier: GPL-2.0
#include "threads_target.c"
