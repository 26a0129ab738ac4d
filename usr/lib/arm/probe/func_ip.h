/* SPDX-License-Identifier: GPL-2.0 */
/* Does the kernel tell at a return probe which function returns? */
#ifndef TRACE_FUNC_IP_H
#define TRACE_FUNC_IP_H

#include "lib/arm/kernel/features.h"

/* Of user space, with the links that `features` chose: tried with a function
 * of this program. bpf_get_func_ip() yields 0 where the kernel doesn't know. */
bool func_ip_works(const struct features *features);

#endif
