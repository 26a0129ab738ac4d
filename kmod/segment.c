// SPDX-License-Identifier: GPL-2.0
/*
 * What a thread's base registers hold as of now: where its thread-local storage
 * is, and on x86 all segments. A program may change them without the kernel's
 * knowing, which looks when it switches away. A BPF program that calls this
 * finds in task_struct.thread what it would after a switch.
 */
#include "rastrace.h"

#ifdef KMOD_SEGMENT
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <asm/cpufeature.h>
#include <asm/processor.h>
#ifdef CONFIG_X86_64
#include <asm/fsgsbase.h>
#include <asm/msr.h>
#include <asm/segment.h>

/* While the kernel runs, GS has its own base, and the program's is kept. */
static unsigned long gsbase_read(void)
{
	u32 low, high;

	rdmsr(MSR_KERNEL_GS_BASE, low, high);
	return (u64)high << 32 | low;
}

/* Selectors are loaded, and bases written with WRFSBASE and WRGSBASE: as
 * save_fsgs() has it (arch/x86/kernel/process_64.c) */
static void thread_save(struct thread_struct *thread)
{
	savesegment(ds, thread->ds);
	savesegment(es, thread->es);
	savesegment(fs, thread->fsindex);
	savesegment(gs, thread->gsindex);
	/* without it only the kernel changes them */
	if (static_cpu_has(X86_FEATURE_FSGSBASE)) {
		thread->fsbase = rdfsbase();
		thread->gsbase = gsbase_read();
	}
}
#else
#include <asm/sysreg.h>

/* As tls_preserve_current_state() (arch/arm64/kernel/process.c) */
static void thread_save(struct thread_struct *thread)
{
	*task_user_tls(current) = read_sysreg(tpidr_el0);
}
#endif

__bpf_kfunc_start_defs();

/* Not while a switch may be under way: `current` and the registers may be of
 * two tasks then. */
__bpf_kfunc int rastrace_segments_save(void)
{
	if (!in_task() || irqs_disabled() || current->flags & PF_KTHREAD)
		return -EOPNOTSUPP;
	preempt_disable();
	thread_save(&current->thread);
	preempt_enable();
	return 0;
}

__bpf_kfunc_end_defs();

BTF_KFUNCS_START(segment_kfuncs)
BTF_ID_FLAGS(func, rastrace_segments_save)
BTF_KFUNCS_END(segment_kfuncs)

static const struct btf_kfunc_id_set segment_set = {
	.owner = THIS_MODULE,
	.set = &segment_kfuncs,
};

/* Without it programs do with what the kernel has seen last. */
void __init segment_init(void)
{
	int ret = register_btf_kfunc_id_set(BPF_PROG_TYPE_KPROBE, &segment_set);

	if (ret)
		pr_info("rastrace: no fresh segment registers: %d\n", ret);
}
#endif
