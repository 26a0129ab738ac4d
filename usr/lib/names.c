// SPDX-License-Identifier: GPL-2.0
#include "names.h"

#include <rastrace/buffer.h>
#include <rastrace/tdf.h>
#include <stddef.h>
#include <stdio.h>

const char *const names_cost[TDF_COST_UNKNOWN + 1] = {
	[TDF_COST_NOP5] = "nop5",
	[TDF_COST_EMULATED] = "emulated",
	[TDF_COST_STEPPED] = "stepped",
	[TDF_COST_UNKNOWN] = "unknown",
};

const char *const names_filtered[RAS_FILTERED_KINDS] = {
	[RAS_FILTERED_SUSPENDED] = "suspended",
	[RAS_FILTERED_FROZEN] = "frozen",
	[RAS_FILTERED_PROCESS] = "process",
	[RAS_FILTERED_CONDITION] = "condition",
	[RAS_FILTERED_PASSED] = "passcount",
	[RAS_FILTERED_MAXHITS] = "maxhits",
	[RAS_FILTERED_RATE] = "rate",
	[RAS_FILTERED_NESTED] = "nested",
};

const char *const names_fault[RAS_FAULT_KINDS] = {
	[RAS_FAULT_UNREADABLE] = "unreadable",
	[RAS_FAULT_ABSENT] = "absent",
	[RAS_FAULT_SELECTOR] = "selector",
	[RAS_FAULT_ARITHMETIC] = "arithmetic",
};

const char *const names_reads[RAS_READS_KINDS] = {
	[RAS_READS_DIRECT] = "direct",
	[RAS_READS_ASKED] = "--reads=helper",
	[RAS_READS_PROCESSOR] = "not for this processor",
	[RAS_READS_KERNEL] = "this kernel has no bpf_rdonly_cast, or no BTF",
	[RAS_READS_LOCKDOWN] = "the kernel is locked down",
	[RAS_READS_ADDRESSES] = "physical addresses are not shown",
	[RAS_READS_LEVELS] = "page tables have five levels",
	[RAS_READS_ENTRIES] = "page tables are not as expected",
	[RAS_READS_UNPROVEN] = "a test on pages of our own has failed",
};

const char *const names_aggregate[TDF_AGGREGATE_KINDS] = {
	[TDF_AGGREGATE_COUNT] = "count",
	[TDF_AGGREGATE_SUM] = "sum",
	[TDF_AGGREGATE_MIN] = "min",
	[TDF_AGGREGATE_MAX] = "max",
	[TDF_AGGREGATE_HIST] = "hist",
};

const char *const names_stack_end[RAS_STACK_ENDS] = {
	[RAS_STACK_DEPTH] = "depth",
	[RAS_STACK_OUTERMOST] = "outermost",
	[RAS_STACK_UNREADABLE] = "unreadable",
	[RAS_STACK_NO_FRAME] = "no_frame_pointer",
	[RAS_STACK_UNWINDER] = "unwinder",
	[RAS_STACK_NO_TABLE] = "no_table",
	[RAS_STACK_LOST] = "lost",
};

const char *const names_by[TDF_BY_KINDS] = {
	[TDF_BY_UNSIGNED] = "unsigned",
	[TDF_BY_SIGNED] = "signed",
	[TDF_BY_TEXT] = "text",
	[TDF_BY_STACK] = "stack",
};

const char *const names_context[] = {
	"comm", "uid", "cgroup", "cpu", "ppid", "stack", "", "otel", NULL
};

const char *names_point_state(uint16_t state)
{
	static const char *const names[] = {
		[RAS_POINT_ARMED] = "armed",
		[RAS_POINT_UNSELECTED] = "unselected",
		[RAS_POINT_OFF] = "off",
		[RAS_POINT_MAXHITS] = "maxhits",
		[RAS_POINT_MUTED] = "muted",
	};

	return state < sizeof(names) / sizeof(names[0]) ? names[state] :
							  "unknown";
}

const char *names_trigger_state(uint64_t state)
{
	static const char *const names[] = {
		[RAS_TRIGGER_IDLE] = "idle",
		[RAS_TRIGGER_COUNTING] = "counting",
		[RAS_TRIGGER_FROZEN] = "frozen",
		[RAS_TRIGGER_CLAIMED] = "claimed",
	};

	return state < sizeof(names) / sizeof(names[0]) ? names[state] :
							  "unknown";
}

#define RETURN_NS	100	/* of the return, above the entry's */

static const unsigned int costs[] = {
	[TDF_COST_NOP5] = 100,
	[TDF_COST_EMULATED] = 200,
	[TDF_COST_STEPPED] = 2500,
};

unsigned int cost_expect(uint8_t cost, uint8_t flags)
{
	if (cost >= sizeof(costs) / sizeof(costs[0]))
		return 0;
	return costs[cost] + (flags & TDF_SITE_RETURN ? RETURN_NS : 0);
}

bool cost_print(char *text, uint8_t cost, uint8_t flags)
{
	unsigned int ns = cost_expect(cost, flags);

	text[0] = '\0';
	if (ns >= 1000)
		snprintf(text, COST_TEXT, "about %.1f us", ns / 1000.0);
	else if (ns)
		snprintf(text, COST_TEXT, "about %u ns", ns);
	return ns;
}

const char *names_stack_stopped(uint8_t end)
{
	switch (end) {
	case RAS_STACK_DEPTH:
		return "(stopped: as deep as asked for)";
	case RAS_STACK_OUTERMOST:
		return "(outermost)";
	case RAS_STACK_UNREADABLE:
		return "(stopped: the next frame can't be read)";
	case RAS_STACK_NO_FRAME:
		return "(stopped: no frame pointer)";
	case RAS_STACK_UNWINDER:
		return "(stopped: the kernel's unwinder knows no more)";
	case RAS_STACK_NO_TABLE:
		return "(stopped: neither frame pointer nor table)";
	case RAS_STACK_LOST:
		return "(stopped: the trace doesn't have this stack)";
	default:
		return "(stopped: for an unknown reason)";
	}
}
