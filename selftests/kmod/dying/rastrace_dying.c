// SPDX-License-Identifier: GPL-2.0
/*
 * For tests of what outlives a panic: a known number of records on every CPU,
 * then, maybe with writers under way, the kernel's end.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <rastrace/kernel.h>

#define MAJOR_COUNTED	210	/* minor 1 in an interrupt, 2 in a process */
#define MAJOR_RUNNING	211	/* minor 1: by threads, until the end */

static unsigned int records = 1000;
module_param(records, uint, 0444);
MODULE_PARM_DESC(records, "to be written on each CPU in each of two contexts");

static bool running;
module_param(running, bool, 0444);
MODULE_PARM_DESC(running, "a thread on each CPU writes until the end");

static char *end = "";
module_param(end, charp, 0444);
MODULE_PARM_DESC(end, "bug, lockup or panic, in which there is another; else none");

struct dying {
	u32 cpu, count;
	char fill[88];
};

static void record_write(unsigned int major, unsigned int minor, u32 count)
{
	struct dying dying = { .cpu = raw_smp_processor_id(), .count = count };

	memset(dying.fill, 'a' + count % 26, count % sizeof(dying.fill));
	rastrace_write(major, minor, &dying, sizeof(dying));
}

static void write_interrupted(void *unused)
{
	for (unsigned int i = 0; i < records; i++)
		record_write(MAJOR_COUNTED, 1, i);
}

static long write_process(void *unused)
{
	for (unsigned int i = 0; i < records; i++)
		record_write(MAJOR_COUNTED, 2, i);
	return 0;
}

static int write_endlessly(void *unused)
{
	for (u32 i = 0; !kthread_should_stop(); i++) {
		record_write(MAJOR_RUNNING, 1, i);
		if (!(i % 64))
			cond_resched();
	}
	return 0;
}

static void die_of_bug(struct irq_work *work)
{
	BUG();
}

static struct irq_work bug = IRQ_WORK_INIT_HARD(die_of_bug);

static void spin(void *unused)
{
	local_irq_disable();
	pr_emerg("rastrace_dying: CPU %d is stuck\n", raw_smp_processor_id());
	for (;;)
		cpu_relax();
}

/* Something goes wrong while the kernel panics. */
static int panic_again(struct notifier_block *block, unsigned long event,
		       void *reason)
{
	static bool again;

	if (!again) {
		again = true;
		panic("in a panic");
	}
	return NOTIFY_DONE;
}

static struct notifier_block panics_again = { .notifier_call = panic_again };

static void die(void)
{
	if (!strcmp(end, "bug")) {
		irq_work_queue(&bug);
	} else if (!strcmp(end, "lockup")) {
		smp_call_function(spin, NULL, 0);
		mdelay(200);
		spin(NULL);
	} else if (!strcmp(end, "panic")) {
		atomic_notifier_chain_register(&panic_notifier_list,
					       &panics_again);
		panic("of rastrace_dying");
	}
}

static int __init dying_init(void)
{
	unsigned int cpu;

	on_each_cpu(write_interrupted, NULL, true);
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		work_on_cpu(cpu, write_process, NULL);
		if (running)
			kthread_run_on_cpu(write_endlessly, NULL, cpu,
					   "dying/%u");
	}
	cpus_read_unlock();
	if (running)
		msleep(300);
	die();
	return 0;
}

/* It can't be unloaded: the threads are never stopped. */
module_init(dying_init);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("rastrace: records, and the kernel's end");
