// SPDX-License-Identifier: GPL-2.0
#include "names.h"

#include <stddef.h>
#include <rastrace/buffer.h>
#include <rastrace/tdf.h>

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

const char *const names_context[] = {
	"comm", "uid", "cgroup", "cpu", "ppid", "stack", NULL
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
