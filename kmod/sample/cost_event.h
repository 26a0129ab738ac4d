/* SPDX-License-Identifier: GPL-2.0 */
/* What a trace event costs that records the same. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rastrace_cost

#if !defined(SAMPLE_COST_EVENT_H) || defined(TRACE_HEADER_MULTI_READ)
#define SAMPLE_COST_EVENT_H

#include <linux/tracepoint.h>

TRACE_EVENT(rastrace_cost,
	TP_PROTO(const void *data, u32 length),
	TP_ARGS(data, length),
	TP_STRUCT__entry(
		__dynamic_array(u8, data, length)
	),
	TP_fast_assign(
		memcpy(__get_dynamic_array(data), data, length);
	),
	TP_printk("data=%s", __print_hex(__get_dynamic_array(data),
					 __get_dynamic_array_len(data)))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE cost_event
#include <trace/define_trace.h>
