/* SPDX-License-Identifier: GPL-2.0 */
/* Arming what waits for kernel modules. */
#ifndef TRACE_KEEP_ARM_H
#define TRACE_KEEP_ARM_H

#include <stdbool.h>

/*
 * Arm the TDFs whose kernel module is there, by `trace on`: their requests go,
 * or keep why it was refused, until the module goes. The run directory must
 * not be locked. Is a request left?
 */
bool keep_arm_requests(const char *path);

#endif
