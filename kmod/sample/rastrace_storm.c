// SPDX-License-Identifier: GPL-2.0
/*
 * Writers in all contexts on all CPUs at once: the number written to the
 * parameter `run` is how many records each CPU's thread writes, while timers,
 * tasklets and NMIs interrupt it, and each other. `results` counts what came of
 * them; the numbers are exact, as those of the buffer must be. "MAJOR MINOR
 * LENGTH" written to `write` is one record of so many bytes from the writer's
 * context; reading it shows what that returned.
 */
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/sched/task.h>
#include <linux/version.h>
#include <rastrace/kernel.h>
#include "nmi.h"

#define STORM_MAJOR	201
#define STORM_PERIOD	(100 * NSEC_PER_USEC)

enum storm_context { PROCESS = 1, SOFTIRQ, HARDIRQ, NMI, CONTEXTS };

struct storm_record {
	u32 context, cpu;
	u64 number;		/* among those of this context and CPU */
};

struct storm_cpu {
	struct task_struct *thread;
	struct hrtimer timer;
	struct tasklet_struct tasklet;
	u64 numbers[CONTEXTS];
	bool stopping;
};

static struct storm_cpu __percpu *storms;
static unsigned long records;	/* of each thread */
static int written_result;	/* of the last `write` */
static atomic_t running;
static DECLARE_COMPLETION(done);

/* How many ended with 0 and -EMSGSIZE, -ENOBUFS, -EAGAIN, -ESRCH, -ENOENT */
static atomic_long_t hits, written, dropped, stopped, others, off;

static atomic_long_t *result_counter(int result)
{
	switch (result) {
	case -ENOBUFS:
		return &dropped;
	case -EAGAIN:
		return &stopped;
	case -ESRCH:
		return &others;
	case -ENOENT:
		return &off;
	default:
		return &written;
	}
}

/* In here a writer isn't moved to another CPU, nor interrupted by another. */
static void storm_write(enum storm_context context)
{
	struct storm_record record = {
		.context = context, .cpu = raw_smp_processor_id(),
	};
	int result;

	record.number = this_cpu_ptr(storms)->numbers[context]++;
	atomic_long_inc(&hits);
	result = rastrace_write(STORM_MAJOR, context, &record, sizeof(record));
	atomic_long_inc(result_counter(result));
}

static void storm_softirq(struct tasklet_struct *tasklet)
{
	storm_write(SOFTIRQ);
}

static enum hrtimer_restart storm_hardirq(struct hrtimer *timer)
{
	struct storm_cpu *storm = this_cpu_ptr(storms);

	storm_write(HARDIRQ);
	if (READ_ONCE(storm->stopping))
		return HRTIMER_NORESTART;
	tasklet_schedule(&storm->tasklet);
	hrtimer_forward_now(timer, STORM_PERIOD);
	return HRTIMER_RESTART;
}

static void storm_nmi(void)
{
	storm_write(NMI);
}

static int storm_thread(void *unused)
{
	struct storm_cpu *storm = this_cpu_ptr(storms);
	int next = cpumask_next(raw_smp_processor_id(), cpu_online_mask);

	if (next >= nr_cpu_ids)
		next = cpumask_first(cpu_online_mask);
	WRITE_ONCE(storm->stopping, false);
	hrtimer_start(&storm->timer, STORM_PERIOD,
		      HRTIMER_MODE_REL_PINNED_HARD);
	for (unsigned long i = 0; i < records; i++) {
		storm_write(PROCESS);
		if (i % NMI_EVERY == 0)
			nmi_send(next);
		if (i % 64 == 0)
			cond_resched();
	}
	WRITE_ONCE(storm->stopping, true);
	hrtimer_cancel(&storm->timer);
	tasklet_kill(&storm->tasklet);
	if (atomic_dec_and_test(&running))
		complete(&done);
	return 0;
}

/* Until they have ended, and none of them is in this module any more. */
static void threads_end(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct storm_cpu *storm = per_cpu_ptr(storms, cpu);

		if (!storm->thread)
			continue;
		kthread_stop(storm->thread);
		put_task_struct(storm->thread);
		storm->thread = NULL;
	}
	nmi_wait();
}

static int threads_start(void)
{
	int cpu, ret = 0;

	reinit_completion(&done);
	atomic_set(&running, 1);
	for_each_online_cpu(cpu) {
		struct task_struct *thread =
			kthread_create_on_cpu(storm_thread, NULL, cpu,
					      "rastrace_storm/%u");

		if (IS_ERR(thread)) {
			ret = PTR_ERR(thread);
			break;
		}
		per_cpu_ptr(storms, cpu)->thread = get_task_struct(thread);
		atomic_inc(&running);
		wake_up_process(thread);
	}
	/* one that is stopped before it has run never runs */
	if (!atomic_dec_and_test(&running))
		wait_for_completion(&done);
	threads_end();
	return ret;
}

static int run_set(const char *value, const struct kernel_param *param)
{
	int ret = kstrtoul(value, 0, &records);

	if (ret)
		return ret;
	cpus_read_lock();
	ret = threads_start();
	cpus_read_unlock();
	return ret;
}

static int results_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "hits %ld written %ld dropped %ld stopped %ld others %ld off %ld\n",
			  atomic_long_read(&hits), atomic_long_read(&written),
			  atomic_long_read(&dropped),
			  atomic_long_read(&stopped),
			  atomic_long_read(&others), atomic_long_read(&off));
}

static int write_set(const char *value, const struct kernel_param *param)
{
	static u8 data[PAGE_SIZE];
	unsigned int major, minor, length;

	if (sscanf(value, "%u %u %u", &major, &minor, &length) != 3 ||
	    length > sizeof(data))
		return -EINVAL;
	for (unsigned int i = 0; i < length; i++)
		data[i] = i;
	written_result = rastrace_write(major, minor, data, length);
	return 0;
}

static int write_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%d\n", written_result);
}

static const struct kernel_param_ops run_ops = { .set = run_set };
static const struct kernel_param_ops results_ops = { .get = results_get };
static const struct kernel_param_ops write_ops = {
	.set = write_set, .get = write_get,
};

module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "records that each CPU's thread writes");
module_param_cb(results, &results_ops, NULL, 0444);
MODULE_PARM_DESC(results, "what came of all that were written");

module_param_cb(write, &write_ops, NULL, 0600);
MODULE_PARM_DESC(write, "MAJOR MINOR LENGTH: one record; what it returned");

static void storm_init_cpu(struct storm_cpu *storm)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(&storm->timer, storm_hardirq, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
#else
	hrtimer_init(&storm->timer, CLOCK_MONOTONIC,
		     HRTIMER_MODE_REL_PINNED_HARD);
	storm->timer.function = storm_hardirq;
#endif
	tasklet_setup(&storm->tasklet, storm_softirq);
}

static int __init storm_init(void)
{
	int cpu, ret;

	storms = alloc_percpu(struct storm_cpu);
	if (!storms)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		storm_init_cpu(per_cpu_ptr(storms, cpu));
	ret = nmi_open(storm_nmi);
	if (ret)
		free_percpu(storms);
	return ret;
}

static void __exit storm_exit(void)
{
	nmi_close();
	free_percpu(storms);
}

module_init(storm_init);
module_exit(storm_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("rastrace: writers in all contexts on all CPUs");
