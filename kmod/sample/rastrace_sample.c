// SPDX-License-Identifier: GPL-2.0
/*
 * How kernel code uses static tracepoints, and from where it may: a record of
 * each context that is written to the parameter `context` of the module,
 * formatted by rastrace_sample.tsf.
 *
 *	trace on 200
 *	echo hardirq >/sys/module/rastrace_sample/parameters/context
 *	tracefmt
 */
#include <linux/completion.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/timer.h>
#include <linux/version.h>
#include <rastrace/kernel.h>
#include "nmi.h"

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define timer_delete_sync	del_timer_sync
#endif

#define SAMPLE_MAJOR	200

struct sample {
	u32 count;
	char context[12];
};

static atomic_t written;
static int result;		/* of the last write */
static DECLARE_COMPLETION(done);

static void sample_write(unsigned int minor, const char *context)
{
	struct sample sample = { .count = atomic_inc_return(&written) };

	strscpy(sample.context, context, sizeof(sample.context));
	result = rastrace_write(SAMPLE_MAJOR, minor, &sample, sizeof(sample));
}

static void from_softirq(struct timer_list *timer)
{
	sample_write(2, "softirq");
	complete(&done);
}

static DEFINE_TIMER(timer, from_softirq);

static void from_hardirq(struct irq_work *work)
{
	sample_write(3, "hardirq");
	complete(&done);
}

static struct irq_work work = IRQ_WORK_INIT_HARD(from_hardirq);

/* An NMI may not wake anybody up. */
static void after_nmi(struct irq_work *work)
{
	complete(&done);
}

static struct irq_work nmi_work = IRQ_WORK_INIT(after_nmi);

static void from_nmi(void)
{
	sample_write(4, "nmi");
	irq_work_queue(&nmi_work);
}

static int context_set(const char *value, const struct kernel_param *param)
{
	reinit_completion(&done);
	if (sysfs_streq(value, "process")) {
		sample_write(1, "process");
		return 0;
	}
	if (sysfs_streq(value, "softirq"))
		mod_timer(&timer, jiffies + 1);
	else if (sysfs_streq(value, "hardirq"))
		irq_work_queue(&work);
	else if (!sysfs_streq(value, "nmi") ||
		 !nmi_send(raw_smp_processor_id()))
		return -EINVAL;
	wait_for_completion(&done);
	return 0;
}

static int result_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%d\n", result);
}

static const struct kernel_param_ops context_ops = { .set = context_set };
static const struct kernel_param_ops result_ops = { .get = result_get };

module_param_cb(context, &context_ops, NULL, 0200);
MODULE_PARM_DESC(context, "process, softirq, hardirq or nmi: write a record from there");
module_param_cb(result, &result_ops, NULL, 0444);
MODULE_PARM_DESC(result, "what the last rastrace_write() returned");

static int __init sample_init(void)
{
	return nmi_open(from_nmi);
}

static void __exit sample_exit(void)
{
	nmi_close();
	timer_delete_sync(&timer);
	irq_work_sync(&work);
	irq_work_sync(&nmi_work);
}

module_init(sample_init);
module_exit(sample_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("rastrace: static tracepoints in every context");
