/* SPDX-License-Identifier: GPL-2.0 */
/* Lines of the TSF that a TDF was compiled from, if it is there. */
#ifndef TRACE_SOURCE_H
#define TRACE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/formats/tdf.h"

struct tsf_source {
	char *text;		/* NULL: not there */
	size_t size;
};

/* At the path in the TDF, or in the TDF's directory. */
void source_lines_open(struct tsf_source *source, const struct tdf *tdf);
void source_lines_close(struct tsf_source *source);

/* A line, counted from 1, into text, without control characters; false:
 * unknown. */
bool source_line(const struct tsf_source *source, uint32_t line, char *text,
		 size_t size);

#endif
