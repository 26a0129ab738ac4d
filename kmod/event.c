// SPDX-License-Identifier: GPL-2.0
#include <linux/percpu.h>
#include "rastrace.h"

#define CREATE_TRACE_POINTS
#include "event.h"

/* Contexts nest no deeper than slices do: who is deeper listens to the event,
 * and writes a record itself. */
static DEFINE_PER_CPU(int, depth);

void event_emit(u32 major, u32 minor, const void *data, u32 length)
{
	if (!trace_rastrace_static_enabled())
		return;
	if (this_cpu_inc_return(depth) <= 1 + RAS_NEST_LEVELS)
		trace_rastrace_static(major, minor, data, length);
	this_cpu_dec(depth);
}
