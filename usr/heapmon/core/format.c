// SPDX-License-Identifier: GPL-2.0
#include "format.h"

#include <inttypes.h>
#include <stdarg.h>

void heap_input_warn(const struct heap_input *input, const char *fmt, ...)
{
	char text[512];
	va_list args;

	if (!input->warn)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	input->warn(input->context, text);
}

void heap_input_warn_counts(const struct heap_input *input,
			    const char *const *texts, const uint64_t *counts,
			    size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (counts[i])
			heap_input_warn(input, "%s: %" PRIu64 " times",
					texts[i], counts[i]);
}

void heap_output_warn(const struct heap_output *output, const char *text)
{
	if (output->warn)
		output->warn(output->context, text);
}
