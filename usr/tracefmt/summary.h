/* SPDX-License-Identifier: GPL-2.0 */
/* What the trace holds, what it lost, and from when on it is complete. */
#ifndef TRACEFMT_SUMMARY_H
#define TRACEFMT_SUMMARY_H

#include <stdio.h>
#include "match.h"
#include "print.h"

/* After the last record was read. */
void summary_print(FILE *out, const struct trace_file *file,
		   const struct match *match, struct print *print);

#endif
