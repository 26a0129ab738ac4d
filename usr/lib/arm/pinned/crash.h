/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel module kept of the boot before, which ended in a panic. */
#ifndef TRACE_CRASH_H
#define TRACE_CRASH_H

#include <stdbool.h>
#include "lib/error.h"

/*
 * Save it as a .ras file, and make the module forget it. 0, or a negative errno
 * with err set: -ENODATA when there is none. *kept: saved, but the caller may not
 * make it forget.
 */
int crash_save(const char *path, bool *kept, struct error *err);

#endif
