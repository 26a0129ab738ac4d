/* SPDX-License-Identifier: GPL-2.0 */
/* What readers and writers have to say of a file, to whoever listens. */
#ifndef HEAPMON_TELL_H
#define HEAPMON_TELL_H

#include "format.h"

void heap_input_tell(const struct heap_input *input, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Each text whose number isn't 0, with it: "text: 3 times". */
void heap_input_tell_counts(const struct heap_input *input,
			    const char *const *texts, const uint64_t *counts,
			    size_t n);
void heap_output_tell(const struct heap_output *output, const char *text);

#endif
