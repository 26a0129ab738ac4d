/* SPDX-License-Identifier: GPL-2.0 */
/* The buffer in a memory dump, read as if it were a file. */
#ifndef TRACEFMT_VMCORE_H
#define TRACEFMT_VMCORE_H

#include "lib/read/read.h"

/* 0, or a negative errno with err set. */
int vmcore_trace_open(struct trace_file *file, const char *path,
		      struct error *err);

#endif
