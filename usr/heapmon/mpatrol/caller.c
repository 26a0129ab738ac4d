// SPDX-License-Identifier: GPL-2.0
#include "caller.h"

void caller_find(const struct heap_trace *trace, uint32_t stack,
		 struct caller *caller)
{
	const struct heap_frame *frame;
	uint32_t number;

	caller->function[0] = '\0';
	caller->file = "";
	caller->line = 0;
	if (!stack || stack >= trace->stack_count)
		return;
	number = trace->stacks[stack].frame;
	frame = &trace->frames[number];
	if (frame->stopped)
		return;
	if (frame->symbol || frame->module)
		heap_frame_place(trace, number, caller->function,
				 sizeof(caller->function));
	caller->file = heap_text(trace, frame->file);
	caller->line = frame->line;
}
