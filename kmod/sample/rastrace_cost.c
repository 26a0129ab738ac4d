// SPDX-License-Identifier: GPL-2.0
/*
 * What a static tracepoint costs beside the kernel's own means: reading the
 * parameter `costs` measures each of them as it is switched at that time, in
 * hundredths of a nanosecond per call.
 */
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/preempt.h>
#include <rastrace/kernel.h>

#define CREATE_TRACE_POINTS
#include "cost_event.h"

#define COST_MAJOR	202
#define COST_CALLS	10000
#define COST_ROUNDS	20	/* the fastest counts */

struct cost_data {
	u64 words[2];
};

static noinline void call_nothing(struct cost_data *data)
{
	barrier();
}

static noinline void call_static(struct cost_data *data)
{
	rastrace_write(COST_MAJOR, 1, data, sizeof(*data));
}

static noinline void call_event(struct cost_data *data)
{
	trace_rastrace_cost(data, sizeof(*data));
}

static noinline void call_printk(struct cost_data *data)
{
	trace_printk("%llx %llx\n", data->words[0], data->words[1]);
}

static u64 round_time(void (*call)(struct cost_data *data))
{
	struct cost_data data = { { 1, 2 } };
	u64 start;

	preempt_disable();
	start = ktime_get_ns();
	for (int i = 0; i < COST_CALLS; i++) {
		data.words[0] = i;
		call(&data);
	}
	start = ktime_get_ns() - start;
	preempt_enable();
	cond_resched();
	return start;
}

/* Hundredths of a nanosecond per call */
static u64 call_cost(void (*call)(struct cost_data *data))
{
	u64 least = U64_MAX;

	for (int i = 0; i < COST_ROUNDS; i++)
		least = min(least, round_time(call));
	return least * 100 / COST_CALLS;
}

static int costs_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer,
			  "nothing %llu static %llu event %llu trace_printk %llu\n",
			  call_cost(call_nothing), call_cost(call_static),
			  call_cost(call_event), call_cost(call_printk));
}

static const struct kernel_param_ops costs_ops = { .get = costs_get };

module_param_cb(costs, &costs_ops, NULL, 0444);
MODULE_PARM_DESC(costs, "of a call, in hundredths of a nanosecond");

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("rastrace: what a static tracepoint costs");
