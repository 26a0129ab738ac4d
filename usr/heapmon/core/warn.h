/* SPDX-License-Identifier: GPL-2.0 */
/* Warnings of readers and writers about a file. */
#ifndef HEAPMON_WARN_H
#define HEAPMON_WARN_H

#include "format.h"

void heap_input_warn(const struct heap_input *input, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Each text whose number isn't 0, with it: "text: 3 times". */
void heap_input_warn_counts(const struct heap_input *input,
			    const char *const *texts, const uint64_t *counts,
			    size_t n);
void heap_output_warn(const struct heap_output *output, const char *text);

#endif
