/* SPDX-License-Identifier: GPL-2.0 */
/* What the traces' sessions have added up in the kernel. */
#ifndef TRACEFMT_AGGREGATE_TABLES_H
#define TRACEFMT_AGGREGATE_TABLES_H

#include <stdio.h>
#include "lib/read/read.h"

/* After the last record was read: tables, or an array of JSON. 0 or -ENOMEM. */
int aggregate_tables_print(FILE *out, const struct stream *stream, bool json);

#endif
