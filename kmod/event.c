// SPDX-License-Identifier: GPL-2.0
#include <linux/bitmap.h>
#include <linux/export.h>
#include <linux/percpu.h>
#include <rastrace/kernel.h>
#include "rastrace.h"

#define CREATE_TRACE_POINTS
#include "event.h"

DEFINE_STATIC_KEY_ARRAY_FALSE(rastrace_majors, RAS_STATIC_MAJORS);
EXPORT_SYMBOL_GPL(rastrace_majors);

/* What the buffer's owner switched on; the listeners count on their own. */
static DECLARE_BITMAP(majors_on, RAS_STATIC_MAJORS);

void majors_switch(const struct adopted *buffer)
{
	const u8 *wanted = buffer && buffer->statics ?
		buffer->parts[RASTRACE_MAJORS].base : NULL;

	for (int i = 0; i < RAS_STATIC_MAJORS; i++) {
		bool on = wanted && READ_ONCE(wanted[i]);

		if (on == test_bit(i, majors_on))
			continue;
		__change_bit(i, majors_on);
		if (on)
			static_branch_inc(&rastrace_majors[i]);
		else
			static_branch_dec(&rastrace_majors[i]);
	}
}

/* As long as somebody listens to the trace event, all are on. */
int majors_listen(void)
{
	for (int i = 0; i < RAS_STATIC_MAJORS; i++)
		static_branch_inc(&rastrace_majors[i]);
	return 0;
}

void majors_unlisten(void)
{
	for (int i = 0; i < RAS_STATIC_MAJORS; i++)
		static_branch_dec(&rastrace_majors[i]);
}

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
