// SPDX-License-Identifier: GPL-2.0
#include "waits_target.c"
