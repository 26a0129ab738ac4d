/* SPDX-License-Identifier: GPL-2.0 */
/* The static tracepoints as an event for ftrace and perf. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rastrace

#if !defined(KMOD_EVENT_H) || defined(TRACE_HEADER_MULTI_READ)
#define KMOD_EVENT_H

#include <linux/tracepoint.h>

int majors_listen(void);
void majors_unlisten(void);

TRACE_EVENT_FN(rastrace_static,
	TP_PROTO(u32 major, u32 minor, const void *data, u32 length),
	TP_ARGS(major, minor, data, length),
	TP_STRUCT__entry(
		__field(u32, major)
		__field(u32, minor)
		__dynamic_array(u8, data, length)
	),
	TP_fast_assign(
		__entry->major = major;
		__entry->minor = minor;
		memcpy(__get_dynamic_array(data), data, length);
	),
	TP_printk("major=%u minor=%u data=%s", __entry->major, __entry->minor,
		  __print_hex(__get_dynamic_array(data),
			      __get_dynamic_array_len(data))),
	majors_listen, majors_unlisten
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE event
#include <trace/define_trace.h>
