/* SPDX-License-Identifier: GPL-2.0 */
/* What the traces' sessions have added up in the kernel. */
#ifndef TRACEFMT_AGGREGATE_TABLES_H
#define TRACEFMT_AGGREGATE_TABLES_H

#include <stdio.h>
#include "lib/read/read.h"

struct output_ops;

/* After the last record was read, as one of output_text, output_json and
 * output_folded; symbols may be NULL. 0 or -ENOMEM. */
int aggregate_tables_print(FILE *out, const struct stream *stream,
			   const struct output_ops *format,
			   struct symbols *symbols);

#endif
