// SPDX-License-Identifier: GPL-2.0
#include "tell.h"

#include <inttypes.h>
#include <stdarg.h>

void heap_input_tell(const struct heap_input *input, const char *fmt, ...)
{
	char text[512];
	va_list args;

	if (!input->tell)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	input->tell(input->context, text);
}

void heap_input_tell_counts(const struct heap_input *input,
			    const char *const *texts, const uint64_t *counts,
			    size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (counts[i])
			heap_input_tell(input, "%s: %" PRIu64 " times",
					texts[i], counts[i]);
}

void heap_output_tell(const struct heap_output *output, const char *text)
{
	if (output->tell)
		output->tell(output->context, text);
}
